/* The arena, the growing text, errors, directory listings and the table of names: what everything else stands on. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arena_fixture.h"
#include "base/directory.h"
#include "base/fail.h"
#include "base/name_table.h"
#include "base/path.h"
#include "base/text.h"
#include "child_process.h"
#include "problem_text.h"
#include "sample_sdk.h"
#include "suite.h"

typedef struct fixture {
    rsdk_arena arena;
    rsdk_error error;
    rsdk_name_table table;
    rsdk_unique_strings strings;
} fixture;

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clear)

DEFINE_ARENA_FIXTURE(fixture)

static void pieces_are_zeroed_aligned_and_apart(void **state) {
    fixture *f = *state;
    unsigned char *before = NULL;
    for (size_t size = 1; size < 40000; size = size * 2 + 1) {
        unsigned char *piece = rsdk_arena_alloc(&f->arena, size, 1);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(piece[i], 0);
        }
        memset(piece, 0xAA, size);
        assert_ptr_not_equal(piece, before);
        before = piece;
    }
}

static void overflow_is_refused(void **state) {
    fixture *f = *state;
    assert_null(rsdk_arena_alloc(&f->arena, SIZE_MAX / 2, 3));
    assert_null(rsdk_arena_alloc(&f->arena, SIZE_MAX, 1));
    assert_null(rsdk_arena_alloc(&f->arena, SIZE_MAX - 8, 1));
    assert_null(rsdk_arena_alloc_room(&f->arena, SIZE_MAX - 8));
}

static void texts_are_copied(void **state) {
    fixture *f = *state;
    const char *copy = rsdk_arena_copy_bytes(&f->arena, "abcdef", 3);
    assert_string_equal(copy, "abc");
    assert_string_equal(rsdk_arena_copy(&f->arena, ""), "");
    assert_string_equal(rsdk_arena_format(&f->arena, "%s-%d", copy, 7), "abc-7");
    rsdk_arena_clear(&f->arena);
    assert_string_equal(rsdk_arena_copy(&f->arena, "again"), "again"); /* usable after a clear */
}

typedef RSDK_LIST(size_t) number_list;

static rsdk_status append_squares(fixture *f, number_list *list, rsdk_error *error) {
    for (size_t i = 0; i < 1000; i++) {
        RSDK_APPEND(&f->arena, list, i * i, error);
    }
    return RSDK_OK;
}

static void lists_grow(void **state) {
    fixture *f = *state;
    number_list list = {0};
    assert_int_equal(append_squares(f, &list, NULL), RSDK_OK);
    assert_int_equal(list.count, 1000);
    assert_int_equal(list.items[999], 999 * 999);
}

static void text_lists_items(void **state) {
    rsdk_text text = RSDK_TEXT_INIT;
    assert_string_equal(rsdk_text_get(&text), "");
    for (size_t i = 0; i < 200; i++) {
        rsdk_text_add_item(&text, ", ", "item");
    }
    assert_int_equal(text.length, 200 * 4 + 199 * 2);
    assert_int_equal(strncmp(rsdk_text_get(&text), "item, item, ", 12), 0);
    assert_false(text.failed);
    rsdk_text_clear(&text);
    assert_string_equal(rsdk_text_get(&text), "");
}

static void errors_are_replaced_and_cleared(void **state) {
    rsdk_error error = RSDK_ERROR_INIT;
    assert_string_equal(rsdk_error_message(&error), "no error");
    assert_int_equal(rsdk_fail_as(&error, RSDK_IO_ERROR, RSDK_E_LIB_002, "/a",
                                  RSDK_FACTS({"name", "a"}, {"other", NULL}), "%s: broken", "/a"),
                     RSDK_IO_ERROR);
    assert_int_equal(error.fact_count, 1); /* one without a value is not known */
    assert_string_equal(error.facts[0].value, "a");
    assert_string_equal(rsdk_error_detail(&error), "broken");
    assert_int_equal(rsdk_fail(&error, RSDK_BAD_ELF, NULL, "because %s", error.message), RSDK_BAD_ELF);
    assert_string_equal(rsdk_error_message(&error), "because /a: broken"); /* its own text may go into the new one */
    assert_string_equal(rsdk_error_detail(&error), "because /a: broken");
    assert_int_equal(error.code, RSDK_NO_CODE);
    assert_null(error.facts);
    assert_null(error.path);
    assert_int_equal(rsdk_fail_no_memory(&error), RSDK_NO_MEMORY);
    assert_string_equal(rsdk_error_message(&error), "out of memory");
    (void)rsdk_fail(&error, RSDK_IO_ERROR, "/a", "/ab: broken"); /* another path that begins with this one */
    assert_string_equal(rsdk_error_detail(&error), "/ab: broken");
    assert_int_equal(rsdk_fail(NULL, RSDK_BAD_ELF, NULL, "nobody asked"), RSDK_BAD_ELF);
    assert_int_equal(rsdk_fail_no_memory(NULL), RSDK_NO_MEMORY);
    rsdk_error_clear(&error);
    assert_int_equal(error.status, RSDK_OK);
}

static void list_as_nobody(void *site) {
    rsdk_directory directory;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_arena arena = RSDK_ARENA_INIT;
    become_nobody();
    REQUIRE(rsdk_directory_read(sample_path(site, "listed"), &arena, &directory, &error) == RSDK_IO_ERROR);
    REQUIRE_CONTAINS(error.message, "cannot list: Permission denied");
    REQUIRE_CONTAINS(problem_fix_of(&error, NULL), "Run as root: chmod a+rx ");
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
}

static void directories_are_listed(void **state) {
    fixture *f = *state;
    sample_site site = sample_site_new();
    rsdk_directory directory;
    rsdk_error error = RSDK_ERROR_INIT;
    static const char *const names[] = {"b", "a", "libx.so.10", "libx.so.9", ".hidden"};
    sample_directory(&site, "listed");
    const char *path = sample_path(&site, "listed");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64] = "listed/";
        sample_file(&site, strcat(name, names[i]), "");
    }
    assert_int_equal(rsdk_directory_read(path, &f->arena, &directory, &error), RSDK_OK);
    assert_true(directory.exists);
    assert_int_equal(directory.names.count, 5);
    assert_string_equal(directory.names.items[0], ".hidden");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(rsdk_directory_has(&directory, names[i]));
    }
    assert_false(rsdk_directory_has(&directory, "c"));
    assert_false(rsdk_directory_has(&directory, ".."));
    assert_int_equal(rsdk_directory_read(sample_path(&site, "listed/a"), &f->arena, &directory, &error), RSDK_OK);
    assert_false(directory.exists); /* a file is not a directory */
    assert_int_equal(rsdk_directory_read("/nonexistent", &f->arena, &directory, &error), RSDK_OK);
    assert_false(directory.exists || rsdk_directory_has(&directory, "a"));
    assert_int_equal(chmod(path, 0), 0);
    run_in_child(list_as_nobody, &site);
    sample_site_remove(&site);
}

static void paths_are_taken_apart(void **state) {
    fixture *f = *state;
    assert_string_equal(rsdk_path_join(&f->arena, "/a", "b"), "/a/b");
    assert_string_equal(rsdk_path_parent(&f->arena, "/a/b"), "/a");
    assert_string_equal(rsdk_path_parent(&f->arena, "/a"), "/");
    assert_string_equal(rsdk_path_parent(&f->arena, "a"), ".");
    assert_string_equal(rsdk_path_name("/a/b"), "b");
    assert_string_equal(rsdk_path_name("b"), "b");
    assert_string_equal(rsdk_path_below("/a/b/c", "/a"), "b/c");
    assert_null(rsdk_path_below("/ab/c", "/a"));
    assert_null(rsdk_path_below("/a", "/a"));
    assert_string_equal(rsdk_path_without_dots(&f->arena, "//a/./b/../c/"), "/a/c");
    assert_string_equal(rsdk_path_without_dots(&f->arena, "/../.."), "/");
    assert_string_equal(rsdk_path_without_dots(&f->arena, "/a/..b/...c"), "/a/..b/...c");
    assert_string_equal(rsdk_path_without_dots(&f->arena, "a/../b"), "a/../b");
}

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

int main(void) {
    const struct CMUnitTest tests[] = {TEST(pieces_are_zeroed_aligned_and_apart),
                                       TEST(overflow_is_refused),
                                       TEST(texts_are_copied),
                                       TEST(lists_grow),
                                       TEST(text_lists_items),
                                       TEST(errors_are_replaced_and_cleared),
                                       TEST(directories_are_listed),
                                       TEST(paths_are_taken_apart),
                                       TEST(empty_table_has_nothing),
                                       TEST(names_are_found_while_the_table_grows),
                                       TEST(length_counts_and_bytes_do_not_end_at_a_null),
                                       TEST(second_number_replaces_the_first),
                                       TEST(unique_strings_keep_the_first_of_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
