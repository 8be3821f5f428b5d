/* Which index serves a release of ROCm. */
#ifndef RSDK_DIAGNOSIS_INDEX_CHOICE_H
#define RSDK_DIAGNOSIS_INDEX_CHOICE_H

#include "base/text.h"
#include "diagnosis/tables.h"

/* The index of the site's own, which counts in place of the table (ROCM_SDK_INDEX); NULL: none is set. */
const char *rsdk_index_of_site(void);

/* The row that serves a version ("7.10.0", "10.0.0rc1", or a pattern such as "7.*"); NULL: none does. */
const rsdk_index_row *rsdk_index_for_version(const char *version);

/* The row of what is installed where there is no SDK: the newest stable releases. */
const rsdk_index_row *rsdk_index_of_today(void);

/* Adds what a command for a whole SDK asks the index of today for; with_gpus: and the device packages of the GPUs of
 * this machine. */
void rsdk_index_add_requirement(rsdk_text *text, bool with_gpus);

#endif
