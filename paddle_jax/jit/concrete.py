"""The static programs of a compiled function, with inputs, outputs and parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.function_recording import record
from paddle_jax._program.guards.call_signature import value_key
from paddle_jax._program.input_spec import InputSpec
from paddle_jax._program.program import Program
from paddle_jax.framework.mode import in_dynamic_mode
from paddle_jax.jit.arguments import Arguments

if TYPE_CHECKING:
    from paddle_jax._program.variable import PersistentVariable


class ConcreteProgram:
    """A function as a static program.

    Attributes:
        function: the function.
        inputs: list of Variables.
        outputs: list of Variables.
        parameters: (list of Parameters, list of their values).
        main_program: Program.
        startup_program: Program.
    """

    main_program: Program

    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        self.function = function
        specs, names = arguments.named()
        count = len(specs) - len(arguments.by_name)
        named = dict(zip(arguments.by_name, specs[count:], strict=True))
        self.main_program, inputs, outputs = record(function, specs[:count], named)
        # In the order of the arguments: the inputs of a dict were declared in another one.
        self.inputs = sorted(inputs, key=lambda variable: names.index(variable.name))
        self.startup_program: Program = Program()
        self.outputs: list[Any] = _flat(outputs)
        parameters = self.main_program.all_parameters()
        self.parameters: tuple[list[PersistentVariable], list[PersistentVariable]] = parameters, parameters


class ProgramCache(list):
    """The compiled programs of a function, and its static programs.

    Args:
        compiled: list of compiled programs.
        uncompiled: static programs that no call has compiled.
        latest: function that returns (key, ConcreteProgram) of the last call.
        concrete: {key: ConcreteProgram}.
    """

    def __init__(
        self,
        compiled: Iterable[Any],
        uncompiled: Iterable[ConcreteProgram],
        latest: Callable[[], tuple[Any, ConcreteProgram]],
        concrete: dict[Any, ConcreteProgram],
    ) -> None:
        super().__init__([*compiled, *uncompiled])
        self._latest = latest
        self._concrete = concrete

    def last(self) -> tuple[Any, tuple[ConcreteProgram, Callable[..., Any]]]:
        """(key, (ConcreteProgram, function that runs it)) of the last call."""
        # Made here, so that it is in the list as well.
        key, concrete = self._latest()
        return key, (concrete, concrete.function)

    def concrete_programs(self) -> list[ConcreteProgram]:
        """The static programs that were made, that of the last call included."""
        self._latest()
        return list(self._concrete.values())


def require_dynamic(name: str) -> None:
    """Refuses to make a static program while one is being recorded.

    Raises:
        RuntimeError: static mode is on.
    """
    if not in_dynamic_mode():
        raise RuntimeError(f"{name}: only available in dynamic mode; call paddle.disable_static()")


def bound(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Arguments]:
    """(key, Arguments) for arguments that are InputSpecs, Tensors or other values; defaults filled in.

    Raises:
        TypeError: an argument is not known. ValueError: one is missing.
    """
    signature = inspect.signature(function)
    unknown = kwargs.keys() - signature.parameters.keys()
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        raise TypeError(
            f"get_concrete_program: got the unknown arguments {', '.join(sorted(unknown))}; "
            f"the function takes {', '.join(signature.parameters)}"
        )
    try:
        values = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ValueError(f"get_concrete_program: {error}") from None
    values.apply_defaults()
    arguments = Arguments.bound(values)
    # "asked" keeps these keys apart from those of calls and of InputSpecs.
    return ("asked", *map(_key, arguments.specs)), arguments


def _key(value: Any) -> Any:
    if isinstance(value, Tensor | InputSpec):
        return "t", tuple(value.shape), str(value.dtype), value.stop_gradient
    if isinstance(value, list | tuple):
        return type(value), *map(_key, value)
    if isinstance(value, dict):
        return dict, *[(key, _key(item)) for key, item in value.items()]
    return value_key(value)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in _flat(part)]
    if value is None:
        return []
    return [value]
