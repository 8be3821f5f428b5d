/* Sources: for the system calls' forms syscalls(2); for the files and calls proc(5), ptrace(2). */
#include "programs/parts/awaited_device.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEVICE_SIZE = 64, ENTRY = 1 };

/* linux/ptrace.h of Linux 5.3, which cannot be included beside sys/ptrace.h of each C library. */
enum { GET_SYSCALL_INFO = 0x420e };
typedef struct syscall_info {
    uint8_t kind, padding[3];
    uint32_t architecture;
    uint64_t instruction, stack, number, arguments[6];
} syscall_info;

/* Return whether a path is a device of AMD's driver, or of WSL. */
static bool is_device(const char *path) {
    static const char *const beginnings[] = {"/dev/kfd", "/dev/dri/", "/dev/dxg"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (strncmp(path, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    return false;
}

static long long now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- a call that does not return ---- */

/* Find the device that the first argument of the current system call is a descriptor of. */
static bool find_open_device(pid_t process, char *device, size_t size) {
    char name[64], text[256], path[PATH_MAX];
    (void)snprintf(name, sizeof name, "/proc/%d/syscall", (int)process);
    FILE *file = fopen(name, "re");
    bool is_there = file != NULL && fgets(text, sizeof text, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    char *argument = is_there ? strchr(text, ' ') : NULL; /* "running" has none */
    if (argument == NULL || strtol(text, NULL, 10) < 0) {
        return false;
    }
    (void)snprintf(name, sizeof name, "/proc/%d/fd/%lu", (int)process, strtoul(argument, NULL, 0));
    ssize_t length = readlink(name, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (!is_device(path)) {
        return false;
    }
    (void)snprintf(device, size, "%s", path);
    return true;
}

/* ---- calls that fail, again and again ---- */

/* Return the argument of a system call that has the path of a file; -1: the call has none. */
static int path_argument(uint64_t number) {
    switch (number) {
    case SYS_openat:
    case SYS_faccessat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_readlinkat:
#ifdef SYS_faccessat2
    case SYS_faccessat2:
#endif
        return 1;
#ifdef SYS_open
    case SYS_open:
    case SYS_access:
    case SYS_stat:
    case SYS_lstat:
    case SYS_readlink:
        return 0;
#endif
    default:
        return -1;
    }
}

/* Find the path that a child which has stopped at a system call asks for, if it is a device that is not there. */
static bool find_missing_device(pid_t process, char *device, size_t size) {
    syscall_info info = {.kind = 0};
    char path[DEVICE_SIZE] = "";
    long got = ptrace((enum __ptrace_request)GET_SYSCALL_INFO, process, sizeof info, &info);
    int argument = got > 0 && info.kind == ENTRY ? path_argument(info.number) : -1;
    if (argument < 0) {
        return false;
    }
    struct iovec to = {.iov_base = path, .iov_len = sizeof path - 1};
    struct iovec from = {.iov_base = (void *)(uintptr_t)info.arguments[argument], /* NOLINT: it is of the child */
                         .iov_len = sizeof path - 1};
    for (size_t length = sizeof path - 1; length > 8; length /= 2) { /* a page behind the path may be missing */
        to.iov_len = from.iov_len = length;
        if (process_vm_readv(process, &to, 1, &from, 1, 0) > 0) {
            break;
        }
    }
    if (!is_device(path) || access(path, F_OK) == 0) {
        return false;
    }
    (void)snprintf(device, size, "%s", path);
    return true;
}

static bool wait_for_stop(pid_t process, long long deadline, int *status) {
    const struct timespec pause = {.tv_nsec = 200000};
    while (now() < deadline) {
        pid_t ended = waitpid(process, status, WNOHANG | __WALL);
        if (ended != 0) {
            return ended == process && WIFSTOPPED(*status);
        }
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* Follow the child's system calls. */
static void follow(pid_t process, long long deadline, char *device, size_t size) {
    int status = 0;
    if (ptrace(PTRACE_SEIZE, process, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0 ||
        ptrace(PTRACE_INTERRUPT, process, NULL, NULL) != 0) {
        return; /* a sandbox, or yama: nothing is seen */
    }
    while (wait_for_stop(process, deadline, &status)) {
        bool is_of_system_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        if (is_of_system_call && find_missing_device(process, device, size)) {
            return;
        }
        bool is_of_trace = is_of_system_call || status >> 16 != 0;
        if (ptrace(PTRACE_SYSCALL, process, NULL, (void *)(intptr_t)(is_of_trace ? 0 : WSTOPSIG(status))) != 0) {
            return;
        }
    }
}

void awaited_device_find(pid_t process, long long microseconds, char *device, size_t size) {
    device[0] = '\0';
    if (!find_open_device(process, device, size)) {
        follow(process, now() + microseconds, device, size);
    }
}
