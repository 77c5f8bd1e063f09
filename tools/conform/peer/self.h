/* SPDX-License-Identifier: GPL-2.0 */
/* The encoder's own test, needs no RDMA. Returns the exit status. */
#ifndef _CONFORM_SELF_H
#define _CONFORM_SELF_H

int rp_self(void);

#endif /* _CONFORM_SELF_H */
