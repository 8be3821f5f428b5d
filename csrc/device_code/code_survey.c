/* The value of a file's code for each mode of each GPU. */
#include "device_code/code_survey.h"

#include <string.h>

#include "base/file.h"
#include "device_code/listing.h"

static rsdk_coverage_lack lack_of(rsdk_misfit misfit) {
    static const rsdk_coverage_lack lacks[] = {[RSDK_MISFIT_NONE] = RSDK_LACK_NOTHING,
                                               [RSDK_MISFIT_PROCESSOR] = RSDK_LACK_PROCESSOR,
                                               [RSDK_MISFIT_SRAMECC] = RSDK_LACK_MODE,
                                               [RSDK_MISFIT_XNACK] = RSDK_LACK_MODE,
                                               [RSDK_MISFIT_GENERIC_VERSION] = RSDK_LACK_GENERIC_VERSION};
    return lacks[misfit];
}

/* Add one of several files; a GPU takes the files with its target in their names. */
static rsdk_status add_alternative(rsdk_survey *s, rsdk_surveyed_library *of, const rsdk_code_file *file) {
    const rsdk_compatibility *named = NULL; /* the fit of the target in the file's name; NULL: the name has none */
    if (file->target != NULL) {
        named = rsdk_fit_table_row(&s->table, file->target);
        RSDK_NEED(named, s->error);
        of->has_target = true;
    }
    of->has_loose = true;
    for (size_t i = 0; i < s->table.modes.count; i++) {
        const rsdk_file_fit *fit = &s->fits[i];
        rsdk_tally *t = &of->tallies[i];
        rsdk_misfit misfit = named != NULL ? named[i].misfit : RSDK_MISFIT_NONE;
        if (misfit == RSDK_MISFIT_NONE) {
            t->best = fit->best > t->best ? fit->best : t->best;
        }
        rsdk_tally_add_lack(t, lack_of(misfit != RSDK_MISFIT_NONE ? misfit : fit->misfit), NULL);
    }
    return RSDK_OK;
}

/* Add a library whose kernels are in archives. */
static rsdk_status add_archived(rsdk_survey *s, const rsdk_surveyed_library *of, const rsdk_code_file *file,
                                const rsdk_device_code *code) {
    for (size_t i = 0; i < s->table.modes.count; i++) {
        rsdk_found_kernels found;
        rsdk_tally *t = &of->tallies[i];
        RSDK_TRY(
            rsdk_archive_search_find(&s->archives, file->path, &code->kernels, s->table.modes.items[i].id, &found));
        if (found.covered < found.total) {
            const char *path = found.path != NULL ? rsdk_arena_copy(s->arena, found.path) : NULL;
            if (found.path != NULL) {
                RSDK_NEED(path, s->error);
            }
            rsdk_tally_add_lack(t, found.lack, path);
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

static rsdk_status take_code(rsdk_survey *s, const rsdk_code_file *file, const rsdk_device_code *code) {
    rsdk_surveyed_library *of = rsdk_survey_library(s, file->library);
    RSDK_NEED(of, s->error);
    /* Add the sizes of a file to the sizes of its library. */
    bool is_library = file->kind == RSDK_CODE_FILE_LIBRARY;
    if (code->bundle_count != 0 || code->kernels.name != NULL || is_library) {
        RSDK_APPEND(s->arena, &of->files, file->path, s->error);
        of->has_library = of->has_library || is_library;
        of->shown.size += code->size;
        of->shown.stored_size += code->stored_size;
        of->shown.plain_size += code->plain_size;
        of->shown.compressed_count += code->compressed_count;
        for (size_t i = 0; i < code->target_count; i++) {
            RSDK_TRY(rsdk_target_sums_add(&of->sums, s->arena, &code->targets[i], s->error));
            RSDK_TRY(rsdk_target_sums_add(&s->sums, s->arena, &code->targets[i], s->error));
        }
    }
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
        for (size_t i = 0; i < s->table.modes.count; i++) {
            const rsdk_file_fit *fit = &s->fits[i];
            rsdk_tally *t = &of->tallies[i];
            if (fit->covered > 0) {
                t->worst = t->covered == 0 || fit->worst < t->worst ? fit->worst : t->worst;
            }
            t->covered += fit->covered;
            t->total += fit->total;
            rsdk_tally_add_lack(t, lack_of(fit->misfit), NULL);
        }
    }
    return RSDK_OK;
}

/* Return whether a file is a script. Scripts and linker scripts have the names of programs and libraries. A file that
 * cannot be read is not a script. */
static bool is_script(const rsdk_file *file) {
    unsigned char bytes[4] = {0};
    return file->size < sizeof bytes || (rsdk_file_read(file, 0, bytes, sizeof bytes, NULL) == RSDK_OK &&
                                         memcmp(bytes, "\177ELF", sizeof bytes) != 0);
}

/* Read the code of a file; *code stays NULL for a script. */
static rsdk_status read_code(const rsdk_code_file *file, rsdk_device_code **code, rsdk_error *why) {
    rsdk_file opened = {0};
    RSDK_TRY(rsdk_file_open(file->path, &opened, why));
    bool has_code = file->kind != RSDK_CODE_FILE_LIBRARY || !is_script(&opened);
    rsdk_status status = has_code ? rsdk_code_of_file(&opened, code, why) : RSDK_OK;
    rsdk_file_close(&opened);
    return status;
}

rsdk_status rsdk_survey_take_code(rsdk_survey *s, const rsdk_code_file *file) {
    rsdk_error why = RSDK_ERROR_INIT;
    rsdk_device_code *code = NULL;
    rsdk_status status = read_code(file, &code, &why);
    if (status == RSDK_OK) {
        status = code != NULL ? take_code(s, file, code) : RSDK_OK;
    } else if (status == RSDK_NO_MEMORY) {
        status = rsdk_fail_with(s->error, &why);
    } else {
        status = rsdk_survey_add_fault(s, file->path, &why);
    }
    rsdk_device_code_free(code);
    rsdk_error_clear(&why);
    rsdk_arena_clear(&s->scratch);
    return status;
}
