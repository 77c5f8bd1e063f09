// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: RDMA-CM, one QP each, messages in and out, memory for the
 * peer, RDMA as responder. Everything that can be waited for is in one
 * poll(), see rp_wait().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rp.h"

#define MAX_CONNS	16
#define MAX_WATCH	4
#define MAX_MEMS	64
#define PRIVATE_MAX	256

/* wr_id: what was posted, and its index */
enum { WR_RECV, WR_SEND, WR_RDMA, WR_BIND };

#define WR_ID(kind, index)	((uint64_t)(kind) << 32 | (index))

/**
 * struct rp_conn - one connection
 * @number: counted from 1
 * @id: its CM id
 * @pd: protection domain
 * @chan: completion channel
 * @cq: completion queue of both directions
 * @connected: the CM says that it is up
 * @closed: the CM says that it is over
 * @rejected: the CM says that the peer has refused it
 * @broken: work completes with errors only
 * @resolved: a step of the address resolution is done
 * @rx: receive buffers
 * @rx_mr: registration of @rx
 * @nrecvs: number of receive buffers in use
 * @no_more: none is posted again
 * @recv_size: bytes of each that are used
 * @fifo: received messages that no one has looked at
 * @head: first used entry of @fifo
 * @tail: first unused entry of @fifo
 * @unread: a message put back
 * @tx: send buffers
 * @tx_mr: registration of @tx
 * @tx_busy: which are on their way
 * @collects: messages are kept until rp_send_collected()
 * @ncollected: how many are
 * @rdma_left: RDMA or bind work not completed
 * @mem: memory for the peer
 * @nmems: used entries of @mem
 * @private_data: from the other side
 * @private_len: its length
 */
struct rp_conn {
	unsigned int		number;
	struct rdma_cm_id	*id;
	struct ibv_pd		*pd;
	struct ibv_comp_channel	*chan;
	struct ibv_cq		*cq;
	bool			connected;
	bool			closed;
	bool			rejected;
	bool			broken;
	bool			resolved;
	uint8_t			(*rx)[RP_RECV_SIZE];
	struct ibv_mr		*rx_mr;
	unsigned int		nrecvs;
	bool			no_more;
	unsigned int		recv_size;
	struct rp_rx		*fifo[RP_NR_RECVS * 16];
	unsigned int		head;
	unsigned int		tail;
	struct rp_rx		*unread;
	uint8_t			(*tx)[RP_RECV_SIZE];
	struct ibv_mr		*tx_mr;
	bool			tx_busy[RP_NR_SENDS];
	bool			collects;
	unsigned int		ncollected;
	unsigned int		rdma_left;
	struct rp_mem		*mem[MAX_MEMS];
	unsigned int		nmems;
	uint8_t			private_data[PRIVATE_MAX];
	unsigned int		private_len;
};

/**
 * struct rp_listener - a port that clients connect to
 * @id: its CM id
 * @waiting: connect requests not answered yet
 * @private_data: of each of them
 * @private_len: its length
 * @n: number of them
 */
struct rp_listener {
	struct rdma_cm_id	*id;
	struct rdma_cm_id	*waiting[8];
	uint8_t			private_data[8][PRIVATE_MAX];
	unsigned int		private_len[8];
	unsigned int		n;
};

static struct rdma_event_channel *events;
static struct rp_conn *conns[MAX_CONNS];
static struct {
	int	fd;
	void	(*ready)(void);
} watched[MAX_WATCH];
static unsigned int nr_watched;

/* ---- everything that happens ---- */

static void event_channel(void)
{
#ifdef RDMA_STATIC_PROVIDERS
	struct ibv_device **list;
#endif

	if (events)
		return;
#ifdef RDMA_STATIC_PROVIDERS
	/* With this, they are part of the program. */
	list = ibv_get_device_list(NULL);
	if (list)
		ibv_free_device_list(list);
#endif
	events = rdma_create_event_channel();
	rp_check(events, "no RDMA event channel: %s", strerror(errno));
	fcntl(events->fd, F_SETFL, O_NONBLOCK);
}

static struct rp_conn *conn_of(struct rdma_cm_id *id)
{
	unsigned int i;

	for (i = 0; i < MAX_CONNS; i++)
		if (conns[i] && conns[i]->id == id)
			return conns[i];
	return NULL;
}

static void post_recv(struct rp_conn *c, unsigned int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)c->rx[i], .length = c->recv_size,
		.lkey = c->rx_mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = WR_ID(WR_RECV, i), .sg_list = &sge, .num_sge = 1,
	};

	if (ibv_post_recv(c->id->qp, &wr, &bad))
		c->broken = true;
}

static void received(struct rp_conn *c, unsigned int i,
		     const struct ibv_wc *wc)
{
	unsigned int max = sizeof(c->fifo) / sizeof(c->fifo[0]);
	struct rp_rx *rx = malloc(sizeof(*rx));

	rp_check(rx, "no memory");
	rx->len = wc->byte_len;
	/* rxe reports it with the kernel's flag, which is another one here;
	 * siw does not report it to user space at all.
	 */
	if (wc->wc_flags & (IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK))
		rx->inv = wc->invalidated_rkey;
	else
		rx->inv = 0;
	memcpy(rx->buf, c->rx[i], rx->len);
	rp_tell("<- %u bytes: %08x %08x %08x %08x %08x%s", rx->len,
		rp_word(rx->buf, 0), rp_word(rx->buf, 1), rp_word(rx->buf, 2),
		rp_word(rx->buf, 3), rp_word(rx->buf, 4),
		rx->inv ? " (invalidates)" : "");
	rp_record(RP_GOT, c->number, rx->buf, rx->len);
	rp_check((c->tail + 1) % max != c->head, "a flood of messages");
	c->fifo[c->tail] = rx;
	c->tail = (c->tail + 1) % max;
	if (!c->no_more)
		post_recv(c, i);
}

static void completion(struct rp_conn *c, const struct ibv_wc *wc)
{
	unsigned int i = (uint32_t)wc->wr_id;

	if (wc->status != IBV_WC_SUCCESS) {
		if (!c->broken)
			rp_tell("work ended with: %s",
				ibv_wc_status_str(wc->status));
		c->broken = true;
	}
	switch (wc->wr_id >> 32) {
	case WR_RECV:
		if (wc->status == IBV_WC_SUCCESS)
			received(c, i, wc);
		break;
	case WR_SEND:
		c->tx_busy[i] = false;
		break;
	case WR_RDMA:
	case WR_BIND:
		c->rdma_left--;
		break;
	}
}

static void poll_cq(struct rp_conn *c)
{
	struct ibv_wc wc;

	if (!c->cq)
		return;
	while (ibv_poll_cq(c->cq, 1, &wc) > 0)
		completion(c, &wc);
}

static void cq_event(struct rp_conn *c)
{
	struct ibv_cq *cq;
	void *context;

	while (!ibv_get_cq_event(c->chan, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(c->cq, 0);
	poll_cq(c);
}

static void connect_request(struct rdma_cm_event *e)
{
	struct rp_listener *l = e->listen_id->context;

	rp_check(l->n < 8, "too many connect requests");
	l->waiting[l->n] = e->id;
	l->private_len[l->n] = e->param.conn.private_data_len;
	if (e->param.conn.private_data)
		memcpy(l->private_data[l->n], e->param.conn.private_data,
		       e->param.conn.private_data_len);
	l->n++;
	rp_tell("connect request");
}

static void cm_event(struct rdma_cm_event *e)
{
	struct rp_conn *c;

	if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		connect_request(e);
		return;
	}
	c = conn_of(e->id);
	if (!c)
		return;
	rp_tell("%s", rdma_event_str(e->event));
	c->rejected = e->event == RDMA_CM_EVENT_REJECTED;
	switch (e->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		c->resolved = true;
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
		c->connected = true;
		if (!e->param.conn.private_data || c->private_len)
			break;
		c->private_len = e->param.conn.private_data_len;
		memcpy(c->private_data, e->param.conn.private_data,
		       c->private_len);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		c->closed = true;
		rdma_disconnect(c->id);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		c->closed = true;
		break;
	default:
		break;
	}
}

static void cm_events(void)
{
	struct rdma_cm_event *e;

	while (!rdma_get_cm_event(events, &e)) {
		struct rdma_cm_event copy = *e;
		uint8_t data[PRIVATE_MAX];

		/* Destroying an id waits for its events to be acked. */
		if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
		    e->event == RDMA_CM_EVENT_ESTABLISHED) {
			if (copy.param.conn.private_data) {
				memcpy(data, copy.param.conn.private_data,
				       copy.param.conn.private_data_len);
				copy.param.conn.private_data = data;
			}
		}
		rdma_ack_cm_event(e);
		cm_event(&copy);
	}
}

void rp_watch(int fd, void (*ready)(void))
{
	rp_check(nr_watched < MAX_WATCH, "too many descriptors to watch");
	watched[nr_watched].fd = fd;
	watched[nr_watched++].ready = ready;
}

/* One turn: wait for at most @ms and handle what there is. */
static void turn(int ms)
{
	struct pollfd fd[1 + MAX_CONNS + MAX_WATCH];
	struct rp_conn *c[MAX_CONNS];
	unsigned int n = 0, i, nc = 0;

	event_channel();
	fd[n++] = (struct pollfd){ events->fd, POLLIN, 0 };
	for (i = 0; i < MAX_CONNS; i++) {
		if (!conns[i] || !conns[i]->chan)
			continue;
		c[nc++] = conns[i];
		fd[n++] = (struct pollfd){ conns[i]->chan->fd, POLLIN, 0 };
	}
	for (i = 0; i < nr_watched; i++)
		fd[n++] = (struct pollfd){ watched[i].fd, POLLIN, 0 };
	if (poll(fd, n, ms) <= 0)
		return;
	for (i = 0; i < nc; i++)
		if (fd[1 + i].revents)
			cq_event(c[i]);
	if (fd[0].revents)
		cm_events();
	for (i = 0; i < nr_watched; i++)
		if (fd[1 + nc + i].revents)
			watched[i].ready();
}

bool rp_wait(bool (*done)(void *arg), void *arg, unsigned int ms)
{
	uint64_t now, end = rp_now() + (uint64_t)ms * rp_opt.scale;

	for (;;) {
		turn(0);
		if (done(arg))
			return true;
		now = rp_now();
		if (now >= end)
			return false;
		turn(end - now);
	}
}

/* ---- up and down ---- */

static struct rp_conn *conn_new(void)
{
	static unsigned int last;
	unsigned int i;

	event_channel();
	for (i = 0; i < MAX_CONNS; i++) {
		if (conns[i])
			continue;
		conns[i] = calloc(1, sizeof(struct rp_conn));
		rp_check(conns[i], "no memory");
		/* Those of rp_aside() are nobody's business. */
		conns[i]->number = rp_side() ? 0 : ++last;
		return conns[i];
	}
	rp_fail("too many connections");
}

static void *pages(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	rp_check(p != MAP_FAILED, "no memory");
	return p;
}

/* QP and Receives of a connection whose device is known. False if the CM makes no QP, as for
 * a request of somebody who has left.
 */
static bool make_qp(struct rp_conn *c, const struct rp_how *how)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = RP_NR_SENDS * 2,
			.max_recv_wr = RP_NR_RECVS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	unsigned int i;

	if (!rp_opt.dev)
		rp_opt.dev = c->id->verbs->device->transport_type ==
			     IBV_TRANSPORT_IWARP ? "siw" : "rxe";
	c->nrecvs = how && how->recvs ? how->recvs : RP_NR_RECVS;
	c->no_more = how && how->no_more;
	c->recv_size = how && how->recv_size ? how->recv_size : RP_RECV_SIZE;
	c->pd = ibv_alloc_pd(c->id->verbs);
	rp_check(c->pd, "no protection domain");
	c->chan = ibv_create_comp_channel(c->id->verbs);
	rp_check(c->chan, "no completion channel");
	fcntl(c->chan->fd, F_SETFL, O_NONBLOCK);
	c->cq = ibv_create_cq(c->id->verbs, RP_NR_RECVS + RP_NR_SENDS * 2 + 8,
			      NULL, c->chan, 0);
	rp_check(c->cq, "no completion queue: %s", strerror(errno));
	ibv_req_notify_cq(c->cq, 0);
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	if (rdma_create_qp(c->id, c->pd, &attr))
		return false;

	c->rx = pages((size_t)RP_RECV_SIZE * RP_NR_RECVS);
	c->tx = pages((size_t)RP_RECV_SIZE * RP_NR_SENDS);
	c->rx_mr = ibv_reg_mr(c->pd, c->rx, (size_t)RP_RECV_SIZE * RP_NR_RECVS,
			      IBV_ACCESS_LOCAL_WRITE);
	/* iWARP wants the sink of an RDMA Read to be remotely writable. */
	c->tx_mr = ibv_reg_mr(c->pd, c->tx, (size_t)RP_RECV_SIZE * RP_NR_SENDS,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ);
	rp_check(c->rx_mr && c->tx_mr, "cannot register: %s",
		 strerror(errno));
	for (i = 0; i < c->nrecvs; i++)
		post_recv(c, i);
	return true;
}

void (*rp_on_connect)(struct rdma_conn_param *param);

static struct rdma_conn_param conn_param(const struct rp_how *how)
{
	struct rdma_conn_param p = {
		.responder_resources = 8,
		.initiator_depth = 8,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (how) {
		if (how->no_rnr)
			p.rnr_retry_count = 0;
		p.private_data = how->private_data;
		p.private_data_len = how->private_len;
	}
	if (rp_on_connect)
		rp_on_connect(&p);
	return p;
}

static bool is_resolved(void *arg)
{
	struct rp_conn *c = arg;

	return c->resolved || c->closed;
}

static bool is_connected(void *arg)
{
	struct rp_conn *c = arg;

	return c->connected || c->closed;
}

/* No names: a static program has no resolver. */
static void address(struct sockaddr_storage *to, const char *addr,
		    unsigned int port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, addr, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return;
	}
	rp_check(inet_pton(AF_INET6, addr, &v6->sin6_addr) == 1,
		 "%s is no address", addr);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
}

void rp_address(struct sockaddr_storage *to, unsigned int port)
{
	address(to, rp_opt.addr, port);
}

static void resolve(struct rp_conn *c)
{
	struct sockaddr_storage to;

	rp_address(&to, rp_opt.port);
	rp_check(!rdma_resolve_addr(c->id, NULL, (struct sockaddr *)&to, 5000),
		 "no way to %s: %s", rp_opt.addr, strerror(errno));
	rp_check(rp_wait(is_resolved, c, RP_ANSWER) && !c->closed,
		 "%s cannot be resolved", rp_opt.addr);
	c->resolved = false;
	rp_check(!rdma_resolve_route(c->id, 5000), "no route: %s",
		 strerror(errno));
	rp_check(rp_wait(is_resolved, c, RP_ANSWER) && !c->closed,
		 "no route to %s", rp_opt.addr);
}

static void modify_qp(struct rdma_cm_id *id, struct ibv_qp *qp,
		      enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	rp_check(!rdma_init_qp_attr(id, &attr, &mask) &&
		 !ibv_modify_qp(qp, &attr, mask),
		 "cannot change the queue pair: %s", strerror(errno));
}

/* librdmacm sends the CM's last message as soon as it has made the queue pair ready,
 * unless it does not know of one.
 */
static void connect_without_rtu(struct rp_conn *c,
				struct rdma_conn_param *param)
{
	struct ibv_qp *qp = c->id->qp;

	param->qp_num = qp->qp_num;
	c->id->qp = NULL;
	rp_check(!rdma_connect(c->id, param), "rdma_connect: %s",
		 strerror(errno));
	rp_check(rp_wait(is_connected, c, RP_ANSWER) && !c->closed,
		 "no answer from port %u", rp_opt.port);
	modify_qp(c->id, qp, IBV_QPS_RTR);
	modify_qp(c->id, qp, IBV_QPS_RTS);
	c->id->qp = qp;
}

struct rp_conn *rp_connect_how(const struct rp_how *how)
{
	struct rdma_conn_param param = conn_param(how);
	struct rp_conn *c;
	unsigned int i;

	for (i = 0;; i++) {
		c = conn_new();
		rp_check(!rdma_create_id(events, &c->id, c, RDMA_PS_TCP),
			 "no CM id");
		resolve(c);
		rp_check(make_qp(c, how), "no queue pair: %s", strerror(errno));
		if (how && how->no_rtu) {
			connect_without_rtu(c, &param);
			return c;
		}
		if (!rdma_connect(c->id, &param))
			break;
		/* iWARP may be given the TCP port of a connection that has
		 * just ended.
		 */
		rp_check(errno == EADDRINUSE && i < 10, "rdma_connect: %s",
			 strerror(errno));
		rp_close(c);
	}
	rp_check(rp_wait(is_connected, c, RP_ANSWER), "no connection in time");
	rp_check(!c->closed, "port %u refuses the connection", rp_opt.port);
	/* siw on several CPUs does not notice a message that arrives while
	 * it is still accepting, whatever server it accepts for.
	 */
	if (rp_opt.dev[0] == 's')
		rp_sleep(20);
	return c;
}

struct rp_conn *rp_connect(void)
{
	return rp_connect_how(NULL);
}

struct rp_listener *rp_listen_at(const char *addr, unsigned int port)
{
	struct rp_listener *l = calloc(1, sizeof(*l));
	struct sockaddr_storage to;

	rp_check(l, "no memory");
	event_channel();
	address(&to, addr, port);
	rp_check(!rdma_create_id(events, &l->id, l, RDMA_PS_TCP), "no CM id");
	rp_check(!rdma_bind_addr(l->id, (struct sockaddr *)&to),
		 "cannot bind to %s port %u: %s", addr, port,
		 strerror(errno));
	rp_check(!rdma_listen(l->id, 8), "cannot listen: %s", strerror(errno));
	return l;
}

struct rp_listener *rp_listen(unsigned int port)
{
	return rp_listen_at(rp_opt.addr, port);
}

static bool is_wanted(void *arg)
{
	struct rp_listener *l = arg;

	return l->n;
}

bool rp_wants_in(struct rp_listener *l)
{
	return l->n;
}

static struct rdma_cm_id *take_request(struct rp_listener *l)
{
	struct rdma_cm_id *id = l->waiting[0];
	unsigned int i;

	for (i = 1; i < l->n; i++) {
		l->waiting[i - 1] = l->waiting[i];
		memcpy(l->private_data[i - 1], l->private_data[i],
		       PRIVATE_MAX);
		l->private_len[i - 1] = l->private_len[i];
	}
	l->n--;
	return id;
}

/* Accept the next request. NULL and errno, and no connection is left, if that fails. */
static struct rp_conn *accept_next(struct rp_listener *l,
				   const struct rp_how *how)
{
	struct rdma_conn_param param = conn_param(how);
	struct rp_conn *c = conn_new();
	int err;

	c->private_len = l->private_len[0];
	memcpy(c->private_data, l->private_data[0], PRIVATE_MAX);
	c->id = take_request(l);
	if (make_qp(c, how) && !rdma_accept(c->id, &param))
		return c;
	err = errno;
	rp_tell("cannot accept: %s", strerror(err));
	rp_close(c);
	errno = err;
	return NULL;
}

struct rp_conn *rp_accept_within(struct rp_listener *l,
				 const struct rp_how *how, unsigned int ms)
{
	struct rp_conn *c;

	if (!rp_wait(is_wanted, l, ms))
		return NULL;
	c = accept_next(l, how);
	rp_check(c, "cannot accept: %s", strerror(errno));
	rp_check(rp_wait(is_connected, c, RP_ANSWER), "no connection in time");
	return c;
}

struct rp_conn *rp_try_accept(struct rp_listener *l)
{
	struct rp_conn *c = accept_next(l, NULL);

	if (!c)
		return NULL;
	rp_wait(is_connected, c, RP_ANSWER);
	if (c->connected)
		return c;
	rp_close(c);
	return NULL;
}

struct rp_conn *rp_accept(struct rp_listener *l, const struct rp_how *how)
{
	struct rp_conn *c = rp_accept_within(l, how, RP_ANSWER * 4);

	rp_check(c, "the client does not connect");
	return c;
}

void rp_reject(struct rp_listener *l)
{
	struct rdma_cm_id *id;

	rp_check(rp_wait(is_wanted, l, RP_ANSWER * 4),
		 "the client does not connect");
	id = take_request(l);
	rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
}

void rp_unlisten(struct rp_listener *l)
{
	while (l->n)
		rp_reject(l);
	rdma_destroy_id(l->id);
	free(l);
}

static bool is_idle(void *arg)
{
	struct rp_conn *c = arg;
	unsigned int i;

	poll_cq(c);
	for (i = 0; i < RP_NR_SENDS; i++)
		if (c->tx_busy[i])
			return c->broken || c->closed;
	return true;
}

/* What was sent has arrived. Then the same steps backwards; what fails here
 * is gone already.
 */
void rp_close(struct rp_conn *c)
{
	unsigned int i;

	rp_wait(is_idle, c, RP_ANSWER);
	rdma_disconnect(c->id);
	for (i = 0; i < c->nmems; i++) {
		if (c->mem[i]->mw)
			ibv_dealloc_mw(c->mem[i]->mw);
	}
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	for (i = 0; i < c->nmems; i++) {
		ibv_dereg_mr(c->mem[i]->mr);
		munmap(c->mem[i]->buf, c->mem[i]->size);
		free(c->mem[i]);
	}
	if (c->rx_mr) {
		ibv_dereg_mr(c->rx_mr);
		ibv_dereg_mr(c->tx_mr);
		munmap(c->rx, (size_t)RP_RECV_SIZE * RP_NR_RECVS);
		munmap(c->tx, (size_t)RP_RECV_SIZE * RP_NR_SENDS);
	}
	ibv_destroy_cq(c->cq);
	ibv_destroy_comp_channel(c->chan);
	ibv_dealloc_pd(c->pd);
	for (i = 0; i < MAX_CONNS; i++)
		if (conns[i] == c)
			conns[i] = NULL;
	rdma_destroy_id(c->id);
	free(c);
}

void rp_hang_up(struct rp_conn *c, bool dead)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (dead)
		ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE);
	else
		rdma_disconnect(c->id);
}

unsigned int rp_port(struct rp_conn *c)
{
	return ntohs(rdma_get_src_port(c->id));
}

const uint8_t *rp_private(struct rp_conn *c, unsigned int *len)
{
	*len = c->private_len;
	return c->private_data;
}

/* ---- messages ---- */

static int free_send(struct rp_conn *c)
{
	unsigned int i;

	for (i = 0; i < RP_NR_SENDS; i++)
		if (!c->tx_busy[i])
			return i;
	return -1;
}

static bool can_send(void *arg)
{
	struct rp_conn *c = arg;

	return c->broken || c->closed || free_send(c) >= 0;
}

/**
 * struct send - a Send and its work request
 * @wr: the work request
 * @sge: where the message is
 * @slot: which of the connection's buffers
 */
struct send {
	struct ibv_send_wr	wr;
	struct ibv_sge		sge;
	int			slot;
};

static bool prepare(struct rp_conn *c, struct send *s, const void *p,
		    unsigned int len, uint32_t inv)
{
	rp_check(rp_wait(can_send, c, RP_ANSWER), "Sends do not complete");
	s->slot = free_send(c);
	if (c->broken || c->closed || s->slot < 0)
		return false;
	rp_record(RP_SENT, c->number, p, len);
	memcpy(c->tx[s->slot], p, len);
	c->tx_busy[s->slot] = true;
	s->sge.addr = (uintptr_t)c->tx[s->slot];
	s->sge.length = len;
	s->sge.lkey = c->tx_mr->lkey;
	s->wr = (struct ibv_send_wr) {
		.wr_id = WR_ID(WR_SEND, s->slot),
		.opcode = inv ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &s->sge,
		.num_sge = 1,
	};
	s->wr.invalidate_rkey = inv;
	s->wr.wr.rdma.rkey = inv;	/* where libsiw looks for it */
	return true;
}

/* One Send, or several at once. */
static bool post(struct rp_conn *c, struct send *s, unsigned int n)
{
	struct ibv_send_wr *bad;
	unsigned int i;

	for (i = 1; i < n; i++)
		s[i - 1].wr.next = &s[i].wr;
	if (!ibv_post_send(c->id->qp, &s->wr, &bad))
		return true;
	for (i = 0; i < n; i++)
		c->tx_busy[s[i].slot] = false;
	c->broken = true;
	return false;
}

static bool try_send(struct rp_conn *c, const void *p, unsigned int len,
		     uint32_t inv)
{
	struct send s;

	return prepare(c, &s, p, len, inv) && post(c, &s, 1);
}

static unsigned int to_wire(const struct rp_msg *m, uint8_t *b)
{
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		/* A free credit field asks for, or grants, 32. */
		uint32_t w = m->w[i] == ANY ? 32 : m->w[i];

		b[4 * i] = w >> 24;
		b[4 * i + 1] = w >> 16;
		b[4 * i + 2] = w >> 8;
		b[4 * i + 3] = w;
	}
	return m->cut ? m->cut : 4 * m->n;
}

static bool prepare_msg(struct rp_conn *c, struct send *s,
			const struct rp_msg *m, uint32_t inv)
{
	static uint8_t b[4 * RP_MAX_WORDS];
	unsigned int len = to_wire(m, b);

	rp_check(len <= RP_RECV_SIZE, "test message too long");
	rp_tell("-> %u bytes: %08x %08x %08x %08x %08x", len, rp_word(b, 0),
		rp_word(b, 1), rp_word(b, 2), rp_word(b, 3), rp_word(b, 4));
	return prepare(c, s, b, len, inv);
}

/* Messages of a connection that collects */
static struct send collected[RP_NR_SENDS];

const struct rp_msg *(*rp_on_send)(struct rp_conn *c, const struct rp_msg *m,
				   uint32_t *inv);

bool rp_try_send_inv(struct rp_conn *c, const struct rp_msg *m, uint32_t inv)
{
	struct send s;

	if (rp_on_send) {
		m = rp_on_send(c, m, &inv);
		if (!m)
			return true;
	}
	if (c->collects) {
		rp_check(c->ncollected < RP_NR_SENDS, "too many at once");
		return prepare_msg(c, &collected[c->ncollected++], m, inv);
	}
	return prepare_msg(c, &s, m, inv) && post(c, &s, 1);
}

bool rp_try_send(struct rp_conn *c, const struct rp_msg *m)
{
	return rp_try_send_inv(c, m, 0);
}

void rp_send(struct rp_conn *c, const struct rp_msg *m)
{
	rp_check(rp_try_send_inv(c, m, 0), "cannot send: the connection is gone");
}

void rp_send_both(struct rp_conn *c, const struct rp_msg *m,
		  const struct rp_msg *next)
{
	struct send s[2];

	if (rp_on_send) {
		rp_send(c, m);
		rp_send(c, next);
		return;
	}
	rp_check(prepare_msg(c, &s[0], m, 0) && prepare_msg(c, &s[1], next, 0) &&
		 post(c, s, 2), "cannot send: the connection is gone");
}

void rp_collect(struct rp_conn *c)
{
	c->collects = true;
	c->ncollected = 0;
}

void rp_send_collected(struct rp_conn *c)
{
	c->collects = false;
	rp_check(post(c, collected, c->ncollected),
		 "cannot send: the connection is gone");
}

void rp_send_inv(struct rp_conn *c, const struct rp_msg *m, uint32_t handle)
{
	rp_check(rp_try_send_inv(c, m, handle),
		 "cannot send: the connection is gone");
}

void rp_send_bytes(struct rp_conn *c, const void *p, unsigned int len)
{
	rp_tell("-> %u bytes", len);
	rp_check(try_send(c, p, len, 0),
		 "cannot send: the connection is gone");
}

static bool has_news(void *arg)
{
	struct rp_conn *c = arg;

	poll_cq(c);
	return c->unread || c->head != c->tail || c->closed || c->broken;
}

struct rp_rx *rp_recv_within(struct rp_conn *c, unsigned int ms)
{
	unsigned int max = sizeof(c->fifo) / sizeof(c->fifo[0]);
	static struct rp_rx *rings[2][32];
	static unsigned int nexts[2];
	struct rp_rx **ring = rings[rp_side()], *rx;
	unsigned int *next = &nexts[rp_side()];

	rp_wait(has_news, c, ms);
	if (c->unread) {
		rx = c->unread;
		c->unread = NULL;
	} else if (c->head != c->tail) {
		rx = c->fifo[c->head];
		c->head = (c->head + 1) % max;
	} else {
		return NULL;
	}
	/* Good until 31 more were received. */
	free(ring[*next]);
	ring[*next] = rx;
	*next = (*next + 1) % 32;
	return rx;
}

struct rp_rx *rp_recv(struct rp_conn *c)
{
	struct rp_rx *rx = rp_recv_within(c, RP_ANSWER);

	rp_check(rx, c->closed || c->broken ?
		 "the connection ends instead of a message" :
		 "no message in time");
	return rx;
}

void rp_unrecv(struct rp_conn *c, const struct rp_rx *rx)
{
	rp_check(!c->unread, "two messages put back");
	c->unread = malloc(sizeof(*rx));
	rp_check(c->unread, "no memory");
	*c->unread = *rx;
}

bool rp_matches(const struct rp_rx *rx, const struct rp_msg *want)
{
	unsigned int i;

	if (rx->len != (want->cut ? want->cut : 4 * want->n))
		return false;
	for (i = 0; i < rx->len / 4; i++)
		if (want->w[i] != ANY && want->w[i] != rp_word(rx->buf, i))
			return false;
	return true;
}

static void show(const char *title, const struct rp_rx *rx,
		 const struct rp_msg *m)
{
	unsigned int i, n = rx ? rx->len / 4 : m->n;

	fprintf(stderr, "%s (%u bytes)", title, rx ? rx->len : 4 * n);
	for (i = 0; i < n && i < 40; i++) {
		fprintf(stderr, "%s", i % 8 ? " " : "\n  ");
		if (rx)
			fprintf(stderr, "%08x", rp_word(rx->buf, i));
		else if (m->w[i] == ANY)
			fprintf(stderr, "........");
		else
			fprintf(stderr, "%08x", (uint32_t)m->w[i]);
	}
	fprintf(stderr, n > 40 ? " ...\n" : "\n");
}

static void wanted(const struct rp_msg *want)
{
	show("expected", NULL, want);
	rp_record_wanted(want);
}

void rp_must_match(const struct rp_rx *rx, const struct rp_msg *want)
{
	if (rp_matches(rx, want) || rp_on_send)
		return;
	wanted(want);
	show("received", rx, NULL);
	rp_fail("not the expected message");
}

struct rp_rx *rp_expect(struct rp_conn *c, const struct rp_msg *want)
{
	struct rp_rx *rx = rp_recv_within(c, RP_ANSWER);

	if (!rx) {
		wanted(want);
		rp_fail(c->closed || c->broken ?
			"the connection ends instead" : "no message in time");
	}
	rp_must_match(rx, want);
	return rx;
}

static bool has_closed(void *arg)
{
	struct rp_conn *c = arg;

	poll_cq(c);
	return c->closed;
}

bool rp_is_closed(struct rp_conn *c)
{
	return c->closed || c->broken;
}

bool rp_has_news(struct rp_conn *c)
{
	return has_news(c);
}

static bool was_rejected(void *arg)
{
	struct rp_conn *c = arg;

	return c->rejected;
}

bool rp_rejected_within(struct rp_conn *c, unsigned int ms)
{
	return rp_wait(was_rejected, c, ms);
}

bool rp_closed_within(struct rp_conn *c, unsigned int ms)
{
	return rp_wait(has_closed, c, ms);
}

void rp_expect_closed(struct rp_conn *c)
{
	struct rp_rx *rx;

	rp_check(rp_closed_within(c, RP_ANSWER * 2),
		 "the peer does not close the connection");
	rx = rp_recv_within(c, 0);
	if (rx) {
		show("received", rx, NULL);
		rp_fail("a message where the connection should close");
	}
}

void rp_expect_silence(struct rp_conn *c, unsigned int ms)
{
	/* Only what should come needs more time in a slow guest. */
	struct rp_rx *rx = rp_recv_within(c, ms / rp_opt.scale + 1);

	if (rx) {
		show("received", rx, NULL);
		rp_fail("a message where there should be none");
	}
	rp_check(!rp_is_closed(c), "the peer closed the connection");
}

/* ---- memory ---- */

static struct rp_mem *new_mem(struct rp_conn *c, uint32_t size, int more)
{
	struct rp_mem *mem = calloc(1, sizeof(*mem));
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_WRITE | more;

	rp_check(mem && c->nmems < MAX_MEMS, "no memory");
	mem->size = (size + 4095) & ~4095u;
	mem->buf = pages(mem->size);
	memset(mem->buf, 0xa5, mem->size);
	mem->mr = ibv_reg_mr(c->pd, mem->buf, mem->size, access);
	if (!mem->mr && more) {
		munmap(mem->buf, mem->size);
		free(mem);
		return NULL;
	}
	rp_check(mem->mr, "cannot register memory: %s", strerror(errno));
	mem->handle = mem->mr->rkey;
	c->mem[c->nmems++] = mem;
	return mem;
}

struct rp_mem *rp_mem(struct rp_conn *c, uint32_t size)
{
	return new_mem(c, size, 0);
}

static bool rdma_done(void *arg)
{
	struct rp_conn *c = arg;

	poll_cq(c);
	return !c->rdma_left || c->broken;
}

/* rxe invalidates windows but not regions of user space; siw the reverse. */
struct rp_mem *rp_mem_inv(struct rp_conn *c, uint32_t size)
{
	struct ibv_mw *mw = ibv_alloc_mw(c->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.wr_id = WR_ID(WR_BIND, 0),
	};
	struct rp_mem *mem;

	if (!mw)
		return new_mem(c, size, 0);
	mem = new_mem(c, size, IBV_ACCESS_MW_BIND);
	rp_check(mem, "cannot register memory for a window");
	mem->mw = mw;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info.mr = mem->mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)mem->buf;
	wr.bind_mw.bind_info.length = mem->size;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ |
					       IBV_ACCESS_REMOTE_WRITE;
	c->rdma_left++;
	rp_check(!ibv_post_send(c->id->qp, &wr, &bad), "cannot bind: %s",
		 strerror(errno));
	rp_check(rp_wait(rdma_done, c, RP_ANSWER) && !c->broken,
		 "binding a window fails");
	mem->handle = wr.bind_mw.rkey;
	return mem;
}

struct rp_seg rp_seg(const struct rp_mem *mem, uint32_t offset, uint32_t len)
{
	return (struct rp_seg){ mem->handle, len,
				(uintptr_t)mem->buf + offset };
}

/* In pieces of a send buffer; false if the connection broke. */
static bool rdma(struct rp_conn *c, bool write, void *buf, struct rp_seg s)
{
	unsigned int piece;
	int i;

	while (s.len) {
		struct ibv_sge sge;
		struct ibv_send_wr *bad, wr = {
			.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr_id = WR_ID(WR_RDMA, 0),
			.sg_list = &sge,
			.num_sge = 1,
		};

		rp_check(rp_wait(can_send, c, RP_ANSWER),
			 "Sends do not complete");
		i = free_send(c);
		if (c->broken || c->closed || i < 0)
			return false;
		piece = s.len < RP_RECV_SIZE ? s.len : RP_RECV_SIZE;
		if (write) {
			rp_record(RP_WROTE, c->number, buf, piece);
			memcpy(c->tx[i], buf, piece);
		}
		sge.addr = (uintptr_t)c->tx[i];
		sge.length = piece;
		sge.lkey = c->tx_mr->lkey;
		wr.wr.rdma.remote_addr = s.off;
		wr.wr.rdma.rkey = s.handle;
		c->rdma_left++;
		if (ibv_post_send(c->id->qp, &wr, &bad)) {
			c->rdma_left--;
			return false;
		}
		rp_check(rp_wait(rdma_done, c, RP_ANSWER),
			 "RDMA does not complete");
		if (c->broken)
			return false;
		if (!write) {
			memcpy(buf, c->tx[i], piece);
			rp_record(RP_READ, c->number, buf, piece);
		}
		buf = (uint8_t *)buf + piece;
		s.off += piece;
		s.len -= piece;
	}
	return true;
}

bool rp_try_rdma_read(struct rp_conn *c, void *buf, struct rp_seg s)
{
	return rdma(c, false, buf, s);
}

void rp_rdma_read(struct rp_conn *c, void *buf, struct rp_seg s)
{
	rp_check(rp_try_rdma_read(c, buf, s), "RDMA Read fails");
}

bool rp_try_rdma_write(struct rp_conn *c, const void *buf, struct rp_seg s)
{
	return rdma(c, true, (void *)buf, s);
}

void rp_rdma_write(struct rp_conn *c, const void *buf, struct rp_seg s)
{
	rp_check(rdma(c, true, (void *)buf, s), "RDMA Write fails");
}
