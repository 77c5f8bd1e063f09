/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server: connections as struct svc_xprt, for nfsd and any other sunrpc service;
 * listeners; and the admission of clients.
 */
#ifndef _RPCRDMA2_SERVER_H
#define _RPCRDMA2_SERVER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/workqueue.h>

#include "conn/conn.h"
#include "responder/responder.h"

/* Callbacks that may be outstanding on a connection */
#define RPCRDMA2_BC_CALLS	16U

struct rpcrdma2_origin;

/**
 * enum rpcrdma2_stage - what a server knows of a client
 * @RPCRDMA2_STAGE_ACCEPTING: a thread is accepting the connection
 * @RPCRDMA2_STAGE_NEW: accepted, and no thread has taken a Call. sunrpc does not
 *	know of the connection; the admission owns its reference
 * @RPCRDMA2_STAGE_UNVERIFIED: passed to sunrpc; as far as known nfsd has not served
 *	a filehandle
 * @RPCRDMA2_STAGE_KNOWN: the client has been verified, or the connection ends
 */
enum rpcrdma2_stage {
	RPCRDMA2_STAGE_ACCEPTING,
	RPCRDMA2_STAGE_NEW,
	RPCRDMA2_STAGE_UNVERIFIED,
	RPCRDMA2_STAGE_KNOWN,
};

/**
 * struct rpcrdma2_listener - a listener
 * @xprt: sunrpc's part; must be first
 * @mutex: protects @cm_id
 * @cm_id: listening CM id, NULL if the last attempt failed or listening has ended
 * @identity: of the service in this network namespace, as long as it has listeners
 * @rebuild_work: makes a new CM id after an address change, and repeats failed
 *	attempts
 * @pending: admission.c: addresses with connect requests that wait
 * @npending: admission.c: number of these requests
 * @calling: admission.c: new connections with a Call for a thread
 * @again: admission.c: wakes a thread for @calling
 */
struct rpcrdma2_listener {
	struct svc_xprt			xprt;
	struct mutex			mutex;	/* @cm_id */
	struct rdma_cm_id		*cm_id;
	u8				identity[RPCRDMA2_IDENTITY_BYTES];
	struct delayed_work		rebuild_work;
	struct list_head		pending;
	unsigned int			npending;
	struct list_head		calling;
	struct delayed_work		again;
};

/**
 * struct rpcrdma2_candidate - part of a connection that admission.c owns
 * @list: link in the list of all candidates of the same stage, oldest first
 * @calling: link in the list of new connections with a Call for a thread
 * @origin: address of the client; its listener is used only before @stage is UNVERIFIED
 * @stage: see enum rpcrdma2_stage
 * @until: the connection is not ended for another one before this time, jiffies
 */
struct rpcrdma2_candidate {
	struct list_head		list;
	struct list_head		calling;
	struct rpcrdma2_origin		*origin;
	enum rpcrdma2_stage		stage;
	unsigned long			until;
};

/* Maximum length of the private data of a connect request */
#define RPCRDMA2_PRIVATE_MAX	256

/**
 * struct rpcrdma2_pending - a connect request that waits for a thread
 * @list: link in the list of its origin; empty after removal
 * @listener: its listener
 * @cm_id: CM id of the new connection
 * @origin: address of the client
 * @param: parameters of the request
 * @private: its private data
 */
struct rpcrdma2_pending {
	struct list_head		list;
	struct rpcrdma2_listener	*listener;
	struct rdma_cm_id		*cm_id;
	struct rpcrdma2_origin		*origin;
	struct rdma_conn_param		param;
	u8				private[RPCRDMA2_PRIVATE_MAX];
};

/**
 * struct rpcrdma2_svc - a client's connection
 * @xprt: sunrpc's part; must be first
 * @conn: the connection
 * @stats: its counters
 * @resp: its responder role
 * @pool: its Receives
 * @stash: pages for the responder's next RDMA Reads
 * @cand: admission.c's part
 * @close_work: makes sunrpc close the transport
 * @free_work: tears everything down
 */
struct rpcrdma2_svc {
	struct svc_xprt			xprt;
	struct rpcrdma2_conn		*conn;
	struct rpcrdma2_stats		stats;
	struct rpcrdma2_responder	resp ____cacheline_aligned_in_smp;
	struct rpcrdma2_recv_pool	pool;
	struct page			*stash[RPCRDMA2_STASH];
	struct rpcrdma2_candidate	cand;
	struct work_struct		close_work;
	struct work_struct		free_work;
};

static inline struct rpcrdma2_svc *rpcrdma2_svc(struct svc_xprt *xprt)
{
	return container_of(xprt, struct rpcrdma2_svc, xprt);
}

void rpcrdma2_server_accept(const struct rpcrdma2_pending *req);

/* admission.c */
void rpcrdma2_admission_init(struct rpcrdma2_listener *listener);
void rpcrdma2_admission_stop(struct rpcrdma2_listener *listener);

int rpcrdma2_pending_add(struct rpcrdma2_listener *listener, struct rdma_cm_id *cm_id,
			 const struct rdma_conn_param *param, unsigned int most);
struct rpcrdma2_pending *rpcrdma2_pending_next(struct rpcrdma2_listener *listener);
void rpcrdma2_pending_free(struct rpcrdma2_pending *req);

void rpcrdma2_admit_init(struct rpcrdma2_svc *svc, const struct rpcrdma2_pending *req);
void rpcrdma2_admit_limit(const struct svc_serv *serv);
bool rpcrdma2_admit(struct rpcrdma2_svc *svc);
void rpcrdma2_admit_call(struct rpcrdma2_svc *svc);
bool rpcrdma2_admit_lost(struct rpcrdma2_svc *svc);
struct rpcrdma2_svc *rpcrdma2_admit_next(struct rpcrdma2_listener *listener);
void rpcrdma2_admit_replied(struct rpcrdma2_responder *resp);
void rpcrdma2_admit_end(struct rpcrdma2_svc *svc);

/* listener.c */
struct svc_xprt *rpcrdma2_listener_create(struct svc_xprt_class *xcl,
					  struct svc_serv *serv,
					  struct net *net,
					  struct sockaddr *sa, int salen);

/* server_bc.c */
struct rpc_xprt *rpcrdma2_server_bc_setup(struct xprt_class *class,
					  struct xprt_create *args);

#endif /* _RPCRDMA2_SERVER_H */
