// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded, answers the command rpcrdma2 in the place of the kernel: the module is
 * there, and every dump ends with an error.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <string.h>

#define FAMILY	32

static struct nlmsghdr request;

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *buf,
			  size_t len)
{
	(void)nl;
	request = *(const struct nlmsghdr *)buf;
	return len;
}

static void put_family(struct nlmsghdr *nlh)
{
	nlh->nlmsg_type = GENL_ID_CTRL;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY);
}

/* As the kernel ends what was asked for: with a number behind the header */
static void put_end(struct nlmsghdr *nlh, int type, int error)
{
	nlh->nlmsg_type = type;
	*(int *)mnl_nlmsg_put_extra_header(nlh, sizeof(error)) = error;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t len)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nlmsghdr *ack;

	(void)len;
	nlh->nlmsg_seq = request.nlmsg_seq;
	nlh->nlmsg_pid = mnl_socket_get_portid(nl);
	if (request.nlmsg_type != GENL_ID_CTRL) {
		nlh->nlmsg_flags = NLM_F_MULTI;
		put_end(nlh, NLMSG_DONE, -EMSGSIZE);
		return nlh->nlmsg_len;
	}
	put_family(nlh);
	ack = mnl_nlmsg_put_header((char *)buf + nlh->nlmsg_len);
	ack->nlmsg_seq = request.nlmsg_seq;
	ack->nlmsg_pid = nlh->nlmsg_pid;
	put_end(ack, NLMSG_ERROR, 0);
	mnl_nlmsg_put_extra_header(ack, sizeof(struct nlmsghdr));
	return nlh->nlmsg_len + ack->nlmsg_len;
}
