/* The meaning of a reference that binds to one file and not to another. */
#ifndef RSDK_BINDING_BINDING_VERDICT_H
#define RSDK_BINDING_BINDING_VERDICT_H

#include "binding/linker_state.h"
#include "binding/symbol_lookup.h"
#include "rocm_sdk/bindings.h"

typedef struct rsdk_binding_judge {
    rsdk_linker_state *state;   /* borrowed */
    rsdk_object_list *closures; /* the closure of each object, gathered when first asked for */
    const char *ld_preload;     /* the value of LD_PRELOAD; NULL: not set */
} rsdk_binding_judge;

rsdk_status rsdk_binding_judge_init(rsdk_linker_state *state, const char *ld_preload, rsdk_binding_judge *judge,
                                    rsdk_error *error);

/* Judge the reference `symbol` of the object `from`, which binds to `to` (object RSDK_NO_OBJECT: to nothing). Where the
 * reference binds elsewhere, `instead` is the definition that the library alone would have bound to. */
rsdk_status rsdk_binding_judge_reference(rsdk_binding_judge *judge, size_t from, uint32_t symbol,
                                         rsdk_elf_reference_kind kind, rsdk_definition to, rsdk_definition *instead,
                                         rsdk_binding_verdict *verdict, rsdk_error *error);

#endif
