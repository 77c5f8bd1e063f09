/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the code that rpcgen made of rpcrdma_version_two.x says about a message,
 * in a form that knows neither that code's types nor those of the module, which
 * have the same names.
 */
#ifndef _RPCRDMA2_ORACLE_H
#define _RPCRDMA2_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#define ORACLE_MAX_BYTES	1024	/* of a message that is decoded */
#define ORACLE_MAX_SEGS		64
#define ORACLE_MAX_CHUNKS	128
#define ORACLE_MAX_PROPS	128
#define ORACLE_MAX_WORDS	256
#define ORACLE_MAX_DATA		ORACLE_MAX_BYTES

struct oracle_segment {
	uint32_t	handle;
	uint32_t	length;
	uint64_t	offset;
};

/* Segments first to first + n - 1 of the message's */
struct oracle_chunk {
	uint32_t	first;
	uint32_t	n;
};

struct oracle_prop {
	uint32_t	id;
	uint32_t	len;
	uint8_t		data[16];	/* the first bytes; zero behind len */
};

struct oracle_props {
	uint32_t		n;
	struct oracle_prop	prop[ORACLE_MAX_PROPS];
};

struct oracle_subset {
	uint32_t	n;
	uint32_t	word[ORACLE_MAX_WORDS];
};

/**
 * enum oracle_result - how far a message can be decoded
 * @ORACLE_SHORT: not even the prefix
 * @ORACLE_UNKNOWN: a header type that the XDR does not know
 * @ORACLE_BAD: the prefix only
 * @ORACLE_OK: all of it
 */
enum oracle_result {
	ORACLE_SHORT,
	ORACLE_UNKNOWN,
	ORACLE_BAD,
	ORACLE_OK,
};

/**
 * struct oracle_msg - a message
 * @xid: and the other words of the prefix
 * @position: of each entry of the Read list, whose segments are the first
 * @first_word: the one of the RPC message
 * @arg: arguments of the error
 * @props: CONNPROP, REQPROP, UPDPROP: the set; RESPROP: other
 * @bytes: how long it is, as decoded
 * @same: encoding it again gives the same bytes
 */
struct oracle_msg {
	uint32_t		xid, vers, credit, htype, flags;

	uint32_t		inv_handle;
	uint32_t		nsegs;
	struct oracle_segment	seg[ORACLE_MAX_SEGS];
	uint32_t		nreads;
	uint32_t		position[ORACLE_MAX_SEGS];
	uint32_t		nwrites;
	struct oracle_chunk	write[ORACLE_MAX_CHUNKS];
	bool			has_reply;
	struct oracle_chunk	reply;
	uint32_t		first_word;

	uint32_t		err, arg[2];

	struct oracle_props	props;
	struct oracle_subset	done, rejected;

	uint32_t		bytes;
	bool			same;
};

enum oracle_result oracle_decode(const uint8_t *msg, uint32_t len,
				 struct oracle_msg *m);
/* Bytes written; 0 if they do not fit. */
uint32_t oracle_encode(const struct oracle_msg *m, uint8_t *buf, uint32_t size);

/* An ERR_VERS in the form that all versions share; arg is the range. */
bool oracle_decode_fixed(const uint8_t *msg, uint32_t len,
			 struct oracle_msg *m);
uint32_t oracle_encode_fixed(const struct oracle_msg *m, uint8_t *buf,
			     uint32_t size);

/* The value of a property, by the type that the XDR has for it: false if it is
 * not of that type, or its type is not a number.
 */
bool oracle_value(const struct oracle_prop *prop, uint32_t *value);
/* The value of X_NOCHG. */
bool oracle_nochg(const struct oracle_prop *prop, struct oracle_subset *s);
uint32_t oracle_put_value(uint32_t id, uint32_t value, struct oracle_prop *prop);
uint32_t oracle_put_nochg(uint32_t word, struct oracle_prop *prop);

#endif /* _RPCRDMA2_ORACLE_H */
