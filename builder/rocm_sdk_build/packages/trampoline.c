/* A console script of an SDK package as a program: finds the package from its own place, and becomes the program of the
 * same name in it. It has no C library, so that it starts in no time and runs wherever the kernel does.
 *
 * Given by the compiler's command line, all texts:
 *   NAME       the command, for messages
 *   PROGRAM    the program, below the root of the SDK
 *   PLATFORM   the platform directory of the package
 *   DIST_INFO  the dist-info directory of the package: of several installations it names the right one
 *   MODULE     the development package's module, DEVEL its tree; both "" where the command is not in it
 *   EXPANDS    1: the program needs the development tree, which is extracted first; 0
 *   CORE       for profilers, core's platform directory; "" for others */
#include "freestanding.h"

enum { LIST_SIZE = 1 << 18, ENTRY_BUFFER = 4096, LINK_LIMIT = 40, SIGNAL_OF_CHILD = 17, TO_RUN = 1 };

/* ---- the site-packages directory ---- */

typedef struct search {
    path bin;  /* the directory of the command */
    path site; /* the directory that was found */
    int count; /* directories with the platform directory, none of them with the right dist-info */
    bool is_sure;
    bool is_shown; /* each directory that is looked at is written to standard error */
} search;

static void consider(search *s, const char *directory) {
    if (s->is_shown) {
        say("  ");
        say(directory);
        say(has(directory, PLATFORM) ? "  (another version)\n" : "\n");
    }
    bool is_known = s->count > 0 && is_same(directory, s->site.text);
    if (s->is_sure || is_known || !has(directory, PLATFORM)) {
        return;
    }
    s->is_sure = has(directory, DIST_INFO);
    s->count++;
    if (s->is_sure || s->count == 1) {
        set(&s->site, directory, "");
    }
}

typedef struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
} directory_entry;

enum { TYPE_LINK = 10 };

/* Goes through the names in a directory that begin with `start`, but for lib64 where that is a link, as in virtual
 * environments. */
static void for_each(search *s, const char *directory, const char *start, void (*visit)(search *, const char *)) {
    _Alignas(directory_entry) char buffer[ENTRY_BUFFER];
    long descriptor = call(__NR_openat, AT_FDCWD, (long)directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long size;
    while (descriptor >= 0 && (size = call(__NR_getdents64, descriptor, (long)buffer, sizeof buffer, 0)) > 0) {
        for (long at = 0; at < size;) {
            const directory_entry *entry = (const directory_entry *)(const void *)(buffer + at);
            bool is_other_name = entry->type == TYPE_LINK && is_same(entry->name, "lib64");
            if (starts_with(entry->name, start) && !is_other_name) {
                path p;
                set(&p, directory, entry->name);
                visit(s, p.text);
            }
            at += entry->size;
        }
    }
    if (descriptor >= 0) {
        (void)call(__NR_close, descriptor, 0, 0, 0);
    }
}

static void look_in_python(search *s, const char *directory) {
    path p;
    set(&p, directory, "site-packages");
    if (exists(p.text, 0)) {
        consider(s, p.text);
    }
    set(&p, directory, "dist-packages");
    if (exists(p.text, 0)) {
        consider(s, p.text);
    }
}

static void look_in_lib(search *s, const char *directory) {
    for_each(s, directory, "python3", look_in_python);
}

/* Looks around the directory of `command`: where installers put packages of the prefix, then where `--target` does. */
static bool look_around(search *s, const char *command) {
    path prefix;
    set(&s->bin, command, "");
    to_directory(&s->bin);
    set(&prefix, s->bin.text, "..");
    if (s->bin.text[0] == '/') { /* messages are easier to read without ".." */
        set(&prefix, s->bin.text, "");
        to_directory(&prefix);
    }
    for_each(s, prefix.text, "lib", look_in_lib);
    consider(s, prefix.text);
    return s->is_sure;
}

/* From the file that runs; then from each name that led to it, because uv can make commands links into its cache. */
static bool look_everywhere(search *s, const char *invoked) {
    path command, link;
    if (read_link("/proc/self/exe", &command) && look_around(s, command.text)) {
        return true;
    }
    set(&command, invoked, "");
    for (int i = 0; i < LINK_LIMIT && read_link(command.text, &link); i++) {
        if (look_around(s, command.text)) {
            return true;
        }
        if (link.text[0] != '/') {
            to_directory(&command);
            append(&command, "/");
            append(&command, link.text);
        } else {
            set(&command, link.text, "");
        }
    }
    return s->count == 1;
}

static void find_site(search *s, const char *invoked) {
    if (look_everywhere(s, invoked)) {
        return;
    }
    say(NAME ": no directory around it has " PLATFORM " and " DIST_INFO "; looked at:\n");
    s->is_shown = true;
    (void)look_everywhere(s, invoked);
    say("fix: install the package of this command again\n");
    end(1);
}

/* ---- the environment ---- */

static const char *variable(char **environment, const char *name) {
    size_t length = length_of(name);
    for (char **each = environment; *each != NULL; each++) {
        if (starts_with(*each, name) && (*each)[length] == '=') {
            return *each + length + 1;
        }
    }
    return "";
}

/* The place of a variable; the end of the list where it is not set. */
static char **place_of(char **environment, const char *name) {
    size_t length = length_of(name);
    while (*environment != NULL && !(starts_with(*environment, name) && (*environment)[length] == '=')) {
        environment++;
    }
    return environment;
}

static bool lists(const char *list, const char *entry) {
    size_t length = length_of(entry);
    for (const char *at = list; *at != '\0';) {
        if (starts_with(at, entry) && (at[length] == ':' || at[length] == '\0')) {
            return true;
        }
        while (*at != '\0' && *at++ != ':') {
        }
    }
    return false;
}

/* "NAME=entry:..." */
typedef struct setting {
    char text[LIST_SIZE];
    size_t length;
} setting;

static void extend(setting *s, const char *text) {
    for (; *text != '\0' && s->length < LIST_SIZE - 1; text++) {
        s->text[s->length++] = *text;
    }
    s->text[s->length] = '\0';
}

static void add_directory(setting *s, const char *name, const char *old, const char *directory) {
    if (exists(directory, 0) && !lists(old, directory)) {
        extend(s, s->length == 0 ? name : ":");
        extend(s, s->length == length_of(name) ? "=" : "");
        extend(s, directory);
    }
}

/* Sets the variable to the new directories and the entries that it has; leaves it alone where nothing is new. */
static void put(setting *s, char **environment, const char *name, const char *old) {
    if (s->length == 0) {
        return;
    }
    for (const char *at = old; *at != '\0';) {
        const char *start = at;
        while (*at != '\0' && *at != ':') {
            at++;
        }
        if (at > start) {
            extend(s, ":");
            for (; start < at && s->length < LIST_SIZE - 1; start++) {
                s->text[s->length++] = *start;
            }
            s->text[s->length] = '\0';
        }
        at += *at == ':';
    }
    char **place = place_of(environment, name);
    if (*place == NULL) {
        place[1] = NULL;
    }
    *place = s->text;
}

static void add_to_list(char **environment, const char *name, const char *first, const char *second) {
    static setting settings[2];
    static int next;
    setting *s = &settings[next++ & 1];
    const char *old = variable(environment, name);
    add_directory(s, name, old, first);
    if (second[0] != '\0') {
        add_directory(s, name, old, second);
    }
    put(s, environment, name, old);
}

/* Profilers load libraries of core, and modules of their own, in processes that they start. */
static void prepare_profiler(const search *s, char **environment) {
    path own, core, modules;
    set(&own, s->site.text, PLATFORM "/lib");
    set(&core, s->site.text, CORE "/lib/rocm_sysdeps/lib");
    set(&modules, s->site.text, PLATFORM "/libexec/rocprofiler-compute");
    add_to_list(environment, "LD_LIBRARY_PATH", own.text, core.text);
    add_to_list(environment, "PYTHONPATH", modules.text, "");
}

/* ---- the development tree ---- */

/* The interpreter beside the command; else the one in PATH that the site-packages directory belongs to. */
static bool find_python(const search *s, char **environment, path *python) {
    set(python, s->bin.text, "python3");
    if (exists(python->text, TO_RUN)) {
        return true;
    }
    path parent, name;
    set(&parent, s->site.text, "");
    to_directory(&parent);
    const char *last = parent.text;
    for (const char *at = parent.text; *at != '\0'; at++) {
        last = *at == '/' ? at + 1 : last;
    }
    set(&name, starts_with(last, "python3") ? last : "python3", "");
    for (const char *at = variable(environment, "PATH"); *at != '\0';) {
        python->length = 0;
        for (; *at != '\0' && *at != ':'; at++) {
            append(python, (const char[]){*at, '\0'});
        }
        append(python, "/");
        append(python, name.text);
        if (python->text[0] == '/' && exists(python->text, TO_RUN)) {
            add_to_list(environment, "PYTHONPATH", s->site.text, "");
            return true;
        }
        at += *at == ':';
    }
    return false;
}

/* `python -m rocm_sdk`, but without modules of the current directory, which may be another user's. PYTHONSAFEPATH says
 * so since Python 3.11; older interpreters import nothing before the first line. */
static char safe_path[] = "PYTHONSAFEPATH=1";
static char loader[] = "import sys; del sys.path[: not getattr(sys.flags, 'safe_path', False)]; import runpy; "
                       "runpy.run_module('rocm_sdk', run_name='__main__', alter_sys=True)";

/* Removes the entries that depend on the current directory, in the text itself. */
static void drop_relative_entries(char **environment, const char *name, char separator) {
    char *list = *place_of(environment, name);
    if (list == NULL) {
        return;
    }
    list += length_of(name) + 1;
    char *end = list;
    for (const char *at = list; *at != '\0';) {
        bool is_kept = *at == '/' || starts_with(at, "$ORIGIN") || starts_with(at, "${ORIGIN}");
        if (is_kept && end > list) {
            *end++ = ':';
        }
        for (; *at != '\0' && *at != ':' && *at != separator; at++) {
            if (is_kept) {
                *end++ = *at;
            }
        }
        at += *at != '\0';
    }
    *end = '\0';
}

/* Runs `python -m rocm_sdk init --quiet`. Its output goes to standard error. */
static void extract(const search *s, char **environment, size_t count) {
    path python;
    char *own[count + 3];
    own[0] = safe_path;
    memcpy(own + 1, environment, (count + 1) * sizeof *own);
    if (!find_python(s, own, &python)) {
        fail("needs the development tree, and finds no Python that could extract it", "",
             "\nfix: python -m rocm_sdk init");
    }
    long child = call(__NR_clone, SIGNAL_OF_CHILD, 0, 0, 0);
    if (child == 0) {
        char *words[] = {python.text, "-c", loader, "init", "--quiet", NULL};
        drop_relative_entries(own, "PYTHONPATH", ':'); /* the texts are this process's alone */
        drop_relative_entries(own, "LD_LIBRARY_PATH", ';');
        (void)call(__NR_dup3, 2, 1, 0, 0);
        long error = call(__NR_execve, (long)python.text, (long)words, (long)own, 0);
        fail("", python.text, words_for(error));
    }
    int status = 1;
    while (child > 0 && call(__NR_wait4, child, (long)&status, 0, 0) == -EINTR) {
    }
    if (child < 0 || status != 0) {
        fail("the development tree cannot be extracted", "", "\nfix: python -m rocm_sdk init says why");
    }
}

/* Whether the program is started from the development tree. */
static bool use_devel(const search *s, char **environment, size_t count) {
    if (MODULE[0] == '\0' || !has(s->site.text, MODULE "/__init__.py")) {
        return false;
    }
    if (!has(s->site.text, DEVEL "/__init__.py") && EXPANDS) {
        extract(s, environment, count);
    }
    return has(s->site.text, DEVEL "/__init__.py");
}

/* ---- the whole ---- */

_Noreturn void start(long *stack);

_Noreturn void start(long *stack) {
    char **words = (char **)(stack + 1), **given = words + stack[0] + 1;
    size_t count = 0;
    while (given[count] != NULL) {
        count++;
    }
    const long *vector = (const long *)(given + count + 1);
    while (vector[0] != AT_NULL && vector[0] != AT_EXECFN) {
        vector += 2;
    }
    char *environment[count + 4];
    memcpy(environment, given, (count + 1) * sizeof *environment);
    search s = {.count = 0};
    find_site(&s, vector[0] == AT_EXECFN ? (const char *)vector[1] : "");
    path program;
    set(&program, s.site.text, use_devel(&s, environment, count) ? DEVEL : PLATFORM);
    append(&program, "/" PROGRAM);
    if (CORE[0] != '\0') {
        prepare_profiler(&s, environment);
    }
    words[0] = program.text;
    long error = call(__NR_execve, (long)program.text, (long)words, (long)environment, 0);
    fail("", program.text, words_for(error));
}
