/* Whether compiled files find what they need in a sample SDK, with memory that sanitizers watch. */
#include "binding/host_check.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "elf/elf_sections.h"
#include "sample_sdk.h"
#include "suite.h"

typedef struct asked {
    sample_fixture fixture;
    rsdk_arena arena;
    const char *library; /* of the SDK */
} asked;

static int make(void **state) {
    static asked made;
    made = (asked){.arena = RSDK_ARENA_INIT};
    made.fixture.site = sample_site_new();
    const sample_library hip = {.file = "libamdhip64.so.7", .source = "int hip_here(void) { return 1; }"};
    sample_compile(&made.fixture.site, &hip);
    made.library = sample_path(&made.fixture.site, CORE_LIB "/libamdhip64.so.7");
    *state = &made;
    return 0;
}

static int clear(void **state) {
    asked *a = *state;
    rsdk_arena_clear(&a->arena);
    rsdk_error_clear(&a->fixture.error);
    sample_site_remove(&a->fixture.site);
    return 0;
}

static rsdk_host_files check_all(asked *a, const char *const *paths, size_t count) {
    const rsdk_host_check question = {
        .files = paths, .file_count = count, .libraries = &a->library, .library_count = 1, .is_installed = true};
    rsdk_host_files files = {0};
    assert_int_equal(rsdk_host_check_run(&question, &a->arena, &files, &a->fixture.error), RSDK_OK);
    return files;
}

/* The row of one file that is checked against the SDK. */
static const rsdk_host_file *check(asked *a, const char *name) {
    const char *path = sample_path(&a->fixture.site, name);
    rsdk_host_files files = check_all(a, &path, 1);
    assert_true(files.list.count <= 1);
    return files.list.count == 1 ? &files.list.items[0] : NULL; /* NULL: it is no ELF file */
}

static unsigned first_release(const rsdk_host_files *files) {
    return rsdk_built_for_releases(&files->release.built_for).first.major;
}

static void compile(asked *a, const char *file, const char *source, const char *needs) {
    const sample_library made = {.directory = OUTSIDE, .file = file, .soname = "", .source = source, .needs = needs};
    sample_compile(&a->fixture.site, &made);
}

static void a_file_that_fits(void **state) {
    asked *a = *state;
    compile(a, "good.so", "extern int hip_here(void); int f(void) { return hip_here(); }",
            CORE_LIB "/libamdhip64.so.7");
    const rsdk_host_file *file = check(a, OUTSIDE "/good.so");
    assert_null(file->fault);
    assert_int_equal(file->lacks.count, 0);
    assert_int_equal(file->needs.items[0].place, RSDK_PLACE_SDK);
    assert_string_equal(file->needs.items[0].path, a->library);
    const char *path = sample_path(&a->fixture.site, OUTSIDE "/good.so");
    rsdk_host_files files = check_all(a, &path, 1);
    assert_int_equal(first_release(&files), 7);
    assert_false(rsdk_other_release_is(&files.release));
}

static void what_is_absent_is_named(void **state) {
    asked *a = *state;
    const char *source = "extern int g1(void), g2(void), g3(void), g4(void);"
                         "int f(void) { return g1() + g2() + g3() + g4(); }";
    compile(a, "bad.so", source, CORE_LIB "/libamdhip64.so.7");
    const rsdk_host_file *file = check(a, OUTSIDE "/bad.so");
    assert_int_equal(file->lacks.count, 4);
    assert_int_equal(file->lacks.list.count, 3);
    assert_int_equal(strncmp(file->lacks.list.items[0].name, "g", 1), 0);
}

static void another_release(void **state) {
    asked *a = *state;
    const sample_library old = {.directory = "old", .file = "libamdhip64.so.5", .source = "int hip_here;"};
    sample_compile(&a->fixture.site, &old);
    compile(a, "old.so", "int f(void) { return 0; }", "old/libamdhip64.so.5");
    const rsdk_host_file *file = check(a, OUTSIDE "/old.so");
    assert_int_equal(file->needs.items[0].place, RSDK_PLACE_OTHER_VERSION);
    assert_string_equal(file->needs.items[0].path, a->library);
    const char *path = sample_path(&a->fixture.site, OUTSIDE "/old.so");
    rsdk_host_files files = check_all(a, &path, 1);
    assert_int_equal(first_release(&files), 5);
    assert_true(rsdk_other_release_is(&files.release));
    assert_string_equal(files.release.wanted, "libamdhip64.so.5");
    assert_string_equal(rsdk_other_release_present(&files.release), "libamdhip64.so.7");
}

/* What the SDK has in no version is explained by its release, too; what is among the files themselves counts not. */
static void absent_libraries_of_another_release(void **state) {
    asked *a = *state;
    const sample_library blas = {.directory = "old", .file = "librocblas.so.0", .source = "int blas;"};
    const sample_library drm = {.directory = "old", .file = "librocm_sysdeps_drm.so.2", .source = "int drm;"};
    const sample_library other = {.directory = "old", .file = "libother.so.1", .source = "int other;"};
    sample_compile(&a->fixture.site, &blas);
    sample_compile(&a->fixture.site, &drm);
    sample_compile(&a->fixture.site, &other);
    compile(a, "old.so", "int f(void) { return 0; }",
            "old/librocblas.so.0 old/librocm_sysdeps_drm.so.2 old/libother.so.1");
    const char *paths[] = {sample_path(&a->fixture.site, OUTSIDE "/old.so"),
                           sample_path(&a->fixture.site, "old/librocblas.so.0")};
    rsdk_host_files files = check_all(a, paths, 1);
    assert_true(rsdk_other_release_is(&files.release));
    const rsdk_host_file *file = &files.list.items[0];
    assert_int_equal(file->needs.items[0].place, RSDK_PLACE_OTHER_RELEASE);
    assert_int_equal(file->needs.items[1].place, RSDK_PLACE_OTHER_RELEASE);
    assert_int_equal(file->needs.items[2].place, RSDK_PLACE_NOWHERE);
    rsdk_host_files whole = check_all(a, paths, 2);
    assert_false(rsdk_other_release_is(&whole.release));
    assert_int_equal(first_release(&whole), 0);
}

/* The interpreter has its own libraries, which this program has here; a library that is no extension must name them
 * itself, unless it is a package's. */
static void an_extension_of_python(void **state) {
    asked *a = *state;
    const char *source = "int _cmocka_run_group_tests(int); int f(int x) { return _cmocka_run_group_tests(x); }";
    compile(a, "library.so", source, NULL);
    const char *path = sample_path(&a->fixture.site, OUTSIDE "/library.so");
    assert_int_equal(check(a, OUTSIDE "/library.so")->lacks.count, 1);
    rsdk_host_files files = {0};
    const rsdk_host_check of_package = {.files = &path, .file_count = 1, .is_python = true};
    assert_int_equal(rsdk_host_check_run(&of_package, &a->arena, &files, &a->fixture.error), RSDK_OK);
    assert_int_equal(files.list.items[0].lacks.count, 0);
    assert_string_equal(files.list.items[0].lacks.borrowed, "libcmocka.so.0");
    compile(a, "extension.so",
            "int _cmocka_run_group_tests(int); double no_such_function(double);"
            "double PyInit_extension(double x) { return _cmocka_run_group_tests(2) + no_such_function(x); }",
            NULL);
    const rsdk_host_file *file = check(a, OUTSIDE "/extension.so");
    assert_int_equal(file->lacks.count, 1);
    assert_string_equal(file->lacks.list.items[0].name, "no_such_function");
}

/* Whole strings that are names of ROCm's libraries; the last one lies across two blocks of the reader. */
static void libraries_that_are_opened_by_name(void **state) {
    asked *a = *state;
    compile(a, "named.so",
            "const struct { char zero[65530], last[16]; } far = {{0}, \"librocblas.so.4\"};"
            "const char *f(int i) { static const char *const names[] = {\"libamdhip64.so\", \"libhiprtc.so.6\","
            " \"/opt/rocm/lib/librccl.so\", \"a libhipfft.so\", \"libMIOpen.so.1 here\", \"libz.so.1\","
            " \"libhiprand.so.\", \"libhipblas.sofa\", \"lib.so\"}; return i < 0 ? far.last : names[i]; }",
            NULL);
    const char *path = sample_path(&a->fixture.site, OUTSIDE "/named.so");
    rsdk_host_files files = check_all(a, &path, 1);
    assert_int_equal(files.opened.count, 4);
    for (size_t i = 0; i < files.opened.count; i++) {
        const rsdk_host_need *need = &files.opened.items[i];
        bool is_in_sdk = strcmp(need->name, "libamdhip64.so") == 0; /* the SDK has libamdhip64.so.7 */
        assert_true(is_in_sdk || strcmp(need->name, "libhiprtc.so.6") == 0 ||
                    strcmp(need->name, "librocblas.so.4") == 0 || strcmp(need->name, "libhiprand.so.") == 0);
        assert_int_equal(need->place, is_in_sdk ? RSDK_PLACE_OTHER_VERSION : RSDK_PLACE_NOWHERE);
    }
}

/* Sections may lie in one place, thousands of them: the bound is that of the file. */
static void many_sections_of_constants(void **state) {
    enum { SIZE = 1 << 20, COUNT = 256 };
    static const char name[] = "librocblas.so.4";
    static rsdk_elf_section rows[COUNT + 1];
    asked *a = *state;
    const char *path = sample_path(&a->fixture.site, "constants");
    rsdk_file file = {0};
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, SIZE, SEEK_SET), 0);
    assert_int_equal(fwrite(name, 1, sizeof name, stream), sizeof name);
    assert_int_equal(fclose(stream), 0);
    for (size_t i = 0; i <= COUNT; i++) {
        rows[i] = (rsdk_elf_section){.name = ".rodata", .type = SHT_PROGBITS, .size = SIZE};
    }
    rows[COUNT] = (rsdk_elf_section){.name = ".rodata", .type = SHT_PROGBITS, .offset = SIZE, .size = sizeof name};
    assert_int_equal(rsdk_file_open(path, &file, &a->fixture.error), RSDK_OK);
    for (size_t skipped = 0; skipped < 2; skipped++) {
        const rsdk_elf_sections sections = {.items = rows + skipped, .count = COUNT + 1 - skipped};
        rsdk_unique_strings names = {0};
        assert_int_equal(rsdk_elf_library_names_read(&file, &sections, &a->arena, &names, &a->fixture.error), RSDK_OK);
        assert_int_equal(names.list.count, skipped);
    }
    rsdk_file_close(&file);
}

/* Whoever has a DT_NEEDED entry for ROCm says by that what it is for. */
static void names_beside_a_needed_library(void **state) {
    asked *a = *state;
    compile(a, "both.so",
            "extern int hip_here(void); const char *f(void) { return hip_here() ? \"libhiprtc.so.6\" : \"\"; }",
            CORE_LIB "/libamdhip64.so.7");
    const char *path = sample_path(&a->fixture.site, OUTSIDE "/both.so");
    assert_int_equal(check_all(a, &path, 1).opened.count, 0);
}

/* What the linker does is followed as deep as the needs go, and each process is tried. */
static void what_a_needed_library_needs(void **state) {
    asked *a = *state;
    const sample_library gone = {.directory = "gone", .file = "libgone.so.1", .source = "int gone;"};
    const sample_library below = {.directory = OUTSIDE,
                                  .file = "libb.so.1",
                                  .source = "int b;",
                                  .needs = "gone/libgone.so.1 " CORE_LIB "/libamdhip64.so.7"};
    const sample_library above = {.directory = OUTSIDE,
                                  .file = "above.so",
                                  .source = "int a;",
                                  .needs = OUTSIDE "/libb.so.1",
                                  .paths = WITH_RUNPATH};
    sample_compile(&a->fixture.site, &gone);
    sample_compile(&a->fixture.site, &below);
    sample_compile(&a->fixture.site, &above);
    const rsdk_host_file *file = check(a, OUTSIDE "/above.so");
    assert_int_equal(file->unfound_alone.count, 2);
    assert_int_equal(file->unfound.count, 1);
    assert_string_equal(file->unfound.items[0].need.name, "libgone.so.1");
    assert_string_equal(file->unfound.items[0].needing, sample_path(&a->fixture.site, OUTSIDE "/libb.so.1"));
    assert_true(file->is_served[RSDK_AID_SHORTNAMES]);
    assert_false(file->is_served[RSDK_AID_RUN]); /* no directories were given */
}

/* A package is unpacked at one place and installed at another, where the SDK is. */
static void an_unpacked_package(void **state) {
    asked *a = *state;
    const sample_library app = {.directory = "unpacked/package",
                                .file = "app.so",
                                .soname = "",
                                .source = "int a;",
                                .needs = CORE_LIB "/libamdhip64.so.7",
                                .options = "-Wl,-rpath,\\$ORIGIN/../" CORE_LIB};
    sample_compile(&a->fixture.site, &app);
    const char *path = sample_path(&a->fixture.site, "unpacked/package/app.so");
    rsdk_host_check question = {.files = &path, .file_count = 1};
    rsdk_host_files alone = {0}, installed = {0};
    assert_int_equal(rsdk_host_check_run(&question, &a->arena, &alone, &a->fixture.error), RSDK_OK);
    assert_int_equal(alone.list.items[0].unfound.count, 1);
    question.unpacked = sample_path(&a->fixture.site, "unpacked");
    question.site = sample_path(&a->fixture.site, ".");
    assert_int_equal(rsdk_host_check_run(&question, &a->arena, &installed, &a->fixture.error), RSDK_OK);
    assert_int_equal(installed.list.items[0].unfound.count, 0);
}

static void a_file_that_is_none(void **state) {
    asked *a = *state;
    sample_directory(&a->fixture.site, OUTSIDE);
    sample_file(&a->fixture.site, OUTSIDE "/text.so", "\177ELF and nothing more");
    const rsdk_host_file *file = check(a, OUTSIDE "/text.so");
    assert_non_null(file->fault);
    assert_int_equal(file->fault_code, RSDK_E_LIB_006);
    sample_file(&a->fixture.site, OUTSIDE "/script.so", "INPUT(text.so)");
    sample_file(&a->fixture.site, OUTSIDE "/script", "#!/bin/sh");
    assert_null(check(a, OUTSIDE "/script.so"));
    assert_null(check(a, OUTSIDE "/script"));
    assert_null(check(a, OUTSIDE "/gone.so"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_fits, make, clear),
        cmocka_unit_test_setup_teardown(what_is_absent_is_named, make, clear),
        cmocka_unit_test_setup_teardown(another_release, make, clear),
        cmocka_unit_test_setup_teardown(absent_libraries_of_another_release, make, clear),
        cmocka_unit_test_setup_teardown(an_extension_of_python, make, clear),
        cmocka_unit_test_setup_teardown(libraries_that_are_opened_by_name, make, clear),
        cmocka_unit_test_setup_teardown(many_sections_of_constants, make, clear),
        cmocka_unit_test_setup_teardown(names_beside_a_needed_library, make, clear),
        cmocka_unit_test_setup_teardown(what_a_needed_library_needs, make, clear),
        cmocka_unit_test_setup_teardown(an_unpacked_package, make, clear),
        cmocka_unit_test_setup_teardown(a_file_that_is_none, make, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
