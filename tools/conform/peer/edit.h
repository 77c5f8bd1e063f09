/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Edits: a case is played, but some of its messages are other than it wants, come in
 * another order, or are the last ones. What the fuzzer has found (tests/fuzz) is a case
 * and its edits; as a case of its own it is
 *
 *	edit_use("3:set:6:ffffffff 5:twice");
 *	rp_play("chk_read_segments");
 *
 * An edit is STEP:KIND:ARG:ARG:ARG, arguments in hex. Steps are the messages that the
 * case itself sends, from 0, and for "priv" its connections.
 */
#ifndef _CONFORM_EDIT_H
#define _CONFORM_EDIT_H

#include "rp.h"

#define EDIT_MAX	8
#define EDIT_TEXT	512
#define EDIT_SEEN	64	/* messages */
#define EDIT_WORDS	160	/* of each */

enum edit_kind {
	EDIT_SET,		/* WORD VALUE */
	EDIT_ADD,		/* WORD VALUE */
	EDIT_LIKE,		/* WORD FROM: takes the value of that word */
	EDIT_DUP,		/* FROM COUNT TO: a copy of these words goes there */
	EDIT_DEL,		/* FROM COUNT */
	EDIT_CUT,		/* BYTES */
	EDIT_INV,		/* WORD: Send With Invalidate of this handle */
	EDIT_SKIP,		/* not sent */
	EDIT_TWICE,
	EDIT_LATE,		/* behind the next one */
	EDIT_WAIT,		/* MS: before it */
	EDIT_PLUS,		/* WHICH: another one before it */
	EDIT_HANG,		/* the connection ends behind it; 1: without a word */
	EDIT_PRIV,		/* BYTE VALUE: in the CM private data */
	EDIT_FAULT,		/* WHICH VALUE TIMES: see edit_fault */
	EDIT_KINDS
};

/**
 * struct edit - one change
 * @step: of this message
 * @kind: what
 * @arg: its arguments
 */
struct edit {
	unsigned int	step;
	enum edit_kind	kind;
	uint32_t	arg[3];
};

struct edits {
	unsigned int	n;
	struct edit	e[EDIT_MAX];
};

/**
 * struct edit_seen - what the case has sent, edited
 * @n: messages
 * @conns: connections
 * @len: words of each message, those that are here
 * @w: the words
 */
struct edit_seen {
	unsigned int	n;
	unsigned int	conns;
	unsigned int	len[EDIT_SEEN];
	uint32_t	w[EDIT_SEEN][EDIT_WORDS];
};

bool edit_parse(struct edits *to, const char *text);
void edit_print(const struct edits *from, char text[EDIT_TEXT]);
/* How the fuzzer injects a fault into the module, from this message or connection on */
extern void (*edit_fault)(const struct edit *e);
/* Number of messages that EDIT_PLUS knows */
unsigned int edit_others(void);
/* From now on in this process. Answers need not be the expected ones any more. */
void edit_use(const char *text);
/* The same; what is sent goes to @seen, unless that is NULL. */
void edit_apply(const struct edits *edits, struct edit_seen *seen);

#endif /* _CONFORM_EDIT_H */
