/* Input of a user, such as a variable's value, as messages show it. */
#ifndef RSDK_GPU_SHOWN_INPUT_H
#define RSDK_GPU_SHOWN_INPUT_H

#include <stddef.h>

enum { RSDK_SHOWN_SIZE = 64 };

/* Short, in one line and in ASCII: other characters become '?', and "..." replaces the end of a long text. */
typedef struct rsdk_shown_input {
    char text[RSDK_SHOWN_SIZE];
} rsdk_shown_input;

rsdk_shown_input rsdk_shown_input_make(const char *input, size_t length);

#endif
