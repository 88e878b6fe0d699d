"""Blocks in stages that compute their forward pass again, with a mask that all stages share."""

import numpy as np

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed.fleet.utils import recompute

MESH = dist.ProcessMesh(np.arange(4).reshape(2, 2), ["pp", "mp"])
ROWS = np.random.RandomState(0).randn(2, 4, 8).astype("float32")
KEPT = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], "float32")


class Mask(paddle.nn.Layer):
    def forward(self, kept):
        return kept.unsqueeze(-1)


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.down = paddle.nn.Linear(8, 8), paddle.nn.Linear(8, 8)

    def forward(self, x, mask):
        return x + self.down(paddle.tanh(self.up(x))) * mask


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.mask = Mask()
        self.blocks = paddle.nn.LayerList([Block(), Block()])

    def forward(self, x, kept):
        mask = self.mask(kept)
        for block in self.blocks:
            x = recompute(block, x, mask)
        return x


def losses(config):
    paddle.seed(2)
    net = Net()
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    if config:
        net, optimizer = dist.parallelize(net, optimizer, MESH, config)
    found = []
    for _ in range(2):
        loss = (net(paddle.to_tensor(ROWS), paddle.to_tensor(KEPT)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        found.append(loss.item())
    return found


def test_a_mask_of_all_stages():
    plan = {
        "mask": dist.PrepareLayerInput(replicated),
        "blocks.*.up": dist.ColWiseParallel(),
        "blocks.*.down": dist.RowWiseParallel(),
    }
    config = {
        "mp_config": {"parallelize_plan": plan},
        "pp_config": {"split_spec": "blocks", "global_spec": "mask"},
    }
    np.testing.assert_allclose(losses(config), losses(None), rtol=1e-5)


def replicated(process_mesh):
    """A hook of PaddleNLP's plans: what a layer gets has a copy on each device."""
    placements = [dist.Replicate() for _ in process_mesh._shape]
    return lambda layer, inputs: tuple(dist.shard_tensor(t, process_mesh, placements) for t in inputs)
