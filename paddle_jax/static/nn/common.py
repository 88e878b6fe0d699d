"""Layers as functions: each call creates its parameters in the program and applies them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.framework.mode import in_dynamic_mode
from paddle_jax.nn import functional as F
from paddle_jax.nn.initializer import Constant, Normal
from paddle_jax.nn.layer.norm import SpectralNorm
from paddle_jax.nn.layer.parameter import new_parameter
from paddle_jax.nn.remote_lookup import RemoteLookup
from paddle_jax.static.weight_norm import WeightNormParamAttr, normalized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import DTypeLike, ParamAttrLike
    from paddle_jax.nn.initializer.initializer import Initializer


class Owner:
    """Creates the parameters of one call, named after it."""

    kind: str
    name: str

    def __init__(self, kind: str, name: str, *inputs: Tensor) -> None:
        if in_dynamic_mode():
            raise RuntimeError(
                f"{kind}: it creates parameters of a static program; "
                "call paddle.enable_static() first, or use the Layer in paddle.nn"
            )
        for x in inputs:
            if not isinstance(x, Tensor):
                raise TypeError(f"{kind}: input: got {type(x).__name__}; it must be a Variable")
        self.kind, self.name = kind, name or unique_name.generate(kind)

    def parameter(
        self,
        shape: Sequence[int],
        attr: ParamAttrLike | None,
        dtype: DTypeLike,
        is_bias: bool = False,
        default: Initializer | None = None,
    ) -> Any:
        """A Parameter, or None for attr=False."""
        # A weight that is a product of two parameters.
        if isinstance(attr, WeightNormParamAttr):
            return normalized(
                attr,
                lambda s, a, d: new_parameter(s, a, dtype, is_bias, d, self.name),
                shape,
                default,
                self.name,
            )
        return new_parameter(shape, attr, dtype, is_bias, default, self.name)

    def affine(
        self,
        count: int,
        factor: ParamAttrLike | None,
        offset: ParamAttrLike | None,
        dtype: DTypeLike,
        has_factor: bool = True,
        has_offset: bool = True,
    ) -> tuple[Tensor | None, Tensor | None]:
        """Factor (ones at first) and offset of a normalisation; None for what it does not have."""
        weight = None
        bias = None
        if has_factor:
            weight = self.parameter([count], factor, dtype, default=Constant(1.0))
        if has_offset:
            bias = self.parameter([count], offset, dtype, is_bias=True)
        return weight, bias


def activated(out: Tensor, act: str | None) -> Tensor:
    """The result after an activation given by name."""
    if act is None:
        return out
    function = getattr(F, act, None)
    if not isinstance(act, str) or function is None:
        raise ValueError(
            f"act: got {act!r}; it must be the name of a function in paddle.nn.functional, such as 'relu'"
        )
    return function(out)


def fc(
    x: Tensor | Sequence[Tensor],
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    activation: str | None = None,
    name: str | None = None,
) -> Tensor:
    """A fully connected layer: `activation(x @ w + b)`; of several inputs the products are added.

    Args:
        x: Variable [..., ...], or list of such.
        size: int, the number of outputs.
        num_flatten_dims: int, how many leading axes stay; the others become one.
        weight_attr, bias_attr: ParamAttr, or what stands for one; False: no bias.
        activation: str, the name of a function in paddle.nn.functional. Default None.
        name: str that the names of the parameters begin with.
    Returns:
        Variable [leading axes, size].
    Raises:
        ValueError: num_flatten_dims is out of range, or the other lengths are not known.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3, 4])
        ...     paddle.static.nn.fc(x, 5).shape
        paddle.Size([-1, 5])
        >>> paddle.disable_static()
    """
    inputs = list(x) if isinstance(x, list | tuple) else [x]
    owner = Owner("fc", name, *inputs)
    # One attribute for all inputs, or one for each.
    if isinstance(weight_attr, list | tuple):
        attrs = weight_attr
    else:
        attrs = [weight_attr] * len(inputs)
    total = None
    for one, attr in zip(inputs, attrs, strict=True):
        # A negative count is from the end.
        if num_flatten_dims < 0:
            axes = num_flatten_dims + one.ndim
        else:
            axes = num_flatten_dims
        if not 0 < axes < max(one.ndim, 1):
            raise ValueError(
                f"fc: num_flatten_dims: got {num_flatten_dims} for an input of {one.ndim} axes; "
                "it must leave one axis at least"
            )
        # The width is part of the shape of a Parameter.
        width = one.shape[axes:]
        if -1 in width:
            raise ValueError(
                f"fc: x: got shape {list(one.shape)}; the lengths after axis {axes} must be known"
            )
        weight = owner.parameter([math.prod(width), size], attr, one.dtype)
        flat = one if one.ndim == axes + 1 else one.flatten(axes, -1)
        if total is None:
            total = flat @ weight
        else:
            total = total + flat @ weight
    bias = owner.parameter([size], bias_attr, inputs[0].dtype, is_bias=True)
    return activated(total if bias is None else total + bias, activation)


def embedding(
    input: Tensor,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: ParamAttrLike | None = None,
    dtype: DTypeLike = "float32",
) -> Tensor:
    """Rows of a table that is a Parameter.

    Args:
        input: Variable of int64 [...], the numbers of the rows.
        size: list or tuple of two ints, the shape of the table.
        is_sparse: with parameter servers the table is on the servers, and size[0] bounds nothing; without,
            accepted.
        is_distributed: as is_sparse.
        padding_idx: int, the row that is zeros and gets no gradient; negative counts from the
            end. Default None.
        param_attr: ParamAttr, or what stands for one.
        dtype: of the table.
    Returns:
        Variable [..., size[1]].
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     ids = paddle.static.data("ids", [None, 3], "int64")
        ...     paddle.static.nn.embedding(ids, [10, 4]).shape
        paddle.Size([-1, 3, 4])
        >>> paddle.disable_static()
    """
    owner = Owner("embedding", None, input)
    # With parameter servers the rows are there, and not in the program.
    if (is_sparse or is_distributed) and RemoteLookup.record is not None:
        return _remote(owner, input, size, padding_idx, param_attr, dtype)
    table = owner.parameter(list(size), param_attr, dtype)
    return F.embedding(input, table, padding_idx=padding_idx, sparse=is_sparse)


def _remote(
    owner: Owner,
    input: Tensor,
    size: Sequence[int],
    padding_idx: int | None,
    param_attr: ParamAttrLike | None,
    dtype: DTypeLike,
    **how: Any,
) -> Tensor:
    """Rows of a table that parameter servers have."""
    attr = ParamAttr._to_attr(param_attr)
    if not isinstance(attr, ParamAttr):
        raise ValueError(f"{owner.kind}: param_attr: got {param_attr!r}; a table needs a ParamAttr or None")
    if str(dtype).rpartition(".")[2] != "float32":
        raise ValueError(f"{owner.kind}: dtype: got {dtype}; tables of parameter servers are float32")
    name = attr.name or unique_name.generate(f"{owner.name}.w")
    return RemoteLookup.record(input, size, padding_idx, attr, name, **how)


def sparse_embedding(
    input: Tensor,
    size: Sequence[int],
    padding_idx: int | None = None,
    is_test: bool = False,
    entry: object = None,
    table_class: str = "MemorySparseTable",
    param_attr: ParamAttrLike | None = None,
    dtype: DTypeLike = "float32",
    slot: object = None,
) -> Tensor:
    """Rows of a table that parameter servers have: any int64 is an id, and a row is there once it was used.

    Without servers the table is a Parameter of `size`.

    Args:
        input: Variable of int64 [...], the ids.
        size: list or tuple of two ints; size[0] bounds nothing with servers, size[1] is the length of a row.
        padding_idx: int, the id that gives zeros and gets no gradient; a negative one counts from size[0].
        is_test: True leaves the table as it is: rows that are missing are not made.
        entry: CountFilterEntry, ProbabilityEntry or ShowClickEntry, which ids it takes in. Default: all.
        table_class: "MemorySparseTable", or "SSDSparseTable", which keeps rows that were not used lately on
            the disk (extra `ps-ssd`).
        param_attr: ParamAttr, or what stands for one.
        dtype: "float32".
        slot: accepted.
    Returns:
        Variable [..., size[1]].
    Raises:
        ValueError: table_class, entry or dtype is another one.
    Differs from Paddle: it works without servers, too; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     ids = paddle.static.data("ids", [None, 3], "int64")
        ...     paddle.static.nn.sparse_embedding(ids, [10, 4]).shape
        paddle.Size([-1, 3, 4])
        >>> paddle.disable_static()
    """
    owner = Owner("sparse_embedding", None, input)
    if table_class not in ("MemorySparseTable", "CommonSparseTable", "SSDSparseTable"):
        raise ValueError(
            f"sparse_embedding: table_class: got {table_class!r}; it must be 'MemorySparseTable' or "
            "'SSDSparseTable'"
        )
    if entry is not None and not hasattr(entry, "_to_attr"):
        raise ValueError(
            f"sparse_embedding: entry: got {type(entry).__name__}; it must be a CountFilterEntry, "
            "ProbabilityEntry or ShowClickEntry"
        )
    if RemoteLookup.record is None:
        table = owner.parameter(list(size), param_attr, dtype)
        return F.embedding(input, table, padding_idx=padding_idx, sparse=True)
    how = {"entry": entry, "storage": table_class, "is_test": is_test}
    return _remote(owner, input, size, padding_idx, param_attr, dtype, **how)


def batch_norm(
    input: Tensor,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Tensor:
    """Normalises each channel over the batch. Running the program updates the running
    statistics, unless is_test.

    Args:
        input: Variable [N, C, ...] or [N, ..., C].
        act: str, the name of an activation. Default None.
        is_test, use_global_stats: normalise with the running statistics.
        momentum: float, how much of the running statistics is kept.
        epsilon: float, added to the variance.
        param_attr, bias_attr: ParamAttr of factor and offset, or what stands for one.
        data_layout: "NCHW" or "NHWC".
        in_place, do_model_average_for_mean_and_var: accepted.
        name: str that the names of the parameters begin with.
        moving_mean_name, moving_variance_name: str, names of the running statistics.
    Returns:
        Variable of the shape of input.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.batch_norm(paddle.static.data("x", [None, 3, 8, 8])).shape
        paddle.Size([-1, 3, 8, 8])
        >>> paddle.disable_static()
    """
    owner = Owner("batch_norm", name, input)
    channels = input.shape[-1 if data_layout[-1] == "C" and input.ndim > 2 else 1]
    scale, offset = owner.affine(channels, param_attr, bias_attr, input.dtype)
    mean, variance = (
        owner.parameter(
            [channels], ParamAttr(name=given, initializer=Constant(value), trainable=False), input.dtype
        )
        # None lets `is_test` decide.
        for given, value in ((moving_mean_name, 0.0), (moving_variance_name, 1.0))
    )
    # Two axes: rows of channels.
    layout = data_layout if input.ndim > 2 else "NC"
    out = F.batch_norm(
        input, mean, variance, scale, offset, not is_test, momentum, epsilon, layout, use_global_stats or None
    )
    return activated(out, act)


def layer_norm(
    input: Tensor,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-05,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Normalises the axes from `begin_norm_axis` on, for each sample.

    Args:
        input: Variable [...].
        scale, shift: whether there is a factor, an offset per element.
        begin_norm_axis: int, the first axis that is normalised over.
        epsilon: float, added to the variance.
        param_attr, bias_attr: ParamAttr of factor and offset.
        act: str, the name of an activation. Default None.
        name: str that the names of the parameters begin with.
    Returns:
        Variable of the shape of input.
    Raises:
        ValueError: a length from begin_norm_axis on is not known.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.layer_norm(paddle.static.data("x", [None, 3, 4])).shape
        paddle.Size([-1, 3, 4])
        >>> paddle.disable_static()
    """
    owner = Owner("layer_norm", name, input)
    shape = list(input.shape[begin_norm_axis:])
    if -1 in shape:
        raise ValueError(
            f"layer_norm: input: got shape {list(input.shape)}; "
            f"the lengths from axis {begin_norm_axis} on must be known"
        )
    weight, bias = owner.affine(math.prod(shape), param_attr, bias_attr, input.dtype, scale, shift)
    return activated(F.layer_norm(input, shape, weight, bias, epsilon), act)


def group_norm(
    input: Tensor,
    groups: int,
    epsilon: float = 1e-05,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Normalises groups of channels of each sample.

    Args:
        input: Variable [N, C, ...] or [N, ..., C].
        groups: int, the number of groups.
        epsilon: float, added to the variance.
        param_attr, bias_attr: ParamAttr of factor and offset per channel; None or False: there is none.
        act: str, the name of an activation. Default None.
        data_layout: "NCHW" or "NHWC".
        name: str that the names of the parameters begin with.
    Returns:
        Variable of the shape of input.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.group_norm(paddle.static.data("x", [None, 4, 3, 3]), 2).shape
        paddle.Size([-1, 4, 3, 3])
        >>> paddle.disable_static()
    """
    owner = Owner("group_norm", name, input)
    channels = input.shape[-1 if data_layout[-1] == "C" else 1]
    # Without an attribute there is no factor and no offset, as in Paddle.
    weight, bias = owner.affine(
        channels, param_attr, bias_attr, input.dtype, bool(param_attr), bool(bias_attr)
    )
    return activated(F.group_norm(input, groups, epsilon, weight, bias, data_layout), act)


def instance_norm(
    input: Tensor,
    epsilon: float = 1e-05,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Normalises each channel of each sample.

    Args:
        input: Variable [N, C, ...].
        epsilon: float, added to the variance.
        param_attr, bias_attr: ParamAttr of factor and offset per channel; None or False: there is none.
        name: str that the names of the parameters begin with.
    Returns:
        Variable of the shape of input.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.instance_norm(paddle.static.data("x", [None, 4, 3, 3])).shape
        paddle.Size([-1, 4, 3, 3])
        >>> paddle.disable_static()
    """
    owner = Owner("instance_norm", name, input)
    channels = input.shape[1]
    weight, bias = owner.affine(
        channels, param_attr, bias_attr, input.dtype, bool(param_attr), bool(bias_attr)
    )
    return F.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def prelu(
    x: Tensor,
    mode: str,
    param_attr: ParamAttrLike | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """max(x, 0) + slope * min(x, 0), the slope a Parameter.

    Args:
        x: Variable [N, C, ...] or [N, ..., C].
        mode: "all" (one slope), "channel" (one per channel) or "element" (one per element of a sample).
        param_attr: ParamAttr of the slope, which starts at 0.25.
        data_format: "NCHW" or "NHWC".
        name: str that the name of the parameter begins with.
    Returns:
        Variable of the shape of x.
    Raises:
        ValueError: mode or data_format is not known.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.prelu(paddle.static.data("x", [None, 4, 3, 3]), "channel").shape
        paddle.Size([-1, 4, 3, 3])
        >>> paddle.disable_static()
    """
    if mode not in ("all", "channel", "element"):
        raise ValueError(f"prelu: mode: got {mode!r}; allowed are 'all', 'channel' and 'element'")
    if mode == "channel" and data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
        raise ValueError(
            f"prelu: data_format: got {data_format!r}; allowed are NC, NCL, NCHW, NCDHW, NLC, NHWC, NDHWC"
        )
    owner = Owner("prelu", name, x)
    # "NC" ends in C, and has its channels on axis 1.
    last = data_format[-1] == "C" and data_format != "NC"
    ones = [1] * (x.ndim - 2)
    shape = {
        "all": [1],
        "channel": [1, *ones, x.shape[-1]] if last else [1, x.shape[1], *ones],
        "element": [1, *x.shape[1:]],
    }[mode]
    slope = owner.parameter(shape, param_attr, x.dtype, default=Constant(0.25))
    # x * 0, as a Variable has no zeros of an unknown length.
    return x.maximum(x * 0) + slope * x.minimum(x * 0)


def bilinear_tensor_product(
    x: Tensor,
    y: Tensor,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
) -> Tensor:
    """`x @ w[i] @ y + b[i]` for each output i.

    Args:
        x: Variable [N, m].
        y: Variable [N, n].
        size: int, the number of outputs.
        act: str, the name of an activation. Default None.
        name: str that the names of the parameters begin with.
        param_attr, bias_attr: ParamAttr of the weight [size, m, n] and the bias [1, size]; False: no bias.
    Returns:
        Variable [N, size].
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [None, 4])
        ...     paddle.static.nn.bilinear_tensor_product(x, y, 5).shape
        paddle.Size([-1, 5])
        >>> paddle.disable_static()
    """
    owner = Owner("bilinear_tensor_product", name, x, y)
    weight = owner.parameter([size, x.shape[1], y.shape[1]], param_attr, x.dtype)
    bias = owner.parameter([1, size], bias_attr, x.dtype, is_bias=True)
    return activated(F.bilinear(x, y, weight, bias), act)


def spectral_norm(
    weight: Tensor, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Tensor:
    """A weight divided by its largest singular value; see `paddle.nn.SpectralNorm`.

    Args:
        weight: Variable, a Parameter.
        dim: int, the axis that becomes the rows of a matrix.
        power_iters: int, how many power iterations.
        eps: float, keeps norms above zero.
        name: accepted.
    Returns:
        Variable of the shape of weight.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.spectral_norm(paddle.static.create_parameter([3, 4], "float32")).shape
        paddle.Size([3, 4])
        >>> paddle.disable_static()
    """
    # Checks the arguments; the Layer makes the parameters.
    Owner("spectral_norm", name or "spectral_norm", weight)
    return SpectralNorm(weight.shape, dim, power_iters, eps, weight.dtype)(weight)


def row_conv(
    input: Tensor, future_context_size: int, param_attr: ParamAttrLike | None = None, act: str | None = None
) -> Tensor:
    """Each position plus the following ones, each weighted per channel.

    Args:
        input: Variable [batch, time, channels].
        future_context_size: int, how many following positions are looked at.
        param_attr: ParamAttr of the weights [future_context_size + 1, channels].
        act: str, the name of an activation. Default None.
    Returns:
        Variable of the shape of input.
    Raises:
        ValueError: the length of axis 1 is not known.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.row_conv(paddle.static.data("x", [2, 5, 4]), 2).shape
        paddle.Size([2, 5, 4])
        >>> paddle.disable_static()
    """
    owner = Owner("row_conv", None, input)
    weight = owner.parameter([future_context_size + 1, input.shape[-1]], param_attr, input.dtype)
    # As many zeros behind the last position as the window looks ahead.
    ahead = F.pad(input, [0, 0, 0, future_context_size, 0, 0], pad_from_left_axis=True)
    length = input.shape[1]
    if length == -1:
        raise ValueError(
            f"row_conv: input: got shape {list(input.shape)}; the length of axis 1 must be known"
        )
    return activated(sum(ahead[:, k : k + length] * weight[k] for k in range(future_context_size + 1)), act)


def he_normal(kernel: Sequence[int], channels: int) -> Initializer:
    """The default initializer of convolutions."""
    return Normal(0.0, math.sqrt(2.0 / (math.prod(kernel) * channels)))


__all__ = [
    "Owner",
    "activated",
    "batch_norm",
    "bilinear_tensor_product",
    "embedding",
    "fc",
    "group_norm",
    "he_normal",
    "instance_norm",
    "layer_norm",
    "prelu",
    "row_conv",
    "spectral_norm",
]
