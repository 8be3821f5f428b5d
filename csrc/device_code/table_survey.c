/* The tables of kernels and databases of performance, for each GPU. */
#include "device_code/table_survey.h"

#include <string.h>

#include "base/path.h"
#include "device_code/kernel_database.h"

/* ---- tables of kernels ---- */

/* Return the length of "x/TensileLibrary_Type_HH" in "x/TensileLibrary_Type_HH.dat.zlib". */
static size_t stem_length(const char *path) {
    const char *name = rsdk_path_name(path);
    return (size_t)(name - path) + strcspn(name, ".");
}

/* Find out whether a GPU in each mode reads the file, by the target in its name. */
static rsdk_status find_readers(rsdk_survey *s, const rsdk_code_file *file, bool **readers) {
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

/* Take a row. A row with a condition besides the processor counts, too: such rows are for some models of a
 * processor. */
static rsdk_status take_row(rsdk_survey *s, const rsdk_surveyed_library *of, const rsdk_code_file *file,
                            const rsdk_kernel_row *row, const bool *readers) {
    const char *missing = NULL;
    const rsdk_compatibility *fits = NULL; /* NULL: it is for any processor */
    if (row->processor == NULL && row->has_condition) {
        return RSDK_OK; /* a condition that is not known */
    }
    /* Find a file that the row leads to and that is not there. */
    const char *directory = rsdk_path_parent(&s->scratch, file->path);
    RSDK_NEED(directory, s->error);
    for (size_t i = 0; i < row->tables.count && missing == NULL; i++) {
        size_t unused = 0;
        const char *path = rsdk_path_join(&s->scratch, directory, row->tables.items[i]);
        RSDK_NEED(path, s->error);
        if (!rsdk_name_table_find(&s->kernel_tables, path, strlen(path), &unused)) {
            missing = rsdk_arena_format(s->arena, "%s.dat", path);
            RSDK_NEED(missing, s->error);
        }
    }
    if (row->processor != NULL) {
        fits = rsdk_fit_table_row(&s->table, row->processor);
        RSDK_NEED(fits, s->error);
    }
    rsdk_kernel_tables tables = fits != NULL ? RSDK_KERNEL_TABLES_TUNED : RSDK_KERNEL_TABLES_FALLBACK;
    for (size_t i = 0; i < s->table.modes.count; i++) {
        rsdk_tally *t = &of->tallies[i];
        if (readers[i] && (fits == NULL || fits[i].misfit == RSDK_MISFIT_NONE)) {
            t->has_index = true;
            t->tables = tables > t->tables ? tables : t->tables;
            t->missing_table = t->missing_table != NULL ? t->missing_table : missing;
        }
    }
    return RSDK_OK;
}

/* Return whether a file is an index in YAML, which development builds have, and which counts by its name. */
static bool is_yaml(const char *path) {
    return strcmp(path + stem_length(path), ".yaml") == 0;
}

static rsdk_status take_rows(rsdk_survey *s, const rsdk_code_file *file, const rsdk_kernel_database *database) {
    bool *readers = NULL;
    rsdk_surveyed_library *of = rsdk_survey_library(s, file->library);
    RSDK_NEED(of, s->error);
    RSDK_TRY(find_readers(s, file, &readers));
    of->has_index = true;
    for (size_t i = 0; i < database->rows.count; i++) {
        RSDK_TRY(take_row(s, of, file, &database->rows.items[i], readers));
    }
    return RSDK_OK;
}

static rsdk_status take_yaml(rsdk_survey *s, const rsdk_code_file *file) {
    bool *readers = NULL;
    rsdk_surveyed_library *of = rsdk_survey_library(s, file->library);
    RSDK_NEED(of, s->error);
    RSDK_TRY(find_readers(s, file, &readers));
    of->has_index = true;
    for (size_t i = 0; i < s->table.modes.count; i++) {
        of->tallies[i].has_index = of->tallies[i].has_index || readers[i];
    }
    return RSDK_OK;
}

/* Take the targets of a list, which serves the targets in the file. */
static rsdk_status take_targets(rsdk_survey *s, const rsdk_code_file *file, const rsdk_kernel_database *database) {
    bool *readers = NULL, *listed = rsdk_arena_alloc(&s->scratch, s->table.modes.count + 1, sizeof *listed);
    const rsdk_surveyed_library *of = rsdk_survey_library(s, file->library);
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
        rsdk_tally *t = &of->tallies[i];
        t->lists += readers[i];
        t->listed += readers[i] && listed[i];
        t->list = readers[i] && !listed[i] ? file->path : t->list;
    }
    return RSDK_OK;
}

/* Take a table; a table that cannot be read is a fault. */
rsdk_status rsdk_survey_take_tables(rsdk_survey *s, const rsdk_code_file *file) {
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
        status = rsdk_survey_add_fault(s, file->path, &why);
    }
    rsdk_error_clear(&why);
    rsdk_arena_clear(&s->scratch);
    return status;
}

rsdk_status rsdk_survey_note_table(rsdk_survey *s, const rsdk_code_file *file) {
    return rsdk_name_table_set(&s->kernel_tables, s->arena, file->path, stem_length(file->path), 0, s->error);
}

/* ---- databases of performance ---- */

rsdk_status rsdk_survey_take_database(rsdk_survey *s, const rsdk_code_file *file) {
    const rsdk_surveyed_library *of = rsdk_survey_library(s, file->library);
    RSDK_NEED(of, s->error);
    size_t length = strlen(file->target);
    for (size_t i = 0; i < s->options->gpu_count; i++) {
        const char *gpu = s->options->gpus[i];
        bool is_same = strcspn(gpu, ":") == length && strncmp(file->target, gpu, length) == 0;
        of->databases[i] = of->databases[i] || is_same;
    }
    return RSDK_OK;
}
