/* Checks what it takes to use a GPU. Permissions are asked for with faccessat for the effective user, which knows of
 * groups, capabilities and the device cgroup alike. */
#include "gpu/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const char container_fix[] = "start the container with --device=/dev/kfd --device=/dev/dri";
static const char wsl_device[] = "/dev/dxg", wsl_library[] = "/usr/lib/wsl/lib/libdxcore.so";

enum { GROUP_FILE_LIMIT = 1 << 20 };

static rsdk_arena *arena_of(const rsdk_access *access) {
    return access->problems->arena;
}

static rsdk_status below_root(rsdk_access *access, const char *path, const char **whole, rsdk_error *error) {
    *whole = rsdk_arena_format(arena_of(access), "%s%s", access->root, path);
    RSDK_NEED(*whole);
    return RSDK_OK;
}

static bool exists(const char *path) {
    return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

/* 0 or the reason why this user cannot open it for reading and writing. */
static int reason_against(const char *path) {
    return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* ---- who may open a device ---- */

/* The name of a group from a line "name:password:gid:members" of the text of /etc/group; NULL: it has none, as in many
 * containers. Otherwise borrowed, *length characters. */
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

/* The name of a group; *name is NULL where it has none. */
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

/* For a device that this user has no permission for: by its group, if that has it. */
static rsdk_status explain_permission(rsdk_access *access, rsdk_gpu_problem *problem, rsdk_error *error) {
    rsdk_arena *arena = arena_of(access);
    struct stat facts;
    const char *name = NULL;
    if (stat(problem->path, &facts) != 0) {
        problem->cause = rsdk_arena_format(arena, "%s: this user may not search its directory", problem->path);
        problem->fix = "give this user search permission on the directories of the device";
        return RSDK_OK;
    }
    RSDK_TRY(read_group_name(access, facts.st_gid, &name, error));
    unsigned gid = (unsigned)facts.st_gid, mode = (unsigned)facts.st_mode & 07777;
    bool group_may = (mode & (S_IRGRP | S_IWGRP)) == (S_IRGRP | S_IWGRP) && gid != 0;
    problem->cause =
        rsdk_arena_format(arena, "%s: this user may not read and write it; it belongs to group %s (%u), mode %04o",
                          problem->path, name != NULL ? name : "(without name)", gid, mode);
    if (!group_may) {
        problem->fix = "let group render own the device with mode 0660 (a udev rule), and add the user to that group";
    } else if (name != NULL) {
        problem->fix = rsdk_arena_format(
            arena, "sudo usermod -aG %s \"$USER\" and log in again; in a container: --group-add %u", name, gid);
    } else {
        problem->fix = rsdk_arena_format(arena, "start the container with --group-add %u", gid);
    }
    return RSDK_OK;
}

static bool is_missing(int reason) {
    return reason == ENOENT || reason == ENOTDIR;
}

/* Completes and adds a problem about a device that cannot be opened. */
static rsdk_status add_device_problem(rsdk_access *access, int reason, rsdk_gpu_problem *problem, rsdk_error *error) {
    const char *path = problem->path;
    rsdk_arena *arena = arena_of(access);
    problem->fix = container_fix;
    if (is_missing(reason)) {
        problem->cause = rsdk_arena_format(
            arena, "%s: not there although the kernel knows the GPU: a container without this device?", path);
    } else if (reason == EPERM) {
        problem->cause = rsdk_arena_format(arena, "%s: refused by the device cgroup of this container", path);
    } else if (reason == EACCES) {
        RSDK_TRY(explain_permission(access, problem, error));
    } else {
        problem->cause = rsdk_arena_format(arena, "%s: cannot be opened: %s", path, strerror(reason));
        problem->fix = "look into the kernel's log: dmesg | grep -e amdgpu -e kfd";
    }
    return rsdk_problem_list_add(access->problems, *problem, error);
}

rsdk_status rsdk_access_check_kfd(rsdk_access *access, const char **cause, rsdk_error *error) {
    rsdk_gpu_problem problem = {.node = RSDK_NO_NODE};
    *cause = NULL;
    RSDK_TRY(below_root(access, "/dev/kfd", &problem.path, error));
    int reason = reason_against(problem.path);
    if (reason == 0) {
        return RSDK_OK;
    }
    problem.kind = is_missing(reason) ? RSDK_GPU_KFD_MISSING : RSDK_GPU_KFD_REFUSED;
    RSDK_TRY(add_device_problem(access, reason, &problem, error));
    *cause = problem.cause;
    return RSDK_OK;
}

rsdk_status rsdk_access_check_render_node(rsdk_access *access, unsigned minor, int node, rsdk_device_state *state,
                                          const char **cause, rsdk_error *error) {
    rsdk_gpu_problem problem = {.kind = RSDK_GPU_RENDER_NODE_MISSING, .node = node};
    *cause = NULL;
    if (minor == 0) {
        *state = RSDK_DEVICE_REFUSED;
        RSDK_TRY(below_root(access, "/dev/dri", &problem.path, error));
        problem.cause = rsdk_arena_format(arena_of(access), "the kernel gives node %d no render node", node);
        problem.fix = "look into the kernel's log: dmesg | grep -e amdgpu -e drm";
        RSDK_TRY(rsdk_problem_list_add(access->problems, problem, error));
        *cause = problem.cause;
        return RSDK_OK;
    }
    problem.path = rsdk_arena_format(arena_of(access), "%s/dev/dri/renderD%u", access->root, minor);
    RSDK_NEED(problem.path);
    int reason = reason_against(problem.path);
    *state = reason == 0                             ? RSDK_DEVICE_OPENS
             : is_missing(reason) || reason == EPERM ? RSDK_DEVICE_LEFT_OUT
                                                     : RSDK_DEVICE_REFUSED;
    if (reason == 0) {
        return RSDK_OK;
    }
    problem.kind = is_missing(reason) ? RSDK_GPU_RENDER_NODE_MISSING : RSDK_GPU_RENDER_NODE_REFUSED;
    RSDK_TRY(add_device_problem(access, reason, &problem, error));
    *cause = problem.cause;
    return RSDK_OK;
}

/* ---- why there is no GPU ---- */

static rsdk_status explain_wsl(rsdk_access *access, const char *device, rsdk_error *error) {
    rsdk_gpu_problem problem = {.kind = RSDK_GPU_NONE_FOUND, .node = RSDK_NO_NODE, .path = device};
    const char *value = access->environment->hsa_enable_dxg_detection, *library = NULL;
    int reason = reason_against(device);
    problem.cause =
        "this is WSL2: its GPU is behind /dev/dxg, and only a ROCm that supports WSL can say which one it is";
    problem.fix = "install a ROCm that supports WSL, and run its rocminfo";
    RSDK_TRY(rsdk_problem_list_add(access->problems, problem, error));
    if (reason != 0) {
        problem.kind = RSDK_GPU_WSL_DXG_REFUSED;
        RSDK_TRY(add_device_problem(access, reason, &problem, error));
    }
    RSDK_TRY(below_root(access, wsl_library, &library, error));
    if (!exists(library)) {
        problem.kind = RSDK_GPU_WSL_DXCORE_MISSING;
        problem.path = library;
        problem.cause = "libdxcore.so of WSL2 is not there";
        problem.fix = "update WSL (wsl --update) and the GPU driver of Windows; in a container mount /usr/lib/wsl";
        RSDK_TRY(rsdk_problem_list_add(access->problems, problem, error));
    }
    if (value == NULL || strcmp(value, "1") != 0) {
        problem.kind = RSDK_GPU_WSL_DETECTION_OFF;
        problem.path = "HSA_ENABLE_DXG_DETECTION";
        problem.cause = "HSA_ENABLE_DXG_DETECTION does not ask for the GPU of WSL2";
        problem.fix = "set HSA_ENABLE_DXG_DETECTION=1 (ROCm before 7.13 needs it)";
        RSDK_TRY(rsdk_problem_list_add(access->problems, problem, error));
    }
    return RSDK_OK;
}

/* Whether the driver is being loaded or unloaded. One that is built into the kernel has no initstate. */
static bool is_driver_in_motion(const char *initstate) {
    char text[sizeof "live"] = "";
    rsdk_file file;
    bool is_in_motion = false;
    if (rsdk_file_open(initstate, &file, NULL) == RSDK_OK) {
        is_in_motion = rsdk_file_read(&file, 0, text, sizeof text - 1, NULL) == RSDK_OK && strcmp(text, "live") != 0;
        rsdk_file_close(&file);
    }
    return is_in_motion;
}

rsdk_status rsdk_access_explain_no_gpu(rsdk_access *access, bool has_topology, rsdk_error *error) {
    rsdk_gpu_problem problem = {.node = RSDK_NO_NODE};
    const char *wsl = NULL, *initstate = NULL;
    RSDK_TRY(below_root(access, wsl_device, &wsl, error));
    RSDK_TRY(below_root(access, "/sys/module/amdgpu", &problem.path, error));
    RSDK_TRY(below_root(access, "/sys/module/amdgpu/initstate", &initstate, error));
    if (!has_topology && exists(wsl)) {
        return explain_wsl(access, wsl, error);
    }
    if (!exists(problem.path)) {
        problem.kind = RSDK_GPU_DRIVER_MISSING;
        problem.cause = "the kernel's driver amdgpu is not loaded";
        problem.fix = "sudo modprobe amdgpu; without such a module install the kernel's driver package";
    } else if (is_driver_in_motion(initstate)) {
        problem.kind = RSDK_GPU_DRIVER_NOT_LIVE;
        problem.cause = "the kernel's driver amdgpu is being loaded or unloaded";
        problem.fix = "wait; if it stays so, look into the kernel's log: dmesg | grep amdgpu";
    } else if (!has_topology) {
        problem.kind = RSDK_GPU_DRIVER_WITHOUT_COMPUTE;
        problem.cause = "the kernel's driver amdgpu is there without its compute part (KFD)";
        problem.fix = "use a kernel that is built with CONFIG_HSA_AMD";
    } else {
        problem.kind = RSDK_GPU_NONE_FOUND;
        problem.cause = "the kernel's compute driver knows no GPU";
        problem.fix =
            "see whether the GPU is on the bus (lspci -d 1002:) and what the driver says (dmesg | grep amdgpu)";
    }
    return rsdk_problem_list_add(access->problems, problem, error);
}
