/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the pure files, those of this directory, need from the kernel: types, macros and
 * unaligned words. Tests in user space have a file of the same name in the place of this
 * one, so that the same sources are built into the module, into its KUnit suite, and into
 * programs under sanitizers.
 *
 * The pure files call no kernel service, take no lock and allocate
 * nothing; every function is a function of its arguments. They may be
 * called in any context.
 */
#ifndef _RPCRDMA2_PORTABLE_H
#define _RPCRDMA2_PORTABLE_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include "compat.h"

#endif /* _RPCRDMA2_PORTABLE_H */
