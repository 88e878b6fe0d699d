"""An axis of more than 2**31 - 1 elements, whose places need 64 bits."""

import pathlib

import pytest

from tests.programs.both_engines import OPTIMISED, run

NEEDED = 12 << 20  # KiB, twice what it takes
PROGRAM = """
import paddle_jax as paddle

LENGTH = (1 << 31) + 8
x = paddle.zeros([LENGTH], dtype="uint8")
x[-1], x[1 << 31] = 3, 7
assert (x.shape, x.size, int(x[LENGTH - 1])) == ([LENGTH], LENGTH, 3)
assert x[-9:].tolist() == [0, 7, 0, 0, 0, 0, 0, 0, 3]
assert x[paddle.to_tensor([LENGTH - 1, 0, 1 << 31])].tolist() == [3, 0, 7]
assert (int(x.max()), int(x.argmax()), int(x.sum())) == (7, 1 << 31, 10)
assert paddle.gather(x, paddle.to_tensor([1 << 31])).tolist() == [7]
try:
    x[LENGTH]
except IndexError:
    print("refused")
x[paddle.to_tensor([LENGTH - 2])] = paddle.to_tensor([9], dtype="uint8")
assert x[-2:].tolist() == [9, 3]
print("done")
"""


def available():
    """KiB of free memory; 0 where that is not known."""
    path = pathlib.Path("/proc/meminfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), 0)


@pytest.mark.slow
@pytest.mark.skipif(available() < NEEDED, reason="needs 12 GiB of memory")
def test_a_long_axis(tmp_path):
    """In a process of its own: without the compiler's optimisations it takes a minute."""
    assert run(["-c", PROGRAM], tmp_path, **OPTIMISED).splitlines() == ["refused", "done"]
