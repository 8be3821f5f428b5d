/* What keeps a user from a GPU: driver, device files, permissions, WSL2. Refusals are tried as an
 * unprivileged user in a child. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "child_process.h"
#include "problem_text.h"
#include "rocm_sdk/rocm_sdk.h"
#include "sample_topology.h"
#include "suite.h"

enum { RENDER_GROUP = 993 };

static int make_machine(void **state) {
    (void)sample_gpu_fixture_make(state);
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 110001});
    return 0;
}

static rsdk_status try_to_read(sample_gpu_fixture *f, const rsdk_gpu_environment *environment) {
    rsdk_gpu_list_free(f->list);
    return rsdk_gpu_list_new(&(rsdk_gpu_options){.root = f->machine.root, .environment = environment}, &f->list,
                             &f->error);
}

static const rsdk_gpu_problem *problem_at(sample_gpu_fixture *f, size_t index, rsdk_code code) {
    const rsdk_gpu_problem *problem = rsdk_gpu_list_problem(f->list, index);
    assert_non_null(problem);
    assert_int_equal(problem->code, code);
    assert_null(strchr(problem->detail, '\n'));
    assert_null(strchr(problem_fix_of_gpu(problem), '\n'));
    return problem;
}

static void only_problem(sample_gpu_fixture *f, rsdk_code code) {
    assert_int_equal(try_to_read(f, NULL), RSDK_OK);
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 1);
    (void)problem_at(f, 0, code);
}

static void driver(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_delete(&f->machine, TOPOLOGY);
    only_problem(f, RSDK_W_GPU_013);
    sample_machine_file(&f->machine, "sys/module/amdgpu/initstate", "going\n");
    only_problem(f, RSDK_W_GPU_012);
    sample_machine_delete(&f->machine, "sys/module/amdgpu/initstate"); /* built into the kernel */
    only_problem(f, RSDK_W_GPU_013);
    sample_machine_delete(&f->machine, "sys/module/amdgpu");
    only_problem(f, RSDK_N_GPU_011); /* no GPU of AMD is on the bus */
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086\n");
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:03:00.1/vendor", "0x1002\n");
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:03:00.1/class", "0x040300\n");
    only_problem(f, RSDK_N_GPU_011); /* the sound device of a GPU is not a GPU */
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
    sample_machine_file(&f->machine, "sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n");
    only_problem(f, RSDK_W_GPU_010);
    assert_non_null(strstr(problem_fix_of_gpu(rsdk_gpu_list_problem(f->list, 0)), "modprobe amdgpu"));
    sample_machine_delete(&f->machine, "sys");
    only_problem(f, RSDK_N_GPU_011);
}

static void container_without_devices(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_delete(&f->machine, "dev");
    assert_int_equal(try_to_read(f, NULL), RSDK_OK);
    assert_int_equal(rsdk_gpu_list_count(f->list), 2);
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 3);
    assert_non_null(strstr(problem_fix_of_gpu(problem_at(f, 0, RSDK_W_GPU_016)), "--device=/dev/kfd"));
    assert_int_equal(problem_at(f, 1, RSDK_W_GPU_018)->node, 1);
    const rsdk_gpu_problem *second = problem_at(f, 2, RSDK_W_GPU_018);
    assert_int_equal(second->node, 2);
    assert_string_equal(second->path, sample_machine_path(&f->machine, "dev/dri/renderD130"));
    assert_int_equal(rsdk_gpu_list_get(f->list, 0)->hip_index, -1);
    assert_false(rsdk_gpu_list_get(f->list, 0)->is_usable);
}

static void no_kfd_device(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_delete(&f->machine, "dev/kfd");
    only_problem(f, RSDK_W_GPU_016);
    assert_int_equal(rsdk_gpu_list_get(f->list, 1)->hip_index, 1); /* what it will be with the device */
    assert_non_null(strstr(rsdk_gpu_list_get(f->list, 1)->why_not, "/dev/kfd: missing"));
}

static void gpu_without_render_node(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_file(&f->machine, TOPOLOGY "/nodes/1/properties", "simd_count 4\ngfx_target_version 110000\n");
    only_problem(f, RSDK_W_GPU_018);
    assert_null(rsdk_gpu_list_get(f->list, 0)->render_node);
    assert_int_equal(rsdk_gpu_list_get(f->list, 0)->render_minor, 0);
    /* ROCm gives up then, so the other GPU cannot be used either. */
    assert_non_null(strstr(rsdk_gpu_list_get(f->list, 1)->why_not, "node 1 no render node"));
    sample_machine_file(&f->machine, TOPOLOGY "/nodes/1/properties",
                        "simd_count 4\ngfx_target_version 110000\ndrm_render_minor 4294967295\n");
    only_problem(f, RSDK_W_GPU_018);
}

/* A device of a group, with a mode. */
static void protect(sample_gpu_fixture *f, const char *device, gid_t group, mode_t mode) {
    const char *path = sample_machine_path(&f->machine, device);
    need_root();
    assert_true(chown(path, 0, group) == 0 && chmod(path, mode) == 0);
}

static void read_as_nobody(void *context) {
    sample_gpu_fixture *f = context;
    become_nobody();
    REQUIRE(try_to_read(f, NULL) == RSDK_OK);
    REQUIRE(rsdk_gpu_list_count(f->list) == 2);
    REQUIRE(rsdk_gpu_list_problem_count(f->list) == 2);
    const rsdk_gpu_problem *kfd = rsdk_gpu_list_problem(f->list, 0), *render = rsdk_gpu_list_problem(f->list, 1);
    REQUIRE(kfd->code == RSDK_W_GPU_017 && kfd->node == -1);
    REQUIRE_CONTAINS(kfd->detail, "belongs to group render (993), mode 0660");
    REQUIRE_CONTAINS(problem_fix_of_gpu(kfd), "usermod -aG render \"$USER\"");
    REQUIRE(render->code == RSDK_W_GPU_019 && render->node == 2);
    REQUIRE_CONTAINS(render->detail, "belongs to group (without name) (994)");
    REQUIRE_CONTAINS(problem_fix_of_gpu(render), "--group-add 994");
    const rsdk_gpu *first = rsdk_gpu_list_get(f->list, 0), *second = rsdk_gpu_list_get(f->list, 1);
    REQUIRE_CONTAINS(first->why_not, "/dev/kfd");
    REQUIRE_CONTAINS(second->why_not, "renderD130");
    REQUIRE(first->hip_index == 0 && second->hip_index == 1 && !first->is_usable);
    rsdk_gpu_list_free(f->list);
}

static void devices_of_a_group(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_file(&f->machine, "etc/group", "root:x:0:\nbroken\nx:y\n:::\nrend:x:99:a,b\nrender:x:993:\n");
    protect(f, "dev/kfd", RENDER_GROUP, 0660);
    protect(f, "dev/dri/renderD129", 0, 0666);
    protect(f, "dev/dri/renderD130", RENDER_GROUP + 1, 0660);
    run_in_child(read_as_nobody, f);
}

static void read_without_group_rights(void *context) {
    sample_gpu_fixture *f = context;
    become_nobody();
    REQUIRE(try_to_read(f, NULL) == RSDK_OK);
    const rsdk_gpu_problem *kfd = rsdk_gpu_list_problem(f->list, 0);
    REQUIRE(kfd->code == RSDK_W_GPU_017);
    REQUIRE_CONTAINS(kfd->detail, "mode 0600");
    REQUIRE_CONTAINS(problem_fix_of_gpu(kfd), "mode 0660");
    rsdk_gpu_list_free(f->list);
}

static void device_without_group_rights(void **state) {
    sample_gpu_fixture *f = *state;
    protect(f, "dev/kfd", RENDER_GROUP, 0600);
    run_in_child(read_without_group_rights, f);
}

static void read_closed_directory(void *context) {
    sample_gpu_fixture *f = context;
    become_nobody();
    REQUIRE(try_to_read(f, NULL) == RSDK_OK);
    REQUIRE_CONTAINS(rsdk_gpu_list_problem(f->list, 0)->detail, "may not search its directory");
    rsdk_gpu_list_free(f->list);
}

static void closed_device_directory(void **state) {
    sample_gpu_fixture *f = *state;
    protect(f, "dev", 0, 0700);
    run_in_child(read_closed_directory, f);
}

static void read_closed_topology(void *context) {
    sample_gpu_fixture *f = context;
    become_nobody();
    REQUIRE(try_to_read(f, NULL) == RSDK_IO_ERROR);
    REQUIRE_CONTAINS(rsdk_error_message(&f->error), "nodes/1/properties: cannot be read: Permission denied");
    rsdk_error_clear(&f->error);
}

static void unreadable_topology(void **state) {
    sample_gpu_fixture *f = *state;
    protect(f, TOPOLOGY "/nodes/1/properties", 0, 0600);
    run_in_child(read_closed_topology, f);
}

/* The numbers of /dev/kfd against those of /proc/devices, where a file of the system says that this is LXC. */
static void numbers_of_another_driver(void **state) {
    sample_gpu_fixture *f = *state;
    const char *kfd = sample_machine_path(&f->machine, "dev/kfd");
    sample_machine_file(&f->machine, "proc/devices",
                        "Character devices:\n  1 mem\n234 kfd\n\nBlock devices:\n  7 kfd\n");
    assert_int_equal(try_to_read(f, NULL), RSDK_OK);
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 0); /* a plain file stands for the device */
    assert_int_equal(unlink(kfd), 0);
    if (mknod(kfd, S_IFCHR | 0666, makedev(7, 0)) != 0) {
        (void)fprintf(stderr, "skipped: root may make no device files here\n");
        skip();
    }
    only_problem(f, RSDK_W_GPU_017);
    assert_non_null(strstr(rsdk_gpu_list_problem(f->list, 0)->detail, "its numbers are 7:0, and kfd has 234:0"));
    assert_non_null(strstr(problem_fix_of_gpu(rsdk_gpu_list_problem(f->list, 0)), "mknod"));
    sample_machine_file(&f->machine, "run/systemd/container", "lxc");
    only_problem(f, RSDK_W_GPU_017);
    assert_non_null(strstr(problem_fix_of_gpu(rsdk_gpu_list_problem(f->list, 0)), "allow = c 234:0 rwm"));
}

/* What an open has answered counts, and not what faccessat says. */
static void answer_of_an_open(void **state) {
    sample_gpu_fixture *f = *state;
    rsdk_gpu_options options = {.root = f->machine.root, .refusal = EINVAL};
    options.refused = sample_machine_path(&f->machine, "dev/kfd");
    assert_int_equal(rsdk_gpu_list_new(&options, &f->list, &f->error), RSDK_OK);
    assert_non_null(strstr(problem_at(f, 0, RSDK_W_GPU_017)->detail, "cannot be opened: Invalid argument"));
    assert_false(rsdk_gpu_list_get(f->list, 0)->is_usable);
    rsdk_gpu_list_free(f->list);
    options.refused = sample_machine_path(&f->machine, "dev/dri/renderD130");
    options.refusal = EPERM;
    assert_int_equal(rsdk_gpu_list_new(&options, &f->list, &f->error), RSDK_OK);
    assert_int_equal(rsdk_gpu_list_problem(f->list, 0)->code, RSDK_N_GPU_037); /* it has no fix: it is meant */
    assert_true(rsdk_gpu_list_get(f->list, 0)->is_usable);
    assert_false(rsdk_gpu_list_get(f->list, 1)->is_usable);
}

static void wsl2(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_delete(&f->machine, "sys");
    sample_machine_file(&f->machine, "dev/dxg", "");
    assert_int_equal(try_to_read(f, NULL), RSDK_OK);
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 3);
    (void)problem_at(f, 0, RSDK_W_GPU_020);
    (void)problem_at(f, 1, RSDK_W_GPU_022);
    (void)problem_at(f, 2, RSDK_W_GPU_023);
    sample_machine_file(&f->machine, "usr/lib/wsl/lib/libdxcore.so", "");
    assert_int_equal(try_to_read(f, &(rsdk_gpu_environment){.hsa_enable_dxg_detection = "1"}), RSDK_OK);
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 1);
    assert_non_null(strstr(problem_at(f, 0, RSDK_W_GPU_020)->detail, "supports WSL"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_machine, sample_gpu_fixture_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(driver),
        TEST(container_without_devices),
        TEST(no_kfd_device),
        TEST(gpu_without_render_node),
        TEST(devices_of_a_group),
        TEST(device_without_group_rights),
        TEST(closed_device_directory),
        TEST(unreadable_topology),
        TEST(numbers_of_another_driver),
        TEST(answer_of_an_open),
        TEST(wsl2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
