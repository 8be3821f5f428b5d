/* The texts that are made of the table of problems: the fix that fits, and words of commands that a shell takes as they
 * are meant. */
#include "rocm_sdk/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diagnosis/tables.h"
#include "suite.h"

enum { TEXT_SIZE = 1024, NAME_SIZE = 64 };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- problems ---- */

/* Texts of the last problem that was made. */
static char title[TEXT_SIZE], cause[TEXT_SIZE], fix[TEXT_SIZE];
static bool is_command; /* of the fix */

static void keep(rsdk_problem *problem) {
    assert_non_null(problem);
    (void)snprintf(title, sizeof title, "%s", problem->title);
    (void)snprintf(cause, sizeof cause, "%s", problem->cause);
    (void)snprintf(fix, sizeof fix, "%s", problem->fix);
    is_command = problem->is_command;
    rsdk_problem_free(problem);
}

static void make_with(rsdk_code code, const char *path, const rsdk_fact *facts, size_t count,
                      const rsdk_installation *installation) {
    rsdk_problem *problem = NULL;
    assert_int_equal(rsdk_problem_make(code, path, facts, count, installation, &problem), RSDK_OK);
    keep(problem);
}

#define FACTS(...) ((const rsdk_fact[]){__VA_ARGS__}), COUNT_OF(((const rsdk_fact[]){__VA_ARGS__}))

#define OF_7  "https://repo.amd.com/rocm/whl-multi-arch/"
#define OF_10 "https://stable.repo.amd.com/rocm/whl-next/"

static void the_first_fix_counts_whose_facts_are_known(void **state) {
    make_with(RSDK_W_GPU_017, "/dev/kfd", FACTS({"group", "render"}, {"gid", "109"}), NULL);
    assert_string_equal(fix, "sudo usermod -aG render \"$USER\"  # then log in again; in a container: --group-add 109");
    make_with(RSDK_W_GPU_017, "/dev/kfd", FACTS({"gid", "109"}), NULL);
    assert_string_equal(fix, "Start the container with --group-add 109  # Kubernetes: supplementalGroups: [109]");
    make_with(RSDK_W_GPU_017, "/dev/kfd", FACTS({"reason", "no such device"}), NULL);
    assert_string_equal(fix, "Look into the kernel's log: dmesg | grep -e amdgpu -e kfd  # no such device");
    make_with(RSDK_W_GPU_017, "/dev/kfd", NULL, 0, NULL);
    assert_string_equal(fix, "Start the container with --device=/dev/kfd --device=/dev/dri");
}

/* The title and the cause have words for what is not known; a command with words in it would not run. */
static void a_fix_that_cannot_be_filled_in_is_not_printed(void **state) {
    static const char *const placeholders[] = {"DISTRIBUTION", "=VERSION", "PACKAGE", "APPLICATION", "INDEX", "PID"};
    make_with(RSDK_E_FILE_001, NULL, NULL, 0, NULL);
    assert_string_equal(title, "a file of a package is missing");
    assert_string_equal(fix, "rocm-sdk explain E-FILE-001");
    make_with(RSDK_E_FILE_001, "/a b", NULL, 0, NULL);
    assert_string_equal(fix, "Get '/a b' again from where it came");
    make_with(RSDK_E_FILE_001, "/a", FACTS({"prefix", "/opt/rocm"}), NULL);
    assert_string_equal(fix, "Install the ROCm in /opt/rocm again the way it was installed");
    make_with(RSDK_E_FILE_001, "/usr/lib/a", FACTS({"prefix", "/usr"}, {"system_prefix", "/usr"}), NULL);
    assert_non_null(strstr(fix, "  # the ROCm in /usr belongs to the system"));
    make_with(RSDK_E_PKG_014, NULL, FACTS({"requirement", "rocm"}), NULL); /* a placeholder would do */
    assert_string_equal(fix, "Install rocm from where the SDK came: its index is not known");
    make_with(RSDK_E_PKG_014, NULL, FACTS({"requirement", "rocm==7.10.0"}), NULL);
    assert_string_equal(fix, "pip install --index-url " OF_7 " rocm==7.10.0");
    make_with(RSDK_E_PKG_014, NULL, FACTS({"requirement", "rocm==7.10.0"}, {"variable", "V"}), NULL);
    assert_string_equal(fix, "pip install --index-url " OF_7 " rocm==7.10.0  # or unset V");
    for (unsigned code = RSDK_NO_CODE + 1; code < RSDK_CODE_COUNT; code++) {
        make_with((rsdk_code)code, NULL, NULL, 0, NULL);
        for (size_t i = 0; i < COUNT_OF(placeholders); i++) {
            const char *found = strstr(fix, placeholders[i]);
            if (found != NULL && found[strlen(placeholders[i])] != '-') { /* "INDEX-", of a code, is none */
                fail_msg("%s has '%s' in its fix: %s", rsdk_code_name((rsdk_code)code), placeholders[i], fix);
            }
        }
    }
}

static void a_fix_of_which_a_part_is_words_is_a_sentence(void **state) {
    const rsdk_installation other = {.installer = "other", .site = "/s"};
    make_with(RSDK_E_PKG_025, "/s/~a", FACTS({"removal", "rm -r /s/~a"}, {"requirement", "a==1"}), &other);
    assert_string_equal(
        fix, "Put a==1 into /s again, as that directory was filled (by Nix, Spack or a copy) && rm -r /s/~a");
    assert_false(is_command);
    make_with(RSDK_E_FILE_009, "/s/a", FACTS({"untried", "it is not known"}, {"requirement", "a==1"}), &other);
    assert_string_equal(fix,
                        "Remove /s/a if nobody needs it, then put a==1 into /s again, as that directory was filled "
                        "(by Nix, Spack or a copy); it is not known");
    make_with(RSDK_E_FILE_009, "/s/a",
              FACTS({"aside", "mv /s/a /s/b"}, {"removal", "rm /s/b"}, {"requirement", "a==1"}), &other);
    assert_string_equal(fix, "Do in turn: mv /s/a /s/b && put a==1 into /s again, as that directory was filled "
                             "(by Nix, Spack or a copy) && rm /s/b");
    assert_false(is_command);
    make_with(RSDK_E_FILE_004, "/a", FACTS({"mode", "0000"}), NULL);
    assert_true(is_command);
    make_with(RSDK_E_FILE_001, NULL, NULL, 0, NULL); /* the page of the code */
    assert_true(is_command);
}

/* What brought the package, where the installer does not take its requirement. */
static void a_package_comes_from_where_it_came(void **state) {
    static const rsdk_fact a[] = {{"distribution", "a"}, {"version", "1"}, {"requirement", "a==1"}};
    const rsdk_installation pip = {.installer = "pip", .python = "/p", .source = ""};
    const rsdk_installation wheels = {.installer = "pip", .python = "/p", .source = "--find-links /w"};
    const rsdk_installation conda = {.installer = "conda", .environment = "/e", .source = "--find-links /w"};
    make_with(RSDK_E_FILE_001, NULL, FACTS(a[0], a[1], a[2], {"source_tree", "'/my tree'"}), &pip);
    assert_string_equal(fix, "/p -m pip install --force-reinstall --no-deps '/my tree'");
    make_with(RSDK_E_FILE_001, NULL, FACTS(a[0], a[1], a[2], {"source_address", "https://host/a.whl#x"}), &pip);
    assert_string_equal(fix, "/p -m pip install --force-reinstall --no-deps 'a @ https://host/a.whl#x'");
    make_with(RSDK_E_PKG_002, NULL, FACTS(a[0], a[1], a[2], {"source_packages", "a==1 b==1"}), &wheels);
    assert_string_equal(fix, "/p -m pip install --no-deps --find-links /w a==1 b==1");
    make_with(RSDK_E_PKG_002, NULL, FACTS(a[0], a[1], a[2], {"source_packages", ""}), &wheels);
    assert_string_equal(fix, "/p -m pip install --find-links /w a==1");
    /* to build the selector takes more than the directory has */
    make_with(RSDK_E_PKG_013, NULL, FACTS(a[0], a[1], a[2], {"selector", "rocm==1"}), &wheels);
    assert_non_null(strstr(fix, "--no-deps --find-links /w a==1"));
    assert_null(strstr(fix, "rocm==1"));
    /* a sentence names what is wanted */
    make_with(RSDK_W_PKG_010, NULL, FACTS({"requirement", "a==1"}, {"selector", "rocm==1"}), &conda);
    assert_non_null(strstr(fix, "rocm==1"));
}

static void make_with_closure(const char *closure, const rsdk_installation *installation) {
    make_with(RSDK_E_FILE_001, NULL,
              FACTS({"distribution", "a"}, {"version", "1"}, {"requirement", "a==1"}, {"source_closure", closure}),
              installation);
}

static void a_closure_is_made_again(void **state) {
    static const char image[] = "rocm-sdk-build closure --for x --form squashfs --output closure";
    const rsdk_installation noted = {.installer = "pip", .python = "/p", .source = "", .note = "it is root's"};
    const rsdk_installation plain = {.installer = "pip", .python = "/p", .source = ""}, other = {.installer = "other"};
    make_with_closure("rocm-sdk-build closure --for x --output closure", &noted);
    assert_string_equal(fix, "/p -m pip install --force-reinstall --no-deps a==1 && rocm-sdk-build closure --for x "
                             "--output closure  # it is root's");
    make_with_closure("rocm-sdk-build closure --for x --form wheels --output closure", &noted);
    assert_string_equal(fix, "/p -m pip install --force-reinstall --no-deps a==1 && rocm-sdk-build closure --for x "
                             "--form wheels --output closure && /p -m pip install --force-reinstall --no-deps "
                             "--no-index --find-links closure a==1  # it is root's");
    make_with_closure(image, &noted); /* which no installer touches */
    assert_string_equal(fix, image);
    make_with_closure(image, &other);
    assert_string_equal(fix, image);
    assert_true(is_command);
    make_with_closure("rocm-sdk-build closure --trace --output closure -- x --form wheels --output closure", &plain);
    assert_string_equal(fix, "/p -m pip install --force-reinstall --no-deps a==1 && rocm-sdk-build closure --trace "
                             "--output closure -- x --form wheels --output closure");
}

/* Also in a sentence, whether that has an installer's command or words in its place. */
static void a_sentence_names_the_closure_too(void **state) {
    static const char wheels[] = "rocm-sdk-build closure --for x --form wheels --output closure";
    const rsdk_installation pip = {.installer = "pip", .python = "/p", .source = ""};
    const rsdk_installation other = {.installer = "other", .site = "/s"};
    make_with(RSDK_E_FILE_007, "/s/a",
              FACTS({"requirement", "a==1"}, {"source_closure", "rocm-sdk-build closure --for x --output closure"}),
              &pip);
    assert_false(is_command);
    assert_non_null(strstr(fix, "; then /p -m pip install --force-reinstall --no-deps a==1 && rocm-sdk-build closure "
                                "--for x --output closure"));
    make_with_closure(wheels, &other);
    assert_string_equal(fix, "Put a==1 into /s again, as that directory was filled (by Nix, Spack or a copy) && "
                             "rocm-sdk-build closure --for x --form wheels --output closure");
}

static void a_problem_outlives_its_facts(void **state) {
    char closure[] = "rocm-sdk-build closure --for x --form squashfs --output closure";
    const rsdk_installation pip = {.installer = "pip", .python = "/p", .source = ""};
    rsdk_problem *problem = NULL;
    assert_int_equal(rsdk_problem_make(RSDK_E_PKG_014, NULL,
                                       FACTS({"requirement", "a==1"}, {"source_closure", closure}), &pip, &problem),
                     RSDK_OK);
    memset(closure, 'x', sizeof closure - 1);
    keep(problem);
    assert_string_equal(fix, "rocm-sdk-build closure --for x --form squashfs --output closure");
}

/* ---- indexes ---- */

static void assert_index(const char *requirement, const char *address) {
    char wanted[TEXT_SIZE];
    make_with(RSDK_E_PKG_014, NULL, FACTS({"requirement", requirement}), NULL);
    if (address != NULL) {
        (void)snprintf(wanted, sizeof wanted, "pip install --index-url %s ", address);
        assert_non_null(strstr(fix, wanted));
    } else {
        assert_null(strstr(fix, "index-url"));
        assert_null(strstr(fix, "pip"));
    }
}

static void the_index_is_the_one_that_has_the_version(void **state) {
    assert_index("rocm==7.9.1", NULL);
    assert_index("rocm==7.10.0", OF_7);
    assert_index("rocm==7.14", OF_7);
    assert_index("rocm==7.15.0", NULL);
    assert_index("rocm==10.0.0", OF_10);
    assert_index("rocm==11.2.0+local.dev1", OF_10);
    assert_index("rocm==7.11.0a20251124", "https://rocm.nightlies.amd.com/whl-multi-arch/");
    assert_index("rocm==10.1.0a20261101", "https://nightly.repo.amd.com/rocm/whl-next/");
    assert_index("rocm==10.1.0rc2", "https://rc.repo.amd.com/rocm/whl-next/");
    assert_index("rocm==10.1.0.dev0+abcdef", "https://dev.repo.amd.com/rocm/whl-next/");
    assert_index("rocm==10.1.0a20261101+bkc.20261103", "https://bkc.repo.amd.com/rocm/whl-next/");
    assert_index("torch==2.14.0+rocm10.2.0a20261201-bkc.20261203", "https://bkc.repo.amd.com/rocm/whl-next/");
    assert_index("rocm==10.1.0+mybkc.1", OF_10);
    assert_index("rocm==10.0.0rc4", "https://rocm.prereleases.amd.com/whl-multi-arch/");
    assert_index("rocm==7.14.0rc2", "https://rocm.prereleases.amd.com/whl-multi-arch/");
    assert_index("rocm==10.0.1rc1", NULL);
    assert_index("rocm==10.0.0a20260801", NULL);
    assert_index("torch==2.13.0+rocm10.0.0.dev0", NULL);
    assert_index("rocm==10.0.0.post1", OF_10);
    assert_index("rocm==7.*", OF_7);
    assert_index("rocm==10.*", OF_10);
    assert_index("rocm==5.*", NULL);
    assert_index("rocm==*", NULL);
    assert_index("rocm==99999999999999999999.99999999999999999999", OF_10);
    make_with(RSDK_E_PKG_001, "/site", NULL, 0, NULL);
    assert_string_equal(fix, "pip install --upgrade --index-url " OF_10 " \"rocm[libraries]\"");
}

static void the_index_of_the_site_replaces_all(void **state) {
    const rsdk_installation configured = {.source = ""}, wheels = {.source = "--find-links /wheels"};
    const rsdk_fact facts[] = {{"requirement", "rocm==5.2.3"}};
    assert_int_equal(setenv("ROCM_SDK_INDEX", "https://mirror/rocm one/", 1), 0);
    make_with(RSDK_E_PKG_001, "/site", NULL, 0, NULL);
    assert_string_equal(fix, "pip install --upgrade --index-url 'https://mirror/rocm one/' \"rocm[libraries]\"");
    make_with(RSDK_E_PKG_014, NULL, facts, 1, &configured);
    assert_string_equal(fix, "pip install --index-url 'https://mirror/rocm one/' rocm==5.2.3");
    make_with(RSDK_E_PKG_014, NULL, facts, 1, &wheels); /* where it did come from */
    assert_string_equal(fix, "pip install --find-links /wheels rocm==5.2.3");
    assert_int_equal(setenv("ROCM_SDK_INDEX", "https://user:secret@mirror/", 1), 0);
    make_with(RSDK_E_PKG_014, NULL, facts, 1, NULL);
    assert_string_equal(fix, "pip install --index-url \"$ROCM_SDK_INDEX\" rocm==5.2.3");
    assert_int_equal(setenv("ROCM_SDK_INDEX", "", 1), 0);
    make_with(RSDK_E_PKG_014, NULL, facts, 1, &configured);
    assert_string_equal(fix, "pip install rocm==5.2.3");
    assert_int_equal(unsetenv("ROCM_SDK_INDEX"), 0);
}

static void the_fix_of_this_system_comes_before_that_of_any(void **state) {
    static const char *const wanted[] = {
        [RSDK_SYSTEM_ANY] = "Install the package that holds libnuma.so.1: deb on Debian, fed on Fedora",
        [RSDK_SYSTEM_DEBIAN] = "apt-get install deb",
        [RSDK_SYSTEM_FEDORA] = "dnf install fed",
        [RSDK_SYSTEM_SUSE] = "zypper install sus",
        [RSDK_SYSTEM_ARCH] = "pacman -S arc",
        [RSDK_SYSTEM_GENTOO] = "emerge gen",
        [RSDK_SYSTEM_NIXOS] = ("Add the package that holds libnuma.so.1 to programs.nix-ld.libraries, "
                               "or start in an FHS environment"),
    };
    make_with(RSDK_E_LIB_002, "/a/libb.so",
              FACTS({"name", "libnuma.so.1"}, {"debian", "deb"}, {"fedora", "fed"}, {"suse", "sus"}, {"arch", "arc"},
                    {"gentoo", "gen"}),
              NULL);
    assert_string_equal(fix, wanted[rsdk_system_current()]);
    make_with(RSDK_E_LIB_002, "/a/libb.so", NULL, 0, NULL);
    assert_string_equal(fix, "rocm-sdk explain E-LIB-002");
    make_with(RSDK_E_LIB_005, "/a/libb.so", FACTS({"present", "2.28"}), NULL);
    assert_int_equal(strstr(fix, "newer base image") != NULL, rsdk_system_is_container());
}

/* ---- what a shell makes of it ---- */

/* What `sh` takes a word of a command for. */
static void assert_shell_takes(const char *word, const char *value) {
    char command[TEXT_SIZE + NAME_SIZE], output[TEXT_SIZE] = "";
    (void)snprintf(command, sizeof command, "set -- %s; printf '%%s:%%s,' $# \"$1\"", word);
    FILE *shell = popen(command, "r");
    assert_non_null(shell);
    size_t length = fread(output, 1, sizeof output - 1, shell);
    assert_int_equal(pclose(shell), 0);
    output[length - (length > 0)] = '\0'; /* the comma, which shows a line break at the end */
    if (strncmp(output, "1:", 2) != 0 || strcmp(output + 2, value) != 0) {
        fail_msg("the shell takes %s for \"%s\"", word, output);
    }
}

static void assert_one_line(const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        assert_true((unsigned char)*c >= ' ' && *c != '\x7f');
    }
}

static const char *const values[] = {
    "",
    "/plain/path-1.0+x@y%z=,:",
    "/with blank",
    "/o'clock",
    "'",
    "''a'b'",
    "/a\"b\"",
    "/$HOME/`id`/$(id)/${x}",
    "/a;b|c&d>e<f(g)h*i?j[k]l#m~n!o\\p",
    "-n",
    "--",
    "%s%d%%",
    "/caf\xc3\xa9",
    "/not \xff\xfe utf-8",
    "/two\nlines",
    "/a\nb'c\\n%s\"$HOME",
    "-a\n-b",
    "/tab\there",
    "/\x1b[31mred",
    "/bell\x07/delete\x7f/\r",
    "/{path}{$path}",
};

static void a_word_of_a_command_is_what_was_found(void **state) {
    static const char command[] = "chmod u+r ";
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        make_with(RSDK_E_FILE_004, values[i], FACTS({"mode", "0000"}), NULL);
        assert_memory_equal(fix, command, sizeof command - 1);
        assert_one_line(fix);
        assert_one_line(title);
        assert_shell_takes(fix + sizeof command - 1, values[i]);
    }
}

/* A shell removes line breaks from the end of what a command prints, so nothing on one line names such a file. Another
 * file of the same name without them must not be named. */
static void a_name_that_ends_with_a_line_break_is_no_other_name(void **state) {
    static const char command[] = "rm -r ";
    make_with(RSDK_W_PKG_007, "/site/a\n\n", NULL, 0, NULL);
    assert_one_line(fix);
    assert_shell_takes(fix + sizeof command - 1, "/site/a\\x0a\\x0a");
    make_with(RSDK_W_PKG_007, "\n", NULL, 0, NULL);
    assert_shell_takes(fix + sizeof command - 1, "\\x0a");
}

/* Names of distributions come from the names of directories. The shell would kill itself. */
static void assert_shell_obeys_nothing(const char *command) {
    char line[TEXT_SIZE + NAME_SIZE];
    (void)snprintf(line, sizeof line, "set -f; : %s", command);
    FILE *shell = popen(line, "r");
    assert_non_null(shell);
    int status = pclose(shell);
    if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 127)) { /* 127: there is no such interpreter */
        fail_msg("a shell obeys: %s", command);
    }
}

static void no_fact_in_a_command_of_an_installer_is_obeyed(void **state) {
    static const char hostile[] = "rocm$(kill -9 $$)'\n;kill -9 $$;";
    static const rsdk_fact facts[] = {
        {"distribution", hostile}, {"version", hostile}, {"requirement", hostile}, {"selector", hostile}};
    static const rsdk_code codes[] = {RSDK_E_PKG_002, RSDK_E_FILE_001, RSDK_W_PKG_010, RSDK_E_PKG_013};
    for (size_t i = 0; i < rsdk_installer_count * COUNT_OF(codes); i++) {
        const rsdk_installation installation = {.installer = rsdk_installers[i / COUNT_OF(codes)].name,
                                                .python = "/python",
                                                .environment = hostile,
                                                .site = hostile};
        bool is_for_people = installation.installer != NULL && strcmp(installation.installer, "system") == 0;
        make_with(codes[i % COUNT_OF(codes)], hostile, facts, COUNT_OF(facts), &installation);
        assert_one_line(fix);
        assert_null(strstr(fix, "(null)"));
        if (!is_for_people) {
            assert_shell_obeys_nothing(fix);
        }
    }
}

static void a_note_is_a_comment_behind_a_command(void **state) {
    const rsdk_installation known = {.installer = "pip", .python = "/v/bin/python", .note = "/usr belongs\nto root"};
    make_with(RSDK_E_FILE_001, NULL, FACTS({"requirement", "rocm-sdk-core==7.10.0"}), &known);
    assert_string_equal(fix, "/v/bin/python -m pip install --force-reinstall --no-deps --index-url " OF_7
                             " rocm-sdk-core==7.10.0"
                             "  # /usr belongs to root");
    make_with(RSDK_E_FILE_004, "/a", FACTS({"mode", "0000"}), &known);
    assert_string_equal(fix, "chmod u+r /a"); /* no command of the installer */
}

static void what_is_known_of_the_installation_is_used(void **state) {
    const rsdk_installation conda = {.installer = "conda", .environment = "/opt/my env"};
    const rsdk_installation target = {.installer = "target", .python = "/p", .site = "/s", .source = "--find-links /w"};
    const rsdk_fact facts[] = {
        {"distribution", "rocm-sdk-core"}, {"version", "1"}, {"requirement", "rocm-sdk-core==1"}};
    make_with(RSDK_E_FILE_001, NULL, facts, 3, &conda);
    assert_string_equal(fix, "conda install --prefix '/opt/my env' --force-reinstall rocm-sdk-core=1");
    make_with(RSDK_E_FILE_001, NULL, facts + 1, 1, &conda); /* a version without the name of what has it */
    assert_string_equal(fix, "rocm-sdk explain E-FILE-001");
    make_with(RSDK_E_FILE_001, NULL, facts, 3, &target);
    assert_string_equal(fix,
                        "d=$(mktemp -d /s/.new.XXXXXX) && /p -m pip install --target \"$d\" --no-deps --find-links /w "
                        "rocm-sdk-core==1 && (tar -C \"$d\" -cf - . && mv \"$d\" \"$d.read\") | tar -C /s "
                        "--keep-directory-symlink --no-overwrite-dir -xf - && rm -r \"$d.read\"");
    make_with(RSDK_E_FILE_001, NULL, facts, 3,
              &(rsdk_installation){.installer = "target", .python = "/p", .site = "/s"});
    assert_string_equal(fix, "Install rocm-sdk-core==1 again from where it came: its index is not known");
    make_with(RSDK_E_FILE_001, NULL, facts, 3, &(rsdk_installation){.installer = "no such installer"});
    assert_string_equal(fix, "Install rocm-sdk-core==1 again from where it came: its index is not known");
}

/* ---- problems of errors ---- */

static void every_status_has_its_problem_without_an_sdk(void **state) {
    static const struct {
        rsdk_status status;
        const char *code;
    } wanted[] = {
        {RSDK_OK, "E-SDK-001"},
        {RSDK_NO_MEMORY, "E-SDK-001"},
        {RSDK_BAD_ARGUMENT, "E-SDK-001"},
        {RSDK_IO_ERROR, "E-FILE-007"},
        {RSDK_BAD_ELF, "E-LIB-006"},
        {RSDK_BAD_METADATA, "E-PKG-013"},
        {RSDK_UNKNOWN_LIBRARY, "E-API-004"},
        {RSDK_PACKAGE_NOT_INSTALLED, "E-PKG-014"},
        {RSDK_FILE_NOT_FOUND, "E-API-001"},
        {RSDK_LOAD_FAILED, "E-LIB-001"},
    };
    assert_int_equal(COUNT_OF(wanted), RSDK_LOAD_FAILED + 1);
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        static char absent[] = "/nowhere/libx.so";
        char *const paths[] = {NULL, absent};
        for (size_t j = 0; j < COUNT_OF(paths); j++) {
            const rsdk_error error = {.status = wanted[i].status, .path = paths[j]};
            rsdk_problem *problem = NULL;
            assert_int_equal(rsdk_problem_of_error(&error, NULL, NULL, &problem), RSDK_OK);
            assert_string_equal(problem->code, wanted[i].code);
            assert_int_equal(problem->path == NULL, paths[j] == NULL);
            assert_true(problem->title[0] != '\0' && problem->cause[0] != '\0' && problem->fix[0] != '\0');
            assert_null(strstr(problem->title, "(null)"));
            assert_null(strstr(problem->cause, "(null)"));
            assert_null(strstr(problem->fix, "(null)"));
            rsdk_problem_free(problem);
        }
    }
}

static void an_error_without_code_or_path_is_told_by_its_message(void **state) {
    static char message[] = "the disk\nis \x1b[1mfull";
    static rsdk_fact facts[] = {{"dlerror", "libx.so: no reason"}};
    rsdk_problem *problem = NULL;
    const rsdk_error error = {.status = RSDK_IO_ERROR, .message = message};
    assert_int_equal(rsdk_problem_of_error(&error, NULL, NULL, &problem), RSDK_OK);
    keep(problem);
    assert_string_equal(title, "a file cannot be read");
    assert_string_equal(cause, "the disk is \\x1b[1mfull");
    const rsdk_error refused = {.status = RSDK_LOAD_FAILED, .facts = facts, .fact_count = 1};
    assert_int_equal(rsdk_problem_of_error(&refused, NULL, NULL, &problem), RSDK_OK);
    keep(problem);
    assert_string_equal(title, "a library cannot be loaded");
}

/* A load failure that names no library, and an SDK that could be asked about it. */
static void a_load_failure_without_path_is_told_by_its_message(void **state) {
    static char message[] = "it did not load";
    static rsdk_fact facts[] = {{"dlerror", "libx.so: no reason"}};
    rsdk_sdk *sdk = NULL;
    rsdk_problem *problem = NULL;
    const char *search_path[] = {"/nonexistent"};
    assert_int_equal(rsdk_sdk_open(&(rsdk_sdk_options){.search_path = search_path, .search_path_count = 1}, &sdk, NULL),
                     RSDK_OK);
    const rsdk_error error = {.status = RSDK_LOAD_FAILED, .message = message, .facts = facts, .fact_count = 1};
    assert_int_equal(rsdk_problem_of_error(&error, sdk, NULL, &problem), RSDK_OK);
    keep(problem);
    assert_string_equal(cause, "it did not load");
    rsdk_sdk_free(sdk);
}

static void a_code_that_is_none_is_refused(void **state) {
    rsdk_problem *problem = NULL;
    assert_int_equal(rsdk_problem_make(RSDK_NO_CODE, NULL, NULL, 0, NULL, &problem), RSDK_BAD_ARGUMENT);
    assert_null(problem);
    assert_int_equal(rsdk_problem_make(RSDK_CODE_COUNT, NULL, NULL, 0, NULL, &problem), RSDK_BAD_ARGUMENT);
    assert_null(problem);
}

static void a_fact_without_value_is_told_in_words(void **state) {
    make_with(RSDK_E_FILE_001, NULL, FACTS({"name", NULL}, {"distribution", "rocm"}), NULL);
    assert_string_equal(title, "a file of rocm is missing");
}

static void a_note_that_asks_for_nothing_has_no_fix(void **state) {
    rsdk_problem *problem = NULL;
    assert_int_equal(rsdk_problem_make(RSDK_N_GPU_011, NULL, NULL, 0, NULL, &problem), RSDK_OK);
    assert_null(problem->fix);
    assert_non_null(strstr(problem->cause, "libraries load and compilers work without one"));
    rsdk_problem_free(problem);
}

static void a_text_may_have_words_of_its_own_for_a_fact(void **state) {
    make_with(RSDK_E_LIB_005, NULL, FACTS({"name", NULL}), NULL);
    assert_string_equal(title, "a library needs glibc newer than this system has");
    make_with(RSDK_E_LIB_005, "/x/libx.so", FACTS({"wanted", "2.99"}), NULL);
    assert_string_equal(title, "libx.so needs glibc 2.99");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_fix_counts_whose_facts_are_known),
        cmocka_unit_test(a_fix_that_cannot_be_filled_in_is_not_printed),
        cmocka_unit_test(a_fix_of_which_a_part_is_words_is_a_sentence),
        cmocka_unit_test(a_package_comes_from_where_it_came),
        cmocka_unit_test(a_closure_is_made_again),
        cmocka_unit_test(a_sentence_names_the_closure_too),
        cmocka_unit_test(a_problem_outlives_its_facts),
        cmocka_unit_test(the_index_is_the_one_that_has_the_version),
        cmocka_unit_test(the_index_of_the_site_replaces_all),
        cmocka_unit_test(the_fix_of_this_system_comes_before_that_of_any),
        cmocka_unit_test(a_word_of_a_command_is_what_was_found),
        cmocka_unit_test(a_name_that_ends_with_a_line_break_is_no_other_name),
        cmocka_unit_test(no_fact_in_a_command_of_an_installer_is_obeyed),
        cmocka_unit_test(a_note_is_a_comment_behind_a_command),
        cmocka_unit_test(what_is_known_of_the_installation_is_used),
        cmocka_unit_test(every_status_has_its_problem_without_an_sdk),
        cmocka_unit_test(an_error_without_code_or_path_is_told_by_its_message),
        cmocka_unit_test(a_load_failure_without_path_is_told_by_its_message),
        cmocka_unit_test(a_code_that_is_none_is_refused),
        cmocka_unit_test(a_fact_without_value_is_told_in_words),
        cmocka_unit_test(a_note_that_asks_for_nothing_has_no_fix),
        cmocka_unit_test(a_text_may_have_words_of_its_own_for_a_fact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
