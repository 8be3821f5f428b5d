/* A machine for tests: files below a temporary directory as the kernel has them in /sys and /dev. */
#ifndef TESTS_SAMPLE_TOPOLOGY_H
#define TESTS_SAMPLE_TOPOLOGY_H

#include <stdint.h>

#include "base/arena.h"
#include "rocm_sdk/gpu.h"

#define TOPOLOGY "sys/class/kfd/kfd/topology"

typedef struct sample_machine {
    char root[64];
    rsdk_arena *texts; /* what sample_machine_path gave out */
} sample_machine;

/* A GPU's node. What is 0 is written as 0, but for the defaults that are named. */
typedef struct sample_gpu {
    unsigned node;
    unsigned version;   /* gfx_target_version */
    unsigned device_id; /* 0: 0x744c */
    unsigned location;  /* location_id; 0: bus `node` */
    unsigned domain;
    unsigned render_minor; /* 0: 128 + node */
    uint64_t unique_id, hive_id;
    uint64_t memory; /* bytes, in two banks, public and private */
    unsigned capability;
    unsigned num_xcc;
    unsigned cpu_cores; /* an APU of old kernels: one node for both */
} sample_gpu;

/* A machine with an amdgpu driver, an empty topology and /dev/kfd. Failures end the test program: nothing can be tested
 * then. */
sample_machine sample_machine_new(void);
void sample_machine_remove(const sample_machine *machine);

/* "ROOT/NAME"; valid until the machine is removed. */
const char *sample_machine_path(const sample_machine *machine, const char *name);

void sample_machine_file(const sample_machine *machine, const char *name, const char *text); /* with its directories */
void sample_machine_delete(const sample_machine *machine, const char *name); /* a file or a whole tree */

void sample_machine_cpu(const sample_machine *machine, unsigned node);
void sample_machine_gpu(const sample_machine *machine, const sample_gpu *gpu); /* and its render node */

/* What a test of a machine's GPUs works with. Set-up and teardown of a cmocka test: *state is the fixture. */
typedef struct sample_gpu_fixture {
    sample_machine machine;
    rsdk_gpu_list *list;
    rsdk_error error;
} sample_gpu_fixture;

int sample_gpu_fixture_make(void **state); /* a machine with a CPU as node 0 */
int sample_gpu_fixture_free(void **state);

#endif
