"""The examples of the documentation run, on the sample SDK, and show what the pages say.

`pycon` blocks are doctests, `python` blocks programs, `console` blocks commands with their output, `c` blocks programs
linked with the library, whose output is in the next `text` block, `json` blocks files. `...` in an expected output
stands for anything.
"""

import doctest
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from ended import succeeded
from installed_rocm import usual_rocm
from programs import completed
from sample_device_code import bundle, compressed, library, objects
from sample_documentation import environment, write_machine, write_site
from sample_site import compile_library

import rocm_sdk
from rocm_sdk.base.own_wheels import install_command

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

DOCTEST = """
import doctest, sys
text = sys.stdin.read()
flags = doctest.ELLIPSIS
test = doctest.DocTestParser().get_doctest(text, {}, sys.argv[1], sys.argv[1], 0)
sys.exit(bool(doctest.DocTestRunner(optionflags=flags).run(test).failed))
"""


def blocks(language: str) -> list[object]:
    found: list[object] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            if match[1] == language:
                line = text.count("\n", 0, match.start()) + 1
                found.append(pytest.param(match[2], id=f"{page.name}:{line}"))
    return found


def programs_with_output() -> list[object]:
    pages = [block for page in PAGES for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return [
        pytest.param(text, output, id=f"c{i}")
        for i, ((language, text), (_, output)) in enumerate(pairwise(pages))
        if language == "c"
    ]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample SDK with its development tree, whichever example comes first."""
    site = write_site(tmp_path_factory.mktemp("sample") / "site-packages")
    succeeded([sys.executable, "-m", "rocm_sdk", "init", "--quiet"], env=environment(site, *MACHINE))
    return site


MACHINE: list[Path] = []  # the root of its file system


@pytest.fixture(scope="module", autouse=True)
def _machine(tmp_path_factory: pytest.TempPathFactory) -> None:
    MACHINE[:] = [write_machine(tmp_path_factory.mktemp("machine"))]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the libraries of the page about GPU code."""
    directory = tmp_path_factory.mktemp("libraries")
    content = bundle(objects("gfx1030", "gfx90a:xnack-", size=200_000))
    library(directory / "libblas.so", [content, content])
    library(directory / "libpacked.so", [compressed(content, 3)])
    return directory


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the artifacts of a ROCm build, for the page about packaging."""
    tree = usual_tree(tmp_path_factory.mktemp("build") / "artifacts")
    tree.program("base_run_generic", "bin/rocm-debugged", "-g", "-Wl,--build-id=sha1")  # for --split-debug
    return tree.root


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an installed ROCm, for the page about packaging."""
    return usual_rocm(tmp_path_factory.mktemp("installed") / "rocm").root


@pytest.fixture
def cwd(libraries: Path, artifacts: Path, rocm: Path, tmp_path: Path) -> Path:
    """Return the directory in which an example runs."""
    (tmp_path / "artifacts").symlink_to(artifacts)
    (tmp_path / "rocm").symlink_to(rocm)
    for name in ("libblas.so", "libpacked.so"):
        (tmp_path / name).symlink_to(libraries / name)
    return tmp_path


def run(sample: Path, command: list[str], cwd: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    variables = environment(sample, *MACHINE)
    return completed(command, input=text, env=variables, cwd=cwd, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("text", blocks("pycon"))
def test_interactive_examples(sample: Path, cwd: Path, text: str) -> None:
    result = run(sample, [sys.executable, "-c", DOCTEST, "example"], cwd, text)
    assert result.returncode == 0, result.stdout + result.stderr


DOCSTRINGS = [
    path
    for package in ("rocm_sdk", "builder/rocm_sdk_build", "variant_provider")
    for path in sorted((ROOT / package).rglob("*.py"))
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("path", DOCSTRINGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_in_docstrings(sample: Path, tmp_path: Path, path: Path) -> None:
    package = next(each for each in path.parents if not (each / "__init__.py").exists())
    module = ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__")
    code = (
        f"import doctest, sys, {module}; done = doctest.testmod({module}); sys.exit(done.failed or not done.attempted)"
    )
    result = run(sample, [sys.executable, "-c", code], tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("text", blocks("python"))
def test_programs(sample: Path, tmp_path: Path, text: str) -> None:
    hip = sample / "_rocm_sdk_core/lib/libamdhip64.so.5"
    compile_library(tmp_path / "my_extension.so", None, needed=(hip,))
    result = run(sample, [sys.executable, "-W", "error", "-c", text], tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_help_begins_with_five_calls_that_run(sample: Path, tmp_path: Path) -> None:
    compile_library(tmp_path / "my_extension.so", None, needed=(sample / "_rocm_sdk_core/lib/libamdhip64.so.5",))
    shown = run(sample, [sys.executable, "-c", "import rocm_sdk; help(rocm_sdk)"], tmp_path).stdout
    *calls, rest = (line.strip() for line in shown.partition("\nDESCRIPTION\n")[2].splitlines()[:6])
    assert rest == ""
    program = "\n".join(["import rocm_sdk", *calls]).replace("7.*", "5.*")  # the release of the sample
    result = run(sample, [sys.executable, "-W", "error", "-c", program], tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_page_of_the_api_has_each_name_and_each_field() -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))
    names = {*re.findall(r"`(\w+)[`(]", text), *sections}
    assert {*rocm_sdk.__all__} - names == set()
    fields = {name: getattr(getattr(rocm_sdk, name), "__match_args__", None) for name in rocm_sdk.__all__}
    shown = {name: tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) for name, section in sections.items()}
    assert shown == {name: each for name, each in fields.items() if each is not None}


@pytest.mark.parametrize("text", blocks("console"))
def test_commands(sample: Path, cwd: Path, text: str) -> None:
    for example in text.split("$ ")[1:]:
        command, _, expected = example.partition("\n")
        result = run(sample, ["bash", "-c", command], cwd)
        checker = doctest.OutputChecker()
        assert checker.check_output(expected, result.stdout + result.stderr, doctest.ELLIPSIS), (command, result)


@pytest.mark.parametrize(("text", "output"), programs_with_output())
def test_c_programs(sample: Path, cwd: Path, text: str, output: str) -> None:
    subprocess.run(["make", "-s", "VARIANT=gcc", "build/c/gcc/librocm_sdk.a"], cwd=ROOT, check=True)
    flags = subprocess.check_output(["pkgconf", "--libs", "libelf"], text=True).split()
    source, program = cwd / "example.c", cwd / "example"
    source.write_text(text)
    command = ["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'csrc/include'}", str(source)]
    subprocess.run([*command, str(ROOT / "build/c/gcc/librocm_sdk.a"), *flags, "-o", str(program)], check=True)
    result = run(sample, [str(program), str(sample)], cwd)
    assert (result.returncode, result.stdout, result.stderr) == (0, output, "")


@pytest.mark.slow
def test_the_command_for_our_own_wheels_installs_them(tmp_path: Path) -> None:
    wheels = {each.name: each for each in (ROOT / "build/wheel").glob("*.whl")}
    if len(wheels) != 2:
        pytest.skip("no wheels: make wheel")
    making, _, installing = install_command("rocm-sdk-loader", pip=f"{sys.executable} -m pip", again=True).partition(
        " && "
    )
    assert making == "make wheel"
    command, _, _ = installing.partition("  #")
    subprocess.run(["bash", "-c", f"{command} --quiet --no-index --target {tmp_path}/t"], cwd=ROOT, check=True)
    assert (tmp_path / "t/rocm_sdk/__init__.py").exists()


@pytest.mark.parametrize("text", blocks("json"))
def test_files(text: str) -> None:
    assert json.loads(text)
