// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the unit tests in user space and prints KTAP. "--list" prints the
 * tests and the requirement ids they cover instead. Arguments name the only
 * tests to run: SUITE or SUITE.NAME.
 */

#include "unit.h"

static struct kunit_suite * const suites[] = {
	RPCRDMA2_SUITES(RPCRDMA2_POINTER)
};

static unsigned int passed, failed;

void kunit_fail(struct kunit *test, const char *file, int line,
		const char *what, long long left, long long right)
{
	test->failed = true;
	printf("    # %s: %s:%d: expected %s, have %lld (0x%llx) and %lld (0x%llx)\n",
	       test->name, file, line, what, left, left, right, right);
}

void kunit_streq(struct kunit *test, const char *file, int line, const char *left,
		 const char *right)
{
	if (!strcmp(left, right))
		return;
	test->failed = true;
	printf("    # %s: %s:%d: expected \"%s\", have \"%s\"\n", test->name, file, line,
	       right, left);
}

void *kunit_kmalloc(struct kunit *test, size_t size, int gfp)
{
	void *p = malloc(size);

	(void)gfp;
	if (!p || test->nallocs == KUNIT_MAX_ALLOCS)
		abort();
	test->alloc[test->nallocs++] = p;
	return p;
}

void kunit_kfree(struct kunit *test, const void *p)
{
	unsigned int i;

	for (i = test->nallocs; i--;) {
		if (test->alloc[i] != p)
			continue;
		free(test->alloc[i]);
		test->alloc[i] = test->alloc[--test->nallocs];
		return;
	}
	abort();
}

/* The arguments; without any, everything is wanted. */
static char **names;

static bool wanted(const struct kunit_suite *suite,
		   const struct kunit_case *c)
{
	size_t len = strlen(suite->name);
	char **name;

	for (name = names; *name; name++) {
		size_t rest = strcspn(c->name, ".");

		if (strncmp(*name, suite->name, len))
			continue;
		if (!(*name)[len])
			return true;
		if ((*name)[len] == '.' && strlen(*name + len + 1) == rest &&
		    !strncmp(*name + len + 1, c->name, rest))
			return true;
	}
	return !names[0];
}

static unsigned int count_cases(const struct kunit_suite *suite)
{
	const struct kunit_case *c;
	unsigned int n = 0;

	for (c = suite->test_cases; c->run_case; c++)
		n += wanted(suite, c);
	return n;
}

static bool run_case(const struct kunit_suite *suite, const struct kunit_case *c,
		     unsigned int number)
{
	struct kunit test = { .name = c->name };
	unsigned int i;

	if (suite->init && suite->init(&test))
		abort();
	c->run_case(&test);
	for (i = 0; i < test.nallocs; i++)
		free(test.alloc[i]);
	printf("    %sok %u %s\n", test.failed ? "not " : "", number, c->name);
	return !test.failed;
}

static void run_suite(const struct kunit_suite *suite, unsigned int number)
{
	const struct kunit_case *c;
	unsigned int n = 0;
	bool ok = true;

	printf("    KTAP version 1\n    # Subtest: %s\n    1..%u\n",
	       suite->name, count_cases(suite));
	for (c = suite->test_cases; c->run_case; c++) {
		if (!wanted(suite, c))
			continue;
		if (run_case(suite, c, ++n)) {
			passed++;
		} else {
			failed++;
			ok = false;
		}
	}
	printf("%sok %u %s\n", ok ? "" : "not ", number, suite->name);
}

/* "suite.name ID ID ...": for the table of what is covered */
static void list_suite(const struct kunit_suite *suite)
{
	const struct kunit_case *c;
	const char *p;

	for (c = suite->test_cases; c->run_case; c++) {
		p = strchr(c->name, '.');
		printf("%s.%.*s ", suite->name, (int)(p - c->name), c->name);
		for (p++; *p; p++)
			putchar(*p == ',' ? ' ' : *p);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	unsigned int i, n = 0;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (i = 0; i < ARRAY_SIZE(suites); i++)
			list_suite(suites[i]);
		return 0;
	}

	names = argv + 1;
	for (i = 0; i < ARRAY_SIZE(suites); i++)
		n += !!count_cases(suites[i]);
	printf("KTAP version 1\n1..%u\n", n);
	for (i = 0, n = 0; i < ARRAY_SIZE(suites); i++)
		if (count_cases(suites[i]))
			run_suite(suites[i], ++n);
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed || !passed;
}
