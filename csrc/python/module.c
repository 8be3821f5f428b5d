/* The extension module rocm_sdk._native. The files beside this one parse arguments, build objects, release the GIL and
 * raise exceptions; every decision is made by the C library. Limited API of CPython 3.10, multi-phase initialisation.
 *
 * Slots that an interpreter does not know are an error for it, so each range of versions has a
 * definition of its own, and one abi3 file works for all. */
#include <stdlib.h>
#include <string.h>

#include "methods.h"
#include "result_types.h"
#include "rocm_sdk/rocm_sdk.h"
#include "state.h"

/* Slots newer than the limited API that we build against (CPython's moduleobject.h). */
enum { SLOT_MULTIPLE_INTERPRETERS = 3, SLOT_GIL = 4 };
#define PER_INTERPRETER_GIL_SUPPORTED ((void *)2)
#define GIL_NOT_USED                  ((void *)1)

rsdk_module_state *rsdk_state_get(PyObject *module) {
    return PyModule_GetState(module);
}

/* Add the functions that loading does without, once. */
static int add_other_functions(PyObject *module, rsdk_module_state *state) {
    PyMethodDef *const subjects[] = {rsdk_binding_methods,  rsdk_sdk_methods,      rsdk_gpu_methods,
                                     rsdk_target_methods,   rsdk_inspect_methods,  rsdk_device_code_methods,
                                     rsdk_name_methods,     rsdk_problem_methods,  rsdk_report_methods,
                                     rsdk_sdk_type_methods, rsdk_page_list_methods};
    enum { COUNT = sizeof subjects / sizeof *subjects }; /* NOLINT(bugprone-sizeof-expression) */
    int result = 0;
    RSDK_BEGIN_FIRST_USE(module);
    for (size_t i = 0; !state->has_other_functions && result == 0 && i < COUNT; i++) {
        result = PyModule_AddFunctions(module, subjects[i]);
    }
    state->has_other_functions = result == 0;
    RSDK_END_FIRST_USE();
    return result;
}

/* Find attribute `name` of the module, which had none: the functions and then the types that loading does without are
 * made when one of them is asked for first. An import, which asks for __path__, does not pay for them. */
static PyObject *find_other(PyObject *module, PyObject *name) {
    rsdk_module_state *state = rsdk_state_get(module);
    PyObject *names = PyModule_GetDict(module), *found = NULL; /* borrowed */
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    bool is_ours = text != NULL && strncmp(text, "__", 2) != 0;
    if (is_ours && add_other_functions(module, state) == 0) {
        found = PyDict_GetItemWithError(names, name);
    }
    if (is_ours && found == NULL && !PyErr_Occurred() && rsdk_result_types_add_others(module, state) == 0) {
        found = PyDict_GetItemWithError(names, name);
    }
    if (found == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_AttributeError, "module 'rocm_sdk._native' has no attribute %R", name);
    }
    return Py_XNewRef(found);
}

/* Added when the module is executed: before that, importlib asks a module without state for attributes. */
static PyMethodDef other_methods[] = {
    {"__getattr__", find_other, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module) {
    rsdk_module_state *state = rsdk_state_get(module);
    state->loaded = PyDict_New();
    state->preloaded = PyDict_New();
    if (state->loaded == NULL || state->preloaded == NULL || rsdk_result_types_add(module, state) < 0 ||
        PyModule_AddFunctions(module, rsdk_loader_methods) < 0 || PyModule_AddFunctions(module, other_methods) < 0 ||
        rsdk_capsule_add(module) < 0) {
        return -1;
    }
    if (PyModule_AddObjectRef(module, "_preloaded", state->preloaded) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "loader_version", RSDK_VERSION);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    rsdk_module_state *state = rsdk_state_get(module);
    for (size_t i = 0; i < RSDK_TYPE_COUNT; i++) {
        Py_VISIT(state->types[i]);
    }
    Py_VISIT(state->sdk_type);
    Py_VISIT(state->loaded);
    Py_VISIT(state->preloaded);
    return 0;
}

static int module_clear(PyObject *module) {
    rsdk_module_state *state = rsdk_state_get(module);
    for (size_t i = 0; i < RSDK_TYPE_COUNT; i++) {
        Py_CLEAR(state->types[i]);
    }
    Py_CLEAR(state->sdk_type);
    Py_CLEAR(state->loaded);
    Py_CLEAR(state->preloaded);
    return 0;
}

static void module_free(void *module) {
    (void)module_clear(module);
}

/* CPython keeps functions in void pointers; ISO C alone would not. */
#define EXEC_SLOT                                                                                                      \
    { Py_mod_exec, __extension__(void *) module_exec }
#define INTERPRETERS_SLOT                                                                                              \
    { SLOT_MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL_SUPPORTED }
#define GIL_SLOT                                                                                                       \
    { SLOT_GIL, GIL_NOT_USED }

static PyModuleDef_Slot slots_3_10[] = {EXEC_SLOT, {0, NULL}};
static PyModuleDef_Slot slots_3_12[] = {EXEC_SLOT, INTERPRETERS_SLOT, {0, NULL}};
static PyModuleDef_Slot slots_3_13[] = {EXEC_SLOT, INTERPRETERS_SLOT, GIL_SLOT, {0, NULL}};

#define MODULE_DEFINITION(slots)                                                                                       \
    {                                                                                                                  \
        PyModuleDef_HEAD_INIT,                                                                                         \
            .m_name = "rocm_sdk._native",                                                                              \
            .m_doc =                                                                                                   \
                "Finds, orders and loads the libraries of the ROCm SDK. The public face is the package rocm_sdk.",     \
            .m_size = sizeof(rsdk_module_state), .m_slots = (slots), .m_traverse = module_traverse,                    \
            .m_clear = module_clear, .m_free = module_free                                                             \
    }

static PyModuleDef definition_3_10 = MODULE_DEFINITION(slots_3_10);
static PyModuleDef definition_3_12 = MODULE_DEFINITION(slots_3_12);
static PyModuleDef definition_3_13 = MODULE_DEFINITION(slots_3_13);

PyMODINIT_FUNC PyInit__native(void) {
    const char *version = Py_GetVersion(); /* "3.12.1 (main, ..." */
    const char *dot = strchr(version, '.');
    long major = strtol(version, NULL, 10), minor = dot != NULL ? strtol(dot + 1, NULL, 10) : 0;
    PyModuleDef *definition = major > 3 || minor >= 13 ? &definition_3_13
                              : minor == 12            ? &definition_3_12
                                                       : &definition_3_10;
    return PyModuleDef_Init(definition);
}
