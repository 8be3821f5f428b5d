/* Errors and warnings of the C library as Python's. */
#ifndef RSDK_PYTHON_EXCEPTIONS_H
#define RSDK_PYTHON_EXCEPTIONS_H

#include "rocm_sdk/error.h"
#include "rocm_sdk/sdk.h"
#include "state.h"

/* Return the name of the class of rocm_sdk.errors that stands for a status. */
const char *rsdk_exceptions_class(rsdk_status status);

/* Set the exception of rocm_sdk.errors that stands for the error's status. `sdk` (NULL: none is open) is asked for the
 * meaning of the error. */
void rsdk_exceptions_raise(const rsdk_error *error, rsdk_sdk *sdk);

/* Set the same as an exception of the class `rocm_sdk.errors.CLASS_NAME` (MemoryError where memory is short). */
void rsdk_exceptions_raise_as(const char *class_name, const rsdk_error *error, rsdk_sdk *sdk);

/* Return whether a call of the C library went well; otherwise set the exception of its error, of the class of its
 * status or of `class_name`. The error is cleared. */
bool rsdk_exceptions_check(rsdk_status status, rsdk_error *error);
bool rsdk_exceptions_check_as(const char *class_name, rsdk_status status, rsdk_error *error);

/* Issue one warning of the class `rocm_sdk.errors.CLASS_NAME`; return -1 where a filter makes it an exception. */
int rsdk_exceptions_warn(const char *class_name, const char *text);

#endif
