"""The recipes in packaging/ agree with the sources and with each other. `make test-recipes` builds and uses them."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RECIPES = ROOT / "packaging"
DEBIAN = RECIPES / "debian"
PAGE = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")


def version() -> str:
    (found,) = re.findall(
        r'^#define RSDK_VERSION "(.*)"$', (ROOT / "csrc/include/rocm_sdk/version.h").read_text(), re.MULTILINE
    )
    return str(found)


def paragraphs(file: Path) -> list[dict[str, str]]:
    """The fields of each paragraph of a control file."""
    found = []
    for paragraph in re.split(r"\n\n+", file.read_text(encoding="utf-8").strip()):
        fields = re.findall(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", paragraph, re.MULTILINE)
        found.append({name: " ".join(value.split()) for name, value in fields})
    return found


def test_the_symbols_of_the_debian_package_are_those_that_the_library_exports() -> None:
    lines = (DEBIAN / "librocm-sdk0.symbols").read_text(encoding="ascii").splitlines()
    assert lines[0] == "librocm_sdk.so.0 librocm-sdk0 #MINVER#"
    named = {line.split("@")[0].strip() for line in lines if line.startswith(" ")}
    assert named == {"ROCM_SDK_0", *(ROOT / "csrc/install/symbols").read_text(encoding="ascii").split()}


def test_versions_are_those_of_the_header() -> None:
    changelog = (DEBIAN / "changelog").read_text(encoding="utf-8")
    assert re.findall(r"^rocm-sdk-loader \((.*)-\d+\)", changelog, re.MULTILINE)[0] == version()
    spec = (RECIPES / "rpm/rocm-sdk-loader.spec").read_text(encoding="utf-8")
    assert re.findall(r"^Version: +(.*)$", spec, re.MULTILINE) == [version()]


def test_each_debian_package_says_what_it_holds() -> None:
    source, *packages = paragraphs(DEBIAN / "control")
    names = {package["Package"] for package in packages}
    assert source["Source"] == "rocm-sdk-loader"
    assert names == {file.name.removesuffix(".install") for file in DEBIAN.glob("*.install")}
    assert {package["Package"] for package in packages if package.get("Multi-Arch") == "same"} == {
        "librocm-sdk0",
        "librocm-sdk-dev",
    }
    tests = {word for each in paragraphs(DEBIAN / "tests/control") for word in each["Tests"].split()}
    assert tests == {file.name for file in (DEBIAN / "tests").iterdir()} - {"control"}
    assert all((DEBIAN / "tests" / name).stat().st_mode & 0o111 for name in tests)


def test_the_patch_for_old_setuptools_applies(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    series = (DEBIAN / "patches/series").read_text(encoding="ascii").split()
    assert series == ["old-setuptools.patch"]
    command = ["git", "apply", DEBIAN / "patches" / series[0]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"pyproject.toml has changed, so packaging/debian/patches needs it too: {done.stderr}"
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert "license-files" not in text
    assert 'license = { text = "MIT" }' in text


@pytest.mark.parametrize("file", sorted(RECIPES.glob("containers/*")), ids=lambda file: file.stem)
def test_a_containerfile_lets_the_user_choose_the_base(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    words = [line.split(maxsplit=1)[0] for line in re.sub(r"\\\n", "", text).splitlines() if line and line[0] != "#"]
    assert words[0] == "ARG"
    assert set(words) <= {"ARG", "FROM", "RUN", "COPY", "ENV", "WORKDIR", "CMD"}
    assert all(image.startswith("${BASE}") for image in re.findall(r"^FROM (.*)$", text, re.MULTILINE))


def test_the_page_the_task_and_the_script_have_the_same_recipes() -> None:
    script = (RECIPES / "try").read_text(encoding="utf-8")
    tried = set(re.findall(r"^try_(\w+)\(\)", script, re.MULTILINE))
    (chosen,) = re.findall(r"^RECIPES \?= (.*?) *#", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(chosen.split()) == tried
    rows = re.findall(r"^\|.*\| (built.*?|parsed only.*?) \| `packaging/(\w+)/", PAGE, re.MULTILINE)
    assert {name for _, name in rows} == {file.name for file in RECIPES.iterdir() if file.is_dir()}
    assert {name for how, name in rows if how.startswith("built")} == tried
    assert all(re.search(r"on \d{4}-\d\d-\d\d", how) for how, _ in rows)


@pytest.mark.parametrize(
    ("recipes", "refusal"),
    [([], "name recipes: containers debian lmod rpm"), (["debian", "slackware"], "there is no recipe 'slackware'")],
    ids=["none", "unknown"],
)
def test_a_wrong_recipe(recipes: list[str], refusal: str) -> None:
    done = subprocess.run([RECIPES / "try", *recipes], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"packaging/try: {refusal}\n")
