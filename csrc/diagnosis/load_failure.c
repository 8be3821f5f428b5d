/* The explanation of a load that failed. Each possible cause is a function that fills the finding; the first that
 * applies counts. */
#include "diagnosis/finding.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "loader/dependency_graph.h"
#include "loader/link_map.h"
#include "loader/linker_search.h"
#include "sdk/inventory.h"
#include "sdk/package_name.h"
#include "sdk/record.h"
#include "sdk/tables.h"

/* glibc's default of the tunable, in bytes (sysdeps/generic/dl-tls.h), and the step that a new value is rounded up
 * to. */
enum { DEFAULT_RESERVE = 512, RESERVE_STEP = 4096 };
static const char reserve_tunable[] = "glibc.rtld.optional_static_tls=";

typedef struct explanation {
    rsdk_sdk *sdk;
    const char *path, *dlerror_text;
    rsdk_arena *arena;
    rsdk_inventory inventory;
    rsdk_link_map map;
    rsdk_linker_search search;
    rsdk_graph graph; /* the graph of the library, and of all its needs */
    rsdk_finding *finding;
    rsdk_error *error;
} explanation;

static rsdk_status add(explanation *e, const char *name, const char *value) {
    return rsdk_finding_add(e->finding, e->arena, name, value, e->error);
}

static rsdk_status find(explanation *e, rsdk_code code, const char *path) {
    e->finding->code = code;
    e->finding->path = path;
    return RSDK_OK;
}

static const rsdk_node *node_at(const explanation *e, size_t index) {
    return e->graph.nodes.items[index];
}

static bool says(const explanation *e, const char *words) {
    return strstr(e->dlerror_text, words) != NULL;
}

/* ---- what is not there ---- */

/* Return the path of the first library that needs a name; the path of the refused library where none says so. */
static const char *who_needs(const explanation *e, const char *name) {
    for (size_t i = 0; i < e->graph.nodes.count; i++) {
        for (size_t j = 0; j < node_at(e, i)->edges.count; j++) {
            if (strcmp(node_at(e, i)->edges.items[j].name, name) == 0) {
                return node_at(e, i)->location.path;
            }
        }
    }
    return e->path;
}

/* Explain a name that a file of the SDK has, and that the linker did not take. */
static rsdk_status explain_present(explanation *e, const char *name, const char *present) {
    const rsdk_elf_file *file = NULL;
    RSDK_TRY(rsdk_inventory_read(&e->inventory, present, &file, e->error));
    if (file->soname != NULL && strcmp(file->soname, name) != 0) {
        RSDK_TRY(add(e, "soname", file->soname));
        return find(e, RSDK_W_LIB_010, present);
    }
    const char *needing = who_needs(e, name);
    RSDK_TRY(add(e, "name", name));
    RSDK_TRY(add(e, "present", present));
    RSDK_TRY(add(e, "needing", rsdk_path_name(needing)));
    return find(e, RSDK_E_LIB_004, needing);
}

/* Return whether a missing file may have been part of the SDK, which has no list of its files. A ROCm of the system has
 * a list: the list of the system's packages. */
static bool may_have_had(const explanation *e, const rsdk_recorded_file *recorded) {
    const char *place = rsdk_sdk_fallback(e->sdk);
    return !recorded->has_records && (place == NULL || strcmp(place, "system") != 0);
}

static rsdk_status explain_unrecorded(explanation *e, const char *name) {
    const char *core = NULL;
    RSDK_TRY(rsdk_sdk_package_directory(e->sdk, RSDK_CORE, &core, e->error));
    RSDK_TRY(add(e, "prefix", core));
    /* Add the installed packages as one requirement: a part alone would leave the rest without a RECORD. */
    const char *extras = "", *version = rsdk_sdk_version(e->sdk);
    if (version != NULL && rsdk_sdk_fallback(e->sdk) == NULL) {
        for (unsigned id = 0; id < RSDK_PACKAGE_COUNT; id++) {
            const rsdk_package_entry *package = rsdk_package_get((rsdk_package_id)id);
            const char *directory = NULL;
            if (!package->is_required &&
                rsdk_sdk_package_directory(e->sdk, (rsdk_package_id)id, &directory, NULL) == RSDK_OK) {
                extras = rsdk_arena_format(e->arena, "%s%s%s", extras, extras[0] != '\0' ? "," : "", package->name);
                RSDK_NEED(extras, e->error);
            }
        }
        const char *format = extras[0] != '\0' ? "rocm[%s]==%s" : "rocm%s==%s";
        const char *requirement = rsdk_arena_format(e->arena, format, extras, version);
        RSDK_NEED(requirement, e->error);
        RSDK_TRY(add(e, "requirement", requirement));
    }
    return find(e, RSDK_E_LIB_023, who_needs(e, name));
}

/* Explain a missing library whose package the catalog knows. */
static rsdk_status explain_of_catalog(explanation *e, const rsdk_catalog_entry *entry, const char *name,
                                      const rsdk_recorded_file *recorded) {
    const char *directory = NULL, *version = rsdk_sdk_version(e->sdk);
    if (rsdk_sdk_package_directory(e->sdk, entry->package, &directory, NULL) == RSDK_OK) {
        if (may_have_had(e, recorded)) {
            return explain_unrecorded(e, name);
        }
        if (recorded->has_records) {
            /* Explain a library that the RECORD of its installed package does not list: the package of a closure, say,
             * or of another maker. */
            const char *distribution = rsdk_package_name_distribution(e->sdk, entry->package, NULL, e->arena);
            RSDK_NEED(distribution, e->error);
            const char *detail =
                rsdk_arena_format(e->arena, "%s has it, and the one that is installed does not", distribution);
            RSDK_NEED(detail, e->error);
            RSDK_TRY(add(e, "detail", detail));
            RSDK_TRY(add(e, "package", distribution));
            return find(e, RSDK_E_LIB_002, who_needs(e, name));
        }
        const char *path = rsdk_arena_format(e->arena, "%s/%s/%s", directory, entry->directory, name);
        RSDK_NEED(path, e->error);
        return find(e, RSDK_E_FILE_001, path);
    }
    const rsdk_package_entry *package = rsdk_package_get(entry->package);
    const char *format = package->is_required ? "%s%s%s" : "rocm[%s]%s%s";
    const char *requirement =
        rsdk_arena_format(e->arena, format, package->is_required ? package->dist_template : package->name,
                          version != NULL ? "==" : "", version != NULL ? version : "");
    RSDK_NEED(requirement, e->error);
    RSDK_TRY(add(e, "requirement", requirement));
    return find(e, RSDK_E_LIB_003, e->path);
}

static rsdk_status explain_missing_name(explanation *e, const char *name, const char *needing, const char *also) {
    const rsdk_catalog_entry *entry = rsdk_catalog_find_file(name);
    rsdk_recorded_file recorded;
    RSDK_TRY(add(e, "name", rsdk_path_name(name)));
    RSDK_TRY(add(e, "needing", needing));
    RSDK_TRY(add(e, "also", also));
    RSDK_TRY(rsdk_record_find_name(e->sdk, rsdk_path_name(name), e->arena, &recorded, e->error));
    if (recorded.distribution != NULL) {
        return find(e, RSDK_E_FILE_001, recorded.path);
    }
    if (entry != NULL) {
        return explain_of_catalog(e, entry, name, &recorded);
    }
    if (may_have_had(e, &recorded) && !rsdk_host_package_is_known(name)) {
        return explain_unrecorded(e, name);
    }
    const char *place = rsdk_sdk_fallback(e->sdk);
    bool is_of_system = place != NULL && strcmp(place, "system") == 0;
    RSDK_TRY(rsdk_host_package_add(e->finding, e->arena, name, is_of_system, e->error));
    return find(e, RSDK_E_LIB_002, e->path);
}

/* Find the missing libraries. The missing names in the graph count first: the linker names only the first name that it
 * comes to. */
static rsdk_status find_missing(explanation *e) {
    rsdk_unique_strings names = {0};
    const char *needing = NULL, *named = NULL, *present = NULL, *also = "";
    rsdk_package_id package;
    /* The names that nobody provides, each once, and the library that needs the first. */
    for (size_t i = 0; i < e->graph.nodes.count; i++) {
        for (size_t j = 0; j < node_at(e, i)->edges.count; j++) {
            const rsdk_edge *edge = &node_at(e, i)->edges.items[j];
            if (edge->kind == RSDK_EDGE_MISSING && !edge->is_optional) {
                needing = names.list.count == 0 ? rsdk_path_name(node_at(e, i)->location.path) : needing;
                RSDK_TRY(rsdk_unique_strings_add(&names, e->arena, edge->name, e->error));
            }
        }
    }
    /* The text may be "NAME: cannot open shared object file: No such file or directory". */
    const char *end = strstr(e->dlerror_text, ": cannot open shared object file: No such file"), *start = end;
    if (end != NULL) {
        while (start > e->dlerror_text && !(start[-1] == ' ' && start - 1 > e->dlerror_text && start[-2] == ':')) {
            start--;
        }
        named = rsdk_arena_copy_bytes(e->arena, start, (size_t)(end - start));
        RSDK_NEED(named, e->error);
    }
    if (names.list.count == 0 && named == NULL) {
        return RSDK_OK;
    }
    if (names.list.count == 0) {
        RSDK_TRY(rsdk_inventory_find(&e->inventory, e->path, rsdk_path_name(named), &present, &package, e->error));
        return present != NULL ? explain_present(e, named, present)
                               : explain_missing_name(e, named, rsdk_path_name(who_needs(e, named)), "");
    }
    for (size_t i = 1; i < names.list.count; i++) {
        also = rsdk_arena_format(e->arena, "%s%s%s", also, i == 1 ? "; also missing: " : ", ", names.list.items[i]);
        RSDK_NEED(also, e->error);
    }
    return explain_missing_name(e, names.list.items[0], needing, also);
}

/* ---- what the system refuses ---- */

static rsdk_status find_old_glibc(explanation *e) {
    const char *present = gnu_get_libc_version(), *wanted = present, *needing = NULL;
    rsdk_elf_file file;
    for (size_t i = 0; i < e->graph.nodes.count; i++) {
        const char *newest = NULL;
        if (rsdk_elf_file_read_with_versions(node_at(e, i)->file->path, e->arena, &file, NULL) == RSDK_OK) {
            newest = rsdk_elf_file_newest_glibc(&file);
        }
        if (newest != NULL && strverscmp(newest, wanted) > 0) {
            wanted = newest;
            needing = file.path;
        }
    }
    if (needing == NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(add(e, "wanted", wanted));
    RSDK_TRY(add(e, "present", present));
    return find(e, RSDK_E_LIB_005, needing);
}

static bool is_noexec(const char *path, dev_t *device) {
    struct statvfs facts;
    struct stat file;
    bool is_known = statvfs(path, &facts) == 0 && stat(path, &file) == 0;
    *device = is_known ? file.st_dev : 0;
    return is_known && (facts.f_flag & ST_NOEXEC) != 0;
}

static rsdk_status find_noexec_mount(explanation *e) {
    const char *mount = NULL;
    dev_t device = 0;
    for (size_t i = 0; i < e->graph.nodes.count; i++) {
        const char *path = node_at(e, i)->location.path;
        if (is_noexec(path, &device)) {
            /* The file system of the file is mounted at the last directory above it that is on it. */
            const char *parent = path;
            dev_t above = 0;
            do {
                mount = parent;
                parent = rsdk_path_parent(e->arena, mount);
                RSDK_NEED(parent, e->error);
            } while (strcmp(parent, mount) != 0 && is_noexec(parent, &above) && above == device);
            RSDK_TRY(add(e, "directory", mount));
            return find(e, RSDK_E_LIB_017, path);
        }
    }
    return RSDK_OK;
}

/* Explain that the kernel maps no more for this process, which says nothing against the file. */
static rsdk_status find_memory_limit(explanation *e) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    (void)getrlimit(RLIMIT_AS, &limit);
    bool is_limited = limit.rlim_cur != RLIM_INFINITY;
    if (!says(e, "Cannot allocate memory") && !(is_limited && says(e, "failed to map segment"))) {
        return RSDK_OK;
    }
    if (is_limited) {
        const char *text = rsdk_arena_format(e->arena, "%llu bytes", (unsigned long long)limit.rlim_cur);
        RSDK_NEED(text, e->error);
        RSDK_TRY(add(e, "limit", text));
    }
    RSDK_TRY(add(e, "detail", e->dlerror_text));
    return find(e, RSDK_E_LIB_025, e->path);
}

/* Find a library that wants an executable stack. glibc refuses from 2.41 on, and has a value of the tunable that allows
 * it from 2.42 on. */
static rsdk_status find_executable_stack(explanation *e) {
    for (size_t i = 0; says(e, "executable stack") && i < e->graph.nodes.count; i++) {
        if (node_at(e, i)->file->wants_executable_stack) {
            if (strverscmp(gnu_get_libc_version(), "2.42") >= 0) {
                RSDK_TRY(add(e, "tunable", "GLIBC_TUNABLES=glibc.rtld.execstack=2"));
            }
            return find(e, RSDK_E_LIB_015, node_at(e, i)->location.path);
        }
    }
    return RSDK_OK;
}

/* Return the value of the tunable in force, in bytes. */
static unsigned long reserve_in_force(void) {
    const char *tunables = secure_getenv("GLIBC_TUNABLES"), *value = NULL;
    value = tunables != NULL ? strstr(tunables, reserve_tunable) : NULL;
    unsigned long reserve = value != NULL ? strtoul(value + sizeof reserve_tunable - 1, NULL, 0) : 0;
    return reserve > 0 ? reserve : DEFAULT_RESERVE;
}

/* Return whether a file takes static TLS. GNU ld for AArch64 does not write the flag; there the linker's text names the
 * file. */
static bool takes_static_tls(const explanation *e, const rsdk_elf_file *file) {
    size_t length = strlen(file->path);
    bool is_named = strncmp(e->dlerror_text, file->path, length) == 0 && e->dlerror_text[length] == ':';
    return file->has_static_tls || (is_named && file->tls_size > 0);
}

static rsdk_status find_static_tls(explanation *e) {
    unsigned long size = 0, reserve = reserve_in_force();
    const char *first = NULL;
    for (size_t i = 0; says(e, "static TLS") && i < e->graph.nodes.count; i++) {
        const rsdk_elf_file *file = node_at(e, i)->file;
        if (takes_static_tls(e, file)) {
            size += file->tls_size;
            first = first == NULL ? file->path : first;
        }
    }
    if (first == NULL) {
        return RSDK_OK;
    }
    unsigned long needed = (reserve + size + RESERVE_STEP - 1) / RESERVE_STEP * RESERVE_STEP;
    const char *size_text = rsdk_arena_format(e->arena, "%lu", size);
    const char *reserve_text = rsdk_arena_format(e->arena, "%lu", reserve);
    const char *needed_text = rsdk_arena_format(e->arena, "%lu", needed);
    RSDK_NEED(size_text, e->error);
    RSDK_NEED(reserve_text, e->error);
    RSDK_NEED(needed_text, e->error);
    RSDK_TRY(add(e, "size", size_text));
    RSDK_TRY(add(e, "reserve", reserve_text));
    RSDK_TRY(add(e, "needed", needed_text));
    return find(e, RSDK_E_LIB_018, first);
}

/* ---- what only the linker says ---- */

/* Texts of glibc's linker, and their meaning. The file is the file whose path or name the text begins with. */
static const struct linker_text {
    const char *words;
    rsdk_code code;
} linker_texts[] = {
    {"Permission denied", RSDK_E_FILE_007}, {"file too short", RSDK_E_LIB_006},
    {"invalid ELF header", RSDK_E_LIB_006}, {"cannot read file data", RSDK_E_LIB_006},
    {"wrong ELF class", RSDK_E_LIB_012},
};

static bool is_of_system(const char *path) {
    bool is_local = strncmp(path, "/usr/local/", strlen("/usr/local/")) == 0;
    return (strncmp(path, "/usr/lib", strlen("/usr/lib")) == 0 || strncmp(path, "/lib", strlen("/lib")) == 0) &&
           !is_local;
}

static rsdk_status find_linker_text(explanation *e) {
    const char *path = NULL, *named = NULL;
    rsdk_package_id package;
    named = rsdk_arena_copy_bytes(e->arena, e->dlerror_text, strcspn(e->dlerror_text, ":"));
    RSDK_NEED(named, e->error);
    if (named[0] == '/') {
        path = access(named, F_OK) == 0 ? named : e->path;
    } else {
        const char *present = NULL;
        RSDK_TRY(rsdk_inventory_find(&e->inventory, e->path, rsdk_path_name(named), &present, &package, e->error));
        path = present != NULL ? present : e->path;
    }
    RSDK_TRY(add(e, "detail", e->dlerror_text));
    if (is_of_system(path) && rsdk_host_package_is_known(rsdk_path_name(path))) {
        RSDK_TRY(rsdk_host_package_add(e->finding, e->arena, rsdk_path_name(path), true, e->error));
    }
    for (size_t i = 0; i < sizeof linker_texts / sizeof *linker_texts; i++) {
        if (says(e, linker_texts[i].words)) {
            return find(e, linker_texts[i].code, path);
        }
    }
    return find(e, RSDK_E_LIB_001, path);
}

/* ---- the whole ---- */

rsdk_status rsdk_load_failure_explain(rsdk_sdk *sdk, const char *path, const char *dlerror_text, rsdk_arena *arena,
                                      rsdk_finding *finding, rsdk_error *error) {
    static rsdk_status (*const causes[])(explanation *) = {find_missing,      find_old_glibc,        find_noexec_mount,
                                                           find_memory_limit, find_executable_stack, find_static_tls,
                                                           find_linker_text};
    explanation e = {
        .sdk = sdk, .path = path, .dlerror_text = dlerror_text, .arena = arena, .finding = finding, .error = error};
    finding->code = RSDK_NO_CODE;
    RSDK_TRY(rsdk_misfit_find(sdk, path, dlerror_text, arena, finding, error));
    if (finding->code != RSDK_NO_CODE || sdk == NULL) {
        return RSDK_OK;
    }
    rsdk_location location = {.path = e.path, .found_via = RSDK_FOUND_BY_NEED};
    size_t node = 0;
    e.inventory = rsdk_inventory_make(e.sdk, e.arena, true);
    RSDK_TRY(rsdk_link_map_read(e.arena, &e.map, e.error));
    RSDK_TRY(rsdk_linker_search_init(e.arena, &e.map, &e.search, e.error));
    e.graph = (rsdk_graph){
        .arena = e.arena, .inventory = &e.inventory, .map = &e.map, .search = &e.search, .asks_linker = true};
    RSDK_TRY(rsdk_graph_add(&e.graph, &location, true, &node, e.error));
    RSDK_TRY(rsdk_graph_complete(&e.graph, e.error));
    for (size_t i = 0; finding->code == RSDK_NO_CODE; i++) { /* the last always finds something */
        RSDK_TRY(causes[i](&e));
    }
    return RSDK_OK;
}
