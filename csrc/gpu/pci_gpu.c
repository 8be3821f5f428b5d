/* Reads the PCI devices of class 03 (display) or 12 (accelerator) and vendor 1002. An attribute that is missing or
 * damaged is as one that is not known. */
#include "gpu/pci_gpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fail.h"

enum { PATH_SIZE = 128, VALUE_SIZE = 16 };

/* Reads the beginning of `device`/`name` below an open directory, without the line break; false where there is none. */
static bool read_attribute(int parent, const char *device, const char *name, char text[VALUE_SIZE]) {
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/%s", device, name);
    int descriptor = length > 0 && (size_t)length < sizeof path
                         ? openat(parent, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                         : -1;
    ssize_t got = descriptor >= 0 ? read(descriptor, text, VALUE_SIZE - 1) : -1;
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0';
}

static bool read_number(int parent, const char *device, const char *name, int base, unsigned long limit,
                        unsigned *number) {
    char text[VALUE_SIZE], *end = NULL;
    if (!read_attribute(parent, device, name, text) || text[0] < '0' || text[0] > '9') {
        return false;
    }
    unsigned long value = strtoul(text, &end, base);
    *number = (unsigned)value;
    return *end == '\0' && value <= limit;
}

static bool is_gpu(int parent, const char *device) {
    char vendor[VALUE_SIZE], class[VALUE_SIZE];
    return read_attribute(parent, device, "vendor", vendor) && strcmp(vendor, "0x1002") == 0 &&
           read_attribute(parent, device, "class", class) &&
           (strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0);
}

static void read_facts(int parent, const char *device, rsdk_pci_gpu *gpu) {
    static const char *const names[] = {"major", "minor", "revision"};
    unsigned device_id = 0;
    gpu->device_id = read_number(parent, device, "device", 16, UINT16_MAX, &device_id) ? (uint16_t)device_id : 0;
    gpu->has_gc_version = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[VALUE_SIZE * 3];
        (void)snprintf(path, sizeof path, "ip_discovery/die/0/GC/0/%s", names[i]);
        gpu->has_gc_version =
            gpu->has_gc_version && read_number(parent, device, path, 10, UINT8_MAX, &gpu->gc_version[i]);
    }
}

static rsdk_status add(rsdk_pci_gpus *gpus, rsdk_pci_gpu gpu, rsdk_arena *arena, rsdk_error *error) {
    RSDK_APPEND(arena, gpus, gpu, error);
    return RSDK_OK;
}

rsdk_status rsdk_pci_gpus_read(const char *root, rsdk_arena *arena, rsdk_pci_gpus *gpus, rsdk_error *error) {
    rsdk_directory listing = {0};
    const char *path = rsdk_arena_format(arena, "%s/sys/bus/pci/devices", root);
    RSDK_NEED(path, error);
    rsdk_status status = rsdk_directory_read(path, arena, &listing, NULL);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    int parent = status == RSDK_OK && listing.exists ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (size_t i = 0; parent >= 0 && status == RSDK_OK && i < listing.names.count; i++) {
        rsdk_pci_gpu gpu = {.address = listing.names.items[i]};
        if (is_gpu(parent, gpu.address)) {
            read_facts(parent, gpu.address, &gpu);
            status = add(gpus, gpu, arena, error);
        }
    }
    if (parent >= 0) {
        (void)close(parent);
    }
    return parent >= 0 ? status : RSDK_OK;
}
