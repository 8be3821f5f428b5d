"""The words about addresses, and the sources of their passwords."""

import subprocess

import pytest
from other_user import OtherUser
from sample_site import clean_environment

from rocm_sdk.base.value_text import without_passwords
from rocm_sdk.index.web.server import Server, WebError, shown_address

NOBODY = 54321  # a user without an entry in /etc/passwd


@pytest.mark.parametrize(
    "address", ["https:/user:secret@host/simple", "https://user:sec/secret@host/simple", "https://user:12/secret@host/"]
)
def test_a_password_in_what_is_no_address(address: str) -> None:
    assert "secret" not in shown_address(address)


@pytest.mark.parametrize("address", ["https:/user:secret@host/simple", "https://user:sec/secret@host/simple"])
def test_what_is_refused_does_not_show_it(address: str) -> None:
    with pytest.raises(WebError) as refused:
        Server(address)
    assert "secret" not in f"{refused.value} {refused.value.fix}"


def test_a_user_without_a_home(other_user: OtherUser) -> None:
    """A container may have no name for its user. Then nobody has a .netrc."""
    ask = "from rocm_sdk.index.web.server import _of_netrc; print(repr(_of_netrc('example.org')))"
    command = [str(other_user.python), "-c", ask]
    environment = {name: value for name, value in clean_environment().items() if name != "HOME"}
    result = subprocess.run(
        command, env=environment, cwd="/", user=NOBODY, extra_groups=[], capture_output=True, text=True, check=False
    )
    assert result.stdout == "''\n", result.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://host/a?sig=s3cr3t, then", "see https://host/a, then"),
        ("(https://host/a#s3cr3t) and http://u:s3cr3t@h/b?s3cr3t=1", "(https://host/a) and http://h/b"),
        ("https://u:s3cr3t?s3cr3t@host/a", "https://"),
        ("https://host/?user=a@s3cr3t: no", "https://: no"),
        ("https://host/a.whl: no", "https://host/a.whl: no"),
        ("`https://host/a?s3cr3t`", "`https://host/a`"),
    ],
)
def test_what_is_shown_of_an_address(text: str, shown: str) -> None:
    assert without_passwords(text) == shown
