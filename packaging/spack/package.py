# Below a repository of Spack: packages/py_rocm_sdk_loader/package.py
from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyRocmSdkLoader(PythonPackage):
    """Finds, orders, preloads and checks AMD's ROCm libraries, from wheels or from prefixes."""

    homepage = "https://pypi.org/project/rocm-sdk-loader/"
    pypi = "rocm_sdk_loader/rocm_sdk_loader-0.1.0.tar.gz"

    license("MIT")

    # `spack checksum py-rocm-sdk-loader 0.1.0` prints this line with the digest of the release.
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("python@3.10:", type=("build", "link", "run"))
    depends_on("py-setuptools@77.0.3:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils", type=("build", "link"))

    import_modules = ["rocm_sdk"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_command(self):
        Executable(self.prefix.bin.join("rocm-sdk"))("--version")
