/* Explaining a failed load. Each possible cause is a function that writes a sentence and a fix; the first that applies
 * counts. */
#include "loader/load_failure.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/path.h"
#include "base/text.h"
#include "sdk/tables.h"

typedef struct explanation {
    rsdk_plan *plan;
    const rsdk_planned_step *step;
    const char *dlerror_text;
    rsdk_text cause, fix;
    const char *code; /* more precise than the row's; NULL: none */
} explanation;

static const rsdk_node *member_at(const explanation *e, size_t index) {
    return e->plan->graph.nodes.items[e->step->members.items[index]];
}

static const rsdk_host_package *host_package_of(const char *soname) {
    for (size_t i = 0; i < rsdk_host_package_count; i++) {
        if (strcmp(rsdk_host_packages[i].soname, soname) == 0) {
            return &rsdk_host_packages[i];
        }
    }
    return NULL;
}

/* The SDK package that usually holds a library: "libMIOpen.so.1" belongs to the libraries. */
static const rsdk_package_entry *sdk_package_of(const char *soname) {
    for (size_t i = 0; i < rsdk_catalog_size(); i++) {
        const rsdk_catalog_entry *entry = rsdk_catalog_get(i);
        size_t length = strcspn(entry->so_pattern, "*[");
        if (strncmp(entry->so_pattern, soname, length) == 0) {
            return rsdk_package_get(entry->package);
        }
    }
    return NULL;
}

static void say_missing(explanation *e, const char *needing, const char *name) {
    rsdk_text_add(&e->cause, "%s%s needs %s, which is in neither the SDK nor the system",
                  e->cause.length > 0 ? "; " : "", rsdk_path_name(needing), name);
    const rsdk_host_package *host = host_package_of(name);
    const rsdk_package_entry *package = sdk_package_of(name);
    const char *separator = e->fix.length > 0 ? "; " : "";
    if (host != NULL) {
        rsdk_text_add(&e->fix, "%sapt install %s (Fedora: dnf install %s)", separator, host->debian, host->fedora);
    } else if (package != NULL) {
        e->code = "E-LIB-003";
        rsdk_text_add(&e->fix,
                      package->is_required ? "%spip install --force-reinstall %s" : "%spip install \"rocm[%s]\"",
                      separator, package->is_required ? package->dist_template : package->name);
    }
}

/* Asks the linker, which planning for a load does not. */
static void find_missing_of(explanation *e, size_t member) {
    const rsdk_node *node = e->plan->graph.nodes.items[member];
    rsdk_error ignored = RSDK_ERROR_INIT;
    for (size_t i = 0; i < node->edges.count; i++) {
        const rsdk_edge *edge = &node->edges.items[i];
        const char *path = NULL;
        if (edge->kind == RSDK_EDGE_OUTSIDE && !edge->is_optional && edge->path == NULL &&
            rsdk_linker_search_find(&e->plan->search, &node->chain, edge->name, &path, &ignored) == RSDK_OK &&
            path == NULL) {
            say_missing(e, node->location.path, edge->name);
        }
    }
    rsdk_error_clear(&ignored);
}

/* What nobody provides. */
static void find_missing(explanation *e) {
    for (size_t i = 0; i < e->step->view.missing_count; i++) {
        say_missing(e, e->step->view.location.path, e->step->view.missing[i]);
    }
    for (size_t i = 0; e->step->view.missing_count == 0 && i < e->step->members.count; i++) {
        find_missing_of(e, e->step->members.items[i]);
    }
}

static void find_old_glibc(explanation *e) {
    const char *present = gnu_get_libc_version(), *wanted = present, *needing = NULL;
    for (size_t i = 0; i < e->step->members.count; i++) {
        rsdk_elf_file file;
        rsdk_error ignored = RSDK_ERROR_INIT;
        const char *newest = NULL;
        if (rsdk_elf_file_read_with_versions(member_at(e, i)->file->path, &e->plan->arena, &file, &ignored) ==
            RSDK_OK) {
            newest = rsdk_elf_file_newest_glibc(&file);
        }
        rsdk_error_clear(&ignored);
        if (newest != NULL && strverscmp(newest, wanted) > 0) {
            wanted = newest;
            needing = file.path;
        }
    }
    if (needing != NULL) {
        rsdk_text_add(&e->cause, "%s needs glibc %s, this system has %s", rsdk_path_name(needing), wanted, present);
        rsdk_text_add(&e->fix, "use a newer distribution release or container, or an SDK built for glibc %s", present);
    }
}

static void find_noexec_mount(explanation *e) {
    struct statvfs facts;
    for (size_t i = 0; i < e->step->members.count && e->cause.length == 0; i++) {
        const char *path = member_at(e, i)->location.path;
        if (statvfs(path, &facts) == 0 && (facts.f_flag & ST_NOEXEC) != 0) {
            rsdk_text_add(&e->cause, "%s is on a file system that is mounted noexec", path);
            rsdk_text_add(&e->fix, "mount it with exec, or move the environment elsewhere");
        }
    }
}

static void find_executable_stack(explanation *e) {
    for (size_t i = 0; i < e->step->members.count && e->cause.length == 0; i++) {
        const rsdk_elf_file *file = member_at(e, i)->file;
        if (file->wants_executable_stack && strstr(e->dlerror_text, "executable stack") != NULL) {
            rsdk_text_add(&e->cause,
                          "%s asks for an executable stack, which this system refuses (glibc 2.41 and later, SELinux)",
                          file->path);
            rsdk_text_add(&e->fix, "update the package, or clear the flag: patchelf --clear-execstack %s", file->path);
        }
    }
}

static void find_static_tls(explanation *e) {
    if (strstr(e->dlerror_text, "static TLS") == NULL) {
        return;
    }
    rsdk_text_add(&e->cause, "the process's reserve of static TLS is used up");
    for (size_t i = 0; i < e->step->members.count; i++) {
        if (member_at(e, i)->file->has_static_tls) {
            rsdk_text_add(&e->cause, "; %s takes from it", rsdk_path_name(member_at(e, i)->location.path));
        }
    }
    rsdk_text_add(&e->fix,
                  "initialise ROCm earlier in the program, or set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384");
}

/* In the order in which they are tried, with their codes. */
static const struct cause {
    void (*find)(explanation *);
    const char *code;
} causes[] = {
    {find_missing, "E-LIB-002"},          {find_old_glibc, "E-LIB-005"},  {find_noexec_mount, "E-LIB-017"},
    {find_executable_stack, "E-LIB-015"}, {find_static_tls, "E-LIB-018"},
};

rsdk_status rsdk_load_failure_explain(rsdk_plan *plan, const rsdk_planned_step *step, const char *dlerror_text,
                                      const char *before, rsdk_error *error) {
    explanation e = {.plan = plan, .step = step, .dlerror_text = dlerror_text != NULL ? dlerror_text : "out of memory"};
    const char *code = NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes && e.cause.length == 0; i++) {
        causes[i].find(&e);
        code = e.cause.length == 0 ? NULL : e.code != NULL ? e.code : causes[i].code;
    }
    const rsdk_location *location = &step->view.location;
    const char *name = location->shortname != NULL ? location->shortname : rsdk_path_name(location->path);
    rsdk_status status = rsdk_fail(error, RSDK_LOAD_FAILED, location->path, e.fix.length > 0 ? e.fix.data : NULL,
                                   "cannot load %s (%s): %s%s%s%s%s", name, location->path, e.dlerror_text,
                                   e.cause.length > 0 ? "; cause: " : "", rsdk_text_get(&e.cause),
                                   before[0] != '\0' ? "; loaded before and usable: " : "", before);
    if (error != NULL) {
        error->code = code;
    }
    rsdk_text_clear(&e.cause);
    rsdk_text_clear(&e.fix);
    return status;
}
