"""ParamAttr: what a layer is told about one of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.initializer.initializer import Initializer

if TYPE_CHECKING:
    from paddle_jax.regularizer import WeightDecayRegularizer


class ParamAttr:
    """Settings of a parameter that a layer creates.

    Args:
        name: str, the name of the parameter. Default: made from the name of the layer.
        initializer: an initializer from paddle.nn.initializer. Default: the one of the layer.
        learning_rate: float, multiplies the optimizer's learning rate for this parameter.
        regularizer: an L1Decay or L2Decay that replaces the optimizer's weight decay for this parameter.
        trainable: bool, whether the parameter is updated.
        do_model_average: bool, whether model averaging takes the parameter in.
        need_clip: bool, whether gradient clipping takes the parameter in.
    Attributes:
        name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip: as given.
    Raises:
        ValueError: name is an empty str.
    Example:
        >>> attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(2.0), learning_rate=0.5)
        >>> paddle.nn.Linear(1, 2, weight_attr=attr).weight.tolist()
        [[2.0, 2.0]]
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        if name == "":
            raise ValueError("ParamAttr: name: got an empty str; leave it None to get a generated name")
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        """The ParamAttr for what layers accept: None, True, a name, an initializer, a regularizer, a
        ParamAttr; False stays False."""
        if isinstance(arg, list | tuple):
            return [ParamAttr._to_attr(a) for a in arg]
        if arg is None or arg is True:
            return ParamAttr()
        if arg is False or isinstance(arg, ParamAttr):
            return arg
        if isinstance(arg, str):
            return ParamAttr(name=arg)

        if isinstance(arg, Initializer):
            return ParamAttr(initializer=arg)
        if hasattr(arg, "_coeff"):  # what paddle.regularizer.L1Decay and L2Decay have
            return ParamAttr(regularizer=arg)
        raise TypeError(
            f"ParamAttr: got {type(arg).__name__}; allowed are None, bool, str, ParamAttr, "
            "an initializer or a regularizer"
        )

    def _to_kwargs(self, with_initializer: bool = False) -> dict[str, Any]:
        kwargs = {
            "name": self.name,
            "optimize_attr": {"learning_rate": self.learning_rate},
            "regularizer": self.regularizer,
            "trainable": self.trainable,
            "do_model_average": self.do_model_average,
            "need_clip": self.need_clip,
        }
        if with_initializer:
            return kwargs | {"initializer": self.initializer}
        return kwargs
