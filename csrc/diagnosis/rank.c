/* The reader of launchers' variables, and of patterns for names of files. */
#include "diagnosis/rank.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

/* The variables of launchers: the number of the task, and the number of tasks; NULL: the launcher does not say. */
static const struct {
    const char *task, *tasks;
} launchers[] = {
    {"SLURM_PROCID", "SLURM_NTASKS"},                 /* Slurm */
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},              /* Flux */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI */
    {"PMIX_RANK", NULL},                              /* PRRTE, Open MPI 5 */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
};

/* Return the value of a variable; NULL: the variable is not set, or empty. */
static const char *value_of(const char *const *environment, const char *name) {
    size_t length = strlen(name);
    for (; environment != NULL && *environment != NULL; environment++) {
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
            const char *value = *environment + length + 1;
            return *value != '\0' ? value : NULL;
        }
    }
    return NULL;
}

void rsdk_rank_read(const char *const *environment, rsdk_rank *rank) {
    *rank = (rsdk_rank){.process = getpid()};
    (void)uname(&rank->system); /* uname fails for a bad address alone */
    rank->node = value_of(environment, "SLURMD_NODENAME");
    rank->node = rank->node != NULL ? rank->node : rank->system.nodename;
    for (size_t i = 0; rank->task == NULL && i < sizeof launchers / sizeof *launchers; i++) {
        rank->task = value_of(environment, launchers[i].task);
        rank->tasks =
            rank->task != NULL && launchers[i].tasks != NULL ? value_of(environment, launchers[i].tasks) : NULL;
    }
    rank->task = rank->task != NULL ? rank->task : "0";
}

/* Add a value as a part of a name, which leads to no other directory. */
static void add_part(rsdk_text *text, const char *value) {
    bool is_directory = strcmp(value, ".") == 0 || strcmp(value, "..") == 0;
    rsdk_text_add(text, "%s", is_directory ? "_" : "");
    for (const char *c = value; *c != '\0'; c++) {
        rsdk_text_add(text, "%c", *c == '/' ? '_' : *c);
    }
}

/* Fill in a pattern; return the letter that stands for nothing; '\0': none does. */
static char fill_in(const rsdk_rank *rank, const char *pattern, rsdk_text *text) {
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '%') {
            rsdk_text_add(text, "%c", *c);
            continue;
        }
        c++;
        switch (*c) {
        case 'h':
            add_part(text, rank->system.nodename);
            break;
        case 'n':
            add_part(text, rank->node);
            break;
        case 't':
            add_part(text, rank->task);
            break;
        case 'p':
            rsdk_text_add(text, "%ld", (long)rank->process);
            break;
        case '%':
            rsdk_text_add(text, "%%");
            break;
        case '\0':
            return '%';
        default:
            return *c;
        }
    }
    return '\0';
}

rsdk_status rsdk_rank_fill_in(const rsdk_rank *rank, const char *pattern, rsdk_arena *arena, const char **name,
                              rsdk_error *error) {
    rsdk_text text = RSDK_TEXT_INIT;
    char wrong = fill_in(rank, pattern, &text);
    *name = wrong == '\0' && !text.failed ? rsdk_arena_copy(arena, rsdk_text_get(&text)) : NULL;
    rsdk_text_clear(&text);
    if (wrong != '\0') {
        return rsdk_fail(error, RSDK_BAD_ARGUMENT, NULL, "%%%c stands for nothing; %%h, %%n, %%t, %%p and %%%% do",
                         wrong);
    }
    return *name != NULL ? RSDK_OK : rsdk_fail_no_memory(error);
}
