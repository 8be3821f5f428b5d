/* The commands of installers, one installer per row. The exact version is always given: it alone keeps out the empty
 * placeholders that the public index has under the names of the SDK. The index is named for the same reason ({source},
 * {index}), where the installer's configuration does not name one. Sources: the documentation of pip, uv, pipx and
 * conda. */
#include "diagnosis/tables.h"

#define SDK "--upgrade --index-url {index} \"{index_requirement}\""

/* pip replaces whole directories of a --target directory, also those that packages share, and thereby removes the files
 * that other packages have in them. pip therefore fills a new directory, from which the files go to their places: each
 * replaces a file of its name, also where a link leads to another disk, and the new directory goes once all are there.
 * Its second name says to rm that all of it was read: a pipe has the status of its last command alone. */
#define TARGET(...)                                                                                                    \
    "d=$(mktemp -d {$site}/.new.XXXXXX) && {$python} -m pip install --target \"$d\" " __VA_ARGS__                      \
    " && (tar -C \"$d\" -cf - . && mv \"$d\" \"$d.read\") | tar -C {$site} --keep-directory-symlink"                   \
    " --no-overwrite-dir -xf - && rm -r \"$d.read\""

/* pip would uninstall the package of that name in the running environment. */
#define PREFIX "{$python} -m pip install --prefix {$environment} --ignore-installed "

/* clang-format off */
const rsdk_installer_row rsdk_installers[] = {
    /* name     install                                                                     reinstall                                                                                     install_sdk                                    rebuild   overwrite */
    {NULL,     "pip install {source}{$requirement}",                                        "pip install --force-reinstall --no-deps {source}{$requirement}",                             "pip install " SDK,                            "pip install --no-cache-dir --force-reinstall {source}{$selector}", "pip install --ignore-installed --no-deps {source}{$requirement}"},
    {"pip",    "{$python} -m pip install {source}{$requirement}",                           "{$python} -m pip install --force-reinstall --no-deps {source}{$requirement}",                "{$python} -m pip install " SDK,               "{$python} -m pip install --no-cache-dir --force-reinstall {source}{$selector}", "{$python} -m pip install --ignore-installed --no-deps {source}{$requirement}"},
    {"user pip", "{$python} -m pip install --user {source}{$requirement}",                           "{$python} -m pip install --user --force-reinstall --no-deps {source}{$requirement}",                "{$python} -m pip install --user " SDK,               "{$python} -m pip install --user --no-cache-dir --force-reinstall {source}{$selector}", "{$python} -m pip install --user --ignore-installed --no-deps {source}{$requirement}"},
    {"uv",     "uv pip install --python {$python} {source}{$requirement}",                  "uv pip install --python {$python} --no-deps --reinstall-package {$distribution} {source}{$requirement}", "uv pip install --python {$python} " SDK, "uv pip install --python {$python} --no-cache --reinstall {source}{$selector}", "uv pip install --python {$python} --no-deps --reinstall-package {$distribution} {source}{$requirement}"},
    {"outer pip", "pip --python {$python} install {source}{$requirement}",                  "pip --python {$python} install --force-reinstall --no-deps {source}{$requirement}",          "pip --python {$python} install " SDK,         "pip --python {$python} install --no-cache-dir --force-reinstall {source}{$selector}", "pip --python {$python} install --ignore-installed --no-deps {source}{$requirement}"},
    {"ensurepip", "{$python} -m ensurepip && {$python} -m pip install {source}{$requirement}", "{$python} -m ensurepip && {$python} -m pip install --force-reinstall --no-deps {source}{$requirement}", "{$python} -m ensurepip && {$python} -m pip install " SDK, "{$python} -m ensurepip && {$python} -m pip install --no-cache-dir --force-reinstall {source}{$selector}", "{$python} -m ensurepip && {$python} -m pip install --ignore-installed --no-deps {source}{$requirement}"},
    {"pipx",   "pipx runpip {$application} install {source}{$requirement}",                 "pipx runpip {$application} install --force-reinstall --no-deps {source}{$requirement}",      "pipx runpip {$application} install " SDK,     "pipx runpip {$application} install --no-cache-dir --force-reinstall {source}{$selector}", "pipx runpip {$application} install --ignore-installed --no-deps {source}{$requirement}"},
    {"conda",  "conda install --prefix {$environment} {$conda_requirement}",                "conda install --prefix {$environment} --force-reinstall {$conda_requirement}",               "{$python} -m pip install " SDK,               "conda install --prefix {$environment} --force-reinstall rocm={$version}", "conda install --prefix {$environment} --force-reinstall {$conda_requirement}"},
    {"target", TARGET("{source}{$requirement}"),                            TARGET("--no-deps {source}{$requirement}"),                                                    TARGET("--index-url {index} \"{index_requirement}\""), TARGET("--no-cache-dir {source}{$selector}"), TARGET("--no-deps {source}{$requirement}")},
    {"prefix", PREFIX "{source}{$requirement}",                             PREFIX "--no-deps {source}{$requirement}",                                                     PREFIX SDK,                                    PREFIX "--no-cache-dir {source}{$selector}", PREFIX "--no-deps {source}{$requirement}"},
    {"uv target", "uv pip install --target {$site} {source}{$requirement}",                 "uv pip install --target {$site} --no-deps --reinstall-package {$distribution} {source}{$requirement}", "uv pip install --target {$site} " SDK, "uv pip install --target {$site} --no-cache --reinstall {source}{$selector}", "uv pip install --target {$site} --no-deps --reinstall-package {$distribution} {source}{$requirement}"},
    {"other",  "Install {$requirement} in the way in which the SDK in {$site} was installed", "Put {$requirement} into {$site} again, as that directory was filled (by Nix, Spack or a copy)", "{$python} -m pip install " SDK, "Put {$selector} into {$site} again, as that directory was filled (by Nix, Spack or a copy)", "Put {$requirement} into {$site} again, as that directory was filled (by Nix, Spack or a copy)"},
    {"system", "Install {requirement} with the system's package manager",                   "{system_reinstall}",                                                                         "Install ROCm with the system's package manager", "{system_reinstall}", "{system_reinstall}"},
};
/* clang-format on */

const size_t rsdk_installer_count = sizeof rsdk_installers / sizeof *rsdk_installers;
