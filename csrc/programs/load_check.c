/* load_check: a program that loads shared libraries, each in a process of its own, and tells how it went. Part of
 * `rocm-sdk test`.
 *
 *     load_check PARALLEL SECONDS OUTPUT-LIMIT DESCRIPTOR <PATHS
 *
 * load_check is a program of its own, with libc alone in it: neither Python's threads nor libraries that Python has
 * loaded are in the way, and starting a child is a cheap fork. PATHS are absolute, each ended by a NUL. Results go to
 * DESCRIPTOR, since code and messages of the linker that a variable brings in may write to stdout and stderr. The
 * results come in the order in which children begin and end, six fields each, each ended by a NUL: index of the path;
 * "begun", then "loaded", "refused" (by the linker), "killed" (by a signal), "ended" (the library ended its process) or
 * "stuck" (killed after SECONDS); the number of the signal or the exit status, else 0; microseconds; the dlerror text,
 * or the device of a GPU that a stuck child was seen to wait for; the output of the library, at most OUTPUT-LIMIT
 * bytes. If this program is killed, a path that was begun and has no result was being loaded. The exit status is 0 if
 * there is a result for each path.
 *
 * A child stops once its load has returned: the library must be in its memory then. The child goes on and ends by a
 * status that the library does not know. A child that ends before, or a library that writes a child's report, has
 * loaded nothing.
 *
 * No child outlives this program, nor does a process that a library has started, a daemon too: such processes become
 * our children when their own parents end. This program does not outlive the one that started it; SIGTERM and SIGINT
 * end it in good order. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/parts/awaited_device.h"

/* A killed child may take GRACE microseconds to be gone; one that the kernel does not let go is left behind. */
enum { GRACE = 5000000, STRAYS_SIZE = 4096 };
enum { PATHS_LIMIT = 1 << 24, REPORT_LIMIT = 1 << 14, EXIT_REFUSED = 1, EXIT_TROUBLE = 2 };
/* Microseconds for the look at a stuck child, and for all looks: meanwhile nothing else is done. */
enum { LOOK = 1500000, ALL_LOOKS = 4500000, DEVICE_SIZE = 64 };
enum { FIRST_SECRET = 64, SECRETS = 61 }; /* exit statuses */

/* The text that a pipe brought, up to a limit; the rest is read and dropped, so that no child waits for a reader. */
typedef struct capture {
    int descriptor; /* -1: closed */
    char *text;
    size_t length, limit;
} capture;

typedef struct child {
    pid_t process; /* 0: the slot is free */
    size_t index;
    long long started, deadline; /* microseconds */
    bool is_stuck, has_library;  /* the library was in the memory when the load had returned */
    int secret;                  /* the exit status of a child with its library */
    capture report;              /* '+' or '-', then the dlerror text */
    capture output;
    char device[DEVICE_SIZE]; /* the device that the child waits for; "": none was seen */
} child;

typedef struct checker {
    char *text;   /* all paths, one after the other */
    char **paths; /* their beginnings */
    size_t path_count, next;
    child *children;
    size_t parallel, running;
    long long limit; /* microseconds for each */
    long long looks; /* microseconds that are left */
    size_t output_limit;
    FILE *results;
    int signals; /* readable when a child has ended, or we are to end */
    struct pollfd *polled;
} checker;

static void give_up(const char *what) {
    (void)fprintf(stderr, "load_check: %s: %s\n", what, strerror(errno));
    exit(EXIT_TROUBLE);
}

static long long now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        give_up("memory");
    }
    return memory;
}

/* ---- the child ---- */

/* Forbid core dumps. The limit is one byte: a limit of 0 would still feed a core to a program that the kernel's
 * core_pattern names (core(5)). */
static void forbid_core_dumps(void) {
    struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
    (void)setrlimit(RLIMIT_CORE, &limit);
}

/* Open a descriptor that has nothing to read; /dev/null may be missing. */
static int open_nothing(void) {
    int nothing[2];
    if (pipe2(nothing, O_CLOEXEC) != 0) {
        return -1;
    }
    (void)close(nothing[1]);
    return nothing[0];
}

/* Load a library in the child. `results` belongs to this program: processes that a library starts must not keep it
 * open. */
static void load_in_child(const char *path, int results, int report, int output, pid_t parent, int secret) {
    (void)close(results);
    int nothing = open_nothing();
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    forbid_core_dumps();
    if (getppid() != parent || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0) {
        _exit(EXIT_TROUBLE);
    }
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL) {
        (void)raise(SIGSTOP);
        (void)!write(report, "+", 1);
        _exit(secret);
    }
    const char *reason = dlerror(); /* NOLINT(concurrency-mt-unsafe): there is one thread */
    (void)!write(report, "-", 1);
    (void)!write(report, reason, reason != NULL ? strlen(reason) : 0);
    _exit(EXIT_REFUSED);
}

/* ---- the parent ---- */

static capture capture_of(int pipe_end, size_t limit) {
    (void)fcntl(pipe_end, F_SETFL, O_NONBLOCK);
    return (capture){.descriptor = pipe_end, .text = allocate(limit, 1), .limit = limit};
}

/* Print a field, which must not hold the NUL that ends it. */
static void print_field(FILE *results, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        (void)putc(text[i] != '\0' ? text[i] : '?', results);
    }
    (void)putc('\0', results);
}

static void print_number(FILE *results, long long number) {
    (void)fprintf(results, "%lld", number);
    (void)putc('\0', results);
}

/* Print "begun" before the child is there, which may kill this program at once. */
static void print_begun(FILE *results, size_t index) {
    static const char begun[] = "begun";
    print_number(results, (long long)index);
    print_field(results, begun, sizeof begun - 1);
    print_number(results, 0);
    print_number(results, 0);
    print_field(results, "", 0);
    print_field(results, "", 0);
    (void)fflush(results);
}

static int new_secret(void) {
    unsigned char byte = 0;
    (void)!getrandom(&byte, sizeof byte, GRND_NONBLOCK);
    return FIRST_SECRET + byte % SECRETS;
}

static void start(checker *c, child *slot) {
    int report[2], output[2];
    pid_t parent = getpid();
    if (pipe2(report, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
        give_up("pipe");
    }
    *slot = (child){.index = c->next++, .started = now(), .secret = new_secret()};
    slot->deadline = slot->started + c->limit;
    print_begun(c->results, slot->index);
    slot->process = fork();
    if (slot->process < 0) {
        give_up("fork");
    }
    if (slot->process == 0) {
        load_in_child(c->paths[slot->index], fileno(c->results), report[1], output[1], parent, slot->secret);
    }
    (void)close(report[1]);
    (void)close(output[1]);
    slot->report = capture_of(report[0], REPORT_LIMIT);
    slot->output = capture_of(output[0], c->output_limit);
    c->running++;
}

/* Read the bytes that are there, but not for ever: a library may print without end. */
static void drain(capture *from) {
    char rest[4096];
    for (int i = 0; i < 64 && from->descriptor >= 0; i++) {
        size_t available = from->limit - from->length;
        ssize_t got = available > 0 ? read(from->descriptor, from->text + from->length, available)
                                    : read(from->descriptor, rest, sizeof rest);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got == 0 || (got < 0 && errno != EAGAIN)) {
            (void)close(from->descriptor);
            from->descriptor = -1;
        }
        if (got <= 0) {
            return;
        }
        from->length += available > 0 ? (size_t)got : 0;
    }
}

static void print_result(FILE *results, const child *ended, int status) {
    const char *report = ended->report.length > 0 ? ended->report.text : "";
    char verdict = report[0];
    const bool is_loaded = verdict == '+' && ended->has_library && WEXITSTATUS(status) == ended->secret;
    const bool is_refused = verdict == '-' && WEXITSTATUS(status) == EXIT_REFUSED;
    const char *kind = ended->is_stuck       ? "stuck"
                       : WIFSIGNALED(status) ? "killed"
                       : is_loaded           ? "loaded"
                       : is_refused          ? "refused"
                                             : "ended";
    size_t skipped = verdict != '\0';
    print_number(results, (long long)ended->index);
    print_field(results, kind, strlen(kind));
    print_number(results, WIFSIGNALED(status) ? WTERMSIG(status) : is_loaded || is_refused ? 0 : WEXITSTATUS(status));
    print_number(results, now() - ended->started);
    if (ended->is_stuck) {
        print_field(results, ended->device, strlen(ended->device));
    } else {
        print_field(results, report + skipped, ended->report.length - skipped);
    }
    print_field(results, ended->output.text, ended->output.length);
    (void)fflush(results);
}

/* End the child and, in its session, the processes that the library has started. The child may not have made its
 * session yet. */
static void end(const child *each) {
    (void)kill(-each->process, SIGKILL);
    (void)kill(each->process, SIGKILL);
}

static void finish(checker *c, child *ended, int status) {
    drain(&ended->report);
    drain(&ended->output);
    print_result(c->results, ended, status);
    (void)kill(-ended->process, SIGKILL);
    for (capture *each = &ended->report; each != NULL; each = each == &ended->report ? &ended->output : NULL) {
        if (each->descriptor >= 0) {
            (void)close(each->descriptor);
        }
        free(each->text);
    }
    ended->process = 0;
    c->running--;
}

/* Return the inode of a line of maps: behind its range, rights, offset and device. */
static unsigned long inode_of(const char *line) {
    for (int i = 0; i < 4; i++) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    return strtoul(line, NULL, 10);
}

/* Return whether a process has a file in its memory, under this name or another one; true where no /proc tells it. */
static bool has_mapped(pid_t process, const char *path) {
    char name[64], real[PATH_MAX], line[PATH_MAX + 128];
    struct stat facts;
    bool is_found = false;
    (void)snprintf(name, sizeof name, "/proc/%d/maps", (int)process);
    FILE *maps = realpath(path, real) != NULL && stat(real, &facts) == 0 ? fopen(name, "re") : NULL;
    if (maps == NULL) {
        return access("/proc/self/maps", F_OK) != 0;
    }
    while (!is_found && fgets(line, sizeof line, maps) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *place = strchr(line, '/');
        is_found = (place != NULL && strcmp(place, real) == 0) || inode_of(line) == facts.st_ino;
    }
    (void)fclose(maps);
    return is_found;
}

static void reap(checker *c) {
    int status = 0;
    for (pid_t process = waitpid(-1, &status, WNOHANG | WUNTRACED); process > 0;
         process = waitpid(-1, &status, WNOHANG | WUNTRACED)) {
        for (size_t i = 0; i < c->parallel; i++) {
            child *each = &c->children[i];
            if (each->process == process && WIFSTOPPED(status)) {
                each->has_library = has_mapped(process, c->paths[each->index]);
                (void)kill(process, SIGCONT);
            } else if (each->process == process) {
                finish(c, each, status);
            }
        }
    }
}

/* End the remaining children: children that ran, and daemons whose parents have ended. Each round finds the processes
 * that the round before has orphaned; a program that forks faster than it can be killed wins. */
static void end_strays(const checker *c) {
    char path[64], text[STRAYS_SIZE];
    struct timespec pause = {.tv_nsec = 1000000};
    for (size_t i = 0; i < c->parallel; i++) {
        if (c->children[i].process != 0) {
            end(&c->children[i]);
        }
    }
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int round = 0; round < 1000 && (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD); round++) {
        int list = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = list >= 0 ? read(list, text, sizeof text - 1) : -1;
        (void)close(list);
        text[length > 0 ? length : 0] = '\0';
        char *at = text, *next = text;
        for (long process = strtol(at, &next, 10); next != at; at = next, process = strtol(at, &next, 10)) {
            if (*next == ' ') { /* a number that the end of the text has not cut */
                (void)kill((pid_t)process, SIGKILL);
            }
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* Take signals: our parent wants no more results, or is gone. */
static void take_signals(const checker *c) {
    struct signalfd_siginfo taken;
    while (read(c->signals, &taken, sizeof taken) > 0) {
        if (taken.ssi_signo != SIGCHLD) {
            end_strays(c);
            _exit(EXIT_TROUBLE);
        }
    }
}

/* Look at a stuck child before it is killed, to see the device that it waits for. */
static void look_at(checker *c, child *stuck) {
    long long start = now();
    if (c->looks >= LOOK) {
        awaited_device_find(stuck->process, LOOK, stuck->device, sizeof stuck->device);
    }
    c->looks -= now() - start;
}

/* Wait for output, an end, or the next deadline; a child past its deadline is killed, and reaped like others. */
static void wait_for_something(checker *c) {
    long long nearest = now() + c->limit;
    nfds_t count = 0;
    c->polled[count++] = (struct pollfd){.fd = c->signals, .events = POLLIN};
    for (size_t i = 0; i < c->parallel; i++) {
        const child *each = &c->children[i];
        if (each->process != 0) {
            c->polled[count++] = (struct pollfd){.fd = each->report.descriptor, .events = POLLIN};
            c->polled[count++] = (struct pollfd){.fd = each->output.descriptor, .events = POLLIN};
            nearest = each->deadline < nearest ? each->deadline : nearest;
        }
    }
    long long wait = (nearest - now()) / 1000 + 1;
    if (poll(c->polled, count, wait > 0 ? (int)wait : 0) < 0 && errno != EINTR) {
        give_up("poll");
    }
    for (size_t i = 0; i < c->parallel; i++) {
        child *each = &c->children[i];
        if (each->process != 0) {
            drain(&each->report);
            drain(&each->output);
            if (now() >= each->deadline && each->is_stuck) {
                finish(c, each, SIGKILL); /* the status of a process that it has killed */
            } else if (now() >= each->deadline) {
                each->is_stuck = true;
                look_at(c, each);
                each->deadline = now() + GRACE;
                end(each);
            }
        }
    }
    take_signals(c);
    reap(c);
}

static void check_all(checker *c) {
    while (c->next < c->path_count || c->running > 0) {
        for (size_t i = 0; i < c->parallel && c->next < c->path_count; i++) {
            if (c->children[i].process == 0) {
                start(c, &c->children[i]);
            }
        }
        wait_for_something(c);
    }
}

/* ---- input ---- */

static void read_paths(checker *c) {
    c->text = allocate(PATHS_LIMIT, 1);
    const size_t length = fread(c->text, 1, PATHS_LIMIT, stdin);
    size_t count = 0;
    if (ferror(stdin) || length == PATHS_LIMIT || (length > 0 && c->text[length - 1] != '\0')) {
        (void)fputs("load_check: the paths on stdin must end in NUL and fit 16 MiB\n", stderr);
        exit(EXIT_TROUBLE);
    }
    for (size_t i = 0; i < length; i++) {
        c->path_count += c->text[i] == '\0';
    }
    c->paths = allocate(c->path_count, sizeof *c->paths);
    for (char *at = c->text; at < c->text + length; at += strlen(at) + 1) {
        c->paths[count++] = at;
    }
}

static long number_of(const char *text, long limit) {
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > limit) {
        (void)fprintf(stderr, "load_check: %s: not a number from 1 to %ld\n", text, limit);
        exit(EXIT_TROUBLE);
    }
    return number;
}

static int watch_signals(void) {
    sigset_t watched;
    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGCHLD);
    (void)sigaddset(&watched, SIGTERM);
    (void)sigaddset(&watched, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &watched, NULL);
    int signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) {
        give_up("signalfd");
    }
    return signals;
}

static FILE *open_results(int descriptor) {
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        give_up("the descriptor of the results");
    }
    FILE *results = fdopen(descriptor, "w");
    if (results == NULL) {
        give_up("the results");
    }
    return results;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        (void)fputs("usage: load_check PARALLEL SECONDS OUTPUT-LIMIT DESCRIPTOR <PATHS\n", stderr);
        return EXIT_TROUBLE;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    checker c = {.parallel = (size_t)number_of(argv[1], 1024),
                 .limit = number_of(argv[2], 86400) * 1000000LL,
                 .looks = ALL_LOOKS,
                 .output_limit = (size_t)number_of(argv[3], 1 << 20),
                 .results = open_results((int)number_of(argv[4], INT_MAX))};
    read_paths(&c);
    c.children = allocate(c.parallel, sizeof *c.children);
    c.polled = allocate(2 * c.parallel + 1, sizeof *c.polled);
    c.signals = watch_signals();
    check_all(&c);
    end_strays(&c);
    free(c.text);
    free((void *)c.paths);
    free(c.children);
    free(c.polled);
    (void)fclose(c.results);
    return 0;
}
