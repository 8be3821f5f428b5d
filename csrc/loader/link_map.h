/* The objects that the process has loaded, read from the dynamic linker's own list. The list has them all, whoever
 * loaded them. */
#ifndef RSDK_LOADER_LINK_MAP_H
#define RSDK_LOADER_LINK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/name_table.h"
#include "rocm_sdk/error.h"
#include "rocm_sdk/loader.h"

typedef struct rsdk_mapped_object {
    const char *path;                       /* the path as the linker knows it; "" for the main program */
    const char *soname;                     /* NULL without one */
    uintptr_t start, end;                   /* the object's memory: whole pages, the end not included */
    size_t next_of_soname, next_of_library; /* further objects of this SONAME, of this library; see below */
    bool is_identified, exists;
    rsdk_file_identity identity; /* asked for when it has to be compared */
} rsdk_mapped_object;

#define RSDK_NO_OBJECT ((size_t)-1)

typedef struct rsdk_link_map {
    RSDK_LIST(rsdk_mapped_object) objects; /* in load order, the main program first */
    const char *program_rpath;             /* DT_RPATH of the main program, NULL without one or with a DT_RUNPATH */
    rsdk_name_table paths, sonames;        /* the first object of each; objects without SONAME count as "" */
    rsdk_name_table libraries;             /* by linker name: the first object of each library, in any version */
} rsdk_link_map;

rsdk_status rsdk_link_map_read(rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error);

/* Keep the objects that were there as soon as this library was loaded, with its needs. */
rsdk_status rsdk_link_map_keep_first(rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error);

/* Read the files that another process has mapped, in the order of their addresses: libraries, its program, and others.
 * The map has no SONAMEs. RSDK_IO_ERROR where there is no such process, or the kernel does not tell. */
rsdk_status rsdk_link_map_read_process(pid_t pid, rsdk_arena *arena, rsdk_link_map *map, rsdk_error *error);

/* Find the loaded object with this SONAME, which the linker would take for any library of that name; NULL: none. */
const rsdk_mapped_object *rsdk_link_map_find_soname(const rsdk_link_map *map, const char *soname);

/* Find the first loaded object of this library, in any version (`name`: a SONAME or a linker name), or the one after
 * `object`; NULL: none. */
const rsdk_mapped_object *rsdk_link_map_find_library(const rsdk_link_map *map, const char *name);
const rsdk_mapped_object *rsdk_link_map_next_of_library(const rsdk_link_map *map, const rsdk_mapped_object *object);

/* Return the index of the object whose memory has an address; RSDK_NO_OBJECT: none. */
size_t rsdk_link_map_find_address(const rsdk_link_map *map, uintptr_t address);

/* Find the loaded object that is this very file; NULL: none. The file system is asked about objects of the same SONAME
 * only, about each once. */
const rsdk_mapped_object *rsdk_link_map_find_file(rsdk_link_map *map, const char *path, const char *soname,
                                                  rsdk_file_identity identity);

/* Files that the process has loaded, by their names: where the linker found each, and its build ID. Nothing is read
 * from the disk. */

typedef struct rsdk_loaded_file {
    const char *name;      /* the last part of its path */
    const char *shortname; /* NULL without one */
    const char *path;      /* the path as the linker knows it; NULL: the file is not loaded */
    const char *build_id;  /* hexadecimal (the note NT_GNU_BUILD_ID, elf(5)); NULL without one */
} rsdk_loaded_file;

/* Read the files that a load has opened, with all that came with them, each name once. */
rsdk_status rsdk_loaded_files_read(const rsdk_loaded *loaded, rsdk_arena *arena, rsdk_loaded_file **files,
                                   size_t *count, rsdk_error *error);

/* The answers of this process's global scope. */

/* A definition that dlsym finds. */
typedef struct rsdk_global_definition {
    const char *file; /* as the linker names it, the program by its argv[0]; NULL: nobody defines the symbol, or in
                         thread-local memory */
    const void *address;
    size_t size;
} rsdk_global_definition;

/* Find the definition of a symbol, of the default version, in the global scope. */
rsdk_global_definition rsdk_global_scope_find(const char *name);

/* Find the definition that a loaded file (as the linker names it) has itself. */
rsdk_global_definition rsdk_global_scope_find_in(const char *file, const char *name);

#endif
