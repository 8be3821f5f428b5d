/* Any text as HIP_VISIBLE_DEVICES: the devices that are left are devices, each once, and a token at fault lies in the
 * text. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/visibility.h"

enum { DEVICES = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const uint64_t ids[DEVICES] = {0xab12, 0, UINT64_MAX, 0xab1200000000ab12, 0xab99000000000000};
    size_t chosen[DEVICES];
    bool is_chosen[DEVICES] = {false};
    char *value = malloc(size + 1);
    if (value == NULL) {
        abort();
    }
    memcpy(value, bytes, size);
    value[size] = '\0';
    rsdk_selection selection = rsdk_visibility_select_hip(value, ids, DEVICES, chosen);
    for (size_t i = 0; i < selection.count; i++) {
        if (chosen[i] >= DEVICES || is_chosen[chosen[i]]) {
            abort();
        }
        is_chosen[chosen[i]] = true;
    }
    if (selection.fault != RSDK_TOKEN_GOOD &&
        (selection.token < value || selection.token + selection.token_length > value + strlen(value))) {
        abort();
    }
    free(value);
    return 0;
}
