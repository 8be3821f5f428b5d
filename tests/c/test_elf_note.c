/* Notes: build IDs as linkers write them, both paddings, each way to cut them off, and sizes that lie. */
#include "elf/elf_note.h"

#include <stdlib.h>
#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_build_id_behind_another_note),
                                       cmocka_unit_test(padding_to_eight_bytes),
                                       cmocka_unit_test(notes_that_are_cut_off), cmocka_unit_test(sizes_that_lie)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
