"""Public names are documented, and the examples in their docstrings print what they say: here and in
the real Paddle.

An example says `paddle`, so each engine can run it. A docstring that speaks of `paddle_jax` or has a line
`Differs from Paddle:` is ours alone. Floating-point numbers in the output may differ in the fourth decimal.
"""

import ast
import doctest
import importlib.util
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.cpu import no_avx512
from tools.line_budget import definitions_of

PACKAGE = Path(importlib.util.find_spec("paddle_jax").origin).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# the CPU build refuses
NOT_ON_CPU = re.compile("nvprof_nvtx|is not registered|for cpu kernel now|FLAGS_cudnn_deterministic")
# the real Paddle prints this
NOISE = "With sparse mode, if your models has only small parameter prefetch may cause speed down\n"
OURS_ALONE = ("bounded", "paddle.func.", "paddle.interop.", "paddle_jax", "Differs from Paddle:")


FLOAT = re.compile(r"[-+]?\d+\.\d*(?:e[-+]?\d+)?")


class Checker(doctest.OutputChecker):
    """Compares output with the numbers in it taken as numbers."""

    def check_output(self, want, got, optionflags):
        got = got.replace(NOISE, "")
        if super().check_output(want, got, optionflags):
            return True
        numbers = [[float(number) for number in FLOAT.findall(text)] for text in (want, got)]
        texts = [FLOAT.sub("0.0", text) for text in (want, got)]
        near = len(numbers[0]) == len(numbers[1]) and all(
            abs(a - b) <= 2e-4 * max(1.0, abs(a)) for a, b in zip(*numbers, strict=True)
        )
        return near and super().check_output(*texts, optionflags)


def examples(text):
    """The lines of a docstring that belong to an example: indented like the first prompt; all others
    are blanked out."""
    indent = re.search(r"^ *(?=>>> )", text, re.MULTILINE).group()
    return "\n".join(line if line.startswith(indent) else "" for line in text.splitlines())


def docstrings(node, prefix):
    """(name, docstring) of every function, class and method below a node of the source
    that has an example."""
    for child in getattr(node, "body", []):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(child) or ""
            if ">>> " in text:
                yield f"{prefix}{child.name}", text
            yield from docstrings(child, f"{prefix}{child.name}.")


def files_with_examples():
    files = sorted(PACKAGE.rglob("*.py"))
    return [
        str(path.relative_to(PACKAGE))
        for path in files
        if path.name != "alias.py" and ">>> " in path.read_text(encoding="utf-8")
    ]


def run_examples(file, engine, wanted=lambda text: True):
    """Runs the examples of one file with an engine; returns doctest's report of those that fail."""
    failures = []
    for name, text in docstrings(ast.parse((PACKAGE / file).read_text(encoding="utf-8")), f"{file}:"):
        if wanted(text):
            failures.append(run_example(text, engine, name, file))
    return failures


def run_example(text, engine, name, file):
    """Runs one docstring's example; returns doctest's report, "" where all is well."""
    engine.seed(0)
    globs = {"paddle": engine, "np": np}
    test = doctest.DocTestParser().get_doctest(examples(text), globs, name, file, 0)
    report = []
    doctest.DocTestRunner(Checker(), optionflags=FLAGS).run(test, out=report.append)
    return "".join(report)


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    for engine in [sys.modules[name] for name in ("paddle", "paddle_jax") if name in sys.modules]:
        engine.disable_static()  # an example that failed may have left it on


def test_examples_of_the_alias_run():
    """In a process of their own: afterwards `import paddle` means something else there."""
    code = "import sys, doctest, paddle_jax.alias; sys.exit(doctest.testmod(paddle_jax.alias).failed)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", files_with_examples())
def test_examples_run(file, paddle):
    failures = run_examples(file, paddle)
    assert not any(failures), "".join(failures)


def groups_of_files():
    """The files with examples, a few of a folder at a time: a process for each file would cost more
    than its examples."""
    folders = {}
    for file in files_with_examples():
        folders.setdefault(Path(file).parent, []).append(file)
    return [files[start : start + 8] for files in folders.values() for start in range(0, len(files), 8)]


@pytest.mark.own_process
@pytest.mark.parametrize("files", groups_of_files(), ids=lambda files: files[0])
def test_the_real_paddle_prints_the_same(files, oracle):
    """Kernels that end in an illegal instruction on a CPU without AVX-512 are left out there."""
    failures = []
    for file in files:
        if not (file.endswith(("fused_rms_norm.py", "fused_layer_norm.py")) and no_avx512()):
            failures += run_examples(file, oracle, lambda text: not any(word in text for word in OURS_ALONE))
            oracle.disable_static()  # an example that failed may have left it on
    failures = [report for report in failures if report and not NOT_ON_CPU.search(report)]
    assert not failures, "".join(failures)


def twins_in_place():
    """(name, docstring) of the in-place twins: their docstrings are made from those of the operations."""
    from tests.ops.table import OPS

    made = [(name, getattr(operation.public, "inplace", None)) for name, operation in sorted(OPS.items())]
    return [(f"{name}_", twin.__doc__) for name, twin in made if twin is not None]


def test_examples_of_twins_run(paddle):
    """Each twin has one, which calls it."""
    twins = twins_in_place()
    assert [name for name, text in twins if f"{name}(" not in text.partition("Example:")[2]] == []
    reports = [run_example(text, paddle, name, "") for name, text in twins]
    assert not any(reports), "".join(reports)


@pytest.mark.own_process
def test_the_real_paddle_prints_the_same_for_twins(oracle):
    """Paddle has `erf_` and `expm1_` as functions, not as methods of Tensors."""
    twins = [(name, text) for name, text in twins_in_place() if name not in ("erf_", "expm1_")]
    reports = [run_example(text, oracle, name, "") for name, text in twins]
    assert not any(reports), "".join(reports)


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


def attributes_of(node):
    """Names of the attributes of a class: its fields and slots, and what its methods assign to self."""
    names = set()
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            names.add(part.target.id)
        elif isinstance(part, ast.Assign) and getattr(part.targets[0], "id", "") == "__slots__":
            names |= {text.value for text in ast.walk(part.value) if isinstance(text, ast.Constant)}
        elif isinstance(part, ast.FunctionDef) and part.args.args:
            names |= {
                child.attr
                for child in ast.walk(part)
                if isinstance(child, ast.Attribute)
                and isinstance(child.ctx, ast.Store)
                and getattr(child.value, "id", "") == part.args.args[0].arg == "self"
            }
    return names


def test_large_classes_list_their_attributes():
    """A class with more than five attributes lists them below `Attributes:`."""
    unlisted = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in definitions_of(ast.parse(path.read_text(encoding="utf-8")), ast.ClassDef)
        if "Attributes:" not in (ast.get_docstring(node) or "") and len(attributes_of(node)) > 5
    ]
    assert not unlisted
