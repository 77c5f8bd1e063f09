/* SPDX-License-Identifier: GPL-2.0 */
/* Coccinelle silently skips a function if it cannot parse a macro there. */
#define scoped_guard(...)	if (1)
