/* The code that is found in a file, while the file is being read, and the readers of each kind of container. */
#ifndef RSDK_DEVICE_CODE_LISTING_H
#define RSDK_DEVICE_CODE_LISTING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/file.h"
#include "device_code/decompression.h"
#include "device_code/extent.h"
#include "elf/elf_header.h"
#include "rocm_sdk/device_code.h"

typedef struct rsdk_listing {
    rsdk_arena *arena;
    rsdk_error *error;
    const char *section, *member; /* the names of the section and the member in hand; NULL: none */
    RSDK_LIST(rsdk_device_bundle) bundles;
    RSDK_LIST(rsdk_device_image) images;
    rsdk_kernel_reference kernels;
    bool has_removed_code;
    const char *history; /* the note of a file that was rewritten; NULL: none */
    rsdk_decompression decompression;
    unsigned char *head; /* room for the head of a container, RSDK_LISTING_HEAD_LIMIT bytes at most */
    size_t head_capacity;
    /* Passed so far: a small file may claim any number, and name the same bytes many times. */
    size_t entries, names, name_bytes;
} rsdk_listing;

enum { RSDK_LISTING_HEAD_LIMIT = 1 << 20 };

/* Begin a bundle, to which the images that are added next belong. `member` and `section` are filled in. */
rsdk_status rsdk_listing_add_bundle(rsdk_listing *listing, const rsdk_extent *extent, rsdk_device_bundle bundle);

/* Add an image. If nothing else names its target, the object does. */
rsdk_status rsdk_listing_add_image(rsdk_listing *listing, rsdk_device_image image);

/* Recognise the image at `image->offset` of the extent: fill in format, object_target, version and generic_version, and
 * turn the offset into an offset in the file. */
rsdk_status rsdk_listing_look_at_image(rsdk_listing *listing, const rsdk_extent *extent, rsdk_device_image *image);

/* Count an entry of a container, wanted or not; its name has `name_size` bytes. RSDK_BAD_ELF where there are more than
 * any file has. */
rsdk_status rsdk_listing_count(rsdk_listing *listing, const rsdk_extent *extent, size_t name_size);

/* Count a name that several entries may share. */
rsdk_status rsdk_listing_count_name(rsdk_listing *listing, const rsdk_extent *extent, size_t size);

/* Make listing->head at least this large; its content is lost. */
rsdk_status rsdk_listing_make_room(rsdk_listing *listing, size_t size);

/* IDs of the entries of offload bundles: "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-". Source: clang's "Clang Offload
 * Bundler". */

/* Return whether an ID names code for AMD's GPUs; then *target is where its target id begins, which may be empty. */
bool rsdk_entry_id_parse(const char *id, const char **target);

/* Return whether code with this triple is for AMD's GPUs. */
bool rsdk_entry_id_has_amd_architecture(const char *triple);

/* Return a target id as the tools write it, with its features in order; unchanged if the target is not known. NULL when
 * out of memory. */
const char *rsdk_entry_id_normal_target(const char *target, rsdk_arena *arena);

/* clang's offload bundles, not compressed and compressed. Source: clang's "Clang Offload Bundler". */

#define RSDK_BUNDLE_MAGIC            "__CLANG_OFFLOAD_BUNDLE__"
#define RSDK_COMPRESSED_BUNDLE_MAGIC "CCOB"
enum { RSDK_BUNDLE_MAGIC_SIZE = 24, RSDK_COMPRESSED_BUNDLE_MAGIC_SIZE = 4 };

/* Add the bundle at the start of `extent`, whose magic was seen there; *size is how many bytes it has. */
rsdk_status rsdk_bundle_list(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size);

/* Add a compressed bundle in the same way: its head is decompressed. */
rsdk_status rsdk_bundle_list_compressed(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size);

/* The items that lie in a row in a section or file: bundles, compressed bundles and code objects, with padding between
 * them. */

typedef enum rsdk_fat_kind {
    RSDK_FAT_NOTHING, /* none of the kinds below */
    RSDK_FAT_BUNDLE,
    RSDK_FAT_COMPRESSED_BUNDLE,
    RSDK_FAT_CODE_OBJECT,
} rsdk_fat_kind;

/* Find the kind of the item at the start of the extent, by its first bytes. */
rsdk_status rsdk_fat_binary_kind(const rsdk_extent *extent, rsdk_fat_kind *kind, rsdk_error *error);

/* Add the one item at the start of the extent; *size is how many bytes it has. RSDK_BAD_ELF where there is none. */
rsdk_status rsdk_fat_binary_list_one(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size);

/* Add all items, one behind another. The next item is found by the length of the one before, never by a search for its
 * first bytes: compressed data may contain them. */
rsdk_status rsdk_fat_binary_list_all(rsdk_listing *listing, const rsdk_extent *extent);

/* LLVM's OffloadBinary: records of images, in the section `.llvm.offloading` and in files. */

#define RSDK_OFFLOAD_BINARY_MAGIC "\x10\xff\x10\xad"
enum { RSDK_OFFLOAD_BINARY_MAGIC_SIZE = 4 };

/* Add all records of the extent, one behind another. */
rsdk_status rsdk_offload_binary_list_all(rsdk_listing *listing, const rsdk_extent *extent);

/* kpack archives: the kernels of libraries without code of their own. */

#define RSDK_KPACK_MAGIC "KPAK"
enum { RSDK_KPACK_MAGIC_SIZE = 4 };

/* Add the archive as one bundle, whose images are named by their keys ("lib/libx.so.1#0"). */
rsdk_status rsdk_kpack_list(rsdk_listing *listing, const rsdk_extent *extent);

/* The device code in ELF files of the host: libraries, programs, object files. */

/* Add the device code of an ELF file, which takes the whole extent. A file without device code adds nothing. */
rsdk_status rsdk_host_elf_list(rsdk_listing *listing, const rsdk_extent *extent, const rsdk_elf_header *header);

/* Static archives: the device code of their members. */

#define RSDK_STATIC_ARCHIVE_MAGIC "!<arch>\n"
enum { RSDK_STATIC_ARCHIVE_MAGIC_SIZE = 8 };

/* Add the code of the members. */
rsdk_status rsdk_static_archive_list(rsdk_listing *listing, const rsdk_extent *extent);

/* The code of a file that is open already. */

/* Read the code as rsdk_device_code_read does. */
rsdk_status rsdk_code_of_file(const rsdk_file *file, rsdk_device_code **code, rsdk_error *error);

#endif
