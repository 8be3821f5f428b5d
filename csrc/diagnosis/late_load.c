/* The check whether /dev/kfd is open, and of the GPU code that came with a library. */
#include "diagnosis/finding.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "device_code/target_sums.h"

static const char descriptors[] = "/proc/self/fd", device[] = "/dev/kfd";
static const double long_seconds = 0.5;
enum { SHOWN_TARGETS = 3 };

static bool leads_to(int directory, const char *name, const char *path) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(directory, name, target, sizeof target);
    return length >= 0 && (size_t)length == strlen(path) && memcmp(target, path, (size_t)length) == 0;
}

static bool is_open(const char *path) {
    DIR *directory = opendir(descriptors);
    bool found = false;
    for (const struct dirent *entry; directory != NULL && !found && (entry = readdir(directory)) != NULL;) {
        found = leads_to(dirfd(directory), entry->d_name, path);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return found;
}

typedef struct late_code {
    rsdk_target_sums sums;
    uint64_t size; /* bytes, decompressed */
} late_code;

static rsdk_status add_code(late_code *c, const rsdk_device_code *code, rsdk_arena *arena, rsdk_error *error) {
    c->size += code->plain_size;
    for (size_t i = 0; i < code->target_count; i++) {
        RSDK_TRY(rsdk_target_sums_add(&c->sums, arena, &code->targets[i], error));
    }
    return RSDK_OK;
}

/* Read the GPU code of all files that came with the library. A file that cannot be read has no code that can be
 * told. */
static rsdk_status read_code(const rsdk_loaded_entry *entry, rsdk_arena *arena, late_code *c, rsdk_error *error) {
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; status == RSDK_OK && i < entry->member_count; i++) {
        rsdk_device_code *code = NULL;
        rsdk_error reason = RSDK_ERROR_INIT;
        status = rsdk_device_code_read(entry->members[i], &code, &reason);
        rsdk_error_clear(&reason);
        if (status == RSDK_OK) {
            status = add_code(c, code, arena, error);
        } else if (status == RSDK_NO_MEMORY) {
            status = rsdk_fail_no_memory(error);
        } else {
            status = RSDK_OK;
        }
        rsdk_device_code_free(code);
    }
    rsdk_target_sums_sort(&c->sums);
    return status;
}

static const char *targets_of(const late_code *c, rsdk_arena *arena) {
    rsdk_text text = RSDK_TEXT_INIT;
    size_t count = c->sums.list.count;
    for (size_t i = 0; i < count && i < SHOWN_TARGETS; i++) {
        rsdk_text_add_item(&text, ", ", c->sums.list.items[i].target);
    }
    if (count > SHOWN_TARGETS) {
        rsdk_text_add(&text, " and %zu more", count - SHOWN_TARGETS);
    }
    const char *copy = text.failed ? NULL : rsdk_arena_copy(arena, rsdk_text_get(&text));
    rsdk_text_clear(&text);
    return copy;
}

rsdk_status rsdk_late_load_describe(const rsdk_loaded_entry *entry, const char *root, rsdk_arena *arena,
                                    const char **text, rsdk_error *error) {
    late_code code = {.size = 0};
    *text = NULL;
    if (entry->was_loaded || entry->seconds < long_seconds) {
        return RSDK_OK;
    }
    const char *path = rsdk_arena_format(arena, "%s%s", root != NULL ? root : "", device);
    RSDK_NEED(path, error);
    if (!is_open(path)) {
        return RSDK_OK;
    }
    RSDK_TRY(read_code(entry, arena, &code, error));
    if (code.size == 0) {
        return RSDK_OK;
    }
    const char *targets = targets_of(&code, arena), *name = rsdk_path_name(entry->location.path);
    RSDK_NEED(targets, error);
    *text =
        rsdk_arena_format(arena,
                          "%s took %.1f s to load: the process has the GPU open (%s), so HIP reads all GPU code that "
                          "comes with the library, %.1f MB for %s; load it before the first call of HIP, or keep the "
                          "code of fewer GPUs (rocm-sdk code %s --keep TARGET --output FILE)",
                          name, entry->seconds, path, (double)code.size / 1e6, targets, entry->location.path);
    RSDK_NEED(*text, error);
    return RSDK_OK;
}
