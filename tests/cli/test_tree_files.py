"""`rocm-sdk tree FILE|WHEEL|DISTRIBUTION`: what files need, with the libraries of the SDK below them."""

import json
from pathlib import Path

import pytest
from checked_files import Call, compile_library, wheel
from ended import assert_failed, assert_refused
from sample_site import LIBRARIES, Site

BROUGHT = ["libhipsparse.so.1", "librocsparse.so.1", "libamdhip64.so.7"]
FLAGS = ("-Wl,--no-as-needed",)


@pytest.fixture
def extension(sdk: Site, tmp_path: Path) -> Path:
    """Return a library that needs hipsparse, a library that is nowhere, and the C library."""
    gone = compile_library(tmp_path / "gone/libgone.so.3", "libgone.so.3")
    needed = (sdk.path / LIBRARIES / "lib/libhipsparse.so.1", gone)
    return compile_library(tmp_path / "extension.so", None, "int f(void) { return 1; }", needed, FLAGS)


def test_a_file(call: Call, extension: Path) -> None:
    said = call("tree", str(extension))
    assert said.returncode == 0
    lines = said.stdout.splitlines()
    assert lines[1].startswith("extension.so ")
    assert lines[2].startswith("│    read: MISSING: libgone.so.3; from the system: libc.so.6")
    assert [line.split()[1] for line in lines[3:6]] == BROUGHT
    assert lines[6].startswith("4 files")
    assert said.stderr == "rocm-sdk: libgone.so.3 is needed, and is in neither the SDK nor the system\n"


@pytest.mark.usefixtures("sdk")
def test_what_an_rpath_leads_to(call: Call, tmp_path: Path) -> None:
    """The library is not among the named files, and comes in with the file that needs it."""
    helper = compile_library(tmp_path / "lib/libhelper.so.1", "libhelper.so.1")
    path = compile_library(tmp_path / "bin/app.so", None, "", (helper,), (*FLAGS, "-Wl,-rpath,$ORIGIN/../lib"))
    lines = call("tree", str(path)).stdout.splitlines()
    assert lines[2].startswith("│    read: beside it: libhelper.so.1; from the system: libc.so.6")
    assert lines[3].startswith("└─ libhelper.so.1")


def test_in_every_form(call: Call, sdk: Site, extension: Path) -> None:
    tree = json.loads(call("tree", str(extension), "--json").stdout)
    (step,) = tree["steps"]
    assert (step["path"], step["method"], step["shortname"]) == (str(extension), "read", None)
    assert step["needed"] == [str(sdk.path / LIBRARIES / "lib/libhipsparse.so.1")]
    assert (step["missing"], tree["missing"]) == (["libgone.so.3"], ["libgone.so.3"])
    assert "libc.so.6" in step["outside"]
    assert [Path(each["path"]).name for each in step["brings"]] == BROUGHT


def test_a_wheel(call: Call, sdk: Site, extension: Path, tmp_path: Path) -> None:
    """Each member has its place in the wheel, and the second says what the first has brought. Nothing stays behind."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    again = compile_library(tmp_path / "z.so", "z.so", "", (sdk.path / LIBRARIES / "lib/libhipsparse.so.1",), FLAGS)
    path = wheel(tmp_path / "a-1-py3-none-any.whl", {"a/extension.so": extension, "a/z.so": again, "a/text": b""})
    steps = json.loads(call("tree", str(path), "--json", TMPDIR=str(scratch)).stdout)["steps"]
    assert [step["path"] for step in steps] == [f"{path}/a/extension.so", f"{path}/a/z.so"]
    assert [len(step["brings"]) for step in steps] == [3, 0]
    assert "above: libhipsparse.so.1" in steps[1]["reason"]
    assert not [*scratch.iterdir()]
    lines = call("tree", str(path)).stdout.splitlines()
    assert lines[1].split()[0] == "extension.so"
    assert lines[1].split()[-1] == "a"


@pytest.mark.parametrize("name", ["libhipsparse.so", "libhipsparse.so.1"])
def test_a_library_that_a_file_opens_by_name(call: Call, sdk: Site, tmp_path: Path, name: str) -> None:
    """The library comes in with its needs, though no DT_NEEDED entry names it; the sum counts each file once.

    The name without version is a link, as in development packages.
    """
    if name == "libhipsparse.so":
        (tmp_path / name).symlink_to(sdk.path / LIBRARIES / f"lib/{BROUGHT[0]}")
        path = compile_library(
            tmp_path / "binding.so",
            None,
            f'const char *f(void) {{ return "{name}"; }}',
            flags=("-Wl,-rpath,$ORIGIN",),
        )
    else:
        path = compile_library(tmp_path / "binding.so", None, f'const char *f(void) {{ return "{name}"; }}')
    lines = call("tree", str(path)).stdout.splitlines()
    assert lines[1].startswith("binding.so ")
    assert lines[3].split()[0] == BROUGHT[0]
    assert lines[4] == f"│    named: {path} may open libhipsparse.so by name"
    assert [line.split()[1] for line in lines[5:7]] == BROUGHT[1:]
    assert lines[7].startswith("4 files")
    own, opened = json.loads(call("tree", str(path), "--json").stdout)["steps"]
    assert (own["method"], own["requested"], own["brings"]) == ("read", True, [])
    assert (opened["method"], opened["requested"], opened["soname"]) == ("named", False, BROUGHT[0])
    assert opened["path"] == str(sdk.path / LIBRARIES / f"lib/{BROUGHT[0]}")
    assert [Path(each).name for each in opened["needed"]] == BROUGHT[1:2]


def test_what_pure_python_opens_by_name(call: Call, tmp_path: Path) -> None:
    """The library that pure Python opens is known from a table; names that no package here has are told."""
    hip = wheel(tmp_path / "hip_python-7.10.1-py3-none-any.whl", {"hip/__init__.py": b""})
    (step,) = json.loads(call("tree", str(hip), "--json").stdout)["steps"]
    assert (step["soname"], step["reason"]) == ("libamdhip64.so.7", f"{hip} opens libamdhip64.so by name")
    again = call("tree", "amdhip64", str(hip))
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.splitlines()[-1].startswith("1 file ")
    both = wheel(tmp_path / "rocm_bindings_hip-7.10.0-py3-none-any.whl", {"rocm/__init__.py": b""})
    said = call("tree", str(both))
    assert "libamdhip64.so.7" in said.stdout
    assert said.stderr == f"rocm-sdk: {both} opens libhiprtc.so by name, and no package here has it\n"
    assert (
        f"{hip} opens libamdhip64.so by name, and no package here has it"
        in call("tree", str(hip), PYTHONPATH="").stderr
    )


def test_an_installed_distribution_beside_a_short_name(call: Call, sdk: Site, extension: Path) -> None:
    (sdk.path / "app").mkdir()
    (sdk.path / "app/extension.so").write_bytes(extension.read_bytes())
    sdk.write("app-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: app\nVersion: 1\n")
    sdk.write("app-1.dist-info/RECORD", "app/extension.so,,\napp-1.dist-info/METADATA,,\n")
    lines = call("tree", "amdhip64", "app").stdout.splitlines()
    names = [line.replace("├─ ", "").replace("└─ ", "").split()[0] for line in lines[1:-1] if ": " not in line]
    assert names == ["libamdhip64.so.7", "extension.so", *BROUGHT[:2]]


def test_without_an_sdk(call: Call, extension: Path) -> None:
    said = call("tree", str(extension), PYTHONPATH="")
    assert said.returncode == 0
    assert "read: MISSING: libhipsparse.so.1, libgone.so.3; from the system: libc.so.6" in said.stdout


def test_what_stands_for_nothing(call: Call, tmp_path: Path) -> None:
    absent = call("tree", str(tmp_path / "absent.so"))
    assert_failed(absent, 2, "there is no such file, and no such distribution is installed")
    assert "did you mean hipsparse" in call("tree", "hipsparce").stderr
    for command in ("check", "tree"):  # what resembles no short name may be a distribution
        for names in (("not-installed",), ("amdhip64", "not-installed")):
            said = call(command, *names)
            assert_failed(said, 2, "there is no such file, and no such distribution is installed")


def test_code_alone_is_no_library(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "a.hsaco"
    path.write_bytes(b"\x7fELF")
    assert "there is no library and no program in it" in call("tree", str(path)).stderr


@pytest.mark.parametrize("content", ["", "text", "\x7fELF"])
def test_a_file_that_cannot_be_used(call: Call, tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.so"
    path.write_text(content)
    said = call("tree", str(path))
    assert said.returncode == 1
    what = "not an ELF file" if "ELF" in content else "it is not an ELF file, so no library and no program"
    assert f"{path}: {what}" in said.stdout + said.stderr
    assert "ELF" in content or said.stdout == ""


def test_all_that_a_file_needs_is_below_it(call: Call, sdk: Site, tmp_path: Path) -> None:
    hip = sdk.path / "_rocm_sdk_core/lib/libamdhip64.so.7"
    path = compile_library(tmp_path / "a.so", None, "", (hip,), (*FLAGS, "-nostdlib"))
    assert call("tree", str(path)).stdout.splitlines()[2] == "│    read: needs what is below it"


@pytest.mark.parametrize("option", ["--load", "--bindings"])
def test_a_file_is_not_loaded(call: Call, extension: Path, option: str) -> None:
    assert_refused(call("tree", str(extension), option), 2, f"{option} is for short names, and {extension} is none")


def test_hostile_files(call: Call, tmp_path: Path) -> None:
    """A damaged member, and names that move the cursor."""
    odd = compile_library(tmp_path / "odd.so", None, "", (compile_library(tmp_path / "g.so", "<b>\x1b[2J.so"),), FLAGS)
    path = wheel(tmp_path / "a-1-py3-none-any.whl", {"a/<i>\x1b.so": odd, "a/cut.so": odd.read_bytes()[:100]})
    text = call("tree", str(path))
    assert text.returncode == 0
    assert "\x1b" not in text.stdout + text.stderr
    assert "cut.so" in text.stdout
