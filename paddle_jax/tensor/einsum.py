"""Einstein summation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax.tensor.inner import named

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


def _labels(term: str) -> str:
    """The labels of one operand or of the output; an ellipsis counts as '.'."""
    plain = term.replace("...", "\0", 1)
    for label in plain.replace("\0", ""):
        if not (label.isascii() and label.isalpha()):
            raise AssertionError(
                f"einsum: equation: got {label!r}; labels are letters, with at most one "
                "'...' for each operand"
            )
    return plain.replace("\0", ".")


def _checked(equation: str, shapes: Sequence[Any]) -> str:
    """The equation without spaces, after Paddle's checks."""
    equation = equation.replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    terms = [_labels(t) for t in inputs.split(",")]
    if len(terms) != len(shapes):
        raise AssertionError(
            f"einsum: equation: {equation!r} has {len(terms)} operands; {len(shapes)} were given"
        )
    for term, shape in zip(terms, shapes, strict=True):
        # An ellipsis stands for any number of axes, also none.
        named = len(term.replace(".", ""))
        if named > len(shape) or ("." not in term and named < len(shape)):
            raise AssertionError(f"einsum: equation: {term!r} does not fit an operand with {len(shape)} axes")
    if arrow:
        output = _labels(output)
        if "." not in output and any("." in t for t in terms):
            raise AssertionError(
                f"einsum: equation: {equation!r} has '...' in an operand but not in the output"
            )
        unknown = set(output) - set("".join(terms)) - {"."}
        if unknown:
            raise ValueError(f"einsum: equation: output labels {sorted(unknown)} are in no operand")
    return equation


def _repeated(output: str) -> list[Any]:
    """Output labels that come twice or more: their values lie on a diagonal of the result."""
    return sorted({c for c in output.replace("...", "") if output.count(c) > 1})


@known_as(pir="einsum", code="algebra:einsum")
@op("*operands", register=False, method=False)
@named("einsum")
def _einsum(operands: Sequence[jax.Array], equation: str) -> jax.Array:
    equation = _checked(equation, [o.shape for o in operands])
    if any(o.dtype != operands[0].dtype for o in operands):
        raise ValueError(
            f"einsum: operands: got dtypes {[str(o.dtype) for o in operands]}; "
            "they must be equal; cast with astype"
        )
    inputs, _, output = equation.partition("->")
    twice = _repeated(output)
    if not twice:
        return jnp.einsum(equation, *operands)
    # Letters that the equation does not use.
    letters = iter(sorted(set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") - set(equation)))
    extra = []
    terms = []
    for label in twice:  # a product with a unit tensor spreads the label over as many output axes as it names
        # The first operand with the label knows its length.
        at, size = next(
            (t.index(label), o) for t, o in zip(inputs.split(","), operands, strict=True) if label in t
        )
        fresh = [label, *[next(letters) for _ in range(output.count(label) - 1)]]
        for new in fresh[1:]:
            extra.append(jnp.eye(size.shape[at], dtype=operands[0].dtype))
            terms.append(label + new)
            # From the right, so that the leftmost one keeps the label.
            position = output.rindex(label)
            output = output[:position] + new + output[position + 1 :]
    return jnp.einsum(f"{inputs},{','.join(terms)}->{output}", *operands, *extra)


@known_as(
    pir="einsum(operands)->out,_,_ equation:str",
    onnx="Einsum(*operands, equation=equation)",
    code="algebra:einsum_in_files",
)
@composite(
    method=False,
    cases=[
        "'ij,jk->ik', f(2,3), f(3,2)",
        "'ii->i', f(2,2)",
        "'ii', f(2,2)",
        "'...ij,...jk->...ik', f(5,2,3), f(3,2)",
        "'i,j', f(2), f(3)",
        "'ji', f(2,3)",
        "'ij,ij->', f(2,3), f(2,3)",
        "'ij,kj', f(2,3), f(2,4)",
        "'ij,jk', f(2,3)",
        "'ijk', f(2,3)",
        "'i->j', f(2)",
        "'i1->i', f(2,2)",
        "'i j , j k -> i k', f(2,3), f(3,2)",
        "'...', f(2,3)",
        "'...->', f(2,3)",
        "'...i->...', f(2,3)",
        "'ij->ijj', f(2,3)",
        "'ij,jk->ik', f(2,3), d(3,2)",
        "'i,i,i->i', d(2), d(2), d(2)",
        "'bij,bjk,bk->bi', d(2,3,4), d(2,4,2), d(2,2)",
        "'ij,ij->i', c(2,3), c(2,3)",
        "'bi,ijk,bk->bj', f(2,3), f(3,2,4), f(2,4)",
        "'ij,jk->ik', [f(2,3), f(3,2)]",
    ],
)
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums products of tensors as an equation of axis labels says.

    Args:
        equation: e.g. "ij,jk->ik": labels of the operands' axes, then those of the result. Labels left out of
            the result are summed. "..." stands for the remaining axes, which broadcast. Without "->" the
            labels that come once are the result, in alphabetical order.
        operands: Tensors of one dtype.
    Returns:
        Tensor with the axes that the right side of the equation names.
    Raises:
        AssertionError: the equation does not fit the operands.
        ValueError: an output label is unknown, lengths or dtypes differ.
    Example:
        >>> paddle.einsum("i,i->", paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        raise AssertionError("einsum: operands: got a list; give the operands one by one")
    return _einsum(list(operands), equation)
