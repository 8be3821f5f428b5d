/* The functions of the module, by subject: one table in each *_functions.c. */
#ifndef RSDK_PYTHON_METHODS_H
#define RSDK_PYTHON_METHODS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* CPython's own types for functions with keywords do not convert without this cast. */
#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

extern PyMethodDef rsdk_loader_methods[];
extern PyMethodDef rsdk_page_list_methods[];
extern PyMethodDef rsdk_binding_methods[];
extern PyMethodDef rsdk_sdk_methods[];
extern PyMethodDef rsdk_sdk_type_methods[];
extern PyMethodDef rsdk_gpu_methods[];
extern PyMethodDef rsdk_target_methods[];
extern PyMethodDef rsdk_inspect_methods[];
extern PyMethodDef rsdk_device_code_methods[];
extern PyMethodDef rsdk_name_methods[];
extern PyMethodDef rsdk_problem_methods[];
extern PyMethodDef rsdk_report_methods[];

/* Add _C_API to the module: the capsule through which other extensions call the C library. Return -1 with an
 * exception. */
int rsdk_capsule_add(PyObject *module);

#endif
