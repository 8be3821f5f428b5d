/* Functions about names that users type. */
#include "base/nearest.h"
#include "methods.h"
#include "result_types.h"

/* Return an item of a tuple of str that are all known to have UTF-8. */
static const char *name_at(const void *names, size_t index) {
    return PyUnicode_AsUTF8AndSize(PyTuple_GetItem((PyObject *)names, (Py_ssize_t)index), NULL);
}

PyDoc_STRVAR(
    nearest_names_doc,
    "nearest_names(name, names, limit=3)\n--\n\n"
    "The names of `names` (tuple of str) that `name` may have been meant for, the nearest first: `limit` at most, "
    "and\nnever more than 16 (tuple of str).");

static PyObject *nearest_names(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"name", "names", "limit", NULL};
    const char *name = NULL, *nearest[RSDK_NEAREST_LIMIT];
    PyObject *names = NULL;
    unsigned limit = 3;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO!|I", keywords, &name, &PyTuple_Type, &names, &limit)) {
        return NULL;
    }
    const rsdk_name_list list = {.get = name_at, .context = names, .count = (size_t)PyTuple_Size(names)};
    for (size_t i = 0; i < list.count; i++) {
        if (name_at(names, i) == NULL) {
            return NULL;
        }
    }
    return rsdk_result_paths(nearest, rsdk_nearest_find(name, &list, nearest, limit));
}

PyMethodDef rsdk_name_methods[] = {
    {"nearest_names", WITH_KEYWORDS(nearest_names), METH_VARARGS | METH_KEYWORDS, nearest_names_doc},
    {NULL, NULL, 0, NULL},
};
