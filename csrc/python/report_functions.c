/* Functions about reports of ranks and nodes. */
#include <unistd.h>

#include "diagnosis/rank.h"
#include "diagnosis/tables.h"
#include "methods.h"
#include "result_types.h"
#include "rocm_sdk/report.h"

PyDoc_STRVAR(report_name_doc,
             "report_name(pattern, /)\n--\n\n"
             "The pattern with %h (host), %n (node), %t (task, else 0), %p (process) and %% filled in (str).\n\n"
             "A value that is filled in is one part of a path at most. Raises ValueError for another letter.");

static PyObject *report_name(PyObject *module, PyObject *pattern) {
    (void)module;
    PyObject *bytes = NULL, *result = NULL;
    if (!PyUnicode_FSConverter(pattern, &bytes)) {
        return NULL;
    }
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_rank rank;
    const char *name = NULL;
    rsdk_rank_read((const char *const *)environ, &rank);
    rsdk_status status = rsdk_rank_fill_in(&rank, PyBytes_AsString(bytes), &arena, &name, &error);
    if (status == RSDK_OK) {
        result = rsdk_result_path(name);
    } else if (status == RSDK_NO_MEMORY) {
        (void)PyErr_NoMemory();
    } else {
        PyErr_SetString(PyExc_ValueError, rsdk_error_message(&error));
    }
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    Py_DECREF(bytes);
    return result;
}

PyDoc_STRVAR(report_has_variable_doc, "report_has_variable(name, /)\n--\n\n"
                                      "Whether reports name the environment variable (bool).");
PyDoc_STRVAR(report_shows_variable_doc,
             "report_shows_variable(name, /)\n--\n\n"
             "Whether reports show the value of the environment variable (bool). Others may be secrets.");

static PyObject *ask(PyObject *name, bool (*question)(const char *)) {
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(name, &bytes)) {
        return NULL;
    }
    PyObject *result = PyBool_FromLong(question(PyBytes_AsString(bytes)));
    Py_DECREF(bytes);
    return result;
}

static PyObject *report_has_variable(PyObject *module, PyObject *name) {
    (void)module;
    return ask(name, rsdk_report_has_variable);
}

static PyObject *report_shows_variable(PyObject *module, PyObject *name) {
    (void)module;
    return ask(name, rsdk_report_shows_variable);
}

PyDoc_STRVAR(inherited_variables_doc,
             "inherited_variables()\n--\n\n"
             "The variables that a parent leaves to its children: name, what the value is (\"file\", \"directory\",\n"
             "\"list\", \"switch\"), whether profilers set it, who sets it, what goes wrong (tuple of tuples).");

static PyObject *build_inherited(const rsdk_module_state *state, const void *rows, size_t index) {
    static const char *const kinds[] = {[RSDK_VALUE_FILE] = "file",
                                        [RSDK_VALUE_DIRECTORY] = "directory",
                                        [RSDK_VALUE_LIST] = "list",
                                        [RSDK_VALUE_SWITCH] = "switch"};
    const rsdk_inherited_variable *row = &((const rsdk_inherited_variable *)rows)[index];
    (void)state;
    return Py_BuildValue("(ssNss)", row->name, kinds[row->kind], PyBool_FromLong(row->is_of_profilers), row->set_by,
                         row->harm);
}

static PyObject *inherited_variables(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return rsdk_result_tuple(NULL, build_inherited, rsdk_inherited_variables, rsdk_inherited_variable_count);
}

PyMethodDef rsdk_report_methods[] = {
    {"inherited_variables", inherited_variables, METH_NOARGS, inherited_variables_doc},
    {"report_name", report_name, METH_O, report_name_doc},
    {"report_has_variable", report_has_variable, METH_O, report_has_variable_doc},
    {"report_shows_variable", report_shows_variable, METH_O, report_shows_variable_doc},
    {NULL, NULL, 0, NULL},
};
