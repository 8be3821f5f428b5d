/* Small parts of ELF files: build IDs and GNU properties as linkers write them, each way to cut their notes off and
 * sizes that lie; SONAMEs, which are split into linker name and version. */
#include "elf/elf_note.h"

#include <stdlib.h>
#include <string.h>

#include "elf/soname.h"
#include "suite.h"

enum { BUILD_ID = 3, GNU = 0x554E47, WORDS = 11 };

/* A note of another owner with a name and a description that need padding, then the build ID 0102030405. */
static const uint32_t notes[WORDS] = {5, 1, BUILD_ID, 0x786568, 0, 7, 4, 5, BUILD_ID, GNU, 0x04030201};
static const uint32_t last = 0x05;

static void fill(unsigned char *bytes) {
    memcpy(bytes, notes, sizeof notes);
    memcpy(bytes + sizeof notes, &last, 1);
}

static const char *build_id_of(rsdk_arena *arena, const void *bytes, size_t size, uint64_t align) {
    const char *found = NULL;
    assert_true(rsdk_elf_note_build_id(bytes, size, align, arena, &found));
    return found;
}

static void the_build_id_behind_another_note(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    unsigned char bytes[sizeof notes + 1];
    fill(bytes);
    assert_string_equal(build_id_of(&arena, bytes, sizeof bytes, 4), "0102030405");
    assert_string_equal(build_id_of(&arena, bytes, sizeof bytes, 1), "0102030405");
    assert_null(build_id_of(&arena, bytes, 0, 4));
    rsdk_arena_clear(&arena);
}

/* With padding to 8 bytes the description begins at byte 16, and the next note at byte 24. */
static void padding_to_eight_bytes(void **state) {
    static const uint32_t padded[] = {4, 4, 1, GNU, 9, 0, 4, 2, BUILD_ID, GNU, 0xBBAA};
    rsdk_arena arena = RSDK_ARENA_INIT;
    assert_string_equal(build_id_of(&arena, padded, sizeof padded, 8), "aabb");
    assert_null(build_id_of(&arena, padded, sizeof padded, 4));
    rsdk_arena_clear(&arena);
}

/* In memory of exactly its size, so that the address sanitizer sees what lies behind. */
static void notes_that_are_cut_off(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    unsigned char bytes[sizeof notes + 1];
    fill(bytes);
    for (size_t size = 1; size < sizeof bytes; size++) {
        unsigned char *part = malloc(size);
        assert_non_null(part);
        memcpy(part, bytes, size);
        assert_null(build_id_of(&arena, part, size, 4));
        assert_null(build_id_of(&arena, part, size, 8));
        free(part);
    }
    rsdk_arena_clear(&arena);
}

static void sizes_that_lie(void **state) {
    static const uint32_t sizes[] = {0, 3, 65, 0x7FFFFFFF, 0xFFFFFFF4, 0xFFFFFFF8, 0xFFFFFFFF};
    static const size_t places[] = {0, 1, 6, 7};
    rsdk_arena arena = RSDK_ARENA_INIT;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            uint32_t changed[WORDS + 30] = {0};
            memcpy(changed, notes, sizeof notes);
            changed[places[i]] = sizes[j];
            const char *found = build_id_of(&arena, changed, sizeof changed, 4);
            assert_true(found == NULL || strlen(found) <= 128);
            assert_true(found == NULL || sizes[j] < 65);
        }
    }
    rsdk_arena_clear(&arena);
}

enum { WANTED = 0x50008002, OTHER = 0x50010002 };

/* Another note, then one with two properties. */
static const uint32_t properties[] = {4, 4, 1, 0x554E47, 7, 0, 4, 32, 5, 0x554E47, OTHER, 4, 1, 0, WANTED, 4, 6, 0};

static void properties_of_a_whole_note(void **state) {
    assert_int_equal(rsdk_elf_property_find((const char *)properties, sizeof properties, WANTED), 6);
    assert_int_equal(rsdk_elf_property_find((const char *)properties, sizeof properties, OTHER), 1);
    assert_int_equal(rsdk_elf_property_find((const char *)properties, sizeof properties, 1), 0);
    assert_int_equal(rsdk_elf_property_find((const char *)properties, 0, WANTED), 0);
}

/* In memory of exactly its size, so that the address sanitizer sees what lies behind. */
static void properties_that_are_cut_off(void **state) {
    for (size_t size = 1; size < sizeof properties; size++) {
        char *part = malloc(size);
        assert_non_null(part);
        memcpy(part, properties, size);
        uint32_t value = rsdk_elf_property_find(part, size, WANTED);
        assert_true(value == 0 || (value == 6 && size >= sizeof properties - sizeof(uint32_t)));
        free(part);
    }
}

static void sizes_of_properties_that_lie(void **state) {
    static const uint32_t sizes[] = {0, 1, 3, 5, 33, 0x7FFFFFFF, 0xFFFFFFF8, 0xFFFFFFFF};
    static const size_t places[] = {0, 1, 6, 7, 11, 15};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            uint32_t changed[sizeof properties / sizeof *properties];
            memcpy(changed, properties, sizeof properties);
            changed[places[i]] = sizes[j];
            uint32_t value = rsdk_elf_property_find((const char *)changed, sizeof changed, WANTED);
            assert_true(value == 0 || value == 6);
        }
    }
}

static void linker_names_end_with_so(void **state) {
    assert_int_equal(rsdk_soname_linker_name_length("libamdhip64.so.7"), strlen("libamdhip64.so"));
    assert_int_equal(rsdk_soname_linker_name_length("libamdhip64.so"), strlen("libamdhip64.so"));
    assert_int_equal(rsdk_soname_linker_name_length("lib.sound.so.1.2"), strlen("lib.sound.so"));
    assert_int_equal(rsdk_soname_linker_name_length("libLLVM-17"), strlen("libLLVM-17"));
    assert_int_equal(rsdk_soname_linker_name_length(""), 0);
}

static void versions_of_one_library_share_it(void **state) {
    assert_true(rsdk_soname_has_linker_name("libx.so.1", "libx.so"));
    assert_false(rsdk_soname_has_linker_name("libx.so.1", "libx"));
    assert_false(rsdk_soname_has_linker_name("libxy.so.1", "libx.so"));
    assert_true(rsdk_soname_is_same_library("libx.so.1", "libx.so.2.3"));
    assert_false(rsdk_soname_is_same_library("libx.so.1", "liby.so.1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_build_id_behind_another_note), cmocka_unit_test(padding_to_eight_bytes),
        cmocka_unit_test(notes_that_are_cut_off),           cmocka_unit_test(sizes_that_lie),
        cmocka_unit_test(properties_of_a_whole_note),       cmocka_unit_test(properties_that_are_cut_off),
        cmocka_unit_test(sizes_of_properties_that_lie),     cmocka_unit_test(linker_names_end_with_so),
        cmocka_unit_test(versions_of_one_library_share_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
