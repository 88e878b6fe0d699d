"""Compares a run, call by call, with the record of one by the real Paddle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import paddle_jax
from paddle_jax.compare.recorder import RANDOM, array_of

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


# how far floats may be apart, relative to the largest number of the array
TOLERANCE = {
    "float64": 1e-8,
    "complex128": 1e-8,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 1e-2,
    "bfloat16": 3e-2,
}


class Difference(BaseException):
    """The two engines do not agree; ends the program. No Exception, so that the program does not catch it."""


class Checking:
    """A listener that looks for the first difference. Parameters begin with the values of the record, and
    random functions give its results.

    calls: how many were compared. last: the last call that agreed.
    """

    def __init__(self, reader: Any, factor: Any = 1.0) -> None:
        self._reader = reader
        self._factor = factor
        self._ahead = {}
        self.calls: int = 0
        self.last: str = "the start of the program"

    def _next(self, wanted: Any) -> tuple[Any | None, Any]:
        """The next entry of the kind; parameters on the way are kept for later, since engines may make those
        of a layer in another order."""
        while True:
            entry, arrays = self._reader.get()
            if entry is None or ("parameter" in entry) == wanted:
                return entry, arrays
            if wanted:
                raise Difference(
                    f"after {self.last}: a parameter is made here, where the real Paddle calls "
                    f"{entry['name']} ({_line(entry)})"
                )
            self._ahead[entry["parameter"]] = arrays[0]

    def parameter(self, parameter: Any) -> None:
        """Gives a new Parameter the value that it had in the record."""
        while parameter.name not in self._ahead:
            entry, arrays = self._next(True)
            if entry is None:
                raise Difference(
                    f"after {self.last}: the parameter {parameter.name} is made here; "
                    "the real Paddle has none of this name"
                )
            self._ahead[entry["parameter"]] = arrays[0]
        value = self._ahead.pop(parameter.name)
        if list(value.shape) != list(parameter.shape):
            raise Difference(
                f"the parameter {parameter.name} has shape {list(parameter.shape)}; "
                f"in the real Paddle {list(value.shape)}"
            )
        parameter.set_value(_typed(value, parameter))

    def on_call(self, entry: Any, tensors: Any) -> None:
        """Compares a call with the record."""
        want, arrays = self._next(False)
        what = f"{entry['name']} ({_line(entry)})"
        if want is None:
            raise Difference(f"{what}: called here, while the real Paddle's run ended after {self.last}")
        if (want["name"], want["line"]) != (entry["name"], entry["line"]):
            raise Difference(
                f"after {self.last}: the program calls {what} here and {want['name']} "
                f"({_line(want)}) with the real Paddle"
            )
        for key, text in (("error", "exception"), ("dtypes", "dtypes"), ("shapes", "shapes")):
            if want[key] != entry[key]:
                raise Difference(
                    f"{what}: {text} {_shown(entry[key])}; with the real Paddle {_shown(want[key])}"
                )
        short = entry["name"].rpartition(".")[2]
        if short in RANDOM:
            self._take_over(short, tensors, arrays)
        else:
            largest = max(
                (np.abs(a[np.isfinite(a)]).max(initial=0) for a in arrays if a.dtype.kind in "fc"), default=0
            )
            for k, (tensor, theirs) in enumerate(zip(tensors, arrays, strict=True)):
                self._compare(what, entry, k, array_of(tensor), theirs, largest)
            if short in ("backward", "step"):
                # so that rounding errors do not grow from step to step
                self._take_over(short, tensors, arrays)
        self.calls = self.calls + 1
        self.last = what

    def _take_over(self, short: Any, tensors: Any, arrays: Any) -> None:
        for tensor, value in zip(tensors, arrays, strict=True):
            tensor.set_value(_typed(value, tensor))

    def _compare(
        self, what: str, entry: dict[str, Any], k: int, ours: np.ndarray, peer: np.ndarray, largest: float
    ) -> None:
        """largest: the largest number of all results; what is zero but for its rounding errors is no
        nearer than that."""
        dtype = entry["dtypes"][k]
        count = len(entry["dtypes"])
        gradient = entry["name"] in ("Tensor.backward", "grad", "autograd.backward")
        # a gradient that is zero is the sum of many that are not, such as that of a bias before a
        # normalisation
        noise = 100 if gradient else 10
        if peer.dtype.kind in "fc":
            limit = TOLERANCE.get(dtype, 1e-4) * self._factor
            scale = np.abs(peer[np.isfinite(peer)]).max(initial=0)
            with np.errstate(all="ignore"):
                near = np.isclose(
                    ours,
                    peer,
                    rtol=limit,
                    atol=limit * scale + noise * np.finfo(peer.dtype).eps * largest,
                    equal_nan=True,
                )
        else:
            near = np.asarray(ours == peer)
        if near.all():
            return
        at = tuple(int(i) for i in np.argwhere(~np.atleast_1d(near))[0])
        part = f" of result {k + 1}" if count > 1 else ""
        kind = "gradient" if gradient else "value"
        raise Difference(
            f"{what}: {kind}{part} ({dtype} {entry['shapes'][k]}) differs in "
            f"{int((~near).sum())} of {near.size} elements, "
            f"first at {list(at) if near.ndim else '[]'}: {np.atleast_1d(ours)[at]!s}; "
            f"with the real Paddle {np.atleast_1d(peer)[at]!s}"
        )


def _typed(value: Any, tensor: Any) -> Tensor:
    """An array in a form that `set_value` of this Tensor takes."""
    return paddle_jax.to_tensor(value).astype(tensor.dtype)


def _line(entry: Any) -> str:
    return f"{entry['file']}:{entry['line']}"


def _shown(value: Any) -> Any:
    if value is None:
        return "none"
    return value
