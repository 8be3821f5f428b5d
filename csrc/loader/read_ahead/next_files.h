/* The files that a load comes to next, opened by threads meanwhile: on a file server the load waits for one answer
 * after the other, and the threads ask for the content of several files. The load takes the files that they have
 * opened, so each file is opened once for both. */
#ifndef RSDK_LOADER_READ_AHEAD_NEXT_FILES_H
#define RSDK_LOADER_READ_AHEAD_NEXT_FILES_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/quiet_thread.h"
#include "loader/read_ahead/page_list.h"

enum {
    RSDK_NEXT_THREADS = 8,
    RSDK_NEXT_FILES = 256, /* of a load without a page list; of further ones the load itself asks */
    RSDK_NEXT_LISTED_FILES = RSDK_PAGED_FILES_LIMIT + 32, /* of a page list, and the files that are looked up first */
    RSDK_NEXT_KEPT = 128, /* files that stay open for the load; further ones it opens once more */
};

#define RSDK_NEXT_NONE SIZE_MAX /* the place of a file that was not given */

typedef enum rsdk_next_kind {
    RSDK_NEXT_LOOK,    /* the existence of the file */
    RSDK_NEXT_READ,    /* the beginning of a file */
    RSDK_NEXT_LIBRARY, /* the parts that its headers name */
    RSDK_NEXT_LISTED,  /* the pages that a page list names */
} rsdk_next_kind;

typedef struct rsdk_next_file {
    rsdk_next_kind kind;          /* the kind of question */
    const char *path;             /* borrowed */
    const rsdk_paged_file *facts; /* borrowed; NULL: it is not listed */
    atomic_int state;
    rsdk_file file; /* for the load */
} rsdk_next_file;

typedef struct rsdk_next_files {
    rsdk_next_file *files; /* in an arena; NULL: not started */
    size_t capacity, given;
    atomic_size_t taken;
    sem_t waiting; /* the number of files that no thread has come to */
    rsdk_quiet_thread threads[RSDK_NEXT_THREADS];
    unsigned thread_count;
    bool is_stuck; /* the load waits for none of them any more */
    atomic_bool ends;
} rsdk_next_files;

/* Start as many threads as may be started (none: !has_threads), for at most `capacity` files. `next` is all zero
 * before, and stays where it is, as `arena` does. Without memory nothing is opened. */
void rsdk_next_files_start(rsdk_next_files *next, size_t capacity, bool has_threads, rsdk_arena *arena);

/* Add a library, unless there are as many as there may be; then return false. The path and the facts live until the
 * threads have ended. */
bool rsdk_next_files_give(rsdk_next_files *next, const char *path, const rsdk_paged_file *facts);

/* Look whether there is such a file or, with `reads`, read its beginning: nobody takes the file. Path as above. */
void rsdk_next_files_look(rsdk_next_files *next, const char *path, bool reads);

/* Take the file that was given after so many others, opened, for the load that has come to it. A thread has opened the
 * file, or the load waits until one has, or this function opens it because no thread has come to it. False: the load is
 * to open the file as any other, and no thread begins with it. */
bool rsdk_next_files_take(rsdk_next_files *next, size_t place, rsdk_file *file);

/* End the threads, and wait for them until `deadline`, as rsdk_quiet_thread_join does; false: one still runs, and
 * another stop can wait for it. The call is allowed where nothing was started, too. */
bool rsdk_next_files_stop(rsdk_next_files *next, uint64_t deadline);

#endif
