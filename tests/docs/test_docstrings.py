"""Public names are documented, and the examples in their docstrings run and print what they say."""

import ast
import doctest
import importlib.util
import inspect
import warnings
from pathlib import Path

import pytest

PACKAGE = Path(importlib.util.find_spec("paddle_jax").origin).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module_names():
    """Modules that have an example, by a look at their source (importing all of them here would slow down every test run)."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = ("paddle_jax", *path.relative_to(PACKAGE).with_suffix("").parts)
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def documented(owner, module, prefix=""):
    """(name, docstring, line) of everything the module defines: functions and classes, with their public methods."""
    for name, value in vars(owner).items():
        value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        value = value.fget if isinstance(value, property) else value
        if getattr(value, "__module__", None) != module or not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if ">>> " in (value.__doc__ or ""):
            yield prefix + name, value.__doc__
        if inspect.isclass(value) and owner is not value:
            yield from documented(value, module, prefix + name + ".")


@pytest.mark.parametrize("module", list(module_names()))
def test_examples_run(module, tmp_path, monkeypatch):
    import numpy as np

    import paddle_jax

    monkeypatch.chdir(tmp_path)
    parser, failures = doctest.DocTestParser(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, text in dict(documented(importlib.import_module(module), module)).items():
            paddle_jax.seed(0)
            report = []
            test = parser.get_doctest(text, {"paddle": paddle_jax, "paddle_jax": paddle_jax, "np": np}, f"{module}.{name}", module, 0)
            if doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append).failed:
                failures.append("".join(report))
    assert not failures, "\n".join(failures)


def public_definitions():
    """(place, has a docstring) of public functions and classes outside the core, read from the source."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).parts
        if not any(part.startswith("_") and part != "__init__.py" for part in parts):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                    yield f"{'/'.join(parts)}:{node.lineno} {node.name}", ast.get_docstring(node) is not None


def test_public_names_are_documented():
    assert [place for place, has in public_definitions() if not has] == []
