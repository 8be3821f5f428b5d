/* rocm_sdk._native.Sdk: the SDK that a command speaks of. The SDK is opened once, at the first question. Later
 * questions are answered from the data that was read then. The search path and the environment are as at its creation;
 * their texts stay where they are, since glibc never frees texts of the environment (setenv(3)). */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "exceptions.h"
#include "loader/resolver.h"
#include "methods.h"
#include "result_types.h"
#include "sdk/inventory.h"
#include "sdk_answers.h"

typedef struct sdk_object {
    PyObject_HEAD rsdk_session session;
    rsdk_error *failures;  /* the reasons why libraries of the catalog have no location; NULL: nobody has asked yet */
    PyObject *locations;   /* tuple in the order of the catalog, None where there is a failure */
    atomic_flag is_in_use; /* a thread uses it: an open SDK serves one at a time */
} sdk_object;

static int take(sdk_object *self) {
    if (atomic_flag_test_and_set(&self->is_in_use)) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this Sdk: make one in each thread");
        return -1;
    }
    return 0;
}

static PyObject *give_back(sdk_object *self, PyObject *result) {
    atomic_flag_clear(&self->is_in_use);
    return result;
}

static void clear_failures(rsdk_error *failures) {
    for (size_t i = 0; failures != NULL && i < rsdk_catalog_size(); i++) {
        rsdk_error_clear(&failures[i]);
    }
    free(failures);
}

static void sdk_dealloc(PyObject *object) {
    sdk_object *self = (sdk_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    clear_failures(self->failures);
    Py_CLEAR(self->locations);
    rsdk_session_end(&self->session);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- questions that the SDK itself answers ---- */

PyDoc_STRVAR(facts_doc, "facts()\n--\n\nAs sdk_facts().");

static PyObject *facts(PyObject *object, PyObject *unused) {
    sdk_object *self = (sdk_object *)object;
    (void)unused;
    return take(self) == 0 ? give_back(self, rsdk_sdk_answer_facts(&self->session)) : NULL;
}

PyDoc_STRVAR(targets_doc, "built_targets()\n--\n\nAs the function of this name.");

static PyObject *built_targets(PyObject *object, PyObject *unused) {
    sdk_object *self = (sdk_object *)object;
    (void)unused;
    return take(self) == 0 ? give_back(self, rsdk_sdk_answer_targets(&self->session)) : NULL;
}

PyDoc_STRVAR(directory_doc, "package_directory(name, /)\n--\n\nAs the function of this name.");

static PyObject *package_directory(PyObject *object, PyObject *name) {
    sdk_object *self = (sdk_object *)object;
    return take(self) == 0 ? give_back(self, rsdk_sdk_answer_directory(&self->session, name)) : NULL;
}

PyDoc_STRVAR(directories_doc, "package_directories()\n--\n\n"
                              "The platform directories of the packages that are installed, by name (dict of str).");

typedef struct finding_directories {
    rsdk_session *session;
    const char *found[RSDK_PACKAGE_COUNT]; /* NULL: not installed */
} finding_directories;

static rsdk_status find_directories(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    finding_directories *f = context;
    for (unsigned id = 0; id < RSDK_PACKAGE_COUNT; id++) {
        rsdk_error reason = RSDK_ERROR_INIT;
        rsdk_status status = rsdk_sdk_package_directory(sdk, (rsdk_package_id)id, &f->found[id], &reason);
        if (status != RSDK_OK && status != RSDK_PACKAGE_NOT_INSTALLED) {
            return rsdk_fail_with(error, &reason);
        }
        rsdk_error_clear(&reason);
    }
    f->session->is_enough = true; /* the import system may know more of them */
    return RSDK_PACKAGE_NOT_INSTALLED;
}

static PyObject *package_directories(PyObject *object, PyObject *unused) {
    sdk_object *self = (sdk_object *)object;
    finding_directories f = {.session = &self->session};
    (void)unused;
    if (take(self) < 0) {
        return NULL;
    }
    PyObject *result = rsdk_session_perform(&self->session, find_directories, &f) == 0 ? PyDict_New() : NULL;
    for (unsigned id = 0; result != NULL && id < RSDK_PACKAGE_COUNT; id++) {
        PyObject *path = f.found[id] != NULL ? rsdk_result_path(f.found[id]) : NULL;
        if (f.found[id] != NULL &&
            (path == NULL || PyDict_SetItemString(result, rsdk_package_get((rsdk_package_id)id)->name, path) < 0)) {
            Py_CLEAR(result);
        }
        Py_XDECREF(path);
    }
    return give_back(self, result);
}

PyDoc_STRVAR(bindings_doc, "bindings(*shortnames, files=(), every=False)\n--\n\nAs the function of this name.");

static PyObject *bindings(PyObject *object, PyObject *args, PyObject *kwargs) {
    sdk_object *self = (sdk_object *)object;
    return take(self) == 0 ? give_back(self, rsdk_sdk_answer_bindings(&self->session, args, kwargs)) : NULL;
}

/* ---- all libraries of the catalog ---- */

typedef struct locating {
    rsdk_session *session;
    rsdk_arena arena;
    rsdk_location *locations;
    rsdk_error *failures;
} locating;

static rsdk_status locate_catalog(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    locating *l = context;
    rsdk_inventory inventory = rsdk_inventory_make(sdk, &l->arena, false);
    inventory.keeps_all = true;
    for (size_t i = 0; i < rsdk_catalog_size(); i++) {
        rsdk_error_clear(&l->failures[i]); /* of a look before the import system was asked */
    }
    rsdk_status status = rsdk_resolver_find_catalog(&inventory, l->locations, l->failures, error);
    l->session->is_enough = status == RSDK_PACKAGE_NOT_INSTALLED; /* each library has its own error */
    return status;
}

static PyObject *build_location(const rsdk_module_state *state, const void *list, size_t index) {
    const locating *l = list;
    return l->failures[index].status == RSDK_OK ? rsdk_result_build(state, RSDK_TYPE_LOCATION, &l->locations[index])
                                                : Py_NewRef(Py_None);
}

/* Look for all libraries at the first call. Return 0, or -1 with an exception. */
static int need_locations(sdk_object *self) {
    if (self->locations != NULL) {
        return 0;
    }
    size_t count = rsdk_catalog_size();
    locating l = {.session = &self->session,
                  .locations = calloc(count, sizeof *l.locations),
                  .failures = calloc(count, sizeof *l.failures)};
    PyObject *locations = NULL;
    if (l.locations == NULL || l.failures == NULL) {
        PyErr_NoMemory();
    } else {
        if (rsdk_session_perform(&self->session, locate_catalog, &l) == 0) {
            locations = rsdk_result_tuple(self->session.state, build_location, &l, count);
        }
        if (locations != NULL && rsdk_session_warn(&self->session) < 0) {
            Py_CLEAR(locations);
        }
    }
    rsdk_arena_clear(&l.arena);
    free(l.locations);
    if (locations == NULL) {
        clear_failures(l.failures);
        return -1;
    }
    self->locations = locations;
    self->failures = l.failures;
    return 0;
}

/* Return the index in the catalog; -1 with an exception. */
static Py_ssize_t find_shortname(const sdk_object *self, PyObject *name) {
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_location unused;
    if (text == NULL) {
        return PyErr_Occurred() != NULL ? -1 : (PyErr_SetString(PyExc_TypeError, "a shortname is a str"), -1);
    }
    for (size_t i = 0; i < rsdk_catalog_size(); i++) {
        if (strcmp(rsdk_catalog_get(i)->shortname, text) == 0) {
            return (Py_ssize_t)i;
        }
    }
    (void)rsdk_loader_locate(self->session.sdk, text, &unused, &error); /* says which names are near */
    rsdk_exceptions_raise(&error, self->session.sdk);
    rsdk_error_clear(&error);
    return -1;
}

PyDoc_STRVAR(locate_doc, "locate(shortname, /)\n--\n\nAs the function of this name.");

static PyObject *locate(PyObject *object, PyObject *name) {
    sdk_object *self = (sdk_object *)object;
    PyObject *result = NULL;
    if (take(self) < 0) {
        return NULL;
    }
    Py_ssize_t index = need_locations(self) == 0 ? find_shortname(self, name) : -1;
    if (index >= 0 && self->failures[index].status != RSDK_OK) {
        rsdk_exceptions_raise(&self->failures[index], self->session.sdk);
    } else if (index >= 0) {
        result = Py_NewRef(PyTuple_GetItem(self->locations, index));
    }
    return give_back(self, result);
}

PyDoc_STRVAR(located_doc, "located()\n--\n\n"
                          "A LibraryLocation for each row of the catalog, in its order; None where locate() raises an "
                          "error (tuple).");

static PyObject *located(PyObject *object, PyObject *unused) {
    sdk_object *self = (sdk_object *)object;
    (void)unused;
    if (take(self) < 0) {
        return NULL;
    }
    return give_back(self, need_locations(self) == 0 ? Py_NewRef(self->locations) : NULL);
}

PyDoc_STRVAR(failures_doc, "failures()\n--\n\n"
                           "The shortnames that locate() raises an error for, each with the name of its class (dict of "
                           "str).");

static PyObject *failures(PyObject *object, PyObject *unused) {
    sdk_object *self = (sdk_object *)object;
    (void)unused;
    if (take(self) < 0) {
        return NULL;
    }
    PyObject *result = need_locations(self) == 0 ? PyDict_New() : NULL;
    for (size_t i = 0; result != NULL && i < rsdk_catalog_size(); i++) {
        const rsdk_status status = self->failures[i].status;
        PyObject *name = status != RSDK_OK ? PyUnicode_FromString(rsdk_exceptions_class(status)) : NULL;
        if (status != RSDK_OK &&
            (name == NULL || PyDict_SetItemString(result, rsdk_catalog_get(i)->shortname, name) < 0)) {
            Py_CLEAR(result);
        }
        Py_XDECREF(name);
    }
    return give_back(self, result);
}

/* ---- the type ---- */

static PyMethodDef methods[] = {
    {"facts", facts, METH_NOARGS, facts_doc},
    {"built_targets", built_targets, METH_NOARGS, targets_doc},
    {"package_directory", package_directory, METH_O, directory_doc},
    {"package_directories", package_directories, METH_NOARGS, directories_doc},
    {"locate", locate, METH_O, locate_doc},
    {"located", located, METH_NOARGS, located_doc},
    {"failures", failures, METH_NOARGS, failures_doc},
    {"bindings", WITH_KEYWORDS(bindings), METH_VARARGS | METH_KEYWORDS, bindings_doc},
    {NULL, NULL, 0, NULL},
};

/* CPython keeps functions in void pointers; ISO C alone would not. */
static PyType_Slot slots[] = {
    {Py_tp_dealloc, __extension__(void *) sdk_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

/* Only open_sdk() makes one, so each is initialised. */
static PyType_Spec spec = {.name = "rocm_sdk._native.Sdk",
                           .basicsize = sizeof(sdk_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

/* Return the type, made at its first use: an import does not pay for it. Borrowed; NULL with an exception. */
static PyObject *type_of(PyObject *module, rsdk_module_state *state) {
    RSDK_BEGIN_FIRST_USE(module);
    if (state->sdk_type == NULL) {
        state->sdk_type = PyType_FromModuleAndSpec(module, &spec, NULL);
    }
    RSDK_END_FIRST_USE();
    return state->sdk_type;
}

PyDoc_STRVAR(
    open_sdk_doc,
    "open_sdk()\n--\n\n"
    "The SDK that a command speaks of: an Sdk, which is opened at its first question and read once.\n\n"
    "The methods are the functions of the same names. For one thread at a time: RuntimeError where another one "
    "is inside.");

static PyObject *open_sdk(PyObject *module, PyObject *unused) {
    (void)unused;
    PyObject *type = type_of(module, rsdk_state_get(module));
    PyObject *object = type != NULL ? PyType_GenericAlloc((PyTypeObject *)type, 0) : NULL;
    if (object != NULL) {
        sdk_object *self = (sdk_object *)object;
        atomic_flag_clear(&self->is_in_use);
        if (rsdk_session_start(module, &self->session) < 0) {
            Py_CLEAR(object);
        }
    }
    return object;
}

PyMethodDef rsdk_sdk_type_methods[] = {
    {"open_sdk", open_sdk, METH_NOARGS, open_sdk_doc},
    {NULL, NULL, 0, NULL},
};
