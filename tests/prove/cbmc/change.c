// SPDX-License-Identifier: GPL-2.0
/*
 * Property changes, step by step: from any state in which the invariant holds, every function
 * leads to a state in which it holds, and does what the requirements say. props.c has shown
 * what a received set can be, so here it is any such set.
 */
#define rpcrdma2_propset_decode real_decode
#include "proto/props.c"
#undef rpcrdma2_propset_decode
#include "proto/chunk_list.c"
#include "proto/wire.c"
#include "proto/wire_v2.c"
#include "proto/prop_change.c"

struct rpcrdma2_change nondet_change(void);
struct rpcrdma2_propset nondet_set(void);

static struct rpcrdma2_change c, old;
static struct rpcrdma2_propset peer, mine, old_peer, received;
static bool received_ok;

static struct rpcrdma2_propset any_set(void)
{
	struct rpcrdma2_propset set = nondet_set();

	set.x_change = nondet_bool();
	assume(set.listed < 4 && !(set.nochg & ~set.listed) && set.val[1] <= 2);
	return set;
}

int rpcrdma2_propset_decode(const void *buf, u32 len, struct rpcrdma2_propset *set)
{
	assert((const u8 *)buf + len == room + readable);
	assume(!received_ok || len >= 4);
	if (!received_ok)
		return -EBADMSG;
	*set = received;
	return 4;
}

/* What holds between two calls */
static bool invariant(void)
{
	u32 i;

	if (c.asked > 3 || c.want > 3 || c.dirty > 3 || (c.asked && !c.pending) ||
	    (u32)c.announcement > RPCRDMA2_ANN_PROVING ||
	    (c.announcement == RPCRDMA2_ANN_PROVING && !c.pending))
		return false;
	/* A request that was sent now would not lower a limit (CHG-26). */
	if (c.want & ~c.asked & 1 && c.value[0] < peer.val[0])
		return false;
	/* A result is WAITING exactly as long as a request is queued or sent. */
	for (i = 0; i < 2; i++)
		if ((u32)c.result[i] > RPCRDMA2_CHANGE_REJECTED ||
		    (c.result[i] == RPCRDMA2_CHANGE_WAITING) !=
		    (c.on && (c.want | c.asked) & BIT(i)))
			return false;
	return true;
}

/* The steps: each makes of @old what @c must be. */

static void init(void)
{
	rpcrdma2_prop_change_init(&c, &mine, &peer);
	assert(c.on == (mine.x_change && peer.x_change) && !rpcrdma2_prop_change_next(&c));
	old = c;
}

static void ask(void)
{
	u32 prop = nondet_u32(), value = nondet_u32();
	bool may = old.on && prop < 2 && peer.listed & ~peer.nochg & BIT(prop);

	/* prop_update.c asks for no smaller size. */
	assume(prop || value >= peer.val[0]);
	assert(!rpcrdma2_prop_change_ask(&c, &peer, prop, value) == may);
	if (!may)
		return;
	old.want |= BIT(prop);
	old.value[prop] = value;
	old.result[prop] = RPCRDMA2_CHANGE_WAITING;
	assert(c.pending || rpcrdma2_prop_change_next(&c));
}

/* A value of ours changes (CHG-19). */
static void own_value(void)
{
	c.dirty |= BIT(nondet_bool());
	old.dirty = c.dirty;
	assert((rpcrdma2_prop_change_next(&c) == RDMA2_X_UPDPROP) ==
	       (c.on && c.announcement == RPCRDMA2_ANN_NONE));
}

/* Either message is sent exactly when it may be, and fits into its buffer. */
static void request(void)
{
	u32 i, xid = nondet_u32(), next = rpcrdma2_prop_change_next(&c);
	int ret = rpcrdma2_prop_change_put_reqprop(&c, xid, room, writable);

	assert((ret == -EBUSY) == (!old.on || old.pending));
	assert(next != RDMA2_X_REQPROP || ret != -EBUSY);
	assert(ret != -EMSGSIZE || writable < RPCRDMA2_PROPS_MAX);
	if (ret < 0)
		return;
	for (i = 0; i < 2; i++)
		old.asked_value[i] = old.value[i];
	old.asked = old.want;
	old.want = 0;
	old.pending = true;
	old.xid = xid;
	old.rounds -= !!old.rounds;
	/* A request behind the announcement proves that it has arrived (CHG-21). */
	if (old.announcement == RPCRDMA2_ANN_SENT)
		old.announcement = RPCRDMA2_ANN_PROVING;
}

static void update(void)
{
	u32 xid = nondet_u32(), next = rpcrdma2_prop_change_next(&c);
	int ret = rpcrdma2_prop_change_put_updprop(&c, xid, &mine, room, writable);

	assert((ret == -EBUSY) == (!old.on || old.announcement != RPCRDMA2_ANN_NONE));
	assert(next != RDMA2_X_UPDPROP || ret != -EBUSY);
	assert(ret != -EMSGSIZE || writable < RPCRDMA2_PROPS_MAX);
	if (ret < 0)
		return;
	old.dirty = 0;
	old.announcement = RPCRDMA2_ANN_SENT;
	old.upd_xid = xid;
}

/* Section 8.3 of the requirements */
static void limit(void)
{
	u32 size = rpcrdma2_prop_change_limit(&c, &peer, RPCRDMA2_RBSIZ);

	assert(size == (c.asked & 1 ? min(peer.val[0], c.asked_value[0]) : peer.val[0]));
	assert(rpcrdma2_prop_change_limit(&c, &peer, RPCRDMA2_BRS) == peer.val[1]);
}

/* A queued request that would lower the limit is dropped (CHG-26), but not before the one
 * that was sent has ended, which may lower it.
 */
static void drop_met(void)
{
	if (!(old.want & ~old.asked & 1) || old_peer.val[0] < old.value[0])
		return;
	old.want &= ~1;
	old.result[0] = RPCRDMA2_CHANGE_DONE;
}

/* The peer has a new value, perhaps one that it has rejected. */
static void met(u32 i)
{
	bool queued = old.want & BIT(i);

	rpcrdma2_prop_change_met(&c, &peer, i);
	if (i == 0)
		drop_met();
	if (!queued && old.result[i] == RPCRDMA2_CHANGE_REJECTED &&
	    old_peer.val[i] == old.value[i])
		old.result[i] = RPCRDMA2_CHANGE_DONE;
}

/* No answer to the request comes any more. */
static void request_ends(void)
{
	u32 i;

	for (i = 0; i < 2; i++)
		if (old.asked & ~old.want & BIT(i) && old.result[i] == RPCRDMA2_CHANGE_WAITING)
			old.result[i] = RPCRDMA2_CHANGE_REJECTED;
	old.pending = false;
	old.asked = 0;
	drop_met();
	if (old.announcement == RPCRDMA2_ANN_PROVING)
		old.announcement = RPCRDMA2_ANN_NONE;
}

/* CHG-8 to CHG-16; a request has at most two entries, so only the first words count. */
static void response(void)
{
	struct rpcrdma2_hdr hdr = { .xid = nondet_u32(), .body = room, .body_len = readable };
	u32 i, done, other, rejected, entry = 0, rest = readable / 4, d = words[0], r;
	bool good, malformed, answer = old.pending && hdr.xid == old.xid;

	good = rest && d <= rest - 1 && d < rest - 1 && words[1 + d] <= rest - 2 - d;
	r = good ? words[1 + d] : 0;
	good &= received_ok;
	assert(rpcrdma2_prop_change_response(&c, &hdr, &peer, &malformed) == answer);
	assert(malformed == (answer && !good));
	for (i = 0; i < 2; i++) {
		if (!answer || !good || !(old.asked & BIT(i)))
			continue;
		done = d ? words[1] >> entry & 1 : 0;
		rejected = r ? words[2 + d] >> entry & 1 : 0;
		other = received.listed >> i & 1;
		rejected |= done == other;
		entry++;
		if (!rejected)
			old_peer.val[i] = done ? old.asked_value[i] : received.val[i];
		if (!(old.want & BIT(i)))
			old.result[i] = rejected ? RPCRDMA2_CHANGE_REJECTED :
					done ? RPCRDMA2_CHANGE_DONE : RPCRDMA2_CHANGE_OTHER;
	}
	if (answer)
		request_ends();
}

static void error(void)
{
	u32 i, xid = nondet_u32(), err = nondet_u32();
	bool request = old.on && old.pending && xid == old.xid;
	bool about = request || (old.on && old.announcement != RPCRDMA2_ANN_NONE &&
				 xid == old.upd_xid);

	assert(rpcrdma2_prop_change_error(&c, &peer, xid, err) == about);
	if (request)
		request_ends();
	else if (about && old.announcement == RPCRDMA2_ANN_SENT)
		old.announcement = RPCRDMA2_ANN_NONE;
	if (!about || err != RDMA2_ERR_INVAL_HTYPE)
		return;
	old.on = false;					/* HT-9 */
	for (i = 0; i < 2; i++)
		if (old.result[i] == RPCRDMA2_CHANGE_WAITING)
			old.result[i] = RPCRDMA2_CHANGE_REJECTED;
	assert(!rpcrdma2_prop_change_next(&c));
}

/* Only entries that a RESPROP can mention are answered with values. */
static void requested(void)
{
	struct rpcrdma2_hdr hdr = { .body = room, .body_len = readable };
	struct rpcrdma2_propset req;
	u32 i;

	if (rpcrdma2_prop_change_requested(&hdr, &req) < 0)
		return;
	for (i = 0; i < 2; i++)
		assert(!(req.listed & BIT(i)) == (!(received.listed & BIT(i)) ||
						  received.entry[i] >= RPCRDMA2_CHANGE_ENTRIES));
}

static void answer_request(void)
{
	struct rpcrdma2_propset req = any_set();
	u32 done = nondet_u32(), other = nondet_u32();
	int ret;

	assume(req.entry[0] < RPCRDMA2_CHANGE_ENTRIES && req.entry[1] < RPCRDMA2_CHANGE_ENTRIES);
	assume(req.count <= 40);
	ret = rpcrdma2_prop_change_put_resprop(&c, &req, done, other, &mine, room, writable);
	assert(ret > 0 ? (u32)ret <= writable : writable < RPCRDMA2_RESPROP_MAX);
	if (ret < 0)
		return;
	old.dirty &= ~((done | other) & req.listed);	/* The peer knows these values. */
}

/* CHG-22, CHG-28, CONN-6 */
static void updated(void)
{
	struct rpcrdma2_hdr hdr = { .body = room, .body_len = readable };
	struct rpcrdma2_update upd, wanted = {};
	bool lower;
	u32 i;

	assert(rpcrdma2_prop_change_update(&hdr, &peer, &upd) == (received_ok ? 0 : -EBADMSG));
	for (i = 0; received_ok && i < 2; i++) {
		lower = i == 0 && received.val[0] < old_peer.val[0];
		if (!(received.listed & BIT(i)))
			continue;
		if (!(peer.listed & BIT(i)) || (peer.nochg & BIT(i) && !lower)) {
			wanted.ignored |= BIT(i);
			continue;
		}
		wanted.unasked |= lower ? BIT(i) : 0;
		wanted.changed |= received.val[i] != old_peer.val[i] ? BIT(i) : 0;
		old_peer.val[i] = received.val[i];
	}
	assert(equal(upd, wanted));
	for (i = 0; i < 2; i++)
		if (upd.changed & BIT(i))
			met(i);
}

void changes(void)
{
	c = nondet_change();
	c.on = nondet_bool();
	c.pending = nondet_bool();
	peer = any_set();
	mine = any_set();
	received = any_set();
	received_ok = nondet_bool();
	any_message(48);
	writable = nondet_u32();
	assume(invariant() && writable <= 4 * WORDS);
	old = c;
	old_peer = peer;
	switch (nondet_u32()) {
	case 0: init(); break;
	case 1: ask(); break;
	case 2: own_value(); break;
	case 3: request(); break;
	case 4: update(); break;
	case 5: limit(); break;
	case 6: met(nondet_bool()); break;
	case 7: response(); break;
	case 8: error(); break;
	case 9: answer_request(); break;
	case 10: updated(); break;
	case 11: requested(); break;
	}
	assert(equal(c, old) && equal(peer, old_peer) && invariant());
}

/* A RESPROP tells the side that has asked what its peer has done. */
void answers(void)
{
	struct rpcrdma2_propset req = { .listed = 3, .count = 2, .entry = { 0, 1 } };
	struct rpcrdma2_hdr hdr = { .xid = nondet_u32(), .body = room };
	u32 i, done, other, value;
	bool malformed;
	int len;

	received_ok = true;
	for (done = 0; done < 4; done++) {
		for (other = 0; other < 4; other++) {
			c = (struct rpcrdma2_change){ .on = true, .pending = true, .xid = hdr.xid,
				.asked = 3, .asked_value = { nondet_u32(), nondet_u32() } };
			mine = any_set();
			peer = old_peer = any_set();
			writable = RPCRDMA2_RESPROP_MAX;
			len = rpcrdma2_prop_change_put_resprop(&old, &req, done, other, &mine, room,
							       writable);
			readable = hdr.body_len = len;
			/* props.c has shown that the set is read back. */
			received = mine;
			received.listed = other & ~done;
			assert(rpcrdma2_prop_change_response(&c, &hdr, &peer, &malformed));
			for (i = 0; i < 2; i++) {
				value = done & BIT(i) ? c.asked_value[i] :
					other & BIT(i) ? mine.val[i] : old_peer.val[i];
				assert(!malformed && peer.val[i] == value);
				assert(c.result[i] == (done & BIT(i) ? RPCRDMA2_CHANGE_DONE :
						       other & BIT(i) ? RPCRDMA2_CHANGE_OTHER :
						       RPCRDMA2_CHANGE_REJECTED));
			}
		}
	}
}
