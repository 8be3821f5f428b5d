/* Reads the link map through dl_iterate_phdr, which holds the linker's lock meanwhile. */
#include "loader/link_map.h"

#include <link.h>
#include <string.h>

#include "base/fail.h"

typedef struct collection {
    rsdk_arena *arena;
    rsdk_link_map *map;
    rsdk_error *error;
    rsdk_status status;
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

/* Copies the string that a dynamic entry names; NULL where there is none. */
static rsdk_status copy_string(const collection *c, const struct dl_phdr_info *info, const ElfW(Dyn) * section,
                               ElfW(Sxword) tag, const char **copy) {
    rsdk_error *error = c->error;
    const ElfW(Dyn) *entry = dynamic_entry(section, tag);
    const ElfW(Dyn) *table = dynamic_entry(section, DT_STRTAB);
    const char *strings = entry != NULL && table != NULL ? at_address(info, table->d_un.d_ptr) : NULL;
    *copy = NULL;
    if (strings != NULL) {
        *copy = rsdk_arena_copy(c->arena, strings + entry->d_un.d_val);
        RSDK_NEED(*copy);
    }
    return RSDK_OK;
}

static rsdk_status take_object(const collection *c, const struct dl_phdr_info *info) {
    rsdk_error *error = c->error;
    const ElfW(Dyn) *section = dynamic_section(info);
    rsdk_mapped_object object = {.path = rsdk_arena_copy(c->arena, info->dlpi_name != NULL ? info->dlpi_name : "")};
    RSDK_NEED(object.path);
    RSDK_TRY(copy_string(c, info, section, DT_SONAME, &object.soname));
    if (c->map->objects.count == 0 && dynamic_entry(section, DT_RUNPATH) == NULL) {
        RSDK_TRY(copy_string(c, info, section, DT_RPATH, &c->map->program_rpath));
    }
    RSDK_APPEND(c->arena, &c->map->objects, object);
    return RSDK_OK;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    collection *c = context;
    c->status = take_object(c, info);
    return c->status != RSDK_OK;
}

rsdk_status rsdk_link_map_read(rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error) {
    *map = (rsdk_link_map){0};
    collection c = {.arena = arena, .map = map, .error = error, .status = RSDK_OK};
    (void)dl_iterate_phdr(visit_object, &c);
    return c.status;
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
