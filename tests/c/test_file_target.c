/* Targets in the names of loose files, as Tensile, composable_kernel and MIOpen write them. */
#include "device_code/file_target.h"

#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets),
        cmocka_unit_test(no_targets),
        cmocka_unit_test(start_of_target),
        cmocka_unit_test(databases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
