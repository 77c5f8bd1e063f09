// SPDX-License-Identifier: GPL-2.0
/*
 * Tells nfsd at which addresses to listen, as nfsdctl of newer nfs-utils does;
 * /proc/fs/nfsd/portlist makes listeners of all addresses only. For kernels from
 * 6.10 on, while nfsd has no threads.
 *
 * usage: nfsdlisten TRANSPORT ADDRESS PORT [TRANSPORT ADDRESS PORT]...
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <netinet/in.h>
#include <stdlib.h>

/* From linux/nfsd_netlink.h, which this C library does not have yet */
#define LISTENER_SET		6	/* NFSD_CMD_LISTENER_SET */
#define SERVER_SOCK_ADDR	1	/* NFSD_A_SERVER_SOCK_ADDR */
#define SOCK_ADDR		1	/* NFSD_A_SOCK_ADDR */
#define SOCK_TRANSPORT_NAME	2	/* NFSD_A_SOCK_TRANSPORT_NAME */

static char buf[8192];

static struct nlmsghdr *command(uint16_t family, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	return nlh;
}

/* Until the acknowledgment; -1 and errno if that is an error. */
static int ask(struct mnl_socket *nl, const struct nlmsghdr *nlh, mnl_cb_t cb,
	       void *data)
{
	int n, ret = 1;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(1, "netlink");
	while (ret > 0) {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n < 0)
			err(1, "netlink");
		ret = mnl_cb_run(buf, n, 0, mnl_socket_get_portid(nl), cb,
				 data);
	}
	return ret;
}

static int take_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)data = mnl_attr_get_u16(a);
	return MNL_CB_OK;
}

static void put_listener(struct nlmsghdr *nlh, char **argv)
{
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(atoi(argv[2])),
	};
	struct nlattr *nest;

	if (inet_pton(AF_INET, argv[1], &sin.sin_addr) != 1)
		errx(2, "%s: not an address", argv[1]);
	nest = mnl_attr_nest_start(nlh, SERVER_SOCK_ADDR);
	mnl_attr_put(nlh, SOCK_ADDR, sizeof(sin), &sin);
	mnl_attr_put_strz(nlh, SOCK_TRANSPORT_NAME, argv[0]);
	mnl_attr_nest_end(nlh, nest);
}

int main(int argc, char **argv)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_GENERIC);
	struct nlmsghdr *nlh;
	uint16_t family = 0;

	if (argc < 4 || argc % 3 != 1)
		errx(2, "usage: nfsdlisten TRANSPORT ADDRESS PORT...");
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err(1, "netlink");
	nlh = command(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, "nfsd");
	if (ask(nl, nlh, take_family, &family) < 0)
		err(1, "nfsd has no netlink family");
	nlh = command(family, LISTENER_SET);
	for (argv++; *argv; argv += 3)
		put_listener(nlh, argv);
	if (ask(nl, nlh, NULL, NULL) < 0)
		err(1, "nfsd");
	mnl_socket_close(nl);
	return 0;
}
