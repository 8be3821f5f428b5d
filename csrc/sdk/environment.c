/* The environment as values. In a program with other privileges than its caller's (AT_SECURE), no variable counts,
 * because the caller sets them. Python's os.environ writes through to it, its GIL keeps other writers away while it is
 * read, and a text that getenv returned stays valid when the variable is changed: glibc never frees one. Without a GIL
 * a writer in another thread is as dangerous as to any getenv, before glibc 2.41. */
#include "sdk/environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/fail.h"

static const char node_prefix[] = "HSA_OVERRIDE_GFX_VERSION_";
static const char override_prefix[] = "ROCM_SDK_LIBRARY_";

/* Return the variables; none in a program with other privileges than its caller's. */
static char **variables(void) {
    static char *none[] = {NULL};
    return environ != NULL && getauxval(AT_SECURE) == 0 ? environ : none;
}

/* Read "HSA_OVERRIDE_GFX_VERSION_3=10.3.0" as node 3; return 0 for other variables. */
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

static rsdk_status take_node_override(rsdk_environment *environment, const char *variable, rsdk_error *error) {
    rsdk_gpu_node_override override;
    size_t *count = &environment->gpu_variables.node_override_count;
    if (!read_node_override(variable, &override)) {
        return RSDK_OK;
    }
    void *more = realloc(environment->node_overrides, (*count + 1) * sizeof override);
    RSDK_NEED(more, error);
    environment->gpu_variables.node_overrides = environment->node_overrides = more;
    environment->node_overrides[(*count)++] = override;
    return RSDK_OK;
}

/* Take "ROCM_SDK_LIBRARY_amdhip64=/path"; an empty value is none. */
static rsdk_status take_override(rsdk_environment *environment, const char *variable, rsdk_error *error) {
    const size_t prefix_length = sizeof override_prefix - 1;
    const char *value = strncmp(variable, override_prefix, prefix_length) == 0 ? strchr(variable, '=') : NULL;
    if (value == NULL || value[1] == '\0') {
        return RSDK_OK;
    }
    rsdk_library_override *more = realloc(environment->overrides, (environment->override_count + 1) * sizeof *more);
    RSDK_NEED(more, error);
    environment->overrides = more;
    char *name = strndup(variable, (size_t)(value - variable));
    RSDK_NEED(name, error);
    const rsdk_catalog_entry *entry = rsdk_catalog_find_word(name + prefix_length);
    more[environment->override_count++] = (rsdk_library_override){
        .shortname = entry != NULL ? entry->shortname : name + prefix_length, .path = value + 1, .source = name};
    return RSDK_OK;
}

/* A variable, and the text of the struct that has its value. */
typedef struct text_row {
    const char *name;
    size_t length, offset;
    bool counts_empty; /* false: an empty value is none */
} text_row;

#define TEXT(name, field)    name, sizeof(name) - 1, offsetof(rsdk_environment, field)
#define OF_GPUS(name, field) TEXT(name, gpu_variables.field)

/* clang-format off */
static const text_row texts[] = {
    {TEXT("ROCM_SDK_ROOTFS",             gpus.root),                true},
    {OF_GPUS("ROCR_VISIBLE_DEVICES",     rocr_visible_devices),     true},
    {OF_GPUS("HIP_VISIBLE_DEVICES",      hip_visible_devices),      true},
    {OF_GPUS("CUDA_VISIBLE_DEVICES",     cuda_visible_devices),     true},
    {OF_GPUS("GPU_DEVICE_ORDINAL",       gpu_device_ordinal),       true},
    {OF_GPUS("HSA_OVERRIDE_GFX_VERSION", hsa_override_gfx_version), true},
    {OF_GPUS("HSA_XNACK",                hsa_xnack),                true},
    {OF_GPUS("HSA_ENABLE_SRAMECC",       hsa_enable_sramecc),       true},
    {OF_GPUS("HSA_DISABLE_GFX12_STRICT", hsa_disable_gfx12_strict), true},
    {OF_GPUS("HSA_ENABLE_DXG_DETECTION", hsa_enable_dxg_detection), true},
    {TEXT("ROCM_SDK_FALLBACK",           fallback),                 true},
    {TEXT("ROCM_SDK_ROOT",               root),                     false},
    {TEXT("CONDA_PREFIX",                conda_prefix),             true},
    {TEXT("ROCM_SDK_TARGET_FAMILY",      target_family),            true},
    {TEXT("ROCM_SDK_READ_AHEAD",         read_ahead),               false},
    {TEXT("ROCM_SDK_RECORD_PAGES",       record_pages),             false},
    {TEXT("ROCM_SDK_LOAD_WATCH",         load_watch),               true},
    {TEXT("ROCM_KPACK_PATH",             kpack_path),               true},
    {TEXT("ROCM_KPACK_DISABLE",          kpack_disable),            true},
    {TEXT("ROCM_KPACK_PATH_PREFIX",      kpack_path_prefix),        true},
    {TEXT("LD_PRELOAD",                  ld_preload),               true},
    {TEXT("ROCM_SDK_ISOLATE",            isolate),                  true},
    {TEXT("ROCM_SDK_UNVERSIONED_NAMES",  unversioned_names),        true},
    {TEXT("ROCM_SDK_REPORT",             report),                   false},
    {TEXT("ROCM_SDK_VERBOSE",            verbose),                  true},
};
/* clang-format on */

enum { TEXT_COUNT = sizeof texts / sizeof *texts };

static const char **text_of(rsdk_environment *environment, const text_row *row) {
    return (const char **)(void *)((char *)environment + row->offset);
}

/* Take the value of a text. If the environment has a name twice the first counts, as for getenv. */
static void take_text(rsdk_environment *environment, const char *variable) {
    for (const text_row *row = texts; row < texts + TEXT_COUNT; row++) {
        if (variable[0] == row->name[0] && variable[1] == row->name[1] &&
            strncmp(variable, row->name, row->length) == 0 && variable[row->length] == '=') {
            const char **text = text_of(environment, row);
            *text = *text == NULL ? variable + row->length + 1 : *text;
            return;
        }
    }
}

/* Return the bit of a letter. Names begin with capital letters: a bit for each. */
static uint32_t bit_of(char letter) {
    return letter >= 'A' && letter <= 'Z' ? UINT32_C(1) << (letter - 'A') : 0;
}

/* Return the bits of the letters with which the names of `texts` and the prefixes begin. */
static uint32_t first_letters(void) {
    uint32_t letters = bit_of(node_prefix[0]) | bit_of(override_prefix[0]);
    for (const text_row *row = texts; row < texts + TEXT_COUNT; row++) {
        letters |= bit_of(row->name[0]);
    }
    return letters;
}

/* The environment is read in one pass: it has a hundred variables, and each getenv would go through them. */
rsdk_status rsdk_environment_read(rsdk_environment *environment, rsdk_error *error) {
    const uint32_t letters = first_letters();
    *environment = (rsdk_environment){.gpus = {.environment = &environment->gpu_variables}};
    for (char **variable = variables(); *variable != NULL; variable++) {
        if ((bit_of((*variable)[0]) & letters) == 0) {
            continue;
        }
        take_text(environment, *variable);
        RSDK_TRY(take_node_override(environment, *variable, error));
        RSDK_TRY(take_override(environment, *variable, error));
    }
    for (const text_row *row = texts; row < texts + TEXT_COUNT; row++) {
        const char **text = text_of(environment, row);
        if (!row->counts_empty && *text != NULL && **text == '\0') {
            *text = NULL;
        }
    }
    environment->is_verbose = environment->verbose != NULL && strcmp(environment->verbose, "1") == 0;
    return RSDK_OK;
}

const char *rsdk_environment_root(void) {
    const char *root = secure_getenv("ROCM_SDK_ROOT");
    return root != NULL && root[0] != '\0' ? root : NULL;
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
