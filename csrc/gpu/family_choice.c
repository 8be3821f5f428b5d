/* The target family that a machine needs: the GPUs in the order of their weight, for each the family that fits it
 * best. */
#include <stdio.h>
#include <string.h>

#include "gpu/targets.h"

/* The degree to which a family fits a GPU; the greater, the better. A family of the GPU's own series comes first, as
 * the packager names packages after it; one for a whole class of GPUs is the last resort. */
enum { NO_FIT, FIT_OF_HIERARCHY, FIT_OF_CLASS, FIT_OF_SUB_FAMILY, FIT_OF_OWN_NAME, FIT_OF_SERIES };

/* The owner of the packages of a family: "gfx942" of "gfx942:xnack+". */
enum { NAME_SIZE = 64 };

static bool copy_owner(const char *family, char name[NAME_SIZE]) {
    size_t length = 0;
    const char *owner = rsdk_target_owner_of_name(family, &length);
    if (length >= NAME_SIZE) {
        return false;
    }
    memcpy(name, owner, length);
    name[length] = '\0';
    return true;
}

/* Return whether a family is the series of a processor. A GPU that the table does not know yet belongs to the series
 * that its name begins with: gfx1252 to "gfx125X-all". */
static bool is_series_of(const char *family, const char *processor) {
    size_t length = strlen(processor) - 1;
    return strncmp(family, processor, length) == 0 && family[length] == 'X';
}

static int fit_of(const char *offered, const char *processor) {
    char name[NAME_SIZE];
    const rsdk_target *target = rsdk_target_find(processor);
    if (!copy_owner(offered, name)) {
        return NO_FIT;
    }
    if (target != NULL && target->package_owner != NULL) {
        target = rsdk_target_find(target->package_owner);
    }
    if (strcmp(name, target != NULL ? target->name : processor) == 0) {
        return FIT_OF_OWN_NAME;
    }
    if (target == NULL) {
        return is_series_of(name, processor) ? FIT_OF_SERIES : NO_FIT;
    }
    const rsdk_target_family *family = rsdk_target_family_find(name);
    if (family == NULL || !rsdk_target_family_contains(family, target)) {
        return NO_FIT;
    }
    switch (family->level) {
    case RSDK_FAMILY_OF_HIERARCHY:
        return FIT_OF_HIERARCHY;
    case RSDK_SUB_FAMILY:
        return FIT_OF_SUB_FAMILY;
    case RSDK_FAMILY_OF_PACKAGES:
        break;
    }
    return strncmp(family->name, "gfx", 3) == 0 ? FIT_OF_SERIES : FIT_OF_CLASS;
}

size_t rsdk_family_find_best(const char *const *families, size_t count, const char *processor) {
    size_t best = count;
    int best_fit = NO_FIT;
    for (size_t i = 0; i < count; i++) {
        int fit = fit_of(families[i], processor);
        if (fit > best_fit) {
            best_fit = fit;
            best = i;
        }
    }
    return best;
}

/* Return whether `a` weighs more than `b`: visible before hidden, discrete before integrated, then more memory. The
 * list is in the order of nodes, which decides between equals. */
static bool outweighs(const rsdk_gpu *a, const rsdk_gpu *b) {
    bool a_visible = a->hip_index >= 0, b_visible = b->hip_index >= 0;
    bool a_integrated = a->gpu_class == RSDK_GPU_INTEGRATED, b_integrated = b->gpu_class == RSDK_GPU_INTEGRATED;
    if (a_visible != b_visible) {
        return a_visible;
    }
    return a_integrated != b_integrated ? b_integrated : a->memory > b->memory;
}

/* Return whether the choice depends on which of the GPUs is visible, and how much memory it has. */
static bool is_mixed(const rsdk_gpu_list *list) {
    for (size_t i = 1; i < rsdk_gpu_list_count(list); i++) {
        if (strcmp(rsdk_gpu_list_get(list, 0)->processor, rsdk_gpu_list_get(list, i)->processor) != 0) {
            return true;
        }
    }
    return false;
}

rsdk_status rsdk_family_choose(const rsdk_gpu_options *options, const char *const *families, size_t count,
                               rsdk_family_choice *choice, rsdk_error *error) {
    rsdk_gpu_options quick = *options, full = *options;
    rsdk_gpu_list *list = NULL;
    bool is_node_wise = options->environment != NULL && options->environment->node_override_count > 0;
    quick.targets_only = !is_node_wise; /* ROCm's numbers of nodes depend on the device files */
    full.targets_only = false;
    *choice = (rsdk_family_choice){.family = count, .other = count};
    rsdk_status status = rsdk_gpu_list_new(&quick, &list, error);
    if (status == RSDK_OK && is_mixed(list)) {
        rsdk_gpu_list_free(list);
        status = rsdk_gpu_list_new(&full, &list, error);
    }
    if (status == RSDK_OK) {
        const rsdk_gpu *chosen = NULL;
        for (size_t i = 0; i < rsdk_gpu_list_count(list); i++) {
            const rsdk_gpu *gpu = rsdk_gpu_list_get(list, i);
            size_t family = rsdk_family_find_best(families, count, gpu->processor);
            if (family < count && (chosen == NULL || outweighs(gpu, chosen))) {
                chosen = gpu;
                choice->family = family;
            }
        }
        if (chosen != NULL) {
            (void)snprintf(choice->gpu, sizeof choice->gpu, "%s", chosen->processor);
        }
        for (size_t i = 0; chosen != NULL && i < rsdk_gpu_list_count(list) && choice->other == count; i++) {
            const rsdk_gpu *gpu = rsdk_gpu_list_get(list, i);
            if (gpu->hip_index >= 0 && fit_of(families[choice->family], gpu->processor) == NO_FIT) {
                choice->other = rsdk_family_find_best(families, count, gpu->processor);
            }
        }
    }
    rsdk_gpu_list_free(list);
    return status;
}
