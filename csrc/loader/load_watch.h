/* The load watch: a thread that says on stderr which library has been loading for longer than it should. For loads that
 * never end: a library's constructor may wait for ever, and then nothing else tells which it was. */
#ifndef RSDK_LOADER_LOAD_WATCH_H
#define RSDK_LOADER_LOAD_WATCH_H

/* NULL if `seconds` is not positive or no thread can be made: the load goes on unwatched. */
typedef struct rsdk_load_watch rsdk_load_watch;
rsdk_load_watch *rsdk_load_watch_start(double seconds);
void rsdk_load_watch_stop(rsdk_load_watch *watch); /* waits for the thread; NULL is allowed, here and below */

/* Note that `path` (which must stay as it is) is being loaded from now on; NULL: nothing is. */
void rsdk_load_watch_set(rsdk_load_watch *watch, const char *path);

#endif
