// SPDX-License-Identifier: GPL-2.0
/*
 * Does version.c, and prop_change.c, do what the tables say? Prints KTAP, one subtest
 * for each row.
 *
 * usage: tables DIR	where client-version.csv and the others are
 */

#include <stdio.h>
#include <stdlib.h>

#include "../../net/sunrpc/xprtrdma2/proto/prop_change.h"
#include "../../net/sunrpc/xprtrdma2/proto/version.h"
#include "../unit/vectors.h"

#define COLUMNS		12
#define XID		0xc0de0001U
#define OTHER_XID	0xc0de0099U
#define NOW		1000

static unsigned int tests, failed;

/* ---- rows ---- */

struct row {
	char	line[1024];
	char	*col[COLUMNS];
	u32	ncols;
};

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static bool next_row(FILE *f, struct row *r)
{
	char *p = r->line;

	if (!fgets(r->line, sizeof(r->line), f))
		return false;
	p[strcspn(p, "\n")] = 0;
	for (r->ncols = 0; r->ncols < COLUMNS; r->ncols++) {
		r->col[r->ncols] = p;
		p = strchr(p, ',');
		if (!p)
			break;
		*p++ = 0;
	}
	r->ncols++;
	return true;
}

static void report(bool ok, const char *table, const struct row *r, u32 from,
		   u32 to)
{
	u32 i;

	printf("%sok %u %s:", ok ? "" : "not ", ++tests, table);
	for (i = from; i < to; i++)
		if (*r->col[i])
			printf(" %s", r->col[i]);
	printf("\n");
	failed += !ok;
}

static bool expect(const char *what, const char *have, const char *want)
{
	if (is(have, want))
		return true;
	printf("# %s: have \"%s\", the table says \"%s\"\n", what, have, want);
	return false;
}

/* ---- vectors ---- */

/* The message of that name with another XID, also in the RPC message */
static u32 get_vector(const char *name, u32 xid, u8 *buf)
{
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		if (!is(vectors[i].name, name))
			continue;
		for (j = 0; j < vectors[i].nwords; j++)
			put_unaligned_be32(vectors[i].words[j] ==
					   vectors[i].words[0] ? xid :
					   vectors[i].words[j], buf + j * 4);
		return vectors[i].nwords * 4;
	}
	fprintf(stderr, "there is no vector %s\n", name);
	exit(2);
}

static struct rpcrdma2_ver_policy allowed(const char *which)
{
	return (struct rpcrdma2_ver_policy){
		.v1		= strchr(which, '1'),
		.v2		= strchr(which, '2'),
		.remember_min	= 60,
		.remember_max	= 600,
	};
}

/* ---- client ---- */

static const char * const client_states[] = {
	[RPCRDMA2_NEG_START]		= "START",
	[RPCRDMA2_NEG_WAIT]		= "WAIT",
	[RPCRDMA2_NEG_WAIT_REPLY]	= "WAIT_REPLY",
	[RPCRDMA2_NEG_V1]		= "V1",
	[RPCRDMA2_NEG_V2]		= "V2",
	[RPCRDMA2_NEG_FAILED]		= "FAILED",
};

static const char * const client_actions[] = {
	[RPCRDMA2_DO_NOTHING]		= "nothing",
	[RPCRDMA2_DO_SEND_CONNPROP]	= "send CONNPROP",
	[RPCRDMA2_DO_SEND_CALL]		= "send CALL",
	[RPCRDMA2_DO_SETTLE]		= "settle",
	[RPCRDMA2_DO_RECONNECT]		= "reconnect",
	[RPCRDMA2_DO_FAIL]		= "fail",
	[RPCRDMA2_DO_BAD_XDR]		= "answer BAD_XDR",
};

static const char * const client_events[] = {
	"connected", "message", "timeout", "lost", "refused",
};

static void remember(struct rpcrdma2_ver_memory *mem, const char *what)
{
	if (is(what, "LOST")) {
		mem->losses = 1;
	} else if (*what) {
		mem->begin = is(what, "V1") ? RPCRDMA2_BEGIN_V1 :
					      RPCRDMA2_BEGIN_CALL;
		mem->until = NOW + 60;
		mem->span = 60;
	}
}

/* Into a state by the events that lead there */
static void reach(struct rpcrdma2_neg *n, const char *state)
{
	struct rpcrdma2_hdr hdr;
	u8 buf[512];
	u32 len;

	if (is(state, "START"))
		return;
	if (is(state, "WAIT_REPLY")) {
		n->mem->begin = RPCRDMA2_BEGIN_CALL;
		n->mem->next = true;
	}
	rpcrdma2_neg_connected(n, NOW);
	if (state[0] != 'V')
		return;
	len = get_vector(is(state, "V2") ? "P2" : "E1b", XID, buf);
	rpcrdma2_neg_message(n, buf, len, &hdr, NOW);
}

static enum rpcrdma2_neg_action happen(struct rpcrdma2_neg *n, const char *event,
				       const char *vector, const char *xid)
{
	struct rpcrdma2_hdr hdr;
	u8 buf[512];
	u32 len;

	if (is(event, "connected"))
		return rpcrdma2_neg_connected(n, NOW);
	if (is(event, "timeout"))
		return rpcrdma2_neg_timeout(n, NOW);
	if (is(event, "lost"))
		return rpcrdma2_neg_lost(n, NOW);
	if (is(event, "refused"))
		return rpcrdma2_neg_refused(n, NOW) ? RPCRDMA2_DO_RECONNECT :
						      RPCRDMA2_DO_NOTHING;
	len = get_vector(vector, is(xid, "own") ? XID : OTHER_XID, buf);
	return rpcrdma2_neg_message(n, buf, len, &hdr, NOW);
}

/* With which message another connection would begin now */
static const char *begins(const struct rpcrdma2_ver_policy *policy,
			  struct rpcrdma2_ver_memory mem)
{
	struct rpcrdma2_neg n;

	rpcrdma2_neg_init(&n, policy, &mem, XID);
	rpcrdma2_neg_connected(&n, NOW);
	switch (n.state) {
	case RPCRDMA2_NEG_WAIT:
		return "CONNPROP";
	case RPCRDMA2_NEG_WAIT_REPLY:
		return "CALL";
	default:
		return "V1";
	}
}

static void client_row(const struct row *r)
{
	struct rpcrdma2_ver_policy policy = allowed(r->col[1]);
	struct rpcrdma2_ver_memory mem = {};
	enum rpcrdma2_neg_action action;
	struct rpcrdma2_neg n;
	bool ok;

	rpcrdma2_neg_init(&n, &policy, &mem, XID);
	reach(&n, r->col[0]);
	remember(&mem, r->col[2]);
	ok = expect("state before", client_states[n.state], r->col[0]);
	action = happen(&n, r->col[3], r->col[4], r->col[5]);
	ok &= expect("action", client_actions[action], r->col[6]);
	ok &= expect("next state", client_states[n.state], r->col[7]);
	ok &= expect("next connection", begins(&policy, mem), r->col[8]);
	report(ok, "client", r, 0, 6);
}

/* ---- server ---- */

static const char * const server_actions[] = {
	[RPCRDMA2_SRV_PASS]		= "process",
	[RPCRDMA2_SRV_SETTLE]		= "process",
	[RPCRDMA2_SRV_DROP]		= "drop",
	[RPCRDMA2_SRV_ERR_VERS]		= "ERR_VERS",
	[RPCRDMA2_SRV_ERR_VERS_CLOSE]	= "ERR_VERS and close",
	[RPCRDMA2_SRV_CLOSE]		= "close",
};

static const char *server_state(const struct rpcrdma2_codec *codec)
{
	if (!codec)
		return "OPEN";
	return codec->vers == 2 ? "2" : "1";
}

static void server_row(const struct row *r)
{
	struct rpcrdma2_ver_policy policy = allowed(r->col[1]);
	enum rpcrdma2_srv_action action;
	enum rpcrdma2_verdict verdict;
	const struct rpcrdma2_codec *codec = NULL;
	struct rpcrdma2_hdr hdr;
	u32 len, low, high;
	char number[16];
	u8 buf[512];
	bool ok;

	if (!is(r->col[0], "OPEN")) {
		len = get_vector(is(r->col[0], "2") ? "T1" : "V1", XID, buf);
		if (rpcrdma2_srv_ver_message(&policy, NULL, buf, len, &hdr, &verdict, &low,
					     &high) == RPCRDMA2_SRV_SETTLE)
			codec = rpcrdma2_wire_codec(hdr.vers);
	}
	ok = expect("state before", server_state(codec), r->col[0]);
	len = get_vector(r->col[2], XID, buf);
	action = rpcrdma2_srv_ver_message(&policy, codec, buf, len, &hdr, &verdict, &low,
					  &high);
	if (action == RPCRDMA2_SRV_SETTLE)
		codec = rpcrdma2_wire_codec(hdr.vers);
	ok &= expect("action", server_actions[action], r->col[3]);
	if (*r->col[4]) {
		snprintf(number, sizeof(number), "%u", low);
		ok &= expect("low", number, r->col[4]);
		snprintf(number, sizeof(number), "%u", high);
		ok &= expect("high", number, r->col[5]);
	}
	ok &= expect("next state", server_state(codec), r->col[6]);
	report(ok, "server", r, 0, 3);
}

/* ---- what may be sent ---- */

static struct rpcrdma2_change change;
static struct rpcrdma2_propset mine, peer;

static void begin_limit(u32 size)
{
	rpcrdma2_propset_init(&mine);
	mine.x_change = true;
	peer = mine;
	peer.listed = BIT(RPCRDMA2_RBSIZ);
	peer.val[RPCRDMA2_RBSIZ] = size;
	rpcrdma2_prop_change_init(&change, &mine, &peer);
}

/* A RESPROP about the one property of the request */
static void respond(const char *event, u32 value)
{
	bool done = is(event, "done") || is(event, "overlap");
	bool rejected = is(event, "rejected") || is(event, "overlap");
	u32 words[12], n = 0, i;
	struct rpcrdma2_hdr hdr = { .xid = XID };
	bool malformed;
	u8 body[48];

	words[n++] = done;
	if (done)
		words[n++] = 1;
	words[n++] = rejected;
	if (rejected)
		words[n++] = 1;
	words[n++] = is(event, "other");
	if (is(event, "other")) {
		words[n++] = RDMA2_PROPID_RBSIZ;
		words[n++] = 4;
		words[n++] = value;
	}
	for (i = 0; i < n; i++)
		put_unaligned_be32(words[i], body + i * 4);
	hdr.body = body;
	hdr.body_len = n * 4;
	rpcrdma2_prop_change_response(&change, &hdr, &peer, &malformed);
}

static void update(u32 value)
{
	struct rpcrdma2_update upd;
	struct rpcrdma2_hdr hdr;
	u8 body[16];

	put_unaligned_be32(1, body);
	put_unaligned_be32(RDMA2_PROPID_RBSIZ, body + 4);
	put_unaligned_be32(4, body + 8);
	put_unaligned_be32(value, body + 12);
	hdr.body = body;
	hdr.body_len = sizeof(body);
	rpcrdma2_prop_change_update(&hdr, &peer, &upd);
}

static void limit_row(const struct row *r)
{
	u32 value = strtoul(r->col[2], NULL, 10);
	const char *event = r->col[1];
	u8 buf[RPCRDMA2_PROPS_MAX];
	char number[16];

	if (is(event, "begin"))
		begin_limit(value);
	else if (is(event, "ask"))
		rpcrdma2_prop_change_ask(&change, &peer, RPCRDMA2_RBSIZ, value);
	else if (is(event, "send"))
		rpcrdma2_prop_change_put_reqprop(&change, XID, buf, sizeof(buf));
	else if (is(event, "update"))
		update(value);
	else if (is(event, "error"))
		rpcrdma2_prop_change_error(&change, XID, RDMA2_ERR_SYSTEM);
	else
		respond(event, value);
	snprintf(number, sizeof(number), "%u",
		 rpcrdma2_prop_change_limit(&change, &peer, RPCRDMA2_RBSIZ));
	report(expect("limit", number, r->col[3]), "limit", r, 0, 3);
}

/* ---- whole tables ---- */

/* Rows that have these two values in the first column and in @col */
static u32 count(const char *path, const char *first, u32 col, const char *value)
{
	FILE *f = fopen(path, "r");
	struct row r;
	u32 n = 0;

	while (f && next_row(f, &r))
		n += (!*first || is(r.col[0], first)) && is(r.col[col], value);
	if (f)
		fclose(f);
	return n;
}

static void complete(bool ok, const char *what, const char *a, const char *b)
{
	printf("%sok %u complete: %s %s %s\n", ok ? "" : "not ", ++tests, what, a,
	       b);
	failed += !ok;
}

/* Every event in every state, every action */
static void client_complete(const char *path)
{
	u32 s, e;

	for (s = 0; s < RPCRDMA2_NEG_FAILED; s++)
		for (e = 0; e < ARRAY_SIZE(client_events); e++) {
			bool settled = s >= RPCRDMA2_NEG_V1;

			/* What cannot happen: connected again, refused before */
			if (is(client_events[e], "connected") ?
			    s != RPCRDMA2_NEG_START :
			    is(client_events[e], "refused") && !settled)
				continue;
			complete(count(path, client_states[s], 3,
				       client_events[e]),
				 "client", client_states[s], client_events[e]);
		}
	for (e = 0; e < ARRAY_SIZE(client_actions); e++)
		complete(count(path, "", 6, client_actions[e]), "client",
			 "action", client_actions[e]);
}

static void server_complete(const char *path)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(server_actions); i++)
		complete(count(path, "", 3, server_actions[i]), "server",
			 "action", server_actions[i]);
}

static const char *table(const char *dir, const char *name, u32 ncols,
			 void (*check)(const struct row *))
{
	static char path[4096];
	struct row r;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f || !next_row(f, &r)) {
		perror(path);
		exit(2);
	}
	while (next_row(f, &r)) {
		if (r.ncols != ncols) {
			fprintf(stderr, "%s: %s: %u columns instead of %u\n",
				name, r.line, r.ncols, ncols);
			exit(2);
		}
		check(&r);
	}
	fclose(f);
	return path;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: tables DIR\n");
		return 2;
	}
	printf("KTAP version 1\n");
	client_complete(table(argv[1], "client-version.csv", 10, client_row));
	server_complete(table(argv[1], "server-version.csv", 8, server_row));
	table(argv[1], "send-limit.csv", 5, limit_row);
	printf("1..%u\n%u passed, %u failed, 0 skipped\n", tests, tests - failed,
	       failed);
	return failed || !tests;
}
