/* Look-ups in the tables: by shortname, and the names that resemble one. */
#include <stdlib.h>
#include <string.h>

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

enum { NAME_LIMIT = 40, TOO_FAR = 1000 };

/* Levenshtein distance, case ignored; TOO_FAR for names longer than any of ours. */
static unsigned distance(const char *a, const char *b) {
    size_t a_length = strlen(a), b_length = strlen(b);
    unsigned row[NAME_LIMIT + 1];
    if (a_length > NAME_LIMIT || b_length > NAME_LIMIT) {
        return TOO_FAR;
    }
    for (unsigned j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned replaced = diagonal + ((a[i - 1] | 0x20) != (b[j - 1] | 0x20));
            unsigned added = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < added ? replaced : added;
        }
    }
    return row[b_length];
}

/* How far `name` is from what a user may have meant by it: also "libamdhip64.so.7" for amdhip64. */
static unsigned resemblance(const char *name, const char *shortname) {
    if (strlen(shortname) > 3 && strstr(name, shortname) != NULL) {
        return 1;
    }
    unsigned far = distance(name, shortname);
    return far <= 1 + strlen(shortname) / 4 ? far : TOO_FAR;
}

size_t rsdk_catalog_nearest(const char *name, const char *nearest[], size_t limit) {
    size_t count = 0;
    for (unsigned far = 0; far <= NAME_LIMIT && count < limit; far++) {
        for (size_t i = 0; i < rsdk_library_count && count < limit; i++) {
            if (resemblance(name, rsdk_library_table[i].shortname) == far) {
                nearest[count++] = rsdk_library_table[i].shortname;
            }
        }
    }
    return count;
}
