"""Targets and the owners of their packages: the established names, and the answers that their callers rely on."""

import json

import pytest
from sample_site import DIST_INFO, Site

from rocm_sdk import _dist_info, _native, targets

# A name, and the answers of canonical_target, package_owner and architectural_family.
NAMES = [
    ("gfx942", "gfx942", "gfx942", None),
    ("gfx942:xnack+", "gfx942", "gfx942", None),
    ("gfx942-xnack-", "gfx942", "gfx942", None),
    ("gfx90a:sramecc+:xnack-", "gfx90a", "gfx90a", None),
    ("gfx90a-sramecc--xnack+", "gfx90a", "gfx90a", None),
    ("gfx90a:sramecc--xnack+:xnack+", "gfx90a", "gfx90a", None),
    ("gfx1250", "gfx1250", "gfx1250", "gfx125X"),
    ("gfx1250-strict", "gfx1250-strict", "gfx1250", "gfx125X"),
    ("gfx1250-strict:xnack+", "gfx1250-strict", "gfx1250", "gfx125X"),
    ("gfx1250-strict-xnack-", "gfx1250-strict", "gfx1250", "gfx125X"),
    ("gfx1251", "gfx1251", "gfx1251", None),
    ("gfx1250-unknown", "gfx1250-unknown", "gfx1250-unknown", None),
    ("gfx1250:unknown+", "gfx1250:unknown+", "gfx1250:unknown+", None),
    ("gfx942:xnack+:unknown-", "gfx942:xnack+:unknown-", "gfx942:xnack+:unknown-", None),
    ("gfx942xnack+", "gfx942xnack+", "gfx942xnack+", None),
    ("gfx942:xnack", "gfx942:xnack", "gfx942:xnack", None),
    ("gfx125X-dcgpu", "gfx125X-dcgpu", "gfx125X-dcgpu", None),
    ("gfx9999", "gfx9999", "gfx9999", None),
    (":xnack+", "", "", None),
    ("xnack+", "xnack+", "xnack+", None),
    ("", "", "", None),
    ("gfx942" + 40_000 * "-sramecc+", "gfx942", "gfx942", None),
]


@pytest.mark.parametrize(("name", "canonical", "owner", "family"), NAMES, ids=lambda each: str(each)[:30])
def test_names_and_answers(name: str, canonical: str, owner: str, family: str | None) -> None:
    assert _dist_info.canonical_target(name) == canonical
    assert _dist_info.package_owner(name) == owner
    assert _dist_info.architectural_family(name) == family


def test_groups() -> None:
    names = ["gfx1250-strict", "gfx1250", "gfx1250-strict", "gfx950:xnack+", "gfx950-xnack-"]
    groups = {"gfx1250": ["gfx1250-strict", "gfx1250"], "gfx950": ["gfx950:xnack+", "gfx950-xnack-"]}
    assert _dist_info.group_package_targets(iter(names)) == groups
    assert [*_dist_info.group_package_targets(names)] == ["gfx1250", "gfx950"]
    assert _dist_info.group_package_targets([]) == {}


def test_the_table_for_programs() -> None:
    data = _dist_info.ownership_data()
    assert json.loads(json.dumps(data)) == {"schema_version": 1, "package_owners": {"gfx1250-strict": "gfx1250"}}
    data["package_owners"].clear()
    assert _dist_info.package_owner("gfx1250-strict") == "gfx1250"
    assert {row.name: _native.package_owner(row.name) for row in targets.table()} == {
        row.name: row.package_owner for row in targets.table()
    }


@pytest.mark.parametrize("wrong", [None, b"gfx942", 942])
def test_what_is_no_name(wrong: object) -> None:
    with pytest.raises(TypeError):
        _dist_info.package_owner(wrong)  # type: ignore[arg-type]


# The families that an SDK offers, ROCM_SDK_TARGET_FAMILY, and the package of its code; None: a ValueError.
WISHES = [
    ("gfx1250", "gfx1250-strict", "rocm-sdk-device-gfx1250"),
    ("gfx1250-strict", "gfx1250", "rocm-sdk-device-gfx1250"),
    ("gfx1250-strict", "gfx1250-strict-xnack+", "rocm-sdk-device-gfx1250"),
    ("gfx942", "gfx942-sramecc+-xnack-", "rocm-sdk-device-gfx942"),
    ("gfx942:xnack+", "gfx942", "rocm-sdk-device-gfx942"),
    ("gfx1250", "gfx1251", None),
    ("gfx942", "gfx942:unknown+", None),
    ("gfx94X-dcgpu", "gfx942", None),
]


@pytest.mark.parametrize(("offered", "wanted", "package"), WISHES)
def test_a_wish_by_owner(site: Site, offered: str, wanted: str, package: str | None) -> None:
    site.write("rocm_sdk_core/_dist_info.py", DIST_INFO.replace("gfx94X-dcgpu", offered))
    program = """
        from rocm_sdk import _dist_info
        try:
            family = _dist_info.determine_target_family()
        except ValueError:
            print(None)
        else:
            print(family, _dist_info.ALL_PACKAGES["device"].get_dist_package_name(family))
    """
    answer = site.output(program, ROCM_SDK_TARGET_FAMILY=wanted)
    assert answer == (f"{wanted} {package}" if package else "None")


@pytest.mark.parametrize("wanted", ["gfx942-xnack+", "gfx942:sramecc+", "gfx942"])
def test_the_libraries_of_an_owner(site: Site, wanted: str) -> None:
    """Where each family has its own package of libraries, it is found by the owner, too."""
    text = DIST_INFO.replace('ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"\n', "")
    site.write("rocm_sdk_core/_dist_info.py", text.replace("gfx94X-dcgpu", "gfx942"))
    path = site.library("librccl.so.1", package="_rocm_sdk_libraries_gfx942")
    site.write("_rocm_sdk_libraries_gfx942/__init__.py")
    program = "import rocm_sdk; print(*rocm_sdk.find_libraries('rccl'))"
    assert site.output(program, ROCM_SDK_TARGET_FAMILY=wanted) == str(path)
