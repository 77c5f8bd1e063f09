// SPDX-License-Identifier: GPL-2.0
/*
 * The device refuses a work request in the worst moment. Needs a kernel with
 * fault injection.
 */
#include <stdio.h>
#include <string.h>

#include "rp.h"
#include "change.h"
#include "fault.h"
#include "stat.h"

#define FAIL	"/sys/kernel/debug/fail_rpcrdma2/"
#define ROOM	"/sys/kernel/debug/fail_rpcrdma2_room/"

static void set_in(const char *dir, const char *name, const char *value)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	f = fopen(path, "w");
	rp_check(f, "no %s", path);
	fputs(value, f);
	rp_check(!fclose(f), "%s is refused", name);
}

static void set(const char *name, const char *value)
{
	set_in(FAIL, name, value);
}

/* What this is about fails so many times, beginning with the next. */
static void fail_in(const char *dir, const char *times)
{
	set_in(dir, "verbose", "0");
	set_in(dir, "interval", "1");
	set_in(dir, "times", times);
	set_in(dir, "probability", "100");
}

void next_post_fails(void)
{
	fail_in(FAIL, "1");
}

void has_failed(void)
{
	char line[32] = "";
	FILE *f = fopen(FAIL "times", "r");

	rp_check(f && fgets(line, sizeof(line), f), "no times");
	fclose(f);
	rp_check(line[0] == '0', "nothing has failed");
	set("probability", "0");
}

RP_CASE("faults", TROUBLE | MODULE, fault_accept, "SEC-3,REC-1",
	"a Call on a connection that is not accepted after all")
{
	struct rp_conn *other = rp_open(), *c;
	uint32_t xid;
	char ms[16];
	unsigned int i;

	snprintf(ms, sizeof(ms), "%u", 300 * rp_opt.scale);
	set("accept_ms", ms);
	for (i = 0; i < 2; i++) {
		c = rp_connect();
		xid = rp_xid();
		rp_send(c, rp_set(connprop(xid, 4096, 0), 4, CALL));
		rp_check(rp_recv_within(c, RP_ANSWER), "no CONNPROP");
		rp_send(c, null_call(rp_xid()));
		rp_check(rp_closed_within(c, RP_ANSWER), "it was accepted");
	}
	set("accept_ms", "0");
	/* The end of the others has not taken this one off the list */
	rp_server_stat(other, "tx_error");
	rp_nothing(other);
	rp_nothing(rp_open());
}

RP_CASE("faults", TROUBLE | MODULE, fault_reply, "MSG-11",
	"a Reply that cannot be sent: the connection is closed")
{
	struct rp_conn *other = rp_open(), *c = rp_open();
	unsigned long before;

	rp_null(c);
	before = rp_nulls_served();
	next_post_fails();
	rp_send(c, null_call(rp_xid()));
	rp_check(!rp_recv_within(c, RP_ANSWER), "an answer");
	rp_check(rp_closed_within(c, RP_ANSWER),
		 "the client does not learn of it");
	has_failed();
	rp_check(rp_nulls_served() == before + 1, "it was not executed");
	rp_nothing(other);
	rp_nothing(rp_open());
}

RP_CASE("faults", TROUBLE | MODULE, fault_reply_chunks, "MSG-11,CHK-23",
	"a Reply with RDMA Writes that cannot be sent: the same")
{
	struct rp_conn *other = rp_open(), *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	struct rp_seg seg = rp_seg(mem, 0, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, MSG, 0);

	rp_file("fault", 4096);
	put_last_write(m, 1, &seg);
	put_msg(m, nfs4_read(xid, "fault", 0, 4096));
	rp_null(c);
	next_post_fails();
	rp_send(c, m);
	rp_check(!rp_recv_within(c, RP_ANSWER), "an answer");
	rp_check(rp_closed_within(c, RP_ANSWER),
		 "the client does not learn of it");
	has_failed();
	rp_is_untouched(mem, 0, 4096);
	rp_nothing(other);
}

RP_CASE("faults", TROUBLE | MODULE, fault_error, "MSG-11",
	"an ERROR that cannot be sent: the same")
{
	struct rp_conn *other = rp_open(), *c = rp_open();

	rp_null(c);
	next_post_fails();
	rp_send(c, rp_set(null_call(rp_xid()), 6, 2));
	rp_check(!rp_recv_within(c, RP_ANSWER), "an answer");
	rp_check(rp_closed_within(c, RP_ANSWER),
		 "the client does not learn of it");
	has_failed();
	rp_nothing(other);
}

/* So many control messages will find no room. */
static void no_room(const char *times)
{
	fail_in(ROOM, times);
}

static void room(void)
{
	set_in(ROOM, "probability", "0");
}

RP_CASE("faults", TROUBLE | MODULE, fault_room, "SEC-14,MSG-11",
	"no room to send ERRORs: they are dropped, and nothing else happens")
{
	struct rp_conn *c = rp_open();
	long dropped, sent;
	unsigned int i;

	rp_null(c);
	dropped = rp_server_stat(c, "send_errors_dropped");
	sent = rp_server_stat(c, "tx_error");
	no_room("3");
	for (i = 0; i < 3; i++)
		rp_send(c, rp_set(null_call(rp_xid()), 6, 2));
	rp_nothing(c);
	room();
	dropped = rp_server_stat(c, "send_errors_dropped") - dropped;
	rp_check(dropped == 3, "%ld ERRORs were dropped", dropped);
	rp_send(c, rp_set(null_call(rp_xid()), 6, 2));
	rp_check(rp_word(rp_recv(c)->buf, 3) == ERROR, "not an ERROR");
	sent = rp_server_stat(c, "tx_error") - sent;
	rp_check(sent == 1, "%ld ERRORs were sent", sent);
	rp_nothing(c);
}

RP_CASE("faults", TROUBLE | MODULE, fault_answer, "CHG-6,CHG-17,D-18",
	"no room for a RESPROP: it is sent later; a second REQPROP ends the connection")
{
	struct rp_conn *c = rp_connect(), *other = rp_open();
	uint32_t xid = rp_xid();

	rp_send(c, connprop_x(xid, 8192, 0, 0));
	rp_check(chg_is(rp_recv(c), CONNPROP), "no CONNPROP in answer");
	xid = rp_xid();
	no_room("1000000");
	rp_send(c, reqprop(xid, 0));
	rp_nothing(c);
	room();
	rp_expect(c, resprop(xid, 0, 0, 0));
	rp_nothing(c);

	no_room("1000000");
	rp_send(c, reqprop(rp_xid(), 0));
	rp_nothing(c);
	rp_send(c, reqprop(rp_xid(), 0));
	rp_check(!rp_recv_within(c, RP_ANSWER), "an answer");
	rp_check(rp_closed_within(c, RP_ANSWER), "two are kept");
	room();
	rp_nothing(other);
}

RP_CASE("faults", TROUBLE | MODULE, fault_pull, "MSG-11",
	"RDMA Reads that cannot be posted: the same")
{
	struct rp_conn *other = rp_open(), *c = rp_open();
	struct rp_mem *mem = rp_mem(c, 4096);
	uint32_t xid = rp_xid();
	struct rp_msg *m = call_head(xid, NOMSG, 0);

	put_last_read(m, 0, rp_seg(mem, 0, rp_store(mem, 0, rpc_null(xid))));
	rp_null(c);
	next_post_fails();
	rp_send(c, m);
	rp_check(!rp_recv_within(c, RP_ANSWER), "an answer");
	rp_check(rp_closed_within(c, RP_ANSWER),
		 "the client does not learn of it");
	has_failed();
	rp_nothing(other);
}

/* The device says no, but has taken the work requests: they may use memory
 * until the connection has ended.
 */
RP_CASE("faults", TROUBLE | MODULE, fault_late, "MSG-11,REC-4",
	"work requests that are posted although it seems not: the connection is closed")
{
	struct rp_conn *other = rp_open(), *c;
	uint32_t xid, i;
	struct rp_mem *mem;
	struct rp_msg *m;

	set("late", "Y");
	for (i = 0; i < 3; i++) {
		c = rp_open();
		mem = rp_mem(c, 8192);
		xid = rp_xid();
		rp_file("fault", 4096);
		if (i == 0) {			/* RDMA Reads */
			m = call_head(xid, NOMSG, 0);
			put_last_read(m, 0, rp_seg(mem, 0, rp_store(mem, 0,
							rpc_null(xid))));
		} else if (i == 1) {		/* RDMA Writes and a Reply */
			struct rp_seg seg = rp_seg(mem, 4096, 4096);

			m = call_with_write(nfs4_read(xid, "fault", 0, 4096), 1, &seg);
		} else {			/* a Reply alone */
			m = null_call(xid);
		}
		rp_null(c);
		next_post_fails();
		rp_send(c, m);
		/* with or without a Reply */
		rp_recv_within(c, RP_ANSWER / 8);
		rp_check(rp_closed_within(c, RP_ANSWER),
			 "the client does not learn of it");
		has_failed();
		rp_close(c);
	}
	set("late", "N");
	rp_nothing(other);
}

/* The client makes a new connection and sends the READ again. */
static struct cl_call *comes_again(struct cl *s, const struct cl_call *old)
{
	struct cl_call *call;

	rp_expect_closed(s->c);
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	call = cl_wait_for(s, NFS_READ);
	rp_check(call->xid == old->xid, "another READ");
	rp_check(call->write[0].seg[0].handle != old->write[0].seg[0].handle,
		 "the old handle");
	return call;
}

RP_CASE("faults-client", TROUBLE | MODULE, fault_invalidate,
	"RINV-15,RINV-12,SEC-7,REC-2",
	"memory that cannot be invalidated: closed before the RPC completes")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_read("f", 4096, 8192);
	struct cl_call *call = cl_wait_for(s, NFS_READ);
	long was = rp_client_stat(s, "local_invalidations");

	rp_check(call->nwrites == 1, "READ has no Write chunk");
	next_post_fails();
	cl_answer(s, call);		/* by a plain Send */
	call = comes_again(s, call);
	has_failed();
	rp_check(!job_over(job), "READ completed with its memory exposed");
	rp_check(rp_client_stat(s, "local_invalidations") == was + 1,
		 "no local invalidation was tried");
	cl_answer(s, call);
	rp_check(!cl_serve(s, job), "READ fails");
	rp_is_pattern(job_data(job), 4096, 8192);
	cl_alive(s);
	cl_end(s);
}

RP_CASE("faults-client", TROUBLE | MODULE, fault_error_invalidate,
	"ERR-27,ERR-34,RINV-15,D-30",
	"the same after WRITE_RESOURCE: EIO, the Call is not sent again")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job = job_read("f", 4096, 8192), *next;
	struct cl_call *call = cl_wait_for(s, NFS_READ);
	struct rp_msg *m = error2_arg(call->xid, WRITE_RESOURCE, 1);

	rp_check(call->nwrites == 1, "READ has no Write chunk");
	next_post_fails();
	m->w[2] = s->grant;
	put(m, 16384);
	rp_send(s->c, m);
	rp_expect_closed(s->c);
	has_failed();
	rp_close(s->c);
	/* READ may be over by now: then nothing else wants a connection. */
	next = job_stat(cl_name());
	cl_accept(s);
	cl_settle(s);
	while (!job_over(job) || !job_over(next)) {
		call = cl_next_within(s, 100);
		rp_check(!call || call->proc != NFS_READ,
			 "READ is sent again although it was executed");
		if (call)
			cl_answer(s, call);
	}
	rp_check(job_result(job) == EIO, "not EIO");
	rp_check(!job_result(next), "the next operation fails");
	cl_alive(s);
	cl_end(s);
}

RP_CASE("faults-client", TROUBLE | MODULE, fault_call, "REC-2,CRED-2",
	"a Call that cannot be sent goes out on a new connection")
{
	struct cl *s = cl_mounted(NULL);
	struct rp_job *job;

	cl_alive(s);
	next_post_fails();
	job = job_stat(cl_name());
	rp_expect_closed(s->c);
	has_failed();
	rp_close(s->c);
	cl_accept(s);
	cl_settle(s);
	rp_check(!cl_serve(s, job), "the operation fails");
	cl_alive(s);
	rp_check(rp_client_stat(s, "calls_outstanding") == 0,
		 "a credit is lost");
	cl_end(s);
}
