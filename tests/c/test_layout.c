/* Finding an SDK: packages on the search path, version, nonce, target families, and what is said where something is
 * missing. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_process.h"
#include "problem_text.h"
#include "sample_sdk.h"
#include "suite.h"

static rsdk_status try_to_open(sample_fixture *f, const char *const search_path[], size_t count, const char *family) {
    rsdk_sdk_free(f->sdk);
    rsdk_error_clear(&f->error);
    return rsdk_sdk_open(
        &(rsdk_sdk_options){.search_path = search_path, .search_path_count = count, .target_family = family}, &f->sdk,
        &f->error);
}

static void open_site(sample_fixture *f, const char *family) {
    assert_int_equal(try_to_open(f, (const char *[]){f->site.path}, 1, family), RSDK_OK);
}

static void assert_directory(sample_fixture *f, rsdk_package_id package, const char *wanted) {
    const char *directory = NULL;
    if (rsdk_sdk_package_directory(f->sdk, package, &directory, &f->error) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&f->error));
    }
    assert_string_equal(directory, sample_path(&f->site, wanted));
}

static void assert_not_installed(sample_fixture *f, rsdk_package_id package, const char *message, const char *fix) {
    const char *directory = "";
    assert_int_equal(rsdk_sdk_package_directory(f->sdk, package, &directory, &f->error), RSDK_PACKAGE_NOT_INSTALLED);
    assert_null(directory);
    assert_non_null(strstr(f->error.message, message));
    assert_non_null(strstr(problem_fix_of(&f->error, f->sdk), fix));
}

static void no_sdk_is_no_error(void **state) {
    sample_fixture *f = *state;
    assert_int_equal(try_to_open(f, NULL, 0, NULL), RSDK_OK);
    assert_null(rsdk_sdk_version(f->sdk));
    assert_string_equal(rsdk_sdk_nonce(f->sdk), "");
    assert_null(rsdk_sdk_default_family(f->sdk));
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 0);
    assert_null(rsdk_sdk_warning(f->sdk, 0));
    assert_not_installed(f, RSDK_CORE, "rocm-sdk-core", "rocm[libraries]");
    assert_not_installed(f, RSDK_LIBRARIES, "rocm-sdk-libraries",
                         "pip install --upgrade --index-url https://stable.repo.amd.com/rocm/whl-next/ ");
    rsdk_sdk_free(NULL);
}

static void kpack_split_sdk(void **state) {
    sample_fixture *f = *state;
    sample_dist_info(&f->site);
    sample_directory(&f->site, LIBRARIES_LIB);
    open_site(f, NULL);
    assert_string_equal(rsdk_sdk_version(f->sdk), "7.10.0");
    assert_true(rsdk_sdk_is_kpack_split(f->sdk));
    assert_directory(f, RSDK_CORE, "_rocm_sdk_core");
    assert_directory(f, RSDK_LIBRARIES, "_rocm_sdk_libraries");
    assert_string_equal(rsdk_sdk_package_module(f->sdk, RSDK_CORE), "_rocm_sdk_core");
    assert_string_equal(rsdk_sdk_package_module(f->sdk, RSDK_DEVEL), "_rocm_sdk_devel");
    assert_null(rsdk_sdk_package_module(f->sdk, RSDK_META));
    assert_not_installed(f, RSDK_PROFILER, "rocm-profiler", "rocm[profiler]");
}

static void version_without_dist_info(void **state) {
    sample_fixture *f = *state;
    open_site(f, NULL);
    assert_null(rsdk_sdk_version(f->sdk));
    sample_directory(&f->site, "rocm_sdk_core-6.4.1.dist-info");
    sample_directory(&f->site, "rocm_sdk_core_other-9.dist-info");
    open_site(f, NULL);
    assert_string_equal(rsdk_sdk_version(f->sdk), "6.4.1");
    assert_true(rsdk_sdk_is_kpack_split(f->sdk));
}

static void nonce_is_part_of_the_directory(void **state) {
    sample_fixture *f = *state;
    sample_file(&f->site, "rocm_sdk_core/_dist_info.py", "__version__ = '1'\nPY_PACKAGE_SUFFIX_NONCE = '_n1'\n");
    sample_directory(&f->site, "_rocm_sdk_core_n1");
    open_site(f, NULL);
    assert_string_equal(rsdk_sdk_nonce(f->sdk), "_n1");
    assert_directory(f, RSDK_CORE, "_rocm_sdk_core_n1");
}

static void damaged_dist_info_is_an_error(void **state) {
    sample_fixture *f = *state;
    sample_file(&f->site, "rocm_sdk_core/_dist_info.py", "\n__version__ = __import__('os').system('x')\n");
    assert_int_equal(try_to_open(f, (const char *[]){f->site.path}, 1, NULL), RSDK_BAD_METADATA);
    assert_null(f->sdk);
    assert_non_null(strstr(f->error.message, "_dist_info.py, line 2"));
    assert_int_equal(
        rsdk_sdk_open(&(rsdk_sdk_options){.search_path = (const char *[]){f->site.path}, .search_path_count = 1},
                      &f->sdk, NULL),
        RSDK_BAD_METADATA);
}

static void open_as_nobody(void *context) {
    sample_fixture *f = context;
    become_nobody();
    rsdk_status status = try_to_open(f, (const char *[]){f->site.path}, 1, NULL);
    REQUIRE(status == RSDK_IO_ERROR && f->sdk == NULL);
    REQUIRE_CONTAINS(f->error.message, "_dist_info.py: cannot open: Permission denied");
    REQUIRE_CONTAINS(problem_fix_of(&f->error, NULL), "Run as root: chmod a+r ");
    rsdk_error_clear(&f->error);
}

static void unreadable_dist_info_is_an_error(void **state) {
    sample_fixture *f = *state;
    sample_dist_info(&f->site);
    assert_int_equal(chmod(sample_path(&f->site, "rocm_sdk_core/_dist_info.py"), 0), 0);
    run_in_child(open_as_nobody, f);
}

static void find_nothing_as_nobody(void *context) {
    sample_fixture *f = context;
    become_nobody();
    rsdk_status status = try_to_open(f, (const char *[]){sample_path(&f->site, "closed")}, 1, NULL);
    REQUIRE(status == RSDK_OK && rsdk_sdk_version(f->sdk) == NULL);
    rsdk_sdk_free(f->sdk);
}

/* As for an import, a directory that this user may not search holds nothing. */
static void unsearchable_directories_hold_nothing(void **state) {
    sample_fixture *f = *state;
    need_root();
    sample_directory(&f->site, "closed/rocm_sdk_core");
    sample_file(&f->site, "closed/rocm_sdk_core/_dist_info.py", "__version__ = '1'\n");
    assert_int_equal(chmod(sample_path(&f->site, "closed"), 0), 0);
    run_in_child(find_nothing_as_nobody, f);
    assert_int_equal(chmod(sample_path(&f->site, "closed"), 0700), 0);
}

/* ---- the search path ---- */

static void regular_package_comes_before_a_bare_directory(void **state) {
    sample_fixture *f = *state;
    char first[128], second[128];
    (void)strcpy(first, sample_path(&f->site, "first"));
    (void)strcpy(second, sample_path(&f->site, "second"));
    sample_directory(&f->site, "first/_rocm_sdk_core");
    sample_directory(&f->site, "second/_rocm_sdk_core");
    assert_int_equal(try_to_open(f, (const char *[]){first, second}, 2, NULL), RSDK_OK);
    assert_directory(f, RSDK_CORE, "first/_rocm_sdk_core");
    sample_file(&f->site, "second/_rocm_sdk_core/__init__.py", "");
    assert_int_equal(try_to_open(f, (const char *[]){first, second}, 2, NULL), RSDK_OK);
    assert_directory(f, RSDK_CORE, "second/_rocm_sdk_core");
}

static void entries_that_are_no_directories_are_passed(void **state) {
    sample_fixture *f = *state;
    char archive[128];
    (void)strcpy(archive, sample_path(&f->site, "archive.zip"));
    sample_file(&f->site, "archive.zip", "");
    assert_int_equal(try_to_open(f, (const char *[]){archive, "/nonexistent", f->site.path}, 3, NULL), RSDK_OK);
    assert_directory(f, RSDK_CORE, "_rocm_sdk_core");
}

static void relative_entries_hold_after_a_change_of_directory(void **state) {
    sample_fixture *f = *state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    sample_dist_info(&f->site);
    assert_int_equal(chdir(f->site.path), 0);
    rsdk_status empty = try_to_open(f, (const char *[]){""}, 1, NULL);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(empty, RSDK_OK);
    assert_directory(f, RSDK_CORE, "_rocm_sdk_core");
    assert_int_equal(chdir("/tmp"), 0);
    rsdk_status relative = try_to_open(f, (const char *[]){f->site.path + strlen("/tmp/")}, 1, NULL);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(relative, RSDK_OK);
    assert_string_equal(rsdk_sdk_version(f->sdk), "7.10.0");
    assert_directory(f, RSDK_CORE, "_rocm_sdk_core");
}

static void second_sdk_is_a_warning(void **state) {
    sample_fixture *f = *state;
    char second[128], link[128];
    (void)strcpy(second, sample_path(&f->site, "second"));
    (void)strcpy(link, sample_path(&f->site, "link"));
    sample_dist_info(&f->site);
    sample_directory(&f->site, "second/rocm_sdk_core");
    assert_int_equal(symlink(f->site.path, link), 0);
    sample_file(&f->site, "second/rocm_sdk_core/_dist_info.py", "__version__ = '6'\n");
    assert_int_equal(try_to_open(f, (const char *[]){f->site.path, link, second}, 3, NULL), RSDK_OK);
    assert_string_equal(rsdk_sdk_version(f->sdk), "7.10.0");
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 1); /* the same file through a link is the same SDK */
    assert_non_null(strstr(rsdk_sdk_warning(f->sdk, 0), "version 7.10.0 ("));
    assert_non_null(strstr(rsdk_sdk_warning(f->sdk, 0), "second/rocm_sdk_core/_dist_info.py) is ignored"));
    sample_file(&f->site, "second/rocm_sdk_core/_dist_info.py",
                "__version__ = (\n"); /* damaged, but behind the first */
    assert_int_equal(try_to_open(f, (const char *[]){f->site.path, second}, 2, NULL), RSDK_OK);
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 0);
}

static void modules_are_asked_after_the_search_path(void **state) {
    sample_fixture *f = *state;
    char pure[128], platform[128], other[128];
    (void)strcpy(pure, sample_path(&f->site, "editable/core"));
    (void)strcpy(platform, sample_path(&f->site, "editable/platform"));
    (void)strcpy(other, sample_path(&f->site, "other"));
    sample_directory(&f->site, "editable/core");
    sample_directory(&f->site, "editable/platform");
    sample_directory(&f->site, "other/_rocm_sdk_libraries");
    sample_file(&f->site, "editable/core/_dist_info.py", "__version__ = '8'\n");
    const rsdk_module_location modules[] = {
        {"rocm_sdk_core", pure}, {"_rocm_sdk_core", platform}, {"_rocm_sdk_libraries", platform}};
    const rsdk_sdk_options options = {
        .search_path = (const char *[]){other}, .search_path_count = 1, .modules = modules, .module_count = 3};
    assert_int_equal(rsdk_sdk_open(&options, &f->sdk, &f->error), RSDK_OK);
    assert_string_equal(rsdk_sdk_version(f->sdk), "8");
    assert_directory(f, RSDK_CORE, "editable/platform");
    assert_directory(f, RSDK_LIBRARIES, "other/_rocm_sdk_libraries");
}

/* ---- families ---- */

static void write_families(sample_fixture *f, const char *rest) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "__version__ = '7'\nAVAILABLE_TARGET_FAMILIES = ['gfx94X-dcgpu', 'gfx110X-all']\n%s", rest);
    sample_file(&f->site, "rocm_sdk_core/_dist_info.py", text);
}

static void only_installed_family_is_taken(void **state) {
    sample_fixture *f = *state;
    write_families(f, "DEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'\n");
    sample_directory(&f->site, "_rocm_sdk_libraries_gfx110X_all");
    open_site(f, NULL);
    assert_false(rsdk_sdk_is_kpack_split(f->sdk));
    assert_string_equal(rsdk_sdk_default_family(f->sdk), "gfx94X-dcgpu");
    size_t count = 0;
    const char *const *families = rsdk_sdk_families(f->sdk, RSDK_FAMILIES_AVAILABLE, &count);
    assert_int_equal(count, 2);
    assert_string_equal(families[1], "gfx110X-all");
    assert_directory(f, RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx110X_all");
    assert_string_equal(rsdk_sdk_package_module(f->sdk, RSDK_LIBRARIES), "_rocm_sdk_libraries_gfx110X_all");
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 0);
}

static void default_family_is_taken_of_several(void **state) {
    sample_fixture *f = *state;
    sample_directory(&f->site, "_rocm_sdk_libraries_gfx94X_dcgpu");
    sample_directory(&f->site, "_rocm_sdk_libraries_gfx110X_all");
    write_families(f, "DEFAULT_TARGET_FAMILY = 'gfx110X-all'\n");
    open_site(f, NULL);
    assert_directory(f, RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx110X_all");
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 0);
    write_families(f, "");
    open_site(f, NULL);
    assert_directory(f, RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx94X_dcgpu");
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 1);
    assert_non_null(strstr(rsdk_sdk_warning(f->sdk, 0), "ROCM_SDK_TARGET_FAMILY to choose"));
}

static void wanted_family_is_taken_or_missed(void **state) {
    sample_fixture *f = *state;
    sample_directory(&f->site, "_rocm_sdk_libraries_gfx94X_dcgpu");
    sample_directory(&f->site, "_rocm_sdk_libraries_gfx942");
    write_families(f, "");
    open_site(f, "gfx942:xnack+");
    assert_directory(f, RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx942");
    open_site(f, "gfx1100");
    assert_not_installed(f, RSDK_LIBRARIES, "installed: gfx94X-dcgpu",
                         "rocm-sdk-libraries-gfx1100==7  # or unset ROCM_SDK_TARGET_FAMILY");
    assert_non_null(strstr(f->error.message, "target family gfx1100"));
}

static void neutral_libraries_do_where_no_family_is_installed(void **state) {
    sample_fixture *f = *state;
    write_families(f, "");
    open_site(f, NULL);
    assert_not_installed(f, RSDK_LIBRARIES, "rocm-sdk-libraries", "rocm[libraries]");
    sample_directory(&f->site, "_rocm_sdk_libraries");
    open_site(f, "");
    assert_directory(f, RSDK_LIBRARIES, "_rocm_sdk_libraries");
}

/* ---- the root ---- */

static rsdk_status open_root(sample_fixture *f, const char *root, const char *source) {
    static const rsdk_module_location modules[] = {{"_rocm_sdk_libraries", "/hooked"}};
    rsdk_sdk_free(f->sdk);
    rsdk_error_clear(&f->error);
    return rsdk_sdk_open(&(rsdk_sdk_options){.search_path = (const char *[]){f->site.path},
                                             .search_path_count = 1,
                                             .modules = modules,
                                             .module_count = 1,
                                             .fallback = "system",
                                             .root = root,
                                             .root_source = source},
                         &f->sdk, &f->error);
}

static void root_is_the_whole_search_path(void **state) {
    sample_fixture *f = *state;
    sample_dist_info(&f->site);
    sample_directory(&f->site, "_rocm_sdk_libraries");
    sample_directory(&f->site, "root/rocm_sdk_core");
    sample_file(&f->site, "root/rocm_sdk_core/_dist_info.py", "__version__ = '7.11.0'\n");
    sample_directory(&f->site, "root/_rocm_sdk_core");
    assert_int_equal(open_root(f, sample_path(&f->site, "root/"), "OPTION"), RSDK_OK);
    assert_string_equal(rsdk_sdk_version(f->sdk), "7.11.0");
    assert_string_equal(rsdk_sdk_root(f->sdk), sample_path(&f->site, "root"));
    assert_directory(f, RSDK_CORE, "root/_rocm_sdk_core");
    assert_not_installed(f, RSDK_LIBRARIES, ": no other directory is searched", "or unset OPTION");
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 0);
    assert_int_equal(open_root(f, "", NULL), RSDK_OK);
    assert_null(rsdk_sdk_root(f->sdk));
    assert_string_equal(rsdk_sdk_version(f->sdk), "7.10.0");
}

static void root_without_an_sdk_is_an_error(void **state) {
    sample_fixture *f = *state;
    sample_directory(&f->site, "empty");
    assert_int_equal(open_root(f, "relative", NULL), RSDK_BAD_ARGUMENT);
    assert_string_equal(f->error.message, "root: 'relative' is not an absolute path");
    assert_int_equal(open_root(f, "/", "OPTION"), RSDK_BAD_ARGUMENT);
    assert_string_equal(f->error.message, "OPTION: '/' has no ROCm SDK in it");
    assert_int_equal(open_root(f, sample_path(&f->site, "empty"), "OPTION"), RSDK_BAD_ARGUMENT);
    assert_int_equal(f->error.code, RSDK_E_ENV_008);
    assert_null(f->sdk);
}

/* ---- dist_info.json ---- */

static void build_info_is_offered(void **state) {
    sample_fixture *f = *state;
    const char *targets = NULL;
    bool is_absent = false;
    open_site(f, NULL);
    assert_int_equal(rsdk_sdk_built_targets(f->sdk, &targets, &f->error), RSDK_OK);
    assert_string_equal(targets, "");
    sample_directory(&f->site, "_rocm_sdk_core/share/therock");
    sample_file(&f->site, "_rocm_sdk_core/share/therock/dist_info.json",
                "{\"dist_amdgpu_targets\": \"gfx942;gfx1100\", \"absent_libraries\": [\"rccl\"]}");
    open_site(f, NULL);
    assert_int_equal(rsdk_sdk_built_targets(f->sdk, &targets, &f->error), RSDK_OK);
    assert_string_equal(targets, "gfx942;gfx1100");
    assert_int_equal(rsdk_sdk_is_declared_absent(f->sdk, "rccl", &is_absent, &f->error), RSDK_OK);
    assert_true(is_absent);
    assert_int_equal(rsdk_sdk_is_declared_absent(f->sdk, "rpp", &is_absent, &f->error), RSDK_OK);
    assert_false(is_absent);
    sample_directory(&f->site, "_rocm_sdk_libraries/share/therock"); /* each package may say it of its own libraries */
    sample_file(&f->site, "_rocm_sdk_libraries/share/therock/libraries_dist_info.json",
                "{\"absent_libraries\": [\"rpp\"]}");
    open_site(f, NULL);
    assert_int_equal(rsdk_sdk_is_declared_absent(f->sdk, "rpp", &is_absent, &f->error), RSDK_OK);
    assert_true(is_absent);
    assert_int_equal(rsdk_sdk_is_declared_absent(f->sdk, "rccl", &is_absent, &f->error), RSDK_OK);
    assert_true(is_absent);
    assert_int_equal(rsdk_sdk_is_declared_absent(f->sdk, "miopen", &is_absent, &f->error), RSDK_OK);
    assert_false(is_absent);
    sample_file(&f->site, "_rocm_sdk_libraries/share/therock/libraries_dist_info.json", "{");
    open_site(f, NULL);
    assert_int_equal(rsdk_sdk_is_declared_absent(f->sdk, "miopen", &is_absent, &f->error), RSDK_BAD_METADATA);
    assert_int_equal(rsdk_sdk_is_declared_absent(f->sdk, "roctx64", &is_absent, &f->error), RSDK_OK);
    sample_file(&f->site, "_rocm_sdk_core/share/therock/dist_info.json", "{");
    open_site(f, NULL);
    assert_int_equal(rsdk_sdk_built_targets(f->sdk, &targets, &f->error), RSDK_BAD_METADATA);
    assert_string_equal(targets, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_fixture_make_bare, sample_fixture_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(no_sdk_is_no_error),
        TEST(kpack_split_sdk),
        TEST(version_without_dist_info),
        TEST(nonce_is_part_of_the_directory),
        TEST(damaged_dist_info_is_an_error),
        TEST(unreadable_dist_info_is_an_error),
        TEST(unsearchable_directories_hold_nothing),
        TEST(regular_package_comes_before_a_bare_directory),
        TEST(entries_that_are_no_directories_are_passed),
        TEST(relative_entries_hold_after_a_change_of_directory),
        TEST(second_sdk_is_a_warning),
        TEST(modules_are_asked_after_the_search_path),
        TEST(only_installed_family_is_taken),
        TEST(default_family_is_taken_of_several),
        TEST(wanted_family_is_taken_or_missed),
        TEST(neutral_libraries_do_where_no_family_is_installed),
        TEST(root_is_the_whole_search_path),
        TEST(root_without_an_sdk_is_an_error),
        TEST(build_info_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
