/* Page lists: what one says, and what none may say. */
#include <stdlib.h>
#include <string.h>

#include "arena_fixture.h"
#include "loader/read_ahead/page_list.h"
#include "suite.h"

typedef struct fixture {
    rsdk_arena arena;
    rsdk_error error;
} fixture;

DEFINE_ARENA_FIXTURE(fixture)

#define FIRST "rocm-sdk-pages 1\n"
#define HIP   "_rocm_sdk_core/lib/libamdhip64.so.7\t40961\t0aff@640\t1\t0-2,4,9-10\n"
#define HSA   "_rocm_sdk_core/lib/llvm/lib/libLLVM.so\t1\t-\t-\t0\n"

static rsdk_status parse(fixture *f, const char *text, size_t size, rsdk_page_list *list) {
    char *copy = rsdk_arena_copy_bytes(&f->arena, text, size);
    assert_non_null(copy);
    rsdk_error_clear(&f->error);
    return rsdk_page_list_parse("a.pages", copy, size, &f->arena, list, &f->error);
}

static void a_list_is_read_and_written(void **state) {
    fixture *f = *state;
    static const char text[] = FIRST HIP HSA;
    rsdk_page_list list;
    rsdk_text written = RSDK_TEXT_INIT;
    assert_int_equal(parse(f, text, strlen(text), &list), RSDK_OK);
    assert_int_equal(list.files.count, 2);
    const rsdk_paged_file *hip = &list.files.items[0], *llvm = &list.files.items[1];
    assert_string_equal(hip->directory, "_rocm_sdk_core/lib");
    assert_string_equal(hip->name, "libamdhip64.so.7");
    assert_int_equal(hip->size, 40961);
    assert_int_equal(hip->build_id_size, 2);
    assert_memory_equal(hip->build_id, "\x0a\xff", 2);
    assert_int_equal(hip->build_id_place, 640);
    assert_int_equal(hip->needed.count, 1);
    assert_int_equal(hip->needed.items[0], 1);
    assert_int_equal(hip->ranges.count, 3);
    assert_int_equal(hip->ranges.items[0].first, 0);
    assert_int_equal(hip->ranges.items[0].last, 2);
    assert_int_equal(hip->ranges.items[1].first, 4);
    assert_int_equal(hip->ranges.items[1].last, 4);
    assert_string_equal(llvm->directory, "_rocm_sdk_core/lib/llvm/lib");
    assert_int_equal(llvm->build_id_size + llvm->needed.count, 0);
    rsdk_page_list_add_text(&list, &written);
    assert_string_equal(rsdk_text_get(&written), text);
    rsdk_text_clear(&written);
}

/* A list with one file, whose line is `line`, and what is wrong with it. */
typedef struct wrong_line {
    const char *line, *complaint;
} wrong_line;

static void a_line_that_is_wrong_is_named(void **state) {
    fixture *f = *state;
    static const char no_path[] = "not the path of a library", no_size[] = "not a size", no_id[] = "not a build ID";
    static const char no_numbers[] = "not the numbers of files", no_pages[] = "not pages of the file in their order";
    static const wrong_line lines[] = {
        {"", "has fewer than five fields"},
        {"a/b\t1\t-\t-", "has fewer than five fields"},
        {"b\t1\t-\t-\t0", no_path},
        {"/etc/passwd\t1\t-\t-\t0", no_path},
        {"a/../b\t1\t-\t-\t0", no_path},
        {"../a/b\t1\t-\t-\t0", no_path},
        {"a/..\t1\t-\t-\t0", no_path},
        {"./a\t1\t-\t-\t0", no_path},
        {"a//b\t1\t-\t-\t0", no_path},
        {"a/\t1\t-\t-\t0", no_path},
        {"a/b\t0\t-\t-\t0", no_size},
        {"a/b\t-1\t-\t-\t0", no_size},
        {"a/b\t01\t-\t-\t0", no_size},
        {"a/b\t09\t-\t-\t0", no_size},
        {"a/b\t1 \t-\t-\t0", no_size},
        {"a/b\t9223372036854775808\t-\t-\t0", no_size},
        {"a/b\t18446744073709551617\t-\t-\t0", no_size},
        {"a/b\t9\t\t-\t0", no_id},
        {"a/b\t9\t0\t-\t0", no_id},
        {"a/b\t9\t0a\t-\t0", no_id},
        {"a/b\t9\t0A@0\t-\t0", no_id},
        {"a/b\t9\t0g@0\t-\t0", no_id},
        {"a/b\t9\t0a@9\t-\t0", no_id},
        {"a/b\t9\t0a@10\t-\t0", no_id},
        {"a/b\t9\t0a@0x\t-\t0", no_id},
        {"a/b\t9\t0a@00\t-\t0", no_id},
        {"a/b\t1\t0a0b@0\t-\t0", no_id},
        {"a/b\t9\t-\t\t0", no_numbers},
        {"a/b\t9\t-\t0,\t0", no_numbers},
        {"a/b\t9\t-\t0 1\t0", no_numbers},
        {"a/b\t9\t-\t4096\t0", no_numbers},
        {"a/b\t9\t-\t00\t0", no_numbers},
        {"a/b\t9\t-\t1\t0", "brings in a file that the list does not have"},
        {"a/b\t9\t-\t-\t", no_pages},
        {"a/b\t9\t-\t-\t-", no_pages},
        {"a/b\t9\t-\t-\t1", no_pages},
        {"a/b\t9\t-\t-\t00", no_pages},
        {"a/b\t9\t-\t-\t0-00", no_pages},
        {"a/b\t4096\t-\t-\t1", no_pages},
        {"a/b\t9\t-\t-\t0-1", no_pages},
        {"a/b\t9999\t-\t-\t1,1", no_pages},
        {"a/b\t9999\t-\t-\t1-0", no_pages},
        {"a/b\t9999\t-\t-\t1,0", no_pages},
        {"a/b\t9999\t-\t-\t0,", no_pages},
        {"a/b\t9999\t-\t-\t0-", no_pages},
        {"a/b\t9999\t-\t-\t0\t1", no_pages},
        {"a/b\t9223372036854775807\t-\t-\t0-9223372036854775807", no_pages},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        rsdk_page_list list;
        const char *text = rsdk_arena_format(&f->arena, FIRST "%s\n", lines[i].line);
        const char *expected = rsdk_arena_format(&f->arena, "a.pages, line 2: %s", lines[i].complaint);
        assert_int_equal(parse(f, text, strlen(text), &list), RSDK_BAD_METADATA);
        assert_string_equal(rsdk_error_message(&f->error), expected);
    }
}

static void each_line_is_checked_for_what_it_brings_in(void **state) {
    fixture *f = *state;
    static const char text[] = FIRST HSA HSA "a/b\t9\t-\t2,3\t0\n";
    rsdk_page_list list;
    assert_int_equal(parse(f, text, strlen(text), &list), RSDK_BAD_METADATA);
    assert_string_equal(rsdk_error_message(&f->error), "a.pages, line 4: brings in a file that the list does not have");
}

static void what_is_no_list_is_refused(void **state) {
    fixture *f = *state;
    static const char nul[] = FIRST "a/b\t9\t-\t-\t0\n\0\n";
    static const char *const texts[] = {"", "\n", FIRST, "rocm-sdk-pages 2\n" HSA, HSA, FIRST HSA "a", FIRST "\n"};
    rsdk_page_list list;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(parse(f, texts[i], strlen(texts[i]), &list), RSDK_BAD_METADATA);
    }
    assert_int_equal(parse(f, nul, sizeof nul - 1, &list), RSDK_BAD_METADATA);
}

static void a_list_has_limits(void **state) {
    fixture *f = *state;
    rsdk_text text = RSDK_TEXT_INIT;
    rsdk_page_list list;
    rsdk_text_add(&text, FIRST "a/b\t99\t");
    for (int i = 0; i <= RSDK_PAGED_BUILD_ID_LIMIT; i++) {
        rsdk_text_add(&text, "00");
    }
    rsdk_text_add(&text, "@0\t-\t0\n");
    assert_int_equal(parse(f, text.data, text.length, &list), RSDK_BAD_METADATA);
    rsdk_text_clear(&text);
    rsdk_text_add(&text, FIRST);
    for (int i = 0; i < RSDK_PAGED_FILES_LIMIT; i++) {
        rsdk_text_add(&text, "a/b\t1\t-\t%d\t0\n", RSDK_PAGED_FILES_LIMIT - 1);
    }
    assert_int_equal(parse(f, text.data, text.length, &list), RSDK_OK);
    rsdk_text_add(&text, "a/b\t1\t-\t-\t0\n");
    assert_int_equal(parse(f, text.data, text.length, &list), RSDK_BAD_METADATA);
    rsdk_text_clear(&text);
    rsdk_text_add(&text, FIRST "a/b\t9223372036854775807\t-\t-\t0");
    for (int i = 2; text.length < RSDK_PAGE_LIST_LIMIT; i += 2) {
        rsdk_text_add(&text, ",%d", i);
    }
    rsdk_text_add(&text, "\n");
    assert_int_equal(parse(f, text.data, text.length, &list), RSDK_BAD_METADATA);
    assert_non_null(strstr(rsdk_error_message(&f->error), "more than the MiB"));
    rsdk_text_clear(&text);
    for (int more = 0; more < 2; more++) {
        rsdk_text_add(&text, FIRST HSA "a/b\t9223372036854775807\t-\t-\t0-%d\n", RSDK_PAGES_LIMIT - 2 + more);
        assert_int_equal(parse(f, text.data, text.length, &list), more == 0 ? RSDK_OK : RSDK_BAD_METADATA);
        rsdk_text_clear(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_is_read_and_written, make, clear),
        cmocka_unit_test_setup_teardown(a_line_that_is_wrong_is_named, make, clear),
        cmocka_unit_test_setup_teardown(each_line_is_checked_for_what_it_brings_in, make, clear),
        cmocka_unit_test_setup_teardown(what_is_no_list_is_refused, make, clear),
        cmocka_unit_test_setup_teardown(a_list_has_limits, make, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
