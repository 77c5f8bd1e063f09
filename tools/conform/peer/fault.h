/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults of the module's device. Needs a kernel with fault injection.
 */
#ifndef _CONFORM_FAULT_H
#define _CONFORM_FAULT_H

/* The next post to a send queue fails, and no other. */
void next_post_fails(void);
/* It was this one. */
void has_failed(void);

#endif /* _CONFORM_FAULT_H */
