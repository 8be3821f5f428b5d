/* Finding an SDK: packages on the search path, version, nonce, target families, and what is said where something is
 * missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "child_process.h"
#include "sample_sdk.h"

static sample_site site;
static rsdk_sdk *sdk;
static rsdk_error error;

static int make_site(void **state) {
    (void)state;
    site = sample_site_new();
    return 0;
}

static int remove_site(void **state) {
    (void)state;
    rsdk_sdk_free(sdk);
    sdk = NULL;
    rsdk_error_clear(&error);
    sample_site_remove(&site);
    return 0;
}

static rsdk_status try_to_open(const char *const search_path[], size_t count, const char *family) {
    rsdk_sdk_free(sdk);
    rsdk_error_clear(&error);
    return rsdk_sdk_open(
        &(rsdk_sdk_options){.search_path = search_path, .search_path_count = count, .target_family = family}, &sdk,
        &error);
}

static void open_site(const char *family) {
    assert_int_equal(try_to_open((const char *[]){site.path}, 1, family), RSDK_OK);
}

static void assert_directory(rsdk_package_id package, const char *wanted) {
    const char *directory = NULL;
    if (rsdk_sdk_package_directory(sdk, package, &directory, &error) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&error));
    }
    assert_string_equal(directory, sample_path(&site, wanted));
}

static void assert_not_installed(rsdk_package_id package, const char *message, const char *fix) {
    const char *directory = "";
    assert_int_equal(rsdk_sdk_package_directory(sdk, package, &directory, &error), RSDK_PACKAGE_NOT_INSTALLED);
    assert_null(directory);
    assert_non_null(strstr(error.message, message));
    assert_non_null(strstr(error.fix, fix));
}

static void no_sdk_is_no_error(void **state) {
    (void)state;
    assert_int_equal(try_to_open(NULL, 0, NULL), RSDK_OK);
    assert_null(rsdk_sdk_version(sdk));
    assert_string_equal(rsdk_sdk_nonce(sdk), "");
    assert_null(rsdk_sdk_default_family(sdk));
    assert_int_equal(rsdk_sdk_warning_count(sdk), 0);
    assert_null(rsdk_sdk_warning(sdk, 0));
    assert_not_installed(RSDK_CORE, "rocm-sdk-core", "pip install rocm");
    assert_not_installed(RSDK_LIBRARIES, "rocm-sdk-libraries", "pip install \"rocm[libraries]\"");
    rsdk_sdk_free(NULL);
}

static void kpack_split_sdk(void **state) {
    (void)state;
    sample_dist_info(&site);
    sample_directory(&site, LIBRARIES_LIB);
    open_site(NULL);
    assert_string_equal(rsdk_sdk_version(sdk), "7.10.0");
    assert_true(rsdk_sdk_is_kpack_split(sdk));
    assert_directory(RSDK_CORE, "_rocm_sdk_core");
    assert_directory(RSDK_LIBRARIES, "_rocm_sdk_libraries");
    assert_string_equal(rsdk_sdk_package_module(sdk, RSDK_CORE), "_rocm_sdk_core");
    assert_string_equal(rsdk_sdk_package_module(sdk, RSDK_DEVEL), "_rocm_sdk_devel");
    assert_null(rsdk_sdk_package_module(sdk, RSDK_META));
    assert_not_installed(RSDK_PROFILER, "rocm-profiler", "rocm[profiler]");
}

static void version_without_dist_info(void **state) {
    (void)state;
    open_site(NULL);
    assert_null(rsdk_sdk_version(sdk));
    sample_directory(&site, "rocm_sdk_core-6.4.1.dist-info");
    sample_directory(&site, "rocm_sdk_core_other-9.dist-info");
    open_site(NULL);
    assert_string_equal(rsdk_sdk_version(sdk), "6.4.1");
    assert_true(rsdk_sdk_is_kpack_split(sdk));
}

static void nonce_is_part_of_the_directory(void **state) {
    (void)state;
    sample_file(&site, "rocm_sdk_core/_dist_info.py", "__version__ = '1'\nPY_PACKAGE_SUFFIX_NONCE = '_n1'\n");
    sample_directory(&site, "_rocm_sdk_core_n1");
    open_site(NULL);
    assert_string_equal(rsdk_sdk_nonce(sdk), "_n1");
    assert_directory(RSDK_CORE, "_rocm_sdk_core_n1");
}

static void damaged_dist_info_is_an_error(void **state) {
    (void)state;
    sample_file(&site, "rocm_sdk_core/_dist_info.py", "\n__version__ = __import__('os').system('x')\n");
    assert_int_equal(try_to_open((const char *[]){site.path}, 1, NULL), RSDK_BAD_METADATA);
    assert_null(sdk);
    assert_non_null(strstr(error.message, "_dist_info.py, line 2"));
    assert_int_equal(
        rsdk_sdk_open(&(rsdk_sdk_options){.search_path = (const char *[]){site.path}, .search_path_count = 1}, &sdk,
                      NULL),
        RSDK_BAD_METADATA);
}

static void open_as_nobody(void *context) {
    (void)context;
    become_nobody();
    rsdk_status status = try_to_open((const char *[]){site.path}, 1, NULL);
    REQUIRE(status == RSDK_IO_ERROR && sdk == NULL);
    REQUIRE_CONTAINS(error.message, "_dist_info.py: cannot open: Permission denied");
    REQUIRE_CONTAINS(error.fix, "read permission");
    rsdk_error_clear(&error);
}

static void unreadable_dist_info_is_an_error(void **state) {
    (void)state;
    sample_dist_info(&site);
    assert_int_equal(chmod(sample_path(&site, "rocm_sdk_core/_dist_info.py"), 0), 0);
    run_in_child(open_as_nobody, NULL);
}

static void find_nothing_as_nobody(void *context) {
    (void)context;
    become_nobody();
    rsdk_status status = try_to_open((const char *[]){sample_path(&site, "closed")}, 1, NULL);
    REQUIRE(status == RSDK_OK && rsdk_sdk_version(sdk) == NULL);
    rsdk_sdk_free(sdk);
}

/* As for an import, a directory that this user may not search holds nothing. */
static void unsearchable_directories_hold_nothing(void **state) {
    (void)state;
    sample_directory(&site, "closed/rocm_sdk_core");
    sample_file(&site, "closed/rocm_sdk_core/_dist_info.py", "__version__ = '1'\n");
    assert_int_equal(chmod(sample_path(&site, "closed"), 0), 0);
    run_in_child(find_nothing_as_nobody, NULL);
    assert_int_equal(chmod(sample_path(&site, "closed"), 0700), 0);
}

/* ---- the search path ---- */

static void regular_package_comes_before_a_bare_directory(void **state) {
    (void)state;
    char first[128], second[128];
    (void)strcpy(first, sample_path(&site, "first"));
    (void)strcpy(second, sample_path(&site, "second"));
    sample_directory(&site, "first/_rocm_sdk_core");
    sample_directory(&site, "second/_rocm_sdk_core");
    assert_int_equal(try_to_open((const char *[]){first, second}, 2, NULL), RSDK_OK);
    assert_directory(RSDK_CORE, "first/_rocm_sdk_core");
    sample_file(&site, "second/_rocm_sdk_core/__init__.py", "");
    assert_int_equal(try_to_open((const char *[]){first, second}, 2, NULL), RSDK_OK);
    assert_directory(RSDK_CORE, "second/_rocm_sdk_core");
}

static void entries_that_are_no_directories_are_passed(void **state) {
    (void)state;
    char archive[128];
    (void)strcpy(archive, sample_path(&site, "archive.zip"));
    sample_file(&site, "archive.zip", "");
    assert_int_equal(try_to_open((const char *[]){archive, "/nonexistent", site.path}, 3, NULL), RSDK_OK);
    assert_directory(RSDK_CORE, "_rocm_sdk_core");
}

static void relative_entries_hold_after_a_change_of_directory(void **state) {
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    sample_dist_info(&site);
    assert_int_equal(chdir(site.path), 0);
    rsdk_status empty = try_to_open((const char *[]){""}, 1, NULL);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(empty, RSDK_OK);
    assert_directory(RSDK_CORE, "_rocm_sdk_core");
    assert_int_equal(chdir("/tmp"), 0);
    rsdk_status relative = try_to_open((const char *[]){site.path + strlen("/tmp/")}, 1, NULL);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(relative, RSDK_OK);
    assert_string_equal(rsdk_sdk_version(sdk), "7.10.0");
    assert_directory(RSDK_CORE, "_rocm_sdk_core");
}

static void second_sdk_is_a_warning(void **state) {
    (void)state;
    char second[128], link[128];
    (void)strcpy(second, sample_path(&site, "second"));
    (void)strcpy(link, sample_path(&site, "link"));
    sample_dist_info(&site);
    sample_directory(&site, "second/rocm_sdk_core");
    assert_int_equal(symlink(site.path, link), 0);
    sample_file(&site, "second/rocm_sdk_core/_dist_info.py", "__version__ = '6'\n");
    assert_int_equal(try_to_open((const char *[]){site.path, link, second}, 3, NULL), RSDK_OK);
    assert_string_equal(rsdk_sdk_version(sdk), "7.10.0");
    assert_int_equal(rsdk_sdk_warning_count(sdk), 1); /* the same file through a link is the same SDK */
    assert_non_null(strstr(rsdk_sdk_warning(sdk, 0), "version 7.10.0 ("));
    assert_non_null(strstr(rsdk_sdk_warning(sdk, 0), "second/rocm_sdk_core/_dist_info.py) is ignored"));
    sample_file(&site, "second/rocm_sdk_core/_dist_info.py", "__version__ = (\n"); /* damaged, but behind the first */
    assert_int_equal(try_to_open((const char *[]){site.path, second}, 2, NULL), RSDK_OK);
    assert_int_equal(rsdk_sdk_warning_count(sdk), 0);
}

static void modules_are_asked_after_the_search_path(void **state) {
    (void)state;
    char pure[128], platform[128], other[128];
    (void)strcpy(pure, sample_path(&site, "editable/core"));
    (void)strcpy(platform, sample_path(&site, "editable/platform"));
    (void)strcpy(other, sample_path(&site, "other"));
    sample_directory(&site, "editable/core");
    sample_directory(&site, "editable/platform");
    sample_directory(&site, "other/_rocm_sdk_libraries");
    sample_file(&site, "editable/core/_dist_info.py", "__version__ = '8'\n");
    const rsdk_module_location modules[] = {
        {"rocm_sdk_core", pure}, {"_rocm_sdk_core", platform}, {"_rocm_sdk_libraries", platform}};
    const rsdk_sdk_options options = {
        .search_path = (const char *[]){other}, .search_path_count = 1, .modules = modules, .module_count = 3};
    assert_int_equal(rsdk_sdk_open(&options, &sdk, &error), RSDK_OK);
    assert_string_equal(rsdk_sdk_version(sdk), "8");
    assert_directory(RSDK_CORE, "editable/platform");
    assert_directory(RSDK_LIBRARIES, "other/_rocm_sdk_libraries");
}

/* ---- families ---- */

static void write_families(const char *rest) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "__version__ = '7'\nAVAILABLE_TARGET_FAMILIES = ['gfx94X-dcgpu', 'gfx110X-all']\n%s", rest);
    sample_file(&site, "rocm_sdk_core/_dist_info.py", text);
}

static void only_installed_family_is_taken(void **state) {
    (void)state;
    write_families("DEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'\n");
    sample_directory(&site, "_rocm_sdk_libraries_gfx110X_all");
    open_site(NULL);
    assert_false(rsdk_sdk_is_kpack_split(sdk));
    assert_string_equal(rsdk_sdk_default_family(sdk), "gfx94X-dcgpu");
    size_t count = 0;
    const char *const *families = rsdk_sdk_families(sdk, RSDK_FAMILIES_AVAILABLE, &count);
    assert_int_equal(count, 2);
    assert_string_equal(families[1], "gfx110X-all");
    assert_directory(RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx110X_all");
    assert_string_equal(rsdk_sdk_package_module(sdk, RSDK_LIBRARIES), "_rocm_sdk_libraries_gfx110X_all");
    assert_int_equal(rsdk_sdk_warning_count(sdk), 0);
}

static void default_family_is_taken_of_several(void **state) {
    (void)state;
    sample_directory(&site, "_rocm_sdk_libraries_gfx94X_dcgpu");
    sample_directory(&site, "_rocm_sdk_libraries_gfx110X_all");
    write_families("DEFAULT_TARGET_FAMILY = 'gfx110X-all'\n");
    open_site(NULL);
    assert_directory(RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx110X_all");
    assert_int_equal(rsdk_sdk_warning_count(sdk), 0);
    write_families("");
    open_site(NULL);
    assert_directory(RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx94X_dcgpu");
    assert_int_equal(rsdk_sdk_warning_count(sdk), 1);
    assert_non_null(strstr(rsdk_sdk_warning(sdk, 0), "ROCM_SDK_TARGET_FAMILY to choose"));
}

static void wanted_family_is_taken_or_missed(void **state) {
    (void)state;
    sample_directory(&site, "_rocm_sdk_libraries_gfx94X_dcgpu");
    sample_directory(&site, "_rocm_sdk_libraries_gfx942");
    write_families("");
    open_site("gfx942:xnack+");
    assert_directory(RSDK_LIBRARIES, "_rocm_sdk_libraries_gfx942");
    open_site("gfx1100");
    assert_not_installed(RSDK_LIBRARIES, "installed: gfx94X-dcgpu", "pip install \"rocm-sdk-libraries-gfx1100==7\"");
    assert_non_null(strstr(error.message, "target family gfx1100"));
}

static void neutral_libraries_do_where_no_family_is_installed(void **state) {
    (void)state;
    write_families("");
    open_site(NULL);
    assert_not_installed(RSDK_LIBRARIES, "rocm-sdk-libraries", "rocm[libraries]");
    sample_directory(&site, "_rocm_sdk_libraries");
    open_site("");
    assert_directory(RSDK_LIBRARIES, "_rocm_sdk_libraries");
}

/* ---- dist_info.json ---- */

static void build_info_is_offered(void **state) {
    (void)state;
    const char *targets = NULL;
    bool is_absent = false;
    open_site(NULL);
    assert_int_equal(rsdk_sdk_built_targets(sdk, &targets, &error), RSDK_OK);
    assert_string_equal(targets, "");
    sample_directory(&site, "_rocm_sdk_core/share/therock");
    sample_file(&site, "_rocm_sdk_core/share/therock/dist_info.json",
                "{\"dist_amdgpu_targets\": \"gfx942;gfx1100\", \"absent_libraries\": [\"rccl\"]}");
    open_site(NULL);
    assert_int_equal(rsdk_sdk_built_targets(sdk, &targets, &error), RSDK_OK);
    assert_string_equal(targets, "gfx942;gfx1100");
    assert_int_equal(rsdk_sdk_is_declared_absent(sdk, "rccl", &is_absent, &error), RSDK_OK);
    assert_true(is_absent);
    assert_int_equal(rsdk_sdk_is_declared_absent(sdk, "rpp", &is_absent, &error), RSDK_OK);
    assert_false(is_absent);
    sample_file(&site, "_rocm_sdk_core/share/therock/dist_info.json", "{");
    open_site(NULL);
    assert_int_equal(rsdk_sdk_built_targets(sdk, &targets, &error), RSDK_BAD_METADATA);
    assert_string_equal(targets, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_site, remove_site)

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
        TEST(build_info_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
