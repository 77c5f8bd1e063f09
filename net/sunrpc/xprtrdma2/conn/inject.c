// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection for tests. Three directories in /sys/kernel/debug have the usual
 * files of the kernel's framework:
 *
 *   fail_rpcrdma2       the next post to a send queue fails; with "late" set, after
 *                       the device has taken the work requests
 *   fail_rpcrdma2_map   the next mapping of memory fails, of the kinds in "what",
 *                       a sum of the first two values of enum rpcrdma2_fault
 *   fail_rpcrdma2_room  the next control message finds no send slot
 *
 * The first one also has "max_qp_wr" and "max_cqe", limits of the next device;
 * "refuse", a sum of the objects in enum rpcrdma2_refusal that a device refuses to create;
 * "accept_ms", the milliseconds after which accepting a connection fails; "sleep", with
 * which completion handlers call functions that may sleep; "idle", with which a service
 * thread is always believed to be idle; "full", with which a service thread never finds the
 * end of a completion queue, and polls until its time is over; and "p2pdma", with which every
 * page of a payload counts as memory of a PCI device.
 *
 * Any context; no locks. Built only if the kernel has the framework.
 */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>

#include "conn/inject.h"

static DECLARE_FAULT_ATTR(fail_post);
static DECLARE_FAULT_ATTR(fail_map);
static DECLARE_FAULT_ATTR(fail_room);
static struct dentry *post_dir, *map_dir, *room_dir;
static u32 fail_map_what = RPCRDMA2_FAULT_MAP_RECV | RPCRDMA2_FAULT_MAP_MR;
struct rpcrdma2_pretence rpcrdma2_pretence;

/**
 * rpcrdma2_inject_ask - ask whether a fault is to happen now
 * @fault: the fault
 *
 * Context: any.
 * Return: true if the caller is to behave as if it had happened
 */
bool rpcrdma2_inject_ask(enum rpcrdma2_fault fault)
{
	switch (fault) {
	case RPCRDMA2_FAULT_POST:
		return should_fail(&fail_post, 1);
	case RPCRDMA2_FAULT_CONTROL:
		return should_fail(&fail_room, 1);
	default:
		return READ_ONCE(fail_map_what) & fault && should_fail(&fail_map, 1);
	}
}

/**
 * rpcrdma2_inject_init - create the directories
 *
 * Context: module load.
 */
void rpcrdma2_inject_init(void)
{
	struct rpcrdma2_pretence *pretence = &rpcrdma2_pretence;

	post_dir = fault_create_debugfs_attr("fail_rpcrdma2", NULL, &fail_post);
	debugfs_create_bool("late", 0600, post_dir, &pretence->late);
	debugfs_create_bool("sleep", 0600, post_dir, &pretence->sleep);
	debugfs_create_bool("idle", 0600, post_dir, &pretence->idle);
	debugfs_create_bool("full", 0600, post_dir, &pretence->full);
	debugfs_create_u32("max_qp_wr", 0600, post_dir, &pretence->max_qp_wr);
	debugfs_create_u32("max_cqe", 0600, post_dir, &pretence->max_cqe);
	debugfs_create_u32("refuse", 0600, post_dir, &pretence->refuse);
	debugfs_create_u32("accept_ms", 0600, post_dir, &pretence->accept_ms);
	debugfs_create_u32("p2pdma", 0600, post_dir, &pretence->p2pdma);
	map_dir = fault_create_debugfs_attr("fail_rpcrdma2_map", NULL, &fail_map);
	debugfs_create_u32("what", 0600, map_dir, &fail_map_what);
	room_dir = fault_create_debugfs_attr("fail_rpcrdma2_room", NULL, &fail_room);
}

/**
 * rpcrdma2_inject_exit - remove the directories
 *
 * Context: module unload.
 */
void rpcrdma2_inject_exit(void)
{
	debugfs_remove_recursive(map_dir);
	debugfs_remove_recursive(room_dir);
	debugfs_remove_recursive(post_dir);
}
