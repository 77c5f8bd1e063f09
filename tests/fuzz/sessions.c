// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the whole module in a guest, guided by coverage (tests/module/rpcrdma2_cover.c).
 * An input is a case of the conformance kit and edits of what it sends, see
 * tools/conform/peer/edit.h: as a client of our server or as a server of our client, in
 * either version. Or it is "netlink SEED" (tests/guest/src/policyfuzz.py).
 *
 * usage: rpcrdma2-fuzz INPUTS DIR SECONDS SEED DEV ADDRESS SECOND-ADDRESS
 *
 * INPUTS has one input a line, "CASE [EDIT...]". With SECONDS 0 each is run once, as it
 * is. DIR/history has every input before it runs; it is on the host, as is the clock that
 * counts SECONDS. DIR/new gets the inputs that have run something new. SPLAT in the
 * environment: messages of the kernel that are findings, unless ALLOWED matches them.
 * Exit status: 0; 1: a finding.
 */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rp.h"
#include "edit.h"
#include "jobs.h"
#include "run.h"

#define MAP_SIZE	65536
#define MAX_INPUTS	8192
#define MUTANTS		12	/* of an input that has done something new, */
#define FEW_MUTANTS	3	/* and of others, until the next one */
#define LEAK_EACH	400	/* executions */
#define MAX_ITEMS	64	/* of a message */

#define rnd(n)	((uint32_t)(random() % (n)))

/**
 * struct input - what can be run
 * @c: the case; NULL for netlink
 * @seed: for netlink
 * @edits: of the case
 * @ran: executions of it and its mutants
 */
struct input {
	struct rp_case	*c;
	unsigned int	seed;
	struct edits	edits;
	unsigned int	ran;
};

static struct input inputs[MAX_INPUTS];
static unsigned int nr_inputs;

static int dir, cover, kmsg, history;
static FILE *news;
static regex_t splat, allowed;
static uint8_t virgin[MAP_SIZE];	/* classes of counts that were seen */
static struct edit_seen *seen;
static unsigned int executions, features;

/* ---- inputs as text ---- */

static bool parse(struct input *in, const char *line)
{
	char name[64];
	int n = 0;

	memset(in, 0, sizeof(*in));
	if (sscanf(line, "netlink %u", &in->seed) == 1)
		return true;
	if (sscanf(line, "%63s%n", name, &n) != 1)
		return false;
	in->c = rp_find(name);
	return in->c && edit_parse(&in->edits, line + n);
}

static void print(const struct input *in, char text[EDIT_TEXT + 64])
{
	int n;

	if (!in->c) {
		sprintf(text, "netlink %u\n", in->seed);
		return;
	}
	n = sprintf(text, "%s ", in->c->name);
	edit_print(&in->edits, text + n);
	strcat(text, "\n");
}

static void read_inputs(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[EDIT_TEXT + 64];

	rp_check(f, "%s: %s", path, strerror(errno));
	while (nr_inputs < MAX_INPUTS && fgets(line, sizeof(line), f))
		rp_check(parse(&inputs[nr_inputs++], line), "no input: %s", line);
	fclose(f);
}

/* ---- the kernel ---- */

static void finding(const char *what)
{
	printf("finding: %s\n", what);
	exit(1);
}

static void look_at_log(void)
{
	char text[2048];
	ssize_t n;

	for (;;) {
		n = read(kmsg, text, sizeof(text) - 1);
		if (n <= 0) {
			if (n < 0 && errno == EPIPE)
				continue;
			return;
		}
		text[n] = 0;
		if (!regexec(&splat, text, 0, NULL, 0) &&
		    regexec(&allowed, text, 0, NULL, 0))
			finding(text);
	}
}

/* An object is reported when it is five seconds old. */
static void look_for_leaks(void)
{
	int fd = open("/sys/kernel/debug/kmemleak", O_RDWR);
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return;
	rp_sleep(6000);
	if (write(fd, "scan", 4) < 0 || write(fd, "scan", 4) < 0)
		finding("kmemleak has switched itself off");
	n = read(fd, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = 0;
		finding(text);
	}
	close(fd);
}

static unsigned int class_of(unsigned int count)
{
	unsigned int bit = 0;

	if (count <= 3)
		return 1 << (count - 1);
	for (bit = 3; bit < 7 && count > 1u << bit; bit++)
		;
	return 1 << bit;
}

/* Returns how much there is that no input has done before. */
static unsigned int look_at_cover(void)
{
	static uint8_t now[MAP_SIZE];
	unsigned int i, new = 0;

	rp_check(pread(cover, now, MAP_SIZE, 0) == MAP_SIZE, "no coverage");
	for (i = 0; i < MAP_SIZE; i++) {
		if (!now[i] || virgin[i] & class_of(now[i]))
			continue;
		virgin[i] |= class_of(now[i]);
		new++;
	}
	features += new;
	return new;
}

/* ---- faults ---- */

#define DEBUG	"/sys/kernel/debug/"
#define PARAM	"/sys/module/rpcrdma2/parameters/"
#define NFSD	"/proc/fs/nfsd/"
#define TESTS	"timeout -s KILL 60 /lab/tests/"

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	/* In a kernel without the framework nothing fails, and some values are refused. */
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		errno = 0;
	close(fd);
}

static void shell(const char *command)
{
	char text[256];

	sprintf(text, "{ %s; } > /dev/null 2>&1", command);
	if (system(text))
		return;		/* It may be refused, or have nothing to undo. */
}

static void write_number(const char *path, const char *name, uint32_t value)
{
	char file[96], text[16];

	sprintf(file, "%s%s", path, name);
	sprintf(text, "%u\n", value);
	write_to(file, text);
}

/**
 * struct fault - what may happen to the module: one of the first three
 * @dir: a fault of the kernel's framework
 * @file: takes a number
 * @command: of an administrator
 * @undo: command behind the session
 * @most: end of the numbers; of @dir, of its interval
 */
static const struct fault {
	const char	*dir;
	const char	*file;
	const char	*command;
	const char	*undo;
	unsigned int	most;
} fault_list[] = {
	{ .dir = DEBUG "failslab", .most = 60 },
	{ .dir = DEBUG "fail_page_alloc", .most = 30 },
	{ .dir = DEBUG "fail_rpcrdma2", .most = 30 },
	{ .dir = DEBUG "fail_rpcrdma2_map", .most = 20 },
	{ .dir = DEBUG "fail_rpcrdma2_room", .most = 5 },
	{ .file = DEBUG "fail_rpcrdma2/max_qp_wr", .most = 40 },
	{ .file = DEBUG "fail_rpcrdma2/max_cqe", .most = 800 },
	{ .file = DEBUG "fail_rpcrdma2/refuse", .most = 8 },
	{ .file = DEBUG "fail_rpcrdma2/late", .most = 2 },
	{ .file = DEBUG "fail_rpcrdma2/p2pdma", .most = 2 },
	{ .file = DEBUG "fail_rpcrdma2/accept_ms", .most = 3000 },
	{ .dir = DEBUG "fail_sunrpc", .most = 30 },
	{ .file = NFSD "max_connections", .most = 4 },
	{ .file = PARAM "adapt_seconds", .most = 4 },
	{ .file = PARAM "client_idle", .most = 4 },
	{ .file = PARAM "server_backlog", .most = 4 },
	{ .file = PARAM "server_first_credits", .most = 64 },
	{ .file = "/proc/sys/vm/drop_caches", .most = 4 },
	{ .command = TESTS "restart", .most = 1 },
	{ .command = "cat /proc/self/mountstats /sys/kernel/sunrpc/*/*/*/srcaddr",
	  .most = 1 },
	{ .command = "rpcrdma2 policy set client default fail_after 1",
	  .undo = "rpcrdma2 policy delete client default", .most = 1 },
	{ .command = TESTS "load 3 restart", .most = 1 },
	{ .command = TESTS "load 3 swap", .undo = "swapoff -a", .most = 1 },
	{ .command = TESTS "load 4.2 restart", .most = 1 },
	{ .command = TESTS "load 4.2 rest", .most = 1 },
};

#define FAULTS	(sizeof(fault_list) / sizeof(*fault_list))

/* What the files say without us */
static unsigned int normal[FAULTS];

static void read_normal(void)
{
	unsigned int i;
	FILE *f;

	for (i = 0; i < FAULTS; i++) {
		f = fault_list[i].file ? fopen(fault_list[i].file, "r") : NULL;
		if (!f)
			continue;
		if (fscanf(f, "%u", &normal[i]) != 1)
			normal[i] = 0;
		fclose(f);
	}
}

static void inject(const struct edit *e)
{
	const struct fault *f = &fault_list[e->arg[0] % FAULTS];

	if (f->command) {
		shell(f->command);
	} else if (f->file) {
		write_number(f->file, "", e->arg[1] % f->most);
	} else {
		write_number(f->dir, "/interval", 1 + e->arg[1] % f->most);
		write_number(f->dir, "/times", e->arg[2]);
		write_number(f->dir, "/probability", 100);
	}
}

/* The first connection is made before the first message, so what comes first comes twice. */
static void begin_faults(const struct edits *edits)
{
	unsigned int i;

	for (i = 0; i < edits->n; i++)
		if (edits->e[i].kind == EDIT_FAULT && !edits->e[i].step)
			inject(&edits->e[i]);
}

/* Also those of a case that was killed. */
static void end_faults(const struct edits *edits)
{
	const char *undo;
	unsigned int i;

	for (i = 0; i < edits->n; i++) {
		undo = fault_list[edits->e[i].arg[0] % FAULTS].undo;
		if (edits->e[i].kind == EDIT_FAULT && undo)
			shell(undo);
	}
	for (i = 0; i < FAULTS; i++)
		if (fault_list[i].file)
			write_number(fault_list[i].file, "", normal[i]);
		else if (fault_list[i].dir)
			write_number(fault_list[i].dir, "/probability", 0);
}

/* ---- running ---- */

static void run_netlink(const struct input *in)
{
	char command[96];

	/* tests/guest/lib/host.sh */
	sprintf(command,
		"chroot /run/host python3 /mnt/bin/policyfuzz.py %u 40 > /dev/null",
		in->seed);
	if (system(command))
		finding("policyfuzz");
}

/* A case that is killed leaves its policy behind, for all that follow. */
static void forget_policy(void)
{
	shell("for role in client server; do for all in 0.0.0.0/0 ::/0; do "
	      "rpcrdma2 policy delete $role $all; done; done");
}

static void run_session(struct input *in)
{
	const struct rp_case *c = in->c;
	struct run *r;

	rp_opt.port = run_is_client(c) ? 21000 + executions * 2 % 20000 :
					 20049;
	memset(seen, 0, sizeof(*seen));
	edit_apply(&in->edits, seen);
	begin_faults(&in->edits);
	r = run_case(in->c);
	end_faults(&in->edits);
	if (strstr(r->log->why, "does not end") || strstr(r->log->why, "killed"))
		forget_policy();
	munmap(r->log, sizeof(*r->log));
	free(r);
}

/* Returns how much new it has done. */
static unsigned int execute(struct input *in)
{
	char text[EDIT_TEXT + 64];

	print(in, text);
	rp_check(write(history, text, strlen(text)) > 0, "no history");
	rp_check(pwrite(cover, "", 1, 0) == 1, "no coverage");
	if (in->c)
		run_session(in);
	else
		run_netlink(in);
	executions++;
	in->ran++;
	/* What is left to do in the background */
	rp_sleep(5);
	look_at_log();
	if (!(executions % LEAK_EACH))
		look_for_leaks();
	return look_at_cover();
}

/* ---- messages, taken apart ---- */

/* Elements of a message: list entries, segments, properties */
struct item {
	unsigned int	at;
	unsigned int	len;
};

static unsigned int items_of_chunk(const uint32_t *w, unsigned int n,
				   unsigned int at, struct item *item,
				   unsigned int *nr)
{
	unsigned int i, len = 2;

	if (at + 1 < n && w[at + 1] < 64)
		len += 4 * w[at + 1];
	for (i = 2; i + 4 <= len && *nr + 2 < MAX_ITEMS; i += 4)
		item[(*nr)++] = (struct item){ at + i, 4 };
	item[(*nr)++] = (struct item){ at, len };
	return at + len;
}

/* Returns where the RPC message begins. */
static unsigned int items_of(const uint32_t *w, unsigned int n,
			     struct item *item, unsigned int *nr)
{
	unsigned int at = n > 1 && w[1] == 2 ? 6 : 4;

	*nr = 0;
	if (n > 5 && w[1] == 2 && w[3] > NOMSG) {
		for (at = 6; at + 1 < n && *nr < MAX_ITEMS; at += item[(*nr)++].len)
			item[*nr] = (struct item){ at, 2 + (w[at + 1] % 64 + 3) / 4 };
		return n;
	}
	while (at < n && w[at] == 1 && *nr < MAX_ITEMS) {
		item[(*nr)++] = (struct item){ at, 6 };
		at += 6;
	}
	at++;
	while (at < n && w[at] == 1 && *nr + 3 < MAX_ITEMS)
		at = items_of_chunk(w, n, at, item, nr);
	at++;
	if (at < n && w[at] == 1 && *nr + 3 < MAX_ITEMS)
		at = items_of_chunk(w, n, at, item, nr) - 1;
	return at + 1 < n ? at + 1 : n;
}

/* ---- mutation ---- */

static const uint32_t values[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 28, 32, 63, 64, 65, 100, 255, 256, 1023,
	1024, 1025, 4092, 4095, 4096, 4097, 8192, 16384, 32768, 65535, 65536, 65537,
	262144, 1 << 20, (1 << 20) + 1, 0x0fffffff, 0x10000000, 0x10000001, 0x3fffffff,
	0x40000001, 0x7fffffff, 0x80000000, 0xfffff000, 0xffffff01, 0xffffff02,
	0xffffff03, 0xffffff04, 0xfffffffc, 0xffffffff, 100003,
};

static uint32_t any_value(void)
{
	uint32_t v = values[rnd(sizeof(values) / sizeof(*values))];

	return rnd(6) ? v : rnd(2) ? 1u << rnd(32) : (uint32_t)random();
}

static enum edit_kind any_kind(void)
{
	static const unsigned char kinds[] = {
		EDIT_SET, EDIT_SET, EDIT_SET, EDIT_SET, EDIT_SET, EDIT_SET,
		EDIT_ADD, EDIT_ADD, EDIT_ADD, EDIT_LIKE, EDIT_LIKE,
		EDIT_DUP, EDIT_DUP, EDIT_DUP, EDIT_DEL, EDIT_DEL, EDIT_CUT,
		EDIT_INV, EDIT_SKIP, EDIT_TWICE, EDIT_LATE, EDIT_WAIT,
		EDIT_PLUS, EDIT_PLUS, EDIT_PLUS, EDIT_HANG, EDIT_PRIV,
		EDIT_FAULT, EDIT_FAULT, EDIT_FAULT,
	};

	return kinds[rnd(sizeof(kinds))];
}

/* A range of words: an element, or any few of them */
static struct item range(const struct item *item, unsigned int nr, unsigned int n)
{
	struct item r = { rnd(n), 1 + rnd(4) };

	if (nr && rnd(5))
		r = item[rnd(nr)];
	if (r.at + r.len > n)
		r.len = n - r.at;
	return r;
}

static void message_edit(struct edit *e)
{
	const uint32_t *w = seen->w[e->step];
	unsigned int n = seen->len[e->step], nr, header;
	struct item item[MAX_ITEMS], r;

	header = items_of(w, n, item, &nr);
	e->arg[0] = rnd(rnd(4) ? header : n);
	e->arg[1] = any_value();
	switch (e->kind) {
	case EDIT_ADD:
		e->arg[1] = rnd(3) ? (rnd(2) ? 1 : -1) * (1 + rnd(4)) : any_value();
		break;
	case EDIT_LIKE:
		e->arg[1] = rnd(n);
		break;
	case EDIT_DUP:
	case EDIT_DEL:
		r = range(item, nr, n);
		e->arg[0] = r.at;
		e->arg[1] = r.len;
		e->arg[2] = rnd(2) ? r.at : nr ? item[rnd(nr)].at : rnd(n);
		break;
	case EDIT_CUT:
		e->arg[0] = 1 + rnd(4 * n);
		break;
	case EDIT_WAIT:
		e->arg[0] = rnd(2) ? rnd(100) : rnd(20000);
		break;
	case EDIT_PLUS:
		e->arg[0] = rnd(edit_others());
		break;
	case EDIT_HANG:
		e->arg[0] = rnd(2);
		break;
	default:
		break;
	}
}

static void any_edit(struct edit *e)
{
	memset(e, 0, sizeof(*e));
	do
		e->kind = any_kind();
	while (e->kind < EDIT_PRIV && !seen->n);
	e->step = rnd(seen->n ?: 1);
	if (e->kind == EDIT_FAULT) {
		e->step = rnd(2) ? 0 : e->step;
		e->arg[0] = rnd(FAULTS);
		e->arg[1] = rnd(fault_list[e->arg[0]].most);
		e->arg[2] = rnd(2) ? 1 : 1 + rnd(20);
	} else if (e->kind == EDIT_PRIV) {
		e->step = rnd(seen->conns ?: 1);
		e->arg[0] = rnd(rnd(4) ? 8 : 56);
		e->arg[1] = rnd(256);
	} else if (seen->len[e->step]) {
		message_edit(e);
	}
}

/* @seen is what the input has sent. */
static void mutate(struct input *in)
{
	struct edits *edits = &in->edits;
	unsigned int n = 1 + (rnd(2) ? 0 : rnd(3)), at;

	in->ran = 0;
	in->seed = random();
	if (edits->n && !rnd(4)) {
		at = rnd(edits->n);
		edits->e[at] = edits->e[--edits->n];
	}
	while (n--) {
		at = edits->n == EDIT_MAX || (edits->n && !rnd(5)) ?
		     rnd(edits->n) : edits->n++;
		any_edit(&edits->e[at]);
	}
}

/* Those that ran seldom; half of the time, of the newest; at times netlink. */
static struct input *pick(void)
{
	unsigned int first = nr_inputs > 64 && rnd(2) ? nr_inputs - 64 : 0, i;
	static struct input netlink = { .seed = 1 };
	struct input *best = NULL, *in;

	if (!rnd(20))
		return &netlink;
	for (i = 0; i < 4; i++) {
		in = &inputs[first + rnd(nr_inputs - first)];
		if (!best || in->ran < best->ran)
			best = in;
	}
	return best;
}

static void keep(const struct input *in, unsigned int new)
{
	char text[EDIT_TEXT + 64];

	print(in, text);
	fprintf(news, "%u %s", new, text);
	fflush(news);
	if (nr_inputs < MAX_INPUTS)
		inputs[nr_inputs++] = *in;
}

/* Of the host, where a new file gets its time: in the guest, time is what the kernel
 * makes it (time-travel).
 */
static uint64_t host_seconds(void)
{
	struct stat st;
	int fd;

	unlinkat(dir, "clock", 0);
	fd = openat(dir, "clock", O_WRONLY | O_CREAT | O_EXCL, 0666);
	rp_check(fd >= 0 && !fstat(fd, &st), "no clock");
	close(fd);
	return st.st_mtime;
}

static void with_mutants(struct input *in, uint64_t end)
{
	static struct edit_seen base;
	struct input mutant;
	bool first = !in->ran;
	unsigned int i, new = execute(in), n = new ? MUTANTS : FEW_MUTANTS;

	if (first && new)
		printf("# %s: %u new\n", in->c ? in->c->name : "netlink", new);
	base = *seen;
	for (i = 0; i < n && host_seconds() < end; i++) {
		mutant = *in;
		*seen = base;
		mutate(&mutant);
		new = execute(&mutant);
		in->ran++;
		if (new)
			keep(&mutant, new);
	}
}

/* Of the guest, which skips the time in which nothing happens */
static unsigned int guest_seconds(void)
{
	struct timespec now;

	rp_check(!clock_gettime(CLOCK_MONOTONIC, &now), "no clock");
	return now.tv_sec;
}

static void fuzz(unsigned int seconds)
{
	uint64_t begin = host_seconds(), now = begin, said = begin;

	while (now < begin + seconds) {
		with_mutants(pick(), begin + seconds);
		now = host_seconds();
		if (now < said + 20)
			continue;
		said = now;
		printf("# %u s: %u executions, %u features, %u inputs\n",
		       (unsigned int)(now - begin), executions, features,
		       nr_inputs);
		fflush(stdout);
	}
}

static int open_in(int at, const char *path, int flags)
{
	int fd = openat(at, path, flags, 0666);

	rp_check(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

int main(int argc, char **argv)
{
	const char *messages = getenv("SPLAT"), *others = getenv("ALLOWED");
	unsigned int i, seconds, began = guest_seconds();

	rp_check(argc == 8 && messages && others &&
		 !regcomp(&splat, messages, REG_EXTENDED | REG_NOSUB) &&
		 !regcomp(&allowed, others, REG_EXTENDED | REG_NOSUB),
		 "usage: rpcrdma2-fuzz INPUTS DIR SECONDS SEED DEV ADDRESS SECOND-ADDRESS");
	read_inputs(argv[1]);
	seconds = atoi(argv[3]);
	srandom(atoi(argv[4]));
	rp_opt.dev = argv[5];
	rp_opt.addr = argv[6];
	rp_opt.second = argv[7];
	rp_opt.export = "/";
	rp_opt.module = true;
	rp_opt.version = 2;
	rp_opt.mount = "rdmaver=2";
	cover = open_in(AT_FDCWD, "/sys/kernel/debug/rpcrdma2_cover", O_RDWR);
	kmsg = open_in(AT_FDCWD, "/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kmsg, 0, SEEK_END);
	dir = open_in(AT_FDCWD, argv[2], O_RDONLY | O_DIRECTORY);
	history = open_in(dir, "history", O_WRONLY | O_CREAT | O_APPEND);
	news = fdopen(open_in(dir, "new", O_WRONLY | O_CREAT | O_APPEND), "a");
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	rp_check(news && seen != MAP_FAILED, "no memory");
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_normal();
	/* Cases say why they fail, and most do. */
	rp_check(freopen("/dev/null", "w", stderr), "no /dev/null");
	jobs_by(JOBS_HERE, 0);
	edit_fault = inject;
	if (seconds)
		fuzz(seconds);
	for (i = 0; !seconds && i < nr_inputs; i++)
		execute(&inputs[i]);
	look_for_leaks();
	printf("# %u executions, %u features, %u inputs, %u s on the guest's clock\n",
	       executions, features, nr_inputs, guest_seconds() - began);
	return 0;
}
