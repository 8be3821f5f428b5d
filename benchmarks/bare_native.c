/* The extension of the empty package that import is compared with: it links libelf and does next to nothing. Its
 * functions are the bare loops that initialize_process and the detection of GPUs are compared with. */
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* open_all([(path, is_global), ...]): opens each file, in this order; OSError with the dlerror text if one fails. */
static PyObject *open_all(PyObject *module, PyObject *steps) {
    (void)module;
    for (Py_ssize_t i = 0; i < PyList_Size(steps); i++) {
        const char *path = NULL;
        int is_global = 0;
        if (!PyArg_ParseTuple(PyList_GetItem(steps, i), "sp", &path, &is_global)) {
            return NULL;
        }
        if (dlopen(path, RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL)) == NULL) {
            return PyErr_Format(PyExc_OSError, "%s", dlerror());
        }
    }
    Py_RETURN_NONE;
}

enum { TEXT_SIZE = 16384 };

/* The number behind a key of a text; -1: it has none. */
static long number_of(const char *text, const char *key) {
    const char *found = strstr(text, key);
    return found != NULL ? strtol(found + strlen(key), NULL, 10) : -1;
}

static void read_attribute(int directory, const char *node, const char *name, char text[TEXT_SIZE]) {
    char path[NAME_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/%s", node, name);
    int descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor >= 0 ? read(descriptor, text, TEXT_SIZE - 1) : 0;
    (void)close(descriptor);
    text[length > 0 ? length : 0] = '\0';
}

/* What the full picture of a GPU reads beside its properties. */
static void look_further(int directory, const char *node, const char *root, long minor) {
    char path[PATH_MAX], text[TEXT_SIZE];
    read_attribute(directory, node, "gpu_id", text);
    read_attribute(directory, node, "mem_banks/0/properties", text);
    (void)snprintf(path, sizeof path, "%s/dev/dri/renderD%ld", root, minor);
    (void)faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS);
}

/* count_gpus(root, is_full): a bare loop over the nodes that KFD shows, each file read once. */
static PyObject *count_gpus(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *root = NULL;
    int is_full = 0;
    if (!PyArg_ParseTuple(arguments, "sp", &root, &is_full)) {
        return NULL;
    }
    char path[PATH_MAX], text[TEXT_SIZE];
    long count = 0;
    (void)snprintf(path, sizeof path, "%s/sys/class/kfd/kfd/topology/nodes", root);
    DIR *nodes = opendir(path);
    const struct dirent *entry = NULL;
    while (nodes != NULL && (entry = readdir(nodes)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        read_attribute(dirfd(nodes), entry->d_name, "properties", text);
        if (number_of(text, "simd_count ") > 0) {
            count++;
            if (is_full) {
                look_further(dirfd(nodes), entry->d_name, root, number_of(text, "drm_render_minor "));
            }
        }
    }
    if (nodes != NULL) {
        (void)closedir(nodes);
    }
    return PyLong_FromLong(count);
}

static int start_libelf(PyObject *module) {
    (void)module;
    return elf_version(EV_CURRENT) == EV_NONE ? -1 : 0;
}

static PyMethodDef methods[] = {
    {"open_all", open_all, METH_O, NULL}, {"count_gpus", count_gpus, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)start_libelf}, {0, NULL}};
static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "_native", .m_methods = methods, .m_slots = slots};

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(&definition);
}
