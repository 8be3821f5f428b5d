/* Warnings for the user, shown after loading. Each sentence is kept once. */
#ifndef RSDK_LOADER_WARNINGS_H
#define RSDK_LOADER_WARNINGS_H

#include "base/name_table.h"
#include "rocm_sdk/loader.h"

typedef struct rsdk_warnings {
    rsdk_arena *arena; /* borrowed; the texts live in it */
    RSDK_LIST(rsdk_warning) list;
    rsdk_name_table texts; /* the texts of the list */
} rsdk_warnings;

rsdk_status rsdk_warnings_add(rsdk_warnings *warnings, rsdk_warning_kind kind, rsdk_error *error, const char *format,
                              ...) __attribute__((format(printf, 4, 5)));

/* The load watch: a thread that says on stderr which library has been loading for longer than it should. For loads that
 * never end: a library's constructor may wait for ever, and then nothing else tells which it was. */

/* NULL if `seconds` is not positive or no thread can be made: the load goes on unwatched. */
typedef struct rsdk_load_watch rsdk_load_watch;
rsdk_load_watch *rsdk_load_watch_start(double seconds);
void rsdk_load_watch_stop(rsdk_load_watch *watch); /* waits for the thread; NULL is allowed, here and below */

/* Note that `path` (which must stay as it is) is being loaded from now on; NULL: nothing is. */
void rsdk_load_watch_set(rsdk_load_watch *watch, const char *path);

#endif
