// SPDX-License-Identifier: GPL-2.0
/*
 * policyfuzz SEED N: sends N random requests about the policy table to the netlink
 * family rpcrdma2, and says of each beforehand whether it is to be refused: it knows
 * the specification, not the module. The table is compared with what it should be by
 * then. Then N more that are damaged at random, of all commands; whatever they have
 * made of the table must be entries that are allowed. The table is empty before and
 * afterwards. The same SEED sends the same.
 *
 * Exit status: 0; 1: the module's opinion is another; 2: something else is wrong.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../../include/uapi/linux/rpcrdma2_netlink.h"

#define MAX_ATTRS	10
#define MAX_ENTRIES	32768
#define VALUES		(RPCRDMA2_A_POLICY_RECV_MAX - RPCRDMA2_A_POLICY_VERSIONS + 1)

struct attr {
	uint16_t		type;	/* with flags */
	uint16_t		len;
	unsigned char		data[32];
};

struct request {
	int			cmd;
	int			n;
	struct attr		attr[MAX_ATTRS];
	int			trailing;	/* bytes that are no attribute */
};

struct entry {
	uint32_t		role;
	unsigned char		addr[16];
	int			bits;		/* of an address; 0: all peers */
	int			plen;
	int			port;
	uint32_t		said;
	uint32_t		val[VALUES];
};

static struct entry table[MAX_ENTRIES];
static int entries;

static uint64_t state;
static int sock;
static int family;
static union {
	struct nlmsghdr		h;
	unsigned char		bytes[65536];
} out, in;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % below;
}

/* ---- messages ---- */

static void *put(int type, const void *data, int len)
{
	struct nlattr *a = (void *)(out.bytes + out.h.nlmsg_len);

	memset(a, 0, NLA_ALIGN(NLA_HDRLEN + len));
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy(a + 1, data, len);
	out.h.nlmsg_len += NLA_ALIGN(a->nla_len);
	return a;
}

static void begin(int type, int cmd, int flags)
{
	struct genlmsghdr *g = NLMSG_DATA(&out.h);

	memset(&out, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	out.h.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	out.h.nlmsg_type = type;
	out.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	g->cmd = cmd;
	g->version = 1;
}

/* Returns what the kernel answers, an errno or 0; each message that is no end goes
 * to @each.
 */
static int ask(void (*each)(const struct nlmsghdr *h))
{
	static uint32_t seq;
	struct nlmsghdr *h;
	int len, error;

	out.h.nlmsg_seq = ++seq;
	if (send(sock, &out, out.h.nlmsg_len, 0) < 0)
		die("send");
	for (;;) {
		len = recv(sock, &in, sizeof(in), 0);
		if (len < 0)
			die("recv");
		for (h = &in.h; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_seq != seq)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR ||
			    h->nlmsg_type == NLMSG_DONE) {
				memcpy(&error, NLMSG_DATA(h), sizeof(error));
				return -error;
			}
			if (each)
				each(h);
		}
	}
}

static void each_attr(const struct nlmsghdr *h,
		      void (*fn)(int type, const void *data, int len))
{
	const unsigned char *p = (const unsigned char *)h + NLMSG_HDRLEN +
				 GENL_HDRLEN;
	const unsigned char *end = (const unsigned char *)h + h->nlmsg_len;
	const struct nlattr *a;

	for (; p < end; p += NLA_ALIGN(a->nla_len)) {
		a = (const void *)p;
		fn(a->nla_type & NLA_TYPE_MASK, a + 1, a->nla_len - NLA_HDRLEN);
	}
}

static void family_attr(int type, const void *data, int len)
{
	(void)len;
	if (type == CTRL_ATTR_FAMILY_ID)
		family = *(const uint16_t *)data;
}

static void family_answer(const struct nlmsghdr *h)
{
	each_attr(h, family_attr);
}

static void open_family(void)
{
	struct timeval patience = { .tv_sec = 30 };
	int one = 1;

	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (sock < 0 ||
	    setsockopt(sock, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)) ||
	    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die("socket");
	begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put(CTRL_ATTR_FAMILY_NAME, RPCRDMA2_FAMILY_NAME,
	    sizeof(RPCRDMA2_FAMILY_NAME));
	errno = ask(family_answer);
	if (errno || !family)
		die("no family");
}

/* ---- what the specification says ---- */

static const struct rule {
	int		len;
	uint32_t	min, max;	/* server or any role */
	uint32_t	cmin, cmax;	/* client */
} rules[RPCRDMA2_A_POLICY_MAX + 1] = {
	[RPCRDMA2_A_POLICY_ROLE] = { 4, 0, 1, 0, 1 },
	[RPCRDMA2_A_POLICY_ADDR4] = { 4, 0, UINT32_MAX, 0, UINT32_MAX },
	[RPCRDMA2_A_POLICY_ADDR6] = { 16, 0, UINT32_MAX, 0, UINT32_MAX },
	[RPCRDMA2_A_POLICY_PREFIX_LENGTH] = { 1, 0, 128, 0, 128 },
	[RPCRDMA2_A_POLICY_PORT] = { 2, 0, 65535, 0, 65535 },
	[RPCRDMA2_A_POLICY_VERSIONS] = { 4, 0, 2, 0, 2 },
	[RPCRDMA2_A_POLICY_RECV_SIZE] = { 4, 4096, 262144, 4096, 65536 },
	[RPCRDMA2_A_POLICY_SEND_SIZE] = { 4, 1, 0, 4096, 65536 },
	[RPCRDMA2_A_POLICY_CREDITS] = { 4, 1, 1024, 4, 4096 },
	[RPCRDMA2_A_POLICY_REMOTE_INVALIDATION] = { 4, 0, 1, 0, 1 },
	[RPCRDMA2_A_POLICY_PROPERTY_CHANGE] = { 4, 0, 1, 0, 1 },
	[RPCRDMA2_A_POLICY_RECV_MAX] = { 4, 4096, 262144, 4096, 262144 },
	[RPCRDMA2_A_POLICY_CHECK] = { 0, 0, 0, 0, 0 },
};

static bool known(int cmd, int type)
{
	if (type < 1 || type > RPCRDMA2_A_POLICY_MAX)
		return false;
	if (cmd == RPCRDMA2_CMD_POLICY_SET)
		return true;
	return type <= RPCRDMA2_A_POLICY_PORT &&
	       (cmd == RPCRDMA2_CMD_POLICY_DEL ||
		type != RPCRDMA2_A_POLICY_PREFIX_LENGTH);
}

static uint32_t number(const struct attr *a)
{
	uint32_t n = 0;

	memcpy(&n, a->data, a->len < sizeof(n) ? a->len : sizeof(n));
	return n;
}

/* The table of attributes allows what any role may have. */
static bool attr_allowed(int cmd, const struct attr *a)
{
	int type = a->type & NLA_TYPE_MASK;
	const struct rule *r = &rules[type];
	uint32_t n = number(a);

	if (!known(cmd, type) || a->type & NLA_F_NESTED || a->len != r->len)
		return false;
	if (type == RPCRDMA2_A_POLICY_ADDR6)
		return true;
	return (n >= r->min && n <= r->max) || (n >= r->cmin && n <= r->cmax);
}

/* The last attribute of a type counts. */
static const struct attr *find(const struct request *r, int type)
{
	int i;

	for (i = r->n - 1; i >= 0; i--)
		if ((r->attr[i].type & NLA_TYPE_MASK) == type)
			return &r->attr[i];
	return NULL;
}

static bool get_key(const struct request *r, struct entry *e)
{
	const struct attr *a4 = find(r, RPCRDMA2_A_POLICY_ADDR4);
	const struct attr *a6 = find(r, RPCRDMA2_A_POLICY_ADDR6);
	const struct attr *plen = find(r, RPCRDMA2_A_POLICY_PREFIX_LENGTH);
	const struct attr *role = find(r, RPCRDMA2_A_POLICY_ROLE);
	const struct attr *port = find(r, RPCRDMA2_A_POLICY_PORT);
	int i;

	memset(e, 0, sizeof(*e));
	if (!role || (a4 && a6))
		return false;
	e->role = number(role);
	e->bits = a4 ? 32 : a6 ? 128 : 0;
	if (e->bits)
		memcpy(e->addr, (a4 ?: a6)->data, e->bits / 8);
	e->plen = plen ? (int)number(plen) : e->bits;
	e->port = port ? number(port) : 0;
	if (e->plen > e->bits)
		return false;
	for (i = e->plen; i < e->bits; i++)
		if (e->addr[i / 8] & 0x80 >> i % 8)
			return false;
	return true;
}

static bool get_values(const struct request *r, struct entry *e)
{
	bool client = e->role == RPCRDMA2_ROLE_CLIENT;
	const struct rule *rule;
	const struct attr *a;
	int i;

	for (i = 0; i < VALUES; i++) {
		rule = &rules[RPCRDMA2_A_POLICY_VERSIONS + i];
		a = find(r, RPCRDMA2_A_POLICY_VERSIONS + i);
		if (!a)
			continue;
		e->val[i] = number(a);
		e->said |= 1 << i;
		if (e->val[i] < (client ? rule->cmin : rule->min) ||
		    e->val[i] > (client ? rule->cmax : rule->max))
			return false;
	}
	return e->said;
}

static bool same_key(const struct entry *a, const struct entry *b)
{
	return a->role == b->role && a->bits == b->bits && a->plen == b->plen &&
	       a->port == b->port && !memcmp(a->addr, b->addr, sizeof(a->addr));
}

static int table_find(const struct entry *e)
{
	int i;

	for (i = 0; i < entries; i++)
		if (same_key(&table[i], e))
			return i;
	return -1;
}

/* Returns whether it is to be done, and does so to our table. */
static bool expected(const struct request *r)
{
	struct entry e;
	int i;

	for (i = 0; i < r->n; i++)
		if (!attr_allowed(r->cmd, &r->attr[i]))
			return false;
	if (r->trailing || !get_key(r, &e))
		return false;
	i = table_find(&e);
	switch (r->cmd) {
	case RPCRDMA2_CMD_POLICY_DEL:
		if (i >= 0)
			table[i] = table[--entries];
		return i >= 0;
	case RPCRDMA2_CMD_POLICY_SET:
		if (!get_values(r, &e))
			return false;
		if (find(r, RPCRDMA2_A_POLICY_CHECK))
			return true;
		if (i < 0)
			i = entries++;
		if (entries > MAX_ENTRIES - 1)
			exit(2);
		table[i] = e;
		return true;
	default:
		return true;
	}
}

/* ---- requests ---- */

/* Few addresses and ports, so that entries are met again. */
static void random_data(struct attr *a, int type)
{
	static const uint32_t numbers[] = {
		0, 1, 2, 3, 4, 1024, 1025, 4095, 4096, 4097, 65536, 65537,
		262144, 262145, INT32_MAX, UINT32_MAX,
	};
	uint32_t n = numbers[rnd(sizeof(numbers) / sizeof(*numbers))];

	memset(a->data, 0, sizeof(a->data));
	switch (type) {
	case RPCRDMA2_A_POLICY_ROLE:
	case RPCRDMA2_A_POLICY_VERSIONS:
	case RPCRDMA2_A_POLICY_REMOTE_INVALIDATION:
	case RPCRDMA2_A_POLICY_PROPERTY_CHANGE:
		n = rnd(8) ? rnd(2) : n;
		break;
	case RPCRDMA2_A_POLICY_ADDR4:
	case RPCRDMA2_A_POLICY_ADDR6:
		a->data[0] = 10 + rnd(2);
		a->data[rnd(16)] |= rnd(3) ? 0 : 1 << rnd(8);
		return;
	case RPCRDMA2_A_POLICY_PREFIX_LENGTH:
		n = rnd(8) ? 8 * rnd(6) : rnd(256);
		break;
	case RPCRDMA2_A_POLICY_PORT:
		n = rnd(3) ? 20049 : n;
		break;
	}
	memcpy(a->data, &n, sizeof(n));
}

static void random_attr(struct attr *a, int type)
{
	a->type = type;
	if (type <= RPCRDMA2_A_POLICY_MAX)
		a->len = rules[type].len;
	else
		a->len = rnd(9);
	random_data(a, type);
	if (!rnd(60))
		a->len = rnd(sizeof(a->data));
	if (!rnd(60))
		a->type |= NLA_F_NESTED;
	if (!rnd(60))
		a->type |= NLA_F_NET_BYTEORDER;
}

/* Most have a role and an address, and a value if it is about one. */
static void random_request(struct request *r)
{
	static const int cmds[] = {
		RPCRDMA2_CMD_POLICY_SET, RPCRDMA2_CMD_POLICY_SET,
		RPCRDMA2_CMD_POLICY_DEL, RPCRDMA2_CMD_POLICY_GET,
	};
	int more = rnd(3);

	memset(r, 0, sizeof(*r));
	r->cmd = cmds[rnd(4)];
	r->trailing = rnd(60) ? 0 : 1 + rnd(3);
	if (rnd(30))
		random_attr(&r->attr[r->n++], RPCRDMA2_A_POLICY_ROLE);
	if (rnd(6))
		random_attr(&r->attr[r->n++], RPCRDMA2_A_POLICY_ADDR4 + rnd(2));
	if (r->cmd != RPCRDMA2_CMD_POLICY_GET && rnd(2))
		random_attr(&r->attr[r->n++], RPCRDMA2_A_POLICY_PREFIX_LENGTH);
	if (r->cmd == RPCRDMA2_CMD_POLICY_SET)
		random_attr(&r->attr[r->n++],
			    RPCRDMA2_A_POLICY_VERSIONS + rnd(VALUES));
	while (more-- > 0 && !rnd(2))
		random_attr(&r->attr[r->n++],
			    rnd(40) ? 1 + rnd(RPCRDMA2_A_POLICY_MAX) : rnd(40));
}

static void build(const struct request *r)
{
	int i;

	begin(family, r->cmd, 0);
	for (i = 0; i < r->n; i++)
		put(r->attr[i].type, r->attr[i].data, r->attr[i].len);
	memset(out.bytes + out.h.nlmsg_len, 0, 4);
	out.h.nlmsg_len += r->trailing;
}

static void show(const char *what, int error)
{
	uint32_t i;

	fprintf(stderr, "%s (%s):", what, strerror(error));
	for (i = NLMSG_HDRLEN; i < out.h.nlmsg_len; i++)
		fprintf(stderr, " %02x", out.bytes[i]);
	fputc('\n', stderr);
}

/* ---- the table ---- */

static struct request told;

static void told_attr(int type, const void *data, int len)
{
	struct attr *a = &told.attr[told.n];

	if (told.n == MAX_ATTRS || len > (int)sizeof(a->data)) {
		fprintf(stderr, "attribute %d of %d bytes in a dump\n", type, len);
		exit(1);
	}
	told.n++;
	a->type = type;
	a->len = len;
	memcpy(a->data, data, len);
}

static struct entry dumped[MAX_ENTRIES];
static int n_dumped;

/* What is told of an entry must be what is allowed to be said. */
static void dump_entry(const struct nlmsghdr *h)
{
	struct entry *e = &dumped[n_dumped++];
	int i;

	memset(&told, 0, sizeof(told));
	each_attr(h, told_attr);
	for (i = 0; i < told.n; i++)
		if (!attr_allowed(RPCRDMA2_CMD_POLICY_SET, &told.attr[i]))
			n_dumped = MAX_ENTRIES;
	if (n_dumped >= MAX_ENTRIES || !get_key(&told, e) ||
	    !get_values(&told, e)) {
		fprintf(stderr, "an entry that is not allowed is in the table\n");
		exit(1);
	}
}

static void dump(void)
{
	n_dumped = 0;
	begin(family, RPCRDMA2_CMD_POLICY_GET, NLM_F_DUMP);
	errno = ask(dump_entry);
	if (errno)
		die("dump");
}

static int compare(void)
{
	int i, at, wrong = n_dumped != entries;

	for (i = 0; i < n_dumped; i++) {
		at = table_find(&dumped[i]);
		wrong += at < 0 || memcmp(&table[at], &dumped[i],
					  sizeof(struct entry));
	}
	if (wrong)
		fprintf(stderr, "the table has %d entries, and should have %d\n",
			n_dumped, entries);
	return wrong;
}

static void empty(void)
{
	unsigned char plen;
	uint16_t port;
	int i;

	dump();
	for (i = 0; i < n_dumped; i++) {
		const struct entry *e = &dumped[i];

		plen = e->plen;
		port = e->port;
		begin(family, RPCRDMA2_CMD_POLICY_DEL, 0);
		put(RPCRDMA2_A_POLICY_ROLE, &e->role, 4);
		if (e->bits)
			put(e->bits == 32 ? RPCRDMA2_A_POLICY_ADDR4 :
					    RPCRDMA2_A_POLICY_ADDR6,
			    e->addr, e->bits / 8);
		put(RPCRDMA2_A_POLICY_PREFIX_LENGTH, &plen, 1);
		put(RPCRDMA2_A_POLICY_PORT, &port, 2);
		errno = ask(NULL);
		if (errno)
			die("deleting an entry");
	}
	entries = 0;
}

/* ---- what is sent ---- */

static int known_requests(int n)
{
	struct request r;
	int refused = 0, error;
	bool want;

	while (n-- > 0) {
		random_request(&r);
		want = expected(&r);
		build(&r);
		error = ask(NULL);
		refused += !!error;
		if (want == !error)
			continue;
		show(error ? "refused" : "not refused", error);
		exit(1);
	}
	return refused;
}

/* The length is true, or the kernel would not answer. Never another family. */
static void damage(void)
{
	struct genlmsghdr *g = NLMSG_DATA(&out.h);
	uint32_t len = out.h.nlmsg_len, i;

	if (!rnd(3))
		g->cmd = rnd(RPCRDMA2_CMD_MAX + 3);
	if (!rnd(6))
		out.h.nlmsg_flags |= NLM_F_DUMP;
	for (i = rnd(4); i > 0 && len > NLMSG_HDRLEN + GENL_HDRLEN; i--)
		out.bytes[NLMSG_HDRLEN + GENL_HDRLEN +
			  rnd(len - NLMSG_HDRLEN - GENL_HDRLEN)] =
			rnd(2) ? rnd(256) : 1u << rnd(8);
	if (!rnd(8))
		out.h.nlmsg_len = NLMSG_HDRLEN + rnd(len - NLMSG_HDRLEN);
}

static int damaged_requests(int n)
{
	struct request r;
	int refused = 0;

	while (n-- > 0) {
		random_request(&r);
		build(&r);
		damage();
		refused += !!ask(NULL);
	}
	return refused;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0, refused, damaged;

	if (n <= 0) {
		fprintf(stderr, "usage: policyfuzz SEED N\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 0) * 2654435769u + 1;
	open_family();
	dump();
	if (n_dumped) {
		fprintf(stderr, "the table is not empty\n");
		return 2;
	}
	refused = known_requests(n);
	dump();
	if (compare())
		return 1;
	printf("done %d refused %d entries %d\n", n - refused, refused, entries);
	damaged = damaged_requests(n);
	empty();
	dump();
	printf("damaged: done %d refused %d left %d\n", n - damaged, damaged,
	       n_dumped);
	return !!n_dumped;
}
