"""The structure of a PIR program as the `.json` file holds it: blocks of operations on numbered values.

    {"base_code": {"magic": "pir", ...},
     "program": {"regions": [{"blocks": [{"args": [...], "ops": [...]}]}]}}

An operation has a name ("#", with the number of its dialect in front), attributes ("A"), operands ("I", value
0 for none), results ("O" with their types) and, for control flow, regions. Parameters are operations named
"p". Inputs are `pd_op.data`, outputs `pd_op.fetch`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.pickle_names import CorruptFileError, shortened

VERSION = 4
DIALECTS = {"0": "builtin.", "1": "", "2": "cf."}  # the prefix of names here: those of pd_op have none
TYPES = {
    "0.t_bool": "bool",
    "0.t_i8": "int8",
    "0.t_i16": "int16",
    "0.t_i32": "int32",
    "0.t_i64": "int64",
    "0.t_ui8": "uint8",
    "0.t_f16": "float16",
}
TYPES |= {
    "0.t_bf16": "bfloat16",
    "0.t_f32": "float32",
    "0.t_f64": "float64",
    "0.t_c64": "complex64",
    "0.t_c128": "complex128",
}
TYPES |= {"0.t_f8e4m3fn": "float8_e4m3fn", "0.t_f8e5m2": "float8_e5m2"}
_SPECIAL = {"INF": math.inf, "-INF": -math.inf, "NaN": math.nan}


class Op:
    """One operation: name without its dialect's number, attributes, numbers of operands and
    results, blocks.

    Attributes:
        name: str, without the number of its dialect.
        attrs: dict of the attributes.
        inputs, outputs: lists of the numbers of operands and results.
        types: list of the types of the results.
        blocks: list of Blocks.
        stops: list, for each result whether no gradient flows into it.
        cut: set of the results that a gradient would flow into, were it not for `stops`: the code has used
            `no_grad` or `detach`.
        pull: of an operation that computes gradients, how; else None. `gradient_ops.py` sets it.
    """

    __slots__ = ("attrs", "blocks", "cut", "inputs", "name", "outputs", "pull", "stops", "types")

    def __init__(
        self,
        name: str,
        attrs: dict[str, Any],
        inputs: Any,
        outputs: Any,
        types: Any,
        blocks: Any = (),
        stops: Any = (),
    ) -> None:
        self.name: str = name
        self.attrs: dict[str, Any] = attrs
        self.inputs: Any = inputs
        self.outputs: Any = outputs
        self.types: Any = types
        self.blocks: Any = blocks
        self.stops: Any = stops
        self.cut: set[int] = set()
        self.pull: Any = None


class Block:
    """Operations in order, and the numbers of the values that come in."""

    __slots__ = ("args", "ops")

    def __init__(self, args: Any, ops: Any) -> None:
        self.args: Any = args
        self.ops: Any = ops


class Program:
    """A whole model: its block, and what goes in and out.

    Attributes:
        block: Block, all operations.
        document: dict, the JSON it came from, or None.
        file: str, where that was.
        parameters: dict from names to (number, shape, dtype, trainable) of those in the parameter file.
        absent: list of the numbers of other parameters: states of dropout, which nothing here reads.
        feeds, fetches: lists of (name, number, shape, dtype).
    """

    file = "the program in memory"

    def __init__(self, block: Block, document: dict[str, Any] | None = None) -> None:
        self.block = block
        self.document = document
        self.parameters: dict[Any, Any] = {}
        self.absent: list[Any] = []
        self.feeds: list[Any] = []
        fetches = []
        for op in block.ops:
            # A parameter that is not stored is the state of a dropout.
            if op.name == "parameter" and not op.attrs["stored"]:
                self.absent.append(op.outputs[0])
            elif op.name == "parameter":
                self.parameters[op.attrs["name"]] = (
                    op.outputs[0],
                    *_tensor_type(op.types[0]),
                    op.attrs["trainable"],
                )
            elif op.name == "data":
                self.feeds.append((op.attrs["name"], op.outputs[0], *_tensor_type(op.types[0])))
            elif op.name == "fetch":
                fetches.append(
                    (op.attrs["col"], (op.attrs["name"], op.inputs[0], *_tensor_type(op.types[0])))
                )
        # The columns of `fetch` are the order of the results.
        self.fetches: list[Any] = [fetch for _, fetch in sorted(fetches, key=lambda pair: pair[0])]

    def __str__(self) -> str:
        return "{\n" + _text(self.block, "    ") + "}\n"

    def num_blocks(self) -> int:
        """1: what control flow holds is counted with its operation."""
        return 1


def _tensor_type(kind: Sequence[Any]) -> tuple[list[Any], str]:
    if not isinstance(kind, tuple) or len(kind) != 2 or not isinstance(kind[0], str):
        raise CorruptFileError("a parameter, an input or an output is no tensor")
    return list(kind[1]), kind[0]


def parse(data: Any) -> Program:
    """Reads the bytes of a `.json` file.

    Raises:
        CorruptFileError: they hold no PIR program, or a damaged one.
    """
    try:
        document = json.loads(data)
        if document["base_code"]["magic"] != "pir":
            raise CorruptFileError("it is not a PIR program")
        # Only newer versions are refused: they may mean something else by the same names.
        if document["base_code"]["version"] > VERSION:
            raise CorruptFileError(
                f"it has version {document['base_code']['version']} of the PIR format; "
                f"versions up to {VERSION} are known"
            )
        regions = document["program"]["regions"]
        if len(regions) != 1 or len(regions[0]["blocks"]) != 1:
            raise CorruptFileError("its program has no single block")
        program = Program(_block(regions[0]["blocks"][0]), document)
        # Before it runs: a value that is not made would fail somewhere inside.
        _check(program.block, set())
        _find_cuts(program.block, set())
        return program
    except CorruptFileError:
        raise
    except RecursionError:
        raise CorruptFileError("it is nested too deeply") from None
    except Exception as error:  # as many ways as there are to leave something out
        raise CorruptFileError(f"it is damaged or not a model ({shortened(error)})") from error


def _block(raw: dict[str, Any]) -> Block:
    return Block([int(arg["#"]) for arg in raw["args"]], [_op(one) for one in raw["ops"]])


def _op(raw: dict[str, Any]) -> Any:
    # Parameters have a short form of their own.
    if raw["#"] == "p":
        name, output, (persistable, _, trainable) = raw["A"][3], raw["O"], raw["OA"]
        if not isinstance(name, str):
            raise CorruptFileError("a parameter has no name")
        attrs = {"name": name, "trainable": bool(trainable), "stored": bool(persistable)}
        return Op("parameter", attrs, [], [_number(output)], [_type(output["TT"])], stops=[not trainable])
    dialect, _, name = raw["#"].partition(".")
    if dialect not in DIALECTS or not name or name == "parameter":
        raise CorruptFileError(f"operation {raw['#']!r} is of no known dialect")
    attrs = {one["N"]: _attribute(one["AT"]) for one in raw["A"]}
    blocks = [_block(block) for region in raw.get("regions", ()) for block in region["blocks"]]
    inputs, outputs = ([_number(one) for one in raw[key]] for key in "IO")
    types = [_type(one["TT"]) for one in raw["O"]]
    stops = next((_attribute(one["AT"]) for one in raw.get("OA", ()) if one["N"] == "stop_gradient"), ())
    return Op(DIALECTS[dialect] + name, attrs, inputs, outputs, types, blocks, stops)


def _number(raw: dict[str, Any]) -> int:
    if type(raw["%"]) is not int:
        raise CorruptFileError("a value has no number")
    return raw["%"]


def _attribute(raw: dict[str, Any]) -> Any:
    if "VD" in raw:
        return _SPECIAL[raw["VD"]]
    value = raw.get("D")
    if raw["#"] == "0.a_array":
        return [_attribute(one) for one in value]
    # Kinds with structures, which no operation here reads.
    if any(isinstance(one, dict) for one in as_list(value)):
        raise CorruptFileError(f"an attribute of kind {raw['#']!r} has no plain value")
    return value


def _type(raw: dict[str, Any]) -> Any:
    """(dtype, dims) of a tensor, a list of types of a list, None of anything else."""
    if raw.get("#") == "0.t_dtensor":
        dtype = raw["D"][0]["#"]
        dims = raw["D"][1]
        if dtype not in TYPES or not all(type(n) is int for n in dims):
            raise CorruptFileError("a value has an unknown type")
        return TYPES[dtype], tuple([max(n, -1) for n in dims])  # Paddle multiplies -1 by lengths
    if raw.get("#") == "0.t_vec":
        return [_type(one) for one in raw["D"]]
    return None


def _check(block: Block, known: set[Any] | set[int]) -> None:
    """Every operand has been made before, every value once, and names are names."""
    # Blocks see the values around them.
    known = known | set(block.args)
    for op in block.ops:
        if op.name in ("data", "fetch") and not isinstance(op.attrs["name"], str):
            raise CorruptFileError("an input or an output has no name")
        if any(number and number not in known for number in op.inputs):
            raise CorruptFileError(f"operation {op.name} uses a value that nothing has made")
        for inner in op.blocks:
            _check(inner, known)
        if known & set(op.outputs):
            raise CorruptFileError(f"operation {op.name} makes a value that exists")
        known |= set(op.outputs)


def _find_cuts(block: Block, flowing: set[int]) -> None:
    """Sets `Op.cut`. flowing: the values outside into which gradients flow."""
    flowing = flowing | set(block.args)
    for op in block.ops:
        for inner in op.blocks:
            _find_cuts(inner, flowing)
        stopped = {number for number, stop in zip(op.outputs, op.stops, strict=False) if stop}
        # What blocks give is cut inside them. Where all operands stop, there is nothing to cut.
        if not op.blocks and not flowing.isdisjoint(op.inputs):
            op.cut = stopped
        flowing |= set(op.outputs) - stopped


def _text(block: Any, indent: Any) -> str:
    lines = []
    for op in block.ops:
        results = ", ".join(f"%{n}" for n in op.outputs)
        operands = ", ".join(f"%{n}" if n else "<<NULL VALUE>>" for n in op.inputs)
        attrs = ", ".join(f"{key}:{value}" for key, value in op.attrs.items())
        lines.append(f'{indent}({results}) = "{op.name}" ({operands}) {{{attrs}}}\n')
        lines += [f"{indent}{{\n{_text(inner, indent + '    ')}{indent}}}\n" for inner in op.blocks]
    return "".join(lines)
