"""`paddle.onnx.export`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.kernels.op_record import READS
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._program.input_spec import InputSpec
from paddle_jax.framework.atomic import replace_file
from paddle_jax.framework.model_files.interpreter import walk
from paddle_jax.framework.model_files.program import parse
from paddle_jax.framework.model_files.reading import rule_of as reading_rule_of
from paddle_jax.framework.model_files.records import NotInOnnx
from paddle_jax.jit.io import encode
from paddle_jax.jit.translated_layer import TranslatedLayer
from paddle_jax.onnx.complex_rules import (
    COMPLEX_RULES,
    is_complex,
    names_of,
    pair_of,
    paired,
    real_parts,
    run_complex,
)
from paddle_jax.onnx.expressions import EXPRESSIONS
from paddle_jax.onnx.graph import OPSET, Graph
from paddle_jax.onnx.rules import rule_of

if TYPE_CHECKING:
    import types

    from paddle_jax.framework.model_files.program import Block, Program


_CONFIGS = ("output_spec", "enable_onnx_checker", "deploy_backend", "verbose")


def export(layer: Any, path: str, input_spec: Any = None, opset_version: int = 9, **configs: Any) -> None:
    """Saves a Layer or function as an ONNX file, `<path>.onnx`. Needs the package `onnx`: pip install
    'paddle_jax[onnx]'.

    Args:
        layer: Layer, function, what `to_static` returns, or a TranslatedLayer.
        path: str, the file's name without .onnx.
        input_spec: list of InputSpecs, as for `paddle.jit.save`; None or -1 for a length that may vary.
        opset_version: int; operations of ONNX 17 are used when it is lower. Default 9.
        enable_onnx_checker: bool, let `onnx` check the result. Default True.
        deploy_backend, verbose: accepted.
    Raises:
        ImportError: `onnx` is not installed.
        NotImplementedError: the model uses operations that have no form in ONNX here; the message names them.
        ValueError: as for `paddle.jit.save`.
    Differs from Paddle: the conversion is built in; Paddle needs paddle2onnx.
    Example:
        >>> import tempfile, os
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.onnx.export(paddle.nn.Linear(3, 2), path,
        ...                    input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> os.path.exists(path + ".onnx")
        True
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "onnx.export: it needs the package onnx; install it with: pip install 'paddle_jax[onnx]'"
        ) from error
    for name in configs:
        if name not in _CONFIGS:
            raise ValueError(f"onnx.export: {name}: not a setting; allowed are {', '.join(_CONFIGS)}.")
    # A loaded layer has its program already; others are written first.
    if isinstance(layer, TranslatedLayer):
        program = layer.program()
        arrays = {
            name: to_numpy(layer._parameters[layer._held[name]]._value, "onnx.export")
            for name in program.parameters
        }
    else:
        function = getattr(layer, "forward", layer)
        document, arrays, _ = encode(function, input_spec, layer)
        program = parse(document)
    # Rules need at least this version of the operators.
    model = convert(program, arrays, max(OPSET, int(opset_version)))
    # The checker finds what other programs would refuse.
    if configs.get("enable_onnx_checker", True):
        onnx.checker.check_model(model)
    # A file that could not be finished must not replace an older one.
    with replace_file(f"{path}.onnx") as stream:
        stream.write(model.SerializeToString())


def convert(program: Program, arrays: dict[str, Any], opset: Any) -> Any:
    """The ONNX ModelProto of a PIR program.

    Raises:
        NotImplementedError: it has operations without a form in ONNX here.
    """
    import onnx

    # Operations without a rule are reported together, before any node is made.
    names = {op.name for op in walk(program.block)} - {"parameter", "data", "fetch", "cf.yield", *_CONTROL}
    missing = sorted(
        name
        for name in names
        if rule_of(name) is None and name not in COMPLEX_RULES and _expression_of(name) is None
    )
    if missing:
        raise NotImplementedError(f"onnx.export: no form in ONNX here for {', '.join(missing)}")
    g = Graph(onnx, opset)
    env = {}
    kinds = {}
    for name, (number, shape, dtype, _) in program.parameters.items():
        kinds[number] = (dtype, tuple(shape))
        if is_complex(kinds[number]):
            env[number] = pair_of(g, arrays[name], name)
        else:
            env[number] = g.constant(arrays[name], name)
    inputs = []
    for name, number, shape, dtype in program.feeds:
        env[number], kinds[number] = name, (dtype, tuple(shape))
        _check_real(f"the input {name}", kinds[number])
        # Each open length gets a name of its own, as nothing says which ones agree.
        inputs.append(_info(onnx, name, dtype, [f"{name}_{i}" if n < 0 else n for i, n in enumerate(shape)]))
    try:
        _run_block(g, program.block, env, kinds)
    except NotInOnnx as error:
        raise NotImplementedError(f"onnx.export: {error}") from error
    outputs = []
    taken = {name for name, *_ in program.feeds}
    for name, number, shape, dtype in program.fetches:
        # A result that is an input has its name in Paddle's files.
        while name in taken:
            name = f"{name}_out"
        taken.add(name)
        _check_real(f"the result {name}", (dtype, shape))
        if env[number] is None:
            raise NotImplementedError(f"onnx.export: the result {name}, such as a mask, has no form here")
        # A result may also be an input or a constant, so each gets a node with its public name.
        g.nodes.append(onnx.helper.make_node("Identity", [env[number]], [name]))
        outputs.append(_info(onnx, name, dtype, _lengths(shape)))
    graph = onnx.helper.make_graph(g.nodes, "paddle_jax", inputs, outputs, g.initializers)
    return onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid("", opset)],
        # The version of the format belongs to these operators.
        ir_version=8,
        producer_name="paddle_jax",
    )


def _run_block(
    g: Graph, block: Block, env: dict[Any, Any], kinds: dict[Any, Any]
) -> list[Any | None] | list[Any]:
    """Adds the nodes of a block; gives the names of what it yields."""
    for op in block.ops:
        if op.name in ("parameter", "data", "fetch"):
            # Their values are there before the nodes are made.
            continue
        if any(n and env[n] is None for n in op.inputs):
            raise NotInOnnx(f"{op.name}: an operand is a further result, such as a mask, without a form here")
        operands = [env[n] if n else None for n in op.inputs]
        if op.name == "cf.yield":
            return operands
        try:
            found = _results(g, op, operands, env, kinds)
        except NotInOnnx as error:
            # The message says which operation it was.
            raise NotInOnnx(f"{op.name}: {error}") from error
        if len(op.outputs) == 1:
            found = [found]
        env.update(zip(op.outputs, found, strict=False))
        kinds.update(zip(op.outputs, op.types, strict=True))
    return []


def _results(
    g: Graph, op: Callable[..., Any], operands: Sequence[Any], env: dict[Any, Any], kinds: dict[Any, Any]
) -> Any:
    """Adds the nodes of an operation; gives the names of its results."""
    if op.name in _CONTROL:
        return _CONTROL[op.name](g, op, operands, env, kinds)
    rule = rule_of(op.name)
    seen = _Op(op, kinds)
    if any(map(is_complex, [*seen.kinds, *op.types])):
        return run_complex(rule, g, seen, op.name, operands)
    if rule is None:
        return _written_out(g, seen, op.name, operands)
    return rule(g, seen, *operands)


def _expression_of(name: str) -> Callable[..., Any] | None:
    """What computes an operation by others: `function(op, *operands)`."""
    # The rule for reading runs public functions. That of an op of ours runs the op again.
    if name in EXPRESSIONS or name in READS:
        return EXPRESSIONS.get(name)
    return reading_rule_of(name)


def _written_out(g: Graph, op: _Op, name: str, operands: Sequence[Any]) -> Any:
    """Adds the nodes of an expression of an operation."""
    function = _expression_of(name)
    op.numbers = [g.known.get(one) if isinstance(one, str) else None for one in operands]
    is_read = name not in EXPRESSIONS
    specs: list[Any] = []
    for position, (one, kind) in enumerate(zip(operands, op.kinds, strict=True)):
        # Rules for reading take numbers of the file as they are.
        is_number = is_read and one is not None and all(part in g.known for part in _listed(one))
        specs.append(None if one is None or is_number else _spec(kind, f"x{position}"))

    def expression(*tensors: Any) -> Any:
        given = iter(tensors)
        values = [
            _constant(g, one) if spec is None else next(given)
            for one, spec in zip(operands, specs, strict=True)
        ]
        results = function(op, *values)
        if not isinstance(results, tuple):
            return results
        # Further results of Paddle's operation serve its gradient.
        return [one for one in results if one is not None]

    try:
        document, arrays, _ = encode(expression, [spec for spec in specs if spec is not None], None)
    except ValueError as error:
        raise NotInOnnx("lengths that are open; give them as numbers in input_spec") from error
    program = parse(document)
    if any(inner.name == name for inner in walk(program.block)):
        raise NotInOnnx("no form in ONNX here")
    env: dict[Any, Any] = {}
    kinds: dict[Any, Any] = {}
    for key, (number, shape, dtype, _) in program.parameters.items():
        env[number], kinds[number] = g.constant(arrays[key]), (dtype, tuple(shape))
    names = [part for one, spec in zip(operands, specs, strict=True) if spec for part in _listed(one)]
    for (_, number, shape, dtype), given_name in zip(program.feeds, names, strict=True):
        env[number], kinds[number] = given_name, (dtype, tuple(shape))
    _run_block(g, program.block, env, kinds)
    found = [env[number] for _, number, _, _ in program.fetches]
    # A list is one result.
    if isinstance(op.out, list):
        return found
    found = _in_dtypes_of(g, op, found, [dtype for *_, dtype in program.fetches])
    found += [None] * (op.count - len(found))
    return found[0] if op.count == 1 else found


def _in_dtypes_of(g: Graph, op: _Op, found: Sequence[str], dtypes: Sequence[str]) -> list[Any]:
    """The results in the dtypes of the operation: a sum of int32 is int64, and a trace is not."""
    return [
        g.cast(name, kind[0]) if isinstance(kind, tuple) and kind[0] != dtype else name
        for name, dtype, kind in zip(found, dtypes, op.types, strict=False)
    ]


def _constant(g: Graph, value: Any) -> Any:
    """The numbers of an operand that is known, in lists as it is."""
    if isinstance(value, list):
        return [g.known[one] for one in value]
    if value is None:
        return None
    return g.known[value]


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]


def _spec(kind: Any, name: str) -> Any:
    """What describes an operand, or a list of them."""
    if isinstance(kind, list):
        return [_spec(one, f"{name}_{position}") for position, one in enumerate(kind)]
    dtype, shape = kind
    return InputSpec([None if n < 0 else n for n in shape], dtype, name)


def _check_real(name: str, kind: Any) -> None:
    if is_complex(kind):
        raise NotImplementedError(
            f"onnx.export: {name} is complex, which ONNX runtimes do not have; "
            "take and give real Tensors with paddle.as_complex(x) and paddle.as_real(x)"
        )


def _subgraph(
    g: Graph,
    block: Block,
    env: dict[Any, Any],
    kinds: dict[Any, Any],
    inputs: Sequence[Any],
    types: Sequence[Any],
) -> Any:
    """A block as a graph of its own; constants are those of the whole model."""
    # Nodes go to the innermost graph; constants to that of the model.
    outer = g.nodes
    g.nodes = []
    # A result may come from outside the block, and needs a node inside.
    results = names_of(_run_block(g, block, dict(env), dict(kinds)))
    ends = [g.node("Identity", [name]) for name in results]
    nodes = g.nodes
    g.nodes = outer
    found = [
        _info(g.onnx, name, dtype, _lengths(shape))
        for name, (dtype, shape) in zip(ends, real_parts(types), strict=True)
    ]
    return g.onnx.helper.make_graph(nodes, g.name(), inputs, found)


def _if(
    g: Graph, op: Callable[..., Any], operands: Sequence[str], env: dict[Any, Any], kinds: dict[Any, Any]
) -> list[str] | str:
    # Both branches see all values from outside.
    then, other = (_subgraph(g, block, env, kinds, [], op.types) for block in op.blocks)
    count = len(real_parts(op.types))
    return _grouped(g.node("If", operands, count, then_branch=then, else_branch=other), op)


def _loop(
    g: Graph, op: Callable[..., Any], operands: Sequence[str], env: dict[Any, Any], kinds: dict[Any, Any]
) -> list[str]:
    body = op.blocks[0]
    flag = ("bool", ())
    kinds_of_parts = real_parts(op.types)
    names = [g.name() for _ in kinds_of_parts]
    # ONNX passes a loop the count of rounds and the condition.
    inputs = [_info(g.onnx, g.name(), "int64", []), _info(g.onnx, g.name(), "bool", [])]
    inputs += [
        _info(g.onnx, name, dtype, _lengths(shape))
        for name, (dtype, shape) in zip(names, kinds_of_parts, strict=True)
    ]
    inside = (
        env | dict(zip(body.args, paired(names, op.types), strict=True)),
        kinds | dict(zip(body.args, op.types, strict=True)),
    )
    # The body gives the next condition first.
    part = _subgraph(g, body, *inside, inputs, [flag, *op.types])
    # No limit of rounds.
    return _grouped(g.node("Loop", [None, *names_of(operands)], len(names), body=part), op)


def _grouped(found: Any, op: Any) -> Any:
    """The results of a branch or loop: one name, or a list of them, with Pairs for complex numbers."""
    results = paired(found if isinstance(found, list) else [found], op.types)
    if len(results) == 1:
        return results[0]
    return results


_CONTROL = {"if": _if, "while": _loop}


def _lengths(shape: Sequence[int]) -> list[int | None]:
    """A shape as ONNX has it: None for a length that is open."""
    return [None if n < 0 else n for n in shape]


def _info(onnx: types.ModuleType, name: str, dtype: str, shape: Sequence[int | str | None]) -> Any:
    return onnx.helper.make_tensor_value_info(
        name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
    )


class _Op:
    """What a rule sees of an operation: attributes by name, and `kinds`, the (dtype, shape) of each operand;
    `types` those of each result, and `out` that of the first."""

    def __init__(self, op: Callable[..., Any], kinds: Any) -> None:
        self.__dict__.update(op.attrs)
        self.kinds, self.out = [kinds.get(n) for n in op.inputs], next(iter(op.types), None)
        self.types = op.types
        self.count = len(op.outputs)
        self.numbers: list[Any] = []

    def number(self, at: int) -> int:
        """The number of an operand of one element.

        Raises:
            NotInOnnx: it is computed.
        """
        if self.numbers[at] is None:
            raise NotInOnnx("a number that is computed")
        return int(self.numbers[at].item())

    def kind(self, at: Any = 0) -> str:
        """The dtype of an operand."""
        return self.kinds[at][0]

    def ndim(self, at: Any = 0) -> int:
        """The number of axes of an operand."""
        return len(self.kinds[at][1])

    def lengths(self, at: Any = 0) -> tuple[int, ...]:
        """The shape of an operand, -1 for unknown lengths."""
        return self.kinds[at][1]

    def channels_first(self) -> None:
        """Refuses channels on the last axis.

        Raises:
            NotInOnnx: they are there.
        """
        # ONNX has images with the channels first alone.
        if getattr(self, "data_format", "NCHW")[-1] == "C":
            raise NotInOnnx("channels on the last axis")
