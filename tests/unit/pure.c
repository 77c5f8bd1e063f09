// SPDX-License-Identifier: GPL-2.0
/*
 * The files under test, as a part of the KUnit module: objects cannot be
 * shared with rpcrdma2.ko, which is another module.
 */

#include "../../net/sunrpc/xprtrdma2/wire.c"
#include "../../net/sunrpc/xprtrdma2/wire_v1.c"
#include "../../net/sunrpc/xprtrdma2/wire_v2.c"
#include "../../net/sunrpc/xprtrdma2/props.c"
#include "../../net/sunrpc/xprtrdma2/credits.c"
#include "../../net/sunrpc/xprtrdma2/version.c"
#include "../../net/sunrpc/xprtrdma2/change.c"
