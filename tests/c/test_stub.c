/* Generated shared objects: our own reader and the dynamic linker both take them. */
#include "elf/stub.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child_process.h"
#include "elf/elf_machine.h"
#include "loader/memory_object.h"
#include "sample_sdk.h"
#include "suite.h"

/* Of all tests. */
typedef struct fixture {
    sample_site site;
    rsdk_arena arena;
    rsdk_elf_file model;
} fixture;

static int make_model(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    *state = f;
    rsdk_error error = RSDK_ERROR_INIT;
    f->site = sample_site_new();
    sample_compile(&f->site, &(sample_library){.file = "liba.so.1", .source = "int in_a;"});
    sample_compile(&f->site, &(sample_library){.file = "libb.so.1", .source = "int in_b;"});
    return (int)rsdk_elf_file_read(rsdk_arena_copy(&f->arena, sample_path(&f->site, CORE_LIB "/liba.so.1")), &f->arena,
                                   &f->model, &error);
}

static int remove_model(void **state) {
    fixture *f = *state;
    rsdk_arena_clear(&f->arena);
    sample_site_remove(&f->site);
    free(f);
    return 0;
}

static rsdk_strings both_libraries(fixture *f) {
    rsdk_strings needed = {.items = rsdk_arena_alloc(&f->arena, 2, sizeof(const char *))};
    static const char *const names[] = {CORE_LIB "/liba.so.1", CORE_LIB "/libb.so.1"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = rsdk_arena_copy(&f->arena, sample_path(&f->site, names[i]));
        REQUIRE(path != NULL);
        needed.items[needed.count++] = path;
    }
    return needed;
}

static void stub_reads_back(void **state) {
    fixture *f = *state;
    rsdk_elf_stub stub;
    rsdk_elf_file file;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_strings needed = both_libraries(f);
    const char *path = sample_path(&f->site, "stub.so");
    assert_int_equal(rsdk_elf_stub_make(&f->model, "libname.so", &needed, &f->arena, &stub, &error), RSDK_OK);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(stub.bytes, 1, stub.size, stream), stub.size);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(rsdk_elf_file_read(path, &f->arena, &file, &error), RSDK_OK);
    assert_string_equal(file.soname, "libname.so");
    assert_int_equal(file.needed.count, 2);
    assert_string_equal(file.needed.items[1], needed.items[1]);
    assert_false(file.wants_executable_stack);
    assert_int_equal(file.machine, f->model.machine);
    assert_int_equal(rsdk_elf_machine_check(&file, &error), RSDK_OK);
    assert_int_equal(rsdk_elf_stub_make(&f->model, NULL, &(rsdk_strings){0}, &f->arena, &stub, &error), RSDK_OK);
}

static void open_stubs(void *context) {
    fixture *f = context;
    enum { MANY = 40 };
    rsdk_elf_stub stub;
    rsdk_strings needed = both_libraries(f);
    for (int i = 0; i < MANY; i++) { /* each is an object of its own, whatever became of the descriptors before */
        char name[32];
        void *handle = NULL;
        const char *reason = NULL;
        (void)snprintf(name, sizeof name, "libname.so.%d", i);
        REQUIRE(rsdk_elf_stub_make(&f->model, name, &needed, &f->arena, &stub, NULL) == RSDK_OK);
        REQUIRE(rsdk_memory_object_open(&stub, name, RTLD_NOW, &f->arena, &handle, &reason) == RSDK_MEMORY_OPENED);
        REQUIRE(handle != NULL && dlopen(name, RTLD_NOW | RTLD_NOLOAD) == handle);
        REQUIRE(dlsym(handle, "in_a") != NULL && dlsym(handle, "in_b") != NULL);
    }
    rsdk_arena_clear(&f->arena);
}

static void linker_opens_stubs(void **state) {
    run_in_child(open_stubs, *state);
}

static void open_bad_stub(void *context) {
    fixture *f = context;
    rsdk_elf_stub stub;
    const char *names[] = {"/nonexistent/libc.so.99"};
    const rsdk_strings needed = {.items = names, .count = 1};
    void *handle = NULL;
    const char *reason = NULL;
    REQUIRE(rsdk_elf_stub_make(&f->model, NULL, &needed, &f->arena, &stub, NULL) == RSDK_OK);
    REQUIRE(rsdk_memory_object_open(&stub, "x", RTLD_NOW, &f->arena, &handle, &reason) == RSDK_MEMORY_FAILED);
    REQUIRE_CONTAINS(reason, "/nonexistent/libc.so.99");
    stub.size = 100;
    REQUIRE(rsdk_memory_object_open(&stub, "x", RTLD_NOW, &f->arena, &handle, &reason) == RSDK_MEMORY_REFUSED);
    REQUIRE_CONTAINS(reason, "/proc/self/task/");
    rsdk_arena_clear(&f->arena);
}

static void refusal_and_failure_are_told_apart(void **state) {
    run_in_child(open_bad_stub, *state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stub_reads_back),
        cmocka_unit_test(linker_opens_stubs),
        cmocka_unit_test(refusal_and_failure_are_told_apart),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}
