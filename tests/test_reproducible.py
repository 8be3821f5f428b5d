"""The bytes of a build: the same sources give the same bytes, if the tools are the same.

The directory, the day, the umask and the time zone may differ.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from programs import completed

from rocm_sdk import loader_version

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
DATE = 1_700_000_000
MARK = b"LDFLAGS!"
FLAGS = {"CFLAGS": "-O0 -g", "LDFLAGS": f"-Wl,--build-id=0x{MARK.hex()}"}
LEFT_OUT = ("build", ".git", "__pycache__", "*.egg-info", "*.so", "load_check", "corpus", ".hypothesis")


def sources(place: Path, date: int) -> Path:
    """Make a copy of the sources with this date."""
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for path in (place, *place.rglob("*")):
        os.utime(path, (date, date))
    return place


def digests(directory: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(directory.iterdir())}


def run(place: Path, umask: int, zone: str, *words: str) -> None:
    scratch = place.with_name(f"{place.name} scratch")
    scratch.mkdir(exist_ok=True)
    done = completed(
        [sys.executable, *words],
        cwd=place,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(DATE), "TMPDIR": str(scratch), "TZ": zone, **FLAGS},
        umask=umask,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Path, int, str], ...]:
    """Return the sources at two places, the umask and the time zone in which each is built."""
    places = [tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second") / "in a longer, deeper place"]
    first, second = (sources(place / "src", date) for place, date in zip(places, (DATE, DATE + 86_400), strict=True))
    return ((first, 0o022, "UTC"), (second, 0o077, "Asia/Kathmandu"))


def test_source_distributions(twice: tuple[tuple[Path, int, str], ...]) -> None:
    found = []
    for place, umask, zone in twice:
        run(place, umask, zone, "scripts/source_distributions.py", str(place / "made"))
        found.append(digests(place / "made"))
    assert [name.rpartition("-")[0] or name for name in found[0]] == [
        f"rocm_sdk_build-{loader_version}-py3-none",
        "rocm_sdk_build",
        "rocm_sdk_loader",
        f"rocm_sdk_variant_provider-{loader_version}-py3-none",
        "rocm_sdk_variant_provider",
    ]
    assert found[0] == found[1]
    for name in ("rocm_sdk_build", "rocm_sdk_variant_provider"):
        base = f"{name}-{loader_version}"
        with zipfile.ZipFile(twice[0][0] / "made" / f"{base}-py3-none-any.whl") as wheel:
            text = wheel.read(f"{base}.dist-info/sboms/{name}.cdx.json").decode()
            assert f"{base}.dist-info/sboms/{name}.cdx.json," in wheel.read(f"{base}.dist-info/RECORD").decode()
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
        (part,) = json.loads(text)["components"]
        assert part["hashes"][0]["content"] == found[0][f"{base}.tar.gz"]


def test_the_wheel_of_the_loader(twice: tuple[tuple[Path, int, str], ...]) -> None:
    """With debug information, which names the places of sources."""
    found = []
    for place, _, zone in twice:
        run(place, 0o022, zone, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(place / "wheel"), ".")
        found.append(digests(place / "wheel"))
    assert len(found[0]) == 1
    assert found[0] == found[1]
    (path,) = (twice[0][0] / "wheel").iterdir()
    with zipfile.ZipFile(path) as wheel:
        for name in ("rocm_sdk/_native.abi3.so", "rocm_sdk/doctor/load_check"):
            assert MARK in wheel.read(name), f"{name}: is linked without LDFLAGS"


def test_the_tools_of_a_release_are_pinned() -> None:
    """Each with a digest, and all that the extra `wheels` asks for, in a version that it allows."""
    text = (ROOT / "scripts/release-requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[^ ]+( ; .*?)?( +--hash=sha256:[0-9a-f]{64})+", line) for line in lines), lines
    pinned = dict(re.findall(r"^([\w.-]+)==([^ ]+)", text, re.MULTILINE))
    (extra,) = re.findall(r"^wheels = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    wanted = [Requirement(each) for each in re.findall(r'"([^"]+)"', extra)]
    assert "ziglang" in {each.name for each in wanted}
    for each in wanted:
        assert each.specifier.contains(pinned[each.name]), f"{each}: make release-requirements"
