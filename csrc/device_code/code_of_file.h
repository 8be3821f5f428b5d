/* The code of a file that is open already. */
#ifndef RSDK_DEVICE_CODE_CODE_OF_FILE_H
#define RSDK_DEVICE_CODE_CODE_OF_FILE_H

#include "base/file.h"
#include "rocm_sdk/device_code.h"

/* Read the code as rsdk_device_code_read does. */
rsdk_status rsdk_code_of_file(const rsdk_file *file, rsdk_device_code **code, rsdk_error *error);

#endif
