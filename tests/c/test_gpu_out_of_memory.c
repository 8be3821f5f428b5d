/* Out of memory in the list of GPUs: every allocation fails in turn. Each time the answer is RSDK_NO_MEMORY or what it
 * is with enough memory, and afterwards nothing is left allocated. */
#include "failing_memory.h"

#include <string.h>

#include "rocm_sdk/rocm_sdk.h"
#include "sample_topology.h"
#include "suite.h"

static int make_machine(void **state) {
    (void)sample_gpu_fixture_make(state);
    sample_gpu_fixture *f = *state;
    for (unsigned i = 1; i <= 10; i++) { /* more than an array holds at first */
        sample_machine_gpu(&f->machine, &(sample_gpu){.node = i, .version = 110000 + i, .memory = 1 << 20});
    }
    sample_machine_delete(&f->machine, "dev/dri/renderD131");
    sample_machine_delete(&f->machine, "dev/kfd");
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:01:00.0/revision", "0xc8\n");
    sample_machine_file(&f->machine, "usr/share/libdrm/amdgpu.ids", "1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n");
    return 0;
}

/* A list that is asked for, and what the answer is to be. */
typedef struct listing {
    const sample_machine *machine;
    const rsdk_gpu_environment *environment;
    rsdk_status wanted;
    size_t least; /* allocations */
} listing;

static rsdk_status make_list(void *context, rsdk_error *error) {
    const listing *l = context;
    const rsdk_gpu_options options = {.root = l->machine->root, .environment = l->environment};
    rsdk_gpu_list *list = NULL;
    rsdk_status status = rsdk_gpu_list_new(&options, &list, error);
    REQUIRE((list != NULL) == (status == RSDK_OK));
    REQUIRE(status != RSDK_OK || rsdk_gpu_list_count(list) == 10);
    rsdk_gpu_list_free(list);
    return status;
}

static void try_listing(void *context) {
    const listing *l = context;
    fail_each(make_list, context, l->wanted, l->least);
}

static void lists(void **state) {
    sample_gpu_fixture *f = *state;
    rsdk_gpu_node_override nodes[] = {{2, "9.0.10"}, {3, "1.2.3"}};
    const rsdk_gpu_environment environments[] = {{.node_overrides = nodes,
                                                  .node_override_count = 2,
                                                  .rocr_visible_devices = "0,1,2,4,x",
                                                  .hip_visible_devices = "1,0x1"},
                                                 {.hsa_override_gfx_version = "ten"},
                                                 {.rocr_visible_devices = "1,,0"},
                                                 {.hsa_override_gfx_version = "8.0.3"}};
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
        run_in_child(try_listing, &(listing){&f->machine, &environments[i], RSDK_OK, 50});
    }
}

/* A choice of the GPUs of a machine. */
typedef struct choice {
    const sample_machine *machine;
    const rsdk_gpu_environment *environment;
    const char *words;
    rsdk_status wanted;
} choice;

static rsdk_status choose(void *context, rsdk_error *error) {
    const choice *c = context;
    const rsdk_gpu_options options = {.root = c->machine->root, .environment = c->environment};
    const rsdk_gpu_selection selection = {.words = c->words, .layer = RSDK_GPU_LAYER_ROCR};
    rsdk_gpu_variable variables[RSDK_GPU_VARIABLE_LIMIT];
    rsdk_gpu_list *list = NULL;
    size_t count = 0;
    rsdk_status status = rsdk_gpu_list_new(&options, &list, error);
    const size_t of_list = allocations;
    if (status == RSDK_OK) {
        status = rsdk_gpu_list_choose(list, c->environment, &selection, variables, &count, error);
    }
    REQUIRE(status != RSDK_OK || count == 4);
    REQUIRE(status != c->wanted || allocations >= of_list + 5); /* choosing was tried */
    rsdk_gpu_list_free(list);
    return status;
}

static void try_choice(void *context) {
    fail_each(choose, context, ((const choice *)context)->wanted, 50);
}

static void choosing(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_file(&f->machine, "dev/kfd", "");
    const rsdk_gpu_environment e = {
        .hip_visible_devices = "1,0", .cuda_visible_devices = "", .gpu_device_ordinal = "0,1"};
    run_in_child(try_choice, &(choice){&f->machine, &e, "gfx11,1", RSDK_OK});
    run_in_child(try_choice, &(choice){&f->machine, &e, "9", RSDK_BAD_ARGUMENT});
}

static rsdk_status examine(void *context, rsdk_error *error) {
    const sample_gpu_fixture *f = context;
    rsdk_health *health = NULL;
    rsdk_status status = rsdk_health_new(f->list, f->machine.root, &health, error);
    REQUIRE(status == (allocations < failing ? RSDK_OK : RSDK_NO_MEMORY)); /* no failure is passed over */
    REQUIRE((health != NULL) == (status == RSDK_OK));
    rsdk_health_free(health);
    return status;
}

static void try_examining(void *context) {
    fail_each(examine, context, RSDK_OK, 100);
}

static void examining(void **state) {
    sample_gpu_fixture *f = *state;
    const rsdk_gpu_options options = {.root = f->machine.root};
    rsdk_gpu_list_free(f->list);
    f->list = NULL;
    sample_machine_file(&f->machine, "proc/cmdline", "iommu=pt\n");
    sample_machine_file(&f->machine, "proc/sys/kernel/osrelease", "6.1.0\n");
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:01:00.0/ras/gfx_err_count", "ue: 1\nce: 0\n");
    sample_machine_file(&f->machine, TOPOLOGY "/nodes/1/io_links/0/properties", "type 2\nflags 12\n");
    assert_int_equal(rsdk_gpu_list_new(&options, &f->list, &f->error), RSDK_OK);
    run_in_child(try_examining, f);
}

static void refusing(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_file(&f->machine, TOPOLOGY "/nodes/9/properties", "simd_count many\n");
    run_in_child(try_listing, &(listing){&f->machine, NULL, RSDK_IO_ERROR, 5});
}

static rsdk_status name_owner(void *context, rsdk_error *error) {
    const char *owner = NULL;
    (void)context;
    return rsdk_target_package_owner("gfx943", &owner, error);
}

static void try_unknown_name(void *context) {
    fail_each(name_owner, context, RSDK_BAD_ARGUMENT, 1);
}

static void unknown_names(void **state) {
    run_in_child(try_unknown_name, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),    cmocka_unit_test(choosing),      cmocka_unit_test(examining),
        cmocka_unit_test(refusing), cmocka_unit_test(unknown_names),
    };
    return cmocka_run_group_tests(tests, make_machine, sample_gpu_fixture_free);
}
