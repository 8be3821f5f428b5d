"""`closure --in-place` where something stands against it: layers, other users, full disks, hostile journals."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from deep_directories import deep_directory
from ended import assert_failed
from environment import HIPSPARSE, Environment
from other_user import USER
from programs import completed
from sample_closure import VERSION
from sample_devel import as_root
from sample_site import LIBRARIES, clean_environment

from rocm_sdk_build.closure.in_place.changes import Changes
from rocm_sdk_build.closure.in_place.environment import locked
from rocm_sdk_build.closure.in_place.journal import complete, publish, write_journal
from rocm_sdk_build.closure.in_place.new_site import refuse_changed, snapshot_of
from rocm_sdk_build.errors import PackagingError

WORDS = (*HIPSPARSE, "--no-proof")
UNUSED = f"{LIBRARIES}/lib/libunused.so.1"
SPARSE = f"{LIBRARIES}/lib/librocsparse.so.1"


def in_namespace(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["unshare", "--mount", "sh", "-c", f"mount --make-rprivate / && {script}", "sh", *words]
    done = completed(command, env=clean_environment(), timeout=120)
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    return done


# ---- layers of containers ----

# $1: the prefix, which gets an upper layer; $2: the directory of that layer. The rest is the command.
OVERLAY = """
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$1" || exit 77
shift 2; exec "$@"
"""


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    for name in ("upper", "work"):
        (tmp_path / "layer" / name).mkdir(parents=True)
    return tmp_path / "layer"


@as_root
def test_installed_in_a_lower_layer(environment: Environment, layer: Path) -> None:
    before = environment.files()
    done = in_namespace(OVERLAY, str(environment.prefix), str(layer), *environment.command(*WORDS))
    assert_failed(done, 1, "is in a lower layer of this container", "prune in the same RUN as the installation")
    assert not [path for path in (layer / "upper").rglob("*") if path.is_file()], "nothing was copied up"
    assert environment.files() == before


def with_own_sdk(environment: Environment, layer: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Make the SDK smaller in the layer that it was installed in; the other packages lie in a lower one."""
    packages = layer / "packages"
    packages.mkdir()
    for path in [*environment.site.iterdir()]:
        if path.name.startswith(("rocm", "_rocm")):
            shutil.move(path, packages / path.name)
    install = f'cp -a {packages}/. "{environment.site}" && exec "$@"'
    command = ["sh", "-c", install, "sh", *environment.command(*words)]
    return in_namespace(OVERLAY, str(environment.prefix), str(layer), *command)


@as_root
def test_installed_in_the_same_layer(environment: Environment, layer: Path) -> None:
    """site-packages has other packages in a lower layer, so it cannot be exchanged; the SDK can shrink."""
    done = with_own_sdk(environment, layer, *WORDS)
    assert done.returncode == 0, done.stderr
    site = layer / "upper" / environment.site.relative_to(environment.prefix)
    assert not (site / UNUSED).exists()
    assert (site / SPARSE).is_file()
    assert not (site / "framework/__init__.py").exists(), "what is in the lower layer is not copied up"
    assert (site / f"rocm_sdk_core-{VERSION}+closure.gfx1030.dist-info/RECORD").is_file()
    assert not [path.name for path in site.iterdir() if path.name.startswith(".rocm")]


@as_root
def test_the_proof_links_nothing_of_a_lower_layer(environment: Environment, layer: Path) -> None:
    done = with_own_sdk(environment, layer, "--for", "framework", "--gpu", "gfx1030")
    assert done.returncode == 0, done.stderr
    assert "tried where nothing else is" in done.stdout
    assert not [path for path in (layer / "upper").rglob("libframework.so") if path.is_file()]


# ---- users and disks ----


@as_root
def test_another_users_environment(environment: Environment, open_directory: Path) -> None:
    """He may read it, and not change it."""
    place = open_directory / "site"
    shutil.copytree(environment.site, place, symlinks=True)
    program = (
        "import sys; from rocm_sdk_build.closure.in_place.environment import require_writable;"
        "from rocm_sdk_build.errors import PackagingError\n"
        "try: require_writable(sys.argv[1])\nexcept PackagingError as error: print(error, error.fix)"
    )
    code = f"import os; os.setgroups([]); os.setgid({USER}); os.setuid({USER})\n{program}"
    done = completed([sys.executable, "-c", f"import rocm_sdk_build.closure.in_place.environment\n{code}", str(place)])
    assert "may not be changed by this user" in done.stdout, done.stderr
    assert "run the command as the owner" in done.stdout


# $1: a directory that becomes one of a small disk; $2: kB that are free there; $3: site-packages. Then the command.
FULL = """
mkdir "$1.copy" && cp -a "$1/." "$1.copy" && mount -t tmpfs -o size=8m none "$1" && cp -a "$1.copy/." "$1" || exit 77
free=$(df -k --output=avail "$1" | tail -1)
fallocate -l "$((free - $2))k" "$1/filler" || exit 77
site=$3; shift 3; "$@"; status=$?
find "$site" "$site/.." -name ".rocm*"
exit $status
"""


@as_root
@pytest.mark.parametrize("room", [0, 30, 70])
def test_a_full_disk(environment: Environment, room: int) -> None:
    """The files that were there stay, and nothing half-written."""
    tree = environment.prefix / "lib"
    done = in_namespace(FULL, str(tree), str(room), str(environment.site), *environment.command(*WORDS))
    shutil.rmtree(f"{tree}.copy")
    assert_failed(done, 1, "No space left on device")
    assert done.stdout == ""


# ---- caches of installers ----


def test_names_in_a_cache_keep_the_bytes(environment: Environment) -> None:
    """The names are as the link modes `hardlink` and `symlink` of uv leave them."""
    cache = environment.prefix / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    for path in (UNUSED, SPARSE):
        os.link(environment.site / path, cache / Path(path).name)
    linked = environment.site / LIBRARIES / "lib/librocsolver.so.0"
    linked.rename(cache / linked.name)
    linked.symlink_to(cache / linked.name)
    before = {path.name: path.read_bytes() for path in cache.iterdir()}
    report = environment.report(*WORDS)["in_place"]
    assert isinstance(report, dict)
    assert report["held_files"] == 2
    assert not linked.is_symlink()
    assert not linked.exists()
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == before
    shutil.rmtree(cache)


def test_a_link_to_a_cache_that_is_needed(environment: Environment) -> None:
    """A file that does not change stays a link; one that does becomes a file, and the cache stays what it is."""
    cache = environment.prefix / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    hip = "_rocm_sdk_core/lib/libamdhip64.so.7"
    for path in (SPARSE, hip):
        (environment.site / path).rename(cache / Path(path).name)
        (environment.site / path).symlink_to(cache / Path(path).name)
    before = {path.name: path.read_bytes() for path in cache.iterdir()}
    environment.prune(*HIPSPARSE)
    assert (environment.site / hip).is_symlink()
    assert not (environment.site / SPARSE).is_symlink()
    assert (environment.site / SPARSE).stat().st_size < len(before[Path(SPARSE).name])
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == before
    shutil.rmtree(cache)


# ---- others at work ----


def test_another_run_is_waited_for(environment: Environment) -> None:
    descriptor = os.open(environment.site, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    done = environment.prune(*WORDS, check=False)
    os.close(descriptor)
    assert "another rocm-sdk-build closure changes it" in done.stderr
    assert environment.state == "old"


def test_an_error_of_the_work_is_not_of_the_lock(tmp_path: Path) -> None:
    """A process that cannot be started for lack of others has the same number, EAGAIN."""
    reader, writer = os.pipe2(os.O_NONBLOCK)
    with pytest.raises(BlockingIOError), locked(str(tmp_path)):
        os.read(reader, 1)
    os.close(reader)
    os.close(writer)


CHANGES: dict[str, Callable[[Path], object]] = {
    "installed": lambda site: (site / "new.py").write_text(""),
    "removed": lambda site: (site / "framework/__init__.py").unlink(),
    "replaced": lambda site: (site / "framework/__init__.py").write_text("import os\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_meanwhile_is_seen(environment: Environment, change: str) -> None:
    before = snapshot_of(str(environment.site))
    (environment.site / "framework/__pycache__").mkdir(exist_ok=True)
    (environment.site / "framework/__pycache__/x.pyc").touch()
    refuse_changed(str(environment.site), before)
    CHANGES[change](environment.site)
    with pytest.raises(PackagingError, match="changed meanwhile"):
        refuse_changed(str(environment.site), before)


# ---- hostile journals ----

OLD = [5, 0]
HOSTILE: dict[str, object] = {
    "no JSON": "{",
    "another schema": {"schema": 2, "new": [], "removed": [], "scripts": []},
    "a list": [],
    "without keys": {"schema": 1},
    "out of the directory": {"removed": [["../victim", OLD]]},
    "absolute": {"removed": [["/victim", OLD]]},
    "through a link": {"removed": [["link/victim", OLD]]},
    "the journal": {"removed": [[".rocm-sdk-closure/journal.json", OLD]]},
    "a command elsewhere": {"scripts": ["../../victim"]},
    "a command that is a directory": {"scripts": [".."]},
    "staged elsewhere": {"new": [["a", "../../../victim", 1, "sha256=x", None]]},
    "staged is missing": {"new": [["a", "0", 1, "sha256=x", None]]},
    "another file": {"removed": [["framework/__init__.py", OLD]]},
    "a directory": {"removed": [["framework", OLD]]},
    "numbers that are none": {"removed": [["a", [True, "x"]]]},
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_journal_is_refused(environment: Environment, case: str) -> None:
    victims = [environment.site.parent / "victim", environment.prefix / "victim"]
    for victim in victims:
        victim.write_text("12345")
        os.utime(victim, ns=(0, 0))
    (environment.site / "link").symlink_to("..")
    journal = environment.site / ".rocm-sdk-closure"
    (journal / "files").mkdir(parents=True)
    content = HOSTILE[case]
    if isinstance(content, dict) and "schema" not in content:
        content = {"schema": 1, "new": [], "removed": [], "scripts": []} | content
    (journal / "journal.json").write_text(content if isinstance(content, str) else json.dumps(content))
    before = environment.files()
    done = environment.prune(check=False)
    assert_failed(done, 1, ".rocm-sdk-closure", "rm -r")
    assert "Traceback" not in done.stderr
    assert environment.files() == before
    assert [victim.read_text() for victim in victims] == ["12345", "12345"]


@as_root
@pytest.mark.parametrize("what", ["", "journal.json"])
def test_a_journal_of_another_user_is_refused(environment: Environment, what: str) -> None:
    journal = environment.site / ".rocm-sdk-closure"
    journal.mkdir()
    document = {"schema": 1, "new": [], "removed": [], "scripts": ["python"]}
    (journal / "journal.json").write_text(json.dumps(document))
    os.chown(journal / what, USER, USER)
    done = environment.prune(check=False)
    assert f"it belongs to user {USER}" in done.stderr
    assert environment.python.exists()


def test_a_journal_that_is_a_link_is_refused(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "journal.json").write_text(json.dumps({"schema": 1, "new": [], "removed": [], "scripts": ["python"]}))
    (environment.site / ".rocm-sdk-closure").symlink_to(tmp_path)
    done = environment.prune(check=False)
    assert done.returncode == 1
    assert (tmp_path / "journal.json").exists()
    assert environment.python.exists()


# ---- what changes meanwhile ----


@as_root
def test_something_is_installed_meanwhile(environment: Environment) -> None:
    """While the new files are made: where they replace the old ones one by one, and nothing asks again."""
    install = ["--trace", "--", "sh", "-c", f"echo new > {environment.site}/new.py"]
    command = [*environment.command(*WORDS), *install]
    before = environment.files()
    done = completed(environment.file_by_file(command), env=clean_environment())
    assert_failed(done, 1, f"{environment.site}/new.py changed meanwhile")
    assert environment.files() == before | {f"{environment.site.relative_to(environment.prefix)}/new.py": b"new\n"}
    assert environment.leftovers() == []


# Installs a file when the new site-packages is complete, just before it takes the place of the old one.
_INSTALLS = """
import sys
from pathlib import Path
from rocm_sdk_build.__main__ import main
from rocm_sdk_build.closure.in_place import pruning
real = pruning.sync_file_system
def installing(path):
    Path(sys.argv[1], "new.py").write_text("new")
    real(path)
pruning.sync_file_system = installing
sys.exit(main(sys.argv[2:]))
"""


def test_something_is_installed_before_the_exchange(environment: Environment) -> None:
    before = environment.files()
    words = [str(environment.site), "closure", *WORDS, "--in-place"]
    done = completed([environment.python, "-c", _INSTALLS, *words], env=clean_environment())
    assert_failed(done, 1, f"{environment.site}/new.py changed meanwhile")
    assert environment.files() == before | {f"{environment.site.relative_to(environment.prefix)}/new.py": b"new"}
    assert environment.leftovers() == []


def test_a_staged_file_that_is_damaged(tmp_path: Path) -> None:
    """Nothing is changed: its size fits, its digest does not."""
    site, scratch = tmp_path / "site", tmp_path / "scratch"
    for directory in (site, scratch):
        directory.mkdir()
    for name in ("one", "two"):
        (site / name).write_text("old")
        (scratch / name).write_text("new")
    new = {name: scratch / name for name in ("one", "two")}
    publish(write_journal(scratch, Changes(new, frozenset()), str(site)), str(site))
    (site / ".rocm-sdk-closure/files/1").write_text("bad")
    with pytest.raises(PackagingError, match="two has changed since"):
        complete(str(site), str(tmp_path))
    assert [(site / name).read_text() for name in ("one", "two")] == ["old", "old"]
    (site / ".rocm-sdk-closure/files/1").write_text("new")
    complete(str(site), str(tmp_path))
    assert [(site / name).read_text() for name in ("one", "two")] == ["new", "new"]


def test_a_link_to_what_goes_goes_too(environment: Environment) -> None:
    """As a packager may have it: two names of the kernels of one GPU."""
    gone, stays = (environment.site / f"framework/lib/{name}" for name in ("kernel.hsaco", "module.py"))
    gone.symlink_to("aotriton.images/amd-gfx90a/kernel.hsaco")
    stays.symlink_to("../__init__.py")
    record = environment.site / "framework-1.0.dist-info/RECORD"
    with record.open("a") as file:
        file.write("framework/lib/kernel.hsaco,,\nframework/lib/module.py,,\n")
    environment.prune(*WORDS, "--also", "framework")
    assert not gone.is_symlink()
    assert stays.is_symlink()
    assert "framework/lib/kernel.hsaco," not in record.read_text()
    assert "framework/lib/module.py," in record.read_text()


@pytest.mark.parametrize("place", ["other", f"{LIBRARIES}/deep", f"rocm_sdk_libraries-{VERSION}.dist-info/deep"])
def test_deep_directories(environment: Environment, place: str) -> None:
    with deep_directory(environment.site / place, 1000):
        done = environment.prune(*WORDS, check=False)
        assert_failed(done, 1, f"{environment.site}: cannot read: directories lie in each other more than 128 deep")
        assert "Traceback" not in done.stderr
    assert environment.prune(*WORDS).returncode == 0
