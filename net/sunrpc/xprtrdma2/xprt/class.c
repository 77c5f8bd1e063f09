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

#include "xprt/client.h"
#include "xprt/server.h"
#include "xprt/xprt.h"

/* xprt_class.ident: any number that sunrpc does not use itself. It must fit
 * the unsigned short in which fs/nfs keeps a transport protocol. ASCII "R2".
 */
#define RPCRDMA2_XPRT_IDENT	0x5232

/* sunrpc has no list of its transports. Mounts with rdmaver=2 look for this symbol
 * instead, which appears only after the module's initialisation has succeeded.
 */
const unsigned int xprt_rdma2_ident = RPCRDMA2_XPRT_IDENT;
EXPORT_SYMBOL_GPL(xprt_rdma2_ident);

/* A set of names. Listeners and connections have operations of their own. */
struct names {
	struct svc_xprt_ops	listen;
	struct svc_xprt_class	server;
	struct xprt_class	*client;
	struct xprt_class	*callback;
};

static struct names own, stock;

static struct svc_xprt *own_listen(struct svc_serv *serv, struct net *net,
				   struct sockaddr *sa, int salen, int flags)
{
	return rpcrdma2_listener_create(&own.server, serv, net, sa, salen);
}

static struct svc_xprt *stock_listen(struct svc_serv *serv, struct net *net,
				     struct sockaddr *sa, int salen, int flags)
{
	return rpcrdma2_listener_create(&stock.server, serv, net, sa, salen);
}

static struct rpc_xprt *setup(struct xprt_create *args)
{
	int ident = args->ident & ~XPRT_TRANSPORT_BC;
	const struct names *names = ident == RPCRDMA2_XPRT_IDENT ? &own : &stock;

	if (args->ident & XPRT_TRANSPORT_BC)
		return rpcrdma2_server_bc_setup(names->callback, args);
	return rpcrdma2_client_setup(names->client, args);
}

/* sunrpc reads netids up to an empty string. nfsd derives the ident of callbacks from that
 * of the server's class.
 */
#define XPRT_CLASS(text, number, ...) {					\
	.name	= text,							\
	.owner	= THIS_MODULE,						\
	.ident	= number,						\
	.setup	= setup,						\
	.netid	= { __VA_ARGS__ },					\
}

static struct xprt_class own_client =
	XPRT_CLASS("rdma2", RPCRDMA2_XPRT_IDENT, "");
static struct xprt_class stock_client =
	XPRT_CLASS("rdma", XPRT_TRANSPORT_RDMA,
		   RPCBIND_NETID_RDMA, RPCBIND_NETID_RDMA6, "");
static struct xprt_class own_callback =
	XPRT_CLASS("rdma2 backchannel", RPCRDMA2_XPRT_IDENT | XPRT_TRANSPORT_BC, "");
static struct xprt_class stock_callback =
	XPRT_CLASS("rdma backchannel", XPRT_TRANSPORT_BC_RDMA, "");

#define NAMES(set, text, number) {					\
	.listen.xpo_create	= set##_listen,				\
	.server = {							\
		.xcl_name	 = text,				\
		.xcl_owner	 = THIS_MODULE,				\
		.xcl_ops	 = &(set).listen,			\
		.xcl_max_payload = RPCSVC_MAXPAYLOAD,			\
		.xcl_ident	 = number,				\
	},								\
	.client			= &set##_client,			\
	.callback		= &set##_callback,			\
}

static struct names own = NAMES(own, "rdma2", RPCRDMA2_XPRT_IDENT);
static struct names stock = NAMES(stock, "rdma", XPRT_TRANSPORT_RDMA);

static int names_register(struct names *names)
{
	return xprt_register_transport(names->callback) ?:
	       svc_reg_xprt_class(&names->server) ?:
	       xprt_register_transport(names->client);
}

/* Names that are not registered are skipped. */
static void names_unregister(struct names *names)
{
	xprt_unregister_transport(names->client);
	svc_unreg_xprt_class(&names->server);
	xprt_unregister_transport(names->callback);
}

/**
 * rpcrdma2_class_register - register the transport with sunrpc
 * @replace: also by the names of the stock transport
 *
 * From here on mounts and listeners can be created.
 *
 * Context: module load.
 * Return: 0 or a negative errno; -EBUSY if a name is taken. Not -EEXIST:
 * modprobe would take that for success.
 */
int rpcrdma2_class_register(bool replace)
{
	int ret = 0;

	/* names_unregister() needs them */
	INIT_LIST_HEAD(&own.server.xcl_list);
	INIT_LIST_HEAD(&stock.server.xcl_list);
	if (replace)
		ret = names_register(&stock);
	if (ret == -EEXIST)
		pr_err("rpcrdma2: replace=1 is not possible while the stock transport is loaded: stop its mounts and listeners, then unload the module rpcrdma\n");
	if (!ret)
		ret = names_register(&own);
	if (ret)
		rpcrdma2_class_unregister();
	return ret == -EEXIST ? -EBUSY : ret;
}

/**
 * rpcrdma2_class_unregister - reverse of rpcrdma2_class_register()
 *
 * Context: module load and unload; no transport exists for sunrpc.
 */
void rpcrdma2_class_unregister(void)
{
	names_unregister(&own);
	names_unregister(&stock);
}
