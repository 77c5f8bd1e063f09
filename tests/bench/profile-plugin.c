// SPDX-License-Identifier: GPL-2.0
/*
 * Plugin of qemu's instruction translator: counts what the guest executes
 * between two addresses of a program, by translated block. In the counted
 * guest an instruction is a nanosecond, so this is an exact profile.
 *
 *	-plugin FILE,begin=ADDRESS,end=ADDRESS,out=FILE
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
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		exec_cb cb, int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
		size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

struct block {
	uint64_t addr;
	uint64_t execs;
	uint64_t insns;
	struct block *next;
};

#define BUCKETS	65536

/* Blocks are never freed: translated code points into them. */
static struct block *blocks[BUCKETS];
static uint64_t begin_addr, end_addr;
static bool recording;
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
			b->execs = 0;
			b->insns = 0;
		}
	recording = true;
}

static void end(unsigned int vcpu, void *data)
{
	struct block *b;
	int i;

	(void)vcpu;
	(void)data;
	if (!recording)
		return;
	recording = false;
	fprintf(out, "section\n");
	for (i = 0; i < BUCKETS; i++)
		for (b = blocks[i]; b; b = b->next)
			if (b->insns)
				fprintf(out, "%016" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
					b->addr, b->execs, b->insns);
	fflush(out);
}

static void translate(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	struct block *b = find_block(addr >> 63 ? addr : 0);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64,
						 &b->execs, 1);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64,
						 &b->insns, n);
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
	}
	if (!begin_addr || !end_addr || !out) {
		fprintf(stderr, "profile-plugin: begin=, end=, out=\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
