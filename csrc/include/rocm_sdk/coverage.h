/* The libraries of an installation that have code for GPUs.
 *
 *     const char *directories[] = {"/opt/rocm"}, *gpus[] = {"gfx1151"};
 *     rsdk_coverage_options options = {.directories = directories, .directory_count = 1, .gpus = gpus, .gpu_count = 1};
 *     rsdk_coverage *coverage = NULL;
 *     if (rsdk_coverage_read(&options, &coverage, &error) != RSDK_OK) { puts(rsdk_error_message(&error)); }
 *     for (size_t i = 0; i < coverage->library_count; i++) {
 *         puts(rsdk_coverage_verdict_name(coverage->libraries[i].gpus[0].verdict));
 *     }
 *     rsdk_coverage_free(coverage);
 *
 * The files are judged, not the metadata of packages. Only their headers, and the tables of kernels, are read; nothing
 * is loaded. */
#ifndef ROCM_SDK_COVERAGE_H
#define ROCM_SDK_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rocm_sdk/compatibility.h"
#include "rocm_sdk/device_code.h"
#include "rocm_sdk/error.h"
#include "rocm_sdk/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fit of the code that a library has for a GPU; a greater value is better. */
typedef enum rsdk_coverage_verdict {
    RSDK_COVERAGE_NONE,
    RSDK_COVERAGE_BEST_EFFORT, /* code for another processor, which patched runtimes try */
    RSDK_COVERAGE_COMPILED,    /* the kernels are compiled at first use */
    RSDK_COVERAGE_GENERIC,
    RSDK_COVERAGE_COMPATIBLE,
    RSDK_COVERAGE_EXACT,
    RSDK_COVERAGE_NOT_NEEDED, /* the library has no GPU code of its own, for any GPU */
} rsdk_coverage_verdict;

/* The reason why a library has no code, or not all of its code, for a GPU. */
typedef enum rsdk_coverage_lack {
    RSDK_LACK_NOTHING,
    RSDK_LACK_PROCESSOR,       /* there is code, for other processors */
    RSDK_LACK_MODE,            /* there is code for the processor, for another mode of sramecc or xnack */
    RSDK_LACK_GENERIC_VERSION, /* the code for its generic target is too old */
    RSDK_LACK_INDEX, /* there are kernels, and no list of kernels that names the processor; `detail`: the list that does
                        not, where the library needs that one in part only */
    RSDK_LACK_ARCHIVE, /* the kpack archive that the library names is not there: `detail` */
    RSDK_LACK_KERNELS, /* the archive has no kernels of this library for it: `detail` */
    RSDK_LACK_UNNAMED, /* loose files, whose names say nothing of GPUs, have code for other processors, and there is
                        * more than such files */
} rsdk_coverage_lack;

/* The kernels that a library's tables (Tensile's) have for a GPU. rocBLAS and hipBLASLt look their kernels up in the
 * tables, so code by itself is of no use. A greater value is better. */
typedef enum rsdk_kernel_tables {
    RSDK_KERNEL_TABLES_UNKNOWN,  /* the library has none, or none that can be read */
    RSDK_KERNEL_TABLES_NONE,     /* no row fits the GPU */
    RSDK_KERNEL_TABLES_FALLBACK, /* the rows for any GPU alone, whose kernels are slow */
    RSDK_KERNEL_TABLES_TUNED,
} rsdk_kernel_tables;

/* A library on one GPU. */
typedef struct rsdk_gpu_coverage {
    const char *gpu;               /* the GPU's target id, as it was given */
    rsdk_coverage_verdict verdict; /* the worst of the bundles that have code for the GPU */
    rsdk_coverage_lack lack;       /* the reason, with RSDK_COVERAGE_NONE, and where a part has none */
    size_t covered, total;         /* bundles that have code for the GPU, and all; loose files together count once */
    const char *const
        *uncovered_modes; /* the GPU's mode is open, and nothing runs in these: "gfx90a:sramecc+:xnack+" */
    size_t uncovered_mode_count;
    const char *detail; /* a path; NULL: none */
    rsdk_kernel_tables tables;
    const char *missing_table; /* a file that the tables lead to and that is not there; NULL: none */
    size_t late; /* bundles whose kernels are not in the first archive for the target: a HIP that does not go on to the
                    next archive does not find them */
    rsdk_feature database; /* a performance database for the GPU is there; unsupported: the library uses none */
} rsdk_gpu_coverage;

/* The files of a library: the shared object, its variants for single targets, its loose files. */
typedef struct rsdk_library_coverage {
    const char *name;         /* "rocsparse" of librocsparse.so.1 */
    const char *const *files; /* files with code; the shared object, first, in any case */
    size_t file_count;
    uint64_t size;                     /* bytes of these files */
    uint64_t stored_size;              /* bytes of their code, as it lies in the files */
    uint64_t plain_size;               /* bytes of their code, decompressed */
    size_t compressed_count;           /* the number of bundles that are compressed */
    const rsdk_device_target *targets; /* sorted by the numbers of their names: gfx90a, gfx1030 */
    size_t target_count;
    const rsdk_gpu_coverage *gpus; /* the coverage for each GPU, in their order */
    size_t gpu_count;
} rsdk_library_coverage;

/* A target that files have code for. */
typedef struct rsdk_covered_target {
    const char *target;
    uint64_t size; /* bytes of its images, decompressed */
    size_t image_count;
    bool is_used; /* true: one of the GPUs officially uses it; without GPUs, always */
} rsdk_covered_target;

/* A file that could not be read. */
typedef struct rsdk_coverage_fault {
    const char *path, *message;
    rsdk_code code;
} rsdk_coverage_fault;

/* All is borrowed from it. */
typedef struct rsdk_coverage {
    const rsdk_library_coverage *libraries; /* sorted by name */
    size_t library_count;
    const rsdk_covered_target *targets; /* sorted by number */
    size_t target_count;
    const rsdk_coverage_fault *faults;
    size_t fault_count;
    uint64_t file_count; /* files that were looked at */
} rsdk_coverage;

typedef struct rsdk_coverage_options {
    const char *const *directories; /* searched with all below them; links to directories are not followed */
    size_t directory_count;
    const char *const *gpus; /* target ids as rsdk_gpu.target; "gfx90a" stands for a GPU in any mode */
    size_t gpu_count;
    unsigned patches;              /* patches of the runtime, RSDK_PATCHES_*; 0: as AMD's */
    bool without_spirv;            /* SPIR-V does not count: the runtime's comgr does not translate it */
    const char *kpack_path;        /* ROCM_KPACK_PATH: the archives, in place of the ones that libraries name; NULL */
    const char *kpack_disable;     /* ROCM_KPACK_DISABLE: where it says so, no archive is used; NULL */
    const char *kpack_path_prefix; /* ROCM_KPACK_PATH_PREFIX: archives that are tried first; NULL */
} rsdk_coverage_options;

/* Judge the files of `options`. A file that cannot be read is a fault, not a failure. RSDK_IO_ERROR if a directory
 * cannot be listed, or is deeper or larger than any installation; RSDK_FILE_NOT_FOUND if a given directory is not
 * there; RSDK_BAD_ARGUMENT if a GPU is not a target id. */
rsdk_status rsdk_coverage_read(const rsdk_coverage_options *options, rsdk_coverage **coverage, rsdk_error *error);
void rsdk_coverage_free(rsdk_coverage *coverage); /* NULL is allowed */

/* Return the value as a word: "exact", "compatible", "generic", "compiled at first use", "best effort", "none", "not
 * needed"; "processor", "mode", "generic version", "index", "archive", "kernels", "nothing". */
const char *rsdk_coverage_verdict_name(rsdk_coverage_verdict verdict);
const char *rsdk_coverage_lack_name(rsdk_coverage_lack lack);

/* Return the value as a word: "unknown", "none", "fallback", "tuned". */
const char *rsdk_kernel_tables_name(rsdk_kernel_tables tables);

#ifdef __cplusplus
}
#endif
#endif
