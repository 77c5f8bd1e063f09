// SPDX-License-Identifier: GPL-2.0
/*
 * MSG, LNG and INL: short and long messages, thresholds, padding, as a
 * server sees them.
 */
#include <string.h>

#include "rp.h"
#include "jobs.h"

RP_CASE("server", MUST, msg_position_zero, "MSG-2",
	"an RDMA2_MSG with a Position-Zero chunk is answered with BAD_XDR")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	put_last_read(m, 0, rp_seg(mem, 0, 40));
	put_msg(m, rpc_null(xid));
	rp_refused(c, m, BAD_XDR);
	rp_nothing(c);
}

RP_CASE("server", MUST, msg_any_as_nomsg, "MSG-6,LNG-1,HDR-6",
	"a small Call in a Position-Zero chunk of one and of three segments")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 8192);
	uint32_t xid = rp_xid(), len;
	struct rp_msg *m;

	m = call_head(xid, NOMSG, 0);
	len = rp_store(mem, 0, rpc_null(xid));
	put_last_read(m, 0, rp_seg(mem, 0, len));
	rp_send(c, m);
	rp_expect(c, null_reply(xid));

	xid = rp_xid();
	len = rp_store(mem, 0, rpc_null(xid));
	memmove(mem->buf + 4096, mem->buf, 5);
	m = call_head(xid, NOMSG, 0);
	put_read(m, 0, rp_seg(mem, 4096, 5));
	put_read(m, 0, rp_seg(mem, 5, 20));
	put_last_read(m, 0, rp_seg(mem, 25, len - 25));
	rp_send(c, m);
	rp_expect(c, null_reply(xid));
	rp_nothing(c);
}

RP_CASE("server", MUST, msg_nomsg_xid, "HDR-6,HDR-7",
	"a Position-Zero chunk with another XID is answered with BAD_XDR")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	unsigned long before = rp_nulls_served();
	uint32_t xid = rp_xid(), len = rp_store(mem, 0, rpc_null(xid + 0x1000));
	struct rp_msg *m = call_head(xid, NOMSG, 0);

	put_last_read(m, 0, rp_seg(mem, 0, len));
	rp_refused(c, m, BAD_XDR);
	rp_check(rp_nulls_served() == before, "the Call was executed");
	rp_nothing(c);
}

RP_CASE("server", DECISION, msg_nomsg_extra, "MSG-7,CHK-31,D-12",
	"a NOMSG WRITE with its data in a second Read chunk; bytes behind it")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 16384);
	struct rp_msg *m, *rpc;
	uint32_t xid, len;
	int more;

	for (more = 0; more < 2; more++) {
		rp_file("msg7", 0);
		xid = rp_xid();
		rpc = nfs4_write(xid, "msg7", 0, 6000);
		len = rp_store(mem, 0, rpc);
		rp_fill(mem->buf + 4096, 0, 6000);
		m = call_head(xid, NOMSG, 0);
		put_read(m, 0, rp_seg(mem, 0, len));
		put_last_read(m, len, rp_seg(mem, 4096, 6000));
		if (more)
			put_all(m, W(0xdeadbeef, 0x01020304));
		rp_send(c, m);
		rp_expect(c, msg_reply(nfs4_write_reply(xid, 6000)));
		rp_file_is("msg7", 0, mem->buf + 4096, 6000);
	}
	rp_nothing(c);
}

RP_CASE("server", MUST, msg_nomsg_nothing, "MSG-8",
	"NOMSG Calls without a Position-Zero chunk are answered with BAD_XDR")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	struct rp_seg seg = rp_seg(mem, 0, 4096);
	struct rp_msg *m;

	m = call_head(rp_xid(), NOMSG, 0);
	put_all(m, W(0, 0, 0));
	rp_refused(c, m, BAD_XDR);
	m = call_head(rp_xid(), NOMSG, 0);
	put_last_write(m, 1, &seg);
	rp_refused(c, m, BAD_XDR);
	m = call_head(rp_xid(), NOMSG, 0);
	put_reply_chunk(m, 1, &seg);
	rp_refused(c, m, BAD_XDR);
	m = call_head(rp_xid(), NOMSG, 0);
	put_last_read(m, 40, seg);
	rp_refused(c, m, BAD_XDR);
	rp_nothing(c);
}

RP_CASE("server", SHOULD, msg_garbage_args, "MSG-10",
	"arguments that cannot be decoded get an RPC Reply, not an ERROR")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m, *rpc;

	/* NFSv3 GETATTR of a file handle that is not there */
	m = rpc_call(xid, 100003, 3, 1);
	put(m, 32);
	rp_send(c, msg_call(m));
	rp_expect(c, msg_reply(rp_words(W(xid, 1, 0, 0, 0, 4))));

	/* NFSv3 WRITE, Position beyond the end of the stream */
	xid = rp_xid();
	rpc = rpc_call(xid, 100003, 3, 7);
	put_all(rpc, W(8, 0, 0, 0, 0, 1000, 2, 1000));
	rp_send(c, call_with_read(rpc, 4 * rpc->n + 400, rp_seg(mem, 0, 1000)));
	rp_expect(c, msg_reply(rp_words(W(xid, 1, 0, 0, 0, 4))));
	rp_nothing(c);
}

/* READ of @count bytes without any chunk: inline or REPLY_RESOURCE */
static void read_inline(struct rp_conn *c, const char *file, uint32_t count,
			bool fits)
{
	uint32_t xid = rp_xid();
	struct rp_msg *m;
	struct rp_rx *rx;

	rp_send(c, msg_call(nfs4_read(xid, file, 0, count)));
	if (fits) {
		m = msg_reply(nfs4_read_reply(xid, false, count));
		put_pattern(m, 0, count);
		rp_expect(c, m);
		return;
	}
	m = error2_arg(xid, REPLY_RESOURCE, ANY);
	rx = rp_expect(c, m);
	rp_check(rp_word(rx->buf, 6) == 0 ||
		 rp_word(rx->buf, 6) == NFS4_READ_HEAD + count,
		 "%u is not the length needed", rp_word(rx->buf, 6));
}

/* What fits beside the header and the rest of a reply to READ */
static uint32_t largest(uint32_t threshold)
{
	return threshold - 36 - NFS4_READ_HEAD;
}

RP_CASE("server", MUST, msg_threshold, "MSG-4,INL-1,INL-3,ERR-28,LNG-7,PROP-21",
	"a Reply of 4096 bytes is inline, one word more is refused")
{
	struct rp_conn *c = rp_connect();	/* no CONNPROP: defaults */

	rp_file("msg4", 20480);
	read_inline(c, "msg4", largest(4096) - 4, true);
	read_inline(c, "msg4", largest(4096), true);
	read_inline(c, "msg4", largest(4096) + 4, false);
	read_inline(c, "msg4", 16384, false);
	rp_nothing(c);
}

/* A client with Receives of this size gets as much inline, and no word more. */
static void sends_up_to(uint32_t size)
{
	struct rp_conn *c = rp_open_with(connprop(rp_xid(), size, 0));

	rp_file("prop16", 20480);
	read_inline(c, "prop16", largest(size), true);
	read_inline(c, "prop16", largest(size) + 4, false);
	rp_nothing(c);
}

RP_ROW("server", DECISION, prop_rbsiz_small, "PROP-16,PROP-14,PROP-15,CONN-13,D-27",
	"a client with Receives of 2048 bytes gets no more than that", sends_up_to(2048))
RP_ROW("server", DECISION, prop_rbsiz_1024, "PROP-16,D-27",
	"the smallest Receive Buffer Size that is honoured", sends_up_to(1024))
RP_ROW("server", DECISION, prop_rbsiz_large, "PROP-16,PROP-14,PROP-15,INL-3",
	"a larger Receive Buffer Size is used", sends_up_to(8192))

RP_CASE("server", DECISION, prop_rbsiz_huge, "PROP-16,SEC-3,INL-3",
	"a Receive Buffer Size of 4 GiB is cut to what the server sends")
{
	struct rp_conn *c = rp_open_with(connprop(rp_xid(), 0xffffffff, 0));

	rp_file("prop16", 200000);
	read_inline(c, "prop16", largest(4096), true);
	read_inline(c, "prop16", 100000, false);
	rp_nothing(c);
}

RP_CASE("server", DECISION, prop_rbsiz_tiny, "PROP-16,SEC-12,D-27",
	"a Receive Buffer Size below 1024 ends the connection")
{
	static const uint32_t size[] = { 0, 512, 1023 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct rp_conn *c = rp_connect();

		rp_send(c, connprop(rp_xid(), size[i], 1));
		rp_expect_closed(c);
		rp_close(c);
	}
	rp_null(rp_open());
}

RP_CASE("server", MUST, lng_reply_chunk, "LNG-2,LNG-5,LNG-8,CHK-14,CHK-5",
	"a Reply too long for inline goes into the Reply chunk, padding included")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 32768);
	struct rp_seg seg[2] = {
		rp_seg(mem, 0, 5000), rp_seg(mem, 8192, 16384),
	};
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	rp_file("lng5", 20480);
	put_reply_chunk(m, 2, seg);
	put_msg(m, nfs4_read(xid, "lng5", 0, 8001));
	rp_send(c, m);
	seg[1].len = NFS4_READ_HEAD + 8004 - 5000;
	m = reply_head(xid, NOMSG);
	put_reply_chunk(m, 2, seg);
	rp_expect(c, m);
	rp_holds(mem, 0, nfs4_read_reply(xid, false, 8001));
	rp_is_pattern(mem->buf + NFS4_READ_HEAD, 0, 5000 - NFS4_READ_HEAD);
	rp_is_untouched(mem, 5000, 8192 - 5000);
	rp_is_pattern(mem->buf + 8192, 5000 - NFS4_READ_HEAD, seg[1].len - 3);
	rp_check(!memcmp(mem->buf + 8192 + seg[1].len - 3, "\0\0\0", 3),
		 "padding is not zero");
	rp_is_untouched(mem, 8192 + seg[1].len, 16384);
	rp_nothing(c);
}

RP_CASE("server", DECISION, lng_inline_anyway, "LNG-6,MSG-3,D-21",
	"a Reply that fits is inline although there is a Reply chunk")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 16384);
	struct rp_seg seg = rp_seg(mem, 0, 16384);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	rp_file("lng6", 1000);
	put_reply_chunk(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "lng6", 0, 1000));
	rp_send(c, m);
	seg.len = 0;
	m = reply_head(xid, MSG);
	put_reply_chunk(m, 1, &seg);
	put_msg(m, nfs4_read_reply(xid, true, 1000));
	put_pattern(m, 0, 1000);
	rp_expect(c, m);
	rp_is_untouched(mem, 0, 16384);
	rp_nothing(c);
}

RP_CASE("server", MUST, lng_reply_short, "LNG-7,ERR-28,SEC-10,LNG-9",
	"a Reply longer than the Reply chunk: REPLY_RESOURCE, nothing written")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 32768);
	struct rp_seg seg = rp_seg(mem, 0, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);
	struct rp_rx *rx;

	rp_file("lng7", 20480);
	put_reply_chunk(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "lng7", 0, 20480));
	rp_send(c, m);
	rx = rp_expect(c, error2_arg(xid, REPLY_RESOURCE, ANY));
	rp_check(rp_word(rx->buf, 6) == 0 ||
		 rp_word(rx->buf, 6) == NFS4_READ_HEAD + 20480,
		 "%u is not the length needed", rp_word(rx->buf, 6));
	rp_is_untouched(mem, 0, 32768);
	rp_nothing(c);
}

RP_CASE("server", DECISION, lng_pad_accepted, "LNG-12,D-19",
	"a Read chunk of the item's length, and of that rounded up")
{
	static const uint32_t len[] = { 5001, 5004 };
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 8192);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		uint32_t xid = rp_xid();
		struct rp_msg *rpc = nfs4_write(xid, "lng12", 0, 5001);

		rp_file("lng12", 0);
		rp_fill(mem->buf, 0, 5001);
		memset(mem->buf + 5001, 0, 3);
		rp_send(c, call_with_read(rpc, 4 * rpc->n, rp_seg(mem, 0, len[i])));
		rp_expect(c, msg_reply(nfs4_write_reply(xid, 5001)));
		rp_file_is("lng12", 0, mem->buf, 5001);
	}
	rp_nothing(c);
}

RP_CASE("server", MUST, lng_pad_followed, "LNG-10,LNG-12,CHK-10",
	"what follows a reduced item of odd length, with and without its pad")
{
	static const uint32_t len[] = { 5001, 5004 };
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 8192);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		uint32_t xid = rp_xid(), position;
		struct rp_msg *m, *rpc = nfs4_call(xid, 4);

		rp_file("lng10", 0);
		rp_fill(mem->buf, 0, 5001);
		memset(mem->buf + 5001, 0, 3);
		nfs4_put_file(rpc, "lng10");
		put_all(rpc, W(38, 0, 0, 0, 0, 0, 0, 2, 5001));
		position = 4 * rpc->n;
		nfs4_put_read(rpc, 4990, 100);
		rp_send(c, call_with_read(rpc, position, rp_seg(mem, 0, len[i])));
		m = nfs4_reply(xid, 4);
		put_all(m, W(nfs4_root_op(), 0, 15, 0, 38, 0, 5001, 2, ANY, ANY,
			     25, 0, 1, 11));
		put_pattern(m, 4990, 11);
		rp_expect(c, msg_reply(m));
	}
	rp_nothing(c);
}

RP_CASE("server", MUST, lng_pad_not_written, "LNG-13,LNG-14",
	"no padding is written into a Write chunk")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 8192);
	struct rp_seg seg;
	uint32_t room, xid;

	rp_file("lng13", 5001);
	for (room = 5001; room <= 5004; room += 3) {
		seg = rp_seg(mem, 0, room);
		xid = rp_xid();
		rp_send(c, call_with_write(nfs4_read(xid, "lng13", 0, 5001), 1, &seg));
		seg.len = 5001;
		rp_expect(c, reply_with_write(nfs4_read_reply(xid, true, 5001),
			1, &seg));
		rp_is_pattern(mem->buf, 0, 5001);
		rp_is_untouched(mem, 5001, 3000);
	}
	rp_nothing(c);
}

/* A Call of exactly @total bytes: an inline WRITE */
static void write_inline(struct rp_conn *c, const char *file, uint32_t total)
{
	uint32_t xid = rp_xid(), count;
	struct rp_msg *m, *rpc = nfs4_write(xid, file, 0, 0);

	count = total - 36 - 4 * rpc->n;
	rpc = nfs4_write(xid, file, 0, count);
	put_pattern(rpc, 0, count);
	m = msg_call(rpc);
	rp_check(4 * m->n == total, "test message of %u bytes", 4 * m->n);
	rp_send(c, m);
	rp_expect(c, msg_reply(nfs4_write_reply(xid, count)));
}

RP_CASE("server", MUST, inl_default, "INL-2,INL-5,CONN-7,VER-6",
	"a Call of 4096 bytes without any CONNPROP")
{
	struct rp_conn *c = rp_connect();

	rp_file("inl2", 0);
	rp_null(c);
	write_inline(c, "inl2", 4092);
	write_inline(c, "inl2", 4096);
	rp_nothing(c);
}

RP_CASE("server", MUST, inl_announced, "PROP-14,CONN-12,INL-5",
	"a Call as large as the server's CONNPROP allows, on every Receive")
{
	struct rp_conn *c = rp_open();
	uint32_t size = rp_may_send() & ~3u;
	unsigned int i;

	rp_check(size >= 4096, "RBSIZ of %u", size);
	rp_file("prop14", 0);
	for (i = 0; i < 100; i++)
		write_inline(c, "prop14", size);
	rp_nothing(c);
}
