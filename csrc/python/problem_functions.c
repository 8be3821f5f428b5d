/* Functions about problems: the table of codes, and its texts. */
#include <stdlib.h>

#include "diagnosis/finding.h"
#include "diagnosis/index_choice.h"
#include "diagnosis/tables.h"
#include "methods.h"
#include "result_types.h"
#include "rocm_sdk/problem.h"
#include "sdk/tables.h"

static const char *const severities[] = {
    [RSDK_SEVERITY_ERROR] = "error", [RSDK_SEVERITY_WARNING] = "warning", [RSDK_SEVERITY_NOTE] = "note"};
static const char *const proofs[] = {[RSDK_FIX_WORDS] = "words",
                                     [RSDK_FIX_TRIED] = "tried",
                                     [RSDK_FIX_ELSEWHERE] = "elsewhere",
                                     [RSDK_FIX_HARDWARE] = "hardware"};

/* ---- the table ---- */

static PyObject *build_fix(const rsdk_module_state *state, const void *fixes, size_t index) {
    (void)state;
    const rsdk_fix_row *fix = (const rsdk_fix_row *)fixes + index;
    rsdk_arena arena = RSDK_ARENA_INIT;
    const char *words = NULL;
    bool is_command = false;
    PyObject *result =
        rsdk_problem_fix_in_words(fix, &arena, &words, &is_command) == RSDK_OK
            ? Py_BuildValue("(sssN)", fix->system == RSDK_SYSTEM_ANY ? "" : rsdk_system_title(fix->system),
                            proofs[fix->proof], words, PyBool_FromLong(is_command))
            : PyErr_NoMemory();
    rsdk_arena_clear(&arena);
    return result;
}

/* Build a row. The row behind RSDK_NO_CODE's comes first. */
static PyObject *build_row(const rsdk_module_state *state, const void *table, size_t index) {
    (void)state;
    const rsdk_code_row *row = (const rsdk_code_row *)table + index + 1;
    return Py_BuildValue("(sssszsz)", row->name, severities[row->severity], row->title, row->cause, row->about,
                         row->sample, row->repair);
}

PyDoc_STRVAR(problem_table_doc,
             "problem_table()\n--\n\n"
             "The table of problems: for each code its name, severity ('error', 'warning', 'note'), title and cause\n"
             "(templates), what its page says, the facts of its sample, one per line (NAME=VALUE), and the repair of\n"
             "`rocm-sdk test --fix` or None (tuple of tuples).");

RSDK_TABLE_METHOD(problem_table, build_row, rsdk_code_table, RSDK_CODE_COUNT - 1)

PyDoc_STRVAR(problem_fixes_doc, "problem_fixes(code, /)\n--\n\n"
                                "The fixes of a code with words for facts: tuples (system, proof, text, whether it is\n"
                                "a command). Raises KeyError for an unknown code.");

static PyObject *problem_fixes(PyObject *module, PyObject *name) {
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text == NULL) {
        return NULL;
    }
    rsdk_code code = rsdk_code_find(text);
    if (code == RSDK_NO_CODE) {
        PyErr_SetObject(PyExc_KeyError, name);
        return NULL;
    }
    const rsdk_fix_row *fixes = rsdk_code_table[code].fixes;
    size_t count = 0;
    while (count < RSDK_FIX_LIMIT && fixes[count].text != NULL) {
        count++;
    }
    return rsdk_result_tuple(rsdk_state_get(module), build_fix, fixes, count);
}

static PyObject *build_index(const rsdk_module_state *state, const void *table, size_t index) {
    (void)state;
    const rsdk_index_row *row = (const rsdk_index_row *)table + index;
    return Py_BuildValue("((II)(II)sss)", row->first[0], row->first[1], row->last[0], row->last[1], row->stream,
                         row->address, row->requirement);
}

PyDoc_STRVAR(sdk_indexes_doc,
             "sdk_indexes()\n--\n\n"
             "The indexes of AMD's wheels: tuples (first release, last release, stream, address, requirement), a\n"
             "release as (major, minor); (0, 0) as the last one means all later ones.");

RSDK_TABLE_METHOD(sdk_indexes, build_index, rsdk_indexes, rsdk_index_count)

PyDoc_STRVAR(
    choose_index_doc,
    "choose_index(request, /)\n--\n\n"
    "The index for a request (str: a version, the beginning of one with '*', a range as '>=7.0,<7.15', or a stream;\n"
    "None: today's stable releases), as a row of sdk_indexes(); None if no index serves it.");

static PyObject *choose_index(PyObject *module, PyObject *argument) {
    const char *request = argument != Py_None ? PyUnicode_AsUTF8AndSize(argument, NULL) : NULL;
    if (request == NULL && argument != Py_None) {
        return NULL;
    }
    const rsdk_index_row *row = rsdk_index_for_request(request);
    return row != NULL ? build_index(rsdk_state_get(module), row, 0) : Py_NewRef(Py_None);
}

static PyObject *build_host_package(const rsdk_module_state *state, const void *table, size_t index) {
    (void)state;
    const rsdk_host_package *row = (const rsdk_host_package *)table + index;
    return Py_BuildValue("(ssssss)", row->soname, row->debian, row->fedora, row->suse, row->arch, row->gentoo);
}

PyDoc_STRVAR(host_packages_doc,
             "host_packages()\n--\n\n"
             "The packages of distributions that bring libraries of the system: tuples of str (SONAME, packages of\n"
             "Debian and Ubuntu, Fedora and RHEL, SUSE, Arch, Gentoo).");

RSDK_TABLE_METHOD(host_packages, build_host_package, rsdk_host_packages, rsdk_host_package_count)

static PyObject *build_soname_release(const rsdk_module_state *state, const void *table, size_t index) {
    (void)state;
    const rsdk_soname_release *row = (const rsdk_soname_release *)table + index;
    const rsdk_release first = row->first, last = row->last;
    return Py_BuildValue("s(II)(II)", row->soname, first.major, first.minor, last.major, last.minor);
}

PyDoc_STRVAR(soname_releases_doc,
             "soname_releases()\n--\n\n"
             "SONAMEs and their releases: tuples (SONAME, first, last) as in sdk_indexes(); first (0, 0): not known.");

RSDK_TABLE_METHOD(soname_releases, build_soname_release, rsdk_soname_releases, rsdk_soname_release_count)

/* ---- problems ---- */

/* The values of a dict of str, as texts that are borrowed from `bytes`, a list. */
typedef struct fact_arguments {
    PyObject *bytes;
    rsdk_fact *items;
    size_t count;
} fact_arguments;

static void clear_facts(fact_arguments *facts) {
    Py_CLEAR(facts->bytes);
    free(facts->items);
    facts->items = NULL;
}

static int take_facts(PyObject *dict, fact_arguments *facts) {
    PyObject *key = NULL, *value = NULL;
    Py_ssize_t position = 0;
    *facts =
        (fact_arguments){.bytes = PyList_New(0), .items = calloc((size_t)PyDict_Size(dict) + 1, sizeof *facts->items)};
    if (facts->bytes == NULL || facts->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (PyDict_Next(dict, &position, &key, &value)) {
        PyObject *encoded = NULL;
        rsdk_fact *fact = &facts->items[facts->count++];
        fact->name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (fact->name == NULL || !PyUnicode_FSConverter(value, &encoded)) {
            return -1;
        }
        fact->value = PyBytes_AsString(encoded);
        int added = PyList_Append(facts->bytes, encoded);
        Py_DECREF(encoded);
        if (added < 0) {
            return -1;
        }
    }
    return 0;
}

static const char *find_fact(const fact_arguments *facts, const char *name) {
    return rsdk_fact_find(facts->items, facts->count, name);
}

static PyObject *make_texts(rsdk_code code, const char *path, const fact_arguments *facts,
                            const fact_arguments *known) {
    const rsdk_installation installation = {.installer = find_fact(known, "installer"),
                                            .python = find_fact(known, "python"),
                                            .environment = find_fact(known, "environment"),
                                            .site = find_fact(known, "site"),
                                            .source = find_fact(known, "source"),
                                            .note = find_fact(known, "note")};
    rsdk_problem *problem = NULL;
    if (rsdk_problem_make(code, path, facts->items, facts->count, &installation, &problem) != RSDK_OK) {
        return PyErr_NoMemory();
    }
    PyObject *result = Py_BuildValue("(NNNN)", rsdk_result_path(problem->title), rsdk_result_path(problem->cause),
                                     rsdk_result_path(problem->fix), PyBool_FromLong(problem->is_command));
    rsdk_problem_free(problem);
    return result;
}

PyDoc_STRVAR(
    problem_texts_doc,
    "problem_texts(code, path, facts, installation, /)\n--\n\n"
    "Title, cause and fix of a problem (str; the fix may be None), and whether the fix is a command and no sentence\n"
    "(bool), as a tuple. facts (dict of str) are the values that its texts\n"
    "name, installation (dict of str) has the fields of rsdk_installation that are known. Raises KeyError for\n"
    "an unknown code.");

static PyObject *problem_texts(PyObject *module, PyObject *args) {
    const char *name = NULL;
    PyObject *path = NULL, *facts_dict = NULL, *known_dict = NULL, *encoded = NULL, *result = NULL;
    fact_arguments facts = {0}, known = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "sOO!O!", &name, &path, &PyDict_Type, &facts_dict, &PyDict_Type, &known_dict) ||
        (path != Py_None && !PyUnicode_FSConverter(path, &encoded))) {
        return NULL;
    }
    rsdk_code code = rsdk_code_find(name);
    if (code == RSDK_NO_CODE) {
        PyErr_SetString(PyExc_KeyError, name);
    } else if (take_facts(facts_dict, &facts) == 0 && take_facts(known_dict, &known) == 0) {
        result = make_texts(code, encoded != NULL ? PyBytes_AsString(encoded) : NULL, &facts, &known);
    }
    clear_facts(&facts);
    clear_facts(&known);
    Py_XDECREF(encoded);
    return result;
}

PyDoc_STRVAR(missing_library_doc,
             "missing_library(name, is_of_system, /)\n--\n\n"
             "The finding of a library (str, a DT_NEEDED entry) that is nowhere, with what is known\n"
             "of its package: code, path and facts (tuple of str, None, dict of str).\n\n"
             "is_of_system: whether the SDK is the ROCm of the system, whose packages have more of it.");

static PyObject *missing_library(PyObject *module, PyObject *args) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_finding finding = {.code = RSDK_E_LIB_002};
    PyObject *bytes = NULL, *result = NULL;
    int is_of_system = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&p", PyUnicode_FSConverter, &bytes, &is_of_system)) {
        return NULL;
    }
    rsdk_status status = rsdk_finding_add(&finding, &arena, "name", PyBytes_AsString(bytes), NULL);
    if (status == RSDK_OK) {
        status = rsdk_host_package_add(&finding, &arena, PyBytes_AsString(bytes), is_of_system != 0, NULL);
    }
    result = status == RSDK_OK ? rsdk_result_finding(finding.code, NULL, finding.facts.items, finding.facts.count)
                               : PyErr_NoMemory();
    rsdk_arena_clear(&arena);
    Py_DECREF(bytes);
    return result;
}

/* ---- load failures ---- */

PyDoc_STRVAR(explain_load_doc, "explain_load(site, path, dlerror_text, fallback=None, /)\n--\n\n"
                               "Why the linker refused the library `path` of the SDK in `site`, or of a fall-back: "
                               "code, path and facts (tuple of str, str or\n"
                               "None, dict of str), as LibraryLoadError has them.");

static rsdk_status explain_in(const char *site, const char *fallback, const rsdk_error *failure, rsdk_arena *arena,
                              rsdk_finding *finding) {
    rsdk_sdk *sdk = NULL;
    const rsdk_sdk_options options = {.search_path = &site, .search_path_count = 1, .fallback = fallback};
    rsdk_error ignored = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_sdk_open(&options, &sdk, &ignored);
    status = status == RSDK_NO_MEMORY ? status : rsdk_cause_of_error(failure, sdk, arena, finding);
    rsdk_sdk_free(sdk);
    rsdk_error_clear(&ignored);
    return status;
}

static PyObject *explain_load(PyObject *module, PyObject *args) {
    PyObject *site = NULL, *path = NULL, *text = NULL, *result = NULL;
    const char *fallback = NULL;
    rsdk_error failure = RSDK_ERROR_INIT;
    rsdk_finding finding = {0};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_status status = RSDK_OK;
    (void)module;
    if (PyArg_ParseTuple(args, "O&O&O&|z", PyUnicode_FSConverter, &site, PyUnicode_FSConverter, &path,
                         PyUnicode_FSConverter, &text, &fallback)) {
        const char *file = PyBytes_AsString(path), *dlerror_text = PyBytes_AsString(text),
                   *place = PyBytes_AsString(site);
        Py_BEGIN_ALLOW_THREADS(void) rsdk_fail_as(&failure, RSDK_LOAD_FAILED, RSDK_E_LIB_001, file,
                                                  RSDK_FACTS({"dlerror", dlerror_text}), "%s", dlerror_text);
        status = explain_in(place, fallback, &failure, &arena, &finding);
        Py_END_ALLOW_THREADS result = status == RSDK_OK ? rsdk_result_finding(finding.code, finding.path,
                                                                              finding.facts.items, finding.facts.count)
                                                        : PyErr_NoMemory();
    }
    rsdk_error_clear(&failure);
    rsdk_arena_clear(&arena);
    Py_XDECREF(site);
    Py_XDECREF(path);
    Py_XDECREF(text);
    return result;
}

PyMethodDef rsdk_problem_methods[] = {
    {"problem_table", problem_table, METH_NOARGS, problem_table_doc},
    {"problem_fixes", problem_fixes, METH_O, problem_fixes_doc},
    {"sdk_indexes", sdk_indexes, METH_NOARGS, sdk_indexes_doc},
    {"choose_index", choose_index, METH_O, choose_index_doc},
    {"host_packages", host_packages, METH_NOARGS, host_packages_doc},
    {"soname_releases", soname_releases, METH_NOARGS, soname_releases_doc},
    {"missing_library", missing_library, METH_VARARGS, missing_library_doc},
    {"problem_texts", problem_texts, METH_VARARGS, problem_texts_doc},
    {"explain_load", explain_load, METH_VARARGS, explain_load_doc},
    {NULL, NULL, 0, NULL},
};
