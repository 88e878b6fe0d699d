"""Messages of JAX and NumPy about operands, as sentences about the arguments of the operation."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from paddle_jax._core.base.caller_info import is_ours, package_of

if TYPE_CHECKING:
    import types

    from paddle_jax._core.kernels.kernel import Kernel

# Kernel.declaration says of each argument how many operands it has, or one of these
_ABSENT = -1
# As in the layout of an Op's operands.
_SINGLE = -2

# words of JAX and NumPy, which no message of this package has
JAX_WORDS = re.compile(
    r"\b(lax\.|jnp\.|jax\.|XLA\b|dot_general|ShapedArray|numpy boolean)|does "
    r"not accept dtype"
)
_EQUAL = "they must be equal"
_BROADCAST = "cannot be broadcast: counted from the last axis, lengths must be equal or 1"


def _lists(text: str) -> str:
    """A text with the shapes in it written as lists in place of tuples."""
    return re.sub(r"\(([\d, ]*)\)", lambda m: "[" + m[1].rstrip(", ") + "]", text)


# kinds of dtypes in JAX's words, and in those of messages
_KINDS = {
    "integer": "an integer",
    "floating": "floating",
    "complexfloating": "complex",
    "bool": "bool",
    "number": "a number",
    "inexact": "floating",
}
# (pattern of a message, function that makes the sentence from the match)
_RULES = [
    (re.compile(pattern), make_sentence)
    for pattern, make_sentence in [
        (
            (
                r"dot_general requires contracting dimensions to have the same shape, got \(([\d, ]*)\) "
                r"and \(([\d, ]*)\)"
            ),
            lambda m: (
                f"the axes that are summed over have lengths {m[1].rstrip(', ')} and {m[2].rstrip(', ')}; "
                f"{_EQUAL}"
            ),
        ),
        (
            r"matmul input operand \d must have ndim at least 1",
            lambda m: "a 0-D tensor is no matrix; it must have at least one axis",
        ),
        (
            r"\w+ got incompatible shapes for broadcasting: (\(.*?\)), (\(.*?\))\.?$",
            lambda m: _lists(f"shapes {m[1]} and {m[2]} {_BROADCAST}"),
        ),
        (
            r"Incompatible shapes for broadcasting: shapes=\[(.*)\]$",
            lambda m: _lists(f"shapes {m[1]} {_BROADCAST}"),
        ),
        (
            r"Incompatible types for broadcasting: input type=(\S+) and requested type=(\S+)$",
            lambda m: f"a value {m[1]} does not fit where {m[2]} is wanted",
        ),
        (
            r"Cannot broadcast to shape with fewer dimensions: arr_shape=(\(.*\)) shape=(\(.*\))$",
            lambda m: _lists(f"a value of shape {m[1]} does not fit where {m[2]} is wanted"),
        ),
        (
            r"Size of label '\w+' for operand \d+ \((\d+)\) does not match previous terms \((\d+)\)",
            lambda m: f"axes that go together have lengths {m[2]} and {m[1]}; {_EQUAL}",
        ),
        (
            r"Einstein sum subscript '(\w*)' does not contain the correct number of indices for operand",
            lambda m: f"an operand has another number of axes than the {len(m[1])} that it must have",
        ),
        (
            (
                r"(?:[\w.]+) does not accept dtype (\w+)(?: at position \d+)?\. Accepted dtypes "
                r"(?:at position \d+ "
                r")?are subtypes of ([\w, ]+)\.?$"
            ),
            lambda m: (
                f"an argument of dtype {m[1]} is not supported; "
                f"it must be {' or '.join(_KINDS[k] for k in m[2].split(', '))}; cast it with astype"
            ),
        ),
        (
            r"[\w.]+ indices must be of integer type, got (\w+)",
            lambda m: f"what counts places is {m[1]}; it must be of integers; cast it with astype",
        ),
        (
            r"Incompatible types for matmul arguments: \w+\[([\d,]*)\] and \w+\[([\d,]*)\]",
            lambda m: (
                f"shapes [{m[1].replace(',', ', ')}] and [{m[2].replace(',', ', ')}] do not go together; "
                f"before the last two axes {_EQUAL} or 1"
            ),
        ),
        (
            (
                r"Cannot concatenate arrays with shapes that differ .*: concatenating along "
                r"dimension (\d+) for "
                r"shapes (.*?)\.?$"
            ),
            lambda m: _lists(f"shapes {m[2]} must be the same but for axis {m[1]}"),
        ),
        (
            r"Cannot (?:concatenate|stack) arrays with different numbers of dimensions: got (.*?)\.?$",
            lambda m: _lists(f"shapes {m[1]} must have the same number of axes"),
        ),
        (
            r"All input arrays must have the same shape\. Got (.*?)\.?$",
            lambda m: _lists(f"shapes {m[1]} must be the same"),
        ),
        (
            r".*(?:does not support complex-valued|not well defined for complex|received a complex value)",
            lambda m: "complex numbers have no order; an argument must be real; cast it with astype",
        ),
        (
            r"data type .* not inexact",
            lambda m: "an argument is not floating; it must be; cast it with astype",
        ),
        (
            r"Arguments to [\w.]+ must be integers",
            lambda m: "an argument is not of integers; it must be; cast it with astype",
        ),
        (
            r"[\w.]+ requires arguments to have the same dtypes, got (\w+), (\w+)",
            lambda m: f"dtypes {m[1]} and {m[2]} {_EQUAL[5:]}; cast one with astype",
        ),
        (
            r".*(?:must have shape \[\.\.\., n, n\]|dimensions of the array must be square)",
            lambda m: "square matrices [..., n, n] are needed",
        ),
        (
            r".*(?:zero-size array|empty sequence|empty axis)",
            lambda m: "a tensor without elements is given; it must have one or more",
        ),
        (
            r"Too many indices: array is (\d+)-dimensional, but (\d+)",
            lambda m: f"{m[2]} axes are named of a tensor that has {m[1]}; name as many or fewer",
        ),
        (
            r"axis (-?\d+) is out of bounds for array of dimension (\d+)",
            lambda m: f"axis {m[1]} is out of range for a tensor of {m[2]} axes",
        ),
    ]
]


def sentence_for(text: str) -> str:
    """The sentence for the first line of an exception; a general one where no rule matches."""
    for pattern, make_sentence in _RULES:
        match = pattern.match(text)
        if match:
            return make_sentence(match)
    return "the shapes or dtypes do not go together, or are none that it takes"


def operand_names(kernel: Kernel) -> list[str]:
    """The argument that each operand of a kernel stands for.

    The list is empty for a kernel that belongs to no declared op.
    """
    if kernel.declaration is None:
        return []
    op, layout, _ = kernel.declaration
    names = []
    for name, count in zip(op.tensors, layout, strict=True):
        if count == _SINGLE:
            names.append(name)
        elif count != _ABSENT:  # a list of operands
            names += [f"{name}[{i}]" for i in range(count)]
    return names


def public_name(name: str) -> str:
    """The function that the user called, for an operation that is a part of it."""
    frame = sys._getframe(1) if name.startswith("_") else None
    # Outwards through libraries; the first frame of the user's ends the search.
    while frame is not None and package_of(frame.f_globals) in ("paddle_jax", "paddle", "jax"):
        if _is_public_function(frame):
            return frame.f_code.co_name
        frame = frame.f_back
    return name


def _is_public_function(frame: types.FrameType) -> bool:
    """Whether a frame runs a function of this package's public modules."""
    module = frame.f_globals["__name__"]
    code = frame.f_code
    return (
        is_ours(module)
        and "._core" not in module
        and code.co_name[0] not in "_<"
        and code.co_filename != "<string>"
    )
