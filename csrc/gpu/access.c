/* The checks of the devices that a process needs to use a GPU. faccessat tells the permissions of the effective user:
 * the call takes groups, capabilities and the device cgroup into account. What it does not see, an open does. */
#include "gpu/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gpu/attribute.h"
#include "gpu/refusal.h"

static const char wsl_device[] = "/dev/dxg", wsl_library[] = "/usr/lib/wsl/lib/libdxcore.so";

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

/* Confirm that the device cgroup refuses a device. An older libseccomp answers EPERM to faccessat2 itself, not to the
 * call without flags. Both refuse before the driver is asked, and so does open, which has the last word. */
static int confirm_refusal(const char *path) {
    if (faccessat(AT_FDCWD, path, R_OK | W_OK, 0) == 0) {
        return 0;
    }
    int descriptor = errno == EPERM ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    int reason = descriptor < 0 ? errno : 0;
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    return reason;
}

/* Return 0 or the reason why this user cannot open the file for reading and writing. */
static int reason_against(const rsdk_access *access, const char *path) {
    if (access->options->refused != NULL && strcmp(access->options->refused, path) == 0) {
        return access->options->refusal;
    }
    int reason = faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
    return reason == EPERM ? confirm_refusal(path) : reason;
}

static bool is_missing(int reason) {
    return reason == ENOENT || reason == ENOTDIR;
}

/* Complete and add a problem about a device that cannot be opened; *detail becomes the problem's. */
static rsdk_status add_device_problem(rsdk_access *access, rsdk_refusal *refusal, rsdk_gpu_problem *problem,
                                      const char **detail, rsdk_error *error) {
    refusal->root = access->root;
    RSDK_TRY(rsdk_refusal_explain(refusal, arena_of(access), error));
    problem->path = refusal->path;
    problem->detail = *detail = refusal->detail;
    if (problem->code == RSDK_W_GPU_016) {
        problem->detail = "the kernel sees the GPU"; /* the problem's title has the rest */
    }
    return rsdk_problem_list_add(access->problems, *problem, refusal->facts, error);
}

rsdk_status rsdk_access_check_kfd(rsdk_access *access, const char **detail, rsdk_error *error) {
    rsdk_gpu_problem problem = {.node = RSDK_NO_NODE};
    rsdk_refusal refusal = {.root = access->root, .driver = "kfd"};
    *detail = NULL;
    RSDK_TRY(below_root(access, "/dev/kfd", &refusal.path, error));
    int reason = reason_against(access, refusal.path);
    refusal.reason = reason != 0 ? reason : rsdk_refusal_foresee(&refusal);
    if (refusal.reason == 0) {
        return RSDK_OK;
    }
    problem.code = is_missing(refusal.reason) ? RSDK_W_GPU_016 : RSDK_W_GPU_017;
    return add_device_problem(access, &refusal, &problem, detail, error);
}

rsdk_status rsdk_access_check_render_node(rsdk_access *access, unsigned minor, int node, rsdk_device_state *state,
                                          const char **detail, rsdk_error *error) {
    rsdk_gpu_problem problem = {.code = RSDK_W_GPU_018, .node = node};
    rsdk_refusal refusal = {.driver = "drm", .minor = minor};
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
    refusal.path = rsdk_arena_format(arena_of(access), "%s/dev/dri/renderD%u", access->root, minor);
    RSDK_NEED(refusal.path, error);
    int reason = refusal.reason = reason_against(access, refusal.path);
    *state = reason == 0                             ? RSDK_DEVICE_OPENS
             : is_missing(reason) || reason == EPERM ? RSDK_DEVICE_LEFT_OUT
                                                     : RSDK_DEVICE_REFUSED;
    if (reason == 0) {
        return RSDK_OK;
    }
    problem.code = is_missing(reason) ? RSDK_W_GPU_018 : RSDK_W_GPU_019;
    return add_device_problem(access, &refusal, &problem, detail, error);
}

/* ---- why there is no GPU ---- */

static rsdk_status add_problem(rsdk_access *access, rsdk_code code, const char *path, const char *detail,
                               rsdk_error *error) {
    const rsdk_gpu_problem problem = {.code = code, .node = RSDK_NO_NODE, .path = path, .detail = detail};
    return rsdk_problem_list_add(access->problems, problem, NULL, error);
}

static rsdk_status explain_wsl(rsdk_access *access, const char *device, rsdk_error *error) {
    const char *value = access->environment->hsa_enable_dxg_detection, *library = NULL, *detail = NULL;
    rsdk_refusal refusal = {.path = device, .reason = reason_against(access, device)};
    RSDK_TRY(add_problem(access, RSDK_W_GPU_020, device,
                         "its GPU is behind /dev/dxg, and only a ROCm that supports WSL can say which one it is",
                         error));
    if (refusal.reason != 0) {
        rsdk_gpu_problem problem = {.code = RSDK_W_GPU_021, .node = RSDK_NO_NODE};
        RSDK_TRY(add_device_problem(access, &refusal, &problem, &detail, error));
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

/* Return what is to say where the processor, the kernel of WSL2 or Docker Desktop, or the firmware tells that this is a
 * virtual machine; "" elsewhere. */
static const char *say_virtual(rsdk_access *access) {
    static const char passed[] = ", and this is a virtual machine: if the host has a GPU, it has to be passed through";
    static const char *const signs[][3] = {{"/proc/sys/kernel/osrelease", "WSL2",
                                            ", and this is WSL2 without /dev/dxg: a container needs --device=/dev/dxg"},
                                           {"/proc/sys/kernel/osrelease", "linuxkit", passed},
                                           {"/proc/cpuinfo", " hypervisor", passed},
                                           {"/sys/class/dmi/id/sys_vendor", "QEMU", passed}};
    char text[1 << 13];
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *path = NULL;
        size_t length = 0;
        if (below_root(access, signs[i][0], &path, NULL) == RSDK_OK &&
            rsdk_attribute_read(AT_FDCWD, path, text, sizeof text, &length) == 0 && strstr(text, signs[i][1]) != NULL) {
            return signs[i][2];
        }
    }
    return "";
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
        RSDK_TRY(rsdk_pci_bus_read(access->bus, arena_of(access), error));
        if (access->bus->gpus.count > 0) {
            rsdk_gpu_problem problem = {RSDK_W_GPU_010, RSDK_NO_NODE, driver, "an AMD GPU is on the PCI bus", NULL, 0};
            const char *lent = access->bus->gpus.items[0].address;
            for (size_t i = 0; i < access->bus->gpus.count; i++) {
                lent = access->bus->gpus.items[i].is_lent ? lent : NULL;
            }
            problem.detail = lent != NULL ? "another driver has the AMD GPU, as for a virtual machine" : problem.detail;
            return rsdk_problem_list_add(access->problems, problem, RSDK_FACTS({"lent", lent}), error);
        }
        const char *bus = access->bus->exists ? "none is on the PCI bus" : "the kernel shows no PCI bus";
        const char *detail = rsdk_arena_format(arena_of(access), "%s%s", bus, say_virtual(access));
        RSDK_NEED(detail, error);
        return add_problem(access, RSDK_N_GPU_011, driver, detail, error);
    }
    if (is_driver_in_motion(initstate)) {
        return add_problem(access, RSDK_W_GPU_012, driver, "the module is being loaded or unloaded", error);
    }
    return has_topology ? add_problem(access, RSDK_W_GPU_014, driver, "KFD is there, and lists no GPU", error)
                        : add_problem(access, RSDK_W_GPU_013, driver, "the driver is there, and KFD is not", error);
}
