// SPDX-License-Identifier: GPL-2.0
/*
 * Which code of rpcrdma2 has run: /sys/kernel/debug/rpcrdma2_cover is an array of
 * counters, one byte for each basic block (or for several, the address is hashed), which
 * stay at 255. Writing sets them to zero. The compiler calls us at the start of each
 * block, see tests/fuzz/cover.h. KCOV follows tasks, and completions and work items only
 * where they are marked; this follows everything, and needs no mark.
 */
#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/string.h>

#define COVER_BITS	16

static u8 counters[1 << COVER_BITS];
static struct dentry *file;

void rpcrdma2_cover(void);

/* User-Mode Linux has one CPU; an interrupt that is lost does not matter. */
notrace void rpcrdma2_cover(void)
{
	u8 *n = &counters[hash_ptr(__builtin_return_address(0), COVER_BITS)];

	if (*n < U8_MAX)
		(*n)++;
}
EXPORT_SYMBOL_GPL(rpcrdma2_cover);

static ssize_t cover_read(struct file *f, char __user *to, size_t len, loff_t *pos)
{
	return simple_read_from_buffer(to, len, pos, counters, sizeof(counters));
}

static ssize_t cover_write(struct file *f, const char __user *from, size_t len,
			   loff_t *pos)
{
	memset(counters, 0, sizeof(counters));
	return len;
}

static const struct file_operations cover_ops = {
	.owner	= THIS_MODULE,
	.read	= cover_read,
	.write	= cover_write,
	.llseek	= default_llseek,
};

static int __init cover_init(void)
{
	file = debugfs_create_file("rpcrdma2_cover", 0600, NULL, NULL, &cover_ops);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit cover_exit(void)
{
	debugfs_remove(file);
}

module_init(cover_init);
module_exit(cover_exit);
MODULE_DESCRIPTION("Coverage of rpcrdma2, for fuzzing");
MODULE_LICENSE("GPL");
