"""Random tensors whose distribution follows the elements of another tensor, and in-place random functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.kernels.value_checks import add_check, traced_value
from paddle_jax._core.ops.op import check_inplace, composite, op
from paddle_jax._core.tensors import layout
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.axes import concrete, number
from paddle_jax.tensor.creation import finish
from paddle_jax.tensor.gamma_numbers import log_gamma_numbers
from paddle_jax.tensor.random import (
    _operand,
    _range,
    bound,
    draw_gaussian,
    draw_integers,
    normal,
    rand,
    standard_normal,
    uniform,
)

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


X = {"input": "x"}


def _need_float(op: str, x: Sequence[float] | Tensor) -> None:
    if not jnp.issubdtype(numpy_dtype(x), jnp.floating):
        raise RuntimeError(f"{op}: x: got dtype {numpy_dtype(x).name}; it must be floating")


def _within(op: str, name: str, tensor: Tensor, low: int, high: float, error: type) -> None:
    value = traced_value(tensor)
    # In a compiled function the check is a part of it.
    if value is not None:
        if value.size:
            add_check(
                ~((value >= low) & (value <= high)).all(),
                (),
                lambda: error(f"{op}: {name}: got values outside {low}..{high}"),
            )
        return
    # Only where the value can be seen for free.
    values = concrete(tensor)
    if values is not None and values.size and not (values.min() >= low and values.max() <= high):
        raise error(f"{op}: {name}: got values from {values.min()} to {values.max()}; use {low}..{high}")


# like another tensor ----------------------------------------------------------------------------------------


@composite(method=False, cases=["~f(2,3)", "~f(2), dtype='float64'", "i(2)", "~d(0,2)"])
def rand_like(
    input: Tensor,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform random numbers on [0, 1) with the shape and dtype of a tensor (or another dtype). See `rand`.

    Args:
        input: Tensor [...].
        dtype: floating. Default: that of input.
        device: where it is put, e.g. "cpu". Default: where input is.
        requires_grad: True makes it a leaf that gets gradients.
    Returns:
        Tensor of the shape of input.
    Example:
        >>> paddle.rand_like(paddle.ones([2])).shape
        paddle.Size([2])
    """
    # Beside x, where x is on another device than the current one.
    where: Any = places.elsewhere(held_value(input)) if device is None else device
    return rand(list(input.shape), dtype or input.dtype, device=where, requires_grad=requires_grad)


@composite(method=False, alias=X, cases=["~f(2,3)", "~f(2), 'float64'", "i(2)"])
def randn_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Standard normal random numbers with the shape and dtype of a tensor (or another dtype). See `randn`.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        dtype: floating or complex. Default: that of x.
        device: where it is put, e.g. "cpu". Default: where x is.
        requires_grad: True makes it a leaf that gets gradients.
    Returns:
        Tensor of the shape of x.
    Example:
        >>> paddle.randn_like(paddle.ones([2])).shape
        paddle.Size([2])
    """
    where = places.elsewhere(held_value(x)) if device is None else device
    return standard_normal(list(x.shape), dtype or x.dtype, device=where, requires_grad=requires_grad)


@composite(
    method=False,
    cases=["~f(2), 5", "~f(2), 0, 5, 'int64'", "~i(2), 5", "f(2), 0", "f(2), 5, 3", "~b(2), 0, 2"],
)
def randint_like(
    x: Tensor, low: Any = 0, high: Any = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Random integers from [low, high) with the shape and dtype of a tensor (or another
    dtype). See `randint`.

    Args:
        x: Tensor [...].
        low, high: ints; without high the range is [0, low).
        dtype: Default: that of x.
    Returns:
        Tensor of the shape of x.
    Example:
        >>> paddle.randint_like(paddle.ones([2]), 3).shape
        paddle.Size([2])
    """
    low, high = _range("randint_like", low, high)
    dtype = dtypes.convert(dtype) if dtype is not None else x.dtype
    return draw_integers(_operand(low, np.int64), _operand(high, np.int64), tuple(x.shape), dtype)


# element by element -----------------------------------------------------------------------------------------


@known_as(code="creation:bernoulli")
@op("x p", random=True, nondiff=True, register=False, method=False)
def draw_bernoulli(x: jax.Array, p: jax.Array, *, key: jax.Array) -> jax.Array:
    """Ones with probability p, zeros otherwise, of the shape and dtype of x."""
    return (jax.random.uniform(key, x.shape, p.dtype) < p).astype(x.dtype)


@known_as(pir="bernoulli")
@composite(
    method=False,
    cases=[
        "~u(0,1,3)",
        "const([0.0, 1.0])",
        "const([0.0, 1.0]), 0.0",
        "const([0.0, 2.0])",
        "i(2)",
        "~ud(0,1,2,2)",
    ],
)
def bernoulli(x: Tensor, p: Any = None, name: str | None = None) -> Tensor:
    """Random zeros and ones: one with the probability that x gives.

    Args:
        x: floating Tensor of probabilities.
        p: one probability for all, instead of the values of x.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        IndexError: a probability is outside 0..1.
    Example:
        >>> paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    _need_float("bernoulli", x)
    chances = x if p is None else bound("bernoulli", "p", p)
    _within("bernoulli", "p", chances, 0, 1, IndexError)
    return draw_bernoulli(x, chances)


@known_as(code="creation:classes")
@op("x", random=True, nondiff=True, register=False, method=False)
def draw_classes(x: jax.Array, count: int, replacement: bool, *, key: jax.Array) -> jax.Array:
    """Class numbers with probabilities proportional to the last axis of x."""
    # Half precision has too few digits for logarithms of small chances.
    logits = jnp.log(x.astype(jnp.float32 if x.dtype.itemsize < 4 else x.dtype))
    # Each draw is independent.
    if replacement:
        return jnp.moveaxis(
            jax.random.categorical(key, logits, -1, shape=(count, *x.shape[:-1])), 0, -1
        ).astype(jnp.int64)
    # the largest values of log-probability plus Gumbel noise are a sample without replacement
    return jax.lax.top_k(logits + jax.random.gumbel(key, x.shape, logits.dtype), count)[1].astype(jnp.int64)


@composite(
    alias=X,
    out=True,
    cases=[
        "const([0.0, 1.0, 0.0]), 3, True",
        "const([0.0, 1.0, 0.0]), 3",
        "~const([0.0, 1.0, 1.0]), 2",
        "~pos(2,4), 3",
        "const([0.0, -1.0, 0.0]), 1",
        "const([0.0, 0.0, 0.0]), 1",
        "pos(2,2,2), 1",
        "pos(3), 0",
        "i(3), 1",
        "~pos(3), const(1, 'int64')",
    ],
)
def multinomial(
    x: Tensor, num_samples: Any = 1, replacement: bool = False, name: str | None = None
) -> Tensor:
    """Random class numbers with given weights.

    Args:
        x: floating Tensor [n] or [rows, n] of weights >= 0 that need not add up to 1.
        num_samples: how many are drawn from each row.
        replacement: a class may be drawn again.
        out: Tensor that receives the result.
    Returns:
        int64 Tensor [num_samples] or [rows, num_samples].
    Raises:
        ValueError: a weight is negative, all are 0, or there are fewer classes than samples
            without replacement.
    Example:
        >>> paddle.multinomial(paddle.to_tensor([0.0, 1.0]), 1).tolist()
        [1]
    """
    _need_float("multinomial", x)
    count = number(
        "multinomial", int(num_samples) if isinstance(num_samples, float) else num_samples, "num_samples"
    )
    if x.ndim not in (1, 2) or count < 1:
        raise ValueError(
            f"multinomial: got shape {list(x.shape)} and num_samples={count}; "
            "x has 1 or 2 axes, num_samples is > 0"
        )
    _check_weights(concrete(x), count, replacement, x.shape[-1])
    return draw_classes(x, count, bool(replacement))


def _check_weights(weights: np.ndarray, count: int, replacement: bool, classes: int) -> None:
    if weights is not None and weights.size:
        if not weights.min() >= 0 or not weights.sum(-1).min() > 0:
            raise ValueError(
                "multinomial: x: a weight is negative or NaN, or all weights of a row are 0; "
                "weights are >= 0 and one is > 0"
            )
        # A class with the weight 0 cannot be drawn.
        classes = (weights > 0).sum(-1).min()
    if not replacement and count > classes:
        raise ValueError(
            f"multinomial: num_samples={count}, but only {classes} classes have a weight > 0; "
            "draw fewer or with replacement=True"
        )


@known_as(code="creation:poisson")
@op("x", random=True, nondiff=True, register=False, method=False)
def draw_poisson(x: jax.Array, *, key: jax.Array) -> jax.Array:
    """Poisson numbers with the rates x."""
    return jax.random.poisson(key, x.astype(jnp.float32) if x.dtype.itemsize < 4 else x, x.shape).astype(
        x.dtype
    )


@known_as(pir="poisson")
@composite(method=False, cases=["~pos(2,3)", "const([0.0, 0.0])", "i(2)", "~pos_d(3)"])
def poisson(x: Tensor, name: str | None = None) -> Tensor:
    """Random numbers of Poisson distributions.

    Args:
        x: floating Tensor of the rates, >= 0.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        ValueError: a rate is negative.
    Example:
        >>> paddle.poisson(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    _need_float("poisson", x)
    _within("poisson", "x", x, 0, np.inf, ValueError)
    return draw_poisson(x)


@known_as(code="creation:gamma")
@op("x", random=True, nondiff=True, register=False, method=False)
def draw_gamma(x: jax.Array, *, key: jax.Array) -> jax.Array:
    """Gamma numbers of shape parameter x and scale 1."""
    wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 else x
    return jnp.exp(log_gamma_numbers(key, wide)).astype(x.dtype)


@composite(method=False, cases=["~pos(2,3)", "i(2)", "~pos_d(3)"])
def standard_gamma(x: Tensor, name: str | None = None) -> Tensor:
    """Random numbers of gamma distributions of scale 1.

    Args:
        x: floating Tensor of the shape parameters, > 0.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.standard_gamma(paddle.ones([2])).shape
        paddle.Size([2])
    """
    _need_float("standard_gamma", x)
    return draw_gamma(x)


@known_as(code="creation:binomial")
@op("count prob", random=True, nondiff=True, register=False, method=False)
def draw_binomial(count: jax.Array, prob: jax.Array, *, key: jax.Array) -> jax.Array:
    """Binomial numbers."""
    # In float64, as counts may be large.
    return jax.random.binomial(key, count.astype(jnp.float64), prob.astype(jnp.float64)).astype(jnp.int64)


@composite(
    method=False,
    cases=[
        "const([3, 3], 'int64'), const([0.0, 1.0])",
        "const([3.0, 3.0]), const([0.0, 1.0])",
        "~const([3, 3], 'int64'), const(0.5)",
        "const([3, 3], 'int64'), const([0.5, 0.5, 0.5])",
    ],
)
def binomial(count: Tensor, prob: Tensor, name: str | None = None) -> Tensor:
    """Random numbers of binomial distributions.

    Args:
        count: Tensor of the numbers of trials.
        prob: floating Tensor of the probabilities, broadcastable with count.
    Returns:
        int64 Tensor of the broadcast shape.
    Raises:
        ValueError: the shapes do not broadcast, or a probability is outside 0..1.
    Example:
        >>> paddle.binomial(paddle.to_tensor([3.0]), paddle.to_tensor([1.0])).tolist()
        [3]
    """
    _within("binomial", "prob", prob, 0, 1, ValueError)
    _within("binomial", "count", count, 0, np.inf, ValueError)
    return draw_binomial(count, prob)


@composite(method=False, cases=["~0.0, 1.0, [2]", "~f(2), 1.0", "~f(3), pos(3)", "i(2), 1.0"])
def log_normal(mean: Any = 1.0, std: Any = 2.0, shape: Any = None, name: str | None = None) -> Tensor:
    """Random numbers whose logarithm is normal. Arguments as for `normal`: mean and std are those
    of the logarithm.

    Args:
        mean, std: numbers, or Tensors of the shape of the result.
        shape: list of ints. Default: that of mean and std.
    Returns:
        floating Tensor.
    Example:
        >>> bool((paddle.log_normal(0.0, 1.0, [5]) > 0).all())
        True
    """
    return raise_e(normal(mean, std, shape))


@known_as(pir="exp")
@op("x", register=False, method=False)
def raise_e(x: jax.Array) -> jax.Array:
    """e to the power x."""
    return jnp.exp(x)


# in place ---------------------------------------------------------------------------------------------------


@op("x", random=True, nondiff=True, register=False, method=False)
def draw_tail(x: jax.Array, *, key: jax.Array) -> jax.Array:
    """Exponential numbers of rate 1, never 0."""
    dtype = jnp.float32 if x.dtype.itemsize < 4 else x.dtype
    # -log(1 - u) of a uniform number; `tiny` keeps the result above 0.
    return -jnp.log1p(-jax.random.uniform(key, x.shape, dtype, jnp.finfo(dtype).tiny, 1.0))


@op("x", random=True, nondiff=True, register=False, method=False)
def draw_cauchy(x: jax.Array, *, key: jax.Array) -> jax.Array:
    """Standard Cauchy numbers."""
    return jax.random.cauchy(key, x.shape, jnp.float32 if x.dtype.itemsize < 4 else x.dtype)


def _ready(op: str, x: Tensor, floating: bool = True) -> None:
    check_inplace(op, x)
    if floating:
        _need_float(op, x)


def uniform_(
    x: Tensor, min: Any = 0, max: Any = 1.0, seed: Any = 0, name: str | None = None, **names: Any
) -> Tensor:
    """Fills a tensor in place with uniform random numbers on [min, max).

    Args:
        x: floating Tensor.
        min, max: numbers. `from` and `to` are accepted as names.
        seed: a number other than 0 gives the same numbers at each call.
    Returns:
        x.
    Raises:
        ValueError: min is not below max.
    Example:
        >>> paddle.zeros([2]).uniform_(2.0, 3.0).shape
        paddle.Size([2])
    """
    _ready("uniform_", x)
    # torch's names of the bounds; `from` is a keyword of Python.
    low = names.get("from", min)
    high = names.get("to", max)
    if not float(low) < float(high):
        raise ValueError(f"uniform_: min={float(low)}, max={float(high)}; min must be below max")
    return layout.fill(x, uniform(list(x.shape), x.dtype, low, high, seed))


def normal_(x: Tensor, mean: Any = 0.0, std: Any = 1.0, name: str | None = None) -> Tensor:
    """Fills a tensor in place with normal random numbers. Complex numbers have the variance std**2 in all.

    Args:
        x: floating or complex Tensor.
        mean, std: numbers.
    Returns:
        x.
    Raises:
        RuntimeError: the dtype of x is neither floating nor complex.
    Example:
        >>> paddle.zeros([2]).normal_().shape
        paddle.Size([2])
    """
    _ready("normal_", x, floating=False)
    if not jnp.issubdtype(numpy_dtype(x), jnp.inexact):
        raise RuntimeError(f"normal_: x: got dtype {numpy_dtype(x).name}; it must be floating or complex")
    if isinstance(mean, complex) and not jnp.issubdtype(numpy_dtype(x), jnp.complexfloating):
        raise TypeError(
            f"normal_: mean: got {mean} for a tensor of {numpy_dtype(x).name}; it must be a real number"
        )
    return layout.fill(x, draw_gaussian(_operand(mean, None), _operand(std, None), tuple(x.shape), x.dtype))


def log_normal_(x: Tensor, mean: Any = 1.0, std: Any = 2.0, name: str | None = None) -> Tensor:
    """Fills a tensor in place with random numbers whose logarithm is normal with this mean and standard
    deviation; returns it.

    Args:
        x: floating Tensor.
        mean, std: numbers, of the logarithm.
    Returns:
        x.
    Example:
        >>> bool((paddle.zeros([5]).log_normal_() > 0).all())
        True
    """
    _ready("log_normal_", x)
    return layout.fill(
        x, raise_e(draw_gaussian(_operand(mean, None), _operand(std, None), tuple(x.shape), x.dtype))
    )


def exponential_(x: Tensor, lam: Any = 1.0, name: str | None = None, *, lambd: Any = None) -> Tensor:
    """Fills a tensor in place with exponential random numbers of rate lam (`lambd` is accepted as a
    name); returns it.

    Raises:
        ValueError: lam is not positive.
    Example:
        >>> bool((paddle.zeros([5]).exponential_(2.0) > 0).all())
        True
    """
    _ready("exponential_", x)
    # torch's name of the rate goes first.
    rate = float(lam if lambd is None else lambd)
    if not rate > 0:
        raise ValueError(f"exponential_: lam={rate}; it must be > 0")
    return layout.fill(x, (draw_tail(x) / rate).astype(x.dtype))


def bernoulli_(x: Tensor, p: Any = 0.5, name: str | None = None) -> Tensor:
    """Fills a tensor in place with zeros and ones, ones with probability p (a number, or a Tensor that
    broadcasts to x); returns it.

    Args:
        x: Tensor [...].
        p: number in 0..1, or Tensor of such numbers.
    Returns:
        x.
    Example:
        >>> paddle.zeros([2]).bernoulli_(1.0).tolist()
        [1.0, 1.0]
    """
    _ready("bernoulli_", x)
    return layout.fill(x, draw_bernoulli(x, _operand(p)))


def cauchy_(x: Tensor, loc: Any = 0, scale: Any = 1, name: str | None = None) -> Tensor:
    """Fills a tensor in place with Cauchy random numbers around loc; returns it.

    Args:
        x: floating Tensor.
        loc, scale: numbers, the median and half the distance of the quartiles.
    Returns:
        x.
    Example:
        >>> paddle.zeros([2]).cauchy_().shape
        paddle.Size([2])
    """
    _ready("cauchy_", x)
    return layout.fill(x, (draw_cauchy(x) * scale + loc).astype(x.dtype))


def geometric_(x: Tensor, probs: Any, name: str | None = None) -> Tensor:
    """Fills a tensor in place with waiting times for an event of probability probs per step, returns it.

    As in Paddle the times are not rounded up to whole steps: they are exponential of rate -log(1 - probs);
    `ceil` gives the geometric distribution on 1, 2, ...

    Args:
        x: floating Tensor.
        probs: number or Tensor in (0, 1].
    Returns:
        x.
    Raises:
        ValueError: the dtype of x is not floating.
    Example:
        >>> bool((paddle.zeros([5]).geometric_(0.5) >= 0).all())
        True
    """
    check_inplace("geometric_", x)
    if not jnp.issubdtype(numpy_dtype(x), jnp.floating):
        raise ValueError(f"geometric_: x: got dtype {numpy_dtype(x).name}; it must be floating")
    rate = _rate_of(_operand(probs))
    # An exponential number of this rate, not rounded, as in Paddle.
    return layout.fill(
        x,
        (draw_tail(x) / rate.astype("float32" if numpy_dtype(x).itemsize < 8 else "float64")).astype(x.dtype),
    )


@op("x", register=False, method=False)
def _rate_of(x: jax.Array) -> jax.Array:
    """The rate of the exponential distribution that belongs to an event of probability x per step."""
    return -jnp.log1p(-x)


def random_(x: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Fills a tensor in place with random integers from [from_, to); returns it.

    Args:
        x: int32, int64 or floating Tensor.
        from_: int; the upper bound when it is given alone.
        to: int. Default: the largest number up to which the dtype holds all integers.
    Raises:
        ValueError: the range is empty.
    Example:
        >>> bool((paddle.zeros([5]).random_(3) < 3).all())
        True
    """
    check_inplace("random_", x)
    if to is None:
        low = 0
        # torch's forms: random_() and random_(to).
        high = from_ if from_ else _largest(numpy_dtype(x))
    else:
        low = from_
        high = to
    if low >= high:
        raise ValueError(f"random_: from_={low}, to={high}; from_ must be below to")
    return layout.fill(
        x, draw_integers(_operand(low, np.int64), _operand(high, np.int64), tuple(x.shape), x.dtype)
    )


def _largest(dtype: np.dtype) -> int:
    if jnp.issubdtype(dtype, jnp.floating):
        # The largest whole number up to which a float holds all.
        return 2 ** (jnp.finfo(dtype).nmant + 1)
    if not jnp.issubdtype(dtype, jnp.integer):
        raise ValueError(f"random_: x: got dtype {dtype.name}; it must be an integer or floating dtype")
    # int64 cannot hold more.
    return min(int(jnp.iinfo(dtype).max), 2**63 - 1)


for _function in (uniform_, normal_, log_normal_, exponential_, bernoulli_, cauchy_, geometric_, random_):
    setattr(Tensor, _function.__name__, _function)


# nucleus sampling -------------------------------------------------------------------------------------------


@op("x ps", random=True, nondiff=True, register=False, method=False)
def draw_nucleus(x: jax.Array, ps: jax.Array, *, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """One class of each row from the smallest set of likeliest classes whose probabilities reach ps."""
    ranked, order = jax.lax.top_k(x, x.shape[-1])
    # The sum before an element decides, so that the first one always stays.
    before = jnp.cumsum(ranked, -1) - ranked
    kept = jnp.where(before < ps.reshape(-1, 1).astype(x.dtype), ranked, 0)
    # Elements that are cut off have log 0: they are never drawn.
    choice = jax.random.categorical(key, jnp.log(kept.astype(jnp.float32)), -1)[:, None]
    return jnp.take_along_axis(ranked, choice, -1), jnp.take_along_axis(order, choice, -1).astype(jnp.int64)


def top_p_sampling(
    x: Tensor,
    ps: Tensor,
    threshold: Tensor | None = None,
    topp_seed: Any = None,
    seed: Any = -1,
    k: Any = 0,
    mode: str = "truncated",
    return_top: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Draws one class of each row among the likeliest ones that together reach the probability ps.

    Args:
        x: floating Tensor [rows, classes] of probabilities.
        ps: Tensor [rows] or [rows, 1], in (0, 1].
        threshold: Tensor [rows]: classes below this probability are never drawn.
        k: with return_top, how many of the likeliest classes are returned too.
        return_top: also return (top probabilities, top classes) [rows, k].
        topp_seed, seed, mode: accepted; the draw follows the default generator.
    Returns:
        Tuple (probabilities [rows, 1], classes int64 [rows, 1]).
    Example:
        >>> paddle.to_tensor([[0.1, 0.9]]).top_p_sampling(paddle.to_tensor([0.5]))[1].tolist()
        [[1]]
    """
    if threshold is not None:
        kept = x * (x >= threshold.reshape([-1, 1])).astype(x.dtype)
    drawn = draw_nucleus(x if threshold is None else kept, ps)
    if not return_top:
        return drawn
    values, order = jax.lax.top_k(x._value, max(k, 1))
    return (*drawn, wrap(values), finish(order.astype(jnp.int64)))


Tensor.top_p_sampling = top_p_sampling
