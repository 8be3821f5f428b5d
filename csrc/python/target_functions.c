/* Functions about gfx targets, by the tables. The functions touch nothing but their arguments. */
#include <string.h>

#include "device_code/file_target.h"
#include "exceptions.h"
#include "gpu/tables.h"
#include "gpu/targets.h"
#include "methods.h"
#include "result_types.h"
#include "rocm_sdk/compatibility.h"
#include "rocm_sdk/gpu.h"

static const char unknown_target_error[] = "UnknownTargetError";

/* Raise the exception of `error` and return NULL. */
static PyObject *fail(rsdk_error *error) {
    rsdk_exceptions_raise_as(unknown_target_error, error, NULL);
    rsdk_error_clear(error);
    return NULL;
}

/* Return the argument as text, borrowed. NULL with an exception. */
static const char *text_of(PyObject *argument) {
    if (!PyUnicode_Check(argument)) {
        PyErr_Format(PyExc_TypeError, "a name is a str, not %R", (PyObject *)Py_TYPE(argument));
        return NULL;
    }
    Py_ssize_t length = 0;
    const char *text = PyUnicode_AsUTF8AndSize(argument, &length);
    if (text != NULL && strlen(text) != (size_t)length) {
        PyErr_SetString(PyExc_ValueError, "a name with a null character in it");
        return NULL;
    }
    return text;
}

PyDoc_STRVAR(target_doc, "target(name, /)\n--\n\n"
                         "The gfx target of this name, whatever features are behind it (Target). Raises "
                         "UnknownTargetError\n"
                         "(ValueError) with the nearest known names.");

static PyObject *target(PyObject *module, PyObject *argument) {
    rsdk_error error = RSDK_ERROR_INIT;
    const rsdk_target *found = NULL;
    const char *name = text_of(argument);
    if (name == NULL) {
        return NULL;
    }
    return rsdk_target_find_or_fail(name, &found, &error) == RSDK_OK
               ? rsdk_result_build(rsdk_state_get(module), RSDK_TYPE_TARGET, found)
               : fail(&error);
}

static PyObject *build_row(const rsdk_module_state *state, const void *list, size_t index) {
    (void)list;
    return rsdk_result_build(state, RSDK_TYPE_TARGET, rsdk_target_get(index));
}

PyDoc_STRVAR(targets_doc, "targets()\n--\n\n"
                          "The table of targets (tuple of Target).");

RSDK_TABLE_METHOD(targets, build_row, NULL, rsdk_target_count())

static PyObject *build_name(const rsdk_module_state *state, const void *list, size_t index) {
    (void)state;
    return rsdk_result_text(((const rsdk_target *const *)list)[index]->name);
}

PyDoc_STRVAR(expand_targets_doc,
             "expand_targets(names, /)\n--\n\n"
             "The targets that a list of targets and families stands for, `,` or `;` between them (tuple of str): in\n"
             "order, each once. Raises UnknownTargetError (ValueError) with the nearest known names.");

static PyObject *expand_targets(PyObject *module, PyObject *argument) {
    rsdk_error error = RSDK_ERROR_INIT;
    const char *names = text_of(argument);
    const rsdk_target **found = names != NULL ? PyMem_Calloc(rsdk_target_count(), sizeof(rsdk_target *)) : NULL;
    size_t count = 0;
    if (found == NULL) {
        return names != NULL ? PyErr_NoMemory() : NULL;
    }
    PyObject *result = rsdk_target_expand(names, found, &count, &error) == RSDK_OK
                           ? rsdk_result_tuple(rsdk_state_get(module), build_name, (const void *)found, count)
                           : fail(&error);
    PyMem_Free((void *)found);
    return result;
}

PyDoc_STRVAR(
    families_of_doc,
    "families_of(target, /)\n--\n\n"
    "The packaging families of a target, its own name first (tuple of str); empty where ROCm is not built for\n"
    "it. Raises UnknownTargetError (ValueError) with the nearest known names.");

static PyObject *families_of(PyObject *module, PyObject *argument) {
    (void)module;
    rsdk_error error = RSDK_ERROR_INIT;
    const char *families[RSDK_TARGET_FAMILY_LIMIT + 1], *name = text_of(argument);
    size_t count = 0;
    if (name == NULL) {
        return NULL;
    }
    return rsdk_target_families_of(name, families, &count, &error) == RSDK_OK ? rsdk_result_paths(families, count)
                                                                              : fail(&error);
}

PyDoc_STRVAR(canonical_target_doc, "canonical_target(name, /)\n--\n\n"
                                   "A name without the features behind it (str): 'gfx942' of 'gfx942:xnack+' and of\n"
                                   "'gfx942-xnack+'. Any text is taken.");

static PyObject *canonical_target(PyObject *module, PyObject *argument) {
    (void)module;
    const char *name = text_of(argument);
    return name != NULL ? PyUnicode_FromStringAndSize(name, (Py_ssize_t)rsdk_target_canonical_length(name)) : NULL;
}

PyDoc_STRVAR(package_owner_doc,
             "package_owner(name, /)\n--\n\n"
             "The target whose packages have the code for a target, mostly its name without features "
             "(str). Any text is taken.");

static PyObject *package_owner(PyObject *module, PyObject *argument) {
    (void)module;
    size_t length = 0;
    const char *name = text_of(argument), *owner = name != NULL ? rsdk_target_owner_of_name(name, &length) : NULL;
    return owner != NULL ? PyUnicode_FromStringAndSize(owner, (Py_ssize_t)length) : NULL;
}

PyDoc_STRVAR(
    target_id_doc,
    "target_id(id, /)\n--\n\n"
    "A target id in the form that the tools write (str): 'gfx942:xnack-:sramecc+' as\n"
    "'gfx942:sramecc+:xnack-'. Raises UnknownTargetError (ValueError) for an unknown target, and for features\n"
    "that it has not got.");

static PyObject *target_id(PyObject *module, PyObject *argument) {
    (void)module;
    rsdk_error error = RSDK_ERROR_INIT;
    char normal[RSDK_TARGET_ID_SIZE];
    const char *id = text_of(argument);
    if (id == NULL) {
        return NULL;
    }
    return rsdk_target_id_normalize(id, normal, &error) == RSDK_OK ? rsdk_result_text(normal) : fail(&error);
}

PyDoc_STRVAR(
    target_in_name_doc,
    "target_in_name(name, /)\n--\n\n"
    "The target id that the name of a file or directory carries (str), as the files of Tensile and MIOpen do:\n"
    "'gfx90a:xnack+' of 'Kernels.so-000-gfx90a-xnack+.hsaco'. None where it carries none that is known.");

static PyObject *target_in_name(PyObject *module, PyObject *argument) {
    (void)module;
    char target[RSDK_TARGET_ID_SIZE];
    const char *name = text_of(argument);
    if (name == NULL) {
        return NULL;
    }
    return rsdk_file_target_find_normal(name, target) ? rsdk_result_text(target) : Py_NewRef(Py_None);
}

PyDoc_STRVAR(
    compatibility_doc,
    "compatibility(code, gpu, generic_version, unofficial, /)\n--\n\n"
    "Whether the GPU (str, a target id) runs code for the target `code` (Compatibility). generic_version: of\n"
    "code for a generic target (int), None where it is not known. unofficial (bool): whether patched runtimes\n"
    "count too.");

static PyObject *compatibility(PyObject *module, PyObject *args) {
    PyObject *version = NULL;
    const char *code = NULL, *gpu = NULL;
    unsigned long number = RSDK_GENERIC_VERSION_UNKNOWN;
    int is_unofficial = 0;
    if (!PyArg_ParseTuple(args, "ssOp", &code, &gpu, &version, &is_unofficial) ||
        rsdk_result_types_add_code(module, rsdk_state_get(module)) < 0) {
        return NULL;
    }
    if (version != Py_None) {
        number = PyLong_AsUnsignedLong(version);
    }
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    rsdk_compatibility found = rsdk_compatibility_check(
        code, number < RSDK_GENERIC_VERSION_UNKNOWN ? (unsigned)number : RSDK_GENERIC_VERSION_UNKNOWN, gpu,
        is_unofficial ? RSDK_PATCHES_ALL : 0);
    return rsdk_result_build(rsdk_state_get(module), RSDK_TYPE_COMPATIBILITY, &found);
}

PyMethodDef rsdk_target_methods[] = {
    {"target", target, METH_O, target_doc},
    {"targets", targets, METH_NOARGS, targets_doc},
    {"expand_targets", expand_targets, METH_O, expand_targets_doc},
    {"families_of", families_of, METH_O, families_of_doc},
    {"canonical_target", canonical_target, METH_O, canonical_target_doc},
    {"package_owner", package_owner, METH_O, package_owner_doc},
    {"compatibility", compatibility, METH_VARARGS, compatibility_doc},
    {"target_id", target_id, METH_O, target_id_doc},
    {"target_in_name", target_in_name, METH_O, target_in_name_doc},
    {NULL, NULL, 0, NULL},
};
