"""Programs: lists of operations that run later.

A function or a Layer of dynamic mode becomes a Program as follows, outside `paddle.enable_static()`:

    from paddle_jax._program.function_recording import record
    program, inputs, outputs = record(layer, [InputSpec([None, 3], "float32", "x")])

`inputs` are the Variables of the specs (a list), `outputs` what the function returned, with Variables in
place of Tensors. The Layer's Parameters and buffers are `program.vars` (Variables by name, `program.values`
has their arrays); every other eager Tensor it uses is a constant.

A Program is plain data, see the attributes of `Program` and `Operation`. The Symbols of an operation have
`shape`, `dtype`, `name` and `op`, the Operation that makes it. Their `kind` is "data", "variable", "constant"
(array in `value`), "random" (the last two operands of a random op), "block" or "result".
`held_symbol(variable)` is the Symbol of a Variable.

`pruned(targets)` gives the operations that some Symbols need.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.lazy.symbol import DefaultPrograms, Symbol
from paddle_jax._program.clone import clone_program, prune_program, use_evaluation_forms
from paddle_jax._program.operation import Operation, type_text
from paddle_jax._program.scope import DenseTensor, global_scope, put_into

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax._program.program_hook import ProgramHook
    from paddle_jax._program.scope import Scope
    from paddle_jax._program.variable import PersistentVariable, Variable


class Program:
    """A list of operations, to be run by an Executor.

    Attributes:
        ops: list of Operations in the order they run.
        data: dict of the Variables of the inputs by name, in the order they were declared.
        vars: dict by name of the Variables whose values live in the Scope.
        values: dict by name of arrays that came along with a recorded Layer.
        initializers: dict by name of functions that give an array; running a startup program puts it into
            the Scope.
        current_symbols: dict by name of the Symbols that persistable Variables stand for now.
        scope_symbols: dict by name of the Symbols of what the Scope holds when a run begins.
        captured: dict from the ids of eager Tensors that were taken in, and of what they held, to (Tensor,
            what it held, Symbol).
        draws: int, how many random numbers a run draws.
        seed_words: Symbol of the seed of random numbers, or None.
        learning_rates: dict by name of objects whose `rate_now(old)` gives the learning rate of a run.
        compiled_runs: dict of the runs that were compiled, see `static/executor.py`.
        fetched: list of the Variables of the results, for a program from a file.
        file_runner: the Runner of the file, while the program does what the file says; else None.
        runs: int, how often it ran, for the random numbers of a seeded program.
        hook: ProgramHook that runs it in the place of the Executor, or None.
        process_grid: ProcessGrid of the processes that run it together, or None.
        random_seed: int, seed of its random operations; 0: they draw from the generator of `paddle.seed`.
    Example:
        >>> main = paddle.static.Program()
        >>> main.num_blocks
        1
    """

    random_seed = 0

    def __init__(self) -> None:
        self.ops: list[Operation] = []
        self.data: dict[str, Variable] = {}
        self.vars: dict[str, PersistentVariable] = {}
        self.values: dict[str, Any] = {}
        self.initializers: dict[str, Callable[[], Any]] = {}
        self.current_symbols: dict[str, Symbol] = {}
        self.scope_symbols: dict[str, Symbol] = {}
        self.captured: dict[int, tuple[Tensor, Any, Symbol]] = {}
        self.draws = 0
        self.seed_words: Symbol | None = None
        self.learning_rates: dict[str, Any] = {}
        self.compiled_runs: dict[tuple[Any, ...], Any] = {}
        self.fetched: list[Variable] = []
        self.file_runner: Any = None
        self.runs = 0
        self.hook: ProgramHook | None = None
        self.process_grid: Any = None

    # symbols ------------------------------------------------------------------------------------------------

    # Symbols are compared by identity, so a pickled copy could not be run beside the original.
    def __reduce__(self) -> Any:
        raise TypeError(
            "cannot pickle 'paddle.base.libpaddle.pir.Program' object: "
            "write it with paddle.save, copy it with clone"
        )

    def changed(self) -> None:
        """Forgets what was compiled, and the file."""
        # A compiled run holds the operations as they were, and so does the file that the program came from.
        self.compiled_runs.clear()
        self.file_runner = None

    def scope_symbol(self, variable: PersistentVariable) -> Symbol:
        """The Symbol of what the Scope holds for a persistable Variable when a run begins."""
        symbol = self.scope_symbols.get(variable.name)
        if symbol is None:
            symbol = Symbol(variable.avals, "variable", self, variable.name)
            self.scope_symbols[variable.name] = symbol
            self.vars[variable.name] = variable
            self.changed()
        return symbol

    def symbol_of(self, variable: PersistentVariable) -> Symbol:
        """The Symbol a persistable Variable stands for now."""
        return self.current_symbols.get(variable.name) or self.scope_symbol(variable)

    def write(self, variable: PersistentVariable, symbol: Symbol) -> None:
        """Makes a persistable Variable stand for another Symbol, which a run stores at the end."""
        # It must be there, as `writes` compares with it.
        self.scope_symbol(variable)
        self.current_symbols[variable.name] = symbol
        self.changed()

    @property
    def writes(self) -> dict[str, Symbol]:
        """{name: Symbol} of what a run stores in the Scope."""
        return {
            name: symbol
            for name, symbol in self.current_symbols.items()
            if symbol is not self.scope_symbols[name]
        }

    def append(self, operation: Operation) -> None:
        """Adds an operation."""
        self.ops.append(operation)
        self.changed()

    def pruned(self, targets: Iterable[Symbol], effects: bool = False) -> list[Operation]:
        """The operations that the Symbols need, in order; with `effects` also those that
        print or call Python."""
        needed = set(targets)
        kept = []
        # Backwards, so that the users of a result come before what makes it.
        for operation in reversed(self.ops):
            # Without results nobody needs the operation, yet it has to run.
            has_effect = effects and not operation.outputs
            if has_effect or any(out in needed for out in operation.outputs):
                kept.append(operation)
                needed.update(operation.inputs)
        return kept[::-1]

    # Paddle's names -----------------------------------------------------------------------------------------

    @property
    def num_blocks(self) -> int:
        """1: control flow keeps its blocks inside the operation."""
        return 1

    @property
    def blocks(self) -> list[Program]:
        """A list of the one block."""
        return [self]

    def global_block(self) -> Program:
        """The block of all operations: the Program itself."""
        return self

    def current_block(self) -> Program:
        """The block of all operations: the Program itself."""
        return self

    def block(self, index: int) -> Program:
        """The block with a number: the Program itself for 0."""
        return [self][index]

    def num_ops(self) -> int:
        """How many operations it has."""
        return len(self.ops) + len(self.initializers)

    def all_parameters(self) -> list[PersistentVariable]:
        """The Parameters, in the order they were made."""
        return [v for v in self.vars.values() if v.is_parameter]

    def parameters_num(self) -> int:
        """How many Parameters it has."""
        return len(self.all_parameters())

    def list_vars(self) -> list[Variable]:
        """All Variables that have a name: inputs, and what lives in the Scope."""
        return [*self.data.values(), *self.vars.values()]

    def has_var(self, name: str) -> bool:
        """Whether a Variable has this name."""
        return name in self.data or name in self.vars

    def var(self, name: str) -> Variable:
        """The input or persistable Variable of a name.

        Raises:
            ValueError: there is none.
        """
        # Inputs first: an input and a Parameter of one name are two Variables.
        variable = self.data.get(name, self.vars.get(name))
        if variable is None:
            raise ValueError(
                f"Program.var: {name!r} is no input and no persistable Variable of this "
                f"program; it has {[*self.data, *self.vars]}"
            )
        return variable

    @property
    def _seed(self) -> int:
        """The seed of its random operations."""
        return self.random_seed

    def global_seed(self, seed: int) -> None:
        """Sets the seed of its random operations."""
        self.random_seed: int = int(seed)

    def clone(self, for_test: bool = False) -> Program:
        """A Program with the same operations, whose Variables are those of this one.

        Args:
            for_test: leaves gradients and updates out; normalisation then uses running statistics, and
                nothing is dropped at random.
        """
        return clone_program(self, for_test)

    def _prune(self, targets: Any) -> Program:
        """A Program of the operations that lead to a list of Variables, and the inputs these use."""
        return prune_program(self, targets)

    def set_is_test_attr(self) -> None:
        """Makes normalisation use running statistics, and drops nothing at random any more."""
        use_evaluation_forms(self)

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, Any]:
        """The values of its persistable Variables as a dict of DenseTensors by name.

        Args:
            mode: "all", "param" (Parameters) or "opt" (the others).
            scope: Scope. Default: the global one.
        Raises:
            ValueError: mode is none of these.
        """
        kinds = {"all": (True, False), "param": (True,), "opt": (False,)}
        if mode not in kinds:
            raise ValueError(f"state_dict: mode: got {mode!r}; allowed are 'all', 'param' and 'opt'")
        values = (scope or global_scope()).values
        return {
            name: DenseTensor(values, name)
            for name, v in self.vars.items()
            if v.is_parameter in kinds[mode] and name in values
        }

    def set_state_dict(
        self, state_dict: dict[str, Any], scope: Scope | None = None, copy_tensor: bool = False
    ) -> None:
        """Puts values, a dict by name, into a Scope; names that the program does not have are left out.

        Raises:
            TypeError: state_dict is no dict.
        """
        require_dict("set_state_dict", state_dict)
        for name, value in state_dict.items():
            if name in self.vars:
                put_into(scope, name, value, self.vars[name].avals)

    def get_parameter_value_by_name(self, name: str) -> PersistentVariable | None:
        """The Parameter of a name, or None."""
        variable = self.vars.get(name)
        if variable is not None and variable.is_parameter:
            return variable
        return None

    def get_all_parameter_values(self) -> dict[str, PersistentVariable]:
        """The Parameters by name."""
        return {p.name: p for p in self.all_parameters()}

    def get_output_value_by_name(self, name: str) -> Variable:
        """The Variable of a name.

        Raises:
            ValueError: there is none.
        """
        return self.var(name)

    def __str__(self) -> str:
        return listing(self)

    __repr__ = __str__


def listing(program: Program) -> str:
    """One line per operation: `(%2) = "add" (%0, %1) {} : (float32[2], float32[2]) -> float32[2]`."""
    numbers: dict[Symbol, int] = {}

    def label(symbol: Symbol) -> str:
        if symbol.name and symbol.kind in ("data", "variable"):
            return f"%{symbol.name}"
        return f"%{numbers.setdefault(symbol, len(numbers))}"

    def labels(symbols: Iterable[Symbol]) -> str:
        return f"({', '.join(map(label, symbols))})"

    lines = [f'    () = "init" () {{parameter_name:"{name}"}}' for name in program.initializers]
    for op in program.ops:
        inputs = labels(op.inputs)
        outputs = labels(op.outputs)
        attrs = ",".join(f"{k}:{v}" for k, v in op.attrs.items())
        types = f"({', '.join(map(type_text, op.inputs))}) -> {', '.join(map(type_text, op.outputs))}"
        lines.append(f'    {outputs} = "{op.name}" {inputs} {{{attrs}}} : {types}')
    for name, symbol in program.writes.items():
        lines.append(f'    () = "set_parameter" ({label(symbol)}) {{parameter_name:"{name}"}}')
    return "\n".join(["{", *lines, "}"]) + "\n"


def default_main_program() -> Program:
    """Returns the Program that operations are added to in static mode.

    Returns:
        Program.
    Example:
        >>> isinstance(paddle.static.default_main_program(), paddle.static.Program)
        True
    """
    if DefaultPrograms.main is None:
        DefaultPrograms.main = Program()
    return DefaultPrograms.main


def default_startup_program() -> Program:
    """Returns the Program that fills the parameters which are made in static mode; run it once before
    the main program.

    Returns:
        Program.
    Example:
        >>> isinstance(paddle.static.default_startup_program(), paddle.static.Program)
        True
    """
    if DefaultPrograms.startup is None:
        DefaultPrograms.startup = Program()
    return DefaultPrograms.startup


@contextlib.contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Inside the block operations go to `main_program`, and the initialisation of parameters to
    `startup_program`.

    Args:
        main_program: Program.
        startup_program: Program. Default: the one in use.
    Returns:
        Context manager.
    Raises:
        TypeError: an argument is no Program.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x * 2
        >>> y.shape
        paddle.Size([-1, 2])
        >>> paddle.disable_static()
    """
    for name, value in (("main_program", main_program), ("startup_program", startup_program)):
        if not (isinstance(value, Program) or (name == "startup_program" and value is None)):
            raise TypeError(
                f"program_guard: {name}: got {type(value).__name__}; it must be a paddle.static.Program"
            )
    main_before = DefaultPrograms.main
    startup_before = DefaultPrograms.startup
    DefaultPrograms.main = main_program
    if startup_program is not None:
        DefaultPrograms.startup = startup_program
    try:
        yield
    finally:
        DefaultPrograms.main = main_before
        DefaultPrograms.startup = startup_before


__all__ = [
    "Program",
    "default_main_program",
    "default_startup_program",
    "listing",
    "program_guard",
]
