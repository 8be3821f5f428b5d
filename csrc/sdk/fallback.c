/* A place is taken whole or not at all: its libraries were built together. */
#include "sdk/fallback.h"

#include <string.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/path.h"
#include "elf/soname.h"
#include "sdk/package_name.h"

enum { VERSION_LIMIT = 64 };

static const char prefix_word[] = "prefix:", runtime[] = "libamdhip64.so", digits[] = "0123456789",
                  unknown[] = "unknown";

/* The prefixes where distributions install ROCm. */
static const char *const system_prefixes[] = {"/opt/rocm", "/usr"};

/* The directories of libraries below a prefix. Debian and the like have one for each machine (multiarch). */
static const char *const library_directories[] = {
    "lib",
#if defined __x86_64__
    "lib/x86_64-linux-gnu",
#elif defined __aarch64__
    "lib/aarch64-linux-gnu",
#endif
    "lib64",
};

/* Return "6.4" of "libamdhip64.so.6.4.43484", HIP's version, which is ROCm's without its third number. NULL: the name
 * has none. */
static const char *version_in_name(rsdk_sdk *sdk, const char *name) {
    size_t start = sizeof runtime, major = strspn(name + start, digits);
    const char *minor = name + start + major;
    size_t minor_length = *minor == '.' ? strspn(minor + 1, digits) : 0;
    bool has_third = minor_length > 0 && minor[1 + minor_length] == '.';
    return major > 0 && has_third ? rsdk_arena_copy_bytes(&sdk->arena, name + start, major + 1 + minor_length) : NULL;
}

/* Find out whether a directory has the HIP runtime, and in which version. Two versions: the version is not known. */
static rsdk_status look_in(rsdk_sdk *sdk, const char *prefix, const char *library_directory, bool *has,
                           rsdk_error *error) {
    rsdk_directory listing = {0};
    const char *path = rsdk_path_join(&sdk->arena, prefix, library_directory);
    RSDK_NEED(path, error);
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_directory_read(path, &sdk->arena, &listing, &reason);
    rsdk_error_clear(&reason);
    *has = false;
    for (size_t i = 0; status == RSDK_OK && i < listing.names.count; i++) {
        const char *name = listing.names.items[i];
        if (!rsdk_soname_has_linker_name(name, runtime)) {
            continue;
        }
        *has = true;
        const char *version = name[sizeof runtime - 1] == '.' ? version_in_name(sdk, name) : NULL;
        if (version != NULL) {
            sdk->version = sdk->version == NULL || strcmp(sdk->version, version) == 0 ? version : unknown;
        }
    }
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status consider(rsdk_sdk *sdk, const char *place, const char *prefix, const char *library_directory,
                            rsdk_error *error) {
    static const rsdk_package_id packages[] = {RSDK_CORE, RSDK_LIBRARIES, RSDK_PROFILER};
    bool has = false;
    RSDK_TRY(look_in(sdk, prefix, library_directory, &has, error));
    if (!has) {
        return RSDK_OK;
    }
    const char *directory = rsdk_arena_copy(&sdk->arena, prefix);
    RSDK_NEED(directory, error);
    sdk->fallback = (rsdk_fallback){.place = place, .library_directory = library_directory};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        sdk->packages[packages[i]] = (rsdk_package_state){.is_searched = true, .directory = directory};
    }
    /* Read the version: "6.2.0-66" in `.info/version` is version 6.2.0. Distributions have no such file: their version
     * is in the name of the HIP runtime's file, which `look_in` has read. */
    char *text = NULL;
    size_t length = 0;
    rsdk_file_identity identity;
    const char *path = rsdk_path_join(&sdk->arena, prefix, ".info/version");
    RSDK_NEED(path, error);
    rsdk_status status = rsdk_file_read_text(path, VERSION_LIMIT, &sdk->arena, &text, &length, &identity, NULL);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    size_t version_length = status == RSDK_OK ? strspn(text, "0123456789.") : 0;
    if (version_length > 0) {
        sdk->version = rsdk_arena_copy_bytes(&sdk->arena, text, version_length);
        RSDK_NEED(sdk->version, error);
    } else if (sdk->version == NULL) {
        sdk->version = unknown;
    }
    return RSDK_OK;
}

static rsdk_status consider_prefix(rsdk_sdk *sdk, const char *place, const char *prefix, rsdk_error *error) {
    for (size_t i = 0; sdk->fallback.place == NULL && i < sizeof library_directories / sizeof *library_directories;
         i++) {
        RSDK_TRY(consider(sdk, place, prefix, library_directories[i], error));
    }
    return RSDK_OK;
}

static const char *source_of(const rsdk_sdk_options *options) {
    return options->fallback_source != NULL ? options->fallback_source : "fallback";
}

static rsdk_status consider_place(rsdk_sdk *sdk, const char *place, const rsdk_sdk_options *options,
                                  rsdk_error *error) {
    const char *conda_prefix = options->conda_prefix;
    size_t word_length = sizeof prefix_word - 1;
    if (strncmp(place, prefix_word, word_length) == 0 && place[word_length] == '/') {
        return consider_prefix(sdk, place, place + word_length, error);
    }
    if (strcmp(place, "conda") == 0) {
        return conda_prefix != NULL && conda_prefix[0] == '/' ? consider_prefix(sdk, place, conda_prefix, error)
                                                              : RSDK_OK;
    }
    if (strcmp(place, "system") != 0) {
        return rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_ENV_008, NULL,
                            RSDK_FACTS({"variable", source_of(options)},
                                       {"expected", "prefix:/absolute/path, conda or system, with ',' between"}),
                            "%s: '%s' is none of prefix:/absolute/path, conda, system", source_of(options), place);
    }
    for (size_t i = 0; sdk->fallback.place == NULL && i < sizeof system_prefixes / sizeof *system_prefixes; i++) {
        RSDK_TRY(consider_prefix(sdk, place, system_prefixes[i], error));
    }
    return RSDK_OK;
}

rsdk_status rsdk_fallback_use(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    for (const char *rest = options->fallback; sdk->fallback.place == NULL && *rest != '\0';) {
        size_t length = strcspn(rest, ",");
        const char *place = rsdk_arena_copy_bytes(&sdk->arena, rest, length);
        RSDK_NEED(place, error);
        if (length > 0) {
            RSDK_TRY(consider_place(sdk, place, options, error));
        }
        rest += length + (rest[length] == ',');
    }
    if (sdk->fallback.place == NULL) {
        sdk->fallback.source = rsdk_arena_copy(&sdk->arena, source_of(options));
        sdk->fallback.in_vain =
            rsdk_arena_format(&sdk->arena, "; %s=%s: no such place has a ROCm", source_of(options), options->fallback);
        RSDK_NEED(sdk->fallback.source, error);
        RSDK_NEED(sdk->fallback.in_vain, error);
    }
    return RSDK_OK;
}

bool rsdk_fallback_is_rocm(rsdk_sdk *sdk, const char *prefix) {
    bool has = false;
    for (size_t i = 0; !has && i < sizeof library_directories / sizeof *library_directories; i++) {
        if (look_in(sdk, prefix, library_directories[i], &has, NULL) != RSDK_OK) {
            return false;
        }
    }
    return has;
}
