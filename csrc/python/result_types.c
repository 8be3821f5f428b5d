/* Struct sequences: named tuples made in C, for the price of a tuple. A type is a table: one row names a field, says
 * which member of the C struct it comes from and how it is converted, and documents it. A member whose type does not
 * fit the conversion does not compile. As NamedTuples of a Python module the types would take six times as long to make
 * as all of `import rocm_sdk` takes; scripts/generated.py writes them into the stub, which type checkers read. */
#include "result_types.h"

#include <string.h>

#include "binding/host_check.h"
#include "rocm_sdk/bindings.h"
#include "rocm_sdk/compatibility.h"
#include "rocm_sdk/coverage.h"
#include "rocm_sdk/device_code.h"
#include "rocm_sdk/gpu.h"
#include "rocm_sdk/loader.h"
#include "rocm_sdk/problem.h"

typedef struct field {
    const char *name;
    size_t item_size;      /* for a list of structs: the size of each */
    rsdk_result_type item; /* and the type of their results */
    /* function that converts the member; `value` points to the whole struct */
    PyObject *(*build)(const rsdk_module_state *state, const void *value, const struct field *row);
    size_t offset; /* the place of the member in the struct */
    size_t extra;  /* for a number: its size; for a list: the offset of its count */
    const char *documentation;
} field;

static const void *member_of(const void *value, size_t offset) {
    return (const char *)value + offset;
}

/* ---- plain objects ---- */

PyObject *rsdk_result_text(const char *text) {
    return text != NULL ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

PyObject *rsdk_result_path(const char *path) {
    return path != NULL ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

PyObject *rsdk_result_tuple(const rsdk_module_state *state, rsdk_item_builder build, const void *list, size_t count) {
    PyObject *result = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *item = build(state, list, i);
        if (item == NULL || PyTuple_SetItem(result, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

static PyObject *build_path_item(const rsdk_module_state *state, const void *paths, size_t index) {
    (void)state;
    return rsdk_result_path(((const char *const *)paths)[index]);
}

PyObject *rsdk_result_paths(const char *const *paths, size_t count) {
    return rsdk_result_tuple(NULL, build_path_item, (const void *)paths, count);
}

PyObject *rsdk_result_finding(rsdk_code code, const char *path, const rsdk_fact *facts, size_t count) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < count; i++) {
        PyObject *value = rsdk_result_path(facts[i].value);
        if (value == NULL || PyDict_SetItemString(dict, facts[i].name, value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(value);
    }
    return Py_BuildValue("(sNN)", rsdk_code_name(code), rsdk_result_path(path), dict);
}

/* ---- conversions of one member ---- */

#define UNUSED __attribute__((unused))
#define CONVERSION(name)                                                                                               \
    static PyObject *name(UNUSED const rsdk_module_state *state, const void *value, UNUSED const field *row)

/* A conversion of an enumerator to its name. */
#define NAMED(conversion, type, function)                                                                              \
    CONVERSION(conversion) {                                                                                           \
        return rsdk_result_text(function(*(const type *)member_of(value, row->offset)));                               \
    }

CONVERSION(from_text) {
    return rsdk_result_text(*(const char *const *)member_of(value, row->offset));
}

CONVERSION(from_path) {
    return rsdk_result_path(*(const char *const *)member_of(value, row->offset));
}

CONVERSION(from_bool) {
    return PyBool_FromLong(*(const bool *)member_of(value, row->offset));
}

CONVERSION(from_number) {
    const void *member = member_of(value, row->offset);
    switch (row->extra) {
    case sizeof(uint8_t):
        return PyLong_FromUnsignedLong(*(const uint8_t *)member);
    case sizeof(uint16_t):
        return PyLong_FromUnsignedLong(*(const uint16_t *)member);
    case sizeof(uint32_t):
        return PyLong_FromUnsignedLong(*(const uint32_t *)member);
    default:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)member);
    }
}

/* A negative number stands for "none". */
CONVERSION(from_index) {
    int index = *(const int *)member_of(value, row->offset);
    return index >= 0 ? PyLong_FromLong(index) : Py_NewRef(Py_None);
}

CONVERSION(from_seconds) {
    return PyFloat_FromDouble(*(const double *)member_of(value, row->offset));
}

CONVERSION(from_handle) {
    return PyLong_FromVoidPtr(*(void *const *)member_of(value, row->offset));
}

CONVERSION(from_paths) {
    const char *const *paths = *(const char *const *const *)member_of(value, row->offset);
    return rsdk_result_paths(paths, *(const size_t *)member_of(value, row->extra));
}

CONVERSION(from_items) {
    const void *items;
    memcpy(&items, member_of(value, row->offset), sizeof items);
    size_t count = *(const size_t *)member_of(value, row->extra);
    PyObject *result = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *item = rsdk_result_build(state, row->item, member_of(items, i * row->item_size));
        if (item == NULL || PyTuple_SetItem(result, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

CONVERSION(from_location) {
    return rsdk_result_build(state, RSDK_TYPE_LOCATION, member_of(value, row->offset));
}

CONVERSION(from_package) {
    return rsdk_result_text(rsdk_package_get(*(const rsdk_package_id *)member_of(value, row->offset))->name);
}

NAMED(from_found_via, rsdk_found_via, rsdk_loader_found_via_name)
CONVERSION(from_method) {
    static const char *const names[] = {
        [RSDK_STEP_REUSE] = "reuse", [RSDK_STEP_OPEN] = "open", [RSDK_STEP_ANCHOR] = "anchor"};
    return rsdk_result_text(names[*(const rsdk_step_method *)member_of(value, row->offset)]);
}

CONVERSION(from_feature) {
    rsdk_feature feature = *(const rsdk_feature *)member_of(value, row->offset);
    return feature == RSDK_FEATURE_UNSUPPORTED ? Py_NewRef(Py_None) : PyBool_FromLong(feature == RSDK_FEATURE_ON);
}

NAMED(from_container, rsdk_device_container, rsdk_device_container_name)
/* All images share one text: a file may have hundreds of thousands of them. */
CONVERSION(from_image_format) {
    return PyUnicode_InternFromString(
        rsdk_image_format_name(*(const rsdk_image_format *)member_of(value, row->offset)));
}

NAMED(from_fit, rsdk_code_fit, rsdk_code_fit_name)
CONVERSION(from_misfit) {
    rsdk_misfit misfit = *(const rsdk_misfit *)member_of(value, row->offset);
    return rsdk_result_text(misfit != RSDK_MISFIT_NONE ? rsdk_misfit_name(misfit) : NULL);
}

CONVERSION(from_mode) {
    rsdk_mode mode = *(const rsdk_mode *)member_of(value, row->offset);
    return mode == RSDK_MODE_ANY ? Py_NewRef(Py_None) : PyBool_FromLong(mode == RSDK_MODE_ON);
}

CONVERSION(from_patches) {
    static const char *const debian[] = {"Debian", "Solus"}, *const solus = "Solus";
    unsigned patches = *(const unsigned *)member_of(value, row->offset);
    bool has_debian = (patches & RSDK_PATCHES_DEBIAN) != 0, has_solus = (patches & RSDK_PATCHES_SOLUS) != 0;
    return rsdk_result_paths(has_debian ? debian : &solus, (size_t)has_debian + (size_t)has_solus);
}

NAMED(from_verdict, rsdk_coverage_verdict, rsdk_coverage_verdict_name)
CONVERSION(from_lack) {
    rsdk_coverage_lack lack = *(const rsdk_coverage_lack *)member_of(value, row->offset);
    return rsdk_result_text(lack != RSDK_LACK_NOTHING ? rsdk_coverage_lack_name(lack) : NULL);
}

CONVERSION(from_kernel_tables) {
    rsdk_kernel_tables tables = *(const rsdk_kernel_tables *)member_of(value, row->offset);
    return rsdk_result_text(tables != RSDK_KERNEL_TABLES_UNKNOWN ? rsdk_kernel_tables_name(tables) : NULL);
}

NAMED(from_place, rsdk_need_place, rsdk_need_place_name)
NAMED(from_code, rsdk_code, rsdk_code_name)
NAMED(from_gpu_class, rsdk_gpu_class, rsdk_gpu_class_name)
CONVERSION(from_xnack) {
    static const char *const names[] = {[RSDK_XNACK_NONE] = "none",
                                        [RSDK_XNACK_OF_DRIVER] = "of driver",
                                        [RSDK_XNACK_OF_PROCESS] = "of process",
                                        [RSDK_XNACK_ALWAYS] = "always"};
    return rsdk_result_text(names[*(const rsdk_xnack_support *)member_of(value, row->offset)]);
}

NAMED(from_binding_verdict, rsdk_binding_verdict, rsdk_binding_verdict_name)
/* ---- conversions of a whole struct ---- */

static PyObject *build_step(const rsdk_module_state *state, const void *plan, size_t index) {
    return rsdk_result_build(state, RSDK_TYPE_STEP, rsdk_plan_step(plan, index));
}

CONVERSION(steps_of_plan) {
    return rsdk_result_tuple(state, build_step, value, rsdk_plan_step_count(value));
}

static PyObject *build_name(const rsdk_module_state *state, const void *step, size_t index) {
    (void)state;
    const rsdk_unversioned_name *name = &((const rsdk_step *)step)->names[index];
    return Py_BuildValue("(NN)", rsdk_result_text(name->name), rsdk_result_path(name->path));
}

CONVERSION(names_of_step) {
    return rsdk_result_tuple(state, build_name, value, ((const rsdk_step *)value)->name_count);
}

CONVERSION(missing_of_plan) {
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names != NULL && i < rsdk_plan_step_count(value); i++) {
        const rsdk_step *step = rsdk_plan_step(value, i);
        PyObject *more = rsdk_result_paths(step->missing, step->missing_count);
        if (more == NULL || PyList_SetSlice(names, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, more) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(more);
    }
    PyObject *result = names != NULL ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    return result;
}

CONVERSION(counts_of_pair) {
    const rsdk_binding_pair *pair = value;
    PyObject *counts = PyDict_New();
    for (size_t i = 0; counts != NULL && i < RSDK_BINDING_VERDICT_COUNT; i++) {
        PyObject *count = pair->counts[i] > 0 ? PyLong_FromSize_t(pair->counts[i]) : NULL;
        if (pair->counts[i] > 0 &&
            (count == NULL ||
             PyDict_SetItemString(counts, rsdk_binding_verdict_name((rsdk_binding_verdict)i), count) < 0)) {
            Py_CLEAR(counts);
        }
        Py_XDECREF(count);
    }
    return counts;
}

CONVERSION(examples_of_pair) {
    const rsdk_binding_pair *pair = value;
    size_t count = 0;
    while (count < sizeof pair->examples / sizeof *pair->examples && pair->examples[count] != NULL) {
        count++;
    }
    return rsdk_result_paths(pair->examples, count);
}

static PyObject *build_pair(const rsdk_module_state *state, const void *bindings, size_t index) {
    return rsdk_result_build(state, RSDK_TYPE_BINDING_PAIR, rsdk_bindings_pair(bindings, index));
}

CONVERSION(pairs_of_bindings) {
    const rsdk_bindings *bindings = ((const rsdk_shown_bindings *)value)->bindings;
    return rsdk_result_tuple(state, build_pair, bindings, rsdk_bindings_pair_count(bindings));
}

CONVERSION(references_of_bindings) {
    const rsdk_shown_bindings *shown = value;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < rsdk_bindings_count(shown->bindings); i++) {
        const rsdk_binding binding = rsdk_bindings_at(shown->bindings, i);
        bool is_shown =
            shown->has_all || rsdk_binding_is_elsewhere(binding.verdict) || binding.verdict == RSDK_BINDING_MISSING;
        PyObject *item = is_shown ? rsdk_result_build(state, RSDK_TYPE_BINDING, &binding) : NULL;
        if (is_shown && (item == NULL || PyList_Append(list, item) < 0)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    PyObject *result = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return result;
}

static PyObject *build_missing(const rsdk_module_state *state, const void *bindings, size_t index) {
    (void)state;
    return rsdk_result_path(rsdk_bindings_missing(bindings, index));
}

CONVERSION(missing_of_bindings) {
    const rsdk_bindings *bindings = ((const rsdk_shown_bindings *)value)->bindings;
    return rsdk_result_tuple(state, build_missing, bindings, rsdk_bindings_missing_count(bindings));
}

CONVERSION(count_of_bindings) {
    return PyLong_FromSize_t(rsdk_bindings_count(((const rsdk_shown_bindings *)value)->bindings));
}

CONVERSION(families_of_target) {
    const rsdk_target *target = value;
    size_t count = 0;
    while (count < RSDK_TARGET_FAMILY_LIMIT && target->families[count] != NULL) {
        count++;
    }
    return rsdk_result_paths(target->families, count);
}

CONVERSION(package_owner_of_target) {
    const rsdk_target *target = value;
    return rsdk_result_text(target->package_owner != NULL ? target->package_owner : target->name);
}

CONVERSION(newest_glibc_of_file) {
    return rsdk_result_text(rsdk_elf_file_newest_glibc(&((const rsdk_inspection *)value)->file));
}

static PyObject *build_version_need(const rsdk_module_state *state, const void *needs, size_t index) {
    const rsdk_elf_version_need *need = &((const rsdk_elf_version_need *)needs)[index];
    (void)state;
    return Py_BuildValue("(NN)", rsdk_result_path(need->file), rsdk_result_path(need->version));
}

CONVERSION(version_needs_of_file) {
    const rsdk_elf_file *file = &((const rsdk_inspection *)value)->file;
    return rsdk_result_tuple(state, build_version_need, file->version_needs.items, file->version_needs.count);
}

static PyObject *build_release(rsdk_release release) {
    return release.major != 0 ? PyUnicode_FromFormat("%u.%u", release.major, release.minor) : Py_NewRef(Py_None);
}

static rsdk_release_range releases_of(const rsdk_host_files *files) {
    return rsdk_built_for_releases(&files->release.built_for);
}

CONVERSION(first_release) {
    return build_release(releases_of(value).first);
}

CONVERSION(last_release) {
    return build_release(releases_of(value).last);
}

/* Return None for a text that is empty, else a str. The text is cleared. */
static PyObject *take_text(rsdk_text *text) {
    PyObject *result = text->failed        ? PyErr_NoMemory()
                       : text->length == 0 ? Py_NewRef(Py_None)
                                           : rsdk_result_text(rsdk_text_get(text));
    rsdk_text_clear(text);
    return result;
}

/* A conversion to the text that a call adds to `text`. */
#define ADDED(conversion, call)                                                                                        \
    CONVERSION(conversion) {                                                                                           \
        rsdk_text text = RSDK_TEXT_INIT;                                                                               \
        call;                                                                                                          \
        return take_text(&text);                                                                                       \
    }

ADDED(releases_of_host_files, rsdk_release_range_add_text(releases_of(value), &text))
ADDED(requirement_of_host_files, rsdk_release_range_add_requirement(releases_of(value), &text))
CONVERSION(other_release_of_host_files) {
    const rsdk_host_files *files = value;
    return rsdk_other_release_is(&files->release) ? rsdk_result_build(state, RSDK_TYPE_OTHER_RELEASE, &files->release)
                                                  : Py_NewRef(Py_None);
}

CONVERSION(present_in_sdk) {
    return rsdk_result_path(rsdk_other_release_present(value));
}

ADDED(built_for_release, rsdk_other_release_add_built_for(value, &text))
ADDED(release_of_sdk, rsdk_other_release_add_sdk(value, &text))
CONVERSION(more_of_release) {
    rsdk_text text = RSDK_TEXT_INIT;
    rsdk_other_release_add_more(value, &text);
    return text.length == 0 && !text.failed ? PyUnicode_FromString("") : take_text(&text);
}

/* ---- the tables ---- */

/* NOLINTBEGIN(bugprone-macro-parentheses): names of members and types cannot stand in parentheses */

/* The offset of a member; no member of another type compiles. */
#define OFFSET(type, member, member_type)                                                                              \
    (offsetof(type, member) + 0 * sizeof(_Generic(((type *)0)->member, member_type : 0)))

#define TEXT(type, member)    from_text, OFFSET(type, member, const char *), 0
#define PATH(type, member)    from_path, OFFSET(type, member, const char *), 0
#define BOOL(type, member)    from_bool, OFFSET(type, member, bool), 0
#define INDEX(type, member)   from_index, OFFSET(type, member, int), 0
#define SECONDS(type, member) from_seconds, OFFSET(type, member, double), 0
#define HANDLE(type, member)  from_handle, OFFSET(type, member, void *), 0
#define NUMBER(type, member)                                                                                           \
    from_number,                                                                                                       \
        offsetof(type, member) +                                                                                       \
            0 * sizeof(_Generic(((type *)0)->member, uint8_t : 0, uint16_t : 0, uint32_t : 0, uint64_t : 0)),          \
        sizeof(((type *)0)->member)
#define PATHS(type, items, count) from_paths, OFFSET(type, items, const char *const *), OFFSET(type, count, size_t)
#define LIST(type, member)        from_paths, OFFSET(type, member.items, const char **), OFFSET(type, member.count, size_t)
#define ITEMS(type, items, count, item_type, result)                                                                   \
    from_items, .item_size = sizeof(item_type), .item = RSDK_TYPE_##result,                                            \
                .offset = offsetof(type, items) +                                                                      \
                          0 * sizeof(_Generic(((type *)0)->items, item_type * : 0, const item_type * : 0)),            \
                .extra = OFFSET(type, count, size_t)
#define LOCATION(type, member)        from_location, OFFSET(type, member, rsdk_location), 0
#define PACKAGE(type, member)         from_package, OFFSET(type, member, rsdk_package_id), 0
#define FOUND_VIA(type, member)       from_found_via, OFFSET(type, member, rsdk_found_via), 0
#define METHOD(type, member)          from_method, OFFSET(type, member, rsdk_step_method), 0
#define FEATURE(type, member)         from_feature, OFFSET(type, member, rsdk_feature), 0
#define CONTAINER(type, member)       from_container, OFFSET(type, member, rsdk_device_container), 0
#define FORMAT(type, member)          from_image_format, OFFSET(type, member, rsdk_image_format), 0
#define FIT(type, member)             from_fit, OFFSET(type, member, rsdk_code_fit), 0
#define MISFIT(type, member)          from_misfit, OFFSET(type, member, rsdk_misfit), 0
#define MODE(type, member)            from_mode, OFFSET(type, member, rsdk_mode), 0
#define PATCHES(type, member)         from_patches, OFFSET(type, member, unsigned), 0
#define BINDING_VERDICT(type, member) from_binding_verdict, OFFSET(type, member, rsdk_binding_verdict), 0
#define VERDICT(type, member)         from_verdict, OFFSET(type, member, rsdk_coverage_verdict), 0
#define LACK(type, member)            from_lack, OFFSET(type, member, rsdk_coverage_lack), 0
#define CODE(type, member)            from_code, OFFSET(type, member, rsdk_code), 0
#define GPU_CLASS(type, member)       from_gpu_class, OFFSET(type, member, rsdk_gpu_class), 0
#define XNACK(type, member)           from_xnack, OFFSET(type, member, rsdk_xnack_support), 0
#define KERNEL_TABLES(type, member)   from_kernel_tables, OFFSET(type, member, rsdk_kernel_tables), 0
#define PLACE(type, member)           from_place, OFFSET(type, member, rsdk_need_place), 0
#define END                                                                                                            \
    { .name = NULL }
#define WHOLE(conversion) conversion, 0, 0

/* A row. The Python type is for the stub of the extension, which is generated: "{rsdk_x_name}" stands for the words of
 * that function, in the order of the documentation. */
#define FIELD(field_name, python_type, ...)                                                                            \
    { .name = field_name, .build = __VA_ARGS__ }

/* NOLINTEND(bugprone-macro-parentheses) */

/* clang-format off */
static const field location_fields[] = {
    FIELD("shortname", "str | None", TEXT(rsdk_location, shortname), "name in the catalog ('amdhip64'), None for a library without one"),
    FIELD("path",      "str | None", PATH(rsdk_location, path), "absolute path of the file (str), None where the library is absent"),
    FIELD("soname",    "str | None", TEXT(rsdk_location, soname), "DT_SONAME of the file, None without one"),
    FIELD("package",   "str | None", PACKAGE(rsdk_location, package), "package of the SDK that holds it: 'core', 'libraries', 'profiler'"),
    FIELD("found_via", "str", FOUND_VIA(rsdk_location, found_via),
     "'file name', 'SONAME' (a renamed file), 'need', 'override', 'fallback', 'absent (optional)', 'absent (declared)'"),
    END,
};

static const field loaded_fields[] = {
    FIELD("location",       "LibraryLocation", LOCATION(rsdk_loaded_entry, location), "LibraryLocation of the file that is loaded"),
    FIELD("handle",         "int | None", HANDLE(rsdk_loaded_entry, handle),
     "dlopen's handle (int), as ctypes.CDLL(path, handle=handle) takes it; None where this interpreter did not open it"),
    FIELD("already_loaded", "bool | None", BOOL(rsdk_loaded_entry, was_loaded),
     "whether it was in the process when this interpreter opened it (bool); None where it did not open it"),
    FIELD("seconds",        "float | None", SECONDS(rsdk_loaded_entry, seconds),
     "time spent in dlopen (float, seconds), with all that it brought in and what it opens at run time; None where this"
     " interpreter did not open it"),
    FIELD("requested",      "bool", BOOL(rsdk_loaded_entry, is_requested),
     "whether it was asked for (bool); else another library needs it or opens it, whose seconds hold its own, or"
     " something else brought it in"),
    END,
};

static const field step_fields[] = {
    FIELD("shortname",   "str | None", TEXT(rsdk_step, location.shortname), "name in the catalog, None for a library without one"),
    FIELD("path",        "str", PATH(rsdk_step, location.path), "absolute path of the library (str)"),
    FIELD("soname",      "str | None", TEXT(rsdk_step, location.soname), "its DT_SONAME, None without one"),
    FIELD("method",      "str", METHOD(rsdk_step, method),
     "'open' (a plain dlopen), 'anchor' (dlopen of a generated object that brings all members in), 'reuse' (it is "
     "already in the process)"),
    FIELD("requested",   "bool", BOOL(rsdk_step, is_requested), "False where another library opens it with dlopen, or it is opened first, so that it binds to itself"),
    FIELD("rtld_global", "bool", BOOL(rsdk_step, is_global), "whether its symbols join the global scope"),
    FIELD("reason",      "str", TEXT(rsdk_step, reason), "why this method and scope, one phrase (str)"),
    FIELD("members",     "tuple[str, ...]", PATHS(rsdk_step, members, member_count),
     "paths of the SDK files that this step brings into the process, the library first (tuple of str)"),
    FIELD("needed",      "tuple[str, ...]", PATHS(rsdk_step, needed, needed_count),
     "paths of the SDK files among its own DT_NEEDED entries (tuple of str)"),
    FIELD("outside",     "tuple[str, ...]", PATHS(rsdk_step, outside, outside_count),
     "DT_NEEDED names of the members that the system or the process provides (tuple of str)"),
    FIELD("missing",     "tuple[str, ...]", PATHS(rsdk_step, missing, missing_count), "those that nobody provides (tuple of str)"),
    FIELD("names",       "tuple[tuple[str, str], ...]", WHOLE(names_of_step),
     "names without version by which its members, or what these open, are found from then on, and the paths of the files"
     " that are found (tuple of pairs of str): ('libamd_smi.so', '/.../lib/libamd_smi.so.26')"),
    FIELD("brought_by",  "tuple[str, ...]", PATHS(rsdk_step, brought_by, member_count),
     "of each member, the path of the member whose need brings it in; '' of the first (tuple of str)"),
    END,
};

static const field plan_fields[] = {
    FIELD("steps",   "tuple[LoadStep, ...]", WHOLE(steps_of_plan), "tuple of LoadStep, in the order of loading"),
    FIELD("missing", "tuple[str, ...]", WHOLE(missing_of_plan), "all names that nobody provides (tuple of str): not empty means that loading will fail"),
    END,
};

static const field gpu_fields[] = {
    FIELD("target",          "str", TEXT(rsdk_gpu, target), "as ROCm presents it, with features (str): 'gfx942:sramecc+:xnack-'"),
    FIELD("processor",       "str", TEXT(rsdk_gpu, processor), "the same without features (str)"),
    FIELD("real_processor",  "str", TEXT(rsdk_gpu, real_processor),
     "what it is, whatever HSA_OVERRIDE_GFX_VERSION says (str); 'unknown' where nothing tells"),
    FIELD("known",           "bool", BOOL(rsdk_gpu, is_known), "whether real_processor is in the table of targets (bool)"),
    FIELD("overridden",      "bool", BOOL(rsdk_gpu, is_overridden), "whether an HSA_OVERRIDE_GFX_VERSION applies to it (bool)"),
    FIELD("sramecc",         "bool | None", FEATURE(rsdk_gpu, sramecc), "whether the feature is on (bool); None where the processor has it not"),
    FIELD("xnack",           "bool | None", FEATURE(rsdk_gpu, xnack), "the same for XNACK"),
    FIELD("xnack_guessed",   "bool", BOOL(rsdk_gpu, is_xnack_guessed), "True where only the driver knows about XNACK, which is not asked (bool)"),
    FIELD("gpu_class",       "str", GPU_CLASS(rsdk_gpu, gpu_class), "'discrete', 'data centre' or 'integrated' (str)"),
    FIELD("name",            "str", TEXT(rsdk_gpu, name), "marketing name (str)"),
    FIELD("node",            "int", NUMBER(rsdk_gpu, node), "KFD node number, as in sysfs (int)"),
    FIELD("hsa_node",        "int | None", INDEX(rsdk_gpu, hsa_node),
     "number that ROCm gives to the node, N of HSA_OVERRIDE_GFX_VERSION_N (int); None: it leaves it out"),
    FIELD("gpu_id",          "int", NUMBER(rsdk_gpu, gpu_id), "the kernel's id of the node (int)"),
    FIELD("unique_id",       "int", NUMBER(rsdk_gpu, unique_id), "serial number (int), 0: unknown"),
    FIELD("uuid",            "str", TEXT(rsdk_gpu, uuid), "'GPU-' and unique_id in 16 hexadecimal digits (str); 'GPU-XX': unknown"),
    FIELD("hive_id",         "int", NUMBER(rsdk_gpu, hive_id), "XGMI hive (int), 0: none"),
    FIELD("pci_address",     "str", TEXT(rsdk_gpu, pci_address), "'0000:c1:00.0' (str)"),
    FIELD("vendor_id",       "int", NUMBER(rsdk_gpu, vendor_id), "PCI vendor (int)"),
    FIELD("device_id",       "int", NUMBER(rsdk_gpu, device_id), "PCI device (int)"),
    FIELD("render_node",     "str | None", PATH(rsdk_gpu, render_node), "'/dev/dri/renderD128' (str); None: it has none"),
    FIELD("compute_units",   "int", NUMBER(rsdk_gpu, compute_units), "number of compute units (int), 0: unknown"),
    FIELD("xcc_count",       "int", NUMBER(rsdk_gpu, xcc_count), "accelerator complex dies in it (int), at least 1"),
    FIELD("partition",       "int", NUMBER(rsdk_gpu, partition), "which partition of its GPU it is, from 0 (int)"),
    FIELD("partition_count", "int", NUMBER(rsdk_gpu, partition_count), "partitions of its GPU that are here (int), 1: not partitioned"),
    FIELD("memory",          "int", NUMBER(rsdk_gpu, memory), "its own memory in bytes (int)"),
    FIELD("hip_index",       "int | None", INDEX(rsdk_gpu, hip_index), "HIP's device number (int); None: HIP does not see it"),
    FIELD("opencl_index",    "int | None", INDEX(rsdk_gpu, opencl_index), "number among OpenCL's GPUs (int); None: not seen"),
    FIELD("usable",          "bool", BOOL(rsdk_gpu, is_usable), "whether HIP sees it and this user may open what it takes (bool)"),
    FIELD("why_not",         "str | None", PATH(rsdk_gpu, why_not), "one line (str); None where it is usable"),
    FIELD("marketing_name",  "str | None", TEXT(rsdk_gpu, marketing_name),
     "its name in libdrm's amdgpu.ids, which HIP and rocminfo print (str); None: it has none there"),
    FIELD("hip_processors", "int", NUMBER(rsdk_gpu, hip_processors),
     "HIP's multiProcessorCount (int): compute units, from gfx10 on pairs of them (WGPs); 0: unknown"),
    END,
};

static const field target_fields[] = {
    FIELD("name",          "str", TEXT(rsdk_target, name), "'gfx90a' (str)"),
    FIELD("major",         "int", NUMBER(rsdk_target, major), "ISA number (int)"),
    FIELD("minor",         "int", NUMBER(rsdk_target, minor), "ISA number (int)"),
    FIELD("stepping",      "int", NUMBER(rsdk_target, stepping), "ISA number (int), a hexadecimal digit of the name: 10 in gfx90a"),
    FIELD("mach",          "int", NUMBER(rsdk_target, mach), "EF_AMDGPU_MACH, the low byte of e_flags (int)"),
    FIELD("xnack",         "str", XNACK(rsdk_target, xnack),
     "'none', 'of driver' (it decides for good), 'of process' (HSA_XNACK decides), 'always' (str)"),
    FIELD("sramecc",       "bool", BOOL(rsdk_target, has_sramecc), "whether the feature sramecc can be on or off (bool)"),
    FIELD("gpu_class",     "str", GPU_CLASS(rsdk_target, gpu_class), "'discrete', 'data centre' or 'integrated' (str)"),
    FIELD("product",       "str", TEXT(rsdk_target, product), "what it is sold as, or the chip's name (str)"),
    FIELD("families",      "tuple[str, ...]", WHOLE(families_of_target),
     "packaging families besides its own name (tuple of str); empty: ROCm is not built for it"),
    FIELD("generic",       "str | None", TEXT(rsdk_target, generic), "LLVM's generic target whose code it runs (str or None)"),
    FIELD("sub_family",    "str | None", TEXT(rsdk_target, sub_family), "of the packaging hierarchy: 'gfx9_0' (str or None)"),
    FIELD("family",        "str | None", TEXT(rsdk_target, family), "of the packaging hierarchy: 'gfx9' (str or None)"),
    FIELD("package_owner", "str", WHOLE(package_owner_of_target), "the target whose packages support it (str), mostly itself"),
    END,
};

static const field section_fields[] = {
    FIELD("name",   "str", PATH(rsdk_elf_section, name), "'.text' (str); '' for the first one, and where the file names none"),
    FIELD("offset", "int", NUMBER(rsdk_elf_section, offset), "where its bytes start in the file (int)"),
    FIELD("size",   "int", NUMBER(rsdk_elf_section, size),
     "in bytes (int); sections without bytes in the file, such as .bss, have one too"),
    END,
};

static const field damage_fields[] = {
    FIELD("code",    "Code", CODE(rsdk_elf_damage, code), "'E-LIB-006', and 'E-LIB-012' of a file for another machine (str)"),
    FIELD("message", "str", PATH(rsdk_elf_damage, message), "one sentence, as an error says it (str)"),
    FIELD("detail",  "str", PATH(rsdk_elf_damage, detail), "the same without the path that errors begin with (str)"),
    END,
};

static const field library_facts_fields[] = {
    FIELD("soname",           "str | None", PATH(rsdk_inspection, file.soname), "its DT_SONAME (str), None without one"),
    FIELD("needed",           "tuple[str, ...]", LIST(rsdk_inspection, file.needed), "its DT_NEEDED entries, in file order (tuple of str)"),
    FIELD("rpath",            "str | None", PATH(rsdk_inspection, file.rpath),
     "its DT_RPATH (str), None without one, and where DT_RUNPATH makes the linker ignore it"),
    FIELD("runpath",          "str | None", PATH(rsdk_inspection, file.runpath), "its DT_RUNPATH (str), None without one"),
    FIELD("newest_glibc",     "str | None", WHOLE(newest_glibc_of_file), "the newest glibc version that it needs ('2.34'); None where it names none"),
    FIELD("version_needs",    "tuple[tuple[str, str], ...]", WHOLE(version_needs_of_file),
     "its DT_VERNEED entries: library and version, ('libc.so.6', 'GLIBC_2.34') (tuple of tuple)"),
    FIELD("executable_stack", "bool", BOOL(rsdk_inspection, file.wants_executable_stack), "whether it asks for an executable stack (bool)"),
    FIELD("text_relocations", "bool", BOOL(rsdk_inspection, file.has_text_relocations), "whether the linker must write into its code (bool)"),
    FIELD("static_tls",       "bool", BOOL(rsdk_inspection, file.has_static_tls), "whether it takes from the small reserve of static TLS (bool)"),
    FIELD("build_id",         "str | None", PATH(rsdk_inspection, file.build_id), "its build ID (NT_GNU_BUILD_ID) in hexadecimal digits (str), None without one"),
    FIELD("opened",           "tuple[str, ...]", LIST(rsdk_inspection, opened.list),
     "names of libraries among its constants, which it may open with dlopen (tuple of str); () unless asked for"),
    FIELD("damages",          "tuple[Damage, ...]", ITEMS(rsdk_inspection, damages.items, damages.count, rsdk_elf_damage, DAMAGE), "what is wrong with the file (tuple of Damage)"),
    FIELD("sections",         "tuple[Section, ...]", ITEMS(rsdk_inspection, sections.items, sections.count, rsdk_elf_section, SECTION),
     "its section headers in file order (tuple of Section); empty without a table, and with a damaged one"),
    END,
};

static const field device_image_fields[] = {
    FIELD("target",          "str", TEXT(rsdk_device_image, target), "target id by which the runtime looks for it (str): 'gfx90a:xnack-'; '' where nothing names it"),
    FIELD("id",              "str | None", PATH(rsdk_device_image, id), "its name in the container (str), None without one"),
    FIELD("object_target",   "str | None", TEXT(rsdk_device_image, object_target),
     "target id that the code object itself tells (str); None where it is compressed, or no code object"),
    FIELD("format",          "{rsdk_image_format_name}", FORMAT(rsdk_device_image, format),
     "'code object', 'bitcode', 'SPIR-V', 'empty', 'unknown', 'unread' where it is compressed (str)"),
    FIELD("version",         "int", NUMBER(rsdk_device_image, version), "version of the code object, 2 to 6 (int); 0: unknown"),
    FIELD("generic_version", "int", NUMBER(rsdk_device_image, generic_version), "version of code for a generic target (int); 0 for others"),
    FIELD("offset",          "int", NUMBER(rsdk_device_image, offset),
     "where it starts in the file (int), in the plain data where it is compressed; 0 in a kpack archive"),
    FIELD("size",            "int", NUMBER(rsdk_device_image, size), "in bytes, not compressed (int)"),
    END,
};

static const field device_bundle_fields[] = {
    FIELD("container",   "{rsdk_device_container_name}", CONTAINER(rsdk_device_bundle, container),
     "'none' for an image by itself, 'bundle', 'compressed bundle', 'offload binary', 'kpack archive' (str)"),
    FIELD("section",     "str | None", PATH(rsdk_device_bundle, section), "section of the ELF file that it lies in (str or None)"),
    FIELD("member",      "str | None", PATH(rsdk_device_bundle, member), "member of the static archive that it lies in (str or None)"),
    FIELD("offset",      "int", NUMBER(rsdk_device_bundle, offset), "where it starts in the file (int)"),
    FIELD("size",        "int", NUMBER(rsdk_device_bundle, size), "bytes of it in the file (int)"),
    FIELD("plain_size",  "int", NUMBER(rsdk_device_bundle, plain_size), "bytes of it when it is decompressed (int)"),
    FIELD("version",     "int", NUMBER(rsdk_device_bundle, version), "of the compressed format, and of others that have one (int); 0"),
    FIELD("compression", "Literal['zlib', 'zstd'] | None", TEXT(rsdk_device_bundle, compression), "'zlib', 'zstd' (str), None where it is not compressed"),
    FIELD("images",      "tuple[DeviceImage, ...]", ITEMS(rsdk_device_bundle, images, image_count, rsdk_device_image, DEVICE_IMAGE), "the code in it (tuple of DeviceImage)"),
    END,
};

static const field device_target_fields[] = {
    FIELD("target", "str", TEXT(rsdk_device_target, target), "target id (str)"),
    FIELD("size",   "int", NUMBER(rsdk_device_target, size), "bytes of all images for it, not compressed (int)"),
    FIELD("image_count", "int", NUMBER(rsdk_device_target, image_count), "how many images there are for it (int)"),
    END,
};

static const field device_code_fields[] = {
    FIELD("path",             "str", PATH(rsdk_device_code, path), "the file (str)"),
    FIELD("size",             "int", NUMBER(rsdk_device_code, size), "its size in bytes (int)"),
    FIELD("kind",             "str", TEXT(rsdk_device_code, kind),
     "'ELF file', 'static archive', 'code object', 'offload bundle', 'compressed offload bundle', 'offload binary', 'kpack archive' (str)"),
    FIELD("targets",          "tuple[DeviceTarget, ...]", ITEMS(rsdk_device_code, targets, target_count, rsdk_device_target, DEVICE_TARGET), "its targets by number, with sums over all images (tuple of DeviceTarget)"),
    FIELD("bundles",          "tuple[DeviceBundle, ...]", ITEMS(rsdk_device_code, bundles, bundle_count, rsdk_device_bundle, DEVICE_BUNDLE), "its containers in file order (tuple of DeviceBundle)"),
    FIELD("compressed_count", "int", NUMBER(rsdk_device_code, compressed_count), "how many of them are compressed (int)"),
    FIELD("stored_size",      "int", NUMBER(rsdk_device_code, stored_size), "bytes of all containers in the file (int)"),
    FIELD("plain_size",       "int", NUMBER(rsdk_device_code, plain_size), "bytes of all images, not compressed (int)"),
    FIELD("removed",          "bool", BOOL(rsdk_device_code, has_removed_code),
     "whether the section of code has no bytes, as in a separated debug file (bool)"),
    FIELD("kernel_name",      "str | None", PATH(rsdk_device_code, kernels.name),
     "key under which kpack archives have its code (str); None where it has code of its own"),
    FIELD("kpack_paths",      "tuple[str, ...]", PATHS(rsdk_device_code, kernels.search_paths, kernels.search_path_count),
     "where those archives are looked for, relative to its directory (tuple of str)"),
    FIELD("history",          "str | None", PATH(rsdk_device_code, history),
     "the note of a file that `rocm-sdk code` has made, JSON (str); None for others"),
    END,
};

static const field compatibility_fields[] = {
    FIELD("fit",     "{rsdk_code_fit_name}", FIT(rsdk_compatibility, fit),
     "'exact', 'compatible', 'generic', 'SPIR-V' (compiled at first use), 'unofficial', 'none' (str)"),
    FIELD("misfit",  "{rsdk_misfit_name without none} | None", MISFIT(rsdk_compatibility, misfit),
     "why it does not fit: 'processor', 'sramecc', 'xnack', 'generic version' (str); None where it does"),
    FIELD("patches", "tuple[str, ...]", PATCHES(rsdk_compatibility, patches), "those that let it run, 'Debian' and 'Solus', where it is unofficial (tuple of str)"),
    FIELD("sramecc", "bool | None", MODE(rsdk_compatibility, sramecc), "the mode that the GPU must be in, where its id leaves it open (bool or None)"),
    FIELD("xnack",   "bool | None", MODE(rsdk_compatibility, xnack), "the same of xnack (bool or None)"),
    END,
};

static const field gpu_coverage_fields[] = {
    FIELD("gpu",             "str", TEXT(rsdk_gpu_coverage, gpu), "target id of the GPU (str)"),
    FIELD("verdict",         "{rsdk_coverage_verdict_name}", VERDICT(rsdk_gpu_coverage, verdict),
     "'exact', 'compatible', 'generic', 'compiled at first use', 'best effort', 'none', 'not needed' for a library without GPU code (str)"),
    FIELD("lack",            "{rsdk_coverage_lack_name without nothing} | None", LACK(rsdk_gpu_coverage, lack),
     "what is missing: 'processor', 'mode', 'generic version', 'index', 'archive', 'kernels', "
     "'unnamed' (str); None: nothing"),
    FIELD("covered",         "int", NUMBER(rsdk_gpu_coverage, covered), "bundles with code for the GPU (int)"),
    FIELD("total",           "int", NUMBER(rsdk_gpu_coverage, total), "bundles of the library; its loose files count as one (int)"),
    FIELD("uncovered_modes", "tuple[str, ...]", PATHS(rsdk_gpu_coverage, uncovered_modes, uncovered_mode_count),
     "modes of a GPU whose mode is open in which nothing runs (tuple of str)"),
    FIELD("detail",          "str | None", PATH(rsdk_gpu_coverage, detail), "the archive that is missing or has no kernels of the library, or the table that lacks the GPU (str or None)"),
    FIELD("database",        "bool | None", FEATURE(rsdk_gpu_coverage, database),
     "whether there is a performance database for the GPU (bool); None for a library that uses none"),
    FIELD("tables",          "{rsdk_kernel_tables_name without unknown} | None", KERNEL_TABLES(rsdk_gpu_coverage, tables),
     "what its tables of kernels have: 'tuned', 'fallback', 'none' (str); None for a library without tables"),
    FIELD("missing_table",   "str | None", PATH(rsdk_gpu_coverage, missing_table), "a file that the tables lead to and that is not there (str or None)"),
    FIELD("late",            "int", NUMBER(rsdk_gpu_coverage, late), "bundles whose kernels are not in the first archive for the GPU (int)"),
    END,
};

static const field library_coverage_fields[] = {
    FIELD("name",        "str", PATH(rsdk_library_coverage, name), "'rocsparse' of librocsparse.so.1 (str)"),
    FIELD("files",       "tuple[str, ...]", PATHS(rsdk_library_coverage, files, file_count), "its files: libraries, and those with code (tuple of str)"),
    FIELD("size",        "int", NUMBER(rsdk_library_coverage, size), "of these files in bytes (int)"),
    FIELD("stored_size", "int", NUMBER(rsdk_library_coverage, stored_size), "bytes of their code, as it lies in the files (int)"),
    FIELD("plain_size",  "int", NUMBER(rsdk_library_coverage, plain_size), "the same, decompressed (int)"),
    FIELD("compressed_count", "int", NUMBER(rsdk_library_coverage, compressed_count), "how many of the bundles are compressed (int)"),
    FIELD("targets",     "tuple[DeviceTarget, ...]", ITEMS(rsdk_library_coverage, targets, target_count, rsdk_device_target, DEVICE_TARGET), "the targets that it has code for, with sums (tuple of DeviceTarget)"),
    FIELD("gpus",        "tuple[GpuCoverage, ...]", ITEMS(rsdk_library_coverage, gpus, gpu_count, rsdk_gpu_coverage, GPU_COVERAGE), "the library on each GPU (tuple of GpuCoverage)"),
    END,
};

static const field covered_target_fields[] = {
    FIELD("target",      "str", TEXT(rsdk_covered_target, target), "target id (str)"),
    FIELD("size",        "int", NUMBER(rsdk_covered_target, size), "bytes of all images for it, decompressed (int)"),
    FIELD("image_count", "int", NUMBER(rsdk_covered_target, image_count), "how many images there are for it (int)"),
    FIELD("used",        "bool", BOOL(rsdk_covered_target, is_used), "whether one of the GPUs runs them (bool)"),
    END,
};

static const field coverage_fault_fields[] = {
    FIELD("path",    "str", PATH(rsdk_coverage_fault, path), "a file that cannot be read (str)"),
    FIELD("code",    "Code", CODE(rsdk_coverage_fault, code), "of the table of problems (str)"),
    FIELD("message", "str", TEXT(rsdk_coverage_fault, message), "why (str)"),
    END,
};

static const field host_need_fields[] = {
    FIELD("name",  "str", PATH(rsdk_host_need, name), "the DT_NEEDED entry (str)"),
    FIELD("place", "{rsdk_need_place_name}", PLACE(rsdk_host_need, place), "'bundled', 'SDK', 'other version' (of the SDK), 'RPATH' (where the RPATH of the file leads), 'system', 'beside' (beside a file that is loaded with it, or where the paths of such a file lead), 'other release' (nowhere, as the SDK is of another one), 'nowhere' (str)"),
    FIELD("path",  "str | None", PATH(rsdk_host_need, path), "the file (str); None: nowhere"),
    END,
};

static const field unfound_fields[] = {
    FIELD("needing",    "str", PATH(rsdk_host_unfound, needing), "the file that needs it: the one that is checked, or one that this brings in (str)"),
    FIELD("name",       "str", PATH(rsdk_host_unfound, need.name), "the DT_NEEDED entry (str)"),
    FIELD("place",      "{rsdk_need_place_name}", PLACE(rsdk_host_unfound, need.place), "where a library of this name lies, and the linker does not look for it: 'bundled', 'SDK', 'other version', 'RPATH', 'system', 'beside', 'other release', 'nowhere', as of HostNeed (str)"),
    FIELD("path",       "str | None", PATH(rsdk_host_unfound, need.path), "that library, or one of another version (str); None: there is none"),
    FIELD("fault",      "str | None", TEXT(rsdk_host_unfound, fault), "why the linker refuses the file that it finds (str); None: it finds none"),
    FIELD("fault_code", "Code | None", CODE(rsdk_host_unfound, fault_code), "of the table of problems (str or None)"),
    FIELD("absent",     "tuple[str, ...]", LIST(rsdk_host_unfound, absent), "directories of the RPATH or RUNPATH of `needing` that do not exist (tuple of str)"),
    END,
};

static const field host_lack_fields[] = {
    FIELD("needing", "str", PATH(rsdk_host_lack, needing), "the file that lacks it: the one that is checked, or one that this brings in (str)"),
    FIELD("name",    "str | None", PATH(rsdk_host_lack, name), "a symbol that nothing defines (str); None: the version lacks altogether"),
    FIELD("version", "str | None", PATH(rsdk_host_lack, version), "its version (str or None)"),
    FIELD("library", "str | None", PATH(rsdk_host_lack, library), "the SONAME of the library that should have it (str); None: not known"),
    FIELD("definer", "str | None", PATH(rsdk_host_lack, definer), "a library of the SDK that has the symbol, and that is not named (str); None: none is known"),
    END,
};

static const field host_file_fields[] = {
    FIELD("path",          "str", PATH(rsdk_host_file, path), "the file (str)"),
    FIELD("soname",        "str | None", PATH(rsdk_host_file, soname), "its SONAME (str or None)"),
    FIELD("is_program",    "bool", BOOL(rsdk_host_file, is_program), "whether it is a program, which is the first thing in its process (bool)"),
    FIELD("is_module",     "bool", BOOL(rsdk_host_file, is_module), "whether Python imports it by its name (bool)"),
    FIELD("fault",         "str | None", TEXT(rsdk_host_file, fault), "why it cannot be read, or that it is for another machine (str or None)"),
    FIELD("fault_code",    "Code | None", CODE(rsdk_host_file, fault_code), "of the table of problems (str or None)"),
    FIELD("needs",         "tuple[HostNeed, ...]", ITEMS(rsdk_host_file, needs.items, needs.count, rsdk_host_need, HOST_NEED), "the libraries that it needs (tuple of HostNeed)"),
    FIELD("unfound",       "tuple[Unfound, ...]", ITEMS(rsdk_host_file, unfound.items, unfound.count, rsdk_host_unfound, UNFOUND), "the libraries that the linker would not find for it, or refuse (tuple of Unfound)"),
    FIELD("unfound_alone", "tuple[str, ...]", LIST(rsdk_host_file, unfound_alone), "the names of these where no SDK helps (tuple of str)"),
    FIELD("by_shortnames", "bool", BOOL(rsdk_host_file, is_served[RSDK_AID_SHORTNAMES]), "whether less lacks, and nothing that the SDK has, where rocm_sdk has loaded libraries by their shortnames (bool)"),
    FIELD("by_files",      "bool", BOOL(rsdk_host_file, is_served[RSDK_AID_FILES]), "the same where preload_for has loaded what the file needs (bool); it is tried if shortnames do not do"),
    FIELD("by_run",        "bool", BOOL(rsdk_host_file, is_served[RSDK_AID_RUN]), "the same in a process that was started with the SDK's directories (bool)"),
    FIELD("directories",   "tuple[str, ...]", LIST(rsdk_host_file, directories), "the directories of LD_LIBRARY_PATH in which the linker finds libraries for it in its process (tuple of str)"),
    FIELD("own_hip",       "str | None", PATH(rsdk_host_file, own_hip), "the HIP that it brings in by itself, outside the SDK (str or None)"),
    FIELD("outside_hip",   "str | None", PATH(rsdk_host_file, outside_hip), "the same in a process that has loaded the SDK's HIP: two HIPs (str or None)"),
    FIELD("borrowed",      "str | None", PATH(rsdk_host_file, lacks.borrowed), "a library of the interpreter that alone has a symbol which it wants (str or None)"),
    FIELD("lacks",         "tuple[HostLack, ...]", ITEMS(rsdk_host_file, lacks.list.items, lacks.list.count, rsdk_host_lack, HOST_LACK), "symbols and versions that nothing has, the first three (tuple of HostLack)"),
    FIELD("lack_count",    "int", NUMBER(rsdk_host_file, lacks.count), "how many there are (int)"),
    FIELD("audited",       "str | None", PATH(rsdk_host_file, audited), "a file that names libraries for the linker to run, it or one that it brings in (str); of use with `audit`"),
    FIELD("audit",         "str | None", PATH(rsdk_host_file, audit), "these libraries, its DT_AUDIT or DT_DEPAUDIT (str); None: no file names one"),
    FIELD("back_end",      "str | None", TEXT(rsdk_host_file, variant.back_end), "of a variant, the word in its name: 'cuda', 'rocm' (str); None: it is none"),
    FIELD("is_for_rocm",   "bool", BOOL(rsdk_host_file, variant.is_for_rocm), "whether that back end is ROCm's (bool)"),
    FIELD("variant_group", "int | None", INDEX(rsdk_host_file, variant.group), "the number of the variants of which one is loaded (int); None: it is none"),
    END,
};

static const field other_release_fields[] = {
    FIELD("file",        "str", PATH(rsdk_other_release, file), "a file that needs a library which is not there (str)"),
    FIELD("name",        "str", PATH(rsdk_other_release, wanted), "the DT_NEEDED entry (str)"),
    FIELD("present",     "str", WHOLE(present_in_sdk), "the SONAME that the SDK has instead, or the SONAME of its HIP (str)"),
    FIELD("built_for",   "str", WHOLE(built_for_release), "'ROCm 7.0 or newer', or the entry where nothing is known (str)"),
    FIELD("sdk",         "str | None", WHOLE(release_of_sdk), "the releases that its HIP is of: 'ROCm 5.0 to 5.7' (str); None: not known"),
    FIELD("more",        "str", WHOLE(more_of_release), "' and 2 more of ROCm': how many others are not there (str)"),
    END,
};

static const field host_files_fields[] = {
    FIELD("files",         "tuple[HostFile, ...]", ITEMS(rsdk_host_files, list.items, list.count, rsdk_host_file, HOST_FILE), "the ELF files in their order (tuple of HostFile)"),
    FIELD("preloaded",     "tuple[str, ...]", LIST(rsdk_host_files, preloaded), "the libraries of the SDK that have to be loaded by shortnames (tuple of str)"),
    FIELD("first_release", "str | None", WHOLE(first_release), "of ROCm, that they may be built for: '7.0' (str); None: not known"),
    FIELD("last_release",  "str | None", WHOLE(last_release), "the last one: '7.14' (str); None: not known, or no end"),
    FIELD("built_for",     "str | None", WHOLE(releases_of_host_files), "both: 'ROCm 7.0 to 7.14', 'ROCm 7.0 or newer' (str); None: not known"),
    FIELD("requirement",   "str | None", WHOLE(requirement_of_host_files), "of an SDK that fits: 'rocm[libraries]>=7.0,<7.15' (str); None: not known"),
    FIELD("opened",        "tuple[HostNeed, ...]", ITEMS(rsdk_host_files, opened.items, opened.count, rsdk_host_need, HOST_NEED), "libraries of ROCm that they may open by name, if none is a DT_NEEDED entry (tuple of HostNeed)"),
    FIELD("other_release", "OtherRelease | None", WHOLE(other_release_of_host_files), "why the SDK does not fit (OtherRelease); None: nothing says so"),
    END,
};

static const field coverage_fields[] = {
    FIELD("libraries",  "tuple[LibraryCoverage, ...]", ITEMS(rsdk_coverage, libraries, library_count, rsdk_library_coverage, LIBRARY_COVERAGE), "by name (tuple of LibraryCoverage)"),
    FIELD("targets",    "tuple[CoveredTarget, ...]", ITEMS(rsdk_coverage, targets, target_count, rsdk_covered_target, COVERED_TARGET), "all targets that there is code for, with sums (tuple of CoveredTarget)"),
    FIELD("faults",     "tuple[CoverageFault, ...]", ITEMS(rsdk_coverage, faults, fault_count, rsdk_coverage_fault, COVERAGE_FAULT), "files that could not be read (tuple of CoverageFault)"),
    FIELD("file_count", "int", NUMBER(rsdk_coverage, file_count), "files that were looked at (int)"),
    END,
};

static const field binding_fields[] = {
    FIELD("library",  "str", PATH(rsdk_binding, from), "path of the file that refers to the symbol (str)"),
    FIELD("symbol",   "str", PATH(rsdk_binding, symbol), "its name as in the file, mangled (str)"),
    FIELD("version",  "str | None", PATH(rsdk_binding, version), "the version that is asked for (str); None: none"),
    FIELD("bound_to", "str | None", PATH(rsdk_binding, to), "path of the file that answers (str); None: none, or not known"),
    FIELD("instead",  "str | None", PATH(rsdk_binding, instead),
     "path of the file that would answer if the library were alone (str); None where it does answer"),
    FIELD("verdict",  "BindingVerdict", BINDING_VERDICT(rsdk_binding, verdict),
     "'meant', 'nothing', 'missing', 'lazy', 'unknown'; elsewhere and no fault: 'vague', 'weak', 'c++-runtime', "
     "'c-library', 'same-source', 'taken-over'; a fault: 'other-function', 'other-object' (str)"),
    END,
};

static const field binding_pair_fields[] = {
    FIELD("library",  "str", PATH(rsdk_binding_pair, from), "path of a file that refers to symbols (str)"),
    FIELD("bound_to", "str", PATH(rsdk_binding_pair, to), "path of a file that answers (str)"),
    FIELD("reference_count", "int", NUMBER(rsdk_binding_pair, count), "references (int)"),
    FIELD("counts",   "dict[BindingVerdict, int]", WHOLE(counts_of_pair), "references of each verdict (dict of str and int)"),
    FIELD("examples", "tuple[str, ...]", WHOLE(examples_of_pair), "up to three symbols of the worst verdict (tuple of str)"),
    FIELD("verdict",  "BindingVerdict", BINDING_VERDICT(rsdk_binding_pair, verdict), "the worst (str)"),
    END,
};

static const field bindings_fields[] = {
    FIELD("pairs",      "tuple[BindingPair, ...]", WHOLE(pairs_of_bindings), "each library with each file that answers it, the worst first (tuple of BindingPair)"),
    FIELD("reference_count", "int", WHOLE(count_of_bindings), "references that were followed (int)"),
    FIELD("references", "tuple[Binding, ...]", WHOLE(references_of_bindings), "those that bind elsewhere or that nobody answers, or all (tuple of Binding)"),
    FIELD("missing",    "tuple[str, ...]", WHOLE(missing_of_bindings), "libraries that are needed and that nobody has (tuple of str)"),
    END,
};

static const struct result_type {
    const char *name;
    const char *documentation;
    const field *fields;
} result_types[RSDK_TYPE_COUNT] = {
    [RSDK_TYPE_LOCATION]      = {"rocm_sdk.LibraryLocation", "Where a library is, and how it was found.", location_fields},
    [RSDK_TYPE_LOADED]        = {"rocm_sdk.LoadedLibrary", "A library that is in the process.", loaded_fields},
    [RSDK_TYPE_STEP]          = {"rocm_sdk.LoadStep", "A library of a plan: how it is opened and what comes with it.", step_fields},
    [RSDK_TYPE_PLAN]          = {"rocm_sdk.LoadPlan", "The plan of a preloading.", plan_fields},
    [RSDK_TYPE_TARGET]        = {"rocm_sdk.Target", "A gfx target.", target_fields},
    [RSDK_TYPE_GPU]           = {"rocm_sdk.Gpu", "A GPU, or a partition of one.", gpu_fields},
    [RSDK_TYPE_SECTION]       = {"rocm_sdk.Section", "A section of a library's file.", section_fields},
    [RSDK_TYPE_DAMAGE]        = {"rocm_sdk.Damage", "A fault of a library's file.", damage_fields},
    [RSDK_TYPE_DEVICE_IMAGE]  = {"rocm_sdk.DeviceImage", "An image of GPU code for one target.", device_image_fields},
    [RSDK_TYPE_DEVICE_BUNDLE] = {"rocm_sdk.DeviceBundle", "A container of GPU code.", device_bundle_fields},
    [RSDK_TYPE_DEVICE_TARGET] = {"rocm_sdk.DeviceTarget", "All GPU code of a file for one target.", device_target_fields},
    [RSDK_TYPE_DEVICE_CODE]   = {"rocm_sdk.DeviceCode", "The GPU code that a file holds.", device_code_fields},
    [RSDK_TYPE_COMPATIBILITY] = {"rocm_sdk.Compatibility", "Whether a GPU runs code for a target.", compatibility_fields},
    [RSDK_TYPE_GPU_COVERAGE]  = {"rocm_sdk.GpuCoverage", "The code that a library has for a GPU.", gpu_coverage_fields},
    [RSDK_TYPE_LIBRARY_COVERAGE] = {"rocm_sdk.LibraryCoverage", "A library and what it has for each GPU.", library_coverage_fields},
    [RSDK_TYPE_COVERED_TARGET] = {"rocm_sdk.CoveredTarget", "A target that an installation has code for.", covered_target_fields},
    [RSDK_TYPE_COVERAGE_FAULT] = {"rocm_sdk.CoverageFault", "A file that could not be read.", coverage_fault_fields},
    [RSDK_TYPE_COVERAGE]      = {"rocm_sdk.Coverage", "Which libraries have code for which GPUs.", coverage_fields},
    [RSDK_TYPE_BINDING]       = {"rocm_sdk.Binding", "A symbol reference, and the file that it binds to.", binding_fields},
    [RSDK_TYPE_BINDING_PAIR]  = {"rocm_sdk.BindingPair", "All references of one library to one file.", binding_pair_fields},
    [RSDK_TYPE_BINDINGS]      = {"rocm_sdk.Bindings", "The files to which symbols bind.", bindings_fields},
    [RSDK_TYPE_HOST_NEED]     = {"rocm_sdk.HostNeed", "A library that a file needs, and where it is.", host_need_fields},
    [RSDK_TYPE_UNFOUND]       = {"rocm_sdk.Unfound", "A library that the linker does not find, or refuses.", unfound_fields},
    [RSDK_TYPE_HOST_LACK]     = {"rocm_sdk.HostLack", "A symbol or version that a file needs and nothing has.", host_lack_fields},
    [RSDK_TYPE_HOST_FILE]     = {"rocm_sdk.HostFile", "Whether an ELF file finds what it needs.", host_file_fields},
    [RSDK_TYPE_OTHER_RELEASE] = {"rocm_sdk.OtherRelease", "The needs of files for another release of ROCm than the SDK is.", other_release_fields},
    [RSDK_TYPE_HOST_FILES]    = {"rocm_sdk.HostFiles", "Whether files find what they need, and which ROCm they are for.", host_files_fields},
    [RSDK_TYPE_LIBRARY_FACTS] = {"rocm_sdk.LibraryFacts", "The facts that the file of a shared library states.", library_facts_fields},
};
/* clang-format on */

/* ---- the types ---- */

enum { FIELD_LIMIT = 32 };

static PyObject *make_type(const struct result_type *type) {
    PyStructSequence_Field fields[FIELD_LIMIT] = {0};
    PyStructSequence_Desc description = {.name = type->name, .doc = type->documentation, .fields = fields};
    for (const field *f = type->fields; f->name != NULL; f++) {
        if (description.n_in_sequence + 1 >= FIELD_LIMIT) {
            return PyErr_Format(PyExc_SystemError, "%s has more than %d fields", type->name, FIELD_LIMIT - 1);
        }
        fields[description.n_in_sequence++] = (PyStructSequence_Field){.name = f->name, .doc = f->documentation};
    }
    return (PyObject *)PyStructSequence_NewType(&description);
}

/* Make the types from `first` to `end` that are not made yet. */
static int add_types(PyObject *module, rsdk_module_state *state, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const char *name = strchr(result_types[i].name, '.') + 1;
        if (state->types[i] == NULL) {
            state->types[i] = make_type(&result_types[i]);
        }
        if (state->types[i] == NULL || PyModule_AddObjectRef(module, name, state->types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

int rsdk_result_types_add(PyObject *module, rsdk_module_state *state) {
    return add_types(module, state, 0, RSDK_TYPE_GPU);
}

/* Make types as add_types does, once. The last of the range is made last, and is in no smaller range. */
static int add_at_first_use(PyObject *module, rsdk_module_state *state, size_t first, size_t end) {
    int result = 0;
    RSDK_BEGIN_FIRST_USE(module);
    if (state->types[end - 1] == NULL) {
        result = add_types(module, state, first, end);
    }
    RSDK_END_FIRST_USE();
    return result;
}

int rsdk_result_types_add_gpu(PyObject *module, rsdk_module_state *state) {
    return add_at_first_use(module, state, RSDK_TYPE_GPU, RSDK_TYPE_GPU + 1);
}

int rsdk_result_types_add_code(PyObject *module, rsdk_module_state *state) {
    return add_at_first_use(module, state, RSDK_TYPE_DEVICE_IMAGE, RSDK_TYPE_COVERAGE + 1);
}

int rsdk_result_types_add_others(PyObject *module, rsdk_module_state *state) {
    return add_at_first_use(module, state, RSDK_TYPE_GPU, RSDK_TYPE_COUNT);
}

PyObject *rsdk_result_build(const rsdk_module_state *state, rsdk_result_type type, const void *value) {
    PyObject *result = PyStructSequence_New((PyTypeObject *)state->types[type]);
    const field *fields = result_types[type].fields;
    for (Py_ssize_t i = 0; result != NULL && fields[i].name != NULL; i++) {
        PyObject *item = fields[i].build(state, value, &fields[i]);
        if (item != NULL) {
            PyStructSequence_SetItem(result, i, item);
        } else {
            Py_CLEAR(result);
        }
    }
    return result;
}
