/* Input, made fit for a message. */
#include "gpu/shown_input.h"

#include <string.h>

rsdk_shown_input rsdk_shown_input_make(const char *input, size_t length) {
    static const char more[] = "...";
    rsdk_shown_input shown;
    size_t limit = sizeof shown.text - sizeof more, kept = length < limit ? length : limit;
    for (size_t i = 0; i < kept; i++) {
        shown.text[i] = '?';
        if (input[i] >= ' ' && input[i] <= '~') {
            shown.text[i] = input[i];
        }
    }
    memcpy(shown.text + kept, more, sizeof more);
    if (kept == length) {
        shown.text[kept] = '\0';
    }
    return shown;
}
