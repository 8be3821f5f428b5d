"""The attackers, each for a moment and from a known seed; ROCM_SDK_ATTACK_ROUNDS lets them go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROUNDS = {
    "binding.py": 25,
    "foreseen.py": 25,
    "power_cut.py": 5,
    "archives.py": 25,
    "closures.py": 6,
    "stores.py": 25,
    "notes.py": 25,
    "outputs.py": 25,
    "parsers.py": 100,
}


@pytest.mark.parametrize("program", sorted(ROUNDS))
def test_attack_finds_nothing(program: str) -> None:
    rounds = os.environ.get("ROCM_SDK_ATTACK_ROUNDS", str(ROUNDS[program]))
    command = [sys.executable, str(HERE / program), "--rounds", rounds, "--seed", "suite"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
