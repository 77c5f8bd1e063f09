// SPDX-License-Identifier: GPL-2.0
/*
 * Makes RPCSEC_GSS reject the verifier of one Reply, as if another host had sent the Reply.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static atomic_t untrusted_left = ATOMIC_INIT(1);

static int untrusted_verifier(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (!regs_return_value(regs) && atomic_dec_if_positive(&untrusted_left) >= 0)
		regs_set_return_value(regs, -EACCES);
	return 0;
}

static struct kretprobe untrusted_krp = {
	.kp.symbol_name	= "gss_validate",
	.handler	= untrusted_verifier,
};

static int __init untrusted_init(void)
{
	return register_kretprobe(&untrusted_krp);
}

static void __exit untrusted_exit(void)
{
	unregister_kretprobe(&untrusted_krp);
}

module_init(untrusted_init);
module_exit(untrusted_exit);
MODULE_DESCRIPTION("A Reply that RPCSEC_GSS does not trust");
MODULE_LICENSE("GPL");
