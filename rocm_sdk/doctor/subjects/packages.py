"""Subject `packages`: the distributions, their versions, and whether they belong together."""

from __future__ import annotations

import json
import os
import re
import site as site_module
import sys

from rocm_sdk import _native
from rocm_sdk.adoption.state import SITE as OWN_SITE
from rocm_sdk.adoption.state import state as adoption_state
from rocm_sdk.base.files import read_beginning
from rocm_sdk.doctor.options import Options
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.errors import PackageNotInstalledError, RocmSdkError
from rocm_sdk.gpu_support.packages import distribution_name
from rocm_sdk.installed import sdk_sites
from rocm_sdk.installed.distributions import CLOSURE_JOURNAL, Distribution, same_release, sdk_distributions
from rocm_sdk.installed.installation import Installed, refused_root

# What the modules of packages of one build say alike, and its name in their `_dist_info.py`.
_BUILD_FACTS = {"nonce": "PY_PACKAGE_SUFFIX_NONCE", "default_family": "DEFAULT_TARGET_FAMILY"}
_NOTE_LIMIT = 1 << 20  # bytes

# pip renames a directory before it removes it: such characters replace the first letters.
_HALF_REMOVED = re.compile(r"[-~=%]+.*ocm[-_](sdk|profiler).*")


def check(installation: Installed, recorder: Recorder, _options: Options) -> None:
    """All checks; only the first ones without a core package."""
    if installation.fallback is not None:
        recorder.good(f"a ROCm {installation.version} in {installation.site}")
        recorder.say("N-PKG-018", installation.site)
        return
    if installation.is_current and (error := refused_root()) is not None:
        recorder.bad(error.code, error.path, **error.facts)
        return
    if CLOSURE_JOURNAL in installation.names:
        journal = os.path.join(installation.site, CLOSURE_JOURNAL)
        recorder.bad("E-PKG-022", journal, site=installation.site)
    _check_profiler(installation, recorder)
    for each in installation.placeholders:
        recorder.bad("E-PKG-017", each.directory, **each.facts)
    if installation.core is None and _check_without_metadata(installation, recorder):
        return
    if installation.core is None:
        if not installation.placeholders:
            recorder.bad("E-PKG-001", installation.site, **_places_in_vain(installation))
        return
    recorder.good(f"rocm-sdk-core {installation.version}")
    _check_metadata(installation, recorder)
    _check_versions(installation, installation.core, recorder)
    _check_consistency(installation, recorder)
    _check_platform_directories(installation, recorder)
    _check_leftovers(installation, recorder)
    if installation.is_current:
        _check_facts(installation, recorder)
        _check_search_path(installation, recorder)
        _check_user_site(installation, recorder)
        _check_family(installation, recorder)
        _check_ownership(recorder)
        if getattr(sys, "frozen", False):
            recorder.say("W-PKG-012", sys.executable)


def _check_without_metadata(installation: Installed, recorder: Recorder) -> bool:
    """Whether there is an SDK that no Python installer knows, as in a prefix of Nix or a copied directory."""
    core = _core_directory(installation)
    if installation.distributions or not os.path.isdir(core):
        return False
    recorder.good(f"an SDK {installation.version} in {core}")
    recorder.say("N-PKG-018", core)
    return True


def _places_in_vain(installation: Installed) -> dict[str, object]:
    """Facts about the places of ROCM_SDK_FALLBACK, if none has a ROCm."""
    if not installation.is_current:
        return {}
    try:
        installation.sdk.facts()
    except PackageNotInstalledError as error:
        return {name: error.facts.get(name) for name in ("more", "variable")}
    except RocmSdkError:  # too damaged to be found
        pass
    return {}


def _check_metadata(installation: Installed, recorder: Recorder) -> None:
    for each in installation.distributions:
        if each.fault is not None:
            recorder.bad("E-PKG-013", each.directory, detail=each.fault, **each.facts)
        else:
            recorder.good(f"metadata of {each.name}")


def _check_versions(installation: Installed, core: Distribution, recorder: Recorder) -> None:
    for each in installation.distributions:
        if not each.has_sdk_files or each.name == core.name:
            continue
        if same_release(each.version, core.version):
            recorder.good(f"{each.name} has the version of core")
        else:
            requirement = f"{each.name}=={core.version}"
            facts = each.facts | {"core_version": core.version, "requirement": requirement}
            recorder.bad("E-PKG-002", each.directory, **facts)


def _check_consistency(installation: Installed, recorder: Recorder) -> None:
    """Checks that the packages are of one build: their facts are the same, and the directories that follow exist."""
    core = installation.said_by("rocm_sdk_core")
    nonce = core.get("nonce", "")
    directory = os.path.join(installation.site, f"_rocm_sdk_core{nonce}")
    if core and not os.path.isdir(directory):
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
    if installation.distribution("rocm-profiler") is not None and not os.path.isdir(_core_directory(installation)):
        profiler = installation.distribution("rocm-profiler")
        version = profiler.version if profiler is not None else None
        requirement = f"rocm-sdk-core=={version}" if version else "rocm-sdk-core"
        recorder.bad("E-PKG-011", requirement=requirement)


def _core_directory(installation: Installed) -> str:
    names = [path for path in installation.platform_directories if "_core" in os.path.basename(path)]
    return names[0] if names else os.path.join(installation.site, "_rocm_sdk_core")


def _check_leftovers(installation: Installed, recorder: Recorder) -> None:
    for name in installation.names:
        if _HALF_REMOVED.fullmatch(name):
            recorder.bad("W-PKG-007", os.path.join(installation.site, name))
    for path in installation.platform_directories:
        if not _owned_below(installation, path) and not os.path.basename(path).startswith("_rocm_sdk_devel"):
            recorder.bad("W-PKG-007", path)


def _check_facts(installation: Installed, recorder: Recorder) -> None:
    """Checks that this package can read the facts of core."""
    try:
        installation.sdk.facts()
        installation.sdk.built_targets()
    except RocmSdkError as error:
        recorder.bad(error.code, error.path, **error.facts)
    else:
        recorder.good("core's facts about itself")


def _check_search_path(installation: Installed, recorder: Recorder) -> None:
    """Checks for other SDKs on the search path, and for one directory with two names."""
    seen = {installation.site}
    for directory in sdk_sites():
        if directory in seen or not os.path.isdir(directory):
            continue
        seen.add(directory)
        others = {each.name: each for each in sdk_distributions(directory)}
        if not others:
            continue
        if os.path.samefile(directory, installation.site):
            recorder.say("N-PKG-009", directory, other=installation.site)
        elif "rocm-sdk-core" in others:
            facts = {"version": installation.version, "other_version": others["rocm-sdk-core"].version}
            recorder.bad("W-PKG-005", directory, site=installation.site, **facts)
        else:
            for other in others.values():
                if other.has_sdk_files:
                    recorder.bad("E-PKG-004", directory, site=installation.site, **other.facts)


def _check_user_site(installation: Installed, recorder: Recorder) -> None:
    user_site = site_module.getusersitepackages()
    in_environment = sys.prefix != sys.base_prefix and installation.chosen_by is None
    if in_environment and user_site in sys.path and sdk_distributions(user_site):
        recorder.bad("W-PKG-008", user_site)
    elif in_environment:
        recorder.good(f"the user's site-packages does not reach {installation.site}")


def _check_family(installation: Installed, recorder: Recorder) -> None:
    """Checks that the packages for one family are those for this machine's GPU."""
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
        recorder.bad("W-PKG-010", family=names, needed=family, selector=selector)
    elif installed:
        recorder.good(f"the libraries are those of this machine's GPU, {family}")


def _check_choice(installation: Installed, recorder: Recorder, family: str) -> None:
    """Checks what the selector chose when it was installed, if only its choice of device packages is installed."""
    prefix = "rocm-sdk-device-"
    devices = {each.name for each in installation.distributions if each.name.startswith(prefix)}
    chosen = next((_choice_of(each) for each in installation.distributions if each.name == "rocm"), None)
    target = family.partition(":")[0]
    if not devices or chosen is None:
        return
    if chosen != family and f"{prefix}{target}" not in devices:
        selector = f"rocm[libraries,device]=={installation.version}"
        recorder.bad("W-PKG-010", family=chosen, needed=family, selector=selector)
    else:
        recorder.good(f"the GPU code is that for this machine's GPU, {family}")


def _choice_of(selector: Distribution) -> str | None:
    """The family that was chosen from the machine, and not by ROCM_SDK_TARGET_FAMILY; None if nothing says so."""
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
    """Checks whether AMD's distribution `rocm` claims our files."""
    try:
        ownership = adoption_state()
    except RocmSdkError:
        return  # not installed from a wheel: no files are shared
    if ownership.problem is None:
        recorder.good("files of rocm_sdk have one owner")
    else:
        recorder.bad("E-PKG-006", str(OWN_SITE), detail=ownership.problem, fix=ownership.fix)
