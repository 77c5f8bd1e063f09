// SPDX-License-Identifier: GPL-2.0
/*
 * change, forget, reconnect: what an administrator wants of a connection.
 */
#include <string.h>

#include <linux/rpcrdma2_netlink.h>

#include "cmd.h"
#include "nl.h"

static int act(const char *what, int cmd, const struct nl_arg *args)
{
	int ret = nl_do(cmd, args);

	return ret ? fail(what, ret) : RC_OK;
}

/* A property's value: a number, or what it says in words */
static bool to_value(int prop, const char *word, unsigned int *value)
{
	if (prop == RPCRDMA2_PROPERTY_ID_BRS && !strcmp(word, "none"))
		*value = 0;
	else if (prop == RPCRDMA2_PROPERTY_ID_BRS && !strcmp(word, "inline"))
		*value = 1;
	else
		return to_number(word, value);
	return true;
}

/**
 * cmd_change - change a property of a connection
 * @argc: words
 * @argv: change ID [own] rbsiz|brs VALUE
 *
 * Return: exit status
 */
int cmd_change(int argc, char **argv)
{
	bool own = argc > 2 && !strcmp(argv[2], "own");
	struct nl_arg args[] = {
		{ RPCRDMA2_A_CHANGE_CONNECTION, ATTR_U32, 0, NULL, 0 },
		{ RPCRDMA2_A_CHANGE_VALUE, ATTR_U32, 0, NULL, 0 },
		{ RPCRDMA2_A_CHANGE_PROPERTY, ATTR_U32, 0, NULL, 0 },
		{ RPCRDMA2_A_CHANGE_OWN, ATTR_U8, own, NULL, 0 },
		{ },
	};
	unsigned int id, value;
	int prop;

	argv += own;
	if (argc != 4 + own || !to_number(argv[1 - own], &id))
		return usage_error("change ID [own] rbsiz|brs VALUE");
	prop = nl_word(&change_set.attrs[RPCRDMA2_A_CHANGE_PROPERTY], argv[2]);
	if (prop < 0 || !to_value(prop, argv[3], &value))
		return usage_error("change ID [own] rbsiz|brs VALUE");
	args[0].number = id;
	args[1].number = value;
	args[2].number = prop;
	return act("change", RPCRDMA2_CMD_CONN_CHANGE, args);
}

static int act_on(const char *what, int cmd, int argc, char **argv)
{
	struct nl_arg args[] = {
		{ RPCRDMA2_A_CHANGE_CONNECTION, ATTR_U32, 0, NULL, 0 }, { }
	};
	unsigned int id;

	if (argc != 2 || !to_number(argv[1], &id))
		return usage_error(what);
	args[0].number = id;
	return act(what, cmd, args);
}

/**
 * cmd_forget - offer version 2 again next time
 * @argc: words
 * @argv: forget ID
 *
 * Return: exit status
 */
int cmd_forget(int argc, char **argv)
{
	return act_on("forget ID", RPCRDMA2_CMD_CONN_FORGET, argc, argv);
}

/**
 * cmd_reconnect - end a connection
 * @argc: words
 * @argv: reconnect ID
 *
 * Return: exit status
 */
int cmd_reconnect(int argc, char **argv)
{
	return act_on("reconnect ID", RPCRDMA2_CMD_CONN_RECONNECT, argc, argv);
}
