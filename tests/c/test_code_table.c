/* The table of problems and the templates in it: complete rows, names that lead to codes, facts that exist. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "diagnosis/page.h"
#include "diagnosis/tables.h"
#include "rocm_sdk/problem.h"
#include "suite.h"

enum { NAME_SIZE = 64 };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void assert_text(const char *text, const char *code, const char *column) {
    if (text == NULL || text[0] == '\0' || strchr(text, '\n') != NULL) {
        fail_msg("%s: %s is not a line of text", code, column);
    }
}

/* "E-LIB-002": a letter, a word, three digits. */
static void assert_name(const char *name) {
    assert_non_null(name);
    size_t word = strspn(name + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    assert_true(name[0] != '\0' && strchr("EWN", name[0]) != NULL && name[1] == '-' && word > 0);
    assert_true(name[2 + word] == '-' && strspn(name + 3 + word, "0123456789") == 3);
    assert_int_equal(strlen(name), 6 + word);
}

static void every_code_has_a_whole_row(void **state) {
    for (unsigned code = RSDK_NO_CODE + 1; code < RSDK_CODE_COUNT; code++) {
        const rsdk_code_row *row = &rsdk_code_table[code];
        bool has_any = false;
        assert_name(row->name);
        assert_text(row->title, row->name, "the title");
        assert_text(row->cause, row->name, "the cause");
        assert_text(row->about, row->name, "the page's text");
        assert_true(row->severity <= RSDK_SEVERITY_NOTE);
        for (size_t i = 0; i < RSDK_FIX_LIMIT && row->fixes[i].text != NULL; i++) {
            assert_text(row->fixes[i].text, row->name, "a fix");
            assert_true(row->fixes[i].system < RSDK_SYSTEM_COUNT && row->fixes[i].proof <= RSDK_FIX_HARDWARE);
            has_any |= row->fixes[i].system == RSDK_SYSTEM_ANY;
        }
        bool asks_for_nothing = row->severity == RSDK_SEVERITY_NOTE && row->fixes[0].text == NULL;
        if (!has_any && !asks_for_nothing) {
            fail_msg("%s has no fix for any system", row->name);
        }
    }
}

static void a_code_and_its_name_lead_to_each_other(void **state) {
    for (unsigned code = RSDK_NO_CODE + 1; code < RSDK_CODE_COUNT; code++) {
        assert_int_equal(rsdk_code_find(rsdk_code_name((rsdk_code)code)), code); /* so no name is there twice */
    }
    assert_string_equal(rsdk_code_name(RSDK_E_LIB_002), "E-LIB-002");
    assert_string_equal(rsdk_code_name(RSDK_W_LIB_010), "W-LIB-010");
    assert_string_equal(rsdk_code_name(RSDK_N_DEVEL_006), "N-DEVEL-006");
    assert_null(rsdk_code_name(RSDK_NO_CODE));
    assert_null(rsdk_code_name(RSDK_CODE_COUNT));
    assert_int_equal(rsdk_code_find("E-LIB-999"), RSDK_NO_CODE);
    assert_int_equal(rsdk_code_find("e-lib-002"), RSDK_NO_CODE);
    assert_int_equal(rsdk_code_find(""), RSDK_NO_CODE);
}

static void an_alias_is_no_code_of_today(void **state) {
    for (size_t i = 0; i < rsdk_code_alias_count; i++) {
        assert_int_equal(rsdk_code_find(rsdk_code_aliases[i].old), RSDK_NO_CODE);
        assert_text(rsdk_code_aliases[i].now, rsdk_code_aliases[i].old, "what took its place");
    }
}

/* ---- the names in templates ---- */

static size_t uses[256]; /* of each fact word */

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool use_fact(const char *name) {
    for (size_t i = 0; i < rsdk_fact_word_count; i++) {
        if (strcmp(rsdk_fact_words[i].fact, name) == 0) {
            uses[i]++;
            return true;
        }
    }
    return false;
}

/* A {name} is a fact that has words, a command, or a field of the installation that stands for a fact. Braces around
 * anything else are text, but never around something that looks like a name. */
static void walk(const char *template, const char *where) {
    static const char *const others[] = {"install",  "reinstall", "install_sdk",
                                         "rebuild",  "overwrite", "system_reinstall",
                                         "packages", "index",     "index_requirement"};
    for (const char *open = strchr(template, '{'); open != NULL; open = strchr(open + 1, '{')) {
        const char *start = open + 1 + (open[1] == '$'), *end = start + strcspn(start, "|}");
        char name[NAME_SIZE] = "";
        if (!islower((unsigned char)*start)) {
            continue;
        }
        if (strchr(end, '}') == NULL || end - start >= NAME_SIZE) {
            fail_msg("%s: a name that does not end: %s", where, open);
        }
        (void)memcpy(name, start, (size_t)(end - start));
        if (!use_fact(name) && *end != '|' && !is_one_of(name, others, COUNT_OF(others))) {
            fail_msg("%s: {%s} is neither a fact nor a command", where, name);
        }
    }
}

static void walk_installer(const rsdk_installer_row *row) {
    const char *const commands[] = {row->install, row->reinstall, row->install_sdk, row->rebuild, row->overwrite};
    const char *name = row->name != NULL ? row->name : "an unknown installer";
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        assert_text(commands[i], name, "a command");
        walk(commands[i], name);
    }
}

static void templates_name_known_facts_and_each_fact_is_named(void **state) {
    assert_true(rsdk_fact_word_count <= COUNT_OF(uses));
    for (unsigned code = RSDK_NO_CODE + 1; code < RSDK_CODE_COUNT; code++) {
        const rsdk_code_row *row = &rsdk_code_table[code];
        walk(row->title, row->name);
        walk(row->cause, row->name);
        for (size_t i = 0; i < RSDK_FIX_LIMIT && row->fixes[i].text != NULL; i++) {
            walk(row->fixes[i].text, row->name);
        }
    }
    for (unsigned system = 0; system < RSDK_SYSTEM_COUNT; system++) {
        assert_text(rsdk_system_title((rsdk_system)system), "a system", "its title");
        walk(rsdk_system_reinstall((rsdk_system)system), rsdk_system_title((rsdk_system)system));
    }
    for (size_t i = 0; i < rsdk_installer_count; i++) {
        walk_installer(&rsdk_installers[i]);
    }
    for (size_t i = 0; i < rsdk_fact_word_count; i++) {
        if (uses[i] == 0) {
            fail_msg("no text names {%s}", rsdk_fact_words[i].fact);
        }
    }
}

static void a_page_has_words_for_every_fact(void **state) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    for (unsigned code = RSDK_NO_CODE + 1; code < RSDK_CODE_COUNT; code++) {
        for (size_t i = 0; i < RSDK_FIX_LIMIT && rsdk_code_table[code].fixes[i].text != NULL; i++) {
            const char *words = NULL;
            assert_int_equal(rsdk_problem_fix_in_words(&rsdk_code_table[code].fixes[i], &arena, &words), RSDK_OK);
            assert_text(words, rsdk_code_table[code].name, "a fix in words");
            assert_null(strchr(words, '{'));
        }
    }
    rsdk_arena_clear(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_whole_row),
        cmocka_unit_test(a_code_and_its_name_lead_to_each_other),
        cmocka_unit_test(an_alias_is_no_code_of_today),
        cmocka_unit_test(templates_name_known_facts_and_each_fact_is_named),
        cmocka_unit_test(a_page_has_words_for_every_fact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
