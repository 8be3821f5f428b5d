/* The bare loop that the library check of `rocm-sdk test` is measured against: a child for each library, which opens
 * it, so many at a time; no time limits, no captured output, nothing that outlives a library's own processes is looked
 * for.
 *
 *     fork_dlopen PARALLEL PATH... */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int reap(void) {
    int status = 0;
    return wait(&status) < 0 || status != 0;
}

int main(int argc, char **argv) {
    int parallel = argc > 1 ? atoi(argv[1]) : 0, running = 0, failed = 0;
    if (parallel < 1) {
        fprintf(stderr, "usage: fork_dlopen PARALLEL PATH...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        if (running == parallel) {
            failed += reap();
            running--;
        }
        pid_t child = fork();
        if (child == 0) {
            _exit(dlopen(argv[i], RTLD_NOW | RTLD_LOCAL) == NULL);
        }
        running += child > 0;
        failed += child < 0;
    }
    for (; running > 0; running--) {
        failed += reap();
    }
    return failed != 0;
}
