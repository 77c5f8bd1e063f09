/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before every file of a module that is built for fuzzing: what the compiler
 * calls by this name, with -fsanitize-coverage=trace-pc, is tests/module/rpcrdma2_cover.c.
 */
asm(".set __sanitizer_cov_trace_pc, rpcrdma2_cover");
