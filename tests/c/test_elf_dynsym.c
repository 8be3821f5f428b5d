/* The dynamic symbols of compiled libraries: which definition answers which reference. */
#include "elf/elf_dynsym.h"

#include <string.h>

#include "elf/elf_file.h"
#include "sample_sdk.h"
#include "suite.h"

#define SYMVER(own, name) "__asm__(\".symver " own "," name "\");"

static const char source[] =
    "int plain = 1; static const int *const fixed = &plain; const int constant = 2;"
    "__attribute__((weak)) int feeble(void) { return *fixed; }"
    "__attribute__((visibility(\"hidden\"))) int hidden(void) { return 1; }"
    "int old(void) { return 1; } " SYMVER("old", "twice@V_1") "int new(void) { return 2; } " SYMVER(
        "new", "twice@@V_2") "__thread int local; extern int absent(void);"
                             "int user(void) { return hidden() + feeble() + plain + local + absent(); }";

typedef struct library {
    sample_fixture fixture;
    rsdk_arena arena;
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
} library;

/* Compiles the source with the versions of x.map and the options of a linker. */
static void read_library(library *l, const char *linker_options) {
    const char *path = sample_path(&l->fixture.site, CORE_LIB "/libx.so.1");
    const char *options = rsdk_arena_format(l->fixture.site.texts, "-Wl,--version-script=%s,%s",
                                            sample_path(&l->fixture.site, "x.map"), linker_options);
    const sample_library made = {.file = "libx.so.1", .source = source, .options = options};
    sample_compile(&l->fixture.site, &made);
    rsdk_arena_clear(&l->arena);
    assert_int_equal(rsdk_elf_file_read_with_symbols(path, true, &l->arena, &l->file, &l->symbols, &l->fixture.error),
                     RSDK_OK);
}

static int make(void **state) {
    static library made;
    made = (library){.arena = RSDK_ARENA_INIT};
    made.fixture.site = sample_site_new();
    sample_file(&made.fixture.site, "x.map", "V_0 { }; V_1 { global: plain; }; V_2 { global: *; } V_1;");
    *state = &made;
    return 0;
}

static int clear(void **state) {
    library *l = *state;
    rsdk_arena_clear(&l->arena);
    sample_site_remove(&l->fixture.site);
    return 0;
}

static bool finds(const library *l, const char *name, const rsdk_elf_version *version, uint32_t *index) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, version, RSDK_ELF_REFERENCE_CALL);
    return rsdk_elf_dynsym_find(&l->symbols, &wanted, index);
}

static void check_versions(const library *l) {
    const rsdk_elf_version first = {.name = "V_1"}, second = {.name = "V_2"}, other = {.name = "V_9"};
    uint32_t one = 0, two = 0, any = 0;
    assert_true(finds(l, "twice", &first, &one));
    assert_true(finds(l, "twice", &second, &two));
    assert_int_not_equal(one, two);
    assert_true(finds(l, "twice", NULL, &any));
    assert_int_equal(any, two); /* the default version, since V_1 has an index above 2 */
    assert_false(finds(l, "twice", &other, &any));
    assert_true(finds(l, "plain", &first, &any));
    assert_string_equal(rsdk_elf_dynsym_version(&l->symbols, any)->name, "V_1");
    assert_false(finds(l, "hidden", NULL, &any));
    assert_false(finds(l, "absent", NULL, &any)); /* it is referred to, not defined */
}

static void versions_decide(void **state) {
    library *l = *state;
    static const char *const styles[] = {"--hash-style=gnu", "--hash-style=sysv", "--hash-style=both"};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        read_library(l, styles[i]);
        check_versions(l);
    }
}

static bool refers_to(const library *l, const char *name, rsdk_elf_reference_kind kind) {
    for (size_t i = 0; i < l->symbols.references.count; i++) {
        const rsdk_elf_reference *reference = &l->symbols.references.items[i];
        if (strcmp(rsdk_elf_dynsym_name(&l->symbols, reference->symbol), name) == 0 && reference->kind == kind) {
            return true;
        }
    }
    return false;
}

static void references_are_those_that_others_may_answer(void **state) {
    library *l = *state;
    uint32_t index = 0;
    read_library(l, "-z,relro");
    assert_true(refers_to(l, "absent", RSDK_ELF_REFERENCE_CALL));
    assert_true(refers_to(l, "feeble", RSDK_ELF_REFERENCE_CALL));
    assert_true(refers_to(l, "plain", RSDK_ELF_REFERENCE_DATA));
    assert_true(refers_to(l, "local", RSDK_ELF_REFERENCE_CALL));
    assert_false(refers_to(l, "hidden", RSDK_ELF_REFERENCE_CALL));
    assert_false(l->symbols.is_symbolic);
    assert_true(finds(l, "plain", NULL, &index));
    assert_true(rsdk_elf_dynsym_is_writable(&l->symbols, index));
    assert_true(finds(l, "constant", NULL, &index));
    assert_false(rsdk_elf_dynsym_is_writable(&l->symbols, index));
    read_library(l, "-Bsymbolic");
    assert_true(l->symbols.is_symbolic);
}

static void a_program_has_symbols_too(void **state) {
    library *l = *state;
    assert_int_equal(
        rsdk_elf_file_read_with_symbols("/proc/self/exe", true, &l->arena, &l->file, &l->symbols, &l->fixture.error),
        RSDK_OK);
    assert_true(l->symbols.references.count > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(versions_decide, make, clear),
        cmocka_unit_test_setup_teardown(references_are_those_that_others_may_answer, make, clear),
        cmocka_unit_test_setup_teardown(a_program_has_symbols_too, make, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
