/* The SDK's library files: its library directories, listed at first use, and the facts of their ELF files, read once
 * each. */
#ifndef RSDK_SDK_INVENTORY_H
#define RSDK_SDK_INVENTORY_H

#include "base/arena.h"
#include "base/directory.h"
#include "base/name_table.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "rocm_sdk/sdk.h"

/* A file of a directory that is a library, under whatever name. */
typedef struct rsdk_named_file {
    const char *name, *soname;
} rsdk_named_file;

typedef struct rsdk_library_directory {
    rsdk_package_id package;
    const char *path;
    bool holds_host_libraries; /* the SDK's own copies of libraries that a system has too */
    bool is_listed;
    rsdk_directory listing;
    bool has_sonames;
    RSDK_LIST(rsdk_named_file) sonames; /* SONAMEs of its loadable libraries that have one, read when first asked for */
    bool is_identified, exists;         /* identity is asked for only when another spelling has to be compared */
    rsdk_file_identity identity;
} rsdk_library_directory;

/* The directory that an RPATH entry leads to: asked of the file system once per spelling. */
typedef struct rsdk_known_directory {
    const char *spelling;
    rsdk_library_directory *directory; /* NULL: none of the SDK's */
    bool may_hold_variants;            /* variants for one kind of processor, which the linker prefers */
} rsdk_known_directory;

/* The file that a name leads to: looked for once. */
typedef struct rsdk_linker_name {
    const char *path; /* NULL: none */
    rsdk_package_id package;
} rsdk_linker_name;

/* A file that takes the place of a library of the SDK. */
typedef struct rsdk_overriding_file {
    const rsdk_catalog_entry *entry;
    const rsdk_elf_file *file;
} rsdk_overriding_file;

typedef struct rsdk_inventory {
    rsdk_sdk *sdk; /* borrowed */
    rsdk_arena *arena;
    bool supports_files; /* for files that were given, which may need libraries of any package */
    bool keeps_symbols;  /* for bindings: each file is read with its symbols */
    bool keeps_all;      /* for all libraries at once: a file that is read for its SONAME is not opened again */
    const rsdk_read_watch *watch; /* borrowed; NULL: nobody asks which files are read, and how long this takes */
    bool has_directories;
    RSDK_LIST(rsdk_library_directory) directories; /* the directories of the installed packages, in search order */
    bool has_overrides;
    RSDK_LIST(rsdk_overriding_file) overrides;
    RSDK_LIST(rsdk_elf_file *) files;
    RSDK_LIST(const rsdk_elf_dynsym *) symbols; /* symbols of each file, with keeps_symbols; NULL: damaged */
    rsdk_name_table file_places;                /* by path */
    RSDK_LIST(rsdk_known_directory) known;
    rsdk_name_table known_places; /* by spelling */
    RSDK_LIST(rsdk_linker_name) linker_names;
    rsdk_name_table linker_name_places;
    bool has_further;
    RSDK_LIST(rsdk_linker_name) further; /* libraries elsewhere in the packages, for given files */
    rsdk_name_table further_places;
} rsdk_inventory;

/* Make an inventory; all that it reads lives in `arena`. */
rsdk_inventory rsdk_inventory_make(rsdk_sdk *sdk, rsdk_arena *arena, bool supports_files);

/* Return the listing of a directory of a package ("lib"). RSDK_PACKAGE_NOT_INSTALLED where the package is not there. */
rsdk_status rsdk_inventory_directory(rsdk_inventory *inventory, rsdk_package_id package, const char *relative,
                                     const rsdk_library_directory **directory, rsdk_error *error);

/* Read the facts of an ELF file, at most once. `path` must live as long as the inventory. */
rsdk_status rsdk_inventory_read(rsdk_inventory *inventory, const char *path, const rsdk_elf_file **file,
                                rsdk_error *error);

/* Return the symbols of a file that was read, which *file becomes; NULL where the file was not read, or was read
 * without symbols. */
const rsdk_elf_dynsym *rsdk_inventory_symbols(const rsdk_inventory *inventory, const char *path,
                                              const rsdk_elf_file **file);

/* Find the file that takes the place of a library; *override is NULL where there is none. An error names who wants
 * it. */
rsdk_status rsdk_inventory_find_override(rsdk_inventory *inventory, const rsdk_catalog_entry *entry,
                                         const rsdk_overriding_file **override, rsdk_error *error);

/* Find the SDK's file of this name, looked for in the directory of `near` (a path of the SDK, or NULL) and then in all;
 * *path is NULL where there is none. */
rsdk_status rsdk_inventory_find(rsdk_inventory *inventory, const char *near, const char *name, const char **path,
                                rsdk_package_id *package, rsdk_error *error);

/* Find the same among the directories that are listed; NULL: none, or the file has been read. */
const char *rsdk_inventory_find_unread(rsdk_inventory *inventory, const char *near, const char *name);

/* Read the SONAME of every file of the directory that may be a library; other files and damaged ones are left out. */
rsdk_status rsdk_inventory_need_sonames(rsdk_inventory *inventory, const rsdk_library_directory *directory,
                                        rsdk_error *error);

/* Return whether a file of the SDK (a path that the inventory gave out) is the SDK's own copy of a host library. */
bool rsdk_inventory_is_private(const rsdk_inventory *inventory, const char *path);

/* Find the SDK's file whose name is `linker_name` or `linker_name` and a version (".7"), of several the highest
 * version; *path is NULL where there is none. */
rsdk_status rsdk_inventory_find_linker_name(rsdk_inventory *inventory, const char *linker_name, const char **path,
                                            rsdk_package_id *package, rsdk_error *error);

/* Find the known facts of the directory that `spelling` (a path, with ".." in it perhaps) leads to. The facts are valid
 * until the next call. */
rsdk_status rsdk_inventory_known_directory(rsdk_inventory *inventory, const char *spelling,
                                           const rsdk_known_directory **known, rsdk_error *error);

#endif
