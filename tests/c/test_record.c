/* RECORD files: their rows, and which distribution a file belongs to. Whatever is in them, or in their place, is at
 * worst a text that does not match. */
#include "sdk/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "child_process.h"
#include "sample_sdk.h"
#include "suite.h"

#define CORE      "ROCm_SDK.core-7.10.0+local.1.dist-info"
#define LIBRARIES "rocm_sdk_libraries-7.10.0.dist-info"

/* ---- rows ---- */

/* The paths of a RECORD, each followed by '|'. The copy has exactly its length, so that AddressSanitizer sees a read
 * behind it. */
static void assert_paths(const char *record, const char *wanted) {
    char found[512] = "", *text = strdup(record), *at = text;
    size_t length = 0;
    assert_non_null(text);
    for (const char *path = rsdk_record_next_path(&at); path != NULL; path = rsdk_record_next_path(&at)) {
        length += (size_t)snprintf(found + length, sizeof found - length, "%s|", path);
    }
    assert_null(rsdk_record_next_path(&at)); /* the end stays the end */
    free(text);
    assert_string_equal(found, wanted);
}

static void rows_are_read(void **state) {
    assert_paths("a/b.so,sha256=x,3\nc d.so,,\n", "a/b.so|c d.so|");
    assert_paths("a,,\nb,,", "a|b|");
    assert_paths("a\nb", "a|b|");
    assert_paths("a,,\r\nb\r\nc,,\r\n", "a|b|c|");
    assert_paths("\n\n\r\na,,\n\n\r\nb,,\n\n", "a|b|");
    assert_paths("", "");
    assert_paths("\r\n\n", "");
    assert_paths(",,\na,,\n", "|a|");
    assert_paths("a\"b,,\n\xff\xfe,,\n", "a\"b|\xff\xfe|");
}

static void quoted_paths_are_read(void **state) {
    assert_paths("\"a,b\",sha256=x,3\nc,,\n", "a,b|c|");
    assert_paths("\"a\"\"b\",,\n\"\"\"\",,\n\"\",,\nc,,\n", "a\"b|\"||c|");
    assert_paths("\"a\nb\",,\r\nc,,\n", "a\nb|c|");
    assert_paths("\"a,b\"", "a,b|");
    assert_paths("\"a\"\r\nb", "a|b|");
    assert_paths("\"a\" b,,\nc,,\n", "a|c|");
}

static void a_quote_that_does_not_end_is_the_end(void **state) {
    assert_paths("a,,\n\"b,,\nc,,\n", "a|");
    assert_paths("\"", "");
    assert_paths("\"\"\"", "");
    assert_paths("\"a\"\"", "");
    assert_paths("a,,\n\"b\"\"c", "a|"); /* though its beginning is unquoted in place by then */
}

/* ---- one file among the distributions of a site ---- */

static int make_installed(void **state) {
    (void)sample_fixture_make(state);
    const sample_site *site = &((sample_fixture *)*state)->site;
    sample_directory(site, CORE);
    sample_directory(site, LIBRARIES);
    sample_directory(site, "numpy-1.0.dist-info");
    sample_directory(site, "rocm.dist-info");
    sample_file(
        site, CORE "/RECORD",
        "other/liba.so.1,,\r\n_rocm_sdk_core/lib/liba.so.1,sha256=x,3\r\n\"_rocm_sdk_core/lib/b,\"\"c\"\"\",,\r\n");
    sample_file(site, LIBRARIES "/RECORD", "_rocm_sdk_libraries/lib/libb.so.1,,\n_rocm_sdk_core/lib/libd.so.1,,");
    sample_file(site, "numpy-1.0.dist-info/RECORD", "_rocm_sdk_core/lib/libnumpy.so,,\n");
    sample_file(site, "rocm.dist-info/RECORD", "_rocm_sdk_core/lib/libnothing.so,,\n");
    return 0;
}

static void assert_found(const rsdk_recorded_file *found, const char *distribution, const char *version,
                         const char *path) {
    assert_non_null(found->distribution);
    assert_string_equal(found->distribution, distribution);
    assert_string_equal(found->version, version);
    assert_string_equal(found->path, path);
}

static rsdk_recorded_file find_path(const sample_fixture *f, const char *name) {
    rsdk_recorded_file found = {.distribution = "left over"};
    assert_int_equal(rsdk_record_find_path(sample_path(&f->site, name), f->site.texts, &found, NULL), RSDK_OK);
    return found;
}

static rsdk_recorded_file find_name(sample_fixture *f, const char *pattern) {
    rsdk_recorded_file found = {.distribution = "left over"};
    f->sdk = f->sdk != NULL ? f->sdk : sample_open(&f->site);
    assert_int_equal(rsdk_record_find_name(f->sdk, pattern, f->site.texts, &found, NULL), RSDK_OK);
    return found;
}

static void a_path_leads_to_its_distribution(void **state) {
    static const char *const of_core[] = {"_rocm_sdk_core/lib/liba.so.1", "_rocm_sdk_core/lib/b,\"c\"",
                                          "other/liba.so.1"};
    const sample_fixture *f = *state;
    for (size_t i = 0; i < sizeof of_core / sizeof *of_core; i++) {
        const rsdk_recorded_file found = find_path(f, of_core[i]);
        assert_found(&found, "rocm-sdk-core", "7.10.0+local.1", sample_path(&f->site, of_core[i]));
    }
    const rsdk_recorded_file found = find_path(f, "_rocm_sdk_core/lib/libd.so.1");
    assert_found(&found, "rocm-sdk-libraries", "7.10.0", sample_path(&f->site, "_rocm_sdk_core/lib/libd.so.1"));
}

static void a_path_that_no_distribution_of_the_sdk_lists_leads_nowhere(void **state) {
    static const char *const names[] = {"_rocm_sdk_core/lib/liba.so",
                                        "_rocm_sdk_core/lib/liba.so.10",
                                        "_rocm_sdk_core/lib",
                                        "lib/liba.so.1",
                                        "liba.so.1",
                                        "_rocm_sdk_core/lib/libnumpy.so",
                                        "_rocm_sdk_core/lib/libnothing.so",
                                        CORE "/RECORD"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(find_path(*state, names[i]).distribution);
    }
}

/* As PEP 503 says: a run of separators is one dash, and the case does not matter. */
static void a_distribution_has_its_normal_name(void **state) {
    const sample_fixture *f = *state;
    sample_directory(&f->site, "ROCm_-SDK-.Extra.One-1.dist-info");
    sample_file(&f->site, "ROCm_-SDK-.Extra.One-1.dist-info/RECORD", "extra/file,,\n");
    const rsdk_recorded_file found = find_path(f, "extra/file");
    assert_found(&found, "rocm-sdk-extra-one", "1", sample_path(&f->site, "extra/file"));
}

/* The nearest directory with distributions is the site: those above it are another installation's. */
static void the_site_is_the_nearest_one(void **state) {
    const sample_fixture *f = *state;
    sample_directory(&f->site, "_rocm_sdk_core/rocm-1.dist-info");
    sample_file(&f->site, "_rocm_sdk_core/rocm-1.dist-info/RECORD", "lib/liba.so.1,,\n");
    const rsdk_recorded_file found = find_path(f, "_rocm_sdk_core/lib/liba.so.1");
    assert_found(&found, "rocm", "1", sample_path(&f->site, "_rocm_sdk_core/lib/liba.so.1"));
    assert_null(find_path(f, "_rocm_sdk_core/lib/b,\"c\"").distribution);
}

static void a_path_without_a_site_leads_nowhere(void **state) {
    static const char *const paths[] = {"/", "/x", "/nonexistent/a/libx.so", "/nonexistent//a//../libx.so", "//"};
    const sample_fixture *f = *state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        rsdk_recorded_file found = {0};
        assert_int_equal(rsdk_record_find_path(paths[i], f->site.texts, &found, NULL), RSDK_OK);
        assert_null(found.distribution);
    }
}

static void a_name_is_found_in_platform_directories_only(void **state) {
    sample_fixture *f = *state;
    rsdk_recorded_file found = find_name(f, "liba.so*");
    assert_found(&found, "rocm-sdk-core", "7.10.0+local.1", sample_path(&f->site, "_rocm_sdk_core/lib/liba.so.1"));
    found = find_name(f, "lib[d].so.[0-9]");
    assert_found(&found, "rocm-sdk-libraries", "7.10.0", sample_path(&f->site, "_rocm_sdk_core/lib/libd.so.1"));
    assert_null(find_name(f, "liba.so").distribution);
    assert_null(find_name(f, "lib/liba.so.1").distribution);
    assert_null(find_name(f, "libb.so.1").distribution); /* the libraries package is not there */
    assert_null(find_name(f, "libnumpy.so").distribution);
}

/* Files of one name in several directories: the one that is there is not the one that is missing. */
static void a_name_stands_for_a_file_that_is_not_there(void **state) {
    sample_fixture *f = *state;
    sample_directory(&f->site, CORE_LIB "/llvm");
    sample_file(&f->site, CORE_LIB "/llvm/libomp.so", "");
    sample_file(&f->site, CORE "/RECORD", CORE_LIB "/llvm/libomp.so,,\n" CORE_LIB "/libomp.so,,\n");
    const rsdk_recorded_file found = find_name(f, "libomp.so");
    assert_found(&found, "rocm-sdk-core", "7.10.0+local.1", sample_path(&f->site, CORE_LIB "/libomp.so"));
    sample_file(&f->site, CORE_LIB "/libomp.so", "");
    assert_null(find_name(f, "libomp.so").distribution);
    assert_non_null(find_path(f, CORE_LIB "/libomp.so").distribution);
}

/* ---- what is not a RECORD ---- */

static void replace_record(const sample_fixture *f) {
    assert_int_equal(unlink(sample_path(&f->site, CORE "/RECORD")), 0);
}

/* Nothing is found in what took the place of core's RECORD, and the other one is read. */
static void assert_only_libraries(sample_fixture *f) {
    assert_null(find_path(f, "_rocm_sdk_core/lib/liba.so.1").distribution);
    assert_null(find_name(f, "liba.so.1").distribution);
    assert_string_equal(find_path(f, "_rocm_sdk_core/lib/libd.so.1").distribution, "rocm-sdk-libraries");
}

static void a_record_that_is_absent_lists_nothing(void **state) {
    replace_record(*state);
    assert_only_libraries(*state);
}

static void a_record_that_is_a_directory_lists_nothing(void **state) {
    const sample_fixture *f = *state;
    replace_record(f);
    sample_directory(&f->site, CORE "/RECORD");
    assert_only_libraries(*state);
}

static void a_record_that_is_a_pipe_lists_nothing(void **state) {
    const sample_fixture *f = *state;
    replace_record(f);
    assert_int_equal(mkfifo(sample_path(&f->site, CORE "/RECORD"), 0644), 0);
    assert_only_libraries(*state); /* and nobody waits for a writer */
}

static void a_distribution_that_is_a_file_lists_nothing(void **state) {
    const sample_fixture *f = *state;
    replace_record(f);
    assert_int_equal(rmdir(sample_path(&f->site, CORE)), 0);
    sample_file(&f->site, CORE, "_rocm_sdk_core/lib/liba.so.1,,\n");
    assert_only_libraries(*state);
}

static void a_record_without_bytes_or_text_lists_nothing(void **state) {
    const sample_fixture *f = *state;
    sample_file(&f->site, CORE "/RECORD", "");
    assert_only_libraries(*state);
    sample_file(&f->site, CORE "/RECORD", "\"_rocm_sdk_core/lib/liba.so.1");
    assert_only_libraries(*state);
    assert_int_equal(truncate(sample_path(&f->site, CORE "/RECORD"), (1 << 26) + 1), 0); /* beyond the limit */
    assert_only_libraries(*state);
}

static void look_without_rights(void *context) {
    const sample_fixture *f = context;
    rsdk_recorded_file found = {0};
    become_nobody();
    REQUIRE(access(sample_path(&f->site, CORE "/RECORD"), R_OK) != 0);
    REQUIRE(rsdk_record_find_path(sample_path(&f->site, "_rocm_sdk_core/lib/liba.so.1"), f->site.texts, &found, NULL) ==
            RSDK_OK);
    REQUIRE(found.distribution == NULL);
    REQUIRE(rsdk_record_find_path(sample_path(&f->site, "_rocm_sdk_core/lib/libd.so.1"), f->site.texts, &found, NULL) ==
            RSDK_OK);
    REQUIRE(found.distribution != NULL && strcmp(found.distribution, "rocm-sdk-libraries") == 0);
}

static void a_record_that_cannot_be_read_lists_nothing(void **state) {
    sample_fixture *f = *state;
    assert_int_equal(chmod(sample_path(&f->site, CORE "/RECORD"), 0), 0);
    run_in_child(look_without_rights, f);
}

#define RECORD_TEST(name) cmocka_unit_test_setup_teardown(name, make_installed, sample_fixture_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(quoted_paths_are_read),
        cmocka_unit_test(a_quote_that_does_not_end_is_the_end),
        RECORD_TEST(a_path_leads_to_its_distribution),
        RECORD_TEST(a_path_that_no_distribution_of_the_sdk_lists_leads_nowhere),
        RECORD_TEST(a_distribution_has_its_normal_name),
        RECORD_TEST(the_site_is_the_nearest_one),
        RECORD_TEST(a_path_without_a_site_leads_nowhere),
        RECORD_TEST(a_name_is_found_in_platform_directories_only),
        RECORD_TEST(a_name_stands_for_a_file_that_is_not_there),
        RECORD_TEST(a_record_that_is_absent_lists_nothing),
        RECORD_TEST(a_record_that_is_a_directory_lists_nothing),
        RECORD_TEST(a_record_that_is_a_pipe_lists_nothing),
        RECORD_TEST(a_distribution_that_is_a_file_lists_nothing),
        RECORD_TEST(a_record_without_bytes_or_text_lists_nothing),
        RECORD_TEST(a_record_that_cannot_be_read_lists_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
