/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that goes on while a case plays the server: mounts and file
 * operations, each in a process of its own, started by one that was forked
 * before the case had any RDMA resources. A small MOUNT server (TCP, on the
 * port after the case's own) gives NFSv3 mounts their file handle.
 */
#ifndef _CONFORM_JOBS_H
#define _CONFORM_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#define RP_JOB_DATA	(1u << 20)

struct rp_job;

void rp_local_start(void);
void rp_local_stop(void);
/* In a forked process: what was started is the other's. */
void rp_local_leave(void);

/* Mount with these options; what NFS version needs besides is added. The
 * option vers= must come first.
 */
struct rp_job *job_mount(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
struct rp_job *job_umount(void);
/* File operations below the mount; reads and writes are direct. A write
 * writes the pattern of rp_pattern().
 */
struct rp_job *job_read(const char *file, uint32_t off, uint32_t len);
struct rp_job *job_write(const char *file, uint32_t off, uint32_t len);
/* Pages of the file as a mapping shows them */
struct rp_job *job_map(const char *file, uint32_t off, uint32_t len);
struct rp_job *job_stat(const char *file);
struct rp_job *job_list(const char *dir);
/* Any shell command, for what the others cannot do */
struct rp_job *job_shell(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

bool job_over(struct rp_job *job);
/* Wait for the end: 0 or errno */
int job_result(struct rp_job *job);
/* Bytes read, written; entries listed */
uint32_t job_count(struct rp_job *job);
const uint8_t *job_data(struct rp_job *job);
/* Kill its process; on return that is gone and its RPC cancelled */
void job_kill(struct rp_job *job);

/* Byte @i of the file every file of the raw server is a piece of */
static inline uint8_t rp_pattern(uint32_t i)
{
	return (i * 2654435761u) >> 24 ^ i;
}

#endif /* _CONFORM_JOBS_H */
