// SPDX-License-Identifier: GPL-2.0
/*
 * The files under test, as a part of the KUnit module: objects cannot be
 * shared with rpcrdma2.ko, which is another module.
 */

#include "../../net/sunrpc/xprtrdma2/proto/wire.c"
#include "../../net/sunrpc/xprtrdma2/proto/wire_v1.c"
#include "../../net/sunrpc/xprtrdma2/proto/wire_v2.c"
#include "../../net/sunrpc/xprtrdma2/proto/chunk_decode.c"
#include "../../net/sunrpc/xprtrdma2/proto/chunk_list.c"
#include "../../net/sunrpc/xprtrdma2/proto/chunk_encode.c"
#include "../../net/sunrpc/xprtrdma2/proto/cm_private.c"
#include "../../net/sunrpc/xprtrdma2/proto/props.c"
#include "../../net/sunrpc/xprtrdma2/proto/credits.c"
#include "../../net/sunrpc/xprtrdma2/proto/version.c"
#include "../../net/sunrpc/xprtrdma2/proto/prop_change.c"
