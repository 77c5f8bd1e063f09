// SPDX-License-Identifier: GPL-2.0
/*
 * What a client's transport and a server's callback transport have in common: a struct
 * rpc_xprt with a requester, and an address, as text for sunrpc and the files of sunrpc.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/msg_prot.h>

#include "requester/requester.h"
#include "xprt/xprt.h"

/* For users of sunrpc without timeouts of their own */
static const struct rpc_timeout xprt_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

/**
 * rpcrdma2_xprt_format_port - update the text after a change of the port
 * @xprt: the transport
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_xprt_format_port(struct rpc_xprt *xprt)
{
	unsigned short port = rpc_get_port((struct sockaddr *)&xprt->addr);
	const char **strings = xprt->address_strings;

	kfree(strings[RPC_DISPLAY_PORT]);
	strings[RPC_DISPLAY_PORT] = kasprintf(GFP_KERNEL, "%u", port);
	kfree(strings[RPC_DISPLAY_HEX_PORT]);
	strings[RPC_DISPLAY_HEX_PORT] = kasprintf(GFP_KERNEL, "%4hx", port);
	return strings[RPC_DISPLAY_PORT] && strings[RPC_DISPLAY_HEX_PORT] ?
	       0 : -ENOMEM;
}

/* Returns 0, -EBADF, -ENOMEM or -EAFNOSUPPORT. */
static int xprt_set_address(struct rpc_xprt *xprt, const struct xprt_create *args)
{
	const struct sockaddr *sap = (struct sockaddr *)&xprt->addr;
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)sap;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)sap;
	const char **strings = xprt->address_strings;
	char buf[INET6_ADDRSTRLEN + 16];

	if (args->addrlen > sizeof(xprt->addr))
		return -EBADF;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	if (sap->sa_family == AF_INET) {
		strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA;
		strings[RPC_DISPLAY_HEX_ADDR] =
			kasprintf(GFP_KERNEL, "%08x", ntohl(sin->sin_addr.s_addr));
	} else if (sap->sa_family == AF_INET6) {
		strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA6;
		strings[RPC_DISPLAY_HEX_ADDR] =
			kasprintf(GFP_KERNEL, "%pi6", &sin6->sin6_addr);
	} else {
		return -EAFNOSUPPORT;
	}
	strings[RPC_DISPLAY_PROTO] = "rdma";
	rpc_ntop(sap, buf, sizeof(buf));
	strings[RPC_DISPLAY_ADDR] = kstrdup(buf, GFP_KERNEL);
	if (!strings[RPC_DISPLAY_HEX_ADDR] || !strings[RPC_DISPLAY_ADDR])
		return -ENOMEM;
	return rpcrdma2_xprt_format_port(xprt);
}

/**
 * rpcrdma2_xprt_free - free a transport
 * @xprt: a transport without connection and tasks
 *
 * Context: sleeps.
 */
void rpcrdma2_xprt_free(struct rpc_xprt *xprt)
{
	rpcrdma2_requester_destroy(rpcrdma2_requester(xprt));
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

/**
 * rpcrdma2_xprt_alloc - allocate a transport
 * @class: its class
 * @args: arguments of its setup
 * @ops: its methods
 * @size: bytes; begins with a struct rpcrdma2_requester
 * @slots: RPC slots that it may have
 *
 * Context: sleeps.
 * Return: the transport, or an ERR_PTR: -EBADF, -ENOMEM or -EAFNOSUPPORT
 */
struct rpc_xprt *rpcrdma2_xprt_alloc(struct xprt_class *class,
				     const struct xprt_create *args,
				     const struct rpc_xprt_ops *ops, size_t size,
				     unsigned int slots)
{
	struct rpc_xprt *xprt = xprt_alloc(args->net, size, 0, slots);
	int ret;

	if (!xprt)
		return ERR_PTR(-ENOMEM);
	__module_get(THIS_MODULE);	/* sunrpc holds one meanwhile */
	xprt->ops = ops;
	xprt->xprt_class = class;
	xprt->timeout = &xprt_timeout;
	rpcrdma2_requester_init(rpcrdma2_requester(xprt));
	ret = xprt_set_address(xprt, args);
	if (ret) {
		rpcrdma2_xprt_free(xprt);
		return ERR_PTR(ret);
	}
	return xprt;
}
