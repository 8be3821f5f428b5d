/* Functions that tell the facts of an SDK: version, families, packages, the catalog. */
#include <stdlib.h>
#include <string.h>

#include "exceptions.h"
#include "methods.h"
#include "result_types.h"
#include "sdk/dist_info.h"
#include "sdk/tables.h"
#include "sdk_answers.h"

static rsdk_status look(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    (void)context;
    return rsdk_session_need_sdk(sdk, error);
}

static PyObject *build_families(const rsdk_sdk *sdk, rsdk_family_list list) {
    size_t count = 0;
    const char *const *families = rsdk_sdk_families(sdk, list, &count);
    return rsdk_result_paths(families, count);
}

PyObject *rsdk_sdk_answer_facts(rsdk_session *session) {
    if (rsdk_session_perform(session, look, NULL) < 0) {
        return NULL;
    }
    const rsdk_sdk *sdk = session->sdk;
    PyObject *result = Py_BuildValue(
        "{sNsNsNsNsNsNsNsNsN}", "root", rsdk_result_path(rsdk_sdk_root(sdk)), "fallback",
        rsdk_result_path(rsdk_sdk_fallback(sdk)), "version", rsdk_result_text(rsdk_sdk_version(sdk)), "nonce",
        rsdk_result_text(rsdk_sdk_nonce(sdk)), "default_family", rsdk_result_text(rsdk_sdk_default_family(sdk)),
        "kpack_split", PyBool_FromLong(rsdk_sdk_is_kpack_split(sdk)), "available_families",
        build_families(sdk, RSDK_FAMILIES_AVAILABLE), "linux_families", build_families(sdk, RSDK_FAMILIES_LINUX),
        "windows_families", build_families(sdk, RSDK_FAMILIES_WINDOWS));
    if (result != NULL && rsdk_session_warn(session) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

PyDoc_STRVAR(sdk_facts_doc,
             "sdk_facts()\n--\n\n"
             "Facts of the installed SDK (dict): root (the directory of ROCM_SDK_ROOT, None where it is not set), "
             "fallback (the place it was taken from, None where it is installed), version, nonce, default_family, "
             "kpack_split, and the "
             "tuples available_families,\n"
             "linux_families, windows_families. Raises PackageNotInstalledError where there is none.");

static PyObject *sdk_facts(PyObject *module, PyObject *unused) {
    (void)unused;
    rsdk_session session;
    PyObject *result = rsdk_session_start(module, &session) == 0 ? rsdk_sdk_answer_facts(&session) : NULL;
    rsdk_session_end(&session);
    return result;
}

PyDoc_STRVAR(dist_info_doc,
             "dist_info(path, /)\n--\n\n"
             "What the `_dist_info.py` at a path says, which is read and never executed (dict): version, nonce and\n"
             "default_family, each str; None (the nonce: '') where it says nothing. Raises BadMetadataError,\n"
             "LibraryNotFoundError or LibraryAccessError.");

static PyObject *dist_info(PyObject *module, PyObject *argument) {
    PyObject *path = NULL, *result = NULL;
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_dist_info info = {0};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status;
    (void)module;
    if (!PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = rsdk_dist_info_read(name, &arena, &info, &error);
    Py_END_ALLOW_THREADS;
    if (rsdk_exceptions_check(status, &error)) {
        result = Py_BuildValue("{sNsNsN}", "version", rsdk_result_text(info.version), "nonce",
                               rsdk_result_text(info.nonce), "default_family", rsdk_result_text(info.default_family));
    }
    rsdk_arena_clear(&arena);
    Py_DECREF(path);
    return result;
}

PyDoc_STRVAR(sdk_root_doc,
             "sdk_root()\n--\n\n"
             "The directory that ROCM_SDK_ROOT names (str), as it is; None where it is not set, and where the program "
             "has the rights of another user.");

static PyObject *sdk_root(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return rsdk_result_path(rsdk_environment_root());
}

PyDoc_STRVAR(sdk_version_doc,
             "sdk_version()\n--\n\n"
             "The version of the installed SDK (str); None where it has packages and no metadata. Raises "
             "PackageNotInstalledError where there is none.");

static PyObject *sdk_version(PyObject *module, PyObject *unused) {
    (void)unused;
    rsdk_session session;
    PyObject *result =
        rsdk_session_run(module, &session, look, NULL) == 0 ? rsdk_result_text(rsdk_sdk_version(session.sdk)) : NULL;
    rsdk_session_end(&session);
    return result;
}

static rsdk_status read_targets(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    return rsdk_sdk_built_targets(sdk, context, error);
}

PyObject *rsdk_sdk_answer_targets(rsdk_session *session) {
    const char *targets = NULL;
    return rsdk_session_perform(session, read_targets, &targets) == 0 ? rsdk_result_text(targets) : NULL;
}

PyDoc_STRVAR(
    built_targets_doc,
    "built_targets()\n--\n\n"
    "The gfx targets that the SDK was built for, as it says in share/therock/dist_info.json (str, `;` between them;\n"
    "'' where it does not say).");

static PyObject *built_targets(PyObject *module, PyObject *unused) {
    (void)unused;
    rsdk_session session;
    PyObject *result = rsdk_session_start(module, &session) == 0 ? rsdk_sdk_answer_targets(&session) : NULL;
    rsdk_session_end(&session);
    return result;
}

typedef struct package_question {
    rsdk_package_id package;
    const char *directory;
} package_question;

static rsdk_status find_package_directory(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    package_question *question = context;
    return rsdk_sdk_package_directory(sdk, question->package, &question->directory, error);
}

PyObject *rsdk_sdk_answer_directory(rsdk_session *session, PyObject *name) {
    package_question question = {.package = RSDK_PACKAGE_COUNT};
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    for (unsigned id = 0; text != NULL && id < RSDK_PACKAGE_COUNT; id++) {
        if (strcmp(rsdk_package_get((rsdk_package_id)id)->name, text) == 0) {
            question.package = (rsdk_package_id)id;
        }
    }
    if (question.package == RSDK_PACKAGE_COUNT) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "%R is not a package of the ROCm SDK", name);
    }
    return rsdk_session_perform(session, find_package_directory, &question) == 0 ? rsdk_result_path(question.directory)
                                                                                 : NULL;
}

PyDoc_STRVAR(package_directory_doc,
             "package_directory(name, /)\n--\n\n"
             "The platform directory of a package of the SDK ('core', 'libraries', 'profiler', 'devel') (str).\n"
             "Raises PackageNotInstalledError where it is not installed, ValueError for other names.");

static PyObject *package_directory(PyObject *module, PyObject *name) {
    rsdk_session session;
    PyObject *result = rsdk_session_start(module, &session) == 0 ? rsdk_sdk_answer_directory(&session, name) : NULL;
    rsdk_session_end(&session);
    return result;
}

static PyObject *build_catalog_row(const rsdk_module_state *state, const void *version, size_t index) {
    (void)state;
    const rsdk_catalog_entry *entry = rsdk_catalog_get(index);
    const bool is_optional = entry->is_optional || rsdk_catalog_leaving(entry, version) != NULL;
    return Py_BuildValue("(sssssN)", entry->shortname, rsdk_package_get(entry->package)->name, entry->so_pattern,
                         entry->dll_pattern, entry->directory, PyBool_FromLong(is_optional));
}

PyDoc_STRVAR(catalog_doc,
             "catalog(version=None, /)\n--\n\n"
             "The catalog of shortnames: tuples (shortname, package, so_pattern, dll_pattern, directory, optional).\n"
             "version: of an SDK, whose release may lack more libraries than others.");

static PyObject *catalog(PyObject *module, PyObject *args) {
    const char *version = NULL;
    return PyArg_ParseTuple(args, "|z", &version)
               ? rsdk_result_tuple(rsdk_state_get(module), build_catalog_row, version, rsdk_catalog_size())
               : NULL;
}

static PyObject *build_package_row(const rsdk_module_state *state, const void *list, size_t index) {
    (void)state;
    (void)list;
    const rsdk_package_entry *entry = rsdk_package_get((rsdk_package_id)index);
    return Py_BuildValue("(ssssN)", entry->name, entry->dist_template, entry->pure_module, entry->template_directory,
                         PyBool_FromLong(entry->is_required));
}

PyDoc_STRVAR(packages_doc,
             "packages()\n--\n\n"
             "The packages of the SDK: tuples (name, distribution template, module, template directory, required).");

RSDK_TABLE_METHOD(packages, build_package_row, NULL, RSDK_PACKAGE_COUNT)

static PyObject *build_place(const rsdk_module_state *state, const void *table, size_t index) {
    (void)state;
    const rsdk_library_place *row = (const rsdk_library_place *)table + index;
    return Py_BuildValue("(sz)", row->path, row->private_root);
}

PyDoc_STRVAR(
    library_places_doc,
    "library_places()\n--\n\n"
    "The directories of libraries in a package of the SDK: tuples (directory, the directory with it that is for\n"
    "the package's own, or None).");

RSDK_TABLE_METHOD(library_places, build_place, rsdk_library_places, rsdk_library_place_count)

PyMethodDef rsdk_sdk_methods[] = {
    {"dist_info", dist_info, METH_O, dist_info_doc},
    {"sdk_root", sdk_root, METH_NOARGS, sdk_root_doc},
    {"sdk_version", sdk_version, METH_NOARGS, sdk_version_doc},
    {"sdk_facts", sdk_facts, METH_NOARGS, sdk_facts_doc},
    {"built_targets", built_targets, METH_NOARGS, built_targets_doc},
    {"package_directory", package_directory, METH_O, package_directory_doc},
    {"catalog", catalog, METH_VARARGS, catalog_doc},
    {"packages", packages, METH_NOARGS, packages_doc},
    {"library_places", library_places, METH_NOARGS, library_places_doc},
    {NULL, NULL, 0, NULL},
};
