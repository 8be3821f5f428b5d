/* GNU properties: the note as linkers write it, and each way to cut it off. */
#include "elf/elf_property.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { WANTED = 0x50008002, OTHER = 0x50010002 };

/* Another note, then one with two properties. */
static const uint32_t note[] = {4, 4, 1, 0x554E47, 7, 0, 4, 32, 5, 0x554E47, OTHER, 4, 1, 0, WANTED, 4, 6, 0};

static void a_whole_note(void **state) {
    assert_int_equal(rsdk_elf_property_find((const char *)note, sizeof note, WANTED), 6);
    assert_int_equal(rsdk_elf_property_find((const char *)note, sizeof note, OTHER), 1);
    assert_int_equal(rsdk_elf_property_find((const char *)note, sizeof note, 1), 0);
    assert_int_equal(rsdk_elf_property_find((const char *)note, 0, WANTED), 0);
}

/* In memory of exactly its size, so that the address sanitizer sees what lies behind. */
static void a_note_that_is_cut_off(void **state) {
    for (size_t size = 1; size < sizeof note; size++) {
        char *part = malloc(size);
        assert_non_null(part);
        memcpy(part, note, size);
        uint32_t value = rsdk_elf_property_find(part, size, WANTED);
        assert_true(value == 0 || (value == 6 && size >= sizeof note - sizeof(uint32_t)));
        free(part);
    }
}

static void sizes_that_lie(void **state) {
    static const uint32_t sizes[] = {0, 1, 3, 5, 33, 0x7FFFFFFF, 0xFFFFFFF8, 0xFFFFFFFF};
    static const size_t places[] = {0, 1, 6, 7, 11, 15};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            uint32_t changed[sizeof note / sizeof *note];
            memcpy(changed, note, sizeof note);
            changed[places[i]] = sizes[j];
            uint32_t value = rsdk_elf_property_find((const char *)changed, sizeof changed, WANTED);
            assert_true(value == 0 || value == 6);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_note), cmocka_unit_test(a_note_that_is_cut_off),
                                       cmocka_unit_test(sizes_that_lie)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
