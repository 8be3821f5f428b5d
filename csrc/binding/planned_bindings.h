/* Bindings and the plan behind them, which have looked at each file once. */
#ifndef RSDK_BINDING_PLANNED_BINDINGS_H
#define RSDK_BINDING_PLANNED_BINDINGS_H

#include "loader/plan.h"
#include "rocm_sdk/bindings.h"

/* Read bindings as rsdk_bindings_read does, with a plan for `purpose` (plan.h). */
rsdk_status rsdk_bindings_make(rsdk_sdk *sdk, const rsdk_load_options *options, unsigned purpose,
                               const rsdk_opening *openings, size_t opening_count, rsdk_bindings **bindings,
                               rsdk_error *error);

/* Return the plan, which lives as long as the bindings; NULL where they have none. */
const rsdk_plan *rsdk_bindings_plan(const rsdk_bindings *bindings);

#endif
