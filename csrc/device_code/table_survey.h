/* The tables of kernels and databases of an installation, as a survey takes them. */
#ifndef RSDK_DEVICE_CODE_TABLE_SURVEY_H
#define RSDK_DEVICE_CODE_TABLE_SURVEY_H

#include "device_code/code_files.h"
#include "device_code/survey.h"

/* Take a table of kernels: an index, or a list of targets. Note the tables that indexes lead to before. */
rsdk_status rsdk_survey_take_tables(rsdk_survey *s, const rsdk_code_file *file);
rsdk_status rsdk_survey_note_table(rsdk_survey *s, const rsdk_code_file *file);

/* Take a database of performance, of which only the name counts. */
rsdk_status rsdk_survey_take_database(rsdk_survey *s, const rsdk_code_file *file);

#endif
