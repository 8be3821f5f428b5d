/* The table of systems, and which one this is. */
#include "diagnosis/system.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { RELEASE_LIMIT = 1 << 16 }; /* bytes of os-release */

static const char blanks[] = " \t\r\n";

/* clang-format off */
static const struct row {
    const char *ids; /* ID or a word of ID_LIKE, between blanks */
    const char *title;
    const char *reinstall;
} rows[RSDK_SYSTEM_COUNT] = {
    [RSDK_SYSTEM_ANY]       = {"",                       "otherwise",      "Reinstall the package of the system that {$path} belongs to"},
    [RSDK_SYSTEM_DEBIAN]    = {"debian ubuntu",          "Debian, Ubuntu", "apt-get install --reinstall $(dpkg -S {$path} | cut -d: -f1)"},
    [RSDK_SYSTEM_FEDORA]    = {"fedora rhel centos",     "Fedora, RHEL",   "dnf reinstall $(rpm -qf {$path})"},
    [RSDK_SYSTEM_SUSE]      = {"suse opensuse sles",     "SUSE",           "zypper install --force $(rpm -qf --queryformat '%{NAME}' {$path})"},
    [RSDK_SYSTEM_ARCH]      = {"arch",                   "Arch",           "pacman -S $(pacman -Qoq {$path})"},
    [RSDK_SYSTEM_GENTOO]    = {"gentoo",                 "Gentoo",         "emerge --oneshot $(qfile -qC {$path})"},
    [RSDK_SYSTEM_NIXOS]     = {"nixos",                  "NixOS",          "nix-store --verify --check-contents --repair"},
    [RSDK_SYSTEM_CONTAINER] = {"",                       "in a container", "Reinstall the package of the system that {$path} belongs to"},
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

/* Find the value of `name` within the text, without its quotes; of length 0 where there is none. */
static const char *find_value(const char *text, const char *name, size_t *length) {
    size_t name_length = strlen(name);
    const char *line = text;
    while (strncmp(line, name, name_length) != 0 || line[name_length] != '=') {
        line += strcspn(line, "\n");
        if (*line == '\0') {
            *length = 0;
            return line;
        }
        line++;
    }
    const char *start = line + name_length + 1;
    switch (*start) {
    case '"':
        *length = strcspn(++start, "\"\r\n");
        break;
    case '\'':
        *length = strcspn(++start, "'\r\n");
        break;
    default: /* a comment may follow */
        *length = strcspn(start, blanks);
        break;
    }
    return start;
}

/* Return the system that has the word among its ids. */
static rsdk_system system_of_word(const char *word, size_t length) {
    for (unsigned system = 0; system < RSDK_SYSTEM_COUNT; system++) {
        for (const char *id = rows[system].ids; *id != '\0'; id += strspn(id, " ")) {
            size_t id_length = strcspn(id, " ");
            if (id_length == length && memcmp(id, word, length) == 0) {
                return (rsdk_system)system;
            }
            id += id_length;
        }
    }
    return RSDK_SYSTEM_ANY;
}

/* The closest of several words comes first. */
rsdk_system rsdk_system_of_release(const char *text) {
    static const char *const names[] = {"ID", "ID_LIKE"};
    rsdk_system system = RSDK_SYSTEM_ANY;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = 0;
        const char *word = find_value(text, names[i], &length), *end = word + length;
        while (word < end && system == RSDK_SYSTEM_ANY) {
            size_t word_length = 0;
            while (word + word_length < end && strchr(" \t", word[word_length]) == NULL) {
                word_length++;
            }
            system = system_of_word(word, word_length);
            word += word_length;
            word += word < end;
        }
    }
    return system;
}

/* Return the text of this machine's release file; "" without one. */
static const char *read_release(rsdk_arena *arena) {
    char *text = NULL;
    size_t length = 0;
    rsdk_file_identity identity;
    for (size_t i = 0; i < sizeof release_files / sizeof *release_files; i++) {
        if (rsdk_file_read_text(release_files[i], RELEASE_LIMIT, arena, &text, &length, &identity, NULL) == RSDK_OK) {
            return text;
        }
    }
    return "";
}

rsdk_system rsdk_system_current(void) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_system system = rsdk_system_of_release(read_release(&arena));
    rsdk_arena_clear(&arena);
    return system;
}

bool rsdk_system_is_since(const char *id, const char *version) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    size_t id_length = 0, length = 0;
    const char *text = read_release(&arena);
    const char *own_id = find_value(text, "ID", &id_length), *own = find_value(text, "VERSION_ID", &length);
    bool is_same = id_length == strlen(id) && memcmp(own_id, id, id_length) == 0;
    const char *number = rsdk_arena_copy_bytes(&arena, own, length);
    bool is_since = is_same && (length == 0 || (number != NULL && strverscmp(number, version) >= 0));
    rsdk_arena_clear(&arena);
    return is_since;
}

bool rsdk_system_is_container(void) {
    for (size_t i = 0; i < sizeof container_files / sizeof *container_files; i++) {
        if (access(container_files[i], F_OK) == 0) {
            return true;
        }
    }
    return false;
}
