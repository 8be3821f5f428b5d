/* Loading: what is opened, in which order and scope, and what is said about it. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "child_process.h"
#include "sample_loading.h"
#include "suite.h"

/* Loads one library and returns its handle. */
static void *load(const sample_site *site, const char *shortname, bool is_global) {
    rsdk_load_options options = {.shortnames = &shortname, .shortname_count = 1, .is_global = is_global};
    rsdk_loaded *loaded = load_with(site, &options);
    REQUIRE(rsdk_loaded_count(loaded) == 1 && rsdk_loaded_library(loaded, 1) == NULL);
    void *handle = rsdk_loaded_library(loaded, 0)->handle;
    REQUIRE(handle != NULL);
    rsdk_loaded_free(loaded);
    return handle;
}

static const char *answer_of(void *handle, const char *name) {
    const char *(*function)(void) = NULL;
    *(void **)&function = dlsym(handle, name);
    return function != NULL ? function() : NULL;
}

static double seconds_now(void) {
    struct timespec time;
    REQUIRE(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- scope and order ---- */

static void log_line(void *context, const char *line) {
    (void)strcat(context, line);
    (void)strcat(context, "\n");
}

static void check_chain(void *site) {
    static const char *const names[] = {"rocm_smi64", "roctx64"};
    char lines[4096] = "";
    rsdk_load_options options = {
        .shortnames = names, .shortname_count = 2, .is_global = true, .report = log_line, .report_context = lines};
    rsdk_loaded *loaded = load_with(site, &options);
    REQUIRE(rsdk_loaded_count(loaded) == 2 && rsdk_loaded_warning_count(loaded) == 0);
    for (size_t i = 0; i < 2; i++) {
        const rsdk_loaded_entry *entry = rsdk_loaded_library(loaded, i);
        REQUIRE(strcmp(entry->location.shortname, names[i]) == 0 && !entry->was_loaded && entry->seconds > 0);
        REQUIRE(entry->location.package == RSDK_CORE && entry->location.found_via == RSDK_FOUND_BY_FILE_NAME);
    }
    REQUIRE(strcmp(rsdk_loaded_library(loaded, 1)->location.soname, "libroctx64.so.4") == 0);
    REQUIRE(strcmp(answer_of(RTLD_DEFAULT, "deep"), "E") == 0); /* what it brought in is global too */
    REQUIRE(strstr(lines, "librocm_smi64.so.7") < strstr(lines, "libroctx64.so.4"));
    REQUIRE_CONTAINS(lines, "the linker would not find libd.so.1 and 1 more");
    rsdk_loaded_free(loaded);
    loaded = load_with(site, &options);
    REQUIRE(rsdk_loaded_count(loaded) == 2 && rsdk_loaded_library(loaded, 0)->was_loaded);
    REQUIRE(rsdk_loaded_library(loaded, 1)->was_loaded);
    rsdk_loaded_free(loaded);
}

static void chain_is_loaded_and_stays(void **state) {
    ON_SITE(check_chain, {.file = "libe.so.1", .source = SAYS("deep", "E")},
            {.file = "libd.so.1", .source = "", .needs = CORE_LIB "/libe.so.1"},
            {.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"},
            {.file = "librocm_smi64.so.7", .source = ""});
}

static void check_local(void *site) {
    void *handle = load(site, "roctx64", false);
    REQUIRE(strcmp(answer_of(handle, "mark"), "X") == 0);
    REQUIRE(dlsym(RTLD_DEFAULT, "mark") == NULL);
    REQUIRE(load(site, "roctx64", true) == handle);
    REQUIRE(strcmp(answer_of(RTLD_DEFAULT, "mark"), "X") == 0); /* promoted */
}

static void scope_is_as_asked(void **state) {
    ON_SITE(check_local, {.file = "libroctx64.so.4", .source = SAYS("mark", "X")});
}

static void check_compiler(void *site) {
    REQUIRE(strcmp(answer_of(load(site, "amd_comgr", true), "compile"), "comgr") == 0);
    REQUIRE(dlsym(RTLD_DEFAULT, "compile") == NULL);
}

static void compiler_libraries_stay_local(void **state) {
    ON_SITE(check_compiler, {.file = "libamd_comgr.so.3", .source = SAYS("compile", "comgr")});
}

/* ---- dlopen dependencies ---- */

static void check_edges_without_paths(void *site) {
    static const char *const names[] = {"amdhip64"};
    rsdk_load_options options = {.shortnames = names, .shortname_count = 1, .is_global = true};
    rsdk_loaded *loaded = load_with(site, &options);
    REQUIRE(rsdk_loaded_count(loaded) == 1 && rsdk_loaded_library(loaded, 0)->is_requested);
    REQUIRE(rsdk_loaded_opened_count(loaded) == 2 && rsdk_loaded_opened(loaded, 2) == NULL);
    const rsdk_loaded_entry *hip = rsdk_loaded_opened(loaded, 0), *comgr = rsdk_loaded_opened(loaded, 1);
    REQUIRE(hip == rsdk_loaded_library(loaded, 0) && !comgr->is_requested && comgr->handle != NULL);
    REQUIRE(strcmp(comgr->location.soname, "libamd_comgr.so.3") == 0);
    REQUIRE(comgr->seconds > 0 && hip->seconds > comgr->seconds); /* whose time is part of the opener's */
    REQUIRE(is_loaded(site, CORE_LIB "/libamd_comgr.so.3"));
    REQUIRE(dlopen("libamd_comgr.so.3", RTLD_LAZY) != NULL); /* that is how the opener looks for it */
    REQUIRE(dlsym(RTLD_DEFAULT, "compile") == NULL);
    rsdk_loaded_free(loaded);
}

static void check_edges_with_paths(void *site) {
    void *hip = load(site, "amdhip64", true);
    REQUIRE(!is_loaded(site, CORE_LIB "/libamd_comgr.so.3"));
    /* A sanitizer puts a dlopen of its own between, which does not know the paths of the library that calls it. */
    REQUIRE(UNDER_SANITIZER || strcmp(answer_of(hip, "open_comgr"), "opened") == 0);
}

static void what_is_opened_at_run_time_is_there(void **state) {
    static const char opener[] = "#include <dlfcn.h>\nconst char *open_comgr(void) {"
                                 "return dlopen(\"libamd_comgr.so.3\", RTLD_LAZY) ? \"opened\" : \"refused\"; }\n";
    static void (*const checks[])(void *) = {[NO_PATHS] = check_edges_without_paths,
                                             [WITH_RPATH] = check_edges_with_paths,
                                             [WITH_RUNPATH] = check_edges_with_paths};
    for (sample_paths paths = NO_PATHS; paths <= WITH_RUNPATH; paths++) {
        sample_site site = sample_site_new();
        sample_compile(
            &site, &(sample_library){.file = "libamd_comgr.so.3", .source = SAYS("compile", "comgr"), .paths = paths});
        sample_compile(&site, &(sample_library){.file = "libamdhip64.so.7", .source = opener, .paths = paths});
        in_child(checks[paths], &site);
    }
}

static void check_missing_edge(void *site) {
    static const char *const names[] = {"amdhip64"};
    rsdk_loaded *loaded = load_with(site, &(rsdk_load_options){.shortnames = names, .shortname_count = 1});
    REQUIRE(rsdk_loaded_warning_count(loaded) == 1 && rsdk_loaded_warning(loaded, 1) == NULL);
    REQUIRE(rsdk_loaded_warning(loaded, 0)->kind == RSDK_WARNING_GENERAL);
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text, "libamdhip64.so.7 opens libamd_comgr.so at run time");
    rsdk_loaded_free(loaded);
}

static void missing_run_time_library_is_a_warning(void **state) {
    ON_SITE(check_missing_edge, {.file = "libamdhip64.so.7", .source = ""});
}

/* Its resolver runs while the linker relocates, before it finds out what another library lacks. */
static const char slow_to_relocate[] = "static void work(void) {}\n"
                                       "static void *choose(void) {"
                                       "for (volatile int i = 0; i < 50000000; i++) {} return (void *)work; }\n"
                                       "void slow(void) __attribute__((ifunc(\"choose\")));\n";

static void check_times(void *site) {
    static const char *const names[] = {"roctx64", "amdhip64"};
    rsdk_load_options options = {.shortnames = names, .shortname_count = 2, .is_global = true};
    rsdk_loaded *loaded = load_with(site, &options);
    REQUIRE(rsdk_loaded_opened_count(loaded) == 3);
    const rsdk_loaded_entry *roctx = rsdk_loaded_opened(loaded, 0), *comgr = rsdk_loaded_opened(loaded, 2);
    REQUIRE(comgr->seconds >= 0.2 && roctx->seconds < 0.2);
    REQUIRE(rsdk_loaded_opened(loaded, 1)->seconds > comgr->seconds);
    rsdk_loaded_free(loaded);
}

static void time_of_a_run_time_library_is_its_openers(void **state) {
    ON_SITE(check_times, {.file = "libroctx64.so.4", .source = ""},
            {.file = "libamd_comgr.so.3",
             .source = "#include <unistd.h>\n"
                       "__attribute__((constructor)) static void start(void) {"
                       "usleep(200000); }\n"},
            {.file = "libamdhip64.so.7", .source = ""});
}

static void check_lost_time(void *site) {
    static const char *const names[] = {"amdhip64"};
    rsdk_load_options options = {.shortnames = names, .shortname_count = 1, .is_global = true};
    double alone = 1e9; /* seconds: the least of several, as the processor may be taken away */
    for (int i = 0; i < 5; i++) {
        const double start = seconds_now();
        REQUIRE(dlopen(sample_path(site, CORE_LIB "/libamd_comgr.so.3"), RTLD_NOW) == NULL);
        const double taken = seconds_now() - start;
        alone = taken < alone ? taken : alone;
    }
    rsdk_loaded *loaded = load_with(site, &options);
    REQUIRE(rsdk_loaded_opened_count(loaded) == 1 && rsdk_loaded_count(loaded) == 1);
    REQUIRE(rsdk_loaded_library(loaded, 0)->seconds > alone / 4);
    rsdk_loaded_free(loaded);
}

static void time_of_a_run_time_library_that_fails_is_its_openers(void **state) {
    ON_SITE(check_lost_time, {.file = "libslow.so.1", .source = slow_to_relocate, .options = "-O0"},
            {.file = "libamd_comgr.so.3",
             .source = "extern int absent; int *use(void) { return &absent; }\n",
             .needs = CORE_LIB "/libslow.so.1",
             .paths = WITH_RPATH},
            {.file = "libamdhip64.so.7", .source = ""});
}

static void check_failed(void *site) {
    static const char *const names[] = {"roctx64", "amd_smi"};
    rsdk_load_options options = {.shortnames = names, .shortname_count = 2, .is_global = true};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    rsdk_sdk *sdk = sample_open(site);
    REQUIRE(rsdk_loader_preload(sdk, &options, &loaded, &error) == RSDK_LOAD_FAILED);
    REQUIRE(loaded != NULL && rsdk_loaded_count(loaded) == 1 && rsdk_loaded_opened_count(loaded) == 1);
    REQUIRE(strcmp(rsdk_loaded_library(loaded, 0)->location.shortname, "roctx64") == 0);
    rsdk_error_clear(&error);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

static void library_that_fails_is_not_among_the_loaded(void **state) {
    ON_SITE(check_failed, {.file = "libroctx64.so.4", .source = ""},
            {.file = "libamd_smi.so.26", .source = "extern int absent; int *use(void) { return &absent; }\n"});
}

/* ---- second names ---- */

/* rocjpeg is not known to be opened by such a name, amd_smi is. */
static void check_unversioned(void *site) {
    static const char *const names[] = {"rocjpeg", "amd_smi"};
    rsdk_load_options options = {
        .shortnames = names, .shortname_count = 2, .unversioned_names = RSDK_UNVERSIONED_NONE, .is_global = true};
    rsdk_loaded_free(load_with(site, &options));
    REQUIRE(dlopen("libamd_smi.so", RTLD_LAZY) == NULL && dlopen("librocjpeg.so", RTLD_LAZY) == NULL);
    options.unversioned_names = RSDK_UNVERSIONED_KNOWN;
    rsdk_loaded_free(load_with(site, &options));
    void *handle = dlopen("libamd_smi.so", RTLD_LAZY);
    REQUIRE(handle != NULL && strcmp(answer_of(handle, "smi"), "S") == 0);
    REQUIRE(dlopen("librocjpeg.so", RTLD_LAZY) == NULL);
    options.unversioned_names = RSDK_UNVERSIONED_ALL;
    rsdk_loaded_free(load_with(site, &options));
    REQUIRE(dlopen("librocjpeg.so", RTLD_LAZY) != NULL);
    rsdk_loaded *again = load_with(site, &options);
    REQUIRE(rsdk_loaded_warning_count(again) == 0);
    rsdk_loaded_free(again);
}

static void unversioned_names_are_as_many_as_asked_for(void **state) {
    ON_SITE(check_unversioned, {.file = "librocjpeg.so.0", .source = ""},
            {.file = "libamd_smi.so.26", .source = SAYS("smi", "S")});
}

/* ---- given files ---- */

static void check_files(void *site) {
    const char *files[] = {sample_path(site, OUTSIDE "/libextension.so")}, *absent = "/nonexistent/extension.so";
    rsdk_sdk *sdk = sample_open(site);
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    REQUIRE(rsdk_loader_preload_for(sdk, &absent, 1, &loaded, &error) == RSDK_FILE_NOT_FOUND && loaded == NULL);
    REQUIRE_CONTAINS(rsdk_error_message(&error), absent);
    rsdk_error_clear(&error);
    REQUIRE(rsdk_loader_preload_for(sdk, files, 1, &loaded, &error) == RSDK_OK);
    REQUIRE(rsdk_loaded_count(loaded) == 1);
    REQUIRE(strcmp(rsdk_loaded_library(loaded, 0)->location.soname, "libroctx64.so.4") == 0);
    REQUIRE(rsdk_loaded_library(loaded, 0)->location.found_via == RSDK_FOUND_BY_NEED);
    REQUIRE(strcmp(answer_of(RTLD_DEFAULT, "mark"), "roctx") == 0);
    REQUIRE(!is_loaded(site, OUTSIDE "/libextension.so"));
    REQUIRE(dlopen(files[0], RTLD_NOW) != NULL);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

static void what_a_file_needs_is_loaded(void **state) {
    ON_SITE(check_files, {.file = "libroctx64.so.4", .source = SAYS("mark", "roctx")},
            {.directory = OUTSIDE, .file = "libneighbour.so", .source = "", .needs = CORE_LIB "/libroctx64.so.4"},
            {.directory = OUTSIDE,
             .file = "libextension.so",
             .source = "",
             .needs = OUTSIDE "/libneighbour.so",
             .paths = WITH_RPATH,
             .options = "-Wl,-rpath,'$ORIGIN'"});
}

/* ---- absent libraries ---- */

static void check_absent(void *site) {
    static const char *const names[] = {"rocdxg", "hipfile", "roctx64"};
    char lines[4096] = "";
    rsdk_loaded *loaded = load_with(
        site,
        &(rsdk_load_options){.shortnames = names, .shortname_count = 3, .report = log_line, .report_context = lines});
    REQUIRE(rsdk_loaded_count(loaded) == 1);
    REQUIRE_CONTAINS(lines, "skipped: rocdxg is absent (optional)");
    REQUIRE_CONTAINS(lines, "skipped: hipfile is absent (declared)");
    rsdk_loaded_free(loaded);
}

static void absent_libraries_are_skipped(void **state) {
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_directory(&site, "_rocm_sdk_core/share/therock");
    sample_file(&site, "_rocm_sdk_core/share/therock/dist_info.json", "{\"absent_libraries\": [\"hipfile\"]}\n");
    in_child(check_absent, &site);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_is_loaded_and_stays),
        cmocka_unit_test(scope_is_as_asked),
        cmocka_unit_test(compiler_libraries_stay_local),
        cmocka_unit_test(what_is_opened_at_run_time_is_there),
        cmocka_unit_test(missing_run_time_library_is_a_warning),
        cmocka_unit_test(time_of_a_run_time_library_is_its_openers),
        cmocka_unit_test(time_of_a_run_time_library_that_fails_is_its_openers),
        cmocka_unit_test(library_that_fails_is_not_among_the_loaded),
        cmocka_unit_test(unversioned_names_are_as_many_as_asked_for),
        cmocka_unit_test(what_a_file_needs_is_loaded),
        cmocka_unit_test(absent_libraries_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
