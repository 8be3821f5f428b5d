/* The places where the dynamic linker would find a needed name: RPATHs, the main program's RPATH, LD_LIBRARY_PATH as it
 * was when the process started, RUNPATH, ld.so.cache, the default directories; in that order, as ld.so(8) and glibc's
 * elf/dl-load.c have it. */
#ifndef RSDK_LOADER_LINKER_SEARCH_H
#define RSDK_LOADER_LINKER_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/name_table.h"
#include "elf/elf_file.h"
#include "loader/link_map.h"
#include "rocm_sdk/error.h"

/* The directories of one RPATH or RUNPATH. There is one such list for each text and $ORIGIN: libraries of a directory
 * that have the same RPATH share it. */
typedef struct rsdk_search_path {
    rsdk_strings list;   /* without the directories that do not exist, where these are left out */
    rsdk_strings absent; /* the directories that were left out */
    uint64_t walk;       /* the last walk that visited it */
} rsdk_search_path;

/* The way of a library into the process, which decides which RPATHs count for its needs. */
typedef struct rsdk_load_chain {
    rsdk_search_path *rpath, *runpath;   /* the library's own paths; NULL: none */
    const struct rsdk_load_chain *above; /* the nearest library, of all that brought it in, that has another RPATH */
} rsdk_load_chain;

/* The place in the linker's order that has a file. */
typedef enum rsdk_search_rule {
    RSDK_RULE_NONE, /* there is no file */
    RSDK_RULE_PATH, /* the name is a path */
    RSDK_RULE_RPATH,
    RSDK_RULE_LIBRARY_PATH,
    RSDK_RULE_RUNPATH,
    RSDK_RULE_SYSTEM, /* ld.so.cache and the default directories */
} rsdk_search_rule;

typedef struct rsdk_linker_search {
    rsdk_arena *arena;
    rsdk_strings program_rpath, library_path, default_directories;
    bool (*is_passed_over)(void *context, const char *path); /* whether the linker goes on behind a file that is there,
                                                                as it is of another class; NULL: it is not asked */
    void *context;
    const char *unpacked, *site; /* RPATHs into the first directory lead into the second one as well: a package that is
                                    unpacked at one place will be installed at the other. NULL: as they are */
    const char *cache;           /* ld.so.cache; NULL: not read yet, or none */
    size_t cache_size;
    bool cache_is_read;
    rsdk_strings known;                  /* files in the cache and the default directories; NULL: none there */
    rsdk_name_table known_places;        /* by name */
    RSDK_LIST(rsdk_search_path *) paths; /* all that were asked for */
    rsdk_name_table path_places;         /* by $ORIGIN and text */
    uint64_t walk_count;
} rsdk_linker_search;

/* Ask the linker for its directories. `map` is borrowed for the call. */
rsdk_status rsdk_linker_search_init(rsdk_arena *arena, const rsdk_link_map *map, rsdk_linker_search *search,
                                    rsdk_error *error);

/* Split an RPATH or RUNPATH of the library `path`. An empty entry is the current directory ("."); an entry with a token
 * whose value only the linker knows ($LIB, $PLATFORM) is NULL in the list. */
rsdk_status rsdk_linker_search_expand(rsdk_arena *arena, const char *rpath, const char *path, rsdk_strings *directories,
                                      rsdk_error *error);

/* Start the chain of a library that nothing brought in, or attach it to the chain of `above` (NULL: nothing), through
 * which the library came in, and which must outlive it. */
rsdk_status rsdk_linker_search_start_chain(rsdk_linker_search *search, const rsdk_elf_file *file,
                                           rsdk_load_chain *chain, rsdk_error *error);
void rsdk_load_chain_attach(rsdk_load_chain *chain, const rsdk_load_chain *above);

/* A walk over the RPATHs that the linker searches for a name that the library of the chain needs: each once, in the
 * linker's order. There are none if the library has a RUNPATH: that is searched later. */
typedef struct rsdk_rpath_walk {
    const rsdk_load_chain *at;
    uint64_t number;
} rsdk_rpath_walk;

rsdk_rpath_walk rsdk_linker_search_rpaths(rsdk_linker_search *search, const rsdk_load_chain *chain);
rsdk_search_path *rsdk_linker_search_next_rpath(rsdk_rpath_walk *walk); /* NULL: no more */

/* Fill in the tokens of a text without ':', which is a DT_NEEDED entry; *filled is NULL where only the linker knows a
 * value. */
rsdk_status rsdk_linker_search_fill_in(rsdk_arena *arena, const char *text, const char *path, const char **filled,
                                       rsdk_error *error);

/* Take these bytes (which must outlive `search`) for the content of ld.so.cache; otherwise the file is read at first
 * use. */
void rsdk_linker_search_use_cache(rsdk_linker_search *search, const char *bytes, size_t size);

/* Find the file that the linker would open for `name`, needed by the library of the chain; *path is NULL where the
 * linker would find none. */
rsdk_status rsdk_linker_search_find(rsdk_linker_search *search, const rsdk_load_chain *chain, const char *name,
                                    const char **path, rsdk_error *error);

/* Do the same, and tell by which rule the file is found. */
rsdk_status rsdk_linker_search_find_by_rule(rsdk_linker_search *search, const rsdk_load_chain *chain, const char *name,
                                            const char **path, rsdk_search_rule *rule, rsdk_error *error);

/* Find the file for `name` in ld.so.cache and the default directories; *path is NULL where there is none. */
rsdk_status rsdk_linker_search_find_in_system(rsdk_linker_search *search, const char *name, const char **path,
                                              rsdk_error *error);

#endif
