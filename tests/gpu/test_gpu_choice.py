"""Variables for some of the GPUs: `rocm-sdk env --gpu` on machines with an APU before and behind discrete GPUs."""

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_machine import Machine

import rocm_sdk
from rocm_sdk.cli.gpu_option import variables_for

APU_FIRST = ("gfx1036", "gfx1100", "gfx1201")
APU_LAST = ("gfx1100", "gfx1201", "gfx1036")
VISIBILITY = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def machine_of(directory: Path, processors: tuple[str, ...]) -> Machine:
    machine = Machine(directory)
    machine.cpu(0)
    for node, processor in enumerate(processors, start=1):
        machine.gpu(node, processor, unique_id=0 if processor == "gfx1036" else 0xAB00 + node)
    return machine


def visible(machine: Machine) -> list[str]:
    """Return the processors of the GPUs that HIP sees, in its order."""
    seen = {gpu.hip_index: gpu.processor for gpu in rocm_sdk.gpus(root=machine.root) if gpu.hip_index is not None}
    return [seen[index] for index in sorted(seen)]


def apply(patch: pytest.MonkeyPatch, variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            patch.delenv(name)
        else:
            patch.setenv(name, value)


@pytest.fixture(params=[APU_FIRST, APU_LAST], ids=["APU first", "APU last"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    return machine_of(tmp_path / "machine", request.param)


@pytest.fixture
def apu_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """Return a machine whose first GPU is an APU, as the machine of this process."""
    machine = machine_of(tmp_path / "machine", APU_FIRST)
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(machine.root))
    return machine


@pytest.mark.parametrize("layer", ["hip", "rocr"])
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("discrete", ["gfx1100", "gfx1201"]),
        ("integrated", ["gfx1036"]),
        ("gfx1100", ["gfx1100"]),
        ("gfx12, gfx1100", ["gfx1201", "gfx1100"]),
        ("gfx110X-all", ["gfx1100"]),
    ],
)
def test_words_mean_the_same_in_both_orders(
    monkeypatch: pytest.MonkeyPatch, machine: Machine, words: str, wanted: list[str], layer: str
) -> None:
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(machine.root))
    apply(monkeypatch, variables_for(words, layer))
    assert visible(machine) == wanted


@pytest.mark.usefixtures("apu_first")
def test_numbers_are_those_of_hip(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variables_for("2,0", "hip") == {"HIP_VISIBLE_DEVICES": "2,0"}
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "2,1")
    assert variables_for("0", "hip") == {"HIP_VISIBLE_DEVICES": "2"}
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "2,1")
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    assert variables_for("0", "hip") == {"HIP_VISIBLE_DEVICES": "1"}, "an index into what ROCR_VISIBLE_DEVICES leaves"
    expected = {"ROCR_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": None}
    assert variables_for("0", "rocr") == expected, "an index into the kernel's GPUs"


def test_a_uuid_names_one_gpu_or_none(apu_first: Machine) -> None:
    assert variables_for("gpu-000000000000AB02", "hip") == {"HIP_VISIBLE_DEVICES": "1"}
    with pytest.raises(rocm_sdk.EmptySelectionError, match="UUID of no GPU"):
        variables_for("GPU-XX", "hip")
    apu_first.gpu(4, "gfx1100", unique_id=0xAB02)
    with pytest.raises(rocm_sdk.EmptySelectionError, match="UUID of several GPUs"):
        variables_for("GPU-000000000000ab02", "hip")


@pytest.mark.usefixtures("apu_first")
@pytest.mark.parametrize("words", ["gfx942", "3", "99999999999999999999999", "", "0,,1", "supported,"])
def test_nothing_chosen_is_an_error(words: str) -> None:
    with pytest.raises(rocm_sdk.EmptySelectionError) as caught:
        rocm_sdk._native.choose_gpus(words, "hip", ())
    assert caught.value.code == "E-GPU-008"
    assert "HIP sees 0 (gfx1036, integrated)" in str(caught.value)


@pytest.mark.usefixtures("apu_first")
def test_an_unknown_word_is_an_error() -> None:
    with pytest.raises(rocm_sdk.UnknownTargetError, match="discreet"):
        variables_for("discreet", "hip")


@pytest.mark.usefixtures("apu_first")
def test_a_hidden_gpu_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "0")
    with pytest.raises(rocm_sdk.EmptySelectionError, match="HIP sees 0"):
        variables_for("discrete", "hip")
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "")
    with pytest.raises(rocm_sdk.EmptySelectionError, match="hidden by ROCR_VISIBLE_DEVICES="):
        variables_for("integrated", "rocr")


def test_supported_is_what_the_caller_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine", APU_LAST)
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(machine.root))
    assert rocm_sdk._native.choose_gpus("supported", "hip", ("gfx1201",)) == (("HIP_VISIBLE_DEVICES", "1"),)
    with pytest.raises(ValueError, match="layer"):
        rocm_sdk._native.choose_gpus("supported", "opencl", ())


LIMITS = [None, *(",".join(each) for size in range(4) for each in itertools.permutations("012", size))]


@pytest.fixture(scope="module")
def three_gpus() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory() as directory:
        yield machine_of(Path(directory) / "machine", APU_FIRST)


def numbers(machine: Machine) -> tuple[list[str], list[str]]:
    """Return the processors of the GPUs that HIP and OpenCL see, in their orders."""
    gpus = rocm_sdk.gpus(root=machine.root)
    hip = sorted((gpu.hip_index, gpu.processor) for gpu in gpus if gpu.hip_index is not None)
    opencl = sorted((gpu.opencl_index, gpu.processor) for gpu in gpus if gpu.opencl_index is not None)
    return [name for _, name in hip], [name for _, name in opencl]


@given(
    limits=st.tuples(*(st.sampled_from(LIMITS) for _ in VISIBILITY)),
    words=st.lists(st.sampled_from(["0", "1", "2", "discrete", "integrated", "gfx1100"]), min_size=1, max_size=3),
    layer=st.sampled_from(["hip", "rocr"]),
)
def test_limits_are_never_widened(
    three_gpus: Machine, limits: tuple[str | None, ...], words: list[str], layer: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM_SDK_ROOTFS", str(three_gpus.root))
        for name, value in zip(VISIBILITY, limits, strict=True):
            if value is None:
                patch.delenv(name, raising=False)
            else:
                patch.setenv(name, value)
        hip, opencl = numbers(three_gpus)
        meaning = {"discrete": [n for n in hip if n != "gfx1036"], "integrated": [n for n in hip if n == "gfx1036"]}
        meaning |= {"gfx1100": [n for n in hip if n == "gfx1100"]}
        meaning |= {str(index): hip[index : index + 1] for index in range(3)}
        wanted = list(dict.fromkeys(name for word in words for name in meaning[word]))
        is_wrong = not wanted or any(word.isdigit() and not meaning[word] for word in words)
        if is_wrong:
            with pytest.raises(rocm_sdk.EmptySelectionError):
                variables_for(",".join(words), layer)
            return
        apply(patch, variables_for(",".join(words), layer))
        new_hip, new_opencl = numbers(three_gpus)
        assert new_hip == wanted
        left = opencl if layer == "hip" else [name for name in opencl if name in wanted]
        if layer == "rocr" and not limits[-1]:  # OpenCL's order is then the order of ROCR_VISIBLE_DEVICES
            left, new_opencl = sorted(left), sorted(new_opencl)
        assert new_opencl == left


@pytest.mark.usefixtures("apu_first")
def test_the_document_of_env_names_what_is_removed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rocm_sdk.cli import main

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert main(["env", "--gpu", "gfx1100", "--layer", "rocr", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "schema": 1,
        "set": {"ROCR_VISIBLE_DEVICES": "1"},
        "prepend": {},
        "unset": ["CUDA_VISIBLE_DEVICES"],
    }
