/* The list of GPUs on whole machines: what is read, and how HIP numbers what is left. */
#include <stdio.h>
#include <string.h>

#include "gpu/tables.h"
#include "listed_gpus.h"
#include "suite.h"

static void no_gpu(void **state) {
    sample_gpu_fixture *f = *state;
    read_with(f, NULL);
    assert_int_equal(rsdk_gpu_list_count(f->list), 0);
    assert_null(rsdk_gpu_list_get(f->list, 0));
    (void)only_problem(f, RSDK_W_GPU_014);
    assert_null(rsdk_gpu_list_problem(f->list, 1));
    rsdk_gpu_list_free(NULL);
}

static void all_facts(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1,
                                                  .version = 90402,
                                                  .device_id = 0x74a1,
                                                  .location = 0xc1 << 8,
                                                  .render_minor = 129,
                                                  .unique_id = 0xab12,
                                                  .hive_id = UINT64_MAX,
                                                  .memory = UINT64_C(192) << 30,
                                                  .capability = 1u << 26,
                                                  .num_xcc = 8});
    const rsdk_gpu *gpu = only_gpu(f, NULL);
    assert_string_equal(gpu->target, "gfx942:sramecc+:xnack-");
    assert_string_equal(gpu->processor, "gfx942");
    assert_string_equal(gpu->real_processor, "gfx942");
    assert_true(gpu->is_known && !gpu->is_overridden && gpu->is_xnack_guessed && gpu->is_usable);
    assert_int_equal(gpu->gpu_class, RSDK_GPU_DATA_CENTRE);
    assert_string_equal(gpu->name, "AMD Instinct MI300X");
    assert_true(gpu->node == 1 && gpu->hsa_node == 1 && gpu->gpu_id == 40001);
    assert_true(gpu->unique_id == 0xab12 && gpu->hive_id == UINT64_MAX);
    assert_string_equal(gpu->uuid, "GPU-000000000000ab12");
    assert_string_equal(gpu->pci_address, "0000:c1:00.0");
    assert_true(gpu->vendor_id == 0x1002 && gpu->device_id == 0x74a1);
    assert_int_equal(gpu->render_minor, 129);
    assert_string_equal(gpu->render_node, "/dev/dri/renderD129");
    assert_true(gpu->compute_units == 96 && gpu->xcc_count == 8);
    assert_true(gpu->partition == 0 && gpu->partition_count == 1);
    assert_true(gpu->memory == UINT64_C(192) << 30);
    assert_true(gpu->hip_index == 0 && gpu->opencl_index == 0);
    assert_null(gpu->why_not);
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 0);
}

static void targets_only(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000, .memory = 1 << 20});
    sample_machine_delete(&f->machine, TOPOLOGY "/nodes/1/mem_banks");
    sample_machine_delete(&f->machine, TOPOLOGY "/nodes/1/gpu_id");
    rsdk_gpu_options options = {.root = f->machine.root, .targets_only = true};
    assert_int_equal(rsdk_gpu_list_new(&options, &f->list, &f->error), RSDK_OK);
    assert_string_equal(gpu_at(f, 0)->target, "gfx1100");
    assert_true(gpu_at(f, 0)->is_usable && gpu_at(f, 0)->memory == 0);
    assert_null(gpu_at(f, 0)->name);
}

static void every_row_of_the_table(void **state) {
    sample_gpu_fixture *f = *state;
    for (size_t i = 0; i < rsdk_target_count(); i++) {
        const rsdk_target *target = rsdk_target_get(i);
        unsigned version = target->major * 10000u + target->minor * 100u + target->stepping;
        char wanted[64];
        sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = version, .capability = 1u << 26});
        const rsdk_gpu *gpu = only_gpu(f, NULL);
        const char *name = target->package_owner != NULL ? target->package_owner : target->name;
        bool has_xnack = target->xnack == RSDK_XNACK_OF_DRIVER || target->xnack == RSDK_XNACK_OF_PROCESS;
        (void)snprintf(wanted, sizeof wanted, "%s%s%s", name, target->has_sramecc ? ":sramecc+" : "",
                       has_xnack ? ":xnack-" : "");
        assert_string_equal(gpu->target, wanted);
        assert_string_equal(gpu->processor, name);
        assert_true(gpu->is_known && gpu->is_usable);
        assert_int_equal(gpu->is_xnack_guessed, has_xnack);
    }
}

static void features_and_their_variables(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 90010});
    assert_string_equal(only_gpu(f, NULL)->target, "gfx90a:sramecc-:xnack-");
    rsdk_gpu_environment e = {.hsa_xnack = "1", .hsa_enable_sramecc = "1"};
    assert_string_equal(only_gpu(f, &e)->target, "gfx90a:sramecc+:xnack+");
    assert_true(gpu_at(f, 0)->is_xnack_guessed);
    e = (rsdk_gpu_environment){.hsa_xnack = "0", .hsa_enable_sramecc = "yes"};
    assert_string_equal(only_gpu(f, &e)->target, "gfx90a:sramecc-:xnack-");
    assert_false(gpu_at(f, 0)->is_xnack_guessed);
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 90006, .capability = 1u << 26});
    e = (rsdk_gpu_environment){.hsa_xnack = "1", .hsa_enable_sramecc = "0"};
    assert_string_equal(only_gpu(f, &e)->target, "gfx906:sramecc-:xnack-");
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 120500});
    e = (rsdk_gpu_environment){.hsa_disable_gfx12_strict = "0"};
    assert_string_equal(only_gpu(f, &e)->target, "gfx1250-strict");
    assert_string_equal(gpu_at(f, 0)->real_processor, "gfx1250");
    assert_int_equal(gpu_at(f, 0)->xnack, RSDK_FEATURE_ON);
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 120500, .capability = 1u << 22});
    assert_string_equal(only_gpu(f, &e)->target, "gfx1250");
}

static void unknown_versions(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 140211, .device_id = 0xFFFF});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 110501});
    read_with(f, NULL);
    assert_string_equal(gpu_at(f, 0)->target, "gfx142b");
    assert_false(gpu_at(f, 0)->is_known);
    assert_true(gpu_at(f, 0)->hip_index == 0 && gpu_at(f, 0)->is_usable);
    assert_string_equal(gpu_at(f, 0)->name, "AMD GPU");
    assert_string_equal(gpu_at(f, 1)->target, "gfx1151");
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = UINT32_MAX});
    read_with(f, NULL);
    assert_false(gpu_at(f, 0)->is_known);
    assert_int_equal(rsdk_gpu_list_count(f->list), 2);
}

static void kernels_without_gfx_target_version(void **state) {
    sample_gpu_fixture *f = *state;
    static const struct {
        unsigned device_id;
        const char *wanted;
    } devices[] = {{0x15DD, "gfx902"},  {0x15D8, "gfx902"},  {0x1636, "gfx90c"},  {0x164C, "gfx90c"},
                   {0x15E7, "gfx90c"},  {0x740C, "gfx90a"},  {0x7410, "gfx90a"},  {0x738C, "gfx908"},
                   {0x7390, "gfx908"},  {0x7360, "gfx1011"}, {0x7362, "gfx1011"}, {0x163F, "gfx1033"},
                   {0x164D, "gfx1035"}, {0x1681, "gfx1035"}, {0x67DF, "gfx803"}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .device_id = devices[i].device_id, .cpu_cores = 8});
        assert_string_equal(only_gpu(f, NULL)->real_processor, devices[i].wanted);
        assert_true(gpu_at(f, 0)->is_known && gpu_at(f, 0)->xcc_count == 1);
    }
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .device_id = 0xFFFF});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .device_id = 0x66AF});
    read_with(f, NULL);
    assert_string_equal(gpu_at(f, 0)->target, "unknown");
    assert_contains(gpu_at(f, 0)->why_not, "which target");
    assert_int_equal(gpu_at(f, 0)->hip_index, -1);
    assert_string_equal(gpu_at(f, 1)->processor, "gfx906");
    assert_int_equal(gpu_at(f, 1)->hip_index, 0);
}

static void sixty_four_gpus_in_numeric_order(void **state) {
    sample_gpu_fixture *f = *state;
    for (unsigned i = 0; i < 64; i++) { /* eight GPUs in eight partitions */
        sample_machine_gpu(&f->machine, &(sample_gpu){.node = i + 1,
                                                      .version = 90402,
                                                      .location = (16 + i / 8) << 8 | i % 8,
                                                      .unique_id = 1000 + i,
                                                      .num_xcc = 1});
    }
    read_with(f, NULL);
    assert_int_equal(rsdk_gpu_list_count(f->list), 64);
    for (unsigned i = 0; i < 64; i++) {
        const rsdk_gpu *gpu = gpu_at(f, i);
        assert_true(gpu->node == i + 1 && gpu->hip_index == (int)i && gpu->is_usable);
        assert_true(gpu->partition == i % 8 && gpu->partition_count == 8);
    }
    rsdk_gpu_environment e = {.rocr_visible_devices = "GPU-0000000000000427,9,0x0a", .hip_visible_devices = "2,0"};
    read_with(f, &e);
    assert_int_equal(gpu_at(f, 10)->hip_index, 0);
    assert_int_equal(gpu_at(f, 63)->hip_index, 1);
    assert_contains(gpu_at(f, 9)->why_not, "hidden by HIP_VISIBLE_DEVICES=2,0");
    assert_string_equal(gpu_at(f, 9)->hidden_by, "HIP_VISIBLE_DEVICES");
    assert_string_equal(gpu_at(f, 8)->hidden_by, "ROCR_VISIBLE_DEVICES");
    assert_null(gpu_at(f, 10)->hidden_by);
    assert_contains(gpu_at(f, 8)->why_not, "hidden by ROCR_VISIBLE_DEVICES=GPU-0000000000000427,9,0x0a");
}

static void names_that_are_no_nodes(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 10, .version = 110000});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 9, .version = 110001});
    static const char *const names[] = {"12abc", "abc", "01", "-1", "1 ", "99999999999999999999", ".5", "+3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/%s/properties", names[i]);
        sample_machine_file(&f->machine, name, "simd_count 4\n");
    }
    read_with(f, NULL);
    assert_int_equal(rsdk_gpu_list_count(f->list), 2);
    assert_int_equal(gpu_at(f, 0)->node, 9);
    assert_int_equal(gpu_at(f, 1)->node, 10);
}

static void left_out_nodes_are_not_counted(void **state) {
    sample_gpu_fixture *f = *state;
    make_mixed_machine(f);
    rsdk_gpu_environment e = {.rocr_visible_devices = "2,0", .gpu_device_ordinal = "1"};
    read_with(f, &e);
    assert_int_equal(gpu_at(f, 2)->hsa_node, -1);
    assert_int_equal(gpu_at(f, 3)->hsa_node, 3);
    assert_int_equal(gpu_at(f, 3)->hip_index, 0); /* the third that ROCm sees */
    assert_int_equal(gpu_at(f, 0)->hip_index, 1);
    assert_int_equal(gpu_at(f, 1)->hip_index, -1);
    assert_int_equal(gpu_at(f, 0)->opencl_index, 0);
    assert_int_equal(gpu_at(f, 3)->opencl_index, -1);
    assert_contains(gpu_at(f, 2)->why_not, "/dev/dri/renderD131: missing");
    assert_true(gpu_at(f, 3)->is_usable && !gpu_at(f, 2)->is_usable && !gpu_at(f, 1)->is_usable);
    assert_int_equal(gpu_at(f, 1)->gpu_class, RSDK_GPU_INTEGRATED);
    assert_string_equal(gpu_at(f, 1)->uuid, "GPU-XX");
    (void)only_problem(f, RSDK_N_GPU_037);
}

static void composition(void **state) {
    sample_gpu_fixture *f = *state;
    for (unsigned i = 1; i <= 4; i++) {
        sample_machine_gpu(&f->machine, &(sample_gpu){.node = i, .version = 110000, .unique_id = 0xa0 + i});
    }
    static const struct {
        const char *rocr, *hip, *cuda;
        int wanted[4];
    } cases[] = {
        {NULL, NULL, NULL, {0, 1, 2, 3}},
        {"", NULL, NULL, {-1, -1, -1, -1}},
        {NULL, "", "1", {-1, -1, -1, -1}},
        {NULL, "\"\"", "1", {-1, 0, -1, -1}},
        {NULL, NULL, "", {-1, -1, -1, -1}},
        {NULL, "\"\"", "\"\"", {0, 1, 2, 3}},
        {NULL, "\"3,1\"", NULL, {-1, 1, -1, 0}},
        {NULL, "\"-1\"", NULL, {-1, -1, -1, -1}},
        {NULL, "2", "1", {-1, -1, 0, -1}},
        {"3,1,0", "1,2", NULL, {1, 0, -1, -1}},
        {"3,1,0", NULL, "0", {-1, -1, -1, 0}},
        {NULL, "-1", NULL, {-1, -1, -1, -1}},
        {NULL, "3,0,3,1", "", {1, 2, -1, 0}},
        {"2", "GPU-", NULL, {-1, -1, 0, -1}},
        {"GPU-00000000000000a4,0", "GPU-00000000000000a1", NULL, {0, -1, -1, -1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rsdk_gpu_environment e = {.rocr_visible_devices = cases[i].rocr,
                                  .hip_visible_devices = cases[i].hip,
                                  .cuda_visible_devices = cases[i].cuda};
        read_with(f, &e);
        for (size_t j = 0; j < 4; j++) {
            assert_int_equal(gpu_at(f, j)->hip_index, cases[i].wanted[j]);
            assert_int_equal(gpu_at(f, j)->is_usable, cases[i].wanted[j] >= 0);
        }
        assert_int_equal(rsdk_gpu_list_problem_count(f->list), 0);
    }
}

static void cut_short(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 110000});
    rsdk_gpu_environment e = {.hip_visible_devices = "0, 1"};
    read_with(f, &e);
    const rsdk_gpu_problem *problem = only_problem(f, RSDK_W_GPU_024);
    assert_string_equal(problem->path, "HIP_VISIBLE_DEVICES");
    assert_contains(problem->detail, "HIP_VISIBLE_DEVICES=0, 1: \" 1\" is neither a number");
    assert_contains(problem->detail, "leaves 1 of 2 devices");
    e = (rsdk_gpu_environment){.rocr_visible_devices = "1,7,0"};
    read_with(f, &e);
    problem = only_problem(f, RSDK_W_GPU_024);
    assert_contains(problem->detail, "\"7\" is not the number of a device");
    assert_contains(problem->detail, "; \"0\" behind it is ignored");
    e = (rsdk_gpu_environment){.hip_visible_devices =
                                   "a\nb\xff,0123456789012345678901234567890123456789012345678901234567890123456789"};
    read_with(f, &e);
    problem = only_problem(f, RSDK_W_GPU_024);
    assert_contains(problem->detail, "\"a?b?\" is neither");
    assert_contains(problem->detail, "012345678901234567890123456789012345678901234567890123456789...\" behind");
    assert_contains(gpu_at(f, 0)->why_not, "hidden by HIP_VISIBLE_DEVICES=a?b?,0123");
    e = (rsdk_gpu_environment){.gpu_device_ordinal = "0,,1"};
    read_with(f, &e);
    assert_string_equal(only_problem(f, RSDK_W_GPU_024)->path, "GPU_DEVICE_ORDINAL");
    assert_int_equal(gpu_at(f, 1)->hip_index, 1);
    assert_int_equal(gpu_at(f, 1)->opencl_index, -1);
    e = (rsdk_gpu_environment){.cuda_visible_devices = "1,01"};
    read_with(f, &e);
    assert_string_equal(only_problem(f, RSDK_W_GPU_024)->path, "CUDA_VISIBLE_DEVICES");
    e = (rsdk_gpu_environment){.hip_visible_devices = "\"1,x,0\""};
    read_with(f, &e);
    assert_contains(only_problem(f, RSDK_W_GPU_024)->detail, "leaves 1 of 2 devices; \"0\" behind it is ignored");
    e = (rsdk_gpu_environment){.hip_visible_devices = "-1,0"};
    read_with(f, &e);
    assert_contains(only_problem(f, RSDK_W_GPU_024)->detail, "\"-1\" is neither a number");
}

static void marketing_names(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000, .device_id = 0x744c});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 90402, .device_id = 0x74a1, .location = 0x203});
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:01:00.0/revision", "0xc8\n");
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:02:00.0/revision", "0x00\n");
    sample_machine_file(&f->machine, "usr/share/libdrm/amdgpu.ids",
                        "# comment\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n744C,\tCC,\tAMD Radeon RX 7900 XT\n"
                        "74A1,\t00,\tAMD Instinct MI300X OAM");
    read_with(f, NULL);
    assert_string_equal(gpu_at(f, 0)->name, "AMD Radeon RX 7900 XTX");
    assert_string_equal(gpu_at(f, 1)->name, "AMD Instinct MI300X OAM"); /* partition 3 of function 0 */
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:01:00.0/revision", "0x\n");
    read_with(f, NULL);
    assert_string_equal(gpu_at(f, 0)->name, "AMD Radeon RX 7900 XTX / 7900 XT / 7900 GRE / 7900M"); /* of our table */
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:01:00.0/revision", "0x01\n");
    read_with(f, NULL);
    assert_string_equal(gpu_at(f, 0)->name, "AMD Radeon RX 7900 XTX / 7900 XT / 7900 GRE / 7900M"); /* of our table */
}

static void names_of_the_table(void **state) {
    sample_gpu_fixture *f = *state;
    for (size_t i = 1; i < rsdk_product_table_size; i++) { /* which is searched by halves */
        assert_true(rsdk_product_table[i - 1].device_id < rsdk_product_table[i].device_id);
    }
    const rsdk_product *first = &rsdk_product_table[0], *last = &rsdk_product_table[rsdk_product_table_size - 1];
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110501, .device_id = first->device_id});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 90500, .device_id = last->device_id});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 3, .version = 110000, .device_id = 0xFFFF});
    read_with(f, NULL);
    assert_string_equal(gpu_at(f, 0)->name, first->name);
    assert_string_equal(gpu_at(f, 1)->name, last->name);
    assert_string_equal(gpu_at(f, 2)->name, rsdk_target_find("gfx1100")->product);
}

static void root_with_slashes(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000});
    char root[128];
    (void)snprintf(root, sizeof root, "%s//", f->machine.root);
    rsdk_gpu_options options = {.root = root};
    assert_int_equal(rsdk_gpu_list_new(&options, &f->list, NULL), RSDK_OK);
    assert_int_equal(rsdk_gpu_list_count(f->list), 1);
    rsdk_gpu_list_free(f->list);
    /* This machine itself: whatever is in it, there is an answer. */
    assert_int_equal(rsdk_gpu_list_new(&(rsdk_gpu_options){0}, &f->list, NULL), RSDK_OK);
    assert_true(rsdk_gpu_list_count(f->list) > 0 || rsdk_gpu_list_problem_count(f->list) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_gpu_fixture_make, sample_gpu_fixture_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(no_gpu),
        TEST(all_facts),
        TEST(targets_only),
        TEST(every_row_of_the_table),
        TEST(features_and_their_variables),
        TEST(unknown_versions),
        TEST(kernels_without_gfx_target_version),
        TEST(sixty_four_gpus_in_numeric_order),
        TEST(names_that_are_no_nodes),
        TEST(left_out_nodes_are_not_counted),
        TEST(composition),
        TEST(cut_short),
        TEST(marketing_names),
        TEST(names_of_the_table),
        TEST(root_with_slashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
