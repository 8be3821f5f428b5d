/* The device of a GPU that a child of ours waits for. */
#ifndef RSDK_PROGRAMS_AWAITED_DEVICE_H
#define RSDK_PROGRAMS_AWAITED_DEVICE_H

#include <stddef.h>
#include <sys/types.h>

/* Look at the first thread of a child that runs for up to `microseconds`: at a device that it is in a system call of,
 * or that it tries to open and that is not there. Write the device's path, "" where nothing shows one. The child is
 * left stopped, or as it was: it is to be killed. */
void awaited_device_find(pid_t process, long long microseconds, char *device, size_t size);

#endif
