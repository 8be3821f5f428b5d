/* Why a device file cannot be used. The kernel is the judge (inode_permission, chrdev_open): its answer comes in, and
 * what it judges by is looked at: the numbers, the mount, the mode, the process's own groups, the ACL, the label. */
#include "gpu/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "gpu/attribute.h"

enum { TEXT_SIZE = 4097, GROUP_FILE_LIMIT = 1 << 20, READ_AND_WRITE = S_IROTH | S_IWOTH };

/* ---- the surroundings ---- */

/* Read a file of the system below the root. Return false where it cannot be read; the text is "" then. */
static bool read_below(const char *root, const char *name, char text[TEXT_SIZE]) {
    char path[TEXT_SIZE];
    size_t length = 0;
    text[0] = '\0';
    return snprintf(path, sizeof path, "%s%s", root, name) < (int)sizeof path &&
           rsdk_attribute_read(AT_FDCWD, path, text, TEXT_SIZE, &length) == 0;
}

/* A file of it, how that begins, and what gives it devices (NULL: the general words). */
typedef struct container_kind {
    const char *file, *begin, *give;
} container_kind;

/* The first kind is LXC. Sources: systemd's Container Interface, and what each program makes in its containers. */
static const container_kind kinds[] = {
    {"/run/systemd/container", "lxc", NULL},
    {"/.flatpak-info", "", "flatpak run --device=all APPLICATION  # Flatpak before 1.17.8 gives no /dev/kfd otherwise"},
    {"/.singularity.d/runscript", "", "Start the container with apptainer --bind /dev/kfd,/dev/dri"},
    {"/proc/1/comm", "firejail", "firejail --ignore=private-dev PROGRAM  # private-dev hides /dev/kfd before 0.9.74"},
    {"/run/.containerenv", "", NULL},
    {"/.dockerenv", "", NULL},
    {"/run/systemd/container", "", NULL},
};

/* Return the kind of the container; NULL: this is none. */
static const container_kind *find_kind(const char *root) {
    char text[TEXT_SIZE];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (read_below(root, kinds[i].file, text) && strncmp(text, kinds[i].begin, strlen(kinds[i].begin)) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* Find the driver's number among the character devices of /proc/devices: "234 kfd". */
static bool find_major(const rsdk_refusal *x, unsigned *number) {
    char text[TEXT_SIZE], *end = NULL;
    (void)read_below(x->root, "/proc/devices", text);
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL && strcmp(line, "Block devices:") != 0;
         line = strtok_r(NULL, "\n", &rest)) {
        *number = (unsigned)strtoul(line, &end, 10);
        if (x->driver != NULL && *end == ' ' && strcmp(end + 1, x->driver) == 0) {
            return true;
        }
    }
    return false;
}

/* Return whether the file is another device than the driver's, whose major number is `right`. */
static bool is_other_device(const rsdk_refusal *x, const struct stat *file, unsigned *right) {
    if ((S_ISREG(file->st_mode) && x->root[0] != '\0') || !find_major(x, right)) {
        return false;
    }
    return !S_ISCHR(file->st_mode) || major(file->st_rdev) != *right || minor(file->st_rdev) != x->minor;
}

static bool is_without_devices(const rsdk_refusal *x, const struct stat *file) {
    struct statvfs mount;
    return S_ISCHR(file->st_mode) && statvfs(x->path, &mount) == 0 && (mount.f_flag & ST_NODEV) != 0;
}

int rsdk_refusal_foresee(const rsdk_refusal *x) {
    struct stat file;
    unsigned right;
    if (stat(x->path, &file) != 0) {
        return 0;
    }
    return is_other_device(x, &file, &right) ? ENXIO : is_without_devices(x, &file) ? EACCES : 0;
}

/* ---- permission ---- */

/* Return whether the kernel shows this number in place of one that the user namespace does not have
 * (user_namespaces(7)): such owners are all different, whatever their number. */
static bool is_unmapped(const rsdk_refusal *x, unsigned id, const char *overflow, const char *map) {
    char text[TEXT_SIZE], *end = NULL;
    unsigned number = 65534;
    (void)rsdk_attribute_read_number(overflow, 10, UINT32_MAX, &number);
    bool has_all = !read_below("", map, text) || (strtoul(text, &end, 10) == 0 && strtoul(end, &end, 10) == 0 &&
                                                  strtoul(end, &end, 10) == UINT32_MAX);
    return id == number && (!has_all || find_kind(x->root) != NULL);
}

/* Find a group in /etc/group, whose lines are "name:password:gid:members": by its name, or by its number where that is
 * NULL. NULL: it is not there, as in many containers. */
static const char *find_group(const rsdk_refusal *x, const char *wanted, gid_t *gid, rsdk_arena *arena) {
    const char *path = rsdk_arena_format(arena, "%s/etc/group", x->root);
    char *text = NULL;
    size_t length = 0;
    rsdk_file_identity identity;
    if (path == NULL ||
        rsdk_file_read_text(path, GROUP_FILE_LIMIT, arena, &text, &length, &identity, NULL) != RSDK_OK) {
        return NULL;
    }
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *colon = strchr(line, ':'), *number = colon != NULL ? strchr(colon + 1, ':') : NULL, *end = number;
        unsigned long value = number != NULL ? strtoul(number + 1, &end, 10) : 0;
        if (number == NULL || end == number + 1 || *end != ':') {
            continue;
        }
        *colon = '\0';
        if (wanted != NULL ? strcmp(line, wanted) == 0 : value == *gid) {
            *gid = (gid_t)value;
            return line;
        }
    }
    return NULL;
}

/* Explain a refusal by the mode: what makes this user one of those who may. */
static void explain_by_mode(rsdk_refusal *x, const struct stat *file, const char *name, bool has_group,
                            const char *owner, rsdk_arena *arena) {
    gid_t number = file->st_gid;
    bool group_may = (file->st_mode >> 3 & READ_AND_WRITE) == READ_AND_WRITE && number != 0;
    bool is_lxc = find_kind(x->root) == &kinds[0] && (!group_may || !has_group || name == NULL);
    bool is_known = !is_lxc || find_group(x, "render", &number, arena) != NULL;
    const char *gid = is_known ? rsdk_arena_format(arena, "%u", (unsigned)number) : "GID";
    x->detail = rsdk_arena_format(arena, "%s: this user may not read and write it; it belongs to %s%s", x->path, owner,
                                  has_group ? "" : ", which stands for groups that this user namespace does not have");
    x->facts[1] = is_lxc       ? (rsdk_fact){"lxc_gid", gid}
                  : !has_group ? (rsdk_fact){"unmapped", name != NULL ? name : gid}
                  : group_may  ? (rsdk_fact){"gid", gid}
                               : (rsdk_fact){"mode", owner};
    x->facts[2] = (rsdk_fact){group_may && name != NULL ? "group" : NULL, name};
}

static rsdk_status explain_permission(rsdk_refusal *x, const struct stat *file, rsdk_arena *arena, rsdk_error *error) {
    unsigned mode = (unsigned)file->st_mode & 07777;
    gid_t gid = file->st_gid;
    bool has_user = !is_unmapped(x, file->st_uid, "/proc/sys/kernel/overflowuid", "/proc/self/uid_map");
    bool has_group = !is_unmapped(x, gid, "/proc/sys/kernel/overflowgid", "/proc/self/gid_map");
    bool is_member = has_group && (getegid() == gid || group_member(gid) != 0);
    const char *name = find_group(x, NULL, &gid, arena), *known = name != NULL ? name : "(without name)";
    const char *owner = rsdk_arena_format(arena, "group %s (%u), mode %04o", known, (unsigned)gid, mode);
    RSDK_NEED(owner, error);
    unsigned own = has_user && file->st_uid == geteuid() ? mode >> 6 : is_member ? mode >> 3 : mode;
    bool is_root = geteuid() == 0 && has_user && has_group;
    if (is_without_devices(x, file)) {
        x->detail = rsdk_arena_format(arena, "%s: its file system is mounted nodev, where no device opens", x->path);
        x->facts[1] = (rsdk_fact){"directory", x->path};
    } else if (is_root || (own & READ_AND_WRITE) == READ_AND_WRITE) {
        /* Explain a refusal of what the mode allows. A label is SELinux's "user:role:type:level" or AppArmor's "profile
         * (mode)"; neither refuses what is unconfined. */
        char label[TEXT_SIZE];
        (void)read_below("", "/proc/self/attr/current", label);
        label[strcspn(label, "\n")] = '\0';
        bool has_acl = getxattr(x->path, "system.posix_acl_access", NULL, 0) > 0;
        bool is_free = has_acl || strstr(label, "unconfined") != NULL || strstr(label, "(complain)") != NULL;
        bool has_module = !is_free && strpbrk(label, "):") != NULL;
        x->detail =
            rsdk_arena_format(arena, "%s: the mode lets this process read and write it (%s), and %s%s", x->path, owner,
                              has_acl      ? "its ACL does not"
                              : has_module ? "a security module is there, with the label "
                                           : "the kernel refuses it; the cause is not known",
                              has_module ? label : "");
        x->facts[1] = has_acl                      ? (rsdk_fact){"acl", x->path}
                      : !has_module                ? (rsdk_fact){"reason", strerror(EACCES)}
                      : strchr(label, ')') != NULL ? (rsdk_fact){"apparmor", "AppArmor"}
                                                   : (rsdk_fact){"selinux", "SELinux"};
    } else {
        explain_by_mode(x, file, name, has_group, owner, arena);
    }
    RSDK_NEED(x->detail, error);
    RSDK_NEED(x->facts[1].value, error);
    return RSDK_OK;
}

rsdk_status rsdk_refusal_explain(rsdk_refusal *x, rsdk_arena *arena, rsdk_error *error) {
    struct stat file;
    unsigned right = 0;
    const container_kind *kind = find_kind(x->root);
    bool is_missing = x->reason == ENOENT || x->reason == ENOTDIR, has_file = stat(x->path, &file) == 0;
    bool is_other = has_file && is_other_device(x, &file, &right), is_refused = x->reason == EPERM;
    const char *numbers = find_major(x, &right)
                              ? rsdk_arena_format(arena, kind != NULL ? "%u:%u" : "%u %u", right, x->minor)
                              : "MAJOR:MINOR";
    RSDK_NEED(numbers, error);
    x->facts[0] = (rsdk_fact){"device", x->path + strlen(x->root) + 1};
    if (is_other) {
        x->detail = rsdk_arena_format(arena, "%s: its numbers are %u:%u, and %s has %u:%u (/proc/devices)", x->path,
                                      major(file.st_rdev), minor(file.st_rdev), x->driver, right, x->minor);
    } else if (is_missing) {
        x->detail = rsdk_arena_format(arena, "%s: missing, although the kernel sees the GPU", x->path);
    } else if (is_refused) {
        x->detail = rsdk_arena_format(arena, "%s: refused by the device cgroup of this container or service", x->path);
    } else if (x->reason == EACCES && has_file) {
        return explain_permission(x, &file, arena, error);
    } else if (x->reason == EACCES) {
        x->detail = rsdk_arena_format(arena, "%s: this user may not search its directory", x->path);
        x->facts[1] = (rsdk_fact){"unsearchable", x->path};
    } else {
        const char *reason = x->reason == ETIMEDOUT ? "there is no answer" : strerror(x->reason);
        x->detail = rsdk_arena_format(arena, "%s: cannot be opened: %s", x->path, reason);
        x->facts[1] = (rsdk_fact){"reason", rsdk_arena_copy(arena, reason)};
    }
    if (is_other || is_missing || is_refused) {
        x->facts[1] = kind == &kinds[0] ? (rsdk_fact){"allowed", numbers}
                      : kind != NULL    ? (rsdk_fact){kind->give != NULL ? "give" : NULL, kind->give}
                                        : (rsdk_fact){is_other ? "numbers" : NULL, numbers};
    }
    RSDK_NEED(x->detail, error);
    return RSDK_OK;
}
