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
static char nl_reason[256];

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

static json_t *ip_to_json(int family, const struct nlattr *a)
{
	char host[INET6_ADDRSTRLEN];

	if (mnl_attr_get_payload_len(a) < (family == AF_INET ? 4 : 16))
		return json_null();
	return json_string(inet_ntop(family, mnl_attr_get_payload(a), host,
				     sizeof(host)));
}

/* An address of either family; NULL if it is zero */
static json_t *mapped_to_json(const struct in6_addr *addr)
{
	bool four = IN6_IS_ADDR_V4MAPPED(addr);
	char host[INET6_ADDRSTRLEN];

	if (IN6_IS_ADDR_UNSPECIFIED(addr))
		return NULL;
	return json_string(inet_ntop(four ? AF_INET : AF_INET6,
				     four ? &addr->s6_addr[12] : addr->s6_addr,
				     host, sizeof(host)));
}

static json_t *pair_to_json(const struct nlattr *a)
{
	json_t *object = json_object(), *local;
	struct in6_addr addr[2];

	if (mnl_attr_get_payload_len(a) < sizeof(addr))
		return object;
	memcpy(addr, mnl_attr_get_payload(a), sizeof(addr));
	json_object_set_new(object, "server", mapped_to_json(&addr[0]));
	local = mapped_to_json(&addr[1]);
	if (local)
		json_object_set_new(object, "local", local);
	return object;
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
	case ATTR_FLAG:
		return json_true();
	case ATTR_U8:
		return json_integer(mnl_attr_get_u8(a));
	case ATTR_U16:
		return json_integer(mnl_attr_get_u16(a));
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
	case ATTR_IPV4:
		return ip_to_json(AF_INET, a);
	case ATTR_IPV6:
		return ip_to_json(AF_INET6, a);
	case ATTR_PAIR:
		return pair_to_json(a);
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

static uint32_t to_value(const struct attr *attr, const json_t *value)
{
	const char *word = json_string_value(value);

	return word ? nl_word(attr, word) : json_integer_value(value);
}

static void to_mapped(struct in6_addr *addr, const json_t *value)
{
	const char *host = json_string_value(value);

	if (!host || inet_pton(AF_INET6, host, addr) == 1)
		return;
	memset(&addr->s6_addr[10], 0xff, 2);
	inet_pton(AF_INET, host, &addr->s6_addr[12]);
}

static void put_pair(struct nlmsghdr *nlh, int type, const json_t *value)
{
	struct in6_addr addr[2] = { };

	to_mapped(&addr[0], json_object_get(value, "server"));
	to_mapped(&addr[1], json_object_get(value, "local"));
	mnl_attr_put(nlh, type, sizeof(addr), addr);
}

/* Numbers in words or not, addresses as they are written */
static void put_value(struct nlmsghdr *nlh, int type, const struct attr *attr,
		      const json_t *value)
{
	unsigned char addr[16];

	switch (attr->type) {
	case ATTR_FLAG:
		mnl_attr_put(nlh, type, 0, NULL);
		break;
	case ATTR_U8:
		mnl_attr_put_u8(nlh, type, to_value(attr, value));
		break;
	case ATTR_U16:
		mnl_attr_put_u16(nlh, type, to_value(attr, value));
		break;
	case ATTR_U32:
		mnl_attr_put_u32(nlh, type, to_value(attr, value));
		break;
	case ATTR_IPV4:
		inet_pton(AF_INET, json_string_value(value), addr);
		mnl_attr_put(nlh, type, 4, addr);
		break;
	case ATTR_IPV6:
		inet_pton(AF_INET6, json_string_value(value), addr);
		mnl_attr_put(nlh, type, 16, addr);
		break;
	case ATTR_PAIR:
		put_pair(nlh, type, value);
		break;
	default:
		break;
	}
}

static void put_object(struct nlmsghdr *nlh, const struct attr_set *set,
		       const json_t *object)
{
	const json_t *value, *one;
	size_t i, k;

	for (i = 0; i < set->n; i++) {
		if (!set->attrs[i].name)
			continue;
		value = json_object_get(object, set->attrs[i].name);
		json_array_foreach(value, k, one)
			put_value(nlh, i, &set->attrs[i], one);
		if (value && !json_is_array(value))
			put_value(nlh, i, &set->attrs[i], value);
	}
}

/* ---- why a request was refused ---- */

struct request {
	const struct nlmsghdr	*nlh;
	const struct attr_set	*set;
};

static const char *attr_name(const struct request *req, uint16_t type)
{
	const char *name = NULL;

	if (req->set && type < req->set->n)
		name = req->set->attrs[type].name;
	return name ?: "";
}

/* The least and the largest number that would be taken */
static void note_range(const struct nlattr *policy, char *range, size_t size)
{
	unsigned long long min = 0, max = 0;
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, policy) {
		if (mnl_attr_get_type(a) == NL_POLICY_TYPE_ATTR_MIN_VALUE_U)
			min = mnl_attr_get_u64(a);
		else if (mnl_attr_get_type(a) == NL_POLICY_TYPE_ATTR_MAX_VALUE_U)
			max = mnl_attr_get_u64(a);
	}
	if (max)
		snprintf(range, size, ", expected %llu to %llu", min, max);
}

static void note_reason(const struct nlmsghdr *nlh, const struct request *req)
{
	const char *text = "", *name = "";
	const struct nlattr *a;
	char range[64] = "";

	mnl_attr_for_each(a, nlh, sizeof(struct nlmsgerr)) {
		switch (mnl_attr_get_type(a)) {
		case NLMSGERR_ATTR_MSG:
			text = mnl_attr_get_str(a);
			break;
		case NLMSGERR_ATTR_OFFS:
			name = attr_name(req, mnl_attr_get_type((const void *)
					 ((const char *)req->nlh +
					  mnl_attr_get_u32(a))));
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			name = attr_name(req, mnl_attr_get_u32(a));
			text = "missing";
			break;
		case NLMSGERR_ATTR_POLICY:
			note_range(a, range, sizeof(range));
			break;
		}
	}
	if (*text)
		snprintf(nl_reason, sizeof(nl_reason), "%s%s%s%s", name,
			 *name ? ": " : "", text, range);
}

static const struct request *nl_request;

/* The kernel says how a request went in what ends the answer, of a dump, too, which
 * libmnl itself passes over.
 */
static int end_cb(const struct nlmsghdr *nlh, void *data)
{
	const int *error = mnl_nlmsg_get_payload(nlh);

	(void)data;
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error) || *error >= 0)
		return MNL_CB_STOP;
	if (nlh->nlmsg_type == NLMSG_ERROR &&
	    nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		note_reason(nlh, nl_request);
	errno = -*error;
	return MNL_CB_ERROR;
}

static mnl_cb_t control_cbs[] = {
	[NLMSG_ERROR] = end_cb,
	[NLMSG_DONE] = end_cb,
};

/**
 * nl_why - what the kernel has said about the last request that it refused
 *
 * Return: a text, empty if nothing
 */
const char *nl_why(void)
{
	return nl_reason;
}

/* Sends @nlh, made of @set, and hands all answers to @cb. Returns 0 or a negative
 * errno.
 */
static int talk(const struct nlmsghdr *nlh, const struct attr_set *set,
		mnl_cb_t cb, void *data)
{
	const struct request request = { nlh, set };
	static char buf[NL_BUFFER];
	int ret = MNL_CB_OK;
	ssize_t len;

	nl_reason[0] = 0;
	nl_request = &request;
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

static json_t *answers(const struct nlmsghdr *nlh, const struct attr_set *set)
{
	struct answer answer = { set, json_array() };
	int ret = talk(nlh, set, answer_cb, &answer);

	if (!ret)
		return answer.array;
	json_decref(answer.array);
	errno = -ret;
	return NULL;
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
	char buf[1024];
	struct nlmsghdr *nlh = new_message(buf, nl_family, dump ? NLM_F_DUMP :
					   NLM_F_ACK, cmd);

	put_args(nlh, args);
	return answers(nlh, set);
}

/**
 * nl_ask - ask for something
 * @cmd: command
 * @set: attributes of the request and of the answer
 * @object: what is asked for
 *
 * Return: an array with an object for each answer; NULL with errno set
 */
json_t *nl_ask(int cmd, const struct attr_set *set, const json_t *object)
{
	char buf[1024];
	struct nlmsghdr *nlh = new_message(buf, nl_family, NLM_F_ACK, cmd);

	put_object(nlh, set, object);
	return answers(nlh, set);
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
	return talk(nlh, NULL, NULL, NULL);
}

/**
 * nl_put - have something done
 * @cmd: command
 * @set: its attributes
 * @object: their values
 *
 * Return: 0 or a negative errno; nl_why() may say more
 */
int nl_put(int cmd, const struct attr_set *set, const json_t *object)
{
	char buf[1024];
	struct nlmsghdr *nlh = new_message(buf, nl_family, NLM_F_ACK, cmd);

	put_object(nlh, set, object);
	return talk(nlh, set, NULL, NULL);
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
	int one = 1;

	if (nl_socket)
		mnl_socket_close(nl_socket);
	nl_socket = mnl_socket_open(NETLINK_GENERIC);
	if (!nl_socket || mnl_socket_bind(nl_socket, 0, MNL_SOCKET_AUTOPID))
		return -errno;
	/* Older kernels say less, that is all. */
	mnl_socket_setsockopt(nl_socket, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl_socket, NETLINK_CAP_ACK, &one, sizeof(one));
	nl_seq = time(NULL);
	nlh = new_message(buf, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, RPCRDMA2_FAMILY_NAME);
	return talk(nlh, NULL, family_cb, NULL);
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
