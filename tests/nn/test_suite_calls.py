"""Calls of the functions and layers that public test suites go through, against the real Paddle: losses,
distances, pooling to a size, padding, cells."""

import pathlib

import pytest

from tests.ops.test_torch_names import check_call

# one a line; a call that starts with `~` is compared by dtype and shape only
CALLS = pathlib.Path(__file__).with_name("suite_calls.txt").read_text().splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_call(call, oracle):
    check_call(call, oracle)
