// SPDX-License-Identifier: GPL-2.0
/*
 * The module's state machines with numbers instead of structures, for check-data, which
 * applies the rows of tables to them, and for tests/models/version.pml.
 */

#include "../../net/sunrpc/xprtrdma2/proto/prop_change.h"
#include "../../net/sunrpc/xprtrdma2/proto/version.h"

#define NOW	1000
#define XID	1

/* ---- client ---- */

static struct rpcrdma2_ver_policy policy;
static struct rpcrdma2_ver_memory mem;
static struct rpcrdma2_neg neg;
static u32 own_xid;

void client_new(bool v1, bool v2, u32 xid)
{
	policy = (struct rpcrdma2_ver_policy){ v1, v2, .remember_min = 60, .remember_max = 600 };
	mem = (struct rpcrdma2_ver_memory){};
	neg = (struct rpcrdma2_neg){};
	own_xid = xid;
}

/* What is known from the connections before: what to begin with, for a minute or in the
 * next connection only; a loss
 */
void client_remembers(u32 begin, bool next)
{
	mem.begin = begin;
	mem.next = next;
	mem.until = next ? 0 : NOW + 60;
	mem.span = next ? 0 : 60;
}

void client_was_lost(void)
{
	mem.losses = 1;
}

u32 client_state(void)
{
	return neg.state;
}

u32 client_connected(void)
{
	return rpcrdma2_neg_connected(&neg, &policy, &mem, own_xid, NOW);
}

u32 client_timeout(void)
{
	return rpcrdma2_neg_timeout(&neg, NOW);
}

u32 client_lost(void)
{
	return rpcrdma2_neg_lost(&neg, NOW);
}

u32 client_refused(u32 err, u32 low, u32 high)
{
	const struct rpcrdma2_hdr hdr = { .err = err, .err_arg = { low, high } };

	return rpcrdma2_neg_refused(&neg, &hdr, NOW) ? RPCRDMA2_DO_RECONNECT :
						       RPCRDMA2_DO_NOTHING;
}

void client_proved(void)
{
	rpcrdma2_neg_proved(&neg);
}

u32 client_message(const u8 *msg, u32 len)
{
	struct rpcrdma2_hdr hdr;

	return rpcrdma2_neg_message(&neg, msg, len, &hdr, NOW);
}

u32 client_why(void)
{
	return neg.why;
}

/* The state in which connection @nth from now would begin, if nothing happened before it */
u32 client_begins(u32 nth, u32 *why)
{
	struct rpcrdma2_ver_memory copy = mem;
	struct rpcrdma2_neg n;

	while (nth--)
		rpcrdma2_neg_connected(&n, &policy, &copy, XID, NOW);
	*why = n.why;
	return n.state;
}

/* ---- server ---- */

/* @codec is the version that is settled, or 0, before and afterwards. */
u32 server_message(bool v1, bool v2, u32 *codec, const u8 *msg, u32 len, u32 *low, u32 *high)
{
	const struct rpcrdma2_ver_policy allowed = { v1, v2 };
	enum rpcrdma2_srv_action action;
	enum rpcrdma2_verdict verdict;
	struct rpcrdma2_hdr hdr;

	action = rpcrdma2_srv_ver_message(&allowed, rpcrdma2_wire_codec(*codec), msg, len, &hdr,
					  &verdict);
	*low = hdr.err_arg[0];
	*high = hdr.err_arg[1];
	if (action == RPCRDMA2_SRV_SETTLE)
		*codec = hdr.vers;
	return action;
}

/* ---- what may be sent while the peer is asked to change its Receive Buffer Size ---- */

static struct rpcrdma2_change change;
static struct rpcrdma2_propset peer;

void limit_begin(u32 size)
{
	struct rpcrdma2_propset mine;

	rpcrdma2_propset_init(&mine);
	mine.x_change = true;
	peer = mine;
	peer.listed = BIT(RPCRDMA2_RBSIZ);
	peer.val[RPCRDMA2_RBSIZ] = size;
	rpcrdma2_prop_change_init(&change, &mine, &peer);
}

void limit_ask(u32 size)
{
	rpcrdma2_prop_change_ask(&change, &peer, RPCRDMA2_RBSIZ, size);
}

void limit_send(void)
{
	u8 buf[RPCRDMA2_PROPS_MAX];

	rpcrdma2_prop_change_put_reqprop(&change, XID, buf, sizeof(buf));
}

void limit_error(void)
{
	rpcrdma2_prop_change_error(&change, &peer, XID, RDMA2_ERR_SYSTEM);
}

/* The body of an UPDPROP, and of a RESPROP */
void limit_update(const u8 *body, u32 len)
{
	const struct rpcrdma2_hdr hdr = { .body = body, .body_len = len };
	struct rpcrdma2_update upd;

	rpcrdma2_prop_change_update(&hdr, &peer, &upd);
}

void limit_response(const u8 *body, u32 len)
{
	const struct rpcrdma2_hdr hdr = { .xid = XID, .body = body, .body_len = len };
	bool malformed;

	rpcrdma2_prop_change_response(&change, &hdr, &peer, &malformed);
}

u32 limit(void)
{
	return rpcrdma2_prop_change_limit(&change, &peer, RPCRDMA2_RBSIZ);
}
