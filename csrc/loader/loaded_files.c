/* The reader of names and notes of the objects that the linker has. */
#include "loader/link_map.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/fail.h"
#include "base/load_lock.h"
#include "base/path.h"
#include "elf/elf_note.h"

typedef RSDK_LIST(rsdk_loaded_file) file_list;

typedef struct search {
    rsdk_arena *arena;
    file_list *files;
    bool is_out_of_memory;
} search;

/* ---- build IDs ---- */

/* Return whether all `size` bytes at an address are in memory that comes from the file. */
static bool is_loaded(const struct dl_phdr_info *info, ElfW(Addr) address, size_t size) {
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        ElfW(Addr) start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) != 0 && address >= start &&
            segment->p_filesz >= size && address - start <= segment->p_filesz - size) {
            return true;
        }
    }
    return false;
}

static const char *build_id_of(search *s, const struct dl_phdr_info *info) {
    const char *build_id = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum && build_id == NULL && !s->is_out_of_memory; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        ElfW(Addr) address = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_NOTE && is_loaded(info, address, segment->p_filesz)) {
            const char *notes = (const char *)address; /* NOLINT(performance-no-int-to-ptr): the linker's */
            s->is_out_of_memory =
                !rsdk_elf_note_build_id(notes, segment->p_filesz, segment->p_align, s->arena, &build_id);
        }
    }
    return build_id;
}

/* ---- names ---- */

static int visit_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    search *s = context;
    const char *name = info->dlpi_name != NULL ? rsdk_path_name(info->dlpi_name) : "";
    for (size_t i = 0; i < s->files->count; i++) {
        rsdk_loaded_file *file = &s->files->items[i];
        if (file->path == NULL && strcmp(file->name, name) == 0) {
            file->path = rsdk_arena_copy(s->arena, info->dlpi_name);
            file->build_id = build_id_of(s, info);
            s->is_out_of_memory |= file->path == NULL;
        }
    }
    return s->is_out_of_memory;
}

static rsdk_status add(rsdk_arena *arena, file_list *files, const char *path, const char *shortname,
                       rsdk_error *error) {
    const char *name = rsdk_path_name(path);
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->items[i].name, name) == 0) {
            return RSDK_OK;
        }
    }
    const rsdk_loaded_file file = {.name = name, .shortname = shortname};
    RSDK_APPEND(arena, files, file, error);
    return RSDK_OK;
}

rsdk_status rsdk_loaded_files_read(const rsdk_loaded *loaded, rsdk_arena *arena, rsdk_loaded_file **files,
                                   size_t *count, rsdk_error *error) {
    file_list list = {0};
    for (size_t i = 0; i < rsdk_loaded_opened_count(loaded); i++) {
        const rsdk_location *location = &rsdk_loaded_opened(loaded, i)->location;
        RSDK_TRY(add(arena, &list, location->path, location->shortname, error));
    }
    for (size_t i = 0; i < rsdk_loaded_opened_count(loaded); i++) {
        const rsdk_loaded_entry *entry = rsdk_loaded_opened(loaded, i);
        for (size_t k = 0; k < entry->member_count; k++) {
            RSDK_TRY(add(arena, &list, entry->members[k], NULL, error));
        }
    }
    search s = {.arena = arena, .files = &list};
    rsdk_load_lock_begin_iteration();
    (void)dl_iterate_phdr(visit_object, &s);
    rsdk_load_lock_end_iteration();
    if (s.is_out_of_memory) {
        return rsdk_fail_no_memory(error);
    }
    *files = list.items;
    *count = list.count;
    return RSDK_OK;
}
