"""The promotion of a release candidate's or nightly build's packages: the same files under another version."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import Version

from rocm_sdk.installed.readers import package_owner
from rocm_sdk_build.base.damaged import package_damage, read_small, refusing_damage
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.new_file import move_files
from rocm_sdk_build.base.scratch import scratch_directory
from rocm_sdk_build.base.text_files import write_text
from rocm_sdk_build.base.unpacked import unpack_wheel
from rocm_sdk_build.base.wheel_name import wheel_name
from rocm_sdk_build.base.wheels import writing
from rocm_sdk_build.packages.sbom import read_sbom, sbom_text
from rocm_sdk_build.packages.version import check_version
from rocm_sdk_build.packages.writer import members_of

from .package_files import PackageFile, find_packages
from .rocm_selector.backend import LOADER
from .selector import read_archive_member, write_selector_archive

_DEVICE = "rocm-sdk-device-"
_ELF = b"\x7fELF"
_FAMILY_LINE = re.compile(r"(AVAILABLE|LINUX|WINDOWS)_TARGET_FAMILIES\.append\((.*)\)")


class Promotion(NamedTuple):
    """The old and the new version, and the targets that are kept, or None for all."""

    old: str
    new: str
    targets: frozenset[str] | None

    def keeps(self, family: str) -> bool:
        """Return whether a target is kept, by the owner of its packages; features (`gfx942:xnack+`) do not count."""
        return self.targets is None or package_owner(family) in self.targets


def promote(source: Path, output: Path, version: str, targets: frozenset[str] | None = None) -> list[Path]:
    """Write the packages below `source` to `output` under this version; return their files.

    The originals stay. The loader, whose versions are its own, goes along. Raise PackagingError unless all packages
    have one version that comes before the new version, and for targets that are not there.
    """
    check_version(version)
    found = sorted(find_packages(source))
    packages = [each for each in found if each.is_of_sdk]
    promotion = Promotion(_version_of(source, packages, version), version, targets)
    known = {name.removeprefix(_DEVICE) for name, _, _ in packages if name.startswith(_DEVICE)}
    if missing := sorted((targets or frozenset()) - known):
        raise PackagingError(
            f"{source}: no package is for {', '.join(missing)}", f"there are {', '.join(sorted(known))}"
        )
    made = []
    with scratch_directory(output) as scratch:
        for package in packages:
            name, path = package.debug_of or package.project, package.path
            if name.startswith(_DEVICE) and not promotion.keeps(name.removeprefix(_DEVICE)):
                continue
            fresh = Path(scratch, "dist", path.relative_to(source)).parent
            fresh.mkdir(parents=True, exist_ok=True)
            new = _promote_one(path, promotion, fresh, Path(scratch, "site"))
            if new in made:
                raise PackagingError(f"{path}: another package becomes {new.name}, too", "remove one of them")
            made.append(new)
        for path in (each.path for each in found if each.project == LOADER):
            made.append(Path(scratch, "dist", path.relative_to(source)))
            made[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, made[-1])
        names = {path: output / path.relative_to(Path(scratch, "dist")) for path in made}
        move_files(names)
    return list(names.values())


def _version_of(source: Path, packages: list[PackageFile], new: str) -> str:
    found = sorted({version for _, version, _ in packages})
    if len(found) != 1:
        what = f"has packages of the versions {', '.join(found)}" if found else "has no packages of an SDK"
        raise PackagingError(f"{source}: {what}", "give a directory with the packages of one version")
    old = Version(found[0])
    if Version(new).release != old.release or Version(new) <= old or not old.is_prerelease:
        raise PackagingError(f"{source}: {old} cannot become {new}", f"a release candidate becomes {old.base_version}")
    return found[0]


def _promote_one(path: Path, promotion: Promotion, directory: Path, site: Path) -> Path:
    if path.suffix != ".whl":
        return _promote_selector(path, promotion, directory)
    deflate = unpack_wheel(path, site)
    base = wheel_name(path).base
    info = _rename(path, site, f"{base}-{promotion.old}", f"{base}-{promotion.new}")
    _change_files(path, site, info, promotion)
    name, _, *rest = path.name.split("-")  # the version need not be spelled as ours
    wheel = directory / "-".join([name, promotion.new, *rest])
    with writing(wheel, info.name, deflate=deflate) as fresh:
        for name, file in members_of(site, info.name).items():
            fresh.add_file(name, file)
    shutil.rmtree(site)
    return wheel


def _rename(wheel: Path, site: Path, old: str, new: str) -> Path:
    if not (site / f"{old}.dist-info/METADATA").is_file():
        raise PackagingError(f"{wheel}: has no {old}.dist-info/METADATA")
    for ending in ("dist-info", "data"):
        if (site / f"{old}.{ending}").is_dir():
            (site / f"{old}.{ending}").rename(site / f"{new}.{ending}")
    for program in site.glob(f"{new}.data/scripts/*"):
        data = program.read_bytes()
        if data.startswith(_ELF) and len(new) > len(old) and old.encode() in data:
            what = f"its program {program.name} has {old}, and no room for {new}"
            raise PackagingError(f"{wheel}: {what}", "choose a version that is not longer, or build the packages anew")
        program.write_bytes(_with_other_text(data, old.encode(), new.encode()))
    return site / f"{new}.dist-info"


def _with_other_text(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return a program in which C strings have the new text, which is not longer, and zeros behind their end."""
    if not data.startswith(_ELF):
        return data.replace(old, new)
    pattern = re.compile(rb"[^\0]*" + re.escape(old) + rb"[^\0]*")
    return pattern.sub(lambda found: found[0].replace(old, new).ljust(len(found[0]), b"\0"), data)


def _change_files(wheel: Path, site: Path, info: Path, promotion: Promotion) -> None:
    changes: tuple[tuple[Path, str, Callable[[str, Promotion], str]], ...] = (
        (info, "METADATA", _with_version),
        (info, "sboms/*.cdx.json", _with_materials),
        (site, "*/_dist_info.py", _with_families),
        (site, "*/.devel_links/*.json", _with_link_version),
        (site, "*/share/therock/dist_info.json", _with_targets),
    )
    for directory, pattern, change in changes:
        for path in directory.glob(pattern):
            with refusing_damage(package_damage(wheel, str(path.relative_to(site)))):
                with path.open("rb") as file:
                    text = read_small(file).decode("utf-8")
                write_text(path, change(text, promotion))


def _with_materials(text: str, promotion: Promotion) -> str:
    """Return the bill of materials of the new version, with the same artifacts."""
    old = read_sbom(text.encode())
    return sbom_text(old.distribution, promotion.new, old.builder or "", old.digests)


def _with_link_version(text: str, promotion: Promotion) -> str:
    return json.dumps({**json.loads(text), "version": promotion.new}, indent=2) + "\n"


def _with_targets(text: str, promotion: Promotion) -> str:
    document = json.loads(text)
    kept = [each for each in str(document.get("dist_amdgpu_targets", "")).split(";") if promotion.keeps(each)]
    if promotion.targets is None:
        return text
    return json.dumps({**document, "dist_amdgpu_targets": ";".join(kept)}, indent=2) + "\n"


def _with_version(metadata: str, promotion: Promotion) -> str:
    """Return the headers with the new version of the package, and of the packages that it requires."""
    version = re.escape(promotion.old)
    text = re.sub(rf"^Version: {version}$", f"Version: {promotion.new}", metadata, count=1, flags=re.MULTILINE)
    return re.sub(
        rf"^(Requires-Dist: [\w.\[\],-]+==){version}(?=$|;| )", rf"\g<1>{promotion.new}", text, flags=re.MULTILINE
    )


def _with_families(text: str, promotion: Promotion) -> str:
    """Return `_dist_info.py` with the new version and the families that are kept."""
    lines = []
    available: list[str] = []
    for line in text.splitlines():
        family = _FAMILY_LINE.fullmatch(line)
        if family is not None:
            name = str(ast.literal_eval(family[2]))
            if not promotion.keeps(name):
                continue
            available += [name] if family[1] == "AVAILABLE" else []
        lines.append(line)
    text = "\n".join(lines) + "\n"
    text = text.replace(f"\n__version__ = {promotion.old!r}\n", f"\n__version__ = {promotion.new!r}\n")
    default = re.search(r"^DEFAULT_TARGET_FAMILY = (.*)$", text[text.index("\n__version__ = '") :], re.MULTILINE)
    if available and default is not None and not promotion.keeps(str(ast.literal_eval(default[1]))):
        text = text.replace(f"\n{default[0]}\n", f"\nDEFAULT_TARGET_FAMILY = {available[0]!r}\n")
    return text


def _promote_selector(path: Path, promotion: Promotion, directory: Path) -> Path:
    with refusing_damage(package_damage(path, "selector.json")):
        document = json.loads(read_archive_member(path, "selector.json") or b"null")
        if not isinstance(document, dict):
            raise PackagingError(f"{path}: selector.json is not an object")
        return write_selector_archive(directory, _with_selection(document, promotion))


def _with_selection(document: Mapping[str, Any], promotion: Promotion) -> dict[str, Any]:
    """Return `selector.json` with the new version, and without the targets that are not kept."""
    families = [each for each in document["families"] if promotion.keeps(each)]
    default = document["default"]
    extras = {}
    for extra, rows in document["extras"].items():
        own = [row for row in rows if _is_kept(row, promotion)]
        if own:
            extras[extra] = [row.replace(f"=={promotion.old}", f"=={promotion.new}") for row in own]
    return {
        **document,
        "version": promotion.new,
        "families": families,
        "default": default if default in families or not families else families[0],
        "requires": [row.replace(f"=={promotion.old}", f"=={promotion.new}") for row in document["requires"]],
        "extras": extras,
    }


def _is_kept(requirement: str, promotion: Promotion) -> bool:
    name = requirement.partition("==")[0]
    is_of_one = name.startswith(_DEVICE) and "{family}" not in name
    return not is_of_one or promotion.keeps(name.removeprefix(_DEVICE))
