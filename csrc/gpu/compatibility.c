/* The rules of LLVM, comgr, HIP and ROCr: the processor is the same or covered by a generic target, and each feature
 * that the code names has the mode of the GPU. */
#include "rocm_sdk/compatibility.h"

#include <string.h>

#include "gpu/tables.h"
#include "gpu/targets.h"

/* Code of a generic target is stable from this version on; LLVM gives none of them a higher one yet. */
enum { FIRST_GENERIC_VERSION = 1 };

static const char spirv_target[] = "amdgcnspirv";

/* A target id, as read. */
typedef struct side {
    const char *id;
    rsdk_target_id parts;
} side;

typedef enum state { ABSENT, OPEN, OFF, ON } state; /* the state of a feature of a GPU; OPEN: its mode is not known */

/* The features of a GPU on which code of one target is to run. */
typedef struct features {
    state sramecc, xnack;
} features;

static bool is_processor(const side *of, const char *name) {
    return strncmp(of->id, name, of->parts.processor_length) == 0 && name[of->parts.processor_length] == '\0';
}

static const rsdk_target *target_of(const side *gpu) {
    for (size_t i = 0; i < rsdk_target_table_size; i++) {
        if (is_processor(gpu, rsdk_target_table[i].name)) {
            return &rsdk_target_table[i];
        }
    }
    return NULL;
}

static state state_of(char sign, bool is_there) {
    return sign == '+' ? ON : sign == '-' ? OFF : is_there ? OPEN : ABSENT;
}

static bool can_choose(rsdk_xnack_support xnack) {
    return xnack == RSDK_XNACK_OF_DRIVER || xnack == RSDK_XNACK_OF_PROCESS;
}

/* Find the features of a GPU. For a processor that is not in the table, nothing but the id is known. */
static features features_of(const side *gpu, const rsdk_target *target) {
    features found = {.sramecc = state_of(gpu->parts.sramecc, target == NULL || target->has_sramecc),
                      .xnack = state_of(gpu->parts.xnack, target == NULL || can_choose(target->xnack))};
    if (target != NULL && target->xnack == RSDK_XNACK_ALWAYS) {
        found.xnack = ON;
    }
    return found;
}

/* Return whether code that names the mode `sign` of a feature runs; *mode becomes the demanded mode where the GPU's
 * mode is open. */
static bool fits(char sign, state gpu, rsdk_mode *mode) {
    if (sign != '\0' && gpu == OPEN) {
        *mode = sign == '+' ? RSDK_MODE_ON : RSDK_MODE_OFF;
        return true;
    }
    return sign == '\0' || gpu == (sign == '+' ? ON : OFF);
}

/* Return the result for a processor that fits. */
static rsdk_compatibility judge(rsdk_code_fit fit, const side *code, features gpu) {
    rsdk_compatibility result = {.fit = fit};
    if (!fits(code->parts.sramecc, gpu.sramecc, &result.sramecc)) {
        return (rsdk_compatibility){.misfit = RSDK_MISFIT_SRAMECC};
    }
    if (!fits(code->parts.xnack, gpu.xnack, &result.xnack)) {
        return (rsdk_compatibility){.misfit = RSDK_MISFIT_XNACK};
    }
    return result;
}

/* Judge code of a generic target. A feature that the target does not have does not count: gfx906 has sramecc,
 * gfx9-generic does not. */
static rsdk_compatibility judge_generic(const side *code, unsigned version, const rsdk_generic_target *generic,
                                        features gpu) {
    gpu.sramecc = generic->has_sramecc ? gpu.sramecc : ABSENT;
    return version < FIRST_GENERIC_VERSION ? (rsdk_compatibility){.misfit = RSDK_MISFIT_GENERIC_VERSION}
                                           : judge(RSDK_FIT_GENERIC, code, gpu);
}

static bool is_among(const side *of, const char *const *names) {
    for (; *names != NULL; names++) {
        if (is_processor(of, *names)) {
            return true;
        }
    }
    return false;
}

static rsdk_compatibility judge_unofficial(const side *code, const side *gpu, features here, unsigned patches) {
    unsigned accepting = 0;
    for (size_t i = 0; i < rsdk_extended_isa_table_size; i++) {
        const rsdk_extended_isa *row = &rsdk_extended_isa_table[i];
        if ((row->patches & patches) != 0 && is_among(code, row->code) && is_among(gpu, row->gpus)) {
            accepting |= row->patches;
        }
    }
    if (accepting == 0) {
        return (rsdk_compatibility){.misfit = RSDK_MISFIT_PROCESSOR};
    }
    rsdk_compatibility result = judge(RSDK_FIT_UNOFFICIAL, code, here);
    result.patches = result.fit == RSDK_FIT_UNOFFICIAL ? accepting : 0;
    return result;
}

rsdk_compatibility rsdk_compatibility_check(const char *code, unsigned generic_version, const char *gpu,
                                            unsigned patches) {
    side on = {.id = gpu}, of = {.id = code};
    const rsdk_generic_target *generic = NULL;
    if (!rsdk_target_id_read(gpu, &on.parts) || !rsdk_target_id_read(code, &of.parts) ||
        on.parts.processor_length == 0) {
        return (rsdk_compatibility){.misfit = RSDK_MISFIT_PROCESSOR};
    }
    if (strcmp(code, spirv_target) == 0) {
        return (rsdk_compatibility){.fit = RSDK_FIT_SPIRV};
    }
    const rsdk_target *target = target_of(&on);
    features here = features_of(&on, target);
    if (of.parts.processor_length == on.parts.processor_length &&
        memcmp(of.id, on.id, of.parts.processor_length) == 0) {
        bool leaves_open =
            (of.parts.sramecc == '\0' && here.sramecc != ABSENT && target != NULL) ||
            (of.parts.xnack == '\0' && here.xnack != ABSENT && target != NULL && can_choose(target->xnack));
        return judge(leaves_open ? RSDK_FIT_COMPATIBLE : RSDK_FIT_EXACT, &of, here);
    }
    if (target != NULL && target->generic != NULL && is_processor(&of, target->generic)) {
        generic = rsdk_target_generic_find(target->generic);
    }
    return generic != NULL ? judge_generic(&of, generic_version, generic, here)
                           : judge_unofficial(&of, &on, here, patches);
}

size_t rsdk_extended_isa_count(void) {
    return rsdk_extended_isa_table_size;
}

const rsdk_extended_isa *rsdk_extended_isa_get(size_t index) {
    return index < rsdk_extended_isa_table_size ? &rsdk_extended_isa_table[index] : NULL;
}

const char *rsdk_code_fit_name(rsdk_code_fit fit) {
    static const char *const names[] = {
        [RSDK_FIT_NONE] = "none",       [RSDK_FIT_UNOFFICIAL] = "unofficial", [RSDK_FIT_SPIRV] = "SPIR-V",
        [RSDK_FIT_GENERIC] = "generic", [RSDK_FIT_COMPATIBLE] = "compatible", [RSDK_FIT_EXACT] = "exact"};
    return names[fit];
}

const char *rsdk_misfit_name(rsdk_misfit misfit) {
    static const char *const names[] = {[RSDK_MISFIT_NONE] = "none",
                                        [RSDK_MISFIT_PROCESSOR] = "processor",
                                        [RSDK_MISFIT_SRAMECC] = "sramecc",
                                        [RSDK_MISFIT_XNACK] = "xnack",
                                        [RSDK_MISFIT_GENERIC_VERSION] = "generic version"};
    return names[misfit];
}
