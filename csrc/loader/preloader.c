/* The preloader: carries out a plan. The only part of the library that changes the process. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/load_lock.h"
#include "base/path.h"
#include "base/text.h"
#include "elf/soname.h"
#include "elf/stub.h"
#include "loader/memory_object.h"
#include "loader/other_release.h"
#include "loader/plan.h"
#include "loader/second_names.h"
#include "loader/warnings.h"

struct rsdk_loaded {
    rsdk_plan *plan; /* owned: texts and warnings live in it */
    RSDK_LIST(rsdk_loaded_entry) opened;
    RSDK_LIST(size_t) requested; /* places in `opened` */
};

typedef struct preloader {
    rsdk_plan *plan;
    const rsdk_load_options *options;
    rsdk_loaded *loaded;
    rsdk_load_watch *watch;
    rsdk_error *error;
} preloader;

static rsdk_arena *arena_of(const preloader *p) {
    return &p->plan->arena;
}

static double now(void) {
    return (double)rsdk_clock_now() * 1e-9;
}

static void report(const preloader *p, const char *format, const char *path, const char *reason) {
    if (p->options->report != NULL) {
        const char *line = rsdk_arena_format(arena_of(p), format, path, reason);
        if (line != NULL) {
            p->options->report(p->options->report_context, line);
        }
    }
}

/* Return the dlerror text, which the linker's next call would overwrite. NULL: out of memory. */
static const char *copy_dlerror(const preloader *p) {
    const char *text = dlerror();
    return rsdk_arena_copy(arena_of(p), text != NULL ? text : "dlopen failed");
}

/* ---- second names ---- */

/* Find the linker name by which programs may also open the library of a node; NULL: none. If not all names are asked
 * for, the name must be in the plan. */
static rsdk_status find_unversioned_name(const preloader *p, size_t node, const rsdk_link_map *map, const char **name) {
    const rsdk_unversioned_names which = p->options->unversioned_names;
    *name = NULL;
    if (which == RSDK_UNVERSIONED_NONE) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_second_names_of(arena_of(p), p->plan->graph.nodes.items[node]->location.soname, name, p->error));
    const bool is_unknown = *name != NULL && which == RSDK_UNVERSIONED_KNOWN && !rsdk_second_names_has(p->plan, *name);
    if (is_unknown || (*name != NULL && rsdk_link_map_find_soname(map, *name) != NULL)) {
        *name = NULL;
    }
    return RSDK_OK;
}

/* ---- one step ---- */

/* Describe the members that need each other: no order of opening them one by one works. */
static const char *describe_cycle(const preloader *p, const rsdk_planned_step *step, const size_t *component,
                                  size_t number, const char *dlerror_text, const char *reason) {
    rsdk_text text = RSDK_TEXT_INIT;
    for (size_t i = 0; i < step->members.count; i++) {
        if (component[step->members.items[i]] == number) {
            rsdk_text_add_item(&text, ", ", p->plan->graph.nodes.items[step->members.items[i]]->location.path);
        }
    }
    const char *description =
        text.failed ? NULL
                    : rsdk_arena_format(arena_of(p),
                                        "%s; these libraries need each other and do not find each other: %s; and %s",
                                        dlerror_text, rsdk_text_get(&text), reason);
    rsdk_text_clear(&text);
    return description;
}

/* The members that need each other, in one component. */
typedef struct member_group {
    const char *path; /* the path of the first member */
    size_t count;
} member_group;

/* Open a group: its only member or, if its members need each other, the first, which brings in the others. A group that
 * is only the step's library is left to the caller, who knows its mode. */
static bool open_group(const preloader *p, const rsdk_planned_step *step, const member_group *group,
                       const char **dlerror_text) {
    bool is_left_to_caller =
        group->count == 0 || (group->count == 1 && strcmp(group->path, step->view.location.path) == 0);
    if (is_left_to_caller || dlopen(group->path, RTLD_NOW | RTLD_LOCAL) != NULL) {
        return true;
    }
    *dlerror_text = copy_dlerror(p);
    return false;
}

/* Open the members one by one, dependencies first, without an anchor. The difference: a library then neither interposes
 * the symbols of its dependencies nor provides any to them. */
static bool open_one_by_one(const preloader *p, const rsdk_planned_step *step, const char *reason,
                            const char **dlerror_text) {
    size_t count = p->plan->graph.nodes.count;
    bool *members = rsdk_arena_alloc(arena_of(p), count + 1, sizeof *members);
    size_t *component = rsdk_arena_alloc(arena_of(p), count + 1, sizeof *component);
    member_group *groups = rsdk_arena_alloc(arena_of(p), count + 1, sizeof *groups);
    if (members == NULL || component == NULL || groups == NULL) {
        return false;
    }
    for (size_t i = 0; i < step->members.count; i++) {
        members[step->members.items[i]] = true;
    }
    if (rsdk_graph_components(&p->plan->graph, members, component, NULL) != RSDK_OK) {
        return false;
    }
    for (size_t i = 0; i < step->members.count; i++) {
        size_t node = step->members.items[i];
        member_group *group = &groups[component[node]];
        group->path = group->count++ == 0 ? p->plan->graph.nodes.items[node]->location.path : group->path;
    }
    for (size_t number = 0; number < step->members.count; number++) {
        if (!open_group(p, step, &groups[number], dlerror_text)) {
            if (groups[number].count > 1 && *dlerror_text != NULL) {
                *dlerror_text = describe_cycle(p, step, component, number, *dlerror_text, reason);
            }
            return false;
        }
    }
    return true;
}

/* Bring all members in as one group. The anchor answers to the library's second name. */
static bool open_members(const preloader *p, rsdk_planned_step *step, const char **dlerror_text) {
    rsdk_elf_stub stub;
    void *anchor = NULL;
    const char *reason = NULL, *second_name = NULL;
    const rsdk_elf_file *model = p->plan->graph.nodes.items[step->node]->file;
    if (find_unversioned_name(p, step->node, &p->plan->map, &second_name) != RSDK_OK ||
        rsdk_elf_stub_make(model, second_name, &step->anchor_names, arena_of(p), &stub, NULL) != RSDK_OK) {
        return false;
    }
    /* The anchor stays open for the life of the process, like the libraries that it holds. */
    switch (rsdk_memory_object_open(&stub, "rocm_sdk-anchor", rsdk_planned_step_mode(step), arena_of(p), &anchor,
                                    &reason)) {
    case RSDK_MEMORY_OPENED:
        step->has_unversioned_name = second_name != NULL;
        return true;
    case RSDK_MEMORY_REFUSED:
        return step->unfound_members.count == 0 || /* the linker finds all */
               (reason != NULL && open_one_by_one(p, step, reason, dlerror_text));
    case RSDK_MEMORY_FAILED:
        *dlerror_text = reason;
        return false;
    }
    return false;
}

/* Return the step that opens the node first, to bind it; NULL: none does. */
static const rsdk_planned_step *step_of_guard(const preloader *p, size_t node) {
    for (size_t i = 0; p->plan->guard.bound_first.count > 0 && i < p->plan->steps.count; i++) {
        const rsdk_planned_step *step = &p->plan->steps.items[i];
        if (step->is_bound_first && step->node == node) {
            return step;
        }
    }
    return NULL;
}

/* Open the library of a step; return the library's own handle, or NULL with *dlerror_text (NULL: out of memory). */
static void *open_step(const preloader *p, rsdk_planned_step *step, const char **dlerror_text) {
    int mode = rsdk_planned_step_mode(step);
    if (step->view.method == RSDK_STEP_ANCHOR && !open_members(p, step, dlerror_text)) {
        return NULL;
    }
    /* RTLD_NOLOAD: a library that is in the process is never loaded a second time. */
    bool is_there = step->view.method == RSDK_STEP_REUSE;
    void *handle = dlopen(step->view.location.path, is_there ? mode | RTLD_NOLOAD : mode);
    if (handle == NULL && is_there) { /* the linker gives no reason */
        const rsdk_planned_step *first = step_of_guard(p, step->node);
        *dlerror_text = first != NULL && first->refusal != NULL
                            ? first->refusal
                            : "it is not in the process, although it was, or an earlier step was to bring it in";
    } else if (handle == NULL) {
        *dlerror_text = copy_dlerror(p);
    }
    return handle;
}

/* ---- stubs for second names ---- */

/* Make "libx.so" a name of the library that is loaded as "libx.so.1": later opens of that name match the stub's SONAME,
 * and dlsym finds the library's symbols through the stub. */
static rsdk_status add_unversioned_name(const preloader *p, int mode, const rsdk_planned_name *added) {
    const char *name = added->view.name, *reason = NULL;
    rsdk_strings needed = {0};
    rsdk_elf_stub stub;
    void *handle = NULL;
    RSDK_APPEND(arena_of(p), &needed, added->soname, p->error);
    RSDK_TRY(rsdk_elf_stub_make(added->model, name, &needed, arena_of(p), &stub, p->error));
    /* Programs look for libraries by name in /proc/self/maps: they should not find the stub. */
    if (rsdk_memory_object_open(&stub, "rocm_sdk-name", mode, arena_of(p), &handle, &reason) != RSDK_MEMORY_OPENED &&
        p->options->unversioned_names == RSDK_UNVERSIONED_ALL) {
        return rsdk_warnings_add(&p->plan->warnings, RSDK_WARNING_GENERAL, p->error,
                                 "dlopen(\"%s\") will not find %s: %s", name, added->soname,
                                 reason != NULL ? reason : "out of memory");
    }
    return RSDK_OK;
}

/* Add the names of the plan, except names that an anchor has, and names of libraries that could not be loaded: the
 * linker would look for such a name elsewhere. The link map is read only if there is a name to add. */
static rsdk_status add_known_names(const preloader *p) {
    rsdk_link_map map = {0};
    for (size_t i = 0; i < p->plan->names.count; i++) {
        const rsdk_planned_name *added = &p->plan->names.items[i];
        /* A file may open by name a library that was in the process before: such a library has no step. */
        const rsdk_planned_step *step = added->step < p->plan->steps.count ? &p->plan->steps.items[added->step] : NULL;
        if (step != NULL && step->has_unversioned_name && strcmp(added->view.path, step->view.location.path) == 0) {
            continue;
        }
        if (map.objects.count == 0) {
            RSDK_TRY(rsdk_link_map_read(arena_of(p), &map, p->error));
        }
        if (rsdk_link_map_find_soname(&map, added->view.name) == NULL &&
            rsdk_link_map_find_soname(&map, added->soname) != NULL) {
            const int mode = step != NULL ? rsdk_planned_step_mode(step) : RTLD_NOW | RTLD_LOCAL;
            RSDK_TRY(add_unversioned_name(p, mode, added));
        }
    }
    return RSDK_OK;
}

static rsdk_status add_unversioned_names(const preloader *p) {
    const rsdk_unversioned_names which = p->options->unversioned_names;
    if (which == RSDK_UNVERSIONED_ALL) {
        rsdk_link_map map = {0};
        RSDK_TRY(rsdk_link_map_read(arena_of(p), &map, p->error));
        for (size_t i = 0; i < p->plan->steps.count; i++) {
            const rsdk_planned_step *step = &p->plan->steps.items[i];
            const rsdk_node *node = p->plan->graph.nodes.items[step->node];
            rsdk_planned_name added = {.soname = node->location.soname, .model = node->file, .step = i};
            RSDK_TRY(find_unversioned_name(p, step->node, &map, &added.view.name));
            RSDK_TRY(added.view.name != NULL ? add_unversioned_name(p, rsdk_planned_step_mode(step), &added) : RSDK_OK);
        }
    }
    return which != RSDK_UNVERSIONED_NONE ? add_known_names(p) : RSDK_OK;
}

/* ---- the whole ---- */

/* Report a step that failed; `dlerror_text` NULL: out of memory. A dlopen dependency that cannot be loaded is not a
 * failure: its opener is loaded, and may never open it. */
static rsdk_status fail_step(const preloader *p, const rsdk_planned_step *step, const char *dlerror_text) {
    if (dlerror_text == NULL) {
        return rsdk_fail_no_memory(p->error);
    }
    const rsdk_location *refused = &step->view.location;
    const char *name = refused->shortname != NULL ? refused->shortname : rsdk_path_name(refused->path);
    if (!step->view.is_requested) {
        return rsdk_warnings_add(&p->plan->warnings, RSDK_WARNING_GENERAL, p->error, "cannot load %s (%s): %s (%s)",
                                 name, refused->path, dlerror_text, step->view.reason);
    }
    rsdk_text before = RSDK_TEXT_INIT;
    for (size_t i = 0; i < rsdk_loaded_count(p->loaded); i++) {
        const rsdk_location *location = &rsdk_loaded_library(p->loaded, i)->location;
        rsdk_text_add_item(&before, ", ",
                           location->shortname != NULL ? location->shortname : rsdk_path_name(location->path));
    }
    rsdk_status status = rsdk_fail_as(p->error, RSDK_LOAD_FAILED, RSDK_E_LIB_001, refused->path,
                                      RSDK_FACTS({"name", name}, {"dlerror", dlerror_text}, {"before", before.data}),
                                      "cannot load %s (%s): %s%s%s", name, refused->path, dlerror_text,
                                      before.length > 0 ? "; loaded before and usable: " : "", rsdk_text_get(&before));
    rsdk_text_clear(&before);
    return status;
}

static rsdk_status run_step(const preloader *p, rsdk_planned_step *step) {
    static const char *const formats[] = {[RSDK_STEP_REUSE] = "in use: %s (%s)",
                                          [RSDK_STEP_OPEN] = "loading %s (%s)",
                                          [RSDK_STEP_ANCHOR] = "loading %s with what it needs (%s)"};
    const char *dlerror_text = NULL;
    report(p, formats[step->view.method], step->view.location.path, step->view.reason);
    rsdk_load_watch_set(p->watch, step->view.location.path);
    double start = now();
    rsdk_loaded_entry entry = {.location = step->view.location,
                               .handle = open_step(p, step, &dlerror_text),
                               .is_requested = step->view.is_requested,
                               .was_loaded = step->was_in_process,
                               .members = step->view.members,
                               .member_count = step->view.member_count};
    step->seconds = now() - start;
    const rsdk_planned_step *first = step->is_bound_first ? NULL : step_of_guard(p, step->node);
    entry.seconds = step->seconds + (first != NULL ? first->seconds : 0);
    rsdk_load_watch_set(p->watch, NULL);
    if (entry.handle != NULL || !entry.is_requested) {
        /* The time counts for the library that opens this one at run time. */
        rsdk_loaded *loaded = p->loaded;
        if (entry.is_requested) {
            RSDK_APPEND(arena_of(p), &loaded->requested, loaded->opened.count, p->error);
        } else if (loaded->requested.count > 0) {
            loaded->opened.items[loaded->requested.items[loaded->requested.count - 1]].seconds += entry.seconds;
        }
        if (entry.handle != NULL) {
            RSDK_APPEND(arena_of(p), &loaded->opened, entry, p->error);
        }
    }
    if (step->is_bound_first && dlerror_text != NULL) {
        step->refusal = dlerror_text; /* for the step that asks for it, or for steps that need it */
        return RSDK_OK;
    }
    return entry.handle != NULL ? RSDK_OK : fail_step(p, step, dlerror_text);
}

static rsdk_status run_steps(const preloader *p) {
    for (size_t i = 0; i < p->plan->steps.count; i++) {
        RSDK_TRY(run_step(p, &p->plan->steps.items[i]));
    }
    return RSDK_OK;
}

static rsdk_status preload(rsdk_sdk *sdk, const rsdk_load_options *options, rsdk_loaded *loaded, rsdk_error *error) {
    RSDK_TRY(rsdk_plan_make(sdk, options, RSDK_PLAN_TO_LOAD, &loaded->plan, error));
    RSDK_TRY(rsdk_other_release_check(loaded->plan, sdk, error));
    preloader p = {.plan = loaded->plan, .options = options, .loaded = loaded, .error = error};
    for (size_t i = 0; i < p.plan->requested_count; i++) {
        const rsdk_location *location = &p.plan->requested[i];
        if (location->path == NULL) {
            report(&p, "skipped: %s is %s", location->shortname, rsdk_loader_found_via_name(location->found_via));
        }
    }
    p.watch = rsdk_load_watch_start(options->watch_seconds);
    rsdk_status status = run_steps(&p);
    rsdk_load_watch_stop(p.watch);
    return status == RSDK_OK ? add_unversioned_names(&p) : status;
}

rsdk_status rsdk_loader_preload(rsdk_sdk *sdk, const rsdk_load_options *options, rsdk_loaded **loaded,
                                rsdk_error *error) {
    *loaded = NULL;
    rsdk_loaded *fresh = calloc(1, sizeof *fresh);
    RSDK_NEED(fresh, error);
    rsdk_load_lock_take();
    rsdk_status status = preload(sdk, options, fresh, error);
    if (fresh->plan != NULL) {
        rsdk_page_reader_stop(fresh->plan->reader);
        fresh->plan->reader = NULL;
    }
    rsdk_load_lock_release();
    if (status == RSDK_OK || (status == RSDK_LOAD_FAILED && fresh->plan != NULL)) {
        *loaded = fresh;
    } else {
        rsdk_loaded_free(fresh);
    }
    return status;
}

rsdk_status rsdk_loader_preload_for(rsdk_sdk *sdk, const char *const *files, size_t count, rsdk_loaded **loaded,
                                    rsdk_error *error) {
    const rsdk_load_options options = {.files = files, .file_count = count, .is_global = true};
    return rsdk_loader_preload(sdk, &options, loaded, error);
}

void rsdk_loaded_free(rsdk_loaded *loaded) {
    if (loaded != NULL) {
        rsdk_plan_free(loaded->plan);
        free(loaded);
    }
}

size_t rsdk_loaded_count(const rsdk_loaded *loaded) {
    return loaded->requested.count;
}

const rsdk_loaded_entry *rsdk_loaded_library(const rsdk_loaded *loaded, size_t index) {
    return index < loaded->requested.count ? &loaded->opened.items[loaded->requested.items[index]] : NULL;
}

size_t rsdk_loaded_opened_count(const rsdk_loaded *loaded) {
    return loaded->opened.count;
}

const rsdk_loaded_entry *rsdk_loaded_opened(const rsdk_loaded *loaded, size_t index) {
    return index < loaded->opened.count ? &loaded->opened.items[index] : NULL;
}

size_t rsdk_loaded_warning_count(const rsdk_loaded *loaded) {
    return loaded->plan->warnings.list.count;
}

const rsdk_warning *rsdk_loaded_warning(const rsdk_loaded *loaded, size_t index) {
    return index < loaded->plan->warnings.list.count ? &loaded->plan->warnings.list.items[index] : NULL;
}
