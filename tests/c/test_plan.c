/* Plans: what would be opened and how, and what would be missing, without loading anything. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_process.h"
#include "sample_sdk.h"
#include "suite.h"

static void make_plan(sample_fixture *f, const rsdk_load_options *options, size_t steps) {
    rsdk_plan_free(f->plan);
    rsdk_sdk_free(f->sdk);
    f->sdk = sample_open(&f->site);
    if (rsdk_plan_new(f->sdk, options, &f->plan, &f->error) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&f->error));
    }
    assert_int_equal(rsdk_plan_step_count(f->plan), steps);
    assert_null(rsdk_plan_step(f->plan, steps));
}

static void plan_one(sample_fixture *f, const char *shortname, size_t steps) {
    make_plan(f, &(rsdk_load_options){.shortnames = &shortname, .shortname_count = 1}, steps);
}

static void assert_members(sample_fixture *f, size_t index, const char *const *wanted, size_t count) {
    const rsdk_step *step = rsdk_plan_step(f->plan, index);
    assert_int_equal(step->member_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(step->members[i], sample_path(&f->site, wanted[i]));
    }
}

static void compile_diamond(sample_fixture *f, sample_paths paths) {
    sample_compile(&f->site, &(sample_library){.file = "libc1.so.1", .source = "", .paths = paths});
    sample_compile(&f->site, &(sample_library){
                                 .file = "liba.so.1", .source = "", .needs = CORE_LIB "/libc1.so.1", .paths = paths});
    sample_compile(&f->site, &(sample_library){
                                 .file = "libb.so.1", .source = "", .needs = CORE_LIB "/libc1.so.1", .paths = paths});
    sample_compile(&f->site, &(sample_library){.file = "libroctx64.so.4",
                                               .source = "",
                                               .needs = CORE_LIB "/liba.so.1 " CORE_LIB "/libb.so.1",
                                               .paths = paths});
}

static const char *const diamond[] = {CORE_LIB "/libroctx64.so.4", CORE_LIB "/liba.so.1", CORE_LIB "/libb.so.1",
                                      CORE_LIB "/libc1.so.1"};

static void paths_make_it_one_plain_open(void **state) {
    sample_fixture *f = *state;
    for (sample_paths paths = WITH_RPATH; paths <= WITH_RUNPATH; paths++) {
        compile_diamond(f, paths);
        plan_one(f, "roctx64", 1);
        const rsdk_step *step = rsdk_plan_step(f->plan, 0);
        assert_int_equal(step->method, RSDK_STEP_OPEN);
        assert_true(step->is_requested && !step->is_global);
        assert_string_equal(step->reason, "the linker finds what it needs");
        assert_members(f, 0, diamond, 4);
        assert_int_equal(step->needed_count, 2);
        assert_string_equal(step->needed[1], sample_path(&f->site, CORE_LIB "/libb.so.1"));
        assert_int_equal(step->missing_count, 0);
        assert_int_equal(step->outside_count, 1); /* each needs it, and it is named once */
        assert_string_equal(step->outside[0], "libc.so.6");
    }
}

static void no_paths_make_it_an_anchor(void **state) {
    sample_fixture *f = *state;
    compile_diamond(f, NO_PATHS);
    plan_one(f, "roctx64", 1);
    const rsdk_step *step = rsdk_plan_step(f->plan, 0);
    assert_int_equal(step->method, RSDK_STEP_ANCHOR);
    assert_string_equal(step->reason, "the linker would not find liba.so.1 and 2 more");
    assert_members(f, 0, diamond, 4);
    void *handle = dlopen(sample_path(&f->site, CORE_LIB "/libroctx64.so.4"), RTLD_LAZY | RTLD_NOLOAD);
    assert_null(handle); /* nothing was loaded */
}

static void requested_order_is_kept(void **state) {
    sample_fixture *f = *state;
    static const char *const names[] = {"amd_smi", "roctx64", "rocdecode", "amd_smi"};
    sample_compile(&f->site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "librocdecode.so.1", .source = ""});
    sample_compile(&f->site,
                   &(sample_library){.file = "libamd_smi.so.26", .source = "", .needs = CORE_LIB "/librocdecode.so.1"});
    make_plan(f, &(rsdk_load_options){.shortnames = names, .shortname_count = 4, .is_global = true}, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(rsdk_plan_step(f->plan, i)->location.shortname, names[i]);
        assert_true(rsdk_plan_step(f->plan, i)->is_global);
    }
    assert_int_equal(rsdk_plan_step(f->plan, 2)->method, RSDK_STEP_REUSE);
    assert_string_equal(rsdk_plan_step(f->plan, 2)->reason, "an earlier step brings it in");
    assert_int_equal(rsdk_plan_step(f->plan, 3)->method, RSDK_STEP_REUSE);
}

static void what_is_missing_is_listed(void **state) {
    sample_fixture *f = *state;
    sample_compile(&f->site, &(sample_library){.directory = OUTSIDE, .file = "libnowhere.so.1", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "libd.so.1", .source = "", .needs = OUTSIDE "/libnowhere.so.1"});
    sample_compile(&f->site,
                   &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1"});
    plan_one(f, "roctx64", 1);
    assert_int_equal(rsdk_plan_step(f->plan, 0)->missing_count, 1);
    assert_string_equal(rsdk_plan_step(f->plan, 0)->missing[0], "libnowhere.so.1");
}

static void dlopen_dependencies_come_after_their_opener(void **state) {
    sample_fixture *f = *state;
    static const char *const names[] = {"amdhip64", "roctx64"};
    sample_compile(&f->site, &(sample_library){.file = "libamdhip64.so.7", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "libamd_comgr.so.3", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    make_plan(f, &(rsdk_load_options){.shortnames = names, .shortname_count = 2, .is_global = true}, 3);
    const rsdk_step *step = rsdk_plan_step(f->plan, 1);
    assert_string_equal(step->location.soname, "libamd_comgr.so.3");
    assert_false(step->is_requested || step->is_global);
    assert_int_equal(strncmp(step->reason, "libamdhip64.so.7 opens it at run time", 37), 0);
    static const char *const asked_too[] = {"amdhip64", "amd_comgr"};
    make_plan(f, &(rsdk_load_options){.shortnames = asked_too, .shortname_count = 2, .is_global = true}, 2);
    assert_true(rsdk_plan_step(f->plan, 1)->is_requested);
    assert_false(rsdk_plan_step(f->plan, 1)->is_global);
}

static void libraries_of_two_packages(void **state) {
    sample_fixture *f = *state;
    sample_compile(&f->site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_compile(&f->site, &(sample_library){.directory = LIBRARIES_LIB,
                                               .file = "librccl.so.1",
                                               .source = "",
                                               .needs = CORE_LIB "/libroctx64.so.4",
                                               .paths = WITH_RPATH});
    plan_one(f, "rccl", 1);
    assert_int_equal(rsdk_plan_step(f->plan, 0)->method, RSDK_STEP_OPEN);
    assert_members(f, 0, (const char *[]){LIBRARIES_LIB "/librccl.so.1", CORE_LIB "/libroctx64.so.4"}, 2);
}

static void mistakes_are_errors(void **state) {
    sample_fixture *f = *state;
    static const char *const unknown[] = {"nonsense"}, *const files[] = {"/nonexistent/x.so"};
    f->sdk = sample_open(&f->site);
    assert_int_equal(
        rsdk_plan_new(f->sdk, &(rsdk_load_options){.shortnames = unknown, .shortname_count = 1}, &f->plan, &f->error),
        RSDK_UNKNOWN_LIBRARY);
    assert_null(f->plan);
    assert_int_equal(rsdk_plan_new(f->sdk, &(rsdk_load_options){.files = files, .file_count = 1}, &f->plan, &f->error),
                     RSDK_FILE_NOT_FOUND);
    assert_null(f->plan);
    make_plan(f, &(rsdk_load_options){0}, 0);
}

static void library_may_need_itself(void **state) {
    sample_fixture *f = *state;
    sample_compile(&f->site, &(sample_library){.file = "libroctx64.so.4", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "libself.so", .soname = "libroctx64.so.4", .source = ""});
    sample_compile(&f->site,
                   &(sample_library){.file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libself.so"});
    assert_int_equal(unlink(sample_path(&f->site, CORE_LIB "/libself.so")), 0);
    plan_one(f, "roctx64", 1);
    assert_int_equal(rsdk_plan_step(f->plan, 0)->method, RSDK_STEP_OPEN);
    assert_members(f, 0, diamond, 1);
    assert_int_equal(rsdk_plan_step(f->plan, 0)->needed_count, 1);
}

/* With LD_LIBRARY_PATH set, a RUNPATH promises nothing: a copy from there would be taken. Runs in this program, started
 * again. */
static int load_beside_foreign_copy(const char *path) {
    static const char *const names[] = {"roctx64"};
    rsdk_loaded *loaded = NULL;
    sample_fixture fixture = {.site = sample_site_at(path)}, *f = &fixture;
    f->sdk = sample_open(&f->site);
    REQUIRE(rsdk_plan_new(f->sdk, &(rsdk_load_options){.shortnames = names, .shortname_count = 1}, &f->plan,
                          &f->error) == RSDK_OK);
    REQUIRE(rsdk_plan_step(f->plan, 0)->method == RSDK_STEP_ANCHOR);
    rsdk_plan_free(f->plan);
    REQUIRE(rsdk_loader_preload(f->sdk, &(rsdk_load_options){.shortnames = names, .shortname_count = 1}, &loaded,
                                &f->error) == RSDK_OK);
    REQUIRE(rsdk_loaded_warning_count(loaded) == 0);
    REQUIRE(dlopen(sample_path(&f->site, CORE_LIB "/libd.so.1"), RTLD_LAZY | RTLD_NOLOAD) != NULL);
    REQUIRE(dlopen(sample_path(&f->site, OUTSIDE "/libd.so.1"), RTLD_LAZY | RTLD_NOLOAD) == NULL);
    rsdk_loaded_free(loaded);
    rsdk_sdk_free(f->sdk);
    sample_site_leave(&f->site);
    return 0;
}

static void library_path_does_not_beat_the_sdk(void **state) {
    sample_fixture *f = *state;
    char program[256] = "", command[1024];
    sample_compile(&f->site, &(sample_library){.directory = OUTSIDE, .file = "libd.so.1", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "libd.so.1", .source = "", .paths = WITH_RUNPATH});
    sample_compile(&f->site,
                   &(sample_library){
                       .file = "libroctx64.so.4", .source = "", .needs = CORE_LIB "/libd.so.1", .paths = WITH_RUNPATH});
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    (void)snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' '%s' '%s'", sample_path(&f->site, OUTSIDE), program,
                   f->site.path);
    assert_int_equal(system(command), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_fixture_make, sample_fixture_free)

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
