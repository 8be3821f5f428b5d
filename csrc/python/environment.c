/* The environment as values; of a program with other privileges than its caller's (AT_SECURE) no variable counts,
 * because the caller sets them. os.environ writes through to it, the GIL keeps other writers away while it is read, and
 * a text that getenv returned stays valid when the variable is changed: glibc never frees one. Without a GIL a writer
 * in another thread is as dangerous as to any getenv, before glibc 2.41. */
#include "environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char node_prefix[] = "HSA_OVERRIDE_GFX_VERSION_";
static const char override_prefix[] = "ROCM_SDK_LIBRARY_";

/* "HSA_OVERRIDE_GFX_VERSION_3=10.3.0" as node 3; 0 for other variables. */
static int read_node_override(const char *variable, rsdk_gpu_node_override *override) {
    size_t prefix_length = sizeof node_prefix - 1;
    if (strncmp(variable, node_prefix, prefix_length) != 0) {
        return 0;
    }
    const char *digits = variable + prefix_length;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 9 || digits[length] != '=' || (digits[0] == '0' && length > 1)) {
        return 0;
    }
    *override = (rsdk_gpu_node_override){.node = (unsigned)strtoul(digits, NULL, 10), .value = digits + length + 1};
    return 1;
}

static int take_node_overrides(rsdk_environment *environment) {
    rsdk_gpu_node_override override;
    size_t count = 0;
    for (char **variable = environ; getauxval(AT_SECURE) == 0 && variable != NULL && *variable != NULL; variable++) {
        count += (size_t)read_node_override(*variable, &override);
    }
    if (count == 0) {
        return 0;
    }
    environment->node_overrides = calloc(count, sizeof *environment->node_overrides);
    if (environment->node_overrides == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (char **variable = environ; *variable != NULL; variable++) {
        if (read_node_override(*variable, &override)) {
            environment->node_overrides[environment->gpu_variables.node_override_count++] = override;
        }
    }
    environment->gpu_variables.node_overrides = environment->node_overrides;
    return 0;
}

/* "ROCM_SDK_LIBRARY_amdhip64=/path": 1, and the override; 0 for other variables, and for an empty value. */
static int read_override(const char *variable, rsdk_library_override *override) {
    const char *value = strchr(variable, '=');
    size_t prefix_length = sizeof override_prefix - 1;
    if (strncmp(variable, override_prefix, prefix_length) != 0 || value == NULL || value[1] == '\0') {
        return 0;
    }
    char *name = strndup(variable, (size_t)(value - variable));
    if (name != NULL) {
        const rsdk_catalog_entry *entry = rsdk_catalog_find_word(name + prefix_length);
        *override = (rsdk_library_override){
            .shortname = entry != NULL ? entry->shortname : name + prefix_length, .path = value + 1, .source = name};
    }
    return name != NULL ? 1 : -1;
}

/* A program with other privileges than its caller's (AT_SECURE) takes no libraries from the caller. */
static int take_overrides(rsdk_environment *environment) {
    for (char **variable = environ; getauxval(AT_SECURE) == 0 && variable != NULL && *variable != NULL; variable++) {
        rsdk_library_override override = {0};
        int is_one = read_override(*variable, &override);
        if (is_one > 0) {
            void *more =
                realloc(environment->overrides, (environment->override_count + 1) * sizeof *environment->overrides);
            is_one = more != NULL ? 1 : -1;
            if (more != NULL) {
                environment->overrides = more;
                environment->overrides[environment->override_count++] = override;
            } else {
                free((char *) override.source);
            }
        }
        if (is_one < 0) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

/* NULL for an empty value too, and in a program with other privileges than its caller's. */
static const char *place(const char *variable) {
    const char *value = secure_getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *rsdk_environment_root(void) {
    return place("ROCM_SDK_ROOT");
}

int rsdk_environment_read(rsdk_environment *environment) {
    const char *verbose = secure_getenv("ROCM_SDK_VERBOSE");
    *environment = (rsdk_environment){
        .gpus = {.root = secure_getenv("ROCM_SDK_ROOTFS"), .environment = &environment->gpu_variables},
        .gpu_variables =
            {
                .rocr_visible_devices = secure_getenv("ROCR_VISIBLE_DEVICES"),
                .hip_visible_devices = secure_getenv("HIP_VISIBLE_DEVICES"),
                .cuda_visible_devices = secure_getenv("CUDA_VISIBLE_DEVICES"),
                .gpu_device_ordinal = secure_getenv("GPU_DEVICE_ORDINAL"),
                .hsa_override_gfx_version = secure_getenv("HSA_OVERRIDE_GFX_VERSION"),
                .hsa_xnack = secure_getenv("HSA_XNACK"),
                .hsa_enable_sramecc = secure_getenv("HSA_ENABLE_SRAMECC"),
                .hsa_disable_gfx12_strict = secure_getenv("HSA_DISABLE_GFX12_STRICT"),
                .hsa_enable_dxg_detection = secure_getenv("HSA_ENABLE_DXG_DETECTION"),
            },
        .fallback = secure_getenv("ROCM_SDK_FALLBACK"),
        .root = rsdk_environment_root(),
        .conda_prefix = secure_getenv("CONDA_PREFIX"),
        .target_family = secure_getenv("ROCM_SDK_TARGET_FAMILY"),
        .load_watch = secure_getenv("ROCM_SDK_LOAD_WATCH"),
        .kpack_path = secure_getenv("ROCM_KPACK_PATH"),
        .kpack_disable = secure_getenv("ROCM_KPACK_DISABLE"),
        .kpack_path_prefix = secure_getenv("ROCM_KPACK_PATH_PREFIX"),
        .ld_preload = secure_getenv("LD_PRELOAD"),
        .isolate = secure_getenv("ROCM_SDK_ISOLATE"),
        .unversioned_names = secure_getenv("ROCM_SDK_UNVERSIONED_NAMES"),
        .report = place("ROCM_SDK_REPORT"),
        .is_verbose = verbose != NULL && strcmp(verbose, "1") == 0,
    };
    return take_node_overrides(environment) < 0 ? -1 : take_overrides(environment);
}

const char **rsdk_environment_list(void) {
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    const char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++) {
        list[i] = environ[i];
    }
    if (list == NULL) {
        PyErr_NoMemory();
    }
    return list;
}

void rsdk_environment_clear(rsdk_environment *environment) {
    for (size_t i = 0; i < environment->override_count; i++) {
        free((char *)environment->overrides[i].source);
    }
    free(environment->overrides);
    environment->overrides = NULL;
    environment->override_count = 0;
    free(environment->node_overrides);
    environment->node_overrides = NULL;
}
