/* The common parts of the checks of a machine's GPUs: the reading of attributes, and the place of findings. */
#ifndef RSDK_GPU_EXAMINER_H
#define RSDK_GPU_EXAMINER_H

#include "base/fail.h"
#include "gpu/problem_list.h"

enum { RSDK_EXAMINER_TEXT_SIZE = 4097 };

struct rsdk_health {
    rsdk_arena arena; /* holds the result itself too */
    RSDK_LIST(rsdk_health_item) items;
};

typedef struct rsdk_examiner {
    rsdk_health *health;
    const rsdk_gpu_list *list;
    const char *root;      /* without '/' at its end */
    const char *check;     /* the row that is at work */
    const rsdk_gpu *gpu;   /* NULL: the machine */
    const char *device;    /* the GPU's PCI directory */
    bool is_asleep;        /* nothing else of this GPU is read */
    bool is_out_of_memory; /* a path could not be written */
    char text[RSDK_EXAMINER_TEXT_SIZE];
    size_t length;
} rsdk_examiner;

/* Write a text that lives as long as the result; NULL out of memory, which is remembered. */
const char *rsdk_examiner_write(rsdk_examiner *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

rsdk_status rsdk_examiner_add(rsdk_examiner *x, rsdk_health_state state, const char *text,
                              const rsdk_gpu_problem *problem, rsdk_error *error);
rsdk_status rsdk_examiner_add_bad(rsdk_examiner *x, rsdk_code code, const char *path, const char *text,
                                  const rsdk_fact *facts, rsdk_error *error);

/* Read a file below `directory`; *path is its whole name. Return 0 or the reason. */
int rsdk_examiner_read(rsdk_examiner *x, const char *directory, const char *name, const char **path);
bool rsdk_examiner_read_number(rsdk_examiner *x, const char *directory, const char *name, uint64_t *number);

/* Cut the text to its first line, which is the whole content of most attributes. */
void rsdk_examiner_cut_line(rsdk_examiner *x);

/* ---- the checks ---- */

/* Check a GPU. The first check says whether the others may be asked. */
rsdk_status rsdk_health_check_power(rsdk_examiner *x, rsdk_error *error);
rsdk_status rsdk_health_check_kernel(rsdk_examiner *x, rsdk_error *error);
rsdk_status rsdk_health_check_firmware(rsdk_examiner *x, rsdk_error *error);
rsdk_status rsdk_health_check_memory(rsdk_examiner *x, rsdk_error *error);
rsdk_status rsdk_health_check_bar(rsdk_examiner *x, rsdk_error *error);
rsdk_status rsdk_health_check_atomics(rsdk_examiner *x, rsdk_error *error);
rsdk_status rsdk_health_check_errors(rsdk_examiner *x, rsdk_error *error);

/* Check the machine. */
rsdk_status rsdk_health_check_bus(rsdk_examiner *x, rsdk_error *error);
rsdk_status rsdk_health_check_iommu(rsdk_examiner *x, rsdk_error *error);

#endif
