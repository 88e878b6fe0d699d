"""Runs lines of Python in two namespaces, one with the real Paddle and one with ours, and compares what
they give or raise."""

import collections
import warnings

import numpy as np


def plain(value):
    """A form of a result that does not depend on the library."""
    if hasattr(value, "numpy") and hasattr(value, "stop_gradient"):
        return (
            "Tensor",
            type(value).__name__,
            list(value.shape),
            str(value.dtype),
            value.stop_gradient,
            _rounded(value.numpy()),
        )
    if isinstance(value, np.ndarray):
        return ("array", value.shape, _rounded(value))
    if isinstance(value, dict):
        return [(plain(k), plain(v)) for k, v in value.items()]
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, collections.abc.KeysView | collections.abc.ValuesView | collections.abc.ItemsView):
        return [plain(v) for v in value]
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "named_sublayers"):
        return repr(value)
    if hasattr(value, "is_floating") or type(value).__name__ == "DataType":
        return str(value)
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, bool | int | str | type(None)):
        return value
    return type(value).__name__


def _rounded(array):
    array = np.asarray(array)
    return array.astype(np.float64) if array.dtype.kind in "fV" else array.tolist()


def agree(got, want):
    """Equality of plain forms, numbers within what float32 arithmetic can differ by."""
    if isinstance(want, np.ndarray):
        return (
            isinstance(got, np.ndarray)
            and got.shape == want.shape
            and np.allclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
        )
    if isinstance(want, list | tuple):
        return (
            type(got) is type(want)
            and len(got) == len(want)
            and all(agree(g, w) for g, w in zip(got, want, strict=True))
        )
    return got == want


def outcome(line, names):
    """("value", plain result) or ("raises", exception) of one line."""
    try:
        try:
            code = compile(line, "line", "eval")
        except SyntaxError:
            exec(line, names)
            return "value", None
        return "value", plain(eval(code, names))
    except Exception as error:
        return "raises", error


def same(script, oracle, ours):
    """Runs the lines of a script in both libraries and asserts that they agree: equal results, the same
    class of exception."""
    spaces = [
        {"paddle": p, "nn": p.nn, "F": p.nn.functional, "np": np, "collections": collections}
        for p in (oracle, ours)
    ]
    with warnings.catch_warnings(), oracle.utils.unique_name.guard(), ours.utils.unique_name.guard():
        warnings.simplefilter("ignore")
        for line in script:
            (kind, want), (got_kind, got) = (outcome(line, names) for names in spaces)
            assert got_kind == kind, f"{line}: paddle {kind} {want!r}, we {got_kind} {got!r}"
            if kind == "raises":
                base = next(c for c in type(want).__mro__ if c.__module__ == "builtins")
                assert isinstance(got, base), f"{line}: paddle raises {want!r}, we {got!r}"
            else:
                assert agree(got, want), f"{line}: paddle gives {want!r}, we {got!r}"
