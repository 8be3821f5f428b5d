/* Out of memory in the list of GPUs: every allocation fails in turn. Each time the answer is RSDK_NO_MEMORY or what it
 * is with enough memory, and afterwards nothing is left allocated. The layer below the GPUs allocates all of it, so
 * that layer is compiled anew here: with an allocator that fails, and with an arena in which every piece is an
 * allocation of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t allocations, failing; /* number `failing` fails; 0: none */
static ptrdiff_t live;              /* blocks that are not freed yet */

static bool may_allocate(void) {
    return failing == 0 || ++allocations != failing;
}

static void *counted(void *block) {
    live += block != NULL;
    return block;
}

static void *failing_malloc(size_t size) {
    return may_allocate() ? counted(malloc(size)) : NULL;
}

static void *failing_realloc(void *block, size_t size) {
    if (!may_allocate()) {
        return NULL;
    }
    live -= block != NULL;
    return counted(realloc(block, size));
}

static char *failing_strdup(const char *text) {
    return may_allocate() ? counted(strdup(text)) : NULL;
}

static void counted_free(void *block) {
    live -= block != NULL;
    free(block);
}

__attribute__((format(printf, 2, 0))) static int failing_vasprintf(char **text, const char *format, va_list arguments) {
    if (!may_allocate()) {
        return -1;
    }
    int length = vasprintf(text, format, arguments);
    live += length >= 0;
    return length;
}

#define RSDK_ARENA_BLOCK_SIZE 1
#define malloc                failing_malloc
#define realloc               failing_realloc
#define free                  counted_free
#undef strdup
#define strdup    failing_strdup
#define vasprintf failing_vasprintf
#include "base/arena.c" /* NOLINT(bugprone-suspicious-include) */
#include "base/fail.c"  /* NOLINT(bugprone-suspicious-include) */
#include "base/text.c"  /* NOLINT(bugprone-suspicious-include) */
#undef malloc
#undef realloc
#undef free
#undef strdup
#undef vasprintf

#include "rocm_sdk/rocm_sdk.h"
#include "sample_topology.h"

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

/* One attempt with allocation number `number` failing; returns whether there was such an allocation. */
static bool attempt(sample_gpu_fixture *f, const rsdk_gpu_environment *environment, size_t number, rsdk_status wanted) {
    rsdk_gpu_options options = {.root = f->machine.root, .environment = environment};
    rsdk_gpu_list *list = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    const ptrdiff_t before = live;
    allocations = 0;
    failing = number;
    rsdk_status status = rsdk_gpu_list_new(&options, &list, &error);
    bool has_failed = allocations >= failing;
    failing = 0;
    assert_true(status == wanted || (has_failed && status == RSDK_NO_MEMORY));
    assert_int_equal(error.status, status);
    assert_int_equal(list != NULL, status == RSDK_OK);
    if (status == RSDK_OK) {
        assert_int_equal(rsdk_gpu_list_count(list), 10);
    }
    rsdk_error_clear(&error);
    rsdk_gpu_list_free(list);
    assert_int_equal(live, before);
    return has_failed;
}

static void try_all(sample_gpu_fixture *f, const rsdk_gpu_environment *environment, rsdk_status wanted,
                    size_t at_least) {
    size_t number = 1;
    while (attempt(f, environment, number, wanted)) {
        number++;
    }
    if (number <= at_least) {
        fail_msg("only %zu allocations", number);
    }
}

static void listing(void **state) {
    sample_gpu_fixture *f = *state;
    rsdk_gpu_node_override nodes[] = {{2, "9.0.10"}, {3, "1.2.3"}};
    rsdk_gpu_environment e = {.node_overrides = nodes,
                              .node_override_count = 2,
                              .rocr_visible_devices = "0,1,2,4,x",
                              .hip_visible_devices = "1,0x1"};
    try_all(f, &e, RSDK_OK, 50);
    e = (rsdk_gpu_environment){.hsa_override_gfx_version = "ten"};
    try_all(f, &e, RSDK_OK, 50);
    e = (rsdk_gpu_environment){.rocr_visible_devices = "1,,0"};
    try_all(f, &e, RSDK_OK, 50);
    e = (rsdk_gpu_environment){.hsa_override_gfx_version = "8.0.3"};
    try_all(f, &e, RSDK_OK, 50);
}

/* Choosing, with allocation number `failing` failing; true if there was such an allocation. */
static bool attempt_choice(rsdk_gpu_list *list, const rsdk_gpu_environment *environment, const char *words,
                           rsdk_status wanted, size_t number) {
    const rsdk_gpu_selection selection = {.words = words, .layer = RSDK_GPU_LAYER_ROCR};
    rsdk_gpu_variable variables[RSDK_GPU_VARIABLE_LIMIT];
    rsdk_error error = RSDK_ERROR_INIT;
    size_t count = 0;
    allocations = 0;
    failing = number;
    rsdk_status status = rsdk_gpu_list_choose(list, environment, &selection, variables, &count, &error);
    bool has_failed = allocations >= failing;
    failing = 0;
    assert_true(status == wanted || (has_failed && status == RSDK_NO_MEMORY));
    assert_true(status != RSDK_OK || count == 4);
    rsdk_error_clear(&error);
    return has_failed;
}

static void choosing(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_file(&f->machine, "dev/kfd", "");
    const rsdk_gpu_environment e = {
        .hip_visible_devices = "1,0", .cuda_visible_devices = "", .gpu_device_ordinal = "0,1"};
    const rsdk_gpu_options options = {.root = f->machine.root, .environment = &e};
    assert_int_equal(rsdk_gpu_list_new(&options, &f->list, &f->error), RSDK_OK);
    size_t number = 1;
    while (attempt_choice(f->list, &e, "gfx11,1", RSDK_OK, number)) {
        number++;
    }
    assert_true(number > 5);
    for (number = 1; attempt_choice(f->list, &e, "9", RSDK_BAD_ARGUMENT, number);) {
        number++;
    }
    assert_true(number > 5);
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
    bool has_failed = true;
    for (size_t number = 1; has_failed; number++) {
        rsdk_health *health = NULL;
        rsdk_error error = RSDK_ERROR_INIT;
        const ptrdiff_t before = live;
        allocations = 0;
        failing = number;
        rsdk_status status = rsdk_health_new(f->list, f->machine.root, &health, &error);
        has_failed = allocations >= failing;
        failing = 0;
        assert_int_equal(status, has_failed ? RSDK_NO_MEMORY : RSDK_OK);
        assert_int_equal(health != NULL, !has_failed);
        rsdk_error_clear(&error);
        rsdk_health_free(health);
        assert_int_equal(live, before);
        assert_true(has_failed || number > 100);
    }
}

static void refusing(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_file(&f->machine, TOPOLOGY "/nodes/9/properties", "simd_count many\n");
    try_all(f, NULL, RSDK_IO_ERROR, 5);
}

static void unknown_names(void **state) {
    (void)state;
    const char *owner = NULL;
    for (size_t number = 1; number < 10; number++) {
        rsdk_error error = RSDK_ERROR_INIT;
        const ptrdiff_t before = live;
        allocations = 0;
        failing = number;
        rsdk_status status = rsdk_target_package_owner("gfx943", &owner, &error);
        failing = 0;
        assert_true(status == RSDK_BAD_ARGUMENT || status == RSDK_NO_MEMORY);
        rsdk_error_clear(&error);
        assert_int_equal(live, before);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing),  cmocka_unit_test(choosing),      cmocka_unit_test(examining),
        cmocka_unit_test(refusing), cmocka_unit_test(unknown_names),
    };
    return cmocka_run_group_tests(tests, make_machine, sample_gpu_fixture_free);
}
