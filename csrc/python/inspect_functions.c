/* Functions that tell the facts of a library's file, for `rocm-sdk test`. The functions load nothing. */
#include <string.h>

#include "base/fail.h"
#include "binding/host_check.h"
#include "elf/elf_file.h"
#include "elf/elf_header.h"
#include "elf/elf_layout.h"
#include "elf/elf_machine.h"
#include "elf/elf_sections.h"
#include "exceptions.h"
#include "load_arguments.h"
#include "methods.h"
#include "result_types.h"
#include "sdk/tables.h"

typedef struct inspection {
    const char *path;
    bool takes_names;
    rsdk_arena arena;
    rsdk_inspection facts;
} inspection;

/* Turn an error about the file's content into a damage, unless other damages were found, which say enough. */
static rsdk_status take_damage(inspection *i, rsdk_error *error) {
    if (i->facts.damages.count == 0) {
        rsdk_elf_damage damage = {.code = error->code != RSDK_NO_CODE ? error->code : RSDK_E_LIB_006,
                                  .message = rsdk_arena_copy(&i->arena, rsdk_error_message(error)),
                                  .detail = rsdk_arena_copy(&i->arena, rsdk_error_detail(error))};
        RSDK_NEED(damage.message, error);
        RSDK_NEED(damage.detail, error);
        RSDK_APPEND(&i->arena, &i->facts.damages, damage, error);
    }
    rsdk_error_clear(error);
    return RSDK_OK;
}

/* Inspect an open file. A file for another machine has one damage: its layout is not checked. */
static rsdk_status inspect_opened(inspection *i, const rsdk_file *opened, rsdk_error *error) {
    RSDK_TRY(rsdk_elf_file_read_opened(opened, &i->arena, &i->facts.file, error));
    if (rsdk_elf_machine_check(&i->facts.file, error) != RSDK_OK) {
        RSDK_TRY(take_damage(i, error));
    } else {
        RSDK_TRY(rsdk_elf_layout_find_damages(opened, &i->arena, &i->facts.damages, error));
        /* Look for faults that the loader would refuse, in all relocations. */
        rsdk_status status = rsdk_elf_file_check_opened(opened, error);
        RSDK_TRY(status == RSDK_BAD_ELF ? take_damage(i, error) : status);
    }
    rsdk_status status = rsdk_elf_sections_read_within(opened, 0, opened->size, &i->arena, &i->facts.sections, error);
    if (status == RSDK_OK && i->takes_names) {
        status = rsdk_elf_library_names_read(opened, &i->facts.sections, &i->arena, &i->facts.opened, error);
    }
    return status == RSDK_BAD_ELF ? take_damage(i, error) : status;
}

/* Inspect a file, without the GIL. */
static rsdk_status inspect(inspection *i, rsdk_error *error) {
    rsdk_file file = {0};
    RSDK_TRY(rsdk_file_open(i->path, &file, error));
    rsdk_status status = inspect_opened(i, &file, error);
    rsdk_file_close(&file);
    return status;
}

PyDoc_STRVAR(
    inspect_library_doc,
    "inspect_library(path, takes_names=False, /)\n--\n\n"
    "What the file of a shared library says of itself (LibraryFacts), with the names of libraries among its constants\n"
    "where they are asked for. Raises BadLibraryError where it is none,\n"
    "LibraryAccessError or LibraryNotFoundError where it cannot be read.");

static PyObject *inspect_library(PyObject *module, PyObject *args) {
    PyObject *path = NULL;
    int takes_names = 0;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = RSDK_OK;
    if (rsdk_result_types_add_others(module, rsdk_state_get(module)) < 0 ||
        !PyArg_ParseTuple(args, "O&|p", PyUnicode_FSConverter, &path, &takes_names)) {
        return NULL;
    }
    inspection i = {.path = PyBytes_AsString(path), .takes_names = takes_names != 0};
    Py_BEGIN_ALLOW_THREADS status = inspect(&i, &error);
    Py_END_ALLOW_THREADS PyObject *result = NULL;
    if (rsdk_exceptions_check(status, &error)) {
        result = rsdk_result_build(rsdk_state_get(module), RSDK_TYPE_LIBRARY_FACTS, &i.facts);
    }
    rsdk_arena_clear(&i.arena);
    Py_DECREF(path);
    return result;
}

static PyObject *run_host_check(PyObject *module, const rsdk_host_check *check) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_host_files files = {0};
    rsdk_status status = RSDK_OK;
    Py_BEGIN_ALLOW_THREADS status = rsdk_host_check_run(check, &arena, &files, &error);
    Py_END_ALLOW_THREADS PyObject *result = NULL;
    if (rsdk_exceptions_check(status, &error)) {
        result = rsdk_result_build(rsdk_state_get(module), RSDK_TYPE_HOST_FILES, &files);
    }
    rsdk_arena_clear(&arena);
    return result;
}

PyDoc_STRVAR(
    check_host_files_doc,
    "check_host_files(files, libraries, /, directories=(), loaded=(), beside=(), installed=False, python=False,\n"
    "                 unpacked=None, site=None)\n--\n\n"
    "Whether files (tuple of str) would load, each in a process of its own, and where what they need is (HostFiles):\n"
    "among them, in an SDK with these shared libraries (tuple of str), and on this system; and which ROCm they are\n"
    "for. A file that is no ELF file has no row. Nothing is loaded.\n\n"
    "directories: of the SDK, with which a program can be started. loaded: libraries that each process has opened\n"
    "before, with all that these need. beside: files of the same package that are not to be checked (tuples of str).\n"
    "installed: whether rocm_sdk can load the SDK's libraries into a process. python: whether an\n"
    "interpreter opens the files, as those of a package: what it needs itself is there. unpacked: the directory that "
    "the files\n"
    "of a package were unpacked to, and site: the one that it will be installed in (str); None: the files stay.");

static PyObject *check_host_files(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"", "", "directories", "loaded", "beside", "installed", "python", "unpacked", "site", NULL};
    enum { FILES, LIBRARIES, DIRECTORIES, LOADED, BESIDE, TUPLES };
    PyObject *tuples[TUPLES] = {NULL}, *result = NULL;
    rsdk_text_arguments texts[TUPLES] = {{0}};
    const char *unpacked = NULL, *site = NULL;
    int is_installed = 0, is_python = 0;
    bool is_read = true;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!|O!O!O!ppzz", names, &PyTuple_Type, &tuples[FILES],
                                     &PyTuple_Type, &tuples[LIBRARIES], &PyTuple_Type, &tuples[DIRECTORIES],
                                     &PyTuple_Type, &tuples[LOADED], &PyTuple_Type, &tuples[BESIDE], &is_installed,
                                     &is_python, &unpacked, &site) ||
        rsdk_result_types_add_others(module, rsdk_state_get(module)) < 0) {
        return NULL;
    }
    for (size_t i = 0; is_read && i < TUPLES; i++) {
        is_read = tuples[i] == NULL || rsdk_text_arguments_take_paths(&texts[i], tuples[i]) == 0;
    }
    if (is_read) {
        const rsdk_host_check check = {.files = texts[FILES].items,
                                       .file_count = texts[FILES].count,
                                       .beside = texts[BESIDE].items,
                                       .beside_count = texts[BESIDE].count,
                                       .libraries = texts[LIBRARIES].items,
                                       .library_count = texts[LIBRARIES].count,
                                       .is_installed = is_installed != 0,
                                       .directories = texts[DIRECTORIES].items,
                                       .directory_count = texts[DIRECTORIES].count,
                                       .loaded = texts[LOADED].items,
                                       .loaded_count = texts[LOADED].count,
                                       .is_python = is_python != 0,
                                       .unpacked = site != NULL ? unpacked : NULL,
                                       .site = site};
        result = run_host_check(module, &check);
    }
    for (size_t i = 0; i < TUPLES; i++) {
        rsdk_text_arguments_clear(&texts[i]);
    }
    return result;
}

static PyObject *build_opened_name(const rsdk_module_state *state, const void *rows, size_t index) {
    (void)state;
    const rsdk_seen_name *row = (const rsdk_seen_name *)rows + index;
    return Py_BuildValue("(NNN)", rsdk_result_path(row->opener), rsdk_result_text(row->name),
                         rsdk_result_path(row->path));
}

PyDoc_STRVAR(
    opened_names_doc,
    "opened_names(files, names, /)\n--\n\n"
    "The names without version of libraries of ROCm among the constants of files (tuple of str), and further names\n"
    "(tuple of str): tuples of the file (None for a further name), the name, and the file that a plain dlopen of that\n"
    "file finds by it (None: none). Nothing is loaded.");

static PyObject *opened_names(PyObject *module, PyObject *args) {
    PyObject *file_tuple = NULL, *name_tuple = NULL, *result = NULL;
    rsdk_text_arguments files = {0}, names = {0};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_opened_names found = {0};
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &file_tuple, &PyTuple_Type, &name_tuple)) {
        return NULL;
    }
    if (rsdk_text_arguments_take_paths(&files, file_tuple) == 0 &&
        rsdk_text_arguments_take_paths(&names, name_tuple) == 0) {
        rsdk_status status = RSDK_OK;
        Py_BEGIN_ALLOW_THREADS status =
            rsdk_opened_names_find(files.items, files.count, names.items, names.count, &arena, &found, &error);
        Py_END_ALLOW_THREADS if (rsdk_exceptions_check(status, &error)) {
            result = rsdk_result_tuple(rsdk_state_get(module), build_opened_name, found.items, found.count);
        }
    }
    rsdk_arena_clear(&arena);
    rsdk_text_arguments_clear(&files);
    rsdk_text_arguments_clear(&names);
    return result;
}

PyDoc_STRVAR(
    answered_names_doc,
    "answered_names()\n--\n\n"
    "The names without version that a load answers to (tuple of tuples): the name, and the linker name of the\n"
    "library that opens it and has to be loaded; None: whoever opens it.");

static PyObject *answered_names(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names != NULL && i < rsdk_library_count + rsdk_dlopen_dependency_count; i++) {
        const rsdk_catalog_entry *entry = i < rsdk_library_count ? &rsdk_library_table[i] : NULL;
        const rsdk_dlopen_dependency *row = entry == NULL ? &rsdk_dlopen_dependencies[i - rsdk_library_count] : NULL;
        if (entry != NULL ? entry->opened_unversioned_by == NULL : row->name != RSDK_OPENED_UNVERSIONED) {
            continue;
        }
        PyObject *pair = entry != NULL ? Py_BuildValue("(s#O)", entry->so_pattern,
                                                       (Py_ssize_t)strcspn(entry->so_pattern, "*"), Py_None)
                                       : Py_BuildValue("(ss)", row->opened, row->opener);
        if (pair == NULL || PyList_Append(names, pair) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(pair);
    }
    PyObject *result = names != NULL ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    return result;
}

PyDoc_STRVAR(begins_as_elf_doc,
             "begins_as_elf(head, /)\n--\n\n"
             "Whether bytes, the first 64 of a file, are the header of an ELF file of any machine. Programs\n"
             "that read ELF files refuse a file that begins otherwise.");

static PyObject *begins_as_elf(PyObject *module, PyObject *argument) {
    (void)module;
    char *head = NULL;
    Py_ssize_t size = 0;
    rsdk_elf_header header;
    if (PyBytes_AsStringAndSize(argument, &head, &size) < 0) {
        return NULL;
    }
    return PyBool_FromLong(rsdk_elf_header_parse(head, (size_t)size, &header));
}

PyMethodDef rsdk_inspect_methods[] = {
    {"answered_names", answered_names, METH_NOARGS, answered_names_doc},
    {"begins_as_elf", begins_as_elf, METH_O, begins_as_elf_doc},
    {"check_host_files", WITH_KEYWORDS(check_host_files), METH_VARARGS | METH_KEYWORDS, check_host_files_doc},
    {"inspect_library", inspect_library, METH_VARARGS, inspect_library_doc},
    {"opened_names", opened_names, METH_VARARGS, opened_names_doc},
    {NULL, NULL, 0, NULL},
};
