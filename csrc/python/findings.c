/* The builder of findings. */
#include "findings.h"

#include "result_types.h"
#include "rocm_sdk/problem.h"

static PyObject *build_facts(const rsdk_fact *facts, size_t count) {
    PyObject *result = PyDict_New();
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *value = rsdk_result_path(facts[i].value);
        if (value == NULL || PyDict_SetItemString(result, facts[i].name, value) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(value);
    }
    return result;
}

PyObject *rsdk_findings_build(rsdk_code code, const char *path, const rsdk_fact *facts, size_t count) {
    return Py_BuildValue("(sNN)", rsdk_code_name(code), rsdk_result_path(path), build_facts(facts, count));
}
