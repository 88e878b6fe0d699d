"""Measures how complete the docstrings of public names are.

    python tools/docstring_measures.py           # a table
    python tools/docstring_measures.py --missing # each name, and what its docstring lacks

A section applies where the source says so: Args to functions and classes with parameters, each of which it
names; Returns to functions whose result is not None; Raises to code with a `raise`; Example to each name that
can be called.
"""

import ast
import enum
import importlib
import inspect
import os
import pathlib
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs_site import namespaces  # noqa: E402  of this folder

SECTIONS = ("text", "Args", "each argument", "Returns", "Raises", "Example")
NOT_DESCRIBED = ("self", "cls", "name")  # `name` is in each of Paddle's signatures, and does nothing
EXCEPTIONS = (BaseException, Warning)


def public_values() -> dict[int, tuple[str, Any]]:
    """{identity: (name, value)} of the functions and classes of the reference, each once."""
    for extra in ("bounded", "func", "interop", "views"):
        importlib.import_module(f"paddle_jax.{extra}")
    found: dict[int, tuple[str, Any]] = {}
    for name, members in sorted(namespaces().items(), key=lambda item: (item[0].count("."), item[0])):
        for member in members:
            value = getattr(sys.modules[name], member, None)
            of_package = getattr(value, "__module__", "").startswith(("paddle_jax", "paddle."))
            if (inspect.isroutine(value) or inspect.isclass(value)) and of_package:
                found.setdefault(id(value), (f"{name}.{member}", value))
    return found


def source_of(value: Any) -> Any:
    """The parsed definition of a function, or of a class's `__init__`; None where there is no source."""
    function = getattr(value, "op", None)
    function = getattr(function, "function", None) or getattr(function, "fn", None) or value
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if isinstance(tree, ast.ClassDef):
        return next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), tree)
    return tree


def raises(tree: Any) -> bool:
    """Whether code raises an error of its own; `raise` alone, and abstract methods, do not count."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    return any("NotImplementedError" not in ast.unparse(node.exc) for node in found)


def gives_nothing(value: Any, tree: Any) -> bool:
    """Whether a call gives None, or, of a class, an instance."""
    if inspect.isclass(value):
        return True
    if isinstance(tree, ast.FunctionDef) and tree.returns is not None:
        return ast.unparse(tree.returns) in ("None", "NoReturn")
    return False


def parameters_of(value: Any) -> list[str]:
    """The parameters that a docstring should name."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return []
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return ["value"]  # the other parameters are those of Python's functional form of enums
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        p.name for p in signature.parameters.values() if p.kind not in kinds and p.name not in NOT_DESCRIBED
    ]


def lacks(value: Any) -> Iterator[tuple[str, bool]]:
    """(section, whether it is missing) of each section that applies."""
    text = inspect.getdoc(value) or ""
    tree = source_of(value)
    yield "text", not text
    names = parameters_of(value)
    # an exception is raised by the package; an example of its construction says nothing
    if inspect.isclass(value) and issubclass(value, EXCEPTIONS):
        return
    if names:
        section = re.search(r"^Args:.*?(?=^[A-Z][\w ]*:|\Z)", text, re.DOTALL | re.MULTILINE)
        yield "Args", section is None
        said = text if section is None else section[0]
        for name in names:
            yield "each argument", re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) is None
    if not gives_nothing(value, tree):
        yield "Returns", re.search(r"^(Returns|Yields):", text, re.MULTILINE) is None
    if tree is not None and raises(tree):
        yield "Raises", re.search(r"^Raises:", text, re.MULTILINE) is None
    yield "Example", ">>> " not in text


def measures() -> tuple[dict[str, tuple[int, int]], dict[str, list[str]]]:
    """({section: (present, applicable)}, {name: missing sections})"""
    counts = {section: [0, 0] for section in SECTIONS}
    missing: dict[str, list[str]] = {}
    for name, value in public_values().values():
        for section, absent in lacks(value):
            counts[section][0] += not absent
            counts[section][1] += 1
            if absent:
                missing.setdefault(name, []).append(section)
    return {section: (have, of) for section, (have, of) in counts.items()}, missing


def main() -> None:
    warnings.simplefilter("ignore")
    counts, missing = measures()
    if "--missing" in sys.argv:
        for name, sections in sorted(missing.items()):
            print(f"{name}: {', '.join(dict.fromkeys(sections))}")
        return
    print(f"{len(public_values())} public functions and classes")
    for section, (have, of) in counts.items():
        print(f"{section:14} {have:5} of {of:5}  {have / of:.1%}")
    have, of = map(sum, zip(*counts.values(), strict=True))
    print(f"{'all':14} {have:5} of {of:5}  {have / of:.1%}")


if __name__ == "__main__":
    main()
