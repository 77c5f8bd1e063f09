// SPDX-License-Identifier: GPL-2.0
/*
 * doctor: what is wrong with this machine. Each check looks at one thing, and adds a
 * finding for each trouble that it sees: what, why, and what to do.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/rpcrdma2_netlink.h>

#include "cmd.h"
#include "nl.h"
#include "sys.h"

static json_t *findings;

static void found(const char *id, json_t *what, json_t *why, json_t *todo)
{
	json_array_append_new(findings, json_pack("{s:s, s:o, s:o, s:o}",
						  "id", id, "what", what, "why",
						  why, "do", todo));
}

#define SAY	json_sprintf

/* ---- the file of the module ---- */

static json_t *module_files;
static size_t root_len;

static int note_module(const char *path, const struct stat *st, int type,
		       struct FTW *ftw)
{
	(void)st;
	if (type == FTW_F && !strncmp(path + ftw->base, "rpcrdma2.ko", 11))
		json_array_append_new(module_files, json_string(path +
								root_len));
	return 0;
}

static void find_module_files(void)
{
	char *root = sys_path(""), *dir;

	module_files = json_array();
	root_len = strlen(root);
	if (asprintf(&dir, "%s/lib/modules/%s/", root, sys_release()) < 0)
		abort();
	nftw(dir, note_module, 16, FTW_PHYS);
	free(dir);
	free(root);
}

/* The line of modules.dep with the file that modprobe takes for a module */
static json_t *file_for(const char *module)
{
	json_t *lines = sys_lines("/lib/modules/%s/modules.dep", sys_release());
	json_t *line, *name = NULL;
	char end[64];
	size_t i;

	snprintf(end, sizeof(end), "/%s.ko", module);
	json_array_foreach(lines, i, line) {
		const char *text = json_string_value(line);
		const char *colon = strchr(text, ':'), *at = strstr(text, end);

		if (!name && colon && at && at < colon)
			name = json_stringn(text, colon - text);
	}
	json_decref(lines);
	return name;
}

static void why_not_built(void)
{
	json_t *versions = sys_list("/var/lib/dkms/rpcrdma2"), *name;
	const char *kver = sys_release(), *version = NULL;
	size_t i;

	json_array_foreach(versions, i, name)
		if (strncmp(json_string_value(name), "kernel-", 7))
			version = json_string_value(name);
	if (!sys_exists("/lib/modules/%s/build/include", kver))
		found("headers-missing", SAY("there is no module for kernel %s", kver),
		      SAY("its headers are not installed"),
		      SAY("apt install linux-headers-%s", kver));
	else if (!version)
		found("module-missing", SAY("there is no module for kernel %s", kver),
		      SAY("no package has built it"),
		      SAY("install the package rpcrdma2-dkms"));
	else
		found("dkms-failed", SAY("there is no module for kernel %s", kver),
		      SAY("DKMS has rpcrdma2 %s but no build for this kernel; see /var/lib/dkms/rpcrdma2/%s/build/make.log",
			  version, version),
		      SAY("dkms install -m rpcrdma2 -v %s -k %s", version, kver));
	json_decref(versions);
}

static void check_module_file(void)
{
	json_t *used = file_for("rpcrdma2"), *file;
	const char *name = json_string_value(used);
	size_t i;

	find_module_files();
	if (!json_array_size(module_files)) {
		if (!sys_exists(MODULE_DIR))
			why_not_built();
	} else if (!used) {
		found("depmod", SAY("modprobe does not know %s",
				    json_string_value(json_array_get(module_files, 0))),
		      SAY("it is not in modules.dep"), SAY("depmod"));
	}
	json_array_foreach(module_files, i, file)
		if (name && !strstr(json_string_value(file), name))
			found("module-hidden", SAY("%s is never loaded",
						   json_string_value(file)),
			      SAY("modprobe loads %s", name),
			      SAY("remove one of the two: make uninstall, or apt purge rpcrdma2-dkms"));
	json_decref(used);
}

static char *module_info(const char *field)
{
	const char *argv[] = { "modinfo", "-F", field, "rpcrdma2", NULL };
	char *text = sys_output(argv);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

static void check_module_version(void)
{
	char *loaded = sys_read(MODULE_DIR "/srcversion");
	char *there = module_info("srcversion");

	if (loaded && there && *there && strcmp(loaded, there))
		found("module-old", SAY("the loaded module is not the installed one"),
		      SAY("the module was loaded before an upgrade"),
		      SAY("reboot, or rpcrdma2 unload and modprobe rpcrdma2"));
	free(loaded);
	free(there);
}

static bool locked_down(void)
{
	char *lockdown = sys_read("/sys/kernel/security/lockdown");
	bool locked = lockdown && !strstr(lockdown, "[none]");

	free(lockdown);
	return locked;
}

static void check_signature(void)
{
	char *signer;

	if (!locked_down() || sys_exists(MODULE_DIR))
		return;
	signer = module_info("signer");
	if (signer && !*signer)
		found("secure-boot", SAY("the kernel refuses the module"),
		      SAY("Secure Boot requires a signature, and the module has none"),
		      SAY("see \"Secure Boot\" in administration.md"));
	else if (signer)
		found("secure-boot", SAY("the kernel may refuse the module"),
		      SAY("Secure Boot requires the key of \"%s\" to be enrolled",
			  signer),
		      SAY("mokutil --test-key /var/lib/dkms/mok.pub; to enroll it: mokutil --import /var/lib/dkms/mok.pub and a reboot"));
	free(signer);
}

/* ---- in the place of the stock module, or not ---- */

static bool asks_replace(void)
{
	json_t *names = sys_list("/etc/modprobe.d"), *name;
	bool asked = false;
	size_t i;

	json_array_foreach(names, i, name) {
		char *text = sys_read("/etc/modprobe.d/%s",
				      json_string_value(name));

		asked = asked || (text && (strstr(text, "rpcrdma2 replace=1") ||
					   strstr(text, "rpcrdma2 replace=Y")));
		free(text);
	}
	json_decref(names);
	return asked;
}

static void check_stock(void)
{
	bool loaded = sys_exists(MODULE_DIR);

	if (asks_replace() && sys_exists(STOCK_DIR "/initstate"))
		found("stock-module", SAY("rpcrdma2 cannot take the place of the stock module"),
		      SAY("the module rpcrdma is loaded"),
		      SAY("reboot, or without its mounts and listeners: modprobe -r rpcrdma; modprobe rpcrdma2"));
	else if (asks_replace() && loaded && !module_parameter("replace", "Y"))
		found("replace-off", SAY("rpcrdma2 has not taken the place of the stock module"),
		      SAY("the module was loaded before replace=1 was set"),
		      SAY("reboot, or rpcrdma2 unload and modprobe rpcrdma2"));
	else if (!loaded && json_array_size(module_files))
		found("not-loaded", SAY("the module rpcrdma2 is not loaded"),
		      SAY("no program has requested it since the boot, or the kernel refused it"),
		      SAY("modprobe rpcrdma2"));
}

/* nvidia-fs looks for the module when a program opens the driver's device. */
static void check_gpudirect(void)
{
	char *users = sys_read("/sys/module/nvidia_fs/refcnt");
	char *registered = sys_read(NVFS_DIR "/parameters/registered");
	bool ours = module_parameter("replace", "Y") || asks_replace();

	if (ours && gpudirect_lost())
		found("gpudirect-lost", SAY("GPUDirect Storage does not work with NFS over RDMA"),
		      SAY("the stock module has support for it, and rpcrdma2_nvfs is not installed"),
		      SAY("install the module for this kernel again, or rpcrdma2 setup beside"));
	else if (users && module_parameter("replace", "Y") && !sys_exists(NVFS_DIR))
		found("gpudirect-off", SAY("GPUDirect Storage does not work with NFS over RDMA"),
		      SAY("the module rpcrdma2_nvfs is not loaded"),
		      SAY("modprobe rpcrdma2_nvfs, then start programs that use it again"));
	else if (users && atoi(users) && registered && *registered != 'Y')
		found("gpudirect-late", SAY("GPUDirect Storage does not work with NFS over RDMA"),
		      SAY("nvidia-fs was in use before rpcrdma2_nvfs was loaded, or was refused"),
		      SAY("end all programs that use nvidia-fs, and start them again"));
	free(registered);
	free(users);
}

/* ---- devices ---- */

static bool has_frwr(const json_t *caps)
{
	json_t *cap;
	size_t i;

	json_array_foreach(caps, i, cap)
		if (!strcmp(json_string_value(cap) ?: "",
			    "MEM_MGT_EXTENSIONS"))
			return true;
	return false;
}

static void check_frwr(void)
{
	const char *argv[] = { "rdma", "-j", "-d", "dev", "show", NULL };
	char *text = sys_output(argv);
	json_t *devices = text ? json_loads(text, 0, NULL) : NULL, *dev;
	size_t i;

	json_array_foreach(devices, i, dev) {
		json_t *caps = json_object_get(dev, "caps");

		if (caps && !has_frwr(caps))
			found("no-frwr", SAY("device %s cannot be used",
					     json_string_value(json_object_get(dev, "ifname"))),
			      SAY("it has no fast memory registration (FRWR)"),
			      SAY("use another adapter; see devices.md"));
	}
	json_decref(devices);
	free(text);
}

static void check_devices(void)
{
	json_t *names = sys_list("/sys/class/infiniband");

	if (!json_array_size(names))
		found("device-missing", SAY("there is no RDMA device"),
		      SAY("/sys/class/infiniband is empty"),
		      SAY("load the adapter's driver; in a laboratory: systemctl enable --now rpcrdma2-softroce@eth0"));
	else
		check_frwr();
	json_decref(names);
}

/* ---- listeners ---- */

static bool listens(const json_t *lines, const char *class, const char *port)
{
	char want[32];
	json_t *line;
	size_t i;

	snprintf(want, sizeof(want), "%s %s", class, port);
	json_array_foreach(lines, i, line)
		if (!strcmp(json_string_value(line), want))
			return true;
	return false;
}

static void check_listener(const json_t *lines, const char *port)
{
	bool stock = listens(lines, "rdma", port) &&
		     !module_parameter("replace", "Y");

	if (stock)
		found("port-clash", SAY("nfsd has no rpcrdma2 listener on port %s",
					port),
		      SAY("the stock transport uses the port"),
		      SAY("set rdma=n in /etc/nfs.conf, then systemctl restart nfs-server; or use another port"));
	else if (!listens(lines, "rdma2", port) &&
		 !listens(lines, "rdma", port))
		found("listener-missing", SAY("nfsd has no RDMA listener on port %s",
					      port),
		      json_array_size(lines) ?
		      SAY("the unit " LISTENER "%s has not made the listener",
			  port) :
		      SAY("nfsd is not running"),
		      SAY("systemctl status " LISTENER "%s nfs-server", port));
}

static void check_listeners(void)
{
	json_t *ports = listener_ports(), *lines = sys_lines(PORTLIST), *port;
	size_t i;

	json_array_foreach(ports, i, port)
		check_listener(lines, json_string_value(port));
	json_decref(lines);
	json_decref(ports);
}

/* ---- mounts ---- */

static bool fstab_asks_rdma(const json_t *fstab, const char *dir)
{
	json_t *words;
	size_t i;

	json_array_foreach(fstab, i, words) {
		struct mount m = to_mount(words);

		if (!strcmp(m.dir, dir))
			return asks_rdma(&m);
	}
	return false;
}

/* A mount of NFSv4 shares the connection of an earlier one of the same server,
 * whatever it is. What is left of "proto=rdma" is its port.
 */
static void check_mounts(const json_t *fstab, const json_t *mounts)
{
	json_t *words;
	size_t i;

	json_array_foreach(mounts, i, words) {
		struct mount m = to_mount(words);
		bool tcp = has_option(&m, "proto=tcp") ||
			   has_option(&m, "proto=tcp6");

		if (tcp && (fstab_asks_rdma(fstab, m.dir) ||
			    has_option(&m, "port=" NFS_RDMA_PORT)))
			found("mount-on-tcp", SAY("%s on %s goes over TCP",
						  m.source, m.dir),
			      SAY("an earlier NFSv4 mount of this server uses TCP, and both mounts share its connection"),
			      SAY("mount all file systems of this server with proto=rdma, or this one with nosharetransport"));
	}
}

static bool is_mounted(const char *dir)
{
	json_t *lines = sys_lines("/proc/self/mounts"), *line;
	bool yes = false;
	size_t i;

	json_array_foreach(lines, i, line) {
		json_t *words = split(json_string_value(line), " ");

		yes = yes || !strcmp(to_mount(words).dir ?: "", dir);
		json_decref(words);
	}
	json_decref(lines);
	return yes;
}

static void check_fstab(const json_t *fstab)
{
	json_t *nfs = file_for("nfs"), *words;
	bool stock = json_string_value(nfs) &&
		     !strncmp(json_string_value(nfs), "kernel/", 7);
	size_t i;

	json_array_foreach(fstab, i, words) {
		struct mount m = to_mount(words);

		if (strstr(m.options, "rdmaver=") && stock)
			found("rdmaver-unknown", SAY("%s cannot be mounted as /etc/fstab says",
						     m.dir),
			      SAY("the kernel's own NFS modules do not know rdmaver="),
			      SAY("install the package nfs-rdmaver, or leave out rdmaver= and use rpcrdma2 setup replace"));
		else if (asks_rdma(&m) && !has_option(&m, "noauto") &&
			 !is_mounted(m.dir))
			found("not-mounted", SAY("%s is not mounted", m.dir),
			      SAY("/etc/fstab has %s by RDMA there",
				  m.source),
			      SAY("mount %s; if it says \"Connection refused\", there is no listener or no RDMA between the two: rping -s -v there, rping -c -v -C 3 -a SERVER here",
				  m.dir));
	}
	json_decref(nfs);
}

static void check_all_mounts(void)
{
	json_t *fstab = sys_nfs_mounts("/etc/fstab");
	json_t *mounts = sys_nfs_mounts("/proc/self/mounts");

	check_fstab(fstab);
	check_mounts(fstab, mounts);
	json_decref(mounts);
	json_decref(fstab);
}

/* ---- connections ---- */

static const char *text_of(const json_t *conn, const char *name)
{
	return json_string_value(json_object_get(conn, name)) ?: "?";
}

static void check_connection(const json_t *conn)
{
	int version = json_integer_value(json_object_get(conn, "version"));
	int id = json_integer_value(json_object_get(conn, "id"));
	const char *peer = text_of(conn, "peer_address");
	const char *why = text_of(conn, "version_reason_text");

	if (version == 1)
		found("fallback", SAY("connection %d with %s speaks version 1",
				      id, peer),
		      SAY("%s", why),
		      SAY("once the server supports version 2: rpcrdma2 forget %d; rpcrdma2 reconnect %d",
			  id, id));
}

/* Is there a mount of this server that fail_after concerns? @peer is 192.0.2.1:20049 or
 * [2001:db8::1]:20049.
 */
static bool soft_mount(const char *peer)
{
	json_t *mounts = sys_nfs_mounts("/proc/self/mounts"), *words;
	bool six = *peer == '[', yes = false;
	char addr[128];
	size_t i;

	snprintf(addr, sizeof(addr), "addr=%.*s", (int)strcspn(peer + six, six ? "]" : ":"),
		 peer + six);
	json_array_foreach(mounts, i, words) {
		struct mount m = to_mount(words);

		yes = yes || (uses_us(&m) && has_option(&m, addr) &&
			      (has_option(&m, "soft") || has_option(&m, "softerr")));
	}
	json_decref(mounts);
	return yes;
}

/* Settings of a mount that have no effect */
static void check_settings(const json_t *conn)
{
	long long least = json_integer_value(json_object_get(conn, "reconnect_min"));
	long long most = json_integer_value(json_object_get(conn, "reconnect_max"));
	const char *peer = text_of(conn, "peer_address");

	if (most && most < least)
		found("reconnect-range", SAY("delays between attempts to connect to %s do not grow",
					     peer),
		      SAY("reconnect_max %lld is below reconnect_min %lld",
			  most, least),
		      SAY("two entries say so: rpcrdma2 policy show client"));
	if (json_integer_value(json_object_get(conn, "fail_after")) && !soft_mount(peer))
		found("fail-after-hard", SAY("fail_after has no effect on mounts of %s",
					     peer),
		      SAY("none of them has the option soft or softerr"),
		      SAY("mount with softerr, or remove fail_after from the policy"));
}

static void check_connections(void)
{
	struct nl_arg args[] = {
		{ RPCRDMA2_A_CONNECTION_ROLE, ATTR_U32, RPCRDMA2_ROLE_CLIENT,
		  NULL, 0 }, { }
	};
	json_t *conns, *conn;
	size_t i;

	if (!sys_exists(MODULE_DIR) || nl_open())
		return;
	conns = nl_get(RPCRDMA2_CMD_CONN_GET, true, &connection_set, args);
	json_array_foreach(conns, i, conn) {
		check_connection(conn);
		check_settings(conn);
	}
	json_decref(conns);
}

/* There are connections, and this path has never had one. */
static bool never_used(const json_t *path)
{
	return !json_integer_value(json_object_get(path, "bytes")) &&
	       !json_integer_value(json_object_get(path, "connections")) &&
	       json_integer_value(json_object_get(path, "changed")) > 60000;
}

static void check_path(const json_t *path, bool in_use)
{
	const char *mount = text_of(path, "mount"), *server = text_of(path, "server");
	const char *local = json_string_value(json_object_get(path, "local")) ?: "any address";
	const char *state = text_of(path, "state");

	if (!strcmp(state, "refused"))
		found("path-refused", SAY("the path from %s to %s is refused", local, server),
		      SAY("it may lead to another server than %s", mount),
		      SAY("correct the policy, or set it again with trust_paths on if the server cannot say who it is"));
	else if (!strcmp(state, "down"))
		found("path-down", SAY("the path from %s to %s is down", local, server),
		      SAY("%s", strerror(-json_integer_value(json_object_get(path, "reason")))),
		      SAY("check the network: rping -s -v there, rping -c -v -C 3 -a %s here",
			  server));
	else if (in_use && never_used(path))
		found("path-unused", SAY("the path from %s to %s has never been used", local,
					 server),
		      SAY("mounts of %s have fewer connections than paths", mount),
		      SAY("mount with a larger nconnect=, or leave out the path"));
}

static void check_paths(void)
{
	json_t *paths, *path;
	bool in_use = false;
	size_t i;

	if (!sys_exists(MODULE_DIR) || nl_open())
		return;
	paths = get_paths();
	json_array_foreach(paths, i, path)
		in_use |= json_integer_value(json_object_get(path, "connections")) > 0;
	json_array_foreach(paths, i, path)
		check_path(path, in_use);
	json_decref(paths);
}

/* A mount that is being made is not among the mounts yet. */
static void check_connecting(void)
{
	json_t *peers = connecting_peers(), *value;
	const char *peer;

	json_object_foreach(peers, peer, value)
		found("connecting", SAY("there is no connection with %s", peer),
		      SAY("connecting; if this persists, the server does not answer by RDMA and its mounts hang"),
		      SAY("check the listener there: rpcrdma2 doctor; check RDMA between the two: rping -s -v there, rping -c -v -C 3 -a %s here",
			  peer));
	json_decref(peers);
}

/* ---- the kernel's log ---- */

static const struct log_row {
	const char	*id;
	const char	*part;
	const char	*why;
	const char	*todo;
} log_rows[] = {
	{ "log-rdmaver", "nfs: Unknown parameter 'rdmaver'",
	  "the kernel's own NFS modules do not know the mount option rdmaver=",
	  "install the package nfs-rdmaver, or leave out rdmaver= and use rpcrdma2 setup replace" },
	{ "log-rdmaver", "NFS: rdmaver=", "the mount option was not understood",
	  "see mount-option.md" },
	{ "log-in-use", "is in use with another rdmaver= or proto=",
	  "another NFSv4 mount of this server differs in these options",
	  "mount all file systems of this server with the same options" },
	{ "log-no-version", ": not connected, ",
	  "this end and the peer have no version in common",
	  "compare versions in rpcrdma2 policy get, here and there" },
	{ "log-device-memory", "such memory is never copied",
	  "memory of a GPU or another device needs a chunk, which sec=krb5i excludes, sec=krb5p when reading, and some servers",
	  "mount with sec=sys or sec=krb5" },
	{ "log-device-memory", "cannot access the memory of another device",
	  "the RDMA device has no support for P2PDMA",
	  "use an adapter that has, or memory of the host" },
	{ "no-frwr", "has no fast memory registration",
	  "the device has no FRWR", "use another adapter; see devices.md" },
	{ "log-device", " registers only ", "the device cannot be used",
	  "see devices.md" },
	{ "log-device", "entries, too few", "the device cannot be used",
	  "see devices.md" },
	{ "log-device", " refuses ", "the device cannot be used",
	  "see devices.md" },
	{ "log-device", " has no memory for ",
	  "the device, or this machine, has no memory for another queue",
	  "see devices.md" },
	{ "log-stock", "replace=1 is not possible",
	  "the module rpcrdma was loaded at that time",
	  "reboot, or without its mounts and listeners: modprobe -r rpcrdma; modprobe rpcrdma2" },
	{ "log-segments", " takes chunks of at most ",
	  "the server accepts fewer memory segments than the device needs",
	  "mount with rsize= and wsize= up to the logged size" },
	{ "log-silent", "does not respond, connection closed",
	  "the network or the peer was down for longer than silence_seconds",
	  "rping -s -v there, rping -c -v -C 3 -a SERVER here" },
	{ "log-fail-after", "(fail_after), RPCs of soft mounts end",
	  "programs got errors, as fail_after of the policy demands",
	  "check the network; a longer fail_after, or mounts without soft, wait instead" },
	{ "log-other-server", "is not used as a path",
	  "the address may lead to another server",
	  "correct paths in the policy, or trust_paths on if the server cannot tell who it is" },
	{ "log-listener", "lost its address", "the address was taken away",
	  "restore the address, or recreate the listener" },
};

/* The last line that fits tells most. */
static void check_log_row(const struct log_row *row, const json_t *lines)
{
	const char *last = NULL;
	json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
		if (strstr(json_string_value(line), row->part))
			last = json_string_value(line);
	if (last)
		found(row->id, SAY("the kernel's log has \"%s\"", last),
		      SAY("%s", row->why), SAY("%s", row->todo));
}

/* Others log, too. */
static json_t *our_lines(const char *log)
{
	json_t *all = split(log, "\n"), *ours = json_array(), *line;
	size_t i;

	json_array_foreach(all, i, line)
		if (strstr(json_string_value(line), "rpcrdma2: ") ||
		    strcasestr(json_string_value(line), "nfs: "))
			json_array_append(ours, line);
	json_decref(all);
	return ours;
}

static void check_log(void)
{
	const char *argv[] = { "dmesg", NULL };
	char *text = sys_output(argv);
	json_t *lines = our_lines(text);
	size_t i;

	if (!text)
		fputs("rpcrdma2: cannot read the kernel's log; run this command as root\n",
		      stderr);
	for (i = 0; i < ARRAY_SIZE(log_rows); i++)
		check_log_row(&log_rows[i], lines);
	json_decref(lines);
	free(text);
}

/* ---- the command ---- */

static void print_findings(void)
{
	json_t *f;
	size_t i;

	json_array_foreach(findings, i, f)
		printf("%s: %s: %s; %s\n", text_of(f, "id"), text_of(f, "what"),
		       text_of(f, "why"), text_of(f, "do"));
	if (!json_array_size(findings))
		puts("no problems found");
}

/**
 * find_trouble - look at everything
 *
 * Return: an array of objects with "id", "what", "why", "do"
 */
json_t *find_trouble(void)
{
	findings = json_array();
	check_module_file();
	check_module_version();
	check_signature();
	check_stock();
	check_gpudirect();
	check_devices();
	check_listeners();
	check_all_mounts();
	check_connections();
	check_paths();
	check_connecting();
	check_log();
	json_decref(module_files);
	return findings;
}

/**
 * cmd_doctor - what is wrong with this machine
 * @argc: words
 * @argv: doctor
 *
 * Return: exit status: RC_FALLBACK if something is
 */
int cmd_doctor(int argc, char **argv)
{
	int ret;

	(void)argv;
	if (argc > 1)
		return usage_error("doctor");
	find_trouble();
	if (opt_json)
		print_json(findings);
	else
		print_findings();
	ret = json_array_size(findings) ? RC_FALLBACK : RC_OK;
	json_decref(findings);
	return ret;
}
