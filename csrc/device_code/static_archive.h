/* Static archives: the device code of their members. */
#ifndef RSDK_DEVICE_CODE_STATIC_ARCHIVE_H
#define RSDK_DEVICE_CODE_STATIC_ARCHIVE_H

#include "device_code/listing.h"

#define RSDK_STATIC_ARCHIVE_MAGIC "!<arch>\n"
enum { RSDK_STATIC_ARCHIVE_MAGIC_SIZE = 8 };

/* Add the code of the members. */
rsdk_status rsdk_static_archive_list(rsdk_listing *listing, const rsdk_extent *extent);

#endif
