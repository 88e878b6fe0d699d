"""The syntax of a function that is loaded, found by its code object, so that it is known to be the code that
runs; and functions made of changed syntax."""

from __future__ import annotations
import __future__

import ast
import functools as ft
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax._core.execution.python_state import cell_content


class NoSource(Exception):
    """The text of a function is not there, or is not what was compiled."""


class _File:
    """A source file.

    Attributes:
        tree: its syntax.
        codes: set of the code objects that compiling it gives.
        functions: {(first line, name): nodes of the functions that begin there}.
    """

    def __init__(self, name: str, text: str) -> None:
        self.tree = ast.parse(text)
        # Python's own compiler says which code objects the text gives: one that is equal has this source.
        self.codes = set(nested_codes(compile(text, name, "exec", dont_inherit=True)))
        self.functions: dict[tuple[int, str], list[Any]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                # A function with decorators begins at the first of them, as `co_firstlineno` says.
                first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]])
                # A lambda has no name of its own.
                self.functions.setdefault((first, getattr(node, "name", "<lambda>")), []).append(node)


def nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested_codes(constant)


@ft.lru_cache(maxsize=64)
def _parsed(name: str, text: str) -> _File:
    try:
        # Cached by its text: a file that is edited and loaded again has another one.
        return _File(name, text)
    except (SyntaxError, ValueError) as error:
        raise NoSource(f"{name} cannot be read: {error}") from None


def syntax_of(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The node of a function, which the caller must not change.

    Raises:
        NoSource: there is none, or the file has been changed since it was loaded.
    """
    code = function.__code__
    # Drops the text of a file that has changed since it was read.
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__)) or _typed(code.co_filename)
    if not text:
        raise NoSource(f"the source of {code.co_qualname} is not there")
    file = _parsed(code.co_filename, text)
    # Another text would be converted to another program without a word.
    if code not in file.codes:
        raise NoSource(f"the source of {code.co_qualname} is not what was loaded")
    nodes = file.functions.get((code.co_firstlineno, code.co_name), [])
    # Two lambdas in one line: where the body ends tells them apart.
    if len(nodes) > 1:
        nodes = [node for node in nodes if _spot(node) == _spot_of(code)]
    if len(nodes) != 1:
        raise NoSource(f"which of several functions {code.co_qualname} is cannot be told")
    return nodes[0]


def expression_function(text: str, scope: dict[str, Any]) -> types.FunctionType:
    """A function without arguments whose result is that of `eval(text, scope)`, and whose source is there."""
    lines = f"lambda: (\n{text}\n)"
    name = f"<expression {hash(text):x}>"
    # As doctest and IPython do it: tracebacks and `inspect` find the text there.
    linecache.cache[name] = len(lines), None, lines.splitlines(keepends=True), name
    # as `_File` compiles it, without the flags of this module: equal code objects have equal flags
    return eval(compile(lines, name, "eval", dont_inherit=True), scope)


def class_name_of(function: types.FunctionType) -> str | None:
    """The name of the class whose body a function stands in, or None."""
    path = function.__qualname__.split(".")
    # `<locals>` stands for a function, not for a class.
    if len(path) > 1 and path[-2] != "<locals>":
        return path[-2]
    return None


def wrap_in_factory(node: Any, name: str, function: types.FunctionType, parameters: str) -> ast.Module:
    """A module with a changed form of a function's node, which is made again of some objects, in a scope with
    the variables of its closure."""
    if isinstance(node, ast.Lambda):
        node = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], node), node)
    else:
        node.name = name
    # Free variables of the function are free variables of the factory's inner function, so that it can take
    # the user's cells.
    free = "".join([f"    {variable} = None\n" for variable in function.__code__.co_freevars])
    # under names that no variable of the user has: the function may read a global variable `inner`
    tree = ast.parse(
        f"def outer__():\n{free}    def inner__({parameters}):\n        pass\n        return "
        f"{name}\n    return inner__"
    )
    outer: Any = tree.body[0]
    outer.body[-2].body[0] = node
    return ast.fix_missing_locations(tree)


def compile_factory(tree: ast.Module, function: types.FunctionType) -> types.CodeType:
    """The code of the inner function of such a module."""
    code = function.__code__
    scope: dict[str, Any] = {"__name__": __name__}
    # `from __future__ import annotations` and others of the user's module, not those of this one.
    flags = code.co_flags & _FUTURE
    compiled = compile(tree, code.co_filename, "exec", flags=flags, dont_inherit=True)
    exec(compiled, scope)  # noqa: S102  the code of the user, with other statements
    return _with_original_names(scope["outer__"](), code)


def _with_original_names(maker: types.FunctionType, original: types.CodeType) -> types.CodeType:
    """The code of a maker of converted code, which has the user's name in tracebacks, as have its parts."""
    # Tracebacks show the user's function, and no names that malt has made.
    own_names = {code.co_name for code in nested_codes(original)}
    return _renamed(maker.__code__, own_names, original)


def _renamed(code: types.CodeType, kept: set[str], original: types.CodeType) -> types.CodeType:
    """A code object whose nested functions have the original's name, but those that the user named."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            renamed = _renamed(constant, kept, original)
            if constant.co_name not in kept or constant.co_name == original.co_name:
                renamed = renamed.replace(co_name=original.co_name, co_qualname=original.co_qualname)
            constants.append(renamed)
        else:
            constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def make_function(
    function: types.FunctionType,
    code: types.CodeType,
    objects: Callable[[dict[str, types.CellType]], tuple[Any, ...]],
) -> types.FunctionType:
    """The changed form of a function. objects: gives what the code of its maker takes, of the
    function's cells by name."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    # The code of the factory in a scope of the user's cells: changes of these are seen by both forms.
    copy = types.FunctionType(
        code, function.__globals__, closure=tuple([cells[name] for name in code.co_freevars])
    )(*objects(cells))
    # Attributes such as marks, and all that `inspect.signature` asks for.
    copy.__dict__.update(function.__dict__)
    for name in ("__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__doc__", "__module__"):
        setattr(copy, name, getattr(function, name))
    return copy


def rewrap(wrapper: types.FunctionType, inner: Any, other: Any) -> types.FunctionType:
    """A wrapper round a function, such as those that decorators make, round another one in its place."""
    cells = tuple(
        # The closure decides what a wrapper calls, and cells cannot be changed for one wrapper alone.
        [types.CellType(other) if cell_content(cell) is inner else cell for cell in wrapper.__closure__ or ()]
    )
    copy = types.FunctionType(
        wrapper.__code__, wrapper.__globals__, wrapper.__name__, wrapper.__defaults__, cells
    )
    copy.__kwdefaults__ = wrapper.__kwdefaults__
    return copy


_FUTURE = ft.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


def _typed(name: str) -> str:
    """The program given as `python -c PROGRAM`, where that is what is asked for."""
    # Options of Python may come before `-c`.
    words = sys.orig_argv
    at = next((i for i, word in enumerate(words) if word == "-c"), len(words))
    if name == "<string>" and sys.argv[:1] == ["-c"]:
        return "".join(words[at + 1 : at + 2])
    return ""


def _spot(node: Any) -> tuple[int | None, int | None]:
    """Where the last expression or statement of a function ends: it tells functions that begin in the
    same line apart."""
    # The last position of the body is the last one in the code object's table too.
    if isinstance(node, ast.Lambda):
        body = node.body
    else:
        body = node.body[-1]
    return body.end_lineno, body.end_col_offset


def _spot_of(code: types.CodeType) -> tuple[int, int] | None:
    ends = [
        # Instructions that the compiler adds have no position.
        (end, column)
        for _, end, _, column in code.co_positions()
        if end is not None and column is not None
    ]
    return max(ends, default=None)
