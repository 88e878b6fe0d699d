"""Paddle's module paths: every function and class under each path it has there, and with the
`__module__` it has there.

`_paths.txt` (written by tools/paddle_paths.py, which explains its lines) says what each module of the real
Paddle calls our objects. A module of ours gives what it lacks when somebody asks for it; a path without a
file of ours is a module when one of the names that Paddle defines or exports there exists here.
"""

import functools as ft
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from pathlib import Path
from typing import NamedTuple

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
    """What Paddle has in a module."""

    objects: dict  # {name: (our module, name there)}
    modules: dict  # {name: module}
    exported: list  # names in its __all__
    defined: list  # names of what says that it was defined there


class Paths:
    """The table, and what the package is called: `paddle` once it stands for Paddle."""

    root = PACKAGE

    @staticmethod
    @ft.cache
    def lines():
        """{module: (its marks, its groups)}; the package itself is '.'."""
        text, found = Path(__file__).with_suffix(".txt").read_text(encoding="ascii"), {}
        for line in text.splitlines():
            head, _, groups = line.partition("\t")
            path, _, marks = head.partition(" ")
            found[path] = marks, groups
        return found

    @staticmethod
    @ft.cache
    def children():
        """{package: its modules}, with packages that have no names of their own."""
        found = {}
        for path in Paths.lines():
            while path != ".":
                parent = path.rpartition(".")[0] or "."
                found.setdefault(parent, set()).add(path)
                path = parent
        return found


@ft.cache
def names(path) -> Names:
    """What Paddle has in a module; nothing for one that is not in the table."""
    found = Names({}, {}, [], [])
    for group in _groups(path):
        where, _, words = group.partition(": ")
        for word in words.split():
            name, _, other = word.lstrip("+").partition(">")
            if where == "modules":
                found.modules[name] = other
                continue
            found.objects[name] = (where.lstrip("*"), other or name)
            if where[0] == "*":
                found.defined.append(name)
            if word[0] == "+":
                found.exported.append(name)
    return found


def _groups(path):
    marks, groups = Paths.lines().get(path, ("", ""))
    return groups.split("\t") if groups else ()


def _defined(path):
    """What Paddle defines in a module: (name, our module, name there)."""
    for group in _groups(path):
        if group[0] == "*":
            where, _, words = group[1:].partition(": ")
            for word in words.split():
                name, _, other = word.lstrip("+").partition(">")
                yield name, where, other or name


def full(path) -> str:
    """The name of our module for a path in the table."""
    return PACKAGE if path == "." else f"{PACKAGE}.{path}"


@ft.cache
def written(path):
    """Our module of a path if there is a file of it, else None."""
    file = _HERE if path == "." else _HERE.joinpath(*path.split("."))
    if file.with_suffix(".py").is_file() or (file / "__init__.py").is_file():
        return importlib.import_module(full(path))
    return None


def _held(module):
    return {} if module is None else vars(module)


def find(path, name):
    """The object of a name that Paddle has in a module.

    Raises:
        AttributeError: Paddle has no such name there, or it does not exist here.
    """
    where, other = names(path).objects.get(name, (path, name))
    held = _held(written(where))
    if other in held:
        return held[other]
    raise AttributeError(f"module {full(path)!r} has no attribute {name!r}")


def has(path, name):
    """Whether a name that Paddle has in a module exists here: in the module's file, or elsewhere."""
    try:
        return name in _held(written(path)) or find(path, name) is not None
    except AttributeError:
        return False


@ft.cache
def exists(path):
    """Whether a module without a file of ours has anything: what Paddle defines or exports there,
    or a module in it."""
    known, (marks, _) = names(path), Paths.lines().get(path, ("", ""))
    its = known.objects if "~" in marks else (*known.defined, *known.exported)
    return any(has(path, name) for name in its) or any(
        written(c) or exists(c) for c in Paths.children().get(path, ())
    )


def look_up(path, name):
    """What a module lacks: Paddle's names there, modules in it, its modules under other names, `__all__`."""
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

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        fill(module, module.__name__.partition(".")[2])


class _MovedLoader(importlib.abc.Loader):
    """Gives a module under a name that it had in an older version, for pickles that name it."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path = module.__name__.partition(".")[2]
        vars(module).update(_held(importlib.import_module(full(MOVED[path]))) | {"__name__": module.__name__})


class _FileLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of ours that nobody has needed so far."""

    def exec_module(self, module):
        super().exec_module(module)
        path = self.name.partition(".")[2]
        attach(module, path)
        _call(module, path)
        rename(Paths.root, path)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds our modules once the package is complete, and those that Paddle has and that
    have no file here."""

    def find_spec(self, fullname, path=None, target=None):
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


def fill(module, path):
    """Puts Paddle's names into a module without a file."""
    module.__doc__ = f"What Paddle has in `paddle.{path}`."
    attach(module, path)
    for name in names(path).objects:
        if has(path, name):
            setattr(module, name, find(path, name))
    if names(path).exported:
        module.__all__ = look_up(path, "__all__")
    _call(module, path)


def attach(module, path):
    """Lets a module ask the table for what it lacks. Nothing is put into it: its own code means Python's
    `sum` when it says so."""
    own = vars(module).get("__getattr__")
    module.__getattr__ = ft.partial(look_up, path) if own is None else ft.partial(_own_first, own, path)
    if path in Paths.children() and not hasattr(module, "__path__"):
        module.__path__ = []  # one file here, a package in Paddle


def _own_first(own, path, name):
    try:
        return own(name)
    except AttributeError:
        return look_up(path, name)


def _call(module, path):
    """Gives a module the name it has in a package called `Paths.root`."""
    name = Paths.root + full(path).removeprefix(PACKAGE)
    module.__name__ = name
    sys.modules[name] = module


def complete():
    """Makes the loaded package complete: its modules ask the table, other paths are found, objects say that
    they are defined where Paddle's are."""
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
            and name in _held(sys.modules.get(full(parent or ".")))
        ):
            # importing it later would replace the function
            module = sys.modules[full(path)] = types.ModuleType(full(path))
            module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, _Loader())
            attach(module, path)
    rename(PACKAGE)


def rename(root, written_in=None):
    """Gives loaded classes and functions (all, or those of one module) Paddle's `__module__` and
    `__qualname__`, in a package called `root`."""
    if root != Paths.root:
        Paths.root = root
        for name, module in list(sys.modules.items()):
            package, _, path = name.partition(".")
            if package == PACKAGE and not path.startswith("_"):
                _call(module, path or ".")
    for path, (_, groups) in Paths.lines().items():
        if written_in is not None and f"*{written_in}: " not in groups:
            continue
        for name, where, other in _defined(path):
            found = _held(sys.modules.get(full(where))).get(other)
            ours = isinstance(found, type | types.FunctionType) and found.__module__.partition(".")[0] in OURS
            if ours and found.__name__ not in _PRINTED:
                found.__module__, found.__qualname__ = root + full(path).removeprefix(PACKAGE), name
