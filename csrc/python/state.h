/* The state of the module rocm_sdk._native. All of it is per module, so each sub-interpreter has its own. */
#ifndef RSDK_PYTHON_STATE_H
#define RSDK_PYTHON_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

/* The structured result types (result_types.c). */
typedef enum rsdk_result_type {
    RSDK_TYPE_LOCATION,
    RSDK_TYPE_LOADED,
    RSDK_TYPE_STEP,
    RSDK_TYPE_PLAN,
    RSDK_TYPE_TARGET,
    RSDK_TYPE_GPU, /* the types from here on are made when they are needed first: Gpu alone, the types of GPU code
                      together */
    RSDK_TYPE_SECTION,
    RSDK_TYPE_DAMAGE,
    RSDK_TYPE_LIBRARY_FACTS,
    RSDK_TYPE_DEVICE_IMAGE,
    RSDK_TYPE_DEVICE_BUNDLE,
    RSDK_TYPE_DEVICE_TARGET,
    RSDK_TYPE_DEVICE_CODE,
    RSDK_TYPE_COMPATIBILITY,
    RSDK_TYPE_GPU_COVERAGE,
    RSDK_TYPE_LIBRARY_COVERAGE,
    RSDK_TYPE_COVERED_TARGET,
    RSDK_TYPE_COVERAGE_FAULT,
    RSDK_TYPE_COVERAGE,
    RSDK_TYPE_BINDING,
    RSDK_TYPE_BINDING_PAIR,
    RSDK_TYPE_BINDINGS,
    RSDK_TYPE_HOST_NEED,
    RSDK_TYPE_UNFOUND,
    RSDK_TYPE_HOST_LACK,
    RSDK_TYPE_HOST_FILE,
    RSDK_TYPE_OTHER_RELEASE,
    RSDK_TYPE_HOST_FILES,
    RSDK_TYPE_COUNT
} rsdk_result_type;

typedef struct rsdk_module_state {
    PyObject *types[RSDK_TYPE_COUNT]; /* owned, as are the next members */
    PyObject *sdk_type;               /* of open_sdk(); NULL: nobody has called it */
    PyObject *loaded; /* dict, the libraries that this interpreter has preloaded: shortname or path -> LoadedLibrary */
    PyObject *preloaded; /* dict, the same by shortname, behind rocm_sdk._ALL_CDLLS: whoever clears that clears this one
                            only */
    bool has_other_functions; /* the functions that an import does without (module.c) */
    int has_reported;         /* ROCM_SDK_REPORT: the first load has written its report */
} rsdk_module_state;

rsdk_module_state *rsdk_state_get(PyObject *module);

/* The brackets around code that makes a part of the state at its first use: where there is no GIL, two threads may come
 * there at once. */
#ifdef Py_BEGIN_CRITICAL_SECTION
#define RSDK_BEGIN_FIRST_USE(module) Py_BEGIN_CRITICAL_SECTION(module)
#define RSDK_END_FIRST_USE()         Py_END_CRITICAL_SECTION()
#else
#define RSDK_BEGIN_FIRST_USE(module) {
#define RSDK_END_FIRST_USE()         }
#endif

#endif
