// SPDX-License-Identifier: GPL-2.0
/*
 * CRED, RINV, SEC: credits, remote invalidation and handles, as a server
 * treats them.
 */
#include "rp.h"

RP_CASE("errors", MUST, cred_never_zero, "CRED-5,CRED-1,CRED-14",
	"whatever is asked for, a grant is never zero")
{
	static const uint32_t ask[] = { 0, 1, 2, 1000, 0xffffffff };
	struct rp_conn *c = rp_open();
	unsigned int i;

	for (i = 0; i < 5; i++) {
		uint32_t xid = rp_xid();
		struct rp_rx *rx;

		rp_send(c, rp_set(null_call(xid), 2, ask[i]));
		rx = rp_expect(c, null_reply(xid));
		rp_check(rp_word(rx->buf, 2) > 0, "a grant of zero");
		rp_check(rp_word(rx->buf, 2) < 65536, "a grant of %u",
			 rp_word(rx->buf, 2));
	}
}

RP_CASE("errors", MUST, cred_first_asked, "CRED-6,CRED-1",
	"the first grant is never more than what was asked for")
{
	uint32_t ask, grant, xid;
	struct rp_conn *c;
	struct rp_rx *rx;

	for (ask = 1; ask <= 4; ask++) {
		c = rp_connect();
		grant = rp_settle(c, rp_set(connprop(rp_xid(), 4096, 0), 2, ask));
		rp_check(grant <= ask, "%u of %u credits with CONNPROP", grant,
			 ask);
		xid = rp_xid();
		rp_send(c, rp_set(null_call(xid), 2, ask));
		rx = rp_expect(c, null_reply(xid));
		rp_check(rp_word(rx->buf, 2) <= ask, "%u of %u credits",
			 rp_word(rx->buf, 2), ask);
		rp_close(c);
	}
}

/* Send @n NULL Calls at once, take all answers; returns the last grant. */
static uint32_t burst(struct rp_conn *c, uint32_t n)
{
	uint32_t first = rp_xid(), i, grant = 0;
	struct rp_rx *rx;

	for (i = 0; i < n; i++)
		rp_send(c, rp_set(null_call(first + i), 2, 64));
	for (i = 1; i < n; i++)
		rp_xid();
	for (i = 0; i < n; i++) {
		rx = rp_recv(c);
		rp_check(rp_word(rx->buf, 3) == MSG, "not a Reply");
		rp_check(rp_word(rx->buf, 0) - first < n, "a foreign XID");
		grant = rp_word(rx->buf, 2);
	}
	return grant;
}

RP_CASE("errors", MUST, cred_full_window, "CRED-7,CRED-13,CRED-8,V1-12",
	"a full window and control messages never lack a Receive")
{
	const struct rp_how how = { .no_rnr = true };
	struct rp_conn *c = rp_connect_how(&how);
	uint32_t grant, i, j;

	grant = rp_settle(c, connprop(rp_xid(), 4096, 0));
	for (i = 0; i < 40; i++) {
		rp_check(grant > 0, "a grant of zero");
		if (grant > RP_NR_SENDS - 8)
			grant = RP_NR_SENDS - 8;
		/* Control messages use no credit */
		for (j = 0; j < 6; j++)
			rp_send(c, error2(rp_xid(), SYSTEM));
		grant = burst(c, grant);
	}
	rp_nothing(c);
}

RP_CASE("errors", TROUBLE, cred_too_many, "CRED-3,SEC-2,SEC-3",
	"more Calls than granted harm nobody else")
{
	struct rp_conn *other = rp_open(), *c = rp_open();
	uint32_t xid = rp_xid();
	struct rp_rx *rx = NULL;
	unsigned int i;

	for (i = 0; i < 500 && !rp_is_closed(c); i++)
		if (!rp_try_send(c, null_call(rp_xid())))
			break;
	rp_null(other);
	/* It is closed, or has to wait for a Receive and is served */
	if (rp_try_send(c, null_call(xid)))
		do
			rx = rp_recv_within(c, RP_ANSWER);
		while (rx && rp_word(rx->buf, 0) != xid);
	rp_check(rx || rp_is_closed(c), "neither closed nor served");
	rp_null(other);
	rp_null(rp_open());
}

/* READ of @count bytes; the handle to be invalidated and the Reply chunk
 * are up to the caller.
 */
static struct rp_msg *read_call(uint32_t xid, uint32_t inv,
				struct rp_seg write,
				const struct rp_seg *reply)
{
	struct rp_msg *m = call_head(xid, MSG, inv);

	put(m, 0);
	put_chunk(m, 1, &write);
	put(m, 0);
	if (reply)
		put_chunk(m, 1, reply);
	else
		put(m, 0);
	put_msg(m, nfs4_read(xid, "rinv", 0, 4096));
	return m;
}

static struct rp_rx *read_inv(struct rp_conn *c, uint32_t inv,
			      struct rp_seg write, const struct rp_seg *reply)
{
	return rp_exchange(c, read_call(rp_xid(), inv, write, reply));
}

RP_CASE("errors", MUST, rinv_none, "RINV-5,RINV-2,RINV-13",
	"no handle named: a plain Send, the memory stays usable")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem_inv(c, 4096);
	unsigned int i;

	rp_file("rinv", 4096);
	for (i = 0; i < 3; i++) {
		struct rp_rx *rx = read_inv(c, 0, rp_seg(mem, 0, 4096), NULL);

		rp_check(rp_word(rx->buf, 3) == MSG, "not a Reply");
		rp_check(!rx->inv, "%08x was invalidated", rx->inv);
		rp_is_pattern(mem->buf, 0, 4096);
	}
	rp_nothing(c);
}

/* On siw, user space is not told; there the next use of a handle shows
 * whether it is still valid, and ends the connection if not.
 */
static void invalidated(struct rp_conn *c, const struct rp_rx *rx,
			const struct rp_mem *mem)
{
	if (rp_opt.dev[0] == 'r') {
		rp_check(rx->inv == mem->handle,
			 "%08x was invalidated, not %08x", rx->inv,
			 mem->handle);
		rp_nothing(c);
		return;
	}
	rp_try_send(c, read_call(rp_xid(), 0, rp_seg(mem, 0, 4096), NULL));
	rp_check(rp_closed_within(c, RP_ANSWER),
		 "the handle is still valid");
}

static void not_invalidated(struct rp_conn *c, const struct rp_rx *rx,
			    const struct rp_mem *mem)
{
	rp_check(!rx->inv, "%08x was invalidated", rx->inv);
	rx = read_inv(c, 0, rp_seg(mem, 0, 4096), NULL);
	rp_check(rp_word(rx->buf, 3) == MSG, "not a Reply");
}

RP_CASE("errors", SHOULD, rinv_first, "RINV-6,RINV-7,RINV-20",
	"the handle named in the Call is invalidated with the Reply")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *a = rp_mem_inv(c, 4096);
	struct rp_rx *rx;

	rp_file("rinv", 4096);
	rx = read_inv(c, a->handle, rp_seg(a, 0, 4096), NULL);
	rp_check(rp_word(rx->buf, 5) == 0, "rdma_inv_handle in a Reply");
	rp_is_pattern(a->buf, 0, 4096);
	invalidated(c, rx, a);
}

RP_CASE("errors", SHOULD, rinv_second, "RINV-6,RINV-7,RINV-12",
	"of two handles exactly the named one is invalidated")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *a = rp_mem_inv(c, 4096), *b = rp_mem_inv(c, 4096);
	struct rp_seg reply = rp_seg(b, 0, 4096);
	struct rp_rx *rx, copy;

	rp_file("rinv", 4096);
	rx = read_inv(c, b->handle, rp_seg(a, 0, 4096), &reply);
	copy = *rx;
	rx = read_inv(c, 0, rp_seg(a, 0, 4096), NULL);
	rp_check(rp_word(rx->buf, 3) == MSG, "the other one is invalid");
	invalidated(c, &copy, b);
}

RP_CASE("errors", DECISION, rinv_foreign, "RINV-8,D-29",
	"a named handle that is in no segment: a plain Send")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *a = rp_mem_inv(c, 4096), *b = rp_mem_inv(c, 4096);
	struct rp_rx *rx;

	rp_file("rinv", 4096);
	rx = read_inv(c, 0xdead, rp_seg(a, 0, 4096), NULL);
	rp_check(!rx->inv, "%08x was invalidated", rx->inv);
	rx = read_inv(c, b->handle, rp_seg(a, 0, 4096), NULL);
	not_invalidated(c, rx, b);
	rx = rp_exchange(c, rp_set(null_call(rp_xid()), 5, b->handle));
	not_invalidated(c, rx, b);
	rp_nothing(c);
}

RP_CASE("errors", DECISION, rinv_error, "RINV-10,ERR-4",
	"an ERROR invalidates nothing")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem_inv(c, 4096);
	struct rp_rx *rx;

	rp_file("rinv", 4096);
	rx = read_inv(c, mem->handle, rp_seg(mem, 0, 1024), NULL);
	rp_check(rp_word(rx->buf, 3) == ERROR, "not an ERROR");
	rp_check(!rx->inv, "%08x was invalidated", rx->inv);
	rx = read_inv(c, 0, rp_seg(mem, 0, 4096), NULL);
	rp_check(rp_word(rx->buf, 3) == MSG, "not a Reply");
	rp_is_pattern(mem->buf, 0, 4096);
	rp_nothing(c);
}

RP_CASE("errors", MUST, sec_other_handle, "SEC-4,ERR-33,SEC-13",
	"a handle of another connection breaks the one that uses it only")
{
	struct rp_conn *owner = rp_open(), *thief = rp_open();
	struct rp_mem *mem = rp_mem(owner, 4096);
	uint32_t xid = rp_xid();
	struct rp_seg seg = rp_seg(mem, 0, 4096);
	struct rp_msg *m = call_head(xid, MSG, 0);
	struct rp_rx *rx;

	rp_file("rinv", 4096);
	put_last_write(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "rinv", 0, 4096));
	rp_send(thief, m);
	rx = rp_recv_within(thief, RP_ANSWER);
	rp_check(!rx || rp_word(rx->buf, 3) == ERROR, "it was served");
	rp_is_untouched(mem, 0, 4096);
	rp_check(rp_closed_within(thief, RP_ANSWER),
		 "the connection does not end");
	rp_nothing(owner);
	rp_null(rp_open());
}

RP_CASE("errors", MUST, sec_stale_read, "ERR-33,SEC-4",
	"a stale handle in a Position-Zero chunk breaks that connection only")
{
	struct rp_conn *other = rp_open(), *c = rp_open();
	struct rp_msg *m = call_head(rp_xid(), NOMSG, 0);

	put_last_read(m, 0, (struct rp_seg){ 0x00abcd00, 40, 0x1000 });
	rp_send(c, m);
	rp_check(!rp_recv_within(c, RP_ANSWER), "an answer");
	rp_check(rp_closed_within(c, RP_ANSWER),
		 "the connection does not end");
	rp_nothing(other);
	rp_null(rp_open());
}

RP_CASE("errors", TROUBLE, sec_stale_often, "ERR-33,REC-4,SEC-4",
	"stale handles in one of several segments, many times")
{
	struct rp_conn *other = rp_open();
	unsigned int i;

	for (i = 0; i < 60; i++) {
		struct rp_conn *c = rp_open();
		struct rp_mem *mem = rp_mem(c, 4096);
		struct rp_msg *m = call_head(rp_xid(), NOMSG, 0);

		if (i % 2)
			put_read(m, 0, rp_seg(mem, 0, 20));
		put_read(m, 0, (struct rp_seg){ 0x00abcd00, 40, 0x1000 });
		if (i % 4 > 1)
			put_read(m, 0, rp_seg(mem, 20, 20));
		put_all(m, W(0, 0, 0));
		rp_send(c, m);
		rp_check(rp_closed_within(c, RP_ANSWER),
			 "the connection does not end");
		rp_close(c);
	}
	rp_null(other);
}

/* A NOMSG Call whose Position-Zero chunk has many segments, each of them an
 * RDMA Read with a memory region of its own where the device needs one.
 */
static struct rp_msg *many_reads(struct rp_seg good, struct rp_seg last)
{
	struct rp_msg *m = call_head(rp_xid(), NOMSG, 0);
	unsigned int i;

	for (i = 0; i < 11; i++)
		put_read(m, 0, good);
	put_last_read(m, 0, last);
	return m;
}

RP_CASE("slow", TROUBLE, sec_stale_window, "ERR-33,REC-4,SEC-3,SEC-4",
	"a window of Calls with more stale segments than the server has regions")
{
	const struct rp_seg stale = { 0x00abcd00, 40, 0x1000 };
	struct rp_conn *other = rp_open();
	unsigned int round, i;

	for (round = 0; round < 4; round++) {
		struct rp_conn *c = rp_open();
		struct rp_mem *mem = rp_mem(c, 4096);
		struct rp_seg good = rp_seg(mem, 0, 40);
		uint32_t n = 4;

		for (i = 0; i < 6; i++) {
			n = burst(c, n);
			if (n > RP_NR_SENDS - 8)
				n = RP_NR_SENDS - 8;
		}
		for (i = 0; i < n; i++) {
			bool bad = round % 2 || !i;
			struct rp_msg *m = many_reads(round > 1 ? good : stale,
						      bad ? stale : good);

			if (!rp_try_send(c, m))
				break;
		}
		rp_check(rp_closed_within(c, RP_ANSWER),
			 "the connection does not end");
		rp_close(c);
	}
	rp_null(other);
}

RP_CASE("errors", TROUBLE, rec_each_step, "REC-4,VER-20",
	"clients that leave at each step of the handshake")
{
	struct rp_conn *c, *other = rp_open();
	unsigned int i;

	for (i = 0; i < 20; i++) {
		c = rp_connect();
		rp_close(c);
		c = rp_connect();
		rp_send(c, connprop(rp_xid(), 4096, 1));
		rp_close(c);
		c = rp_open();
		rp_close(c);
		c = rp_open();
		rp_send(c, null_call(rp_xid()));
		rp_close(c);
		rp_null(other);
	}
}
