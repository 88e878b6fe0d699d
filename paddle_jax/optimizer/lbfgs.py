"""L-BFGS: a quasi-Newton method that evaluates the loss itself, several times per step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.optimizer.helpers import require_parameters
from paddle_jax.optimizer.line_search import Point, strong_wolfe
from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    from paddle_jax._annotations import GradClip, LearningRate, ParameterGroups, StateDict, WeightDecay


_FIRST_ROWS = 8
_FIRST_ELEMENTS = 1 << 21  # of the history; it grows while there are more


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
        _history: dict of arrays, the last steps and changes of the gradient as rings; None before the
            first.
        _known: int, how many were added in all.
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
        self._history = None
        self._known = 0
        self._past = {"func_evals": 0, "n_iter": 0}

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
            values = [(p, p._value) for p in self._trainable()]
            try:
                point, used, last = self._iterate(closure, point, iteration)
            except BaseException:
                # The iteration has not ended: its state was not taken over, so the parameters go back, too.
                if self._past is before:
                    for param, value in values:
                        param._rebind(value)
                raise
            evaluations += used
            if last or evaluations >= self.max_eval:
                break
        return first_loss

    def _iterate(
        self, closure: Callable[[], Tensor], start: Point, iteration: int
    ) -> tuple[Point, int, bool]:
        """One iteration from a Point: the Point reached, the evaluations used, and whether it is the last
        one. The state changes point its end."""
        past = self._past | {"n_iter": self._past["n_iter"] + 1}
        new, (direction, slope, reach) = self._direction(start.grad, past)
        rate = self.get_lr()
        # Without a history the gradient says nothing about the length of a step, so the first one is short.
        if past["n_iter"] == 1:
            rate *= min(1.0, 1.0 / float(jnp.abs(start.grad).sum()))
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
        self.__dict__.update(new, _past=past)  # in one step
        return point, used, last

    def _move(
        self,
        closure: Callable[[], Tensor],
        start: Point,
        direction: jax.Array,
        rate: float,
        reach: float,
        iteration: int,
    ) -> tuple[Point, int]:
        """Changes the parameters along the direction: the Point reached, and the evaluations used."""
        values = [p._value for p in self._trainable()]

        # From the start each time, so that rounding does not add up.
        def go(length: float) -> None:
            for param, value in zip(self._trainable(), _shifted(values, direction, length), strict=True):
                param._rebind(value)

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

    def _current_point(self, length: float, loss: float, direction: jax.Array | None) -> Point:
        """The Point where the parameters are, after the closure has run."""
        parts = [
            p._grad._value if p._grad is not None else jnp.zeros_like(p._value) for p in self._trainable()
        ]
        grad, numbers = _measured(parts, direction)
        # One transfer to the host for both numbers.
        slope, largest = map(float, np.asarray(numbers))
        return Point(length, loss, grad, slope, largest)

    def _direction(
        self, grad: jax.Array, past: dict[str, Any]
    ) -> tuple[dict[str, Any], tuple[Any, float, float]]:
        """The attributes that change as the last change of the gradient is taken into the model; the step
        with its slope and largest element."""
        history = self._history
        if past["n_iter"] == 1:
            # The history may be larger than all parameters, so it starts small.
            room = _room(grad, min(self.history_size, max(_FIRST_ROWS, _FIRST_ELEMENTS // max(grad.size, 1))))
            return (
                {"_history": room, "_known": 0},
                (-grad, -float(jnp.vdot(grad, grad)), float(jnp.abs(grad).max())),
            )
        # room for twice as many: each size compiles once
        if self._known == len(history["s"]) < self.history_size:
            more = min(len(history["s"]), self.history_size - len(history["s"]))
            history = {
                key: jnp.pad(value, ((0, more), *[(0, 0)] * (value.ndim - 1))) if value.ndim else value
                for key, value in history.items()
            }
        history, direction, numbers = _turned(history, grad, past["prev_flat_grad"], past["d"], past["alpha"])
        slope, reach, known = map(float, np.asarray(numbers))
        return {"_history": history, "_known": int(known)}, (direction, slope, reach)

    def state_dict(self) -> StateDict:
        """Returns the state under the key `state`: counts, the last gradient and direction,
        and the history."""
        state = {
            key: wrap(value) if isinstance(value, jax.Array) else value for key, value in self._past.items()
        }
        if self._history is not None:
            history = self._history
            rows = len(self._history["s"])
            # The rows are a ring, in which the oldest lies behind the newest.
            oldest_first = [i % rows for i in range(max(0, self._known - rows), self._known)]
            state |= {
                "old_sk": [wrap(history["s"][i]) for i in oldest_first],
                "old_yk": [wrap(history["y"][i]) for i in oldest_first],
            }
            state |= {
                "H_diag": wrap(jnp.array(history["scale"])),
                "ro": [wrap(history["ro"][i]) for i in oldest_first],
            }
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
            self._known = 0
            return
        # No more pairs than this optimizer keeps.
        pairs = list(zip(state["old_sk"], state["old_yk"], strict=True))[-self.history_size :]
        self._known = len(pairs)
        self._history = _room(state["d"], min(max(_FIRST_ROWS, self._known), self.history_size))
        for i, pair in enumerate(pairs):
            s, y = (jnp.asarray(np.asarray(part)) for part in pair)
            # 1 / <s, y> is computed from the pair, whatever the file says.
            for key, value in (("s", s), ("y", y), ("ro", 1.0 / jnp.vdot(s, y))):
                self._history[key] = self._history[key].at[i].set(value)
        self._history |= {"count": jnp.asarray(self._known), "scale": jnp.array(state["H_diag"])}
        names = ("func_evals", "n_iter", "d", "alpha", "prev_flat_grad", "prev_loss")
        self._past = {key: state[key] for key in names}

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


def _room(like: jax.Array, rows: int) -> dict[str, jax.Array]:
    """An empty history: steps `s`, changes of the gradient `y` and 1 / <s, y> `ro`, the oldest overwritten
    first; how many there were; the scale."""
    dtype = like.dtype
    return {
        "s": jnp.zeros((rows, like.size), dtype),
        "y": jnp.zeros((rows, like.size), dtype),
        "ro": jnp.zeros(rows, dtype),
        "count": jnp.asarray(0),
        "scale": jnp.ones((), dtype),
    }


@jax.jit
def _shifted(values: Sequence[jax.Array], direction: jax.Array, length: Any) -> list[jax.Array]:
    """The parameters, moved along the direction."""
    ends = np.cumsum([v.size for v in values])
    parts = jnp.split(direction, ends[:-1])
    return [
        (v + length * part.reshape(v.shape)).astype(v.dtype) for v, part in zip(values, parts, strict=True)
    ]


@jax.jit
def _measured(parts: Sequence[jax.Array], direction: jax.Array | None) -> tuple[jax.Array, jax.Array]:
    """The gradient as one vector, and its slope along the direction and its largest element."""
    grad = jnp.concatenate([part.ravel() for part in parts])
    if direction is None:
        slope = jnp.zeros((), grad.dtype)
    else:
        slope = jnp.vdot(grad, direction)
    return grad, jnp.stack([slope, jnp.abs(grad).max(initial=0)])


@jax.jit  # the history before stays, for when the iteration does not come to its end
def _turned(
    history: dict[str, Any], grad: jax.Array, before: jax.Array, direction: jax.Array, rate: Any
) -> tuple[dict[str, Any], jax.Array, jax.Array]:
    """Puts the last step into the history: (history, minus the inverse Hessian times the gradient, its slope,
    largest element and the count)."""
    change = grad - before
    moved = direction * rate
    curvature = jnp.vdot(change, moved)
    # A ring: the newest pair replaces the oldest.
    rows = len(history["s"])
    # Only pairs with <s, y> > 0 keep the model positive definite.
    accepted = curvature > 1e-10
    row = history["count"] % rows
    entries = {"s": moved, "y": change, "ro": 1.0 / curvature}
    history = history | {
        key: history[key].at[row].set(jnp.where(accepted, new, history[key][row]))
        for key, new in entries.items()
    }
    history["count"] = history["count"] + accepted
    # The first guess of the inverse Hessian is <s, y> / <y, y> times the identity.
    history["scale"] = jnp.where(accepted, curvature / jnp.vdot(change, change), history["scale"])
    direction = _two_loops(grad, history)
    return (
        history,
        direction,
        jnp.stack(
            [
                jnp.vdot(grad, direction),
                jnp.abs(direction).max(initial=0),
                history["count"].astype(grad.dtype),
            ]
        ),
    )


def _two_loops(grad: jax.Array, history: dict[str, Any]) -> jax.Array:
    """Minus the inverse Hessian times the gradient, by the two-loop recursion over the history."""
    s, y, ro, count, scale = (history[key] for key in ("s", "y", "ro", "count", "scale"))
    # The ring may not be full yet.
    pairs = jnp.minimum(count, len(s))

    def back(k: Any, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        q, alphas = carry
        # From the newest pair to the oldest; the second loop goes the other way.
        i = (count - 1 - k) % len(s)
        alpha = ro[i] * jnp.vdot(s[i], q)
        return q - alpha * y[i], alphas.at[i].set(alpha)

    q, alphas = lax.fori_loop(0, pairs, back, (-grad, jnp.zeros(len(s), grad.dtype)))

    def forward(k: Any, r: jax.Array) -> jax.Array:
        i = (count - pairs + k) % len(s)
        return r + s[i] * (alphas[i] - ro[i] * jnp.vdot(y[i], r))

    return lax.fori_loop(0, pairs, forward, q * scale)
