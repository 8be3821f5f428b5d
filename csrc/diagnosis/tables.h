/* The data tables of this directory, each in a file of its own. */
#ifndef RSDK_DIAGNOSIS_TABLES_H
#define RSDK_DIAGNOSIS_TABLES_H

#include <stdbool.h>

#include "base/arena.h"
#include "diagnosis/system.h"
#include "rocm_sdk/problem.h"

/* The proof that a fix helps. */
typedef enum rsdk_fix_proof { RSDK_FIX_WORDS, RSDK_FIX_TRIED, RSDK_FIX_ELSEWHERE, RSDK_FIX_HARDWARE } rsdk_fix_proof;

typedef struct rsdk_fix_row {
    rsdk_system system;
    rsdk_fix_proof proof;
    const char *text; /* NULL ends the list */
} rsdk_fix_row;

enum { RSDK_FIX_LIMIT = 15 };

typedef struct rsdk_code_row {
    const char *name; /* "E-LIB-002" */
    rsdk_severity severity;
    const char *title; /* the subject and its fault */
    const char *cause;
    rsdk_fix_row fixes[RSDK_FIX_LIMIT];
    const char *about;  /* the meaning, and the cause, for the code's page */
    const char *sample; /* facts that the title and the cause name, for the page's example: "path=a.so\nname=b.so" */
    const char *repair; /* the repair by `rocm-sdk test --fix`; NULL: none */
} rsdk_code_row;

extern const rsdk_code_row rsdk_code_table[RSDK_CODE_COUNT]; /* the row of RSDK_NO_CODE is empty */

/* The words that stand in a text for a fact that is not known. */
typedef struct rsdk_fact_word {
    const char *fact, *words;
} rsdk_fact_word;

extern const rsdk_fact_word rsdk_fact_words[];
extern const size_t rsdk_fact_word_count;

/* The commands of an installer, as templates. */
typedef struct rsdk_installer_row {
    const char *name;        /* NULL: not known */
    const char *install;     /* {requirement}, which is not installed or in another version */
    const char *reinstall;   /* {distribution}, exactly as it is installed */
    const char *install_sdk; /* an SDK where there is none */
    const char *rebuild;     /* the selector, without a wheel that was built on another machine */
    const char *overwrite;   /* {distribution}, whose metadata is damaged, so that it cannot be removed first */
} rsdk_installer_row;

extern const rsdk_installer_row rsdk_installers[];
extern const size_t rsdk_installer_count;

/* An index of AMD's wheels. */
typedef struct rsdk_index_row {
    unsigned first[2], last[2]; /* the releases that it serves, as major and minor; last 0.0: all later ones */
    const char *stream;         /* "stable", "nightly" */
    const char *word;           /* the text behind the numbers of the stream's versions; "": no word of other builds */
    const char *address;
    const char *requirement; /* the requirement of a command for a whole SDK */
} rsdk_index_row;

/* Environment variables whose values reports show; `*` at the end of a name: all that begin so. */
extern const char *const rsdk_shown_variables[];
extern const size_t rsdk_shown_variable_count;

/* The kind of a variable's value. */
typedef enum rsdk_value_kind {
    RSDK_VALUE_FILE,      /* the path of a file, or a name that is searched */
    RSDK_VALUE_DIRECTORY, /* the path of a directory */
    RSDK_VALUE_LIST,      /* paths of files, with ':', ';', ',' or a blank between */
    RSDK_VALUE_SWITCH,    /* anything else: it leads nowhere */
} rsdk_value_kind;

/* A variable that a parent leaves to its children. */
typedef struct rsdk_inherited_variable {
    const char *name; /* `*` at its end: all that begin so, and have no row of their own */
    rsdk_value_kind kind;
    bool is_of_profilers; /* a profiler sets it for the program that it starts */
    const char *set_by;   /* the program that sets the variable: "rocprofv3" */
    const char *harm;     /* the harm, as a sentence without its end */
} rsdk_inherited_variable;

extern const rsdk_inherited_variable rsdk_inherited_variables[];
extern const size_t rsdk_inherited_variable_count;

extern const rsdk_index_row rsdk_indexes[];
extern const size_t rsdk_index_count;

/* The part of a code's page that a problem does not have: the fixes of all systems. */

/* Return the text of a fix with words in place of facts, and whether it is a command for a shell. */
rsdk_status rsdk_problem_fix_in_words(const rsdk_fix_row *fix, rsdk_arena *arena, const char **words, bool *is_command);

#endif
