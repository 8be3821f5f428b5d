/* The part of a code's page that a problem does not have: the fixes of all systems. */
#ifndef RSDK_DIAGNOSIS_PAGE_H
#define RSDK_DIAGNOSIS_PAGE_H

#include "base/arena.h"
#include "diagnosis/tables.h"

/* Return the text of a fix with words in place of facts. */
rsdk_status rsdk_problem_fix_in_words(const rsdk_fix_row *fix, rsdk_arena *arena, const char **words);

#endif
