// SPDX-License-Identifier: GPL-2.0
/*
 * Property changes: whatever arrives, a message that is refused changes
 * nothing, what is granted was asked for, and our answer to any request fits
 * its buffer. What is in the answer is compared with the XDR in tests/spec.
 */

#include "fuzz.h"
#include "../../net/sunrpc/xprtrdma2/proto/prop_change.h"

#define ALL		((u32)BIT(RPCRDMA2_NR_PROPS) - 1)

static void init(struct rpcrdma2_propset *set)
{
	rpcrdma2_propset_init(set);
	set->val[RPCRDMA2_RBSIZ] = 8192;
	set->x_change = true;
	set->listed = ALL;
}

static void fuzz_requested(const struct rpcrdma2_hdr *hdr, u8 choice)
{
	u32 done = choice & ALL, other = choice / 16 & ALL;
	struct rpcrdma2_propset mine, req;
	u8 buf[RPCRDMA2_RESPROP_MAX];
	struct rpcrdma2_change c = {};
	int len;
	u32 i;

	if (rpcrdma2_prop_change_requested(hdr, &req))
		return;
	init(&mine);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		CHECK(!(req.listed & BIT(i)) ||
		      req.entry[i] < RPCRDMA2_CHANGE_ENTRIES);
	len = rpcrdma2_prop_change_put_resprop(&c, &req, done, other, &mine, buf,
					       sizeof(buf));
	CHECK(len >= 12 && len % 4 == 0);
	CHECK(rpcrdma2_prop_change_put_resprop(&c, &req, done, other, &mine, buf,
					       len - 1) == -EMSGSIZE);
	rpcrdma2_prop_change_put_resprop(&c, &req, done, other, &mine, buf, len);
}

static void fuzz_response(const struct rpcrdma2_hdr *hdr, u8 choice)
{
	struct rpcrdma2_propset mine, peer, before;
	u8 ask[RPCRDMA2_PROPS_MAX];
	struct rpcrdma2_change c;
	bool malformed, answer;
	u32 asked, i;

	init(&mine);
	init(&peer);
	before = peer;
	rpcrdma2_prop_change_init(&c, &mine, &peer);
	asked = choice & ALL;
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++)
		if (asked & BIT(i))
			rpcrdma2_prop_change_ask(&c, &peer, i, choice);
	rpcrdma2_prop_change_put_reqprop(&c, hdr->xid & ~1U, ask, sizeof(ask));
	answer = rpcrdma2_prop_change_response(&c, hdr, &peer, &malformed);
	CHECK(answer == !(hdr->xid & 1));
	CHECK(answer != c.pending);
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		bool changed = peer.val[i] != before.val[i];

		CHECK(!changed || (answer && !malformed && asked & BIT(i)));
		if (answer && asked & BIT(i))
			CHECK(c.result[i] > RPCRDMA2_CHANGE_WAITING);
		CHECK(!changed || c.result[i] != RPCRDMA2_CHANGE_REJECTED);
	}
}

static void fuzz_update(const struct rpcrdma2_hdr *hdr, u8 choice)
{
	struct rpcrdma2_propset peer, before;
	struct rpcrdma2_update upd;
	u32 i;

	init(&peer);
	peer.listed = choice & ALL;
	peer.nochg = choice / 16 & peer.listed;
	before = peer;
	if (rpcrdma2_prop_change_update(hdr, &peer, &upd)) {
		CHECK(!memcmp(&peer, &before, sizeof(peer)));
		return;
	}
	CHECK(!(upd.changed & upd.ignored));
	for (i = 0; i < RPCRDMA2_NR_PROPS; i++) {
		CHECK((peer.val[i] != before.val[i]) ==
		      !!(upd.changed & BIT(i)));
		CHECK(!(upd.changed & BIT(i)) || peer.listed & BIT(i));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rpcrdma2_hdr hdr = {};
	u8 choice;
	u8 *msg;

	if (!size)
		return 0;
	choice = data[0];
	size--;
	msg = exact_copy(data + 1, size);
	if (rpcrdma2_prop_change_decode(msg, size, &hdr) == RPCRDMA2_OK) {
		CHECK(rpcrdma2_prop_change_type(hdr.htype));
		CHECK(hdr.body_len == size - RPCRDMA2_PREFIX);
		if (hdr.htype == RDMA2_X_REQPROP)
			fuzz_requested(&hdr, choice);
		else if (hdr.htype == RDMA2_X_RESPROP)
			fuzz_response(&hdr, choice);
		else
			fuzz_update(&hdr, choice);
	}
	free(msg);
	return 0;
}
