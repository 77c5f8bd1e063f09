// SPDX-License-Identifier: GPL-2.0
/*
 * A client that misbehaves, in every way there is: what becomes of each, and
 * which counter of the server tells. Limits that an administrator sets.
 */
#include "rp.h"
#include "command.h"
#include "stat.h"

#define NO_ANSWER	0
#define A_REPLY		0xffff		/* that of a NULL Call */

/* @m has this answer, the code of an ERROR or one of the above, and @counter
 * grows by one.
 */
static void is_counted(struct rp_conn *c, const char *what,
		       const struct rp_msg *m, uint32_t answer,
		       const char *counter)
{
	bool refused = answer != NO_ANSWER && answer != A_REPLY;
	long errors = rp_server_stat(c, "tx_error");
	long was = rp_server_stat(c, counter), is;

	rp_tell("== %s", what);
	rp_send(c, m);
	if (refused)
		rp_expect(c, error2(m->w[0], answer));
	if (answer == A_REPLY)
		rp_expect(c, null_reply(m->w[0]));
	/* The next answer is that to the next Call: there was no other */
	rp_null(c);
	is = rp_server_stat(c, counter);
	rp_check(is == was + 1, "%s: %s went from %ld to %ld", what,
		 counter, was, is);
	is = rp_server_stat(c, "tx_error");
	rp_check(is == errors + refused, "%s: tx_error went from %ld to %ld",
		 what, errors, is);
}

static struct rp_msg *draft(unsigned int type)
{
	return v2(rp_xid(), 0x00100010, type, CALL);
}

RP_CASE("trouble", MUST | MODULE, bad_messages,
	"SEC-2,ERR-15,ERR-17,HT-3,HDR-5,HDR-7,FLG-3,FLG-5,REV-15,CONN-8,RINV-8,ERR-6",
	"every kind of bad message has its answer, and its counter")
{
	struct rp_conn *c = rp_open();

	is_counted(c, "shorter than any prefix",
		   rp_cut(null_call(rp_xid()), 15), NO_ANSWER, "rx_malformed");
	is_counted(c, "shorter than version 2's",
		   rp_cut(null_call(rp_xid()), 19), NO_ANSWER, "rx_malformed");
	is_counted(c, "ends in the lists", rp_cut(null_call(rp_xid()), 32),
		   BAD_XDR, "rx_malformed");
	is_counted(c, "discriminator of 2", rp_set(null_call(rp_xid()), 6, 2),
		   BAD_XDR, "rx_malformed");
	is_counted(c, "reserved flag", rp_set(null_call(rp_xid()), 4, 4),
		   BAD_XDR, "rx_malformed");
	is_counted(c, "reserved flag of a response",
		   rp_set(null_reply(rp_xid()), 4, 3), NO_ANSWER,
		   "rx_malformed");
	is_counted(c, "a Call that says RESPONSE",
		   rp_set(null_call(rp_xid()), 4, RESPONSE), NO_ANSWER,
		   "rx_malformed");
	is_counted(c, "two XIDs", rp_set(null_call(rp_xid()), 9, 1),
		   BAD_XDR, "rx_malformed");
	is_counted(c, "unknown type", v2(rp_xid(), 32, 99, CALL),
		   INVAL_HTYPE, "rx_unknown_type");
	is_counted(c, "unknown type of a response",
		   v2(rp_xid(), 32, 99, RESPONSE), NO_ANSWER,
		   "rx_malformed");
	is_counted(c, "a Reply to nothing", null_reply(rp_xid()),
		   NO_ANSWER, "rx_bad_xid");
	is_counted(c, "an ERROR about nothing", error2(rp_xid(), SYSTEM),
		   NO_ANSWER, "rx_bad_xid");
	is_counted(c, "a second CONNPROP", connprop(rp_xid(), 8192, 1),
		   NO_ANSWER, "rx_dropped");
	is_counted(c, "a handle of nowhere",
		   rp_set(null_call(rp_xid()), 5, 0xdead), A_REPLY,
		   "bad_inv_handle");
	rp_nothing(c);
}

RP_CASE("trouble", DECISION | MODULE, bad_draft, "VER-23,D-33",
	"messages of later drafts that call themselves version 2 are noticed")
{
	struct rp_conn *c = rp_open();
	unsigned int type;

	is_counted(c, "a GRANT", rp_words(W(rp_xid(), 2, 0x00100010, 5)),
		   NO_ANSWER, "rx_other_draft");
	for (type = 6; type <= 13; type++)
		is_counted(c, "a type of theirs", draft(type), INVAL_HTYPE,
			   "rx_other_draft");
	rp_check(rp_server_stat(c, "rx_unknown_type") == 8,
		 "they are no unknown types any more");
	/* Ours are not taken for theirs */
	rp_refused(c, draft(2), INVAL_HTYPE);
	rp_refused(c, draft(14), INVAL_HTYPE);
	rp_check(rp_server_stat(c, "rx_other_draft") == 9,
		 "others are taken for them");
	rp_nothing(c);
}

RP_CASE("trouble", MUST | MODULE, bad_first_message, "VER-20,VER-21,ERR-11",
	"versions that are not there are counted, also before one is settled")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_send(c, rp_set(null_call(xid), 1, 3));
	rp_expect(c, err_vers(xid, 3, 1, 2));
	xid = rp_xid();
	rp_send(c, rp_set(null_call(xid), 1, 0));
	rp_expect(c, err_vers(xid, 0, 1, 2));
	rp_null(c);
	rp_check(rp_server_stat(c, "rx_bad_vers") == 2, "rx_bad_vers");
	rp_check(rp_server_stat(c, "version_reason") == 2, "version_reason");
	rp_check(rp_server_stat(c, "why_call") == 1 &&
		 rp_server_stat(c, "why_connprop") == 0, "why_call");
	rp_settle(c, connprop(rp_xid(), 4096, 0));
	rp_check(rp_server_stat(c, "version_reason") == 2,
		 "a CONNPROP behind the Call changes version_reason");
	c = rp_open();
	rp_check(rp_server_stat(c, "version_reason") == 1, "version_reason");
	rp_check(rp_server_stat(c, "why_connprop") == 1 &&
		 rp_server_stat(c, "why_call") == 0, "why_connprop");
	rp_nothing(c);
}

/* What costs the connection: the counter is found with those of the ended. */
RP_CASE("trouble", DECISION | MODULE, bad_and_closed,
	"HDR-12,PROP-16,SEC-12,D-14",
	"what ends a connection is counted as well")
{
	struct rp_conn *c, *other = rp_open();
	uint32_t xid = rp_xid();
	long was;

	was = rp_ended_stat("server", "rx_bad_vers");
	c = rp_open();
	rp_send(c, v1_null_call(xid));
	rp_expect(c, err_vers(xid, 1, 2, 2));
	rp_expect_closed(c);
	rp_close(c);
	rp_ended_above("server", "rx_bad_vers", was);

	was = rp_ended_stat("server", "rx_malformed");
	c = rp_connect();
	rp_send(c, connprop(rp_xid(), 1020, 0));
	rp_expect_closed(c);
	rp_close(c);
	rp_ended_above("server", "rx_malformed", was);
	rp_nothing(other);
}

RP_CASE("trouble", MUST | MODULE, bad_handle, "ERR-33,SEC-4",
	"RDMA that fails for a handle that is not there ends the connection")
{
	long was = rp_ended_stat("server", "wc_errors");
	struct rp_conn *other = rp_open(), *c = rp_open();
	struct rp_msg *m = call_head(rp_xid(), NOMSG, 0);

	put_last_read(m, 0, (struct rp_seg){ 0x00abcd00, 40, 0x1000 });
	rp_send(c, m);
	rp_check(rp_closed_within(c, RP_ANSWER),
		 "the connection does not end");
	rp_close(c);
	/* siw tells that the connection has ended, not why */
	if (rp_opt.dev[0] == 'r')
		rp_ended_above("server", "wc_errors", was);
	rp_nothing(other);
}

RP_CASE("trouble", DECISION | MODULE, err_fields, "ERR-2,ERR-3,CRED-1,D-7",
	"an ERROR has XID and version of the message, and the credits granted")
{
	struct rp_conn *c = rp_connect();
	uint32_t grant, xid = rp_xid();
	struct rp_msg *m = connprop(xid, 4096, 0);
	struct rp_rx *rx;

	rp_send(c, m);
	rx = rp_recv(c);
	rp_check(rp_word(rx->buf, 3) == CONNPROP, "no CONNPROP in answer");
	grant = rp_word(rx->buf, 2);
	rp_check(grant == (uint32_t)rp_server_stat(c,
						   "credits_granted_to_peer"),
		 "a grant of %u", grant);
	xid = rp_xid();
	rp_send(c, v2(xid, 1, 99, CALL));
	rp_expect(c, rp_set(error2(xid, INVAL_HTYPE), 2, grant));
	xid = rp_xid();
	rp_send(c, rp_set(rp_set(null_call(xid), 6, 2), 2, 1));
	rp_expect(c, rp_set(error2(xid, BAD_XDR), 2, grant));
	rp_nothing(c);
}

static void is_system(struct rp_conn *c, const struct rp_msg *m)
{
	long reads = rp_server_stat(c, "read_bytes");
	struct rp_rx *rx;

	rp_send(c, m);
	rx = rp_expect(c, error2(m->w[0], SYSTEM));
	rp_check(rx->len == 24, "an ERROR of %u bytes", rx->len);
	rp_check(rp_server_stat(c, "read_bytes") == reads, "it was read");
}

RP_CASE("trouble", DECISION | MODULE, err_system, "ERR-31,CHK-24,SEC-9",
	"what is too large for the server is answered with SYSTEM, not read")
{
	struct rp_conn *c = rp_open_with(connprop(rp_xid(), 1024, 0));
	struct rp_mem *mem = rp_mem(c, 4096);
	unsigned long before = rp_nulls_served();
	struct rp_seg seg[16];
	struct rp_msg *m;
	unsigned int i;

	m = call_head(rp_xid(), NOMSG, 0);
	put_last_read(m, 0, rp_seg(mem, 0, 0xffffffff));
	is_system(c, m);

	/* Each of the segments would do, all of them are too much */
	m = call_head(rp_xid(), MSG, 0);
	for (i = 0; i < 16; i++)
		put_read(m, 40, rp_seg(mem, 0, 1 << 20));
	put_all(m, W(0, 0, 0));
	put_msg(m, rpc_null(m->w[0]));
	is_system(c, m);
	rp_check(rp_nulls_served() == before, "a Call was executed");

	/* The lists that go back are longer than what we receive */
	for (i = 0; i < 16; i++)
		seg[i] = rp_seg(mem, 64 * i, 64);
	m = call_head(rp_xid(), MSG, 0);
	put(m, 0);
	for (i = 0; i < 4; i++)
		put_chunk(m, 16, seg);
	put(m, 0);
	put_chunk(m, 1, seg);
	put_msg(m, rpc_null(m->w[0]));
	is_system(c, m);
	rp_is_untouched(mem, 0, 4096);
	rp_nothing(c);
}

/* A NULL Call with @n Read chunks, Write chunks or segments */
static struct rp_msg *shaped(const struct rp_mem *mem, uint32_t code,
			     unsigned int n)
{
	struct rp_msg *m = call_head(rp_xid(), MSG, 0);
	struct rp_seg seg[32];
	unsigned int i;

	for (i = 0; i < n; i++)
		seg[i] = rp_seg(mem, 0, code == READ_CHUNKS ? 0 : 4);
	for (i = 0; code == READ_CHUNKS && i < n; i++)
		put_read(m, 4 + 4 * i, seg[i]);
	put(m, 0);
	for (i = 0; code == WRITE_CHUNKS && i < n; i++)
		put_chunk(m, 1, seg);
	if (code == SEGMENTS)
		put_chunk(m, n, seg);
	put_all(m, W(0, 0));
	put_msg(m, rpc_null(m->w[0]));
	return m;
}

/* At the limit, and one beyond */
static void has_limit(const char *name, const char *value, uint32_t code,
		      unsigned int limit)
{
	struct rp_conn *c;
	struct rp_mem *mem;
	struct rp_msg *m;
	struct rp_rx *rx;

	cl_parameter(name, value);
	c = rp_open();
	mem = rp_mem(c, 4096);
	rx = rp_exchange(c, shaped(mem, code, limit));
	rp_check(rp_word(rx->buf, 3) != ERROR, "%s=%s: %u are refused", name,
		 value, limit);
	m = shaped(mem, code, limit + 1);
	rp_send(c, m);
	rp_expect(c, error2_arg(m->w[0], code, limit));
	rp_nothing(c);
	rp_check(rp_server_stat(c, "tx_error") == 1, "tx_error");
	rp_close(c);
}

RP_ROW("trouble", MUST | MODULE, limit_read_chunks, "ERR-19,CHK-27",
	"the limit of Read chunks is the administrator's, at least 1",
	has_limit("server_read_chunks", "2", READ_CHUNKS, 2);
	has_limit("server_read_chunks", "7", READ_CHUNKS, 7);
	has_limit("server_read_chunks", "0", READ_CHUNKS, 1))
RP_ROW("trouble", DECISION | MODULE, limit_write_chunks,
	"ERR-21,ERR-22,CHK-27,D-31",
	"the limit of Write chunks is the administrator's, at least 1",
	has_limit("server_write_chunks", "1", WRITE_CHUNKS, 1);
	has_limit("server_write_chunks", "3", WRITE_CHUNKS, 3);
	has_limit("server_write_chunks", "0", WRITE_CHUNKS, 1))
RP_ROW("trouble", MUST | MODULE, limit_segments, "ERR-24,CHK-27",
	"the limit of segments is the administrator's, at least 1",
	has_limit("server_segments", "1", SEGMENTS, 1);
	has_limit("server_segments", "20", SEGMENTS, 20);
	has_limit("server_segments", "0", SEGMENTS, 1))

RP_CASE("trouble", MUST | MODULE, rinv_switched_off, "RINV-9,RINV-5,CM-3",
	"without remote invalidation: a plain Send, whatever the Call names")
{
	struct rp_conn *c;
	struct rp_mem *mem;
	struct rp_rx *rx;
	const uint8_t *private;
	unsigned int len, i;

	rp_file("rinv", 4096);
	cmd_policy("server", "remote_invalidation off");
	c = rp_open();
	private = rp_private(c, &len);
	rp_check(len >= 8 && !(private[5] & 1),
		 "the private data promises it");
	mem = rp_mem_inv(c, 4096);
	for (i = 0; i < 2; i++) {	/* the handle stays good */
		struct rp_seg seg = rp_seg(mem, 0, 4096);
		uint32_t xid = rp_xid();
		struct rp_msg *m = call_head(xid, MSG, mem->handle);

		put_last_write(m, 1, &seg);
		put_msg(m, nfs4_read(xid, "rinv", 0, 4096));
		rx = rp_exchange(c, m);
		rp_check(rp_word(rx->buf, 3) == MSG, "not a Reply");
		rp_check(!rx->inv, "%08x was invalidated", rx->inv);
		rp_is_pattern(mem->buf, 0, 4096);
	}
	rp_check(!rp_server_stat(c, "remote_invalidations") &&
		 !rp_server_stat(c, "remote_invalidation"), "counters");
	rp_nothing(c);
}
