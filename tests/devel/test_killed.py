"""kill -9 in the middle: the next run always ends right.

ROCM_SDK_TEST_KILLS says how often this is tried (15); tests/attack/power_cut.py stops at each step in turn.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from sample_devel import DevelSite, device_files, member, sample_members

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("ROCM_SDK_TEST_KILLS", "15"))


FILES = [member(f"_rocm_sdk_devel/include/{i // 50}/{i}.h", b"x" * i) for i in range(400)]


def copy(packed: DevelSite, site: DevelSite) -> None:
    """Make `site` a copy of `packed`."""
    shutil.rmtree(site.path)
    shutil.copytree(packed.path, site.path)


def test_kill_at_random_points(make_site: Callable[..., DevelSite]) -> None:
    chance = random.Random()
    packed = make_site(name="packed")
    packed.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    packed.install_sdk()
    packed.install_devel([*sample_members(), *FILES])
    site = make_site()
    copy(packed, site)
    started = time.monotonic()
    site.command("init")
    duration = time.monotonic() - started
    expected = site.names()
    killed_at: dict[str, int] = {}
    for _ in range(KILLS):
        copy(packed, site)
        process = subprocess.Popen([sys.executable, "-m", "rocm_sdk", "init", "--quiet"], env=site.environment())
        # Python takes a part of the time to start, in which there is nothing to disturb.
        time.sleep(chance.uniform(0.25 * duration, 1.05 * duration))
        if process.poll() is not None:
            duration *= 0.9  # the machine is less busy than it was
        process.kill()
        process.wait()
        state = f"{'staged ' if list(site.path.glob('.rocm_sdk_devel.staging-*')) else ''}{site.tree.exists()}"
        killed_at[state] = killed_at.get(state, 0) + 1
        # Whoever reads a tree now sees a whole one.
        if site.tree.exists():
            assert {f"{site.tree.name}/include/7/399.h", f"{site.tree.name}/.rocm-sdk/stamp"} <= site.names()
        site.command("init", "--check")
        assert site.names() == expected
        assert len(site.rows()) == len(set(site.rows()))
    print(f"killed {KILLS} times, of a run of {duration:.2f} s; found afterwards (staging, tree): {killed_at}")
    assert any(state.startswith("staged") for state in killed_at), "some were killed at work"
