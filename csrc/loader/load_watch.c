/* The watching thread touches nothing but its own state and stderr. */
#include "loader/warnings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quiet_thread.h"
#include "base/text.h"

enum {
    LINE_SIZE = 4352,    /* a path and the text around it */
    LONGEST = 1000000000 /* seconds */
};

struct rsdk_load_watch {
    rsdk_quiet_thread thread;
    double seconds;
    _Atomic(uint64_t) started;  /* a time of rsdk_clock_now; stored before the path, and read after it */
    _Atomic(const char *) path; /* being loaded, or NULL */
    atomic_int changes;         /* of the path, and the end */
    atomic_bool ends;
};

static void watch_loads(void *argument) {
    rsdk_load_watch *watch = argument;
    unsigned told = 0; /* how often the library was named */
    for (int changes = 0, seen = 0; !atomic_load(&watch->ends); seen = changes) {
        changes = atomic_load(&watch->changes);
        told = changes == seen ? told : 0;
        const char *path = atomic_load(&watch->path);
        const double due = watch->seconds * (told + 1);
        const bool is_watched = path != NULL && due < LONGEST;
        const uint64_t deadline =
            is_watched ? atomic_load(&watch->started) + (uint64_t)(due * 1e9) : RSDK_QUIET_THREAD_FOR_EVER;
        if (!rsdk_quiet_thread_wait(&watch->changes, changes, deadline)) {
            /* Tell the user which library is loading. The line is one write, so that lines of several threads do not
             * mix; stdio's locks may be held by the thread that hangs. */
            char shown[LINE_SIZE - 256], line[LINE_SIZE];
            rsdk_text_write_harmless(path, shown, sizeof shown);
            int length = snprintf(line, sizeof line, "rocm_sdk: %s has been loading for %.1f s (ROCM_SDK_LOAD_WATCH)\n",
                                  shown, due);
            if (length > 0) {
                size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
                (void)!write(STDERR_FILENO, line, size);
            }
            told++;
        }
    }
}

static void change(rsdk_load_watch *watch) {
    rsdk_quiet_thread_tell(&watch->changes, atomic_load(&watch->changes) + 1);
}

rsdk_load_watch *rsdk_load_watch_start(double seconds) {
    rsdk_load_watch *watch = seconds > 0 ? calloc(1, sizeof *watch) : NULL;
    if (watch == NULL) {
        return NULL;
    }
    watch->seconds = seconds;
    if (!rsdk_quiet_thread_start(&watch->thread, watch_loads, watch)) {
        free(watch);
        return NULL;
    }
    return watch;
}

void rsdk_load_watch_set(rsdk_load_watch *watch, const char *path) {
    if (watch != NULL) {
        atomic_store(&watch->started, rsdk_clock_now());
        atomic_store(&watch->path, path);
        change(watch);
    }
}

void rsdk_load_watch_stop(rsdk_load_watch *watch) {
    if (watch != NULL) {
        atomic_store(&watch->ends, true);
        change(watch);
        (void)rsdk_quiet_thread_join(&watch->thread, RSDK_QUIET_THREAD_FOR_EVER);
        free(watch);
    }
}
