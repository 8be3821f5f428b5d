/* The choice among the ways to identify a GPU. */
#include "gpu/gpu_list.h"

#include "base/fail.h"
#include "gpu/tables.h"
#include "gpu/targets.h"

const char *rsdk_detection_source_name(rsdk_detection_source source) {
    static const char *const names[] = {"KFD", "amdgpu", "PCI id"};
    return names[source];
}

static rsdk_status add(rsdk_arena *arena, rsdk_detected_gpus *gpus, const char *target, rsdk_detection_source source,
                       const char *place, rsdk_error *error) {
    const rsdk_target *known = target != NULL ? rsdk_target_find(target) : NULL;
    const rsdk_detected_gpu gpu = {.target = known != NULL ? known->name : NULL,
                                   .gpu_class = known != NULL ? known->gpu_class : RSDK_GPU_DISCRETE,
                                   .source = source,
                                   .place = place};
    RSDK_NEED(place, error);
    RSDK_APPEND(arena, gpus, gpu, error);
    return RSDK_OK;
}

static rsdk_status add_from_kfd(const rsdk_gpu_list *list, rsdk_arena *arena, rsdk_detected_gpus *gpus,
                                rsdk_error *error) {
    for (size_t i = 0; i < rsdk_gpu_list_count(list); i++) {
        const rsdk_gpu *gpu = rsdk_gpu_list_get(list, i);
        const char *place = rsdk_arena_format(arena, "node %u", gpu->node);
        RSDK_TRY(add(arena, gpus, gpu->real_processor, RSDK_DETECTED_BY_KFD, place, error));
    }
    return RSDK_OK;
}

static const char *target_of_gc_version(const unsigned version[3]) {
    for (size_t i = 0; i < rsdk_gc_version_table_size; i++) {
        const rsdk_gc_version *row = &rsdk_gc_version_table[i];
        if (version[0] == row->major && version[1] == row->minor && version[2] == row->revision) {
            return row->target;
        }
    }
    return NULL;
}

static rsdk_status add_from_bus(rsdk_gpu_list *list, rsdk_arena *arena, rsdk_detected_gpus *gpus, rsdk_error *error) {
    const rsdk_pci_bus *bus = NULL;
    RSDK_TRY(rsdk_gpu_list_bus(list, &bus, error));
    for (size_t i = 0; i < bus->gpus.count; i++) {
        const rsdk_pci_gpu *gpu = &bus->gpus.items[i];
        const rsdk_pci_identity identity = rsdk_pci_bus_identify(bus, gpu);
        const char *target = identity.has_gc_version ? target_of_gc_version(identity.gc_version) : NULL;
        rsdk_detection_source source = target != NULL ? RSDK_DETECTED_BY_DRIVER : RSDK_DETECTED_BY_PCI_ID;
        target = target != NULL ? target : rsdk_target_of_device(identity.device_id);
        RSDK_TRY(add(arena, gpus, target, source, rsdk_arena_copy(arena, gpu->address), error));
    }
    return RSDK_OK;
}

rsdk_status rsdk_detection_read(const char *root, rsdk_arena *arena, rsdk_detected_gpus *gpus, rsdk_error *error) {
    rsdk_gpu_list *list = NULL;
    RSDK_TRY(rsdk_gpu_list_new(&(rsdk_gpu_options){.root = root, .targets_only = true}, &list, error));
    rsdk_status status = add_from_kfd(list, arena, gpus, error);
    if (status == RSDK_OK && gpus->count == 0) {
        status = add_from_bus(list, arena, gpus, error);
    }
    rsdk_gpu_list_free(list);
    return status;
}
