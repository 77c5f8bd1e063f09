/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine that the command runs on: its files, what other programs say of it.
 *
 * Tests put the environment variable RPCRDMA2_TEST_ROOT: then all files are looked
 * for, and written, below that directory.
 */
#ifndef _SYS_H
#define _SYS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#define MODULE_DIR	"/sys/module/rpcrdma2"
#define STOCK_DIR	"/sys/module/rpcrdma"
#define NVFS_DIR	"/sys/module/rpcrdma2_nvfs"
#define PORTLIST	"/proc/fs/nfsd/portlist"
#define MODPROBE_FILE	"/etc/modprobe.d/rpcrdma2.conf"
#define WANTS_DIR	"/etc/systemd/system/nfs-server.service.wants"
#define LISTENER	"rpcrdma2-listener@"
#define NFS_RDMA_PORT	"20049"

#define PRINTF(a, b)	__attribute__((format(printf, a, b)))

char *sys_path(const char *path);
const char *sys_release(void);
bool PRINTF(1, 2) sys_exists(const char *fmt, ...);
char *PRINTF(1, 2) sys_read(const char *fmt, ...);
json_t *PRINTF(1, 2) sys_lines(const char *fmt, ...);
json_t *PRINTF(1, 2) sys_list(const char *fmt, ...);
char *sys_output(const char *const argv[]);
int sys_run(const char *const argv[]);
json_t *split(const char *text, const char *separators);
bool module_parameter(const char *name, const char *value);
bool gpudirect_lost(void);

/**
 * struct mount - a line of fstab, or of the mounts that there are
 * @source: server and path
 * @dir: where
 * @type: of the file system
 * @options: between commas
 */
struct mount {
	const char	*source;
	const char	*dir;
	const char	*type;
	const char	*options;
};

json_t *sys_nfs_mounts(const char *file);
struct mount to_mount(const json_t *words);
bool has_option(const struct mount *m, const char *option);
bool asks_rdma(const struct mount *m);
bool uses_us(const struct mount *m);
json_t *listener_ports(void);
json_t *our_listeners(void);

#endif /* _SYS_H */
