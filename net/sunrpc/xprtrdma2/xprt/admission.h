/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Admission of clients: which connection ends when too many exist whose clients
 * have not been served a filehandle. See admission.c.
 */
#ifndef _RPCRDMA2_ADMISSION_H
#define _RPCRDMA2_ADMISSION_H

#include <linux/list.h>
#include <linux/types.h>

struct rdma_cm_id;
struct rpcrdma2_admission;
struct rpcrdma2_origin;
struct rpcrdma2_svc;
struct svc_serv;
struct svc_xprt;

/**
 * enum rpcrdma2_stage - what a server knows of a client
 * @RPCRDMA2_STAGE_ACCEPTING: a thread is accepting the connection
 * @RPCRDMA2_STAGE_NEW: accepted, and no thread has taken a Call; sunrpc does not
 *	know of the connection, which belongs to the admission
 * @RPCRDMA2_STAGE_UNVERIFIED: sunrpc's; nfsd has served no filehandle as far as
 *	known
 * @RPCRDMA2_STAGE_KNOWN: the client has been verified, or the connection ends
 */
enum rpcrdma2_stage {
	RPCRDMA2_STAGE_ACCEPTING,
	RPCRDMA2_STAGE_NEW,
	RPCRDMA2_STAGE_UNVERIFIED,
	RPCRDMA2_STAGE_KNOWN,
};

/**
 * struct rpcrdma2_candidate - part of a connection that admission.c owns
 * @list: link among those in the same stage, oldest first
 * @calling: link among new ones that have a Call for a thread
 * @origin: where the client is
 * @stage: see enum rpcrdma2_stage
 * @since: since when, jiffies
 * @replied: when the client's device had its first Reply, jiffies; 0 before
 */
struct rpcrdma2_candidate {
	struct list_head		list;
	struct list_head		calling;
	struct rpcrdma2_origin		*origin;
	enum rpcrdma2_stage		stage;
	unsigned long			since;
	unsigned long			replied;
};

struct rpcrdma2_admission *
rpcrdma2_admission_create(struct svc_xprt *listener,
			  const struct svc_serv *serv);
void rpcrdma2_admission_stop(struct rpcrdma2_admission *adm);
void rpcrdma2_admission_put(struct rpcrdma2_admission *adm);

struct rpcrdma2_origin *rpcrdma2_origin_get(struct rpcrdma2_admission *adm,
					    const struct rdma_cm_id *cm_id);
void rpcrdma2_origin_put(struct rpcrdma2_origin *origin);
bool rpcrdma2_origin_is_new(const struct rpcrdma2_origin *origin);

void rpcrdma2_admit_init(struct rpcrdma2_svc *svc,
			 struct rpcrdma2_origin *origin);
void rpcrdma2_admit_room(struct rpcrdma2_admission *adm);
bool rpcrdma2_admit(struct rpcrdma2_svc *svc);
void rpcrdma2_admit_call(struct rpcrdma2_svc *svc);
bool rpcrdma2_admit_lost(struct rpcrdma2_svc *svc);
struct rpcrdma2_svc *rpcrdma2_admit_next(struct rpcrdma2_admission *adm);
void rpcrdma2_admit_replied(struct rpcrdma2_svc *svc);
void rpcrdma2_admit_end(struct rpcrdma2_svc *svc);

#endif /* _RPCRDMA2_ADMISSION_H */
