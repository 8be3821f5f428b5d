/* The reader of the statements of `_dist_info.py` that carry facts:
 *
 *     NAME = literal                                              NAME in `names` below; the last at top level wins
 *     NAME.append(literal)                                        for the lists
 *     ALL_PACKAGES["libraries"].dist_package_template = literal   kpack-split packages
 *
 * Everything else (classes, functions, indented blocks, expressions) is skipped. A statement that does anything else
 * with one of these names is an error: it would have to be executed to be known. */
#include "sdk/dist_info.h"

#include <string.h>

#include "sdk/literal.h"

/* ESCAPE_LIMIT: bytes of source that one byte of a value may take: \\uHHHH. */
enum { FILE_LIMIT = 1 << 20, VALUE_LIMIT = 200, ESCAPE_LIMIT = 6 };

typedef struct statement {
    const rsdk_tokens *tokens;
    size_t at, end; /* end: its NEWLINE or `;` */
    rsdk_arena *arena;
    rsdk_dist_info *info;
    rsdk_error *error;
} statement;

/* The place of a name's value, and the characters that it may have: most values become parts of directory names. */
typedef struct fact {
    const char *name;
    bool is_list;
    const char *punctuation; /* allowed characters besides letters and digits; NULL: any printable text */
    size_t offset;           /* of the `const char *` or rsdk_strings in rsdk_dist_info */
} fact;

/* clang-format off */
static const fact facts[] = {
    /* name                        list   punctuation */
    {"__version__",                false, NULL,      offsetof(rsdk_dist_info, version)},
    {"PY_PACKAGE_SUFFIX_NONCE",    false, "_-+.:",   offsetof(rsdk_dist_info, nonce)},
    {"DEFAULT_TARGET_FAMILY",      false, "_-+.:",   offsetof(rsdk_dist_info, default_family)},
    {"AVAILABLE_TARGET_FAMILIES",  true,  "_-+.:",   offsetof(rsdk_dist_info, families[RSDK_FAMILIES_AVAILABLE])},
    {"LINUX_TARGET_FAMILIES",      true,  "_-+.:",   offsetof(rsdk_dist_info, families[RSDK_FAMILIES_LINUX])},
    {"WINDOWS_TARGET_FAMILIES",    true,  "_-+.:",   offsetof(rsdk_dist_info, families[RSDK_FAMILIES_WINDOWS])},
};

static const fact libraries_template_fact =
    {"ALL_PACKAGES[\"libraries\"].dist_package_template", false, "_-+.:{}", offsetof(rsdk_dist_info, libraries_template)};
/* clang-format on */

static const fact *find_fact(const rsdk_token *name) {
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (rsdk_literal_is(name, RSDK_TOKEN_NAME, facts[i].name)) {
            return &facts[i];
        }
    }
    return NULL;
}

static rsdk_status bad_statement(const statement *s, const fact *f, const char *what) {
    return rsdk_fail(s->error, RSDK_BAD_METADATA, s->info->path, "%s, line %u: %s %s", s->info->path,
                     s->tokens->items[s->at < s->end ? s->at : s->end].line, f->name, what);
}

static bool is_harmless(const char *value, const char *punctuation) {
    if (strlen(value) > VALUE_LIMIT) {
        return false;
    }
    for (const char *c = value; *c != '\0'; c++) {
        bool is_word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        bool is_control = (unsigned char)*c < 0x20 || *c == 0x7F;
        if (punctuation != NULL ? !is_word && strchr(punctuation, *c) == NULL : is_control) {
            return false;
        }
    }
    return true;
}

static bool is_operator(const statement *s, size_t at, const char *text) {
    return at < s->end && rsdk_literal_is(&s->tokens->items[at], RSDK_TOKEN_OPERATOR, text);
}

static bool is_word(const statement *s, size_t at, const char *word) {
    return at < s->end && rsdk_literal_is(&s->tokens->items[at], RSDK_TOKEN_NAME, word);
}

/* Return whether a string is too long for any fact, by its source: the string is refused before its parts are
 * joined. */
static bool is_too_long(const rsdk_literal *value) {
    size_t length = 0;
    for (size_t i = 0; i < value->string_count && length <= (size_t)VALUE_LIMIT * ESCAPE_LIMIT; i++) {
        length += value->strings[i].length;
    }
    return length > (size_t)VALUE_LIMIT * ESCAPE_LIMIT;
}

/* Take the value of a string. If the string has characters that the fact must not have, `fault` names the fault. */
static rsdk_status take_text(const statement *s, const fact *f, const rsdk_literal *value, const char *fault,
                             const char **text) {
    if (is_too_long(value)) {
        return bad_statement(s, f, "is given a string that is longer than any such value");
    }
    RSDK_TRY(rsdk_literal_text(value, s->arena, text, s->error));
    if (*text == NULL) {
        return bad_statement(s, f, "is given a string with an escape that is not read, or with a null character");
    }
    return is_harmless(*text, f->punctuation) ? RSDK_OK : bad_statement(s, f, fault);
}

static rsdk_status add_to_list(const statement *s, const fact *f, const rsdk_literal *value) {
    rsdk_strings *list = (rsdk_strings *)(void *)((char *)s->info + f->offset);
    const char *text = NULL;
    if (value->kind != RSDK_LITERAL_STRING) {
        return bad_statement(s, f, "may hold strings only");
    }
    RSDK_TRY(take_text(s, f, value, "gets a value with characters that no target family has", &text));
    RSDK_APPEND(s->arena, list, text, s->error);
    return RSDK_OK;
}

static rsdk_status set_list(const statement *s, const fact *f, const rsdk_literal *value) {
    rsdk_strings *list = (rsdk_strings *)(void *)((char *)s->info + f->offset);
    if (value->kind != RSDK_LITERAL_LIST) {
        return bad_statement(s, f, "must be a list");
    }
    *list = (rsdk_strings){0};
    for (size_t i = 0; i < value->items.count; i++) {
        RSDK_TRY(add_to_list(s, f, &value->items.items[i]));
    }
    return RSDK_OK;
}

static rsdk_status set_text(const statement *s, const fact *f, const rsdk_literal *value) {
    const char **text = (const char **)(void *)((char *)s->info + f->offset);
    if (value->kind == RSDK_LITERAL_NONE) {
        *text = NULL;
        return RSDK_OK;
    }
    if (value->kind != RSDK_LITERAL_STRING) {
        return bad_statement(s, f, "must be a string");
    }
    return take_text(s, f, value, "gets a value with characters that it cannot have", text);
}

/* Read the literal at s->at, which only `closing` (NULL: nothing) may follow in the statement. */
static rsdk_status take_value(statement *s, const fact *f, const char *closing, rsdk_literal *value) {
    RSDK_TRY(rsdk_literal_read(s->tokens, &s->at, s->arena, value, s->error));
    bool is_alone = closing == NULL ? s->at == s->end : is_operator(s, s->at, closing) && s->at + 1 == s->end;
    return value->kind != RSDK_LITERAL_INVALID && is_alone
               ? RSDK_OK
               : bad_statement(s, f, "is not given a plain literal; this file is not executed");
}

static rsdk_status take_assignment(statement *s, const fact *f) {
    rsdk_literal value;
    RSDK_TRY(take_value(s, f, NULL, &value));
    return f->is_list ? set_list(s, f, &value) : set_text(s, f, &value);
}

/* Skip an annotation: `NAME: annotation` is followed by the `=`, or nothing. */
static size_t skip_annotation(const statement *s, size_t at) {
    if (is_operator(s, at, ":")) {
        while (at < s->end && !is_operator(s, at, "=")) {
            at++;
        }
    }
    return at;
}

static bool is_libraries_template(const statement *s, size_t at) {
    const rsdk_token *key = &s->tokens->items[at + 2 < s->end ? at + 2 : at];
    return is_word(s, at, "ALL_PACKAGES") && is_operator(s, at + 1, "[") &&
           rsdk_literal_is(key, RSDK_TOKEN_STRING, "libraries") && is_operator(s, at + 3, "]") &&
           is_operator(s, at + 4, ".") && is_word(s, at + 5, "dist_package_template") && is_operator(s, at + 6, "=");
}

static rsdk_status take_statement(statement *s) {
    const rsdk_token *first = &s->tokens->items[s->at];
    if (first->kind != RSDK_TOKEN_NAME) {
        return RSDK_OK;
    }
    if (is_libraries_template(s, s->at)) {
        s->at += 7;
        return take_assignment(s, &libraries_template_fact);
    }
    const fact *f = find_fact(first);
    size_t after = s->at + 1;
    if (f == NULL) {
        return RSDK_OK;
    }
    if (f->is_list && is_operator(s, after, ".") && is_word(s, after + 1, "append") && is_operator(s, after + 2, "(")) {
        s->at = after + 3;
        rsdk_literal value;
        RSDK_TRY(take_value(s, f, ")", &value));
        return add_to_list(s, f, &value);
    }
    after = skip_annotation(s, after);
    if (is_operator(s, after, "=") && !is_operator(s, after + 1, "=")) {
        s->at = after + 1;
        return take_assignment(s, f);
    }
    s->at = after;
    return after == s->end
               ? RSDK_OK
               : bad_statement(s, f, "is changed in a way that is not a plain literal; this file is not executed");
}

/* Return the end of the statement that starts at `at`: its NEWLINE, or a `;` that is not within brackets. */
static size_t end_of_statement(const rsdk_tokens *tokens, size_t at) {
    size_t depth = 0;
    for (;; at++) {
        const rsdk_token *token = &tokens->items[at];
        const char character = *(token->kind == RSDK_TOKEN_OPERATOR ? token->text : "");
        depth += character == '(' || character == '[' || character == '{';
        depth -= character == ')' || character == ']' || character == '}';
        if (token->kind == RSDK_TOKEN_NEWLINE || token->kind == RSDK_TOKEN_END || (character == ';' && depth == 0)) {
            return at;
        }
    }
}

/* Return whether a line that starts with this token has a block, or belongs to one: nothing in it is at top level. */
static bool starts_block(const rsdk_token *first) {
    static const char *const keywords[] = {"async", "class", "def",   "elif", "else",  "except", "finally",
                                           "for",   "if",    "match", "try",  "while", "with"};
    if (first->kind != RSDK_TOKEN_NAME) {
        return true;
    }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (rsdk_literal_is(first, RSDK_TOKEN_NAME, keywords[i])) {
            return true;
        }
    }
    return false;
}

rsdk_status rsdk_dist_info_parse(const char *path, const char *text, size_t length, rsdk_arena *arena,
                                 rsdk_dist_info *info, rsdk_error *error) {
    rsdk_tokens tokens = {0};
    *info = (rsdk_dist_info){.path = path, .nonce = ""};
    RSDK_TRY(rsdk_literal_tokenise(path, text, length, arena, &tokens, error));
    bool in_block = false;
    for (size_t at = 0; tokens.items[at].kind != RSDK_TOKEN_END;) {
        statement s = {.tokens = &tokens,
                       .at = at,
                       .end = end_of_statement(&tokens, at),
                       .arena = arena,
                       .info = info,
                       .error = error};
        bool is_line_start = at == 0 || tokens.items[at - 1].kind == RSDK_TOKEN_NEWLINE;
        in_block = is_line_start ? starts_block(&tokens.items[at]) : in_block;
        if (!in_block) {
            RSDK_TRY(take_statement(&s));
        }
        at = s.end + 1;
    }
    /* Nobody has filled in these values of the package's template. */
    if (info->version != NULL && strcmp(info->version, "DEFAULT") == 0) {
        info->version = NULL;
    }
    if (info->nonce == NULL || strcmp(info->nonce, "_DEFAULT") == 0) {
        info->nonce = "";
    }
    if (info->default_family != NULL && strcmp(info->default_family, "DEFAULT") == 0) {
        info->default_family = NULL;
    }
    return RSDK_OK;
}

rsdk_status rsdk_dist_info_read(const char *path, rsdk_arena *arena, rsdk_dist_info *info, rsdk_error *error) {
    char *text = NULL;
    size_t length = 0;
    rsdk_file_identity identity;
    RSDK_TRY(rsdk_file_read_text(path, FILE_LIMIT, arena, &text, &length, &identity, error));
    RSDK_TRY(rsdk_dist_info_parse(path, text, length, arena, info, error));
    info->identity = identity;
    return RSDK_OK;
}
