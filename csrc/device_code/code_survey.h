/* The code of an installation, as a survey takes it. */
#ifndef RSDK_DEVICE_CODE_CODE_SURVEY_H
#define RSDK_DEVICE_CODE_CODE_SURVEY_H

#include "device_code/code_files.h"
#include "device_code/survey.h"

/* Take a file with code: a library, a loose file, an archive. */
rsdk_status rsdk_survey_take_code(rsdk_survey *s, const rsdk_code_file *file);

#endif
