/* LLVM's OffloadBinary: records of images, in the section `.llvm.offloading` and in files. */
#ifndef RSDK_DEVICE_CODE_OFFLOAD_BINARY_H
#define RSDK_DEVICE_CODE_OFFLOAD_BINARY_H

#include "device_code/listing.h"

#define RSDK_OFFLOAD_BINARY_MAGIC "\x10\xff\x10\xad"
enum { RSDK_OFFLOAD_BINARY_MAGIC_SIZE = 4 };

/* Add all records of the extent, one behind another. */
rsdk_status rsdk_offload_binary_list_all(rsdk_listing *listing, const rsdk_extent *extent);

#endif
