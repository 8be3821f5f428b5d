"""The subject `packages`: the distributions, their versions, and whether they belong together."""

from __future__ import annotations

import json
import os
import re
import site as site_module
import sys
from collections.abc import Iterable
from contextlib import suppress
from zipfile import BadZipFile, ZipFile

from rocm_sdk import _native
from rocm_sdk.adoption.state import SITE as OWN_SITE
from rocm_sdk.adoption.state import state as adoption_state
from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.value_text import one_line, quoted_for_shell
from rocm_sdk.doctor.file_faults import free_name, put_aside
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.doctor.surroundings import removal
from rocm_sdk.errors import PackageNotInstalledError, RocmSdkError
from rocm_sdk.fit.code_problems import lost_archives
from rocm_sdk.fit.frameworks import framework_problems
from rocm_sdk.fit.gpu_builds import claimed_build, how_it_came, problem_of_build, proved_build, version_file
from rocm_sdk.fit.packages import distribution_name
from rocm_sdk.fit.verdicts.requirements import own_rocm, requirements
from rocm_sdk.installed import sdk_sites
from rocm_sdk.installed.directory_walk import walk
from rocm_sdk.installed.distributions import (
    Distribution,
    headers_of,
    is_of_sdk,
    name_of_directory,
    normalised,
    sdk_distributions,
)
from rocm_sdk.installed.record import read_record
from rocm_sdk.installed.view import Installed, refused_root

# The facts that are the same in all packages of one build -> their names in `_dist_info.py`.
_BUILD_FACTS = {"nonce": "PY_PACKAGE_SUFFIX_NONCE", "default_family": "DEFAULT_TARGET_FAMILY"}
_NOTE_LIMIT = 1 << 20  # bytes

# pip renames a directory before it removes it: these characters replace the first letters.
_HALF_REMOVED = re.compile(r"[-~=%]+.*(ocm[-_](?:sdk|profiler).*)")
_OF_FIX = re.compile(r"\.new\.\w{6}(\.read)?", re.ASCII)  # as the fix for a --target directory names them


def check(installation: Installed, recorder: Recorder, _options: Options) -> None:
    """Run all checks; only the first ones without a core package."""
    if installation.fallback is not None:
        recorder.good(f"a ROCm {installation.version} in {installation.site}")
        recorder.say("N-PKG-018", installation.site)
        return
    if installation.is_current and (error := refused_root()) is not None:
        recorder.bad(error.code, error.path, **error.facts)
        return
    _check_profiler(installation, recorder)
    _check_twins(installation, recorder)
    _check_half_removed(installation, recorder)
    for each in installation.placeholders:
        recorder.bad("E-PKG-017", each.directory, **each.facts)
    if installation.core is None and _check_without_metadata(installation, recorder):
        return
    if installation.core is None:
        _check_leftovers(installation, recorder)
        own = None if installation.placeholders or recorder.failed else own_rocm()
        if own is not None:
            recorder.good(own[1])
        elif not installation.placeholders:
            recorder.bad("E-PKG-001", installation.site, **_places_in_vain(installation))
        return
    recorder.good(f"rocm-sdk-core {installation.version}")
    _check_metadata(installation, recorder)
    _check_versions(installation, installation.core, recorder)
    _check_consistency(installation, recorder)
    _check_platform_directories(installation, recorder)
    _check_leftovers(installation, recorder)
    _check_builds(installation, recorder)
    if installation.is_current:
        _check_current(installation, recorder)


def _check_current(installation: Installed, recorder: Recorder) -> None:
    """Run the checks of the SDK that this process uses."""
    _check_archives(installation, recorder)
    _check_facts(installation, recorder)
    _check_search_path(installation, recorder)
    _check_user_site(installation, recorder)
    _check_family(installation, recorder)
    _check_ownership(recorder)
    _check_frameworks(installation, recorder)
    if getattr(sys, "frozen", False):
        recorder.say("W-PKG-012", sys.executable)


def _check_without_metadata(installation: Installed, recorder: Recorder) -> bool:
    """Return whether there is an SDK that no Python installer knows, as in a Nix prefix or a copied directory."""
    core = installation.core_directory
    if installation.distributions or not os.path.isdir(core) or not installation.shared_objects:
        return False
    recorder.good(f"an SDK {installation.version} in {core}")
    recorder.say("N-PKG-018", core)
    if installation.is_current:
        _check_search_path(installation, recorder)
        _check_frameworks(installation, recorder)
    return True


def _check_frameworks(installation: Installed, recorder: Recorder) -> None:
    for found in framework_problems(installation):
        if not found.facts.get("source", "").startswith("LD_LIBRARY_PATH"):  # the subject `environment` reports it
            recorder.add(found)


def _places_in_vain(installation: Installed) -> dict[str, object]:
    """Return facts about the places of ROCM_SDK_FALLBACK, if none has a ROCm, and about an archive that has an SDK."""
    if not installation.is_current:
        return {}
    if (archive := next(filter(_has_core, sys.path), None)) is not None:
        more = f"; {archive} has it, and no library can be loaded from an archive"
        return {"more": more, "removal": _removal_from_path(archive)}
    try:
        installation.sdk.facts()
    except PackageNotInstalledError as error:
        return {name: error.facts.get(name) for name in ("more", "variable")}
    except RocmSdkError:  # the SDK is too damaged to be found
        pass
    return {}


def _has_core(entry: str) -> bool:
    """Return whether an entry of sys.path is an archive with the core package."""
    if not os.path.isfile(entry):
        return False
    try:
        with ZipFile(entry) as archive:
            return any(name.startswith("_rocm_sdk_core") for name in archive.namelist())
    except (BadZipFile, OSError):
        return False


def _check_metadata(installation: Installed, recorder: Recorder) -> None:
    for each in installation.distributions:
        if each.fault is not None:
            is_no_text = each.has_metadata and each.fault.startswith("RECORD") and os.path.exists(each.record)
            blocking = each.record if is_no_text else each.directory  # an installer fails at either
            is_blocked = is_no_text or not os.path.isdir(each.directory)
            ways = put_aside(blocking) if is_blocked else {}
            recorder.bad("E-PKG-013", each.directory, detail=each.fault, **ways, **each.facts)
        else:
            recorder.good(f"metadata of {each.name}")


def _check_versions(installation: Installed, core: Distribution, recorder: Recorder) -> None:
    for each in installation.distributions:
        if not each.has_sdk_files or each.name == core.name:
            continue
        facts = each.unlike(core)
        if facts is None:
            recorder.good(f"{each.name} has the version of core")
        else:
            recorder.bad("E-PKG-002", each.directory, **facts)


def _check_consistency(installation: Installed, recorder: Recorder) -> None:
    """Check that the packages are of one build: they have the same facts, and the directories that these imply."""
    if not os.path.exists(os.path.join(installation.site, "rocm_sdk_core", "_dist_info.py")):
        return  # the subject `files` reports it
    core = installation.said_by("rocm_sdk_core")
    nonce = core.get("nonce", "")
    directory = os.path.join(installation.site, f"_rocm_sdk_core{nonce}")
    if core and not os.path.isdir(directory) and not _owned_below(installation, directory):  # else `files` reports it
        detail = f"rocm_sdk_core says that its files are in {os.path.basename(directory)}, which is not there"
        recorder.bad("E-PKG-016", directory, detail=detail, **installation.owner_of(directory))
    names = {name.lower(): name for name in installation.names}
    for each in installation.distributions:
        module = names.get(each.name.replace("-", "_"), each.name)
        facts = installation.said_by(module)
        differing = [name for name in _BUILD_FACTS if facts and facts.get(name) != core.get(name)]
        if differing and core:
            fact = differing[0]
            detail = f"{module} says {_BUILD_FACTS[fact]} = {facts.get(fact)!r}, core {core.get(fact)!r}"
            path = os.path.join(installation.site, module, "_dist_info.py")
            recorder.bad("E-PKG-016", path, detail=detail, **each.facts)
        elif facts:
            recorder.good(f"{each.name} is of the build of core")


def _check_builds(installation: Installed, recorder: Recorder) -> None:
    """Report packages beside the SDK whose metadata say that they are built for CUDA, or without GPUs.

    `rocm-sdk check` looks at the libraries of the others, too. A torch without GPUs is sound, and so are its companions
    beside it.
    """
    claims = {}
    for name in installation.names:
        if not name.endswith(".dist-info") or is_of_sdk(name_of_directory(name)):
            continue
        each = Distribution(os.path.join(installation.site, name))
        needed = requirements([value for key, value in headers_of(each.read("METADATA")) if key == "requires-dist"])
        claimed = claimed_build(each.name, each.version, needed, version_file(installation.site, each.name))
        if claimed is not None:
            claims[each.name] = each, claimed
    is_sound = "torch" not in claims or claims["torch"][1].kind != "HIP"
    for each, claimed in claims.values():
        files = (os.path.join(installation.site, file.path) for file in each.files if ".so" in file.path)
        build = proved_build(claimed, files) if claimed.kind != "HIP" else claimed
        found = problem_of_build(each.name, each.version, build, how_it_came(each.directory), is_sound=is_sound)
        if found is not None:
            recorder.bad(found.code, each.directory, **found.facts)


def _check_archives(installation: Installed, recorder: Recorder) -> None:
    """Report libraries whose kernels are in archives that their device packages never had."""
    try:
        lost = lost_archives(installation)
    except RocmSdkError:
        return  # that core's facts cannot be read is reported elsewhere
    for each in lost:
        recorder.add(each)


def _check_platform_directories(installation: Installed, recorder: Recorder) -> None:
    for path in installation.platform_directories:
        if os.path.isfile(os.path.join(path, "__init__.py")):
            recorder.good(f"{os.path.basename(path)} is a package")
        elif any(_owned_below(installation, path)):
            recorder.bad("E-PKG-003", path, **installation.owner_of(os.path.join(path, "__init__.py")))


def _owned_below(installation: Installed, directory: str) -> list[str]:
    prefix = os.path.basename(directory) + "/"
    return [path for path in installation.owners if path.startswith(prefix)]


def _check_profiler(installation: Installed, recorder: Recorder) -> None:
    if installation.distribution("rocm-profiler") is not None and not os.path.lexists(installation.core_directory):
        profiler = installation.distribution("rocm-profiler")
        version = profiler.version if profiler is not None else None
        requirement = f"rocm-sdk-core=={version}" if version else "rocm-sdk-core"
        recorder.bad("E-PKG-011", requirement=requirement)


def _check_twins(installation: Installed, recorder: Recorder) -> None:
    """Report metadata of a package beside other metadata of the same package, which match the files."""
    for each in installation.twins:
        right = installation.distribution(each.name)
        if right is not None:
            facts = {"version": right.version, "other_version": each.version, "distribution": each.name}
            recorder.bad("E-PKG-023", each.directory, **facts)


def _check_half_removed(installation: Installed, recorder: Recorder) -> None:
    """Report files that a killed installer has renamed, by distribution."""
    renamed: dict[str, list[str]] = {}
    for name in installation.names:
        match = _HALF_REMOVED.fullmatch(name)
        if match is not None:
            renamed.setdefault(_distribution_of(f"r{match[1]}"), []).append(os.path.join(installation.site, name))
    for distribution, paths in renamed.items():
        infos = (path.removesuffix(".dist-info") for path in paths if path.endswith(".dist-info"))
        before = next((info.rpartition("-")[2] for info in infos), None)
        facts = _facts_of_lost(installation, distribution, before)
        more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else None
        line = _removal_of(installation, paths)
        is_whole = _is_whole(installation, distribution)
        recorder.bad("W-PKG-007" if is_whole else "E-PKG-025", paths[0], more=more, removal=line, **facts)


def _removal_of(installation: Installed, paths: list[str]) -> str:
    """Return the line that removes renamed directories, and moves aside those with a file that RECORD does not have."""
    rows = [file for each in installation.distributions for file in each.files]
    for path in paths:
        with suppress(OSError, ValueError):
            rows += read_record(f"{path}/RECORD").files()
    sizes = {_tail_of(row.path): row.size for row in rows}
    gone, moves, own = list[str](), list[str](), list[str]()
    for path in paths:
        count = len(own)
        for file in (os.path.join(root, name) for root, _, names in walk(path) for name in names):
            with suppress(OSError):  # an installer is just removing it
                size = sizes.get(_tail_of(os.path.relpath(file, installation.site)), -1)
                if size not in {None, os.lstat(file).st_size} and not file.endswith(".pyc"):
                    own.append(os.path.relpath(file, path))
        name = os.path.join(installation.site, os.path.basename(path).lstrip("-~=%"))
        words = [quoted_for_shell(each) for each in (path, free_name(name))]
        if len(own) == count:
            gone.append(words[0])
        else:
            moves.append(f"mv {' '.join(words)}")
    lines = [f"rm -r {' '.join(gone)}"] * bool(gone) + moves
    return " && ".join(lines) + (f"  # keeps {one_line(', '.join(own[:3]))}" if own else "")


def _tail_of(name: str) -> tuple[int, str]:
    """Return what pip keeps of a name when it replaces the first letters of its first directory: length and end."""
    return name.find("/"), name[name.find("ocm") :]


def _distribution_of(name: str) -> str:
    """Return the distribution that a directory belongs to, by its name."""
    return name_of_directory(name) if name.endswith(".dist-info") else normalised(name)


def _is_whole(installation: Installed, name: str) -> bool:
    """Return whether a distribution is installed, and its directories are there."""
    found = installation.distribution(name)
    if found is None:
        return False
    directories = {file.path.partition("/")[0] for file in found.files if file.path.startswith(("_rocm", "rocm"))}
    return all(each in installation.names for each in directories)


def _facts_of_lost(installation: Installed, name: str, own: str | None) -> dict[str, object]:
    """Return facts about a partly installed package: its release is that of the others, else its own."""
    others = (each.version for each in installation.distributions if each.has_sdk_files and each.name != name)
    version = next(others, own)
    return {"distribution": name, "version": version, "requirement": f"{name}=={version}" if version else name}


def _check_leftovers(installation: Installed, recorder: Recorder) -> None:
    """Report directories that no RECORD has. Libraries in them may be in use: they are not removed."""
    for path in installation.platform_directories:
        name = os.path.basename(path)
        is_tree = name.startswith("_rocm_sdk_devel")  # an extraction has written its files
        if _owned_below(installation, path) or (is_tree and installation.distribution("rocm-sdk-devel") is not None):
            continue
        if any(each.path.startswith(f"{path}/") for each in installation.shared_objects):
            module = name.removeprefix("_")
            facts = _facts_of_lost(installation, normalised(module), installation.said_by(module).get("version"))
            detail = "libraries of the SDK are in it, and no RECORD lists them"
            recorder.bad("E-PKG-024", path, detail=detail, **facts)
        else:
            recorder.bad("W-PKG-007", path)
    for path in (os.path.join(installation.site, name) for name in installation.names if _OF_FIX.fullmatch(name)):
        removal = f"rm -r {quoted_for_shell(path)}"
        recorder.bad("W-PKG-007", path, kind="an interrupted fix", removal=removal)


def _check_facts(installation: Installed, recorder: Recorder) -> None:
    """Check that this package can read the facts of core."""
    try:
        installation.sdk.facts()
        installation.sdk.built_targets()
    except RocmSdkError as error:
        core = installation.core_directory
        if (
            not isinstance(error, PackageNotInstalledError)
            or os.path.isdir(core)
            or not _owned_below(installation, core)
        ):
            recorder.bad(error.code, error.path, **error.facts)  # else the subject `files` reports it
    else:
        recorder.good("core's facts about itself")


def _check_search_path(installation: Installed, recorder: Recorder) -> None:
    """Check for other SDKs on the search path, and for one directory with two names."""
    seen = {installation.site}
    for directory in sdk_sites():
        if directory in seen or not os.path.isdir(directory):
            continue
        seen.add(directory)
        others = {each.name: each for each in sdk_distributions(directory)}
        if not others:
            continue
        leaving = _removal_from_path(directory)
        if os.path.samefile(directory, installation.site):
            recorder.say("N-PKG-009", directory, other=installation.site)
        elif installation.core is None and (lacking := _lacking(installation, others.values())) is not None:
            first = _removal_from_path(installation.site)  # the other SDK has both
            recorder.bad("E-PKG-004", directory, site=installation.site, repair=first, **lacking.facts)
        elif "rocm-sdk-core" in others:
            facts = {"version": installation.version, "other_version": others["rocm-sdk-core"].version}
            recorder.bad("W-PKG-005", directory, site=installation.site, removal=leaving, **facts)
        else:
            for other in others.values():
                if other.has_sdk_files:
                    recorder.bad("E-PKG-004", directory, site=installation.site, removal=leaving, **other.facts)


def _lacking(installation: Installed, others: Iterable[Distribution]) -> Distribution | None:
    """Return a package beside the SDK in use whose directory is missing; None if there is none."""
    for other in others:
        directories = {file.path.partition("/")[0] for file in other.files if file.path.startswith("_rocm")}
        if other.has_sdk_files and directories and directories.isdisjoint(installation.names):
            return other
    return None


def _removal_from_path(directory: str) -> str | None:
    """Return the command that removes a directory from PYTHONPATH; None if it is not in there."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if not any(entry and os.path.realpath(entry) == os.path.realpath(directory) for entry in entries):
        return None
    return removal("PYTHONPATH", lambda _, entry: os.path.realpath(entry) == os.path.realpath(directory))


def _check_user_site(installation: Installed, recorder: Recorder) -> None:
    user_site = site_module.getusersitepackages()
    in_environment = sys.prefix != sys.base_prefix and installation.chosen_by is None
    if in_environment and user_site in sys.path and sdk_distributions(user_site):
        recorder.bad("W-PKG-008", user_site)
    elif in_environment:
        recorder.good(f"the user's site-packages does not reach {installation.site}")


def _check_family(installation: Installed, recorder: Recorder) -> None:
    """Check that the packages for one family are for this machine's GPU."""
    try:
        facts = installation.sdk.facts()
        family = _native.choose_family(facts["available_families"])[0]
    except RocmSdkError:
        return
    if family is None:
        return
    if facts["kpack_split"]:
        _check_choice(installation, recorder, family)
        return
    wanted = distribution_name("libraries", family)
    installed = [each.name for each in installation.distributions if each.name.startswith("rocm-sdk-libraries-")]
    if installed and wanted.lower().replace("_", "-") not in installed:
        names = ", ".join(name.removeprefix("rocm-sdk-libraries-") for name in installed)
        selector = f"rocm[libraries]=={installation.version}"
        requirement = f"{wanted}=={installation.version}"
        recorder.bad("W-PKG-010", family=names, needed=family, selector=selector, requirement=requirement)
    elif installed:
        recorder.good(f"the libraries are for this machine's GPU, {family}")


def _check_choice(installation: Installed, recorder: Recorder, family: str) -> None:
    """Check what the selector chose when it was installed, if only those device packages are installed."""
    prefix = "rocm-sdk-device-"
    devices = {each.name for each in installation.distributions if each.name.startswith(prefix)}
    chosen = next((_choice_of(each) for each in installation.distributions if each.name == "rocm"), None)
    target = _native.package_owner(family)
    if not devices or chosen is None:
        return
    if chosen != family and f"{prefix}{target}" not in devices:
        selector = f"rocm[libraries,device]=={installation.version}"
        requirement = f"{prefix}{target}=={installation.version}"
        recorder.bad("W-PKG-010", family=chosen, needed=family, selector=selector, requirement=requirement)
    else:
        recorder.good(f"the GPU code is that for this machine's GPU, {family}")


def _choice_of(selector: Distribution) -> str | None:
    """Return the family that was chosen by the machine's GPUs, not by ROCM_SDK_TARGET_FAMILY.

    The result is None if nothing says so.
    """
    try:
        text = read_beginning(f"{selector.directory}/family.json", _NOTE_LIMIT)
        found = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("why") == "ROCM_SDK_TARGET_FAMILY":
        return None
    family = found.get("family")
    return family if isinstance(family, str) else None


def _check_ownership(recorder: Recorder) -> None:
    """Check whether AMD's distribution `rocm` claims our files."""
    try:
        ownership = adoption_state()
    except RocmSdkError:
        return  # not installed from a wheel: no files are shared
    if ownership.problem is None:
        recorder.good("files of rocm_sdk have one owner")
    else:
        recorder.bad("E-PKG-006", str(OWN_SITE), detail=ownership.problem, fix=ownership.fix)
