"""Writes the type stubs (.pyi) that editors and type checkers read: Tensor with all its methods, and the
functions of the public namespaces.

    python tools/stubs.py            writes them
    python tools/stubs.py --check    exits with 1 where one is not up to date

The methods of Tensor and the signatures of functions come from decorators, which type checkers don't look
through. What a function returns is observed: the samples of its declaration are run, and where they give
different kinds of results the stub says Any. Functions without samples say what their docstring says under
"Returns". Parameters have their names, default values, and the types of tools/stub_types.py. Methods of
Tensor have docstrings, which editors show; they find those of functions in the source.
"""

import ast
import contextlib
import importlib
import inspect
import re
import sys
import textwrap
import types
import typing
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import paddle_jax  # noqa: E402
from paddle_jax._core.base.dtype import DType  # noqa: E402
from paddle_jax._core.ops.op import OPS  # noqa: E402
from paddle_jax._core.tensors.tensor import Tensor  # noqa: E402
from tests.ops import harness  # noqa: E402
from tools.alias_stubs import FOLDER, alias_stubs  # noqa: E402
from tools.stub_types import IMPORTS, parameter_type  # noqa: E402

NAMESPACES = [
    "paddle_jax",
    *(
        "paddle_jax." + name
        for name in (
            "fft",
            "geometric",
            "incubate",
            "incubate.nn.functional",
            "linalg",
            "nn.functional",
            "signal",
            "vision.ops",
        )
    ),
]
HEADER = '"""Made by tools/stubs.py."""\n\n'
# what Python itself asks of these methods
DUNDERS = {
    "__contains__": "_b.bool",
    "__iter__": "Iterator[Tensor]",
    "__getitem__": "Tensor",
    "__setitem__": "None",
}
DUNDERS |= {
    f"__{name}__": f"_b.{name}" for name in ("bool", "int", "float", "complex", "str")
} | dict.fromkeys(("__repr__", "__format__"), "_b.str")
DUNDERS |= dict.fromkeys(("__len__", "__index__", "__hash__"), "_b.int")
BINARY = {
    f"__{side}{name}__"
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    )
    for side in ("", "r", "i")
} | {
    "__neg__",
    "__pos__",
    "__abs__",
    "__invert__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
}
# what stands beside a Tensor
NUMBERS = "Tensor | _b.complex | np.number | np.ndarray"
OPERANDS = dict.fromkeys(BINARY, NUMBERS)
OPERANDS |= dict.fromkeys(("__matmul__", "__rmatmul__"), "Tensor | np.ndarray")
OPERANDS |= {f"__{side}{name}__": "Tensor | _b.int" for side in ("", "r") for name in ("lshift", "rshift")}
OPERANDS |= {f"__{name}__": "Tensor" for name in ("and", "or", "xor")}
OPERANDS |= {f"__r{name}__": "Tensor | _b.int" for name in ("and", "or", "xor")}
OPERANDS |= dict.fromkeys(("__eq__", "__ne__"), "_b.object")
# their docstrings say it in other words
SURE = dict.fromkeys(
    (
        "astype",
        "cast",
        "clone",
        "contiguous",
        "cpu",
        "create_parameter",
        "cuda",
        "detach",
        "pin_memory",
        "to",
        "type_as",
    ),
    "Tensor",
)
SURE |= {"numpy": "np.ndarray", "tolist": "Any", "item": "Any"}
SAID = [
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"Tensor\b(?!s)(?!.*(?:\bor\b|\btuple\b|; with ))", "Tensor"),
        (r"(?:a )?list of Tensors", "_b.list[Tensor]"),
        (r"bool\b", "_b.bool"),
        (r"int\b", "_b.int"),
        (r"float\b", "_b.float"),
        (r"str\b", "_b.str"),
        (r"None\b", "None"),
    )
]


# what functions return --------------------------------------------------------------------------------------


def kind_of(value):
    """The type of a result, as the stub writes it; None for what it doesn't know."""
    if isinstance(value, Tensor):
        return "Tensor"
    if isinstance(value, list) and value and all(isinstance(v, Tensor) for v in value):
        return "_b.list[Tensor]"
    if type(value) is tuple and value and all(isinstance(v, Tensor) for v in value):
        return f"_b.tuple[{', '.join(['Tensor'] * len(value))}]"
    return f"_b.{type(value).__name__}" if type(value) in (bool, int, float, str) else None


def observed(made):
    """What the samples of an op give: one type, or Any."""
    kinds = set()
    for case in made.cases:
        paddle_jax.seed(1)
        names = {**harness.Maker(paddle_jax).env(), "__call__": made.public}
        with contextlib.suppress(Exception):
            # the texts are part of the source
            kinds.add(kind_of(eval(f"__call__({case.lstrip('~ ')})", names)))  # noqa: S307
    if "_b.list[Tensor]" in kinds:
        kinds.discard("_b.list")  # an empty one
    if len(kinds) > 1 and all(kind and kind.startswith("_b.tuple") for kind in kinds):
        return "_b.tuple[Tensor, ...]"
    return next(iter(kinds)) or "Any" if len(kinds) == 1 else "Any"


def said(function):
    """What the docstring gives under "Returns": a type that can be told from its first words, or Any."""
    found = re.search(r"Returns:\n\s*(.*)", inspect.getdoc(function) or "")
    kinds = [kind for pattern, kind in SAID if found and pattern.match(found[1])]
    return kinds[0] if kinds and " or " not in found[1] else "Any"


class Returns:
    """The types of results, by op, each observed once."""

    def __init__(self):
        self.kinds = {}

    def of(self, name, function):
        made = getattr(function, "op", None)
        if made is None:
            inplace = name.endswith("_") and not name.startswith("_")
            return (
                "Tensor"
                if name in BINARY or inplace
                else DUNDERS.get(name) or SURE.get(name) or said(function)
            )
        if made.name not in self.kinds:
            self.kinds[made.name] = (
                observed(made) if made.cases and OPS.get(made.name) is made else said(function)
            )
        return "Tensor" if name in BINARY else SURE.get(name) or self.kinds[made.name]


# signatures -------------------------------------------------------------------------------------------------


def default(value):
    """A default value as the stub writes it."""
    plain = (
        value is None
        or type(value) in (bool, int, str)
        or type(value) is float
        and value == value
        and abs(value) < float("inf")
    )
    return repr(value) if plain else "..."


def parameters(name, function, imports, method=False):
    """The parameters with their types and default values, or None where there is no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    texts, star = [], False
    for number, p in enumerate(signature.parameters.values()):
        word = "self" if method and number == 0 else p.name
        kind = OPERANDS.get(name) if p.name == "y" else None
        kind = "" if word == "self" else ": " + (kind or parameter_type(function, p, imports))
        if p.kind is p.VAR_POSITIONAL:
            texts.append(f"*{word}{kind}")
            star = True
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            texts.append("*")
            star = True
        texts.append(
            f"**{word}{kind}"
            if p.kind is p.VAR_KEYWORD
            else f"{word}{kind}" + ("" if p.default is p.empty else f" = {default(p.default)}")
        )
        if p.kind is p.POSITIONAL_ONLY and list(signature.parameters.values())[-1] is p:
            texts.append("/")
    return texts


def written(name, function, returns, imports, method=False):
    """The lines of a function."""
    texts = parameters(name, function, imports, method)
    if texts is None or (method and not texts):
        texts = ["self", "*args: Any", "**kwargs: Any"] if method else ["*args: Any", "**kwargs: Any"]
    ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    result = "None" if name == "__init__" else returns.of(name, function)
    line = f"def {name}({', '.join(texts)}) -> {result}: ...{ignore}"
    at = getattr(function, "variadic_at", None)
    if at is None:
        return line
    # x.reshape(2, 3) beside x.reshape([2, 3])
    rest = [text for text in texts[at + 1 :] if text != "*"]
    texts = [*texts[:at], f"*{texts[at].partition(':')[0]}: _b.int | Tensor", *rest]
    return f"@overload\n{line}\n@overload\ndef {name}({', '.join(texts)}) -> {result}: ..."


# modules ----------------------------------------------------------------------------------------------------


def homes():
    """{class: module that can be imported from}, for the classes of the package's files."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if (
            name.partition(".")[0] != "paddle_jax"
            or not file
            or not file.endswith(".py")
            or Path(file).stem != (name.split(".")[-1]) != "__init__"
        ):
            continue
        for node in ast.parse(Path(file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and isinstance(made := vars(module).get(node.name), type):
                found.setdefault(made, (name, node.name))
    return found


# A class whose `__new__` takes the decorated function: as a type checker understands it.
MODE = """class {name}:
    def __init__(self, *args: Any) -> None: ...
    def __call__(self, function: Any) -> Any: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *error: Any) -> None: ..."""


def namespace(module, known, returns):
    """The stub of a namespace."""
    lines = []
    imports = {*IMPORTS, "from paddle_jax._core.tensors.tensor import Tensor as Tensor"}
    for name in sorted({*getattr(module, "__all__", ()), *dir(module)}):
        if name.startswith("_") and name != "__version__" or name == "Tensor" or not hasattr(module, name):
            continue
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            if value.__name__ == f"{module.__name__}.{name}" and getattr(value, "__file__", None):
                imports.add(f"from {module.__name__} import {name} as {name}")
        elif isinstance(value, type):
            home = known.get(value)
            if value.__new__ is not object.__new__ and hasattr(value, "__enter__"):
                lines.append(MODE.format(name=name))
            elif home:
                imports.add(f"from {home[0]} import {home[1]} as {name}")
            else:
                lines.append(f"{name}: Any")
        elif isinstance(value, DType):
            lines.append(f"{name}: DType")
            imports.add("from paddle_jax._core.base.dtype import DType")
        elif (
            callable(value)
            and hasattr(value, "__name__")
            and not isinstance(value, types.BuiltinFunctionType)
        ):
            lines.append(written(name, value, returns, imports))
        else:
            lines.append(f"{name}: {kind_of(value) or 'Any'}")
    return HEADER + "\n".join(sorted(imports)) + "\n\n" + "\n".join(lines) + "\n"


def annotated(function):
    """The type in a property's annotation, where it is one of Python's own."""
    kind = (
        typing.get_type_hints(function).get("return")
        if "return" in getattr(function, "__annotations__", {})
        else None
    )
    return f"_b.{kind.__name__}" if kind in (bool, int, float, str) else "Any"


PROPERTIES = dict.fromkeys(("T", "mT", "real", "imag", "data"), "Tensor") | {
    "grad": "Tensor | None",
    "shape": "Size",
    "dtype": "DType",
}
PROPERTIES |= (
    {"name": "_b.str"}
    | dict.fromkeys(("ndim", "size"), "_b.int")
    | dict.fromkeys(("stop_gradient", "persistable", "is_leaf"), "_b.bool")
)
LEFT_OUT = (
    "__module__",
    "__doc__",
    "__slots__",
    "__dict__",
    "__weakref__",
    "__class_getitem__",
    "__reduce__",
)


def members(cls, node, returns, imports):
    """The lines of a class's body; `node` is its source."""
    documented = {method.name for method in node.body if isinstance(method, ast.FunctionDef)}
    for name, value in sorted(vars(cls).items()):
        if name in LEFT_OUT or name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
            continue
        if isinstance(value, classmethod | staticmethod):
            mark = "classmethod" if isinstance(value, classmethod) else "staticmethod"
            text = written(name, value.__func__, returns, imports)
            yield f"    @{mark}\n    {text}"
        elif isinstance(
            value, property | types.GetSetDescriptorType | types.MemberDescriptorType
        ) or not callable(value):
            if name.startswith("__"):
                continue
            kind = PROPERTIES.get(name) or (
                annotated(value.fget) if isinstance(value, property) and value.fget else "Any"
            )
            fixed = isinstance(value, property) and value.fset is None
            yield f"    @property\n    def {name}(self) -> {kind}: ..." if fixed else f"    {name}: {kind}"
        else:
            line = textwrap.indent(written(name, value, returns, imports, method=True), "    ")
            yield line if name in documented or name.startswith("__") else with_docstring(line, value)


def with_docstring(line, function):
    """A line of a method with its docstring, since editors look for it in the class's source alone."""
    text = inspect.getdoc(function)
    if not text:
        return line
    mark = "r" if "\\" in text else ""
    end = "\n" if "\n" in text else ""
    body = textwrap.indent(f'{mark}"""{text}{end}"""', "        ")
    return line.removesuffix(" ...") + "\n" + body


def private_members(cls):
    """The lines of what only code of this package uses: slots, methods and properties."""
    for name, value in sorted(vars(cls).items()):
        if not name.startswith("_") or name.startswith("__"):
            continue
        if isinstance(value, types.FunctionType):
            yield f"    def {name}(self, *args: Any, **kwargs: Any) -> Any: ..."
        else:
            yield f"    {name}: Any"


def tensor_module(returns):
    """The stub of the file that defines Tensor: the class in full, the other names as far as they
    have signatures."""
    module = importlib.import_module("paddle_jax._core.tensors.tensor")
    lines = []
    imports = {
        *IMPORTS,
        "from collections.abc import Iterator",
        "from paddle_jax._core.base.dtype import DType",
        "from paddle_jax._core.base.size import Size",
    }
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        value = vars(module).get(getattr(node, "name", None))
        if isinstance(node, ast.ClassDef):
            bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
            lines += [
                "",
                f"class {node.name}" + (f"({bases})" if bases else "") + ":",
                *(list(members(value, node, returns, imports)) or ["    ..."]),
                *(private_members(value) if value is Tensor else ()),
                "",
            ]
        elif isinstance(node, ast.FunctionDef):
            lines.append(written(node.name, value, returns, imports))
    return HEADER + "\n".join([*sorted(imports), *lines]) + "\n"


def stubs():
    """{file: text} of all stubs."""
    warnings.simplefilter("ignore")
    returns, found = Returns(), {}
    modules = [importlib.import_module(name) for name in NAMESPACES]
    known = homes()
    for module in modules:
        found[Path(module.__file__).with_suffix(".pyi")] = namespace(module, known, returns)
    found[ROOT / "paddle_jax" / "_core" / "tensors" / "tensor.pyi"] = tensor_module(returns)
    return found


def main():
    made = stubs()
    # last, since it reads the stubs of the package
    old = {
        path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    if "--check" not in sys.argv:
        write(made)
    aliases = alias_stubs()
    old |= {
        path
        for path, text in aliases.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    left_over = {path for path in FOLDER.rglob("*") if path.is_file()} - aliases.keys()
    names = ", ".join(sorted(str(path.relative_to(ROOT)) for path in old | left_over))
    if "--check" in sys.argv:
        print(f"not up to date: {names}" if names else "the stubs are up to date")
        return 1 if names else 0
    write(aliases)
    for path in left_over:
        path.unlink()
    print(f"written: {names or 'nothing new'}")
    return 0


def write(made):
    """Writes the files of {file: text}."""
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
