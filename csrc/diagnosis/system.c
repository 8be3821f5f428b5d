/* The table of systems, and which one this is. */
#include "diagnosis/system.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { RELEASE_LIMIT = 1 << 16, /* bytes of os-release */ VALUE_SIZE = 256 };

/* clang-format off */
static const struct row {
    const char *ids; /* ID or ID_LIKE, each between blanks */
    const char *title;
    const char *reinstall;
} rows[RSDK_SYSTEM_COUNT] = {
    [RSDK_SYSTEM_ANY]       = {"",                       "elsewhere",      "reinstall the package of the system that {path} belongs to"},
    [RSDK_SYSTEM_DEBIAN]    = {" debian ubuntu ",        "Debian, Ubuntu", "apt-get install --reinstall $(dpkg -S {$path} | cut -d: -f1)"},
    [RSDK_SYSTEM_FEDORA]    = {" fedora rhel centos ",   "Fedora, RHEL",   "dnf reinstall $(rpm -qf {$path})"},
    [RSDK_SYSTEM_SUSE]      = {" suse opensuse sles ",   "SUSE",           "zypper install --force $(rpm -qf --queryformat '%{NAME}' {$path})"},
    [RSDK_SYSTEM_ARCH]      = {" arch ",                 "Arch",           "pacman -S $(pacman -Qoq {$path})"},
    [RSDK_SYSTEM_GENTOO]    = {" gentoo ",               "Gentoo",         "emerge --oneshot $(qfile -qC {$path})"},
    [RSDK_SYSTEM_NIXOS]     = {" nixos ",                "NixOS",          "nix-store --verify --check-contents --repair"},
    [RSDK_SYSTEM_CONTAINER] = {"",                       "in a container", "reinstall the package of the system that {path} belongs to"},
};
/* clang-format on */

static const char *const release_files[] = {"/etc/os-release", "/usr/lib/os-release"};
static const char *const container_files[] = {"/.dockerenv", "/run/.containerenv"};

const char *rsdk_system_title(rsdk_system system) {
    return rows[system].title;
}

const char *rsdk_system_reinstall(rsdk_system system) {
    return rows[system].reinstall;
}

/* The value of `name` without its quotes, between blanks; " " where there is none, or a longer one. */
static void read_value(const char *text, const char *name, char value[VALUE_SIZE]) {
    size_t name_length = strlen(name), length = 0;
    (void)memcpy(value, " ", 2);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, name_length) == 0 && line[name_length] == '=') {
            const char *start = line + name_length + 1;
            start += strspn(start, "\"'");
            length = strcspn(start, "\"'\n");
            if (length + 3 <= VALUE_SIZE) {
                (void)memcpy(value + 1, start, length);
                (void)memcpy(value + 1 + length, " ", 2);
            }
            return;
        }
        if (*line == '\0') {
            return;
        }
    }
}

/* Whether one of the words of `value` is one of `ids`. */
static bool shares_word(const char *value, const char *ids) {
    char word[VALUE_SIZE];
    for (const char *start = value + 1; *start != '\0';) {
        size_t length = strcspn(start, " ");
        word[0] = ' ';
        (void)memcpy(word + 1, start, length);
        (void)memcpy(word + 1 + length, " ", 2);
        if (length > 0 && strstr(ids, word) != NULL) {
            return true;
        }
        start += length + 1;
    }
    return false;
}

rsdk_system rsdk_system_of_release(const char *text) {
    static const char *const names[] = {"ID", "ID_LIKE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char value[VALUE_SIZE];
        read_value(text, names[i], value);
        for (unsigned system = 0; system < RSDK_SYSTEM_COUNT; system++) {
            if (shares_word(value, rows[system].ids)) {
                return (rsdk_system)system;
            }
        }
    }
    return RSDK_SYSTEM_ANY;
}

rsdk_system rsdk_system_current(void) {
    rsdk_system system = RSDK_SYSTEM_ANY;
    rsdk_arena arena = RSDK_ARENA_INIT;
    for (size_t i = 0; i < sizeof release_files / sizeof *release_files; i++) {
        char *text = NULL;
        size_t length = 0;
        rsdk_file_identity identity;
        if (rsdk_file_read_text(release_files[i], RELEASE_LIMIT, &arena, &text, &length, &identity, NULL) == RSDK_OK) {
            system = rsdk_system_of_release(text);
            break;
        }
    }
    rsdk_arena_clear(&arena);
    return system;
}

bool rsdk_system_is_container(void) {
    for (size_t i = 0; i < sizeof container_files / sizeof *container_files; i++) {
        if (access(container_files[i], F_OK) == 0) {
            return true;
        }
    }
    return false;
}
