"""Building an ONNX graph: nodes, constants, names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.model_files.records import NotInOnnx

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


OPSET = 17


class Graph:
    """Collects nodes and initializers; `onnx` is the module. Names stand for values, `known` has the arrays
    of those that are constant.

    Attributes:
        onnx, opset: as given.
        nodes, initializers: lists of protocol messages.
        known: dict of the values that are constants.
        count: int, how many names were made.
        _cache: dict of constants by content.
    """

    count: int

    def __init__(self, onnx: Any, opset: int = OPSET) -> None:
        self.onnx = onnx
        self.opset = opset
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.known: dict[Any, Any] = {}
        self.count = 0
        self._cache = {}

    def name(self) -> str:
        """A new name."""
        self.count += 1
        return f"v{self.count}"

    def node(self, kind: str, inputs: Sequence[str], outputs: Any = 1, **attrs: Any) -> Any:
        """Adds a node; gives the name of its result, or a list of them. An input of None is left out."""
        inputs, attrs = self._in_opset(kind, list(inputs), attrs)
        # onnxruntime crashes at a layer normalization whose last operand is an empty name.
        while inputs and inputs[-1] is None:
            inputs.pop()
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(
            # An empty name stands for an operand that is left out.
            self.onnx.helper.make_node(kind, [i or "" for i in inputs], names, **attrs)
        )
        if outputs == 1:
            return names[0]
        return names

    def _in_opset(self, kind: str, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Operands and attributes of a node, which are those of OPSET, as a later version has them."""
        is_reduction = kind.startswith("Reduce") and kind != "ReduceSum"
        if self.opset >= 18 and is_reduction and "axes" in attrs:
            inputs.append(self.ints(list(attrs.pop("axes"))))
        if self.opset >= 20 and kind == "DFT":
            inputs += [None] * (2 - len(inputs)) + [self.number(attrs.pop("axis"), "int64")]
        if self.opset >= 20 and kind == "GridSample" and "mode" in attrs:
            attrs["mode"] = {"bilinear": "linear", "bicubic": "cubic"}.get(attrs["mode"], attrs["mode"])
        return inputs, attrs

    def constant(self, array: Any, name: str | None = None) -> str:
        """The name of an array."""
        # `ascontiguousarray` makes vectors of single numbers.
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        # Small constants such as axes recur often, so they are shared.
        if array.size <= 64 and name is None:
            key = (array.dtype.str, array.shape, array.tobytes())
        else:
            key = None
        if key not in self._cache or key is None:
            name = name or self.name()
            self.initializers.append(self.onnx.numpy_helper.from_array(array, name))
            self.known[name] = array
            if key is None:
                return name
            self._cache[key] = name
        return self._cache[key]

    def ints(self, numbers: Any) -> str:
        """The name of a list of int64."""
        return self.constant(np.array(numbers, np.int64))

    def number(self, value: Any, dtype: DTypeLike) -> str:
        """The name of a 0-D tensor."""
        return self.constant(np.array(value, dtype))

    def checked(self, numbers: str, is_right: str) -> str:
        """A vector of int64, in a model that fails where a vector of one bool is False."""
        # ONNX has no errors of its own. Runtimes refuse a position outside of a tensor.
        outside = self.node("Where", [is_right, self.ints([0]), self.ints([1])])
        return self.node("Add", [numbers, self.node("Gather", [self.ints([0]), outside])])

    # operands -----------------------------------------------------------------------------------------------

    def int_list(self, value: Any) -> str:
        """A list operand, which may be several tensors, as one int64 vector."""
        if not isinstance(value, list):
            return value
        return self.node(
            "Concat",
            # Each part may be of any shape of one element.
            [self.node("Reshape", [self.node("Cast", [v], to=7), self.ints([1])]) for v in value],
            axis=0,
        )

    def numbers(self, value: str) -> list[float]:
        """The numbers of an operand that has to be constant.

        Raises:
            NotInOnnx: it is computed.
        """
        if isinstance(value, list):
            # A list of tensors of one number each.
            return [n for v in value for n in self.numbers(v)]
        # ONNX has it as an attribute, which must be known.
        if value not in self.known:
            raise NotInOnnx("an axis, size or number that is computed")
        return self.known[value].ravel().tolist()

    def cast(self, x: str, dtype: DTypeLike) -> Any:
        """x in another dtype."""
        return self.node("Cast", [x], to=self.dtype(dtype))

    def dtype(self, dtype: DTypeLike) -> int:
        """The number of a dtype."""
        return self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
