// SPDX-License-Identifier: GPL-2.0
/*
 * What a client has done to servers of this and other RDMA protocols, in the
 * kernel: see Documentation/vulnerabilities.md.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "stat.h"

/* The Reply of the RPC layer to arguments that it cannot decode */
static struct rp_msg *garbage(const struct rp_msg *m)
{
	return msg_reply(rp_words(W(m->w[0], 1, 0, 0, 0, 4)));
}

static void is_garbage(struct rp_conn *c, const struct rp_msg *m)
{
	rp_send(c, m);
	rp_expect(c, garbage(m));
}

/* The same for a Call with two Read chunks, of which a server may accept one */
static void are_garbage(struct rp_conn *c, const struct rp_msg *m)
{
	struct rp_rx *rx;

	rp_send(c, m);
	rx = rp_recv(c);
	rp_choice(!rp_matches(rx, error2_arg(m->w[0], READ_CHUNKS, 1)),
		  "the server accepts one Read chunk at the most");
	rp_must_match(rx, garbage(m));
}

/* What nfsd says that one READ or WRITE may have */
static uint32_t most_payload(void)
{
	FILE *f = fopen("/proc/fs/nfsd/max_block_size", "r");
	unsigned int bytes = 0;

	rp_check(f && fscanf(f, "%u", &bytes) == 1, "no max_block_size");
	fclose(f);
	return bytes;
}

RP_CASE("published", DECISION | MODULE, pub_inline_too_long, "CHK-24,SEC-2,SEC-9",
	"Read chunks as long as a message may be, and an inline part: SYSTEM")
{
	struct rp_conn *c = rp_open();
	uint32_t chunk = most_payload() + 4096, bytes = rp_may_send() & ~3u;
	struct rp_mem *mem = rp_mem(c, chunk);
	unsigned long before = rp_nulls_served();
	struct rp_msg *m = call_head(rp_xid(), MSG, 0);

	put_last_read(m, 40, rp_seg(mem, 0, chunk));
	put_msg(m, rpc_null(m->w[0]));
	while (4 * m->n < bytes)
		put(m, 0);
	rp_refused(c, m, SYSTEM);
	rp_check(rp_nulls_served() == before, "the Call was executed");
	rp_nothing(c);
}

RP_CASE("published", DECISION | MODULE, pub_sum_of_segments, "CHK-24,SEC-2,SEC-9",
	"segments of which each is as long as a message may be: SYSTEM, nothing is read")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, most_payload());
	unsigned long before = rp_nulls_served();
	struct rp_msg *m = call_head(rp_xid(), MSG, 0);
	unsigned int i;

	for (i = 0; i < 16; i++)
		put_read(m, 40, rp_seg(mem, 0, mem->size));
	put_all(m, W(0, 0, 0));
	put_msg(m, rpc_null(m->w[0]));
	rp_refused(c, m, SYSTEM);
	rp_check(rp_nulls_served() == before, "the Call was executed");
	rp_check(!rp_server_stat(c, "read_bytes"), "it was read");
	rp_nothing(c);
}

/* A NULL Call with Read chunks of @len bytes at two Positions, the first of them
 * not if it is 0
 */
static struct rp_msg *at_positions(struct rp_mem *mem, uint32_t htype,
				   uint32_t first, uint32_t second, uint32_t len)
{
	struct rp_msg *m = call_head(rp_xid(), htype, 0);
	struct rp_msg *rpc = rpc_null(m->w[0]);

	if (htype == NOMSG)
		put_read(m, 0, rp_seg(mem, 0, rp_store(mem, 0, rpc)));
	if (first)
		put_read(m, first, rp_seg(mem, 4096, len));
	put_last_read(m, second, rp_seg(mem, 8192, len));
	if (htype == MSG)
		put_msg(m, rpc);
	return m;
}

RP_CASE("published", MUST, pub_positions, "MSG-10,CHK-12,SEC-2",
	"Positions beyond the end, or within another Read chunk: GARBAGE_ARGS")
{
	static const uint32_t types[] = { MSG, NOMSG };
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 16384);
	unsigned long before = rp_nulls_served();
	unsigned int i;

	for (i = 0; i < 2; i++) {
		is_garbage(c, at_positions(mem, types[i], 0, 44, 4));
		is_garbage(c, at_positions(mem, types[i], 0, 4096, 4000));
		is_garbage(c, at_positions(mem, types[i], 0, 0x80000000, 4));
		is_garbage(c, at_positions(mem, types[i], 0, 0xfffffffc, 4));
	}
	rp_check(rp_nulls_served() == before, "a Call was executed");
	for (i = 0; i < 2; i++) {
		are_garbage(c, at_positions(mem, types[i], 8, 40, 64));
		are_garbage(c, at_positions(mem, types[i], 8, 36, 4000));
		are_garbage(c, at_positions(mem, types[i], 40, 0xfffffffc, 8));
	}
	rp_check(rp_nulls_served() == before, "a Call was executed");
	rp_nothing(c);
}

RP_CASE("published", MUST, pub_reply_too_long, "LNG-7,ERR-28,INL-3,SEC-10",
	"long Replies without a chunk for them, or with a short one: REPLY_RESOURCE")
{
	static const uint32_t bytes[] = { 5000, 16384, 20480, 65536, 200000 };
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	struct rp_seg seg = rp_seg(mem, 0, 1000);
	struct rp_msg *m;
	unsigned int i;

	rp_file("publong", 200000);
	for (i = 0; i < 10; i++) {
		m = call_head(rp_xid(), MSG, 0);
		if (i % 2)
			put_reply_chunk(m, 1, &seg);
		else
			put_all(m, W(0, 0, 0));
		put_msg(m, nfs4_read(m->w[0], "publong", 0, bytes[i / 2]));
		rp_send(c, m);
		rp_expect(c, error2_arg(m->w[0], REPLY_RESOURCE, ANY));
	}
	rp_is_untouched(mem, 0, 4096);
	rp_nothing(c);
}

/* The answer to a READ of 1000 bytes whose chunks, which these words are, have no
 * segments: the same chunks, and all of the Reply inline
 */
static void read_without_segments(struct rp_conn *c, const uint64_t *w,
				  unsigned int n)
{
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	put_all(m, w, n);
	put_msg(m, nfs4_read(xid, "pubnone", 0, 1000));
	rp_send(c, m);
	m = reply_head(xid, MSG);
	put_all(m, w, n);
	put_msg(m, nfs4_read_reply(xid, false, 1000));
	put_pattern(m, 0, 1000);
	rp_expect(c, m);
}

RP_CASE("published", DECISION, pub_no_segments, "CHK-18,CHK-5,LNG-6,LNG-7,ERR-28",
	"Write chunks and a Reply chunk without segments hold nothing")
{
	static const uint64_t lists[][6] = {
		{ 0, 1, 0, 0, 0 }, { 0, 0, 1, 0 }, { 0, 1, 0, 0, 1, 0 },
	};
	static const unsigned int words[] = { 5, 4, 6 };
	struct rp_conn *c = rp_open(), *old;
	struct rp_msg *m;
	unsigned int i;
	uint32_t xid;

	rp_file("pubnone", 20480);
	for (i = 0; i < 3; i++)
		read_without_segments(c, lists[i], words[i]);
	read_without_segments(c, W(0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0));
	/* A result that needs the chunk */
	for (i = 0; i < 3; i++) {
		xid = rp_xid();
		m = call_head(xid, MSG, 0);
		put_all(m, lists[i], words[i]);
		put_msg(m, nfs4_read(xid, "pubnone", 0, 16384));
		rp_send(c, m);
		rp_expect(c, error2_arg(xid, REPLY_RESOURCE, ANY));
	}
	rp_nothing(c);

	old = rp_connect();
	xid = rp_xid();
	m = v1(xid, 32, MSG);
	put_all(m, W(0, 1, 0, 0, 1, 0));
	put_msg(m, rpc_null(xid));
	rp_send(old, m);
	m = v1(xid, ANY, MSG);
	put_all(m, W(0, 1, 0, 0, 1, 0));
	put_msg(m, rpc_reply(xid));
	rp_expect(old, m);
	rp_v1_nothing(old);
}

/* Two WRITEs in a COMPOUND: @first bytes in a Read chunk, and @second as a part of
 * the rest. With @zero the rest is in a Position-Zero chunk of odd segments.
 */
static void two_writes(struct rp_conn *c, const char *file, bool zero,
		       uint32_t first, uint32_t second)
{
	struct rp_mem *mem = rp_mem(c, 65536), *rest = rp_mem(c, 65536);
	uint32_t xid = rp_xid(), len, position;
	struct rp_msg *m, *rpc, *answer;

	rp_file(file, 0);
	rp_fill(mem->buf, 0, first + second);
	rpc = nfs4_call(xid, 4);
	nfs4_put_file(rpc, file);
	nfs4_put_write(rpc, 0, first);
	position = 4 * rpc->n;
	nfs4_put_write(rpc, first, second);
	put_bytes(rpc, mem->buf + first, second);
	m = call_head(xid, zero ? NOMSG : MSG, 0);
	if (zero) {
		len = rp_store(rest, 16384, rpc);
		/* Apart from each other */
		memcpy(rest->buf, rest->buf + 16384, 12);
		memcpy(rest->buf + 4096, rest->buf + 16384 + 12, 20);
		put_read(m, 0, rp_seg(rest, 0, 12));
		put_read(m, 0, rp_seg(rest, 4096, 20));
		put_read(m, 0, rp_seg(rest, 16384 + 32, len - 32));
	}
	put_last_read(m, position, rp_seg(mem, 0, first));
	if (!zero)
		put_msg(m, rpc);
	rp_send(c, m);
	answer = nfs4_reply(xid, 4);
	put_all(answer, W(ANY, 0, ANY, 0));
	nfs4_put_written(answer, first);
	nfs4_put_written(answer, second);
	rp_expect(c, msg_reply(answer));
	rp_file_is(file, 0, mem->buf, first + second);
}

RP_CASE("published", MUST, pub_position_zero_parts, "CHK-11,CHK-12,MSG-7",
	"a Read chunk within a Position-Zero chunk of several segments")
{
	struct rp_conn *c = rp_open();

	two_writes(c, "pubzero", true, 2000, 1000);
	two_writes(c, "pubzero", true, 4, 12000);
	two_writes(c, "pubzero", true, 3000, 5000);
	rp_nothing(c);
}

RP_CASE("published", MUST, pub_inline_behind_page, "CHK-12,CHK-10",
	"what is inline behind a Read chunk lies across the end of a page")
{
	struct rp_conn *c = rp_open();
	uint32_t first;

	/* It begins in the first page: nfsd before Linux 7 wants that. */
	for (first = 400; first <= 3200; first += 700)
		two_writes(c, "pubpage", false, first, 3000);
	rp_nothing(c);
}

RP_CASE("published", MUST, pub_long_chunk, "CHK-15,CHK-14,SEC-10",
	"a Write chunk that says it is much longer than the result")
{
	static const uint32_t lens[] = { 65536, 1 << 24, 0x7fffffff, 0xffffffff };
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 65536);
	struct rp_seg seg;
	unsigned int i;
	uint32_t xid;

	rp_file("publess", 3000);
	for (i = 0; i < 4; i++) {
		memset(mem->buf, 0xa5, 65536);
		seg = rp_seg(mem, 0, 4096);
		seg.len = lens[i];
		xid = rp_xid();
		rp_send(c, call_with_write(nfs4_read(xid, "publess", 0, 3000),
			1, &seg));
		seg.len = 3000;
		rp_expect(c, reply_with_write(nfs4_read_reply(xid, true, 3000),
			1, &seg));
		rp_is_pattern(mem->buf, 0, 3000);
		rp_is_untouched(mem, 3000, 62536);
	}
	rp_nothing(c);
}

/* A READ whose result goes into a Write chunk: it leaves something to be released. */
static void good_read(struct rp_conn *c, struct rp_mem *mem)
{
	struct rp_seg seg = rp_seg(mem, 0, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	put_last_write(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "pubearly", 0, 4096));
	rp_send(c, m);
	rp_expect(c, reply_with_write(nfs4_read_reply(xid, true, 4096), 1, &seg));
}

RP_CASE("published", MUST, pub_early_ends, "MSG-10,CHK-24,REC-1,SEC-2",
	"Calls that end at various early points, after others that did not")
{
	struct rp_conn *c = rp_open(), *other;
	struct rp_mem *mem = rp_mem(c, 16384);
	struct rp_msg *m;
	unsigned int i;
	uint32_t xid;

	rp_file("pubearly", 4096);
	for (i = 0; i < 16; i++) {
		good_read(c, mem);
		m = call_head(rp_xid(), NOMSG, 0);	/* by the responder */
		put_last_read(m, 0, rp_seg(mem, 0, 0xffffffff));
		rp_refused(c, m, SYSTEM);
		good_read(c, mem);
		xid = rp_xid();				/* another RPC version */
		rp_send(c, msg_call(rp_words(W(xid, 0, 3, 100003, 4, 0, 0, 0,
					       0, 0))));
		rp_expect(c, msg_reply(rp_words(W(xid, 1, 1, 0, 2, 2))));
		good_read(c, mem);
		xid = rp_xid();				/* no such program */
		rp_send(c, msg_call(rpc_call(xid, 100999, 4, 0)));
		rp_expect(c, msg_reply(rp_words(W(xid, 1, 0, 0, 0, 1))));
		good_read(c, mem);
		is_garbage(c, at_positions(mem, MSG, 0, 44, 4));
	}
	/* Too short for the RPC layer, which closes the connection */
	for (i = 0; i < 4; i++) {
		other = rp_open();
		good_read(other, rp_mem(other, 4096));
		rp_send(other, msg_call(rp_words(W(rp_xid(), 0, 2))));
		rp_expect_closed(other);
		good_read(c, mem);
	}
	rp_nothing(c);
}
