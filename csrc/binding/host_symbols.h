/* The symbols and versions that are missing for a file that is tried on paper. */
#ifndef RSDK_BINDING_HOST_SYMBOLS_H
#define RSDK_BINDING_HOST_SYMBOLS_H

#include "binding/link_trial.h"

/* A symbol that no library defines, or a version that a library does not have. */
typedef struct rsdk_host_lack {
    const char *needing; /* path of the file that lacks it: the file that is tried, or one that it brings in */
    const char *name, *version,
        *library; /* name: NULL, the version lacks altogether. The others: NULL, none is named */
} rsdk_host_lack;

typedef struct rsdk_host_lacks {
    RSDK_LIST(rsdk_host_lack) list; /* the first few */
    size_t count;
} rsdk_host_lacks;

/* Add the symbols and versions that the members of a trial lack. A symbol is said to be absent only if all files that
 * could have it are known: a plug-in whose host is not here would otherwise be blamed for the symbols of its host. */
rsdk_status rsdk_host_symbols_find_absent(rsdk_trial_process *process, const rsdk_link_trial *trial,
                                          rsdk_host_lacks *lacks, rsdk_error *error);

#endif
