/* Warnings for the user, shown after loading. Each sentence is kept once. */
#ifndef RSDK_LOADER_WARNINGS_H
#define RSDK_LOADER_WARNINGS_H

#include "base/name_table.h"
#include "rocm_sdk/loader.h"

typedef struct rsdk_warnings {
    rsdk_arena *arena; /* borrowed; the texts live in it */
    RSDK_LIST(rsdk_warning) list;
    rsdk_name_table texts; /* the texts of the list */
} rsdk_warnings;

rsdk_status rsdk_warnings_add(rsdk_warnings *warnings, rsdk_warning_kind kind, rsdk_error *error, const char *format,
                              ...) __attribute__((format(printf, 4, 5)));

#endif
