/* The structured result types of the module, and how Python objects are built from the C library's results. Each type
 * is a table in result_types.c with a row for each field. */
#ifndef RSDK_PYTHON_RESULT_TYPES_H
#define RSDK_PYTHON_RESULT_TYPES_H

#include <stdbool.h>

#include "base/name_table.h"
#include "elf/elf_file.h"
#include "elf/elf_layout.h"
#include "elf/elf_sections.h"
#include "rocm_sdk/bindings.h"
#include "state.h"

/* The known facts of a library's file: the C value behind LibraryFacts. */
typedef struct rsdk_inspection {
    rsdk_elf_file file;
    rsdk_elf_damages damages;
    rsdk_elf_sections sections;
    rsdk_unique_strings opened; /* names of libraries among its constants, if they are asked for */
} rsdk_inspection;

/* Bindings, and which of its references are wanted: the C value behind Bindings. */
typedef struct rsdk_shown_bindings {
    rsdk_bindings *bindings;
    bool has_all;
} rsdk_shown_bindings;

int rsdk_result_types_add(PyObject *module, rsdk_module_state *state);

/* Make the types that loading does not use, at their first use: importing the module does not pay for them. */
int rsdk_result_types_add_others(PyObject *module, rsdk_module_state *state);

/* Make the type Gpu alone, without which finding GPUs would pay for all. */
int rsdk_result_types_add_gpu(PyObject *module, rsdk_module_state *state);

/* Make the types of GPU code and of the code that GPUs run, DeviceImage to Coverage. */
int rsdk_result_types_add_code(PyObject *module, rsdk_module_state *state);

/* Return a new instance of `type`. `value` points to the C struct that the type's table names: rsdk_location,
 * rsdk_loaded_entry, rsdk_step, rsdk_plan, rsdk_gpu, rsdk_target, rsdk_elf_section, rsdk_elf_damage, rsdk_inspection,
 * rsdk_device_code, rsdk_compatibility, rsdk_coverage, rsdk_shown_bindings, and the structs in them. NULL with an
 * exception, here and below. */
PyObject *rsdk_result_build(const rsdk_module_state *state, rsdk_result_type type, const void *value);

/* A function that builds item `index` of a list of the C library. */
typedef PyObject *(*rsdk_item_builder)(const rsdk_module_state *state, const void *list, size_t index);

PyObject *rsdk_result_tuple(const rsdk_module_state *state, rsdk_item_builder build, const void *list, size_t count);

/* Define a method without arguments that returns a table of the C library. */
#define RSDK_TABLE_METHOD(name, build, table, count)                                                                   \
    static PyObject *name(PyObject *module, PyObject *Py_UNUSED(unused)) {                                             \
        return rsdk_result_tuple(rsdk_state_get(module), build, table, count);                                         \
    }

/* Return a text or a path of the file system as str; None for NULL. */
PyObject *rsdk_result_text(const char *text);
PyObject *rsdk_result_path(const char *path);

/* Return a tuple of `count` texts. */
PyObject *rsdk_result_paths(const char *const *paths, size_t count);

/* Build (code, path, facts), the arguments of the functions of rocm_sdk.problems: a str, a str or None, a dict of
 * str. */
PyObject *rsdk_result_finding(rsdk_code code, const char *path, const rsdk_fact *facts, size_t count);

#endif
