/* Threads with all signals blocked, and waits for them. A wait is a futex: unlike a condition variable it has no mutex,
 * which a child that is forked meanwhile could find locked. */
#include "base/quiet_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { SECOND = 1000 * 1000 * 1000 };

static void *run(void *argument) {
    rsdk_quiet_thread *thread = argument;
    thread->function(thread->argument);
    rsdk_quiet_thread_tell(&thread->has_ended, true);
    return NULL;
}

bool rsdk_quiet_thread_start(rsdk_quiet_thread *thread, void (*function)(void *), void *argument) {
    sigset_t all, previous;
    thread->function = function;
    thread->argument = argument;
    thread->process = getpid();
    atomic_store(&thread->has_ended, false);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &previous);
    thread->runs = pthread_create(&thread->id, NULL, run, thread) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return thread->runs;
}

bool rsdk_quiet_thread_join(rsdk_quiet_thread *thread, uint64_t deadline) {
    if (thread->runs && thread->process == getpid()) {
        if (!rsdk_quiet_thread_wait(&thread->has_ended, false, deadline)) {
            return false;
        }
        (void)pthread_join(thread->id, NULL);
    }
    thread->runs = false;
    return true;
}

uint64_t rsdk_quiet_thread_deadline(unsigned milliseconds) {
    return rsdk_clock_now() + milliseconds * UINT64_C(1000000);
}

void rsdk_quiet_thread_tell(atomic_int *number, int value) {
    atomic_store(number, value);
    (void)syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool rsdk_quiet_thread_wait(atomic_int *number, int value, uint64_t deadline) {
    while (atomic_load(number) == value) {
        const uint64_t now = rsdk_clock_now();
        if (now >= deadline) {
            return false;
        }
        const struct timespec time = {.tv_sec = (time_t)((deadline - now) / SECOND),
                                      .tv_nsec = (long)((deadline - now) % SECOND)};
        (void)syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, value, &time, NULL, 0);
    }
    return true;
}
