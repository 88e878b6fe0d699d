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


def output_of(code):
    """The words that a fresh process prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.split()


def test_nothing_slow_is_imported():
    found = set(output_of(CODE))
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
        "paddle_jax.views",
    }
    assert not found & slow


COLLECTED = """
import gc, weakref
class Node: pass
before = Node(); before.me = before
others = [[] for _ in range({count})]
import paddle_jax
after = Node(); after.me = after
alive = [weakref.ref(before), weakref.ref(after)]
del before, after
gc.collect()
print(gc.get_freeze_count() > 50_000, *[ref() is None for ref in alive])
"""


def test_the_collector_skips_what_was_imported():
    """Unless objects of the program were there before, which would never be collected."""
    assert output_of(COLLECTED.format(count=0)) == ["True", "False", "True"]
    assert output_of(COLLECTED.format(count=60_000)) == ["False", "True", "True"]


ROCM = """
import importlib.metadata, sys
read = []
text_of = importlib.metadata.PathDistribution.read_text
def read_text(self, name):
    read.append(self._path.name)
    return text_of(self, name)
importlib.metadata.PathDistribution.read_text = read_text
find = importlib.metadata.distributions
import paddle_jax
from jax._src.numpy.array_constructors import rocm_plugin_extension
print(getattr(rocm_plugin_extension, "NAME", None), len(read) < 10, importlib.metadata.distributions is find)
"""


def test_the_plugin_of_jax_for_rocm_is_found_without_all_metadata(tmp_path):
    metadata = tmp_path / "jax_rocm9_plugin-1.0.dist-info" / "METADATA"
    module = tmp_path / "jax_rocm9_plugin" / "rocm_plugin_extension.py"
    for file, text in ((metadata, "Name: jax-rocm9-plugin\n"), (module, "NAME = 'of the test'\n")):
        file.parent.mkdir()
        file.write_text(text)
    code = f"import sys; sys.path.append({str(tmp_path)!r})\n{ROCM}"
    assert output_of(code) == ["of", "the", "test", "True", "True"]
