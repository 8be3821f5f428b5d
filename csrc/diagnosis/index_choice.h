/* The choice of the index that serves a release of ROCm. */
#ifndef RSDK_DIAGNOSIS_INDEX_CHOICE_H
#define RSDK_DIAGNOSIS_INDEX_CHOICE_H

#include <stdbool.h>

#include "base/text.h"
#include "diagnosis/tables.h"

/* Return the site's own index, which replaces the table (ROCM_SDK_INDEX); NULL: not set. */
const char *rsdk_index_of_site(void);

/* Return whether a requirement names a version ("rocm==7.10.0") or a range ("rocm>=7.0,<7.15"). */
bool rsdk_requirement_has_version(const char *requirement);

/* Return the row that serves a requirement: for a range the newest stable releases in it; NULL: none does. */
const rsdk_index_row *rsdk_index_for_requirement(const char *requirement);

/* Return the row for a user's request: NULL for today's row, a stream ("nightly"), a version or a range (">=7.0,<7.15")
 * as above; NULL: none. */
const rsdk_index_row *rsdk_index_for_request(const char *request);

/* Return the row for a new installation: the newest stable releases. */
const rsdk_index_row *rsdk_index_of_today(void);

/* Add the requirement of a command that installs a whole SDK from today's index; with_gpus: with the device packages
 * for the GPUs of this machine. */
void rsdk_index_add_requirement(rsdk_text *text, bool with_gpus);

#endif
