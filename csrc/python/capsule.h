/* The capsule through which other extensions call the C library. */
#ifndef RSDK_PYTHON_CAPSULE_H
#define RSDK_PYTHON_CAPSULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Add _C_API to the module; return -1 with an exception. */
int rsdk_capsule_add(PyObject *module);

#endif
