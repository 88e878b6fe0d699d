"""Where the declared ops are found; without pytest, since tools and benchmarks use it, too."""

import importlib

import paddle_jax
from paddle_jax._core.ops.op import OPS

NAMESPACES = [
    "",
    "nn.functional",
    "linalg",
    "fft",
    "signal",
    "special",
    "geometric",
    "incubate",
    "vision.ops",
    "nn.utils",
    "metric",
    "autograd",
]
NAMES = sorted(OPS)


def public_path(name):
    """Where a user finds the op: `tanh`, `nn.functional.relu`, or `Tensor.method`; None when nowhere."""
    op = OPS[name]
    for namespace in NAMESPACES:
        owner = paddle_jax
        try:
            owner = importlib.import_module("paddle_jax." + namespace) if namespace else paddle_jax
        except ImportError:
            continue
        if getattr(owner, name, None) is op.public:
            return f"{namespace}.{name}".lstrip(".")
    return f"Tensor.{op.method}" if getattr(paddle_jax.Tensor, op.method, None) is op.public else None


def find(module, path):
    """The function at a path such as `nn.functional.relu`."""
    for part in path.split("."):
        module = getattr(module, part)
    return module
