/* Reading the text of a page list, without allocating memory. */
#include "loader/read_ahead/page_list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/path.h"

rsdk_status rsdk_list_text_prepare(rsdk_list_text *text, const char *directory, rsdk_arena *arena, rsdk_error *error) {
    text->directory = rsdk_arena_copy(arena, directory);
    RSDK_NEED(text->directory, error);
    text->path = rsdk_path_join(arena, text->directory, RSDK_PAGE_LIST_NAME);
    RSDK_NEED(text->path, error);
    text->bytes = rsdk_arena_alloc_room(arena, RSDK_PAGE_LIST_LIMIT + 1);
    RSDK_NEED(text->bytes, error);
    return RSDK_OK;
}

/* Return true if only those who can change the libraries beside the list can have written it, or can change it: root,
 * this user, the owner of the directory, and its group if the group may write to the directory. */
static bool is_trusted(const struct stat *facts, const char *directory) {
    struct stat above;
    if (stat(directory, &above) != 0 || (facts->st_mode & S_IWOTH) != 0) {
        return false;
    }
    const bool is_groups = (above.st_mode & S_IWGRP) != 0 && above.st_gid == facts->st_gid;
    return ((facts->st_mode & S_IWGRP) == 0 || is_groups) &&
           (facts->st_uid == 0 || facts->st_uid == geteuid() || facts->st_uid == above.st_uid);
}

/* Read the text; return the fault of the text; NULL: it has been read. */
static const char *read_text(rsdk_list_text *text, int descriptor) {
    struct stat facts;
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > RSDK_PAGE_LIST_LIMIT) {
        return "not a regular file of at most 1 MiB";
    }
    if (!is_trusted(&facts, text->directory)) {
        return "users who may not change the libraries can change it";
    }
    while (text->size < (size_t)facts.st_size) {
        const ssize_t got =
            pread(descriptor, text->bytes + text->size, (size_t)facts.st_size - text->size, (off_t)text->size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            text->reason = got < 0 ? errno : 0;
            return "cannot be read to its end";
        }
        text->size += (size_t)got;
    }
    return NULL;
}

void rsdk_list_text_read(rsdk_list_text *text) {
    int descriptor = open(text->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (descriptor < 0) {
        text->fault = "cannot be opened";
        text->reason = errno;
        return;
    }
    text->fault = read_text(text, descriptor);
    (void)close(descriptor);
}

rsdk_status rsdk_list_text_check(rsdk_list_text *text, rsdk_error *error) {
    if (text->fault != NULL) {
        return rsdk_fail(error, RSDK_IO_ERROR, text->path, "%s: %s%s%s", text->path, text->fault,
                         text->reason != 0 ? ": " : "", text->reason != 0 ? strerror(text->reason) : "");
    }
    text->bytes[text->size] = '\0';
    return RSDK_OK;
}
