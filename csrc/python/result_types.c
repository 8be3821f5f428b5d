/* Struct sequences: named tuples made in C, for the price of a tuple. The fields of each type are a table. */
#include "result_types.h"

static PyStructSequence_Field location_fields[] = {
    {"shortname", "name in the catalog ('amdhip64'), None for a library without one"},
    {"path", "absolute path of the file (str), None where the library is absent"},
    {"soname", "DT_SONAME of the file, None without one"},
    {"package", "package of the SDK that holds it: 'core', 'libraries', 'profiler'"},
    {"found_via", "'file name', 'SONAME' (a renamed file), 'need', 'absent (optional)', 'absent (declared)'"},
    {NULL, NULL},
};

static PyStructSequence_Field loaded_fields[] = {
    {"location", "LibraryLocation of the file that is loaded"},
    {"handle", "dlopen's handle (int), as ctypes.CDLL(path, handle=handle) takes it"},
    {"already_loaded", "whether it was in the process before the call"},
    {"seconds", "time spent in dlopen (float, seconds), with all that it brought in"},
    {NULL, NULL},
};

static PyStructSequence_Field step_fields[] = {
    {"shortname", "name in the catalog, None for a library without one"},
    {"path", "absolute path of the library (str)"},
    {"soname", "its DT_SONAME, None without one"},
    {"method", "'open' (a plain dlopen), 'anchor' (dlopen of a generated object that brings all members in), 'reuse' "
               "(in the process already)"},
    {"requested", "False where it is opened because another library opens it at run time"},
    {"rtld_global", "whether its symbols join the global scope"},
    {"reason", "why this method, in words"},
    {"members", "paths of the SDK files that this step brings into the process, the library first (tuple of str)"},
    {"needed", "paths of the SDK files among its own DT_NEEDED entries (tuple of str)"},
    {"outside", "DT_NEEDED names of the members that the system or the process provides (tuple of str)"},
    {"missing", "those that nobody provides (tuple of str)"},
    {NULL, NULL},
};

static PyStructSequence_Field plan_fields[] = {
    {"steps", "tuple of LoadStep, in the order of loading"},
    {"missing", "all names that nobody provides (tuple of str): not empty means that loading will fail"},
    {NULL, NULL},
};

static PyStructSequence_Field gpu_fields[] = {
    {"target", "as ROCm presents it, with features (str): 'gfx942:sramecc+:xnack-'"},
    {"processor", "the same without features (str)"},
    {"real_processor", "what it is, whatever HSA_OVERRIDE_GFX_VERSION says (str); 'unknown' where nothing tells"},
    {"known", "whether real_processor is in the table of targets (bool)"},
    {"overridden", "whether an HSA_OVERRIDE_GFX_VERSION applies to it (bool)"},
    {"sramecc", "whether the feature is on (bool); None where the processor has it not"},
    {"xnack", "the same for XNACK"},
    {"xnack_guessed", "True where only the driver knows about XNACK, which is not asked (bool)"},
    {"gpu_class", "'discrete', 'data centre' or 'integrated' (str)"},
    {"name", "marketing name (str)"},
    {"node", "KFD node number, as in sysfs (int)"},
    {"hsa_node", "number that ROCm gives to the node, N of HSA_OVERRIDE_GFX_VERSION_N (int); None: it leaves it out"},
    {"gpu_id", "the kernel's id of the node (int)"},
    {"unique_id", "serial number (int), 0: unknown"},
    {"uuid", "'GPU-' and unique_id in 16 hexadecimal digits (str); 'GPU-XX': unknown"},
    {"hive_id", "XGMI hive (int), 0: none"},
    {"pci_address", "'0000:c1:00.0' (str)"},
    {"vendor_id", "PCI vendor (int)"},
    {"device_id", "PCI device (int)"},
    {"render_node", "'/dev/dri/renderD128' (str); None: it has none"},
    {"compute_units", "number of compute units (int), 0: unknown"},
    {"xcc_count", "accelerator complex dies in it (int), at least 1"},
    {"partition", "which partition of its GPU it is, from 0 (int)"},
    {"partition_count", "partitions of its GPU that are here (int), 1: not partitioned"},
    {"memory", "its own memory in bytes (int)"},
    {"hip_index", "HIP's device number (int); None: HIP does not see it"},
    {"opencl_index", "number among OpenCL's GPUs (int); None: not seen"},
    {"usable", "whether HIP sees it and this user may open what it takes (bool)"},
    {"why_not", "one line (str); None where it is usable"},
    {NULL, NULL},
};

static PyStructSequence_Field finding_fields[] = {
    {"code", "which kind of finding, a word such as 'kfd-refused' (str)"},
    {"node", "KFD node that it is about (int); None: all"},
    {"subject", "file or variable (str)"},
    {"cause", "what is wrong, one line (str)"},
    {"cure", "what to do about it, one line (str)"},
    {NULL, NULL},
};

static PyStructSequence_Field target_fields[] = {
    {"name", "'gfx90a' (str)"},
    {"major", "ISA number (int)"},
    {"minor", "ISA number (int)"},
    {"stepping", "ISA number (int), a hexadecimal digit of the name: 10 in gfx90a"},
    {"mach", "EF_AMDGPU_MACH, the low byte of e_flags (int)"},
    {"xnack", "'none', 'of driver' (it decides for good), 'of process' (HSA_XNACK decides), 'always' (str)"},
    {"sramecc", "whether the feature sramecc can be on or off (bool)"},
    {"gpu_class", "'discrete', 'data centre' or 'integrated' (str)"},
    {"product", "what it is sold as, or the chip's name (str)"},
    {"families", "packaging families besides its own name (tuple of str); empty: ROCm is not built for it"},
    {"generic", "LLVM's generic target whose code it runs (str or None)"},
    {"sub_family", "of the packaging hierarchy: 'gfx9_0' (str or None)"},
    {"family", "of the packaging hierarchy: 'gfx9' (str or None)"},
    {"package_owner", "the target whose packages serve it (str), mostly itself"},
    {NULL, NULL},
};

static PyStructSequence_Field library_facts_fields[] = {
    {"soname", "its DT_SONAME (str), None without one"},
    {"needed", "its DT_NEEDED entries, in file order (tuple of str)"},
    {"rpath", "its DT_RPATH (str), None without one, and where DT_RUNPATH makes the linker ignore it"},
    {"runpath", "its DT_RUNPATH (str), None without one"},
    {"newest_glibc", "the newest glibc version that it needs ('2.34'); None where it names none"},
    {"executable_stack", "whether it asks for an executable stack (bool)"},
    {"text_relocations", "whether the linker must write into its code (bool)"},
    {"static_tls", "whether it takes from the small reserve of static TLS (bool)"},
    {"damages", "what is wrong with the file, one sentence each (tuple of str)"},
    {NULL, NULL},
};

static PyStructSequence_Desc descriptions[RSDK_TYPE_COUNT] = {
    [RSDK_TYPE_LOCATION] = {"rocm_sdk.LibraryLocation", "Where a library is, and how it was found.", location_fields,
                            5},
    [RSDK_TYPE_LOADED] = {"rocm_sdk.LoadedLibrary", "A library that is in the process.", loaded_fields, 4},
    [RSDK_TYPE_STEP] = {"rocm_sdk.LoadStep", "One library of a plan: how it is opened and what comes with it.",
                        step_fields, 11},
    [RSDK_TYPE_PLAN] = {"rocm_sdk.LoadPlan", "What preloading would do.", plan_fields, 2},
    [RSDK_TYPE_GPU] = {"rocm_sdk.Gpu", "A GPU, or a partition of one.", gpu_fields, 29},
    [RSDK_TYPE_FINDING] = {"rocm_sdk.Finding", "What stands between a GPU and its use, or is likely not meant.",
                           finding_fields, 5},
    [RSDK_TYPE_TARGET] = {"rocm_sdk.Target", "A gfx target.", target_fields, 14},
    [RSDK_TYPE_LIBRARY_FACTS] = {"rocm_sdk.LibraryFacts", "What the file of a shared library says of itself.",
                                 library_facts_fields, 9},
};

static const char *const type_names[RSDK_TYPE_COUNT] = {
    [RSDK_TYPE_LOCATION] = "LibraryLocation",
    [RSDK_TYPE_LOADED] = "LoadedLibrary",
    [RSDK_TYPE_STEP] = "LoadStep",
    [RSDK_TYPE_PLAN] = "LoadPlan",
    [RSDK_TYPE_GPU] = "Gpu",
    [RSDK_TYPE_FINDING] = "Finding",
    [RSDK_TYPE_TARGET] = "Target",
    [RSDK_TYPE_LIBRARY_FACTS] = "LibraryFacts",
};

int rsdk_add_result_types(PyObject *module, rsdk_module_state *state) {
    for (size_t i = 0; i < RSDK_TYPE_COUNT; i++) {
        state->types[i] = (PyObject *)PyStructSequence_NewType(&descriptions[i]);
        if (state->types[i] == NULL || PyModule_AddObjectRef(module, type_names[i], state->types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Puts `count` new references into a new instance; any of them may be NULL (an exception is set then). Steals them all.
 */
static PyObject *build_sequence(const rsdk_module_state *state, rsdk_result_type type, PyObject *const *items,
                                Py_ssize_t count) {
    PyObject *result = PyStructSequence_New((PyTypeObject *)state->types[type]);
    int is_complete = result != NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        is_complete &= items[i] != NULL;
        if (result != NULL) {
            PyStructSequence_SetItem(result, i, items[i]);
        } else {
            Py_XDECREF(items[i]);
        }
    }
    if (!is_complete) {
        Py_CLEAR(result);
    }
    return result;
}

/* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers on purpose */
#define ITEM_COUNT(items)         ((Py_ssize_t)(sizeof(items) / sizeof *(items)))
#define BUILD(state, type, items) build_sequence(state, type, items, ITEM_COUNT(items))

PyObject *rsdk_build_text(const char *text) {
    return text != NULL ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

PyObject *rsdk_build_path(const char *path) {
    return path != NULL ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

PyObject *rsdk_build_tuple(const rsdk_module_state *state, rsdk_item_builder build, const void *list, size_t count) {
    PyObject *result = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *item = build(state, list, i);
        if (item == NULL || PyTuple_SetItem(result, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

static PyObject *build_path_of(const rsdk_module_state *state, const void *paths, size_t index) {
    (void)state;
    return rsdk_build_path(((const char *const *)paths)[index]);
}

PyObject *rsdk_build_paths(const char *const *paths, size_t count) {
    return rsdk_build_tuple(NULL, build_path_of, (const void *)paths, count);
}

PyObject *rsdk_build_location(const rsdk_module_state *state, const rsdk_location *location) {
    PyObject *const items[] = {
        rsdk_build_text(location->shortname),
        rsdk_build_path(location->path),
        rsdk_build_text(location->soname),
        rsdk_build_text(rsdk_package_get(location->package)->name),
        rsdk_build_text(rsdk_found_via_name(location->found_via)),
    };
    return BUILD(state, RSDK_TYPE_LOCATION, items);
}

PyObject *rsdk_build_loaded(const rsdk_module_state *state, const rsdk_loaded_entry *entry) {
    PyObject *const items[] = {
        rsdk_build_location(state, &entry->location),
        PyLong_FromVoidPtr(entry->handle),
        PyBool_FromLong(entry->was_loaded),
        PyFloat_FromDouble(entry->seconds),
    };
    return BUILD(state, RSDK_TYPE_LOADED, items);
}

static PyObject *build_step(const rsdk_module_state *state, const void *plan, size_t index) {
    const rsdk_step *step = rsdk_plan_step(plan, index);
    static const char *const methods[] = {
        [RSDK_STEP_REUSE] = "reuse", [RSDK_STEP_OPEN] = "open", [RSDK_STEP_ANCHOR] = "anchor"};
    PyObject *const items[] = {
        rsdk_build_text(step->location.shortname),
        rsdk_build_path(step->location.path),
        rsdk_build_text(step->location.soname),
        rsdk_build_text(methods[step->method]),
        PyBool_FromLong(step->is_requested),
        PyBool_FromLong(step->is_global),
        rsdk_build_text(step->reason),
        rsdk_build_paths(step->members, step->member_count),
        rsdk_build_paths(step->needed, step->needed_count),
        rsdk_build_paths(step->outside, step->outside_count),
        rsdk_build_paths(step->missing, step->missing_count),
    };
    return BUILD(state, RSDK_TYPE_STEP, items);
}

static PyObject *build_missing(const rsdk_plan *plan) {
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names != NULL && i < rsdk_plan_step_count(plan); i++) {
        const rsdk_step *step = rsdk_plan_step(plan, i);
        PyObject *more = rsdk_build_paths(step->missing, step->missing_count);
        if (more == NULL || PyList_SetSlice(names, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, more) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(more);
    }
    PyObject *result = names != NULL ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    return result;
}

PyObject *rsdk_build_plan(const rsdk_module_state *state, const rsdk_plan *plan) {
    PyObject *const items[] = {rsdk_build_tuple(state, build_step, plan, rsdk_plan_step_count(plan)),
                               build_missing(plan)};
    return BUILD(state, RSDK_TYPE_PLAN, items);
}

/* None for a number that stands for "none". */
static PyObject *build_index(int index) {
    return index >= 0 ? PyLong_FromLong(index) : Py_NewRef(Py_None);
}

static PyObject *build_feature(rsdk_feature feature) {
    return feature == RSDK_FEATURE_UNSUPPORTED ? Py_NewRef(Py_None) : PyBool_FromLong(feature == RSDK_FEATURE_ON);
}

PyObject *rsdk_build_gpu(const rsdk_module_state *state, const rsdk_gpu *gpu) {
    PyObject *const items[] = {
        rsdk_build_text(gpu->target),
        rsdk_build_text(gpu->processor),
        rsdk_build_text(gpu->real_processor),
        PyBool_FromLong(gpu->is_known),
        PyBool_FromLong(gpu->is_overridden),
        build_feature(gpu->sramecc),
        build_feature(gpu->xnack),
        PyBool_FromLong(gpu->is_xnack_guessed),
        rsdk_build_text(rsdk_gpu_class_name(gpu->gpu_class)),
        rsdk_build_text(gpu->name),
        PyLong_FromUnsignedLong(gpu->node),
        build_index(gpu->hsa_node),
        PyLong_FromUnsignedLongLong(gpu->gpu_id),
        PyLong_FromUnsignedLongLong(gpu->unique_id),
        rsdk_build_text(gpu->uuid),
        PyLong_FromUnsignedLongLong(gpu->hive_id),
        rsdk_build_text(gpu->pci_address),
        PyLong_FromLong(gpu->vendor_id),
        PyLong_FromLong(gpu->device_id),
        rsdk_build_path(gpu->render_node),
        PyLong_FromUnsignedLong(gpu->compute_units),
        PyLong_FromUnsignedLong(gpu->xcc_count),
        PyLong_FromUnsignedLong(gpu->partition),
        PyLong_FromUnsignedLong(gpu->partition_count),
        PyLong_FromUnsignedLongLong(gpu->memory),
        build_index(gpu->hip_index),
        build_index(gpu->opencl_index),
        PyBool_FromLong(gpu->is_usable),
        rsdk_build_path(gpu->why_not),
    };
    return BUILD(state, RSDK_TYPE_GPU, items);
}

PyObject *rsdk_build_finding(const rsdk_module_state *state, const rsdk_gpu_finding *finding) {
    (void)state;
    PyObject *problems = PyImport_ImportModule("rocm_sdk.problems");
    if (problems == NULL) {
        return NULL;
    }
    PyObject *problem = PyObject_CallMethod(
        problems, "gpu_problem", "NNNNN", rsdk_build_text(rsdk_gpu_finding_code_name(finding->code)),
        build_index(finding->node), rsdk_build_path(finding->subject), rsdk_build_path(finding->cause),
        rsdk_build_path(finding->cure));
    Py_DECREF(problems);
    return problem;
}

PyObject *rsdk_build_target(const rsdk_module_state *state, const rsdk_target *target) {
    static const char *const xnack_names[] = {[RSDK_XNACK_NONE] = "none",
                                              [RSDK_XNACK_OF_DRIVER] = "of driver",
                                              [RSDK_XNACK_OF_PROCESS] = "of process",
                                              [RSDK_XNACK_ALWAYS] = "always"};
    size_t family_count = 0;
    while (family_count < RSDK_TARGET_FAMILY_LIMIT && target->families[family_count] != NULL) {
        family_count++;
    }
    PyObject *const items[] = {
        rsdk_build_text(target->name),
        PyLong_FromLong(target->major),
        PyLong_FromLong(target->minor),
        PyLong_FromLong(target->stepping),
        PyLong_FromLong(target->mach),
        rsdk_build_text(xnack_names[target->xnack]),
        PyBool_FromLong(target->has_sramecc),
        rsdk_build_text(rsdk_gpu_class_name(target->gpu_class)),
        rsdk_build_text(target->product),
        rsdk_build_paths(target->families, family_count),
        rsdk_build_text(target->generic),
        rsdk_build_text(target->sub_family),
        rsdk_build_text(target->family),
        rsdk_build_text(target->package_owner != NULL ? target->package_owner : target->name),
    };
    return BUILD(state, RSDK_TYPE_TARGET, items);
}

PyObject *rsdk_build_library_facts(const rsdk_module_state *state, const rsdk_elf_file *file,
                                   const rsdk_strings *damages) {
    PyObject *const items[] = {
        rsdk_build_path(file->soname),
        rsdk_build_paths(file->needed.items, file->needed.count),
        rsdk_build_path(file->rpath),
        rsdk_build_path(file->runpath),
        rsdk_build_text(rsdk_elf_newest_glibc(file)),
        PyBool_FromLong(file->wants_executable_stack),
        PyBool_FromLong(file->has_text_relocations),
        PyBool_FromLong(file->has_static_tls),
        rsdk_build_paths(damages->items, damages->count),
    };
    return BUILD(state, RSDK_TYPE_LIBRARY_FACTS, items);
}
