"""Computing a part of the forward pass again in the backward pass, instead of keeping its tape."""

from __future__ import annotations

import contextlib
import copy
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.base.state import local, state
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.python_state import tensors_in
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.tape.grad_mode import enable_grad, is_grad_enabled
from paddle_jax._core.tape.node import next_serial
from paddle_jax._core.tensors.held_values import replace_held
from paddle_jax._core.tensors.random import get_rng_state, set_rng_state
from paddle_jax._core.tensors.tensor import Parameter, Tensor, read_raw
from paddle_jax.autograd import PyLayer, backward, grad
from paddle_jax.distributed.fleet.layers.mpu.random import get_rng_state_tracker
from paddle_jax.nn.layer.container import Sequential
from paddle_jax.tensor.creation import zeros

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


_SET_TWICE = "custom_state_manager: got a second function to {} a state; only one can be set"
# A barrier: XLA moves no operation across it.
_WAIT = Kernel("wait_for", lambda *arrays: jax.lax.optimization_barrier(arrays), nondiff=True)
_logger = logging.getLogger("paddle_jax.distributed.fleet")


class CustomStatesManager:
    """Functions for a random state of the program's own, which both runs of a function shall begin with.

    Attributes:
        custom_get_state_func: callable without arguments, which gives the state, or None.
        custom_set_state_func: callable that takes what the other one has given, or None.
    """

    def __init__(self) -> None:
        self.custom_get_state_func: Callable[[], Any] | None = None
        self.custom_set_state_func: Callable[[Any], Any] | None = None

    def set_custom_get_state_func(self, custom_get_state_func: Callable[[], Any]) -> None:
        """Sets the function that gives the state.

        Args:
            custom_get_state_func: callable without arguments.
        Raises:
            AssertionError: there is one already.
        """
        if self.custom_get_state_func is not None:
            raise AssertionError(_SET_TWICE.format("get"))
        self.custom_get_state_func = custom_get_state_func

    def set_custom_set_state_func(self, custom_set_state_func: Callable[[Any], Any]) -> None:
        """Sets the function that puts a state back.

        Args:
            custom_set_state_func: callable of one argument.
        Raises:
            AssertionError: there is one already.
        """
        if self.custom_set_state_func is not None:
            raise AssertionError(_SET_TWICE.format("set"))
        self.custom_set_state_func = custom_set_state_func

    def functions(self) -> tuple[Callable[[], Any] | None, Callable[[Any], Any] | None]:
        """Both functions, or (None, None).

        Raises:
            AssertionError: only one is set.
        """
        if (self.custom_get_state_func is None) != (self.custom_set_state_func is None):
            raise AssertionError(
                "custom_state_manager: got one function; set both, which get and set a state"
            )
        return self.custom_get_state_func, self.custom_set_state_func


custom_state_manager = CustomStatesManager()


class _Conditions:
    """The states of random generators and the precisions that a function runs with.

    Attributes:
        random_states: arguments of `switch_rng_state_tracker`, or None.
        amp, amp_arguments, product_precision: settings of the thread.
    """

    def __init__(self, keep_random: bool) -> None:
        self.random_states = None
        if keep_random:
            self.random_states = (*_random_states(), *_custom_state())
        self.amp = local.ctx.amp
        self.amp_arguments = local.ctx.amp_arguments
        self.product_precision = local.ctx.product_precision

    @contextlib.contextmanager
    def restore(self) -> Iterator[None]:
        """Runs the block under these conditions."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                swapped_attributes(
                    local.ctx,
                    amp=self.amp,
                    amp_arguments=self.amp_arguments,
                    product_precision=self.product_precision,
                )
            )
            if self.random_states is not None:
                stack.enter_context(switch_rng_state_tracker(*self.random_states))
            yield


class _Recompute(PyLayer):
    """Runs a function without a tape, and in the backward pass again with one."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any, run: Callable[..., Any], keep_random: bool) -> tuple[Tensor, ...]:
        ctx.run, ctx.tensors, ctx.conditions = run, tensors, _Conditions(keep_random)
        return tuple(tensors_in(run(tensors)))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any | Tensor | None, ...] | tuple[Any | None, ...]:
        recorded = is_grad_enabled()  # the gradients are to be differentiated again
        if recorded:
            # The Tensors of the first run, so that the new tape leads on to where they came from.
            inputs = ctx.tensors
        else:
            inputs = [_detached(t) for t in ctx.tensors]
            _wait_for(cotangents, inputs)
        # Nodes with smaller numbers are older than the second run.
        first = next_serial()
        with enable_grad(), ctx.conditions.restore():
            results = list(tensors_in(ctx.run(inputs)))
        wanted = [(t, ct) for t, ct in zip(results, cotangents, strict=True) if not t.stop_gradient]
        outputs = [t for t, _ in wanted]
        starts = [ct for _, ct in wanted]
        if recorded:
            # `grad` records what it does, and leaves `t.grad` as it is.
            sources = [t for t in inputs if not t.stop_gradient]
            found = iter(grad(outputs, sources, starts, create_graph=True, allow_unused=True))
            return tuple([None if t.stop_gradient else next(found) for t in inputs])
        # What the function reads from outside has an older tape, which others may still need.
        backward(outputs, starts, retain_graph=_uses_tape_before(outputs, first))
        return tuple([None if t.stop_gradient else t.grad for t in inputs])


def _wait_for(cotangents: Sequence[Tensor], inputs: Sequence[Tensor]) -> None:
    """Makes the operands of the second run wait for the cotangents, where both runs become one program.

    XLA merges equal computations, and would keep the results of the first run.
    """
    # Operations that run at once are in order already.
    if local.ctx.segment is None:
        return
    # A mask that all stages of a pipeline share is on a larger mesh: one program has operands of one mesh.
    meshes = [t.process_mesh for t in (*cotangents, *inputs) if t.is_dist()]
    waiting = [t for t in inputs if not t.is_dist() or t.process_mesh == meshes[0]]
    waited_for = [t for t in cotangents if not t.is_dist() or t.process_mesh == meshes[0]]
    values = run(_WAIT, [*waiting, *waited_for])
    for tensor, value in zip(waiting, values, strict=False):
        replace_held(tensor, read_raw(value))


def _uses_tape_before(tensors: Sequence[Tensor], serial: int) -> bool:
    """Whether results depend on a node that was recorded before this serial number, by a Tensor that the
    function has from elsewhere. That node belongs to the outer backward pass, which needs it, too."""
    nodes = [t._node for t in tensors if t._node is not None]
    seen = set()
    while nodes:
        node = nodes.pop()
        if node.serial < serial:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            # Sources that are Tensors are leaves.
            nodes += [source for source, _ in node.edges if not isinstance(source, Tensor)]
    return False


def _detached(tensor: Tensor) -> Tensor:
    """The same value, cut from the tape, with the same stop_gradient."""
    detached = tensor.detach()
    detached.stop_gradient = tensor.stop_gradient
    return detached


def _with_tensors(value: Any, tensors: Iterator[Tensor]) -> Any:
    """The same lists, tuples, dicts and slices with other Tensors, from an iterator. What has no Tensor stays
    the object it is, since a function may write into it."""
    if isinstance(value, Tensor):
        return next(tensors)
    if next(tensors_in(value), None) is None:
        return value
    if isinstance(value, slice):
        return slice(*[_with_tensors(part, tensors) for part in (value.start, value.stop, value.step)])
    if isinstance(value, dict):
        # A copy keeps the class of the dict, which may be one of the user.
        copied = copy.copy(value)
        for key, item in value.items():
            copied[key] = _with_tensors(item, tensors)
        return copied
    return make_sequence(type(value), [_with_tensors(item, tensors) for item in value])


class _FirstRun:
    """A function with its arguments, and what its first run returned.

    Attributes:
        function, given: the function, and its (args, kwargs).
        tensors: the Tensors in `given`.
        reentrant: bool, whether an argument that comes back counts as changed in place, as in Paddle.
        result: what the first run returned, or None.
        returned: {position among the Tensors of the result: the argument that it is}.
    """

    def __init__(self, function: Any, given: Any, tensors: Sequence[Tensor], reentrant: bool) -> None:
        self.function = function
        self.given = given
        self.tensors = tensors
        self.reentrant = reentrant
        self.result: Any = None
        self.returned: dict[int, Tensor] | None = None

    def outputs(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Runs the function with these Tensors in place of its own; gives the Tensors that it computes."""
        replaced_args, replaced_kwargs = _with_tensors(self.given, iter(inputs))
        result = self.function(*replaced_args, **replaced_kwargs)
        found = list(tensors_in(result))
        if self.returned is None:
            self.result = result
            self.returned = {} if self.reentrant else self._returned_arguments(found, inputs)
        computed = [t for position, t in enumerate(found) if position not in self.returned]
        # The tape wants a result, also of a function that returns its arguments alone.
        return computed or [zeros([])]

    def _returned_arguments(self, found: Sequence[Tensor], inputs: Sequence[Tensor]) -> dict[int, Tensor]:
        """A mask that a block hands on is such an argument: it is no result, and keeps its own gradient."""
        places = {id(tensor): place for place, tensor in enumerate(inputs)}
        return {
            position: self.tensors[places[id(tensor)]]
            for position, tensor in enumerate(found)
            if id(tensor) in places
        }

    def result_with(self, outputs: Sequence[Tensor]) -> Any:
        """The result of the first run, with outputs that are on the tape. It can be called once."""
        result, self.result = self.result, None  # the second run must not keep the first one's values alive
        computed = iter(outputs)
        tensors = [
            self.returned[position] if position in self.returned else next(computed)
            for position, _ in enumerate(tensors_in(result))
        ]
        return _with_tensors(result, iter(tensors))


def recompute(function: Any, *args: Any, **kwargs: Any) -> Tensor | dict[str, Any]:
    """Calls a function whose intermediate results are not kept: the backward pass computes them again.

    Args:
        function: callable or Layer.
        args: its arguments. Gradients flow to those Tensors that want them, also in lists, tuples and dicts,
            and to the Parameters that the function uses. Where no argument wants a gradient the function is
            simply called.
        kwargs: keyword arguments of the function; and `preserve_rng_state` (default True: the second run
            draws the same random numbers, also from NumPy, `random` and the tracker of `fleet`),
            `use_reentrant` (default True; False lets the function return arguments as they are), and
            `offload_indices`, which changes nothing here.
    Returns:
        What the function returns: a Tensor, or lists, tuples and dicts of Tensors and other values.
    In a compiled step, with its backward pass inside, the Python code runs once, and the program computes
    again. So running statistics are updated once there, and twice in eager steps, as in Paddle. A compiled
    function whose backward pass is outside keeps what XLA finds best. XLA's compiler for CPUs saves little.

    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> x = paddle.ones([1, 2]); x.stop_gradient = False
        >>> paddle.distributed.fleet.utils.recompute(layer, x).backward()
        >>> layer.weight.grad.tolist()
        [[1.0], [1.0]]
    """
    # Paddle's names: all other keyword arguments are for the function.
    keep_random = kwargs.pop("preserve_rng_state", True)
    reentrant = kwargs.pop("use_reentrant", True)
    # Accepted: it says where values wait, not what they are.
    kwargs.pop("offload_indices", None)
    given = (args, kwargs)
    tensors = list(tensors_in(given))
    # Without a gradient there is no backward pass, and nothing is kept for it.
    if all(t.stop_gradient for t in tensors):
        return function(*args, **kwargs)
    # While a program is captured, its Frame decides what is computed again.
    if not state.frame.eager:
        return state.frame.call_recomputed(function, args, kwargs)
    first_run = _FirstRun(function, given, tensors, reentrant)
    outputs = _Recompute.apply(*tensors, run=first_run.outputs, keep_random=keep_random)
    # A PyLayer gives a single result as it is.
    if not isinstance(outputs, tuple):
        outputs = (outputs,)
    return first_run.result_with(outputs)


def detach_variable(
    inputs: Any,
) -> tuple[
    tuple[tuple[tuple[Any, ...] | Parameter | Tensor | Any, ...] | Parameter | Tensor | Any, ...]
    | Parameter
    | Tensor
    | Any,
    ...,
]:
    """The inputs of a function with its Tensors cut from the tape: they keep whether they want gradients.

    Args:
        inputs: sequence. Tensors and tuples of Tensors in it are replaced, other values stay.
    Returns:
        tuple of as many values.
    Raises:
        AssertionError: a tuple in it has something else than Tensors.
    Example:
        >>> from paddle_jax.distributed.fleet.recompute.recompute import detach_variable
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> y, n = detach_variable((x * 2, 3)); y.is_leaf, y.stop_gradient, n
        (True, False, 3)
    """
    return tuple([_detached_input(value) for value in inputs])


def _detached_input(value: Any) -> Any:
    if isinstance(value, tuple):
        if not all(isinstance(t, Tensor) for t in value):
            raise AssertionError(
                "detach_variable: inputs: got a tuple with something else than Tensors "
                "in it; give such values one by one"
            )
        return tuple([_detached_input(t) for t in value])
    if isinstance(value, Parameter):
        parameter = copy.deepcopy(value)
        parameter.name = value.name
        return parameter
    if isinstance(value, Tensor):
        return _detached(value)
    return value


def check_recompute_necessary(inputs: Any) -> None:
    """Warns in the log where no input wants a gradient, so that nothing is to be computed again.

    Args:
        inputs: sequence of Tensors, tuples of Tensors and other values.
    Example:
        >>> from paddle_jax.distributed.fleet.recompute.recompute import check_recompute_necessary
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> check_recompute_necessary((x, 3))
    """
    if all(t.stop_gradient for t in tensors_in(list(inputs))):
        _logger.warning("[Recompute]: no input of this block wants a gradient; it need not be computed again")


@contextlib.contextmanager
def switch_rng_state_tracker(
    rng_state: Sequence[Tensor],
    tracker: dict[str, Any],
    numpy_state: Any,
    random_state: Any,
    custom_state: Any = None,
    custom_get_state_func: Any = None,
    custom_set_state_func: Any = None,
) -> Iterator[None]:
    """Draws inside the block come from other states of the random generators.

    Args:
        rng_state: what `paddle.get_rng_state` has given.
        tracker: states of the tracker of `fleet` by name, from `get_states_tracker`.
        numpy_state: what `numpy.random.get_state` has given.
        random_state: what `random.getstate` has given.
        custom_state, custom_get_state_func, custom_set_state_func: a state of the user's own and functions
            that get and set it. Default: None.
    Example:
        >>> import random
        >>> from paddle_jax.distributed.fleet.recompute.recompute import switch_rng_state_tracker
        >>> states = paddle.get_rng_state(), {}, np.random.get_state(), random.getstate()
        >>> drawn = paddle.rand([2])
        >>> with switch_rng_state_tracker(*states):
        ...     again = paddle.rand([2])
        >>> bool((drawn == again).all())
        True
    """
    before = _random_states()
    if custom_get_state_func is not None:
        custom_before = custom_get_state_func()
    else:
        custom_before = None
    _set_random_states(rng_state, tracker, numpy_state, random_state)
    if custom_get_state_func is not None:
        custom_set_state_func(custom_state)
    try:
        yield
    finally:
        _set_random_states(*before)
        if custom_get_state_func is not None:
            custom_set_state_func(custom_before)


def _random_states() -> tuple[list[Tensor], dict[Any, Any], dict[str, Any], tuple[Any, ...]]:
    """The states of all generators that user code may draw from, as `switch_rng_state_tracker` takes them."""
    numpy_state = np.random.get_state()  # noqa: NPY002
    return get_rng_state(), get_rng_state_tracker().get_states_tracker(), numpy_state, random.getstate()


def _custom_state() -> tuple[Any, ...]:
    """The state of the program's own, with the functions of `custom_state_manager`."""
    get_state, set_state = custom_state_manager.functions()
    if get_state is None:
        return ()
    return get_state(), get_state, set_state


def _set_random_states(
    rng_state: Sequence[Tensor],
    tracker: dict[str, Any],
    numpy_state: Sequence[Any],
    random_state: Sequence[Any],
) -> None:
    set_rng_state(rng_state)
    get_rng_state_tracker().set_states_tracker(tracker)
    np.random.set_state(numpy_state)  # noqa: NPY002
    random.setstate(random_state)


def recompute_sequential(ctx: dict[str, Any], functions: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Calls functions one after the other; the backward pass computes all but the last part of them again.

    Args:
        ctx: dict with `segments`, the count of parts (default 1: nothing is computed again), and
            `preserve_rng_state` (default True), as for `recompute`.
        functions: Sequential, or a list of callables of one argument.
        args: Tensors, for the first function.
        kwargs: as for `recompute`.
    Returns:
        The result of the last function.
    Raises:
        ValueError: segments is not in 1..number of functions.
    Example:
        >>> recompute_sequential = paddle.distributed.fleet.recompute.recompute_sequential
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh(), paddle.nn.Flatten(0))
        >>> x = paddle.zeros([1, 2]); x.stop_gradient = False
        >>> recompute_sequential({"segments": 2}, net, x).tolist()
        [0.0, 0.0]
    """
    if isinstance(functions, Sequential):
        functions = list(functions.children())
    else:
        functions = list(functions)
    segments = ctx.get("segments", 1)
    if not 1 <= segments <= max(len(functions), 1):
        raise ValueError(
            f"recompute_sequential: segments={segments} for {len(functions)} functions; "
            f"use 1..{len(functions)}"
        )
    kwargs = {"preserve_rng_state": ctx.get("preserve_rng_state", True)} | kwargs
    length = len(functions) // segments
    # The last part runs as it is: its backward pass comes first, and would compute it again at once.
    last = length * (segments - 1)
    for start in range(0, last, length):
        args = (recompute(_in_order(functions[start : start + length]), *args, **kwargs),)
    return _in_order(functions[last:])(*args)


def _in_order(functions: Sequence[Layer]) -> Callable[..., Any]:
    """One function that calls all of them."""

    def run(*args: Any) -> Tensor:
        for function in functions:
            args = (function(*args),)
        return args[0]

    return run
