/* The checks of the machine that the GPUs are in. */
#include <string.h>

#include "base/text.h"
#include "gpu/examiner.h"
#include "gpu/pci_bus.h"

/* Return whether a device is in the list. Partitions are functions of one device, so that only the rest of the address
 * counts. */
static bool is_listed(const rsdk_examiner *x, const char *address) {
    size_t length = strcspn(address, ".");
    for (size_t i = 0; i < rsdk_gpu_list_count(x->list); i++) {
        if (strncmp(rsdk_gpu_list_get(x->list, i)->pci_address, address, length + 1) == 0) {
            return true;
        }
    }
    return false;
}

rsdk_status rsdk_health_check_bus(rsdk_examiner *x, rsdk_error *error) {
    const char *devices = rsdk_examiner_write(x, "%s/sys/bus/pci/devices", x->root);
    rsdk_pci_bus bus = {.root = x->root};
    rsdk_text missing = RSDK_TEXT_INIT;
    RSDK_NEED(devices, error);
    if (rsdk_gpu_list_hidden_count(x->list) > 0) {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN, "KFD's list is not whole: the device cgroup hides GPUs", NULL,
                                 error);
    }
    RSDK_TRY(rsdk_pci_bus_read(&bus, &x->health->arena, error));
    if (!bus.exists) {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN, "the PCI bus cannot be listed", NULL, error);
    }
    for (size_t i = 0; i < bus.gpus.count; i++) {
        const rsdk_pci_gpu *gpu = &bus.gpus.items[i];
        if (!gpu->is_lent && !is_listed(x, gpu->address)) {
            rsdk_text_add_item(&missing, ", ", gpu->address);
        }
    }
    const char *text = missing.failed ? NULL : rsdk_arena_copy(&x->health->arena, rsdk_text_get(&missing));
    rsdk_text_clear(&missing);
    RSDK_NEED(text, error);
    return *text == '\0'
               ? rsdk_examiner_add(x, RSDK_HEALTH_GOOD, "KFD has every GPU of AMD that is on the PCI bus", NULL, error)
               : rsdk_examiner_add_bad(x, RSDK_W_GPU_027, devices,
                                       rsdk_examiner_write(x, "%s: perhaps PCIe atomics or firmware", text), NULL,
                                       error);
}

/* Return whether an IOMMU translates the addresses of a discrete GPU. A partition is no GPU of its own. */
static bool is_translated(rsdk_examiner *x, const rsdk_gpu *gpu) {
    const char *path = NULL, *device = rsdk_examiner_write(x, "%s/sys/bus/pci/devices/%s", x->root, gpu->pci_address);
    return device != NULL && gpu->partition == 0 && gpu->gpu_class != RSDK_GPU_INTEGRATED &&
           rsdk_examiner_read(x, device, "iommu_group/type", &path) == 0 && strncmp(x->text, "identity", 8) != 0;
}

/* Show the parameters of the IOMMU as they are: no source says that one of them is good or bad for ROCm in general.
 * RCCL says that it may hang where several GPUs are translated. */
rsdk_status rsdk_health_check_iommu(rsdk_examiner *x, rsdk_error *error) {
    size_t translated = 0;
    const char *path = NULL;
    rsdk_text words = RSDK_TEXT_INIT;
    for (size_t i = 0; i < rsdk_gpu_list_count(x->list); i++) {
        translated += is_translated(x, rsdk_gpu_list_get(x->list, i));
    }
    bool is_read = rsdk_examiner_read(x, x->root, "proc/cmdline", &path) == 0;
    rsdk_examiner_cut_line(x);
    for (char *rest = NULL, *word = strtok_r(x->text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strncmp(word, "iommu=", 6) == 0 || strncmp(word, "amd_iommu=", 10) == 0 ||
            strncmp(word, "intel_iommu=", 12) == 0) {
            rsdk_text_add_item(&words, " ", word);
        }
    }
    const char *text = words.failed       ? NULL
                       : !is_read         ? "the parameters of the kernel cannot be read"
                       : words.length > 0 ? rsdk_examiner_write(x, "parameters of the kernel: %s", words.data)
                                          : "no parameter of the kernel";
    rsdk_text_clear(&words);
    RSDK_NEED(text, error);
    if (translated >= 2) {
        text = rsdk_examiner_write(x, "it translates the addresses of %zu discrete GPUs; %s", translated, text);
        return rsdk_examiner_add_bad(x, RSDK_N_GPU_039, path, text, NULL, error);
    }
    return rsdk_examiner_add(x, is_read ? RSDK_HEALTH_FACT : RSDK_HEALTH_UNKNOWN, text, NULL, error);
}
