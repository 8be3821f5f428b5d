/* A reader of msgpack that goes through a file in pieces of bounded size. Source: the msgpack specification, without
 * its extensions. */
#ifndef RSDK_DEVICE_CODE_MESSAGE_PACK_H
#define RSDK_DEVICE_CODE_MESSAGE_PACK_H

#include "base/arena.h"
#include "device_code/extent.h"

typedef enum rsdk_message_kind {
    RSDK_MESSAGE_NIL,
    RSDK_MESSAGE_BOOL,     /* `number`: 0 or 1 */
    RSDK_MESSAGE_NUMBER,   /* `number` */
    RSDK_MESSAGE_NEGATIVE, /* `number`, of two's complement */
    RSDK_MESSAGE_REAL,     /* whose bytes are in `number` */
    RSDK_MESSAGE_TEXT,     /* `number` bytes, which follow */
    RSDK_MESSAGE_BYTES,    /* the same, which are no text */
    RSDK_MESSAGE_ARRAY,    /* `number` values, which follow */
    RSDK_MESSAGE_MAP,      /* `number` pairs, which follow */
} rsdk_message_kind;

enum { RSDK_MESSAGE_WINDOW = 4096 };

typedef struct rsdk_message {
    const rsdk_extent *extent;
    rsdk_error *error;
    uint64_t position;
    uint64_t window_start;
    size_t window_size;
    unsigned char window[RSDK_MESSAGE_WINDOW];
    rsdk_message_kind kind; /* the kind of the value that was read last */
    uint64_t number;
} rsdk_message;

void rsdk_message_init(rsdk_message *message, const rsdk_extent *extent, rsdk_error *error);

/* Read the head of the next value. */
rsdk_status rsdk_message_next(rsdk_message *message);

/* Read the same of a value that must be of that kind. */
rsdk_status rsdk_message_expect(rsdk_message *message, rsdk_message_kind kind);

/* Read a text of at most `limit` bytes. */
rsdk_status rsdk_message_text(rsdk_message *message, size_t limit, rsdk_arena *arena, const char **text);

/* Read a text into memory of the caller, of `size` bytes; a longer text is cut short. */
rsdk_status rsdk_message_key(rsdk_message *message, char *key, size_t size);

/* Read the same from a text whose head was read. */
rsdk_status rsdk_message_content(rsdk_message *message, char *text, size_t size);

/* Skip the next value and all that is in it. */
rsdk_status rsdk_message_skip(rsdk_message *message);

/* Skip the same of a value whose head was read. */
rsdk_status rsdk_message_skip_content(rsdk_message *message);

#endif
