/* The table of problems: the possible faults, their causes and their fixes.
 *
 * The first letter of a code was its severity when the code was made; the severity of today is the column. {name} in a
 * text stands for a fact, {name|words} for the same with the words that replace it if it is not known (else the words
 * of fact_words.c), {$name} for the fact as a word of a shell command; {install}, {reinstall} ... stand for a command
 * of the installer (installer_table.c). If a system has several fixes, the first whose facts are all known counts.
 * TRIED: a test runs the fix, and the problem is gone. ELSEWHERE: it needs another system. HARDWARE: it needs a GPU.
 * WORDS: nothing has tried it. A fix that is no command is a sentence: it begins with an imperative verb in upper case.
 * A note that asks for nothing has NO_FIX: its cause says the fact to know. Behind the page's text are the facts of a
 * sample, one per line: they make the example of the page. */
#include "diagnosis/tables.h"

/* `value` stays the code's for ever: rocm_sdk/code.h and the stub of the extension are generated from these rows. */
#define ROW(value, letter, word, number, severity, title, cause, fixes, about, sample, repair)                         \
    [value] = {#letter "-" #word "-" #number, RSDK_SEVERITY_##severity, title, cause, fixes, about, sample, repair},
#define FIXES(...)                                                                                                     \
    { __VA_ARGS__ }

#define NO_FIX                                                                                                         \
    {                                                                                                                  \
        { RSDK_SYSTEM_ANY, RSDK_FIX_WORDS, NULL }                                                                      \
    }

#define ANY       RSDK_SYSTEM_ANY
#define DEBIAN    RSDK_SYSTEM_DEBIAN
#define FEDORA    RSDK_SYSTEM_FEDORA
#define SUSE      RSDK_SYSTEM_SUSE
#define ARCH      RSDK_SYSTEM_ARCH
#define GENTOO    RSDK_SYSTEM_GENTOO
#define NIXOS     RSDK_SYSTEM_NIXOS
#define CONTAINER RSDK_SYSTEM_CONTAINER

#define TRIED     RSDK_FIX_TRIED
#define ELSEWHERE RSDK_FIX_ELSEWHERE
#define HARDWARE  RSDK_FIX_HARDWARE
#define WORDS     RSDK_FIX_WORDS

/* The fixes where no installer can restore the file: a ROCm that is not a Python package, a version whose index is not
 * known, a file that belongs to no package. */
#define PREFIX                                                                                                         \
    {ANY, WORDS, "Correct the package that brings {staged|the file}"},                                                 \
        {ANY, WORDS, "{system_reinstall}  # the ROCm in {system_prefix|/usr} belongs to the system"}, {                \
        ANY, WORDS, "Install the ROCm in {$prefix} again the way it was installed"                                     \
    }
#define SAME                                                                                                           \
    { ANY, WORDS, "Install {$requirement} again from where it came: its index is not known" }
#define MORE                                                                                                           \
    { ANY, WORDS, "Install {$requirement} from where the SDK came: its index is not known" }
#define AS_BUILT                                                                                                       \
    { ANY, WORDS, "Install another version of {distribution}, and tell its makers: {as_built}" }
#define FILE_ITSELF                                                                                                    \
    { ANY, WORDS, "Get {$path} again from where it came" }

/* clang-format off */
/* A device that is not there, or that this user cannot open, for one reason each. */
#define GIVE_DEVICE \
    {ANY, HARDWARE, "Give the container the device on the host, in its configuration: dev0: /{device} (Proxmox), or lxc.cgroup2.devices.allow = c {allowed} rwm and lxc.mount.entry = /{device} {device} none bind,create=file"}, \
    {ANY, HARDWARE, "{give}"}, \
    {ANY, HARDWARE, "Start the container with --device=/dev/kfd --device=/dev/dri"}
#define OPEN_DEVICE \
    {ANY, HARDWARE, "sudo mknod {$path}.new c {numbers} && sudo chmod --reference={$path} {$path}.new && sudo chown --reference={$path} {$path}.new && sudo mv {$path}.new {$path}"}, \
    {ANY, HARDWARE, "Give the container the device by --device in place of a volume, or mount the file system of {directory} without nodev"}, \
    {ANY, HARDWARE, "sudo setfacl -m \"u:$USER:rw\" {$acl}  # getfacl shows who may"}, \
    {ANY, HARDWARE, "sudo setsebool -P container_use_devices 1  # on the host, where {selinux} refuses; or start the container with --security-opt label=disable"}, \
    {ANY, HARDWARE, "Start the container with --security-opt apparmor=unconfined, or allow the device in the profile of {apparmor}"}, \
    {ANY, HARDWARE, "Change the owner of the device on the host: dev0: /{device},gid={lxc_gid} (Proxmox), gid={lxc_gid} at the device (Incus), or lxc.idmap; and be in that group"}, \
    {ANY, HARDWARE, "Be in the device's group on the host and log in anew there, then podman run --group-add keep-groups, with crun and no other --group-add  # to join {unmapped} does nothing; Distrobox keeps groups by itself"}, \
    {ANY, HARDWARE, "sudo usermod -aG {group} \"$USER\"  # then log in again; in a container: --group-add {gid}"}, \
    {ANY, HARDWARE, "Start the container with --group-add {gid}  # Kubernetes: supplementalGroups: [{gid}]"}, \
    {ANY, HARDWARE, "Let group render own the device with mode 0660 (a udev rule), and add the user to that group  # now {mode}"}, \
    {ANY, HARDWARE, "Give this user search permission on the directories of {unsearchable}"}, \
    {ANY, HARDWARE, "Look into the kernel's log: dmesg | grep -e amdgpu -e kfd  # {reason}"}, \
    GIVE_DEVICE

const rsdk_code_row rsdk_code_table[RSDK_CODE_COUNT] = {
    ROW(1, E, SDK, 001, ERROR, "an error has no code of its own", "{detail}",
        FIXES({ANY, WORDS, "rocm-sdk test  # whether the installation is the reason"}),
        "Raised as RocmSdkError where no other code applies, as for an interpreter that is not there, or for memory that ran out.", "detail=python3.13 is not in PATH; activate the environment that has the SDK, or name its interpreter", NULL)

    /* ---- packages ---- */
    ROW(2, E, PKG, 001, ERROR, "no ROCm SDK is installed in {site|this environment}", "there is no package rocm-sdk-core{more}",
        FIXES({ANY, TRIED, "{removal|unset PYTHONPATH} && {install_sdk}"},
              {ANY, WORDS, "Correct {$variable}, or install an SDK: {install_sdk}"},
              {ANY, TRIED, "{install_sdk}"}),
        "The SDK consists of wheels: rocm-sdk-core always, others as they were chosen. Without core there is nothing to test.", "site=/home/me/.venv/lib/python3.12/site-packages", NULL)
    ROW(3, E, PKG, 002, ERROR, "{distribution} is {version|of one version}, rocm-sdk-core {core_version|of another}", "packages of one SDK must have one version, up to a .postN",
        FIXES({ANY, TRIED, "{install}"},
              MORE),
        "Libraries of different versions of ROCm share data structures, and crash or compute wrongly when mixed. Versions differ after one package was upgraded alone.", "distribution=rocm-sdk-libraries\nversion=5.2.2\ncore_version=5.2.3", NULL)
    ROW(4, E, PKG, 003, ERROR, "the platform directory {path|of a package} has no __init__.py", "a package that shares the directory was uninstalled, and took the file with it",
        FIXES({ANY, TRIED, "rocm-sdk test --fix"}),
        "Python takes such a directory for a namespace package, and callers that look for its file fail. Device packages of an older scheme list the file as theirs, so that uninstalling one deletes it.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core", "init-file")
    ROW(5, E, PKG, 004, ERROR, "{distribution} is in {path|one directory}, {other|rocm-sdk-core} in {site|another}", "libraries find each other by relative paths, which hold in one site-packages only",
        FIXES({ANY, TRIED, "{repair|mv DIRECTORY SITE}"},
              {ANY, TRIED, "{removal|unset PYTHONPATH} && {install}"},
              {ANY, WORDS, "{install}  # all packages of the SDK into one environment"},
              MORE),
        "Usual when the user's site-packages holds one package and the system's the other, or a package was moved to another disk and a link put in its place.", "site=/home/me/.venv/lib/python3.12/site-packages\ndistribution=rocm-sdk-libraries\npath=/home/me/other", NULL)
    ROW(6, W, PKG, 005, WARNING, "two SDKs are visible: {version|one} in {site|one directory}, {other_version|one} in {path|another}", "sys.path leads to both, and the first one wins",
        FIXES({ANY, TRIED, "{removal|unset PYTHONPATH}"},
              {ANY, WORDS, "Uninstall one, or take its directory out of sys.path"}),
        "Which one wins depends on the order of sys.path, which PYTHONPATH, .pth files and the user's site-packages change.", "site=/home/me/.venv/lib/python3.12/site-packages\nversion=5.2.3\nother_version=5.2.3\npath=/home/me/other", NULL)
    ROW(7, E, PKG, 006, ERROR, "the files of rocm_sdk do not belong to one distribution alone", "{detail}",
        FIXES({ANY, WORDS, "{fix|rocm-sdk adopt}"}),
        "AMD's distribution rocm and rocm-sdk-loader install files of the same names. Installing one over the other overwrites files silently, and uninstalling either removes the files of both.", "detail=rocm==7.10.0 and rocm-sdk-loader==1.2.3 claim the same files: rocm_sdk/__init__.py, rocm_sdk/__main__.py, rocm_sdk/_dist_info.py and 4 more", NULL)
    ROW(8, W, PKG, 007, WARNING, "{path}{more} is left over from {kind|a package that is no longer installed}", "no distribution owns it",
        FIXES({ANY, WORDS, "Find out who needs {$path}, and remove it if nobody does; {untried}"},
              {ANY, TRIED, "{removal|rm -r DIRECTORY}"},
              {ANY, TRIED, "rm -r {$path}"}),
        "pip leaves what it did not install: files that appeared later, and directories that hold them.", "path=/home/me/.venv/lib/python3.12/site-packages/~ocm_sdk_libraries", NULL)
    ROW(9, W, PKG, 008, WARNING, "the user's site-packages shadows this environment: {path|~/.local}", "PYTHONNOUSERSITE is not set, and the directory comes before the environment's own packages or adds to them",
        FIXES({ANY, WORDS, "export PYTHONNOUSERSITE=1  # or uninstall the packages there: python -m pip uninstall with the system's Python"}),
        "Packages of the user's site-packages are seen by every Python of the same version outside virtual environments.", "path=/home/me/.local/lib/python3.12/site-packages", NULL)
    ROW(10, N, PKG, 009, NOTE, "{path|lib64} and {other|lib} are one place under two names", "lib64 is a symbolic link to lib, and sys.path has both: tools that compare paths as texts may see two SDKs",
        NO_FIX,
        "Virtual environments on Fedora and RHEL have both names. Files are compared by identity here.", "other=/home/me/.venv/lib/python3.12/site-packages\npath=/home/me/.venv/lib64/python3.12/site-packages", NULL)
    ROW(11, W, PKG, 010, WARNING, "the packages were chosen for {family|one target family}, the GPU here needs {needed|another}", "pip keeps the wheel of the selector that it built on another machine, or the GPU was replaced",
        FIXES({ANY, HARDWARE, "{rebuild}"},
              {ANY, WORDS, "Install {$selector} from where the SDK came: its index is not known"}),
        "The package rocm looks at the GPU when pip builds it; a cached wheel fits the machine where it was built.", "family=gfx1100\nneeded=gfx942", NULL)
    ROW(12, E, PKG, 011, ERROR, "rocm-profiler is installed without rocm-sdk-core", "the programs of the profiler need core's libraries",
        FIXES({ANY, TRIED, "{install}"},
              MORE),
        "Programs of the profiler load libraries out of the core package.", "", NULL)
    ROW(13, W, PKG, 012, WARNING, "this program is frozen ({path|by PyInstaller or the like})", "a frozen program carries a copy of the SDK that pip does not know",
        FIXES({ANY, WORDS, "Collect rocm_sdk and all platform packages, as PyInstaller's --collect-all rocm_sdk --collect-all _rocm_sdk_core does; PyInstaller does it by itself"}),
        "Checks of packages and RECORD files do not apply to a frozen program; the others do.", "path=/home/me/app/dist/app/app", NULL)
    ROW(14, E, PKG, 013, ERROR, "the metadata {path|of a package} cannot be used", "{detail}",
        FIXES({ANY, WORDS, "Remove RECORD if nobody needs it, then {overwrite}; {untried}"},
              {ANY, TRIED, "{aside|mv RECORD OTHER} && {overwrite} && {removal|rm OTHER}"},
              {ANY, TRIED, "{overwrite}"},
              SAME),
        "The file is damaged or cannot be read: it was written in part, or changed by hand. Without it neither pip nor we know what belongs to the package.", "detail=/home/me/.venv/lib/python3.12/site-packages/rocm_sdk_core/_dist_info.py, line 2: a bracket is not closed\npath=/home/me/.venv/lib/python3.12/site-packages/rocm_sdk_core/_dist_info.py", NULL)
    ROW(15, E, PKG, 014, ERROR, "a package of the SDK is not installed", "{detail}",
        FIXES({ANY, WORDS, "{install}  # or unset {$variable}"},
              {ANY, TRIED, "{install}"},
              MORE),
        "What was asked for belongs to a package that was never installed, or was uninstalled. Raised as PackageNotInstalledError. The message names all packages that are missing, and the line that installs them.", "detail=hipsparse: not installed: rocm-sdk-libraries", NULL)
    ROW(16, E, PKG, 015, ERROR, "the installed SDK has another version than the program expects", "{detail}",
        FIXES({ANY, WORDS, "{install}"},
              {ANY, WORDS, "Install the version that the message names"}),
        "The program passes the version that it was built with to initialize_process (check_version), and the environment has another SDK, or an upgraded one. Raised as VersionMismatchError with fail_on_version_mismatch, issued as VersionMismatchWarning without.", "detail=The program was compiled against a ROCm version matching '10.*', and the installed SDK has version 5.2.3", NULL)
    ROW(17, E, PKG, 016, ERROR, "{distribution} does not fit the core package", "{detail}",
        FIXES({ANY, TRIED, "{reinstall}"},
              SAME),
        "The packages of one build say the same of themselves (`_dist_info.py`): the ending of their directories' names, and the target families that they were built for. They differ where a package of another build was installed beside the others.", "detail=rocm_sdk_devel says DEFAULT_TARGET_FAMILY = 'gfx110X-all', core None\ndistribution=rocm-sdk-devel", NULL)
    ROW(18, E, PKG, 017, ERROR, "{distribution} {version|of the SDK} is an empty placeholder", "the package holds no file of the SDK: the public Python index has packages of these names without content",
        FIXES({ANY, TRIED, "{install_sdk}"}),
        "AMD's packages come from AMD's own index. The public index has placeholders of the same names. An installer takes one of them if it is given neither AMD's index nor the exact version.", "distribution=rocm-sdk-core\nversion=0.1", NULL)
    ROW(19, N, PKG, 018, NOTE, "the SDK in {path|this environment} was not installed by a Python installer", "no distribution owns its files, so there is no RECORD to compare them with; the other checks were made",
        NO_FIX,
        "A prefix of Nix, Gentoo or Spack on PYTHONPATH, or a copied directory.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core", NULL)
    ROW(20, W, PKG, 019, WARNING, "{path} belongs to no package", "the file is among the files of the SDK, and no RECORD lists it{more}",
        FIXES({ANY, WORDS, "Remove it if nobody needs it: rm {$path}"}),
        "Installers replace and remove only what RECORD lists. A file that was copied there stays when the SDK is upgraded, and then does not fit.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/mine.txt", NULL)
    ROW(21, E, PKG, 020, ERROR, "{path|the wheel} cannot be installed here", "{detail}",
        FIXES({ANY, WORDS, "Take the wheel for this Python and this system; `python -m pip debug --verbose` prints the tags that fit"}),
        "The name of a wheel says for which Python, ABI and platform it is. An installer takes no other.", "path=sample-1-cp27-cp27mu-linux_x86_64.whl\ndetail=it is for Python cp27 (cp27mu), this is cp311", NULL)
    ROW(22, E, PKG, 021, ERROR, "{distribution|a library} has no package with its code for the GPU {target}", "{detail}",
        FIXES({ANY, WORDS, "{install}"},
              {ANY, WORDS, "Take a build of {distribution|the library} that has an extra device-* for the GPU"}),
        "The GPU code of torch and torchvision is in packages of their own, amd-torch-device-<target>, in the version of the base package. `import torch` succeeds without them, and the first kernel fails.", "distribution=torch\ntarget=gfx942\ndetail=amd-torch-device-gfx942 is not installed", NULL)
    ROW(170, E, PKG, 023, ERROR, "{distribution} is recorded twice: {version|one version} and {other_version|another}", "the files belong to {version|the one}, as their sizes and digests say; {path|the other} is left over",
        FIXES({ANY, WORDS, "Find out who needs {$path}, and remove it if nobody does; {untried}"},
              {ANY, TRIED, "rm -r {$path}"}),
        "An installer that was killed, or two installers, left the metadata of two versions. Installers take either for what is installed. The RECORD of the one that fits the files tells which is right.", "version=5.2.3\nother_version=5.2.2\ndistribution=rocm-sdk-core\npath=/home/me/.venv/lib/python3.12/site-packages/rocm_sdk_core-5.2.2.dist-info", NULL)
    ROW(171, E, PKG, 024, ERROR, "{path|a directory} is in use, and the metadata of {distribution|its package} is lost", "{detail}",
        FIXES({ANY, TRIED, "{reinstall}"},
              {ANY, WORDS, "{install}"}),
        "The .dist-info directory of a package was removed, and its files stayed: an installer that was killed does that. Other packages need these files, so they are not removed.", "detail=libraries of the SDK are in it, and no RECORD lists them\ndistribution=rocm-sdk-libraries\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_libraries", NULL)
    ROW(173, E, PKG, 025, ERROR, "the installer of {distribution} was interrupted", "{path|a directory}{more} is the old package, which the installer renamed; the package is not there in full",
        FIXES({ANY, TRIED, "{reinstall} && {removal|rm -r DIRECTORY}"},
              {ANY, WORDS, "Install the package again, and remove the renamed directories"}),
        "pip renames the directories of a package before it writes the new ones: ~ocm_sdk_core was rocm_sdk_core. If it is killed, the old files stay under these names. The package is installed again in the release of the others.", "more= and 2 more\ndistribution=rocm-sdk-libraries\npath=/home/me/.venv/lib/python3.12/site-packages/~ocm_sdk_libraries", NULL)

    /* ---- files ---- */
    ROW(24, E, FILE, 001, ERROR, "{name} of {distribution} is missing", "RECORD of the package lists the file: it was deleted, or another package was installed over it",
        FIXES({ANY, TRIED, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "Usual after a second `pip install --target` into one directory, which replaces directories that packages share.", "name=libamdhip64.so.5\ndistribution=rocm-sdk-core", NULL)
    ROW(25, E, FILE, 002, ERROR, "{path} has another size than RECORD of {distribution|its package} says", "the file has {found|too few or too many} bytes, {wanted|others} were installed: it was changed, or written in part",
        FIXES({ANY, TRIED, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "A full disk, an interrupted copy, or a tool that changed the file in place.", "distribution=rocm-sdk-core\nfound=41\nwanted=40\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/include/hip/hip_runtime.h", NULL)
    ROW(26, E, FILE, 003, ERROR, "{path} has another content than RECORD of {distribution|its package} says", "the hash differs: the file was changed after the installation, or the disk is damaged",
        FIXES({ANY, TRIED, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "Found with --deep only, which reads every file.", "distribution=rocm-sdk-core\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/include/hip/hip_runtime.h", NULL)
    ROW(27, E, FILE, 004, ERROR, "{path} cannot be read by its owner", "the mode is {mode|0000, for example}",
        FIXES({ANY, WORDS, "Run as {owner}: chmod a+r {$path}"},
              {ANY, TRIED, "chmod u+r {$path}"}),
        "Judged by the mode, since the superuser may read everything.", "mode=0000\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/include/hip/hip_runtime.h", NULL)
    ROW(28, E, FILE, 005, ERROR, "{path} cannot be executed", "the file is a program, and its mode is {mode|0000, for example}",
        FIXES({ANY, WORDS, "Run as {owner}: chmod a+rx {$path}"},
              {ANY, TRIED, "chmod +x {$path}"}),
        "Archives and file systems without modes lose the right to execute.", "mode=0644\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/bin/hipdemangleatp", NULL)
    ROW(29, E, FILE, 006, ERROR, "{path} holds a pointer of Git LFS instead of data", "the package was built from a checkout without its large files",
        FIXES(AS_BUILT, {ANY, TRIED, "{reinstall}  # if that does not help, report it to the package's builder"},
              PREFIX, SAME, FILE_ITSELF),
        "Databases of kernels and models are kept in Git LFS; a checkout without it has small text files in their place.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.5", NULL)
    ROW(30, E, FILE, 007, ERROR, "{path} cannot be read", "{detail}",
        FIXES({ANY, TRIED, "{repair|chmod u+r FILE}"},
              {ANY, WORDS, "Run as {owner}: chmod {permission|a+r} {$refusing}"},
              {ANY, WORDS, "Run as {owner}: chmod {permission|a+r} {$path}"},
              {ANY, WORDS, "Move {$path} away, which is {kind}, then {reinstall}"},
              {ANY, WORDS, "Give this user read permission on it and on the directories above it, if the reason is a permission; else look at the disk: dmesg; then {reinstall}"},
              {ANY, WORDS, "Name a file: {$path} is {kind}"},
              {ANY, WORDS, "Give this user read permission on it and on the directories above it, if the reason is a permission; else look at the disk: dmesg"}),
        "The operating system refuses, for the reason that is given. Where it is a permission, the file or directory that lacks it is named, and who can give it.", "detail=.venv/lib/python3.12/site-packages/_rocm_sdk_core: is a directory where a file is expected\npath=.venv/lib/python3.12/site-packages/_rocm_sdk_core", NULL)
    ROW(31, E, FILE, 008, ERROR, "{count} files of {distribution} are missing", "{examples|they are in its directories}",
        FIXES({ANY, TRIED, "{repair|mv DIRECTORY OTHER}"},
              {ANY, TRIED, "{reinstall}"},
              PREFIX, SAME),
        "Many at once: a directory was deleted, renamed or replaced, or a disk was full.", "count=7\nexamples=hip_runtime.h, libamd_comgr.so.2, libamdhip64.so.5 ...\ndistribution=rocm-sdk-core", NULL)
    ROW(172, E, FILE, 009, ERROR, "{path|a file of RECORD} is not a {kind|file}{more}", "the path is {detail|a link that leads nowhere, a directory or a FIFO, for example}",
        FIXES({ANY, WORDS, "Remove {$path} if nobody needs it, then {reinstall}; {untried}"},
              {ANY, TRIED, "{aside|mv FILE OTHER} && {reinstall} && {removal|rm OTHER}"},
              {ANY, TRIED, "{aside|rmdir DIRECTORY} && {reinstall}"},
              {ANY, WORDS, "Remove {$path}, and bring the file back from where it came"}),
        "RECORD lists a file there. A link that leads nowhere, a directory, a FIFO or a device took its place. A program that opens a FIFO waits for ever.", "detail=a FIFO, for which a program that opens it waits\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libhsakmt.so.1", NULL)

    /* ---- libraries ---- */
    ROW(32, E, LIB, 001, ERROR, "{library} cannot be loaded", "{detail}{intact}",
        FIXES({ANY, WORDS, "rocm-sdk test --report {$report}  # and send it to the builder of {distribution}"},
              {ANY, TRIED, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "The dynamic linker refuses the library, and none of the causes that have codes of their own applies.", "detail=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1: shared object cannot be dlopen()ed\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1", NULL)
    ROW(33, E, LIB, 002, ERROR, "{needing} needs {name|another library}, which is in neither the SDK nor the system{also}", "{detail|the distribution has it in a package that is not installed}",
        FIXES({ANY, WORDS, "Use an SDK whose {package} includes {name|the library}"},
              {ANY, WORDS, "Take another build of {subject}: it brings a ROCm of its own, without {name|the library}"},
              {ANY, WORDS, "Install AMD's package {outside}, of the release that the SDK is"},
              {ANY, WORDS, "Take a build of {needing} for this SDK, or the part of ROCm that has {part}, of the SDK's release"},
              {ANY, WORDS, "Take a build of {needing} for this release of the system  # no package of it has {gone}"},
              {ANY, WORDS, "patchelf --replace-needed {$entry} NAME {$file}  # the name of the library that is here"},
              {DEBIAN, ELSEWHERE, "apt-get install {debian}"},
              {FEDORA, ELSEWHERE, "dnf install {fedora}"},
              {SUSE, ELSEWHERE, "zypper install {suse}"},
              {ARCH, ELSEWHERE, "pacman -S {arch}"},
              {GENTOO, ELSEWHERE, "emerge {gentoo}"},
              {NIXOS, ELSEWHERE, "Add the package that holds {name} to programs.nix-ld.libraries, or start in an FHS environment"},
              {ANY, ELSEWHERE, "Install the package that holds {name}: {debian} on Debian, {fedora} on Fedora"},
              {ANY, WORDS, "Install {product}, a build for the release of ROCm that {needing} is for"},
              {ANY, ELSEWHERE, "Find out what brings {name}: a package of the system, or one of Python"}),
        "ROCm's wheels bring most of what they need; a few libraries come from the distribution, and minimal containers lack them.", "name=libhsakmt.so.1\nneeding=libhsa-runtime64.so.1\ndetail=no table here says which package has it", NULL)
    ROW(34, E, LIB, 003, ERROR, "{name|a library} is missing: its package is not installed", "{needing|another library} needs it, and it belongs to {requirement|that package}",
        FIXES({ANY, TRIED, "{install}"},
              MORE),
        "A package of the SDK is missing.", "name=libhipsparse.so.0\nneeding=librocm_smi64.so.1\nrequirement=rocm[libraries]==5.2.3", NULL)
    ROW(35, E, LIB, 004, ERROR, "{needing} does not find {name|another}", "the library is in {present|the SDK}, {why|where the linker does not look for it}{intact}",
        FIXES({ANY, TRIED, "LD_LIBRARY_PATH={$directory} rocm-sdk run {$subject}"},
              {ANY, TRIED, "Import {first} before {file}: the package opens its libraries first"},
              {ANY, TRIED, "ln -s {$target} {$link}"},
              {ANY, TRIED, "patchelf --add-rpath {$rpath} {$file}  # or link it with -Wl,-rpath,{$rpath}"},
              {ANY, WORDS, "rocm-sdk test --report {$report}  # and send it to the builder of {distribution}"},
              {ANY, TRIED, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "Paths in libraries are relative to the library: packages that were moved apart do not find each other. If the fix does not help, the package was built that way: report it to its builder.", "name=libamdhip64.so.5\npresent=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.5\nneeding=libhiprtc.so.5", NULL)
    ROW(36, E, LIB, 005, ERROR, "{library} needs glibc {wanted|newer than this system has}", "this system has glibc {present|of an older release}",
        FIXES({CONTAINER, WORDS, "Start from a newer base image, or use an SDK that was built for glibc {present|of that release}"}, {ANY, WORDS, "Use a newer release of the distribution, a container of one, or an SDK that was built for glibc {present|of that release}"}),
        "A library that was built on a newer system asks for symbols that older ones do not have.", "library=librocm_smi64.so.1\nwanted=2.99\npresent=2.36", NULL)
    ROW(37, E, LIB, 006, ERROR, "{library} is damaged", "{detail}",
        FIXES(AS_BUILT, {DEBIAN, ELSEWHERE, "apt-get install --reinstall {debian}"},
              {FEDORA, ELSEWHERE, "dnf reinstall {fedora}"},
              {SUSE, ELSEWHERE, "zypper install --force {suse}"},
              {ARCH, ELSEWHERE, "pacman -S {arch}"},
              {GENTOO, ELSEWHERE, "emerge --oneshot {gentoo}"},
              {ANY, TRIED, "{reinstall}"},
              PREFIX, SAME, {ANY, WORDS, "Get {$path} again from where it came, if it is a library; else name one"}),
        "The file contradicts itself or is shorter than it says: a download or a tool such as an old patchelf broke it.", "detail=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libhsakmt.so.1: not an ELF file\nlibrary=libhsakmt.so.1", NULL)
    ROW(38, E, LIB, 007, ERROR, "{library} crashes when it is loaded", "the process was killed by {signal} while constructors of the library ran{output}{intact}",
        FIXES({ANY, WORDS, "rocm-sdk test --report rocm-report.zip  # and report it with that file; an update of the SDK or the driver may help"}),
        "Code of the library runs when it is loaded. Other libraries are tested all the same.", "library=librocm_smi64.so.1\nsignal=SIGABRT", NULL)
    ROW(39, E, LIB, 008, ERROR, "{library} does not finish loading", "{ran|constructors of the library ran for more than 60 s}{output}{intact}",
        FIXES({ANY, HARDWARE, "Look into the kernel's log: dmesg | grep -e amdgpu -e kfd  # {silent} does not answer"},
              {ANY, HARDWARE, "Take a machine with a GPU and its driver (a container: --device=/dev/kfd --device=/dev/dri), or the CPU build of the program  # {driver} (rocm-sdk gpus)"},
              {ANY, WORDS, "rocm-sdk test --report rocm-report.zip  # and report it with that file, if /dev/kfd is there (rocm-sdk gpus)"}),
        "Known of rocprofiler-sdk on machines without /dev/kfd: `import torch` hung without a word. ROCM_SDK_LOAD_WATCH makes the loader name the library.", "library=librocm_smi64.so.1\nran=constructors of the library ran for more than 60 s\nintact=; there is no /dev/kfd here, which is the likely reason: nothing was seen of what it waits for", NULL)
    ROW(40, E, LIB, 009, ERROR, "{library} ends the program that loads it", "constructors of the library ended the process with status {status|1 or higher}{output}{intact}",
        FIXES({ANY, WORDS, "rocm-sdk test --report rocm-report.zip  # and report it with that file"}),
        "A library must not call exit.", "library=librocm_smi64.so.1\nstatus=3", NULL)
    ROW(41, E, LIB, 021, ERROR, "{library} could not be checked", "the program that loads libraries for this test was killed by {signal} while it loaded this one and perhaps others",
        FIXES({ANY, WORDS, "rocm-sdk test --only libraries"}),
        "If it happens again, a constructor of one of the named libraries kills the process that started it. If not, something else killed it, or the kernel did because memory ran out.", "library=libhsakmt.so.1\nsignal=SIGKILL", NULL)
    ROW(42, E, LIB, 022, ERROR, "{library} is for a newer processor", "{detail}",
        FIXES({ANY, WORDS, "Use a machine with such a processor, or an SDK that was built for this one"}),
        "The levels x86-64-v2, -v3 and -v4 stand for sets of instructions; a library says which it was built with. On a processor without them it would crash with SIGILL. Emulators and virtual machines may offer less than the processor has.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7\ndetail=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7: needs a processor of the level x86-64-v4 or later, this one has x86-64-v3", NULL)
    ROW(43, W, LIB, 010, ERROR, "{library} says that it is {soname}", "the SONAME is not the name of the file: the file was renamed",
        FIXES(AS_BUILT, {ANY, TRIED, "{repair|mv LIBRARY SONAME}"},
              {ANY, TRIED, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "A library that needs it by its SONAME does not find it, or finds another copy.", "library=librocm_smi64.so.2\nsoname=librocm_smi64.so.1", NULL)
    ROW(44, W, LIB, 011, WARNING, "{library} looks for libraries outside the SDK", "the {tag} has {directory|a directory of the build machine}",
        FIXES({ANY, WORDS, "Report it to the package's builder; LD_LIBRARY_PATH and files there can change what is loaded"}),
        "A directory of the machine where it was built. If it exists here, libraries there are preferred.", "library=librocm_smi64.so.1\ntag=DT_RUNPATH\ndirectory=/build/rocm/lib", NULL)
    ROW(45, E, LIB, 012, ERROR, "{library} is for another machine", "{detail}",
        FIXES({ANY, TRIED, "{reinstall}  # the packages for this machine, not a copy of those for another one"},
              {ANY, WORDS, "Take files that were built for this machine"}),
        "The header of the file names a processor, and this process runs on another one. Usual after copying an environment, or after `pip download` for another platform.", "detail=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1: is a 64-bit little-endian library for riscv, this process is 64-bit little-endian for x86-64\nlibrary=librocm_smi64.so.1", NULL)
    ROW(46, W, LIB, 013, WARNING, "{library} wants to write into its code", "the library has text relocations (DT_TEXTREL)",
        FIXES({ANY, WORDS, "Report it to the package's builder; systems with SELinux refuse it: setsebool -P selinuxuser_execmod 1"}),
        "Part of it was built without -fPIC. Pages of its code are then not shared between processes.", "library=librocm_smi64.so.1", NULL)
    ROW(47, N, LIB, 014, NOTE, "{library} asks for an executable stack", "PT_GNU_STACK says so, mostly because of a mistake in an assembler file; glibc 2.41 and later refuse it in a running program",
        FIXES({ANY, WORDS, "patchelf --clear-execstack {$path}  # in {staged|the build}, or link with -Wl,-z,noexecstack"},
              {ANY, TRIED, "rocm-sdk test --fix"}),
        "glibc 2.41 and later refuse to make the stack executable for a library that is loaded late. `rocm-sdk test --fix` starts rocm-sdk-build, which puts a copy without the flag in its place, and its digest into RECORD, unless its code writes trampolines to the stack.", "library=librocm_smi64.so.1", "executable-stack")
    ROW(48, E, LIB, 015, ERROR, "{library} asks for an executable stack, which this system refuses", "glibc 2.41 and later, and SELinux, do not make the stack executable for a library that is loaded late",
        FIXES({ANY, WORDS, "patchelf --clear-execstack {$file}  # or link it with -Wl,-z,noexecstack"},
              {ANY, ELSEWHERE, "rocm-sdk test --fix  # clears the flag; or start the program with {tunable}"},
              {ANY, TRIED, "rocm-sdk test --fix"}),
        "The flag is mostly there because of a mistake in an assembler file. `rocm-sdk test --fix` starts rocm-sdk-build, which puts a copy without the flag in its place, and its digest into RECORD, unless its code writes trampolines to the stack. Such a library loads on glibc 2.42 and later with GLIBC_TUNABLES=glibc.rtld.execstack=2.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7", "executable-stack")
    ROW(49, W, LIB, 016, WARNING, "{library} and {other|another} have one SONAME", "both have the SONAME {soname|of one library}: which one a process gets depends on what is loaded first",
        FIXES({ANY, WORDS, "Report it to the packages' builder; or uninstall one of them, or remove {library} if no package has it"}),
        "Two copies of one library in a process have two copies of its data.", "library=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libhsakmt.so.1.2\nother=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libhsakmt.so.1\nsoname=libhsakmt.so.1", NULL)
    ROW(50, E, LIB, 017, ERROR, "{library} is on a file system that is mounted noexec", "the kernel does not map code from {directory|there}",
        FIXES({ANY, TRIED, "mount -o remount,bind,exec {$directory}  # as root, or move the environment elsewhere"}),
        "Usual for /tmp and for home directories on hardened systems.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7\ndirectory=/home", NULL)
    ROW(51, E, LIB, 018, ERROR, "{library} cannot be loaded: static TLS is used up", "the library takes {size|some} bytes of thread-local memory from a reserve of {reserve|512}, which libraries that were loaded before have used",
        FIXES({ANY, TRIED, "export GLIBC_TUNABLES=glibc.rtld.optional_static_tls={needed}  # or load ROCm earlier in the program"},
              {ANY, WORDS, "Load ROCm earlier in the program"}),
        "Libraries that were built with -ftls-model=initial-exec take this memory.", "size=8192\nreserve=512\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1", NULL)
    ROW(52, N, LIB, 019, NOTE, "the libraries of this SDK do not find each other by themselves", "no RPATH leads to what they need; they were tested with the SDK's directories in LD_LIBRARY_PATH",
        FIXES({ANY, WORDS, "Start programs that do not call rocm_sdk.initialize_process with: rocm-sdk run COMMAND"}),
        "AMD's wheels carry RPATHs; packages that were built otherwise rely on the loader.", "", NULL)
    ROW(53, E, LIB, 020, ERROR, "{library} does not fit what it needs", "{detail}",
        FIXES({ANY, TRIED, "unset {$variable}  # or take {entry} out of it"},
              {ANY, WORDS, "conda install --prefix {$conda} -c conda-forge libstdcxx-ng  # a newer one"},
              {ANY, WORDS, "Import and initialise rocm_sdk before {bringer} is loaded"},
              {ANY, TRIED, "{reinstall}  # {changed}"},
              {ANY, WORDS, "Take a build of {subject} that fits what is here, or install what it was built with"},
              {ANY, WORDS, "Use a newer release of the system, or an SDK that was built for this one  # {of_system} is the system's"},
              {ANY, WORDS, "rocm-sdk test --report {$report}  # and send it to the builder of {distribution}"},
              {ANY, WORDS, "Correct the package that brings {staged|the file}"},
              {ANY, WORDS, "rocm-sdk test --deep  # compares the packages with each other, and their files with RECORD"}),
        "A function or a version that one library expects from another is not there: another file of that name comes first, by a variable or because it was loaded before, or the two are of different versions. A package is installed again only where a file of it has another size than its RECORD says.", "detail=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1: undefined symbol: added\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1", NULL)
    ROW(54, N, LIB, 021, NOTE, "the SDK in {path|this directory} is for another machine", "the libraries are: {detail|for another processor}; none was loaded",
        NO_FIX,
        "Reported for a directory that is tested with --target. Files and packages were tested all the same.", "detail=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamd_comgr.so.2: is a 64-bit little-endian library for riscv, this process is 64-bit little-endian for x86-64\npath=/home/me/.venv/lib/python3.12/site-packages", NULL)
    ROW(55, E, LIB, 023, ERROR, "{needing} needs {name|another library}, which is not there", "the library is in neither the system nor the ROCm in {prefix|this directory}, and no RECORD says what that ROCm had",
        FIXES({ANY, TRIED, "{install}"},
              {ANY, WORDS, "Install the ROCm in {$prefix} again the way it was installed"}),
        "An SDK that no installer of Python made (a copied directory, a prefix of Nix, a ROCm of the system) has no list of its files. A library that is missing there is looked for among its own files first: one of the same name from another ROCm would not fit.", "name=libhsakmt.so.1\nneeding=libhsa-runtime64.so.1\nprefix=/home/me/rocm", NULL)
    ROW(56, E, LIB, 024, ERROR, "{needing|a file} was built for {wanted|one release of ROCm}, the SDK is {version|of another} and has {present|another libamdhip64.so}", "the file needs {name|a library}{more}, which neither the SDK nor the system has",
        FIXES({ANY, WORDS, "{install}  # or take a build of {$needing} for ROCm {version}"},
              {ANY, WORDS, "Take a build of {$needing} for ROCm {version}"}),
        "The file needs libraries that the SDK has in other versions, or libraries of another release: the linker would refuse the file. The names of the libraries that it needs say for which releases it was built; which libraries the SDK has decides, not its release. Raised as BadLibraryError.", "needing=engine.so\nwanted=ROCm 7.0 or newer\nversion=5.2.3\nname=libamdhip64.so.7\npresent=libamdhip64.so.5", NULL)
    ROW(57, E, LIB, 025, ERROR, "{library} cannot be loaded: there is no memory for it", "{detail}; the limit of the address space of this process is {limit|none}",
        FIXES({ANY, WORDS, "ulimit -v unlimited  # or raise the limit (RLIMIT_AS) where the batch system sets it"}),
        "The file is intact: the kernel refused to map it. Libraries of GPU code take gigabytes of address space, and little memory.", "limit=512000000 bytes\ndetail=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.5: failed to map segment from shared object\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.5", NULL)
    ROW(58, W, LIB, 026, WARNING, "{library} is a HIP runtime beside the HIP runtime of the SDK", "the SDK has {other|its own}: a process that loads both has two",
        FIXES({ANY, WORDS, "Take a build that uses the SDK's libraries, or use its own without the SDK"}),
        "Two HIP runtimes in a process do not know each other's memory, streams and modules. The result depends on the order of loading.", "library=libamdhip64.so.5\nother=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.5", NULL)
    ROW(160, N, LIB, 027, NOTE, "{needing} opens {name}, and no file has that name", "{detail}",
        FIXES({ANY, WORDS, "rocm-sdk run PROGRAM  # or rocm_sdk.initialize_process(preload_shortnames=[\"{shortname}\"]) before it is opened"},
              {ANY, WORDS, "export ROCM_SDK_UNVERSIONED_NAMES=1  # then rocm-sdk run PROGRAM answers, and rocm_sdk for what it loads"}),
        "Packages hold libraries under their SONAMEs, as libamd_smi.so.26. A plain dlopen(\"libamd_smi.so\") finds none: a file without version comes with development packages. rocm_sdk answers to the names that programs are known to use.", "needing=binding.so\nname=libamdhip64.so\ndetail=there is libamdhip64.so.5: a plain dlopen finds nothing; `rocm-sdk run` answers, and a process in which rocm_sdk has loaded amdhip64", NULL)

    ROW(161, W, LIB, 028, WARNING, "{library} makes the linker run {name|another library}", "the {tag|DT_AUDIT} of {library} names it: whoever loads or starts {library}, or asks ldd about it, runs the code of {name|that library} first",
        FIXES({ANY, WORDS, "readelf -d {$path}  # and take a build without that entry, if you do not know what it is for"}),
        "The dynamic linker loads the libraries of DT_AUDIT and DT_DEPAUDIT and calls them before anything else of a process runs, also where it only lists what a file needs. Profilers use it; files that others gave you need not.", "library=app\nname=/opt/watch/libwatch.so", NULL)

    /* ---- whose functions a library gets ---- */
    ROW(59, W, BIND, 001, WARNING, "{library} gets functions of another file", "{symbol|a function}{more} binds to {other|another library}, though {instead|the library itself} has it",
        FIXES({ANY, WORDS, "export ROCM_SDK_ISOLATE={$shortname}  # for the program: it keeps that library out of the global scope"},
              {ANY, WORDS, "Preload {first} with rocm_sdk before other code opens {other|the other library}: rocm_sdk.preload_libraries({names})"},
              {ANY, WORDS, "Link {needing} with a build of {other|the other library} whose symbols have versions, or statically with -Wl,--exclude-libs,ALL"},
              {ANY, WORDS, "Load ROCm in one call of initialize_process, before other code opens {other|the other library}"}),
        "Two libraries have functions or variables of the same names, and call them by name. The dynamic linker gives both the one that comes first in the global scope, and whoever was built with the other works with the wrong data. `rocm-sdk tree --bindings` shows each.", "instead=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libroctracer64.so.4\nlibrary=libroctracer64.so.4\nsymbol=state\nmore= and 1 more\nother=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libroctx64.so.4", NULL)

    /* ---- the API's promises ---- */
    ROW(60, E, API, 001, ERROR, "the library {shortname|of a shortname} is not found", "{detail}",
        FIXES({ANY, WORDS, "{reinstall}"},
              {ANY, WORDS, "Add it to the ROCm in {$prefix} the way that was installed"},
              SAME,
              {ANY, WORDS, "rocm-sdk test  # shows what the package of {shortname} lacks"},
              {ANY, WORDS, "Name a file that is there: {$path} is not"}),
        "Its file was deleted, or the package was made without it. Programs ask for libraries by short names; this one is in the catalog and belongs to an installed package.", "shortname=amdhip64\ndetail=amdhip64: no library found: tried the file name /home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so*, then the SONAME libamdhip64.so* of each of the 7 files there", NULL)
    ROW(61, E, API, 002, ERROR, "{shortname} cannot be preloaded in a fresh process", "{detail}{intact}",
        FIXES({ANY, WORDS, "rocm-sdk tree {$shortname}  # shows what it brings"}),
        "The library, or what comes in with it, ends the process or is refused. The process does with this library the same as `import torch`. A problem of a library that it needs is reported in its place.", "shortname=rocm_smi64\ndetail=it was killed by SIGABRT: it printed nothing", NULL)
    ROW(62, E, API, 003, ERROR, "{shortname} has no function {symbol|that its users call}", "{path|the file} is another library than its name says, or a much older one{intact}",
        FIXES({ANY, WORDS, "rocm-sdk test --report {$report}  # and send it to the builder of {distribution}"},
              {ANY, WORDS, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "Each library has a function that names it, such as hipGetDeviceCount.", "shortname=rocm_smi64\nsymbol=rsmi_init\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1", NULL)
    ROW(63, E, API, 004, ERROR, "no library has the name {name|that was given}", "the name is not in the catalog",
        FIXES({ANY, WORDS, "rocm-sdk list  # prints all names: did you mean {near|amdhip64}?"},
              {ANY, WORDS, "rocm-sdk list  # prints the names"}),
        "Raised as UnknownLibraryError. `rocm-sdk list` prints the names.", "name=amdhip46", NULL)
    ROW(64, E, API, 005, ERROR, "{shortname|hiprtc} compiles no kernel for {target|a GPU}", "{detail}{intact}",
        FIXES({ANY, WORDS, "rocm-sdk test --report {$report}  # and send it to the builder of {distribution}"},
              {ANY, WORDS, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "A small kernel is compiled at run time, as PyTorch, MIOpen and rocFFT do, for the machine's GPU or for gfx1030. The compilation needs amd_comgr and the built-in headers of hiprtc; no GPU is needed. It fails where these are missing, of another version, or older than the GPU.", "detail=hiprtcCompileProgram answers HIPRTC_ERROR_COMPILATION (6): no such header\nshortname=hiprtc\ntarget=gfx1030", NULL)
    ROW(178, W, API, 006, WARNING, "{shortname|hiprtc} does not compile the headers that cupy includes", "{detail}",
        FIXES({ANY, WORDS, "rocm-sdk init && export ROCM_HOME=\"$(rocm-sdk path --root)\"  # cupy asks hipcc in its bin for the directories of <stddef.h> and <cstdint>"}),
        "Reported where cupy is installed. hiprtc finds neither header by itself, in a sound SDK neither; cupy passes the directories that `hipcc -x hip -E -v` names, and so does the test.", "shortname=hiprtc\ndetail=hiprtcCompileProgram answers HIPRTC_ERROR_COMPILATION (6): no such header", NULL)

    /* ---- tools ---- */
    ROW(65, E, TOOL, 001, ERROR, "the program {tool} does not start", "{detail}{intact}",
        FIXES({ANY, WORDS, "rocm-sdk test --report {$report}  # and send it to the builder of {distribution}"},
              {ANY, WORDS, "{reinstall}"},
              PREFIX, SAME, FILE_ITSELF),
        "Each program of the packages is started with an option that makes it print its version or its help. The program ended by a signal or with an error: it is damaged, or a library that it needs is.", "detail=it was killed by SIGSEGV: it printed nothing\ntool=rocm-smi", NULL)
    ROW(66, E, TOOL, 002, ERROR, "the program {tool} leads to nothing", "{detail}",
        FIXES({ANY, TRIED, "{reinstall}"},
              {ANY, WORDS, "Report it to the builder of {distribution}: its RECORD never had the program"}),
        "The command is a small script that starts the real program inside the packages: one of the two is missing, or the interpreter that the script names is, for example after a virtual environment was moved.", "tool=rocm-smi\ndetail=/home/me/.venv/bin/rocm-smi is not there", NULL)
    ROW(67, E, TOOL, 003, ERROR, "the program {tool} does not end", "the program ran for more than {seconds|60} s",
        FIXES({ANY, WORDS, "rocm-sdk test --report rocm-report.zip  # and report it with that file"}),
        "The test killed the program.", "tool=rocm-smi\nseconds=60", NULL)
    ROW(68, N, TOOL, 004, NOTE, "{tool|a program} was not tried", "the program runs out of the development tree, which is not extracted",
        FIXES({ANY, WORDS, "rocm-sdk init  # or: rocm-sdk test --init"}),
        "A test changes nothing unless it is told to.", "tool=hipcc", NULL)
    ROW(69, E, TOOL, 005, ERROR, "{tool|a program} is not there", "{detail}",
        FIXES({ANY, WORDS, "Install it, or name another"}),
        "A command needs a program that the SDK does not have: a clang that is not AMD's for `rocm-sdk env --compiler`.", "tool=clang++-99\ndetail=there is no clang++-99 in PATH", NULL)
    ROW(199, W, TOOL, 006, WARNING, "programs that start only with `rocm-sdk run`: {programs|some}", "no search path leads them to the SDK's libraries; they were tried with its directories in LD_LIBRARY_PATH",
        FIXES({ANY, WORDS, "rocm-sdk run {$tool|PROGRAM}"}),
        "The programs of AMD's wheels have search paths, and so has what rocm-sdk-build packages. Others rely on the loader.", "programs=rocminfo, rocm_agent_enumerator\ntool=rocminfo", NULL)

    /* ---- the development tree ---- */
    ROW(70, W, DEVEL, 001, WARNING, "the extraction of the development tree is not complete", "{detail}",
        FIXES({ANY, WORDS, "rocm-sdk init  # or: rocm-sdk test --fix"}),
        "An extraction was killed. The next one removes what it left.", "detail=/home/me/.venv/lib/python3.12/site-packages/.rocm_sdk_devel.staging-1234 is left", "finish-extraction")
    ROW(71, E, DEVEL, 002, ERROR, "the development tree is not as it was extracted: {path|a file differs}", "{path|a file} {detail|is missing, or not what the manifest says}",
        FIXES({ANY, TRIED, "{update}  # as the owner of the environment, or: rocm-sdk test --fix"},
              {ANY, WORDS, "{install}  # or the package {leads}"},
              {ANY, TRIED, "{reinstall} && rocm-sdk init"},
              {ANY, WORDS, "Install {$requirement} again from where it came, then: rocm-sdk init"}),
        "The tree is compared with the manifest that was written when it was extracted.", "detail=has another content\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake", "update-links")
    ROW(72, E, DEVEL, 003, ERROR, "the CMake package {path|of the tree} cannot be used", "{detail}",
        FIXES({ANY, TRIED, "{reinstall} && rocm-sdk init"},
              {ANY, WORDS, "Correct the package that brings {staged|the file}"},
              {ANY, WORDS, "Install {$requirement} again from where it came, then: rocm-sdk init"}),
        "find_package reads these files. One of them is damaged, or names what the tree does not have.", "detail=line 1 begins no command that ends\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake", NULL)
    ROW(73, E, DEVEL, 004, ERROR, "the compiler does not find its own files", "clang -print-resource-dir says {path|a directory}, which is not there; there is {found|another one}",
        FIXES({ANY, WORDS, "{reinstall} && rocm-sdk init  # if that does not help, report it to the package's builder"},
              {ANY, WORDS, "Report it to the package's builder"}),
        "The directory is named by the major version (lib/clang/18) or by the whole version (lib/clang/18.0.0); scripts that assume one of them break with the other.", "found=18\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_devel/lib/llvm/lib/clang/18.0.0", NULL)
    ROW(74, E, DEVEL, 005, ERROR, "a small HIP program does not compile", "{detail}{intact}",
        FIXES({DEBIAN, WORDS, "apt-get install libstdc++-{gcc}-dev  # the C++ headers of that GCC; or give the compiler --gcc-install-dir={other}"}, {ANY, WORDS, "Install the C++ headers of GCC {gcc}, or give the compiler --gcc-install-dir={other}"}, {DEBIAN, WORDS, "apt install g++  # for {header}: the headers of the newest GCC directory are what the compiler takes"}, {FEDORA, WORDS, "dnf install gcc-c++  # for {header}"}, {ANY, WORDS, "Install the C++ compiler of the system with its headers, which has {header}"},
              {ANY, WORDS, "Correct what {$path} says; `rocm-sdk test --deep` names the files of the SDK that are not as they were installed"}),
        "The compiler takes the C++ headers of the newest GCC that has a directory, even if that directory has no headers. Where it names no header of the system, it fails by itself, by a variable or by a file of the SDK.", "detail=hip_runtime.h:1:1: error: unknown type name", NULL)
    ROW(75, N, DEVEL, 006, NOTE, "clang's resource directory is named by {detail|its version}", "the directory is {path|lib/clang/VERSION}; scripts that assume the other spelling do not find it",
        NO_FIX,
        "lib/clang/18 and lib/clang/18.0.0 are both in use.", "detail=the major version\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_devel/lib/llvm/lib/clang/18", NULL)
    ROW(76, W, DEVEL, 007, WARNING, "the development tree does not know what was installed after it", "packages of the SDK have changed since the links of {path|the tree} were made",
        FIXES({ANY, WORDS, "rocm-sdk init  # or: rocm-sdk test --fix"}),
        "Device packages that are installed later are linked in by the next `rocm-sdk init`; so are files that an upgrade replaced.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_devel", "update-links")
    ROW(77, E, DEVEL, 008, ERROR, "the development tree cannot be made or changed", "{detail|there is not enough disk space, or no permission}",
        FIXES({ANY, WORDS, "Make room, or give this user the permission, then: rocm-sdk init"}),
        "There is not enough disk space, no permission, or something changed the tree at the same time. Raised as DevelopmentTreeError. The tree that was there before is still there.", "detail=cannot create the store /proc/store: No such file or directory", NULL)
    ROW(78, E, DEVEL, 009, ERROR, "the archive of the development tree cannot be used", "{detail}",
        FIXES(AS_BUILT, {ANY, TRIED, "{reinstall} && rocm-sdk init"},
              {ANY, WORDS, "Install {$requirement} again from where it came, then: rocm-sdk init"}),
        "The archive is damaged, or holds what such an archive must not: the message names the member. Raised as BadArchiveError. Nothing of the archive was left behind.", "detail=/home/me/.venv/lib/python3.12/site-packages/rocm_sdk_devel/_devel.tar is damaged: no valid header at byte 2000: truncated header", NULL)
    ROW(79, E, DEVEL, 010, ERROR, "another process works on the development tree", "the other process did not end within the waiting time",
        FIXES({ANY, WORDS, "Wait for the process that the message names, or end it"}),
        "Raised as DevelopmentTreeLockedError.", "", NULL)
    ROW(80, E, DEVEL, 011, ERROR, "the development package was installed by something that keeps no RECORD", "pip could not remove the files that an extraction would add",
        FIXES({ANY, WORDS, "python3 -m venv ~/rocm && ~/rocm/bin/pip install {source}{$requirement}  # into a virtual environment"},
              {ANY, WORDS, "Install it into a virtual environment, with pip or uv"}),
        "Raised as SystemManagedError. Distribution packages are of this kind.", "", NULL)
    ROW(81, N, DEVEL, 012, NOTE, "the clang of this system cannot compile HIP with this SDK", "{path|clang++}, for {target|a target}: {detail|the first error of the compiler}",
        FIXES({DEBIAN, WORDS, "apt-get install libstdc++-{gcc}-dev  # the C++ headers of that GCC; or give the compiler --gcc-install-dir={other}"}, {ANY, WORDS, "Install the C++ headers of GCC {gcc}, or give the compiler --gcc-install-dir={other}"}, {ANY, WORDS, "Use the SDK's own compiler, hipcc, where it has one, or a clang that is as new as the SDK, with lld of the same version; `rocm-sdk env --compiler` prints the flags that were tried"}),
        "Each clang in PATH was tried with a small program, at most four, and none compiled it; what is shown is the first that starts. A clang may be older than the SDK's headers and device libraries, or lack the C++ headers or lld, which links GPU code.", "target=gfx1030\ndetail=clang: error: unable to execute lld\npath=/home/me/bin/clang++", NULL)
    ROW(82, N, DEVEL, 013, NOTE, "the development tree is installed and not extracted", "{path|the package} still holds the archive, which the first use extracts",
        FIXES({ANY, TRIED, "rocm-sdk init"}),
        "`rocm-sdk path`, `env` and `run` extract it when they need it. Tools that look for ROCm by themselves do not: torch's cpp_extension and core's hipconfig answer with the core package's directory, in which headers and CMake packages of most libraries are missing.", "path=/home/me/.venv/lib/python3.12/site-packages/rocm_sdk_devel", NULL)
    ROW(158, E, DEVEL, 014, ERROR, "the development tree lacks files that packages of the SDK have", "{detail}",
        FIXES({ANY, WORDS, "Tell the builder of {distribution|the packages}, whose `rocm-sdk-build check` names the files; until then take them from the package's own directory"}),
        "The tree is to have every file of the packages that compilers and programs use: libraries, bitcode, kernels and their archives. The files were never in the archive of the tree or, of a device package, in its list of links (.devel_links). Installing again brings the same files.", "detail=_rocm_sdk_libraries/lib/kernels.dat is installed, and not in the tree", NULL)
    ROW(157, W, DEVEL, 015, WARNING, "the development tree has copies of {number|some} files of the packages", "{path|the tree} has copies where links belong, as {example|a library}",
        FIXES({ANY, TRIED, "rocm-sdk init  # as the owner of the environment"}),
        "The layers of an image, or a copy of a directory, make two files of two names of one file. A program that gets a library from the tree and its twin from the package loads both: two copies of LLVM abort the program, and the disk holds everything twice.", "number=1\nexample=lib/libamdhip64.so.5\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_devel", NULL)

    /* ---- GPUs ---- */
    ROW(83, E, GPU, 002, ERROR, "the GPU {target} has no packages", "no installed package has device code for it; supported: {supported|the targets of the installed packages}",
        FIXES({ANY, TRIED, "{reinstall}  # {distribution} is installed but incomplete"},
              {ANY, TRIED, "{install}"},
              MORE,
              {ANY, WORDS, "rocm-sdk install sdk --upgrade --gpu {target|TARGET}  # a release with code for it: this SDK has none"}),
        "Programs start and fail at their first kernel. Where the SDK's comgr does not know the target either, HIP ends each process that sees the GPU.", "target=gfx942\nsupported=none", NULL)
    ROW(84, E, GPU, 003, ERROR, "HIP sees {found|one number of} GPUs, the kernel has {wanted|another} for this process", "{detail}{intact}",
        FIXES({ANY, WORDS, "Compare `rocm-sdk gpus --all` with rocminfo; report both"}),
        "The HIP runtime leaves out a GPU that the kernel offers, or fails at one. hipInit and hipGetDeviceCount were called in a process of their own.", "found=0\nwanted=2\ndetail=hipInit and hipGetDeviceCount returned 0 100", NULL)
    ROW(85, E, GPU, 004, ERROR, "the kernel's files about the GPUs cannot be used", "{detail}",
        FIXES({ANY, WORDS, "Try again; then look into the kernel's log: dmesg | grep -e amdgpu -e kfd"}),
        "The files are damaged, or change all the time while they are read: the message names the file. Raised as TopologyError.", "detail=/sys/class/kfd/kfd/topology/nodes/1/properties: lacks simd_count", NULL)
    ROW(86, E, GPU, 005, ERROR, "no GPU target or family has this name, or it does not have the feature", "{detail}",
        FIXES({ANY, WORDS, "Use another name: did you mean {near|gfx942}?"},
              {ANY, WORDS, "{advice}"},
              {ANY, WORDS, "Use another name: targets look like gfx942 or gfx942:xnack-, families like gfx94X-dcgpu, products like RX 7900 XTX"}),
        "The name is mistyped or newer than this package's table, the product has several targets, or the target has no such feature (xnack, sramecc). Raised as UnknownTargetError.", "detail=\"gfx94\" is not a known GPU target, family or product", NULL)
    ROW(87, E, GPU, 006, ERROR, "there is no GPU target to build for", "the selection is empty",
        FIXES({ANY, WORDS, "rocm-sdk targets --cmake gfx942,gfx110X-all  # names targets"}),
        "Raised as EmptySelectionError. An empty list is never printed, because build systems would use their default instead.", "", NULL)
    ROW(88, E, GPU, 007, ERROR, "the kernel's topology in {path|/sys/class/kfd} has more than 1024 nodes", "{detail}",
        FIXES({ANY, WORDS, "Check that the root, ROCM_SDK_ROOTFS or an argument, holds the sysfs of a running kernel"}),
        "A node is a processor or a GPU, and no machine has a tenth as many: these files are not the kernel's. The limit bounds what a directory that is not the kernel's can cost. Raised as TopologyError.", "detail=/sys/class/kfd/kfd/topology/nodes: has more than 1024 nodes\npath=/sys/class/kfd/kfd/topology", NULL)
    ROW(89, E, GPU, 008, ERROR, "no GPU is chosen by {selection|the selection}", "{detail}",
        FIXES({ANY, WORDS, "rocm-sdk gpus --visible  # lists those that are there: choose one of them"}),
        "`rocm-sdk run --gpu` and `rocm-sdk env --gpu` choose among the GPUs that the variables of the environment leave, and never widen them. An empty choice is an error, and no empty variable, with which the program would run without a GPU. Raised as EmptySelectionError.", "selection=gfx1100\ndetail=HIP sees 0 (gfx942, data centre), 1 (gfx1036, integrated)", NULL)
    ROW(90, W, GPU, 010, WARNING, "the kernel's driver amdgpu is not loaded", "{detail}",
        FIXES({ANY, HARDWARE, "Give {lent} back to amdgpu where the virtual machine is set up  # ls -l /sys/bus/pci/devices/{lent}/driver names the driver that has it"},
              {ANY, HARDWARE, "sudo modprobe amdgpu  # without such a module install the kernel's driver package"}),
        "An AMD GPU is on the PCI bus, but no driver serves it.", "detail=an AMD GPU is on the PCI bus", NULL)
    ROW(91, N, GPU, 011, NOTE, "this machine has no AMD GPU", "{detail|none was found}; libraries load and compilers work without one",
        NO_FIX,
        "No AMD GPU is on the PCI bus, and the kernel's driver amdgpu is not loaded.", "detail=the kernel shows no PCI bus", NULL)
    ROW(92, W, GPU, 012, WARNING, "the kernel's driver amdgpu is not ready", "{detail}",
        FIXES({ANY, HARDWARE, "Wait and look again; if it stays so, look into the kernel's log: dmesg | grep amdgpu"}),
        "The module is being loaded or unloaded. If it stays so, its initialisation hangs.", "detail=the module is being loaded or unloaded", NULL)
    ROW(93, W, GPU, 013, WARNING, "the kernel's driver has no compute part", "{detail}",
        FIXES({ANY, HARDWARE, "Use a kernel that is built with CONFIG_HSA_AMD"}),
        "The kernel's driver amdgpu is there, but KFD, which ROCm talks to, is not. A kernel without CONFIG_HSA_AMD has none.", "detail=the driver is there, and KFD is not", NULL)
    ROW(94, W, GPU, 014, WARNING, "the kernel's compute driver knows no GPU", "{detail}",
        FIXES({ANY, HARDWARE, "See whether the GPU is on the bus (lspci -d 1002:) and what the driver says (dmesg | grep amdgpu)"}),
        "KFD is there without a GPU: the driver did not take the GPU, or it is not supported for compute.", "detail=KFD is there, and lists no GPU", NULL)
    ROW(95, W, GPU, 015, WARNING, "the device cgroup hides GPUs", "{detail}",
        FIXES({ANY, HARDWARE, "Start the container with --device=/dev/dri, or with each wanted --device=/dev/dri/renderD..."}),
        "The kernel says that the GPUs exist, and nothing else about them. A container or job without the render nodes of GPUs has such a cgroup.", "detail=the device cgroup hides 2 GPU nodes", NULL)
    ROW(96, W, GPU, 016, WARNING, "/dev/kfd is not there", "{detail}",
        FIXES(GIVE_DEVICE),
        "Every ROCm program opens it. The kernel knows a GPU, so this is mostly a container without the device.", "detail=the kernel sees the GPU", NULL)
    ROW(97, W, GPU, 017, WARNING, "/dev/kfd cannot be opened", "{detail}",
        FIXES(OPEN_DEVICE),
        "Every ROCm program opens it for reading and writing. The kernel decides by its numbers, its mount, its mode and ACL, the device cgroup and a security module. `rocm-sdk gpus --require` opens it.", "detail=/dev/kfd: this user may not read and write it; it belongs to group render (991), mode 0660", NULL)
    ROW(98, W, GPU, 018, WARNING, "a GPU has no render node", "{detail}",
        FIXES({ANY, HARDWARE, "Look into the kernel's log: dmesg | grep -e amdgpu -e drm  # the kernel gives {without|the GPU} none"},
              GIVE_DEVICE),
        "ROCm opens the render node of each GPU. In a container it may be absent though the kernel knows the GPU.", "detail=/dev/dri/renderD129: missing, although the kernel sees the GPU", NULL)
    ROW(99, W, GPU, 019, WARNING, "the render node of a GPU cannot be opened", "{detail}",
        FIXES(OPEN_DEVICE),
        "ROCm opens the render node of each GPU for reading and writing. The kernel refuses this user for its mode and ACL, its mount, the device cgroup or a security module.", "detail=/dev/dri/renderD129: this user may not read and write it; it belongs to group render (991), mode 0660", NULL)
    ROW(100, W, GPU, 020, WARNING, "this is WSL2, whose GPU only a ROCm for WSL finds", "{detail}",
        FIXES({ANY, HARDWARE, "rocm-sdk test --only libraries  # says what to do about {soname}, which {reason}"},
              {ANY, HARDWARE, "rocm-sdk run rocminfo  # ROCm opens {soname} then, and says which GPU it finds"},
              {ANY, HARDWARE, "Install a ROCm that supports WSL (librocdxg), and run its rocminfo"}),
        "The GPU is behind /dev/dxg, and only a ROCm that supports WSL, through librocdxg, can say which one it is. Before ROCm 10.1 its runtime opens librocdxg.so, a name that no package has: programs find it in rocm-sdk run, and after rocm_sdk.initialize_process.", "detail=its GPU is behind /dev/dxg, and only a ROCm that supports WSL can say which one it is", NULL)
    ROW(101, W, GPU, 021, WARNING, "/dev/dxg cannot be opened", "{detail}",
        FIXES(OPEN_DEVICE),
        "WSL2 passes the GPU through this device. The kernel refuses this user for its mode and ACL, its mount, the device cgroup or a security module.", "detail=/dev/dxg: this user may not read and write it; it belongs to group root (0), mode 0600", NULL)
    ROW(102, W, GPU, 022, WARNING, "libdxcore.so of WSL2 is not there", "{detail}",
        FIXES({ANY, HARDWARE, "Update WSL (wsl --update) and the GPU driver of Windows; in a container mount /usr/lib/wsl"}),
        "ROCm for WSL talks to the GPU through this library. WSL mounts it from the driver of Windows; a container does not have that directory by itself.", "detail=the driver of Windows brings it", NULL)
    ROW(103, W, GPU, 023, WARNING, "HSA_ENABLE_DXG_DETECTION does not ask for the GPU of WSL2", "{detail}",
        FIXES({ANY, HARDWARE, "export HSA_ENABLE_DXG_DETECTION=1  # ROCm before 7.13 needs it"}),
        "ROCm before 7.13 looks for the GPU of WSL2 only where this variable is 1.", "detail=it is not set to 1", NULL)
    ROW(104, W, GPU, 024, WARNING, "{path|a visibility variable} {fault|is cut short}", "{detail}",
        FIXES({ANY, WORDS, "unset {path|VARIABLE}  # or write device numbers from 0, without blanks or leading zeros, or UUIDs, each once"}),
        "ROCm reads the list up to the first entry that it does not accept, and leaves out the rest without a word.", "detail=HIP_VISIBLE_DEVICES=0,7: \"7\" is not the number of a device, so the list leaves 1 of 2 devices\nfault=names a device that is not there\npath=HIP_VISIBLE_DEVICES", NULL)
    ROW(105, W, GPU, 025, WARNING, "{path|HSA_OVERRIDE_GFX_VERSION} makes ROCm find no GPU", "{detail}",
        FIXES({ANY, WORDS, "unset {path|VARIABLE}  # or give a version in decimal numbers, such as 10.3.0 for gfx1030 or 9.0.10 for gfx90a"}),
        "The value is not major.minor.stepping, at most 63.255.255, with nothing behind it.", "detail=HSA_OVERRIDE_GFX_VERSION=9: is not major.minor.stepping, so ROCm finds no GPU at all\npath=HSA_OVERRIDE_GFX_VERSION", NULL)
    ROW(106, W, GPU, 026, WARNING, "{path|HSA_OVERRIDE_GFX_VERSION} makes ROCm leave a GPU out", "{detail}",
        FIXES({ANY, WORDS, "unset {path|VARIABLE}  # or give a version in decimal numbers, such as 10.3.0 for gfx1030 or 9.0.10 for gfx90a"}),
        "ROCm knows no target of the version that it names.", "detail=HSA_OVERRIDE_GFX_VERSION=9.9.9: ROCm knows no gfx999, so it leaves the GPU out\npath=HSA_OVERRIDE_GFX_VERSION", NULL)
    ROW(107, W, GPU, 027, WARNING, "a GPU is on the PCI bus, and the compute driver does not have it", "{detail}",
        FIXES({ANY, HARDWARE, "See what the driver says of it: dmesg | grep -e amdgpu -e kfd"}),
        "KFD has other GPUs of this machine. KFD leaves out a GPU that it does not support, one whose firmware is missing, and older ones whose slot offers no PCIe atomics. The kernel's log says which one it is.", "detail=0000:41:00.0: perhaps PCIe atomics or firmware", NULL)
    ROW(108, W, GPU, 028, WARNING, "firmware of a GPU is of a version that is known to do harm", "{detail}",
        FIXES({ANY, HARDWARE, "Install another version of linux-firmware, rebuild the initramfs and reboot  # {repair|another version does not do that}"}),
        "The firmware comes with the package linux-firmware or the like, and is loaded from the initramfs. The table of versions has a source for each.", "detail=MES 0x83: GPU hangs and memory access faults are reported with it on gfx1151", NULL)
    ROW(109, W, GPU, 029, WARNING, "this Linux is older than a GPU needs", "{detail}",
        FIXES({ANY, HARDWARE, "Update the kernel to {needed|a newer one}, or use one into which your distribution has put the same change"}),
        "The driver is part of the kernel. Distributions put single changes into older kernels, and a driver from a package of its own (amdgpu-dkms) has a version of its own: so this is a guess from the number.", "detail=this is Linux 6.12.1, and gfx1151 needs Linux 6.17.9: an older driver may refuse the queues of ROCm 7.2 and later, or kernels crash", NULL)
    ROW(110, N, GPU, 030, NOTE, "the processor reaches only a part of a GPU's memory", "{detail}",
        FIXES({ANY, HARDWARE, "Switch on Above 4G Decoding and Resizable BAR in the firmware of the machine"}),
        "The PCI BAR of the GPU is smaller than its memory. Programs run; copies take a longer way, and GPUs cannot reach each other's whole memory.", "detail=the processor reaches 0.3 GB of 206.2 GB", NULL)
    ROW(111, W, GPU, 031, WARNING, "the way between the processor and a GPU has no PCIe atomics", "{detail}",
        FIXES({ANY, HARDWARE, "Put the GPU into a slot of the processor, or switch on AtomicOps in the firmware of the machine; in a virtual machine, on the host"}),
        "KFD says so in the flags of the link. Programs that share atomic variables with the GPU, such as printf in kernels and some collectives, may hang; others run.", "detail=its PCIe link has no atomics of 32 and 64 bits", NULL)
    ROW(112, W, GPU, 032, WARNING, "a GPU has counted errors that it could not correct", "{detail}",
        FIXES({ANY, HARDWARE, "Look at the kernel's log (dmesg | grep -i ras) and reboot; if the count rises again, have the GPU replaced"}),
        "The counters (RAS) begin at 0 with the driver, or go on from what the GPU has stored. Results computed since may be wrong.", "detail=1 uncorrected (umc_err_count), 12 corrected, 0 deferred", NULL)
    ROW(164, W, GPU, 033, WARNING, "{path|a variable} makes ROCm abort each program", "{detail}",
        FIXES({ANY, WORDS, "unset {path|VARIABLE}  # or {repair|correct it}"}),
        "The program ends with SIGABRT while ROCm starts, before it has seen a GPU. ROCm's runtime does so at an empty entry of ROCR_VISIBLE_DEVICES that is not the last one, HIP 6.4.3 with a GPU whose version is overridden by one of gfx8.", "detail=ROCR_VISIBLE_DEVICES=0,,1: ROCm's runtime aborts the program at the empty entry\npath=ROCR_VISIBLE_DEVICES", NULL)
    ROW(177, W, GPU, 034, WARNING, "{target|a GPU} is known to compute wrongly", "{detail|reports tell of it}",
        FIXES({ANY, HARDWARE, "Compare results with the CPU before you rely on them, or take another GPU  # {said_by|a public report}"}),
        "Public reports tell of wrong results without an error. The table has one row for each target, with the releases and the source of the report. Everything loads and runs.", "target=gfx1033\ndetail=training diverges: gradients differ from the gradients of the CPU and from run to run, losses become NaN, queues hang", NULL)
    ROW(163, W, GPU, 035, WARNING, "the GPU {target|of this machine} has no code here, and {other|another one} has", "no installed package has device code for {target|it}; programs that take the first GPU may get it",
        FIXES({ANY, HARDWARE, "rocm-sdk run --gpu supported PROGRAM  # use {other|the discrete one}"}),
        "An integrated GPU often comes before the discrete one, and the SDK has no code for it. Programs see both. `rocm-sdk env --gpu supported` prints the variable that hides it.", "target=gfx1036\nother=gfx1100", NULL)
    ROW(162, N, GPU, 036, NOTE, "the GPU {target|of this machine} has no code here, and is hidden", "{variable|a variable} hides it from programs",
        NO_FIX,
        "Programs do not see it, so nothing is missing for it.", "target=gfx1036\nvariable=HIP_VISIBLE_DEVICES", NULL)

    ROW(180, N, GPU, 037, NOTE, "other GPUs of this machine are not for this process", "{detail}",
        NO_FIX,
        "A container, a job or a service gets single GPUs by their render nodes, mostly on purpose: ROCm goes on without the others. `rocm-sdk gpus --require=all` asks for all.", "detail=/dev/dri/renderD129: missing, although the kernel sees the GPU", NULL)
    ROW(181, W, GPU, 038, WARNING, "the GPU {target|of an older kind} makes ROCm find no GPU", "{detail}",
        FIXES({ANY, HARDWARE, "Install a ROCm with the correction (rocm-systems 4936, of August 2026), or keep the GPU {path|before Vega} from the driver amdgpu, or out of the container  # ROCR_VISIBLE_DEVICES does not help"}),
        "The runtime of ROCm from 7.0 on ends hsa_init at a GPU from before Vega (doorbell type 0 or 1), for all GPUs. It is said only where the installed runtime does so, by its text or its release.", "target=gfx803\ndetail=node 2 has doorbells of an older type, at which the SDK's runtime ends", NULL)
    ROW(182, N, GPU, 039, NOTE, "RCCL may hang between GPUs whose addresses the IOMMU translates", "{detail}",
        FIXES({ANY, HARDWARE, "Start Linux with iommu=pt on its command line; until then NCCL_P2P_DISABLE=1 in RCCL's programs"}),
        "The type of the IOMMU group of two or more discrete GPUs is not `identity`. Reports tell of hangs of RCCL there (ROCm/vllm 390, rccl 1454). Programs with one GPU are not concerned.", "detail=it translates the addresses of 2 discrete GPUs; parameters of the kernel: iommu=pt", NULL)
    ROW(183, W, GPU, 040, WARNING, "programs are reported to crash on {target|a GPU} with this nightly", "{detail|reports tell of it}",
        FIXES({ANY, HARDWARE, "Take a nightly before {first|the reports}, or a stable release  # {said_by|a public report}"}),
        "Public reports name the first nightly; up to which one it is so is not known. The table has one row for each target.", "target=gfx1151\ndetail=they are reported to end by SIGSEGV while ROCm starts", NULL)

    /* ---- GPU code ---- */
    ROW(113, E, CODE, 001, ERROR, "no code for the GPU {target} in {libraries}", "{detail}",
        FIXES({ANY, TRIED, "{reinstall}  # {distribution} is installed but incomplete"},
              {ANY, TRIED, "{install}"},
              {ANY, WORDS, "Take files that have code for it; rocm-sdk code prints the targets of these"}),
        "The libraries load. Their first kernel fails with hipErrorInvalidDeviceFunction, and hipModuleLoad of a file of such code with hipErrorNoBinaryForGpu; some abort the program. `rocm-sdk code` prints the targets that they have code for.", "target=gfx942\nlibraries=rocsparse\ndetail=rocsparse: code for gfx1030", NULL)
    ROW(114, E, CODE, 002, ERROR, "the kernels of {libraries} for the GPU {target} are not in their archive", "{detail}",
        FIXES({ANY, TRIED, "{reinstall}  # {distribution} is installed but incomplete"},
              {ANY, TRIED, "{install}"},
              {ANY, WORDS, "Install the package of the archive in the version of the library"}),
        "The code of these libraries is in separate files (.kpack), which they name. When a kernel is launched, HIP finds that the archive is missing or has nothing of the library.", "target=gfx942\nlibraries=rocrand\ndetail=rocrand: /home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_libraries/lib/../.kpack/rand_gfx942.kpack is not there or cannot be read", NULL)
    ROW(115, N, CODE, 003, NOTE, "not all of {libraries} has code for the GPU {target}", "{detail}",
        FIXES({ANY, WORDS, "Try the program, which may not use these parts: `rocm-sdk code --json` names them"}),
        "Some of the bundles in the files have code for other GPUs only. Usual where a library has kernels that use what one kind of GPU has; older HIP runtimes refuse the whole library.", "target=gfx942:sramecc+:xnack-\nlibraries=rocrand\ndetail=rocrand: in 1 of 2 parts", NULL)

    ROW(116, E, CODE, 004, ERROR, "an archive, or a file in it, is not what it claims to be", "{detail}",
        FIXES({ANY, WORDS, "Get the archive again; if it is meant to be like that, unpack it and ask about the directory"}),
        "A wheel, zip file or tar archive was asked for the GPU code of its files. The command refuses sizes that its bytes cannot hold, members that overlap or are encrypted, compression that wheels do not use, and archives that are cut short.", "detail=torch.whl: no usable zip file: it has no list of members; is it complete?", NULL)
    ROW(117, W, CODE, 005, WARNING, "{path} is near the size at which linking fails", "the file has {found|nearly 2^31} bytes of GPU code, and relocations reach 2147483648",
        FIXES({ANY, WORDS, "Build it for fewer targets, compress its code (--offload-compress), or split it"}),
        "Code addresses data by 32 bits with a sign (R_X86_64_PC32). A library whose sections lie further apart than 2 GiB does not link: \"relocation truncated to fit\". Code for one more target may be too much.", "path=/home/me/build/large.o\nfound=1900000000", NULL)

    ROW(118, W, CODE, 006, WARNING, "this SDK has no code for the GPU {target} in {libraries}", "{detail}",
        FIXES({ANY, WORDS, "Do without them, or take another SDK: no package of this one has the code"}),
        "The packages for the GPU are installed, or there are none, and the code of these libraries is not in them. The libraries load; their first kernel fails with hipErrorInvalidDeviceFunction. Usual for libraries that are made for data centre GPUs only, such as hipBLASLt.", "target=gfx942\nlibraries=rccl\ndetail=rccl: code for gfx1030", NULL)
    ROW(119, E, CODE, 007, ERROR, "tables of kernels for the GPU {target} are missing in {libraries}", "{detail}",
        FIXES({ANY, WORDS, "{reinstall}"},
              {ANY, WORDS, "Copy all files of the library's directory (rocblas/library, hipblaslt/library) from the build that the index is of"}),
        "rocBLAS and hipBLASLt look each kernel up: an index (TensileLibrary_lazy_<target>.dat) names a table for each kind of matrices, and the table the kernels. A call whose table is not there fails. Usual where the files of several builds were put together, or copied one by one.", "target=gfx942\nlibraries=rocblas\ndetail=rocblas: /home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_libraries/lib/rocblas/library/TensileLibrary_Type_SS_gfx942.dat is not there", NULL)
    ROW(120, N, CODE, 008, NOTE, "{libraries}: no kernels that are tuned for the GPU {target}", "{detail}", NO_FIX,
        "The library runs. For this GPU it has only the kernels that serve any GPU, and they are slow. Usual for processors that nobody has tuned the library for.", "target=gfx942:sramecc+:xnack-\nlibraries=rocblas\ndetail=rocblas: the tables of kernels have only rows that are for any GPU", NULL)
    ROW(121, N, CODE, 009, NOTE, "MIOpen does not use some of the files in {path|the user's directories}", "{detail}", NO_FIX,
        "MIOpen keeps the kernels that it compiled, and what it found to be fast, in ~/.cache/miopen and ~/.config/miopen, or where MIOPEN_CUSTOM_CACHE_DIR and MIOPEN_USER_DB_PATH say. Files of other versions and for other GPUs do no harm, and nobody removes them.", "path=/home/me/.cache/miopen\ndetail=1 file, 1.0 kB: 3.4.0.aaaa/gfx1030_36.ukdb: they are of older versions of MIOpen", NULL)
    ROW(159, E, CODE, 019, ERROR, "no package has the kernels of {libraries|a library}", "{detail}",
        FIXES({ANY, WORDS, "Tell the builder of {distribution|the packages}, whose `rocm-sdk-build check` names the libraries; until then do without them, or take another release"}),
        "The libraries name separate files with their code (.kpack). The package for the GPU is installed, has all files that it lists, and these archives are not among them: they were left out when it was made, and installing it again does not bring them. The libraries load, and their first kernel fails on every such GPU.", "libraries=rccl\ndetail=rccl: /home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_libraries/.kpack/rccl_lib_gfx942.kpack is in no package that is installed, also not in the one for the GPU", NULL)

    /* ---- OpenCL ---- */
    ROW(122, W, OCL, 001, WARNING, "OpenCL programs will not find AMD's driver", "the ICD loader is there ({path|libOpenCL.so.1}), and the drivers that {directory|/etc/OpenCL/vendors} names are: {found|others}",
        FIXES({ANY, WORDS, "eval \"$(rocm-sdk env --opencl)\"  # sets OCL_ICD_VENDORS, which leads to it"}),
        "The loader reads which drivers there are from files that distribution packages install; wheels cannot put one there.", "directory=/home/me/vendors\nfound=none that is AMD's\npath=libOpenCL.so.1", NULL)

    /* ---- the environment ---- */
    ROW(123, W, ENV, 001, WARNING, "{variable} leads to another ROCm", "{variable|VARIABLE}={value|DIRECTORY}: {path|it} holds {library} too{more}",
        FIXES({ANY, TRIED, "{removal|unset VARIABLE}"},
              {ANY, WORDS, "unset {$variable}  # or take the directory out of it"}),
        "The dynamic linker and build tools prefer what such variables name to what is in the packages.", "variable=LD_LIBRARY_PATH\nvalue=/home/me/rocm/lib\nlibrary=libamdhip64.so.5\npath=/home/me/rocm/lib", NULL)
    ROW(124, W, ENV, 002, WARNING, "HIP_USE_RUNTIME_UNBUNDLER may crash programs", "HIP_USE_RUNTIME_UNBUNDLER={value|VALUE}: it is known to crash programs with compressed device code",
        FIXES({ANY, TRIED, "unset HIP_USE_RUNTIME_UNBUNDLER"}),
        "A debugging aid of HIP that newer code objects are not made for.", "value=1", NULL)
    ROW(125, W, ENV, 003, WARNING, "HSA_OVERRIDE_GFX_VERSION is set though it is not needed", "{detail}",
        FIXES({ANY, WORDS, "unset HSA_OVERRIDE_GFX_VERSION"}),
        "The variable presents a GPU as another one. If the packages support the real one, kernels for another are slower or wrong.", "detail=node 1 is gfx942, which the installed packages support", NULL)
    ROW(126, E, ENV, 004, ERROR, "HSA_OVERRIDE_GFX_VERSION presents a GPU as {target|a target}, which no package supports", "supported: {supported|the targets of the installed packages}",
        FIXES({ANY, WORDS, "unset HSA_OVERRIDE_GFX_VERSION  # or install the packages of {target|that target}"}),
        "HIP looks for kernels of the presented target.", "target=gfx1030\nsupported=gfx942", NULL)
    ROW(127, W, ENV, 005, WARNING, "the visibility variables hide every GPU", "{detail}",
        FIXES({ANY, WORDS, "unset {$variable}  # or name a device that is there: rocm-sdk gpus"},
              {ANY, WORDS, "rocm-sdk gpus  # name a device that is there"}),
        "An empty variable hides all GPUs, as does a first token that is wrong.", "detail=hidden by HIP_VISIBLE_DEVICES=-1", NULL)
    ROW(128, N, ENV, 006, NOTE, "{variable|a variable that changes what the SDK does} is set", "{variable|VARIABLE}={value|VALUE} changes {what|what the SDK does}",
        FIXES({ANY, WORDS, "unset {$variable}  # if it is not intended"}),
        "Reported because it changes which files are found.", "variable=LD_PRELOAD\nvalue=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2\nwhat=what every program loads first", NULL)
    ROW(129, E, ENV, 007, ERROR, "ROCM_SDK_PRELOAD_LIBRARIES asks for a library that fails", "{detail}",
        FIXES({ANY, TRIED, "unset ROCM_SDK_PRELOAD_LIBRARIES  # or correct it"}),
        "A library that it names is unknown, not installed or cannot be loaded. Raised as EnvironmentOverrideError, which chains the error of that library with its own code.", "detail=no library has the name 'miopn'; did you mean miopen?", NULL)
    ROW(130, E, ENV, 008, ERROR, "{variable} has a value that cannot be used", "{detail}",
        FIXES({ANY, TRIED, "unset {$variable}  # or set it as documented: {expected|see its page}"}),
        "The value has not the form that the variable takes, or names what is not there. Raised as RocmSdkError; for a target family that no package has, as PackageNotInstalledError.", "variable=ROCM_SDK_LOAD_WATCH\ndetail=ROCM_SDK_LOAD_WATCH=soon is not a number of seconds", NULL)
    ROW(131, W, ENV, 009, WARNING, "{variable|MIOPEN_SYSTEM_DB_PATH} leads MIOpen away from its databases", "{path|the directory} has no database for {target|any GPU}",
        FIXES({ANY, WORDS, "unset {$variable}  # or name a directory with the databases of this release of MIOpen"}),
        "MIOpen looks there instead of beside its library. Without a database it searches and compiles at the first use of each shape.", "variable=MIOPEN_SYSTEM_DB_PATH\npath=/home/me/db\ntarget=gfx942", NULL)
    ROW(166, E, ENV, 010, ERROR, "{what|a variable} makes {name|a program} fail{more}", "{name|the program} {how|works without it, and fails with it}: {seen|see `rocm-sdk test`}",
        FIXES({ANY, TRIED, "{removal|unset VARIABLE}"},
              {ANY, WORDS, "unset {$variable}"}),
        "A library, a compilation or a program failed. The test ran it again without any variable, entry, directory or soft limit that could be the reason, and it worked; then with each alone. The failure comes with the one that is named. Where the reason can be read, as that of a directory for temporary files that is not there, nothing is tried. Problems of that variable, and whatever failed with it, are no problems of their own.", "name=librocm_smi64.so.1\nseen=librocm_smi64.so.1 crashes when it is loaded\nwhat=HSA_CRASHES\nhow=works without HSA_CRASHES, and fails with it", NULL)
    ROW(167, E, ENV, 011, ERROR, "{name|a program} fails at the hard limit of {what|the process}{more}", "{variable|the limit} is {value|low}, and no more can be set in this process: {seen|see `rocm-sdk test`}",
        FIXES({ANY, WORDS, "Raise the hard limit where it is set: the batch system, the service manager or /etc/security/limits.conf"}),
        "The kernel says which limit it was by the error that it gives: no memory (RLIMIT_AS, RLIMIT_DATA), a file too large (RLIMIT_FSIZE), too many files (RLIMIT_NOFILE), no process (RLIMIT_NPROC).", "name=librocm_smi64.so.1\nmore=, and 1 more\nseen=librocm_smi64.so.1 crashes when it is loaded\nwhat=the number of open files\nvariable=RLIMIT_NOFILE\nvalue=40", NULL)
    ROW(168, E, ENV, 012, ERROR, "{path|a device} cannot be used on this system", "{detail}",
        FIXES({ANY, TRIED, "{repair|mount -t proc proc /proc}"},
              {ANY, WORDS, "Make {$path} usable"}),
        "Programs and libraries of ROCm open /dev/null, read /proc and /sys, and compilers write temporary files. A chroot or a minimal container may lack these, and a disk may be full or read-only.", "path=/dev/null\ndetail=/dev/null: No such file or directory", NULL)
    ROW(169, E, ENV, 013, ERROR, "{path|a file} takes the place of {replaced|Python's module} {name|of the same name}", "{detail}",
        FIXES({ANY, TRIED, "{repair|rm FILE}"},
              {ANY, WORDS, "Rename {$path}, or take its directory out of {variable|the search path of Python}"}),
        "Python takes the first module of a name that it finds. A file json.py in a directory of PYTHONPATH comes before the standard library, and whatever imports json gets that file. A file .pyc that was made of another source, and is not compared with it, takes the place of that source.", "path=/home/me/mine/json.py\nreplaced=Python's module\nname=json\ndetail=RuntimeError: mine", NULL)
    ROW(174, W, ENV, 014, WARNING, "ROCm has no place for its temporary files", "{setting|/tmp}: {detail|it cannot be written}",
        FIXES({ANY, TRIED, "{removal|unset VARIABLE}"},
              {ANY, WORDS, "Set TMPDIR to a directory that this user may write to"}),
        "comgr, which compiles for hiprtc and HIP and unpacks compressed code, makes a directory comgr-* in the directory that TMPDIR, TMP, TEMP or TEMPDIR names, the first that is set, else in /tmp. Where it cannot, these calls fail, and kernels of compressed code with hipErrorInvalidDeviceFunction.", "detail=there is no such directory\nsetting=TMPDIR=/home/me/none", NULL)
    ROW(175, W, ENV, 015, WARNING, "comgr's cache cannot be written", "{path|~/.cache/comgr}: {detail|it cannot be written}",
        FIXES({ANY, WORDS, "export AMD_COMGR_CACHE=0  # to do without, or set AMD_COMGR_CACHE_DIR to a directory that this user may write to"}),
        "Without its cache comgr compiles and unpacks the same code again in each process. The cache is in the directory that AMD_COMGR_CACHE_DIR names, else in comgr below XDG_CACHE_HOME, else in ~/.cache/comgr.", "detail=/home/me/file is no directory\npath=/home/me/file/comgr", NULL)
    ROW(176, W, ENV, 016, WARNING, "{variable} leads {where|out of this SDK}", "{variable|VARIABLE}={value|VALUE}: {harm|another ROCm comes into the process}{lack}; set by {setter|a parent}",
        FIXES({ANY, TRIED, "{removal|unset VARIABLE}  # rocm-sdk run leaves it out for the program that it starts"}),
        "Programs leave variables to their children, and logins to all programs. `rocm-sdk run` leaves out the entries that lead out of the SDK, and `rocm-sdk env` prints how to remove them, but what a profiler has set that runs now.", "variable=ROCBLAS_TENSILE_LIBPATH\nvalue=/home/me/tables\nharm=rocBLAS reads kernel tables there, instead of beside itself: of another version they give \"Cannot read TensileLibrary\" or a crash\nsetter=scripts that start programs (SD.Next), builds of TensorFlow", NULL)

    ROW(190, W, ENV, 017, WARNING, "builds of torch's extensions take {path|the environment} for ROCm", "{variable|hipcc, a script of the environment that PATH names,} leads there, and no headers of HIP are in it",
        FIXES({ANY, TRIED, "eval \"$(rocm-sdk env --for torch-extension)\""}),
        "torch's cpp_extension takes ROCM_HOME or ROCM_PATH, or else the directory above that of the hipcc in PATH. In an environment that hipcc is a script, and ROCm's headers are in the development tree.", "variable=ROCM_HOME\npath=/home/me/.venv", NULL)

    /* ---- a running process ---- */
    ROW(132, E, PROC, 001, ERROR, "the process has two copies of {library}", "{path|one file} ({source|LD_PRELOAD}) and {other|another} ({other_source|the RPATH of a library})",
        FIXES({ANY, WORDS, "rocm-sdk run rocprofv3 -- PROGRAM  # {profiler}, the rocprofv3 of this SDK: the profiler {brought_by} has brought libraries of another ROCm"},
              {ANY, WORDS, "Use the rocprofv3 of this SDK  # the profiler {brought_by} has brought libraries of another ROCm"},
              {ANY, WORDS, "Start the program without {variable|the variable}; or uninstall the other copy"}),
        "Two HIP runtimes, comgr or LLVM libraries in a process have two copies of their data, and their symbols can collide.", "library=librocm_smi64\nsource=code that ran earlier\nother=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1\nother_source=code that ran earlier\npath=/home/me/librocm_smi64.so.1", NULL)
    ROW(133, W, PROC, 002, WARNING, "the process mixes the SDK with another ROCm", "{path|a library} ({source|LD_LIBRARY_PATH}) comes from outside {site|the SDK}",
        FIXES({ANY, WORDS, "rocm-sdk run rocprofv3 -- PROGRAM  # {profiler}, the rocprofv3 of this SDK: the profiler {brought_by} has brought libraries of another ROCm"},
              {ANY, WORDS, "Use the rocprofv3 of this SDK  # the profiler {brought_by} has brought libraries of another ROCm"},
              {ANY, WORDS, "Start the program without {variable|the variable}, or take the other ROCm out of its search path"}),
        "A library of a system-wide ROCm fits the libraries of the same build only.", "source=code that ran earlier\nsite=/home/me/.venv/lib/python3.12/site-packages\npath=/home/me/rocm/libhiprtc-builtins.so.5", NULL)
    ROW(134, E, PROC, 003, ERROR, "{path} was replaced while the process runs", "the mapping says (deleted): the SDK was upgraded or removed under it",
        FIXES({ANY, WORDS, "Start the program again"}),
        "Libraries that are loaded later come from the new files, and do not fit the ones that are loaded already.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/librocm_smi64.so.1", NULL)
    ROW(135, E, PROC, 004, ERROR, "process {pid} cannot be looked at", "{detail}",
        FIXES({ANY, WORDS, "Ask as its user ({owner}) or as root"},
              {ANY, WORDS, "Ask outside this container, or start it with --cap-add={capability}  # the kernel keeps the process from root here"},
              {ANY, WORDS, "Give the number of a process that runs"}),
        "The command reads /proc/PID/maps and /proc/PID/environ. The process has ended, or belongs to another user, or the kernel keeps it from a container.", "pid=7914\ndetail=No such file or directory", NULL)
    ROW(136, N, PROC, 005, NOTE, "whose functions process {pid} calls cannot be seen", "{detail}",
        FIXES({ANY, WORDS, "Ask as root; where kernel.yama.ptrace_scope is not 0, a user may read the memory of his own children only"}),
        "The command reads /proc/PID/mem for that. The list of mapped files was read, and is told. The kernel refuses it for processes of others, and where ptrace is limited.", "pid=7914\ndetail=/proc/7914/mem: Permission denied (only its user may look into a process, and where ptrace is limited, only root)", NULL)

    /* ---- rewriting files of GPU code ---- */
    ROW(165, W, CODE, 018, WARNING, "HIP may run the code of another library in place of compressed code", "the cache of {path|the installed comgr} gave the code of one bundle for the code of another one, when it was asked with two",
        FIXES({ANY, TRIED, "export AMD_COMGR_CACHE=0"}),
        "HIP has compressed bundles unpacked by comgr, whose cache (~/.cache/comgr, on by default) finds them by the names of their entries alone in some versions, as 7.0.2 of Debian. Which code a library gets depends on what ran before: calls fail with hipErrorInvalidDeviceFunction, the program aborts (Cannot find Symbol), or it computes with another library's kernel of the same name. `rocm-sdk` asks comgr with two small bundles and a cache of their own.", "", NULL)
    ROW(137, E, CODE, 010, ERROR, "{path} cannot be rewritten", "{detail}",
        FIXES({ANY, WORDS, "Use it as it is: the file was not changed"}),
        "A file is rewritten if all its code is in bundles that HIP's wrappers lead to, or that are files by themselves. A file that is not fully understood is left alone. Raised as RewriteError.", "detail=it has no GPU code\npath=.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.5", NULL)
    ROW(138, E, CODE, 011, ERROR, "{path} cannot be read in full: its code is compressed with zstd", "this Python has no module for zstd: Python 3.14 has its own, others take backports.zstd",
        FIXES({ANY, WORDS, "{repair|python -m pip install backports.zstd}  # with the Python that runs rocm-sdk"},
              {ANY, WORDS, "Use a Python that was built with libzstd (Debian: libzstd-dev)"}),
        "Listing needs libzstd.so.1 alone; what is rewritten or extracted is decompressed in Python. Raised as RewriteError.", "path=x.co", NULL)
    ROW(139, E, CODE, 012, ERROR, "{path} has no code that {gpus|the GPU} runs", "the file has code for {targets|other targets}",
        FIXES({ANY, WORDS, "Keep one of the targets that it has, or install the library with code for {gpus}"}),
        "A file without code would load, and fail at the first kernel. Raised as RewriteError.", "gpus=gfx1030\ntargets=gfx942\npath=.venv/lib/python3.12/site-packages/_rocm_sdk_libraries/lib/librocsparse.so.0", NULL)
    ROW(140, E, CODE, 013, ERROR, "the new file for {path|another} is not what it should be", "{detail}",
        FIXES({ANY, WORDS, "Install the original again if it may be damaged; else report it with this message"}),
        "Each new file is read back, compared with the original and loaded before it gets its name. The original is unchanged, and the new file was not kept. Raised as RewriteError.", "path=x.kpack\ndetail=the code of lib/libx.so#0 for gfx1030 differs", NULL)
    ROW(141, E, CODE, 014, ERROR, "{path} would grow from {before|few} to {size|more} bytes", "the code is compressed, and is to be stored plain",
        FIXES({ANY, WORDS, "Keep the targets of your GPUs alone, with --keep machine, or allow it with --force"}),
        "A file that would grow to more than four times its size is not written without --force. Raised as RewriteError.", "size=1066264\nbefore=9328\npath=libx.so", NULL)
    ROW(142, N, CODE, 015, NOTE, "{library} was rewritten", "the note in the file says: {detail|what was done to it}",
        FIXES({ANY, WORDS, "{reinstall}  # for the library as it was"},
              {ANY, WORDS, "Get the original of {$path} from where it came, if its other code is needed"}),
        "`rocm-sdk code` has made it from another file, mostly to leave out code for GPUs that are not there.", "detail=keep gfx942; made of a file with SHA-256 40e64774c1fa0431929f072140a6d67ed5d5953b616e15ed86ff92f1902f54a0\nlibrary=librocsparse.so.0", NULL)
    ROW(143, W, CODE, 016, WARNING, "{library} offers code of one target for another", "the note in the file says: {detail|what was done to it}",
        FIXES({ANY, WORDS, "{reinstall}  # where results are wrong or a GPU hangs"},
              {ANY, WORDS, "Get the original of {$path} from where it came, where results are wrong or a GPU hangs"}),
        "Retargeted code is unofficial: AMD does not test it, and it was not tried on hardware.", "path=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_libraries/lib/librocrand.so.1\ndetail=retarget gfx1030:gfx1031 (unofficial); made of a file with SHA-256 3078a2457e8b16935159f94d6c707b868bf0c078520855a9d4da63a586e9b80a", NULL)
    ROW(144, E, CODE, 017, ERROR, "{path} cannot be written without /proc", "/proc is not mounted here: a new file is checked, and gets its name, through it",
        FIXES({ANY, TRIED, "mount -t proc proc /proc"}),
        "A chroot or a container may lack /proc. Files are listed without it. Raised as RewriteError.", "path=small.so", NULL)

    /* ---- the test itself ---- */
    ROW(145, E, TEST, 001, ERROR, "the check of {subject} failed itself", "{detail}{intact}",
        FIXES({ANY, WORDS, "rocm-sdk test --report rocm-report.zip  # and report it with that file"}),
        "A check met what it is not written for: an error in the test, not in the installation. The other subjects were tested.", "subject=files\ndetail=KeyError: 'size'", NULL)
    ROW(146, E, TEST, 002, ERROR, "the check of {subject} tested nothing", "{detail}",
        FIXES({ANY, WORDS, "rocm-sdk test --report rocm-report.zip  # and report it with that file"}),
        "There is something to test, and no check was made: an empty result is not a pass.", "subject=libraries\ndetail=there are 10 libraries, and none was loaded", NULL)

    /* ---- a prefix that is to be packaged (rocm-sdk test --sdk) ---- */
    ROW(147, E, PREFIX, 001, ERROR, "{path|the prefix} has no ROCm", "{detail}",
        FIXES({ANY, WORDS, "Name the directory that has the include, bin or lib of ROCm: rocm-sdk test --sdk \"$DESTDIR/usr\""}),
        "Nothing could be tested, and that is no pass. Reported by `rocm-sdk test --sdk`, also for a directory that was filled after the test, or under another name.", "detail=the directory is empty\npath=/home/me/stage/usr", NULL)
    ROW(148, E, PREFIX, 002, ERROR, "the link {path|in the prefix} leads to nothing", "the link says {target|another file}: {detail|which is not there}",
        FIXES({ANY, WORDS, "Give the package the file {target|that it names}, or remove the link: rm {$path}"}),
        "Links with absolute paths are followed below the staging directory. A file of the build root counts, too, because another package may have it.", "target=../lib/llvm/bin/amdclang\ndetail=there is no such file\npath=/home/me/stage/bin/amdclang", NULL)
    ROW(149, E, PREFIX, 003, ERROR, "{library} has no link {soname|by its SONAME}", "programs look for its SONAME, and no file beside it has that name",
        FIXES({ANY, TRIED, "ldconfig -n {$directory}"}),
        "The name of the file has the whole version, and a link named by the SONAME leads to it. ldconfig makes such links on the user's system for directories that it knows; packages bring them.", "library=librocm_smi64.so.1.0\nsoname=librocm_smi64.so.1", NULL)
    ROW(179, W, PKG, 027, WARNING, "{distribution} requires {wanted|other versions}, and {present|another one} is installed", "the metadata of {distribution} names the version that it was built with",
        FIXES({ANY, WORDS, "pip check  # it names each requirement that is not met: install all of one release"}),
        "Extensions of torch call its C++ functions, which differ from release to release: a load fails, or memory is corrupted.", "distribution=torchvision 0.23\nwanted=torch==2.8.0\npresent=torch 2.7.1", NULL)
    ROW(23, E, PKG, 026, ERROR, "{distribution} {version|of one version} is built for CUDA", "{detail}; no GPU of AMD runs its kernels",
        FIXES({ANY, HARDWARE, "rocm-sdk install {product}  # the build for ROCm, in place of this one"},
              {ANY, WORDS, "Install a build of {distribution} for ROCm in place of this one, from where its makers offer it"}),
        "The public index has torch and others for CUDA under their plain names. An installer that is not told AMD's index takes these, also as a requirement of something else, and they find no GPU. The version, the requirements, version.py and the libraries tell.", "distribution=torch\nversion=2.14.1\ndetail=its version.py says CUDA 13.0; an installer has installed it on 2026-11-30 12:03", NULL)
    ROW(184, W, PKG, 028, WARNING, "{distribution} {version|of one version} is built without GPUs", "{detail}",
        FIXES({ANY, HARDWARE, "rocm-sdk install {product}  # the build for ROCm, in place of this one"}),
        "Builds for the CPU have the plain names, too: on the public index, and under the label +cpu on that of PyTorch. An installer that is not told AMD's index may replace a build for ROCm by one of these, for a requirement of something else. Such a build works, and finds no GPU.", "distribution=torch\nversion=2.9.1+cpu\ndetail=its version says it: 2.9.1+cpu; an installer has installed it on 2026-11-30 12:03", NULL)
    ROW(185, E, PKG, 029, ERROR, "{distribution} {version|of one version} is built without GPUs", "{detail}",
        FIXES({ANY, HARDWARE, "rocm-sdk install {product}  # the build for ROCm, in place of this one"}),
        "The same as W-PKG-028, of a package that was asked for, or beside a torch for ROCm, with which it does not work on a GPU.", "distribution=torch\nversion=2.9.1+cpu\ndetail=its version says it: 2.9.1+cpu; an installer has installed it on 2026-11-30 12:03", NULL)
    ROW(186, W, PKG, 030, WARNING, "{distribution} {version|of one version} is not what its tag promises", "{detail}",
        FIXES({ANY, WORDS, "Install another version of {distribution}, and tell its makers what its tag promises"}),
        "A tag with the ABI of a Python (cp311-cp311-linux_x86_64) is for wheels with extension modules, and manylinux_2_17 for files that no glibc newer than 2.17 is needed for: installers choose by the tag alone.", "detail=none of its files is a library, and cp311-cp311-linux_x86_64 is for wheels with modules\ndistribution=torch-cluster\nversion=1.6.3", NULL)
    ROW(187, W, LIB, 029, WARNING, "{distribution} brings copies of libraries of ROCm, {size} in all", "{libraries}: the SDK has {more|them}, and a process that loads both has two of each",
        FIXES({ANY, WORDS, "Take a build of {distribution} that uses the SDK's libraries: auditwheel repair --exclude 'librocblas.so.*' leaves one out, and its pattern needs the version"}),
        "Tools that repair wheels copy each library that is not excluded. The first copy that a process loads under a SONAME answers for the other, and libraries with a state (the runtime, the profilers) do not share it.", "distribution=extension\nsize=13.5 kB\nlibraries=librocsparse.so.0", NULL)
    ROW(188, N, LIB, 030, NOTE, "{distribution} brings copies of libraries of ROCm, {size} in all", "{libraries}: packages of the SDK have {more|them}, too",
        FIXES({ANY, WORDS, "Take a build of {distribution} that uses the SDK's libraries: auditwheel repair --exclude 'librocblas.so.*' leaves one out, and its pattern needs the version"}),
        "Tools that repair wheels copy each library that is not excluded. These have names of their own (librocblas-1a2b3c4d.so.5) and keep no state, so that both work in one process.", "distribution=extension\nsize=13.5 kB\nlibraries=librocsparse-1a2b3c4d.so.0", NULL)
    ROW(192, W, LIB, 031, WARNING, "triton {version|of this version} does not run where {library} is the HIP of the process", "{source|another package brings it in}; rocm_sdk.find_libraries(\"amdhip64\") returns {other|another file}, and triton compares the two",
        FIXES({ANY, WORDS, "{removal|unset VARIABLE}"},
              {ANY, WORDS, "export TRITON_LIBHIP_PATH={$library}  # triton takes this HIP then, and does not ask rocm_sdk"}),
        "From 3.9 on triton asks rocm_sdk for HIP first. If the process has loaded another file of that name (device and inode count), it raises RuntimeError. TRITON_LIBHIP_PATH, whose file name begins with libamdhip64.so, counts before all.", "version=3.9.0\nlibrary=/home/me/other/libamdhip64.so.5\nother=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.5\nsource=LD_LIBRARY_PATH brings it in, for what asks for it first", NULL)
    ROW(193, W, LIB, 032, WARNING, "amdsmi {version|of this version} calls functions that {library} does not have", "{name}: `import amdsmi` raises AttributeError",
        FIXES({ANY, WORDS, "Take the amdsmi of the SDK's release in place of this one, or do without it"}),
        "The amdsmi of the public index binds each function of libamd_smi when it is imported. Releases of the library drop functions.", "version=7.0.2\nlibrary=libamd_smi.so.27\nname=amdsmi_get_gpu_id", NULL)
    ROW(194, E, PKG, 031, ERROR, "jaxlib {version|of this version} does not know {distribution}", "its plugin_support.py names {known|other plug-ins}: the modules for GPUs are None, and calls fail (\"No FFI handler registered\")",
        FIXES({ANY, WORDS, "rocm-sdk install jax  # jax, jaxlib and the plug-ins that belong together"}),
        "jaxlib imports the plug-ins whose names it knows: that of ROCm 10 from 0.11.1 on. AMD patches installed copies, so that the file counts, and not the version.", "distribution=jax-rocm10-plugin\nversion=0.10.2\nknown=jax_rocm7_plugin, jax_rocm60_plugin", NULL)
    ROW(195, E, PKG, 032, ERROR, "jax and its plug-ins are of different versions", "{detail}",
        FIXES({ANY, WORDS, "rocm-sdk install jax  # jax, jaxlib and the plug-ins that belong together"}),
        "jax, the plug-in and its pjrt are built together, and nothing at run time compares their versions for ROCm.", "detail=jax 0.11.1, jax-rocm10-plugin 0.12.0, jax-rocm10-pjrt 0.12.0", NULL)
    ROW(196, N, PKG, 033, NOTE, "the extra with-rocm of {distribution} asks for packages that no known index has", "`pip install '{distribution}[with-rocm]'` fails; version {version|of now} names amd_rocm_hip_runtime_instinct and others",
        FIXES({ANY, WORDS, "rocm-sdk install jax  # ROCm comes from AMD's packages"}),
        "The twelve packages of the extra are on neither the public index nor AMD's.", "distribution=jax-rocm10-plugin\nversion=0.12.0", NULL)
    ROW(197, W, DEVEL, 016, WARNING, "`import transformer_engine` extracts the development tree, and will fail", "ROCM_PATH is not set, there is no /opt/rocm, and {detail}",
        FIXES({ANY, WORDS, "{install}"},
              MORE,
              {ANY, WORDS, "rocm-sdk init  # as the owner of the environment, before others use it"}),
        "AMD's TransformerEngine looks for ROCM_PATH, /opt/rocm and /opt/rocm/core, and else asks rocm_sdk for the development tree, under rocprofv3, too.", "detail=rocm-sdk-devel is not installed", NULL)
    ROW(189, W, FILE, 010, WARNING, "every user of this machine may replace files of the SDK", "{path} is writable by all{more}",
        FIXES({ANY, TRIED, "chmod -R o-w {$directory}"}),
        "The libraries run in the processes of whoever loads them. Whoever may write to a library or to a directory above it decides what runs there.", "more=, and so are 8 more\npath=/home/me/.venv/lib/python3.12/site-packages/_rocm_sdk_core/lib", NULL)
    ROW(150, E, PREFIX, 004, ERROR, "{library} looks for libraries in {directory|a directory of the build}", "the {tag} has this directory: {detail|which no other machine has}",
        FIXES({ANY, TRIED, "patchelf --set-rpath '$ORIGIN' {$path}  # or link with -Wl,-rpath,'$ORIGIN', or build with CMAKE_SKIP_INSTALL_RPATH"}),
        "A DT_RPATH or DT_RUNPATH with a directory of the build is of no use elsewhere, and whoever can make the directory there decides what is loaded.", "library=librocm_smi64.so.1\ntag=DT_RUNPATH\ndirectory=/home/me/stage/rocm/lib\ndetail=it is below the staging directory, which will not exist there", NULL)
    ROW(151, E, PREFIX, 005, ERROR, "{needing} needs {name|another library}, which is in neither the prefix nor the build root", "a process that loads it ends with: cannot open shared object file",
        FIXES({ANY, WORDS, "Add the package that has {name} to those that the build requires, or the file to this prefix"}),
        "All libraries of the prefix are loaded with its directories in LD_LIBRARY_PATH. Other libraries that they need come from the system in which the package is tested.", "needing=libhsa-runtime64.so.1\nname=libhsakmt.so.1", NULL)
    ROW(152, W, PREFIX, 006, WARNING, "the libraries of {path|the prefix} do not find each other by themselves", "{needing} needs {name}, and neither its search path nor the linker's configuration leads to {directory|its directory}{more}",
        FIXES({ANY, WORDS, "Link with -Wl,-rpath,'$ORIGIN', or let a package install /etc/ld.so.conf.d/rocm.conf with the line {directory}"}),
        "Programs then need LD_LIBRARY_PATH. The files /etc/ld.so.conf and /etc/ld.so.conf.d/*.conf below the staging directory count.", "needing=libamd_comgr.so.2\nname=libsamplehost.so.1\ndirectory=/home/me/stage/rocm/lib/rocm_sysdeps/lib\nmore=; so it is with 3 other needs\npath=/home/me/stage/rocm", NULL)
    ROW(153, E, PREFIX, 007, ERROR, "{path|a file} says {version|one version}, {other|another file} says {wanted|another}", "both say the version of {name|one thing}",
        FIXES({ANY, WORDS, "Remove what another version has left in the build, and build both files from one source"}),
        "CMake, programs and installers read the version from different files: `.info/version`, headers, CMake packages, names of libraries. All must say the same.", "version=7.0.2\nother=/home/me/stage/.info/version\nwanted=7.1.0\nname=ROCm\npath=/home/me/stage/include/rocm-core/rocm_version.h", NULL)
    ROW(154, E, PREFIX, 008, ERROR, "{path|a file} names the staging directory", "line {line|1 or a later one} has {directory|it}, which will not exist where the package is installed",
        FIXES({ANY, WORDS, "Give the build the prefix without DESTDIR: cmake -DCMAKE_INSTALL_PREFIX={prefix|/usr} ... && DESTDIR=... cmake --install ..."}),
        "Texts that others read (CMake packages, files for pkg-config, scripts, headers) must name files by their place after the installation.", "line=1\ndirectory=/home/me/stage\npath=/home/me/stage/rocm/lib/cmake/hip/hip-config.cmake", NULL)
    ROW(155, E, PREFIX, 009, ERROR, "the package {path|of the prefix} asks for what is not there: {name|a file}", "{detail}",
        FIXES({ANY, WORDS, "Tell the builder of {distribution}, whose `rocm-sdk-build check` names what packages of the tree require and the tree lacks"},
              {ANY, WORDS, "Give the package what it asks for, or correct what {path|it} has from its build"}),
        "find_package, pkg-config or the link fails for whoever builds with the package. Packages that it requires by find_dependency or Requires, and the files, directories and targets that it names, count as for a project that asks for this package alone; so does a message(FATAL_ERROR) to which CMake comes for certain. A development tree has all of it itself; for a prefix the build root counts, too, because another package may have it.", "name=/home/me/stage/rocm/headers\ndetail=hip_INCLUDE_DIR is /home/me/stage/rocm/headers, which is in neither the prefix nor the build root\npath=/home/me/stage/rocm/lib/cmake/hip/hip-config.cmake", NULL)
    ROW(156, E, PREFIX, 010, ERROR, "the clang in {prefix|the development tree} does not take the device libraries that are there", "{detail}",
        FIXES({ANY, WORDS, "{reinstall} && rocm-sdk init  # if that does not help, report it to the package's builder"},
              {ANY, WORDS, "Install amdgcn/bitcode where clang looks for it: {directory|beside its resource directory}"}),
        "clang links each HIP program with ocml.bc and others. clang looks for them in its resource directory, and in the ROCm that it is a part of; what it says with -### counts.", "detail=it says: clang: error: cannot find ROCm device library; they are in /home/me/stage/rocm/lib/llvm/amdgcn/bitcode\nprefix=/home/me/stage/rocm", NULL)
    ROW(191, N, PREFIX, 011, NOTE, "the CMake package {path|of the prefix} requires {name|a package} of neither ROCm nor CMake", "{detail}",
        FIXES({ANY, WORDS, "Install what has {name|its name}Config.cmake, or put a Find{name}.cmake into a directory of the project's CMAKE_MODULE_PATH"}),
        "find_package fails until a project finds the other package. The modules that CMake brings count (Threads, ZLIB), the packages below /usr and /usr/local, and those of CMAKE_PREFIX_PATH.", "name=NUMA\ndetail=package hsakmt requires NUMA, which is in neither the prefix nor the build root\npath=/home/me/stage/rocm/lib/cmake/hsakmt/hsakmt-config.cmake", NULL)
    ROW(198, N, GPU, 041, NOTE, "under WSL2 ROCm may not see a GPU that is {target|not in its list}", "the list of GPUs in librocdxg has none of these in the release that is known",
        NO_FIX,
        "Under WSL2 ROCm finds GPUs through librocdxg, by the PCI ids of its own list. Newer releases may read more ids from share/rocdxg/dids.conf beside lib, and take GPUs of RDNA 2 where LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS or HSA_OVERRIDE_GFX_VERSION is set: the note is left out there.", "target=gfx1102", NULL)
};
/* clang-format on */
