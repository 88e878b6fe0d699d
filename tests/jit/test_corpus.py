"""Every program of the corpus in every mode gives what the real Paddle gives eagerly."""

import pytest

from tests.jit.corpus import PROGRAMS
from tests.jit.corpus.modes import modes_of
from tests.jit.corpus.runner import check


def runs(own_process):
    """Programs with their modes."""
    return [
        pytest.param(program, mode, id=f"{program.name}-{mode.name}")
        for program in PROGRAMS.values()
        for mode in modes_of(program)
        if mode.own_process == own_process
    ]


@pytest.mark.parametrize(("program", "mode"), runs(own_process=False))
def test_as_the_real_paddle(program, mode, oracle, tmp_path):
    check(program, mode, tmp_path)


@pytest.mark.own_process
@pytest.mark.parametrize(("program", "mode"), runs(own_process=True))
def test_files_of_the_real_paddle(program, mode, oracle, tmp_path):
    check(program, mode, tmp_path)
