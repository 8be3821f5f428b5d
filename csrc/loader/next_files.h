/* The files that a load comes to next, opened by threads meanwhile: on a file server the load waits for the headers of
 * one file after the other, and the threads ask for those of several. */
#ifndef RSDK_LOADER_NEXT_FILES_H
#define RSDK_LOADER_NEXT_FILES_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/quiet_thread.h"

enum {
    RSDK_NEXT_THREADS = 4,
    RSDK_NEXT_FILES = 256, /* of a load; of further ones the load itself asks */
};

typedef struct rsdk_next_files {
    _Atomic(const char *) paths[RSDK_NEXT_FILES]; /* borrowed; NULL: taken */
    size_t given;
    atomic_size_t taken;
    sem_t waiting; /* how many paths no thread has taken */
    rsdk_quiet_thread threads[RSDK_NEXT_THREADS];
    unsigned thread_count;
    atomic_bool ends;
} rsdk_next_files;

/* Starts the threads, as many as may be started. `next` is all zero before, and stays where it is. */
void rsdk_next_files_start(rsdk_next_files *next);

/* A further file; the path lives until the threads have ended. Without threads nothing happens. */
void rsdk_next_files_give(rsdk_next_files *next, const char *path);

/* No thread begins with the file that was given after so many others. */
void rsdk_next_files_take_back(rsdk_next_files *next, size_t place);

/* Ends the threads, and waits for them until `deadline`, as rsdk_quiet_thread_join does; false: one still runs, and
 * another stop can wait for it. For one that was not started, too. */
bool rsdk_next_files_stop(rsdk_next_files *next, const struct timespec *deadline);

#endif
