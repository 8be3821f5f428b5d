/* The libraries that a survey has come across, the code that they lack, and the files that cannot be read. */
#include "device_code/survey.h"

#include <string.h>

static rsdk_status add_library(rsdk_survey *s, const char *name) {
    rsdk_surveyed_library made = {.shown = {.name = name},
                                  .tallies = rsdk_arena_alloc(s->arena, s->table.modes.count + 1, sizeof *made.tallies),
                                  .databases =
                                      rsdk_arena_alloc(s->arena, s->options->gpu_count + 1, sizeof *made.databases)};
    RSDK_NEED(made.tallies, s->error);
    RSDK_NEED(made.databases, s->error);
    RSDK_TRY(rsdk_name_table_set(&s->places, s->arena, name, strlen(name), s->libraries.count, s->error));
    RSDK_APPEND(s->arena, &s->libraries, made, s->error);
    return RSDK_OK;
}

rsdk_surveyed_library *rsdk_survey_library(rsdk_survey *s, const char *name) {
    size_t place = s->libraries.count;
    if (!rsdk_name_table_find(&s->places, name, strlen(name), &place) && add_library(s, name) != RSDK_OK) {
        return NULL;
    }
    return s->libraries.items != NULL ? &s->libraries.items[place] : NULL;
}

void rsdk_tally_add_lack(rsdk_tally *t, rsdk_coverage_lack lack, const char *detail) {
    if (lack > t->lack) {
        t->lack = lack;
        t->detail = detail;
    }
}

rsdk_status rsdk_survey_add_fault(rsdk_survey *s, const char *path, const rsdk_error *why) {
    rsdk_coverage_fault fault = {.path = path, .message = rsdk_arena_copy(s->arena, rsdk_error_message(why))};
    fault.code = why->code != RSDK_NO_CODE ? why->code : why->status == RSDK_BAD_ELF ? RSDK_E_LIB_006 : RSDK_E_FILE_007;
    RSDK_NEED(fault.message, s->error);
    RSDK_APPEND(s->arena, &s->faults, fault, s->error);
    return RSDK_OK;
}
