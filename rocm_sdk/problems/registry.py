"""The registry of what can be wrong: stable codes, one entry each.

The letter of a code is the severity (E error, W warning, N note), the word is the subject, the number counts. A code is
never reused. Templates name facts in braces. `fixes` has a template "any", and one for each kind of system
(rocm_sdk.problems.systems) or for containers if its fix differs.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """A kind of problem."""

    code: str
    title: str  # template: what is wrong with what
    cause: str  # template: "the cause"
    fixes: dict[str, str]  # kind of system -> template
    about: str  # for its page: what it means, how it comes about
    repair: str | None = None  # the name of what `rocm-sdk test --fix` does about it


_REINSTALL = "pip install --force-reinstall --no-deps {requirement}"
_HOST_PACKAGE = {
    "debian": "apt install {debian}   (Fedora: dnf install {fedora})",
    "fedora": "dnf install {fedora}   (Debian, Ubuntu: apt install {debian})",
    "suse": "zypper install {suse}",
    "arch": "pacman -S {arch}",
    "gentoo": "emerge {gentoo}",
    "nixos": "add the package that holds {name} to programs.nix-ld.libraries, or start in an FHS environment",
    "any": "install the package that holds {name}: {debian} on Debian, {fedora} on Fedora",
}

_ROWS = (
    Entry(
        "E-SDK-001",
        "something about the SDK is wrong",
        "the message says what",
        {"any": "do what the message says"},
        "Raised as RocmSdkError where no other code applies.",
    ),
    # ---- packages
    Entry(
        "E-PKG-001",
        "no ROCm SDK is installed in {site}",
        "there is no package rocm-sdk-core",
        {"any": 'pip install "rocm[libraries]"'},
        "The SDK consists of wheels: rocm-sdk-core always, others as they were chosen. Without core there is nothing to test.",
    ),
    Entry(
        "E-PKG-002",
        "{distribution} has version {version}, rocm-sdk-core {core_version}",
        "packages of one SDK must have one version, up to a .postN",
        {"any": 'pip install "{distribution}=={core_version}"'},
        "Libraries of different versions of ROCm share data structures, and crash or compute wrongly when mixed. It comes about when one package is upgraded alone.",
    ),
    Entry(
        "E-PKG-003",
        "the platform directory {path} has no __init__.py",
        "a package that shares the directory was uninstalled, and took the file with it",
        {"any": "rocm-sdk test --fix creates it again; or: " + _REINSTALL},
        "Python takes such a directory for a namespace package, and callers that look for its file fail. Device packages of an older scheme list the file as theirs, so that uninstalling one deletes it.",
        repair="init-file",
    ),
    Entry(
        "E-PKG-004",
        "{distribution} is in {path}, rocm-sdk-core in {site}",
        "libraries find each other by relative paths, which hold in one site-packages only",
        {"any": "install all packages of the SDK into one environment: pip install --force-reinstall {requirement}"},
        "Usual when the user's site-packages holds one package and the system's the other.",
    ),
    Entry(
        "W-PKG-005",
        "two SDKs are visible: {version} in {site}, {other_version} in {path}",
        "sys.path leads to both, and the first one wins",
        {"any": "uninstall one, or take its directory out of sys.path"},
        "Which one wins depends on the order of sys.path, which PYTHONPATH, .pth files and the user's site-packages change.",
    ),
    Entry(
        "E-PKG-006",
        "the files of rocm_sdk do not belong to one distribution alone",
        "{detail}",
        {"any": "{fix}"},
        "AMD's distribution rocm and rocm-sdk-loader install files of the same names. Installing one over the other overwrites files silently, uninstalling either removes those of both.",
    ),
    Entry(
        "W-PKG-007",
        "{path} is left over from a package that is no longer installed",
        "no distribution owns it",
        {"any": "remove it: rm -r {path}"},
        "pip leaves what it did not install: files that appeared later, and directories that hold them.",
    ),
    Entry(
        "W-PKG-008",
        "the user's site-packages shadows this environment: {path}",
        "PYTHONNOUSERSITE is not set, and the directory comes before the environment's own packages or adds to them",
        {
            "any": "set PYTHONNOUSERSITE=1, or uninstall the packages there: python -m pip uninstall with the system's Python"
        },
        "Packages of the user's site-packages are seen by every Python of the same version outside virtual environments.",
    ),
    Entry(
        "N-PKG-009",
        "{path} and {other} are one place under two names",
        "lib64 is a symbolic link to lib, and sys.path has both",
        {"any": "nothing needs to be done; tools that compare paths as texts may see two SDKs"},
        "Virtual environments on Fedora and RHEL have both names. Files are compared by identity here.",
    ),
    Entry(
        "W-PKG-010",
        "the packages were chosen for {family}, the GPU here needs {needed}",
        "pip keeps the wheel of the selector that it built on another machine, or the GPU was exchanged",
        {"any": 'pip install --no-cache-dir --force-reinstall "rocm[libraries]=={version}"'},
        "The package rocm looks at the GPU when pip builds it; a cached wheel remembers the machine where that was.",
    ),
    Entry(
        "E-PKG-011",
        "rocm-profiler is installed without rocm-sdk-core",
        "its programs need core's libraries",
        {"any": 'pip install "{requirement}"'},
        "The profiler's programs load libraries out of the core package.",
    ),
    Entry(
        "W-PKG-012",
        "this program is frozen ({path})",
        "a frozen program carries a copy of the SDK that no pip knows",
        {
            "any": "collect rocm_sdk and all platform packages: PyInstaller's --collect-all rocm_sdk --collect-all _rocm_sdk_core"
        },
        "Checks of packages and RECORD files do not apply to a frozen program; the others do.",
    ),
    Entry(
        "E-PKG-013",
        "the metadata {path} cannot be used",
        "{detail}",
        {"any": _REINSTALL},
        "Without it neither pip nor we know what belongs to the package.",
    ),
    Entry(
        "E-PKG-014",
        "a package of the SDK is not installed",
        "what was asked for belongs to it",
        {"any": 'pip install "rocm[libraries]", or the extra that the message names'},
        "Raised as PackageNotInstalledError. One message names all packages that are missing, and the line that installs them.",
    ),
    Entry(
        "E-PKG-015",
        "the installed SDK has another version than the program expects",
        "the program passes check_version to initialize_process",
        {"any": "install the version that the message names"},
        "Raised as VersionMismatchError with fail_on_version_mismatch, issued as VersionMismatchWarning without.",
    ),
    Entry(
        "E-PKG-016",
        "{distribution} does not fit the core package",
        "{detail}",
        {"any": 'pip install --force-reinstall "{requirement}"'},
        "The packages of one build say the same of themselves (`_dist_info.py`): the ending of their directories' names, and the target families that they were built for.",
    ),
    # ---- files
    Entry(
        "E-FILE-001",
        "{path} is not there",
        "RECORD of {distribution} lists it: it was deleted, or its package was installed over another",
        {"any": _REINSTALL},
        "Usual after a second `pip install --target` into one directory, which replaces directories that packages share.",
    ),
    Entry(
        "E-FILE-002",
        "{path} has another size than RECORD of {distribution} says",
        "it has {found} bytes, {wanted} were installed: it was changed, or written in part",
        {"any": _REINSTALL},
        "A full disk, an interrupted copy, or a tool that changed the file in place.",
    ),
    Entry(
        "E-FILE-003",
        "{path} has another content than RECORD of {distribution} says",
        "its hash differs: it was changed after the installation, or the disk is damaged",
        {"any": _REINSTALL},
        "Found with --deep only, which reads every file.",
    ),
    Entry(
        "E-FILE-004",
        "{path} cannot be read by its owner",
        "its mode is {mode}",
        {"any": "chmod u+r {path}   (or: " + _REINSTALL + ")"},
        "Judged by the mode, since the superuser may read everything.",
    ),
    Entry(
        "E-FILE-005",
        "{path} cannot be executed",
        "it is a program, and its mode is {mode}",
        {"any": "chmod +x {path}   (or: " + _REINSTALL + ")"},
        "Archives and file systems without modes lose the right to execute.",
    ),
    Entry(
        "E-FILE-006",
        "{path} holds a pointer of Git LFS instead of data",
        "the package was built from a checkout without its large files",
        {"any": _REINSTALL + "; if that does not help, tell who built the package"},
        "Databases of kernels and models are kept in Git LFS; a checkout without it has small text files in their place.",
    ),
    Entry(
        "E-FILE-007",
        "{path} cannot be read",
        "{detail}",
        {"any": "look at the disk and the file system: dmesg; then " + _REINSTALL},
        "The operating system refuses, for the reason that is given.",
    ),
    # ---- libraries
    Entry(
        "E-LIB-001",
        "{library} cannot be loaded",
        "{detail}",
        {"any": _REINSTALL},
        "The dynamic linker refuses the library, and none of the causes that have codes of their own applies.",
    ),
    Entry(
        "E-LIB-002",
        "{library} cannot be loaded",
        "{needing} needs {name}, which is in neither the SDK nor the system",
        _HOST_PACKAGE,
        "ROCm's wheels bring most of what they need; a few libraries come from the distribution, and minimal containers lack them.",
    ),
    Entry(
        "E-LIB-003",
        "{library} cannot be loaded",
        "{needing} needs {name}, which belongs to the SDK and is not installed",
        {"any": 'pip install --force-reinstall "{requirement}"'},
        "A package of the SDK is missing, or one of its files.",
    ),
    Entry(
        "E-LIB-004",
        "{library} does not find {name}",
        "{name} is in the SDK ({present}), but {needing} has an RPATH that does not lead there",
        {"any": _REINSTALL + "; if that does not help, tell who built the package"},
        "Paths in libraries are relative to the library: packages that were moved apart do not find each other.",
    ),
    Entry(
        "E-LIB-005",
        "{library} needs glibc {wanted}",
        "this system has glibc {present}",
        {
            "container": "start from a newer base image, or use an SDK that was built for glibc {present}",
            "any": "use a newer release of the distribution, a container of one, or an SDK that was built for glibc {present}",
        },
        "A library that was built on a newer system asks for symbols that older ones do not have.",
    ),
    Entry(
        "E-LIB-006",
        "{library} is damaged",
        "{detail}",
        {"any": _REINSTALL},
        "The file contradicts itself or is shorter than it says: a download or a tool such as an old patchelf broke it.",
    ),
    Entry(
        "E-LIB-007",
        "{library} crashes when it is loaded",
        "its process was killed by {signal} while its constructors ran{output}",
        {
            "any": "report it with the output of `rocm-sdk test --report FILE`; an update of the SDK or the driver may help"
        },
        "Code of the library runs when it is loaded. Other libraries are tested all the same.",
    ),
    Entry(
        "E-LIB-008",
        "{library} does not finish loading",
        "its constructors ran for more than {seconds} s{output}",
        {
            "any": "see whether /dev/kfd is there (rocm-sdk gpus); report it with the output of `rocm-sdk test --report FILE`"
        },
        "It happened with rocprofiler-sdk on machines without /dev/kfd: `import torch` hung without a word. ROCM_SDK_LOAD_WATCH makes the loader name the library.",
    ),
    Entry(
        "E-LIB-009",
        "{library} ends the program that loads it",
        "its constructors ended the process with status {status}{output}",
        {"any": "report it with the output of `rocm-sdk test --report FILE`"},
        "A library must not call exit.",
    ),
    Entry(
        "E-LIB-021",
        "{library} could not be checked",
        "the program that loads libraries for this test was killed by {signal} while it loaded this one and perhaps others",
        {"any": "rocm-sdk test --only libraries"},
        "If it happens again, a constructor of one of the libraries that are named kills the process that started it; if"
        " not, somebody else did, or the kernel for a lack of memory.",
    ),
    Entry(
        "E-LIB-022",
        "{library} is for a newer processor",
        "{detail}",
        {"any": "use a machine with such a processor, or an SDK that was built for this one"},
        "The levels x86-64-v2, -v3 and -v4 stand for sets of instructions; a library says which it was built with. On a"
        " processor without them it would crash with SIGILL. Emulators and virtual machines may offer less than the"
        " processor has.",
    ),
    Entry(
        "W-LIB-010",
        "{library} says that it is {soname}",
        "its SONAME is not the name of its file: the file was renamed",
        {"any": _REINSTALL},
        "Who needs it by its SONAME does not find it, or finds another copy.",
    ),
    Entry(
        "W-LIB-011",
        "{library} looks for libraries outside the SDK",
        "its {tag} has {directory}",
        {"any": "tell who built the package; LD_LIBRARY_PATH and files there can change what is loaded"},
        "A directory of the machine where it was built. If it exists here, libraries there are preferred.",
    ),
    Entry(
        "E-LIB-012",
        "{library} is for another machine",
        "{detail}",
        {"any": 'pip install --force-reinstall "{requirement}" on this machine, not a copy of another one\'s packages'},
        "Usual after copying an environment, or after `pip download` for another platform.",
    ),
    Entry(
        "W-LIB-013",
        "{library} wants to write into its code",
        "it has text relocations (DT_TEXTREL)",
        {"any": "tell who built the package; systems with SELinux refuse it: setsebool -P selinuxuser_execmod 1"},
        "It was built without -fPIC in part. Pages of its code are then not shared between processes.",
    ),
    Entry(
        "N-LIB-014",
        "{library} asks for an executable stack",
        "its PT_GNU_STACK says so, mostly by mistake of an assembler file",
        {"any": "nothing before glibc 2.41, which refuses it in a running program: patchelf --clear-execstack {path}"},
        "glibc 2.41 and later refuse to make the stack executable for a library that is loaded late.",
    ),
    Entry(
        "E-LIB-015",
        "{library} asks for an executable stack, which this system refuses",
        "glibc 2.41 and later, and SELinux, do not make the stack executable for a library that is loaded late",
        {"any": "update the package, or clear the flag: patchelf --clear-execstack {path}"},
        "The flag is mostly there by mistake of an assembler file.",
    ),
    Entry(
        "W-LIB-016",
        "{library} and {other} have one SONAME",
        "both are {soname}: which one a process gets depends on what is loaded first",
        {"any": "tell who built the packages; or uninstall one of them, or remove {library} if no package has it"},
        "Two copies of one library in a process have two copies of its data.",
    ),
    Entry(
        "E-LIB-017",
        "{library} is on a file system that is mounted noexec",
        "the kernel does not map code from {path}",
        {"any": "mount it with exec (mount -o remount,exec ...), or move the environment elsewhere"},
        "Usual for /tmp and for home directories on hardened systems.",
    ),
    Entry(
        "E-LIB-018",
        "{library} cannot be loaded: static TLS is used up",
        "it takes thread-local memory from a small reserve, which what was loaded before has used",
        {"any": "set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384, or load ROCm earlier in the program"},
        "Libraries that were built with -ftls-model=initial-exec do it.",
    ),
    Entry(
        "N-LIB-019",
        "the libraries of this SDK do not find each other by themselves",
        "they have no RPATH; they were tested with the SDK's directories in LD_LIBRARY_PATH",
        {"any": "nothing for programs that call rocm_sdk.initialize_process; others: rocm-sdk run COMMAND"},
        "AMD's wheels carry RPATHs; packages that were built otherwise rely on the loader.",
    ),
    Entry(
        "E-LIB-020",
        "{library} does not fit what it needs",
        "{detail}",
        {
            "any": "pip install --force-reinstall all packages of the SDK in one version; and see what LD_LIBRARY_PATH names"
        },
        "A function that one library expects from another is not there: they are of different versions, or the other one was found elsewhere.",
    ),
    Entry(
        "N-LIB-021",
        "the SDK in {path} is for another machine",
        "its libraries are: {detail}",
        {"any": "nothing, if it is meant for another machine; its libraries were not loaded"},
        "Said of a directory that is tested with --target. Its files and packages were tested all the same.",
    ),
    # ---- the API's promises
    Entry(
        "E-API-001",
        "the library {shortname} is not found",
        "{detail}",
        {"any": 'pip install --force-reinstall "{requirement}"'},
        "Programs ask for libraries by short names; this one is in the catalog and belongs to an installed package.",
    ),
    Entry(
        "E-API-002",
        "{shortname} cannot be preloaded in a fresh process",
        "{detail}",
        {"any": "see the problems of its libraries above; `rocm-sdk tree {shortname}` shows what it brings"},
        "What `import torch` does with this library.",
    ),
    Entry(
        "E-API-003",
        "{shortname} has no function {symbol}",
        "{path} is another library than its name says, or a much older one",
        {"any": _REINSTALL},
        "Each library has a function that names it, such as hipGetDeviceCount.",
    ),
    Entry(
        "E-API-004",
        "no library has this short name",
        "the name is not in the catalog",
        {"any": "take one of the names that the message offers"},
        "Raised as UnknownLibraryError. `rocm-sdk info` lists the names.",
    ),
    # ---- tools
    Entry(
        "E-TOOL-001",
        "the program {tool} does not start",
        "{detail}",
        {"any": _REINSTALL},
        "Each program of the packages is started with an option that makes it say its version or its help.",
    ),
    Entry(
        "E-TOOL-002",
        "the program {tool} leads to nothing",
        "{detail}",
        {"any": _REINSTALL},
        "The command is a small script that starts the real program inside the packages: one of both is not there, or the interpreter that the script names, as after a virtual environment was moved.",
    ),
    Entry(
        "E-TOOL-003",
        "the program {tool} does not end",
        "it ran for more than {seconds} s",
        {"any": "report it with the output of `rocm-sdk test --report FILE`"},
        "It was killed.",
    ),
    Entry(
        "N-TOOL-004",
        "{tool} was not tried",
        "it runs out of the development tree, which is not extracted",
        {"any": "rocm-sdk init   (or: rocm-sdk test --init)"},
        "A test changes nothing unless it is told to.",
    ),
    # ---- the development tree
    Entry(
        "W-DEVEL-001",
        "the extraction of the development tree is not complete",
        "{detail}",
        {"any": "rocm-sdk init   (or: rocm-sdk test --fix)"},
        "An extraction was killed. The next one removes what it left.",
        repair="finish-extraction",
    ),
    Entry(
        "E-DEVEL-002",
        "the development tree is not as it was extracted: {path}",
        "it {detail}",
        {"any": "{fix}"},
        "The tree is compared with the manifest that was written when it was extracted.",
        repair="update-links",
    ),
    Entry(
        "E-DEVEL-003",
        "the CMake package {path} cannot be used",
        "{detail}",
        {"any": _REINSTALL},
        "find_package reads these files.",
    ),
    Entry(
        "E-DEVEL-004",
        "the compiler does not find its own files",
        "clang -print-resource-dir says {path}, which is not there; there is {found}",
        {"any": _REINSTALL},
        "The directory is named by the major version (lib/clang/18) or by the whole version (lib/clang/18.0.0); scripts that assume one of them break with the other.",
    ),
    Entry(
        "E-DEVEL-005",
        "a small HIP program does not compile",
        "{detail}",
        {
            "debian": "apt install g++   (the headers of the newest GCC directory are what the compiler takes)",
            "fedora": "dnf install gcc-c++",
            "any": "install the C++ compiler of the system with its headers",
        },
        "The compiler takes the C++ headers of the newest GCC that has a directory, which may be there without headers.",
    ),
    Entry(
        "N-DEVEL-006",
        "clang's resource directory is named by {detail}",
        "it is {path}",
        {"any": "nothing; scripts that assume the other spelling do not find it"},
        "lib/clang/18 and lib/clang/18.0.0 are both in use.",
    ),
    Entry(
        "W-DEVEL-007",
        "the development tree does not know what was installed after it",
        "packages of the SDK have changed since its links were made: {path}",
        {"any": "rocm-sdk init   (or: rocm-sdk test --fix)"},
        "Device packages that are installed later are linked in by the next `rocm-sdk init`; so are files that an upgrade replaced.",
        repair="update-links",
    ),
    Entry(
        "E-DEVEL-008",
        "the development tree cannot be made or changed",
        "there is not enough disk space, no permission, or something changed the tree at the same time: the message says which",
        {"any": "do what the message says, then rocm-sdk init"},
        "Raised as DevelopmentTreeError. What was there before is there still.",
    ),
    Entry(
        "E-DEVEL-009",
        "the archive of the development tree cannot be used",
        "it is damaged, or holds what such an archive must not: the message names the member",
        {"any": "pip install --force-reinstall --no-deps rocm-sdk-devel"},
        "Raised as BadArchiveError. Nothing of the archive was left behind.",
    ),
    Entry(
        "E-DEVEL-010",
        "another process works on the development tree",
        "it did not end within the time that was to be waited",
        {"any": "wait for the process that the message names, or end it"},
        "Raised as DevelopmentTreeLockedError.",
    ),
    Entry(
        "E-DEVEL-011",
        "the development package was installed by something that keeps no RECORD",
        "pip could not remove the files that an extraction would add",
        {"any": "install it into a virtual environment: python -m venv ENV && ENV/bin/pip install rocm-sdk-devel"},
        "Raised as SystemManagedError. Distribution packages are of this kind.",
    ),
    # ---- GPUs
    Entry(
        "W-GPU-001",
        "access to GPUs: {what}",
        "{detail}",
        {"any": "{fix}"},
        "What the kernel and the permissions say about the GPUs of this machine: see the page about GPUs.",
    ),
    Entry(
        "E-GPU-002",
        "the GPU {target} has no packages",
        "no installed package has device code for it; supported: {supported}",
        {"any": "{fix}"},
        "Programs start and fail at their first kernel.",
    ),
    Entry(
        "E-GPU-003",
        "HIP sees {found} GPUs, the kernel has {wanted} for this process",
        "{detail}",
        {"any": "compare `rocm-sdk gpus --all` with rocminfo; report both"},
        "hipInit and hipGetDeviceCount were called in a process of their own.",
    ),
    Entry(
        "E-GPU-004",
        "the kernel's files about the GPUs cannot be used",
        "they are damaged, or change all the time while they are read: the message names the file",
        {"any": "try again; then look into the kernel's log: dmesg | grep -e amdgpu -e kfd"},
        "Raised as TopologyError.",
    ),
    Entry(
        "E-GPU-005",
        "no GPU target or family has this name, or it has not got the feature",
        "targets look like gfx942 or gfx942:xnack-, families like gfx94X-dcgpu",
        {"any": "take one of the names that the message offers"},
        "Raised as UnknownTargetError.",
    ),
    Entry(
        "E-GPU-006",
        "there is no GPU target to build for",
        "the selection is empty",
        {"any": "name targets: rocm-sdk targets --cmake gfx942,gfx110X-all"},
        "Raised as EmptySelectionError. An empty list is never printed, for build systems take it for a default of theirs.",
    ),
    Entry(
        "E-GPU-007",
        "the kernel's topology in {path} has more than 1024 nodes",
        "a node is a processor or a GPU, and no machine has a tenth as many: these files are not the kernel's",
        {"any": "check that the root, ROCM_SDK_ROOTFS or an argument, holds the sysfs of a running kernel"},
        "Raised as TopologyError. The limit bounds what a directory that is not the kernel's can cost.",
    ),
    # ---- OpenCL
    Entry(
        "W-OCL-001",
        "OpenCL programs will not find AMD's driver",
        "the ICD loader is there ({path}), and the drivers that {directory} names are: {found}",
        {"any": "rocm-sdk env --opencl prints the variable OCL_ICD_VENDORS that leads to it"},
        "The loader reads which drivers there are from files that distribution packages install; wheels cannot put one there.",
    ),
    # ---- the environment
    Entry(
        "W-ENV-001",
        "{variable} leads to another ROCm",
        "{variable}={value}: {path} holds {library} too",
        {"any": "unset {variable}, or take the directory out of it"},
        "The dynamic linker and build tools prefer what such variables name to what is in the packages.",
    ),
    Entry(
        "W-ENV-002",
        "HIP_USE_RUNTIME_UNBUNDLER is set",
        "HIP_USE_RUNTIME_UNBUNDLER={value}: it is known to crash programs with compressed device code",
        {"any": "unset HIP_USE_RUNTIME_UNBUNDLER"},
        "A debugging aid of HIP that newer code objects are not made for.",
    ),
    Entry(
        "W-ENV-003",
        "HSA_OVERRIDE_GFX_VERSION is set though it is not needed",
        "{detail}",
        {"any": "unset HSA_OVERRIDE_GFX_VERSION"},
        "It presents a GPU as another one. If the packages support the real one, kernels for another are slower or wrong.",
    ),
    Entry(
        "E-ENV-004",
        "HSA_OVERRIDE_GFX_VERSION presents a GPU as {target}, which no package supports",
        "supported: {supported}",
        {"any": "unset it, or install the packages of {target}"},
        "Kernels of the presented target are looked for.",
    ),
    Entry(
        "W-ENV-005",
        "the visibility variables hide every GPU",
        "{detail}",
        {"any": "unset {variable}, or name a device that is there: rocm-sdk gpus"},
        "An empty ROCR_VISIBLE_DEVICES hides all GPUs, as does a first token that is wrong.",
    ),
    Entry(
        "N-ENV-006",
        "{variable} is set",
        "{variable}={value} changes {what}",
        {"any": "nothing, if it is meant"},
        "Said because it changes which files are found.",
    ),
    Entry(
        "E-ENV-007",
        "ROCM_SDK_PRELOAD_LIBRARIES asks for what fails",
        "a library that it names is unknown, not installed or cannot be loaded: the message says which",
        {"any": "correct or unset ROCM_SDK_PRELOAD_LIBRARIES"},
        "Raised as EnvironmentOverrideError; its cause has a code of its own.",
    ),
    # ---- a running process
    Entry(
        "E-PROC-001",
        "the process has two copies of {library}",
        "{path} ({source}) and {other} ({other_source})",
        {"any": "start the program without {variable}; or uninstall the other copy"},
        "Two HIP runtimes, comgr or LLVM libraries in a process have two copies of their data, and their symbols can collide.",
    ),
    Entry(
        "W-PROC-002",
        "the process mixes the SDK with another ROCm",
        "{path} ({source}) comes from outside {site}",
        {"any": "start the program without {variable}, or take the other ROCm out of its search path"},
        "A library of a system-wide ROCm fits the libraries of the same build only.",
    ),
    Entry(
        "E-PROC-003",
        "{path} was replaced while the process runs",
        "its mapping says (deleted): the SDK was upgraded or removed under it",
        {"any": "start the program again"},
        "What is loaded later comes from the new files, and does not fit what is loaded already.",
    ),
    Entry(
        "E-PROC-004",
        "process {pid} cannot be looked at",
        "{detail}",
        {"any": "give the number of a running process of this user, or ask as root"},
        "What is read is /proc/PID/maps and /proc/PID/environ.",
    ),
    # ---- the test itself
    Entry(
        "E-TEST-001",
        "the check of {subject} failed itself",
        "{detail}",
        {"any": "report it with the output of `rocm-sdk test --report FILE`"},
        "An error in the test, not in the installation. The other subjects were tested.",
    ),
)

ENTRIES: dict[str, Entry] = {entry.code: entry for entry in _ROWS}
