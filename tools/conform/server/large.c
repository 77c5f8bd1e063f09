// SPDX-License-Identifier: GPL-2.0
/*
 * As many bytes in one WRITE, and in one READ, as nfsd takes.
 */
#include <string.h>

#include "rp.h"

static void there_and_back(const char *file, uint32_t bytes)
{
	struct rp_conn *c = rp_open();
	struct rp_mem *out = rp_mem(c, bytes), *in = rp_mem(c, bytes);
	struct rp_seg seg = rp_seg(in, 0, bytes);
	struct rp_msg *rpc;
	uint32_t xid;

	rp_file(file, 0);
	rp_fill(out->buf, 0, bytes);
	xid = rp_xid();
	rpc = nfs4_write(xid, file, 0, bytes);
	rp_send(c, call_with_read(rpc, 4 * rpc->n, rp_seg(out, 0, bytes)));
	rp_expect(c, msg_reply(nfs4_write_reply(xid, bytes)));

	xid = rp_xid();
	rp_send(c, call_with_write(nfs4_read(xid, file, 0, bytes), 1, &seg));
	rp_expect(c, reply_with_write(nfs4_read_reply(xid, true, bytes), 1, &seg));
	rp_check(!memcmp(in->buf, out->buf, bytes), "other data came back");
	rp_nothing(c);
}

RP_ROW("large", TROUBLE, large_1m, "CHK-24",
	"1 MiB in one Read chunk, and back in one Write chunk",
	there_and_back("large1", 1 << 20))
RP_ROW("large", TROUBLE, large_4m, "CHK-24",
	"4 MiB in one Read chunk, and back in one Write chunk",
	there_and_back("large4", 4 << 20))
