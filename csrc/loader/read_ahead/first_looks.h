/* The files that a load of an SDK looks up first: where its packages and their libraries lie. No look-up depends on
 * another. */
#ifndef RSDK_LOADER_READ_AHEAD_FIRST_LOOKS_H
#define RSDK_LOADER_READ_AHEAD_FIRST_LOOKS_H

#include "loader/read_ahead/next_files.h"
#include "rocm_sdk/sdk.h"

/* Return the directory of the core package's libraries, if it lies beside the SDK's `_dist_info.py`; nothing is looked
 * at. NULL: the SDK has no such directory, or memory is short. */
const char *rsdk_first_looks_directory(const rsdk_sdk *sdk, rsdk_arena *arena);

/* Let threads ask for all of these files. The answers are in the system's memory when the load comes to the files, and
 * nowhere else: a wrong name costs a question. The names live in `arena` until the threads have ended. */
void rsdk_first_looks_give(rsdk_next_files *next, const rsdk_sdk *sdk, rsdk_arena *arena);

#endif
