/* The arguments of functions that find, plan and load libraries: names, paths, the keywords that they share. */
#ifndef RSDK_PYTHON_LOAD_ARGUMENTS_H
#define RSDK_PYTHON_LOAD_ARGUMENTS_H

#include <stdbool.h>

#include "rocm_sdk/loader.h"
#include "sdk/environment.h"
#include "state.h"

/* Names or paths as C strings, borrowed from `owner`. */
typedef struct rsdk_text_arguments {
    PyObject *owner; /* tuple of str or bytes */
    const char **items;
    size_t count;
} rsdk_text_arguments;

void rsdk_text_arguments_clear(rsdk_text_arguments *texts);

/* Take a tuple as shortnames. Return -1 with an exception, here and below; `texts` is to be cleared then, too. */
int rsdk_text_arguments_take_shortnames(rsdk_text_arguments *texts, PyObject *args);

/* Take a tuple as paths: str, bytes or os.PathLike. */
int rsdk_text_arguments_take_paths(rsdk_text_arguments *texts, PyObject *args);

/* Take the value of the keyword `files`: an iterable of paths, or NULL for none. */
int rsdk_text_arguments_take_files(rsdk_text_arguments *texts, PyObject *files);

/* The keywords of these functions. */
typedef enum rsdk_keyword {
    RSDK_KEYWORD_OVERRIDES,
    RSDK_KEYWORD_FALLBACK,
    RSDK_KEYWORD_RTLD_GLOBAL,
    RSDK_KEYWORD_UNVERSIONED_NAMES,
    RSDK_KEYWORD_FILES,
    RSDK_KEYWORD_NEW_PROCESS,
    RSDK_KEYWORD_EVERY,
    RSDK_KEYWORD_COUNT
} rsdk_keyword;

#define RSDK_TAKES(keyword) (1U << RSDK_KEYWORD_##keyword)

typedef struct rsdk_keyword_arguments {
    PyObject *values[RSDK_KEYWORD_COUNT]; /* borrowed; NULL: not given */
} rsdk_keyword_arguments;

/* Take keywords, of which the function has `accepted` (RSDK_TAKES). */
int rsdk_keyword_arguments_take(rsdk_keyword_arguments *keywords, PyObject *kwargs, unsigned accepted);

/* Return 1 or 0, which is the value of a keyword that is not given; -1 with an exception. */
int rsdk_keyword_arguments_is_true(const rsdk_keyword_arguments *keywords, rsdk_keyword keyword);

/* Return whether a keyword is left to the environment: not given, or None. */
bool rsdk_keyword_arguments_is_open(const rsdk_keyword_arguments *keywords, rsdk_keyword keyword);

/* Take the three values of rtld_global, and the environment's variables for scopes. */
int rsdk_keyword_arguments_take_scope(const rsdk_keyword_arguments *keywords, const rsdk_environment *environment,
                                      rsdk_load_options *options);

#endif
