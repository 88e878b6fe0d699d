"""Every script of the corpus in every mode gives what it gives as plain Python."""

import pytest

from tests.jit.corpus import scripts  # noqa: F401  its modules add to SCRIPTS
from tests.jit.corpus.script import SCRIPTS, check, modes_of

RUNS = [
    pytest.param(one, mode, id=f"{one.name}-{mode}") for one in SCRIPTS.values() for mode in modes_of(one)
]


@pytest.mark.filterwarnings("ignore:.*runs op by op")
@pytest.mark.parametrize(("script", "mode"), RUNS)
def test_as_plain_python(script, mode):
    check(script, mode)
