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

/* The identity of a file, whatever its name. */
typedef struct rsdk_file_identity {
    dev_t device;
    ino_t inode;
} rsdk_file_identity;

/* The blocks of a file that the kernel was asked for last. */
typedef struct rsdk_read_ahead {
    uint64_t blocks[16]; /* numbers; a new one takes the place of the oldest */
    unsigned count;      /* the number of questions */
} rsdk_read_ahead;

typedef struct rsdk_file {
    int descriptor;
    const char *path; /* borrowed from the caller of rsdk_file_open */
    uint64_t start;   /* the file's place in the descriptor's file: 0, except for a member of an archive */
    uint64_t size;    /* bytes, when it was opened */
    rsdk_file_identity identity;
    rsdk_read_ahead *ahead; /* borrowed; NULL: nothing is read unless it is asked for */
} rsdk_file;

/* Find the identity of the file that a path leads to; return false where the path leads nowhere. The function makes one
 * system call. */
bool rsdk_file_identify(const char *path, rsdk_file_identity *identity);

bool rsdk_file_same(rsdk_file_identity a, rsdk_file_identity b);

/* Open a regular file for reading, with two system calls: open and fstat. A FIFO does not block, a directory is an
 * error. RSDK_FILE_NOT_FOUND when there is no such file, RSDK_IO_ERROR otherwise. */
rsdk_status rsdk_file_open(const char *path, rsdk_file *file, rsdk_error *error);

/* Do the same for a thread that makes system calls alone; return false, without a reason, where the file cannot be
 * opened. */
bool rsdk_file_open_silently(const char *path, rsdk_file *file);

/* Open the `size` bytes from `start` of a regular file that is open already, under the name `path`. The descriptor
 * stays the caller's, so the file is not to be closed. RSDK_IO_ERROR if the file does not have these bytes. */
rsdk_status rsdk_file_open_part(int descriptor, uint64_t start, uint64_t size, const char *path, rsdk_file *file,
                                rsdk_error *error);

void rsdk_file_close(rsdk_file *file);

/* Let reads of a file that the linker will map soon bring whole blocks: before a read, the kernel is asked for the
 * whole blocks of 128 KiB that it touches. On a file server a request costs more than its bytes, and small reads leave
 * holes, for each of which the linker's page faults make another request. Nothing changes where the file's device
 * number is a block device's; a file server, an overlay, Btrfs and tmpfs have other numbers. `ahead`: all zero, and as
 * long alive as the file is open. */
void rsdk_file_read_blocks(rsdk_file *file, rsdk_read_ahead *ahead);

/* Ask for the blocks of a part of such a file that is read piece by piece from its beginning: at most 1 MiB of it, and
 * no block that has been asked for. Nothing changes for other files. */
void rsdk_file_ask_blocks(const rsdk_file *file, uint64_t offset, uint64_t size);

/* Ask the kernel for a part of a descriptor's file, and wait for none of it. `ends` (may be NULL): once it is true
 * nothing further is asked for. The function makes system calls alone. */
void rsdk_file_ask_ahead(int descriptor, uint64_t offset, uint64_t size, const atomic_bool *ends);

/* Read exactly `size` bytes from `offset`; fewer are an error ("the file ends at byte ..."). */
rsdk_status rsdk_file_read(const rsdk_file *file, uint64_t offset, void *buffer, size_t size, rsdk_error *error);

/* Read a whole small text file, NUL-terminated, into `arena`; a file larger than `limit` bytes is an error. */
rsdk_status rsdk_file_read_text(const char *path, size_t limit, rsdk_arena *arena, char **text, size_t *length,
                                rsdk_file_identity *identity, rsdk_error *error);

#endif
