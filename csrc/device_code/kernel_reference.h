/* The marker of a library whose code was moved to kpack archives: `.rocm_kpack_ref`. */
#ifndef RSDK_DEVICE_CODE_KERNEL_REFERENCE_H
#define RSDK_DEVICE_CODE_KERNEL_REFERENCE_H

#include "device_code/listing.h"

/* Fill listing->kernels. The extent is the section, which may be longer than the marker. */
rsdk_status rsdk_kernel_reference_read(rsdk_listing *listing, const rsdk_extent *extent);

#endif
