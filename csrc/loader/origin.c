/* The search for origins, in the linker's order: the names in LD_PRELOAD and their needs, DT_RPATH, LD_LIBRARY_PATH,
 * DT_RUNPATH, the system. */
#include "loader/origin.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "elf/elf_file.h"
#include "elf/soname.h"
#include "loader/linker_search.h"

/* Libraries that serve profilers. A library that needs one and is named by LD_PRELOAD is a profiler's tool: rocprofv3,
 * rocprof-sys and others work like this. Source: bin/rocprofv3.py of rocprofiler-sdk. */
static const char *const of_profilers[] = {"librocprofiler-sdk.so",
                                           "librocprofiler-sdk-rocpd.so",
                                           "librocprofiler-register.so",
                                           "librocprofiler-sdk-roctx.so",
                                           "libroctracer64.so",
                                           "librocprofiler64.so",
                                           "libroctx64.so"};
static const char *const of_systems[] = {"/usr/lib", "/usr/lib64", "/lib", "/lib64"};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- reading ---- */

/* Return the real path; the path itself if the real one is not known, NULL when out of memory. */
static const char *real_path(rsdk_arena *arena, const char *path) {
    char real[PATH_MAX];
    return rsdk_arena_copy(arena, realpath(path, real) != NULL ? real : path);
}

static rsdk_status add_real(rsdk_arena *arena, rsdk_strings *list, const char *path, rsdk_error *error) {
    const char *real = real_path(arena, path);
    RSDK_NEED(real, error);
    RSDK_APPEND(arena, list, real, error);
    return RSDK_OK;
}

/* Find out whether LD_PRELOAD names a library. An entry with a '/' is a path, another one the name that was
 * searched. */
static rsdk_status is_preloaded(rsdk_origins *origins, const rsdk_mapped_library *library, bool *result,
                                rsdk_error *error) {
    for (size_t i = 0; !*result && i < origins->preloaded.count; i++) {
        const char *entry = origins->preloaded.items[i];
        if (strchr(entry, '/') == NULL) {
            *result = strcmp(rsdk_path_name(library->file.path), entry) == 0;
            continue;
        }
        const char *real = real_path(origins->arena, entry);
        RSDK_NEED(real, error);
        *result = strcmp(real, library->real) == 0;
    }
    return RSDK_OK;
}

static rsdk_status read_library(rsdk_origins *origins, const char *path, rsdk_error *error) {
    rsdk_mapped_library library = {.real = NULL};
    rsdk_status status = path[0] == '/' ? rsdk_elf_file_read(path, origins->arena, &library.file, NULL) : RSDK_BAD_ELF;
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    if (status != RSDK_OK) {
        return RSDK_OK;
    }
    library.real = real_path(origins->arena, path);
    RSDK_NEED(library.real, error);
    const char *text = library.file.runpath != NULL ? library.file.runpath : library.file.rpath;
    rsdk_strings directories = {0};
    library.has_rpath = library.file.rpath != NULL;
    if (text != NULL) {
        RSDK_TRY(rsdk_linker_search_expand(origins->arena, text, library.file.path, &directories, error));
        for (size_t i = 0; i < directories.count; i++) {
            if (directories.items[i] != NULL) {
                RSDK_TRY(add_real(origins->arena, &library.search, directories.items[i], error));
            }
        }
    }
    RSDK_TRY(is_preloaded(origins, &library, &library.is_preloaded, error));
    RSDK_APPEND(origins->arena, &origins->libraries, library, error);
    return RSDK_OK;
}

rsdk_status rsdk_origins_add_preloaded(rsdk_origins *origins, const char *value, rsdk_error *error) {
    static const char separators[] = ": ";
    for (const char *rest = value; rest != NULL && *(rest += strspn(rest, separators)) != '\0';) {
        size_t length = strcspn(rest, separators);
        const char *entry = rsdk_arena_copy_bytes(origins->arena, rest, length);
        RSDK_NEED(entry, error);
        RSDK_APPEND(origins->arena, &origins->preloaded, entry, error);
        rest += length;
    }
    return RSDK_OK;
}

/* ---- who needs it ---- */

static bool has(const rsdk_strings *list, const char *text) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* The file by the names that DT_NEEDED may have for it. */
typedef struct wanted {
    const char *real, *name, *soname, *directory;
} wanted;

static bool needs(const rsdk_mapped_library *library, const char *name, const char *soname) {
    return has(&library->file.needed, name) || (soname != NULL && has(&library->file.needed, soname));
}

static bool is_for_profilers(const char *name) {
    for (size_t i = 0; i < COUNT_OF(of_profilers); i++) {
        if (rsdk_soname_has_linker_name(name, of_profilers[i])) {
            return true;
        }
    }
    return false;
}

/* Return whether a library that LD_PRELOAD names is the tool of a profiler, and not one of the libraries that serve
 * it. */
static bool is_tool(const rsdk_mapped_library *library) {
    for (size_t i = 0; library->is_preloaded && i < library->file.needed.count; i++) {
        if (is_for_profilers(library->file.needed.items[i])) {
            return !is_for_profilers(rsdk_path_name(library->real));
        }
    }
    return false;
}

/* Find out whether a library leads to the file by its needs, directly or through others. */
static rsdk_status leads_to(const rsdk_origins *origins, size_t from, const wanted *file, bool *leads,
                            rsdk_error *error) {
    size_t count = origins->libraries.count;
    bool *seen = rsdk_arena_alloc(origins->arena, count + 1, sizeof *seen);
    size_t *queue = rsdk_arena_alloc(origins->arena, count + 1, sizeof *queue), queued = 1;
    RSDK_NEED(seen, error);
    RSDK_NEED(queue, error);
    queue[0] = from;
    seen[from] = true;
    for (size_t next = 0; !*leads && next < queued; next++) {
        const rsdk_mapped_library *library = &origins->libraries.items[queue[next]];
        *leads = needs(library, file->name, file->soname);
        for (size_t i = 0; !*leads && i < count; i++) {
            const rsdk_mapped_library *other = &origins->libraries.items[i];
            if (!seen[i] && needs(library, rsdk_path_name(other->real), other->file.soname)) {
                seen[i] = true;
                queue[queued++] = i;
            }
        }
    }
    return RSDK_OK;
}

/* Return the library that needs the file and has a DT_RPATH (or DT_RUNPATH) that leads to it; NULL: none. */
static const char *by_search_path(const rsdk_origins *origins, const wanted *file, bool by_rpath) {
    for (size_t i = 0; i < origins->libraries.count; i++) {
        const rsdk_mapped_library *library = &origins->libraries.items[i];
        if (library->has_rpath == by_rpath && strcmp(library->real, file->real) != 0 &&
            has(&library->search, file->directory) && needs(library, file->name, file->soname)) {
            return library->file.path;
        }
    }
    return NULL;
}

static bool is_preloaded_file(const rsdk_origins *origins, const wanted *file) {
    for (size_t i = 0; i < origins->libraries.count; i++) {
        if (origins->libraries.items[i].is_preloaded && strcmp(origins->libraries.items[i].real, file->real) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_of_system(const char *real) {
    for (size_t i = 0; i < COUNT_OF(of_systems); i++) {
        if (rsdk_path_below(real, of_systems[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- the answer ---- */

rsdk_status rsdk_origins_find(rsdk_origins *origins, const char *path, rsdk_origin *origin, rsdk_error *error) {
    wanted file = {.real = NULL};
    *origin = (rsdk_origin){.kind = RSDK_ORIGIN_UNKNOWN};
    for (size_t i = 0; !origins->is_read && i < origins->mapped.count; i++) {
        RSDK_TRY(read_library(origins, origins->mapped.items[i], error));
    }
    for (size_t i = 0; !origins->is_read && i < origins->library_path.count; i++) {
        RSDK_TRY(add_real(origins->arena, &origins->real_library_path, origins->library_path.items[i], error));
    }
    origins->is_read = true;
    file.real = real_path(origins->arena, path);
    RSDK_NEED(file.real, error);
    file.directory = rsdk_path_parent(origins->arena, file.real);
    RSDK_NEED(file.directory, error);
    file.name = rsdk_path_name(path);
    for (size_t i = 0; i < origins->libraries.count; i++) {
        if (strcmp(origins->libraries.items[i].real, file.real) == 0) {
            file.soname = origins->libraries.items[i].file.soname;
        }
    }
    for (size_t i = 0; origin->by == NULL && i < origins->libraries.count; i++) {
        const rsdk_mapped_library *library = &origins->libraries.items[i];
        bool leads = false;
        if (is_tool(library) && strcmp(library->real, file.real) != 0) {
            RSDK_TRY(leads_to(origins, i, &file, &leads, error));
        }
        origin->by = leads ? library->file.path : NULL;
    }
    const char *rpath = by_search_path(origins, &file, true), *runpath = by_search_path(origins, &file, false);
    if (origin->by != NULL) {
        origin->kind = RSDK_ORIGIN_PROFILER;
    } else if (is_preloaded_file(origins, &file)) {
        origin->kind = RSDK_ORIGIN_PRELOADED;
    } else if (rpath == NULL && has(&origins->real_library_path, file.directory)) {
        origin->kind = RSDK_ORIGIN_LIBRARY_PATH;
    } else if (rpath != NULL || runpath != NULL) {
        origin->kind = RSDK_ORIGIN_RPATH;
        origin->by = rpath != NULL ? rpath : runpath;
    } else if (is_of_system(file.real)) {
        origin->kind = RSDK_ORIGIN_SYSTEM;
    }
    static const char *const texts[RSDK_ORIGIN_KIND_COUNT] = {
        [RSDK_ORIGIN_UNKNOWN] = "code that ran earlier", [RSDK_ORIGIN_PROFILER] = "the profiler",
        [RSDK_ORIGIN_PRELOADED] = "LD_PRELOAD",          [RSDK_ORIGIN_RPATH] = "an RPATH",
        [RSDK_ORIGIN_LIBRARY_PATH] = "LD_LIBRARY_PATH",  [RSDK_ORIGIN_SYSTEM] = "the system's directories"};
    origin->text = texts[origin->kind];
    if (origin->kind == RSDK_ORIGIN_PROFILER) {
        origin->text = rsdk_arena_format(origins->arena, "the profiler %s", origin->by);
    } else if (origin->kind == RSDK_ORIGIN_RPATH) {
        origin->text = rsdk_arena_format(origins->arena, "the RPATH of %s", rsdk_path_name(origin->by));
    }
    RSDK_NEED(origin->text, error);
    return RSDK_OK;
}
