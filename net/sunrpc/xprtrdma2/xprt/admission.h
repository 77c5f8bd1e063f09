/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Admission of clients: which connection ends when too many exist whose clients
 * have not been served a filehandle. See admission.c.
 */
#ifndef _RPCRDMA2_ADMISSION_H
#define _RPCRDMA2_ADMISSION_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct rdma_cm_id;
struct rpcrdma2_origin;
struct rpcrdma2_svc;
struct svc_serv;
struct svc_xprt;

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
 * struct rpcrdma2_admission - admission to one listener
 * @listener: the listener
 * @ended: it has ended
 * @calling: new connections of the listener with a Call for a thread
 * @again: wakes a thread of the listener for @calling
 */
struct rpcrdma2_admission {
	struct svc_xprt			*listener;
	bool				ended;
	struct list_head		calling;
	struct delayed_work		again;
};

/**
 * struct rpcrdma2_candidate - part of a connection that admission.c owns
 * @list: link in the list of all candidates of the same stage, oldest first
 * @calling: link in the list of new connections with a Call for a thread
 * @adm: admission of the listener; used only before @stage is UNVERIFIED
 * @origin: address of the client
 * @stage: see enum rpcrdma2_stage
 * @until: the connection is not ended for another one before this time, jiffies
 */
struct rpcrdma2_candidate {
	struct list_head		list;
	struct list_head		calling;
	struct rpcrdma2_admission	*adm;
	struct rpcrdma2_origin		*origin;
	enum rpcrdma2_stage		stage;
	unsigned long			until;
};

void rpcrdma2_admission_init(struct rpcrdma2_admission *adm,
			     struct svc_xprt *listener);
void rpcrdma2_admission_stop(struct rpcrdma2_admission *adm);

struct rpcrdma2_origin *rpcrdma2_origin_get(const struct svc_serv *serv,
					    const struct rdma_cm_id *cm_id);
void rpcrdma2_origin_put(struct rpcrdma2_origin *origin);
bool rpcrdma2_origin_is_new(const struct rpcrdma2_origin *origin);

void rpcrdma2_admit_init(struct rpcrdma2_svc *svc,
			 struct rpcrdma2_admission *adm,
			 struct rpcrdma2_origin *origin);
void rpcrdma2_admit_limit(const struct rpcrdma2_origin *origin);
bool rpcrdma2_admit(struct rpcrdma2_svc *svc);
void rpcrdma2_admit_call(struct rpcrdma2_svc *svc);
bool rpcrdma2_admit_lost(struct rpcrdma2_svc *svc);
struct rpcrdma2_svc *rpcrdma2_admit_next(struct rpcrdma2_admission *adm);
void rpcrdma2_admit_replied(struct rpcrdma2_svc *svc);
void rpcrdma2_admit_end(struct rpcrdma2_svc *svc);

#endif /* _RPCRDMA2_ADMISSION_H */
