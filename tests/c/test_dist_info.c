/* `_dist_info.py` and `dist_info.json`: facts are read as Python would have them, and whatever would have to be
 * executed, or is damaged, is an error that names file and line. */
#include "sdk/dist_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena_fixture.h"
#include "problem_text.h"
#include "sample_sdk.h"
#include "suite.h"

typedef struct fixture {
    rsdk_arena arena;
    rsdk_dist_info info;
    rsdk_build_info build_info;
    rsdk_error error;
} fixture;

DEFINE_ARENA_FIXTURE(fixture)

static rsdk_status parse_bytes(fixture *f, const char *text, size_t length) {
    /* A copy of exactly this length, so that AddressSanitizer sees a read beyond it. */
    char *exact = malloc(length + (length == 0));
    assert_non_null(exact);
    memcpy(exact, text, length);
    rsdk_error_clear(&f->error);
    rsdk_status status = rsdk_dist_info_parse("site/_dist_info.py", exact, length, &f->arena, &f->info, &f->error);
    free(exact);
    return status;
}

static rsdk_status parse(fixture *f, const char *text) {
    return parse_bytes(f, text, strlen(text));
}

static void assert_parsed(fixture *f, const char *text) {
    if (parse(f, text) != RSDK_OK) {
        fail_msg("%s", rsdk_error_message(&f->error));
    }
}

static void assert_version(fixture *f, const char *text, const char *version) {
    assert_parsed(f, text);
    assert_non_null(f->info.version);
    assert_string_equal(f->info.version, version);
}

static void assert_refused(fixture *f, const char *text, const char *message) {
    assert_int_equal(parse(f, text), RSDK_BAD_METADATA);
    if (strstr(f->error.message, message) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", message, f->error.message);
    }
    assert_ptr_equal(strstr(f->error.message, "site/_dist_info.py, line "), f->error.message);
    assert_string_equal(f->error.path, "site/_dist_info.py");
    assert_string_equal(problem_fix_of(&f->error, NULL), "rocm-sdk explain E-PKG-013"); /* no package is known */
}

static void assert_families(fixture *f, rsdk_family_list list, size_t count, const char *const *wanted) {
    assert_int_equal(f->info.families[list].count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(f->info.families[list].items[i], wanted[i]);
    }
}

#define TEMPLATE                                                                                                       \
    "\"\"\"Distribution information.\n\n__version__ = \"of the docstring\"\n\"\"\"\n"                                  \
    "import os\nfrom dataclasses import dataclass\n\n"                                                                 \
    "__version__ = \"DEFAULT\"\nPY_PACKAGE_SUFFIX_NONCE = \"_DEFAULT\"\nDEFAULT_TARGET_FAMILY: str | None = "          \
    "\"DEFAULT\"\n"                                                                                                    \
    "AVAILABLE_TARGET_FAMILIES: list[str] = []\nLINUX_TARGET_FAMILIES: list[str] = []\n"                               \
    "WINDOWS_TARGET_FAMILIES: list[str] = []\n\n\n"                                                                    \
    "@dataclass\nclass PackageEntry:\n    __version__ = 1\n    name: str\n\n"                                          \
    "    def dist(self, family: str | None = None) -> str:\n        AVAILABLE_TARGET_FAMILIES.append(family)\n"        \
    "        return f\"{self.name}-{family}\"\n\n\n"                                                                   \
    "ALL_PACKAGES = {\n    \"libraries\": PackageEntry(\"rocm-sdk-libraries-{target_family}\"),\n}\n\n"                \
    "if os.name == \"nt\": __version__ = \"of Windows\"\n"

/* ---- what the packager writes ---- */

static void template_alone_gives_nothing(void **state) {
    fixture *f = *state;
    assert_parsed(f, TEMPLATE);
    assert_null(f->info.version);
    assert_string_equal(f->info.nonce, "");
    assert_null(f->info.default_family);
    assert_null(f->info.libraries_template);
    assert_families(f, RSDK_FAMILIES_AVAILABLE, 0, NULL);
}

static void appended_lines_are_read(void **state) {
    fixture *f = *state;
    assert_parsed(
        f,
        TEMPLATE "__version__ = '7.10.0rc1'\nPY_PACKAGE_SUFFIX_NONCE = '_n1'\n"
                 "ALL_PACKAGES[\"libraries\"].dist_package_template = 'rocm-sdk-libraries'\n"
                 "DEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'\n"
                 "AVAILABLE_TARGET_FAMILIES.append('gfx94X-dcgpu')\nAVAILABLE_TARGET_FAMILIES.append('gfx942:xnack+')\n"
                 "LINUX_TARGET_FAMILIES.append('gfx94X-dcgpu')\nWINDOWS_TARGET_FAMILIES.append('gfx110X-all')\n"
                 "THIS_TARGET_FAMILY = None\nTHIS_PACKAGE_ENTRY = ALL_PACKAGES['core']\n");
    assert_string_equal(f->info.version, "7.10.0rc1");
    assert_string_equal(f->info.nonce, "_n1");
    assert_string_equal(f->info.default_family, "gfx94X-dcgpu");
    assert_string_equal(f->info.libraries_template, "rocm-sdk-libraries");
    assert_families(f, RSDK_FAMILIES_AVAILABLE, 2, (const char *[]){"gfx94X-dcgpu", "gfx942:xnack+"});
    assert_families(f, RSDK_FAMILIES_LINUX, 1, (const char *[]){"gfx94X-dcgpu"});
    assert_families(f, RSDK_FAMILIES_WINDOWS, 1, (const char *[]){"gfx110X-all"});
}

static void last_assignment_wins(void **state) {
    fixture *f = *state;
    assert_version(f, "__version__ = '1'\n__version__ = '2'\n", "2");
    assert_parsed(f, "AVAILABLE_TARGET_FAMILIES = ['a']\nAVAILABLE_TARGET_FAMILIES.append('b')\n"
                     "AVAILABLE_TARGET_FAMILIES: list[str] = ['c', 'd',]\nAVAILABLE_TARGET_FAMILIES.append('e')");
    assert_families(f, RSDK_FAMILIES_AVAILABLE, 3, (const char *[]){"c", "d", "e"});
    assert_parsed(f, "__version__ = '1'\n__version__ = None\n");
    assert_null(f->info.version);
}

static void blocks_are_skipped(void **state) {
    fixture *f = *state;
    assert_version(f,
                   "__version__ = '1'\ndef f(): __version__ = '2'\nclass C: pass; __version__ = '3'\n"
                   "if True:\n    __version__ = '4'\n\t__version__ = __import__('os')\nelse: __version__ = '5'\n",
                   "1");
    assert_version(f, "__version__ = '1'\nx = (\n__version__ == '2'\n)\nprint(__version__)\n", "1");
}

static void layout_of_lines_does_not_matter(void **state) {
    fixture *f = *state;
    assert_version(f, "x = 1; __version__ = '2'; y = 3\n", "2");
    assert_version(f, "__version__ = \\\n    '1'\n", "1");
    assert_version(f, "__version__ = \\\r\n    '1'\r\n", "1");
    assert_version(f, "__version__ = '1' # a comment ' \" ( [\n", "1");
    assert_version(f, "\xEF\xBB\xBF__version__ = '1'", "1");
    assert_version(f, "\n\n   \n# __version__ = '2'\n__version__='1'#'3'", "1");
    assert_version(f, "'''\n__version__ = '2'\n'''\n__version__ = '''1'''\n", "1");
    assert_version(f, "__version__ = '1' '.2' \"\"\".3\"\"\"\n", "1.2.3");
    assert_version(f, "__version__: str\n__version__: 'Final[str]' = '1'\n__version__\n", "1");
}

static void strings_are_decoded_as_by_python(void **state) {
    fixture *f = *state;
    assert_version(f, "__version__ = 'a\\'b\\\"c\\\\d'", "a'b\"c\\d");
    assert_version(f, "__version__ = '\\x41\\u0042'", "AB");
    assert_version(f, "__version__ = '\\xe9\\u20ac'", "\xC3\xA9\xE2\x82\xAC");
    assert_version(f, "__version__ = r'1\\x41'", "1\\x41");
    assert_version(f, "__version__ = u'1\\\n2'", "12");
    assert_version(f, "__version__ = \"\"\"1\"2\"\"\"", "1\"2");
    assert_version(f, "__version__ = '1' r'\\x41' '\\x42'", "1\\x41B");
}

/* Strings that nobody asks for may hold what Python allows. */
static void other_strings_are_skipped_by_their_rules(void **state) {
    fixture *f = *state;
    assert_version(f, "\"\"\"AMD\\N{EM DASH}ROCm \\777 \\U0001f600 \\ud83d \\q \\\"\"\" \\xZZ\"\"\"\n__version__ = '1'",
                   "1");
    assert_version(f, "x = '\\N{DASH}', '\\u12'; __version__ = '1'", "1");
    assert_version(f, "x = r'a\\'b'\n__version__ = '1'", "1");
    assert_version(f, "x = '\\\\'\n__version__ = '1'", "1");
    assert_version(f, "x = rb'\\\\'\n__version__ = '1'", "1");
    assert_version(f, "x = f'{y!r:\\N{DASH}}'\n__version__ = '1'", "1");
}

/* ---- what is refused ---- */

static void what_must_be_executed_is_refused(void **state) {
    fixture *f = *state;
    static const char plain[] = "is not given a plain literal; this file is not executed";
    assert_refused(f, "\n__version__ = __import__(\"os\").system(\"x\")\n",
                   "line 2: __version__ is not given a plain literal");
    assert_refused(f, "__version__ = f'{x}'", plain);
    assert_refused(f, "__version__ = b'1'", plain);
    assert_refused(f, "__version__ = '1' if x else '2'", plain);
    assert_refused(f, "__version__ = '1' + '2'", plain);
    assert_refused(f, "__version__ = '%s' % x", plain);
    assert_refused(f, "__version__ = x", plain);
    assert_refused(f, "__version__ =", plain);
    assert_refused(f, "__version__ = '1'.replace('1', '2')", plain);
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES = [x for x in y]", plain);
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES.append(x)", plain);
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES.append('a', 'b')", plain);
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES.append('a').b", plain);
    assert_refused(f, "ALL_PACKAGES[\"libraries\"].dist_package_template = f()", plain);
    assert_refused(f, "__version__ += '1'", "__version__ is changed in a way");
    assert_refused(f, "__version__, x = '1', '2'", "__version__ is changed in a way");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES.extend(['a'])", "AVAILABLE_TARGET_FAMILIES is changed in a way");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES += ['a']", "AVAILABLE_TARGET_FAMILIES is changed in a way");
}

static void escapes_that_no_fact_needs_are_refused(void **state) {
    fixture *f = *state;
    static const char *const escapes[] = {"\\101",          "\\0",     "\\N{DASH}", "\\U00000041",
                                          "\\ud83d\\ude00", "\\udc00", "\\u0000",   "\\x00",
                                          "\\xZZ",          "\\u12",   "\\q",       "\\a"};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "\n__version__ = '1%s'", escapes[i]);
        assert_refused(f, text, "line 2: __version__ is given a string with an escape that is not read");
        (void)snprintf(text, sizeof text, "AVAILABLE_TARGET_FAMILIES = ['a', '%s']", escapes[i]);
        assert_refused(f, text, "an escape that is not read");
    }
}

static void wrong_types_are_refused(void **state) {
    fixture *f = *state;
    assert_refused(f, "__version__ = ['1']", "__version__ must be a string");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES = 'a'", "must be a list");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES = None", "must be a list");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES = ['a', 1]", "may hold strings only");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES.append(['a'])", "may hold strings only");
}

static void values_that_lead_elsewhere_are_refused(void **state) {
    fixture *f = *state;
    assert_refused(f, "PY_PACKAGE_SUFFIX_NONCE = '/../../evil'", "characters that it cannot have");
    assert_refused(f, "PY_PACKAGE_SUFFIX_NONCE = ' '", "characters that it cannot have");
    assert_refused(f, "DEFAULT_TARGET_FAMILY = '../x'", "characters that it cannot have");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES = ['a/b']", "characters that no target family has");
    assert_refused(f, "AVAILABLE_TARGET_FAMILIES.append('a\\nb')", "characters that no target family has");
    assert_refused(f, "__version__ = '1\\n2'", "characters that it cannot have");
    assert_refused(f, "__version__ = '1\\x1b[31m'", "characters that it cannot have");
    assert_refused(f, "ALL_PACKAGES[\"libraries\"].dist_package_template = '../../evil'",
                   "characters that it cannot have");
    char text[400] = "PY_PACKAGE_SUFFIX_NONCE = '";
    memset(text + strlen(text), 'x', 300);
    (void)strcat(text, "'");
    assert_refused(f, text, "characters that it cannot have");
}

static void broken_texts_are_refused(void **state) {
    fixture *f = *state;
    assert_refused(f, "\n\n__version__ = '1\n", "line 3: a string is not closed");
    assert_refused(f, "x = '''\n\n\n", "line 1: a string is not closed");
    assert_refused(f, "x = 'a\\", "a string is not closed");
    assert_refused(f, "x = (\n\n", "a bracket is not closed");
    assert_refused(f, "x = )\n", "a bracket closes that was not opened");
    assert_refused(f, "\x01\x02", "a control character");
    assert_int_equal(parse_bytes(f, "__version__\0 = '1'", 18), RSDK_BAD_METADATA);
    assert_int_equal(parse_bytes(f, "", 0), RSDK_OK);
    assert_int_equal(parse_bytes(f,
                                 "\x7F"
                                 "ELF\x02\x01\x01",
                                 7),
                     RSDK_BAD_METADATA);
}

static void hundred_thousand_brackets_are_refused(void **state) {
    fixture *f = *state;
    enum { COUNT = 100000 };
    char *text = calloc(2 * COUNT + 20, 1);
    assert_non_null(text);
    (void)strcpy(text, "__version__ = ");
    memset(text + strlen(text), '[', COUNT);
    memset(text + strlen(text), ']', COUNT);
    assert_refused(f, text, "brackets are nested too deep");
    free(text);
}

static void large_and_absent_files(void **state) {
    fixture *f = *state;
    sample_site site = sample_site_new();
    const char *path = sample_path(&site, "_dist_info.py");
    assert_int_equal(rsdk_dist_info_read(path, &f->arena, &f->info, &f->error), RSDK_FILE_NOT_FOUND);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    for (size_t i = 0; i < 2U << 20; i++) {
        assert_int_equal(fputc(i % 64 == 0 ? '\n' : '#', stream) != EOF, 1);
    }
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(rsdk_dist_info_read(path, &f->arena, &f->info, &f->error), RSDK_IO_ERROR);
    assert_non_null(strstr(f->error.message, "has 2097152 bytes, more than the 1048576"));
    sample_file(&site, "_dist_info.py", "__version__ = '7'\n");
    assert_int_equal(rsdk_dist_info_read(path, &f->arena, &f->info, &f->error), RSDK_OK);
    assert_string_equal(f->info.version, "7");
    sample_site_remove(&site);
}

/* ---- dist_info.json ---- */

static rsdk_status parse_json(fixture *f, const char *text) {
    sample_site site = sample_site_new();
    sample_file(&site, "dist_info.json", text);
    rsdk_error_clear(&f->error);
    rsdk_status status =
        rsdk_build_info_read(sample_path(&site, "dist_info.json"), &f->arena, &f->build_info, &f->error);
    sample_site_remove(&site);
    return status;
}

static void build_info_is_read(void **state) {
    fixture *f = *state;
    assert_int_equal(rsdk_build_info_read("/nonexistent/dist_info.json", &f->arena, &f->build_info, &f->error),
                     RSDK_OK);
    assert_string_equal(f->build_info.targets, "");
    assert_int_equal(
        parse_json(f, "\n {\"x\": {\"y\": [1, -2.5e+3, true, null]},\n\t\"dist_amdgpu_targets\": \"gfx942;gfx1100\",\n"
                      "  \"absent_libraries\": [\"hipfile\", \"a\\u0062\\/\\u20ac\"], \"y\": \"\\ud83d\\ude00\", "
                      "\"\\ud83d\": 1}\n\n"),
        RSDK_OK);
    assert_string_equal(f->build_info.targets, "gfx942;gfx1100");
    assert_int_equal(f->build_info.absent_libraries.count, 2);
    assert_string_equal(f->build_info.absent_libraries.items[1], "ab/\xE2\x82\xAC");
    assert_int_equal(parse_json(f, "{}"), RSDK_OK);
    assert_string_equal(f->build_info.targets, "");
}

static void broken_build_info_is_refused(void **state) {
    fixture *f = *state;
    static const char *const broken[] = {
        "",    "[]",  "{",   "{\"a\"}", "{\"a\": }",    "{\"a\": 1} {}", "{\"dist_amdgpu_targets\": 1}",
        "\"x", "nul", "{1:", "\x01",    "{\"a\": 1}\n2"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_int_equal(parse_json(f, broken[i]), RSDK_BAD_METADATA);
        assert_non_null(strstr(f->error.message, "dist_info.json"));
        assert_string_equal(problem_fix_of(&f->error, NULL), "rocm-sdk explain E-PKG-013");
    }
    assert_int_equal(parse_json(f, "{\"absent_libraries\": \"x\"}"), RSDK_BAD_METADATA);
    assert_non_null(strstr(f->error.message, "\"absent_libraries\" has the wrong type"));
    assert_int_equal(parse_json(f, "{\"absent_libraries\": [1]}"), RSDK_BAD_METADATA);
    assert_int_equal(parse_json(f, "{\"absent_libraries\": [\"\\ud83d\\ude00\"]}"), RSDK_BAD_METADATA);
    assert_non_null(strstr(f->error.message, "\"absent_libraries\" has an escape that is not read"));
}

/* A value of 200,000 pieces: refused by its length before they are joined. */
static void many_pieces_are_refused_before_they_are_joined(void **state) {
    enum { PIECES = 200000 };
    fixture *f = *state;
    char *text = calloc(PIECES + 8, 4);
    assert_non_null(text);
    char *end = stpcpy(text, "__version__ = ");
    for (size_t i = 0; i < PIECES; i++) {
        end = stpcpy(end, "'a'");
    }
    assert_refused(f, text, "longer than any such value");
    free(text);
    assert_version(f, "__version__ = '7' \"\\u002e\" ''", "7.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(template_alone_gives_nothing, make, clear),
        cmocka_unit_test_setup_teardown(appended_lines_are_read, make, clear),
        cmocka_unit_test_setup_teardown(last_assignment_wins, make, clear),
        cmocka_unit_test_setup_teardown(blocks_are_skipped, make, clear),
        cmocka_unit_test_setup_teardown(layout_of_lines_does_not_matter, make, clear),
        cmocka_unit_test_setup_teardown(strings_are_decoded_as_by_python, make, clear),
        cmocka_unit_test_setup_teardown(other_strings_are_skipped_by_their_rules, make, clear),
        cmocka_unit_test_setup_teardown(escapes_that_no_fact_needs_are_refused, make, clear),
        cmocka_unit_test_setup_teardown(what_must_be_executed_is_refused, make, clear),
        cmocka_unit_test_setup_teardown(wrong_types_are_refused, make, clear),
        cmocka_unit_test_setup_teardown(values_that_lead_elsewhere_are_refused, make, clear),
        cmocka_unit_test_setup_teardown(broken_texts_are_refused, make, clear),
        cmocka_unit_test_setup_teardown(hundred_thousand_brackets_are_refused, make, clear),
        cmocka_unit_test_setup_teardown(large_and_absent_files, make, clear),
        cmocka_unit_test_setup_teardown(build_info_is_read, make, clear),
        cmocka_unit_test_setup_teardown(broken_build_info_is_refused, make, clear),
        cmocka_unit_test_setup_teardown(many_pieces_are_refused_before_they_are_joined, make, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
