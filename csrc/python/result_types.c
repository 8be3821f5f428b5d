/* Struct sequences: named tuples made in C, for the price of a tuple. The fields of each type are a table. */
#include "result_types.h"

static PyStructSequence_Field location_fields[] = {
    {"shortname", "name in the catalog ('amdhip64'), None for a library without one"},
    {"path", "absolute path of the file (str), None where the library is absent"},
    {"soname", "DT_SONAME of the file, None without one"},
    {"package", "package of the SDK that holds it: 'core', 'libraries', 'profiler'"},
    {"found_via", "'file name', 'SONAME' (a renamed file), 'need', 'absent (optional)', 'absent (declared)'"},
    {NULL, NULL},
};

static PyStructSequence_Field loaded_fields[] = {
    {"location", "LibraryLocation of the file that is loaded"},
    {"handle", "dlopen's handle (int), as ctypes.CDLL(path, handle=handle) takes it"},
    {"already_loaded", "whether it was in the process before the call"},
    {"seconds", "time spent in dlopen (float, seconds), with all that it brought in"},
    {NULL, NULL},
};

static PyStructSequence_Field step_fields[] = {
    {"shortname", "name in the catalog, None for a library without one"},
    {"path", "absolute path of the library (str)"},
    {"soname", "its DT_SONAME, None without one"},
    {"method", "'open' (a plain dlopen), 'anchor' (dlopen of a generated object that brings all members in), 'reuse' "
               "(in the process already)"},
    {"requested", "False where it is opened because another library opens it at run time"},
    {"rtld_global", "whether its symbols join the global scope"},
    {"reason", "why this method, in words"},
    {"members", "paths of the SDK files that this step brings into the process, the library first (tuple of str)"},
    {"needed", "paths of the SDK files among its own DT_NEEDED entries (tuple of str)"},
    {"outside", "DT_NEEDED names of the members that the system or the process provides (tuple of str)"},
    {"missing", "those that nobody provides (tuple of str)"},
    {NULL, NULL},
};

static PyStructSequence_Field plan_fields[] = {
    {"steps", "tuple of LoadStep, in the order of loading"},
    {"missing", "all names that nobody provides (tuple of str): not empty means that loading will fail"},
    {NULL, NULL},
};

static PyStructSequence_Desc descriptions[RSDK_TYPE_COUNT] = {
    [RSDK_TYPE_LOCATION] = {"rocm_sdk.LibraryLocation", "Where a library is, and how it was found.", location_fields,
                            5},
    [RSDK_TYPE_LOADED] = {"rocm_sdk.LoadedLibrary", "A library that is in the process.", loaded_fields, 4},
    [RSDK_TYPE_STEP] = {"rocm_sdk.LoadStep", "One library of a plan: how it is opened and what comes with it.",
                        step_fields, 11},
    [RSDK_TYPE_PLAN] = {"rocm_sdk.LoadPlan", "What preloading would do.", plan_fields, 2},
};

static const char *const type_names[RSDK_TYPE_COUNT] = {
    [RSDK_TYPE_LOCATION] = "LibraryLocation",
    [RSDK_TYPE_LOADED] = "LoadedLibrary",
    [RSDK_TYPE_STEP] = "LoadStep",
    [RSDK_TYPE_PLAN] = "LoadPlan",
};

int rsdk_add_result_types(PyObject *module, rsdk_module_state *state) {
    for (size_t i = 0; i < RSDK_TYPE_COUNT; i++) {
        state->types[i] = (PyObject *)PyStructSequence_NewType(&descriptions[i]);
        if (state->types[i] == NULL || PyModule_AddObjectRef(module, type_names[i], state->types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Puts `count` new references into a new instance; any of them may be NULL (an exception is set then). Steals them all.
 */
static PyObject *build_sequence(const rsdk_module_state *state, rsdk_result_type type, PyObject *const *items,
                                Py_ssize_t count) {
    PyObject *result = PyStructSequence_New((PyTypeObject *)state->types[type]);
    int is_complete = result != NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        is_complete &= items[i] != NULL;
        if (result != NULL) {
            PyStructSequence_SetItem(result, i, items[i]);
        } else {
            Py_XDECREF(items[i]);
        }
    }
    if (!is_complete) {
        Py_CLEAR(result);
    }
    return result;
}

/* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers on purpose */
#define ITEM_COUNT(items)         ((Py_ssize_t)(sizeof(items) / sizeof *(items)))
#define BUILD(state, type, items) build_sequence(state, type, items, ITEM_COUNT(items))

PyObject *rsdk_build_text(const char *text) {
    return text != NULL ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

PyObject *rsdk_build_path(const char *path) {
    return path != NULL ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

PyObject *rsdk_build_paths(const char *const *paths, size_t count) {
    PyObject *result = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *path = rsdk_build_path(paths[i]);
        if (path == NULL || PyTuple_SetItem(result, (Py_ssize_t)i, path) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

PyObject *rsdk_build_location(const rsdk_module_state *state, const rsdk_location *location) {
    PyObject *const items[] = {
        rsdk_build_text(location->shortname),
        rsdk_build_path(location->path),
        rsdk_build_text(location->soname),
        rsdk_build_text(rsdk_package_get(location->package)->name),
        rsdk_build_text(rsdk_found_via_name(location->found_via)),
    };
    return BUILD(state, RSDK_TYPE_LOCATION, items);
}

PyObject *rsdk_build_loaded(const rsdk_module_state *state, const rsdk_loaded_entry *entry) {
    PyObject *const items[] = {
        rsdk_build_location(state, &entry->location),
        PyLong_FromVoidPtr(entry->handle),
        PyBool_FromLong(entry->was_loaded),
        PyFloat_FromDouble(entry->seconds),
    };
    return BUILD(state, RSDK_TYPE_LOADED, items);
}

static PyObject *build_step(const rsdk_module_state *state, const rsdk_step *step) {
    static const char *const methods[] = {
        [RSDK_STEP_REUSE] = "reuse", [RSDK_STEP_OPEN] = "open", [RSDK_STEP_ANCHOR] = "anchor"};
    PyObject *const items[] = {
        rsdk_build_text(step->location.shortname),
        rsdk_build_path(step->location.path),
        rsdk_build_text(step->location.soname),
        rsdk_build_text(methods[step->method]),
        PyBool_FromLong(step->is_requested),
        PyBool_FromLong(step->is_global),
        rsdk_build_text(step->reason),
        rsdk_build_paths(step->members, step->member_count),
        rsdk_build_paths(step->needed, step->needed_count),
        rsdk_build_paths(step->outside, step->outside_count),
        rsdk_build_paths(step->missing, step->missing_count),
    };
    return BUILD(state, RSDK_TYPE_STEP, items);
}

static PyObject *build_steps(const rsdk_module_state *state, const rsdk_plan *plan) {
    size_t count = rsdk_plan_step_count(plan);
    PyObject *steps = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; steps != NULL && i < count; i++) {
        PyObject *step = build_step(state, rsdk_plan_step(plan, i));
        if (step == NULL || PyTuple_SetItem(steps, (Py_ssize_t)i, step) < 0) {
            Py_CLEAR(steps);
        }
    }
    return steps;
}

static PyObject *build_missing(const rsdk_plan *plan) {
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names != NULL && i < rsdk_plan_step_count(plan); i++) {
        const rsdk_step *step = rsdk_plan_step(plan, i);
        PyObject *more = rsdk_build_paths(step->missing, step->missing_count);
        if (more == NULL || PyList_SetSlice(names, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, more) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(more);
    }
    PyObject *result = names != NULL ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    return result;
}

PyObject *rsdk_build_plan(const rsdk_module_state *state, const rsdk_plan *plan) {
    PyObject *const items[] = {build_steps(state, plan), build_missing(plan)};
    return BUILD(state, RSDK_TYPE_PLAN, items);
}
