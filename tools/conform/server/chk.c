// SPDX-License-Identifier: GPL-2.0
/*
 * CHK: chunk lists and segments, as a server sees them.
 */
#include <string.h>

#include "rp.h"
#include "jobs.h"

/* The tail of a message without chunks: an RPC message */
static struct rp_msg *with_null(struct rp_msg *m)
{
	put_msg(m, rpc_null(m->w[0]));
	return m;
}

RP_CASE("server", MUST, chk_discriminator, "CHK-6",
	"a list discriminator other than 0 and 1 is answered with BAD_XDR")
{
	static const uint32_t bad[] = { 2, 0x100, 0x80000000, 0xffffffff };
	struct rp_conn *c = rp_open();
	struct rp_seg seg = rp_seg(rp_mem(c, 4096), 0, 4);
	unsigned int word, i;
	struct rp_msg *m;

	for (i = 0; i < 4; i++) {
		/* What follows is good if the list ends here */
		for (word = 6; word <= 8; word++)
			rp_refused(c, rp_set(null_call(rp_xid()), word,
					     bad[i]), BAD_XDR);
		/* and here, if it goes on */
		m = call_head(rp_xid(), MSG, 0);
		put_read(m, 40, seg);		/* behind the RPC message */
		put_all(m, W(0, 0, 0));
		rp_refused(c, with_null(rp_set(m, 6, bad[i])), BAD_XDR);
		m = call_head(rp_xid(), MSG, 0);
		put_last_write(m, 1, &seg);
		rp_refused(c, with_null(rp_set(m, 7, bad[i])), BAD_XDR);
		m = call_head(rp_xid(), MSG, 0);
		put_reply_chunk(m, 1, &seg);
		rp_refused(c, with_null(rp_set(m, 8, bad[i])), BAD_XDR);
	}
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_counts, "CHK-7,SEC-3",
	"counts beyond the end of the message are answered with BAD_XDR")
{
	static const uint32_t counts[] = {
		11, 0x0fffffff, 0x10000000, 0x10000001, 0x7fffffff, 0xffffffff,
	};
	struct rp_conn *c = rp_open();
	struct rp_msg *m;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		m = call_head(rp_xid(), MSG, 0);
		put_all(m, W(0, 1, counts[i]));		/* Write list */
		rp_refused(c, with_null(m), BAD_XDR);
		m = call_head(rp_xid(), MSG, 0);
		put_all(m, W(0, 0, 1, counts[i]));	/* Reply chunk */
		rp_refused(c, with_null(m), BAD_XDR);
	}
	/* A Read list that never ends */
	m = call_head(rp_xid(), MSG, 0);
	put_read(m, 4, (struct rp_seg){ 1, 0, 0 });
	put_read(m, 8, (struct rp_seg){ 1, 0, 0 });
	rp_refused(c, m, BAD_XDR);
	m = call_head(rp_xid(), MSG, 0);
	put_read(m, 4, (struct rp_seg){ 1, 0, 0 });
	put(m, 1);
	rp_refused(c, m, BAD_XDR);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_position, "CHK-9",
	"a Position that is no multiple of 4 is answered with BAD_XDR")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	unsigned int i;

	for (i = 1; i < 4; i++) {
		uint32_t xid = rp_xid();
		struct rp_msg *m = call_head(xid, MSG, 0);

		put_last_read(m, 36 + i, rp_seg(mem, 0, 4));
		rp_refused(c, with_null(m), BAD_XDR);
	}
	rp_nothing(c);
}

/* A MSG WRITE with its data in Read segments of these lengths */
static void write_in_segments(struct rp_conn *c, const char *file,
			      const uint32_t *len, unsigned int n)
{
	struct rp_mem *mem = rp_mem(c, 65536);
	uint32_t xid = rp_xid(), total = 0, at = 0;
	struct rp_msg *m, *rpc;
	unsigned int i;

	for (i = 0; i < n; i++)
		total += len[i];
	rpc = nfs4_write(xid, file, 0, total);
	m = call_head(xid, MSG, 0);
	for (i = 0; i < n; i++) {
		/* Apart from each other, and not in order */
		uint32_t off = 8192 * (n - 1 - i) + 3;

		rp_fill(mem->buf + off, at, len[i]);
		put_read(m, 4 * rpc->n, rp_seg(mem, off, len[i]));
		at += len[i];
	}
	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	rp_send(c, m);
	rp_expect(c, msg_reply(nfs4_write_reply(xid, total)));
	rp_fill(mem->buf, 0, total);
	rp_file_is(file, 0, mem->buf, total);
}

RP_CASE("server", MUST, chk_read_segments, "CHK-11,CHK-3,CHK-10",
	"a Read chunk of odd segments is put together in list order")
{
	static const uint32_t odd[] = { 1, 4095, 904 };
	static const uint32_t ends[] = { 4096, 1, 4096, 3, 5 };
	struct rp_conn *c = rp_open();

	rp_file("chk11", 0);
	write_in_segments(c, "chk11", odd, 3);
	write_in_segments(c, "chk11", ends, 5);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_read_zero, "CHK-26",
	"segments of length zero contribute nothing")
{
	static const uint32_t len[] = { 0, 1000, 0, 500, 0, 0 };
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid = rp_xid(), bytes;
	struct rp_msg *m;

	rp_file("chk26", 0);
	write_in_segments(c, "chk26", len, 6);

	bytes = rp_store(mem, 0, rpc_null(xid));
	m = call_head(xid, NOMSG, 0);
	put_read(m, 0, rp_seg(mem, 0, 12));
	put_read(m, 0, rp_seg(mem, 4096, 0));
	put_last_read(m, 0, rp_seg(mem, 12, bytes - 12));
	rp_send(c, m);
	rp_expect(c, null_reply(xid));
	rp_nothing(c);
}

/* A WRITE whose data is in a Read chunk only as far as @len bytes; the rest
 * follows inline.
 */
static void write_in_part(struct rp_conn *c, const char *file, uint32_t len,
			  uint32_t total)
{
	struct rp_mem *mem = rp_mem(c, 16384);
	uint32_t xid = rp_xid();
	struct rp_msg *m, *rpc = nfs4_write(xid, file, 0, total);

	rp_fill(mem->buf, 0, total);
	m = call_with_read(rpc, 4 * rpc->n, rp_seg(mem, 0, len));
	put_bytes(m, mem->buf + len, total - len);
	rp_send(c, m);
	rp_expect(c, msg_reply(nfs4_write_reply(xid, total)));
	rp_file_is(file, 0, mem->buf, total);
}

RP_CASE("server", MUST, chk_read_part, "CHK-26,CHK-12,SEC-2,SEC-10",
	"a Read chunk with a part of an item: nothing but the client's data is written")
{
	struct rp_conn *c = rp_open();

	rp_file("chkpart", 0);
	write_in_part(c, "chkpart", 4, 3000);
	rp_file("chkpart", 0);
	write_in_part(c, "chkpart", 0, 3000);
	rp_file("chkpart", 0);
	write_in_part(c, "chkpart", 2996, 3000);
	rp_nothing(c);
}

/* The data begins with a word that looks like the count of the Read chunk
 * behind it.
 */
static void write_like_two(struct rp_conn *c, const char *file, uint32_t len,
			   uint32_t total)
{
	struct rp_mem *mem = rp_mem(c, 16384);
	uint32_t xid = rp_xid();
	struct rp_msg *m, *rpc = nfs4_write(xid, file, 0, total);

	rp_fill(mem->buf, 0, total);
	put(rpc, len);
	rp_store(mem, 8192, rpc);
	memcpy(mem->buf, mem->buf + 8192 + 4 * (rpc->n - 1), 4);
	m = call_with_read(rpc, 4 * rpc->n, rp_seg(mem, 4, len));
	put_bytes(m, mem->buf + 4 + len, total - 4 - len);
	rp_send(c, m);
	rp_expect(c, msg_reply(nfs4_write_reply(xid, total)));
	rp_file_is(file, 0, mem->buf, total);
}

RP_CASE("server", MUST, chk_read_decoy, "CHK-26,CHK-12,SEC-2,SEC-10",
	"a Read chunk that only looks like an item: nothing but the client's data is written")
{
	struct rp_conn *c = rp_open();

	rp_file("chkdecoy", 0);
	write_like_two(c, "chkdecoy", 1000, 3000);
	rp_file("chkdecoy", 0);
	write_like_two(c, "chkdecoy", 0, 3000);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_read_count, "CHK-26,CHK-12,SEC-2,SEC-10",
	"a count that is not the length of the Read chunk: nothing but the client's data is written")
{
	static const uint32_t more[] = { 2001, 4096, 8192 };
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid, count;
	struct rp_msg *rpc;
	unsigned int i;

	rp_file("chkcount", 0);
	rp_fill(mem->buf, 0, 2000);
	for (i = 0; i < 4; i++) {
		xid = rp_xid();
		count = i < 3 ? more[i] : 1000;
		rpc = nfs4_write(xid, "chkcount", 0, count);
		rp_send(c, call_with_read(rpc, 4 * rpc->n, rp_seg(mem, 0, 2000)));
		if (i == 3) {
			rp_expect(c, msg_reply(nfs4_write_reply(xid, count)));
			break;
		}
		rp_check(rp_recv(c), "no answer to a count of %u", count);
		xid = rp_xid();
		rp_send(c, msg_call(nfs4_read(xid, "chkcount", 0, 512)));
		rp_expect(c, msg_reply(nfs4_read_reply(xid, true, 0)));
	}
	rp_file_is("chkcount", 0, mem->buf, 1000);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_read_two_items, "CHK-12,CHK-26",
	"two WRITEs in a COMPOUND, the first with a Read chunk, the second inline")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m, *rpc;

	rp_file("chktwo", 0);
	rp_fill(mem->buf, 0, 3000);
	rpc = nfs4_call(xid, 4);
	nfs4_put_file(rpc, "chktwo");
	nfs4_put_write(rpc, 0, 2000);
	m = call_head(xid, MSG, 0);
	put_last_read(m, 4 * rpc->n, rp_seg(mem, 0, 2000));
	nfs4_put_write(rpc, 2000, 1000);
	put_bytes(rpc, mem->buf + 2000, 1000);
	put_msg(m, rpc);
	rp_send(c, m);
	rpc = nfs4_reply(xid, 4);
	put_all(rpc, W(ANY, 0, ANY, 0));
	nfs4_put_written(rpc, 2000);
	nfs4_put_written(rpc, 1000);
	rp_expect(c, msg_reply(rpc));
	rp_file_is("chktwo", 0, mem->buf, 3000);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_read_header, "CHK-12,CHK-30",
	"a Read chunk with a part of the RPC header is put in its place")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid, at, i;
	struct rp_msg *m, *rpc;

	/* Every word of a NULL Call: the first is the XID, which must be inline */
	for (at = 1; at < 10; at++) {
		xid = rp_xid();
		rpc = rpc_null(xid);
		rp_store(mem, 0, rpc);
		m = call_head(xid, MSG, 0);
		put_last_read(m, 4 * at, rp_seg(mem, 4 * at, 4));
		for (i = 0; i < rpc->n; i++)
			if (i != at)
				put(m, rpc->w[i]);
		if (at == 1)	/* the type must be inline, too */
			rp_refused(c, m, BAD_XDR);
		else {
			rp_send(c, m);
			rp_expect(c, null_reply(xid));
		}
	}
	rp_nothing(c);
}

RP_CASE("server", DECISION, chk_interleaved, "CHK-12,CHK-10,MSG-7,D-20",
	"segments of two Positions in any order")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 16384);
	uint32_t xid = rp_xid(), len;
	struct rp_msg *m, *rpc = nfs4_write(xid, "chk12", 0, 3000);

	rp_file("chk12", 0);
	len = rp_store(mem, 0, rpc);
	rp_fill(mem->buf + 4096, 0, 3000);
	m = call_head(xid, NOMSG, 0);
	put_read(m, len, rp_seg(mem, 4096, 1000));
	put_read(m, 0, rp_seg(mem, 0, 24));
	put_read(m, len, rp_seg(mem, 5096, 2000));
	put_last_read(m, 0, rp_seg(mem, 24, len - 24));
	rp_send(c, m);
	rp_expect(c, msg_reply(nfs4_write_reply(xid, 3000)));
	rp_file_is("chk12", 0, mem->buf + 4096, 3000);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_write_segments, "CHK-15,CHK-14,CHK-16,CHK-4",
	"a result fills the segments of its Write chunk in order")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 65536);
	uint32_t xid = rp_xid();
	struct rp_seg seg[3] = {
		rp_seg(mem, 32768, 4096), rp_seg(mem, 16384, 4096),
		rp_seg(mem, 0, 4096),
	};
	struct rp_msg *m = call_head(xid, MSG, 0);

	rp_file("chk15", 9000);
	put_last_write(m, 3, seg);
	put_msg(m, nfs4_read(xid, "chk15", 0, 9000));
	rp_send(c, m);

	seg[2].len = 808;
	rp_expect(c, reply_with_write(nfs4_read_reply(xid, true, 9000), 3, seg));
	rp_is_pattern(mem->buf + 32768, 0, 4096);
	rp_is_pattern(mem->buf + 16384, 4096, 4096);
	rp_is_pattern(mem->buf, 8192, 808);
	rp_is_untouched(mem, 808, 4096);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_write_unused, "CHK-17",
	"a Write chunk without a result comes back with lengths of zero")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 16384);
	struct rp_seg seg[2] = {
		rp_seg(mem, 0, 4096), rp_seg(mem, 8192, 4096),
	};
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0), *rpc;

	/* LOOKUP fails, READ is not reached */
	put_last_write(m, 2, seg);
	put_msg(m, nfs4_read(xid, "not-there", 0, 8192));
	rp_send(c, m);

	seg[0].len = 0;
	seg[1].len = 0;
	m = reply_head(xid, MSG);
	put_last_write(m, 2, seg);
	rpc = rpc_reply(xid);
	put_all(rpc, W(2, 0, 2, nfs4_root_op(), 0, 15, 2));		/* NFS4ERR_NOENT */
	put_msg(m, rpc);
	rp_expect(c, m);
	rp_is_untouched(mem, 0, 16384);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_write_empty, "CHK-18",
	"a Write chunk without segments asks for the result inline")
{
	struct rp_conn *c = rp_open();
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	rp_file("chk18", 1000);
	put_all(m, W(0, 1, 0, 0, 0));
	put_msg(m, nfs4_read(xid, "chk18", 0, 1000));
	rp_send(c, m);
	m = reply_head(xid, MSG);
	put_all(m, W(0, 1, 0, 0, 0));
	put_msg(m, nfs4_read_reply(xid, true, 1000));
	put_pattern(m, 0, 1000);
	rp_expect(c, m);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_write_short, "CHK-23,ERR-26,SEC-10",
	"a result longer than its Write chunk: WRITE_RESOURCE, nothing beyond")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 16384);
	struct rp_seg seg = rp_seg(mem, 0, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	rp_file("chk23", 8192);
	put_last_write(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "chk23", 0, 8192));
	rp_send(c, m);
	m = error2_arg(xid, WRITE_RESOURCE, 1);
	put(m, 8192);
	rp_expect(c, m);
	rp_is_untouched(mem, 4096, 12288);
	rp_nothing(c);
}

/* The answer to @m is any ERROR; the connection stays. */
static void some_error(struct rp_conn *c, const struct rp_msg *m)
{
	struct rp_rx *rx = rp_exchange(c, m);

	rp_check(rx->len >= 24 && rp_word(rx->buf, 3) == ERROR &&
		 rp_word(rx->buf, 4) == RESPONSE, "not answered with an ERROR");
}

RP_CASE("server", DECISION, chk_read_huge, "CHK-24,SEC-9,SEC-3,SEC-2",
	"a Read chunk of 4 GiB is refused")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	struct rp_seg huge = rp_seg(mem, 0, 0xffffffff);
	struct rp_msg *m, *rpc;
	unsigned int i;
	uint32_t xid;

	rp_file("chk24", 0);
	xid = rp_xid();
	rpc = nfs4_write(xid, "chk24", 0, 0xffffffff);
	some_error(c, call_with_read(rpc, 4 * rpc->n, huge));

	xid = rp_xid();
	m = call_head(xid, NOMSG, 0);
	put_last_read(m, 0, huge);
	some_error(c, m);

	/* Every segment could be, their sum could not */
	xid = rp_xid();
	rpc = nfs4_write(xid, "chk24", 0, 0);
	m = call_head(xid, MSG, 0);
	huge.len = 0x10000000;
	for (i = 0; i < 16; i++)
		put_read(m, 4 * rpc->n, huge);
	put_all(m, W(0, 0, 0));
	put_msg(m, rpc);
	some_error(c, m);
	rp_nothing(c);
}

RP_CASE("server", DECISION, chk_wrap, "CHK-25",
	"a segment that wraps around is answered with BAD_XDR")
{
	struct rp_conn *c = rp_open();
	struct rp_seg wrap = { 0x1234, 0x2000, 0xfffffffffffff000ull };
	struct rp_msg *m;

	m = call_head(rp_xid(), MSG, 0);
	put_last_read(m, 40, wrap);
	rp_refused(c, with_null(m), BAD_XDR);

	m = call_head(rp_xid(), MSG, 0);
	put_last_write(m, 1, &wrap);
	rp_refused(c, with_null(m), BAD_XDR);

	m = call_head(rp_xid(), MSG, 0);
	put_reply_chunk(m, 1, &wrap);
	rp_refused(c, with_null(m), BAD_XDR);
	rp_nothing(c);
}

RP_CASE("server", DECISION, chk_sixteen, "CHK-27,CHK-14,MSG-7,LNG-6",
	"16 segments in each of four chunks")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 131072);
	struct rp_seg write[16], reply[16];
	uint32_t xid = rp_xid(), len, piece, i;
	struct rp_msg *m, *rpc;

	rp_file("chk27", 3200);
	rpc = nfs4_call(xid, 4);
	nfs4_put_file(rpc, "chk27");
	put_all(rpc, W(38, 0, 0, 0, 0, 0, 0, 2, 1600));
	len = rp_store(mem, 0, rpc);
	/* What follows the data of WRITE in the stream */
	rpc = rp_new();
	nfs4_put_read(rpc, 1600, 1600);
	rp_store(mem, len, rpc);
	rp_fill(mem->buf + 8192, 77, 1600);

	m = call_head(xid, NOMSG, 0);
	piece = (len + 4 * rpc->n) / 16;
	for (i = 0; i < 16; i++)
		put_read(m, 0, rp_seg(mem, i * piece, i < 15 ? piece :
				      len + 4 * rpc->n - 15 * piece));
	for (i = 0; i < 16; i++)
		put_read(m, len, rp_seg(mem, 8192 + 100 * i, 100));
	put(m, 0);
	for (i = 0; i < 16; i++) {
		write[i] = rp_seg(mem, 32768 + 200 * i, 200);
		reply[i] = rp_seg(mem, 65536 + 4096 * i, 1024);
	}
	put_chunk(m, 16, write);
	put(m, 0);
	put_chunk(m, 16, reply);
	rp_check(4 * m->n == 1328, "the header has %u bytes", 4 * m->n);
	rp_send(c, m);

	for (i = 0; i < 16; i++) {
		write[i].len = i < 8 ? 200 : 0;
		reply[i].len = 0;
	}
	m = reply_head(xid, MSG);
	put(m, 0);
	put_chunk(m, 16, write);
	put(m, 0);
	put_chunk(m, 16, reply);
	put_msg(m, nfs4_reply(xid, 4));
	put_all(m, W(nfs4_root_op(), 0, 15, 0, 38, 0, 1600, 2, ANY, ANY));
	put_all(m, W(25, 0, 1, 1600));
	rp_expect(c, m);
	rp_is_pattern(mem->buf + 32768, 1600, 1600);
	rp_is_untouched(mem, 65536, 65536);
	rp_file_is("chk27", 0, mem->buf + 8192, 1600);
	rp_nothing(c);
}

/* PUTROOTFH, LOOKUP, READ of 8000 bytes, PUTROOTFH, LOOKUP, READLINK of 4000
 * bytes: two results. (nfsd of 6.12 returns zeros for a second READ.)
 */
static struct rp_msg *two_results(uint32_t xid)
{
	struct rp_msg *rpc = nfs4_call(xid, 6);

	rp_file("chk22", 16000);
	rp_link("chk22l", 4000);
	nfs4_put_file(rpc, "chk22");
	nfs4_put_read(rpc, 0, 8000);
	nfs4_put_readlink(rpc, "chk22l");
	return rpc;
}

static struct rp_msg *two_results_reply(uint32_t xid)
{
	struct rp_msg *rpc = nfs4_reply(xid, 6);

	put_all(rpc, W(nfs4_root_op(), 0, 15, 0, 25, 0, 0, 8000));
	put_all(rpc, W(nfs4_root_op(), 0, 15, 0, 27, 0, 4000));
	return rpc;
}

RP_CASE("server", MUST, chk_more_results, "CHK-22,MSG-9,CHK-16,LNG-5,LNG-8",
	"two results, one Write chunk: the second goes into the Reply chunk")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 65536);
	struct rp_seg write = rp_seg(mem, 0, 8192);
	struct rp_seg reply = rp_seg(mem, 16384, 16384);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0), *rpc;

	put(m, 0);
	put_chunk(m, 1, &write);
	put(m, 0);
	put_chunk(m, 1, &reply);
	put_msg(m, two_results(xid));
	rp_send(c, m);

	rpc = two_results_reply(xid);
	write.len = 8000;
	reply.len = 4 * rpc->n + 4000;
	m = reply_head(xid, NOMSG);
	put(m, 0);
	put_chunk(m, 1, &write);
	put(m, 0);
	put_chunk(m, 1, &reply);
	rp_expect(c, m);
	rp_is_pattern(mem->buf, 0, 8000);
	rp_holds(mem, 16384, rpc);
	rp_check(!memcmp(mem->buf + 16384 + 4 * rpc->n, rp_target(4000), 4000),
		 "wrong data in the Reply chunk");
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_two_results, "CHK-16,CHK-14,CHK-17",
	"two results in two Write chunks; a third chunk is unused")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 32768);
	struct rp_seg seg[3] = {
		rp_seg(mem, 0, 8192), rp_seg(mem, 16384, 4096),
		rp_seg(mem, 24576, 4096),
	};
	uint32_t xid = rp_xid(), n, i;
	struct rp_msg *m;
	struct rp_rx *rx;

	for (n = 3; n > 1; n--) {
		xid = rp_xid();
		m = call_head(xid, MSG, 0);
		put(m, 0);
		for (i = 0; i < n; i++)
			put_chunk(m, 1, &seg[i]);
		put_all(m, W(0, 0));
		put_msg(m, two_results(xid));
		rx = rp_exchange(c, m);
		if (rp_word(rx->buf, 3) != ERROR)
			break;
		rp_must_match(rx, error2_arg(xid, WRITE_CHUNKS, ANY));
		rp_check(rp_word(rx->buf, 6) < n, "the limit is %u",
			 rp_word(rx->buf, 6));
	}
	if (n < 2)
		rp_skip("this server takes one Write chunk only");
	seg[0].len = 8000;
	seg[1].len = 4000;
	seg[2].len = 0;
	m = reply_head(xid, MSG);
	put(m, 0);
	for (i = 0; i < n; i++)
		put_chunk(m, 1, &seg[i]);
	put_all(m, W(0, 0));
	put_msg(m, two_results_reply(xid));
	rp_must_match(rx, m);
	rp_is_pattern(mem->buf, 0, 8000);
	rp_check(!memcmp(mem->buf + 16384, rp_target(4000), 4000),
		 "wrong data in the second chunk");
	rp_is_untouched(mem, 16384 + 4000, 4096);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_second_larger, "CHK-16,CHK-17",
	"the result in the second Write chunk is far larger than that in the first one")
{
	const uint32_t bytes = 200000;
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 8192 + bytes);
	struct rp_seg link = rp_seg(mem, 0, 4096), data = rp_seg(mem, 8192, bytes);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0), *rpc = nfs4_call(xid, 6);
	struct rp_rx *rx;

	rp_link("chk22l", 4000);
	rp_file("chk29", bytes + 1);
	nfs4_put_readlink(rpc, "chk22l");
	nfs4_put_file(rpc, "chk29");
	nfs4_put_read(rpc, 0, bytes);
	put(m, 0);
	put_chunk(m, 1, &link);
	put_chunk(m, 1, &data);
	put_all(m, W(0, 0));
	put_msg(m, rpc);
	rx = rp_exchange(c, m);
	if (rp_word(rx->buf, 5) == WRITE_CHUNKS)
		rp_skip("this server takes one Write chunk only");
	link.len = 4000;
	m = reply_head(xid, MSG);
	put(m, 0);
	put_chunk(m, 1, &link);
	put_chunk(m, 1, &data);
	put_all(m, W(0, 0));
	rpc = nfs4_reply(xid, 6);
	put_all(rpc, W(nfs4_root_op(), 0, 15, 0, 27, 0, 4000));
	put_all(rpc, W(nfs4_root_op(), 0, 15, 0, 25, 0, 0, bytes));
	put_msg(m, rpc);
	rp_must_match(rx, m);
	rp_check(!memcmp(mem->buf, rp_target(4000), 4000), "wrong data in the first chunk");
	rp_is_pattern(mem->buf + 8192, 0, bytes);
	rp_nothing(c);
}

RP_CASE("server", MUST, chk_second_short, "ERR-26,ERR-4",
	"the second Write chunk is too short: WRITE_RESOURCE names it")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 32768);
	struct rp_seg first = rp_seg(mem, 0, 8192);
	struct rp_seg second = rp_seg(mem, 16384, 2048);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);
	struct rp_rx *rx;

	put(m, 0);
	put_chunk(m, 1, &first);
	put_chunk(m, 1, &second);
	put_all(m, W(0, 0));
	put_msg(m, two_results(xid));
	rx = rp_exchange(c, m);
	if (rp_word(rx->buf, 5) == WRITE_CHUNKS)
		rp_skip("this server takes one Write chunk only");
	m = error2_arg(xid, WRITE_RESOURCE, 2);
	put(m, 4000);
	rp_must_match(rx, m);
	rp_is_untouched(mem, 16384 + 2048, 8192);
	rp_nothing(c);
}
