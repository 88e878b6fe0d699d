"""Models in stages, trained by `fleet`, as JSON: {case: {name: value}}. `python pipelines.py ENGINE CASE...`.

ENGINE is paddle_jax or paddle. Without launcher variables one process has all layers. STAGES, DP and SHARDING
are the degrees, MICRO the micro-batches of a step, MODE the schedule_mode.
"""

import importlib
import json
import os
import sys

import numpy as np

paddle = importlib.import_module(sys.argv[1])
fleet = paddle.distributed.fleet
nn = paddle.nn
STAGES = int(os.environ.get("STAGES", os.environ.get("PADDLE_TRAINERS_NUM", "1")))
MICRO, ROWS = int(os.environ.get("MICRO", "4")), 2
if sys.argv[1] == "paddle":
    paddle.distributed.ParallelEnv._device_id = 0


class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + paddle.tanh(self.linear(x))


class Masked(nn.Layer):
    """Gives a Tensor, a mask that wants no gradient, and None."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, pair):
        x, mask = pair if isinstance(pair, tuple) else (pair, (pair > 0).astype("int64"))
        return self.linear(x) * mask.astype("float32"), mask


class Tied(nn.Layer):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return tied(self, x)


def tied(embedding, x):
    return paddle.matmul(x, embedding.weight, transpose_y=True)


def layers(case):
    from_list = fleet.meta_parallel.LayerDesc
    shared = fleet.meta_parallel.SharedLayerDesc
    blocks = 4 if case == "chunks" else 2  # one for each part of the model
    if case == "tied":
        return [
            shared("embed", nn.Embedding, None, "weight", 10, 6),
            *(from_list(Block, 6) for _ in range(blocks)),
            shared("embed", nn.Embedding, tied, "weight", 10, 6),
        ]
    if case == "folded":  # two parts a stage: the first and the last one are on one stage
        ends = [shared("embed", nn.Embedding, given, "weight", 10, 6) for given in (None, tied)]
        if STAGES > 1:
            local = fleet.meta_parallel.LocalSharedLayerDesc
            ends = [local("embed", nn.Embedding, None, "weight", 10, 6), local("embed", Tied)]
        linear = fleet.meta_parallel.zero_bubble_utils.SplitBWLinear
        inner = [from_list(kind, *sizes) for kind, *sizes in [(linear, 6, 6), (Block, 6)] * 2]
        return [ends[0], *inner, ends[1]]
    if case == "tuples":
        return [from_list(Masked, 6), from_list(Masked, 6), lambda pair: pair[0], from_list(nn.Linear, 6, 3)]
    return [
        from_list(nn.Linear, 5, 6),
        *(from_list(Block, 6) for _ in range(blocks)),
        nn.ReLU(),
        from_list(nn.Linear, 6, 3),
    ]


def loss(output, label):
    return nn.functional.cross_entropy(output.reshape([-1, output.shape[-1]]), label.reshape([-1]))


def batch(case, step, rows):
    numbers = np.random.RandomState(step)
    if case in ("tied", "folded"):
        ids = numbers.randint(0, 10, (rows, 4))
        return [paddle.to_tensor(ids), paddle.to_tensor(ids[:, ::-1].copy())]
    width = 6 if case == "tuples" else 5
    x = numbers.randn(rows, width).astype("float32")
    return [paddle.to_tensor(x), paddle.to_tensor(numbers.randint(0, 3, (rows, 1)))]


def run(case):
    is_split = case.endswith(", split")  # backward passes in two halves
    case = case.removesuffix(", split")
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {
        "pp_degree": STAGES,
        "dp_degree": int(os.environ.get("DP", "1")),
        "sharding_degree": int(os.environ.get("SHARDING", "1")),
    }
    strategy.pipeline_configs = {"accumulate_steps": MICRO, "micro_batch_size": ROWS}
    if "MODE" in os.environ:
        strategy.pipeline_configs["schedule_mode"] = os.environ["MODE"]
    if is_split:
        strategy.pipeline_configs["schedule_mode"] = "ZBH1"
    if sys.argv[1] == "paddle":
        strategy.pipeline_configs["enable_partial_send_recv"] = False
        strategy.hybrid_configs = {"pp_configs": {"use_batch_p2p_comm": False}}
    if case == "delayed":
        strategy.hybrid_configs["pp_configs"].delay_scale_loss = True
    is_folded = case == "folded" and STAGES > 1
    if is_folded:
        strategy.hybrid_configs["pp_configs"].use_dualpipev = True
    fleet.init(is_collective=True, strategy=strategy)
    hcg = fleet.get_hybrid_communicate_group()
    chunks = 2 if case == "chunks" else None
    net = fleet.meta_parallel.PipelineLayer(
        layers(case),
        topology=hcg.topology(),
        loss_fn=loss,
        seg_method="layer:Block" if case in ("chunks", "by name") else "uniform",
        num_virtual_pipeline_stages=chunks if STAGES > 1 else None,
        recompute_interval=2 if case == "recompute" else 0,
        recompute_ctx={} if case == "recompute" else None,
        use_dualpipev=is_folded,
    )
    found = {"parts": net.segment_parts, "first": float(sum(float(abs(p).sum()) for p in net.parameters()))}
    found["names"] = [name for name, _ in net.named_parameters()]
    schedule = paddle.optimizer.lr.StepDecay(0.05, step_size=2)
    optimizer = paddle.optimizer.AdamW(
        schedule, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5)
    )
    scaler = paddle.amp.GradScaler(init_loss_scaling=64.0) if case == "scaler" else None
    model = fleet.distributed_model(net)
    optimizer = fleet.distributed_optimizer(optimizer)
    if scaler is not None:
        scaler = fleet.distributed_scaler(scaler)
    found["class"] = type(model).__name__
    if STAGES > 1:
        found["schedule"] = model.get_static_scheduler()
    replicas = hcg.get_data_parallel_world_size() * hcg.get_sharding_parallel_world_size()
    replica = hcg.get_data_parallel_rank() + hcg.get_sharding_parallel_rank()
    rows = MICRO * ROWS
    called = []
    if case == "plain" and type(model).__name__ in ("PipelineParallel", "DevicePipeline"):
        for location in fleet.meta_parallel.PipelineParallelMicroStepLocations:
            hook = lambda location=location.value, **known: called.append([location, *sorted(known)])  # noqa: E731
            model.register_hook(location, hook)
    losses = []
    for step in range(5):
        whole = batch(case, step, rows * replicas * int(os.environ.get("REPLICAS", "1")))
        part = [one[replica * rows : (replica + 1) * rows] for one in whole] if replicas > 1 else whole
        if case == "iterator":
            pairs = [tuple(one[i * ROWS : (i + 1) * ROWS] for one in part) for i in range(MICRO)]
            part = iter(pairs)
        if case == "by hand":
            losses.append(float(model.forward_backward_pipeline(part, scaler)))
            optimizer.step()
            optimizer.clear_grad()
            schedule.step()
        else:
            losses.append(float(model.train_batch(part, optimizer, schedule, scaler)))
    found["losses"] = losses
    found["evaluated"] = float(model.eval_batch(batch(case, 9, rows), compute_loss=True))
    outputs = model.eval_batch(batch(case, 9, rows), compute_loss=False)
    found["outputs"] = len(outputs)
    found["hooks"] = called
    if called:
        for hooks in model.callbacks.hooks.values():
            hooks.clear()
    return found


print(json.dumps({case: run(case) for case in sys.argv[2:]}), flush=True)
