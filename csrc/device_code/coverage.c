/* Groups the files of an installation into libraries, and judges each library for each GPU. */
#include "rocm_sdk/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/name_table.h"
#include "base/path.h"
#include "device_code/archive_search.h"
#include "device_code/code_files.h"
#include "device_code/code_of_file.h"
#include "device_code/fits.h"
#include "device_code/kernel_database.h"
#include "device_code/tables.h"
#include "device_code/target_sums.h"

enum { GPU_LIMIT = 256 };

/* A library in one mode of a GPU. */
typedef struct tally {
    rsdk_code_fit worst; /* of the files that every GPU needs; 0 while `covered` is */
    size_t covered, total;
    rsdk_code_fit best;        /* of the files that are for one target each */
    bool has_index;            /* a list of kernels has some for the processor */
    rsdk_kernel_tables tables; /* what it has for it */
    size_t listed, lists;      /* the further tables that name the processor, of all */
    const char *list;          /* one that does not */
    const char *missing_table;
    size_t late; /* bundles that only a later archive has */
    rsdk_coverage_lack lack;
    const char *detail;
} tally;

typedef struct library {
    rsdk_library_coverage shown;
    rsdk_strings files;
    rsdk_target_sums sums;
    bool has_loose, has_index;
    tally *tallies;  /* one for each mode */
    bool *databases; /* one for each GPU */
} library;

/* The result, with the memory that it consists of. */
typedef struct owned_coverage {
    rsdk_coverage coverage; /* first: the caller's pointer is to it */
    rsdk_arena arena;
} owned_coverage;

typedef struct survey {
    const rsdk_coverage_options *options;
    rsdk_arena *arena;
    rsdk_arena scratch;   /* cleared after each file */
    rsdk_fit_table table; /* and the modes of the GPUs */
    rsdk_file_fit *fits;  /* of the file in hand */
    RSDK_LIST(library) libraries;
    rsdk_name_table places;
    rsdk_name_table kernel_tables; /* paths of the files that indexes lead to, without what follows the last "." */
    rsdk_target_sums sums;
    RSDK_LIST(rsdk_coverage_fault) faults;
    rsdk_archive_search archives;
    rsdk_error *error;
} survey;

/* ---- files ---- */

static rsdk_status add_library(survey *s, const char *name) {
    library made = {.shown = {.name = name},
                    .tallies = rsdk_arena_alloc(s->arena, s->table.modes.count + 1, sizeof *made.tallies),
                    .databases = rsdk_arena_alloc(s->arena, s->options->gpu_count + 1, sizeof *made.databases)};
    RSDK_NEED(made.tallies, s->error);
    RSDK_NEED(made.databases, s->error);
    RSDK_TRY(rsdk_name_table_set(&s->places, s->arena, name, strlen(name), s->libraries.count, s->error));
    RSDK_APPEND(s->arena, &s->libraries, made, s->error);
    return RSDK_OK;
}

/* The library of this name, which is added if there is none. The pointer is valid until the next library is added. NULL
 * when out of memory. */
static library *library_of(survey *s, const char *name) {
    size_t place = s->libraries.count;
    if (!rsdk_name_table_find(&s->places, name, strlen(name), &place) && add_library(s, name) != RSDK_OK) {
        return NULL;
    }
    return s->libraries.items != NULL ? &s->libraries.items[place] : NULL;
}

/* Adds the sizes of a file to those of its library. */
static rsdk_status add_sizes(survey *s, library *of, const rsdk_code_file *file, const rsdk_device_code *code) {
    bool is_library = file->kind == RSDK_CODE_FILE_LIBRARY;
    if (code->bundle_count == 0 && code->kernels.name == NULL && !is_library) {
        return RSDK_OK;
    }
    RSDK_APPEND(s->arena, &of->files, file->path, s->error);
    of->shown.size += code->size;
    of->shown.stored_size += code->stored_size;
    of->shown.plain_size += code->plain_size;
    of->shown.compressed_count += code->compressed_count;
    for (size_t i = 0; i < code->target_count; i++) {
        RSDK_TRY(rsdk_target_sums_add(&of->sums, s->arena, &code->targets[i], s->error));
        RSDK_TRY(rsdk_target_sums_add(&s->sums, s->arena, &code->targets[i], s->error));
    }
    return RSDK_OK;
}

static rsdk_coverage_lack lack_of(rsdk_misfit misfit) {
    static const rsdk_coverage_lack lacks[] = {[RSDK_MISFIT_NONE] = RSDK_LACK_NOTHING,
                                               [RSDK_MISFIT_PROCESSOR] = RSDK_LACK_PROCESSOR,
                                               [RSDK_MISFIT_SRAMECC] = RSDK_LACK_MODE,
                                               [RSDK_MISFIT_XNACK] = RSDK_LACK_MODE,
                                               [RSDK_MISFIT_GENERIC_VERSION] = RSDK_LACK_GENERIC_VERSION};
    return lacks[misfit];
}

static void add_lack(tally *t, rsdk_coverage_lack lack, const char *detail) {
    if (lack > t->lack) {
        t->lack = lack;
        t->detail = detail;
    }
}

/* A file that the library needs on each GPU. */
static void add_needed(survey *s, const library *of) {
    for (size_t i = 0; i < s->table.modes.count; i++) {
        const rsdk_file_fit *fit = &s->fits[i];
        tally *t = &of->tallies[i];
        if (fit->covered > 0) {
            t->worst = t->covered == 0 || fit->worst < t->worst ? fit->worst : t->worst;
        }
        t->covered += fit->covered;
        t->total += fit->total;
        add_lack(t, lack_of(fit->misfit), NULL);
    }
}

/* One of several files; a GPU takes those with its target in their names. */
static rsdk_status add_alternative(survey *s, library *of, const rsdk_code_file *file) {
    const rsdk_compatibility *named = NULL; /* how the target in the file's name fits; NULL: it has none */
    if (file->target != NULL) {
        named = rsdk_fit_table_row(&s->table, file->target);
        RSDK_NEED(named, s->error);
    }
    of->has_loose = true;
    for (size_t i = 0; i < s->table.modes.count; i++) {
        const rsdk_file_fit *fit = &s->fits[i];
        tally *t = &of->tallies[i];
        rsdk_misfit misfit = named != NULL ? named[i].misfit : RSDK_MISFIT_NONE;
        if (misfit == RSDK_MISFIT_NONE) {
            t->best = fit->best > t->best ? fit->best : t->best;
        }
        add_lack(t, lack_of(misfit != RSDK_MISFIT_NONE ? misfit : fit->misfit), NULL);
    }
    return RSDK_OK;
}

/* The kernels are in archives. */
static rsdk_status add_archived(survey *s, const library *of, const rsdk_code_file *file,
                                const rsdk_device_code *code) {
    for (size_t i = 0; i < s->table.modes.count; i++) {
        rsdk_found_kernels found;
        tally *t = &of->tallies[i];
        RSDK_TRY(
            rsdk_archive_search_find(&s->archives, file->path, &code->kernels, s->table.modes.items[i].id, &found));
        if (found.covered < found.total) {
            const char *path = found.path != NULL ? rsdk_arena_copy(s->arena, found.path) : NULL;
            if (found.path != NULL) {
                RSDK_NEED(path, s->error);
            }
            add_lack(t, found.lack, path);
        }
        if (found.target != NULL) {
            rsdk_code_fit fit =
                rsdk_compatibility_check(found.target, RSDK_GENERIC_VERSION_UNKNOWN, s->table.modes.items[i].id, 0).fit;
            t->worst = t->covered == 0 || fit < t->worst ? fit : t->worst;
        }
        t->covered += found.covered;
        t->total += found.total;
        t->late += found.late;
    }
    return RSDK_OK;
}

static rsdk_status take_code(survey *s, const rsdk_code_file *file, const rsdk_device_code *code) {
    library *of = library_of(s, file->library);
    RSDK_NEED(of, s->error);
    RSDK_TRY(add_sizes(s, of, file, code));
    if (file->kind == RSDK_CODE_FILE_ARCHIVE) {
        return RSDK_OK; /* libraries lead to it */
    }
    if (code->kernels.name != NULL) {
        return add_archived(s, of, file, code);
    }
    if (code->target_count > 0) {
        RSDK_TRY(rsdk_file_fits(code, &s->table, &s->scratch, s->fits, s->error));
        if (file->target != NULL || file->kind == RSDK_CODE_FILE_LOOSE) {
            return add_alternative(s, of, file);
        }
        add_needed(s, of);
    }
    return RSDK_OK;
}

/* Scripts and linker scripts have the names of programs and libraries. A file that cannot be read is not a script. */
static bool is_script(const rsdk_file *file) {
    unsigned char bytes[4] = {0};
    return file->size < sizeof bytes || (rsdk_file_read(file, 0, bytes, sizeof bytes, NULL) == RSDK_OK &&
                                         memcmp(bytes, "\177ELF", sizeof bytes) != 0);
}

/* *code stays NULL for a script. */
static rsdk_status read_code(const rsdk_code_file *file, rsdk_device_code **code, rsdk_error *why) {
    rsdk_file opened = {0};
    RSDK_TRY(rsdk_file_open(file->path, &opened, why));
    bool has_code = file->kind != RSDK_CODE_FILE_LIBRARY || !is_script(&opened);
    rsdk_status status = has_code ? rsdk_code_of_file(&opened, code, why) : RSDK_OK;
    rsdk_file_close(&opened);
    return status;
}

static rsdk_status add_fault(survey *s, const char *path, const rsdk_error *why) {
    rsdk_coverage_fault fault = {.path = path, .message = rsdk_arena_copy(s->arena, rsdk_error_message(why))};
    fault.code = why->code != RSDK_NO_CODE ? why->code : why->status == RSDK_BAD_ELF ? RSDK_E_LIB_006 : RSDK_E_FILE_007;
    RSDK_NEED(fault.message, s->error);
    RSDK_APPEND(s->arena, &s->faults, fault, s->error);
    return RSDK_OK;
}

static rsdk_status take_file(survey *s, const rsdk_code_file *file) {
    rsdk_error why = RSDK_ERROR_INIT;
    rsdk_device_code *code = NULL;
    rsdk_status status = read_code(file, &code, &why);
    if (status == RSDK_OK) {
        status = code != NULL ? take_code(s, file, code) : RSDK_OK;
    } else if (status == RSDK_NO_MEMORY) {
        status = rsdk_fail_with(s->error, &why);
    } else {
        status = add_fault(s, file->path, &why);
    }
    rsdk_device_code_free(code);
    rsdk_error_clear(&why);
    rsdk_arena_clear(&s->scratch);
    return status;
}

/* ---- tables of kernels ---- */

/* "x/TensileLibrary_Type_HH" of "x/TensileLibrary_Type_HH.dat.zlib". */
static size_t stem_length(const char *path) {
    const char *name = rsdk_path_name(path);
    return (size_t)(name - path) + strcspn(name, ".");
}

/* A file that a row leads to and that is not there; NULL: all are there. */
static rsdk_status find_missing(survey *s, const char *index, const rsdk_kernel_row *row, const char **missing) {
    const char *directory = rsdk_path_parent(&s->scratch, index);
    RSDK_NEED(directory, s->error);
    for (size_t i = 0; i < row->tables.count && *missing == NULL; i++) {
        size_t unused = 0;
        const char *path = rsdk_path_join(&s->scratch, directory, row->tables.items[i]);
        RSDK_NEED(path, s->error);
        if (!rsdk_name_table_find(&s->kernel_tables, path, strlen(path), &unused)) {
            *missing = rsdk_arena_format(s->arena, "%s.dat", path);
            RSDK_NEED(*missing, s->error);
        }
    }
    return RSDK_OK;
}

/* Whether a GPU in each mode reads the file, by the target in its name. */
static rsdk_status find_readers(survey *s, const rsdk_code_file *file, bool **readers) {
    const rsdk_compatibility *fits = NULL;
    *readers = rsdk_arena_alloc(&s->scratch, s->table.modes.count + 1, sizeof **readers);
    RSDK_NEED(*readers, s->error);
    if (file->target != NULL) {
        fits = rsdk_fit_table_row(&s->table, file->target);
        RSDK_NEED(fits, s->error);
    }
    for (size_t i = 0; i < s->table.modes.count; i++) {
        (*readers)[i] = fits == NULL || fits[i].misfit == RSDK_MISFIT_NONE;
    }
    return RSDK_OK;
}

/* A row with a condition besides the processor counts, too: such rows are for some models of a processor. */
static rsdk_status take_row(survey *s, const library *of, const rsdk_code_file *file, const rsdk_kernel_row *row,
                            const bool *readers) {
    const char *missing = NULL;
    const rsdk_compatibility *fits = NULL; /* NULL: it is for any processor */
    if (row->processor == NULL && row->has_condition) {
        return RSDK_OK; /* a condition that is not known */
    }
    RSDK_TRY(find_missing(s, file->path, row, &missing));
    if (row->processor != NULL) {
        fits = rsdk_fit_table_row(&s->table, row->processor);
        RSDK_NEED(fits, s->error);
    }
    rsdk_kernel_tables tables = fits != NULL ? RSDK_KERNEL_TABLES_TUNED : RSDK_KERNEL_TABLES_FALLBACK;
    for (size_t i = 0; i < s->table.modes.count; i++) {
        tally *t = &of->tallies[i];
        if (readers[i] && (fits == NULL || fits[i].misfit == RSDK_MISFIT_NONE)) {
            t->has_index = true;
            t->tables = tables > t->tables ? tables : t->tables;
            t->missing_table = t->missing_table != NULL ? t->missing_table : missing;
        }
    }
    return RSDK_OK;
}

/* An index in YAML, which development builds have, counts by its name. */
static bool is_yaml(const char *path) {
    return strcmp(path + stem_length(path), ".yaml") == 0;
}

static rsdk_status take_rows(survey *s, const rsdk_code_file *file, const rsdk_kernel_database *database) {
    bool *readers = NULL;
    library *of = library_of(s, file->library);
    RSDK_NEED(of, s->error);
    RSDK_TRY(find_readers(s, file, &readers));
    of->has_index = true;
    for (size_t i = 0; i < database->rows.count; i++) {
        RSDK_TRY(take_row(s, of, file, &database->rows.items[i], readers));
    }
    return RSDK_OK;
}

static rsdk_status take_yaml(survey *s, const rsdk_code_file *file) {
    bool *readers = NULL;
    library *of = library_of(s, file->library);
    RSDK_NEED(of, s->error);
    RSDK_TRY(find_readers(s, file, &readers));
    of->has_index = true;
    for (size_t i = 0; i < s->table.modes.count; i++) {
        of->tallies[i].has_index = of->tallies[i].has_index || readers[i];
    }
    return RSDK_OK;
}

/* The targets in the file are those that it serves. */
static rsdk_status take_targets(survey *s, const rsdk_code_file *file, const rsdk_kernel_database *database) {
    bool *readers = NULL, *listed = rsdk_arena_alloc(&s->scratch, s->table.modes.count + 1, sizeof *listed);
    const library *of = library_of(s, file->library);
    RSDK_NEED(of, s->error);
    RSDK_NEED(listed, s->error);
    RSDK_TRY(find_readers(s, file, &readers));
    for (size_t i = 0; i < database->targets.list.count; i++) {
        const rsdk_compatibility *fits = rsdk_fit_table_row(&s->table, database->targets.list.items[i]);
        RSDK_NEED(fits, s->error);
        for (size_t k = 0; k < s->table.modes.count; k++) {
            listed[k] = listed[k] || fits[k].misfit == RSDK_MISFIT_NONE;
        }
    }
    for (size_t i = 0; i < s->table.modes.count; i++) {
        tally *t = &of->tallies[i];
        t->lists += readers[i];
        t->listed += readers[i] && listed[i];
        t->list = readers[i] && !listed[i] ? file->path : t->list;
    }
    return RSDK_OK;
}

/* A table that cannot be read is a fault. */
static rsdk_status take_tables(survey *s, const rsdk_code_file *file) {
    rsdk_error why = RSDK_ERROR_INIT;
    rsdk_kernel_database database = {0};
    bool is_index = file->kind == RSDK_CODE_FILE_INDEX;
    if (is_yaml(file->path)) {
        return is_index ? take_yaml(s, file) : RSDK_OK;
    }
    rsdk_status status = is_index ? rsdk_kernel_database_read_index(file->path, s->arena, &database, &why)
                                  : rsdk_kernel_database_read_targets(file->path, s->arena, &database, &why);
    if (status == RSDK_OK) {
        status = is_index ? take_rows(s, file, &database) : take_targets(s, file, &database);
    } else if (status == RSDK_NO_MEMORY) {
        status = rsdk_fail_with(s->error, &why);
    } else {
        status = add_fault(s, file->path, &why);
    }
    rsdk_error_clear(&why);
    rsdk_arena_clear(&s->scratch);
    return status;
}

static rsdk_status note_kernel_table(survey *s, const rsdk_code_file *file) {
    return rsdk_name_table_set(&s->kernel_tables, s->arena, file->path, stem_length(file->path), 0, s->error);
}

/* ---- databases of performance ---- */

static void take_database(const survey *s, const library *of, const char *target) {
    size_t length = strlen(target);
    for (size_t i = 0; i < s->options->gpu_count; i++) {
        const char *gpu = s->options->gpus[i];
        bool is_same = strcspn(gpu, ":") == length && strncmp(target, gpu, length) == 0;
        of->databases[i] = of->databases[i] || is_same;
    }
}

/* Only the name of such a file counts. */
static rsdk_status take_database_name(survey *s, const rsdk_code_file *file) {
    const library *of = library_of(s, file->library);
    RSDK_NEED(of, s->error);
    take_database(s, of, file->target);
    return RSDK_OK;
}

/* ---- verdicts ---- */

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

static rsdk_coverage_verdict verdict_in_mode(const library *of, tally *t) {
    bool is_needed = t->total > 0;
    rsdk_code_fit fit = is_needed ? t->worst : RSDK_FIT_EXACT;
    if (!is_needed && !of->has_loose) {
        return find_compiling(of->shown.name) != NULL ? RSDK_COVERAGE_COMPILED : RSDK_COVERAGE_NOT_NEEDED;
    }
    if (of->has_loose) {
        bool is_listed = !of->has_index || t->has_index;
        if (!is_listed && t->best > RSDK_FIT_NONE) {
            add_lack(t, RSDK_LACK_INDEX, NULL);
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
            add_lack(t, RSDK_LACK_INDEX, t->list);
        }
    }
    return verdict == RSDK_COVERAGE_NONE && find_compiling(of->shown.name) != NULL ? RSDK_COVERAGE_COMPILED : verdict;
}

/* What the tables have, where there is code that they lead to. */
static rsdk_kernel_tables tables_in_mode(const library *of, const tally *t, rsdk_coverage_verdict verdict) {
    if (!of->has_index || (t->has_index && t->tables == RSDK_KERNEL_TABLES_UNKNOWN)) {
        return RSDK_KERNEL_TABLES_UNKNOWN;
    }
    return !t->has_index || verdict == RSDK_COVERAGE_NONE ? RSDK_KERNEL_TABLES_NONE : t->tables;
}

/* A GPU whose mode is open gets the worst result of the modes in which something runs; the other modes are named. */
static rsdk_status judge_gpu(survey *s, const library *of, size_t gpu, rsdk_gpu_coverage *result) {
    rsdk_strings uncovered = {0};
    const rsdk_compiling_library *compiling = find_compiling(of->shown.name);
    *result = (rsdk_gpu_coverage){.gpu = s->options->gpus[gpu]};
    for (size_t i = 0; i < s->table.modes.count; i++) {
        if (s->table.modes.items[i].gpu != gpu) {
            continue;
        }
        tally *t = &of->tallies[i];
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
    }
    if (compiling != NULL && compiling->databases != NULL) {
        result->database = of->databases[gpu] ? RSDK_FEATURE_ON : RSDK_FEATURE_OFF;
    }
    return RSDK_OK;
}

static rsdk_status judge(survey *s, library *of) {
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

/* ---- the result ---- */

static int compare_libraries(const void *a, const void *b) {
    return strcmp(((const rsdk_library_coverage *)a)->name, ((const rsdk_library_coverage *)b)->name);
}

/* Leaves out a library that has nothing but a list of kernels or a database. */
static rsdk_status finish_libraries(survey *s, rsdk_coverage *coverage) {
    rsdk_library_coverage *libraries = rsdk_arena_alloc(s->arena, s->libraries.count + 1, sizeof *libraries);
    RSDK_NEED(libraries, s->error);
    for (size_t i = 0; i < s->libraries.count; i++) {
        library *of = &s->libraries.items[i];
        RSDK_TRY(judge(s, of));
        if (of->files.count > 0) {
            libraries[coverage->library_count++] = of->shown;
        }
    }
    qsort(libraries, coverage->library_count, sizeof *libraries, compare_libraries);
    coverage->libraries = libraries;
    return RSDK_OK;
}

static rsdk_status finish_targets(survey *s, rsdk_coverage *coverage) {
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
    return RSDK_OK;
}

static rsdk_status take_by_kind(survey *s, const rsdk_code_file *file) {
    switch (file->kind) {
    case RSDK_CODE_FILE_LIBRARY:
    case RSDK_CODE_FILE_LOOSE:
    case RSDK_CODE_FILE_ARCHIVE:
        return take_file(s, file);
    case RSDK_CODE_FILE_INDEX:
    case RSDK_CODE_FILE_TARGETS:
        return take_tables(s, file);
    case RSDK_CODE_FILE_DATABASE:
        return take_database_name(s, file);
    case RSDK_CODE_FILE_TABLE:
        break;
    }
    return RSDK_OK;
}

static rsdk_status read_files(survey *s, rsdk_coverage *coverage) {
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
            RSDK_TRY(note_kernel_table(s, &files.list.items[i]));
        }
    }
    for (size_t i = 0; i < files.list.count; i++) {
        RSDK_TRY(take_by_kind(s, &files.list.items[i]));
    }
    coverage->file_count = files.list.count;
    RSDK_TRY(finish_libraries(s, coverage));
    RSDK_TRY(finish_targets(s, coverage));
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
    survey s = {.options = options,
                .arena = &owned->arena,
                .table = {.arena = &owned->arena, .patches = options->patches},
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
        [RSDK_LACK_KERNELS] = "kernels"};
    return names[lack];
}

const char *rsdk_kernel_tables_name(rsdk_kernel_tables tables) {
    static const char *const names[] = {[RSDK_KERNEL_TABLES_UNKNOWN] = "unknown",
                                        [RSDK_KERNEL_TABLES_NONE] = "none",
                                        [RSDK_KERNEL_TABLES_FALLBACK] = "fallback",
                                        [RSDK_KERNEL_TABLES_TUNED] = "tuned"};
    return names[tables];
}
