"""Layers without a family of their own: Linear, Embedding, Flatten, Upsample, Fold and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.transfer import is_on_host
from paddle_jax._core.tensors.held_values import held_value, holds_symbol
from paddle_jax._core.tensors.tensor import Parameter, host_elements
from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.dropout import AlphaDropout, Dropout, Dropout2D, Dropout3D, FeatureAlphaDropout
from paddle_jax.nn.layer.helpers import alias, linked, refuses, show
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.padding import (
    CircularPad1D,
    CircularPad2D,
    CircularPad3D,
    ConstantPad1D,
    ConstantPad2D,
    ConstantPad3D,
    Pad1D,
    Pad2D,
    Pad3D,
    ReflectionPad1D,
    ReflectionPad2D,
    ReflectionPad3D,
    ReplicationPad1D,
    ReplicationPad2D,
    ReplicationPad3D,
    ZeroPad1D,
    ZeroPad2D,
    ZeroPad3D,
)
from paddle_jax.nn.remote_lookup import RemoteLookup

if TYPE_CHECKING:
    from paddle_jax._annotations import DeviceLike, DTypeLike, ParamAttrLike, Size
    from paddle_jax._core.tensors.tensor import Tensor


class Identity(Layer):
    """Returns its input; all arguments are ignored.

    Example:
        >>> paddle.nn.Identity()(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Layer):
    """Computes x @ weight + bias.

    Args:
        in_features: int, the last length of the input.
        out_features: int, the last length of the output.
        weight_attr: ParamAttr of `weight`, which has shape [in_features, out_features].
        bias_attr: ParamAttr of `bias`, shape [out_features]; False for none.
    Attributes:
        _weight_attr, _bias_attr, name: as given.
        _dtype: str, dtype of the parameters.
        weight: Parameter [in_features, out_features].
        bias: Parameter [out_features], or None.
    Example:
        >>> paddle.nn.Linear(3, 4)(paddle.ones([2, 3])).shape
        paddle.Size([2, 4])
    """

    @refuses(
        "bias device dtype",
        "use bias_attr, or paddle.compat.nn.Linear, which takes torch's names and "
        "whose weight is [out_features, in_features]",
    )
    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._dtype = get_default_dtype()
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self.weight: Parameter = self.create_parameter(
            [in_features, out_features], attr=weight_attr, dtype=self._dtype
        )
        self.bias: Parameter = self.create_parameter(
            [out_features], attr=bias_attr, dtype=self._dtype, is_bias=True
        )
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return show(
            self.name, in_features=self.weight.shape[0], out_features=self.weight.shape[1], dtype=self._dtype
        )


class Bilinear(Layer):
    """Computes x1 @ weight[i] @ x2 for every output i, plus bias.

    Args:
        in1_features: int, the last length of x1.
        in2_features: int, the last length of x2.
        out_features: int, the last length of the output.
        weight_attr: ParamAttr of `weight`, shape [out_features, in1_features, in2_features].
        bias_attr: ParamAttr of `bias`, shape [1, out_features]; False for none.
    Attributes:
        _weight_attr, _bias_attr, _name, _in1_features, _in2_features, _out_features: as given.
        _dtype: str, dtype of the parameters.
        weight: Parameter [out_features, in1_features, in2_features].
        bias: Parameter [1, out_features], or None.
    Example:
        >>> paddle.nn.Bilinear(3, 4, 5)(paddle.ones([2, 3]), paddle.ones([2, 4])).shape
        paddle.Size([2, 5])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._dtype = get_default_dtype()
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._name = name
        self._in1_features = in1_features
        self._in2_features = in2_features
        self._out_features = out_features
        self.weight: Parameter = self.create_parameter(
            [out_features, in1_features, in2_features], attr=weight_attr, dtype=self._dtype
        )
        self.bias: Parameter = self.create_parameter(
            [1, out_features], attr=bias_attr, dtype=self._dtype, is_bias=True
        )

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return show(
            self._name,
            in1_features=self._in1_features,
            in2_features=self._in2_features,
            out_features=self._out_features,
            dtype=self._dtype,
        )


class Embedding(Layer):
    """Looks up rows of a learnt table.

    Args:
        num_embeddings: int, the number of rows.
        embedding_dim: int, the length of a row.
        padding_idx: int, a row that is zero and gets no gradient; negative counts from the end.
        max_norm: float, rows used are scaled down to this norm first.
        norm_type: float, the p of that norm.
        scale_grad_by_freq: divide the gradient of a row by how often it occurs.
        sparse: tell optimizers which rows were used; `Adam(lazy_mode=True)` leaves the others alone. With
            parameter servers the table is on the servers, and `weight` is None.
        _weight: Tensor [num_embeddings, embedding_dim] to start from.
        _freeze: no training.
        device: where the table is put.
        dtype: of the table. Default: paddle.get_default_dtype().
        weight_attr: ParamAttr of the table.
    Attributes:
        _num_embeddings, _embedding_dim, _sparse, _padding_idx, _max_norm, _norm_type, _scale_grad_by_freq,
            _device, _weight_attr, _name: as given.
        _size: list, [num_embeddings, embedding_dim].
        _dtype: str, dtype of the table.
        _remote: the table on parameter servers, or None.
        weight: Parameter [num_embeddings, embedding_dim], the table.
    Raises:
        ValueError: a size is not positive or padding_idx is out of range.
        AssertionError: _weight has another shape.
    Differs from Paddle: a table given as `_weight` becomes a Parameter, so it is saved and trained.
    Example:
        >>> paddle.nn.Embedding(10, 4)(paddle.to_tensor([1, 2, 1])).shape
        paddle.Size([3, 4])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        *,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ValueError(
                f"Embedding: got num_embeddings={num_embeddings}, "
                f"embedding_dim={embedding_dim}; both must be above 0"
            )
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"Embedding: padding_idx: got {padding_idx}; use {-num_embeddings}..{num_embeddings - 1}"
            )
        self._num_embeddings = num_embeddings
        self._embedding_dim = embedding_dim
        self._sparse = sparse
        self._padding_idx = padding_idx
        self._max_norm = max_norm
        self._norm_type = norm_type
        self._scale_grad_by_freq = scale_grad_by_freq
        self._device = device
        self._size = [num_embeddings, embedding_dim]
        self._weight_attr = weight_attr
        self._name = name
        self._dtype = get_default_dtype() if dtype is None else dtype
        # Programs with parameter servers keep the rows of sparse tables there.
        self._remote = None
        if sparse and _weight is None and not _freeze and RemoteLookup.layer is not None:
            self._remote = self._remote_table(max_norm, scale_grad_by_freq)
            self.weight = None
            return
        self.weight: Any = self._table(_weight)
        if _freeze:
            self.weight.stop_gradient = True

    padding_idx: property = linked("_padding_idx", "The row that is zero, or None.")

    def _table(self, initial: Tensor | None) -> Tensor | None:
        if initial is not None:
            if list(initial.shape) != self._size:
                raise AssertionError(
                    f"Embedding: _weight: got shape {list(initial.shape)}; it must be {self._size}"
                )
            if isinstance(initial, Parameter):
                # Tied weights stay one parameter.
                return initial
            return Parameter(initial)
        weight = self.create_parameter(
            self._size, attr=self._weight_attr, dtype=self._dtype, device=self._device
        )
        # a static program fills the row as any other, and the lookup gives zeros for it
        recorded = weight is not None and holds_symbol(weight)
        if weight is not None and self._padding_idx is not None and not recorded:
            weight._after_filling(self._clear_padding)
        return weight

    def _remote_table(self, max_norm: float | None, scale_grad_by_freq: bool) -> Layer:
        """The rows on parameter servers; no table is made here."""
        if max_norm is not None or scale_grad_by_freq:
            raise NotImplementedError(
                f"Embedding: got max_norm={max_norm}, scale_grad_by_freq={scale_grad_by_freq}; rows on "
                "parameter servers have neither; leave them out, or pass sparse=False"
            )
        padding = self._padding_idx
        # Counted from the front, as servers number their rows.
        if padding is not None:
            padding %= self._num_embeddings
        name = unique_name.generate(f"{self._full_name}.w")
        return RemoteLookup.layer(self._size, padding, self._weight_attr, name)

    def _clear_padding(self, weight: Parameter) -> None:
        if is_on_host(held_value(weight)):
            table = host_elements(weight).copy()
            table[self._padding_idx] = 0
            weight._value = persistent_from_numpy(table)
        else:
            weight._value = weight._value.at[self._padding_idx].set(0)

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        if self._remote is not None:
            return self._remote(x)
        return F.embedding(
            x,
            self.weight,
            self._padding_idx,
            self._max_norm,
            self._norm_type,
            self._sparse,
            self._scale_grad_by_freq,
        )

    def extra_repr(self) -> str:
        if self._padding_idx is None:
            padding = ""
        else:
            padding = f", padding_idx={self._padding_idx}"
        return f"{self._num_embeddings}, {self._embedding_dim}{padding}, " + show(
            self._name, sparse=self._sparse, scale_grad_by_freq=self._scale_grad_by_freq
        )


class Flatten(Layer):
    """Makes one axis of a run of axes.

    Args:
        start_axis: int, the first.
        stop_axis: int, the last.
    Example:
        >>> paddle.nn.Flatten()(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 12])
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis = start_axis
        self.stop_axis = stop_axis

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_axis, self.stop_axis)


class Unflatten(Layer):
    """Splits an axis into several.

    Args:
        axis: int, the axis.
        shape: list of ints, the lengths of the new axes; one may be -1.
    Example:
        >>> paddle.nn.Unflatten(1, [2, -1])(paddle.ones([3, 8])).shape
        paddle.Size([3, 2, 4])
    """

    def __init__(self, axis: int, shape: Sequence[int] | Tensor, name: str | None = None) -> None:
        super().__init__()
        self.axis = axis
        self.shape = shape
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.axis, self.shape)

    def extra_repr(self) -> str:
        return show(self.name, axis=self.axis, shape=self.shape)


class Upsample(Layer):
    """Resizes the spatial axes; see `paddle.nn.functional.interpolate` for the arguments.

    Args:
        size: list of ints, the new lengths.
        scale_factor: float or list, instead of size.
        mode: "nearest", "linear", "bilinear", "trilinear", "bicubic" or "area".
        align_corners: bool, let the corners coincide.
        align_mode: int, 0 or 1, for linear modes.
        data_format: str such as "NCHW" or "NHWC".
        recompute_scale_factor: bool, derive the scale from the sizes.
    Attributes:
        size, scale_factor, align_corners, align_mode, data_format, recompute_scale_factor, name: as given.
        mode: str, in lower case.
    Example:
        >>> paddle.nn.Upsample(scale_factor=2)(paddle.ones([1, 1, 2, 2])).shape
        paddle.Size([1, 1, 4, 4])
    """

    def __init__(
        self,
        size: Size | Tensor | None = None,
        scale_factor: float | Sequence[float] | Tensor | None = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode: str = mode.lower()
        self.align_corners = align_corners
        self.align_mode = align_mode
        self.data_format = data_format
        self.recompute_scale_factor = recompute_scale_factor
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        return show(
            self.name,
            **_resize(self),
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
        )


def _resize(layer: Layer) -> dict[str, Any]:
    if layer.scale_factor is None:
        return {"size": layer.size}
    return {"scale_factor": layer.scale_factor}


class UpsamplingNearest2D(Layer):
    """Resizes images by taking the nearest pixel.

    Args:
        size: two ints, the new height and width.
        scale_factor: float or two floats, instead of size.
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.UpsamplingNearest2D(size=[4, 6])(paddle.ones([1, 1, 2, 3])).shape
        paddle.Size([1, 1, 4, 6])
    """

    _mode = "nearest"
    _align_corners = False

    def __init__(
        self,
        size: Size | Tensor | None = None,
        scale_factor: float | Sequence[float] | Tensor | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.data_format = data_format
        self.name = name

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self._mode,
            align_corners=self._align_corners,
            align_mode=0,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return show(self.name, **_resize(self), data_format=self.data_format)


class UpsamplingBilinear2D(UpsamplingNearest2D):
    """Resizes images by bilinear interpolation with coinciding corners.

    Args:
        size: two ints, the new height and width.
        scale_factor: float or two floats, instead of size.
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.UpsamplingBilinear2D(size=[4, 6])(paddle.ones([1, 1, 2, 3])).shape
        paddle.Size([1, 1, 4, 6])
    """

    _mode = "bilinear"
    _align_corners = True


class CosineSimilarity(Layer):
    """Computes the cosine of the angle between vectors along an axis.

    Args:
        axis: int, the axis of the vectors; `dim` is accepted as a name.
        eps: float, a lower bound of the product of norms.
    Example:
        >>> x = paddle.to_tensor([[1.0, 2.0]]); paddle.nn.CosineSimilarity()(x, 2 * x).shape
        paddle.Size([1])
    """

    @alias(dim="axis")
    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis = axis
        self._eps = eps

    dim: property = linked("_axis", "The axis, under its other name.")

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, axis=self._axis, eps=self._eps)

    def extra_repr(self) -> str:
        return show(axis=self._axis, eps=self._eps)


class Unfold(Layer):
    """Gathers the sliding windows of images as columns: [N, C, H, W] -> [N, C * window, number of windows].

    Args:
        kernel_sizes: int or two ints.
        dilations: int or two ints.
        paddings: int, two or four ints.
        strides: int or two ints.
    Example:
        >>> paddle.nn.Unfold(2)(paddle.ones([1, 3, 4, 4])).shape
        paddle.Size([1, 12, 9])
    """

    @refuses(
        "kernel_size dilation padding stride",
        "use kernel_sizes, dilations, paddings and strides, or "
        "paddle.compat.nn.Unfold, which takes torch's names",
    )
    def __init__(
        self,
        kernel_sizes: Size,
        dilations: Size = 1,
        paddings: Size = 0,
        strides: Size = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(
            input,
            kernel_sizes=self.kernel_sizes,
            strides=self.strides,
            paddings=self.paddings,
            dilations=self.dilations,
        )

    def extra_repr(self) -> str:
        return show(
            self.name,
            kernel_size=self.kernel_sizes,
            dilation=self.dilations,
            padding=self.paddings,
            stride=self.strides,
        )


class Fold(Layer):
    """Adds columns back into images: the reverse of Unfold, overlaps summed.

    Args:
        output_sizes: two ints, height and width of the images; `output_size` is accepted as a name.
        kernel_sizes: int or two ints; `kernel_size` is accepted.
        dilations: int or two ints; `dilation` is accepted.
        paddings: int, two or four ints; `padding` is accepted.
        strides: int or two ints; `stride` is accepted.
    Attributes:
        output_sizes, kernel_sizes, dilations, paddings, strides, name: as given.
    Example:
        >>> paddle.nn.Fold([4, 4], 2)(paddle.ones([1, 12, 9])).shape
        paddle.Size([1, 3, 4, 4])
    """

    @alias(
        output_size="output_sizes",
        kernel_size="kernel_sizes",
        dilation="dilations",
        padding="paddings",
        stride="strides",
    )
    def __init__(
        self,
        output_sizes: Size,
        kernel_sizes: Size,
        dilations: Size = 1,
        paddings: Size = 0,
        strides: Size = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.output_sizes = output_sizes
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    output_size: property = linked("output_sizes", "output_sizes, under its other name.")
    kernel_size: property = linked("kernel_sizes", "kernel_sizes, under its other name.")
    dilation: property = linked("dilations", "dilations, under its other name.")
    padding: property = linked("paddings", "paddings, under its other name.")
    stride: property = linked("strides", "strides, under its other name.")

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(
            input,
            output_sizes=self.output_sizes,
            kernel_sizes=self.kernel_sizes,
            strides=self.strides,
            paddings=self.paddings,
            dilations=self.dilations,
        )

    def extra_repr(self) -> str:
        return show(
            self.name,
            kernel_size=self.kernel_sizes,
            dilation=self.dilations,
            padding=self.paddings,
            stride=self.strides,
        )


__all__ = [
    "AlphaDropout",
    "Bilinear",
    "CircularPad1D",
    "CircularPad2D",
    "CircularPad3D",
    "ConstantPad1D",
    "ConstantPad2D",
    "ConstantPad3D",
    "CosineSimilarity",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "Embedding",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "Identity",
    "Linear",
    "Pad1D",
    "Pad2D",
    "Pad3D",
    "ReflectionPad1D",
    "ReflectionPad2D",
    "ReflectionPad3D",
    "ReplicationPad1D",
    "ReplicationPad2D",
    "ReplicationPad3D",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2D",
    "UpsamplingNearest2D",
    "ZeroPad1D",
    "ZeroPad2D",
    "ZeroPad3D",
]
