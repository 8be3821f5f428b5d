/* What an SDK is, as Python objects, for a session that lasts one call and for one that is asked again (Sdk). */
#ifndef RSDK_PYTHON_SDK_ANSWERS_H
#define RSDK_PYTHON_SDK_ANSWERS_H

#include "session.h"

/* The dict of sdk_facts(). NULL with an exception, here and below. */
PyObject *rsdk_sdk_answer_facts(rsdk_session *session);

/* The str of built_targets(). */
PyObject *rsdk_sdk_answer_targets(rsdk_session *session);

/* The str of package_directory(name). */
PyObject *rsdk_sdk_answer_directory(rsdk_session *session, PyObject *name);

/* The Bindings of these arguments, which are those of bindings() but `overrides` and `fallback`. */
PyObject *rsdk_sdk_answer_bindings(rsdk_session *session, PyObject *args, PyObject *kwargs);

#endif
