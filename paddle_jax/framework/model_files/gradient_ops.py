"""Operations of Paddle's files that compute gradients, such as `tanh_grad`: the operation that they belong to
runs again, and its derivative is taken.

A file names no operation that a gradient belongs to. It is the one of that name that takes or gives the same
values. What a gradient operation takes besides are the gradients of the results, in order.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.tape.backward import gradients
from paddle_jax._core.tape.grad_mode import enable_grad
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.paddle_only_ops import RANDOM
from paddle_jax.framework.model_files.reading_helpers import P, as_tensor
from paddle_jax.framework.model_files.transform_adjoints import of_complex, of_half

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.program import Op

_SUFFIX = "_grad"
# the first result that a gradient comes for, where it is not the first one of the operation
_FIRST_RESULT = {"cross_entropy_with_softmax": 1}
# the order in which gradients of results come, where it is not that of the results
_ORDER_OF_GRADIENTS = {"svd": (0, 2, 1)}
# whose gradient is computed from the result, as that of exp
_BY_RESULT = frozenset(
    "tanh sigmoid exp expm1 sqrt rsqrt reciprocal relu relu6 softmax log_softmax hardsigmoid erfinv cholesky "
    "inverse gumbel_softmax".split()
)
# the same elements, in the shape or dtype of the first operand
_RESHAPED = ("reshape_grad", "squeeze_grad", "unsqueeze_grad", "flatten_grad")


@dataclasses.dataclass(frozen=True, slots=True)
class Pull:
    """How a gradient operation is computed.

    Attributes:
        forward: Op that it belongs to.
        starts: tuple of the positions of the gradients of its results among the operands.
        is_wanted: tuple of bools, for each result whether anything reads it.
    """

    forward: Op
    starts: tuple[int, ...]
    is_wanted: tuple[bool, ...]


# linear operations, of which a file names nothing but the attributes and the gradient of the result
_OF_RESULT: dict[str, Callable[..., Tensor]] = {
    **dict.fromkeys(
        ("floor_grad", "ceil_grad", "round_grad", "trunc_grad", "sign_grad"), lambda a, g: P.zeros_like(g)
    ),
    "transpose_grad": lambda a, g: P.transpose(g, np.argsort(a["perm"]).tolist()),
    "tril_grad": lambda a, g: P.tril(g, a["diagonal"]),
    "triu_grad": lambda a, g: P.triu(g, a["diagonal"]),
    "label_smooth_grad": lambda a, g: g * (1 - a["epsilon"]),
    "pixel_shuffle_grad": lambda a, g: P.pixel_unshuffle(g, a["upscale_factor"], a["data_format"]),
    "pixel_unshuffle_grad": lambda a, g: P.pixel_shuffle(g, a["downscale_factor"], a["data_format"]),
    # The groups change places with the channels of a group.
    "channel_shuffle_grad": lambda a, g: P.channel_shuffle(
        g, g.shape[1 if a["data_format"] == "NCHW" else 3] // a["groups"], a["data_format"]
    ),
}


def _of_transform(adjoint: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda a, g: adjoint(g, a["axes"], a["normalization"], a["forward"])


_OF_RESULT |= {
    "real_grad": lambda a, g: P.complex(g, P.zeros_like(g)),
    "imag_grad": lambda a, g: P.complex(P.zeros_like(g), g),
    "fft_c2c_grad": _of_transform(of_complex),
    "fft_c2r_grad": _of_transform(of_half),
}


def _temporal_shift(a: Any, g: Tensor) -> Tensor:
    """Channels that were taken from the step before go back to it, and the others to the step after."""
    form = a["data_format"]
    axis = 1 if form == "NCHW" else 3
    count = int(g.shape[axis] * a["shift_ratio"])
    first, second, rest = P.split(g, [count, count, -1], axis)
    parts = P.temporal_shift(
        P.concat([second, first, rest], axis), a["seg_num"], a["shift_ratio"], None, form
    )
    second, first, rest = P.split(parts, [count, count, -1], axis)
    return P.concat([first, second, rest], axis)


_OF_RESULT["temporal_shift_grad"] = _temporal_shift


def is_direct(name: str) -> bool:
    """Whether a gradient operation needs no other one."""
    return name in _OF_RESULT or name in (*_RESHAPED, "cast_grad")


def direct(op: Op, operands: Sequence[Any]) -> Any:
    """The result of such a gradient operation."""
    values = list(map(as_tensor, operands))
    if op.name in _OF_RESULT:
        return _OF_RESULT[op.name](op.attrs, values[0])
    if op.name == "cast_grad":
        return P.cast(values[1], numpy_dtype(values[0]).name)
    return P.reshape(values[1], P.shape(values[0]))


def pulls(ops: Sequence[Op], is_known: Callable[[str], bool]) -> dict[Op, Pull]:
    """The Pulls of the gradient operations among all operations of a program.

    Args:
        ops: all of them, in order.
        is_known: whether there is a rule for an operation.
    Returns:
        {operation: Pull}, without operations for which no other one was found.
    """
    wanted = [op for op in ops if op.name.endswith(_SUFFIX) and not is_known(op.name)]
    if not wanted:
        return {}
    used = {number for op in ops for number in op.inputs}
    changed = {op.inputs[0] for op in ops if op.name.endswith("_") and op.inputs}
    # A list that is taken apart and put together is the same list.
    parts = {tuple(op.outputs): op.inputs[0] for op in ops if op.name == "builtin.split"}
    lists = {op.outputs[0]: tuple(op.inputs) for op in ops if op.name == "builtin.combine"}
    combined = {number: parts.get(items, items) for number, items in lists.items()}
    found: dict[Op, Pull] = {}
    for kind in dict.fromkeys((op.name, len(op.inputs)) for op in wanted):
        name = kind[0].removesuffix(_SUFFIX)
        if not is_known(name) or name in RANDOM:
            continue
        candidates = [one for one in ops if one.name == name and not changed & set(one.inputs)]
        group = [op for op in wanted if (op.name, len(op.inputs)) == kind and not op.blocks]
        matches = [_matches(op, candidates, combined) for op in group]
        for op, (forward, roles) in _agreed(name, group, matches).items():
            starts = tuple([k for k, role in enumerate(roles) if role < 0])
            found[op] = Pull(forward, starts, tuple([number in used for number in op.outputs]))
    return found


def _matches(op: Op, candidates: Sequence[Op], combined: dict[int, Any]) -> dict[tuple[int, ...], Op]:
    """The operations that a gradient operation may belong to, by the roles of its operands.

    A role is the place of an operand among the operands and results of that operation. -1 is the gradient of
    a result.
    """
    found: dict[tuple[int, ...], Op] = {}
    numbers = [combined.get(number, number) for number in op.inputs]
    for forward in candidates:
        values = [combined.get(number, number) for number in (*forward.inputs, *forward.outputs)]
        if 0 in values and op.inputs.count(0) > forward.inputs.count(0):
            continue  # which of the values that are left out is a gradient is not known
        if any(forward.attrs[key] != value for key, value in op.attrs.items() if key in forward.attrs):
            continue
        for roles in _assignments(numbers, values):
            if 0 < roles.count(-1) <= len(forward.outputs) and roles.count(-1) < len(roles):
                found.setdefault(roles, forward)
    return found


def _assignments(numbers: Sequence[Any], values: Sequence[Any]) -> list[tuple[int, ...]]:
    """All roles that operands can have among values."""
    found: list[tuple[int, ...]] = [()]
    for number in numbers:
        places = [place for place, value in enumerate(values) if value == number]
        found = [
            (*roles, place) for roles in found for place in (*[one for one in places if one not in roles], -1)
        ]
    return found


def _agreed(
    name: str, group: Sequence[Op], matches: Sequence[dict[tuple[int, ...], Op]]
) -> dict[Op, tuple[Op, tuple[int, ...]]]:
    """For gradient operations of one name the operations that they belong to, and the roles of operands.

    The roles are the same for all of them, where that is possible.
    """
    shared = set(matches[0]).intersection(*matches[1:]) if matches else set()
    found = {}
    for op, match in zip(group, matches, strict=True):
        possible = [roles for roles in match if not shared or roles in shared]
        if possible:
            roles = max(possible, key=lambda roles: _likelihood(name, roles, len(match[roles].inputs)))
            found[op] = match[roles], roles
    return found


def _likelihood(name: str, roles: tuple[int, ...], operands: int) -> tuple[int, int, int]:
    """How likely roles are: many values, those that the gradient is computed from, in order."""
    known = [role for role in roles if role >= 0]
    results = sum(role >= operands for role in known)
    in_order = sum(first < second for first, second in itertools.pairwise(known))
    return len(known), results if name in _BY_RESULT else -results, in_order


def pulled_back(pull: Pull, operands: Sequence[Any], inputs: Sequence[Any], apply: Callable[..., Any]) -> Any:
    """The results of a gradient operation.

    Args:
        pull: Pull.
        operands: values of its operands.
        inputs: values of the operands of the operation that it belongs to.
        apply: function of an Op and its operands, gives a list of its results.
    """
    places = [k for k, value in enumerate(inputs) if _has_gradient(value)]
    places = [k for k, is_wanted in zip(places, pull.is_wanted, strict=False) if is_wanted]
    with enable_grad():
        copies = [_copied(value) if k in places else value for k, value in enumerate(inputs)]
        results = [one for one in apply(pull.forward, copies) if isinstance(one, Tensor | list)]
        results = results[_FIRST_RESULT.get(pull.forward.name, 0) :]
        order = _ORDER_OF_GRADIENTS.get(pull.forward.name, range(len(results)))
        results = [results[k] for k in order]
        starts = [operands[k] for k in pull.starts]
        # A result may be a list, as of `meshgrid`, and its gradient is one.
        pairs = [
            pair
            for result, start in zip(results, starts, strict=False)
            if start is not None
            for pair in zip(_tensors_of(result), _tensors_of(start), strict=True)
            if pair[1] is not None
        ]
        sources = [one for k in places for one in _tensors_of(copies[k])]
        cotangents = iter(
            gradients(
                [result for result, _ in pairs],
                sources,
                [as_tensor(start) for _, start in pairs],
                retain_graph=True,
                create_graph=True,
                cut=[],
            )
        )
    by_place = {k: _like(copies[k], cotangents) for k in places}
    return [by_place.get(k) for k, value in enumerate(inputs) if _has_gradient(value)]


def _has_gradient(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_has_gradient, value))
    dtype = value.dtype if isinstance(value, np.ndarray) else value is not None and numpy_dtype(value)
    return bool(dtype) and np.dtype(dtype).kind in INEXACT


def _copied(value: Any) -> Any:
    """The same value as the start of a tape of its own, on which the gradient goes on to the value."""
    if isinstance(value, list):
        return [_copied(one) for one in value]
    tensor = as_tensor(value)
    if not tensor.stop_gradient:
        return tensor.clone()
    copy = tensor.detach()
    copy.stop_gradient = False
    return copy


def _tensors_of(value: Any) -> list[Tensor]:
    return value if isinstance(value, list) else [value]


def _like(value: Any, cotangents: Iterator[Any]) -> Any:
    """The next gradients, in the form of a value: a Tensor or a list."""
    if isinstance(value, list):
        return [_like(one, cotangents) for one in value]
    cotangent = next(cotangents)
    return P.zeros_like(value) if cotangent is None else cotangent


__all__ = ["Pull", "direct", "is_direct", "pulled_back", "pulls"]
