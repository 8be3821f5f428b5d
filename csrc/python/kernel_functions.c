/* The kernels of a file with their metadata as Python objects. */
#include "device_code/kernels.h"
#include "device_code/message_pack.h"
#include "exceptions.h"
#include "methods.h"
#include "result_types.h"

static PyObject *build_value(rsdk_message *m);

static PyObject *build_bytes(rsdk_message *m) {
    const unsigned char *bytes = NULL;
    if (rsdk_message_bytes(m, &bytes) != RSDK_OK) {
        return PyErr_NoMemory();
    }
    return m->kind == RSDK_MESSAGE_TEXT ? PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)m->number, "replace")
                                        : PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)m->number);
}

/* NOLINTNEXTLINE(misc-no-recursion): the depth was checked */
static PyObject *build_list(rsdk_message *m) {
    PyObject *list = PyList_New(0);
    for (uint64_t left = m->number; list != NULL && left > 0; left--) {
        PyObject *value = build_value(m);
        if (value == NULL || PyList_Append(list, value) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(value);
    }
    return list;
}

/* NOLINTNEXTLINE(misc-no-recursion): the depth was checked */
static PyObject *build_map(rsdk_message *m) {
    PyObject *map = PyDict_New();
    for (uint64_t left = m->number; map != NULL && left > 0; left--) {
        PyObject *key = build_value(m), *value = key != NULL ? build_value(m) : NULL;
        if (value == NULL || PyDict_SetItem(map, key, value) < 0) {
            Py_CLEAR(map);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return map;
}

/* The next value. NULL with an exception where memory is short; the message is sound. */
/* NOLINTNEXTLINE(misc-no-recursion): the depth was checked */
static PyObject *build_value(rsdk_message *m) {
    if (rsdk_message_next(m) != RSDK_OK) {
        return PyErr_NoMemory();
    }
    switch (m->kind) {
    case RSDK_MESSAGE_NIL:
        return Py_NewRef(Py_None);
    case RSDK_MESSAGE_BOOL:
        return PyBool_FromLong((long)m->number);
    case RSDK_MESSAGE_NUMBER:
        return PyLong_FromUnsignedLongLong(m->number);
    case RSDK_MESSAGE_NEGATIVE:
        return PyLong_FromLongLong((long long)m->number);
    case RSDK_MESSAGE_REAL:
        return PyFloat_FromDouble(m->real);
    case RSDK_MESSAGE_TEXT:
    case RSDK_MESSAGE_BYTES:
        return build_bytes(m);
    case RSDK_MESSAGE_ARRAY:
        return build_list(m);
    case RSDK_MESSAGE_MAP:
        break;
    }
    return build_map(m);
}

static PyObject *build_kernel(const rsdk_kernel_reader *reader, const rsdk_kernel *kernel) {
    rsdk_message m;
    rsdk_extent extent = {&reader->file, 0, kernel->metadata_size};
    rsdk_message_init_bytes(&m, kernel->metadata, &extent, NULL);
    return Py_BuildValue("(NnNN)", rsdk_result_path(reader->target), (Py_ssize_t)reader->bundle,
                         PyUnicode_DecodeUTF8(kernel->name, (Py_ssize_t)kernel->name_size, "replace"),
                         kernel->metadata != NULL ? build_value(&m) : PyDict_New());
}

static int append_kernels(PyObject *list, const rsdk_kernel_reader *reader) {
    int status = 0;
    for (size_t i = 0; status == 0 && i < reader->kernels.count; i++) {
        PyObject *kernel = build_kernel(reader, &reader->kernels.items[i]);
        status = kernel != NULL ? PyList_Append(list, kernel) : -1;
        Py_XDECREF(kernel);
    }
    return status;
}

/* Read the kernels into a list; return -1 with an exception. */
static int read_kernels(const char *path, int scratch, PyObject *list) {
    rsdk_kernel_reader reader;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = RSDK_OK;
    bool has_more = true;
    int result = 0;
    Py_BEGIN_ALLOW_THREADS status = rsdk_kernels_open(&reader, path, scratch, &error);
    Py_END_ALLOW_THREADS while (status == RSDK_OK && result == 0 && has_more) {
        Py_BEGIN_ALLOW_THREADS status = rsdk_kernels_next(&reader, &has_more, &error);
        Py_END_ALLOW_THREADS result = status == RSDK_OK ? append_kernels(list, &reader) : 0;
        result = result == 0 ? PyErr_CheckSignals() : result;
    }
    result = rsdk_exceptions_check(status, &error) ? result : -1;
    rsdk_kernels_close(&reader);
    return result;
}

PyDoc_STRVAR(
    kernels_doc,
    "kernels(path, scratch, /)\n--\n\n"
    "The kernels of each code object of a file, in their order: a list of tuples of the target (str), the number\n"
    "of the bundle, the name as the compiler writes it, and the metadata (dict; {} for code objects of version\n"
    "2). scratch: the descriptor of a file for code that has to be decompressed. Raises what device_code does.");

static PyObject *kernels(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *path = NULL, *list = NULL;
    int scratch = -1;
    if (!PyArg_ParseTuple(args, "O&i", PyUnicode_FSConverter, &path, &scratch)) {
        return NULL;
    }
    list = PyList_New(0);
    if (list != NULL && read_kernels(PyBytes_AsString(path), scratch, list) < 0) {
        Py_CLEAR(list);
    }
    Py_DECREF(path);
    return list;
}

PyMethodDef rsdk_kernel_methods[] = {
    {"kernels", kernels, METH_VARARGS, kernels_doc},
    {NULL, NULL, 0, NULL},
};
