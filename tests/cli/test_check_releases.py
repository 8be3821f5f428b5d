"""`rocm-sdk check`: which ROCm files were built for, one problem for each cause, variants of which one is loaded."""

import shutil
import sys
from pathlib import Path

import pytest
from checked_files import Call, codes, compile_library, document, wheel
from ended import assert_failed, assert_refused
from other_user import OtherUser
from sample_site import LIBRARIES, Site

GPU = ("--gpu", "gfx1030")
ORIGIN = ("-Wl,-rpath,$ORIGIN",)
STABLE = "https://stable.repo.amd.com/rocm/whl-next/"


def stub(directory: Path, soname: str, *versions: str) -> Path:
    """Compile a library to link with, which has a function for each version of its symbols."""
    if not versions:
        return compile_library(directory / soname, soname)
    script = directory / "versions.map"
    directory.mkdir(parents=True, exist_ok=True)
    script.write_text("".join(f"{version} {{ global: f_{version.replace('.', '_')}; }};\n" for version in versions))
    source = "".join(f"int f_{version.replace('.', '_')}(void) {{ return 0; }}" for version in versions)
    return compile_library(directory / soname, soname, source, flags=(f"-Wl,--version-script={script}",))


def needing(path: Path, *sonames: str) -> Path:
    """Compile a library that needs these libraries, which are not beside it."""
    elsewhere = path.parent / f"stubs-{path.name}"
    made = compile_library(path, None, needed=tuple(stub(elsewhere, soname) for soname in sonames))
    shutil.rmtree(elsewhere)
    return made


def problems(verdict: dict[str, object]) -> list[dict[str, object]]:
    found = verdict["problems"]
    assert isinstance(found, list)
    return found


def test_the_range_of_releases(call: Call, tmp_path: Path) -> None:
    path = needing(tmp_path / "libapp.so", "libamdhip64.so.7", "libamd_smi.so.26")
    found = document(call, path, "--sdk", tmp_path, *GPU)
    assert found["releases"] == {"first": "7.0", "last": "7.14"}
    assert (found["first_release"], found["last_release"]) == (7, 7)


def test_the_versions_of_hips_symbols_are_a_lower_bound(call: Call, tmp_path: Path) -> None:
    hip = stub(tmp_path / "elsewhere", "libamdhip64.so.6", "hip_4.2", "hip_6.4")
    source = "int f_hip_6_4(void); int f(void) { return f_hip_6_4(); }"
    path = compile_library(tmp_path / "libapp.so", None, source, (hip,))
    assert document(call, path, *GPU)["releases"] == {"first": "6.4", "last": "6.4"}


def test_a_library_that_is_newer_than_what_is_known(call: Call, tmp_path: Path) -> None:
    """No release is named: the SDK has the library in another version, and that is all."""
    found = document(call, needing(tmp_path / "libapp.so", "libamdhip64.so.8"), *GPU)
    assert codes(found) == ["E-LIB-024"]
    assert found["releases"] == {"first": None, "last": None}
    assert "libapp.so was built for libamdhip64.so.8, the SDK is 7.10.0 and has libamdhip64.so.7" in str(found)


def test_what_lacks_for_another_release_is_one_problem(call: Call, tmp_path: Path, sdk: Site) -> None:
    """The SDK has no rocblas and no rccl at all, and AMD's copies of the system's libraries are of no system."""
    names = ("libamdhip64.so.6", "librocblas.so.4", "librccl.so.1", "librocm_sysdeps_drm.so.2")
    path = needing(tmp_path / "files/libapp.so", *names)
    found = document(call, path, *GPU)
    (only,) = problems(found)
    assert only["code"] == "E-LIB-024"
    assert "the file needs libamdhip64.so.6 and 2 more of ROCm, which neither" in str(only["cause"])
    assert found["verdict"] == "does not load: it is for ROCm 6.0 to 6.4; no GPU code of its own"
    made = wheel(tmp_path / "a-1-py3-none-any.whl", {"a/libapp.so": path}, requires="numpy")
    assert codes(document(call, path.parent, *GPU)) == codes(document(call, made, *GPU)) == ["E-LIB-024"]
    program = f"import rocm_sdk; rocm_sdk.preload_for({str(path)!r})"
    for text in (str(only["title"]), str(only["cause"])):
        assert (
            text
            in sdk.run(f"""
            import rocm_sdk
            try:
                {program}
            except rocm_sdk.BadLibraryError as error:
                print(error.problem.title, error.problem.cause)
        """).stdout
        )


def test_what_is_among_the_files_says_nothing(call: Call, tmp_path: Path) -> None:
    """A package with a ROCm of its own needs none of the SDK's release."""
    hip = stub(tmp_path / "files", "libamdhip64.so.5")
    compile_library(tmp_path / "files/libapp.so", None, needed=(hip,), flags=ORIGIN)
    found = document(call, tmp_path / "files", *GPU)
    assert (codes(found), found["releases"]) == (["W-LIB-026"], {"first": None, "last": None})


def test_a_package_that_is_not_installed(call: Call, tmp_path: Path, sdk: Site) -> None:
    """A problem names all that lacks of ROCm, with the package; another names the lacking library of the system."""
    shutil.rmtree(sdk.path / LIBRARIES)
    shutil.rmtree(sdk.path / "rocm_sdk_libraries", ignore_errors=True)
    path = needing(tmp_path / "libapp.so", "libamdhip64.so.7", "librocblas.so.5", "librccl.so.1", "libva.so.2")
    found = document(call, path, *GPU)
    assert codes(found) == ["E-LIB-003", "E-LIB-002"]
    rocm, system = problems(found)
    assert rocm["title"] == "librocblas.so.5, librccl.so.1 is missing: its package is not installed"
    assert "'rocm[libraries]==7.10.0'" in str(rocm["fix"])
    assert system["cause"] == "the distribution has it in a package that is not installed"


def test_a_package_that_does_not_have_it(call: Call, tmp_path: Path) -> None:
    path = needing(tmp_path / "libapp.so", "libamdhip64.so.7", "librocblas.so.5", "librccl.so.1")
    (only,) = problems(document(call, path, *GPU))
    assert (only["code"], only["cause"]) == (
        "E-LIB-002",
        "of AMD's packages, librocblas.so.5, librccl.so.1 is in rocm-sdk-libraries",
    )
    assert only["fix"] == "Use an SDK whose rocm-sdk-libraries includes librocblas.so.5, librccl.so.1"


def test_a_library_that_amd_has_elsewhere(call: Call, tmp_path: Path) -> None:
    (only,) = problems(document(call, needing(tmp_path / "libapp.so", "libmigraphx_c.so.3"), *GPU))
    assert only["cause"] == "it is part of ROCm: AMD's package migraphx has it"
    assert only["fix"] == "Install AMD's package migraphx, of the release that the SDK is"


def test_a_library_that_nobody_knows(call: Call, tmp_path: Path) -> None:
    """Of a distribution that requires others it may be theirs."""
    path = needing(tmp_path / "libapp.so", "libnobody.so.1")
    (only,) = problems(document(call, path, *GPU))
    assert (only["code"], only["cause"]) == ("E-LIB-002", "no table here says which package has it")
    found = document(call, wheel(tmp_path / "a-1-py3-none-any.whl", {"a/libapp.so": path}, requires="numpy"), *GPU)
    assert (codes(found), found["works"]) == ([], None)


@pytest.mark.parametrize(
    ("marker", "may_bring_it"),
    [
        ('sys_platform == "win32"', False),
        ('"win32" == sys_platform', False),
        ("platform_system != 'Linux'", False),
        ('os_name == "nt" and python_version > "3"', False),
        ('"x" == extra', False),
        ("extra=='x'", False),
        ('sys_platform == "linux"', True),
        ("platform_system != 'Windows'", True),
        ('sys_platform == "win32" or sys_platform == "linux"', True),
        ('sys_platform == "win32" or sys_platform == "darwin" and python_version > "3"', False),
        ('(sys_platform == "win32" or python_version > "3") and os_name == "posix"', True),
        ('python_version > "3"', True),
    ],
)
def test_what_is_required_elsewhere_brings_nothing(
    call: Call, tmp_path: Path, marker: str, *, may_bring_it: bool
) -> None:
    path = needing(tmp_path / "libapp.so", "libnobody.so.1")
    made = wheel(tmp_path / "a-1-py3-none-any.whl", {"a/libapp.so": path}, requires=f"other>=1; {marker}")
    found = document(call, made, *GPU)
    assert (codes(found), found["works"]) == (([], None) if may_bring_it else (["E-LIB-002"], False))


VARIANTS = {
    "libfast_cuda118.so": "libcudart.so.11.0",
    "libfast_cuda128.so": "libcudart.so.12",
    "libfast_rocm64.so": "libamdhip64.so.6",
    "libfast_rocm71.so": "libamdhip64.so.7",
    "libfast_cpu.so": "libc.so.6",
}


@pytest.fixture
def variants(tmp_path: Path) -> Path:
    for name, needed in VARIANTS.items():
        needing(tmp_path / "fast" / name, needed)
    return tmp_path / "fast"


def test_one_of_several_variants_loads(call: Call, variants: Path) -> None:
    found = document(call, variants, *GPU)
    assert codes(found) == []
    assert found["verdict"] == (
        "loads in a process that has called rocm_sdk (amdhip64); alone it does not find"
        " libamdhip64.so.7; one of 2 variants for ROCm loads: libfast_rocm71.so; no GPU code of its own"
    )


def test_no_variant_loads(call: Call, variants: Path) -> None:
    (variants / "libfast_rocm71.so").unlink()
    needing(variants / "libfast_rocm57.so", "libamdhip64.so.5")
    found = document(call, variants, *GPU)
    assert codes(found) == ["E-LIB-024"]
    both = "ROCm 5.0 to 5.7, or ROCm 6.0 to 6.4"
    assert str(found["verdict"]).startswith(f"does not load: it is for {both}; it has 2 variants for ROCm")
    assert f"fast was built for {both}, the SDK" in str(found["problems"])


def test_variants_without_an_sdk(call: Call, variants: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = document(call, variants, "--sdk", tmp_path / "empty", *GPU)
    assert str(found["verdict"]).startswith(
        "cannot tell whether it loads: no SDK is here for libamdhip64.so.6, libamdhip64.so.7, "
        "and it is for ROCm 6.0 to 6.4, or ROCm 7.0 or newer; it has 2 variants for ROCm"
    )


def test_a_word_within_a_word_is_no_back_end(call: Call, tmp_path: Path) -> None:
    """Two libraries whose names end alike: each is judged."""
    needing(tmp_path / "libs_xhip.so", "libamdhip64.so.5")
    needing(tmp_path / "libs_xcpu.so", "libc.so.6")
    assert "variant" not in str(document(call, tmp_path, *GPU)["verdict"])


def test_libraries_that_load_together_are_no_variants(call: Call, tmp_path: Path) -> None:
    cpu = compile_library(tmp_path / "libggml-cpu.so", "libggml-cpu.so")
    runtime = stub(tmp_path / "elsewhere", "libamdhip64.so.5")
    hip = compile_library(tmp_path / "libggml-hip.so", "libggml-hip.so", needed=(runtime,))
    runtime.unlink()
    compile_library(tmp_path / "libggml.so", None, needed=(cpu, hip), flags=ORIGIN)
    found = document(call, tmp_path, *GPU)
    assert codes(found) == ["E-LIB-024"]
    assert "variant" not in str(found["verdict"])


def test_without_an_sdk_the_command_that_installs_one(call: Call, tmp_path: Path) -> None:
    path = needing(tmp_path / "files/libapp.so", "libamdhip64.so.7")
    (tmp_path / "empty").mkdir()
    said = call("check", str(path), "--sdk", str(tmp_path / "empty"), *GPU)
    assert said.returncode == 3
    assert f"  install: {sys.executable} -m pip install --index-url {STABLE} 'rocm[libraries]>=7.0'" in said.stdout


def test_no_command_installs_what_no_index_has(call: Call, tmp_path: Path) -> None:
    path = needing(tmp_path / "files/libapp.so", "libamdhip64.so.5")
    (tmp_path / "empty").mkdir()
    said = call("check", str(path), "--sdk", str(tmp_path / "empty"), *GPU)
    assert said.stdout.splitlines()[1:] == []
    site = call(
        "check", str(path), "--sdk", str(tmp_path / "empty"), *GPU, ROCM_SDK_INDEX="https://rocm.example/simple/"
    )
    assert "--index-url https://rocm.example/simple/ 'rocm[libraries]>=5.0,<5.8'" in site.stdout


def test_another_sdk_says_its_releases(call: Call, tmp_path: Path) -> None:
    stub(tmp_path / "sdk/lib", "libamdhip64.so.5")
    path = needing(tmp_path / "libapp.so", "libamdhip64.so.7")
    said = call("check", str(path), "--sdk", str(tmp_path / "sdk"), *GPU)
    assert "the SDK is 5.0 to 5.7 and has libamdhip64.so.5: the file needs libamdhip64.so.7, which" in said.stdout


@pytest.mark.parametrize(("name", "what"), [("nothing", "there is no such directory"), ("file", "is not a directory")])
def test_an_sdk_that_is_none_is_wrong_usage(call: Call, tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / "file").touch()
    said = call("check", str(tmp_path), "--sdk", str(tmp_path / name), *GPU)
    assert_refused(said, 2, f"--sdk {tmp_path / name}: {what}")


@pytest.mark.parametrize("name", ["libapp.so", "a-1-py3-none-any.whl"])
def test_a_file_that_the_user_may_not_read(other_user: OtherUser, open_directory: Path, name: str) -> None:
    path = compile_library(open_directory / "libapp.so", None).rename(open_directory / name)
    path.chmod(0o600)
    said = other_user.run("-m", "rocm_sdk", "check", path, *GPU)
    assert_failed(said, 1, f"{path}: this user may not read it", "ask its owner for the right to read it")


@pytest.mark.parametrize("word", ["closed", "closed/libapp.so"])
def test_a_directory_that_the_user_may_not_read(other_user: OtherUser, open_directory: Path, word: str) -> None:
    (open_directory / "closed").mkdir(mode=0o700)
    (open_directory / "closed/libapp.so").touch()
    said = other_user.run("-m", "rocm_sdk", "tree", open_directory / word)
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith(f"rocm-sdk: {open_directory / word}: ")
    assert "ask " in said.stderr


def test_a_link_that_leads_to_itself(call: Call, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    said = call("check", str(tmp_path / "loop"), *GPU)
    assert_failed(said, 1, "loop: Too many levels of symbolic links")
    said = call("check", "--sdk", str(tmp_path / "loop"), *GPU)
    assert "loop: Too many levels of symbolic links" in said.stderr


def test_a_library_that_is_cut(call: Call, tmp_path: Path) -> None:
    """The name of the library stands above the problem, and not in it."""
    (tmp_path / "cut.so").write_bytes(Path(sys.executable).read_bytes()[:5000])
    assert "E-LIB-006: it is damaged: truncated: " in call("check", str(tmp_path / "cut.so"), *GPU).stdout


def test_functions_of_libraries_that_are_not_here(call: Call, tmp_path: Path) -> None:
    """A file of a package loads HIP and another uses its functions: without that HIP nobody knows what lacks."""
    needing(tmp_path / "files/libloads.so", "libamdhip64.so.6")
    source = "int hipUsed(void); int f(void) { return hipUsed(); }"
    compile_library(tmp_path / "files/libuses.so", None, source, flags=("-Wl,--allow-shlib-undefined",))
    assert codes(document(call, tmp_path / "files", *GPU)) == ["E-LIB-024"]
    (tmp_path / "empty").mkdir()
    found = document(call, tmp_path / "files", "--sdk", tmp_path / "empty", *GPU)
    assert (codes(found), found["works"]) == ([], None)
    alone = document(call, tmp_path / "files/libuses.so", *GPU)
    assert codes(alone) == ["E-LIB-020"]
    assert "Take a build of libuses.so that fits what is here" in str(alone["problems"])


def test_libraries_of_packages_of_python(call: Call, tmp_path: Path) -> None:
    """Their names have no number; one problem for all, and no command that looks through a distribution."""
    (only,) = problems(document(call, needing(tmp_path / "libapp.so", "libtorch.so", "libc10.so"), *GPU))
    assert only["title"] == "libapp.so needs libtorch.so, libc10.so, which is in neither the SDK nor the system"
    assert "apt-file" not in str(only["fix"])


def test_a_requirement_that_is_installed_changes_nothing(call: Call, tmp_path: Path, sdk: Site) -> None:
    """An installed requirement brings nothing; a requirement that is not here may."""
    made = wheel(tmp_path / "a-1-py3-none-any.whl", {"a.so": needing(tmp_path / "a.so", "libb.so")}, requires="other")
    found = document(call, made, *GPU)
    assert (found["works"], codes(found)) == (None, [])
    sdk.write("other-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    assert codes(document(call, made, *GPU)) == codes(document(call, tmp_path / "a.so", *GPU)) == ["E-LIB-002"]


def test_pure_python(call: Call, tmp_path: Path) -> None:
    made = wheel(tmp_path / "a-1-py3-none-any.whl", {"a/__init__.py": b""}, requires="numpy~=1.0")
    found = document(call, made, *GPU)
    assert found["verdict"] == "there is nothing to check: it is pure Python, and it requires numpy"


def test_pure_python_that_opens_a_library_by_name(call: Call, tmp_path: Path) -> None:
    """The library is what was looked for: it works if that is here."""
    made = wheel(tmp_path / "hip_python-7.10.1-py3-none-any.whl", {"hip/__init__.py": b""})
    found = document(call, made, *GPU)
    assert found["works"] is True
    assert found["verdict"] == (
        "loads in a process that has called rocm_sdk (amdhip64); alone it does not find"
        " libamdhip64.so; no GPU code of its own"
    )


def test_a_library_that_is_opened_by_name(call: Call, tmp_path: Path) -> None:
    """The library opens HIP by name, as bindings do; a number in the name is the number of a SONAME."""
    (tmp_path / "empty").mkdir()
    for name, works in (("libamdhip64.so", True), ("libamdhip64.so.6", None)):
        library = compile_library(tmp_path / f"{name}/binding.so", None, f'const char *f(void) {{ return "{name}"; }}')
        said = document(call, library, *GPU)
        assert said["works"] is works
        assert said["loads"] is True, "it is opened when it is used"
        if works is None:
            assert "loads; it opens libamdhip64.so by name, and no package here has it" in str(said["verdict"])
        without = document(call, library, "--sdk", tmp_path / "empty", *GPU)
        assert without["works"] is None
        assert "it opens libamdhip64.so by name, and no SDK is here" in str(without["verdict"])


def test_bindings_whose_strings_are_compressed(call: Call, tmp_path: Path) -> None:
    """The table knows what AMD's open; their version is ROCm's, and what requires them opens it too."""
    (tmp_path / "empty").mkdir()
    library = compile_library(tmp_path / "hip.so", None)
    made = wheel(tmp_path / "rocm_bindings_hip-10.0.0.0.1.2-py3-none-any.whl", {"rocm/hip.so": library})
    found = document(call, made, "--sdk", tmp_path / "empty", *GPU)
    assert "it opens libamdhip64.so, libhiprtc.so by name, no SDK is here, and it is for ROCm 10.0" in str(found)
    assert found["releases"] == {"first": "10.0", "last": "10.0"}
    assert str(found["install"]).endswith(f"--index-url {STABLE} 'rocm[libraries]>=10.0,<10.1'")
    assert document(call, made, *GPU)["verdict"] == (
        "loads; it opens libhiprtc.so by name, and no package here has it; it is for ROCm 10.0, the SDK is 7.10.0, "
        "and nothing in its files says what it calls; no GPU code of its own"
    )
    pure = wheel(tmp_path / "a-1-py3-none-any.whl", {"a/__init__.py": b""}, requires="rocm-bindings-hip~=10.0")
    assert document(call, pure, "--sdk", tmp_path / "empty", *GPU)["works"] is None


def test_what_a_distribution_requires(call: Call, tmp_path: Path, sdk: Site) -> None:
    """An installed one is judged with the files of those that it requires, and that these require."""
    bad = needing(tmp_path / "bad.so", "librocblas.so.5")
    for name, requires, files in (
        ("above", "middle>=1", {}),
        ("middle", "below", {}),
        ("below", "", {"b/bad.so": bad}),
    ):
        lines = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n" + (
            f"Requires-Dist: {requires}\n" if requires else ""
        )
        record = "".join(f"{path},,\n" for path in (*files, f"{name}-1.dist-info/METADATA"))
        (sdk.path / f"{name}-1.dist-info").mkdir()
        (sdk.path / f"{name}-1.dist-info/METADATA").write_text(lines)
        (sdk.path / f"{name}-1.dist-info/RECORD").write_text(record)
        for path, source in files.items():
            (sdk.path / path).parent.mkdir()
            shutil.copy(source, sdk.path / path)
    assert codes(document(call, "below", *GPU)) == codes(document(call, "above", *GPU)) == ["E-LIB-002"]
