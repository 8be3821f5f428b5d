/* What names of files tell: the target of a loose file, as Tensile, composable_kernel and MIOpen write it, and the
 * releases that a library is of. */
#include "device_code/file_target.h"

#include <string.h>

#include "sdk/built_for.h"
#include "suite.h"

static void targets(void **state) {
    static const struct {
        const char *name, *target;
    } wanted[] = {
        {"TensileLibrary_Type_HH_gfx90a.co", "gfx90a"},
        {"Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a:xnack+"},
        {"Kernels.so-000-gfx90a-xnack-.hsaco", "gfx90a:xnack-"},
        {"x_gfx942:sramecc+:xnack-.co", "gfx942:sramecc+:xnack-"},
        {"TensileLibrary_lazy_gfx942.dat", "gfx942"},
        {"TensileLibrary_gfx1250-strict.dat.zlib", "gfx1250-strict"},
        {"kernels-gfx9-4-generic.co", "gfx9-4-generic"},
        {"kernels_gfx11-generic.co", "gfx11-generic"},
        {"libdevice_gemm_gfx90a_xnackp.a", "gfx90a:xnack+"},
        {"gfx942", "gfx942"},
        {"amd-gfx950", "gfx950"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char target[RSDK_TARGET_ID_SIZE];
        size_t start = 0;
        assert_true(rsdk_file_target_find(wanted[i].name, target, &start));
        assert_string_equal(target, wanted[i].target);
    }
}

static void no_targets(void **state) {
    static const char *const names[] = {
        "TensileManifest.txt", "",           "gfx",          "gfx94",      "gfx94X-dcgpu",
        "gfx942130.db.txt",    "agfx942.co", "gfx11xx.aks2", "gfx90aq.co", "libgfx.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char target[RSDK_TARGET_ID_SIZE];
        size_t start = 0;
        assert_false(rsdk_file_target_find(names[i], target, &start));
    }
}

/* Where the name of a library ends that has the target behind it. */
static void start_of_target(void **state) {
    char target[RSDK_TARGET_ID_SIZE];
    size_t start = 0;
    assert_true(rsdk_file_target_find("libMIOpenCKx_gfx942.so.1", target, &start));
    assert_int_equal(start, strlen("libMIOpenCKx"));
    assert_true(rsdk_file_target_find("libx_gfx942_more.so", target, &start));
    assert_int_equal(start, 0);
    assert_true(rsdk_file_target_find("gfx942.so", target, &start));
    assert_int_equal(start, 0);
}

/* The number of compute units is glued to the name, in hexadecimal. The longest target counts. */
static void databases(void **state) {
    static const char *const wanted[][2] = {
        {"gfx942130.db.txt", "gfx942"},
        {"gfx90a68.fdb.txt", "gfx90a"},
        {"gfx90878.db.txt", "gfx908"},
        {"gfx1030_36.kdb", "gfx1030"},
        {"gfx906_60.HIP.fdb.txt", "gfx906"},
        {"gfx1100.kdb", "gfx1100"},
        {"gfx1250-strict40.db", "gfx1250-strict"},
        {"gfx125040.db", "gfx1250"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_string_equal(rsdk_file_target_of_database(wanted[i][0])->name, wanted[i][1]);
    }
    assert_null(rsdk_file_target_of_database("gfx94.db"));
    assert_null(rsdk_file_target_of_database("notes.txt"));
}

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

static void names_of_libraries_tell_a_range(void **state) {
    static const struct {
        const char *first, *second, *text, *requirement;
    } rows[] = {
        /* the intersection */
        {"libamdhip64.so.7", "libamd_smi.so.26", "ROCm 7.0 to 7.14", "rocm[libraries]>=7.0,<7.15"},
        {"libamdhip64.so.6", "libamd_smi.so.25", "ROCm 6.4", "rocm[libraries]>=6.4,<6.5"},
        {"libamdhip64.so.7", "librocsparse.so.1", "ROCm 7.0 or newer", "rocm[libraries]>=7.0"},
        {"librocblas.so.0", "libc.so.6", "ROCm 5.5 or older", ""},
        /* most names tell nothing */
        {"libMIOpen.so.1", "librocm_smi64.so.1", "", ""},
        {"libamdhip64.so", "libamdhip64.so.3", "", ""},
        {"libamdhip64.so.4", "librocblas.so.0", "ROCm 4.5 or older", ""},
        /* HIP counts where distributions mix */
        {"libamdhip64.so.6", "libamd_smi.so.27", "ROCm 6.0 to 6.4", "rocm[libraries]>=6.0,<6.5"},
        {"libamdhip64.so.6", "libamdhip64.so.7", "", ""},
        {"librocblas.so.4", "libhipblas.so.3", "", ""},
        /* a number that is newer than the table */
        {"libamdhip64.so.8", "librocblas.so.5", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rsdk_built_for files = needs(rows[i].first, rows[i].second);
        assert_tells(&files, rows[i].text, rows[i].requirement);
    }
    assert_false(rsdk_built_for_knows("libamdhip64.so.10"));
    assert_true(rsdk_built_for_knows("libamdhip64.so.7"));
}

static void versions_of_symbols_are_a_lower_bound(void **state) {
    rsdk_built_for files = needs("libamdhip64.so.6", "libm.so.6");
    rsdk_built_for_add_version(&files, "libamdhip64.so.6", "hip_6.2");
    rsdk_built_for_add_version(&files, "libamdhip64.so.6", "hip_4.2");
    assert_tells(&files, "ROCm 6.2 to 6.4", "rocm[libraries]>=6.2,<6.5");
    files = needs("libamdhip64.so.7", "libm.so.6");
    rsdk_built_for_add_version(&files, "libamdhip64.so.7", "hip_7.14");
    assert_tells(&files, "ROCm 7.14 or newer", "rocm[libraries]>=7.14");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(targets),
                                       cmocka_unit_test(no_targets),
                                       cmocka_unit_test(start_of_target),
                                       cmocka_unit_test(databases),
                                       cmocka_unit_test(names_of_libraries_tell_a_range),
                                       cmocka_unit_test(versions_of_symbols_are_a_lower_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
