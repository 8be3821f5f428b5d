/* What is asked for of a file that nobody has read: the kernel's advice is counted, and follows what the headers say.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_ahead.h"
#include "sample_sdk.h"
#include "suite.h"

enum {
    HEAD_SIZE = 4096,       /* bytes of a file in which its program headers are looked for */
    LARGEST_FILE = 1 << 16, /* of those that are changed here */
    LARGE = 24 << 20,       /* no library here has so many bytes */
};

static sample_site site;
static uint64_t asked_bytes;
static bool asked[LARGE]; /* of each byte of the file */

/* In the place of the C library's: counts what is asked for. */
int posix_fadvise(int descriptor, off_t offset, off_t size, int advice) {
    (void)descriptor;
    assert_int_equal(advice, POSIX_FADV_WILLNEED);
    assert_true(offset >= 0 && size >= 0 && offset + size <= LARGE);
    memset(asked + offset, true, (size_t)size);
    asked_bytes += (uint64_t)size;
    return 0;
}

/* A library, as it is compiled, whose program headers can be moved. */
typedef struct changed_file {
    union {
        ElfW(Ehdr) header;
        unsigned char bytes[LARGEST_FILE];
    } content;
    size_t size;
} changed_file;

static int make_site(void **state) {
    site = sample_site_new();
    sample_compile(&site, &(sample_library){.file = "libone.so.1", .source = "int x; int *one(void) { return &x; }"});
    return 0;
}

static int remove_site(void **state) {
    sample_site_remove(&site);
    return 0;
}

static void read_library(changed_file *file) {
    FILE *stream = fopen(sample_path(&site, CORE_LIB "/libone.so.1"), "rb");
    assert_non_null(stream);
    file->size = fread(file->content.bytes, 1, sizeof file->content.bytes, stream);
    assert_int_equal(fclose(stream), 0);
    assert_in_range(file->size, HEAD_SIZE + 1024, LARGEST_FILE - 1);
}

/* Asks for what the linker reads of the file. */
static void ask_of(const char *path) {
    rsdk_file file = {0};
    assert_int_equal(rsdk_file_open(path, &file, NULL), RSDK_OK);
    rsdk_elf_ask_ahead_of(&file, NULL);
    rsdk_file_close(&file);
}

/* The bytes that are asked for of the first `size` bytes of a file. */
static uint64_t asked_of(const changed_file *file, size_t size) {
    const char *path = sample_path(&site, "changed");
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->content.bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    asked_bytes = 0;
    ask_of(path);
    return asked_bytes;
}

/* The file with its program headers at another place. */
static changed_file moved(const changed_file *file, size_t place) {
    changed_file other = *file;
    const size_t size = other.content.header.e_phnum * sizeof(ElfW(Phdr));
    memmove(other.content.bytes + place, file->content.bytes + file->content.header.e_phoff, size);
    other.content.header.e_phoff = place;
    return other;
}

/* Each byte behind them would be one that was not read. */
static void program_headers_lie_in_the_first_bytes(void **state) {
    static changed_file file;
    read_library(&file);
    const size_t headers = file.content.header.e_phnum * sizeof(ElfW(Phdr));
    const size_t last = HEAD_SIZE - headers; /* the last place at which they fit */
    const uint64_t whole = asked_of(&file, file.size);
    assert_true(whole > 0);
    changed_file other = moved(&file, last);
    assert_int_equal(asked_of(&other, other.size), whole);
    other = moved(&file, last + sizeof(ElfW(Phdr)));
    assert_int_equal(asked_of(&other, other.size), 0);
    other = moved(&file, HEAD_SIZE);
    assert_int_equal(asked_of(&other, other.size), 0);
    other = moved(&file, last);
    other.content.header.e_phnum = UINT16_MAX;
    assert_int_equal(asked_of(&other, other.size), 0);
    other = file;
    other.content.header.e_phoff = (uint64_t)1 << 40;
    assert_int_equal(asked_of(&other, other.size), 0);
}

static void program_headers_lie_where_they_can_be_read(void **state) {
    static changed_file file;
    read_library(&file);
    for (size_t more = 0; more <= _Alignof(ElfW(Phdr)); more++) {
        const changed_file other = moved(&file, file.content.header.e_phoff + more);
        const bool can_be_read = more % _Alignof(ElfW(Phdr)) == 0;
        assert_int_equal(asked_of(&other, other.size) > 0, can_be_read);
    }
}

static void what_is_no_library_of_this_machine_is_left_alone(void **state) {
    static changed_file file;
    static const size_t bytes[] = {EI_MAG0, EI_MAG3, EI_CLASS, EI_DATA};
    read_library(&file);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        changed_file other = file;
        other.content.bytes[bytes[i]] ^= 3;
        assert_int_equal(asked_of(&other, other.size), 0);
    }
    changed_file other = file;
    other.content.header.e_phentsize++;
    assert_int_equal(asked_of(&other, other.size), 0);
    for (size_t size = 0; size < sizeof(ElfW(Ehdr)) + sizeof(ElfW(Phdr)); size++) {
        assert_int_equal(asked_of(&file, size), 0);
    }
}

/* Headers that fit, of a file that ends with them. */
static void a_file_that_is_cut_off_is_asked_for_what_it_has(void **state) {
    static changed_file file;
    read_library(&file);
    const size_t end = file.content.header.e_phoff + file.content.header.e_phnum * sizeof(ElfW(Phdr));
    assert_true(asked_of(&file, end) <= end);
    assert_int_equal(asked_of(&file, end - 1), 0);
}

/* A header behind the last one is none, whatever it says. */
static void as_many_program_headers_count_as_the_file_has(void **state) {
    static changed_file file;
    read_library(&file);
    const ElfW(Phdr) *headers = (const void *)(file.content.bytes + file.content.header.e_phoff);
    uint16_t dynamic = 0;
    while (headers[dynamic].p_type != PT_DYNAMIC) {
        dynamic++;
    }
    file.content.header.e_phnum = dynamic;
    assert_int_equal(asked_of(&file, file.size), 0);
    file.content.header.e_phnum++;
    const uint64_t whole = asked_of(&file, file.size);
    assert_true(whole > 0);
    ElfW(Phdr) behind = {.p_type = PT_LOAD, .p_vaddr = (uint64_t)1 << 40, .p_filesz = file.size};
    for (behind.p_flags = PF_R; behind.p_flags <= (PF_R | PF_W); behind.p_flags++) {
        memcpy(file.content.bytes + file.content.header.e_phoff + file.content.header.e_phnum * sizeof behind, &behind,
               sizeof behind);
        assert_int_equal(asked_of(&file, file.size), whole);
    }
}

static void no_file_stays_open(void **state) {
    static changed_file file;
    read_library(&file);
    const int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(close(before), 0);
    assert_true(asked_of(&file, file.size) > 0);
    assert_int_equal(asked_of(&file, 1), 0);
    const int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(close(after), 0);
    assert_int_equal(after, before);
}

/* ---- what is asked for ---- */

/* Much of everything: a library of which not all is asked for. */
#define MUCH                                                                                                           \
    "__asm__(\".text\\n.skip 12 << 20, 0x90\\n\");"                                                                    \
    "const char constants[4 << 20] = {1}; char data[4 << 20] = {1}; extern int other;"                                 \
    "int x; int *const protected[1 << 16] = {&x}; int *one(void) { return &other; }"

typedef struct large_file {
    unsigned char *bytes;
    const ElfW(Ehdr) * header;
    const ElfW(Phdr) * segments;
    const ElfW(Shdr) * sections;
} large_file;

static large_file asked_large(const char *options) {
    large_file file = {.bytes = malloc(LARGE)};
    assert_non_null(file.bytes);
    sample_compile(&site, &(sample_library){.file = "libmuch.so.1", .source = MUCH, .options = options});
    const char *path = sample_path(&site, CORE_LIB "/libmuch.so.1");
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_in_range(fread(file.bytes, 1, LARGE, stream), 20 << 20, LARGE - 1);
    assert_int_equal(fclose(stream), 0);
    file.header = (const void *)file.bytes;
    file.segments = (const void *)(file.bytes + file.header->e_phoff);
    file.sections = (const void *)(file.bytes + file.header->e_shoff);
    memset(asked, false, sizeof asked);
    ask_of(path);
    return file;
}

/* How many of the bytes are asked for before one that is not. */
static uint64_t asked_from(uint64_t offset, uint64_t size) {
    uint64_t count = 0;
    while (count < size && asked[offset + count]) {
        count++;
    }
    return count;
}

static const ElfW(Shdr) * section_called(const large_file *file, const char *name) {
    const char *names = (const char *)file->bytes + file->sections[file->header->e_shstrndx].sh_offset;
    for (size_t i = 0; i < file->header->e_shnum; i++) {
        if (strcmp(names + file->sections[i].sh_name, name) == 0) {
            return &file->sections[i];
        }
    }
    fail_msg("%s is not in the library", name);
    return NULL;
}

static const ElfW(Phdr) * segment_of(const large_file *file, const ElfW(Shdr) * section) {
    for (size_t i = 0; i < file->header->e_phnum; i++) {
        const ElfW(Phdr) *segment = &file->segments[i];
        if (segment->p_type == PT_LOAD && section->sh_addr - segment->p_vaddr < segment->p_filesz) {
            return segment;
        }
    }
    fail_msg("a section that is not loaded");
    return NULL;
}

/* What the linker reads of any library, and of its data what relocations write to and a MiB behind that. */
static void check_tables_and_data(const large_file *file) {
    static const char *const tables[] = {".gnu.hash", ".dynsym", ".dynstr", ".rela.dyn", ".dynamic", ".got"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const ElfW(Shdr) *table = section_called(file, tables[i]);
        assert_int_equal(asked_from(table->sh_offset, table->sh_size), table->sh_size);
    }
    const ElfW(Shdr) *data = section_called(file, ".data");
    const ElfW(Phdr) *segment = segment_of(file, data);
    uint64_t size = RSDK_ELF_AHEAD_DATA;
    for (size_t i = 0; i < file->header->e_phnum; i++) {
        const ElfW(Phdr) *protected = &file->segments[i];
        size += protected->p_type == PT_GNU_RELRO ? protected->p_vaddr + protected->p_memsz - segment->p_vaddr : 0;
    }
    assert_true(size > RSDK_ELF_AHEAD_DATA + (1 << 16) * sizeof(void *));
    assert_int_equal(asked_from(segment->p_offset, segment->p_filesz), size);
    assert_int_equal(asked_from(segment->p_offset + segment->p_filesz - 1, 1), 0);
}

static void a_part_of_code_and_constants_is_asked_for(void **state) {
    large_file file = asked_large("-Wl,-z,separate-code -Wl,-z,relro");
    check_tables_and_data(&file);
    const ElfW(Shdr) *text = section_called(&file, ".text"), *fini = section_called(&file, ".fini");
    const ElfW(Phdr) *code = segment_of(&file, text), *constants = segment_of(&file, section_called(&file, ".rodata"));
    assert_ptr_not_equal(code, constants);
    assert_int_equal(asked_from(code->p_offset, code->p_filesz), RSDK_ELF_AHEAD_CODE);
    assert_int_equal(asked_from(fini->sh_offset - 1, 1), 0);
    assert_int_equal(asked_from(fini->sh_offset, fini->sh_size), fini->sh_size);
    assert_int_equal(asked_from(constants->p_offset, constants->p_filesz), RSDK_ELF_AHEAD_CONSTANTS);
    free(file.bytes);
}

/* Tables, then code, then constants: the code is counted from the end of the tables. */
static void a_segment_may_have_all_of_them(void **state) {
    large_file file = asked_large("-Wl,-z,noseparate-code -Wl,-z,relro");
    check_tables_and_data(&file);
    const ElfW(Shdr) *text = section_called(&file, ".text"), *fini = section_called(&file, ".fini");
    const ElfW(Phdr) *whole = segment_of(&file, text);
    assert_ptr_equal(whole, segment_of(&file, section_called(&file, ".rodata")));
    const ElfW(Shdr) *last = section_called(&file, ".rela.dyn");
    const uint64_t end = last->sh_offset + last->sh_size;
    assert_in_range(asked_from(end, whole->p_filesz), RSDK_ELF_AHEAD_CODE, RSDK_ELF_AHEAD_CODE + 4096);
    assert_int_equal(asked_from(fini->sh_offset - 1, 1), 0);
    assert_int_equal(asked_from(fini->sh_offset, whole->p_filesz), RSDK_ELF_AHEAD_CONSTANTS);
    free(file.bytes);
}

/* Nobody knows where its relocations lie. */
static void without_a_protected_part_all_data_is_asked_for(void **state) {
    large_file file = asked_large("-Wl,-z,separate-code -Wl,-z,norelro");
    const ElfW(Phdr) *segment = segment_of(&file, section_called(&file, ".data"));
    assert_int_equal(asked_from(segment->p_offset, segment->p_filesz), segment->p_filesz);
    free(file.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_headers_lie_in_the_first_bytes),
        cmocka_unit_test(program_headers_lie_where_they_can_be_read),
        cmocka_unit_test(what_is_no_library_of_this_machine_is_left_alone),
        cmocka_unit_test(a_file_that_is_cut_off_is_asked_for_what_it_has),
        cmocka_unit_test(as_many_program_headers_count_as_the_file_has),
        cmocka_unit_test(no_file_stays_open),
        cmocka_unit_test(a_part_of_code_and_constants_is_asked_for),
        cmocka_unit_test(a_segment_may_have_all_of_them),
        cmocka_unit_test(without_a_protected_part_all_data_is_asked_for),
    };
    return cmocka_run_group_tests(tests, make_site, remove_site);
}
