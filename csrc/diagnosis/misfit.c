/* Libraries that do not fit each other: one needs a version or a symbol that another should have. The other one is
 * looked at, not the file that dlerror names first: what brings it in, and the newest version that it has. */
#include "diagnosis/finding.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "loader/linker_search.h"
#include "loader/origin.h"
#include "sdk/inventory.h"
#include "sdk/record.h"

typedef struct library {
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
} library;

typedef struct misfit {
    const char *path;
    rsdk_arena *arena;
    rsdk_link_map map;
    rsdk_linker_search search;
    rsdk_inventory inventory;
    library needing;
    const char *version, *symbol; /* what it needs; symbol: NULL, the version lacks altogether */
    const char *provider;         /* the file in the process that should have it; NULL: not known */
    rsdk_finding *finding;
    rsdk_error *error;
} misfit;

static rsdk_status add(misfit *m, const char *name, const char *value) {
    return rsdk_finding_add(m->finding, m->arena, name, value, m->error);
}

static bool read_library(const misfit *m, const char *path, library *read) {
    return path != NULL &&
           rsdk_elf_file_read_with_symbols(path, false, m->arena, &read->file, &read->symbols, NULL) == RSDK_OK;
}

/* Copy the text between two others; NULL where `text` has them not in this order, and without memory. */
static const char *between(const misfit *m, const char *text, const char *before, const char *after) {
    const char *found = strstr(text, before), *start = found != NULL ? found + strlen(before) : text;
    const char *end = found != NULL ? strpbrk(start, after) : NULL;
    return end != NULL ? rsdk_arena_copy_bytes(m->arena, start, (size_t)(end - start)) : NULL;
}

/* Read the texts of glibc's elf/dl-version.c and elf/dl-lookup.c; return the file that needs something; NULL: another
 * text. */
static const char *read_words(misfit *m, const char *text) {
    const char *first = between(m, text, "", ":"), *needing = between(m, text, "' not found (required by ", ")");
    const char *words = strstr(text, ": undefined symbol: ") != NULL ? ": undefined symbol: " : ": symbol ";
    if (needing != NULL) {
        m->version = between(m, text, "version `", "'");
        m->provider = first;
        return m->version != NULL && strncmp(m->version, "GLIBC_", strlen("GLIBC_")) != 0 ? needing : NULL;
    }
    const char *symbol = strstr(text, words);
    m->symbol = symbol == NULL ? NULL : rsdk_arena_format(m->arena, "%s,", symbol + strlen(words));
    m->symbol = m->symbol == NULL ? NULL : between(m, m->symbol, "", ", ");
    return m->symbol != NULL ? first : NULL;
}

/* ---- the library that should have it ---- */

static rsdk_status find_in_sdk(misfit *m, const char *name, const char **path) {
    rsdk_package_id package;
    *path = NULL;
    return m->inventory.sdk == NULL
               ? RSDK_OK
               : rsdk_inventory_find(&m->inventory, m->needing.file.path, name, path, &package, m->error);
}

/* Find the file of a name in the process: the loaded one, else the one that the linker finds, else the SDK's. */
static rsdk_status find_in_process(misfit *m, const char *name, const char **path) {
    const rsdk_mapped_object *mapped = rsdk_link_map_find_soname(&m->map, name);
    rsdk_load_chain chain;
    *path = mapped != NULL ? mapped->path : NULL;
    if (mapped == NULL) {
        RSDK_TRY(rsdk_linker_search_start_chain(&m->search, &m->needing.file, &chain, m->error));
        RSDK_TRY(rsdk_linker_search_find(&m->search, &chain, name, path, m->error));
    }
    return *path == NULL ? find_in_sdk(m, name, path) : RSDK_OK;
}

static bool has_symbol(const misfit *m, const char *path) {
    library read;
    uint32_t index = 0;
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(m->symbol, NULL, RSDK_ELF_REFERENCE_CALL);
    return read_library(m, path, &read) && rsdk_elf_dynsym_find(&read.symbols, &wanted, &index);
}

/* ---- the sentence ---- */

/* Return the newest version that begins as `like` does up to its number (NULL: any), of those that a file has; `of`:
 * that it needs of this library, and that `present` does not have. NULL: none. */
static const char *newest(const rsdk_elf_dynsym *symbols, const char *like, const char *of,
                          const rsdk_elf_dynsym *present) {
    const char *end = like != NULL ? strrchr(like, '_') : NULL, *found = NULL;
    for (size_t i = 0; i < symbols->versions.count; i++) {
        const rsdk_elf_version *each = &symbols->versions.items[i];
        bool counts = each->name != NULL && (end == NULL || strncmp(each->name, like, (size_t)(end - like) + 1) == 0) &&
                      (of == NULL ? each->file == NULL : each->file != NULL && strcmp(each->file, of) == 0);
        const char *has = counts && of != NULL ? newest(present, each->name, NULL, NULL) : NULL;
        bool is_newer = counts && (found == NULL || strverscmp(each->name, found) > 0);
        found = is_newer && (has == NULL || strverscmp(each->name, has) > 0) ? each->name : found;
    }
    return found;
}

/* Add the fact that chooses the fix: a variable, the system, an environment of conda, or the order of loading. */
static rsdk_status add_remedy(misfit *m, const rsdk_origin *origin, bool is_loaded) {
    const char *directory = rsdk_path_parent(m->arena, m->provider);
    const char *prefix = directory != NULL ? rsdk_path_parent(m->arena, directory) : NULL;
    const char *metadata = prefix != NULL ? rsdk_path_join(m->arena, prefix, "conda-meta") : NULL;
    RSDK_NEED(metadata, m->error);
    bool is_preloaded = origin->kind == RSDK_ORIGIN_PRELOADED || origin->kind == RSDK_ORIGIN_PROFILER;
    if (is_preloaded || origin->kind == RSDK_ORIGIN_LIBRARY_PATH) {
        const char *file = origin->by != NULL ? origin->by : m->provider;
        RSDK_TRY(add(m, "entry", is_preloaded ? file : directory));
        return add(m, "variable", is_preloaded ? "LD_PRELOAD" : "LD_LIBRARY_PATH");
    }
    if (origin->kind == RSDK_ORIGIN_SYSTEM) {
        return add(m, "of_system", m->provider);
    }
    if (access(metadata, F_OK) == 0 && strcmp(rsdk_path_name(m->provider), "libstdc++.so.6") == 0) {
        return add(m, "conda", prefix);
    }
    return is_loaded ? add(m, "bringer", rsdk_path_name(origin->by != NULL ? origin->by : m->provider)) : RSDK_OK;
}

static rsdk_status tell_provider(misfit *m, const char **detail) {
    const char *name = rsdk_path_name(m->provider), *own = NULL, *by = "", *has = NULL, *what = m->symbol;
    library provider;
    rsdk_origin origin;
    rsdk_file_identity one, other;
    bool is_loaded = false;
    RSDK_TRY(find_in_sdk(m, name, &own));
    if (own == NULL || !rsdk_file_identify(own, &one) || !rsdk_file_identify(m->provider, &other) ||
        !rsdk_file_same(one, other)) {
        /* Find out what brings the library in; is_loaded: before the load that failed. */
        const char *const others[] = {m->path, m->needing.file.path, m->provider};
        rsdk_origins origins = {.arena = m->arena, .library_path = m->search.library_path};
        RSDK_TRY(rsdk_origins_add_preloaded(&origins, secure_getenv("LD_PRELOAD"), m->error));
        for (size_t i = 0; i < m->map.objects.count; i++) {
            const char *path = m->map.objects.items[i].path;
            is_loaded |= strcmp(path, m->provider) == 0;
            RSDK_APPEND(m->arena, &origins.mapped, path[0] != '\0' ? path : "/proc/self/exe", m->error);
        }
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            RSDK_APPEND(m->arena, &origins.mapped, others[i], m->error);
        }
        RSDK_TRY(rsdk_origins_find(&origins, m->provider, &origin, m->error));
        RSDK_TRY(add_remedy(m, &origin, is_loaded));
        bool is_told = is_loaded ? origin.kind != RSDK_ORIGIN_SYSTEM : origin.kind > RSDK_ORIGIN_UNKNOWN;
        by = is_told ? rsdk_arena_format(m->arena, ", brought in by %s,", origin.text) : "";
        RSDK_NEED(by, m->error);
    }
    if (what == NULL && read_library(m, m->provider, &provider)) {
        const char *soname = provider.file.soname != NULL ? provider.file.soname : name;
        what = newest(&m->needing.symbols, NULL, soname, &provider.symbols);
        has = newest(&provider.symbols, what != NULL ? what : m->version, NULL, NULL);
    }
    *detail =
        rsdk_arena_format(m->arena, "it needs %s of %s, and %s%s %s%s", what != NULL ? what : m->version, name,
                          m->provider, by, has != NULL ? "has at most " : "does not have it", has != NULL ? has : "");
    RSDK_NEED(*detail, m->error);
    return add(m, "provider", m->provider);
}

/* Note the first file, of the needing one and those of the SDK that it needs, whose size differs from its RECORD's: to
 * install its package again helps. */
static rsdk_status find_changed(misfit *m) {
    for (size_t i = 0; i <= m->needing.file.needed.count; i++) {
        const char *path = m->needing.file.path, *text = NULL;
        rsdk_recorded_file recorded;
        struct stat facts;
        RSDK_TRY(i > 0 ? find_in_sdk(m, m->needing.file.needed.items[i - 1], &path) : RSDK_OK);
        if (path == NULL || stat(path, &facts) != 0) {
            continue;
        }
        RSDK_TRY(rsdk_record_find_path(path, m->arena, &recorded, m->error));
        if (recorded.distribution != NULL && recorded.size >= 0 && recorded.size != facts.st_size) {
            text = rsdk_arena_format(m->arena, "%s has %lld bytes, %lld were installed", rsdk_path_name(path),
                                     (long long)facts.st_size, recorded.size);
            RSDK_NEED(text, m->error);
            m->finding->path = path;
            RSDK_TRY(rsdk_finding_add_owner(m->finding, NULL, m->arena, m->error));
            m->finding->path = m->needing.file.path;
            return add(m, "changed", text);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_misfit_find(rsdk_sdk *sdk, const char *path, const char *dlerror_text, rsdk_arena *arena,
                             rsdk_finding *finding, rsdk_error *error) {
    misfit m = {.path = path, .arena = arena, .finding = finding, .error = error};
    const char *named = read_words(&m, dlerror_text), *detail = dlerror_text;
    if (named == NULL) {
        return RSDK_OK;
    }
    finding->code = RSDK_E_LIB_020;
    finding->path = access(named, F_OK) == 0 ? named : path;
    m.inventory = rsdk_inventory_make(sdk, arena, true);
    RSDK_TRY(rsdk_link_map_read(arena, &m.map, error));
    RSDK_TRY(rsdk_linker_search_init(arena, &m.map, &m.search, error));
    if (read_library(&m, finding->path, &m.needing)) {
        /* Find the library that should have a symbol: the version that it is asked for with names it; without one, a
         * needed library that lacks it, while the SDK's or the system's library of that name has it. */
        for (uint32_t i = 1; m.version == NULL && i < m.needing.symbols.count; i++) {
            const rsdk_elf_version *version = rsdk_elf_dynsym_version(&m.needing.symbols, i);
            const char *name = rsdk_elf_dynsym_name(&m.needing.symbols, i);
            if (version != NULL && version->file != NULL && name != NULL && strcmp(name, m.symbol) == 0) {
                m.version = version->name;
                m.provider = version->file;
            }
        }
        for (size_t i = 0; m.provider == NULL && i < m.needing.file.needed.count; i++) {
            const char *name = m.needing.file.needed.items[i], *present = NULL, *own = NULL, *of_system = NULL;
            RSDK_TRY(find_in_process(&m, name, &present));
            RSDK_TRY(find_in_sdk(&m, name, &own));
            RSDK_TRY(rsdk_linker_search_find_in_system(&m.search, name, &of_system, m.error));
            bool is_displaced = has_symbol(&m, own) || has_symbol(&m, of_system);
            m.provider = is_displaced && !has_symbol(&m, present) ? present : NULL;
        }
        bool is_name = m.provider != NULL && m.provider[0] != '/';
        RSDK_TRY(is_name ? find_in_process(&m, m.provider, &m.provider) : RSDK_OK);
        RSDK_TRY(m.provider != NULL ? tell_provider(&m, &detail) : RSDK_OK);
        RSDK_TRY(find_changed(&m));
    }
    return add(&m, "detail", detail);
}
