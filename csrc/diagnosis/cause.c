/* From an error to its finding. */
#include "diagnosis/finding.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "sdk/record.h"

static const char large_file_pointer[] = "version https://git-lfs.github.com/spec/";

/* The code of a status, for an error that has no code of its own. */
static const rsdk_code status_codes[] = {
    [RSDK_OK] = RSDK_E_SDK_001,
    [RSDK_NO_MEMORY] = RSDK_E_SDK_001,
    [RSDK_BAD_ARGUMENT] = RSDK_E_SDK_001,
    [RSDK_IO_ERROR] = RSDK_E_FILE_007,
    [RSDK_BAD_ELF] = RSDK_E_LIB_006,
    [RSDK_BAD_METADATA] = RSDK_E_PKG_013,
    [RSDK_UNKNOWN_LIBRARY] = RSDK_E_API_004,
    [RSDK_PACKAGE_NOT_INSTALLED] = RSDK_E_PKG_014,
    [RSDK_FILE_NOT_FOUND] = RSDK_E_API_001,
    [RSDK_LOAD_FAILED] = RSDK_E_LIB_001,
};

/* Return whether a text file of Git LFS lies where data should be. */
static bool is_large_file_pointer(const char *path) {
    char beginning[sizeof large_file_pointer - 1];
    rsdk_file file;
    bool is_pointer = false;
    if (rsdk_file_open(path, &file, NULL) == RSDK_OK) {
        is_pointer = rsdk_file_read(&file, 0, beginning, sizeof beginning, NULL) == RSDK_OK &&
                     memcmp(beginning, large_file_pointer, sizeof beginning) == 0;
        rsdk_file_close(&file);
    }
    return is_pointer;
}

/* Return whether this user may change the mode of a file: root and the owner may. */
static bool may_change_mode(const struct stat *facts) {
    uid_t user = geteuid();
    return user == 0 || user == facts->st_uid;
}

/* Add the user who may change the mode of a file, by number: the names of users come from modules of libc, which load
 * libraries. */
static rsdk_status add_user(rsdk_finding *finding, rsdk_arena *arena, uid_t user, rsdk_error *error) {
    const char *owner = user == 0 ? "root" : rsdk_arena_format(arena, "user %u or root", (unsigned)user);
    RSDK_NEED(owner, error);
    return rsdk_finding_add(finding, arena, "owner", owner, error);
}

/* Return the first directory above a file that this user may not enter; "" if there is none. NULL: no memory. */
static const char *closed_directory(const char *path, rsdk_arena *arena) {
    for (const char *slash = strchr(path + (*path == '/'), '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        const char *directory = rsdk_arena_copy_bytes(arena, path, (size_t)(slash - path));
        if (directory == NULL || (faccessat(AT_FDCWD, directory, X_OK, AT_EACCESS) != 0 && errno == EACCES)) {
            return directory;
        }
    }
    return "";
}

/* Find who may give this user the right that it lacks, and to which file: a directory above the file, or the file
 * itself. */
static rsdk_status look_at_rights(rsdk_finding *finding, rsdk_arena *arena, rsdk_error *error) {
    struct stat facts;
    const char *refusing = closed_directory(finding->path, arena);
    RSDK_NEED(refusing, error);
    bool is_above = *refusing != '\0';
    refusing = is_above ? refusing : finding->path;
    if (stat(refusing, &facts) != 0 ||
        (!is_above && (faccessat(AT_FDCWD, refusing, R_OK, AT_EACCESS) == 0 || errno != EACCES))) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_finding_add(finding, arena, "refusing", refusing, error));
    const char *rights = is_above ? "x" : S_ISDIR(facts.st_mode) ? "rx" : "r";
    const char *permission = rsdk_arena_format(arena, "%c+%s", facts.st_uid == geteuid() ? 'u' : 'a', rights);
    RSDK_NEED(permission, error);
    RSDK_TRY(rsdk_finding_add(finding, arena, "permission", permission, error));
    return add_user(finding, arena, facts.st_uid, error);
}

/* Find out whether the file's owner may not read it, whoever asks. */
static rsdk_status look_at_mode(rsdk_finding *finding, rsdk_arena *arena, rsdk_error *error) {
    struct stat facts;
    if (stat(finding->path, &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & S_IRUSR) == 0) {
        const char *mode = rsdk_arena_format(arena, "%04o", (unsigned)facts.st_mode & 07777);
        RSDK_NEED(mode, error);
        finding->code = RSDK_E_FILE_004;
        RSDK_TRY(rsdk_finding_add(finding, arena, "mode", mode, error));
        return may_change_mode(&facts) ? RSDK_OK : add_user(finding, arena, facts.st_uid, error);
    }
    return look_at_rights(finding, arena, error);
}

/* Look for the missing library in the RECORDs. A library is in no directory: a RECORD may list it. */
static rsdk_status look_for_record(rsdk_finding *finding, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_error *error) {
    const char *pattern = rsdk_finding_fact(finding, "pattern");
    rsdk_recorded_file recorded = {0};
    if (sdk == NULL || pattern == NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_record_find_name(sdk, pattern, arena, &recorded, error));
    if (recorded.distribution != NULL) {
        finding->code = RSDK_E_FILE_001;
        finding->path = recorded.path;
        return rsdk_finding_add(finding, arena, "name", rsdk_path_name(recorded.path), error);
    }
    return RSDK_OK;
}

/* Make the finding that the error itself states, with copies of its texts. */
static rsdk_status take_error(const rsdk_error *from, rsdk_arena *arena, rsdk_finding *finding) {
    *finding = (rsdk_finding){.code = from->code != RSDK_NO_CODE ? from->code : status_codes[from->status]};
    if (from->path != NULL) {
        finding->path = rsdk_arena_copy(arena, from->path);
        RSDK_NEED(finding->path, NULL);
    }
    RSDK_TRY(rsdk_finding_copy_facts(finding, arena, from->facts, from->fact_count, NULL));
    if (rsdk_finding_fact(finding, "detail") == NULL) {
        const char *detail = rsdk_arena_copy(arena, rsdk_error_message(from));
        RSDK_NEED(detail, NULL);
        RSDK_TRY(rsdk_finding_add(finding, arena, "detail", detail, NULL));
    }
    return RSDK_OK;
}

rsdk_status rsdk_cause_of_error(const rsdk_error *error, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_finding *finding) {
    RSDK_TRY(take_error(error, arena, finding));
    if (finding->code == RSDK_E_LIB_001 && finding->path != NULL && rsdk_finding_fact(finding, "dlerror") != NULL) {
        const rsdk_finding refused = *finding;
        /* If the explanation itself fails, its error is the explanation. */
        rsdk_error reason = RSDK_ERROR_INIT;
        *finding = (rsdk_finding){0};
        rsdk_status status = rsdk_load_failure_explain(sdk, refused.path, rsdk_finding_fact(&refused, "dlerror"), arena,
                                                       finding, &reason);
        if (status != RSDK_OK && status != RSDK_NO_MEMORY) {
            status = take_error(&reason, arena, finding);
        } else if (finding->code == RSDK_NO_CODE) {
            *finding = refused;
        }
        rsdk_error_clear(&reason);
        RSDK_TRY(status);
    } else if (finding->code == RSDK_E_LIB_002 && rsdk_finding_fact(finding, "name") != NULL) {
        RSDK_TRY(rsdk_host_package_add(finding, arena, rsdk_finding_fact(finding, "name"), false, NULL));
    }
    switch (finding->code) {
    case RSDK_E_LIB_006:
        finding->code = finding->path != NULL && is_large_file_pointer(finding->path) ? RSDK_E_FILE_006 : finding->code;
        break;
    case RSDK_E_FILE_007:
        RSDK_TRY(finding->path != NULL ? look_at_mode(finding, arena, NULL) : RSDK_OK);
        break;
    case RSDK_E_API_001:
        RSDK_TRY(look_for_record(finding, sdk, arena, NULL));
        break;
    default:
        break;
    }
    return rsdk_finding_add_owner(finding, sdk, arena, NULL);
}
