/* Findings as Python objects: the arguments of the functions of rocm_sdk.problems. */
#ifndef RSDK_PYTHON_FINDINGS_H
#define RSDK_PYTHON_FINDINGS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "rocm_sdk/code.h"

/* Build (code, path, facts): a str, a str or None, a dict of str. NULL with an exception. */
PyObject *rsdk_findings_build(rsdk_code code, const char *path, const rsdk_fact *facts, size_t count);

#endif
