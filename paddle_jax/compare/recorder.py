"""Follows the calls that a program makes of Paddle's functions, methods and layers: the same code
for both engines.

Only calls from outside the package count, so both engines are seen to make the same ones, whatever they call
inside. Compiled functions run as plain Python. `nondeterminism` turns off more, since the engines
draw different random numbers and round differently there.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax._core.base.caller_info import package_of
from paddle_jax.compare.nondeterminism import MADE_DETERMINISTIC, remove_randomness

MODULES = (
    "",
    "nn.functional",
    "linalg",
    "fft",
    "signal",
    "special",
    "geometric",
    "incubate",
    "incubate.nn.functional",
    "vision.ops",
    "metric",
)
OPERATORS = """add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv floordiv rfloordiv mod rmod
    pow rpow matmul rmatmul neg abs invert and or xor eq ne lt le gt ge getitem setitem""".split()
RANDOM = frozenset(
    """rand randn randint randint_like uniform normal standard_normal gaussian randperm
    bernoulli multinomial poisson binomial log_normal standard_gamma uniform_ normal_ bernoulli_ exponential_
    geometric_ cauchy_ log_normal_ random_ empty empty_like new_empty""".split()
)
PACKAGES = ("paddle", "paddle_jax", "jax", "jaxlib", "numpy", "functools", "contextlib")


def is_inside(frame: Any) -> bool:
    """Whether a frame belongs to one of the engines, or to what they are made of."""
    return package_of(frame.f_globals) in PACKAGES


def array_of(tensor: Any) -> Any:
    """The values of a Tensor; floats that NumPy does not have, as float32."""
    name = str(tensor.dtype)
    if "bfloat16" in name or "float8" in name:
        return tensor.astype("float32").numpy()
    return tensor.numpy()


class Recorder:
    """Wraps an engine and reports to a listener.

    `listener.on_call(entry, tensors)` gets each call with its resulting Tensors, `listener.parameter(p)` each
    new Parameter.

    Attributes:
        paddle, listener, without: as given.
        inside: int, how many recorded calls are running.
        thread: int, the thread whose calls are recorded.
        leaves: dict of the Parameters that were reported.
    """

    inside: int
    leaves: dict[Any, Any]
    thread: int

    def __init__(self, paddle: Any, listener: Any, without: Any = ()) -> None:
        self.paddle = paddle
        self.listener = listener
        self.inside, self.thread, self.leaves = 0, threading.get_ident(), {}
        self.without = without

    def install(self) -> None:
        """From now on calls are followed."""
        paddle = self.paddle
        paddle.jit.enable_to_static(False)
        remove_randomness(paddle, self.without)
        for path in MODULES:
            if path:
                module = functools.reduce(getattr, path.split("."), paddle)
            else:
                module = paddle
            for name in [n for n in dir(module) if not n.startswith("_")]:
                thing = getattr(module, name)
                if inspect.isroutine(thing) and name not in MADE_DETERMINISTIC:
                    setattr(module, name, self.wrapped(f"{path}.{name}".lstrip("."), thing))
        for name in [f"__{n}__" for n in OPERATORS] + [
            n for n in dir(paddle.Tensor) if not n.startswith("_")
        ]:
            thing = getattr(paddle.Tensor, name, None)
            if inspect.isroutine(thing):
                setattr(paddle.Tensor, name, self.wrapped("Tensor." + name, thing))
        self._layers()
        self._optimizers()

    def _layers(self) -> None:
        layer = self.paddle.nn.Layer
        call = layer.__call__
        create = layer.create_parameter

        def called(this: Any, *args: Any, **kwargs: Any) -> Any:
            if package_of(type(this).__module__) not in PACKAGES:
                return call(this, *args, **kwargs)
            return self.followed(type(this).__name__, call, (this, *args), kwargs, sys._getframe(1))

        def created(this: Any, *args: Any, **kwargs: Any) -> Any:
            made = create(this, *args, **kwargs)
            if made is not None:
                self.listener.parameter(made)
                self.leaves[id(made)] = made
            return made

        layer.__call__ = called
        layer.create_parameter = created

    def _optimizers(self) -> None:
        base = self.paddle.optimizer.Optimizer
        for cls in [base, *base.__subclasses__()]:
            if "step" in vars(cls):
                cls.step = self._stepping(cls.step)

    def _stepping(self, step: Any) -> Any:
        def stepped(this: Any, *args: Any, **kwargs: Any) -> Any:
            return self.followed(type(this).__name__ + ".step", step, (this, *args), kwargs, sys._getframe(1))

        return stepped

    def wrapped(self, name: Any, function: Any) -> Any:
        """A function or method that is followed."""

        @functools.wraps(function, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.followed(name, function, args, kwargs, sys._getframe(1))

        return call

    def followed(self, name: Any, function: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        """Calls a function; tells of it where the call comes from the program itself."""
        if self.inside or is_inside(frame) or threading.get_ident() != self.thread:
            return function(*args, **kwargs)
        self.inside += 1
        try:
            for value in (*args, *kwargs.values()):
                if isinstance(value, self.paddle.Tensor) and not value.stop_gradient and value.is_leaf:
                    self.leaves.setdefault(id(value), value)
            try:
                out = function(*args, **kwargs)
            except Exception as error:
                self._tell(name, frame, [], error=type(error).__name__)
                raise
            if name == "Tensor.backward":
                self._tell(
                    name, frame, [leaf.grad for leaf in self._known(lambda leaf: leaf.grad is not None)]
                )
            elif name.endswith(".step"):
                self._tell(name, frame, self._known(lambda leaf: leaf.persistable and leaf.grad is not None))
            else:
                if out is None and name in ("Tensor.__setitem__", "Tensor.set_value"):
                    changed = args[:1]
                else:
                    changed = []
                tensors = [t for t in self._flat([out, *changed]) if t._is_initialized()]
                if tensors:
                    self._tell(name, frame, tensors)
        finally:
            self.inside -= 1
        return out

    def _known(self, wanted: Any) -> list[Any]:
        """The leaves that are wanted: Parameters by their names, which both engines give alike, then
        others as they came."""
        found = [leaf for leaf in self.leaves.values() if wanted(leaf)]
        return sorted(found, key=lambda leaf: (not leaf.persistable, leaf.name if leaf.persistable else ""))

    def _flat(self, value: Any) -> list[Any]:
        if isinstance(value, self.paddle.Tensor):
            return [value]
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list | tuple):
            return [t for v in value for t in self._flat(v)]
        return []

    def _tell(self, name: Any, frame: Any, tensors: Any, error: Any = None) -> None:
        entry = {
            "name": name,
            "file": str(Path(frame.f_code.co_filename).resolve()),
            "line": frame.f_lineno,
            "error": error,
        }
        entry["dtypes"] = [str(t.dtype).rpartition(".")[2] for t in tensors]
        entry["shapes"] = [list(t.shape) for t in tensors]
        self.listener.on_call(entry, tensors)


class Recording:
    """A listener that writes down what it hears."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def on_call(self, entry: Any, tensors: Any) -> None:
        """Writes an entry."""
        self._writer.put(entry, [array_of(t) for t in tensors])

    def parameter(self, parameter: Any) -> None:
        """Writes the first value of a Parameter."""
        self._writer.put(
            {"parameter": parameter.name, "name": "", "shapes": [list(parameter.shape)]},
            [np.asarray(array_of(parameter))],
        )
