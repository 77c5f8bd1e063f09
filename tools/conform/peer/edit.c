// SPDX-License-Identifier: GPL-2.0
/*
 * Edits of what a case sends: see edit.h.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "change.h"
#include "edit.h"

static const struct {
	const char	*name;
	unsigned int	args;
} kinds[EDIT_KINDS] = {
	[EDIT_SET] = { "set", 2 }, [EDIT_ADD] = { "add", 2 },
	[EDIT_LIKE] = { "like", 2 }, [EDIT_DUP] = { "dup", 3 },
	[EDIT_DEL] = { "del", 2 }, [EDIT_CUT] = { "cut", 1 },
	[EDIT_INV] = { "inv", 1 }, [EDIT_SKIP] = { "skip", 0 },
	[EDIT_TWICE] = { "twice", 0 }, [EDIT_LATE] = { "late", 0 },
	[EDIT_WAIT] = { "wait", 1 }, [EDIT_PLUS] = { "plus", 1 },
	[EDIT_HANG] = { "hang", 1 }, [EDIT_PRIV] = { "priv", 2 },
	[EDIT_FAULT] = { "fault", 3 },
};

void (*edit_fault)(const struct edit *e);

static struct edits edits;
static struct edit_seen *seen;

/* ---- text ---- */

static bool parse_one(struct edit *e, const char *word)
{
	char name[8] = "";
	unsigned int i;
	int n;

	memset(e, 0, sizeof(*e));
	n = sscanf(word, "%u:%7[a-z]:%x:%x:%x", &e->step, name, &e->arg[0],
		   &e->arg[1], &e->arg[2]);
	for (i = 0; i < EDIT_KINDS; i++) {
		e->kind = i;
		if (!strcmp(name, kinds[i].name))
			return n == 2 + (int)kinds[i].args;
	}
	return false;
}

bool edit_parse(struct edits *to, const char *text)
{
	char copy[EDIT_TEXT], *word, *save;

	to->n = 0;
	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save))
		if (to->n == EDIT_MAX || !parse_one(&to->e[to->n++], word))
			return false;
	return true;
}

void edit_print(const struct edits *from, char text[EDIT_TEXT])
{
	char *p = text;
	unsigned int i, j;

	*p = 0;
	for (i = 0; i < from->n; i++) {
		const struct edit *e = &from->e[i];

		p += sprintf(p, "%s%u:%s", i ? " " : "", e->step,
			     kinds[e->kind].name);
		for (j = 0; j < kinds[e->kind].args; j++)
			p += sprintf(p, ":%x", e->arg[j]);
	}
}

/* ---- other messages ---- */

static const struct rp_msg *other(unsigned int which)
{
	uint32_t xid = rp_xid();

	switch (which) {
	case 0: return null_call(xid);
	case 1: return v1_null_call(xid);
	case 2: return connprop(xid, 4096, 0);
	case 3: return connprop_x(xid, 4096, 1, 0);
	case 4: return reqprop_rbsiz(xid, 8192);
	case 5: return updprop_rbsiz(xid, 8192);
	case 6: return rp_set(connprop(xid, 4096, 0), 4, RESPONSE);
	case 7: return rp_set(reqprop_rbsiz(xid, 8192), 3, RESPROP);
	case 8: return error2(xid, SYSTEM);
	case 9: return err_vers(xid, 2, 1, 2);
	case 10: return null_reply(xid);
	default: return v1_null_reply(xid);
	}
}

unsigned int edit_others(void)
{
	return 12;
}

/* ---- editing ---- */

static void words(struct rp_msg *m, const struct edit *e)
{
	uint32_t from = e->arg[0], count = e->arg[1], to = e->arg[2];
	bool copies = e->kind == EDIT_DUP;

	if (from >= m->n || count > m->n - from ||
	    (copies && (to > m->n || m->n + count > RP_MAX_WORDS)))
		return;
	if (copies) {
		static struct rp_msg old;

		old = *m;
		memmove(m->w + to + count, m->w + to,
			(m->n - to) * sizeof(*m->w));
		memcpy(m->w + to, old.w + from, count * sizeof(*m->w));
		m->n += count;
	} else {
		m->n -= count;
		memmove(m->w + from, m->w + from + count,
			(m->n - from) * sizeof(*m->w));
	}
}

static void edit_words(struct rp_msg *m, const struct edit *e, uint32_t *inv)
{
	uint64_t *w = e->arg[0] < m->n ? &m->w[e->arg[0]] : NULL;

	switch (e->kind) {
	case EDIT_SET:
		if (w)
			*w = e->arg[1];
		break;
	case EDIT_ADD:
		if (w)
			*w = (uint32_t)(*w + e->arg[1]);
		break;
	case EDIT_LIKE:
		if (w && e->arg[1] < m->n)
			*w = m->w[e->arg[1]];
		break;
	case EDIT_DUP:
	case EDIT_DEL:
		words(m, e);
		break;
	case EDIT_CUT:
		if (e->arg[0] && e->arg[0] < 4 * m->n)
			m->cut = e->arg[0];
		break;
	case EDIT_INV:
		if (w)
			*inv = *w;
		break;
	default:
		break;
	}
}

static void note(const struct rp_msg *m)
{
	unsigned int i, n = m->n < EDIT_WORDS ? m->n : EDIT_WORDS;

	if (!seen || seen->n == EDIT_SEEN)
		return;
	seen->len[seen->n] = n;
	for (i = 0; i < n; i++)
		seen->w[seen->n][i] = m->w[i];
	seen->n++;
}

/* Those of its edits that are no words. What is to come behind it goes with it. */
static const struct rp_msg *around(struct rp_conn *c, const struct edit *e,
				   const struct rp_msg *m, uint32_t inv)
{
	switch (e->kind) {
	case EDIT_SKIP:
		return NULL;
	case EDIT_TWICE:
		rp_try_send(c, m);
		break;
	case EDIT_WAIT:
		rp_sleep(e->arg[0] % 60000);
		break;
	case EDIT_PLUS:
		rp_try_send(c, other(e->arg[0]));
		break;
	case EDIT_HANG:
		rp_try_send_inv(c, m, inv);
		rp_hang_up(c, e->arg[0] & 1);
		return NULL;
	default:
		break;
	}
	return m;
}

static void faults(unsigned int step)
{
	unsigned int i;

	for (i = 0; i < edits.n && edit_fault; i++)
		if (edits.e[i].kind == EDIT_FAULT && edits.e[i].step == step)
			edit_fault(&edits.e[i]);
}

static const struct rp_msg *edited(struct rp_conn *c, const struct rp_msg *m,
				   uint32_t *inv, unsigned int step, bool *late)
{
	static struct rp_msg copy;
	const struct rp_msg *now = &copy;
	unsigned int i;

	copy = *m;
	for (i = 0; i < edits.n; i++)
		if (edits.e[i].step == step)
			edit_words(&copy, &edits.e[i], inv);
	note(&copy);
	faults(step);
	for (i = 0; i < edits.n && now; i++) {
		if (edits.e[i].step != step)
			continue;
		*late |= edits.e[i].kind == EDIT_LATE;
		now = around(c, &edits.e[i], now, *inv);
	}
	return now;
}

static const struct rp_msg *on_send(struct rp_conn *c, const struct rp_msg *m,
				    uint32_t *inv)
{
	static struct rp_msg kept;
	static struct rp_conn *kept_of;
	static unsigned int step;
	static bool inside;
	bool late = false;

	if (inside || rp_side())
		return m;
	inside = true;
	m = edited(c, m, inv, step++, &late);
	if (m && kept_of == c) {
		rp_try_send_inv(c, m, *inv);
		m = &kept;
		*inv = 0;
		kept_of = NULL;
	} else if (m && late) {
		kept = *m;
		kept_of = c;
		m = NULL;
	}
	inside = false;
	return m;
}

/* Private data is changed in a copy that is as long as the longest that CM takes; the
 * edited length is that of the last byte which was given or edited.
 */
static void on_connect(struct rdma_conn_param *param)
{
	static uint8_t data[56];
	static unsigned int step;
	unsigned int i, at;

	faults(step);
	for (i = 0; i < edits.n; i++) {
		if (edits.e[i].kind != EDIT_PRIV || edits.e[i].step != step)
			continue;
		if (param->private_data != data) {
			memset(data, 0, sizeof(data));
			if (param->private_data_len)
				memcpy(data, param->private_data,
				       param->private_data_len);
			param->private_data = data;
		}
		at = edits.e[i].arg[0] % sizeof(data);
		data[at] = edits.e[i].arg[1];
		if (at >= param->private_data_len)
			param->private_data_len = at + 1;
	}
	step++;
	if (seen)
		seen->conns = step;
}

void edit_apply(const struct edits *from, struct edit_seen *to)
{
	edits = *from;
	seen = to;
	rp_on_send = on_send;
	rp_on_connect = on_connect;
	faults(0);
}

void edit_use(const char *text)
{
	struct edits parsed;

	rp_check(edit_parse(&parsed, text), "no edits: %s", text);
	edit_apply(&parsed, NULL);
}
