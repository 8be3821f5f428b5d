"""The proof by root, by others and by two at once: what its code may read and write, and what stays of it."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from compiled_files import compile_file
from ended import assert_failed
from other_user import has_user_namespaces, need_user_namespaces
from programs import completed
from sample_closure import PROVED, closure, write_application, write_distribution
from sample_devel import as_root
from sample_site import clean_environment

from rocm_sdk_build.closure.proving.namespaces import _copy
from rocm_sdk_build.closure.proving.root import Root

pytestmark = pytest.mark.slow


def test_code_that_lacks_rights(sdk: Path, tmp_path: Path) -> None:
    """The code fails, and the error says why it may."""
    (tmp_path / "app").mkdir()
    source = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void harm(void)\n"
    source += '{ if (!fopen("/lacking-rights", "w")) { perror("app"); exit(1); } }\n'
    compile_file(["cc", "-shared", "-fPIC", "-x", "c", "-"], tmp_path / "app/libapp.so", source)
    words = ("--library", "hipsparse", "--for", tmp_path / "app", "--output", tmp_path / "out")
    done = closure(sdk, PROVED, *words, check=False)
    assert_failed(done, 1, f"{tmp_path}/app/libapp.so: app: Read-only file system", "the proof gives no rights")
    closure(sdk, *words)


def test_code_of_others_runs_only_when_asked_for(sdk: Path, tmp_path: Path) -> None:
    """Code that is not installed is not tried by default, and the report says so."""
    (tmp_path / "app").mkdir()
    ran = tmp_path / "ran"
    source = f'#include <stdio.h>\n__attribute__((constructor)) static void harm(void) {{ fopen("{ran}", "w"); }}\n'
    library = compile_file(["cc", "-shared", "-fPIC", "-x", "c", "-"], tmp_path / "app/libapp.so", source)
    for number, word in enumerate((library, tmp_path / "app")):
        words = ("closure", "--library", "hipsparse", "--for", word, "--output", tmp_path / str(number))
        done = completed(
            [sys.executable, "-m", "rocm_sdk_build", *map(str, words)],
            env=clean_environment() | {"PYTHONPATH": str(sdk)},
        )
        assert done.returncode == 0, done.stderr
        assert f"not tried: {word} is not an installed distribution, and the proof would run its code" in done.stdout
        assert "the proof runs code" not in done.stderr
    assert not ran.exists()


def test_names_with_slashes_are_opened_in_the_proof_alone(sdk: Path, tmp_path: Path) -> None:
    """A file that a DT_NEEDED entry names by its path is no library of the system: its code does not run outside."""
    ran, site = tmp_path / "ran", Path(shutil.copytree(sdk, tmp_path / "site", symlinks=True))
    source = f'#include <stdio.h>\n__attribute__((constructor)) static void harm(void) {{ fopen("{ran}", "w"); }}\n'
    planted = compile_file(["cc", "-shared", "-fPIC", "-x", "c", "-"], tmp_path / "libplanted.so", source)
    library = next(site.rglob("libhipsparse.so.4"))
    words = ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed,-soname,libhipsparse.so.4", "-x", "c", "-", "-x", "none"]
    compile_file([*words, planted], library, "int sparse(void) { return 7; }")
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert f"[{planted}]" in needed
    done = closure(site, PROVED, "--library", "hipsparse", "--output", tmp_path / "out", check=False)
    assert_failed(done, 1, f"{planted}: cannot open shared object file")
    assert not ran.exists()


@as_root
def test_files_that_only_root_may_read(sdk: Path, tmp_path: Path) -> None:
    """The code, which runs as another user, has them all the same."""
    site = tmp_path / "site"
    extension = write_application(site / "private", sdk, "libhipsparse.so.4")
    (site / "private/data").mkdir()
    (site / "private/data/table").write_text("private")
    text = "import os, rocm_sdk\nrocm_sdk.preload_libraries('hipsparse')\n"
    text += "assert open(os.path.join(os.path.dirname(__file__), 'data/table')).read() == 'private'\n"
    (site / "private/__init__.py").write_text(text)
    write_distribution(site, "private", "1.0", ("private",))
    for path in (extension, site / "private/data/table", site / "private/__init__.py"):
        path.chmod(0o600)
    for path in (site / "private/data", site / "private", site):
        path.chmod(0o700)
    words = ("--for", "private", "--output", tmp_path / "out")
    done = closure(sdk, PROVED, *words, PYTHONPATH=f"{sdk}:{site}")
    assert "private imported" in done.stdout
    assert extension.stat().st_mode & 0o777 == 0o600


def test_two_proofs_at_once(sdk: Path, tmp_path: Path) -> None:
    """None changes what the other reads."""
    extension = write_application(tmp_path / "app", sdk, "libhipsparse.so.4")
    command = [sys.executable, "-m", "rocm_sdk_build", "closure", "--library", "hipsparse", "--for", str(extension)]
    environment = clean_environment() | {"PYTHONPATH": str(sdk)}
    begun_ones = [
        subprocess.Popen(
            [*command, "--proof", "--output", str(tmp_path / str(number))],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(3)
    ]
    for process in begun_ones:
        told, _ = process.communicate(timeout=120)
        assert process.returncode == 0, told
        assert "tried where nothing else is" in told


def test_what_the_code_says_does_not_reach_the_terminal(sdk: Path, tmp_path: Path) -> None:
    """As text, not as something that it obeys."""
    source = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void harm(void)\n"
    source += '{ fputs("\\033]0;harm\\007\\n\\033[2Jlast", stderr); exit(1); }\n'
    library = compile_file(["cc", "-shared", "-fPIC", "-x", "c", "-"], tmp_path / "libapp.so", source)
    words = ("--library", "hipsparse", "--for", library, "--output", tmp_path / "out")
    done = closure(sdk, PROVED, *words, check=False)
    assert_failed(done, 1, "\\x1b]0;harm\\x07", "\\x1b[2Jlast")
    assert "\033" not in done.stderr


def test_links_of_an_installer_to_an_application(sdk: Path, tmp_path: Path) -> None:
    """The link mode `symlink` of uv makes each file an absolute link into a cache.

    Links inside of a package stay links.
    """
    site, cache = tmp_path / "site", tmp_path / "cache"
    extension = write_application(site / "linked", sdk, "libhipsparse.so.4")
    text = "import os, rocm_sdk\nrocm_sdk.preload_libraries('hipsparse')\nplace = os.path.dirname(__file__)\n"
    text += "assert not os.path.islink(__file__)\nassert os.readlink(f'{place}/inside') == 'data/own'\n"
    text += "assert open(f'{place}/inside').read() + open(f'{place}/data/table').read() == 'own of the cache'\n"
    (site / "linked/__init__.py").write_text(text)
    (site / "linked/data").mkdir()
    (site / "linked/data/table").write_text(" of the cache")
    (site / "linked/data/own").write_text("own")
    (site / "linked/inside").symlink_to("data/own")
    write_distribution(site, "linked", "1.0", ("linked",))
    cache.mkdir()
    for path in (extension, site / "linked/__init__.py", site / "linked/data/table"):
        path.rename(cache / path.name)
        path.symlink_to(cache / path.name)
    done = closure(sdk, PROVED, "--for", "linked", "--output", tmp_path / "out", PYTHONPATH=f"{sdk}:{site}")
    assert "linked imported" in done.stdout


@as_root
def test_root_where_no_more_user_namespaces_are_allowed(sdk: Path, tmp_path: Path) -> None:
    """The limit max_user_namespaces is 0 in a namespace where all users keep their numbers."""
    need_user_namespaces()
    host, end = Path("/proc/self/ns/user").readlink(), time.monotonic() + 60
    with subprocess.Popen(["unshare", "--user", "sleep", "600"]) as holder:
        while Path(f"/proc/{holder.pid}/ns/user").readlink() == host:
            assert time.monotonic() < end
            time.sleep(0.01)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{holder.pid}/{name}").write_text("0 0 65536\n")
        script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
        words = ["closure", "--library", "hipsparse", "--gpu", "gfx1030", "--json", "--output", str(tmp_path / "out")]
        enter = ["nsenter", "--user", "--target", str(holder.pid), "sh", "-c", script, "sh"]
        done = completed(
            [*enter, sys.executable, "-m", "rocm_sdk_build", *words], env=clean_environment() | {"PYTHONPATH": str(sdk)}
        )
        holder.kill()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["proof"]["way"] == "changed"


@as_root
@pytest.mark.parametrize("has_rights", [True, False])
def test_root_who_makes_files_for_nobody_else(sdk: Path, tmp_path: Path, has_rights: bool) -> None:
    """The umask of root is not the umask in the root where the code runs as another user."""
    way = "copies" if not has_rights else "mapped" if has_user_namespaces() else "changed"
    words = ["closure", "--library", "rocblas", "--gpu", "gfx1030", "--json", "--proof=unsafe"]
    rights = ["env"] if has_rights else ["setpriv", "--bounding-set", "-sys_admin"]
    done = completed(
        [*rights, sys.executable, "-m", "rocm_sdk_build", *words, "--output", str(tmp_path / "out")],
        env=clean_environment() | {"PYTHONPATH": str(sdk)},
        umask=0o077,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["proof"]["way"] == way


def test_copies_stay_in_the_root(tmp_path: Path) -> None:
    """Whatever links lie in what was copied before."""
    root, outside, source = (tmp_path / name for name in ("root", "outside", "source"))
    for directory in (root, outside, source):
        directory.mkdir()
    (source / "file").write_text("new")
    (source / "__pycache__").mkdir()
    os.mkfifo(source / "__pycache__/pipe")
    (root / "link").symlink_to(outside)
    (root / "file").symlink_to(outside / "file")
    for place in ("link/file", "link/directory/file"):
        with pytest.raises(OSError, match="a link leads out of the root"):
            _copy(str(root), str(source / "file"), f"{root}/{place}")
    _copy(str(root), str(source / "file"), f"{root}/file")
    _copy(str(root), str(source), f"{root}/link")
    assert (root / "file").read_text() == (root / "link/file").read_text() == "new"
    assert not (root / "link").is_symlink()
    assert list(outside.iterdir()) == []


def test_an_output_in_the_directory_of_the_application(sdk: Path, tmp_path: Path) -> None:
    """The closure that is being made lies there, and is no part of the application."""
    (tmp_path / "app").mkdir()
    source = "#include <dirent.h>\n#include <stdlib.h>\n#include <string.h>\n"
    source += "__attribute__((constructor)) static void look(void)\n"
    source += f'{{ DIR *here = opendir("{tmp_path}/app"); struct dirent *each;\n'
    source += 'while ((each = readdir(here))) if (!strncmp(each->d_name, ".rocm", 5)) exit(1); }\n'
    compile_file(["cc", "-shared", "-fPIC", "-x", "c", "-"], tmp_path / "app/libapp.so", source)
    words = ("--library", "hipsparse", "--for", tmp_path / "app", "--output", tmp_path / "app/out")
    done = closure(sdk, PROVED, *words)
    assert "1 file of applications loaded" in done.stdout
    assert sorted(path.name for path in (tmp_path / "app").iterdir()) == ["libapp.so", "out"]


def test_scratch_directories_are_of_no_tree(tmp_path: Path) -> None:
    """As the one of this run in the directory of the standard library, which has site-packages."""
    for name in ("package", ".rocm-sdk-build-x"):
        (tmp_path / "top" / name).mkdir(parents=True)
        (tmp_path / "top" / name / "file").touch()
    root = Root(tmp_path / "copies", for_others=False)
    root.add_tree(str(tmp_path / "top"), "place")
    assert root.parts == {"place/package": str(tmp_path / "top/package")}
