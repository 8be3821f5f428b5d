/* Target ids: the ISA numbers give the name, the capability bits sramecc, and a static rule xnack. Only an open
 * /dev/kfd would tell which xnack mode the driver really gives a process, so it is a guess here. */
#include "gpu/features.h"

#include <string.h>

#include "gpu/tables.h"

enum { AMD_VENDOR_ID = 0x1002 };

#define CAPABILITY_SRAM_EDC      (UINT64_C(1) << 26)
#define CAPABILITY_ASIC_REVISION (UINT64_C(0xF) << 22)

bool rsdk_features_isa_version(const rsdk_node_properties *properties, rsdk_isa_version *version) {
    uint64_t number = properties->gfx_target_version;
    if (number != 0) {
        *version =
            (rsdk_isa_version){(unsigned)(number / 10000), (unsigned)(number / 100 % 100), (unsigned)(number % 100)};
        return true;
    }
    for (size_t i = 0; i < rsdk_pci_device_table_size && properties->vendor_id == AMD_VENDOR_ID; i++) {
        const rsdk_pci_devices *devices = &rsdk_pci_device_table[i];
        if (properties->device_id >= devices->first && properties->device_id <= devices->last) {
            const rsdk_target *target = rsdk_target_find(devices->target);
            *version = (rsdk_isa_version){target->major, target->minor, target->stepping};
            return true;
        }
    }
    return false;
}

static bool says(const char *value, const char *wanted) {
    return value != NULL && strcmp(value, wanted) == 0;
}

static rsdk_feature sramecc_of(const rsdk_target *target, uint64_t capability,
                               const rsdk_gpu_environment *environment) {
    if (!target->has_sramecc) {
        return RSDK_FEATURE_UNSUPPORTED;
    }
    if (says(environment->hsa_enable_sramecc, "0") || says(environment->hsa_enable_sramecc, "1")) {
        return environment->hsa_enable_sramecc[0] == '1' ? RSDK_FEATURE_ON : RSDK_FEATURE_OFF;
    }
    return (capability & CAPABILITY_SRAM_EDC) != 0 ? RSDK_FEATURE_ON : RSDK_FEATURE_OFF;
}

static const char *suffix(rsdk_feature feature, const char *on, const char *off) {
    return feature == RSDK_FEATURE_ON ? on : feature == RSDK_FEATURE_OFF ? off : "";
}

rsdk_status rsdk_features_fill(rsdk_arena *arena, rsdk_isa_version version, uint64_t capability,
                               const rsdk_gpu_environment *environment, rsdk_gpu *gpu, rsdk_error *error) {
    const rsdk_target *target = rsdk_target_find_version(version.major, version.minor, version.stepping);
    gpu->hip_processors = version.major >= 10 ? gpu->compute_units / 2 : gpu->compute_units;
    gpu->xnack = gpu->sramecc = RSDK_FEATURE_UNSUPPORTED;
    gpu->is_xnack_guessed = false;
    if (target == NULL) {
        gpu->processor = gpu->target =
            rsdk_arena_format(arena, "gfx%u%u%x", version.major, version.minor, version.stepping);
        RSDK_NEED(gpu->target, error);
        return RSDK_OK;
    }
    /* The first silicon of gfx1250 has another name where HSA_DISABLE_GFX12_STRICT=0 asks for it. */
    bool is_asked_for = says(environment->hsa_disable_gfx12_strict, "0") && strcmp(target->name, "gfx1250") == 0;
    target = is_asked_for && (capability & CAPABILITY_ASIC_REVISION) == 0 ? rsdk_target_find("gfx1250-strict") : target;
    gpu->processor = target->name;
    gpu->sramecc = sramecc_of(target, capability, environment);
    switch (target->xnack) {
    case RSDK_XNACK_NONE:
        gpu->xnack = RSDK_FEATURE_UNSUPPORTED;
        break;
    case RSDK_XNACK_ALWAYS:
        gpu->xnack = RSDK_FEATURE_ON;
        break;
    case RSDK_XNACK_OF_DRIVER:
        gpu->xnack = RSDK_FEATURE_OFF;
        gpu->is_xnack_guessed = true;
        break;
    case RSDK_XNACK_OF_PROCESS:
        gpu->xnack = says(environment->hsa_xnack, "1") ? RSDK_FEATURE_ON : RSDK_FEATURE_OFF;
        gpu->is_xnack_guessed = !says(environment->hsa_xnack, "0");
        break;
    }
    char text[64];
    bool names_xnack = target->xnack != RSDK_XNACK_ALWAYS;
    char *at = stpcpy(stpcpy(text, target->name), suffix(gpu->sramecc, ":sramecc+", ":sramecc-"));
    (void)stpcpy(at, names_xnack ? suffix(gpu->xnack, ":xnack+", ":xnack-") : "");
    gpu->target = rsdk_arena_copy(arena, text);
    RSDK_NEED(gpu->target, error);
    return RSDK_OK;
}
