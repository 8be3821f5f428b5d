/* Sessions: the interpreter's search path and import hooks, and the environment, as the C library takes them. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "exceptions.h"
#include "result_types.h"

/* ---- sys.path ---- */

/* Return sys.path as a tuple of bytes; entries that are not text are not directories, for importlib as for us. */
static PyObject *search_path_of_interpreter(void) {
    PyObject *path = PySys_GetObject("path"); /* borrowed */
    PyObject *entries = path != NULL ? PySequence_Tuple(path) : PyTuple_New(0);
    PyObject *encoded = entries != NULL ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; encoded != NULL && i < PyTuple_Size(entries); i++) {
        PyObject *entry = PyTuple_GetItem(entries, i); /* borrowed */
        PyObject *bytes = PyUnicode_Check(entry) ? PyUnicode_EncodeFSDefault(entry) : Py_NewRef(Py_None);
        if (bytes == NULL || (bytes != Py_None && PyList_Append(encoded, bytes) < 0)) {
            Py_CLEAR(encoded);
        }
        Py_XDECREF(bytes);
    }
    PyObject *result = encoded != NULL ? PyList_AsTuple(encoded) : NULL;
    Py_XDECREF(encoded);
    Py_XDECREF(entries);
    return result;
}

/* ---- opening ---- */

/* Everything that the C library is given, as C values borrowed from the session's objects. */
typedef struct inputs {
    const char **search_path;
    rsdk_module_location *modules;
    rsdk_library_override *overrides;
    rsdk_sdk_options options;
} inputs;

static int take_modules(const rsdk_session *session, inputs *in) {
    PyObject *key = NULL, *value = NULL;
    Py_ssize_t position = 0;
    while (session->modules != NULL && PyDict_Next(session->modules, &position, &key, &value)) {
        rsdk_module_location *location = &in->modules[in->options.module_count];
        location->module = PyUnicode_AsUTF8AndSize(key, NULL);
        location->directory = PyBytes_AsString(value);
        if (location->module == NULL || location->directory == NULL) {
            return -1;
        }
        in->options.module_count++;
    }
    return 0;
}

/* Take the caller's overrides, then the environment's. */
static int take_overrides(const rsdk_session *session, inputs *in) {
    size_t own = session->overrides != NULL ? (size_t)PyList_Size(session->overrides) / 2 : 0;
    const rsdk_environment *environment = &session->environment;
    in->overrides = calloc(own + environment->override_count + 1, sizeof *in->overrides);
    if (in->overrides == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < own; i++) {
        Py_ssize_t place = 2 * (Py_ssize_t)i;
        in->overrides[i] =
            (rsdk_library_override){.shortname = PyBytes_AsString(PyList_GetItem(session->overrides, place)),
                                    .path = PyBytes_AsString(PyList_GetItem(session->overrides, place + 1)),
                                    .source = "overrides"};
    }
    for (size_t i = 0; i < environment->override_count; i++) {
        in->overrides[own + i] = environment->overrides[i];
    }
    in->options.overrides = in->overrides;
    in->options.override_count = own + environment->override_count;
    return 0;
}

static int take_inputs(const rsdk_session *session, inputs *in) {
    Py_ssize_t count = PyTuple_Size(session->search_path);
    const char *fallback =
        session->fallback != NULL ? PyBytes_AsString(session->fallback) : session->environment.fallback;
    Py_ssize_t module_count = session->modules != NULL ? PyDict_Size(session->modules) : 0;
    in->search_path = calloc((size_t)count + 1, sizeof *in->search_path);
    in->modules = calloc((size_t)module_count + 1, sizeof *in->modules);
    if (in->search_path == NULL || in->modules == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        in->search_path[i] = PyBytes_AsString(PyTuple_GetItem(session->search_path, i));
    }
    in->options = (rsdk_sdk_options){.search_path = in->search_path,
                                     .search_path_count = (size_t)count,
                                     .modules = in->modules,
                                     .target_family = session->environment.target_family,
                                     .gpus = &session->environment.gpus,
                                     .fallback = session->falls_back ? fallback : NULL,
                                     .fallback_source = session->fallback != NULL ? "fallback" : "ROCM_SDK_FALLBACK",
                                     .conda_prefix = session->environment.conda_prefix,
                                     .root = session->environment.root,
                                     .root_source = "ROCM_SDK_ROOT"};
    return take_modules(session, in) < 0 ? -1 : take_overrides(session, in);
}

/* One operation's look for the packages that it needs. */
typedef struct look {
    rsdk_session *session;
    rsdk_operation operation;
    void *context;
    rsdk_status status;
    rsdk_error error; /* of the last attempt: names the places that it has tried */
} look;

/* Open the SDK if it is not open and run the operation, without the GIL; with no SDK, RSDK_PACKAGE_NOT_INSTALLED until
 * the session falls back. -1: an exception is set, and not about the SDK. */
static int attempt(look *l) {
    rsdk_session *session = l->session;
    inputs in = {0};
    int result = session->sdk == NULL ? take_inputs(session, &in) : 0;
    rsdk_error_clear(&l->error);
    if (result == 0) {
        session->is_enough = false;
        Py_BEGIN_ALLOW_THREADS l->status =
            session->sdk == NULL ? rsdk_sdk_open(&in.options, &session->sdk, &l->error) : RSDK_OK;
        if (l->status == RSDK_OK) {
            l->status = rsdk_sdk_version(session->sdk) != NULL || session->falls_back
                            ? l->operation(session->sdk, l->context, &l->error)
                            : RSDK_PACKAGE_NOT_INSTALLED;
        }
        Py_END_ALLOW_THREADS
    }
    free(in.search_path);
    free(in.modules);
    free(in.overrides);
    return result;
}

static int attempt_anew(look *l) {
    rsdk_sdk_free(l->session->sdk);
    l->session->sdk = NULL;
    return attempt(l);
}

/* ---- editable installations ---- */

/* Return the module names of the packages that were not found, for the import system to look up. */
static PyObject *names_of_modules(const rsdk_session *session) {
    PyObject *names = PyList_New(0);
    for (unsigned id = 0; names != NULL && id < RSDK_PACKAGE_COUNT; id++) {
        const char *directory = NULL;
        rsdk_error reason = RSDK_ERROR_INIT;
        rsdk_status status = rsdk_sdk_package_directory(session->sdk, (rsdk_package_id)id, &directory, &reason);
        rsdk_error_clear(&reason);
        if (status == RSDK_OK) {
            continue;
        }
        const char *wanted[] = {rsdk_package_get((rsdk_package_id)id)->pure_module,
                                rsdk_sdk_package_module(session->sdk, (rsdk_package_id)id)};
        for (size_t i = id == RSDK_META ? 1 : 0; names != NULL && i < 2; i++) {
            PyObject *name = wanted[i] != NULL ? PyUnicode_FromString(wanted[i]) : Py_NewRef(Py_None);
            if (name == NULL || (name != Py_None && PyList_Append(names, name) < 0)) {
                Py_CLEAR(names);
            }
            Py_XDECREF(name);
        }
    }
    return names;
}

/* Ask the import system; return 1 where it knows modules that the session does not, 0 where not, -1 with an
 * exception. */
static int ask_import_system(rsdk_session *session) {
    PyObject *finder = PyImport_ImportModule("rocm_sdk.installed.import_hooks");
    PyObject *names = finder != NULL ? names_of_modules(session) : NULL;
    PyObject *found = names != NULL ? PyObject_CallMethod(finder, "find_directories", "O", names) : NULL;
    int result = -1;
    if (found != NULL) {
        Py_ssize_t known = session->modules != NULL ? PyDict_Size(session->modules) : 0;
        if (session->modules == NULL || PyDict_Merge(found, session->modules, 0) == 0) {
            result = PyDict_Size(found) > known;
        }
        Py_XDECREF(session->modules);
        session->modules = found;
    }
    Py_XDECREF(names);
    Py_XDECREF(finder);
    return result;
}

int rsdk_session_start(PyObject *module, rsdk_session *session) {
    *session =
        (rsdk_session){.module = module, .state = rsdk_state_get(module), .search_path = search_path_of_interpreter()};
    rsdk_error error = RSDK_ERROR_INIT;
    return session->search_path != NULL &&
                   rsdk_exceptions_check(rsdk_environment_read(&session->environment, &error), &error)
               ? 0
               : -1;
}

static int take_fallback(rsdk_session *session, PyObject *places) {
    if (places == NULL || places == Py_None) {
        return 0;
    }
    if (!PyUnicode_Check(places)) {
        PyErr_Format(PyExc_TypeError, "fallback is a str such as 'prefix:/opt/rocm,conda,system', not %R", places);
        return -1;
    }
    return PyUnicode_FSConverter(places, &session->fallback) ? 0 : -1;
}

int rsdk_session_choose(rsdk_session *session, const rsdk_keyword_arguments *keywords) {
    PyObject *overrides = keywords->values[RSDK_KEYWORD_OVERRIDES];
    if (take_fallback(session, keywords->values[RSDK_KEYWORD_FALLBACK]) < 0) {
        return -1;
    }
    PyObject *items = overrides != NULL && overrides != Py_None ? PyMapping_Items(overrides) : PyList_New(0);
    session->overrides = items != NULL ? PyList_New(0) : NULL;
    int result = session->overrides != NULL ? 0 : -1;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(items); i++) {
        PyObject *name = NULL, *path = NULL;
        PyObject *item = PyList_GetItem(items, i); /* borrowed */
        if (!PyTuple_Check(item) || PyTuple_Size(item) != 2) {
            PyErr_Format(PyExc_TypeError, "overrides: items() gives pairs of a short name and a path, not %R", item);
            result = -1;
            break;
        }
        result = PyUnicode_FSConverter(PyTuple_GetItem(item, 0), &name) &&
                         PyUnicode_FSConverter(PyTuple_GetItem(item, 1), &path) &&
                         PyList_Append(session->overrides, name) == 0 && PyList_Append(session->overrides, path) == 0
                     ? 0
                     : -1;
        Py_XDECREF(name);
        Py_XDECREF(path);
    }
    Py_XDECREF(items);
    return result;
}

/* ---- the look ---- */

/* Twice: the nonce in the platform packages' names is known once the first answer has led to rocm_sdk_core. */
static int behind_import_hooks(look *l) {
    const rsdk_session *session = l->session;
    for (int i = 0; i < 2 && l->status == RSDK_PACKAGE_NOT_INSTALLED; i++) {
        int is_new = session->sdk != NULL && session->environment.root == NULL ? ask_import_system(l->session) : 0;
        if (is_new <= 0) {
            return is_new;
        }
        if (attempt_anew(l) < 0) {
            return -1;
        }
    }
    return 0;
}

static int where_to_fall_back(look *l) {
    rsdk_session *session = l->session;
    if (session->falls_back || session->sdk == NULL || rsdk_sdk_version(session->sdk) != NULL) {
        return 0;
    }
    session->falls_back = true;
    return attempt_anew(l);
}

/* The steps of a look, until no package is missing; -1: an exception is set. The first looks on the search path, or in
 * the SDK that an earlier operation has opened. */
static int (*const look_steps[])(look *) = {attempt, behind_import_hooks, where_to_fall_back};

int rsdk_session_perform(rsdk_session *session, rsdk_operation operation, void *context) {
    look l = {session, operation, context, RSDK_PACKAGE_NOT_INSTALLED, RSDK_ERROR_INIT};
    int result = 0;
    for (size_t i = 0;
         result == 0 && l.status == RSDK_PACKAGE_NOT_INSTALLED && i < sizeof look_steps / sizeof *look_steps; i++) {
        result = look_steps[i](&l);
    }
    bool is_enough = l.status == RSDK_OK || (l.status == RSDK_PACKAGE_NOT_INSTALLED && session->is_enough);
    if (result == 0 && !is_enough) {
        rsdk_exceptions_raise(&l.error, session->sdk);
        (void)rsdk_fail_with(session->failure, &l.error);
        result = -1;
    }
    rsdk_error_clear(&l.error);
    return result;
}

rsdk_status rsdk_session_need_sdk(rsdk_sdk *sdk, rsdk_error *error) {
    const char *core = NULL;
    /* An SDK behind an import hook is looked for only when the plain search says "not installed". */
    return rsdk_sdk_version(sdk) != NULL ? RSDK_OK : rsdk_sdk_package_directory(sdk, RSDK_CORE, &core, error);
}

int rsdk_session_run(PyObject *module, rsdk_session *session, rsdk_operation operation, void *context) {
    return rsdk_session_start(module, session) == 0 ? rsdk_session_perform(session, operation, context) : -1;
}

void rsdk_session_end(rsdk_session *session) {
    rsdk_sdk_free(session->sdk);
    rsdk_environment_clear(&session->environment);
    Py_CLEAR(session->search_path);
    Py_CLEAR(session->modules);
    Py_CLEAR(session->overrides);
    Py_CLEAR(session->fallback);
}

int rsdk_session_warn(const rsdk_session *session) {
    for (size_t i = 0; i < rsdk_sdk_warning_count(session->sdk); i++) {
        if (rsdk_exceptions_warn("RocmSdkWarning", rsdk_sdk_warning(session->sdk, i)) < 0) {
            return -1;
        }
    }
    return 0;
}
