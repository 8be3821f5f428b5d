/* The reader of the link map, through dl_iterate_phdr, which holds the linker's lock meanwhile. */
#include "loader/link_map.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/load_lock.h"
#include "base/process_memory.h"
#include "elf/soname.h"

typedef struct collection {
    rsdk_arena *arena;
    rsdk_link_map *map;
    rsdk_error *error;
    rsdk_status status;
} collection;

/* Return where the object's dynamic section points: glibc has relocated these addresses where the section is
 * writable. */
static const void *at_address(const struct dl_phdr_info *info, ElfW(Addr) value) {
    ElfW(Addr) address = value < info->dlpi_addr ? value + info->dlpi_addr : value;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        ElfW(Addr) start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz) {
            return (const void *)address;
        }
    }
    return NULL;
}

static const ElfW(Dyn) * dynamic_section(const struct dl_phdr_info *info) {
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            return at_address(info, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        }
    }
    return NULL;
}

static const ElfW(Dyn) * dynamic_entry(const ElfW(Dyn) * section, ElfW(Sxword) tag) {
    for (const ElfW(Dyn) *entry = section; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == tag) {
            return entry;
        }
    }
    return NULL;
}

/* Copy the string that a dynamic entry names; NULL where there is none. */
static rsdk_status copy_string(const collection *c, const struct dl_phdr_info *info, const ElfW(Dyn) * section,
                               ElfW(Sxword) tag, const char **copy) {
    const ElfW(Dyn) *entry = dynamic_entry(section, tag);
    const ElfW(Dyn) *table = dynamic_entry(section, DT_STRTAB);
    const char *strings = entry != NULL && table != NULL ? at_address(info, table->d_un.d_ptr) : NULL;
    *copy = NULL;
    if (strings != NULL) {
        *copy = rsdk_arena_copy(c->arena, strings + entry->d_un.d_val);
        RSDK_NEED(*copy, c->error);
    }
    return RSDK_OK;
}

static rsdk_status take_object(const collection *c, const struct dl_phdr_info *info) {
    const ElfW(Dyn) *section = dynamic_section(info);
    rsdk_mapped_object object = {.path = rsdk_arena_copy(c->arena, info->dlpi_name != NULL ? info->dlpi_name : "")};
    RSDK_NEED(object.path, c->error);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    object.start = UINTPTR_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type == PT_LOAD) {
            start -= start % page;
            end += (page - end % page) % page;
            object.start = start < object.start ? start : object.start;
            object.end = end > object.end ? end : object.end;
        }
    }
    RSDK_TRY(copy_string(c, info, section, DT_SONAME, &object.soname));
    if (c->map->objects.count == 0 && dynamic_entry(section, DT_RUNPATH) == NULL) {
        RSDK_TRY(copy_string(c, info, section, DT_RPATH, &c->map->program_rpath));
    }
    RSDK_APPEND(c->arena, &c->map->objects, object, c->error);
    return RSDK_OK;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    collection *c = context;
    c->status = take_object(c, info);
    return c->status != RSDK_OK;
}

/* ---- look-ups ---- */

/* Return the key of a SONAME in the table. An object without SONAME has the empty key. */
static const char *soname_key(const char *soname) {
    return soname != NULL ? soname : "";
}

/* Put the object in front of the objects that have the same name. */
static rsdk_status add_to(rsdk_name_table *table, rsdk_arena *arena, const char *name, size_t length, size_t object,
                          size_t *next, rsdk_error *error) {
    if (!rsdk_name_table_find(table, name, length, next)) {
        *next = RSDK_NO_OBJECT;
    }
    return rsdk_name_table_set(table, arena, name, length, object, error);
}

/* Index the objects from the last to the first, so that the first one is found first. */
static rsdk_status index_objects(rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error) {
    for (size_t i = map->objects.count; i-- > 0;) {
        rsdk_mapped_object *object = &map->objects.items[i];
        const char *soname = soname_key(object->soname);
        size_t length = strlen(soname), library_length = rsdk_soname_linker_name_length(soname);
        RSDK_TRY(rsdk_name_table_set(&map->paths, arena, object->path, strlen(object->path), i, error));
        RSDK_TRY(add_to(&map->sonames, arena, soname, length, i, &object->next_of_soname, error));
        RSDK_TRY(add_to(&map->libraries, arena, soname, library_length, i, &object->next_of_library, error));
    }
    return RSDK_OK;
}

rsdk_status rsdk_link_map_read(rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error) {
    *map = (rsdk_link_map){0};
    collection c = {.arena = arena, .map = map, .error = error, .status = RSDK_OK};
    rsdk_load_lock_begin_iteration();
    (void)dl_iterate_phdr(visit_object, &c);
    rsdk_load_lock_end_iteration();
    return c.status == RSDK_OK ? index_objects(arena, map, error) : c.status;
}

/* ---- a new process ---- */

static size_t first_count; /* of the objects that were there as soon as this library was loaded */

static int count_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)info;
    (void)size;
    (*(size_t *)context)++;
    return 0;
}

__attribute__((constructor)) static void count_first(void) {
    (void)dl_iterate_phdr(count_object, &first_count);
}

rsdk_status rsdk_link_map_keep_first(rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error) {
    map->objects.count = first_count < map->objects.count ? first_count : map->objects.count;
    map->paths = map->sonames = map->libraries = (rsdk_name_table){0};
    return index_objects(arena, map, error);
}

/* ---- another process ---- */

enum { HEXADECIMAL = 16 };

/* Return the field of a line after `text`; it ends at a blank. */
static const char *next_field(const char *text) {
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

/* Take a line of /proc/PID/maps (proc(5)): addresses, rights, offset, device, inode, path. Mappings of one file that
 * follow each other are one object, unless the file begins anew. */
static rsdk_status take_mapping(rsdk_arena *arena, rsdk_link_map *map, const char *line, rsdk_error *error) {
    char *dash = NULL;
    const char *offset = next_field(next_field(line)), *path = next_field(next_field(next_field(offset)));
    uintptr_t start = strtoull(line, &dash, HEXADECIMAL);
    if (*dash != '-' || path[0] != '/') {
        return RSDK_OK; /* memory without a file; the zeroed rest of a library has no symbols that can be named */
    }
    uintptr_t end = strtoull(dash + 1, NULL, HEXADECIMAL);
    rsdk_mapped_object *last = map->objects.count > 0 ? &map->objects.items[map->objects.count - 1] : NULL;
    if (last != NULL && strcmp(last->path, path) == 0 && strtoull(offset, NULL, HEXADECIMAL) != 0) {
        last->end = end;
        return RSDK_OK;
    }
    rsdk_mapped_object object = {.path = rsdk_arena_copy(arena, path), .start = start, .end = end};
    RSDK_NEED(object.path, error);
    RSDK_APPEND(arena, &map->objects, object, error);
    return RSDK_OK;
}

rsdk_status rsdk_link_map_read_process(pid_t pid, rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error) {
    char *text = NULL, *line = NULL, *rest = NULL;
    size_t size = 0;
    *map = (rsdk_link_map){0};
    RSDK_TRY(rsdk_process_memory_read_file(pid, "maps", arena, &text, &size, error));
    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        RSDK_TRY(take_mapping(arena, map, line, error));
    }
    return RSDK_OK;
}

static rsdk_mapped_object *object_at(const rsdk_link_map *map, size_t index) {
    return index != RSDK_NO_OBJECT ? &map->objects.items[index] : NULL;
}

static rsdk_mapped_object *find(const rsdk_link_map *map, const rsdk_name_table *table, const char *name,
                                size_t length) {
    size_t index = RSDK_NO_OBJECT;
    return rsdk_name_table_find(table, name, length, &index) ? object_at(map, index) : NULL;
}

const rsdk_mapped_object *rsdk_link_map_find_soname(const rsdk_link_map *map, const char *soname) {
    return soname[0] != '\0' ? find(map, &map->sonames, soname, strlen(soname)) : NULL;
}

const rsdk_mapped_object *rsdk_link_map_find_library(const rsdk_link_map *map, const char *name) {
    return name[0] != '\0' ? find(map, &map->libraries, name, rsdk_soname_linker_name_length(name)) : NULL;
}

const rsdk_mapped_object *rsdk_link_map_next_of_library(const rsdk_link_map *map, const rsdk_mapped_object *object) {
    return object_at(map, object->next_of_library);
}

size_t rsdk_link_map_find_address(const rsdk_link_map *map, uintptr_t address) {
    for (size_t i = 0; i < map->objects.count; i++) {
        if (address >= map->objects.items[i].start && address < map->objects.items[i].end) {
            return i;
        }
    }
    return RSDK_NO_OBJECT;
}

static bool is_file(rsdk_mapped_object *object, rsdk_file_identity identity) {
    if (!object->is_identified) {
        object->is_identified = true;
        object->exists = object->path[0] == '/' && rsdk_file_identify(object->path, &object->identity);
    }
    return object->exists && rsdk_file_same(object->identity, identity);
}

const rsdk_mapped_object *rsdk_link_map_find_file(rsdk_link_map *map, const char *path, const char *soname,
                                                  rsdk_file_identity identity) {
    rsdk_mapped_object *object = find(map, &map->paths, path, strlen(path));
    if (object != NULL) {
        return object;
    }
    const char *key = soname_key(soname);
    object = find(map, &map->sonames, key, strlen(key));
    while (object != NULL && !is_file(object, identity)) {
        object = object_at(map, object->next_of_soname);
    }
    return object;
}
