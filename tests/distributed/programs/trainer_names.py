"""Functions that trainers import from inside fleet, on this process of two, as JSON."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.layers.mpu import mp_ops
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer import dygraph_sharding_optimizer
from paddle_jax.distributed.fleet.utils import (
    hybrid_parallel_util,
    mix_precision_utils,
    sequence_parallel_utils,
    tensor_fusion_helper,
)
from paddle_jax.incubate.distributed.models.moe import utils as experts
from paddle_jax.nn import functional

LOGITS = np.random.default_rng(0).normal(size=(4, 6)).astype("float32")
LABELS = np.array([[0], [4], [5], [-1]])
TABLE = np.random.default_rng(1).normal(size=(8, 3)).astype("float32")
INDEX = np.array([[0, 5], [7, 3]])
COSINES = np.random.default_rng(2).uniform(-0.9, 0.9, (4, 9)).astype("float32")
CLASSES = np.array([8, 0, 4, 3])
COLUMNS = (slice(0, 4), slice(4, 9))
MARGINS = {"margin1": 1.0, "margin2": 0.3, "margin3": 0.1, "scale": 16.0}
CHOSEN = [[1, 0, 3, 3], [3, 2, 3, -1]]
BUFFERS = {
    "sum": {},
    "accumulated": {"acc_steps": 2},
    "mean": {"scale_after_comm": False},
    "native mean": {"use_reduce_avg": True},
    "released": {"release_grads": True},
    "reduced": {"act": tensor_fusion_helper.HOOK_ACTION.REDUCE, "dst": 1},
    "reduced mean": {
        "act": tensor_fusion_helper.HOOK_ACTION.REDUCE,
        "dst": 1,
        "scale_after_comm": False,
    },
}
LEVELS = ("os", "os_g", "p_g_os")
FIVE = ["dp", "pp", "sharding", "sep", "mp"]


def started(**degrees):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {**degrees, "order": FIVE}
    fleet.init(is_collective=True, strategy=strategy)
    return fleet.get_hybrid_communicate_group()


def leaf(array):
    return paddle.to_tensor(array, stop_gradient=False)


def parts_of_a_model(hcg, rank):
    """Cross entropy and rows of an embedding, with their gradients."""
    group = hcg.get_model_parallel_group()
    logits = leaf(LOGITS[:, 3 * rank : 3 * rank + 3])
    labels = paddle.to_tensor(LABELS)
    losses, softmax = mp_ops._c_softmax_with_cross_entropy(
        logits, labels, group, return_softmax=True, ignore_index=-1
    )
    losses.sum().backward()
    table = leaf(TABLE[4 * rank : 4 * rank + 4])
    rows = mp_ops._c_lookup_table(table, paddle.to_tensor(INDEX), start_index=4 * rank)
    rows.sum().backward()
    values = {"losses": losses, "softmax": softmax, "slope": logits.grad, "rows": rows, "used": table.grad}
    return {name: value.numpy().tolist() for name, value in values.items()}


def divided_classes(hcg, rank):
    """ArcFace's loss of classes in unequal parts, its slope, and classes drawn from parts."""
    group = hcg.get_model_parallel_group()
    labels = paddle.to_tensor(CLASSES)
    cosines = leaf(COSINES[:, COLUMNS[rank]])
    losses, softmax = functional.margin_cross_entropy(
        cosines, labels, **MARGINS, group=group, return_softmax=True, reduction="sum"
    )
    losses.backward()
    alone = functional.margin_cross_entropy(
        paddle.to_tensor(COSINES), labels, **MARGINS, group=False, reduction="sum"
    )
    count = COLUMNS[rank].stop - COLUMNS[rank].start
    positions, own = functional.class_center_sample(labels, count, 2 + rank)
    values = {"loss": losses, "softmax": softmax, "slope": cosines.grad, "positions": positions, "own": own}
    return {name: value.tolist() for name, value in (values | {"alone": alone}).items()}


def same_inputs(hcg, rank):
    """Inputs and parameters that differ become those of the first process; parts stay."""
    inputs, named = hybrid_parallel_util.broadcast_input_data(
        hcg, paddle.full([2], rank), [paddle.full([1], rank + 5), "text"], mask=paddle.full([1], rank + 7)
    )
    net = paddle.nn.Linear(2, 1)
    net.weight.set_value(np.full([2, 1], rank, "float32"))
    net.bias.set_value(np.full([1], rank, "float32"))
    net.weight.is_distributed = True
    hybrid_parallel_util.broadcast_mp_parameters(net, hcg)
    found = [inputs[0].tolist(), inputs[1][0].tolist(), named["mask"].tolist()]
    return found + [net.weight.tolist(), net.bias.tolist()]


def copies_of_a_model(hcg, rank):
    """Parameters of copies, and a step in half precision with float32 gradients."""
    net = paddle.nn.Linear(2, 1, bias_attr=False)
    net.weight.set_value(np.full([2, 1], rank + 0.5, "float32"))
    hybrid_parallel_util.broadcast_dp_parameters(net, hcg)
    start = net.weight.tolist()
    net = paddle.amp.decorate(net, level="O2", dtype="bfloat16")
    layers = mix_precision_utils.MixPrecisionLayer(net, dtype="bfloat16")
    optimizer = paddle.optimizer.SGD(0.5, parameters=net.parameters(), multi_precision=True)
    model = fleet.distributed_model(layers)
    optimizer = fleet.distributed_optimizer(mix_precision_utils.MixPrecisionOptimizer(optimizer))
    for _ in range(2):
        # Each bfloat16 slope is exact, their sum is not.
        x = paddle.to_tensor([[1.0, 0.00390625]]) if rank == 0 else paddle.to_tensor([[1.0, 256.0]])
        model(x.astype("bfloat16")).sum().backward()
    is_wide = net.weight.grad.dtype == paddle.float32
    slope = net.weight.grad.tolist()
    optimizer.step()
    optimizer.clear_grad()
    return [start, is_wide, slope, net.weight.astype("float32").tolist()]


def gradients_by_hooks(rank):
    """Gradients after the first and the second of two backward passes, whose sums the hooks make."""
    found = []
    for fused in (True, False):
        net = paddle.nn.Linear(2, 1)
        parameters = net.parameters()
        hook = sequence_parallel_utils.create_fused_allreduce_gradient_hook(parameters, 2)
        for parameter in parameters:
            if not fused:
                hook = sequence_parallel_utils.create_non_fused_allreduce_gradient_hook(parameter, 2)
            parameter._register_backward_hook(hook)
        for factor in (1.0, 10.0):
            net(paddle.to_tensor([[factor, factor + rank]])).sum().backward()
            found.append([parameter.grad.flatten().tolist() for parameter in parameters])
    return found


def pair_of_parameters(rank):
    """Two Parameters, and a loss whose slopes are rank + 1 and 10 (rank + 1)."""
    first, second = (paddle.create_parameter(shape, "float32") for shape in ([2], [1, 1]))
    return [first, second], lambda: (first.sum() + 10 * second.sum()) * (rank + 1)


def slopes(parameters, name="grad"):
    return [getattr(parameter, name)[0].item() for parameter in parameters]


def buffer_of(parameters, **more):
    group = paddle.distributed.get_group(0)
    settings = {"act": tensor_fusion_helper.HOOK_ACTION.ALL_REDUCE, **more}
    return tensor_fusion_helper.FusedCommBuffer(3, parameters, group, **settings)


def gradients_in_buffers(rank):
    """The first numbers of gradients after each backward pass, and after they are scaled."""
    found = {}
    for name, settings in BUFFERS.items():
        parameters, loss = pair_of_parameters(rank)
        buffer = buffer_of(parameters, **settings)
        for parameter in parameters:
            parameter._register_backward_hook(tensor_fusion_helper.bw_hook_func(buffer, parameter))
        found[name] = []
        for _ in range(2):
            for _ in range(settings.get("acc_steps", 1)):
                loss().backward()
                found[name].append(slopes(parameters))
            buffer.scale_grads()
            found[name].append(slopes(parameters))
    return found


def gradients_checked_in_by_hand(rank):
    """Gradients of which one is missing, before and after a later exchange, and in `main_grad`."""
    parameters, _ = pair_of_parameters(rank)
    buffer = buffer_of(parameters)
    (parameters[0].sum() * (rank + 1)).backward()
    for parameter in parameters:
        buffer.add_grad(parameter, use_comm=False)
    found = [slopes(parameters)]
    buffer.comm_grads()
    buffer.scale_grads()
    found.append(slopes(parameters))
    for parameter in parameters:
        parameter.main_grad = None
    buffer = buffer_of(parameters)
    for parameter in parameters:
        parameter.main_grad.add_(paddle.full(parameter.shape, rank + 1.0))
        buffer.add_grad(parameter)
    buffer.scale_grads()
    return [*found, slopes(parameters, "main_grad"), slopes(parameters)]


def saved(state, folder):
    """What a save has said."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            paddle.distributed.save_state_dict(state, folder)
        except ValueError as error:
            return str(error)
    return " ".join(str(warning.message) for warning in found)


def checkpoints(rank, folder):
    """What saves say of Tensors that differ between processes, and what they leave."""
    expert = paddle.create_parameter([2], "float32")
    expert.set_value(np.full([2], rank, "float32"))
    expert.no_sync = True
    states = {
        "same": {"w": paddle.ones([2]), f"own{rank}": paddle.full([1], rank)},
        "others": {"w": paddle.ones([2]), "count": paddle.full([1], rank)},
        "shapes": {"w": paddle.ones([2 + rank])},
        "experts": {"w": paddle.ones([2]), "expert": expert},
    }
    found = {}
    for name, state in states.items():
        text = saved(state, f"{folder}/{name}")
        paddle.distributed.barrier()
        found[name] = [text, sorted(file.name for file in Path(folder, name).iterdir())]
    count = paddle.zeros([1])
    paddle.distributed.load_state_dict({"count": count}, f"{folder}/others")
    return found, count.item()


def pieces_in_checkpoints(folder):
    """What a save says of the states of pieces without their places."""
    grid = started(dp_degree=1, mp_degree=1, sharding_degree=2)
    net = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.AdamW(0.1, parameters=net.parameters())
    optimizer = dygraph_sharding_optimizer.DygraphShardingOptimizerV2(optimizer, grid)
    net(paddle.ones([1, 2])).sum().backward()
    optimizer.step()
    return saved(optimizer.state_dict(), f"{folder}/pieces")


def trained_in_level(level, steps, read=None, write=None):
    """Losses of steps of a model whose processes divide states, gradients or parameters."""
    paddle.seed(1)
    layers = paddle.nn.Sequential(paddle.nn.Linear(3, 5), paddle.nn.Linear(5, 2))
    optimizer = paddle.optimizer.AdamW(0.1, parameters=layers.parameters())
    model, optimizer, _ = paddle.distributed.sharding.group_sharded_parallel(layers, optimizer, level)

    def step(number):
        loss = (model(paddle.full([2, 3], 0.1 * number)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss.item()

    def parts():
        weights = model.sharded_state_dict()
        return {"weights": weights, "states": optimizer.sharded_state_dict(weights)}

    if read:
        # A step, whose effect is overwritten, makes the states.
        step(9)
        paddle.distributed.load_state_dict(parts(), read)
    losses = [step(number) for number in steps]
    # Outside of forward passes the Layer within may have pieces only.
    said = saved(layers.sharded_state_dict(), f"{write}/inner") if write else ""
    if write:
        paddle.distributed.save_state_dict(parts(), write)
    return losses, said


def levels_in_checkpoints(folder):
    """Losses of trainings that go on in another level, by both levels."""
    whole, _ = trained_in_level("os", range(4))
    found = {}
    for level in LEVELS:
        first, said = trained_in_level(level, range(2), write=f"{folder}/{level}")
        others = [trained_in_level(other, range(2, 4), read=f"{folder}/{level}")[0] for other in LEVELS]
        found[level] = [first, others, said]
    return whole, found


def tokens(rank):
    """Counts of tokens for two experts on each process."""
    chosen = paddle.to_tensor(CHOSEN[rank])
    positions, sent, received = experts.count_by_gate(chosen, 2, 2)
    limited = experts.limit_by_capacity(chosen, 2, 2, capacity=2)
    return [one.tolist() for one in (positions, sent, received, *limited)]


if __name__ == "__main__":
    hcg = started(dp_degree=1, mp_degree=2)
    rank = paddle.distributed.get_rank()
    topology = hcg.topology()
    found = {
        "names": topology.get_hybrid_group_names(),
        "rank": topology.get_rank(data=0, pipe=0, sharding=0, sep=0, model=1),
        "parts": parts_of_a_model(hcg, rank),
        "classes": divided_classes(hcg, rank),
        "inputs": same_inputs(hcg, rank),
        "hooks": gradients_by_hooks(rank),
        "buffers": gradients_in_buffers(rank),
        "checked in": gradients_checked_in_by_hand(rank),
        "tokens": tokens(rank),
        "checkpoints": checkpoints(rank, sys.argv[1]),
        "levels": levels_in_checkpoints(sys.argv[1]),
        "pieces": pieces_in_checkpoints(sys.argv[1]),
        "copies": copies_of_a_model(started(dp_degree=2, mp_degree=1), rank),
    }
    print(json.dumps(found))
