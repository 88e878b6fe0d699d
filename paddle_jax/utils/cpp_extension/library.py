"""A compiled library of operators: what is in it, and its rules for shapes and dtypes."""

from __future__ import annotations

import ctypes
import functools as ft
import uuid
from typing import Any, NamedTuple

import jax
import numpy as np

_CODES = (
    "undefined",
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
_WORDS = {"bool": bool, "int": int, "int64_t": int, "float": float, "double": float, "std::string": str}
_FIRST = "std::vector<"
_LAST = ">"


class Operator(NamedTuple):
    """A declaration: names, and which functions it has (k: kernel, s: shapes, t: dtypes)."""

    name: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    attributes: tuple[Any, ...]  # pairs (name, type)
    has: str


class Library:
    """An open library. `target` is the name under which XLA knows its kernels."""

    def __init__(self, path: Any) -> None:
        self._open = ctypes.PyDLL(str(path))
        # Without a type ctypes takes results for ints.
        for name in ("describe", "shapes", "types"):
            getattr(self._open, f"paddle_jax_{name}").restype = ctypes.c_char_p
        # JAX keeps a name for the whole process, so each library gets one of its own.
        self.target: str = f"paddle_jax_extension_{uuid.uuid4().hex}"
        jax.ffi.register_ffi_target(
            self.target, jax.ffi.pycapsule(self._open.paddle_jax_call), platform="cpu"
        )
        rows = [line.split("\t") for line in self._query("describe").splitlines()]
        self.operators: dict[Any, Operator] = {
            row[0]: Operator(
                row[0], _names(row[1]), _names(row[2]), tuple(map(_attribute, _names(row[3]))), row[4]
            )
            for row in rows
        }

    def _query(self, question: Any, *arguments: Any) -> Any:
        answer = getattr(self._open, f"paddle_jax_{question}")(*(a.encode() for a in arguments)).decode()
        # The first character says whether it is an error.
        if answer.startswith("!"):
            raise ValueError(f"{': '.join([*arguments[:1], question])}: {answer[1:]}")
        return answer[1:]

    def inferred(self, operator: Any, groups: Any, attributes: Any) -> Any:
        """Shapes and dtypes of the results, from arrays (a list for each input, None where none was given)
        and the text of attributes."""
        plain = len(operator.inputs) == len(operator.outputs) == 1 and groups[0] and len(groups[0]) == 1
        if not ("s" in operator.has and "t" in operator.has or plain):
            many = f"{len(operator.inputs)} inputs and {len(operator.outputs)} outputs"
            raise RuntimeError(f"{operator.name}: it has {many}; set both InferShapeFn and InferDtypeFn")
        shapes, types = ((groups[0][0].shape,), (groups[0][0].dtype.name,)) if plain else ((), ())
        if "s" in operator.has:
            text = self._query(
                "shapes",
                operator.name,
                request(groups, attributes, lambda a: " ".join(map(str, (a.ndim, *a.shape)))),
            )
            shapes = [
                tuple(int(n) for n in shape.strip("[]").split(",") if n) for shape in text.split(";")[:-1]
            ]
        if "t" in operator.has:
            types = self._query(
                "types", operator.name, request(groups, attributes, lambda a: str(_code(operator.name, a)))
            ).split(";")[:-1]
        if not len(shapes) == len(types) == len(operator.outputs):
            raise RuntimeError(
                f"{operator.name}: {len(shapes)} shapes and {len(types)} dtypes were inferred "
                f"for {len(operator.outputs)} outputs"
            )
        return [
            jax.ShapeDtypeStruct(shape, jax.numpy.dtype(kind))
            for shape, kind in zip(shapes, types, strict=True)
        ]


opened: Any = ft.cache(Library)


def request(groups: Any, attributes: Any, about: Any = lambda array: "") -> str:
    """The text of a call: how many arrays each input has, what is asked about them, attributes."""
    parts = [str(len(groups))]
    for group in groups:
        # -1 stands for an input that was left out.
        parts += ["-1"] if group is None else [str(len(group)), *map(about, group)]
    return " ".join([*(part for part in parts if part), attributes])


def _names(text: Any) -> tuple[Any, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _attribute(text: Any) -> tuple[Any, Any]:
    name, _, kind = (part.strip() for part in text.partition(":"))
    if kind.startswith(_FIRST):
        base = kind.removeprefix(_FIRST).removesuffix(_LAST)
    else:
        base = kind
    if base not in _WORDS:
        raise ValueError(
            f"cpp_extension: Attrs: got the type {kind!r} of {name}; "
            f"allowed are {', '.join(_WORDS)} and vectors of them"
        )
    return name, kind


def _code(name: Any, array: Any) -> int:
    kind = array.dtype.name
    if kind not in _CODES:
        raise TypeError(f"{name}: got an array of dtype {kind}; allowed are {', '.join(_CODES[1:])}")
    return _CODES.index(kind)


def attribute_text(owner: Any, attributes: Any, values: Any) -> str:
    """Attributes as the library reads them."""
    return " ".join(
        _one(owner, name, kind, value) for (name, kind), value in zip(attributes, values, strict=True)
    )


def _one(owner: Any, name: Any, kind: Any, value: Any) -> str:
    if kind.startswith(_FIRST):
        if not isinstance(value, list | tuple | np.ndarray):
            raise TypeError(f"{owner}: {name}: got {value!r}; it must be a list")
        inner = kind.removeprefix(_FIRST).removesuffix(_LAST)
        return " ".join([str(len(value)), *(_one(owner, name, inner, part) for part in value)])
    wanted = _WORDS[kind]
    fits = {
        bool: bool | np.bool_,
        int: int | np.integer,
        float: float | int | np.floating | np.integer,
        str: str,
    }[wanted]
    # Bools are ints for Python, but not here.
    if not isinstance(value, fits) or isinstance(value, bool) and wanted is not bool:
        raise TypeError(f"{owner}: {name}: got {value!r}; it must be {wanted.__name__}")
    if wanted is str:
        # The length comes first, since a text may have spaces.
        return f"{len(value.encode())} {value}"
    if wanted is float:
        # `repr` writes every digit.
        return repr(float(value))
    return str(int(value))
