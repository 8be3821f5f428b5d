/* The reader of section headers: what real libraries have, tables whose figures lie elsewhere, and damaged ones. */
#include "elf/elf_sections.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sample_sdk.h"
#include "suite.h"

enum { IMAGE_LIMIT = 1 << 17 };

/* A real library's bytes, which a test changes, writes and reads. */
typedef struct fixture {
    sample_site site;
    unsigned char bytes[IMAGE_LIMIT];
    size_t size;
    rsdk_arena arena;
    rsdk_elf_sections sections;
    rsdk_error error;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.site = sample_site_new()};
    sample_compile(&f.site, &(sample_library){.file = "libx.so.1", .source = "void f(void) {}"});
    FILE *stream = fopen(sample_path(&f.site, CORE_LIB "/libx.so.1"), "rb");
    assert_non_null(stream);
    f.size = fread(f.bytes, 1, IMAGE_LIMIT, stream);
    assert_true(f.size > sizeof(Elf64_Ehdr) && f.size < IMAGE_LIMIT);
    *state = &f;
    return fclose(stream);
}

static int tear_down(void **state) {
    fixture *f = *state;
    rsdk_arena_clear(&f->arena);
    rsdk_error_clear(&f->error);
    sample_site_remove(&f->site);
    return 0;
}

static rsdk_status read_image(fixture *f) {
    const char *path = sample_path(&f->site, "changed.so");
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(f->bytes, 1, f->size, stream), f->size);
    assert_int_equal(fclose(stream), 0);
    rsdk_error_clear(&f->error);
    rsdk_file file = {0};
    assert_int_equal(rsdk_file_open(path, &file, NULL), RSDK_OK);
    const rsdk_status status = rsdk_elf_sections_read_within(&file, 0, file.size, &f->arena, &f->sections, &f->error);
    rsdk_file_close(&file);
    return status;
}

static Elf64_Ehdr *header(fixture *f) {
    return (Elf64_Ehdr *)(void *)f->bytes;
}

static Elf64_Shdr *section(fixture *f, size_t index) {
    return (Elf64_Shdr *)(void *)(f->bytes + header(f)->e_shoff) + index;
}

static Elf64_Shdr *names(fixture *f) {
    return section(f, header(f)->e_shstrndx);
}

static const rsdk_elf_section *find(const fixture *f, const char *name) {
    for (size_t i = 0; i < f->sections.count; i++) {
        if (strcmp(f->sections.items[i].name, name) == 0) {
            return &f->sections.items[i];
        }
    }
    fail_msg("no section %s", name);
    return NULL;
}

static void assert_damaged(fixture *f, const char *part) {
    assert_int_equal(read_image(f), RSDK_BAD_ELF);
    assert_int_equal(f->sections.count, 0);
    assert_non_null(f->error.message);
    if (strstr(f->error.message, part) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", part, f->error.message);
    }
}

/* ---- what is there ---- */

static void assert_all_sections(fixture *f, size_t count) {
    assert_int_equal(read_image(f), RSDK_OK);
    assert_int_equal(f->sections.count, count);
    assert_string_equal(f->sections.items[0].name, "");
    assert_int_equal(find(f, ".shstrtab")->size, section(f, count - 1)->sh_size);
    assert_int_equal(find(f, ".text")->offset % 4, 0);
}

static void all_headers_in_file_order(void **state) {
    fixture *f = *state;
    assert_all_sections(f, header(f)->e_shnum);
}

/* gABI: counts and indices that do not fit into 16 bits stand in the first section header. */
static void figures_in_the_first_header(void **state) {
    fixture *f = *state;
    size_t count = header(f)->e_shnum;
    section(f, 0)->sh_size = count;
    section(f, 0)->sh_link = header(f)->e_shstrndx;
    header(f)->e_shnum = 0;
    assert_all_sections(f, count);
    header(f)->e_shstrndx = SHN_XINDEX;
    assert_all_sections(f, count);
}

static void no_table(void **state) {
    fixture *f = *state;
    header(f)->e_shnum = 0; /* and section 0 has size 0 */
    assert_int_equal(read_image(f), RSDK_OK);
    assert_int_equal(f->sections.count, 0);
    header(f)->e_shoff = 0;
    header(f)->e_shentsize = 0;
    assert_int_equal(read_image(f), RSDK_OK);
    assert_int_equal(f->sections.count, 0);
}

static void no_names(void **state) {
    fixture *f = *state;
    header(f)->e_shstrndx = SHN_UNDEF;
    assert_int_equal(read_image(f), RSDK_OK);
    assert_int_equal(f->sections.count, header(f)->e_shnum);
    assert_string_equal(f->sections.items[1].name, "");
}

/* A 32-bit file in the other byte order, with a table of two: no compiler for it is needed. */
static void another_class_and_byte_order(void **state) {
    fixture *f = *state;
    memset(f->bytes, 0, f->size = 256);
    memcpy(f->bytes,
           "\x7f"
           "ELF\x01\x02\x01",
           7);
    f->bytes[17] = 3;             /* e_type, big-endian */
    f->bytes[19] = 8;             /* e_machine */
    f->bytes[23] = 1;             /* e_version */
    f->bytes[35] = 64;            /* e_shoff */
    f->bytes[47] = 40;            /* e_shentsize */
    f->bytes[49] = 2;             /* e_shnum */
    f->bytes[51] = 1;             /* e_shstrndx */
    f->bytes[64 + 40 + 3] = 1;    /* sh_name */
    f->bytes[64 + 40 + 7] = 3;    /* SHT_STRTAB */
    f->bytes[64 + 40 + 19] = 200; /* sh_offset */
    f->bytes[64 + 40 + 23] = 7;   /* sh_size */
    memcpy(f->bytes + 200, "\0names", 7);
    assert_int_equal(read_image(f), RSDK_OK);
    assert_int_equal(f->sections.count, 2);
    assert_string_equal(f->sections.items[1].name, "names");
    assert_int_equal(f->sections.items[1].offset, 200);
    assert_int_equal(f->sections.items[1].size, 7);
}

/* ---- damaged tables ---- */

static void no_elf_file(void **state) {
    fixture *f = *state;
    f->bytes[0] = 'x';
    assert_damaged(f, "not an ELF file");
    f->size = sizeof(Elf64_Ehdr) - 1;
    assert_damaged(f, "not an ELF file");
    f->size = 0;
    assert_damaged(f, "not an ELF file");
}

static void table_outside_the_file(void **state) {
    fixture *f = *state;
    header(f)->e_shoff = UINT64_MAX - 8;
    assert_damaged(f, "outside the file");
    header(f)->e_shnum = 0;
    assert_damaged(f, "outside the file");
    header(f)->e_shoff = f->size - sizeof(Elf64_Shdr) + 1;
    assert_damaged(f, "outside the file");
}

static void headers_of_another_size(void **state) {
    fixture *f = *state;
    header(f)->e_shentsize--;
    assert_damaged(f, "not of the size");
}

static void wild_counts(void **state) {
    fixture *f = *state;
    header(f)->e_shnum = 0xfeff;
    assert_damaged(f, "outside the file");
    header(f)->e_shnum = 0;
    section(f, 0)->sh_size = UINT64_MAX;
    assert_damaged(f, "more sections");
    section(f, 0)->sh_size = 1 << 17;
    assert_damaged(f, "outside the file");
}

static void names_elsewhere(void **state) {
    fixture *f = *state;
    uint64_t size = names(f)->sh_size;
    section(f, 1)->sh_name = UINT32_MAX;
    assert_damaged(f, "outside the table of names");
    section(f, 1)->sh_name = 0;
    f->bytes[names(f)->sh_offset + size - 1] = 'x'; /* the last name does not end */
    section(f, 1)->sh_name = (Elf64_Word)size - 1;
    assert_damaged(f, "outside the table of names");
    names(f)->sh_size = UINT64_MAX;
    assert_damaged(f, "names of its sections");
    names(f)->sh_size = size;
    names(f)->sh_offset = f->size;
    assert_damaged(f, "names of its sections");
    names(f)->sh_type = SHT_PROGBITS;
    assert_damaged(f, "names of its sections");
    header(f)->e_shstrndx = header(f)->e_shnum;
    assert_damaged(f, "does not exist");
}

/* The last byte of the table ends a name and is an empty one; the byte behind it is none. */
static void names_at_the_end_of_the_table(void **state) {
    fixture *f = *state;
    section(f, 1)->sh_name = (Elf64_Word)names(f)->sh_size - 1;
    assert_int_equal(read_image(f), RSDK_OK);
    assert_string_equal(f->sections.items[1].name, "");
    section(f, 1)->sh_name++;
    assert_damaged(f, "outside the table of names");
}

/* A table of no bytes may lie at the end of the file; no name is in it. */
static void empty_table_of_names_at_the_end(void **state) {
    fixture *f = *state;
    names(f)->sh_offset = f->size;
    names(f)->sh_size = 0;
    assert_damaged(f, "outside the table of names");
    names(f)->sh_offset++;
    assert_damaged(f, "the names of its sections lie outside the file");
}

/* A table of `count` sections of which the first holds the names: `size` bytes, all but the last one 'n'. */
static void make_table(fixture *f, Elf64_Half count, size_t size) {
    size_t table = 64, strings = table + count * sizeof(Elf64_Shdr);
    header(f)->e_shoff = table;
    header(f)->e_shnum = count;
    header(f)->e_shstrndx = 1;
    f->size = strings + size;
    assert_true(f->size <= IMAGE_LIMIT);
    memset(f->bytes + table, 0, f->size - table);
    memset(f->bytes + strings, 'n', size - 1);
    *section(f, 1) = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = size};
}

/* 4 MiB of names are read, one byte more is refused. */
static void names_as_long_as_a_library_has(void **state) {
    enum { COUNT = 1024, NAME = 4096 };
    fixture *f = *state;
    make_table(f, COUNT, 1 + NAME + 1);
    for (size_t i = 0; i < COUNT; i++) {
        section(f, i)->sh_name = 1;
    }
    assert_int_equal(read_image(f), RSDK_OK);
    assert_int_equal(strlen(f->sections.items[COUNT - 1].name), NAME);
    section(f, 0)->sh_name = 0;
    assert_damaged(f, "longer than in any library");
}

/* One long name that every section shares must not become a copy for each. */
static void shared_names(void **state) {
    fixture *f = *state;
    make_table(f, 1000, 8000);
    assert_damaged(f, "longer than in any library");
}

static int next_descriptor(void) {
    int descriptor = open("/dev/null", O_RDONLY);
    assert_true(descriptor >= 0);
    assert_int_equal(close(descriptor), 0);
    return descriptor;
}

static void no_descriptor_is_left_open(void **state) {
    fixture *f = *state;
    int before = next_descriptor();
    assert_int_equal(read_image(f), RSDK_OK);
    assert_int_equal(next_descriptor(), before);
    f->bytes[0] = 'x';
    assert_damaged(f, "not an ELF file");
    assert_int_equal(next_descriptor(), before);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(all_headers_in_file_order),
        TEST(figures_in_the_first_header),
        TEST(no_table),
        TEST(no_names),
        TEST(another_class_and_byte_order),
        TEST(no_elf_file),
        TEST(table_outside_the_file),
        TEST(headers_of_another_size),
        TEST(wild_counts),
        TEST(names_elsewhere),
        TEST(names_at_the_end_of_the_table),
        TEST(empty_table_of_names_at_the_end),
        TEST(names_as_long_as_a_library_has),
        TEST(shared_names),
        TEST(no_descriptor_is_left_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
