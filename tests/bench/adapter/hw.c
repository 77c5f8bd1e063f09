// SPDX-License-Identifier: GPL-2.0
/*
 * The hardware of the adapter: what runs here a real adapter does itself. It runs in the
 * hard interrupt of a timer that the doorbell starts, a moment later (delay_ns), so
 * neither those who post nor those who poll do its work. The event of a completion queue
 * is an interrupt on the CPU of its completion vector.
 *
 * The profiler (../profile-plugin.c) recognizes the instructions of hw_enter() and
 * hw_leave(), and counts what runs between them as the device's, whatever function it is
 * in. Not so the interrupt itself and the handlers of completion queues: these are
 * what an adapter's interrupt costs.
 *
 * Everything here is called with dev->lock held.
 */
#include <linux/dma-direct.h>
#include <linux/ip.h>
#include <linux/version.h>

#include "adapter.h"

#define HW_RNR_NS	(20 * NSEC_PER_USEC)	/* until a Send is repeated */

/* Statuses that are no completion */
enum { HW_RNR = -1, HW_SILENCE = -2 };

#ifdef CONFIG_X86_64
#define HW_MARK(c) ".byte 0x0f, 0x1f, 0x84, 0x00\n\t.ascii \"AD" c "\""
#else
#define HW_MARK(c) ""
#endif

static noinline notrace void hw_enter(void)
{
	asm volatile(HW_MARK("ON"));
}

static noinline notrace void hw_leave(void)
{
	asm volatile(HW_MARK("NO"));
}

/* The engine for DMA: eight bytes an instruction */
static void hw_memcpy(void *to, const void *from, size_t n)
{
#ifdef CONFIG_X86_64
	size_t words = n / 8;

	n %= 8;
	asm volatile("rep movsq\n\tmov %[n], %%rcx\n\trep movsb"
		     : "+&D" (to), "+&S" (from), "+&c" (words)
		     : [n] "r" (n) : "memory");
#else
	memcpy(to, from, n);
#endif
}

/* Completions */

static void hw_complete(struct ad_dev *dev, struct ad_cq *cq, const struct ib_wc *wc,
			u32 freed, bool solicited)
{
	struct ad_cqe *cqe = &cq->ring[cq->tail & cq->mask];

	if (WARN_ONCE(cq->tail - READ_ONCE(cq->head) > cq->mask,
		      "bench_adapter: a completion queue is too short"))
		return;
	cqe->wc = *wc;
	cqe->freed = freed;
	/* The entry before its number */
	smp_store_release(&cq->tail, cq->tail + 1);
	/* Pairs with the barrier in ad_req_notify_cq() */
	smp_mb();
	if (cq->armed == IB_CQ_NEXT_COMP ||
	    (cq->armed && (solicited || wc->status))) {
		cq->armed = 0;
		/* Armed again before hw_run() delivered the last event: one serves both */
		if (list_empty(&cq->event))
			list_add_tail(&cq->event, &dev->events);
	}
}

static enum ib_wc_opcode hw_wc_opcode(const struct ad_wqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_RDMA_WRITE:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/* The first entry of the send queue is done. */
static void hw_sent(struct ad_dev *dev, struct ad_qp *qp, struct ad_wqe *wqe,
		    enum ib_wc_status status)
{
	struct ib_wc wc = {};

	qp->sq.head++;
	qp->retries = 0;
	if (!status && !qp->signal_all && !(wqe->flags & IB_SEND_SIGNALED))
		return;
	wc.wr_id = wqe->wr_id;
	wc.status = status;
	wc.opcode = hw_wc_opcode(wqe);
	wc.qp = &qp->ib;
	wc.byte_len = wqe->length;
	hw_complete(dev, ad_cq_of(qp->ib.send_cq), &wc, qp->sq.head, false);
}

/* The first entry of the receive queue is done; @wc has what differs. */
static void hw_received(struct ad_dev *dev, struct ad_qp *qp, struct ib_wc *wc,
			bool solicited)
{
	wc->wr_id = ad_wqe(&qp->rq, qp->rq.head)->wr_id;
	wc->qp = &qp->ib;
	wc->opcode = IB_WC_RECV;
	qp->rq.head++;
	hw_complete(dev, ad_cq_of(qp->ib.recv_cq), wc, 0, solicited);
}

static bool hw_queue_empty(struct ad_queue *q)
{
	/* Pairs with queue_posted() */
	return q->head == smp_load_acquire(&q->tail);
}

static void hw_flush(struct ad_dev *dev, struct ad_qp *qp)
{
	while (!hw_queue_empty(&qp->sq))
		hw_sent(dev, qp, ad_wqe(&qp->sq, qp->sq.head), IB_WC_WR_FLUSH_ERR);
	while (!hw_queue_empty(&qp->rq)) {
		struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };

		hw_received(dev, qp, &wc, false);
	}
}

static void hw_qp_error(struct ad_dev *dev, struct ad_qp *qp)
{
	WRITE_ONCE(qp->state, IB_QPS_ERR);
	/* Pairs with the barrier in ad_post_recv() */
	smp_mb();
	hw_flush(dev, qp);
}

/* Memory */

static struct ad_mr *hw_mr(struct ad_dev *dev, struct ib_pd *pd, u32 key)
{
	struct ad_mr *mr = xa_load(&dev->mrs, key >> 8);

	return mr && mr->valid && mr->key == key && mr->ib.pd == pd ? mr : NULL;
}

/* Are all of these bytes there, for this @access? */
static bool hw_may(struct ad_dev *dev, struct ib_pd *pd, const struct ib_sge *sge,
		   int access)
{
	struct ad_mr *mr;

	if (sge->lkey == AD_LOCAL_LKEY)
		return !(access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE));
	mr = hw_mr(dev, pd, sge->lkey);
	return mr && (mr->access & access) == access && sge->addr >= mr->iova &&
	       sge->length <= mr->length &&
	       sge->addr - mr->iova <= mr->length - sge->length;
}

/* Where is this byte? Makes @n smaller if fewer bytes follow it there. */
static void *hw_byte(struct ad_dev *dev, u32 key, u64 addr, u32 *n)
{
	struct device *dma = dev->ib.dma_device;
	struct ad_mr *mr;
	u64 offset;

	if (key != AD_LOCAL_LKEY) {
		mr = xa_load(&dev->mrs, key >> 8);
		offset = (addr - mr->iova) + (mr->iova & (BIT_ULL(mr->shift) - 1));
		addr = offset & (BIT_ULL(mr->shift) - 1);
		*n = min_t(u64, *n, BIT_ULL(mr->shift) - addr);
		addr += mr->pages[offset >> mr->shift];
	}
	return phys_to_virt(dma_to_phys(dma, addr));
}

/* Copy @n bytes from one list of SGEs to another, which were found to be right. */
static void hw_copy(struct ad_dev *dev, const struct ib_sge *to, u32 to_at,
		    const struct ib_sge *from, u32 n)
{
	u32 from_at = 0, part;
	void *t, *f;

	while (n) {
		while (to_at >= to->length) {
			to_at -= to->length;
			to++;
		}
		while (from_at >= from->length) {
			from_at -= from->length;
			from++;
		}
		part = min3(n, to->length - to_at, from->length - from_at);
		t = hw_byte(dev, to->lkey, to->addr + to_at, &part);
		f = hw_byte(dev, from->lkey, from->addr + from_at, &part);
		hw_memcpy(t, f, part);
		to_at += part;
		from_at += part;
		n -= part;
	}
}

static bool hw_may_all(struct ad_dev *dev, struct ib_pd *pd, const struct ad_wqe *wqe,
		       int access)
{
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		if (!hw_may(dev, pd, &wqe->sge[i], access))
			return false;
	return true;
}

/* Work requests */

static int hw_invalidate(struct ad_dev *dev, struct ad_qp *qp, u32 key)
{
	struct ad_mr *mr = hw_mr(dev, qp->ib.pd, key);

	if (!mr)
		return IB_WC_LOC_PROT_ERR;
	mr->valid = false;
	return IB_WC_SUCCESS;
}

static int hw_register(struct ad_qp *qp, struct ad_wqe *wqe)
{
	struct ad_mr *mr = wqe->mr;

	if (mr->ib.pd != qp->ib.pd || mr->valid || mr->key >> 8 != wqe->rkey >> 8)
		return IB_WC_MW_BIND_ERR;
	mr->valid = true;
	mr->key = wqe->rkey;
	mr->access = wqe->access;
	mr->iova = mr->ib.iova;
	mr->length = mr->ib.length;
	mr->shift = ilog2(mr->ib.page_size);
	return IB_WC_SUCCESS;
}

/* RDMA. If the other side has to refuse it, its QP fails as well. */
static int hw_rdma(struct ad_dev *dev, struct ad_qp *qp, struct ad_qp *peer,
		   struct ad_wqe *wqe)
{
	struct ib_sge remote = {
		.addr	= wqe->remote_addr,
		.length	= wqe->length,
		.lkey	= wqe->rkey,
	};
	bool read = wqe->opcode == IB_WR_RDMA_READ;

	if (!hw_may_all(dev, qp->ib.pd, wqe, read ? IB_ACCESS_LOCAL_WRITE : 0))
		return IB_WC_LOC_PROT_ERR;
	if (!wqe->length)
		return IB_WC_SUCCESS;
	if (!hw_may(dev, peer->ib.pd, &remote,
		    read ? IB_ACCESS_REMOTE_READ : IB_ACCESS_REMOTE_WRITE)) {
		hw_qp_error(dev, peer);
		return IB_WC_REM_ACCESS_ERR;
	}
	if (read)
		hw_copy(dev, wqe->sge, 0, &remote, wqe->length);
	else
		hw_copy(dev, &remote, 0, wqe->sge, wqe->length);
	return IB_WC_SUCCESS;
}

/* What stands in front of a datagram: a header of IPv4, at the end of the room for one of
 * IPv6, or that.
 */
static void hw_datagram_header(struct ad_dev *dev, struct ad_wqe *wqe,
			       const struct ib_sge *to, struct ib_wc *wc)
{
	struct ad_ah *ah = wqe->ah;
	struct in6_addr *saddr = (struct in6_addr *)&ah->sgid;
	union rdma_network_hdr hdr = {};
	struct iphdr *ip = (struct iphdr *)&hdr.roce4grh;
	u32 n = sizeof(hdr);
	void *at;

	wc->wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	if (ipv6_addr_v4mapped(saddr)) {
		wc->network_hdr_type = RDMA_NETWORK_IPV4;
		ip->version = 4;
		ip->ihl = 5;
		ip->ttl = 64;
		ip->protocol = IPPROTO_UDP;
		memcpy(&ip->saddr, ah->sgid.raw + 12, 4);
		memcpy(&ip->daddr, ah->dgid.raw + 12, 4);
	} else {
		wc->network_hdr_type = RDMA_NETWORK_IPV6;
		hdr.ibgrh.version_tclass_flow = htonl(6 << 28);
		hdr.ibgrh.next_hdr = IPPROTO_UDP;
		hdr.ibgrh.sgid = ah->sgid;
		hdr.ibgrh.dgid = ah->dgid;
	}
	at = hw_byte(dev, to->lkey, to->addr, &n);
	hw_memcpy(at, &hdr, n);
}

static int hw_send(struct ad_dev *dev, struct ad_qp *qp, struct ad_qp *peer,
		   struct ad_wqe *wqe)
{
	u32 front = qp->ib.qp_type == IB_QPT_GSI ? sizeof(union rdma_network_hdr) : 0;
	struct ib_wc wc = { .byte_len = wqe->length + front, .port_num = 1 };
	struct ad_wqe *recv;

	if (!hw_may_all(dev, qp->ib.pd, wqe, 0))
		return IB_WC_LOC_PROT_ERR;
	if (hw_queue_empty(&peer->rq))
		return front ? IB_WC_SUCCESS : HW_RNR;
	recv = ad_wqe(&peer->rq, peer->rq.head);
	if (!hw_may_all(dev, peer->ib.pd, recv, IB_ACCESS_LOCAL_WRITE))
		wc.status = IB_WC_LOC_PROT_ERR;
	else if (wc.byte_len > recv->length)
		wc.status = IB_WC_LOC_LEN_ERR;
	else if (wqe->opcode == IB_WR_SEND_WITH_INV)
		wc.status = hw_invalidate(dev, peer, wqe->inv);
	if (wc.status) {
		hw_received(dev, peer, &wc, false);
		hw_qp_error(dev, peer);
		return wc.status == IB_WC_LOC_LEN_ERR ? IB_WC_REM_INV_REQ_ERR :
		       IB_WC_REM_OP_ERR;
	}
	if (front) {
		hw_datagram_header(dev, wqe, recv->sge, &wc);
		wc.src_qp = qp->ib.qp_num;
	}
	hw_copy(dev, recv->sge, front, wqe->sge, wqe->length);
	if (wqe->opcode == IB_WR_SEND_WITH_INV) {
		wc.wc_flags |= IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = wqe->inv;
	}
	hw_received(dev, peer, &wc, wqe->flags & IB_SEND_SOLICITED);
	return IB_WC_SUCCESS;
}

/* The queue pair that is at the other end, if that would answer */
static struct ad_qp *hw_peer(struct ad_dev *dev, struct ad_qp *qp, struct ad_wqe *wqe)
{
	bool gsi = qp->ib.qp_type == IB_QPT_GSI;
	struct ad_qp *peer = xa_load(&dev->qps, gsi ? wqe->dest_qpn : qp->dest_qpn);

	if (!peer || (peer->state != IB_QPS_RTR && peer->state != IB_QPS_RTS) ||
	    peer->ib.qp_type != qp->ib.qp_type)
		return NULL;
	return gsi || peer->dest_qpn == qp->ib.qp_num ? peer : NULL;
}

static int hw_execute(struct ad_dev *dev, struct ad_qp *qp, struct ad_wqe *wqe)
{
	struct ad_qp *peer;

	switch (wqe->opcode) {
	case IB_WR_REG_MR:
		return hw_register(qp, wqe);
	case IB_WR_LOCAL_INV:
		return hw_invalidate(dev, qp, wqe->inv);
	default:
		break;
	}
	peer = hw_peer(dev, qp, wqe);
	if (!peer)
		return qp->ib.qp_type == IB_QPT_GSI ? IB_WC_SUCCESS : HW_SILENCE;
	switch (wqe->opcode) {
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_WRITE:
		return hw_rdma(dev, qp, peer, wqe);
	default:
		return hw_send(dev, qp, peer, wqe);
	}
}

/* Put an entry off for which the other side was not ready. Returns a status if that has
 * been so for too long.
 */
static int hw_retry(struct ad_qp *qp, int status)
{
	u32 most = status == HW_RNR ? qp->attr.rnr_retry : qp->attr.retry_cnt;
	u64 ns = status == HW_RNR ? HW_RNR_NS : 4096ull << qp->attr.timeout;

	/* 7 times is for ever if there is no Receive */
	if (qp->retries++ >= most && !(status == HW_RNR && most == 7))
		return status == HW_RNR ? IB_WC_RNR_RETRY_EXC_ERR : IB_WC_RETRY_EXC_ERR;
	qp->retry_at = ktime_add_ns(ktime_get(), ns);
	return status;
}

/* Returns false if it has to go on later. */
static bool hw_qp(struct ad_dev *dev, struct ad_qp *qp)
{
	struct ad_wqe *wqe;
	int status;

	while (qp->state == IB_QPS_RTS && !hw_queue_empty(&qp->sq)) {
		if (qp->retries && ktime_before(ktime_get(), qp->retry_at))
			return false;
		wqe = ad_wqe(&qp->sq, qp->sq.head);
		status = hw_execute(dev, qp, wqe);
		if (status < 0)
			status = hw_retry(qp, status);
		if (status < 0)
			return false;
		hw_sent(dev, qp, wqe, status);
		if (status)
			hw_qp_error(dev, qp);
	}
	if (qp->state == IB_QPS_ERR)
		hw_flush(dev, qp);
	return true;
}

/* The timer */

static void hw_start(struct ad_dev *dev, ktime_t at)
{
	if (at >= dev->expires)
		return;
	dev->expires = at;
	hrtimer_start(&dev->timer, at, HRTIMER_MODE_ABS_PINNED_HARD);
}

void hw_interrupt(void *data)
{
	struct ad_cq *cq = data;

	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static enum hrtimer_restart hw_run(struct hrtimer *timer)
{
	struct ad_dev *dev = container_of(timer, struct ad_dev, timer);
	struct ad_qp *qp, *next;
	struct ad_cq *cq;
	unsigned long flags;

	hw_enter();
	spin_lock_irqsave(&dev->lock, flags);
	dev->expires = KTIME_MAX;
	list_for_each_entry_safe(qp, next, &dev->active, active)
		if (hw_qp(dev, qp))
			list_del_init(&qp->active);
	list_for_each_entry(qp, &dev->active, active)
		hw_start(dev, qp->retry_at);
	ad_count[AD_RUNS]++;
	ad_count[AD_INTERRUPTS] += !list_empty(&dev->events);
	while (!list_empty(&dev->events)) {
		cq = list_first_entry(&dev->events, struct ad_cq, event);
		list_del_init(&cq->event);
		/* ad_destroy_cq() waits for an RCU grace period */
		spin_unlock(&dev->lock);
		/* On this CPU the timer's interrupt is the one. */
		if (cq->cpu == smp_processor_id()) {
			hw_leave();
			hw_interrupt(cq);
			hw_enter();
		} else {
			/* If it is still on its way it serves this event, too. */
			smp_call_function_single_async(cq->cpu, &cq->interrupt);
		}
		spin_lock(&dev->lock);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	hw_leave();
	return HRTIMER_NORESTART;
}

/* There is work for this queue pair: as hw_doorbell(), with the lock held. */
void hw_kick(struct ad_dev *dev, struct ad_qp *qp)
{
	lockdep_assert_held(&dev->lock);
	if (list_empty(&qp->active))
		list_add_tail(&qp->active, &dev->active);
	hw_start(dev, ktime_add_ns(ktime_get(), ad_delay));
}

/* Tell the hardware that there is work for this queue pair. */
void hw_doorbell(struct ad_dev *dev, struct ad_qp *qp)
{
	unsigned long flags;

	local_irq_save(flags);
	hw_enter();
	spin_lock(&dev->lock);
	hw_kick(dev, qp);
	spin_unlock(&dev->lock);
	hw_leave();
	local_irq_restore(flags);
}

void hw_init(struct ad_dev *dev)
{
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->active);
	INIT_LIST_HEAD(&dev->events);
	dev->expires = KTIME_MAX;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(&dev->timer, hw_run, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
#else
	hrtimer_init(&dev->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	dev->timer.function = hw_run;
#endif
}
