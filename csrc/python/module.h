/* The extension module rocm_sdk._native: argument parsing, object building, the GIL and exceptions; every decision is
 * made by the C library. Limited API of CPython 3.10, multi-phase initialisation; all state is per module, so each
 * sub-interpreter has its own. */
#ifndef RSDK_PYTHON_MODULE_H
#define RSDK_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The structured result types (result_types.c). */
typedef enum rsdk_result_type {
    RSDK_TYPE_LOCATION,
    RSDK_TYPE_LOADED,
    RSDK_TYPE_STEP,
    RSDK_TYPE_PLAN,
    RSDK_TYPE_GPU,
    RSDK_TYPE_TARGET,
    RSDK_TYPE_SECTION,
    RSDK_TYPE_LIBRARY_FACTS,
    RSDK_TYPE_COUNT
} rsdk_result_type;

typedef struct rsdk_module_state {
    PyObject *types[RSDK_TYPE_COUNT]; /* owned, as is what follows */
    PyObject *loaded;    /* dict, what this interpreter has preloaded: shortname or path -> LoadedLibrary */
    PyObject *preloaded; /* dict, the same by shortname, behind rocm_sdk._ALL_CDLLS: whoever clears that clears this one
                            only */
} rsdk_module_state;

rsdk_module_state *rsdk_module_state_of(PyObject *module);

/* CPython's own types for functions with keywords do not convert without this cast. */
#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

/* Functions of the module, by subject. */
extern PyMethodDef rsdk_loader_methods[];
extern PyMethodDef rsdk_sdk_methods[];
extern PyMethodDef rsdk_gpu_methods[];
extern PyMethodDef rsdk_target_methods[];
extern PyMethodDef rsdk_inspect_methods[];
extern PyMethodDef rsdk_name_methods[];

#endif
