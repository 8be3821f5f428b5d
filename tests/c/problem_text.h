/* The words of an error, for tests: in a buffer that the next call overwrites. */
#ifndef TESTS_PROBLEM_TEXT_H
#define TESTS_PROBLEM_TEXT_H

#include "rocm_sdk/gpu.h"
#include "rocm_sdk/problem.h"

/* "CODE title: cause" and the fix of an error; `sdk` may be NULL. "" when out of memory. */
const char *problem_text_of(const rsdk_error *error, rsdk_sdk *sdk);
const char *problem_fix_of(const rsdk_error *error, rsdk_sdk *sdk);

/* The fix of a problem with a GPU. */
const char *problem_fix_of_gpu(const rsdk_gpu_problem *problem);

#endif
