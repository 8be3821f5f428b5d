/* Which family a machine needs. The many cases are tests of the Python package, which shows the same function; here:
 * every row of the table, ties, and damage. */
#include <string.h>

#include "rocm_sdk/rocm_sdk.h"
#include "sample_topology.h"
#include "suite.h"

static rsdk_family_choice choose(sample_gpu_fixture *f, const char *const *families, size_t count) {
    rsdk_gpu_options options = {.root = f->machine.root};
    rsdk_family_choice choice = {0};
    assert_int_equal(rsdk_family_choose(&options, families, count, &choice, NULL), RSDK_OK);
    return choice;
}

static void every_target_gets_each_of_its_families(void **state) {
    sample_gpu_fixture *f = *state;
    for (size_t row = 0; row < rsdk_target_count(); row++) {
        const rsdk_target *target = rsdk_target_get(row);
        if (target->package_owner != NULL) {
            continue; /* the kernel does not tell it from its owner */
        }
        sample_machine_gpu(
            &f->machine,
            &(sample_gpu){.node = 1, .version = target->major * 10000U + target->minor * 100U + target->stepping});
        for (size_t i = 0; i < RSDK_TARGET_FAMILY_LIMIT && target->families[i] != NULL; i++) {
            const char *offered[] = {"gfx000", target->families[i]};
            assert_int_equal(choose(f, offered, 2).family, 1);
        }
        const char *own[] = {target->name};
        assert_int_equal(choose(f, own, 1).family, 0);
    }
}

static void equal_gpus_leave_it_to_the_first_node(void **state) {
    sample_gpu_fixture *f = *state;
    const char *const families[] = {"gfx120X-all", "gfx110X-all"};
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 110000, .memory = 1 << 20});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 10, .version = 120001, .memory = 1 << 20});
    rsdk_family_choice choice = choose(f, families, 2);
    assert_int_equal(choice.family, 1);
    assert_int_equal(choice.other, 0);
    assert_string_equal(choice.gpu, "gfx1100");
    assert_string_equal(choose(f, families, 0).gpu, "");
    assert_int_equal(choose(f, families, 0).family, 0);
    assert_int_equal(choose(f, families, 0).other, 0);
}

static void damage_is_an_error(void **state) {
    sample_gpu_fixture *f = *state;
    const char *const families[] = {"gfx110X-all"};
    rsdk_gpu_options options = {.root = f->machine.root};
    rsdk_family_choice choice;
    rsdk_error error = RSDK_ERROR_INIT;
    sample_machine_file(&f->machine, TOPOLOGY "/nodes/1/properties", "simd_count many\n");
    assert_int_equal(rsdk_family_choose(&options, families, 1, &choice, &error), RSDK_IO_ERROR);
    assert_int_equal(choice.family, 1);
    assert_non_null(strstr(rsdk_error_message(&error), "nodes/1/properties"));
    rsdk_error_clear(&error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_target_gets_each_of_its_families, sample_gpu_fixture_make,
                                        sample_gpu_fixture_free),
        cmocka_unit_test_setup_teardown(equal_gpus_leave_it_to_the_first_node, sample_gpu_fixture_make,
                                        sample_gpu_fixture_free),
        cmocka_unit_test_setup_teardown(damage_is_an_error, sample_gpu_fixture_make, sample_gpu_fixture_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
