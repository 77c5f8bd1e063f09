/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that differs between the kernels this module is built for.
 *
 * scripts/probe-compat.sh compiles a few lines against the kernel at hand
 * and writes compat_probes.h with one COMPAT_HAVE_* line for each that
 * compiles; the build defines RPCRDMA2_PROBES if it is there. Without it (a
 * build inside a kernel tree) the newest supported interfaces are assumed. No
 * other file asks for a kernel version.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>

#ifdef RPCRDMA2_PROBES
#include "compat_probes.h"
#else
#define COMPAT_HAVE_SV_CB_LWQ 1
#endif

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
#ifdef COMPAT_HAVE_SV_CB_LWQ
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
#else
	spin_lock(&serv->sv_cb_lock);
	list_add(&rqst->rq_bc_list, &serv->sv_cb_list);
	spin_unlock(&serv->sv_cb_lock);
	wake_up(&serv->sv_cb_waitq);
#endif
}

#endif /* _RPCRDMA2_COMPAT_H */
