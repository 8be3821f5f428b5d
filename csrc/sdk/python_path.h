/* The search path of a Python, with a limit of the time that it takes. */
#ifndef RSDK_SDK_PYTHON_PATH_H
#define RSDK_SDK_PYTHON_PATH_H

#include "rocm_sdk/python_path.h"

/* Ask as rsdk_python_path_ask, with another time to wait than 30 s, in milliseconds. */
rsdk_status rsdk_python_path_ask_within(const char *program, const char *const *environment, int milliseconds,
                                        rsdk_python_path **python, rsdk_error *error);

#endif
