// SPDX-License-Identifier: GPL-2.0
/*
 * REC: a Call that is sent again on another connection, in another form or
 * version, is executed once.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "rp.h"

/* Replies that nfsd has taken from its duplicate request cache */
static unsigned long cache_hits(void)
{
	FILE *f = fopen("/proc/net/rpc/nfsd", "r");
	unsigned long n = 0;

	rp_check(f && fscanf(f, "rc %lu", &n) == 1,
		 "no statistics of the reply cache");
	fclose(f);
	return n;
}

/* Nothing was written since somebody emptied the file. */
static void still_empty(const char *name)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/export/%s", name);
	rp_check(!stat(path, &st), "%s is gone", name);
	rp_check(!st.st_size, "the WRITE was executed again");
}

/* What comes after the header of a MSG: a WRITE with its data */
static struct rp_msg *write_inline(uint32_t xid, const char *name, uint32_t len)
{
	struct rp_msg *rpc = nfs4_write(xid, name, 0, len);

	put_pattern(rpc, 0, len);
	return rpc;
}

static struct rp_msg *write_chunk(struct rp_conn *c, uint32_t xid,
				  const char *name, uint32_t len)
{
	struct rp_mem *mem = rp_mem(c, len);
	struct rp_msg *m, *rpc = nfs4_write(xid, name, 0, len);

	rp_fill(mem->buf, 0, len);
	m = call_with_read(rpc, 4 * rpc->n, rp_seg(mem, 0, len));
	return m;
}

/* The same Call on a new connection: a Reply, but no second execution */
static void again(struct rp_conn *c, const struct rp_msg *m, const char *name,
		  const struct rp_msg *want)
{
	unsigned long before = cache_hits();

	rp_file(name, 0);
	rp_send(c, m);
	rp_expect(c, want);
	rp_check(cache_hits() == before + 1, "not from the reply cache");
	still_empty(name);
	rp_close(c);
}

static void resent(uint32_t len)
{
	struct rp_conn *c = rp_open();
	uint32_t xid = rp_xid();
	struct rp_mem *data;
	char name[32];

	snprintf(name, sizeof(name), "drc%u", len);
	rp_file(name, 0);
	rp_send(c, write_chunk(c, xid, name, len));
	rp_expect(c, msg_reply(nfs4_write_reply(xid, len)));
	data = rp_mem(c, len);
	rp_fill(data->buf, 0, len);
	rp_file_is(name, 0, data->buf, len);
	rp_close(c);

	c = rp_open();
	again(c, write_chunk(c, xid, name, len), name,
	      msg_reply(nfs4_write_reply(xid, len)));
	again(rp_open(), msg_call(write_inline(xid, name, len)), name,
	      msg_reply(nfs4_write_reply(xid, len)));
	again(rp_connect(), v1_call(write_inline(xid, name, len)), name,
	      v1_reply(nfs4_write_reply(xid, len)));
}

RP_ROW("replay", TROUBLE | MODULE, drc_write, "REC-2,V1-16,HDR-8",
	"a WRITE in a chunk, again inline and as version 1: executed once (F-7)",
	resent(3000))
RP_ROW("replay", TROUBLE | MODULE, drc_write_padded, "REC-2,V1-16,LNG-10",
	"the same with a length that takes padding (F-7)", resent(3001))
