/* Functions about the GPUs of this machine. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "exceptions.h"
#include "gpu/gpu_list.h"
#include "methods.h"
#include "result_types.h"
#include "sdk/built_for.h"
#include "sdk/environment.h"

/* The class for whatever is wrong with the kernel's files. */
static const char topology_error[] = "TopologyError";

PyDoc_STRVAR(runtime_rules_doc,
             "runtime_rules(path, /)\n--\n\n"
             "Whether this libhsa-runtime64 reads 0b1 in ROCR_VISIBLE_DEVICES as 1, and whether it takes any version\n"
             "that HSA_OVERRIDE_GFX_VERSION names, as ROCr 6.4.3 does; False: not known. Whether it finds no GPU\n"
             "beside one with doorbells of an older type; None: not known. Errors as of inspect_library().");

static PyObject *runtime_rules(PyObject *module, PyObject *argument) {
    (void)module;
    PyObject *path = NULL;
    rsdk_gpu_runtime runtime = {0};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = RSDK_OK;
    if (!PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = rsdk_runtime_rules_read(name, &runtime, &error);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    PyObject *ends = runtime.ends_at_old_doorbells ? Py_True : runtime.skips_old_doorbells ? Py_False : Py_None;
    return rsdk_exceptions_check(status, &error) ? Py_BuildValue("(NNO)", PyBool_FromLong(runtime.reads_binary),
                                                                 PyBool_FromLong(runtime.takes_any_version), ends)
                                                 : NULL;
}

/* Ask for the rules of the installed SDK's runtime, only where a variable makes them matter, or a GPU of the list that
 * is read already (NULL: none is). Return 1, 0 where they do not matter, or -1 with an exception. */
static int ask_runtime(const rsdk_environment *environment, const rsdk_gpu_list *list, rsdk_gpu_runtime *runtime) {
    if (!rsdk_gpu_runtime_matters(&environment->gpu_variables, list)) {
        return 0;
    }
    PyObject *module = PyImport_ImportModule("rocm_sdk.fit.runtime_rules");
    PyObject *rules = module != NULL ? PyObject_CallMethod(module, "installed_rules", NULL) : NULL;
    int reads_binary = 0, takes_any_version = 0, ends = 0;
    int is_read = rules != NULL && PyArg_ParseTuple(rules, "ppp", &reads_binary, &takes_any_version, &ends);
    *runtime = (rsdk_gpu_runtime){.reads_binary = reads_binary != 0,
                                  .takes_any_version = takes_any_version != 0,
                                  .ends_at_old_doorbells = ends != 0};
    Py_XDECREF(rules);
    Py_XDECREF(module);
    return is_read ? 1 : -1;
}

/* Read the machine, without the GIL; again where its GPUs make the rules matter. `root` is bytes, or NULL for the root
 * that the environment says. */
static rsdk_gpu_list *read_gpus(PyObject *root, bool targets_only, const char *refused, int refusal) {
    rsdk_environment environment;
    rsdk_gpu_list *list = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_gpu_runtime runtime = {0};
    rsdk_status status = rsdk_environment_read(&environment, &error);
    environment.gpus.root = root != NULL ? PyBytes_AsString(root) : environment.gpus.root;
    environment.gpus.targets_only = targets_only;
    environment.gpus.refused = refused;
    environment.gpus.refusal = refusal;
    int asked = status != RSDK_OK ? -1 : targets_only ? 0 : ask_runtime(&environment, NULL, &runtime);
    for (bool is_last = targets_only || asked > 0; asked >= 0; is_last = true) {
        Py_BEGIN_ALLOW_THREADS status = rsdk_gpu_list_new_for(&environment.gpus, runtime, &list, &error);
        Py_END_ALLOW_THREADS asked = is_last || list == NULL ? 0 : ask_runtime(&environment, list, &runtime);
        if (asked == 0) {
            break;
        }
        rsdk_gpu_list_free(list);
        list = NULL;
    }
    rsdk_environment_clear(&environment);
    (void)rsdk_exceptions_check_as(topology_error, status, &error);
    return list;
}

/* Return the list for arguments `(*, root=None, refused=None)`. NULL with an exception. */
static rsdk_gpu_list *read_gpus_for(PyObject *args, PyObject *kwargs, bool targets_only) {
    static char *keywords[] = {"root", "refused", NULL};
    PyObject *argument = Py_None, *root = NULL;
    const char *refused = NULL;
    int refusal = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O(si)", keywords, &argument, &refused, &refusal) ||
        (argument != Py_None && !PyUnicode_FSConverter(argument, &root))) {
        return NULL;
    }
    rsdk_gpu_list *list = read_gpus(root, targets_only, refused, refusal);
    Py_XDECREF(root);
    return list;
}

/* Return a tuple of the items that `build` makes of the list, which is freed. NULL with an exception, also where there
 * is no list. */
static PyObject *tuple_of(PyObject *module, rsdk_gpu_list *list, rsdk_item_builder build,
                          size_t (*count)(const rsdk_gpu_list *list)) {
    PyObject *result = list != NULL ? rsdk_result_tuple(rsdk_state_get(module), build, list, count(list)) : NULL;
    rsdk_gpu_list_free(list);
    return result;
}

static PyObject *build_gpu(const rsdk_module_state *state, const void *list, size_t index) {
    return rsdk_result_build(state, RSDK_TYPE_GPU, rsdk_gpu_list_get(list, index));
}

/* Make a Problem; the module that makes it is imported where there is one. */
static PyObject *problem_of(const rsdk_gpu_problem *problem) {
    PyObject *problems = PyImport_ImportModule("rocm_sdk.problems");
    PyObject *found = rsdk_result_finding(problem->code, problem->path, problem->facts, problem->fact_count);
    PyObject *result =
        problems != NULL && found != NULL ? PyObject_CallMethod(problems, "problem_of", "(O)", found) : NULL;
    Py_XDECREF(found);
    Py_XDECREF(problems);
    return result;
}

static PyObject *build_problem(const rsdk_module_state *state, const void *list, size_t index) {
    (void)state;
    return problem_of(rsdk_gpu_list_problem(list, index));
}

PyDoc_STRVAR(gpus_doc,
             "gpus(*, root=None)\n--\n\n"
             "The GPUs of this machine, in the order of their KFD nodes (tuple of Gpu), read from the kernel's files:\n"
             "no process is started and ROCm is not needed. No driver and no GPU give an empty tuple;\n"
             "check_gpu_access() says why.\n\n"
             "root (path): the file system's root, by default ROCM_SDK_ROOTFS or '/'. Raises TopologyError (OSError)\n"
             "where the kernel's files are damaged or do not hold still.");

static PyObject *gpus(PyObject *module, PyObject *args, PyObject *kwargs) {
    rsdk_gpu_list *list =
        rsdk_result_types_add_gpu(module, rsdk_state_get(module)) == 0 ? read_gpus_for(args, kwargs, false) : NULL;
    return tuple_of(module, list, build_gpu, rsdk_gpu_list_count);
}

PyDoc_STRVAR(check_gpu_access_doc,
             "check_gpu_access(*, root=None)\n--\n\n"
             "What keeps this user from the GPUs, and variables that are probably set by mistake (tuple of\n"
             "Problem): driver, device files and their groups, containers, WSL2, visibility, overrides.\n\n"
             "root and errors as with gpus().");

static PyObject *check_gpu_access(PyObject *module, PyObject *args, PyObject *kwargs) {
    return tuple_of(module, read_gpus_for(args, kwargs, false), build_problem, rsdk_gpu_list_problem_count);
}

static PyObject *build_processor(const rsdk_module_state *state, const void *list, size_t index) {
    (void)state;
    return rsdk_result_text(rsdk_gpu_list_get(list, index)->real_processor);
}

PyDoc_STRVAR(gpu_processors_doc,
             "gpu_processors(*, root=None)\n--\n\n"
             "real_processor of each GPU (tuple of str): quicker than gpus(). root and errors as there.");

static PyObject *gpu_processors(PyObject *module, PyObject *args, PyObject *kwargs) {
    return tuple_of(module, read_gpus_for(args, kwargs, true), build_processor, rsdk_gpu_list_count);
}

/* Return the items of a tuple as C texts, borrowed from it. NULL with an exception. The array is to be freed. */
static const char **texts_of(PyObject *tuple) {
    if (!PyTuple_Check(tuple)) {
        return (const char **)PyErr_Format(PyExc_TypeError, "expected a tuple of str, not %R",
                                           (PyObject *)Py_TYPE(tuple));
    }
    Py_ssize_t count = PyTuple_Size(tuple);
    const char **texts = count >= 0 ? calloc((size_t)count + 1, sizeof *texts) : NULL;
    if (texts == NULL) {
        return count >= 0 ? (const char **)PyErr_NoMemory() : NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL);
        if (texts[i] == NULL) {
            free((void *)texts);
            return NULL;
        }
    }
    return texts;
}

PyDoc_STRVAR(choose_family_doc,
             "choose_family(families, /)\n--\n\n"
             "Which of the target families (tuple of str) fits the GPUs of this machine, one that another visible GPU\n"
             "would need instead, and the target of the GPU that decided (tuple of three str or None). Raises\n"
             "TopologyError as gpus() does.");

static rsdk_status choose_without_gil(const char *const *families, size_t count, rsdk_family_choice *choice,
                                      rsdk_error *error) {
    rsdk_environment environment;
    rsdk_status status = rsdk_environment_read(&environment, error);
    if (status == RSDK_OK) {
        Py_BEGIN_ALLOW_THREADS status = rsdk_family_choose(&environment.gpus, families, count, choice, error);
        Py_END_ALLOW_THREADS
    }
    rsdk_environment_clear(&environment);
    return status;
}

static PyObject *choose_family(PyObject *module, PyObject *families) {
    (void)module;
    const char **texts = texts_of(families);
    size_t count = texts != NULL ? (size_t)PyTuple_Size(families) : 0;
    rsdk_family_choice choice = {.family = count, .other = count};
    rsdk_error error = RSDK_ERROR_INIT;
    PyObject *result = NULL;
    if (texts == NULL) {
        return NULL;
    }
    if (rsdk_exceptions_check_as(topology_error, choose_without_gil(texts, count, &choice, &error), &error)) {
        result =
            Py_BuildValue("(zzz)", choice.family < count ? texts[choice.family] : NULL,
                          choice.other < count ? texts[choice.other] : NULL, choice.gpu[0] != '\0' ? choice.gpu : NULL);
    }
    free((void *)texts);
    return result;
}

PyDoc_STRVAR(
    survey_gpus_doc,
    "survey_gpus(*, root=None, refused=None)\n--\n\n"
    "gpus() and check_gpu_access() of one reading, and the variable that hides each GPU or None (tuple of three\n"
    "tuples). refused: a device file and errno of its open, the last word on it. root and errors as there.");

static PyObject *build_hidden_by(const rsdk_module_state *state, const void *list, size_t index) {
    (void)state;
    return rsdk_result_text(rsdk_gpu_list_get(list, index)->hidden_by);
}

static PyObject *survey_gpus(PyObject *module, PyObject *args, PyObject *kwargs) {
    rsdk_module_state *state = rsdk_state_get(module);
    rsdk_gpu_list *list = rsdk_result_types_add_gpu(module, state) == 0 ? read_gpus_for(args, kwargs, false) : NULL;
    if (list == NULL) {
        return NULL;
    }
    PyObject *result = Py_BuildValue("(NNN)", rsdk_result_tuple(state, build_gpu, list, rsdk_gpu_list_count(list)),
                                     rsdk_result_tuple(state, build_problem, list, rsdk_gpu_list_problem_count(list)),
                                     rsdk_result_tuple(state, build_hidden_by, list, rsdk_gpu_list_count(list)));
    rsdk_gpu_list_free(list);
    return result;
}

PyDoc_STRVAR(detect_gpus_doc,
             "detect_gpus()\n--\n\n"
             "The GPUs of this machine, also where the driver does not work: tuples (target or None, class, what told\n"
             "it: 'KFD', 'amdgpu' or 'PCI id', place). Visibility and overrides do not count. Raises TopologyError as\n"
             "gpus() does.");

static PyObject *build_detected(const rsdk_module_state *state, const void *list, size_t index) {
    (void)state;
    const rsdk_detected_gpu *gpu = &((const rsdk_detected_gpus *)list)->items[index];
    return Py_BuildValue("(zsss)", gpu->target, rsdk_gpu_class_name(gpu->gpu_class),
                         rsdk_detection_source_name(gpu->source), gpu->place);
}

static PyObject *detect_gpus(PyObject *module, PyObject *unused) {
    (void)unused;
    rsdk_environment environment;
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_detected_gpus found = {0};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_environment_read(&environment, &error);
    if (status == RSDK_OK) {
        Py_BEGIN_ALLOW_THREADS status = rsdk_detection_read(environment.gpus.root, &arena, &found, &error);
        Py_END_ALLOW_THREADS
    }
    rsdk_environment_clear(&environment);
    PyObject *result =
        status == RSDK_OK ? rsdk_result_tuple(rsdk_state_get(module), build_detected, &found, found.count) : NULL;
    (void)rsdk_exceptions_check_as(topology_error, status, &error);
    rsdk_arena_clear(&arena);
    return result;
}

PyDoc_STRVAR(
    choose_gpus_doc,
    "choose_gpus(words, layer, supported, /)\n--\n\n"
    "The variables of a process that is to see only these GPUs (tuple of (name, value); None: to be removed).\n"
    "words (str): as of `rocm-sdk run --gpu`; layer: 'hip' or 'rocr'; supported (tuple of str): the targets\n"
    "that the word `supported` stands for. Raises EmptySelectionError if there is no such GPU,\n"
    "UnknownTargetError for an unknown word, TopologyError as gpus() does.");

static PyObject *build_variables(const rsdk_gpu_variable *variables, size_t count) {
    PyObject *result = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *pair = Py_BuildValue("(sz)", variables[i].name, variables[i].value);
        if (pair == NULL || PyTuple_SetItem(result, (Py_ssize_t)i, pair) != 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

static PyObject *choose_gpus(PyObject *module, PyObject *args) {
    rsdk_gpu_selection selection = {0};
    const char *layer = NULL;
    PyObject *supported = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "ssO!", &selection.words, &layer, &PyTuple_Type, &supported)) {
        return NULL;
    }
    if (strcmp(layer, "hip") != 0 && strcmp(layer, "rocr") != 0) {
        return PyErr_Format(PyExc_ValueError, "layer is \"%s\", and is one of hip, rocr", layer);
    }
    const char **texts = texts_of(supported);
    if (texts == NULL) {
        return NULL;
    }
    selection.layer = strcmp(layer, "hip") == 0 ? RSDK_GPU_LAYER_HIP : RSDK_GPU_LAYER_ROCR;
    selection.supported = texts;
    rsdk_gpu_variable variables[RSDK_GPU_VARIABLE_LIMIT];
    rsdk_environment environment;
    rsdk_gpu_list *list = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    size_t count = 0;
    PyObject *result = NULL;
    rsdk_gpu_runtime runtime = {0};
    rsdk_status status = rsdk_environment_read(&environment, &error);
    if (rsdk_exceptions_check(status, &error) && ask_runtime(&environment, NULL, &runtime) >= 0) {
        Py_BEGIN_ALLOW_THREADS status = rsdk_gpu_list_new_for(&environment.gpus, runtime, &list, &error);
        Py_END_ALLOW_THREADS status = status == RSDK_OK ? rsdk_gpu_list_choose(list, &environment.gpu_variables,
                                                                               &selection, variables, &count, &error)
                                                        : status;
        if (status == RSDK_OK) {
            result = build_variables(variables, count);
        } else if (status != RSDK_BAD_ARGUMENT) {
            rsdk_exceptions_raise_as(topology_error, &error, NULL);
        } else {
            bool is_empty = error.code == RSDK_E_GPU_008;
            rsdk_exceptions_raise_as(is_empty ? "EmptySelectionError" : "UnknownTargetError", &error, NULL);
        }
    }
    rsdk_error_clear(&error);
    rsdk_gpu_list_free(list);
    rsdk_environment_clear(&environment);
    free((void *)texts);
    return result;
}

PyDoc_STRVAR(
    gpu_health_doc,
    "gpu_health(*, root=None)\n--\n\n"
    "The condition of the GPUs and of what belongs to them (tuple of (check, node, state, text, Problem)): node\n"
    "is None for the machine, state 'good', 'bad', 'unknown' or 'fact', the problem None unless bad. root and\n"
    "errors as with gpus().");

static PyObject *build_health(const rsdk_module_state *state, const void *health, size_t index) {
    (void)state;
    const rsdk_health_item *item = rsdk_health_get(health, index);
    PyObject *node = item->node >= 0 ? PyLong_FromLong(item->node) : Py_NewRef(Py_None);
    PyObject *problem = item->problem != NULL ? problem_of(item->problem) : Py_NewRef(Py_None);
    if (node == NULL || problem == NULL) {
        Py_XDECREF(node);
        Py_XDECREF(problem);
        return NULL;
    }
    return Py_BuildValue("(sNsNN)", item->check, node, rsdk_health_state_name(item->state),
                         rsdk_result_path(item->text), problem);
}

/* Examine the GPUs below the same root as the list. NULL with an exception. */
static rsdk_health *examine_gpus(const rsdk_gpu_list *list, PyObject *root) {
    rsdk_environment environment;
    rsdk_health *health = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_environment_read(&environment, &error);
    if (status == RSDK_OK) {
        const char *path = root != NULL ? PyBytes_AsString(root) : environment.gpus.root;
        Py_BEGIN_ALLOW_THREADS status = rsdk_health_new(list, path, &health, &error);
        Py_END_ALLOW_THREADS
    }
    rsdk_environment_clear(&environment);
    (void)rsdk_exceptions_check_as(topology_error, status, &error);
    return health;
}

static PyObject *gpu_health(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *keywords[] = {"root", NULL};
    PyObject *argument = Py_None, *root = NULL, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O", keywords, &argument) ||
        (argument != Py_None && !PyUnicode_FSConverter(argument, &root))) {
        return NULL;
    }
    rsdk_gpu_list *list = read_gpus(root, false, NULL, 0);
    rsdk_health *health = list != NULL ? examine_gpus(list, root) : NULL;
    if (health != NULL) {
        result = rsdk_result_tuple(rsdk_state_get(module), build_health, health, rsdk_health_count(health));
    }
    rsdk_health_free(health);
    rsdk_gpu_list_free(list);
    Py_XDECREF(root);
    return result;
}

PyMethodDef rsdk_gpu_methods[] = {
    {"gpus", WITH_KEYWORDS(gpus), METH_VARARGS | METH_KEYWORDS, gpus_doc},
    {"check_gpu_access", WITH_KEYWORDS(check_gpu_access), METH_VARARGS | METH_KEYWORDS, check_gpu_access_doc},
    {"runtime_rules", runtime_rules, METH_O, runtime_rules_doc},
    {"survey_gpus", WITH_KEYWORDS(survey_gpus), METH_VARARGS | METH_KEYWORDS, survey_gpus_doc},
    {"gpu_processors", WITH_KEYWORDS(gpu_processors), METH_VARARGS | METH_KEYWORDS, gpu_processors_doc},
    {"detect_gpus", detect_gpus, METH_NOARGS, detect_gpus_doc},
    {"gpu_health", WITH_KEYWORDS(gpu_health), METH_VARARGS | METH_KEYWORDS, gpu_health_doc},
    {"choose_gpus", choose_gpus, METH_VARARGS, choose_gpus_doc},
    {"choose_family", choose_family, METH_O, choose_family_doc},
    {NULL, NULL, 0, NULL},
};
