/* The runtime takes the image of each bundle that fits best, so a library is as good as its worst bundle. */
#include "device_code/fits.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "gpu/targets.h"

enum { LONGEST_PROCESSOR = 32 };

/* ---- modes ---- */

/* The signs of a feature that an id leaves open: the one that it names, both, or none. */
typedef struct signs {
    char values[2];
    size_t count;
} signs;

static signs signs_of(char named, bool can_choose) {
    return named != '\0' ? (signs){{named}, 1} : can_choose ? (signs){{'-', '+'}, 2} : (signs){{'\0'}, 1};
}

static rsdk_status add_mode(rsdk_gpu_modes *modes, rsdk_arena *arena, rsdk_gpu_mode mode, char sramecc, char xnack,
                            rsdk_error *error) {
    size_t length = strlen(mode.id);
    (void)snprintf(mode.id + length, sizeof mode.id - length, "%s%.1s%s%.1s", sramecc != '\0' ? ":sramecc" : "",
                   &sramecc, xnack != '\0' ? ":xnack" : "", &xnack);
    RSDK_APPEND(arena, modes, mode, error);
    return RSDK_OK;
}

rsdk_status rsdk_gpu_modes_add(rsdk_gpu_modes *modes, rsdk_arena *arena, size_t gpu, const char *id,
                               rsdk_error *error) {
    rsdk_target_id parts;
    rsdk_gpu_mode mode = {.gpu = gpu};
    if (!rsdk_target_id_read(id, &parts) || strncmp(id, "gfx", 3) != 0 || parts.processor_length >= LONGEST_PROCESSOR) {
        return rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_GPU_005, NULL, NULL, "\"%.64s\" is not a GPU target", id);
    }
    memcpy(mode.id, id, parts.processor_length);
    const rsdk_target *target = rsdk_target_find(mode.id); /* NULL: newer than the table */
    signs sramecc = signs_of(parts.sramecc, target != NULL && target->has_sramecc);
    signs xnack = signs_of(parts.xnack, target != NULL && (target->xnack == RSDK_XNACK_OF_DRIVER ||
                                                           target->xnack == RSDK_XNACK_OF_PROCESS));
    for (size_t i = 0; i < sramecc.count; i++) {
        for (size_t k = 0; k < xnack.count; k++) {
            RSDK_TRY(add_mode(modes, arena, mode, sramecc.values[i], xnack.values[k], error));
        }
    }
    return RSDK_OK;
}

/* ---- the table ---- */

rsdk_status rsdk_fit_table_init(rsdk_fit_table *table, rsdk_error *error) {
    table->next = rsdk_arena_alloc(table->arena, table->modes.count + 1, sizeof *table->next);
    table->none = rsdk_arena_alloc(table->arena, table->modes.count + 1, sizeof *table->none);
    RSDK_NEED(table->next, error);
    RSDK_NEED(table->none, error);
    for (size_t i = 0; i < table->modes.count; i++) {
        table->none[i].misfit = RSDK_MISFIT_PROCESSOR;
    }
    return RSDK_OK;
}

/* Compute the next row; return whether it differs from the row of other targets. */
static bool compute(rsdk_fit_table *table, const char *target) {
    bool differs = false;
    for (size_t i = 0; i < table->modes.count; i++) {
        table->next[i] =
            rsdk_compatibility_check(target, RSDK_GENERIC_VERSION_UNKNOWN, table->modes.items[i].id, table->patches);
        if (table->without_spirv && table->next[i].fit == RSDK_FIT_SPIRV) {
            table->next[i] = (rsdk_compatibility){.misfit = RSDK_MISFIT_PROCESSOR};
        }
        differs = differs || table->next[i].misfit != RSDK_MISFIT_PROCESSOR;
    }
    return differs;
}

static rsdk_status keep(rsdk_fit_table *table, const char *target, rsdk_error *error) {
    const char *name = rsdk_arena_copy(table->arena, target);
    RSDK_NEED(name, error);
    RSDK_TRY(rsdk_name_table_set(&table->places, table->arena, name, strlen(name), table->cells.count, error));
    for (size_t i = 0; i < table->modes.count; i++) {
        RSDK_APPEND(table->arena, &table->cells, table->next[i], error);
    }
    return RSDK_OK;
}

const rsdk_compatibility *rsdk_fit_table_row(rsdk_fit_table *table, const char *target) {
    size_t place = 0;
    if (rsdk_name_table_find(&table->places, target, strlen(target), &place)) {
        return &table->cells.items[place];
    }
    if (!compute(table, target)) {
        return table->none;
    }
    return keep(table, target, NULL) == RSDK_OK ? table->next : NULL;
}

/* ---- files ---- */

/* Return whether a GPU can run the image at all. */
static bool is_code(const rsdk_device_image *image) {
    return image->format != RSDK_IMAGE_EMPTY && image->format != RSDK_IMAGE_BITCODE;
}

/* Take an image into the fits of its bundle. */
static void take(const rsdk_compatibility *row, const rsdk_device_image *image, rsdk_compatibility *bundle,
                 size_t mode_count) {
    bool is_old = image->format == RSDK_IMAGE_CODE_OBJECT && image->generic_version == 0;
    for (size_t k = 0; k < mode_count; k++) {
        rsdk_compatibility cell = row[k];
        if (is_old && cell.fit == RSDK_FIT_GENERIC) {
            cell = (rsdk_compatibility){.misfit = RSDK_MISFIT_GENERIC_VERSION};
        }
        bundle[k].fit = cell.fit > bundle[k].fit ? cell.fit : bundle[k].fit;
        bundle[k].misfit = cell.misfit > bundle[k].misfit ? cell.misfit : bundle[k].misfit;
    }
}

static void add_bundle(rsdk_file_fit *fits, rsdk_compatibility *bundle, size_t mode_count) {
    for (size_t k = 0; k < mode_count; k++) {
        rsdk_file_fit *fit = &fits[k];
        fit->total++;
        if (bundle[k].fit == RSDK_FIT_NONE) {
            fit->misfit = bundle[k].misfit > fit->misfit ? bundle[k].misfit : fit->misfit;
        } else {
            fit->worst = fit->covered == 0 || bundle[k].fit < fit->worst ? bundle[k].fit : fit->worst;
            fit->best = bundle[k].fit > fit->best ? bundle[k].fit : fit->best;
            fit->covered++;
        }
        bundle[k] = (rsdk_compatibility){.fit = RSDK_FIT_NONE};
    }
}

/* Return whether a bundle is one of several. Records of an offload binary, and code objects by themselves, have one
 * image each, for one target: together they count as one bundle. */
static bool is_alternative(const rsdk_device_bundle *bundle) {
    return bundle->container == RSDK_CONTAINER_NONE || bundle->container == RSDK_CONTAINER_OFFLOAD_BINARY;
}

rsdk_status rsdk_file_fits(const rsdk_device_code *code, rsdk_fit_table *table, rsdk_arena *scratch,
                           rsdk_file_fit *fits, rsdk_error *error) {
    size_t count = table->modes.count;
    bool has_alternatives = false;
    rsdk_compatibility *bundle = rsdk_arena_alloc(scratch, count + 1, sizeof *bundle);
    rsdk_compatibility *alternatives = rsdk_arena_alloc(scratch, count + 1, sizeof *alternatives);
    RSDK_NEED(bundle, error);
    RSDK_NEED(alternatives, error);
    memset(fits, 0, count * sizeof *fits);
    for (size_t i = 0; i < code->bundle_count; i++) {
        const rsdk_device_bundle *each = &code->bundles[i];
        bool has_code = false;
        for (size_t k = 0; k < each->image_count; k++) {
            if (is_code(&each->images[k])) {
                const rsdk_compatibility *row = rsdk_fit_table_row(table, each->images[k].target);
                RSDK_NEED(row, error);
                take(row, &each->images[k], is_alternative(each) ? alternatives : bundle, count);
                has_code = true;
            }
        }
        if (has_code && is_alternative(each)) {
            has_alternatives = true;
        } else if (has_code) {
            add_bundle(fits, bundle, count);
        }
    }
    if (has_alternatives) {
        add_bundle(fits, alternatives, count);
    }
    return RSDK_OK;
}
