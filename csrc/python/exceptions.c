/* Exceptions and warnings, made by the classes of rocm_sdk.errors, which is imported when one is needed. */
#include "exceptions.h"

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

static PyObject *class_named(const char *name) {
    PyObject *errors = PyImport_ImportModule("rocm_sdk.errors");
    PyObject *class = errors != NULL ? PyObject_GetAttrString(errors, name) : NULL;
    Py_XDECREF(errors);
    return class;
}

void rsdk_exceptions_raise(const rsdk_error *error) {
    rsdk_exceptions_raise_as(exception_names[error->status], error);
}

void rsdk_exceptions_raise_as(const char *class_name, const rsdk_error *error) {
    if (error->status == RSDK_NO_MEMORY) {
        PyErr_NoMemory();
        return;
    }
    PyObject *class = class_named(class_name);
    PyObject *exception = class != NULL
                              ? PyObject_CallFunction(class, "NNNN", rsdk_result_path(rsdk_error_message(error)),
                                                      rsdk_result_path(error->fix), rsdk_result_path(error->path),
                                                      rsdk_result_text(error->code))
                              : NULL;
    if (exception != NULL) {
        PyErr_SetObject(class, exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(class);
}

int rsdk_exceptions_warn(const char *class_name, const char *text) {
    PyObject *class = class_named(class_name);
    PyObject *message = class != NULL ? rsdk_result_path(text) : NULL; /* a path in it may be no UTF-8 */
    int result = message != NULL ? PyErr_WarnFormat(class, 1, "%U", message) : -1;
    Py_XDECREF(message);
    Py_XDECREF(class);
    return result;
}
