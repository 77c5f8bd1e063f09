// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that do less than they might, and are right: the server has to put
 * up with each of them.
 */
#include "rp.h"

#define DATA	12000

/* READ without chunks, in either version */
static void reads_inline(struct rp_conn *c, uint32_t vers, uint32_t count)
{
	uint32_t xid = rp_xid();
	struct rp_msg *rpc = nfs4_read(xid, "variant", 0, count), *m;

	rp_send(c, vers == 1 ? v1_call(rpc) : msg_call(rpc));
	rpc = nfs4_read_reply(xid, false, count);
	m = vers == 1 ? v1_reply(rpc) : msg_reply(rpc);
	put_pattern(m, 0, count);
	rp_expect(c, m);
}

static void writes_inline(struct rp_conn *c, uint32_t vers, uint32_t count)
{
	uint32_t xid = rp_xid();
	struct rp_msg *rpc = nfs4_write(xid, "variant", 0, count);

	put_pattern(rpc, 0, count);
	rp_send(c, vers == 1 ? v1_call(rpc) : msg_call(rpc));
	rpc = nfs4_write_reply(xid, count);
	rp_expect(c, vers == 1 ? v1_reply(rpc) : msg_reply(rpc));
}

static void without_connprop(uint32_t vers, uint32_t count)
{
	struct rp_conn *c = rp_connect();

	rp_file("variant", DATA);
	(vers == 1 ? rp_v1_null : rp_null)(c);
	reads_inline(c, vers, count);
	writes_inline(c, vers, count);
	(vers == 1 ? rp_v1_nothing : rp_nothing)(c);
}

RP_ROW("variant", MUST, variant_no_connprop_client,
	"CONN-7,CONN-11,INL-2,INL-5,VER-6",
	"a client that never sends CONNPROP: NULL, READ, WRITE of 3000 bytes",
	without_connprop(2, 3000))
RP_ROW("variant", MUST | V1, variant_version_1_client, "V1-7,V1-16,VER-19",
	"a client of version 1: NULL, READ, WRITE of 500 bytes", without_connprop(1, 500))

RP_CASE("variant", MUST, variant_no_write_chunks_client,
	"LNG-5,LNG-8,CHK-14",
	"a client without Write chunks: READ of 8000 bytes by way of a Reply chunk")
{
	struct rp_conn *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 16384);
	uint32_t xid = rp_xid();
	struct rp_seg seg = rp_seg(mem, 0, 16384);
	struct rp_msg *m = call_head(xid, MSG, 0);

	rp_file("variant", DATA);
	put_reply_chunk(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "variant", 0, 8000));
	rp_send(c, m);
	seg.len = NFS4_READ_HEAD + 8000;
	m = reply_head(xid, NOMSG);
	put_reply_chunk(m, 1, &seg);
	rp_expect(c, m);
	rp_is_pattern(mem->buf + NFS4_READ_HEAD, 0, 8000);
	rp_nothing(c);
}

/* A WRITE of @count bytes, all of it in a Position-Zero chunk */
static void writes_nomsg(struct rp_conn *c, uint32_t count)
{
	struct rp_mem *mem = rp_mem(c, 16384);
	uint32_t xid = rp_xid(), len;
	struct rp_msg *rpc = nfs4_write(xid, "variant", 0, count), *m;

	put_pattern(rpc, 0, count);
	len = rp_store(mem, 0, rpc);
	m = call_head(xid, NOMSG, 0);
	put_last_read(m, 0, rp_seg(mem, 0, len));
	rp_send(c, m);
	rp_expect(c, msg_reply(nfs4_write_reply(xid, count)));
}

RP_CASE("variant", MUST, variant_sends_less_client,
	"LNG-1,MSG-6,PROP-14,PROP-15,INL-3",
	"a client that receives 8192 bytes and sends 1024 at the most")
{
	struct rp_conn *c = rp_open_with(connprop(rp_xid(), 8192, 0));

	rp_file("variant", DATA);
	reads_inline(c, 2, 3000);
	writes_nomsg(c, 8000);
	writes_inline(c, 2, 500);
	rp_nothing(c);
}

/* The server's CM waits for a message that tells of the connection, and refuses a
 * client whose connection ends before.
 */
RP_CASE("variant", TROUBLE, variant_late_rtu_client, "VER-20,REC-1",
	"a client whose Calls come before the CM's last message is not refused")
{
	const struct rp_how how = { .no_rtu = true };
	struct rp_conn *c;
	uint32_t xid;

	if (rp_opt.dev && rp_opt.dev[0] == 's')
		rp_skip("iWARP has no such message");
	c = rp_connect_how(&how);
	rp_null(c);
	/* Another version: the server ends the connection. */
	xid = rp_xid();
	rp_send(c, v1_null_call(xid));
	rp_expect(c, err_vers(xid, 1, 2, 2));
	rp_check(!rp_rejected_within(c, 10 * RP_SILENCE), "it is refused");
}
