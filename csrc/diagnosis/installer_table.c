/* What installers are told, one per row. The exact version is always given: it alone keeps out the empty placeholders
 * that the public index has under the names of the SDK. An SDK is installed afresh from AMD's own index, which is named
 * for the same reason. Sources: the documentation of pip, uv, pipx and conda. */
#include "diagnosis/tables.h"

#define SDK                                                                                                            \
    "--upgrade --index-url https://repo.amd.com/rocm/whl-multi-arch/"                                                  \
    " \"rocm[libraries]\""

/* clang-format off */
const rsdk_installer_row rsdk_installers[] = {
    /* name     install                                                                     reinstall                                                                                     install_sdk                                    rebuild   overwrite */
    {NULL,     "pip install {source}{$requirement}",                                        "pip install --force-reinstall --no-deps {source}{$requirement}",                             "pip install " SDK,                            "pip install --no-cache-dir --force-reinstall {source}{$selector}", "pip install --ignore-installed --no-deps {source}{$requirement}"},
    {"pip",    "{$python} -m pip install {source}{$requirement}",                           "{$python} -m pip install --force-reinstall --no-deps {source}{$requirement}",                "{$python} -m pip install " SDK,               "{$python} -m pip install --no-cache-dir --force-reinstall {source}{$selector}", "{$python} -m pip install --ignore-installed --no-deps {source}{$requirement}"},
    {"uv",     "uv pip install --python {$python} {source}{$requirement}",                  "uv pip install --python {$python} --no-deps --reinstall-package {$distribution} {source}{$requirement}", "uv pip install --python {$python} " SDK, "uv pip install --python {$python} --no-cache --reinstall {source}{$selector}", "uv pip install --python {$python} --no-deps --reinstall-package {$distribution} {source}{$requirement}"},
    {"outer pip", "pip --python {$python} install {source}{$requirement}",                  "pip --python {$python} install --force-reinstall --no-deps {source}{$requirement}",          "pip --python {$python} install " SDK,         "pip --python {$python} install --no-cache-dir --force-reinstall {source}{$selector}", "pip --python {$python} install --ignore-installed --no-deps {source}{$requirement}"},
    {"ensurepip", "{$python} -m ensurepip && {$python} -m pip install {source}{$requirement}", "{$python} -m ensurepip && {$python} -m pip install --force-reinstall --no-deps {source}{$requirement}", "{$python} -m ensurepip && {$python} -m pip install " SDK, "{$python} -m ensurepip && {$python} -m pip install --no-cache-dir --force-reinstall {source}{$selector}", "{$python} -m ensurepip && {$python} -m pip install --ignore-installed --no-deps {source}{$requirement}"},
    {"pipx",   "pipx runpip {$application} install {source}{$requirement}",                 "pipx runpip {$application} install --force-reinstall --no-deps {source}{$requirement}",      "pipx runpip {$application} install " SDK,     "pipx runpip {$application} install --no-cache-dir --force-reinstall {source}{$selector}", "pipx runpip {$application} install --ignore-installed --no-deps {source}{$requirement}"},
    {"conda",  "conda install --prefix {$environment} {$conda_requirement}",                "conda install --prefix {$environment} --force-reinstall {$conda_requirement}",               "{$python} -m pip install " SDK,               "conda install --prefix {$environment} --force-reinstall rocm={$version}", "conda install --prefix {$environment} --force-reinstall {$conda_requirement}"},
    {"target", "{$python} -m pip install --target {$site} {source}{$requirement}",          "{$python} -m pip install --target {$site} --upgrade --no-deps {source}{packages}",       "{$python} -m pip install --target {$site} " SDK, "{$python} -m pip install --target {$site} --upgrade --no-cache-dir {source}{$selector}", "{$python} -m pip install --target {$site} --upgrade --no-deps {source}{packages}"},
    {"uv target", "uv pip install --target {$site} {source}{$requirement}",                 "uv pip install --target {$site} --no-deps --reinstall-package {$distribution} {source}{$requirement}", "uv pip install --target {$site} " SDK, "uv pip install --target {$site} --no-cache --reinstall {source}{$selector}", "uv pip install --target {$site} --no-deps --reinstall-package {$distribution} {source}{$requirement}"},
    {"system", "install {requirement} with the system's package manager",                   "{system_reinstall}",                                                                         "install ROCm with the system's package manager", "{system_reinstall}", "{system_reinstall}"},
};
/* clang-format on */

const size_t rsdk_installer_count = sizeof rsdk_installers / sizeof *rsdk_installers;
