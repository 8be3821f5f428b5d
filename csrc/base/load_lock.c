/* The lock of loading and, taken after it, the lock of iterations over the link map. Owner and depth of the first are
 * our own: glibc's recursive mutex identifies its owner by a thread id that changes in a forked child. */
#include "base/load_lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t iterations = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_handlers = PTHREAD_ONCE_INIT;
static _Atomic(pthread_t) owner; /* valid while depth > 0 */
static atomic_uint depth;

/* Return whether this thread has the lock. Only the owner itself can find its own id here, so a stale value does no
 * harm. */
static bool is_owner(void) {
    return atomic_load(&depth) > 0 && pthread_equal(atomic_load(&owner), pthread_self());
}

static void take(void) {
    if (!is_owner()) {
        (void)pthread_mutex_lock(&mutex);
        atomic_store(&owner, pthread_self());
    }
    atomic_fetch_add(&depth, 1);
}

static void release(void) {
    if (atomic_fetch_sub(&depth, 1) == 1) {
        (void)pthread_mutex_unlock(&mutex);
    }
}

static void take_both(void) {
    take();
    (void)pthread_mutex_lock(&iterations);
}

static void release_both(void) {
    (void)pthread_mutex_unlock(&iterations);
    release();
}

static void register_fork_handlers(void) {
    (void)pthread_atfork(take_both, release_both, release_both);
}

void rsdk_load_lock_take(void) {
    (void)pthread_once(&fork_handlers, register_fork_handlers);
    take();
}

void rsdk_load_lock_begin_iteration(void) {
    (void)pthread_once(&fork_handlers, register_fork_handlers);
    (void)pthread_mutex_lock(&iterations);
}

void rsdk_load_lock_end_iteration(void) {
    (void)pthread_mutex_unlock(&iterations);
}

void rsdk_load_lock_release(void) {
    release();
}
