"""The SDK of Debian's ROCm packages in each shape."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from debian_sdk import BUILD, debian_site

from rocm_sdk_build.code.patchelf import Shape


@pytest.fixture(scope="session")
def debian_sdk() -> Callable[[str], Path]:
    """Return a function that returns an SDK of a shape (`none`, `rpath` or `runpath`), for reading only.

    The SDK is a directory like site-packages. Other shapes and runs share its files; a test that changes some takes
    `copy_of_debian_sdk`.
    """
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there are no Debian packages to make an SDK from")
    return lambda shape: debian_site(Shape(shape))


@pytest.fixture(params=[shape.value for shape in Shape])
def each_debian_sdk(request: pytest.FixtureRequest, debian_sdk: Callable[[str], Path]) -> Path:
    """Return the SDK in each shape in turn."""
    return debian_sdk(request.param)


@pytest.fixture
def copy_of_debian_sdk(debian_sdk: Callable[[str], Path]) -> Iterator[Callable[[str], Path]]:
    """Yield a function that copies an SDK of a shape by hard links.

    Files of the copy may be removed, renamed, replaced, but not written into.
    """
    with tempfile.TemporaryDirectory(prefix="sdk-", dir=BUILD) as directory:

        def copy(shape: str) -> Path:
            target = Path(directory, shape)
            shutil.copytree(debian_sdk(shape), target, copy_function=os.link)
            return target

        yield copy
