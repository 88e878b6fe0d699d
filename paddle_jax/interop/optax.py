"""Any optax transformation as a Paddle optimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.recording import end_step
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.tensors.held_values import assign_from, held_value, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.optimizer.lr.scheduler import LRScheduler
from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    from paddle_jax.optimizer.lr import StepDecay


class OptaxOptimizer(Optimizer):
    """A Paddle optimizer that updates by an optax `GradientTransformation`.

    Args:
        transformation: what an optax function such as `optax.lion(1e-4)` or `optax.chain(...)` returns.
        parameters: list of Parameters.
        learning_rate: None: the transformation contains the learning rate. A float or LRScheduler: the
            transformation gives a direction (such as `optax.scale_by_adam()`), and the parameters move by
            minus the learning rate times it.
    Attributes:
        _transformation: the optax GradientTransformation.
        _scaled: bool, whether its updates are multiplied by the learning rate.
        _params: list of the trained Parameters.
        _state, _names: lists of its state as Tensors, and of their names.
        _tree: structure of the state.
        _kernel: Kernel of one update.
    Raises:
        TypeError: transformation has no `init` and `update`.
    Differs from other optimizers: a parameter without a gradient counts as one with a gradient of zeros;
    `weight_decay` and `grad_clip` are those of the
        transformation.
    Example:
        >>> import optax
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.interop.OptaxOptimizer(optax.lion(0.1), layer.parameters())
        >>> before = layer.bias.item()
        >>> layer(paddle.ones([3, 2])).mean().backward(); optimizer.step(); optimizer.clear_grad()
        >>> round(before - layer.bias.item(), 4)
        0.1
    """

    def __init__(
        self, transformation: Any, parameters: Sequence[Tensor], learning_rate: StepDecay | None = None
    ) -> None:
        if not callable(getattr(transformation, "init", None)) or not callable(
            getattr(transformation, "update", None)
        ):
            raise TypeError(
                f"OptaxOptimizer: transformation: got {type(transformation).__name__}; "
                "pass an optax GradientTransformation"
            )
        # without a learning rate the transformation has its own
        super().__init__(1.0 if learning_rate is None else learning_rate, parameters)
        self._transformation = transformation
        self._scaled = learning_rate is not None
        # The state has their number and shapes, so the list stays what it is.
        self._params = [p for p in self._parameter_list if not p.stop_gradient]
        state = jax.jit(transformation.init)([p._value for p in self._params])
        leaves, self._tree = jax.tree.flatten(state)
        self._state = [wrap(leaf) for leaf in leaves]
        self._names = [
            "optax" + jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(state)
        ]
        self._kernel = Kernel("optax_update", self._updated, nondiff=True)

    def _updated(self, *flat: Any) -> tuple[Any, ...]:
        n = len(self._params)
        lr, params, grads, state = (
            flat[0],
            list(flat[1 : n + 1]),
            list(flat[n + 1 : 2 * n + 1]),
            jax.tree.unflatten(self._tree, flat[2 * n + 1 :]),
        )
        updates, state = self._transformation.update(grads, state, params)
        if self._scaled:
            # The transformation gives a direction to go against, as `optax.scale(-lr)` would.
            updates = jax.tree.map(lambda u: -lr.astype(u.dtype) * u, updates)
        # as optax.apply_updates, which would import optax here
        return (
            *[(p + u).astype(p.dtype) for p, u in zip(params, updates, strict=True)],
            *jax.tree.leaves(state),
        )

    def step(self) -> None:
        """Updates all parameters that were trainable when the optimizer was made."""
        # The kernel takes a gradient for each parameter.
        grads = [wrap(zeros_like(held_value(p))) if p._grad is None else p._grad for p in self._params]
        out = run(self._kernel, [wrap(np.float64(self.get_lr())), *self._params, *grads, *self._state])
        for tensor, new in zip([*self._params, *self._state], out, strict=True):
            assign_from(tensor, new)
        end_step()

    def state_dict(self) -> dict[str, Any]:
        """The state: Tensors under their paths in optax's state, and `LR_Scheduler`."""
        state = {name: tensor.detach() for name, tensor in zip(self._names, self._state, strict=True)}
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Any) -> None:
        """Takes over a state made by `state_dict()`.

        Raises:
            ValueError: a state is missing or has another shape.
        """
        found = []
        for name, tensor in zip(self._names, self._state, strict=True):
            value = state_dict.get(name)
            if value is None or list(np.shape(value)) != list(tensor.shape):
                if value is None:
                    got = "nothing"
                else:
                    got = f"shape {list(np.shape(value))}"
                raise ValueError(
                    f"OptaxOptimizer.set_state_dict: {name}: got {got}; "
                    f"a Tensor of shape {list(tensor.shape)} is needed"
                )
            if isinstance(value, Tensor):
                value = value._value
            found.append(jnp.asarray(value).astype(numpy_dtype(tensor)))
        if isinstance(self._learning_rate, LRScheduler):
            self._learning_rate.set_state_dict(state_dict["LR_Scheduler"])
        # Nothing changes before everything has been found to fit.
        for tensor, value in zip(self._state, found, strict=True):
            tensor._rebind(value)

    load_state_dict = set_state_dict
