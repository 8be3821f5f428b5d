/* The time. */
#include "base/clock.h"

#include <time.h>

uint64_t rsdk_clock_now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}
