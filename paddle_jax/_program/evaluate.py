"""Running the operations of a Program on arrays: inside a trace, or at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.error_translation import cause_for, translate
from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.kernel_gradients import linearize, pull_back
from paddle_jax._core.kernels.reverse import accumulate, add_cotangent
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tape.grad_mode import enable_grad
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.operation import Operation
from paddle_jax._program.shape_inference import is_shape, of_shape
from paddle_jax.autograd import grad as tape_grad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paddle_jax._core.lazy.symbol import Symbol
    from paddle_jax._program.program import Program

_SMALL = 64  # elements of integers that are computed on the host, if they depend on shapes alone


def evaluate(ops: Sequence[Operation], env: dict[Symbol, Any], repeats: bool = True) -> None:
    """Runs operations in order; `env` maps Symbols to arrays and gets the results.

    Gradients use the forward results of the same run. With `repeats` they compute the segments between their
    checkpoints again.
    """
    # An operation whose shape depends on values keeps all of them outside of a trace.
    host = any(op.host for op in ops)
    # Outside of a trace `env` holds every result anyway.
    repeats = repeats and not host
    # A Gradient reuses the forward results, so its operations are linearized when they run, not a second
    # time.
    taped = {op for gradient in ops if isinstance(gradient, Gradient) for op in gradient.kept_region(repeats)}
    pulls = {}
    for op in ops:
        # The gradient of a gradient takes the first one for an operation like others, see
        # `Gradient._alone`.
        if isinstance(op, Gradient) and op not in taped:
            op.pull(env, pulls, repeats)
        elif op in taped:
            pulls[op] = _taped(op, env, host)
        else:
            _store(op, _call(op, operands(op, env), host), env)


def operands(op: Operation, env: dict[Symbol, Any]) -> list[Any]:
    """The arrays of an operation's inputs; where gradients end, they end for JAX's derivatives too (loops,
    derivatives of derivatives)."""
    found = []
    for symbol, stop in zip(op.inputs, op.stops, strict=True):
        value = value_of(symbol, env)
        # Whole numbers have no gradient to end, and arrays outside of a trace no derivative.
        cut = stop and isinstance(value, jax.core.Tracer) and value.dtype.kind in INEXACT
        if cut:
            value = jax.lax.stop_gradient(value)
        found.append(value)
    return found


def value_of(symbol: Symbol, env: dict[Symbol, Any]) -> Any:
    """The array of a Symbol: one that has been computed, or a constant."""
    if symbol in env:
        return env[symbol]
    if symbol.kind != "constant":
        raise RuntimeError(
            f"{symbol!r} was made in another program, or in a branch or a loop of it; "
            "pass it on as a result, or build it again"
        )
    return to_array(symbol.value)


def _call(op: Operation, values: Sequence[Any], host: bool = False) -> Any:
    try:
        # A shape is known also inside a trace. As a NumPy array it may serve as a length of a later
        # operation.
        if is_shape(op.kernel):
            return of_shape(op.kernel, np.shape(values[0]))
        if (
            not host
            and values
            and all(
                not isinstance(v, jax.core.Tracer) and v.dtype.kind in "iub" and v.size <= _SMALL
                for v in values
            )
        ):
            with (
                eager_evaluation()
            ):  # integers that depend on shapes alone stay on the host: they may be lengths
                return jax.tree.map(np.asarray, op.kernel.fn(*map(jnp.asarray, values)))
        # Outside of a trace the others are compiled one by one; the operation on the host runs as plain
        # code on values.
        if host and not op.host:
            return op.kernel.run(*values)
        return op.kernel.fn(*values)
    except Exception as error:
        # The cause keeps the user's traceback short: JAX's own frames are hidden unless asked for.
        raise (
            found := translate(op.name, [v for v in values if hasattr(v, "dtype")], error, op.kernel)
        ) from cause_for(found, error)


def _store(op: Operation, out: Any, env: dict[Symbol, Any]) -> None:
    for symbol, value in zip(op.outputs, op.results_of(out), strict=True):
        env[symbol] = value


def _taped(
    op: Operation, env: dict[Symbol, Any], host: bool
) -> tuple[tuple[int, ...], Callable[..., Sequence[Any]]] | None:
    """Runs an operation so that its gradient can be taken: (positions of inputs, function that gives their
    gradients), or None."""
    values = operands(op, env)
    # No derivative at all, or none with respect to whole numbers and where gradients end.
    if op.kernel.nondiff:
        diff = ()
    else:
        diff = tuple([i for i, s in enumerate(op.inputs) if not op.stops[i] and s.dtype.kind in INEXACT])
    if not diff:
        _store(op, _call(op, values, host), env)
        return None
    if op.host:
        return _taped_on_host(op, values, diff, env)
    for i in diff:
        values[i] = jnp.asarray(values[i])
    out, pull = linearize(op.kernel, diff, values)
    _store(op, out, env)

    # Results that nothing was derived by have no cotangent, and `pull_back` fills in zeros where JAX wants
    # them.
    def back(cts: Sequence[Any]) -> Sequence[Any]:
        found = pull_back(
            out, pull, tuple([ct is not None for ct in cts]), [ct for ct in cts if ct is not None]
        )
        if len(diff) > 1:
            return found
        return (found,)

    return diff, back


def _taped_on_host(
    op: Operation, values: Sequence[Any], diff: tuple[int, ...], env: dict[Symbol, Any]
) -> tuple[tuple[int, ...], Callable[..., Sequence[Any]]]:
    """As `_taped` for an operation that needs values: by the tape of eager operations."""
    tensors = [wrap(jnp.asarray(v), i not in diff) for i, v in enumerate(values)]
    # A composite has code for Tensors, which leaves its own operations on the tape.
    fn = getattr(op.kernel.fn, "on_tensors", None)
    with enable_grad():
        if fn is None:
            out = run(op.kernel, tensors)
        else:
            out = fn(tensors)
    results = op.results_of(out)
    for symbol, result in zip(op.outputs, results, strict=True):
        env[symbol] = computed_array(result)

    # Only pairs of a result on the tape and a cotangent can be pulled back.
    def pull(cts: Sequence[Any]) -> list[Any]:
        starts = [None if c is None else wrap(c) for c in cts]
        pairs = [
            (t, c) for t, c in zip(results, starts, strict=True) if c is not None and not t.stop_gradient
        ]
        wanted = [tensors[i] for i in diff]
        if pairs:
            got = tape_grad(
                [t for t, _ in pairs], wanted, [c for _, c in pairs], allow_unused=True, retain_graph=True
            )
        else:
            got = [None] * len(diff)
        return [None if g is None else computed_array(g) for g in got]

    return diff, pull


class Gradient(Operation):
    """Derivatives of some Symbols by others.

    Attributes:
        region: list of the Operations between them, in order.
        targets: list of the Symbols that are derived.
        starts: list of the Symbols of the gradients to start from, None for ones.
        wanted: list of the Symbols to derive by.
        outside: list of the Symbols that the region takes from elsewhere.
        ends: set of the Symbols that gradients do not pass.
        segments: list of the parts of the region that end at checkpoints, in order. What is between their
            ends is computed again for the derivatives; the rest of the region comes after them.
    """

    __slots__ = ("ends", "outside", "region", "segments", "starts", "targets", "wanted")

    def __init__(
        self,
        region: Sequence[Operation],
        targets: Sequence[Symbol],
        starts: Sequence[Symbol | None],
        wanted: Sequence[Symbol],
        ends: set[Symbol],
        scope: str = "",
        segments: Sequence[Sequence[Operation]] = (),
    ) -> None:
        self.region = region
        self.segments = segments
        self.targets = targets
        self.starts = starts
        self.wanted = wanted
        self.ends = ends
        made = {o for op in region for o in op.outputs}
        # Operands that the region takes from elsewhere. A constant is at hand anyhow.
        self.outside = [
            s
            for s in dict.fromkeys([*[i for op in region for i in op.inputs], *wanted])
            if s not in made and s.kind != "constant"
        ]
        # The targets are operands although they are computed again: pruning then keeps the operations that
        # make them.
        inputs = [*self.outside, *[s for s in starts if s is not None], *targets]
        super().__init__(Kernel("gradients", self._alone), inputs, (False,) * len(inputs), tuple, scope)

    def _alone(self, *values: Any) -> tuple[Any, ...]:
        """The derivatives as a function of the inputs alone, for derivatives of derivatives."""
        env = dict(zip(self.inputs, values, strict=True))
        # The region computes the targets. A target that comes from outside is put back in the next step.
        for target in self.targets:
            env.pop(target, None)
        env.update(zip(self.outside, values, strict=False))
        # Derivatives of these derivatives keep everything.
        evaluate([*self.region, self], env, repeats=False)
        return tuple([env[o] for o in self.outputs])

    def kept_region(self, repeats: bool) -> Sequence[Operation]:
        """The operations whose intermediate results are kept. repeats: whether segments are repeated."""
        if not repeats:
            return self.region
        return self.region[sum(map(len, self.segments)) :]

    def pull(self, env: dict[Symbol, Any], pulls: dict[Operation, Any], repeats: bool = False) -> None:
        """Computes the derivatives into `env` from what the region left.

        Args:
            env: the array of each Symbol.
            pulls: what `_taped` gave for each operation.
            repeats: whether segments are computed again.
        """
        cts = {}
        for target, start in zip(self.targets, self.starts, strict=True):
            value = value_of(target, env)
            if start is None:
                given = jnp.ones_like(value)
            else:
                given = jnp.reshape(jnp.asarray(value_of(start, env)), value.shape)
            add_cotangent(cts, target, given)
        # Backwards over the region, from what each operation has left.
        accumulate(self._steps(self.kept_region(repeats), pulls), cts)
        for segment in reversed(self.segments if repeats else ()):
            accumulate(self._steps(segment, _repeated(segment, env, cts)), cts)
        for symbol, out in zip(self.wanted, self.outputs, strict=True):
            # What the targets do not depend on has a gradient of zeros.
            if symbol in cts:
                env[out] = cts[symbol]
            else:
                env[out] = jnp.zeros(np.shape(env[symbol]), symbol.dtype)

    def _steps(self, ops: Sequence[Operation], pulls: dict[Operation, Any]) -> list[tuple[Any, Any, Any]]:
        """The steps of `accumulate` over operations."""
        steps = []
        for op in ops:
            # None was left where no gradient flows.
            if pulls.get(op) is not None:
                diff, back = pulls[op]
                # Gradients do not pass the Symbols of `no_grad_set`, nor their sources.
                passing = [None if op.inputs[i] in self.ends else op.inputs[i] for i in diff]
                steps.append((op.outputs, passing, back))
        return steps


def _repeated(
    segment: Sequence[Operation], env: dict[Symbol, Any], cts: dict[Symbol, Any]
) -> dict[Operation, Any]:
    """Computes a segment again once its cotangents are known; returns what `_taped` gave for each operation.

    XLA merges equal computations, and would keep the results of the forward pass. A barrier prevents that.
    """
    made = {symbol for op in segment for symbol in op.outputs}
    arriving = [symbol for symbol in cts if symbol in made]
    taken = [s for s in dict.fromkeys(s for op in segment for s in op.inputs) if s in env and s not in made]
    # Lengths and other numbers of the host are no part of the compiled program.
    traced = [s for s in taken if isinstance(env[s], jax.core.Tracer)]
    operands, cotangents = jax.lax.optimization_barrier(
        ([env[s] for s in traced], [cts[s] for s in arriving])
    )
    cts.update(zip(arriving, cotangents, strict=True))
    again = {s: env[s] for s in taken} | dict(zip(traced, operands, strict=True))
    return {op: _taped(op, again, False) for op in segment}


def random_values(program: Program, words: Any, offset: Any, symbols: Iterable[Symbol]) -> dict[Symbol, Any]:
    """{Symbol: value} of the random operands among some Symbols."""
    found = {}
    for symbol in symbols:
        if symbol.kind != "random":
            continue
        # One Symbol stands for the seed, the others for the numbers of draws.
        if symbol.value is None:
            found[symbol] = words
        else:
            found[symbol] = offset + np.uint32(symbol.value)
    return found


def symbols_of(ops: Iterable[Operation]) -> list[Symbol]:
    """All Symbols that operations take in, each once, in order."""
    return list(dict.fromkeys(s for op in ops for s in op.inputs))


__all__ = ["Gradient", "evaluate", "operands", "random_values", "symbols_of", "value_of"]
