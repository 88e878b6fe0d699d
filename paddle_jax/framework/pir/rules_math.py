"""Rules for arithmetic, comparisons, reductions, linear algebra and random numbers."""

from paddle_jax.framework.pir.rules import P, define

RANDOM = {"bernoulli", "multinomial", "poisson", "gaussian", "uniform", "randint", "randperm", "gumbel_softmax", "exponential_", "binomial",
          "standard_gamma", "truncated_gaussian_random", "dirichlet"}


def _axes(given):
    """An axis operand: an empty list stands for all axes."""
    return given if not isinstance(given, list) or given else None


def _lone(axis):
    return axis[0] if isinstance(axis, list) and len(axis) == 1 else _axes(axis)


def _reduced(name):
    return lambda a, x, n_axis: getattr(P, name)(x, axis=_axes(n_axis), keepdim=a.keepdim)


def _dtype(name):
    return None if name.startswith("Undefined") else name


def _p_norm(a, x):
    if a.asvector:
        return P.vector_norm(x, a.porder, None, a.keepdim)
    return P.vector_norm(x, a.porder, a.axis, a.keepdim)


def _to_real(a, x):
    sizes = [x.shape[axis] for axis in a.axes[:-1]] + [a.last_dim_size or 2 * (x.shape[a.axes[-1]] - 1)]
    return (P.hfftn if a.forward else P.irfftn)(x, s=sizes, axes=a.axes, norm=a.normalization)


define({
    "pow": lambda a, x: P.pow(x, a.y),
    "gcd": lambda a, x, y: P.gcd(x, y), "lcm": lambda a, x, y: P.lcm(x, y),  # Paddle does not run them when they stand in a file
    "scale": lambda a, x, s_factor: P.scale(x, s_factor, a.bias, a.bias_after_scale),
    "round": lambda a, x: P.round(x, getattr(a, "decimals", 0)),
    "logit": lambda a, x: P.logit(x, a.eps or None),
    "clip": lambda a, x, s_low, s_high: _clip(x, s_low, s_high),
    "cast": lambda a, x: P.cast(x, a.dtype),
    "eigvalsh": lambda a, x: P.eigvalsh(x, a.uplo),
    "eig": lambda a, x: P.eig(x), "eigvals": lambda a, x: P.eigvals(x), "svdvals": lambda a, x: P.svdvals(x),
    "lu_unpack": lambda a, x, y: P.lu_unpack(x, y, a.unpack_ludata, a.unpack_pivots),
    "lstsq": lambda a, x, y, s_rcond: P.lstsq(x, y, s_rcond, a.driver),
    "frame": lambda a, x: P.frame(x, a.frame_length, a.hop_length, a.axis),
    "overlap_add": lambda a, x: P.overlap_add(x, a.hop_length, a.axis),
    "standard_gamma": lambda a, x: P.standard_gamma(x),
    "lu": lambda a, x: P.lu(x, a.pivot, True),
    "pinv": lambda a, x: P.pinv(x),
    "matrix_rank": lambda a, x: P.matrix_rank(x, None if a.use_default_tol else a.tol, a.hermitian),
    "matrix_rank_tol": lambda a, x, tol: P.matrix_rank(x, tol, a.hermitian),
    "matrix_rank_atol_rtol": lambda a, x, atol, rtol: P.matrix_rank(x, hermitian=a.hermitian, atol=atol, rtol=rtol),
    "einsum": lambda a, xs: P.einsum(a.equation, *xs),
    "increment_": lambda a, x: P.scale(x, 1.0, a.value),
    "allclose": lambda a, x, y, s_rtol, s_atol: P.allclose(x, y, s_rtol, s_atol, a.equal_nan),
    "isclose": lambda a, x, y, s_rtol, s_atol: P.isclose(x, y, s_rtol, s_atol, a.equal_nan),
    # reductions
    "mean": _reduced("mean"), "max": _reduced("max"), "min": _reduced("min"),
    "sum": lambda a, x, n_axis: P.sum(x, _axes(n_axis), _dtype(a.dtype), a.keepdim),
    "prod": lambda a, x, n_axis: P.prod(x, None if a.reduce_all else _axes(n_axis), a.keepdim),
    "mean_all": lambda a, x: P.mean(x),
    "logsumexp": lambda a, x: P.logsumexp(x, None if a.reduce_all else _axes(a.axis), a.keepdim),
    "p_norm": _p_norm,
    "frobenius_norm": lambda a, x, n_axis: P.vector_norm(x, 2.0, None if a.reduce_all else _axes(n_axis), a.keep_dim),
    "squared_l2_norm": lambda a, x: P.sum(P.square(x)).reshape([1]),
    "l1_norm": lambda a, x: P.sum(P.abs(x)),
    "reduce_as": lambda a, x, y: P.reduce_as(x, y),
    "argmax": lambda a, x, s_axis: P.argmax(x, None if a.flatten else s_axis, a.keepdims, a.dtype),
    "argmin": lambda a, x, s_axis: P.argmin(x, None if a.flatten else s_axis, a.keepdims, a.dtype),
    "median": lambda a, x: P.median(x, _lone(a.axis), a.keepdim, a.mode),
    "nanmedian": lambda a, x: P.nanmedian(x, _axes(a.axis), a.keepdim, a.mode),
    "cumsum": lambda a, x, s_axis: _cumsum(a, x, s_axis),
    "cumprod": lambda a, x: P.cumprod(x, a.dim),
    "histogram": lambda a, x, weight: P.histogram(x, a.bins, a.min, a.max, weight, a.density),
    "bincount": lambda a, x, weights, s_minlength: P.bincount(x, weights, s_minlength),
    # Fourier transforms
    "fft_c2c": lambda a, x: (P.fftn if a.forward else P.ifftn)(x, axes=a.axes, norm=a.normalization),
    "fft_r2c": lambda a, x: _from_real(a, x),
    "fft_c2r": _to_real,
    # random numbers
    "gaussian": lambda a, n_shape: P.normal(a.mean, a.std, n_shape).astype(a.dtype),
    "uniform": lambda a, n_shape, s_low, s_high: P.uniform(n_shape, a.dtype, s_low, s_high, a.seed),
    "randint": lambda a, n_shape: P.randint(a.low, a.high, n_shape, a.dtype),
    "randperm": lambda a: P.randperm(a.n, a.dtype),
    "multinomial": lambda a, x, s_count: P.multinomial(x, s_count, a.replacement),
})


def _clip(x, low, high):
    if isinstance(low, float) and isinstance(high, float) and x.dtype.is_integer:
        limit = 2**63 - 1
        return P.clip(x, *(int(max(-limit, min(bound, limit))) for bound in (low, high)))
    return P.cast(P.clip(x, low, high), x.dtype)


def _cumsum(a, x, axis):
    if a.flatten:
        x, axis = P.flatten(x), 0
    if a.reverse:
        x = P.flip(x, [axis])
    total = P.cumsum(x, axis)
    total = P.subtract(total, x) if a.exclusive else total
    return P.flip(total, [axis]) if a.reverse else total


def _from_real(a, x):
    if a.onesided:
        return (P.rfftn if a.forward else P.ihfftn)(x, axes=a.axes, norm=a.normalization)
    return (P.fftn if a.forward else P.ifftn)(x, axes=a.axes, norm=a.normalization)
