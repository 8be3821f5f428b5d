"""Files of device packages in the tree: `rocm_sdk._devel._reconcile_device_links`, and what `path` and `init` do."""

import csv
import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Callable

import pytest
from other_user import OtherUser
from programs import completed
from sample_devel import DevelSite, as_root, device_files, libraries_files, write

from rocm_sdk import _devel

MakeSite = Callable[..., DevelSite]
NONCE = "_test"
SDK = "0.0.1.test"


def reconcile(site: DevelSite, version: str = SDK, warning: str | None = None) -> int:
    """Return the number of links that one call made."""
    code = "import sys; from pathlib import Path; from rocm_sdk._devel import _reconcile_device_links as call\n"
    code += "print(call(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))"
    command = [sys.executable, "-c", code, str(site.path), str(site.tree), version]
    run = completed(command, env=site.environment())
    assert run.returncode == 0, run.stderr
    assert (warning in run.stderr) if warning else run.stderr == ""
    return int(run.stdout)


def install_device(site: DevelSite, target: str, version: str = SDK, **options: int) -> None:
    site.install(f"rocm-sdk-device-{target}", device_files(target, site.nonce, version, **options), version)


def rows(site: DevelSite, target: str, version: str = SDK) -> list[str]:
    """Return the rows in the tree that a device package's RECORD has."""
    with site.record(f"rocm-sdk-device-{target}", version).open(newline="") as file:
        return [row[0] for row in csv.reader(file) if row[0].startswith(site.tree.name)]


def device_file(target: str, number: int = 0) -> str:
    return f"lib/rocblas/library/{target}_{number}.co"


@pytest.fixture
def site(make_site: MakeSite) -> DevelSite:
    """Return a tree that some program extracted, and one device package."""
    site = make_site(NONCE)
    write(site.tree / "__init__.py", b"")
    install_device(site, "gfx942")
    return site


def check_linked(site: DevelSite, target: str = "gfx942", version: str = SDK) -> None:
    names = [device_file(target, i) for i in range(2)]
    for name in names:
        assert (site.tree / name).samefile(site.path / f"_rocm_sdk_libraries{site.nonce}" / name)
        assert not (site.tree / name).is_symlink()
    assert sorted(rows(site, target, version)) == [f"{site.tree.name}/{name}" for name in names]


def test_links_are_made_and_recorded(site: DevelSite) -> None:
    assert reconcile(site) == 2
    check_linked(site)


def test_again_is_nothing(site: DevelSite) -> None:
    reconcile(site)
    record = site.record("rocm-sdk-device-gfx942", SDK).read_bytes()
    assert reconcile(site) == 0
    assert site.record("rocm-sdk-device-gfx942", SDK).read_bytes() == record


def test_a_second_package_later(site: DevelSite) -> None:
    """Also when the directory seems unchanged."""
    before = site.path.stat()
    assert reconcile(site) == 2
    install_device(site, "gfx1100")
    os.utime(site.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert reconcile(site) == 2
    check_linked(site)
    check_linked(site, "gfx1100")


@pytest.mark.parametrize(
    ("package", "sdk", "linked"),
    [
        ("7.14.0", "7.14.0", True),
        ("7.14.0", "7.14.0.post1", True),
        ("7.14.0.post1", "7.14.0.post2", True),
        ("7.14.0rc1", "7.14.0rc1.post1", True),
        ("9.9.9", SDK, False),
        ("7.14.1", "7.14.0.post1", False),
        ("7.14.0", "7.14.0rc1", False),
        ("7.14.0", "7.14.0.dev1", False),
    ],
)
def test_versions(make_site: MakeSite, package: str, sdk: str, linked: bool) -> None:
    site = make_site(NONCE)
    write(site.tree / "__init__.py", b"")
    install_device(site, "gfx942", package)
    warning = None if linked else f"rocm-sdk-device-gfx942 {package} does not belong to version {sdk}"
    assert reconcile(site, sdk, warning) == (2 if linked else 0)
    assert (site.tree / device_file("gfx942")).exists() == linked
    assert reconcile(site, sdk) == 0, "and it is said once"


def test_record_is_completed(site: DevelSite) -> None:
    """A link that is there and not listed; a row that is there twice."""
    target = site.tree / device_file("gfx942")
    target.parent.mkdir(parents=True)
    target.hardlink_to(site.path / f"_rocm_sdk_libraries{NONCE}" / device_file("gfx942"))
    record = site.record("rocm-sdk-device-gfx942", SDK)
    row = f"{site.tree.name}/{device_file('gfx942', 1)},,\n"
    record.write_text(record.read_text() + row + row)
    assert reconcile(site) == 1
    check_linked(site)


@pytest.mark.parametrize("kind", ["symlink", "file", "dangling"])
def test_what_is_in_the_way_is_replaced(site: DevelSite, kind: str) -> None:
    target = site.tree / device_file("gfx942")
    target.parent.mkdir(parents=True)
    if kind == "file":
        target.write_text("stale")
    else:
        target.symlink_to(
            site.path / f"_rocm_sdk_libraries{NONCE}" / device_file("gfx942") if kind == "symlink" else "x"
        )
    assert reconcile(site) == 2
    check_linked(site)


def test_links_of_a_removed_package_go(site: DevelSite) -> None:
    install_device(site, "gfx1100")
    reconcile(site)
    for info in site.path.glob("rocm_sdk_device_gfx942-*"):
        shutil.rmtree(info)
    assert reconcile(site) == 0
    assert not (site.tree / device_file("gfx942")).exists()
    check_linked(site, "gfx1100")
    shutil.rmtree(next(site.path.glob("rocm_sdk_device_gfx1100-*")))
    reconcile(site)
    assert not (site.tree / "lib").exists(), "nor is an empty directory left"


def test_a_reinstalled_package_is_linked_again(site: DevelSite) -> None:
    reconcile(site)
    install_device(site, "gfx942")  # new files, and a RECORD without our rows
    assert reconcile(site) == 2
    check_linked(site)


@pytest.mark.parametrize("moment", [0, 1, 4_000_000_000])
def test_a_clock_that_jumps(site: DevelSite, moment: int) -> None:
    """A package that is installed "long ago", or "in the future", is noticed like anything else."""
    reconcile(site)
    install_device(site, "gfx1100")
    for path in [site.path, *site.path.rglob("*")]:
        os.utime(path, (moment, moment))
    assert reconcile(site) == 2
    check_linked(site, "gfx1100")
    assert reconcile(site) == 0


def edit_manifest(site: DevelSite, text: str) -> None:
    write(site.path / f"_rocm_sdk_libraries{NONCE}/.devel_links/gfx942.json", text.encode())


@pytest.mark.parametrize(
    ("relative", "text"),
    [
        ("../evil", "../_rocm_sdk_libraries_test/lib/a"),
        ("/evil", "../_rocm_sdk_libraries_test/lib/a"),
        ("evil", "/etc/passwd"),
        ("evil", "../../etc/passwd"),
        ("evil", "../_rocm_sdk_libraries_test/../../x"),
        ("evil", "../_rocm_sdk_libraries/lib/a"),
        ("evil", "../torch/__init__.py"),
        ("evil", "__init__.py"),
    ],
)
def test_links_that_leave_the_packages_are_refused(site: DevelSite, relative: str, text: str) -> None:
    good = {"relpath": device_file("gfx942"), "target": f"../../../../_rocm_sdk_libraries_test/{device_file('gfx942')}"}
    edit_manifest(site, json.dumps({"version": SDK, "links": [{"relpath": relative, "target": text}, good]}))
    assert reconcile(site, warning="is refused") == 1
    assert rows(site, "gfx942") == [f"{site.tree.name}/{device_file('gfx942')}"]
    assert not list(site.path.parent.rglob("evil"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"links": 3}', '{"links": [{"relpath": "a"}]}', '{"links": [7]}'])
def test_a_damaged_manifest_is_told(site: DevelSite, text: str) -> None:
    edit_manifest(site, text)
    assert reconcile(site, warning="gfx942.json is damaged") == 0


def test_a_directory_that_leads_out_of_the_tree(site: DevelSite) -> None:
    outside = site.path / "outside"
    outside.mkdir()
    (site.tree / "lib").symlink_to(outside)
    assert reconcile(site, warning="cannot be linked") == 0
    assert not any(path.is_file() for path in outside.rglob("*"))


def test_with_the_development_package(devel_site: DevelSite) -> None:
    """The links are in the tree from its first moment; packages come and go later."""
    install_device(devel_site, "gfx942", "7.10.0")
    assert devel_site.command("init").stderr.count("\n") == 1
    check_linked(devel_site, version="7.10.0")
    install_device(devel_site, "gfx1100", "7.10.0.post3")
    devel_site.command("path", "--bin")
    check_linked(devel_site, "gfx1100", "7.10.0.post3")
    (devel_site.tree / device_file("gfx1100")).unlink()
    devel_site.command("path", "--root")
    assert not (devel_site.tree / device_file("gfx1100")).exists(), "the quick way looks at the stamp only"
    devel_site.command("init")
    check_linked(devel_site, "gfx1100", "7.10.0.post3")


def test_the_quick_way_takes_no_lock(devel_site: DevelSite) -> None:
    install_device(devel_site, "gfx942", "7.10.0")
    devel_site.command("init")
    with (devel_site.path / ".rocm_sdk_devel.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        started = time.monotonic()
        assert devel_site.command("path", "--root").stdout == f"{devel_site.tree}\n"
        assert time.monotonic() - started < 10
        result = devel_site.command("init", "--timeout", "0.2", check=False)
        assert result.returncode == 1


@as_root
def test_an_environment_of_another_user(open_site: DevelSite, other_user: OtherUser) -> None:
    """The tree is usable, although its links cannot be updated."""
    open_site.install_sdk(libraries=False)
    open_site.command("init")
    open_site.install("rocm-sdk-libraries", libraries_files())
    result = other_user.run("-m", "rocm_sdk", "path", "--root", **open_site.variables)
    assert (result.returncode, result.stdout) == (0, f"{open_site.tree}\n"), result.stderr
    assert "not writable" in result.stderr


def test_only_device_packages_must_be_of_the_same_version(devel_site: DevelSite) -> None:
    devel_site.install("rocm-sdk-profiler", {"rocm_sdk_profiler/__init__.py": b""}, "7.9.0")
    assert "does not belong" not in devel_site.command("init").stderr


def test_the_established_name_of_the_comparison_without_post_releases() -> None:
    versions = ("7.14.0", "7.14.0.post1", "7.14.0rc1.post1", "7.14.0.dev1")
    assert [_devel._without_post_release(each) for each in versions] == ["7.14.0", "7.14.0", "7.14.0rc1", "7.14.0.dev1"]
