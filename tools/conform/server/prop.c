// SPDX-License-Identifier: GPL-2.0
/*
 * PROP, CONN and VER: properties, CONNPROP, versions, as a server sees them.
 */
#include <string.h>

#include "rp.h"
#include "change.h"

/* A CONNPROP with these words as its only property */
static struct rp_msg *one_prop(const uint64_t *w, unsigned int n)
{
	struct rp_msg *m = connprop_head(rp_xid(), CALL, 1);

	put_all(m, w, n);
	return m;
}

static bool is_connprop_answer(const struct rp_rx *rx, uint32_t xid)
{
	return rx->len >= 24 && rp_word(rx->buf, 0) == xid &&
	       rp_word(rx->buf, 1) == 2 && rp_word(rx->buf, 3) == CONNPROP &&
	       rp_word(rx->buf, 4) == RESPONSE;
}

RP_CASE("versions", SHOULD, conn_answer,
	"CONN-10,VER-7,CONN-3,CONN-4,CONN-5,PROP-19",
	"P1 is answered with a CONNPROP like P2")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid(), i, n, at = 24, id;
	bool rbsiz = false, brs = false;
	struct rp_rx *rx;

	rp_send(c, connprop(xid, 4096, 1));
	rx = rp_recv(c);
	rp_check(is_connprop_answer(rx, xid), "no CONNPROP in answer");
	rp_check(rx->len <= 1024, "CONNPROP of %u bytes", rx->len);
	rp_check(rp_word(rx->buf, 2) > 0 && rp_word(rx->buf, 2) < 65536,
		 "grant of %u", rp_word(rx->buf, 2));
	n = rp_word(rx->buf, 5);
	for (i = 0; i < n; i++) {
		rp_check(at + 8 <= rx->len, "CONNPROP ends too early");
		id = rp_word(rx->buf, at / 4);
		if (id == RBSIZ) {
			rbsiz = true;
			rp_check(rp_word(rx->buf, at / 4 + 2) >= 4096,
				 "RBSIZ below 4096");
		} else if (id == BRS) {
			brs = true;
			rp_check(rp_word(rx->buf, at / 4 + 2) <= 2, "BRS");
		}
		at += 8 + ((rp_word(rx->buf, at / 4 + 1) + 3) & ~3u);
	}
	rp_check(at == rx->len, "CONNPROP of %u bytes, not %u", rx->len, at);
	rp_check(rbsiz && brs, "RBSIZ or BRS is missing");
	rp_nothing(c);
}

RP_CASE("versions", MUST, prop_unknown, "PROP-5,PROP-4,PROP-12,EXT-2",
	"P3: unknown properties and values of zero length are no error")
{
	struct rp_conn *c = rp_connect();
	struct rp_msg *m = connprop_head(rp_xid(), CALL, 4);

	put_all(m, W(BRS, 0, 0xffffff7f, 5, 0x01020304, 0x05000000,
		     0xffffff7f, 0, 0xfffffffe, 0));
	c = rp_open_with(m);
	rp_nothing(c);
}

RP_ROW("versions", MUST, prop_empty_set, "PROP-2,PROP-21,CONN-1",
	"a CONNPROP without properties",
	rp_nothing(rp_open_with(connprop_head(rp_xid(), CALL, 0))))

RP_CASE("versions", DECISION, prop_count, "PROP-3,SEC-3",
	"a count of properties beyond the message is answered with BAD_XDR")
{
	static const uint32_t counts[] = { 1, 2, 0x10000000, 0xffffffff };
	struct rp_conn *c = rp_connect();
	unsigned int i;

	rp_null(c);
	for (i = 0; i < 4; i++)
		rp_refused(c, connprop_head(rp_xid(), CALL, counts[i]),
			   BAD_XDR);
	rp_refused(c, rp_set(connprop(rp_xid(), 4096, 1), 5, 3), BAD_XDR);
	rp_nothing(c);
}

RP_CASE("versions", MUST, prop_length, "PROP-6",
	"P5: a value that runs past the end, also of an unknown property")
{
	struct rp_conn *c = rp_connect();

	rp_refused(c, one_prop(W(RBSIZ, 0x1000, 4096)), BAD_XDR);
	rp_refused(c, one_prop(W(0xffffff7f, 0x1000, 4096)), BAD_XDR);
	rp_refused(c, one_prop(W(0xffffff7f, 5, 0)), BAD_XDR);
	rp_refused(c, one_prop(W(0xffffff7f, 0xffffffff, 0)), BAD_XDR);
	rp_refused(c, one_prop(W(0xffffff7f, 0xfffffffc, 0)), BAD_XDR);
	rp_refused(c, one_prop(W(0xffffff7f)), BAD_XDR);
	rp_nothing(c);
}

RP_CASE("versions", MUST, prop_value, "PROP-7,PROP-17",
	"a value outside its type is answered with BAD_XDR")
{
	struct rp_conn *c = rp_connect();

	rp_refused(c, connprop(rp_xid(), 4096, 3), BAD_XDR);
	rp_refused(c, connprop(rp_xid(), 4096, 0xffffffff), BAD_XDR);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, prop_size, "PROP-8,PROP-9,D-12",
	"P4: a value of the wrong size is answered with BAD_XDR")
{
	struct rp_conn *c = rp_connect();

	rp_refused(c, one_prop(W(RBSIZ, 2, 0x10000000)), BAD_XDR);
	rp_refused(c, one_prop(W(RBSIZ, 3, 0x10000000)), BAD_XDR);
	rp_refused(c, one_prop(W(RBSIZ, 8, 0, 4096)), BAD_XDR);
	rp_refused(c, one_prop(W(RBSIZ, 5, 4096, 0)), BAD_XDR);
	rp_refused(c, one_prop(W(BRS, 1, 0x01000000)), BAD_XDR);
	rp_refused(c, one_prop(W(BRS, 8, 1, 0)), BAD_XDR);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, prop_identity_size, "PROP-22,D-53",
	"P8: an identity of another length than 0 and 16, or twice, is answered with BAD_XDR")
{
	struct rp_conn *c = rp_connect();

	rp_refused(c, one_prop(W(X_IDENTITY, 12, 1, 2, 3)), BAD_XDR);
	rp_refused(c, one_prop(W(X_IDENTITY, 15, 1, 2, 3, 4)), BAD_XDR);
	rp_refused(c, one_prop(W(X_IDENTITY, 20, 1, 2, 3, 4, 5)), BAD_XDR);
	rp_refused(c, rp_set(one_prop(W(X_IDENTITY, 0, X_IDENTITY, 0)), 5, 2), BAD_XDR);
	rp_nothing(c);
}

/* The identity in the answer to a CONNPROP, NULL if there is none */
static const uint8_t *identity_of(struct rp_conn *c, struct rp_msg *m)
{
	const struct chg_value *v;
	struct rp_rx *rx;
	struct chg chg;
	uint32_t i, at;

	rp_send(c, m);
	rx = rp_recv(c);
	chg = chg_parse(rx);
	rp_check(chg.type == CONNPROP && chg.flags == RESPONSE, "no CONNPROP in answer");
	v = chg_find(&chg, X_IDENTITY);
	if (!v)
		return NULL;
	rp_check(v->len == 16, "an identity of %u bytes", v->len);
	for (i = 0, at = 6; chg.set[i].id != X_IDENTITY; i++)
		at += 2 + (chg.set[i].len + 3) / 4;
	return rx->buf + 4 * (at + 2);
}

RP_CASE("versions", DECISION, prop_identity, "PROP-22,EXT-8,D-53",
	"P6, P7: a server has the same identity on all connections, for those who ask")
{
	struct rp_conn *c = rp_connect();
	const uint8_t *identity;
	uint8_t first[16];

	rp_check(!identity_of(c, one_prop(W(BRS, 0))), "an identity that nobody asked for");
	c = rp_connect();
	identity = identity_of(c, one_prop(W(X_IDENTITY, 0)));
	if (!identity)
		rp_choice(false, "it does not say which server it is");
	else
		memcpy(first, identity, 16);
	c = rp_connect();
	identity = identity_of(c, one_prop(W(X_IDENTITY, 0)));
	rp_check(identity && !memcmp(first, identity, 16), "another identity");
	rp_nothing(c);
}

RP_CASE("versions", DECISION, prop_twice, "PROP-10,D-12",
	"a known property twice is answered with BAD_XDR")
{
	struct rp_conn *c = rp_connect();
	struct rp_msg *m = connprop_head(rp_xid(), CALL, 3);

	put_prop(m, RBSIZ, 4096);
	put_prop(m, BRS, 1);
	put_prop(m, RBSIZ, 4096);
	rp_refused(c, m, BAD_XDR);
	rp_nothing(c);
}

/* A READ of 5000 bytes without chunks is refused: the limit is 4096. */
static void still_4096(struct rp_conn *c)
{
	uint32_t xid = rp_xid();

	rp_file("prop", 20480);
	rp_send(c, msg_call(nfs4_read(xid, "prop", 0, 5000)));
	rp_expect(c, error2_arg(xid, REPLY_RESOURCE, ANY));
}

static void now_8192(struct rp_conn *c)
{
	uint32_t xid = rp_xid();
	struct rp_msg *m;

	rp_file("prop", 20480);
	rp_send(c, msg_call(nfs4_read(xid, "prop", 0, 5000)));
	m = msg_reply(nfs4_read_reply(xid, false, 5000));
	put_pattern(m, 0, 5000);
	rp_expect(c, m);
}

RP_CASE("versions", MUST, prop_all_or_none, "PROP-11,ERR-5,ERR-16",
	"a CONNPROP with one bad value changes nothing")
{
	struct rp_conn *c = rp_connect();

	rp_refused(c, connprop(rp_xid(), 8192, 3), BAD_XDR);
	still_4096(c);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, conn_malformed_response, "ERR-1,D-6",
	"a malformed CONNPROP is reported whatever its RESPONSE flag")
{
	struct rp_conn *c = rp_connect();
	struct rp_msg *m;

	rp_null(c);
	m = connprop_head(rp_xid(), RESPONSE, 1);
	put_all(m, W(RBSIZ, 2, 0x10000000));
	rp_refused(c, m, BAD_XDR);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, conn_trailing, "CHK-31,D-12",
	"bytes behind a CONNPROP are ignored")
{
	struct rp_msg *m = connprop(rp_xid(), 4096, 1);

	put(m, 0xdeadbeef);
	rp_nothing(rp_open_with(m));
}

RP_CASE("versions", DECISION, conn_second_bad, "CONN-8,ERR-1,PROP-6,D-25",
	"a second CONNPROP that is malformed is answered with BAD_XDR")
{
	struct rp_conn *c = rp_open();

	rp_refused(c, one_prop(W(RBSIZ, 2, 0x10000000)), BAD_XDR);
	rp_refused(c, one_prop(W(BRS, 4, 3)), BAD_XDR);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, conn_second, "CONN-8,D-25",
	"a second CONNPROP is ignored")
{
	struct rp_conn *c = rp_open();

	rp_send(c, connprop(rp_xid(), 8192, 2));
	rp_nothing(c);
	still_4096(c);
}

/* A READ of 3000 bytes without chunks is refused: the limit is 2048. */
static void now_2048(struct rp_conn *c)
{
	uint32_t xid = rp_xid();

	rp_file("prop", 20480);
	rp_send(c, msg_call(nfs4_read(xid, "prop", 0, 3000)));
	rp_expect(c, error2_arg(xid, REPLY_RESOURCE, ANY));
}

RP_CASE("versions", DECISION, conn_late, "CONN-9,CONN-11,VER-8,CONN-13,D-10",
	"RPCs first, CONNPROP later: no unasked CONNPROP, later ones obey it")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_null(c);
	rp_nothing(c);
	still_4096(c);
	rp_send(c, connprop(xid, 2048, 1));
	rp_check(is_connprop_answer(rp_recv(c), xid), "no CONNPROP in answer");
	now_2048(c);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, conn_late_raise, "CONN-9,D-16,PROP-15",
	"a late CONNPROP with a larger size: Replies of that size are inline")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_null(c);
	rp_send(c, connprop(xid, 8192, 1));
	rp_check(is_connprop_answer(rp_recv(c), xid), "no CONNPROP in answer");
	now_8192(c);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, prop_first_bad, "ERR-15,PROP-6,VER-20,ERR-16",
	"a malformed CONNPROP as first message is reported, a good one follows")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_refused(c, one_prop(W(RBSIZ, 2, 0x10000000)), BAD_XDR);
	rp_send(c, connprop(xid, 8192, 1));
	rp_check(is_connprop_answer(rp_recv(c), xid), "no CONNPROP in answer");
	now_8192(c);
	rp_nothing(c);
}

RP_CASE("versions", DECISION, conn_response_set, "CONN-10,CONN-2",
	"a CONNPROP that claims to be an answer is taken and not answered")
{
	struct rp_conn *c = rp_connect();

	rp_null(c);
	rp_send(c, rp_set(connprop(rp_xid(), 8192, 1), 4, RESPONSE));
	rp_nothing(c);
}

RP_CASE("versions", MUST, conn_per_connection, "CONN-14,REC-1",
	"values last for one connection only")
{
	struct rp_conn *c = rp_open_with(connprop(rp_xid(), 8192, 1));

	/* Others may have no use for so much. */
	if (rp_opt.module)
		now_8192(c);
	rp_close(c);
	c = rp_connect();
	still_4096(c);
}

RP_CASE("versions", DECISION, ver_unsupported, "ERR-11,VER-21,ERR-2,D-8,VER-24",
	"unsupported versions get ERR_VERS 1..2 and fix nothing")
{
	static const uint32_t vers[] = { 0, 3, 4, 255, 0xffffffff };
	struct rp_conn *c = rp_connect();
	unsigned int i;

	for (i = 0; i < 5; i++) {
		uint32_t xid = rp_xid();
		struct rp_rx *rx;

		rp_send(c, rp_set(null_call(xid), 1, vers[i]));
		rx = rp_expect(c, err_vers(xid, vers[i], 1, 2));
		rp_check(rx->len == 28, "ERR_VERS of %u bytes", rx->len);
	}
	rp_nothing(c);
}

RP_CASE("versions", MUST, ver_unsupported_then_1, "VER-21,VER-19,VER-20",
	"version 1 after an unsupported one")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_send(c, rp_set(v1_null_call(xid), 1, 3));
	rp_expect(c, err_vers(xid, 3, 1, 2));
	rp_v1_nothing(c);
}

RP_CASE("versions", MUST, ver_call_first, "VER-8,CONN-11",
	"a Call as first message is answered with its Reply only")
{
	struct rp_conn *c = rp_connect();
	uint32_t xid = rp_xid();

	rp_send(c, null_call(xid));
	rp_expect(c, null_reply(xid));
	rp_expect_silence(c, RP_SILENCE);
	rp_null(c);
}

RP_CASE("versions", DECISION, ver_other_draft, "VER-23,HDR-5,D-33",
	"messages of later drafts that call themselves version 2")
{
	struct rp_conn *c = rp_open();
	uint32_t type;

	rp_send(c, rp_words(W(rp_xid(), 2, 0x00100010, 5)));
	for (type = 6; type <= 13; type++)
		rp_refused(c, v2(rp_xid(), 0x00100010, type, CALL),
			   INVAL_HTYPE);
	rp_nothing(c);
}
