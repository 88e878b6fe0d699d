"""New tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import cast, constant_of, expanded, scaled
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.nn.functional.drop import ALPHA_DROPPED as _ALPHA_DROPPED

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder


def _uniform(w: Any, a: Any, out: Any, low: Any, high: Any) -> Any:
    shape = out[0][1]
    return w.op(
        "uniform",
        [w.ints(shape), cast(w, low, out[0][0]), cast(w, high, out[0][0])],
        out[0],
        shape=[],
        dtype=out[0][0],
    )


def _read_uniform(a: Any, n_shape: Any, s_low: Any, s_high: Any) -> Any:
    return P.uniform(n_shape, a.dtype, s_low, s_high, a.seed)


def _arange(w: Builder, a: Any, out: Sequence[Any]) -> Any:
    """Bounds as operands: whole numbers where all are, else float64."""
    bounds = [a.start, a.end, a.step]
    if all(isinstance(b, int) for b in bounds):
        kind = "int64"
    else:
        kind = "float64"
    return w.op("arange", [w.number(b, kind, (1,)) for b in bounds], out[0], dtype=out[0][0])


def _linspace(w: Any, a: Any, out: Any) -> Any:
    # Other dtypes are computed in float64, which holds their numbers.
    wide = {"float32": "float32"}.get(out[0][0], "float64")
    ends = [w.number(b, wide, (1,)) for b in (a.start, a.stop)]
    return w.op("linspace", [*ends, w.number(a.num, "int32", (1,))], out[0], dtype=out[0][0])


# random numbers ---------------------------------------------------------------------------------------------


def _normal(w: Any, a: Any, out: Any) -> Any:
    return _gaussian(w, out[0])


def _gaussian(w: Any, kind: Any) -> Any:
    return w.op("gaussian", [w.ints(kind[1])], kind, mean=0.0, std=1.0, dtype=kind[0])


def _scaled_normal(w: Any, a: Any, out: Any, mean: Any, std: Any) -> Any:
    found = _gaussian(w, out[0])
    for name, value in (("multiply", std), ("add", mean)):
        found = w.op(name, [found, cast(w, value, out[0][0])], out[0])
    return found


def _integers(w: Any, a: Any, out: Any, low: Any, high: Any) -> Any:
    low, high = (int(constant_of(w, value)) for value in (low, high))
    # The operation of Paddle has bounds of 32 bits.
    if not -(2**31) <= low < high < 2**31:
        raise NotWritable(f"randint from {low} to {high} has no form in PIR")
    found = w.op("randint", [w.ints(out[0][1])], ("int64", out[0][1]), low=low, high=high, dtype="int64")
    return cast(w, found, out[0][0])


def _permutation(w: Any, a: Any, out: Any) -> Any:
    return w.op("randperm", [], out[0], n=a.n, dtype=out[0][0])


def _bernoulli(w: Any, a: Any, out: Any, x: Any, p: Any) -> Any:
    return w.op("bernoulli", [cast(w, expanded(w, p, out[0][1]), out[0][0])], out[0])


def _classes(w: Any, a: Any, out: Any, x: Any) -> Any:
    return w.op("multinomial", [x, w.number(a.count, "int32", (1,))], out[0], replacement=a.replacement)


def _drawn(name: str) -> Lowering:
    return Lowering(lambda w, a, out, *operands: w.op(name, list(operands), out[0]))


def _binomial(w: Any, a: Any, out: Any, count: Any, share: Any) -> Any:
    both = [expanded(w, cast(w, one, "float64"), out[0][1]) for one in (count, share)]
    return w.op("binomial", both, out[0])


def _keep_mask(w: Any, shape: Any, p: Any) -> Any:
    """Whether each element is kept."""
    drawn = w.op(
        "uniform",
        [w.ints(shape), w.full(0.0), w.full(1.0)],
        ("float32", list(shape)),
        shape=[],
        dtype="float32",
    )
    # A number drawn from 0 to 1 is at least p with probability 1 - p.
    return w.op("greater_equal", [drawn, w.full(p, "float32", ())], ("bool", list(shape)))


def _drop(w: Any, a: Any, out: Any, x: Any) -> Any:
    # All are dropped; the scale 1 / (1 - p) would be infinite.
    if a.p == 1 and a.axes is not None:
        return w.op("full_like", [x, w.full(0.0)], x.type, dtype=x.dtype)
    if a.axes is None:  # in evaluation, as Paddle saves it
        if a.upscale:
            mode = "upscale_in_train"
        else:
            mode = "downgrade_in_infer"
        return w.op("dropout", [x, None, w.full(a.p)], [x.type, ("uint8", x.shape)], is_test=True, mode=mode)[
            0
        ]
    # One draw for all elements along the other axes.
    shape = [n if axis in a.axes else 1 for axis, n in enumerate(x.shape)]
    if a.upscale:
        x = scaled(w, x, 1 / (1 - a.p))
    return w.op("multiply", [x, cast(w, _keep_mask(w, shape, a.p), x.dtype)], x.type)


def _alpha_drop(w: Any, a: Any, out: Any, x: Any) -> Any:
    if a.p == 1:
        return w.op("full_like", [x, w.full(0.0)], x.type, dtype=x.dtype)
    if a.per_feature:
        shape = [*x.shape[:2], *[1] * (x.ndim - 2)]
    else:
        shape = x.shape
    kept = expanded(w, _keep_mask(w, shape, a.p), x.shape)
    # Self-normalizing networks (Klambauer and others, 2017): dropped elements get the negative saturation,
    # and scale and shift keep mean and variance.
    dropped = w.op("full_like", [x, w.full(_ALPHA_DROPPED)], x.type, dtype=x.dtype)
    scale = ((1 - a.p) * (1 + a.p * _ALPHA_DROPPED**2)) ** -0.5
    return scaled(w, w.op("where", [kept, x, dropped], x.type), scale, -scale * _ALPHA_DROPPED * a.p)


normal: Lowering = Lowering(_normal)
scaled_normal: Lowering = Lowering(_scaled_normal)
integers: Lowering = Lowering(_integers)
permutation: Lowering = Lowering(_permutation)
bernoulli: Lowering = Lowering(_bernoulli)
classes: Lowering = Lowering(_classes)
poisson: Lowering = _drawn("poisson")
gamma: Lowering = _drawn("standard_gamma")
binomial: Lowering = Lowering(_binomial)
drop: Lowering = Lowering(_drop)
alpha_drop: Lowering = Lowering(_alpha_drop)
arange: Lowering = Lowering(_arange)
linspace: Lowering = Lowering(_linspace)
uniform: Lowering = Lowering(_uniform, _read_uniform)
