"""The distribution `rocm` in AMD's layout, and the SDK packages that it requires, as wheels made by setuptools."""

import subprocess
import sys
from pathlib import Path

# The texts and contents of the files are ours; their names, the requirements and the command are the established ones.
ROCM_FILES = {
    "rocm_sdk/__init__.py": 'from ._dist_info import __version__ as __version__\n\nWHOSE = "rocm"\n',
    "rocm_sdk/__main__.py": 'def main():\n    print("the command of rocm")\n',
    "rocm_sdk/_devel.py": "def get_devel_root():\n    raise ModuleNotFoundError\n",
    "rocm_sdk/_dist_info.py": "__version__ = {version!r}\n",
    "rocm_sdk/tests/__init__.py": "",
    "rocm_sdk/tests/base_test.py": "import rocm_sdk\n",
}
ROCM_SETUP = """\
from setuptools import setup

setup(
    name="rocm",
    version={version!r},
    packages=["rocm_sdk", "rocm_sdk.tests"],
    install_requires=["rocm-sdk-core=={version}"],
    extras_require={{
        "libraries": ["rocm-sdk-libraries=={version}"],
        "device-gfx942": ["rocm-sdk-device-gfx942=={version}"],
        "device-gfx1100": ["rocm-sdk-device-gfx1100=={version}"],
    }},
    entry_points={{"console_scripts": ["rocm-sdk = rocm_sdk.__main__:main"]}},
)
"""
SDK_SETUP = "from setuptools import setup\n\nsetup(name={name!r}, version={version!r}, packages=[{module!r}])\n"


def write_rocm(version: str, output: Path, sources: Path) -> None:
    """Build the wheel of rocm."""
    _build(sources / f"rocm-{version}", ROCM_FILES, ROCM_SETUP.format(version=version), output, version)


def write_wheels(version: str, output: Path, sources: Path) -> None:
    """Build wheels of rocm, rocm-sdk-core and rocm-sdk-libraries."""
    write_rocm(version, output, sources)
    for name in ("rocm-sdk-core", "rocm-sdk-libraries"):
        module = name.replace("-", "_")
        files = {f"{module}/__init__.py": "", f"{module}/_dist_info.py": "__version__ = {version!r}\n"}
        setup = SDK_SETUP.format(name=name, version=version, module=module)
        _build(sources / f"{name}-{version}", files, setup, output, version)


def _build(directory: Path, files: dict[str, str], setup: str, output: Path, version: str) -> None:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text.format(version=version) if name.endswith("_dist_info.py") else text)
    (directory / "setup.py").write_text(setup)
    command = [sys.executable, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", str(output)]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
