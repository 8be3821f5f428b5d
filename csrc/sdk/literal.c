/* The tokeniser for Python source and JSON, and the reader of literals. All input is hostile: no recursion but over
 * brackets, which are counted, and no read beyond the text's end. */
#include "sdk/literal.h"

#include <stdint.h>
#include <string.h>

#include "base/fail.h"

enum { DEPTH_LIMIT = 64 };

typedef struct scanner {
    const char *path, *text;
    size_t at, length;
    unsigned line, depth;
    char *scratch; /* the value of the string that is being read */
    rsdk_arena *arena;
    rsdk_tokens *tokens;
    rsdk_error *error;
} scanner;

static rsdk_status broken(const scanner *s, unsigned line, const char *what) {
    return rsdk_fail(s->error, RSDK_BAD_METADATA, s->path,
                     "the file is damaged: reinstall the package that it belongs to", "%s, line %u: %s", s->path, line,
                     what);
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

static rsdk_status emit(scanner *s, rsdk_token_kind kind, unsigned line, const char *start, size_t length) {
    rsdk_token token = {.kind = kind, .line = line, .text = "", .length = length};
    bool failed = false;
    if (length > 0) {
        token.text = rsdk_arena_copy_bytes(s->arena, start, length);
        failed = token.text == NULL;
    }
    if (!failed) {
        RSDK_PUSH(s->arena, s->tokens, token, failed);
    }
    return failed ? rsdk_fail_no_memory(s->error) : RSDK_OK;
}

/* ---- strings ---- */

static size_t encode_utf8(unsigned long code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | (code >> 12));
        out[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | ((code >> 18) & 0x07));
    out[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* Up to `limit` digits of `base` at the scanner; false where there are fewer than `least`. */
static bool take_digits(scanner *s, unsigned base, unsigned least, unsigned limit, unsigned long *value) {
    unsigned count = 0;
    *value = 0;
    while (count < limit && !at_end(s)) {
        char c = s->text[s->at];
        char lower = (char)(c | 0x20);
        unsigned digit = is_digit(c)                    ? (unsigned)(c - '0')
                         : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10
                                                        : base;
        if (digit >= base) {
            break;
        }
        *value = *value * base + digit;
        s->at++;
        count++;
    }
    return count >= least;
}

/* JSON writes characters beyond U+FFFF as two \u escapes. The second half, if it is there, is taken too. */
static unsigned long join_surrogates(scanner *s, unsigned long high) {
    size_t before = s->at;
    unsigned long low = 0;
    if (high >= 0xD800 && high < 0xDC00 && peek(s, 0) == '\\' && peek(s, 1) == 'u') {
        s->at += 2;
        if (take_digits(s, 16, 4, 4, &low) && low >= 0xDC00 && low < 0xE000) {
            return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        }
        s->at = before;
    }
    return high;
}

/* Decodes the escape behind a backslash at the scanner into `out`; returns its length, or SIZE_MAX where it is no
 * escape of Python's. */
static size_t take_escape(scanner *s, char *out) {
    static const char plain[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v//"; /* pairs: written, meant; JSON knows \/ */
    unsigned long code = 0;
    char c = s->text[s->at++];
    if (c == '\n') {
        s->line++;
        return 0;
    }
    for (size_t i = 0; i + 1 < sizeof plain; i += 2) {
        if (plain[i] == c) {
            out[0] = plain[i + 1];
            return 1;
        }
    }
    if (c >= '0' && c <= '7') {
        s->at--;
        (void)take_digits(s, 8, 1, 3, &code);
        return encode_utf8(code, out);
    }
    unsigned width = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (width ==
        0) { /* Python keeps the backslash of an escape that it does not know; \N{...} has a name that we cannot read */
        out[0] = '\\';
        out[1] = c;
        return c == 'N' ? SIZE_MAX : 2;
    }
    if (!take_digits(s, 16, width, width, &code) || code > 0x10FFFF) {
        return SIZE_MAX;
    }
    return encode_utf8(c == 'u' ? join_surrogates(s, code) : code, out);
}

typedef struct string_style {
    char quote;
    bool is_triple, is_raw, is_executed;
} string_style;

static bool at_closing_quotes(const scanner *s, string_style style) {
    return peek(s, 0) == style.quote && (!style.is_triple || (peek(s, 1) == style.quote && peek(s, 2) == style.quote));
}

/* Decodes up to the closing quotes into the scratch buffer. */
static rsdk_status take_string_body(scanner *s, string_style style, unsigned line, size_t *size) {
    while (!at_closing_quotes(s, style)) {
        if (at_end(s) || (s->text[s->at] == '\n' && !style.is_triple)) {
            return broken(s, line, "a string is not closed");
        }
        char c = s->text[s->at++];
        s->line += c == '\n';
        if (c != '\\' || at_end(s)) {
            s->scratch[(*size)++] = c;
        } else if (style.is_raw) {
            s->scratch[(*size)++] = c;
            s->line += s->text[s->at] == '\n';
            s->scratch[(*size)++] = s->text[s->at++];
        } else {
            size_t added = take_escape(s, s->scratch + *size);
            if (added == SIZE_MAX) {
                return broken(s, s->line, "a string has an escape that cannot be read");
            }
            *size += added;
        }
    }
    s->at += style.is_triple ? 3 : 1;
    return RSDK_OK;
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
    s->at += style.is_triple ? 3 : 1;
    unsigned line = s->line;
    size_t size = 0;
    rsdk_status status = take_string_body(s, style, line, &size);
    return status == RSDK_OK
               ? emit(s, style.is_executed ? RSDK_TOKEN_EXECUTED : RSDK_TOKEN_STRING, line, s->scratch, size)
               : status;
}

/* ---- tokens ---- */

/* The length of a string prefix (r, b, u, f and pairs of them) that is followed by a quote; SIZE_MAX where no string
 * starts here. */
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

/* Whether a number goes on with `c` after `before`: "1.5e+3". */
static bool is_part_of_number(char before, char c) {
    return c == '.' || ((c == '+' || c == '-') && (before == 'e' || before == 'E'));
}

static rsdk_status take_word(scanner *s, rsdk_token_kind kind) {
    size_t start = s->at++;
    while (!at_end(s) && (is_name_start(peek(s, 0)) || is_digit(peek(s, 0)) ||
                          (kind == RSDK_TOKEN_NUMBER && is_part_of_number(s->text[s->at - 1], peek(s, 0))))) {
        s->at++;
    }
    return emit(s, kind, s->line, s->text + start, s->at - start);
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
    s->at++;
    return emit(s, RSDK_TOKEN_OPERATOR, s->line, &c, 1);
}

/* Skips blanks, comments and continued lines; returns whether it skipped anything. */
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
        rsdk_status status = s->depth == 0 && !*line_is_empty ? emit(s, RSDK_TOKEN_NEWLINE, s->line, NULL, 0) : RSDK_OK;
        *line_is_empty = *line_is_empty || s->depth == 0;
        s->line++;
        s->at++;
        return status;
    }
    if (*line_is_empty && skipped) {
        rsdk_status status = emit(s, RSDK_TOKEN_INDENT, s->line, NULL, 0);
        if (status != RSDK_OK) {
            return status;
        }
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
    s.scratch = rsdk_arena_alloc(arena, length + 1, 1); /* no escape is shorter than what it stands for */
    rsdk_status status = s.scratch != NULL ? RSDK_OK : rsdk_fail_no_memory(error);
    while (status == RSDK_OK && !at_end(&s)) {
        status = take_token(&s, &line_is_empty);
    }
    if (status == RSDK_OK && s.depth > 0) {
        status = broken(&s, s.line, "a bracket is not closed");
    }
    if (status == RSDK_OK) {
        status = emit(&s, RSDK_TOKEN_NEWLINE, s.line, NULL, 0);
    }
    return status == RSDK_OK ? emit(&s, RSDK_TOKEN_END, s.line, NULL, 0) : status;
}

/* ---- literals ---- */

typedef struct literal_reader {
    const rsdk_tokens *tokens;
    size_t *at;
    rsdk_arena *arena;
    bool *failed;
} literal_reader;

static const rsdk_token *current(const literal_reader *r) {
    return &r->tokens->items[*r->at];
}

static bool take_if(const literal_reader *r, char operator_character) {
    const rsdk_token *token = current(r);
    if (token->kind == RSDK_TOKEN_OPERATOR && token->text[0] == operator_character) {
        ++*r->at;
        return true;
    }
    return false;
}

static bool read_literal(const literal_reader *r, rsdk_literal *literal);

/* Items up to `closing`; in a dict, keys and values in turn. Depth is bounded: the tokeniser counted the brackets. */
static bool read_items(const literal_reader *r, char closing, bool is_dict, rsdk_literal *literal) {
    while (!take_if(r, closing)) {
        for (unsigned part = 0; part < (is_dict ? 2U : 1U); part++) {
            rsdk_literal item = {0};
            if ((part == 1 && !take_if(r, ':')) || !read_literal(r, &item)) {
                return false;
            }
            RSDK_PUSH(r->arena, &literal->items, item, *r->failed);
            if (*r->failed) {
                return false;
            }
        }
        if (!take_if(r, ',')) {
            return take_if(r, closing);
        }
    }
    return true;
}

/* One string, or several side by side, which Python joins. */
static bool read_string(const literal_reader *r, rsdk_literal *literal) {
    literal->kind = RSDK_LITERAL_STRING;
    literal->text = "";
    while (current(r)->kind == RSDK_TOKEN_STRING) {
        const rsdk_token *token = current(r);
        if (memchr(token->text, '\0', token->length) != NULL) {
            return false;
        }
        literal->text =
            literal->text[0] == '\0' ? token->text : rsdk_arena_format(r->arena, "%s%s", literal->text, token->text);
        if (literal->text == NULL) {
            *r->failed = true;
            return false;
        }
        ++*r->at;
    }
    return true;
}

static bool is_constant(const char *name) {
    static const char *const constants[] = {"None", "True", "False", "null", "true", "false"};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (strcmp(constants[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_literal(const literal_reader *r, rsdk_literal *literal) {
    *literal = (rsdk_literal){.kind = RSDK_LITERAL_NONE};
    const rsdk_token *token = current(r);
    if (token->kind == RSDK_TOKEN_STRING) {
        return read_string(r, literal);
    }
    if (take_if(r, '[') || take_if(r, '(')) {
        literal->kind = RSDK_LITERAL_LIST;
        return read_items(r, token->text[0] == '[' ? ']' : ')', false, literal);
    }
    if (take_if(r, '{')) {
        literal->kind = RSDK_LITERAL_DICT;
        return read_items(r, '}', true, literal);
    }
    bool has_sign = take_if(r, '-');
    bool is_value = current(r)->kind == RSDK_TOKEN_NUMBER ||
                    (!has_sign && token->kind == RSDK_TOKEN_NAME && is_constant(token->text));
    *r->at += is_value;
    return is_value;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): `at` and `failed` are written through the reader */
bool rsdk_literal_read(const rsdk_tokens *tokens, size_t *at, rsdk_arena *arena, rsdk_literal *literal, bool *failed) {
    literal_reader r = {.tokens = tokens, .at = at, .arena = arena, .failed = failed};
    return read_literal(&r, literal);
}
