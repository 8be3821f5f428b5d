"""`rocm-sdk-build closure --in-place`: what an environment has afterwards, and that installers go on with it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ended import assert_failed
from environment import HIPSPARSE, MEMBERS, Environment
from programs import completed
from sample_closure import VERSION, names_in
from sample_devel import as_root, device_files, make_wheel
from sample_site import CORE, LIBRARIES, clean_environment

from rocm_sdk import device_code
from rocm_sdk.installed.record import digest_text, read_record
from rocm_sdk_build.files.digest import sha256_of

SPARSE = f"{LIBRARIES}/lib/librocsparse.so.1"
CLOSURE = f"{VERSION}+closure.gfx1030"


def targets(path: Path) -> list[str]:
    return [each.target for each in device_code(path).targets]


def wrong_rows(site: Path) -> list[str]:
    """Return the rows of RECORDs that do not fit their files."""
    rows = [row for record in site.glob("*.dist-info/RECORD") for row in read_record(str(record)).rows]
    missing = [row.path for row in rows if not (site / row.path).exists()]
    return missing + [row.path for row in rows if row.digest and digest_text(sha256_of(site / row.path)) != row.digest]


def test_the_environment_has_the_closure(environment: Environment) -> None:
    before, codes = environment.files(), environment.codes()
    keeps = {
        path: (environment.site / path).stat() for path in ("framework/__init__.py", f"{CORE}/lib/libamdhip64.so.7")
    }
    report = environment.report(*HIPSPARSE)
    assert environment.state == "new"
    assert environment.leftovers() == []
    assert targets(environment.site / SPARSE) == ["gfx1030"]
    assert wrong_rows(environment.site) == []
    assert environment.codes() <= codes
    assert "No broken requirements" in environment.pip("check").stdout
    after = environment.files()
    assert {path for path in before if path.startswith("bin/")} - after.keys() == {"bin/hipcc", "bin/rocminfo"}
    for path, facts in keeps.items():  # the same files, by other names
        assert (environment.site / path).stat().st_ino == facts.st_ino
        assert (environment.site / path).stat().st_nlink == 1
    assert report["in_place"]["scripts"] == ["hipcc", "rocminfo"]  # type: ignore[index]
    assert report["output"] == str(environment.site)


def test_bytes_are_those_of_the_disk(environment: Environment) -> None:
    def used() -> int:
        return int(
            subprocess.run(["du", "-s", "-B1", environment.site], capture_output=True, check=True).stdout.split()[0]
        )

    shutil.rmtree(environment.site / "framework")  # so that a file with a name elsewhere is one of two
    store = environment.prefix / "store"
    os.link(environment.site / LIBRARIES / "lib/libunused.so.1", store)
    unused = store.stat().st_blocks * 512
    before = used()
    found = environment.report(*HIPSPARSE, "--no-proof")["in_place"]
    assert isinstance(found, dict)
    top = environment.site.stat().st_blocks * 512
    assert found["held"] == unused
    assert found["held_files"] == 1
    assert abs(found["before"] + top - before) <= 8192
    assert abs(found["after"] + top - used()) <= 8192
    assert found["freed"] > 100_000
    store.unlink()


def test_the_same_again_changes_nothing(environment: Environment) -> None:
    environment.prune(*HIPSPARSE, "--no-proof")
    files, time = environment.files(), environment.site.stat()
    done = environment.prune(*HIPSPARSE, "--no-proof")
    assert "nothing was left to do" in done.stdout
    assert environment.files() == files
    assert environment.site.stat().st_ino == time.st_ino


def test_less_of_what_is_left(environment: Environment) -> None:
    """A closure of a closure has one version of its own."""
    environment.prune("--library", "rocblas", "--gpu", "gfx1030,gfx90a", "--no-proof")
    environment.prune("--library", "rocsparse", "--gpu", "gfx1030", "--no-proof", check=False)
    environment.prune("--library", "rocblas", "--gpu", "gfx1030", "--no-proof")
    assert {path.name for path in environment.site.glob("rocm_sdk_*.dist-info")} == {
        f"rocm_sdk_{name}-{CLOSURE}.dist-info" for name in ("core", "libraries")
    }
    assert targets(environment.site / LIBRARIES / "lib/librocblas.so.5") == ["gfx1030"]


def test_pip_uninstalls_and_installs_again(environment: Environment, wheels: Path) -> None:
    whole = environment.files()
    environment.prune(*HIPSPARSE, "--no-proof")
    names = ("rocm-sdk-core", "rocm-sdk-libraries", "rocm")
    environment.pip("uninstall", "-q", "-y", *names)
    assert not [name for name in names_in(environment.site) if "hip" in name or "dist_info" in name]
    environment.pip("install", "-q", "--no-index", "--find-links", wheels, f"rocm[libraries]=={VERSION}")
    environment.prune(*HIPSPARSE, "--no-proof")
    environment.pip(
        *("install", "-q", "--no-index", "--no-deps", "--force-reinstall", "--find-links", wheels),
        *(f"{name}=={VERSION}" for name in names),
    )
    differing = {path for path, data in environment.files().items() if whole.get(path) != data}
    assert {Path(path).name for path in differing} <= {"RECORD", "direct_url.json", "REQUESTED"}
    assert environment.files().keys() >= whole.keys() - {path for path in whole if path.endswith("REQUESTED")}


def test_a_kept_tool_keeps_its_command(environment: Environment) -> None:
    environment.prune("--tool", "hipcc", "--no-proof")
    assert (environment.scripts / "hipcc").exists()
    assert not (environment.scripts / "rocminfo").exists()
    record = environment.site / f"rocm_sdk_core-{VERSION}+closure.dist-info/RECORD"
    assert "../../../bin/hipcc," in record.read_text()
    environment.pip("uninstall", "-q", "-y", "rocm-sdk-core")
    assert not (environment.scripts / "hipcc").exists()


def test_directories_and_links_stay_what_they_are(environment: Environment) -> None:
    odd = environment.site / "own"
    odd.mkdir(mode=0o750)
    (odd / "link").symlink_to("nowhere")
    (environment.site / "alias").symlink_to("framework")
    os.chown(odd, 12, 34)
    os.utime(odd, ns=(10**18, 10**18))
    (environment.site / f"{CORE}/own.txt").write_text("of the user")
    environment.prune(*HIPSPARSE, "--no-proof")
    facts = odd.stat()
    assert (facts.st_mode & 0o7777, facts.st_uid, facts.st_gid, facts.st_mtime_ns) == (0o750, 12, 34, 10**18)
    assert (odd / "link").readlink() == Path("nowhere")
    assert (environment.site / "alias").readlink() == Path("framework")
    assert (environment.site / f"{CORE}/own.txt").read_text() == "of the user"


def test_new_files_belong_to_the_owner(environment: Environment) -> None:
    for path in (environment.site, *environment.site.rglob("*")):
        os.chown(path, 1234, 1234, follow_symlinks=False)
    environment.prune(*HIPSPARSE, "--no-proof")
    owners = {path.lstat().st_uid for path in [environment.site, *environment.site.rglob("*")]}
    assert owners == {1234}


def test_a_framework_too(environment: Environment) -> None:
    framework = environment.site / "framework/lib/libframework.so"
    environment.prune("--for", "framework", "--gpu", "gfx1100,gfx1030", "--also", "framework", check=False)
    environment.prune("--for", "framework", "--gpu", "gfx1030", "--also", "framework")
    assert targets(framework) == ["gfx1030"]
    assert not (environment.site / "framework/lib/aotriton.images/amd-gfx90a").exists()
    assert wrong_rows(environment.site) == []
    assert (environment.site / "framework-1.0.dist-info").is_dir()
    again = environment.prune("--for", "framework", "--gpu", "gfx1030", "--also", "framework")
    assert "nothing was left to do" in again.stdout
    environment.pip("uninstall", "-q", "-y", "framework")
    assert not (environment.site / "framework").exists()


def test_an_extracted_development_tree_goes(environment: Environment, wheels: Path) -> None:
    environment.install(wheels, "rocm-sdk-devel")
    assert environment.run("rocm_sdk", "init").returncode == 0
    assert "hip-config.cmake" in names_in(environment.site)
    environment.prune(*HIPSPARSE, "--no-proof")
    assert not [path.name for path in environment.site.iterdir() if "devel" in path.name]
    assert_failed(environment.run("rocm_sdk", "path", "--cmake"), 1, "install", "rocm[devel]")


def test_a_development_tree_that_is_required_stays(environment: Environment, wheels: Path, tmp_path: Path) -> None:
    links = tmp_path / "links"
    make_wheel(links, "rocm-sdk-device-gfx1030", device_files("gfx1030"))
    make_wheel(links, "builder", {"builder.py": b""}, "1", f"Requires-Dist: rocm-sdk-devel=={VERSION}")
    for wheel in wheels.glob("rocm_sdk_devel*"):
        shutil.copy(wheel, links)
    environment.install(links, "builder", "rocm-sdk-device-gfx1030")
    assert environment.run("rocm_sdk", "init").returncode == 0
    environment.prune(*HIPSPARSE, "--no-proof")
    assert "No broken requirements" in environment.pip("check").stdout
    assert (environment.site / f"rocm_sdk_devel-{VERSION}.dist-info").is_dir()
    assert environment.run("rocm_sdk", "path", "--cmake").returncode == 0
    assert {Path(info[0].name).name for info in MEMBERS} <= names_in(environment.site / "_rocm_sdk_devel")


# ---- processes that run meanwhile ----


@pytest.mark.parametrize("way", ["exchange", pytest.param("file by file", marks=as_root)])
def test_a_process_with_replaced_files(environment: Environment, way: str) -> None:
    """A test of the process names the replaced files, by the names under which it loaded them.

    The other files are as they were.
    """
    program = "import rocm_sdk; rocm_sdk.preload_libraries('hipsparse'); print(flush=True); input()"
    command = [str(environment.python), "-c", program]
    with subprocess.Popen(command, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()

        def tested() -> tuple[list[str], list[dict[str, Any]]]:
            """The libraries that are of the SDK, and the problems."""
            words = ("rocm_sdk", "test", "--pid", str(process.pid))
            shown = environment.run(*words).stdout.splitlines()
            problems = json.loads(environment.run(*words, "--json").stdout)["problems"]
            return [line for line in shown if line.endswith("from the SDK")], problems

        libraries, problems = tested()
        assert len(libraries) > 3
        assert problems == []
        words = environment.command(*HIPSPARSE, "--no-proof")
        words = environment.file_by_file(words) if way != "exchange" else words
        subprocess.run(words, env=clean_environment(), stdout=subprocess.DEVNULL, check=True)
        after, problems = tested()
        process.kill()
    assert [(each["code"], each["path"]) for each in problems] == [("E-PROC-003", str(environment.site / SPARSE))]
    assert after == libraries


# ---- refusals ----

REFUSALS = {
    "another SDK is named": (HIPSPARSE, {"ROCM_SDK_ROOT": "{site}"}, "unset ROCM_SDK_ROOT"),
    "a place": ((*HIPSPARSE, "--output", "out"), {}, "leave out --output"),
    "a base": ((*HIPSPARSE, "--base", "scratch"), {}, "leave out --output, --form, --base"),
    "nothing named": ((), {}, "nothing is named that the SDK is for"),
    "no such distribution": ((*HIPSPARSE, "--also", "PyTorch"), {}, "--also PyTorch: "),
    "the SDK as another": ((*HIPSPARSE, "--also", "rocm_sdk_core"), {}, "it is a part of the SDK"),
    "no GPU": (("--library", "hipsparse", "--also", "framework"), {}, "--gpu TARGETS"),
    "unknown library": (("--library", "hipsparze"), {}, "'hipsparze' is not a library of the SDK"),
}

FAILURES = ("another SDK is named",)  # the others are wrong usage


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(environment: Environment, case: str) -> None:
    words, variables, message = REFUSALS[case]
    before = environment.files()
    variables = {name: value.format(site=environment.site) for name, value in variables.items()}
    done = environment.prune(*words, check=False, **variables)
    assert done.returncode == (1 if case in FAILURES else 2)
    assert message in done.stderr
    assert environment.files() == before
    assert environment.leftovers() == []


def test_an_sdk_elsewhere_is_refused(environment: Environment, sdk: Path) -> None:
    done = environment.prune(*HIPSPARSE, check=False, PYTHONPATH=str(sdk))
    assert "which is not of the environment" in done.stderr or "comes from several directories" in done.stderr
    assert environment.state == "old"


def test_an_editable_package_is_refused(environment: Environment) -> None:
    note = environment.site / f"rocm_sdk_core-{VERSION}.dist-info/direct_url.json"
    note.write_text(json.dumps({"url": "file:///x", "dir_info": {"editable": True}}))
    done = environment.prune(*HIPSPARSE, check=False)
    assert "rocm-sdk-core is installed in editable mode" in done.stderr
    assert environment.state == "old"


def test_the_system_is_refused(environment: Environment) -> None:
    """As Debian marks its Python; the environment plays the system."""
    place = str(environment.prefix)
    program = (
        "import sys, sysconfig; sys.prefix = sys.base_prefix; real = sysconfig.get_path;"
        f"sysconfig.get_path = lambda name, *more: {place!r} if name == 'stdlib' else real(name, *more);"
        "from rocm_sdk_build.closure.in_place.environment import find_environment; find_environment()"
    )
    (environment.prefix / "EXTERNALLY-MANAGED").touch()
    done = completed([environment.python, "-c", program])
    (environment.prefix / "EXTERNALLY-MANAGED").unlink()
    assert "belongs to the system's package manager" in done.stderr
