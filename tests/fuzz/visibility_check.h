/* What must hold of a selection by a visibility variable, whatever its text: the devices that are left are devices,
 * each once, and a token at fault and the rest of the list lie in the text. Included by the fuzz target of each
 * grammar. */
#ifndef TESTS_FUZZ_VISIBILITY_CHECK_H
#define TESTS_FUZZ_VISIBILITY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/visibility.h"

typedef rsdk_selection (*visibility_grammar)(const char *value, const uint64_t *ids, size_t count, size_t *chosen);

static inline void check_visibility(visibility_grammar select, const uint8_t *bytes, size_t size) {
    enum { DEVICES = 5 };
    static const uint64_t ids[DEVICES] = {0xab12, 0, UINT64_MAX, 0xab1200000000ab12, 0xab99000000000000};
    size_t chosen[DEVICES];
    bool is_chosen[DEVICES] = {false};
    char *value = malloc(size + 1);
    if (value == NULL) {
        abort();
    }
    memcpy(value, bytes, size);
    value[size] = '\0';
    rsdk_selection selection = select(value, ids, DEVICES, chosen);
    for (size_t i = 0; i < selection.count; i++) {
        if (chosen[i] >= DEVICES || is_chosen[chosen[i]]) {
            abort();
        }
        is_chosen[chosen[i]] = true;
    }
    if (selection.fault != RSDK_TOKEN_GOOD &&
        (selection.token < value || selection.token + selection.token_length > selection.rest ||
         selection.rest + selection.rest_length > value + strlen(value))) {
        abort();
    }
    free(value);
}

#endif
