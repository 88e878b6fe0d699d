"""Paddle's module paths: every function and class under each path and `__module__` that it has there.

`_paths.txt` (written by tools/paddle_paths.py, which explains its lines) has the names of our objects in each
module of the real Paddle. A module of ours looks up missing names in it on demand. A path without a file of
ours is a module when one of the names that Paddle defines or exports there exists here.
"""

from __future__ import annotations

import functools as ft
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NamedTuple

from paddle_jax._core.base.caller_info import OURS

PACKAGE = "paddle_jax"
_HERE = Path(__file__).parent
# Modules that pickles of older versions name, and where they are now.
MOVED = {
    "_core.dtype": "_core.base.dtype",
    "_core.place": "_core.tensors.place",
    "_core.size": "_core.base.size",
    "_core.tensor": "_core.tensors.tensor",
}
_PRINTED = ("Tensor", "dtype", "Size")  # these print as Paddle's in every mode


class Names(NamedTuple):
    """The names that Paddle has in a module.

    Attributes:
        objects: {name: (our module, name there)}.
        modules: {name: module}.
        exported: list of the names in its `__all__`.
        defined: list of the names of objects whose `__module__` it is.
    """

    objects: dict[str, tuple[str, str]]
    modules: dict[str, str]
    exported: list[str]
    defined: list[str]


class Paths:
    """The table.

    Attributes:
        root: str, the name of the package: `paddle` once it stands for Paddle.
    """

    root = PACKAGE

    @staticmethod
    @ft.cache
    def lines() -> dict[str, tuple[str, str]]:
        """{module: (its marks, its groups)}; the package itself is '.'."""
        text = Path(__file__).with_suffix(".txt").read_text(encoding="ascii")
        table = {}
        for line in text.splitlines():
            head, _, groups = line.partition("\t")
            path, _, marks = head.partition(" ")
            table[path] = marks, groups
        return table

    @staticmethod
    @ft.cache
    def children() -> dict[str, set[str]]:
        """{package: its modules}, with packages that have no names of their own."""
        modules: dict[str, set[str]] = {}
        for path in Paths.lines():
            while path != ".":
                parent = path.rpartition(".")[0] or "."
                modules.setdefault(parent, set()).add(path)
                path = parent
        return modules


@ft.cache
def names(path: str) -> Names:
    """The names that Paddle has in a module; none for one that is not in the table."""
    result = Names({}, {}, [], [])
    for group in _groups(path):
        where, _, words = group.partition(": ")
        for word in words.split():
            name, _, other = word.lstrip("+").partition(">")
            if where == "modules":
                result.modules[name] = other
                continue
            result.objects[name] = (where.lstrip("*"), other or name)
            if where[0] == "*":
                result.defined.append(name)
            if word[0] == "+":
                result.exported.append(name)
    return result


def _groups(path: str) -> Sequence[str]:
    marks, groups = Paths.lines().get(path, ("", ""))
    if groups:
        return groups.split("\t")
    return ()


def _defined(path: str) -> Iterator[tuple[str, str, str]]:
    """The objects that Paddle defines in a module: (name, our module, name there)."""
    for group in _groups(path):
        if group[0] == "*":
            where, _, words = group[1:].partition(": ")
            for word in words.split():
                name, _, other = word.lstrip("+").partition(">")
                yield name, where, other or name


def full(path: str) -> str:
    """The name of our module for a path in the table."""
    if path == ".":
        return PACKAGE
    return f"{PACKAGE}.{path}"


@ft.cache
def written(path: str) -> types.ModuleType | None:
    """Our module of a path if there is a file of it, else None."""
    if path == ".":
        file = _HERE
    else:
        file = _HERE.joinpath(*path.split("."))
    if file.with_suffix(".py").is_file() or (file / "__init__.py").is_file():
        return importlib.import_module(full(path))
    return None


def _namespace(module: types.ModuleType | None) -> dict[str, Any]:
    """The variables of a module; none for None."""
    if module is None:
        return {}
    return vars(module)


def find(path: str, name: str) -> Any:
    """The object of a name that Paddle has in a module.

    Raises:
        AttributeError: Paddle has no such name there, or it does not exist here.
    """
    where, other = names(path).objects.get(name, (path, name))
    namespace = _namespace(written(where))
    if other in namespace:
        return namespace[other]
    raise AttributeError(f"module {full(path)!r} has no attribute {name!r}")


def has(path: str, name: str) -> bool:
    """Whether a name that Paddle has in a module exists here: in the module's file, or elsewhere."""
    try:
        return name in _namespace(written(path)) or find(path, name) is not None
    except AttributeError:
        return False


@ft.cache
def exists(path: str) -> bool:
    """Whether a module without a file of ours has anything: what Paddle defines or exports there,
    or a module in it."""
    known, (marks, _) = names(path), Paths.lines().get(path, ("", ""))
    if "~" in marks:
        its = known.objects
    else:
        its = (*known.defined, *known.exported)
    return any(has(path, name) for name in its) or any(
        written(c) or exists(c) for c in Paths.children().get(path, ())
    )


def look_up(path: str, name: str) -> Any:
    """A name that a module lacks: a name of Paddle there, a module in it, or `__all__`."""
    if name == "__path__":  # every import statement asks whether a module is a package
        raise AttributeError(name)
    known = names(path)
    if name == "__all__" and known.exported:
        return [one for one in known.exported if has(path, one)]
    child = name if path == "." else f"{path}.{name}"
    for module in (child if child in Paths.children().get(path, ()) else None, known.modules.get(name)):
        if module is not None and name not in known.objects and (written(module) or exists(module)):
            return importlib.import_module(full(module))
    return find(path, name)


# modules ----------------------------------------------------------------------------------------------------


class _Loader(importlib.abc.Loader):
    """Makes a module without a file."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        fill(module, module.__name__.partition(".")[2])


class _MovedLoader(importlib.abc.Loader):
    """Gives a module under a name that it had in an older version, for pickles that name it."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        path = module.__name__.partition(".")[2]
        vars(module).update(
            _namespace(importlib.import_module(full(MOVED[path]))) | {"__name__": module.__name__}
        )


class _FileLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of ours that no code has needed so far."""

    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        path = self.name.partition(".")[2]
        attach(module, path)
        _set_name(module, path)
        rename(Paths.root, path)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds our modules once the package is complete, and modules of Paddle without a file here."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, inner = fullname.partition(".")
        if package != PACKAGE or not inner:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None:
            if type(spec.loader) is importlib.machinery.SourceFileLoader:
                spec.loader = _FileLoader(spec.loader.name, spec.loader.path)
            return spec
        if inner in MOVED:
            return importlib.machinery.ModuleSpec(fullname, _MovedLoader())
        if not exists(inner):
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=inner in Paths.children())


def fill(module: types.ModuleType, path: str) -> None:
    """Puts Paddle's names into a module without a file."""
    module.__doc__ = f"What Paddle has in `paddle.{path}`."
    attach(module, path)
    for name in names(path).objects:
        if has(path, name):
            setattr(module, name, find(path, name))
    if names(path).exported:
        module.__all__ = look_up(path, "__all__")
    _set_name(module, path)


def attach(module: types.ModuleType, path: str) -> None:
    """Lets a module look up missing names in the table.

    Nothing is put into it: in its own code `sum` stays Python's.
    """
    own_getattr = vars(module).get("__getattr__")
    if own_getattr is None:
        module.__getattr__ = ft.partial(look_up, path)
    else:
        module.__getattr__ = ft.partial(_own_getattr_first, own_getattr, path)
    if path in Paths.children() and not hasattr(module, "__path__"):
        module.__path__ = []  # one file here, a package in Paddle


def _own_getattr_first(own_getattr: Callable[[str], Any], path: str, name: str) -> Any:
    try:
        return own_getattr(name)
    except AttributeError:
        return look_up(path, name)


def _set_name(module: types.ModuleType, path: str) -> None:
    """Gives a module the name it has in a package called `Paths.root`."""
    name = Paths.root + full(path).removeprefix(PACKAGE)
    module.__name__ = name
    sys.modules[name] = module


def complete() -> None:
    """Completes the loaded package.

    Its modules look up names in the table, imports find other paths, and objects get Paddle's `__module__`.
    """
    sys.meta_path.insert(0, _Finder())
    for name, module in list(sys.modules.items()):
        package, _, path = name.partition(".")
        if package == PACKAGE and isinstance(module, types.ModuleType):
            attach(module, path or ".")
            package, _, last = path.rpartition(".")
            package = package or "."
            if (
                vars(sys.modules[full(package)]).get(last) is module
                and last in names(package).objects
                and has(package, last)
            ):
                # paddle.tensor.einsum is a function, and a module
                setattr(sys.modules[full(package)], last, find(package, last))
    for path, (marks, _) in Paths.lines().items():
        parent, _, name = path.rpartition(".")
        if (
            "!" in marks
            and full(path) not in sys.modules
            and name in _namespace(sys.modules.get(full(parent or ".")))
        ):
            # importing it later would replace the function
            module = sys.modules[full(path)] = types.ModuleType(full(path))
            module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, _Loader())
            attach(module, path)
    rename(PACKAGE)


def rename(root: str, written_in: str | None = None) -> None:
    """Gives loaded classes and functions (all, or those of one module) Paddle's `__module__` and
    `__qualname__`, in a package called `root`."""
    if root != Paths.root:
        Paths.root = root
        for name, module in list(sys.modules.items()):
            package, _, path = name.partition(".")
            if package == PACKAGE and not path.startswith("_"):
                _set_name(module, path or ".")
    for path, (_, groups) in Paths.lines().items():
        if written_in is not None and f"*{written_in}: " not in groups:
            continue
        for name, where, other in _defined(path):
            item = _namespace(sys.modules.get(full(where))).get(other)
            if not isinstance(item, type | types.FunctionType) or item.__name__ in _PRINTED:
                continue
            if item.__module__.partition(".")[0] in OURS:
                item.__module__ = root + full(path).removeprefix(PACKAGE)
                item.__qualname__ = name
