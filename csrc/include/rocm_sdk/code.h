/* The codes of problems, and the facts that go with them. A code keeps its meaning for ever. "E-LIB-002" is
 * RSDK_E_LIB_002; the texts of each are in the table of problems (rocm_sdk/problem.h). */
#ifndef ROCM_SDK_CODE_H
#define ROCM_SDK_CODE_H

/* clang-format off */
typedef enum rsdk_code {
    RSDK_NO_CODE = 0, /* in an rsdk_error: the code of its status */

    RSDK_E_SDK_001 = 1,

    RSDK_E_PKG_001 = 2,
    RSDK_E_PKG_002 = 3,
    RSDK_E_PKG_003 = 4,
    RSDK_E_PKG_004 = 5,
    RSDK_W_PKG_005 = 6,
    RSDK_E_PKG_006 = 7,
    RSDK_W_PKG_007 = 8,
    RSDK_W_PKG_008 = 9,
    RSDK_N_PKG_009 = 10,
    RSDK_W_PKG_010 = 11,
    RSDK_E_PKG_011 = 12,
    RSDK_W_PKG_012 = 13,
    RSDK_E_PKG_013 = 14,
    RSDK_E_PKG_014 = 15,
    RSDK_E_PKG_015 = 16,
    RSDK_E_PKG_016 = 17,
    RSDK_E_PKG_017 = 18,
    RSDK_N_PKG_018 = 19,
    RSDK_W_PKG_019 = 20,
    RSDK_E_PKG_020 = 21,
    RSDK_E_PKG_021 = 22,
    RSDK_E_PKG_026 = 23,

    RSDK_E_FILE_001 = 24,
    RSDK_E_FILE_002 = 25,
    RSDK_E_FILE_003 = 26,
    RSDK_E_FILE_004 = 27,
    RSDK_E_FILE_005 = 28,
    RSDK_E_FILE_006 = 29,
    RSDK_E_FILE_007 = 30,
    RSDK_E_FILE_008 = 31,

    RSDK_E_LIB_001 = 32,
    RSDK_E_LIB_002 = 33,
    RSDK_E_LIB_003 = 34,
    RSDK_E_LIB_004 = 35,
    RSDK_E_LIB_005 = 36,
    RSDK_E_LIB_006 = 37,
    RSDK_E_LIB_007 = 38,
    RSDK_E_LIB_008 = 39,
    RSDK_E_LIB_009 = 40,
    RSDK_E_LIB_021 = 41,
    RSDK_E_LIB_022 = 42,
    RSDK_W_LIB_010 = 43,
    RSDK_W_LIB_011 = 44,
    RSDK_E_LIB_012 = 45,
    RSDK_W_LIB_013 = 46,
    RSDK_N_LIB_014 = 47,
    RSDK_E_LIB_015 = 48,
    RSDK_W_LIB_016 = 49,
    RSDK_E_LIB_017 = 50,
    RSDK_E_LIB_018 = 51,
    RSDK_N_LIB_019 = 52,
    RSDK_E_LIB_020 = 53,
    RSDK_N_LIB_021 = 54,
    RSDK_E_LIB_023 = 55,
    RSDK_E_LIB_024 = 56,
    RSDK_E_LIB_025 = 57,
    RSDK_W_LIB_026 = 58,

    RSDK_W_BIND_001 = 59,

    RSDK_E_API_001 = 60,
    RSDK_E_API_002 = 61,
    RSDK_E_API_003 = 62,
    RSDK_E_API_004 = 63,
    RSDK_E_API_005 = 64,

    RSDK_E_TOOL_001 = 65,
    RSDK_E_TOOL_002 = 66,
    RSDK_E_TOOL_003 = 67,
    RSDK_N_TOOL_004 = 68,
    RSDK_E_TOOL_005 = 69,

    RSDK_W_DEVEL_001 = 70,
    RSDK_E_DEVEL_002 = 71,
    RSDK_E_DEVEL_003 = 72,
    RSDK_E_DEVEL_004 = 73,
    RSDK_E_DEVEL_005 = 74,
    RSDK_N_DEVEL_006 = 75,
    RSDK_W_DEVEL_007 = 76,
    RSDK_E_DEVEL_008 = 77,
    RSDK_E_DEVEL_009 = 78,
    RSDK_E_DEVEL_010 = 79,
    RSDK_E_DEVEL_011 = 80,
    RSDK_N_DEVEL_012 = 81,
    RSDK_N_DEVEL_013 = 82,

    RSDK_E_GPU_002 = 83,
    RSDK_E_GPU_003 = 84,
    RSDK_E_GPU_004 = 85,
    RSDK_E_GPU_005 = 86,
    RSDK_E_GPU_006 = 87,
    RSDK_E_GPU_007 = 88,
    RSDK_E_GPU_008 = 89,
    RSDK_W_GPU_010 = 90,
    RSDK_N_GPU_011 = 91,
    RSDK_W_GPU_012 = 92,
    RSDK_W_GPU_013 = 93,
    RSDK_W_GPU_014 = 94,
    RSDK_W_GPU_015 = 95,
    RSDK_W_GPU_016 = 96,
    RSDK_W_GPU_017 = 97,
    RSDK_W_GPU_018 = 98,
    RSDK_W_GPU_019 = 99,
    RSDK_W_GPU_020 = 100,
    RSDK_W_GPU_021 = 101,
    RSDK_W_GPU_022 = 102,
    RSDK_W_GPU_023 = 103,
    RSDK_W_GPU_024 = 104,
    RSDK_W_GPU_025 = 105,
    RSDK_W_GPU_026 = 106,
    RSDK_W_GPU_027 = 107,
    RSDK_W_GPU_028 = 108,
    RSDK_W_GPU_029 = 109,
    RSDK_N_GPU_030 = 110,
    RSDK_W_GPU_031 = 111,
    RSDK_W_GPU_032 = 112,

    RSDK_E_CODE_001 = 113,
    RSDK_E_CODE_002 = 114,
    RSDK_N_CODE_003 = 115,
    RSDK_E_CODE_004 = 116,
    RSDK_W_CODE_005 = 117,
    RSDK_W_CODE_006 = 118,
    RSDK_E_CODE_007 = 119,
    RSDK_N_CODE_008 = 120,
    RSDK_N_CODE_009 = 121,

    RSDK_W_OCL_001 = 122,

    RSDK_W_ENV_001 = 123,
    RSDK_W_ENV_002 = 124,
    RSDK_W_ENV_003 = 125,
    RSDK_E_ENV_004 = 126,
    RSDK_W_ENV_005 = 127,
    RSDK_N_ENV_006 = 128,
    RSDK_E_ENV_007 = 129,
    RSDK_E_ENV_008 = 130,
    RSDK_W_ENV_009 = 131,

    RSDK_E_PROC_001 = 132,
    RSDK_W_PROC_002 = 133,
    RSDK_E_PROC_003 = 134,
    RSDK_E_PROC_004 = 135,
    RSDK_N_PROC_005 = 136,

    RSDK_E_CODE_010 = 137,
    RSDK_E_CODE_011 = 138,
    RSDK_E_CODE_012 = 139,
    RSDK_E_CODE_013 = 140,
    RSDK_E_CODE_014 = 141,
    RSDK_N_CODE_015 = 142,
    RSDK_W_CODE_016 = 143,
    RSDK_E_CODE_017 = 144,

    RSDK_E_TEST_001 = 145,
    RSDK_E_TEST_002 = 146,

    RSDK_E_PREFIX_001 = 147,
    RSDK_E_PREFIX_002 = 148,
    RSDK_E_PREFIX_003 = 149,
    RSDK_E_PREFIX_004 = 150,
    RSDK_E_PREFIX_005 = 151,
    RSDK_W_PREFIX_006 = 152,
    RSDK_E_PREFIX_007 = 153,
    RSDK_E_PREFIX_008 = 154,
    RSDK_E_PREFIX_009 = 155,
    RSDK_E_PREFIX_010 = 156,

    RSDK_W_DEVEL_015 = 157,
    RSDK_E_DEVEL_014 = 158,

    RSDK_E_CODE_019 = 159,

    RSDK_N_LIB_027 = 160,
    RSDK_W_LIB_028 = 161,

    RSDK_N_GPU_036 = 162,
    RSDK_W_GPU_035 = 163,
    RSDK_W_GPU_033 = 164,

    RSDK_W_CODE_018 = 165,

    RSDK_E_ENV_010 = 166,
    RSDK_E_ENV_011 = 167,
    RSDK_E_ENV_012 = 168,
    RSDK_E_ENV_013 = 169,

    RSDK_E_PKG_023 = 170,
    RSDK_E_PKG_024 = 171,

    RSDK_E_FILE_009 = 172,

    RSDK_E_PKG_025 = 173,

    RSDK_W_ENV_014 = 174,
    RSDK_W_ENV_015 = 175,
    RSDK_W_ENV_016 = 176,

    RSDK_W_GPU_034 = 177,

    RSDK_W_API_006 = 178,

    RSDK_W_PKG_027 = 179,

    RSDK_N_GPU_037 = 180,
    RSDK_W_GPU_038 = 181,
    RSDK_N_GPU_039 = 182,
    RSDK_W_GPU_040 = 183,

    RSDK_W_PKG_028 = 184,
    RSDK_E_PKG_029 = 185,
    RSDK_W_PKG_030 = 186,

    RSDK_W_LIB_029 = 187,
    RSDK_N_LIB_030 = 188,

    RSDK_W_FILE_010 = 189,

    RSDK_W_ENV_017 = 190,

    RSDK_N_PREFIX_011 = 191,

    RSDK_W_LIB_031 = 192,
    RSDK_W_LIB_032 = 193,

    RSDK_E_PKG_031 = 194,
    RSDK_E_PKG_032 = 195,
    RSDK_N_PKG_033 = 196,

    RSDK_W_DEVEL_016 = 197,

    RSDK_N_GPU_041 = 198,

    RSDK_CODE_COUNT = 199
} rsdk_code;
/* clang-format on */

/* A value that the texts of a problem name: {"library", "libamdhip64.so.7"}. */
typedef struct rsdk_fact {
    const char *name;
    const char *value;
} rsdk_fact;

#endif
