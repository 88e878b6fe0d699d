"""Operations as older programs call them: `paddle._legacy_C_ops` and `LayerHelper.append_op`.

`legacy_slots.txt` has one line per operation: `name|inputs|outputs`, the names that its operands and results
have there. Those names and the order of operands are older than the arguments of `_C_ops`.
"""

from __future__ import annotations

import functools as ft
import importlib.resources
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._core.tensors.var_type import VarType
from paddle_jax._paths import Paths
from paddle_jax.framework.model_files.c_calls import find, is_tensor_argument, signatures
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.tensor.search import argsort

_ELEMENTWISE = {
    f"elementwise_{old}": new
    for old, new in (
        ("add", "add"),
        ("sub", "subtract"),
        ("mul", "multiply"),
        ("div", "divide"),
        ("max", "maximum"),
        ("min", "minimum"),
        ("mod", "remainder"),
        ("floordiv", "floor_divide"),
        ("pow", "elementwise_pow"),
    )
}
_REDUCTIONS = {f"reduce_{kind}": kind for kind in ("sum", "mean", "max", "min", "prod", "any", "all")}

# older names of operations: {name: today's}
_NAMES = {
    "matmul_v2": "matmul",
    "reshape2": "reshape",
    "squeeze2": "squeeze",
    "transpose2": "transpose",
    "unsqueeze2": "unsqueeze",
    "top_k_v2": "topk",
    "expand_v2": "expand",
    "arg_max": "argmax",
    "arg_min": "argmin",
    "sum": "add_n",
    "one_hot_v2": "one_hot",
    "hard_swish": "hardswish",
    "hard_sigmoid": "hardsigmoid",
    "fill_any_like": "full_like",
    "flatten_contiguous_range": "flatten",
    "softmax_with_cross_entropy": "cross_entropy_with_softmax",
    "size": "numel",
    "fill_constant": "full",
    "lookup_table_v2": "embedding",
    "range": "arange",
    **_ELEMENTWISE,
    **_REDUCTIONS,
}

# older names of attributes: {operation: {attribute: today's}}
_ATTRIBUTES = {
    "addmm": {"Alpha": "alpha", "Beta": "beta"},
    "baddbmm": {"Alpha": "alpha", "Beta": "beta"},
    "arg_max": {"keepdims": "keepdim"},
    "arg_min": {"keepdims": "keepdim"},
    "batch_norm": {"data_layout": "data_format"},
    "bilinear_interp": {"data_layout": "data_format"},
    "cast": {"out_dtype": "dtype"},
    "cross": {"dim": "axis"},
    "dropout": {"dropout_prob": "p", "dropout_implementation": "mode"},
    "eigvalsh": {"UPLO": "uplo"},
    "frobenius_norm": {"dim": "axis"},
    "generate_proposals": {"pre_nms_topN": "pre_nms_top_n", "post_nms_topN": "post_nms_top_n"},
    "group_norm": {"data_layout": "data_format"},
    "increment": {"step": "value"},
    "index_select": {"dim": "axis"},
    "leaky_relu": {"alpha": "negative_slope"},
    "lu": {"pivots": "pivot"},
    "matmul": {"transpose_X": "transpose_x", "transpose_Y": "transpose_y"},
    "matmul_v2": {"trans_x": "transpose_x", "trans_y": "transpose_y"},
    "max_pool2d_with_index": {"ksize": "kernel_size"},
    "max_pool3d_with_index": {"ksize": "kernel_size"},
    "mish": {"threshold": "lambda"},
    "nearest_interp": {"data_layout": "data_format"},
    "nms": {"iou_threshold": "threshold"},
    "one_hot_v2": {"depth": "num_classes"},
    "pad3d": {"value": "pad_value"},
    "pool2d": {"ksize": "kernel_size"},
    "pool3d": {"ksize": "kernel_size"},
    "pow": {"factor": "y"},
    "put_along_axis": {"Axis": "axis", "Reduce": "reduce", "Include_self": "include_self"},
    "repeat_interleave": {"Repeats": "repeats", "dim": "axis"},
    "sequence_mask": {"maxlen": "max_len"},
    "softshrink": {"lambda": "threshold"},
    "squeeze2": {"axes": "axis"},
    "take_along_axis": {"Axis": "axis"},
    "transpose": {"axis": "perm"},
    "transpose2": {"axis": "perm"},
    "unpool": {"paddings": "padding"},
    "unsqueeze2": {"axes": "axis"},
    **dict.fromkeys(_REDUCTIONS, {"dim": "axis", "keep_dim": "keepdim", "out_dtype": "dtype"}),
}

_POOLING = {
    "ceil_mode": False,
    "exclusive": True,
    "global_pooling": False,
    "adaptive": False,
    "padding_algorithm": "EXPLICIT",
}

# What an attribute is that is left out, by today's name, where today's operation has another default or none.
_DEFAULTS = {
    "batch_norm": {
        "is_test": False,
        "momentum": 0.9,
        "epsilon": 1e-5,
        "data_format": "NCHW",
        "use_global_stats": False,
        "trainable_statistics": False,
    },
    "fill_constant": {"shape": [], "value": 0.0},
    "fill_any_like": {"value": 0.0},
    "frobenius_norm": {"axis": [0], "keep_dim": False, "reduce_all": False},
    "mish": {"lambda": 20.0},
    "pool2d": {"strides": [1, 1], "paddings": [0, 0], "data_format": "NCHW", **_POOLING},
    "pool3d": {"strides": [1, 1, 1], "paddings": [0, 0, 0], "data_format": "NCDHW", **_POOLING},
    "slice": {"infer_flags": [], "decrease_axis": []},
    "softmax": {"axis": -1},
    "unique": {"return_index": False, "return_inverse": False, "return_counts": False, "axis": []},
    **dict.fromkeys(_REDUCTIONS, {"axis": [0], "keepdim": False, "reduce_all": False}),
}

# attributes that today's operation lacks, and the values of them that change nothing
_FIXED = {
    "matmul": {"alpha": 1.0, "head_number": 1},
    "unpool": {"unpooling_type": "max"},
    "strided_slice": {"decrease_axis": []},
}

# Today's operations take these operands in another order than the older ones.
_ORDERS = {"batch_norm": (0, 3, 4, 1, 2)}

# Each has further results that are for its gradient: the shape of the operand, a mask, statistics.
_MORE_RESULTS = {
    "reshape2": 2,
    "transpose2": 2,
    "squeeze2": 2,
    "unsqueeze2": 2,
    "flatten_contiguous_range": 2,
    "dropout": 2,
    "huber_loss": 2,
    "layer_norm": 3,
}

_UNKNOWN_DTYPE = -1  # an attribute of this value leaves the dtype open


@ft.cache
def find_legacy(name: str) -> Callable[..., Any]:
    """The function of a name with the arguments of older programs: Tensors first, then names and values of
    attributes in turn.

    Raises:
        AttributeError: there is none.
    """
    function = find(_NAMES.get(name, name))
    names = _operand_names(name)

    def call(*args: Any) -> Any:
        # Tensors come first; the first text begins the pairs of names and values.
        first = next((k for k, value in enumerate(args) if isinstance(value, str)), len(args))
        pairs = dict(zip(args[first::2], args[first + 1 :: 2], strict=True))
        operands = dict(zip(names, args[:first], strict=False))
        return _computed(name, function, operands, pairs)

    call.__name__, call.__qualname__, call.__module__ = (
        name,
        name,
        f"{Paths.root}.base.libpaddle.eager.ops.legacy",
    )
    return call


def _operand_names(name: str) -> list[str]:
    """Today's names of the operands of an older operation, in the older order."""
    _, arguments = signatures()[_NAMES.get(name, name)]
    names = [one for one, kind, _ in arguments if is_tensor_argument(kind)]
    if name in _ORDERS:
        return [names[k] for k in _ORDERS[name]]
    return names


def _computed(
    name: str, function: Callable[..., Any], operands: dict[str, Any], pairs: dict[str, Any]
) -> Any:
    """The results of an older operation, given its operands by today's names and its attributes."""
    attributes = _todays(name, pairs)
    _, arguments = signatures()[_NAMES.get(name, name)]
    # The real Paddle ignores attributes that an operation never had.
    known = {one: value for one, value in attributes.items() if one in [a for a, _, _ in arguments]}
    if name == "split" and pairs.get("num") and not pairs.get("sections"):
        return find("split_with_num")(operands["x"], pairs["num"], pairs.get("axis", 0))
    if name == "unique" and not pairs.get("is_sorted"):
        return _in_order_of_occurrence(function, operands["x"], known)
    if name == "range":
        # The bounds have the dtype of the result.
        known["dtype"] = operands["start"].dtype
    if name in _ELEMENTWISE:
        operands = _aligned(operands, pairs.get("axis", -1))
    found = function(**operands, **known)
    if name in _MORE_RESULTS:
        return (found, *[None] * (_MORE_RESULTS[name] - 1))
    return found


def _todays(name: str, pairs: dict[str, Any]) -> dict[str, Any]:
    """Attributes by today's names.

    Raises:
        NotImplementedError: an attribute that today's operation lacks has a value that would change the
            result.
    """
    renamed = _ATTRIBUTES.get(name, {})
    attributes: dict[str, Any] = dict(_DEFAULTS.get(name, {}))
    for one, value in pairs.items():
        fixed = _FIXED.get(name, {}).get(one, value)
        if value != fixed:
            raise NotImplementedError(
                f"{name}: {one}: got {value!r}; it must be {fixed!r}; use the public function"
            )
        current = renamed.get(one, one)
        if current == "dtype" and type(value) is int:
            # Dtypes are numbers there.
            if value == _UNKNOWN_DTYPE:
                continue
            value = VarType(value)
        attributes[current] = value
    # A number as a text, so that none of its digits is lost.
    if pairs.get("str_value"):
        text = pairs["str_value"]
        attributes["value"] = int(text) if text.lstrip("+-").isdigit() else float(text)
    if pairs.get("reduce_all"):
        attributes["axis"] = []
    if pairs.get("flatten"):
        attributes["axis"] = None
    return attributes


def _in_order_of_occurrence(function: Callable[..., Any], x: Tensor, known: dict[str, Any]) -> Any:
    """The results of `unique` in the order in which the values occur: (values, None, places, None)."""
    wanted = {"return_index": True, "return_inverse": True, "return_counts": False, "axis": []}
    values, first, places, _ = function(x, **{**known, **wanted})
    order = argsort(first)
    return values[order], None, argsort(order)[places].astype(places.dtype), None


def _aligned(operands: dict[str, Any], axis: int) -> dict[str, Any]:
    """The operands of an elementwise operation, where the axes of y begin at an axis of x."""
    x, y = operands["x"], operands["y"]
    behind = x.ndim - axis - y.ndim
    if axis == -1 or behind <= 0:
        return operands
    return {"x": x, "y": y.reshape(list(y.shape) + [1] * behind)}


# operations by the names of operands -----------------------------------------------------------------------


@ft.cache
def slots() -> dict[str, tuple[list[str], list[str]]]:
    """{operation: (names of its operands, names of its results)}."""
    found = {}
    text = (
        importlib.resources.files("paddle_jax.framework.model_files").joinpath("legacy_slots.txt").read_text()
    )
    for line in text.splitlines():
        name, inputs, outputs = line.split("|")
        found[name] = [one for one in inputs.split(",") if one], outputs.split(",")
    return found


def append(
    name: str,
    inputs: dict[str, Any] | None,
    outputs: dict[str, Any] | None,
    attributes: dict[str, Any] | None,
) -> None:
    """Runs an operation on the Tensors of `inputs`, and gives its results to the Tensors of `outputs`.

    Args:
        name: str, as in older programs.
        inputs, outputs: {slot: Tensor or list of Tensors}.
        attributes: {name: value}.
    Raises:
        KeyError: there is no operation of the name.
        NotImplementedError: it has an operand that the function here does not take.
    """
    inputs, outputs = inputs or {}, outputs or {}
    given, results = slots()[name]
    try:
        function = find(_NAMES.get(name, name))
    except AttributeError as error:
        raise KeyError(name) from error
    operands = _by_todays_names(name, [one for one in given if one.rstrip("*") not in results], inputs)
    found = as_list(_computed(name, function, operands, attributes or {}))
    # A list that is the only result.
    if len(results) == 1 and len(found) != 1:
        found = [found]
    for slot, result in zip(results, found, strict=False):
        for target, value in zip(as_list(outputs.get(slot)), as_list(result), strict=False):
            if target is not None and value is not None:
                target.reconstruct_from_(value)


def _by_todays_names(name: str, given: Sequence[str], inputs: dict[str, Any]) -> dict[str, Any]:
    operands = {}
    names = _operand_names(name)
    slots_taken = {slot.rstrip("*") for slot in slots()[name][0]}
    for slot, value in inputs.items():
        is_empty = value is None or (isinstance(value, list) and not value)
        # Such as a Tensor in the place of an attribute.
        if slot not in slots_taken and not is_empty:
            raise NotImplementedError(f"{name}: input {slot!r} is not taken; use an attribute")
    for k, slot in enumerate(given):
        value = inputs.get(slot.rstrip("*"))
        if value is None or value == []:
            continue
        if k >= len(names):
            raise NotImplementedError(f"{name}: input {slot.rstrip('*')!r} is not taken; use an attribute")
        if not slot.endswith("*") and not isinstance(value, Tensor):
            value = value[0]
        operands[names[k]] = value
    return operands


__all__ = ["append", "find_legacy", "slots"]
