/* The tokeniser for Python source and JSON, and the reader of literals. All input may be hostile: recursion only over
 * brackets, which are counted, and no read beyond the text's end. */
#include "sdk/literal.h"

#include <stdint.h>
#include <string.h>

enum { DEPTH_LIMIT = 64 };

typedef struct scanner {
    const char *path, *text;
    size_t at, length;
    unsigned line, depth;
    rsdk_arena *arena;
    rsdk_tokens *tokens;
    rsdk_error *error;
} scanner;

static rsdk_status broken(const scanner *s, unsigned line, const char *what) {
    return rsdk_fail(s->error, RSDK_BAD_METADATA, s->path, "%s, line %u: %s", s->path, line, what);
}

static char peek(const scanner *s, size_t ahead) {
    return *(ahead < s->length - s->at ? s->text + s->at + ahead : "");
}

static bool at_end(const scanner *s) {
    return s->at >= s->length;
}

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static rsdk_status add_token(scanner *s, rsdk_token token) {
    RSDK_APPEND(s->arena, s->tokens, token, s->error);
    return RSDK_OK;
}

static rsdk_status add_mark(scanner *s, rsdk_token_kind kind) {
    return add_token(s, (rsdk_token){.kind = kind, .line = s->line, .text = ""});
}

/* ---- strings ---- */

typedef struct string_style {
    char quote;
    bool is_triple, is_raw, is_executed;
} string_style;

static bool at_closing_quotes(const scanner *s, string_style style) {
    return peek(s, 0) == style.quote && (!style.is_triple || (peek(s, 1) == style.quote && peek(s, 2) == style.quote));
}

static rsdk_status take_string(scanner *s, size_t prefix_length) {
    string_style style = {0};
    for (size_t i = 0; i < prefix_length; i++) {
        char c = (char)(s->text[s->at + i] | 0x20);
        style.is_raw |= c == 'r';
        style.is_executed |= c == 'f' || c == 'b';
    }
    s->at += prefix_length;
    style.quote = peek(s, 0);
    style.is_triple = peek(s, 1) == style.quote && peek(s, 2) == style.quote;
    size_t quotes = style.is_triple ? 3 : 1;
    s->at += quotes;
    rsdk_token token = {.kind = style.is_executed ? RSDK_TOKEN_EXECUTED : RSDK_TOKEN_STRING,
                        .line = s->line,
                        .text = s->text + s->at,
                        .is_raw = style.is_raw};
    /* Move to the closing quotes. A backslash keeps the next character from ending the string, in a raw string too. */
    unsigned line = s->line;
    while (!at_closing_quotes(s, style)) {
        if (at_end(s) || (s->text[s->at] == '\n' && !style.is_triple)) {
            return broken(s, line, "a string is not closed");
        }
        s->at += s->text[s->at] == '\\' && s->at + 1 < s->length;
        s->line += s->text[s->at++] == '\n';
    }
    token.length = (size_t)(s->text + s->at - token.text);
    s->at += quotes;
    return add_token(s, token);
}

/* ---- tokens ---- */

/* Return the length of a string prefix (r, b, u, f and pairs of them) that is followed by a quote; SIZE_MAX if no
 * string starts here. */
static size_t string_prefix(const scanner *s) {
    for (size_t length = 0; length <= 2; length++) {
        char c = peek(s, length);
        if (c == '\'' || c == '"') {
            return length;
        }
        if (c == '\0' || strchr("rRbBuUfF", c) == NULL) {
            break;
        }
    }
    return SIZE_MAX;
}

/* Return whether a number goes on with `c` after `before`: "1.5e+3". */
static bool is_part_of_number(char before, char c) {
    return c == '.' || ((c == '+' || c == '-') && (before == 'e' || before == 'E'));
}

static rsdk_status take_word(scanner *s, rsdk_token_kind kind) {
    size_t start = s->at++;
    while (!at_end(s) && (is_name_start(peek(s, 0)) || is_digit(peek(s, 0)) ||
                          (kind == RSDK_TOKEN_NUMBER && is_part_of_number(s->text[s->at - 1], peek(s, 0))))) {
        s->at++;
    }
    return add_token(s, (rsdk_token){.kind = kind, .line = s->line, .text = s->text + start, .length = s->at - start});
}

static rsdk_status take_operator(scanner *s) {
    char c = s->text[s->at];
    if ((unsigned char)c < 0x20 || c == 0x7F) {
        return broken(s, s->line, "a control character");
    }
    if (strchr("([{", c) != NULL && ++s->depth > DEPTH_LIMIT) {
        return broken(s, s->line, "brackets are nested too deep");
    }
    if (strchr(")]}", c) != NULL && s->depth-- == 0) {
        return broken(s, s->line, "a bracket closes that was not opened");
    }
    return add_token(
        s, (rsdk_token){.kind = RSDK_TOKEN_OPERATOR, .line = s->line, .text = s->text + s->at++, .length = 1});
}

/* Skip blanks, comments and continued lines; return whether anything was skipped. */
static bool skip_blanks(scanner *s) {
    size_t start = s->at;
    for (;;) {
        char c = peek(s, 0);
        if (!at_end(s) && (c == ' ' || c == '\t' || c == '\r' || c == '\f')) {
            s->at++;
        } else if (c == '#') {
            while (!at_end(s) && s->text[s->at] != '\n') {
                s->at++;
            }
        } else if (c == '\\' && (peek(s, 1) == '\n' || (peek(s, 1) == '\r' && peek(s, 2) == '\n'))) {
            s->at += peek(s, 1) == '\n' ? 2 : 3;
            s->line++;
        } else {
            return s->at > start;
        }
    }
}

static rsdk_status take_token(scanner *s, bool *line_is_empty) {
    bool skipped = skip_blanks(s);
    if (at_end(s)) {
        return RSDK_OK;
    }
    char c = peek(s, 0);
    if (c == '\n') {
        if (s->depth == 0 && !*line_is_empty) {
            RSDK_TRY(add_mark(s, RSDK_TOKEN_NEWLINE));
            *line_is_empty = true;
        }
        s->line++;
        s->at++;
        return RSDK_OK;
    }
    if (*line_is_empty && skipped) {
        RSDK_TRY(add_mark(s, RSDK_TOKEN_INDENT));
    }
    *line_is_empty = false;
    size_t prefix = string_prefix(s);
    if (prefix != SIZE_MAX) {
        return take_string(s, prefix);
    }
    if (is_name_start(c)) {
        return take_word(s, RSDK_TOKEN_NAME);
    }
    return is_digit(c) ? take_word(s, RSDK_TOKEN_NUMBER) : take_operator(s);
}

rsdk_status rsdk_literal_tokenise(const char *path, const char *text, size_t length, rsdk_arena *arena,
                                  rsdk_tokens *tokens, rsdk_error *error) {
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    scanner s = {
        .path = path, .text = text, .length = length, .line = 1, .arena = arena, .tokens = tokens, .error = error};
    bool line_is_empty = true;
    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        s.at = 3;
    }
    while (!at_end(&s)) {
        RSDK_TRY(take_token(&s, &line_is_empty));
    }
    if (s.depth > 0) {
        return broken(&s, s.line, "a bracket is not closed");
    }
    RSDK_TRY(add_mark(&s, RSDK_TOKEN_NEWLINE));
    return add_mark(&s, RSDK_TOKEN_END);
}

bool rsdk_literal_is(const rsdk_token *token, rsdk_token_kind kind, const char *text) {
    return token->kind == kind && strlen(text) == token->length && memcmp(text, token->text, token->length) == 0;
}

/* ---- literals ---- */

typedef struct literal_reader {
    const rsdk_tokens *tokens;
    size_t *at;
    rsdk_arena *arena;
} literal_reader;

static const rsdk_token *current(const literal_reader *r) {
    return &r->tokens->items[*r->at];
}

static bool take_if(const literal_reader *r, const char *operator_text) {
    bool is_there = rsdk_literal_is(current(r), RSDK_TOKEN_OPERATOR, operator_text);
    *r->at += is_there;
    return is_there;
}

static rsdk_status read_literal(const literal_reader *r, rsdk_literal *literal, rsdk_error *error);

/* Read items up to `closing`; in a dict, keys and values in turn. Depth is bounded: the tokeniser counted the
 * brackets. */
static rsdk_status read_items(const literal_reader *r, rsdk_literal_kind kind, const char *closing,
                              rsdk_literal *literal, rsdk_error *error) {
    while (!take_if(r, closing)) {
        for (unsigned part = 0; part < (kind == RSDK_LITERAL_DICT ? 2U : 1U); part++) {
            rsdk_literal item = {0};
            if (part == 0 || take_if(r, ":")) {
                RSDK_TRY(read_literal(r, &item, error));
            }
            if (item.kind == RSDK_LITERAL_INVALID) {
                return RSDK_OK;
            }
            RSDK_APPEND(r->arena, &literal->items, item, error);
        }
        if (!take_if(r, ",") && !rsdk_literal_is(current(r), RSDK_TOKEN_OPERATOR, closing)) {
            return RSDK_OK;
        }
    }
    literal->kind = kind;
    return RSDK_OK;
}

static bool is_constant(const rsdk_token *token) {
    static const char *const constants[] = {"None", "True", "False", "null", "true", "false"};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (rsdk_literal_is(token, RSDK_TOKEN_NAME, constants[i])) {
            return true;
        }
    }
    return false;
}

static rsdk_status read_literal(const literal_reader *r, rsdk_literal *literal, rsdk_error *error) {
    *literal = (rsdk_literal){.kind = RSDK_LITERAL_INVALID, .strings = current(r)};
    while (current(r)->kind == RSDK_TOKEN_STRING) {
        literal->kind = RSDK_LITERAL_STRING;
        literal->string_count++;
        ++*r->at;
    }
    if (literal->kind == RSDK_LITERAL_STRING) {
        return RSDK_OK;
    }
    if (take_if(r, "[")) {
        return read_items(r, RSDK_LITERAL_LIST, "]", literal, error);
    }
    if (take_if(r, "(")) {
        return read_items(r, RSDK_LITERAL_LIST, ")", literal, error);
    }
    if (take_if(r, "{")) {
        return read_items(r, RSDK_LITERAL_DICT, "}", literal, error);
    }
    bool has_sign = take_if(r, "-");
    if (current(r)->kind == RSDK_TOKEN_NUMBER || (!has_sign && is_constant(current(r)))) {
        literal->kind = RSDK_LITERAL_NONE;
        ++*r->at;
    }
    return RSDK_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): `at` is written through the reader */
rsdk_status rsdk_literal_read(const rsdk_tokens *tokens, size_t *at, rsdk_arena *arena, rsdk_literal *literal,
                              rsdk_error *error) {
    literal_reader r = {.tokens = tokens, .at = at, .arena = arena};
    return read_literal(&r, literal, error);
}

/* ---- the values of strings ---- */

/* Return the value of `count` hexadecimal digits; 0 if they are not all there, or for a number that is not a character
 * by itself. */
static unsigned character_of(const char *digits, size_t available, size_t count) {
    unsigned value = 0;
    for (size_t i = 0; i < count; i++) {
        char c = (char)(*(i < available ? digits + i : "") | 0x20);
        bool is_letter = c >= 'a' && c <= 'f';
        if (!is_letter && !is_digit(c)) {
            return 0;
        }
        value = value * 16 + (unsigned)(is_letter ? c - 'a' + 10 : c - '0');
    }
    return value >= 0xD800 && value < 0xE000 ? 0 : value;
}

static char *write_utf8(unsigned character, char *out) {
    if (character < 0x80) {
        *out++ = (char)character;
        return out;
    }
    if (character < 0x800) {
        *out++ = (char)(0xC0 | (character >> 6));
    } else {
        *out++ = (char)(0xE0 | (character >> 12));
        *out++ = (char)(0x80 | ((character >> 6) & 0x3F));
    }
    *out++ = (char)(0x80 | (character & 0x3F));
    return out;
}

/* Return the character that a backslash and `escape` stand for; 0 for an escape that is not read. */
static char meaning_of(char escape) {
    static const char plain[] = "\\\\''\"\"//b\bf\fn\nr\rt\t"; /* pairs: written, meant */
    for (size_t i = 0; i + 1 < sizeof plain; i += 2) {
        if (plain[i] == escape) {
            return plain[i + 1];
        }
    }
    return '\0';
}

/* Write the value of one token, which is never longer than the token; return NULL if the token is not read. */
static char *decode(const rsdk_token *token, char *out) {
    const char *end = token->text + token->length;
    for (const char *at = token->text; at < end;) {
        char c = *at++;
        if (c == '\0') {
            return NULL;
        }
        if (c != '\\' || token->is_raw) {
            *out++ = c;
            continue;
        }
        char escape = *at++; /* the tokeniser saw that something follows */
        if (escape == 'x' || escape == 'u') {
            size_t digits = escape == 'x' ? 2 : 4;
            unsigned character = character_of(at, (size_t)(end - at), digits);
            if (character == 0) {
                return NULL;
            }
            out = write_utf8(character, out);
            at += digits;
        } else if (escape != '\n') {
            *out = meaning_of(escape);
            if (*out++ == '\0') {
                return NULL;
            }
        }
    }
    return out;
}

rsdk_status rsdk_literal_text(const rsdk_literal *literal, rsdk_arena *arena, const char **text, rsdk_error *error) {
    size_t length = 0;
    for (size_t i = 0; i < literal->string_count; i++) {
        length += literal->strings[i].length;
    }
    char *value = rsdk_arena_alloc(arena, length + 1, 1), *end = value;
    RSDK_NEED(value, error);
    for (size_t i = 0; end != NULL && i < literal->string_count; i++) {
        end = decode(&literal->strings[i], end);
    }
    *text = end != NULL ? value : NULL;
    return RSDK_OK;
}
