"""The arguments of a function that is recorded, as InputSpecs, and the names of its inputs."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_trace import by_key
from paddle_jax._program.guards.call_signature import specs_of_signature
from paddle_jax._program.input_spec import InputSpec


@dataclasses.dataclass
class Arguments:
    """The arguments of a function.

    Attributes:
        specs: InputSpecs, Tensors, containers of them, or other values, in order.
        titles: names of the arguments.
        by_name: names of those at the end that are passed by name.
        positions: the positions of the arguments of a call in the signature, or None.
    """

    specs: list[Any]
    titles: list[str]
    by_name: tuple[str, ...] = ()
    positions: list[int] | None = None

    @classmethod
    def bound(cls, values: inspect.BoundArguments) -> Arguments:
        """The Arguments of a call, from `inspect.Signature.bind`."""
        order = list(values.signature.parameters)
        count = len(values.args)
        # Arguments of `*args` have no names of their own.
        titles = [*order[:count], *[f"input_{i}" for i in range(len(order), count)], *values.kwargs]
        return cls([*values.args, *values.kwargs.values()], titles, tuple(values.kwargs))

    def calling(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with all arguments by position."""
        if not self.by_name:
            return function
        count = len(self.by_name)
        return lambda *args: function(*args[:-count], **dict(zip(self.by_name, args[-count:], strict=True)))

    def named(self) -> tuple[list[Any], list[str]]:
        """The specs with names (those of Paddle where they have none), and the names of the inputs."""
        names: list[str] = []
        arguments = []
        for index, (spec, title) in enumerate(zip(self.specs, self.titles, strict=False)):
            if self.positions is None:
                prefix = None
            else:
                # Inputs of a call get the names that Paddle's own `to_static` gives them.
                prefix = f"_jst.{self.positions[index]}.{title}."
            arguments.append(_with_names(spec, title, prefix, names, len(names)))
        return arguments, names


def _with_names(spec: Any, path: str, prefix: str | None, names: list[str], first: int) -> Any:
    """One spec with names.

    Args:
        spec: the spec, or a container of specs.
        path: its name in the argument.
        prefix: begins the names of the inputs of a call; None for those of InputSpecs.
        names: names in use, to which the new ones are added.
        first: number of the names before those of the argument.
    """
    if isinstance(spec, list | tuple):
        items = [_with_names(one, f"{path}_{i}", prefix, names, first) for i, one in enumerate(spec)]
        return make_sequence(type(spec), items)
    if isinstance(spec, dict):
        # Names are given in Paddle's order of keys, the dict stays in the user's.
        named = {key: _with_names(spec[key], str(key), prefix, names, first) for key in by_key(spec)}
        return {key: named[key] for key in spec}
    if isinstance(spec, Tensor):
        spec = InputSpec(list(spec.shape), spec.dtype, spec._name, spec.stop_gradient)
    elif isinstance(spec, np.ndarray):
        spec = InputSpec(list(spec.shape), spec.dtype)
    if not isinstance(spec, InputSpec):
        return spec
    name = spec.name or (path if prefix is None else f"{prefix}{len(names) - first}")
    # A name is the key by which a file's input is fed, so it occurs once.
    while name in names:
        name += "_1"
    names.append(name)
    return InputSpec(spec.shape, spec.dtype or dtypes.default(), name, spec.stop_gradient)


def arguments_of(
    plain: Callable[..., Any], specs: Sequence[Any] | None, latest: Any = None, caller: str = "jit.save"
) -> Arguments:
    """The Arguments of a function that is saved, or becomes a static program.

    Args:
        plain: the function as it was written.
        specs: InputSpecs, or None for those of the last call.
        latest: signature of the last call, or None.
        caller: name of the public function, for messages.
    """
    if specs is None and latest is not None:
        return _of_call(latest, plain)
    if specs is None:
        raise ValueError(
            f"{caller}: input_spec: {getattr(plain, '__qualname__', plain)} has none and has "
            "not been called as a compiled function; give a list of paddle.static.InputSpec, "
            "one for each argument"
        )
    try:
        parameters = inspect.signature(plain).parameters.values()
    # Such as one that is written in C.
    except (TypeError, ValueError):  # a function without a signature
        titles = []
        more = True
    else:
        titles = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(specs) > len(titles) and not more:
        raise CheckError(
            f"{caller}: input_spec: got {len(specs)}; the function takes {len(titles)} "
            f"arguments: {', '.join(titles)}"
        )
    return Arguments(list(specs), [*titles, *[f"input_{i}" for i in range(len(titles), len(specs))]])


def _of_call(key: Any, plain: Callable[..., Any]) -> Arguments:
    """The Arguments of a compiled function's last call, from its signature."""
    positional, named = specs_of_signature(key)
    signature = inspect.signature(plain)
    arguments = Arguments.bound(signature.bind(*positional, **named))
    order = list(signature.parameters)
    arguments.positions = [
        *range(len(arguments.specs) - len(arguments.by_name)),
        # Arguments that are passed by name come at the end; Paddle's names count places of the signature.
        *[order.index(name) if name in order else len(order) for name in arguments.by_name],
    ]
    return arguments
