"""Every public name of the tensor namespaces exists, or stands with its reason under "Absent names" in
docs/differences.md.

The inventory (facts about Paddle's public names) is in tests/data/inventory, or in the folder named by
PADDLE_JAX_INVENTORY.
"""

import enum
import json
import re
from pathlib import Path

import pytest

import paddle_jax
from tests.conformance.test_conformance import content, data_folder

ROOT = Path(__file__).resolve().parents[2]
NAMESPACES = [
    "paddle",
    "paddle.Tensor",
    "paddle.linalg",
    "paddle.fft",
    "paddle.signal",
    "paddle.special",
    "paddle.functional",
    "paddle.compat",
    "paddle.compat.nn",
    "paddle.compat.nn.functional",
    "paddle.static",
    "paddle.static.nn",
    "paddle.jit",
    "paddle.inference",
    "paddle.onnx",
    "paddle.amp",
    "paddle.amp.debugging",
    "paddle.static.amp",
    "paddle.vision",
    "paddle.vision.datasets",
    "paddle.vision.models",
    "paddle.vision.ops",
    "paddle.vision.transforms",
    "paddle.hapi",
    "paddle.callbacks",
    "paddle.hub",
    "paddle.io",
    "paddle.sysconfig",
    "paddle.text",
    "paddle.audio",
    "paddle.audio.backends",
    "paddle.audio.features",
    "paddle.audio.functional",
    "paddle.profiler",
    "paddle.device",
    "paddle.device.cuda",
    "paddle.device.custom_device",
    "paddle.device.xpu",
    "paddle.utils",
    "paddle.utils.dlpack",
    "paddle.utils.download",
    "paddle.utils.unique_name",
    "paddle.incubate",
    "paddle.incubate.asp",
    "paddle.incubate.autotune",
    "paddle.incubate.nn",
    "paddle.incubate.nn.functional",
    "paddle.incubate.optimizer",
    "paddle.incubate.optimizer.functional",
    "paddle.incubate.nn.memory_efficient_attention",
    "paddle.incubate.autograd",
    "paddle.incubate.tensor",
    "paddle.distribution",
    "paddle.distribution.transform",
    "paddle.distribution.chi2",
    "paddle.distribution.lkj_cholesky",
    "paddle.sparse",
    "paddle.sparse.nn",
    "paddle.sparse.nn.functional",
    "paddle.sparse.creation",
    "paddle.geometric",
    "paddle.quantization",
    "paddle.quantization.config",
    "paddle.quantization.observers",
    "paddle.quantization.quanters",
    "paddle.nn.quant",
    "paddle.nn.quant.quant_layers",
    "paddle.nn.attention",
    "paddle.utils.cpp_extension",
    "paddle.utils.cpp_extension.extension_utils",
    "paddle.metric",
    "paddle.nn",
    "paddle.nn.functional",
    "paddle.nn.initializer",
    "paddle.nn.utils",
    "paddle.optimizer",
    "paddle.optimizer.lr",
    "paddle.audio.datasets",
    "paddle.distributed",
    "paddle.distributed.auto_parallel",
    "paddle.distributed.auto_parallel.process_mesh",
    "paddle.distributed.fleet",
    "paddle.distributed.fleet.base.role_maker",
    "paddle.distributed.fleet.base.topology",
    "paddle.distributed.fleet.layers.mpu",
    "paddle.distributed.fleet.meta_parallel",
    "paddle.distributed.fleet.recompute",
    "paddle.distributed.fleet.utils",
    "paddle.distributed.fsdp",
    "paddle.distributed.passes",
    "paddle.distributed.rpc",
    "paddle.distributed.sharding",
    "paddle.incubate.distributed.models.moe",
    "paddle.incubate.distributed.fleet",
    "paddle.incubate.distributed.fleet.utils",
    "paddle.incubate.distributed.fleet.collective",
    "paddle.incubate.distributed.utils.io.dist_save",
    "paddle.static.quantization",
]


@pytest.fixture(scope="module")
def entries():
    return json.loads(content(data_folder("PADDLE_JAX_INVENTORY", "inventory") / "paddle-3.3.1-api.json"))


@pytest.fixture(scope="module")
def absent():
    """The names that the documentation calls absent, as in the inventory.

    A heading names the namespace, the first column of a table the names in it."""
    document = ROOT / "docs" / "differences.md"
    if not document.is_file():
        pytest.skip("the documentation is not part of the wheel")
    section = document.read_text(encoding="utf-8").split("## Absent names")[1].split("\n## ")[0]
    names: set[str] = set()
    namespace = None
    for line in section.splitlines():
        if line.startswith("### "):
            namespace = line.removeprefix("### ").strip("`")
        elif line.startswith("|"):
            names |= {f"{namespace}.{name}" for name in re.findall(r"`([\w.]+)`", line.split("|")[1])}
    return names


def exists(name):
    owner = paddle_jax
    for part in name.split(".")[1:]:
        if part == "__cuda_array_interface__":  # refuses, by AttributeError, where the tensor is not on a GPU
            return part in paddle_jax.Tensor.__dict__
        if isinstance(owner, enum.EnumMeta) and part in ("name", "value"):  # of its members
            return True
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def parents(name):
    parts = name.split(".")
    return {".".join(parts[:n]) for n in range(2, len(parts) + 1)}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_name_exists_or_is_called_absent(namespace, entries, absent):
    names = [entry["name"] for entry in entries if entry["ns"] == namespace]
    assert names
    missing = [name for name in names if not exists(name) and not parents(name) & absent]
    assert not missing


def test_what_is_called_absent_is_absent(entries, absent):
    assert len(absent) > 20
    assert not [name for name in absent if exists(name)]
