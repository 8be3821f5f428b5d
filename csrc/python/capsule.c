/* The capsule through which other extensions call the C library (rocm_sdk/capsule.h). */
#include "methods.h"

#include "rocm_sdk/capsule.h"

static const rsdk_capsule functions = {
    .size = sizeof functions,
    .version = RSDK_CAPSULE_VERSION,
    .loader_version = RSDK_VERSION,
    .error_clear = rsdk_error_clear,
    .error_message = rsdk_error_message,
    .problem_of_error = rsdk_problem_of_error,
    .problem_make = rsdk_problem_make,
    .problem_free = rsdk_problem_free,
    .sdk_open = rsdk_sdk_open,
    .sdk_free = rsdk_sdk_free,
    .sdk_version = rsdk_sdk_version,
    .sdk_package_directory = rsdk_sdk_package_directory,
    .sdk_warning_count = rsdk_sdk_warning_count,
    .sdk_warning = rsdk_sdk_warning,
    .loader_locate = rsdk_loader_locate,
    .plan_new = rsdk_plan_new,
    .plan_free = rsdk_plan_free,
    .plan_step_count = rsdk_plan_step_count,
    .plan_step = rsdk_plan_step,
    .loader_preload = rsdk_loader_preload,
    .loader_preload_for = rsdk_loader_preload_for,
    .loaded_free = rsdk_loaded_free,
    .loaded_count = rsdk_loaded_count,
    .loaded_library = rsdk_loaded_library,
    .loaded_opened_count = rsdk_loaded_opened_count,
    .loaded_opened = rsdk_loaded_opened,
    .loaded_warning_count = rsdk_loaded_warning_count,
    .loaded_warning = rsdk_loaded_warning,
    .gpu_list_new = rsdk_gpu_list_new,
    .gpu_list_free = rsdk_gpu_list_free,
    .gpu_list_count = rsdk_gpu_list_count,
    .gpu_list_get = rsdk_gpu_list_get,
    .gpu_list_problem_count = rsdk_gpu_list_problem_count,
    .gpu_list_problem = rsdk_gpu_list_problem,
    .compatibility_check = rsdk_compatibility_check,
};

int rsdk_capsule_add(PyObject *module) {
    PyObject *capsule = PyCapsule_New((void *)&functions, RSDK_CAPSULE_NAME, NULL);
    int result = PyModule_AddObjectRef(module, "_C_API", capsule); /* keeps the exception where there is no capsule */
    Py_XDECREF(capsule);
    return result;
}
