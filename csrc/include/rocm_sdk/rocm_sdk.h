/* The whole public C interface. Flags to compile and link with: `pkg-config --cflags --libs rocm-sdk`. */
#ifndef ROCM_SDK_ROCM_SDK_H
#define ROCM_SDK_ROCM_SDK_H

#include "rocm_sdk/bindings.h"      /* IWYU pragma: export */
#include "rocm_sdk/compatibility.h" /* IWYU pragma: export */
#include "rocm_sdk/coverage.h"      /* IWYU pragma: export */
#include "rocm_sdk/device_code.h"   /* IWYU pragma: export */
#include "rocm_sdk/error.h"         /* IWYU pragma: export */
#include "rocm_sdk/gpu.h"           /* IWYU pragma: export */
#include "rocm_sdk/loader.h"        /* IWYU pragma: export */
#include "rocm_sdk/problem.h"       /* IWYU pragma: export */
#include "rocm_sdk/python_path.h"   /* IWYU pragma: export */
#include "rocm_sdk/report.h"        /* IWYU pragma: export */
#include "rocm_sdk/sdk.h"           /* IWYU pragma: export */
#include "rocm_sdk/version.h"       /* IWYU pragma: export */

#endif
