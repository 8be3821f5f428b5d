/* Reading attributes for the checks, and adding their findings. */
#include "gpu/examiner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "gpu/attribute.h"
#include "gpu/properties.h"

const char *rsdk_examiner_write(rsdk_examiner *x, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = rsdk_arena_format_list(&x->health->arena, format, arguments);
    va_end(arguments);
    x->is_out_of_memory |= text == NULL;
    return text;
}

/* ---- items ---- */

rsdk_status rsdk_examiner_add(rsdk_examiner *x, rsdk_health_state state, const char *text,
                              const rsdk_gpu_problem *problem, rsdk_error *error) {
    RSDK_NEED(text, error);
    const rsdk_health_item item = {.check = x->check,
                                   .node = x->gpu != NULL ? (int)x->gpu->node : RSDK_NO_NODE,
                                   .state = state,
                                   .text = text,
                                   .problem = problem};
    RSDK_APPEND(&x->health->arena, &x->health->items, item, error);
    return RSDK_OK;
}

rsdk_status rsdk_examiner_add_bad(rsdk_examiner *x, rsdk_code code, const char *path, const char *text,
                                  const rsdk_fact *facts, rsdk_error *error) {
    rsdk_problem_list list = {.arena = &x->health->arena};
    const rsdk_gpu_problem problem = {
        .code = code, .node = x->gpu != NULL ? (int)x->gpu->node : RSDK_NO_NODE, .path = path, .detail = text};
    RSDK_TRY(rsdk_problem_list_add(&list, problem, facts, error));
    return rsdk_examiner_add(x, RSDK_HEALTH_BAD, text, &list.problems.items[0], error);
}

/* ---- attributes ---- */

int rsdk_examiner_read(rsdk_examiner *x, const char *directory, const char *name, const char **path) {
    *path = rsdk_examiner_write(x, "%s/%s", directory, name);
    return *path != NULL ? rsdk_attribute_read(AT_FDCWD, *path, x->text, sizeof x->text, &x->length) : ENOMEM;
}

bool rsdk_examiner_read_number(rsdk_examiner *x, const char *directory, const char *name, uint64_t *number) {
    const char *path = NULL;
    return rsdk_examiner_read(x, directory, name, &path) == 0 &&
           rsdk_properties_parse_number(path, x->text, x->length, number, NULL) == RSDK_OK;
}

void rsdk_examiner_cut_line(rsdk_examiner *x) {
    x->length = strcspn(x->text, "\n");
    x->text[x->length] = '\0';
}
