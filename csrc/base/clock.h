/* The clock by which durations are measured. */
#ifndef RSDK_BASE_CLOCK_H
#define RSDK_BASE_CLOCK_H

#include <stdint.h>

/* Return the nanoseconds of CLOCK_MONOTONIC. The function makes no system call: the kernel shares the time with each
 * process. */
uint64_t rsdk_clock_now(void);

#endif
