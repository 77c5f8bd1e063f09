/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace points of RPC-over-RDMA version 2, client and server.
 *
 * Events have the id of the connection (conn, also used by netlink and the log)
 * and, for an RPC, its XID and task, so that an RPC can be followed on both peers.
 * The events for the posting and for the completion of a work request have the
 * same two numbers: cq.id of the completion queue, and cid of the work request.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma2

#if !defined(_TRACE_RPCRDMA2_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RPCRDMA2_H

#include <linux/tracepoint.h>

struct rpcrdma2_conn;
struct rpcrdma2_hdr;
struct rpcrdma2_mr;
struct rpcrdma2_recv;
struct rpcrdma2_req;
struct rpcrdma2_send;
struct rpc_xprt;

/* Each list is used twice: to tell user space the values, and to show the names. */

#define RPCRDMA2_CONN_STATES						\
	EM(RPCRDMA2_CONN_NEW,		"new")				\
	EM(RPCRDMA2_CONN_RESOLVING,	"resolving")			\
	EM(RPCRDMA2_CONN_CONNECTING,	"connecting")			\
	EM(RPCRDMA2_CONN_OPEN,		"open")				\
	EM(RPCRDMA2_CONN_READY,		"ready")			\
	EM(RPCRDMA2_CONN_CLOSING,	"closing")			\
	EMe(RPCRDMA2_CONN_CLOSED,	"closed")

#define RPCRDMA2_NEG_STATES						\
	EM(RPCRDMA2_NEG_START,		"reconnect")			\
	EM(RPCRDMA2_NEG_WAIT,		"lost")				\
	EM(RPCRDMA2_NEG_WAIT_REPLY,	"lost")				\
	EM(RPCRDMA2_NEG_V1,		"settle")			\
	EM(RPCRDMA2_NEG_V2,		"settle")			\
	EMe(RPCRDMA2_NEG_FAILED,	"fail")

#define RPCRDMA2_REQ_STATES						\
	EM(RPCRDMA2_REQ_IDLE,		"idle")				\
	EM(RPCRDMA2_REQ_QUEUED,		"queued")			\
	EM(RPCRDMA2_REQ_SENDING,	"sending")			\
	EM(RPCRDMA2_REQ_POSTED,		"posted")			\
	EM(RPCRDMA2_REQ_REPLIED,	"replied")			\
	EM(RPCRDMA2_REQ_ANSWERED,	"answered")			\
	EMe(RPCRDMA2_REQ_ORPHAN,	"orphan")

#define RPCRDMA2_CALL_STATES						\
	EM(RPCRDMA2_CALL_FREE,		"free")				\
	EM(RPCRDMA2_CALL_ARRIVED,	"arrived")			\
	EM(RPCRDMA2_CALL_WAITING,	"waiting")			\
	EM(RPCRDMA2_CALL_PULLING,	"pulling")			\
	EM(RPCRDMA2_CALL_WANTS_PAGES,	"wants pages")			\
	EM(RPCRDMA2_CALL_READY,		"ready")			\
	EMe(RPCRDMA2_CALL_REPLYING,	"replying")

#undef EM
#undef EMe
#define EM(a, b)	TRACE_DEFINE_ENUM(a);
#define EMe(a, b)	TRACE_DEFINE_ENUM(a);

RPCRDMA2_CONN_STATES
RPCRDMA2_NEG_STATES
RPCRDMA2_REQ_STATES
RPCRDMA2_CALL_STATES

#undef EM
#undef EMe
#define EM(a, b)	{ a, b },
#define EMe(a, b)	{ a, b }

/* connection */

#define show_rpcrdma2_conn_state(x)	__print_symbolic(x, RPCRDMA2_CONN_STATES)

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
		compat_assign_str(name, rdma_event_msg(event));
	),
	TP_printk("conn=%u event=%s (%d) status=%d", __entry->conn,
		  __get_str(name), __entry->event, __entry->status)
);

TRACE_EVENT(rpcrdma2_negotiated,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 enum rpcrdma2_neg_state state, enum rpcrdma2_why why),
	TP_ARGS(conn, state, why),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, state)
		__field(u32, why)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->state = state;
		__entry->why = why;
	),
	TP_printk("conn=%u %s why=%u", __entry->conn,
		  __print_symbolic(__entry->state, RPCRDMA2_NEG_STATES),
		  __entry->why)
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
		__entry->inline_send = rpcrdma2_msg_size_send(&conn->limits);
		__entry->inline_recv = rpcrdma2_msg_size_recv(&conn->limits);
		__entry->window = rpcrdma2_credit_have(&conn->credit);
		__entry->grant = rpcrdma2_credit_grant(&conn->credit);
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
		 const struct rpcrdma2_recv *rx),
	TP_ARGS(conn, rx),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, htype)
		__field(u32, credit)
		__field(bool, response)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->cq_id = conn->cq_id;
		__entry->cid = rx->cid;
		__entry->xid = rx->hdr.xid;
		__entry->vers = rx->hdr.vers;
		__entry->htype = rx->hdr.htype;
		__entry->credit = rx->hdr.credit;
		__entry->response = rx->hdr.response;
		__entry->len = rx->len;
	),
	TP_printk("conn=%u cq.id=%u cid=%u xid=0x%08x vers=%u htype=0x%x credit=%u%s len=%u",
		  __entry->conn, __entry->cq_id, __entry->cid, __entry->xid,
		  __entry->vers, __entry->htype, __entry->credit,
		  __entry->response ? " response" : "", __entry->len)
);

#define DEFINE_RPCRDMA2_HEADER_EVENT(name)				\
	DEFINE_EVENT(rpcrdma2_header_class, name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn,		\
			 const struct rpcrdma2_recv *rx),		\
		TP_ARGS(conn, rx))

DEFINE_RPCRDMA2_HEADER_EVENT(rpcrdma2_recv);
DEFINE_RPCRDMA2_HEADER_EVENT(rpcrdma2_reject_dropped);
DEFINE_RPCRDMA2_HEADER_EVENT(rpcrdma2_reject_malformed);

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

TRACE_EVENT(rpcrdma2_prop,
	TP_PROTO(const struct rpcrdma2_conn *conn, const char *what, u32 prop,
		 u32 value, u32 arg),
	TP_ARGS(conn, what, prop, value, arg),
	TP_STRUCT__entry(
		__field(u32, conn)
		__string(what, what)
		__field(u32, prop)
		__field(u32, value)
		__field(u32, arg)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		compat_assign_str(what, what);
		__entry->prop = prop;
		__entry->value = value;
		__entry->arg = arg;
	),
	TP_printk("conn=%u %s prop=%u value=%u arg=%u", __entry->conn,
		  __get_str(what), __entry->prop, __entry->value, __entry->arg)
);

TRACE_EVENT(rpcrdma2_limits,
	TP_PROTO(const struct rpcrdma2_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, send)
		__field(u32, recv)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->send = rpcrdma2_msg_size_send(&conn->limits);
		__entry->recv = rpcrdma2_msg_size_recv(&conn->limits);
	),
	TP_printk("conn=%u inline_send=%u inline_recv=%u",
		  __entry->conn, __entry->send, __entry->recv)
);

/* rpcrdma2_wc_chain: the last work request of a chain of RDMA Reads, RDMA Writes or
 * local invalidations without a Send. If work requests are posted together with a
 * Send, only rpcrdma2_wc_send shows their completion. rpcrdma2_wc_error: any of them that
 * has failed, also a registration.
 */
DECLARE_EVENT_CLASS(rpcrdma2_wc_class,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 cid,
		 const struct ib_wc *wc),
	TP_ARGS(conn, cid, wc),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(int, status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->cq_id = conn->cq_id;
		__entry->cid = cid;
		__entry->status = wc->status;
		__entry->vendor_err = wc->vendor_err;
	),
	TP_printk("conn=%u cq.id=%u cid=%u %s (%d/0x%x)", __entry->conn,
		  __entry->cq_id, __entry->cid,
		  ib_wc_status_msg(__entry->status), __entry->status,
		  __entry->vendor_err)
);

#define DEFINE_RPCRDMA2_WC_EVENT(name)					\
	DEFINE_EVENT(rpcrdma2_wc_class, name,				\
		TP_PROTO(const struct rpcrdma2_conn *conn, u32 cid,	\
			 const struct ib_wc *wc),			\
		TP_ARGS(conn, cid, wc))

DEFINE_RPCRDMA2_WC_EVENT(rpcrdma2_wc_recv);
DEFINE_RPCRDMA2_WC_EVENT(rpcrdma2_wc_send);
DEFINE_RPCRDMA2_WC_EVENT(rpcrdma2_wc_chain);
DEFINE_RPCRDMA2_WC_EVENT(rpcrdma2_wc_probe);
DEFINE_RPCRDMA2_WC_EVENT(rpcrdma2_wc_error);

TRACE_EVENT(rpcrdma2_post_recv,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_recv *rx),
	TP_ARGS(conn, rx),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, size)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->cq_id = conn->cq_id;
		__entry->cid = rx->cid;
		__entry->size = rx->size;
	),
	TP_printk("conn=%u cq.id=%u cid=%u size=%u", __entry->conn,
		  __entry->cq_id, __entry->cid, __entry->size)
);

TRACE_EVENT(rpcrdma2_post_chain,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 cid, u32 nwrs, int ret),
	TP_ARGS(conn, cid, nwrs, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, nwrs)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->cq_id = conn->cq_id;
		__entry->cid = cid;
		__entry->nwrs = nwrs;
		__entry->ret = ret;
	),
	TP_printk("conn=%u cq.id=%u cid=%u nwrs=%u ret=%d", __entry->conn,
		  __entry->cq_id, __entry->cid, __entry->nwrs, __entry->ret)
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
		__entry->posted = rpcrdma2_recvs_posted(&conn->recvq);
		__entry->ret = ret;
	),
	TP_printk("conn=%u count=%u posted=%u ret=%d", __entry->conn,
		  __entry->count, __entry->posted, __entry->ret)
);

TRACE_EVENT(rpcrdma2_post_send,
	TP_PROTO(const struct rpcrdma2_send *send, int ret),
	TP_ARGS(send, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, cq_id)
		__field(u32, cid)
		__field(u32, len)
		__field(u32, nwrs)
		__field(u32, inv_handle)
		__field(bool, signaled)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = send->conn->id;
		__entry->cq_id = send->conn->cq_id;
		__entry->cid = send->cid;
		__entry->len = send->sge.length;
		__entry->nwrs = send->nwrs;
		__entry->inv_handle = send->wr.ex.invalidate_rkey;
		__entry->signaled = send->wr.send_flags & IB_SEND_SIGNALED;
		__entry->ret = ret;
	),
	TP_printk("conn=%u cq.id=%u cid=%u len=%u nwrs=%u inv=0x%08x%s ret=%d",
		  __entry->conn, __entry->cq_id, __entry->cid, __entry->len,
		  __entry->nwrs, __entry->inv_handle,
		  __entry->signaled ? " signaled" : "", __entry->ret)
);

/* client */

#define show_rpcrdma2_req_state(x)	__print_symbolic(x, RPCRDMA2_REQ_STATES)

TRACE_DEFINE_ENUM(RPCRDMA2_FORM_INLINE);
TRACE_DEFINE_ENUM(RPCRDMA2_FORM_PAYLOAD);
TRACE_DEFINE_ENUM(RPCRDMA2_FORM_WHOLE);

#define show_rpcrdma2_args(x)						\
	__print_symbolic(x,						\
		{ RPCRDMA2_FORM_INLINE,		"inline" },		\
		{ RPCRDMA2_FORM_PAYLOAD,	"read" },		\
		{ RPCRDMA2_FORM_WHOLE,		"position-zero" })

#define show_rpcrdma2_results(x)					\
	__print_symbolic(x,						\
		{ RPCRDMA2_FORM_INLINE,		"inline" },		\
		{ RPCRDMA2_FORM_PAYLOAD,	"write" },		\
		{ RPCRDMA2_FORM_WHOLE,		"reply" })

/* The task of an orphan no longer exists. */
DECLARE_EVENT_CLASS(rpcrdma2_req_class,
	TP_PROTO(const struct rpcrdma2_req *req),
	TP_ARGS(req),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(unsigned int, task_id)
		__field(int, client_id)
		__field(u32, xid)
		__field(int, state)
		__field(u32, ninv)
		__field(u32, copied)
		__field(int, error)
	),
	TP_fast_assign(
		const struct rpc_task *task = req->abandoned ? NULL :
					      req->rqst.rq_task;

		__entry->conn = req->conn_id;
		__entry->task_id = task ? task->tk_pid : 0;
		__entry->client_id = task && task->tk_client ?
				     task->tk_client->cl_clid : -1;
		__entry->xid = be32_to_cpu(req->rqst.rq_xid);
		__entry->state = req->state;
		__entry->ninv = req->ninv;
		__entry->copied = req->copied;
		__entry->error = req->error;
	),
	TP_printk("conn=%u task:%08x@%08x xid=0x%08x %s ninv=%u len=%u error=%d",
		  __entry->conn, __entry->task_id, __entry->client_id,
		  __entry->xid, show_rpcrdma2_req_state(__entry->state),
		  __entry->ninv, __entry->copied, __entry->error)
);

#define DEFINE_RPCRDMA2_REQ_EVENT(name)					\
	DEFINE_EVENT(rpcrdma2_req_class, name,				\
		TP_PROTO(const struct rpcrdma2_req *req),		\
		TP_ARGS(req))

DEFINE_RPCRDMA2_REQ_EVENT(rpcrdma2_queued);
DEFINE_RPCRDMA2_REQ_EVENT(rpcrdma2_inval);
DEFINE_RPCRDMA2_REQ_EVENT(rpcrdma2_completed);
DEFINE_RPCRDMA2_REQ_EVENT(rpcrdma2_cancelled);
DEFINE_RPCRDMA2_REQ_EVENT(rpcrdma2_orphan_answered);

TRACE_EVENT(rpcrdma2_req_state,
	TP_PROTO(const struct rpcrdma2_req *req, int to, bool inval),
	TP_ARGS(req, to, inval),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(int, from)
		__field(int, to)
		__field(bool, inval)
	),
	TP_fast_assign(
		__entry->conn = req->conn_id;
		__entry->xid = be32_to_cpu(req->rqst.rq_xid);
		__entry->from = req->state;
		__entry->to = to;
		__entry->inval = inval;
	),
	TP_printk("conn=%u xid=0x%08x %s -> %s%s", __entry->conn,
		  __entry->xid, show_rpcrdma2_req_state(__entry->from),
		  show_rpcrdma2_req_state(__entry->to),
		  __entry->inval ? ", invalidating" : "")
);

TRACE_EVENT(rpcrdma2_call,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_req *req, u32 len),
	TP_ARGS(conn, req, len),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(unsigned int, task_id)
		__field(int, client_id)
		__field(u32, xid)
		__field(u32, len)
		__field(u32, rpc_len)
		__field(u32, reply_max)
		__field(int, args)
		__field(int, results)
		__field(u32, mrs)
		__field(u32, inflight)
		__field(u32, granted)
	),
	TP_fast_assign(
		const struct rpc_task *task = req->rqst.rq_task;

		__entry->conn = conn->id;
		__entry->task_id = task->tk_pid;
		__entry->client_id = task->tk_client ?
				     task->tk_client->cl_clid : -1;
		__entry->xid = be32_to_cpu(req->rqst.rq_xid);
		__entry->len = len;
		__entry->rpc_len = req->rqst.rq_snd_buf.len;
		__entry->reply_max = req->rqst.rq_rcv_buf.buflen;
		__entry->args = req->args.form;
		__entry->results = req->results.form;
		__entry->mrs = rpcrdma2_req_mrs(req);
		__entry->inflight = rpcrdma2_credit_used(&conn->credit);
		__entry->granted = rpcrdma2_credit_have(&conn->credit);
	),
	TP_printk("conn=%u task:%08x@%08x xid=0x%08x len=%u rpc=%u reply_max=%u args=%s results=%s mrs=%u window=%u/%u",
		  __entry->conn, __entry->task_id, __entry->client_id,
		  __entry->xid, __entry->len, __entry->rpc_len,
		  __entry->reply_max, show_rpcrdma2_args(__entry->args),
		  show_rpcrdma2_results(__entry->results), __entry->mrs,
		  __entry->inflight, __entry->granted)
);

TRACE_EVENT(rpcrdma2_call_failed,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_req *req, int ret),
	TP_ARGS(conn, req, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(unsigned int, task_id)
		__field(u32, xid)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->task_id = req->rqst.rq_task->tk_pid;
		__entry->xid = be32_to_cpu(req->rqst.rq_xid);
		__entry->ret = ret;
	),
	TP_printk("conn=%u task:%08x xid=0x%08x ret=%d", __entry->conn,
		  __entry->task_id, __entry->xid, __entry->ret)
);

DECLARE_EVENT_CLASS(rpcrdma2_answer_class,
	TP_PROTO(const struct rpcrdma2_conn *conn,
		 const struct rpcrdma2_req *req,
		 const struct rpcrdma2_hdr *hdr),
	TP_ARGS(conn, req, hdr),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(unsigned int, task_id)
		__field(int, client_id)
		__field(u32, xid)
		__field(u32, credit)
		__field(u32, len)
		__field(u32, ninv)
		__field(u32, err)
		__field(u32, arg0)
		__field(u32, arg1)
	),
	TP_fast_assign(
		const struct rpc_task *task = req->rqst.rq_task;

		__entry->conn = conn->id;
		__entry->task_id = task->tk_pid;
		__entry->client_id = task->tk_client ?
				     task->tk_client->cl_clid : -1;
		__entry->xid = hdr->xid;
		__entry->credit = hdr->credit;
		__entry->len = req->copied;
		__entry->ninv = req->ninv;
		__entry->err = hdr->err;
		__entry->arg0 = hdr->err_arg[0];
		__entry->arg1 = hdr->err_arg[1];
	),
	TP_printk("conn=%u task:%08x@%08x xid=0x%08x credit=%u len=%u ninv=%u err=%u (%u, %u)",
		  __entry->conn, __entry->task_id, __entry->client_id,
		  __entry->xid, __entry->credit, __entry->len, __entry->ninv,
		  __entry->err, __entry->arg0, __entry->arg1)
);

#define DEFINE_RPCRDMA2_ANSWER_EVENT(name)				\
	DEFINE_EVENT(rpcrdma2_answer_class, name,			\
		TP_PROTO(const struct rpcrdma2_conn *conn,		\
			 const struct rpcrdma2_req *req,		\
			 const struct rpcrdma2_hdr *hdr),		\
		TP_ARGS(conn, req, hdr))

DEFINE_RPCRDMA2_ANSWER_EVENT(rpcrdma2_reply);
DEFINE_RPCRDMA2_ANSWER_EVENT(rpcrdma2_call_error);

TRACE_EVENT(rpcrdma2_mr_map,
	TP_PROTO(const struct rpcrdma2_req *req,
		 const struct rpcrdma2_mr *mr),
	TP_ARGS(req, mr),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, cid)
		__field(u32, xid)
		__field(u32, handle)
		__field(u32, length)
		__field(u64, offset)
		__field(u32, nents)
		__field(bool, writes)
	),
	TP_fast_assign(
		__entry->conn = mr->pool->conn->id;
		__entry->cid = mr->cid;
		__entry->xid = be32_to_cpu(req->rqst.rq_xid);
		__entry->handle = mr->seg.handle;
		__entry->length = mr->seg.length;
		__entry->offset = mr->seg.offset;
		__entry->nents = mr->nents;
		__entry->writes = mr->dir == DMA_FROM_DEVICE;
	),
	TP_printk("conn=%u cid=%u xid=0x%08x %u@0x%016llx:0x%08x nents=%u for %s",
		  __entry->conn, __entry->cid, __entry->xid, __entry->length,
		  (unsigned long long)__entry->offset, __entry->handle,
		  __entry->nents, __entry->writes ? "writing" : "reading")
);

TRACE_EVENT(rpcrdma2_mrs_made,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 count, int ret),
	TP_ARGS(conn, count, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, count)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->count = count;
		__entry->ret = ret;
	),
	TP_printk("conn=%u count=%u ret=%d", __entry->conn, __entry->count,
		  __entry->ret)
);

DECLARE_EVENT_CLASS(rpcrdma2_xprt_class,
	TP_PROTO(const struct rpc_xprt *xprt, u32 conn, long value),
	TP_ARGS(xprt, conn, value),
	TP_STRUCT__entry(
		__field(unsigned int, xprt)
		__field(u32, conn)
		__field(long, value)
		__string(addr, xprt->address_strings[RPC_DISPLAY_ADDR])
		__string(port, xprt->address_strings[RPC_DISPLAY_PORT])
	),
	TP_fast_assign(
		__entry->xprt = xprt->id;
		__entry->conn = conn;
		__entry->value = value;
		compat_assign_str(addr,
				  xprt->address_strings[RPC_DISPLAY_ADDR]);
		compat_assign_str(port,
				  xprt->address_strings[RPC_DISPLAY_PORT]);
	),
	TP_printk("xprt=%u peer=[%s]:%s conn=%u value=%ld", __entry->xprt,
		  __get_str(addr), __get_str(port), __entry->conn,
		  __entry->value)
);

/* value, in the order of the events below: delay in jiffies; errno; errno; 1 for a
 * minor timeout, 0 for a major timeout; number of reserved callbacks; errno of a server's
 * callback transport
 */
#define DEFINE_RPCRDMA2_XPRT_EVENT(name)				\
	DEFINE_EVENT(rpcrdma2_xprt_class, name,				\
		TP_PROTO(const struct rpc_xprt *xprt, u32 conn,		\
			 long value),					\
		TP_ARGS(xprt, conn, value))

DEFINE_RPCRDMA2_XPRT_EVENT(rpcrdma2_op_connect);
DEFINE_RPCRDMA2_XPRT_EVENT(rpcrdma2_connected);
DEFINE_RPCRDMA2_XPRT_EVENT(rpcrdma2_op_close);
DEFINE_RPCRDMA2_XPRT_EVENT(rpcrdma2_op_timer);
DEFINE_RPCRDMA2_XPRT_EVENT(rpcrdma2_op_bc_setup);
DEFINE_RPCRDMA2_XPRT_EVENT(rpcrdma2_server_bc_setup);

DECLARE_EVENT_CLASS(rpcrdma2_cb_class,
	TP_PROTO(const struct rpc_xprt *xprt, u32 conn, u32 xid, u32 len,
		 int ret),
	TP_ARGS(xprt, conn, xid, len, ret),
	TP_STRUCT__entry(
		__field(unsigned int, xprt)
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, len)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->xprt = xprt->id;
		__entry->conn = conn;
		__entry->xid = xid;
		__entry->len = len;
		__entry->ret = ret;
	),
	TP_printk("xprt=%u conn=%u xid=0x%08x len=%u ret=%d", __entry->xprt,
		  __entry->conn, __entry->xid, __entry->len, __entry->ret)
);

#define DEFINE_RPCRDMA2_CB_EVENT(name)					\
	DEFINE_EVENT(rpcrdma2_cb_class, name,				\
		TP_PROTO(const struct rpc_xprt *xprt, u32 conn, u32 xid, \
			 u32 len, int ret),				\
		TP_ARGS(xprt, conn, xid, len, ret))

DEFINE_RPCRDMA2_CB_EVENT(rpcrdma2_cb_call);
DEFINE_RPCRDMA2_CB_EVENT(rpcrdma2_cb_reply);
DEFINE_RPCRDMA2_CB_EVENT(rpcrdma2_bc_send);

/* server */

TRACE_EVENT(rpcrdma2_connect_request,
	TP_PROTO(const struct sockaddr *addr, unsigned int pending, int ret),
	TP_ARGS(addr, pending, ret),
	TP_STRUCT__entry(
		__array(u8, addr, sizeof(struct sockaddr_in6))
		__field(unsigned int, pending)
		__field(int, ret)
	),
	TP_fast_assign(
		memcpy(__entry->addr, addr, sizeof(struct sockaddr_in6));
		__entry->pending = pending;
		__entry->ret = ret;
	),
	TP_printk("from=%pISpc pending=%u ret=%d", __entry->addr,
		  __entry->pending, __entry->ret)
);

TRACE_EVENT(rpcrdma2_accept,
	TP_PROTO(u32 conn, const struct sockaddr *addr, bool local, int ret),
	TP_ARGS(conn, addr, local, ret),
	TP_STRUCT__entry(
		__field(u32, conn)
		__array(u8, addr, sizeof(struct sockaddr_in6))
		__field(bool, local)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->conn = conn;
		memcpy(__entry->addr, addr, sizeof(struct sockaddr_in6));
		__entry->local = local;
		__entry->ret = ret;
	),
	TP_printk("conn=%u from=%pISpc%s ret=%d", __entry->conn,
		  __entry->addr, __entry->local ? " local" : "", __entry->ret)
);

TRACE_EVENT(rpcrdma2_responder_closed,
	TP_PROTO(u32 conn, u32 unserved),
	TP_ARGS(conn, unserved),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, unserved)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->unserved = unserved;
	),
	TP_printk("conn=%u unserved=%u", __entry->conn, __entry->unserved)
);

#define show_rpcrdma2_call_state(x)	__print_symbolic(x, RPCRDMA2_CALL_STATES)

TRACE_EVENT(rpcrdma2_call_state,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid, int from, int to),
	TP_ARGS(conn, xid, from, to),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("conn=%u xid=0x%08x %s -> %s", __entry->conn, __entry->xid,
		  show_rpcrdma2_call_state(__entry->from),
		  show_rpcrdma2_call_state(__entry->to))
);

TRACE_EVENT(rpcrdma2_call_ready,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid, u32 len,
		 u32 read_bytes),
	TP_ARGS(conn, xid, len, read_bytes),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, len)
		__field(u32, read_bytes)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->len = len;
		__entry->read_bytes = read_bytes;
	),
	TP_printk("conn=%u xid=0x%08x len=%u read_bytes=%u", __entry->conn,
		  __entry->xid, __entry->len, __entry->read_bytes)
);

TRACE_EVENT(rpcrdma2_call_reads,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid, u32 read_bytes,
		 u32 nwrs, u32 offset),
	TP_ARGS(conn, xid, read_bytes, nwrs, offset),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, read_bytes)
		__field(u32, nwrs)
		__field(u32, offset)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->read_bytes = read_bytes;
		__entry->nwrs = nwrs;
		__entry->offset = offset;
	),
	TP_printk("conn=%u xid=0x%08x read_bytes=%u nwrs=%u offset=%u",
		  __entry->conn, __entry->xid, __entry->read_bytes,
		  __entry->nwrs, __entry->offset)
);

TRACE_EVENT(rpcrdma2_reply_send,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid, bool nomsg, u32 len,
		 u32 write_wrs, u32 inv_handle, u32 err),
	TP_ARGS(conn, xid, nomsg, len, write_wrs, inv_handle, err),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(bool, nomsg)
		__field(u32, len)
		__field(u32, write_wrs)
		__field(u32, inv_handle)
		__field(u32, err)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->nomsg = nomsg;
		__entry->len = len;
		__entry->write_wrs = write_wrs;
		__entry->inv_handle = inv_handle;
		__entry->err = err;
	),
	TP_printk("conn=%u xid=0x%08x %s len=%u write_wrs=%u inv=0x%08x err=%u",
		  __entry->conn, __entry->xid,
		  __entry->err ? "error" : __entry->nomsg ? "nomsg" : "msg", __entry->len,
		  __entry->write_wrs, __entry->inv_handle, __entry->err)
);

TRACE_EVENT(rpcrdma2_reply_waits,
	TP_PROTO(const struct rpcrdma2_conn *conn, u32 xid, u32 nwrs),
	TP_ARGS(conn, xid, nwrs),
	TP_STRUCT__entry(
		__field(u32, conn)
		__field(u32, xid)
		__field(u32, nwrs)
	),
	TP_fast_assign(
		__entry->conn = conn->id;
		__entry->xid = xid;
		__entry->nwrs = nwrs;
	),
	TP_printk("conn=%u xid=0x%08x nwrs=%u", __entry->conn, __entry->xid,
		  __entry->nwrs)
);

#endif /* _TRACE_RPCRDMA2_H */

#include <trace/define_trace.h>
