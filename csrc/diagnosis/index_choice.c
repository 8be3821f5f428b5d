/* The choice among the rows of the table of indexes. */
#include "diagnosis/index_choice.h"

#include <stdlib.h>
#include <string.h>

#include "rocm_sdk/gpu.h"

static const char digits[] = "0123456789";
/* The beginning of the label of packages that are built for a release: 2.12.0+rocm7.10.0. */
static const char of_rocm[] = "+rocm";

const char *rsdk_index_of_site(void) {
    const char *address = secure_getenv("ROCM_SDK_INDEX");
    return address != NULL && address[0] != '\0' ? address : NULL;
}

/* Return both parts of a release as one number. */
static unsigned long number_of(unsigned long major, unsigned long minor) {
    enum { STEP = 100000 };
    return (major < STEP ? major : STEP) * STEP + (minor < STEP ? minor : STEP - 1);
}

/* Return whether the row has a release from `lowest` to `highest`: a pattern names many. */
static bool serves(const rsdk_index_row *row, unsigned long lowest, unsigned long highest) {
    bool is_open = row->last[0] == 0;
    return highest >= number_of(row->first[0], row->first[1]) &&
           (is_open || lowest <= number_of(row->last[0], row->last[1]));
}

/* Return whether what is behind the numbers of a version is of a stream: its word stands before the local label, a word
 * with a dot at its end in it. The stable stream has no aN, bN, rcN or .devN. */
static bool is_of_stream(const rsdk_index_row *row, const char *rest) {
    size_t length = strcspn(rest, "+"), last = strlen(row->word);
    const char *found = strstr(rest, row->word);
    if (last == 0) {
        return strcspn(rest, "abcdr") >= length;
    }
    bool is_label = row->word[last - 1] == '.';
    return found != NULL && (is_label ? found > rest && strchr("+-._", found[-1]) != NULL : found < rest + length);
}

/* Return the row that serves a version ("7.10.0", "10.0.0rc1", or a pattern such as "7.*"); NULL: none does. */
static const rsdk_index_row *index_for_version(const char *version) {
    char *rest = NULL;
    if (strspn(version, digits) == 0) {
        return NULL;
    }
    unsigned long major = strtoul(version, &rest, 10);
    bool has_minor = rest[0] == '.' && strspn(rest + 1, digits) > 0;
    unsigned long minor = has_minor ? strtoul(rest + 1, &rest, 10) : 0;
    unsigned long lowest = number_of(major, minor), highest = has_minor ? lowest : number_of(major, (unsigned long)-1);
    for (size_t i = 0; i < rsdk_index_count; i++) {
        if (serves(&rsdk_indexes[i], lowest, highest) && is_of_stream(&rsdk_indexes[i], rest)) {
            return &rsdk_indexes[i];
        }
    }
    return NULL;
}

bool rsdk_requirement_has_version(const char *requirement) {
    return strstr(requirement, "==") != NULL || strstr(requirement, ">=") != NULL;
}

/* Return the numbers of a release; `otherwise`, the end of the range, if there is none. */
static unsigned long release_at(const char *text, unsigned long otherwise) {
    char *rest = NULL;
    if (text == NULL) {
        return otherwise;
    }
    unsigned long major = strtoul(text, &rest, 10);
    return number_of(major, rest[0] == '.' ? strtoul(rest + 1, NULL, 10) : 0);
}

const rsdk_index_row *rsdk_index_for_requirement(const char *requirement) {
    const char *exact = strstr(requirement, "=="), *first = strstr(requirement, ">="), *end = strstr(requirement, ",<");
    if (exact != NULL || first == NULL) {
        const char *label = exact != NULL ? strstr(exact, of_rocm) : NULL;
        return exact != NULL ? index_for_version(label != NULL ? label + sizeof of_rocm - 1 : exact + 2) : NULL;
    }
    unsigned long lowest = release_at(first + 2, 0),
                  highest = release_at(end != NULL ? end + 2 : NULL, (unsigned long)-1);
    for (size_t i = 0; i < rsdk_index_count; i++) {
        if (strcmp(rsdk_indexes[i].stream, "stable") == 0 && serves(&rsdk_indexes[i], lowest, highest - 1)) {
            return &rsdk_indexes[i];
        }
    }
    return NULL;
}

const rsdk_index_row *rsdk_index_of_today(void) {
    const rsdk_index_row *row = rsdk_indexes;
    while (strcmp(row->stream, "stable") != 0) {
        row++;
    }
    return row;
}

const rsdk_index_row *rsdk_index_for_request(const char *request) {
    if (request == NULL) {
        return rsdk_index_of_today();
    }
    for (size_t i = 0; i < rsdk_index_count; i++) {
        if (strcmp(rsdk_indexes[i].stream, request) == 0) {
            return &rsdk_indexes[i];
        }
    }
    return strncmp(request, ">=", 2) == 0 ? rsdk_index_for_requirement(request) : index_for_version(request);
}

/* Return the target whose packages support a GPU; NULL: not known. */
static const char *owner_at(const rsdk_gpu_list *gpus, size_t index) {
    const char *target = rsdk_gpu_list_get(gpus, index)->real_processor, *owner = NULL;
    return rsdk_target_package_owner(target, &owner, NULL) == RSDK_OK ? owner : NULL;
}

static bool is_first(const rsdk_gpu_list *gpus, size_t index) {
    for (size_t i = 0; i < index; i++) {
        const char *owner = owner_at(gpus, i);
        if (owner != NULL && strcmp(owner, owner_at(gpus, index)) == 0) {
            return false;
        }
    }
    return true;
}

void rsdk_index_add_requirement(rsdk_text *text, bool with_gpus) {
    const char *requirement = rsdk_index_of_today()->requirement;
    const rsdk_gpu_options options = {.root = secure_getenv("ROCM_SDK_ROOTFS"), .targets_only = true};
    rsdk_gpu_list *gpus = NULL;
    size_t extras_end = strcspn(requirement, "]");
    rsdk_text_add(text, "%.*s", (int)extras_end, requirement);
    if (with_gpus && rsdk_gpu_list_new(&options, &gpus, NULL) == RSDK_OK) {
        for (size_t i = 0; i < rsdk_gpu_list_count(gpus); i++) {
            if (owner_at(gpus, i) != NULL && is_first(gpus, i)) {
                rsdk_text_add(text, ",device-%s", owner_at(gpus, i));
            }
        }
    }
    rsdk_gpu_list_free(gpus);
    rsdk_text_add(text, "%s", requirement + extras_end);
}
