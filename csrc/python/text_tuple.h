/* A tuple of str or bytes of Python as texts of C. */
#ifndef RSDK_PYTHON_TEXT_TUPLE_H
#define RSDK_PYTHON_TEXT_TUPLE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The texts live as long as `owners`, a list of bytes objects. */
typedef struct rsdk_text_tuple {
    const char **items;
    size_t count;
    PyObject *owners;
} rsdk_text_tuple;

/* Read a tuple; return -1 with an exception. The list is to be cleared in both cases. */
int rsdk_text_tuple_read(PyObject *tuple, rsdk_text_tuple *list);
void rsdk_text_tuple_clear(rsdk_text_tuple *list);

#endif
