/* "Did you mean": the names that a mistyped name may have been meant for. */
#ifndef RSDK_BASE_NEAREST_H
#define RSDK_BASE_NEAREST_H

#include <stddef.h>

/* A list of names, of whatever kind. */
typedef struct rsdk_name_list {
    const char *(*get)(const void *context, size_t index);
    const void *context;
    size_t count;
} rsdk_name_list;

enum { RSDK_NEAREST_LIMIT = 16 };

/* Find up to `limit` names of the list that resemble `name`, the nearest first, equally near names in the list's order;
 * return how many. More than RSDK_NEAREST_LIMIT are never given. */
size_t rsdk_nearest_find(const char *name, const rsdk_name_list *list, const char *nearest[], size_t limit);

#endif
