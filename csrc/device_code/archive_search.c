/* The archives are tried for the GPU's target and for its generic one, each with all of its features, with fewer, and
 * without: "gfx942:sramecc+:xnack-", "gfx942:sramecc+", "gfx942:xnack-", "gfx942". */
#include "device_code/archive_search.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"

enum {
    NAME_LIMIT = 8, /* two targets with two features each */
    FEATURE_LIMIT = 2,
    KEY_LIMIT = 4096 + 256, /* a name, as long as a marker may have it, a number and a target */
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

/* Add a processor with each subset of the features in `gpu`. */
static rsdk_status add_subsets(rsdk_archive_search *search, const char *processor, const char *gpu, wanted *names) {
    const char *features[FEATURE_LIMIT];
    size_t lengths[FEATURE_LIMIT], count = 0;
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
        RSDK_NEED(names->names[names->count], search->error);
        names->count++;
    }
    return RSDK_OK;
}

/* ---- archives ---- */

/* Note an image. Images are called "lib/libx.so.1#0", in old archives without the number, which stand for all
 * bundles. */
static rsdk_status note(rsdk_archive_search *search, rsdk_name_table *kernels, const char *id, size_t length,
                        const char *target) {
    const char *key = rsdk_arena_format(search->arena, "%.*s\n%s", (int)length, id, target);
    RSDK_NEED(key, search->error);
    return rsdk_name_table_set(kernels, search->arena, key, strlen(key), 0, search->error);
}

/* List each image under its name; all of a library, whatever the number, under "lib/libx.so.1#"; and each target. */
static rsdk_status list_kernels(rsdk_archive_search *search, const rsdk_device_code *code, rsdk_name_table *kernels) {
    for (size_t i = 0; i < code->bundle_count; i++) {
        for (size_t k = 0; k < code->bundles[i].image_count; k++) {
            const rsdk_device_image *image = &code->bundles[i].images[k];
            if (image->id != NULL) {
                size_t length = strcspn(image->id, "#");
                RSDK_TRY(note(search, kernels, image->id, strlen(image->id), image->target));
                RSDK_TRY(note(search, kernels, image->id, length + (image->id[length] == '#'), image->target));
                RSDK_TRY(note(search, kernels, "", 0, image->target));
            }
        }
    }
    return RSDK_OK;
}

static bool has(const rsdk_opened_archive *archive, const char *id, const char *number, const char *target) {
    char key[KEY_LIMIT];
    size_t unused = 0;
    int length = snprintf(key, sizeof key, "%s%s\n%s", id, number, target);
    return length > 0 && (size_t)length < sizeof key &&
           rsdk_name_table_find(&archive->kernels, key, (size_t)length, &unused);
}

static rsdk_status open_archive(rsdk_archive_search *search, rsdk_opened_archive *archive) {
    size_t place = 0, length = strlen(archive->path);
    if (search->opened.items != NULL && rsdk_name_table_find(&search->places, archive->path, length, &place)) {
        *archive = search->opened.items[place];
        return RSDK_OK;
    }
    /* Read an archive. An archive that cannot be read counts as not there. */
    rsdk_error ignored = RSDK_ERROR_INIT;
    rsdk_device_code *code = NULL;
    rsdk_status status = rsdk_device_code_read(archive->path, &code, &ignored);
    rsdk_error_clear(&ignored);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(search->error);
    }
    archive->is_there = status == RSDK_OK;
    status = archive->is_there ? list_kernels(search, code, &archive->kernels) : RSDK_OK;
    rsdk_device_code_free(code);
    RSDK_TRY(status);
    RSDK_TRY(rsdk_name_table_set(&search->places, search->arena, archive->path, length, search->opened.count,
                                 search->error));
    RSDK_APPEND(search->arena, &search->opened, *archive, search->error);
    return RSDK_OK;
}

static rsdk_status add_archive(rsdk_archive_search *search, const char *path, candidates *found) {
    rsdk_opened_archive archive = {.path = path};
    RSDK_TRY(open_archive(search, &archive));
    if (!archive.is_there) {
        bool has_plain_name = found->missing != NULL && strchr(rsdk_path_name(found->missing), ':') == NULL;
        found->missing = has_plain_name ? found->missing : archive.path;
        return RSDK_OK;
    }
    RSDK_APPEND(search->arena, &found->list, archive, search->error);
    return RSDK_OK;
}

/* Add the archives of a search path: one archive or, with the placeholder, one archive per target. */
static rsdk_status add_search_path(rsdk_archive_search *search, const char *directory, const char *path,
                                   const wanted *names, candidates *found) {
    const char *whole = path[0] == '/' ? path : rsdk_path_join(search->arena, directory, path);
    RSDK_NEED(whole, search->error);
    const char *at = strstr(whole, placeholder);
    if (at == NULL) {
        return add_archive(search, whole, found);
    }
    for (size_t i = 0; i < names->count; i++) {
        const char *filled = rsdk_arena_format(search->arena, "%.*s%s%s", (int)(at - whole), whole, names->names[i],
                                               at + strlen(placeholder));
        RSDK_NEED(filled, search->error);
        RSDK_TRY(add_archive(search, filled, found));
    }
    return RSDK_OK;
}

/* Add the entries of a variable, with ':' between them. */
static rsdk_status add_variable(rsdk_archive_search *search, const char *value, const wanted *names,
                                candidates *found) {
    while (value != NULL && *value != '\0') {
        size_t length = strcspn(value, ":");
        const char *path = rsdk_arena_copy_bytes(search->arena, value, length);
        RSDK_NEED(path, search->error);
        if (length > 0) {
            RSDK_TRY(add_search_path(search, ".", path, names, found));
        }
        value += length + (value[length] == ':');
    }
    return RSDK_OK;
}

/* Look for one bundle; `number` is "#0", or "#" for any. Return the place of its target in `names`, or their count. */
static size_t find_bundle(const candidates *archives, const wanted *names, const char *name, const char *number,
                          bool *is_late) {
    for (size_t i = 0; i < names->count; i++) {
        bool was_opened = false; /* an archive for this target, without the bundle */
        for (size_t k = 0; k < archives->list.count; k++) {
            const rsdk_opened_archive *archive = &archives->list.items[k];
            if (has(archive, name, number, names->names[i]) || has(archive, name, "", names->names[i])) {
                *is_late = was_opened;
                return i;
            }
            was_opened = was_opened || has(archive, "", "", names->names[i]);
        }
    }
    return names->count;
}

rsdk_status rsdk_archive_search_find(rsdk_archive_search *search, const char *path,
                                     const rsdk_kernel_reference *kernels, const char *gpu, rsdk_found_kernels *found) {
    wanted names;
    candidates archives = {.missing = NULL};
    const char *directory = rsdk_path_parent(search->arena, path);
    RSDK_NEED(directory, search->error);
    if (search->is_disabled) {
        *found = (rsdk_found_kernels){.total = 1, .lack = RSDK_LACK_ARCHIVE, .path = "ROCM_KPACK_DISABLE"};
        return RSDK_OK;
    }
    const char *processor = rsdk_arena_copy_bytes(search->arena, gpu, strcspn(gpu, ":"));
    RSDK_NEED(processor, search->error);
    const rsdk_target *target = rsdk_target_find(processor);
    names = (wanted){.count = 0};
    RSDK_TRY(add_subsets(search, processor, gpu, &names));
    RSDK_TRY(target != NULL && target->generic != NULL ? add_subsets(search, target->generic, gpu, &names) : RSDK_OK);
    RSDK_TRY(add_variable(search, search->only != NULL ? search->only : search->first, &names, &archives));
    for (size_t i = 0; i < kernels->search_path_count && search->only == NULL; i++) {
        RSDK_TRY(add_search_path(search, directory, kernels->search_paths[i], &names, &archives));
    }
    bool has_archive = archives.list.count > 0;
    *found = (rsdk_found_kernels){.lack = has_archive ? RSDK_LACK_KERNELS : RSDK_LACK_ARCHIVE,
                                  .path = has_archive ? archives.list.items[0].path : archives.missing};
    size_t last = 0;
    found->total = kernels->bundle_count > 0 ? kernels->bundle_count : 1;
    for (size_t i = 0; i < found->total; i++) {
        char number[16] = "#";
        bool is_late = false;
        if (kernels->bundle_count > 0) {
            (void)snprintf(number, sizeof number, "#%u", (unsigned)kernels->bundles[i]);
        }
        size_t place = find_bundle(&archives, &names, kernels->name, number, &is_late);
        if (place < names.count) {
            last = place > last ? place : last;
            found->target = names.names[last];
            found->covered++;
            found->late += is_late;
        }
    }
    return RSDK_OK;
}
