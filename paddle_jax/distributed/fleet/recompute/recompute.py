"""Computing a part of the forward pass again in the backward pass, instead of keeping its tape."""

from paddle_jax._core.autograd.autograd_mode import enable_grad
from paddle_jax._core.random import get_rng_state, set_rng_state
from paddle_jax._core.state import state
from paddle_jax._core.tensor import Tensor
from paddle_jax.autograd import PyLayer, backward
from paddle_jax.nn.layer.container import Sequential


class _Recompute(PyLayer):
    """Runs a function without a tape, and in the backward pass again with one."""

    @staticmethod
    def forward(ctx, *tensors, run, keep_random):
        ctx.run, ctx.tensors, ctx.random = run, tensors, get_rng_state() if keep_random else None
        return run(*tensors)

    @staticmethod
    def backward(ctx, *cotangents):
        copies = [t.detach() for t in ctx.tensors]
        for copy, t in zip(copies, ctx.tensors, strict=True):
            copy.stop_gradient = t.stop_gradient
        now = get_rng_state()
        set_rng_state(ctx.random or now)
        with enable_grad():
            made = ctx.run(*copies)
        if ctx.random is not None:
            set_rng_state(now)
        results = [t for t in (made if isinstance(made, list | tuple) else [made]) if isinstance(t, Tensor)]
        wanted = [(t, ct) for t, ct in zip(results, cotangents, strict=True) if not t.stop_gradient]
        backward([t for t, _ in wanted], [ct for _, ct in wanted])
        return tuple(None if copy.stop_gradient else copy.grad for copy in copies)


def recompute(function, *args, **kwargs):
    """Calls a function whose intermediate results are not kept: the backward pass computes them again.

    Args:
        function: callable or Layer.
        args: its arguments. Gradients flow to those Tensors that want them, and to the Parameters that the
            function uses. Where no argument wants a gradient the function is simply called.
        kwargs: keyword arguments of the function; and `preserve_rng_state` (default True: the second run
            draws the same random numbers), `use_reentrant` and `offload_indices`, which change nothing here.
    Returns:
        What the function returns: a Tensor, or a tuple of Tensors.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> x = paddle.ones([1, 2]); x.stop_gradient = False
        >>> paddle.distributed.fleet.utils.recompute(layer, x).backward()
        >>> layer.weight.grad.tolist()
        [[1.0], [1.0]]
    """
    keep_random = kwargs.pop("preserve_rng_state", True)
    for name in ("use_reentrant", "offload_indices"):
        kwargs.pop(name, None)
    places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    traced = not state.frame.eager  # a compiled program keeps what XLA finds best
    if traced or all(args[i].stop_gradient for i in places):
        return function(*args, **kwargs)

    def run(*tensors):
        whole = list(args)
        for i, t in zip(places, tensors, strict=True):
            whole[i] = t
        return function(*whole, **kwargs)

    return _Recompute.apply(*[args[i] for i in places], run=run, keep_random=keep_random)


def recompute_sequential(ctx, functions, *args, **kwargs):
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
    functions = list(functions.children()) if isinstance(functions, Sequential) else list(functions)
    segments = ctx.get("segments", 1)
    if not 1 <= segments <= max(len(functions), 1):
        raise ValueError(f"recompute_sequential: segments={segments} for {len(functions)} functions; "
                         f"use 1..{len(functions)}")
    kwargs = {"preserve_rng_state": ctx.get("preserve_rng_state", True)} | kwargs
    length = len(functions) // segments
    last = length * (segments - 1)
    for start in range(0, last, length):
        args = (recompute(_in_order(functions[start : start + length]), *args, **kwargs),)
    return _in_order(functions[last:])(*args)


def _in_order(functions):
    """One function that calls all of them."""

    def run(*args):
        for function in functions:
            args = (function(*args),)
        return args[0]

    return run
