#include "listed_gpus.h"

#include <string.h>

#include "suite.h"

void read_with(sample_gpu_fixture *f, const rsdk_gpu_environment *environment) {
    rsdk_gpu_options options = {.root = f->machine.root, .environment = environment};
    rsdk_gpu_list_free(f->list);
    if (rsdk_gpu_list_new(&options, &f->list, &f->error) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&f->error));
    }
}

const rsdk_gpu *gpu_at(sample_gpu_fixture *f, size_t index) {
    const rsdk_gpu *gpu = rsdk_gpu_list_get(f->list, index);
    assert_non_null(gpu);
    return gpu;
}

const rsdk_gpu *only_gpu(sample_gpu_fixture *f, const rsdk_gpu_environment *environment) {
    read_with(f, environment);
    assert_int_equal(rsdk_gpu_list_count(f->list), 1);
    return gpu_at(f, 0);
}

void assert_contains(const char *text, const char *part) {
    if (text == NULL || strstr(text, part) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", part, text != NULL ? text : "(none)");
    }
}

const rsdk_gpu_problem *only_problem(sample_gpu_fixture *f, rsdk_code code) {
    assert_int_equal(rsdk_gpu_list_problem_count(f->list), 1);
    assert_int_equal(rsdk_gpu_list_problem(f->list, 0)->code, code);
    return rsdk_gpu_list_problem(f->list, 0);
}

void make_mixed_machine(sample_gpu_fixture *f) {
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 100301, .unique_id = 0x1111});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 100306, .cpu_cores = 8});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 3, .version = 110000, .unique_id = 0x3333});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 4, .version = 110002, .unique_id = 0x4444});
    sample_machine_delete(&f->machine, "dev/dri/renderD131");
}
