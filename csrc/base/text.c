/* The growing text. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void rsdk_text_clear(rsdk_text *text) {
    free(text->data);
    *text = (rsdk_text)RSDK_TEXT_INIT;
}

static bool reserve(rsdk_text *text, size_t more) {
    size_t wanted;
    if (__builtin_add_overflow(text->length, more + 1, &wanted)) {
        return false;
    }
    if (wanted > text->capacity) {
        size_t capacity = wanted < 256 ? 256 : wanted * 2;
        char *data = realloc(text->data, capacity);
        if (data == NULL) {
            return false;
        }
        text->data = data;
        text->capacity = capacity;
    }
    return true;
}

void rsdk_text_add(rsdk_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0 || !reserve(text, (size_t)length)) {
        text->failed = true;
    } else {
        (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

const char *rsdk_text_get(const rsdk_text *text) {
    return text->data != NULL ? text->data : "";
}

void rsdk_text_add_item(rsdk_text *text, const char *separator, const char *item) {
    rsdk_text_add(text, "%s%s", text->length > 0 ? separator : "", item);
}
