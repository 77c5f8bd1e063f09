/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that a client under test does while a case plays its server: mounts
 * and file operations. An agent does them: a process on this machine, one on
 * the client's machine that has connected to us, or somebody who reads what
 * to do and types how it ended. A small MOUNT server (TCP, on the port after
 * the case's own) gives NFSv3 mounts their file handle.
 *
 * To an agent, one line each:
 *
 *	ID mount SOURCE OPTIONS
 *	ID umount
 *	ID read|write|map FILE OFFSET LENGTH	direct, or by way of a mapping
 *	ID stat FILE
 *	ID list DIRECTORY
 *	ID shell COMMAND			on this machine only
 *	ID kill					end the job of that number
 *	RESET reset				forget everything, unmount
 *
 * and from it, in any order, with LENGTH bytes of data (what was read) behind
 * each line:
 *
 *	ID ERRNO COUNT LENGTH
 */
#ifndef _CONFORM_JOBS_H
#define _CONFORM_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#define JOBS_MAX	256
#define JOBS_DATA	(1u << 20)
#define JOBS_RESET	0xffffffffu	/* ID of a reset */

struct rp_job;

/* ---- outside of cases ---- */

enum jobs_how {
	JOBS_HERE,		/* this machine is the client's */
	JOBS_AGENT,		/* an agent connects to a TCP port of ours */
	JOBS_HAND,		/* somebody sits at this terminal */
};

/* Who works; for JOBS_AGENT wait until he has come. */
void jobs_by(enum jobs_how how, unsigned int port);
/* A case is over: what is left of it goes. */
void jobs_after_case(void);

/* The agents: they return when the other end of @fd goes away. */
void agent_serve(int fd, bool local);
int agent_connect(const char *addr, unsigned int port);
void hand_serve(int fd);
/* Where somebody sits; what a case says goes elsewhere */
extern int jobs_terminal;

/* ---- in a case ---- */

void jobs_start(void);

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
/* What was read; the case ends here if nobody has told (JOBS_HAND) */
const uint8_t *job_data(struct rp_job *job);
/* Nobody looks at it any more, and it was the last one. */
void job_forget(struct rp_job *job);
/* Kill its process; on return that is gone and its RPC cancelled */
void job_kill(struct rp_job *job);

/* Byte @i of the file every file of the raw server is a piece of */
static inline uint8_t rp_pattern(uint32_t i)
{
	return (i * 2654435761u) >> 24 ^ i;
}

#endif /* _CONFORM_JOBS_H */
