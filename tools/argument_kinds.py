"""Learns which kinds of arguments the real Paddle accepts, for the types in the stubs.

    python tools/argument_kinds.py           writes tools/argument_kinds.txt; takes some minutes
    python tools/argument_kinds.py NAME...   prints what it learns of these operations

It takes the samples of each declared operation that Paddle runs, and puts values of other kinds in place of
one argument at a time. A kind counts if Paddle and this package both accept it. Where Paddle also accepts
`object()`, it does not look at the argument, and nothing is learnt.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import paddle_jax  # noqa: E402
from paddle_jax._core.ops.op import OPS, Op  # noqa: E402
from tests.ops import harness  # noqa: E402
from tests.ops.test_ops import find, public_path  # noqa: E402

FILE = Path(__file__).with_suffix(".txt")
CASES = 8  # samples of an operation that are tried
SECONDS = 120  # that the samples of an operation may take
NOT_LOOKED_AT = "object"

Attempt = tuple[str, str, str, int]
"""The text of a sample, a parameter, a kind, and which value of that kind."""


# values of all kinds ----------------------------------------------------------------------------------------


def numbers_of(value: Any, engine: Any) -> list[Any]:
    """The numbers to try in place of a value: its own elements first."""
    if isinstance(value, engine.Tensor):
        own = np.asarray(value.detach().astype("float32").numpy()).ravel().tolist()[:1]
    elif isinstance(value, list | tuple):
        own = [v for v in value if isinstance(v, int | float)][:1]
    else:
        own = [value] if isinstance(value, int | float) else []
    return [*own, 1, 0, 2, 0.5]


def values_of_kinds(value: Any, engine: Any) -> dict[str, list[Any]]:
    """{kind: values to try} in place of a value of a sample."""
    numbers = numbers_of(value, engine)
    integers = [int(n) for n in numbers]
    found: dict[str, list[Any]] = {
        NOT_LOOKED_AT: [object()],
        "None": [None],
        "bool": [True],
        "int": integers,
        "float": [float(n) for n in numbers],
        "complex": [complex(n, 1) for n in numbers[:2]],
        "str": ["float32", "mean"],
        "dtype": [engine.float32, engine.int64],
        "numpy int": [np.int64(n) for n in integers],
        "numpy float": [np.float32(n) for n in numbers],
        "Tensor": [engine.to_tensor(n) for n in integers] + [engine.to_tensor([n]) for n in integers[:2]],
        "array": [np.asarray(integers[0]), np.asarray(integers[:1])],
        "ints": [integers[:length] for length in (1, 2, 3)],
        "floats": [[float(n) for n in numbers[:length]] for length in (1, 2, 3)],
        "tensors": [[engine.to_tensor(n) for n in integers[:length]] for length in (1, 2, 3)],
        "nested": [[integers[:2], integers[:2]]],
    }
    if isinstance(value, str):
        found["str"].insert(0, value)
    elif isinstance(value, engine.Tensor):
        add_forms_of_tensor(found, value)
    elif isinstance(value, list | tuple) and value:
        add_forms_of_list(found, list(value), engine)
    for kind in ("ints", "floats", "tensors", "nested"):
        found[f"tuple of {kind}"] = [tuple(v) for v in found[kind]]
    return found


def add_forms_of_tensor(found: dict[str, list[Any]], value: Any) -> None:
    """Adds the forms of a Tensor: itself, its array and its list."""
    array = harness.to_numpy(value)
    found["Tensor"].insert(0, value)
    found["tensors"] += [[value], [value, value]]
    found["array"].insert(0, array)
    if array.ndim == 1:
        found["ints" if array.dtype.kind in "iu" else "floats"].insert(0, array.tolist())
    elif array.ndim > 1:
        found["nested"].insert(0, array.tolist())


def add_forms_of_list(found: dict[str, list[Any]], value: list[Any], engine: Any) -> None:
    """Adds the forms of a list: itself, its array, and Tensors in place of its numbers."""
    if all(isinstance(v, engine.Tensor) for v in value):
        found["tensors"].insert(0, value)
    elif all(isinstance(v, int | float) for v in value):
        kind = "ints" if all(isinstance(v, int) for v in value) else "floats"
        found[kind].insert(0, value)
        found["array"].insert(0, np.asarray(value))
        found["Tensor"].insert(0, engine.to_tensor(value))
        found["tensors"].insert(0, [engine.to_tensor(v) for v in value])
    elif all(isinstance(v, list | tuple) for v in value):
        found["nested"].insert(0, value)


# calls with one argument changed ----------------------------------------------------------------------------


def parameters_of(op: Op) -> list[str]:
    """The parameters to try. `name` is free in Paddle, and `out` is always a Tensor or None."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        p.name
        for p in inspect.signature(op.public).parameters.values()
        if p.kind in (*kinds, inspect.Parameter.KEYWORD_ONLY) and p.name not in ("name", "out")
    ]


class Sample:
    """A sample of an operation, as arguments that can be replaced one at a time.

    Attributes:
        text: str, the arguments.
        call: the parsed call.
        names: the operation's parameters in order.
    """

    def __init__(self, text: str, op: Op) -> None:
        self.text = text
        self.call: Any = ast.parse(f"__call__({text})", mode="eval")
        self.names = parameters_of(op)

    def argument(self, name: str) -> ast.expr | None:
        """The expression of a parameter, or None where the sample leaves it out."""
        position = self.names.index(name)
        if position < len(self.call.body.args):
            return self.call.body.args[position]
        return next((k.value for k in self.call.body.keywords if k.arg == name), None)

    def replaced(self, name: str) -> Any:
        """The code of the call with a variable in place of a parameter, or None where it cannot be given."""
        call: Any = ast.parse(f"__call__({self.text})", mode="eval")
        position = self.names.index(name)
        probe = ast.Name("__probe__", ast.Load())
        if position < len(call.body.args):
            call.body.args[position] = probe
        else:
            call.body.keywords = [k for k in call.body.keywords if k.arg != name]
            call.body.keywords.append(ast.keyword(name, probe))
        return compile(ast.fix_missing_locations(call), "<sample>", "eval")

    def value(self, name: str, engine: Any, op: Op) -> Any:
        """What the sample gives for a parameter: else its default value."""
        expression = self.argument(name)
        if expression is None:
            default = inspect.signature(op.public).parameters[name].default
            return None if default is inspect.Parameter.empty else default
        names = harness.Maker(engine).env()
        return eval(compile(ast.Expression(expression), "<sample>", "eval"), names)  # noqa: S307


def is_accepted(sample: Sample, name: str, value: Any, engine: Any, function: Any) -> bool:
    """Whether a call with this value for a parameter returns."""
    engine.seed(1)
    names = {**harness.Maker(engine).env(), "__call__": function, "__probe__": value}
    try:
        result = eval(sample.replaced(name), names)  # noqa: S307  the texts are part of the source
        for tensor in harness.flat(result, engine.Tensor):
            harness.to_numpy(tensor)  # errors of values come with the values
    except Exception:
        return False
    return True


def samples_of(op: Op) -> list[Sample]:
    """Samples of plain positional and keyword arguments, that differ most in their keywords first."""
    found: list[Sample] = []
    for case in op.cases:
        sample = Sample(case.lstrip("~ "), op)
        keywords = {k.arg for k in sample.call.body.keywords}
        plain = not any(isinstance(a, ast.Starred) for a in sample.call.body.args)
        if plain and keywords <= {*sample.names} and len(sample.call.body.args) <= len(sample.names):
            found.append(sample)
    return found


Outcome = tuple[Attempt, bool | None]
"""An attempt, and whether Paddle accepts it; None before the call, which may end the process."""


def attempts(op: Op, engine: Any, function: Any, skipped: set[Attempt]) -> Iterator[Outcome]:
    """The attempts with several samples, without kinds that an earlier sample has shown."""
    tried = 0
    shown: set[tuple[str, str]] = set()
    for sample in samples_of(op):
        if tried == CASES:
            return
        start = (sample.text, "", "", 0)
        if start in skipped:
            continue
        yield start, None
        if harness.evaluate(engine, function, sample.text).error is not None:
            continue
        tried += 1
        for name in sample.names:
            for attempt, outcome in changes(sample, name, op, engine, function, skipped, shown):
                yield attempt, outcome
                if outcome:
                    shown.add(attempt[1:3])


def changes(
    sample: Sample,
    name: str,
    op: Op,
    engine: Any,
    function: Any,
    skipped: set[Attempt],
    shown: set[tuple[str, str]],
) -> Iterator[Outcome]:
    """The attempts with other values for one parameter of a sample."""
    try:
        kinds = values_of_kinds(sample.value(name, engine, op), engine)
    except Exception:
        return
    for kind, values in kinds.items():
        for number, value in enumerate(values):
            attempt = (sample.text, name, kind, number)
            if attempt in skipped or (name, kind) in shown:
                continue
            yield attempt, None
            if not is_accepted(sample, name, value, engine, function):
                continue
            if kind == NOT_LOOKED_AT:
                return
            yield attempt, True
            break


# the real Paddle, in processes that may crash ---------------------------------------------------------------


def in_child(
    op: Op, engine: Any, function: Any, skipped: set[Attempt]
) -> tuple[list[Attempt], Attempt | None]:
    """What a forked process accepts, and the attempt that ended it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        os.close(reading)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        with os.fdopen(writing, "w") as file:
            for attempt, accepted in attempts(op, engine, function, skipped):
                file.write(json.dumps([attempt, accepted]) + "\n")
                file.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        lines = [json.loads(line) for line in file if line.endswith("\n")]
    _, status = os.waitpid(child, 0)
    accepted = [(*attempt,) for attempt, outcome in lines if outcome]
    crashed = (*lines[-1][0],) if status != 0 and lines else None
    return accepted, crashed


def accepted_by_paddle(op: Op, engine: Any, function: Any) -> list[Attempt]:
    """All attempts that Paddle accepts, over as many processes as its crashes take."""
    skipped: set[Attempt] = set()
    found: list[Attempt] = []
    for _ in range(20):
        accepted, crashed = in_child(op, engine, function, skipped)
        found += accepted
        if crashed is None:
            break
        skipped |= {crashed, *accepted}
    return found


def accepted_here(op: Op, wanted: list[Attempt]) -> set[Attempt]:
    """Those attempts that this package accepts as well."""
    found = set()
    samples = {sample.text: sample for sample in samples_of(op)}
    for attempt in wanted:
        text, name, kind, number = attempt
        value = values_of_kinds(samples[text].value(name, paddle_jax, op), paddle_jax)[kind][number]
        if is_accepted(samples[text], name, value, paddle_jax, op.public):
            found.add(attempt)
    return found


def learn(op: Op, engine: Any) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """{parameter: kinds} that both accept, and that Paddle alone accepts."""
    path = public_path(op.name)
    try:
        function = find(engine, path) if path else None
    except AttributeError:
        function = None
    if function is None:
        return {}, {}
    wanted = accepted_by_paddle(op, engine, function)
    here = accepted_here(op, wanted)
    both: dict[str, set[str]] = {}
    alone: dict[str, set[str]] = {}
    for attempt in wanted:
        (both if attempt in here else alone).setdefault(attempt[1], set()).add(attempt[2])
    return both, {name: kinds - both.get(name, set()) for name, kinds in alone.items()}


def main() -> None:
    import paddle

    warnings.simplefilter("ignore")
    names = sys.argv[1:]
    lines = []
    for name in names or sorted(OPS):
        both, alone = learn(OPS[name], paddle)
        found = [f"{name}.{p}: {', '.join(sorted(kinds))}" for p, kinds in both.items()]
        lines += found
        if names:
            print("\n".join(found), flush=True)
        for parameter, kinds in alone.items():
            if kinds:
                print(f"Paddle alone: {name}.{parameter}: {', '.join(sorted(kinds))}", flush=True)
    if not names:
        FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
