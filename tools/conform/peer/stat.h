/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module counts, of one connection and of all that have ended.
 */
#ifndef _CONFORM_STAT_H
#define _CONFORM_STAT_H

#include "rp.h"
#include "client.h"

/* A number that the module shows of the server's connection to us */
long rp_server_stat(struct rp_conn *c, const char *name);
/* The same of the mount. The counters are those of all its connections. */
long rp_client_stat(struct cl *s, const char *name);
/* Wait until it is exactly @want. */
void rp_client_reaches(struct cl *s, const char *name, long want);
/* Counters of all that has ended; role is "client" or "server". */
long rp_ended_stat(const char *role, const char *name);
/* Wait until that counter is above @was. */
void rp_ended_above(const char *role, const char *name, long was);

#endif /* _CONFORM_STAT_H */
