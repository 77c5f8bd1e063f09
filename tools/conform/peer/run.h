/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running cases, each in a process of its own, and what is known of them
 * afterwards. A case that dies, hangs or hits a bug of the peer ends itself
 * only.
 */
#ifndef _CONFORM_RUN_H
#define _CONFORM_RUN_H

#include "rp.h"

enum { RUN_PASSED = 0, RUN_FAILED = 1, RUN_SKIPPED = 4 };

#define RUN_WHY		256		/* bytes of a reason */
#define RUN_HEAD	100		/* messages kept from the beginning */
#define RUN_TAIL	60		/* and from the end */
#define RUN_BYTES	4096		/* of each */
#define RUN_WANTED	512		/* words of a message that did not come */

/**
 * struct run_msg - a message, or memory that was read or written by RDMA
 * @way: what it is
 * @conn: number of the connection, from 1
 * @ms: when, since the case began
 * @len: its bytes
 * @bytes: the first of them
 */
struct run_msg {
	enum rp_way	way;
	unsigned int	conn;
	unsigned int	ms;
	unsigned int	len;
	uint8_t		bytes[RUN_BYTES];
};

/**
 * struct run_log - what a case leaves behind; shared with its process
 * @why: reason of a failure, or why it was skipped
 * @wanted: in hex, the message it waited for when it failed; dots are free
 * @began: when
 * @n: messages there were; those between head and tail are lost
 * @msg: the messages, the tail as a ring
 */
struct run_log {
	char		why[RUN_WHY];
	char		wanted[9 * RUN_WANTED + 8];
	uint64_t	began;
	unsigned int	n;
	struct run_msg	msg[RUN_HEAD + RUN_TAIL];
};

/**
 * struct run - one case that was run
 * @c: the case
 * @status: RUN_PASSED, RUN_FAILED or RUN_SKIPPED
 * @ms: how long it took
 * @log: what it left behind
 * @next: the next one
 */
struct run {
	struct rp_case	*c;
	int		status;
	unsigned int	ms;
	struct run_log	*log;
	struct run	*next;
};

/* Against a client, or against a server? */
bool run_is_client(const struct rp_case *c);
struct rp_case *rp_find(const char *name);

/* Run one; what it says goes to standard error. */
struct run *run_case(struct rp_case *c);
/* In a case: the reason for its end */
void run_why(const char *why);

#endif /* _CONFORM_RUN_H */
