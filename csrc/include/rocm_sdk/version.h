/* The version of the loader, of rocm-sdk-build and of rocm-sdk-variant-provider. This is the only place where it is
 * written: each setup.py reads it from here. */
#ifndef ROCM_SDK_VERSION_H
#define ROCM_SDK_VERSION_H

#define RSDK_VERSION "0.1.0"

#endif
