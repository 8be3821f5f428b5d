"""The exact packages to install, chosen by the installer and read back.

All packages are from the index, for one ROCm, and for all targets.
"""

from __future__ import annotations

import os
from importlib.metadata import distributions
from shutil import disk_usage
from urllib.parse import unquote, urlsplit

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.value_text import size_text
from rocm_sdk.fit.verdicts.requirements import requirements as requirements_of
from rocm_sdk.installed.distributions import is_placeholder_version, normalised, same_release, without_post_release

from .gpu_packages import SELECTOR, with_code
from .install_errors import InstallRefusedError
from .installer_answer import Answer, Package, ask
from .request import Requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .destination import Destination
    from .request import Index

JAX = "jax"
_PUBLIC_HOSTS = frozenset({"pypi.org", "files.pythonhosted.org", "test.pypi.org", "download.pytorch.org"})


class Choice(NamedTuple):
    """The chosen packages. requirements are exact; packages are all that come with them, by normalised name."""

    requirements: tuple[Requirement, ...]
    packages: dict[str, Package]
    notes: tuple[str, ...]
    further: tuple[tuple[tuple[Requirement, ...], Index], ...] = ()  # what comes afterwards, only from another index

    @property
    def release(self) -> str:
        """The version of ROCm."""
        return self.packages[SELECTOR].version

    def is_in(self, versions: dict[str, str]) -> bool:
        """Return whether an environment has all packages already, in these versions.

        A wheel that was named is always installed.
        """
        has_files = any(each.file for each in self.requirements)
        return not has_files and all(versions.get(name) == each.version for name, each in self.packages.items())


def choose(
    requirements: tuple[Requirement, ...], targets: tuple[str, ...], destination: Destination, index: Index
) -> Choice:
    """Choose the packages, and return them. Raise InstallRefusedError if nothing fits.

    The error is also raised if the installer chooses something else than was asked for.
    """
    answer = ask(requirements, destination, index)
    found = [numbers_of(answer.packages[name].version) for name in ("apex", "torch") if name in answer.packages]
    minors = [[*numbers, 0][1] for numbers in found]
    if len({*minors}) > 1:  # apex 1.N is for torch 2.N, but its metadata do not say so
        fit = {"apex": f"==1.{minors[1]}.*"}
        requirements = tuple(each._replace(version=fit.get(each.name, each.version)) for each in requirements)
        answer = ask(requirements, destination, index)
    for name, extra in sorted(answer.unoffered):
        if not extra.startswith("device-"):
            raise InstallRefusedError(f"{name} has no extra {extra} at {index.shown}", "another release: --rocm")
    placed = with_code(requirements, targets, answer, destination, index)
    answer = placed.answer
    choice = Choice(
        tuple(_exact(_without(each, answer), answer) for each in placed.requirements),
        answer.packages,
        (*placed.notes, *changes(answer, destination), *_lack_of_room(answer, destination)),
    )
    for fault in (*_mixed(choice), *_from_elsewhere(choice, index)):
        raise InstallRefusedError(*fault)
    return choice


def works(requirements: tuple[Requirement, ...], targets: tuple[str, ...], destination: Destination) -> str | None:
    """Return the ROCm release of an environment that has everything that is asked for, and what that requires.

    The result is None if something is missing, or if not all is of one release.
    """
    versions = destination.versions
    release = versions.get(SELECTOR)
    needed = ["rocm-sdk-core", "rocm-sdk-libraries", *_device_packages(requirements, targets)]
    names = [*needed, *(normalised(each.name) for each in requirements)]
    if release is None or any(name not in versions for name in names) or any(each.file for each in requirements):
        return None
    found = (each for name in names for each in distributions(name=name, path=[destination.site]))
    if any(other not in versions for each in found for other in requirements_of(each.requires or [])):
        return None
    packages = {name: Package(version, "") for name, version in versions.items()}
    wanted = next(each.version for each in requirements if each.name == SELECTOR)
    has_faults = any(_mixed(Choice(requirements, packages, ())))
    return release if _is_wanted(release, wanted) and not has_faults and not is_placeholder_version(release) else None


def _is_wanted(release: str, wanted: str) -> bool:
    """Return whether a release is what a specifier of ours asks for: "", "==7.1.0", "==7.1.*", ">=7.0,<7.15"."""
    if not wanted:
        return True
    if wanted.startswith("=="):
        exact, is_prefix, _ = wanted.removeprefix("==").partition("*")
        return release.startswith(exact) if is_prefix else same_release(release, exact)
    first, _, end = wanted.removeprefix(">=").partition(",<")
    return numbers_of(first) <= numbers_of(release) and (not end or numbers_of(release) < numbers_of(end))


def is_final(release: str) -> bool:
    """Return whether a release is of the stream `stable`: neither a nightly nor a candidate."""
    return without_post_release(release).partition("+")[0].replace(".", "").isdecimal()


def _device_packages(requirements: tuple[Requirement, ...], targets: tuple[str, ...]) -> list[str]:
    return [each.device + target for each in requirements if each.device for target in targets]


def _without(requirement: Requirement, answer: Answer) -> Requirement:
    name = normalised(requirement.name)
    kept = tuple(extra for extra in requirement.extras if (name, extra) not in answer.unoffered)
    return requirement._replace(extras=kept)


def _exact(requirement: Requirement, answer: Answer) -> Requirement:
    """Return a requirement with the version that was chosen, and the label of its build."""
    return requirement._replace(version=f"=={answer.packages[normalised(requirement.name)].version}")


def _mixed(choice: Choice) -> Iterator[tuple[str, str]]:
    """Yield the faults of packages that are for another ROCm, or that are the empty ones of the public index."""
    release = choice.release
    fix = "another release: --rocm; if it stays so, the index is damaged"
    for name, package in choice.packages.items():
        label = package.version.partition("+")[2]
        if name.startswith("rocm-sdk-") and _is_of_sdk(name) and is_placeholder_version(package.version):
            yield f"{name} {package.version} is an empty package that reserves the name on the public index", fix
        elif name.startswith("rocm-sdk-") and _is_of_sdk(name) and not same_release(package.version, release):
            yield f"{name} {package.version} is of another release than rocm {release}", fix
        elif label.startswith("rocm") and not _is_label_of(label, release):
            yield f"{name} {package.version} is built for another ROCm than {release}", fix
    of_jax = [each.version for name, each in choice.packages.items() if f"{name}-rocm".startswith("jax-rocm")]
    if JAX in choice.packages and len({each.partition("+")[0] for each in of_jax}) > 1:
        yield f"{JAX} and its plug-ins are of several versions: {', '.join(of_jax)}", fix
    torch = choice.packages.get("torch")
    if torch is not None and "+rocm" not in torch.version:
        yield f"torch {torch.version} is not built for ROCm", fix


def _is_of_sdk(name: str) -> bool:
    return name not in {"rocm-sdk-loader", "rocm-sdk-build"}


def _is_label_of(label: str, release: str) -> bool:
    """Return whether a local version label ("rocm10.0.0") is of a release, whose own label does not count."""
    return same_release(label.removeprefix("rocm"), release.partition("+")[0].replace("-", "."))


def _from_elsewhere(choice: Choice, index: Index) -> Iterator[tuple[str, str]]:
    """Yield the faults of packages that do not come from the index.

    pip names the address of each file, uv its index.
    """
    ours = urlsplit(index.address)
    named = {normalised(each.name) for each in choice.requirements if each.file}
    for name, package in choice.packages.items():
        origin = urlsplit(package.origin)
        is_local = origin.scheme == "file" and ours.scheme != "file"
        is_public = origin.hostname in _PUBLIC_HOSTS and ours.hostname not in _PUBLIC_HOSTS
        if name not in named and (is_local or is_public):
            yield (
                f"{name} {package.version} would come from {package.origin}, not from {index.shown}",
                "the installer's configuration names this place: remove it there",
            )


def changes(answer: Answer, destination: Destination) -> Iterator[str]:
    """Yield a note for each package that gets an older version."""
    for name, package in answer.packages.items():
        before = destination.versions.get(name)
        if before is not None and numbers_of(before) > numbers_of(package.version):
            yield f"{name} {before} is replaced by the older {package.version}"


def _lack_of_room(answer: Answer, destination: Destination) -> Iterator[str]:
    """Yield a note if there is no room for the wheels on this machine; the sizes of others are not known."""
    origins = [each.origin for each in answer.packages.values() if each.origin.startswith("file:")]
    size = sum(os.path.getsize(path) for each in origins if os.path.isfile(path := unquote(urlsplit(each).path)))
    if os.path.isdir(destination.site) and size > (free := disk_usage(destination.site).free):
        yield f"the wheels have {size_text(size)}, and {destination.site} has room for {size_text(free)}"


def numbers_of(version: str) -> list[int]:
    """Return the numbers of a version, with its label, which has the release of ROCm.

    The numbers are enough to say which of two versions is older.
    """
    import re

    numbers = re.findall(r"\d+|[a-z]+", version.lower())
    return [int(each) if each.isdigit() else -1 for each in numbers]
