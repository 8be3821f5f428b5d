/* The reader of the PCI devices of class 03 (display) or 12 (accelerator) and vendor 1002. An attribute that is missing
 * or damaged counts as not known. */
#include "gpu/pci_bus.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fail.h"
#include "base/path.h"
#include "gpu/attribute.h"

enum { VALUE_SIZE = 16 };

/* Return the path of `device`/`name`; a path that is too long leads nowhere. */
static const char *path_of(const rsdk_pci_bus *bus, const char *device, const char *name, char path[PATH_MAX]) {
    (void)snprintf(path, PATH_MAX, "%s/sys/bus/pci/devices/%s/%s", bus->root, device, name);
    return path;
}

static bool begins_with(const rsdk_pci_bus *bus, const char *device, const char *name, const char *beginning) {
    char path[PATH_MAX], text[VALUE_SIZE];
    size_t length = 0;
    (void)rsdk_attribute_read(AT_FDCWD, path_of(bus, device, name, path), text, sizeof text, &length);
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_gpu(const rsdk_pci_bus *bus, const char *device) {
    return begins_with(bus, device, "vendor", "0x1002") &&
           (begins_with(bus, device, "class", "0x03") || begins_with(bus, device, "class", "0x12"));
}

static bool is_lent(const rsdk_pci_bus *bus, const char *device) {
    char path[PATH_MAX], driver[PATH_MAX];
    ssize_t length = readlink(path_of(bus, device, "driver", path), driver, sizeof driver - 1);
    driver[length > 0 ? length : 0] = '\0';
    return length > 0 && strcmp(rsdk_path_name(driver), "amdgpu") != 0;
}

rsdk_status rsdk_pci_bus_read(rsdk_pci_bus *bus, rsdk_arena *arena, rsdk_error *error) {
    rsdk_directory listing = {0};
    if (bus->is_read) {
        return RSDK_OK;
    }
    const char *path = rsdk_arena_format(arena, "%s/sys/bus/pci/devices", bus->root);
    RSDK_NEED(path, error);
    rsdk_status status = rsdk_directory_read(path, arena, &listing, NULL);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    bus->is_read = true;
    bus->exists = status == RSDK_OK && listing.exists;
    for (size_t i = 0; bus->exists && i < listing.names.count; i++) {
        const char *device = listing.names.items[i];
        if (is_gpu(bus, device)) {
            const rsdk_pci_gpu gpu = {.address = device, .is_lent = is_lent(bus, device)};
            RSDK_APPEND(arena, &bus->gpus, gpu, error);
        }
    }
    return RSDK_OK;
}

rsdk_pci_identity rsdk_pci_bus_identify(const rsdk_pci_bus *bus, const rsdk_pci_gpu *gpu) {
    static const char *const version[] = {"ip_discovery/die/0/GC/0/major", "ip_discovery/die/0/GC/0/minor",
                                          "ip_discovery/die/0/GC/0/revision"};
    rsdk_pci_identity identity = {.has_gc_version = true};
    char path[PATH_MAX];
    (void)rsdk_attribute_read_number(path_of(bus, gpu->address, "device", path), 16, UINT16_MAX, &identity.device_id);
    for (size_t i = 0; identity.has_gc_version && i < sizeof version / sizeof *version; i++) {
        identity.has_gc_version = rsdk_attribute_read_number(path_of(bus, gpu->address, version[i], path), 10,
                                                             UINT8_MAX, &identity.gc_version[i]);
    }
    return identity;
}
