/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Puts other names into a text for addresses, hosts and paths, the same name for the
 * same thing as long as the program runs.
 */
#ifndef _ANONYMIZE_H
#define _ANONYMIZE_H

void anonymize_host(const char *name);
void anonymize_source(const char *source);
void anonymize_dir(const char *path);
char *anonymize(const char *text);

#endif /* _ANONYMIZE_H */
