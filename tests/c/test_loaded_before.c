/* Loading where the process has a library already: a copy from elsewhere, another version, the same file; and how the
 * dynamic linker's list of objects tells of them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_process.h"
#include "loader/link_map.h"
#include "sample_loading.h"
#include "suite.h"

static void check_foreign_copy(void *site) {
    static const char *const names[] = {"roctx64", "rocm_smi64"};
    void *foreign = dlopen(sample_path(site, OUTSIDE "/libroctx64.so.4"), RTLD_NOW);
    REQUIRE(foreign != NULL);
    rsdk_loaded *loaded = load_with(site, &(rsdk_load_options){.shortnames = names, .shortname_count = 2});
    const rsdk_loaded_entry *entry = rsdk_loaded_library(loaded, 0);
    REQUIRE(entry->handle == foreign && entry->was_loaded);
    REQUIRE(strcmp(entry->location.path, sample_path(site, OUTSIDE "/libroctx64.so.4")) == 0);
    REQUIRE(rsdk_loaded_warning_count(loaded) >= 1);
    REQUIRE(rsdk_loaded_warning(loaded, 0)->kind == RSDK_WARNING_CONFLICT);
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text, "code that ran earlier");
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text, sample_path(site, CORE_LIB "/libroctx64.so.4"));
    rsdk_loaded_free(loaded);
    const char *preloaded = sample_path(site, OUTSIDE "/libroctx64.so.4");
    loaded = load_with(site, &(rsdk_load_options){.shortnames = names, .shortname_count = 1, .ld_preload = preloaded});
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text, "brought in by LD_PRELOAD");
    rsdk_loaded_free(loaded);
}

typedef struct closing {
    void *handle;
    char lines[1024];
} closing;

/* Closes what the process had, between the plan and the step that was to use it. */
static void close_it(void *context, const char *line) {
    closing *c = context;
    (void)strncat(c->lines, line, sizeof c->lines - strlen(c->lines) - 1);
    REQUIRE(c->handle == NULL || dlclose(c->handle) == 0);
    c->handle = NULL;
}

static void check_closed_copy(void *site) {
    static const char *const names[] = {"roctx64"};
    closing c = {.handle = dlopen(sample_path(site, CORE_LIB "/libroctx64.so.4"), RTLD_NOW)};
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_loaded *loaded = NULL;
    rsdk_sdk *sdk = sample_open(site);
    REQUIRE(c.handle != NULL);
    const rsdk_load_options options = {
        .shortnames = names, .shortname_count = 1, .report = close_it, .report_context = &c};
    REQUIRE(rsdk_loader_preload(sdk, &options, &loaded, &error) == RSDK_LOAD_FAILED);
    REQUIRE_CONTAINS(c.lines, "in use: ");
    REQUIRE_CONTAINS(error.message, "it is not in the process, although it was");
    rsdk_error_clear(&error);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
}

static void copy_that_is_closed_meanwhile_is_an_error(void **state) {
    ON_SITE(check_closed_copy, {.file = "libroctx64.so.4", .source = ""});
}

static void copy_from_elsewhere_is_used_and_named(void **state) {
    ON_SITE(check_foreign_copy, {.file = "libroctx64.so.4", .source = ""},
            {.directory = OUTSIDE, .file = "libroctx64.so.4", .source = ""},
            {.file = "librocm_smi64.so.7", .source = "", .needs = CORE_LIB "/libroctx64.so.4"});
}

/* This program, started again with LD_LIBRARY_PATH set. */
static int name_library_path(const char *path) {
    static const char *const names[] = {"roctx64"};
    const sample_site site = sample_site_at(path);
    REQUIRE(dlopen("libroctx64.so.4", RTLD_NOW) != NULL);
    rsdk_loaded *loaded = load_with(&site, &(rsdk_load_options){.shortnames = names, .shortname_count = 1});
    REQUIRE(rsdk_loaded_warning_count(loaded) == 1);
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text, "brought in by LD_LIBRARY_PATH");
    rsdk_loaded_free(loaded);
    sample_site_leave(&site);
    return 0;
}

static void copy_from_the_library_path_is_named(void **state) {
    char program[256] = "", command[1024];
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libroctx64.so.4", .source = ""});
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    (void)snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' '%s' '%s'", sample_path(&site, OUTSIDE), program,
                   site.path);
    assert_int_equal(system(command), 0);
    sample_site_remove(&site);
}

static void check_dependency_from_elsewhere(void *site) {
    static const char *const names[] = {"rocm_smi64"};
    REQUIRE(dlopen(sample_path(site, OUTSIDE "/libd.so.1"), RTLD_NOW) != NULL);
    rsdk_loaded *loaded = load_with(site, &(rsdk_load_options){.shortnames = names, .shortname_count = 1});
    REQUIRE(rsdk_loaded_warning_count(loaded) == 1 && rsdk_loaded_warning(loaded, 0)->kind == RSDK_WARNING_CONFLICT);
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text, sample_path(site, OUTSIDE "/libd.so.1"));
    REQUIRE(!is_loaded(site, CORE_LIB "/libother.so.1"));
    rsdk_loaded_free(loaded);
}

static void dependency_from_elsewhere_is_named(void **state) {
    ON_SITE(check_dependency_from_elsewhere, {.file = "libd.so.1", .source = ""},
            {.directory = OUTSIDE, .file = "libd.so.1", .source = ""},
            {.file = "librocm_smi64.so.7", .source = "", .needs = CORE_LIB "/libd.so.1"});
}

static void check_two_majors(void *site) {
    static const char *const names[] = {"roctx64"};
    REQUIRE(dlopen(sample_path(site, OUTSIDE "/libroctx64.so.3"), RTLD_NOW) != NULL);
    rsdk_loaded *loaded = load_with(site, &(rsdk_load_options){.shortnames = names, .shortname_count = 1});
    REQUIRE(!rsdk_loaded_library(loaded, 0)->was_loaded);
    REQUIRE(rsdk_loaded_warning_count(loaded) == 1 && rsdk_loaded_warning(loaded, 0)->kind == RSDK_WARNING_CONFLICT);
    REQUIRE_CONTAINS(rsdk_loaded_warning(loaded, 0)->text, "libroctx64.so.3 is already loaded");
    rsdk_loaded_free(loaded);
}

static void other_major_in_the_process_is_named(void **state) {
    ON_SITE(check_two_majors, {.file = "libroctx64.so.4", .source = ""},
            {.directory = OUTSIDE, .file = "libroctx64.so.3", .source = ""});
}

static void check_same_file_by_another_path(void *site) {
    static const char *const names[] = {"roctx64"};
    void *before = dlopen(sample_path(site, OUTSIDE "/libroctx64.so.4"), RTLD_NOW);
    rsdk_loaded *loaded = load_with(site, &(rsdk_load_options){.shortnames = names, .shortname_count = 1});
    REQUIRE(before != NULL && rsdk_loaded_library(loaded, 0)->handle == before);
    REQUIRE(rsdk_loaded_library(loaded, 0)->was_loaded && rsdk_loaded_warning_count(loaded) == 0);
    rsdk_loaded_free(loaded);
}

static void same_file_by_another_path_is_no_conflict(void **state) {
    sample_site site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_directory(&site, OUTSIDE);
    assert_int_equal(symlink("../" CORE_LIB "/libroctx64.so.4", sample_path(&site, OUTSIDE "/libroctx64.so.4")), 0);
    in_child(check_same_file_by_another_path, &site);
}

static void own_libraries_are_listed(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_link_map map;
    rsdk_error error = RSDK_ERROR_INIT;
    assert_int_equal(rsdk_link_map_read(&arena, &map, &error), RSDK_OK);
    assert_true(map.objects.count > 3);
    assert_string_equal(map.objects.items[0].path, ""); /* the main program */
    assert_null(map.program_rpath);
    const rsdk_mapped_object *libc = rsdk_link_map_find_soname(&map, "libc.so.6");
    assert_non_null(libc);
    assert_int_equal(libc->path[0], '/');
    assert_non_null(rsdk_link_map_find_soname(&map, "libcmocka.so.0"));
    assert_null(rsdk_link_map_find_soname(&map, "libc.so"));
    rsdk_arena_clear(&arena);
}

static void find_files(void *context) {
    const sample_site *site = context;
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_link_map map;
    struct stat facts;
    REQUIRE(symlink(CORE_LIB "/libx.so.1", sample_path(site, "link.so")) == 0);
    REQUIRE(dlopen(sample_path(site, "link.so"), RTLD_NOW) != NULL);
    REQUIRE(dlopen(sample_path(site, CORE_LIB "/libnameless.so"), RTLD_NOW) != NULL);
    REQUIRE(rsdk_link_map_read(&arena, &map, NULL) == RSDK_OK);
    const char *path = sample_path(site, CORE_LIB "/libx.so.1");
    REQUIRE(stat(path, &facts) == 0);
    rsdk_file_identity identity = {.device = facts.st_dev, .inode = facts.st_ino};
    const rsdk_mapped_object *object = rsdk_link_map_find_file(&map, path, "libx.so.1", identity);
    REQUIRE(object != NULL && strcmp(object->path, sample_path(site, "link.so")) == 0);
    REQUIRE(object == rsdk_link_map_find_soname(&map, "libx.so.1"));
    identity.inode++;
    REQUIRE(rsdk_link_map_find_file(&map, path, "libx.so.1", identity) == NULL);
    const char *nameless = sample_path(site, CORE_LIB "/libnameless.so");
    object = rsdk_link_map_find_file(&map, nameless, NULL, identity);
    REQUIRE(object != NULL && object->soname == NULL);
    rsdk_arena_clear(&arena);
}

static void files_are_found_by_identity(void **state) {
    ON_SITE(find_files, {.file = "libx.so.1", .source = ""}, {.file = "libnameless.so", .soname = "", .source = ""});
}

int main(int argc, char *argv[]) {
    if (argc == 2) {
        return name_library_path(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_libraries_are_listed),
        cmocka_unit_test(files_are_found_by_identity),
        cmocka_unit_test(copy_that_is_closed_meanwhile_is_an_error),
        cmocka_unit_test(copy_from_elsewhere_is_used_and_named),
        cmocka_unit_test(copy_from_the_library_path_is_named),
        cmocka_unit_test(dependency_from_elsewhere_is_named),
        cmocka_unit_test(other_major_in_the_process_is_named),
        cmocka_unit_test(same_file_by_another_path_is_no_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
