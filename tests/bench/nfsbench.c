// SPDX-License-Identifier: GPL-2.0
/*
 * One row of the benchmark: performs an operation again and again on a
 * mounted file system and prints how long one took.
 *
 *	nfsbench [-n OPS] [-w WARMUP] [-s SIZE] [-j JOBS] [-p]
 *		 [-c "FILE BEGIN END"]... [-r WORK] OP PATH...
 *
 * OP is getattr, read, write, random or stream on the file PATH; create,
 * unlink or metadata in the directory PATH; or run. Reads and writes are O_DIRECT, of
 * SIZE bytes at multiples of SIZE, in an order that is random and the same in
 * every run. With several PATHs the operations take turns. random reads and writes in
 * turn, a random number of pages but not more than SIZE bytes; stream reads and writes
 * in turn, through the file from its start. create makes a file, writes SIZE bytes to it
 * and closes it; unlink removes what create left; metadata does both, with four getattrs
 * in between. run lets a module do all operations at once: it writes "WORK;COUNT" to
 * PATH, which is a parameter of it (see null/).
 *
 * Prints "OPS NANOSECONDS CONTEXT-SWITCHES", the latter two as totals.
 *
 * With -j so many processes do OPS operations together, WARMUP each before
 * that.
 *
 * With -c BEGIN is written to FILE before the measured operations, END after them, so
 * that the kernel counts something meanwhile. If that is tracing, it takes time: such a
 * run is for counting.
 *
 * With -p the instruction profiler records: the program is built statically
 * at fixed addresses, and bench_begin() and bench_end() start and stop it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COUNTERS	8
#define MAX_PATHS	1024
#define PAGE		4096ul

struct bench {
	char **paths;
	unsigned int npaths;
	int fds[MAX_PATHS];
	const char *path;	/* of the next operation, as is fd */
	int fd;
	size_t size;
	unsigned long slots;	/* places of this size in the file */
	uint64_t random;
	void *buf;
	unsigned int job;
	const char *work;
};

struct op {
	const char *name;
	int flags;		/* of open(), -1: not opened before */
	void (*run)(struct bench *b, unsigned long i);
	void (*run_all)(struct bench *b, unsigned long count);
};

static struct counter {
	const char *file;
	const char *begin;
	const char *end;
} counters[MAX_COUNTERS];
static int nr_counters;

__attribute__((noinline)) void bench_begin(void)
{
	__asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) void bench_end(void)
{
	__asm__ volatile("" : : : "memory");
}

/* xorshift64: the same sequence everywhere, at the cost of a few instructions */
static unsigned long next_random(struct bench *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random >> 11;
}

static off_t next_offset(struct bench *b)
{
	return (off_t)(next_random(b) % b->slots) * b->size;
}

static void op_getattr(struct bench *b, unsigned long i)
{
	struct statx st;

	(void)i;
	if (statx(b->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
		  STATX_BASIC_STATS, &st))
		err(1, "statx");
}

static void op_read(struct bench *b, unsigned long i)
{
	(void)i;
	if (pread(b->fd, b->buf, b->size, next_offset(b)) != (ssize_t)b->size)
		err(1, "pread");
}

static void op_write(struct bench *b, unsigned long i)
{
	(void)i;
	if (pwrite(b->fd, b->buf, b->size, next_offset(b)) != (ssize_t)b->size)
		err(1, "pwrite");
}

static const char *file_name(struct bench *b, unsigned long i)
{
	static char name[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s/f%06lu", b->path,
		     b->job * 1000000ul + i) >= (int)sizeof(name))
		errx(1, "name too long");
	return name;
}

static void op_create(struct bench *b, unsigned long i)
{
	int fd = open(file_name(b, i), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		err(1, "creat");
	if (write(fd, b->buf, b->size) != (ssize_t)b->size)
		err(1, "write");
	if (close(fd))
		err(1, "close");
}

static void op_unlink(struct bench *b, unsigned long i)
{
	if (unlink(file_name(b, i)))
		err(1, "unlink");
}

static void transfer(struct bench *b, bool out, size_t size, off_t offset)
{
	ssize_t n = out ? pwrite(b->fd, b->buf, size, offset) :
			  pread(b->fd, b->buf, size, offset);

	if (n != (ssize_t)size)
		err(1, "%s", out ? "pwrite" : "pread");
}

static void op_random(struct bench *b, unsigned long i)
{
	size_t size = (next_random(b) % (b->size / PAGE) + 1) * PAGE;

	transfer(b, i & 1, size, next_offset(b));
}

static void op_stream(struct bench *b, unsigned long i)
{
	transfer(b, i & 1, b->size, (off_t)(i / 2 % b->slots) * b->size);
}

static void op_metadata(struct bench *b, unsigned long i)
{
	int j;

	op_create(b, i);
	b->fd = open(file_name(b, i), O_RDONLY);
	if (b->fd < 0)
		err(1, "open");
	for (j = 0; j < 4; j++)
		op_getattr(b, i);
	close(b->fd);
	op_unlink(b, i);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "%s: %s", path, text);
	close(fd);
}

static void op_run(struct bench *b, unsigned long count)
{
	char text[PAGE];

	snprintf(text, sizeof(text), "%s;%lu", b->work, count);
	write_text(b->paths[0], text);
}

static const struct op ops[] = {
	{ "getattr",	O_RDONLY,		op_getattr },
	{ "read",	O_RDONLY | O_DIRECT,	op_read },
	{ "write",	O_RDWR | O_DIRECT,	op_write },
	{ "create",	-1,			op_create },
	{ "unlink",	-1,			op_unlink },
	{ "random",	O_RDWR | O_DIRECT,	op_random },
	{ "stream",	O_RDWR | O_DIRECT,	op_stream },
	{ "metadata",	-1,			op_metadata },
	{ "run",	-1,			.run_all = op_run },
};

static void add_counter(char *words)
{
	struct counter *c = &counters[nr_counters++];

	if (nr_counters > MAX_COUNTERS)
		errx(2, "too many counters");
	c->file = strtok(words, " ");
	c->begin = strtok(NULL, " ");
	c->end = strtok(NULL, " ");
	if (!c->end)
		errx(2, "-c 'FILE BEGIN END'");
}

static void set_counters(bool begin)
{
	struct counter *c;

	for (c = counters; c < counters + nr_counters; c++)
		write_text(c->file, begin ? c->begin : c->end);
}

static unsigned long context_switches(void)
{
	unsigned long n = 0;
	char line[4096];
	FILE *f = fopen("/proc/stat", "r");

	if (!f)
		err(1, "/proc/stat");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "ctxt %lu", &n) == 1)
			break;
	fclose(f);
	return n;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void set_up(struct bench *b, const struct op *op)
{
	struct stat st;
	unsigned int i;

	b->buf = mmap(NULL, b->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (b->buf == MAP_FAILED)
		err(1, "mmap");
	memset(b->buf, 0xa5, b->size);
	for (i = 0; op->flags != -1 && i < b->npaths; i++) {
		b->fds[i] = open(b->paths[i], op->flags);
		if (b->fds[i] < 0 || fstat(b->fds[i], &st))
			err(1, "%s", b->paths[i]);
		b->slots = st.st_size / b->size;
		if (!b->slots)
			errx(1, "%s is too small", b->paths[i]);
	}
}

static void repeat(struct bench *b, const struct op *op, unsigned long from,
		   unsigned long count)
{
	unsigned long i;

	if (op->run_all) {
		op->run_all(b, count);
		return;
	}
	for (i = from; i < from + count; i++) {
		b->path = b->paths[i % b->npaths];
		b->fd = b->fds[i % b->npaths];
		op->run(b, i);
	}
}

static void read_all(int fd, unsigned int count)
{
	char c;

	while (count--)
		if (read(fd, &c, 1) != 1)
			errx(1, "a process has failed");
}

/* One of several processes: says that it is ready, waits for the start. */
static void job(struct bench *b, const struct op *op, unsigned long count,
		unsigned long warmup, int ready, int go)
{
	b->random ^= b->job * 0x9e3779b97f4a7c15ull;
	set_up(b, op);
	repeat(b, op, 0, warmup);
	if (write(ready, "r", 1) != 1)
		err(1, "write");
	read_all(go, 1);
	repeat(b, op, warmup, count);
	exit(0);
}

/* Several processes; returns nanoseconds from start to end. */
static uint64_t run_jobs(struct bench *b, const struct op *op,
			 unsigned int jobs, unsigned long count,
			 unsigned long warmup, bool profile, unsigned long *ctxt)
{
	int ready[2], go[2], status;
	uint64_t start;
	unsigned int i;

	if (pipe(ready) || pipe(go))
		err(1, "pipe");
	for (b->job = 0; b->job < jobs; b->job++) {
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			close(ready[0]);
			close(go[1]);
			job(b, op, count, warmup, ready[1], go[0]);
		}
	}
	close(ready[1]);
	read_all(ready[0], jobs);
	*ctxt = context_switches();
	if (profile)
		bench_begin();
	start = now();
	for (i = 0; i < jobs; i++)
		if (write(go[1], "g", 1) != 1)
			err(1, "write");
	for (i = 0; i < jobs; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a process has failed");
	start = now() - start;
	if (profile)
		bench_end();
	*ctxt = context_switches() - *ctxt;
	return start;
}

static const struct op *find_op(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	errx(2, "no operation '%s'", name);
}

int main(int argc, char **argv)
{
	struct bench b = { .size = 4096, .random = 88172645463325252ull };
	unsigned long n = 100, warmup = 10, ctxt;
	unsigned int jobs = 0;
	bool profile = false;
	const struct op *op;
	uint64_t start, end;
	int c;

	while ((c = getopt(argc, argv, "n:w:s:j:pc:r:")) != -1) {
		switch (c) {
		case 'n':
			n = strtoul(optarg, NULL, 0);
			break;
		case 'w':
			warmup = strtoul(optarg, NULL, 0);
			break;
		case 's':
			b.size = strtoul(optarg, NULL, 0);
			break;
		case 'j':
			jobs = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			profile = true;
			break;
		case 'r':
			b.work = optarg;
			break;
		case 'c':
			add_counter(optarg);
			break;
		default:
			return 2;
		}
	}
	if (optind > argc - 2 || !n || !b.size)
		errx(2, "usage: nfsbench [OPTION...] OP PATH...");
	op = find_op(argv[optind]);
	b.paths = argv + optind + 1;
	b.npaths = argc - optind - 1;
	if (b.npaths > MAX_PATHS)
		errx(2, "at most %d paths", MAX_PATHS);
	if (op->run_all && (jobs || !b.work))
		errx(2, "%s: no -j, and -r is needed", op->name);
	if (jobs) {
		n = n / jobs ? n / jobs : 1;
		start = run_jobs(&b, op, jobs, n, warmup, profile, &ctxt);
		printf("%lu %llu %lu\n", n * jobs, (unsigned long long)start, ctxt);
		return 0;
	}
	set_up(&b, op);

	repeat(&b, op, 0, warmup);
	set_counters(true);
	ctxt = context_switches();
	if (profile)
		bench_begin();
	start = now();
	repeat(&b, op, warmup, n);
	end = now();
	if (profile)
		bench_end();
	ctxt = context_switches() - ctxt;
	set_counters(false);

	printf("%lu %llu %lu\n", n, (unsigned long long)(end - start), ctxt);
	return 0;
}
