// SPDX-License-Identifier: GPL-2.0
/*
 * Definition of the module's trace points.
 */
#include "compat.h"
#include "conn/conn.h"
#include "requester/frwr.h"
#include "requester/requester.h"
#include "responder/responder.h"

#define CREATE_TRACE_POINTS
#include <trace/events/rpcrdma2.h>
