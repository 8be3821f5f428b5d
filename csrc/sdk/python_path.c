/* The question to an interpreter for its sys.path. The answer comes over a separate descriptor: output that a .pth
 * file prints does not get into it. The interpreter may be any program, so its answer has limits of size and time, and
 * an end that no other output has. */
#include "sdk/python_path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/path.h"

enum { ANSWER = 3, WAIT = 30 * 1000, LIMIT = 1 << 20, MILLION = 1000 * 1000 };

/* Each directory followed by a NUL, and one more NUL at the end. */
static const char question[] = "import os, sys\n"
                               "found = [os.fsencode(path) for path in sys.path if os.path.isabs(path)]\n"
                               "with open(3, 'wb') as answer:\n"
                               "    for path in filter(os.path.isdir, found):\n"
                               "        answer.write(path + b'\\0')\n"
                               "    answer.write(b'\\0')\n";

struct rsdk_python_path {
    rsdk_arena arena;
    rsdk_strings directories;
};

/* An interpreter that runs, and its answer so far. */
typedef struct conversation {
    const char *program;
    pid_t process; /* 0: none has started */
    int pipe[2];   /* -1: closed */
    uint64_t end;  /* of the wait, as rsdk_clock_now */
    rsdk_arena *arena;
    char *answer;
    size_t length;
} conversation;

static int milliseconds_left(const conversation *talk) {
    uint64_t now = rsdk_clock_now();
    return now < talk->end ? (int)((talk->end - now + MILLION - 1) / MILLION) : 0;
}

static bool is_program(const char *path) {
    return path != NULL && access(path, X_OK) == 0;
}

static const char *value_of(const char *const *environment, const char *name) {
    size_t length = strlen(name);
    for (; environment != NULL && *environment != NULL; environment++) {
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
            return *environment + length + 1;
        }
    }
    return NULL;
}

/* Report an error whose message has the remedy, since the code of these errors has no text. */
static rsdk_status fail(rsdk_error *error, rsdk_status status, const char *program, const char *what,
                        const char *reason) {
    return rsdk_fail_as(error, status, RSDK_E_SDK_001, program, NULL,
                        "%s %s%s; activate the environment that has the SDK, or name its interpreter", program, what,
                        reason);
}

/* Find the file of a program that is named as in a shell. */
static rsdk_status find(const char *name, const char *const *environment, rsdk_arena *arena, const char **file,
                        rsdk_error *error) {
    if (strchr(name, '/') != NULL) {
        *file = name;
        return is_program(name) ? RSDK_OK : fail(error, RSDK_BAD_ARGUMENT, name, "is no program: ", strerror(errno));
    }
    const char *path = value_of(environment, "PATH");
    for (const char *at = path != NULL ? path : "/usr/bin:/bin"; *at != '\0';) {
        size_t length = strcspn(at, ":");
        char *directory = rsdk_arena_copy_bytes(arena, at, length);
        RSDK_NEED(directory, error);
        char *found = rsdk_path_join(arena, directory, name);
        RSDK_NEED(found, error);
        if (found[0] == '/' && is_program(found)) {
            *file = found;
            return RSDK_OK;
        }
        at += length + (at[length] == ':');
    }
    return fail(error, RSDK_BAD_ARGUMENT, name, "is not in PATH", "");
}

/* Start the program with nothing to read, and one descriptor to write to. */
static int start(conversation *talk, const char *const *environment) {
    static const char *const nothing[] = {NULL};
    /* Without an environment, nothing of the user's counts: none of his directories, no variable (-I). */
    const char *words[] = {talk->program, environment != NULL ? "-c" : "-Ic", question, NULL};
    const char *const *variables = environment != NULL ? environment : nothing;
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0) {
        return failure;
    }
    /* The descriptor is copied first, because it may be among the next ones. */
    failure = posix_spawn_file_actions_adddup2(&actions, talk->pipe[1], ANSWER);
    for (int i = 0; i < ANSWER && failure == 0; i++) {
        failure = posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
    }
    if (failure == 0) {
        failure = posix_spawn(&talk->process, talk->program, &actions, NULL, (char *const *)(uintptr_t)words,
                              (char *const *)(uintptr_t)variables);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* Return whether the answer is complete: an empty directory after the last. */
static bool is_whole(const conversation *talk) {
    const char *stop = talk->answer + talk->length;
    return talk->length > 0 && stop[-1] == '\0' && (talk->length == 1 || stop[-2] == '\0');
}

/* End the program. A program that answers ends soon; a program that does not is killed. */
static void end(conversation *talk) {
    const struct timespec pause = {.tv_nsec = MILLION};
    if (talk->process == 0) {
        return;
    }
    while (waitpid(talk->process, NULL, WNOHANG) == 0) {
        if (milliseconds_left(talk) == 0) {
            (void)kill(talk->process, SIGKILL);
            while (waitpid(talk->process, NULL, 0) < 0 && errno == EINTR) {
            }
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
}

static void close_end(conversation *talk, int index) {
    if (talk->pipe[index] >= 0) {
        (void)close(talk->pipe[index]);
        talk->pipe[index] = -1;
    }
}

static rsdk_status converse(conversation *talk, const char *const *environment, rsdk_error *error) {
    talk->answer = rsdk_arena_alloc_room(talk->arena, LIMIT);
    RSDK_NEED(talk->answer, error);
    int failure = pipe2(talk->pipe, O_CLOEXEC) == 0 ? start(talk, environment) : errno;
    if (failure != 0) {
        return fail(error, RSDK_IO_ERROR, talk->program, "cannot run: ", strerror(failure));
    }
    close_end(talk, 1);
    /* Read until the answer is complete, or nobody has the descriptor: a child that the program leaves behind may keep
     * it. */
    while (!is_whole(talk)) {
        struct pollfd event = {.fd = talk->pipe[0], .events = POLLIN};
        int ready = poll(&event, 1, milliseconds_left(talk));
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            return fail(error, RSDK_IO_ERROR, talk->program, "does not say where it looks for packages: ",
                        ready == 0 ? "it is still running" : strerror(errno));
        }
        ssize_t count = read(talk->pipe[0], talk->answer + talk->length, LIMIT - talk->length);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0 || talk->length + (size_t)count == LIMIT) {
            return RSDK_OK; /* an answer without an end is none */
        }
        talk->length += (size_t)count;
    }
    return RSDK_OK;
}

static rsdk_status take(const conversation *talk, rsdk_python_path *python, rsdk_error *error) {
    const char *at = talk->answer, *stop = at + talk->length;
    if (!is_whole(talk)) {
        return fail(error, RSDK_IO_ERROR, talk->program,
                    "does not say where it looks for packages: ", "it is no Python, or fails");
    }
    for (; at < stop; at += strlen(at) + 1) {
        if (*at == '/') {
            RSDK_APPEND(&python->arena, &python->directories, at, error);
        }
    }
    return RSDK_OK;
}

static rsdk_status ask(rsdk_python_path *python, const char *name, const char *const *environment, int milliseconds,
                       rsdk_error *error) {
    conversation talk = {.pipe = {-1, -1}, .arena = &python->arena};
    RSDK_TRY(find(name, environment, &python->arena, &talk.program, error));
    talk.end = rsdk_clock_now() + (uint64_t)milliseconds * MILLION;
    rsdk_status status = converse(&talk, environment, error);
    close_end(&talk, 0);
    close_end(&talk, 1);
    end(&talk);
    return status == RSDK_OK ? take(&talk, python, error) : status;
}

rsdk_status rsdk_python_path_ask_within(const char *program, const char *const *environment, int milliseconds,
                                        rsdk_python_path **python, rsdk_error *error) {
    rsdk_python_path *made = calloc(1, sizeof *made);
    RSDK_NEED(made, error);
    rsdk_status status = ask(made, program != NULL ? program : "python3", environment, milliseconds, error);
    if (status != RSDK_OK) {
        rsdk_python_path_free(made);
        made = NULL;
    }
    *python = made;
    return status;
}

rsdk_status rsdk_python_path_ask(const char *program, const char *const *environment, rsdk_python_path **python,
                                 rsdk_error *error) {
    return rsdk_python_path_ask_within(program, environment, WAIT, python, error);
}

size_t rsdk_python_path_count(const rsdk_python_path *python) {
    return python->directories.count;
}

const char *const *rsdk_python_path_directories(const rsdk_python_path *python) {
    return python->directories.items;
}

void rsdk_python_path_free(rsdk_python_path *python) {
    if (python != NULL) {
        rsdk_arena_clear(&python->arena);
        free(python);
    }
}
