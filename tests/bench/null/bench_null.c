// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest upper layer: calls the procedure of NFS that does nothing.
 *
 *	echo "TRANSPORT PORT;COUNT" > .../parameters/run
 *
 * TRANSPORT is the identifier of a class of sunrpc, 6 for TCP. The write
 * returns when there were COUNT Replies, one Call at a time. The connection
 * stays until another one is asked for.
 */
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sunrpc/clnt.h>

static char *addr = "10.0.0.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "of the server");

/* What sunrpc counts, it calls the procedure by one of its own */
static unsigned int null_counts[1];
static const struct rpc_procinfo null_procs[1];
static const struct rpc_version null_version = {
	.number		= 4,
	.nrprocs	= ARRAY_SIZE(null_procs),
	.procs		= null_procs,
	.counts		= null_counts,
};

static const struct rpc_version *null_versions[] = { [4] = &null_version };
static struct rpc_stat null_stat;
static const struct rpc_program null_program = {
	.name		= "null",
	.number		= 100003,
	.nrvers		= ARRAY_SIZE(null_versions),
	.version	= null_versions,
	.stats		= &null_stat,
};

static struct rpc_clnt *clnt;
static unsigned int clnt_ident, clnt_port;

static void null_disconnect(void)
{
	if (clnt)
		rpc_shutdown_client(clnt);
	clnt = NULL;
}

static int null_connect(unsigned int ident, unsigned int port)
{
	struct sockaddr_in sin = {
		.sin_family		= AF_INET,
		.sin_port		= htons(port),
		.sin_addr.s_addr	= in_aton(addr),
	};
	struct rpc_create_args args = {
		.net		= current->nsproxy->net_ns,
		.protocol	= ident,
		.address	= (struct sockaddr *)&sin,
		.addrsize	= sizeof(sin),
		.servername	= addr,
		.program	= &null_program,
		.version	= 4,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= RPC_CLNT_CREATE_HARDRTRY,
		.cred		= current_cred(),
	};
	int ret;

	if (clnt && ident == clnt_ident && port == clnt_port)
		return 0;
	null_disconnect();
	clnt = rpc_create(&args);
	if (IS_ERR(clnt)) {
		ret = PTR_ERR(clnt);
		clnt = NULL;
		return ret;
	}
	clnt_ident = ident;
	clnt_port = port;
	return 0;
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	unsigned int ident, port, count;
	struct rpc_task *task;
	int ret;

	if (sscanf(val, "%u %u;%u", &ident, &port, &count) != 3)
		return -EINVAL;
	if (!ident) {
		null_disconnect();
		return 0;
	}
	ret = null_connect(ident, port);
	while (!ret && count--) {
		task = rpc_call_null(clnt, NULL, 0);
		if (IS_ERR(task))
			return PTR_ERR(task);
		ret = task->tk_status;
		rpc_put_task(task);
	}
	return ret;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "TRANSPORT PORT;COUNT, 0 0;0 to disconnect");

static int __init null_init(void)
{
	return 0;
}

static void __exit null_exit(void)
{
	null_disconnect();
}

module_init(null_init);
module_exit(null_exit);
MODULE_DESCRIPTION("Calls that do nothing, for tests/bench/run");
MODULE_LICENSE("GPL");
