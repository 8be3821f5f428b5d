/* The names of products: from amdgpu.ids, whose lines are "DEVICE,\tREVISION,\tNAME" with hexadecimal ids, else from
 * the table. */
#include "gpu/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "gpu/attribute.h"
#include "gpu/tables.h"

enum { NAMES_LIMIT = 1 << 20, KEY_SIZE = 32 };

static rsdk_status read_names(rsdk_product_names *names, rsdk_error *error) {
    static const char *const places[] = {"/usr/share/libdrm/amdgpu.ids", "/opt/amdgpu/share/libdrm/amdgpu.ids"};
    names->is_read = true;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *text = NULL;
        size_t length = 0;
        rsdk_file_identity identity;
        const char *path = rsdk_arena_format(names->scratch, "%s%s", names->root, places[i]);
        RSDK_NEED(path, error);
        rsdk_status status = rsdk_file_read_text(path, NAMES_LIMIT, names->scratch, &text, &length, &identity, NULL);
        if (status == RSDK_NO_MEMORY) {
            return rsdk_fail_no_memory(error);
        }
        if (status == RSDK_OK) {
            names->text = text;
            names->length = length;
            return RSDK_OK;
        }
    }
    return RSDK_OK;
}

/* Read the number in a device's file `revision` ("0xc1"); false where it cannot be read. */
static bool read_revision(const rsdk_product_names *names, const char *pci_address, unsigned *revision) {
    const char *path =
        rsdk_arena_format(names->scratch, "%s/sys/bus/pci/devices/%s/revision", names->root, pci_address);
    return path != NULL && rsdk_attribute_read_number(path, 16, UINT8_MAX, revision);
}

/* Find the revision of a device. KFD puts a partition's number into the place of the PCI function; the device itself is
 * function 0. */
static bool find_revision(const rsdk_product_names *names, const char *pci_address, unsigned *revision) {
    if (read_revision(names, pci_address, revision)) {
        return true;
    }
    char *whole_device = rsdk_arena_copy(names->scratch, pci_address);
    if (whole_device == NULL) {
        return false;
    }
    whole_device[strlen(whole_device) - 1] = '0';
    return strcmp(whole_device, pci_address) != 0 && read_revision(names, whole_device, revision);
}

static int compare_ids(const void *key, const void *row) {
    const unsigned *device_id = key;
    const rsdk_product *product = row;
    return *device_id < product->device_id ? -1 : *device_id > product->device_id;
}

rsdk_status rsdk_product_name_find(rsdk_product_names *names, const char *pci_address, unsigned device_id,
                                   rsdk_arena *arena, const char **name, rsdk_error *error) {
    *name = NULL;
    if (!names->is_read) {
        RSDK_TRY(read_names(names, error));
    }
    char key[KEY_SIZE];
    unsigned revision = 0;
    if (names->text == NULL || !find_revision(names, pci_address, &revision)) {
        return RSDK_OK;
    }
    int length = snprintf(key, sizeof key, "\n%04X,\t%02X,\t", device_id, revision);
    const char *at = memmem(names->text, names->length, key, (size_t)length);
    if (at == NULL) {
        return RSDK_OK;
    }
    at += length;
    *name = rsdk_arena_copy_bytes(arena, at, strcspn(at, "\r\n"));
    RSDK_NEED(*name, error);
    return RSDK_OK;
}

const char *rsdk_product_name_of_device(unsigned device_id) {
    const rsdk_product *product =
        bsearch(&device_id, rsdk_product_table, rsdk_product_table_size, sizeof *rsdk_product_table, compare_ids);
    return product != NULL ? product->name : NULL;
}
