/* Python literals (and so JSON values) read as data. `_dist_info.py` comes with the packages that users install: it is
 * parsed by these tokens and never executed. */
#ifndef RSDK_SDK_LITERAL_H
#define RSDK_SDK_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef enum rsdk_token_kind {
    RSDK_TOKEN_END,     /* end of the text */
    RSDK_TOKEN_NEWLINE, /* end of a logical line: not within brackets, not after a backslash */
    RSDK_TOKEN_INDENT,  /* a logical line that starts with blanks */
    RSDK_TOKEN_NAME,
    RSDK_TOKEN_STRING, /* text: the value, escapes decoded */
    RSDK_TOKEN_NUMBER,
    RSDK_TOKEN_OPERATOR, /* one character */
    RSDK_TOKEN_EXECUTED, /* an f-string or a bytes literal: no text without executing */
} rsdk_token_kind;

typedef struct rsdk_token {
    rsdk_token_kind kind;
    unsigned line;    /* from 1 */
    const char *text; /* NUL-terminated; "" for END, NEWLINE, INDENT */
    size_t length;    /* a string's value may hold NULs */
} rsdk_token;

typedef RSDK_LIST(rsdk_token) rsdk_tokens;

/* Splits a whole text. RSDK_BAD_METADATA names `path` and the line: an open string or bracket, a control character,
 * brackets nested too deep. Always ends with NEWLINE, END. */
rsdk_status rsdk_literal_tokenise(const char *path, const char *text, size_t length, rsdk_arena *arena,
                                  rsdk_tokens *tokens, rsdk_error *error);

typedef enum rsdk_literal_kind {
    RSDK_LITERAL_NONE, /* None, null, True, False and numbers: nothing that we read has use for their values */
    RSDK_LITERAL_STRING,
    RSDK_LITERAL_LIST, /* lists and tuples */
    RSDK_LITERAL_DICT, /* items: key, value, key, value ... */
} rsdk_literal_kind;

typedef struct rsdk_literal {
    rsdk_literal_kind kind;
    const char *text; /* a string's value, without NULs in it */
    RSDK_LIST(struct rsdk_literal) items;
} rsdk_literal;

/* Reads one literal from tokens->items[*at] on and moves *at behind it. Returns false where there is none, or out of
 * memory
 * (`*failed`). */
bool rsdk_literal_read(const rsdk_tokens *tokens, size_t *at, rsdk_arena *arena, rsdk_literal *literal, bool *failed);

#endif
