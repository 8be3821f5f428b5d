/* Nearness is the Levenshtein distance without regard to case, in which two swapped characters are one edit. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { NAME_LIMIT = 40, TOO_FAR = 1000 };

static bool is_same(char a, char b) {
    return (a | 0x20) == (b | 0x20);
}

/* Return the distance between two names; TOO_FAR for names longer than any of ours. */
static unsigned distance(const char *a, const char *b) {
    size_t a_length = strlen(a), b_length = strlen(b);
    unsigned rows[3][NAME_LIMIT + 1] = {{0}};
    if (a_length > NAME_LIMIT || b_length > NAME_LIMIT) {
        return TOO_FAR;
    }
    for (unsigned j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned replaced = above[j - 1] + !is_same(a[i - 1], b[j - 1]);
            unsigned added = (above[j] < row[j - 1] ? above[j] : row[j - 1]) + 1;
            row[j] = replaced < added ? replaced : added;
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]) &&
                second[j - 2] < row[j]) {
                row[j] = second[j - 2] + 1;
            }
        }
    }
    return rows[a_length % 3][b_length];
}

/* Return whether `name` is the file name of the library `meant`: "libamdhip64.so.7" of amdhip64. */
static bool is_file_of(const char *name, const char *meant) {
    const char *at = strlen(meant) > 3 ? strstr(name, meant) : NULL;
    return at != NULL && (at[strlen(meant)] == '.' || at[strlen(meant)] == '\0');
}

/* Return how many letters may be mistyped in a name: one, and one more for each four after the first. A digit is no
 * letter, since each number is another thing: gfx909 and gfx942, amdhip64. */
static size_t mistypable(const char *meant) {
    size_t letters = 0;
    for (; *meant != '\0'; meant++) {
        letters += *meant < '0' || *meant > '9';
    }
    return letters == 0 ? 1 : 1 + (letters - 1) / 4;
}

/* Return the distance of `name` from a name that a user may have meant by it. */
static unsigned distance_from_meant(const char *name, const char *meant) {
    size_t length = strlen(name), meant_length = strlen(meant), limit = mistypable(meant);
    bool may_be_near = length <= meant_length + limit && meant_length <= length + limit;
    unsigned far = may_be_near ? distance(name, meant) : TOO_FAR;
    if (far > 1 && is_file_of(name, meant)) {
        return 1;
    }
    return far <= limit ? far : TOO_FAR;
}

size_t rsdk_nearest_find(const char *name, const rsdk_name_list *list, const char *nearest[], size_t limit) {
    unsigned distances[RSDK_NEAREST_LIMIT];
    size_t count = 0;
    limit = limit < RSDK_NEAREST_LIMIT ? limit : RSDK_NEAREST_LIMIT;
    for (size_t i = 0; i < list->count; i++) {
        const char *candidate = list->get(list->context, i);
        unsigned far = distance_from_meant(name, candidate);
        if (far == TOO_FAR || limit == 0 || (count == limit && far >= distances[count - 1])) {
            continue;
        }
        size_t at = count < limit ? count++ : count - 1;
        for (; at > 0 && distances[at - 1] > far; at--) {
            distances[at] = distances[at - 1];
            nearest[at] = nearest[at - 1];
        }
        distances[at] = far;
        nearest[at] = candidate;
    }
    return count;
}
