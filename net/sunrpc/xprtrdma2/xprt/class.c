// SPDX-License-Identifier: GPL-2.0
/*
 * The names under which sunrpc and its users find this transport:
 *
 *			always			with replace=1 also
 *	mounts		0x5232, no netid	256, netids rdma and rdma6
 *	nfsd's callbacks	0x5232 | BC	256 | BC
 *	listeners	rdma2			rdma
 *
 * Those on the right are the stock transport's. Behind all of them is the
 * same code, which is told to which class a transport belongs.
 *
 * Context: module load and unload, and setup of transports; sleeps.
 * Everything here is constant in between.
 */
#include <linux/module.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>

#include "xprt/server_bc.h"
#include "xprt/client.h"
#include "xprt/class.h"
#include "xprt/listener.h"

/* xprt_class.ident: any number that sunrpc does not use itself. It must fit
 * the unsigned short in which fs/nfs keeps a transport protocol. ASCII "R2".
 */
#define RPCRDMA2_XPRT_IDENT	0x5232

static bool replace;
module_param(replace, bool, 0444);
MODULE_PARM_DESC(replace,
		 "also take the place of the stock transport, rpcrdma");

/* sunrpc can't be asked which transports it has. Mounts with rdmaver=2 look
 * for this symbol instead, which nobody sees before the module's
 * initialisation has succeeded.
 */
const unsigned int xprt_rdma2_ident = RPCRDMA2_XPRT_IDENT;
EXPORT_SYMBOL_GPL(xprt_rdma2_ident);

static struct svc_xprt_class own_server;
static struct svc_xprt_class stock_server;

static struct svc_xprt *own_listen(struct svc_serv *serv, struct net *net,
				   struct sockaddr *sa, int salen, int flags)
{
	return rpcrdma2_listener_create(&own_server, serv, net, sa, salen);
}

static struct svc_xprt *stock_listen(struct svc_serv *serv, struct net *net,
				     struct sockaddr *sa, int salen, int flags)
{
	return rpcrdma2_listener_create(&stock_server, serv, net, sa, salen);
}

/* Listeners and connections have operations of their own */
static const struct svc_xprt_ops own_server_ops = {
	.xpo_create	= own_listen,
};

static const struct svc_xprt_ops stock_server_ops = {
	.xpo_create	= stock_listen,
};

static struct svc_xprt_class own_server = {
	.xcl_name	 = "rdma2",
	.xcl_owner	 = THIS_MODULE,
	.xcl_ops	 = &own_server_ops,
	.xcl_max_payload = RPCSVC_MAXPAYLOAD,
	.xcl_ident	 = RPCRDMA2_XPRT_IDENT,
};

static struct svc_xprt_class stock_server = {
	.xcl_name	 = "rdma",
	.xcl_owner	 = THIS_MODULE,
	.xcl_ops	 = &stock_server_ops,
	.xcl_max_payload = RPCSVC_MAXPAYLOAD,
	.xcl_ident	 = XPRT_TRANSPORT_RDMA,
};

static struct xprt_class own_client;
static struct xprt_class stock_client;
static struct xprt_class own_callback;
static struct xprt_class stock_callback;

static struct rpc_xprt *own_client_setup(struct xprt_create *args)
{
	return rpcrdma2_client_setup(&own_client, args);
}

static struct rpc_xprt *stock_client_setup(struct xprt_create *args)
{
	return rpcrdma2_client_setup(&stock_client, args);
}

static struct rpc_xprt *own_callback_setup(struct xprt_create *args)
{
	return rpcrdma2_server_bc_setup(&own_callback, args);
}

static struct rpc_xprt *stock_callback_setup(struct xprt_create *args)
{
	return rpcrdma2_server_bc_setup(&stock_callback, args);
}

/* sunrpc reads netids up to an empty string */
static struct xprt_class own_client = {
	.list	= LIST_HEAD_INIT(own_client.list),
	.name	= "rdma2",
	.owner	= THIS_MODULE,
	.ident	= RPCRDMA2_XPRT_IDENT,
	.setup	= own_client_setup,
	.netid	= { "" },
};

static struct xprt_class stock_client = {
	.list	= LIST_HEAD_INIT(stock_client.list),
	.name	= "rdma",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= stock_client_setup,
	.netid	= { RPCBIND_NETID_RDMA, RPCBIND_NETID_RDMA6, "" },
};

/* nfsd derives the ident from that of the server's class */
static struct xprt_class own_callback = {
	.list	= LIST_HEAD_INIT(own_callback.list),
	.name	= "rdma2 backchannel",
	.owner	= THIS_MODULE,
	.ident	= RPCRDMA2_XPRT_IDENT | XPRT_TRANSPORT_BC,
	.setup	= own_callback_setup,
	.netid	= { "" },
};

static struct xprt_class stock_callback = {
	.list	= LIST_HEAD_INIT(stock_callback.list),
	.name	= "rdma backchannel",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_BC_RDMA,
	.setup	= stock_callback_setup,
	.netid	= { "" },
};

/**
 * struct rpcrdma2_names - classes that come and go together
 * @client: for mounts
 * @callback: for callbacks of @server
 * @server: for listeners
 */
struct rpcrdma2_names {
	struct xprt_class	*client;
	struct xprt_class	*callback;
	struct svc_xprt_class	*server;
};

static const struct rpcrdma2_names own = {
	.client		= &own_client,
	.callback	= &own_callback,
	.server		= &own_server,
};

static const struct rpcrdma2_names stock = {
	.client		= &stock_client,
	.callback	= &stock_callback,
	.server		= &stock_server,
};

static int names_register(const struct rpcrdma2_names *names)
{
	int ret;

	ret = xprt_register_transport(names->callback);
	if (ret)
		return ret;
	ret = svc_reg_xprt_class(names->server);
	if (ret)
		goto out_callback;
	ret = xprt_register_transport(names->client);
	if (ret)
		goto out_server;
	return 0;

out_server:
	svc_unreg_xprt_class(names->server);
out_callback:
	xprt_unregister_transport(names->callback);
	return ret;
}

static void names_unregister(const struct rpcrdma2_names *names)
{
	xprt_unregister_transport(names->client);
	svc_unreg_xprt_class(names->server);
	xprt_unregister_transport(names->callback);
}

/**
 * rpcrdma2_class_register - make the transport known to sunrpc
 *
 * From here on mounts and listeners may come.
 *
 * Context: module load.
 * Return: 0 or a negative errno; -EBUSY if a name is taken. Not -EEXIST:
 * modprobe would take that for success.
 */
int rpcrdma2_class_register(void)
{
	int ret;

	if (replace) {
		ret = names_register(&stock);
		if (ret == -EEXIST)
			pr_err("rpcrdma2: replace=1 is not possible while the stock transport is loaded: stop its mounts and listeners, then unload the module rpcrdma\n");
		if (ret)
			return ret == -EEXIST ? -EBUSY : ret;
	}
	ret = names_register(&own);
	if (ret && replace)
		names_unregister(&stock);
	return ret == -EEXIST ? -EBUSY : ret;
}

/**
 * rpcrdma2_class_unregister - reverse of rpcrdma2_class_register()
 *
 * Context: module unload; no transport exists for sunrpc.
 */
void rpcrdma2_class_unregister(void)
{
	names_unregister(&own);
	if (replace)
		names_unregister(&stock);
}

/**
 * rpcrdma2_class_replace - has this transport taken the stock one's place?
 *
 * Context: any.
 * Return: yes or no
 */
bool rpcrdma2_class_replace(void)
{
	return replace;
}
