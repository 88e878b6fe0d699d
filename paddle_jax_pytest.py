"""Plugin of pytest: failures of tests that use paddle_jax show the frames of the tests.

`pytest -p paddle_jax_pytest` turns it on. It imports nothing of paddle_jax: it acts where a test has imported
it. `--full-trace` or FLAGS_call_stack_level=2 show all frames.
"""

import sys
from typing import Any

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Leaves frames of paddle_jax out of the exception that a test has raised."""
    displays = sys.modules.get("paddle_jax._core.base.traceback_displays")
    if displays is None or call.excinfo is None or item.config.getoption("fulltrace"):
        return
    error = call.excinfo.value
    if displays.trim_for_pytest(error):
        call.excinfo = pytest.ExceptionInfo.from_exception(error)
