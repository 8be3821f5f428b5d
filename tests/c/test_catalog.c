/* The tables: every row is complete, and look-ups find it. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "sdk/tables.h"
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
        assert_non_null(library_named(rsdk_dlopen_dependencies[i].opener));
        assert_non_null(library_named(rsdk_dlopen_dependencies[i].opened));
        assert_true(rsdk_dlopen_dependencies[i].reason[0] != '\0');
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

static void nearest_names_are_few_and_near(void **state) {
    const char *nearest[3] = {NULL};
    assert_int_equal(rsdk_catalog_nearest("hipsparce", nearest, 3) > 0, 1);
    assert_string_equal(nearest[0], "hipsparse");
    assert_true(rsdk_catalog_nearest("AMDHIP64", nearest, 3) > 0);
    assert_string_equal(nearest[0], "amdhip64");
    assert_true(rsdk_catalog_nearest("libMIOpen.so", nearest, 3) <= 3);
    assert_int_equal(rsdk_catalog_nearest("hip", nearest, 0), 0);
    assert_int_equal(rsdk_catalog_nearest("zzzzzzzzzzzz", nearest, 3), 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_library_is_complete_and_found),     cmocka_unit_test(names_fit_as_fnmatch_says),
        cmocka_unit_test(words_of_variables_are_unambiguous),      cmocka_unit_test(every_package_is_complete),
        cmocka_unit_test(dlopen_dependencies_lead_to_the_catalog), cmocka_unit_test(interpositions_lead_to_the_catalog),
        cmocka_unit_test(host_packages_are_sorted_sonames),        cmocka_unit_test(nearest_names_are_few_and_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
