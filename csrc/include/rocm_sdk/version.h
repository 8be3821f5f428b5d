/* The version of the loader, of rocm-sdk-build and of rocm-sdk-variant-provider. The version is written here alone:
 * each setup.py reads it from this file. */
#ifndef ROCM_SDK_VERSION_H
#define ROCM_SDK_VERSION_H

#define RSDK_VERSION "0.1.0"

#endif
