// SPDX-License-Identifier: GPL-2.0
/*
 * Every message of up to 64 bytes gets the verdict that the requirements give it, and an
 * accepted one the header.
 */
#include "proto/chunk_list.c"
#include "proto/wire.c"
#include "proto/wire_v1.c"
#include "proto/wire_v2.c"
#include "proto/props.c"
#include "proto/prop_change.c"
#include "any_lists.h"

/* The header that a message must get */
static struct rpcrdma2_hdr h;

/* May the version not be looked at? (HDR-5) */
static bool too_short(u32 len)
{
	return len < 16 || (words[1] == 2 && len < 20) ||
	       (words[1] == 1 && len < 28 && words[3] != RDMA2_ERROR);
}

/* A MSG or NOMSG with well-formed lists (HDR-7, FLG-4, CHK-13, MSG-2, MSG-3, MSG-8) */
static bool rpc_ok(u32 len)
{
	bool nomsg = words[3] == RDMA2_NOMSG;
	u32 body = lists_end;

	if (h.response ? h.read_segs || (nomsg ? !h.reply_chunk : reply_used) : h.has_pz != nomsg)
		return false;
	return nomsg || (len >= 4 * body + 8 && words[body] == words[0] &&
			 words[body + 1] == h.response);
}

static enum rpcrdma2_verdict error_meaning(u32 len, u32 at, u32 args)
{
	h.err = words[at];
	h.err_arg[0] = args > 0 ? words[at + 1] : 0;
	h.err_arg[1] = args > 1 ? words[at + 2] : 0;
	return len >= 4 * (at + 1 + args) ? RPCRDMA2_OK : RPCRDMA2_DROP;
}

static enum rpcrdma2_verdict meaning_v2(u32 len)
{
	u32 htype = words[3];

	if (too_short(len))
		return RPCRDMA2_DROP;
	if (words[1] != 2)
		return RPCRDMA2_BAD_VERS;
	h.response = words[4] & 1;
	if (htype == 2 || htype == 3 || htype > 5)			/* HT-2, HT-3 */
		return h.response ? RPCRDMA2_DROP : RPCRDMA2_INVAL_HTYPE;
	if (htype == RDMA2_ERROR) {
		if (words[4] != 1)					/* FLG-3, FLG-9 */
			return RPCRDMA2_DROP;
		/* The fixed form of ERR_VERS (ERR-12, D-8) */
		if (len == 28 && words[5] < 2 && words[5] <= words[6])
			return error_meaning(len, 4, 2);
		return error_meaning(len, 5, error_args(words[5]));
	}
	if (htype == RDMA2_CONNPROP && words[4] <= 1)			/* ERR-1 */
		return len < 24 ? RPCRDMA2_BAD_XDR : RPCRDMA2_OK;
	if (htype != RDMA2_CONNPROP && words[4] <= 1 && lists_ok && rpc_ok(len))
		return RPCRDMA2_OK;
	return h.response ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR;
}

static enum rpcrdma2_verdict meaning_v1(u32 len)
{
	u32 htype = words[3], msg_type = 2;

	if (too_short(len) || (words[1] == 1 && htype == RDMA1_DONE))	/* V1-4 */
		return RPCRDMA2_DROP;
	if (words[1] != 1)
		return RPCRDMA2_BAD_VERS;
	if (htype == RDMA2_ERROR) {
		h.response = true;
		return error_meaning(len, 4, words[4] == 1 ? 2 : 0);
	}
	if (lists_ok && htype == RDMA2_NOMSG)
		msg_type = h.reply_chunk && !h.read_segs;
	else if (lists_ok && len >= 4 * lists_end + 8)
		msg_type = words[lists_end + 1];
	h.undirected = htype > RDMA2_ERROR || msg_type > 1;
	h.response = !h.undirected && msg_type;
	if (htype > RDMA2_ERROR)
		return RPCRDMA2_INVAL_HTYPE;
	if (!h.undirected && htype != RDMA1_MSGP && rpc_ok(len))	/* V1-5 */
		return RPCRDMA2_OK;
	return h.response ? RPCRDMA2_DROP : RPCRDMA2_BAD_XDR;
}

/* A decoder that accepts a message without a look at its lists knows that there are none. */
static void check_no_lists(const struct rpcrdma2_hdr *hdr)
{
	struct rpcrdma2_hdr none = {};

	lists_ok = read_lists(readable, &none);
	assert(lists_ok && !none.read_segs && !none.write_chunks && !none.reply_chunk);
	assert(!hdr->read_list && !hdr->read_segs && !hdr->read_chunks && !hdr->has_pz);
	assert(!hdr->write_list && !hdr->write_chunks && !hdr->reply_chunk && !hdr->results_len);
	assert(!hdr->max_segs && !hdr->has_segs && !hdr->only_handle && !hdr->has_inv_handle);
}

static void check(const struct rpcrdma2_codec *codec, u32 prefix, u32 first, u32 handle)
{
	enum rpcrdma2_verdict verdict, wanted;
	u32 body, len = readable;
	struct rpcrdma2_hdr hdr;

	lists_first = first;
	lists_handle = handle;
	verdict = codec->decode(room, len, &hdr);
	if (verdict == RPCRDMA2_OK && words[3] <= RDMA2_NOMSG && !lists_seen)
		check_no_lists(&hdr);
	/* As the automaton has left it, and all the rest from here */
	h = lists_ok ? hdr : (struct rpcrdma2_hdr){};
	h.response = h.undirected = false;
	wanted = codec->vers == 1 ? meaning_v1(len) : meaning_v2(len);
	assert(verdict == wanted);
	if (verdict == RPCRDMA2_DROP)
		return;
	assert(hdr.xid == words[0] && hdr.vers == words[1] && hdr.credit == words[2]);
	assert(hdr.htype == words[3] && hdr.undirected == h.undirected);
	assert(hdr.response == h.response);
	if (verdict != RPCRDMA2_OK)
		return;
	assert(hdr.err == h.err);
	assert(hdr.err_arg[0] == h.err_arg[0] && hdr.err_arg[1] == h.err_arg[1]);
	body = words[3] <= RDMA2_NOMSG ? lists_end : prefix;
	assert(hdr.hdr_len == 4 * body);
	if (words[3] != RDMA2_NOMSG)
		assert(hdr.body == room + 4 * body && hdr.body_len == len - 4 * body);
	if (words[3] > RDMA2_NOMSG)
		assert(!hdr.read_segs && !hdr.write_chunks && !hdr.reply_chunk && !hdr.inv_handle);
	else
		assert(hdr.inv_handle == (h.response ? 0 : handle));	/* RINV-10 */
}

void version_1(void)
{
	any_message(64);
	check(&rpcrdma2_codec_v1, 4, words[3] == RDMA1_MSGP ? 6 : 4, 0);
}

void version_2(void)
{
	any_message(64);
	check(&rpcrdma2_codec_v2, 5, 6, words[5]);
}

/* The extension's types (FLG-7, FLG-11, CHG-1) */
void change_types(void)
{
	/* 0: REQPROP, 1: RESPROP, 2: UPDPROP */
	u32 len = any_message(24), kind = words[3] - 0xffffff02;
	enum rpcrdma2_verdict verdict, wanted = RPCRDMA2_OK;
	struct rpcrdma2_hdr hdr;

	if (too_short(len))
		wanted = RPCRDMA2_DROP;
	else if (words[1] != 2)
		wanted = RPCRDMA2_BAD_VERS;
	else if (kind > 2 || words[4] != (kind == 1))
		wanted = words[4] & 1 ? RPCRDMA2_DROP :
			 kind > 2 ? RPCRDMA2_INVAL_HTYPE : RPCRDMA2_BAD_XDR;
	verdict = rpcrdma2_prop_change_decode(room, len, &hdr);
	assert(verdict == wanted);
	if (verdict == RPCRDMA2_OK)
		assert(hdr.body == room + 20 && hdr.body_len == len - 20 && hdr.xid == words[0] &&
		       hdr.credit == words[2] && hdr.htype == words[3]);
}
