"""Loss layers for very many classes: they hold the weights of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.joining import concat

if TYPE_CHECKING:
    from paddle_jax._annotations import ParamAttrLike
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.parameter import Parameter


class HSigmoidLoss(Layer):
    """Hierarchical sigmoid: the loss of a path of binary decisions in a tree of classes.

    Args:
        feature_size: int, the last length of the input.
        num_classes: int, at least 2 for the default tree; with a custom tree the number of its inner nodes.
        weight_attr: ParamAttr of `weight`, shape [num_classes - 1, feature_size] ([num_classes, ...]
            for a custom tree).
        bias_attr: ParamAttr of `bias`, shape [num_classes - 1, 1]; False for none.
        is_custom: bool, the tree is given with each call.
        is_sparse: accepted for compatibility; gradients are dense.
    Attributes:
        _feature_size, _num_classes, _is_custom, _is_sparse, _weight_attr, _bias_attr, _name: as given.
        _dtype: str, dtype of the parameters.
        weight: Parameter [nodes, feature_size], a row for each inner node of the tree.
        bias: Parameter [nodes, 1], or None.
    Raises:
        ValueError: fewer than 2 classes with the default tree, or a custom tree without path (when called).
    Example:
        >>> paddle.nn.HSigmoidLoss(3, 5)(paddle.ones([2, 3]), paddle.to_tensor([[1], [4]])).shape
        paddle.Size([2, 1])
    See: Morin and Bengio, Hierarchical Probabilistic Neural Network Language Model, 2005.
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise ValueError(
                f"HSigmoidLoss: num_classes: got {num_classes}; the default tree needs 2 or more"
            )
        self._feature_size = feature_size
        self._num_classes = num_classes
        self._is_custom = is_custom
        self._is_sparse = is_sparse
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._name = name
        self._dtype = get_default_dtype()
        # The default tree is a complete binary one: one inner node less than there are classes.
        nodes = num_classes if is_custom else num_classes - 1
        self.weight: Parameter = self.create_parameter(
            [nodes, feature_size], attr=weight_attr, dtype=self._dtype
        )
        self.bias: Parameter = self.create_parameter(
            [nodes, 1], attr=bias_attr, dtype=self._dtype, is_bias=True
        )

    def forward(
        self, input: Tensor, label: Tensor, path_table: Tensor | None = None, path_code: Tensor | None = None
    ) -> Tensor:
        if self._is_custom and (path_table is None or path_code is None):
            raise ValueError(
                "HSigmoidLoss: path_table, path_code: got None; with is_custom=True both must be given"
            )
        return F.hsigmoid_loss(
            input,
            label,
            self._num_classes,
            self.weight,
            self.bias,
            path_table=path_table,
            path_code=path_code,
            is_sparse=self._is_sparse,
        )


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Softmax over many classes of unequal frequency: frequent ones at once, rare ones in clusters with
    smaller projections.

    As in Paddle, the projections of the clusters, `tail_weights`, are lists of parameters that `parameters()`
    and `state_dict()` do not contain; hand them to the optimizer and save them yourself.

    Args:
        in_features: int, the last length of the input.
        n_classes: int, the number of classes, sorted by frequency.
        cutoffs: list of ints, where clusters begin; increasing, between 1 and n_classes - 1.
        weight_attr: ParamAttr of the weights.
        bias_attr: ParamAttr of the bias.
        div_value: float, each cluster has projections smaller by this factor.
        head_bias: bool, whether there is a bias in the head.
    Attributes:
        in_features, n_classes, div_value, _weight_attr, _bias_attr: as given.
        _dtype: str, dtype of the parameters.
        cutoffs: list of ints, the first class of each cluster, and n_classes at the end.
        is_head_bias: bool, the argument head_bias.
        shortlist_size: int, how many classes the head knows itself.
        n_clusters: int, the number of clusters of rarer classes.
        head_size: int, shortlist_size + n_clusters.
        head_weight: Parameter [in_features, head_size].
        head_bias: Parameter [head_size], or None.
        tail_weights: list of pairs of Parameters, one pair for each cluster.
    Raises:
        ValueError: cutoffs are not allowed; labels are out of range (when called).
    Example:
        >>> layer = paddle.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
        >>> out, loss = layer(paddle.ones([3, 8]), paddle.to_tensor([1, 7, 15]))
        >>> out.shape, layer.log_prob(paddle.ones([3, 8])).shape
        (paddle.Size([3]), paddle.Size([3, 20]))
    See: Grave et al., Efficient softmax approximation for GPUs, 2016.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._dtype = get_default_dtype()
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs: list[int] = _checked(list(cutoffs), n_classes)
        self.div_value = div_value
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self.is_head_bias = head_bias
        self.shortlist_size: int = self.cutoffs[0]
        self.n_clusters: int = len(self.cutoffs) - 1
        # The head chooses among the frequent classes and the clusters.
        self.head_size: int = self.shortlist_size + self.n_clusters
        self.head_weight: Parameter = self.create_parameter(
            [in_features, self.head_size], attr=weight_attr, dtype=self._dtype
        )
        if head_bias:
            self.head_bias = self.create_parameter(
                [self.head_size], attr=bias_attr, dtype=self._dtype, is_bias=True
            )
        else:
            self.head_bias: Any = None
        self.tail_weights: list[list[Tensor]] = [
            self._cluster(i, weight_attr) for i in range(self.n_clusters)
        ]

    def _cluster(self, i: int, weight_attr: ParamAttrLike | None) -> list[Tensor]:
        # Rare classes get fewer features, cluster by cluster.
        hidden = int(self.in_features // self.div_value ** (i + 1))
        size = self.cutoffs[i + 1] - self.cutoffs[i]
        return [
            self.create_parameter(shape, attr=weight_attr, dtype=self._dtype)
            for shape in ([self.in_features, hidden], [hidden, size])
        ]

    def forward(self, input: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Tensor) -> Tensor:
        """Computes the log probabilities of all classes: [N, in_features] -> [N, n_classes]."""
        head = F.log_softmax(F.linear(input, self.head_weight, self.head_bias), axis=1)
        parts = [head[:, : self.shortlist_size]]
        for i, (first, second) in enumerate(self.tail_weights):
            inside = F.log_softmax(F.linear(F.linear(input, first), second), axis=1)
            # log P(cluster) + log P(class in the cluster).
            parts.append(inside + head[:, self.shortlist_size + i].unsqueeze(1))
        return concat(parts, axis=1)

    def predict(self, input: Tensor) -> Tensor:
        """Returns the most probable class of each row, in the default floating dtype as Paddle does."""
        return self.log_prob(input).argmax(axis=1).astype(self._dtype)


def _checked(cutoffs: list[int], n_classes: int) -> list[int]:
    if not cutoffs:
        raise ValueError("AdaptiveLogSoftmaxWithLoss: cutoffs: got an empty list; give at least one")
    increasing = all(a < b for a, b in zip(cutoffs, cutoffs[1:], strict=False))
    if not increasing or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
        raise ValueError(
            f"AdaptiveLogSoftmaxWithLoss: cutoffs: got {cutoffs}; use increasing ints in 1..{n_classes - 1}"
        )
    # The last cluster ends with the classes.
    return [*cutoffs, n_classes]


__all__ = ["AdaptiveLogSoftmaxWithLoss", "HSigmoidLoss"]
