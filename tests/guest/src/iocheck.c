// SPDX-License-Identifier: GPL-2.0
/*
 * File work with content that can be checked: every byte is a function of a
 * seed and its offset, so that whoever knows the seed can verify any part of
 * a file, through any mount and on the server. Single-threaded user space.
 *
 * Exit status: 0 as expected, 1 wrong data or result, 2 usage.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)	((a) < (b) ? (a) : (b))

/* What tests/module/rpcrdma2_gpu.c has: halves of areas */
#define GPU_AREAS	4
#define GPU_SIZE	(2UL << 20)

/* Room for a misaligned start and a canary behind the data. */
#define SLACK		4096

enum how { BUFFERED, DIRECT, MAPPED };

static enum how how;
static uint64_t seed = 1;
static uint64_t offset;
static uint64_t length;
static uint64_t block = 1 << 20;
static uint64_t stride;
static uint64_t misalign;
static uint64_t count = 100;
static const char *gpu;		/* buffers are in the memory of this device */
static ptrdiff_t placeholder;	/* distance from a buffer to what stands for it */
static int opt_vector, opt_sync, opt_eof, opt_trunc, opt_repeat;

/* ---- pattern ---- */

static uint64_t word(uint64_t s, uint64_t i)
{
	uint64_t z = s * 0x9e3779b97f4a7c15ULL + i + 1;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void fill(unsigned char *buf, uint64_t s, uint64_t off, size_t len)
{
	uint64_t w;

	while (len && (off & 7 || len < 8)) {
		w = word(s, off >> 3);
		*buf++ = ((unsigned char *)&w)[off & 7];
		off++;
		len--;
	}
	for (; len >= 8; len -= 8, off += 8, buf += 8) {
		w = word(s, off >> 3);
		memcpy(buf, &w, 8);
	}
	if (len) {
		w = word(s, off >> 3);
		memcpy(buf, &w, len);
	}
}

static int differs(const char *what, const unsigned char *buf,
		   const unsigned char *want, uint64_t off, size_t len)
{
	size_t i, n = 0;

	if (!memcmp(buf, want, len))
		return 0;
	for (i = 0; i < len; i++)
		if (buf[i] != want[i] && n++ < 4)
			fprintf(stderr,
				"%s: byte %llu is %02x, expected %02x\n", what,
				(unsigned long long)(off + i), buf[i], want[i]);
	fprintf(stderr, "%s: %zu of %zu bytes at %llu differ\n", what, n, len,
		(unsigned long long)off);
	return 1;
}

static int verify(const char *what, const unsigned char *buf, uint64_t s,
		  uint64_t off, size_t len)
{
	unsigned char *want = malloc(len + 1);
	int rc;

	if (!want)
		err(1, "malloc");
	fill(want, s, off, len);
	rc = differs(what, buf, want, off, len);
	free(want);
	return rc;
}

/* Which area of the GPU it is depends on the seed. */
static unsigned char *gpu_buffer(size_t len)
{
	off_t area = seed % GPU_AREAS * 2 * GPU_SIZE;
	int fd = open(gpu, O_RDWR);
	unsigned char *io, *p;

	if (fd < 0 || len > GPU_SIZE)
		err(1, "%s", gpu);
	io = mmap(NULL, GPU_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, area);
	p = mmap(NULL, GPU_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 area + GPU_SIZE);
	if (io == MAP_FAILED || p == MAP_FAILED)
		err(1, "mmap %s", gpu);
	close(fd);
	placeholder = io - p;
	memset(p, 0x5a, GPU_SIZE);
	return p;
}

/* A buffer of @len bytes that starts misaligned by @shift. */
static unsigned char *buffer(size_t len, unsigned int shift)
{
	void *p;

	if (gpu)
		return gpu_buffer(len + 2 * SLACK) + shift;
	if (posix_memalign(&p, 4096, len + 2 * SLACK))
		err(1, "malloc");
	memset(p, 0x5a, len + 2 * SLACK);
	return (unsigned char *)p + shift;
}

static void unbuffer(unsigned char *p, unsigned int shift)
{
	if (!gpu)
		free(p - shift);
}

/* A reply that places more than it says would show here. */
static int overrun(const char *what, const unsigned char *buf, size_t from)
{
	size_t i;

	for (i = 0; i < 64; i++)
		if (buf[from + i] != 0x5a) {
			fprintf(stderr, "%s: bytes behind the data changed\n",
				what);
			return 1;
		}
	return 0;
}

/* ---- whole ranges ---- */

static int open_file(const char *name, int flags)
{
	int fd = open(name, flags, 0644);

	if (fd < 0)
		err(1, "open %s", name);
	return fd;
}

static int open_how(const char *name, int flags)
{
	if (how == DIRECT)
		flags |= O_DIRECT;
	if (opt_trunc)
		flags |= O_CREAT | O_TRUNC;
	return open_file(name, flags);
}

static void *map_file(const char *name, int fd, uint64_t from, uint64_t end, int prot)
{
	void *p = mmap(NULL, end - from, prot, MAP_SHARED, fd, from);

	if (p == MAP_FAILED)
		err(1, "mmap %s", name);
	return p;
}

static void write_all(int fd, const char *name, unsigned char *buf, size_t len,
		      uint64_t off)
{
	ssize_t n;

	while (len) {
		n = pwrite(fd, buf, len, off);
		if (n <= 0)
			err(1, "write %s: %zu at %llu: %zd", name, len,
			    (unsigned long long)off, n);
		buf += n;
		off += n;
		len -= n;
	}
}

/* Three odd pieces at once; with a GPU the middle one is in plain memory. */
static void write_vector(int fd, const char *name, unsigned char *buf,
			 size_t len, uint64_t off)
{
	size_t a = len / 3, b = len / 2;
	struct iovec iov[] = {
		{ buf + placeholder, a }, { buf + a, b - a },
		{ buf + b + placeholder, len - b },
	};
	ssize_t n = pwritev(fd, iov, 3, off);

	if (n < 0)
		err(1, "pwritev %s", name);
	write_all(fd, name, buf + n + placeholder, len - n, off + n);
}

static void write_mapped(int fd, const char *name)
{
	uint64_t from = offset & ~4095ULL, end = offset + length;
	struct stat st;
	unsigned char *p;

	if (fstat(fd, &st))
		err(1, "stat %s", name);
	if ((uint64_t)st.st_size < end && ftruncate(fd, end))
		err(1, "truncate %s", name);
	p = map_file(name, fd, from, end, PROT_READ | PROT_WRITE);
	fill(p + (offset - from), seed, offset, length);
	if (msync(p, end - from, MS_SYNC) || munmap(p, end - from))
		err(1, "msync %s", name);
}

static int cmd_write(char **argv)
{
	uint64_t off = offset, end = offset + length;
	/* Fresh memory is dear in some guests. */
	size_t most = MIN(block, length);
	unsigned char *buf = buffer(most, misalign);
	int fd = open_how(argv[0], O_RDWR);

	if (how == MAPPED) {
		write_mapped(fd, argv[0]);
		off = end;
	}
	while (off < end) {
		size_t n = MIN(most, end - off);

		fill(buf, seed, off, n);
		if (opt_vector)
			write_vector(fd, argv[0], buf, n, off);
		else
			write_all(fd, argv[0], buf + placeholder, n, off);
		off += stride ? stride : n;
	}
	unbuffer(buf, misalign);
	if ((opt_sync && fsync(fd)) || close(fd))
		err(1, "fsync or close %s", argv[0]);
	return 0;
}

static int check_mapped(int fd, const char *name)
{
	uint64_t from = offset & ~4095ULL, end = offset + length;
	unsigned char *p = map_file(name, fd, from, end, PROT_READ);
	int rc = verify(name, p + (offset - from), seed, offset, length);

	munmap(p, end - from);
	return rc;
}

static int cmd_check(char **argv)
{
	uint64_t off = offset, end = offset + length;
	/* With -e the last read asks for more than there is. */
	size_t most = MIN(block, opt_eof ? length + 1000 : length);
	const char *name = argv[0];
	unsigned char *buf;
	int fd = open_how(name, O_RDONLY), rc = 0;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		err(1, "stat %s", name);
	if (opt_eof && (uint64_t)st.st_size != end) {
		fprintf(stderr, "%s: %llu bytes long, expected %llu\n", name,
			(unsigned long long)st.st_size,
			(unsigned long long)end);
		return 1;
	}
	if (how == MAPPED && length)
		return check_mapped(fd, name);
	buf = buffer(most, misalign);
again:
	while (!rc && off < end) {
		size_t ask = opt_eof ? most : MIN(most, end - off);

		n = pread(fd, buf + placeholder, ask, off);
		if (n <= 0 || (uint64_t)n > end - off) {
			fprintf(stderr, "%s: read of %zu at %llu: %zd (%s)\n",
				name, ask, (unsigned long long)off, n,
				n < 0 ? strerror(errno) : "length");
			rc = 1;
			break;
		}
		rc = verify(name, buf, seed, off, n);
		off += n;
	}
	if (!rc && opt_eof) {
		n = pread(fd, buf + placeholder, most, end);
		if (n) {
			fprintf(stderr, "%s: read at the end: %zd\n", name, n);
			rc = 1;
		}
	}
	if (!rc && opt_repeat) {
		off = offset;
		goto again;
	}
	unbuffer(buf, misalign);
	close(fd);
	return rc;
}

/* ---- ranges of sizes: A, A-B or A-B/STEP ---- */

static int each(char **argv, int (*fn)(const char *arg, size_t n),
		const char *arg)
{
	unsigned long a, b, step;
	int rc = 0;

	for (; *argv; argv++) {
		char *p = *argv;

		a = strtoul(p, &p, 0);
		b = a;
		step = 1;
		if (*p == '-')
			b = strtoul(p + 1, &p, 0);
		if (*p == '/')
			step = strtoul(p + 1, &p, 0);
		if (*p || !step)
			errx(2, "bad range %s", *argv);
		for (; a <= b; a += step)
			rc |= fn(arg, a);
	}
	return rc;
}

static char path[PATH_MAX];

static const char *file_of(const char *dir, size_t n)
{
	snprintf(path, sizeof(path), "%s/f%zu", dir, n);
	return path;
}

static int put_one(const char *dir, size_t n)
{
	char *file = (char *)file_of(dir, n);

	opt_trunc = 1;
	length = n;
	seed += n;
	cmd_write(&file);
	seed -= n;
	return 0;
}

static int get_one(const char *dir, size_t n)
{
	char *file = (char *)file_of(dir, n);
	int rc;

	opt_eof = 1;
	length = n;
	seed += n;
	rc = cmd_check(&file);
	seed -= n;
	return rc;
}

/*
 * One WRITE and one READ of every length, without the page cache in between,
 * at changing offsets and from changing alignments; then a READ that asks for
 * twice the length and meets the end of the file.
 */
static int sweep_one(const char *name, size_t n)
{
	unsigned int shift = word(seed, n) % 4096;
	uint64_t off = offset + word(seed, n) % 9000;
	unsigned char *buf = buffer(2 * n, shift);
	int fd = open_file(name, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT);
	ssize_t got;
	int rc = 1;

	fill(buf, seed + n, off, n);
	got = pwrite(fd, buf, n, off);
	if (got != (ssize_t)n)
		err(1, "write of %zu at %llu: %zd", n, (unsigned long long)off,
		    got);
	memset(buf, 0x5a, n);
	got = pread(fd, buf, n, off);
	if (got != (ssize_t)n)
		err(1, "read of %zu at %llu: %zd", n, (unsigned long long)off,
		    got);
	if (verify("sweep", buf, seed + n, off, n) || overrun("sweep", buf, n))
		goto out;
	memset(buf, 0x5a, 2 * n);
	got = pread(fd, buf, 2 * n, off + n / 3);
	if (got != (ssize_t)(n - n / 3)) {
		fprintf(stderr, "short read of %zu at %llu: %zd\n", 2 * n,
			(unsigned long long)off + n / 3, got);
		goto out;
	}
	if (verify("end of file", buf, seed + n, off + n / 3, got) ||
	    overrun("end of file", buf, 2 * n))
		goto out;
	rc = 0;
out:
	if (rc)
		fprintf(stderr, "length %zu offset %llu buffer %u\n", n,
			(unsigned long long)off, shift);
	unbuffer(buf, shift);
	if (close(fd))
		err(1, "close %s", name);
	return rc;
}

/* ---- random operations against a copy in memory ---- */

static uint64_t rnd_state;

static uint64_t rnd(uint64_t below)
{
	return word(seed, rnd_state++) % below;
}

/* Mostly small, now and then anything up to @max. */
static size_t rnd_len(size_t max)
{
	static const unsigned int scale[] = { 64, 1200, 5000, 9000, 70000 };
	size_t i = rnd(ARRAY_SIZE(scale) + 1);

	return 1 + rnd(i < ARRAY_SIZE(scale) ? MIN(scale[i], max) : max);
}

static int cmd_random(char **argv)
{
	size_t max = length ? length : 300000, size = 0, len, off;
	const char *name = argv[0];
	unsigned char *copy, *buf, *map, *io;
	unsigned int i, shift, op;
	int fd[2], rc = 0, f;
	char what[80];
	ssize_t n;

	copy = calloc(1, max);
	buf = buffer(max, 0);
	fd[0] = open_file(name, O_RDWR | O_CREAT | O_TRUNC);
	fd[1] = open_file(name, O_RDWR | O_DIRECT);
	if (!copy)
		err(1, "malloc");
	for (i = 0; !rc && i < count; i++) {
		off = rnd(max);
		len = rnd_len(max);
		len = MIN(len, max - off);
		shift = rnd(2) ? 0 : rnd(4096);
		f = fd[rnd(2)];
		io = buf + shift % SLACK + (f == fd[1] ? placeholder : 0);
		op = rnd(16);
		snprintf(what, sizeof(what), "step %u: op %u at %zu, %zu%s", i,
			 op, off, len, f == fd[1] ? " direct" : "");
		if (op < 6) {
			fill(buf + shift % SLACK, seed + i, off, len);
			n = pwrite(f, io, len, off);
			if (n != (ssize_t)len)
				err(1, "%s: write %zd", what, n);
			memcpy(copy + off, buf + shift % SLACK, len);
			if (off + len > size)
				size = off + len;
		} else if (op < 12) {
			size_t want = off < size ? MIN(len, size - off) : 0;

			n = pread(f, io, len, off);
			if (n != (ssize_t)want) {
				warn("%s: read %zd of %zu, size %zu", what, n,
				     want, size);
				rc = 1;
				break;
			}
			rc = differs(what, buf + shift % SLACK, copy + off, off,
				     want);
		} else if (op == 12) {
			if (ftruncate(fd[0], off))
				err(1, "%s: truncate", what);
			if (off < size)
				memset(copy + off, 0, size - off);
			size = off;
		} else if (op == 13) {
			if (fsync(f))
				err(1, "%s: fsync", what);
		} else if (size) {
			/* Through a mapping: half of these only read. */
			map = map_file(what, fd[0], 0, size, PROT_READ | PROT_WRITE);
			if (op == 14) {
				off %= size;
				len = MIN(len, size - off);
				fill(map + off, seed + i, off, len);
				memcpy(copy + off, map + off, len);
			} else {
				rc = differs(what, map, copy, 0, size);
			}
			/* Direct I/O must not meet dirty mapped pages. */
			if (msync(map, size, MS_SYNC) || munmap(map, size))
				err(1, "%s: msync", what);
		}
	}
	if (!rc) {
		if (fsync(fd[0]))
			err(1, "fsync %s", name);
		n = pread(fd[1], buf + placeholder, max, 0);
		if (n != (ssize_t)size) {
			warnx("%s: %zd at the end, expected %zu", name, n, size);
			rc = 1;
		} else {
			rc = differs("end", buf, copy, 0, size);
		}
	}
	if (close(fd[0]) || close(fd[1]))
		err(1, "close %s", name);
	/* For whoever wants to compare: the copy, as a plain file. */
	if (!rc && argv[1]) {
		f = open_file(argv[1], O_WRONLY | O_CREAT | O_TRUNC);
		write_all(f, argv[1], copy, size, 0);
		close(f);
	}
	unbuffer(buf, 0);
	free(copy);
	return rc;
}

/* ---- locks ---- */

static struct flock lock_of(char **argv)
{
	struct flock fl = {
		.l_type = argv[3][0] == 'r' ? F_RDLCK : F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = strtoull(argv[1], NULL, 0),
		.l_len = strtoull(argv[2], NULL, 0),
	};

	return fl;
}

/* lock FILE OFF LEN r|w: says "locked" and holds it until its input ends. */
static int cmd_lock(char **argv)
{
	struct flock fl = lock_of(argv);
	int fd = open_file(argv[0], O_RDWR);
	char c;

	if (fcntl(fd, F_SETLKW, &fl))
		err(1, "lock");
	puts("locked");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

/* trylock FILE OFF LEN r|w: prints "free" (and lets go again) or "held". */
static int cmd_trylock(char **argv)
{
	struct flock fl = lock_of(argv);
	int fd = open_file(argv[0], O_RDWR);

	if (!fcntl(fd, F_SETLK, &fl)) {
		puts("free");
		return 0;
	}
	if (errno != EAGAIN && errno != EACCES)
		err(1, "lock");
	puts("held");
	return 0;
}

/* getlock FILE OFF LEN r|w: prints "free" or "held START LEN TYPE". */
static int cmd_getlock(char **argv)
{
	struct flock fl = lock_of(argv);
	int fd = open_file(argv[0], O_RDWR);

	if (fcntl(fd, F_GETLK, &fl))
		err(1, "getlk");
	if (fl.l_type == F_UNLCK)
		puts("free");
	else
		printf("held %lld %lld %c\n", (long long)fl.l_start,
		       (long long)fl.l_len, fl.l_type == F_RDLCK ? 'r' : 'w');
	return 0;
}

/* ---- names, symbolic links, directories ---- */

static void name_of(char *buf, uint64_t s, size_t len)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = chars[word(s, i) % (sizeof(chars) - 1)];
	buf[len] = 0;
}

/* The target of a link that is as long as @n */
static void target_of(char *buf, size_t n)
{
	size_t i;

	name_of(buf, seed + n, n);
	for (i = 200; i < n; i += 200)
		buf[i] = '/';
}

static int link_one(const char *dir, size_t n)
{
	char target[PATH_MAX + 1];

	target_of(target, n);
	if (symlink(target, file_of(dir, n)))
		err(1, "symlink of %zu bytes", n);
	return 0;
}

static int readlink_one(const char *dir, size_t n)
{
	char target[PATH_MAX + 1], got[PATH_MAX + 1];
	struct stat st;
	ssize_t len;

	target_of(target, n);
	len = readlink(file_of(dir, n), got, sizeof(got));
	if (len < 0)
		err(1, "readlink of %zu bytes", n);
	if (lstat(path, &st) || (size_t)st.st_size != n) {
		fprintf(stderr, "link of %zu bytes: size %lld\n", n,
			(long long)st.st_size);
		return 1;
	}
	if ((size_t)len != n || memcmp(got, target, n)) {
		fprintf(stderr, "link of %zu bytes: %zd, wrong text\n", n, len);
		return 1;
	}
	return 0;
}

/* -n COUNT files with names of -l LEN characters, numbered at the front. */
static void entry_name(char *buf, unsigned int i)
{
	int n = sprintf(buf, "%06u-", i);

	if (length > (uint64_t)n)
		name_of(buf + n, seed + i, length - n);
}

static int cmd_fill(char **argv)
{
	char name[NAME_MAX + 1];
	unsigned int i;
	int dir = open_file(argv[0], O_DIRECTORY), fd;

	for (i = 0; i < count; i++) {
		entry_name(name, i);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0 || close(fd))
			err(1, "create %s", name);
	}
	return 0;
}

/* A name that has been found: one of these, and not twice */
static void saw(const char *name)
{
	static char *seen;
	unsigned int i = strtoul(name, NULL, 10);
	char want[NAME_MAX + 1];

	if (!seen)
		seen = calloc(1, count);
	if (!seen || i >= count)
		errx(1, "unexpected name %s", name);
	entry_name(want, i);
	if (strcmp(name, want))
		errx(1, "wrong name %s, expected %s", name, want);
	if (seen[i]++)
		errx(1, "%s twice", name);
}

/* Exactly these names, each once; -e: also what stat() says about them. */
static int cmd_list(char **argv)
{
	DIR *dir = opendir(argv[0]);
	unsigned long long seen = 0;
	struct dirent *de;
	struct stat st;

	if (!dir)
		err(1, "%s", argv[0]);
	while (errno = 0, (de = readdir(dir))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		saw(de->d_name);
		seen++;
		if (opt_eof && (fstatat(dirfd(dir), de->d_name, &st, 0) ||
				!S_ISREG(st.st_mode) || st.st_size))
			errx(1, "stat %s", de->d_name);
	}
	if (errno)
		err(1, "readdir");
	closedir(dir);
	if (seen != count)
		errx(1, "%llu names, expected %llu", seen, (unsigned long long)count);
	return 0;
}

static int cmd_empty(char **argv)
{
	char name[NAME_MAX + 1];
	unsigned int i;
	int dir = open_file(argv[0], O_DIRECTORY);

	for (i = 0; i < count; i++) {
		entry_name(name, i);
		if (unlinkat(dir, name, 0))
			err(1, "unlink %s", name);
	}
	return 0;
}

/* ---- extended attributes and NFSv4 ACLs ---- */

static int setxattr_one(const char *file, size_t n)
{
	unsigned char *buf = buffer(n, 0);
	char name[64];

	snprintf(name, sizeof(name), "user.x%zu", n % 4);
	fill(buf, seed + n, 0, n);
	if (setxattr(file, name, buf, n, 0))
		err(1, "setxattr of %zu bytes", n);
	unbuffer(buf, 0);
	return 0;
}

static int getxattr_one(const char *file, size_t n)
{
	unsigned char *buf = buffer(65536, 0);
	char name[64];
	ssize_t got;
	int rc;

	snprintf(name, sizeof(name), "user.x%zu", n % 4);
	got = getxattr(file, name, buf, 65536);
	if (got != (ssize_t)n) {
		warn("getxattr of %zu bytes: %zd", n, got);
		rc = 1;
	} else {
		rc = verify(name, buf, seed + n, 0, n);
	}
	/* A buffer that is a byte too small. */
	if (!rc && n > 1 && (getxattr(file, name, buf, n - 1) != -1 ||
			     errno != ERANGE)) {
		warn("getxattr of %zu bytes into %zu", n, n - 1);
		rc = 1;
	}
	unbuffer(buf, 0);
	return rc;
}

/* xattr FILE OTHER RANGE...: set on FILE, read from FILE and from OTHER. */
static int xattr_one(const char *file, size_t n)
{
	return setxattr_one(file, n) || getxattr_one(file, n) ||
	       getxattr_one(path, n);
}

static int cmd_xattr(char **argv)
{
	snprintf(path, sizeof(path), "%s", argv[1]);
	return each(argv + 2, xattr_one, argv[0]);
}

static char *put_u32(char *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
	return p + 4;
}

static char *put_ace(char *p, uint32_t mask, const char *who)
{
	size_t len = strlen(who);

	p = put_u32(p, 0);		/* ALLOW */
	p = put_u32(p, 0);		/* flags */
	p = put_u32(p, mask);
	p = put_u32(p, len);
	memset(p, 0, (len + 3) & ~3);
	memcpy(p, who, len);
	return p + ((len + 3) & ~3);
}

/* nfs4acl FILE COUNT: OWNER@, GROUP@, EVERYONE@ and COUNT users may read. */
static int cmd_nfs4acl(char **argv)
{
	unsigned int n = strtoul(argv[1], NULL, 0), i, found = 0, aces;
	char *buf = calloc(1, 65536), *p = buf, who[16];
	ssize_t len;
	uint32_t v;

	p = put_u32(p, n + 3);
	p = put_ace(p, 0x16019f, "OWNER@");
	for (i = 0; i < n; i++) {
		snprintf(who, sizeof(who), "%u", 1000000 + i);
		p = put_ace(p, 0x120081, who);
	}
	p = put_ace(p, 0x120081, "GROUP@");
	p = put_ace(p, 0x120081, "EVERYONE@");
	if (setxattr(argv[0], "system.nfs4_acl", buf, p - buf, 0))
		err(1, "set ACL of %u entries", n + 3);

	memset(buf, 0, 65536);
	len = getxattr(argv[0], "system.nfs4_acl", buf, 65536);
	if (len < 4)
		err(1, "get ACL of %u entries: %zd", n + 3, len);
	memcpy(&v, buf, 4);
	aces = ntohl(v);
	for (i = 0, p = buf + 4; i < aces; i++) {
		size_t wholen;

		memcpy(&v, p + 12, 4);
		wholen = ntohl(v);
		if (p + 16 + wholen > buf + len)
			errx(1, "ACL cut short");
		snprintf(who, sizeof(who), "%.*s", (int)MIN(wholen, 15),
			 p + 16);
		memcpy(&v, p, 4);
		if (!v && strtoul(who, NULL, 10) == 1000000 + found)
			found++;
		p += 16 + ((wholen + 3) & ~3);
	}
	printf("%zd bytes, %u entries\n", len, aces);
	if (p != buf + len || found != n)
		errx(1, "%u of %u users in the ACL, %zd bytes", found, n, len);
	free(buf);
	return 0;
}

/* ---- memory ---- */

/* A line of a file in /proc, in bytes. */
static uint64_t proc_bytes(const char *file, const char *name)
{
	FILE *f = fopen(file, "r");
	unsigned long kib = 0;
	char line[128];

	if (!f)
		err(1, "%s", file);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = strtoul(line + strlen(name), NULL, 10);
	fclose(f);
	return kib * 1024ULL;
}

/* Memory that is written out, and read in and checked after somebody has
 * opened the FIFO for writing. What was written stays in the swap cache, until
 * it is put out a second time, being clean.
 */
static int cmd_swap(char **argv)
{
	volatile unsigned char *touch;
	uint64_t i;
	unsigned char *p = mmap(NULL, length, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	fill(p, seed, 0, length);
	for (touch = p;;) {
		if (madvise(p, length, MADV_PAGEOUT))
			err(1, "MADV_PAGEOUT");
		usleep(20000);
		if (proc_bytes("/proc/self/status", "VmSwap:") >= length / 2 &&
		    proc_bytes("/proc/meminfo", "SwapCached:") < length / 4)
			break;
		for (i = 0; i < length; i += 4096)
			(void)touch[i];
	}
	puts("it is out");
	fflush(stdout);
	close(open(argv[0], O_RDONLY));
	return verify("memory", p, seed, 0, length);
}

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static unsigned char *churned(const char *name)
{
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	unsigned char *p;

	if (strcmp(name, "-")) {
		opt_trunc = 1;
		flags = MAP_SHARED;
		fd = open_how(name, O_RDWR);
		if (ftruncate(fd, length))
			err(1, "truncate %s", name);
	}
	p = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (p == MAP_FAILED)
		err(1, "mmap %s", name);
	return p;
}

/* Memory, or that of a file, is checked and filled anew, block by block and
 * over and over, until SIGTERM. Says how much that was, how long the longest
 * step took, and which seed the content has now.
 */
static int cmd_churn(char **argv)
{
	unsigned char *p = churned(argv[0]);
	uint64_t off, n, start, took, longest = 0, bytes = 0, s = seed;

	signal(SIGTERM, end);
	for (; !ended || !bytes; s++)
		for (off = 0; off < length; off += n) {
			n = MIN(block, length - off);
			start = now_ms();
			if (s > seed && verify(argv[0], p + off, s - 1, off, n))
				return 1;
			fill(p + off, s, off, n);
			took = now_ms() - start;
			if (took > longest)
				longest = took;
			bytes += n;
		}
	for (off = 0; off < length; off += n) {
		n = MIN(block, length - off);
		if (verify(argv[0], p + off, s - 1, off, n))
			return 1;
	}
	if (msync(p, length, MS_SYNC))
		err(1, "%s", argv[0]);
	printf("churned %llu bytes, longest step %llu ms, seed %llu\n",
	       (unsigned long long)bytes, (unsigned long long)longest,
	       (unsigned long long)(s - 1));
	return 0;
}

static const struct {
	const char *name;
	int nargs;
	int (*fn)(char **argv);
	int (*each)(const char *arg, size_t n);	/* of ranges, the last arguments */
} commands[] = {
	{ "write", 1, .fn = cmd_write },			/* FILE */
	{ "check", 1, .fn = cmd_check },			/* FILE */
	{ "put", 2, .each = put_one },			/* DIR RANGE... */
	{ "get", 2, .each = get_one },
	{ "sweep", 2, .each = sweep_one },		/* FILE RANGE... */
	{ "random", 1, .fn = cmd_random },			/* FILE [COPY] */
	{ "lock", 4, .fn = cmd_lock },			/* FILE OFF LEN r|w */
	{ "trylock", 4, .fn = cmd_trylock },
	{ "getlock", 4, .fn = cmd_getlock },
	{ "symlink", 2, .each = link_one },		/* DIR RANGE... */
	{ "readlink", 2, .each = readlink_one },
	{ "fill", 1, .fn = cmd_fill },			/* DIR */
	{ "list", 1, .fn = cmd_list },
	{ "empty", 1, .fn = cmd_empty },
	{ "xattr", 3, .fn = cmd_xattr },			/* FILE OTHER RANGE... */
	{ "setxattr", 2, .each = setxattr_one },	/* FILE RANGE... */
	{ "getxattr", 2, .each = getxattr_one },
	{ "nfs4acl", 2, .fn = cmd_nfs4acl },			/* FILE COUNT */
	{ "swap", 1, .fn = cmd_swap },			/* FIFO */
	{ "churn", 1, .fn = cmd_churn },			/* FILE, or - for memory alone */
};

static void usage(void)
{
	size_t i;

	fprintf(stderr,
		"usage: iocheck COMMAND [-d|-m] [-v] [-s SEED] [-o OFFSET]\n"
		"       [-l LENGTH] [-b BLOCK] [-p STRIDE] [-a MISALIGN]\n"
		"       [-n COUNT] [-e] [-t] [-y] [-r] [-G DEVICE] ARGUMENT...\n"
		"-d O_DIRECT, -m mmap, -v pwritev, -e expect end of file,\n"
		"-t create or truncate, -y fsync, -r check until killed,\n"
		"-G write and check from and to the memory of this GPU;\n"
		"commands:");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(stderr, " %s", commands[i].name);
	fputs("\n", stderr);
	exit(2);
}

static const struct {
	char letter;
	uint64_t *number;
} numbers[] = {
	{ 's', &seed }, { 'o', &offset }, { 'l', &length }, { 'b', &block },
	{ 'p', &stride }, { 'a', &misalign }, { 'n', &count },
};

static void option(int c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].letter == c)
			*numbers[i].number = strtoull(optarg, NULL, 0);
	switch (c) {
	case 'd':
		how = DIRECT;
		break;
	case 'm':
		how = MAPPED;
		break;
	case 'v':
		opt_vector = 1;
		break;
	case 'G':
		gpu = optarg;
		break;
	case '?':
		usage();
	}
	opt_eof |= c == 'e';
	opt_trunc |= c == 't';
	opt_sync |= c == 'y';
	opt_repeat |= c == 'r';
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t i;
	int c;

	argv++;
	argc--;
	while ((c = getopt(argc, argv, "+dmvs:o:l:b:p:a:n:etyrG:")) != -1)
		option(c);
	misalign %= SLACK;
	argv += optind;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name)) {
			if (argc - optind < commands[i].nargs)
				usage();
			return commands[i].fn ? commands[i].fn(argv) :
			       each(argv + 1, commands[i].each, argv[0]);
		}
	usage();
}
