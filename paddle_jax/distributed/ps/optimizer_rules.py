"""What servers need to know of optimizers and initializers: plain values in place of objects."""

from types import SimpleNamespace
from typing import Any

from paddle_jax._core.base.param_defaults import ParameterDefaults
from paddle_jax.nn.initializer import Constant, Normal, TruncatedNormal, Uniform, XavierUniform
from paddle_jax.nn.initializer.random import MSRAInitializer, XavierInitializer
from paddle_jax.optimizer import SGD, Adagrad, Adam
from paddle_jax.regularizer import L2Decay


def rule_of(optimizer: Any, param: Any = None) -> dict[str, Any]:
    """The update rule of an optimizer for a Parameter.

    Args:
        optimizer: SGD, Adagrad or Adam.
        param: Parameter whose factor of the learning rate and decay count. Default None: 1 and the
            optimizer's.
    Raises:
        ValueError: servers do not have its rule. NotImplementedError: it clips gradients.
    """
    if getattr(optimizer, "_grad_clip", None) is not None:
        raise NotImplementedError(
            f"fleet.distributed_optimizer: {type(optimizer).__name__}: grad_clip: got "
            f"{type(optimizer._grad_clip).__name__}; servers update rows without knowing the others; "
            "leave it out"
        )
    rule = _rule(optimizer)
    rule["factor"] = float(getattr(param, "optimize_attr", {"learning_rate": 1.0})["learning_rate"])
    rule["decay"] = _decay(optimizer, param)
    return rule


def attribute_facts(attr: Any) -> Any:
    """What servers need of a ParamAttr, as a Parameter has it."""
    return SimpleNamespace(optimize_attr={"learning_rate": attr.learning_rate}, regularizer=attr.regularizer)


def _rule(optimizer: Any) -> dict[str, Any]:
    kind = type(optimizer)
    # The exact class: a subclass may have a rule that servers do not carry out.
    if kind is SGD:
        return {"name": "sgd"}
    if kind is Adagrad:
        initial = float(optimizer.initial_accumulator_value)
        return {"name": "adagrad", "epsilon": float(optimizer._epsilon), "initial": initial}
    if kind is Adam and not optimizer._amsgrad:
        return {"name": "adam"} | {
            name: float(getattr(optimizer, "_" + name)) for name in ("beta1", "beta2", "epsilon")
        }
    raise ValueError(
        f"fleet.distributed_optimizer: optimizer: got {kind.__name__}; parameter servers have SGD, Adagrad "
        "and Adam without amsgrad"
    )


def _decay(optimizer: Any, param: Any) -> float:
    own = getattr(param, "regularizer", None)
    decay = own if own is not None else optimizer.regularization
    if decay is None:
        return 0.0
    if not isinstance(decay, L2Decay):
        raise ValueError(
            f"fleet.distributed_optimizer: weight_decay: got {type(decay).__name__}; parameter servers have "
            "L2Decay"
        )
    return float(decay._coeff)


def first_of(initializer: Any, shape: list[int]) -> dict[str, Any]:
    """How rows of a table begin, for `first_values`.

    Args:
        initializer: Initializer, or None for the one that Parameters begin with.
        shape: of the whole table.
    Raises:
        ValueError: its values do not come row by row.
    """
    # As for the weights of Layers: the global default, else Xavier.
    initializer = initializer or ParameterDefaults.weight or XavierUniform()
    if isinstance(initializer, Constant):
        number = initializer._value
        return {"kind": "constant", "value": float(number)}
    if isinstance(initializer, Uniform):
        return {"kind": "uniform", "low": float(initializer._low), "high": float(initializer._high)}
    if isinstance(initializer, Normal):
        return {"kind": "normal", "mean": float(initializer._mean), "std": float(initializer._std_dev)}
    if isinstance(initializer, TruncatedNormal) and initializer._std_dev > 0:
        values = [initializer._mean, initializer._std_dev, initializer._a, initializer._b]
        named = dict(zip(("mean", "std", "a", "b"), map(float, values), strict=True))
        return {"kind": "truncated_normal"} | named
    if isinstance(initializer, XavierInitializer | MSRAInitializer):
        std = initializer._scale(tuple(shape))
        if initializer._uniform:
            # A uniform distribution of this bound has the standard deviation.
            bound = 3.0**0.5 * std
            return {"kind": "uniform", "low": -bound, "high": bound}
        return {"kind": "normal", "mean": 0.0, "std": std}
    raise ValueError(
        f"sparse table: initializer: got {type(initializer).__name__}; rows of parameter servers begin with "
        "Constant, Uniform, Normal, TruncatedNormal, Xavier or Kaiming values"
    )
