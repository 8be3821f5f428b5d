/* Reads the link map through dl_iterate_phdr, which holds the linker's lock meanwhile. */
#include "loader/link_map.h"

#include <link.h>
#include <string.h>

#include "base/fail.h"

typedef struct collection {
    rsdk_arena *arena;
    rsdk_link_map *map;
    bool failed;
} collection;

/* Where the object's dynamic section points: glibc has relocated these addresses where the section is writable. */
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

/* A copy of the string that a dynamic entry names; NULL where there is none. */
static const char *dynamic_string(collection *c, const struct dl_phdr_info *info, const ElfW(Dyn) * section,
                                  ElfW(Sxword) tag) {
    const ElfW(Dyn) *entry = dynamic_entry(section, tag);
    const ElfW(Dyn) *table = dynamic_entry(section, DT_STRTAB);
    const char *strings = entry != NULL && table != NULL ? at_address(info, table->d_un.d_ptr) : NULL;
    if (strings == NULL) {
        return NULL;
    }
    const char *copy = rsdk_arena_copy(c->arena, strings + entry->d_un.d_val);
    c->failed |= copy == NULL;
    return copy;
}

static int take_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    collection *c = context;
    const ElfW(Dyn) *section = dynamic_section(info);
    rsdk_mapped_object object = {.path = rsdk_arena_copy(c->arena, info->dlpi_name != NULL ? info->dlpi_name : ""),
                                 .soname = dynamic_string(c, info, section, DT_SONAME)};
    if (c->map->objects.count == 0 && dynamic_entry(section, DT_RUNPATH) == NULL) {
        c->map->program_rpath = dynamic_string(c, info, section, DT_RPATH);
    }
    c->failed |= object.path == NULL;
    RSDK_PUSH(c->arena, &c->map->objects, object, c->failed);
    return c->failed;
}

rsdk_status rsdk_link_map_read(rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error) {
    *map = (rsdk_link_map){0};
    collection c = {.arena = arena, .map = map};
    (void)dl_iterate_phdr(take_object, &c);
    return c.failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

const rsdk_mapped_object *rsdk_link_map_find_soname(const rsdk_link_map *map, const char *soname) {
    for (size_t i = 0; i < map->objects.count; i++) {
        const rsdk_mapped_object *object = &map->objects.items[i];
        if (object->soname != NULL && strcmp(object->soname, soname) == 0) {
            return object;
        }
    }
    return NULL;
}

const rsdk_mapped_object *rsdk_link_map_find_file(const rsdk_link_map *map, const char *path, const char *soname,
                                                  rsdk_file_identity identity) {
    for (size_t i = 0; i < map->objects.count; i++) {
        const rsdk_mapped_object *object = &map->objects.items[i];
        rsdk_file_identity own;
        if (strcmp(object->path, path) == 0) {
            return object;
        }
        bool same_name =
            soname != NULL ? object->soname != NULL && strcmp(object->soname, soname) == 0 : object->soname == NULL;
        if (same_name && object->path[0] == '/' && rsdk_file_identify(object->path, &own) &&
            rsdk_file_same(identity, own)) {
            return object;
        }
    }
    return NULL;
}

size_t rsdk_soname_stem(const char *soname) {
    for (const char *at = strstr(soname, ".so"); at != NULL; at = strstr(at + 1, ".so")) {
        if (at[3] == '\0' || at[3] == '.') {
            return (size_t)(at - soname) + 3;
        }
    }
    return strlen(soname);
}

bool rsdk_has_stem(const char *soname, const char *stem) {
    size_t length = rsdk_soname_stem(soname);
    return strlen(stem) == length && strncmp(soname, stem, length) == 0;
}
