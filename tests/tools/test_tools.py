"""The repository's tools find what they are meant to find."""

import ast
import importlib.util
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def problems(tmp_path, monkeypatch):
    """Static problems of a package given as {file: source}."""
    tool = load("check_imports")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "KNOWN", tmp_path / "known_imports.txt")

    def check(files):
        for name, source in files.items():
            path = tmp_path / "paddle_jax" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        return tool.static_problems(tool.module_files())

    return check


CLEAN = {
    "__init__.py": "from paddle_jax.tensor import add\nfrom paddle_jax import nn",
    "_core/__init__.py": "",
    "_core/op.py": "import jax",
    "tensor/__init__.py": "from paddle_jax.tensor.math import add",
    "tensor/math.py": "from paddle_jax._core.op import op",
    "nn/__init__.py": "from . import functional",
    "nn/functional/__init__.py": "from ...tensor.math import add",
}


def test_downward_imports_pass(problems):
    assert problems(CLEAN) == []


@pytest.mark.parametrize(
    ("file", "source", "word"),
    [
        ("tensor/math.py", "from paddle_jax.tensor import add", "ring"),
        ("tensor/math.py", "from . import add", "ring"),
        ("nn/functional/__init__.py", "import paddle_jax.nn", "ring"),
        ("_core/op.py", "from paddle_jax.tensor.math import add", "ring"),
        (
            "_core/op.py",
            "try:\n    from paddle_jax.nn import functional\nexcept ImportError:\n    pass",
            "downwards",
        ),
        ("tensor/math.py", "if 1:\n    import paddle_jax.nn.functional", "downwards"),
        ("tensor/math.py", "def f():\n    from paddle_jax.nn import functional  # lazy: slow", "ring"),
        ("nn/new.py", "def f():\n    from paddle_jax.tensor import add", "say why"),
    ],
)
def test_bad_imports_are_found(problems, file, source, word):
    assert any(word in problem for problem in problems(CLEAN | {file: source}))


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    from paddle_jax.tensor import add  # lazy: only plots need it",
        "def f():\n    # lazy: an optional dependency\n    from paddle_jax.tensor import add",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from paddle_jax import nn",
    ],
)
def test_imports_with_a_reason_pass(problems, source):
    assert problems(CLEAN | {"nn/new.py": source}) == []


def test_known_imports_have_to_exist(problems, tmp_path):
    (tmp_path / "known_imports.txt").write_text("# none\npaddle_jax.tensor.math paddle_jax.nn\n")
    assert problems(CLEAN) == [
        "paddle_jax.tensor.math paddle_jax.nn: listed in known_imports.txt, and not needed there"
    ]


def test_line_budget_counts_bodies_without_docstrings():
    tool = load("line_budget")
    op_x = '@op("x")\ndef a(x):\n    """Two\n    lines."""\n    y = x\n    return y\n'
    bare_op, no_op = "@op\ndef b(x):\n    return x\n", "def c(x):\n    return x\n"
    source = op_x + bare_op + no_op
    assert sorted(tool.op_bodies(tool.functions_of(ast.parse(source)))) == [1, 2]


def test_line_budget_counts_functions_without_signatures_and_docstrings():
    tool = load("line_budget")
    source = '@cached\ndef a(x):\n    """Two\n    lines."""\n\n    def b():\n        return x\n    return b\n'
    assert tool.long_functions("a.py", tool.functions_of(ast.parse(source)), 2) == [
        "a.py::a: 3 lines, allowed 2"
    ]


def test_the_package_keeps_its_line_budget(capsys):
    assert load("line_budget").main() == 0, capsys.readouterr().out


@pytest.fixture
def private_uses(tmp_path, monkeypatch):
    """What `check_names` says of a test with this source."""
    tool = load("check_names")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "TESTS", tmp_path / "tests")
    monkeypatch.setattr(tool, "KNOWN_TESTS", tmp_path / "known.txt")
    (tmp_path / "tests").mkdir()

    def check(source, known=""):
        (tmp_path / "tests" / "test_a.py").write_text(source)
        (tmp_path / "known.txt").write_text(known)
        return list(tool.test_problems())

    return check


_UNITS = '"""Unit tests of `_core.tape` and\n`_core.base.state`."""\n'


@pytest.mark.parametrize(
    ("source", "is_refused"),
    [
        ("import paddle_jax._core.tape", True),
        ("from paddle_jax._core.tape import node", True),
        ("from paddle_jax.nn.functional.input import _lookup", True),
        ("import paddle_jax as paddle\npaddle._core.tape.node.Node", True),
        ('CODE = """\nfrom paddle_jax._core import tape\n"""', True),
        ('patch("paddle_jax._core.tape.node.Node", 1)', True),
        (_UNITS + "from paddle_jax._core.tape.node import Node", False),
        (_UNITS + "from paddle_jax._core.base.state import local", False),
        (_UNITS + "from paddle_jax._core.base import dtype", True),
        ("from paddle_jax.hapi.model import _all_gather\nimport paddle_jax.__main__", False),
        ("from paddle_jax.nn import Linear\nself._core = paddle_jax._C_ops._run_custom_op", False),
    ],
)
def test_private_names_in_tests(private_uses, source, is_refused):
    found = private_uses(source)
    assert bool(found) is is_refused
    assert all("is private" in problem for problem in found)
    known = private_uses(source, "# files\ntests/test_a.py: a reason\n")
    assert bool(known) is not is_refused  # a file that is listed has to need it
