"""rocm_sdk._dist_info: the established face of the tables, as its callers use it."""

from sample_site import CORE, DIST_INFO, LIBRARIES, Site, run_python


def test_what_callers_ask(site: Site) -> None:
    """The questions of SD.Next and of torch's build."""
    program = """
        from rocm_sdk import _dist_info
        print(_dist_info.ALL_PACKAGES["core"].get_py_package().origin)
        library = _dist_info.ALL_LIBRARIES["amdhip64"]
        print(library.so_pattern, library.posix_relpath, library.package.logical_name, library.dll_pattern)
        print(_dist_info.__version__, _dist_info.AVAILABLE_TARGET_FAMILIES, _dist_info.DEFAULT_TARGET_FAMILY)
        print(repr(_dist_info.PY_PACKAGE_SUFFIX_NONCE), _dist_info.LINUX_TARGET_FAMILIES)
        print(_dist_info.determine_target_family())
    """
    assert site.output(program).splitlines() == [
        f"{site.path}/{CORE}/__init__.py",
        "libamdhip64.so* lib core amdhip64*.dll",
        "7.10.0 ['gfx94X-dcgpu'] gfx94X-dcgpu",
        "'' []",
        "gfx94X-dcgpu",
    ]


def test_it_is_an_attribute_of_the_package(site: Site) -> None:
    assert site.output("import rocm_sdk; print(rocm_sdk._dist_info.ALL_LIBRARIES['hiprtc'].shortname)") == "hiprtc"


def test_names_of_packages(site: Site) -> None:
    program = """
        from rocm_sdk._dist_info import ALL_PACKAGES
        print(ALL_PACKAGES["libraries"].is_target_specific, ALL_PACKAGES["libraries"].get_dist_package_name())
        print(ALL_PACKAGES["libraries"].get_py_package_name(), ALL_PACKAGES["libraries"].has_py_package())
        print(ALL_PACKAGES["device"].get_dist_package_require("gfx942:xnack+"), ALL_PACKAGES["devel"].has_py_package())
    """
    assert site.output(program).splitlines() == [
        "False rocm-sdk-libraries",
        f"{LIBRARIES} True",
        "rocm-sdk-device-gfx942==7.10.0 False",
    ]


def test_names_where_each_family_has_its_package(site: Site) -> None:
    lines = [line for line in DIST_INFO.splitlines() if "dist_package_template" not in line]
    site.write("rocm_sdk_core/_dist_info.py", "\n".join([*lines, "PY_PACKAGE_SUFFIX_NONCE = '_n1'"]))
    program = """
        from rocm_sdk._dist_info import ALL_PACKAGES
        print(ALL_PACKAGES["libraries"].is_target_specific, ALL_PACKAGES["libraries"].get_py_package_name())
        try:
            ALL_PACKAGES["libraries"].get_dist_package_name()
        except ValueError as error:
            print(error)
    """
    assert site.output(program).splitlines() == [
        f"True {LIBRARIES}_gfx94X_dcgpu_n1",
        "package libraries is target specific: name a target family",
    ]


def test_without_an_sdk_the_tables_are_there_and_its_facts_are_not() -> None:
    program = """
        from rocm_sdk import _dist_info
        assert _dist_info.ALL_LIBRARIES["amdhip64"].package.get_py_package() is None
        assert not hasattr(_dist_info, "AVAILABLE_TARGET_FAMILIES")
        assert not hasattr(_dist_info, "nonsense")
    """
    run_python(program, "-I")


def test_a_docstring_may_hold_what_python_allows(site: Site) -> None:
    lines = [r'"""AMD \N{EM DASH} ROCm \U0001F600 \101 \ud83d"""', "__version__ = '7.10.1'", ""]
    site.write("rocm_sdk_core/_dist_info.py", "\n".join(lines) + DIST_INFO.replace("__version__", "other"))
    assert site.output("import rocm_sdk; print(rocm_sdk.__version__)") == "7.10.1"
