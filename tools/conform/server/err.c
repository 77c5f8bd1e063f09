// SPDX-License-Identifier: GPL-2.0
/*
 * ERR: the error codes, as a server sends them; limits are found by trying.
 */
#include <stdio.h>

#include "rp.h"

enum shape { READS, WRITES, READ_SEGS, WRITE_SEGS, REPLY_SEGS };

/* A NULL Call with @n chunks, or segments, that transfer nothing */
static struct rp_msg *null_with(struct rp_conn *c, enum shape shape,
				unsigned int n)
{
	static struct rp_seg seg[512];
	static struct rp_mem *mem;
	struct rp_msg *m = call_head(rp_xid(), MSG, 0);
	unsigned int i;

	if (!mem)
		mem = rp_mem(c, 4096);
	for (i = 0; i < n; i++)
		seg[i] = rp_seg(mem, 0, shape >= WRITE_SEGS ||
				shape == WRITES ? 4 : 0);
	if (shape == READS || shape == READ_SEGS)
		for (i = 0; i < n; i++)
			put_read(m, shape == READS ? 4 + 4 * i : 40, seg[i]);
	put(m, 0);
	if (shape == WRITES)
		for (i = 0; i < n; i++)
			put_chunk(m, 1, seg);
	if (shape == WRITE_SEGS)
		put_chunk(m, n, seg);
	put(m, 0);
	if (shape == REPLY_SEGS)
		put_chunk(m, n, seg);
	else
		put(m, 0);
	put_msg(m, rpc_null(m->w[0]));
	return m;
}

/* 0 if accepted, else the limit named in ERROR @code */
static uint32_t refused_limit(struct rp_conn *c, const struct rp_msg *m,
			      uint32_t code)
{
	struct rp_rx *rx = rp_exchange(c, m);

	if (rp_word(rx->buf, 3) != ERROR)
		return 0;
	rp_must_match(rx, error2_arg(rp_word(rx->buf, 0), code, ANY));
	rp_check(rp_word(rx->buf, 6) > 0, "a limit of 0");
	return rp_word(rx->buf, 6);
}

/* The largest number that is accepted is the one named in the ERROR, and
 * not below @min. The Call must fit into @max of them.
 */
static void find_limit(enum shape shape, uint32_t code, unsigned int min,
		       unsigned int max)
{
	struct rp_conn *c = rp_open_with(connprop(rp_xid(), 16384, 0));
	uint32_t limit;

	/* Segments of a Read chunk and chunks of one segment: 24 bytes each */
	if (max > (rp_may_send() - 100) / 24)
		max = (rp_may_send() - 100) / 24;
	limit = refused_limit(c, null_with(c, shape, max), code);
	rp_choice(limit, "%u are accepted, there is no limit", max);
	rp_check(limit >= min, "the limit is %u", limit);
	rp_check(limit < max, "a limit of %u, and %u are refused", limit, max);
	rp_check(!refused_limit(c, null_with(c, shape, limit), code),
		 "%u are refused, although it is the limit", limit);
	rp_check(refused_limit(c, null_with(c, shape, limit + 1), code) ==
		 limit, "one more than the limit is accepted");
	rp_nothing(c);
}

RP_ROW("errors", MUST, err_read_chunks, "ERR-19,CHK-27,SEC-3",
	"READ_CHUNKS names the number of Read chunks that is accepted",
	find_limit(READS, READ_CHUNKS, 1, 400))
RP_ROW("errors", MUST, err_write_chunks, "ERR-21,CHK-27,SEC-3",
	"WRITE_CHUNKS names the number of Write chunks that is accepted",
	find_limit(WRITES, WRITE_CHUNKS, 1, 400))
RP_ROW("errors", MUST, err_segments_write, "ERR-24,CHK-27,SEC-3",
	"SEGMENTS names the segments of a Write chunk that are accepted",
	find_limit(WRITE_SEGS, SEGMENTS, 16, 500))
RP_ROW("errors", MUST, err_segments_read, "ERR-24,CHK-27,CHK-11,SEC-3",
	"SEGMENTS names the segments of a Read chunk that are accepted",
	find_limit(READ_SEGS, SEGMENTS, 16, 400))
RP_ROW("errors", MUST, err_segments_reply, "ERR-24,CHK-27,SEC-3",
	"SEGMENTS names the segments of a Reply chunk that are accepted",
	find_limit(REPLY_SEGS, SEGMENTS, 16, 500))

RP_CASE("errors", MUST, err_unsolicited, "ERR-6,ERR-3,CRED-1,CRED-12,V1-3",
	"an ERROR for an unknown XID is ignored, whatever its credits")
{
	struct rp_conn *c = rp_open();
	uint32_t code;

	for (code = 1; code <= 10; code++) {
		struct rp_msg *m = error2(rp_xid(), code);

		m->w[2] = code % 2 ? 0 : 0xffffffff;
		put_all(m, W(1, 1));
		rp_send(c, m);
	}
	rp_nothing(c);
}

/* Take answers until that of a NULL Call; their number, or -1 if the
 * connection ended.
 */
static int drain(struct rp_conn *c)
{
	uint32_t xid = rp_xid();
	struct rp_rx *rx;
	int n = 0;

	if (!rp_try_send(c, null_call(xid)))
		return -1;
	for (;;) {
		rx = rp_recv_within(c, RP_ANSWER);
		if (!rx) {
			rp_check(rp_is_closed(c), "no answer to NULL");
			return -1;
		}
		if (rp_matches(rx, null_reply(xid)))
			return n;
		n++;
	}
}

static struct rp_msg *something(const struct rp_mem *mem)
{
	struct rp_seg seg = rp_seg(mem, 0, 64);
	uint32_t xid = rp_xid();
	struct rp_msg *m;

	switch (rp_dice() % 6) {
	case 0:
		return null_call(xid);
	case 1:
		return connprop(xid, 4096, 1);
	case 2:
		return error2_arg(xid, READ_CHUNKS, 1);
	case 3:
		m = call_head(xid, NOMSG, 0);
		put_read(m, 0, seg);
		put_reply_chunk(m, 1, &seg);
		return m;
	case 4:
		m = null_reply(xid);
		return m;
	default:
		m = call_head(xid, MSG, seg.handle);
		put_read(m, 40, seg);
		put(m, 0);
		put_chunk(m, 1, &seg);
		put(m, 0);
		put_chunk(m, 1, &seg);
		put_msg(m, rpc_null(xid));
		return m;
	}
}

RP_CASE("errors", TROUBLE, err_garbage, "ERR-15,SEC-2,SEC-3,HT-4",
	"thousands of spoiled messages: the server goes on for everybody")
{
	struct rp_conn *other = rp_open(), *c = NULL;
	struct rp_mem *mem = NULL;
	unsigned int i, sent, ends = 0;

	for (i = 0; i < 100; i++) {
		if (!c || rp_is_closed(c)) {
			if (c) {
				rp_close(c);
				ends++;
			}
			c = rp_connect();
			rp_null(c);
			mem = rp_mem(c, 4096);
		}
		/* Not more at a time than there are Receives */
		for (sent = 0; sent < 40; sent++) {
			struct rp_msg *m = something(mem);

			rp_spoil(m);
			if (!rp_try_send(c, m))
				break;
			if (sent % 8 == 7 && drain(c) < 0)
				break;
		}
		rp_null(other);
	}
	rp_tell("%u connections ended", ends);
	rp_null(other);
	rp_expect_silence(other, RP_SILENCE);
}

/* Memory in use by the kernel for small things, KiB */
static unsigned long slab(void)
{
	unsigned long n = 0;
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SUnreclaim: %lu", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

RP_CASE("errors", TROUBLE | MODULE, err_flood, "SEC-14",
	"a flood of bad messages costs no memory and leaves the server alive")
{
	struct rp_conn *c = rp_open();
	unsigned long before = 0, after;
	unsigned int i, j, answers = 0;
	int n;

	for (i = 0; i < 600; i++) {
		for (j = 0; j < 8; j++)
			rp_send(c, rp_set(null_call(rp_xid()), 6, 2));
		n = drain(c);
		rp_check(n >= 0, "the connection ends");
		rp_check(n <= 8, "%d answers to 8 messages", n);
		answers += n;
		if (i == 100)
			before = slab();
	}
	after = slab();
	rp_check(after < before + 8192, "%lu KiB more in use",
		 after - before);
	rp_check(answers > 0, "no answers");
	rp_tell("%u answers", answers);
	rp_nothing(c);
}
