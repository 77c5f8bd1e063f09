// SPDX-License-Identifier: GPL-2.0
/*
 * Send slots and their buffers.
 *
 * All buffers for RPC messages have the same capacity, for as long as the connection lives.
 * Their number follows their use: a few from the start, one more when a message takes the
 * last one, a few again when the connection is idle. Without memory for another one a
 * message waits until an earlier Send has completed.
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
	ib_dma_unmap_single(send->conn->cm_id->device, send->sge.addr, send->size,
			    DMA_TO_DEVICE);
	rpcrdma2_buf_free(send->buf, send->size);
	send->buf = NULL;
}

/* Give a slot without a buffer one of @size bytes. Returns false if that is impossible. */
static bool slot_buffer(struct rpcrdma2_send *send, u32 size, gfp_t gfp)
{
	struct ib_device *device = send->conn->cm_id->device;
	void *buf = rpcrdma2_buf_alloc(size, NUMA_NO_NODE, gfp);

	if (!buf)
		return false;
	send->sge.addr = ib_dma_map_single(device, buf, size, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, send->sge.addr)) {
		rpcrdma2_buf_free(buf, size);
		return false;
	}
	send->buf = buf;
	send->size = size;
	return true;
}

/**
 * rpcrdma2_send_buf_add - give another slot a buffer
 * @conn: connection with a slot that has none
 * @gfp: flags of the allocation
 *
 * Without memory the Send that takes the last buffer is signaled, and those in use
 * become free.
 *
 * Context: process, sendq.lock held, unless the connection is being set up; sleeps as @gfp
 * says.
 * Return: false without memory
 */
bool rpcrdma2_send_buf_add(struct rpcrdma2_conn *conn, gfp_t gfp)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	struct rpcrdma2_send *send = sendq->bare;

	if (!slot_buffer(send, sendq->slot_size, gfp))
		return false;
	sendq->bare = send->next;
	rpcrdma2_send_push(send, &sendq->free);
	sendq->buffers++;
	return true;
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
	while (sendq->buffers > RPCRDMA2_LEAST_BUFFERS && sendq->free) {
		send = sendq->free;
		sendq->free = send->next;
		slot_unmap(send);
		rpcrdma2_send_push(send, &sendq->bare);
		sendq->buffers--;
	}
}

/**
 * rpcrdma2_sends_create - allocate the send slots
 * @conn: connection whose QP and PD exist
 *
 * The slots for RPC messages get less capacity than the longest message when memory is
 * fragmented, so that the connection comes up nevertheless.
 *
 * Context: may sleep (GFP_NOIO).
 * Return: 0 or -ENOMEM. rpcrdma2_sends_destroy() cleans up after both.
 */
int rpcrdma2_sends_create(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	gfp_t gfp = rpcrdma2_buf_gfp();
	struct rpcrdma2_send *send;

	sendq->slots = kvcalloc(sendq->nslots, sizeof(*send), gfp);
	if (!sendq->slots)
		return -ENOMEM;
	for (send = sendq->slots; send < sendq->slots + sendq->nslots; send++) {
		send->conn = conn;
		send->sge.lkey = conn->lkey;
		send->cqe.done = sendq->done;
		send->wr.wr_cqe = &send->cqe;
		send->wr.sg_list = &send->sge;
		send->wr.num_sge = 1;
		send->cid = rpcrdma2_conn_cid(conn);
		if (!rpcrdma2_send_is_control(sendq, send)) {
			rpcrdma2_send_push(send, &sendq->bare);
			continue;
		}
		rpcrdma2_send_push(send, &sendq->free_control);
		if (!slot_buffer(send, RPCRDMA2_CONTROL_SIZE, gfp))
			return -ENOMEM;
	}
	sendq->slot_size = conn->p.send_size;
	while (sendq->buffers < RPCRDMA2_LEAST_BUFFERS) {
		if (rpcrdma2_send_buf_add(conn, gfp))
			continue;
		if (sendq->slot_size <= RPCRDMA2_INLINE_DEFAULT)
			return -ENOMEM;
		sendq->slot_size = max(sendq->slot_size / 2, RPCRDMA2_INLINE_DEFAULT);
	}
	return 0;
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
	const struct rpcrdma2_sendq *sendq = &conn->sendq;
	u32 buffers = data_race(sendq->buffers);	/* a snapshot */

	return sendq->nslots * sizeof(struct rpcrdma2_send) +
	       RPCRDMA2_CONTROL_RESERVE * rpcrdma2_buf_bytes(RPCRDMA2_CONTROL_SIZE) +
	       buffers * rpcrdma2_buf_bytes(sendq->slot_size);
}

/**
 * rpcrdma2_sends_destroy - free all slots
 * @conn: connection without QP and CQ
 *
 * Context: may sleep.
 */
void rpcrdma2_sends_destroy(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_sendq *sendq = &conn->sendq;
	u32 i;

	for (i = 0; sendq->slots && i < sendq->nslots; i++)
		slot_unmap(&sendq->slots[i]);
	kvfree(sendq->slots);
}
