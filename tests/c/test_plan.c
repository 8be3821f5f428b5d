/* Plans: what would be opened and how, and what would be missing, without loading anything. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "child_process.h"
#include "sample_sdk.h"

static sample_site site;
static rsdk_sdk *sdk;
static rsdk_plan *plan;
static rsdk_error error;

static int make_site(void **state) {
    (void)state;
    site = sample_site_new();
    sample_dist_info(&site);
    return 0;
}

static int remove_site(void **state) {
    (void)state;
    rsdk_plan_free(plan);
    plan = NULL;
    rsdk_sdk_free(sdk);
    sdk = NULL;
    rsdk_error_clear(&error);
    sample_site_remove(&site);
    return 0;
}

static void make_plan(const rsdk_load_options *options, size_t steps) {
    rsdk_plan_free(plan);
    rsdk_sdk_free(sdk);
    sdk = sample_open(&site);
    if (rsdk_plan_new(sdk, options, &plan, &error) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&error));
    }
    assert_int_equal(rsdk_plan_step_count(plan), steps);
    assert_null(rsdk_plan_step(plan, steps));
}

static void plan_one(const char *shortname, size_t steps) {
    make_plan(&(rsdk_load_options){.shortnames = &shortname, .shortname_count = 1}, steps);
}

static void assert_members(size_t index, const char *const *wanted, size_t count) {
    const rsdk_step *step = rsdk_plan_step(plan, index);
    assert_int_equal(step->member_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(step->members[i], sample_path(&site, wanted[i]));
    }
}

static void compile_diamond(sample_paths paths) {
    sample_compile(&site, &(sample_library){.file = "libc1.so.1", .source = "", .paths = paths});
    sample_compile(
        &site, &(sample_library){.file = "liba.so.1", .source = "", .needs = CORE_LIB "/libc1.so.1", .paths = paths});
    sample_compile(
        &site, &(sample_library){.file = "libb.so.1", .source = "", .needs = CORE_LIB "/libc1.so.1", .paths = paths});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4",
                                            .source = "",
                                            .needs = CORE_LIB "/liba.so.1 " CORE_LIB "/libb.so.1",
                                            .paths = paths});
}

static const char *const diamond[] = {CORE_LIB "/libroctx64.so.4", CORE_LIB "/liba.so.1", CORE_LIB "/libb.so.1",
                                      CORE_LIB "/libc1.so.1"};

static void paths_make_it_one_plain_open(void **state) {
    (void)state;
    for (sample_paths paths = WITH_RPATH; paths <= WITH_RUNPATH; paths++) {
        compile_diamond(paths);
        plan_one("roctx64", 1);
        const rsdk_step *step = rsdk_plan_step(plan, 0);
        assert_int_equal(step->method, RSDK_STEP_OPEN);
        assert_true(step->is_requested && !step->is_global);
        assert_string_equal(step->reason, "the linker finds what it needs");
        assert_members(0, diamond, 4);
        assert_int_equal(step->needed_count, 2);
        assert_string_equal(step->needed[1], sample_path(&site, CORE_LIB "/libb.so.1"));
        assert_int_equal(step->missing_count, 0);
        assert_int_equal(step->outside_count, 1); /* each needs it, and it is named once */
        assert_string_equal(step->outside[0], "libc.so.6");
    }
}

static void no_paths_make_it_an_anchor(void **state) {
    (void)state;
    compile_diamond(NO_PATHS);
    plan_one("roctx64", 1);
    const rsdk_step *step = rsdk_plan_step(plan, 0);
    assert_int_equal(step->method, RSDK_STEP_ANCHOR);
    assert_string_equal(step->reason, "the linker would not find liba.so.1 and 2 more");
    assert_members(0, diamond, 4);
    void *handle = dlopen(sample_path(&site, CORE_LIB "/libroctx64.so.4"), RTLD_LAZY | RTLD_NOLOAD);
    assert_null(handle); /* nothing was loaded */
}

static void requested_order_is_kept(void **state) {
    (void)state;
    static const char *const names[] = {"amd_smi", "roctx64", "rocm_smi64", "amd_smi"};
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_compile(&site, &(sample_library){.file = "librocm_smi64.so.7", .source = ""});
    sample_compile(
        &site, &(sample_library){.file = "libamd_smi.so.26", .source = "", .needs = CORE_LIB "/librocm_smi64.so.7"});
    make_plan(&(rsdk_load_options){.shortnames = names, .shortname_count = 4, .is_global = true}, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(rsdk_plan_step(plan, i)->location.shortname, names[i]);
        assert_true(rsdk_plan_step(plan, i)->is_global);
    }
    assert_int_equal(rsdk_plan_step(plan, 2)->method, RSDK_STEP_REUSE);
    assert_string_equal(rsdk_plan_step(plan, 2)->reason, "an earlier step brings it in");
    assert_int_equal(rsdk_plan_step(plan, 3)->method, RSDK_STEP_REUSE);
}

static void what_is_missing_is_listed(void **state) {
    (void)state;
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libnowhere.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = "", .needs = OUTSIDE "/libnowhere.so.1"});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    plan_one("roctx64", 1);
    assert_int_equal(rsdk_plan_step(plan, 0)->missing_count, 1);
    assert_string_equal(rsdk_plan_step(plan, 0)->missing[0], "libnowhere.so.1");
}

static void dlopen_dependencies_come_after_their_opener(void **state) {
    (void)state;
    static const char *const names[] = {"amdhip64", "roctx64"};
    sample_compile(&site, &(sample_library){.file = "libamdhip64.so.7", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libamd_comgr.so.3", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    make_plan(&(rsdk_load_options){.shortnames = names, .shortname_count = 2, .is_global = true}, 3);
    const rsdk_step *step = rsdk_plan_step(plan, 1);
    assert_string_equal(step->location.soname, "libamd_comgr.so.3");
    assert_false(step->is_requested || step->is_global);
    assert_int_equal(strncmp(step->reason, "libamdhip64.so.7 opens it at run time", 37), 0);
    static const char *const asked_too[] = {"amdhip64", "amd_comgr"};
    make_plan(&(rsdk_load_options){.shortnames = asked_too, .shortname_count = 2, .is_global = true}, 2);
    assert_true(rsdk_plan_step(plan, 1)->is_requested);
    assert_false(rsdk_plan_step(plan, 1)->is_global);
}

static void libraries_of_two_packages(void **state) {
    (void)state;
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_compile(&site, &(sample_library){.directory = LIBRARIES_LIB,
                                            .file = "librccl.so.1",
                                            .source = "",
                                            .needs = CORE_LIB "/libroctx64.so.4",
                                            .paths = WITH_RPATH});
    plan_one("rccl", 1);
    assert_int_equal(rsdk_plan_step(plan, 0)->method, RSDK_STEP_OPEN);
    assert_members(0, (const char *[]){LIBRARIES_LIB "/librccl.so.1", CORE_LIB "/libroctx64.so.4"}, 2);
}

static void mistakes_are_errors(void **state) {
    (void)state;
    static const char *const unknown[] = {"nonsense"}, *const files[] = {"/nonexistent/x.so"};
    sdk = sample_open(&site);
    assert_int_equal(
        rsdk_plan_new(sdk, &(rsdk_load_options){.shortnames = unknown, .shortname_count = 1}, &plan, &error),
        RSDK_UNKNOWN_LIBRARY);
    assert_null(plan);
    assert_int_equal(rsdk_plan_new(sdk, &(rsdk_load_options){.files = files, .file_count = 1}, &plan, &error),
                     RSDK_FILE_NOT_FOUND);
    assert_null(plan);
    make_plan(&(rsdk_load_options){0}, 0);
}

static void library_may_need_itself(void **state) {
    (void)state;
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libself.so", .soname = "libroctx64.so.4", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libself.so"});
    assert_int_equal(unlink(sample_path(&site, CORE_LIB "/libself.so")), 0);
    plan_one("roctx64", 1);
    assert_int_equal(rsdk_plan_step(plan, 0)->method, RSDK_STEP_OPEN);
    assert_members(0, diamond, 1);
    assert_int_equal(rsdk_plan_step(plan, 0)->needed_count, 1);
}

/* With LD_LIBRARY_PATH set, a RUNPATH promises nothing: a copy from there would be taken. Runs in this program, started
 * again. */
static int load_beside_foreign_copy(const char *path) {
    static const char *const names[] = {"roctx64"};
    rsdk_loaded *loaded = NULL;
    (void)snprintf(site.path, sizeof site.path, "%s", path);
    sdk = sample_open(&site);
    REQUIRE(rsdk_plan_new(sdk, &(rsdk_load_options){.shortnames = names, .shortname_count = 1}, &plan, &error) ==
            RSDK_OK);
    REQUIRE(rsdk_plan_step(plan, 0)->method == RSDK_STEP_ANCHOR);
    rsdk_plan_free(plan);
    REQUIRE(rsdk_loader_preload(sdk, &(rsdk_load_options){.shortnames = names, .shortname_count = 1}, &loaded,
                                &error) == RSDK_OK);
    REQUIRE(rsdk_loaded_warning_count(loaded) == 0);
    REQUIRE(dlopen(sample_path(&site, CORE_LIB "/libd.so.1"), RTLD_LAZY | RTLD_NOLOAD) != NULL);
    REQUIRE(dlopen(sample_path(&site, OUTSIDE "/libd.so.1"), RTLD_LAZY | RTLD_NOLOAD) == NULL);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(sdk);
    return 0;
}

static void library_path_does_not_beat_the_sdk(void **state) {
    (void)state;
    char program[256] = "", command[1024];
    sample_compile(&site, &(sample_library){.directory = OUTSIDE, .file = "libd.so.1", .source = ""});
    sample_compile(&site, &(sample_library){.file = "libd.so.1", .source = "", .paths = WITH_RUNPATH});
    sample_compile(&site,
                   &(sample_library){
                       .file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1", .paths = WITH_RUNPATH});
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    (void)snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' '%s' '%s'", sample_path(&site, OUTSIDE), program,
                   site.path);
    assert_int_equal(system(command), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_site, remove_site)

int main(int argc, char *argv[]) {
    if (argc == 2) {
        return load_beside_foreign_copy(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        TEST(paths_make_it_one_plain_open),
        TEST(no_paths_make_it_an_anchor),
        TEST(requested_order_is_kept),
        TEST(what_is_missing_is_listed),
        TEST(dlopen_dependencies_come_after_their_opener),
        TEST(libraries_of_two_packages),
        TEST(mistakes_are_errors),
        TEST(library_may_need_itself),
        TEST(library_path_does_not_beat_the_sdk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
