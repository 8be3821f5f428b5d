/* The root, which is the whole SDK: packages of two installations are of two builds, and their RPATHs lead to their own
 * siblings. Nothing beside the root is searched, and a package that it lacks is not installed. */
#include "sdk/fallback.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/path.h"
#include "sdk/tables.h"

static const char form[] =
    "the absolute path of a directory that is laid out as site-packages, with rocm_sdk_core in it";

static rsdk_status fail_as(const rsdk_sdk *sdk, const char *fault, const char *reason, const char *expected,
                           rsdk_error *error) {
    return rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_ENV_008, sdk->root.path,
                        RSDK_FACTS({"variable", sdk->root.source}, {"expected", expected}), "%s: '%s' %s%s",
                        sdk->root.source, sdk->root.path, fault, reason);
}

rsdk_status rsdk_root_use(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    size_t length = strlen(options->root);
    while (length > 1 && options->root[length - 1] == '/') {
        length--;
    }
    sdk->root.path = rsdk_arena_copy_bytes(&sdk->arena, options->root, length);
    sdk->root.source = rsdk_arena_copy(&sdk->arena, options->root_source != NULL ? options->root_source : "root");
    RSDK_NEED(sdk->root.path, error);
    RSDK_NEED(sdk->root.source, error);
    /* Refuse a path that cannot be a root: a search in it would say only that no SDK is there. */
    const char *path = sdk->root.path;
    struct stat facts;
    if (path[0] != '/') {
        return fail_as(sdk, "is not an absolute path", "", form, error);
    }
    if (stat(path, &facts) != 0) {
        return fail_as(sdk, "cannot be reached: ", strerror(errno), form, error);
    }
    if (!S_ISDIR(facts.st_mode)) {
        return fail_as(sdk, "is not a directory", "", form, error);
    }
    RSDK_TRY(access(path, X_OK) == 0 ? RSDK_OK
                                     : fail_as(sdk, "is a directory that this user may not search", "", form, error));
    RSDK_APPEND(&sdk->arena, &sdk->search_path, sdk->root.path, error);
    return RSDK_OK;
}

static bool has_core(rsdk_sdk *sdk, const char *directory) {
    const char *module = rsdk_path_join(&sdk->arena, directory, rsdk_package_table[RSDK_CORE].pure_module);
    return module != NULL && access(module, X_OK) == 0;
}

/* Return the directory above a path that has the core package; NULL: none. */
static const char *above_with_core(rsdk_sdk *sdk, const char *path) {
    const char *above = path;
    while (above != NULL && strcmp(above, "/") != 0) {
        above = rsdk_path_parent(&sdk->arena, above);
        if (above != NULL && has_core(sdk, above)) {
            return above;
        }
    }
    return NULL;
}

/* Return the site-packages directory with the core package of the Python environment at `path`; NULL: none. */
static const char *site_with_core(rsdk_sdk *sdk, const char *path) {
    rsdk_directory listing = {0};
    const char *library_directory = rsdk_path_join(&sdk->arena, path, "lib");
    if (library_directory == NULL || rsdk_directory_read(library_directory, &sdk->arena, &listing, NULL) != RSDK_OK) {
        return NULL;
    }
    for (size_t i = 0; i < listing.names.count; i++) {
        const char *site =
            strncmp(listing.names.items[i], "python", strlen("python")) == 0
                ? rsdk_arena_format(&sdk->arena, "%s/%s/site-packages", library_directory, listing.names.items[i])
                : NULL;
        if (site != NULL && has_core(sdk, site)) {
            return site;
        }
    }
    return NULL;
}

rsdk_status rsdk_root_fail_without_sdk(rsdk_sdk *sdk, rsdk_error *error) {
    const char *path = sdk->root.path, *site = above_with_core(sdk, path);
    if (site != NULL) {
        return fail_as(sdk, "is a directory within an SDK", "", site, error);
    }
    site = site_with_core(sdk, path);
    if (site != NULL) {
        return fail_as(sdk, "is a Python environment", "", site, error);
    }
    if (rsdk_fallback_is_rocm(sdk, path)) {
        const char *expected =
            rsdk_arena_format(&sdk->arena, "%s; ROCM_SDK_FALLBACK=prefix:%s takes this one", form, path);
        RSDK_NEED(expected, error);
        return fail_as(sdk, "is a ROCm without packages", "", expected, error);
    }
    return fail_as(sdk, "has no ROCm SDK in it", "", form, error);
}
