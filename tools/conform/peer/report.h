/* SPDX-License-Identifier: GPL-2.0 */
/* What was run, for readers: text, JSON, HTML. */
#ifndef _CONFORM_REPORT_H
#define _CONFORM_REPORT_H

#include <stdio.h>

#include "run.h"

const char *report_level(const struct rp_case *c);

void report_text(FILE *f, const struct run *runs);
void report_json(FILE *f, const struct run *runs);
void report_html(FILE *f, const struct run *runs);

#endif /* _CONFORM_REPORT_H */
