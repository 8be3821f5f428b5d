/* The condition of the GPUs, from files that the kernel shows to every user. Each check is a row with the source of its
 * meaning. Whether the GPU sleeps is asked first, because reading other files may wake it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/text.h"
#include "gpu/attribute.h"
#include "gpu/pci_bus.h"
#include "gpu/problem_list.h"
#include "gpu/properties.h"
#include "gpu/tables.h"

enum { ATTRIBUTE_SIZE = 4097 };

struct rsdk_health {
    rsdk_arena arena; /* holds the result itself too */
    RSDK_LIST(rsdk_health_item) items;
};

typedef struct examiner {
    rsdk_health *health;
    const rsdk_gpu_list *list;
    const char *root;      /* without '/' at its end */
    const char *check;     /* the row that is at work */
    const rsdk_gpu *gpu;   /* NULL: the machine */
    const char *device;    /* its PCI directory */
    bool is_asleep;        /* nothing else of this GPU is read */
    bool is_out_of_memory; /* where a path could not be written */
    char text[ATTRIBUTE_SIZE];
    size_t length;
} examiner;

/* A text that lives as long as the result; NULL out of memory, which is remembered. */
__attribute__((format(printf, 2, 3))) static const char *write_text(examiner *x, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = rsdk_arena_format_list(&x->health->arena, format, arguments);
    va_end(arguments);
    x->is_out_of_memory |= text == NULL;
    return text;
}

/* ---- items ---- */

static rsdk_status add_item(examiner *x, rsdk_health_state state, const char *text, const rsdk_gpu_problem *problem,
                            rsdk_error *error) {
    RSDK_NEED(text, error);
    const rsdk_health_item item = {.check = x->check,
                                   .node = x->gpu != NULL ? (int)x->gpu->node : RSDK_NO_NODE,
                                   .state = state,
                                   .text = text,
                                   .problem = problem};
    RSDK_APPEND(&x->health->arena, &x->health->items, item, error);
    return RSDK_OK;
}

static rsdk_status add_bad(examiner *x, rsdk_code code, const char *path, const char *text, const rsdk_fact *facts,
                           rsdk_error *error) {
    rsdk_problem_list list = {.arena = &x->health->arena};
    const rsdk_gpu_problem problem = {
        .code = code, .node = x->gpu != NULL ? (int)x->gpu->node : RSDK_NO_NODE, .path = path, .detail = text};
    RSDK_TRY(rsdk_problem_list_add(&list, problem, facts, error));
    return add_item(x, RSDK_HEALTH_BAD, text, &list.problems.items[0], error);
}

/* ---- attributes ---- */

/* A file below `directory`; *path is its whole name. 0 or the reason. */
static int read_file(examiner *x, const char *directory, const char *name, const char **path) {
    *path = write_text(x, "%s/%s", directory, name);
    return *path != NULL ? rsdk_attribute_read(AT_FDCWD, *path, x->text, sizeof x->text, &x->length) : ENOMEM;
}

static bool read_number(examiner *x, const char *directory, const char *name, uint64_t *number) {
    const char *path = NULL;
    return read_file(x, directory, name, &path) == 0 &&
           rsdk_properties_parse_number(path, x->text, x->length, number, NULL) == RSDK_OK;
}

/* The first line, which is the whole content of most attributes. */
static void cut_line(examiner *x) {
    x->length = strcspn(x->text, "\n");
    x->text[x->length] = '\0';
}

static double gigabytes(uint64_t bytes) {
    return (double)bytes / 1e9;
}

/* ---- the checks of a GPU ---- */

static rsdk_status check_power(examiner *x, rsdk_error *error) {
    const char *path = NULL;
    int reason = read_file(x, x->device, "power/runtime_status", &path);
    cut_line(x);
    if (reason != 0) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "the kernel does not say whether it sleeps", NULL, error);
    }
    if (strcmp(x->text, "suspended") == 0 || strcmp(x->text, "suspending") == 0) {
        x->is_asleep = true;
        return add_item(x, RSDK_HEALTH_FACT, "asleep, rest not read", NULL, error);
    }
    bool is_awake = strcmp(x->text, "active") == 0 || strcmp(x->text, "resuming") == 0;
    return is_awake
               ? add_item(x, RSDK_HEALTH_GOOD, "awake", NULL, error)
               : add_item(x, RSDK_HEALTH_FACT, write_text(x, "runtime power management: %.40s", x->text), NULL, error);
}

/* "6.17.9-generic" as three numbers; those that are not there are 0. */
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

static rsdk_status check_kernel(examiner *x, rsdk_error *error) {
    const rsdk_needed_kernel *row = NULL;
    const char *path = NULL;
    unsigned version[3];
    for (size_t i = 0; i < rsdk_needed_kernel_table_size; i++) {
        if (strcmp(rsdk_needed_kernel_table[i].target, x->gpu->real_processor) == 0) {
            row = &rsdk_needed_kernel_table[i];
        }
    }
    int reason = read_file(x, x->root, "proc/sys/kernel/osrelease", &path);
    cut_line(x);
    if (reason != 0 || !read_release(x->text, version)) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "the version of the kernel cannot be read", NULL, error);
    }
    if (row == NULL) {
        const char *text =
            write_text(x, "Linux %.64s; no version is known that %s needs", x->text, x->gpu->real_processor);
        return add_item(x, RSDK_HEALTH_FACT, text, NULL, error);
    }
    const char *needed = write_text(x, "Linux %u.%u.%u", row->version[0], row->version[1], row->version[2]);
    RSDK_NEED(needed, error);
    if (!is_older(version, row->version)) {
        return add_item(x, RSDK_HEALTH_GOOD,
                        write_text(x, "Linux %.64s; %s needs %s", x->text, x->gpu->real_processor, needed), NULL,
                        error);
    }
    const char *text =
        write_text(x, "this is Linux %.64s, and %s needs %s: %s", x->text, x->gpu->real_processor, needed, row->harm);
    return add_bad(x, RSDK_W_GPU_029, path, text, RSDK_FACTS({"needed", needed}), error);
}

static rsdk_status check_firmware_row(examiner *x, const rsdk_bad_firmware *row, rsdk_error *error) {
    const char *path = NULL, *directory = write_text(x, "%s/fw_version", x->device);
    char *end = NULL;
    RSDK_NEED(directory, error);
    int reason = read_file(x, directory, row->file, &path);
    RSDK_NEED(path, error);
    cut_line(x);
    unsigned long version = strtoul(x->text, &end, 0);
    if (reason != 0 || x->length == 0 || *end != '\0') {
        return add_item(x, RSDK_HEALTH_UNKNOWN, write_text(x, "this kernel does not list the version of %s", row->name),
                        NULL, error);
    }
    if (version != row->version) {
        return add_item(x, RSDK_HEALTH_GOOD,
                        write_text(x, "%s 0x%lx; 0x%x is known to do harm", row->name, version, row->version), NULL,
                        error);
    }
    return add_bad(x, RSDK_W_GPU_028, path, write_text(x, "%s 0x%lx: %s", row->name, version, row->harm),
                   RSDK_FACTS({"repair", row->repair}), error);
}

static rsdk_status check_firmware(examiner *x, rsdk_error *error) {
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

/* An integrated GPU has a part of the machine's memory that its firmware sets aside, and takes pages of the rest (GTT),
 * which TTM limits. What KFD reports as its memory is what HIP reports. */
static rsdk_status check_memory(examiner *x, rsdk_error *error) {
    uint64_t own = 0, gtt = 0, pages = 0, limit = 0;
    long page = sysconf(_SC_PAGESIZE);
    if (x->gpu->gpu_class != RSDK_GPU_INTEGRATED) {
        return RSDK_OK;
    }
    if (!read_number(x, x->device, "mem_info_vram_total", &own) ||
        !read_number(x, x->device, "mem_info_gtt_total", &gtt)) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "the driver does not say how its memory is divided", NULL, error);
    }
    bool has_limit = read_number(x, x->root, "sys/module/ttm/parameters/pages_limit", &pages) && page > 0 &&
                     !__builtin_mul_overflow(pages, (uint64_t)page, &limit);
    const char *more = has_limit ? write_text(x, "ttm.pages_limit=%" PRIu64 " (%.1f GB)", pages, gigabytes(limit))
                                 : "ttm.pages_limit, which cannot be read";
    RSDK_NEED(more, error);
    const char *text =
        write_text(x,
                   "HIP sees %.1f GB; set aside by the firmware of the machine: %.1f GB, to be had of the rest "
                   "(GTT): %.1f GB, which the kernel parameter changes: %s",
                   gigabytes(x->gpu->memory), gigabytes(own), gigabytes(gtt), more);
    return add_item(x, RSDK_HEALTH_FACT, text, NULL, error);
}

static rsdk_status check_bar(examiner *x, rsdk_error *error) {
    uint64_t visible = 0, total = 0;
    if (x->gpu->gpu_class == RSDK_GPU_INTEGRATED) {
        return RSDK_OK;
    }
    if (!read_number(x, x->device, "mem_info_vis_vram_total", &visible) ||
        !read_number(x, x->device, "mem_info_vram_total", &total) || total == 0) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "the driver does not say how much of its memory the processor reaches",
                        NULL, error);
    }
    const char *text = write_text(x, "the processor reaches %.1f GB of %.1f GB", gigabytes(visible), gigabytes(total));
    RSDK_NEED(text, error);
    return visible >= total ? add_item(x, RSDK_HEALTH_GOOD, text, NULL, error)
                            : add_bad(x, RSDK_N_GPU_030, x->device, text, NULL, error);
}

enum { LINK_PCIE = 2, NO_ATOMICS_32 = 1 << 2, NO_ATOMICS_64 = 1 << 3 };

/* The flags of all PCIe links of a GPU in one; *seen counts them. */
static rsdk_status read_links(examiner *x, const char *links, uint64_t *flags, size_t *seen, rsdk_error *error) {
    rsdk_directory names = {0};
    rsdk_status status = rsdk_directory_read(links, &x->health->arena, &names, NULL);
    for (size_t i = 0; status == RSDK_OK && i < names.names.count; i++) {
        rsdk_link_properties link = {0};
        const char *path = NULL, *name = write_text(x, "%s/properties", names.names.items[i]);
        RSDK_NEED(name, error);
        if (read_file(x, links, name, &path) == 0 &&
            rsdk_properties_parse_link(path, x->text, x->length, &link, NULL) == RSDK_OK && link.type == LINK_PCIE) {
            *flags |= link.flags;
            (*seen)++;
        }
    }
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status check_atomics(examiner *x, rsdk_error *error) {
    const char *links = write_text(x, "%s/sys/class/kfd/kfd/topology/nodes/%u/io_links", x->root, x->gpu->node);
    uint64_t flags = 0;
    size_t seen = 0;
    RSDK_NEED(links, error);
    RSDK_TRY(read_links(x, links, &flags, &seen, error));
    if (seen == 0) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "KFD lists no PCIe link of it", NULL, error);
    }
    if ((flags & (NO_ATOMICS_32 | NO_ATOMICS_64)) == 0) {
        return add_item(x, RSDK_HEALTH_GOOD, "its PCIe link has atomics", NULL, error);
    }
    const char *text =
        write_text(x, "its PCIe link has no atomics of %s%s%s bits", (flags & NO_ATOMICS_32) != 0 ? "32" : "",
                   (flags & NO_ATOMICS_32) != 0 && (flags & NO_ATOMICS_64) != 0 ? " and " : "",
                   (flags & NO_ATOMICS_64) != 0 ? "64" : "");
    return add_bad(x, RSDK_W_GPU_031, links, text, NULL, error);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

typedef struct error_sums {
    uint64_t uncorrected, corrected, deferred;
    size_t readable, refused;
    rsdk_text blocks; /* that have uncorrected errors */
} error_sums;

static uint64_t sum_of(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void count_errors(examiner *x, const char *directory, const char *name, error_sums *sums) {
    rsdk_error_counts counts = {0};
    const char *path = NULL;
    if (read_file(x, directory, name, &path) != 0 ||
        rsdk_properties_parse_errors(path, x->text, x->length, &counts, NULL) != RSDK_OK) {
        sums->refused++;
        return;
    }
    sums->readable++;
    sums->uncorrected = sum_of(sums->uncorrected, counts.uncorrected);
    sums->corrected = sum_of(sums->corrected, counts.corrected);
    sums->deferred = sum_of(sums->deferred, counts.deferred);
    if (counts.uncorrected > 0) {
        rsdk_text_add_item(&sums->blocks, ", ", name);
    }
}

static rsdk_status judge_errors(examiner *x, const char *directory, const error_sums *sums, rsdk_error *error) {
    if (sums->readable == 0) {
        const char *text = sums->refused > 0 ? "its error counters cannot be read" : "it has no error counters";
        return add_item(x, sums->refused > 0 ? RSDK_HEALTH_UNKNOWN : RSDK_HEALTH_FACT, text, NULL, error);
    }
    const char *rest = write_text(x, "%" PRIu64 " corrected, %" PRIu64 " deferred%s", sums->corrected, sums->deferred,
                                  sums->refused > 0 ? "; some counters cannot be read" : "");
    RSDK_NEED(rest, error);
    if (sums->uncorrected == 0) {
        return add_item(x, RSDK_HEALTH_GOOD, write_text(x, "no uncorrected error; %s", rest), NULL, error);
    }
    const char *text =
        write_text(x, "%" PRIu64 " uncorrected (%s), %s", sums->uncorrected, rsdk_text_get(&sums->blocks), rest);
    return add_bad(x, RSDK_W_GPU_032, directory, text, NULL, error);
}

static rsdk_status check_errors(examiner *x, rsdk_error *error) {
    const char *directory = write_text(x, "%s/ras", x->device);
    rsdk_directory names = {0};
    error_sums sums = {.blocks = RSDK_TEXT_INIT};
    RSDK_NEED(directory, error);
    rsdk_status status = rsdk_directory_read(directory, &x->health->arena, &names, NULL);
    for (size_t i = 0; status == RSDK_OK && i < names.names.count; i++) {
        const char *name = names.names.items[i];
        if (ends_with(name, "_err_count") || strncmp(name, "aca_", 4) == 0) {
            count_errors(x, directory, name, &sums);
        }
    }
    sums.refused += status == RSDK_IO_ERROR;
    status = status == RSDK_NO_MEMORY || sums.blocks.failed ? rsdk_fail_no_memory(error)
                                                            : judge_errors(x, directory, &sums, error);
    rsdk_text_clear(&sums.blocks);
    return status;
}

/* ---- the checks of the machine ---- */

/* Partitions are functions of one device, so that only the rest of the address counts. */
static bool is_listed(const examiner *x, const char *address) {
    size_t length = strcspn(address, ".");
    for (size_t i = 0; i < rsdk_gpu_list_count(x->list); i++) {
        if (strncmp(rsdk_gpu_list_get(x->list, i)->pci_address, address, length + 1) == 0) {
            return true;
        }
    }
    return false;
}

static rsdk_status check_bus(examiner *x, rsdk_error *error) {
    const char *devices = write_text(x, "%s/sys/bus/pci/devices", x->root);
    rsdk_pci_bus bus = {.root = x->root};
    rsdk_text missing = RSDK_TEXT_INIT;
    RSDK_NEED(devices, error);
    if (rsdk_gpu_list_hidden_count(x->list) > 0) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "KFD's list is not whole: the device cgroup hides GPUs", NULL, error);
    }
    RSDK_TRY(rsdk_pci_bus_read(&bus, &x->health->arena, error));
    if (!bus.exists) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "the PCI bus cannot be listed", NULL, error);
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
    return *text == '\0' ? add_item(x, RSDK_HEALTH_GOOD, "KFD has every GPU of AMD that is on the PCI bus", NULL, error)
                         : add_bad(x, RSDK_W_GPU_027, devices,
                                   write_text(x, "%s: perhaps PCIe atomics or firmware", text), NULL, error);
}

/* Shown as they are: no source says that one of them is good or bad for ROCm in general. */
static rsdk_status check_iommu(examiner *x, rsdk_error *error) {
    const char *path = NULL;
    rsdk_text words = RSDK_TEXT_INIT;
    if (read_file(x, x->root, "proc/cmdline", &path) != 0) {
        return add_item(x, RSDK_HEALTH_UNKNOWN, "the parameters of the kernel cannot be read", NULL, error);
    }
    cut_line(x);
    for (char *rest = NULL, *word = strtok_r(x->text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strncmp(word, "iommu=", 6) == 0 || strncmp(word, "amd_iommu=", 10) == 0 ||
            strncmp(word, "intel_iommu=", 12) == 0) {
            rsdk_text_add_item(&words, " ", word);
        }
    }
    const char *text = words.failed       ? NULL
                       : words.length > 0 ? write_text(x, "parameters of the kernel: %s", words.data)
                                          : "no parameter of the kernel";
    rsdk_text_clear(&words);
    return add_item(x, RSDK_HEALTH_FACT, text, NULL, error);
}

/* ---- all of them ---- */

typedef struct check_row {
    const char *name;
    rsdk_status (*check)(examiner *x, rsdk_error *error);
} check_row;

/* With the source of what the file means. The first says whether the others may be asked. */
static const check_row gpu_checks[] = {
    {"power", check_power},       /* Linux: Documentation/ABI/testing/sysfs-devices-power, runtime_status */
    {"kernel", check_kernel},     /* health_table.c */
    {"firmware", check_firmware}, /* Linux: amdgpu_ucode.c, FW_VERSION_ATTR; KFD's own fw_version is that of MEC */
    {"memory", check_memory},     /* Linux: Documentation/gpu/amdgpu, mem_info_*; ttm_tt.c, pages_limit */
    {"BAR", check_bar},           /* Linux: Documentation/gpu/amdgpu, mem_info_vis_vram_total */
    {"atomics", check_atomics},   /* Linux: kfd_crat.h, CRAT_IOLINK_FLAGS_NO_ATOMICS_32_BIT and _64_BIT */
    {"errors", check_errors},     /* Linux: Documentation/gpu/amdgpu/ras.rst, *_err_count; amdgpu_aca.c */
};
static const check_row machine_checks[] = {
    {"bus", check_bus},     /* Linux: kfd_device.c, kgd2kfd_probe and kgd2kfd_device_init */
    {"IOMMU", check_iommu}, /* Linux: Documentation/admin-guide/kernel-parameters.txt */
};

enum {
    GPU_CHECK_COUNT = sizeof gpu_checks / sizeof *gpu_checks,
    MACHINE_CHECK_COUNT = sizeof machine_checks / sizeof *machine_checks,
};

static rsdk_status run_check(examiner *x, const check_row *row, rsdk_error *error) {
    x->check = row->name;
    RSDK_TRY(row->check(x, error));
    return x->is_out_of_memory ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status examine(examiner *x, rsdk_error *error) {
    for (size_t i = 0; i < rsdk_gpu_list_count(x->list); i++) {
        x->gpu = rsdk_gpu_list_get(x->list, i);
        x->is_asleep = false;
        x->device = write_text(x, "%s/sys/bus/pci/devices/%s", x->root, x->gpu->pci_address);
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
    examiner *x = rsdk_arena_alloc(&arena, 1, sizeof *x);
    *health = NULL;
    if (made == NULL || x == NULL) {
        rsdk_arena_clear(&arena);
        return rsdk_fail_no_memory(error);
    }
    made->arena = arena;
    *x = (examiner){.health = made, .list = list, .root = root != NULL ? root : ""};
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
        rsdk_arena arena = health->arena; /* it holds the result */
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
