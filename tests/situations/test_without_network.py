"""The words of `rocm-sdk install` where no index answers, as on a machine behind a firewall."""

import os
import sys

from programs import completed

SILENT = "http://127.0.0.1:9/simple/"  # nothing listens on the port `discard`


def test_print() -> None:
    """The command, without versions, for a machine that has a network; stderr says what it is not."""
    words = ("install", "torch", "--gpu", "gfx1100", "--installer", "pip", "--print")
    environment = {**os.environ, "ROCM_SDK_INDEX": SILENT}
    done = completed([sys.executable, "-m", "rocm_sdk", *words], env=environment)
    assert done.returncode == 0, done.stderr
    assert (
        """ install --index-url "$ROCM_SDK_INDEX" 'rocm[libraries,device-gfx1100]' 'torch[device-gfx1100]'"""
        in done.stdout
    )
    first, second, fix = done.stderr.splitlines()
    assert first.endswith("nothing answers at 127.0.0.1:9: Connection refused")
    assert second.startswith("rocm-sdk: the printed form has no pinned versions: ")
    assert second.endswith(" packages for gfx1100")
    assert fix == "  fix: check ROCM_SDK_INDEX; the server may be down"
