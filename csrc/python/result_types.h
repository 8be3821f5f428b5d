/* The structured result types of the module, and how they are built from the C library's results. */
#ifndef RSDK_PYTHON_RESULT_TYPES_H
#define RSDK_PYTHON_RESULT_TYPES_H

#include "elf/elf_file.h"
#include "elf/elf_sections.h"
#include "module.h"
#include "rocm_sdk/gpu.h"
#include "rocm_sdk/loader.h"

int rsdk_add_result_types(PyObject *module, rsdk_module_state *state);

/* Each returns a new reference, or NULL with an exception. */
PyObject *rsdk_build_location(const rsdk_module_state *state, const rsdk_location *location);
PyObject *rsdk_build_loaded(const rsdk_module_state *state, const rsdk_loaded_entry *entry);
PyObject *rsdk_build_plan(const rsdk_module_state *state, const rsdk_plan *plan);
PyObject *rsdk_build_gpu(const rsdk_module_state *state, const rsdk_gpu *gpu);
PyObject *rsdk_build_finding(const rsdk_module_state *state, const rsdk_gpu_finding *finding);
PyObject *rsdk_build_library_facts(const rsdk_module_state *state, const rsdk_elf_file *file,
                                   const rsdk_strings *damages, const rsdk_elf_sections *sections);
PyObject *rsdk_build_target(const rsdk_module_state *state, const rsdk_target *target);

/* Builds item `index` of a list of the C library. */
typedef PyObject *(*rsdk_item_builder)(const rsdk_module_state *state, const void *list, size_t index);

/* A tuple of `count` items, or NULL with an exception. */
PyObject *rsdk_build_tuple(const rsdk_module_state *state, rsdk_item_builder build, const void *list, size_t count);

/* Text or path of the file system as str; None for NULL. */
PyObject *rsdk_build_text(const char *text);
PyObject *rsdk_build_path(const char *path);

/* A tuple of `count` texts. */
PyObject *rsdk_build_paths(const char *const *paths, size_t count);

#endif
