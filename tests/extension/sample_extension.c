/* An extension module that calls the C library through the capsule of rocm_sdk, and is linked with nothing of it.
 * Written in what C17 and C++17 have in common. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <rocm_sdk/capsule.h>
#include <string.h>

static const rsdk_capsule *rocm;

/* Raises what an error means. `sdk` may be NULL. */
static void raise_problem(rsdk_error *error, rsdk_sdk *sdk) {
    rsdk_problem *problem = NULL;
    if (rocm->problem_of_error(error, sdk, NULL, &problem) == RSDK_OK) {
        PyErr_Format(PyExc_RuntimeError, "%s %s; %s", problem->code, rocm->error_message(error), problem->fix);
        rocm->problem_free(problem);
    } else {
        PyErr_NoMemory();
    }
    rocm->error_clear(error);
}

/* What the plan says of a library, and where it was loaded from: (method, path). */
static PyObject *load(rsdk_sdk *sdk, const char *name) {
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_load_options options;
    memset(&options, 0, sizeof options);
    options.shortnames = &name;
    options.shortname_count = 1;
    rsdk_plan *plan = NULL;
    rsdk_loaded *loaded = NULL;
    PyObject *result = NULL;
    PyThreadState *thread = PyEval_SaveThread(); /* other threads of Python run while libraries are loaded */
    rsdk_status status = rocm->plan_new(sdk, &options, &plan, &error);
    if (status == RSDK_OK) {
        status = rocm->loader_preload(sdk, &options, &loaded, &error);
    }
    PyEval_RestoreThread(thread);
    if (status != RSDK_OK) {
        raise_problem(&error, sdk);
    } else {
        result = Py_BuildValue("(ns)", (Py_ssize_t)rocm->plan_step_count(plan),
                               rocm->loaded_library(loaded, 0)->location.path);
    }
    rocm->loaded_free(loaded);
    rocm->plan_free(plan);
    return result;
}

static PyObject *preload(PyObject *module, PyObject *args) {
    (void)module;
    const char *site = NULL, *name = NULL;
    if (!PyArg_ParseTuple(args, "ss", &site, &name)) {
        return NULL;
    }
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_sdk_options where;
    memset(&where, 0, sizeof where);
    where.search_path = &site;
    where.search_path_count = 1;
    rsdk_sdk *sdk = NULL;
    if (rocm->sdk_open(&where, &sdk, &error) != RSDK_OK) {
        raise_problem(&error, NULL);
        return NULL;
    }
    PyObject *result = load(sdk, name);
    rocm->sdk_free(sdk);
    return result;
}

static PyObject *targets(PyObject *module, PyObject *root) {
    (void)module;
    PyObject *path = PyUnicode_AsUTF8String(root);
    if (path == NULL) {
        return NULL;
    }
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_gpu_options options;
    memset(&options, 0, sizeof options);
    options.root = PyBytes_AsString(path);
    rsdk_gpu_list *list = NULL;
    PyObject *result = NULL;
    if (rocm->gpu_list_new(&options, &list, &error) != RSDK_OK) {
        raise_problem(&error, NULL);
    } else {
        result = PyList_New(0);
    }
    for (size_t i = 0; result != NULL && i < rocm->gpu_list_count(list); i++) {
        PyObject *target = PyUnicode_FromString(rocm->gpu_list_get(list, i)->target);
        if (target == NULL || PyList_Append(result, target) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(target);
    }
    rocm->gpu_list_free(list);
    Py_DECREF(path);
    return result;
}

static PyMethodDef methods[] = {
    {"preload", preload, METH_VARARGS, NULL},
    {"targets", targets, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "sample_extension", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_sample_extension(void) {
    rocm = rsdk_capsule_import();
    return rocm != NULL ? PyModule_Create(&definition) : NULL;
}
