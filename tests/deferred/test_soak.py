"""Memory stays flat over many steps. A longer run: `python -m tests.deferred.soak 20000`."""

import pytest

from tests.deferred import soak


@pytest.mark.slow
@pytest.mark.usefixtures("deferred")
def test_memory_stays_flat(paddle):
    megabytes, arrays, objects, compiles = soak.run(2500, warm=1100, report=lambda text: None)
    assert megabytes < 30
    assert arrays <= 10
    assert objects < 1400  # less than one for each step
    assert compiles <= 2
