"""The needs of a frozen program with rocm_sdk: modules that are imported by name, and the SDK's packages as they are.

The packages are found as directories on sys.path, so their files stay files, in their layout.
"""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, logger  # type: ignore[import-untyped]

from rocm_sdk.installed.frozen_program import package_files, warning_of_size


def _is_of_programs(module: str) -> bool:
    """Return whether a module is for programs, and not for PyInstaller or tests.

    The module rocm_sdk.testing would bring pytest along.
    """
    return module != "rocm_sdk.testing" and "_pyinstaller" not in module


hiddenimports = collect_submodules("rocm_sdk", filter=_is_of_programs)
_files = [*package_files(lambda text: logger.info("rocm_sdk: %s", text))]
if (_warning := warning_of_size(_files)) is not None:
    logger.warning("rocm_sdk: %s", _warning)
datas = [*_files, *collect_data_files("rocm_sdk", excludes=["include"])]
