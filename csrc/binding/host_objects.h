/* The ELF files of a check, each read once however many others need it. */
#ifndef RSDK_BINDING_HOST_OBJECTS_H
#define RSDK_BINDING_HOST_OBJECTS_H

#include "base/arena.h"
#include "base/name_table.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_host_object {
    const char *path;
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    bool is_read, has_symbols;
    bool is_other;     /* the file is not an ELF file */
    bool is_system;    /* the linker found it in its cache or its default directories */
    const char *fault; /* the reason why the file cannot be loaded; NULL: none */
    rsdk_code fault_code;
    uint64_t settled_in;           /* the process for which `undefined` is known; 0: none */
    RSDK_LIST(uint32_t) undefined; /* symbols that it wants, and that the files which it brings in do not define */
} rsdk_host_object;

typedef struct rsdk_host_objects {
    rsdk_arena *arena;
    RSDK_LIST(rsdk_host_object *) list;
    rsdk_name_table places;     /* by path */
    rsdk_name_table identities; /* the first object of each file, by the file's identity */
    bool is_out_of_memory;      /* while rsdk_host_objects_is_passed_over read a file */
} rsdk_host_objects;

/* Find the object of a path (borrowed), which is read at first use. A file that cannot be used has a fault. */
rsdk_status rsdk_host_objects_find(rsdk_host_objects *objects, const char *path, rsdk_host_object **found,
                                   rsdk_error *error);

/* Return whether the linker goes on behind the file at a path, which is read: the file is of another class or for
 * another machine, or this user may not read it. `objects` is a rsdk_host_objects. */
bool rsdk_host_objects_is_passed_over(void *objects, const char *path);

/* Return whether a symbol has to be defined by another file: the symbol is undefined, and not weak. */
bool rsdk_host_object_wants(const rsdk_host_object *object, uint32_t symbol);

#endif
