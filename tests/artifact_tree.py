"""Artifacts as a ROCm build leaves them: small, compiled for real, a case for each rule of the packages."""

import json
from pathlib import Path

from compiled_files import compile_file

STAGE = "x/stage"
MANIFEST = "artifact_manifest.txt"
PROGRAM = '#include <stdio.h>\nint main(int c, char **v) { printf("%s %d\\n", v[0], c); return 0; }'


class ArtifactTree:
    """A directory of artifacts, to which tests add files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()

    def file(self, artifact: str, path: str, content: str | bytes = "", mode: int = 0o644) -> Path:
        target = self.place(artifact, path)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        target.chmod(mode)
        return target

    def place(self, artifact: str, path: str, stage: str = STAGE) -> Path:
        directory = self.root / artifact
        target = directory / stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        manifest = directory / MANIFEST
        lines = manifest.read_text().split() if manifest.exists() else []
        if stage not in lines:
            manifest.write_text("\n".join([*lines, stage]) + "\n")
        return target

    def link(self, artifact: str, path: str, text: str) -> None:
        self.place(artifact, path).symlink_to(text)

    def library(self, artifact: str, path: str, soname: str | None, *needs: Path, flags: tuple[str, ...] = ()) -> Path:
        target = self.place(artifact, path)
        words = [f"-Wl,-soname,{soname}"] if soname else []
        command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", *needs, *words, *flags]
        name = "f_" + "".join(c if c.isalnum() else "_" for c in path)
        return compile_file(command, target, f"int {name}(void) {{ return 1; }}")

    def program(self, artifact: str, path: str, *flags: str) -> Path:
        return compile_file(["gcc", "-x", "c", "-", *flags], self.place(artifact, path), PROGRAM)

    def overlay(self, kpack: bool, targets: str = "gfx942;gfx1100") -> None:
        """Write the facts that each build has about itself."""
        place = "base/aux-overlay/stage"
        directory = self.place("base_lib_generic", "share/therock/therock_manifest.json", place).parent
        flags = {"KPACK_SPLIT_ARTIFACTS": kpack}
        (directory / "therock_manifest.json").write_text(json.dumps({"flags": flags}))
        (directory / "dist_info.json").write_text(json.dumps({"dist_amdgpu_targets": targets}))


def usual_tree(root: Path, kpack: bool = True) -> ArtifactTree:
    """Make a build with a case of everything."""
    tree = ArtifactTree(root)
    tree.overlay(kpack)
    hip = tree.library(
        "core-hip_lib_generic", "lib/libamdhip64.so.7.1.2", "libamdhip64.so.7", flags=("-Wl,-rpath,$ORIGIN",)
    )
    tree.link("core-hip_lib_generic", "lib/libamdhip64.so.7", "libamdhip64.so.7.1.2")
    tree.link("core-hip_lib_generic", "lib/libamdhip64.so", "libamdhip64.so.7")
    tree.library("core-hip_lib_generic", "lib/plugins/libplug.so", None)
    tree.file("core-hip_dev_generic", "include/hip/hip_runtime.h", "#pragma once\n")
    tree.file("core-hip_dev_generic", "lib/cmake/hip/hip-config.cmake", "# hip\n")
    tree.program("base_run_generic", "bin/rocminfo")
    tree.file("base_run_generic", "bin/rocm_agent_enumerator", "#!/bin/sh\necho gfx942\n", 0o755)
    tree.program("amd-llvm_run_generic", "lib/llvm/bin/clang-20")
    tree.link("amd-llvm_run_generic", "lib/llvm/bin/clang", "clang-20")
    tree.link("amd-llvm_run_generic", "lib/llvm/bin/amdclang", "clang")
    tree.link("base_run_generic", "bin/amdclang", "../lib/llvm/bin/amdclang")
    tree.link("base_run_generic", "llvm", "lib/llvm")
    tree.program("base_run_generic", "bin/rocprof-sys-run")
    families = ("gfx942", "gfx1100") if kpack else ("gfx94X-dcgpu", "gfx110X-all")
    generic = "blas_lib_generic"
    tree.library(generic, "lib/librocblas.so.5", "librocblas.so.5", hip)
    tree.link(generic, "lib/librocblas.so", "librocblas.so.5")
    for family in families:
        name = family.partition("X")[0]
        tree.file(f"blas_lib_{family}", f"lib/rocblas/library/Kernels_{name}.co", name.encode() * 10)
        tree.file(f"blas_lib_{family}", f".kpack/blas_lib_{name}.kpack", b"KPAK" + name.encode())
    tree.file("blas_dev_generic", "include/rocblas/rocblas.h", "#pragma once\n")
    tree.file("blas_test_generic", "bin/rocblas-test", "test\n", 0o755)
    tree.file("prim_dev_generic", "include/rocprim/rocprim.hpp", "#pragma once\n")
    tree.program("rocprofiler-systems_run_generic", "bin/rocprof-sys-avail")
    tree.library("rocprofiler-systems_lib_generic", "lib/librocprof-sys.so.1", "librocprof-sys.so.1")
    tree.link("rocprofiler-systems_lib_generic", "lib/librocprof-sys.so", "librocprof-sys.so.1")
    tree.library("rocprofiler-systems_lib_generic", "lib/libprofiler-hub.so.0", "libprofiler-hub.so.0")
    return tree
