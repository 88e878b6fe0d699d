"""`distributed.split` in one process that drives eight devices: each has a part of the weights."""

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from tests.distributed.programs import divided


@pytest.fixture
def _static():
    paddle.enable_static()
    fleet.init(is_collective=True)
    yield
    paddle.disable_static()


@pytest.mark.usefixtures("_static")
def test_parts_on_devices_train_as_one_device():
    alone = divided.trained(1, distributed=False)
    for gathers in (True, False):
        divided.check([divided.trained(2, own_parts=1, gathers=gathers, distributed=False)], alone)


@pytest.mark.usefixtures("_static")
def test_each_device_holds_its_part():
    main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    with paddle.static.scope_guard(scope), paddle.static.program_guard(main, startup):
        divided.network(4, 1)
        paddle.static.Executor().run(startup)
        for name in divided.CUT:
            shards = scope.values[name].addressable_shards
            assert len({shard.device.id for shard in shards}) == 4, name
            assert {shard.data.size for shard in shards} == {np.prod(divided.SHAPES[name]) / 4}, name


@pytest.mark.usefixtures("_static")
@pytest.mark.parametrize(
    ("error", "size", "operation", "more", "said"),
    [
        (AssertionError, 8, "linear", {}, "two integers"),
        (AssertionError, (8, 8), "conv", {}, "'linear' or 'embedding'"),
        (AssertionError, (8, 8), "embedding", {"axis": 1}, "along axis 0 only"),
        (AssertionError, (8, 9), "linear", {"axis": 1, "num_partitions": 2}, "divisible"),
        (ValueError, (8, 8), "linear", {"axis": 2}, "0 or 1"),
        (ValueError, (16, 16), "linear", {"num_partitions": 16}, "sees 8 devices"),
    ],
)
def test_what_cannot_be_is_refused(error, size, operation, more, said):
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        x = paddle.static.data("x", [None, 8])
        with pytest.raises(error, match=said):
            paddle.distributed.split(x, size, operation, **more)
    paddle.disable_static()
    with pytest.raises(ValueError, match="static programs"):
        paddle.distributed.split(paddle.ones([2, 8]), (8, 8), "linear")
