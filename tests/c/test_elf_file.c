/* The ELF reader: what it finds in real libraries, and what it says of other files. */
#include "elf/elf_file.h"
#include "elf/elf_machine.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changed_library.h"
#include "child_process.h"
#include "problem_text.h"
#include "suite.h"

/* ---- what is there ---- */

static void reads_names_paths_and_versions(void **state) {
    changed_library *f = *state;
    assert_int_equal(read_path(f, sample_path(&f->site, CORE_LIB "/libx.so.1")), RSDK_OK);
    assert_string_equal(f->file.soname, "libx.so.1");
    assert_int_equal(f->file.needed.count, 2);
    assert_string_equal(f->file.needed.items[0], "libb.so");
    assert_string_equal(f->file.needed.items[1], "libc.so.6");
    assert_null(f->file.rpath);
    assert_null(f->file.runpath);
    assert_false(f->file.wants_executable_stack);
    assert_false(f->file.has_static_tls);
    assert_int_equal(f->file.size, f->library.size);
    assert_true(f->file.version_needs.count > 0);
    assert_string_equal(f->file.version_needs.items[0].file, "libc.so.6");
    assert_int_equal(strncmp(f->file.version_needs.items[0].version, "GLIBC_", 6), 0);
    assert_int_equal(rsdk_elf_machine_check(&f->file, &f->error), RSDK_OK);
}

static void leaves_versions_out_unless_asked(void **state) {
    changed_library *f = *state;
    assert_int_equal(rsdk_elf_file_read(sample_path(&f->site, CORE_LIB "/libx.so.1"), &f->arena, &f->file, &f->error),
                     RSDK_OK);
    assert_string_equal(f->file.soname, "libx.so.1");
    assert_int_equal(f->file.version_needs.count, 0);
}

static void rpath_counts_only_without_runpath(void **state) {
    changed_library *f = *state;
    sample_compile(&f->site, &(sample_library){
                                 .file = "libr.so", .source = "", .options = "-Wl,--disable-new-dtags,-rpath,/a:/b"});
    assert_int_equal(read_path(f, sample_path(&f->site, CORE_LIB "/libr.so")), RSDK_OK);
    assert_string_equal(f->file.rpath, "/a:/b");
    assert_null(f->file.runpath);
    sample_compile(&f->site,
                   &(sample_library){.file = "libr.so", .source = "", .options = "-Wl,--enable-new-dtags,-rpath,/c"});
    assert_int_equal(read_path(f, sample_path(&f->site, CORE_LIB "/libr.so")), RSDK_OK);
    assert_string_equal(f->file.runpath, "/c");
    assert_null(f->file.rpath);
    dynamic(f, DT_SONAME)->d_tag = DT_RPATH; /* both at once: no linker writes that today */
    dynamic(f, DT_NEEDED)->d_tag = DT_RUNPATH;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_null(f->file.rpath);
    assert_string_equal(f->file.runpath, "libb.so");
    assert_null(f->file.soname);
}

static void finds_flags(void **state) {
    changed_library *f = *state;
    sample_compile(&f->site, &(sample_library){.file = "libf.so",
                                               .soname = "",
                                               .source = "__thread int t; int f(void) { return t; }",
                                               .options = "-ftls-model=initial-exec -Wl,-z,execstack"});
    assert_int_equal(read_path(f, sample_path(&f->site, CORE_LIB "/libf.so")), RSDK_OK);
    assert_true(f->file.wants_executable_stack);
#if !defined(__aarch64__) /* there GNU ld does not write the flag */
    assert_true(f->file.has_static_tls);
#endif
    assert_null(f->file.soname);
}

/* Each way in which a library can make sure that it calls its own functions, and the names of functions of others. */
static void tells_whose_functions_others_can_replace(void **state) {
    changed_library *f = *state;
    static const char calls[] = "int rsmi_a(void) { return 1; } int ask(void) { return rsmi_a() + 1; }";
    static const struct {
        const char *source, *options;
        bool expected;
    } libraries[] = {
        {calls, NULL, true},
        {calls, "-Wl,-z,now", true},
        {calls, "-Wl,-Bsymbolic", false},
        {calls, "-Wl,-Bsymbolic-functions", false},
        {calls, "-fno-semantic-interposition -fvisibility=hidden", false},
        {calls, "-fvisibility=protected", false},
        {"int rsmi_a(void); int ask(void) { return rsmi_a() + 1; }", NULL, false},
        {"int rsmi_a(void) { return 1; }", NULL, false},
        {"int rsmi_a = 1; int ask(void) { return rsmi_a; }", NULL, true},
        {"int my_rsmi_a(void) { return 1; } int ask(void) { return my_rsmi_a() + 1; }", NULL, false},
    };
    static const char *const prefixes[] = {"_ZN3amd3smi", "rsmi_", NULL};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        bool is_interposable = !libraries[i].expected;
        sample_compile(
            &f->site,
            &(sample_library){.file = "libasks.so", .source = libraries[i].source, .options = libraries[i].options});
        const char *path = sample_path(&f->site, CORE_LIB "/libasks.so");
        assert_int_equal(rsdk_elf_file_is_interposable(path, prefixes, &is_interposable, NULL), RSDK_OK);
        assert_int_equal(is_interposable, libraries[i].expected);
    }
}

/* Linkers write both ways of saying it; either one is enough. */
static void finds_text_relocations_said_either_way(void **state) {
    changed_library *f = *state;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_false(f->file.has_text_relocations);
    dynamic(f, DT_FINI)->d_tag = DT_TEXTREL;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_true(f->file.has_text_relocations);
    f->changed = f->library;
    *dynamic(f, DT_FINI) = (Elf64_Dyn){.d_tag = DT_FLAGS, .d_un.d_val = DF_TEXTREL};
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_true(f->file.has_text_relocations);
    dynamic(f, DT_FLAGS)->d_un.d_val = DF_BIND_NOW;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_false(f->file.has_text_relocations);
}

/* Addresses are looked up in every segment: here the strings lie in the second. */
static void strings_may_lie_in_any_segment(void **state) {
    changed_library *f = *state;
    Elf64_Phdr *first = segment(f, PT_LOAD), *second = first + 1, before = *first;
    assert_int_equal(second->p_type, PT_LOAD);
    *first = *second;
    *second = before;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_string_equal(f->file.soname, "libx.so.1");
}

static void stripped_sections_do_not_matter(void **state) {
    changed_library *f = *state;
    header(f)->e_shoff = 0x7fffffffffffffff;
    header(f)->e_shnum = 7;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_string_equal(f->file.soname, "libx.so.1");
}

/* ---- other machines ---- */

static void other_machine_is_named(void **state) {
    changed_library *f = *state;
    header(f)->e_machine = EM_PPC64;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_int_equal(rsdk_elf_machine_check(&f->file, &f->error), RSDK_BAD_ELF);
    assert_message(f, "is a 64-bit little-endian library for ppc64, this process is 64-bit little-endian for ");
    header(f)->e_machine = EM_AMDGPU;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_int_equal(rsdk_elf_machine_check(&f->file, &f->error), RSDK_BAD_ELF);
    assert_message(f, "a code object, not a host library");
    header(f)->e_machine = 0xfeed;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_int_equal(rsdk_elf_machine_check(&f->file, &f->error), RSDK_BAD_ELF);
    assert_message(f, "another machine");
}

/* A 32-bit library: header, one PT_LOAD over everything, a dynamic section and its strings, in the given byte order. */
static uint16_t ordered_16(unsigned encoding, uint16_t value) {
    return encoding == ELFDATA2LSB ? value : __builtin_bswap16(value);
}

static uint32_t ordered_32(unsigned encoding, uint32_t value) {
    return encoding == ELFDATA2LSB ? value : __builtin_bswap32(value);
}

static void make_32_bit(changed_library *f, unsigned encoding) {
    static const char strings[] = "\0libx.so.1\0liby.so.2";
    enum {
        SEGMENTS = sizeof(Elf32_Ehdr),
        DYNAMIC = SEGMENTS + 2 * sizeof(Elf32_Phdr),
        STRINGS = DYNAMIC + 5 * sizeof(Elf32_Dyn)
    };
    const uint32_t end = STRINGS + sizeof strings;
    const Elf32_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, (unsigned char)encoding, EV_CURRENT},
        .e_type = ordered_16(encoding, ET_DYN),
        .e_machine = ordered_16(encoding, EM_PPC),
        .e_version = ordered_32(encoding, EV_CURRENT),
        .e_phoff = ordered_32(encoding, SEGMENTS),
        .e_ehsize = ordered_16(encoding, sizeof(Elf32_Ehdr)),
        .e_phentsize = ordered_16(encoding, sizeof(Elf32_Phdr)),
        .e_phnum = ordered_16(encoding, 2)};
    const Elf32_Phdr segments[2] = {{.p_type = ordered_32(encoding, PT_LOAD),
                                     .p_filesz = ordered_32(encoding, end),
                                     .p_memsz = ordered_32(encoding, end)},
                                    {.p_type = ordered_32(encoding, PT_DYNAMIC),
                                     .p_offset = ordered_32(encoding, DYNAMIC),
                                     .p_filesz = ordered_32(encoding, STRINGS - DYNAMIC)}};
    const uint32_t entries[5][2] = {
        {DT_SONAME, 1}, {DT_NEEDED, 11}, {DT_STRTAB, STRINGS}, {DT_STRSZ, sizeof strings}, {DT_NULL, 0}};
    memcpy(f->changed.bytes, &head, sizeof head);
    memcpy(f->changed.bytes + SEGMENTS, segments, sizeof segments);
    for (size_t i = 0; i < 5; i++) {
        const Elf32_Dyn entry = {.d_tag = (Elf32_Sword)ordered_32(encoding, entries[i][0]),
                                 .d_un.d_val = ordered_32(encoding, entries[i][1])};
        memcpy(f->changed.bytes + DYNAMIC + i * sizeof entry, &entry, sizeof entry);
    }
    memcpy(f->changed.bytes + STRINGS, strings, sizeof strings);
    f->changed.size = end;
}

static void other_class_and_byte_order_are_read(void **state) {
    changed_library *f = *state;
    for (unsigned encoding = ELFDATA2LSB; encoding <= ELFDATA2MSB; encoding++) {
        make_32_bit(f, encoding);
        assert_int_equal(read_changed(f), RSDK_OK);
        assert_string_equal(f->file.soname, "libx.so.1");
        assert_int_equal(f->file.needed.count, 1);
        assert_string_equal(f->file.needed.items[0], "liby.so.2");
        assert_int_equal(f->file.elf_class, ELFCLASS32);
        assert_int_equal(f->file.data_encoding, encoding);
        assert_int_equal(rsdk_elf_machine_check(&f->file, &f->error), RSDK_BAD_ELF);
        assert_message(f, encoding == ELFDATA2LSB ? "is a 32-bit little-endian library"
                                                  : "is a 32-bit big-endian library");
    }
}

/* The file ends where its header does; what that says about sections is of no interest. */
static void a_32_bit_header_alone_has_nothing_to_load(void **state) {
    changed_library *f = *state;
    make_32_bit(f, ELFDATA2LSB);
    Elf32_Ehdr *head = (Elf32_Ehdr *)(void *)f->changed.bytes;
    head->e_phnum = 0;
    head->e_shoff = UINT32_MAX;
    head->e_shnum = UINT16_MAX;
    f->changed.size = sizeof *head;
    assert_damaged(f, "nothing to load");
    f->changed.size--;
    assert_damaged(f, "not an ELF file");
}

/* ---- files that are not libraries ---- */

static void what_is_not_a_library_is_named(void **state) {
    changed_library *f = *state;
    f->changed.size = 0;
    assert_damaged(f, "the file is empty");
    (void)strcpy((char *)f->changed.bytes, "!<arch>\n");
    f->changed.size = 8;
    assert_damaged(f, "not an ELF file");
    f->changed = f->library;
    header(f)->e_type = ET_EXEC;
    assert_damaged(f, "not a shared library (ELF type 2)");
    f->changed = f->library;
    segment(f, PT_DYNAMIC)->p_type = PT_NULL;
    assert_damaged(f, "no dynamic section");
    f->changed = f->library;
    header(f)->e_ident[EI_CLASS] = 9;
    assert_damaged(f, "not an ELF file");
    f->changed = f->library;
    header(f)->e_phnum = 0;
    assert_damaged(f, "nothing to load");
}

static void what_is_not_a_file_is_named(void **state) {
    changed_library *f = *state;
    const char *fifo = sample_path(&f->site, "fifo.so"), *loop = sample_path(&f->site, "loop.so");
    assert_int_equal(read_path(f, f->site.path), RSDK_IO_ERROR);
    assert_message(f, "is a directory where a file is expected");
    assert_int_equal(mkfifo(fifo, 0644), 0);
    assert_int_equal(read_path(f, fifo), RSDK_IO_ERROR); /* and does not wait for a writer */
    assert_message(f, "is a FIFO");
    assert_int_equal(read_path(f, "/dev/null"), RSDK_IO_ERROR);
    assert_message(f, "not a regular file");
    assert_int_equal(symlink("loop.so", loop), 0);
    assert_int_equal(read_path(f, loop), RSDK_IO_ERROR);
    assert_message(f, "Too many levels of symbolic links");
    assert_int_equal(read_path(f, sample_path(&f->site, "absent.so")), RSDK_FILE_NOT_FOUND);
    assert_message(f, "No such file or directory");
}

static void read_as_nobody(void *context) {
    changed_library *f = context;
    become_nobody();
    REQUIRE(read_path(f, sample_path(&f->site, "unreadable.so")) == RSDK_IO_ERROR);
    REQUIRE_CONTAINS(f->error.message, "Permission denied");
    REQUIRE_CONTAINS(problem_fix_of(&f->error, NULL), "Run as root: chmod a+r ");
    rsdk_error_clear(&f->error);
}

static void unreadable_file_is_named(void **state) {
    changed_library *f = *state;
    sample_file(&f->site, "unreadable.so", "");
    assert_int_equal(chmod(sample_path(&f->site, "unreadable.so"), 0), 0);
    run_in_child(read_as_nobody, f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, changed_library_start, changed_library_clear)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reads_names_paths_and_versions),
        TEST(leaves_versions_out_unless_asked),
        TEST(rpath_counts_only_without_runpath),
        TEST(finds_flags),
        TEST(tells_whose_functions_others_can_replace),
        TEST(finds_text_relocations_said_either_way),
        TEST(strings_may_lie_in_any_segment),
        TEST(stripped_sections_do_not_matter),
        TEST(other_machine_is_named),
        TEST(other_class_and_byte_order_are_read),
        TEST(a_32_bit_header_alone_has_nothing_to_load),
        TEST(what_is_not_a_library_is_named),
        TEST(what_is_not_a_file_is_named),
        TEST(unreadable_file_is_named),
    };
    return cmocka_run_group_tests(tests, changed_library_make, changed_library_remove);
}
