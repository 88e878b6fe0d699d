"""Operators of a library as functions: kernels are called by XLA, gradients are the operators that are
declared as such."""

from __future__ import annotations

import functools as ft
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.utils.cpp_extension.library import attribute_text, request

_GRAD = "@GRAD"


def functions(library: Any) -> Any:
    """{name: function} of the operators that are not gradients."""
    # Gradients are called by differentiation alone.
    plain = {
        name: o
        for name, o in library.operators.items()
        if not (name.endswith("_grad") and name.removesuffix("_grad") in library.operators)
    }
    return {name: _function(library, operator) for name, operator in plain.items()}


def bare(name: Any) -> Any:
    """A name without what tells its kind."""
    return name.replace("@VECTOR", "").replace("@OPTIONAL", "")


def _function(library: Any, operator: Any) -> Any:
    """The function that users call: inputs, then attributes."""
    if "k" not in operator.has or any("@VECTOR" in name for name in operator.outputs):
        raise ValueError(
            f"cpp_extension: {operator.name}: it needs SetKernelFn, and outputs that are single Tensors"
        )
    grad = library.operators.get(operator.name + "_grad")

    def body(operands: Any, layout: Any, attributes: Any) -> Any:
        # JAX would ask for the derivative otherwise.
        if not grad:
            operands = [jax.lax.stop_gradient(operand) for operand in operands]
        found = _differentiable(library, operator, layout, attributes)(*operands)
        if len(found) == 1:
            return found[0]
        return tuple(found)

    body.__name__ = body.__qualname__ = operator.name
    run = op("*operands", nondiff=grad is None, register=False, method=False)(body)
    names = [bare(name).lower() for name in operator.inputs]
    parameters = names + [name for name, _ in operator.attributes]

    def call(*args: Any, **kwargs: Any) -> Any:
        values = _bound(operator.name, parameters, args, kwargs)
        groups = [_group(operator.name, name, values[i]) for i, name in enumerate(operator.inputs)]
        attributes = attribute_text(operator.name, operator.attributes, values[len(names) :])
        layout = [-1 if group is None else len(group) for group in groups]
        results = run(
            [tensor for group in groups if group is not None for tensor in group], layout, attributes
        )
        if isinstance(results, tuple):
            return list(results)
        return results

    call.__name__ = call.__qualname__ = operator.name
    call.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in parameters]
    )
    call.__doc__ = f"{operator.name}({', '.join(parameters)}): an operator of a C++ extension."
    return call


def _bound(owner: Any, parameters: Any, args: Any, kwargs: Any) -> list[Any]:
    """The values of the parameters in order."""
    unknown = [name for name in kwargs if name not in parameters or parameters.index(name) < len(args)]
    missing = [name for name in parameters[len(args) :] if name not in kwargs]
    if unknown or missing or len(args) > len(parameters):
        if unknown:
            wrong = f"unexpected or given twice: {unknown}"
        elif missing:
            wrong = f"missing: {missing}"
        else:
            wrong = f"{len(args)} arguments"
        raise TypeError(f"{owner}: {wrong}; its arguments are {', '.join(parameters)}")
    return [*args, *(kwargs[name] for name in parameters[len(args) :])]


def _group(owner: Any, name: Any, value: Any) -> list[Any | None] | None:
    """The Tensors of an input as a list; None for one that was left out."""
    if value is None and "@OPTIONAL" in name:
        return None
    group = value if "@VECTOR" in name else [value]
    if not isinstance(group, list | tuple) or not all(isinstance(tensor, Tensor) for tensor in group):
        if "@VECTOR" in name:
            wanted = "a list of Tensors"
        else:
            wanted = "a Tensor" + (" or None" if "@OPTIONAL" in name else "")
        raise ValueError(
            f"(InvalidArgument) {owner}: {bare(name).lower()}: got {type(value).__name__}; "
            f"it must be {wanted}"
        )
    return list(group)


def _grouped(layout: Any, operands: Any) -> list[list[Any] | None]:
    """A list for each input, None where none was given."""
    rest = iter(operands)
    return [None if count < 0 else [next(rest) for _ in range(count)] for count in layout]


def _kernel(library: Any, operator: Any, layout: Any, attributes: Any, results: Any, operands: Any) -> Any:
    call = jax.ffi.ffi_call(library.target, results, vmap_method="sequential")
    return call(*operands, name=operator.name, request=request(_grouped(layout, operands), attributes))


def _differentiable(library: Any, operator: Any, layout: Any, attributes: Any, results: Any = None) -> Any:
    """The operator as a function of arrays, with the gradient that is declared for it."""

    def shapes(operands: Any) -> Any:
        if results is None:
            return library.inferred(operator, _grouped(layout, operands), attributes)
        return results(operands)

    def forward(*operands: Any) -> Any:
        return tuple(_kernel(library, operator, layout, attributes, shapes(operands), operands))

    if results is None and operator.name + "_grad" not in library.operators:
        return forward
    taught = jax.custom_vjp(forward)
    taught.defvjp(
        lambda *operands: ((made := taught(*operands)), (operands, made)),
        ft.partial(_pulled, library, operator, layout, attributes),
    )
    return taught


def _pulled(library: Any, operator: Any, layout: Any, attributes: Any, kept: Any, cotangents: Any) -> Any:
    """The gradients of the operands."""
    operands, made = kept
    grad = library.operators.get(operator.name + "_grad")
    if grad is None:
        if not operator.name.endswith("_grad"):
            kind = "PD_BUILD_GRAD_OP"
        else:
            kind = "PD_BUILD_DOUBLE_GRAD_OP"
        raise RuntimeError(f"{operator.name}: it has no gradient; declare one with {kind}")
    known = dict(zip(map(bare, operator.inputs), _grouped(layout, operands), strict=True))
    known |= {name: [value] for name, value in zip(map(bare, operator.outputs), made, strict=True)}
    known |= {bare(name) + _GRAD: [ct] for name, ct in zip(operator.outputs, cotangents, strict=True)}
    unknown = [name for name in map(bare, grad.inputs) if name not in known]
    if unknown:
        raise RuntimeError(f"{grad.name}: Inputs: got {', '.join(unknown)}; known are {', '.join(known)}")
    groups = [known[bare(name)] for name in grad.inputs]
    wanted = [bare(name).removesuffix(_GRAD) for name in grad.outputs]
    if any(
        known.get(name) is not None and len(known[name]) != 1 or name not in map(bare, operator.inputs)
        for name in wanted
    ):
        raise RuntimeError(
            f"{grad.name}: Outputs: got {', '.join(grad.outputs)}; "
            "each must be paddle::Grad of an input that is a single Tensor"
        )
    flat = [value for group in groups if group is not None for value in group]
    shapes = [
        jax.ShapeDtypeStruct(known[name][0].shape, known[name][0].dtype)
        for name in wanted
        if known[name] is not None
    ]
    values = attributes if grad.attributes else ""
    call = _differentiable(
        library,
        grad,
        [-1 if group is None else len(group) for group in groups],
        values,
        lambda operands: shapes,
    )
    found = dict(zip([name for name in wanted if known[name] is not None], call(*flat), strict=True))
    return tuple(
        _cotangent(found.get(name), value)
        for name in map(bare, operator.inputs)
        for value in known[name] or []
    )


def _cotangent(gradient: Any, value: Any) -> Any:
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        # JAX wants this dtype for whole numbers, which have no gradient.
        return np.zeros(value.shape, jax.dtypes.float0)
    if gradient is None:
        return jnp.zeros_like(value)
    return gradient
