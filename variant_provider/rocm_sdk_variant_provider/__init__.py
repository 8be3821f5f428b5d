"""The provider `amd` of wheel variants, by the protocol of variantlib 0.2.2: which GPUs this machine has.

variantlib asks it in a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import rocm_sdk
from rocm_sdk import targets

__all__ = ["AmdVariantProvider", "FeatureConfig"]


class FeatureConfig(NamedTuple):
    """A feature, and its values in the order of preference."""

    name: str
    values: list[str]
    multi_value: bool


class AmdVariantProvider:
    """Namespace `amd`, feature `gfx_arch`: the targets whose packages support a GPU, without generic targets."""

    namespace = "amd"
    all_properties_compatible = False  # what is supported depends on the machine

    @classmethod
    def get_all_configs(cls) -> list[FeatureConfig]:
        """All targets that have packages."""
        return [_config(row.name for row in targets.table() if row.families)]

    @classmethod
    def get_supported_configs(cls) -> list[FeatureConfig]:
        """Those of the GPUs of this machine; [] without one. A GPU that is not known does not count."""
        here = _config(gpu.real_processor for gpu in rocm_sdk.gpus() if gpu.known)
        return [here] if here.values else []


def _config(names: Iterable[str]) -> FeatureConfig:
    """Of the package owners, each once."""
    return FeatureConfig("gfx_arch", list(dict.fromkeys(map(targets.package_owner, names))), multi_value=True)
