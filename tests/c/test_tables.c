/* The tables of libraries, packages and problems, and the templates in them: every row is complete, look-ups find it,
 * names lead to codes, and facts exist. */
#include "sdk/tables.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "diagnosis/tables.h"
#include "rocm_sdk/problem.h"
#include "suite.h"

static void every_library_is_complete_and_found(void **state) {
    assert_true(rsdk_catalog_size() >= 28);
    for (size_t i = 0; i < rsdk_catalog_size(); i++) {
        const rsdk_catalog_entry *entry = rsdk_catalog_get(i);
        assert_ptr_equal(rsdk_catalog_find(entry->shortname), entry); /* so no name is there twice */
        assert_int_equal(strncmp(entry->so_pattern, "lib", 3), 0);
        assert_non_null(strstr(entry->so_pattern, "so"));
        assert_non_null(entry->dll_pattern);
        bool is_searched = false;
        for (size_t j = 0; j < rsdk_library_place_count; j++) {
            is_searched |= strcmp(rsdk_library_places[j].path, entry->directory) == 0;
        }
        assert_true(is_searched);
    }
    assert_null(rsdk_catalog_get(rsdk_catalog_size()));
    assert_null(rsdk_catalog_find("hipblass"));
}

/* Each has a variable of its own. */
static void words_of_variables_are_unambiguous(void **state) {
    for (size_t i = 0; i < rsdk_catalog_size(); i++) {
        const rsdk_catalog_entry *entry = rsdk_catalog_get(i);
        char word[64] = {0};
        for (size_t j = 0; entry->shortname[j] != '\0' && j + 1 < sizeof word; j++) {
            word[j] = (char)(isalnum((unsigned char)entry->shortname[j]) != 0 ? entry->shortname[j] : '_');
        }
        assert_ptr_equal(rsdk_catalog_find_word(word), entry);
    }
    assert_null(rsdk_catalog_find_word("rocprofiler-sdk"));
    assert_null(rsdk_catalog_find_word("amdhip6"));
    assert_null(rsdk_catalog_find_word("amdhip64_"));
    assert_null(rsdk_catalog_find_word(""));
}

static void every_package_is_complete(void **state) {
    for (size_t i = 0; i < RSDK_PACKAGE_COUNT; i++) {
        const rsdk_package_entry *entry = rsdk_package_get((rsdk_package_id)i);
        assert_true(entry->name[0] != '\0' && entry->template_directory[0] != '\0');
        assert_int_equal(strncmp(entry->dist_template, "rocm", 4), 0);
        assert_int_equal(strncmp(entry->pure_module, "rocm_", 5), 0);
    }
}

/* Whether some library of the catalog can have this linker name. */
static const rsdk_catalog_entry *library_named(const char *linker_name) {
    for (size_t i = 0; i < rsdk_catalog_size(); i++) {
        if (fnmatch(rsdk_catalog_get(i)->so_pattern, linker_name, 0) == 0) {
            return rsdk_catalog_get(i);
        }
    }
    return NULL;
}

static void dlopen_dependencies_lead_to_the_catalog(void **state) {
    assert_true(rsdk_dlopen_dependency_count > 0);
    for (size_t i = 0; i < rsdk_dlopen_dependency_count; i++) {
        const rsdk_dlopen_dependency *row = &rsdk_dlopen_dependencies[i];
        /* a library that is only opened where somebody asks for it, or by one that few use, has no short name */
        assert_true(library_named(row->opener) != NULL || library_named(row->opened) != NULL);
        const bool is_plug_in = row->name == RSDK_OPENED_AS_PLUG_IN;
        assert_true(library_named(row->opened) != NULL || row->only_if != NULL || is_plug_in);
        assert_true(row->reason[0] != '\0');
        assert_true(row->only_if == NULL || !row->is_required);
    }
}

static bool is_in_the_catalog(const char *name) {
    for (size_t i = 0; i < rsdk_library_count; i++) { /* a linker name, or the beginning of a SONAME */
        if (strncmp(rsdk_library_table[i].so_pattern, name, strcspn(name, ".-")) == 0) {
            return true;
        }
    }
    return false;
}

static void interpositions_lead_to_the_catalog(void **state) {
    assert_true(rsdk_interposition_count > 0);
    for (size_t i = 0; i < rsdk_interposition_count; i++) {
        const rsdk_interposition *row = &rsdk_interpositions[i];
        assert_true(row->reason[0] != '\0');
        assert_non_null(row->libraries[0]);
        for (size_t j = 0; row->libraries[j] != NULL; j++) {
            assert_true(is_in_the_catalog(row->libraries[j]));
        }
        bool is_bound_first = row->measure == RSDK_MEASURE_BOUND_FIRST;
        assert_true(is_bound_first == (row->probe != NULL) && is_bound_first == (row->symbols[0] != NULL));
    }
}

static bool is_one_word(const char *cell) {
    return cell[0] != '\0' && strchr(cell, ' ') == NULL;
}

static void host_packages_are_sorted_sonames(void **state) {
    assert_true(rsdk_host_package_count > 10);
    for (size_t i = 0; i < rsdk_host_package_count; i++) {
        assert_non_null(strstr(rsdk_host_packages[i].soname, ".so."));
        assert_true(is_one_word(rsdk_host_packages[i].soname));
        assert_true(is_one_word(rsdk_host_packages[i].debian) && is_one_word(rsdk_host_packages[i].fedora));
        assert_true(i == 0 || strcmp(rsdk_host_packages[i - 1].soname, rsdk_host_packages[i].soname) < 0);
    }
}

static void names_fit_as_fnmatch_says(void **state) {
    static const char *const names[] = {"libamdhip64.so.7",
                                        "libamdhip64.so",
                                        "libamdhip64_extra.so",
                                        "libLLVM-15.so",
                                        "libLLVM.so.19.0git",
                                        "libLLVMx.so",
                                        "libamdhip",
                                        "",
                                        "librocdxg.so.1",
                                        "lib\xff.so",
                                        "libLLVM"};
    for (size_t i = 0; i < rsdk_library_count; i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            assert_int_equal(rsdk_catalog_fits(&rsdk_library_table[i], names[k]),
                             fnmatch(rsdk_library_table[i].so_pattern, names[k], 0) == 0);
        }
    }
}

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
            const rsdk_fix_row *fix = &rsdk_code_table[code].fixes[i];
            const char *words = NULL;
            bool is_command = false;
            assert_int_equal(rsdk_problem_fix_in_words(fix, &arena, &words, &is_command), RSDK_OK);
            assert_text(words, rsdk_code_table[code].name, "a fix in words");
            assert_null(strchr(words, '{'));
        }
    }
    rsdk_arena_clear(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_library_is_complete_and_found),
                                       cmocka_unit_test(names_fit_as_fnmatch_says),
                                       cmocka_unit_test(words_of_variables_are_unambiguous),
                                       cmocka_unit_test(every_package_is_complete),
                                       cmocka_unit_test(dlopen_dependencies_lead_to_the_catalog),
                                       cmocka_unit_test(interpositions_lead_to_the_catalog),
                                       cmocka_unit_test(host_packages_are_sorted_sonames),
                                       cmocka_unit_test(every_code_has_a_whole_row),
                                       cmocka_unit_test(a_code_and_its_name_lead_to_each_other),
                                       cmocka_unit_test(templates_name_known_facts_and_each_fact_is_named),
                                       cmocka_unit_test(a_page_has_words_for_every_fact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
