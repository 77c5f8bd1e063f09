// SPDX-License-Identifier: GPL-2.0
/*
 * An adapter that costs the guest as little as a real one: the driver's part is here, the
 * hardware's is in hw.c. RoCE version 2 of one port, for users in the kernel; both sides
 * of each connection are queue pairs of the same adapter.
 *
 *	rdma link add rxe0 type bench_adapter netdev v0
 *	echo 1 > .../parameters/counters		begin to count
 *	echo 0 > .../parameters/counters		end
 *	cat .../parameters/counters
 *
 * Posting copies a work request into a queue in memory and rings the doorbell. The DMA
 * API maps memory as for a PCI device, so bounce buffers and IOMMUs work as usual. There
 * are no packets: a message is in the memory of the receiver when the hardware has run.
 * Messages of the CM are datagrams between the queue pair 1 and itself.
 *
 * What users do wrong is found as by an adapter: keys, protection domains, bounds and
 * access are checked, a queue that has no room refuses work requests until completions
 * were polled, and a Send waits for a Receive.
 */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/rdma_netlink.h>

#include "adapter.h"

/* Of the counted guest, which executes one instruction in a nanosecond: of a processor of today
 * about one microsecond
 */
unsigned int ad_delay = 3000;
module_param_named(delay_ns, ad_delay, uint, 0644);
MODULE_PARM_DESC(delay_ns, "from the doorbell to the transfer");

u64 ad_count[AD_COUNTERS];
static u64 count_begin[AD_COUNTERS], count_end[AD_COUNTERS];
static const char * const count_names[AD_COUNTERS] = {
	"sends", "send_wrs", "recvs", "recv_wrs", "notifies", "runs", "interrupts",
};

static struct platform_device *ad_pdev;

static int counters_set(const char *val, const struct kernel_param *kp)
{
	memcpy(val[0] == '1' ? count_begin : count_end, ad_count, sizeof(ad_count));
	return 0;
}

static int counters_get(char *buf, const struct kernel_param *kp)
{
	int i, n = 0;

	for (i = 0; i < AD_COUNTERS; i++)
		n += sysfs_emit_at(buf, n, "%s %llu\n", count_names[i],
				   count_end[i] - count_begin[i]);
	return n;
}

static const struct kernel_param_ops counters_ops = {
	.set	= counters_set,
	.get	= counters_get,
};
module_param_cb(counters, &counters_ops, NULL, 0644);
MODULE_PARM_DESC(counters, "1 to begin, 0 to end; what happened between");

/* Posting */

static void sges_copy(struct ad_wqe *wqe, const struct ib_sge *sge, u32 n)
{
	u32 i, length = 0;

	for (i = 0; i < n; i++) {
		wqe->sge[i] = sge[i];
		length += sge[i].length;
	}
	wqe->num_sge = n;
	wqe->length = length;
}

static bool queue_full(struct ad_queue *q)
{
	return q->tail - READ_ONCE(q->freed) >= q->max;
}

static void queue_posted(struct ad_queue *q)
{
	/* The entry before its number; pairs with hw_queue_empty() */
	smp_store_release(&q->tail, q->tail + 1);
}

static int send_fill(struct ad_qp *qp, struct ad_wqe *wqe, const struct ib_send_wr *wr)
{
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	switch (wr->opcode) {
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->inv = wr->ex.invalidate_rkey;
		break;
	case IB_WR_SEND:
		if (qp->ib.qp_type == IB_QPT_GSI) {
			wqe->ah = container_of(ud_wr(wr)->ah, struct ad_ah, ib);
			wqe->dest_qpn = ud_wr(wr)->remote_qpn;
		}
		break;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_WRITE:
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_REG_MR:
		wqe->mr = ad_mr_of(reg_wr(wr)->mr);
		wqe->rkey = reg_wr(wr)->key;
		wqe->access = reg_wr(wr)->access;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (wr->num_sge > qp->sq.max_sge || wr->send_flags & IB_SEND_INLINE)
		return -EINVAL;
	sges_copy(wqe, wr->sg_list, wr->num_sge);
	return 0;
}

static int ad_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
			const struct ib_send_wr **bad)
{
	struct ad_qp *qp = ad_qp_of(ib);
	struct ad_queue *q = &qp->sq;
	unsigned long flags;
	int ret = 0;

	if (READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&q->lock, flags);
	ad_count[AD_SENDS]++;
	for (; wr; wr = wr->next) {
		ret = -ENOMEM;
		if (queue_full(q))
			break;
		ret = send_fill(qp, ad_wqe(q, q->tail), wr);
		if (ret)
			break;
		ad_count[AD_SEND_WRS]++;
		queue_posted(q);
	}
	hw_doorbell(ad_dev_of(ib->device), qp);
	spin_unlock_irqrestore(&q->lock, flags);
	if (ret)
		*bad = wr;
	return ret;
}

static int ad_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	struct ad_qp *qp = ad_qp_of(ib);
	struct ad_queue *q = &qp->rq;
	struct ad_wqe *wqe;
	unsigned long flags;
	int ret = 0;

	if (READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&q->lock, flags);
	ad_count[AD_RECVS]++;
	for (; wr; wr = wr->next) {
		if (queue_full(q) || wr->num_sge > q->max_sge) {
			ret = -ENOMEM;
			break;
		}
		wqe = ad_wqe(q, q->tail);
		wqe->wr_id = wr->wr_id;
		sges_copy(wqe, wr->sg_list, wr->num_sge);
		ad_count[AD_RECV_WRS]++;
		queue_posted(q);
	}
	/* Pairs with the barrier in hw_qp_error() */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		hw_doorbell(ad_dev_of(ib->device), qp);
	spin_unlock_irqrestore(&q->lock, flags);
	if (ret)
		*bad = wr;
	return ret;
}

/* Completion queues */

static int ad_poll_cq(struct ib_cq *ib, int n, struct ib_wc *wc)
{
	struct ad_cq *cq = ad_cq_of(ib);
	struct ad_cqe *cqe;
	unsigned long flags;
	struct ad_qp *qp;
	int i = 0;

	spin_lock_irqsave(&cq->lock, flags);
	/* The number before the entry, which is free once it was read */
	while (i < n && cq->head != smp_load_acquire(&cq->tail)) {
		cqe = &cq->ring[cq->head & cq->mask];
		if (cqe->wc.qp) {
			qp = ad_qp_of(cqe->wc.qp);
			if (cqe->wc.opcode & IB_WC_RECV)
				WRITE_ONCE(qp->rq.freed, qp->rq.freed + 1);
			else
				WRITE_ONCE(qp->sq.freed, cqe->freed);
			wc[i++] = cqe->wc;
		}
		/* Pairs with hw_complete() */
		smp_store_release(&cq->head, cq->head + 1);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

static int ad_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	struct ad_cq *cq = ad_cq_of(ib);

	ad_count[AD_NOTIFIES]++;
	WRITE_ONCE(cq->armed, flags & IB_CQ_SOLICITED_MASK);
	/* Pairs with the barrier in hw_complete() */
	smp_mb();
	return flags & IB_CQ_REPORT_MISSED_EVENTS &&
	       READ_ONCE(cq->head) != READ_ONCE(cq->tail);
}

/* What only calls for processes have */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
typedef struct uverbs_attr_bundle ad_cq_user;
#else
typedef struct ib_udata ad_cq_user;
#endif

static int ad_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			ad_cq_user *user)
{
	struct ad_cq *cq = ad_cq_of(ib);
	u32 n = roundup_pow_of_two(attr->cqe + 1);

	if (user || attr->cqe > ib->device->attrs.max_cqe)
		return -EINVAL;
	cq->ring = kvcalloc(n, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	INIT_LIST_HEAD(&cq->event);
	INIT_CSD(&cq->interrupt, hw_interrupt, cq);
	cq->cpu = attr->comp_vector % num_online_cpus();
	cq->mask = n - 1;
	ib->cqe = n - 1;
	return 0;
}

static void ad_nothing(void *unused)
{
}

static int ad_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct ad_cq *cq = ad_cq_of(ib);
	struct ad_dev *dev = ad_dev_of(ib->device);

	spin_lock_irq(&dev->lock);
	list_del_init(&cq->event);
	spin_unlock_irq(&dev->lock);
	/* hw_run() may be calling the handler. */
	synchronize_rcu();
	/* One that is under way arrives before this. */
	smp_call_function_single(cq->cpu, ad_nothing, NULL, 1);
	kvfree(cq->ring);
	return 0;
}

/* Before @qp is destroyed: no completion may name it afterwards. */
static void cq_forget(struct ib_cq *ib, struct ib_qp *qp)
{
	struct ad_cq *cq = ad_cq_of(ib);
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = cq->head; i != READ_ONCE(cq->tail); i++)
		if (cq->ring[i & cq->mask].wc.qp == qp)
			cq->ring[i & cq->mask].wc.qp = NULL;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* Queue pairs */

static int queue_init(struct ad_queue *q, u32 max, u32 max_sge)
{
	u32 n = roundup_pow_of_two(max + 1);

	spin_lock_init(&q->lock);
	q->stride = ALIGN(struct_size((struct ad_wqe *)NULL, sge, max_sge), 64);
	q->mask = n - 1;
	q->max = max;
	q->max_sge = max_sge;
	q->ring = kvcalloc(n, q->stride, GFP_KERNEL);
	return q->ring ? 0 : -ENOMEM;
}

static int ad_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
			struct ib_udata *udata)
{
	static u32 next;
	struct ad_dev *dev = ad_dev_of(ib->device);
	struct ad_qp *qp = ad_qp_of(ib);
	struct ib_qp_cap *cap = &init->cap;
	int ret;

	if (udata || init->srq ||
	    (init->qp_type != IB_QPT_RC && init->qp_type != IB_QPT_GSI))
		return -EOPNOTSUPP;
	if (cap->max_send_sge > AD_MAX_SGE || cap->max_recv_sge > AD_MAX_SGE ||
	    cap->max_send_wr > dev->ib.attrs.max_qp_wr || cap->max_inline_data ||
	    cap->max_recv_wr > dev->ib.attrs.max_qp_wr)
		return -EINVAL;
	qp->signal_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	INIT_LIST_HEAD(&qp->active);
	ret = queue_init(&qp->sq, cap->max_send_wr, cap->max_send_sge);
	if (!ret)
		ret = queue_init(&qp->rq, cap->max_recv_wr, cap->max_recv_sge);
	if (ret)
		goto err;
	if (init->qp_type == IB_QPT_GSI) {
		ib->qp_num = 1;
		ret = xa_insert(&dev->qps, 1, qp, GFP_KERNEL);
	} else {
		ret = xa_alloc_cyclic(&dev->qps, &ib->qp_num, qp,
				      XA_LIMIT(2, 0xffffff), &next, GFP_KERNEL);
	}
	if (ret >= 0)
		return 0;
err:
	kvfree(qp->sq.ring);
	kvfree(qp->rq.ring);
	return ret;
}

static int ad_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct ad_dev *dev = ad_dev_of(ib->device);
	struct ad_qp *qp = ad_qp_of(ib);

	xa_erase(&dev->qps, ib->qp_num);
	/* Not known to the hardware any more */
	spin_lock_irq(&dev->lock);
	list_del_init(&qp->active);
	spin_unlock_irq(&dev->lock);
	cq_forget(ib->send_cq, ib);
	cq_forget(ib->recv_cq, ib);
	kvfree(qp->sq.ring);
	kvfree(qp->rq.ring);
	return 0;
}

static void qp_reset(struct ad_queue *q)
{
	q->tail = 0;
	q->head = 0;
	q->freed = 0;
}

static int ad_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			struct ib_udata *udata)
{
	struct ad_dev *dev = ad_dev_of(ib->device);
	struct ad_qp *qp = ad_qp_of(ib);
	enum ib_qp_state cur, new;
	int ret = -EINVAL;

	spin_lock_irq(&dev->lock);
	cur = qp->state;
	new = mask & IB_QP_STATE ? attr->qp_state : cur;
	if (!ib_modify_qp_is_ok(cur, new, ib->qp_type, mask))
		goto out;
	ret = 0;
	if (mask & IB_QP_DEST_QPN)
		qp->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_RNR_RETRY)
		qp->attr.rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_RETRY_CNT)
		qp->attr.retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_TIMEOUT)
		qp->attr.timeout = attr->timeout;
	WRITE_ONCE(qp->state, new);
	if (new == IB_QPS_RESET) {
		list_del_init(&qp->active);
		qp_reset(&qp->sq);
		qp_reset(&qp->rq);
	} else if (new == IB_QPS_ERR || new == IB_QPS_RTS) {
		qp->retries = 0;
		hw_kick(dev, qp);
	}
out:
	spin_unlock_irq(&dev->lock);
	return ret;
}

static int ad_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		       struct ib_qp_init_attr *init)
{
	struct ad_qp *qp = ad_qp_of(ib);

	*attr = qp->attr;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->dest_qp_num = qp->dest_qpn;
	attr->cap.max_send_wr = qp->sq.max;
	attr->cap.max_recv_wr = qp->rq.max;
	attr->cap.max_send_sge = qp->sq.max_sge;
	attr->cap.max_recv_sge = qp->rq.max_sge;
	init->cap = attr->cap;
	return 0;
}

/* Memory */

static struct ib_mr *ad_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	static u32 next;
	struct ad_dev *dev = ad_dev_of(pd->device);
	struct ad_mr *mr;
	u32 index;
	int ret;

	if (type != IB_MR_TYPE_MEM_REG || max > AD_MAX_PAGES)
		return ERR_PTR(-EINVAL);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = -ENOMEM;
	mr->max_pages = max;
	mr->ib.pd = pd;
	mr->pages = kvcalloc(max, sizeof(*mr->pages), GFP_KERNEL);
	if (mr->pages)
		ret = xa_alloc_cyclic(&dev->mrs, &index, mr, XA_LIMIT(1, 0xffffff),
				      &next, GFP_KERNEL);
	if (ret < 0) {
		kvfree(mr->pages);
		kfree(mr);
		return ERR_PTR(ret);
	}
	mr->key = index << 8;
	mr->ib.lkey = mr->key;
	mr->ib.rkey = mr->key;
	return &mr->ib;
}

static int ad_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct ad_dev *dev = ad_dev_of(ib->device);
	struct ad_mr *mr = ad_mr_of(ib);

	xa_erase(&dev->mrs, mr->key >> 8);
	/* Not known to the hardware any more */
	spin_lock_irq(&dev->lock);
	spin_unlock_irq(&dev->lock);
	kvfree(mr->pages);
	kfree(mr);
	return 0;
}

static int mr_add_page(struct ib_mr *ib, u64 addr)
{
	struct ad_mr *mr = ad_mr_of(ib);

	if (mr->npages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->npages++] = addr;
	return 0;
}

static int ad_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int n,
			unsigned int *offset)
{
	ad_mr_of(ib)->npages = 0;
	return ib_sg_to_pages(ib, sg, n, offset, mr_add_page);
}

/* Only asked for if there is no local_dma_lkey, or by processes. */
static struct ib_mr *ad_get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
static struct ib_mr *ad_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 addr,
				    int access, struct ib_dmah *dmah,
				    struct ib_udata *udata)
#else
static struct ib_mr *ad_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 addr,
				    int access, struct ib_udata *udata)
#endif
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int ad_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return udata ? -EOPNOTSUPP : 0;
}

static int ad_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int ad_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *attr,
			struct ib_udata *udata)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr->ah_attr);
	struct ad_ah *ah = container_of(ib, struct ad_ah, ib);

	ah->sgid = grh->sgid_attr->gid;
	ah->dgid = grh->dgid;
	return 0;
}

static int ad_destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

/* The device */

static int ad_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			   struct ib_udata *udata)
{
	*attr = (struct ib_device_attr) {
		.sys_image_guid		= ib->node_guid,
		.max_mr_size		= U64_MAX,
		.page_size_cap		= PAGE_SIZE,
		.max_qp			= 4096,
		.max_qp_wr		= 16384,
		.max_send_sge		= AD_MAX_SGE,
		.max_recv_sge		= AD_MAX_SGE,
		.max_sge_rd		= AD_MAX_SGE,
		.max_cq			= 4096,
		.max_cqe		= 1 << 20,
		.max_mr			= 1 << 20,
		.max_pd			= 4096,
		.max_ah			= 4096,
		.max_qp_rd_atom		= 16,
		.max_qp_init_rd_atom	= 16,
		.max_res_rd_atom	= 65536,
		.max_pkeys		= 1,
		.local_ca_ack_delay	= 15,
		.max_fast_reg_page_list_len = AD_MAX_PAGES,
		.device_cap_flags	= IB_DEVICE_MEM_MGT_EXTENSIONS |
					  IB_DEVICE_RC_RNR_NAK_GEN,
		.kernel_cap_flags	= IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG,
	};
	return 0;
}

static int ad_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = 512;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = 1U << 31;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->ip_gids = true;
	return 0;
}

static int ad_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static enum rdma_link_layer ad_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int ad_get_port_immutable(struct ib_device *ib, u32 port,
				 struct ib_port_immutable *immutable)
{
	struct ib_port_attr attr = {};

	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	ad_query_port(ib, port, &attr);
	immutable->pkey_tbl_len = attr.pkey_tbl_len;
	immutable->gid_tbl_len = attr.gid_tbl_len;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static void ad_dealloc_driver(struct ib_device *ib)
{
	struct ad_dev *dev = ad_dev_of(ib);

	hrtimer_cancel(&dev->timer);
	xa_destroy(&dev->qps);
	xa_destroy(&dev->mrs);
}

static const struct ib_device_ops ad_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.post_send		= ad_post_send,
	.post_recv		= ad_post_recv,
	.poll_cq		= ad_poll_cq,
	.req_notify_cq		= ad_req_notify_cq,
	.create_cq		= ad_create_cq,
	.destroy_cq		= ad_destroy_cq,
	.create_qp		= ad_create_qp,
	.modify_qp		= ad_modify_qp,
	.query_qp		= ad_query_qp,
	.destroy_qp		= ad_destroy_qp,
	.alloc_mr		= ad_alloc_mr,
	.dereg_mr		= ad_dereg_mr,
	.map_mr_sg		= ad_map_mr_sg,
	.get_dma_mr		= ad_get_dma_mr,
	.reg_user_mr		= ad_reg_user_mr,
	.alloc_pd		= ad_alloc_pd,
	.dealloc_pd		= ad_dealloc_pd,
	.create_ah		= ad_create_ah,
	.destroy_ah		= ad_destroy_ah,
	.query_device		= ad_query_device,
	.query_port		= ad_query_port,
	.query_pkey		= ad_query_pkey,
	.get_link_layer		= ad_get_link_layer,
	.get_port_immutable	= ad_get_port_immutable,
	.dealloc_driver		= ad_dealloc_driver,

	INIT_RDMA_OBJ_SIZE(ib_ah, ad_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, ad_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, ad_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, ad_qp, ib),
};

static int ad_newlink(const char *name, struct net_device *netdev)
{
	struct ad_dev *dev = ib_alloc_device(ad_dev, ib);
	int ret;

	if (!dev)
		return -ENOMEM;
	dev->ib.node_type = RDMA_NODE_IB_CA;
	dev->ib.phys_port_cnt = 1;
	dev->ib.num_comp_vectors = num_online_cpus();
	dev->ib.local_dma_lkey = AD_LOCAL_LKEY;
	dev->ib.dev.parent = &ad_pdev->dev;
	addrconf_addr_eui48((u8 *)&dev->ib.node_guid, netdev->dev_addr);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC);
	hw_init(dev);
	ib_set_device_ops(&dev->ib, &ad_ops);
	ib_mark_name_assigned_by_user(&dev->ib);
	ret = ib_device_set_netdev(&dev->ib, netdev, 1);
	if (!ret)
		ret = ib_register_device(&dev->ib, name, &ad_pdev->dev);
	if (ret)
		ib_dealloc_device(&dev->ib);
	return ret;
}

static struct rdma_link_ops ad_link_ops = {
	.type		= "bench_adapter",
	.newlink	= ad_newlink,
};

static int __init ad_init(void)
{
	struct platform_device_info info = {
		.name		= "bench_adapter",
		.id		= PLATFORM_DEVID_NONE,
		.dma_mask	= DMA_BIT_MASK(64),
	};

	ad_pdev = platform_device_register_full(&info);
	if (IS_ERR(ad_pdev))
		return PTR_ERR(ad_pdev);
	dma_set_max_seg_size(&ad_pdev->dev, UINT_MAX);
	rdma_link_register(&ad_link_ops);
	return 0;
}

static void __exit ad_exit(void)
{
	rdma_link_unregister(&ad_link_ops);
	ib_unregister_driver(RDMA_DRIVER_UNKNOWN);
	platform_device_unregister(ad_pdev);
}

module_init(ad_init);
module_exit(ad_exit);
MODULE_DESCRIPTION("An adapter of next to no cost, for tests/bench/run");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("bench_adapter");
