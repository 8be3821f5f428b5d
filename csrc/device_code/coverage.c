/* Groups the files of an installation into libraries, and judges each library for each GPU. */
#include "rocm_sdk/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "device_code/code_survey.h"
#include "device_code/coverage_verdict.h"
#include "device_code/table_survey.h"

enum { GPU_LIMIT = 256 };

/* The result, with the memory that it consists of. */
typedef struct owned_coverage {
    rsdk_coverage coverage; /* first: the caller's pointer is to it */
    rsdk_arena arena;
} owned_coverage;

/* ---- the result ---- */

static int compare_libraries(const void *a, const void *b) {
    return strcmp(((const rsdk_library_coverage *)a)->name, ((const rsdk_library_coverage *)b)->name);
}

static rsdk_status take_by_kind(rsdk_survey *s, const rsdk_code_file *file) {
    switch (file->kind) {
    case RSDK_CODE_FILE_LIBRARY:
    case RSDK_CODE_FILE_LOOSE:
    case RSDK_CODE_FILE_ARCHIVE:
        return rsdk_survey_take_code(s, file);
    case RSDK_CODE_FILE_INDEX:
    case RSDK_CODE_FILE_TARGETS:
        return rsdk_survey_take_tables(s, file);
    case RSDK_CODE_FILE_DATABASE:
        return rsdk_survey_take_database(s, file);
    case RSDK_CODE_FILE_TABLE:
        break;
    }
    return RSDK_OK;
}

static rsdk_status read_files(rsdk_survey *s, rsdk_coverage *coverage) {
    rsdk_code_files files = {0};
    if (s->options->gpu_count > GPU_LIMIT) {
        return rsdk_fail(s->error, RSDK_BAD_ARGUMENT, NULL, "more than %d GPUs were named", GPU_LIMIT);
    }
    for (size_t i = 0; i < s->options->gpu_count; i++) {
        RSDK_TRY(rsdk_gpu_modes_add(&s->table.modes, s->arena, i, s->options->gpus[i], s->error));
    }
    RSDK_TRY(rsdk_fit_table_init(&s->table, s->error));
    s->fits = rsdk_arena_alloc(s->arena, s->table.modes.count + 1, sizeof *s->fits);
    RSDK_NEED(s->fits, s->error);
    for (size_t i = 0; i < s->options->directory_count; i++) {
        RSDK_TRY(rsdk_code_files_collect(s->options->directories[i], s->arena, &files, s->error));
    }
    for (size_t i = 0; i < files.list.count; i++) {
        if (files.list.items[i].kind == RSDK_CODE_FILE_TABLE) {
            RSDK_TRY(rsdk_survey_note_table(s, &files.list.items[i]));
        }
    }
    for (size_t i = 0; i < files.list.count; i++) {
        RSDK_TRY(take_by_kind(s, &files.list.items[i]));
    }
    coverage->file_count = files.list.count;
    /* Judge the libraries, without those that have nothing but a list of kernels or a database. */
    rsdk_library_coverage *libraries = rsdk_arena_alloc(s->arena, s->libraries.count + 1, sizeof *libraries);
    RSDK_NEED(libraries, s->error);
    for (size_t i = 0; i < s->libraries.count; i++) {
        const rsdk_surveyed_library *of = &s->libraries.items[i];
        s->has_named_code = s->has_named_code || (of->sums.list.count > 0 && !rsdk_survey_is_unnamed(of));
    }
    for (size_t i = 0; i < s->libraries.count; i++) {
        rsdk_surveyed_library *of = &s->libraries.items[i];
        RSDK_TRY(rsdk_survey_judge(s, of));
        if (of->files.count > 0) {
            libraries[coverage->library_count++] = of->shown;
        }
    }
    qsort(libraries, coverage->library_count, sizeof *libraries, compare_libraries);
    coverage->libraries = libraries;
    rsdk_covered_target *targets = rsdk_arena_alloc(s->arena, s->sums.list.count + 1, sizeof *targets);
    RSDK_NEED(targets, s->error);
    rsdk_target_sums_sort(&s->sums);
    for (size_t i = 0; i < s->sums.list.count; i++) {
        const rsdk_device_target *sum = &s->sums.list.items[i];
        targets[i] = (rsdk_covered_target){sum->target, sum->size, sum->image_count, s->table.modes.count == 0};
        for (size_t k = 0; k < s->table.modes.count && !targets[i].is_used; k++) {
            targets[i].is_used =
                rsdk_compatibility_check(sum->target, RSDK_GENERIC_VERSION_UNKNOWN, s->table.modes.items[k].id, 0)
                    .fit != RSDK_FIT_NONE;
        }
    }
    coverage->targets = targets;
    coverage->target_count = s->sums.list.count;
    coverage->faults = s->faults.items;
    coverage->fault_count = s->faults.count;
    return RSDK_OK;
}

rsdk_status rsdk_coverage_read(const rsdk_coverage_options *options, rsdk_coverage **coverage, rsdk_error *error) {
    const char *disabled = options->kpack_disable;
    *coverage = NULL;
    owned_coverage *owned = calloc(1, sizeof *owned);
    if (owned == NULL) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_survey s = {
        .options = options,
        .arena = &owned->arena,
        .table = {.arena = &owned->arena, .patches = options->patches, .without_spirv = options->without_spirv},
        .archives = {.arena = &owned->arena,
                     .is_disabled = disabled != NULL && disabled[0] != '\0' && disabled[0] != '0',
                     .only = options->kpack_path,
                     .first = options->kpack_path_prefix,
                     .error = error},
        .error = error};
    rsdk_status status = read_files(&s, &owned->coverage);
    rsdk_arena_clear(&s.scratch);
    if (status == RSDK_OK) {
        *coverage = &owned->coverage;
    } else {
        rsdk_coverage_free(&owned->coverage);
    }
    return status;
}

void rsdk_coverage_free(rsdk_coverage *coverage) {
    owned_coverage *owned = (owned_coverage *)(void *)coverage;
    if (owned != NULL) {
        rsdk_arena_clear(&owned->arena);
        free(owned);
    }
}
