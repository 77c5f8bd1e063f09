// SPDX-License-Identifier: GPL-2.0
/*
 * What NFS and sunrpc need, without a transport: a class for clients and one
 * for servers that hand Calls and Replies over to each other in memory. The
 * payload of a READ or WRITE is not moved at all; everything else is copied
 * once. The client's task wakes a thread of nfsd, and this the task, as any
 * transport has to have it done.
 *
 * It takes the number of the stock RDMA transport, which must not be loaded,
 * so that "proto=rdma" is a mount over it, from the moment on when it is told
 * by its parameter. The listener is "loop PORT".
 *
 * The callback channel of NFSv4.1 has an answer to CB_NULL and to nothing
 * else: enough for nfsd to know that it works.
 *
 * loop_lock protects the two pointers by which client and server know each
 * other, and the queues of Calls.
 */
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/svc_rdma.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include "compat.h"

#define LOOP_SLOTS	64
#define LOOP_MESSAGE	PAGE_SIZE	/* longest Call, payload not counted */
#define LOOP_WAIT	(5 * HZ)

/**
 * struct loop_call - a Call
 * @list: link in the server's queue, or in the list of free ones
 * @head: bytes of @buf in front of the payload
 * @payload: bytes of the payload of a WRITE
 * @tail: bytes of @buf behind it
 * @payload_back: the Reply has the payload of a READ
 * @buf: what is copied
 */
struct loop_call {
	struct list_head		list;
	u32				head;
	u32				payload;
	u32				tail;
	bool				payload_back;
	u8				buf[LOOP_MESSAGE];
};

struct loop_client {
	struct rpc_xprt			xprt;	/* the first */
	struct loop_svc			*svc;
	struct work_struct		connect_work;
	struct completion		accepted;
};

struct loop_svc {
	struct svc_xprt			xprt;
	struct loop_client		*client;
	struct list_head		ready;
	struct list_head		free;
	struct loop_call		calls[LOOP_SLOTS];
};

static DEFINE_SPINLOCK(loop_lock);
static struct svc_xprt *loop_listener;
static struct loop_client *loop_pending;

static struct loop_client *client_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct loop_client, xprt);
}

static struct loop_svc *svc_of(struct svc_xprt *xprt)
{
	return container_of(xprt, struct loop_svc, xprt);
}

/* Server */

static int svc_recvfrom(struct svc_rqst *rqstp)
{
	struct svc_xprt *xprt = rqstp->rq_xprt;
	struct loop_svc *svc = svc_of(xprt);
	struct xdr_buf *arg = &rqstp->rq_arg;
	struct loop_call *call;
	u32 at, n, i, pages;

	spin_lock(&loop_lock);
	call = list_first_entry_or_null(&svc->ready, struct loop_call, list);
	if (call)
		list_del_init(&call->list);
	if (list_empty(&svc->ready))
		clear_bit(XPT_DATA, &xprt->xpt_flags);
	spin_unlock(&loop_lock);
	svc_xprt_received(xprt);
	rqstp->rq_xprt_ctxt = NULL;
	compat_svc_args_end(rqstp, 0);
	rqstp->rq_next_page = rqstp->rq_respages;
	if (!call)
		return 0;

	/* One stream in pages, as from a socket */
	memset(arg, 0, sizeof(*arg));
	arg->len = call->head + call->payload + call->tail;
	arg->buflen = arg->len;
	pages = DIV_ROUND_UP(arg->len, PAGE_SIZE);
	arg->head[0].iov_base = page_address(rqstp->rq_pages[0]);
	arg->head[0].iov_len = min_t(u32, arg->len, PAGE_SIZE);
	arg->pages = rqstp->rq_pages + 1;
	arg->page_len = arg->len - arg->head[0].iov_len;
	memcpy(arg->head[0].iov_base, call->buf, call->head);
	for (i = 0; i < call->tail; i += n) {
		at = call->head + call->payload + i;
		n = min_t(u32, PAGE_SIZE - offset_in_page(at), call->tail - i);
		memcpy(page_address(rqstp->rq_pages[at >> PAGE_SHIFT]) +
		       offset_in_page(at), call->buf + call->head + i, n);
	}

	compat_svc_args_end(rqstp, pages);
	rqstp->rq_next_page = rqstp->rq_respages + 1;
	rqstp->rq_xprt_ctxt = call;
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, xprt);
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	return arg->len;
}

static int svc_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			      unsigned int length)
{
	struct loop_call *call = rqstp->rq_xprt_ctxt;

	if (call)
		call->payload_back = true;
	return 0;
}

/* Copy the Reply to where the client wants it, but for the payload. */
static int reply_copy(struct rpc_rqst *rqst, const struct xdr_buf *res,
		      bool payload_back)
{
	struct xdr_buf *to = &rqst->rq_private_buf;
	u32 at = res->head[0].iov_len, i, n;
	struct page **page = res->pages;

	if (res->len > to->buflen ||
	    write_bytes_to_xdr_buf(to, 0, res->head[0].iov_base, at))
		return -EMSGSIZE;
	for (i = 0; i < res->page_len && !payload_back; i += n, page++) {
		n = min_t(u32, PAGE_SIZE, res->page_len - i);
		if (res->page_base ||
		    write_bytes_to_xdr_buf(to, at + i, page_address(*page), n))
			return -EMSGSIZE;
	}
	at += res->page_len;
	return write_bytes_to_xdr_buf(to, at, res->tail[0].iov_base,
				      res->tail[0].iov_len);
}

/* Give a Reply to the task that waits for it. */
static int client_reply(struct rpc_xprt *xprt, const struct xdr_buf *res,
			bool payload_back)
{
	struct rpc_rqst *rqst;
	int ret;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, *(__be32 *)res->head[0].iov_base);
	if (rqst)
		xprt_pin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
	if (!rqst)
		return 0;
	ret = reply_copy(rqst, res, payload_back);
	spin_lock(&xprt->queue_lock);
	if (!ret)
		xprt_complete_rqst(rqst->rq_task, res->len);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
	return ret;
}

static int svc_sendto(struct svc_rqst *rqstp)
{
	struct loop_call *call = rqstp->rq_xprt_ctxt;
	struct loop_svc *svc = svc_of(rqstp->rq_xprt);
	struct rpc_xprt *xprt = NULL;
	int ret;

	spin_lock(&loop_lock);
	if (svc->client)
		xprt = xprt_get(&svc->client->xprt);
	spin_unlock(&loop_lock);
	if (!xprt)
		return -ENOTCONN;
	ret = client_reply(xprt, &rqstp->rq_res, call->payload_back);
	xprt_put(xprt);
	if (ret)
		pr_err("bench_loop: a Reply of %u bytes: %d\n",
		       rqstp->rq_res.len, ret);
	/* The first page is the thread's own: good for the next Reply */
	if (rqstp->rq_next_page - rqstp->rq_respages <= 1)
		rqstp->rq_next_page = rqstp->rq_respages;
	return ret;
}

static void svc_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	struct loop_call *call = ctxt;

	if (!call)
		return;
	spin_lock(&loop_lock);
	list_add(&call->list, &svc_of(xprt)->free);
	spin_unlock(&loop_lock);
}

static void svc_detach(struct svc_xprt *xprt)
{
	struct loop_svc *svc = svc_of(xprt);

	spin_lock(&loop_lock);
	if (svc->client)
		svc->client->svc = NULL;
	svc->client = NULL;
	spin_unlock(&loop_lock);
}

static void svc_free(struct svc_xprt *xprt)
{
	kvfree(svc_of(xprt));
}

static int svc_has_wspace(struct svc_xprt *xprt)
{
	return 1;
}

static void svc_nothing(struct svc_xprt *xprt)
{
}

static const struct svc_xprt_ops svc_ops = {
	.xpo_recvfrom		= svc_recvfrom,
	.xpo_sendto		= svc_sendto,
	.xpo_result_payload	= svc_result_payload,
	.xpo_release_ctxt	= svc_release_ctxt,
	.xpo_detach		= svc_detach,
	.xpo_free		= svc_free,
	.xpo_has_wspace		= svc_has_wspace,
	.xpo_kill_temp_xprt	= svc_nothing,
};

static struct svc_xprt *listener_accept(struct svc_xprt *xprt)
{
	struct loop_client *client;
	struct loop_svc *svc;
	unsigned int i;

	svc = kvzalloc(sizeof(*svc), GFP_KERNEL);
	if (!svc)
		return NULL;
	INIT_LIST_HEAD(&svc->ready);
	INIT_LIST_HEAD(&svc->free);
	for (i = 0; i < LOOP_SLOTS; i++)
		list_add(&svc->calls[i].list, &svc->free);
	svc_xprt_init(xprt->xpt_net, xprt->xpt_class, &svc->xprt,
		      xprt->xpt_server);
	svc->xprt.xpt_ops = &svc_ops;
	set_bit(XPT_CONG_CTRL, &svc->xprt.xpt_flags);

	spin_lock(&loop_lock);
	clear_bit(XPT_CONN, &xprt->xpt_flags);
	client = loop_pending;
	loop_pending = NULL;
	if (client) {
		svc_xprt_set_local(&svc->xprt,
				   (struct sockaddr *)&client->xprt.addr,
				   client->xprt.addrlen);
		svc_xprt_set_remote(&svc->xprt,
				    (struct sockaddr *)&client->xprt.addr,
				    client->xprt.addrlen);
		svc->client = client;
		client->svc = svc;
		complete(&client->accepted);
	}
	spin_unlock(&loop_lock);
	if (client)
		return &svc->xprt;
	__module_get(THIS_MODULE);
	svc_xprt_put(&svc->xprt);
	return NULL;
}

static void listener_detach(struct svc_xprt *xprt)
{
	spin_lock(&loop_lock);
	loop_listener = NULL;
	spin_unlock(&loop_lock);
}

static void listener_free(struct svc_xprt *xprt)
{
	kfree(xprt);
}

static struct svc_xprt *listener_create(struct svc_serv *serv, struct net *net,
					struct sockaddr *sa, int salen,
					int flags);

static const struct svc_xprt_ops listener_ops = {
	.xpo_create		= listener_create,
	.xpo_accept		= listener_accept,
	.xpo_release_ctxt	= svc_release_ctxt,
	.xpo_detach		= listener_detach,
	.xpo_free		= listener_free,
	.xpo_has_wspace		= svc_has_wspace,
	.xpo_kill_temp_xprt	= svc_nothing,
};

static struct svc_xprt_class svc_class = {
	.xcl_name		= "loop",
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &listener_ops,
	.xcl_max_payload	= RPCSVC_MAXPAYLOAD,
	.xcl_ident		= XPRT_TRANSPORT_RDMA,
};

static struct svc_xprt *listener_create(struct svc_serv *serv, struct net *net,
					struct sockaddr *sa, int salen,
					int flags)
{
	struct svc_xprt *xprt;

	if (sa->sa_family != AF_INET)
		return ERR_PTR(-EAFNOSUPPORT);
	xprt = kzalloc(sizeof(*xprt), GFP_KERNEL);
	if (!xprt)
		return ERR_PTR(-ENOMEM);
	svc_xprt_init(net, &svc_class, xprt, serv);
	set_bit(XPT_LISTENER, &xprt->xpt_flags);
	set_bit(XPT_CONG_CTRL, &xprt->xpt_flags);
	svc_xprt_set_local(xprt, sa, salen);
	spin_lock(&loop_lock);
	loop_listener = xprt;
	spin_unlock(&loop_lock);
	return xprt;
}

/* Client */

static int client_send(struct rpc_rqst *rqst)
{
	struct loop_client *client = client_of(rqst->rq_xprt);
	const struct xdr_buf *snd = &rqst->rq_snd_buf;
	u32 payload = snd->flags & XDRBUF_WRITE ? snd->page_len : 0;
	u32 head = snd->head[0].iov_len, rest = snd->len - head - payload;
	struct loop_call *call = NULL;
	struct loop_svc *svc;
	int ret = -ENOTCONN;

	if (snd->len - payload > LOOP_MESSAGE)
		return -EIO;
	spin_lock(&loop_lock);
	svc = client->svc;
	if (svc)
		call = list_first_entry_or_null(&svc->free, struct loop_call,
						list);
	if (call) {
		if (!payload)
			head = snd->len;
		call->head = head;
		call->payload = payload;
		call->tail = payload ? rest : 0;
		call->payload_back = false;
		ret = read_bytes_from_xdr_buf(snd, 0, call->buf, head);
		if (!ret && call->tail)
			ret = read_bytes_from_xdr_buf(snd, head + payload,
						      call->buf + head,
						      call->tail);
		list_move_tail(&call->list, &svc->ready);
		set_bit(XPT_DATA, &svc->xprt.xpt_flags);
		svc_xprt_enqueue(&svc->xprt);
		rqst->rq_xtime = ktime_get();
		rqst->rq_xmit_bytes_sent += snd->len;
	}
	spin_unlock(&loop_lock);
	return ret;
}

static void client_connect_work(struct work_struct *work)
{
	struct loop_client *client = container_of(work, struct loop_client,
						  connect_work);
	struct rpc_xprt *xprt = &client->xprt;
	int ret = -ECONNREFUSED;

	reinit_completion(&client->accepted);
	spin_lock(&loop_lock);
	if (loop_listener && !loop_pending) {
		loop_pending = client;
		set_bit(XPT_CONN, &loop_listener->xpt_flags);
		svc_xprt_enqueue(loop_listener);
		ret = 0;
	}
	spin_unlock(&loop_lock);
	if (!ret && !wait_for_completion_timeout(&client->accepted, LOOP_WAIT))
		ret = -ETIMEDOUT;
	spin_lock(&loop_lock);
	if (loop_pending == client)
		loop_pending = NULL;
	spin_unlock(&loop_lock);

	if (!ret) {
		xprt->connect_cookie++;
		xprt_set_connected(xprt);
	}
	xprt_clear_connecting(xprt);
	xprt_unlock_connect(xprt, client);
	xprt_wake_pending_tasks(xprt, ret ?: -EAGAIN);
}

static void client_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct loop_client *client = client_of(xprt);

	if (xprt_lock_connect(xprt, task, client))
		schedule_work(&client->connect_work);
}

static void client_close(struct rpc_xprt *xprt)
{
	struct loop_client *client = client_of(xprt);

	spin_lock(&loop_lock);
	if (client->svc) {
		client->svc->client = NULL;
		svc_xprt_deferred_close(&client->svc->xprt);
	}
	client->svc = NULL;
	spin_unlock(&loop_lock);
	xprt_disconnect_done(xprt);
}

static void client_destroy(struct rpc_xprt *xprt)
{
	cancel_work_sync(&client_of(xprt)->connect_work);
	client_close(xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void client_set_port(struct rpc_xprt *xprt, unsigned short port)
{
}

static void client_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
}

static int client_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	return 0;
}

static size_t client_bc_maxpayload(struct rpc_xprt *xprt)
{
	return PAGE_SIZE;
}

static unsigned int client_bc_num_slots(struct rpc_xprt *xprt)
{
	return 2;
}

static void client_bc_free_rqst(struct rpc_rqst *rqst)
{
}

static void client_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs)
{
}

/* sunrpc keeps its own allocator to itself since 7.1 */
static int loop_buf_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;

	rqst->rq_buffer = kmalloc(rqst->rq_callsize + rqst->rq_rcvsize,
				  GFP_KERNEL);
	if (!rqst->rq_buffer)
		return -ENOMEM;
	rqst->rq_rbuffer = (char *)rqst->rq_buffer + rqst->rq_callsize;
	return 0;
}

static void loop_buf_free(struct rpc_task *task)
{
	kfree(task->tk_rqstp->rq_buffer);
}

static const struct rpc_xprt_ops client_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= client_set_port,
	.connect		= client_connect,
	.buf_alloc		= loop_buf_alloc,
	.buf_free		= loop_buf_free,
	.send_request		= client_send,
	.wait_for_reply_request	= xprt_wait_for_reply_request_def,
	.close			= client_close,
	.destroy		= client_destroy,
	.print_stats		= client_print_stats,
	.bc_setup		= client_bc_setup,
	.bc_maxpayload		= client_bc_maxpayload,
	.bc_num_slots		= client_bc_num_slots,
	.bc_free_rqst		= client_bc_free_rqst,
	.bc_destroy		= client_bc_destroy,
};

static const struct rpc_timeout client_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static struct rpc_xprt *xprt_setup(struct xprt_create *args, size_t size)
{
	struct rpc_xprt *xprt;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	xprt = xprt_alloc(args->net, size, LOOP_SLOTS, LOOP_SLOTS);
	if (!xprt)
		return ERR_PTR(-ENOMEM);
	__module_get(THIS_MODULE);
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	xprt->prot = IPPROTO_TCP;
	xprt->max_payload = RPCSVC_MAXPAYLOAD;
	xprt->timeout = &client_timeout;
	xprt->connect_timeout = client_timeout.to_initval;
	xprt->max_reconnect_timeout = client_timeout.to_initval;
	xprt->address_strings[RPC_DISPLAY_ADDR] = "loop";
	xprt->address_strings[RPC_DISPLAY_PORT] = "0";
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_HEX_ADDR] = "0";
	xprt->address_strings[RPC_DISPLAY_HEX_PORT] = "0";
	xprt->address_strings[RPC_DISPLAY_NETID] = "rdma";
	xprt_set_bound(xprt);
	return xprt;
}

static struct xprt_class client_class, callback_class;

static struct rpc_xprt *client_setup(struct xprt_create *args)
{
	struct rpc_xprt *xprt = xprt_setup(args, sizeof(struct loop_client));

	if (IS_ERR(xprt))
		return xprt;
	INIT_WORK(&client_of(xprt)->connect_work, client_connect_work);
	init_completion(&client_of(xprt)->accepted);
	xprt->xprt_class = &client_class;
	xprt->ops = &client_ops;
	return xprt;
}

static struct xprt_class client_class = {
	.list	= LIST_HEAD_INIT(client_class.list),
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= client_setup,
	.owner	= THIS_MODULE,
	.name	= "loop",
	.netid	= { "rdma", "" },
};

/* Callbacks */

static int callback_send(struct rpc_rqst *rqst)
{
	const __be32 *call = rqst->rq_snd_buf.head[0].iov_base;
	__be32 reply[] = { rqst->rq_xid, rpc_reply, rpc_msg_accepted,
			   rpc_auth_null, 0, rpc_success };
	struct xdr_buf res = {
		.head[0] = { .iov_base = reply, .iov_len = sizeof(reply) },
		.len = sizeof(reply),
	};

	rqst->rq_xtime = ktime_get();
	if (!call[5])
		return client_reply(rqst->rq_xprt, &res, false);
	pr_err("bench_loop: nobody answers callbacks\n");
	return -EIO;
}

static void callback_destroy(struct rpc_xprt *xprt)
{
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static const struct rpc_xprt_ops callback_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.buf_alloc		= loop_buf_alloc,
	.buf_free		= loop_buf_free,
	.send_request		= callback_send,
	.wait_for_reply_request	= xprt_wait_for_reply_request_def,
	.close			= xprt_disconnect_done,
	.destroy		= callback_destroy,
	.print_stats		= client_print_stats,
};

static struct rpc_xprt *callback_setup(struct xprt_create *args)
{
	struct rpc_xprt *xprt = xprt_setup(args, sizeof(*xprt));

	if (IS_ERR(xprt))
		return xprt;
	xprt->xprt_class = &callback_class;
	xprt->ops = &callback_ops;
	/* Another reference, which sunrpc drops with the connection */
	xprt_get(xprt);
	args->bc_xprt->xpt_bc_xprt = xprt;
	xprt->bc_xprt = args->bc_xprt;
	xprt_set_connected(xprt);
	return xprt;
}

static struct xprt_class callback_class = {
	.list	= LIST_HEAD_INIT(callback_class.list),
	.ident	= XPRT_TRANSPORT_RDMA | XPRT_TRANSPORT_BC,
	.setup	= callback_setup,
	.owner	= THIS_MODULE,
	.name	= "loop callbacks",
	.netid	= { "" },
};

static int loop_register(void)
{
	int ret;

	ret = svc_reg_xprt_class(&svc_class);
	if (ret)
		return ret;
	ret = xprt_register_transport(&callback_class);
	if (ret)
		goto out_svc;
	ret = xprt_register_transport(&client_class);
	if (ret)
		goto out_callback;
	return 0;

out_callback:
	xprt_unregister_transport(&callback_class);
out_svc:
	svc_unreg_xprt_class(&svc_class);
	return ret;
}

static bool loop_active;

static int active_set(const char *val, const struct kernel_param *kp)
{
	int ret = loop_active ? -EBUSY : loop_register();

	loop_active |= !ret;
	return ret;
}

static const struct kernel_param_ops active_ops = { .set = active_set };
module_param_cb(active, &active_ops, NULL, 0200);
MODULE_PARM_DESC(active, "any value: take the number of the stock transport");

static int __init loop_init(void)
{
	return 0;
}

static void __exit loop_exit(void)
{
	if (!loop_active)
		return;
	xprt_unregister_transport(&client_class);
	xprt_unregister_transport(&callback_class);
	svc_unreg_xprt_class(&svc_class);
}

module_init(loop_init);
module_exit(loop_exit);
MODULE_DESCRIPTION("sunrpc without a transport, for tests/bench/run");
MODULE_LICENSE("GPL");
