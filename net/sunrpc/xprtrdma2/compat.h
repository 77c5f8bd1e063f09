/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that differs between the kernels this module is built for. The
 * other files read like code for the newest of them, and none asks for a kernel
 * version.
 *
 * scripts/probe-compat.sh asks the kernel at hand one question for each
 * difference and writes the answers, 1 for the newer way and 0 for the older
 * one, into compat_probes.h; its comments say what the questions mean. A kernel
 * that answers neither way is refused: many of these differences compile and
 * then corrupt memory. For the same reason a missing answer has no default. A
 * build inside of a kernel tree needs no answers, it has the newest interfaces.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#ifdef RPCRDMA2_PROBES
#include "compat_probes.h"
#else
#define COMPAT_UNALIGNED 1
#define COMPAT_ALLOC_PAGES_BULK 1
#define COMPAT_KZALLOC_OBJ 1
#define COMPAT_ASSIGN_STR 1
#define COMPAT_SV_CB_LWQ 1
#define COMPAT_SVC_SERV_NRPOOLS 1
#define COMPAT_SVC_RESPAGES 1
#define COMPAT_SVC_XPRT_OPS 1
#define COMPAT_RPC_XPRT_OPS 1
#define COMPAT_XPRT_CREATE 1
#define COMPAT_RQ_SEQNOS 1
#define COMPAT_SVC_PEER_VALID 1
#define COMPAT_SVC_MAX_TMP_CONN 1
#define COMPAT_GENL_INFO_DUMP 1
#define COMPAT_WQ_PERCPU 1
#endif

#ifndef COMPAT_UNALIGNED
#error "rpcrdma2: scripts/probe-compat.sh has no answer for UNALIGNED"
#endif
#ifndef COMPAT_ALLOC_PAGES_BULK
#error "rpcrdma2: scripts/probe-compat.sh has no answer for ALLOC_PAGES_BULK"
#endif
#ifndef COMPAT_KZALLOC_OBJ
#error "rpcrdma2: scripts/probe-compat.sh has no answer for KZALLOC_OBJ"
#endif
#ifndef COMPAT_ASSIGN_STR
#error "rpcrdma2: scripts/probe-compat.sh has no answer for ASSIGN_STR"
#endif
#ifndef COMPAT_SV_CB_LWQ
#error "rpcrdma2: scripts/probe-compat.sh has no answer for SV_CB_LWQ"
#endif
#ifndef COMPAT_SVC_SERV_NRPOOLS
#error "rpcrdma2: scripts/probe-compat.sh has no answer for SVC_SERV_NRPOOLS"
#endif
#ifndef COMPAT_SVC_RESPAGES
#error "rpcrdma2: scripts/probe-compat.sh has no answer for SVC_RESPAGES"
#endif
#ifndef COMPAT_SVC_XPRT_OPS
#error "rpcrdma2: scripts/probe-compat.sh has no answer for SVC_XPRT_OPS"
#endif
#ifndef COMPAT_RPC_XPRT_OPS
#error "rpcrdma2: scripts/probe-compat.sh has no answer for RPC_XPRT_OPS"
#endif
#ifndef COMPAT_XPRT_CREATE
#error "rpcrdma2: scripts/probe-compat.sh has no answer for XPRT_CREATE"
#endif
#ifndef COMPAT_RQ_SEQNOS
#error "rpcrdma2: scripts/probe-compat.sh has no answer for RQ_SEQNOS"
#endif
#ifndef COMPAT_SVC_PEER_VALID
#error "rpcrdma2: scripts/probe-compat.sh has no answer for SVC_PEER_VALID"
#endif
#ifndef COMPAT_SVC_MAX_TMP_CONN
#error "rpcrdma2: scripts/probe-compat.sh has no answer for SVC_MAX_TMP_CONN"
#endif
#ifndef COMPAT_GENL_INFO_DUMP
#error "rpcrdma2: scripts/probe-compat.sh has no answer for GENL_INFO_DUMP"
#endif
#ifndef COMPAT_WQ_PERCPU
#error "rpcrdma2: scripts/probe-compat.sh has no answer for WQ_PERCPU"
#endif

#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#if COMPAT_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if !COMPAT_ALLOC_PAGES_BULK
#define alloc_pages_bulk(gfp, n, pages)	alloc_pages_bulk_array(gfp, n, pages)
#endif

#if !COMPAT_KZALLOC_OBJ
#define kzalloc_obj(obj, gfp)	kzalloc(sizeof(obj), gfp)
#endif

/* A string field of a trace event, and what its __string() has. */
#if COMPAT_ASSIGN_STR
#define compat_assign_str(dst, ...)	__assign_str(dst)
#else
#define compat_assign_str(dst, ...)	__assign_str(dst, __VA_ARGS__)
#endif

#if !COMPAT_SVC_SERV_NRPOOLS
#define svc_serv_nrpools(serv)	((serv)->sv_nrpools)
#endif

/**
 * compat_svc_idle_thread - will a thread come soon for svc_xprt_enqueue()?
 * @serv: the service
 *
 * Before 6.8 svc_xprt_enqueue() takes locks, and must not be called where this is.
 *
 * Context: any, also hard interrupts.
 * Return: true if a thread of the service is idle
 */
static inline bool compat_svc_idle_thread(const struct svc_serv *serv)
{
#if COMPAT_SV_CB_LWQ
	unsigned int i;

	for (i = 0; i < svc_serv_nrpools(serv); i++)
		if (!llist_empty(&serv->sv_pools[i].sp_idle_threads))
			return true;
#endif
	return false;
}

/**
 * compat_svc_enqueue_bc - hand a backchannel Call to its service threads
 * @serv: the callback service
 * @rqst: the Call; the service owns it from here on
 *
 * Context: any; takes no sleeping lock.
 */
static inline void compat_svc_enqueue_bc(struct svc_serv *serv,
					 struct rpc_rqst *rqst)
{
#if COMPAT_SV_CB_LWQ
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
#else
	spin_lock(&serv->sv_cb_lock);
	list_add(&rqst->rq_bc_list, &serv->sv_cb_list);
	spin_unlock(&serv->sv_cb_lock);
	wake_up(&serv->sv_cb_waitq);
#endif
}

/**
 * compat_svc_args_end - say where the pages of the argument end
 * @rqstp: a thread that has a Call, or none
 * @n: entries of rq_pages that are the argument's
 *
 * Where the pages for the Reply have no array of their own they are those
 * behind the argument. To be called before rq_respages is looked at.
 *
 * Context: the thread.
 */
static inline void compat_svc_args_end(struct svc_rqst *rqstp, u32 n)
{
#if !COMPAT_SVC_RESPAGES
	rqstp->rq_respages = &rqstp->rq_pages[n];
#endif
}

/**
 * compat_svc_args_taken - pages are about to be taken from rq_pages
 * @rqstp: a thread that will not process a Call now
 * @n: they are among this many at the beginning; their entries become NULL
 *
 * A thread looks only at entries that it is told of when it fills the array
 * again. Older kernels look at all.
 *
 * Context: the thread.
 */
static inline void compat_svc_args_taken(struct svc_rqst *rqstp, u32 n)
{
#if COMPAT_SVC_RESPAGES
	rqstp->rq_pages_nfree = n;
#endif
}

/**
 * compat_svc_res_taken - pages of a Reply were taken from rq_respages
 * @rqstp: the thread; entries before rq_next_page are NULL where a page was taken
 *
 * A thread passes over such entries when it releases the pages before
 * rq_next_page, and fills them, and no others, again. Older kernels fill the
 * whole array, and some cannot release what is not there.
 *
 * Context: the thread.
 */
static inline void compat_svc_res_taken(struct svc_rqst *rqstp)
{
#if !COMPAT_SVC_RESPAGES
	rqstp->rq_next_page = rqstp->rq_respages;
#endif
}

/*
 * Older kernels do not ask RQ_SECURE of xpo_recvfrom but call, without a look
 * whether it is there, an operation that sets it.
 */
#if COMPAT_SVC_XPRT_OPS
#define COMPAT_SVC_SECURE_PORT
#else
static inline void compat_svc_secure_port(struct svc_rqst *rqstp)
{
	set_bit(RQ_SECURE, &rqstp->rq_flags);
}

#define COMPAT_SVC_SECURE_PORT	.xpo_secure_port = compat_svc_secure_port,
#endif

/**
 * compat_connect_timeout - how long a mount wants one attempt to take
 * @args: what the mount asks for
 *
 * Return: jiffies, or 0 if nothing was asked for
 */
static inline unsigned long
compat_connect_timeout(const struct xprt_create *args)
{
#if COMPAT_XPRT_CREATE
	return args->connect_timeout;
#else
	return 0;
#endif
}

/**
 * compat_reconnect_timeout - how long a mount wants to wait between attempts
 * @args: what the mount asks for
 *
 * Return: jiffies, or 0 if nothing was asked for
 */
static inline unsigned long
compat_reconnect_timeout(const struct xprt_create *args)
{
#if COMPAT_XPRT_CREATE
	return args->reconnect_timeout;
#else
	return 0;
#endif
}

/**
 * compat_rqst_has_seqno - does a Call carry a sequence number of RPCSEC_GSS?
 * @rqst: the Call, encoded
 *
 * Context: any.
 * Return: true if it does
 */
static inline bool compat_rqst_has_seqno(const struct rpc_rqst *rqst)
{
#if COMPAT_RQ_SEQNOS
	return rqst->rq_seqno_count;
#else
	return rqst->rq_seqno;
#endif
}

/**
 * compat_svc_peer_watch - have sunrpc take note of what a client may use
 * @xprt: the server's new transport
 *
 * Older kernels know nothing of filehandles. There a transport that asks for it
 * remembers that the server's table of exports has the address of its client,
 * which a client shows with its first Call that is not NULL.
 *
 * Context: the thread that has made @xprt, before anybody else sees it.
 */
static inline void compat_svc_peer_watch(struct svc_xprt *xprt)
{
#if !COMPAT_SVC_PEER_VALID
	set_bit(XPT_CACHE_AUTH, &xprt->xpt_flags);
#endif
}

/**
 * compat_svc_peer_valid - has a client shown that it may use something?
 * @xprt: the server's transport, which compat_svc_peer_watch() has seen
 *
 * Context: any.
 * Return: true if it has
 */
static inline bool compat_svc_peer_valid(const struct svc_xprt *xprt)
{
#if COMPAT_SVC_PEER_VALID
	return test_bit(XPT_PEER_VALID, &xprt->xpt_flags);
#else
	return READ_ONCE(xprt->xpt_auth_cache);
#endif
}

/**
 * compat_svc_conn_limit - how many connections does sunrpc allow a service?
 * @serv: the service
 *
 * Those that compat_svc_peer_valid() is true of do not count; in kernels that know
 * nothing of filehandles they do.
 *
 * Context: any.
 * Return: the number
 */
static inline unsigned int compat_svc_conn_limit(const struct svc_serv *serv)
{
#if COMPAT_SVC_MAX_TMP_CONN
	return XPT_MAX_TMP_CONN;
#else
	unsigned int most = READ_ONCE(serv->sv_maxconn);

	if (most)
		return most;
#if COMPAT_SVC_PEER_VALID
	return 64;
#else
	return (serv->sv_nrthreads + 3) * 20;
#endif
#endif
}

/**
 * compat_genl_dump_attrs - what a dump was asked for with
 * @cb: the dump
 *
 * Return: the attributes
 */
static inline struct nlattr **
compat_genl_dump_attrs(struct netlink_callback *cb)
{
#if COMPAT_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#if !COMPAT_WQ_PERCPU
#define WQ_PERCPU	0
#endif

#endif /* _RPCRDMA2_COMPAT_H */
