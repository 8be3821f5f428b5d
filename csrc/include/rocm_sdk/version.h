/* The version of the loader itself, the only place where it is written (setup.py reads it from here). */
#ifndef ROCM_SDK_VERSION_H
#define ROCM_SDK_VERSION_H

#define RSDK_VERSION "0.1.0"

#endif
