/* The list of warnings. */
#include "loader/warnings.h"

#include <stdarg.h>
#include <string.h>

rsdk_status rsdk_warnings_add(rsdk_warnings *warnings, rsdk_warning_kind kind, rsdk_error *error, const char *format,
                              ...) {
    va_list arguments;
    va_start(arguments, format);
    rsdk_warning warning = {.kind = kind, .text = rsdk_arena_format_list(warnings->arena, format, arguments)};
    va_end(arguments);
    RSDK_NEED(warning.text, error);
    size_t length = strlen(warning.text), place = warnings->list.count;
    if (rsdk_name_table_find(&warnings->texts, warning.text, length, &place)) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_name_table_set(&warnings->texts, warnings->arena, warning.text, length, place, error));
    RSDK_APPEND(warnings->arena, &warnings->list, warning, error);
    return RSDK_OK;
}
