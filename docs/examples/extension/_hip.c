#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* As <hip/hip_runtime_api.h> declares it; the development tree has that header. */
int hipGetDeviceCount(int *count);

static PyObject *device_count(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const int no_device = 100; /* hipErrorNoDevice */
    int count = 0, status = hipGetDeviceCount(&count);
    if (status != 0 && status != no_device) {
        return PyErr_Format(PyExc_RuntimeError, "hipGetDeviceCount: error %d of HIP", status);
    }
    return PyLong_FromLong(count);
}

static PyMethodDef methods[] = {
    {"device_count", device_count, METH_NOARGS, "Return the number of GPUs that HIP sees."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_hip", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__hip(void) {
    return PyModule_Create(&definition);
}
