"""Public names are documented, and the examples in their docstrings print what they say: here and in the real Paddle.

An example says `paddle`, so each engine can run it. A docstring that speaks of `paddle_jax` or has a line `Differs from Paddle:` is ours alone.
"""

import ast
import doctest
import importlib.util
import warnings
from pathlib import Path

import pytest

PACKAGE = Path(importlib.util.find_spec("paddle_jax").origin).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
OURS_ALONE = ("paddle_jax", "Differs from Paddle:")


def docstrings(node, prefix):
    """(name, docstring) of every function, class and method below a node of the source that has an example."""
    for child in getattr(node, "body", []):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(child) or ""
            if ">>> " in text:
                yield f"{prefix}{child.name}", text
            yield from docstrings(child, f"{prefix}{child.name}.")


def files_with_examples():
    return [str(path.relative_to(PACKAGE)) for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def run_examples(file, engine, wanted=lambda text: True):
    """Runs the examples of one file with an engine; returns doctest's report of those that fail."""
    import numpy as np

    failures = []
    for name, text in docstrings(ast.parse((PACKAGE / file).read_text(encoding="utf-8")), f"{file}:"):
        if wanted(text):
            engine.seed(0)
            test = doctest.DocTestParser().get_doctest(text, {"paddle": engine, "np": np}, name, file, 0)
            doctest.DocTestRunner(optionflags=FLAGS).run(test, out=failures.append)
    return "".join(failures)


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("file", files_with_examples())
def test_examples_run(file, paddle):
    failures = run_examples(file, paddle)
    assert not failures, failures


@pytest.mark.parametrize("file", files_with_examples())
def test_the_real_paddle_prints_the_same(file, oracle):
    failures = run_examples(file, oracle, lambda text: not any(word in text for word in OURS_ALONE))
    assert not failures, failures


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
