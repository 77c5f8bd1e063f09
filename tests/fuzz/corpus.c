// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the golden vectors as seeds: DIR/wire, DIR/props, DIR/version.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../../net/sunrpc/xprtrdma2/proto/wire.h"
#include "../unit/vectors.h"

#define MAX_BYTES	512

static void write_file(const char *dir, const char *sub, const char *name,
		       const u8 *bytes, size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, sub);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, sub, name);
	f = fopen(path, "w");
	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* Both versions allowed, the message, and an end that is told apart by it */
static void write_version_seed(const char *dir, const char *name,
			       const u8 *bytes, u32 len)
{
	static const u8 ends[] = { 0xf0, 0xf1, 0xf2, 0xf1, 0xf4, 0xf3 };
	u8 seed[MAX_BYTES + 2 + sizeof(ends)];
	char answer[32];

	seed[0] = 0x0f;
	seed[1] = len;
	memcpy(seed + 2, bytes, len);
	memcpy(seed + 2 + len, ends, sizeof(ends));
	write_file(dir, "version", name, seed, 2 + len + sizeof(ends));
	/* the same as an answer to our CONNPROP, with version 2 required */
	put_unaligned_be32(0xc0de0001, seed + 2);
	seed[0] = 0x0e;
	snprintf(answer, sizeof(answer), "answer-%s", name);
	write_file(dir, "version", answer, seed, 2 + len + sizeof(ends));
}

static void write_vector(const char *dir, u32 i)
{
	const char *name = vectors[i].name;
	u8 bytes[MAX_BYTES];
	u32 j, len = vectors[i].nwords * 4;

	for (j = 0; j < vectors[i].nwords; j++)
		put_unaligned_be32(vectors[i].words[j], bytes + j * 4);
	/* a header without payload: T3 and T6 */
	if (!strcmp(name, "T3") || !strcmp(name, "T6")) {
		put_unaligned_be32(vectors[i].words[0], bytes + len);
		put_unaligned_be32(!strcmp(name, "T6"), bytes + len + 4);
		len += 8;
	}
	write_file(dir, "wire", name, bytes, len);
	write_version_seed(dir, name, bytes, len);
	if (name[0] == 'G' && len >= RPCRDMA2_PREFIX) {
		u8 seed[MAX_BYTES + 1];

		seed[0] = 0x13;
		memcpy(seed + 1, bytes, len);
		write_file(dir, "change", name, seed, len + 1);
	}
	if (name[0] == 'P' || !strcmp(name, "G1"))
		write_file(dir, "props", name, bytes + RPCRDMA2_PREFIX,
			   len - RPCRDMA2_PREFIX);
}

int main(int argc, char **argv)
{
	u32 i;

	if (argc != 2) {
		fprintf(stderr, "usage: corpus DIR\n");
		return 2;
	}
	mkdir(argv[1], 0777);
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		write_vector(argv[1], i);
	return 0;
}
