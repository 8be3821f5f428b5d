/* msgpack: a byte says the kind of a value, big-endian numbers follow. */
#include "device_code/message_pack.h"

#include <string.h>

#include "base/fail.h"

void rsdk_message_init(rsdk_message *message, const rsdk_extent *extent, rsdk_error *error) {
    message->extent = extent;
    message->error = error;
    message->position = message->window_start = message->number = 0;
    message->window_size = 0;
    message->kind = RSDK_MESSAGE_NIL;
}

static rsdk_status damaged(const rsdk_message *message) {
    return rsdk_extent_damaged(message->extent, "its msgpack data is not what it should be", message->error);
}

/* Take the next bytes, at most as many as a number has. */
static rsdk_status take(rsdk_message *message, size_t size, const unsigned char **bytes) {
    if (!rsdk_extent_has(message->extent, message->position, size)) {
        return damaged(message);
    }
    uint64_t distance = message->position - message->window_start;
    if (message->position < message->window_start || distance > message->window_size ||
        size > message->window_size - distance) {
        message->window_start = message->position;
        RSDK_TRY(rsdk_extent_read_some(message->extent, message->position, message->window, sizeof message->window,
                                       &message->window_size, message->error));
        distance = 0;
    }
    *bytes = message->window + distance;
    message->position += size;
    return RSDK_OK;
}

static rsdk_status take_number(rsdk_message *message, size_t size) {
    const unsigned char *bytes = NULL;
    RSDK_TRY(take(message, size, &bytes));
    message->number = 0;
    for (size_t i = 0; i < size; i++) {
        message->number = message->number << 8 | bytes[i];
    }
    return RSDK_OK;
}

/* Take a value whose head is a byte and a number of 2^`size` bytes. */
static rsdk_status take_sized(rsdk_message *message, rsdk_message_kind kind, unsigned size) {
    message->kind = kind;
    return take_number(message, (size_t)1 << size);
}

/* Take a number of 2^`size` bytes in two's complement. */
static rsdk_status take_signed(rsdk_message *message, unsigned size) {
    RSDK_TRY(take_sized(message, RSDK_MESSAGE_NUMBER, size));
    unsigned unused = 64 - (8U << size);
    int64_t value = (int64_t)(message->number << unused) >> unused;
    message->kind = value < 0 ? RSDK_MESSAGE_NEGATIVE : RSDK_MESSAGE_NUMBER;
    message->number = (uint64_t)value;
    return RSDK_OK;
}

static rsdk_status take_fixed(rsdk_message *message, rsdk_message_kind kind, uint64_t number) {
    message->kind = kind;
    message->number = number;
    return RSDK_OK;
}

rsdk_status rsdk_message_next(rsdk_message *message) {
    const unsigned char *bytes = NULL;
    RSDK_TRY(take(message, 1, &bytes));
    unsigned head = *bytes;
    if (head < 0x80 || (head >= 0x80 && head < 0xc0)) {
        message->kind = head < 0x80   ? RSDK_MESSAGE_NUMBER
                        : head < 0x90 ? RSDK_MESSAGE_MAP
                        : head < 0xa0 ? RSDK_MESSAGE_ARRAY
                                      : RSDK_MESSAGE_TEXT;
        message->number = head < 0x80 ? head : head < 0xa0 ? head & 0xf : head & 0x1f;
        return RSDK_OK;
    }
    if (head >= 0xe0) {
        return take_fixed(message, RSDK_MESSAGE_NEGATIVE, (uint64_t)(int64_t)(int8_t)head);
    }
    switch (head) {
    case 0xc0:
        return take_fixed(message, RSDK_MESSAGE_NIL, 0);
    case 0xc2: /* false */
    case 0xc3: /* true */
        return take_fixed(message, RSDK_MESSAGE_BOOL, head - 0xc2);
    case 0xc4: /* bin */
    case 0xc5:
    case 0xc6:
        return take_sized(message, RSDK_MESSAGE_BYTES, head - 0xc4);
    case 0xca: /* float */
    case 0xcb: /* double */
        return take_sized(message, RSDK_MESSAGE_REAL, head - 0xca + 2);
    case 0xcc: /* unsigned */
    case 0xcd:
    case 0xce:
    case 0xcf:
        return take_sized(message, RSDK_MESSAGE_NUMBER, head - 0xcc);
    case 0xd0: /* signed */
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return take_signed(message, head - 0xd0);
    case 0xd9: /* str */
    case 0xda:
    case 0xdb:
        return take_sized(message, RSDK_MESSAGE_TEXT, head - 0xd9);
    case 0xdc:
    case 0xdd:
        return take_sized(message, RSDK_MESSAGE_ARRAY, head - 0xdc + 1);
    case 0xde:
    case 0xdf:
        return take_sized(message, RSDK_MESSAGE_MAP, head - 0xde + 1);
    default:
        return damaged(message);
    }
}

rsdk_status rsdk_message_expect(rsdk_message *message, rsdk_message_kind kind) {
    RSDK_TRY(rsdk_message_next(message));
    return message->kind == kind ? RSDK_OK : damaged(message);
}

/* Pass over the bytes of a value whose head was read. */
static rsdk_status pass(rsdk_message *message, uint64_t size) {
    if (!rsdk_extent_has(message->extent, message->position, size)) {
        return damaged(message);
    }
    message->position += size;
    return RSDK_OK;
}

rsdk_status rsdk_message_text(rsdk_message *message, size_t limit, rsdk_arena *arena, const char **text) {
    RSDK_TRY(rsdk_message_expect(message, RSDK_MESSAGE_TEXT));
    if (message->number > limit) {
        return damaged(message);
    }
    size_t size = (size_t)message->number;
    uint64_t position = message->position;
    RSDK_TRY(pass(message, size));
    char *copy = rsdk_arena_alloc(arena, size + 1, 1);
    RSDK_NEED(copy, message->error);
    *text = copy;
    return rsdk_extent_read(message->extent, position, copy, size, message->error);
}

rsdk_status rsdk_message_content(rsdk_message *message, char *text, size_t size) {
    uint64_t length = message->number, position = message->position;
    RSDK_TRY(pass(message, length));
    size_t taken = length < size - 1 ? (size_t)length : size - 1;
    text[taken] = '\0';
    if (position - message->window_start <= message->window_size &&
        taken <= message->window_size - (position - message->window_start)) {
        memcpy(text, message->window + (position - message->window_start), taken);
        return RSDK_OK;
    }
    return rsdk_extent_read(message->extent, position, text, taken, message->error);
}

rsdk_status rsdk_message_key(rsdk_message *message, char *key, size_t size) {
    RSDK_TRY(rsdk_message_expect(message, RSDK_MESSAGE_TEXT));
    return rsdk_message_content(message, key, size);
}

/* Pass over the content of the value whose head was read, and add the values in it to *left. */
static rsdk_status pass_content(rsdk_message *message, uint64_t *left) {
    switch (message->kind) {
    case RSDK_MESSAGE_NIL:
    case RSDK_MESSAGE_BOOL:
    case RSDK_MESSAGE_NUMBER:
    case RSDK_MESSAGE_NEGATIVE:
    case RSDK_MESSAGE_REAL:
        break;
    case RSDK_MESSAGE_TEXT:
    case RSDK_MESSAGE_BYTES:
        return pass(message, message->number);
    case RSDK_MESSAGE_ARRAY:
    case RSDK_MESSAGE_MAP:
        if (message->number > message->extent->size || *left > message->extent->size) {
            return damaged(message);
        }
        *left += message->kind == RSDK_MESSAGE_MAP ? 2 * message->number : message->number;
        break;
    }
    return RSDK_OK;
}

rsdk_status rsdk_message_skip_content(rsdk_message *message) {
    /* Values that are still to be passed over. Each has a byte at least, so a larger number of them is a lie. */
    uint64_t left = 0;
    RSDK_TRY(pass_content(message, &left));
    while (left > 0) {
        RSDK_TRY(rsdk_message_next(message));
        left--;
        RSDK_TRY(pass_content(message, &left));
    }
    return RSDK_OK;
}

rsdk_status rsdk_message_skip(rsdk_message *message) {
    RSDK_TRY(rsdk_message_next(message));
    return rsdk_message_skip_content(message);
}
