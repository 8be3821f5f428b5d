/* The check whether a GPU runs code that was compiled for a target.
 *
 *     rsdk_compatibility found = rsdk_compatibility_check("gfx11-generic", 1, "gfx1151", 0);
 *     puts(rsdk_code_fit_name(found.fit)); // "generic"
 *
 * The check uses rules and tables alone: no file is read, nothing is allocated and nothing fails. The GPU is given by
 * the target that ROCm presents (rsdk_gpu.target), to which HSA_OVERRIDE_GFX_VERSION has been applied. */
#ifndef ROCM_SDK_COMPATIBILITY_H
#define ROCM_SDK_COMPATIBILITY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The degree to which code fits a GPU; a greater value is better. Of several images the runtime takes the one that fits
 * best. */
typedef enum rsdk_code_fit {
    RSDK_FIT_NONE,       /* the code does not run there */
    RSDK_FIT_UNOFFICIAL, /* a patched runtime may try it: no promise of AMD's */
    RSDK_FIT_SPIRV,      /* the code is compiled for the GPU at first use */
    RSDK_FIT_GENERIC,    /* the code is for a generic target that covers the GPU */
    RSDK_FIT_COMPATIBLE, /* the code is for the processor, and leaves a feature open */
    RSDK_FIT_EXACT,      /* the code is for the processor and names the GPU's features, or there are none to name */
} rsdk_code_fit;

/* The reason why code does not fit. */
typedef enum rsdk_misfit {
    RSDK_MISFIT_NONE, /* the code fits */
    RSDK_MISFIT_PROCESSOR,
    RSDK_MISFIT_SRAMECC, /* the processor fits; the mode of the feature does not, here and below */
    RSDK_MISFIT_XNACK,
    RSDK_MISFIT_GENERIC_VERSION, /* the code is older than its generic target became stable */
} rsdk_misfit;

/* The mode of a feature that code demands, where the GPU's mode is not known. */
typedef enum rsdk_mode { RSDK_MODE_ANY, RSDK_MODE_OFF, RSDK_MODE_ON } rsdk_mode;

/* Patches of distributions that let a runtime try code for another processor. AMD's own runtimes have none. */
enum {
    RSDK_PATCHES_DEBIAN = 1, /* rocr-runtime and rocm-hipamd of Debian and Ubuntu */
    RSDK_PATCHES_SOLUS = 2,  /* Solus and nixpkgs */
    RSDK_PATCHES_ALL = 3,
};

typedef struct rsdk_compatibility {
    rsdk_code_fit fit;
    rsdk_misfit misfit;
    unsigned patches;         /* with RSDK_FIT_UNOFFICIAL: patches that accept it, RSDK_PATCHES_* */
    rsdk_mode sramecc, xnack; /* the GPU's id leaves the feature open, and the code fits in this mode only */
} rsdk_compatibility;

/* The value for code whose version is not known, because the code is compressed, or its container does not say. Such
 * code is taken for new enough. */
#define RSDK_GENERIC_VERSION_UNKNOWN (~0U)

/* Return whether code for the target `code` ("gfx90a:xnack-", "gfx11-generic", "amdgcnspirv") runs on the GPU `gpu`
 * ("gfx90a:sramecc+:xnack-"). The order of features does not matter. Where the GPU's id does not say the mode of a
 * feature that its processor has, as "gfx90a", code for either mode fits, and the result says which mode that takes.
 * `generic_version` counts for code of generic targets alone. `patches` are the patches that the runtime is taken to
 * have; 0 for AMD's. Processors that are not in the table fit themselves. */
rsdk_compatibility rsdk_compatibility_check(const char *code, unsigned generic_version, const char *gpu,
                                            unsigned patches);

/* The code that a set of patches lets run: code for any of `code` on any of `gpus`, lists that end with NULL. */
typedef struct rsdk_extended_isa {
    unsigned patches; /* one of RSDK_PATCHES_* */
    const char *const *code, *const *gpus;
} rsdk_extended_isa;

size_t rsdk_extended_isa_count(void);
const rsdk_extended_isa *rsdk_extended_isa_get(size_t index); /* NULL behind the last */

/* Return the value as a word: "exact", "compatible", "generic", "SPIR-V", "unofficial", "none"; "processor", "sramecc",
 * "xnack", "generic version", "none". */
const char *rsdk_code_fit_name(rsdk_code_fit fit);
const char *rsdk_misfit_name(rsdk_misfit misfit);

#ifdef __cplusplus
}
#endif
#endif
