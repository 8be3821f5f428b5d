"""The places where the SDK's packages may lie: the ways of installing Python packages."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from sample_site import CORE, LIBRARIES, Site, compile_library, run_python

FIND = """
import rocm_sdk
print(*rocm_sdk.find_libraries("amdhip64", "hipsparse"))
print(rocm_sdk.__version__)
"""


@pytest.fixture
def full_site(site: Site) -> Site:
    site.library("libamdhip64.so.7")
    site.library("libhipsparse.so.4", package=LIBRARIES)
    return site


def found(site: Path, core: str = CORE, libraries: str = LIBRARIES, version: str = "7.10.0") -> str:
    return f"{site}/{core}/lib/libamdhip64.so.7 {site}/{libraries}/lib/libhipsparse.so.4\n{version}"


def test_packages_beside_each_other(full_site: Site) -> None:
    assert full_site.output(FIND) == found(full_site.path)


def test_packages_in_two_directories_of_the_path(full_site: Site, tmp_path: Path) -> None:
    other = tmp_path / "user-site"
    other.mkdir()
    (full_site.path / LIBRARIES).rename(other / LIBRARIES)
    output = full_site.output(f"import sys; sys.path.insert(0, {str(other)!r})" + FIND)
    core, libraries = output.splitlines()[0].split()
    assert Path(core).is_relative_to(full_site.path)
    assert Path(libraries).is_relative_to(other)


def test_lib64_is_a_symlink_to_lib(full_site: Site) -> None:
    link = full_site.path.with_name("lib64")
    link.symlink_to(full_site.path)
    path = f"{full_site.path}:{link}"
    result = run_python(FIND, "-W", "error", PYTHONPATH=path)
    assert result.stdout.strip() == found(full_site.path)
    assert run_python(FIND, PYTHONPATH=str(link)).stdout.strip() == found(link)


@pytest.mark.parametrize("rpath", ["rpath", "runpath"])
def test_package_that_is_a_symlink_loads(tmp_path: Path, rpath: str) -> None:
    """The linker resolves `$ORIGIN/..` physically: through a linked package it leads elsewhere than the text says."""
    real = Site(tmp_path / "real", rpath=rpath)
    hip = real.library("libamdhip64.so.7", "int value(void) { return 7; }")
    real.library("libhipsparse.so.4", "int value(void); int sparse(void) { return value(); }", (hip,), LIBRARIES)
    linked = tmp_path / "linked"
    linked.mkdir()
    for name in (CORE, LIBRARIES, "rocm_sdk_core"):
        (linked / name).symlink_to(real.path / name)
    program = (
        "import rocm_sdk; rocm_sdk.preload_libraries('hipsparse'); print(rocm_sdk._ALL_CDLLS['hipsparse'].sparse())"
    )
    assert run_python(program, PYTHONPATH=str(linked)).stdout.strip() == "7"


def test_relative_and_empty_path_entries(full_site: Site) -> None:
    program = f"""
        import os, sys
        import rocm_sdk
        os.chdir({str(full_site.path.parent)!r})
        for entry in ({full_site.path.name!r}, "./" + {full_site.path.name!r}):
            sys.path.insert(0, entry)
            assert os.path.samefile(rocm_sdk.locate("amdhip64").path, "{full_site.path}/{CORE}/lib/libamdhip64.so.7")
            assert os.path.isabs(rocm_sdk.locate("amdhip64").path)
            del sys.path[0]
        os.chdir({str(full_site.path)!r})
        sys.path[:] = ["", None, b"bytes", 7, "/nonexistent", sys.executable]
        assert os.path.isabs(rocm_sdk.locate("amdhip64").path)
    """
    run_python(program)


# ---- one package of libraries for each target family ---------------------------------------------------------------


@pytest.fixture
def family_site(tmp_path: Path) -> Site:
    site = Site(tmp_path / "site-packages")
    (site.path / LIBRARIES / "__init__.py").unlink()
    (site.path / LIBRARIES).rmdir()
    families = ("gfx110X-all", "gfx94X-dcgpu", "gfx950-dcgpu")
    lines = ["__version__ = '7.10.0'", "DEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'"]
    lines += [f"AVAILABLE_TARGET_FAMILIES.append({family!r})" for family in families]
    site.write("rocm_sdk_core/_dist_info.py", "\n".join(lines))
    site.library("libamdhip64.so.7")
    return site


def add_family(site: Site, family: str) -> str:
    package = f"{LIBRARIES}_{family.replace('-', '_')}"
    site.write(f"{package}/__init__.py")
    return str(site.library("libhipsparse.so.4", package=package))


LOCATE = "import rocm_sdk; print(rocm_sdk.locate('hipsparse').path)"


def test_the_family_that_is_asked_for(family_site: Site) -> None:
    add_family(family_site, "gfx94X-dcgpu")
    path = add_family(family_site, "gfx950-dcgpu")
    assert family_site.output(LOCATE, ROCM_SDK_TARGET_FAMILY="gfx950-dcgpu") == path


# ---- import hooks and frozen programs --------------------------------------------------------------------------------


def test_sdk_behind_an_import_hook(full_site: Site, tmp_path: Path) -> None:
    """An editable installation of the SDK's packages: no directory of sys.path holds them."""
    program = f"""
        import importlib.machinery, importlib.util, os, sys
        class Hook:
            @staticmethod
            def find_spec(name, path=None, target=None):
                init = os.path.join({str(full_site.path)!r}, name, "__init__.py")
                if os.path.exists(init):
                    places = [os.path.dirname(init)]
                    return importlib.util.spec_from_file_location(name, init, submodule_search_locations=places)
        sys.meta_path.append(Hook)
    """
    program = textwrap.dedent(program)
    assert run_python(program + FIND).stdout.strip() == found(full_site.path)

    hip = next(full_site.path.glob("*/lib/libamdhip64.so.*"))
    user = compile_library(tmp_path / "user.so", "user.so", needed=(hip,))
    run = run_python(f"{program}\nimport rocm_sdk\nprint(rocm_sdk.preload_for({str(user)!r})[0].location.path)")
    assert run.stdout == f"{hip}\n", "nothing is asked for by name, and the hook is asked all the same"


def test_frozen_program(full_site: Site) -> None:
    """Modules come from an archive, packages lie as directories under the program's own, which is on sys.path."""
    for init in full_site.path.glob("_rocm_sdk_*/__init__.py"):
        init.unlink()
    program = f"import sys; sys.frozen = True; sys._MEIPASS = {str(full_site.path)!r}"
    assert full_site.output(program + FIND) == found(full_site.path)


@pytest.mark.slow
def test_pip_install_target_and_user(tmp_path: Path, full_site: Site) -> None:
    """The loader in one place and the SDK in another: a real `pip install --target` of the SDK's packages."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "rocm-sdk-core"\nversion = "7.10.0"\n'
        f'[tool.setuptools]\npackages = ["rocm_sdk_core", "{CORE}", "{CORE}.lib", "{LIBRARIES}", "{LIBRARIES}.lib"]\n'
        '[tool.setuptools.package-data]\n"*" = ["*.so.*"]\n'
    )
    for name in ("rocm_sdk_core", CORE, LIBRARIES):
        (full_site.path / name).rename(project / name)
    target = tmp_path / "target"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--target", str(target), str(project)],
        check=True,
    )
    assert run_python(FIND, PYTHONPATH=str(target)).stdout.strip() == found(target)
