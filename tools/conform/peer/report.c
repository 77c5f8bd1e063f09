// SPDX-License-Identifier: GPL-2.0
/*
 * Reports: for each case what it rests on, what was expected, what went over
 * the wire, and the verdict.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "basis.h"
#include "report.h"

static const char *verdict(const struct run *r)
{
	switch (r->status) {
	case RUN_PASSED:
		return "passed";
	case RUN_SKIPPED:
		return "skipped";
	default:
		return "failed";
	}
}

const char *report_level(const struct rp_case *c)
{
	static const char * const names[] = {
		[MUST] = "must", [SHOULD] = "should",
		[DECISION] = "decision", [TROUBLE] = "trouble",
	};

	return names[c->basis & LEVEL];
}

static const char *way(const struct run_msg *m)
{
	static const char * const names[] = {
		[RP_SENT] = "sent", [RP_GOT] = "received",
		[RP_WROTE] = "RDMA write", [RP_READ] = "RDMA read",
	};

	return names[m->way];
}

/* The next id of a list with commas; false at its end */
static bool next_id(const char **ids, char *id, size_t size)
{
	size_t n = strcspn(*ids, ",");

	if (!n)
		return false;
	snprintf(id, size, "%.*s", (int)n, *ids);
	*ids += n;
	*ids += **ids == ',';
	return true;
}

static const struct basis *find(const char *id)
{
	const struct basis *b;

	for (b = basis; b->id && strcmp(b->id, id);)
		b++;
	return b->id ? b : NULL;
}

/* Messages in their order; *lost is how many are missing in front of one. */
static const struct run_msg *message(const struct run_log *log, unsigned int i,
				     unsigned int *lost)
{
	unsigned int tail = log->n > RUN_HEAD ? log->n - RUN_HEAD : 0;

	*lost = 0;
	if (i < RUN_HEAD)
		return i < log->n ? &log->msg[i] : NULL;
	i -= RUN_HEAD;
	if (tail <= RUN_TAIL)
		return i < tail ? &log->msg[RUN_HEAD + i] : NULL;
	if (!i)
		*lost = tail - RUN_TAIL;
	return i < RUN_TAIL ?
	       &log->msg[RUN_HEAD + (tail + i) % RUN_TAIL] : NULL;
}

static void hex(FILE *f, const struct run_msg *m, const char *newline)
{
	unsigned int i, n = m->len < RUN_BYTES ? m->len : RUN_BYTES;

	for (i = 0; i < n; i++) {
		if (i && i % 32 == 0)
			fputs(newline, f);
		else if (i && i % 4 == 0)
			fputc(' ', f);
		fprintf(f, "%02x", m->bytes[i]);
	}
}

/* As lines of text, in HTML those of <pre> */
static void put_messages(FILE *f, const struct run_log *log, bool html)
{
	const char *newline = html ? "\n" : "\n    ";
	const char *indent = html ? "" : "  ";
	const struct run_msg *m;
	unsigned int i, lost;

	for (i = 0; (m = message(log, i, &lost)); i++) {
		if (lost)
			fprintf(f, "%s... %u more ...\n", indent, lost);
		fprintf(f, "%s%s%u ms, connection %u, %s %u bytes%s%s", indent,
			html ? "<b>" : "", m->ms, m->conn, way(m), m->len,
			html ? "</b>" : "", newline);
		hex(f, m, newline);
		fprintf(f, "%s\n", m->len > RUN_BYTES ? " ..." : "");
	}
}

/* ---- text ---- */

static void text_case(FILE *f, const struct run *r)
{
	const char *ids = r->c->ids;
	const struct basis *b;
	char id[16];

	fprintf(f, "%s: %s\n", r->c->name, verdict(r));
	fprintf(f, "  level: %s\n  expected: %s\n", report_level(r->c),
		r->c->text);
	if (r->log->why[0])
		fprintf(f, "  reason: %s\n", r->log->why);
	if (r->log->wanted[0])
		fprintf(f, "  bytes expected: %s\n", r->log->wanted);
	while (next_id(&ids, id, sizeof(id))) {
		b = find(id);
		if (b)
			fprintf(f, "  %s (%s; %s)\n      %s\n", id, b->level,
				b->section, b->says);
	}
	put_messages(f, r->log, false);
	fputc('\n', f);
}

void report_text(FILE *f, const struct run *runs)
{
	const struct run *r;

	for (r = runs; r; r = r->next)
		text_case(f, r);
}

/* ---- JSON ---- */

static void json_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		if ((unsigned char)*s < ' ')
			fprintf(f, "\\u%04x", *s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static void json_member(FILE *f, const char *name, const char *value)
{
	fprintf(f, "\"%s\": ", name);
	json_string(f, value);
	fputs(", ", f);
}

static void json_basis(FILE *f, const struct rp_case *c)
{
	const char *ids = c->ids, *comma = "";
	const struct basis *b;
	char id[16];

	fputs("\"basis\": [", f);
	while (next_id(&ids, id, sizeof(id))) {
		b = find(id);
		if (!b)
			continue;
		fprintf(f, "%s\n      { ", comma);
		json_member(f, "id", id);
		json_member(f, "level", b->level);
		json_member(f, "section", b->section);
		fputs("\"says\": ", f);
		json_string(f, b->says);
		fputs(" }", f);
		comma = ",";
	}
	fputs("],\n    ", f);
}

static void json_messages(FILE *f, const struct run_log *log)
{
	const struct run_msg *m;
	unsigned int i, lost;

	fputs("\"messages\": [", f);
	for (i = 0; (m = message(log, i, &lost)); i++) {
		fprintf(f, "%s\n      { \"ms\": %u, \"connection\": %u, ",
			i ? "," : "", m->ms, m->conn);
		if (lost)
			fprintf(f, "\"missing_before\": %u, ", lost);
		json_member(f, "way", way(m));
		fprintf(f, "\"length\": %u, \"bytes\": \"", m->len);
		hex(f, m, " ");
		fputs("\" }", f);
	}
	fputs("]", f);
}

void report_json(FILE *f, const struct run *runs)
{
	const struct run *r;

	fputs("{ \"cases\": [", f);
	for (r = runs; r; r = r->next) {
		fprintf(f, "%s\n  { ", r == runs ? "" : ",");
		json_member(f, "name", r->c->name);
		json_member(f, "group", r->c->group);
		json_member(f, "level", report_level(r->c));
		json_member(f, "expected", r->c->text);
		json_member(f, "verdict", verdict(r));
		json_member(f, "reason", r->log->why);
		if (r->log->wanted[0])
			json_member(f, "bytes_expected", r->log->wanted);
		fprintf(f, "\"milliseconds\": %u,\n    ", r->ms);
		json_basis(f, r->c);
		json_messages(f, r->log);
		fputs(" }", f);
	}
	fputs("\n] }\n", f);
}

/* ---- HTML ---- */

static void html_string(FILE *f, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		default:
			fputc(*s, f);
		}
	}
}

static void html_basis(FILE *f, const struct rp_case *c)
{
	const char *ids = c->ids;
	const struct basis *b;
	char id[16];

	fputs("<ul>", f);
	while (next_id(&ids, id, sizeof(id))) {
		b = find(id);
		if (!b)
			continue;
		fprintf(f, "<li><b>%s</b> (", id);
		html_string(f, b->level);
		fputs("; ", f);
		html_string(f, b->section);
		fputs("): ", f);
		html_string(f, b->says);
		fputs("</li>", f);
	}
	fputs("</ul>", f);
}

void report_html(FILE *f, const struct run *runs)
{
	unsigned int passed = 0, failed = 0, skipped = 0;
	const struct run *r;

	for (r = runs; r; r = r->next) {
		passed += r->status == RUN_PASSED;
		failed += r->status == RUN_FAILED;
		skipped += r->status == RUN_SKIPPED;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<title>rpcrdma2-conform</title>\n<style>"
	      "body{font-family:sans-serif;max-width:70em;margin:2em auto}"
	      ".failed{color:#b00020}.skipped{color:#707070}"
	      "pre{background:#f4f4f4;padding:.5em;overflow:auto}"
	      "summary{cursor:pointer;padding:.2em 0}"
	      "</style></head><body>\n", f);
	fprintf(f, "<h1>rpcrdma2-conform</h1><p>%u passed, %u failed, %u skipped</p>\n",
		passed, failed, skipped);
	for (r = runs; r; r = r->next) {
		fprintf(f, "<details><summary><b class=\"%s\">%s</b> [%s] %s: ",
			verdict(r), verdict(r), report_level(r->c),
			r->c->name);
		html_string(f, r->c->text);
		if (r->log->why[0]) {
			fputs(" (", f);
			html_string(f, r->log->why);
			fputs(")", f);
		}
		fputs("</summary>", f);
		html_basis(f, r->c);
		if (r->log->wanted[0])
			fprintf(f, "<p>Expected:</p><pre>%s</pre>",
				r->log->wanted);
		fputs("<pre>", f);
		put_messages(f, r->log, true);
		fputs("</pre></details>\n", f);
	}
	fputs("</body></html>\n", f);
}
