// SPDX-License-Identifier: GPL-2.0
/*
 * What a device needs for the messages of an operation: two queue pairs of
 * one device, and between them the verbs of rpcrdma2 with nothing above.
 *
 *	modprobe bench_verbs addr=10.0.0.1
 *	echo "CALL REPLY BYTES DIRECTION;...;COUNT" > .../parameters/run
 *
 * Each group of words is an RPC: a Send of CALL bytes by the client; RDMA of
 * BYTES, for which the client registers memory ("read": the server reads it,
 * "write": it writes there, "-": there is none); a Send of REPLY bytes by the
 * server, which invalidates the registration. The RPCs are made one after
 * the other, all of them COUNT times, and the write to the parameter returns
 * when the last Reply is there.
 *
 * As rpcrdma2 does it: one completion queue a side, polled by a work item; one SGE
 * a Send; Sends unsignaled but for one in so many, or when too many pages wait for
 * the end of RDMA Writes in front of them; Receives posted in batches; one memory
 * region a chunk, mapped and registered each time, posted together with the Send;
 * RDMA by rdma_rw of ib_core, from single pages, RDMA Writes posted together with
 * the Send.
 *
 * A thread of the server answers, and the writer of the parameter calls, since an
 * RPC is executed by a thread and waited for by another: each is woken by the
 * completion handler. An RPC whose CALL and REPLY are 0 is nothing but that: the
 * two wake each other. If DIRECTION is "copy" the caller copies BYTES as well.
 *
 * What the messages say nobody looks at: both sides know the RPC. There is one at a
 * time, so nothing needs a lock.
 */
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>

#define VERBS_PORT	20061
#define VERBS_WAIT	(5 * HZ)
#define VERBS_RPCS	64
#define VERBS_MESSAGE	SZ_64K		/* longest Send */
#define VERBS_BYTES	SZ_1M		/* most by RDMA */
/* A page more: the payload of a WRITE does not begin on a page boundary */
#define VERBS_PAGES	((VERBS_BYTES >> PAGE_SHIFT) + 1)
#define VERBS_SINK	200

/* What rpcrdma2 has */
#define VERBS_RECVS	42
#define VERBS_BATCH	8
#define VERBS_SIGNAL	16
#define VERBS_LINGER	(SZ_512K >> PAGE_SHIFT)	/* pages, see above */
#define VERBS_SGES	18
#define VERBS_SENDS	128

static char *addr = "10.0.0.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "of the device");

struct verbs_rpc {
	u32				call;
	u32				reply;
	u32				bytes;
	u32				copy;	/* bytes */
	enum dma_data_direction		dir;	/* of the server's memory */
};

struct verbs_recv {
	struct ib_cqe			cqe;
	struct ib_recv_wr		wr;
	struct ib_sge			sge;
	void				*buf;
};

/**
 * struct verbs_end - one of the two sides
 * @cm_id: its QP is that of the connection
 * @pd: all memory
 * @cq: of both queues
 * @recvs: Receives
 * @used: those that have completed and are not posted again
 * @nused: how many
 * @buf: what Sends send
 * @send: the Send; devices copy it when it is posted
 * @sge: its memory
 * @cqe: its completion
 * @unsignaled: Sends since one was signaled
 * @waiting: pages that wait for one
 */
struct verbs_end {
	struct rdma_cm_id		*cm_id;
	struct ib_pd			*pd;
	struct ib_cq			*cq;
	struct verbs_recv		recvs[VERBS_RECVS];
	struct ib_recv_wr		*used;
	unsigned int			nused;
	void				*buf;
	struct ib_send_wr		send;
	struct ib_sge			sge;
	struct ib_cqe			cqe;
	unsigned int			unsignaled;
	unsigned int			waiting;
};

/**
 * struct verbs_rw - RDMA of the server
 * @ctx: work requests
 * @cqe: completion of the last one, or of the Send behind it
 * @sgt: pages
 * @nents: how many of them are in use
 * @dir: to or from them
 */
struct verbs_rw {
	struct rdma_rw_ctx		ctx;
	struct ib_cqe			cqe;
	struct sg_table			sgt;
	u32				nents;
	enum dma_data_direction		dir;
};

static struct verbs_end client, server;
static struct sg_table client_sgt;
/* In the order in which they are posted: those from rw_first to rw_next have not
 * completed. RDMA Writes may wait for those of later RPCs.
 */
static struct verbs_rw rws[2 * VERBS_SIGNAL];
static unsigned int rw_first, rw_next;
static struct rdma_cm_id *listener;
static struct ib_mr *mr;
static struct ib_reg_wr reg;

static struct verbs_rpc rpcs[VERBS_RPCS];
static unsigned int nrpcs, at;
static unsigned long left;
static int failed;
static struct completion step, called, replied;
static struct task_struct *thread;

static void verbs_fail(int err)
{
	pr_err("bench_verbs: error %d in RPC %u\n", err, at);
	failed = err;
	complete(&replied);
}

static u32 pages_of(u32 offset, u32 bytes)
{
	return DIV_ROUND_UP(offset + bytes, PAGE_SIZE);
}

/* A scatterlist for @bytes from @offset of the first page on. Returns entries. */
static u32 lay_out(struct sg_table *sgt, u32 offset, u32 bytes)
{
	struct scatterlist *sg = sgt->sgl;
	u32 n, i, count = pages_of(offset, bytes);

	for (i = 0; i < count; i++, sg = sg_next(sg)) {
		n = min_t(u32, PAGE_SIZE - offset, bytes);
		sg->offset = offset;
		sg->length = n;
		bytes -= n;
		offset = 0;
	}
	return count;
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		verbs_fail(-EIO);
}

/* A Send with @first posted in front of it. @pages wait for its completion. */
static void post_send(struct verbs_end *end, u32 len, u32 inv,
		      struct ib_cqe *cqe, u32 pages, struct ib_send_wr *first)
{
	struct ib_send_wr *wr = &end->send;
	bool signaled;
	int ret;

	end->unsignaled++;
	end->waiting += pages;
	signaled = end->unsignaled == VERBS_SIGNAL ||
		   end->waiting > VERBS_LINGER;
	if (signaled) {
		end->unsignaled = 0;
		end->waiting = 0;
	}
	ib_dma_sync_single_for_device(end->cm_id->device, end->sge.addr, len,
				      DMA_TO_DEVICE);
	end->sge.length = len;
	wr->wr_cqe = cqe;
	wr->sg_list = &end->sge;
	wr->num_sge = 1;
	wr->send_flags = signaled ? IB_SEND_SIGNALED : 0;
	wr->opcode = inv ? IB_WR_SEND_WITH_INV : IB_WR_SEND;
	wr->ex.invalidate_rkey = inv;
	ret = ib_post_send(end->cm_id->qp, first ?: wr, NULL);
	if (ret)
		verbs_fail(ret);
}

static int post_recvs(struct verbs_end *end)
{
	struct ib_recv_wr *wr = end->used;

	end->used = NULL;
	end->nused = 0;
	return ib_post_recv(end->cm_id->qp, wr, NULL);
}

static void recv_put(struct verbs_end *end, struct verbs_recv *recv)
{
	ib_dma_sync_single_for_device(end->cm_id->device, recv->sge.addr,
				      recv->sge.length, DMA_FROM_DEVICE);
	recv->wr.next = end->used;
	end->used = &recv->wr;
	if (++end->nused == VERBS_BATCH && post_recvs(end))
		verbs_fail(-EIO);
}

/* Returns false if there is no message. */
static bool recv_take(struct verbs_end *end, struct ib_wc *wc)
{
	struct verbs_recv *recv = container_of(wc->wr_cqe, struct verbs_recv,
					       cqe);

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			verbs_fail(-EIO);
		return false;
	}
	ib_dma_sync_single_for_cpu(end->cm_id->device, recv->sge.addr,
				   wc->byte_len, DMA_FROM_DEVICE);
	recv_put(end, recv);
	return true;
}

static void client_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	verbs_fail(-EIO);	/* not signaled */
}

static struct ib_cqe reg_cqe = { .done = client_reg_done };

static enum dma_data_direction client_dir(const struct verbs_rpc *rpc)
{
	return rpc->dir == DMA_FROM_DEVICE ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

/* Map and register the memory of an RPC. */
static int client_register(const struct verbs_rpc *rpc)
{
	struct sg_table *sgt = &client_sgt;

	sgt->orig_nents = lay_out(sgt, 0, rpc->bytes);
	if (ib_dma_map_sgtable_attrs(client.cm_id->device, sgt,
				     client_dir(rpc), 0))
		return -EIO;
	if (ib_map_mr_sg(mr, sgt->sgl, sgt->nents, NULL, PAGE_SIZE) !=
	    sgt->nents)
		return -EIO;
	ib_update_fast_reg_key(mr, mr->rkey + 1);
	reg.wr.next = &client.send;
	reg.wr.wr_cqe = &reg_cqe;
	reg.wr.opcode = IB_WR_REG_MR;
	reg.mr = mr;
	reg.key = mr->rkey;
	reg.access = client_dir(rpc) == DMA_TO_DEVICE ? IB_ACCESS_REMOTE_READ :
		     IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	return 0;
}

static void client_call(void)
{
	const struct verbs_rpc *rpc = &rpcs[at];
	struct ib_send_wr *first = NULL;
	int ret;

	if (rpc->bytes) {
		ret = client_register(rpc);
		if (ret) {
			verbs_fail(ret);
			return;
		}
		first = &reg.wr;
	}
	if (rpc->copy)
		memcpy(client.recvs[0].buf, client.buf, rpc->copy);
	if (rpc->call)
		post_send(&client, rpc->call, 0, &client.cqe, 0, first);
	else
		complete(&called);
}

static void client_received(struct ib_cq *cq, struct ib_wc *wc)
{
	const struct verbs_rpc *rpc = &rpcs[at];

	if (!recv_take(&client, wc))
		return;
	if (rpc->bytes) {
		if (!(wc->wc_flags & IB_WC_WITH_INVALIDATE)) {
			verbs_fail(-EPROTO);
			return;
		}
		ib_dma_unmap_sgtable_attrs(client.cm_id->device, &client_sgt,
					   client_dir(rpc), 0);
	}
	complete(&replied);
}

/* Where the payload begins in the pages */
static u32 rw_offset(const struct verbs_rpc *rpc)
{
	return rpc->dir == DMA_FROM_DEVICE ? VERBS_SINK : 0;
}

static struct verbs_rw *rw_begin(const struct verbs_rpc *rpc)
{
	struct verbs_rw *rw = &rws[rw_next % ARRAY_SIZE(rws)];
	int ret;

	if (rw_next - READ_ONCE(rw_first) == ARRAY_SIZE(rws))
		return ERR_PTR(-EBUSY);
	rw->nents = lay_out(&rw->sgt, rw_offset(rpc), rpc->bytes);
	rw->dir = rpc->dir;
	ret = rdma_rw_ctx_init(&rw->ctx, server.cm_id->qp,
			       server.cm_id->port_num, rw->sgt.sgl, rw->nents,
			       0, mr->iova, mr->rkey, rw->dir);
	if (ret < 0)
		return ERR_PTR(ret);
	rw_next++;
	return rw;
}

/* @last has completed, and all that were posted before it. */
static void rws_end(const struct verbs_rw *last)
{
	struct verbs_rw *rw;

	do {
		rw = &rws[rw_first % ARRAY_SIZE(rws)];
		rdma_rw_ctx_destroy(&rw->ctx, server.cm_id->qp,
				    server.cm_id->port_num, rw->sgt.sgl,
				    rw->nents, rw->dir);
		WRITE_ONCE(rw_first, rw_first + 1);
	} while (rw != last);
}

/* The RDMA Reads are done. */
static void server_read(struct ib_cq *cq, struct ib_wc *wc)
{
	rws_end(container_of(wc->wr_cqe, struct verbs_rw, cqe));
	if (wc->status != IB_WC_SUCCESS)
		verbs_fail(-EIO);
	else
		complete(&called);
}

/* The Send behind RDMA Writes is done. */
static void server_written(struct ib_cq *cq, struct ib_wc *wc)
{
	rws_end(container_of(wc->wr_cqe, struct verbs_rw, cqe));
	if (wc->status != IB_WC_SUCCESS)
		verbs_fail(-EIO);
}

/* The Call is there: read what belongs to it, or leave it to the thread. */
static void server_received(struct ib_cq *cq, struct ib_wc *wc)
{
	const struct verbs_rpc *rpc = &rpcs[at];
	struct ib_qp *qp = server.cm_id->qp;
	struct verbs_rw *rw;
	int ret;

	if (!recv_take(&server, wc))
		return;
	if (!rpc->bytes || rpc->dir == DMA_TO_DEVICE) {
		complete(&called);
		return;
	}
	rw = rw_begin(rpc);
	if (IS_ERR(rw)) {
		verbs_fail(PTR_ERR(rw));
		return;
	}
	rw->cqe.done = server_read;
	ret = ib_post_send(qp, rdma_rw_ctx_wrs(&rw->ctx, qp,
					       server.cm_id->port_num,
					       &rw->cqe, NULL), NULL);
	if (ret)
		verbs_fail(ret);
}

static void server_reply(const struct verbs_rpc *rpc)
{
	struct ib_send_wr *first;
	struct verbs_rw *rw;
	bool last;

	if (!rpc->reply) {
		complete(&replied);
		return;
	}
	if (!rpc->bytes || rpc->dir == DMA_FROM_DEVICE) {
		post_send(&server, rpc->reply, rpc->bytes ? mr->rkey : 0,
			  &server.cqe, 0, NULL);
		return;
	}
	rw = rw_begin(rpc);
	if (IS_ERR(rw)) {
		verbs_fail(PTR_ERR(rw));
		return;
	}
	rw->cqe.done = server_written;
	first = rdma_rw_ctx_wrs(&rw->ctx, server.cm_id->qp,
				server.cm_id->port_num, NULL, &server.send);
	last = rw_next - READ_ONCE(rw_first) == ARRAY_SIZE(rws);
	post_send(&server, rpc->reply, mr->rkey, &rw->cqe,
		  last ? U32_MAX / 2 : rw->nents, first);
}

static int server_thread(void *unused)
{
	for (;;) {
		/* It may be long until anybody calls */
		wait_for_completion_state(&called, TASK_IDLE);
		if (kthread_should_stop())
			return 0;
		server_reply(&rpcs[at]);
	}
}

/* "CALL REPLY BYTES read|write|copy|-" */
static int parse_rpc(const char *text, struct verbs_rpc *rpc)
{
	char dir[8];

	if (sscanf(text, "%u %u %u %7s", &rpc->call, &rpc->reply, &rpc->bytes,
		   dir) != 4)
		return -EINVAL;
	if (rpc->call > VERBS_MESSAGE || rpc->reply > VERBS_MESSAGE ||
	    rpc->bytes > VERBS_BYTES)
		return -EINVAL;
	rpc->dir = !strcmp(dir, "read") ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	rpc->copy = 0;
	if (!strcmp(dir, "copy")) {
		if (rpc->call || rpc->bytes > VERBS_MESSAGE)
			return -EINVAL;
		swap(rpc->copy, rpc->bytes);
	}
	return 0;
}

static int parse(const char *val)
{
	char *copy = kstrdup(val, GFP_KERNEL), *rest = copy, *word;
	int ret = copy ? 0 : -ENOMEM;

	nrpcs = 0;
	while (!ret && (word = strsep(&rest, ";"))) {
		if (!rest)
			ret = kstrtoul(strim(word), 0, &left);
		else if (nrpcs == VERBS_RPCS)
			ret = -E2BIG;
		else
			ret = parse_rpc(word, &rpcs[nrpcs++]);
	}
	if (!ret && (!nrpcs || !left))
		ret = -EINVAL;
	kfree(copy);
	return ret;
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	int ret;

	if (!client.cm_id || failed)
		return -ENOTCONN;
	ret = parse(val);
	if (ret)
		return ret;
	reinit_completion(&replied);
	while (left-- && !failed)
		for (at = 0; at < nrpcs && !failed; at++) {
			client_call();
			wait_for_completion(&replied);
		}
	return failed;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "what to do: see the source");

static void end_free(struct verbs_end *end)
{
	struct ib_device *device;
	int i;

	if (!end->cm_id)
		return;
	device = end->cm_id->device;
	if (end->cm_id->qp) {
		ib_drain_qp(end->cm_id->qp);
		if (end == &server && rw_first != rw_next)
			rws_end(&rws[(rw_next - 1) % ARRAY_SIZE(rws)]);
		rdma_destroy_qp(end->cm_id);
	}
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	for (i = 0; i < VERBS_RECVS; i++) {
		if (end->recvs[i].sge.addr)
			ib_dma_unmap_single(device, end->recvs[i].sge.addr,
					    VERBS_MESSAGE, DMA_FROM_DEVICE);
		kvfree(end->recvs[i].buf);
	}
	if (end->sge.addr)
		ib_dma_unmap_single(device, end->sge.addr, VERBS_MESSAGE,
				    DMA_TO_DEVICE);
	kfree(end->buf);
	if (end == &client && !IS_ERR_OR_NULL(mr))
		ib_dereg_mr(mr);
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
	rdma_destroy_id(end->cm_id);
	end->cm_id = NULL;
}

static int end_recvs(struct verbs_end *end,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_device *device = end->cm_id->device;
	struct verbs_recv *recv;

	for (recv = end->recvs; recv < end->recvs + VERBS_RECVS; recv++) {
		recv->buf = kzalloc(VERBS_MESSAGE, GFP_KERNEL);
		if (!recv->buf)
			return -ENOMEM;
		recv->sge.addr = ib_dma_map_single(device, recv->buf,
						   VERBS_MESSAGE,
						   DMA_FROM_DEVICE);
		recv->sge.length = VERBS_MESSAGE;
		recv->sge.lkey = end->pd->local_dma_lkey;
		recv->cqe.done = done;
		recv->wr.wr_cqe = &recv->cqe;
		recv->wr.sg_list = &recv->sge;
		recv->wr.num_sge = 1;
		recv->wr.next = end->used;
		end->used = &recv->wr;
	}
	return post_recvs(end);
}

static int end_setup(struct verbs_end *end, unsigned int sges,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_device *device = end->cm_id->device;
	struct ib_qp_init_attr attr = {
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= end->cm_id->port_num,
		.cap = {
			.max_send_wr	= VERBS_SENDS,
			.max_recv_wr	= VERBS_RECVS + 1,
			.max_send_sge	= sges,
			.max_recv_sge	= 1,
			.max_rdma_ctxs	= end == &server ? ARRAY_SIZE(rws) : 0,
		},
	};
	int ret;

	end->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	end->cq = ib_alloc_cq_any(device, end, 2 * VERBS_SENDS + VERBS_RECVS,
				  IB_POLL_WORKQUEUE);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	ret = rdma_create_qp(end->cm_id, end->pd, &attr);
	if (ret)
		return ret;
	end->buf = kzalloc(VERBS_MESSAGE, GFP_KERNEL);
	if (!end->buf)
		return -ENOMEM;
	end->sge.addr = ib_dma_map_single(device, end->buf, VERBS_MESSAGE,
					  DMA_TO_DEVICE);
	end->sge.lkey = end->pd->local_dma_lkey;
	end->cqe.done = sent;
	return end_recvs(end, done);
}

static int server_request(struct rdma_cm_id *cm_id)
{
	struct rdma_conn_param param = {
		.responder_resources	= 1,
		.initiator_depth	= 16,
		.rnr_retry_count	= 6,
	};
	int ret;

	if (server.cm_id)
		return -EBUSY;	/* the caller destroys the id */
	server.cm_id = cm_id;
	ret = end_setup(&server, VERBS_SGES, server_received);
	if (!ret)
		ret = rdma_accept(cm_id, &param);
	if (ret)
		pr_err("bench_verbs: the server's side: %d\n", ret);
	return 0;
}

static int cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return server_request(cm_id);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		complete(&step);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (cm_id == client.cm_id)
			complete(&step);
		break;
	default:
		break;
	}
	return 0;
}

static int wait_step(int ret)
{
	if (ret)
		return ret;
	return wait_for_completion_timeout(&step, VERBS_WAIT) ? 0 : -ETIMEDOUT;
}

static int client_connect(struct sockaddr *sa)
{
	struct rdma_conn_param param = {
		.responder_resources	= 16,
		.initiator_depth	= 1,
		.retry_count		= 6,
		.rnr_retry_count	= 6,
	};
	int ret;

	client.cm_id = rdma_create_id(&init_net, cm_event, NULL, RDMA_PS_TCP,
				      IB_QPT_RC);
	if (IS_ERR(client.cm_id)) {
		ret = PTR_ERR(client.cm_id);
		client.cm_id = NULL;
		return ret;
	}
	ret = wait_step(rdma_resolve_addr(client.cm_id, NULL, sa, 2000));
	if (!ret)
		ret = wait_step(rdma_resolve_route(client.cm_id, 2000));
	if (!ret)
		ret = end_setup(&client, 1, client_received);
	if (ret)
		return ret;
	mr = ib_alloc_mr(client.pd, IB_MR_TYPE_MEM_REG, VERBS_PAGES);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	return wait_step(rdma_connect(client.cm_id, &param));
}

static int pages_alloc(struct sg_table *sgt)
{
	struct scatterlist *sg;
	struct page *page;
	int i, ret;

	ret = sg_alloc_table(sgt, VERBS_PAGES, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(sgt, sg, i) {
		page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		sg_set_page(sg, page, PAGE_SIZE, 0);
	}
	return 0;
}

static void pages_free(struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	if (!sgt->sgl)
		return;
	/* Runs have changed the number */
	sgt->orig_nents = VERBS_PAGES;
	for_each_sgtable_sg(sgt, sg, i)
		if (sg_page(sg))
			__free_page(sg_page(sg));
	sg_free_table(sgt);
}

static int all_pages_alloc(void)
{
	unsigned int i;
	int ret;

	ret = pages_alloc(&client_sgt);
	for (i = 0; !ret && i < ARRAY_SIZE(rws); i++)
		ret = pages_alloc(&rws[i].sgt);
	return ret;
}

static void verbs_free(void)
{
	unsigned int i;

	if (client.cm_id && client.cm_id->qp)
		rdma_disconnect(client.cm_id);
	if (!IS_ERR_OR_NULL(thread)) {
		complete(&called);
		kthread_stop(thread);
	}
	end_free(&client);
	end_free(&server);
	if (!IS_ERR_OR_NULL(listener))
		rdma_destroy_id(listener);
	pages_free(&client_sgt);
	for (i = 0; i < ARRAY_SIZE(rws); i++)
		pages_free(&rws[i].sgt);
}

static int __init verbs_init(void)
{
	struct sockaddr_in sin = {
		.sin_family		= AF_INET,
		.sin_port		= htons(VERBS_PORT),
		.sin_addr.s_addr	= in_aton(addr),
	};
	struct sockaddr *sa = (struct sockaddr *)&sin;
	int ret;

	init_completion(&step);
	init_completion(&called);
	init_completion(&replied);
	listener = rdma_create_id(&init_net, cm_event, NULL, RDMA_PS_TCP,
				  IB_QPT_RC);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	ret = all_pages_alloc();
	if (!ret)
		ret = rdma_bind_addr(listener, sa);
	if (!ret)
		ret = rdma_listen(listener, 1);
	if (!ret)
		ret = client_connect(sa);
	if (!ret) {
		thread = kthread_run(server_thread, NULL, "bench_verbs");
		ret = PTR_ERR_OR_ZERO(thread);
	}
	if (ret)
		verbs_free();
	return ret;
}

static void __exit verbs_exit(void)
{
	verbs_free();
}

module_init(verbs_init);
module_exit(verbs_exit);
MODULE_DESCRIPTION("Verbs of an RPC with nothing above, for tests/bench/run");
MODULE_LICENSE("GPL");
