"""The provider `amd` of wheel variants, by the protocol of variantlib 0.2.2, which names the GPUs of this machine.

Variantlib asks the provider in a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import rocm_sdk
from rocm_sdk import targets

__all__ = ["AmdVariantProvider", "FeatureConfig"]


class FeatureConfig(NamedTuple):
    """A feature and its values in the order of preference."""

    name: str
    values: list[str]
    multi_value: bool


class AmdVariantProvider:
    """The provider of the namespace `amd` with the feature `gfx_arch`.

    The values of the feature are the targets whose packages support a GPU. Generic targets are not among them.
    """

    namespace = "amd"
    all_properties_compatible = False  # the machine decides what is supported

    @classmethod
    def get_all_configs(cls) -> list[FeatureConfig]:
        """Return the feature with all targets that packages may be for: those of the packaging hierarchy."""
        return [_config(row.name for row in targets.table() if row.sub_family)]

    @classmethod
    def get_supported_configs(cls) -> list[FeatureConfig]:
        """Return the feature with the targets of the GPUs of this machine; [] if there is no GPU that is known."""
        here = _config(gpu.real_processor for gpu in rocm_sdk.gpus() if gpu.known)
        return [here] if here.values else []


def _config(names: Iterable[str]) -> FeatureConfig:
    """Return the feature whose values are the owners of the packages for these targets, each once."""
    return FeatureConfig("gfx_arch", list(dict.fromkeys(map(targets.package_owner, names))), multi_value=True)
