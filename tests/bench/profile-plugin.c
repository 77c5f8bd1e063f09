// SPDX-License-Identifier: GPL-2.0
/*
 * Plugin of qemu's instruction translator: counts what the guest executes
 * between two addresses of a program, by translated block. In the counted
 * guest an instruction is a nanosecond, so this is an exact profile.
 *
 *	-plugin FILE,begin=ADDRESS,end=ADDRESS,out=FILE[,device=on]
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
 * With "device=on", what runs between the two instructions by which adapter/hw.c marks
 * its hardware goes to lines of its own, with a fourth word, "device". That is slower.
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

typedef void (*exec_cb)(unsigned int vcpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
		void (*cb)(plugin_id id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
		int op, void *ptr, uint64_t imm);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_cb cb,
		int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		exec_cb cb, int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
		size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

/* Of a block: what was counted outside and inside of the device */
struct block {
	uint64_t addr;
	uint64_t execs[2];
	uint64_t insns[2];
	struct block *next;
};

/* A block in one of its translations */
struct run {
	struct block *block;
	uint64_t insns;
};

#define BUCKETS	65536
#define CPUS	64

/* Blocks are never freed: translated code points into them. */
static struct block *blocks[BUCKETS];
static uint64_t begin_addr, end_addr;
static bool recording, device;
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
		}
	recording = true;
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
			for (k = 0; k < 2; k++)
				if (b->insns[k])
					fprintf(out, "%016" PRIx64 " %" PRIu64 " %" PRIu64 "%s\n",
						b->addr, b->execs[k], b->insns[k],
						k ? " device" : "");
	fflush(out);
}

static void execute(unsigned int vcpu, void *data)
{
	struct run *run = data;
	bool k = inside[vcpu % CPUS];

	run->block->execs[k]++;
	run->block->insns[k] += run->insns;
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
	}
	if (!begin_addr || !end_addr || !out) {
		fprintf(stderr, "profile-plugin: begin=, end=, out=\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
