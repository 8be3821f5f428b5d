"""The origins of the packages of a choice: each comes from the index, or is a file that the user named."""

import pytest

from rocm_sdk.index.choice import Choice, _from_elsewhere
from rocm_sdk.index.installer_answer import Package
from rocm_sdk.index.request import Index, Requirement

OURS = "https://rocm.example/whl"
LOCAL = "file:///tmp/others/torch-2.0-py3-none-any.whl"
# Index, origin of the package, whether the user named its file -> whether it is refused.
ORIGINS = {
    (OURS, f"{OURS}/torch-2.0-py3-none-any.whl", False): False,
    (OURS, LOCAL, False): True,
    (OURS, LOCAL, True): False,
    (OURS, "https://files.pythonhosted.org/torch-2.0-py3-none-any.whl", False): True,
    ("file:///srv/whl", LOCAL, False): False,
    ("https://pypi.org/simple", "https://files.pythonhosted.org/torch-2.0-py3-none-any.whl", False): False,
}


@pytest.mark.parametrize(("address", "origin", "is_named"), ORIGINS)
def test_origins(address: str, origin: str, *, is_named: bool) -> None:
    requirement = Requirement("torch", (), "", "" if is_named else "==2.0", "torch.whl" if is_named else "")
    choice = Choice((requirement,), {"torch": Package("2.0", origin)}, ())
    faults = list(_from_elsewhere(choice, Index(address, address, "stable", (7, 0))))
    assert bool(faults) == ORIGINS[address, origin, is_named]
    assert all(origin in message and "remove it there" in fix for message, fix in faults)
