"""What real code asks of a compiled function: its static program with inputs, outputs and parameters."""

from paddle_jax.static.program import Program
from paddle_jax.static.recorder import record


class ConcreteProgram:
    """A function as a static program. inputs, outputs: Variables; parameters: (Parameters, their values);
    main_program, startup_program: Programs."""

    def __init__(self, function, specs, named):
        self.function = function
        self.main_program, self.inputs, outputs = record(function, specs, named)
        self.startup_program = Program()
        self.outputs = _flat(outputs)
        parameters = self.main_program.all_parameters()
        self.parameters = parameters, parameters


def _flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in _flat(part)]
    return [] if value is None else [value]
