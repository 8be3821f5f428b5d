/* Look-ups in the tables: by shortname, and the names that resemble one. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "sdk/tables.h"

const rsdk_package_entry *rsdk_package_get(rsdk_package_id id) {
    return &rsdk_package_table[id];
}

size_t rsdk_catalog_size(void) {
    return rsdk_library_count;
}

const rsdk_catalog_entry *rsdk_catalog_get(size_t index) {
    return index < rsdk_library_count ? &rsdk_library_table[index] : NULL;
}

const rsdk_catalog_entry *rsdk_catalog_find(const char *shortname) {
    for (size_t i = 0; i < rsdk_library_count; i++) {
        if (strcmp(rsdk_library_table[i].shortname, shortname) == 0) {
            return &rsdk_library_table[i];
        }
    }
    return NULL;
}

/* Most names differ before a pattern's first sign: this part is compared first, as fnmatch takes a thousand
 * instructions. */
bool rsdk_catalog_fits(const rsdk_catalog_entry *entry, const char *name) {
    const char *pattern = entry->so_pattern;
    const size_t literal = strcspn(pattern, "*?[\\");
    return strncmp(pattern, name, literal) == 0 && fnmatch(pattern + literal, name + literal, 0) == 0;
}

const rsdk_catalog_entry *rsdk_catalog_find_file(const char *name) {
    for (size_t i = 0; i < rsdk_library_count; i++) {
        if (rsdk_catalog_fits(&rsdk_library_table[i], name)) {
            return &rsdk_library_table[i];
        }
    }
    return NULL;
}

bool rsdk_catalog_is_of_rocm(const char *name) {
    static const char of_llvm[] = "lib/llvm/";
    const rsdk_catalog_entry *entry = rsdk_catalog_find_file(name);
    return entry != NULL && strncmp(entry->directory, of_llvm, sizeof of_llvm - 1) != 0;
}

/* Only the rows that have a user are compared: patterns are slow to compare, and each library of a plan is looked
 * up. */
bool rsdk_catalog_is_opened_unversioned(const char *linker_name) {
    const size_t length = strlen(linker_name);
    for (size_t i = 0; i < rsdk_library_count; i++) {
        const rsdk_catalog_entry *entry = &rsdk_library_table[i];
        if (entry->opened_unversioned_by != NULL && strncmp(entry->so_pattern, linker_name, length) == 0 &&
            strcmp(entry->so_pattern + length, "*") == 0) {
            return true;
        }
    }
    return false;
}

const rsdk_leaving_library *rsdk_catalog_leaving(const rsdk_catalog_entry *entry, const char *version) {
    char *end = NULL;
    const unsigned long major = version != NULL ? strtoul(version, &end, 10) : 0;
    const unsigned long minor = end != NULL && *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    for (size_t i = 0; i < rsdk_leaving_library_count; i++) {
        const rsdk_leaving_library *row = &rsdk_leaving_libraries[i];
        const bool is_since = major != row->since.major ? major > row->since.major : minor >= row->since.minor;
        if (is_since && strcmp(row->shortname, entry->shortname) == 0) {
            return row;
        }
    }
    return NULL;
}

static bool is_of_variables(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_word_of(const char *shortname, const char *word) {
    size_t i = 0;
    for (; shortname[i] != '\0' && word[i] == (is_of_variables(shortname[i]) ? shortname[i] : '_'); i++) {
    }
    return shortname[i] == '\0' && word[i] == '\0';
}

const rsdk_catalog_entry *rsdk_catalog_find_word(const char *word) {
    for (size_t i = 0; i < rsdk_library_count; i++) {
        if (is_word_of(rsdk_library_table[i].shortname, word)) {
            return &rsdk_library_table[i];
        }
    }
    return NULL;
}

static const char *shortname_at(const void *context, size_t index) {
    (void)context;
    return rsdk_library_table[index].shortname;
}

size_t rsdk_catalog_nearest(const char *name, const char *nearest[], size_t limit) {
    const rsdk_name_list list = {.get = shortname_at, .count = rsdk_library_count};
    return rsdk_nearest_find(name, &list, nearest, limit);
}
