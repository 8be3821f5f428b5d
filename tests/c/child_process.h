/* Runs a piece of a test in a forked child: loading a library changes a process for good, and some cases need an
 * unprivileged user or a system call that is refused. cmocka's assertions belong to the parent; in a child, use
 * REQUIRE. */
#ifndef TESTS_CHILD_PROCESS_H
#define TESTS_CHILD_PROCESS_H

#include <stdio.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER 1
#define UNDER_SANITIZER         1
#elif defined(__SANITIZE_THREAD__)
#define UNDER_ADDRESS_SANITIZER 0
#define UNDER_SANITIZER         1
#elif defined(__has_feature)
#define UNDER_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define UNDER_SANITIZER         (UNDER_ADDRESS_SANITIZER || __has_feature(thread_sanitizer))
#else
#define UNDER_ADDRESS_SANITIZER 0
#define UNDER_SANITIZER         0
#endif

/* Forks, runs `body(context)` and fails the calling test unless the child comes to its end within a minute. */
void run_in_child(void (*body)(void *context), void *context);

/* The same where the child may not be possible here: `body` calls skip_child(reason) then, and the test is skipped. */
_Noreturn void skip_child(const char *reason);

/* Ends the child as failed, with the place and what was found there. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                      \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Ends the child as failed, and shows `text` (which may be NULL), unless `part` is in it. */
#define REQUIRE_CONTAINS(text, part) require_contains(__FILE__, __LINE__, text, part)

void require_contains(const char *file, int line, const char *text, const char *part);

/* Skips the test under ThreadSanitizer, for a reason that it has. */
void skip_under_thread_sanitizer(const char *reason);

/* Skips the test of another user than root. */
void need_root(void);

/* Gives up root for good; the test of another user is skipped. */
void become_nobody(void);

#endif
