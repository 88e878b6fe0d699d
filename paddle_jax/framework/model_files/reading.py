"""The rule that runs each PIR operation by our functions; see `reading_helpers.py`."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.kernels.op_record import READS
from paddle_jax._core.ops.op import OPS
from paddle_jax.framework.model_files.paddle_only_ops import RULES
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.reading_helpers import (
    as_number,
    as_numbers,
    as_tensor,
    with_operand_forms,
)
from paddle_jax.framework.model_files.records import lowering_of, parse_record

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.records import Attribute


def rule_of(name: str) -> Any:
    """The rule that runs an operation: what a record says, or a rule of `paddle_only_ops.py`; None
    where there is neither."""
    return _recorded(name, READS.get(name)) or RULES.get(name)


@ft.lru_cache(maxsize=512)
def _recorded(name: str, op: Callable[..., Any] | None) -> Callable[..., Any] | None:
    if op is None:
        return None
    # A record's own code, or its Lowering's, before its text.
    code = op.record.read or lowering_of(op.record.code).read
    if code is not None:
        return with_operand_forms(code)
    return reader(op)


def reader(op: Callable[..., Any]) -> Callable[..., Any]:
    """A rule that runs an operation of Paddle's files as the text of a record says."""
    known = parse_record(op.record.pir)
    twin = OPS.get(op.name)  # the public function checks what the op behind it does not
    if twin is not None and twin.home == op.home:
        public = twin
    else:
        public = op
    parameters, spread = list(public.signature.parameters), _variadic_parameter(public)
    ours = [one for one in known.attributes if one.parameter in public.attrs]
    flags = [one for one in ours if one.kind == "none"]
    decided_by_flag = {one.parameter for one in flags}  # a flag says whether they are None

    def value_of(one: Attribute, value: Any) -> Any:
        if one.parameter in decided_by_flag:
            return value
        return one.from_file(value)

    def rule(attrs: Any, *operands: Any) -> Tensor:
        args = [as_tensor(value) for value in operands]
        named = {}
        if known.operands is not None:
            # By name, as the file has other operands, or another order.
            args = []
            pairs = zip(known.operands, operands, strict=False)
            named = {
                one.parameter: value_of(one, _OPERANDS.get(one.kind, as_number)(value))
                for one, value in pairs
                if one.parameter in parameters
            }
        named |= {
            one.parameter: value_of(one, _attribute_value(attrs, one)) for one in ours if one.kind != "none"
        }
        named |= {one.parameter: None for one in flags if getattr(attrs, one.name)}
        # A function of any number of Tensors takes them by position.
        if spread:
            args = [*(named.pop(one) for one in parameters[: parameters.index(spread)]), *named.pop(spread)]
        return _placed(known.results, public.public(*args, **named))

    rule.attributes = [one.name for one in ours]
    if known.operands is not None:
        rule.operands = len(known.operands)
    elif public.composite:
        rule.operands = None
    else:
        rule.operands = len(public.tensors)
    return rule


def _attribute_value(attrs: Any, one: Attribute) -> Any:
    """An attribute as it stands in a file; older ones may lack what has a default."""
    if one.default is None:
        return getattr(attrs, one.name)
    return getattr(attrs, one.name, one.default)


_OPERANDS = {"": as_tensor, "out": as_tensor, "ints": as_numbers, "size": as_numbers}


def _variadic_parameter(op: Callable[..., Any]) -> str | None:
    """The parameter that takes any number of Tensors, if there is one."""
    return next(
        (name for name, one in op.signature.parameters.items() if one.kind is one.VAR_POSITIONAL), None
    )


def _placed(results: Any, found: Tensor) -> Any:
    """Our results at the places that the operation of Paddle gives them."""
    if results is None:
        return found
    # A list of all results.
    if results == ["[]"]:
        return list(found)
    ours = iter(as_list(found))
    # Paddle's further results (masks, indices for gradients) are not used.
    return [next(ours) if one == "out" else None for one in results]
