/* The codes of what can be wrong, and the facts that go with them. A code keeps its meaning for ever. "E-LIB-002" is
 * RSDK_E_LIB_002; the texts of each are in the table of problems (rocm_sdk/problem.h). */
#ifndef ROCM_SDK_CODE_H
#define ROCM_SDK_CODE_H

/* clang-format off */
typedef enum rsdk_code {
    RSDK_NO_CODE, /* in an rsdk_error: the code of its status */


    RSDK_E_SDK_001,

    RSDK_E_PKG_001,
    RSDK_E_PKG_002,
    RSDK_E_PKG_003,
    RSDK_E_PKG_004,
    RSDK_W_PKG_005,
    RSDK_E_PKG_006,
    RSDK_W_PKG_007,
    RSDK_W_PKG_008,
    RSDK_N_PKG_009,
    RSDK_W_PKG_010,
    RSDK_E_PKG_011,
    RSDK_W_PKG_012,
    RSDK_E_PKG_013,
    RSDK_E_PKG_014,
    RSDK_E_PKG_015,
    RSDK_E_PKG_016,
    RSDK_E_PKG_017,
    RSDK_N_PKG_018,
    RSDK_W_PKG_019,
    RSDK_E_PKG_020,
    RSDK_E_PKG_021,

    RSDK_E_FILE_001,
    RSDK_E_FILE_002,
    RSDK_E_FILE_003,
    RSDK_E_FILE_004,
    RSDK_E_FILE_005,
    RSDK_E_FILE_006,
    RSDK_E_FILE_007,
    RSDK_E_FILE_008,

    RSDK_E_LIB_001,
    RSDK_E_LIB_002,
    RSDK_E_LIB_003,
    RSDK_E_LIB_004,
    RSDK_E_LIB_005,
    RSDK_E_LIB_006,
    RSDK_E_LIB_007,
    RSDK_E_LIB_008,
    RSDK_E_LIB_009,
    RSDK_E_LIB_021,
    RSDK_E_LIB_022,
    RSDK_W_LIB_010,
    RSDK_W_LIB_011,
    RSDK_E_LIB_012,
    RSDK_W_LIB_013,
    RSDK_N_LIB_014,
    RSDK_E_LIB_015,
    RSDK_W_LIB_016,
    RSDK_E_LIB_017,
    RSDK_E_LIB_018,
    RSDK_N_LIB_019,
    RSDK_E_LIB_020,
    RSDK_N_LIB_021,
    RSDK_E_LIB_023,
    RSDK_E_LIB_024,
    RSDK_E_LIB_025,
    RSDK_W_LIB_026,

    RSDK_W_BIND_001,
    RSDK_E_API_001,
    RSDK_E_API_002,
    RSDK_E_API_003,
    RSDK_E_API_004,
    RSDK_E_API_005,

    RSDK_E_TOOL_001,
    RSDK_E_TOOL_002,
    RSDK_E_TOOL_003,
    RSDK_N_TOOL_004,
    RSDK_E_TOOL_005,

    RSDK_W_DEVEL_001,
    RSDK_E_DEVEL_002,
    RSDK_E_DEVEL_003,
    RSDK_E_DEVEL_004,
    RSDK_E_DEVEL_005,
    RSDK_N_DEVEL_006,
    RSDK_W_DEVEL_007,
    RSDK_E_DEVEL_008,
    RSDK_E_DEVEL_009,
    RSDK_E_DEVEL_010,
    RSDK_E_DEVEL_011,
    RSDK_N_DEVEL_012,

    RSDK_E_GPU_002,
    RSDK_E_GPU_003,
    RSDK_E_GPU_004,
    RSDK_E_GPU_005,
    RSDK_E_GPU_006,
    RSDK_E_GPU_007,
    RSDK_E_GPU_008,
    RSDK_W_GPU_010,
    RSDK_N_GPU_011,
    RSDK_W_GPU_012,
    RSDK_W_GPU_013,
    RSDK_W_GPU_014,
    RSDK_W_GPU_015,
    RSDK_W_GPU_016,
    RSDK_W_GPU_017,
    RSDK_W_GPU_018,
    RSDK_W_GPU_019,
    RSDK_W_GPU_020,
    RSDK_W_GPU_021,
    RSDK_W_GPU_022,
    RSDK_W_GPU_023,
    RSDK_W_GPU_024,
    RSDK_W_GPU_025,
    RSDK_W_GPU_026,
    RSDK_W_GPU_027,
    RSDK_W_GPU_028,
    RSDK_W_GPU_029,
    RSDK_N_GPU_030,
    RSDK_W_GPU_031,
    RSDK_W_GPU_032,

    RSDK_E_CODE_001,
    RSDK_E_CODE_002,
    RSDK_N_CODE_003,
    RSDK_E_CODE_004,
    RSDK_W_CODE_005,
    RSDK_W_CODE_006,
    RSDK_E_CODE_007,
    RSDK_N_CODE_008,
    RSDK_N_CODE_009,

    RSDK_W_OCL_001,

    RSDK_W_ENV_001,
    RSDK_W_ENV_002,
    RSDK_W_ENV_003,
    RSDK_E_ENV_004,
    RSDK_W_ENV_005,
    RSDK_N_ENV_006,
    RSDK_E_ENV_007,
    RSDK_E_ENV_008,
    RSDK_W_ENV_009,

    RSDK_E_PROC_001,
    RSDK_W_PROC_002,
    RSDK_E_PROC_003,
    RSDK_E_PROC_004,
    RSDK_N_PROC_005,

    RSDK_E_CODE_010,
    RSDK_E_CODE_011,
    RSDK_E_CODE_012,
    RSDK_E_CODE_013,
    RSDK_E_CODE_014,
    RSDK_N_CODE_015,
    RSDK_W_CODE_016,
    RSDK_E_CODE_017,

    RSDK_E_TEST_001,
    RSDK_E_TEST_002,

    RSDK_CODE_COUNT
} rsdk_code;
/* clang-format on */

/* A value that the texts of a problem name: {"library", "libamdhip64.so.7"}. */
typedef struct rsdk_fact {
    const char *name;
    const char *value;
} rsdk_fact;

#endif
