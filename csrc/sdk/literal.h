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
    RSDK_TOKEN_STRING, /* text: between the quotes, with its escapes */
    RSDK_TOKEN_NUMBER,
    RSDK_TOKEN_OPERATOR, /* a character */
    RSDK_TOKEN_EXECUTED, /* an f-string or a bytes literal: no text without executing */
} rsdk_token_kind;

typedef struct rsdk_token {
    rsdk_token_kind kind;
    unsigned line;    /* from 1 */
    const char *text; /* borrowed from the whole text, not NUL-terminated */
    size_t length;    /* 0 for END, NEWLINE and INDENT */
    bool is_raw;      /* a string in which a backslash is a character */
} rsdk_token;

typedef RSDK_LIST(rsdk_token) rsdk_tokens;

/* Split a whole text, which must outlive the tokens. Strings are skipped by their rules and not decoded. The tokens
 * always end with NEWLINE, END. RSDK_BAD_METADATA names `path` and the line: an open string or bracket, a control
 * character, brackets nested too deep. */
rsdk_status rsdk_literal_tokenise(const char *path, const char *text, size_t length, rsdk_arena *arena,
                                  rsdk_tokens *tokens, rsdk_error *error);

/* Return whether the token is of this kind and this text; a string: as it is written. */
bool rsdk_literal_is(const rsdk_token *token, rsdk_token_kind kind, const char *text);

typedef enum rsdk_literal_kind {
    RSDK_LITERAL_INVALID, /* no literal stands there */
    RSDK_LITERAL_NONE,    /* None, null, True, False and numbers: nothing that we read has use for their values */
    RSDK_LITERAL_STRING,  /* see rsdk_literal_text */
    RSDK_LITERAL_LIST,    /* lists and tuples */
    RSDK_LITERAL_DICT,    /* items: key, value, key, value ... */
} rsdk_literal_kind;

typedef struct rsdk_literal {
    rsdk_literal_kind kind;
    const rsdk_token *strings; /* of a string: the tokens side by side that it consists of */
    size_t string_count;
    RSDK_LIST(struct rsdk_literal) items;
} rsdk_literal;

/* Read one literal from tokens->items[*at] on and move *at behind it. Only RSDK_NO_MEMORY is an error. */
rsdk_status rsdk_literal_read(const rsdk_tokens *tokens, size_t *at, rsdk_arena *arena, rsdk_literal *literal,
                              rsdk_error *error);

/* Return the value of a string. The escapes that are read are \\ \' \" \n \t \r \b \f \/ \xHH \uHHHH and the end of a
 * line. *text is NULL where the string has another one (octal, \N{...}, \U, half of a surrogate pair) or a NUL: no fact
 * of an SDK needs it. Only RSDK_NO_MEMORY is an error. */
rsdk_status rsdk_literal_text(const rsdk_literal *literal, rsdk_arena *arena, const char **text, rsdk_error *error);

#endif
