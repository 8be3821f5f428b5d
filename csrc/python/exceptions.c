/* Exceptions and warnings, made by the classes of rocm_sdk.errors, which is imported when one is needed. */
#include "exceptions.h"

#include "base/fail.h"
#include "diagnosis/finding.h"
#include "result_types.h"

static const char *const exception_names[] = {
    [RSDK_OK] = "RocmSdkError",
    [RSDK_NO_MEMORY] = "RocmSdkError",
    [RSDK_BAD_ARGUMENT] = "RocmSdkError",
    [RSDK_IO_ERROR] = "LibraryAccessError",
    [RSDK_BAD_ELF] = "BadLibraryError",
    [RSDK_BAD_METADATA] = "BadMetadataError",
    [RSDK_UNKNOWN_LIBRARY] = "UnknownLibraryError",
    [RSDK_PACKAGE_NOT_INSTALLED] = "PackageNotInstalledError",
    [RSDK_FILE_NOT_FOUND] = "LibraryNotFoundError",
    [RSDK_LOAD_FAILED] = "LibraryLoadError",
};

const char *rsdk_exceptions_class(rsdk_status status) {
    return exception_names[status];
}

/* Return the name of the class for an error. A variable with a wrong value is what callers must be able to catch. */
static const char *class_of(const rsdk_error *error) {
    bool is_variable = error->status == RSDK_BAD_ARGUMENT && error->code == RSDK_E_ENV_008;
    return is_variable ? "EnvironmentOverrideError" : rsdk_exceptions_class(error->status);
}

void rsdk_exceptions_raise(const rsdk_error *error, rsdk_sdk *sdk) {
    rsdk_exceptions_raise_as(class_of(error), error, sdk);
}

static const char *fact_of(const rsdk_error *error, const char *name) {
    return rsdk_fact_find(error->facts, error->fact_count, name);
}

/* Make the exception in Python, which knows how the SDK was installed. */
static PyObject *make_exception(PyObject *class, const rsdk_error *error, const rsdk_finding *finding) {
    PyObject *problems = PyImport_ImportModule("rocm_sdk.problems");
    PyObject *found = rsdk_result_finding(finding->code, finding->path, finding->facts.items, finding->facts.count);
    PyObject *result =
        problems != NULL && found != NULL
            ? PyObject_CallMethod(problems, "exception", "OO(NN)NN", class, found,
                                  rsdk_result_path(rsdk_error_message(error)),
                                  rsdk_result_path(rsdk_error_detail(error)),
                                  rsdk_result_path(error->status == RSDK_LOAD_FAILED ? fact_of(error, "name") : NULL),
                                  rsdk_result_path(fact_of(error, "before")))
            : NULL;
    Py_XDECREF(found);
    Py_XDECREF(problems);
    return result;
}

void rsdk_exceptions_raise_as(const char *class_name, const rsdk_error *error, rsdk_sdk *sdk) {
    rsdk_finding finding = {0};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_status status = error->status;
    if (status != RSDK_NO_MEMORY) {
        Py_BEGIN_ALLOW_THREADS status = rsdk_cause_of_error(error, sdk, &arena, &finding);
        Py_END_ALLOW_THREADS
    }
    if (status == RSDK_NO_MEMORY) {
        PyErr_NoMemory();
    } else {
        PyObject *errors = PyImport_ImportModule("rocm_sdk.errors");
        PyObject *class = errors != NULL ? PyObject_GetAttrString(errors, class_name) : NULL;
        Py_XDECREF(errors);
        PyObject *exception = class != NULL ? make_exception(class, error, &finding) : NULL;
        if (exception != NULL) {
            PyErr_SetObject(class, exception);
        }
        Py_XDECREF(exception);
        Py_XDECREF(class);
    }
    rsdk_arena_clear(&arena);
}

/* The warning is issued in Python, which finds the line of the caller. */
bool rsdk_exceptions_check_as(const char *class_name, rsdk_status status, rsdk_error *error) {
    if (status != RSDK_OK) {
        rsdk_exceptions_raise_as(class_name, error, NULL);
    }
    rsdk_error_clear(error);
    return status == RSDK_OK;
}

bool rsdk_exceptions_check(rsdk_status status, rsdk_error *error) {
    return rsdk_exceptions_check_as(class_of(error), status, error);
}

int rsdk_exceptions_warn(const char *class_name, const char *text) {
    PyObject *errors = PyImport_ImportModule("rocm_sdk.errors");
    PyObject *class = errors != NULL ? PyObject_GetAttrString(errors, class_name) : NULL;
    PyObject *message = class != NULL ? rsdk_result_path(text) : NULL; /* a path in it may not be UTF-8 */
    PyObject *none = message != NULL ? PyObject_CallMethod(errors, "warn", "OO", message, class) : NULL;
    int result = none != NULL ? 0 : -1;
    Py_XDECREF(none);
    Py_XDECREF(message);
    Py_XDECREF(class);
    Py_XDECREF(errors);
    return result;
}
