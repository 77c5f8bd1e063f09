// SPDX-License-Identifier: GPL-2.0
/*
 * Plugin of qemu's instruction translator: counts what the guest executes
 * between two addresses of a program, by translated block. In the counted
 * guest an instruction is a nanosecond, so this is an exact profile.
 *
 *	-plugin FILE,begin=ADDRESS,end=ADDRESS,out=FILE[,device=on][,lines=on]
 *
 * Each time the guest comes to the end address after the begin address, one
 * section goes to the output:
 *
 *	section
 *	ADDRESS EXECUTIONS INSTRUCTIONS		(hexadecimal, decimal, decimal)
 *
 * Everything below the kernel's half of the address space is one entry, with
 * address 0.
 *
 * With "device=on" a block has a line for each CPU, with a fourth word, "cpu0", and one,
 * "device", for what runs between the two instructions by which adapter/hw.c marks its
 * hardware. That is slower.
 *
 * With "lines=on" too, the fifth word is a number of cache lines: how often the instruction
 * at that address has read or written what this CPU did not have, or has written what
 * another CPU had as well. The caches of this model are of any size, so a line comes only if
 * another CPU or the device has written it, or, the first time, read it. Only the kernel's
 * addresses count.
 *
 * Debian packages no header for plugins; what is needed of the interface,
 * version 1, is declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { CB_NO_REGS };
enum { INLINE_ADD_U64 };
enum { MEM_RW = 3 };

typedef void (*exec_cb)(unsigned int vcpu, void *data);
typedef void (*mem_cb)(unsigned int vcpu, uint32_t info, uint64_t addr, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
		void (*cb)(plugin_id id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
		int op, void *ptr, uint64_t imm);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_cb cb,
		int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		exec_cb cb, int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb cb,
		int flags, int rw, void *data);
bool qemu_plugin_mem_is_store(uint32_t info);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
		size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

#define CPUS	7	/* a cache line has a bit for each, and one for the device */
#define DEVICE	CPUS

/* Of a block: what was counted on each CPU, and inside of the device. Without device=on the
 * first CPU has all.
 */
struct block {
	uint64_t addr;
	uint64_t execs[CPUS + 1];
	uint64_t insns[CPUS + 1];
	uint64_t lines[CPUS + 1];
	struct block *next;
};

/* A block in one of its translations */
struct run {
	struct block *block;
	uint64_t insns;
};

#define BUCKETS		65536
#define REGION_SHIFT	21	/* bytes, as a power of two */
#define LINE_SHIFT	6

/* Part of the address space: for each cache line the CPUs that hold a copy, a bit each */
struct region {
	uint64_t addr;
	uint8_t has[1 << (REGION_SHIFT - LINE_SHIFT)];
	struct region *next;
};

/* Blocks are never freed: translated code points into them. */
static struct block *blocks[BUCKETS];
static uint64_t begin_addr, end_addr;
static struct region *regions[BUCKETS];
static bool recording, device, lines;
static bool inside[CPUS];	/* the device */
static FILE *out;

static struct block *find_block(uint64_t addr)
{
	struct block **head = &blocks[(addr ^ addr >> 16) % BUCKETS], *b;

	for (b = *head; b; b = b->next)
		if (b->addr == addr)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->addr = addr;
	b->next = *head;
	*head = b;
	return b;
}

static void begin(unsigned int vcpu, void *data)
{
	struct block *b;
	int i;

	(void)vcpu;
	(void)data;
	for (i = 0; i < BUCKETS; i++)
		for (b = blocks[i]; b; b = b->next) {
			memset(b->execs, 0, sizeof(b->execs));
			memset(b->insns, 0, sizeof(b->insns));
			memset(b->lines, 0, sizeof(b->lines));
		}
	recording = true;
}

static void write_block(const struct block *b, int k)
{
	fprintf(out, "%016" PRIx64 " %" PRIu64 " %" PRIu64, b->addr, b->execs[k], b->insns[k]);
	if (k == DEVICE)
		fprintf(out, " device");
	else if (device)
		fprintf(out, " cpu%d", k);
	if (lines)
		fprintf(out, " %" PRIu64, b->lines[k]);
	fprintf(out, "\n");
}

static void end(unsigned int vcpu, void *data)
{
	struct block *b;
	int i, k;

	(void)vcpu;
	(void)data;
	if (!recording)
		return;
	recording = false;
	fprintf(out, "section\n");
	for (i = 0; i < BUCKETS; i++)
		for (b = blocks[i]; b; b = b->next)
			for (k = 0; k <= DEVICE; k++)
				if (b->insns[k] || b->lines[k])
					write_block(b, k);
	fflush(out);
}

static unsigned int who(unsigned int vcpu)
{
	return inside[vcpu % CPUS] ? DEVICE : vcpu % CPUS;
}

static void execute(unsigned int vcpu, void *data)
{
	unsigned int k = who(vcpu);
	struct run *run = data;

	run->block->execs[k]++;
	run->block->insns[k] += run->insns;
}

static struct region *find_region(uint64_t addr)
{
	static struct region *last;
	struct region **head, *r;

	addr >>= REGION_SHIFT;
	if (last && last->addr == addr)
		return last;
	head = &regions[addr % BUCKETS];
	for (r = *head; r; r = r->next)
		if (r->addr == addr)
			return last = r;
	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	r->addr = addr;
	r->next = *head;
	return last = *head = r;
}

/* An access that crosses the end of a line counts for the first one. */
static void access(unsigned int vcpu, uint32_t info, uint64_t addr, void *data)
{
	unsigned int k = who(vcpu);
	uint8_t me = 1 << k, *has;
	struct block *b = data;
	bool store = qemu_plugin_mem_is_store(info);

	if (!(addr >> 63))
		return;
	has = &find_region(addr)->has[addr >> LINE_SHIFT &
				      ((1 << (REGION_SHIFT - LINE_SHIFT)) - 1)];
	if (store ? *has & ~me : *has && !(*has & me))
		b->lines[k]++;
	*has = store ? me : *has | me;
}

static void enter(unsigned int vcpu, void *data)
{
	(void)data;
	inside[vcpu % CPUS] = true;
}

static void leave(unsigned int vcpu, void *data)
{
	(void)data;
	inside[vcpu % CPUS] = false;
}

/* The marks are "nopl" instructions, whose operand has no effect */
static void find_marks(struct qemu_plugin_insn *insn)
{
	const char *code = qemu_plugin_insn_data(insn);

	if (qemu_plugin_insn_size(insn) != 8 || memcmp(code, "\x0f\x1f\x84\0AD", 6))
		return;
	if (!memcmp(code + 6, "ON", 2))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, enter, CB_NO_REGS, NULL);
	else if (!memcmp(code + 6, "NO", 2))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, leave, CB_NO_REGS, NULL);
}

static void count(struct qemu_plugin_tb *tb, struct block *b, size_t n)
{
	struct run *run;
	size_t i;

	if (!device) {
		qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64,
							 &b->execs[0], 1);
		qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64,
							 &b->insns[0], n);
		return;
	}
	run = malloc(sizeof(*run));
	if (!run)
		abort();
	run->block = b;
	run->insns = n;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, execute, CB_NO_REGS, run);
	for (i = 0; lines && b->addr && i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(insn, access, CB_NO_REGS, MEM_RW,
						 find_block(qemu_plugin_insn_vaddr(insn)));
	}
	if (b->addr)
		for (i = 0; i < n; i++)
			find_marks(qemu_plugin_tb_get_insn(tb, i));
}

static void translate(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	struct block *b = find_block(addr >> 63 ? addr : 0);

	(void)id;
	count(tb, b, n);
	if (addr >> 63)
		return;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t at = qemu_plugin_insn_vaddr(insn);

		if (at == begin_addr)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, begin,
							       CB_NO_REGS, NULL);
		if (at == end_addr)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, end,
							       CB_NO_REGS, NULL);
	}
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "begin=", 6))
			begin_addr = strtoull(argv[i] + 6, NULL, 16);
		else if (!strncmp(argv[i], "end=", 4))
			end_addr = strtoull(argv[i] + 4, NULL, 16);
		else if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		else if (!strncmp(argv[i], "device=on", 9))
			device = true;
		else if (!strncmp(argv[i], "lines=on", 8))
			lines = true;
	}
	if (!begin_addr || !end_addr || !out) {
		fprintf(stderr, "profile-plugin: begin=, end=, out=\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
