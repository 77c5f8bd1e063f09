// SPDX-License-Identifier: GPL-2.0
/*
 * What the netlink family "rpcrdma2" tells of the module, also what the command
 * rpcrdma2 does not show: a line for each attribute, its number and its value, a
 * string or a number. Those that hold others are left out.
 *
 * usage: nlmodule [ROLE-NUMBER]
 */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../include/uapi/linux/rpcrdma2_netlink.h"

static char buf[32768];

static int print_attr(const struct nlattr *attr, void *data)
{
	uint16_t type = mnl_attr_get_type(attr);

	(void)data;
	if (type == RPCRDMA2_A_MODULE_ENDED)
		return MNL_CB_OK;
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		printf("%u %u\n", type, mnl_attr_get_u8(attr));
		break;
	case 4:
		printf("%u %u\n", type, mnl_attr_get_u32(attr));
		break;
	default:
		printf("%u %s\n", type, mnl_attr_get_str(attr));
	}
	return MNL_CB_OK;
}

static int print_module(const struct nlmsghdr *nlh, void *data)
{
	return mnl_attr_parse(nlh, sizeof(struct genlmsghdr), print_attr, data);
}

static int find_family(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int read_family(const struct nlmsghdr *nlh, void *data)
{
	return mnl_attr_parse(nlh, sizeof(struct genlmsghdr), find_family, data);
}

static struct nlmsghdr *request(uint16_t family, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	return nlh;
}

static int ask(struct mnl_socket *nl, const struct nlmsghdr *nlh, mnl_cb_t cb,
	       void *data)
{
	ssize_t n;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		return -1;
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	return n < 0 ? -1 : mnl_cb_run(buf, n, 0, 0, cb, data);
}

int main(int argc, char **argv)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_GENERIC);
	uint16_t family = 0;
	struct nlmsghdr *nlh;

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return 1;
	nlh = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, RPCRDMA2_FAMILY_NAME);
	if (ask(nl, nlh, read_family, &family) < 0 || !family)
		return 1;
	nlh = request(family, RPCRDMA2_CMD_MODULE_GET);
	if (argc > 1)
		mnl_attr_put_u32(nlh, RPCRDMA2_A_MODULE_ROLE, atoi(argv[1]));
	return ask(nl, nlh, print_module, NULL) < 0;
}
