"""The wheels of this ROCm SDK: names, version and GPU target families.

The values that differ between SDKs follow at the end; up to there the text is the same in all.
"""

__version__ = "DEFAULT"
PY_PACKAGE_SUFFIX_NONCE = "_DEFAULT"
DEFAULT_TARGET_FAMILY = "DEFAULT"
AVAILABLE_TARGET_FAMILIES: list[str] = []
LINUX_TARGET_FAMILIES: list[str] = []
WINDOWS_TARGET_FAMILIES: list[str] = []

ALL_PACKAGES: "dict[str, PackageEntry]" = {}


class PackageEntry:
    """A distribution of the SDK, which enters itself in ALL_PACKAGES."""

    def __init__(
        self, logical_name: str, dist_package_template: str, pure_py_package_name: str, *, required: bool = False
    ) -> None:
        self.logical_name = logical_name
        self.dist_package_template = dist_package_template
        self.pure_py_package_name = pure_py_package_name
        self.required = required
        ALL_PACKAGES[logical_name] = self

    @property
    def is_target_specific(self) -> bool:
        """True if there is a package for each target family."""
        return "{target_family}" in self.dist_package_template

    def get_dist_package_name(self, target_family: str | None = None) -> str:
        """Return the name of the distribution. Raise ValueError if it needs a target family and there is none."""
        if not self.is_target_specific:
            return self.dist_package_template
        if target_family is None:
            raise ValueError(f"{self.logical_name}: a target family is needed")
        return self.dist_package_template.format(target_family=target_family.partition(":")[0])

    def get_dist_package_require(self, target_family: str | None = None) -> str:
        """Return the requirement that pins the distribution to the SDK's version."""
        return f"{self.get_dist_package_name(target_family)}=={__version__}"

    def get_py_package_name(self, target_family: str | None = None) -> str:
        """Return the name of the platform package, the importable directory with the files."""
        return "_" + self.get_dist_package_name(target_family).replace("-", "_") + PY_PACKAGE_SUFFIX_NONCE


PackageEntry("meta", "rocm", "rocm_sdk", required=True)
PackageEntry("core", "rocm-sdk-core", "rocm_sdk_core", required=True)
PackageEntry("libraries", "rocm-sdk-libraries-{target_family}", "rocm_sdk_libraries")
PackageEntry("device", "rocm-sdk-device-{target_family}", "rocm_sdk_device")
PackageEntry("devel", "rocm-sdk-devel", "rocm_sdk_devel")
PackageEntry("profiler", "rocm-profiler", "rocm_profiler")

# The values of this SDK.
