"""Normalisation of activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base.size import are_known, as_number
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import check_equal_dtypes, composite, op
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.evaluation_rules import Replacement, register_evaluation
from paddle_jax.nn.functional.distance import p_norm
from paddle_jax.tensor.axes import check_floating, instead
from paddle_jax.tensor.creation import full
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Size


_FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def _wide(name: str, x: jax.Array) -> jax.Array:
    """Half precision is normalised in float32; integers are refused."""
    check_floating(name, x)
    # Squares of float16 overflow from 256 on, and sums of both lose digits.
    if x.dtype in (jnp.float16, jnp.bfloat16):
        return x.astype(jnp.float32)
    return x


def _same(mean: jax.Array) -> jax.Array:
    return mean


def _moments(
    x: jax.Array, axes: Any, whole: Callable[[jax.Array], jax.Array] = _same
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Mean over axes, x without it, and the biased variance; what is reduced keeps length 1.

    whole: function from the mean of this part of a batch to that of all of it.
    """
    mean = whole(_mean(x, axes))
    # The plain operations of lax: jnp's checks cost more than the work at small shapes.
    centred = lax.sub(x, lax.broadcast_in_dim(mean, x.shape, tuple(range(x.ndim))))
    return mean, centred, whole(_mean(lax.square(centred), axes))


def _mean(x: jax.Array, axes: Any) -> jax.Array:
    """`jnp.mean` of floating numbers with the axes kept, in a quarter of the calls."""
    # A symbolic length is no number to divide by; `jnp.mean` counts with it.
    if not are_known(*x.shape):
        return jnp.mean(x, axes, keepdims=True)
    kept = tuple([1 if axis in axes else n for axis, n in enumerate(x.shape)])
    count = math.prod(x.shape[axis] for axis in axes)
    return lax.div(lax.reshape(lax.reduce_sum(x, axes), kept), as_number(count, x.dtype))


def _scaled(y: jax.Array, weight: jax.Array | None, bias: jax.Array | None, shape: Any) -> jax.Array:
    """y * weight + bias, both brought to a shape that broadcasts with y."""
    if weight is not None:
        # Weights may be float32 beside half precision.
        y = y * weight.reshape(shape).astype(y.dtype)
    if bias is None:
        return y
    return y + bias.reshape(shape).astype(y.dtype)


def _channels(op_name: str, x: Any, data_format: str) -> tuple[int, tuple[int, ...]]:
    """The channel axis and the shape that broadcasts a value per channel."""
    if data_format not in _FORMATS:
        raise ValueError(f"{op_name}: data_format: got {data_format!r}; allowed are {', '.join(_FORMATS)}")
    # "NC" ends in C too, but has its channels on axis 1.
    if data_format[-1] == "C" and data_format != "NC":
        axis = x.ndim - 1
    else:
        axis = 1
    return axis, tuple(-1 if a == axis else 1 for a in range(x.ndim))


@known_as(amp="batch_norm", cast=1, code="norms:batch_norm_train")
@op("x mean variance weight bias", method=False, register=False)
def batch_norm_train(
    x: jax.Array,
    mean: jax.Array,
    variance: jax.Array,
    weight: jax.Array | None = None,
    bias: jax.Array | None = None,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
) -> tuple[jax.Array, ...]:
    """Normalises with the statistics of the batch; returns the result and the new running
    mean and variance."""
    return normalized_in_training(x, mean, variance, weight, bias, momentum, epsilon, data_format, _same)


def normalized_in_training(
    x: jax.Array,
    mean: jax.Array,
    variance: jax.Array,
    weight: jax.Array | None,
    bias: jax.Array | None,
    momentum: float,
    epsilon: float,
    data_format: str,
    whole: Callable[[jax.Array], jax.Array],
) -> tuple[jax.Array, ...]:
    """As `batch_norm_train`; whole: function from means of a part of the batch to those of all of it."""
    axis, shape = _channels("batch_norm", x, data_format)
    wide = _wide("batch_norm", x)
    # All axes but that of the channels: batch and space.
    batch_mean, centred, batch_variance = _moments(wide, tuple(a for a in range(x.ndim) if a != axis), whole)
    # y = (x - mean) / sqrt(var + eps) * weight + bias
    y = _scaled(centred * lax.rsqrt(batch_variance + epsilon), weight, bias, shape)
    running = [
        # running = running * momentum + batch * (1 - momentum), with the biased variance, as in Paddle
        lax.stop_gradient(old) * momentum
        + lax.stop_gradient(new).reshape(-1).astype(old.dtype) * (1 - momentum)
        for old, new in ((mean, batch_mean), (variance, batch_variance))
    ]
    return y.astype(x.dtype), *running


@known_as(
    amp="batch_norm",
    cast=1,
    pir="batch_norm_|batch_norm|sync_batch_norm_ is_test:bool=True momentum:f32 epsilon:f32 "
    "data_format:str='NCHW' use_global_stats:bool=False trainable_statistics:bool=False",
    code="norms:batch_norm",
)
@op("x mean variance weight bias", method=False, register=False)
def batch_norm_infer(
    x: jax.Array,
    mean: jax.Array,
    variance: jax.Array,
    weight: jax.Array | None = None,
    bias: jax.Array | None = None,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
) -> jax.Array:
    """Normalises with given statistics."""
    _, shape = _channels("batch_norm", x, data_format)
    wide = _wide("batch_norm", x)
    # Statistics are float32 where x has half precision.
    mean, variance = (v.astype(wide.dtype).reshape(shape) for v in (mean, variance))
    return _scaled((wide - mean) * lax.rsqrt(variance + epsilon), weight, bias, shape).astype(x.dtype)


def batch_norm_in_evaluation(layout: tuple[int, ...], attrs: tuple[Any, ...]) -> Any:
    """Running statistics normalise, and stay what they are."""
    kernel = batch_norm_infer.op.kernel(layout, (attrs["epsilon"], attrs["data_format"]))
    # Passed on: the running statistics are results of the operation in training as well.
    return Replacement(kernel, len(layout), passed_on={1: 1, 2: 2})


register_evaluation("batch_norm_train", batch_norm_in_evaluation)


@composite(
    method=False,
    cases=[
        # ~ where the real Paddle's gradient is wrong: bias without weight gets none, and
        # use_global_stats=False outside training uses the global ones
        "f(4,3), i(3).astype('float32'), pos_i(3).astype('float32')",
        "f(4,3), f(3), pos(3), f(3), f(3), True",
        "f(2,3,4,4), f(3), pos(3), f(3), f(3)",
        "f(2,3,4,4), f(3), pos(3), f(3), f(3), training=True",
        "f(2,4,3), f(3), pos(3), data_format='NLC'",
        "f(2,4,4,3), f(3), pos(3), f(3), f(3), True, data_format='NHWC'",
        "~f(4,3), f(3), pos(3), None, f(3), training=True, epsilon=0.1",
        "f(4,3), f(3), pos(3), training=True, use_global_stats=True",
        "~f(4,3), f(3), pos(3), training=False, use_global_stats=False",
        "f(4,3), f(2), pos(3)",
        "f(4), f(4), pos(4)",
        "f(1,3), f(3), pos(3), training=True",
        "f(1,3,1), f(3), pos(3), f(3), f(3), training=True",
        "d(4,3,2), d(3), pos_d(3), d(3), d(3), True",
        "f(4,3), f(3), pos(3), data_format='X'",
        "f(4,3), None, None",
    ],
)
def batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Normalises each channel over the batch; while training the running statistics are updated in place.

    Args:
        x: Tensor [N, C, ...] or [N, ..., C], at least 2-D.
        running_mean, running_var: Tensors [C]: in training running = momentum * running + (1 - momentum) *
            batch (biased variance).
        weight, bias: Tensors [C] or None: factor and offset of each channel.
        training: use the statistics of the batch.
        momentum: how much of the running statistics is kept.
        epsilon: added to the variance.
        data_format: "NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".
        use_global_stats: True normalises with the running statistics, False with the batch. Default: the
            opposite of training.
    Returns:
        Tensor of the shape of x. A batch with one value per channel comes back unchanged, as it
        has no variance.
    Raises:
        ValueError: sizes or data_format do not fit.
    Example:
        >>> m, v = paddle.zeros([1]), paddle.ones([1])
        >>> y = paddle.nn.functional.batch_norm(paddle.to_tensor([[1.0], [3.0]]), m, v, training=True)
        >>> [round(m.item(), 2), round(v.item(), 2)]
        [0.2, 1.0]

    See: Ioffe and Szegedy, Batch Normalization, 2015.
    """
    if x.ndim < 2:
        raise AssertionError(f"batch_norm: x: got shape {list(x.shape)}; it must have at least 2 axes")
    check_equal_dtypes("batch_norm", x, running_mean, running_var, weight, bias, whole=True)
    axis, shape = _channels("batch_norm", x, data_format)
    channels = x.shape[axis]
    for what, value in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        # Running statistics must be given; weight and bias may be absent.
        if (
            value is None
            and what.startswith("running")
            or value is not None
            and list(value.shape) != [channels]
        ):
            raise ValueError(
                f"batch_norm: {what}: got {'None' if value is None else list(value.shape)}; "
                f"it must have shape [{channels}], one for each channel"
            )
    if use_global_stats is None:
        # Unless it is given: global statistics in evaluation.
        frozen = not training
    else:
        frozen = use_global_stats
    if frozen:
        # The statistics themselves, by which a saved program stores them; no gradient flows to them.
        mean, variance = [
            statistic if statistic.stop_gradient else statistic._snapshot()
            for statistic in (running_mean, running_var)
        ]
        return batch_norm_infer(x, mean, variance, weight, bias, float(epsilon), data_format)
    # One element for each channel: its variance is zero, and Paddle gives x itself.
    if x.size <= channels:
        return _unchanged(x, weight, bias, shape)
    # The values before the update, also where the operation runs later.
    before = running_mean._snapshot(), running_var._snapshot()
    y, mean, variance = batch_norm_train(
        x, *before, weight, bias, float(momentum), float(epsilon), data_format
    )
    assign_from(running_mean, mean)
    assign_from(running_var, variance)
    return y


def _unchanged(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Any) -> Tensor:
    """The values of x, which depend on weight and bias in name only: their gradients are zeros, so that an
    optimizer still decays them."""
    # A new Tensor, as the result must not be x itself.
    y = x * 1
    for parameter in (weight, bias):
        if parameter is not None and not parameter.stop_gradient:
            # Chooses y everywhere, and is still an operation on the parameter.
            y = where(full([1], False, "bool"), parameter.reshape(shape).astype(y.dtype), y)
    return y


@known_as(cast=1, pir="layer_norm epsilon:f32 begin_norm_axis:i32", code="norms:layer_norm")
@op(
    "x weight bias",
    same_dtype=True,
    method=False,
    alias={"input": "x", "eps": "epsilon"},
    cases=[
        "f(2,3), 3",
        "f(2,3), [3], f(3), f(3)",
        "f(2,3), [2,3]",
        "f(2,2,3), [2,3], f(6), f(6)",
        "f(2,3), [2]",
        "f(2,3), [3], f(2)",
        "f(2,3), [1,2,3]",
        "d(2,4,3), [4,3], d(12)",
        "f(0,3), [3]",
        "f(3), [3]",
        "f(2,3), 'a'",
        "f(2,3), [3], None, f(3)",
        "f(2,3), [3], f(3), epsilon=1e-3",
        "f(2,3), [3], epsilon=0.01",
        "f(2,3), [3], epsilon=-1e-5",
    ],
)
def layer_norm(
    x: jax.Array,
    normalized_shape: Size,
    weight: jax.Array | None = None,
    bias: jax.Array | None = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> jax.Array:
    """Normalises the last axes of each sample to mean 0 and variance 1.

    Args:
        x: Tensor [..., *normalized_shape]. `input` is accepted as a name.
        normalized_shape: int or list of ints: the lengths of the last axes.
        weight, bias: Tensors with as many elements as normalized_shape says, or None.
        epsilon: added to the variance, 0 to 0.001. `eps` is accepted as a name.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: normalized_shape does not match x or is not an int or a list; epsilon is out of its range.
    Example:
        >>> [round(v, 3)
        ...  for v in paddle.nn.functional.layer_norm(paddle.to_tensor([[1.0, 3.0]]), 2)[0].tolist()]
        [-1.0, 1.0]

    See: Ba et al., Layer Normalization, 2016.
    """
    shape = _trailing("layer_norm", x, normalized_shape)
    # Paddle's kernel divides the axes into rows and columns, and wants a row.
    if len(shape) == x.ndim:
        raise ValueError(
            f"(InvalidArgument) layer_norm: normalized_shape: got {list(shape)}, all axes of x; "
            "at least one before them must remain"
        )
    for what, value in (("weight", weight), ("bias", bias)):
        if value is not None and value.size != math.prod(shape):
            raise ValueError(
                f"layer_norm: {what}: got shape {list(value.shape)}; "
                f"it must have the {math.prod(shape)} elements of {list(shape)}"
            )
    # Paddle's kernel has this limit.
    if not 0 <= epsilon <= 1e-3:
        raise ValueError(f"(InvalidArgument) layer_norm: epsilon: got {epsilon}; it must be in [0, 0.001]")
    wide = _wide("layer_norm", x)
    _, centred, variance = _moments(wide, tuple(range(x.ndim - len(shape), x.ndim)))
    return _scaled(centred * lax.rsqrt(variance + epsilon), weight, bias, shape).astype(x.dtype)


def _trailing(op_name: str, x: Any, normalized_shape: Size) -> tuple[int, ...]:
    if not isinstance(normalized_shape, int | tuple):
        raise ValueError(
            f"{op_name}: normalized_shape: got {normalized_shape!r}; it must be an int or a list of ints"
        )
    if isinstance(normalized_shape, int):
        shape = (normalized_shape,)
    else:
        shape = normalized_shape
    if len(shape) > x.ndim or x.shape[x.ndim - len(shape) :] != shape:
        raise ValueError(
            f"{op_name}: normalized_shape: got {list(shape)}; "
            f"the last axes of x have shape {list(x.shape[max(0, x.ndim - len(shape)) :])}"
        )
    return shape


# ~ where the real Paddle's gradient is wrong: it forgets the means when there is no weight
@known_as(pir="group_norm epsilon:f64 groups:i32=1 data_format:str='NCHW'", code="norms:group_norm")
@op(
    "x weight bias",
    alias={"input": "x", "eps": "epsilon"},
    same_dtype=True,
    method=False,
    cases=[
        "~f(2,4,3), 2, f(4), f(4), 0.1",
        "f(2,4,3), 2, f(4), f(4), weight=f(4)",
        "~f(2,4,3), 2",
        "~f(2,4), 2",
        "f(4), 2",
        "f(2,4,3), 3",
        "~f(2,3,4), 2, data_format='NLC'",
        "f(2,4,3,3), 4, 1e-5, f(4), f(4)",
        "f(2,4,3), 2, 1e-5, f(3)",
        "f(2,4,3), 2, data_format='X'",
        "f(0,4,3), 2",
        "d(2,4,3,2), 1, 1e-5, d(4), d(4)",
        "f(2,3,3,4), 2, 0.1, f(4), data_format='NHWC'",
    ],
)
def group_norm(
    x: jax.Array,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: jax.Array | None = None,
    bias: jax.Array | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> jax.Array:
    """Normalises groups of channels of each sample to mean 0 and variance 1.

    Positional arguments may also stand in torch's order: group_norm(x, num_groups, weight, bias, epsilon).

    Args:
        x: Tensor [N, C, ...] or [N, ..., C]. `input` is accepted as a name.
        num_groups: int that divides C.
        epsilon: added to the variance. `eps` is accepted as a name.
        weight, bias: Tensors [C] or None.
        data_format: "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: an argument does not fit x.
    Example:
        >>> paddle.nn.functional.group_norm(paddle.ones([1, 4, 2]), 2).sum().item()
        0.0

    See: Wu and He, Group Normalization, 2018.
    """
    axis, shape = _grouped("group_norm", x, num_groups, weight, bias, data_format)
    # Channels of a group must lie side by side for the reshape.
    first = jnp.moveaxis(_wide("group_norm", x), axis, 1)
    groups = first.reshape(x.shape[0], num_groups, math.prod(first.shape[1:]) // num_groups)
    _, centred, variance = _moments(groups, (2,))
    y = (centred * lax.rsqrt(variance + epsilon)).reshape(first.shape)
    # Back to where the channels were.
    return _scaled(jnp.moveaxis(y, 1, axis), weight, bias, shape).astype(x.dtype)


def _torch_order(public: Callable[..., Any]) -> Callable[..., Any]:
    """Lets group_norm take weight, bias and epsilon in torch's order: where the third positional argument is
    a Tensor or None."""

    def call(*args: Any, **kwargs: Any) -> Any:
        # A number there is Paddle's epsilon; torch has a weight or None.
        if len(args) > 2 and (args[2] is None or isinstance(args[2], Tensor)):
            names = ("weight", "bias", "epsilon", "data_format", "name")
            named = dict(zip(names, args[2:], strict=False))
            if twice := sorted(named.keys() & kwargs.keys()):
                raise TypeError(f"group_norm() got multiple values for argument '{twice[0]}'")
            return public(*args[:2], **named, **kwargs)
        return public(*args, **kwargs)

    return instead(public, call, False)


group_norm = _torch_order(group_norm)


def _grouped(
    op_name: str, x: Any, num_groups: int, weight: Any, bias: Any, data_format: str
) -> tuple[int, Any]:
    axis, shape = _channels(op_name, x, data_format)
    if x.ndim < 2:
        raise ValueError(f"{op_name}: x: got shape {list(x.shape)}; it must have at least 2 axes")
    channels = x.shape[axis]
    if num_groups < 1 or channels % num_groups:
        raise ValueError(f"{op_name}: num_groups: got {num_groups}; it must divide the {channels} channels")
    for what, value in (("weight", weight), ("bias", bias)):
        if value is not None and value.shape != (channels,):
            raise ValueError(
                f"{op_name}: {what}: got shape {list(value.shape)}; it must be [{channels}], "
                "one for each channel"
            )
    return axis, shape


@known_as(pir="instance_norm epsilon:f32", code="norms:instance_norm")
@op(
    "x running_mean running_var weight bias",
    same_dtype="x weight bias",
    method=False,
    cases=[
        "f(2,3,4)",
        "f(2,3)",
        "f(2,3,4), weight=f(3), bias=f(3)",
        "f(2,3,4), weight=f(2), bias=f(3)",
        "f(2,3,4), i(3).astype('float32'), pos_i(3).astype('float32')",
        "f(2,3,1)",
        "d(2,3,4,4), eps=0.1",
        "f(2,3,4), i(3).astype('float32'), pos_i(3).astype('float32'), use_input_stats=False",
        "f(0,3,4)",
    ],
)
def instance_norm(
    x: jax.Array,
    running_mean: jax.Array | None = None,
    running_var: jax.Array | None = None,
    weight: jax.Array | None = None,
    bias: jax.Array | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> jax.Array:
    """Normalises each channel of each sample to mean 0 and variance 1.

    Args:
        x: Tensor [N, C, ...].
        running_mean, running_var, use_input_stats, momentum, data_format: accepted; as in Paddle the
            statistics of the sample are used and channels are on axis 1.
        weight, bias: Tensors [C] or None.
        eps: added to the variance.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: x has fewer than 2 axes or weight or bias another shape.
    Example:
        >>> paddle.nn.functional.instance_norm(paddle.ones([1, 2, 3])).sum().item()
        0.0

    See: Ulyanov et al., Instance Normalization, 2016.
    """
    # For its checks alone: groups play no part here.
    _, shape = _grouped("instance_norm", x, 1, weight, bias, "NCHW")
    wide = _wide("instance_norm", x)
    _, centred, variance = _moments(wide, tuple(range(2, x.ndim)))
    return _scaled(centred * lax.rsqrt(variance + eps), weight, bias, shape).astype(x.dtype)


@known_as(code="norms:rms_norm")
@op(
    "input weight",
    method=False,
    cases=[
        "f(2,3), [3]",
        "f(2,3), 3, f(3)",
        "f(2,4,3), [4,3], f(4,3)",
        "d(2,3), (3,), d(3), 0.1",
        "f(0,3), [3]",
    ],
)
def rms_norm(
    input: jax.Array,
    normalized_shape: Size,
    weight: jax.Array | None = None,
    eps: float = 1e-05,
    name: str | None = None,
) -> jax.Array:
    """Divides the last axes of each sample by their root mean square.

    Args:
        input: Tensor [..., *normalized_shape].
        normalized_shape: int or list of ints.
        weight: Tensor of the normalized shape, or None.
        eps: added to the mean square.
    Returns:
        Tensor of the shape of input.
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> [round(v, 3) for v in paddle.nn.functional.rms_norm(paddle.to_tensor([2.0, -2.0]), 2).tolist()]
        [1.0, -1.0]

    See: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
    """
    shape = _trailing("rms_norm", input, normalized_shape)
    if weight is not None and weight.shape != shape:
        raise ValueError(f"rms_norm: weight: got shape {list(weight.shape)}; it must be {list(shape)}")
    wide = _wide("rms_norm", input)
    # Without the mean: Zhang and Sennrich (2019).
    square = jnp.mean(jnp.square(wide), tuple(range(input.ndim - len(shape), input.ndim)), keepdims=True)
    return _scaled(wide * lax.rsqrt(square + eps), weight, None, shape).astype(input.dtype)


@known_as(code="norms:local_response_norm")
@op(
    method=False,
    cases=[
        "f(2,3,4), 3",
        "f(2,3,4,2), 2, 1.0, 0.5, 2.0",
        "f(2,4,3), 3, 1.0, data_format='NLC'",
        "f(2,3), 3",
        "f(2,3,4), 3, data_format='X'",
        "d(1,6,2,2,2), 5, 0.5",
        "f(0,3,4), 3",
    ],
)
def local_response_norm(
    x: jax.Array,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> jax.Array:
    """Divides x by (k + alpha * mean of squares over neighbouring channels) ** beta.

    Args:
        x: Tensor [N, C, ...] or [N, ..., C] with at least 3 axes.
        size: int, how many neighbouring channels count; beyond the ends they are 0.
        alpha, beta, k: numbers.
        data_format: "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: x has fewer than 3 axes or data_format is something else.
    Example:
        >>> paddle.nn.functional.local_response_norm(paddle.ones([1, 1, 2]), 1, 3.0, 0.5).tolist()
        [[[0.5, 0.5]]]

    See: Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks,
        2012, section 3.3.
    """
    if data_format not in _FORMATS[1:]:
        raise ValueError(
            f"local_response_norm: data_format: got {data_format!r}; allowed are {', '.join(_FORMATS[1:])}"
        )
    if x.ndim < 3:
        raise ValueError(f"local_response_norm: x: got shape {list(x.shape)}; it must have at least 3 axes")
    # The format's last letter says where the channels are.
    axis = x.ndim - 1 if data_format[-1] == "C" else 1
    if any(n == 0 for n in x.shape[1:]):
        raise ValueError(f"local_response_norm: x: got shape {list(x.shape)}; only the first length may be 0")
    if not isinstance(size, int):
        raise TypeError(f"(InvalidType) local_response_norm: size: got {size!r}; it must be an int")
    if size < 1:
        raise ValueError(f"local_response_norm: size: got {size}; it must be at least 1")
    squares = jnp.pad(
        # A window over neighbouring channels, one more before than behind where it is even.
        jnp.square(x),
        [(size // 2, (size - 1) // 2) if a == axis else (0, 0) for a in range(x.ndim)],
    )
    # Shifted copies are added: the window is short, and a convolution would cost more.
    total = sum(lax.slice_in_dim(squares, i, i + x.shape[axis], axis=axis) for i in range(size))
    return x / jnp.power(k + alpha * total / size, beta)


@known_as(code="reductions:normalized")
@op(method=False, register=False)
def _normalized(x: jax.Array, p: float, axis: int, epsilon: float) -> jax.Array:
    norm = p_norm(x, p, axis, True)
    # A vector that is too short is divided by epsilon, and its norm gets no gradient then.
    return x / jnp.where(norm < epsilon, jnp.asarray(epsilon, x.dtype), norm)


@composite(
    method=False,
    alias={"input": "x", "dim": "axis", "eps": "epsilon"},
    cases=[
        "f(2,3)",
        "f(2,3), p=1, axis=0",
        "f(2,3), p=float('inf')",
        "f(3)",
        "f(3), axis=0",
        "f(2,3), axis=[0,1]",
        "f(2,3), axis=2",
        "f(2,3), p=0",
        "f(2,3), p=-1.0",
        "f(2,3), p=3",
        "d(2,3), 2.5",
        "f(2,3), epsilon=3.0",
        "paddle.zeros([2,3])",
        "f(0,3)",
        "f(2,3), axis=np.int64(0)",
        "f(2,3), axis=const(0)",
    ],
)
def normalize(
    x: Tensor,
    p: float = 2,
    axis: int = 1,
    epsilon: float = 1e-12,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Divides x by its p-norm along an axis.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        p: number, which norm.
        axis: int. `dim` is accepted as a name.
        epsilon: the least norm that is divided by. `eps` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: axis is out of range.
        TypeError: axis is not an int.
    Example:
        >>> [round(v, 3)
        ...  for v in paddle.nn.functional.normalize(paddle.to_tensor([3.0, 4.0]), axis=0).tolist()]
        [0.6, 0.8]
    """
    # of a Tensor or NumPy
    if hasattr(axis, "item"):
        axis = axis.item()
    if not isinstance(axis, int):
        raise TypeError(f"normalize: axis: got {axis!r}; it must be an int")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"normalize: axis={axis} is out of range for x of shape {list(x.shape)}; "
            f"use {-x.ndim}..{x.ndim - 1}"
        )
    result = _normalized(x, p, axis, float(epsilon))
    if out is None:
        return result
    out.stop_gradient = result.stop_gradient
    return out._adopt(result)
