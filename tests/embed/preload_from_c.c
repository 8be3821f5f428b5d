/* A program that embeds the library: preloads the SDK libraries named on its command line from a site directory and
 * prints where each one is. Written in what C17 and C++17 have in common, so that it proves the headers for both.
 *
 * usage: preload_from_c SITE SHORTNAME... */
#include <stdio.h>
#include <string.h>

#include <rocm_sdk/rocm_sdk.h>

/* `sdk` may be NULL. */
static int fail(rsdk_error *error, rsdk_sdk *sdk) {
    rsdk_problem *problem = NULL;
    fprintf(stderr, "%s\n", rsdk_error_message(error));
    if (rsdk_problem_of_error(error, sdk, NULL, &problem) == RSDK_OK) {
        fprintf(stderr, "%s %s\n%s\n", problem->code, problem->title, problem->fix);
        rsdk_problem_free(problem);
    }
    rsdk_error_clear(error);
    rsdk_sdk_free(sdk);
    return 1;
}

static void print_result(const rsdk_loaded *loaded) {
    for (size_t i = 0; i < rsdk_loaded_count(loaded); i++) {
        const rsdk_loaded_entry *entry = rsdk_loaded_library(loaded, i);
        printf("%s %s\n", entry->location.shortname, entry->location.path);
    }
    for (size_t i = 0; i < rsdk_loaded_warning_count(loaded); i++) {
        printf("warning: %s\n", rsdk_loaded_warning(loaded, i)->text);
    }
}

int main(int argc, char *argv[]) {
    rsdk_error error = RSDK_ERROR_INIT;
    if (argc < 3) {
        fprintf(stderr, "usage: %s SITE SHORTNAME...\n", argv[0]);
        return 2;
    }
    const char *site = argv[1];
    rsdk_sdk_options where;
    memset(&where, 0, sizeof where);
    where.search_path = &site;
    where.search_path_count = 1;
    rsdk_sdk *sdk = NULL;
    if (rsdk_sdk_open(&where, &sdk, &error) != RSDK_OK) {
        return fail(&error, NULL);
    }
    rsdk_load_options what;
    memset(&what, 0, sizeof what);
    what.shortnames = (const char *const *)(argv + 2);
    what.shortname_count = (size_t)argc - 2;
    what.is_global = true;
    rsdk_loaded *loaded = NULL;
    rsdk_status status = rsdk_loader_preload(sdk, &what, &loaded, &error);
    if (loaded != NULL) {
        print_result(loaded);
    }
    rsdk_loaded_free(loaded);
    if (status != RSDK_OK) {
        return fail(&error, sdk);
    }
    rsdk_sdk_free(sdk);
    return 0;
}
