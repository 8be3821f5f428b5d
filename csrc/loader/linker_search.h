/* Where the dynamic linker would find a needed name: RPATHs, the main program's RPATH, LD_LIBRARY_PATH as it was when
 * the process started, RUNPATH, ld.so.cache, the default directories; in that order, as ld.so(8) and glibc's
 * elf/dl-load.c have it. */
#ifndef RSDK_LOADER_LINKER_SEARCH_H
#define RSDK_LOADER_LINKER_SEARCH_H

#include <stdbool.h>

#include "base/arena.h"
#include "elf/elf_file.h"
#include "loader/link_map.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_linker_search {
    rsdk_arena *arena;
    rsdk_strings program_rpath, library_path, default_directories;
    const char *cache; /* ld.so.cache; NULL: not read yet, or none */
    size_t cache_size;
    bool cache_is_read;
} rsdk_linker_search;

/* Asks the linker for its directories. `map` is borrowed for the call. */
rsdk_status rsdk_linker_search_init(rsdk_arena *arena, const rsdk_link_map *map, rsdk_linker_search *search,
                                    rsdk_error *error);

/* Splits an RPATH or RUNPATH of the library `path`, with $ORIGIN, $LIB and $PLATFORM filled in as far as they are
 * known; entries that cannot be filled in are left out. */
rsdk_status rsdk_linker_search_expand(rsdk_arena *arena, const char *rpath, const char *path, rsdk_strings *directories,
                                      rsdk_error *error);

/* The directories of RPATHs that count for a name that `file` needs, `ancestors` being the libraries that brought it
 * in, nearest first. Where the file has a RUNPATH there are none: it is searched later. */
rsdk_status rsdk_linker_search_rpath_directories(rsdk_arena *arena, const rsdk_elf_file *file,
                                                 const rsdk_elf_file *const *ancestors, size_t ancestor_count,
                                                 rsdk_strings *directories, rsdk_error *error);

/* Takes these bytes (which must outlive `search`) for those of ld.so.cache; otherwise the file is read at first use. */
void rsdk_linker_search_use_cache(rsdk_linker_search *search, const char *bytes, size_t size);

/* The file that the linker would open for `name`, needed by `file`; *path is NULL where it would find none. */
rsdk_status rsdk_linker_search_find(rsdk_linker_search *search, const rsdk_elf_file *file,
                                    const rsdk_elf_file *const *ancestors, size_t ancestor_count, const char *name,
                                    const char **path, rsdk_error *error);

#endif
