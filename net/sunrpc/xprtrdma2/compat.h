/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels. All other files use the interfaces
 * of the newest kernel, and no file tests the kernel version.
 *
 * scripts/probe-compat.sh compiles one probe for each difference and writes the
 * results into compat_probes.h: 1 for the newer interface, 0 for the older one.
 * The script describes the probes. A kernel with neither interface is refused,
 * because the wrong choice often compiles and then corrupts memory. For the same
 * reason a missing result is an error. A build in a kernel tree uses the newest
 * interfaces and needs no probes.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#ifdef RPCRDMA2_PROBES
#include "compat_probes.h"
#else
#define COMPAT_UNALIGNED 1
#define COMPAT_ALLOC_PAGES_BULK 1
#define COMPAT_KZALLOC_OBJ 1
#define COMPAT_TIMER_DELETE_SYNC 1
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
#endif

#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/timer.h>
#include <net/genetlink.h>

/* Without a result #if would take the older interface. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wundef"

/* No code depends on this one: a kernel with neither is refused. */
#if COMPAT_RPC_XPRT_OPS
#endif

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

#if !COMPAT_TIMER_DELETE_SYNC
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

/* Assign a string field of a trace event; the source is that of its __string(). */
#if COMPAT_ASSIGN_STR
#define compat_assign_str(dst, ...)	__assign_str(dst)
#else
#define compat_assign_str(dst, ...)	__assign_str(dst, __VA_ARGS__)
#endif

#if !COMPAT_SVC_SERV_NRPOOLS
#define svc_serv_nrpools(serv)	((serv)->sv_nrpools)
#endif

/**
 * compat_svc_idle_thread - check for an idle thread
 * @serv: the service
 *
 * Before 6.8 svc_xprt_enqueue() takes locks, so the event handler of a completion
 * queue must not call it. There the result is always false.
 *
 * Context: any, including hard interrupts.
 * Return: true if a thread of the service is idle and svc_xprt_enqueue() takes no locks
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
 * compat_svc_enqueue_bc - pass a backchannel Call to the service threads
 * @serv: the callback service
 * @rqst: the Call; the service owns the Call after this
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
 * compat_svc_args_end - set the end of the argument's pages
 * @rqstp: a thread, with or without a Call
 * @n: number of entries of rq_pages that the argument uses
 *
 * In older kernels the Reply has no array of pages: it uses the pages behind the
 * argument. Must be called before rq_respages is read.
 *
 * Context: the thread of @rqstp.
 */
static inline void compat_svc_args_end(struct svc_rqst *rqstp, u32 n)
{
#if !COMPAT_SVC_RESPAGES
	rqstp->rq_respages = &rqstp->rq_pages[n];
#endif
}

/**
 * compat_svc_args_taken - announce that pages are taken from rq_pages
 * @rqstp: a thread that does not process a Call now
 * @n: the first @n entries may become NULL
 *
 * When a thread fills the array again it checks only the first @n entries. Older
 * kernels check all entries.
 *
 * Context: the thread of @rqstp.
 */
static inline void compat_svc_args_taken(struct svc_rqst *rqstp, u32 n)
{
#if COMPAT_SVC_RESPAGES
	rqstp->rq_pages_nfree = n;
#endif
}

/**
 * compat_svc_res_taken - announce that pages of a Reply were taken from rq_respages
 * @rqstp: the thread; entries of taken pages before rq_next_page are NULL
 *
 * A thread skips NULL entries when it releases the pages before rq_next_page, and
 * then fills these entries only. Older kernels fill the whole array, and some of
 * them cannot release a NULL entry.
 *
 * Context: the thread of @rqstp.
 */
static inline void compat_svc_res_taken(struct svc_rqst *rqstp)
{
#if !COMPAT_SVC_RESPAGES
	rqstp->rq_next_page = rqstp->rq_respages;
#endif
}

/*
 * In older kernels a separate operation, xpo_secure_port, sets RQ_SECURE. sunrpc
 * calls it without a check for NULL.
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

/* Time limit of a mount for one connect attempt, and its longest delay between attempts;
 * jiffies, or 0 if the mount sets none
 */
#if COMPAT_XPRT_CREATE
#define compat_connect_timeout(args)	((args)->connect_timeout)
#define compat_reconnect_timeout(args)	((args)->reconnect_timeout)
#else
#define compat_connect_timeout(args)	((void)(args), 0UL)
#define compat_reconnect_timeout(args)	((void)(args), 0UL)
#endif

/**
 * compat_rqst_has_seqno - check for a sequence number of RPCSEC_GSS
 * @rqst: the encoded Call
 *
 * Context: any.
 * Return: true if the Call has a sequence number
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
 * compat_svc_peer_watch - make sunrpc record whether a client is verified
 * @xprt: the server's new transport
 *
 * Older kernels do not record that a client has been served a filehandle. There a
 * transport with XPT_CACHE_AUTH records, at the first Call other than NULL, that
 * the server's table of exports has the address of its client.
 *
 * Context: the thread that created @xprt, before @xprt is visible to others.
 */
static inline void compat_svc_peer_watch(struct svc_xprt *xprt)
{
#if !COMPAT_SVC_PEER_VALID
	set_bit(XPT_CACHE_AUTH, &xprt->xpt_flags);
#endif
}

/**
 * compat_svc_peer_valid - check whether a client is verified
 * @xprt: the server's transport, after compat_svc_peer_watch()
 *
 * Context: any.
 * Return: true if the client is verified
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
 * compat_svc_conn_limit - sunrpc's limit on the connections of a service
 * @serv: the service
 *
 * Connections of verified clients do not count, except in older kernels, see
 * compat_svc_peer_watch().
 *
 * Context: any.
 * Return: the largest number of connections
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
 * compat_genl_dump_attrs - attributes of the request for a dump
 * @cb: the dump
 *
 * Return: the attributes, by their number
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

#pragma GCC diagnostic pop

#endif /* _RPCRDMA2_COMPAT_H */
