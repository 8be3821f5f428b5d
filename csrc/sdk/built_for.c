/* The intersection of the releases that SONAMEs stand for. */
#include "sdk/built_for.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "elf/soname.h"

static const char hip[] = "libamdhip64.so";
static const char hip_version[] = "hip_";

static int compare(rsdk_release a, rsdk_release b) {
    if (a.major != b.major) {
        return a.major < b.major ? -1 : 1;
    }
    return a.minor < b.minor ? -1 : a.minor > b.minor;
}

static bool is_open(rsdk_release last) {
    return last.major == 0;
}

static rsdk_release_range intersect(rsdk_release_range a, rsdk_release_range b) {
    rsdk_release_range both = {.first = compare(a.first, b.first) > 0 ? a.first : b.first, .last = a.last};
    if (is_open(a.last) || (!is_open(b.last) && compare(b.last, a.last) < 0)) {
        both.last = b.last;
    }
    return both;
}

static bool is_empty(rsdk_release_range range) {
    return !is_open(range.last) && compare(range.first, range.last) > 0;
}

static void narrow(rsdk_built_for *files, const char *soname, rsdk_release_range range) {
    files->all = intersect(files->all, range);
    if (rsdk_soname_has_linker_name(soname, hip)) {
        files->hip = intersect(files->hip, range);
    }
}

/* Return the number of a SONAME: 7 of "libamdhip64.so.7"; 0: the SONAME has none. */
static unsigned long number_of(const char *soname) {
    size_t length = rsdk_soname_linker_name_length(soname);
    return soname[length] == '.' ? strtoul(soname + length + 1, NULL, 10) : 0;
}

bool rsdk_built_for_knows(const char *soname) {
    rsdk_built_for alone = {.is_newer = false};
    rsdk_built_for_add(&alone, soname);
    return rsdk_release_range_is_known(rsdk_built_for_releases(&alone));
}

void rsdk_built_for_add(rsdk_built_for *files, const char *soname) {
    const rsdk_soname_release *newest = NULL;
    for (size_t i = 0; i < rsdk_soname_release_count; i++) {
        const rsdk_soname_release *row = &rsdk_soname_releases[i];
        if (strcmp(row->soname, soname) == 0) {
            narrow(files, soname, (rsdk_release_range){row->first, row->last});
            return;
        }
        newest = rsdk_soname_is_same_library(row->soname, soname) ? row : newest;
    }
    files->is_newer |= newest != NULL && number_of(soname) > number_of(newest->soname);
}

/* Return the release of a number of HIP. HIP has the number of the release up to 7.14; HIP 7.15 belongs to ROCm 10.0
 * (AMD's changelog of 10.0). */
static rsdk_release release_of_hip(rsdk_release number) {
    const rsdk_release last = {7, 14}, next = {10, 0};
    return compare(number, last) > 0 && compare(number, next) < 0 ? next : number;
}

void rsdk_built_for_add_version(rsdk_built_for *files, const char *soname, const char *version) {
    const char *text = version + sizeof hip_version - 1;
    char *end = NULL;
    if (!rsdk_soname_has_linker_name(soname, hip) || strncmp(version, hip_version, sizeof hip_version - 1) != 0) {
        return;
    }
    unsigned long major = strtoul(text, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    if (end != text && major < 1000 && minor < 1000) {
        rsdk_release first = release_of_hip((rsdk_release){(unsigned)major, (unsigned)minor});
        narrow(files, soname, (rsdk_release_range){.first = first});
    }
}

rsdk_release_range rsdk_built_for_releases(const rsdk_built_for *files) {
    rsdk_release_range found = is_empty(files->all) ? files->hip : files->all;
    return files->is_newer || is_empty(found) ? (rsdk_release_range){.last = {0, 0}} : found;
}

bool rsdk_release_range_is_known(rsdk_release_range range) {
    return range.first.major != 0 || !is_open(range.last);
}

bool rsdk_release_ranges_meet(rsdk_release_range a, rsdk_release_range b) {
    return !is_empty(intersect(a, b));
}

void rsdk_release_range_add_text(rsdk_release_range range, rsdk_text *text) {
    rsdk_release first = range.first, last = range.last;
    if (!rsdk_release_range_is_known(range)) {
        return;
    }
    if (is_open(last)) {
        rsdk_text_add(text, "ROCm %u.%u or newer", first.major, first.minor);
    } else if (first.major == 0) {
        rsdk_text_add(text, "ROCm %u.%u or older", last.major, last.minor);
    } else if (compare(first, last) == 0) {
        rsdk_text_add(text, "ROCm %u.%u", first.major, first.minor);
    } else {
        rsdk_text_add(text, "ROCm %u.%u to %u.%u", first.major, first.minor, last.major, last.minor);
    }
}

void rsdk_release_range_add_requirement(rsdk_release_range range, rsdk_text *text) {
    if (range.first.major == 0) {
        return;
    }
    rsdk_text_add(text, "rocm[libraries]>=%u.%u", range.first.major, range.first.minor);
    if (!is_open(range.last)) {
        rsdk_text_add(text, ",<%u.%u", range.last.major, range.last.minor + 1);
    }
}
