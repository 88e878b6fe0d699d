"""L-BFGS: a quasi-Newton method that evaluates the loss itself, several times per step."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.tensor import Tensor, wrap
from paddle_jax.optimizer.line_search import strong_wolfe
from paddle_jax.optimizer.optimizer import Optimizer

_FIRST_ROWS = 8


class LBFGS(Optimizer):
    """Minimises a loss with an approximation of its second derivatives, made of the last gradients.

    Args:
        learning_rate: float or LRScheduler, length of the step; with a line search, of the first one tried. Default 1.0.
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
        learning_rate=1.0,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name=None,
    ):
        if weight_decay is not None or grad_clip is not None:
            warnings.warn("LBFGS: weight_decay: weight_decay and grad_clip have no effect, as in Paddle; put them into the loss.", stacklevel=2)
        super().__init__(float(learning_rate) if isinstance(learning_rate, int) else learning_rate, parameters, weight_decay, grad_clip, name)
        self.max_iter = max_iter
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad = tolerance_grad
        self.tolerance_change = tolerance_change
        self.history_size = history_size
        self.line_search_fn = line_search_fn
        self._history = None
        self._past = {"func_evals": 0, "n_iter": 0}

    def step(self, closure):
        """Runs up to `max_iter` iterations.

        Args:
            closure: callable without arguments: clears the gradients, computes the loss, calls `backward`, returns the loss.
        Returns:
            The loss before the first iteration, a Tensor.
        Raises:
            RuntimeError: `line_search_fn` is not known.
        """
        if self.line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError(f"LBFGS: line_search_fn: got {self.line_search_fn!r}; use 'strong_wolfe' or None.")
        first = closure()
        loss, grad, past, evaluations = float(first), self._flat_grad(), self._past, 1
        past["func_evals"] += 1
        for iteration in range(1, self.max_iter + 1):
            if _largest(grad) <= self.tolerance_grad:
                break
            past["n_iter"] += 1
            direction = self._direction(grad)
            rate = self.get_lr() * (min(1.0, 1.0 / _length1(grad)) if past["n_iter"] == 1 else 1.0)
            slope = float(_dot(grad, direction))
            past |= {"prev_flat_grad": grad, "prev_loss": loss, "d": direction, "alpha": rate}
            if slope > -self.tolerance_change:
                break
            loss, grad, rate, used = self._move(closure, loss, grad, direction, rate, slope, iteration)
            past["alpha"] = rate
            past["func_evals"] += used
            evaluations += used
            small = rate * _largest(direction) <= self.tolerance_change or abs(loss - past["prev_loss"]) < self.tolerance_change
            if small or evaluations >= self.max_eval:
                break
        return first

    def _move(self, closure, loss, grad, direction, rate, slope, iteration):
        """Changes the parameters along the direction: the new loss, gradient, length of the step, and evaluations used."""
        start = [p._value for p in self._moving()]

        def evaluate(length):
            self._shift(start, direction, length)
            return float(closure()), self._flat_grad()

        if self.line_search_fn is None:
            if iteration == self.max_iter:  # the loss after the last iteration is not needed
                self._shift(start, direction, rate)
                return loss, grad, rate, 0
            return *evaluate(rate), rate, 1
        loss, grad, rate, used = strong_wolfe(evaluate, rate, direction, loss, grad, slope, self.tolerance_change)
        self._shift(start, direction, rate)
        return loss, grad, rate, used

    def _moving(self):
        return [p for p in self._all_params() if not p.stop_gradient]

    def _flat_grad(self):
        parts = [p._grad._value if p._grad is not None else jnp.zeros_like(p._value) for p in self._moving()]
        return jnp.concatenate([part.ravel() for part in parts])

    def _shift(self, start, direction, length):
        place = 0
        for param, value in zip(self._moving(), start, strict=True):
            part = direction[place : place + value.size].reshape(value.shape)
            param._rebind((value + length * part).astype(value.dtype))
            place += value.size

    def _direction(self, grad):
        """The step of the quadratic model; takes the last change of the gradient into it first."""
        past = self._past
        if past["n_iter"] == 1:
            rows = min(_FIRST_ROWS, self.history_size)
            zeros = jnp.zeros((rows, grad.size), grad.dtype)
            self._history = {"s": zeros, "y": zeros, "count": 0, "scale": jnp.ones((), grad.dtype)}
            return -grad
        change, moved = grad - past["prev_flat_grad"], past["d"] * past["alpha"]
        curvature = _dot(change, moved)
        if float(curvature) > 1e-10:
            self._remember(moved, change, curvature / _dot(change, change))
        history = self._history
        return _two_loops(grad, history["s"], history["y"], history["count"], history["scale"])

    def _remember(self, moved, change, scale):
        history = self._history
        count, rows = history["count"], len(history["s"])
        if count == rows < self.history_size:  # room for twice as many: each size compiles once
            more = ((0, min(2 * rows, self.history_size) - rows), (0, 0))
            history["s"], history["y"] = jnp.pad(history["s"], more), jnp.pad(history["y"], more)
        elif count == rows:
            history["s"], history["y"] = jnp.roll(history["s"], -1, axis=0), jnp.roll(history["y"], -1, axis=0)
            count -= 1
        history["s"], history["y"] = history["s"].at[count].set(moved), history["y"].at[count].set(change)
        history["count"], history["scale"] = count + 1, scale

    def state_dict(self):
        """Returns the state under the key `state`: counts, the last gradient and direction, and the history."""
        state = {key: wrap(value) if isinstance(value, jax.Array) else value for key, value in self._past.items()}
        if self._history is not None:
            history = self._history
            pairs = [(wrap(history["s"][i]), wrap(history["y"][i])) for i in range(history["count"])]
            state |= {"old_sk": [s for s, _ in pairs], "old_yk": [y for _, y in pairs], "H_diag": wrap(history["scale"])}
            state["ro"] = [wrap(1.0 / _dot(s._value, y._value)) for s, y in pairs]
        return {"state": state if self._past["n_iter"] else {}}

    def set_state_dict(self, state_dict):
        """Takes over a state made by `state_dict()`."""
        state = {key: value._value if isinstance(value, Tensor) else value for key, value in state_dict["state"].items()}
        if not state:
            self._past, self._history = {"func_evals": 0, "n_iter": 0}, None
            return
        size, count = state["d"].size, len(state["old_sk"])
        rows = min(max(_FIRST_ROWS, count), self.history_size)
        block = np.zeros((2, rows, size), state["d"].dtype)
        for i, pair in enumerate(zip(state["old_sk"], state["old_yk"], strict=True)):
            block[0, i], block[1, i] = (np.asarray(part) for part in pair)
        self._history = {"s": jnp.asarray(block[0]), "y": jnp.asarray(block[1]), "count": count, "scale": jnp.asarray(state["H_diag"])}
        kept = ("func_evals", "n_iter", "d", "alpha", "prev_flat_grad", "prev_loss")
        self._past = {key: state[key] for key in kept}

    load_state_dict = set_state_dict

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        """Not available: L-BFGS has to evaluate the loss itself; use `step(closure)`."""
        raise NotImplementedError("LBFGS: minimize: the loss has to be evaluated several times; use step(closure).")


@jax.jit
def _dot(a, b):
    return jnp.vdot(a, b)


def _largest(vector):
    return float(jnp.abs(vector).max()) if vector.size else 0.0


def _length1(vector):
    return float(jnp.abs(vector).sum())


@jax.jit
def _two_loops(grad, moved, changes, count, scale):
    """Minus the inverse Hessian times the gradient, by the two-loop recursion over the first `count` rows."""
    weights = 1.0 / jnp.sum(moved * changes, axis=1)

    def back(k, carry):
        q, alphas = carry
        i = count - 1 - k
        alpha = weights[i] * jnp.vdot(moved[i], q)
        return q - alpha * changes[i], alphas.at[i].set(alpha)

    q, alphas = lax.fori_loop(0, count, back, (-grad, jnp.zeros(len(moved), grad.dtype)))

    def forward(i, r):
        return r + moved[i] * (alphas[i] - weights[i] * jnp.vdot(changes[i], r))

    return lax.fori_loop(0, count, forward, q * scale)
