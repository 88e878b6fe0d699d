"""Docstrings of public names have the sections that apply; the shares may only rise."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import paddle_jax as paddle

TOOLS = Path(__file__).parents[2] / "tools"
# in parts of a thousand; docs/measures.md has the present ones
SHARES = {"text": 1000, "Args": 1000, "each argument": 1000, "Returns": 1000, "Raises": 1000, "Example": 1000}


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location("measures", TOOLS / "docstring_measures.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module


@pytest.mark.skipif(not (TOOLS.parent / "docs").is_dir(), reason="the wheel has no documentation")
def test_shares():
    """In a process of its own, where other tests have loaded no modules."""
    script = TOOLS / "docstring_measures.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=200)
    rows = re.findall(r"^(\w[\w ]*?) +(\d+) of +(\d+)  ", done.stdout, re.MULTILINE)
    found = {section: int(have) * 1000 // int(of) for section, have, of in rows}
    lower = {section: share for section, share in SHARES.items() if found[section] < share}
    assert not lower, f"python tools/docstring_measures.py --missing lists them: {found}"


def test_what_applies(tool):
    def scaled(x, by, name=None):
        """Multiplies.

        Args:
            x: number.
        """
        if by == 0:
            raise ValueError("by: got 0; it must be another number; pass 1 to keep x")
        return x * by

    def nothing() -> None:
        """Does nothing.

        Example:
            >>> nothing()
        """

    assert dict(tool.lacks(nothing)) == {"text": False, "Example": False}
    found = list(tool.lacks(scaled))
    assert found == [
        ("text", False),
        ("Args", False),
        ("each argument", False),
        ("each argument", True),
        ("Returns", True),
        ("Raises", True),
        ("Example", True),
    ]


def test_twins_in_place_have_the_arguments():
    text = paddle.Tensor.lerp_.__doc__
    assert "weight: number, or Tensor" in text and "Returns:\n    The Tensor `x`." in text
    assert "another shape" in text and "another shape" not in paddle.Tensor.reshape_.__doc__
