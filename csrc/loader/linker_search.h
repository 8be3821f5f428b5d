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

/* How a library comes into the process: its file first, then those that brought it in, nearest first. It decides which
 * RPATHs count for what the library needs. */
typedef struct rsdk_load_chain {
    const rsdk_elf_file *const *files;
    size_t count; /* 1 at least */
} rsdk_load_chain;

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

/* The directories of RPATHs that count for a name that the first file of the chain needs. Where it has a RUNPATH there
 * are none: that is searched later. */
rsdk_status rsdk_linker_search_rpath_directories(rsdk_arena *arena, const rsdk_load_chain *chain,
                                                 rsdk_strings *directories, rsdk_error *error);

/* Takes these bytes (which must outlive `search`) for those of ld.so.cache; otherwise the file is read at first use. */
void rsdk_linker_search_use_cache(rsdk_linker_search *search, const char *bytes, size_t size);

/* The file that the linker would open for `name`, needed by the first file of the chain; *path is NULL where it would
 * find none. */
rsdk_status rsdk_linker_search_find(rsdk_linker_search *search, const rsdk_load_chain *chain, const char *name,
                                    const char **path, rsdk_error *error);

#endif
