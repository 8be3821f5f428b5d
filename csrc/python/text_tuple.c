/* Texts of the file system: str is encoded as os.fsencode does. */
#include "text_tuple.h"

#include <stdlib.h>

void rsdk_text_tuple_clear(rsdk_text_tuple *list) {
    free((void *)list->items);
    Py_CLEAR(list->owners);
}

int rsdk_text_tuple_read(PyObject *tuple, rsdk_text_tuple *list) {
    Py_ssize_t count = PyTuple_Size(tuple);
    *list = (rsdk_text_tuple){.owners = PyList_New(0)};
    list->items = count >= 0 ? calloc((size_t)count + 1, sizeof *list->items) : NULL;
    if (list->items == NULL || list->owners == NULL) {
        if (PyErr_Occurred() == NULL) {
            PyErr_NoMemory();
        }
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *bytes = NULL;
        if (!PyUnicode_FSConverter(PyTuple_GetItem(tuple, i), &bytes)) {
            return -1;
        }
        int appended = PyList_Append(list->owners, bytes);
        list->items[list->count++] = PyBytes_AsString(bytes);
        Py_DECREF(bytes);
        if (appended < 0) {
            return -1;
        }
    }
    return 0;
}
