/* New files. The file is written beside its name, and renamed. */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/path.h"

enum {
    MODE = 0666,       /* less the umask */
    OWN_MODE = 0644,   /* likewise */
    NAME_LIMIT = 10000 /* names that are tried */
};

static const int new_flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

/* Return a name of this process alone, also where another machine or container has a process of the same number. The
 * bytes of AT_RANDOM are no name: glibc makes the stack's canary of them, and others may read the directory. */
static char *partial_name(rsdk_arena *arena, const char *path) {
    uint64_t word = 0;
    (void)!getrandom(&word, sizeof word, 0);
    const char *directory = rsdk_path_parent(arena, path);
    return directory == NULL ? NULL
                             : rsdk_arena_format(arena, "%s/.rocm-sdk-%016llx-%ld.partial", directory,
                                                 (unsigned long long)word, (long)getpid());
}

bool rsdk_new_file_write_all(int descriptor, const char *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t written = write(descriptor, bytes + done, size - done);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Take the name, then rename, where the file system cannot rename without replacing; return 0 or an errno. */
static int take_then_rename(const char *partial, const char *path) {
    int descriptor = open(path, new_flags, MODE);
    if (descriptor < 0) {
        return errno;
    }
    int result = close(descriptor) < 0 || rename(partial, path) < 0 ? errno : 0;
    if (result != 0) {
        (void)unlink(path); /* ours, and empty */
    }
    return result;
}

/* Rename without replacing; return 0 or an errno. */
static int rename_to(const char *partial, const char *path) {
    /* glibc before 2.28 has no function for it. */
    if (syscall(SYS_renameat2, AT_FDCWD, partial, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    return errno == EINVAL || errno == ENOSYS ? take_then_rename(partial, path) : errno;
}

/* Rename to the first free name; return 0 or an errno. */
static int rename_to_free_name(rsdk_arena *arena, const char *partial, const char *path) {
    const char *name = rsdk_path_name(path), *dot = strrchr(name, '.');
    const char *ending = dot != NULL && dot != name ? dot : name + strlen(name);
    int result = rename_to(partial, path);
    for (int number = 1; result == EEXIST && number < NAME_LIMIT; number++) {
        const char *next = rsdk_arena_format(arena, "%.*s.%d%s", (int)(ending - path), path, number, ending);
        result = next != NULL ? rename_to(partial, next) : ENOMEM;
    }
    return result;
}

/* Write a file beside its name, and rename it; return 0 or an errno. */
static int write_and_rename(rsdk_arena *arena, const char *path, const void *data, size_t size, bool replaces) {
    const char *partial = partial_name(arena, path);
    int descriptor = partial != NULL ? open(partial, new_flags, replaces ? OWN_MODE : MODE) : -1;
    if (descriptor < 0) {
        return partial != NULL ? errno : ENOMEM;
    }
    int result = rsdk_new_file_write_all(descriptor, data, size) ? 0 : errno;
    if (result == 0 && replaces && fsync(descriptor) < 0) {
        result = errno;
    }
    if (close(descriptor) < 0 && result == 0) {
        result = errno;
    }
    if (result == 0) {
        result = !replaces ? rename_to_free_name(arena, partial, path) : rename(partial, path) < 0 ? errno : 0;
    }
    if (result != 0) {
        (void)unlink(partial);
    }
    return result;
}

rsdk_status rsdk_new_file_write(const char *path, const void *data, size_t size, bool replaces, rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    int result = write_and_rename(&arena, path, data, size, replaces);
    rsdk_arena_clear(&arena);
    return result == 0        ? RSDK_OK
           : result == ENOMEM ? rsdk_fail_no_memory(error)
                              : rsdk_fail(error, RSDK_IO_ERROR, path, "cannot write %s: %s", path, strerror(result));
}
