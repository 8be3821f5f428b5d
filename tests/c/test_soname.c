/* Splitting SONAMEs into linker name and version. */
#include "elf/soname.h"

#include <string.h>

#include "suite.h"

static void linker_names_end_with_so(void **state) {
    assert_int_equal(rsdk_soname_linker_name_length("libamdhip64.so.7"), strlen("libamdhip64.so"));
    assert_int_equal(rsdk_soname_linker_name_length("libamdhip64.so"), strlen("libamdhip64.so"));
    assert_int_equal(rsdk_soname_linker_name_length("lib.sound.so.1.2"), strlen("lib.sound.so"));
    assert_int_equal(rsdk_soname_linker_name_length("libLLVM-17"), strlen("libLLVM-17"));
    assert_int_equal(rsdk_soname_linker_name_length(""), 0);
}

static void versions_of_one_library_share_it(void **state) {
    assert_true(rsdk_soname_has_linker_name("libx.so.1", "libx.so"));
    assert_false(rsdk_soname_has_linker_name("libx.so.1", "libx"));
    assert_false(rsdk_soname_has_linker_name("libxy.so.1", "libx.so"));
    assert_true(rsdk_soname_is_same_library("libx.so.1", "libx.so.2.3"));
    assert_false(rsdk_soname_is_same_library("libx.so.1", "liby.so.1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linker_names_end_with_so),
        cmocka_unit_test(versions_of_one_library_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
