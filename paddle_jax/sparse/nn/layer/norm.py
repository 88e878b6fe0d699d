"""Batch normalisation of sparse Tensors: channels over the elements that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn.functional.norm import batch_norm
from paddle_jax.nn.layer.batch_norm import BatchNorm1D
from paddle_jax.nn.layer.batch_norm import SyncBatchNorm as Dense
from paddle_jax.nn.layer.helpers import show
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.pattern import need_exact
from paddle_jax.sparse.unary import with_values

if TYPE_CHECKING:
    from paddle_jax._annotations import ParamAttrLike
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


def _normalised(layer: Layer, x: SparseTensor) -> SparseTensor:
    """x with its values normalised by the settings of a layer."""
    name = type(layer).__name__
    if not isinstance(x, SparseCooTensor):
        raise NotImplementedError(f"{name}: input: got {type(x).__name__}; give a SparseCooTensor")
    need_exact(name, x)
    if x.dense_dim() != 1:
        raise ValueError(
            f"{name}: input: got shape {list(x.shape)} with {x.sparse_dim()} axes with "
            "coordinates; all but the last need them"
        )
    # Values are [elements, channels], whatever the data format.
    values = batch_norm(
        x.values(),
        layer._mean,
        layer._variance,
        layer.weight,
        layer.bias,
        layer.training,
        layer._momentum,
        layer._epsilon,
        "NC",
        layer._use_global_stats,
    )
    return with_values(x, values)


class BatchNorm(BatchNorm1D):
    """Normalises each channel of a sparse Tensor by the mean and variance of the elements that are kept, then
    scales and shifts it.

    In evaluation running statistics are used: `_mean` and `_variance`, updated in training as momentum * old
    + (1 - momentum) * new.

    Args:
        num_features: int, the number of channels C, which are the last axis.
        momentum: float.
        epsilon: float, added to the variance.
        weight_attr: ParamAttr of the scale `weight`, shape [C].
        bias_attr: ParamAttr of the shift `bias`, shape [C].
        data_format: "NDHWC" or "NHWC".
        use_global_stats: bool, use the running statistics always (True) or never (False).
            Default: in evaluation.
    Raises:
        ValueError: data_format is not allowed (when called).
        NotImplementedError: the input is not a SparseCooTensor (when called).
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 1], [1, 1], [0, 1]], [[1.0], [3.0]],
        ...                                     [1, 2, 2, 2, 1])
        >>> paddle.sparse.nn.BatchNorm(1, epsilon=0.0)(x).values().tolist()
        [[-1.0], [1.0]]
    See: Ioffe and Szegedy, Batch Normalization, 2015.
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NDHWC",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name
        )

    def forward(self, input: SparseTensor) -> SparseTensor:
        """The normalised Tensor."""
        if self._data_format not in ("NDHWC", "NHWC"):
            raise ValueError(
                f"BatchNorm: data_format: got {self._data_format!r}; allowed are 'NDHWC' and 'NHWC'"
            )
        return _normalised(self, input)

    def extra_repr(self) -> str:
        """The settings."""
        return show(
            self._name,
            num_features=self._num_features,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
        )


class SyncBatchNorm(Dense):
    """Batch normalisation of a sparse Tensor by the statistics of the whole batch, also when its values are
    spread over devices.

    On one device, and on values sharded over devices (whose mean XLA takes over all shards), this is
    what BatchNorm does.

    Args:
        num_features, momentum, epsilon, weight_attr, bias_attr, data_format: as for `BatchNorm`; data_format
            does not matter.
    Differs from Paddle: it works on the CPU, too.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 1], [1, 1], [0, 1]], [[1.0], [3.0]],
        ...                                     [1, 2, 2, 2, 1])
        >>> paddle.sparse.nn.SyncBatchNorm(1, epsilon=0.0)(x).values().tolist()
        [[-1.0], [1.0]]
    """

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The normalised Tensor."""
        return _normalised(self, x)

    @classmethod
    def _from(cls, norm: Layer) -> Layer:
        """What `convert_sync_batchnorm` puts in place of a layer: of dense Tensors a
        `paddle.nn.SyncBatchNorm`."""
        if isinstance(norm, BatchNorm):
            return super()._from(norm)
        return Dense._from(norm)
