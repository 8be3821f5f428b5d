/* Text for a terminal: what a terminal obeys is shown, everything else stays. */
#include "base/text.h"

#include <string.h>

#include "suite.h"

static void each_kind(void **state) {
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"plain \xc3\xa4 \xe4\xb8\xad \xf0\x9f\x98\x80", "plain \xc3\xa4 \xe4\xb8\xad \xf0\x9f\x98\x80"},
        {"\x1b[31m\n\t\x7f", "\\x1b[31m\\x0a\\x09\\x7f"},
        {"\xc2\x9b", "\\x9b"},                        /* CSI as UTF-8 */
        {"\x9b\xff\xf5\xc3", "\\x9b\\xff\\xf5\\xc3"}, /* no UTF-8 */
        {"\xc0\x9b\xe0\x82\x9b", "\\xc0\\x9b\\xe0\\x82\\x9b"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond Unicode */
        {"\xed\xb2\x80", "\\udc80"},
        {"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8", "\\u202e\\u2066\\u2028"},
        {"\xf3\xa0\x81\x81", "\\U000e0041"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128];
        rsdk_text_write_harmless(cases[i].text, line, sizeof line);
        assert_string_equal(line, cases[i].shown);
    }
}

/* No room: what is there ends at the end of a character. */
static void cut_short(void **state) {
    for (size_t size = 1; size < 16; size++) {
        char line[16];
        memset(line, '#', sizeof line);
        rsdk_text_write_harmless("ab\x1b\xc3\xa4z", line, size);
        assert_true(strlen(line) < size);
        assert_int_equal(strncmp("ab\\x1b\xc3\xa4z", line, strlen(line)), 0);
        assert_true(strlen(line) != 3 && strlen(line) != 7);
        for (size_t i = size; i < sizeof line; i++) {
            assert_int_equal(line[i], '#');
        }
    }
}

static void as_json(void **state) {
    static const struct {
        const char *value, *text;
    } cases[] = {
        {NULL, "null"},
        {"", "\"\""},
        {"plain \xc3\xa4 \xf0\x9f\x98\x80", "\"plain \xc3\xa4 \xf0\x9f\x98\x80\""},
        {"a\"b\\c\n\x1b", "\"a\\u0022b\\u005cc\\u000a\\u001b\""},
        {"\xff", "\"\\udcff\""},
        {"\xed\xb2\x80", "\"\\udced\\udcb2\\udc80\""}, /* a surrogate is no character */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rsdk_text text = RSDK_TEXT_INIT;
        rsdk_text_add_json(&text, cases[i].value);
        assert_false(text.failed);
        assert_string_equal(rsdk_text_get(&text), cases[i].text);
        rsdk_text_clear(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_kind), cmocka_unit_test(cut_short),
                                       cmocka_unit_test(as_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
