// SPDX-License-Identifier: GPL-2.0
/*
 * NFS version 4.0 as payload, with the anonymous stateid, and the pattern that
 * files hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rp.h"
#include "jobs.h"

enum {
	OP_LOOKUP = 15, OP_PUTFH = 22, OP_PUTROOTFH = 24, OP_READ = 25,
	OP_READLINK = 27, OP_WRITE = 38,
};

struct rp_msg *nfs4_call(uint32_t xid, uint32_t ops)
{
	struct rp_msg *m = rpc_call(xid, 100003, 4, 1);

	put_all(m, W(0, 0, ops));
	return m;
}

void nfs4_put_file(struct rp_msg *m, const char *file)
{
	rp_put_export(m);
	put(m, OP_LOOKUP);
	put_opaque(m, file, strlen(file));
}

uint32_t nfs4_root_op(void)
{
	return rp_opt.export && rp_opt.export[1] ? OP_PUTFH : OP_PUTROOTFH;
}

void nfs4_put_read(struct rp_msg *m, uint32_t off, uint32_t count)
{
	put_all(m, W(OP_READ, 0, 0, 0, 0));
	put_long(m, off);
	put(m, count);
}

struct rp_msg *nfs4_read(uint32_t xid, const char *file, uint32_t off,
			 uint32_t count)
{
	struct rp_msg *m = nfs4_call(xid, 3);

	nfs4_put_file(m, file);
	nfs4_put_read(m, off, count);
	return m;
}

void nfs4_put_readlink(struct rp_msg *m, const char *name)
{
	nfs4_put_file(m, name);
	put(m, OP_READLINK);
}

void nfs4_put_write(struct rp_msg *m, uint32_t off, uint32_t count)
{
	put_all(m, W(OP_WRITE, 0, 0, 0, 0));
	put_long(m, off);
	put(m, 2);				/* FILE_SYNC */
	put(m, count);
}

struct rp_msg *nfs4_write(uint32_t xid, const char *file, uint32_t off,
			  uint32_t count)
{
	struct rp_msg *m = nfs4_call(xid, 3);

	nfs4_put_file(m, file);
	nfs4_put_write(m, off, count);
	return m;
}

struct rp_msg *nfs4_reply(uint32_t xid, uint32_t ops)
{
	struct rp_msg *m = rpc_reply(xid);

	put_all(m, W(0, 0, ops));
	return m;
}

struct rp_msg *nfs4_read_reply(uint32_t xid, bool eof, uint32_t count)
{
	struct rp_msg *m = nfs4_reply(xid, 3);

	put_all(m, W(nfs4_root_op(), 0, OP_LOOKUP, 0, OP_READ, 0, eof, count));
	return m;
}

void nfs4_put_written(struct rp_msg *m, uint32_t count)
{
	put_all(m, W(OP_WRITE, 0, count, 2, ANY, ANY));
}

struct rp_msg *nfs4_write_reply(uint32_t xid, uint32_t count)
{
	struct rp_msg *m = nfs4_reply(xid, 3);

	put_all(m, W(nfs4_root_op(), 0, OP_LOOKUP, 0));
	nfs4_put_written(m, count);
	return m;
}

uint32_t rp_store(struct rp_mem *mem, uint32_t off, const struct rp_msg *rpc)
{
	uint32_t i, *w = (uint32_t *)(mem->buf + off);

	for (i = 0; i < rpc->n; i++)
		w[i] = __builtin_bswap32((uint32_t)rpc->w[i]);
	return 4 * rpc->n;
}

void rp_holds(const struct rp_mem *mem, uint32_t off,
	      const struct rp_msg *rpc)
{
	uint32_t i, w;

	for (i = 0; i < rpc->n; i++) {
		w = rp_word(mem->buf + off, i);
		rp_check(rpc->w[i] == ANY || rpc->w[i] == w,
			 "word %u in memory is %08x, not %08x", i, w,
			 (uint32_t)rpc->w[i]);
	}
}

/* ---- the pattern ---- */

void rp_fill(void *buf, uint32_t off, uint32_t len)
{
	uint8_t *b = buf;
	uint32_t i;

	for (i = 0; i < len; i++)
		b[i] = rp_pattern(off + i);
}

void put_pattern(struct rp_msg *m, uint32_t off, uint32_t len)
{
	uint8_t *b = malloc(len ? len : 1);

	rp_check(b, "no memory");
	rp_fill(b, off, len);
	put_bytes(m, b, len);
	free(b);
}

void rp_is_pattern(const void *buf, uint32_t off, uint32_t len)
{
	const uint8_t *b = buf;
	uint32_t i, j;

	for (i = 0; i < len && b[i] == rp_pattern(off + i);)
		i++;
	if (i == len)
		return;
	fprintf(stderr, "wrong data from byte %u of %u on:", i, len);
	for (j = i; j < len && j < i + 16; j++)
		fprintf(stderr, " %02x", b[j]);
	fprintf(stderr, ", not");
	for (j = i; j < len && j < i + 16; j++)
		fprintf(stderr, " %02x", rp_pattern(off + j));
	rp_fail(" ");
}

void rp_is_untouched(const struct rp_mem *mem, uint32_t off, uint32_t len)
{
	uint32_t i;

	for (i = off; i < off + len; i++)
		rp_check(mem->buf[i] == 0xa5,
			 "byte %u, which nobody should write, is %02x", i,
			 mem->buf[i]);
}
