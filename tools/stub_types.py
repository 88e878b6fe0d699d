"""The types of parameters in the stubs: those of the source, and what Paddle was seen to accept.

The types of an operation's source are those of its body, which gets arrays for Tensors and numbers for 0-d
Tensors. So they say too little. `argument_kinds.txt` has the kinds of arguments that Paddle accepts as well.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paddle_jax._core.ops.op import OPS

ROOT = Path(__file__).resolve().parent.parent
KINDS = Path(__file__).with_name("argument_kinds.txt")
ALIASES = ROOT / "paddle_jax" / "_annotations.py"
BUILTINS = {"int", "float", "bool", "str", "complex", "list", "tuple", "dict", "type", "object"}
# what every stub that has parameters imports
IMPORTS = {
    "from typing import Any, Literal, overload",
    "from collections.abc import Callable, Iterable, Sequence",
    "import paddle_jax._annotations as _a",
    "import builtins as _b",
    "import numpy as np",
}
IMPORTED = {"Any", "Literal", "Callable", "Iterable", "Sequence", "Tensor", "None"}
# {kind in argument_kinds.txt: the type, as sources write it}, in the order in which unions list them
TYPES = {
    "Tensor": "Tensor",
    "bool": "bool",
    "int": "int",
    "float": "float",
    "complex": "complex",
    "str": "str",
    "dtype": "DType",
    "ints": "Sequence[int]",
    "floats": "Sequence[float]",
    "tensors": "Sequence[Tensor]",
    "nested": "Sequence[Sequence[Any]]",
    "numpy int": "np.integer",
    "numpy float": "np.floating",
    "array": "np.ndarray",
    "None": "None",
}
# {type: types that include it}
INCLUDED = {
    "bool": ("int", "float", "complex"),
    "int": ("float", "complex"),
    "float": ("complex",),
    "np.integer": ("Number",),
    "Sequence[int]": ("Sequence[float]", "Sequence[int | Tensor]", "Sequence[int | None]", "Sequence[Any]"),
    "Sequence[float]": ("Sequence[Any]",),
    "Sequence[Tensor]": ("Sequence[int | Tensor]", "Sequence[Any]"),
    "Sequence[Sequence[Any]]": ("Sequence[Any]",),
}
# Aliases that editors show by their names.
NAMED = ("DTypeLike", "DeviceLike", "ParamAttrLike", "LearningRate", "ParameterGroups", "Structure", "Hook")
# What Paddle takes in addition, in forms of a call that the kinds don't have: the lengths of axes with None,
# numbers as text, and positions that mean another parameter.
FURTHER = {
    **dict.fromkeys(
        (
            f"{name}.output_size"
            for name in (
                "adaptive_avg_pool2d",
                "adaptive_avg_pool3d",
                "adaptive_max_pool2d",
                "adaptive_max_pool3d",
                "fractional_max_pool2d",
                "fractional_max_pool3d",
            )
        ),
        "Sequence[int | None]",
    ),
    "full.fill_value": "str",
    "full_like.fill_value": "str",
    "getitem.item": "Any",
    "gather.index": "int",
    "sum.dtype": "bool",
    "interpolate.size": "int",
    "pad.pad": "Tensor",
    "transpose.perm": "int",
    "transpose.name": "int",
    "max_unpool2d.kernel_size": "Sequence[np.integer]",
}
# Sources with these types say all that is accepted, but for None and numbers in place of bool.
COMPLETE = ("DTypeLike", "DeviceLike", "str", "bool", "Literal")


@functools.cache
def accepted_kinds() -> dict[str, set[str]]:
    """{"operation.parameter": kinds of arguments}."""
    lines = KINDS.read_text(encoding="utf-8").splitlines()
    return {name: set(kinds.split(", ")) for name, _, kinds in (line.partition(": ") for line in lines)}


@functools.cache
def aliases() -> dict[str, str]:
    """{name in `_annotations`: its members}, of those that editors show by their members."""
    body = ast.parse(ALIASES.read_text(encoding="utf-8")).body
    return {
        node.target.id: ast.unparse(node.value)
        for node in body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.value is not None
        and node.target.id not in NAMED
    }


def members(text: str) -> list[str]:
    """The members of a union, with those of its aliases in place of their names."""
    node = ast.parse(text, mode="eval").body
    found: list[ast.expr] = []
    while isinstance(node, ast.BinOp):
        found.insert(0, node.right)
        node = node.left
    texts = [ast.unparse(member) for member in (node, *found)]
    return [
        part for member in texts for part in (members(aliases()[member]) if member in aliases() else [member])
    ]


@functools.cache
def origins(module: str) -> dict[str, str]:
    """{name: module that it is imported from} of a module, of imports for types as well."""
    file = getattr(sys.modules.get(module), "__file__", None)
    tree = ast.parse(Path(file).read_text(encoding="utf-8")) if file else ast.Module([], [])
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {alias.asname or alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.ClassDef):
            found.setdefault(node.name, module)
    return found


class _Names(ast.NodeTransformer):
    """Writes the names of a type as stubs know them.

    Attributes:
        module: str, the module that has the type.
        imports: the import statements that the type needs.
    """

    def __init__(self, module: str, imports: set[str]) -> None:
        self.module = module
        self.imports = imports

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        text = ast.unparse(node)
        if text == "jax.Array":
            return ast.Name("Tensor", ast.Load())
        return node if text.startswith("np.") else ast.Name("Any", ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in IMPORTED:
            return node
        if name in BUILTINS:
            return ast.Name(f"_b.{name}", ast.Load())
        if name in NAMED:
            return ast.Name(f"_a.{name}", ast.Load())
        home = origins(self.module).get(name)
        if name == "DType":
            home = "paddle_jax._core.base.dtype"
        if home is None:
            return ast.Name("Any", ast.Load())
        self.imports.add(f"from {home} import {name} as _{name}")
        return ast.Name(f"_{name}", ast.Load())


def written(text: str, module: str, imports: set[str]) -> str:
    """A type of a source as a stub writes it."""
    tree = _Names(module, imports).visit(ast.parse(text, mode="eval"))
    return ast.unparse(ast.fix_missing_locations(tree))


def operation_of(function: Callable[..., Any]) -> Any:
    """The operation of a public function, also of an in-place twin; None of other functions."""
    made = getattr(function, "op", None)
    if made is None and function.__name__.endswith("_") and not function.__name__.startswith("_"):
        made = OPS.get(function.__name__[:-1])
    return made


def source_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that has the types."""
    made = operation_of(function)
    return inspect.unwrap(made.fn if made else function)


def source_type(function: Callable[..., Any], parameter: str) -> str:
    """The type of a parameter in the source, or Any."""
    text = getattr(source_of(function), "__annotations__", {}).get(parameter, "Any")
    if not isinstance(text, str):
        text = getattr(text, "__name__", "Any")
    if text == "Any" and parameter in ("device", "place"):
        return "DeviceLike | None"
    # attributes of a traced operation may be operands, which users give as numbers
    return text.replace("jax.Array", "Tensor").removeprefix("Number | ")


def kinds_of(function: Callable[..., Any], parameter: str) -> set[str]:
    """The kinds of arguments that Paddle accepts, as types of sources."""
    made = operation_of(function)
    kinds = accepted_kinds().get(f"{made.name}.{parameter}", set()) if made else set()
    if "int" in kinds:
        kinds = kinds - {"dtype"}  # Paddle's dtypes can be read as numbers
    return {TYPES[kind.removeprefix("tuple of ")] for kind in kinds}


def with_kinds(text: str, kinds: set[str]) -> list[str]:
    """The members of a type of a source with the kinds that it leaves out."""
    said = members(text)
    if text == "Any":
        if kinds <= {"None"}:
            return said
        said = []
    elif any(member.startswith(COMPLETE) for member in said) and "int" not in said:
        kinds = kinds & ({"None", "int"} if "bool" in said else {"None"})
    for kind in TYPES.values():
        wider = INCLUDED.get(kind, ())
        is_said = kind in said or any(name in said for name in wider)
        # `int | float` says more to a reader than `float`
        follows = kind not in ("int", "float") and any(name in kinds for name in wider)
        if kind in kinds and not is_said and not follows:
            said.append(kind)
    if {"Sequence[int]", "Sequence[Tensor]"} <= {*said}:
        # such lists may be mixed
        said = [kind for kind in said if kind != "Sequence[Tensor]"]
        said[said.index("Sequence[int]")] = "Sequence[int | Tensor]"
    return said


def parameter_type(function: Callable[..., Any], parameter: inspect.Parameter, imports: set[str]) -> str:
    """The type of a parameter in a stub; adds the imports that it needs."""
    text = "Tensor | None" if parameter.name == "out" else source_type(function, parameter.name)
    parts = with_kinds(text, kinds_of(function, parameter.name))
    made = operation_of(function)
    further = FURTHER.get(f"{made.name}.{parameter.name}") if made else None
    if further:
        parts = [further] if further == "Any" else [*parts, further]
    if parameter.default is None and parts != ["Any"]:
        parts.append("None")
    # without repetitions, None last
    text = " | ".join(sorted(dict.fromkeys(parts), key=lambda part: part == "None"))
    return written(text, getattr(source_of(function), "__module__", "") or "", imports)
