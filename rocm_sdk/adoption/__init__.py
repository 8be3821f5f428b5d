"""Lives beside AMD's own distribution `rocm`, whose files have the names of ours: whoever is installed last overwrites
the other, and uninstalling either breaks the other. Adoption makes ours the only owner of these names.

It has to work when the rest of the package has been overwritten or removed. So it imports nothing of it but the base
class of its errors, and runs by itself as `python -m rocm_sdk.adoption`.
"""

from .adopt import Adoption, adopt, undo
from .state import State, state

__all__ = ["Adoption", "State", "adopt", "state", "undo"]
