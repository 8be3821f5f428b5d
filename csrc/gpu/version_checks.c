/* The checks of the software that runs a GPU: the version of the kernel, and the versions of its firmware. */
#include <stdlib.h>
#include <string.h>

#include "gpu/examiner.h"
#include "gpu/tables.h"

/* Read "6.17.9-generic" as three numbers; missing numbers are 0. */
static bool read_release(const char *text, unsigned version[3]) {
    const char *at = text;
    memset(version, 0, 3 * sizeof *version);
    for (size_t i = 0; i < 3 && *at >= '0' && *at <= '9'; i++) {
        char *end = NULL;
        unsigned long number = strtoul(at, &end, 10);
        version[i] = number < 100000 ? (unsigned)number : 100000;
        at = *end == '.' ? end + 1 : "";
    }
    return version[0] != 0;
}

static bool is_older(const unsigned version[3], const unsigned other[3]) {
    for (size_t i = 0; i < 3; i++) {
        if (version[i] != other[i]) {
            return version[i] < other[i];
        }
    }
    return false;
}

rsdk_status rsdk_health_check_kernel(rsdk_examiner *x, rsdk_error *error) {
    const rsdk_needed_kernel *row = NULL;
    const char *path = NULL;
    unsigned version[3];
    for (size_t i = 0; i < rsdk_needed_kernel_table_size; i++) {
        if (strcmp(rsdk_needed_kernel_table[i].target, x->gpu->real_processor) == 0) {
            row = &rsdk_needed_kernel_table[i];
        }
    }
    int reason = rsdk_examiner_read(x, x->root, "proc/sys/kernel/osrelease", &path);
    rsdk_examiner_cut_line(x);
    if (reason != 0 || !read_release(x->text, version)) {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN, "the version of the kernel cannot be read", NULL, error);
    }
    if (row == NULL) {
        const char *text =
            rsdk_examiner_write(x, "Linux %.64s; no version is known that %s needs", x->text, x->gpu->real_processor);
        return rsdk_examiner_add(x, RSDK_HEALTH_FACT, text, NULL, error);
    }
    const char *needed = rsdk_examiner_write(x, "Linux %u.%u.%u", row->version[0], row->version[1], row->version[2]);
    RSDK_NEED(needed, error);
    if (!is_older(version, row->version)) {
        return rsdk_examiner_add(
            x, RSDK_HEALTH_GOOD,
            rsdk_examiner_write(x, "Linux %.64s; %s needs %s", x->text, x->gpu->real_processor, needed), NULL, error);
    }
    const char *text = rsdk_examiner_write(x, "this is Linux %.64s, and %s needs %s: %s", x->text,
                                           x->gpu->real_processor, needed, row->harm);
    return rsdk_examiner_add_bad(x, RSDK_W_GPU_029, path, text, RSDK_FACTS({"needed", needed}), error);
}

static rsdk_status check_firmware_row(rsdk_examiner *x, const rsdk_bad_firmware *row, rsdk_error *error) {
    const char *path = NULL, *directory = rsdk_examiner_write(x, "%s/fw_version", x->device);
    char *end = NULL;
    RSDK_NEED(directory, error);
    int reason = rsdk_examiner_read(x, directory, row->file, &path);
    RSDK_NEED(path, error);
    rsdk_examiner_cut_line(x);
    unsigned long version = strtoul(x->text, &end, 0);
    if (reason != 0 || x->length == 0 || *end != '\0') {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN,
                                 rsdk_examiner_write(x, "this kernel does not list the version of %s", row->name), NULL,
                                 error);
    }
    if (version != row->version) {
        return rsdk_examiner_add(
            x, RSDK_HEALTH_GOOD,
            rsdk_examiner_write(x, "%s 0x%lx; 0x%x is known to do harm", row->name, version, row->version), NULL,
            error);
    }
    return rsdk_examiner_add_bad(x, RSDK_W_GPU_028, path,
                                 rsdk_examiner_write(x, "%s 0x%lx: %s", row->name, version, row->harm),
                                 RSDK_FACTS({"repair", row->repair}), error);
}

rsdk_status rsdk_health_check_firmware(rsdk_examiner *x, rsdk_error *error) {
    const rsdk_target *target = rsdk_target_find(x->gpu->real_processor);
    for (size_t i = 0; target != NULL && i < rsdk_bad_firmware_table_size; i++) {
        const rsdk_bad_firmware *row = &rsdk_bad_firmware_table[i];
        const rsdk_target_family *family = rsdk_target_family_find(row->targets);
        if (strcmp(row->targets, target->name) == 0 ||
            (family != NULL && rsdk_target_family_contains(family, target))) {
            RSDK_TRY(check_firmware_row(x, row, error));
        }
    }
    return RSDK_OK;
}
