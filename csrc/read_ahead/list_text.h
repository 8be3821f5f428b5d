/* The text of a page list. The text is read by system calls alone, so that a thread can do it: the file server may
 * never answer. */
#ifndef RSDK_READ_AHEAD_LIST_TEXT_H
#define RSDK_READ_AHEAD_LIST_TEXT_H

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_list_text {
    const char *directory, *path;
    char *bytes; /* room for the longest list, and its NUL */
    size_t size;
    const char *fault; /* the reason why the list cannot be used; NULL: none */
    int reason;        /* errno, or 0 */
} rsdk_list_text;

/* Make room in an arena for the list of a directory. `text` is all zero before. */
rsdk_status rsdk_list_text_prepare(rsdk_list_text *text, const char *directory, rsdk_arena *arena, rsdk_error *error);

/* Read the text, once. A link is not followed: only the SDK's own list counts. */
void rsdk_list_text_read(rsdk_list_text *text);

/* End the text by a NUL. RSDK_IO_ERROR where the text could not be read, or users who may not change the libraries can
 * change it. */
rsdk_status rsdk_list_text_check(rsdk_list_text *text, rsdk_error *error);

#endif
