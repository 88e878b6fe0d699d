"""Runs a program in a mode and compares it with the real Paddle."""

import pathlib
import re
import warnings

import pytest

from tests.jit.corpus.modes import Mode, reference_of_mode
from tests.jit.corpus.outcome import Outcome, compare
from tests.jit.corpus.program import Program

# What modes say of programs that they cannot run as one program.
_OP_BY_OP = "runs op by op"
_ONLY_HERE = "only paddle_jax can load"


def check(program: Program, mode: Mode, folder: pathlib.Path) -> None:
    """Fails where a program gives something else in this mode, or does not say what it cannot do."""
    if program.refused is not None and mode.refuses:
        _check_refusal(program, mode, folder)
        return
    if mode.name in program.refused_by:
        with pytest.raises((ValueError, NotImplementedError), match=program.refused_by[mode.name]):
            mode.run(program, folder)
        assert list(folder.iterdir()) == []
        return
    found, texts = _run(program, mode, folder)
    parts = mode.parts
    if mode.evaluation and not program.file_gradients:
        parts = ()
    for got, right in zip(found, reference_of_mode(program, mode), strict=True):
        compare(got, right, program.precision, mode.numbers, parts)
    _check_warnings(program, mode, texts)


def _check_warnings(program: Program, mode: Mode, texts: list[str]) -> None:
    """One warning says why a program runs op by op; no other says so, or that Paddle cannot read a file."""
    reason = program.refused or program.op_by_op
    if not mode.compiles or reason is None:
        assert not [text for text in texts if _OP_BY_OP in text or _ONLY_HERE in text]
        return
    shown = [text for text in texts if _OP_BY_OP in text]
    # Integers that are passed to `to_static` may be constants, for which there is one program.
    may_be_compiled = mode.name == "to_static" and program.refused is None and program.has_integers
    assert len(shown) == 1 or may_be_compiled and not shown
    assert all(reason in text for text in shown)


def _run(program: Program, mode: Mode, folder: pathlib.Path) -> tuple[list[Outcome], list[str]]:
    """The Outcomes, and the texts of warnings."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        found = mode.run(program, folder)
    return found, [str(one.message) for one in shown]


def _check_refusal(program: Program, mode: Mode, folder: pathlib.Path) -> None:
    """The error says why, and names a line of the program."""
    with pytest.raises((RuntimeError, ValueError)) as refusal:
        mode.run(program, folder)
    text = str(refusal.value)
    reason = program.refused
    if mode.evaluation and program.refused_in_files is not None:
        reason = program.refused_in_files
    assert reason in text
    assert re.search(rf"/{program.module}\.py:\d+", text)
    assert list(folder.iterdir()) == []
