/* The function that tells which GPU code a file holds. */
#include "exceptions.h"
#include "methods.h"
#include "result_types.h"
#include "rocm_sdk/device_code.h"

PyDoc_STRVAR(
    device_code_doc,
    "device_code(path, /)\n--\n\n"
    "The GPU code that a file holds (DeviceCode): a library, program or object file, a static archive, a code\n"
    "object, an offload bundle, compressed or not, a kpack archive. Only headers are read. Raises BadLibraryError\n"
    "where it is none of them or damaged, LibraryAccessError or LibraryNotFoundError where it cannot be read.");

static PyObject *device_code(PyObject *module, PyObject *argument) {
    PyObject *path = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_device_code *code = NULL;
    rsdk_status status = RSDK_OK;
    if (rsdk_result_types_add_device_code(module, rsdk_state_get(module)) < 0 ||
        !PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = rsdk_device_code_read(name, &code, &error);
    Py_END_ALLOW_THREADS PyObject *result = NULL;
    if (status == RSDK_OK) {
        result = rsdk_result_build(rsdk_state_get(module), RSDK_TYPE_DEVICE_CODE, code);
    } else {
        rsdk_exceptions_raise(&error, NULL);
    }
    rsdk_error_clear(&error);
    rsdk_device_code_free(code);
    Py_DECREF(path);
    return result;
}

PyDoc_STRVAR(add_device_code_types_doc,
             "add_device_code_types()\n--\n\n"
             "Makes the types DeviceCode, DeviceBundle, DeviceImage and DeviceTarget attributes of this module.");

static PyObject *add_device_code_types(PyObject *module, PyObject *unused) {
    (void)unused;
    return rsdk_result_types_add_device_code(module, rsdk_state_get(module)) < 0 ? NULL : Py_NewRef(Py_None);
}

PyMethodDef rsdk_device_code_methods[] = {
    {"device_code", device_code, METH_O, device_code_doc},
    {"add_device_code_types", add_device_code_types, METH_NOARGS, add_device_code_types_doc},
    {NULL, NULL, 0, NULL},
};
