/* Look-ups in the tables of targets and families: by name, number and family, and the names that resemble one. */
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "base/text.h"
#include "gpu/shown_input.h"
#include "gpu/tables.h"
#include "gpu/targets.h"

size_t rsdk_target_count(void) {
    return rsdk_target_table_size;
}

const rsdk_target *rsdk_target_get(size_t index) {
    return index < rsdk_target_table_size ? &rsdk_target_table[index] : NULL;
}

/* A piece of a longer text. */
typedef struct piece {
    const char *start;
    size_t length;
} piece;

static bool piece_is(piece p, const char *text) {
    return strncmp(p.start, text, p.length) == 0 && text[p.length] == '\0';
}

static const rsdk_target *find_target(piece name) {
    for (size_t i = 0; i < rsdk_target_table_size; i++) {
        if (piece_is(name, rsdk_target_table[i].name)) {
            return &rsdk_target_table[i];
        }
    }
    return NULL;
}

const rsdk_target *rsdk_target_find(const char *name) {
    return find_target((piece){name, strlen(name)});
}

const rsdk_target *rsdk_target_find_version(unsigned major, unsigned minor, unsigned stepping) {
    for (size_t i = 0; i < rsdk_target_table_size; i++) {
        const rsdk_target *target = &rsdk_target_table[i];
        if (target->major == major && target->minor == minor && target->stepping == stepping) {
            return target;
        }
    }
    return NULL;
}

const rsdk_target *rsdk_target_find_mach(unsigned mach) {
    for (size_t i = 0; i < rsdk_target_table_size; i++) {
        if (rsdk_target_table[i].mach == mach) {
            return &rsdk_target_table[i];
        }
    }
    return NULL;
}

size_t rsdk_target_generic_count(void) {
    return rsdk_generic_table_size;
}

const rsdk_generic_target *rsdk_target_generic_get(size_t index) {
    return index < rsdk_generic_table_size ? &rsdk_generic_table[index] : NULL;
}

const rsdk_generic_target *rsdk_target_generic_find(const char *name) {
    for (size_t i = 0; i < rsdk_generic_table_size; i++) {
        if (strcmp(rsdk_generic_table[i].name, name) == 0) {
            return &rsdk_generic_table[i];
        }
    }
    return NULL;
}

/* ---- families ---- */

size_t rsdk_target_family_count(void) {
    return rsdk_family_table_size;
}

const rsdk_target_family *rsdk_target_family_get(size_t index) {
    return index < rsdk_family_table_size ? &rsdk_family_table[index] : NULL;
}

/* Return a character in the same spelling. Names of families differ in these characters only: "gfx94X" and "gfx94x",
 * "gfx9_4" and "gfx9-4" (in package names). */
static char same_spelling(char c) {
    switch (c) {
    case 'X':
        return 'x';
    case '-':
        return '_';
    default:
        return c;
    }
}

static bool is_spelling_of(piece name, const char *family) {
    for (size_t i = 0; i < name.length; i++) {
        if (family[i] == '\0' || same_spelling(name.start[i]) != same_spelling(family[i])) {
            return false;
        }
    }
    return family[name.length] == '\0';
}

static const rsdk_target_family *find_family(piece name) {
    for (size_t i = 0; i < rsdk_family_table_size; i++) {
        const rsdk_target_family *family = &rsdk_family_table[i];
        if (is_spelling_of(name, family->name) || (family->alias != NULL && is_spelling_of(name, family->alias))) {
            return family;
        }
    }
    return NULL;
}

const rsdk_target_family *rsdk_target_family_find(const char *name) {
    return find_family((piece){name, strlen(name)});
}

static bool is_same_name(const char *a, const char *b) {
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool rsdk_target_family_contains(const rsdk_target_family *family, const rsdk_target *target) {
    if (target->families[0] == NULL) {
        return false;
    }
    switch (family->level) {
    case RSDK_FAMILY_OF_HIERARCHY:
        return is_same_name(target->family, family->name);
    case RSDK_SUB_FAMILY:
        return is_same_name(target->sub_family, family->name);
    case RSDK_FAMILY_OF_PACKAGES:
        break;
    }
    for (size_t i = 0; i < RSDK_TARGET_FAMILY_LIMIT && target->families[i] != NULL; i++) {
        if (strcmp(target->families[i], family->name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- unknown names ---- */

enum { NEAREST_LIMIT = 4 };

/* Return the name at an index: targets first, then families. */
static const char *name_at(const void *context, size_t index) {
    (void)context;
    return index < rsdk_target_table_size ? rsdk_target_table[index].name
                                          : rsdk_family_table[index - rsdk_target_table_size].name;
}

size_t rsdk_target_nearest(const char *name, const char *nearest[], size_t limit) {
    const rsdk_name_list list = {.get = name_at, .count = rsdk_target_table_size + rsdk_family_table_size};
    return rsdk_nearest_find(name, &list, nearest, limit);
}

static rsdk_status fail_unknown(const char *name, size_t length, const char *what, rsdk_error *error) {
    rsdk_shown_input shown = rsdk_shown_input_make(name, length);
    const char *nearest[NEAREST_LIMIT];
    rsdk_text near = RSDK_TEXT_INIT;
    size_t count = rsdk_target_nearest(shown.text, nearest, NEAREST_LIMIT);
    for (size_t i = 0; i < count; i++) {
        rsdk_text_add(&near, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", nearest[i]);
    }
    rsdk_status status =
        near.failed ? rsdk_fail_no_memory(error)
                    : rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_GPU_005, NULL, RSDK_FACTS({"near", near.data}),
                                   "\"%s\" is not a known %s", shown.text, what);
    rsdk_text_clear(&near);
    return status;
}

static rsdk_status fail_several(piece name, const char *what, rsdk_text *targets, rsdk_error *error) {
    rsdk_text advice = RSDK_TEXT_INIT;
    rsdk_text_add(&advice, "Name one of its targets: %s", rsdk_text_get(targets));
    rsdk_status status =
        targets->failed || advice.failed
            ? rsdk_fail_no_memory(error)
            : rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_GPU_005, NULL, RSDK_FACTS({"advice", advice.data}),
                           "\"%s\" is a %s", rsdk_shown_input_make(name.start, name.length).text, what);
    rsdk_text_clear(&advice);
    return status;
}

/* Refuse the name of a family where one target is asked for. */
static rsdk_status fail_family(piece name, const rsdk_target_family *family, rsdk_error *error) {
    rsdk_text members = RSDK_TEXT_INIT;
    for (size_t i = 0; i < rsdk_target_table_size; i++) {
        if (rsdk_target_family_contains(family, &rsdk_target_table[i])) {
            rsdk_text_add_item(&members, ", ", rsdk_target_table[i].name);
        }
    }
    rsdk_status status = fail_several(name, "family of targets, not one target", &members, error);
    rsdk_text_clear(&members);
    return status;
}

/* Find the target of a product. `what` says what else the name could have been. */
static rsdk_status find_product(piece name, const char *what, const rsdk_target **target, rsdk_error *error) {
    rsdk_text all = RSDK_TEXT_INIT;
    const size_t count = rsdk_target_find_product(name.start, name.length, target, &all);
    rsdk_status status = count == 1   ? RSDK_OK
                         : count == 0 ? fail_unknown(name.start, name.length, what, error)
                                      : fail_several(name, "product with several targets", &all, error);
    rsdk_text_clear(&all);
    return status;
}

/* ---- what a name stands for ---- */

static void add_once(const rsdk_target *target, const rsdk_target **targets, size_t *count) {
    for (size_t i = 0; i < *count; i++) {
        if (targets[i] == target) {
            return;
        }
    }
    targets[(*count)++] = target;
}

static rsdk_status expand_name(piece name, const rsdk_target **targets, size_t *count, rsdk_error *error) {
    const rsdk_target *single = find_target(name);
    const rsdk_target_family *family = single == NULL ? find_family(name) : NULL;
    if (single == NULL && family == NULL) {
        RSDK_TRY(find_product(name, "GPU target, family or product", &single, error));
    }
    if (single != NULL) {
        add_once(single, targets, count);
        return RSDK_OK;
    }
    for (size_t i = 0; i < rsdk_target_table_size; i++) {
        if (rsdk_target_family_contains(family, &rsdk_target_table[i])) {
            add_once(&rsdk_target_table[i], targets, count);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_target_expand(const char *list, const rsdk_target **targets, size_t *count, rsdk_error *error) {
    static const char blanks[] = " \t\r\n";
    *count = 0;
    for (const char *at = list; *at != '\0';) {
        at += strspn(at, blanks);
        piece name = {at, strcspn(at, ",;")};
        at += name.length + (at[name.length] != '\0');
        while (name.length > 0 && strchr(blanks, name.start[name.length - 1]) != NULL) {
            name.length--;
        }
        if (name.length > 0) {
            RSDK_TRY(expand_name(name, targets, count, error));
        }
    }
    return RSDK_OK;
}

size_t rsdk_target_canonical_length(const char *name) {
    static const char *const features[] = {"xnack", "sramecc"};
    size_t end = strlen(name), next = end;
    do {
        end = next;
        for (size_t i = 0; i < 2; i++) {
            const size_t length = strlen(features[i]) + 2; /* with the signs before and behind it */
            const char *at = end >= length ? name + end - length : NULL;
            if (at != NULL && strchr(":-", at[0]) != NULL && strchr("+-", at[length - 1]) != NULL &&
                strncmp(at + 1, features[i], length - 2) == 0) {
                next = end - length;
            }
        }
    } while (next != end);
    return end;
}

const char *rsdk_target_owner_of_name(const char *name, size_t *length) {
    *length = rsdk_target_canonical_length(name);
    const rsdk_target *found = find_target((piece){name, *length});
    if (found != NULL && found->package_owner != NULL) {
        *length = strlen(found->package_owner);
        return found->package_owner;
    }
    return name;
}

rsdk_status rsdk_target_find_or_fail(const char *name, const rsdk_target **target, rsdk_error *error) {
    const piece base = {name, strcspn(name, ":")};
    const rsdk_target_family *family = find_family(base);
    *target = find_target(base);
    return *target != NULL  ? RSDK_OK
           : family != NULL ? fail_family(base, family, error)
                            : find_product(base, "GPU target", target, error);
}

int rsdk_target_compare(const char *one, const char *other) {
    /* The last two digits are minor version and stepping, so that more digits are a larger number. */
    size_t length = strcspn(one, ":"), other_length = strcspn(other, ":");
    return length != other_length ? (length > other_length) - (length < other_length) : strcmp(one, other);
}

static const rsdk_target *owner_of(const rsdk_target *target) {
    return target->package_owner != NULL ? rsdk_target_find(target->package_owner) : target;
}

rsdk_status rsdk_target_package_owner(const char *target, const char **owner, rsdk_error *error) {
    const rsdk_target *found = NULL;
    *owner = NULL;
    RSDK_TRY(rsdk_target_find_or_fail(target, &found, error));
    *owner = owner_of(found)->name;
    return RSDK_OK;
}

rsdk_status rsdk_target_families_of(const char *target, const char **families, size_t *count, rsdk_error *error) {
    const rsdk_target *found = NULL;
    *count = 0;
    RSDK_TRY(rsdk_target_find_or_fail(target, &found, error));
    found = owner_of(found);
    for (size_t i = 0; i < RSDK_TARGET_FAMILY_LIMIT && found->families[i] != NULL; i++) {
        if (i == 0) {
            families[(*count)++] = found->name;
        }
        families[(*count)++] = found->families[i];
    }
    return RSDK_OK;
}

const char *rsdk_gpu_class_name(rsdk_gpu_class gpu_class) {
    static const char *const names[] = {
        [RSDK_GPU_DISCRETE] = "discrete", [RSDK_GPU_DATA_CENTRE] = "data centre", [RSDK_GPU_INTEGRATED] = "integrated"};
    return names[gpu_class];
}
