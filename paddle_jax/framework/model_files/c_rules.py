"""What `_C_ops` has beside the operations of model files: `rule(attributes, *operands)` as
in `reading.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.lazy.lazy_array import from_numpy
from paddle_jax._core.tape.grad_mode import enable_grad, no_grad
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.autograd import grad
from paddle_jax.framework.model_files.reading_helpers import P, with_operand_forms
from paddle_jax.nn.layer.norm import normalised_weight

RULES = {}


def define(rules: dict[str, Any]) -> None:
    """Adds rules; their operands are brought into the form their parameters ask for."""
    RULES.update(
        {name: with_operand_forms(function) for names, function in rules.items() for name in names.split()}
    )


def _untaped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of an operation that has no gradient."""
    rule = with_operand_forms(function)
    untaped = no_grad()(rule)
    untaped.operands = rule.operands
    return untaped


def _dtype(name: Any) -> Any:
    if name == "Undefined":
        return None
    return name


def _filled(x: Any, values: Any) -> Any:
    return P.cast(values, x.dtype).reshape(x.shape)


# gradients --------------------------------------------------------------------------------------------------


def _gradient(name: str, *differentiable: Any) -> Callable[..., Any]:
    """The rule of a gradient: of the operation before `_grad`, in some of its operands."""

    def rule(a: Any, *operands: Any) -> Any:
        *inputs, last = operands
        leaves = {k: inputs[k].detach() for k in differentiable if inputs[k] is not None}
        for leaf in leaves.values():
            leaf.stop_gradient = False
        # Leaves of their own: the gradient of this operation alone.
        with enable_grad():
            found = _FORWARD[name](a, *[leaves.get(k, x) for k, x in enumerate(inputs)])
            grads = grad([found], list(leaves.values()), [last], allow_unused=True)
        by = dict(zip(leaves, grads, strict=True))
        return [by.get(k) for k in differentiable]

    rule.operands = 0  # beside Tensors
    return rule


_FORWARD = {
    "matmul": lambda a, x, y: P.matmul(x, y, a.transpose_x, a.transpose_y),
    "gather": lambda a, x, index: P.gather(x, index, a.axis),
    "swiglu": lambda a, x, y: P.swiglu(x, y),
    "topk": lambda a, x, indices: P.take_along_axis(x, indices, a.axis),
    "put_along_axis": lambda a, x, indices, values, out: P.put_along_axis(
        x, indices, values, a.axis, a.reduce, a.include_self
    ),
}

# optimizers: new values of what changes, in the order of the results ----------------------------------------


def _sgd(a: Any, param: Any, rate: Any, slope: Any, master: Any) -> tuple[Any, Any | None]:
    # The master weights of mixed precision are float32.
    wide = P.cast(param, "float32") if master is None else master
    new = P.cast(
        P.subtract(wide, P.multiply(P.cast(slope, wide.dtype), P.cast(rate, wide.dtype))),
        param.dtype if master is None else "float32",
    )
    return P.cast(new, param.dtype), None if master is None else new


def _momentum(
    a: Any, param: Any, slope: Any, velocity: Any, rate: Any, master: Any
) -> tuple[Any, Any, Any | None]:
    # A weight decay that was part of the gradient.
    wide = param if master is None else master
    slope = P.cast(slope, wide.dtype) * a.rescale_grad
    if a.regularization_method == "l2_decay":
        slope = slope + wide * a.regularization_coeff
    moved = velocity * a.mu + slope
    step = slope + moved * a.mu if a.use_nesterov else moved
    # Velocity first, see Paddle's momentum: v = mu * v + g, p = p - rate * (g + mu * v) with Nesterov's.
    new = wide - step * P.cast(rate, wide.dtype)
    return P.cast(new, param.dtype), moved, None if master is None else new


def _adam(
    a: Any,
    param: Any,
    slope: Any,
    rate: Any,
    first: Any,
    second: Any,
    most: Any,
    power1: Any,
    power2: Any,
    master: Any,
    skip: Any,
    s_beta1: Any,
    s_beta2: Any,
    s_epsilon: Any,
) -> tuple[Any, Any, Any, Any, Any, Any, Any] | tuple[Any, Any, Any, Any, Any, Any, Any | None]:
    # Loss scaling found gradients that are not finite.
    if skip is not None and bool(skip):
        return param, first, second, most, power1, power2, master
    wide = param if master is None else master
    rate = P.cast(rate, first.dtype)
    slope = P.cast(slope, first.dtype)
    # AdamW: the decay does not go through the moments.
    if getattr(a, "with_decay", False):
        wide = wide * (1.0 - rate * a.lr_ratio * a.coeff)
    first = first * s_beta1 + slope * (1.0 - s_beta1)
    second = second * s_beta2 + slope * slope * (1.0 - s_beta2)
    largest = P.maximum(second, most) if a.amsgrad else second
    # Corrections of the bias of the first steps (Kingma and Ba, 2015), with powers as they are before the
    # step.
    bias1 = 1.0 - power1
    bias2 = P.sqrt(1.0 - power2)
    new = wide - P.cast(rate * bias2 / bias1 * first / (P.sqrt(largest) + s_epsilon * bias2), wide.dtype)
    # One pair of powers for all parameters, which the caller advances.
    if a.use_global_beta_pow:
        powers = (power1, power2)
    else:
        powers = (power1 * s_beta1, power2 * s_beta2)
    return (
        P.cast(new, param.dtype),
        first,
        second,
        largest if a.amsgrad else most,
        *powers,
        None if master is None else P.cast(new, "float32"),
    )


def _unscale(a: Any, xs: Any, scale: Any) -> tuple[list[Any], Any]:
    found = [x / P.cast(scale, x.dtype) for x in xs]
    bad = P.any(P.stack([P.logical_not(P.all(P.isfinite(x))) for x in xs])).reshape([1])
    return found, bad


def _normalised(a: Any, x: Any) -> tuple[Any, Any]:
    length = P.sqrt(P.sum(P.square(x), a.axis, keepdim=True) + a.epsilon)
    return x / length, length


def _attention(a: Any, q: Any, k: Any, v: Any, offset: Any, mask: Any) -> tuple[Any, None, None, None]:
    return P.scaled_dot_product_attention(q, k, v, mask, a.dropout, a.causal, not a.is_test), None, None, None


def _weight_gradient(a: Any, x: Any, slope: Any, weight: Any, bias: Any) -> tuple[Any | None, ...]:
    kind = "float32" if a.multi_precision else x.dtype
    x, slope = (P.cast(t, kind).reshape([-1, t.shape[-1]]) for t in (x, slope))
    found = P.matmul(x, slope, True), P.sum(slope, 0) if a.has_bias else None
    return tuple(
        new if old is None or new is None else new + P.cast(old, kind)
        for new, old in zip(found, (weight, bias), strict=True)
    )


def _upper(a: Any, x: Any) -> Any:
    # -1e9 and not infinity, as a row of minus infinities alone would give NaN.
    return P.softmax(x + P.triu(P.full([x.shape[-2], x.shape[-1]], -1e9, x.dtype), 1), -1)


define(
    {
        "zeros": lambda a, n_shape: P.zeros(n_shape, _dtype(a.dtype)),
        "ones": lambda a, n_shape: P.ones(n_shape, _dtype(a.dtype)),
        "zeros_like empty_like": lambda a, x: P.zeros_like(x, _dtype(a.dtype)),
        "ones_like": lambda a, x: P.ones_like(x, _dtype(a.dtype)),
        "full_int_array": lambda a: wrap(from_numpy(np.array(a.value, a.dtype))),
        "uniform_inplace": lambda a, x: _filled(x, P.uniform(list(x.shape), "float32", a.min, a.max, a.seed)),
        "gaussian_inplace": lambda a, x: _filled(x, P.normal(a.mean, a.std, list(x.shape))),
        "exponential": lambda a, x: _filled(x, P.clone(x).exponential_(a.lam)),
        "reverse": lambda a, x, n_axis: P.flip(x, n_axis),
        "rint": lambda a, x: P.round(x),
        "share_data": lambda a, x: P.assign(x),
        "view_dtype": lambda a, x: P.view(x, a.dtype),
        "trunc_divide": lambda a, x, y: P.cast(P.trunc(P.divide(x, y)), x.dtype),
        "fill_diagonal": lambda a, x: P.clone(x).fill_diagonal_(a.value, a.offset, a.wrap),
        "shape": lambda a, x: wrap(from_numpy(np.array(list(x.shape), "int32"))),
        "norm": _normalised,
        "argmax": lambda a, x: P.argmax(x, a.axis, a.keepdim, a.dtype),
        "argmin": lambda a, x: P.argmin(x, a.axis, a.keepdim, a.dtype),
        "logsumexp": lambda a, x: P.logsumexp(x, a.axis or None, a.keepdim),
        "variance": lambda a, x: P.var(x, a.axis or None, False, a.keepdim),
        "clip_by_norm": lambda a, x: x * P.clip(a.max_norm / P.sqrt(P.sum(P.square(x))), max=1.0),
        "hinge_loss": lambda a, x, y: P.relu(1.0 - (2.0 * y - 1.0) * x),
        "fused_softmax_mask": lambda a, x, mask: P.softmax(x + mask, -1),
        "fused_softmax_mask_upper_triangle": _upper,
        "fused_dropout_add": lambda a, x, y, seed, s_p: (
            P.dropout(x, s_p, training=not a.is_test, mode=a.mode) + y,
            None,
        ),
        "flash_attn": _attention,
        "fused_linear_param_grad_add": _weight_gradient,
        "spectral_norm": lambda a, weight, u, v: normalised_weight(weight, u, v, a.dim, a.power_iters, a.eps),
        # The public function writes into x.
        "increment": lambda a, x: P.scale(x, 1.0, a.value),
        "reshape_grad": lambda a, x, slope: P.reshape(slope, list(x.shape)),
    }
)
RULES |= {
    f"{name}_grad": _gradient(name, *of)
    for name, of in (
        ("matmul", (0, 1)),
        ("gather", (0,)),
        ("swiglu", (0, 1)),
        ("topk", (0,)),
        ("put_along_axis", (0, 2)),
    )
}
RULES |= {
    name: _untaped(rule)
    for name, rule in (
        ("sgd_", _sgd),
        ("momentum_", _momentum),
        ("adam_", _adam),
        ("adamw_", _adam),
        ("check_finite_and_unscale_", _unscale),
    )
}
# results that are written into an operand: {function: {result: argument}}
WRITTEN = {"sgd_": {0: 0, 1: 3}, "momentum_": {0: 0, 1: 2, 2: 4}} | dict.fromkeys(
    ["adam_", "adamw_"], {0: 0, 1: 3, 2: 4, 3: 5, 4: 6, 5: 7, 6: 8}
)
OPTIMIZERS = (*WRITTEN, "check_finite_and_unscale_")


__all__ = ["OPTIMIZERS", "RULES", "WRITTEN", "define"]
