"""The metadata of wheels: METADATA, licences, the platform tag."""

import platform
import subprocess
import sys
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from packaging.metadata import Metadata

from rocm_sdk import _native
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.wheels import writing
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.platform_tag import Names, Needs, needs_of, policies, tag_of
from rocm_sdk_build.packages.wish import Wish

VERSION = "7.10.0"
MACHINE = platform.machine()
RULES = Path(__file__).resolve().parents[2] / "builder/rocm_sdk_build/inputs/rules.txt"
LICENCES = {
    "core-hip_doc_generic": ("share/doc/hip/LICENSE.md", "MIT"),
    "base_run_generic": ("share/doc/base/copyright", "NCSA"),
    "blas_doc_generic": ("share/doc/rocblas/LICENSE.md", "BSD"),
    "blas_dev_generic": ("include/rocblas/license.h", "no licence"),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> ArtifactTree:
    tree = usual_tree(tmp_path_factory.mktemp("metadata") / "artifacts")
    for artifact, (path, text) in LICENCES.items():
        tree.file(artifact, path, text)
    return tree


@pytest.fixture(scope="module")
def wheels(tree: ArtifactTree) -> dict[str, Path]:
    """Return the wheels by their distributions."""
    rules = tree.root.parent / "rules.txt"
    rules.write_text(
        f"{RULES.read_text()}metadata core License-Expression MIT AND NCSA\nmetadata all Author  An Author # of it\n"
    )
    made = build(Wish([tree.root], tree.root.parent, VERSION), read_rules(rules))
    return {path.name.partition("-")[0]: path for path in made if path.suffix == ".whl"}


def text_of(wheel: Path, name: str) -> str:
    base = "-".join(wheel.name.split("-")[:2])
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"{base}.dist-info/{name}").decode()


def headers(wheel: Path) -> Message:
    return message_from_string(text_of(wheel, "METADATA"))


def test_metadata_is_valid_and_complete(wheels: dict[str, Path]) -> None:
    for name, wheel in wheels.items():
        found = Metadata.from_email(text_of(wheel, "METADATA"), validate=True)
        assert (found.metadata_version, found.name, str(found.version)) == ("2.4", name.replace("_", "-"), VERSION)
        assert (found.description_content_type, found.author) == ("text/markdown", "An Author # of it")
        assert found.summary
        assert found.description
        assert "Environment :: GPU" in (found.classifiers or [])
        assert str(found.requires_python) == ">=3.10"
        assert found.keywords == ["ROCm", "HIP", "AMD", "GPU"]
    assert headers(wheels["rocm_sdk_core"])["License-Expression"] == "MIT AND NCSA"
    assert headers(wheels["rocm_sdk_libraries"])["License-Expression"] is None


@pytest.mark.slow
def test_licences_of_the_tree(wheels: dict[str, Path]) -> None:
    hip, base, blas = (path for path, text in LICENCES.values() if text != "no licence")
    for name, expected in {
        "rocm_sdk_core": [base, hip],
        "rocm_sdk_libraries": [blas],
        "rocm_sdk_device_gfx942": [blas],
        "rocm_sdk_devel": [base, hip, blas],
        "rocm_profiler": None,
    }.items():
        assert headers(wheels[name]).get_all("License-File") == expected, name
        for path in expected or ():
            assert text_of(wheels[name], f"licenses/{path}") in ("MIT", "NCSA", "BSD")


def test_rules_of_metadata(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    for line, told in {
        "metadata core License-Expression GPL AND": "1: ",
        "metadata core Version 1": "'Version' is none of Author",
        "metadata nucleus Author x": "'nucleus' is none of core",
        "metadata core Author": "is not a rule",
    }.items():
        rules.write_text(f"{line}\n")
        with pytest.raises(PackagingError, match=told):
            read_rules(rules)


# ---- the platform


def compiled(path: Path, source: str, *flags: str) -> Path:
    language = "c++" if "-lstdc++" in flags else "c"
    command = ["gcc", "-shared", "-fPIC", "-x", language, "-", "-x", "none", *flags, "-o", str(path)]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def test_the_tag_is_that_of_what_files_need(wheels: dict[str, Path], tree: ArtifactTree) -> None:
    """Small programs for commands and links change nothing. A wheel without such files is for their processor."""
    newest = _native.inspect_library(tree.root / "base_run_generic/x/stage/bin/rocminfo").newest_glibc or ""
    tags = {name: wheel.stem.split("-")[-1] for name, wheel in wheels.items()}
    for name, wheel in wheels.items():
        assert text_of(wheel, "WHEEL").endswith(f"Tag: py3-none-{tags[name]}\n")
    assert int(newest.partition(".")[2]) <= int(tags["rocm_sdk_core"].split("_")[2])
    assert tags["rocm_sdk_libraries"] == policies()[0].tag.replace(policies()[0].machine, MACHINE)
    assert tags["rocm_sdk_device_gfx942"] == tags["rocm_sdk_libraries"], "it is for the processor of its libraries"


OLD = "int f(void) { return 1; }"
NEW = "#include <pthread.h>\nvoid *f(void) { return pthread_create; }"
STREAM = "#include <iostream>\nvoid f() { std::cout << 1; }"
MISSING = "extern int g; int f(void) { return g; }"


@pytest.mark.parametrize("name", ["old", "new", "stream", "missing"])
def test_auditwheel_agrees(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    source = {"old": OLD, "new": NEW, "stream": STREAM, "missing": MISSING}[name]
    other = compiled(tmp_path / "libg.so.1", "int g;", "-Wl,-soname,libg.so.1")
    flags = {"stream": ("-lstdc++",), "missing": (str(other),)}.get(name, ())
    library = compiled(tmp_path / "libf.so", source, *flags)
    (tmp_path / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
    wheel = tmp_path / f"x-1.0-py3-none-linux_{MACHINE}.whl"
    with writing(wheel, "x-1.0.dist-info") as unfinished:
        unfinished.add_file("x/libf.so", library)
        unfinished.add_file("x-1.0.dist-info/WHEEL", tmp_path / "WHEEL")
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    told = "".join(subprocess.check_output(command, text=True).split())
    ours = tag_of(name, needs_of([library], Names()), "")
    assert f'platformtag:"{ours}"' in told or f'tag:"{ours}"' in told, told
    assert (ours == f"linux_{MACHINE}") == (name == "missing")
    warning = f"missing: {library} needs libg.so.1, which neither the SDK nor every system has (--platform-tag tells"
    assert caplog.messages == ([f"{warning} what it is for)"] if name == "missing" else [])


def test_libraries_of_the_sdk_are_there(tmp_path: Path) -> None:
    other = compiled(tmp_path / "libg.so.1", "int g;", "-Wl,-soname,libg.so.1")
    library = compiled(tmp_path / "libf.so", MISSING, str(other))
    assert needs_of([library], Names(frozenset({"libg.so.1"}))).missing == {}
    assert needs_of([library, other], Names()).missing == {}


def test_policies() -> None:
    assert {policy.machine for policy in policies()} == {"x86_64", "aarch64"}
    needs = Needs(frozenset({"aarch64"}), frozenset(), {})
    assert tag_of("x", needs, "") == "manylinux_2_17_aarch64"
    for version, tag in {
        "GLIBC_2.17": "manylinux_2_17_aarch64",
        "GLIBC_2.33": "manylinux_2_34_aarch64",
        "GLIBCXX_3.4.29": "manylinux_2_34_aarch64",
        "GLIBC_ABI_DT_RELR": "manylinux_2_36_aarch64",
        "GLIBC_PRIVATE": "linux_aarch64",
        "GLIBC_2.99": "linux_aarch64",
    }.items():
        assert tag_of("x", needs._replace(versions=frozenset({version})), "") == tag, version
    assert tag_of("x", needs._replace(machines=frozenset()), "linux_x86_64") == "linux_x86_64"
    with pytest.raises(PackagingError, match="x: has programs for several processors: aarch64, x86_64"):
        tag_of("x", needs._replace(machines=frozenset({"x86_64", "aarch64"})), "")


@pytest.mark.parametrize("how", ["option", "variable"])
def test_another_tag(tree: ArtifactTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    wish = Wish([tree.root], tmp_path, VERSION, is_checked=False)
    if how == "option":
        wish = wish._replace(platform_tag="manylinux_2_28_x86_64")
    else:
        monkeypatch.setenv("ROCM_SDK_WHEEL_PLATFORM_TAG", "manylinux_2_28-x86_64")
    for wheel in build(wish, read_rules()):
        assert wheel.suffix != ".whl" or wheel.stem.endswith("-py3-none-manylinux_2_28_x86_64")
    with pytest.raises(PackagingError, match="is not a platform tag"):
        build(wish._replace(platform_tag="../x"), read_rules())
