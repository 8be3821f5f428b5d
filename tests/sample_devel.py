"""A site-packages directory with an SDK's packages as pip leaves them, and the wheels that it would install.

The development package has the established layout: `rocm_sdk_devel/_devel.tar[.xz|.zst]`, whose members lie below
`_rocm_sdk_devel<nonce>/`, with links into the runtime packages beside it.
"""

import base64
import csv
import hashlib
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sample_site import clean_environment

from rocm_sdk.base.zstd import import_zstd

VERSION = "7.10.0"
Result = subprocess.CompletedProcess[str]
Files = dict[str, bytes]
Members = list[tuple[tarfile.TarInfo, bytes]]


def member(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """Return a member of an archive; `fields` are attributes of its TarInfo."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mtime = 1_700_000_000
    info.mode = 0o644
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def directory(name: str) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, type=tarfile.DIRTYPE, mode=0o755)


def link(name: str, target: str, **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, **{"type": tarfile.SYMTYPE, "linkname": target, **fields})


def make_archive(members: Members, name: str = "_devel.tar") -> bytes:
    """Return the bytes of an archive, compressed as its name says."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    data = target.getvalue()
    if name.endswith(".xz"):
        return lzma.compress(data, preset=0)
    if name.endswith(".zst"):
        return bytes(import_zstd().compress(data))
    return data


def sample_members(nonce: str = "") -> Members:
    """Return the members of a small tree with one of everything that an archive may hold."""
    tree = f"_rocm_sdk_devel{nonce}"
    core = f"_rocm_sdk_core{nonce}"
    return [
        member(f"{tree}/__init__.py"),
        link(f"{tree}/llvm", "lib/llvm"),
        directory(f"{tree}/empty"),
        directory(f"{tree}/bin"),
        member(f"{tree}/bin/tool", b"#!/bin/sh\n", mode=0o755),
        link(f"{tree}/bin/amdclang", f"../../{core}/bin/amdclang"),
        link(f"{tree}/bin/hipcc", f"../../{core}/bin/hipcc"),
        member(f'{tree}/include/a "quoted", name.h', b"#pragma once\n"),
        member(f"{tree}/include/hip/hip_runtime.h", b"/* hip */\n" * 100),
        member(f"{tree}/include/hip/same.h", type=tarfile.LNKTYPE, linkname=f"{tree}/include/hip/hip_runtime.h"),
        member(f"{tree}/lib/cmake/hip/hip-config.cmake", b"# hip\n"),
        link(f"{tree}/lib/libamdhip64.so", "libamdhip64.so.7"),
        link(f"{tree}/lib/libamdhip64.so.7", f"../../{core}/lib/libamdhip64.so.7"),
        link(f"{tree}/lib/libhiprand.so.1", f"../../_rocm_sdk_libraries{nonce}/lib/libhiprand.so.1"),
        member(f"{tree}/lib/libstatic.a", os.urandom(100_000) * 30),  # large, and compressed at once
        member(f"{tree}/lib/llvm/bin/clang-20", b"\x7fELF", mode=0o755),
    ]


def links_to(files: Files) -> Members:
    """Return the links of the tree to the files of a package: the tree has each of them."""
    names = [name.partition("/")[::2] for name in files if name.startswith("_rocm_sdk_")]
    return [
        link(f"_rocm_sdk_devel/{path}", f"{'../' * (path.count('/') + 1)}{package}/{path}")
        for package, path in names
        if path != "__init__.py"
    ]


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user, and mount file systems")


class DevelSite:
    """The directory and what is done in it. `nonce` ends the names of the platform directories."""

    def __init__(self, path: Path, nonce: str = "") -> None:
        self.path = path
        self.nonce = nonce
        path.mkdir(parents=True, exist_ok=True)

    @property
    def tree(self) -> Path:
        return self.path / f"_rocm_sdk_devel{self.nonce}"

    @property
    def core(self) -> Path:
        return self.path / f"_rocm_sdk_core{self.nonce}"

    def install(self, name: str, files: Files, version: str = VERSION) -> Path:
        """Write the files that pip would, and return RECORD."""
        for path, data in with_metadata(name, files, version).items():
            write(self.path / path, data)
        return self.record(name, version)

    def install_sdk(self, archive: str = "_devel.tar", libraries: bool = True, members: Members | None = None) -> None:
        """Write all packages; `members` replace the sample's members of the archive."""
        self.install("rocm-sdk-core", core_files(self.nonce))
        if libraries:
            self.install("rocm-sdk-libraries", libraries_files(self.nonce))
        self.install_devel(sample_members(self.nonce) if members is None else members, archive)

    def install_devel(self, members: Members, archive: str = "_devel.tar") -> Path:
        return self.install("rocm-sdk-devel", devel_files(make_archive(members, archive), archive))

    def record(self, name: str, version: str = VERSION) -> Path:
        return self.path / f"{name.replace('-', '_')}-{version}.dist-info/RECORD"

    def rows(self, name: str = "rocm-sdk-devel") -> list[str]:
        """Return the paths that a RECORD lists."""
        with self.record(name).open(newline="") as file:
            return [row[0] for row in csv.reader(file)]

    def names(self) -> set[str]:
        """Return the names of everything in the directory."""
        return {str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.name != "__pycache__"}

    def command(self, *words: str, check: bool = True, **options: Any) -> Result:
        """Run `rocm-sdk` with options of subprocess.run."""
        result = subprocess.run(
            [sys.executable, "-m", "rocm_sdk", *words],
            check=False,
            **{"capture_output": True, "text": True, "timeout": 120, "env": self.environment(), **options},
        )
        if check:
            assert result.returncode == 0, result.stderr
        return result

    @property
    def variables(self) -> dict[str, str]:
        """The variables that lead to the directory."""
        return {"PYTHONPATH": str(self.path)}

    def environment(self, **variables: str) -> dict[str, str]:
        return clean_environment() | self.variables | variables


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    if path.parent.name == "bin":
        path.chmod(0o755)
    return path


def core_files(nonce: str = "") -> Files:
    core = f"_rocm_sdk_core{nonce}"
    facts = f"__version__ = '{VERSION}'\nPY_PACKAGE_SUFFIX_NONCE = '{nonce}'\n"
    return {
        "rocm_sdk_core/__init__.py": b"",
        "rocm_sdk_core/_dist_info.py": facts.encode(),
        f"{core}/__init__.py": b"",
        f"{core}/bin/hipcc": b"#!/bin/sh\necho hipcc\n",
        f"{core}/bin/amdclang": b"#!/bin/sh\necho amdclang\n",
        f"{core}/lib/libamdhip64.so.7": b"the HIP runtime",
    }


def libraries_files(nonce: str = "") -> Files:
    libraries = f"_rocm_sdk_libraries{nonce}"
    return {
        "rocm_sdk_libraries/__init__.py": b"",
        f"{libraries}/__init__.py": b"",
        f"{libraries}/lib/libhiprand.so.1": b"random numbers",
    }


def devel_files(archive: bytes, name: str = "_devel.tar") -> Files:
    return {"rocm_sdk_devel/__init__.py": b"", f"rocm_sdk_devel/{name}": archive}


def device_files(
    target: str, nonce: str = "", version: str = VERSION, count: int = 2, more: Files | None = None
) -> Files:
    """Return the files of a device package, with the manifest of their links.

    `more` are further files, by path and content.
    """
    libraries = f"_rocm_sdk_libraries{nonce}"
    names = [f"lib/rocblas/library/{target}_{i}.co" for i in range(count)]
    code = {f"{libraries}/{name}": f"code for {name}".encode() for name in names} | (more or {})
    paths = [name.partition("/")[2] for name in code]
    links = [{"relpath": path, "target": f"{'../' * (path.count('/') + 1)}{libraries}/{path}"} for path in paths]
    manifest = json.dumps({"version": version, "links": links}, indent=2)
    return code | {f"{libraries}/.devel_links/{target}.json": manifest.encode()}


def with_metadata(name: str, files: Files, version: str, headers: str = "") -> Files:
    """Return the files with their dist-info; `headers` are further lines of METADATA."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{headers}\nText: of the description\n"
    wheel = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    complete = files | {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": wheel.encode()}
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for path, data in complete.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([path, f"sha256={digest}", len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    return complete | {f"{info}/RECORD": text.getvalue().encode()}


def make_wheel(folder: Path, name: str, files: Files, version: str = VERSION, headers: str = "") -> Path:
    """Make a wheel that pip and uv install, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for member_name, data in with_metadata(name, files, version, headers).items():
            entry = zipfile.ZipInfo(member_name)
            entry.external_attr = (0o100755 if "/bin/" in member_name else 0o100644) << 16
            wheel.writestr(entry, data)
    return path
