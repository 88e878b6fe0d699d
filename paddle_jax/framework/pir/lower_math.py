"""Arithmetic, comparisons, reductions and linear algebra in PIR."""

import math

from paddle_jax.framework.pir.builder import NotWritable
from paddle_jax.framework.pir.lower import axes_of, binary, cast, define, positive, reduced, scale, squeeze


def _listed(axis):
    return [] if axis is None else list(axis) if isinstance(axis, tuple) else [axis]


def _sum(w, a, out, x):
    return reduced(w, "sum", x, _listed(a.axis), a.keepdim, out[0], dtype=out[0][0] if out[0][0] != x.dtype else "Undefined(ALL_DTYPE)")


def _reduction(name):
    def rule(w, a, out, x):
        return reduced(w, name, x, _listed(a.axis), a.keepdim, out[0])

    return rule


def _prod(w, a, out, x):
    return reduced(w, "prod", cast(w, x, out[0][0]), _listed(a.axis), a.keepdim, out[0], reduce_all=a.axis is None)


def _logsumexp(w, a, out, x):
    return w.op("logsumexp", [x], out[0], axis=_listed(a.axis), keepdim=a.keepdim, reduce_all=a.axis is None)


def _variance(w, a, x):
    """(variance with the reduced axes kept)"""
    axes = axes_of(a.axis, x.ndim)
    kept = x.dtype, [1 if i in axes else n for i, n in enumerate(x.shape)]
    if any(not isinstance(x.shape[i], int) for i in axes):
        raise NotWritable("var over an axis whose length is not fixed")
    count, correction = math.prod(x.shape[i] for i in axes), _correction(a)
    centred = binary(w, "subtract", x, reduced(w, "mean", x, axes, True, kept), x.type)
    total = reduced(w, "sum", w.op("square", [centred], x.type), axes, True, kept)
    return scale(w, total, 1.0 / max(count - correction, 0) if count > correction else math.nan), axes


def _correction(a):
    unbiased = getattr(a, "unbiased", None)
    return getattr(a, "correction", 1) if unbiased is None else int(unbiased)


def _var(w, a, out, x):
    found, axes = _variance(w, a, x)
    return found if a.keepdim else squeeze(w, found, axes)


def _std(w, a, out, x):
    found, axes = _variance(w, a, x)
    found = w.op("sqrt", [found], found.type)
    return found if a.keepdim else squeeze(w, found, axes)


def _p_norm(w, x, p, axis, keepdim, out, epsilon=0.0):
    return w.op("p_norm", [x], out, porder=p, axis=-1 if axis is None else axis, epsilon=epsilon, keepdim=keepdim, asvector=axis is None)


def _norm(w, a, out, x):
    axis = a.axis[0] if isinstance(a.axis, tuple) and len(a.axis) == 1 else a.axis
    p = 2.0 if a.p in (None, "fro") else a.p
    if not isinstance(p, int | float):
        raise NotWritable(f"norm with p={p!r} has no form in PIR")
    if isinstance(axis, tuple):
        if sorted(axes_of(axis, x.ndim)) != list(range(x.ndim)) or p != 2:
            raise NotWritable("norm over some of the axes has no form in PIR")
        axis = None
    if axis is None and p == 2 and a.keepdim:
        raise NotWritable("norm of all elements with keepdim has no form in PIR")
    return _p_norm(w, x, float(p), axis, a.keepdim, out[0])


def _argument(name):
    def rule(w, a, out, x):
        dtype = a.dtype if isinstance(a.dtype, str) else a.dtype.np.name
        return w.op(name, [x, w.full(0 if a.axis is None else a.axis, "int64")], out[0], keepdims=a.keepdim, flatten=a.axis is None, dtype=dtype)

    return rule


def _arithmetic(name):
    def rule(w, a, out, x, y):
        if a.alpha != 1:
            y = scale(w, y, a.alpha)
        return w.op(name, [x, y], out[0])

    return rule


def _divide(w, a, out, x, y):
    if getattr(a, "rounding_mode", None):
        raise NotWritable("divide with a rounding mode has no form in PIR")
    return w.op("divide", [cast(w, x, out[0][0]), cast(w, y, out[0][0])], out[0])


def _scale(w, a, out, x, factor, bias):
    if a.act:
        raise NotWritable("scale with an activation has no form in PIR")
    factor, bias = cast(w, factor, x.dtype), cast(w, bias, x.dtype)
    if a.bias_after_scale:
        return binary(w, "add", binary(w, "multiply", x, factor, out[0]), bias, out[0])
    return binary(w, "multiply", binary(w, "add", x, bias, out[0]), factor, out[0])


def _clip(w, a, out, x, low, high):
    x = cast(w, x, out[0][0])
    x = x if low is None else binary(w, "maximum", x, cast(w, low, x.dtype), x.type)
    return x if high is None else binary(w, "minimum", x, cast(w, high, x.dtype), x.type)


def _sgn(w, a, out, x):
    if x.dtype.startswith("complex"):
        raise NotWritable("sgn of complex numbers has no form in PIR")
    return w.op("sign", [x], out[0])


def _frac(w, a, out, x):
    return binary(w, "subtract", x, w.op("trunc", [x], x.type), x.type)


def _count_nonzero(w, a, out, x):
    different = w.op("not_equal", [x, w.full(0, x.dtype, ())], ("bool", x.shape))
    return reduced(w, "sum", cast(w, different, "int64"), _listed(a.axis), a.keepdim, out[0], dtype="int64")


def _fft(name):
    def rule(w, a, out, x):
        extra = {"onesided": True} if name == "fft_r2c" else {"last_dim_size": out[0][1][a.axes[-1]]} if name == "fft_c2r" else {}
        if a.lengths is not None and name != "fft_c2r":
            raise NotWritable("a Fourier transform that cuts or pads has no form in PIR")
        if name == "fft_c2r" and list(a.lengths[:-1]) != [x.shape[i] for i in a.axes[:-1]]:
            raise NotWritable("a Fourier transform that cuts or pads has no form in PIR")
        if name == "fft_c2c" and not x.dtype.startswith("complex"):
            return w.op("fft_r2c", [x], out[0], axes=a.axes, normalization=a.norm, forward=a.forward, onesided=False)
        return w.op(name, [x], out[0], axes=a.axes, normalization=a.norm, forward=a.forward, **extra)

    return rule


def _cumsum(w, a, out, x):
    flat = a.axis is None
    return w.op("cumsum", [x, w.full(-1 if flat else a.axis, "int32")], out[0], flatten=flat)


def _outer(w, a, out, x, y):
    return binary(w, "multiply", w.op("reshape", [x, w.ints([-1, 1])], (x.dtype, [*out[0][1][:1], 1])),
                  w.op("reshape", [y, w.ints([1, -1])], (y.dtype, [1, *out[0][1][1:]])), out[0])


def _logaddexp(w, a, out, x, y):
    gap = w.op("abs", [binary(w, "subtract", x, y, out[0])], out[0])
    tail = w.op("log1p", [w.op("exp", [scale(w, gap, -1.0)], out[0])], out[0])
    return binary(w, "add", binary(w, "maximum", x, y, out[0]), tail, out[0])


def _nan_to_num(w, a, out, x):
    top = {"float16": 65504.0, "float64": 1.7976931348623157e308}.get(x.dtype, 3.4028234663852886e38)
    for test, number in (("nan", a.nan), ("high", top if a.posinf is None else a.posinf), ("low", -top if a.neginf is None else a.neginf)):
        if test == "nan":
            hit = w.op("isnan", [x], ("bool", x.shape))
        else:
            hit = w.op("equal", [x, w.full(math.inf if test == "high" else -math.inf, x.dtype, ())], ("bool", x.shape))
        x = w.op("where", [hit, w.op("full_like", [x, w.full(number)], x.type, dtype=x.dtype), x], x.type)
    return x


def _close(name):
    def rule(w, a, out, x, y):
        return w.op(name, [x, y, w.full(a.rtol, "float64"), w.full(a.atol, "float64")], out[0], equal_nan=a.equal_nan)

    return rule


def _pairwise(w, a, out, x, y):
    gap = scale(w, binary(w, "subtract", x, y), 1.0, a.epsilon)
    return w.op("p_norm", [gap], out[0], porder=a.p, axis=-1, epsilon=0.0, keepdim=a.keepdim, asvector=False)


def _cosine(w, a, out, x, y):
    kind = out[0]
    both = binary(w, "multiply", x, y)
    axes = [positive(a.axis, both.ndim)]
    top = reduced(w, "sum", both, axes, False, kind)
    norms = [reduced(w, "sum", w.op("square", [v], v.type), axes, False, kind) for v in (x, y)]
    bottom = w.op("sqrt", [binary(w, "maximum", binary(w, "multiply", *norms, kind), w.full(a.eps * a.eps, x.dtype, ()), kind)], kind)
    return binary(w, "divide", top, bottom, kind)


def _nanmean(w, a, out, x):
    present = cast(w, w.op("logical_not", [w.op("isnan", [x], ("bool", x.shape))], ("bool", x.shape)), x.dtype)
    total, count = (reduced(w, "sum", v, _listed(a.axis), a.keepdim, out[0]) for v in (_without_nan(w, x), present))
    return binary(w, "divide", total, count, out[0])


define({
    "add": _arithmetic("add"), "subtract": _arithmetic("subtract"), "divide true_divide": _divide,
    "neg negative": lambda w, a, out, x: scale(w, x, -1.0),
    "deg2rad": lambda w, a, out, x: scale(w, cast(w, x, out[0][0]), math.pi / 180),
    "rad2deg": lambda w, a, out, x: scale(w, cast(w, x, out[0][0]), 180 / math.pi),
    "scale": _scale, "clip": _clip, "sgn": _sgn, "frac": _frac,
    "cast": lambda w, a, out, x: cast(w, x, out[0][0]),
    "logit": lambda w, a, out, x: w.op("logit", [x], out[0], eps=a.eps or 0.0),
    "einsum": lambda w, a, out, xs: w.op("einsum", [w.combine(xs)], [out[0], None, None], equation=a.equation)[0],
    "sum": _sum, "mean": _reduction("mean"), "max": _reduction("max"), "min": _reduction("min"), "prod": _prod, "logsumexp": _logsumexp,
    "nansum": lambda w, a, out, x: _sum(w, a, out, _without_nan(w, x)),
    "var": _var, "std": _std, "norm vector_norm": _norm, "count_nonzero": _count_nonzero,
    "argmax": _argument("argmax"), "argmin": _argument("argmin"),
    "cumsum": _cumsum,
    "cumprod": lambda w, a, out, x: w.op("cumprod", [x], out[0], dim=a.dim),
    "logcumsumexp": lambda w, a, out, x: w.op("logcumsumexp", [x], out[0], axis=-1 if a.axis is None else a.axis, flatten=a.axis is None),
    "fft_c2c": _fft("fft_c2c"), "fft_r2c": _fft("fft_r2c"), "fft_c2r": _fft("fft_c2r"),
    "hypot": lambda w, a, out, x, y: w.op("sqrt", [binary(w, "add", w.op("square", [x], x.type), w.op("square", [y], y.type), out[0])], out[0]),
    "logaddexp": _logaddexp, "outer": _outer, "nan_to_num": _nan_to_num, "allclose": _close("allclose"), "isclose": _close("isclose"),
    "baddbmm": lambda w, a, out, x, y, z: binary(w, "add", scale(w, x, a.beta), scale(w, binary(w, "bmm", y, z, out[0]), a.alpha), out[0]),
    "inner": lambda w, a, out, x, y: w.op("matmul", [x, y], out[0], transpose_y=True) if x.ndim and y.ndim == 2 else _unwritable("inner"),
    "solve": lambda w, a, out, x, y: w.op("solve", [x, y], out[0]) if a.left else _unwritable("solve from the right"),
    "pairwise_distance": _pairwise, "cosine_similarity": _cosine, "nanmean": _nanmean,
    "_normalized": lambda w, a, out, x: _normalized(w, a, out, x),
    "t": lambda w, a, out, x: w.op("transpose", [x], out[0], perm=list(range(x.ndim))[::-1]),
})


def _without_nan(w, x):
    nan = w.op("isnan", [x], ("bool", x.shape))
    return w.op("where", [nan, w.op("full_like", [x, w.full(0.0)], x.type, dtype=x.dtype), x], x.type)


def _normalized(w, a, out, x):
    axis = positive(a.axis, x.ndim)
    size = x.dtype, [1 if i == axis else n for i, n in enumerate(x.shape)]
    length = _p_norm(w, x, float(a.p), axis, True, size, a.epsilon)
    return binary(w, "divide", x, binary(w, "maximum", length, w.full(a.epsilon, x.dtype, ()), size), out[0])


def _unwritable(what):
    raise NotWritable(f"{what} has no form in PIR")
