/* The verdict on a library for each GPU. */
#include "device_code/coverage_verdict.h"

#include <string.h>

#include "device_code/tables.h"

static const rsdk_compiling_library *find_compiling(const char *name) {
    for (size_t i = 0; i < rsdk_compiling_library_table_size; i++) {
        if (strcmp(rsdk_compiling_library_table[i].name, name) == 0) {
            return &rsdk_compiling_library_table[i];
        }
    }
    return NULL;
}

static rsdk_coverage_verdict verdict_of(rsdk_code_fit fit) {
    static const rsdk_coverage_verdict verdicts[] = {[RSDK_FIT_NONE] = RSDK_COVERAGE_NONE,
                                                     [RSDK_FIT_UNOFFICIAL] = RSDK_COVERAGE_BEST_EFFORT,
                                                     [RSDK_FIT_SPIRV] = RSDK_COVERAGE_COMPILED,
                                                     [RSDK_FIT_GENERIC] = RSDK_COVERAGE_GENERIC,
                                                     [RSDK_FIT_COMPATIBLE] = RSDK_COVERAGE_COMPATIBLE,
                                                     [RSDK_FIT_EXACT] = RSDK_COVERAGE_EXACT};
    return verdicts[fit];
}

static rsdk_coverage_verdict verdict_in_mode(const rsdk_surveyed_library *of, rsdk_tally *t) {
    bool is_needed = t->total > 0;
    rsdk_code_fit fit = is_needed ? t->worst : RSDK_FIT_EXACT;
    if (!is_needed && !of->has_loose) {
        return find_compiling(of->shown.name) != NULL ? RSDK_COVERAGE_COMPILED : RSDK_COVERAGE_NOT_NEEDED;
    }
    if (of->has_loose) {
        bool is_listed = !of->has_index || t->has_index;
        if (!is_listed && t->best > RSDK_FIT_NONE) {
            rsdk_tally_add_lack(t, RSDK_LACK_INDEX, NULL);
        }
        rsdk_code_fit best = is_listed ? t->best : RSDK_FIT_NONE;
        fit = best < fit ? best : fit;
        t->covered += best > RSDK_FIT_NONE;
        t->total++;
    }
    rsdk_coverage_verdict verdict = verdict_of(fit);
    if (verdict != RSDK_COVERAGE_NONE) {
        t->covered += t->listed;
        t->total += t->lists;
        if (t->listed < t->lists) {
            rsdk_tally_add_lack(t, RSDK_LACK_INDEX, t->list);
        }
    }
    return verdict == RSDK_COVERAGE_NONE && find_compiling(of->shown.name) != NULL ? RSDK_COVERAGE_COMPILED : verdict;
}

/* Return the kernels that the tables have, where there is code that they lead to. */
static rsdk_kernel_tables tables_in_mode(const rsdk_surveyed_library *of, const rsdk_tally *t,
                                         rsdk_coverage_verdict verdict) {
    if (!of->has_index || (t->has_index && t->tables == RSDK_KERNEL_TABLES_UNKNOWN)) {
        return RSDK_KERNEL_TABLES_UNKNOWN;
    }
    return !t->has_index || verdict == RSDK_COVERAGE_NONE ? RSDK_KERNEL_TABLES_NONE : t->tables;
}

bool rsdk_survey_is_unnamed(const rsdk_surveyed_library *of) {
    return of->has_loose && !of->has_library && !of->has_index && !of->has_target;
}

/* Judge a library on a GPU. A GPU whose mode is open gets the worst result of the modes in which something runs; the
 * other modes are named. */
static rsdk_status judge_gpu(rsdk_survey *s, const rsdk_surveyed_library *of, size_t gpu, rsdk_gpu_coverage *result) {
    rsdk_strings uncovered = {0};
    const rsdk_compiling_library *compiling = find_compiling(of->shown.name);
    *result = (rsdk_gpu_coverage){.gpu = s->options->gpus[gpu]};
    for (size_t i = 0; i < s->table.modes.count; i++) {
        if (s->table.modes.items[i].gpu != gpu) {
            continue;
        }
        rsdk_tally *t = &of->tallies[i];
        rsdk_coverage_verdict verdict = verdict_in_mode(of, t);
        if (verdict == RSDK_COVERAGE_NONE) {
            RSDK_APPEND(s->arena, &uncovered, s->table.modes.items[i].id, s->error);
        } else if (result->verdict == RSDK_COVERAGE_NONE || verdict < result->verdict) {
            result->verdict = verdict;
        }
        rsdk_kernel_tables tables = tables_in_mode(of, t, verdict);
        result->tables = tables > result->tables ? tables : result->tables;
        result->missing_table = t->missing_table;
        result->late = t->late > result->late ? t->late : result->late;
        result->covered = t->covered > result->covered ? t->covered : result->covered;
        result->total = t->total;
        if (t->covered < t->total && t->lack > result->lack) {
            result->lack = t->lack;
            result->detail = t->detail;
        }
    }
    if (result->verdict != RSDK_COVERAGE_NONE) {
        result->uncovered_modes = uncovered.items;
        result->uncovered_mode_count = uncovered.count;
    } else if (s->has_named_code && rsdk_survey_is_unnamed(of)) {
        result->lack = RSDK_LACK_UNNAMED;
    }
    if (compiling != NULL && compiling->databases != NULL) {
        result->database = of->databases[gpu] ? RSDK_FEATURE_ON : RSDK_FEATURE_OFF;
    }
    return RSDK_OK;
}

rsdk_status rsdk_survey_judge(rsdk_survey *s, rsdk_surveyed_library *of) {
    rsdk_gpu_coverage *gpus = rsdk_arena_alloc(s->arena, s->options->gpu_count + 1, sizeof *gpus);
    RSDK_NEED(gpus, s->error);
    for (size_t i = 0; i < s->options->gpu_count; i++) {
        RSDK_TRY(judge_gpu(s, of, i, &gpus[i]));
    }
    rsdk_target_sums_sort(&of->sums);
    of->shown.gpus = gpus;
    of->shown.gpu_count = s->options->gpu_count;
    of->shown.files = of->files.items;
    of->shown.file_count = of->files.count;
    of->shown.targets = of->sums.list.items;
    of->shown.target_count = of->sums.list.count;
    return RSDK_OK;
}

const char *rsdk_coverage_verdict_name(rsdk_coverage_verdict verdict) {
    static const char *const names[] = {[RSDK_COVERAGE_NONE] = "none",
                                        [RSDK_COVERAGE_BEST_EFFORT] = "best effort",
                                        [RSDK_COVERAGE_COMPILED] = "compiled at first use",
                                        [RSDK_COVERAGE_GENERIC] = "generic",
                                        [RSDK_COVERAGE_COMPATIBLE] = "compatible",
                                        [RSDK_COVERAGE_EXACT] = "exact",
                                        [RSDK_COVERAGE_NOT_NEEDED] = "not needed"};
    return names[verdict];
}

const char *rsdk_coverage_lack_name(rsdk_coverage_lack lack) {
    static const char *const names[] = {
        [RSDK_LACK_NOTHING] = "nothing", [RSDK_LACK_PROCESSOR] = "processor",
        [RSDK_LACK_MODE] = "mode",       [RSDK_LACK_GENERIC_VERSION] = "generic version",
        [RSDK_LACK_INDEX] = "index",     [RSDK_LACK_ARCHIVE] = "archive",
        [RSDK_LACK_KERNELS] = "kernels", [RSDK_LACK_UNNAMED] = "unnamed"};
    return names[lack];
}

const char *rsdk_kernel_tables_name(rsdk_kernel_tables tables) {
    static const char *const names[] = {[RSDK_KERNEL_TABLES_UNKNOWN] = "unknown",
                                        [RSDK_KERNEL_TABLES_NONE] = "none",
                                        [RSDK_KERNEL_TABLES_FALLBACK] = "fallback",
                                        [RSDK_KERNEL_TABLES_TUNED] = "tuned"};
    return names[tables];
}
