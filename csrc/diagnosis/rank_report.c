/* The report of a rank. The schema number is the number of `rocm-sdk test --json`, whose keys the report shares. */
#include <string.h>

#include "base/fail.h"
#include "base/new_file.h"
#include "base/text.h"
#include "diagnosis/rank.h"
#include "diagnosis/tables.h"
#include "loader/link_map.h"
#include "rocm_sdk/problem.h"
#include "rocm_sdk/report.h"

static const char schema[] = "3";

/* ---- variables ---- */

static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
static const char *const reported_beginnings[] = {"ROCM", "ROCR", "HIP",    "HSA", "CUDA_VISIBLE",
                                                  "GPU_", "LD_",  "PYTHON", "OCL", "AMD"};

static bool is_named(const char *name, const char *row) {
    const size_t length = strlen(row);
    return row[length - 1] == '*' ? strncmp(name, row, length - 1) == 0 : strcmp(name, row) == 0;
}

bool rsdk_report_shows_variable(const char *name) {
    bool result = false;
    for (size_t i = 0; !result && i < rsdk_shown_variable_count; i++) {
        result = is_named(name, rsdk_shown_variables[i]);
    }
    for (size_t i = 0; !result && i < rsdk_inherited_variable_count; i++) {
        result = is_named(name, rsdk_inherited_variables[i].name);
    }
    return result;
}

bool rsdk_report_has_variable(const char *name) {
    for (size_t i = 0; i < sizeof reported_beginnings / sizeof *reported_beginnings; i++) {
        size_t length = strlen(reported_beginnings[i]);
        if (strncmp(name, reported_beginnings[i], length) == 0) {
            return name[length + strspn(name + length, word)] == '\0';
        }
    }
    return rsdk_report_shows_variable(name);
}

static rsdk_status add_environment(rsdk_text *text, const char *const *environment, rsdk_arena *arena,
                                   rsdk_error *error) {
    const char *separator = "";
    rsdk_text_add(text, "{");
    for (; environment != NULL && *environment != NULL; environment++) {
        const char *equals = strchr(*environment, '=');
        char *name = equals != NULL ? rsdk_arena_copy_bytes(arena, *environment, (size_t)(equals - *environment)) : "";
        RSDK_NEED(name, error);
        if (rsdk_report_has_variable(name)) {
            rsdk_text_add(text, "%s", separator);
            rsdk_text_add_json(text, name);
            rsdk_text_add(text, ": ");
            rsdk_text_add_json(text, rsdk_report_shows_variable(name) ? equals + 1 : NULL);
            separator = ", ";
        }
    }
    rsdk_text_add(text, "}");
    return RSDK_OK;
}

/* ---- the document ---- */

static void add_member(rsdk_text *text, const char *before, const char *key, const char *value) {
    rsdk_text_add(text, "%s\"%s\": ", before, key);
    rsdk_text_add_json(text, value);
}

static rsdk_status add_libraries(rsdk_text *text, const rsdk_loaded *loaded, rsdk_arena *arena, rsdk_error *error) {
    rsdk_loaded_file *files = NULL;
    size_t count = 0;
    if (loaded != NULL) {
        RSDK_TRY(rsdk_loaded_files_read(loaded, arena, &files, &count, error));
    }
    rsdk_text_add(text, ",\n  \"libraries\": [");
    for (size_t i = 0; i < count; i++) {
        add_member(text, i > 0 ? ",\n    {" : "\n    {", "name", files[i].name);
        add_member(text, ", ", "shortname", files[i].shortname);
        add_member(text, ", ", "path", files[i].path);
        add_member(text, ", ", "build_id", files[i].build_id);
        rsdk_text_add(text, "}");
    }
    rsdk_text_add(text, "]");
    return RSDK_OK;
}

static double seconds_of(const rsdk_loaded *loaded) {
    double seconds = 0;
    for (size_t i = 0; loaded != NULL && i < rsdk_loaded_count(loaded); i++) {
        seconds += rsdk_loaded_library(loaded, i)->seconds;
    }
    return seconds;
}

static rsdk_status add_problems(rsdk_text *text, rsdk_sdk *sdk, const rsdk_error *failure, rsdk_error *error) {
    rsdk_text_add(text, ",\n  \"problems\": [");
    if (failure != NULL) {
        rsdk_problem *problem = NULL;
        if (rsdk_problem_of_error(failure, sdk, NULL, &problem) != RSDK_OK) {
            return rsdk_fail_no_memory(error);
        }
        add_member(text, "{", "code", problem->code);
        add_member(text, ", ", "severity", "error");
        add_member(text, ", ", "title", problem->title);
        add_member(text, ", ", "cause", problem->cause);
        add_member(text, ", ", "path", problem->path);
        rsdk_text_add(text, "}");
        rsdk_problem_free(problem);
    }
    rsdk_text_add(text, "]");
    return RSDK_OK;
}

/* ---- the file ---- */

static rsdk_status write_report(const rsdk_report_options *options, rsdk_sdk *sdk, const rsdk_loaded *loaded,
                                const rsdk_error *failure, rsdk_arena *arena, rsdk_text *text, rsdk_error *error) {
    rsdk_rank rank;
    const char *path = NULL;
    rsdk_rank_read(options->environment, &rank);
    RSDK_TRY(rsdk_rank_fill_in(&rank, options->file, arena, &path, error));
    rsdk_text_add(text, "{\n  \"schema\": %s,\n  \"of\": \"rank\"", schema);
    add_member(text, ",\n  ", "version", sdk != NULL ? rsdk_sdk_version(sdk) : NULL);
    rsdk_text_add(text, ",\n  \"microseconds\": %.0f", seconds_of(loaded) * 1e6); /* no point of the locale */
    rsdk_text_add(text, ",\n  \"node\": {");
    add_member(text, "", "host", rank.system.nodename);
    add_member(text, ", ", "name", rank.node);
    add_member(text, ", ", "task", rank.task);
    add_member(text, ", ", "tasks", rank.tasks);
    add_member(text, ", ", "kernel", rank.system.release);
    rsdk_text_add(text, ",\n    \"environment\": ");
    RSDK_TRY(add_environment(text, options->environment, arena, error));
    rsdk_text_add(text, "}");
    RSDK_TRY(add_libraries(text, loaded, arena, error));
    RSDK_TRY(add_problems(text, sdk, failure, error));
    rsdk_text_add(text, "\n}\n");
    RSDK_TRY(text->failed ? rsdk_fail_no_memory(error) : RSDK_OK);
    return rsdk_new_file_write(path, text->data, text->length, false, error);
}

rsdk_status rsdk_report_write(const rsdk_report_options *options, rsdk_sdk *sdk, const rsdk_loaded *loaded,
                              const rsdk_error *failure, rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_text text = RSDK_TEXT_INIT;
    rsdk_status status = write_report(options, sdk, loaded, failure, &arena, &text, error);
    rsdk_text_clear(&text);
    rsdk_arena_clear(&arena);
    return status;
}
