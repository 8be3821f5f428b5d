/* The gfx targets, one per row. A new GPU is one more row. Sources: LLVM's processor table (ISA numbers,
 * EF_AMDGPU_MACH, features, generic targets), libdrm's amdgpu.ids (product), ROCm's build targets (class, packaging
 * families), rocm-bootstrap (sub-family: the targets that packages may be for). ROCm is not built for the rows without
 * packaging families. A target that shares its ISA numbers with another stands behind it. */
#include "gpu/tables.h"

#define NONE       RSDK_XNACK_NONE
#define OF_DRIVER  RSDK_XNACK_OF_DRIVER
#define OF_PROCESS RSDK_XNACK_OF_PROCESS
#define ALWAYS     RSDK_XNACK_ALWAYS

#define DISCRETE    RSDK_GPU_DISCRETE
#define DATA_CENTRE RSDK_GPU_DATA_CENTRE
#define INTEGRATED  RSDK_GPU_INTEGRATED

/* clang-format off */
const rsdk_target rsdk_target_table[] = {
    /* name             major minor step mach  xnack       sramecc class        product                                                     packaging families                             generic target     sub-family family   packages of */
    {"gfx600",         6,    0,    0,   0x20, NONE,       false,  DISCRETE,    "Tahiti",                                                   {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx601",         6,    0,    1,   0x21, NONE,       false,  DISCRETE,    "Pitcairn, Verde",                                          {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx602",         6,    0,    2,   0x3A, NONE,       false,  DISCRETE,    "Hainan, Oland",                                            {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx700",         7,    0,    0,   0x22, NONE,       false,  INTEGRATED,  "Kaveri",                                                   {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx701",         7,    0,    1,   0x23, NONE,       false,  DISCRETE,    "Hawaii, FirePro W9100",                                    {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx702",         7,    0,    2,   0x24, NONE,       false,  DISCRETE,    "Hawaii, R9 290/390",                                       {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx703",         7,    0,    3,   0x25, NONE,       false,  INTEGRATED,  "Kabini, Mullins",                                          {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx704",         7,    0,    4,   0x26, NONE,       false,  DISCRETE,    "Bonaire",                                                  {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx705",         7,    0,    5,   0x3B, NONE,       false,  INTEGRATED,  "Kaveri, 7.0.5",                                            {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx801",         8,    0,    1,   0x28, OF_DRIVER,  false,  INTEGRATED,  "Carrizo",                                                  {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx802",         8,    0,    2,   0x29, NONE,       false,  DISCRETE,    "Tonga, Iceland",                                           {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx803",         8,    0,    3,   0x2A, NONE,       false,  DISCRETE,    "AMD Radeon RX 590 to 470 (Polaris), Instinct MI8, MI6",    {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx805",         8,    0,    5,   0x3C, NONE,       false,  DISCRETE,    "Tonga Pro",                                                {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx810",         8,    1,    0,   0x2B, OF_DRIVER,  false,  INTEGRATED,  "Stoney",                                                   {NULL},                                        NULL,              NULL,      NULL,    NULL},
    {"gfx900",         9,    0,    0,   0x2C, OF_DRIVER,  false,  DISCRETE,    "AMD Radeon RX Vega (Vega 10), Instinct MI25",              {"dgpu-all", "gfx900-dgpu"},                   "gfx9-generic",    "gfx9_0",  "gfx9",  NULL},
    {"gfx902",         9,    0,    2,   0x2D, OF_DRIVER,  false,  INTEGRATED,  "AMD Radeon Vega (Raven, Picasso)",                         {NULL},                                        "gfx9-generic",    "gfx9_0",  "gfx9",  NULL},
    {"gfx904",         9,    0,    4,   0x2E, OF_DRIVER,  false,  DISCRETE,    "AMD Radeon Pro Vega 20 / 16 (Vega 12)",                    {NULL},                                        "gfx9-generic",    "gfx9_0",  "gfx9",  NULL},
    {"gfx906",         9,    0,    6,   0x2F, OF_DRIVER,  true,   DISCRETE,    "AMD Radeon VII, Instinct MI60 / MI50",                     {"dgpu-all", "gfx906-dgpu"},                   "gfx9-generic",    "gfx9_0",  "gfx9",  NULL},
    {"gfx908",         9,    0,    8,   0x30, OF_DRIVER,  true,   DATA_CENTRE, "AMD Instinct MI100",                                       {"dcgpu-all", "gfx908-dcgpu"},                 NULL,              "gfx9_0",  "gfx9",  NULL},
    {"gfx909",         9,    0,    9,   0x31, OF_DRIVER,  false,  INTEGRATED,  "AMD Radeon Vega (Raven 2, Dali)",                          {NULL},                                        "gfx9-generic",    "gfx9_0",  "gfx9",  NULL},
    {"gfx90a",         9,    0,    10,  0x3F, OF_PROCESS, true,   DATA_CENTRE, "AMD Instinct MI250X / MI250 / MI210",                      {"dcgpu-all", "gfx90a-dcgpu"},                 NULL,              "gfx9_0",  "gfx9",  NULL},
    {"gfx90c",         9,    0,    12,  0x32, OF_DRIVER,  false,  INTEGRATED,  "AMD Radeon Graphics (Renoir, Lucienne, Cezanne)",          {"igpu-all", "gfx90c-igpu"},                   "gfx9-generic",    "gfx9_0",  "gfx9",  NULL},
    {"gfx940",         9,    4,    0,   0x40, OF_PROCESS, true,   DATA_CENTRE, "AMD Instinct MI300, before production",                    {NULL},                                        "gfx9-4-generic",  NULL,      "gfx9",  NULL},
    {"gfx941",         9,    4,    1,   0x4B, OF_PROCESS, true,   DATA_CENTRE, "AMD Instinct MI300, before production",                    {NULL},                                        "gfx9-4-generic",  NULL,      "gfx9",  NULL},
    {"gfx942",         9,    4,    2,   0x4C, OF_PROCESS, true,   DATA_CENTRE, "AMD Instinct MI325X / MI300X / MI300A",                    {"dcgpu-all", "gfx94X-all", "gfx94X-dcgpu"},   "gfx9-4-generic",  "gfx9_4",  "gfx9",  NULL},
    {"gfx950",         9,    5,    0,   0x4F, OF_PROCESS, true,   DATA_CENTRE, "AMD Instinct MI355X / MI350X",                             {"dcgpu-all", "gfx950-all", "gfx950-dcgpu"},   "gfx9-4-generic",  "gfx9_5",  "gfx9",  NULL},
    {"gfx1010",        10,   1,    0,   0x33, OF_DRIVER,  false,  DISCRETE,    "AMD Radeon RX 5700 XT / 5700",                             {"dgpu-all", "gfx101X-all", "gfx101X-dgpu"},   "gfx10-1-generic", "gfx10_1", "gfx10", NULL},
    {"gfx1011",        10,   1,    1,   0x34, OF_DRIVER,  false,  DISCRETE,    "AMD Radeon Pro V520",                                      {"dgpu-all", "gfx101X-all", "gfx101X-dgpu"},   "gfx10-1-generic", "gfx10_1", "gfx10", NULL},
    {"gfx1012",        10,   1,    2,   0x35, OF_DRIVER,  false,  DISCRETE,    "AMD Radeon RX 5500 XT / 5500",                             {"dgpu-all", "gfx101X-all", "gfx101X-dgpu"},   "gfx10-1-generic", "gfx10_1", "gfx10", NULL},
    {"gfx1013",        10,   1,    3,   0x42, OF_DRIVER,  false,  INTEGRATED,  "AMD BC-250 (Cyan Skillfish)",                              {NULL},                                        "gfx10-1-generic", "gfx10_1", "gfx10", NULL},
    {"gfx1030",        10,   3,    0,   0x36, NONE,       false,  DISCRETE,    "AMD Radeon RX 6900 XT / 6800 XT / 6800",                   {"dgpu-all", "gfx103X-all", "gfx103X-dgpu"},   "gfx10-3-generic", "gfx10_3", "gfx10", NULL},
    {"gfx1031",        10,   3,    1,   0x37, NONE,       false,  DISCRETE,    "AMD Radeon RX 6750 XT / 6700 XT",                          {"dgpu-all", "gfx103X-all", "gfx103X-dgpu"},   "gfx10-3-generic", "gfx10_3", "gfx10", NULL},
    {"gfx1032",        10,   3,    2,   0x38, NONE,       false,  DISCRETE,    "AMD Radeon RX 6650 XT / 6600 XT / 6600",                   {"dgpu-all", "gfx103X-all", "gfx103X-dgpu"},   "gfx10-3-generic", "gfx10_3", "gfx10", NULL},
    {"gfx1033",        10,   3,    3,   0x39, NONE,       false,  INTEGRATED,  "AMD Custom GPU 0405 (Van Gogh)",                           {"igpu-all", "gfx103X-all", "gfx103X-igpu"},   "gfx10-3-generic", "gfx10_3", "gfx10", NULL},
    {"gfx1034",        10,   3,    4,   0x3E, NONE,       false,  DISCRETE,    "AMD Radeon RX 6500 XT / 6400",                             {"dgpu-all", "gfx103X-all", "gfx103X-dgpu"},   "gfx10-3-generic", "gfx10_3", "gfx10", NULL},
    {"gfx1035",        10,   3,    5,   0x3D, NONE,       false,  INTEGRATED,  "AMD Radeon 680M / 660M",                                   {"igpu-all", "gfx103X-all", "gfx103X-igpu"},   "gfx10-3-generic", "gfx10_3", "gfx10", NULL},
    {"gfx1036",        10,   3,    6,   0x45, NONE,       false,  INTEGRATED,  "AMD Radeon 610M (Raphael)",                                {"igpu-all", "gfx103X-all", "gfx103X-igpu"},   "gfx10-3-generic", "gfx10_3", "gfx10", NULL},
    {"gfx1100",        11,   0,    0,   0x41, NONE,       false,  DISCRETE,    "AMD Radeon RX 7900 XTX / 7900 XT / 7900 GRE",              {"dgpu-all", "gfx110X-all", "gfx110X-dgpu"},   "gfx11-generic",   "gfx110x", "gfx11", NULL},
    {"gfx1101",        11,   0,    1,   0x46, NONE,       false,  DISCRETE,    "AMD Radeon RX 7800 XT / 7700 XT",                          {"dgpu-all", "gfx110X-all", "gfx110X-dgpu"},   "gfx11-generic",   "gfx110x", "gfx11", NULL},
    {"gfx1102",        11,   0,    2,   0x47, NONE,       false,  DISCRETE,    "AMD Radeon RX 7600 XT / 7600 / 7700S",                     {"dgpu-all", "gfx110X-all", "gfx110X-dgpu"},   "gfx11-generic",   "gfx110x", "gfx11", NULL},
    {"gfx1103",        11,   0,    3,   0x44, NONE,       false,  INTEGRATED,  "AMD Radeon 780M / 760M / 740M",                            {"igpu-all", "gfx110X-all", "gfx110X-igpu"},   "gfx11-generic",   "gfx110x", "gfx11", NULL},
    {"gfx1150",        11,   5,    0,   0x43, NONE,       false,  INTEGRATED,  "AMD Radeon 890M / 880M (Strix Point)",                     {"igpu-all", "gfx115X-all", "gfx115X-igpu"},   "gfx11-generic",   "gfx115x", "gfx11", NULL},
    {"gfx1151",        11,   5,    1,   0x4A, NONE,       false,  INTEGRATED,  "AMD Radeon 8065S / 8060S / 8050S / 8040S (Strix Halo)",    {"igpu-all", "gfx115X-all", "gfx115X-igpu"},   "gfx11-generic",   "gfx115x", "gfx11", NULL},
    {"gfx1152",        11,   5,    2,   0x55, NONE,       false,  INTEGRATED,  "AMD Radeon 860M / 840M (Krackan Point)",                   {"igpu-all", "gfx115X-all", "gfx115X-igpu"},   "gfx11-generic",   "gfx115x", "gfx11", NULL},
    {"gfx1153",        11,   5,    3,   0x58, NONE,       false,  INTEGRATED,  "AMD Radeon 840M / 820M",                                   {"igpu-all", "gfx115X-all", "gfx115X-igpu"},   "gfx11-generic",   "gfx115x", "gfx11", NULL},
    {"gfx1154",        11,   5,    4,   0x57, NONE,       false,  INTEGRATED,  "AMD RDNA 3.5, integrated",                                 {NULL},                                        "gfx11-generic",   NULL,      "gfx11", NULL},
    {"gfx1170",        11,   7,    0,   0x5D, NONE,       false,  INTEGRATED,  "AMD RDNA 4m, integrated",                                  {NULL},                                        "gfx11-7-generic", NULL,      "gfx11", NULL},
    {"gfx1171",        11,   7,    1,   0x5E, NONE,       false,  INTEGRATED,  "AMD RDNA 4m, integrated",                                  {NULL},                                        "gfx11-7-generic", NULL,      "gfx11", NULL},
    {"gfx1172",        11,   7,    2,   0x5C, NONE,       false,  INTEGRATED,  "AMD RDNA 4m, integrated",                                  {NULL},                                        "gfx11-7-generic", NULL,      "gfx11", NULL},
    {"gfx1200",        12,   0,    0,   0x48, NONE,       false,  DISCRETE,    "AMD Radeon RX 9060 XT / 9060",                             {"dgpu-all", "gfx120X-all"},                   "gfx12-generic",   "gfx12_0", "gfx12", NULL},
    {"gfx1201",        12,   0,    1,   0x4E, NONE,       false,  DISCRETE,    "AMD Radeon RX 9070 XT / 9070",                             {"dgpu-all", "gfx120X-all"},                   "gfx12-generic",   "gfx12_0", "gfx12", NULL},
    {"gfx1250",        12,   5,    0,   0x49, ALWAYS,     false,  DATA_CENTRE, "AMD Instinct MI455X / MI450X / MI450",                     {"dcgpu-all", "gfx125X-all", "gfx125X-dcgpu"}, "gfx12-5-generic", "gfx12_5", "gfx12", NULL},
    {"gfx1250-strict", 12,   5,    0,   0xEB, ALWAYS,     false,  DATA_CENTRE, "AMD Instinct MI450, first silicon",                        {NULL},                                        NULL,              "gfx12_5", "gfx12", "gfx1250"},
    {"gfx1251",        12,   5,    1,   0x5A, ALWAYS,     false,  DATA_CENTRE, "gfx125x family",                                           {NULL},                                        "gfx12-5-generic", "gfx12_5", "gfx12", NULL},
    {"gfx1310",        13,   1,    0,   0x50, NONE,       false,  DISCRETE,    "gfx13 family",                                             {NULL},                                        "gfx13-generic",   NULL,      NULL,    NULL},
};

const rsdk_generic_target rsdk_generic_table[] = {
    /* name              xnack       mach  sramecc */
    {"gfx9-generic",     OF_DRIVER,  0x51, false},
    {"gfx9-4-generic",   OF_PROCESS, 0x5F, true},
    {"gfx10-1-generic",  OF_DRIVER,  0x52, false},
    {"gfx10-3-generic",  NONE,       0x53, false},
    {"gfx11-generic",    NONE,       0x54, false},
    {"gfx11-7-generic",  NONE,       0x62, false},
    {"gfx12-generic",    NONE,       0x59, false},
    {"gfx12-5-generic",  ALWAYS,     0x5B, false},
    {"gfx13-generic",    NONE,       0x63, false},
};
/* clang-format on */

const size_t rsdk_target_table_size = sizeof rsdk_target_table / sizeof *rsdk_target_table;
const size_t rsdk_generic_table_size = sizeof rsdk_generic_table / sizeof *rsdk_generic_table;
