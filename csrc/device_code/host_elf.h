/* The device code in ELF files of the host: libraries, programs, object files. */
#ifndef RSDK_DEVICE_CODE_HOST_ELF_H
#define RSDK_DEVICE_CODE_HOST_ELF_H

#include "device_code/listing.h"
#include "elf/elf_header.h"

/* Add the device code of an ELF file, which takes the whole extent. A file without device code adds nothing. */
rsdk_status rsdk_host_elf_list(rsdk_listing *listing, const rsdk_extent *extent, const rsdk_elf_header *header);

#endif
