"""Libraries and programs with GPU code, linked for real in many forms."""

from collections.abc import Sequence
from pathlib import Path

from compiled_files import compile_file
from sample_device_code import HIPF, bundle, compressed, objects

TARGETS = ("gfx1030", "gfx90a:xnack-", "gfx90a:xnack+", "gfx942")
SIZE = 30000


def content(number: int) -> dict[str, bytes]:
    return objects(*TARGETS, size=SIZE + 100 * number)


PLAIN = [bundle(content(number)) for number in range(3)]
PACKED = [compressed(each, version) for each, version in zip(PLAIN, (2, 3, 2), strict=True)]

SOURCE = """
#include <stdexcept>
#include <cstdint>
struct wrapper { std::uint32_t magic, version; void *bundle; void *index; };
extern "C" { extern char fatbin0[], fatbin1[], fatbin2[]; }
__attribute__((section(".hipFatBinSegment"), used))
wrapper wrappers[3] = {{MAGIC, 1, fatbin0, nullptr}, {MAGIC, 1, fatbin1, nullptr}, {MAGIC, 1, fatbin2, nullptr}};
thread_local int counter = 41;
static const char *const names[] = {"a", "b", "c", "d"};
extern "C" const unsigned char *bundle_of(int i) { return static_cast<unsigned char *>(wrappers[i].bundle); }
extern "C" const char *name(int i) { return names[i & 3]; }
extern "C" int thrown(int value) {
    try { if (value > 0) throw std::runtime_error("caught"); } catch (const std::exception &e) { return ++counter; }
    return 0;
}
int main() {
    for (int i = 0; i < 3; i++) if (bundle_of(i)[0] != '_' && bundle_of(i)[0] != 'C') return 1;
    return thrown(1) == 42 ? 0 : 2;
}
"""

# name -> how it is compiled and linked
FORMS = {
    "gnu": ("-shared", "-fPIC"),
    "gnu-one-segment": ("-shared", "-fPIC", "-Wl,-z,noseparate-code"),
    "gnu-32k-pages": ("-shared", "-fPIC", "-Wl,-z,max-page-size=0x8000"),
    "gnu-both-hashes": ("-shared", "-fPIC", "-Wl,--hash-style=both"),
    "gnu-relr": ("-shared", "-fPIC", "-Wl,-z,pack-relative-relocs"),
    "gnu-no-build-id": ("-shared", "-fPIC", "-Wl,--build-id=none", "-s"),
    "lld": ("-shared", "-fPIC", "-fuse-ld=lld"),
    "lld-relr": ("-shared", "-fPIC", "-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr"),
    "lld-no-rosegment": ("-shared", "-fPIC", "-fuse-ld=lld", "-Wl,--no-rosegment"),
    "program": ("-pie", "-fPIE"),
    "program-lld": ("-pie", "-fPIE", "-fuse-ld=lld"),
    "program-fixed": ("-no-pie",),
}


def build(directory: Path, form: str, bundles: Sequence[bytes], *flags: str) -> Path:
    path = directory / ("program" if form.startswith("program") else "libx.so.1")
    lines = ['.section .hip_fatbin,"a",@progbits']
    files = [directory / f"{i}.bundle" for i in range(len(bundles))]
    for i, (file, each) in enumerate(zip(files, bundles, strict=True)):
        file.write_bytes(each)
        lines += [".p2align 12", f".globl fatbin{i}", f".hidden fatbin{i}", f"fatbin{i}:", f'.incbin "{file}"']
    assembly = "\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""])
    code = compile_file(["gcc", "-c", "-x", "assembler", "-"], directory / "code.o", assembly, files)
    name = [] if form.startswith("program") else ["-Wl,-soname,libx.so.1"]
    command = ["g++", "-g", *FORMS[form], *flags, "-x", "c++", "-", "-x", "none", code, *name]
    return compile_file(command, path, SOURCE.replace("MAGIC", str(HIPF)))
