"""The resolution of the conflict with AMD's distribution `rocm`, which installs files of the same names as this one.

The distribution that is installed last overwrites the files of the other, and uninstalling either breaks the other.
Adoption makes this distribution the only owner of these files.

Adoption works even after `rocm` has overwritten or removed these files: nothing that it runs imports one of them. The
package runs on its own as `python -m rocm_sdk.adoption`.
"""

from .adopt import Adoption, adopt, undo
from .state import State, state

__all__ = ["Adoption", "State", "adopt", "state", "undo"]
