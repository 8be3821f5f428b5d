/* The variables that make a process see only some of the GPUs. The choice of the variables of the environment is never
 * widened: a GPU without a number of HIP's is not there. Numbers are written, not UUIDs: several GPUs may share one, or
 * have none. */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "gpu/gpu_list.h"
#include "gpu/shown_input.h"
#include "gpu/visibility.h"

typedef struct chooser {
    rsdk_gpu_list *list;
    rsdk_arena *arena;
    const rsdk_gpu_environment *environment;
    const rsdk_gpu_selection *selection;
    const rsdk_gpu **visible; /* in HIP's order */
    size_t visible_count;
    const rsdk_gpu **chosen; /* each once, in the order in which they were named */
    size_t chosen_count;
} chooser;

/* A part of the selection. */
typedef struct word {
    const char *start;
    size_t length;
} word;

static bool is_word(word w, const char *text) {
    return strlen(text) == w.length && memcmp(text, w.start, w.length) == 0;
}

/* Return the word without the blanks around it. */
static word trimmed(word w) {
    static const char blanks[] = " \t\r\n";
    while (w.length > 0 && strchr(blanks, *w.start) != NULL) {
        w.start++;
        w.length--;
    }
    while (w.length > 0 && strchr(blanks, w.start[w.length - 1]) != NULL) {
        w.length--;
    }
    return w;
}

/* ---- what a word stands for ---- */

static bool is_chosen(const chooser *c, const rsdk_gpu *gpu) {
    for (size_t i = 0; i < c->chosen_count; i++) {
        if (c->chosen[i] == gpu) {
            return true;
        }
    }
    return false;
}

static void choose(chooser *c, const rsdk_gpu *gpu) {
    if (!is_chosen(c, gpu)) {
        c->chosen[c->chosen_count++] = gpu;
    }
}

typedef bool (*gpu_filter)(const chooser *c, const rsdk_gpu *gpu);

static bool is_discrete(const chooser *c, const rsdk_gpu *gpu) {
    (void)c;
    return gpu->gpu_class != RSDK_GPU_INTEGRATED;
}

static bool is_integrated(const chooser *c, const rsdk_gpu *gpu) {
    return !is_discrete(c, gpu);
}

static bool is_supported(const chooser *c, const rsdk_gpu *gpu) {
    for (const char *const *target = c->selection->supported; target != NULL && *target != NULL; target++) {
        if (strcmp(*target, gpu->target) == 0 || strcmp(*target, gpu->processor) == 0) {
            return true;
        }
    }
    return false;
}

static const struct {
    const char *name;
    gpu_filter filter;
} kinds[] = {{"discrete", is_discrete}, {"integrated", is_integrated}, {"supported", is_supported}};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* Describe the GPUs that HIP can see, for messages: "HIP sees 0 (gfx1100), 1 (gfx1036)", or the reason why the first
 * GPU is not seen. */
static const char *describe_visible(const chooser *c) {
    rsdk_text text = RSDK_TEXT_INIT;
    const rsdk_gpu *first = rsdk_gpu_list_get(c->list, 0);
    if (c->visible_count == 0) {
        rsdk_text_add(&text, "HIP sees no GPU%s%s", first != NULL && first->why_not != NULL ? ": " : "",
                      first != NULL && first->why_not != NULL ? first->why_not : "");
    }
    for (size_t i = 0; i < c->visible_count; i++) {
        const rsdk_gpu *gpu = c->visible[i];
        rsdk_text_add(&text, "%s%zu (%s, %s)", i == 0 ? "HIP sees " : ", ", i, gpu->processor,
                      rsdk_gpu_class_name(gpu->gpu_class));
    }
    const char *copy = text.failed ? NULL : rsdk_arena_copy(c->arena, rsdk_text_get(&text));
    rsdk_text_clear(&text);
    return copy;
}

/* Report a word that does not fit. `what` names the fault of the word; NULL: the whole selection chooses nothing. */
static rsdk_status fail_choice(const chooser *c, word w, const char *what, rsdk_error *error) {
    rsdk_shown_input shown = rsdk_shown_input_make(w.start, w.length);
    const char *visible = describe_visible(c);
    RSDK_NEED(visible, error);
    const char *detail =
        what != NULL ? rsdk_arena_format(c->arena, "\"%s\" %s; %s", shown.text, what, visible) : visible;
    RSDK_NEED(detail, error);
    return rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_GPU_008, NULL,
                        RSDK_FACTS({"selection", shown.text}, {"detail", detail}), "no GPU is chosen by \"%s\": %s",
                        shown.text, detail);
}

/* Choose a GPU by its UUID in full, upper or lower case: only if exactly one GPU has it. GPUs without serial number
 * share "GPU-XX". */
static rsdk_status choose_uuid(chooser *c, word w, rsdk_error *error) {
    const rsdk_gpu *found = NULL;
    size_t hits = 0;
    for (size_t i = 0; i < c->visible_count; i++) {
        char uuid[RSDK_UUID_SIZE];
        rsdk_visibility_format_uuid(c->visible[i]->unique_id, uuid);
        if (c->visible[i]->unique_id != 0 && strlen(uuid) == w.length && strncasecmp(uuid, w.start, w.length) == 0) {
            found = c->visible[i];
            hits++;
        }
    }
    if (hits != 1) {
        return fail_choice(c, w, hits == 0 ? "is the UUID of no GPU" : "is the UUID of several GPUs", error);
    }
    choose(c, found);
    return RSDK_OK;
}

/* Choose by a target or family: the GPUs that are of it, or that ROCm presents as such. A name that the tables do not
 * know may still be the processor of a visible GPU. */
static rsdk_status choose_target(chooser *c, word w, rsdk_error *error) {
    bool is_name = false;
    for (size_t i = 0; i < c->visible_count; i++) {
        if (is_word(w, c->visible[i]->processor) || is_word(w, c->visible[i]->real_processor)) {
            choose(c, c->visible[i]);
            is_name = true;
        }
    }
    const rsdk_target **targets = rsdk_arena_alloc(c->arena, rsdk_target_count(), sizeof(const rsdk_target *));
    const char *name = rsdk_arena_copy_bytes(c->arena, w.start, w.length);
    size_t count = 0;
    RSDK_NEED(targets, error);
    RSDK_NEED(name, error);
    if (!is_name) {
        RSDK_TRY(rsdk_target_expand(name, targets, &count, error));
    }
    for (size_t i = 0; i < c->visible_count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (strcmp(targets[j]->name, c->visible[i]->processor) == 0 ||
                strcmp(targets[j]->name, c->visible[i]->real_processor) == 0) {
                choose(c, c->visible[i]);
            }
        }
    }
    return RSDK_OK;
}

static rsdk_status choose_word(chooser *c, word w, rsdk_error *error) {
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        if (is_word(w, kinds[kind].name)) {
            for (size_t i = 0; i < c->visible_count; i++) {
                if (kinds[kind].filter(c, c->visible[i])) {
                    choose(c, c->visible[i]);
                }
            }
            return RSDK_OK;
        }
    }
    if (w.length == 0) {
        return fail_choice(c, w, "is empty", error);
    }
    if (strspn(w.start, "0123456789") >= w.length) {
        size_t number = 0;
        for (size_t i = 0; i < w.length && number < c->visible_count; i++) {
            number = number * 10 + (size_t)(w.start[i] - '0');
        }
        if (number >= c->visible_count) {
            return fail_choice(c, w, "is not the number of a GPU", error);
        }
        choose(c, c->visible[number]);
        return RSDK_OK;
    }
    return w.length > 4 && strncasecmp(w.start, "GPU-", 4) == 0 ? choose_uuid(c, w, error) : choose_target(c, w, error);
}

/* ---- the variables ---- */

/* Return the number of a GPU among the GPUs that ROCm opens, whatever the variables say. */
static size_t kernel_index(const chooser *c, const rsdk_gpu *wanted) {
    size_t index = 0;
    for (size_t i = 0; rsdk_gpu_list_get(c->list, i) != wanted; i++) {
        index += rsdk_gpu_list_get(c->list, i)->hsa_node >= 0;
    }
    return index;
}

static const char *write_chosen(const chooser *c) {
    rsdk_text text = RSDK_TEXT_INIT;
    for (size_t i = 0; i < c->chosen_count; i++) {
        bool is_hip = c->selection->layer == RSDK_GPU_LAYER_HIP;
        size_t index = is_hip ? (size_t)c->chosen[i]->rocr_index : kernel_index(c, c->chosen[i]);
        rsdk_text_add(&text, "%s%zu", i > 0 ? "," : "", index);
    }
    const char *copy = text.failed ? NULL : rsdk_arena_copy(c->arena, rsdk_text_get(&text));
    rsdk_text_clear(&text);
    return copy;
}

static rsdk_status write_variables(const chooser *c, rsdk_gpu_variable *variables, size_t *count, rsdk_error *error) {
    const rsdk_gpu_environment *e = c->environment;
    bool is_hip = c->selection->layer == RSDK_GPU_LAYER_HIP;
    const char *value = write_chosen(c);
    RSDK_NEED(value, error);
    variables[(*count)++] = (rsdk_gpu_variable){is_hip ? "HIP_VISIBLE_DEVICES" : "ROCR_VISIBLE_DEVICES", value};
    if (is_hip) {
        return RSDK_OK;
    }
    if (e->hip_visible_devices != NULL) {
        variables[(*count)++] = (rsdk_gpu_variable){"HIP_VISIBLE_DEVICES", NULL};
    }
    if (e->cuda_visible_devices != NULL) {
        variables[(*count)++] = (rsdk_gpu_variable){"CUDA_VISIBLE_DEVICES", NULL};
    }
    if (e->gpu_device_ordinal != NULL && e->gpu_device_ordinal[0] != '\0') {
        /* Write the value of GPU_DEVICE_ORDINAL, which counts the GPUs that ROCR_VISIBLE_DEVICES leaves, in its order
         * and counted anew. */
        rsdk_text ordinals = RSDK_TEXT_INIT;
        for (int opencl = 0; (size_t)opencl < rsdk_gpu_list_count(c->list); opencl++) {
            for (size_t i = 0; i < c->chosen_count; i++) {
                if (c->chosen[i]->opencl_index == opencl) {
                    rsdk_text_add(&ordinals, "%s%zu", ordinals.length > 0 ? "," : "", i);
                }
            }
        }
        const char *ordinal =
            ordinals.failed ? NULL : rsdk_arena_copy(c->arena, ordinals.length > 0 ? ordinals.data : "-1");
        rsdk_text_clear(&ordinals);
        RSDK_NEED(ordinal, error);
        variables[(*count)++] = (rsdk_gpu_variable){"GPU_DEVICE_ORDINAL", ordinal};
    }
    return RSDK_OK;
}

rsdk_status rsdk_gpu_list_choose(rsdk_gpu_list *list, const rsdk_gpu_environment *environment,
                                 const rsdk_gpu_selection *selection, rsdk_gpu_variable *variables, size_t *count,
                                 rsdk_error *error) {
    static const rsdk_gpu_environment nothing_set = {0};
    size_t gpu_count = rsdk_gpu_list_count(list);
    chooser c = {.list = list, .arena = rsdk_gpu_list_arena(list), .selection = selection};
    *count = 0;
    c.environment = environment != NULL ? environment : &nothing_set;
    c.visible = rsdk_arena_alloc(c.arena, gpu_count + 1, sizeof(const rsdk_gpu *));
    c.chosen = rsdk_arena_alloc(c.arena, gpu_count + 1, sizeof(const rsdk_gpu *));
    RSDK_NEED(c.visible, error);
    RSDK_NEED(c.chosen, error);
    for (size_t i = 0; i < gpu_count; i++) {
        const rsdk_gpu *gpu = rsdk_gpu_list_get(list, i);
        if (gpu->hip_index >= 0) {
            c.visible[gpu->hip_index] = gpu;
            c.visible_count++;
        }
    }
    const char *words = c.selection->words != NULL ? c.selection->words : "";
    for (const char *at = words;;) {
        size_t length = strcspn(at, ",");
        RSDK_TRY(choose_word(&c, trimmed((word){at, length}), error));
        if (at[length] == '\0') {
            break;
        }
        at += length + 1;
    }
    RSDK_TRY(c.chosen_count > 0 ? RSDK_OK : fail_choice(&c, (word){words, strlen(words)}, NULL, error));
    return write_variables(&c, variables, count, error);
}
