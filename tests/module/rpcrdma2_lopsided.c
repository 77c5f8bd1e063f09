// SPDX-License-Identifier: GPL-2.0
/*
 * A server that sends less than it receives, and finds out when a Call has been
 * executed: the connection of the first Reply that is longer than 4096 bytes
 * sends nothing but ERRORs inline any more, and so this Reply is a REPLY_RESOURCE.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#include "../../net/sunrpc/xprtrdma2/responder/responder.h"

/* An ERROR has 40 bytes at most */
#define LOPSIDED_SEND	40

static atomic_t lopsided_left = ATOMIC_INIT(1);

static int lopsided_reply(struct kprobe *kp, struct pt_regs *regs)
{
	struct rpcrdma2_svc_call *call =
		(void *)regs_get_kernel_argument(regs, 0);
	const struct xdr_buf *res = (void *)regs_get_kernel_argument(regs, 1);

	if (res->len > RPCRDMA2_INLINE_DEFAULT &&
	    atomic_dec_if_positive(&lopsided_left) >= 0)
		WRITE_ONCE(call->conn->limits.send, LOPSIDED_SEND);
	return 0;
}

static struct kprobe lopsided_kp = {
	.symbol_name	= "rpcrdma2_call_reply",
	.pre_handler	= lopsided_reply,
};

static int __init lopsided_init(void)
{
	return register_kprobe(&lopsided_kp);
}

static void __exit lopsided_exit(void)
{
	unregister_kprobe(&lopsided_kp);
}

module_init(lopsided_init);
module_exit(lopsided_exit);
MODULE_DESCRIPTION("A server that can't send a Reply");
MODULE_LICENSE("GPL");
