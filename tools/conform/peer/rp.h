/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The conformance kit: a user-space program that speaks RPC-over-RDMA byte by byte
 * with the module under test, as a client of its server or as a server of
 * its client. It shares no code with the module; the encoder is here.
 *
 * A test case is a function that reads like the "how to test" column of its
 * requirement: send these words, expect those. Whatever does not happen as
 * expected ends the case (and its process) with a message, so that no
 * function returns an error a case would have to look at.
 *
 * One process runs one case, in one thread. Times are in milliseconds; every
 * limit is stretched by the "scale" of the guest (see rp_opt), because a
 * limit is only there for what should never happen. "Nothing comes" is shown
 * by an exchange that follows and whose answer must be the next message.
 */
#ifndef _CONFORM_H
#define _CONFORM_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* ---- options, failure ---- */

/**
 * struct rp_opt - what the command line says
 * @addr: address of the server, or the one to listen on
 * @second: another one to listen on, for a client with several paths; NULL: none
 * @port: port of the server, or the first one to listen on
 * @export: directory of the server in which cases may make files; NULL: none
 * @mount: options of every mount besides those that a case wants
 * @dev: "rxe" or "siw": what the device tells about invalidated handles
 * @version: 1: the other end does not know version 2
 * @scale: factor for all time limits
 * @tell: explain every message on standard error
 * @module: the other end is rpcrdma2 on this machine: look at its counters,
 *	set its parameters
 * @no_answer: the server does not answer CONNPROP
 */
struct rp_opt {
	const char	*addr;
	const char	*second;
	unsigned int	port;
	const char	*export;
	const char	*mount;
	const char	*dev;
	unsigned int	version;
	unsigned int	scale;
	bool		tell;
	bool		module;
	bool		no_answer;
};

extern struct rp_opt rp_opt;

/* Limits, before scaling: for an answer, for showing that nothing comes */
#define RP_ANSWER	5000
#define RP_SILENCE	100

void rp_fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
void rp_skip(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* What is worth knowing of a case that passes */
void rp_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void rp_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define rp_check(cond, ...)						\
do {									\
	if (!(cond))							\
		rp_fail(__VA_ARGS__);					\
} while (0)

/* What the drafts leave open: rpcrdma2 has to do as it has decided, with others
 * there is nothing to be tested then.
 */
void rp_otherwise(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#define rp_choice(cond, ...)						\
do {									\
	if (!(cond))							\
		rp_otherwise(__VA_ARGS__);				\
} while (0)

uint64_t rp_now(void);			/* milliseconds */
void rp_sleep(unsigned int ms);		/* not scaled */

/* What is allowed without --module; the case ends otherwise. */
void rp_needs_module(void);

/* ---- test cases ---- */

/*
 * What a case rests on: a MUST or a SHOULD of the sections that its ids name,
 * a choice that the drafts leave open (Documentation/decisions.md), or nothing
 * but the wish that a peer survives trouble.
 */
enum {
	MUST = 1, SHOULD = 2, DECISION = 3, TROUBLE = 4,
	LEVEL = 7,
	V1 = 8,			/* a peer that knows version 1 only will do */
	MODULE = 16,		/* looks into the module: rp_opt.module */
};

/**
 * struct rp_case - one test case
 * @name: name of the function, for the command line
 * @group: cases that one test script runs
 * @basis: what it rests on
 * @ids: requirements, separated by commas
 * @text: what is shown
 * @run: the case
 */
struct rp_case {
	const char	*name;
	const char	*group;
	unsigned int	basis;
	const char	*ids;
	const char	*text;
	void		(*run)(void);
	struct rp_case	*next;
};

extern struct rp_case *rp_cases;

void rp_register(struct rp_case *c);
/* What another case does */
void rp_play(const char *name);

#define RP_CASE(_group, _basis, _fn, _ids, _text)			\
static void _fn(void);							\
static struct rp_case rp_case_##_fn = {					\
	.name = #_fn, .group = _group, .basis = _basis, .ids = _ids,	\
	.text = _text, .run = _fn,					\
};									\
static void __attribute__((constructor)) rp_register_##_fn(void)	\
{									\
	rp_register(&rp_case_##_fn);					\
}									\
static void _fn(void)

/* A case that is a row of a table: what it has in common with the rows beside it is
 * a function, which it calls with what is different
 */
#define RP_ROW(_group, _basis, _fn, _ids, _text, ...)			\
RP_CASE(_group, _basis, _fn, _ids, _text)				\
{									\
	__VA_ARGS__;							\
}

/* ---- constants of the wire ---- */

enum {
	MSG = 0, NOMSG = 1, MSGP = 2, DONE = 3, ERROR = 4, CONNPROP = 5,
};

#define REQPROP		0xffffff02u
#define RESPROP		0xffffff03u
#define UPDPROP		0xffffff04u

enum { CALL = 0, RESPONSE = 1 };	/* rdma_flags */

enum {
	ERR_VERS = 1, BAD_XDR = 2, INVAL_HTYPE = 3, READ_CHUNKS = 4,
	WRITE_CHUNKS = 5, SEGMENTS = 6, WRITE_RESOURCE = 7,
	REPLY_RESOURCE = 8, SYSTEM = 9,
};

enum { RBSIZ = 1, BRS = 2 };		/* properties */

/* ---- messages: msg.c ---- */

/* In an expected message: any value will do. */
#define ANY		(1ull << 32)

#define RP_MAX_WORDS	20480

/**
 * struct rp_msg - a message to be sent, or to be expected
 * @n: number of words
 * @cut: send only so many bytes; 0 for all
 * @w: the words, in host byte order; ANY only in expected messages
 */
struct rp_msg {
	unsigned int	n;
	unsigned int	cut;
	uint64_t	w[RP_MAX_WORDS];
};

/**
 * struct rp_seg - a segment
 * @handle: steering tag
 * @len: bytes
 * @off: address
 */
struct rp_seg {
	uint32_t	handle;
	uint32_t	len;
	uint64_t	off;
};

/* A constant list of words: rp_words(m, W(1, 2, 3)) */
#define W(...)								\
	(const uint64_t[]){ __VA_ARGS__ },				\
	sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

/* An empty message, good until 16 more were asked for. */
struct rp_msg *rp_new(void);
/* What is done aside leaves the messages of a case alone, sent or received. */
void rp_aside(bool is);
unsigned int rp_side(void);
struct rp_msg *rp_words(const uint64_t *w, unsigned int n);
struct rp_msg *rp_cut(struct rp_msg *m, unsigned int bytes);
/* Replace one word: rp_set(null_call(1), 4, 2) */
struct rp_msg *rp_set(struct rp_msg *m, unsigned int word, uint64_t value);
struct rp_msg *rp_copy(const struct rp_msg *m);

void put(struct rp_msg *m, uint64_t w);
void put_all(struct rp_msg *m, const uint64_t *w, unsigned int n);
void put_long(struct rp_msg *m, uint64_t v);
void put_bytes(struct rp_msg *m, const void *p, unsigned int len);
void put_opaque(struct rp_msg *m, const void *p, unsigned int len);
void put_msg(struct rp_msg *m, const struct rp_msg *tail);
void put_seg(struct rp_msg *m, struct rp_seg s);
/* One entry of the Read list */
void put_read(struct rp_msg *m, uint32_t position, struct rp_seg s);
/* One entry of the Write list, or a Reply chunk that is present */
void put_chunk(struct rp_msg *m, unsigned int n, const struct rp_seg *s);
/* The rest of the lists: one Read segment, one Write chunk, or a Reply chunk */
void put_last_read(struct rp_msg *m, uint32_t position, struct rp_seg s);
void put_last_write(struct rp_msg *m, unsigned int n, const struct rp_seg *s);
void put_reply_chunk(struct rp_msg *m, unsigned int n, const struct rp_seg *s);
/* A property with a value of one word */
void put_prop(struct rp_msg *m, uint32_t id, uint32_t value);

/* The five words every version 2 message begins with */
struct rp_msg *v2(uint32_t xid, uint64_t credit, uint32_t htype,
		  uint32_t flags);
/* The four words every version 1 message begins with */
struct rp_msg *v1(uint32_t xid, uint64_t credit, uint32_t proc);

/* RPC messages without a header, as payload */
struct rp_msg *rpc_call(uint32_t xid, uint32_t prog, uint32_t vers,
			uint32_t proc);
struct rp_msg *rpc_reply(uint32_t xid);
struct rp_msg *rpc_null(uint32_t xid);

/* A MSG without chunks around an RPC message, version 2 or 1 */
struct rp_msg *msg_call(const struct rp_msg *rpc);
struct rp_msg *msg_reply(const struct rp_msg *rpc);
struct rp_msg *v1_call(const struct rp_msg *rpc);
struct rp_msg *v1_reply(const struct rp_msg *rpc);
/* MSG or NOMSG up to where the chunk lists begin */
struct rp_msg *call_head(uint32_t xid, uint32_t htype, uint32_t inv);
struct rp_msg *reply_head(uint32_t xid, uint32_t htype);

/* MSG with one Read segment, one Write chunk or a Reply chunk around an RPC message */
struct rp_msg *call_with_read(const struct rp_msg *rpc, uint32_t position,
			      struct rp_seg s);
struct rp_msg *call_with_write(const struct rp_msg *rpc, unsigned int n,
			       const struct rp_seg *s);
struct rp_msg *reply_with_write(const struct rp_msg *rpc, unsigned int n,
				const struct rp_seg *s);

/* A NULL Call with this XID, and what must come back */
struct rp_msg *null_call(uint32_t xid);
struct rp_msg *null_reply(uint32_t xid);
/* The same in version 1 */
struct rp_msg *v1_null_call(uint32_t xid);
struct rp_msg *v1_null_reply(uint32_t xid);

/* What a responder answers to a version 2 message; credits are free */
struct rp_msg *error2(uint32_t xid, uint32_t code);
struct rp_msg *error2_arg(uint32_t xid, uint32_t code, uint64_t arg);
struct rp_msg *err_vers(uint32_t xid, uint32_t vers, uint32_t low,
			uint32_t high);
/* P1, or with other values */
struct rp_msg *connprop(uint32_t xid, uint32_t rbsiz, uint32_t brs);
struct rp_msg *connprop_head(uint32_t xid, uint32_t flags, uint32_t n);

/* Spoil some words, or the length; the same in every run. */
void rp_spoil(struct rp_msg *m);
uint32_t rp_dice(void);

uint32_t rp_xid(void);			/* a new one each time */
uint32_t rp_word(const void *buf, unsigned int index);

/* ---- what went over the wire, for the report: run.c ---- */

enum rp_way { RP_SENT, RP_GOT, RP_WROTE, RP_READ };

void rp_record(enum rp_way way, unsigned int conn, const void *p,
	       unsigned int len);
/* The message that should have come */
void rp_record_wanted(const struct rp_msg *want);

/* ---- connections: conn.c ---- */

#define RP_RECV_SIZE	32768
#define RP_NR_RECVS	192
#define RP_NR_SENDS	64

/**
 * struct rp_rx - a received message
 * @len: bytes
 * @inv: handle that was invalidated with it, 0 if none
 * @buf: the message
 */
struct rp_rx {
	uint32_t	len;
	uint32_t	inv;
	uint8_t		buf[RP_RECV_SIZE];
};

struct rp_conn;
struct rp_listener;

/**
 * struct rp_mem - registered memory
 * @buf: the memory
 * @size: bytes
 * @handle: what the peer uses to reach it
 * @mr: local side
 * @mw: window, if the handle may be invalidated remotely
 */
struct rp_mem {
	uint8_t		*buf;
	uint32_t	size;
	uint32_t	handle;
	struct ibv_mr	*mr;
	struct ibv_mw	*mw;
};

/* How to connect, or to accept */
struct rp_how {
	const void	*private_data;
	unsigned int	private_len;
	unsigned int	recvs;		/* 0: RP_NR_RECVS */
	unsigned int	recv_size;	/* 0: RP_RECV_SIZE; longer is fatal */
	bool		no_rnr;		/* a missing Receive is fatal */
	bool		no_more;	/* no Receive is posted again */
	bool		no_rtu;		/* the CM's last message is not sent */
};

/* rp_opt.addr and this port */
void rp_address(struct sockaddr_storage *to, unsigned int port);
struct rp_conn *rp_connect(void);
struct rp_conn *rp_connect_how(const struct rp_how *how);
struct rp_listener *rp_listen(unsigned int port);
/* The same at another address of ours */
struct rp_listener *rp_listen_at(const char *addr, unsigned int port);
struct rp_conn *rp_accept(struct rp_listener *l, const struct rp_how *how);
/* NULL if nobody connects within @ms */
struct rp_conn *rp_accept_within(struct rp_listener *l,
				 const struct rp_how *how, unsigned int ms);
bool rp_wants_in(struct rp_listener *l);
/* Accept who wants in. NULL: who did has left. */
struct rp_conn *rp_try_accept(struct rp_listener *l);
/* Refuse the next connect request. */
void rp_reject(struct rp_listener *l);
void rp_unlisten(struct rp_listener *l);
void rp_close(struct rp_conn *c);
/* Our own port, which tells connections of the module apart */
unsigned int rp_port(struct rp_conn *c);
/* Private data the other side sent */
const uint8_t *rp_private(struct rp_conn *c, unsigned int *len);

void rp_send(struct rp_conn *c, const struct rp_msg *m);
/* Two at once: when the peer looks at the first the other one is there, too. */
void rp_send_both(struct rp_conn *c, const struct rp_msg *m,
		  const struct rp_msg *next);
/* Keep the messages for one connection at a time, then send them all at once. */
void rp_collect(struct rp_conn *c);
void rp_send_collected(struct rp_conn *c);
void rp_send_bytes(struct rp_conn *c, const void *p, unsigned int len);
/* Send With Invalidate */
void rp_send_inv(struct rp_conn *c, const struct rp_msg *m, uint32_t handle);
/* Like rp_send(), but the connection may be gone. */
bool rp_try_send(struct rp_conn *c, const struct rp_msg *m);
bool rp_try_send_inv(struct rp_conn *c, const struct rp_msg *m, uint32_t inv);
/* End the connection, which stays in our hands. @dead: the peer is not told. */
void rp_hang_up(struct rp_conn *c, bool dead);
/* edit.c: what is sent instead, NULL for nothing. Then any answer is an expected one. */
extern const struct rp_msg *(*rp_on_send)(struct rp_conn *c,
					  const struct rp_msg *m, uint32_t *inv);
extern void (*rp_on_connect)(struct rdma_conn_param *param);

/* The next message; NULL if none comes or the connection ends. */
struct rp_rx *rp_recv_within(struct rp_conn *c, unsigned int ms);
struct rp_rx *rp_recv(struct rp_conn *c);
/* Put a message back: the next rp_recv() returns it again. */
void rp_unrecv(struct rp_conn *c, const struct rp_rx *rx);
bool rp_matches(const struct rp_rx *rx, const struct rp_msg *want);
void rp_must_match(const struct rp_rx *rx, const struct rp_msg *want);
struct rp_rx *rp_expect(struct rp_conn *c, const struct rp_msg *want);
void rp_expect_closed(struct rp_conn *c);
bool rp_closed_within(struct rp_conn *c, unsigned int ms);
/* The CM says that our connect request was refused. */
bool rp_rejected_within(struct rp_conn *c, unsigned int ms);
bool rp_is_closed(struct rp_conn *c);
/* A message has come, or the connection has ended: does not look for what happens. */
bool rp_has_news(struct rp_conn *c);
/* No message comes, and the connection stays. */
void rp_expect_silence(struct rp_conn *c, unsigned int ms);

/* Memory the peer may read and write, filled with 0xA5 */
struct rp_mem *rp_mem(struct rp_conn *c, uint32_t size);
/* The same with a handle that may be invalidated remotely */
struct rp_mem *rp_mem_inv(struct rp_conn *c, uint32_t size);
struct rp_seg rp_seg(const struct rp_mem *mem, uint32_t offset, uint32_t len);
/* RDMA as responder */
void rp_rdma_read(struct rp_conn *c, void *buf, struct rp_seg s);
void rp_rdma_write(struct rp_conn *c, const void *buf, struct rp_seg s);
/* false: the connection broke over it */
bool rp_try_rdma_write(struct rp_conn *c, const void *buf, struct rp_seg s);
bool rp_try_rdma_read(struct rp_conn *c, void *buf, struct rp_seg s);

/* Also wait for this descriptor wherever we wait, and call this. */
void rp_watch(int fd, void (*ready)(void));
/* Wait until @done(@arg), handling everything that happens. */
bool rp_wait(bool (*done)(void *arg), void *arg, unsigned int ms);

/* ---- helpers for cases against a server: server.c ---- */

/* Connect and exchange CONNPROP: RBSIZ 4096, BRS NONE */
struct rp_conn *rp_open(void);
/* Send this CONNPROP, take the answer. Returns the credits. */
uint32_t rp_settle(struct rp_conn *c, const struct rp_msg *connprop);
/* Bytes of a message that the server of the last rp_settle() takes, and we
 * have room for
 */
uint32_t rp_may_send(void);
/* Connect, and the same */
struct rp_conn *rp_open_with(const struct rp_msg *connprop);
/* NULL Calls of both versions work; what came before left no answer. */
void rp_null(struct rp_conn *c);
void rp_v1_null(struct rp_conn *c);
/* Nothing comes back and RPCs go on as before. */
void rp_nothing(struct rp_conn *c);
void rp_v1_nothing(struct rp_conn *c);
/* Send @m and expect this RDMA2_ERROR for it. */
void rp_refused(struct rp_conn *c, const struct rp_msg *m, uint32_t code);
/* Send and wait for the answer with the same XID. */
struct rp_rx *rp_exchange(struct rp_conn *c, const struct rp_msg *m);
/* NULL Calls of NFSv4 the server has executed so far; 0 without --module */
unsigned long rp_nulls_served(void);

/* ---- NFS version 4.0 payloads: nfs4.c ---- */

/* COMPOUND of @ops operations that follow */
struct rp_msg *nfs4_call(uint32_t xid, uint32_t ops);
/* PUTROOTFH (or PUTFH), LOOKUP @file: the first two operations */
void nfs4_put_file(struct rp_msg *m, const char *file);
void nfs4_put_read(struct rp_msg *m, uint32_t off, uint32_t count);
void nfs4_put_write(struct rp_msg *m, uint32_t off, uint32_t count);
void nfs4_put_written(struct rp_msg *m, uint32_t count);
/* A COMPOUND of PUTROOTFH, LOOKUP, READ */
struct rp_msg *nfs4_read(uint32_t xid, const char *file, uint32_t off,
			 uint32_t count);
/* PUTROOTFH, LOOKUP, WRITE up to and including the length of the data */
struct rp_msg *nfs4_write(uint32_t xid, const char *file, uint32_t off,
			  uint32_t count);
/* The replies; that of READ ends with the length of the data. */
struct rp_msg *nfs4_reply(uint32_t xid, uint32_t ops);
struct rp_msg *nfs4_read_reply(uint32_t xid, bool eof, uint32_t count);
struct rp_msg *nfs4_write_reply(uint32_t xid, uint32_t count);
/* Store an RPC message in registered memory; returns its bytes. */
uint32_t rp_store(struct rp_mem *mem, uint32_t off, const struct rp_msg *rpc);
/* The memory holds these words. */
void rp_holds(const struct rp_mem *mem, uint32_t off,
	      const struct rp_msg *rpc);
/* Bytes of a reply to nfs4_read() in front of the data */
#define NFS4_READ_HEAD	68

void nfs4_put_readlink(struct rp_msg *m, const char *name);
/* The result of the first of two operations that find a file */
uint32_t nfs4_root_op(void);

/* ---- files of the export, made over NFS: files.c ---- */

/* A file that holds rp_pattern(), and what is in one */
void rp_file(const char *name, uint32_t size);
void rp_file_is(const char *name, uint32_t off, const void *data,
		uint32_t len);
/* A symbolic link: nfs4_put_readlink() */
void rp_link(const char *name, uint32_t len);
/* Its target: rp_link() made it */
char *rp_target(uint32_t len);
/* Somebody else opens a file for writing; it may be told to wait. */
void rp_want_to_write(const char *name);
/* The operation that leads to the export, with its argument */
void rp_put_export(struct rp_msg *m);
/* @len bytes of the pattern from @off on, as words */
void put_pattern(struct rp_msg *m, uint32_t off, uint32_t len);
void rp_fill(void *buf, uint32_t off, uint32_t len);
void rp_is_pattern(const void *buf, uint32_t off, uint32_t len);
/* Nobody wrote there. */
void rp_is_untouched(const struct rp_mem *mem, uint32_t off, uint32_t len);

#endif /* _CONFORM_H */
