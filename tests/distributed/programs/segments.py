"""Attention over sequences of which each process has a part, as JSON: {name: value}.

sep: heads are exchanged for positions (Ulysses), by a PyLayer of the program, as trainers write it.
cp: `fleet` passes keys and values round. Without launcher variables one process has the whole sequence.
"""

import json
import os

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet

nn = paddle.nn
PARTS = int(os.environ.get("SEP", "1"))
REPLICAS = int(os.environ.get("DP", "1"))
LENGTH, WIDTH, HEADS = 8, 12, 4


class Exchange(paddle.autograd.PyLayer):
    """[batch, length / n, heads, size] to [batch, length, heads / n, size], or back."""

    @staticmethod
    def forward(ctx, x, group, heads_to_positions):
        ctx.group, ctx.heads_to_positions = group, heads_to_positions
        return exchanged(x, group, heads_to_positions)

    @staticmethod
    def backward(ctx, grad):
        return exchanged(grad, ctx.group, not ctx.heads_to_positions)


def exchanged(x, group, heads_to_positions):
    axis, other = (2, 1) if heads_to_positions else (1, 2)
    pieces = [piece.contiguous() for piece in paddle.split(x, group.nranks, axis=axis)]
    got = []
    paddle.distributed.alltoall(got, pieces, group=group)
    return paddle.concat(got, axis=other)


class Attention(nn.Layer):
    def __init__(self, group):
        super().__init__()
        self.group = group
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def exchange(self, x, heads_to_positions):
        return x if self.group is None else Exchange.apply(x, self.group, heads_to_positions)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = paddle.split(self.qkv(x).reshape([batch, length, HEADS, 3 * WIDTH // HEADS]), 3, axis=-1)
        q, k, v = (self.exchange(part, True) for part in parts)
        found = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(self.exchange(found, False).reshape([batch, length, WIDTH]))


def trained(kind):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {f"{kind}_degree": PARTS, "dp_degree": REPLICAS}
    fleet.init(is_collective=True, strategy=strategy)
    hcg = fleet.get_hybrid_communicate_group()
    paddle.seed(10 + paddle.distributed.get_rank())  # the first process decides
    if PARTS * REPLICAS == 1:
        paddle.seed(10)
    net = Attention(hcg.get_sep_parallel_group() if PARTS > 1 and kind == "sep" else None)
    optimizer = paddle.optimizer.AdamW(
        0.05, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.3)
    )
    model, optimizer = fleet.distributed_model(net), fleet.distributed_optimizer(optimizer)
    place = hcg.get_sep_parallel_rank() if kind == "sep" else hcg.get_context_parallel_rank()
    replica = hcg.get_data_parallel_rank()
    losses = []
    for step in range(4):
        x = np.random.RandomState(step).randn(4, LENGTH, WIDTH).astype("float32")
        x = x.reshape(REPLICAS, -1, LENGTH, WIDTH)[replica]
        mine = paddle.to_tensor(x[:, place * LENGTH // PARTS : (place + 1) * LENGTH // PARTS])
        loss = ((model(mine) - mine) ** 2).sum() / x.size  # this segment's part of the mean
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    found = {"losses": losses, "weight": net.out.weight.numpy().sum(axis=0).tolist()}
    found["class"] = type(model).__name__
    if kind == "cp" and REPLICAS == 1:
        found |= looks(model, net, place)
    return found


RANDOM = np.random.RandomState(7)
# Values are as wide as the sequence is long, so that all cases share their compiled functions.
SHAPES = ((2, LENGTH, 4, 4), (2, LENGTH, 2, 4), (2, LENGTH, 2, LENGTH))
Q, K, V = (RANDOM.randn(*shape).astype("float32") for shape in SHAPES)
SEEN = RANDOM.rand(2, 4, LENGTH, LENGTH) > 0.4
SEEN[..., 0] = True  # each query sees a key
MASKS = {
    "bool, causal": (SEEN, True),
    "numbers": (np.where(SEEN, 0.5, -3).astype("float32"), False),
    # The first process has no key that counts.
    "later keys": (np.arange(LENGTH).reshape(1, 1, 1, -1) >= LENGTH // 2, False),
}


def looks(model, net, place):
    """Results and gradients with masks, weights with dropout, and what is refused."""
    own = slice(place * LENGTH // PARTS, (place + 1) * LENGTH // PARTS)
    found = {"masks": {}}

    def attended(q, k, v, **settings):
        net.forward = lambda *parts: nn.functional.scaled_dot_product_attention(*parts, **settings)
        tensors = [paddle.to_tensor(one[:, own], stop_gradient=False) for one in (q, k, v)]
        out = model(*tensors)
        # Each position of the result weighs differently.
        (out * paddle.to_tensor(np.arange(LENGTH, dtype="float32")[own]).reshape([-1, 1, 1])).sum().backward()
        return [one.numpy().tolist() for one in (out, *(tensor.grad for tensor in tensors))]

    for name, (mask, is_causal) in MASKS.items():
        rows = mask if mask.shape[2] == 1 else mask[:, :, own]
        found["masks"][name] = attended(Q, K, V, attn_mask=paddle.to_tensor(rows), is_causal=is_causal)
    # The rows of an identity matrix as values: the result is the weights.
    values = np.tile(np.eye(LENGTH, dtype="float32")[None, :, None], [2, 1, 2, 1])
    if PARTS == 1:
        found["weights"] = attended(Q, K, values)
        return found
    found["dropped"] = attended(Q, K, values, dropout_p=0.5)
    found["refused"] = []
    part = paddle.zeros([LENGTH // PARTS, LENGTH // PARTS])
    trained_mask = paddle.zeros([1, LENGTH])
    trained_mask.stop_gradient = False
    for mask in (part, trained_mask):
        try:
            attended(Q, K, V, attn_mask=mask)
        except (NotImplementedError, ValueError) as error:
            found["refused"].append(str(error))
    return found


print(json.dumps({kind: trained(kind) for kind in ("sep", "cp")}), flush=True)
