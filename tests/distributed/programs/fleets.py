"""`paddle.distributed.fleet` on this process, as JSON: {name: value}. Both engines can run the first part."""

import importlib
import json
import sys
import tempfile

import numpy as np

FOUND = {}


def refused(call):
    """The class of what a call raises, with its bases."""
    try:
        call()
    except Exception as error:
        return [
            base.__name__
            for base in type(error).__mro__
            if base.__name__ in ("AssertionError", "AttributeError", "TypeError", "ValueError")
        ]
    return []


def strategies(fleet):
    strategy = fleet.DistributedStrategy()
    FOUND["defaults"] = [
        strategy.find_unused_parameters,
        strategy.fuse_grad_size_in_MB,
        strategy.amp,
        strategy.hybrid_parallel_order,
        strategy.hybrid_configs["dp_degree"],
        strategy.hybrid_configs["mp_degree"],
        strategy.gradient_merge_configs,
    ]
    strategy.amp_configs = {"init_loss_scaling": 2.0}
    strategy.hybrid_configs = {"dp_degree": 2}
    strategy.hybrid_configs = {"mp_degree": 4}
    FOUND["set"] = [
        strategy.amp_configs["init_loss_scaling"],
        strategy.amp_configs["incr_ratio"],
        strategy.hybrid_configs["dp_degree"],
        strategy.hybrid_configs["mp_degree"],
    ]
    FOUND["refused"] = [
        refused(lambda: setattr(strategy, "bogus", 1)),
        refused(lambda: strategy.bogus),
        refused(lambda: setattr(strategy, "amp_configs", {"zzz": 1})),
        refused(lambda: setattr(strategy, "hybrid_configs", {"dp": 2})),
        refused(lambda: setattr(strategy, "hybrid_configs", {"dp_degree": "a"})),
        refused(lambda: setattr(strategy, "hybrid_configs", 3)),
        refused(lambda: fleet.init(3)),
    ]


def topologies(fleet):
    grid = fleet.CommunicateTopology(
        ["data", "pipe", "sharding", "sep", "context", "model"], [2, 1, 2, 1, 1, 2]
    )
    FOUND["grid"] = [
        grid.get_axis_list("data", 0),
        grid.get_axis_list("data", 9),
        grid.get_comm_list("model"),
        grid.get_comm_list("data"),
        list(grid.get_coord(5)),
        grid.get_dim_size("data"),
        grid.world_size(),
        grid.get_rank(data=1, pipe=0, sharding=0, sep=0, context=0, model=1),
        grid.get_fused_ranks(["data", "sharding"]),
        grid.get_rank_from_stage(3, pipe=0, data=1),
        grid.get_hybrid_group_names(),
    ]
    FOUND["grid, refused"] = [
        refused(call)
        for call in (
            lambda: grid.get_dim("zz"),
            lambda: grid.get_coord(8),
            lambda: grid.get_rank(data=1),
            lambda: grid.get_axis_list("zz", 0),
            lambda: grid.get_comm_list("zz"),
        )
    ]


def groups(fleet):
    hcg = fleet.get_hybrid_communicate_group()
    found = []
    for name in ("data", "model", "sharding"):
        group = getattr(hcg, f"get_{name}_parallel_group")()
        found.append(
            [
                group.ranks,
                group.rank,
                *(getattr(hcg, f"get_{name}_parallel_{what}")() for what in ("rank", "world_size")),
                getattr(hcg, f"get_{name}_parallel_group_src_rank")(),
            ]
        )
    return [
        found,
        hcg.get_parallel_mode(),
        hcg.get_global_rank(),
        hcg.get_stage_id(),
        hcg.get_pipe_parallel_world_size(),
        refused(hcg.get_sep_parallel_group),
        hcg.get_sep_parallel_rank(),
    ]


def everywhere(P, D, fleet):
    """Checks that both engines pass."""
    parallel, collective = D.parallel, D.collective
    FOUND["before"] = [
        refused(fleet.worker_index),
        refused(fleet.get_hybrid_communicate_group),
        refused(collective._get_default_group),
        parallel.parallel_helper._is_parallel_ctx_initialized(),
    ]
    strategies(fleet)
    topologies(fleet)
    fleet.init(is_collective=True)
    rank = D.get_rank()
    FOUND["who"] = [
        fleet.worker_index(),
        fleet.worker_num(),
        fleet.is_first_worker(),
        fleet.rank(),
        fleet.nranks(),
        fleet.world_size(),
        fleet.is_worker(),
        fleet.is_server(),
        len(fleet.worker_endpoints()),
        fleet.barrier_worker(),
        fleet.node_num(),
    ]
    FOUND["groups"] = groups(fleet)
    layer = P.nn.Linear(2, 1)
    layer.weight.set_value(P.full([2, 1], rank + 5.0))
    parallel.sync_params_buffers(layer, src_rank=1)
    FOUND["synced"] = [
        layer.weight.tolist(),
        parallel.parallel_helper._is_parallel_ctx_initialized(),
        collective._get_default_group().ranks,
    ]
    FOUND["files"] = fleet.util.get_file_shard(["a", "b", "c"])
    net = P.nn.Linear(2, 2)
    net.weight.set_value(P.to_tensor(np.array([[1.0, -2.0], [0.5, 3.0]], "float32") * (rank + 1)))
    net.bias.set_value(P.zeros([2]))
    model = fleet.distributed_model(net)
    optimizer = fleet.distributed_optimizer(
        P.optimizer.Adam(0.1, parameters=net.parameters(), grad_clip=P.nn.ClipGradByGlobalNorm(1.0))
    )
    FOUND["types"] = [type(model).__name__, type(optimizer).__name__, optimizer.get_lr()]
    for _ in range(3):
        model(P.full([1, 2], rank + 1.0)).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    FOUND["steps"] = [round(v, 5) for v in (*net.weight.numpy().ravel().tolist(), *net.bias.tolist())]
    FOUND["names"] = sorted(name.split("_", 2)[2] for name in optimizer.state_dict())


# paddle_jax alone -------------------------------------------------------------------------------------------


def degrees(fleet, **wanted):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = wanted
    fleet.init(is_collective=True, strategy=strategy)


def parts(P, D, fleet, rank):
    """Tensor parallel layers against whole ones."""
    from paddle_jax.distributed.fleet import meta_parallel as M
    from paddle_jax.distributed.fleet.layers import mpu

    # the real Paddle looks at the first init only
    FOUND["bad degrees"] = refused(lambda: degrees(fleet, dp_degree=1, mp_degree=3))
    degrees(fleet, dp_degree=1, mp_degree=2)
    FOUND["model groups"] = groups(fleet)
    group = fleet.get_hybrid_communicate_group().get_model_parallel_group()

    def whole(part, axis):
        pieces = []
        D.all_gather(pieces, part.detach(), group)
        made = P.concat(pieces, axis)
        made.stop_gradient = False
        return made

    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.embedding, self.up = (
                M.VocabParallelEmbedding(10, 4),
                M.ColumnParallelLinear(4, 6, has_bias=True, gather_output=False),
            )
            self.down, self.head = (
                M.RowParallelLinear(6, 4, input_is_parallel=True),
                M.ColumnParallelLinear(4, 8, gather_output=False),
            )
            self.loss = M.ParallelCrossEntropy()

        def forward(self, x, y):
            return self.loss(self.head(self.down(P.tanh(self.up(self.embedding(x))))), y)

    net = fleet.distributed_model(Net())
    layers = net._layers
    x, y = P.to_tensor([[0, 4, 5, 9], [1, 2, 7, 3]]), P.to_tensor([[0, 3, 4, 7], [1, -100, 5, 6]])
    x = x if rank == 0 else x * 0  # the model takes what the first process has
    loss = net(x, y)
    loss.sum().backward()
    table, up, bias = whole(layers.embedding.weight, 0), whole(layers.up.weight, 1), whole(layers.up.bias, 0)
    down, down_bias, head = (
        whole(layers.down.weight, 0),
        layers.down.bias.detach(),
        whole(layers.head.weight, 1),
    )
    down_bias.stop_gradient = False
    hidden = P.tanh(P.nn.functional.embedding(x, table) @ up + bias) @ down + down_bias
    want = P.nn.functional.cross_entropy(hidden @ head, y, reduction="none", ignore_index=-100)
    want.sum().backward()

    def far(a, b):
        return float(np.abs(np.asarray(a) - np.asarray(b)).max())

    cut = {
        "embedding": (layers.embedding.weight, table, 0),
        "up": (layers.up.weight, up, 1),
        "bias": (layers.up.bias, bias, 0),
        "down": (layers.down.weight, down, 0),
        "head": (layers.head.weight, head, 1),
    }
    FOUND["parts"] = {
        name: far(part.grad, np.split(full.grad.numpy(), 2, axis)[rank])
        for name, (part, full, axis) in cut.items()
    }
    FOUND["parts"]["loss"], FOUND["parts"]["down bias"] = (
        far(loss.squeeze(-1), want),
        far(layers.down.bias.grad, down_bias.grad),
    )
    FOUND["part shapes"] = [
        type(net).__name__,
        list(layers.up.weight.shape),
        layers.up.weight.is_distributed,
        layers.down.bias.is_distributed,
        layers.head.bias is None,
        list(loss.shape),
    ]
    total = np.sqrt(
        sum((np.asarray(full.grad) ** 2).sum() for *_, full in [(f,) for _, f, _ in cut.values()])
        + (down_bias.grad.numpy() ** 2).sum()
    )
    optimizer = fleet.distributed_optimizer(
        P.optimizer.SGD(1.0, parameters=net.parameters(), grad_clip=P.nn.ClipGradByGlobalNorm(0.1))
    )
    before = layers.up.weight.numpy()
    optimizer.step()
    FOUND["clipped"] = far(
        before - layers.up.weight.numpy(), np.split(up.grad.numpy(), 2, 1)[rank] * 0.1 / total
    )
    gathered, split = M.ColumnParallelLinear(4, 6, has_bias=False), M.RowParallelLinear(6, 2)
    rows = P.to_tensor(np.arange(8, dtype="float32").reshape(2, 4))
    got = split(gathered(rows))
    FOUND["gathered"] = far(got, rows @ whole(gathered.weight, 1) @ whole(split.weight, 0) + split.bias)
    FOUND["indivisible"] = refused(lambda: M.ColumnParallelLinear(4, 5, has_bias=True))
    tracker = M.get_rng_state_tracker()
    with tracker.rng_state():
        own = P.rand([4])
    every, masks = [], []
    D.all_gather(every, own)
    D.all_gather(masks, mpu.dropout(P.ones([64]), 0.5, rng_name="model_parallel_rng"))
    same = []
    D.all_gather(same, P.rand([4]))
    FOUND["random"] = [
        far(*every) > 0 and far(*masks) > 0,
        far(*same) == 0,
        refused(lambda: tracker.add("model_parallel_rng", 3)),
        refused(tracker.rng_state("zz").__enter__),
    ]
    weights = layers.up.sharded_state_dict("up.")
    FOUND["sharded"] = [[list(w.global_shape), list(w.global_offset)] for w in weights.values()]


def trained(P, wrapped, rank, scaler=None, accumulate=1, start=None, steps=6):
    """Parameters after some steps on this process's half of the data."""
    draws = np.random.RandomState(3)
    net = P.nn.Sequential(P.nn.Linear(4, 15), P.nn.Tanh(), P.nn.Linear(15, 3), P.nn.Tanh(), P.nn.Linear(3, 1))
    for p in net.parameters():
        p.set_value(P.to_tensor(draws.randn(*p.shape).astype("float32") * 0.5))
    for p, name in zip(net.parameters(), "abcdef", strict=True):
        p.name = name
    x, y = draws.randn(8, 4).astype("float32"), draws.randn(8, 1).astype("float32")
    rate = P.optimizer.lr.StepDecay(0.05, 2)
    optimizer = P.optimizer.AdamW(rate, parameters=net.parameters(), grad_clip=P.nn.ClipGradByGlobalNorm(0.5))
    model, optimizer = wrapped(net, optimizer)
    if start is not None:
        start(model, optimizer)
    half = slice(4 * rank, 4 * rank + 4)
    for _ in range(steps):
        for _ in range(accumulate):
            loss = ((model(P.to_tensor(x[half])) - P.to_tensor(y[half])) ** 2).mean() / accumulate
            (loss if scaler is None else scaler.scale(loss)).backward()
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        rate.step()
    return net, model, optimizer


def values(model):
    return np.concatenate([value.numpy().ravel() for value in model.state_dict().values()])


def grouped(P, D, fleet, rank):
    """Groups of parameters share the rule of clipping; each has a norm of its own, and one may have none."""
    x = np.random.RandomState(5).randn(8, 4).astype("float32")
    half = slice(4 * rank, 4 * rank + 4)

    def parts():
        net = P.nn.Sequential(P.nn.Linear(4, 6), P.nn.Tanh(), P.nn.Linear(6, 3), P.nn.Linear(3, 2))
        draws = np.random.RandomState(6)
        for p in net.parameters():
            p.set_value(P.to_tensor(draws.randn(*p.shape).astype("float32")))
        groups = [
            {"params": net[0].parameters()},
            {"params": net[2].parameters(), "learning_rate": 0.5},
            {"params": net[3].parameters(), "grad_clip": None},
        ]
        return net, P.optimizer.Adam(0.1, parameters=groups, grad_clip=P.nn.ClipGradByGlobalNorm(1e-7))

    def stepped(net, optimizer, rows):
        for _ in range(2):
            (net(P.to_tensor(rows)) ** 2).mean().backward()
            optimizer.step()
            optimizer.clear_grad()

    # Adam looks at gradients of 1e-7 beside its epsilon, so the norm shows in the step.
    net, optimizer = parts()
    stepped(net, optimizer, x)
    want = values(net)
    FOUND["groups of parameters"] = []
    for level in ("os", "os_g", "p_g_os"):
        net, optimizer = parts()
        model, optimizer, _ = D.sharding.group_sharded_parallel(net, optimizer, level)
        stepped(model, optimizer, x[half])
        FOUND["groups of parameters"].append(float(np.abs(values(model) - want).max()))
    for split in (False, True):
        strategy = fleet.DistributedStrategy()
        strategy.hybrid_configs = {"sharding_degree": 2}
        strategy.hybrid_configs["sharding_configs"].split_param = split
        fleet.init(is_collective=True, strategy=strategy)
        net, optimizer = parts()
        model, optimizer = fleet.distributed_model(net), fleet.distributed_optimizer(optimizer)
        stepped(model, optimizer, x[half])
        FOUND["groups of parameters"].append(float(np.abs(values(net) - want).max()))


def sharded(P, D, fleet, rank):
    """States, gradients and parameters in parts against data parallel training."""
    G = D.sharding
    net, _, whole = trained(P, lambda net, optimizer: (P.DataParallel(net), optimizer), rank)
    want, states = values(net), whole.state_dict()
    for level in ("os", "os_g", "p_g_os"):

        def divided(net, optimizer, level=level):
            return G.group_sharded_parallel(net, optimizer, level)[:2]

        net, model, optimizer = trained(P, divided, rank)
        scaled, twice = (
            P.amp.GradScaler(init_loss_scaling=8.0, use_dynamic_loss_scaling=False),
            trained(P, divided, rank, accumulate=2),
        )
        FOUND[level] = [
            float(np.abs(values(model) - want).max()),
            float(np.abs(values(trained(P, divided, rank, scaler=scaled)[1]) - want).max()),
            float(np.abs(values(twice[1]) - want).max()),
        ]
        FOUND[f"{level}: kept"] = [
            sum(int(np.prod(v.shape)) for name, v in optimizer.state_dict().items() if "moment" in name),
            sum(p.size for p in net.parameters()),
        ]
        model(P.ones([2, 4])).sum().backward()
        FOUND[f"{level}: gradients"] = sum(p.grad.size for p in net.parameters() if p.grad is not None)
        optimizer.clear_grad()
        folder = [tempfile.mkdtemp() if rank == 0 else None]
        D.broadcast_object_list(folder, 0)
        G.save_group_sharded_model(model, folder[0], optimizer)
        saved, found = P.load(f"{folder[0]}/model.pdopt"), [float(np.abs(values(model) - want).max())]
        kept = [key for key in states if key != "LR_Scheduler"]
        found += [
            sorted(saved) == sorted(states),
            max(float(np.abs(saved[key].numpy() - states[key].numpy()).max()) for key in kept),
        ]
        single = P.nn.Sequential(
            P.nn.Linear(4, 15), P.nn.Tanh(), P.nn.Linear(15, 3), P.nn.Tanh(), P.nn.Linear(3, 1)
        )
        single.set_state_dict(P.load(f"{folder[0]}/model.pdmodel"))
        found.append(float(np.abs(values(single) - want).max()))

        def start(model, optimizer, folder=folder[0]):
            model.set_state_dict(P.load(f"{folder}/model.pdmodel"))
            optimizer.set_state_dict(P.load(f"{folder}/model.pdopt"))

        def resumed(model, optimizer, folder=folder[0]):
            model.set_state_dict(P.load(f"{folder}/model.pdmodel"))
            optimizer.set_state_dict(states)

        further = trained(P, divided, rank, start=start, steps=2)[1]
        again = trained(
            P, lambda net, optimizer: (P.DataParallel(net), optimizer), rank, start=resumed, steps=2
        )[0]
        found.append(float(np.abs(values(further) - values(again)).max()))
        FOUND[f"{level}: saved"] = found
    # parameters in pieces, the Layer within called itself: the same values, gradients and states
    net, model, optimizer = trained(P, divided, rank)
    rows = P.ones([2, 4])
    with P.no_grad():
        far = float((net(rows) - model(rows)).abs().max())
    pieces = sum(p.size for p in net.parameters())
    model.get_all_parameters()
    whole = sum(p.size for p in net.parameters())
    states = sorted(value.size for name, value in optimizer.state_dict().items() if "moment1" in name)
    still_whole = sum(p.size for p in net.parameters())
    # each process has a disk of its own
    folder = tempfile.mkdtemp()
    G.save_group_sharded_model(model, folder, optimizer)
    saved = P.load(f"{folder}/model.pdopt")
    saved_whole = sum(value.size for name, value in saved.items() if "moment1" in name)
    before = values(model)
    net(rows).sum().backward()
    optimizer.step()
    FOUND["called itself"] = [
        far,
        pieces,
        whole,
        states,
        still_whole,
        saved_whole,
        float(np.abs(values(model) - before).max()),
    ]
    FOUND["sharded, refused"] = [
        refused(call)
        for call in (
            lambda: G.group_sharded_parallel(
                P.nn.Linear(2, 2), P.optimizer.SGD(0.1, parameters=net.parameters()), "os2"
            ),
            lambda: G.group_sharded_parallel(3, P.optimizer.SGD(0.1, parameters=net.parameters()), "os"),
            lambda: G.group_sharded_parallel(
                P.nn.Linear(2, 2), P.optimizer.Lamb(0.1, parameters=net.parameters()), "p_g_os"
            ),
            lambda: G.save_group_sharded_model(P.nn.Linear(2, 2), "nowhere"),
        )
    ]
    degrees(fleet, dp_degree=1, sharding_degree=2)
    net, model, optimizer = trained(
        P, lambda net, optimizer: (fleet.distributed_model(net), fleet.distributed_optimizer(optimizer)), rank
    )
    FOUND["fleet sharding"] = [
        type(model).__name__,
        float(np.abs(values(net) - want).max()),
        sum(int(np.prod(v.shape)) for name, v in optimizer.state_dict().items() if "moment" in name),
    ]
    net = P.nn.Linear(4, 3)
    optimizer = fleet.distributed_optimizer(P.optimizer.AdamW(0.1, parameters=net.parameters()))
    # as PaddleNLP's trainer does a step: gradients reduced by hand, then the update alone
    inner = optimizer._inner_opt
    net(P.ones([2, 4]) * (rank + 1)).sum().backward()
    inner.reduce_gradients(net.parameters(), optimizer._hcg)
    FOUND["by a trainer"] = [
        type(inner).__name__,
        type(inner._inner_opt).__name__,
        optimizer._sharding_enable,
        optimizer._dp_enable,
        net.weight.grad.numpy().tolist(),
    ]
    optimizer._step(net.parameters())
    averaging = []

    def by_hand(net, optimizer):
        made = fleet.meta_optimizers.dygraph_optimizer.DygraphShardingOptimizer(
            optimizer, fleet.get_hybrid_communicate_group()
        )
        step = made.step
        made.step = lambda: (
            made.reduce_gradients(net.parameters(), fleet.get_hybrid_communicate_group()),
            step(),
        )
        averaging.append(made)
        return net, made

    net, _, optimizer = trained(P, by_hand, rank)
    places = sorted(averaging[0]._param2rank.items())
    FOUND["dygraph sharding"] = [
        float(np.abs(values(net) - want).max()),
        [name for name, _ in places] == list("abcdef"),
        sorted({place for _, place in places}),
        optimizer._inner_opt is optimizer._inner,
        sum(int(np.prod(v.shape)) for name, v in optimizer.state_dict().items() if "moment" in name),
    ]

    def second_stage(net, optimizer):
        sharding = fleet.meta_parallel.sharding
        divided = sharding.group_sharded_optimizer_stage2.GroupShardedOptimizerStage2(
            net.parameters(), optimizer
        )
        return sharding.group_sharded_stage2.GroupShardedStage2(net, divided), divided

    FOUND["second stage"] = float(np.abs(values(trained(P, second_stage, rank)[1]) - want).max())
    stage3 = fleet.meta_parallel.sharding.group_sharded_stage3.GroupShardedStage3

    def third_stage(net, optimizer):
        return stage3(net, optimizer, sync_buffers=True), optimizer

    net, model, optimizer = trained(P, third_stage, rank, P.amp.GradScaler(init_loss_scaling=8.0))
    pieces = sum(p.size for p in net.parameters())
    far = float(np.abs(values(model) - want).max())
    # States stay pieces while the parameters are whole.
    model.get_all_parameters()
    states = optimizer.state_dict()
    optimizer.set_state_dict(states)
    FOUND["third stage"] = [
        far,
        pieces,
        sum(v.size for name, v in states.items() if "moment" in name),
    ]
    grid = fleet.meta_optimizers.dygraph_optimizer
    hcg = fleet.get_hybrid_communicate_group()

    def by_elements(net, optimizer):
        made = grid.DygraphShardingOptimizerV2(optimizer, hcg)
        step = made.step
        made.step = lambda: (made.reduce_gradients(net.parameters(), hcg), step())
        return net, made

    net, _, optimizer = trained(P, by_elements, rank)
    FOUND["by elements"] = [
        float(np.abs(values(net) - want).max()),
        sum(p.size for p in net.parameters()),
        sum(v.size for name, v in optimizer.state_dict().items() if "moment" in name),
    ]
    split = fleet.DistributedStrategy()
    split.hybrid_configs = {"sharding_degree": 2, "sharding_configs": {"split_param": True}}
    net, _, optimizer = trained(
        P, lambda net, optimizer: (net, fleet.distributed_optimizer(optimizer, split)), rank, steps=6
    )
    state = optimizer.state_dict()
    optimizer.set_state_dict(state)
    FOUND["split_param"] = [
        type(optimizer._inner_opt).__name__,
        float(np.abs(values(net) - want).max()),
        sum(v.size for name, v in state.items() if "moment" in name),
    ]
    norm = grid.hybrid_parallel_optimizer.HybridParallelClipGrad(P.nn.ClipGradByGlobalNorm(5.0), hcg)
    pairs = norm([(net[0].weight, P.to_tensor([3.0, 4.0])), (net[0].bias, P.to_tensor([12.0]))])
    FOUND["clipped in the grid"] = [gradient.tolist() for _, gradient in pairs]
    FOUND["second stage, refused"] = refused(
        lambda: fleet.meta_parallel.sharding.group_sharded_stage2.GroupShardedStage2(net, 3)
    )
    infinite = P.amp.GradScaler(init_loss_scaling=8.0)
    _, divided, optimizer = trained(
        P, lambda net, optimizer: G.group_sharded_parallel(net, optimizer, "os_g")[:2], rank, steps=1
    )
    before = values(divided)
    (divided(P.ones([1, 4])).sum() * (float("inf") if rank else 1.0)).backward()
    # the infinite gradients have one owner each: the other process must not step either
    infinite.step(optimizer)
    FOUND["infinite"] = float(np.abs(values(divided) - before).max())
    # A plain optimizer with the scaler of a grid: one process has an infinite gradient, none steps.
    scaler = grid.hybrid_parallel_gradscaler.HybridParallelGradScaler(
        P.amp.GradScaler(init_loss_scaling=8.0), hcg
    )
    weight = P.create_parameter([2], "float32")
    start = weight.numpy()
    optimizer = P.optimizer.SGD(1.0, parameters=[weight])
    moved = []
    for factor in (float("inf") if rank else 1.0, 1.0):
        (8.0 * (weight * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        moved.append((start - weight.numpy()).tolist())
    FOUND["scaler of the grid"] = moved


def pure_dtypes(P, fleet):
    """The dtype of parameters without and with a pure dtype in the strategy."""
    strategy = fleet.DistributedStrategy()
    strategy.amp = True
    FOUND["dtypes"] = []
    for configs in ({"use_pure_bf16": False}, {"use_pure_bf16": True}, {"use_pure_fp16": True}):
        strategy.amp_configs = configs
        fleet.init(is_collective=True, strategy=strategy)
        layer = fleet.distributed_model(P.nn.Linear(2, 2))
        FOUND["dtypes"].append(str(layer.parameters()[0].dtype))


def main(engine):
    P = importlib.import_module(engine)
    fleet = importlib.import_module(f"{engine}.distributed.fleet")
    everywhere(P, P.distributed, fleet)
    if engine == "paddle_jax":
        rank = P.distributed.get_rank()
        parts(P, P.distributed, fleet, rank)
        sharded(P, P.distributed, fleet, rank)
        grouped(P, P.distributed, fleet, rank)
        pure_dtypes(P, fleet)
    print(json.dumps(FOUND))


if __name__ == "__main__":
    main(sys.argv[1])
