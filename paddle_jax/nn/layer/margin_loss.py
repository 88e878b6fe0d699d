"""Loss layers with margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import Reduction
    from paddle_jax._core.tensors.tensor import Tensor


def check_reduction(name: str, reduction: str) -> None:
    """Raises ValueError unless reduction is "sum", "mean" or "none"."""
    if reduction not in ("sum", "mean", "none"):
        raise ValueError(f"{name}: reduction: got {reduction!r}; allowed are 'sum', 'mean' and 'none'")


class MarginRankingLoss(Layer):
    """max(0, -label * (input - other) + margin): labels 1 ask for input above other, -1 for below.

    Args:
        margin: float.
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> x = paddle.to_tensor([1.0]); float(paddle.nn.MarginRankingLoss()(x, x + 2, paddle.ones([1])))
        2.0
    """

    def __init__(self, margin: float = 0.0, reduction: Reduction = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("MarginRankingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, other: Tensor, label: Tensor) -> Tensor:
        return F.margin_ranking_loss(input, other, label, self.margin, self.reduction)


class CosineEmbeddingLoss(Layer):
    """1 - cos for pairs with label 1, max(0, cos - margin) for pairs with label -1.

    Args:
        margin: float between -1 and 1.
        reduction: str.
    Raises:
        ValueError: margin or reduction is not allowed.
    Example:
        >>> x = paddle.to_tensor([[3.0, 4.0]])
        >>> round(float(paddle.nn.CosineEmbeddingLoss()(x, x, paddle.to_tensor([1]))), 5)
        0.0
    """

    def __init__(self, margin: float = 0, reduction: Reduction = "mean", name: str | None = None) -> None:
        super().__init__()
        if not -1 <= margin <= 1:
            raise ValueError(f"CosineEmbeddingLoss: margin: got {margin}; it must be between -1 and 1")
        check_reduction("CosineEmbeddingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    def forward(self, input1: Tensor, input2: Tensor, label: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, label, margin=self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(Layer):
    """The input where the label is 1, max(0, margin - input) where it is -1.

    Args:
        margin: float.
        reduction: str.
    Example:
        >>> float(paddle.nn.HingeEmbeddingLoss()(paddle.to_tensor([0.25]), paddle.to_tensor([-1.0])))
        0.75
    """

    def __init__(self, margin: float = 1.0, reduction: Reduction = "mean", name: str | None = None) -> None:
        super().__init__()
        self.margin = margin
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, label, reduction=self.reduction, margin=self.margin)


class TripletMarginLoss(Layer):
    """max(0, distance to positive - distance to negative + margin).

    Args:
        margin: float.
        p: float, the p of the distance's norm.
        epsilon: float, keeps gradients finite.
        swap: bool, use the distance from positive to negative where it is smaller.
        reduction: str.
    Attributes:
        margin, p, epsilon, swap, reduction, name: as given.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> a = paddle.zeros([1, 2]); paddle.nn.TripletMarginLoss()(a, a, a + 5).shape
        paddle.Size([])
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        epsilon: float = 1e-6,
        swap: bool = False,
        reduction: Reduction = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("TripletMarginLoss", reduction)
        self.margin = margin
        self.p = p
        self.epsilon = epsilon
        self.swap = swap
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            input,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            epsilon=self.epsilon,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(Layer):
    """max(0, distance to positive - distance to negative + margin) for a distance of one's choice.

    Args:
        distance_function: function of two Tensors. Default: the Euclidean distance.
        margin: float.
        swap: bool, use the distance from positive to negative where it is smaller.
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> a = paddle.zeros([1, 2])
        >>> loss = paddle.nn.TripletMarginWithDistanceLoss(lambda x, y: (x - y).abs().sum(-1))
        >>> float(loss(a, a, a + 5))
        0.0
    """

    def __init__(
        self,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: Reduction = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("TripletMarginWithDistanceLoss", reduction)
        self.margin = margin
        self.swap = swap
        self.reduction = reduction
        self.distance_function = distance_function
        self.name = name

    def forward(self, input: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            input,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class MultiLabelSoftMarginLoss(Layer):
    """Binary cross entropy with logits, averaged over classes.

    Args:
        weight: Tensor [C], a weight for each class.
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> round(float(paddle.nn.MultiLabelSoftMarginLoss()(paddle.zeros([1, 2]), paddle.ones([1, 2]))), 4)
        0.6931
    """

    def __init__(
        self, weight: Tensor | None = None, reduction: Reduction = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction("MultiLabelSoftMarginLoss", reduction)
        self.weight = weight
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.multi_label_soft_margin_loss(input, label, weight=self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(Layer):
    """The sum of max(0, 1 - (input of a label - input of another class)) / C, labels being
    lists that end at -1.

    Args:
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> loss = paddle.nn.MultiLabelMarginLoss()
        >>> float(loss(paddle.zeros([1, 2]), paddle.to_tensor([[1, -1]])))
        0.5
    """

    def __init__(self, reduction: Reduction = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("MultiLabelMarginLoss", reduction)
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.multi_label_margin_loss(input, label, reduction=self.reduction)


class MultiMarginLoss(Layer):
    """The mean over other classes of max(0, margin - input of the label + input of the class) ** p.

    Args:
        p: int, 1 or 2.
        margin: float.
        weight: Tensor [C], a weight for each class.
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> float(paddle.nn.MultiMarginLoss()(paddle.zeros([1, 2]), paddle.to_tensor([1])))
        0.5
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        reduction: Reduction = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("MultiMarginLoss", reduction)
        self.p = p
        self.margin = margin
        self.weight = weight
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, label, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class SoftMarginLoss(Layer):
    """log(1 + exp(-label * input)), labels being 1 and -1.

    Args:
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> round(float(paddle.nn.SoftMarginLoss()(paddle.zeros([2]), paddle.to_tensor([1.0, -1.0]))), 4)
        0.6931
    """

    def __init__(self, reduction: Reduction = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("SoftMarginLoss", reduction)
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.soft_margin_loss(input, label, self.reduction)


__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
