// What clang calls for each block of C code (-fsanitize-coverage=trace-pc-guard,pc-table), linked into what `make tier`
// measures. A block sets its byte in the map of the case that started the process, which tests/tier/recorder.py
// describes; the map of this module lies beside it. It allocates nothing, since tests make allocations fail.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef REACH_DIRECTORY
#error REACH_DIRECTORY is the directory of the measured run
#endif

#pragma GCC visibility push(default)
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);
void reach_use(const char *map);
#pragma GCC visibility pop

enum { PATH_SIZE = 4096, NAME_SIZE = 256 };

static uint32_t block_count;
static uint8_t *_Atomic blocks; // block_count + 1 bytes of a map, or NULL

// Writes the name of this module's file, without dots: a closure takes a mapped file with `.so` for a library.
static void tell_name(char name[NAME_SIZE], uintptr_t *base) {
    Dl_info info = {0};
    (void)dladdr((void *)(uintptr_t)&reach_use, &info);
    const char *slash = info.dli_fname == NULL ? NULL : strrchr(info.dli_fname, '/');
    (void)snprintf(name, NAME_SIZE, "%s", slash == NULL ? "unknown" : slash + 1);
    for (char *dot = name; (dot = strchr(dot, '.')) != NULL;) {
        *dot = '-';
    }
    *base = (uintptr_t)info.dli_fbase;
}

// Writes to the map of this module beside the named one from now on.
void reach_use(const char *map) {
    uintptr_t base = 0;
    char name[NAME_SIZE];
    char path[PATH_SIZE];
    tell_name(name, &base);
    (void)snprintf(path, sizeof path, "%s.%s", map, name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        return;
    }
    (void)fchmod(file, 0666);
    uint8_t *before = atomic_load(&blocks);
    if (ftruncate(file, (off_t)block_count + 1) == 0) {
        void *now = mmap(before, (size_t)block_count + 1, PROT_READ | PROT_WRITE,
                         MAP_SHARED | (before == NULL ? 0 : MAP_FIXED), file, 0);
        if (now != MAP_FAILED) {
            atomic_store(&blocks, now);
        }
    }
    (void)close(file);
}

// Reads a file of one line; 0 where there is none.
static size_t read_line(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) {
        (void)close(file);
    }
    text[length < 0 ? 0 : length] = '\0';
    return length < 0 ? 0 : (size_t)length;
}

static void use_map_of_ancestor(void) {
    char path[PATH_SIZE];
    char text[PATH_SIZE];
    for (long process = getpid(); process > 1;) {
        (void)snprintf(path, sizeof path, "%s/current/%ld", REACH_DIRECTORY, process);
        if (read_line(path, text, sizeof text) > 0) {
            reach_use(text);
            return;
        }
        (void)snprintf(path, sizeof path, "/proc/%ld/stat", process);
        if (read_line(path, text, sizeof text) == 0 || strrchr(text, ')') == NULL) {
            return;
        }
        process = strtol(strrchr(text, ')') + 4, NULL, 10); // ") S PARENT"
    }
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    if (start == stop || *start != 0) {
        return;
    }
    for (uint32_t *guard = start; guard < stop; guard++) {
        *guard = ++block_count;
    }
}

// The last call of a module's start: all blocks are counted. The table says once where each block is.
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) {
    uintptr_t base = 0;
    char name[NAME_SIZE];
    char path[PATH_SIZE];
    tell_name(name, &base);
    (void)snprintf(path, sizeof path, "%s/blocks/%s", REACH_DIRECTORY, name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) {
        for (const uintptr_t *entry = start; entry < stop; entry += 2) {
            (void)dprintf(file, "0x%lx\n", (unsigned long)(entry[0] - base));
        }
        (void)close(file);
    }
    if (atomic_load(&blocks) == NULL) {
        use_map_of_ancestor();
    }
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    uint8_t *map = atomic_load_explicit(&blocks, memory_order_relaxed);
    if (map != NULL) {
        map[*guard] = 1;
    }
}
