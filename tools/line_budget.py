"""Checks the package against the line budget in pyproject.toml ([tool.paddle_jax.line_budget]).

    python tools/line_budget.py

The limits: lines per file of the package and of tests, benchmarks, tools and examples; lines of a function of
the package, without its signature, decorators and docstring; median lines of an op's body.
"""

import ast
import statistics
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paddle_jax"
BESIDE = "tests", "benchmarks", "tools", "examples"  # held to the same length of files
DATA = ROOT / "tests" / "data"  # calls, programs and their runners, kept as they were recorded


def is_op(function):
    """True for a function decorated with @op or @op(...)."""
    names = [
        decorator.func if isinstance(decorator, ast.Call) else decorator
        for decorator in function.decorator_list
    ]
    return any(isinstance(name, ast.Name) and name.id == "op" for name in names)


def body_lines(function):
    """Lines from the first statement after the docstring to the last."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def definitions_of(tree, kinds):
    """The definitions of some kinds in a module. Reads statements alone: expressions are most of a tree."""
    found = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, kinds):
            found.append(node)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, field, ()))
    return found


def functions_of(tree):
    """The functions of a module."""
    return definitions_of(tree, ast.FunctionDef | ast.AsyncFunctionDef)


def long_functions(path, functions, limit):
    """`file::name: lines` of the functions that are longer than the limit."""
    return [
        f"{path}::{node.name}: {lines} lines, allowed {limit}"
        for node in functions
        if (lines := body_lines(node)) > limit
    ]


def op_bodies(functions):
    return [body_lines(node) for node in functions if isinstance(node, ast.FunctionDef) and is_op(node)]


def lengths_of(paths):
    """{path from the root: lines}."""
    return {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(paths)
    }


def main():
    limit = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["paddle_jax"][
        "line_budget"
    ]
    lengths = lengths_of(PACKAGE.rglob("*.py"))
    beside = lengths_of(
        path for folder in BESIDE for path in (ROOT / folder).rglob("*.py") if DATA not in path.parents
    )
    functions = {path: functions_of(ast.parse((ROOT / path).read_text(encoding="utf-8"))) for path in lengths}
    ops = [lines for nodes in functions.values() for lines in op_bodies(nodes)]
    median, total = statistics.median(ops or [0]), sum(lengths.values())

    problems = [
        f"{path}: {lines} lines, allowed {limit['file']}"
        for path, lines in (lengths | beside).items()
        if lines > limit["file"]
    ]
    for path, nodes in functions.items():
        problems += [
            long
            for long in long_functions(path, nodes, limit["function"])
            if long.partition(": ")[0] not in limit["long_functions"]
        ]
    if median > limit["op_body_median"]:
        problems.append(f"median op body {median} lines, allowed {limit['op_body_median']}")
    longest = max(lengths.values(), default=0)
    print(
        f"{len(lengths)} files, {total} lines, longest file {longest}, {len(ops)} "
        f"ops, median body {median} lines"
    )
    print("\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
