"""Resolves the conflict with AMD's distribution `rocm`, which installs files of the same names as this one.

The distribution that is installed last overwrites the files of the other, and uninstalling either breaks the other.
Adoption makes this distribution the only owner of these files.

It has to work when the rest of the package was overwritten or removed. Therefore it imports nothing of it except the
base class of the errors, and runs on its own as `python -m rocm_sdk.adoption`.
"""

from .adopt import Adoption, adopt, undo
from .state import State, state

__all__ = ["Adoption", "State", "adopt", "state", "undo"]
