// SPDX-License-Identifier: GPL-2.0
/*
 * Talks to the netlink family with libmnl.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <linux/rpcrdma2_netlink.h>

#include "nl.h"

#define NL_BUFFER	32768	/* more is not sent at once */

static struct mnl_socket *nl_socket;
static uint16_t nl_family;
static uint32_t nl_group;
static uint32_t nl_seq;

/* ---- from attributes to JSON ---- */

static json_t *address_to_json(const struct nlattr *a)
{
	const struct sockaddr *sa = mnl_attr_get_payload(a);
	char host[INET6_ADDRSTRLEN], zone[IF_NAMESIZE + 1] = "", name[96];
	char itf[IF_NAMESIZE];

	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)sa;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(name, sizeof(name), "%s:%u", host,
			 ntohs(in->sin_port));
	} else if (sa->sa_family == AF_INET6 &&
		   mnl_attr_get_payload_len(a) >= sizeof(struct sockaddr_in6)) {
		const struct sockaddr_in6 *in = (const void *)sa;

		inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
		if (in->sin6_scope_id && if_indextoname(in->sin6_scope_id, itf))
			snprintf(zone, sizeof(zone), "%%%s", itf);
		snprintf(name, sizeof(name), "[%s%s]:%u", host, zone,
			 ntohs(in->sin6_port));
	} else {
		return json_null();
	}
	return json_string(name);
}

static json_t *number_to_json(const struct attr *attr, uint32_t value)
{
	uint32_t i;

	for (i = 0; attr->words && attr->words[i]; i++)
		if (i == value)
			return json_string(attr->words[i]);
	return json_integer(value);
}

static json_t *set_to_json(const struct attr_set *set,
			   const struct nlattr *first, size_t len);

static json_t *attr_to_json(const struct attr *attr, const struct nlattr *a)
{
	switch (attr->type) {
	case ATTR_U8:
		return json_integer(mnl_attr_get_u8(a));
	case ATTR_U32:
		return number_to_json(attr, mnl_attr_get_u32(a));
	case ATTR_S32:
		return json_integer((int32_t)mnl_attr_get_u32(a));
	case ATTR_U64:
		return json_integer(mnl_attr_get_u64(a));
	case ATTR_STRING:
		return json_string(mnl_attr_get_str(a));
	case ATTR_ADDRESS:
		return address_to_json(a);
	case ATTR_NEST:
		return set_to_json(attr->nested, mnl_attr_get_payload(a),
				   mnl_attr_get_payload_len(a));
	default:
		return NULL;
	}
}

static void add_to_json(json_t *object, const struct attr *attr,
			json_t *value)
{
	json_t *array = json_object_get(object, attr->name);

	if (!attr->multi) {
		json_object_set_new(object, attr->name, value);
		return;
	}
	if (!array) {
		array = json_array();
		json_object_set_new(object, attr->name, array);
	}
	json_array_append_new(array, value);
}

/* What is newer than this program is passed over. */
static json_t *set_to_json(const struct attr_set *set,
			   const struct nlattr *first, size_t len)
{
	const char *end = (const char *)first + len;
	json_t *object = json_object();
	const struct nlattr *a = first;

	for (; mnl_attr_ok(a, end - (const char *)a); a = mnl_attr_next(a)) {
		uint16_t type = mnl_attr_get_type(a);

		if (type < set->n && set->attrs[type].name)
			add_to_json(object, &set->attrs[type],
				    attr_to_json(&set->attrs[type], a));
	}
	return object;
}

static json_t *message_to_json(const struct nlmsghdr *nlh,
			       const struct attr_set *set)
{
	const size_t offset = sizeof(struct genlmsghdr);

	return set_to_json(set, mnl_nlmsg_get_payload_offset(nlh, offset),
			   mnl_nlmsg_get_payload_len(nlh) -
			   MNL_ALIGN(offset));
}

/* ---- requests ---- */

static void put_args(struct nlmsghdr *nlh, const struct nl_arg *arg)
{
	for (; arg && arg->type; arg++) {
		if (arg->kind == ATTR_U8)
			mnl_attr_put_u8(nlh, arg->type, arg->number);
		else if (arg->kind == ATTR_ADDRESS)
			mnl_attr_put(nlh, arg->type, arg->len, arg->address);
		else
			mnl_attr_put_u32(nlh, arg->type, arg->number);
	}
}

static struct nlmsghdr *new_message(void *buf, uint16_t type, int flags,
				    int cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++nl_seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	return nlh;
}

/* The kernel says how a request went in what ends the answer, of a dump, too, which
 * libmnl itself passes over.
 */
static int end_cb(const struct nlmsghdr *nlh, void *data)
{
	const int *error = mnl_nlmsg_get_payload(nlh);

	(void)data;
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error) || *error >= 0)
		return MNL_CB_STOP;
	errno = -*error;
	return MNL_CB_ERROR;
}

static mnl_cb_t control_cbs[] = {
	[NLMSG_ERROR] = end_cb,
	[NLMSG_DONE] = end_cb,
};

/* Sends @nlh and hands all answers to @cb. Returns 0 or a negative errno. */
static int talk(const struct nlmsghdr *nlh, mnl_cb_t cb, void *data)
{
	static char buf[NL_BUFFER];
	int ret = MNL_CB_OK;
	ssize_t len;

	if (mnl_socket_sendto(nl_socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	while (ret > MNL_CB_STOP) {
		len = mnl_socket_recvfrom(nl_socket, buf, sizeof(buf));
		if (len < 0)
			return -errno;
		ret = mnl_cb_run2(buf, len, nl_seq,
				  mnl_socket_get_portid(nl_socket), cb, data,
				  control_cbs, ARRAY_SIZE(control_cbs));
	}
	return ret < 0 ? -errno : 0;
}

struct answer {
	const struct attr_set	*set;
	json_t			*array;
};

static int answer_cb(const struct nlmsghdr *nlh, void *data)
{
	struct answer *answer = data;

	json_array_append_new(answer->array, message_to_json(nlh, answer->set));
	return MNL_CB_OK;
}

/**
 * nl_get - ask for something
 * @cmd: command
 * @dump: for all that there are
 * @set: attributes of the answer
 * @args: of the request, or NULL
 *
 * Return: an array with an object for each answer; NULL with errno set
 */
json_t *nl_get(int cmd, bool dump, const struct attr_set *set,
	       const struct nl_arg *args)
{
	struct answer answer = { set, json_array() };
	char buf[1024];
	struct nlmsghdr *nlh = new_message(buf, nl_family, dump ? NLM_F_DUMP :
					   NLM_F_ACK, cmd);
	int ret;

	put_args(nlh, args);
	ret = talk(nlh, answer_cb, &answer);
	if (!ret)
		return answer.array;
	json_decref(answer.array);
	errno = -ret;
	return NULL;
}

/**
 * nl_do - have something done
 * @cmd: command
 * @args: its attributes
 *
 * Return: 0 or a negative errno
 */
int nl_do(int cmd, const struct nl_arg *args)
{
	char buf[1024];
	struct nlmsghdr *nlh = new_message(buf, nl_family, NLM_F_ACK, cmd);

	put_args(nlh, args);
	return talk(nlh, NULL, NULL);
}

/* ---- finding the family ---- */

static void note_groups(const struct nlattr *groups)
{
	const struct nlattr *group, *a;

	mnl_attr_for_each_nested(group, groups)
		mnl_attr_for_each_nested(a, group)
			if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GRP_ID)
				nl_group = mnl_attr_get_u32(a);
}

static int family_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a;

	(void)data;
	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
			nl_family = mnl_attr_get_u16(a);
		else if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GROUPS)
			note_groups(a);
	}
	return MNL_CB_OK;
}

/**
 * nl_open - find the family
 *
 * Return: 0 or a negative errno; -ENOENT: the module is not loaded
 */
int nl_open(void)
{
	char buf[1024];
	struct nlmsghdr *nlh;

	if (nl_socket)
		mnl_socket_close(nl_socket);
	nl_socket = mnl_socket_open(NETLINK_GENERIC);
	if (!nl_socket || mnl_socket_bind(nl_socket, 0, MNL_SOCKET_AUTOPID))
		return -errno;
	nl_seq = time(NULL);
	nlh = new_message(buf, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, RPCRDMA2_FAMILY_NAME);
	return talk(nlh, family_cb, NULL);
}

/* ---- events ---- */

struct listener {
	const struct attr_set	*set;
	void			(*event)(json_t *object);
};

static int event_cb(const struct nlmsghdr *nlh, void *data)
{
	struct listener *listener = data;
	json_t *object;

	if (nlh->nlmsg_type == nl_family) {
		object = message_to_json(nlh, listener->set);
		listener->event(object);
		json_decref(object);
	}
	return MNL_CB_OK;
}

/**
 * nl_listen - wait for events for ever
 * @set: their attributes
 * @event: called with each
 *
 * Return: a negative errno
 */
int nl_listen(const struct attr_set *set, void (*event)(json_t *object))
{
	struct listener listener = { set, event };
	static char buf[NL_BUFFER];
	ssize_t len;

	if (mnl_socket_setsockopt(nl_socket, NETLINK_ADD_MEMBERSHIP, &nl_group,
				  sizeof(nl_group)))
		return -errno;
	for (;;) {
		len = mnl_socket_recvfrom(nl_socket, buf, sizeof(buf));
		if (len < 0 && errno == ENOBUFS) {
			fputs("some events were lost\n", stderr);
			continue;
		}
		if (len < 0 || mnl_cb_run(buf, len, 0, 0, event_cb,
					  &listener) < 0)
			return -errno;
	}
}

/**
 * nl_word - the number of a word
 * @attr: attribute with words
 * @word: one of them
 *
 * Return: its value, or -1
 */
int nl_word(const struct attr *attr, const char *word)
{
	int i;

	for (i = 0; attr->words[i]; i++)
		if (!strcmp(attr->words[i], word))
			return i;
	return -1;
}
