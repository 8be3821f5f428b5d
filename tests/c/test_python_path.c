/* Where a Python looks for packages: real interpreters, and programs that are none. */
#include "sdk/python_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_sdk.h"
#include "suite.h"

enum { SOON = 500, LATER = 30000 };

/* A program in the site, for a shell. */
static const char *script(const sample_fixture *f, const char *name, const char *text) {
    sample_file(&f->site, name, text);
    const char *path = sample_path(&f->site, name);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static const char *variable(const sample_fixture *f, const char *name, const char *value) {
    char *text = rsdk_arena_format(f->site.texts, "%s=%s", name, value);
    assert_non_null(text);
    return text;
}

static bool has(const rsdk_python_path *python, const char *directory) {
    for (size_t i = 0; i < rsdk_python_path_count(python); i++) {
        if (strcmp(rsdk_python_path_directories(python)[i], directory) == 0) {
            return true;
        }
    }
    return false;
}

/* No answer, for a reason that the message has. */
static void assert_refused(const char *program, const char *const *environment, int milliseconds, rsdk_status status,
                           const char *reason) {
    rsdk_python_path *python = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    assert_int_equal(rsdk_python_path_ask_within(program, environment, milliseconds, &python, &error), status);
    assert_null(python);
    assert_non_null(strstr(rsdk_error_message(&error), reason));
    assert_non_null(strstr(rsdk_error_message(&error), "or name its interpreter"));
    rsdk_error_clear(&error);
}

static void the_python_of_path_answers(void **state) {
    sample_fixture *f = *state;
    sample_directory(&f->site, "packages");
    const char *packages = sample_path(&f->site, "packages"), *absent = sample_path(&f->site, "absent");
    const char *both = rsdk_arena_format(f->site.texts, "relative:%s:%s", absent, packages);
    assert_non_null(both);
    const char *environment[] = {variable(f, "PYTHONPATH", both), "PATH=relative::/nonexistent:/usr/bin:/bin", NULL};
    rsdk_python_path *python = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    assert_int_equal(rsdk_python_path_ask(NULL, environment, &python, &error), RSDK_OK);
    assert_true(has(python, packages));
    assert_false(has(python, absent));
    for (size_t i = 0; i < rsdk_python_path_count(python); i++) {
        assert_int_equal(rsdk_python_path_directories(python)[i][0], '/');
    }
    rsdk_python_path_free(python);
}

/* Nothing that the user of a program with more rights has set decides. */
static void without_an_environment_the_system_answers(void **state) {
    rsdk_python_path *python = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    assert_int_equal(rsdk_python_path_ask(NULL, NULL, &python, &error), RSDK_OK);
    assert_true(rsdk_python_path_count(python) > 0);
    rsdk_python_path_free(python);
    rsdk_python_path_free(NULL);
}

/* What it prints is no answer, and descriptors that the host has closed are not taken. */
static void an_answer_has_a_descriptor_of_its_own(void **state) {
    sample_fixture *f = *state;
    const char *program = script(f, "chatty", "#!/bin/sh\necho /printed\nprintf '/a\\0relative\\0/b\\0\\0' >&3\n");
    int input = dup(0), output = dup(1);
    (void)close(0);
    (void)close(1);
    rsdk_python_path *python = NULL;
    rsdk_status status = rsdk_python_path_ask(program, NULL, &python, NULL);
    (void)dup2(input, 0);
    (void)dup2(output, 1);
    (void)close(input);
    (void)close(output);
    assert_int_equal(status, RSDK_OK);
    assert_int_equal(rsdk_python_path_count(python), 2);
    assert_true(has(python, "/a") && has(python, "/b"));
    rsdk_python_path_free(python);
}

static void what_is_no_python_is_refused(void **state) {
    sample_fixture *f = *state;
    const char *nowhere[] = {"PATH=/nonexistent:", NULL};
    assert_refused(NULL, nowhere, LATER, RSDK_BAD_ARGUMENT, "python3 is not in PATH");
    assert_refused("/nonexistent/python", NULL, LATER, RSDK_BAD_ARGUMENT, "is no program: No such file");
    sample_file(&f->site, "text", "text");
    assert_refused(sample_path(&f->site, "text"), NULL, LATER, RSDK_BAD_ARGUMENT, "is no program: Permission denied");
    assert_refused(script(f, "words", "words"), NULL, LATER, RSDK_IO_ERROR, "cannot run: Exec format error");
    assert_refused("/bin/true", NULL, LATER, RSDK_IO_ERROR, "it is no Python, or fails");
    assert_refused(script(f, "half", "#!/bin/sh\nprintf '/a\\0/b' >&3\n"), NULL, LATER, RSDK_IO_ERROR,
                   "it is no Python, or fails");
    assert_refused(script(f, "endless", "#!/bin/sh\nexec yes /a >&3\n"), NULL, LATER, RSDK_IO_ERROR,
                   "it is no Python, or fails");
}

/* It is killed: no process is left to wait for. */
static void what_does_not_end_is_killed(void **state) {
    sample_fixture *f = *state;
    assert_refused(script(f, "silent", "#!/bin/sh\nexec sleep 600\n"), NULL, SOON, RSDK_IO_ERROR, "is still running");
    rsdk_python_path *python = NULL;
    const char *stays = script(f, "stays", "#!/bin/sh\nprintf '/a\\0\\0' >&3\nexec sleep 600 3>&-\n");
    assert_int_equal(rsdk_python_path_ask_within(stays, NULL, SOON, &python, NULL), RSDK_OK);
    assert_true(has(python, "/a"));
    rsdk_python_path_free(python);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* A sitecustomize may start a service that has all descriptors of its Python. */
static void a_child_that_keeps_the_descriptor_is_not_waited_for(void **state) {
    sample_fixture *f = *state;
    const char *service = script(f, "service", "#!/bin/sh\nsleep 20 &\nprintf '/a\\0\\0' >&3\n");
    rsdk_python_path *python = NULL;
    assert_int_equal(rsdk_python_path_ask_within(service, NULL, 10000, &python, NULL), RSDK_OK);
    assert_true(has(python, "/a"));
    rsdk_python_path_free(python);
}

#define PYTHON_TEST(name) cmocka_unit_test_setup_teardown(name, sample_fixture_make_bare, sample_fixture_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(the_python_of_path_answers),
        cmocka_unit_test(without_an_environment_the_system_answers),
        PYTHON_TEST(an_answer_has_a_descriptor_of_its_own),
        PYTHON_TEST(what_is_no_python_is_refused),
        PYTHON_TEST(what_does_not_end_is_killed),
        PYTHON_TEST(a_child_that_keeps_the_descriptor_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
