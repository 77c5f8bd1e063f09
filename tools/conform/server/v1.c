// SPDX-License-Identifier: GPL-2.0
/*
 * V1 and CM: version 1 on the same port, and RDMA-CM private data, as a
 * server treats them.
 */
#include <string.h>

#include "rp.h"

static struct rp_msg *err_chunk(uint32_t xid)
{
	return rp_words(W(xid, 1, ANY, ERROR, 2));
}

static const uint8_t c1[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 };

static struct rp_conn *connect_private(const void *p, unsigned int len)
{
	const struct rp_how how = { .private_data = p, .private_len = len };

	return rp_connect_how(&how);
}

RP_CASE("versions", MUST, v1_null, "V1-7,VER-19,HDR-11,V1-16,CRED-18",
	"version 1 on the same port, beside version 2")
{
	struct rp_conn *one = rp_connect(), *two = rp_open();

	rp_v1_null(one);
	rp_null(two);
	rp_v1_nothing(one);
	rp_nothing(two);
}

RP_CASE("versions", MUST | V1, v1_error, "V1-3,V1-4,HT-4",
	"RDMA_ERROR and RDMA_DONE are discarded in version 1")
{
	struct rp_conn *c = rp_connect();

	rp_v1_null(c);
	rp_send(c, rp_words(W(rp_xid(), 1, 32, ERROR, 2)));
	rp_send(c, rp_words(W(rp_xid(), 1, 32, ERROR, 1, 1, 1)));
	rp_send(c, rp_words(W(rp_xid(), 1, 32, DONE, 0, 0, 0)));
	rp_send(c, rp_words(W(rp_xid(), 1, 32, DONE)));
	rp_v1_nothing(c);
}

RP_CASE("versions", MUST | V1, v1_msgp, "V1-5,V1-2",
	"RDMA_MSGP is answered with ERR_CHUNK")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();
	struct rp_msg *m = v1(xid, 32, MSGP);

	rp_v1_null(c);
	put_all(m, W(4096, 4096, 0, 0, 0));
	put_msg(m, rpc_null(xid));
	rp_send(c, m);
	rp_expect(c, err_chunk(xid));
	rp_v1_nothing(c);
}

RP_CASE("versions", MUST | V1, v1_bad, "V1-2,V1-1,CHK-6,CHK-7,CHK-9",
	"chunk lists that cannot be parsed are answered with ERR_CHUNK")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();
	struct rp_msg *m;

	rp_v1_null(c);
	rp_send(c, rp_set(v1_null_call(xid), 4, 2));
	rp_expect(c, err_chunk(xid));

	xid = rp_xid();
	m = v1(xid, 32, MSG);
	put_all(m, W(0, 1, 0x10000001, 0));
	put_msg(m, rpc_null(xid));
	rp_send(c, m);
	rp_expect(c, err_chunk(xid));
	rp_v1_nothing(c);
}

/* READ with a Write chunk, version 1 */
static struct rp_rx *v1_read(struct rp_conn *c, struct rp_seg *seg,
			     unsigned int n, uint32_t count, uint32_t *xid)
{
	struct rp_msg *m;

	*xid = rp_xid();
	m = v1(*xid, 32, MSG);
	put_last_write(m, n, seg);
	put_msg(m, nfs4_read(*xid, "v1", 0, count));
	rp_send(c, m);
	return rp_recv(c);
}

RP_CASE("versions", MUST | V1, v1_chunks, "V1-1,CHK-14,CHK-15,LNG-13,V1-14",
	"a READ with a Write chunk in version 1")
{
	struct rp_conn *c = rp_connect();
	struct rp_mem *mem = rp_mem(c, 16384);
	struct rp_seg seg[2] = {
		rp_seg(mem, 0, 4096), rp_seg(mem, 8192, 4096),
	};
	struct rp_msg *m;
	struct rp_rx *rx;
	uint32_t xid;

	rp_file("v1", 5001);
	rx = v1_read(c, seg, 2, 5001, &xid);
	seg[1].len = 905;
	m = v1(xid, ANY, MSG);
	put_last_write(m, 2, seg);
	put_msg(m, nfs4_read_reply(xid, true, 5001));
	rp_must_match(rx, m);
	rp_check(!rx->inv, "something was invalidated");
	rp_is_pattern(mem->buf, 0, 4096);
	rp_is_pattern(mem->buf + 8192, 4096, 905);
	rp_is_untouched(mem, 8192 + 905, 3000);
	rp_v1_nothing(c);
}

RP_CASE("versions", DECISION | V1, v1_reply_chunk, "LNG-6,V1-1,LNG-5",
	"version 1 uses the Reply chunk whenever there is one")
{
	struct rp_conn *c = rp_connect();
	struct rp_mem *mem = rp_mem(c, 8192);
	struct rp_seg seg = rp_seg(mem, 0, 8192);
	uint32_t xid = rp_xid();
	struct rp_msg *m = v1(xid, 32, MSG);

	rp_file("v1", 100);
	put_reply_chunk(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "v1", 0, 100));
	rp_send(c, m);
	seg.len = NFS4_READ_HEAD + 100;
	m = v1(xid, ANY, NOMSG);
	put_reply_chunk(m, 1, &seg);
	rp_expect(c, m);
	rp_holds(mem, 0, nfs4_read_reply(xid, true, 100));
	rp_is_pattern(mem->buf + NFS4_READ_HEAD, 0, 100);
	rp_v1_nothing(c);
}

RP_CASE("versions", MUST | V1, v1_threshold, "V1-7,INL-2,CM-9,V1-2",
	"without private data a version 1 Reply has 1024 bytes at the most")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid(), fits = 1024 - 28 - NFS4_READ_HEAD;
	struct rp_msg *m;

	rp_file("v1", 4096);
	rp_send(c, v1_call(nfs4_read(xid, "v1", 0, fits)));
	m = v1_reply(nfs4_read_reply(xid, false, fits));
	put_pattern(m, 0, fits);
	rp_expect(c, m);
	xid = rp_xid();
	rp_send(c, v1_call(nfs4_read(xid, "v1", 0, fits + 4)));
	rp_expect(c, err_chunk(xid));
	rp_v1_nothing(c);
}

/* Longest message of the server: by its private data, and 4096 at the most by ours */
static uint32_t sends_v1(struct rp_conn *c)
{
	unsigned int len;
	const uint8_t *p = rp_private(c, &len);

	rp_choice(len >= 8 && !memcmp(p, c1, 5), "no private data");
	return p[6] < 3 ? 1024 * (p[6] + 1u) : 4096;
}

RP_CASE("versions", MUST | V1, cm_threshold, "CM-7,CM-6,CM-3,CM-2",
	"with private data version 1 uses the sizes in it")
{
	struct rp_conn *c = connect_private(c1, 8);
	uint32_t xid = rp_xid(), fits = sends_v1(c) - 28 - NFS4_READ_HEAD;
	struct rp_msg *m;

	rp_file("v1", 8192);
	rp_send(c, v1_call(nfs4_read(xid, "v1", 0, fits)));
	m = v1_reply(nfs4_read_reply(xid, false, fits));
	put_pattern(m, 0, fits);
	rp_expect(c, m);
	xid = rp_xid();
	rp_send(c, v1_call(nfs4_read(xid, "v1", 0, fits + 4)));
	rp_expect(c, err_chunk(xid));
	rp_v1_nothing(c);
}

RP_CASE("versions", MUST | V1, cm_answer, "CM-1,CM-2,CM-4,CM-5",
	"the server's private data")
{
	struct rp_conn *c = connect_private(c1, 8);
	unsigned int len;
	const uint8_t *p = rp_private(c, &len);

	rp_choice(len >= 8 && !memcmp(p, c1, 5), "no private data");
	rp_check(!(p[5] & 0xfe), "reserved flags %02x", p[5]);
	rp_choice(p[6] >= 3 && p[7] >= 3, "size codes %u and %u", p[6], p[7]);
	rp_v1_nothing(c);
}

RP_CASE("versions", MUST | V1, cm_any, "CM-15,CM-9,CM-10,CM-11,CM-13",
	"no private data makes the server refuse a connection")
{
	static const uint8_t data[][16] = {
		{ 0 }, { 0xf6, 0xab, 0x0e }, { 0xf6, 0xab, 0x0e, 0x18, 2 },
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		{ 0, 0, 0, 0, 0, 0xf6, 0xab, 0x0e, 0x18, 1, 0, 0 },
		{ 0xf6, 0xab, 0x0e, 0x18, 1, 0xff, 0xff, 0xff },
	};
	unsigned int i;

	for (i = 0; i < 6; i++) {
		struct rp_conn *c = connect_private(data[i], i ? 16 : 1);

		rp_v1_null(c);
		rp_close(c);
		if (rp_opt.version == 1)
			continue;
		c = connect_private(data[i], 16);
		rp_null(c);
		rp_close(c);
	}
}

RP_CASE("versions", DECISION, cm_offset, "CM-10,CM-11,D-35",
	"private data is found behind that of another layer")
{
	static const uint8_t data[] = {
		1, 2, 3, 4, 5, 0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3, 9, 9, 9,
	};
	struct rp_conn *c = connect_private(data, sizeof(data));
	uint32_t xid = rp_xid();
	struct rp_msg *m;

	rp_file("v1", 8192);
	rp_send(c, v1_call(nfs4_read(xid, "v1", 0, 2000)));
	m = v1_reply(nfs4_read_reply(xid, false, 2000));
	put_pattern(m, 0, 2000);
	rp_expect(c, m);
}

RP_CASE("versions", DECISION, cm_not_v2, "CM-14,D-28,RINV-20",
	"private data with small sizes and no flag does not touch version 2")
{
	static const uint8_t c2[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 0, 0, 0 };
	struct rp_conn *c = connect_private(c2, 8);
	struct rp_mem *mem = rp_mem_inv(c, 4096);
	struct rp_seg seg = rp_seg(mem, 0, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m;
	struct rp_rx *rx;

	rp_file("v1", 4096);
	rp_send(c, msg_call(nfs4_read(xid, "v1", 0, 3000)));
	m = msg_reply(nfs4_read_reply(xid, false, 3000));
	put_pattern(m, 0, 3000);
	rp_expect(c, m);

	xid = rp_xid();
	m = call_head(xid, MSG, mem->handle);
	put_last_write(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "v1", 0, 4096));
	rx = rp_exchange(c, m);
	rp_check(rp_word(rx->buf, 3) == MSG, "not a Reply");
	/* siw does not tell user space */
	rp_check(rp_opt.dev[0] == 's' || rx->inv == mem->handle,
		 "the handle was not invalidated");
}

RP_CASE("versions", DECISION | V1, v1_invalidate, "RINV-21,CM-8",
	"version 1 invalidates the only handle, if both sides have the flag")
{
	static const uint8_t off[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3 };
	struct rp_conn *c = connect_private(c1, 8);
	struct rp_mem *a = rp_mem_inv(c, 4096), *b = rp_mem_inv(c, 4096);
	struct rp_seg seg[2] = { rp_seg(a, 0, 4096), rp_seg(b, 0, 4096) };
	struct rp_rx *rx;
	unsigned int len;
	uint32_t xid;

	rp_file("v1", 4096);
	if (!(rp_private(c, &len)[5] & 1))
		rp_skip("the server does not offer remote invalidation");
	/* Two handles: none; one: that one */
	rx = v1_read(c, seg, 2, 4096, &xid);
	rp_check(!rx->inv, "one of two handles was invalidated");
	rx = v1_read(c, seg, 1, 4096, &xid);
	/* siw does not tell user space */
	rp_check(rp_opt.dev[0] == 's' || rx->inv == a->handle,
		 "the handle was not invalidated");
	rp_close(c);

	c = connect_private(off, 8);
	a = rp_mem_inv(c, 4096);
	seg[0] = rp_seg(a, 0, 4096);
	rx = v1_read(c, seg, 1, 4096, &xid);
	rp_check(!rx->inv, "a handle was invalidated without the flag");
	rp_v1_nothing(c);
}
