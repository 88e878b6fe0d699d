"""Loss layers. `reduction` is "mean", "sum" or "none" throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.class_loss import AdaptiveLogSoftmaxWithLoss, HSigmoidLoss
from paddle_jax.nn.layer.helpers import alias
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.margin_loss import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
    check_reduction,
)

if TYPE_CHECKING:
    from paddle_jax._annotations import DivergenceReduction, Reduction
    from paddle_jax._core.tensors.tensor import Tensor


class CrossEntropyLoss(Layer):
    """Cross entropy between predicted classes and labels, softmax included.

    Args:
        weight: Tensor [C], a weight for each class.
        ignore_index: int, a label that does not count.
        reduction: str.
        soft_label: bool, labels are probabilities [..., C] instead of class numbers.
        axis: int, the axis of classes.
        use_softmax: bool; False: the input holds probabilities.
        label_smoothing: float between 0 and 1.
    Attributes:
        weight, reduction, ignore_index, soft_label, axis, use_softmax, label_smoothing, name: as given.
    Raises:
        ValueError: reduction is not allowed (when called).
    Example:
        >>> loss = paddle.nn.CrossEntropyLoss()
        >>> float(loss(paddle.zeros([2, 4]), paddle.to_tensor([1, 3]))) < 1.39
        True
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight = weight
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.soft_label = soft_label
        self.axis = axis
        self.use_softmax = use_softmax
        self.label_smoothing = label_smoothing
        self.name = name

    @alias(target="label")
    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            label,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            soft_label=self.soft_label,
            axis=self.axis,
            use_softmax=self.use_softmax,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(Layer):
    """Negative log likelihood: minus the given log probabilities of the labels.

    Args:
        weight: Tensor [C], a weight for each class.
        ignore_index: int, a label that does not count.
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> float(paddle.nn.NLLLoss()(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])))
        2.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("NLLLoss", reduction)
        self._weight = weight
        self._ignore_index = ignore_index
        self._reduction = reduction
        self._name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.nll_loss(
            input, label, weight=self._weight, ignore_index=self._ignore_index, reduction=self._reduction
        )


class BCELoss(Layer):
    """Binary cross entropy between probabilities and labels.

    Args:
        weight: Tensor that multiplies the loss of each element.
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> round(float(paddle.nn.BCELoss()(paddle.to_tensor([0.5]), paddle.to_tensor([1.0]))), 4)
        0.6931
    """

    def __init__(
        self, weight: Tensor | None = None, reduction: Reduction = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction("BCELoss", reduction)
        self.weight = weight
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, label, self.weight, self.reduction)


class BCEWithLogitsLoss(Layer):
    """Binary cross entropy between labels and the sigmoid of the input.

    Args:
        weight: Tensor that multiplies the loss of each element.
        reduction: str.
        pos_weight: Tensor that multiplies the loss of positive labels.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> round(float(paddle.nn.BCEWithLogitsLoss()(paddle.to_tensor([0.0]), paddle.to_tensor([1.0]))), 4)
        0.6931
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        reduction: Reduction = "mean",
        pos_weight: Tensor | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("BCEWithLogitsLoss", reduction)
        self.weight = weight
        self.reduction = reduction
        self.pos_weight = pos_weight
        self.name = name

    def forward(self, logit: Tensor, label: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(logit, label, self.weight, self.reduction, self.pos_weight)


class MSELoss(Layer):
    """Squares of differences.

    Args:
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> float(paddle.nn.MSELoss()(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])))
        2.0
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        check_reduction("MSELoss", reduction)
        self.reduction = reduction

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """Absolute values of differences.

    Args:
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> float(paddle.nn.L1Loss()(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])))
        1.0
    """

    def __init__(self, reduction: Reduction = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction("L1Loss", reduction)
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.l1_loss(input, label, self.reduction)


class SmoothL1Loss(Layer):
    """Squares of small differences, absolute values of large ones (Huber's loss).

    Args:
        reduction: str.
        delta: float, where small ends.
        is_huber: bool; False: divide by delta.
    Example:
        >>> float(paddle.nn.SmoothL1Loss()(paddle.to_tensor([0.0]), paddle.to_tensor([3.0])))
        2.5
    """

    def __init__(
        self,
        reduction: Reduction = "mean",
        delta: float = 1.0,
        is_huber: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.reduction = reduction
        self.delta = delta
        self.is_huber = is_huber
        self.name = name

    @alias(target="label")
    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.smooth_l1_loss(
            input, label, reduction=self.reduction, delta=self.delta, is_huber=self.is_huber
        )


class KLDivLoss(Layer):
    """Kullback-Leibler divergence label * (log(label) - input), the input being log probabilities.

    Args:
        reduction: "mean", "batchmean", "sum" or "none"; None means "none".
        log_target: bool, labels are logarithms as well.
    Example:
        >>> p = paddle.to_tensor([[0.5, 0.5]]); float(paddle.nn.KLDivLoss("sum")(p.log(), p))
        0.0
    """

    def __init__(self, reduction: DivergenceReduction = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction = reduction
        self.log_target = log_target

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.kl_div(input, label, self.reduction, self.log_target)


class PoissonNLLLoss(Layer):
    """Negative log likelihood of counts under a Poisson distribution.

    Args:
        log_input: bool, the input is the logarithm of the rate.
        full: bool, include Stirling's approximation of log(label!).
        epsilon: float, keeps logarithms finite.
        reduction: str.
    Raises:
        ValueError: epsilon is not positive or reduction is not allowed.
    Example:
        >>> float(paddle.nn.PoissonNLLLoss()(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])))
        1.0
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        epsilon: float = 1e-8,
        reduction: Reduction = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if epsilon <= 0:
            raise ValueError(f"PoissonNLLLoss: epsilon: got {epsilon}; it must be above 0")
        check_reduction("PoissonNLLLoss", reduction)
        self._log_input = log_input
        self._full = full
        self._epsilon = epsilon
        self._reduction = reduction
        self._name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            input,
            label,
            log_input=self._log_input,
            full=self._full,
            epsilon=self._epsilon,
            reduction=self._reduction,
        )


class GaussianNLLLoss(Layer):
    """Negative log likelihood under normal distributions with given variances.

    Args:
        full: bool, include the constant log(2 pi) / 2.
        epsilon: float, a lower bound of the variance.
        reduction: str.
    Raises:
        ValueError: reduction is not allowed.
    Example:
        >>> one = paddle.ones([1]); float(paddle.nn.GaussianNLLLoss()(one, one, one))
        0.0
    """

    def __init__(
        self,
        full: bool = False,
        epsilon: float = 1e-6,
        reduction: Reduction = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction("GaussianNLLLoss", reduction)
        self.full = full
        self.epsilon = epsilon
        self.reduction = reduction
        self.name = name

    def forward(self, input: Tensor, label: Tensor, variance: Tensor) -> Tensor:
        return F.gaussian_nll_loss(input, label, variance, self.full, self.epsilon, self.reduction)


class CTCLoss(Layer):
    """Connectionist temporal classification: the loss of label sequences that are not aligned with the input.

    Args:
        blank: int, the class that stands for nothing.
        reduction: str.
        zero_infinity: bool, count infinite losses as zero.
    Example:
        >>> logits, labels = paddle.zeros([4, 1, 3]), paddle.to_tensor([[1, 2]], dtype="int32")
        >>> loss = paddle.nn.CTCLoss()(logits, labels, paddle.to_tensor([4]), paddle.to_tensor([2]))
        >>> loss.shape
        paddle.Size([])
    See: Graves et al., Connectionist Temporal Classification, 2006.
    """

    def __init__(self, blank: int = 0, reduction: Reduction = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank = blank
        self.reduction = reduction
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        labels: Tensor,
        input_lengths: Tensor,
        label_lengths: Tensor,
        norm_by_times: bool = False,
    ) -> Tensor:
        return F.ctc_loss(
            log_probs,
            labels,
            input_lengths,
            label_lengths,
            blank=self.blank,
            reduction=self.reduction,
            norm_by_times=norm_by_times,
            zero_infinity=self.zero_infinity,
        )


class RNNTLoss(Layer):
    """The loss of an RNN transducer.

    Args:
        blank: int, the class that stands for nothing.
        fastemit_lambda: float, the weight of FastEmit regularisation.
        reduction: str.
    Example:
        >>> logits, labels = paddle.zeros([1, 2, 2, 3]), paddle.to_tensor([[1]], dtype="int32")
        >>> at, ut = paddle.to_tensor([2], dtype="int32"), paddle.to_tensor([1], dtype="int32")
        >>> paddle.nn.RNNTLoss()(logits, labels, at, ut).shape
        paddle.Size([])
    See: Graves, Sequence Transduction with Recurrent Neural Networks, 2012.
    """

    def __init__(
        self,
        blank: int = 0,
        fastemit_lambda: float = 0.001,
        reduction: Reduction = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.blank = blank
        self.reduction = reduction
        self.fastemit_lambda = fastemit_lambda
        self.name = name

    def forward(self, input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor) -> Tensor:
        return F.rnnt_loss(
            input,
            label,
            input_lengths,
            label_lengths,
            blank=self.blank,
            fastemit_lambda=self.fastemit_lambda,
            reduction=self.reduction,
        )


__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HSigmoidLoss",
    "HingeEmbeddingLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "RNNTLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
