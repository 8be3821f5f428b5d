/* Starting a thread with all signals blocked. */
#include "base/quiet_thread.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

bool rsdk_quiet_thread_start(rsdk_quiet_thread *thread, void *(*function)(void *), void *argument) {
    sigset_t all, previous;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &previous);
    thread->runs = pthread_create(&thread->id, NULL, function, argument) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &previous, NULL);
    thread->process = getpid();
    return thread->runs;
}

bool rsdk_quiet_thread_join(rsdk_quiet_thread *thread, const struct timespec *deadline) {
    if (thread->runs && thread->process == getpid()) {
        const int failed =
            deadline == NULL ? pthread_join(thread->id, NULL) : pthread_timedjoin_np(thread->id, NULL, deadline);
        if (failed == ETIMEDOUT) {
            return false;
        }
    }
    thread->runs = false;
    return true;
}

struct timespec rsdk_quiet_thread_deadline(unsigned milliseconds) {
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}
