/* The plan, as the preloader sees it: the public steps, and the graph behind them. */
#ifndef RSDK_LOADER_PLAN_H
#define RSDK_LOADER_PLAN_H

#include "loader/planned.h"

/* Return the mode in which the step opens its library. */
int rsdk_planned_step_mode(const rsdk_planned_step *step);

/* The purpose of a plan. */
enum {
    RSDK_PLAN_ASKS_LINKER = 1,   /* the plan also looks for files outside the SDK */
    RSDK_PLAN_KEEPS_SYMBOLS = 2, /* the plan's files are read with their symbols */
    RSDK_PLAN_OF_INSTALLED = 4,  /* instead of shortnames: all libraries that are installed */
    RSDK_PLAN_TO_LOAD = 8,       /* the plan's files are read ahead, until the reader is stopped; `options` stay */
    RSDK_PLAN_OF_COMMAND = 16,   /* the plan is for this process as it was when it had loaded this library */
};

rsdk_status rsdk_plan_make(rsdk_sdk *sdk, const rsdk_load_options *options, unsigned purpose, rsdk_plan **plan,
                           rsdk_error *error);

#endif
