// SPDX-License-Identifier: GPL-2.0
/*
 * Property sets: a refused set changes nothing; an accepted one is encoded
 * to something that decodes to the same.
 */

#include "fuzz.h"

static void check_again(const struct rpcrdma2_propset *set)
{
	struct rpcrdma2_propset again;
	u8 buf[RPCRDMA2_PROPS_MAX];
	int len;

	len = rpcrdma2_propset_encode(set, buf, sizeof(buf));
	CHECK(len >= 4);
	CHECK(rpcrdma2_propset_encode(set, buf, len - 1) == -EMSGSIZE);
	CHECK(rpcrdma2_propset_encode(set, buf, len) == len);
	CHECK(rpcrdma2_propset_decode(buf, len, &again) == len);
	CHECK(!memcmp(set->val, again.val, sizeof(again.val)));
	CHECK(set->listed == again.listed);
	CHECK(set->x_change == again.x_change);
	CHECK(set->nochg == again.nochg);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rpcrdma2_propset set, before;
	u8 *msg = exact_copy(data, size);
	int len;

	memset(&set, 0xa5, sizeof(set));
	before = set;
	len = rpcrdma2_propset_decode(msg, size, &set);
	if (len < 0) {
		CHECK(len == -EBADMSG);
		CHECK(!memcmp(&set, &before, sizeof(set)));
	} else {
		CHECK(len >= 4 && (size_t)len <= size && len % 4 == 0);
		CHECK(set.val[RPCRDMA2_BRS] <= RDMA2_RVREQSUP_GENL);
		CHECK(!(set.nochg & ~set.listed));
		check_again(&set);
	}
	free(msg);
	return 0;
}
