/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink family "rpcrdma2", seen from user space. Messages become JSON
 * objects by tables that are made of the family's specification, and everything
 * that is printed is made of these objects.
 */
#ifndef _NL_H
#define _NL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum attr_type {
	ATTR_NONE = 0,
	ATTR_FLAG,
	ATTR_U8,
	ATTR_U16,
	ATTR_U32,
	ATTR_S32,
	ATTR_U64,
	ATTR_STRING,
	ATTR_ADDRESS,
	ATTR_IPV4,
	ATTR_IPV6,
	ATTR_PAIR,	/* server and local, IPv4 mapped; local may be missing */
	ATTR_NEST,
};

struct attr_set;

/**
 * struct attr - an attribute
 * @name: in JSON and in text
 * @type: how its value is encoded
 * @nested: its attributes, for ATTR_NEST
 * @words: the values in words, ends with NULL
 * @multi: there may be several, which become an array
 */
struct attr {
	const char		*name;
	enum attr_type		type;
	const struct attr_set	*nested;
	const char *const	*words;
	bool			multi;
};

/**
 * struct attr_set - the attributes of a kind of message, by number
 * @attrs: attributes; those without a name are not known
 * @n: how many
 */
struct attr_set {
	const struct attr	*attrs;
	size_t			n;
};

extern const struct attr_set connection_set, module_set, change_set,
	policy_set, path_set;

/**
 * struct nl_arg - an attribute of a request
 * @type: its number; 0 ends an array of these
 * @kind: ATTR_U8, ATTR_U32 or ATTR_ADDRESS
 * @number: the value
 * @address: struct sockaddr_in or sockaddr_in6
 * @len: bytes of it
 */
struct nl_arg {
	int		type;
	enum attr_type	kind;
	uint32_t	number;
	const void	*address;
	size_t		len;
};

int nl_open(void);
json_t *nl_get(int cmd, bool dump, const struct attr_set *set,
	       const struct nl_arg *args);
int nl_do(int cmd, const struct nl_arg *args);
int nl_put(int cmd, const struct attr_set *set, const json_t *object);
json_t *nl_ask(int cmd, const struct attr_set *set, const json_t *object);
const char *nl_why(void);
int nl_listen(const struct attr_set *set, void (*event)(json_t *object));
int nl_word(const struct attr *attr, const char *word);

#endif /* _NL_H */
