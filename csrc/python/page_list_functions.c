/* Functions about page lists: the pages of each file that a load touches. */
#include <string.h>

#include "exceptions.h"
#include "loader/read_ahead/page_list.h"
#include "methods.h"
#include "result_types.h"
#include "state.h"

static PyObject *build_part(const rsdk_module_state *state, const void *list, size_t index) {
    (void)state;
    const rsdk_page_range *range = (const rsdk_page_range *)list + index;
    const unsigned long long count = range->last - range->first + 1;
    return Py_BuildValue("(KK)", (unsigned long long)range->first * RSDK_PAGE_SIZE, count * RSDK_PAGE_SIZE);
}

static PyObject *build_paged_file(const rsdk_module_state *state, const void *list, size_t index) {
    const rsdk_paged_file *file = (const rsdk_paged_file *)list + index;
    PyObject *directory = rsdk_result_path(file->directory), *name = rsdk_result_path(file->name);
    PyObject *parts = rsdk_result_tuple(state, build_part, file->ranges.items, file->ranges.count);
    PyObject *result =
        directory != NULL && name != NULL && parts != NULL
            ? Py_BuildValue("(OOKy#KO)", directory, name, (unsigned long long)file->size, (const char *)file->build_id,
                            (Py_ssize_t)file->build_id_size, (unsigned long long)file->build_id_place, parts)
            : NULL;
    Py_XDECREF(parts);
    Py_XDECREF(directory);
    Py_XDECREF(name);
    return result;
}

PyDoc_STRVAR(
    paged_files_doc,
    "paged_files(text, /)\n--\n\n"
    "The files of a page list (tuple of tuples): directory, name, size, build ID, the byte at which it begins,\n"
    "and the parts that a load touches, in whole pages: where each begins, and its bytes. Raises RocmSdkError\n"
    "for a text that is no list.");

static PyObject *paged_files(PyObject *module, PyObject *argument) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_page_list list = {0};
    PyObject *result = NULL;
    char *bytes = NULL;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(argument, &bytes, &size) < 0) {
        return NULL;
    }
    char *text = rsdk_arena_alloc(&arena, (size_t)size + 1, 1);
    if (text == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(text, bytes, (size_t)size);
    text[size] = '\0';
    if (rsdk_exceptions_check(rsdk_page_list_parse("page list", text, (size_t)size, &arena, &list, &error), &error)) {
        result = rsdk_result_tuple(rsdk_state_get(module), build_paged_file, list.files.items, list.files.count);
    }
    rsdk_arena_clear(&arena);
    return result;
}

PyMethodDef rsdk_page_list_methods[] = {
    {"paged_files", paged_files, METH_O, paged_files_doc},
    {NULL, NULL, 0, NULL},
};
