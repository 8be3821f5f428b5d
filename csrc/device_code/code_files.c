/* The walk through an installation. Names decide which files are opened later; the content decides the kind of code. */
#include "device_code/code_files.h"

#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/path.h"
#include "device_code/file_target.h"
#include "device_code/tables.h"

enum {
    DEPTH_LIMIT = 128,    /* as of rocm_sdk/installed/directory_walk.py */
    NAME_LIMIT = 1 << 21, /* a ROCm with its compiler and headers has 40,000 */
};

/* A symbolic link, as the directory that it is in and its name. */
typedef struct link {
    const char *directory, *name;
} link;

typedef struct walk {
    const char *top;
    rsdk_arena *arena;
    RSDK_LIST(link) links;
    rsdk_code_files *files;
    rsdk_error *error;
} walk;

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Return where ".so" stands in "librocblas.so" and "librocblas.so.4.2"; NULL where the name is not a shared
 * library's. */
static const char *library_suffix(const char *name) {
    for (const char *at = strstr(name, ".so"); at != NULL; at = strstr(at + 1, ".so")) {
        if (at[3] == '\0' || at[3] == '.') {
            return at;
        }
    }
    return NULL;
}

static const char *start_of_name(const char *directory, const char *end) {
    while (end > directory && end[-1] != '/') {
        end--;
    }
    return end;
}

static bool is_version(const char *start, const char *end) {
    return start < end && strspn(start, "0123456789.") >= (size_t)(end - start);
}

/* Return "rocblas" for ".../lib/rocblas/library/gfx942": the name before "library", else the directory's own name.
 * Debian has a version between them: "rocblas/4.4.1/library". */
static const char *owner_of(const walk *w, const char *directory) {
    static const char marker[] = "/library";
    const char *end = directory + strlen(directory);
    for (const char *at = strstr(directory, marker); at != NULL; at = strstr(at + 1, marker)) {
        if (at[sizeof marker - 1] == '\0' || at[sizeof marker - 1] == '/') {
            end = at;
        }
    }
    const char *start = start_of_name(directory, end);
    if (start > directory && is_version(start, end)) {
        end = start - 1;
        start = start_of_name(directory, end);
    }
    return rsdk_arena_copy_bytes(w->arena, start, (size_t)(end - start));
}

static rsdk_status add(const walk *w, rsdk_code_file file) {
    RSDK_NEED(file.library, w->error);
    RSDK_APPEND(w->arena, &w->files->list, file, w->error);
    return RSDK_OK;
}

/* Find the nearest directory, from the file's own up to the top, whose name is a target: "hsa/gfx942/fmha/" is that
 * target's alternative to "hsa/gfx950/fmha/". Return where its name begins in the path; NULL: none. */
static const char *find_target_directory(const walk *w, const char *directory, char target[RSDK_TARGET_ID_SIZE]) {
    const char *end = directory + strlen(directory), *top = directory + strlen(w->top);
    while (end > directory && end >= top) {
        const char *start = start_of_name(directory, end);
        size_t cut = 0;
        if (strncmp(start, "gfx", 3) == 0 && rsdk_file_target_find(start, target, &cut) &&
            strlen(target) == (size_t)(end - start)) {
            return start;
        }
        end = start > directory ? start - 1 : directory;
    }
    return NULL;
}

/* Add a library, with "MIOpenCK" and "gfx942" of libMIOpenCK_gfx942.so.1, or with the target of its directory. */
static rsdk_status add_library(const walk *w, const char *directory, const char *path, const char *name,
                               const char *suffix) {
    char target[RSDK_TARGET_ID_SIZE];
    size_t cut = 0;
    rsdk_code_file file = {.kind = RSDK_CODE_FILE_LIBRARY, .path = path};
    bool is_in_name = suffix != NULL && rsdk_file_target_find(name, target, &cut) && cut > 0 && name + cut < suffix;
    if (is_in_name || find_target_directory(w, directory, target) != NULL) {
        file.target = rsdk_arena_copy(w->arena, target);
        RSDK_NEED(file.target, w->error);
        suffix = is_in_name ? name + cut : suffix;
    }
    const char *start = suffix != NULL && strncmp(name, "lib", 3) == 0 ? name + 3 : name;
    size_t length = suffix != NULL && suffix > start ? (size_t)(suffix - start) : strlen(start);
    file.library = rsdk_arena_copy_bytes(w->arena, start, length);
    return add(w, file);
}

/* Add a loose file, with the target in the file's name, else in a directory's ("library/gfx942/"). What belongs to a
 * directory of a target belongs to the directory above it. */
static rsdk_status add_loose(const walk *w, rsdk_code_file_kind kind, const char *directory, const char *path,
                             const char *name) {
    char target[RSDK_TARGET_ID_SIZE];
    size_t cut = 0;
    const char *of_target = find_target_directory(w, directory, target), *owner = directory;
    if (of_target != NULL && of_target > directory) {
        owner = rsdk_arena_copy_bytes(w->arena, directory, (size_t)(of_target - 1 - directory));
        RSDK_NEED(owner, w->error);
    }
    rsdk_code_file file = {.kind = kind, .path = path, .library = owner_of(w, owner)};
    if (rsdk_file_target_find(name, target, &cut) || of_target != NULL ||
        rsdk_file_target_find(rsdk_path_name(directory), target, &cut)) {
        file.target = rsdk_arena_copy(w->arena, target);
        RSDK_NEED(file.target, w->error);
    }
    return add(w, file);
}

/* Return the library whose databases lie in the directory; NULL: none. */
static const char *owner_of_databases(const char *directory) {
    for (size_t i = 0; i < rsdk_compiling_library_table_size; i++) {
        const rsdk_compiling_library *row = &rsdk_compiling_library_table[i];
        if (row->databases != NULL && ends_with(directory, row->databases)) {
            return row->name;
        }
    }
    return NULL;
}

/* The indexes are "TensileLibrary_lazy_gfx942.dat", "TensileLibrary_gfx942.dat" of older versions and
 * "TensileLibrary.dat" of the oldest. */
bool rsdk_code_files_table_kind(const char *name, rsdk_code_file_kind *kind) {
    static const char prefix[] = "TensileLibrary", mapping[] = "TensileLiteLibrary_lazy_", extension[] = "hipblasltExt";
    static const char *const index_ends[] = {".", "_lazy_", "_gfx"};
    if (!ends_with(name, ".dat") && !ends_with(name, ".dat.zlib") && !ends_with(name, ".yaml")) {
        return false;
    }
    if (strncmp(name, mapping, sizeof mapping - 1) == 0 || strncmp(name, extension, sizeof extension - 1) == 0) {
        *kind = RSDK_CODE_FILE_TARGETS;
        return true;
    }
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return false;
    }
    *kind = RSDK_CODE_FILE_TABLE;
    for (size_t i = 0; i < sizeof index_ends / sizeof *index_ends; i++) {
        if (strncmp(name + sizeof prefix - 1, index_ends[i], strlen(index_ends[i])) == 0) {
            *kind = RSDK_CODE_FILE_INDEX;
        }
    }
    return true;
}

static rsdk_status add_file(const walk *w, const char *directory, const char *name, const char *path, bool is_program) {
    const char *suffix = library_suffix(name), *databases = owner_of_databases(directory);
    rsdk_code_file_kind kind = RSDK_CODE_FILE_LIBRARY;
    if (ends_with(name, ".co") || ends_with(name, ".hsaco")) {
        return add_loose(w, RSDK_CODE_FILE_LOOSE, directory, path, name);
    }
    if (ends_with(name, ".kpack")) {
        return add(w, (rsdk_code_file){RSDK_CODE_FILE_ARCHIVE, path, name, NULL});
    }
    if (rsdk_code_files_table_kind(name, &kind)) {
        return add_loose(w, kind, directory, path, name);
    }
    if (databases != NULL) {
        const rsdk_target *target = rsdk_file_target_of_database(name);
        return target == NULL ? RSDK_OK
                              : add(w, (rsdk_code_file){RSDK_CODE_FILE_DATABASE, path, databases, target->name});
    }
    if (suffix != NULL || (is_program && strchr(name, '.') == NULL)) {
        return add_library(w, directory, path, name, suffix);
    }
    return RSDK_OK;
}

/* Add a file unless it is there under another name. */
static rsdk_status add_once(walk *w, const char *directory, const char *name, const char *path,
                            const struct stat *facts) {
    size_t place = 0;
    rsdk_file_identity *identity = rsdk_arena_alloc(w->arena, 1, sizeof *identity);
    RSDK_NEED(identity, w->error);
    *identity = (rsdk_file_identity){facts->st_dev, facts->st_ino};
    if (rsdk_name_table_find(&w->files->seen, identity, sizeof *identity, &place)) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_name_table_set(&w->files->seen, w->arena, identity, sizeof *identity, 0, w->error));
    return add_file(w, directory, name, path, (facts->st_mode & S_IXUSR) != 0);
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static rsdk_status visit(walk *w, const char *path, unsigned depth) {
    rsdk_directory directory;
    RSDK_TRY(rsdk_directory_read(path, w->arena, &directory, w->error));
    w->files->name_count += directory.names.count;
    if (depth > DEPTH_LIMIT) {
        return rsdk_fail(w->error, RSDK_IO_ERROR, w->top, "%s: directories lie in each other more than %d deep", w->top,
                         (int)DEPTH_LIMIT);
    }
    if (w->files->name_count > NAME_LIMIT) {
        return rsdk_fail(w->error, RSDK_IO_ERROR, path, "%s: there are more files below it than any installation has",
                         path);
    }
    for (size_t i = 0; i < directory.names.count; i++) {
        const char *name = directory.names.items[i], *child = rsdk_path_join(w->arena, path, name);
        struct stat facts;
        RSDK_NEED(child, w->error);
        if (lstat(child, &facts) != 0) {
            continue; /* removed since */
        }
        if (S_ISDIR(facts.st_mode)) {
            RSDK_TRY(visit(w, child, depth + 1));
        } else if (S_ISREG(facts.st_mode)) {
            RSDK_TRY(add_once(w, path, name, child, &facts));
        } else if (S_ISLNK(facts.st_mode)) {
            RSDK_APPEND(w->arena, &w->links, ((link){path, name}), w->error);
        }
    }
    return RSDK_OK;
}

/* Take links, which come last, so that a file has its own name where it has one. */
static rsdk_status take_links(walk *w) {
    for (size_t i = 0; i < w->links.count; i++) {
        const link *each = &w->links.items[i];
        const char *path = rsdk_path_join(w->arena, each->directory, each->name);
        struct stat facts;
        RSDK_NEED(path, w->error);
        if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode)) {
            RSDK_TRY(add_once(w, each->directory, each->name, path, &facts));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_code_files_collect(const char *directory, rsdk_arena *arena, rsdk_code_files *files,
                                    rsdk_error *error) {
    struct stat facts;
    walk w = {.top = directory, .arena = arena, .files = files, .error = error};
    if (stat(directory, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        return rsdk_fail(error, RSDK_FILE_NOT_FOUND, directory, "%s: there is no such directory", directory);
    }
    RSDK_TRY(visit(&w, directory, 0));
    return take_links(&w);
}
