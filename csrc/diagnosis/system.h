/* The kind of this system, as far as fixes differ. */
#ifndef RSDK_DIAGNOSIS_SYSTEM_H
#define RSDK_DIAGNOSIS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

typedef enum rsdk_system {
    RSDK_SYSTEM_ANY,
    RSDK_SYSTEM_DEBIAN,
    RSDK_SYSTEM_FEDORA,
    RSDK_SYSTEM_SUSE,
    RSDK_SYSTEM_ARCH,
    RSDK_SYSTEM_GENTOO,
    RSDK_SYSTEM_NIXOS,
    RSDK_SYSTEM_CONTAINER, /* a container of any distribution */
    RSDK_SYSTEM_COUNT
} rsdk_system;

/* Return the system's name for people: "Debian, Ubuntu". */
const char *rsdk_system_title(rsdk_system system);

/* Return the command that makes the system's package manager reinstall the package of the file {path}; a template. */
const char *rsdk_system_reinstall(rsdk_system system);

/* Return the distribution that a text in the format of os-release(5) names in ID or, failing that, ID_LIKE;
 * RSDK_SYSTEM_ANY where the text names none of the above. */
rsdk_system rsdk_system_of_release(const char *text);

/* Return the distribution of this machine, by /etc/os-release or /usr/lib/os-release. */
rsdk_system rsdk_system_current(void);

/* Return whether this machine has the distribution with this ID in that release or a later one; one without a number is
 * later than all that have one. */
bool rsdk_system_is_since(const char *id, const char *version);

/* Return whether this process runs in a container, by the files that engines leave there. */
bool rsdk_system_is_container(void);

#endif
