/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other end of a connection whose values change: a server or a client
 * under test, in the same words. Messages that are its own business (its
 * Calls, its UPDPROPs, its REQPROPs) are taken care of while a case waits for
 * something else.
 */
#ifndef _CONFORM_EITHER_H
#define _CONFORM_EITHER_H

#include "rp.h"
#include "change.h"
#include "client.h"

/**
 * struct peer - the other end
 * @c: the connection
 * @s: it is a client of this server; NULL if it is a server
 * @base: it does not have the extension, as it should believe of us
 * @rbsiz: its Receive Buffer Size, as it says
 * @brs: its Reverse Request Support, as it says
 * @own: our Receive Buffer Size, as it should believe
 * @grant: server: credits, as it says
 * @overhead: client: bytes of a WRITE without its data
 * @updates: UPDPROPs it sent
 * @hold: its REQPROPs wait for the case; otherwise they are rejected
 * @hold_empty: the same for those that ask for nothing
 * @barrier: hold the first of these behind the next UPDPROP
 * @requests: REQPROPs it sent that ask for something
 * @cycles: those that do not
 * @request: the last one that was held
 * @waiting: it has no answer
 * @other: client: messages for the case
 * @others: number of them
 */
struct peer {
	struct rp_conn	*c;
	struct cl	*s;
	bool		base;
	uint32_t	rbsiz;
	uint32_t	brs;
	uint32_t	own;
	uint32_t	grant;
	uint32_t	overhead;
	unsigned int	updates;
	bool		hold;
	bool		hold_empty;
	bool		barrier;
	unsigned int	requests;
	unsigned int	cycles;
	struct chg	request;
	bool		waiting;
	struct rp_rx	*other[8];
	unsigned int	others;
};

/* Connect to a server, or mount with a client, with the extension */
struct peer *peer_server(uint32_t rbsiz);
struct peer *peer_client(uint32_t rbsiz);
/* The same with this CONNPROP; what depends on the role is filled in. */
struct peer *peer_server_with(struct rp_msg *prop);
struct peer *peer_client_with(const char *options, struct rp_msg *prop);
/* The same with a mount that was started, and goes on */
struct peer *peer_client_of(struct cl *s, struct rp_msg *prop);

/* Close the connection to a server. */
void peer_close(struct peer *p);
/* A client that has lost its connection makes a new one. Its values, and ours
 * (4096), are those of a new connection.
 */
void peer_again(struct peer *p);

/* The next message that is not its own business */
struct rp_rx *peer_next(struct peer *p);
void peer_expect(struct peer *p, const struct rp_msg *want);
void peer_refused(struct peer *p, const struct rp_msg *m, uint32_t code);
/* RPCs work. */
void peer_alive(struct peer *p);
/* What was sent left no answer, and everything works. */
void peer_nothing(struct peer *p);
/* After more than it has Receives for: all of it was looked at and the
 * connection stands, or it does not. Answers are thrown away.
 */
bool peer_still_there(struct peer *p);
/* Like peer_nothing(); unmount. */
void peer_end(struct peer *p);

/* Send a REQPROP and take its RESPROP. */
struct chg peer_ask(struct peer *p, const struct rp_msg *m);
void peer_ask_nothing(struct peer *p);
/* Ask for this Receive Buffer Size once. */
void peer_ask_size(struct peer *p, uint32_t size);
/* Ask until it is so, and cycle its queue meanwhile. Returns the number of
 * messages it took.
 */
unsigned int peer_get_size(struct peer *p, uint32_t size);
/* Many messages of this size at once; returns how many. */
unsigned int peer_flood(struct peer *p, uint32_t bytes);

/* It sends an RPC message of exactly so many bytes without chunks; it does
 * not. It believes our Receive Buffer Size to be this.
 */
void peer_sends(struct peer *p, uint32_t bytes);
void peer_withholds(struct peer *p, uint32_t bytes);
void peer_limit(struct peer *p, uint32_t bytes);

/* Its administrator writes this; it must be taken, or refused, or either. */
void peer_order(struct peer *p, const char *order);
void peer_order_refused(struct peer *p, const char *order);
void peer_try_order(struct peer *p, const char *order);
/* Wait for a REQPROP that is held: p->request. */
void peer_asks(struct peer *p);
/* The same; it wants this size. */
void peer_asks_size(struct peer *p, uint32_t size);
/* Answer that; the XID is filled in. */
void peer_answer(struct peer *p, struct rp_msg *m);
/* Wait for an UPDPROP, if it has not sent so many. */
void peer_updates(struct peer *p, unsigned int updates);
/* What it shows of the connection */
long peer_shows(struct peer *p, const char *name);

#endif /* _CONFORM_EITHER_H */
