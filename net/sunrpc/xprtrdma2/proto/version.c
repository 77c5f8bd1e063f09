// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation of the version: the client's state machine, the server's
 * choice, and the client's memory of servers that do not answer.
 *
 * Every function here is pure: no kernel service, no lock, no allocation,
 * any context. Time is an argument. The owner serialises the calls on one
 * object.
 */

#include "proto/props.h"
#include "proto/version.h"
#include "proto/wire_impl.h"

#define LOSSES_MAX		2U	/* more are not the fault of the link (VER-15) */

static const char * const why_names[RPCRDMA2_NR_WHY] = {
	[RPCRDMA2_WHY_NONE]		= "not settled",
	[RPCRDMA2_WHY_CONNPROP]		= "CONNPROP answered",
	[RPCRDMA2_WHY_CALL]		= "first Call",
	[RPCRDMA2_WHY_ERR_VERS]		= "peer answered ERR_VERS",
	[RPCRDMA2_WHY_OTHER_ERROR]	= "peer answered another error",
	[RPCRDMA2_WHY_SILENCE]		= "peer did not answer",
	[RPCRDMA2_WHY_LOST]		= "connection lost twice",
	[RPCRDMA2_WHY_ERR_VERS_LOST]	= "connection lost after ERR_VERS",
	[RPCRDMA2_WHY_REMEMBERED]	= "remembered",
	[RPCRDMA2_WHY_ADMIN]		= "administrator",
	[RPCRDMA2_WHY_NO_COMMON]	= "no common version",
	[RPCRDMA2_WHY_REQUIRED]		= "version 2 is required",
	[RPCRDMA2_WHY_PEER_ERROR]	= "peer does not conform",
	[RPCRDMA2_WHY_REPLY]		= "Call answered, not CONNPROP",
};

/**
 * rpcrdma2_neg_why_name - a reason in words
 * @why: the reason
 *
 * Context: any. Requirements: SEC-11.
 * Return: a constant string.
 */
const char *rpcrdma2_neg_why_name(enum rpcrdma2_why why)
{
	return (u32)why < RPCRDMA2_NR_WHY ? why_names[why] : "unknown";
}

/* The client's memory */

/* Begin connections like this for a time that grows (VER-16). */
static void neg_remember(struct rpcrdma2_neg *n, enum rpcrdma2_begin begin,
			 enum rpcrdma2_why why, u64 now)
{
	struct rpcrdma2_ver_memory *mem = n->mem;
	u64 span = max_t(u64, n->policy->remember_min, 2ULL * mem->span);

	mem->span = min_t(u64, span, n->policy->remember_max);
	mem->begin = begin;
	mem->until = now + mem->span;
	mem->next = true;
	mem->why = why;
	mem->losses = 0;
}

/**
 * rpcrdma2_neg_forget - clear the memory of a transport
 * @mem: its memory
 *
 * Context: any. Requirements: VER-16.
 */
void rpcrdma2_neg_forget(struct rpcrdma2_ver_memory *mem)
{
	memset(mem, 0, sizeof(*mem));
}

/* The client's state machine */

/* What to do in each state. A failure clears the memory. */
static enum rpcrdma2_neg_action neg_go(struct rpcrdma2_neg *n, enum rpcrdma2_neg_state to,
				       enum rpcrdma2_why why)
{
	static const enum rpcrdma2_neg_action actions[] = {
		[RPCRDMA2_NEG_START]		= RPCRDMA2_DO_RECONNECT,
		[RPCRDMA2_NEG_WAIT]		= RPCRDMA2_DO_SEND_CONNPROP,
		[RPCRDMA2_NEG_WAIT_REPLY]	= RPCRDMA2_DO_SEND_CALL,
		[RPCRDMA2_NEG_V1]		= RPCRDMA2_DO_SETTLE,
		[RPCRDMA2_NEG_V2]		= RPCRDMA2_DO_SETTLE,
		[RPCRDMA2_NEG_FAILED]		= RPCRDMA2_DO_FAIL,
	};

	n->state = to;
	n->why = why;
	if (to == RPCRDMA2_NEG_FAILED)
		rpcrdma2_neg_forget(n->mem);
	return actions[to];
}

static bool neg_waits(const struct rpcrdma2_neg *n)
{
	return n->state == RPCRDMA2_NEG_WAIT ||
	       n->state == RPCRDMA2_NEG_WAIT_REPLY;
}

/* The peer does not accept version 2: connect again with version 1. */
static enum rpcrdma2_neg_action neg_fall_back(struct rpcrdma2_neg *n,
					      enum rpcrdma2_why why, u64 now)
{
	if (!n->policy->v1)
		return neg_go(n, RPCRDMA2_NEG_FAILED, RPCRDMA2_WHY_REQUIRED);
	neg_remember(n, RPCRDMA2_BEGIN_V1, why, now);
	return neg_go(n, RPCRDMA2_NEG_START, why);
}

/**
 * rpcrdma2_neg_connected - the connection is up
 * @n: negotiation; earlier contents do not count
 * @policy: what is allowed; stays valid as long as @n
 * @mem: memory of the transport; stays valid as long as @n
 * @xid: XID for our first message (ERR-7)
 * @now: seconds
 *
 * A fallback within this connect attempt keeps its own reason; an earlier
 * one is reported as REMEMBERED.
 *
 * Context: any. Requirements: REC-1, VER-1, VER-13, VER-16, VER-17, VER-24.
 * Return: what to do next.
 */
enum rpcrdma2_neg_action
rpcrdma2_neg_connected(struct rpcrdma2_neg *n, const struct rpcrdma2_ver_policy *policy,
		       struct rpcrdma2_ver_memory *mem, u32 xid, u64 now)
{
	enum rpcrdma2_why why = RPCRDMA2_WHY_REMEMBERED;
	enum rpcrdma2_begin begin;

	*n = (struct rpcrdma2_neg) { .policy = policy, .mem = mem, .xid = xid };
	if (!policy->v2)
		return neg_go(n, policy->v1 ? RPCRDMA2_NEG_V1 : RPCRDMA2_NEG_FAILED,
			      RPCRDMA2_WHY_ADMIN);

	begin = mem->next || now < mem->until ? mem->begin :
						RPCRDMA2_BEGIN_CONNPROP;
	if (mem->next)
		why = mem->why;
	mem->next = false;
	if (begin == RPCRDMA2_BEGIN_V1 && policy->v1)
		return neg_go(n, RPCRDMA2_NEG_V1, why);
	return neg_go(n, begin == RPCRDMA2_BEGIN_CALL ? RPCRDMA2_NEG_WAIT_REPLY :
							RPCRDMA2_NEG_WAIT,
		      RPCRDMA2_WHY_NONE);
}

static enum rpcrdma2_neg_action neg_err_vers(struct rpcrdma2_neg *n, u32 low,
					     u32 high)
{
	if (low > high || low > RPCRDMA_VERS_2 || high < RPCRDMA_VERS_1)
		return neg_go(n, RPCRDMA2_NEG_FAILED, RPCRDMA2_WHY_NO_COMMON);
	if (low > RPCRDMA_VERS_1)	/* the peer offers what it has just refused */
		return neg_go(n, RPCRDMA2_NEG_FAILED, RPCRDMA2_WHY_PEER_ERROR);
	if (!n->policy->v1)
		return neg_go(n, RPCRDMA2_NEG_FAILED, RPCRDMA2_WHY_REQUIRED);
	n->saw_err_vers = true;
	n->mem->losses = 0;
	return neg_go(n, RPCRDMA2_NEG_V1, RPCRDMA2_WHY_ERR_VERS);
}

/*
 * Is this ERROR an ERR_CHUNK of a version 1 server, which may have copied
 * our version number into it? In the layout of version 2 it would have no
 * RESPONSE flag.
 */
static bool is_err_chunk(const void *msg, u32 len,
			 const struct rpcrdma2_hdr *hdr)
{
	if (len < 20)
		return false;
	if (hdr->vers != RPCRDMA_VERS_1 &&
	    (hdr->vers != RPCRDMA_VERS_2 || len > 20))
		return false;
	return get_unaligned_be32((const u8 *)msg + 16) ==
	       RDMA2_ERR_BAD_XDR;
}

static enum rpcrdma2_neg_action neg_connprop(struct rpcrdma2_neg *n,
					     const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_propset set;

	if (rpcrdma2_propset_decode(hdr->body, hdr->body_len, &set) < 0)
		return RPCRDMA2_DO_BAD_XDR;
	if (hdr->response && hdr->xid != n->xid)
		return RPCRDMA2_DO_NOTHING;
	if (set.val[RPCRDMA2_RBSIZ] < RPCRDMA2_RBSIZ_MIN)	/* PROP-16, D-27 */
		return neg_go(n, RPCRDMA2_NEG_FAILED, RPCRDMA2_WHY_PEER_ERROR);
	rpcrdma2_neg_forget(n->mem);
	return neg_go(n, RPCRDMA2_NEG_V2, RPCRDMA2_WHY_CONNPROP);
}

/* Our Call has been answered: this server speaks version 2 and ignores
 * CONNPROP, which the draft allows. Remember that.
 */
static enum rpcrdma2_neg_action neg_reply(struct rpcrdma2_neg *n,
					  const struct rpcrdma2_hdr *hdr,
					  u64 now)
{
	if (n->state != RPCRDMA2_NEG_WAIT_REPLY || !hdr->response ||
	    hdr->xid != n->xid)
		return RPCRDMA2_DO_NOTHING;
	if (now >= n->mem->until)
		neg_remember(n, RPCRDMA2_BEGIN_CALL, RPCRDMA2_WHY_REPLY, now);
	n->mem->next = false;
	n->mem->losses = 0;
	return neg_go(n, RPCRDMA2_NEG_V2, RPCRDMA2_WHY_REPLY);
}

/**
 * rpcrdma2_neg_message - a message arrived
 * @n: negotiation; unless it waits the message is ignored (ERR-14)
 * @msg: received message
 * @len: bytes received
 * @hdr: filled as far as @msg can be decoded
 * @now: seconds
 *
 * If it is a CONNPROP that settles the version, or the Reply to our Call, the
 * result is SETTLE with state V2, and @hdr is decoded by the codec of version 2;
 * @hdr->response tells whether its credit is a grant. The property set of a
 * CONNPROP was found good; the caller decodes it again to use it.
 *
 * Context: any. Requirements: VER-6, VER-10, VER-18, ERR-12, ERR-13,
 * CONN-10, D-22.
 * Return: what to do next.
 */
enum rpcrdma2_neg_action rpcrdma2_neg_message(struct rpcrdma2_neg *n,
					      const void *msg, u32 len,
					      struct rpcrdma2_hdr *hdr,
					      u64 now)
{
	enum rpcrdma2_verdict verdict;
	u32 low, high;

	verdict = rpcrdma2_codec_v2.decode(msg, len, hdr);
	if (!neg_waits(n) || len < RPCRDMA_COMMON_PREFIX)
		return RPCRDMA2_DO_NOTHING;

	if (hdr->htype == RDMA2_ERROR) {
		if (hdr->xid != n->xid)
			return RPCRDMA2_DO_NOTHING;
		if (rpcrdma2_wire_decode_err_vers(msg, len, &low, &high))
			return neg_err_vers(n, low, high);
		if (verdict == RPCRDMA2_OK || is_err_chunk(msg, len, hdr))
			return neg_fall_back(n, RPCRDMA2_WHY_OTHER_ERROR, now);
		return RPCRDMA2_DO_NOTHING;
	}
	if (hdr->vers != RPCRDMA_VERS_2)
		return RPCRDMA2_DO_NOTHING;
	if (hdr->htype == RDMA2_MSG && verdict == RPCRDMA2_OK)
		return neg_reply(n, hdr, now);
	if (hdr->htype != RDMA2_CONNPROP)
		return RPCRDMA2_DO_NOTHING;
	if (verdict == RPCRDMA2_BAD_XDR)
		return RPCRDMA2_DO_BAD_XDR;
	return verdict == RPCRDMA2_OK ? neg_connprop(n, hdr) :
					RPCRDMA2_DO_NOTHING;
}

/**
 * rpcrdma2_neg_timeout - no answer to our first message within the limit
 * @n: negotiation
 * @now: seconds
 *
 * A server of version 2 may ignore CONNPROP, but must answer a Call.
 *
 * Context: any. Requirements: VER-14, V1-9, D-22.
 * Return: what to do next; NOTHING unless it waits.
 */
enum rpcrdma2_neg_action rpcrdma2_neg_timeout(struct rpcrdma2_neg *n, u64 now)
{
	if (!neg_waits(n))
		return RPCRDMA2_DO_NOTHING;
	if (n->state == RPCRDMA2_NEG_WAIT_REPLY)
		return neg_fall_back(n, RPCRDMA2_WHY_SILENCE, now);
	n->mem->begin = RPCRDMA2_BEGIN_CALL;
	n->mem->next = true;
	return neg_go(n, RPCRDMA2_NEG_START, RPCRDMA2_WHY_SILENCE);
}

/**
 * rpcrdma2_neg_lost - the connection is gone
 * @n: negotiation
 * @now: seconds
 *
 * In a settled state the attempt is over. A loss after ERR_VERS and before
 * any Reply is remembered.
 *
 * Context: any. Requirements: VER-13, VER-15, V1-10.
 * Return: what to do next: while it waits RECONNECT, or FAIL if that would be with
 * a version that is not allowed; else NOTHING.
 */
enum rpcrdma2_neg_action rpcrdma2_neg_lost(struct rpcrdma2_neg *n, u64 now)
{
	if (neg_waits(n)) {
		if (++n->mem->losses >= LOSSES_MAX)
			return neg_fall_back(n, RPCRDMA2_WHY_LOST, now);
		/* the same message again */
		n->mem->next = n->state == RPCRDMA2_NEG_WAIT_REPLY;
		return neg_go(n, RPCRDMA2_NEG_START, RPCRDMA2_WHY_NONE);
	}
	if (n->state == RPCRDMA2_NEG_FAILED)
		return RPCRDMA2_DO_NOTHING;
	if (n->saw_err_vers)
		neg_remember(n, RPCRDMA2_BEGIN_V1, RPCRDMA2_WHY_ERR_VERS_LOST, now);
	n->saw_err_vers = false;
	n->state = RPCRDMA2_NEG_START;
	return RPCRDMA2_DO_NOTHING;
}

/**
 * rpcrdma2_neg_refused - a Call of the settled version was answered with an ERROR
 * @n: negotiation that has settled a version
 * @error: header of the ERROR
 * @now: seconds
 *
 * INVAL_HTYPE: the server does not know MSG or NOMSG, so it does not conform to
 * version 2. ERR_VERS with version 2 about version 1: losses or silence were not the fault
 * of version 2, the server takes no other one. This does not apply to a server that has
 * refused version 2 on this connection.
 *
 * Context: any. Requirements: ERR-18, VER-10, VER-15, D-22, D-34.
 * Return: true if the next connection is to begin with the other version
 */
bool rpcrdma2_neg_refused(struct rpcrdma2_neg *n, const struct rpcrdma2_hdr *error,
			  u64 now)
{
	if (n->state == RPCRDMA2_NEG_V2 && error->err == RDMA2_ERR_INVAL_HTYPE &&
	    n->policy->v1) {
		neg_remember(n, RPCRDMA2_BEGIN_V1, RPCRDMA2_WHY_OTHER_ERROR, now);
		return true;
	}
	if (n->state == RPCRDMA2_NEG_V1 && error->err == RDMA2_ERR_VERS &&
	    n->policy->v2 && n->why != RPCRDMA2_WHY_ERR_VERS &&
	    error->err_arg[0] <= RPCRDMA_VERS_2 && error->err_arg[1] >= RPCRDMA_VERS_2) {
		rpcrdma2_neg_forget(n->mem);
		return true;
	}
	return false;
}

/**
 * rpcrdma2_neg_proved - the settled version works
 * @n: negotiation
 *
 * A server that goes on after its ERR_VERS works correctly: if it falls
 * silent later, the memory starts with the shortest span again. A connection
 * that began with v1 because of the memory tells nothing new about v2.
 *
 * Context: any. Requirements: VER-13, VER-16.
 */
void rpcrdma2_neg_proved(struct rpcrdma2_neg *n)
{
	n->mem->losses = 0;
	if (n->saw_err_vers)
		rpcrdma2_neg_forget(n->mem);
	n->saw_err_vers = false;
}

/**
 * rpcrdma2_neg_outdated - has the reason for the settled version expired?
 * @n: negotiation that has settled a version
 * @now: seconds
 *
 * Context: any. Requirements: VER-16.
 * Return: true if a new connection would begin with CONNPROP, and this one has not
 * been answered that, or ERR_VERS.
 */
bool rpcrdma2_neg_outdated(const struct rpcrdma2_neg *n, u64 now)
{
	const u32 expiring = BIT(RPCRDMA2_WHY_OTHER_ERROR) | BIT(RPCRDMA2_WHY_SILENCE) |
			     BIT(RPCRDMA2_WHY_LOST) | BIT(RPCRDMA2_WHY_ERR_VERS_LOST) |
			     BIT(RPCRDMA2_WHY_REMEMBERED) | BIT(RPCRDMA2_WHY_REPLY);

	return BIT(n->why) & expiring && !n->mem->next && now >= n->mem->until;
}

/* The server */

static bool srv_supports(const struct rpcrdma2_ver_policy *policy, u32 vers)
{
	return (vers == RPCRDMA_VERS_1 && policy->v1) ||
	       (vers == RPCRDMA_VERS_2 && policy->v2);
}

/* May this message of a version that is not in use be a Call? */
static bool srv_may_be_call(const void *msg, const struct rpcrdma2_hdr *hdr)
{
	if (hdr->htype == RDMA2_ERROR)
		return false;
	if (hdr->vers != RPCRDMA_VERS_2)
		return true;
	return !(get_unaligned_be32((const u8 *)msg + 16) &
		 RPCRDMA2_F_RESPONSE);
}

static enum rpcrdma2_srv_action srv_refuse(const struct rpcrdma2_ver_policy *policy,
					   const struct rpcrdma2_codec *codec,
					   const void *msg, struct rpcrdma2_hdr *hdr)
{
	bool call = srv_may_be_call(msg, hdr);

	if (codec) {					/* HDR-12, D-14 */
		hdr->err_arg[0] = codec->vers;
		hdr->err_arg[1] = codec->vers;
		return call ? RPCRDMA2_SRV_ERR_VERS_CLOSE :
			      RPCRDMA2_SRV_CLOSE;
	}
	if (!call || (!policy->v1 && !policy->v2))
		return RPCRDMA2_SRV_DROP;
	hdr->err_arg[0] = policy->v1 ? RPCRDMA_VERS_1 : RPCRDMA_VERS_2;
	hdr->err_arg[1] = policy->v2 ? RPCRDMA_VERS_2 : RPCRDMA_VERS_1;
	return RPCRDMA2_SRV_ERR_VERS;
}

/*
 * The first well-formed message. No Call of ours is outstanding, so only a
 * Call or a CONNPROP settles the version.
 */
static enum rpcrdma2_srv_action srv_first(const struct rpcrdma2_hdr *hdr,
					  enum rpcrdma2_verdict *verdict)
{
	struct rpcrdma2_propset set;

	if (hdr->htype != RDMA2_CONNPROP)
		return hdr->response ? RPCRDMA2_SRV_DROP : RPCRDMA2_SRV_SETTLE;
	if (rpcrdma2_propset_decode(hdr->body, hdr->body_len, &set) >= 0)
		return RPCRDMA2_SRV_SETTLE;
	*verdict = RPCRDMA2_BAD_XDR;
	return RPCRDMA2_SRV_PASS;
}

/**
 * rpcrdma2_srv_ver_message - judge a message by its version
 * @policy: what is allowed
 * @codec: the settled codec, NULL while the version is open
 * @msg: received message
 * @len: bytes received
 * @hdr: filled as far as @msg can be decoded
 * @verdict: what the decoder said
 *
 * The first well-formed message of a supported version settles it. After PASS and SETTLE
 * @hdr and @verdict hold what the decoder of version @hdr->vers said; if the
 * version is still open the message is a faulty one of a supported version: it
 * settles nothing, and the answer is that of rpcrdma2_wire_codec(@hdr->vers).
 * With the ERR_VERS actions @hdr holds the prefix to be copied, and the lowest and the
 * highest version to name.
 *
 * Context: any. Requirements: HDR-4, HDR-11, HDR-12, ERR-11, HT-4, VER-8,
 * VER-9, VER-19, VER-20, VER-21, VER-24.
 * Return: what to do with the message.
 */
enum rpcrdma2_srv_action
rpcrdma2_srv_ver_message(const struct rpcrdma2_ver_policy *policy,
			 const struct rpcrdma2_codec *codec, const void *msg, u32 len,
			 struct rpcrdma2_hdr *hdr, enum rpcrdma2_verdict *verdict)
{
	struct rpcrdma2_reader r;

	*verdict = RPCRDMA2_DROP;
	if (!rpcrdma2_wire_prefix(&r, msg, len, hdr))
		return RPCRDMA2_SRV_DROP;
	if (codec ? hdr->vers != codec->vers : !srv_supports(policy, hdr->vers)) {
		*verdict = RPCRDMA2_BAD_VERS;
		return srv_refuse(policy, codec, msg, hdr);
	}

	*verdict = rpcrdma2_wire_codec(hdr->vers)->decode(msg, len, hdr);
	if (*verdict == RPCRDMA2_DROP)
		return RPCRDMA2_SRV_DROP;
	if (codec || *verdict != RPCRDMA2_OK)
		return RPCRDMA2_SRV_PASS;
	return srv_first(hdr, verdict);
}

/**
 * rpcrdma2_neg_other_draft - is this another protocol called version 2?
 * @msg: received message
 * @len: bytes received
 *
 * Later drafts have a prefix of four words and other header types.
 *
 * Context: any. Requirements: VER-23, D-33.
 * Return: true if it looks so.
 */
bool rpcrdma2_neg_other_draft(const void *msg, u32 len)
{
	struct rpcrdma2_hdr hdr;

	if (!rpcrdma2_wire_peek(msg, len, &hdr) || hdr.vers != RPCRDMA_VERS_2)
		return false;
	if (hdr.htype >= 6 && hdr.htype <= 13)
		return true;
	return hdr.htype == RDMA2_CONNPROP && len == RPCRDMA_COMMON_PREFIX;
}
