/* A thread beside the caller's work. Signals are the program's: it has all of them blocked, and handles none. */
#ifndef RSDK_BASE_QUIET_THREAD_H
#define RSDK_BASE_QUIET_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

typedef struct rsdk_quiet_thread {
    bool runs;
    pid_t process; /* the process that has the thread */
    pthread_t id;
} rsdk_quiet_thread;

/* Start the thread; return false where no thread may be started (seccomp, RLIMIT_NPROC, no memory). */
bool rsdk_quiet_thread_start(rsdk_quiet_thread *thread, void *(*function)(void *), void *argument);

/* Wait for the thread's end, at most until a time of CLOCK_REALTIME (NULL: for ever). False: the thread still runs
 * then, and can be waited for again. For a thread that does not run, and in a child of the process that has it, there
 * is nothing to do. */
bool rsdk_quiet_thread_join(rsdk_quiet_thread *thread, const struct timespec *deadline);

/* A time from now, as such a deadline. */
struct timespec rsdk_quiet_thread_deadline(unsigned milliseconds);

#endif
