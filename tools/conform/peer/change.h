/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The property-change extension: REQPROP, RESPROP, UPDPROP, and the property
 * that announces them. Used by cases against a server and against a client.
 */
#ifndef _CONFORM_CHANGE_H
#define _CONFORM_CHANGE_H

#include "rp.h"

#define X_NOCHG		0xffffff01u	/* property: who has it, can change */
#define X_IDENTITY	0xffffff05u	/* property: which server it is */
#define STRANGE		0xffffff7fu	/* a property nobody knows */

#define CHG_WORDS	8
#define CHG_VALUES	80

/**
 * struct chg_value - a property value
 * @id: the property
 * @len: bytes of the value
 * @value: the value of a property of one word
 */
struct chg_value {
	uint32_t	id;
	uint32_t	len;
	uint32_t	value;
};

/**
 * struct chg_subset - a subset of a property set
 * @n: words
 * @w: the words
 */
struct chg_subset {
	uint32_t	n;
	uint32_t	w[CHG_WORDS];
};

/**
 * struct chg - a REQPROP, RESPROP, UPDPROP or CONNPROP, taken apart
 * @xid: word 0
 * @credit: word 2
 * @type: word 3
 * @flags: word 4
 * @done: RESPROP: what is as it was asked for
 * @rejected: RESPROP: what stays as it is
 * @n: number of values
 * @set: the values
 */
struct chg {
	uint32_t		xid;
	uint32_t		credit;
	uint32_t		type;
	uint32_t		flags;
	struct chg_subset	done;
	struct chg_subset	rejected;
	uint32_t		n;
	struct chg_value	set[CHG_VALUES];
};

/* ---- writing ---- */

/* REQPROP and UPDPROP up to and including the number of values */
struct rp_msg *reqprop(uint32_t xid, uint32_t n);
struct rp_msg *updprop(uint32_t xid, uint32_t n);
/* With a Receive Buffer Size as the only value: G1, G6 */
struct rp_msg *reqprop_rbsiz(uint32_t xid, uint32_t size);
struct rp_msg *updprop_rbsiz(uint32_t xid, uint32_t size);
struct rp_msg *updprop_brs(uint32_t xid, uint32_t brs);
/* RESPROP up to and including the number of values. A subset of no bits has
 * no words, any other one.
 */
struct rp_msg *resprop(uint32_t xid, uint32_t done, uint32_t rejected,
		       uint32_t n);
/* G4: RBSIZ becomes something else */
struct rp_msg *resprop_rbsiz(uint32_t xid, uint32_t size);
void put_subset(struct rp_msg *m, const uint64_t *words, unsigned int n);
/* A value of zero length */
void put_default(struct rp_msg *m, uint32_t id);
/* CONNPROP of a peer with the extension: P2, with RESPONSE clear */
struct rp_msg *connprop_x(uint32_t xid, uint32_t rbsiz, uint32_t brs,
			  uint32_t nochg);
/* Any of these with some words spoilt, but not its type */
struct rp_msg *chg_spoilt(void);

/* ---- reading ---- */

bool chg_is(const struct rp_rx *rx, uint32_t type);
/* The message must be well-formed. */
struct chg chg_parse(const struct rp_rx *rx);
bool chg_in(const struct chg_subset *s, unsigned int entry);
/* The value of this property; NULL if it is not there */
const struct chg_value *chg_find(const struct chg *m, uint32_t id);
/* A RESPROP to a REQPROP: done, rejected and other do not overlap, cover
 * what was asked for and nothing else.
 */
void chg_covers(const struct chg *req, const struct chg *resp);
/* What we sent, taken apart */
struct chg chg_of(const struct rp_msg *m);

#endif /* _CONFORM_CHANGE_H */
