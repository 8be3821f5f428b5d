"""Distribution information."""
import os

__version__ = "DEFAULT"
PY_PACKAGE_SUFFIX_NONCE = "_DEFAULT"
DEFAULT_TARGET_FAMILY = "DEFAULT"
AVAILABLE_TARGET_FAMILIES: list[str] = []
LINUX_TARGET_FAMILIES: list[str] = []


class PackageEntry:
    def dist(self, family: str | None = None) -> str:
        return f"{self.name}-{family}"


ALL_PACKAGES = {"libraries": PackageEntry("rocm-sdk-libraries-{target_family}")}
__version__ = '7.10.0rc1'
PY_PACKAGE_SUFFIX_NONCE = '_n1'
ALL_PACKAGES["libraries"].dist_package_template = 'rocm-sdk-libraries'
DEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'
AVAILABLE_TARGET_FAMILIES.append('gfx942:xnack+')
LINUX_TARGET_FAMILIES.append('gfx94X-dcgpu')
THIS_TARGET_FAMILY = None
