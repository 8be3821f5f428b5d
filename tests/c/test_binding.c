/* Every symbol binds as if each library had correct RPATHs and were opened by a plain dlopen: the same libraries are
 * built twice, with RPATHs and without, loaded by dlopen and by rsdk_loader_preload, and each probe must give the same
 * answer. Each load is a program of its own (this one, started again), because LD_LIBRARY_PATH counts as it was at the
 * start of a process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_process.h"
#include "sample_loading.h"
#include "suite.h"

enum { ANSWERS_SIZE = 1024, REQUEST_LIMIT = 4 };

/* ---- the program that loads ---- */

/* test_binding plain|preload SITE global|local "SHORTNAME ..." "FILE ..." "PROBE ..." */

static void ask_probes(void *const handles[], size_t count, const char *probes) {
    char *copy = strdup(probes), *rest = NULL;
    REQUIRE(copy != NULL);
    for (const char *probe = strtok_r(copy, " ", &rest); probe != NULL; probe = strtok_r(NULL, " ", &rest)) {
        for (size_t i = 0; i < count; i++) {
            const char *(*function)(void) = NULL;
            *(void **)&function = dlsym(handles[i], probe);
            printf("%s from %zu: %s\n", probe, i, function != NULL ? function() : "absent");
        }
        const char *(*everywhere)(void) = NULL;
        *(void **)&everywhere = dlsym(RTLD_DEFAULT, probe);
        printf("%s in the global scope: %s\n", probe, everywhere != NULL ? everywhere() : "absent");
    }
    free(copy);
}

static size_t split(char *list, const char *words[REQUEST_LIMIT]) {
    size_t count = 0;
    char *rest = NULL;
    for (const char *word = strtok_r(list, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        REQUIRE(count < REQUEST_LIMIT);
        words[count++] = word;
    }
    return count;
}

static void load_by_dlopen(const sample_site *site, bool is_global, const char *const files[], size_t count,
                           void *handles[]) {
    for (size_t i = 0; i < count; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, CORE_LIB "/%s", files[i]);
        handles[i] = dlopen(sample_path(site, name), RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
        if (handles[i] == NULL) {
            (void)fprintf(stderr, "%s\n", dlerror());
            _exit(1);
        }
    }
}

static void load_by_preload(const sample_site *site, bool is_global, const char *const names[], size_t count,
                            void *handles[]) {
    rsdk_load_options options = {.shortnames = names, .shortname_count = count, .is_global = is_global};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    rsdk_sdk *sdk = sample_open(site);
    if (rsdk_loader_preload(sdk, &options, &loaded, &error) != RSDK_OK) {
        (void)fprintf(stderr, "%s\n", rsdk_error_message(&error));
        _exit(1);
    }
    REQUIRE(rsdk_loaded_count(loaded) == count);
    for (size_t i = 0; i < count; i++) {
        handles[i] = rsdk_loaded_library(loaded, i)->handle;
    }
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

static int load_and_answer(char *arguments[]) {
    sample_site site = sample_site_at(arguments[1]);
    const char *names[REQUEST_LIMIT], *files[REQUEST_LIMIT];
    void *handles[REQUEST_LIMIT] = {NULL};
    bool is_global = strcmp(arguments[2], "global") == 0;
    size_t count = split(arguments[3], names);
    REQUIRE(split(arguments[4], files) == count);
    if (strcmp(arguments[0], "plain") == 0) {
        load_by_dlopen(&site, is_global, files, count, handles);
    } else {
        load_by_preload(&site, is_global, names, count, handles);
    }
    ask_probes(handles, count, arguments[5]);
    sample_site_leave(&site);
    return 0;
}

/* ---- the comparison ---- */

typedef struct binding_case {
    const sample_library *libraries;
    size_t library_count;
    const char *shortnames, *files, *probes;
    bool without_library_path;
} binding_case;

static void start_again(const sample_site *site, const char *method, const char *scope, const binding_case *c,
                        char *answers) {
    char program[256] = "", command[2048];
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    (void)snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' '%s' %s '%s' %s '%s' '%s' '%s'",
                   c->without_library_path ? "" : sample_path(site, OUTSIDE), program, method, site->path, scope,
                   c->shortnames, c->files, c->probes);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    size_t size = fread(answers, 1, ANSWERS_SIZE - 1, output);
    answers[size] = '\0';
    assert_int_equal(pclose(output), 0);
}

static sample_site build(const binding_case *c, sample_paths paths) {
    sample_site site = sample_site_new();
    sample_dist_info(&site);
    for (size_t i = 0; i < c->library_count; i++) {
        sample_library library = c->libraries[i];
        bool is_outside = library.directory != NULL && strcmp(library.directory, OUTSIDE) == 0;
        library.paths = is_outside ? NO_PATHS : paths;
        sample_compile(&site, &library);
    }
    return site;
}

static void compare(const binding_case *c) {
    sample_site with = build(c, WITH_RPATH), without = build(c, NO_PATHS);
    static const char *const scopes[] = {"global", "local"};
    for (size_t i = 0; i < 2; i++) {
        char wanted[ANSWERS_SIZE], got[ANSWERS_SIZE];
        start_again(&with, "plain", scopes[i], c, wanted);
        assert_non_null(strstr(wanted, "from 0: "));
        start_again(&without, "preload", scopes[i], c, got);
        assert_string_equal(got, wanted);
        start_again(&with, "preload", scopes[i], c, got);
        assert_string_equal(got, wanted);
    }
    sample_site_remove(&with);
    sample_site_remove(&without);
}

#define COMPARE(libs, ...)                                                                                             \
    compare(&(binding_case){.libraries = (libs), .library_count = sizeof(libs) / sizeof *(libs), __VA_ARGS__})

#define CALLS(probe, function)                                                                                         \
    "const char *" function "(void);\nconst char *" probe "(void) { return " function "(); }\n"
#define ROCTX CORE_LIB "/libroctx64.so.4"
#define LIBD  CORE_LIB "/libd.so.1"

static void library_interposes_its_dependency(void **state) {
    static const sample_library libraries[] = {
        {.file = "libd.so.1", .source = SAYS("f", "D") CALLS("probe", "f")},
        {.file = "libroctx64.so.4", .source = SAYS("f", "X"), .needs = LIBD},
    };
    COMPARE(libraries, .shortnames = "roctx64", .files = "libroctx64.so.4", .probes = "probe f");
}

static void dependency_uses_symbols_of_those_who_need_it(void **state) {
    static const sample_library libraries[] = {
        {.file = "libd.so.1", .source = CALLS("probe_library", "only_x") CALLS("probe_sister", "only_e")},
        {.file = "libe.so.1", .source = SAYS("only_e", "E")},
        {.file = "libroctx64.so.4", .source = SAYS("only_x", "X"), .needs = LIBD " " CORE_LIB "/libe.so.1"},
    };
    COMPARE(libraries, .shortnames = "roctx64", .files = "libroctx64.so.4", .probes = "probe_library probe_sister");
}

static void first_of_two_dependencies_wins(void **state) {
    static const sample_library libraries[] = {
        {.file = "libz.so.1", .source = SAYS("g", "Z") SAYS("h", "Z")},
        {.file = "liba.so.1", .source = SAYS("g", "A") SAYS("h", "A") CALLS("probe_a", "h")},
        {.file = "libroctx64.so.4",
         .source = CALLS("probe", "g"),
         .needs = CORE_LIB "/libz.so.1 " CORE_LIB "/liba.so.1"},
    };
    COMPARE(libraries, .shortnames = "roctx64", .files = "libroctx64.so.4", .probes = "probe probe_a");
}

static void diamond_is_breadth_first(void **state) {
    static const sample_library libraries[] = {
        {.file = "libc1.so.1", .source = SAYS("g", "C1") CALLS("probe_c1", "g")},
        {.file = "libd.so.1", .source = SAYS("g", "D") CALLS("probe_d", "g")},
        {.file = "liba.so.1", .source = CALLS("probe_a", "g"), .needs = CORE_LIB "/libc1.so.1"},
        {.file = "libb.so.1", .source = SAYS("g", "B"), .needs = LIBD " " CORE_LIB "/libc1.so.1"},
        {.file = "libroctx64.so.4",
         .source = CALLS("probe", "g"),
         .needs = CORE_LIB "/liba.so.1 " CORE_LIB "/libb.so.1"},
    };
    COMPARE(libraries, .shortnames = "roctx64", .files = "libroctx64.so.4", .probes = "probe probe_a probe_c1 probe_d");
}

static void libraries_outside_keep_their_place(void **state) {
    static const sample_library libraries[] = {
        {.directory = OUTSIDE, .file = "libo1.so.1", .source = SAYS("g", "O1") SAYS("h", "O1")},
        {.directory = OUTSIDE, .file = "libo2.so.1", .source = SAYS("h", "O2") SAYS("k", "O2")},
        {.file = "liba.so.1", .source = SAYS("k", "A") CALLS("probe_a", "h"), .needs = OUTSIDE "/libo2.so.1"},
        {.file = "libb.so.1", .source = SAYS("g", "B") SAYS("h", "B") SAYS("k", "B")},
        {.file = "libroctx64.so.4",
         .source = CALLS("probe_g", "g") CALLS("probe_h", "h") CALLS("probe_k", "k"),
         .needs = OUTSIDE "/libo1.so.1 " CORE_LIB "/liba.so.1 " CORE_LIB "/libb.so.1"},
    };
    COMPARE(libraries, .shortnames = "roctx64", .files = "libroctx64.so.4",
            .probes = "probe_g probe_h probe_k probe_a");
}

/* Only the requested library knows where the outside is; its dependency relies on that. */
static void dependency_uses_the_paths_of_those_who_need_it(void **state) {
    static const char outside_rpath[] = "-Wl,--disable-new-dtags,-rpath,'$ORIGIN/../../" OUTSIDE "'";
    static const sample_library libraries[] = {
        {.directory = OUTSIDE, .file = "libo.so.1", .source = SAYS("g", "O")},
        {.file = "libb.so.1", .source = SAYS("g", "B")},
        {.file = "libd.so.1", .source = CALLS("probe", "g"), .needs = OUTSIDE "/libo.so.1"},
        {.file = "libroctx64.so.4", .source = "", .needs = LIBD " " CORE_LIB "/libb.so.1", .options = outside_rpath},
    };
    COMPARE(libraries, .shortnames = "roctx64", .files = "libroctx64.so.4", .probes = "probe",
            .without_library_path = true);
}

static void earlier_requests_come_first(void **state) {
    static const sample_library libraries[] = {
        {.file = "libd.so.1", .source = SAYS("f", "D") CALLS("probe_d", "f")},
        {.file = "libe.so.1", .source = SAYS("f", "E") CALLS("probe_e", "f")},
        {.file = "libroctx64.so.4", .source = SAYS("f", "X"), .needs = LIBD},
        {.file = "libamd_smi.so.26", .source = SAYS("f", "Y"), .needs = LIBD " " CORE_LIB "/libe.so.1"},
    };
    COMPARE(libraries, .shortnames = "roctx64 amd_smi", .files = "libroctx64.so.4 libamd_smi.so.26",
            .probes = "probe_d probe_e f");
    COMPARE(libraries, .shortnames = "amd_smi roctx64", .files = "libamd_smi.so.26 libroctx64.so.4",
            .probes = "probe_d probe_e f");
}

static void request_that_is_a_dependency_of_another(void **state) {
    static const sample_library libraries[] = {
        {.file = "libamd_smi.so.26", .source = SAYS("f", "D") CALLS("probe", "f")},
        {.file = "libroctx64.so.4", .source = SAYS("f", "X"), .needs = CORE_LIB "/libamd_smi.so.26"},
    };
    COMPARE(libraries, .shortnames = "roctx64 amd_smi", .files = "libroctx64.so.4 libamd_smi.so.26",
            .probes = "probe f");
    COMPARE(libraries, .shortnames = "amd_smi roctx64", .files = "libamd_smi.so.26 libroctx64.so.4",
            .probes = "probe f");
}

/* The second request needs the first, which is there already, before a library that is not. */
static void earlier_request_keeps_its_place_among_needs(void **state) {
    static const sample_library libraries[] = {
        {.file = "libamd_smi.so.26", .source = SAYS("g", "S")},
        {.file = "libd.so.1", .source = SAYS("g", "D") CALLS("probe_d", "g")},
        {.file = "libroctx64.so.4", .source = CALLS("probe", "g"), .needs = CORE_LIB "/libamd_smi.so.26 " LIBD},
    };
    COMPARE(libraries, .shortnames = "amd_smi roctx64", .files = "libamd_smi.so.26 libroctx64.so.4",
            .probes = "probe probe_d");
}

static void cycle(void **state) {
    static const sample_library libraries[] = {
        {.file = "libroctx64.so.4", .source = ""},
        {.file = "libd.so.1", .source = SAYS("f", "D") CALLS("probe_d", "g"), .needs = ROCTX},
        {.file = "libroctx64.so.4", .source = SAYS("f", "X") SAYS("g", "X") CALLS("probe_x", "f"), .needs = LIBD},
    };
    COMPARE(libraries, .shortnames = "roctx64", .files = "libroctx64.so.4", .probes = "probe_d probe_x");
}

int main(int argc, char *argv[]) {
    if (argc == 7) {
        return load_and_answer(argv + 1);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_interposes_its_dependency),
        cmocka_unit_test(dependency_uses_symbols_of_those_who_need_it),
        cmocka_unit_test(first_of_two_dependencies_wins),
        cmocka_unit_test(diamond_is_breadth_first),
        cmocka_unit_test(libraries_outside_keep_their_place),
        cmocka_unit_test(dependency_uses_the_paths_of_those_who_need_it),
        cmocka_unit_test(earlier_requests_come_first),
        cmocka_unit_test(request_that_is_a_dependency_of_another),
        cmocka_unit_test(earlier_request_keeps_its_place_among_needs),
        cmocka_unit_test(cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
