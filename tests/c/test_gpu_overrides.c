/* What variables make of the list of GPUs: targets that they override, and values at which ROCm aborts the program. */
#include <string.h>

#include "listed_gpus.h"
#include "suite.h"

static void overrides(void **state) {
    sample_gpu_fixture *f = *state;
    make_mixed_machine(f);
    rsdk_gpu_environment e = {.hsa_override_gfx_version = "10.3.0"};
    read_with(f, &e);
    assert_true(gpu_at(f, 0)->is_overridden && gpu_at(f, 1)->is_overridden && gpu_at(f, 3)->is_overridden);
    assert_string_equal(gpu_at(f, 0)->target, "gfx1030");
    assert_string_equal(gpu_at(f, 0)->real_processor, "gfx1031");
    assert_string_equal(gpu_at(f, 3)->target, "gfx1030");
    assert_string_equal(gpu_at(f, 2)->target, "gfx1100"); /* ROCm does not look at it */
    rsdk_gpu_node_override nodes[] = {{2, "9.4.2"}, {3, "11.0.0"}};
    e = (rsdk_gpu_environment){.node_overrides = nodes, .node_override_count = 2};
    read_with(f, &e);
    assert_false(gpu_at(f, 0)->is_overridden);
    assert_string_equal(gpu_at(f, 1)->target, "gfx942:sramecc-:xnack-"); /* features of what it is taken for */
    assert_string_equal(gpu_at(f, 3)->target, "gfx1100"); /* node 4, the third without the left out one */
    e.hsa_override_gfx_version = "9.0.10";
    read_with(f, &e);
    assert_string_equal(gpu_at(f, 0)->processor, "gfx90a");
    assert_string_equal(gpu_at(f, 3)->processor, "gfx1100"); /* the node's own variable wins */
}

static void override_that_ends_it_all(void **state) {
    sample_gpu_fixture *f = *state;
    make_mixed_machine(f);
    rsdk_gpu_node_override node = {1, ""};
    rsdk_gpu_environment e = {.node_overrides = &node, .node_override_count = 1, .hsa_override_gfx_version = "10.3.0"};
    read_with(f, &e);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(gpu_at(f, i)->hip_index, -1);
        assert_false(gpu_at(f, i)->is_usable);
    }
    const rsdk_gpu_problem *problem = rsdk_gpu_list_problem(f->list, 1);
    assert_int_equal(problem->code, RSDK_W_GPU_025);
    assert_string_equal(problem->path, "HSA_OVERRIDE_GFX_VERSION_1");
    assert_contains(gpu_at(f, 3)->why_not, "HSA_OVERRIDE_GFX_VERSION_1=: is not major.minor.stepping");
    assert_contains(gpu_at(f, 3)->why_not, "ROCm since May 2026 ignores an empty value");
    node.value = "x";
    read_with(f, &e);
    assert_null(strstr(gpu_at(f, 3)->why_not, "2026"));
}

static void override_to_nothing(void **state) {
    sample_gpu_fixture *f = *state;
    make_mixed_machine(f);
    rsdk_gpu_node_override node = {1, "0.0.0"};
    rsdk_gpu_environment e = {.node_overrides = &node, .node_override_count = 1, .hsa_override_gfx_version = "10.3.0"};
    read_with(f, &e);
    assert_false(gpu_at(f, 0)->is_overridden); /* the node's own variable wins, and says nothing */
    assert_string_equal(gpu_at(f, 0)->target, "gfx1031");
    assert_string_equal(gpu_at(f, 1)->target, "gfx1030");
}

static void assert_aborted(sample_gpu_fixture *f, const char *variable, const char *detail) {
    const rsdk_gpu_problem *problem = only_problem(f, RSDK_W_GPU_033);
    assert_string_equal(problem->path, variable);
    assert_contains(problem->detail, detail);
    for (size_t i = 0; i < rsdk_gpu_list_count(f->list); i++) {
        const rsdk_gpu *gpu = gpu_at(f, i);
        assert_true(gpu->hip_index == -1 && gpu->opencl_index == -1 && gpu->rocr_index == -1 && !gpu->is_usable);
        assert_null(gpu->hidden_by);
        assert_string_equal(gpu->why_not, problem->detail);
    }
}

static void variables_that_abort(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 80003});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 110000});
    rsdk_gpu_environment e = {.rocr_visible_devices = "1,,0", .hip_visible_devices = "x"};
    read_with(f, &e);
    assert_aborted(f, "ROCR_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES=1,,0: ROCm's runtime aborts the program at the");
    rsdk_gpu_node_override nodes[] = {{1, "8.0.2"}, {2, "8.0.3"}};
    e = (rsdk_gpu_environment){.node_overrides = nodes, .node_override_count = 2};
    read_with(f, &e);
    assert_aborted(f, "HSA_OVERRIDE_GFX_VERSION_2",
                   "_2=8.0.3: HIP 6.4.3 aborts the program where gfx1100 is presented as gfx803");
    e.rocr_visible_devices = "0"; /* ROCm does not look at the other one */
    read_with(f, &e);
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 0);
    assert_int_equal(gpu_at(f, 0)->hip_index, 0);
    assert_string_equal(gpu_at(f, 0)->target, "gfx802"); /* a GPU of gfx8 as another of gfx8 */
}

static void override_to_what_does_not_exist(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 100301});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 100302});
    rsdk_gpu_node_override node = {1, "10.3.11"};
    rsdk_gpu_environment e = {.node_overrides = &node, .node_override_count = 1, .rocr_visible_devices = "0,1"};
    read_with(f, &e);
    assert_string_equal(gpu_at(f, 0)->target, "gfx103b");
    assert_int_equal(gpu_at(f, 0)->hip_index, -1);
    assert_contains(gpu_at(f, 0)->why_not, "gfx103b");
    assert_null(gpu_at(f, 0)->hidden_by);
    assert_int_equal(gpu_at(f, 1)->hip_index, 0); /* dropped after ROCR_VISIBLE_DEVICES has counted it */
    assert_contains(only_problem(f, RSDK_W_GPU_026)->detail, "ROCm knows no gfx103b, so it leaves");
    node.value = "9.4.0"; /* ROCm 6.4 has none, though LLVM had */
    read_with(f, &e);
    assert_int_equal(gpu_at(f, 0)->hip_index, -1);
    assert_contains(gpu_at(f, 0)->why_not, "presented as gfx940, which ROCm does not know");
    (void)only_problem(f, RSDK_W_GPU_026);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_gpu_fixture_make, sample_gpu_fixture_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(overrides),
        TEST(override_that_ends_it_all),
        TEST(override_to_nothing),
        TEST(variables_that_abort),
        TEST(override_to_what_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
