/* The few operations on paths as texts that we need. None of them asks the file system. */
#ifndef RSDK_BASE_PATH_H
#define RSDK_BASE_PATH_H

#include "base/arena.h"

/* Return "DIRECTORY/NAME", or the text before the last '/' of a path ("/" for "/x", "." without one). */
char *rsdk_path_join(rsdk_arena *arena, const char *directory, const char *name);
char *rsdk_path_parent(rsdk_arena *arena, const char *path);

/* Return an absolute path without "." and "..", and without doubled '/', by its text alone: a link in it counts as a
 * directory. Another path is copied as it is. */
char *rsdk_path_without_dots(rsdk_arena *arena, const char *path);

/* Return the text after the last '/'. Borrowed. */
const char *rsdk_path_name(const char *path);

/* Return the part of `path` within `directory` ("llvm/lib" for "lib/llvm/lib" in "lib"); NULL where the path does not
 * lie below. Borrowed. */
const char *rsdk_path_below(const char *path, const char *directory);

#endif
