"""Compares a plan with what XLA compiles from the same jaxpr.

Unit tests of `_core.numpy_backend`.
"""

import jax
import ml_dtypes
import numpy as np

from paddle_jax._core.numpy_backend import plan

_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


def both(function, *operands):
    """(the plan's results, XLA's results), each a list of NumPy arrays."""
    operands = [np.asarray(x) for x in operands]
    closed = jax.make_jaxpr(function)(*operands)
    kept = [x.copy() for x in operands]
    made = plan(closed)
    ours = made(*operands)
    with np.errstate(all="ignore"):
        in_python = made.quietly_in_python(operands)
    for x, other in zip(ours, in_python, strict=True):
        assert (x.shape, x.dtype, x.tobytes()) == (other.shape, other.dtype, other.tobytes())
    for x, before in zip(operands, kept, strict=True):
        assert x.tobytes() == before.tobytes(), "a plan wrote into an operand"
    theirs = [np.asarray(x) for x in jax.tree.leaves(jax.jit(function)(*operands))]
    return ours, theirs


def ulps(a, b):
    """Distance of two float arrays in units of the last place: 0 where both are NaN, infinite where one is.

    Numbers below the normal range count as zeros: XLA's threads flush them, NumPy keeps them.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "c":
        return np.maximum(ulps(a.real, b.real), ulps(a.imag, b.imag))
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    x, y = _ordered(a), _ordered(b)
    far = np.where(x > y, x - y, y - x).astype(np.float64)
    return np.where(nan_a & nan_b, 0, np.where(nan_a | nan_b, np.inf, far))


def _ordered(a):
    """uint64 in the order of the floats, consecutive floats one apart, both zeros the same."""
    a = np.where(np.abs(a) < ml_dtypes.finfo(a.dtype).tiny, np.zeros((), a.dtype), a)
    bits = np.ascontiguousarray(a).view(_BITS[a.dtype.itemsize]).reshape(a.shape).astype(np.int64)
    middle, low = np.uint64(1 << 63), np.int64(np.iinfo(_BITS[a.dtype.itemsize]).min)
    return np.where(bits < 0, middle - (bits - low).astype(np.uint64), middle + bits.astype(np.uint64))


def check(function, *operands, ulp=2, scale=0.0, better=(), signs=True):
    """Asserts that a plan and XLA agree: integers and booleans exactly, floats within `ulp` units
    of the last place.

    scale: additionally allowed, relative to the largest finite element (for sums, whose terms may cancel).
    better: more precise results, one per result; an element may be within `ulp` of that instead. signs: zeros
    have the same sign.
    """
    ours, theirs = both(function, *operands)
    assert len(ours) == len(theirs)
    for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        same(a, b, ulp, scale, better[n] if better else None, signs, f"result {n}")
    return ours


def check_all(functions, *operands, **options):
    """As `check`, for {name: function} compiled together."""
    usable, names = [], []
    for name, function in functions.items():
        try:
            jax.eval_shape(function, *operands)
        except (TypeError, ValueError):
            continue  # the primitive has no meaning for this dtype
        usable.append(function)
        names.append(name)
    ours, theirs = both(lambda *xs: [f(*xs) for f in usable], *operands)
    precise = [None] * len(ours)
    if options.pop("precise", False):
        wide = [np.asarray(x, np.float64) for x in operands]
        precise = [np.asarray(y) for y in jax.jit(lambda *xs: [f(*xs) for f in usable])(*wide)]
    for a, b, c, name in zip(ours, theirs, precise, names, strict=True):
        same(a, b, better=c, where=name, **options)
    return names


def same(a, b, ulp=2, scale=0.0, better=None, signs=True, where=""):
    """Asserts that two arrays agree, as `check` says."""
    with np.errstate(all="ignore"):
        _same(a, b, ulp, scale, better, signs, where)


def _same(a, b, ulp, scale, better, signs, where):
    assert type(a) is np.ndarray and a.flags.c_contiguous, where
    assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{where}: {a.dtype}{a.shape}, XLA {b.dtype}{b.shape}"
    if a.dtype.kind in "fVc" and a.dtype != jax.dtypes.float0:
        near = ulps(a, b) <= ulp
        if better is not None:
            near |= ulps(a, better.astype(a.dtype)) <= ulp
        if scale:
            near |= _close(a, b, scale)
        assert near.all(), f"{where}: {_first(a, b, ~near)}"
        if signs and a.dtype.kind != "c":
            zero = (a == 0) & (b == 0)
            assert (np.signbit(a) == np.signbit(b))[zero].all(), f"{where}: a zero has another sign"
    else:
        assert a.tobytes() == b.tobytes(), f"{where}: {_first(a, b, a != b)}"


def _close(a, b, scale):
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    real = np.dtype(f"f{a.dtype.itemsize // 2}") if a.dtype.kind == "c" else a.dtype
    largest = np.abs(y[np.isfinite(y)]).max(initial=0.0)
    return np.abs(x - y) <= scale * float(ml_dtypes.finfo(real).eps) * max(largest, 1e-30)


def _first(a, b, wrong):
    where = tuple(np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {a.size} elements differ, first at {where}: {a[where]!r}, XLA {b[where]!r}"


def values(dtype, seed=0):
    """Numbers of a dtype that are worth a look: limits, halves, zeros of both signs, infinities, NaN, and
    random ones of all sizes."""
    dtype, r = np.dtype(dtype), np.random.RandomState(seed)
    if dtype.kind == "b":
        return np.array([True, False])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edge = [0, 1, 2, 3, 5, 7, info.max, info.max - 1, info.min, info.min + 1, info.max // 2]
        return np.array(edge + [-1, -2, -7] * (dtype.kind == "i"), dtype)
    if dtype.kind == "c":
        parts = np.array([0, -0.0, 1, -1, 0.5, -2.5, 1e-3, 30])
        z = np.empty((8, 8), dtype)
        z.real, z.imag = parts[:, None], parts
        return np.concatenate([z.ravel(), (r.randn(100) + 1j * r.randn(100)).astype(dtype)])
    info = ml_dtypes.finfo(dtype)
    edge = [
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        2,
        -2,
        1.5,
        2.5,
        -2.5,
        3,
        10,
        -10,
        89,
        -700,
        1e-5,
        -1e-5,
        1e30,
        np.inf,
        -np.inf,
        np.nan,
    ]
    sizes = np.exp(r.uniform(-20, 20, 100))
    with np.errstate(all="ignore"):
        parts = [
            edge,
            r.randn(100),
            r.uniform(-1, 1, 100),
            r.uniform(-30, 30, 100),
            sizes,
            -sizes,
            [info.max, info.min, info.eps],
        ]
        return np.concatenate(parts).astype(dtype)


def pairs(dtype, seed=0, count=30):
    """Two arrays that have many combinations of `values`."""
    v = values(dtype, seed)
    chosen = np.concatenate([v[:22], v[22:][:: max(1, len(v) // count)]]) if len(v) > count else v
    return tuple(np.ascontiguousarray(x.ravel()) for x in np.meshgrid(chosen, chosen))
