"""Memory stays flat over many steps. A longer run: `python -m tests.deferred.soak 20000`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SHAPES = """
import json
from paddle_jax._core.lazy.signature_cache import SignatureCache
from tests.deferred import soak
SignatureCache.generation_size = 64
print(json.dumps(soak.shapes(3000, 500, report=lambda text: None)))
"""
CODE = """
import json, paddle_jax
from tests.deferred import conftest, differential, soak
with differential.tier(paddle_jax, **conftest.TIERS["deferred"]):
    print(json.dumps(soak.run(5000, warm=2500, report=lambda text: None)))
"""


@pytest.mark.slow
def test_memory_stays_flat():
    """In a process of its own: what is counted is all that a process has, and threads of earlier tests may
    still be at work in theirs."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    megabytes, arrays, objects, compiles = json.loads(done.stdout.splitlines()[-1])
    assert megabytes < 30
    assert arrays <= 10
    assert objects < 2500  # less than one for each step; a program that is traced late has up to 1900
    assert compiles <= 2


@pytest.mark.slow
def test_memory_stays_flat_while_shapes_are_new():
    """With room for 64 signatures in a generation; 2500 that were all kept would take 100 MB more."""
    done = subprocess.run(
        [sys.executable, "-c", SHAPES], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    megabytes = json.loads(done.stdout.splitlines()[-1])
    assert len(megabytes) == 6
    assert megabytes[-1] - megabytes[0] < 30
