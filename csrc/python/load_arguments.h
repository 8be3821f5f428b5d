/* The arguments of functions that find, plan and load libraries: names, paths, the keywords that they share. */
#ifndef RSDK_PYTHON_LOAD_ARGUMENTS_H
#define RSDK_PYTHON_LOAD_ARGUMENTS_H

#include "environment.h"
#include "rocm_sdk/loader.h"
#include "state.h"

/* Names or paths as C strings, borrowed from `owner`. */
typedef struct rsdk_text_arguments {
    PyObject *owner; /* tuple of str or bytes */
    const char **items;
    size_t count;
} rsdk_text_arguments;

void rsdk_text_arguments_clear(rsdk_text_arguments *texts);

/* Takes a tuple as shortnames. -1 with an exception, here and below; `texts` is to be cleared then, too. */
int rsdk_text_arguments_take_shortnames(rsdk_text_arguments *texts, PyObject *args);

/* Takes a tuple as paths: str, bytes or os.PathLike. */
int rsdk_text_arguments_take_paths(rsdk_text_arguments *texts, PyObject *args);

/* Takes the value of the keyword `files`: an iterable of paths, or NULL for none. */
int rsdk_text_arguments_take_files(rsdk_text_arguments *texts, PyObject *files);

/* The keywords of these functions. */
typedef struct rsdk_keyword_arguments {
    PyObject *overrides, *fallback, *rtld_global, *unversioned_names, *files; /* borrowed */
} rsdk_keyword_arguments;

#define RSDK_KEYWORD_DEFAULTS                                                                                          \
    { .rtld_global = Py_None, .unversioned_names = Py_None }

/* The three values of rtld_global, and what the environment says of scopes. */
int rsdk_keyword_arguments_take_scope(const rsdk_keyword_arguments *keywords, const rsdk_environment *environment,
                                      rsdk_load_options *options);

#endif
