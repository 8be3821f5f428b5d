/* Reading files: regular files only, with pread into memory of our own. Nothing is mapped: a file that shrinks while it
 * is read must be an error, not a SIGBUS. */
#ifndef RSDK_BASE_FILE_H
#define RSDK_BASE_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

/* What tells one file from another, whatever its name. */
typedef struct rsdk_file_identity {
    dev_t device;
    ino_t inode;
} rsdk_file_identity;

/* The blocks of a file that the kernel was asked for last. */
typedef struct rsdk_read_ahead {
    uint64_t blocks[16]; /* numbers; a new one takes the place of the oldest */
    unsigned count;      /* how often it was asked */
} rsdk_read_ahead;

typedef struct rsdk_file {
    int descriptor;
    const char *path; /* borrowed from the caller of rsdk_file_open */
    uint64_t start;   /* where it begins in what the descriptor leads to: 0, but for a member of an archive */
    uint64_t size;    /* bytes, when it was opened */
    rsdk_file_identity identity;
    rsdk_read_ahead *ahead; /* borrowed; NULL: nothing is read but what is asked for */
} rsdk_file;

/* The identity of what a path leads to; false where it leads nowhere. One system call. */
bool rsdk_file_identify(const char *path, rsdk_file_identity *identity);

bool rsdk_file_same(rsdk_file_identity a, rsdk_file_identity b);

/* Opens a regular file for reading. Two system calls: open and fstat. A FIFO does not block, a directory is an error.
 * RSDK_FILE_NOT_FOUND when there is no such file, RSDK_IO_ERROR otherwise. */
rsdk_status rsdk_file_open(const char *path, rsdk_file *file, rsdk_error *error);

/* The same for a thread that makes system calls alone; false, without a reason, where the file cannot be opened. */
bool rsdk_file_open_silently(const char *path, rsdk_file *file);

/* The `size` bytes from `start` of a regular file that is open already, under the name `path`. The descriptor stays the
 * caller's, so the file is not to be closed. RSDK_IO_ERROR if the file does not have them. */
rsdk_status rsdk_file_open_part(int descriptor, uint64_t start, uint64_t size, const char *path, rsdk_file *file,
                                rsdk_error *error);

void rsdk_file_close(rsdk_file *file);

/* For a file that the linker will map soon: before a read, the kernel is asked for the whole blocks of 128 KiB that it
 * touches. On a file server a request costs more than what it brings, and small reads leave holes, for each of which
 * the linker's page faults make another request. Changes nothing where the file's device number is that of a block
 * device; that of a file server, an overlay, Btrfs or tmpfs is none. `ahead`: all zero, and as long alive as the file
 * is open. */
void rsdk_file_read_blocks(rsdk_file *file, rsdk_read_ahead *ahead);

/* Asks for the blocks of a part of such a file that is read piece by piece from its beginning: at most 1 MiB of it, and
 * none that has been asked for. Changes nothing for other files. */
void rsdk_file_ask_blocks(const rsdk_file *file, uint64_t offset, uint64_t size);

/* Asks the kernel for a part of what a descriptor leads to, and waits for none of it. `ends` (may be NULL): once it is
 * true nothing further is asked for. Makes system calls alone. */
void rsdk_file_ask_ahead(int descriptor, uint64_t offset, uint64_t size, const atomic_bool *ends);

/* Exactly `size` bytes from `offset`; fewer are an error ("the file ends at byte ..."). */
rsdk_status rsdk_file_read(const rsdk_file *file, uint64_t offset, void *buffer, size_t size, rsdk_error *error);

/* A whole small text file, NUL-terminated, in `arena`; larger than `limit` bytes is an error. */
rsdk_status rsdk_file_read_text(const char *path, size_t limit, rsdk_arena *arena, char **text, size_t *length,
                                rsdk_file_identity *identity, rsdk_error *error);

#endif
