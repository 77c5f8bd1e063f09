/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What cases against a client need: a small NFS version 3 server whose every
 * step a case can take over. The client under test is a mount in this guest.
 */
#ifndef _CONFORM_CLIENT_H
#define _CONFORM_CLIENT_H

#include "rp.h"
#include "jobs.h"

#define CL_MAX_READS	64
#define CL_MAX_WRITES	8
#define CL_MAX_SEGS	32
#define CL_MAX_RPC	(128u << 10)

enum {				/* NFS version 3 */
	NFS_NULL = 0, NFS_GETATTR = 1, NFS_SETATTR = 2, NFS_LOOKUP = 3,
	NFS_ACCESS = 4, NFS_READLINK = 5, NFS_READ = 6, NFS_WRITE = 7,
	NFS_CREATE = 8, NFS_REMOVE = 12, NFS_READDIR = 16,
	NFS_READDIRPLUS = 17, NFS_FSSTAT = 18, NFS_FSINFO = 19,
	NFS_PATHCONF = 20, NFS_COMMIT = 21,
};

/* Size of every file of the server */
#define CL_FILE_SIZE	((1u << 20) + 4095)
/* Entries of a directory: a Reply of about 16 KiB */
#define CL_DIR_ENTRIES	400

/**
 * struct cl_chunk - a Write chunk or a Reply chunk of a Call
 * @n: segments
 * @seg: the segments
 */
struct cl_chunk {
	unsigned int	n;
	struct rp_seg	seg[CL_MAX_SEGS];
};

/**
 * struct cl_call - a Call of the client, taken apart
 * @rx: the message
 * @xid: word 0
 * @vers: word 1
 * @credit: word 2
 * @htype: word 3
 * @inv: rdma_inv_handle
 * @nreads: entries of the Read list
 * @position: of each of them
 * @read: their segments
 * @nwrites: Write chunks
 * @write: the Write chunks
 * @has_reply: there is a Reply chunk
 * @reply: the Reply chunk
 * @prog: RPC program
 * @progvers: and its version
 * @proc: and the procedure
 * @head_len: bytes of the transport header
 * @rpc_len: bytes of @rpc
 * @args: offset of the arguments in @rpc
 * @rpc: the RPC message without what is in Read chunks
 */
struct cl_call {
	struct rp_rx	rx;
	uint32_t	xid;
	uint32_t	vers;
	uint32_t	credit;
	uint32_t	htype;
	uint32_t	inv;
	unsigned int	nreads;
	uint32_t	position[CL_MAX_READS];
	struct rp_seg	read[CL_MAX_READS];
	unsigned int	nwrites;
	struct cl_chunk	write[CL_MAX_WRITES];
	bool		has_reply;
	struct cl_chunk	reply;
	uint32_t	prog;
	uint32_t	progvers;
	uint32_t	proc;
	uint32_t	head_len;
	uint32_t	rpc_len;
	uint32_t	args;
	uint8_t		rpc[2 * RP_RECV_SIZE];	/* more in Position-Zero */
};

/**
 * struct cl - the server a case plays
 * @l: where the client connects
 * @c: the current connection
 * @mount: the mount
 * @grant: credits in every Reply
 * @limit: longest message the client takes, for what we send
 * @rbsiz: Receive Buffer Size the client announced
 * @brs: and its Reverse Request Support
 * @hook: called for every Call that is answered as usual; NFSv4.1
 * @control: called for every message first; true: that was all
 */
struct cl {
	struct rp_listener	*l;
	struct rp_conn		*c;
	struct rp_job		*mount;
	uint32_t		grant;
	uint32_t		limit;
	uint32_t		rbsiz;
	uint32_t		brs;
	bool			(*hook)(struct cl *s, struct cl_call *call);
	bool			(*control)(struct cl *s,
					   const struct rp_rx *rx);
};

/* Word @i of the arguments */
uint32_t cl_arg(const struct cl_call *call, unsigned int i);
/* A Reply with this RPC message, inline, in the version of the Call */
void cl_reply(struct cl *s, const struct cl_call *call,
	      const struct rp_msg *rpc);

/* Options of a version 3 mount that gives up soon */
#define CL_V3		"vers=3,soft,retrans=1,timeo=%u,port=%u"

/* Listen, and start a mount. More options may be given. */
struct cl *cl_start(const char *options);
/* The same with NFSv4.1 */
struct cl *cl_start_v41(void);
/* The next connection; cl_start() has none yet. */
struct rp_conn *cl_accept(struct cl *s);
struct rp_conn *cl_accept_how(struct cl *s, const struct rp_how *how);
/* The client's first message must be a CONNPROP: take it. Returns its XID. */
uint32_t cl_first(struct cl *s);
/* The first message must be a version 2 NULL Call: take it. */
struct cl_call *cl_first_call(struct cl *s);
/* Two connections on which nothing is answered, and the client leaves. */
void cl_stay_silent(struct cl *s);
/* Answer to cl_first(): RBSIZ 4096, BRS NONE, @grant credits */
struct rp_msg *cl_connprop(struct cl *s, uint32_t xid);
void cl_settle(struct cl *s);
/* The other way: version 1. A client that knows version 2 gets ERR_VERS. */
void cl_settle_v1(struct cl *s);
/* A mount that is complete: version 2, or 1 after ERR_VERS */
struct cl *cl_mounted(const char *options);
struct cl *cl_mounted_v1(const struct rp_how *how);

/* Calls: the next one; the next one of this procedure, others answered */
struct cl_call *cl_next(struct cl *s);
struct cl_call *cl_next_within(struct cl *s, unsigned int ms);
struct cl_call *cl_wait_for(struct cl *s, uint32_t proc);
struct cl_call *cl_parse(struct cl *s, const struct rp_rx *rx);
void cl_call_free(struct cl_call *call);

/* The RPC reply, whole: for READ with the data, for READDIR with entries */
struct rp_msg *cl_rpc_reply(struct cl *s, const struct cl_call *call);
/* The whole answer to a Call, sent as a server does */
void cl_answer(struct cl *s, const struct cl_call *call);
/* An ERROR for it; credits are those of the server */
void cl_error(struct cl *s, const struct cl_call *call, uint32_t code);
/* Lists of a Reply that repeat those of the Call, nothing used */
void cl_put_unused(struct rp_msg *m, const struct cl_call *call);

/* Answer everything until the job is over; returns its errno. */
int cl_serve(struct cl *s, struct rp_job *job);
/* Answer everything for so long. */
void cl_serve_for(struct cl *s, unsigned int ms);
/* The transport works: some file operation on the same connection */
void cl_alive(struct cl *s);
/* Reads, writes and lists, in whatever version was settled */
void cl_use(struct cl *s);
/* Nothing comes from the client, and the job goes on waiting. */
void cl_unimpressed(struct cl *s, struct rp_job *job);
/* Unmount, answering what it takes */
void cl_end(struct cl *s);

/* Parameters of the module; put back at the end of the process */
void cl_parameter(const char *name, const char *value);
/* A file name no one has used */
const char *cl_name(void);
unsigned int cl_timeo(void);

#endif /* _CONFORM_CLIENT_H */
