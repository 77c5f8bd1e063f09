/* SPDX-License-Identifier: GPL-2.0 */
/* A MOUNT server (TCP, version 3) for the mounts of a case. */
#ifndef _CONFORM_MOUNTD_H
#define _CONFORM_MOUNTD_H

/* A process that ends with its parent; the port is that behind rp_opt.port. */
void mountd_start(void);

#endif /* _CONFORM_MOUNTD_H */
