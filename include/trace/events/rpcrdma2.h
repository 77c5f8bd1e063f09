/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace points of RPC-over-RDMA version 2, client and server.
 *
 * Every event names the connection (conn, as in debugfs and the log), and
 * where there is one the XID and the RPC task, so that one RPC can be
 * followed over both sides.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma2

#if !defined(_TRACE_RPCRDMA2_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RPCRDMA2_H

#include <linux/tracepoint.h>

struct rpcrdma2_conn;
struct rpcrdma2_hdr;

/* connection */

TRACE_DEFINE_ENUM(RPCRDMA2_CONN_NEW);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_RESOLVING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_CONNECTING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_OPEN);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_READY);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_CLOSING);
TRACE_DEFINE_ENUM(RPCRDMA2_CONN_CLOSED);

#define show_rpcrdma2_conn_state(x)					\
	__print_symbolic(x,						\
		{ RPCRDMA2_CONN_NEW,		"new" },		\
		{ RPCRDMA2_CONN_RESOLVING,	"resolving" },		\
		{ RPCRDMA2_CONN_CONNECTING,	"connecting" },		\
		{ RPCRDMA2_CONN_OPEN,		"open" },		\
		{ RPCRDMA2_CONN_READY,		"ready" },		\
		{ RPCRDMA2_CONN_CLOSING,	"closing" },		\
		{ RPCRDMA2_CONN_CLOSED,		"closed" })

TRACE_EVENT(rpcrdma2_conn_state,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 enum rpcrdma2_conn_state from,
		 enum rpcrdma2_conn_state to,
		 int reason),
	TP_ARGS(conn, from, to, reason),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(bool, client)
		__field(int, from)
		__field(int, to)
		__field(int, reason)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->client = conn->client;
		__entry->from = from;
		__entry->to = to;
		__entry->reason = reason;
	),
	TP_printk("conn=%u %s %s -> %s reason=%d", __entry->conn,
		  __entry->client ? "client" : "server",
		  show_rpcrdma2_conn_state(__entry->from),
		  show_rpcrdma2_conn_state(__entry->to), __entry->reason)
);

TRACE_EVENT(rpcrdma2_cm_event,
	TP_PROTO(const struct rpcrdma2_conn *conn, int event, int status),
	TP_ARGS(conn, event, status),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, event)
		__field(int, status)
		__string(name, rdma_event_msg(event))
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->event = event;
		__entry->status = status;
		__assign_str(name);
	),
	TP_printk("conn=%u event=%s (%d) status=%d", __entry->conn,
		  __get_str(name), __entry->event, __entry->status)
);

TRACE_EVENT(rpcrdma2_settled,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(bool, client)
		__field(u32, vers)
		__field(u32, why)
		__field(u32, inline_send)
		__field(u32, inline_recv)
		__field(u32, window)
		__field(u32, grant)
		__field(bool, remote_inval)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->client = conn->client;
		__entry->vers = conn->codec->vers;
		__entry->why = conn->why;
		__entry->inline_send = conn->inline_send;
		__entry->inline_recv = conn->inline_recv;
		__entry->window = conn->window.granted;
		__entry->grant = conn->grant.current_grant;
		__entry->remote_inval = conn->remote_inval;
	),
	TP_printk("conn=%u %s vers=%u why=%u inline_send=%u inline_recv=%u window=%u grant=%u%s",
		  __entry->conn, __entry->client ? "client" : "server",
		  __entry->vers, __entry->why, __entry->inline_send,
		  __entry->inline_recv, __entry->window, __entry->grant,
		  __entry->remote_inval ? " remote_inval" : "")
);

DECLARE_EVENT_CLASS(rpcrdma2_header_class,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_hdr *hdr, u32 len),
	TP_ARGS(conn, hdr, len),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, htype)
		__field(u32, credit)
		__field(bool, response)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = hdr->xid;
		__entry->vers = hdr->vers;
		__entry->htype = hdr->htype;
		__entry->credit = hdr->credit;
		__entry->response = hdr->response;
		__entry->len = len;
	),
	TP_printk("conn=%u xid=0x%08x vers=%u htype=0x%x credit=%u%s len=%u",
		  __entry->conn, __entry->xid, __entry->vers, __entry->htype,
		  __entry->credit, __entry->response ? " response" : "",
		  __entry->len)
);

#define DEFINE_RPCRDMA2_HEADER_EVENT(name)				\
	DEFINE_EVENT(rpcrdma2_header_class, name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn,		\
			 const struct rpcrdma2_hdr *hdr, u32 len),	\
		TP_ARGS(conn, hdr, len))

DEFINE_RPCRDMA2_HEADER_EVENT(rpcrdma2_recv);
DEFINE_RPCRDMA2_HEADER_EVENT(rpcrdma2_recv_dropped);
DEFINE_RPCRDMA2_HEADER_EVENT(rpcrdma2_recv_malformed);

TRACE_EVENT(rpcrdma2_send_control,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid, u32 htype,
		 u32 arg, int ret),
	TP_ARGS(conn, xid, htype, arg, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, htype)
		__field(u32, arg)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->htype = htype;
		__entry->arg = arg;
		__entry->ret = ret;
	),
	TP_printk("conn=%u xid=0x%08x htype=0x%x arg=%u ret=%d",
		  __entry->conn, __entry->xid, __entry->htype, __entry->arg,
		  __entry->ret)
);

TRACE_EVENT(rpcrdma2_wc_error,
	TP_PROTO(const struct rpcrdma2_conn *conn, const char *what,
		 int status, u32 vendor_err),
	TP_ARGS(conn, what, status, vendor_err),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(int, status)
		__field(u32, vendor_err)
		__string(what, what)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->status = status;
		__entry->vendor_err = vendor_err;
		__assign_str(what);
	),
	TP_printk("conn=%u %s: %s (%d/0x%x)", __entry->conn, __get_str(what),
		  ib_wc_status_msg(__entry->status), __entry->status,
		  __entry->vendor_err)
);

TRACE_EVENT(rpcrdma2_post_recvs,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 count, int ret),
	TP_ARGS(conn, count, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, count)
		__field(u32, posted)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->count = count;
		__entry->posted = conn->recv_posted;
		__entry->ret = ret;
	),
	TP_printk("conn=%u count=%u posted=%u ret=%d", __entry->conn,
		  __entry->count, __entry->posted, __entry->ret)
);

TRACE_EVENT(rpcrdma2_post_send,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 len, u32 nwrs,
		 u32 inv_handle, bool signaled, int ret),
	TP_ARGS(conn, len, nwrs, inv_handle, signaled, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, len)
		__field(u32, nwrs)
		__field(u32, inv_handle)
		__field(bool, signaled)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->len = len;
		__entry->nwrs = nwrs;
		__entry->inv_handle = inv_handle;
		__entry->signaled = signaled;
		__entry->ret = ret;
	),
	TP_printk("conn=%u len=%u nwrs=%u inv=0x%08x%s ret=%d",
		  __entry->conn, __entry->len, __entry->nwrs,
		  __entry->inv_handle, __entry->signaled ? " signaled" : "",
		  __entry->ret)
);

/* client */

/* server */

#endif /* _TRACE_RPCRDMA2_H */

#include <trace/define_trace.h>
