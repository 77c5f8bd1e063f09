// SPDX-License-Identifier: GPL-2.0
/*
 * The names of this transport with sunrpc and its users:
 *
 *			always			in addition with replace=1
 *	mounts		0x5232, no netid	256, netids rdma and rdma6
 *	nfsd's callbacks	0x5232 | BC	256 | BC
 *	listeners	rdma2			rdma
 *
 * Those in the last column are the stock transport's. All lead to the same code.
 *
 * Context: module load and unload, and setup of transports; sleeps.
 * Everything here is constant in between.
 */
#include <linux/module.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>

#include "xprt/class.h"
#include "xprt/client.h"
#include "xprt/server.h"

/* xprt_class.ident: any number that sunrpc does not use itself. It must fit
 * the unsigned short in which fs/nfs keeps a transport protocol. ASCII "R2".
 */
#define RPCRDMA2_XPRT_IDENT	0x5232

static bool replace;
module_param(replace, bool, 0444);
MODULE_PARM_DESC(replace,
		 "also take the place of the stock transport, rpcrdma");

/* sunrpc has no list of its transports. Mounts with rdmaver=2 look for this symbol
 * instead, which appears only after the module's initialisation has succeeded.
 */
const unsigned int xprt_rdma2_ident = RPCRDMA2_XPRT_IDENT;
EXPORT_SYMBOL_GPL(xprt_rdma2_ident);

/* Index of a set of names: the transport's own, and those of the stock transport */
enum { OWN, STOCK, NAMES };

static struct svc_xprt_class servers[NAMES];
static struct xprt_class own_client, stock_client, own_callback, stock_callback;
static struct xprt_class *const clients[NAMES] = { &own_client, &stock_client };
static struct xprt_class *const callbacks[NAMES] = {
	&own_callback, &stock_callback
};

static struct svc_xprt *own_listen(struct svc_serv *serv, struct net *net,
				   struct sockaddr *sa, int salen, int flags)
{
	return rpcrdma2_listener_create(&servers[OWN], serv, net, sa, salen);
}

static struct svc_xprt *stock_listen(struct svc_serv *serv, struct net *net,
				     struct sockaddr *sa, int salen, int flags)
{
	return rpcrdma2_listener_create(&servers[STOCK], serv, net, sa, salen);
}

static struct rpc_xprt *client_setup(struct xprt_create *args)
{
	int i = args->ident == own_client.ident ? OWN : STOCK;

	return rpcrdma2_client_setup(clients[i], args);
}

static struct rpc_xprt *callback_setup(struct xprt_create *args)
{
	int i = args->ident == own_callback.ident ? OWN : STOCK;

	return rpcrdma2_server_bc_setup(callbacks[i], args);
}

/* Listeners and connections have operations of their own */
static const struct svc_xprt_ops server_ops[NAMES] = {
	[OWN]	= { .xpo_create = own_listen },
	[STOCK]	= { .xpo_create = stock_listen },
};

static struct svc_xprt_class servers[NAMES] = {
	[OWN] = {
		.xcl_name	 = "rdma2",
		.xcl_owner	 = THIS_MODULE,
		.xcl_ops	 = &server_ops[OWN],
		.xcl_max_payload = RPCSVC_MAXPAYLOAD,
		.xcl_ident	 = RPCRDMA2_XPRT_IDENT,
	},
	[STOCK] = {
		.xcl_name	 = "rdma",
		.xcl_owner	 = THIS_MODULE,
		.xcl_ops	 = &server_ops[STOCK],
		.xcl_max_payload = RPCSVC_MAXPAYLOAD,
		.xcl_ident	 = XPRT_TRANSPORT_RDMA,
	},
};

/* sunrpc reads netids up to an empty string */
static struct xprt_class own_client = {
	.name	= "rdma2",
	.owner	= THIS_MODULE,
	.ident	= RPCRDMA2_XPRT_IDENT,
	.setup	= client_setup,
	.netid	= { "" },
};

static struct xprt_class stock_client = {
	.name	= "rdma",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= client_setup,
	.netid	= { RPCBIND_NETID_RDMA, RPCBIND_NETID_RDMA6, "" },
};

/* nfsd derives the ident from that of the server's class */
static struct xprt_class own_callback = {
	.name	= "rdma2 backchannel",
	.owner	= THIS_MODULE,
	.ident	= RPCRDMA2_XPRT_IDENT | XPRT_TRANSPORT_BC,
	.setup	= callback_setup,
	.netid	= { "" },
};

static struct xprt_class stock_callback = {
	.name	= "rdma backchannel",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_BC_RDMA,
	.setup	= callback_setup,
	.netid	= { "" },
};

static int names_register(int i)
{
	int ret;

	ret = xprt_register_transport(callbacks[i]);
	if (ret)
		return ret;
	ret = svc_reg_xprt_class(&servers[i]);
	if (ret)
		goto out_callback;
	ret = xprt_register_transport(clients[i]);
	if (ret)
		goto out_server;
	return 0;

out_server:
	svc_unreg_xprt_class(&servers[i]);
out_callback:
	xprt_unregister_transport(callbacks[i]);
	return ret;
}

static void names_unregister(int i)
{
	xprt_unregister_transport(clients[i]);
	svc_unreg_xprt_class(&servers[i]);
	xprt_unregister_transport(callbacks[i]);
}

/**
 * rpcrdma2_class_register - register the transport with sunrpc
 *
 * From here on mounts and listeners can be created.
 *
 * Context: module load.
 * Return: 0 or a negative errno; -EBUSY if a name is taken. Not -EEXIST:
 * modprobe would take that for success.
 */
int rpcrdma2_class_register(void)
{
	int ret = 0;

	if (replace)
		ret = names_register(STOCK);
	if (ret == -EEXIST)
		pr_err("rpcrdma2: replace=1 is not possible while the stock transport is loaded: stop its mounts and listeners, then unload the module rpcrdma\n");
	if (!ret) {
		ret = names_register(OWN);
		if (ret && replace)
			names_unregister(STOCK);
	}
	return ret == -EEXIST ? -EBUSY : ret;
}

/**
 * rpcrdma2_class_unregister - reverse of rpcrdma2_class_register()
 *
 * Context: module unload; no transport exists for sunrpc.
 */
void rpcrdma2_class_unregister(void)
{
	names_unregister(OWN);
	if (replace)
		names_unregister(STOCK);
}

/**
 * rpcrdma2_class_replace - check whether this transport replaces the stock one
 *
 * Context: any.
 * Return: the parameter replace
 */
bool rpcrdma2_class_replace(void)
{
	return replace;
}
