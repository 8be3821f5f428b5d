/* The watching thread touches nothing but its own state and stderr. */
#include "loader/warnings.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/quiet_thread.h"
#include "base/text.h"

enum { LINE_SIZE = 4352 }; /* a path and the text around it */

struct rsdk_load_watch {
    rsdk_quiet_thread thread;
    pthread_mutex_t mutex; /* guards the next members */
    pthread_cond_t changed;
    double seconds;
    const char *path; /* being loaded, or NULL */
    unsigned told;    /* how often the library was named */
    struct timespec started;
    bool ends;
};

static struct timespec now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

static struct timespec later(struct timespec time, double seconds) {
    time_t whole = (time_t)seconds;
    time.tv_sec += whole;
    time.tv_nsec += (long)((seconds - (double)whole) * 1e9);
    if (time.tv_nsec >= 1000000000L) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000L;
    }
    return time;
}

/* Tell the user which library is loading. The line is one write, so that lines of several threads do not mix; stdio's
 * locks may be held by the thread that hangs. */
static void tell(const char *path, double seconds) {
    char shown[LINE_SIZE - 256], line[LINE_SIZE];
    rsdk_text_write_harmless(path, shown, sizeof shown);
    int length =
        snprintf(line, sizeof line, "rocm_sdk: %s has been loading for %.1f s (ROCM_SDK_LOAD_WATCH)\n", shown, seconds);
    if (length > 0) {
        size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
        (void)!write(STDERR_FILENO, line, size);
    }
}

static void *watch_loads(void *argument) {
    rsdk_load_watch *watch = argument;
    (void)pthread_mutex_lock(&watch->mutex);
    while (!watch->ends) {
        if (watch->path == NULL) {
            (void)pthread_cond_wait(&watch->changed, &watch->mutex);
            continue;
        }
        double due = watch->seconds * (watch->told + 1);
        struct timespec deadline = later(watch->started, due), time = now();
        bool is_over =
            time.tv_sec > deadline.tv_sec || (time.tv_sec == deadline.tv_sec && time.tv_nsec >= deadline.tv_nsec);
        if (is_over) {
            tell(watch->path, due);
            watch->told++;
        } else {
            (void)pthread_cond_timedwait(&watch->changed, &watch->mutex, &deadline);
        }
    }
    (void)pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

static bool start_thread(rsdk_load_watch *watch) {
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&watch->mutex, NULL);
    (void)pthread_cond_init(&watch->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return rsdk_quiet_thread_start(&watch->thread, watch_loads, watch);
}

rsdk_load_watch *rsdk_load_watch_start(double seconds) {
    rsdk_load_watch *watch = seconds > 0 ? calloc(1, sizeof *watch) : NULL;
    if (watch == NULL) {
        return NULL;
    }
    watch->seconds = seconds;
    if (!start_thread(watch)) {
        free(watch);
        return NULL;
    }
    return watch;
}

void rsdk_load_watch_set(rsdk_load_watch *watch, const char *path) {
    if (watch == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&watch->mutex);
    watch->path = path;
    watch->told = 0;
    watch->started = now();
    (void)pthread_cond_signal(&watch->changed);
    (void)pthread_mutex_unlock(&watch->mutex);
}

void rsdk_load_watch_stop(rsdk_load_watch *watch) {
    if (watch == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&watch->mutex);
    watch->ends = true;
    (void)pthread_cond_signal(&watch->changed);
    (void)pthread_mutex_unlock(&watch->mutex);
    (void)rsdk_quiet_thread_join(&watch->thread, NULL);
    (void)pthread_cond_destroy(&watch->changed);
    (void)pthread_mutex_destroy(&watch->mutex);
    free(watch);
}
