/* The checks of the devices that a process needs to use a GPU. faccessat tells the permissions of the effective user:
 * the call takes groups, capabilities and the device cgroup into account. */
#include "gpu/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "gpu/attribute.h"

static const char wsl_device[] = "/dev/dxg", wsl_library[] = "/usr/lib/wsl/lib/libdxcore.so";

enum { GROUP_FILE_LIMIT = 1 << 20 };

static rsdk_arena *arena_of(const rsdk_access *access) {
    return access->problems->arena;
}

static rsdk_status below_root(rsdk_access *access, const char *path, const char **whole, rsdk_error *error) {
    *whole = rsdk_arena_format(arena_of(access), "%s%s", access->root, path);
    RSDK_NEED(*whole, error);
    return RSDK_OK;
}

static bool exists(const char *path) {
    return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

/* Return 0 or the reason why this user cannot open the file for reading and writing. */
static int reason_against(const char *path) {
    return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* ---- who may open a device ---- */

/* Find the name of a group in a line "name:password:gid:members" of the text of /etc/group; NULL: the group has none,
 * as in many containers. Otherwise borrowed, *length characters. */
static const char *find_group(const char *text, gid_t gid, size_t *length) {
    for (const char *line = text; line != NULL && *line != '\0';) {
        size_t size = strcspn(line, "\n");
        *length = strcspn(line, ":\n");
        const char *number = line[*length] == ':' ? memchr(line + *length + 1, ':', size - *length - 1) : NULL;
        char *end = NULL;
        if (number != NULL && number[1] >= '0' && number[1] <= '9' && strtoul(number + 1, &end, 10) == gid &&
            *end == ':') {
            return line;
        }
        line = line[size] == '\n' ? line + size + 1 : NULL;
    }
    return NULL;
}

/* Read the name of a group; *name is NULL where it has none. */
static rsdk_status read_group_name(rsdk_access *access, gid_t gid, const char **name, rsdk_error *error) {
    const char *path = NULL;
    char *text = NULL;
    size_t length = 0;
    rsdk_file_identity identity;
    rsdk_arena scratch = RSDK_ARENA_INIT;
    *name = NULL;
    RSDK_TRY(below_root(access, "/etc/group", &path, error));
    rsdk_status status = rsdk_file_read_text(path, GROUP_FILE_LIMIT, &scratch, &text, &length, &identity, NULL);
    const char *found = status == RSDK_OK ? find_group(text, gid, &length) : NULL;
    *name = found != NULL ? rsdk_arena_copy_bytes(arena_of(access), found, length) : NULL;
    bool failed = status == RSDK_NO_MEMORY || (found != NULL && *name == NULL);
    rsdk_arena_clear(&scratch);
    return failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

/* The known facts of a device that this user has no permission for. */
typedef struct permission {
    const char *mode, *group, *gid, *unsearchable; /* NULL: not known, or not the point */
} permission;

/* Explain a missing permission by the device's group, if the group has permission. */
static rsdk_status explain_permission(rsdk_access *access, rsdk_gpu_problem *problem, permission *known,
                                      rsdk_error *error) {
    rsdk_arena *arena = arena_of(access);
    struct stat facts;
    const char *name = NULL;
    if (stat(problem->path, &facts) != 0) {
        problem->detail = rsdk_arena_format(arena, "%s: this user may not search its directory", problem->path);
        known->unsearchable = problem->path;
        return RSDK_OK;
    }
    RSDK_TRY(read_group_name(access, facts.st_gid, &name, error));
    unsigned gid = (unsigned)facts.st_gid, mode = (unsigned)facts.st_mode & 07777;
    bool group_may = (mode & (S_IRGRP | S_IWGRP)) == (S_IRGRP | S_IWGRP) && gid != 0;
    problem->detail =
        rsdk_arena_format(arena, "%s: this user may not read and write it; it belongs to group %s (%u), mode %04o",
                          problem->path, name != NULL ? name : "(without name)", gid, mode);
    const char *gid_text = rsdk_arena_format(arena, "%u", gid), *mode_text = rsdk_arena_format(arena, "%04o", mode);
    RSDK_NEED(gid_text, error);
    RSDK_NEED(mode_text, error);
    *known = group_may ? (permission){.group = name, .gid = gid_text} : (permission){.mode = mode_text};
    return RSDK_OK;
}

static bool is_missing(int reason) {
    return reason == ENOENT || reason == ENOTDIR;
}

/* Complete and add a problem about a device that cannot be opened; *detail becomes the problem's. */
static rsdk_status add_device_problem(rsdk_access *access, int reason, rsdk_gpu_problem *problem, const char **detail,
                                      rsdk_error *error) {
    static const char absent[] = "the kernel sees the GPU. Was the container started without it?";
    const char *path = problem->path, *other = NULL;
    rsdk_arena *arena = arena_of(access);
    permission known = {0};
    if (is_missing(reason)) {
        problem->detail = rsdk_arena_format(arena, "%s: missing, although %s", path, absent);
    } else if (reason == EPERM) {
        problem->detail = rsdk_arena_format(arena, "%s: refused by the device cgroup of this container", path);
    } else if (reason == EACCES) {
        RSDK_TRY(explain_permission(access, problem, &known, error));
    } else {
        problem->detail = rsdk_arena_format(arena, "%s: cannot be opened: %s", path, strerror(reason));
        other = rsdk_arena_copy(arena, strerror(reason));
        RSDK_NEED(other, error);
    }
    *detail = problem->detail;
    if (problem->code == RSDK_W_GPU_016) {
        RSDK_NEED(*detail, error);
        problem->detail = absent; /* the problem's title has the rest */
    }
    return rsdk_problem_list_add(access->problems, *problem,
                                 RSDK_FACTS({"group", known.group}, {"gid", known.gid}, {"mode", known.mode},
                                            {"unsearchable", known.unsearchable}, {"reason", other}),
                                 error);
}

rsdk_status rsdk_access_check_kfd(rsdk_access *access, const char **detail, rsdk_error *error) {
    rsdk_gpu_problem problem = {.node = RSDK_NO_NODE};
    *detail = NULL;
    RSDK_TRY(below_root(access, "/dev/kfd", &problem.path, error));
    int reason = reason_against(problem.path);
    if (reason == 0) {
        return RSDK_OK;
    }
    problem.code = is_missing(reason) ? RSDK_W_GPU_016 : RSDK_W_GPU_017;
    return add_device_problem(access, reason, &problem, detail, error);
}

rsdk_status rsdk_access_check_render_node(rsdk_access *access, unsigned minor, int node, rsdk_device_state *state,
                                          const char **detail, rsdk_error *error) {
    rsdk_gpu_problem problem = {.code = RSDK_W_GPU_018, .node = node};
    *detail = NULL;
    if (minor == 0) {
        *state = RSDK_DEVICE_REFUSED;
        RSDK_TRY(below_root(access, "/dev/dri", &problem.path, error));
        problem.detail = rsdk_arena_format(arena_of(access), "the kernel gives node %d no render node", node);
        const char *without = rsdk_arena_format(arena_of(access), "node %d", node);
        RSDK_NEED(without, error);
        *detail = problem.detail;
        return rsdk_problem_list_add(access->problems, problem, RSDK_FACTS({"without", without}), error);
    }
    problem.path = rsdk_arena_format(arena_of(access), "%s/dev/dri/renderD%u", access->root, minor);
    RSDK_NEED(problem.path, error);
    int reason = reason_against(problem.path);
    *state = reason == 0                             ? RSDK_DEVICE_OPENS
             : is_missing(reason) || reason == EPERM ? RSDK_DEVICE_LEFT_OUT
                                                     : RSDK_DEVICE_REFUSED;
    if (reason == 0) {
        return RSDK_OK;
    }
    problem.code = is_missing(reason) ? RSDK_W_GPU_018 : RSDK_W_GPU_019;
    return add_device_problem(access, reason, &problem, detail, error);
}

/* ---- why there is no GPU ---- */

static rsdk_status add_problem(rsdk_access *access, rsdk_code code, const char *path, const char *detail,
                               rsdk_error *error) {
    const rsdk_gpu_problem problem = {.code = code, .node = RSDK_NO_NODE, .path = path, .detail = detail};
    return rsdk_problem_list_add(access->problems, problem, NULL, error);
}

static rsdk_status explain_wsl(rsdk_access *access, const char *device, rsdk_error *error) {
    const char *value = access->environment->hsa_enable_dxg_detection, *library = NULL, *detail = NULL;
    int reason = reason_against(device);
    RSDK_TRY(add_problem(access, RSDK_W_GPU_020, device,
                         "its GPU is behind /dev/dxg, and only a ROCm that supports WSL can say which one it is",
                         error));
    if (reason != 0) {
        rsdk_gpu_problem problem = {.code = RSDK_W_GPU_021, .node = RSDK_NO_NODE, .path = device};
        RSDK_TRY(add_device_problem(access, reason, &problem, &detail, error));
    }
    RSDK_TRY(below_root(access, wsl_library, &library, error));
    if (!exists(library)) {
        RSDK_TRY(add_problem(access, RSDK_W_GPU_022, library, "the driver of Windows brings it", error));
    }
    if (value == NULL || strcmp(value, "1") != 0) {
        RSDK_TRY(add_problem(access, RSDK_W_GPU_023, "HSA_ENABLE_DXG_DETECTION", "it is not set to 1", error));
    }
    return RSDK_OK;
}

/* Return whether the driver is being loaded or unloaded. A driver that is built into the kernel has no initstate. */
static bool is_driver_in_motion(const char *initstate) {
    char text[sizeof "live"];
    size_t length = 0;
    (void)rsdk_attribute_read(AT_FDCWD, initstate, text, sizeof text, &length);
    return length == sizeof text - 1 && strcmp(text, "live") != 0;
}

static rsdk_status explain_no_driver(rsdk_access *access, const char *driver, rsdk_error *error) {
    RSDK_TRY(rsdk_pci_bus_read(access->bus, arena_of(access), error));
    if (access->bus->gpus.count > 0) {
        return add_problem(access, RSDK_W_GPU_010, driver, "an AMD GPU is on the PCI bus", error);
    }
    const char *detail = access->bus->exists ? "none is on the PCI bus" : "the kernel shows no PCI bus";
    return add_problem(access, RSDK_N_GPU_011, driver, detail, error);
}

rsdk_status rsdk_access_explain_no_gpu(rsdk_access *access, bool has_topology, rsdk_error *error) {
    const char *driver = NULL, *wsl = NULL, *initstate = NULL;
    RSDK_TRY(below_root(access, wsl_device, &wsl, error));
    RSDK_TRY(below_root(access, "/sys/module/amdgpu", &driver, error));
    RSDK_TRY(below_root(access, "/sys/module/amdgpu/initstate", &initstate, error));
    if (!has_topology && exists(wsl)) {
        return explain_wsl(access, wsl, error);
    }
    if (!exists(driver)) {
        return explain_no_driver(access, driver, error);
    }
    if (is_driver_in_motion(initstate)) {
        return add_problem(access, RSDK_W_GPU_012, driver, "the module is being loaded or unloaded", error);
    }
    return has_topology ? add_problem(access, RSDK_W_GPU_014, driver, "KFD is there, and lists no GPU", error)
                        : add_problem(access, RSDK_W_GPU_013, driver, "the driver is there, and KFD is not", error);
}
