/* Reads KFD's topology. The kernel counts its changes in generation_id: if it differs before and after, what was read
 * may be half old and half new, and is read again. An attribute file is read with one call, because the kernel composes
 * it at each read. */
#include "gpu/topology.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "gpu/attribute.h"

/* A real machine has some dozens of nodes, and an attribute fits a page. What is larger is not KFD's. */
enum { ATTEMPTS = 5, NODE_LIMIT = 1024, NAME_LIMIT = 8192, ATTRIBUTE_LIMIT = 16384, ATTRIBUTE_NAME_SIZE = 64 };
enum { ATTRIBUTE_SIZE = ATTRIBUTE_LIMIT + 2 }; /* a byte too many, and a NUL */

static const char topology_directory[] = "/sys/class/kfd/kfd/topology";

typedef struct reader {
    const char *path; /* of the topology's directory */
    int descriptor;   /* the directory */
    bool with_details;
    rsdk_arena *arena;
    char name[ATTRIBUTE_NAME_SIZE]; /* of the attribute, within the directory */
    char *text; /* what it held; ATTRIBUTE_SIZE bytes, not cleared for each attribute: it is large */
    size_t length;
} reader;

/* ---- attributes ---- */

static rsdk_status fail_reading(const reader *r, const char *name, int reason, rsdk_error *error) {
    char path[PATH_MAX];
    bool has_vanished = reason == ENOENT || reason == ENODEV;
    if (reason == ENOMEM) {
        return rsdk_fail_no_memory(error);
    }
    (void)snprintf(path, sizeof path, "%s/%s", r->path, name);
    return rsdk_fail_as(error, has_vanished ? RSDK_FILE_NOT_FOUND : RSDK_IO_ERROR, RSDK_E_GPU_004, path, NULL,
                        "%s: cannot be read: %s", path, strerror(reason));
}

/* Reads the attribute r->name; a refusal by the device cgroup is not an error where `is_hidden` is not NULL. */
static rsdk_status read_attribute(reader *r, bool *is_hidden, rsdk_error *error) {
    int reason = rsdk_attribute_read(r->descriptor, r->name, r->text, ATTRIBUTE_SIZE, &r->length);
    if (reason == EPERM && is_hidden != NULL) {
        *is_hidden = true;
        return RSDK_OK;
    }
    if (reason != 0) {
        return fail_reading(r, r->name, reason, error);
    }
    return r->length > ATTRIBUTE_LIMIT ? fail_reading(r, r->name, EFBIG, error) : RSDK_OK;
}

/* The parsers name the file in their errors only, so its whole path is made when one fails. */
static rsdk_status with_whole_path(const reader *r, rsdk_status status, rsdk_error *error) {
    if (status == RSDK_OK || error == NULL || error->message == NULL) {
        return status;
    }
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", r->path, r->name);
    return rsdk_fail_as(error, status, RSDK_E_GPU_004, path, NULL, "%s/%s", r->path, error->message);
}

static rsdk_status read_number(reader *r, const char *name, bool *is_hidden, uint64_t *number, rsdk_error *error) {
    (void)snprintf(r->name, sizeof r->name, "%s", name);
    RSDK_TRY(read_attribute(r, is_hidden, error));
    if (is_hidden != NULL && *is_hidden) {
        return RSDK_OK;
    }
    return with_whole_path(r, rsdk_properties_parse_number(r->name, r->text, r->length, number, error), error);
}

/* ---- nodes ---- */

enum { HEAP_FRAME_BUFFER_PUBLIC = 1, HEAP_FRAME_BUFFER_PRIVATE = 2 };

static rsdk_status read_memory(reader *r, rsdk_kfd_node *node, rsdk_error *error) {
    for (unsigned bank = 0; bank < node->properties.mem_banks_count; bank++) {
        rsdk_bank_properties properties = {0};
        (void)snprintf(r->name, sizeof r->name, "nodes/%u/mem_banks/%u/properties", node->number, bank);
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

static rsdk_status read_details(reader *r, rsdk_kfd_node *node, rsdk_error *error) {
    char name[ATTRIBUTE_NAME_SIZE];
    (void)snprintf(name, sizeof name, "nodes/%u/gpu_id", node->number);
    RSDK_TRY(read_number(r, name, &node->is_hidden, &node->gpu_id, error));
    return node->is_hidden ? RSDK_OK : read_memory(r, node, error);
}

static rsdk_status read_properties(reader *r, rsdk_kfd_node *node, rsdk_error *error) {
    (void)snprintf(r->name, sizeof r->name, "nodes/%u/properties", node->number);
    RSDK_TRY(read_attribute(r, &node->is_hidden, error));
    if (node->is_hidden) {
        return RSDK_OK;
    }
    RSDK_TRY(
        with_whole_path(r, rsdk_properties_parse_node(r->name, r->text, r->length, &node->properties, error), error));
    return node->properties.simd_count != 0 && r->with_details ? read_details(r, node, error) : RSDK_OK;
}

static rsdk_status read_node(reader *r, rsdk_kfd_node *node, rsdk_error *error) {
    RSDK_TRY(read_properties(r, node, error));
    if (node->is_hidden) {
        *node = (rsdk_kfd_node){.number = node->number, .is_hidden = true};
    }
    return RSDK_OK;
}

/* The number that a node's directory is named by; false for any other name. */
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

static rsdk_status collect_nodes(const reader *r, DIR *stream, rsdk_topology *topology, rsdk_error *error) {
    for (unsigned seen = 0;; seen++) {
        rsdk_kfd_node node = {0};
        errno = 0;
        /* readdir is safe here: no other thread has this stream. */
        const struct dirent *entry = readdir(stream); /* NOLINT(concurrency-mt-unsafe) */
        if (entry == NULL) {
            return errno != 0 ? fail_reading(r, "nodes", errno, error) : RSDK_OK;
        }
        bool is_node = node_number(entry->d_name, &node.number);
        if (seen > NAME_LIMIT || (is_node && topology->nodes.count == NODE_LIMIT)) {
            return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_007, r->path, NULL, "%s/nodes: has more than %d nodes",
                                r->path, NODE_LIMIT);
        }
        if (is_node) {
            RSDK_APPEND(r->arena, &topology->nodes, node, error);
        }
    }
}

static rsdk_status list_nodes(const reader *r, rsdk_topology *topology, rsdk_error *error) {
    int descriptor = openat(r->descriptor, "nodes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    topology->nodes.count = 0;
    if (stream == NULL) {
        rsdk_status status = fail_reading(r, "nodes", errno, error);
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return status;
    }
    rsdk_status status = collect_nodes(r, stream, topology, error);
    (void)closedir(stream);
    if (topology->nodes.count > 1) {
        qsort(topology->nodes.items, topology->nodes.count, sizeof *topology->nodes.items, compare_nodes);
    }
    return status;
}

/* ---- one consistent picture ---- */

static rsdk_status read_nodes(reader *r, rsdk_topology *topology, rsdk_error *error) {
    RSDK_TRY(list_nodes(r, topology, error));
    for (size_t i = 0; i < topology->nodes.count; i++) {
        RSDK_TRY(read_node(r, &topology->nodes.items[i], error));
    }
    return RSDK_OK;
}

static rsdk_status read_picture(reader *r, rsdk_topology *topology, rsdk_error *error) {
    static const char counter[] = "generation_id";
    uint64_t before = 0, after = 0;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        RSDK_TRY(read_number(r, counter, NULL, &before, error));
        rsdk_status reading = read_nodes(r, topology, error);
        if (reading == RSDK_NO_MEMORY) {
            return reading;
        }
        rsdk_status status = read_number(r, counter, NULL, &after, reading == RSDK_OK ? error : NULL);
        if (status != RSDK_OK || before == after) {
            return reading != RSDK_OK ? reading : status;
        }
        if (error != NULL) {
            rsdk_error_clear(error); /* what went wrong was the change */
        }
    }
    return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, r->path, NULL, "%s: changed %d times while it was read",
                        r->path, ATTEMPTS);
}

rsdk_status rsdk_topology_read(const char *root, bool with_details, rsdk_arena *arena, rsdk_topology *topology,
                               rsdk_error *error) {
    char text[ATTRIBUTE_SIZE];
    reader r = {.with_details = with_details, .arena = arena, .text = text};
    *topology = (rsdk_topology){0};
    r.path = rsdk_arena_format(arena, "%s%s", root, topology_directory);
    RSDK_NEED(r.path, error);
    r.descriptor = open(r.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (r.descriptor < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return RSDK_OK;
        }
        return rsdk_fail_as(error, RSDK_IO_ERROR, RSDK_E_GPU_004, r.path, NULL, "%s: cannot be read: %s", r.path,
                            strerror(errno));
    }
    topology->exists = true;
    rsdk_status status = read_picture(&r, topology, error);
    (void)close(r.descriptor);
    return status;
}
