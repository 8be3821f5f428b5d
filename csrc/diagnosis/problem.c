/* The maker of problems, which fills in the texts of the table, and chooses the fix for this system and
 * installation. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "diagnosis/finding.h"
#include "diagnosis/index_choice.h"
#include "diagnosis/tables.h"

enum { NAME_SIZE = 32, WORDS_SIZE = 64, DEPTH_LIMIT = 3 /* the depth of commands in templates of commands */ };

typedef struct owned_problem {
    rsdk_problem view;
    rsdk_arena arena;
} owned_problem;

/* The state of filling in templates. */
typedef struct composer {
    const rsdk_finding *finding;
    const rsdk_installation *installation; /* never NULL */
    rsdk_system system;
    bool lacks_facts;       /* the last text names something that is not known */
    bool is_page;           /* the text is for the page of a code, which is the same on each machine */
    bool has_command;       /* the last text is a command of an installer */
    bool has_words;         /* a part of the last text is words in place of such a command */
    bool is_fix;            /* the text is a fix, which names what the installer takes in place of a requirement */
    bool names_requirement; /* the last text has the requirement as a word of a command */
    bool is_from_closure;   /* the requirement is installed from the wheels of a closure that was just made */
    bool precedes_packages; /* packages follow the source, and are installed by themselves */
    bool is_behind_source;  /* the name in hand follows the source, from which an installer takes it */
} composer;

/* ---- values ---- */

static const rsdk_installer_row *installer_of(const composer *c) {
    for (size_t i = 1; c->installation->installer != NULL && i < rsdk_installer_count; i++) {
        if (strcmp(rsdk_installers[i].name, c->installation->installer) == 0) {
            return &rsdk_installers[i];
        }
    }
    return &rsdk_installers[0];
}

/* Return a command that a template names, as a template of its own; NULL: no such command. */
static const char *command_named(const composer *c, const char *name) {
    const rsdk_installer_row *row = installer_of(c);
    const struct {
        const char *name, *template;
    } commands[] = {{"install", row->install},         {"reinstall", row->reinstall},
                    {"install_sdk", row->install_sdk}, {"rebuild", row->rebuild},
                    {"overwrite", row->overwrite},     {"system_reinstall", rsdk_system_reinstall(c->system)}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return commands[i].template;
        }
    }
    return NULL;
}

/* Return a value of the finding or of the installation; NULL: not known. */
static const char *value_named(const composer *c, const char *name) {
    const rsdk_installation *in = c->installation;
    const struct {
        const char *name, *value;
    } values[] = {{"path", c->finding->path},
                  {"library", c->finding->path != NULL ? rsdk_path_name(c->finding->path) : NULL},
                  {"python", in->python},
                  {"environment", in->environment},
                  {"application", in->environment != NULL ? rsdk_path_name(in->environment) : NULL},
                  {"site", in->site}};
    const char *value = rsdk_finding_fact(c->finding, name);
    for (size_t i = 0; value == NULL && i < sizeof values / sizeof *values; i++) {
        value = strcmp(values[i].name, name) == 0 ? values[i].value : NULL;
    }
    return value;
}

static const char *words_for(const char *name) {
    for (size_t i = 0; i < rsdk_fact_word_count; i++) {
        if (strcmp(rsdk_fact_words[i].fact, name) == 0) {
            return rsdk_fact_words[i].words;
        }
    }
    return name;
}

/* ---- texts ---- */

static bool is_control(unsigned char c) {
    return c < ' ' || c == '\x7f';
}

/* Add a value on one line: characters that a terminal would obey are written as escapes. */
static void add_value(rsdk_text *text, const char *value) {
    for (const char *c = value; *c != '\0';) {
        size_t plain = 0;
        while (c[plain] != '\0' && !is_control((unsigned char)c[plain])) {
            plain++;
        }
        rsdk_text_add(text, "%.*s", (int)plain, c);
        c += plain;
        if (*c != '\0') {
            rsdk_text_add(text, *c == '\n' || *c == '\t' ? " " : "\\x%02x", (unsigned char)*c);
            c++;
        }
    }
}

/* Add a value as one word of a shell command. */
static void add_word(rsdk_text *text, const char *value) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    bool has_control = false;
    for (const char *c = value; *c != '\0'; c++) {
        has_control |= is_control((unsigned char)*c);
    }
    if (value[0] != '\0' && value[strspn(value, plain)] == '\0') {
        rsdk_text_add(text, "%s", value);
    } else if (has_control) {
        /* Add a word with control characters, on one line: printf makes them. The shell would remove line breaks at the
         * end; they stay escapes, so that the word names no file rather than another one. */
        size_t end = strlen(value);
        while (end > 0 && value[end - 1] == '\n') {
            end--;
        }
        rsdk_text_add(text, "\"$(printf '");
        for (size_t i = 0; value[i] != '\0'; i++) {
            unsigned char c = (unsigned char)value[i];
            if (i >= end) {
                rsdk_text_add(text, "\\\\x0a");
            } else if (c == '%') {
                rsdk_text_add(text, "%%%%");
            } else if (c == '\\') {
                rsdk_text_add(text, "\\\\");
            } else if (is_control(c) || c == '\'' || (c == '-' && i == 0)) { /* printf would take "-x" for an option */
                rsdk_text_add(text, "\\%03o", c);
            } else {
                rsdk_text_add(text, "%c", c);
            }
        }
        rsdk_text_add(text, "')\"");
    } else {
        rsdk_text_add(text, "'");
        for (const char *c = value; *c != '\0'; c++) {
            rsdk_text_add(text, *c == '\'' ? "'\\''" : "%c", *c);
        }
        rsdk_text_add(text, "'");
    }
}

/* Add an unknown fact as a word of a command: DIRECTORY for "its directory". */
static void add_placeholder(rsdk_text *text, const char *words) {
    const char *last = strrchr(words, ' ');
    if (last == NULL) {
        rsdk_text_add(text, "%s", words);
        return;
    }
    for (const char *c = last + 1; *c != '\0'; c++) {
        rsdk_text_add(text, "%c", toupper((unsigned char)*c));
    }
}

static void fill_in(composer *c, const char *template, unsigned depth, rsdk_text *text);

/* Return the index that serves the command's requirement; NULL: the command names no version, or no index is known for
 * it. */
static const rsdk_index_row *index_asked_for(const composer *c) {
    static const char *const names[] = {"requirement", "selector"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *requirement = value_named(c, names[i]);
        if (requirement != NULL && rsdk_requirement_has_version(requirement)) {
            return rsdk_index_for_requirement(requirement);
        }
    }
    return NULL;
}

/* Add the site's index, else the row's. An address with a password is not repeated: the shell fills it in. */
static void add_index(rsdk_text *text, const rsdk_index_row *row) {
    const char *site = rsdk_index_of_site();
    if (site != NULL && strchr(site, '@') != NULL) {
        rsdk_text_add(text, "\"$ROCM_SDK_INDEX\"");
    } else {
        add_word(text, site != NULL ? site : row->address);
    }
}

/* Return whether a fix is words, which begin as a sentence does, and no command, whose program has a name in lower case
 * or whose variable has one in upper case. */
static bool is_words(const char *fix) {
    return isupper((unsigned char)fix[0]) && islower((unsigned char)fix[1]);
}

/* Add a command of an installer; words in its place go on with a sentence that is begun. */
static void add_command(composer *c, const char *command, unsigned depth, rsdk_text *text) {
    c->has_command = true;
    if (is_words(command)) {
        c->has_words = true;
        if (rsdk_text_get(text)[0] != '\0') {
            rsdk_text_add(text, "%c", tolower((unsigned char)*command++));
        }
    }
    fill_in(c, command, depth + 1, text);
}

/* Return a fact about where the package of a fix came from; NULL: it came from an index, or that is not known. */
static const char *origin_named(const composer *c, const char *name) {
    const char *value = c->is_fix ? rsdk_finding_fact(c->finding, name) : NULL;
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Return whether a fix installs packages of the known source in place of a requirement or a selector, which takes more
 * to build than the source has. */
static bool names_packages(const composer *c, const char *name) {
    const char *source = c->installation->source;
    if (!c->is_fix || source == NULL || source[0] == '\0') {
        return false;
    }
    if (strcmp(name, "selector") == 0) {
        return value_named(c, "requirement") != NULL;
    }
    return strcmp(name, "requirement") == 0 && value_named(c, "selector") == NULL &&
           origin_named(c, "source_closure") == NULL && origin_named(c, "source_tree") == NULL &&
           origin_named(c, "source_packages") != NULL;
}

/* Add what an installer takes in a fix in place of a requirement or a selector; return false where it takes that. */
static bool add_installed(composer *c, const char *name, rsdk_text *text) {
    if (c->is_behind_source && names_packages(c, name)) {
        if (strcmp(name, "selector") == 0) {
            add_word(text, value_named(c, "requirement"));
        } else {
            rsdk_text_add(text, "%s", origin_named(c, "source_packages"));
        }
        return true;
    }
    if (!c->is_fix || strcmp(name, "requirement") != 0 || value_named(c, "selector") != NULL) {
        return false;
    }
    const char *distribution = value_named(c, "distribution"), *tree = origin_named(c, "source_tree"),
               *address = origin_named(c, "source_address");
    c->names_requirement = true;
    if (origin_named(c, "source_closure") != NULL) {
        rsdk_text_add(text, "%s", c->is_from_closure ? "--no-index --find-links closure " : "");
        return false;
    }
    if (tree != NULL) {
        rsdk_text_add(text, "%s", tree);
        return true;
    }
    if (address == NULL || distribution == NULL || names_packages(c, name)) {
        return false;
    }
    rsdk_text wheel = RSDK_TEXT_INIT;
    rsdk_text_add(&wheel, "%s @ %s", distribution, address);
    text->failed |= wheel.failed;
    add_word(text, rsdk_text_get(&wheel));
    rsdk_text_clear(&wheel);
    return true;
}

/* Add the value of a name. words: the template's own, for an unknown fact; NULL: the words that the fact has
 * everywhere. */
static void add_named(composer *c, const char *name, bool is_word, const char *words, unsigned depth, rsdk_text *text) {
    const char *value = value_named(c, name), *command = command_named(c, name);
    bool is_requirement = is_word && (strcmp(name, "requirement") == 0 || strcmp(name, "selector") == 0);
    if (value != NULL && is_word) {
        /* Without a version a command might install a placeholder. */
        c->lacks_facts |= is_requirement && depth > 0 && !rsdk_requirement_has_version(value);
        if (!is_requirement || !add_installed(c, name, text)) {
            add_word(text, value);
        }
    } else if (value != NULL) {
        c->names_requirement |= c->is_fix && strcmp(name, "requirement") == 0;
        add_value(text, value);
    } else if (words != NULL) {
        c->lacks_facts = true;
        rsdk_text_add(text, "%s", words);
    } else if (strcmp(name, "source") == 0) {
        /* Add the options that name where packages come from: the known source of the installation, the site's index,
         * the configuration of the installer (a source of no words), or the index that serves the version. */
        const char *source = c->installation->source;
        const rsdk_index_row *row = index_asked_for(c);
        if (source != NULL && source[0] != '\0') {
            rsdk_text_add(text, "%s%s ", c->precedes_packages ? "--no-deps " : "", source);
        } else if (rsdk_index_of_site() != NULL || (source == NULL && row != NULL)) {
            rsdk_text_add(text, "--index-url ");
            add_index(text, row);
            rsdk_text_add(text, " ");
        } else if (source == NULL) {
            c->lacks_facts = true;
            rsdk_text_add(text, "%s ", words_for("source"));
        }
    } else if (strcmp(name, "index_requirement") == 0) {
        rsdk_index_add_requirement(text, !c->is_page);
    } else if (strcmp(name, "index") == 0) {
        add_index(text, rsdk_index_of_today());
    } else if (strcmp(name, "conda_requirement") == 0 && value_named(c, "distribution") != NULL &&
               value_named(c, "version") != NULL) {
        /* Conda has one "=" where pip has two. */
        rsdk_text requirement = RSDK_TEXT_INIT;
        rsdk_text_add(&requirement, "%s=%s", value_named(c, "distribution"), value_named(c, "version"));
        text->failed |= requirement.failed;
        add_word(text, rsdk_text_get(&requirement));
        rsdk_text_clear(&requirement);
    } else if (command != NULL && depth < DEPTH_LIMIT) {
        add_command(c, command, depth, text);
    } else {
        c->lacks_facts = true;
        if (is_word) {
            add_placeholder(text, words_for(name));
        } else {
            rsdk_text_add(text, "%s", words_for(name));
        }
    }
}

/* A part of a template in braces: a fact, or a command. */
typedef struct slot {
    char name[NAME_SIZE];
    char words[WORDS_SIZE]; /* "": none */
    bool is_word;           /* the value becomes a word of a shell command */
    size_t length;          /* the length with the braces; 0: there is no name */
} slot;

static slot slot_at(const char *template) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    slot found = {.is_word = template[1] == '$'};
    const char *start = template + 1 + found.is_word, *end = NULL;
    size_t length = strspn(start, letters), words = start[length] == '|' ? strcspn(start + length + 1, "}") : 0;
    end = start + length + (words > 0) + words;
    if (length == 0 || length >= NAME_SIZE || words >= WORDS_SIZE || *end != '}') {
        return (slot){.length = 0};
    }
    (void)memcpy(found.name, start, length);
    (void)memcpy(found.words, start + length + 1, words);
    found.length = (size_t)(end + 1 - template);
    return found;
}

/* Fill in a template. Braces that hold no name are text of a command. */
static void fill_in(composer *c, const char *template, unsigned depth, rsdk_text *text) {
    const char *source_end = NULL; /* the end of the last source */
    while (*template != '\0') {
        size_t plain = strcspn(template, "{");
        rsdk_text_add(text, "%.*s", (int)plain, template);
        template += plain;
        if (*template == '\0') {
            return;
        }
        slot found = slot_at(template);
        if (found.length == 0) {
            rsdk_text_add(text, "{");
            template ++;
            continue;
        }
        c->is_behind_source = template == source_end;
        template += found.length;
        source_end = strcmp(found.name, "source") == 0 ? template : source_end;
        const slot following = *template == '{' ? slot_at(template) : (slot){.length = 0};
        c->precedes_packages = following.is_word && following.length > 0 && names_packages(c, following.name);
        add_named(c, found.name, found.is_word, found.words[0] != '\0' ? found.words : NULL, depth, text);
    }
}

/* Return the filled-in text in the arena; NULL when out of memory. */
static const char *text_of(composer *c, const char *template, rsdk_arena *arena) {
    rsdk_text text = RSDK_TEXT_INIT;
    c->lacks_facts = c->has_command = c->has_words = c->names_requirement = false;
    fill_in(c, template, 0, &text);
    const char *copy = text.failed ? NULL : rsdk_arena_copy(arena, rsdk_text_get(&text));
    rsdk_text_clear(&text);
    return copy;
}

/* ---- the fix ---- */

/* Let a fix of which a part is words say at its beginning that no shell takes it. */
static rsdk_status begin_with_words(const composer *c, rsdk_arena *arena, const char **fix, rsdk_error *error) {
    if (c->has_words && !is_words(*fix)) {
        *fix = rsdk_arena_format(arena, "Do in turn: %s", *fix);
        RSDK_NEED(*fix, error);
    }
    return RSDK_OK;
}

/* Add to a fix that installs a closure's package the command that makes the closure again. An image is made again, and
 * nothing is installed into it; wheels are made again and installed. */
static rsdk_status add_closure(composer *c, const char *template, rsdk_arena *arena, const char **fix,
                               rsdk_error *error) {
    static const char wheels[] = " --form wheels --output closure";
    const char *closure = origin_named(c, "source_closure");
    if (closure == NULL || !c->names_requirement || value_named(c, "selector") != NULL) {
        return RSDK_OK;
    }
    const char *traced = strstr(closure, " -- "); /* a traced command has options of its own */
    const size_t length = traced != NULL ? (size_t)(traced - closure) : strlen(closure);
    const char *options = rsdk_arena_copy_bytes(arena, closure, length);
    RSDK_NEED(options, error);
    const bool is_image = strstr(options, " --form ") != NULL && strstr(options, wheels) == NULL;
    if (is_image) {
        *fix = closure;
        c->has_command = false;                                   /* a note is about the environment */
    } else if (strstr(options, wheels) == NULL || c->has_words) { /* words tell no installer where the wheels are */
        *fix = rsdk_arena_format(arena, "%s && %s", *fix, closure);
    } else {
        c->is_from_closure = true;
        const char *again = text_of(c, template, arena);
        c->is_from_closure = false;
        RSDK_NEED(again, error);
        *fix = rsdk_arena_format(arena, "%s && %s && %s", *fix, closure, again);
    }
    RSDK_NEED(*fix, error);
    return RSDK_OK;
}

/* Choose the first fix of a system whose facts are known; *fix is NULL where there is none. */
static rsdk_status choose_among(composer *c, const rsdk_code_row *row, rsdk_system system, rsdk_arena *arena,
                                const char **fix, rsdk_error *error) {
    *fix = NULL;
    for (size_t i = 0; *fix == NULL && i < RSDK_FIX_LIMIT && row->fixes[i].text != NULL; i++) {
        if (row->fixes[i].system == system) {
            const char *text = text_of(c, row->fixes[i].text, arena);
            RSDK_NEED(text, error);
            RSDK_TRY(begin_with_words(c, arena, &text, error));
            if (!c->lacks_facts) {
                RSDK_TRY(add_closure(c, row->fixes[i].text, arena, &text, error));
                *fix = text;
            }
        }
    }
    return RSDK_OK;
}

static rsdk_status choose_fix(composer *c, const rsdk_code_row *row, rsdk_arena *arena, const char **fix,
                              rsdk_error *error) {
    *fix = NULL;
    if (row->fixes[0].text == NULL) {
        return RSDK_OK;
    }
    if (rsdk_system_is_container()) {
        RSDK_TRY(choose_among(c, row, RSDK_SYSTEM_CONTAINER, arena, fix, error));
    }
    if (*fix == NULL && c->system != RSDK_SYSTEM_ANY) {
        RSDK_TRY(choose_among(c, row, c->system, arena, fix, error));
    }
    if (*fix == NULL) {
        RSDK_TRY(choose_among(c, row, RSDK_SYSTEM_ANY, arena, fix, error));
    }
    if (*fix == NULL) { /* no command with words in place of unknown facts: its page has the remedies */
        c->has_command = false;
        *fix = rsdk_arena_format(arena, "rocm-sdk explain %s", row->name);
    }
    RSDK_NEED(*fix, error);
    if (!c->has_command || c->installation->note == NULL) {
        return RSDK_OK;
    }
    /* A comment of the shell, on the same line: words after a line break would be a command. */
    rsdk_text text = RSDK_TEXT_INIT;
    rsdk_text_add(&text, "%s  # ", *fix);
    add_value(&text, c->installation->note);
    *fix = text.failed ? NULL : rsdk_arena_copy(arena, rsdk_text_get(&text));
    rsdk_text_clear(&text);
    RSDK_NEED(*fix, error);
    return RSDK_OK;
}

/* ---- problems ---- */

static rsdk_status compose(owned_problem *owned, const rsdk_finding *finding, const rsdk_installation *installation) {
    static const rsdk_installation unknown = {0};
    if (rsdk_code_name(finding->code) == NULL) {
        return RSDK_BAD_ARGUMENT;
    }
    const rsdk_code_row *row = &rsdk_code_table[finding->code];
    rsdk_problem *view = &owned->view;
    composer c = {.finding = finding,
                  .installation = installation != NULL ? installation : &unknown,
                  .system = rsdk_system_current()};
    view->code = row->name;
    view->severity = row->severity;
    view->title = text_of(&c, row->title, &owned->arena);
    view->cause = text_of(&c, row->cause, &owned->arena);
    view->path = finding->path;
    view->facts = finding->facts.items;
    view->fact_count = finding->facts.count;
    RSDK_NEED(view->title, NULL);
    RSDK_NEED(view->cause, NULL);
    c.is_fix = true;
    RSDK_TRY(choose_fix(&c, row, &owned->arena, &view->fix, NULL));
    view->is_command = view->fix != NULL && !is_words(view->fix);
    return RSDK_OK;
}

static rsdk_status copy_finding(rsdk_finding *finding, rsdk_code code, const char *path, const rsdk_fact *facts,
                                size_t count, rsdk_arena *arena) {
    *finding = (rsdk_finding){.code = code, .path = path != NULL ? rsdk_arena_copy(arena, path) : NULL};
    RSDK_TRY(rsdk_finding_copy_facts(finding, arena, facts, count, NULL));
    return path == NULL || finding->path != NULL ? RSDK_OK : RSDK_NO_MEMORY;
}

/* Give the problem to the caller, or free it. */
static rsdk_status hand_over(owned_problem *owned, rsdk_status status, rsdk_problem **problem) {
    *problem = status == RSDK_OK ? &owned->view : NULL;
    if (status != RSDK_OK) {
        rsdk_problem_free(&owned->view);
    }
    return status;
}

rsdk_status rsdk_problem_make(rsdk_code code, const char *path, const rsdk_fact *facts, size_t count,
                              const rsdk_installation *installation, rsdk_problem **problem) {
    rsdk_finding finding;
    owned_problem *owned = calloc(1, sizeof *owned);
    *problem = NULL;
    if (owned == NULL) {
        return RSDK_NO_MEMORY;
    }
    rsdk_status status = copy_finding(&finding, code, path, facts, count, &owned->arena);
    return hand_over(owned, status == RSDK_OK ? compose(owned, &finding, installation) : status, problem);
}

rsdk_status rsdk_problem_of_error(const rsdk_error *error, rsdk_sdk *sdk, const rsdk_installation *installation,
                                  rsdk_problem **problem) {
    rsdk_finding finding;
    owned_problem *owned = calloc(1, sizeof *owned);
    *problem = NULL;
    if (owned == NULL) {
        return RSDK_NO_MEMORY;
    }
    rsdk_status status = rsdk_cause_of_error(error, sdk, &owned->arena, &finding);
    return hand_over(owned, status == RSDK_OK ? compose(owned, &finding, installation) : status, problem);
}

void rsdk_problem_free(rsdk_problem *problem) {
    owned_problem *owned = (owned_problem *)problem; /* the view is the first member */
    if (owned != NULL) {
        rsdk_arena_clear(&owned->arena);
        free(owned);
    }
}

const char *rsdk_code_name(rsdk_code code) {
    return code < RSDK_CODE_COUNT ? rsdk_code_table[code].name : NULL;
}

rsdk_code rsdk_code_find(const char *name) {
    for (unsigned code = RSDK_NO_CODE + 1; code < RSDK_CODE_COUNT; code++) {
        if (strcmp(rsdk_code_table[code].name, name) == 0) {
            return (rsdk_code)code;
        }
    }
    return RSDK_NO_CODE;
}

rsdk_status rsdk_problem_fix_in_words(const rsdk_fix_row *fix, rsdk_arena *arena, const char **words,
                                      bool *is_command) {
    static const rsdk_installation unknown = {0};
    const rsdk_finding nothing = {0};
    composer c = {.finding = &nothing, .installation = &unknown, .system = fix->system, .is_page = true};
    *words = text_of(&c, fix->text, arena);
    RSDK_NEED(*words, NULL);
    RSDK_TRY(begin_with_words(&c, arena, words, NULL));
    *is_command = !is_words(*words);
    return RSDK_OK;
}
