/* The functions that tell which GPU code a file holds, and which libraries have code for which GPUs. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/path.h"
#include "device_code/code_files.h"
#include "device_code/file_target.h"
#include "device_code/kernel_database.h"
#include "exceptions.h"
#include "load_arguments.h"
#include "methods.h"
#include "result_types.h"
#include "rocm_sdk/coverage.h"
#include "rocm_sdk/device_code.h"
#include "sdk/environment.h"

PyDoc_STRVAR(
    device_code_doc,
    "device_code(path, /)\n--\n\n"
    "The GPU code that a file holds (DeviceCode): a library, program or object file, a static archive, a code\n"
    "object, an offload bundle, compressed or not, a kpack archive. Only headers are read. Raises BadLibraryError\n"
    "where it is none of them or damaged, LibraryAccessError or LibraryNotFoundError where it cannot be read.");

/* Return the result of reading, which is freed; NULL with an exception where the reading failed. */
static PyObject *build_code(PyObject *module, rsdk_status status, rsdk_device_code *code, rsdk_error *error) {
    PyObject *result = NULL;
    if (rsdk_exceptions_check(status, error)) {
        result = rsdk_result_build(rsdk_state_get(module), RSDK_TYPE_DEVICE_CODE, code);
    }
    rsdk_device_code_free(code);
    return result;
}

static PyObject *device_code(PyObject *module, PyObject *argument) {
    PyObject *path = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_device_code *code = NULL;
    rsdk_status status = RSDK_OK;
    if (rsdk_result_types_add_code(module, rsdk_state_get(module)) < 0 || !PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = rsdk_device_code_read(name, &code, &error);
    Py_END_ALLOW_THREADS PyObject *result = build_code(module, status, code, &error);
    Py_DECREF(path);
    return result;
}

PyDoc_STRVAR(device_code_of_part_doc,
             "device_code_of_part(descriptor, start, size, name, /)\n--\n\n"
             "The same of `size` bytes from `start` of an open file, which messages call `name` (str).");

static PyObject *device_code_of_part(PyObject *module, PyObject *args) {
    PyObject *path = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_device_code *code = NULL;
    rsdk_status status = RSDK_OK;
    unsigned long long start = 0, size = 0;
    int descriptor = -1;
    if (rsdk_result_types_add_code(module, rsdk_state_get(module)) < 0 ||
        !PyArg_ParseTuple(args, "iKKO&", &descriptor, &start, &size, PyUnicode_FSConverter, &path)) {
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = rsdk_device_code_read_part(descriptor, start, size, name, &code, &error);
    Py_END_ALLOW_THREADS PyObject *result = build_code(module, status, code, &error);
    Py_DECREF(path);
    return result;
}

/* ---- coverage ---- */

static rsdk_status read_without_gil(rsdk_coverage_options *options, rsdk_coverage **coverage, rsdk_error *error) {
    rsdk_environment environment;
    rsdk_status status = rsdk_environment_read(&environment, error);
    if (status == RSDK_OK) {
        options->kpack_path = environment.kpack_path;
        options->kpack_disable = environment.kpack_disable;
        options->kpack_path_prefix = environment.kpack_path_prefix;
        Py_BEGIN_ALLOW_THREADS status = rsdk_coverage_read(options, coverage, error);
        Py_END_ALLOW_THREADS
    }
    rsdk_environment_clear(&environment);
    return status;
}

static PyObject *read_coverage(PyObject *module, rsdk_coverage_options *options) {
    rsdk_coverage *coverage = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    PyObject *result = NULL;
    rsdk_status status = read_without_gil(options, &coverage, &error);
    const char *class_name = status == RSDK_BAD_ARGUMENT ? "UnknownTargetError" : rsdk_exceptions_class(status);
    if (rsdk_exceptions_check_as(class_name, status, &error)) {
        result = rsdk_result_build(rsdk_state_get(module), RSDK_TYPE_COVERAGE, coverage);
    }
    rsdk_coverage_free(coverage);
    return result;
}

PyDoc_STRVAR(
    coverage_doc,
    "coverage(directories, gpus, unofficial, spirv=True, /)\n--\n\n"
    "Which libraries below the directories (tuple of str) have code for which GPUs (tuple of str, target ids)\n"
    "(Coverage). unofficial (bool): whether code counts that patched runtimes try. spirv (bool): whether SPIR-V "
    "counts.");

static PyObject *coverage(PyObject *module, PyObject *args) {
    PyObject *directory_tuple = NULL, *gpu_tuple = NULL, *result = NULL;
    rsdk_text_arguments directories = {0}, gpus = {0};
    int is_unofficial = 0, has_spirv = 1;
    if (!PyArg_ParseTuple(args, "O!O!p|p", &PyTuple_Type, &directory_tuple, &PyTuple_Type, &gpu_tuple, &is_unofficial,
                          &has_spirv) ||
        rsdk_result_types_add_code(module, rsdk_state_get(module)) < 0) {
        return NULL;
    }
    if (rsdk_text_arguments_take_paths(&directories, directory_tuple) == 0 &&
        rsdk_text_arguments_take_paths(&gpus, gpu_tuple) == 0) {
        rsdk_coverage_options options = {.directories = directories.items,
                                         .directory_count = directories.count,
                                         .gpus = gpus.items,
                                         .gpu_count = gpus.count,
                                         .patches = is_unofficial ? RSDK_PATCHES_ALL : 0,
                                         .without_spirv = !has_spirv};
        result = read_coverage(module, &options);
    }
    rsdk_text_arguments_clear(&directories);
    rsdk_text_arguments_clear(&gpus);
    return result;
}

/* ---- tables of kernels ---- */

static const char *const kernel_table_kinds[] = {
    [RSDK_CODE_FILE_INDEX] = "index", [RSDK_CODE_FILE_TABLE] = "table", [RSDK_CODE_FILE_TARGETS] = "targets"};

PyDoc_STRVAR(kernel_table_kind_doc,
             "kernel_table_kind(name, /)\n--\n\n"
             "Which of Tensile's tables the name of a file (str) stands for: 'index', 'table' for what an index leads\n"
             "to, 'targets' for hipBLASLt's further lists. None: none.");

static PyObject *kernel_table_kind(PyObject *module, PyObject *argument) {
    (void)module;
    rsdk_code_file_kind kind = RSDK_CODE_FILE_TABLE;
    PyObject *name = NULL;
    if (!PyUnicode_FSConverter(argument, &name)) {
        return NULL;
    }
    bool is_table = rsdk_code_files_table_kind(PyBytes_AsString(name), &kind);
    Py_DECREF(name);
    return is_table ? rsdk_result_text(kernel_table_kinds[kind]) : Py_NewRef(Py_None);
}

PyDoc_STRVAR(kernel_table_names_doc,
             "kernel_table_names(path, /)\n--\n\n"
             "The tables to which one of Tensile's indexes or hipBLASLt's lists leads: a tuple of pairs, the target\n"
             "whose GPUs alone are led there (str; None: any), and the name of the file without what follows the '.'.\n"
             "Raises BadLibraryError where it is damaged or has another name.");

/* Append a pair to a list; return -1 with an exception. */
static int append_pair(PyObject *list, const char *target, const char *name) {
    PyObject *pair = Py_BuildValue("(zN)", target, rsdk_result_path(name));
    int status = pair != NULL ? PyList_Append(list, pair) : -1;
    Py_XDECREF(pair);
    return status;
}

static int append_rows(PyObject *list, const rsdk_kernel_database *database) {
    int status = 0;
    for (size_t i = 0; i < database->rows.count; i++) {
        const rsdk_kernel_row *row = &database->rows.items[i];
        for (size_t k = 0; status == 0 && k < row->tables.count; k++) {
            status = append_pair(list, row->processor, row->tables.items[k]);
        }
    }
    return status;
}

/* Append the names of a list, which has the numbers of kernels of all targets; each is for the target in the name. */
static int append_names(PyObject *list, const rsdk_strings *names) {
    int status = 0;
    for (size_t i = 0; status == 0 && i < names->count; i++) {
        char target[RSDK_TARGET_ID_SIZE];
        bool has_target = rsdk_file_target_find_normal(names->items[i], target);
        status = append_pair(list, has_target ? target : NULL, names->items[i]);
    }
    return status;
}

static PyObject *build_names(const rsdk_kernel_database *database) {
    PyObject *list = PyList_New(0), *result = NULL;
    if (list != NULL && append_rows(list, database) == 0 && append_names(list, &database->names.list) == 0) {
        result = PyList_AsTuple(list);
    }
    Py_XDECREF(list);
    return result;
}

static rsdk_status read_table(const char *path, rsdk_arena *arena, rsdk_kernel_database *database, rsdk_error *error) {
    rsdk_code_file_kind kind = RSDK_CODE_FILE_TABLE;
    bool is_table = rsdk_code_files_table_kind(rsdk_path_name(path), &kind);
    if (is_table && kind == RSDK_CODE_FILE_INDEX) {
        return rsdk_kernel_database_read_index(path, arena, database, error);
    }
    if (is_table && kind == RSDK_CODE_FILE_TARGETS) {
        return rsdk_kernel_database_read_targets(path, arena, database, error);
    }
    return rsdk_fail(error, RSDK_BAD_ELF, path, "%s: its name is not a name of an index of kernels", path);
}

static rsdk_status read_table_without_gil(const char *path, rsdk_arena *arena, rsdk_kernel_database *database,
                                          rsdk_error *error) {
    rsdk_status status = RSDK_OK;
    Py_BEGIN_ALLOW_THREADS status = read_table(path, arena, database, error);
    Py_END_ALLOW_THREADS return status;
}

static PyObject *kernel_table_names(PyObject *module, PyObject *argument) {
    (void)module;
    PyObject *path = NULL, *result = NULL;
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_kernel_database database = {0};
    if (!PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    if (rsdk_exceptions_check(read_table_without_gil(PyBytes_AsString(path), &arena, &database, &error), &error)) {
        result = build_names(&database);
    }
    rsdk_arena_clear(&arena);
    Py_DECREF(path);
    return result;
}

PyMethodDef rsdk_device_code_methods[] = {
    {"device_code", device_code, METH_O, device_code_doc},
    {"device_code_of_part", device_code_of_part, METH_VARARGS, device_code_of_part_doc},
    {"coverage", coverage, METH_VARARGS, coverage_doc},
    {"kernel_table_kind", kernel_table_kind, METH_O, kernel_table_kind_doc},
    {"kernel_table_names", kernel_table_names, METH_O, kernel_table_names_doc},
    {NULL, NULL, 0, NULL},
};
