/* The recording of pages: the pages of the SDK's libraries that are in the memory of this process. The kernel says so
 * for each page (proc_pid_pagemap(5)), whether or not the file was in its cache before, and requires no privileges.
 * With a touched page, the kernel maps the pages beside it that it has, 64 KiB unless told otherwise, so a list has
 * more pages than were touched. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/load_lock.h"
#include "base/new_file.h"
#include "base/path.h"
#include "elf/elf_file.h"
#include "elf/soname.h"
#include "loader/read_ahead/page_list.h"
#include "rocm_sdk/loader.h"
#include "sdk/inventory.h"
#include "sdk/open_sdk.h"
#include "sdk/tables.h"

enum {
    GAP_LIMIT = 8, /* pages between two touched ones: fewer are read with them, which costs less than another request */
    HEXADECIMAL = 16,
    ENTRIES_AT_ONCE = 512 /* entries of the page map */
};

#define IN_MEMORY (UINT64_C(3) << 62) /* bits of an entry of the page map: present, or swapped out */

/* A part of a file that is in memory. */
typedef struct segment {
    uintptr_t start;
    uint64_t offset, size; /* in the file */
} segment;

typedef struct object {
    const char *path;
    RSDK_LIST(segment) segments;
} object;

/* A file of the SDK that is in memory, beside the list's file with the same index. */
typedef struct recorded {
    const object *object;
    rsdk_elf_file elf;
} recorded;

typedef struct recorder {
    rsdk_arena arena;
    rsdk_sdk *sdk;
    rsdk_inventory inventory;
    RSDK_LIST(object) objects; /* all that the linker has loaded */
    RSDK_LIST(recorded) recorded;
    rsdk_page_list list;
    int page_map;
    rsdk_status status;
    rsdk_error *error;
} recorder;

/* ---- what is loaded ---- */

static rsdk_status take_object(recorder *r, const struct dl_phdr_info *info) {
    object found = {.path = rsdk_arena_copy(&r->arena, info->dlpi_name != NULL ? info->dlpi_name : "")};
    RSDK_NEED(found.path, r->error);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_filesz > 0) {
            segment part = {
                .start = info->dlpi_addr + header->p_vaddr, .offset = header->p_offset, .size = header->p_filesz};
            RSDK_APPEND(&r->arena, &found.segments, part, r->error);
        }
    }
    RSDK_APPEND(&r->arena, &r->objects, found, r->error);
    return RSDK_OK;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    recorder *r = context;
    r->status = take_object(r, info);
    return r->status != RSDK_OK;
}

/* ---- pages ---- */

/* Mark the pages of a segment that are in memory. A part of a page counts for the whole. */
static rsdk_status mark_pages(const recorder *r, const segment *part, uint64_t count, bool *marks) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), offset = part->offset - part->offset % page;
    const uint64_t first = part->start / page, end = (part->start + part->size + page - 1) / page;
    uint64_t entries[ENTRIES_AT_ONCE];
    for (uint64_t at = first; at < end;) {
        const size_t wanted = end - at < ENTRIES_AT_ONCE ? (size_t)(end - at) : ENTRIES_AT_ONCE;
        const ssize_t size = (ssize_t)(wanted * sizeof *entries);
        if (pread(r->page_map, entries, (size_t)size, (off_t)(at * sizeof *entries)) != size) {
            return rsdk_fail(r->error, RSDK_IO_ERROR, NULL, "/proc/self/pagemap: the kernel does not tell");
        }
        for (size_t i = 0; i < wanted; i++, at++) {
            const uint64_t place = (offset + (at - first) * page) / RSDK_PAGE_SIZE;
            for (uint64_t j = place; (entries[i] & IN_MEMORY) != 0 && j < place + page / RSDK_PAGE_SIZE; j++) {
                marks[j < count ? j : count - 1] = true;
            }
        }
    }
    return RSDK_OK;
}

static rsdk_status add_ranges(recorder *r, const bool *marks, uint64_t count, rsdk_paged_file *file) {
    for (uint64_t i = 0; i < count; i++) {
        rsdk_page_range *last = file->ranges.count > 0 ? &file->ranges.items[file->ranges.count - 1] : NULL;
        if (marks[i] && last != NULL && i - last->last <= GAP_LIMIT) {
            last->last = i;
        } else if (marks[i]) {
            RSDK_APPEND(&r->arena, &file->ranges, ((rsdk_page_range){.first = i, .last = i}), r->error);
        }
    }
    return RSDK_OK;
}

/* ---- files ---- */

/* Take the object if it is a file of the SDK. */
static rsdk_status take_file(recorder *r, const object *found) {
    const rsdk_known_directory *known = NULL;
    const char *platform = NULL;
    rsdk_paged_file file = {.name = rsdk_path_name(found->path)};
    recorded entry = {.object = found};
    const char *parent = rsdk_path_parent(&r->arena, found->path);
    RSDK_NEED(parent, r->error);
    if (found->path[0] != '/' || strpbrk(found->path, "\t\n") != NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_inventory_known_directory(&r->inventory, parent, &known, r->error));
    if (known->directory == NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_sdk_package_directory(r->sdk, known->directory->package, &platform, r->error));
    file.directory =
        rsdk_path_join(&r->arena, rsdk_path_name(platform), rsdk_path_below(known->directory->path, platform));
    RSDK_NEED(file.directory, r->error);
    RSDK_TRY(rsdk_elf_file_read_with_versions(found->path, &r->arena, &entry.elf, r->error));
    file.size = entry.elf.size;
    /* Take the build ID. The digits are as the reader of the file wrote them; an ID that is too long for a list is left
     * out. */
    const rsdk_elf_file *elf = &entry.elf;
    const size_t size = elf->build_id != NULL ? strlen(elf->build_id) / 2 : 0;
    for (size_t i = 0; size <= RSDK_PAGED_BUILD_ID_LIMIT && i < size; i++) {
        const char digits[] = {elf->build_id[2 * i], elf->build_id[2 * i + 1], '\0'};
        file.build_id[file.build_id_size++] = (unsigned char)strtoul(digits, NULL, HEXADECIMAL);
    }
    file.build_id_place = elf->build_id_place;
    const uint64_t count = (file.size - 1) / RSDK_PAGE_SIZE + 1;
    rsdk_arena scratch = RSDK_ARENA_INIT;
    bool *marks = rsdk_arena_alloc(&scratch, count, sizeof *marks);
    RSDK_NEED(marks, r->error); /* then the arena has nothing */
    rsdk_status status = RSDK_OK;
    marks[0] = true; /* the header, which linker and loader read */
    for (size_t i = 0; status == RSDK_OK && i < found->segments.count; i++) {
        status = mark_pages(r, &found->segments.items[i], count, marks);
    }
    status = status == RSDK_OK ? add_ranges(r, marks, count, &file) : status;
    rsdk_arena_clear(&scratch);
    RSDK_TRY(status);
    RSDK_APPEND(&r->arena, &r->recorded, entry, r->error);
    RSDK_APPEND(&r->arena, &r->list.files, file, r->error);
    return RSDK_OK;
}

/* ---- what brings in what ---- */

static bool opens(const recorded *opener, const recorded *opened) {
    for (size_t i = 0; i < rsdk_dlopen_dependency_count; i++) {
        if (rsdk_soname_has_linker_name(opener->elf.soname, rsdk_dlopen_dependencies[i].opener) &&
            rsdk_soname_has_linker_name(opened->elf.soname, rsdk_dlopen_dependencies[i].opened)) {
            return true;
        }
    }
    return false;
}

static bool brings_in(const recorded *file, const recorded *other) {
    for (size_t i = 0; i < file->elf.needed.count; i++) {
        const char *name = rsdk_path_name(file->elf.needed.items[i]);
        if (strcmp(name, rsdk_path_name(other->object->path)) == 0 ||
            (other->elf.soname != NULL && strcmp(name, other->elf.soname) == 0)) {
            return true;
        }
    }
    return file->elf.soname != NULL && other->elf.soname != NULL && opens(file, other);
}

static rsdk_status take_needed(recorder *r) {
    for (size_t i = 0; i < r->recorded.count; i++) {
        for (size_t j = 0; j < r->recorded.count; j++) {
            if (i != j && brings_in(&r->recorded.items[i], &r->recorded.items[j])) {
                RSDK_APPEND(&r->arena, &r->list.files.items[i].needed, j, r->error);
            }
        }
    }
    return RSDK_OK;
}

/* ---- the whole ---- */

static rsdk_status record_to(recorder *r, const char *path) {
    const rsdk_library_directory *directory = NULL;
    if (rsdk_sdk_fallback(r->sdk) != NULL) {
        return rsdk_fail(r->error, RSDK_BAD_ARGUMENT, NULL,
                         "a ROCm that is not installed as packages has no page list");
    }
    rsdk_load_lock_begin_iteration();
    (void)dl_iterate_phdr(visit_object, r);
    rsdk_load_lock_end_iteration();
    RSDK_TRY(r->status);
    for (size_t i = 0; i < r->objects.count; i++) {
        RSDK_TRY(take_file(r, &r->objects.items[i]));
    }
    RSDK_TRY(r->list.files.count > 0
                 ? take_needed(r)
                 : rsdk_fail(r->error, RSDK_BAD_ARGUMENT, NULL, "nothing to record: no library of the SDK is loaded"));
    if (path == NULL) {
        RSDK_TRY(rsdk_inventory_directory(&r->inventory, RSDK_CORE, "lib", &directory, r->error));
        path = rsdk_path_join(&r->arena, directory->path, RSDK_PAGE_LIST_NAME);
        RSDK_NEED(path, r->error);
    }
    rsdk_text text = RSDK_TEXT_INIT;
    rsdk_page_list_add_text(&r->list, &text);
    rsdk_status status = text.failed ? rsdk_fail_no_memory(r->error)
                                     : rsdk_new_file_write(path, rsdk_text_get(&text), text.length, true, r->error);
    rsdk_text_clear(&text);
    return status;
}

rsdk_status rsdk_loader_record_pages(rsdk_sdk *sdk, const char *path, rsdk_error *error) {
    recorder r = {.sdk = sdk, .error = error};
    r.inventory = rsdk_inventory_make(sdk, &r.arena, true);
    r.page_map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (r.page_map < 0) {
        return rsdk_fail(error, RSDK_IO_ERROR, NULL, "/proc/self/pagemap: cannot be opened: %s", strerror(errno));
    }
    rsdk_load_lock_take();
    rsdk_status status = record_to(&r, path);
    rsdk_load_lock_release();
    (void)close(r.page_map);
    rsdk_arena_clear(&r.arena);
    return status;
}
