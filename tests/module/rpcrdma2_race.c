// SPDX-License-Identifier: GPL-2.0
/*
 * A data race on purpose, in the paths and at the rate of RPCs: a counter without any
 * protection, for each Call that is sent and each Reply that has come. A kernel with
 * KCSAN that does not find this one would not find another in rpcrdma2, either.
 */
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static unsigned long race_count;

/* The arguments of the events are of no interest. */
static noinline void race_event(void *data)
{
	race_count++;
}

static bool race_wants(const struct tracepoint *tp)
{
	return !strcmp(tp->name, "rpcrdma2_call") ||
	       !strcmp(tp->name, "rpcrdma2_reply");
}

/* Called for modules that are loaded, too */
static int race_module(struct notifier_block *nb, unsigned long action,
		       void *data)
{
	const struct tp_module *tp_mod = data;
	const struct module *mod = tp_mod->mod;
	struct tracepoint *tp;
	unsigned int i;

	if (strcmp(mod->name, "rpcrdma2"))
		return NOTIFY_OK;
	for (i = 0; i < mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);
		if (!race_wants(tp))
			continue;
		if (action == MODULE_STATE_COMING)
			tracepoint_probe_register(tp, race_event, NULL);
		else
			tracepoint_probe_unregister(tp, race_event, NULL);
	}
	return NOTIFY_OK;
}

static struct notifier_block race_nb = {
	.notifier_call = race_module,
};

static int __init race_init(void)
{
	return register_tracepoint_module_notifier(&race_nb);
}

static void __exit race_exit(void)
{
	unregister_tracepoint_module_notifier(&race_nb);
	tracepoint_synchronize_unregister();
	pr_info("rpcrdma2_race: %lu\n", race_count);
}

module_init(race_init);
module_exit(race_exit);
MODULE_DESCRIPTION("A data race for KCSAN to find");
MODULE_LICENSE("GPL");
