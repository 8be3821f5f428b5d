/* Functions that find and load libraries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "diagnosis/finding.h"
#include "exceptions.h"
#include "load_arguments.h"
#include "methods.h"
#include "result_types.h"
#include "session.h"

/* ---- arguments ---- */

/* Take the three values of unversioned_names; None leaves the choice to the variable. Return -1 with an exception. */
static int take_unversioned_names(const rsdk_keyword_arguments *keywords, const char *variable,
                                  rsdk_load_options *options) {
    if (rsdk_keyword_arguments_is_open(keywords, RSDK_KEYWORD_UNVERSIONED_NAMES)) {
        options->unversioned_names = variable == NULL             ? RSDK_UNVERSIONED_KNOWN
                                     : strcmp(variable, "1") == 0 ? RSDK_UNVERSIONED_ALL
                                     : strcmp(variable, "0") == 0 ? RSDK_UNVERSIONED_NONE
                                                                  : RSDK_UNVERSIONED_KNOWN;
        return 0;
    }
    int is_true = rsdk_keyword_arguments_is_true(keywords, RSDK_KEYWORD_UNVERSIONED_NAMES);
    options->unversioned_names = is_true > 0 ? RSDK_UNVERSIONED_ALL : RSDK_UNVERSIONED_NONE;
    return is_true < 0 ? -1 : 0;
}

enum { TAKES_PLACES = RSDK_TAKES(OVERRIDES) | RSDK_TAKES(FALLBACK) };

/* ---- finding ---- */

/* Run an operation in a session with the caller's overrides and places. */
static int run(PyObject *module, rsdk_session *session, const rsdk_keyword_arguments *keywords,
               rsdk_operation operation, void *context) {
    return rsdk_session_start(module, session) < 0 || rsdk_session_choose(session, keywords) < 0
               ? -1
               : rsdk_session_perform(session, operation, context);
}

typedef struct locating {
    const rsdk_text_arguments *names;
    rsdk_location *locations;
} locating;

static rsdk_status locate_all(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    const locating *l = context;
    return rsdk_loader_locate_all(sdk, l->names->items, l->names->count, l->locations, error);
}

/* Return a list with the locations of all names, absent libraries included. */
static PyObject *locations_of(PyObject *module, const rsdk_text_arguments *names,
                              const rsdk_keyword_arguments *keywords) {
    locating l = {.names = names, .locations = calloc(names->count + 1, sizeof *l.locations)};
    rsdk_session session;
    PyObject *result = NULL;
    if (l.locations == NULL) {
        return PyErr_NoMemory();
    }
    if (run(module, &session, keywords, locate_all, &l) == 0) {
        result = PyList_New((Py_ssize_t)names->count);
        for (size_t i = 0; result != NULL && i < names->count; i++) {
            PyObject *location = rsdk_result_build(session.state, RSDK_TYPE_LOCATION, &l.locations[i]);
            if (location == NULL || PyList_SetItem(result, (Py_ssize_t)i, location) < 0) {
                Py_CLEAR(result);
            }
        }
        if (result != NULL && rsdk_session_warn(&session) < 0) {
            Py_CLEAR(result);
        }
    }
    rsdk_session_end(&session);
    free(l.locations);
    return result;
}

PyDoc_STRVAR(locate_doc,
             "locate(shortname, /, *, overrides=None, fallback=None)\n--\n\n"
             "Where the library `shortname` is, and how it was found: a LibraryLocation.\n\n"
             "An optional library that is not installed, and one that the SDK declares absent in "
             "share/therock/dist_info.json, have the path None. overrides: files in place of the SDK's (dict "
             "of shortnames and paths).\n"
             "Raises UnknownLibraryError, PackageNotInstalledError or LibraryNotFoundError.");

static PyObject *locate_names(PyObject *module, PyObject *args, PyObject *kwargs) {
    rsdk_keyword_arguments keywords;
    rsdk_text_arguments names = {0};
    PyObject *result = rsdk_keyword_arguments_take(&keywords, kwargs, TAKES_PLACES) == 0 &&
                               rsdk_text_arguments_take_shortnames(&names, args) == 0
                           ? locations_of(module, &names, &keywords)
                           : NULL;
    rsdk_text_arguments_clear(&names);
    return result;
}

static PyObject *locate(PyObject *module, PyObject *args, PyObject *kwargs) {
    if (PyTuple_Size(args) != 1) {
        return PyErr_Format(PyExc_TypeError, "locate() takes one shortname (%zd given)", PyTuple_Size(args));
    }
    PyObject *locations = locate_names(module, args, kwargs);
    PyObject *result = locations != NULL ? Py_NewRef(PyList_GetItem(locations, 0)) : NULL;
    Py_XDECREF(locations);
    return result;
}

PyDoc_STRVAR(
    locate_all_doc,
    "locate_all(*shortnames, overrides=None, fallback=None)\n--\n\n"
    "The LibraryLocation of each library, in the order asked (list). The error names every package that is missing.");

/* ---- planning ---- */

typedef struct loading {
    rsdk_load_options options;
    const char *record_pages; /* a path; NULL: not asked for */
    rsdk_plan *plan;
    rsdk_loaded *loaded;
} loading;

static rsdk_status make_plan(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    loading *l = context;
    return rsdk_plan_new(sdk, &l->options, &l->plan, error);
}

PyDoc_STRVAR(
    load_plan_doc,
    "load_plan(*shortnames, files=(), new_process=False, rtld_global=None, overrides=None, fallback=None)\n--\n\n"
    "What preload_libraries would do with these names, and preload_for with these files, "
    "without loading anything: a LoadPlan. new_process: as if this process had loaded nothing.");

static PyObject *plan_with(PyObject *module, const rsdk_keyword_arguments *keywords, loading *l) {
    rsdk_session session;
    PyObject *result = NULL;
    if (rsdk_session_start(module, &session) == 0 && rsdk_session_choose(&session, keywords) == 0 &&
        rsdk_keyword_arguments_take_scope(keywords, &session.environment, &l->options) == 0 &&
        rsdk_session_perform(&session, make_plan, l) == 0) {
        result = rsdk_result_build(session.state, RSDK_TYPE_PLAN, l->plan);
        if (result != NULL && rsdk_session_warn(&session) < 0) {
            Py_CLEAR(result);
        }
    }
    rsdk_plan_free(l->plan);
    rsdk_session_end(&session);
    return result;
}

static PyObject *load_plan(PyObject *module, PyObject *args, PyObject *kwargs) {
    const unsigned accepted = TAKES_PLACES | RSDK_TAKES(RTLD_GLOBAL) | RSDK_TAKES(FILES) | RSDK_TAKES(NEW_PROCESS);
    rsdk_keyword_arguments keywords;
    rsdk_text_arguments names = {0}, files = {0};
    PyObject *result = NULL;
    int is_new = rsdk_keyword_arguments_take(&keywords, kwargs, accepted) == 0
                     ? rsdk_keyword_arguments_is_true(&keywords, RSDK_KEYWORD_NEW_PROCESS)
                     : -1;
    if (is_new >= 0 && rsdk_text_arguments_take_shortnames(&names, args) == 0 &&
        rsdk_text_arguments_take_files(&files, keywords.values[RSDK_KEYWORD_FILES]) == 0) {
        loading l = {.options = {.shortnames = names.items,
                                 .shortname_count = names.count,
                                 .files = files.items,
                                 .file_count = files.count,
                                 .is_new_process = is_new > 0}};
        result = plan_with(module, &keywords, &l);
    }
    rsdk_text_arguments_clear(&names);
    rsdk_text_arguments_clear(&files);
    return result;
}

/* ---- loading ---- */

/* Write a line without the GIL, which a write to the descriptor does not need. */
static void write_line(void *context, const char *line) {
    enum { SHOWN_SIZE = 16384 }; /* paths and reasons */
    char shown[SHOWN_SIZE];
    (void)context;
    rsdk_text_write_harmless(line, shown, sizeof shown);
    (void)dprintf(STDERR_FILENO, "rocm_sdk: %s\n", shown);
}

/* Refuse a variable that is not as expected; return -1 with an exception. */
static int refuse_variable(const char *variable, const char *value, const char *expected) {
    rsdk_error error = RSDK_ERROR_INIT;
    (void)rsdk_fail_as(&error, RSDK_BAD_ARGUMENT, RSDK_E_ENV_008, variable,
                       RSDK_FACTS({"variable", variable}, {"expected", expected}), "%s=%s is not %s", variable, value,
                       expected);
    rsdk_exceptions_raise_as("EnvironmentOverrideError", &error, NULL);
    rsdk_error_clear(&error);
    return -1;
}

/* Take ROCM_SDK_LOAD_WATCH: 0 seconds where it is not set. */
static int take_watch(const char *value, rsdk_load_options *options) {
    char *end = NULL;
    double seconds = value != NULL && value[0] != '\0' ? strtod(value, &end) : 0;
    if (end != NULL && (*end != '\0' || end == value || !(seconds > 0 && seconds < 1e6))) {
        return refuse_variable("ROCM_SDK_LOAD_WATCH", value, "a number of seconds");
    }
    options->watch_seconds = seconds;
    return 0;
}

/* Take the options of loading from the environment. */
static int take_environment(const rsdk_environment *environment, rsdk_load_options *options) {
    options->report = environment->is_verbose ? write_line : NULL;
    options->ld_preload = environment->ld_preload;
    if (take_watch(environment->load_watch, options) < 0) {
        return -1;
    }
    const char *value = environment->read_ahead;
    if (value != NULL && strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        return refuse_variable("ROCM_SDK_READ_AHEAD", value, "0 or 1");
    }
    options->read_ahead = value == NULL     ? RSDK_READ_AHEAD_IF_COLD
                          : value[0] == '0' ? RSDK_READ_AHEAD_NEVER
                                            : RSDK_READ_AHEAD_ALWAYS;
    return 0;
}

/* Write the list that ROCM_SDK_RECORD_PAGES asks for. A list that cannot be written is no failure of the load. */
static void record_pages(const loading *l, rsdk_sdk *sdk) {
    rsdk_error error = RSDK_ERROR_INIT;
    if (rsdk_loader_record_pages(sdk, l->record_pages, &error) != RSDK_OK) {
        rsdk_text line = RSDK_TEXT_INIT;
        rsdk_text_add(&line, "no page list: %s", rsdk_error_message(&error));
        write_line(NULL, rsdk_text_get(&line));
        rsdk_text_clear(&line);
    }
    rsdk_error_clear(&error);
}

static rsdk_status load(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    loading *l = context;
    rsdk_loaded_free(l->loaded);
    rsdk_status status = rsdk_loader_preload(sdk, &l->options, &l->loaded, error);
    if (status == RSDK_OK && l->record_pages != NULL) {
        record_pages(l, sdk);
    }
    return status;
}

/* Write the report that ROCM_SDK_REPORT asks for. The load counts, not its report: a failure is told, in a line. */
static void write_report(const rsdk_session *session, const rsdk_loaded *loaded, const char *const *environment) {
    const rsdk_report_options options = {.file = session->environment.report, .environment = environment};
    const rsdk_error *failure = session->failure->status != RSDK_OK ? session->failure : NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    if (rsdk_report_write(&options, session->sdk, loaded, failure, &error) != RSDK_OK) {
        rsdk_text line = RSDK_TEXT_INIT;
        rsdk_text_add(&line, "no report: ROCM_SDK_REPORT=%s: %s", options.file, rsdk_error_message(&error));
        write_line(NULL, rsdk_text_get(&line));
        rsdk_text_clear(&line);
    }
    rsdk_error_clear(&error);
}

/* Load, and report the first load of this interpreter that asks for libraries, unless Python itself failed. */
static int load_and_report(rsdk_session *session, loading *l) {
    if (session->environment.report == NULL || session->state->has_reported ||
        l->options.shortname_count + l->options.file_count == 0) {
        return rsdk_session_perform(session, load, l);
    }
    const char **environment = rsdk_environment_list();
    if (environment == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    rsdk_error failure = RSDK_ERROR_INIT;
    session->failure = &failure;
    session->state->has_reported = 1;
    int result = rsdk_session_perform(session, load, l);
    if (result == 0 || failure.status != RSDK_OK) {
        Py_BEGIN_ALLOW_THREADS write_report(session, l->loaded, environment);
        Py_END_ALLOW_THREADS
    }
    session->failure = NULL;
    rsdk_error_clear(&failure);
    free(environment);
    return result;
}

/* Remember a library under its shortname, else its path. */
static int remember(const rsdk_module_state *state, const rsdk_loaded_entry *entry, PyObject *library) {
    const rsdk_location *location = &entry->location;
    PyObject *key =
        location->shortname != NULL ? rsdk_result_text(location->shortname) : rsdk_result_path(location->path);
    int is_known = key != NULL ? PyDict_Contains(state->loaded, key) : -1;
    int result = is_known;
    if (is_known == 0 || (is_known > 0 && entry->is_requested)) { /* a requested library tells more */
        result = PyDict_SetItem(state->loaded, key, library);
    }
    if (result >= 0 && entry->is_requested && location->shortname != NULL) {
        is_known = PyDict_Contains(state->preloaded, key); /* a CDLL that was made from it stays the one it is */
        result = is_known != 0 ? is_known : PyDict_SetItem(state->preloaded, key, library);
    }
    Py_XDECREF(key);
    return result < 0 ? -1 : 0;
}

/* Return a tuple of the requested libraries. All libraries that were opened are remembered. */
static PyObject *take_loaded(const rsdk_module_state *state, const rsdk_loaded *loaded) {
    Py_ssize_t requested = 0;
    PyObject *result = PyTuple_New(loaded != NULL ? (Py_ssize_t)rsdk_loaded_count(loaded) : 0);
    for (size_t i = 0; result != NULL && loaded != NULL && i < rsdk_loaded_opened_count(loaded); i++) {
        const rsdk_loaded_entry *entry = rsdk_loaded_opened(loaded, i);
        PyObject *library = rsdk_result_build(state, RSDK_TYPE_LOADED, entry);
        if (library == NULL || remember(state, entry, library) < 0) {
            Py_CLEAR(result);
        } else if (entry->is_requested && PyTuple_SetItem(result, requested++, Py_NewRef(library)) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(library);
    }
    return result;
}

/* Warn of libraries that took long to load because the GPU was in use. */
static int warn_of_late_loads(const rsdk_loaded *loaded, const char *root) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    int result = 0;
    for (size_t i = 0; result == 0 && i < rsdk_loaded_opened_count(loaded); i++) {
        const char *text = NULL;
        if (rsdk_late_load_describe(rsdk_loaded_opened(loaded, i), root, &arena, &text, NULL) != RSDK_OK) {
            PyErr_NoMemory();
            result = -1;
        } else if (text != NULL) {
            result = rsdk_exceptions_warn("RocmSdkWarning", text);
        }
    }
    rsdk_arena_clear(&arena);
    return result;
}

static int warn_loaded(const rsdk_loaded *loaded) {
    for (size_t i = 0; i < rsdk_loaded_warning_count(loaded); i++) {
        const rsdk_warning *warning = rsdk_loaded_warning(loaded, i);
        if (rsdk_exceptions_warn(warning->kind == RSDK_WARNING_CONFLICT ? "RocmLibraryConflictWarning"
                                                                        : "RocmSdkWarning",
                                 warning->text) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Load libraries and remember them. Where a library fails, the libraries before it are remembered, warnings are issued
 * (one may tell the cause), and the error is raised. *version, where wanted, becomes the SDK's version, which is known
 * now: asking again would open the SDK again. */
static PyObject *preload(PyObject *module, const rsdk_load_options *options, const rsdk_keyword_arguments *keywords,
                         PyObject **version) {
    rsdk_session session;
    loading l = {.options = *options};
    if (rsdk_session_start(module, &session) < 0 || rsdk_session_choose(&session, keywords) < 0 ||
        rsdk_keyword_arguments_take_scope(keywords, &session.environment, &l.options) < 0 ||
        take_unversioned_names(keywords, session.environment.unversioned_names, &l.options) < 0 ||
        take_environment(&session.environment, &l.options) < 0) {
        rsdk_session_end(&session);
        return NULL;
    }
    l.record_pages = session.environment.record_pages;
    int status = load_and_report(&session, &l);
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback); /* the failure, if there is one, must not disturb the building of results */
    PyObject *result = take_loaded(session.state, l.loaded);
    if (result != NULL && l.loaded != NULL &&
        (rsdk_session_warn(&session) < 0 || warn_loaded(l.loaded) < 0 ||
         warn_of_late_loads(l.loaded, session.environment.gpus.root) < 0)) {
        Py_CLEAR(result);
    }
    if (result != NULL && status == 0 && version != NULL) {
        *version = rsdk_result_text(rsdk_sdk_version(session.sdk));
    }
    if (status < 0) { /* a warning that became an exception gives way to the failure */
        Py_CLEAR(result);
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
    }
    rsdk_loaded_free(l.loaded);
    rsdk_session_end(&session);
    return result;
}

PyDoc_STRVAR(
    preload_libraries_doc,
    "preload_libraries(*shortnames, rtld_global=None, unversioned_names=None, overrides=None, fallback=None)\n--\n\n"
    "Loads libraries and what they need, in the order asked; returns a tuple of LoadedLibrary.\n\n"
    "Optional libraries that are not installed are skipped. A library that is already loaded is reused.\n"
    "rtld_global: None makes their symbols global, except libraries that would take each other's place; True does\n"
    "it for these too. unversioned_names: whether dlopen('libx.so') finds a library that was loaded as\n"
    "'libx.so.1'; None: where programs are known to do it, or as ROCM_SDK_UNVERSIONED_NAMES says. Raises what\n"
    "locate raises, and LibraryLoadError.");

static PyObject *preload_libraries(PyObject *module, PyObject *args, PyObject *kwargs) {
    rsdk_keyword_arguments keywords;
    rsdk_text_arguments names = {0};
    PyObject *result = NULL;
    const unsigned accepted = TAKES_PLACES | RSDK_TAKES(RTLD_GLOBAL) | RSDK_TAKES(UNVERSIONED_NAMES);
    if (rsdk_keyword_arguments_take(&keywords, kwargs, accepted) < 0) {
        return NULL;
    }
    if (rsdk_text_arguments_take_shortnames(&names, args) == 0) {
        const rsdk_load_options options = {.shortnames = names.items, .shortname_count = names.count};
        result = preload(module, &options, &keywords, NULL);
    }
    rsdk_text_arguments_clear(&names);
    return result;
}

PyDoc_STRVAR(preload_and_tell_version_doc,
             "preload_and_tell_version(shortnames, rtld_global, unversioned_names, overrides, fallback, /)\n--\n\n"
             "preload_libraries for a tuple of names; returns the SDK's version (str, None where it has none).");

static PyObject *preload_and_tell_version(PyObject *module, PyObject *args) {
    PyObject *shortnames = NULL, *libraries = NULL, *version = NULL;
    rsdk_keyword_arguments keywords = {.values = {NULL}};
    rsdk_text_arguments names = {0};
    PyObject **values = keywords.values;
    if (!PyArg_ParseTuple(args, "O!OOOO", &PyTuple_Type, &shortnames, &values[RSDK_KEYWORD_RTLD_GLOBAL],
                          &values[RSDK_KEYWORD_UNVERSIONED_NAMES], &values[RSDK_KEYWORD_OVERRIDES],
                          &values[RSDK_KEYWORD_FALLBACK])) {
        return NULL;
    }
    if (rsdk_text_arguments_take_shortnames(&names, shortnames) == 0) {
        const rsdk_load_options options = {.shortnames = names.items, .shortname_count = names.count};
        libraries = preload(module, &options, &keywords, &version);
    }
    rsdk_text_arguments_clear(&names);
    Py_XDECREF(libraries);
    return version;
}

PyDoc_STRVAR(
    preload_for_doc,
    "preload_for(*paths, rtld_global=None, overrides=None, fallback=None)\n--\n\n"
    "Loads whatever the given ELF files (an extension module, say) need of the SDK, directly "
    "or through others, and what a file that needs none of it opens by a name without version; returns a tuple of "
    "LoadedLibrary.\n\n"
    "The files themselves are not loaded. A library that they need and that neither the SDK nor the system "
    "has is named in a RocmSdkWarning. Raises PackageNotInstalledError where that is a library of ROCm and no SDK is "
    "installed.");

static PyObject *preload_for(PyObject *module, PyObject *args, PyObject *kwargs) {
    rsdk_keyword_arguments keywords;
    rsdk_text_arguments files = {0};
    PyObject *result = NULL;
    if (rsdk_keyword_arguments_take(&keywords, kwargs, TAKES_PLACES | RSDK_TAKES(RTLD_GLOBAL)) < 0) {
        return NULL;
    }
    if (rsdk_text_arguments_take_paths(&files, args) == 0) {
        const rsdk_load_options options = {.files = files.items, .file_count = files.count};
        result = preload(module, &options, &keywords, NULL);
    }
    rsdk_text_arguments_clear(&files);
    return result;
}

PyDoc_STRVAR(preloaded_libraries_doc, "preloaded_libraries()\n--\n\n"
                                      "What this interpreter has opened, in order: a tuple of LoadedLibrary.");

static PyObject *preloaded_libraries(PyObject *module, PyObject *unused) {
    (void)unused;
    PyObject *values = PyDict_Values(rsdk_state_get(module)->loaded);
    PyObject *result = values != NULL ? PyList_AsTuple(values) : NULL;
    Py_XDECREF(values);
    return result;
}

PyMethodDef rsdk_loader_methods[] = {
    {"locate", WITH_KEYWORDS(locate), METH_VARARGS | METH_KEYWORDS, locate_doc},
    {"locate_all", WITH_KEYWORDS(locate_names), METH_VARARGS | METH_KEYWORDS, locate_all_doc},
    {"load_plan", WITH_KEYWORDS(load_plan), METH_VARARGS | METH_KEYWORDS, load_plan_doc},
    {"preload_libraries", WITH_KEYWORDS(preload_libraries), METH_VARARGS | METH_KEYWORDS, preload_libraries_doc},
    {"preload_and_tell_version", preload_and_tell_version, METH_VARARGS, preload_and_tell_version_doc},
    {"preload_for", WITH_KEYWORDS(preload_for), METH_VARARGS | METH_KEYWORDS, preload_for_doc},
    {"preloaded_libraries", preloaded_libraries, METH_NOARGS, preloaded_libraries_doc},
    {NULL, NULL, 0, NULL},
};
