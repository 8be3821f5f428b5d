/* Taking arguments. */
#include "load_arguments.h"

#include <stdlib.h>
#include <string.h>

void rsdk_text_arguments_clear(rsdk_text_arguments *texts) {
    Py_CLEAR(texts->owner);
    free(texts->items);
    texts->items = NULL;
}

int rsdk_text_arguments_take_shortnames(rsdk_text_arguments *texts, PyObject *args) {
    Py_ssize_t count = PyTuple_Size(args);
    *texts = (rsdk_text_arguments){
        .owner = Py_NewRef(args), .items = calloc((size_t)count + 1, sizeof *texts->items), .count = (size_t)count};
    if (texts->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(args, i); /* borrowed */
        Py_ssize_t length = 0;
        if (!PyUnicode_Check(name)) {
            PyErr_Format(PyExc_TypeError,
                         "a library shortname must be a str, not %R; several names are several arguments",
                         (PyObject *)Py_TYPE(name));
            return -1;
        }
        texts->items[i] = PyUnicode_AsUTF8AndSize(name, &length);
        if (texts->items[i] == NULL) {
            return -1;
        }
        if (strlen(texts->items[i]) != (size_t)length) {
            PyErr_SetString(PyExc_ValueError, "embedded null character in a library shortname");
            return -1;
        }
    }
    return 0;
}

int rsdk_text_arguments_take_paths(rsdk_text_arguments *texts, PyObject *args) {
    Py_ssize_t count = PyTuple_Size(args);
    *texts = (rsdk_text_arguments){
        .owner = PyTuple_New(count), .items = calloc((size_t)count + 1, sizeof *texts->items), .count = (size_t)count};
    if (texts->owner == NULL || texts->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *bytes = NULL;
        if (!PyUnicode_FSConverter(PyTuple_GetItem(args, i), &bytes) || PyTuple_SetItem(texts->owner, i, bytes) < 0) {
            return -1;
        }
        texts->items[i] = PyBytes_AsString(bytes);
    }
    return 0;
}

int rsdk_text_arguments_take_files(rsdk_text_arguments *texts, PyObject *files) {
    if (files != NULL && (PyUnicode_Check(files) || PyBytes_Check(files))) { /* whose items would be letters */
        PyErr_Format(PyExc_TypeError, "files is a list of paths, not %R: write [%R]", files, files);
        return -1;
    }
    PyObject *list = files != NULL ? PySequence_Tuple(files) : PyTuple_New(0);
    int result = list != NULL ? rsdk_text_arguments_take_paths(texts, list) : -1;
    Py_XDECREF(list);
    return result;
}

static const char *const keyword_names[RSDK_KEYWORD_COUNT] = {
    [RSDK_KEYWORD_OVERRIDES] = "overrides",
    [RSDK_KEYWORD_FALLBACK] = "fallback",
    [RSDK_KEYWORD_RTLD_GLOBAL] = "rtld_global",
    [RSDK_KEYWORD_UNVERSIONED_NAMES] = "unversioned_names",
    [RSDK_KEYWORD_FILES] = "files",
    [RSDK_KEYWORD_NEW_PROCESS] = "new_process",
    [RSDK_KEYWORD_EVERY] = "every",
};

int rsdk_keyword_arguments_take(rsdk_keyword_arguments *keywords, PyObject *kwargs, unsigned accepted) {
    PyObject *name = NULL, *value = NULL;
    Py_ssize_t position = 0;
    *keywords = (rsdk_keyword_arguments){.values = {NULL}};
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &name, &value)) {
        unsigned which = 0;
        while (which < RSDK_KEYWORD_COUNT &&
               ((accepted >> which & 1U) == 0 || PyUnicode_CompareWithASCIIString(name, keyword_names[which]) != 0)) {
            which++;
        }
        if (which == RSDK_KEYWORD_COUNT) {
            PyErr_Format(PyExc_TypeError, "'%S' is an invalid keyword argument for this function", name);
            return -1;
        }
        keywords->values[which] = value;
    }
    return 0;
}

int rsdk_keyword_arguments_is_true(const rsdk_keyword_arguments *keywords, rsdk_keyword keyword) {
    return keywords->values[keyword] != NULL ? PyObject_IsTrue(keywords->values[keyword]) : 0;
}

bool rsdk_keyword_arguments_is_open(const rsdk_keyword_arguments *keywords, rsdk_keyword keyword) {
    return keywords->values[keyword] == NULL || keywords->values[keyword] == Py_None;
}

int rsdk_keyword_arguments_take_scope(const rsdk_keyword_arguments *keywords, const rsdk_environment *environment,
                                      rsdk_load_options *options) {
    bool is_open = rsdk_keyword_arguments_is_open(keywords, RSDK_KEYWORD_RTLD_GLOBAL);
    int is_true = is_open ? 0 : rsdk_keyword_arguments_is_true(keywords, RSDK_KEYWORD_RTLD_GLOBAL);
    options->is_global = is_open || is_true > 0;
    options->is_always_global = is_true > 0;
    options->isolate = environment->isolate;
    return is_true < 0 ? -1 : 0;
}
