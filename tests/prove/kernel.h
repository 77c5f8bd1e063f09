/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What both provers give the pure files in the place of the kernel's headers.
 */
#ifndef _PROVE_KERNEL_H
#define _PROVE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define EPERM		1
#define EBUSY		16
#define EINVAL		22
#define EBADMSG		74
#define EMSGSIZE	90
#define EOPNOTSUPP	95

#define noinline_for_stack

#define BIT(n)			(1UL << (n))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define WRITE_ONCE(x, v)	((x) = (v))

#endif /* _PROVE_KERNEL_H */
