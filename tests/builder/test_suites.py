"""`rocm-sdk-build debian` for another release than this system's: which packages it takes, and from where."""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from ended import assert_failed
from programs import completed
from small_debian import Archive, compile_library

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.building import prefix
from rocm_sdk_build.building.debian import Source, build_wheels
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.inputs import apt as apt_module
from rocm_sdk_build.inputs.debian_packages import choose, newest, offered, release_of, required
from rocm_sdk_build.packages.wish import Wish

Result = subprocess.CompletedProcess[str]


class Mirror:
    """A mirror of unstable in small: an old HIP and a new one, rocBLAS with its data, an RCCL of the old HIP."""

    def __init__(self, directory: Path) -> None:
        self.archive = Archive(directory)
        self.add("libc6", "2.43-1")
        self.add("libamdhip64-5", "5.7.1-7", library="libamdhip64.so.5")
        self.add("libamdhip64-6", "6.4.3-5", library="libamdhip64.so.6")
        self.add("librccl1", "5.4.3-3+b1", ("libamdhip64-5",), library="librccl.so.1")
        self.add("librccl-dev", "5.4.3-3+b1", ("librccl1",), files={"usr/include/rccl/rccl.h": b""})
        data = {"usr/lib/any-linux-gnu/rocblas/4.4.1/library/Kernels.so-000-gfx1100.hsaco": b"not read"}
        self.add("librocblas4", "6.4.4-1", ("libamdhip64-6",), library="librocblas.so.4", files=data)
        self.add("librocblas-dev", "6.4.4-1", ("librocblas4",), files={"usr/include/rocblas/rocblas.h": b""})
        self.publish()

    def add(
        self,
        package: str,
        version: str,
        depends: tuple[str, ...] = (),
        *,
        library: str = "",
        files: dict[str, bytes] | None = None,
        size: int = 0,
    ) -> None:
        """Add a package; `size` is in KiB, and claimed to be taken when the package is installed."""
        paths = {}
        for name, content in (files or {}).items():
            paths[name] = self.archive.directory / "contents" / name
            paths[name].parent.mkdir(parents=True, exist_ok=True)
            paths[name].write_bytes(content)
        if library:
            needed = [self.archive.libraries / "libamdhip64.so.6"] if "libamdhip64-6" in depends else []
            path = compile_library(self.archive.libraries / library, library, needed)
            paths[f"usr/lib/any-linux-gnu/{library}"] = path
        conflicts = {"libamdhip64-6": "libamdhip64-5"}.get(package, "")
        fields = {"Installed-Size": str(size)} if size else {}
        self.archive.add(
            package, depends, paths, version, {**fields, **({"Conflicts": conflicts} if conflicts else {})}
        )

    def publish(self) -> None:
        """Publish as a mirror does: the lists of each suite apart from the packages."""
        self.archive.publish()
        machine = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
        lists = self.archive.directory / f"dists/sid/main/binary-{machine.stdout.strip()}"
        lists.mkdir(parents=True, exist_ok=True)
        text = (self.archive.pool / "Packages").read_text()
        (lists / "Packages").write_text(text.replace("Filename: ./", "Filename: pool/"))
        # The mirror has no signature. Only this file allows that: the product does not.
        with self.archive.apt_conf.open("a") as settings:
            settings.write('Acquire::AllowInsecureRepositories "true";\nAPT::Get::AllowUnauthenticated "true";\n')

    @property
    def address(self) -> str:
        return f"file:{self.archive.directory}"


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system")
    return Mirror(tmp_path / "mirror")


def build(mirror: Mirror, tmp_path: Path, *options: str) -> Result:
    command = [sys.executable, "-m", "rocm_sdk_build", "debian", "--suite", "sid", "--mirror", mirror.address]
    command += ["--cache", str(tmp_path / "cache"), "--output", str(tmp_path / "wheels"), "--no-loader", *options]
    environment = {**os.environ, "APT_CONFIG": str(mirror.archive.apt_conf)}
    return completed(command, env=environment)


def members(wheels: Path) -> set[str]:
    return {name for wheel in wheels.glob("*.whl") for name in zipfile.ZipFile(wheel).namelist()}


@pytest.mark.slow
def test_the_newest_packages_that_fit_each_other(mirror: Mirror, tmp_path: Path) -> None:
    done = build(mirror, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cannot be installed with the others, and are left out: librccl1, librccl-dev\n" in done.stderr
    assert "are not there at present, and are left out: " in done.stderr
    found = members(tmp_path / "wheels")
    assert "_rocm_sdk_core/lib/libamdhip64.so.6" in found
    assert "_rocm_sdk_libraries/lib/rocblas/4.4.1/library/Kernels.so-000-gfx1100.hsaco" in found
    assert not {name for name in found if "librccl" in name or "libamdhip64.so.5" in name}
    assert (tmp_path / "wheels/rocm-6.4.3.tar.gz").exists()
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["sid"]
    assert list((tmp_path / "cache/sid/unpacked").iterdir()) == [], "what is packed is not kept unpacked"
    shutil.rmtree(mirror.archive.pool)
    again = build(mirror, tmp_path)
    assert (again.returncode, again.stdout) == (0, done.stdout)


@pytest.mark.slow
def test_another_mirror(mirror: Mirror, tmp_path: Path) -> None:
    """The lists of the former one do not count."""
    assert build(mirror, tmp_path).returncode == 0
    mirror.archive.directory.rename(tmp_path / "moved")
    mirror.archive.directory = tmp_path / "moved"
    settings = tmp_path / "moved/apt.conf"
    settings.write_text(settings.read_text().replace(f"{tmp_path}/mirror", f"{tmp_path}/moved"))
    mirror.archive.apt_conf = settings
    done = build(mirror, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_mirror_that_cannot_be_reached(mirror: Mirror, tmp_path: Path) -> None:
    shutil.rmtree(mirror.archive.directory / "dists")
    done = build(mirror, tmp_path)
    assert_failed(done, 1, "apt knows no package libamdhip64-N, libamdhip64-dev, hipcc and ")
    assert " more (apt-get: " in done.stderr, "why"
    assert done.stderr.endswith(f"\n  fix: see that {mirror.address} has Debian unstable and can be reached\n")
    assert not (tmp_path / "wheels").exists()


def test_an_output_in_the_way(mirror: Mirror, tmp_path: Path) -> None:
    """The obstacle is seen before anything is downloaded."""
    (tmp_path / "wheels").write_text("")
    done = build(mirror, tmp_path)
    assert (done.returncode, done.stderr.partition("\n")[0]) == (
        1,
        f"rocm-sdk-build: {tmp_path}/wheels: is in the way: it is not a directory",
    )
    assert not [*(tmp_path / "cache/sid").glob("lists/*")]


@pytest.mark.slow
def test_data_for_single_targets(mirror: Mirror, tmp_path: Path) -> None:
    assert build(mirror, tmp_path, "--split").returncode == 0
    (wheel,) = (tmp_path / "wheels").glob("rocm_sdk_device_gfx1100-*.whl")
    assert [name for name in zipfile.ZipFile(wheel).namelist() if "rocblas/4.4.1/library/" in name]


@pytest.mark.slow
def test_some_packages(mirror: Mirror, tmp_path: Path) -> None:
    """The dependencies of the packages come with them."""
    done = build(mirror, tmp_path, "--packages", "librocblas")
    assert done.returncode == 0, done.stderr
    assert "rccl" not in done.stderr
    assert {"_rocm_sdk_core/lib/libamdhip64.so.6", "_rocm_sdk_libraries/lib/librocblas.so.4"} <= members(
        tmp_path / "wheels"
    )


@pytest.mark.parametrize(
    ("options", "message", "fix"),
    [
        (("--packages", "librocblass"), "--packages librocblass: is not one of", "did you mean librocblas"),
        (("--suite", "focal"), "--suite focal: is not a release whose", "--suite sid (Debian unstable)"),
    ],
)
def test_unknown_names(mirror: Mirror, tmp_path: Path, options: tuple[str, ...], message: str, fix: str) -> None:
    done = build(mirror, tmp_path, *options)
    assert_failed(done, 2, message)
    assert fix in done.stderr.partition("fix: ")[2]


def test_a_mirror_without_a_suite(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rocm_sdk_build", "debian", "--mirror", "file:/x", "--output", str(tmp_path)]
    done = completed(command)
    assert (done.returncode, done.stderr) == (
        2,
        "rocm-sdk-build: --mirror is the address of a suite's packages\n  fix: --suite SUITE\n",
    )


@pytest.mark.slow
def test_a_disk_that_is_too_small(mirror: Mirror, tmp_path: Path) -> None:
    mirror.archive.remove("librocblas4")
    mirror.add("librocblas4", "6.4.4-2", ("libamdhip64-6",), library="librocblas.so.4", size=1 << 40)
    mirror.publish()
    assert_failed(build(mirror, tmp_path), 1, f"{tmp_path}/cache/sid: has ", "--cache")
    assert not list((tmp_path / "cache/sid/debs").iterdir()), "nothing is downloaded"


def test_another_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = {"ID": "ubuntu", "PRETTY_NAME": "Ubuntu 24.04.1 LTS", "VERSION_CODENAME": "noble"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: system)
    wish = prefix.PrefixWish(Wish((), tmp_path, "", shape=Shape.NONE))
    with pytest.raises(
        PackagingError, match=r"this is Ubuntu 24\.04\.1 LTS, whose packages of ROCm are not known"
    ) as e:
        build_wheels(Source(tmp_path / "cache"), wish)
    assert "--suite bookworm (Debian 12), --suite trixie (Debian 13), --suite sid (Debian unstable)" in (
        e.value.fix or ""
    )


def test_a_system_without_debians_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt_module, "_KEYRING", tmp_path / "none.gpg")
    wish = prefix.PrefixWish(Wish((), tmp_path, "", shape=Shape.NONE))
    with pytest.raises(PackagingError, match=r"none\.gpg: there is no such file") as error:
        build_wheels(Source(tmp_path / "cache", "sid"), wish)
    assert error.value.fix == "apt-get install debian-archive-keyring"


def test_numbers_of_names() -> None:
    assert (
        newest("libamdhip64-#", ["libamdhip64-5", "libamdhip64-6", "libamdhip64-10", "libamdhip64-dev"])
        == "libamdhip64-10"
    )
    assert newest("libamd-smi#", ["libamd-smi-dev", "libamd-smi27-x"]) is None
    assert "librocblas" in offered(release_of("13"))
    assert "librocblas" not in offered(release_of("bookworm"))


def test_a_stable_release_without_one_of_its_packages() -> None:
    with pytest.raises(
        PackagingError, match=r"apt knows no package libamdhip64-dev, hipcc, libhiprtc-builtinsN and \d+ more$"
    ):
        choose(release_of("bookworm"), (), ["libamdhip64-5"])


@pytest.mark.parametrize(
    ("development", "rows"),
    [
        ("libamdhip64-dev", {"libamdhip64", "libhiprtc-builtins", "libamd-comgr", "libhsa-runtime64"}),
        ("hipcc", {"rocminfo", "libamdhip64", "libhiprtc-builtins", "libamd-comgr", "libhsa-runtime64"}),
        ("liboam-dev", {"liboam"}),
        ("librocrand-dev", {"librocrand", "libamdhip64", "libhiprtc-builtins", "libamd-comgr", "libhsa-runtime64"}),
        ("rocm-cmake", set()),
    ],
)
def test_what_development_packages_require(development: str, rows: set[str]) -> None:
    """As Debian 12 has it; what has no row stays Debian's."""
    depends = {
        "libamdhip64-dev": ("libamdhip64-5", "libhiprtc-builtins5", "libamd-comgr-dev", "libhsa-runtime-dev"),
        "libhsa-runtime-dev": ("libhsa-runtime64-1",),
        "libamd-comgr-dev": ("libamd-comgr2",),
        "libhsa-runtime64-1": ("libhsakmt1", "libelf1"),
        "hipcc": ("clang-15", "llvm-15", "rocm-device-libs", "rocminfo", "libamdhip64-dev"),
        "liboam-dev": ("liboam1",),
        "librocrand-dev": ("librocrand1", "libamdhip64-dev"),
        "clang-15": ("librocsparse-dev",),
    }
    assert required(release_of("12"), [development], depends) == rows


@pytest.mark.slow
def test_some_packages_bring_what_their_development_requires(mirror: Mirror, tmp_path: Path) -> None:
    mirror.add("libhsa-runtime64-1", "6.4.3-1", library="libhsa-runtime64.so.1")
    header, package = "usr/include/hsa/hsa.h", "usr/lib/any-linux-gnu/cmake/hsa-runtime64/hsa-runtime64-config.cmake"
    mirror.add(
        "libhsa-runtime-dev", "6.4.3-1", ("libhsa-runtime64-1",), files={header: b"", package: b"set(hsa_FOUND 1)\n"}
    )
    mirror.add("libamdhip64-dev", "6.4.3-5", ("libamdhip64-6", "libhsa-runtime-dev"))
    mirror.publish()
    done = build(mirror, tmp_path, "--packages", "libamdhip64,librocblas", "--devel-compression", "none")
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "wheels").glob("rocm_sdk_devel-*.whl")
    with zipfile.ZipFile(wheel) as members, tarfile.open(fileobj=members.open("rocm_sdk_devel/_devel.tar")) as tree:
        names = tree.getnames()
    assert "_rocm_sdk_devel/include/hsa/hsa.h" in names
    assert "_rocm_sdk_devel/lib/cmake/hsa-runtime64/hsa-runtime64-config.cmake" in names
