"""The stub package `paddle-stubs`, by which type checkers understand programs that say `import paddle`.

Its files re-export the modules of paddle_jax. The package has no code, so `import paddle` fails at run time
until the alias is installed or Paddle itself is there. tools/stubs.py writes it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from paddle_jax import _paths

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paddle_jax"
FOLDER = ROOT / "paddle-stubs"


def alias_stubs() -> dict[Path, str]:
    """{file: text} of all files of the package."""
    found = {FOLDER / "py.typed": "partial\n"}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        path = ".".join(part for part in parts if part != "__init__") or "."
        is_top = len(parts) == 1 or file.name == "__init__.py"
        if is_top or path in _paths.Paths.lines():
            found[FOLDER.joinpath(*parts).with_suffix(".pyi")] = _text(path, file)
    return found


def _text(path: str, file: Path) -> str:
    """The stub of one module."""
    stub = file.with_suffix(".pyi")
    source = stub if stub.exists() else file
    body = ast.parse(source.read_text(encoding="utf-8")).body
    names = _paths.names(path)
    if file.name == "__init__.py" or "." not in path:
        bound = _bound(body)
        wanted = {*names.objects, *names.modules} & bound | {
            name for name in bound if _is_module(file.parent / name)
        }
    else:
        # Deep inside, programs take what a module defines, not what it imports.
        wanted = {*names.objects} & _defined(body)
    if path == ".":
        wanted.add("__version__")
    explicit = sorted(wanted - _starred(body))
    module = _paths.full(path)
    return f"from {module} import *\n" + "".join(
        f"from {module} import {name} as {name}\n" for name in explicit
    )


def _is_module(path: Path) -> bool:
    """Whether a path without ending stands for a module."""
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _bound(body: list[ast.stmt]) -> set[str]:
    """The names that the statements of a module bind."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names - {"*"}


def _defined(body: list[ast.stmt]) -> set[str]:
    """The names that the statements of a module define, without what they import."""
    return _bound([node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)])


def _starred(body: list[ast.stmt]) -> set[str]:
    """The names that `from module import *` gives: `__all__`, else what is defined or imported `as` such."""
    names = _defined(body)
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)}
        if isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names if alias.asname == alias.name}
    return {name for name in names if not name.startswith("_")}
