"""Reports about device files, groups and containers: each is made for real, and the kernel is the judge."""

import fcntl
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from other_user import OtherUser, need_user_namespaces
from own_mounts import mounted, need_mounts
from sample_machine import TOPOLOGY, Machine, machine_of
from sample_report import install, run_test
from sample_runtime import runtime
from sample_site import Site, clean_environment

FILTER = Path(__file__).with_name("filtered.py")
FACCESSAT2 = "439"  # on each architecture
USER, GROUP, OTHER_GROUP = 1000, 993, 994
KFD, RENDER = "dev/kfd", "dev/dri/renderD129"
NUMBERS = "Character devices:\n  1 mem\n234 kfd\n226 drm\n\nBlock devices:\n235 kfd\n"
KERNEL_LOG = (1, 11)  # /dev/kmsg: the kernel answers EPERM where dmesg_restrict is set, whatever the mode
HIP_WITH_ONE_GPU = "int hipInit(unsigned f) { return 0 * f; } int hipGetDeviceCount(int *n) { *n = 1; return 0; }"
NEW, OLD, OLDEST = 2 << 12, 1 << 12, 0  # types of doorbells in `capability`


class Asked:
    """A machine, and the user who asks for its GPUs."""

    def __init__(self, user: OtherUser, root: Path) -> None:
        self._user = user
        self.filtered = (user.python, shutil.copy(FILTER, root), FACCESSAT2, "--")  # where he can read it
        self.machine = machine_of(root / "machine", "gfx1030")
        self.root = self.machine.root
        self.protect(0, 0o666)

    def gpu(self, node: int, target: str, **properties: int) -> None:
        """Add a GPU, or replace one, which everybody may use."""
        self.machine.gpu(node, target, **properties)
        self.protect(0, 0o666, f"dev/dri/renderD{128 + node}")

    def protect(self, group: int, mode: int, *names: str, owner: int = 0) -> None:
        for name in names or (KFD, RENDER):
            os.chown(self.root / name, owner, group)
            (self.root / name).chmod(mode)

    def device(self, name: str, major: int, minor: int, mode: int = 0o666) -> Path:
        """Replace a file by a device."""
        path = self.root / name
        path.unlink(missing_ok=True)
        try:
            os.mknod(path, stat.S_IFCHR | mode, os.makedev(major, minor))
        except PermissionError:
            pytest.skip("root may make no device files here")
        path.chmod(mode)
        return path

    def ask(
        self, *words: str, groups: tuple[int, ...] = (), before: tuple[str | Path, ...] = (), **variables: str
    ) -> subprocess.CompletedProcess[str]:
        variables = {"ROCM_SDK_ROOTFS": str(self.root)} | variables
        words = ("-m", "rocm_sdk", "gpus", *words)
        return self._user.run(*words, user=USER, groups=groups, before=before, **variables)

    def refused(self, *words: str, **ways: object) -> str:
        result = self.ask(*words, **ways)  # type: ignore[arg-type]
        assert result.returncode == 1, result.stdout + result.stderr
        return result.stderr

    def silent(self, *words: str, **ways: object) -> None:
        for each in (words, (*words, "--require"), (*words, "--require=all")):
            result = self.ask(*each, **ways)  # type: ignore[arg-type]
            assert (result.returncode, result.stderr) == (0, ""), each


@pytest.fixture
def asked(other_user: OtherUser, open_directory: Path) -> Asked:
    return Asked(other_user, open_directory)


# ---- numbers


def test_5379_numbers_of_another_driver(asked: Asked) -> None:
    kfd = asked.device(KFD, 511, 0)
    result = asked.ask()
    assert (result.returncode, result.stderr) == (0, ""), "nothing tells the driver's number"
    assert f"{kfd}: cannot be opened: No such device or address" in asked.refused("--require")
    asked.machine.write("proc/devices", NUMBERS)
    said = asked.refused()
    assert f"{kfd}: its numbers are 511:0, and kfd has 234:0 (/proc/devices) [W-GPU-017]" in said
    asked.protect(GROUP, 0o660, KFD)
    fix = re.search(r"fix: (.*)", asked.refused())
    assert fix is not None
    subprocess.run(["sh", "-c", fix[1].replace("sudo ", "")], check=True)
    found = kfd.stat()
    assert (found.st_rdev, found.st_gid) == (os.makedev(234, 0), GROUP)
    assert stat.S_IMODE(found.st_mode) == 0o660
    result = asked.ask(groups=(GROUP,))
    assert (result.returncode, result.stderr) == (0, "")
    assert not kfd.with_name("kfd.new").exists()


def test_4043_a_stale_node_in_a_container(asked: Asked) -> None:
    asked.device(KFD, 511, 0)
    asked.machine.write("proc/devices", NUMBERS)
    asked.machine.write(".dockerenv")
    assert "fix: Start the container with --device=/dev/kfd" in asked.refused()
    asked.machine.write("run/systemd/container", "lxc\n")
    said = asked.refused()
    assert "lxc.cgroup2.devices.allow = c 234:0 rwm" in said
    assert "dev0: /dev/kfd (Proxmox)" in said


@pytest.mark.parametrize("numbers", [(234, 1), (235, 0)])
def test_each_number_counts(asked: Asked, numbers: tuple[int, int]) -> None:
    asked.device(KFD, *numbers)
    asked.machine.write("proc/devices", NUMBERS)
    assert f"its numbers are {numbers[0]}:{numbers[1]}, and kfd has 234:0" in asked.refused()


def test_right_numbers_and_plain_files_are_silent(asked: Asked) -> None:
    asked.machine.write("proc/devices", NUMBERS)
    asked.silent()
    asked.device(KFD, 234, 0)
    result = asked.ask()
    assert (result.returncode, result.stderr) == (0, "")
    asked.machine.write("proc/devices", "Character devices:\n  1 mem\n")
    result = asked.ask()
    assert (result.returncode, result.stderr) == (0, ""), "nothing is compared without the driver's line"


def test_3866_the_driver_answers_with_an_error(asked: Asked) -> None:
    """EINVAL or ENODEV with right numbers is the driver's: no group, no container."""
    asked.device(KFD, 234, 0)
    asked.machine.write("proc/devices", NUMBERS)
    said = asked.refused("--require")
    assert "cannot be opened: No such device or address" in said
    assert "dmesg" in said


# ---- doorbells


@pytest.fixture
def old_and_new(asked: Asked) -> Asked:
    asked.gpu(1, "gfx1030", capability=NEW)
    asked.gpu(2, "gfx803", capability=OLD)
    return asked


@pytest.fixture(name="site")
def _site(open_directory: Path) -> Site:
    """Return a directory that the user may read."""
    return Site(open_directory / "site-packages")


def _sdk(site: Site, version: str, *texts: str) -> dict[str, str]:
    runtime(site, *texts)
    for each in site.path.glob("rocm_sdk_core/_dist_info.py"):
        each.write_text(each.read_text().replace("7.10.0", version))
    return {"PYTHONPATH": str(site.path)}


ENDS, SKIPS = "GPU node uses a deprecated doorbell type\\n", "GPU node uses unsupported doorbell type "


@pytest.mark.parametrize(
    ("version", "text"), [("7.0.2", "none"), ("7.2.1", "none"), ("7.14.0", "none"), ("10.0.0", ENDS), ("7.2.1", ENDS)]
)
def test_8801_an_old_gpu_beside_a_newer_one(old_and_new: Asked, site: Site, version: str, text: str) -> None:
    sdk = _sdk(site, version, text)
    for more in ({}, {"ROCR_VISIBLE_DEVICES": "0"}):
        said = old_and_new.refused(**sdk, **more)
        assert "the GPU gfx803 makes ROCm find no GPU: node 2 has doorbells of an older type" in said
        assert "[W-GPU-038]" in said
        assert "rocm-systems 4936" in said
        assert "ROCR_VISIBLE_DEVICES does not help" in said
    assert "[W-GPU-038]" in old_and_new.refused("--require", **sdk)
    old_and_new.gpu(2, "gfx701", capability=OLDEST)
    assert "the GPU gfx701 makes" in old_and_new.refused(**sdk)
    (old_and_new.root / "dev/dri/renderD130").unlink()
    result = old_and_new.ask(**sdk)
    assert result.returncode == 0, "it is kept out of the container"
    assert "W-GPU-038" not in result.stderr


@pytest.mark.parametrize(
    ("version", "text"), [("6.4.2", "none"), ("10.0.0", "none"), ("10.1.0", SKIPS), ("7.14.0", SKIPS)]
)
def test_8801_other_releases(old_and_new: Asked, site: Site, version: str, text: str) -> None:
    old_and_new.silent(**_sdk(site, version, text))


def test_8801_without_an_sdk_and_alone(old_and_new: Asked, site: Site) -> None:
    old_and_new.silent()
    old_and_new.gpu(1, "gfx803", capability=OLD)
    old_and_new.silent(**_sdk(site, "7.2.1", ENDS))


# ---- single GPUs of a machine


def test_2860_one_of_four_render_nodes_is_given(asked: Asked) -> None:
    for node in (2, 3, 4):
        asked.gpu(node, "gfx1030")
        (asked.root / f"dev/dri/renderD{128 + node}").unlink()
    result = asked.ask()
    assert result.returncode == 0
    assert "other GPUs of this machine are not for this process (and 2 more)" in result.stderr
    assert "[N-GPU-037]" in result.stderr
    assert "fix:" not in result.stderr, "the isolation is meant"
    result = asked.ask("--require")
    assert (result.returncode, result.stderr) == (0, "")
    assert "[N-GPU-037]" in asked.refused("--require=all")
    (asked.root / RENDER).unlink()
    assert "[W-GPU-018]" in asked.refused(), "no GPU is given"


def test_2860_hip_counts_the_nodes_that_open(asked: Asked, other_user: OtherUser, open_directory: Path) -> None:
    """The one that an open refuses with EPERM is given to others, and explains that HIP counts fewer."""
    asked.gpu(2, "gfx1030")
    node = asked.device("dev/dri/renderD130", *KERNEL_LOG)
    opened = other_user.run("-c", f"import os; os.open({str(node)!r}, os.O_RDWR)")
    if "PermissionError: [Errno 1]" not in opened.stderr:
        pytest.skip("each user may write the kernel's log here")
    site = Site(open_directory / "site", rpath="rpath")
    site.library("libamdhip64.so.7", HIP_WITH_ONE_GPU)
    install(site)
    words = ("-m", "rocm_sdk", "test", "--json", "--only", "gpus")
    result = other_user.run(*words, PYTHONPATH=str(site.path), ROCM_SDK_ROOTFS=str(asked.root))
    codes = {each["code"] for each in json.loads(result.stdout)["problems"]}
    assert "N-GPU-037" in codes
    assert "E-GPU-003" not in codes


def test_a_render_node_of_another_group_stays_a_warning(asked: Asked) -> None:
    asked.gpu(2, "gfx1030")
    asked.protect(GROUP, 0o660, "dev/dri/renderD130")
    said = asked.refused("--require")
    assert "[W-GPU-019]" in said
    assert f"--group-add {GROUP}" in said


# ---- owners


def test_1954_the_owners_of_lxc(asked: Asked) -> None:
    """Report hal0 420 is the same: /dev/kfd is root's, and no rule of udev runs in the container."""
    asked.machine.write("etc/group", "root:x:0:\nrender:x:991:\n")
    asked.protect(0, 0o660, KFD)
    asked.protect(GROUP, 0o660, RENDER)
    assert "Let group render own the device" in asked.refused(), "nothing says that this is LXC"
    asked.machine.write("run/systemd/container", "lxc\n")
    kfd, render = (line for line in asked.refused().splitlines() if "fix:" in line)
    assert "dev0: /dev/kfd,gid=991 (Proxmox), gid=991 at the device (Incus), or lxc.idmap" in kfd
    assert f"dev0: /{RENDER},gid=991 (Proxmox)" in render
    asked.protect(991, 0o660)
    assert "sudo usermod -aG render" in asked.refused(), "the owner is right"
    asked.silent(groups=(991,))
    (asked.root / KFD).unlink()
    said = asked.refused(groups=(991,))
    assert "lxc.cgroup2.devices.allow = c MAJOR:MINOR rwm and lxc.mount.entry = /dev/kfd dev/kfd none bind" in said


def test_53_a_rootless_container(asked: Asked) -> None:
    """Other groups that the namespace does not have are shown by the same number: they do not count."""
    need_user_namespaces()
    asked.machine.write("run/.containerenv")
    asked.protect(GROUP, 0o660)
    inside = ("unshare", "--user", "--map-root-user")
    for name in ("nogroup", "nobody"):
        asked.machine.write("etc/group", f"{name}:x:65534:\nrender:x:110:\n")
        for groups in ((), (OTHER_GROUP,)):
            said = asked.refused(before=inside, groups=groups)
            assert (
                f"belongs to group {name} (65534), mode 0660, which stands for groups that this user namespace" in said
            )
            assert "podman run --group-add keep-groups, with crun and no other --group-add" in said
            assert "usermod" not in said
    asked.silent(before=inside, groups=(GROUP,))


def test_39_a_group_without_a_name(asked: Asked) -> None:
    """Report ROCm/k8s-device-plugin 39; vllm 893 and rocm-examples 172 are the same with another group."""
    asked.protect(106, 0o660)
    assert "--group-add 106  # Kubernetes: supplementalGroups: [106]" in asked.refused()
    asked.silent(groups=(106,))


def test_36_a_mode_without_rights_of_a_group(asked: Asked) -> None:
    asked.protect(0, 0o600, KFD)
    said = asked.refused()
    assert "Let group render own the device with mode 0660" in said
    assert "# now group (without name) (0), mode 0600" in said
    asked.protect(0, 0o660, KFD)
    assert "its mode is 0660" not in asked.refused()


# ---- what the mode allows, and something else refuses


@pytest.fixture
def allowed(asked: Asked) -> Iterator[Asked]:
    asked.machine.write("etc/group", f"render:x:{GROUP}:\n")
    asked.protect(GROUP, 0o660)
    yield asked
    asked.silent(groups=(GROUP,))


def test_9706_a_mount_without_devices(asked: Asked) -> None:
    with mounted(asked.root / "dev", "-t", "tmpfs", "-o", "nodev,mode=0755", "none"):
        (asked.root / "dev/dri").mkdir()
        asked.machine.write(RENDER)
        kfd = asked.device(KFD, 1, 3)
        with pytest.raises(PermissionError):
            os.open(kfd, os.O_RDWR)  # the kernel refuses root, too
        said = asked.refused()
        assert f"{kfd}: its file system is mounted nodev, where no device opens [W-GPU-017]" in said
        assert f"mount the file system of {kfd} without nodev" in said


def test_1549_an_acl(allowed: Asked) -> None:
    """The bits of the group are the mask of an ACL, whose entry for the group has no rights."""
    entries = ((0x01, 6, 0xFFFFFFFF), (0x04, 0, 0xFFFFFFFF), (0x10, 6, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF))
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    kfd = allowed.root / KFD
    try:
        os.setxattr(kfd, "system.posix_acl_access", value)
    except OSError as error:
        pytest.skip(f"this file system has no ACLs: {error.strerror}")
    assert stat.S_IMODE(kfd.stat().st_mode) == 0o660
    said = allowed.refused(groups=(GROUP,))
    assert (
        f"the mode lets this process read and write it (group render ({GROUP}), mode 0660), and its ACL does not"
        in said
    )
    assert f'sudo setfacl -m "u:$USER:rw" {kfd}' in said
    assert "usermod" not in said
    os.removexattr(kfd, "system.posix_acl_access")
    allowed.protect(GROUP, 0o660)


LABELS = {
    "system_u:system_r:container_t:s0:c1,c2": "sudo setsebool -P container_use_devices 1  # on the host",
    "docker-default (enforce)": "Start the container with --security-opt apparmor=unconfined",
    "unconfined_u:unconfined_r:unconfined_t:s0": "Look into the kernel's log",
    "unconfined": "Look into the kernel's log",
    "snap.app (complain)": "Look into the kernel's log",
}
AS_OPENED = """
import errno, sys
from rocm_sdk import _native
for found in _native.survey_gpus(refused=(sys.argv[1], errno.EACCES))[1]:
    print(found.code, found.cause, found.fix, sep="\\n")
"""


@pytest.mark.parametrize("label", LABELS)
def test_9706_a_security_module(allowed: Asked, other_user: OtherUser, open_directory: Path, label: str) -> None:
    """No module is here, so that the label is a file's, and the refusal is what an open would have said."""
    need_mounts()
    (open_directory / "label").write_text(label + "\n")
    kfd = str(allowed.root / KFD)
    script = f'mount --bind {open_directory}/label /proc/$$/attr/current && exec "$@"'
    rights = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--groups", str(GROUP))
    result = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *rights, str(other_user.python), "-c", AS_OPENED, kfd],
        env=clean_environment() | {"ROCM_SDK_ROOTFS": str(allowed.root)},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount:" in result.stderr:
        pytest.skip(f"no label can be made here: {result.stderr}")
    code, cause, fix = result.stdout.splitlines()
    assert code == "W-GPU-017"
    assert cause.startswith(f"{kfd}: the mode lets this process read and write it")
    assert fix.startswith(LABELS[label])
    assert label in cause or "not known" in cause


# ---- what an open says


def test_a_filter_that_refuses_faccessat2_alone(asked: Asked) -> None:
    """A filter of an older libseccomp answers EPERM to calls that it does not know."""
    asked.silent(before=asked.filtered)


def test_eperm_of_an_open_is_the_device_cgroup(asked: Asked, other_user: OtherUser) -> None:
    program = AS_OPENED.replace("EACCES", "EPERM")
    asked.gpu(2, "gfx1030")
    result = other_user.run("-c", program, asked.root / RENDER, check=True, ROCM_SDK_ROOTFS=str(asked.root))
    assert result.stdout.splitlines()[0] == "N-GPU-037", "another one is given"
    result = other_user.run("-c", program, asked.root / KFD, check=True, ROCM_SDK_ROOTFS=str(asked.root))
    code, cause, fix = result.stdout.splitlines()
    assert (code, cause) == (
        "W-GPU-017",
        f"{asked.root}/dev/kfd: refused by the device cgroup of this container or service",
    )
    assert fix.startswith("Start the container with --device=/dev/kfd")


def test_an_open_that_does_not_return(asked: Asked) -> None:
    """A lease lets an open wait until its holder gives it up, 45 s at most (fcntl(2))."""
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    with (asked.root / KFD).open("r+b") as held:
        try:
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as error:
            pytest.skip(f"this file system has no leases: {error.strerror}")
        begun = time.monotonic()
        said = asked.refused("--require")
        assert 5 <= time.monotonic() - begun < 25
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    assert f"{asked.root}/{KFD}: cannot be opened: there is no answer" in said
    asked.silent()


def test_looking_opens_no_device(asked: Asked, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    result = subprocess.run(
        ["strace", "-f", "-e", "trace=%file", "-o", trace, sys.executable, "-m", "rocm_sdk", "gpus"],
        env=clean_environment() | {"ROCM_SDK_ROOTFS": str(asked.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    if "PTRACE" in result.stderr:
        pytest.skip(f"strace may not trace here: {result.stderr.splitlines()[0]}")
    calls = [line for line in trace.read_text().splitlines() if f"{asked.root}/dev/" in line]
    assert [line for line in calls if "open" in line] == []
    assert len([line for line in calls if f"{asked.root}/dev/dri" in line]) == 1, "one call for each render node"


def test_a_test_without_hip_opens_the_devices(asked: Asked, tmp_path: Path) -> None:
    kfd = asked.device(KFD, 511, 0)
    said = run_test(tmp_path, "--only", "gpus", ROCM_SDK_ROOTFS=str(asked.root))
    assert said.only("W-GPU-017")["cause"] == f"{kfd}: cannot be opened: No such device or address"


# ---- containers and machines that have none


@pytest.mark.parametrize(
    ("file", "fix"),
    [
        (".singularity.d/runscript", "Start the container with apptainer --bind /dev/kfd,/dev/dri"),
        (".flatpak-info", "flatpak run --device=all APPLICATION"),
        ("proc/1/comm", "firejail --ignore=private-dev PROGRAM"),
        (".dockerenv", "Start the container with --device=/dev/kfd --device=/dev/dri"),
    ],
)
def test_752_what_gives_a_container_its_devices(asked: Asked, file: str, fix: str) -> None:
    """Reports apptainer 752 without render nodes, flatpak 6648 and firejail 6364 without /dev/kfd."""
    asked.machine.write(file, "firejail\n")
    (asked.root / RENDER).unlink()
    assert f"fix: {fix}" in asked.refused()
    (asked.root / KFD).unlink()
    assert f"fix: {fix}" in asked.refused()


VIRTUAL = ", and this is a virtual machine: if the host has a GPU, it has to be passed through"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("proc/sys/kernel/osrelease", "6.10.14-linuxkit\n"),
        ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n"),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
    ],
)
def test_86_a_virtual_machine_without_a_gpu(other_user: OtherUser, open_directory: Path, file: str, text: str) -> None:
    asked = Asked(other_user, open_directory)
    for name in ("sys/class", "sys/module"):
        subprocess.run(["rm", "-r", asked.root / name], check=True)
    assert VIRTUAL not in asked.refused()
    asked.machine.write(file, text)
    assert VIRTUAL in asked.refused()
    asked.machine.write("proc/sys/kernel/osrelease", "6.6.87.2-microsoft-standard-WSL2\n")
    assert "this is WSL2 without /dev/dxg: a container needs --device=/dev/dxg" in asked.refused()


# ---- condition and releases


def _group_of_iommu(machine: Machine, node: int, kind: str) -> None:
    machine.write(f"sys/bus/pci/devices/0000:{node:02x}:00.0/iommu_group/type", f"{kind}\n")


def test_390_translated_addresses(asked: Asked) -> None:
    asked.machine.write("proc/cmdline", "quiet splash\n")
    _group_of_iommu(asked.machine, 1, "DMA-FQ")
    assert "N-GPU-039" not in asked.ask("--health").stderr, "one GPU does not talk to another"
    asked.gpu(2, "gfx1100")
    _group_of_iommu(asked.machine, 2, "DMA-FQ")
    result = asked.ask("--health")
    assert result.returncode == 0
    assert "RCCL may hang between GPUs whose addresses the IOMMU translates" in result.stderr
    assert "it translates the addresses of 2 discrete GPUs; no parameter of the kernel [N-GPU-039]" in result.stderr
    assert "iommu=pt" in result.stderr
    _group_of_iommu(asked.machine, 2, "identity")
    assert "N-GPU-039" not in asked.ask("--health").stderr
    asked.gpu(2, "gfx1036")
    _group_of_iommu(asked.machine, 2, "DMA")
    assert "N-GPU-039" not in asked.ask("--health").stderr, "an integrated GPU is none of RCCL's"


@pytest.mark.parametrize(
    ("version", "is_told"),
    [
        ("7.14.0a20260608", False),
        ("7.14.0a20260609", True),
        ("7.14.0a20260612", True),
        ("7.14.0", False),
        ("10.1.0a20261101", True),
        ("7.13.0a20260630", False),
    ],
)
def test_5763_nightlies(asked: Asked, site: Site, version: str, is_told: bool) -> None:
    asked.gpu(1, "gfx1151")
    variables = _sdk(site, version)
    said = run_test(Path(variables["PYTHONPATH"]), "--only", "gpus", ROCM_SDK_ROOTFS=str(asked.root))
    assert ("W-GPU-040" in said.codes) == is_told
    if is_told:
        found = said.only("W-GPU-040")
        assert found["title"] == "programs are reported to crash on gfx1151 with this nightly"
        assert "TheRock 5763" in found["fix"]


def test_a_number_that_is_too_high(asked: Asked) -> None:
    said = asked.refused(HIP_VISIBLE_DEVICES="1")
    assert "HIP_VISIBLE_DEVICES names a device that is not there: " in said
    assert "cut short" not in said
    assert "HIP_VISIBLE_DEVICES is cut short" in asked.refused(HIP_VISIBLE_DEVICES="1,0")


def test_sound_machines_are_silent(asked: Asked) -> None:
    asked.silent()
    for node in range(2, 9):
        asked.gpu(node, "gfx942", capability=NEW)
    asked.silent()
    asked.machine.write(".dockerenv")
    asked.silent()


# ---- further reports


def test_1908_a_gpu_that_is_lent_to_a_virtual_machine(other_user: OtherUser, open_directory: Path) -> None:
    """Report truenas/apps 1908: the host keeps the GPU for a virtual machine."""
    asked = Asked(other_user, open_directory)
    subprocess.run(["rm", "-r", asked.root / "sys/class", asked.root / "sys/module"], check=True)
    device = "sys/bus/pci/devices/0000:01:00.0"
    asked.machine.write(f"{device}/vendor", "0x1002\n")
    asked.machine.write(f"{device}/class", "0x030000\n")
    assert "modprobe amdgpu" in asked.refused()
    (asked.root / "sys/bus/pci/drivers/vfio-pci").mkdir(parents=True)
    (asked.root / device / "driver").symlink_to("../../../pci/drivers/vfio-pci")
    said = asked.refused()
    assert "modprobe" not in said
    assert "another driver has the AMD GPU, as for a virtual machine" in said
    assert "fix: Give 0000:01:00.0 back to amdgpu" in said


def test_15068_a_profile_that_refuses_the_topology(asked: Asked) -> None:
    """Report snapd 15068: the files of the topology cannot be read although their mode allows it."""
    properties = asked.root / TOPOLOGY / "nodes/1/properties"
    properties.chmod(0)
    result = asked.ask()
    assert result.returncode == 1
    assert f"{properties}: cannot be read: Permission denied" in result.stderr
