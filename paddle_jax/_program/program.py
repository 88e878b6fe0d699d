"""Programs: lists of operations that run later.

How to turn a function or a Layer that is there already into a Program, outside `paddle.enable_static()`:

    from paddle_jax._program.recorder import record
    program, inputs, outputs = record(layer, [InputSpec([None, 3], "float32", "x")])

`inputs` are the Variables of the specs (a list), `outputs` what the function returned, with Variables in
place of Tensors. The Layer's Parameters and buffers are `program.vars` (Variables by name, `program.values`
has their arrays); every other eager Tensor it uses is a constant.

A Program is plain data:

    program.ops       list of Operation in the order they run
    program.data      {name: Variable} of the inputs, in the order they were declared
    program.vars      {name: Variable} of what lives in the Scope: parameters, running statistics, states of
                      optimizers, learning rates
    program.values    {name: array}: values that came along with a recorded Layer
    program.inits     {name: function giving an array}: what running a startup program puts into the Scope
    operation.kernel  the Kernel; `kernel.declaration` is (Op, layout of operands, attribute values) for
                      declared ops, `operation.attrs` them by name
    operation.inputs  list of Symbols: `kind` is "data", "variable", "constant" (array in `value`), "random"
                      (the last two operands of a random op) or "result"
    operation.outputs list of Symbols; a Variable's Symbol is `variable._raw`
    symbol.shape, .dtype, .name, .op (the Operation that makes it)

`pruned(targets)` gives the operations that some Symbols need.
"""

import contextlib

from paddle_jax._core.lazy.symbol import DefaultPrograms, Symbol
from paddle_jax._program.clone import clone_program, prune_program, use_evaluation_forms
from paddle_jax._program.operation import type_text
from paddle_jax._program.scope import DenseTensor, global_scope, put_into


class Program:
    """A list of operations, to be run by an Executor.

    Example:
        >>> main = paddle.static.Program()
        >>> main.num_blocks
        1
    """

    random_seed = 0  # of its random operations; 0: they draw from the generator of `paddle.seed`

    def __init__(self):
        self.ops, self.data, self.vars, self.values, self.inits = [], {}, {}, {}, {}
        self.current, self.homes = {}, {}
        # id of an eager Tensor that was taken in, and of what it held -> (Tensor, what it held, Symbol)
        self.captured = {}
        self.draws, self.words = 0, None
        # name of a learning rate -> object whose `rate_now(old)` gives its value before a run
        self.rates = {}
        self.compiled_runs = {}  # compiled runs, see executor.py
        self.fetched = []  # the Variables of the results, for a program from a file
        self.loaded = None  # the Runner of the file, while the program does what the file says
        self.runs = 0  # how often it ran, for the random numbers of a seeded program

    # symbols ------------------------------------------------------------------------------------------------

    def __reduce__(self):
        raise TypeError(
            "cannot pickle 'paddle.base.libpaddle.pir.Program' object: "
            "write it with paddle.save, copy it with clone"
        )

    def changed(self):
        """Forgets what was compiled, and the file."""
        self.compiled_runs.clear()
        self.loaded = None

    def home(self, variable):
        """The Symbol of what the Scope holds for a persistable Variable when a run begins."""
        found = self.homes.get(variable.name)
        if found is None:
            found = self.homes[variable.name] = Symbol(variable.avals, "variable", self, variable.name)
            self.vars[variable.name] = variable
            self.changed()
        return found

    def symbol_of(self, variable):
        """The Symbol a persistable Variable stands for now."""
        return self.current.get(variable.name) or self.home(variable)

    def write(self, variable, symbol):
        """Makes a persistable Variable stand for another Symbol, which a run stores at the end."""
        self.home(variable)
        self.current[variable.name] = symbol
        self.changed()

    @property
    def writes(self):
        """{name: Symbol} of what a run stores in the Scope."""
        return {name: symbol for name, symbol in self.current.items() if symbol is not self.homes[name]}

    def append(self, operation):
        """Adds an operation."""
        self.ops.append(operation)
        self.changed()

    def pruned(self, targets, effects=False):
        """The operations that the Symbols need, in order; with `effects` also those that
        print or call Python."""
        need, kept = set(targets), []
        for operation in reversed(self.ops):
            if any(out in need for out in operation.outputs) or effects and not operation.outputs:
                kept.append(operation)
                need.update(operation.inputs)
        return kept[::-1]

    # Paddle's names -----------------------------------------------------------------------------------------

    @property
    def num_blocks(self):
        """1: control flow keeps its blocks inside the operation."""
        return 1

    @property
    def blocks(self):
        """A list of the one block."""
        return [self]

    def global_block(self):
        """The block of all operations: the Program itself."""
        return self

    def current_block(self):
        """The block of all operations: the Program itself."""
        return self

    def block(self, index):
        """The block with a number: the Program itself for 0."""
        return [self][index]

    def num_ops(self):
        """How many operations it has."""
        return len(self.ops) + len(self.inits)

    def all_parameters(self):
        """The Parameters, in the order they were made."""
        return [v for v in self.vars.values() if v.is_parameter]

    def parameters_num(self):
        """How many Parameters it has."""
        return len(self.all_parameters())

    def list_vars(self):
        """All Variables that have a name: inputs, and what lives in the Scope."""
        return [*self.data.values(), *self.vars.values()]

    def has_var(self, name):
        """Whether a Variable has this name."""
        return name in self.data or name in self.vars

    def var(self, name):
        """The input or persistable Variable of a name.

        Raises:
            ValueError: there is none.
        """
        found = self.data.get(name, self.vars.get(name))
        if found is None:
            raise ValueError(
                f"Program.var: {name!r} is no input and no persistable Variable of this "
                f"program; it has {[*self.data, *self.vars]}"
            )
        return found

    @property
    def _seed(self):
        """The seed of its random operations."""
        return self.random_seed

    def global_seed(self, seed):
        """Sets the seed of its random operations."""
        self.random_seed = int(seed)

    def clone(self, for_test=False):
        """A Program with the same operations, whose Variables are those of this one.

        Args:
            for_test: leaves gradients and updates out; normalisation then uses running statistics, and
                nothing is dropped at random.
        """
        return clone_program(self, for_test)

    def _prune(self, targets):
        """A Program of the operations that lead to a list of Variables, and the inputs these use."""
        return prune_program(self, targets)

    def set_is_test_attr(self):
        """Makes normalisation use running statistics, and drops nothing at random any more."""
        use_evaluation_forms(self)

    def state_dict(self, mode="all", scope=None):
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

    def set_state_dict(self, state_dict, scope=None, copy_tensor=False):
        """Puts values, a dict by name, into a Scope; names that the program does not have are left out."""
        for name, value in state_dict.items():
            if name in self.vars:
                put_into(scope, name, value, self.vars[name].avals)

    def get_parameter_value_by_name(self, name):
        """The Parameter of a name, or None."""
        found = self.vars.get(name)
        return found if found is not None and found.is_parameter else None

    def get_all_parameter_values(self):
        """The Parameters by name."""
        return {p.name: p for p in self.all_parameters()}

    def get_output_value_by_name(self, name):
        """The Variable of a name.

        Raises:
            ValueError: there is none.
        """
        return self.var(name)

    def __str__(self):
        return listing(self)

    __repr__ = __str__


def listing(program):
    """One line per operation: `(%2) = "add" (%0, %1) {} : (float32[2], float32[2]) -> float32[2]`."""
    numbers = {}

    def number(symbol):
        return (
            f"%{symbol.name}"
            if symbol.name and symbol.kind in ("data", "variable")
            else f"%{numbers.setdefault(symbol, len(numbers))}"
        )

    lines = []
    for name in program.inits:
        lines.append(f'    () = "init" () {{parameter_name:"{name}"}}')
    for op in program.ops:
        ins, outs = (f"({', '.join(map(number, symbols))})" for symbols in (op.inputs, op.outputs))
        attrs = ",".join(f"{k}:{v}" for k, v in op.attrs.items())
        types = f"({', '.join(map(type_text, op.inputs))}) -> {', '.join(map(type_text, op.outputs))}"
        lines.append(f'    {outs} = "{op.name}" {ins} {{{attrs}}} : {types}')
    for name, symbol in program.writes.items():
        lines.append(f'    () = "set_parameter" ({number(symbol)}) {{parameter_name:"{name}"}}')
    return "\n".join(["{", *lines, "}"]) + "\n"


def default_main_program():
    """Returns the Program that operations are added to in static mode.

    Example:
        >>> isinstance(paddle.static.default_main_program(), paddle.static.Program)
        True
    """
    if DefaultPrograms.main is None:
        DefaultPrograms.main = Program()
    return DefaultPrograms.main


def default_startup_program():
    """Returns the Program that fills the parameters which are made in static mode; run it once before
    the main program.

    Example:
        >>> isinstance(paddle.static.default_startup_program(), paddle.static.Program)
        True
    """
    if DefaultPrograms.startup is None:
        DefaultPrograms.startup = Program()
    return DefaultPrograms.startup


@contextlib.contextmanager
def program_guard(main_program, startup_program=None):
    """Inside the block operations go to `main_program`, and the initialisation of parameters to
    `startup_program`.

    Args:
        main_program: Program.
        startup_program: Program. Default: the one in use.
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
    before = DefaultPrograms.main, DefaultPrograms.startup
    DefaultPrograms.main = main_program
    if startup_program is not None:
        DefaultPrograms.startup = startup_program
    try:
        yield
    finally:
        DefaultPrograms.main, DefaultPrograms.startup = before


__all__ = [
    "Program",
    "default_main_program",
    "default_startup_program",
    "listing",
    "program_guard",
]
