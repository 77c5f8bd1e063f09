/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of rpcrdma2: each gets its arguments and returns the status to
 * exit with.
 */
#ifndef _CMD_H
#define _CMD_H

#include <jansson.h>
#include <stdbool.h>

/* Exit status. Those of "status" are for scripts, see rpcrdma2(8). */
#define RC_OK		0
#define RC_FALLBACK	1	/* something speaks version 1 that could do 2 */
#define RC_ERROR	2
#define RC_NOT_LOADED	3
#define RC_NOTHING	4	/* there is no connection */

extern bool opt_json;

int cmd_show(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_change(int argc, char **argv);
int cmd_forget(int argc, char **argv);
int cmd_reconnect(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_setup(int argc, char **argv);
int cmd_unload(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_report(int argc, char **argv);

json_t *get_connections(const char *which);
json_t *get_module(const char *role);
json_t *get_sums(void);
json_t *get_paths(void);
json_t *find_trouble(void);
json_t *connecting_peers(void);
json_t *without_connection(const json_t *conns);

int fail(const char *what, int err);
int usage_error(const char *what);
void print_json(const json_t *what);
bool to_number(const char *word, unsigned int *number);

#endif /* _CMD_H */
