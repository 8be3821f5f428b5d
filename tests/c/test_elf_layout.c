/* Damaged layouts: a real library whose headers are changed one at a time. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "elf/elf_layout.h"
#include "file_damages.h"
#include "suite.h"

enum { IMAGE_LIMIT = 1 << 20, SEGMENT_LIMIT = 64 };

static char directory[] = "/tmp/rocm-sdk-layout-XXXXXX";
static char path[64];
static unsigned char image[IMAGE_LIMIT];
static size_t image_size;

static int compile_library(void **state) {
    char command[256];
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/libx.so", directory);
    (void)snprintf(command, sizeof command, "echo 'int x(void) { return 1; }' | cc -shared -fPIC -x c - -o %s", path);
    if (system(command) != 0) {
        return -1;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return -1;
    }
    image_size = fread(image, 1, sizeof image, file);
    return fclose(file);
}

static int remove_library(void **state) {
    return unlink(path) + rmdir(directory);
}

static void write_image(const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Headers of the library, to be changed; the rest of the file stays. */
typedef struct headers {
    ElfW(Ehdr) file;
    ElfW(Phdr) segments[SEGMENT_LIMIT];
} headers;

static headers sound_headers(void) {
    headers h;
    memcpy(&h.file, image, sizeof h.file);
    assert_true(h.file.e_phnum < SEGMENT_LIMIT);
    memcpy(h.segments, image + h.file.e_phoff, h.file.e_phnum * sizeof *h.segments);
    return h;
}

static ElfW(Phdr) * segment_of(headers *h, uint32_t type, unsigned number) {
    for (unsigned i = 0; i < h->file.e_phnum; i++) {
        if (h->segments[i].p_type == type && number-- == 0) {
            return &h->segments[i];
        }
    }
    fail_msg("no segment of type %u", type);
    return NULL;
}

/* The damages of the file as it is, in one text. */
static const char *damages_of_file(void) {
    static char all[4096];
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_damages damages = {0};
    assert_int_equal(find_damages(path, &arena, &damages), RSDK_OK);
    all[0] = '\0';
    for (size_t i = 0; i < damages.count; i++) {
        assert_int_equal(damages.items[i].code, RSDK_E_LIB_006);
        assert_string_equal(damages.items[i].detail, damages.items[i].message);
        (void)strcat(strcat(all, damages.items[i].message), "; ");
    }
    rsdk_arena_clear(&arena);
    return all;
}

/* The damages of the library with these headers. */
static const char *damages_with(const headers *h) {
    static unsigned char changed[IMAGE_LIMIT];
    memcpy(changed, image, image_size);
    memcpy(changed, &h->file, sizeof h->file);
    memcpy(changed + h->file.e_phoff, h->segments, h->file.e_phnum * sizeof *h->segments);
    write_image(changed, image_size);
    return damages_of_file();
}

static void assert_damage(const headers *h, const char *part) {
    const char *all = damages_with(h);
    if (strstr(all, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, all);
    }
}

static void a_sound_library(void **state) {
    headers h = sound_headers();
    assert_string_equal(damages_with(&h), "");
}

static void loads(void **state) {
    headers h = sound_headers();
    segment_of(&h, PT_LOAD, 1)->p_vaddr = segment_of(&h, PT_LOAD, 0)->p_vaddr;
    assert_damage(&h, "overlaps");
    h = sound_headers();
    ElfW(Phdr) first = *segment_of(&h, PT_LOAD, 0);
    *segment_of(&h, PT_LOAD, 0) = *segment_of(&h, PT_LOAD, 1);
    *segment_of(&h, PT_LOAD, 1) = first;
    assert_damage(&h, "not in the order of addresses");
    h = sound_headers();
    segment_of(&h, PT_LOAD, 1)->p_vaddr += 8;
    assert_damage(&h, "not aligned");
    h = sound_headers();
    segment_of(&h, PT_LOAD, 0)->p_memsz = 1;
    assert_damage(&h, "longer in the file than in memory");
}

static void parts(void **state) {
    headers h = sound_headers();
    segment_of(&h, PT_DYNAMIC, 0)->p_vaddr = UINT64_MAX - 8;
    assert_damage(&h, "dynamic section lies outside");
    h = sound_headers();
    segment_of(&h, PT_GNU_EH_FRAME, 0)->p_type = PT_PHDR;
    segment_of(&h, PT_PHDR, 0)->p_vaddr = 1U << 30;
    assert_damage(&h, "program headers lie outside");
    h = sound_headers();
    segment_of(&h, PT_NOTE, 0)->p_offset += 64;
    assert_damage(&h, "somewhere else in the file");
    h = sound_headers();
    segment_of(&h, PT_NOTE, 0)->p_filesz = image_size;
    assert_damage(&h, "outside the file");
}

static void sections_and_headers(void **state) {
    headers h = sound_headers();
    h.file.e_shoff = image_size;
    assert_damage(&h, "its end is missing");
    h = sound_headers();
    h.file.e_phentsize = 1;
    assert_damage(&h, "not where it says");
}

/* Moves the first section that is loaded by some bytes in the file; its address stays. */
static void write_moved_section(ElfW(Off) distance, uint32_t type) {
    static unsigned char changed[IMAGE_LIMIT];
    headers h = sound_headers();
    memcpy(changed, image, image_size);
    for (unsigned i = 0; i < h.file.e_shnum; i++) {
        ElfW(Shdr) section;
        unsigned char *place = changed + h.file.e_shoff + i * sizeof section;
        memcpy(&section, place, sizeof section);
        if ((section.sh_flags & SHF_ALLOC) != 0 && section.sh_type != SHT_NOBITS && section.sh_size != 0) {
            section.sh_offset += distance;
            section.sh_type = type != 0 ? type : section.sh_type;
            memcpy(place, &section, sizeof section);
            break;
        }
    }
    write_image(changed, image_size);
}

static void a_section_somewhere_else(void **state) {
    write_moved_section(0, 0);
    assert_string_equal(damages_of_file(), "");
    write_moved_section(8, 0);
    assert_non_null(strstr(damages_of_file(), "section 1 is somewhere else in the file than in memory"));
    write_moved_section(8, SHT_NOBITS);
    assert_string_equal(damages_of_file(), "");
}

static void what_cannot_be_read(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_damages damages = {0};
    write_image("short", 5);
    assert_int_equal(find_damages(path, &arena, &damages), RSDK_IO_ERROR);
    rsdk_arena_clear(&arena);
}

/* A part may be all of a segment; one byte more lies outside. */
static void a_part_that_fills_its_segment(void **state) {
    headers h = sound_headers();
    const ElfW(Phdr) *load = segment_of(&h, PT_LOAD, 0);
    ElfW(Phdr) *part = segment_of(&h, PT_DYNAMIC, 0);
    part->p_vaddr = load->p_vaddr;
    part->p_memsz = load->p_memsz;
    assert_string_equal(damages_with(&h), "");
    part->p_memsz++;
    assert_damage(&h, "dynamic section lies outside");
}

/* Where in the file a segment lies counts for notes alone, and for those that have something. */
static void what_is_no_note(void **state) {
    headers h = sound_headers();
    segment_of(&h, PT_GNU_EH_FRAME, 0)->p_offset = image_size;
    assert_string_equal(damages_with(&h), "");
    h = sound_headers();
    ElfW(Phdr) *empty = segment_of(&h, PT_NOTE, 0);
    empty->p_filesz = empty->p_memsz = 0;
    empty->p_offset = image_size + 1;
    assert_string_equal(damages_with(&h), "");
}

/* 1024 headers are read, one more is damage. */
static void as_many_headers_as_a_library_has(void **state) {
    enum { HEADER_LIMIT = 1024 };
    static unsigned char changed[IMAGE_LIMIT];
    headers h = sound_headers();
    size_t size = image_size + (HEADER_LIMIT + 1) * sizeof *h.segments;
    assert_true(size <= sizeof changed);
    memcpy(changed, image, image_size);
    h.file.e_phoff = image_size; /* zeros: segments of no type */
    for (ElfW(Half) count = HEADER_LIMIT; count <= HEADER_LIMIT + 1; count++) {
        rsdk_arena arena = RSDK_ARENA_INIT;
        rsdk_elf_damages damages = {0};
        h.file.e_phnum = count;
        memcpy(changed, &h.file, sizeof h.file);
        write_image(changed, size);
        assert_int_equal(find_damages(path, &arena, &damages), RSDK_OK);
        assert_int_equal(damages.count, count > HEADER_LIMIT);
        rsdk_arena_clear(&arena);
    }
}

static void needs_of_glibc(void **state) {
    rsdk_elf_version_need needs[] = {{"libc.so.6", "GLIBC_2.9"},
                                     {"libc.so.6", "GLIBC_2.34"},
                                     {"libc.so.6", "GLIBC_PRIVATE"},
                                     {"libstdc++.so.6", "GLIBCXX_3.4.30"}};
    rsdk_elf_file file = {.version_needs = {.items = needs, .count = 4}};
    assert_string_equal(rsdk_elf_file_newest_glibc(&file), "2.34");
    file.version_needs.count = 0;
    assert_null(rsdk_elf_file_newest_glibc(&file));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_library),
        cmocka_unit_test(loads),
        cmocka_unit_test(parts),
        cmocka_unit_test(sections_and_headers),
        cmocka_unit_test(a_part_that_fills_its_segment),
        cmocka_unit_test(what_is_no_note),
        cmocka_unit_test(as_many_headers_as_a_library_has),
        cmocka_unit_test(a_section_somewhere_else),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(needs_of_glibc),
    };
    return cmocka_run_group_tests(tests, compile_library, remove_library);
}
