/* The verdict on a library that a survey has come across. */
#ifndef RSDK_DEVICE_CODE_COVERAGE_VERDICT_H
#define RSDK_DEVICE_CODE_COVERAGE_VERDICT_H

#include "device_code/survey.h"

/* Return whether a library is nothing but loose files whose names say nothing of GPUs, as kernels that were compiled
 * ahead: what a package has for one of its GPUs. */
bool rsdk_survey_is_unnamed(const rsdk_surveyed_library *of);

/* Fill in the shown facts of a library. */
rsdk_status rsdk_survey_judge(rsdk_survey *s, rsdk_surveyed_library *of);

#endif
