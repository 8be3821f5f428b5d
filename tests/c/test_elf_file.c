/* The ELF reader: what it finds in real libraries, and that no damaged file gives more than an error. */
#include "elf/elf_file.h"
#include "elf/elf_layout.h"
#include "elf/elf_machine.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "child_process.h"
#include "file_damages.h"
#include "problem_text.h"
#include "sample_sdk.h"

enum { IMAGE_LIMIT = 1 << 17 };

/* A real library's bytes, changed by a test, written and read again. */
typedef struct image {
    unsigned char bytes[IMAGE_LIMIT];
    size_t size;
} image;

/* The site and the library are those of all tests; each starts with its own copy of the image. */
typedef struct fixture {
    sample_site site;
    image library, changed;
    rsdk_arena arena;
    rsdk_elf_file file;
    rsdk_error error;
} fixture;

static int make_library(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    *state = f;
    f->site = sample_site_new();
    sample_compile(&f->site, &(sample_library){.file = "libb.so", .source = ""});
    sample_compile(&f->site, &(sample_library){.file = "libx.so.1",
                                               .source = "#include <stdio.h>\nvoid f(void) { puts(\"\"); }",
                                               .needs = CORE_LIB "/libb.so",
                                               .options = "-Wl,-z,noexecstack"});
    FILE *stream = fopen(sample_path(&f->site, CORE_LIB "/libx.so.1"), "rb");
    assert_non_null(stream);
    f->library.size = fread(f->library.bytes, 1, IMAGE_LIMIT, stream);
    assert_true(f->library.size > sizeof(Elf64_Ehdr) && f->library.size < IMAGE_LIMIT);
    return fclose(stream);
}

static int remove_library(void **state) {
    fixture *f = *state;
    sample_site_remove(&f->site);
    free(f);
    return 0;
}

static int start_fresh(void **state) {
    fixture *f = *state;
    f->changed = f->library;
    return 0;
}

static int clear(void **state) {
    fixture *f = *state;
    rsdk_arena_clear(&f->arena);
    rsdk_error_clear(&f->error);
    return 0;
}

static rsdk_status read_path(fixture *f, const char *path) {
    rsdk_error_clear(&f->error);
    return rsdk_elf_file_read_with_versions(path, &f->arena, &f->file, &f->error);
}

static rsdk_status read_changed(fixture *f) {
    const char *path = sample_path(&f->site, "changed.so");
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(f->changed.bytes, 1, f->changed.size, stream), f->changed.size);
    assert_int_equal(fclose(stream), 0);
    return read_path(f, path);
}

static void assert_message(fixture *f, const char *part) {
    assert_non_null(f->error.message);
    if (strstr(f->error.message, part) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", part, f->error.message);
    }
}

static void assert_damaged(fixture *f, const char *part) {
    assert_int_equal(read_changed(f), RSDK_BAD_ELF);
    assert_message(f, sample_path(&f->site, "changed.so"));
    assert_message(f, part);
    assert_non_null(strstr(problem_fix_of(&f->error, NULL), " again from where it came"));
}

static Elf64_Ehdr *header(fixture *f) {
    return (Elf64_Ehdr *)(void *)f->changed.bytes;
}

static Elf64_Phdr *segment(fixture *f, unsigned type) {
    Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(f->changed.bytes + header(f)->e_phoff);
    for (unsigned i = 0; i < header(f)->e_phnum; i++) {
        if (segments[i].p_type == type) {
            return &segments[i];
        }
    }
    fail_msg("no segment of type %u", type);
    return NULL;
}

static Elf64_Dyn *dynamic(fixture *f, int64_t tag) {
    Elf64_Dyn *entry = (Elf64_Dyn *)(void *)(f->changed.bytes + segment(f, PT_DYNAMIC)->p_offset);
    while (entry->d_tag != tag && entry->d_tag != DT_NULL) {
        entry++;
    }
    assert_int_equal(entry->d_tag, tag);
    return entry;
}

/* ---- what is there ---- */

static void reads_names_paths_and_versions(void **state) {
    fixture *f = *state;
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
    fixture *f = *state;
    assert_int_equal(rsdk_elf_file_read(sample_path(&f->site, CORE_LIB "/libx.so.1"), &f->arena, &f->file, &f->error),
                     RSDK_OK);
    assert_string_equal(f->file.soname, "libx.so.1");
    assert_int_equal(f->file.version_needs.count, 0);
}

static void rpath_counts_only_without_runpath(void **state) {
    fixture *f = *state;
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
    fixture *f = *state;
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
    fixture *f = *state;
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
    fixture *f = *state;
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
    fixture *f = *state;
    Elf64_Phdr *first = segment(f, PT_LOAD), *second = first + 1, before = *first;
    assert_int_equal(second->p_type, PT_LOAD);
    *first = *second;
    *second = before;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_string_equal(f->file.soname, "libx.so.1");
}

static void stripped_sections_do_not_matter(void **state) {
    fixture *f = *state;
    header(f)->e_shoff = 0x7fffffffffffffff;
    header(f)->e_shnum = 7;
    assert_int_equal(read_changed(f), RSDK_OK);
    assert_string_equal(f->file.soname, "libx.so.1");
}

/* ---- other machines ---- */

static void other_machine_is_named(void **state) {
    fixture *f = *state;
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

static void make_32_bit(fixture *f, unsigned encoding) {
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
    fixture *f = *state;
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
    fixture *f = *state;
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
    fixture *f = *state;
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
    fixture *f = *state;
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
    fixture *f = context;
    become_nobody();
    REQUIRE(read_path(f, sample_path(&f->site, "unreadable.so")) == RSDK_IO_ERROR);
    REQUIRE_CONTAINS(f->error.message, "Permission denied");
    REQUIRE_CONTAINS(problem_fix_of(&f->error, NULL), "chmod u+r ");
    rsdk_error_clear(&f->error);
}

static void unreadable_file_is_named(void **state) {
    fixture *f = *state;
    sample_file(&f->site, "unreadable.so", "");
    assert_int_equal(chmod(sample_path(&f->site, "unreadable.so"), 0), 0);
    run_in_child(read_as_nobody, f);
}

/* ---- damage ---- */

static void every_truncation_is_an_error_or_harmless(void **state) {
    fixture *f = *state;
    for (size_t size = 0; size < f->library.size; size += 64) {
        f->changed.size = size;
        rsdk_status status = read_changed(f);
        if (status == RSDK_OK) { /* only sections are cut off */
            assert_string_equal(f->file.soname, "libx.so.1");
            assert_int_equal(f->file.needed.count, 2);
        } else {
            assert_int_equal(status, RSDK_BAD_ELF);
            assert_message(f, "changed.so");
        }
    }
}

static void every_changed_byte_of_the_tables_is_survived(void **state) {
    fixture *f = *state;
    const Elf64_Phdr *place = segment(f, PT_DYNAMIC);
    size_t first = place->p_offset, end = first + place->p_filesz;
    for (size_t i = 0; i < end; i = i == 1023 ? first : i + 1) { /* headers, then the dynamic section */
        for (unsigned flip = 0; flip < 2; flip++) {
            f->changed.bytes[i] = flip == 0 ? 0xFF : (unsigned char)(f->library.bytes[i] ^ 1U);
            rsdk_status status = read_changed(f);
            assert_true(status == RSDK_OK || status == RSDK_BAD_ELF);
            rsdk_arena_clear(&f->arena);
        }
        f->changed.bytes[i] = f->library.bytes[i];
    }
}

static void contradictions_are_named(void **state) {
    fixture *f = *state;
    segment(f, PT_LOAD)->p_filesz = 1U << 30;
    assert_damaged(f, "truncated: a segment of 1073741824 bytes");
    f->changed = f->library;
    segment(f, PT_LOAD)->p_offset = UINT64_MAX - 8;
    assert_damaged(f, "truncated: a segment");
    f->changed = f->library;
    segment(f, PT_DYNAMIC)->p_offset = f->changed.size - 1;
    assert_damaged(f, "the dynamic section lies outside the file");
    f->changed = f->library;
    dynamic(f, DT_STRTAB)->d_un.d_val = UINT64_MAX - 4;
    assert_damaged(f, "the string table lies outside the file");
    f->changed = f->library;
    dynamic(f, DT_STRSZ)->d_un.d_val = UINT64_MAX;
    assert_damaged(f, "the string table lies outside the file");
    f->changed = f->library;
    dynamic(f, DT_SONAME)->d_un.d_val = 1U << 20;
    assert_damaged(f, "a name lies outside the string table");
    f->changed = f->library;
    dynamic(f, DT_VERNEED)->d_un.d_val = UINT64_MAX - 4;
    assert_damaged(f, "the version needs lie outside the file");
    f->changed = f->library;
    header(f)->e_phoff = f->changed.size - 8;
    assert_damaged(f, "");
}

/* Tools that need room for more program headers move the table, to the file's end or anywhere. The linker loads such a
 * file, and so it is read. */
static void program_headers_may_lie_anywhere(void **state) {
    static const uint64_t offsets[] = {5000, (2U << 20) + 8};
    fixture *f = *state;
    const char *path = sample_path(&f->site, "moved.so");
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        f->changed = f->library;
        uint64_t before = header(f)->e_phoff, size = header(f)->e_phnum * sizeof(Elf64_Phdr);
        uint64_t offset = f->changed.size + offsets[i];
        header(f)->e_phoff = offset;
        FILE *stream = fopen(path, "wb");
        assert_non_null(stream);
        assert_int_equal(fwrite(f->changed.bytes, 1, f->changed.size, stream), f->changed.size);
        assert_int_equal(fseek(stream, (long)offset, SEEK_SET), 0);
        assert_int_equal(fwrite(f->library.bytes + before, 1, size, stream), size);
        assert_int_equal(fclose(stream), 0);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* needs a library that lies elsewhere */
        assert_true(handle != NULL || strstr(dlerror(), "libb.so") != NULL);
        assert_int_equal(read_path(f, path), RSDK_OK);
        assert_string_equal(f->file.soname, "libx.so.1");
        rsdk_elf_damages damages = {0};
        assert_int_equal(find_damages(path, &f->arena, &damages), RSDK_OK);
        assert_int_equal(truncate(path, (off_t)(offset + size - 1)), 0);
        assert_int_equal(read_path(f, path), RSDK_BAD_ELF);
        assert_message(f, "unreadable program headers");
    }
    f->changed = f->library;
    header(f)->e_phentsize += 8;
    assert_damaged(f, "unreadable program headers");
}

/* A dynamic section of a MiB is read, a longer one is refused. */
static void dynamic_section_as_long_as_a_library_has(void **state) {
    enum { DYNAMIC_LIMIT = 1 << 20 };
    fixture *f = *state;
    const char *path = sample_path(&f->site, "changed.so");
    Elf64_Phdr *place = segment(f, PT_DYNAMIC);
    size_t size = place->p_filesz;
    assert_true(f->changed.size + size <= IMAGE_LIMIT);
    memcpy(f->changed.bytes + f->changed.size, f->changed.bytes + place->p_offset, size);
    place->p_offset = f->changed.size;
    f->changed.size += size;
    for (size_t more = 0; more < 2; more++) {
        place->p_filesz = DYNAMIC_LIMIT + more;
        assert_int_equal(read_changed(f), RSDK_BAD_ELF); /* its end is missing yet */
        assert_int_equal(truncate(path, (off_t)(place->p_offset + DYNAMIC_LIMIT + 1)), 0);
        assert_int_equal(read_path(f, path), more == 0 ? RSDK_OK : RSDK_BAD_ELF);
    }
}

/* Every DT_NEEDED entry may name the same long string: what is kept must not grow beyond all bounds. */
static void repeated_long_names_are_refused(void **state) {
    fixture *f = *state;
    enum { ENTRIES = 4000, LONG = 60000, STRINGS = 4096 + 16 * (ENTRIES + 4) };
    Elf64_Ehdr head = *header(f);
    head.e_phoff = sizeof head;
    head.e_phnum = 2;
    f->changed.size = STRINGS + LONG;
    const Elf64_Phdr segments[2] = {
        {.p_type = PT_LOAD, .p_filesz = f->changed.size, .p_memsz = f->changed.size},
        {.p_type = PT_DYNAMIC, .p_offset = 4096, .p_filesz = 16 * (ENTRIES + 4)},
    };
    Elf64_Dyn *entries = (Elf64_Dyn *)(void *)(f->changed.bytes + 4096);
    assert_true(f->changed.size < IMAGE_LIMIT);
    memset(f->changed.bytes, 'x', IMAGE_LIMIT);
    memcpy(f->changed.bytes, &head, sizeof head);
    memcpy(f->changed.bytes + sizeof head, segments, sizeof segments);
    memset(entries, 0, 16 * (ENTRIES + 4));
    entries[0] = (Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_val = STRINGS};
    entries[1] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = LONG};
    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i + 2].d_tag = DT_NEEDED;
    }
    f->changed.bytes[STRINGS + LONG - 1] = '\0';
    assert_damaged(f, "names are longer than those of any library");
}

/* Another process cuts the file off and restores it all the time. */
static void disturb(fixture *f, const char *path) {
    for (;;) {
        (void)truncate(path, 100);
        (void)truncate(path, 0);
        int descriptor = open(path, O_WRONLY);
        (void)!write(descriptor, f->library.bytes, f->library.size);
        (void)close(descriptor);
    }
}

static void file_that_shrinks_while_it_is_read_is_an_error(void **state) {
    fixture *f = *state;
    const char *path = sample_path(&f->site, "unsteady.so");
    unsigned good = 0, bad = 0;
    sample_file(&f->site, "unsteady.so", "");
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(30);
        disturb(f, path);
    }
    for (time_t end = time(NULL) + 5; time(NULL) < end && (good < 100 || bad < 100);) {
        rsdk_status status = read_path(f, path);
        assert_true(status == RSDK_OK || status == RSDK_BAD_ELF || status == RSDK_IO_ERROR);
        good += status == RSDK_OK;
        bad += status != RSDK_OK;
        rsdk_arena_clear(&f->arena);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(bad > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_names_paths_and_versions, start_fresh, clear),
        cmocka_unit_test_setup_teardown(leaves_versions_out_unless_asked, start_fresh, clear),
        cmocka_unit_test_setup_teardown(rpath_counts_only_without_runpath, start_fresh, clear),
        cmocka_unit_test_setup_teardown(finds_flags, start_fresh, clear),
        cmocka_unit_test_setup_teardown(tells_whose_functions_others_can_replace, start_fresh, clear),
        cmocka_unit_test_setup_teardown(finds_text_relocations_said_either_way, start_fresh, clear),
        cmocka_unit_test_setup_teardown(strings_may_lie_in_any_segment, start_fresh, clear),
        cmocka_unit_test_setup_teardown(stripped_sections_do_not_matter, start_fresh, clear),
        cmocka_unit_test_setup_teardown(other_machine_is_named, start_fresh, clear),
        cmocka_unit_test_setup_teardown(other_class_and_byte_order_are_read, start_fresh, clear),
        cmocka_unit_test_setup_teardown(a_32_bit_header_alone_has_nothing_to_load, start_fresh, clear),
        cmocka_unit_test_setup_teardown(what_is_not_a_library_is_named, start_fresh, clear),
        cmocka_unit_test_setup_teardown(what_is_not_a_file_is_named, start_fresh, clear),
        cmocka_unit_test_setup_teardown(unreadable_file_is_named, start_fresh, clear),
        cmocka_unit_test_setup_teardown(every_truncation_is_an_error_or_harmless, start_fresh, clear),
        cmocka_unit_test_setup_teardown(every_changed_byte_of_the_tables_is_survived, start_fresh, clear),
        cmocka_unit_test_setup_teardown(contradictions_are_named, start_fresh, clear),
        cmocka_unit_test_setup_teardown(program_headers_may_lie_anywhere, start_fresh, clear),
        cmocka_unit_test_setup_teardown(dynamic_section_as_long_as_a_library_has, start_fresh, clear),
        cmocka_unit_test_setup_teardown(repeated_long_names_are_refused, start_fresh, clear),
        cmocka_unit_test_setup_teardown(file_that_shrinks_while_it_is_read_is_an_error, start_fresh, clear),
    };
    return cmocka_run_group_tests(tests, make_library, remove_library);
}
