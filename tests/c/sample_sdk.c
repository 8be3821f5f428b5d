/* Compiles the sample SDK with the system's compiler driver. */
#include "sample_sdk.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMAND_SIZE = 4096 };

_Noreturn static void give_up(const char *what) {
    perror(what);
    exit(99);
}

static void run(const char *command) {
    if (system(command) != 0) {
        give_up(command);
    }
}

__attribute__((format(printf, 2, 3))) static void add(char *command, const char *format, ...) {
    size_t length = strlen(command);
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(command + length, COMMAND_SIZE - length, format, arguments);
    va_end(arguments);
    if (added < 0 || (size_t)added >= COMMAND_SIZE - length) {
        give_up("a command that is too long");
    }
}

sample_site sample_site_at(const char *path) {
    sample_site site = {.texts = calloc(1, sizeof *site.texts)};
    (void)snprintf(site.path, sizeof site.path, "%s", path);
    if (site.texts == NULL) {
        give_up(path);
    }
    return site;
}

sample_site sample_site_new(void) {
    sample_site site = sample_site_at("/tmp/rocm-sdk-test-XXXXXX");
    if (mkdtemp(site.path) == NULL || chmod(site.path, 0755) != 0) {
        give_up(site.path);
    }
    sample_directory(&site, CORE_LIB);
    sample_directory(&site, "rocm_sdk_core");
    return site;
}

void sample_site_leave(const sample_site *site) {
    rsdk_arena_clear(site->texts);
    free(site->texts);
}

void sample_site_remove(const sample_site *site) {
    char command[COMMAND_SIZE] = "";
    add(command, "rm -rf '%s'", site->path);
    run(command);
    sample_site_leave(site);
}

const char *sample_path(const sample_site *site, const char *name) {
    const char *path = rsdk_arena_format(site->texts, "%s/%s", site->path, name);
    if (path == NULL) {
        give_up(name);
    }
    return path;
}

void sample_directory(const sample_site *site, const char *name) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", site->path, name);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    struct stat facts;
    if (mkdir(path, 0755) != 0 && (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))) {
        give_up(path);
    }
}

void sample_file(const sample_site *site, const char *name, const char *text) {
    FILE *file = fopen(sample_path(site, name), "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        give_up(name);
    }
}

void sample_compile(const sample_site *site, const sample_library *library) {
    const char *directory = library->directory != NULL ? library->directory : CORE_LIB;
    const char *soname = library->soname != NULL ? library->soname : library->file;
    char command[COMMAND_SIZE] = "";
    sample_directory(site, directory);
    sample_file(site, "source.c", library->source);
    add(command, "cd '%s' && cc -w -shared -fPIC -O0 -o '%s/%s' source.c -Wl,--no-as-needed,--allow-shlib-undefined",
        site->path, directory, library->file);
    if (soname[0] != '\0') {
        add(command, " -Wl,-soname,'%s'", soname);
    }
    if (library->paths != NO_PATHS) {
        add(command,
            " -Wl,--%s-new-dtags,-rpath,'$ORIGIN:$ORIGIN/../../" CORE_LIB ":$ORIGIN/../../" LIBRARIES_LIB
            ":$ORIGIN/../" OUTSIDE ":$ORIGIN/../../" OUTSIDE "'",
            library->paths == WITH_RPATH ? "disable" : "enable");
    }
    add(command, " %s %s", library->needs != NULL ? library->needs : "",
        library->options != NULL ? library->options : "");
    run(command);
}

void sample_dist_info(const sample_site *site) {
    sample_file(site, "rocm_sdk_core/_dist_info.py",
                "__version__ = '7.10.0'\nPY_PACKAGE_SUFFIX_NONCE = ''\n"
                "ALL_PACKAGES[\"libraries\"].dist_package_template = 'rocm-sdk-libraries'\n");
}

rsdk_sdk *sample_open(const sample_site *site) {
    const char *search_path[] = {site->path};
    rsdk_sdk_options options = {.search_path = search_path, .search_path_count = 1};
    rsdk_sdk *sdk = NULL;
    rsdk_error error = RSDK_ERROR_INIT;
    if (rsdk_sdk_open(&options, &sdk, &error) != RSDK_OK) {
        (void)fprintf(stderr, "%s\n", rsdk_error_message(&error));
        exit(99);
    }
    return sdk;
}

int sample_fixture_make_bare(void **state) {
    sample_fixture *f = calloc(1, sizeof *f);
    if (f == NULL) {
        give_up("a fixture");
    }
    f->site = sample_site_new();
    *state = f;
    return 0;
}

int sample_fixture_make(void **state) {
    (void)sample_fixture_make_bare(state);
    sample_dist_info(&((sample_fixture *)*state)->site);
    return 0;
}

int sample_fixture_free(void **state) {
    sample_fixture *f = *state;
    rsdk_plan_free(f->plan);
    rsdk_sdk_free(f->sdk);
    rsdk_error_clear(&f->error);
    sample_site_remove(&f->site);
    free(f);
    return 0;
}
