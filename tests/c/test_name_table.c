/* The table of names: it finds exactly the names that were added, however many there are. */
#include "base/name_table.h"

#include <stdio.h>
#include <string.h>

#include "arena_fixture.h"
#include "suite.h"

typedef struct fixture {
    rsdk_arena arena;
    rsdk_error error;
    rsdk_name_table table;
    rsdk_unique_strings strings;
} fixture;

DEFINE_ARENA_FIXTURE(fixture)

static void set(fixture *f, const char *name, size_t value) {
    assert_int_equal(rsdk_name_table_set(&f->table, &f->arena, name, strlen(name), value, &f->error), RSDK_OK);
}

static void empty_table_has_nothing(void **state) {
    fixture *f = *state;
    size_t value = 7;
    assert_false(rsdk_name_table_find(&f->table, "", 0, &value));
    assert_int_equal(value, 7);
}

static void names_are_found_while_the_table_grows(void **state) {
    enum { COUNT = 20000 };
    fixture *f = *state;
    size_t value = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const char *name = rsdk_arena_format(&f->arena, "lib%zu.so.1", i);
        assert_non_null(name);
        assert_false(rsdk_name_table_find(&f->table, name, strlen(name), &value));
        set(f, name, i);
    }
    assert_int_equal(f->table.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "lib%zu.so.1", i);
        assert_true(rsdk_name_table_find(&f->table, name, (size_t)length, &value));
        assert_int_equal(value, i);
        assert_false(rsdk_name_table_find(&f->table, name, (size_t)length - 1, &value));
    }
}

static void length_counts_and_bytes_do_not_end_at_a_null(void **state) {
    fixture *f = *state;
    size_t value = 0;
    static const char bytes[] = "a\0b\0\0\0\0\0\0c";
    for (size_t length = 0; length < sizeof bytes; length++) {
        assert_int_equal(rsdk_name_table_set(&f->table, &f->arena, bytes, length, length, NULL), RSDK_OK);
    }
    for (size_t length = 0; length < sizeof bytes; length++) {
        assert_true(rsdk_name_table_find(&f->table, bytes, length, &value));
        assert_int_equal(value, length);
    }
    assert_false(rsdk_name_table_find(&f->table, "a\0c", 3, &value));
}

static void second_number_replaces_the_first(void **state) {
    fixture *f = *state;
    size_t value = 0;
    set(f, "x", 1);
    set(f, "x", 2);
    assert_true(rsdk_name_table_find(&f->table, "x", 1, &value));
    assert_int_equal(value, 2);
    assert_int_equal(f->table.count, 1);
}

static void unique_strings_keep_the_first_of_each(void **state) {
    fixture *f = *state;
    static const char *const texts[] = {"b", "a", "b", "", "a", "c", ""}, *const wanted[] = {"b", "a", "", "c"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(rsdk_unique_strings_add(&f->strings, &f->arena, texts[i], &f->error), RSDK_OK);
    }
    assert_int_equal(f->strings.list.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < f->strings.list.count; i++) {
        assert_string_equal(f->strings.list.items[i], wanted[i]);
    }
    assert_int_equal(rsdk_unique_strings_add(&f->strings, &f->arena, NULL, &f->error), RSDK_NO_MEMORY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clear)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(empty_table_has_nothing),
        TEST(names_are_found_while_the_table_grows),
        TEST(length_counts_and_bytes_do_not_end_at_a_null),
        TEST(second_number_replaces_the_first),
        TEST(unique_strings_keep_the_first_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
