"""L-BFGS: a quasi-Newton method that evaluates the loss itself, several times per step."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import jax
import numpy as np

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.tensors.held_values import numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.optimizer.helpers import require_parameters
from paddle_jax.optimizer.lbfgs_vectors import DeviceVectors, HostVectors, Vectors, are_on_host
from paddle_jax.optimizer.line_search import Point, strong_wolfe
from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    from paddle_jax._annotations import GradClip, LearningRate, ParameterGroups, StateDict, WeightDecay


class LBFGS(Optimizer):
    """Minimises a loss with an approximation of its second derivatives, made of the last gradients.

    Args:
        learning_rate: float or LRScheduler, length of the step; with a line search, of the first one
            tried. Default 1.0.
        max_iter: int, iterations per call of `step`. Default 20.
        max_eval: int, evaluations of the loss per call. Default None: `max_iter * 5 // 4`.
        tolerance_grad: float, stops when no element of the gradient is larger. Default 1e-7.
        tolerance_change: float, stops when loss or parameters change less. Default 1e-9.
        history_size: int, gradients that are kept. Default 100.
        line_search_fn: 'strong_wolfe' or None. Default None: no search.
        parameters: list of Parameters.
        weight_decay: has no effect, as in Paddle; another value than None gives a warning. Default None.
        grad_clip: has no effect, as in Paddle; another value than None gives a warning. Default None.
        name: accepted. Default None.
    Attributes:
        max_iter, tolerance_grad, tolerance_change, history_size, line_search_fn: as given.
        max_eval: int, how often a step may call the closure; by default max_iter * 5 // 4.
        _vectors: the functions that compute with vectors, for the device of the parameters.
        _history: dict, the last steps and changes of the gradient; None before the first.
        _past: dict, what earlier steps leave for the next: counts of iterations and evaluations among
            others.
    Example:
        >>> weight = paddle.nn.Linear(1, 1).weight
        >>> optimizer = paddle.optimizer.LBFGS(parameters=[weight], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.clear_grad()
        ...     loss = ((weight - 3) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> first = optimizer.step(closure)
        >>> round(weight.item(), 4)
        3.0
    See: Nocedal and Wright, "Numerical Optimization", 2nd edition, algorithm 7.4.
    """

    type = "lbfgs"

    def __init__(
        self,
        learning_rate: LearningRate = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: Literal["strong_wolfe"] | None = None,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
    ) -> None:
        if weight_decay is not None or grad_clip is not None:
            warnings.warn(
                "LBFGS: weight_decay: weight_decay and grad_clip have no effect, as in Paddle; "
                "put them into the loss.",
                stacklevel=2,
            )
        super().__init__(
            float(learning_rate) if isinstance(learning_rate, int) else learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
        )
        self.max_iter = max_iter
        if max_eval is None:
            # Paddle's and torch's limit, since the line search evaluates several times.
            self.max_eval = max_iter * 5 // 4
        else:
            self.max_eval: int = max_eval
        self.tolerance_grad = tolerance_grad
        self.tolerance_change = tolerance_change
        self.history_size = history_size
        self.line_search_fn = line_search_fn
        self._vectors: Vectors = HostVectors
        self._history: dict[str, Any] | None = None
        self._past: dict[str, Any] = {"func_evals": 0, "n_iter": 0}

    def step(self, closure: Callable[[], Tensor]) -> Tensor:
        """Runs up to `max_iter` iterations.

        Args:
            closure: callable without arguments: clears the gradients, computes the loss, calls `backward`,
                returns the loss.
        Returns:
            The loss before the first_loss iteration, a Tensor.
        Raises:
            RuntimeError: `line_search_fn` is not known.
            IndexError: the optimizer has no parameters.

        An exception, of the closure or from outside, leaves parameters and state as the last complete
        iteration has left them.
        """
        if self.line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError(
                f"LBFGS: line_search_fn: got {self.line_search_fn!r}; use 'strong_wolfe' or None."
            )
        require_parameters("LBFGS", self._groups)
        first_loss = closure()
        if not self._trainable():  # all are frozen
            return first_loss
        self._choose_vectors()
        # The loss and gradient of the place where the step begins.
        point = self._current_point(0.0, float(first_loss), None)
        # The attribute is replaced as a whole, so that an interrupt leaves the old state.
        self._past = self._past | {"func_evals": self._past["func_evals"] + 1}
        evaluations = 1
        iteration = 0
        while iteration < self.max_iter and point.largest > self.tolerance_grad:
            iteration += 1
            before = self._past
            # Values, as the parameters change during the iteration.
            values = [(p, self._vectors.value(p)) for p in self._trainable()]
            try:
                point, used, last = self._iterate(closure, point, iteration)
            except BaseException:
                # The iteration has not ended: its state was not taken over, so the parameters go back, too.
                if self._past is before:
                    for param, value in values:
                        param._rebind(self._vectors.stored(value))
                raise
            evaluations += used
            if last or evaluations >= self.max_eval:
                break
        return first_loss

    def _choose_vectors(self) -> None:
        """Takes the functions for where the parameters are; the history moves there, too."""
        chosen = HostVectors if are_on_host(self._trainable()) else DeviceVectors
        if chosen is not self._vectors:
            state = self.state_dict()
            self._vectors = chosen
            self.set_state_dict(state)

    def _iterate(
        self, closure: Callable[[], Tensor], start: Point, iteration: int
    ) -> tuple[Point, int, bool]:
        """One iteration from a Point: the Point reached, the evaluations used, and whether it is the last
        one. The state changes point its end."""
        past = self._past | {"n_iter": self._past["n_iter"] + 1}
        rate = self.get_lr()
        history = self._history
        if history is None:
            history = self._vectors.room(start.grad, self.history_size)
            direction, slope, reach, total = self._vectors.beginning(start.grad)
            # Without a history the gradient says nothing about the length of a step, so the first one is
            # short.
            rate *= min(1.0, 1.0 / total)
        else:
            history, direction, slope, reach = self._vectors.turned(
                history, start.grad, past["prev_flat_grad"], past["d"], past["alpha"]
            )
        past |= {"prev_flat_grad": start.grad, "prev_loss": start.loss, "d": direction, "alpha": rate}
        point = start
        used = 0
        # The direction no longer leads down.
        last = slope > -self.tolerance_change
        if not last:
            point, used = self._move(
                closure,
                Point(0.0, start.loss, start.grad, slope, start.largest),
                direction,
                rate,
                reach,
                iteration,
            )
            past |= {"alpha": point.length, "func_evals": past["func_evals"] + used}
            # Neither the place nor the loss changes any more.
            last = (
                point.length * reach <= self.tolerance_change
                or abs(point.loss - start.loss) < self.tolerance_change
            )
        self.__dict__.update(_history=history, _past=past)  # in one step
        return point, used, last

    def _move(
        self,
        closure: Callable[[], Tensor],
        start: Point,
        direction: Any,
        rate: float,
        reach: float,
        iteration: int,
    ) -> tuple[Point, int]:
        """Changes the parameters along the direction: the Point reached, and the evaluations used."""
        vectors = self._vectors
        values = list(map(vectors.value, self._trainable()))

        # From the start each time, so that rounding does not add up.
        def go(length: float) -> None:
            moved = vectors.shifted(values, direction, length)
            for param, value in zip(self._trainable(), moved, strict=True):
                param._rebind(vectors.stored(value))

        def evaluate_at(length: float) -> Point:
            go(length)
            return self._current_point(length, float(closure()), direction)

        if self.line_search_fn is None:
            if iteration == self.max_iter:  # the loss after the last iteration is not needed
                go(rate)
                return Point(rate, start.loss, start.grad, start.slope, start.largest), 0
            return evaluate_at(rate), 1
        point, used = strong_wolfe(evaluate_at, rate, start, reach, self.tolerance_change)
        # The search may have ended at another place than its best one.
        go(point.length)
        return point, used

    def _trainable(self) -> list[Tensor]:
        # Frozen parameters have no part in the vector.
        return [p for p in self._all_params() if not p.stop_gradient]

    def _current_point(self, length: float, loss: float, direction: Any) -> Point:
        """The Point where the parameters are, after the closure has run."""
        parts = []
        for param in self._trainable():
            if param._grad is None:
                parts.append(np.zeros(plain_shape(param), numpy_dtype(param)))
            else:
                parts.append(self._vectors.value(param._grad))
        grad, slope, largest = self._vectors.measured(parts, direction)
        return Point(length, loss, grad, slope, largest)

    def state_dict(self) -> StateDict:
        """Returns the state under the key `state`: counts, the last gradient and direction,
        and the history."""
        state = {key: _as_tensor(value) for key, value in self._past.items()}
        if self._history is not None:
            history = self._history
            rows = len(history["s"])
            count = int(history["count"])
            # The rows are a ring, in which the oldest lies behind the newest.
            oldest_first = [i % rows for i in range(max(0, count - rows), count)]
            names = {"old_sk": "s", "old_yk": "y", "ro": "ro"}
            state |= {
                name: [_as_tensor(history[key][i]) for i in oldest_first] for name, key in names.items()
            }
            state["H_diag"] = _as_tensor(history["scale"])
        # Before the first step there is nothing to save, as in Paddle.
        if not self._past["n_iter"]:
            state = {}
        return {"state": state}

    def set_state_dict(self, state_dict: StateDict) -> None:
        """Takes over a state made by `state_dict()`. What it does not have stays as it is."""
        require_dict("set_state_dict", state_dict)
        if "state" not in state_dict:
            return
        state = {
            key: value._value if isinstance(value, Tensor) else value
            for key, value in state_dict["state"].items()
        }
        if not state:
            self._past = {"func_evals": 0, "n_iter": 0}
            self._history = None
            return
        # No more pairs than this optimizer keeps.
        pairs = list(zip(state["old_sk"], state["old_yk"], strict=True))[-self.history_size :]
        names = ("func_evals", "n_iter", "d", "alpha", "prev_flat_grad", "prev_loss")
        past = {key: state[key] for key in names}
        past |= {key: self._vectors.vector(past[key]) for key in ("d", "prev_flat_grad")}
        self._history = self._vectors.filled(pairs, state["H_diag"], past["d"], self.history_size)
        self._past = past

    load_state_dict = set_state_dict

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: ParameterGroups | None = None,
        no_grad_set: Any = None,
    ) -> NoReturn:
        """Not available: L-BFGS has to evaluate the loss itself; use `step(closure)`."""
        raise NotImplementedError(
            "LBFGS: minimize: the loss has to be evaluated several times; use step(closure)."
        )


def _as_tensor(value: Any) -> Any:
    """An array of the state as a Tensor; anything else as it is."""
    if isinstance(value, jax.Array):
        return wrap(value)
    if isinstance(value, np.ndarray | np.generic):
        return wrap(persistent_from_numpy(np.array(value)))
    return value
