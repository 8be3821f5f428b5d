"""rocm_sdk.targets: names, families and what belongs to whom."""

import pytest

from rocm_sdk import RocmSdkError, UnknownTargetError, targets


def test_lookup_tells_a_row_of_the_table() -> None:
    row = targets.lookup("gfx1151")
    assert (row.name, row.major, row.minor, row.stepping, row.mach) == ("gfx1151", 11, 5, 1, 0x4A)
    assert (row.xnack, row.sramecc, row.gpu_class) == ("none", False, "integrated")
    assert row.families == ("igpu-all", "gfx115X-all", "gfx115X-igpu")
    assert (row.generic, row.sub_family, row.family) == ("gfx11-generic", "gfx115x", "gfx11")
    assert row in targets.table()
    assert targets.lookup("gfx90a:sramecc+").stepping == 10


@pytest.mark.parametrize(
    ("names", "expanded"),
    [
        ("gfx110X-all,gfx942", ("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx942")),
        ("gfx94X-dcgpu;gfx9_4; gfx94x ,gfx9-4", ("gfx942",)),
        ("gfx942:xnack-:sramecc+,gfx942:sramecc+:xnack-", ("gfx942:sramecc+:xnack-",)),
        ("gfx1250", ("gfx1250",)),
        ("", ()),
        (" , ;", ()),
    ],
)
def test_expand(names: str, expanded: tuple[str, ...]) -> None:
    assert targets.expand(names) == expanded


@pytest.mark.parametrize(
    ("names", "near"),
    [
        ("gfx943", "gfx942"),
        ("gfx110X-al", "gfx110X-all"),
        ("gfx942,gfx9O6", "gfx906"),
        ("gfx1151:xnack-", "Leave it out"),
        ("gfx942:xnack", "gfx942:sramecc+:xnack-"),
        ("gfx942:xnack+:xnack+", "each once"),
        ("gfx1250:xnack+", "Leave it out"),
        ("gfx94X-dcgpu:xnack+", "gfx94X-dcgpu"),
        ("sm_90", "gfx942"),
    ],
)
def test_what_cannot_be_meant(names: str, near: str) -> None:
    with pytest.raises(ValueError, match=r"gfx|sm_90") as caught:
        targets.expand(names)
    assert isinstance(caught.value, UnknownTargetError)
    assert near in str(caught.value)


@pytest.mark.parametrize("name", ["gfx943", "gfx\0", ""])
def test_unknown_names_are_value_errors_everywhere(name: str) -> None:
    for ask in (targets.lookup, targets.families_of, targets.package_owner):
        with pytest.raises(ValueError):
            ask(name)


def test_a_name_is_a_str() -> None:
    with pytest.raises(TypeError):
        targets.lookup(b"gfx942")  # type: ignore[arg-type]


def test_families_and_owners() -> None:
    assert targets.families_of("gfx942") == ("gfx942", "dcgpu-all", "gfx94X-all", "gfx94X-dcgpu")
    assert targets.families_of("gfx803") == ()
    assert targets.package_owner("gfx1250-strict") == "gfx1250"
    assert targets.families_of("gfx1250-strict")[0] == "gfx1250"
    assert targets.package_owner("gfx942:xnack+") == "gfx942"


def test_each_family_of_the_table_contains_its_target() -> None:
    for row in targets.table():
        for family in row.families:
            assert row.name in targets.expand(family), (row.name, family)
        for hierarchy in filter(None, (row.sub_family, row.family)):
            assert (row.name in targets.expand(hierarchy)) == bool(row.families)


def test_the_error_is_one_of_ours() -> None:
    assert issubclass(UnknownTargetError, RocmSdkError)


# Product names, and the targets that have them.
PRODUCTS = [
    ("rx7900xtx", "gfx1100"),
    ("AMD Radeon RX 7900 XTX", "gfx1100"),
    ("7700 XT", "gfx1101"),
    ("Radeon RX 7700S", "gfx1102"),
    ("MI300X", "gfx942"),
    ("mi308x hf", "gfx942"),
    ("Radeon AI PRO R9700", "gfx1201"),
    ("Radeon 8065S", "gfx1151"),
    ("860M Graphics", "gfx1152"),
    ("MI450", "gfx1250"),
    ("Radeon VII", "gfx906"),
]


@pytest.mark.parametrize(("name", "target"), PRODUCTS)
def test_a_product_of_one_target(name: str, target: str) -> None:
    assert targets.expand(f"gfx90a,{name}") == ("gfx90a", target)
    assert targets.lookup(name).name == target


@pytest.mark.parametrize(
    "name", ["7900", "RX", "Radeon Graphics", "MI300", "7900 XTX 24GB", "vega", "x" * 5000, "RX 7900 XTX\x1b[2J"]
)
def test_what_is_no_whole_product(name: str) -> None:
    for ask in (targets.expand, targets.lookup):
        with pytest.raises(UnknownTargetError) as caught:
            ask(name)
        assert "is not a known GPU target" in str(caught.value)
        assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("name", ["840M", "amd radeon 840m"])
def test_a_product_of_two_targets(name: str) -> None:
    for ask in (targets.expand, targets.lookup):
        with pytest.raises(UnknownTargetError) as caught:
            ask(name)
        assert caught.value.message == f'"{name}" is a product with several targets'
        assert caught.value.fix == "Name one of its targets: gfx1152, gfx1153"


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("gfx12_5", "gfx1250"),
        ("gfx125x", "gfx1250"),
        ("gfx12", "gfx1200, gfx1201, gfx1250"),
        ("gfx9-4", "gfx942"),
        ("gfx110X-dgpu:xnack+", "gfx1100, gfx1101, gfx1102"),
        ("gfx90a-dcgpu", "gfx90a"),
    ],
)
def test_a_family_where_one_target_is_asked_for(name: str, members: str) -> None:
    for ask in (targets.lookup, targets.families_of, targets.package_owner):
        with pytest.raises(UnknownTargetError) as caught:
            ask(name)
        assert caught.value.message.startswith(f'"{name.partition(":")[0]}" is a family of targets, not one target')
        assert caught.value.fix == f"Name one of its targets: {members}"


@pytest.mark.parametrize(
    "family", [*dict.fromkeys(name for row in targets.table() for name in (*row.families, row.sub_family, row.family))]
)
def test_no_family_is_offered_as_itself(family: str | None) -> None:
    if family is not None:
        with pytest.raises(UnknownTargetError, match="Name one of its targets: gfx") as caught:
            targets.lookup(family)
        assert "did you mean" not in str(caught.value)
