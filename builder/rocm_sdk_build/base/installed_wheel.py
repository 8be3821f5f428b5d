"""The making of a wheel from the distribution that was installed from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.wheels import writing

# Files of a dist-info directory that installers write, and a wheel does not have, or not yet (PEP 376, 610, 627; uv).
OF_INSTALLER = frozenset(
    {
        *("INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"),
        *("RECORD.jws", "RECORD.p7s"),
    }
)


def write_again(
    info: Path, directory: Path, members: Iterable[tuple[str, Path]], tell: Callable[[Path], object] = lambda _: None
) -> Path:
    """Write the wheel of a dist-info directory; return the path of the wheel.

    `members` are names in the wheel with their files; files of dist-info come last. `tell` is called with each file
    that was written. Raise PackagingError if WHEEL has no tag; raise OSError if a file cannot be read or written.
    """
    wheel = directory / f"{info.name.removesuffix('.dist-info')}-{_tag_of(info)}.whl"
    with writing(wheel, info.name, deflate=True) as fresh:
        for name, path in members:
            fresh.add_file(name, path)
            tell(path)
    return wheel


def _tag_of(info: Path) -> str:
    """Return the tags of the wheel that was installed, as names of wheels have them."""
    lines = (info / "WHEEL").read_text(encoding="utf-8", errors="replace").splitlines()
    tags = [value.strip().split("-") for name, _, value in (line.partition(":") for line in lines) if name == "Tag"]
    if not tags or any(len(tag) != 3 for tag in tags):
        raise PackagingError(f"{info.name}/WHEEL: has no tag", "install the package again")
    return "-".join(".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True))
