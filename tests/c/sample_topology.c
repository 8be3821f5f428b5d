/* Writes the files of the sample machine. */
#include "sample_topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 512, TEXT_SIZE = 4096 };

#define COHERENT_HOST_ACCESS (UINT32_C(1) << 31) /* of the property `capability` */

_Noreturn static void give_up(const char *what) {
    perror(what);
    exit(99);
}

const char *sample_machine_path(const sample_machine *machine, const char *name) {
    const char *path = rsdk_arena_format(machine->texts, "%s/%s", machine->root, name);
    if (path == NULL) {
        give_up(name);
    }
    return path;
}

void sample_machine_file(const sample_machine *machine, const char *name, const char *text) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/%s", machine->root, name);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        give_up(path);
    }
}

static void delete_tree(const char *path) {
    char command[PATH_SIZE];
    (void)snprintf(command, sizeof command, "rm -r '%s'", path);
    if (system(command) != 0) {
        give_up(command);
    }
}

void sample_machine_delete(const sample_machine *machine, const char *name) {
    delete_tree(sample_machine_path(machine, name));
}

sample_machine sample_machine_new(void) {
    sample_machine machine = {.root = "/tmp/rocm-sdk-gpu-test-XXXXXX", .texts = calloc(1, sizeof *machine.texts)};
    if (machine.texts == NULL || mkdtemp(machine.root) == NULL || chmod(machine.root, 0755) != 0) {
        give_up(machine.root);
    }
    sample_machine_file(&machine, "sys/module/amdgpu/initstate", "live\n");
    sample_machine_file(&machine, TOPOLOGY "/generation_id", "2\n");
    sample_machine_file(&machine, TOPOLOGY "/nodes/.keep", "");
    sample_machine_file(&machine, "dev/kfd", "");
    return machine;
}

void sample_machine_remove(const sample_machine *machine) {
    delete_tree(machine->root);
    rsdk_arena_clear(machine->texts);
    free(machine->texts);
}

/* What we do not read, but every node has. */
static void write_directories(const sample_machine *machine, unsigned node) {
    static const char *const names[] = {"caches/0/properties", "io_links/.keep", "p2p_links/.keep"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[PATH_SIZE];
        (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/%u/%s", node, names[i]);
        sample_machine_file(machine, name, i == 0 ? "processor_id_low 2147487744\nlevel 1\nsize 32\n" : "");
    }
}

void sample_machine_cpu(const sample_machine *machine, unsigned node) {
    char name[PATH_SIZE];
    (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/%u/gpu_id", node);
    sample_machine_file(machine, name, "0\n");
    (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/%u/properties", node);
    sample_machine_file(machine, name,
                        "cpu_cores_count 16\nsimd_count 0\nmem_banks_count 1\ncaches_count 1\nio_links_count 0\n"
                        "simd_id_base 0\ngfx_target_version 0\nvendor_id 2\ndevice_id 0\nlocation_id 0\n"
                        "drm_render_minor 0\nmax_engine_clk_ccompute 4500\n");
    write_directories(machine, node);
}

static void write_bank(const sample_machine *machine, unsigned node, unsigned bank, unsigned heap_type, uint64_t size) {
    char name[PATH_SIZE], text[TEXT_SIZE];
    (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/%u/mem_banks/%u/properties", node, bank);
    (void)snprintf(text, sizeof text, "heap_type %u\nsize_in_bytes %" PRIu64 "\nflags 0\nwidth 384\nmem_clk_max 1249\n",
                   heap_type, size);
    sample_machine_file(machine, name, text);
}

void sample_machine_gpu(const sample_machine *machine, const sample_gpu *gpu) {
    char name[PATH_SIZE], text[TEXT_SIZE];
    unsigned node = gpu->node, render_minor = gpu->render_minor != 0 ? gpu->render_minor : 128 + node;
    (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/%u/gpu_id", node);
    (void)snprintf(text, sizeof text, "%u\n", 40000 + node);
    sample_machine_file(machine, name, text);
    (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/%u/properties", node);
    int length = snprintf(text, sizeof text,
                          "cpu_cores_count %u\nsimd_count 192\nmem_banks_count 3\ncaches_count 206\nio_links_count 0\n"
                          "simd_id_base 2147487744\nsimd_per_cu 2\nvendor_id 4098\n"
                          "device_id %u\nlocation_id %u\ndomain %u\ndrm_render_minor %u\nhive_id %" PRIu64
                          "\nlocal_mem_size 0\ncapability %u\nunique_id %" PRIu64 "\nmax_engine_clk_ccompute 4500\n",
                          gpu->cpu_cores, gpu->device_id != 0 ? gpu->device_id : 0x744c,
                          gpu->location != 0 ? gpu->location : node << 8, gpu->domain, render_minor, gpu->hive_id,
                          gpu->capability | COHERENT_HOST_ACCESS, gpu->unique_id);
    if (gpu->version != 0) {
        length += snprintf(text + length, sizeof text - (size_t)length, "gfx_target_version %u\n", gpu->version);
    }
    if (gpu->num_xcc != 0) {
        (void)snprintf(text + length, sizeof text - (size_t)length, "num_xcc %u\n", gpu->num_xcc);
    }
    sample_machine_file(machine, name, text);
    write_bank(machine, node, 0, 1, gpu->memory / 4);
    write_bank(machine, node, 1, 2, gpu->memory - gpu->memory / 4);
    write_bank(machine, node, 2, 4, 65536); /* LDS is not memory */
    (void)snprintf(name, sizeof name, "dev/dri/renderD%u", render_minor);
    sample_machine_file(machine, name, "");
}

int sample_gpu_fixture_make(void **state) {
    sample_gpu_fixture *f = calloc(1, sizeof *f);
    if (f == NULL) {
        give_up("a fixture");
    }
    f->machine = sample_machine_new();
    sample_machine_cpu(&f->machine, 0);
    *state = f;
    return 0;
}

int sample_gpu_fixture_free(void **state) {
    sample_gpu_fixture *f = *state;
    rsdk_gpu_list_free(f->list);
    rsdk_error_clear(&f->error);
    sample_machine_remove(&f->machine);
    free(f);
    return 0;
}
