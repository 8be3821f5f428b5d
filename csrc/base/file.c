/* Reading files with pread. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fail.h"

bool rsdk_file_identify(const char *path, rsdk_file_identity *identity) {
    struct stat facts;
    if (stat(path, &facts) != 0) {
        return false;
    }
    *identity = (rsdk_file_identity){.device = facts.st_dev, .inode = facts.st_ino};
    return true;
}

bool rsdk_file_same(rsdk_file_identity a, rsdk_file_identity b) {
    return a.device == b.device && a.inode == b.inode;
}

static const char *kind_of(mode_t mode) {
    return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a FIFO" : "not a regular file";
}

static rsdk_status fail_errno(const char *path, const char *what, rsdk_error *error) {
    int reason = errno;
    bool absent = reason == ENOENT || reason == ENOTDIR;
    return rsdk_fail_as(error, absent ? RSDK_FILE_NOT_FOUND : RSDK_IO_ERROR, RSDK_NO_CODE, path,
                        reason == ELOOP ? RSDK_FACTS({"kind", "a link that leads to itself"}) : NULL, "%s: %s: %s",
                        path, what, strerror(reason));
}

static const int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

static rsdk_file opened(int descriptor, const char *path, const struct stat *facts) {
    return (rsdk_file){.descriptor = descriptor,
                       .path = path,
                       .size = (uint64_t)facts->st_size,
                       .identity = {.device = facts->st_dev, .inode = facts->st_ino}};
}

rsdk_status rsdk_file_open(const char *path, rsdk_file *file, rsdk_error *error) {
    struct stat facts;
    int descriptor = open(path, reading);
    if (descriptor < 0) {
        return fail_errno(path, "cannot open", error);
    }
    rsdk_status status = RSDK_OK;
    if (fstat(descriptor, &facts) != 0) {
        status = fail_errno(path, "cannot stat", error);
    } else if (!S_ISREG(facts.st_mode)) {
        const char *kind = kind_of(facts.st_mode);
        status = rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_NO_CODE, path, RSDK_FACTS({"kind", kind}),
                              "%s: is %s where a file is expected", path, kind);
    }
    if (status != RSDK_OK) {
        (void)close(descriptor);
        return status;
    }
    *file = opened(descriptor, path, &facts);
    return RSDK_OK;
}

bool rsdk_file_open_silently(const char *path, rsdk_file *file) {
    struct stat facts;
    int descriptor = open(path, reading);
    if (descriptor < 0) {
        return false;
    }
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        (void)close(descriptor);
        return false;
    }
    *file = opened(descriptor, path, &facts);
    return true;
}

rsdk_status rsdk_file_open_part(int descriptor, uint64_t start, uint64_t size, const char *path, rsdk_file *file,
                                rsdk_error *error) {
    struct stat facts;
    if (fstat(descriptor, &facts) != 0) {
        return fail_errno(path, "cannot stat", error);
    }
    uint64_t whole = (uint64_t)facts.st_size;
    if (!S_ISREG(facts.st_mode) || start > whole || size > whole - start) {
        return rsdk_fail(error, RSDK_IO_ERROR, path, "%s: does not lie in its archive", path);
    }
    *file = (rsdk_file){.descriptor = descriptor,
                        .path = path,
                        .start = start,
                        .size = size,
                        .identity = {.device = facts.st_dev, .inode = facts.st_ino}};
    return RSDK_OK;
}

void rsdk_file_close(rsdk_file *file) {
    (void)close(file->descriptor);
    file->descriptor = -1;
}

enum {
    BLOCK_SIZE = 1 << 17, /* Linux reads ahead at most this much unless told otherwise (VM_READAHEAD_PAGES) */
    PIECES_SIZE = 8 * BLOCK_SIZE,
    BLOCK_COUNT = sizeof((rsdk_read_ahead){0}).blocks / sizeof(uint64_t),
};

void rsdk_file_read_blocks(rsdk_file *file, rsdk_read_ahead *ahead) {
    /* Major number 0: NFS, FUSE, Lustre; overlays, Btrfs and tmpfs too, where the advice costs little. */
    file->ahead = major(file->identity.device) == 0 ? ahead : NULL;
}

void rsdk_file_ask_ahead(int descriptor, uint64_t offset, uint64_t size, const atomic_bool *ends) {
    for (uint64_t done = 0; done < size && (ends == NULL || !atomic_load(ends));) {
        const uint64_t piece = size - done < BLOCK_SIZE ? size - done : BLOCK_SIZE; /* more would be cut short */
        (void)posix_fadvise(descriptor, (off_t)(offset + done), (off_t)piece, POSIX_FADV_WILLNEED);
        done += piece;
    }
}

static bool is_asked_for(const rsdk_read_ahead *ahead, uint64_t block) {
    for (unsigned i = 0; i < ahead->count && i < BLOCK_COUNT; i++) {
        if (ahead->blocks[i] == block) {
            return true;
        }
    }
    return false;
}

/* Ask the kernel for the blocks. Where the kernel does not take the advice, the read itself brings the bytes. */
static void ask_for_blocks(const rsdk_file *file, uint64_t offset, size_t size) {
    rsdk_read_ahead *ahead = file->ahead;
    const uint64_t first = offset / BLOCK_SIZE, end = (offset + size + BLOCK_SIZE - 1) / BLOCK_SIZE;
    for (uint64_t block = first; block < end; block++) {
        if (!is_asked_for(ahead, block)) {
            ahead->blocks[ahead->count++ % BLOCK_COUNT] = block;
            (void)posix_fadvise(file->descriptor, (off_t)(block * BLOCK_SIZE), BLOCK_SIZE, POSIX_FADV_WILLNEED);
        }
    }
}

void rsdk_file_ask_blocks(const rsdk_file *file, uint64_t offset, uint64_t size) {
    if (file->ahead != NULL && offset < file->size) {
        const uint64_t most = file->size - offset < PIECES_SIZE ? file->size - offset : PIECES_SIZE;
        ask_for_blocks(file, file->start + offset, (size_t)(size < most ? size : most));
    }
}

rsdk_status rsdk_file_read(const rsdk_file *file, uint64_t offset, void *buffer, size_t size, rsdk_error *error) {
    size_t done = 0;
    if (size > INT64_MAX || offset > INT64_MAX - size || file->start > INT64_MAX - size - offset) {
        return rsdk_fail(error, RSDK_IO_ERROR, file->path, "%s: offset out of range", file->path);
    }
    if (file->ahead != NULL) {
        ask_for_blocks(file, file->start + offset, size);
    }
    while (done < size) {
        ssize_t got = pread(file->descriptor, (char *)buffer + done, size - done, (off_t)(file->start + offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail_errno(file->path, "cannot read", error);
        }
        if (got == 0) {
            return rsdk_fail(error, RSDK_IO_ERROR, file->path,
                             "%s: the file ends at byte %" PRIu64 ", within something that should be there", file->path,
                             offset + done);
        }
        done += (size_t)got;
    }
    return RSDK_OK;
}

rsdk_status rsdk_file_read_text(const char *path, size_t limit, rsdk_arena *arena, char **text, size_t *length,
                                rsdk_file_identity *identity, rsdk_error *error) {
    rsdk_file file = {0};
    rsdk_status status = rsdk_file_open(path, &file, error);
    if (status != RSDK_OK) {
        return status;
    }
    if (file.size > limit) {
        status =
            rsdk_fail(error, RSDK_IO_ERROR, path, "%s: has %llu bytes, more than the %zu that such a file may have",
                      path, (unsigned long long)file.size, limit);
    } else if ((*text = rsdk_arena_alloc(arena, (size_t)file.size + 1, 1)) == NULL) {
        status = rsdk_fail_no_memory(error);
    } else {
        *length = (size_t)file.size;
        *identity = file.identity;
        status = rsdk_file_read(&file, 0, *text, *length, error);
    }
    rsdk_file_close(&file);
    return status;
}
