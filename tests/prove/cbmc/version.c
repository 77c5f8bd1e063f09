// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of the version, step by step: from any state in which the invariant holds, every
 * event leads to a state in which it holds; both sides speak only what their policy allows;
 * and a connect attempt of a client ends after at most four connections. Decoders are
 * replaced by any result they can have, so this is so for messages of any length.
 */
#include "proto/version.h"
#include "proto/props.h"

static enum rpcrdma2_verdict any_decode(const void *msg, u32 len, struct rpcrdma2_hdr *hdr);

const struct rpcrdma2_codec rpcrdma2_codec_v1 = { .vers = 1, .decode = any_decode };
const struct rpcrdma2_codec rpcrdma2_codec_v2 = { .vers = 2, .decode = any_decode };

#include "proto/chunk_list.c"
#include "proto/wire.c"
#include "proto/version.c"

struct rpcrdma2_hdr nondet_hdr(void);

static struct {
	enum rpcrdma2_verdict	verdict;
	bool			response;
} decoded;

static enum rpcrdma2_verdict any_decode(const void *msg, u32 len, struct rpcrdma2_hdr *hdr)
{
	u32 verdict = nondet_u32();

	*hdr = nondet_hdr();
	hdr->response = decoded.response = nondet_bool();
	if (!rpcrdma2_wire_peek(msg, len, hdr))
		return RPCRDMA2_DROP;
	assume(verdict <= RPCRDMA2_BAD_VERS);
	decoded.verdict = verdict;
	return verdict;
}

/* props.c: the body of an accepted CONNPROP may be any */
static bool good_set;
static u32 recv_size;

int rpcrdma2_propset_decode(const void *buf, u32 len, struct rpcrdma2_propset *set)
{
	set->val[RPCRDMA2_RBSIZ] = recv_size;
	return good_set ? 4 : -EBADMSG;
}

static struct rpcrdma2_ver_policy policy;
static struct rpcrdma2_ver_memory mem;
static struct rpcrdma2_neg n;
static u64 now;

/* How the next connection begins */
static enum rpcrdma2_begin next_begin(void)
{
	enum rpcrdma2_begin begin = mem.next || now < mem.until ? mem.begin :
								   RPCRDMA2_BEGIN_CONNPROP;

	return begin == RPCRDMA2_BEGIN_V1 && !policy.v1 ? RPCRDMA2_BEGIN_CONNPROP : begin;
}

/* Connections that an attempt may still need, after the one that begins like this */
static u32 rank(enum rpcrdma2_begin begin)
{
	if (!policy.v2 || begin == RPCRDMA2_BEGIN_V1)
		return 0;
	return (begin == RPCRDMA2_BEGIN_CALL ? 1 : 2) + !mem.losses;
}

static bool waits(enum rpcrdma2_neg_state state)
{
	return state == RPCRDMA2_NEG_WAIT || state == RPCRDMA2_NEG_WAIT_REPLY;
}

static bool invariant(void)
{
	if ((u32)n.state > RPCRDMA2_NEG_FAILED || (u32)n.why >= RPCRDMA2_NR_WHY ||
	    (u32)mem.begin > RPCRDMA2_BEGIN_V1 || (u32)mem.why >= RPCRDMA2_NR_WHY ||
	    mem.losses >= LOSSES_MAX || mem.span > policy.remember_max ||
	    (mem.begin == RPCRDMA2_BEGIN_V1 && !mem.why))
		return false;
	if (n.state == RPCRDMA2_NEG_V1)
		return policy.v1;
	if (n.saw_err_vers)
		return false;
	if (n.state == RPCRDMA2_NEG_V2)
		return policy.v2;
	/* What was sent is how the connection began. */
	if (n.state == RPCRDMA2_NEG_WAIT)
		return policy.v2 && !mem.next && next_begin() == RPCRDMA2_BEGIN_CONNPROP;
	if (n.state == RPCRDMA2_NEG_WAIT_REPLY)
		return policy.v2 && !mem.next && mem.begin == RPCRDMA2_BEGIN_CALL;
	return true;
}

static enum rpcrdma2_neg_state before;

/* ERR-12, ERR-13, PROP-16, VER-6, VER-10, VER-18 */
static enum rpcrdma2_neg_action message(void)
{
	u32 len = any_message(4 * WORDS), low = 0, high = 0;
	enum rpcrdma2_neg_action action;
	struct rpcrdma2_hdr hdr;
	bool own, err_vers, usable = recv_size >= 1024;

	action = rpcrdma2_neg_message(&n, room, len, &hdr, now);
	if (!waits(before) || len < 16)
		return action;
	own = words[0] == n.xid;
	err_vers = own && words[3] == RDMA2_ERROR &&
		   rpcrdma2_wire_decode_err_vers(room, len, &low, &high);
	if (err_vers)
		assert(action == (policy.v1 && low <= 1 && 1 <= high ? RPCRDMA2_DO_SETTLE :
								       RPCRDMA2_DO_FAIL));
	switch (action) {
	case RPCRDMA2_DO_SETTLE:
		if (n.state == RPCRDMA2_NEG_V1)
			assert(err_vers);
		else if (words[3] == RDMA2_CONNPROP)
			assert(good_set && usable && words[1] == 2 && (own || !hdr.response));
		else
			assert(words[3] == RDMA2_MSG && words[1] == 2 && own && hdr.response &&
			       before == RPCRDMA2_NEG_WAIT_REPLY);
		break;
	case RPCRDMA2_DO_BAD_XDR:
		assert(words[3] == RDMA2_CONNPROP && words[1] == 2);
		break;
	case RPCRDMA2_DO_RECONNECT:
		assert(own && words[3] == RDMA2_ERROR);
		break;
	case RPCRDMA2_DO_FAIL:
		assert(words[3] == RDMA2_CONNPROP ? good_set && !usable :
						    own && words[3] == RDMA2_ERROR);
		break;
	default:
		break;
	}
	return action;
}

static void check_action(enum rpcrdma2_neg_action action, u32 rank_before)
{
	switch (action) {
	case RPCRDMA2_DO_SETTLE:
		assert(n.state == RPCRDMA2_NEG_V1 || n.state == RPCRDMA2_NEG_V2);
		assert(n.why && (waits(before) || before == RPCRDMA2_NEG_START));
		break;
	case RPCRDMA2_DO_SEND_CONNPROP:
	case RPCRDMA2_DO_SEND_CALL:
		assert(before == RPCRDMA2_NEG_START && rank_before);
		assert(n.state == (action == RPCRDMA2_DO_SEND_CALL ? RPCRDMA2_NEG_WAIT_REPLY :
								 RPCRDMA2_NEG_WAIT));
		break;
	case RPCRDMA2_DO_RECONNECT:
		assert(waits(before) && n.state == RPCRDMA2_NEG_START);
		/* So there are at most four connections. */
		assert(rank(next_begin()) < rank_before && rank_before <= 3);
		break;
	case RPCRDMA2_DO_FAIL:
		assert(n.state == RPCRDMA2_NEG_FAILED && !mem.until && !mem.next && !mem.losses);
		break;
	default:
		assert(n.state == before);
	}
}

static struct rpcrdma2_neg any_neg(void)
{
	return (struct rpcrdma2_neg){ &policy, &mem, nondet_u32(), nondet_u32(), nondet_u32(),
				      nondet_bool() };
}

void client(void)
{
	enum rpcrdma2_neg_action action = RPCRDMA2_DO_NOTHING;
	struct rpcrdma2_hdr hdr = nondet_hdr();
	u32 rank_before;

	policy = (struct rpcrdma2_ver_policy){ nondet_bool(), nondet_bool(), nondet_u32(),
					       nondet_u32() };
	mem = (struct rpcrdma2_ver_memory){ nondet_u32(), nondet_u64(), nondet_bool(), nondet_u32(),
					    nondet_u32(), nondet_u32() };
	n = any_neg();
	good_set = nondet_bool();
	recv_size = nondet_u32();
	now = nondet_u64();
	assume(invariant());
	assume(now < 1ULL << 63);
	now += nondet_u32();			/* Time passes. */
	assert(invariant());
	before = n.state;
	rank_before = rank(before == RPCRDMA2_NEG_WAIT_REPLY ? RPCRDMA2_BEGIN_CALL : next_begin());
	switch (nondet_u32()) {
	case 0:
		n = any_neg();			/* What it was does not count. */
		before = RPCRDMA2_NEG_START;
		rank_before = rank(next_begin());
		action = rpcrdma2_neg_connected(&n, &policy, &mem, nondet_u32(), now);
		if (policy.v1 || policy.v2)
			assert((action == RPCRDMA2_DO_SETTLE) == !rank_before);
		break;
	case 1:
		action = message();
		break;
	case 2:
		action = rpcrdma2_neg_timeout(&n, now);
		assert((action != RPCRDMA2_DO_NOTHING) == waits(before));
		break;
	case 3:
		action = rpcrdma2_neg_lost(&n, now);
		assert((action != RPCRDMA2_DO_NOTHING) == waits(before));
		if (before != RPCRDMA2_NEG_FAILED && action == RPCRDMA2_DO_NOTHING)
			before = RPCRDMA2_NEG_START;
		break;
	case 4:
		if (!rpcrdma2_neg_refused(&n, &hdr, now))
			break;
		if (before == RPCRDMA2_NEG_V2)		/* D-34 */
			assert(policy.v1 && hdr.err == RDMA2_ERR_INVAL_HTYPE &&
			       !rank(next_begin()));
		else					/* VER-10 */
			assert(policy.v2 && before == RPCRDMA2_NEG_V1 &&
			       n.why != RPCRDMA2_WHY_ERR_VERS && hdr.err == RDMA2_ERR_VERS &&
			       hdr.err_arg[0] <= 2 && 2 <= hdr.err_arg[1] &&
			       next_begin() == RPCRDMA2_BEGIN_CONNPROP);
		break;
	case 5:
		assume(!waits(n.state));
		rpcrdma2_neg_proved(&n);
		assert(!mem.losses && !n.saw_err_vers);
		break;
	case 6:
		/* Of an administrator; an attempt begins anew. */
		assume(!waits(n.state));
		rpcrdma2_neg_forget(&mem);
		assert(next_begin() == RPCRDMA2_BEGIN_CONNPROP);
		break;
	case 7:
		mem.losses = 0;			/* The server cannot be reached (VER-15). */
		break;
	case 8:
		if (rpcrdma2_neg_outdated(&n, now))
			assert(next_begin() == RPCRDMA2_BEGIN_CONNPROP);
		break;
	}
	check_action(action, rank_before);
	assert(invariant());
}

/* Section 8.2 of the requirements; HDR-5, HDR-12, VER-20, VER-21 */
static enum rpcrdma2_srv_action wanted(const struct rpcrdma2_codec *codec, u32 len)
{
	bool call, other;

	if (len < 16 || (words[1] == 2 && len < 20) ||
	    (words[1] == 1 && words[3] != RDMA2_ERROR && len < 28))
		return RPCRDMA2_SRV_DROP;
	call = words[3] != RDMA2_ERROR && !(words[1] == 2 && words[4] & 1);
	if (codec && words[1] != codec->vers)
		return call ? RPCRDMA2_SRV_ERR_VERS_CLOSE : RPCRDMA2_SRV_CLOSE;
	other = !codec && !(words[1] == 1 && policy.v1) && !(words[1] == 2 && policy.v2);
	if (other)
		return call && (policy.v1 || policy.v2) ? RPCRDMA2_SRV_ERR_VERS : RPCRDMA2_SRV_DROP;
	if (decoded.verdict == RPCRDMA2_DROP)
		return RPCRDMA2_SRV_DROP;
	if (codec || decoded.verdict != RPCRDMA2_OK)
		return RPCRDMA2_SRV_PASS;
	if (words[3] == RDMA2_CONNPROP)
		return good_set ? RPCRDMA2_SRV_SETTLE : RPCRDMA2_SRV_PASS;
	return decoded.response ? RPCRDMA2_SRV_DROP : RPCRDMA2_SRV_SETTLE;
}

void server(void)
{
	const struct rpcrdma2_codec *codec = rpcrdma2_wire_codec(nondet_u32());
	u32 len = any_message(4 * WORDS);
	enum rpcrdma2_verdict verdict;
	enum rpcrdma2_srv_action action;
	struct rpcrdma2_hdr hdr;

	policy = (struct rpcrdma2_ver_policy){ nondet_bool(), nondet_bool() };
	good_set = nondet_bool();
	action = rpcrdma2_srv_ver_message(&policy, codec, room, len, &hdr, &verdict);
	assert(action == wanted(codec, len));
	if (action == RPCRDMA2_SRV_ERR_VERS_CLOSE)
		assert(hdr.err_arg[0] == codec->vers && hdr.err_arg[1] == codec->vers);
	if (action == RPCRDMA2_SRV_ERR_VERS)
		assert(hdr.err_arg[0] == (policy.v1 ? 1 : 2) &&
		       hdr.err_arg[1] == (policy.v2 ? 2 : 1));
	/* The answer copies these (ERR-11). */
	if (action == RPCRDMA2_SRV_ERR_VERS || action == RPCRDMA2_SRV_ERR_VERS_CLOSE)
		assert(hdr.xid == words[0] && hdr.vers == words[1]);
	if (action == RPCRDMA2_SRV_PASS && !codec)
		assert(verdict != RPCRDMA2_OK);
}
