// SPDX-License-Identifier: GPL-2.0
/*
 * Send slots and their buffers.
 *
 * All slots have the same capacity as long as the connection lives. Their number of
 * buffers follows their use: a few from the start, one more when a message takes the last
 * one, a few again when the connection is idle. Without memory for another one a message
 * waits until an earlier Send has completed.
 *
 * sendq.lock protects the lists of free slots. Process context only.
 */
#include <linux/slab.h>

#include "conn/buf.h"
#include "conn/conn.h"

/* No control message is longer than the first message may be. */
#define RPCRDMA2_CONTROL_SIZE	RPCRDMA2_FIRST_MSG_MAX

static void slot_unmap(struct rpcrdma2_send *send)
{
	if (!send->buf)
		return;
	ib_dma_unmap_single(send->conn->cm_id->device, send->sge.addr,
			    send->size, DMA_TO_DEVICE);
	rpcrdma2_buf_free(send->buf, send->size);
	send->buf = NULL;
}

/* Give a slot without a buffer one of @size bytes. */
static int slot_buffer(struct rpcrdma2_send *send, u32 size, gfp_t gfp)
{
	struct ib_device *device = send->conn->cm_id->device;
	void *buf = rpcrdma2_buf_alloc(size, NUMA_NO_NODE, gfp);
	u64 addr;

	if (!buf)
		return -ENOMEM;
	addr = ib_dma_map_single(device, buf, size, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, addr)) {
		rpcrdma2_buf_free(buf, size);
		return -ENOMEM;
	}
	send->buf = buf;
	send->sge.addr = addr;
	send->size = size;
	return 0;
}

/* Put a slot back that was free before, then with or without a buffer. */
static void slot_back(struct rpcrdma2_conn *conn, struct rpcrdma2_send *send,
		      bool had_buffer)
{
	lockdep_assert_held(&conn->sendq.lock);
	WRITE_ONCE(conn->sendq.buffers,
		   conn->sendq.buffers + !!send->buf - had_buffer);
	list_add_tail(&send->list, send->buf ? &conn->sendq.free :
					       &conn->sendq.bare);
}

/**
 * rpcrdma2_send_buf_add - add a buffer before the last one is taken
 * @conn: connection with send slots
 *
 * Without memory the Send that takes the last buffer is signaled, and those in use
 * become free.
 *
 * Context: process; does not sleep. Takes sendq.lock.
 * Return: true if one was added
 */
bool rpcrdma2_send_buf_add(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send = NULL;
	bool added;

	spin_lock(&conn->sendq.lock);
	if (rpcrdma2_send_buf_short(&conn->sendq)) {
		send = list_first_entry(&conn->sendq.bare, struct rpcrdma2_send,
					list);
		list_del_init(&send->list);
	}
	spin_unlock(&conn->sendq.lock);
	if (!send)
		return false;
	added = !slot_buffer(send, conn->sendq.slot_size, RPCRDMA2_GFP_NOWAIT);
	guard(spinlock)(&conn->sendq.lock);
	slot_back(conn, send, false);
	return added;
}

/**
 * rpcrdma2_send_buf_trim - free unused buffers except for a few
 * @conn: connection with send slots
 *
 * If no free buffer is left, the caller retires the posted Sends: none of them may be
 * signaled, and a message might wait for one of their buffers.
 *
 * Context: process, sendq.lock held; does not sleep.
 */
void rpcrdma2_send_buf_trim(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	struct rpcrdma2_send *send;

	lockdep_assert_held(&sendq->lock);
	while (sendq->buffers > RPCRDMA2_LEAST_BUFFERS && !list_empty(&sendq->free)) {
		send = list_last_entry(&sendq->free, struct rpcrdma2_send, list);
		list_del_init(&send->list);
		slot_unmap(send);
		slot_back(conn, send, true);
	}
}

static void slots_free(struct rpcrdma2_send *slots, u32 count)
{
	u32 i;

	for (i = 0; slots && i < count; i++)
		slot_unmap(&slots[i]);
	kvfree(slots);
}

/* Allocate @count slots, the first @have of them with buffers of @size bytes. */
static struct rpcrdma2_send *slots_alloc(struct rpcrdma2_conn *conn,
					 u32 count, u32 have, u32 size)
{
	struct rpcrdma2_send *slots, *send;
	gfp_t gfp = rpcrdma2_buf_gfp();

	slots = kvcalloc(count, sizeof(*slots), gfp);
	if (!slots)
		return NULL;
	for (send = slots; send < slots + count; send++) {
		send->conn = conn;
		send->sge.lkey = conn->lkey;
		send->cqe.done = conn->sendq.done;
		send->cid = rpcrdma2_conn_cid(conn);
		INIT_LIST_HEAD(&send->list);
		if (send < slots + have && slot_buffer(send, size, gfp)) {
			slots_free(slots, count);
			return NULL;
		}
	}
	return slots;
}

/**
 * rpcrdma2_sends_create - allocate the slots for control messages
 * @conn: connection whose QP and PD exist
 *
 * Context: may sleep (GFP_NOIO).
 * Return: 0 or -ENOMEM. rpcrdma2_sends_destroy() cleans up after both.
 */
int rpcrdma2_sends_create(struct rpcrdma2_conn *conn)
{
	u32 i, n = RPCRDMA2_CONTROL_RESERVE;

	conn->sendq.control_slots = slots_alloc(conn, n, n, RPCRDMA2_CONTROL_SIZE);
	if (!conn->sendq.control_slots)
		return -ENOMEM;
	guard(spinlock)(&conn->sendq.lock);
	for (i = 0; i < n; i++)
		list_add_tail(&conn->sendq.control_slots[i].list,
			      &conn->sendq.free_control);
	return 0;
}

/**
 * rpcrdma2_sends_grow - allocate the slots for RPC messages
 * @conn: connection, not READY yet
 * @size: capacity wanted, bytes
 * @min: least capacity, bytes
 *
 * Takes less than @size when memory is fragmented, so that the connection comes up
 * nevertheless.
 *
 * Context: may sleep (GFP_NOIO).
 * Return: the capacity, or -ENOMEM.
 */
int rpcrdma2_sends_grow(struct rpcrdma2_conn *conn, u32 size, u32 min)
{
	struct rpcrdma2_send *slots;
	u32 i;

	for (;;) {
		slots = slots_alloc(conn, conn->sendq.nslots,
				    RPCRDMA2_LEAST_BUFFERS, size);
		if (slots)
			break;
		if (size <= min)
			return -ENOMEM;
		size = max(size / 2, min);
	}
	conn->sendq.slots = slots;
	conn->sendq.slot_size = size;
	guard(spinlock)(&conn->sendq.lock);
	for (i = 0; i < conn->sendq.nslots; i++)
		slot_back(conn, &slots[i], false);
	return size;
}

/**
 * rpcrdma2_sends_memory - get the memory of the send slots
 * @conn: connection in state READY
 *
 * Context: any.
 * Return: bytes
 */
size_t rpcrdma2_sends_memory(const struct rpcrdma2_conn *conn)
{
	size_t sum = conn->sendq.nslots * sizeof(struct rpcrdma2_send) +
		     RPCRDMA2_CONTROL_RESERVE * (sizeof(struct rpcrdma2_send) +
						 RPCRDMA2_CONTROL_SIZE);

	if (conn->sendq.slot_size)
		sum += READ_ONCE(conn->sendq.buffers) *
		       rpcrdma2_buf_bytes(conn->sendq.slot_size);
	return sum;
}

/**
 * rpcrdma2_sends_destroy - free all slots
 * @conn: connection without QP and CQ
 *
 * Context: may sleep.
 */
void rpcrdma2_sends_destroy(struct rpcrdma2_conn *conn)
{
	slots_free(conn->sendq.slots, conn->sendq.nslots);
	conn->sendq.slots = NULL;
	INIT_LIST_HEAD(&conn->sendq.free);
	INIT_LIST_HEAD(&conn->sendq.bare);
	slots_free(conn->sendq.control_slots, RPCRDMA2_CONTROL_RESERVE);
	conn->sendq.control_slots = NULL;
}
