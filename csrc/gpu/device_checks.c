/* The checks of one GPU: whether it sleeps, its memory, its link, its errors. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/text.h"
#include "gpu/examiner.h"
#include "gpu/properties.h"

rsdk_status rsdk_health_check_power(rsdk_examiner *x, rsdk_error *error) {
    const char *path = NULL;
    int reason = rsdk_examiner_read(x, x->device, "power/runtime_status", &path);
    rsdk_examiner_cut_line(x);
    if (reason != 0) {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN, "the kernel does not say whether it sleeps", NULL, error);
    }
    if (strcmp(x->text, "suspended") == 0 || strcmp(x->text, "suspending") == 0) {
        x->is_asleep = true;
        return rsdk_examiner_add(x, RSDK_HEALTH_FACT, "asleep, rest not read", NULL, error);
    }
    bool is_awake = strcmp(x->text, "active") == 0 || strcmp(x->text, "resuming") == 0;
    return is_awake
               ? rsdk_examiner_add(x, RSDK_HEALTH_GOOD, "awake", NULL, error)
               : rsdk_examiner_add(x, RSDK_HEALTH_FACT,
                                   rsdk_examiner_write(x, "runtime power management: %.40s", x->text), NULL, error);
}

static double gigabytes(uint64_t bytes) {
    return (double)bytes / 1e9;
}

/* An integrated GPU has a part of the machine's memory that its firmware sets aside, and takes pages of the rest (GTT),
 * which TTM limits. HIP reports the same memory as KFD. */
rsdk_status rsdk_health_check_memory(rsdk_examiner *x, rsdk_error *error) {
    uint64_t own = 0, gtt = 0, pages = 0, limit = 0;
    long page = sysconf(_SC_PAGESIZE);
    if (x->gpu->gpu_class != RSDK_GPU_INTEGRATED) {
        return RSDK_OK;
    }
    if (!rsdk_examiner_read_number(x, x->device, "mem_info_vram_total", &own) ||
        !rsdk_examiner_read_number(x, x->device, "mem_info_gtt_total", &gtt)) {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN, "the driver does not say how its memory is divided", NULL,
                                 error);
    }
    bool has_limit = rsdk_examiner_read_number(x, x->root, "sys/module/ttm/parameters/pages_limit", &pages) &&
                     page > 0 && !__builtin_mul_overflow(pages, (uint64_t)page, &limit);
    const char *more = has_limit
                           ? rsdk_examiner_write(x, "ttm.pages_limit=%" PRIu64 " (%.1f GB)", pages, gigabytes(limit))
                           : "ttm.pages_limit, which cannot be read";
    RSDK_NEED(more, error);
    const char *text = rsdk_examiner_write(
        x,
        "HIP sees %.1f GB. The firmware reserves %.1f GB. The GPU may take %.1f GB more of system memory (GTT), "
        "a limit that a kernel parameter sets: %s",
        gigabytes(x->gpu->memory), gigabytes(own), gigabytes(gtt), more);
    return rsdk_examiner_add(x, RSDK_HEALTH_FACT, text, NULL, error);
}

rsdk_status rsdk_health_check_bar(rsdk_examiner *x, rsdk_error *error) {
    uint64_t visible = 0, total = 0;
    if (x->gpu->gpu_class == RSDK_GPU_INTEGRATED) {
        return RSDK_OK;
    }
    if (!rsdk_examiner_read_number(x, x->device, "mem_info_vis_vram_total", &visible) ||
        !rsdk_examiner_read_number(x, x->device, "mem_info_vram_total", &total) || total == 0) {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN,
                                 "the driver does not say how much of its memory the processor reaches", NULL, error);
    }
    const char *text =
        rsdk_examiner_write(x, "the processor reaches %.1f GB of %.1f GB", gigabytes(visible), gigabytes(total));
    RSDK_NEED(text, error);
    return visible >= total ? rsdk_examiner_add(x, RSDK_HEALTH_GOOD, text, NULL, error)
                            : rsdk_examiner_add_bad(x, RSDK_N_GPU_030, x->device, text, NULL, error);
}

enum { LINK_PCIE = 2, NO_ATOMICS_32 = 1 << 2, NO_ATOMICS_64 = 1 << 3 };

rsdk_status rsdk_health_check_atomics(rsdk_examiner *x, rsdk_error *error) {
    const char *links =
        rsdk_examiner_write(x, "%s/sys/class/kfd/kfd/topology/nodes/%u/io_links", x->root, x->gpu->node);
    uint64_t flags = 0;
    size_t seen = 0;
    RSDK_NEED(links, error);
    /* Combine the flags of all PCIe links of a GPU in one. */
    rsdk_directory names = {0};
    rsdk_status status = rsdk_directory_read(links, &x->health->arena, &names, NULL);
    for (size_t i = 0; status == RSDK_OK && i < names.names.count; i++) {
        rsdk_link_properties link = {0};
        const char *path = NULL, *name = rsdk_examiner_write(x, "%s/properties", names.names.items[i]);
        RSDK_NEED(name, error);
        if (rsdk_examiner_read(x, links, name, &path) == 0 &&
            rsdk_properties_parse_link(path, x->text, x->length, &link, NULL) == RSDK_OK && link.type == LINK_PCIE) {
            flags |= link.flags;
            seen++;
        }
    }
    RSDK_TRY(status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK);
    if (seen == 0) {
        return rsdk_examiner_add(x, RSDK_HEALTH_UNKNOWN, "KFD lists no PCIe link of it", NULL, error);
    }
    if ((flags & (NO_ATOMICS_32 | NO_ATOMICS_64)) == 0) {
        return rsdk_examiner_add(x, RSDK_HEALTH_GOOD, "its PCIe link has atomics", NULL, error);
    }
    const char *text =
        rsdk_examiner_write(x, "its PCIe link has no atomics of %s%s%s bits", (flags & NO_ATOMICS_32) != 0 ? "32" : "",
                            (flags & NO_ATOMICS_32) != 0 && (flags & NO_ATOMICS_64) != 0 ? " and " : "",
                            (flags & NO_ATOMICS_64) != 0 ? "64" : "");
    return rsdk_examiner_add_bad(x, RSDK_W_GPU_031, links, text, NULL, error);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

typedef struct error_sums {
    uint64_t uncorrected, corrected, deferred;
    size_t readable, refused;
    rsdk_text blocks; /* the blocks that have uncorrected errors */
} error_sums;

static uint64_t sum_of(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void count_errors(rsdk_examiner *x, const char *directory, const char *name, error_sums *sums) {
    rsdk_error_counts counts = {0};
    const char *path = NULL;
    if (rsdk_examiner_read(x, directory, name, &path) != 0 ||
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

static rsdk_status judge_errors(rsdk_examiner *x, const char *directory, const error_sums *sums, rsdk_error *error) {
    if (sums->readable == 0) {
        const char *text = sums->refused > 0 ? "its error counters cannot be read" : "it has no error counters";
        return rsdk_examiner_add(x, sums->refused > 0 ? RSDK_HEALTH_UNKNOWN : RSDK_HEALTH_FACT, text, NULL, error);
    }
    const char *rest = rsdk_examiner_write(x, "%" PRIu64 " corrected, %" PRIu64 " deferred%s", sums->corrected,
                                           sums->deferred, sums->refused > 0 ? "; some counters cannot be read" : "");
    RSDK_NEED(rest, error);
    if (sums->uncorrected == 0) {
        return rsdk_examiner_add(x, RSDK_HEALTH_GOOD, rsdk_examiner_write(x, "no uncorrected error; %s", rest), NULL,
                                 error);
    }
    const char *text = rsdk_examiner_write(x, "%" PRIu64 " uncorrected (%s), %s", sums->uncorrected,
                                           rsdk_text_get(&sums->blocks), rest);
    return rsdk_examiner_add_bad(x, RSDK_W_GPU_032, directory, text, NULL, error);
}

rsdk_status rsdk_health_check_errors(rsdk_examiner *x, rsdk_error *error) {
    const char *directory = rsdk_examiner_write(x, "%s/ras", x->device);
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
