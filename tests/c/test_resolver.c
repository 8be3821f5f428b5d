/* From shortname to file: by file name, by SONAME, the right one of several, and the errors where there is none. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problem_text.h"
#include "sample_sdk.h"
#include "suite.h"

static rsdk_status locate(sample_fixture *f, const char *shortname) {
    rsdk_sdk_free(f->sdk);
    f->sdk = sample_open(&f->site);
    rsdk_error_clear(&f->error);
    return rsdk_loader_locate(f->sdk, shortname, &f->location, &f->error);
}

static void assert_located(sample_fixture *f, const char *shortname, const char *path, rsdk_found_via found_via) {
    if (locate(f, shortname) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&f->error));
    }
    assert_string_equal(f->location.shortname, shortname);
    assert_string_equal(f->location.path, sample_path(&f->site, path));
    assert_int_equal(f->location.found_via, found_via);
}

static void assert_refused(sample_fixture *f, const char *shortname, rsdk_status status, const char *message,
                           const char *fix) {
    assert_int_equal(locate(f, shortname), status);
    if (strstr(f->error.message, message) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", message, f->error.message);
    }
    if (strstr(problem_fix_of(&f->error, f->sdk), fix) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", fix, problem_fix_of(&f->error, f->sdk));
    }
}

static void compile(sample_fixture *f, const char *file, const char *soname) {
    sample_compile(&f->site, &(sample_library){.file = file, .soname = soname, .source = ""});
}

static void by_file_name(void **state) {
    sample_fixture *f = *state;
    compile(f, "libamd_smi.so.26.1", "libamd_smi.so.26");
    assert_located(f, "amd_smi", CORE_LIB "/libamd_smi.so.26.1", RSDK_FOUND_BY_FILE_NAME);
    assert_string_equal(f->location.soname, "libamd_smi.so.26");
    assert_int_equal(f->location.package, RSDK_CORE);
    compile(f, "libamd_smi.so.26.1", "");
    assert_located(f, "amd_smi", CORE_LIB "/libamd_smi.so.26.1", RSDK_FOUND_BY_FILE_NAME);
    assert_null(f->location.soname);
}

static void renamed_file_is_found_by_soname(void **state) {
    sample_fixture *f = *state;
    compile(f, "libprivate-0a1b2c.so", "libamd_smi.so.26");
    compile(f, "libother.so.1", NULL);
    sample_file(&f->site, CORE_LIB "/libdamaged.so", "no ELF file, and none that is asked for");
    assert_located(f, "amd_smi", CORE_LIB "/libprivate-0a1b2c.so", RSDK_FOUND_BY_SONAME);
}

static void own_name_beats_links(void **state) {
    sample_fixture *f = *state;
    compile(f, "libamd_smi.so.26", NULL);
    assert_int_equal(symlink("libamd_smi.so.26", sample_path(&f->site, CORE_LIB "/libamd_smi.so")), 0);
    assert_int_equal(symlink("libamd_smi.so.26", sample_path(&f->site, CORE_LIB "/libamd_smi.so.26.2")), 0);
    assert_located(f, "amd_smi", CORE_LIB "/libamd_smi.so.26", RSDK_FOUND_BY_FILE_NAME);
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 0);
}

static void highest_of_two_versions_is_used_and_both_named(void **state) {
    sample_fixture *f = *state;
    compile(f, "libamd_smi.so.9", NULL);
    compile(f, "libamd_smi.so.10", NULL);
    assert_located(f, "amd_smi", CORE_LIB "/libamd_smi.so.10", RSDK_FOUND_BY_FILE_NAME);
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 1);
    assert_non_null(strstr(rsdk_sdk_warning(f->sdk, 0), "libamd_smi.so.10 is used"));
    assert_non_null(strstr(rsdk_sdk_warning(f->sdk, 0), "libamd_smi.so.9 is ignored"));
}

static void name_that_only_begins_alike_is_another_library(void **state) {
    sample_fixture *f = *state;
    compile(f, "librocprofiler-sdk-roctx.so.1", NULL);
    compile(f, "libhipblaslt.so.1", NULL);
    assert_int_equal(locate(f, "rocprofiler-sdk"), RSDK_FILE_NOT_FOUND);
    assert_located(f, "rocprofiler-sdk-roctx", CORE_LIB "/librocprofiler-sdk-roctx.so.1", RSDK_FOUND_BY_FILE_NAME);
}

static void deeper_directories(void **state) {
    sample_fixture *f = *state;
    sample_compile(&f->site, &(sample_library){.directory = CORE_LIB "/rocm_sysdeps/lib",
                                               .file = "librocm_sysdeps_liblzma.so.5",
                                               .source = ""});
    sample_compile(&f->site,
                   &(sample_library){.directory = CORE_LIB "/llvm/lib", .file = "libLLVM.so.19.0", .source = ""});
    assert_located(f, "rocm_sysdeps_liblzma", CORE_LIB "/rocm_sysdeps/lib/librocm_sysdeps_liblzma.so.5",
                   RSDK_FOUND_BY_FILE_NAME);
    assert_located(f, "LLVM", CORE_LIB "/llvm/lib/libLLVM.so.19.0", RSDK_FOUND_BY_FILE_NAME);
    assert_refused(f, "rocm-openblas", RSDK_FILE_NOT_FOUND,
                   "lib/host-math/lib/librocm-openblas.so.*, but that directory does not exist", "reinstall");
}

/* ---- errors ---- */

static void unknown_name_gets_suggestions(void **state) {
    sample_fixture *f = *state;
    assert_refused(f, "hipblass", RSDK_UNKNOWN_LIBRARY, "unknown ROCm library name 'hipblass'", "did you mean hipblas");
    assert_refused(f, "libamdhip64.so.7", RSDK_UNKNOWN_LIBRARY, "libamdhip64.so.7", "did you mean amdhip64?");
    assert_refused(f, "", RSDK_UNKNOWN_LIBRARY, "''", "prints the names");
    assert_refused(f, "completely-different-and-much-longer-than-any-name", RSDK_UNKNOWN_LIBRARY, "completely-",
                   "prints the names");
}

static void missing_file_tells_what_was_tried(void **state) {
    sample_fixture *f = *state;
    compile(f, "libother.so", NULL);
    assert_refused(f, "roctx64", RSDK_FILE_NOT_FOUND, "the SONAME libroctx64.so* of each of the 1 files there",
                   "--force-reinstall");
    assert_string_equal(f->error.path, sample_path(&f->site, CORE_LIB));
}

static void damaged_file_is_the_error(void **state) {
    sample_fixture *f = *state;
    sample_file(&f->site, CORE_LIB "/libroctx64.so.4", "damaged");
    assert_refused(f, "roctx64", RSDK_BAD_ELF, "libroctx64.so.4: not an ELF file", "reinstall");
    compile(f, "libroctx64.so.5", NULL); /* another one that matches and is sound */
    assert_located(f, "roctx64", CORE_LIB "/libroctx64.so.5", RSDK_FOUND_BY_FILE_NAME);
    assert_int_equal(unlink(sample_path(&f->site, CORE_LIB "/libroctx64.so.5")), 0);
    assert_int_equal(unlink(sample_path(&f->site, CORE_LIB "/libroctx64.so.4")), 0);
    assert_int_equal(mkfifo(sample_path(&f->site, CORE_LIB "/libroctx64.so.4"), 0644), 0);
    assert_refused(f, "roctx64", RSDK_IO_ERROR, "is a FIFO", "reinstall");
    assert_int_equal(unlink(sample_path(&f->site, CORE_LIB "/libroctx64.so.4")), 0);
    assert_int_equal(symlink("libroctx64.so.4", sample_path(&f->site, CORE_LIB "/libroctx64.so.4")), 0);
    assert_int_equal(locate(f, "roctx64"), RSDK_IO_ERROR);
    assert_int_equal(unlink(sample_path(&f->site, CORE_LIB "/libroctx64.so.4")), 0);
    assert_int_equal(symlink("nowhere", sample_path(&f->site, CORE_LIB "/libroctx64.so.4")), 0);
    assert_int_equal(locate(f, "roctx64"), RSDK_FILE_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "libroctx64.so.4: cannot open"));
}

static void one_error_names_all_missing_packages(void **state) {
    sample_fixture *f = *state;
    static const char *const names[] = {"roctx64", "rccl", "miopen"};
    rsdk_location locations[3];
    sample_site empty = sample_site_new();
    assert_int_equal(rmdir(sample_path(&empty, CORE_LIB)), 0);
    assert_int_equal(rmdir(sample_path(&empty, "_rocm_sdk_core")), 0);
    f->sdk = sample_open(&empty);
    sample_site_remove(&empty);
    assert_int_equal(rsdk_loader_locate_all(f->sdk, names, 3, locations, &f->error), RSDK_PACKAGE_NOT_INSTALLED);
    assert_non_null(strstr(f->error.message, "roctx64, rccl, miopen"));
    assert_non_null(strstr(f->error.message, "not installed: rocm-sdk-core, rocm-sdk-libraries"));
    assert_string_equal(
        problem_fix_of(&f->error, f->sdk),
        "pip install --upgrade --index-url https://stable.repo.amd.com/rocm/whl-next/ \"rocm[libraries]\"");
    assert_int_equal(rsdk_loader_locate_all(f->sdk, names, 3, locations, NULL), RSDK_PACKAGE_NOT_INSTALLED);
}

static void wrong_family_is_the_error(void **state) {
    sample_fixture *f = *state;
    sample_file(&f->site, "rocm_sdk_core/_dist_info.py", "__version__ = '7'\nAVAILABLE_TARGET_FAMILIES = ['gfx942']\n");
    sample_directory(&f->site, "_rocm_sdk_libraries_gfx942/lib");
    const rsdk_sdk_options options = {
        .search_path = (const char *[]){f->site.path}, .search_path_count = 1, .target_family = "gfx1100"};
    assert_int_equal(rsdk_sdk_open(&options, &f->sdk, &f->error), RSDK_OK);
    assert_int_equal(rsdk_loader_locate(f->sdk, "rccl", &f->location, &f->error), RSDK_PACKAGE_NOT_INSTALLED);
    assert_non_null(strstr(f->error.message, "target family gfx1100"));
    assert_non_null(strstr(problem_fix_of(&f->error, f->sdk), "unset ROCM_SDK_TARGET_FAMILY"));
    assert_int_equal(rsdk_loader_locate(f->sdk, "rccl", &f->location, NULL), RSDK_PACKAGE_NOT_INSTALLED);
}

/* A program may ask as often as it likes: the SDK keeps each text once. */
static void asking_again_gives_the_same_texts(void **state) {
    sample_fixture *f = *state;
    compile(f, "libamd_smi.so.26.1", NULL);
    compile(f, "libamd_smi.so.26.2", NULL);
    assert_located(f, "amd_smi", CORE_LIB "/libamd_smi.so.26.2", RSDK_FOUND_BY_FILE_NAME);
    const rsdk_location first = f->location;
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 1);
    assert_int_equal(rsdk_loader_locate(f->sdk, "amd_smi", &f->location, &f->error), RSDK_OK);
    assert_ptr_equal(f->location.path, first.path);
    assert_ptr_equal(f->location.soname, first.soname);
    assert_int_equal(rsdk_sdk_warning_count(f->sdk), 1);
    rsdk_location both[2];
    sample_file(&f->site, CORE_LIB "/librocdxg.so", "damaged");
    assert_int_equal(rsdk_loader_locate_all(f->sdk, (const char *const[]){"amd_smi", "rocdxg"}, 2, both, &f->error),
                     RSDK_BAD_ELF);
    assert_null(both[0].path);
}

/* ---- absent libraries ---- */

static void optional_and_declared_libraries_may_be_absent(void **state) {
    sample_fixture *f = *state;
    assert_int_equal(locate(f, "rocdxg"), RSDK_OK);
    assert_null(f->location.path);
    assert_int_equal(f->location.found_via, RSDK_ABSENT_OPTIONAL);
    assert_string_equal(rsdk_loader_found_via_name(f->location.found_via), "absent (optional)");
    sample_directory(&f->site, "_rocm_sdk_core/share/therock");
    sample_file(&f->site, "_rocm_sdk_core/share/therock/dist_info.json",
                "{\"absent_libraries\": [\"roctx64\", \"rccl\"]}");
    assert_int_equal(locate(f, "roctx64"), RSDK_OK);
    assert_null(f->location.path);
    assert_int_equal(f->location.found_via, RSDK_ABSENT_DECLARED);
    assert_int_equal(locate(f, "rccl"), RSDK_OK); /* its whole package is not installed */
    assert_int_equal(f->location.found_via, RSDK_ABSENT_DECLARED);
    assert_int_equal(locate(f, "miopen"), RSDK_PACKAGE_NOT_INSTALLED);
    sample_file(&f->site, CORE_LIB "/librocdxg.so", "damaged");
    assert_int_equal(locate(f, "rocdxg"), RSDK_BAD_ELF); /* it is there, so it is meant to work */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_fixture_make, sample_fixture_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(by_file_name),
        TEST(renamed_file_is_found_by_soname),
        TEST(own_name_beats_links),
        TEST(highest_of_two_versions_is_used_and_both_named),
        TEST(name_that_only_begins_alike_is_another_library),
        TEST(deeper_directories),
        TEST(unknown_name_gets_suggestions),
        TEST(missing_file_tells_what_was_tried),
        TEST(damaged_file_is_the_error),
        TEST(one_error_names_all_missing_packages),
        TEST(wrong_family_is_the_error),
        TEST(asking_again_gives_the_same_texts),
        TEST(optional_and_declared_libraries_may_be_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
