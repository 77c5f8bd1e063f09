// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on demand: /sys/kernel/debug/fail_rpcrdma2/ has the usual files of
 * the fault injection framework; what fails is the next post to a send queue.
 * With "late" set it fails after the device has taken the work requests. With
 * "accept_ms" set a connection is accepted, and so much later it is not. The
 * same in fail_rpcrdma2_map/ is for the next mapping of memory of the kinds in
 * "what", a sum of enum rpcrdma2_inject_map, and in fail_rpcrdma2_room/ for the
 * room in the send queue that the next control message needs.
 * fail_rpcrdma2/max_qp_wr and max_cqe make a device out of the next one that has
 * only so many entries, "refuse" one that refuses what a sum of enum
 * rpcrdma2_inject_refuse names, and "sleep" lets completion handlers do what they
 * must not.
 *
 * Any context; no locks. Built only if the kernel has the framework.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fault-inject.h>

#include "conn/inject.h"

static DECLARE_FAULT_ATTR(fail_post);
static struct dentry *fail_dir;
static bool fail_late;
static u32 max_qp_wr, max_cqe;
static u32 fail_refuse;
static u32 fail_accept_ms;
static bool fail_sleep;

static DECLARE_FAULT_ATTR(fail_map);
static struct dentry *fail_map_dir;
static u32 fail_map_what = RPCRDMA2_MAP_RECV | RPCRDMA2_MAP_SEND |
			   RPCRDMA2_MAP_MR;

static DECLARE_FAULT_ATTR(fail_room);
static struct dentry *fail_room_dir;

/**
 * rpcrdma2_inject_post - shall this post to a send queue fail?
 * @posted: asked after the device has taken it
 *
 * Context: any.
 * Return: true if the caller is to behave as if the device had refused it
 */
bool rpcrdma2_inject_post(bool posted)
{
	return posted == READ_ONCE(fail_late) && should_fail(&fail_post, 1);
}

/**
 * rpcrdma2_inject_map - shall this mapping fail?
 * @what: what is to be mapped
 *
 * Context: any.
 * Return: true if the caller is to behave as if the device could not
 */
bool rpcrdma2_inject_map(enum rpcrdma2_inject_map what)
{
	return READ_ONCE(fail_map_what) & what && should_fail(&fail_map, 1);
}

/**
 * rpcrdma2_inject_room - shall there be no room for this control message?
 *
 * Context: any.
 * Return: true if the caller is to behave as if the send queue were full
 */
bool rpcrdma2_inject_room(void)
{
	return should_fail(&fail_room, 1);
}

/**
 * rpcrdma2_inject_max_qp_wr - entries that the queues of a device have
 *
 * Context: any.
 * Return: their number, 0 if nothing is to be pretended
 */
u32 rpcrdma2_inject_max_qp_wr(void)
{
	return READ_ONCE(max_qp_wr);
}

/**
 * rpcrdma2_inject_max_cqe - entries that the CQs of a device have
 *
 * Context: any.
 * Return: their number, 0 if nothing is to be pretended
 */
u32 rpcrdma2_inject_max_cqe(void)
{
	return READ_ONCE(max_cqe);
}

/**
 * rpcrdma2_inject_refuse - shall the device refuse to make this?
 * @what: what is to be made
 *
 * Context: any.
 * Return: NULL, or an ERR_PTR that the caller is to take for the device's answer
 */
void *rpcrdma2_inject_refuse(enum rpcrdma2_inject_refuse what)
{
	return READ_ONCE(fail_refuse) & what ? ERR_PTR(-EOPNOTSUPP) : NULL;
}

/**
 * rpcrdma2_inject_accept - shall this connection not be accepted after all?
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno
 */
int rpcrdma2_inject_accept(void)
{
	u32 ms = READ_ONCE(fail_accept_ms);

	if (!ms)
		return 0;
	msleep(ms);
	return -EIO;
}

/**
 * rpcrdma2_inject_sleep - shall a completion handler do what may sleep?
 *
 * Context: any.
 * Return: true if so
 */
bool rpcrdma2_inject_sleep(void)
{
	return READ_ONCE(fail_sleep);
}

/**
 * rpcrdma2_inject_init - make the directories
 *
 * Context: module load.
 */
void rpcrdma2_inject_init(void)
{
	fail_dir = fault_create_debugfs_attr("fail_rpcrdma2", NULL,
					     &fail_post);
	debugfs_create_bool("late", 0600, fail_dir, &fail_late);
	debugfs_create_u32("max_qp_wr", 0600, fail_dir, &max_qp_wr);
	debugfs_create_u32("max_cqe", 0600, fail_dir, &max_cqe);
	debugfs_create_u32("refuse", 0600, fail_dir, &fail_refuse);
	fail_map_dir = fault_create_debugfs_attr("fail_rpcrdma2_map", NULL,
						 &fail_map);
	debugfs_create_u32("what", 0600, fail_map_dir, &fail_map_what);
	fail_room_dir = fault_create_debugfs_attr("fail_rpcrdma2_room", NULL,
						  &fail_room);
	debugfs_create_u32("accept_ms", 0600, fail_dir, &fail_accept_ms);
	debugfs_create_bool("sleep", 0600, fail_dir, &fail_sleep);
}

/**
 * rpcrdma2_inject_exit - remove the directories
 *
 * Context: module unload.
 */
void rpcrdma2_inject_exit(void)
{
	debugfs_remove_recursive(fail_map_dir);
	debugfs_remove_recursive(fail_room_dir);
	debugfs_remove_recursive(fail_dir);
}
