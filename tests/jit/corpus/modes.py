"""The modes in which programs run. Each is a function of a program and a folder that gives an Outcome for
each list of arguments."""

import dataclasses
import functools
import pathlib
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle_jax
from tests.deferred import differential
from tests.jit.corpus.outcome import Leaf, Outcome, flat, labels, leaves
from tests.jit.corpus.program import Program


@dataclasses.dataclass(frozen=True)
class Mode:
    """A way to run a program.

    Attributes:
        name: in the names of tests.
        run: gives the Outcomes.
        numbers: whether numbers among the results stay numbers.
        parts: what is compared besides the results.
        evaluation: whether Layers are in evaluation mode, as in files.
        compiles: whether a program that cannot be compiled whole runs op by op and warns.
        refuses: whether what no one program can do is an error.
        usual: whether every program has it, but for those that say why not.
        modules: those whose programs have it, None for all.
        own_process: whether the real Paddle compiles, which needs a process of its own.
    """

    name: str
    run: Callable[[Program, pathlib.Path], list[Outcome]]
    numbers: bool = True
    parts: tuple[str, ...] = ("buffers", "gradients", "second")
    evaluation: bool = False
    compiles: bool = False
    refuses: bool = False
    usual: bool = True
    modules: frozenset[str] | None = None
    own_process: bool = False


MODES: dict[str, Mode] = {}


def mode(**special: Any) -> Callable:
    """Adds a mode under the name of its function."""

    def decorate(function: Callable) -> Callable:
        MODES[function.__name__] = Mode(function.__name__, function, **special)
        return function

    return decorate


def modes_of(program: Program) -> list[Mode]:
    """The modes of a program."""
    return [one for one in MODES.values() if has_mode(program, one)]


def has_mode(program: Program, mode: Mode) -> bool:
    if mode.name in program.without or mode.modules is not None and program.module not in mode.modules:
        return False
    return mode.usual or mode.name in program.more


@functools.cache
def real_paddle() -> Any:
    """The real Paddle; the fixture `oracle` has prepared it."""
    import paddle

    return paddle


def built(program: Program, P: Any) -> Callable:
    """The callable of a program, with the same parameters in both engines."""
    made = program.build(P)
    for k, parameter in enumerate(parameters(made)):
        size = int(np.prod(parameter.shape))
        value = (np.arange(size, dtype="f4").reshape(parameter.shape) - size / 3) * 0.1 + 0.05 * k
        if program.random_weights:
            value = np.random.RandomState(k).randn(*parameter.shape).astype("f4") * 0.3
        parameter.set_value(value)
    return made


def callable_of(thing: Any) -> Callable:
    """A Layer or function with a signature, which a functools.partial does not have."""
    return thing if hasattr(thing, "parameters") else lambda *given: thing(*given)


def parameters(thing: Any) -> list:
    return list(thing.parameters()) if hasattr(thing, "parameters") else []


def tensors(P: Any, arrays: list[np.ndarray], gradients: bool) -> list:
    """Tensors of arrays; gradients: whether floating ones ask for them."""
    return [P.to_tensor(one, stop_gradient=not gradients or one.dtype.kind != "f") for one in arrays]


def outcomes(
    P: Any, program: Program, thing: Any, call: Callable, gradients: bool = True, second: bool = False
) -> list[Outcome]:
    """What the calls give, one after another; thing: what has the parameters and buffers."""
    return [outcome(P, program, thing, call, one, gradients, second) for one in program.arrays()]


def outcome(
    P: Any, program: Program, thing: Any, call: Callable, arrays: list, gradients: bool, second: bool
) -> Outcome:
    given = tensors(P, arrays, program.gradients)
    out = call(*given)
    made = Outcome(leaves(P, out), labels(out))
    if hasattr(thing, "buffers"):
        made.buffers = [np.asarray(one) for one in thing.buffers()]
    wanted = [t for t in [*given, *parameters(thing)] if not t.stop_gradient]
    flowing = [t for t in flat(out) if isinstance(t, P.Tensor) and not t.stop_gradient]
    if not (gradients and program.gradients and flowing and wanted):
        return made
    loss = sum((t * t).sum() for t in flowing)
    slopes = P.grad(loss, wanted, create_graph=second, allow_unused=True)
    made.gradients = filled(wanted, slopes)
    if second:
        twice = P.grad(sum((g * g).sum() for g in slopes if g is not None), wanted, allow_unused=True)
        made.second = filled(wanted, twice)
    return made


def filled(wanted: list, gradients: list) -> list[np.ndarray]:
    """Gradients as arrays, zeros for None."""
    return [
        np.zeros(t.shape, "f4") if g is None else np.asarray(g)
        for t, g in zip(wanted, gradients, strict=True)
    ]


@mode()
def eager(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """As plain Python."""
    thing = built(program, paddle_jax)
    return outcomes(paddle_jax, program, thing, thing, second=program.second)


# Each operation is compiled by itself here, which takes long: two modules are enough.
@mode(modules=frozenset({"branches", "calls"}))
def not_deferred(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """As plain Python, where each operation runs at once."""
    with differential.flags(paddle_jax, deferred="off"):
        return eager(program, folder)


@mode(compiles=True)
def to_static(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """Compiled, or op by op with a warning. Integers that are passed may be taken for constants."""
    return compiled(program, full_graph=False, computed=program.refused is not None)


@mode(numbers=False, compiles=True, refuses=True)
def full_graph(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """Compiled whole, where integers are no constants."""
    return compiled(program, full_graph=True, computed=True)


def compiled(program: Program, full_graph: bool, computed: bool) -> list[Outcome]:
    """computed: whether integers are computed in the program."""
    thing = built(program, paddle_jax)

    def call(*given: Any) -> Any:
        return thing(*[t + 0 if computed and t.is_integer() else t for t in given])

    function = paddle_jax.jit.to_static(call, full_graph=full_graph)
    return outcomes(paddle_jax, program, thing, function, second=program.second)


def specs(P: Any, program: Program) -> list:
    """InputSpecs whose lengths are open where the calls differ in them."""
    calls, made = program.arrays(), []
    for position, first in enumerate(calls[0]):
        if program.shapes is not None:
            shape = program.shapes[position]
        else:
            lengths = zip(*[arrays[position].shape for arrays in calls], strict=True)
            shape = [n[0] if len(set(n)) == 1 else None for n in lengths]
        made.append(P.static.InputSpec(shape, first.dtype.name, f"x{position}"))
    return made


# The path of the file that the real Paddle saved last, by its program.
_files_of_paddle: dict[Program, str] = {}

# The path of the file that was saved last and what it was made of, by its program: two modes read it.
_saved: dict[Program, tuple[str, Any]] = {}


def saved(program: Program, folder: pathlib.Path) -> tuple[str, Any]:
    """The path of a file of the program, saved here, and what was saved."""
    if program not in _saved:
        path = str(folder / "m")
        thing = built(program, paddle_jax)
        paddle_jax.jit.save(callable_of(thing), path, input_spec=specs(paddle_jax, program))
        _saved.clear()
        _saved[program] = path, thing
    return _saved[program]


@mode(numbers=False, parts=("gradients", "second"), evaluation=True, refuses=True)
def loaded(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """From a file that was saved here."""
    path, thing = saved(program, folder)
    call = paddle_jax.jit.load(path)
    # In the order of the Layer. What the program does not use is in no file, and has no gradient.
    # A loaded parameter has its name in the file and a number, as in Paddle.
    of_file = {one.name.rpartition("_")[0]: one for one in call.parameters()}
    ordered = [of_file.get(one.name, one) for one in parameters(thing)]
    state = types.SimpleNamespace(parameters=lambda: ordered)
    return outcomes(paddle_jax, program, state, call, second=program.second)


# The real Paddle has no gradients by inputs of files.
@mode(numbers=False, parts=(), evaluation=True, refuses=True)
def loaded_by_paddle(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """From a file that was saved here, by the real Paddle."""
    P = real_paddle()
    path, _ = saved(program, folder)
    call = P.jit.load(path)
    return outcomes(P, program, None, call, gradients=False)


@mode(numbers=False, parts=(), evaluation=True, usual=False, own_process=True)
def loaded_from_paddle(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """From a file of the real Paddle, here."""
    P = real_paddle()
    compiled = P.jit.to_static(built(program, P), full_graph=True)
    P.jit.save(compiled, str(folder / "m"), input_spec=specs(P, program))
    _files_of_paddle.clear()
    _files_of_paddle[program] = str(folder / "m")
    call = paddle_jax.jit.load(str(folder / "m"))
    return outcomes(paddle_jax, program, None, call, gradients=False)


# Lengths in these files come from the shapes of inputs alone: programs with lengths of values are left out.
# Each expression would need its own list of what has no such lengths.
_WITH_STABLEHLO = frozenset(
    {"models", "branches", "calls", "detection", "loops", "lengths_from_shapes", "written"}
)


@mode(
    numbers=False,
    parts=(),
    evaluation=True,
    refuses=True,
    modules=_WITH_STABLEHLO,
)
def stablehlo(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """From a StableHLO file."""
    thing = built(program, paddle_jax)
    path = str(folder / "m")
    paddle_jax.interop.save_stablehlo(callable_of(thing), path, specs(paddle_jax, program), platforms=["cpu"])
    call = paddle_jax.interop.load_stablehlo(path)
    return outcomes(paddle_jax, program, None, call, gradients=False)


# Each expression would need its own list of what ONNX does not have.
_WITH_ONNX = frozenset(
    {"models", "branches", "calls", "detection", "loops", "lists", "lengths_from_shapes"}
    | {"lengths_of_values", "refused", "written"}
)


@mode(numbers=False, parts=(), evaluation=True, refuses=True, modules=_WITH_ONNX)
def onnx(program: Program, folder: pathlib.Path) -> list[Outcome]:
    """From an ONNX file, by onnxruntime."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not available for this Python")
    thing = built(program, paddle_jax)
    if hasattr(thing, "eval"):
        thing.eval()
    paddle_jax.onnx.export(callable_of(thing), str(folder / "m"), input_spec=specs(paddle_jax, program))
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(str(folder / "m.onnx"), options)
    names = [one.name for one in session.get_inputs()]
    found = []
    for arrays in program.arrays():
        # A file has no inputs that the program does not use.
        given = {f"x{position}": value for position, value in enumerate(arrays)}
        results = session.run(None, {name: given[name] for name in names})
        found.append(Outcome([Leaf("Tensor", one.dtype.name, one) for one in results]))
    return found


def reference_of_mode(program: Program, mode: Mode) -> list[Outcome]:
    """What is right for a run in a mode."""
    if not (program.files_differ and program in _files_of_paddle and mode.name == "loaded_from_paddle"):
        return reference(program, mode.evaluation)
    P = real_paddle()
    found = outcomes(P, program, None, P.jit.load(_files_of_paddle[program]), gradients=False)
    for one, eager in zip(found, reference(program, mode.evaluation), strict=True):
        one.labels = eager.labels
    return found


@functools.lru_cache(maxsize=4)
def reference(program: Program, evaluation: bool) -> list[Outcome]:
    """What the real Paddle gives, as plain Python."""
    P = real_paddle()
    thing = built(program, P)
    if evaluation and hasattr(thing, "eval"):
        thing.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcomes(P, program, thing, thing, second=program.second)
