/* Reading the files of a check. */
#include "binding/host_objects.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "elf/elf_header.h"
#include "elf/elf_machine.h"

static rsdk_status note_fault(const rsdk_host_objects *objects, rsdk_host_object *o, const rsdk_error *why,
                              rsdk_error *error) {
    if (why->status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    o->fault = rsdk_arena_copy(objects->arena, rsdk_error_message(why));
    o->fault_code = why->code != RSDK_NO_CODE     ? why->code
                    : why->status == RSDK_BAD_ELF ? RSDK_E_LIB_006
                                                  : RSDK_E_FILE_007;
    RSDK_NEED(o->fault, error);
    return RSDK_OK;
}

/* Return whether a file has the name of a library: such a file nearly always is an ELF file, and is opened once. */
static bool is_named_as_library(const char *path) {
    return strstr(rsdk_path_name(path), ".so") != NULL;
}

/* Find the object of a file that was read under another path. */
static const rsdk_host_object *find_read(const rsdk_host_objects *objects, const char *path) {
    struct stat facts;
    size_t place = 0;
    if (stat(path, &facts) != 0) {
        return NULL;
    }
    const rsdk_file_identity identity = {.device = facts.st_dev, .inode = facts.st_ino};
    return rsdk_name_table_find(&objects->identities, &identity, sizeof identity, &place) ? objects->list.items[place]
                                                                                          : NULL;
}

/* Read an object, or copy the object of another path. The path decides the value of $ORIGIN. */
static rsdk_status read_or_copy(rsdk_host_objects *objects, rsdk_host_object *o, size_t place, rsdk_error *error) {
    const rsdk_host_object *known = find_read(objects, o->path);
    const char *path = o->path;
    if (known != NULL) {
        *o = *known;
        o->path = o->file.path = path;
        o->is_system = false;
        o->settled_in = 0;
        return RSDK_OK;
    }
    /* Read an object. A file for another machine has needs, and no symbols that this process can read: this is its
     * fault. */
    rsdk_error why = RSDK_ERROR_INIT, machine = RSDK_ERROR_INIT;
    rsdk_elf_file again;
    o->is_other = !is_named_as_library(o->path) && !rsdk_elf_header_is_in(o->path);
    if (!o->is_other) {
        rsdk_status status =
            rsdk_elf_file_read_with_symbols(o->path, false, objects->arena, &o->file, &o->symbols, &why);
        o->is_read = status == RSDK_OK;
        o->has_symbols = o->is_read && o->symbols.is_known;
        if (status == RSDK_BAD_ELF && rsdk_elf_file_read(o->path, objects->arena, &again, NULL) == RSDK_OK) {
            o->file = again;
            o->is_read = true;
        }
        o->is_other = !o->is_read && !rsdk_elf_header_is_in(o->path); /* a linker script */
        if (o->is_read && rsdk_elf_machine_check(&o->file, &machine) != RSDK_OK) {
            o->has_symbols = false;
            status = note_fault(objects, o, &machine, error);
        } else if (status != RSDK_OK) {
            status = note_fault(objects, o, &why, error);
        }
        rsdk_error_clear(&why);
        rsdk_error_clear(&machine);
        RSDK_TRY(status);
    }
    return !o->is_read ? RSDK_OK
                       : rsdk_name_table_set(&objects->identities, objects->arena, &o->file.identity,
                                             sizeof o->file.identity, place, error);
}

rsdk_status rsdk_host_objects_find(rsdk_host_objects *objects, const char *path, rsdk_host_object **found,
                                   rsdk_error *error) {
    size_t place = 0;
    if (rsdk_name_table_find(&objects->places, path, strlen(path), &place)) {
        *found = objects->list.items[place];
        return RSDK_OK;
    }
    rsdk_host_object *made = rsdk_arena_alloc(objects->arena, 1, sizeof *made);
    RSDK_NEED(made, error);
    made->path = rsdk_arena_copy(objects->arena, path);
    RSDK_NEED(made->path, error);
    place = objects->list.count;
    RSDK_TRY(rsdk_name_table_set(&objects->places, objects->arena, made->path, strlen(path), place, error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(objects->arena, &objects->list, made, error);
    *found = made;
    return read_or_copy(objects, made, place, error);
}

bool rsdk_host_objects_is_passed_over(void *objects, const char *path) {
    rsdk_host_objects *all = objects;
    rsdk_host_object *o = NULL;
    rsdk_elf_header header;
    if (access(path, R_OK) != 0) {
        return true;
    }
    if (rsdk_host_objects_find(all, path, &o, NULL) != RSDK_OK) {
        all->is_out_of_memory = true;
        return false;
    }
    if (o->is_read) {
        return rsdk_elf_machine_is_passed_over(o->file.elf_class, o->file.data_encoding, o->file.machine);
    }
    return rsdk_elf_header_read(path, &header) &&
           rsdk_elf_machine_is_passed_over(header.elf_class, header.data_encoding, header.machine);
}

bool rsdk_host_object_wants(const rsdk_host_object *object, uint32_t symbol) {
    const ElfW(Sym) *facts = &object->symbols.symbols[symbol];
    return facts->st_shndx == SHN_UNDEF && ELF64_ST_BIND(facts->st_info) == STB_GLOBAL;
}
