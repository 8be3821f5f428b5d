/* Children of tests. Under LeakSanitizer a child that comes to its end is checked for leaks like any program. */
#include "child_process.h"

#include <grp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "suite.h"

enum { SKIPPED = 77, NOBODY = 65534, LIMIT_SECONDS = 60 };

#if UNDER_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

static bool has_leaks(void) {
#if UNDER_ADDRESS_SANITIZER
    return __lsan_do_recoverable_leak_check() != 0;
#else
    return false;
#endif
}

void run_in_child(void (*body)(void *context), void *context) {
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(LIMIT_SECONDS);
        body(context);
        _exit(has_leaks() ? 2 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        skip();
    }
    assert_int_equal(status, 0);
}

void skip_child(const char *reason) {
    (void)fprintf(stderr, "skipped: %s\n", reason);
    _exit(SKIPPED);
}

void require_contains(const char *file, int line, const char *text, const char *part) {
    if (text == NULL || strstr(text, part) == NULL) {
        (void)fprintf(stderr, "%s:%d: no \"%s\" in \"%s\"\n", file, line, part, text != NULL ? text : "(none)");
        _exit(1);
    }
}

void skip_under_thread_sanitizer(const char *reason) {
    if (UNDER_SANITIZER && !UNDER_ADDRESS_SANITIZER) {
        (void)fprintf(stderr, "skipped: ThreadSanitizer: %s\n", reason);
        skip();
    }
}

void need_root(void) {
    if (geteuid() != 0) {
        (void)fprintf(stderr, "skipped: only root can become another user\n");
        skip();
    }
}

void become_nobody(void) {
    if (geteuid() != 0) {
        skip_child("only root can become another user");
    }
    REQUIRE(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
}
