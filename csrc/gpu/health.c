/* The condition of the GPUs, from files that the kernel shows to every user. Each check is a row with the source of its
 * meaning. The first check asks whether the GPU sleeps, because reading other files may wake it. */
#include "gpu/examiner.h"

typedef struct check_row {
    const char *name;
    rsdk_status (*check)(rsdk_examiner *x, rsdk_error *error);
} check_row;

/* The checks of a GPU, with the source of each file's meaning. The first says whether the others may be asked. */
static const check_row gpu_checks[] = {
    {"power", rsdk_health_check_power},   /* Linux: Documentation/ABI/testing/sysfs-devices-power, runtime_status */
    {"kernel", rsdk_health_check_kernel}, /* health_table.c */
    /* Linux: amdgpu_ucode.c, FW_VERSION_ATTR; KFD's own fw_version is MEC's */
    {"firmware", rsdk_health_check_firmware},
    {"memory", rsdk_health_check_memory},   /* Linux: Documentation/gpu/amdgpu, mem_info_*; ttm_tt.c, pages_limit */
    {"BAR", rsdk_health_check_bar},         /* Linux: Documentation/gpu/amdgpu, mem_info_vis_vram_total */
    {"atomics", rsdk_health_check_atomics}, /* Linux: kfd_crat.h, CRAT_IOLINK_FLAGS_NO_ATOMICS_32_BIT and _64_BIT */
    {"errors", rsdk_health_check_errors},   /* Linux: Documentation/gpu/amdgpu/ras.rst, *_err_count; amdgpu_aca.c */
};
static const check_row machine_checks[] = {
    {"bus", rsdk_health_check_bus},     /* Linux: kfd_device.c, kgd2kfd_probe and kgd2kfd_device_init */
    {"IOMMU", rsdk_health_check_iommu}, /* Linux: Documentation/admin-guide/kernel-parameters.txt */
};

enum {
    GPU_CHECK_COUNT = sizeof gpu_checks / sizeof *gpu_checks,
    MACHINE_CHECK_COUNT = sizeof machine_checks / sizeof *machine_checks,
};

static rsdk_status run_check(rsdk_examiner *x, const check_row *row, rsdk_error *error) {
    x->check = row->name;
    RSDK_TRY(row->check(x, error));
    return x->is_out_of_memory ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status examine(rsdk_examiner *x, rsdk_error *error) {
    for (size_t i = 0; i < rsdk_gpu_list_count(x->list); i++) {
        x->gpu = rsdk_gpu_list_get(x->list, i);
        x->is_asleep = false;
        x->device = rsdk_examiner_write(x, "%s/sys/bus/pci/devices/%s", x->root, x->gpu->pci_address);
        RSDK_NEED(x->device, error);
        for (size_t check = 0; check < GPU_CHECK_COUNT && !x->is_asleep; check++) {
            RSDK_TRY(run_check(x, &gpu_checks[check], error));
        }
    }
    x->gpu = NULL;
    for (size_t check = 0; check < MACHINE_CHECK_COUNT && rsdk_gpu_list_count(x->list) > 0; check++) {
        RSDK_TRY(run_check(x, &machine_checks[check], error));
    }
    return RSDK_OK;
}

rsdk_status rsdk_health_new(const rsdk_gpu_list *list, const char *root, rsdk_health **health, rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_health *made = rsdk_arena_alloc(&arena, 1, sizeof *made);
    rsdk_examiner *x = rsdk_arena_alloc(&arena, 1, sizeof *x);
    *health = NULL;
    if (made == NULL || x == NULL) {
        rsdk_arena_clear(&arena);
        return rsdk_fail_no_memory(error);
    }
    made->arena = arena;
    *x = (rsdk_examiner){.health = made, .list = list, .root = root != NULL ? root : ""};
    rsdk_status status = examine(x, error);
    if (status != RSDK_OK) {
        rsdk_health_free(made);
        return status;
    }
    *health = made;
    return RSDK_OK;
}

void rsdk_health_free(rsdk_health *health) {
    if (health != NULL) {
        rsdk_arena arena = health->arena; /* the arena holds the result */
        rsdk_arena_clear(&arena);
    }
}

size_t rsdk_health_count(const rsdk_health *health) {
    return health->items.count;
}

const rsdk_health_item *rsdk_health_get(const rsdk_health *health, size_t index) {
    return index < health->items.count ? &health->items.items[index] : NULL;
}

const char *rsdk_health_state_name(rsdk_health_state state) {
    static const char *const names[] = {[RSDK_HEALTH_GOOD] = "good",
                                        [RSDK_HEALTH_BAD] = "bad",
                                        [RSDK_HEALTH_UNKNOWN] = "unknown",
                                        [RSDK_HEALTH_FACT] = "fact"};
    return names[state];
}
