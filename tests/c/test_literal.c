/* Tokens and literals, beyond what the files that are read with them happen to contain. */
#include "sdk/literal.h"

#include <stdlib.h>
#include <string.h>

#include "arena_fixture.h"
#include "suite.h"

typedef struct fixture {
    rsdk_arena arena;
    rsdk_tokens tokens;
    rsdk_literal literal;
    rsdk_error error;
} fixture;

DEFINE_ARENA_FIXTURE(fixture)

static void tokenise(fixture *f, const char *text) {
    rsdk_error error = RSDK_ERROR_INIT;
    f->tokens = (rsdk_tokens){0};
    assert_int_equal(rsdk_literal_tokenise("text", text, strlen(text), &f->arena, &f->tokens, &error), RSDK_OK);
    assert_int_equal(f->tokens.items[f->tokens.count - 1].kind, RSDK_TOKEN_END);
    assert_int_equal(f->tokens.items[f->tokens.count - 2].kind, RSDK_TOKEN_NEWLINE);
}

static void assert_token(fixture *f, size_t index, rsdk_token_kind kind, unsigned line, const char *text) {
    assert_true(index < f->tokens.count);
    assert_int_equal(f->tokens.items[index].kind, kind);
    assert_int_equal(f->tokens.items[index].line, line);
    assert_true(rsdk_literal_is(&f->tokens.items[index], kind, text));
}

static void tokens_have_kinds_and_lines(void **state) {
    fixture *f = *state;
    tokenise(f, "a1 = 'x'\n\n  b.c(0x1F, 1.5e-3) # end\n\xC3\xA9 = f'y'");
    assert_token(f, 0, RSDK_TOKEN_NAME, 1, "a1");
    assert_token(f, 1, RSDK_TOKEN_OPERATOR, 1, "=");
    assert_token(f, 2, RSDK_TOKEN_STRING, 1, "x");
    assert_token(f, 3, RSDK_TOKEN_NEWLINE, 1, "");
    assert_token(f, 4, RSDK_TOKEN_INDENT, 3, "");
    assert_token(f, 5, RSDK_TOKEN_NAME, 3, "b");
    assert_token(f, 9, RSDK_TOKEN_NUMBER, 3, "0x1F");
    assert_token(f, 11, RSDK_TOKEN_NUMBER, 3, "1.5e-3");
    assert_token(f, 13, RSDK_TOKEN_NEWLINE, 3, "");
    assert_token(f, 14, RSDK_TOKEN_NAME, 4, "\xC3\xA9");
    assert_token(f, 16, RSDK_TOKEN_EXECUTED, 4, "y");
}

static void brackets_and_strings_span_lines(void **state) {
    fixture *f = *state;
    tokenise(f, "(\n1,\n'''a\nb''',\n)\nx");
    assert_token(f, 3, RSDK_TOKEN_STRING, 3, "a\nb");
    assert_token(f, 5, RSDK_TOKEN_OPERATOR, 5, ")");
    assert_token(f, 6, RSDK_TOKEN_NEWLINE, 5, "");
    assert_token(f, 7, RSDK_TOKEN_NAME, 6, "x");
}

static bool read(fixture *f, const char *text, size_t *at) {
    tokenise(f, text);
    *at = 0;
    assert_int_equal(rsdk_literal_read(&f->tokens, at, &f->arena, &f->literal, NULL), RSDK_OK);
    return f->literal.kind != RSDK_LITERAL_INVALID;
}

static void assert_text(fixture *f, const rsdk_literal *string, const char *expected) {
    const char *text = NULL;
    assert_int_equal(string->kind, RSDK_LITERAL_STRING);
    assert_int_equal(rsdk_literal_text(string, &f->arena, &text, NULL), RSDK_OK);
    assert_non_null(text);
    assert_string_equal(text, expected);
}

static void literals_nest(void **state) {
    fixture *f = *state;
    size_t at = 0;
    assert_true(read(f, "{'a': [1, -2, None, ('b' 'c', {})], \"d\": True,}", &at));
    assert_int_equal(f->tokens.items[at].kind, RSDK_TOKEN_NEWLINE);
    assert_int_equal(f->literal.kind, RSDK_LITERAL_DICT);
    assert_int_equal(f->literal.items.count, 4); /* key, value, key, value */
    assert_text(f, &f->literal.items.items[0], "a");
    const rsdk_literal *list = &f->literal.items.items[1];
    assert_int_equal(list->kind, RSDK_LITERAL_LIST);
    assert_int_equal(list->items.count, 4);
    assert_text(f, &list->items.items[3].items.items[0], "bc");
    assert_int_equal(list->items.items[3].items.items[1].kind, RSDK_LITERAL_DICT);
    assert_int_equal(f->literal.items.items[3].kind, RSDK_LITERAL_NONE);
}

static void what_is_no_literal_is_refused(void **state) {
    fixture *f = *state;
    static const char *const others[] = {"x",    "[x]",  "{1}", "{1: }", "[1 2]", "-None",     "-'a'",
                                         "f'x'", "b'x'", "",    "+",     "[,]",   "{'a' 'b'}", "[-]"};
    size_t at = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(read(f, others[i], &at));
    }
    assert_true(read(f, "'a' + x", &at)); /* the literal itself; the caller looks at what follows */
    assert_int_equal(f->tokens.items[at].kind, RSDK_TOKEN_OPERATOR);
}

/* The escapes of Python and JSON that facts of an SDK may have; any other makes a string unreadable, and only that. */
static void escapes_are_read_when_asked_for(void **state) {
    fixture *f = *state;
    static const char *const unreadable[] = {"'\\101'", "'\\N{DASH}'", "'\\U00000041'", "'\\ud83d'",
                                             "'\\x00'", "'\\x4'",      "'\\u004'"};
    size_t at = 0;
    assert_true(read(f, "'\\\\ \\' \\\" \\/ \\n\\r\\t\\b\\f \\x41\\u00e9\\u20ac \\\n.'", &at));
    assert_text(f, &f->literal, "\\ ' \" / \n\r\t\b\f A\xC3\xA9\xE2\x82\xAC .");
    assert_true(read(f, "r'\\x41\\'' 'b'", &at));
    assert_text(f, &f->literal, "\\x41\\'b");
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        const char *text = "";
        assert_true(read(f, unreadable[i], &at));
        assert_int_equal(rsdk_literal_text(&f->literal, &f->arena, &text, NULL), RSDK_OK);
        assert_null(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tokens_have_kinds_and_lines, make, clear),
        cmocka_unit_test_setup_teardown(brackets_and_strings_span_lines, make, clear),
        cmocka_unit_test_setup_teardown(literals_nest, make, clear),
        cmocka_unit_test_setup_teardown(what_is_no_literal_is_refused, make, clear),
        cmocka_unit_test_setup_teardown(escapes_are_read_when_asked_for, make, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
