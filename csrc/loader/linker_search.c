/* The dynamic linker's search, followed without loading anything. The directories come from the linker itself (dlinfo),
 * so setenv and a glibc with other defaults make no difference. Subdirectories for one kind of processor
 * (glibc-hwcaps) are followed for callers that ask about foreign files; the planner does not ask, but learns from
 * rsdk_elf_machine_may_hold_variants whether there may be any. */
#include "loader/linker_search.h"

#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/path.h"
#include "elf/elf_machine.h"

/* ---- RPATH and RUNPATH ---- */

/* Return the length of the token "ORIGIN" or "{ORIGIN}" at `text`, which follows a '$'; 0: another token. */
static size_t origin_token(const char *text) {
    static const char name[] = "ORIGIN", braced[] = "{ORIGIN}";
    size_t length = sizeof name - 1;
    if (strncmp(text, braced, sizeof braced - 1) == 0) {
        return sizeof braced - 1;
    }
    if (strncmp(text, name, length) != 0) {
        return 0;
    }
    bool goes_on = isalnum((unsigned char)text[length]) != 0 || text[length] == '_'; /* "$ORIGINAL" */
    return goes_on ? 0 : length;
}

/* Fill in $ORIGIN; *filled is NULL where the text has a token whose value only the linker knows ($LIB, $PLATFORM). */
static rsdk_status fill_in(rsdk_arena *arena, const char *text, const char *origin, const char **filled,
                           rsdk_error *error) {
    *filled = text;
    for (const char *dollar = strchr(text, '$'); dollar != NULL;) {
        size_t length = origin_token(dollar + 1);
        if (length == 0) {
            *filled = NULL;
            return RSDK_OK;
        }
        size_t done = (size_t)(dollar - *filled);
        const char *longer = rsdk_arena_format(arena, "%.*s%s%s", (int)done, *filled, origin, dollar + 1 + length);
        RSDK_NEED(longer, error);
        *filled = longer;
        dollar = strchr(longer + done + strlen(origin), '$');
    }
    return RSDK_OK;
}

rsdk_status rsdk_linker_search_fill_in(rsdk_arena *arena, const char *text, const char *path, const char **filled,
                                       rsdk_error *error) {
    const char *origin = rsdk_path_parent(arena, path);
    RSDK_NEED(origin, error);
    return fill_in(arena, text, origin, filled, error);
}

rsdk_status rsdk_linker_search_expand(rsdk_arena *arena, const char *rpath, const char *path, rsdk_strings *directories,
                                      rsdk_error *error) {
    const char *origin = rsdk_path_parent(arena, path);
    RSDK_NEED(origin, error);
    for (const char *entry = rpath[0] != '\0' ? rpath : NULL; entry != NULL;) {
        size_t length = strcspn(entry, ":");
        const char *directory = length > 0 ? rsdk_arena_copy_bytes(arena, entry, length) : ".";
        RSDK_NEED(directory, error);
        RSDK_TRY(fill_in(arena, directory, origin, &directory, error));
        RSDK_APPEND(arena, directories, directory, error);
        entry = entry[length] == ':' ? entry + length + 1 : NULL;
    }
    return RSDK_OK;
}

/* ---- load chains ---- */

enum { FEW_DIRECTORIES = 32 };

/* Leave missing directories out of a list: asking each of many for each of many names would take all the time. The
 * planner's lists are short: there, a missing directory costs less than the check. */
static rsdk_status leave_out_absent(const rsdk_linker_search *search, rsdk_strings *list, rsdk_strings *absent,
                                    rsdk_error *error) {
    size_t kept = 0;
    if (search->is_passed_over == NULL && list->count <= FEW_DIRECTORIES) {
        return RSDK_OK;
    }
    for (size_t i = 0; i < list->count; i++) {
        const char *directory = list->items[i];
        if (directory != NULL && access(directory, F_OK) != 0) {
            RSDK_APPEND(search->arena, absent, directory, error);
        } else {
            list->items[kept++] = directory;
        }
    }
    list->count = kept;
    return RSDK_OK;
}

/* Find the list of a RPATH or RUNPATH, made at first use. `text` NULL: none. */
static rsdk_status need_path(rsdk_linker_search *search, const rsdk_elf_file *file, const char *text,
                             rsdk_search_path **path, rsdk_error *error) {
    size_t place = 0;
    *path = NULL;
    if (text == NULL) {
        return RSDK_OK;
    }
    size_t parent_length = (size_t)(rsdk_path_name(file->path) - file->path);
    const char *key = rsdk_arena_format(search->arena, "%.*s:%s", (int)parent_length, file->path, text);
    RSDK_NEED(key, error);
    if (rsdk_name_table_find(&search->path_places, key, strlen(key), &place)) {
        *path = search->paths.items[place];
        return RSDK_OK;
    }
    *path = rsdk_arena_alloc(search->arena, 1, sizeof **path);
    RSDK_NEED(*path, error);
    RSDK_TRY(rsdk_linker_search_expand(search->arena, text, file->path, &(*path)->list, error));
    /* Add, after each directory of an unpacked package, the directory of the installed one. */
    rsdk_strings *list = &(*path)->list;
    const rsdk_strings as_written = *list;
    size_t length = search->unpacked != NULL ? strlen(search->unpacked) : 0;
    if (search->unpacked != NULL) {
        *list = (rsdk_strings){0};
        for (size_t i = 0; i < as_written.count; i++) {
            const char *directory = as_written.items[i];
            RSDK_APPEND(search->arena, list, directory, error);
            const char *plain = directory != NULL ? rsdk_path_without_dots(search->arena, directory) : "";
            RSDK_NEED(plain, error);
            if (strncmp(plain, search->unpacked, length) == 0 && (plain[length] == '/' || plain[length] == '\0')) {
                const char *installed = rsdk_arena_format(search->arena, "%s%s", search->site, plain + length);
                RSDK_NEED(installed, error);
                RSDK_APPEND(search->arena, list, installed, error);
            }
        }
    }
    RSDK_TRY(leave_out_absent(search, &(*path)->list, &(*path)->absent, error));
    RSDK_TRY(rsdk_name_table_set(&search->path_places, search->arena, key, strlen(key), search->paths.count, error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(search->arena, &search->paths, *path, error);
    return RSDK_OK;
}

rsdk_status rsdk_linker_search_start_chain(rsdk_linker_search *search, const rsdk_elf_file *file,
                                           rsdk_load_chain *chain, rsdk_error *error) {
    *chain = (rsdk_load_chain){0};
    RSDK_TRY(need_path(search, file, file->rpath, &chain->rpath, error));
    return need_path(search, file, file->runpath, &chain->runpath, error);
}

void rsdk_load_chain_attach(rsdk_load_chain *chain, const rsdk_load_chain *above) {
    while (above != NULL && (above->rpath == NULL || above->rpath == chain->rpath)) {
        above = above->above; /* has another RPATH, so this is repeated once at most */
    }
    chain->above = above;
}

rsdk_rpath_walk rsdk_linker_search_rpaths(rsdk_linker_search *search, const rsdk_load_chain *chain) {
    const rsdk_load_chain *first = chain->rpath != NULL ? chain : chain->above;
    return (rsdk_rpath_walk){.at = chain->runpath == NULL ? first : NULL, .number = ++search->walk_count};
}

rsdk_search_path *rsdk_linker_search_next_rpath(rsdk_rpath_walk *walk) {
    while (walk->at != NULL && walk->at->rpath->walk == walk->number) {
        walk->at = walk->at->above;
    }
    if (walk->at == NULL) {
        return NULL;
    }
    walk->at->rpath->walk = walk->number;
    return walk->at->rpath;
}

/* ---- the process's directories ---- */

/* Return whether glibc is built with a directory: "/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu" and the like. */
static bool is_default_directory(const char *directory) {
    const char *rest = strncmp(directory, "/usr/", 5) == 0 ? directory + 4 : directory;
    if (strncmp(rest, "/lib", 4) != 0) {
        return false;
    }
    rest += 4;
    rest += strspn(rest, "x3264");
    return *rest == '\0' || (*rest == '/' && strstr(rest, "-linux-") != NULL && strchr(rest + 1, '/') == NULL);
}

static bool contains(const rsdk_strings *list, const char *text) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] != NULL && strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Read the linker's directories. `plain` is the handle of an object without RPATH and RUNPATH. */
static rsdk_status read_directories(rsdk_linker_search *search, void *plain, rsdk_error *error) {
    Dl_serinfo size;
    if (plain == NULL || dlinfo(plain, RTLD_DI_SERINFOSIZE, &size) != 0) {
        return rsdk_fail(error, RSDK_LOAD_FAILED, NULL,
                         "the dynamic linker does not tell its search path: it is not glibc's");
    }
    Dl_serinfo *info = rsdk_arena_alloc(search->arena, size.dls_size, 1);
    RSDK_NEED(info, error);
    *info = size;
    if (dlinfo(plain, RTLD_DI_SERINFO, info) != 0) {
        return RSDK_OK;
    }
    /* Sort the linker's list, for an object without paths of its own, into its three parts: the main program's RPATH,
     * LD_LIBRARY_PATH, the defaults. The linker does not mark the borders; a default directory at the end of
     * LD_LIBRARY_PATH counts as a default. */
    unsigned first = 0, end = info->dls_cnt;
    while (first < info->dls_cnt && contains(&search->program_rpath, info->dls_serpath[first].dls_name)) {
        first++;
    }
    while (end > first && is_default_directory(info->dls_serpath[end - 1].dls_name)) {
        end--;
    }
    rsdk_strings absent = {0};
    for (unsigned i = first; i < info->dls_cnt; i++) {
        const char *directory = rsdk_arena_copy(search->arena, info->dls_serpath[i].dls_name);
        RSDK_NEED(directory, error);
        RSDK_APPEND(search->arena, i < end ? &search->library_path : &search->default_directories, directory, error);
    }
    return leave_out_absent(search, &search->library_path, &absent, error);
}

rsdk_status rsdk_linker_search_init(rsdk_arena *arena, const rsdk_link_map *map, rsdk_linker_search *search,
                                    rsdk_error *error) {
    *search = (rsdk_linker_search){.arena = arena};
    if (map->program_rpath != NULL) {
        char program[4096];
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length > 0 ? length : 0] = '\0';
        RSDK_TRY(rsdk_linker_search_expand(arena, map->program_rpath, program, &search->program_rpath, error));
    }
    void *plain = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); /* the C library is always there */
    rsdk_status status = read_directories(search, plain, error);
    if (plain != NULL) {
        (void)dlclose(plain);
    }
    return status;
}

/* ---- ld.so.cache ---- */

/* The file's format since glibc 2.2 (dl-cache.h); older parts in front of it are skipped. Strings are offsets from
 * `magic`. */
typedef struct cache_header {
    char magic[20]; /* CACHE_MAGIC */
    uint32_t count;
    uint32_t unused[6];
} cache_header;

typedef struct cache_entry {
    int32_t flags;
    uint32_t name, path;
    uint32_t os_version;
    uint64_t hwcap;
} cache_entry;

#define CACHE_MAGIC "glibc-ld.so.cache1.1"

enum { CACHE_LIMIT = 16 << 20 };

#if defined(__x86_64__)
enum { OWN_CACHE_FLAGS = 0x0303 };
#elif defined(__aarch64__)
enum { OWN_CACHE_FLAGS = 0x0a03 };
#else
#error "add this architecture's _DL_CACHE_DEFAULT_ID"
#endif

void rsdk_linker_search_use_cache(rsdk_linker_search *search, const char *bytes, size_t size) {
    const char *start = memmem(bytes, size, CACHE_MAGIC, sizeof CACHE_MAGIC - 1);
    search->cache_is_read = true;
    search->known = (rsdk_strings){0};
    search->known_places = (rsdk_name_table){0};
    if (start != NULL && size - (size_t)(start - bytes) >= sizeof(cache_header)) {
        search->cache = start;
        search->cache_size = size - (size_t)(start - bytes);
    }
}

static const char *cache_string(const rsdk_linker_search *search, uint32_t offset) {
    bool is_inside =
        offset < search->cache_size && memchr(search->cache + offset, '\0', search->cache_size - offset) != NULL;
    return is_inside ? search->cache + offset : "";
}

/* Return the path that the cache has for a SONAME; NULL: none. The cache is sorted, but in its own order, and is small
 * enough to be read through. */
static const char *find_in_cache(const rsdk_linker_search *search, const char *name) {
    cache_header header;
    if (search->cache == NULL) {
        return NULL;
    }
    memcpy(&header, search->cache, sizeof header);
    size_t capacity = (search->cache_size - sizeof header) / sizeof(cache_entry);
    for (size_t i = 0; i < header.count && i < capacity; i++) {
        cache_entry entry;
        memcpy(&entry, search->cache + sizeof header + i * sizeof entry, sizeof entry);
        if (entry.flags == OWN_CACHE_FLAGS && entry.hwcap == 0 && strcmp(cache_string(search, entry.name), name) == 0) {
            return cache_string(search, entry.path);
        }
    }
    return NULL;
}

/* ---- the search ---- */

static bool is_taken(const rsdk_linker_search *search, const char *path) {
    return search->is_passed_over == NULL || !search->is_passed_over(search->context, path);
}

/* Write the path of the file for one kind of processor that the linker prefers to the plain one; return whether there
 * is one. */
static bool is_variant_there(const rsdk_linker_search *search, const char *directory, const char *name,
                             char candidate[PATH_MAX]) {
    const char *variants[RSDK_ELF_VARIANTS];
    char place[PATH_MAX];
    bool is_found = false;
    if (search->is_passed_over == NULL || !rsdk_directory_look(directory, "glibc-hwcaps", place)) {
        return false;
    }
    const size_t count = rsdk_elf_machine_variants(variants);
    for (size_t i = 0; !is_found && i < count; i++) {
        int length = snprintf(place, sizeof place, "%s/glibc-hwcaps/%s", directory, variants[i]);
        is_found = length > 0 && length < PATH_MAX && rsdk_directory_look(place, name, candidate) &&
                   is_taken(search, candidate);
    }
    return is_found;
}

static rsdk_status find_in(const rsdk_linker_search *search, const rsdk_strings *directories, const char *name,
                           const char **path, rsdk_error *error) {
    char candidate[PATH_MAX];
    for (size_t i = 0; *path == NULL && i < directories->count; i++) {
        const char *directory = directories->items[i];
        bool is_found =
            directory != NULL && (is_variant_there(search, directory, name, candidate) ||
                                  (rsdk_directory_look(directory, name, candidate) && is_taken(search, candidate)));
        if (is_found) {
            *path = rsdk_arena_copy(search->arena, candidate);
            RSDK_NEED(*path, error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_linker_search_find_in_system(rsdk_linker_search *search, const char *name, const char **path,
                                              rsdk_error *error) {
    size_t place = 0;
    if (rsdk_name_table_find(&search->known_places, name, strlen(name), &place)) {
        *path = search->known.items[place];
        return RSDK_OK;
    }
    if (!search->cache_is_read) {
        char *text = NULL;
        size_t size = 0;
        rsdk_file_identity identity;
        rsdk_error reason = RSDK_ERROR_INIT;
        search->cache_is_read = true;
        rsdk_status status =
            rsdk_file_read_text("/etc/ld.so.cache", CACHE_LIMIT, search->arena, &text, &size, &identity, &reason);
        rsdk_error_clear(&reason);
        if (status == RSDK_NO_MEMORY) {
            return rsdk_fail_no_memory(error);
        }
        /* A missing or unreadable cache counts as empty: the linker does without it, too. */
        if (status == RSDK_OK) {
            rsdk_linker_search_use_cache(search, text, size);
        }
    }
    *path = find_in_cache(search, name);
    if (*path != NULL && search->is_passed_over != NULL && (access(*path, F_OK) != 0 || !is_taken(search, *path))) {
        *path = NULL;
    }
    if (*path == NULL) {
        RSDK_TRY(find_in(search, &search->default_directories, name, path, error));
    }
    const char *kept = rsdk_arena_copy(search->arena, name);
    RSDK_NEED(kept, error);
    RSDK_TRY(rsdk_name_table_set(&search->known_places, search->arena, kept, strlen(kept), search->known.count, error));
    RSDK_APPEND(search->arena, &search->known, *path, error);
    return RSDK_OK;
}

rsdk_status rsdk_linker_search_find_by_rule(rsdk_linker_search *search, const rsdk_load_chain *chain, const char *name,
                                            const char **path, rsdk_search_rule *rule, rsdk_error *error) {
    const rsdk_strings none = {0};
    *path = NULL;
    if (strchr(name, '/') != NULL) { /* opened as it is */
        *path = access(name, F_OK) == 0 ? name : NULL;
        *rule = *path != NULL ? RSDK_RULE_PATH : RSDK_RULE_NONE;
        return RSDK_OK;
    }
    *rule = RSDK_RULE_RPATH;
    const rsdk_search_path *rpath = NULL;
    for (rsdk_rpath_walk walk = rsdk_linker_search_rpaths(search, chain);
         *path == NULL && (rpath = rsdk_linker_search_next_rpath(&walk)) != NULL;) {
        RSDK_TRY(find_in(search, &rpath->list, name, path, error));
    }
    const struct {
        const rsdk_strings *list;
        rsdk_search_rule rule;
    } before_cache[] = {{chain->runpath == NULL ? &search->program_rpath : &none, RSDK_RULE_RPATH},
                        {&search->library_path, RSDK_RULE_LIBRARY_PATH},
                        {chain->runpath != NULL ? &chain->runpath->list : &none, RSDK_RULE_RUNPATH}};
    for (size_t i = 0; *path == NULL && i < sizeof before_cache / sizeof *before_cache; i++) {
        *rule = before_cache[i].rule;
        RSDK_TRY(find_in(search, before_cache[i].list, name, path, error));
    }
    if (*path == NULL) {
        RSDK_TRY(rsdk_linker_search_find_in_system(search, name, path, error));
        *rule = *path != NULL ? RSDK_RULE_SYSTEM : RSDK_RULE_NONE;
    }
    return RSDK_OK;
}

rsdk_status rsdk_linker_search_find(rsdk_linker_search *search, const rsdk_load_chain *chain, const char *name,
                                    const char **path, rsdk_error *error) {
    rsdk_search_rule rule = RSDK_RULE_NONE;
    return rsdk_linker_search_find_by_rule(search, chain, name, path, &rule, error);
}
