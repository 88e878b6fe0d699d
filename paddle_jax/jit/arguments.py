"""What stands for the arguments of a function that is recorded, and what its inputs are called."""

import dataclasses
import inspect

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.execution.python_state import make_sequence
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_trace import by_key
from paddle_jax._program.guards.call_signature import specs_of_signature
from paddle_jax._program.input_spec import InputSpec


@dataclasses.dataclass
class Arguments:
    """What stands for a function's arguments. specs: those in order; titles: their names. by_name: of those
    at the end that are passed by name. places: None, or where the arguments of a call stand
    in the signature."""

    specs: list
    titles: list
    by_name: tuple = ()
    places: list | None = None

    @classmethod
    def bound(cls, values):
        """Those of a call, as `inspect.Signature.bind` gives them."""
        order, count = list(values.signature.parameters), len(values.args)
        titles = [*order[:count], *[f"input_{i}" for i in range(len(order), count)], *values.kwargs]
        return cls([*values.args, *values.kwargs.values()], titles, tuple(values.kwargs))

    def calling(self, function):
        """The function, with all arguments by position."""
        if not self.by_name:
            return function
        count = len(self.by_name)
        return lambda *args: function(*args[:-count], **dict(zip(self.by_name, args[-count:], strict=True)))

    def named(self):
        """The specs with names (as Paddle's where they have none), and the names in the
        order of the inputs."""
        names = []

        def take(spec, path, at):
            if isinstance(spec, list | tuple):
                return make_sequence(type(spec), [take(one, f"{path}_{i}", at) for i, one in enumerate(spec)])
            if isinstance(spec, dict):
                arguments = {key: take(spec[key], str(key), at) for key in by_key(spec)}
                return {key: arguments[key] for key in spec}
            if isinstance(spec, Tensor):
                spec = InputSpec(list(spec.shape), spec.dtype, spec._name, spec.stop_gradient)
            elif isinstance(spec, np.ndarray):
                spec = InputSpec(list(spec.shape), spec.dtype)
            if not isinstance(spec, InputSpec):
                return spec
            chosen = spec.name or (
                path
                if self.places is None
                else f"_jst.{self.places[at]}.{self.titles[at]}.{len(names) - before}"
            )
            while chosen in names:
                chosen += "_1"
            names.append(chosen)
            return InputSpec(spec.shape, spec.dtype or dtypes.default(), chosen, spec.stop_gradient)

        arguments = []
        for at, spec in enumerate(self.specs):
            before = len(names)
            arguments.append(take(spec, self.titles[at], at))
        return arguments, names


def arguments_of(plain, specs, latest=None, who="jit.save"):
    """The Arguments of a function that is saved, or becomes a static program. specs: list of InputSpecs, or
    None for those of the last call. latest: signature of that call, or None. who: for messages."""
    if specs is None and latest is not None:
        return _of_call(latest, plain)
    if specs is None:
        raise ValueError(
            f"{who}: input_spec: {getattr(plain, '__qualname__', plain)} has none and has "
            "not been called as a compiled function; give a list of paddle.static.InputSpec, "
            "one for each argument"
        )
    try:
        parameters = inspect.signature(plain).parameters.values()
    except (TypeError, ValueError):  # a function without a signature
        titles, more = [], True
    else:
        titles = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(specs) > len(titles) and not more:
        raise CheckError(
            f"{who}: input_spec: got {len(specs)}; the function takes {len(titles)} "
            f"arguments: {', '.join(titles)}"
        )
    return Arguments(list(specs), [*titles, *[f"input_{i}" for i in range(len(titles), len(specs))]])


def _of_call(key, plain):
    """The Arguments of a compiled function's last call, from its signature."""
    positional, named = specs_of_signature(key)
    signature = inspect.signature(plain)
    arguments, order = Arguments.bound(signature.bind(*positional, **named)), list(signature.parameters)
    arguments.places = [
        *range(len(arguments.specs) - len(arguments.by_name)),
        *[order.index(name) if name in order else len(order) for name in arguments.by_name],
    ]
    return arguments
