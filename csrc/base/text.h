/* A text that grows: for messages that list things. Out of memory is remembered in it, so that a builder checks once,
 * at the end. */
#ifndef RSDK_BASE_TEXT_H
#define RSDK_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rsdk_text {
    char *data; /* NUL-terminated, NULL while empty */
    size_t length, capacity;
    bool failed; /* an allocation failed: the text is incomplete */
} rsdk_text;

#define RSDK_TEXT_INIT                                                                                                 \
    { NULL, 0, 0, false }

void rsdk_text_clear(rsdk_text *text);
void rsdk_text_add(rsdk_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return the text, "" where nothing was added; borrowed. */
const char *rsdk_text_get(const rsdk_text *text);

/* Add `item`, after `separator` unless it is the first. */
void rsdk_text_add_item(rsdk_text *text, const char *separator, const char *item);

/* Add `value` as a JSON string (RFC 8259), NULL as `null`. A byte that is not UTF-8 becomes a lone surrogate \udc80 to
 * \udcff, as Python keeps it in names of files (PEP 383). */
void rsdk_text_add_json(rsdk_text *text, const char *value);

/* Write `text` to `line` of `size` bytes, cut short if it does not fit, without anything that a terminal would obey.
 * \x1b and the like replace control characters (line breaks too), marks of the direction of writing and other
 * characters without width, and bytes that are not UTF-8. Nothing is allocated. */
void rsdk_text_write_harmless(const char *text, char *line, size_t size);

#endif
