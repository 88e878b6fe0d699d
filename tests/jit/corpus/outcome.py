"""What a call of a program gives, and the comparison of two."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np


class Leaf(NamedTuple):
    """A Tensor, a number or None among the results. `kind` is "Tensor" or the class."""

    kind: str
    dtype: str
    array: np.ndarray


@dataclasses.dataclass
class Outcome:
    """What one call gives; what a mode does not compute is None.

    `labels` has the key of each result, where the call gives a dict.
    """

    results: list[Leaf]
    labels: list[str] = dataclasses.field(default_factory=list)
    buffers: list[np.ndarray] | None = None
    gradients: list[np.ndarray] | None = None
    second: list[np.ndarray] | None = None


def flat(value: Any) -> list:
    """What is in lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [one for item in value for one in flat(item)]
    return [value]


def leaves(P: Any, value: Any) -> list[Leaf]:
    """The Leafs of a result."""
    return [leaf(P, one) for one in flat(value)]


def labels(value: Any) -> list[str]:
    """The key of each of the Leafs of a dict."""
    if not isinstance(value, dict):
        return []
    return [key for key, item in value.items() for _ in flat(item)]


def leaf(P: Any, value: Any) -> Leaf:
    if isinstance(value, P.Tensor):
        return Leaf("Tensor", str(value.dtype).rpartition(".")[2], value.numpy())
    return Leaf(type(value).__name__, "", np.asarray(value))


def compare(
    got: Outcome, expected: Outcome, precision: tuple[float, float], numbers: bool, parts: tuple[str, ...]
) -> None:
    """Fails where two Outcomes differ.

    Args:
        numbers: whether numbers must stay numbers; else they may be Tensors.
        parts: what is compared besides the results, as attributes of an Outcome.
    """
    assert len(got.results) == len(expected.results)
    names = expected.labels or ["results"] * len(expected.results)
    for one, right, name in zip(got.results, expected.results, names, strict=True):
        if numbers or right.kind == "Tensor":
            assert one[:2] == right[:2], name
        close(one.array, right.array, precision, name)
    for name in parts:
        ours, right = getattr(got, name), getattr(expected, name)
        if ours is None and right is None:
            continue
        # A branch without a gradient gives zeros where the other one has a gradient.
        if right is None:
            right = [np.zeros_like(one) for one in ours]
        assert len(ours) == len(right), name
        for one, other in zip(ours, right, strict=True):
            close(one, other, precision, name)


def close(one: np.ndarray, right: np.ndarray, precision: tuple[float, float], name: str) -> None:
    assert one.shape == right.shape, name
    if right.dtype == object:
        assert one.tolist() == right.tolist(), name
    else:
        np.testing.assert_allclose(one, right, *precision, err_msg=name)
