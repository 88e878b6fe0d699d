"""Building a PIR program: values, operations with attributes of the right kinds, and parameters."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import Length, expression_of, has_lengths, is_length
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.length_constants import is_uniform
from paddle_jax.framework.model_files.constant_folding import np_dtype
from paddle_jax.framework.model_files.length_writer import write_expression
from paddle_jax.framework.model_files.program import TYPES, VERSION
from paddle_jax.framework.model_files.signatures import signature

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.lazy.lengths import LengthBool


_CODES = {name: code for code, name in TYPES.items()}
_SCALARS = {
    "bool": "0.a_bool",
    "i32": "0.a_i32",
    "i64": "0.a_i64",
    "f32": "0.a_f32",
    "f64": "0.a_f64",
    "str": "0.a_str",
    "dtype": "1.a_dtype",
}
# Paddle writes the undefined place for operations that run wherever the program does.
_PLACE = {"#": "1.a_place", "D": [0, 0, ""]}
MAX_INLINE_ELEMENTS = (
    64  # elements up to which an array is written into the program instead of the parameter file
)


class Value:
    """A value of the program.

    Attributes:
        number: int.
        dtype: str; None of a list of values.
        shape: list of ints and Lengths.
        items: list of the Values in a list of values, else None.
    """

    __slots__ = ("dtype", "items", "number", "shape")

    def __init__(
        self, number: int, dtype: Any, shape: Sequence[Any], items: list[Value] | None = None
    ) -> None:
        self.number: int = number
        self.dtype: Any = dtype
        self.shape: list[Any] = list(shape)
        self.items: list[Value] | None = items

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> tuple[Any, ...]:
        """(dtype, shape), to make a value like it."""
        return self.dtype, self.shape


class _Region:
    """A block of control flow.

    Attributes:
        args: list of the Values that come in.
        document: its JSON when it is done, else None.
    """

    def __init__(self, args: list[Value]) -> None:
        self.args = args
        self.document: dict[Any, Any] | None = None


def _unresolved(number: int) -> Value:
    raise NotWritable("a length of a tensor that is not made yet")


def _nothing_likely(number: int) -> None:
    return None


def dims(shape: Any) -> list[int]:
    """A shape with -1 for what is not known."""
    # Paddle's files have -1 for a length that varies.
    return [-1 if isinstance(n, Length) else int(n) for n in shape]


def _type(dtype: str, shape: Sequence[Length | int]) -> dict[str, Any]:
    return {"#": "0.t_dtensor", "D": [{"#": _CODES[dtype]}, dims(shape), "NCHW", [], 0]}


def has_gradient(dtype: str) -> bool:
    """Whether gradients flow through numbers of a dtype: floating and complex ones."""
    return dtype.startswith(("float", "bfloat", "complex"))


def _bools(name: str, values: Sequence[bool]) -> dict[str, Any]:
    return {"N": name, "AT": {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": v} for v in values]}}


def _number(code: str, value: float | str) -> dict[str, Any]:
    # JSON has no form of these numbers: a key of its own holds their names.
    if not isinstance(value, float) or math.isfinite(value):
        return {"#": code, "D": value}
    if math.isnan(value):
        return {"#": code, "VD": "NaN"}
    return {"#": code, "VD": "INF" if value > 0 else "-INF"}


def _encoded(kind: str, value: Any) -> dict[str, Any] | dict[str, str]:
    if kind == "place":
        return _PLACE
    # Paddle has a kind of its own for lists of int64, beside its arrays.
    if kind == "ints":
        return {"#": "1.a_intarray", "D": [int(n) for n in value]}
    # The kinds of lists are named by their items: `i32s`.
    if kind.endswith("s") and kind != "str":
        cast = float if kind[0] == "f" else int
        return {"#": "0.a_array", "D": [_number(_SCALARS[kind[:-1]], cast(v)) for v in value]}
    cast = {"b": bool, "i": int, "f": float}.get(kind[0], str)
    return _number(_SCALARS[kind], cast(value))


class Builder:
    """Collects operations; `document()` is the JSON of the program.

    Attributes:
        ops: list of the operations of the current block, as JSON.
        parameter_ops: list of the operations that stand for parameters, as JSON.
        arrays: dict of the parameters by name.
        count: int, the number of the last value.
        resolve: function that gives the Value of a numbered Symbol of the recording.
        likely: function that gives likely lengths of a numbered Symbol that has no Value yet, or None.
        block_count: int, the number of the last block.
        argument_count: int, minus the number of arguments of blocks.
        stored: dict from keys (ids of Tensors, names of constants) to (what it is, its Value in the
            parameter file).
        cache: dict of Values of constants, by what they hold.
        extension_names: set of the names of operations that are not Paddle's.
        flowing: set of the numbers of values into which gradients of parameters and inputs flow.
        is_stopping: bool, whether no gradient flows into what is added.
    """

    argument_count: int
    block_count: int
    count: int

    def __init__(self) -> None:
        self.ops: list[dict[Any, Any]] = []
        self.parameter_ops: list[dict[Any, Any]] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.count = 0
        self.resolve: Callable[[int], Value] = _unresolved
        self.likely: Callable[[int], Any] = _nothing_likely
        self.block_count = 0
        self.argument_count = 0
        self.stored: dict[Any, tuple[Any, Value]] = {}
        self.cache: dict[tuple[Any, ...], Value] = {}
        self.extension_names: set[str] = set()
        self.flowing: set[int] = set()
        self.is_stopping = False

    # values -------------------------------------------------------------------------------------------------

    def value(self, dtype: DTypeLike, shape: Any) -> Value:
        """A new value of a tensor type."""
        self.count += 1
        return Value(self.count, dtype, shape)

    def parameter(self, name: str, array: Any, trainable: bool) -> Value:
        """A value from the parameter file."""
        array = np.asarray(array)
        # Two parameters of one name would be one record of the file.
        while name in self.arrays:
            name += "_1"
        value = self.value(array.dtype.name, array.shape)
        self.arrays[name] = array
        if trainable:
            self.flowing.add(value.number)
        self.parameter_ops.append(
            {
                "#": "p",
                # The first list: not distributed, persistable and stored, and the name; then what of the
                # state is trained.
                "A": [0, 1, 1, name],
                "DA": [],
                "O": {"%": value.number, "TT": _type(*value.type)},
                "OA": [1, int(not trainable), int(trainable)],
                "QA": [],
            }
        )
        return value

    def data(self, name: str, dtype: DTypeLike, shape: Any, stop: bool) -> Value:
        """An input. stop: whether it wants no gradient."""
        value = self.value(dtype, shape)
        if not stop and has_gradient(value.dtype):
            self.flowing.add(value.number)
        self._append(
            "1.data", {"name": name, "shape": dims(shape), "dtype": dtype}, [], [value], "data", stop=False
        )
        return value

    def fetch(self, value: Value, index: int) -> None:
        """Makes a value an output."""
        fetched = self.value(value.dtype, value.shape)
        self._append(
            "1.fetch", {"name": f"fetch_name_{index}", "col": index}, [value], [fetched], "fetch", stop=False
        )
        # An output keeps its value after the run.
        self.ops[-1]["OA"].insert(0, _bools("persistable", [True]))

    # operations ---------------------------------------------------------------------------------------------

    def op(self, name: str, inputs: Any, out: Any, **attrs: Any) -> list[Value] | Value:
        """Adds an operation of pd_op. `out`: (dtype, shape) of its result, or a list of those, None for a
        result that is not used.

        Operands are Values or None. Gives a Value or a list.
        """
        many = isinstance(out, list)
        # An unused result has a type all the same.
        outputs = [self.value(*(kind or ("float32", [0]))) for kind in (out if many else [out])]
        self._append("1." + name, attrs, inputs, outputs, name)
        if many:
            return outputs
        return outputs[0]

    @contextlib.contextmanager
    def stopping(self, is_stopping: bool) -> Iterator[None]:
        """In the block no gradient flows into what is added, if is_stopping."""
        before = self.is_stopping
        self.is_stopping = is_stopping
        try:
            yield
        finally:
            self.is_stopping = before

    def detached(self, value: Value) -> Value:
        """The value without a gradient, as `detach` gives it."""
        key = "detached", value.number
        if key not in self.cache:
            self.cache[key] = self.value(*value.type)
            self._append("1.assign", {}, [value], [self.cache[key]], "assign", stop=True)
        return self.cache[key]

    def undo(self, op_count: Any) -> None:
        """Takes back the operations after the first `op_count`."""
        removed = {out["%"] for op in self.ops[op_count:] for out in op["O"]}
        del self.ops[op_count:]
        # Values of operations that were taken back must not be used again.
        self.cache = {key: value for key, value in self.cache.items() if value.number not in removed}

    def list_op(self, name: str, inputs: Any, outs: Any, **attrs: Any) -> list[Value]:
        """Adds an operation whose one result is a list of tensors; gives its items."""
        self.count += 1
        whole = self.count
        # The result is a list, and `builtin.split` gives its items.
        self._append("1." + name, attrs, inputs, [(whole, outs)], name)
        items = [self.value(*kind) for kind in outs]
        self._append("0.split", {}, [Value(whole, None, [])], items, None)
        return items

    def lists_op(self, name: Any, inputs: Any, outs: Any, **attrs: Any) -> list[Any]:
        """Adds an operation of which some results are lists of tensors, given as lists of types; gives all
        items one after the other."""
        outputs: list[Any] = []
        values: list[Any] = []
        lists = []
        for kind in outs:
            if isinstance(kind, list):
                self.count += 1
                outputs.append((self.count, kind))
                lists.append((self.count, kind, len(values)))
                values += [None] * len(kind)
            else:
                outputs.append(self.value(*kind))
                values.append(outputs[-1])
        self._append("1." + name, attrs, inputs, outputs, name)
        for number, kinds, start in lists:
            items = [self.value(*kind) for kind in kinds]
            self._append("0.split", {}, [Value(number, None, [])], items, None)
            values[start : start + len(items)] = items
        return values

    def combine(self, values: Any) -> Value:
        """A list of values as one value."""
        self.count += 1
        combined = Value(self.count, None, [], list(values))
        self._append("0.combine", {}, values, [(combined.number, [v.type for v in values])], None)
        return combined

    def _append(
        self,
        full_name: str,
        attrs: dict[str, Any],
        inputs: Sequence[Value | None],
        outputs: Sequence[Any],
        name: str | None,
        stop: bool | None = None,
    ) -> None:
        known = signature(name)
        # A misspelled attribute would be left out by Paddle without a message.
        unknown = set(attrs) - {a for a, _, _ in known}
        if unknown:
            raise NotWritable(f"{name}: attributes {sorted(unknown)} are not PIR's")
        listed = []
        for attr, kind, default in known:
            value = attrs.get(attr, default)
            # The place alone may be left out.
            if value is None and kind != "place":
                raise NotWritable(f"{name}: attribute {attr} is missing")
            if has_lengths(value):
                raise NotWritable(f"{name}: {attr} depends on lengths of the inputs that are not fixed")
            listed.append({"N": attr, "AT": _encoded(kind, value)})
        ends = []
        stops = []
        for out in outputs:
            if isinstance(out, Value):
                ends.append({"%": out.number, "TT": _type(*out.type)})
                dtype = out.dtype
            else:
                ends.append({"%": out[0], "TT": {"#": "0.t_vec", "D": [_type(*kind) for kind in out[1]]}})
                # Types of lists are those of their items.
                dtype = out[1][0][0] if out[1] else "float32"
            if stop is None:
                stops.append(self.is_stopping or not has_gradient(dtype))
            else:
                stops.append(stop)
        if not self.flowing.isdisjoint([v.number for v in inputs if v is not None]):
            self.flowing.update(end["%"] for end, stop in zip(ends, stops, strict=True) if not stop)
        self.ops.append(
            {
                "#": full_name,
                "A": listed,
                # 0 stands for an operand that is left out.
                "I": [{"%": v.number if v is not None else 0} for v in inputs],
                "O": ends,
                "OA": [_bools("stop_gradient", stops)],
            }
        )

    @contextlib.contextmanager
    def block(self, args: Any = ()) -> Iterator[Any]:
        """Inside, operations go to a block of their own: gives [its JSON]. `args`: types of the values that
        come in, as `block.args`."""
        # Constants that are made in the block exist there alone.
        outer_ops = self.ops
        outer_cache = dict(self.cache)
        self.ops = []
        self.block_count += 1
        number = self.block_count
        region = _Region([self._argument(kind) for kind in args])
        block_ops: list[dict[Any, Any]] = []
        try:
            yield region
            block_ops = self.ops
        finally:
            self.ops = outer_ops
            self.cache = outer_cache
        arguments = [{"#": value.number, "TT": _type(*value.type)} for value in region.args]
        region.document = {
            "#": f"region_{number}",
            "blocks": [{"#": f"block_{number}", "args": arguments, "ops": block_ops}],
        }

    # Arguments of blocks count downwards, so that they never meet results.
    def _argument(self, kind: Sequence[Any]) -> Value:
        self.argument_count -= 1
        return Value(self.argument_count, *kind)

    def yields(self, values: Any) -> None:
        """Ends a block with its results."""
        self.ops.append({"#": "2.yield", "A": [], "I": [{"%": v.number} for v in values], "O": [], "OA": []})

    def control_flow(self, name: str, inputs: Any, regions: Any, outs: Any) -> list[Value]:
        """Adds `if` or `while`."""
        outputs = [self.value(*kind) for kind in outs]
        self._append("1." + name, {}, inputs, outputs, name)
        self.ops[-1]["regions"] = [region.document for region in regions]
        last_ops = [region.document["blocks"][0]["ops"][-1] for region in regions]
        yielded = {one["%"] for op in last_ops for one in op["I"]}
        if not self.flowing.isdisjoint(yielded):
            self.flowing.update(value.number for value in outputs if has_gradient(value.dtype))
        return outputs

    def extension_op(self, name: str, inputs: Any, outs: Any, attrs: str) -> list[Value]:
        """Adds an operation that only paddle_jax knows; its attributes are one text."""
        outputs = [self.value(*kind) for kind in outs]
        self._append("1." + name, {}, inputs, outputs, None)
        self.ops[-1]["A"] = [{"N": "attributes", "AT": _encoded("str", attrs)}]
        self.extension_names.add(name)
        return outputs

    def rnn(self, inputs: Any, size: Any, states: Any, **attrs: Any) -> tuple[Value, list[Value]]:
        """The recurrent operation, of which one result is a list: (outputs, [last states])."""
        # The masks of dropout, and room that training needs: results that nothing reads.
        done = self.value(*size)
        mask = self.value("uint8", [])
        reserve = self.value("float32", [0])
        self.count += 1
        whole = self.count
        self._append(
            "1.rnn",
            {"dropout_prob": 0.0, "is_bidirec": False, **attrs},
            inputs,
            [done, mask, (whole, states), reserve],
            "rnn",
        )
        last = [self.value(*kind) for kind in states]
        self._append("0.split", {}, [Value(whole, None, [])], last, None)
        return done, last

    def dropout_state(self) -> list[Value] | Value:
        """What the recurrent operation wants for the state of its dropout, which evaluation does not use."""
        return self.op("full", [], ("uint8", []), shape=[], value=0.0, dtype="uint8")

    # numbers ------------------------------------------------------------------------------------------------

    def full(self, value: Any, dtype: DTypeLike = "float32", shape: Any = (1,)) -> list[Value] | Value:
        """A tensor of one number."""
        if is_length(value) or has_lengths(tuple(shape)):
            raise NotWritable(
                "a number that depends on lengths of the inputs stands where a constant has to be"
            )
        # By its bits: 0.0 and -0.0 are different constants, and NaN is one.
        key = "full", float(value).hex(), dtype, tuple(shape)
        if not math.isfinite(value):
            return self._infinite(value, dtype, shape)
        if key not in self.cache:
            self.cache[key] = self.op("full", [], (dtype, list(shape)), shape=shape, value=value, dtype=dtype)
        return self.cache[key]

    def _infinite(self, value: float, dtype: str, shape: Sequence[Any]) -> list[Value] | Value:
        """As `full` of a number that is not finite: Paddle writes such attributes, but cannot read them."""
        name = f"constant_{value}_{dtype}"
        if name not in self.stored:
            # In the parameter file, which holds any number.
            self.stored[name] = None, self.parameter(name, np.full((), value, np_dtype(dtype)), False)
        return self.op("expand", [self.stored[name][1], self.ints(shape)], (dtype, list(shape)))

    def ints(self, numbers: Any) -> Value:
        """A list of ints as an operand: a constant, or put together where some depend on the inputs."""
        numbers = list(numbers)
        # Known: one operation, shared by all that need these numbers.
        if not any(map(is_length, numbers)) and all(isinstance(n, int | np.integer) for n in numbers):
            key = "ints", tuple(numbers)
            if key not in self.cache:
                self.cache[key] = self.op(
                    "full_int_array", [], ("int64", [len(numbers)]), value=numbers, dtype="int64"
                )
            return self.cache[key]
        return self.combine([self._int(n) for n in numbers])

    def vector(self, numbers: Any) -> Value | list[Value]:
        """As `ints`, as one tensor."""
        operand = self.ints(numbers)
        if operand.dtype:
            return operand
        return self.op("stack", [operand], ("int64", [len(operand.items)]), axis=0)

    def _int(self, number: Any) -> Any:
        """A 0-D int64 tensor: of a number, a Length, a Value, or a Value and what is added to it."""
        if isinstance(number, tuple):
            # Copied first, as Paddle may add in place.
            value, more = number
            return self.op("add", [self.copy(value), self._int(more)], ("int64", []))
        if isinstance(number, Value):
            return number
        if isinstance(number, Length):
            return self.length(number)
        return self.full(number, "int64", ())

    def length(self, number: Length | LengthBool) -> list[Value] | Value:
        """A 0-D tensor of a number that depends on the inputs: int64, float64 or bool."""
        return write_expression(self, expression_of(number))

    def number(self, number: Any, dtype: DTypeLike, shape: Any = ()) -> list[Value] | Value:
        """A tensor of one number, which may depend on the inputs."""
        if not is_length(number):
            return self.full(number, dtype, shape)
        value = self.copy(self.length(number))
        if value.dtype != dtype:
            value = self.op("cast", [value], (dtype, []), dtype=dtype)
        if shape:
            return self.op("reshape", [value, self.ints(shape)], (dtype, list(shape)))
        return value

    def copy(self, value: Value) -> list[Value] | Value:
        """A copy of a number: Paddle computes in place, also on what a list holds, and so does `assign`. For
        `maximum` it has no such form."""
        if value.dtype == "bool":
            return self.op("any", [value], value.type, axis=[])
        return self.op("maximum", [value, value], value.type)

    def constant(self, array: Any) -> list[Value] | Value:
        """A tensor of known numbers: in the program when it is small, else in the parameter file."""
        array = np.asarray(array)
        kind = array.dtype.name, list(array.shape)
        # The real Paddle loads no parameter without elements.
        if not array.size:
            return self.full(0, *kind)
        # Kinds that attributes can hold; bfloat16 would lose its dtype there.
        if array.dtype.kind in "biuf" and kind[0] != "bfloat16":
            if is_uniform(array):
                return self.full(array.flat[0], *kind)
            if (
                array.size <= MAX_INLINE_ELEMENTS
                and np.isfinite(array).all()
                and kind[0] in ("float32", "float64", "int32", "int64", "bool")
            ):
                # `assign_value_` fills a tensor that is there.
                start = self.op("full", [], kind, shape=kind[1], value=0.0, dtype=kind[0])
                return self.op(
                    "assign_value_",
                    [start],
                    kind,
                    shape=kind[1],
                    dtype=kind[0],
                    values=[float(v) for v in array.ravel()],
                )
        return self.parameter(f"constant_{len(self.arrays)}", array, False)

    def document(self) -> bytes:
        """The JSON bytes of the program."""
        # Parameters come first, as other operations may use them from the start.
        block = {"#": "block_0", "args": [], "ops": [*self.parameter_ops, *self.ops]}
        return json.dumps(
            {
                "base_code": {"magic": "pir", "trainable": True, "version": VERSION},
                "program": {"regions": [{"#": "region_0", "blocks": [block]}]},
            }
        ).encode()
