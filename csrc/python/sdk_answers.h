/* The facts of an SDK, as Python objects, for a session that lasts one call and for a session that is asked again
 * (Sdk). */
#ifndef RSDK_PYTHON_SDK_ANSWERS_H
#define RSDK_PYTHON_SDK_ANSWERS_H

#include "session.h"

/* Return the dict of sdk_facts(). NULL with an exception, here and below. */
PyObject *rsdk_sdk_answer_facts(rsdk_session *session);

/* Return the str of built_targets(). */
PyObject *rsdk_sdk_answer_targets(rsdk_session *session);

/* Return the str of package_directory(name). */
PyObject *rsdk_sdk_answer_directory(rsdk_session *session, PyObject *name);

/* Return the Bindings of these arguments, which are the arguments of bindings() except `overrides` and `fallback`. */
PyObject *rsdk_sdk_answer_bindings(rsdk_session *session, PyObject *args, PyObject *kwargs);

#endif
