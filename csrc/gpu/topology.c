/* The reader of KFD's topology. The kernel counts the changes in generation_id: if the number differs before and after,
 * the topology that was read may be half old and half new, and is read again. An attribute file is read with one call,
 * because the kernel composes the text at each read. */
#include "gpu/topology.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "gpu/attribute.h"

/* A real machine has some dozens of nodes, and an attribute fits a page. Larger ones are not KFD's. */
enum { ATTEMPTS = 5, NODE_LIMIT = 1024, NAME_LIMIT = 8192, ATTRIBUTE_LIMIT = 16384, ATTRIBUTE_NAME_SIZE = 64 };
enum { ATTRIBUTE_SIZE = ATTRIBUTE_LIMIT + 2 }; /* a byte too many, and a NUL */

static const char topology_directory[] = "/sys/class/kfd/kfd/topology";
static const char nodes_directory[] = "nodes/";

typedef struct reader {
    const char *root;
    DIR *nodes; /* the directory of the nodes */
    bool with_details;
    rsdk_arena *arena;
    char name[ATTRIBUTE_NAME_SIZE]; /* the path of the attribute, within the topology's directory */
    char *text; /* the attribute's content; ATTRIBUTE_SIZE bytes, not cleared for each attribute: the buffer is large */
    size_t length;
} reader;

/* ---- attributes ---- */

/* Return the path of an attribute or directory of the topology, "" for its own. The path is for messages only, so it is
 * made where one is needed. */
static const char *whole_path(const reader *r, const char *name, char path[PATH_MAX]) {
    (void)snprintf(path, PATH_MAX, "%s%s%s%s", r->root, topology_directory, name[0] != '\0' ? "/" : "", name);
    return path;
}

static rsdk_status fail_reading(const reader *r, const char *name, int reason, rsdk_error *error) {
    char path[PATH_MAX];
    bool has_vanished = reason == ENOENT || reason == ENODEV;
    if (reason == ENOMEM) {
        return rsdk_fail_no_memory(error);
    }
    (void)whole_path(r, name, path);
    return rsdk_fail_as(error, has_vanished ? RSDK_FILE_NOT_FOUND : RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL,
                        "%s: cannot be read: %s", path, strerror(reason));
}

/* Write "nodes/3/" and `rest` to the reader's name; return where it ends. snprintf would take as long as parsing the
 * attribute's content. */
static char *name_attribute(reader *r, unsigned node, const char *rest) {
    char digits[16], *first = digits + sizeof digits;
    *--first = '\0';
    do {
        *--first = (char)('0' + node % 10);
    } while ((node /= 10) != 0);
    return stpcpy(stpcpy(stpcpy(stpcpy(r->name, nodes_directory), first), "/"), rest);
}

/* Read the attribute r->name of a node; a refusal by the device cgroup is not an error where `is_hidden` is not
 * NULL. */
static rsdk_status read_attribute(reader *r, bool *is_hidden, rsdk_error *error) {
    const char *name = r->name + sizeof nodes_directory - 1;
    int reason = rsdk_attribute_read(dirfd(r->nodes), name, r->text, ATTRIBUTE_SIZE, &r->length);
    if (reason == EPERM && is_hidden != NULL) {
        *is_hidden = true;
        return RSDK_OK;
    }
    if (reason != 0) {
        return fail_reading(r, r->name, reason, error);
    }
    return r->length > ATTRIBUTE_LIMIT ? fail_reading(r, r->name, EFBIG, error) : RSDK_OK;
}

/* Put the whole path of the file into an error. The parsers name the file in their errors only, so its path is made
 * when one fails. */
static rsdk_status with_whole_path(const reader *r, rsdk_status status, rsdk_error *error) {
    if (status == RSDK_OK || error == NULL || error->message == NULL) {
        return status;
    }
    char path[PATH_MAX];
    return rsdk_fail_as(error, status, RSDK_E_GPU_004, whole_path(r, r->name, path), NULL, "%s%s/%s", r->root,
                        topology_directory, error->message);
}

static rsdk_status parse_number(reader *r, uint64_t *number, rsdk_error *error) {
    return with_whole_path(r, rsdk_properties_parse_number(r->name, r->text, r->length, number, error), error);
}

static rsdk_status read_counter(reader *r, uint64_t *number, rsdk_error *error) {
    (void)stpcpy(r->name, "generation_id");
    int reason = rsdk_attribute_read(dirfd(r->nodes), "../generation_id", r->text, ATTRIBUTE_SIZE, &r->length);
    if (reason != 0 || r->length > ATTRIBUTE_LIMIT) {
        return fail_reading(r, r->name, reason != 0 ? reason : EFBIG, error);
    }
    return parse_number(r, number, error);
}

/* ---- nodes ---- */

enum { HEAP_FRAME_BUFFER_PUBLIC = 1, HEAP_FRAME_BUFFER_PRIVATE = 2 };

static rsdk_status read_memory(reader *r, rsdk_kfd_node *node, rsdk_error *error) {
    for (unsigned bank = 0; bank < node->properties.mem_banks_count; bank++) {
        rsdk_bank_properties properties = {0};
        char *end = name_attribute(r, node->number, "mem_banks/");
        (void)snprintf(end, sizeof r->name - (size_t)(end - r->name), "%u/properties", bank);
        RSDK_TRY(read_attribute(r, &node->is_hidden, error));
        if (node->is_hidden) {
            return RSDK_OK;
        }
        RSDK_TRY(
            with_whole_path(r, rsdk_properties_parse_bank(r->name, r->text, r->length, &properties, error), error));
        bool is_own =
            properties.heap_type == HEAP_FRAME_BUFFER_PUBLIC || properties.heap_type == HEAP_FRAME_BUFFER_PRIVATE;
        if (is_own && __builtin_add_overflow(node->memory, properties.size_in_bytes, &node->memory)) {
            return fail_reading(r, r->name, EOVERFLOW, error);
        }
    }
    return RSDK_OK;
}

/* Read the number that a node's directory is named by; false for any other name. */
static bool node_number(const char *name, unsigned *number) {
    uint64_t value = 0;
    if (name[0] == '0' && name[1] != '\0') {
        return false;
    }
    for (const char *at = name; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || (value = value * 10 + (uint64_t)(*at - '0')) > INT_MAX) {
            return false;
        }
    }
    *number = (unsigned)value;
    return name[0] != '\0';
}

static int compare_nodes(const void *a, const void *b) {
    unsigned first = ((const rsdk_kfd_node *)a)->number, second = ((const rsdk_kfd_node *)b)->number;
    return (first > second) - (first < second);
}

static rsdk_status collect_nodes(const reader *r, rsdk_topology *topology, rsdk_error *error) {
    for (unsigned seen = 0;; seen++) {
        rsdk_kfd_node node = {0};
        errno = 0;
        /* readdir is safe here: no other thread has this stream. */
        const struct dirent *entry = readdir(r->nodes); /* NOLINT(concurrency-mt-unsafe) */
        if (entry == NULL) {
            return errno != 0 ? fail_reading(r, "nodes", errno, error) : RSDK_OK;
        }
        bool is_node = node_number(entry->d_name, &node.number);
        if (seen > NAME_LIMIT || (is_node && topology->nodes.count == NODE_LIMIT)) {
            char path[PATH_MAX];
            return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_007, whole_path(r, "", path), NULL,
                                "%s/nodes: has more than %d nodes", path, NODE_LIMIT);
        }
        if (is_node) {
            RSDK_APPEND(r->arena, &topology->nodes, node, error);
        }
    }
}

/* ---- one consistent picture ---- */

static rsdk_status read_nodes(reader *r, rsdk_topology *topology, rsdk_error *error) {
    topology->nodes.count = 0;
    RSDK_TRY(collect_nodes(r, topology, error));
    if (topology->nodes.count > 1) {
        qsort(topology->nodes.items, topology->nodes.count, sizeof *topology->nodes.items, compare_nodes);
    }
    for (size_t i = 0; i < topology->nodes.count; i++) {
        rsdk_kfd_node *node = &topology->nodes.items[i];
        (void)name_attribute(r, node->number, "properties");
        RSDK_TRY(read_attribute(r, &node->is_hidden, error));
        if (!node->is_hidden) {
            RSDK_TRY(with_whole_path(
                r, rsdk_properties_parse_node(r->name, r->text, r->length, &node->properties, error), error));
            if (node->properties.simd_count != 0 && r->with_details) {
                (void)name_attribute(r, node->number, "gpu_id");
                RSDK_TRY(read_attribute(r, &node->is_hidden, error));
                if (!node->is_hidden) {
                    RSDK_TRY(parse_number(r, &node->gpu_id, error));
                    RSDK_TRY(read_memory(r, node, error));
                }
            }
        }
        if (node->is_hidden) {
            *node = (rsdk_kfd_node){.number = node->number, .is_hidden = true};
        }
    }
    return RSDK_OK;
}

static rsdk_status read_picture(reader *r, rsdk_topology *topology, rsdk_error *error) {
    uint64_t before = 0, after = 0;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        RSDK_TRY(read_counter(r, &before, error));
        rsdk_status reading = read_nodes(r, topology, error);
        if (reading == RSDK_NO_MEMORY) {
            return reading;
        }
        rsdk_status status = read_counter(r, &after, reading == RSDK_OK ? error : NULL);
        if (status != RSDK_OK || before == after) {
            return reading != RSDK_OK ? reading : status;
        }
        if (error != NULL) {
            rsdk_error_clear(error); /* the change caused the failure */
        }
        rewinddir(r->nodes);
    }
    char path[PATH_MAX];
    return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, whole_path(r, "", path), NULL,
                        "%s: changed %d times while it was read", path, ATTEMPTS);
}

/* Return whether there is no topology: a kernel without KFD has none; a topology has nodes. */
static bool is_absent(const reader *r, int reason) {
    struct stat facts;
    char path[PATH_MAX];
    if (reason != ENOENT && reason != ENOTDIR) {
        return false;
    }
    return stat(whole_path(r, "", path), &facts) == 0 ? !S_ISDIR(facts.st_mode) : errno == ENOENT || errno == ENOTDIR;
}

rsdk_status rsdk_topology_read(const char *root, bool with_details, rsdk_arena *arena, rsdk_topology *topology,
                               rsdk_error *error) {
    char text[ATTRIBUTE_SIZE];
    reader r = {.root = root, .with_details = with_details, .arena = arena, .text = text};
    *topology = (rsdk_topology){0};
    const char *nodes = rsdk_arena_format(arena, "%s%s/nodes", root, topology_directory);
    RSDK_NEED(nodes, error);
    r.nodes = opendir(nodes);
    if (r.nodes == NULL) {
        int reason = errno;
        return is_absent(&r, reason) ? RSDK_OK : fail_reading(&r, "nodes", reason, error);
    }
    topology->exists = true;
    rsdk_status status = read_picture(&r, topology, error);
    (void)closedir(r.nodes);
    return status;
}
