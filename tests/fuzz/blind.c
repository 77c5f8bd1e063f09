// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for libFuzzer where clang's is not installed: changes the seeds
 * at random, without seeing which code they reach. The sequence is the same
 * in every run.
 *
 * usage: blind SECONDS FILE...
 */

#include <time.h>

#include "fuzz.h"

#define MAX_BYTES	4096
#define MAX_SEEDS	256

static struct {
	u8	*data;
	size_t	size;
} seeds[MAX_SEEDS];
static size_t nseeds;

static u64 state = 0x9e3779b97f4a7c15ULL;

static u64 rnd(u64 below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? state % below : 0;
}

static void load(const char *path)
{
	u8 buf[MAX_BYTES];
	FILE *f = fopen(path, "r");
	size_t size;

	CHECK(f && nseeds < MAX_SEEDS);
	size = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	seeds[nseeds].data = exact_copy(buf, size);
	seeds[nseeds++].size = size;
}

static size_t mutate(u8 *buf, size_t size)
{
	static const u32 words[] = {
		0, 1, 2, 3, 4, 0x0fffffff, 0x10000001, 0x7fffffff,
		0x80000000, 0xffffff01, 0xffffffff,
	};
	size_t at = rnd(size / 4) * 4;

	switch (rnd(5)) {
	case 0:
		if (size)
			buf[rnd(size)] ^= 1 << rnd(8);
		break;
	case 1:
		if (size >= 4)
			put_unaligned_be32(words[rnd(ARRAY_SIZE(words))],
					   buf + at);
		break;
	case 2:
		return rnd(size + 1);
	case 3:				/* say something twice */
		if (size >= 4 && size + 24 <= MAX_BYTES) {
			size_t n = min_t(size_t, 24, size - at);

			memmove(buf + at + n, buf + at, size - at);
			return size + n;
		}
		break;
	case 4:				/* leave something out */
		if (size >= 4) {
			memmove(buf + at, buf + at + 4, size - at - 4);
			return size - 4;
		}
		break;
	}
	return size;
}

int main(int argc, char **argv)
{
	u8 buf[MAX_BYTES];
	u64 n, runs = 0;
	time_t end;
	size_t size;
	int i;

	CHECK(argc > 2);
	for (i = 2; i < argc; i++)
		load(argv[i]);
	for (i = 0; i < (int)nseeds; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);

	for (end = time(NULL) + atoi(argv[1]); time(NULL) < end; runs++) {
		i = rnd(nseeds);
		size = seeds[i].size;
		memcpy(buf, seeds[i].data, size);
		for (n = rnd(8) + 1; n; n--)
			size = mutate(buf, size);
		LLVMFuzzerTestOneInput(buf, size);
	}
	fprintf(stderr, "%llu runs\n", (unsigned long long)runs);
	for (i = 0; i < (int)nseeds; i++)
		free(seeds[i].data);
	return 0;
}
