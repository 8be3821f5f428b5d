/* The archives are tried for the GPU's target and for its generic one, each with all of its features, with fewer, and
 * without: "gfx942:sramecc+:xnack-", "gfx942:sramecc+", "gfx942:xnack-", "gfx942". */
#include "device_code/archive_search.h"

#include <string.h>

#include "base/path.h"

enum {
    NAME_LIMIT = 8, /* two targets with two features each */
    FEATURE_LIMIT = 2,
};

static const char placeholder[] = "@GFXARCH@";

/* The targets to look for, the best first. */
typedef struct wanted {
    const char *names[NAME_LIMIT];
    size_t count;
} wanted;

typedef struct candidates {
    RSDK_LIST(rsdk_opened_archive) list;
    const char *missing; /* the first that is not there, of a target without features if there is one */
} candidates;

/* ---- targets ---- */

/* Adds a processor with each subset of the features that stand behind the one of `gpu`. */
static rsdk_status add_subsets(rsdk_archive_search *search, const char *processor, const char *gpu, wanted *names) {
    const char *features[FEATURE_LIMIT];
    size_t lengths[FEATURE_LIMIT], count = 0;
    rsdk_error *error = search->error;
    for (const char *at = gpu + strcspn(gpu, ":"); *at != '\0' && count < FEATURE_LIMIT; count++) {
        features[count] = at;
        lengths[count] = 1 + strcspn(at + 1, ":");
        at += lengths[count];
    }
    for (unsigned mask = 1U << count; mask-- > 0;) {
        bool has_first = count > 0 && (mask >> (count - 1) & 1) != 0, has_second = count > 1 && (mask & 1) != 0;
        names->names[names->count] = rsdk_arena_format(search->arena, "%s%.*s%.*s", processor,
                                                       has_first ? (int)lengths[0] : 0, has_first ? features[0] : "",
                                                       has_second ? (int)lengths[1] : 0, has_second ? features[1] : "");
        RSDK_NEED(names->names[names->count]);
        names->count++;
    }
    return RSDK_OK;
}

static rsdk_status list_wanted(rsdk_archive_search *search, const char *gpu, wanted *names) {
    rsdk_error *error = search->error;
    const char *processor = rsdk_arena_copy_bytes(search->arena, gpu, strcspn(gpu, ":"));
    RSDK_NEED(processor);
    const rsdk_target *target = rsdk_target_find(processor);
    *names = (wanted){.count = 0};
    RSDK_TRY(add_subsets(search, processor, gpu, names));
    return target != NULL && target->generic != NULL ? add_subsets(search, target->generic, gpu, names) : RSDK_OK;
}

/* ---- archives ---- */

/* An archive that cannot be read counts as one that is not there. */
static rsdk_status read_archive(rsdk_archive_search *search, rsdk_opened_archive *archive) {
    rsdk_error ignored = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_device_code_read(archive->path, &archive->code, &ignored);
    rsdk_error_clear(&ignored);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(search->error);
    }
    void *grown = rsdk_arena_grow(search->arena, search->opened.items, search->opened.count, &search->opened.capacity,
                                  sizeof *search->opened.items);
    if (grown == NULL) {
        rsdk_device_code_free(archive->code);
        return rsdk_fail_no_memory(search->error);
    }
    search->opened.items = grown;
    search->opened.items[search->opened.count++] = *archive;
    return RSDK_OK;
}

static rsdk_status open_archive(rsdk_archive_search *search, rsdk_opened_archive *archive) {
    for (size_t i = 0; i < search->opened.count; i++) {
        if (strcmp(search->opened.items[i].path, archive->path) == 0) {
            *archive = search->opened.items[i];
            return RSDK_OK;
        }
    }
    return read_archive(search, archive);
}

static rsdk_status add_archive(rsdk_archive_search *search, const char *path, candidates *found) {
    rsdk_error *error = search->error;
    rsdk_opened_archive archive = {.path = path};
    RSDK_TRY(open_archive(search, &archive));
    if (archive.code == NULL) {
        bool has_plain_name = found->missing != NULL && strchr(rsdk_path_name(found->missing), ':') == NULL;
        found->missing = has_plain_name ? found->missing : archive.path;
        return RSDK_OK;
    }
    RSDK_APPEND(search->arena, &found->list, archive);
    return RSDK_OK;
}

/* A search path stands for one archive, or with the placeholder for one of each target. */
static rsdk_status add_search_path(rsdk_archive_search *search, const char *directory, const char *path,
                                   const wanted *names, candidates *found) {
    rsdk_error *error = search->error;
    const char *whole = path[0] == '/' ? path : rsdk_path_join(search->arena, directory, path);
    RSDK_NEED(whole);
    const char *at = strstr(whole, placeholder);
    if (at == NULL) {
        return add_archive(search, whole, found);
    }
    for (size_t i = 0; i < names->count; i++) {
        const char *filled = rsdk_arena_format(search->arena, "%.*s%s%s", (int)(at - whole), whole, names->names[i],
                                               at + strlen(placeholder));
        RSDK_NEED(filled);
        RSDK_TRY(add_archive(search, filled, found));
    }
    return RSDK_OK;
}

/* The entries of a variable, with ':' between them. */
static rsdk_status add_variable(rsdk_archive_search *search, const char *value, const wanted *names,
                                candidates *found) {
    rsdk_error *error = search->error;
    while (value != NULL && *value != '\0') {
        size_t length = strcspn(value, ":");
        const char *path = rsdk_arena_copy_bytes(search->arena, value, length);
        RSDK_NEED(path);
        if (length > 0) {
            RSDK_TRY(add_search_path(search, ".", path, names, found));
        }
        value += length + (value[length] == ':');
    }
    return RSDK_OK;
}

/* Whether an image has the library's name: "lib/libx.so.1#0", in old archives without the number. */
static bool is_of(const rsdk_device_image *image, const char *name) {
    size_t length = strlen(name);
    return image->id != NULL && strncmp(image->id, name, length) == 0 &&
           (image->id[length] == '#' || image->id[length] == '\0');
}

static bool has_kernels(const rsdk_device_code *code, const char *name, const char *target) {
    for (size_t i = 0; i < code->bundle_count; i++) {
        for (size_t k = 0; k < code->bundles[i].image_count; k++) {
            const rsdk_device_image *image = &code->bundles[i].images[k];
            if (is_of(image, name) && strcmp(image->target, target) == 0) {
                return true;
            }
        }
    }
    return false;
}

rsdk_status rsdk_archive_search_find(rsdk_archive_search *search, const char *path,
                                     const rsdk_kernel_reference *kernels, const char *gpu, rsdk_found_kernels *found) {
    rsdk_error *error = search->error;
    wanted names;
    candidates archives = {.missing = NULL};
    const char *directory = rsdk_path_parent(search->arena, path);
    RSDK_NEED(directory);
    if (search->is_disabled) {
        *found = (rsdk_found_kernels){.lack = RSDK_LACK_ARCHIVE, .path = "ROCM_KPACK_DISABLE"};
        return RSDK_OK;
    }
    RSDK_TRY(list_wanted(search, gpu, &names));
    RSDK_TRY(add_variable(search, search->only != NULL ? search->only : search->first, &names, &archives));
    for (size_t i = 0; i < kernels->search_path_count && search->only == NULL; i++) {
        RSDK_TRY(add_search_path(search, directory, kernels->search_paths[i], &names, &archives));
    }
    for (size_t i = 0; i < names.count; i++) {
        for (size_t k = 0; k < archives.list.count; k++) {
            if (has_kernels(archives.list.items[k].code, kernels->name, names.names[i])) {
                *found = (rsdk_found_kernels){.target = names.names[i]};
                return RSDK_OK;
            }
        }
    }
    bool has_archive = archives.list.count > 0;
    *found = (rsdk_found_kernels){.lack = has_archive ? RSDK_LACK_KERNELS : RSDK_LACK_ARCHIVE,
                                  .path = has_archive ? archives.list.items[0].path : archives.missing};
    return RSDK_OK;
}

void rsdk_archive_search_clear(rsdk_archive_search *search) {
    for (size_t i = 0; i < search->opened.count; i++) {
        rsdk_device_code_free(search->opened.items[i].code);
    }
}
