/* "Did you mean": order, limits and what is too far. */
#include "base/nearest.h"

#include <string.h>

#include "suite.h"

static const char *const names[] = {"hipblas", "hipblaslt", "hipsparse", "amdhip64", "rccl", "abc"};

static const char *name_at(const void *context, size_t index) {
    return ((const char *const *)context)[index];
}

static const rsdk_name_list list = {.get = name_at, .context = (const void *)names, .count = 6};

static void assert_nearest(const char *name, const char *first) {
    const char *nearest[RSDK_NEAREST_LIMIT];
    size_t count = rsdk_nearest_find(name, &list, nearest, 3);
    if (first == NULL) {
        assert_int_equal(count, 0);
    } else {
        assert_true(count > 0);
        assert_string_equal(nearest[0], first);
    }
}

static void nearest_first(void **state) {
    const char *nearest[RSDK_NEAREST_LIMIT];
    assert_nearest("hipblas", "hipblas");
    assert_nearest("hipblasl", "hipblas"); /* as near as hipblaslt, and before it in the list */
    assert_nearest("HIPBLASLTX", "hipblaslt");
    assert_nearest("libamdhip64.so.7", "amdhip64");
    assert_nearest("amdhip46", "amdhip64");
    assert_int_equal(rsdk_nearest_find("hipblasl", &list, nearest, 3), 2);
    assert_int_equal(rsdk_nearest_find("hipblasl", &list, nearest, 1), 1);
    assert_int_equal(rsdk_nearest_find("hipblasl", &list, nearest, 0), 0);
    assert_int_equal(rsdk_nearest_find("hipblasl", &list, nearest, 1000), 2);
}

static void too_far(void **state) {
    char long_name[300];
    memset(long_name, 'h', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_nearest("cublas64", NULL);
    assert_nearest("", NULL);
    assert_nearest("xyzabc", NULL); /* too short to be looked for within */
    assert_nearest("amdhip64:xnack+", NULL);
    assert_nearest(long_name, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearest_first), cmocka_unit_test(too_far)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
