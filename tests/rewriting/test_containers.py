"""Bundles by themselves and in libraries: smaller, compressed, decompressed, taken apart. Judge: clang's bundler."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import CLANG, HOST, bundle, compressed, library, objects

from rocm_sdk import RewriteError, device_code
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.extract import extract_code
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

TARGETS = ("gfx1030", "gfx90a:xnack-", "gfx90a:xnack+", "gfx942")
PLAIN = bundle(objects(*TARGETS, size=9000))


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def bundler() -> str:
    return subprocess.check_output([CLANG, "--print-prog-name=clang-offload-bundler"], text=True).strip()


def test_a_bundle_is_what_the_bundler_would_make(tmp_path: Path) -> None:
    """Byte for byte: the kept entries in their order, the host first, each at a page."""
    source = write(tmp_path / "x.co", PLAIN)
    made = rewrite_file(source, str(tmp_path / "y.co"), NewCode(("gfx90a",)))
    kept = objects("gfx90a:xnack-", "gfx90a:xnack+", size=9000)
    assert (tmp_path / "y.co").read_bytes() == bundle(kept)
    assert (made.size_before, made.size) == (len(PLAIN), len(bundle(kept)))
    names, inputs = [HOST], [write(tmp_path / "host", b"")]
    for number, (name, content) in enumerate(kept.items()):
        names.append(name)
        inputs.append(write(tmp_path / str(number), content))
    words = [f"-targets={','.join(names)}", f"-inputs={','.join(inputs)}", f"-outputs={tmp_path / 'judge'}"]
    subprocess.run([bundler(), "-type=o", "-bundle-align=4096", *words], check=True)
    judged = (tmp_path / "judge").read_bytes()
    host = judged[56 : 56 + int.from_bytes(judged[48:56], "little")].decode()  # the name of the first entry
    if host != HOST:
        pytest.skip(f"this bundler writes the name of the host as {host}")
    assert judged == (tmp_path / "y.co").read_bytes()


@pytest.mark.parametrize("method", ["zstd", "zlib"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_container_stays(tmp_path: Path, version: int, method: str) -> None:
    source = write(tmp_path / "x.co", compressed(PLAIN, version, method))
    rewrite_file(source, str(tmp_path / "y.co"), NewCode(("gfx1030",)))
    (found,) = device_code(tmp_path / "y.co").bundles
    assert (found.version, found.compression) == (version, method)
    assert [image.target for image in found.images] == ["gfx1030"]
    rewrite_file(str(tmp_path / "y.co"), str(tmp_path / "z.co"), NewCode(compressed=False, may_grow=True))
    assert (tmp_path / "z.co").read_bytes() == bundle(objects("gfx1030", size=9000))


def test_there_and_back(tmp_path: Path) -> None:
    source = write(tmp_path / "x.co", PLAIN)
    rewrite_file(source, str(tmp_path / "packed.co"), NewCode(compressed=True))
    assert device_code(tmp_path / "packed.co").bundles[0].version == 3
    rewrite_file(str(tmp_path / "packed.co"), str(tmp_path / "plain.co"), NewCode(compressed=False, may_grow=True))
    assert (tmp_path / "plain.co").read_bytes() == PLAIN


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    source = str(library(tmp_path / "libx.so", [PLAIN, compressed(PLAIN, 2)]))
    for name in ("one", "two"):
        rewrite_file(source, str(tmp_path / name), NewCode(("gfx942",), check_loading=False))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_all_that_a_gpu_runs_is_kept(tmp_path: Path) -> None:
    """Generic code too; SPIR-V where there is nothing else; what only patched runtimes try where it is asked for."""
    generic = {"hipv4-amdgcn-amd-amdhsa--gfx10-3-generic": b"\x7fELF" + bytes(60)}
    spirv = {"hip-spirv64-amd-amdhsa--amdgcnspirv": b"\x03\x02\x23\x07" + bytes(60)}
    source = write(tmp_path / "x.co", bundle({**objects("gfx1030", "gfx942"), **generic, **spirv}))

    def kept(*gpus: str, unofficial: bool = False) -> tuple[str, ...]:
        return rewrite_file(source, None, NewCode(gpus, unofficial)).kept

    assert kept("gfx1030") == ("gfx1030", "gfx10-3-generic")
    assert kept("gfx1031") == ("gfx10-3-generic",)
    assert kept("gfx1031", unofficial=True) == ("gfx1030", "gfx10-3-generic")
    assert kept("gfx1200") == ("amdgcnspirv",)
    assert kept("gfx1200", "gfx942") == ("gfx942", "amdgcnspirv")


def test_code_objects_by_themselves(tmp_path: Path) -> None:
    for container in (PLAIN, compressed(PLAIN, 3)):
        source = str(library(tmp_path / f"lib{len(container)}.so", [container, bundle(objects("gfx942"))]))
        found = extract_code(source, str(tmp_path / f"out{len(container)}"))
        expected = [*objects(*TARGETS, size=9000).items(), *objects("gfx942").items()]
        assert [(each.id, Path(each.path).read_bytes()) for each in found] == expected
        assert Path(found[0].path).name == f"{Path(source).name}.0.hipv4-amdgcn-amd-amdhsa--gfx1030.co"
        with pytest.raises(RewriteError, match="exists"):
            extract_code(source, str(tmp_path / f"out{len(container)}"))


def test_code_objects_that_cannot_all_be_written(tmp_path: Path) -> None:
    """Code objects that were written go: the next run would refuse the directory for them."""
    source = str(library(tmp_path / "libx.so", [PLAIN]))
    *others, last = (Path(each.path) for each in extract_code(source, str(tmp_path / "out")))
    for path in others:
        path.unlink()
    with pytest.raises(RewriteError, match="exists"):
        extract_code(source, str(tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == [last]
    with pytest.raises(PackagingError, match="is in the way: it is not a directory"):
        extract_code(source, str(last))
    shutil.rmtree(tmp_path / "out")
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
    code += "from rocm_sdk_build.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = completed([sys.executable, "-c", code, "code", source, "--extract", str(tmp_path / "out")])
    assert (done.returncode, done.stderr) == (1, f"rocm-sdk-build: {tmp_path}/out: File too large\n")
    assert not (tmp_path / "out").exists()
