/* A thread beside the caller's work. Signals are the program's: it has all of them blocked, and handles none. Limits of
 * waits are times of rsdk_clock_now, which no one sets back. */
#ifndef RSDK_BASE_QUIET_THREAD_H
#define RSDK_BASE_QUIET_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct rsdk_quiet_thread {
    bool runs;
    pid_t process; /* the process that has the thread */
    pthread_t id;
    void (*function)(void *);
    void *argument;
    atomic_int has_ended;
} rsdk_quiet_thread;

#define RSDK_QUIET_THREAD_FOR_EVER UINT64_MAX

/* Start the thread; return false where no thread may be started (seccomp, RLIMIT_NPROC, no memory). `thread` stays
 * where it is until the thread is joined. */
bool rsdk_quiet_thread_start(rsdk_quiet_thread *thread, void (*function)(void *), void *argument);

/* Wait for the thread's end, at most until the deadline. False: the thread still runs then, and can be waited for
 * again. For a thread that does not run, and in a child of the process that has it, there is nothing to do. */
bool rsdk_quiet_thread_join(rsdk_quiet_thread *thread, uint64_t deadline);

/* Return the deadline so many milliseconds from now. */
uint64_t rsdk_quiet_thread_deadline(unsigned milliseconds);

/* Set a number, and wake the threads that wait for its change. */
void rsdk_quiet_thread_tell(atomic_int *number, int value);

/* Wait as long as the number is `value`, at most until the deadline; return whether it has changed. */
bool rsdk_quiet_thread_wait(atomic_int *number, int value, uint64_t deadline);

#endif
