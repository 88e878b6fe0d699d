"""Data parallel training on this process, as JSON: {name: value}. Both engines can run it."""

import json
import sys

import numpy as np

FOUND = {}


def everywhere(P, D, rank):
    """Checks that both engines pass."""
    start = np.array([[1.0, -2.0], [0.5, 3.0]], "float32")
    net = P.nn.Linear(2, 2)
    net.weight.set_value(P.to_tensor(start * (rank + 1)))
    net.bias.set_value(P.zeros([2]))
    dp, x = P.DataParallel(net), P.full([1, 2], rank + 1.0)
    FOUND["start"] = net.weight.tolist()
    FOUND["names"] = [
        list(dp.state_dict()),
        [name for name, _ in dp.named_parameters()],
        repr(dp),
        repr(dp.group),
    ]

    def gradient(name, *calls):
        for call in calls:
            call()
        FOUND[name] = [net.weight.grad.tolist(), net.bias.grad.tolist()]

    def step(factor=1.0):
        dp(factor * x).sum().backward()

    def alone():
        with dp.no_sync():
            step()

    gradient("once", step)
    gradient("twice", step)
    net.clear_gradients()
    gradient("no_sync", alone)
    gradient("no_sync, then once", step)
    net.clear_gradients()
    gradient("two forward passes", lambda: (dp(x).sum() + dp(2 * x).sum()).backward())
    net.clear_gradients()
    gradient("the layer within", lambda: net(x).sum().backward())
    net.clear_gradients()
    fused = P.distributed.fleet.utils.hybrid_parallel_util.fused_allreduce_gradients
    gradient("fused", alone, lambda: fused(list(net.parameters()), None))
    net.clear_gradients()

    class Two(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.norm = P.nn.Linear(2, 2), P.nn.Linear(2, 2), P.nn.BatchNorm1D(2)

        def forward(self, x, which):
            return (self.a if which == 0 else self.b)(x)

    two = Two()
    two.norm._mean.set_value(P.full([2], float(rank)))
    unused = P.DataParallel(two, find_unused_parameters=True)
    FOUND["buffers"] = two.norm._mean.tolist()
    unused(x, rank).sum().backward()
    FOUND["unused"] = [two.a.weight.grad.tolist(), two.b.weight.grad.tolist(), two.norm.weight.grad is None]
    same = P.DataParallel(Two())
    for _ in range(2):
        same(x, 0).sum().backward()
    FOUND["unused by all"] = [same._layers.a.weight.grad.tolist(), same._layers.b.weight.grad is None]
    FOUND["samples"] = [
        list(P.io.DistributedBatchSampler(list(range(10)), 2)),
        len(P.io.DistributedBatchSampler(list(range(10)), 2)),
    ]
    try:
        P.DataParallel(P.nn.ReLU())
    except AssertionError as error:
        FOUND["none"] = str(error)
    trained(P, rank)


def trained(P, rank):
    """Losses of ten steps on halves of a batch; all of it once more in one process is what
    they must be like."""
    FOUND["training"] = _losses(P, P.DataParallel, slice(4 * rank, 4 * rank + 4))
    FOUND["training alone"] = _losses(P, lambda net: net, slice(None))


def _losses(P, wrapped, part):
    draws = np.random.RandomState(3)
    net = P.nn.Sequential(P.nn.Linear(4, 16), P.nn.Tanh(), P.nn.Linear(16, 1))
    for p in net.parameters():
        p.set_value(P.to_tensor(draws.randn(*p.shape).astype("float32") * 0.5))
    model, x, y = wrapped(net), draws.randn(8, 4).astype("float32"), draws.randn(8, 1).astype("float32")
    optimizer = P.optimizer.AdamW(0.05, parameters=model.parameters())
    for _ in range(10):
        loss = ((model(P.to_tensor(x[part])) - P.to_tensor(y[part])) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return [p.tolist() for p in net.parameters()]


def here(P, D, rank):
    """Checks of what the real Paddle does not have on CPUs, or leaves undefined."""
    draws = np.random.RandomState(1)
    x = draws.randn(6, 3, 2).astype("float32") + 5
    net, whole = P.nn.SyncBatchNorm.convert_sync_batchnorm(P.nn.BatchNorm1D(3)), P.nn.BatchNorm1D(3)
    mine, every = P.to_tensor(x[3 * rank : 3 * rank + 3]), P.to_tensor(x)
    weights = draws.randn(6, 3, 2).astype("float32")
    mine.stop_gradient = every.stop_gradient = False
    out, expected = net(mine), whole(every)
    (out * P.to_tensor(weights[3 * rank : 3 * rank + 3])).sum().backward()
    (expected * P.to_tensor(weights)).sum().backward()
    part = slice(3 * rank, 3 * rank + 3)

    def far(a, b):
        return float(np.abs(np.asarray(a) - np.asarray(b)).max())

    total = net.weight.grad.clone()
    D.all_reduce(total)
    FOUND["normalised"] = [
        far(out, expected[part]),
        far(mine.grad, every.grad[part]),
        far(total, whole.weight.grad),
        far(net._mean, whole._mean),
        far(net._variance, whole._variance),
    ]
    net.eval(), whole.eval()
    FOUND["normalised, evaluation"] = far(net(mine), whole(every)[part])
    dp = P.DataParallel(P.nn.Linear(2, 2), comm_buffer_size=1)
    tensors = [P.zeros([1 << 17]), P.zeros([1 << 17]), P.zeros([4], "int32"), P.zeros([1 << 19])]
    for bucket in P.distributed.data_parallel.in_buckets(tensors, 1 << 20):
        FOUND.setdefault("buckets", []).append([list(t.shape) for t in bucket])
    a, b = P.nn.Linear(2, 2), P.nn.Linear(2, 3)
    uneven = P.DataParallel(P.nn.LayerList([a, b]))
    uneven._layers.forward = lambda v: (a if rank else b)(v)
    try:
        uneven(P.ones([1, 2])).sum().backward()
        FOUND["uneven"] = "nothing raised"
    except RuntimeError as error:
        FOUND["uneven"] = str(error)

    def step(v):
        loss = dp(v).sum()
        loss.backward()
        return loss

    compiled = P.jit.to_static(step)
    compiled(P.full([1, 2], rank + 1.0))
    FOUND["compiled"] = dp._layers.weight.grad.tolist()
    dp.clear_gradients()
    y = P.full([1, 2], rank + 1.0)
    y.stop_gradient = False
    P.distributed.fleet.utils.recompute(dp, y).sum().backward()
    FOUND["recomputed"] = dp._layers.weight.grad.tolist()


def main(engine):
    if engine == "paddle_jax":
        import paddle_jax as P
        from paddle_jax.distributed.fleet.utils import hybrid_parallel_util
    else:
        import paddle as P
        from paddle.distributed.fleet.utils import hybrid_parallel_util  # noqa: F401
    D = P.distributed
    D.init_parallel_env()
    everywhere(P, D, D.get_rank())
    if engine == "paddle_jax":
        here(P, D, D.get_rank())
    print(json.dumps(FOUND))


if __name__ == "__main__":
    main(sys.argv[1])
