// SPDX-License-Identifier: GPL-2.0
/*
 * A user of sunrpc whose Calls expect no Reply, on a transport of ours. Loading
 * it says how that ends: -EOPNOTSUPP is the errno of modprobe, 0 means that
 * such a Call was sent.
 */
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/stats.h>

#define ONEWAY_PROGRAM	100003		/* NFS: somebody listens */
#define ONEWAY_VERSION	3

static char *addr = "10.0.0.1";
module_param(addr, charp, 0);
static ushort port = 20049;
module_param(port, ushort, 0);
static int ident;
module_param(ident, int, 0);

static void oneway_encode(struct rpc_rqst *req, struct xdr_stream *xdr,
			  const void *obj)
{
}

static int oneway_decode(struct rpc_rqst *req, struct xdr_stream *xdr,
			 void *obj)
{
	return 0;
}

/* Twice the procedure that does nothing */
static const struct rpc_procinfo oneway_procs[] = {
	{ .p_proc = 0, .p_encode = oneway_encode, .p_decode = oneway_decode },
	{ .p_proc = 0, .p_encode = oneway_encode, .p_statidx = 1 },
};

static unsigned int oneway_counts[ARRAY_SIZE(oneway_procs)];

static const struct rpc_version oneway_version = {
	.number		= ONEWAY_VERSION,
	.nrprocs	= ARRAY_SIZE(oneway_procs),
	.procs		= oneway_procs,
	.counts		= oneway_counts,
};

static const struct rpc_version *oneway_versions[ONEWAY_VERSION + 1] = {
	[ONEWAY_VERSION] = &oneway_version,
};

static struct rpc_stat oneway_stat;

static const struct rpc_program oneway_program = {
	.name		= "oneway",
	.number		= ONEWAY_PROGRAM,
	.nrvers		= ARRAY_SIZE(oneway_versions),
	.version	= oneway_versions,
	.stats		= &oneway_stat,
};

static struct rpc_clnt *oneway_connect(void)
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
		.program	= &oneway_program,
		.version	= ONEWAY_VERSION,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= RPC_CLNT_CREATE_NOPING,
		.cred		= current_cred(),
	};

	return rpc_create(&args);
}

static int __init oneway_init(void)
{
	struct rpc_message call = { .rpc_proc = &oneway_procs[0] };
	struct rpc_message oneway = { .rpc_proc = &oneway_procs[1] };
	struct rpc_clnt *clnt = oneway_connect();
	int ret, err;

	if (IS_ERR(clnt))
		return PTR_ERR(clnt);
	err = rpc_call_sync(clnt, &call, 0);
	ret = rpc_call_sync(clnt, &oneway, 0);
	/* The slot and the connection are as before */
	if (!err)
		err = rpc_call_sync(clnt, &call, 0);
	rpc_shutdown_client(clnt);
	return err ? -EIO : ret;
}

static void __exit oneway_exit(void)
{
}

module_init(oneway_init);
module_exit(oneway_exit);
MODULE_DESCRIPTION("Calls without a Reply, for tests of rpcrdma2");
MODULE_LICENSE("GPL");
