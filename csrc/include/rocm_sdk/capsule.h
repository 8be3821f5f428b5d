/* The library inside the Python package rocm_sdk, for other extension modules, which need not link with anything.
 *
 *     #include <Python.h>
 *     #include <rocm_sdk/capsule.h>
 *
 *     const rsdk_capsule *rocm = rsdk_capsule_import();
 *     if (rocm == NULL) { return NULL; } // an exception is set
 *     rocm->sdk_open(&options, &sdk, &error);
 *
 * The members are the functions of the other headers, without "rsdk_". The functions know nothing of Python: release
 * the GIL around calls that read files or load libraries. */
#ifndef ROCM_SDK_CAPSULE_H
#define ROCM_SDK_CAPSULE_H

#include <stddef.h>

#include "rocm_sdk/rocm_sdk.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RSDK_CAPSULE_NAME "rocm_sdk._native._C_API"

/* Raised when a member, or a type that it takes or returns, changes its meaning or layout. */
#define RSDK_CAPSULE_VERSION 1U

/* The functions of the C library. New members are appended. A member that lies behind `size` is not there. */
typedef struct rsdk_capsule {
    size_t size; /* bytes of this structure, in the package that is installed */
    unsigned version;
    const char *loader_version; /* RSDK_VERSION of that package */

    __typeof__(rsdk_error_clear) *error_clear;
    __typeof__(rsdk_error_message) *error_message;
    __typeof__(rsdk_problem_of_error) *problem_of_error;
    __typeof__(rsdk_problem_make) *problem_make;
    __typeof__(rsdk_problem_free) *problem_free;

    __typeof__(rsdk_sdk_open) *sdk_open;
    __typeof__(rsdk_sdk_free) *sdk_free;
    __typeof__(rsdk_sdk_version) *sdk_version;
    __typeof__(rsdk_sdk_package_directory) *sdk_package_directory;
    __typeof__(rsdk_sdk_warning_count) *sdk_warning_count;
    __typeof__(rsdk_sdk_warning) *sdk_warning;

    __typeof__(rsdk_loader_locate) *loader_locate;
    __typeof__(rsdk_plan_new) *plan_new;
    __typeof__(rsdk_plan_free) *plan_free;
    __typeof__(rsdk_plan_step_count) *plan_step_count;
    __typeof__(rsdk_plan_step) *plan_step;
    __typeof__(rsdk_loader_preload) *loader_preload;
    __typeof__(rsdk_loader_preload_for) *loader_preload_for;
    __typeof__(rsdk_loaded_free) *loaded_free;
    __typeof__(rsdk_loaded_count) *loaded_count;
    __typeof__(rsdk_loaded_library) *loaded_library;
    __typeof__(rsdk_loaded_opened_count) *loaded_opened_count;
    __typeof__(rsdk_loaded_opened) *loaded_opened;
    __typeof__(rsdk_loaded_warning_count) *loaded_warning_count;
    __typeof__(rsdk_loaded_warning) *loaded_warning;

    __typeof__(rsdk_gpu_list_new) *gpu_list_new;
    __typeof__(rsdk_gpu_list_free) *gpu_list_free;
    __typeof__(rsdk_gpu_list_count) *gpu_list_count;
    __typeof__(rsdk_gpu_list_get) *gpu_list_get;
    __typeof__(rsdk_gpu_list_problem_count) *gpu_list_problem_count;
    __typeof__(rsdk_gpu_list_problem) *gpu_list_problem;
    __typeof__(rsdk_compatibility_check) *compatibility_check;
} rsdk_capsule;

#ifdef Py_PYTHON_H
/* Raise an exception that names the missing distribution, in the place of "No module named 'rocm_sdk'" (or
 * 'rocm_sdk._native', where the package is another one of this name). Other exceptions of the import stay as they are.
 */
static inline void rsdk_capsule_explain_absence(void) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *name = error != NULL ? PyObject_GetAttrString(error, "name") : NULL;
    if (name == NULL || !PyUnicode_Check(name) ||
        (PyUnicode_CompareWithASCIIString(name, "rocm_sdk") != 0 &&
         PyUnicode_CompareWithASCIIString(name, "rocm_sdk._native") != 0)) {
        PyErr_Restore(type, error, trace);
        Py_XDECREF(name);
        return;
    }
    PyObject *message = PyUnicode_FromFormat(
        "No module named '%U': this extension needs rocm-sdk-loader, which is not installed in this environment", name);
    if (message != NULL) {
        PyErr_SetImportErrorSubclass(PyExc_ModuleNotFoundError, message, name, NULL);
    }
    Py_XDECREF(message);
    Py_DECREF(name);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

/* Import rocm_sdk, and return its functions, which are valid for as long as the process lives. Return NULL if the
 * package is not installed, with a ModuleNotFoundError that names the distribution; if the package lacks something that
 * this header declares, with an ImportError; or if the import fails, with its exception. Limited API. */
static inline const rsdk_capsule *rsdk_capsule_import(void) {
    PyObject *package = PyImport_ImportModule("rocm_sdk._native");
    if (package == NULL) {
        if (PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
            rsdk_capsule_explain_absence();
        }
        return NULL;
    }
    Py_DECREF(package);
    const rsdk_capsule *capsule = (const rsdk_capsule *)PyCapsule_Import(RSDK_CAPSULE_NAME, 0);
    if (capsule == NULL) {
        return NULL;
    }
    if (capsule->version != RSDK_CAPSULE_VERSION) {
        PyErr_Format(PyExc_ImportError,
                     "the installed rocm-sdk-loader has version %u of the C API, and this extension needs %u: install "
                     "an extension that was built for it",
                     capsule->version, RSDK_CAPSULE_VERSION);
        return NULL;
    }
    if (capsule->size < sizeof(rsdk_capsule)) {
        PyErr_Format(PyExc_ImportError,
                     "rocm-sdk-loader %s is older than this extension, which needs the C API of %s: upgrade "
                     "rocm-sdk-loader",
                     capsule->loader_version, RSDK_VERSION);
        return NULL;
    }
    return capsule;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
