/* The extension of the empty package that import is compared with: it links libelf and does next to nothing. Its one
 * function is the bare loop of dlopen that initialize_process is compared with. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <dlfcn.h>
#include <libelf.h>

/* open_all([(path, is_global), ...]): opens each file, in this order; OSError with the dlerror text if one fails. */
static PyObject *open_all(PyObject *module, PyObject *steps) {
    (void)module;
    for (Py_ssize_t i = 0; i < PyList_Size(steps); i++) {
        const char *path = NULL;
        int is_global = 0;
        if (!PyArg_ParseTuple(PyList_GetItem(steps, i), "sp", &path, &is_global)) {
            return NULL;
        }
        if (dlopen(path, RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL)) == NULL) {
            return PyErr_Format(PyExc_OSError, "%s", dlerror());
        }
    }
    Py_RETURN_NONE;
}

static int start_libelf(PyObject *module) {
    (void)module;
    return elf_version(EV_CURRENT) == EV_NONE ? -1 : 0;
}

static PyMethodDef methods[] = {{"open_all", open_all, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)start_libelf}, {0, NULL}};
static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "_native", .m_methods = methods, .m_slots = slots};

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(&definition);
}
