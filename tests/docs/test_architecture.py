"""The page on how the package works names files and functions that exist."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FILE = ROOT / "docs" / "architecture.md"
if not FILE.is_file():
    pytest.skip("the documentation is not part of the wheel", allow_module_level=True)
PAGE = FILE.read_text(encoding="utf-8")


def defined(file):
    """Names of functions and classes in a file of the package."""
    tree = ast.parse((ROOT / "paddle_jax" / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_files_and_names_exist():
    files = set(re.findall(r"`([\w/]+\.py)`", PAGE)) - {"tools/check_imports.py"}
    assert len(files) >= 25
    assert [file for file in sorted(files) if not (ROOT / "paddle_jax" / file).is_file()] == []
    named = re.findall(r"`([\w/]+\.py)` `(\w+)`", PAGE)
    assert len(named) >= 15
    assert [pair for pair in named if pair[1] not in defined(pair[0])] == []


def test_rooms_exist():
    rooms = re.findall(r"^\| `(_\w+(?:/\w+)?)/?` \|", PAGE, re.MULTILINE)
    assert len(rooms) == 13
    assert [room for room in rooms if not (ROOT / "paddle_jax" / room).is_dir()] == []


def test_it_is_short():
    lines = PAGE.splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 110] == []
