"""Installed ROCms: small, compiled for real, in the layouts of AMD, of distributions and of Nix."""

from pathlib import Path

from compiled_files import compile_file
from sample_device_code import HOST, bundle, library, objects

PROGRAM = '#include <stdio.h>\nint main(int c, char **v) { printf("%s %d\\n", v[0], c); return 0; }'


class Prefix:
    """A directory to which tests add files. libdir: where its libraries are."""

    def __init__(self, root: Path, libdir: str = "lib") -> None:
        self.root, self.libdir = root, libdir
        root.mkdir(parents=True, exist_ok=True)

    def place(self, path: str) -> Path:
        if path.startswith("lib/") and not path.startswith("lib/llvm/"):
            path = f"{self.libdir}/{path.removeprefix('lib/')}"
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def file(self, path: str, content: str | bytes = "", mode: int = 0o644) -> Path:
        target = self.place(path)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        target.chmod(mode)
        return target

    def link(self, path: str, text: str) -> None:
        self.place(path).symlink_to(text)

    def library(self, path: str, *needs: Path, code: tuple[str, ...] = (), flags: tuple[str, ...] = ()) -> Path:
        """Compile a library `lib/libx.so.1.2` with the SONAME `libx.so.1`, and make the links that go with it.

        `code` are the targets of its GPU code.
        """
        target = self.place(path)
        head, _, version = target.name.partition(".so")
        soname = f"{head}.so.{version.split('.')[1]}" if version else target.name
        words = ["-Wl,--no-as-needed", *needs, *flags]
        if code:
            made = library(target.with_name(soname), [bundle(objects(*code), host=HOST)], *words)
            for leftover in target.parent.glob(f"{head}.so*.[0-9s]*"):
                if leftover.suffix == ".bundle":
                    leftover.unlink()
            made.rename(target)
        else:
            command = ["gcc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-x", "c", "-", "-x", "none", *words]
            name = "f_" + "".join(c if c.isalnum() else "_" for c in path)
            text = f"int {name}(void) {{ return 1; }}"
            compile_file(command, target, text)
        for name, text in ((soname, target.name), (f"{head}.so", soname)):
            if name != text and not target.with_name(name).exists():
                target.with_name(name).symlink_to(text)
        return target

    def program(self, path: str, *flags: str) -> Path:
        return compile_file(["gcc", "-x", "c", "-", *flags], self.place(path), PROGRAM)


def usual_rocm(root: Path, libdir: str = "lib") -> Prefix:
    """Make a ROCm with a case of everything, as AMD installs it below /opt/rocm."""
    prefix = Prefix(root, libdir)
    up = "/".join([".."] * (libdir.count("/") + 1))
    runtime = prefix.library("lib/libhsa-runtime64.so.1.18")
    prefix.library("lib/libamd_comgr.so.3.0")
    hip = prefix.library("lib/libamdhip64.so.7.1.2", runtime)
    prefix.file("lib/.hipInfo", "x\n")
    rand = prefix.library("lib/librocrand.so.1.1", hip, code=("gfx90a", "gfx942", "gfx1030"))
    prefix.library("lib/libhiprand.so.1.1", rand)
    prefix.library("lib/libhipsparselt.so.0.2", hip, code=("gfx942",))
    prefix.library("lib/librocblas.so.5.0", hip)
    for target in ("gfx90a", "gfx1030"):
        name = f"lib/rocblas/library/Kernels.so-000-{target}"
        prefix.file(f"{name}.hsaco", bundle(objects(target)))
        prefix.file(f"lib/rocblas/library/TensileLibrary_lazy_{target}.dat", target)
    prefix.file("lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", bundle(objects("gfx90a:xnack+")))
    prefix.file("lib/rocblas/library/TensileLibrary_fallback.co", bundle(objects("gfx90a", "gfx942", "gfx1030")))
    prefix.file("lib/rocblas/library/TensileManifest.txt", "manifest\n")
    prefix.file("share/miopen/db/gfx90a68.db.txt", "x\n")
    prefix.file("share/miopen/db/miopen.db", "x\n")
    prefix.program("lib/llvm/bin/clang-20")
    prefix.link("lib/llvm/bin/clang", "clang-20")
    prefix.link("lib/llvm/bin/amdclang", "clang")
    prefix.file("lib/llvm/lib/clang/20/include/stddef.h", "\n")
    prefix.link("bin/amdclang", "../lib/llvm/bin/amdclang")
    prefix.link("llvm", "lib/llvm")
    prefix.program("bin/rocminfo", "-no-pie")
    prefix.program("bin/rocm_agent_enumerator", "-static")
    prefix.file("bin/hipcc", "#!/bin/sh\necho hipcc\n", 0o755)
    prefix.file("bin/rocblas-bench", "#!/bin/sh\n", 0o755)
    prefix.file("share/strange/data.txt", "x\n")
    prefix.file("include/hip/hip_runtime.h", "#pragma once\n")
    prefix.file("include/rocrand/rocrand.h", "#pragma once\n")
    prefix.file("lib/cmake/hip/hip-config.cmake", f'get_filename_component(DIR}}/{up}/../../ "x")\n')
    prefix.file("lib/pkgconfig/hip.pc", f"prefix=/opt/rocm\nlibdir=${{prefix}}/{libdir}\n")
    prefix.file("share/doc/hip/LICENSE", "licence\n")
    for name in ("rocrand", "rocprim", "rocprofiler-systems", "llvm", "unknown"):
        prefix.file(f"share/doc/{name}/LICENSE", f"licence of {name}\n")
    prefix.file("share/man/man1/hipcc.1", "x\n")
    prefix.program("bin/rocprof-sys-avail")
    prefix.library("lib/librocprof-sys.so.1.0")
    return prefix
