/* A session: one call's view of the installed SDK. The session takes the inputs of the C library from the interpreter
 * (sys.path, environment) and opens the SDK. */
#ifndef RSDK_PYTHON_SESSION_H
#define RSDK_PYTHON_SESSION_H

#include <stdbool.h>

#include "load_arguments.h"
#include "rocm_sdk/rocm_sdk.h"
#include "sdk/environment.h"
#include "state.h"

typedef struct rsdk_session {
    PyObject *module; /* borrowed, and its state */
    rsdk_module_state *state;
    PyObject *search_path; /* tuple of bytes: keeps the texts alive */
    PyObject *modules;     /* dict of str to bytes: packages that an import hook knows; NULL: none asked for yet */
    PyObject *overrides;   /* list of bytes, a shortname and a path in turn: the caller's overrides; NULL: none */
    PyObject *fallback;    /* bytes: the caller's places instead of ROCM_SDK_FALLBACK; NULL: none named */
    rsdk_environment environment; /* the environment, which the SDK borrows */
    rsdk_error *failure;          /* takes the error that is raised; NULL: nobody wants it */
    bool falls_back;              /* no SDK was found: places to fall back to count, and there may be none */
    bool is_enough;               /* the operation says of RSDK_PACKAGE_NOT_INSTALLED that its findings suffice */
    rsdk_sdk *sdk;
} rsdk_session;

/* An operation on the SDK; it runs without the GIL. */
typedef rsdk_status (*rsdk_operation)(rsdk_sdk *sdk, void *context, rsdk_error *error);

/* Take the search path and the environment. Return 0, or -1 with an exception, here and below; the session must be
 * ended in all cases. */
int rsdk_session_start(PyObject *module, rsdk_session *session);

/* Take the caller's overrides, a mapping of shortnames to paths, and places to fall back to, a str; None: none. The
 * caller's overrides and places count before the environment's. */
int rsdk_session_choose(rsdk_session *session, const rsdk_keyword_arguments *keywords);

/* Open the SDK, unless an earlier operation has opened it, and run the operation; where a package is not installed,
 * open the SDK anew where it may be instead: behind the import system (an editable installation), then in places to
 * fall back to. */
int rsdk_session_perform(rsdk_session *session, rsdk_operation operation, void *context);

/* Return RSDK_PACKAGE_NOT_INSTALLED where there is no SDK. */
rsdk_status rsdk_session_need_sdk(rsdk_sdk *sdk, rsdk_error *error);

/* Call rsdk_session_start and rsdk_session_perform, without choices. */
int rsdk_session_run(PyObject *module, rsdk_session *session, rsdk_operation operation, void *context);

void rsdk_session_end(rsdk_session *session);

/* Issue the SDK's warnings. */
int rsdk_session_warn(const rsdk_session *session);

#endif
