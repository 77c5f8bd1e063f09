// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation: any sequence of messages and events, on both sides. The
 * version never changes once settled, a disabled one is never settled, and
 * a connect attempt comes to an end.
 *
 * Input: one byte of policy, then events. An event is a byte: below 0xf0
 * the length of the message that follows, else what happens.
 */

#include "fuzz.h"

enum { EV_TIMEOUT = 0xf0, EV_LOST, EV_PROVED, EV_LATER, EV_CONNECT };

/* Connections of one attempt: v2 twice, v2 with a Call, then v1 */
#define ATTEMPTS_MAX	4

struct client {
	struct rpcrdma2_ver_policy	policy;
	struct rpcrdma2_ver_memory	mem;
	struct rpcrdma2_neg		neg;
	u64				now;
	u32				reconnects;
};

static bool waits(enum rpcrdma2_neg_state state)
{
	return state == RPCRDMA2_NEG_WAIT || state == RPCRDMA2_NEG_WAIT_REPLY;
}

static void client_connect(struct client *c)
{
	enum rpcrdma2_neg_action action;

	action = rpcrdma2_neg_connected(&c->neg, &c->policy, &c->mem, 0xc0de0001, c->now);
	CHECK(action == RPCRDMA2_DO_SEND_CONNPROP ||
	      action == RPCRDMA2_DO_SEND_CALL ||
	      action == RPCRDMA2_DO_SETTLE || action == RPCRDMA2_DO_FAIL);
	CHECK((action == RPCRDMA2_DO_SEND_CONNPROP) ==
	      (c->neg.state == RPCRDMA2_NEG_WAIT));
	CHECK((action == RPCRDMA2_DO_SEND_CALL) ==
	      (c->neg.state == RPCRDMA2_NEG_WAIT_REPLY));
	if (action == RPCRDMA2_DO_SETTLE)
		CHECK(c->neg.state == RPCRDMA2_NEG_V1 && c->policy.v1);
}

static void client_did(struct client *c, enum rpcrdma2_neg_state before,
		       enum rpcrdma2_neg_action action)
{
	const struct rpcrdma2_neg *n = &c->neg;

	switch (action) {
	case RPCRDMA2_DO_RECONNECT:
		CHECK(waits(before));
		CHECK(++c->reconnects < ATTEMPTS_MAX);
		client_connect(c);
		break;
	case RPCRDMA2_DO_SETTLE:
		CHECK(waits(before));
		CHECK(n->state == RPCRDMA2_NEG_V1 ? c->policy.v1 :
						    c->policy.v2);
		CHECK(n->why != RPCRDMA2_WHY_NONE);
		CHECK(n->why != RPCRDMA2_WHY_REPLY ||
		      before == RPCRDMA2_NEG_WAIT_REPLY);
		c->reconnects = 0;
		break;
	case RPCRDMA2_DO_FAIL:
		CHECK(waits(before));
		CHECK(n->state == RPCRDMA2_NEG_FAILED);
		c->reconnects = 0;
		break;
	case RPCRDMA2_DO_BAD_XDR:
		CHECK(waits(before) && n->state == before);
		break;
	case RPCRDMA2_DO_NOTHING:
		break;
	default:
		CHECK(!"an action that makes no sense here");
	}
	if (n->state == RPCRDMA2_NEG_V1)
		c->reconnects = 0;
}

static void client_message(struct client *c, const u8 *msg, u32 len)
{
	enum rpcrdma2_neg_state before = c->neg.state;
	enum rpcrdma2_neg_action action;
	struct rpcrdma2_hdr hdr;

	action = rpcrdma2_neg_message(&c->neg, msg, len, &hdr, c->now);
	if (!waits(before))
		CHECK(action == RPCRDMA2_DO_NOTHING &&
		      c->neg.state == before);
	client_did(c, before, action);
}

static void client_event(struct client *c, u8 event)
{
	enum rpcrdma2_neg_state before = c->neg.state;

	switch (event) {
	case EV_TIMEOUT:
		client_did(c, before, rpcrdma2_neg_timeout(&c->neg, c->now));
		break;
	case EV_LOST:
		client_did(c, before, rpcrdma2_neg_lost(&c->neg, c->now));
		break;
	case EV_PROVED:
		if (before == RPCRDMA2_NEG_V1 || before == RPCRDMA2_NEG_V2)
			rpcrdma2_neg_proved(&c->neg);
		break;
	case EV_LATER:
		c->now += 100;
		break;
	case EV_CONNECT:
		if (before == RPCRDMA2_NEG_START ||
		    before == RPCRDMA2_NEG_FAILED)
			client_connect(c);
		break;
	}
	CHECK(c->mem.span <= c->policy.remember_max);
	CHECK(c->mem.until <= c->now + c->policy.remember_max);
}

static void server_message(const struct rpcrdma2_ver_policy *policy,
			   const struct rpcrdma2_codec **codec, const u8 *msg, u32 len)
{
	const struct rpcrdma2_codec *before = *codec;
	enum rpcrdma2_srv_action action;
	enum rpcrdma2_verdict verdict;
	struct rpcrdma2_hdr hdr;

	action = rpcrdma2_srv_ver_message(policy, before, msg, len, &hdr, &verdict);
	if (action == RPCRDMA2_SRV_SETTLE) {
		CHECK(!before && verdict == RPCRDMA2_OK);
		*codec = rpcrdma2_wire_codec(hdr.vers);
		CHECK(hdr.vers == RPCRDMA_VERS_1 ? policy->v1 : policy->v2);
	}
	switch (action) {
	case RPCRDMA2_SRV_PASS:
	case RPCRDMA2_SRV_SETTLE:
		CHECK(verdict != RPCRDMA2_BAD_VERS);
		CHECK(verdict != RPCRDMA2_OK || *codec);
		CHECK(rpcrdma2_wire_codec(hdr.vers));
		break;
	case RPCRDMA2_SRV_ERR_VERS:
		CHECK(!before && hdr.htype != RDMA2_ERROR);
		CHECK(hdr.err_arg[0] == (policy->v1 ? 1 : 2));
		CHECK(hdr.err_arg[1] == (policy->v2 ? 2 : 1));
		break;
	case RPCRDMA2_SRV_ERR_VERS_CLOSE:
		CHECK(before && hdr.htype != RDMA2_ERROR);
		CHECK(hdr.err_arg[0] == before->vers && hdr.err_arg[1] == before->vers);
		break;
	case RPCRDMA2_SRV_CLOSE:
		CHECK(before);
		break;
	default:
		CHECK(action == RPCRDMA2_SRV_DROP);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct rpcrdma2_codec *codec = NULL;
	struct client c = {};
	size_t len;
	u8 *msg;

	if (!size)
		return 0;
	c.policy.v1 = data[0] & 1;
	c.policy.v2 = data[0] & 2;
	c.policy.remember_min = data[0] & 4 ? 60 : 0;
	c.policy.remember_max = data[0] & 8 ? 600 : 30;
	data++;
	size--;
	client_connect(&c);

	while (size) {
		if (*data >= EV_TIMEOUT) {
			client_event(&c, *data);
			data++;
			size--;
			continue;
		}
		len = min_t(size_t, *data, size - 1);
		msg = exact_copy(data + 1, len);
		client_message(&c, msg, len);
		server_message(&c.policy, &codec, msg, len);
		free(msg);
		data += 1 + len;
		size -= 1 + len;
	}
	return 0;
}
