/* Preloaded into a process (LD_PRELOAD), notes when each dlopen began and ended, on the clock of Python's
 * perf_counter_ns. Opens that a library's constructor makes belong to the outer one. At exit, the file that
 * DLOPEN_CLOCK names gets a line for each: begin and end in nanoseconds, and what was opened. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct opening {
    long long begin, end;
    char what[256];
} opening;

static opening openings[1024];
static size_t count, depth;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((visibility("default"))) void *dlopen(const char *path, int mode) {
    static void *(*linker_dlopen)(const char *, int);
    if (linker_dlopen == NULL) {
        *(void **)&linker_dlopen = dlsym(RTLD_NEXT, "dlopen");
    }
    if (depth > 0 || count == sizeof openings / sizeof *openings) {
        return linker_dlopen(path, mode);
    }
    opening *noted = &openings[count++];
    (void)snprintf(noted->what, sizeof noted->what, "%s", path != NULL ? path : "");
    depth++;
    noted->begin = now();
    void *handle = linker_dlopen(path, mode);
    noted->end = now();
    depth--;
    return handle;
}

__attribute__((destructor)) static void write_openings(void) {
    const char *path = getenv("DLOPEN_CLOCK");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    for (size_t i = 0; file != NULL && i < count; i++) {
        (void)fprintf(file, "%lld %lld %s\n", openings[i].begin, openings[i].end, openings[i].what);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}
