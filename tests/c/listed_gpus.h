/* The list of a sample machine's GPUs, and what tests ask of it. */
#ifndef TESTS_LISTED_GPUS_H
#define TESTS_LISTED_GPUS_H

#include <stddef.h>

#include "rocm_sdk/rocm_sdk.h"
#include "sample_topology.h"

/* Node 1 a dGPU, 2 an APU, 3 another dGPU whose render node is not there. */
void make_mixed_machine(sample_gpu_fixture *f);

void read_with(sample_gpu_fixture *f, const rsdk_gpu_environment *environment);

const rsdk_gpu *gpu_at(sample_gpu_fixture *f, size_t index);
const rsdk_gpu *only_gpu(sample_gpu_fixture *f, const rsdk_gpu_environment *environment);

/* The only problem, which has this code. */
const rsdk_gpu_problem *only_problem(sample_gpu_fixture *f, rsdk_code code);

void assert_contains(const char *text, const char *part);

#endif
