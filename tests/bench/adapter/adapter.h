/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An adapter for tests/bench/run --adapter, see verbs.c.
 */
#ifndef BENCH_ADAPTER_H
#define BENCH_ADAPTER_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#define AD_MAX_PAGES	512	/* of a memory region */
#define AD_MAX_SGE	32
#define AD_LOCAL_LKEY	1	/* no region has it: their keys have an index above 0 */

/* An adapter with one port */
struct ad_dev {
	struct ib_device	ib;
	struct xarray		qps;		/* queue pairs by number */
	struct xarray		mrs;		/* by index, the upper 24 bits of their keys */
	/*
	 * Serializes the hardware with changes of objects; protects the fields below, and
	 * those of the objects that belong to the hardware
	 */
	spinlock_t		lock;
	struct hrtimer		timer;		/* then the hardware begins */
	ktime_t			expires;	/* of the timer; KTIME_MAX: it does not run */
	struct list_head	active;		/* queue pairs with work requests to execute */
	struct list_head	events;		/* completion queues that have an event */
};

struct ad_pd {
	struct ib_pd		ib;
};

struct ad_ah {
	struct ib_ah		ib;
	union ib_gid		sgid;
	union ib_gid		dgid;
};

/* Entry of a completion queue */
struct ad_cqe {
	struct ib_wc		wc;		/* its QP is NULL if the QP was destroyed */
	u32			freed;		/* send queue: first entry still in use */
};

struct ad_cq {
	struct ib_cq		ib;
	spinlock_t		lock;		/* serializes polling */
	struct ad_cqe		*ring;
	u32			mask;		/* entries, a power of two, less one */
	u32			head;		/* next entry that the user takes */
	u32			tail;		/* next entry that the hardware fills */
	unsigned int		armed;		/* which completions cause an event, or 0 */
	struct list_head	event;		/* link in the list of the device */
	unsigned int		cpu;		/* to which its interrupts go */
	call_single_data_t	interrupt;
};

struct ad_mr {
	struct ib_mr		ib;
	dma_addr_t		*pages;
	u32			npages;		/* that were mapped last */
	u32			max_pages;
	/* The hardware's: */
	bool			valid;		/* the region is registered */
	u32			key;		/* of the registration */
	u64			iova;		/* of the first byte */
	u64			length;		/* in bytes */
	u32			shift;		/* binary logarithm of the page size */
	int			access;		/* permitted, enum ib_access_flags */
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

/* Send or receive queue */
struct ad_queue {
	spinlock_t		lock;		/* serializes posting */
	void			*ring;
	u32			stride;		/* bytes of an entry */
	u32			mask;		/* entries, a power of two, less one */
	u32			max;		/* entries that the user may have posted */
	u32			max_sge;	/* of an entry */
	u32			tail;		/* next entry that the user fills */
	u32			head;		/* next entry that the hardware executes */
	u32			freed;		/* first entry not yet polled as done */
};

struct ad_qp {
	struct ib_qp		ib;
	struct ad_queue		sq;
	struct ad_queue		rq;
	bool			signal_all;	/* each Send has a completion */
	/* The hardware's: */
	enum ib_qp_state	state;
	struct list_head	active;		/* link in the list of the device */
	u32			dest_qpn;	/* queue pair of the other side */
	struct ib_qp_attr	attr;		/* the rest of what modify_qp() has set */
	u32			retries;	/* of the first entry of the send queue */
	ktime_t			retry_at;	/* when it is tried again */
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
void hw_interrupt(void *cq);
void hw_doorbell(struct ad_dev *dev, struct ad_qp *qp);
void hw_kick(struct ad_dev *dev, struct ad_qp *qp);

#endif
