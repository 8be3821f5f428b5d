"""preload_libraries and load_plan, and what they leave behind."""

from pathlib import Path

import pytest
from sample_site import CORE, LIBRARIES, Site, compile_library, run_python


def test_plain_dlopen_fails_where_preloading_works(chain: Site) -> None:
    program = """
        import ctypes, sys, rocm_sdk
        (path,) = rocm_sdk.find_libraries("hipsparse")
        try:
            ctypes.CDLL(str(path))
        except OSError as error:
            assert "librocsparse.so.1" in str(error), error
        else:
            raise SystemExit("the libraries find each other, this test shows nothing")
        (library,) = rocm_sdk.preload_libraries("hipsparse")
        assert library.location.path == str(path), library
        assert not library.already_loaded
        assert library.seconds > 0
        print(ctypes.CDLL("libhipsparse.so.4").sparse())
    """
    assert chain.output(program) == "7"


def test_results_keep_the_order_and_are_told_later(chain: Site) -> None:
    program = """
        import rocm_sdk
        names = lambda libraries: [library.location.shortname for library in libraries]
        assert names(rocm_sdk.preload_libraries("hipsparse", "amdhip64")) == ["hipsparse", "amdhip64"]
        assert names(rocm_sdk.preload_libraries("rocsparse")) == ["rocsparse"]
        asked = [library for library in rocm_sdk.loaded_libraries() if library.requested]
        assert names(asked) == ["hipsparse", "amdhip64", "rocsparse"]
        assert all(library.already_loaded for library in rocm_sdk.preload_libraries("hipsparse", "amdhip64"))
    """
    chain.run(program)


def test_loaded_libraries_are_all_that_are_in_the_process(chain: Site, tmp_path: Path) -> None:
    """All are there: needed libraries, libraries opened at run time, and libraries of another part of the program."""
    foreign = compile_library(tmp_path / "librccl.so.1", "librccl.so.1")
    llvm = chain.library("libLLVM.so.20.0", "int llvm;", directory="lib/llvm/lib")
    chain.library("libamd_comgr.so.3", needed=(llvm,), flags=("-Wl,-rpath,$ORIGIN/llvm/lib",))
    program = f"""
        import ctypes, rocm_sdk
        assert rocm_sdk.loaded_libraries() == ()
        (library,) = rocm_sdk.preload_libraries("hipsparse")
        ctypes.CDLL({str(foreign)!r})
        for each in rocm_sdk.loaded_libraries():
            place = each.location
            print(place.shortname, place.soname, place.package, place.found_via, each.requested, bool(each.handle))
        by_name = {{each.location.soname: each for each in rocm_sdk.loaded_libraries()}}
        assert by_name["libhipsparse.so.4"] == library
        assert library.seconds > by_name["libamd_comgr.so.3"].seconds > 0
        assert by_name["libLLVM.so.20.0"].seconds is by_name["libLLVM.so.20.0"].already_loaded is None
    """
    assert chain.output(program).splitlines() == [
        "hipsparse libhipsparse.so.4 libraries file name True True",
        "None libamd_comgr.so.3 core need False True",
        "rccl librccl.so.1 None its path False False",
        "amdhip64 libamdhip64.so.7 core need False False",
        "hsa-runtime64 libhsa-runtime64.so.1 core need False False",
        "LLVM libLLVM.so.20.0 core need False False",
        "rocsparse librocsparse.so.1 libraries need False False",
    ]


def test_loaded_libraries_of_another_process(chain: Site) -> None:
    program = """
        import os, rocm_sdk
        rocm_sdk.preload_libraries("hipsparse")
        mine = rocm_sdk.loaded_libraries()
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(writer)  # so that it ends with its parent
            os.read(reader, 1)
            os._exit(0)
        others = rocm_sdk.loaded_libraries(pid=int(open("/proc/self/task/%d/children" % os.getpid()).read()))
        assert {each.location.path for each in others} == {each.location.path for each in mine}
        assert not any(each.handle or each.requested for each in others)
        os.write(writer, b"x")
        try:
            rocm_sdk.loaded_libraries(pid=1 << 30)
        except FileNotFoundError as error:
            print(error.filename)
    """
    assert chain.output(program) == f"/proc/{1 << 30}/maps"


def test_what_the_command_and_the_check_say_of_a_process_is_the_same_list(chain: Site) -> None:
    program = """
        import os, rocm_sdk, rocm_sdk.cli
        rocm_sdk.preload_libraries("hipsparse")
        rocm_sdk.cli.main(["test", "--pid", str(os.getpid())])
        print(*(each.location.path for each in rocm_sdk.loaded_libraries()), sep=" in the list\\n", end=" in the list")
    """
    lines = chain.output(program).splitlines()
    said = {line.partition("    from ")[0] for line in lines if "    from the SDK" in line}
    listed = {line.removesuffix(" in the list") for line in lines if line.endswith(" in the list")}
    assert said == listed
    assert len(said) == 5


def test_all_cdlls_is_a_dictionary_of_cdlls(chain: Site) -> None:
    program = """
        import sys, rocm_sdk
        rocm_sdk.preload_libraries("hipsparse", "amdhip64")
        assert "ctypes" not in sys.modules
        assert list(rocm_sdk._ALL_CDLLS) == ["hipsparse", "amdhip64"]
        assert "ctypes" not in sys.modules
        import ctypes
        library = rocm_sdk._ALL_CDLLS["hipsparse"]
        assert isinstance(library, ctypes.CDLL)
        assert library.sparse() == 7
        assert rocm_sdk._ALL_CDLLS["hipsparse"] is library
        assert "nothing" not in rocm_sdk._ALL_CDLLS
        rocm_sdk._ALL_CDLLS.clear()
        assert not rocm_sdk._ALL_CDLLS
        rocm_sdk.preload_libraries("hipsparse")
        assert rocm_sdk._ALL_CDLLS["hipsparse"].sparse() == 7
    """
    chain.run(program)


@pytest.mark.parametrize(
    ("argument", "variable", "found"),
    [
        ("None", None, ["libamdhip64.so"]),
        ("None", "0", []),
        ("None", "1", ["libamdhip64.so", "libhipsparse.so"]),
        ("True", "0", ["libamdhip64.so", "libhipsparse.so"]),
        ("False", "1", []),
        ("False", None, []),
    ],
)
def test_unversioned_names(chain: Site, argument: str, variable: str | None, found: list[str]) -> None:
    """By default those that programs are known to open, also of libraries that only others need."""
    program = f"""
        import ctypes, os, rocm_sdk
        before = sorted(os.listdir({str(chain.path / CORE / "lib")!r}))
        rocm_sdk.initialize_process(preload_shortnames=["hipsparse"], unversioned_names={argument})
        assert before == sorted(os.listdir({str(chain.path / CORE / "lib")!r}))
        if {argument} is True or {variable!r} == "1":  # all that is asked for
            rocm_sdk.preload_libraries("amdhip64", unversioned_names={argument})
        for name in ("libamdhip64.so", "libhipsparse.so", "librocsparse.so"):
            try:
                print(name, ctypes.CDLL(name).hipGetVersion() == 7)
            except OSError:
                pass
    """
    environment = {} if variable is None else {"ROCM_SDK_UNVERSIONED_NAMES": variable}
    assert chain.output(program, **environment) == "\n".join(f"{name} True" for name in found)


def test_an_unversioned_name_brings_no_second_copy(chain: Site, tmp_path: Path) -> None:
    """A file of the name on the linker's own path stays out; the scope is the library's."""
    compile_library(tmp_path / "libamdhip64.so", "libamdhip64.so.7", "int hipGetVersion(void) { return 1; }")
    for scope in (True, False):
        program = f"""
            import ctypes, rocm_sdk
            rocm_sdk.preload_libraries("amdhip64", rtld_global={scope})
            assert ctypes.CDLL("libamdhip64.so").hipGetVersion() == 7
            assert hasattr(ctypes.CDLL(None), "hipGetVersion") == {scope}
            print(*{{line.split("/", 1)[1].strip() for line in open("/proc/self/maps") if "libamdhip64" in line}})
        """
        own = chain.path / CORE / "lib/libamdhip64.so.7"
        assert chain.output(program, LD_LIBRARY_PATH=str(tmp_path)) == str(own).removeprefix("/")


def test_failure_half_way_keeps_what_is_loaded(chain: Site) -> None:
    needs = chain.library("libneeded.so.1", directory="gone")
    chain.library("librccl.so.1", needed=(needs,), package=LIBRARIES)
    program = """
        import ctypes, rocm_sdk
        try:
            rocm_sdk.preload_libraries("amdhip64", "rccl")
        except OSError as error:
            assert isinstance(error, rocm_sdk.LibraryLoadError)
            print(error)
        assert rocm_sdk._ALL_CDLLS["amdhip64"].hipGetVersion() == 7
        assert [each.location.shortname for each in rocm_sdk.loaded_libraries() if each.requested] == ["amdhip64"]
    """
    message = chain.output(program)
    assert "librccl.so.1" in message
    assert "libneeded.so.1" in message
    assert "loaded before and usable: amdhip64" in message


def test_warnings_come_after_loading_so_that_errors_leave_nothing_half_done(chain: Site, tmp_path: Path) -> None:
    foreign = compile_library(
        tmp_path / "libhsa-runtime64.so.1", "libhsa-runtime64.so.1", "int hsa(void) { return 3; }"
    )
    program = f"""
        import ctypes, rocm_sdk
        ctypes.CDLL({str(foreign)!r}, mode=ctypes.RTLD_GLOBAL)
        try:
            rocm_sdk.preload_libraries("hipsparse")
        except rocm_sdk.RocmLibraryConflictWarning as warning:
            print(warning)
        assert rocm_sdk._ALL_CDLLS["hipsparse"].sparse() == 9
    """
    warning = chain.output(program, "-W", "error")
    assert str(foreign) in warning
    assert str(chain.path / CORE / "lib/libhsa-runtime64.so.1") in warning
    assert "code that ran earlier" in warning


def test_verbose_names_each_library_before_it_is_loaded(chain: Site) -> None:
    silent = chain.run("import rocm_sdk; rocm_sdk.preload_libraries('hipsparse')")
    assert silent.stdout + silent.stderr == ""
    verbose = chain.run("import rocm_sdk; rocm_sdk.preload_libraries('hipsparse')", ROCM_SDK_VERBOSE="1")
    assert f"rocm_sdk: loading {chain.path / LIBRARIES}/lib/libhipsparse.so.4" in verbose.stderr


def test_load_plan_loads_nothing(chain: Site) -> None:
    program = """
        import rocm_sdk
        plan = rocm_sdk.load_plan("hipsparse", "amdhip64")
        assert "libhipsparse" not in open("/proc/self/maps").read()
        for step in plan.steps:
            print(step.shortname, step.method, *(member.rpartition("/")[2] for member in step.members))
    """
    assert chain.output(program).splitlines() == [
        "hipsparse anchor libhipsparse.so.4 librocsparse.so.1 libamdhip64.so.7 libhsa-runtime64.so.1",
        "None open libamd_comgr.so.3",
        "amdhip64 reuse",
    ]


def test_load_plan_tells_what_files_need(chain: Site, tmp_path: Path) -> None:
    extension = compile_library(
        tmp_path / "extension.so", None, "int sparse(void);", (chain.path / LIBRARIES / "lib/libhipsparse.so.4",)
    )
    program = f"""
        import pathlib, rocm_sdk
        for files in (["{extension}"], [pathlib.Path(rocm_sdk.locate("rocsparse").path)]):
            plan = rocm_sdk.load_plan(files=files)
            print(*(name.rpartition("/")[2] for step in plan.steps for name in step.members))
        assert "libhsa-runtime64" not in open("/proc/self/maps").read()
    """
    assert chain.output(program).splitlines() == [
        "libhipsparse.so.4 librocsparse.so.1 libamdhip64.so.7 libhsa-runtime64.so.1 libamd_comgr.so.3",
        "libamdhip64.so.7 libhsa-runtime64.so.1 libamd_comgr.so.3",
    ]


def test_a_plan_for_a_new_process(chain: Site) -> None:
    program = """
        import rocm_sdk
        rocm_sdk.preload_libraries("amdhip64")
        for new in (False, True):
            plan = rocm_sdk.load_plan("hipsparse", new_process=new)
            print(*(name.rpartition("/")[2] for step in plan.steps for name in step.members))
            print(*(name for name in plan.steps[0].outside if name != "libc.so.6"), plan.missing)
    """
    assert chain.output(program).splitlines() == [
        "libhipsparse.so.4 librocsparse.so.1",
        "libamdhip64.so.7 ()",
        "libhipsparse.so.4 librocsparse.so.1 libamdhip64.so.7 libhsa-runtime64.so.1 libamd_comgr.so.3",
        "()",
    ]


@pytest.mark.parametrize("function", ["preload_libraries", "load_plan", "find_libraries", "locate"])
def test_a_list_in_place_of_names_is_a_type_error(function: str) -> None:
    program = f"""
        import rocm_sdk
        try:
            rocm_sdk.{function}(["amdhip64", "hipsparse"])
        except TypeError as error:
            print(error)
    """
    assert "not <class 'list'>; several names are several arguments" in run_python(program).stdout


def test_a_failure_does_not_swallow_the_warnings_that_explain_it(chain: Site, tmp_path: Path) -> None:
    foreign = compile_library(tmp_path / "libamdhip64.so.7", "libamdhip64.so.7", "int something_else;")
    program = f"""
        import ctypes, rocm_sdk
        ctypes.CDLL({str(foreign)!r}, mode=ctypes.RTLD_GLOBAL)
        try:
            rocm_sdk.preload_libraries("hipsparse")
        except rocm_sdk.LibraryLoadError as error:
            print(error)
    """
    result = chain.run(program)
    assert f"{foreign}, brought in by code that ran earlier, does not have it" in result.stdout
    assert "RocmLibraryConflictWarning" in result.stderr
    assert f"{foreign}, brought in by code that ran earlier" in chain.run(program, "-W", "error").stdout


@pytest.mark.parametrize("damage", ["truncated", "missing dependency"])
def test_what_is_only_opened_at_run_time_is_no_reason_to_fail(chain: Site, tmp_path: Path, damage: str) -> None:
    if damage == "truncated":
        comgr = chain.path / CORE / "lib/libamd_comgr.so.3"
        comgr.write_bytes(comgr.read_bytes()[:3000])
    else:
        absent = compile_library(tmp_path / "libabsent.so.1", "libabsent.so.1")
        comgr = chain.library("libamd_comgr.so.3", needed=(absent,))
        absent.unlink()
    program = "import rocm_sdk; print(len(rocm_sdk.preload_libraries('amdhip64')))"
    result = chain.run(program)
    assert result.stdout.strip() == "1"
    assert f"RocmSdkWarning: {'' if damage == 'truncated' else 'cannot load '}" in result.stderr
    assert str(comgr) in result.stderr
    assert "libamdhip64.so.7 opens it at run time" in result.stderr


def test_no_other_process_is_led_astray_by_the_names_of_loaded_objects(chain: Site) -> None:
    """A debugger opens the file of each name: /proc/self/fd/N would be a descriptor of the debugger's own."""
    program = """
        import ctypes, rocm_sdk
        rocm_sdk.preload_libraries("hipsparse", unversioned_names=True)
        class LinkMap(ctypes.Structure):
            pass
        LinkMap._fields_ = [
            ("address", ctypes.c_void_p), ("name", ctypes.c_char_p), ("dynamic", ctypes.c_void_p),
            ("next", ctypes.POINTER(LinkMap)),
        ]
        entry = ctypes.cast(ctypes.CDLL(None)._handle, ctypes.POINTER(LinkMap))
        while entry:
            print(entry.contents.name.decode())
            entry = entry.contents.next
    """
    names = [Path(name) for name in chain.output(program).splitlines() if name.startswith("/")]
    generated = [name for name in names if name.is_relative_to("/proc")]
    assert generated
    with Path("/dev/null").open():  # descriptors from 0 on are open here, too
        assert not [name for name in generated if name.exists()]
    assert all(name.exists() for name in names if name not in generated)
