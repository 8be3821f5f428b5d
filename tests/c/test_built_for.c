/* Which releases the names of libraries tell. */
#include "sdk/built_for.h"

#include <string.h>

#include "suite.h"

static void assert_tells(const rsdk_built_for *files, const char *expected, const char *requirement) {
    rsdk_text text = RSDK_TEXT_INIT, wanted = RSDK_TEXT_INIT;
    rsdk_release_range_add_text(rsdk_built_for_releases(files), &text);
    rsdk_release_range_add_requirement(rsdk_built_for_releases(files), &wanted);
    assert_string_equal(rsdk_text_get(&text), expected);
    assert_string_equal(rsdk_text_get(&wanted), requirement);
    rsdk_text_clear(&text);
    rsdk_text_clear(&wanted);
}

static rsdk_built_for needs(const char *first, const char *second) {
    rsdk_built_for files = {.is_newer = false};
    rsdk_built_for_add(&files, first);
    rsdk_built_for_add(&files, second);
    return files;
}

static void the_range_is_the_intersection(void **state) {
    rsdk_built_for files = needs("libamdhip64.so.7", "libamd_smi.so.26");
    assert_tells(&files, "ROCm 7.0 to 7.14", "rocm[libraries]>=7.0,<7.15");
    files = needs("libamdhip64.so.6", "libamd_smi.so.25");
    assert_tells(&files, "ROCm 6.4", "rocm[libraries]>=6.4,<6.5");
    files = needs("libamdhip64.so.7", "librocsparse.so.1");
    assert_tells(&files, "ROCm 7.0 or newer", "rocm[libraries]>=7.0");
    files = needs("librocblas.so.0", "libc.so.6");
    assert_tells(&files, "ROCm 5.5 or older", "");
}

static void most_names_tell_nothing(void **state) {
    rsdk_built_for files = needs("libMIOpen.so.1", "librocm_smi64.so.1");
    assert_tells(&files, "", "");
    files = needs("libamdhip64.so", "libamdhip64.so.3");
    assert_tells(&files, "", "");
    files = needs("libamdhip64.so.4", "librocblas.so.0");
    assert_tells(&files, "ROCm 4.5 or older", "");
}

static void hip_counts_where_distributions_mix(void **state) {
    rsdk_built_for files = needs("libamdhip64.so.6", "libamd_smi.so.27");
    assert_tells(&files, "ROCm 6.0 to 6.4", "rocm[libraries]>=6.0,<6.5");
    files = needs("libamdhip64.so.6", "libamdhip64.so.7");
    assert_tells(&files, "", "");
    files = needs("librocblas.so.4", "libhipblas.so.3");
    assert_tells(&files, "", "");
}

static void a_number_that_is_newer_than_the_table(void **state) {
    rsdk_built_for files = needs("libamdhip64.so.8", "librocblas.so.5");
    assert_tells(&files, "", "");
    assert_false(rsdk_built_for_knows("libamdhip64.so.10"));
    assert_true(rsdk_built_for_knows("libamdhip64.so.7"));
}

static void versions_of_symbols_are_a_lower_bound(void **state) {
    rsdk_built_for files = needs("libamdhip64.so.6", "libm.so.6");
    rsdk_built_for_add_version(&files, "libamdhip64.so.6", "hip_6.2");
    rsdk_built_for_add_version(&files, "libamdhip64.so.6", "hip_4.2");
    assert_tells(&files, "ROCm 6.2 to 6.4", "rocm[libraries]>=6.2,<6.5");
    files = needs("libamdhip64.so.7", "libm.so.6");
    rsdk_built_for_add_version(&files, "libamdhip64.so.7", "hip_7.15");
    assert_tells(&files, "ROCm 10.0 or newer", "rocm[libraries]>=10.0");
    files = needs("libamdhip64.so.7", "libm.so.6");
    rsdk_built_for_add_version(&files, "libm.so.6", "hip_7.15");
    rsdk_built_for_add_version(&files, "libamdhip64.so.7", "hip_");
    rsdk_built_for_add_version(&files, "libamdhip64.so.7", "hip_99999999999999999999.1");
    rsdk_built_for_add_version(&files, "libamdhip64.so.7", "GLIBC_2.4");
    assert_tells(&files, "ROCm 7.0 or newer", "rocm[libraries]>=7.0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_is_the_intersection),
        cmocka_unit_test(most_names_tell_nothing),
        cmocka_unit_test(hip_counts_where_distributions_mix),
        cmocka_unit_test(a_number_that_is_newer_than_the_table),
        cmocka_unit_test(versions_of_symbols_are_a_lower_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
