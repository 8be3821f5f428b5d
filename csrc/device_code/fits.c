/* Of each bundle the runtime takes the image that fits best, so a library is as good as its worst bundle. */
#include "device_code/fits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "gpu/target_id.h"

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
    RSDK_APPEND(arena, modes, mode);
    return RSDK_OK;
}

rsdk_status rsdk_gpu_modes_add(rsdk_gpu_modes *modes, rsdk_arena *arena, size_t gpu, const char *id,
                               rsdk_error *error) {
    rsdk_target_id parts;
    rsdk_gpu_mode mode = {.gpu = gpu};
    if (!rsdk_target_id_read(id, &parts) || strncmp(id, "gfx", 3) != 0 || parts.processor_length >= LONGEST_PROCESSOR) {
        return rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_GPU_005, NULL, NULL, "\"%.64s\" is no GPU target", id);
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

/* ---- files ---- */

/* The file's targets against the modes, so that each pair is compared once, whatever the number of images. */
typedef struct matrix {
    const rsdk_device_code *code;
    size_t mode_count;
    rsdk_compatibility *cells; /* a row for each target */
} matrix;

static int compare_target(const void *name, const void *target) {
    return strcmp(name, ((const rsdk_device_target *)target)->target);
}

static const rsdk_compatibility *row_of(const matrix *m, const rsdk_device_image *image) {
    const rsdk_device_target *target =
        bsearch(image->target, m->code->targets, m->code->target_count, sizeof *m->code->targets, compare_target);
    return &m->cells[(size_t)(target - m->code->targets) * m->mode_count];
}

static rsdk_status fill(matrix *m, const rsdk_gpu_modes *modes, unsigned patches, rsdk_arena *scratch,
                        rsdk_error *error) {
    m->mode_count = modes->count;
    m->cells = rsdk_arena_alloc(scratch, m->code->target_count * modes->count + 1, sizeof *m->cells);
    RSDK_NEED(m->cells);
    for (size_t i = 0; i < m->code->target_count; i++) {
        for (size_t k = 0; k < modes->count; k++) {
            m->cells[i * modes->count + k] = rsdk_compatibility_check(
                m->code->targets[i].target, RSDK_GENERIC_VERSION_UNKNOWN, modes->items[k].id, patches);
        }
    }
    return RSDK_OK;
}

/* Whether a GPU can run the image at all. */
static bool is_code(const rsdk_device_image *image) {
    return image->format != RSDK_IMAGE_EMPTY && image->format != RSDK_IMAGE_BITCODE;
}

/* Takes an image into the fits of its bundle. */
static void take(const matrix *m, const rsdk_device_image *image, rsdk_compatibility *bundle) {
    const rsdk_compatibility *row = row_of(m, image);
    bool is_old = image->format == RSDK_IMAGE_CODE_OBJECT && image->generic_version == 0;
    for (size_t k = 0; k < m->mode_count; k++) {
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

/* Records of an offload binary, and code objects by themselves, have one image each, for one target: together they
 * count as one bundle. */
static bool is_alternative(const rsdk_device_bundle *bundle) {
    return bundle->container == RSDK_CONTAINER_NONE || bundle->container == RSDK_CONTAINER_OFFLOAD_BINARY;
}

rsdk_status rsdk_file_fits(const rsdk_device_code *code, const rsdk_gpu_modes *modes, unsigned patches,
                           rsdk_arena *scratch, rsdk_file_fit *fits, rsdk_error *error) {
    matrix m = {.code = code};
    bool has_alternatives = false;
    RSDK_TRY(fill(&m, modes, patches, scratch, error));
    rsdk_compatibility *bundle = rsdk_arena_alloc(scratch, modes->count + 1, sizeof *bundle);
    rsdk_compatibility *alternatives = rsdk_arena_alloc(scratch, modes->count + 1, sizeof *alternatives);
    RSDK_NEED(bundle);
    RSDK_NEED(alternatives);
    memset(fits, 0, modes->count * sizeof *fits);
    for (size_t i = 0; i < code->bundle_count; i++) {
        const rsdk_device_bundle *each = &code->bundles[i];
        bool has_code = false;
        for (size_t k = 0; k < each->image_count; k++) {
            if (is_code(&each->images[k])) {
                take(&m, &each->images[k], is_alternative(each) ? alternatives : bundle);
                has_code = true;
            }
        }
        if (has_code && is_alternative(each)) {
            has_alternatives = true;
        } else if (has_code) {
            add_bundle(fits, bundle, modes->count);
        }
    }
    if (has_alternatives) {
        add_bundle(fits, alternatives, modes->count);
    }
    return RSDK_OK;
}
