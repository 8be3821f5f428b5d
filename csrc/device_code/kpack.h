/* kpack archives: the kernels of libraries without code of their own. */
#ifndef RSDK_DEVICE_CODE_KPACK_H
#define RSDK_DEVICE_CODE_KPACK_H

#include "device_code/listing.h"

#define RSDK_KPACK_MAGIC "KPAK"
enum { RSDK_KPACK_MAGIC_SIZE = 4 };

/* Add the archive as one bundle, whose images are named by their keys ("lib/libx.so.1#0"). */
rsdk_status rsdk_kpack_list(rsdk_listing *listing, const rsdk_extent *extent);

#endif
