// SPDX-License-Identifier: GPL-2.0
/*
 * A little work in each of many directories, without a pause that is longer than
 * MILLISECONDS, and a record of when each operation was done: for how long a client is
 * without its server, and whether an operation is lost or done twice.
 *
 * usage: steady work MILLISECONDS LOG STOP DIR...
 *        steady check LOG DIR...
 *
 * Operation N of a directory is a WRITE of a block of DIR/blocks, or, if N is odd, the
 * new directory DIR/N. Neither is tried again here. LOG has a line for each that
 * has succeeded, "DIR N NANOSECONDS", since the epoch, and "repeated DIR N" where a
 * directory had been there before it was made: the server has made it twice. Work ends
 * when there is a file STOP.
 *
 * check prints "OPERATIONS LOST REPEATED" of all directories: lost is what the log has
 * and the directory has not.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK		4096
#define STACK		(128 << 10)

static const char *stop;
static useconds_t pause_us;
static FILE *log_file;

static void fill(char *block, unsigned long n)
{
	unsigned long *word = (unsigned long *)block;
	size_t i;

	for (i = 0; i < BLOCK / sizeof(*word); i++)
		word[i] = n * 2654435761ul + i;
}

static void name_of(char *path, size_t size, const char *dir, unsigned long n)
{
	if (snprintf(path, size, "%s/%lu", dir, n) >= (int)size)
		errx(2, "%s: name too long", dir);
}

static void done(const char *what, const char *dir, unsigned long n)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	fprintf(log_file, "%s%s %lu %lld%09ld\n", what, dir, n,
		(long long)ts.tv_sec, ts.tv_nsec);
}

static void write_block(int fd, const char *dir, char *block, unsigned long n)
{
	fill(block, n);
	if (pwrite(fd, block, BLOCK, (off_t)(n / 2) * BLOCK) != BLOCK)
		err(1, "%s: write %lu", dir, n);
	done("", dir, n);
}

static void make_directory(const char *dir, unsigned long n)
{
	char path[256];

	name_of(path, sizeof(path), dir, n);
	if (!mkdir(path, 0755))
		done("", dir, n);
	else if (errno == EEXIST)
		done("repeated ", dir, n);
	else
		err(1, "%s", path);
}

static int open_blocks(const char *dir, int flags)
{
	char path[256];
	int fd;

	if (snprintf(path, sizeof(path), "%s/blocks", dir) >= (int)sizeof(path))
		errx(2, "%s: name too long", dir);
	fd = open(path, flags | O_DIRECT, 0644);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void *aligned_block(void)
{
	void *block;

	if (posix_memalign(&block, BLOCK, BLOCK))
		errx(1, "no memory");
	return block;
}

static void *work(void *arg)
{
	const char *dir = arg;
	char *block = aligned_block();
	int fd = open_blocks(dir, O_WRONLY | O_CREAT | O_TRUNC);
	unsigned long n;

	for (n = 0; access(stop, F_OK); n++) {
		if (n & 1)
			make_directory(dir, n);
		else
			write_block(fd, dir, block, n);
		usleep(pause_us);
	}
	close(fd);
	free(block);
	return NULL;
}

static void work_all(char **dirs, int ndirs)
{
	pthread_t *threads = calloc(ndirs, sizeof(*threads));
	pthread_attr_t attr;
	int i;

	if (!threads)
		errx(1, "no memory");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < ndirs; i++)
		if (pthread_create(&threads[i], &attr, work, dirs[i]))
			errx(1, "no thread");
	for (i = 0; i < ndirs; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static bool there(const char *dir, unsigned long n)
{
	static char *block, *expected;
	char path[256];
	struct stat st;
	bool same;
	int fd;

	if (n & 1) {
		name_of(path, sizeof(path), dir, n);
		return !stat(path, &st) && S_ISDIR(st.st_mode);
	}
	if (!block) {
		block = aligned_block();
		expected = aligned_block();
	}
	fill(expected, n);
	fd = open_blocks(dir, O_RDONLY);
	same = pread(fd, block, BLOCK, (off_t)(n / 2) * BLOCK) == BLOCK &&
	       !memcmp(block, expected, BLOCK);
	close(fd);
	return same;
}

static bool named(const char *dir, char **dirs, int ndirs)
{
	int i;

	for (i = 0; i < ndirs; i++)
		if (!strcmp(dir, dirs[i]))
			return true;
	return false;
}

static void check_all(char **dirs, int ndirs)
{
	unsigned long n, ops = 0, lost = 0, repeated = 0;
	char line[512], dir[256];

	while (fgets(line, sizeof(line), log_file)) {
		bool twice = !strncmp(line, "repeated ", 9);

		if (sscanf(line + (twice ? 9 : 0), "%255s %lu", dir, &n) != 2)
			errx(1, "the log has %s", line);
		if (!named(dir, dirs, ndirs))
			continue;
		ops++;
		repeated += twice;
		lost += !there(dir, n);
	}
	printf("%lu %lu %lu\n", ops, lost, repeated);
}

int main(int argc, char **argv)
{
	if (argc > 5 && !strcmp(argv[1], "work")) {
		pause_us = strtoul(argv[2], NULL, 0) * 1000;
		log_file = fopen(argv[3], "w");
		if (!log_file)
			err(1, "%s", argv[3]);
		setvbuf(log_file, NULL, _IOLBF, 0);
		stop = argv[4];
		work_all(argv + 5, argc - 5);
	} else if (argc > 3 && !strcmp(argv[1], "check")) {
		log_file = fopen(argv[2], "r");
		if (!log_file)
			err(1, "%s", argv[2]);
		check_all(argv + 3, argc - 3);
	} else {
		errx(2, "usage: steady work MILLISECONDS LOG STOP DIR... | check LOG DIR...");
	}
	return 0;
}
