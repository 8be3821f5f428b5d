/* Which GPUs a machine has where KFD has none: what the amdgpu driver found, else a guess by the PCI id. */
#include <stdio.h>

#include "gpu/gpu_list.h"
#include "gpu/tables.h"
#include "sample_topology.h"
#include "suite.h"

typedef struct fixture {
    sample_machine machine;
    rsdk_arena arena;
    rsdk_detected_gpus found;
} fixture;

static int make(void **state) {
    static fixture f;
    f = (fixture){.machine = sample_machine_new(), .arena = RSDK_ARENA_INIT};
    sample_machine_cpu(&f.machine, 0);
    *state = &f;
    return 0;
}

static int clear(void **state) {
    fixture *f = *state;
    rsdk_arena_clear(&f->arena);
    sample_machine_remove(&f->machine);
    return 0;
}

static void on_bus(const fixture *f, const char *address, const char *name, const char *text) {
    char path[128];
    (void)snprintf(path, sizeof path, "sys/bus/pci/devices/%s/%s", address, name);
    sample_machine_file(&f->machine, path, text);
}

static void gpu_on_bus(const fixture *f, const char *address, const char *device) {
    on_bus(f, address, "vendor", "0x1002\n");
    on_bus(f, address, "class", "0x038000\n");
    on_bus(f, address, "device", device);
}

static void detect(fixture *f) {
    assert_int_equal(rsdk_detection_read(f->machine.root, &f->arena, &f->found, NULL), RSDK_OK);
}

static void assert_found(const fixture *f, size_t index, const char *target, rsdk_detection_source source,
                         const char *place) {
    assert_true(index < f->found.count);
    if (target == NULL) {
        assert_null(f->found.items[index].target);
    } else {
        assert_string_equal(f->found.items[index].target, target);
    }
    assert_int_equal(f->found.items[index].source, source);
    assert_string_equal(f->found.items[index].place, place);
}

static void kfd_counts_first(void **state) {
    fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 990000});
    gpu_on_bus(f, "0000:03:00.0", "0x7480\n");
    detect(f);
    assert_int_equal(f->found.count, 2);
    assert_found(f, 0, "gfx1100", RSDK_DETECTED_BY_KFD, "node 1");
    assert_found(f, 1, NULL, RSDK_DETECTED_BY_KFD, "node 2");
}

static void driver_before_pci_id(void **state) {
    fixture *f = *state;
    gpu_on_bus(f, "0000:c1:00.0", "0x1586\n");
    gpu_on_bus(f, "0000:03:00.0", "0x7480\n");
    on_bus(f, "0000:03:00.0", "ip_discovery/die/0/GC/0/major", "11\n");
    on_bus(f, "0000:03:00.0", "ip_discovery/die/0/GC/0/minor", "0\n");
    on_bus(f, "0000:03:00.0", "ip_discovery/die/0/GC/0/revision", "3\n");
    on_bus(f, "0000:00:01.0", "vendor", "0x8086\n");
    on_bus(f, "0000:00:01.0", "class", "0x030000\n");
    detect(f);
    assert_int_equal(f->found.count, 2);
    assert_found(f, 0, "gfx1101", RSDK_DETECTED_BY_DRIVER, "0000:03:00.0");
    assert_found(f, 1, "gfx1151", RSDK_DETECTED_BY_PCI_ID, "0000:c1:00.0");
    assert_int_equal(f->found.items[1].gpu_class, RSDK_GPU_INTEGRATED);
}

static void damaged_attributes_tell_nothing(void **state) {
    static const char *const versions[] = {"", "-1\n", "256\n", "11x\n", "99999999999999999999\n"};
    fixture *f = *state;
    gpu_on_bus(f, "0000:03:00.0", "0x10000\n");
    on_bus(f, "0000:03:00.0", "ip_discovery/die/0/GC/0/minor", "0\n");
    on_bus(f, "0000:03:00.0", "ip_discovery/die/0/GC/0/revision", "0\n");
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        on_bus(f, "0000:03:00.0", "ip_discovery/die/0/GC/0/major", versions[i]);
        f->found = (rsdk_detected_gpus){0};
        detect(f);
        assert_int_equal(f->found.count, 1);
        assert_found(f, 0, NULL, RSDK_DETECTED_BY_PCI_ID, "0000:03:00.0");
    }
}

static void tables_name_known_targets_once(void **state) {
    for (size_t i = 0; i < rsdk_gc_version_table_size; i++) {
        assert_non_null(rsdk_target_find(rsdk_gc_version_table[i].target));
    }
    for (size_t i = 0; i < rsdk_pci_device_table_size; i++) {
        assert_non_null(rsdk_target_find(rsdk_pci_device_table[i].target));
        for (size_t j = 0; j < i; j++) {
            assert_true(rsdk_pci_device_table[i].last < rsdk_pci_device_table[j].first ||
                        rsdk_pci_device_table[i].first > rsdk_pci_device_table[j].last);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kfd_counts_first, make, clear),
        cmocka_unit_test_setup_teardown(driver_before_pci_id, make, clear),
        cmocka_unit_test_setup_teardown(damaged_attributes_tell_nothing, make, clear),
        cmocka_unit_test(tables_name_known_targets_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
