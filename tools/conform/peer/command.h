/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command rpcrdma2: what the module of this machine shows of its connections,
 * and what its administrator has it do. Only for cases that look into the module.
 */
#ifndef _CONFORM_COMMAND_H
#define _CONFORM_COMMAND_H

#include <stdbool.h>

/**
 * struct cmd_memory - what a server has for its connections
 * @connections: how many there are
 * @one: the most that it has for one of them, bytes
 * @all: what it has for all, bytes
 */
struct cmd_memory {
	unsigned int	connections;
	long		one;
	long		all;
};

/* A number of the connection that RPCs flow on and whose other end has this port;
 * role is "client" or "server". -1: there is none.
 */
long cmd_shows(const char *role, unsigned int port, const char *name);
/* A sum over all connections of this role that have ended; -1: there is none. */
long cmd_ended(const char *role, const char *name);
struct cmd_memory cmd_memory(void);
/* Of that connection: false if it is refused. */
bool cmd_change(const char *role, unsigned int port, const char *words);
bool cmd_forget(const char *role, unsigned int port);
/* What the policy table says of all peers of this role, before what it says by
 * default; put back at the end of the process.
 */
void cmd_policy(const char *role, const char *words);
/* The same of one peer, by its address */
void cmd_policy_of(const char *role, const char *peer, const char *words);
/* The state of the client's path to this address of a server; "" if there is no path. */
const char *cmd_path_state(const char *server);

#endif /* _CONFORM_COMMAND_H */
