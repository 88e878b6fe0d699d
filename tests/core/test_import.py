"""What a program does not use is not imported with the package: DataLoader's workers wait for
this import, too."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
import paddle_jax
ours = {name for name in sys.modules if name.startswith("paddle_jax.")}
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules} | ours)))
"""


def test_nothing_slow_is_imported():
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    found = set(done.stdout.split())
    assert {"jax", "paddle_jax.io"} <= found
    slow = {
        "setuptools",
        "pkg_resources",
        "scipy",
        "PIL",
        "cv2",
        "flax",
        "optax",
        "IPython",
        "rich",
        "paddle",
        "paddle_jax.framework.model_files.c_calls",
        "paddle_jax.utils.cpp_extension.build",
    }
    assert not found & slow
