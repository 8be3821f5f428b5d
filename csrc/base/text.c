/* The growing text. */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- characters ---- */

typedef struct code_range {
    uint32_t first, last;
} code_range;

/* Characters that a terminal obeys, or that change the order of others, or that nobody sees. */
static const code_range obeyed[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},       {0x61C, 0x61C},   {0x180E, 0x180E},
    {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},
    {0xD800, 0xDFFF}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

/* Decode the character at `text`; return its bytes, 0 where they are not UTF-8. */
static size_t decode(const unsigned char *text, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = 1;
    if (text[0] >= 0x80) { /* F5 to FF begin nothing, and fail below */
        length = text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    }
    *code = length > 1 ? text[0] & (0x7FU >> length) : text[0];
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) { /* the NUL at the end, too */
            return 0;
        }
        *code = *code << 6 | (text[i] & 0x3F);
    }
    return length > 0 && *code >= least[length] && *code <= 0x10FFFF ? length : 0;
}

/* ---- JSON ---- */

void rsdk_text_add_json(rsdk_text *text, const char *value) {
    if (value == NULL) {
        rsdk_text_add(text, "null");
        return;
    }
    rsdk_text_add(text, "\"");
    for (const unsigned char *at = (const unsigned char *)value; *at != '\0';) {
        uint32_t code = 0;
        size_t length = decode(at, &code);
        if (length == 0 || (code >= 0xD800 && code <= 0xDFFF)) {
            rsdk_text_add(text, "\\udc%02x", (unsigned)*at);
            length = 1;
        } else if (code < ' ' || code == '"' || code == '\\') {
            rsdk_text_add(text, "\\u%04x", (unsigned)code);
        } else {
            rsdk_text_add(text, "%.*s", (int)length, (const char *)at);
        }
        at += length;
    }
    rsdk_text_add(text, "\"");
}

/* ---- harmless text ---- */

static bool is_obeyed(uint32_t code) {
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++) {
        if (code >= obeyed[i].first && code <= obeyed[i].last) {
            return true;
        }
    }
    return false;
}

static void write_escape(uint32_t code, char *piece, size_t size) {
    if (code < 0x100) {
        (void)snprintf(piece, size, "\\x%02x", (unsigned)code);
    } else if (code < 0x10000) {
        (void)snprintf(piece, size, "\\u%04x", (unsigned)code);
    } else {
        (void)snprintf(piece, size, "\\U%08x", (unsigned)code);
    }
}

void rsdk_text_write_harmless(const char *text, char *line, size_t size) {
    enum { ESCAPE_SIZE = sizeof "\\U0010ffff" };
    const unsigned char *at = (const unsigned char *)text;
    size_t done = 0;
    line[0] = '\0';
    while (*at != '\0') {
        char piece[ESCAPE_SIZE];
        uint32_t code = 0;
        size_t length = decode(at, &code);
        if (length > 0 && !is_obeyed(code)) {
            (void)snprintf(piece, sizeof piece, "%.*s", (int)length, (const char *)at);
        } else {
            write_escape(length > 0 ? code : *at, piece, sizeof piece);
        }
        if (strlen(piece) >= size - done) {
            return;
        }
        memcpy(line + done, piece, strlen(piece) + 1);
        done += strlen(piece);
        at += length > 0 ? length : 1;
    }
}
