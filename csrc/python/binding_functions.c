/* Functions that tell the bindings of symbols, and where a process waits. The functions load nothing. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "binding/bindings.h"
#include "exceptions.h"
#include "load_arguments.h"
#include "loader/origin.h"
#include "methods.h"
#include "result_types.h"
#include "sdk_answers.h"

typedef struct foreseeing {
    rsdk_load_options options;
    rsdk_opening *openings;
    size_t opening_count;
    rsdk_bindings *bindings; /* owned; NULL: none yet */
} foreseeing;

static rsdk_status foresee(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    foreseeing *f = context;
    rsdk_bindings_free(f->bindings);
    return rsdk_bindings_read(sdk, &f->options, f->openings, f->opening_count, &f->bindings, error);
}

/* Take the files to open. Files are opened after their needs, as an import opens them. */
static int take_openings(const rsdk_text_arguments *files, foreseeing *f) {
    f->openings = calloc(files->count + 1, sizeof *f->openings);
    if (f->openings == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < files->count; i++) {
        f->openings[i] = (rsdk_opening){.path = files->items[i], .mode = RTLD_LOCAL};
    }
    f->opening_count = files->count;
    return 0;
}

/* Foresee the bindings in a session that is started. The keywords are `accepted` (RSDK_TAKES). */
static PyObject *foresee_in(rsdk_session *session, PyObject *args, PyObject *kwargs, unsigned accepted) {
    rsdk_keyword_arguments keywords;
    rsdk_text_arguments names = {0}, files = {0};
    foreseeing f = {.opening_count = 0};
    PyObject *result = NULL;
    int has_all = rsdk_keyword_arguments_take(&keywords, kwargs, accepted) == 0
                      ? rsdk_keyword_arguments_is_true(&keywords, RSDK_KEYWORD_EVERY)
                      : -1;
    if (has_all >= 0 && rsdk_text_arguments_take_shortnames(&names, args) == 0 &&
        rsdk_text_arguments_take_files(&files, keywords.values[RSDK_KEYWORD_FILES]) == 0 &&
        take_openings(&files, &f) == 0 &&
        ((accepted & RSDK_TAKES(OVERRIDES)) == 0 || rsdk_session_choose(session, &keywords) == 0) &&
        rsdk_keyword_arguments_take_scope(&keywords, &session->environment, &f.options) == 0) {
        f.options.shortnames = names.items;
        f.options.shortname_count = names.count;
        f.options.files = files.items;
        f.options.file_count = files.count;
        f.options.ld_preload = session->environment.ld_preload;
        if (rsdk_session_perform(session, foresee, &f) == 0 &&
            rsdk_result_types_add_others(session->module, session->state) == 0) {
            const rsdk_shown_bindings shown = {.bindings = f.bindings, .has_all = has_all != 0};
            result = rsdk_result_build(session->state, RSDK_TYPE_BINDINGS, &shown);
        }
    }
    rsdk_bindings_free(f.bindings);
    free(f.openings);
    rsdk_text_arguments_clear(&names);
    rsdk_text_arguments_clear(&files);
    return result;
}

PyDoc_STRVAR(
    bindings_doc,
    "bindings(*shortnames, files=(), rtld_global=None, every=False, overrides=None, fallback=None)\n--\n\n"
    "Which file each symbol of these libraries would bind to, without loading anything: a Bindings.\n\n"
    "files: ELF files, extension modules say, that are opened after what they need. every: whether `references` "
    "has those too that bind as meant. Raises what load_plan raises, and BadLibraryError for a damaged file.");

static PyObject *bindings(PyObject *module, PyObject *args, PyObject *kwargs) {
    const unsigned accepted =
        RSDK_TAKES(OVERRIDES) | RSDK_TAKES(FALLBACK) | RSDK_TAKES(RTLD_GLOBAL) | RSDK_TAKES(FILES) | RSDK_TAKES(EVERY);
    rsdk_session session;
    PyObject *result = rsdk_session_start(module, &session) == 0 ? foresee_in(&session, args, kwargs, accepted) : NULL;
    rsdk_session_end(&session);
    return result;
}

PyObject *rsdk_sdk_answer_bindings(rsdk_session *session, PyObject *args, PyObject *kwargs) {
    return foresee_in(session, args, kwargs, RSDK_TAKES(FILES) | RSDK_TAKES(EVERY));
}

/* ---- a plan and its bindings ---- */

typedef struct planning {
    foreseeing foreseen;
    rsdk_session session;
    rsdk_plan *plan;  /* owned, without bindings */
    const char *core; /* directory of the core package */
    unsigned purpose;
    bool is_bound; /* bindings are wanted */
} planning;

static const rsdk_plan *plan_of(const planning *p) {
    return p->is_bound ? rsdk_bindings_plan(p->foreseen.bindings) : p->plan;
}

static void forget_plan(planning *p) {
    rsdk_bindings_free(p->foreseen.bindings);
    rsdk_plan_free(p->plan);
    p->foreseen.bindings = NULL;
    p->plan = NULL;
}

static rsdk_status make_plan(rsdk_sdk *sdk, void *context, rsdk_error *error) {
    planning *p = context;
    foreseeing *f = &p->foreseen;
    forget_plan(p);
    if ((p->purpose & RSDK_PLAN_OF_INSTALLED) != 0) {
        RSDK_TRY(rsdk_session_need_sdk(sdk, error));
    }
    RSDK_TRY(p->is_bound
                 ? rsdk_bindings_make(sdk, &f->options, p->purpose, f->openings, f->opening_count, &f->bindings, error)
                 : rsdk_plan_make(sdk, &f->options, p->purpose, &p->plan, error));
    RSDK_TRY(rsdk_sdk_package_directory(sdk, RSDK_CORE, &p->core, error));
    p->session.is_enough = plan_of(p)->lacks_packages;
    return p->session.is_enough ? RSDK_PACKAGE_NOT_INSTALLED : RSDK_OK;
}

static PyObject *build_plan(const planning *p) {
    const rsdk_module_state *state = p->session.state;
    const rsdk_shown_bindings shown = {.bindings = p->foreseen.bindings};
    PyObject *plan = rsdk_result_build(state, RSDK_TYPE_PLAN, plan_of(p));
    PyObject *found = NULL, *result = NULL;
    if (plan != NULL) {
        found = p->is_bound ? rsdk_result_build(state, RSDK_TYPE_BINDINGS, &shown) : Py_NewRef(Py_None);
    }
    if (found != NULL) {
        result = Py_BuildValue("(OON)", plan, found, rsdk_result_path(p->core));
    }
    Py_XDECREF(plan);
    Py_XDECREF(found);
    if (result != NULL && rsdk_session_warn(&p->session) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *plan_with(PyObject *module, planning *p) {
    const rsdk_keyword_arguments keywords = {.values = {NULL}};
    PyObject *result = NULL;
    bool is_started = rsdk_session_start(module, &p->session) == 0 &&
                      rsdk_keyword_arguments_take_scope(&keywords, &p->session.environment, &p->foreseen.options) == 0;
    p->foreseen.options.ld_preload = p->session.environment.ld_preload;
    if (is_started && rsdk_session_perform(&p->session, make_plan, p) == 0 &&
        rsdk_result_types_add_others(module, rsdk_state_get(module)) == 0) {
        result = build_plan(p);
    }
    forget_plan(p);
    rsdk_session_end(&p->session);
    return result;
}

PyDoc_STRVAR(
    plan_and_bindings_doc,
    "plan_and_bindings(shortnames, files, has_bindings, /)\n--\n\n"
    "The LoadPlan of these libraries (tuple; None: all that are installed), with has_bindings their Bindings "
    "and the Bindings of files that are opened after them (tuple), else None, and the directory of the core package "
    "(str), of one look at the SDK, for a process that has imported rocm_sdk and nothing else. Raises what bindings() "
    "and package_directory() raise.");

static PyObject *plan_and_bindings(PyObject *module, PyObject *args) {
    PyObject *shortnames = NULL, *paths = NULL, *result = NULL;
    rsdk_text_arguments names = {0}, files = {0};
    planning p = {.purpose = RSDK_PLAN_ASKS_LINKER | RSDK_PLAN_OF_COMMAND};
    int has_bindings = 0;
    if (!PyArg_ParseTuple(args, "OO!p", &shortnames, &PyTuple_Type, &paths, &has_bindings)) {
        return NULL;
    }
    if (shortnames != Py_None && !PyTuple_Check(shortnames)) {
        return PyErr_Format(PyExc_TypeError, "shortnames are a tuple, or None for all, not %R", shortnames);
    }
    p.is_bound = has_bindings != 0;
    p.purpose |= shortnames == Py_None ? RSDK_PLAN_OF_INSTALLED : 0U;
    if ((shortnames == Py_None || rsdk_text_arguments_take_shortnames(&names, shortnames) == 0) &&
        rsdk_text_arguments_take_files(&files, paths) == 0 && take_openings(&files, &p.foreseen) == 0) {
        p.foreseen.options = (rsdk_load_options){
            .shortnames = names.items, .shortname_count = names.count, .files = files.items, .file_count = files.count};
        result = plan_with(module, &p);
    }
    free(p.foreseen.openings);
    rsdk_text_arguments_clear(&names);
    rsdk_text_arguments_clear(&files);
    return result;
}

/* ---- a process ---- */

/* Convert an argument of PyArg_Parse: a number that a process can have, or 0 for this process. */
static int take_process(PyObject *value, void *pid) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (number == -1 && PyErr_Occurred() != NULL) {
        return 0;
    }
    if (overflow != 0 || number < 0 || number > INT_MAX) {
        PyErr_SetString(PyExc_ValueError, "this is not the number of a process: it is negative or too large");
        return 0;
    }
    *(pid_t *)pid = (pid_t)number;
    return 1;
}

PyDoc_STRVAR(
    process_bindings_doc,
    "process_bindings(pid=0, *, every=False)\n--\n\n"
    "The file to which each symbol of the libraries of a process is bound, by default this one: a Bindings.\n\n"
    "The memory of the process is read, so the kernel must allow that (OSError where it does not). `every` is "
    "as in bindings().");

static PyObject *process_bindings(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char pid_keyword[] = "pid", every_keyword[] = "every";
    static char *accepted[] = {pid_keyword, every_keyword, NULL};
    rsdk_module_state *state = rsdk_state_get(module);
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_bindings *found = NULL;
    PyObject *result = NULL;
    pid_t pid = 0;
    int has_all = 0;
    rsdk_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&$p", accepted, take_process, &pid, &has_all) ||
        rsdk_result_types_add_others(module, state) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = rsdk_bindings_read_process(pid, &found, &error);
    Py_END_ALLOW_THREADS;
    if (rsdk_exceptions_check(status, &error)) {
        const rsdk_shown_bindings shown = {.bindings = found, .has_all = has_all != 0};
        result = rsdk_result_build(state, RSDK_TYPE_BINDINGS, &shown);
    }
    rsdk_bindings_free(found);
    return result;
}

PyDoc_STRVAR(
    stack_of_process_doc,
    "stack_of_process(pid, /)\n--\n\n"
    "Where the first thread of another process waits: calls as tuples of file and function (None: not exported), "
    "the innermost first; () while it runs. OSError where the kernel does not allow to look.");

static PyObject *build_call(const rsdk_module_state *state, const void *calls, size_t index) {
    const rsdk_stack_call *call = &((const rsdk_stack_call *)calls)[index];
    (void)state;
    return Py_BuildValue("(NN)", rsdk_result_path(call->path), rsdk_result_path(call->function));
}

static PyObject *stack_of_process(PyObject *module, PyObject *args) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_stack_calls calls = {0};
    rsdk_error error = RSDK_ERROR_INIT;
    PyObject *result = NULL;
    rsdk_status status;
    pid_t pid = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", take_process, &pid)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = rsdk_thread_stack_read(pid, &arena, &calls, &error);
    Py_END_ALLOW_THREADS;
    if (rsdk_exceptions_check(status, &error)) {
        result = rsdk_result_tuple(NULL, build_call, calls.items, calls.count);
    }
    rsdk_arena_clear(&arena);
    return result;
}

PyDoc_STRVAR(
    origins_of_files_doc,
    "origins_of_files(paths, mapped, preloaded, library_path, /)\n--\n\n"
    "What brought files into a process: for each of `paths` a tuple of kind (\"profiler\", \"preloaded\", \"RPATH\", "
    "\"library path\", \"system\", \"unknown\"), library (of the first and the third kind, else None) and text.\n"
    "mapped: the files of the process. preloaded: the entries of its LD_PRELOAD. library_path: the directories of its\n"
    "LD_LIBRARY_PATH. Each a tuple of str.");

static PyObject *build_origin(const rsdk_module_state *state, const void *origins, size_t index) {
    static const char *const kinds[RSDK_ORIGIN_KIND_COUNT] = {
        [RSDK_ORIGIN_UNKNOWN] = "unknown",           [RSDK_ORIGIN_PROFILER] = "profiler",
        [RSDK_ORIGIN_PRELOADED] = "preloaded",       [RSDK_ORIGIN_RPATH] = "RPATH",
        [RSDK_ORIGIN_LIBRARY_PATH] = "library path", [RSDK_ORIGIN_SYSTEM] = "system"};
    const rsdk_origin *origin = &((const rsdk_origin *)origins)[index];
    (void)state;
    return Py_BuildValue("(sNN)", kinds[origin->kind], rsdk_result_path(origin->by), rsdk_result_path(origin->text));
}

static rsdk_status find_origins(const rsdk_text_arguments lists[4], rsdk_arena *arena, rsdk_origin **found,
                                rsdk_error *error) {
    rsdk_origins origins = {.arena = arena};
    rsdk_strings *const taken[] = {&origins.mapped, &origins.preloaded, &origins.library_path};
    *found = rsdk_arena_alloc(arena, lists[0].count + 1, sizeof **found);
    RSDK_NEED(*found, error);
    for (size_t i = 0; i < 3; i++) {
        taken[i]->items = lists[i + 1].items;
        taken[i]->count = lists[i + 1].count;
    }
    for (size_t i = 0; i < lists[0].count; i++) {
        RSDK_TRY(rsdk_origins_find(&origins, lists[0].items[i], &(*found)[i], error));
    }
    return RSDK_OK;
}

static PyObject *origins_of_files(PyObject *module, PyObject *args) {
    PyObject *tuples[4] = {NULL}, *result = NULL;
    rsdk_text_arguments lists[4] = {0};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_origin *found = NULL;
    rsdk_status status = RSDK_OK;
    int taken = PyArg_ParseTuple(args, "O!O!O!O!", &PyTuple_Type, &tuples[0], &PyTuple_Type, &tuples[1], &PyTuple_Type,
                                 &tuples[2], &PyTuple_Type, &tuples[3])
                    ? 0
                    : -1;
    for (size_t i = 0; taken == 0 && i < 4; i++) {
        taken = rsdk_text_arguments_take_paths(&lists[i], tuples[i]);
    }
    (void)module;
    if (taken == 0) {
        Py_BEGIN_ALLOW_THREADS;
        status = find_origins(lists, &arena, &found, &error);
        Py_END_ALLOW_THREADS;
        if (rsdk_exceptions_check(status, &error)) {
            result = rsdk_result_tuple(NULL, build_origin, found, lists[0].count);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        rsdk_text_arguments_clear(&lists[i]);
    }
    rsdk_arena_clear(&arena);
    return result;
}

PyMethodDef rsdk_binding_methods[] = {
    {"bindings", WITH_KEYWORDS(bindings), METH_VARARGS | METH_KEYWORDS, bindings_doc},
    {"plan_and_bindings", plan_and_bindings, METH_VARARGS, plan_and_bindings_doc},
    {"process_bindings", WITH_KEYWORDS(process_bindings), METH_VARARGS | METH_KEYWORDS, process_bindings_doc},
    {"stack_of_process", stack_of_process, METH_VARARGS, stack_of_process_doc},
    {"origins_of_files", origins_of_files, METH_VARARGS, origins_of_files_doc},
    {NULL, NULL, 0, NULL},
};
