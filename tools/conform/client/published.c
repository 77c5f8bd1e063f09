// SPDX-License-Identifier: GPL-2.0
/*
 * What a server has done to clients of this protocol, in the kernel: see
 * Documentation/vulnerabilities.md. More of these cases are in rev.c.
 */
#include <string.h>

#include "rp.h"
#include "client.h"

#define WRITERS		8
#define ROUNDS		8
#define BYTES		3000

/* A Call is whole: its header and its RPC message, a WRITE with its data */
static void is_whole(const struct cl_call *call)
{
	const uint8_t *data = call->rpc + call->rpc_len - BYTES;
	uint32_t i;

	rp_check(rp_word(call->rpc, 0) == call->xid, "a Call of two XIDs");
	if (call->proc != NFS_WRITE || call->nreads)
		return;
	rp_check(call->rpc_len > BYTES, "a WRITE of %u bytes", call->rpc_len);
	for (i = 0; i < BYTES; i++)
		rp_check(data[i] == rp_pattern(i), "byte %u of a WRITE", i);
}

RP_CASE("published-client", MUST, pub_answers_at_once, "REC-1,HDR-6,MSG-1",
	"eight writers, each Call answered at once: every message is whole")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job[WRITERS];
	unsigned int round, i, calls;
	struct cl_call *call;
	uint32_t last;

	s->grant = 32;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < WRITERS; i++)
			job[i] = job_write(cl_name(), 0, BYTES);
		last = 0;
		for (i = 0, calls = 0; i < WRITERS;) {
			if (job_over(job[i])) {
				i++;
				continue;
			}
			call = cl_next_within(s, 200);
			if (!call)
				continue;
			rp_check(call->xid != last, "one Call twice");
			last = call->xid;
			is_whole(call);
			cl_answer(s, call);
			cl_call_free(call);
			calls++;
		}
		for (i = 0; i < WRITERS; i++)
			rp_check(!job_result(job[i]), "a write fails after %u Calls",
				 calls);
	}
	cl_end(s);
}
