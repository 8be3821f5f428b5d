"""Licences of Debian's packages: what their copyright files say as SPDX expressions, in METADATA and the documents."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.licenses import canonicalize_license_expression

from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.licences import expression_of_all, licences_of_debian
from rocm_sdk_build.packages.sbom import read_sbom
from rocm_sdk_build.packages.wish import Wish

FORMAT = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
STANDALONE = "\nLicense: Expat\n Permission is hereby granted\n .\n Files: *\n License: GPL-3\n"


def files(*licences: str, of: str = "*") -> str:
    return "".join(f"\nFiles: {of}\nCopyright: 2020 somebody\nLicense: {each}\n" for each in licences)


TEXTS = {
    "one": (FORMAT + files("Expat") + STANDALONE, "MIT"),
    "several": (FORMAT + files("Expat\n text", "NCSA", "expat", "BSD-3-Clause"), "BSD-3-Clause AND MIT AND NCSA"),
    "the packaging": (FORMAT + files("Expat") + files("GPL-3+", of="debian/*\n debian/rules"), "MIT"),
    "a pattern of both": (FORMAT + files("Zlib", of="debian/* src/*"), "Zlib"),
    "versions": (
        FORMAT + files("Apache-2.0", "GPL-2+", "LGPL-3.0+"),
        "Apache-2.0 AND GPL-2.0-or-later AND LGPL-3.0-or-later",
    ),
    "or": (FORMAT + files("MPL-1.1 or GPL-2+", "Expat"), "MIT AND (MPL-1.1 OR GPL-2.0-or-later)"),
    "a comma": (FORMAT + files("GPL-2 or Expat, and ISC"), "(GPL-2.0-only OR MIT) AND ISC"),
    "not in the table": (FORMAT + files("Expat", "Khronos"), "LicenseRef-Khronos AND MIT"),
    "no one text": (FORMAT + files("MIT"), "LicenseRef-MIT"),
    "an exception": (FORMAT + files("GPL-3+ with Bison exception"), "LicenseRef-GPL-3-or-later-with-Bison-exception"),
    "old address": (FORMAT.replace("https", "http").rstrip("/\n") + "\n" + files("ISC"), "ISC"),
    "empty name": (FORMAT + files(""), "LicenseRef-unknown"),
    "free text": ("This package was debianized by somebody.\n\nLicense: Expat\n", None),
    "no format": ("Source: x\n" + files("Expat"), None),
    "another format": (FORMAT.replace("1.0", "2.0") + files("Expat"), None),
    "nothing of files": (FORMAT + STANDALONE, None),
    "empty": ("", None),
    "names without end": (FORMAT + files(*(f"own-{number}" for number in range(101))), None),
    "a name without end": (FORMAT + files("MIT" + ".0" * 400_000 + "x"), None),
    "a large file": (FORMAT + files("Expat") + "#" * (1 << 20), None),
}


@pytest.mark.parametrize("case", TEXTS)
def test_expressions(tmp_path: Path, case: str) -> None:
    text, expected = TEXTS[case]
    (tmp_path / "copyright").write_text(text)
    assert licences_of_debian({"share/doc/libx1/copyright": tmp_path / "copyright"}) == {"libx1": expected}


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "copyright").write_bytes(FORMAT.encode() + b"\nFiles: \xff*\nLicense: \xfe\x00 AND (\n")
    found = licences_of_debian({"share/doc/libx1/copyright": tmp_path / "copyright"})
    assert found == {"libx1": "LicenseRef-AND"}


def test_the_table() -> None:
    """Each row has an identifier that SPDX has, a source, and a name of its own."""
    table = Path(__file__).parents[2] / "builder/rocm_sdk_build/packages/debian_licences.txt"
    rows = [line.split() for line in table.read_text().splitlines() if line and not line.startswith("#")]
    assert len({name.lower() for name, _, _ in rows}) == len(rows)
    for _, identifier, source in rows:
        assert canonicalize_license_expression(identifier) == identifier
        assert source in {"dep5", "spdx"}


def test_a_whole_package(tmp_path: Path) -> None:
    """Nothing is said of it where a part is unknown."""
    paths = {}
    for name, text in (("a", files("Expat", "NCSA")), ("b", files("NCSA", "Zlib or ISC"))):
        (tmp_path / name).write_text(FORMAT + text)
        paths[f"share/doc/{name}/copyright"] = tmp_path / name
    assert expression_of_all(paths) == "MIT AND NCSA AND (Zlib OR ISC)"
    (tmp_path / "c").write_text(FORMAT + files("Khronos"))
    assert expression_of_all({**paths, "share/doc/c/copyright": tmp_path / "c"}) is None
    (tmp_path / "c").write_text("text")
    assert expression_of_all({**paths, "share/doc/c/copyright": tmp_path / "c"}) is None
    assert expression_of_all({**paths, "share/doc/c/LICENSE": tmp_path / "a"}) is None
    assert expression_of_all({}) is None


def test_packages_say_it(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    tree.file("blas_lib_generic", "share/doc/librocblas5/copyright", FORMAT + files("Expat"))
    tree.file("base_lib_generic", "share/doc/libnuma1/copyright", "free text\n")
    wheels = build(Wish([tree.root], tmp_path / "out", "7.10.0", is_checked=False), read_rules())
    said: dict[str, tuple[list[str], dict[str, object]]] = {}
    for wheel in (each for each in wheels if each.suffix == ".whl"):
        with zipfile.ZipFile(wheel) as archive:
            metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
            document = next(archive.read(name) for name in archive.namelist() if "/sboms/" in name)
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(document.decode()) is None
        assert read_sbom(document).digests
        components = json.loads(document)["components"]
        licences = {each["name"]: each.get("licenses") for each in components if each["bom-ref"].startswith("debian:")}
        said[wheel.name.partition("-")[0]] = (re.findall("(?m)^License-Expression: (.*)$", metadata), licences)
    assert said["rocm_sdk_libraries"] == (["MIT"], {"librocblas5": [{"expression": "MIT"}]})
    assert said["rocm_sdk_core"] == ([], {"libnuma1": None})
