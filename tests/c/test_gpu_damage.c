/* Trees that no kernel has made, and those that change while they are read: a clear result, or an error that names the
 * file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problem_text.h"
#include "rocm_sdk/rocm_sdk.h"
#include "sample_topology.h"
#include "suite.h"

#define NODE_1 TOPOLOGY "/nodes/1"

static int make_machine(void **state) {
    (void)sample_gpu_fixture_make(state);
    sample_gpu_fixture *f = *state;
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000, .memory = 1 << 20});
    sample_machine_gpu(&f->machine, &(sample_gpu){.node = 2, .version = 110001, .memory = 1 << 20});
    return 0;
}

static rsdk_status try_to_read(sample_gpu_fixture *f) {
    rsdk_gpu_list_free(f->list);
    rsdk_error_clear(&f->error);
    return rsdk_gpu_list_new(&(rsdk_gpu_options){.root = f->machine.root}, &f->list, &f->error);
}

/* The error names `file` and says `what`. */
static void assert_refused(sample_gpu_fixture *f, const char *file, const char *what) {
    rsdk_status status = try_to_read(f);
    assert_null(f->list);
    if (status == RSDK_OK || strstr(f->error.message, sample_machine_path(&f->machine, file)) != f->error.message ||
        strstr(f->error.message, what) == NULL) {
        fail_msg("%s: status %d, \"%s\"", what, status, rsdk_error_message(&f->error));
    }
    assert_int_equal(f->error.status, status);
    assert_non_null(f->error.path);
    assert_int_not_equal(rsdk_gpu_list_new(&(rsdk_gpu_options){.root = f->machine.root}, &f->list, NULL), RSDK_OK);
}

static void assert_count(sample_gpu_fixture *f, size_t count) {
    if (try_to_read(f) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&f->error));
    }
    assert_int_equal(rsdk_gpu_list_count(f->list), count);
}

static void damaged_properties(void **state) {
    sample_gpu_fixture *f = *state;
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"", "is empty, it lacks simd_count"},
        {"gfx_target_version 110000\n", "lacks simd_count"},
        {"simd_count 192\ngfx_target_version 1100", "is truncated in line 2"},
        {"simd_count 19", "is truncated in line 1"},
        {"simd_count -1\n", "line 1: simd_count is not a number"},
        {"simd_count\n", "line 1: simd_count is not a number"},
        {"simd_count 4 4\n", "line 1: simd_count is not a number"},
        {"simd_count 0x4\n", "line 1: simd_count is not a number"},
        {"simd_count 4\nunique_id 18446744073709551616\n",
         "line 2: unique_id is not a number from 0 to 1844674407370955"},
        {"simd_count 4\nhive_id 99999999999999999999999999\n", "line 2: hive_id"},
        {"simd_count 4\ngfx_target_version 4294967296\n", "line 2: gfx_target_version"},
        {"unique_id 18446744073709551615\nsimd_count 4\nhive_id 18446744073709551625\n", "line 3: hive_id"},
        {"simd_count 4\nnum_xcc 1 \t\nsimd_count\tx\n", "line 3: simd_count is not a number"},
        {"simd_count 4\nmem_banks_count 65\n", "mem_banks_count is not a number from 0 to 64"},
        {"\x7f\x45\x4c\x46\x01\x02\xff\xfe\n\n\n", "lacks simd_count"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_machine_file(&f->machine, NODE_1 "/properties", cases[i].text);
        assert_refused(f, NODE_1 "/properties", cases[i].what);
    }
    static const char nul_bytes[] = "simd_count\0\0\0\0\0 1\n";
    FILE *file = fopen(sample_machine_path(&f->machine, NODE_1 "/properties"), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(nul_bytes, sizeof nul_bytes - 1, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    assert_refused(f, NODE_1 "/properties", "lacks simd_count");
    sample_machine_file(&f->machine, NODE_1 "/properties",
                        "new_key -1 2 three\n\nsimd_count \t 4 \nsimd_per_cu\t2\nsimd_counter x\nsimd_coun y\n"
                        "gfx_target_version 110000\ndrm_render_minor 129\n");
    assert_count(f, 2);
    assert_string_equal(rsdk_gpu_list_get(f->list, 0)->target, "gfx1100");
    assert_int_equal(rsdk_gpu_list_get(f->list, 0)->compute_units, 2);
}

static void files_of_ten_megabytes(void **state) {
    sample_gpu_fixture *f = *state;
    static const char *const names[] = {NODE_1 "/properties", NODE_1 "/gpu_id", NODE_1 "/mem_banks/0/properties",
                                        TOPOLOGY "/generation_id"};
    char *text = malloc(10000001);
    assert_non_null(text);
    memset(text, '1', 10000000);
    text[10000000] = '\0';
    for (size_t i = 4; i-- > 0;) {
        sample_machine_gpu(&f->machine, &(sample_gpu){.node = 1, .version = 110000, .memory = 1 << 20});
        sample_machine_file(&f->machine, TOPOLOGY "/generation_id", "2\n");
        sample_machine_file(&f->machine, names[i], text);
        assert_refused(f, names[i], "File too large");
    }
    free(text);
}

static void other_damaged_files(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_file(&f->machine, NODE_1 "/gpu_id", "x\n");
    assert_refused(f, NODE_1 "/gpu_id", "does not hold a number");
    sample_machine_file(&f->machine, NODE_1 "/gpu_id", "1\n");
    sample_machine_file(&f->machine, NODE_1 "/mem_banks/1/properties", "heap_type 1\n");
    assert_refused(f, NODE_1 "/mem_banks/1/properties", "lacks size_in_bytes");
    sample_machine_file(&f->machine, NODE_1 "/mem_banks/1/properties",
                        "heap_type 2\nsize_in_bytes 18446744073709551615\n");
    assert_refused(f, NODE_1 "/mem_banks/1/properties", "too large for defined data type");
    sample_machine_delete(&f->machine, NODE_1 "/mem_banks/1");
    assert_refused(f, NODE_1 "/mem_banks/1/properties", "No such file");
    assert_int_equal(try_to_read(f), RSDK_FILE_NOT_FOUND);
    sample_machine_file(&f->machine, TOPOLOGY "/generation_id", "");
    assert_refused(f, TOPOLOGY "/generation_id", "does not hold a number");
    sample_machine_delete(&f->machine, TOPOLOGY "/generation_id");
    assert_refused(f, TOPOLOGY "/generation_id", "No such file");
}

static void wrong_kinds_of_files(void **state) {
    sample_gpu_fixture *f = *state;
    const char *properties = sample_machine_path(&f->machine, NODE_1 "/properties");
    sample_machine_delete(&f->machine, NODE_1 "/properties");
    assert_refused(f, NODE_1 "/properties", "No such file");
    assert_int_equal(symlink("properties", properties), 0);
    assert_refused(f, NODE_1 "/properties", "Too many levels of symbolic links");
    assert_int_equal(unlink(properties), 0);
    assert_int_equal(mkfifo(properties, 0644), 0);
    assert_refused(f, NODE_1 "/properties", "is empty");
    assert_int_equal(unlink(properties), 0);
    assert_int_equal(mkdir(properties, 0755), 0);
    assert_refused(f, NODE_1 "/properties", "Is a directory");
    sample_machine_delete(&f->machine, NODE_1);
    sample_machine_file(&f->machine, NODE_1, "a file\n");
    assert_refused(f, NODE_1 "/properties", "Not a directory");
    sample_machine_delete(&f->machine, TOPOLOGY "/nodes");
    assert_refused(f, TOPOLOGY "/nodes", "No such file");
    sample_machine_file(&f->machine, TOPOLOGY "/nodes", "a file\n");
    assert_refused(f, TOPOLOGY "/nodes", "Not a directory");
    sample_machine_delete(&f->machine, TOPOLOGY);
    assert_count(f, 0);
    sample_machine_file(&f->machine, TOPOLOGY, "a file\n");
    assert_count(f, 0);
    sample_machine_delete(&f->machine, TOPOLOGY);
    assert_int_equal(symlink("topology", sample_machine_path(&f->machine, TOPOLOGY)), 0);
    assert_refused(f, TOPOLOGY, "Too many levels of symbolic links");
}

static void too_many_nodes(void **state) {
    sample_gpu_fixture *f = *state;
    sample_machine_cpu(&f->machine, 0);
    for (unsigned i = 3; i < 1024; i++) { /* 1 and 2 are there */
        sample_machine_cpu(&f->machine, i);
    }
    assert_count(f, 2);
    sample_machine_cpu(&f->machine, 1024);
    assert_refused(f, TOPOLOGY "/nodes", "has more than 1024 nodes");
    assert_int_equal(f->error.code, RSDK_E_GPU_007);
}

static void too_many_names(void **state) {
    sample_gpu_fixture *f = *state;
    for (unsigned i = 0; i < 9000; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, TOPOLOGY "/nodes/x%u", i);
        int descriptor = open(sample_machine_path(&f->machine, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_true(descriptor >= 0);
        (void)close(descriptor);
    }
    assert_refused(f, TOPOLOGY "/nodes", "has more than 1024 nodes");
}

/* ---- the device cgroup ---- */

/* Runs this program under strace, which lets reads of a file fail with EPERM as the kernel does it; the program prints
 * what is asserted here. */
static void assert_hidden(sample_gpu_fixture *f, const char *file, const char *wanted) {
    char command[1024], self[256] = "", line[256] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    (void)snprintf(command, sizeof command,
                   "ASAN_OPTIONS=detect_leaks=0 strace -qq -o /dev/null -P '%s' -e trace=read "
                   "-e inject=read:error=EPERM '%s' %s",
                   sample_machine_path(&f->machine, file), self, f->machine.root);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    (void)fgets(line, sizeof line, output);
    (void)pclose(output);
    assert_string_equal(line, wanted);
}

static int print_list(sample_gpu_fixture *f, const char *root) {
    rsdk_gpu_node_override node = {1, "9.4.2"}; /* the second node that is not hidden */
    rsdk_gpu_environment e = {.node_overrides = &node, .node_override_count = 1};
    if (rsdk_gpu_list_new(&(rsdk_gpu_options){.root = root, .environment = &e}, &f->list, &f->error) != RSDK_OK) {
        (void)printf("%s\n", rsdk_error_message(&f->error));
        return 1;
    }
    (void)printf("%zu hidden", rsdk_gpu_list_hidden_count(f->list));
    for (size_t i = 0; i < rsdk_gpu_list_count(f->list); i++) {
        const rsdk_gpu *gpu = rsdk_gpu_list_get(f->list, i);
        (void)printf(", node %u %s hip %d", gpu->node, gpu->processor, gpu->hip_index);
    }
    for (size_t i = 0; i < rsdk_gpu_list_problem_count(f->list); i++) {
        (void)printf(", %s", rsdk_code_name(rsdk_gpu_list_problem(f->list, i)->code));
    }
    (void)printf("\n");
    rsdk_gpu_list_free(f->list);
    return 0;
}

static void nodes_hidden_by_the_device_cgroup(void **state) {
    sample_gpu_fixture *f = *state;
    if (system("strace -qq -o /dev/null true 2>/dev/null") != 0) {
        (void)fprintf(stderr, "skipped: strace, which injects the refusal, is not there or may not trace\n");
        skip();
    }
    static const char wanted[] = "1 hidden, node 2 gfx942 hip 0, N-GPU-037\n"; /* the other one is given */
    assert_hidden(f, NODE_1 "/properties", wanted);
    assert_hidden(f, NODE_1 "/gpu_id", wanted);
    assert_hidden(f, NODE_1 "/mem_banks/0/properties", wanted);
    sample_machine_delete(&f->machine, "dev/dri/renderD130");
    assert_hidden(f, NODE_1 "/gpu_id", "1 hidden, node 2 gfx1101 hip -1, W-GPU-018, W-GPU-015\n");
}

/* ---- hot-unplug ---- */

/* A process that the kernel asks before it opens a file for anybody else: `change` is done while the reader waits. */
static pid_t start_change_at_open(sample_gpu_fixture *f, const char *file, void (*change)(sample_gpu_fixture *)) {
    int watch = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
    if (watch < 0 ||
        fanotify_mark(watch, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, sample_machine_path(&f->machine, file))) {
        (void)fprintf(stderr, "skipped: fanotify, which stops the reader in the middle: %s\n", strerror(errno));
        skip();
    }
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct fanotify_event_metadata event;
        (void)alarm(60);
        while (read(watch, &event, sizeof event) == (ssize_t)sizeof event) {
            struct fanotify_response response = {.fd = event.fd, .response = FAN_ALLOW};
            change(f);
            if (write(watch, &response, sizeof response) != (ssize_t)sizeof response || close(event.fd) != 0) {
                _exit(1);
            }
        }
        _exit(1);
    }
    (void)close(watch);
    return child;
}

static void end_child(pid_t child) {
    int status = 0;
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static unsigned generation = 2;

static void bump_generation(sample_gpu_fixture *f) {
    char text[32];
    (void)snprintf(text, sizeof text, "%u\n", ++generation);
    sample_machine_file(&f->machine, TOPOLOGY "/generation_id", text);
}

static void unplug_node_2(sample_gpu_fixture *f) {
    if (access(sample_machine_path(&f->machine, TOPOLOGY "/nodes/2"), F_OK) == 0) {
        sample_machine_delete(&f->machine, TOPOLOGY "/nodes/2");
        bump_generation(f);
    }
}

static void vanish_without_a_word(sample_gpu_fixture *f) {
    if (access(sample_machine_path(&f->machine, TOPOLOGY "/nodes/2"), F_OK) == 0) {
        sample_machine_delete(&f->machine, TOPOLOGY "/nodes/2");
    }
}

static void hot_unplug_in_the_middle(void **state) {
    sample_gpu_fixture *f = *state;
    pid_t child = start_change_at_open(f, NODE_1 "/properties", unplug_node_2);
    rsdk_status status = try_to_read(f);
    end_child(child);
    if (status != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&f->error));
    }
    assert_int_equal(rsdk_gpu_list_count(f->list), 1);
    assert_int_equal(f->error.status, RSDK_OK);
}

static void topology_that_never_holds_still(void **state) {
    sample_gpu_fixture *f = *state;
    pid_t child = start_change_at_open(f, NODE_1 "/properties", bump_generation);
    rsdk_status status = try_to_read(f);
    end_child(child);
    assert_int_equal(status, RSDK_IO_ERROR);
    assert_non_null(strstr(f->error.message, "changed 5 times while it was read"));
    assert_non_null(strstr(problem_fix_of(&f->error, NULL), "Try again"));
}

static void topology_that_vanishes(void **state) {
    sample_gpu_fixture *f = *state;
    pid_t child = start_change_at_open(f, NODE_1 "/properties", vanish_without_a_word);
    rsdk_status status = try_to_read(f);
    end_child(child);
    assert_int_equal(status, RSDK_FILE_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "nodes/2/properties: cannot be read: No such file"));
    assert_non_null(strstr(problem_fix_of(&f->error, NULL), "Try again"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_machine, sample_gpu_fixture_free)

int main(int argc, char **argv) {
    if (argc == 2) {
        return print_list(&(sample_gpu_fixture){0}, argv[1]);
    }
    const struct CMUnitTest tests[] = {
        TEST(damaged_properties),
        TEST(files_of_ten_megabytes),
        TEST(other_damaged_files),
        TEST(wrong_kinds_of_files),
        TEST(too_many_nodes),
        TEST(too_many_names),
        TEST(nodes_hidden_by_the_device_cgroup),
        TEST(hot_unplug_in_the_middle),
        TEST(topology_that_never_holds_still),
        TEST(topology_that_vanishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
