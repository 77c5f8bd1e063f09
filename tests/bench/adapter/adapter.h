/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An adapter for tests/bench/run --adapter, see verbs.c.
 */
#ifndef BENCH_ADAPTER_H
#define BENCH_ADAPTER_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#define AD_MAX_PAGES	512	/* of a memory region */
#define AD_MAX_SGE	32
#define AD_LOCAL_LKEY	1	/* no region has it: their keys have an index above 0 */

/**
 * struct ad_dev - an adapter with one port
 * @ib: the device for ib_core
 * @qps: queue pairs by number
 * @mrs: memory regions by index, the upper 24 bits of their keys
 * @lock: serializes the hardware with changes of objects; protects the fields below, and
 *	those of the objects that belong to the hardware
 * @timer: expires when the hardware begins with what was posted
 * @expires: time at which @timer expires, KTIME_MAX if it is not running
 * @active: queue pairs with work requests to execute
 * @events: completion queues with an event to deliver
 */
struct ad_dev {
	struct ib_device	ib;
	struct xarray		qps;
	struct xarray		mrs;
	spinlock_t		lock;		/* see above */
	struct hrtimer		timer;
	ktime_t			expires;
	struct list_head	active;
	struct list_head	events;
};

struct ad_pd {
	struct ib_pd		ib;
};

struct ad_ah {
	struct ib_ah		ib;
	union ib_gid		sgid;
	union ib_gid		dgid;
};

/**
 * struct ad_cqe - entry of a completion queue
 * @wc: the work completion; its QP is NULL if the QP was destroyed
 * @freed: for the send queue: index of the first entry that is still in use
 */
struct ad_cqe {
	struct ib_wc		wc;
	u32			freed;
};

/**
 * struct ad_cq - completion queue
 * @ib: for ib_core
 * @lock: serializes polling
 * @ring: entries, a power of two
 * @mask: their number less one
 * @head: next entry that the user takes
 * @tail: next entry that the hardware fills
 * @armed: enum ib_cq_notify_flags: the completions that cause an event, or 0
 * @event: link in the device's list
 */
struct ad_cq {
	struct ib_cq		ib;
	spinlock_t		lock;		/* see above */
	struct ad_cqe		*ring;
	u32			mask;
	u32			head;
	u32			tail;
	unsigned int		armed;
	struct list_head	event;
};

/**
 * struct ad_mr - memory region
 * @ib: for ib_core
 * @pages: DMA addresses of the pages
 * @npages: number of pages that were mapped last
 * @max_pages: capacity of @pages
 * @valid: the region is registered; this field and those below belong to the hardware
 * @key: key of the registration
 * @iova: address of the first byte
 * @length: length in bytes
 * @shift: binary logarithm of the page size
 * @access: permitted accesses, enum ib_access_flags
 */
struct ad_mr {
	struct ib_mr		ib;
	dma_addr_t		*pages;
	u32			npages;
	u32			max_pages;
	bool			valid;
	u32			key;
	u64			iova;
	u64			length;
	u32			shift;
	int			access;
};

/* Entry of a send or receive queue, with the SGEs behind it */
struct ad_wqe {
	u64			wr_id;
	enum ib_wr_opcode	opcode;
	int			flags;
	u32			length;
	u32			num_sge;
	u32			inv;		/* key to invalidate */
	u32			rkey;
	u64			remote_addr;
	struct ad_mr		*mr;		/* to be registered */
	int			access;
	struct ad_ah		*ah;
	u32			dest_qpn;
	struct ib_sge		sge[];
};

/**
 * struct ad_queue - send or receive queue
 * @lock: serializes posting
 * @ring: entries, a power of two
 * @stride: bytes of an entry
 * @mask: number of entries less one
 * @max: number of entries that the user may have posted
 * @max_sge: number of SGEs in an entry
 * @tail: next entry that the user fills
 * @head: next entry that the hardware executes
 * @freed: first entry whose completion was not polled yet
 */
struct ad_queue {
	spinlock_t		lock;		/* see above */
	void			*ring;
	u32			stride;
	u32			mask;
	u32			max;
	u32			max_sge;
	u32			tail;
	u32			head;
	u32			freed;
};

/**
 * struct ad_qp - queue pair
 * @ib: for ib_core
 * @sq: send queue
 * @rq: receive queue
 * @signal_all: each Send has a completion
 * @state: the hardware's, as are those below
 * @active: link in the list of the device
 * @dest_qpn: number of the other side's queue pair
 * @attr: the rest of what modify_qp() has set
 * @retries: of the first entry of the send queue
 * @retry_at: when it is tried again
 */
struct ad_qp {
	struct ib_qp		ib;
	struct ad_queue		sq;
	struct ad_queue		rq;
	bool			signal_all;
	enum ib_qp_state	state;
	struct list_head	active;
	u32			dest_qpn;
	struct ib_qp_attr	attr;
	u32			retries;
	ktime_t			retry_at;
};

/* What has happened: calls of ib_post_send() and ib_post_recv(), what they have posted,
 * calls of ib_req_notify_cq(), runs of the hardware, and those of them with an event
 */
enum { AD_SENDS, AD_SEND_WRS, AD_RECVS, AD_RECV_WRS, AD_NOTIFIES, AD_RUNS, AD_INTERRUPTS,
	AD_COUNTERS };

extern u64 ad_count[AD_COUNTERS];
extern unsigned int ad_delay;

static inline struct ad_dev *ad_dev_of(struct ib_device *ib)
{
	return container_of(ib, struct ad_dev, ib);
}

static inline struct ad_cq *ad_cq_of(struct ib_cq *ib)
{
	return container_of(ib, struct ad_cq, ib);
}

static inline struct ad_qp *ad_qp_of(struct ib_qp *ib)
{
	return container_of(ib, struct ad_qp, ib);
}

static inline struct ad_mr *ad_mr_of(struct ib_mr *ib)
{
	return container_of(ib, struct ad_mr, ib);
}

static inline struct ad_wqe *ad_wqe(struct ad_queue *q, u32 i)
{
	return q->ring + (size_t)(i & q->mask) * q->stride;
}

void hw_init(struct ad_dev *dev);
void hw_doorbell(struct ad_dev *dev, struct ad_qp *qp);
void hw_kick(struct ad_dev *dev, struct ad_qp *qp);

#endif
