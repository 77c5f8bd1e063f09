// SPDX-License-Identifier: GPL-2.0
/*
 * The address of a client's transport or of a server's callback transport, and its text
 * for sunrpc and the files of sunrpc.
 */
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/xprt.h>

#include "xprt/xprt.h"

/**
 * rpcrdma2_addr_format_port - update the text after a change of the port
 * @xprt: the transport
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_addr_format_port(struct rpc_xprt *xprt)
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

/**
 * rpcrdma2_addr_init - set the address of a new transport
 * @xprt: the transport
 * @args: arguments of its setup
 *
 * Context: may sleep.
 * Return: 0, -EBADF, -ENOMEM or -EAFNOSUPPORT; rpcrdma2_addr_free() cleans up after
 * each
 */
int rpcrdma2_addr_init(struct rpc_xprt *xprt, const struct xprt_create *args)
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
	return rpcrdma2_addr_format_port(xprt);
}

/**
 * rpcrdma2_addr_free - free the text of an address
 * @xprt: a transport that ends
 *
 * Context: any except interrupts.
 */
void rpcrdma2_addr_free(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
}
