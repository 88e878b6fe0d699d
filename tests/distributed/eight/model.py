"""A small Transformer and its training, with and without a mesh."""

import numpy as np

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import Replicate, Shard

VOCABULARY, WIDTH, LENGTH = 32, 16, 8
MESH = dist.ProcessMesh(np.arange(8).reshape(2, 4), ["dp", "mp"])


class Block(paddle.nn.Layer):
    def __init__(self, dropout):
        super().__init__()
        self.before, self.between = paddle.nn.LayerNorm(WIDTH), paddle.nn.LayerNorm(WIDTH)
        self.qkv, self.out = paddle.nn.Linear(WIDTH, 3 * WIDTH), paddle.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = paddle.nn.Linear(WIDTH, 4 * WIDTH), paddle.nn.Linear(4 * WIDTH, WIDTH)
        self.dropout = paddle.nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).reshape([0, LENGTH, 4, 3 * WIDTH // 4]).chunk(3, axis=-1)
        mixed = paddle.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(mixed.reshape([0, LENGTH, WIDTH])))
        return x + self.down(paddle.nn.functional.gelu(self.up(self.between(x))))


class Transformer(paddle.nn.Layer):
    def __init__(self, blocks, dropout):
        super().__init__()
        self.embedding = paddle.nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = paddle.nn.LayerList([Block(dropout) for _ in range(blocks)])
        self.norm, self.head = paddle.nn.LayerNorm(WIDTH), paddle.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def cut(name, layer, mesh):
    """Column and row parallel, as in Megatron-LM."""
    places = {
        "qkv": (1, 0),
        "up": (1, 0),
        "head": (1, 0),
        "out": (0, None),
        "down": (0, None),
        "embedding": (0, None),
    }.get(name.split(".")[-1])
    if places is not None:
        for key, dim in zip(("weight", "bias"), places, strict=True):
            if layer._parameters.get(key) is not None:
                placement = Replicate() if dim is None else Shard(dim)
                layer._parameters[key] = dist.shard_tensor(
                    layer._parameters[key], mesh, [Replicate(), placement]
                )


def tokens(steps, batch=8):
    return np.random.RandomState(1).randint(0, VOCABULARY, (steps, batch, LENGTH + 1))


def make(mesh=None, stage=None, dropout=0.0, blocks=1, **settings):
    paddle.seed(3)
    net = Transformer(blocks, dropout)
    if mesh is not None:
        dist.shard_layer(net, mesh, cut)
    settings.setdefault("grad_clip", paddle.nn.ClipGradByGlobalNorm(0.5))
    optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters(), **settings)
    if stage is not None:
        optimizer = dist.shard_optimizer(optimizer, getattr(dist, f"ShardingStage{stage}")("dp", mesh))
    return net, optimizer


def train(net, optimizer, mesh=None, steps=6, compiled=False, amp=None, scaler=None):
    """The losses of some steps."""

    def step(batch):
        with paddle.amp.auto_cast(enable=amp is not None, dtype=amp or "bfloat16", level="O1"):
            logits = net(batch[:, :-1])
        loss = paddle.nn.functional.cross_entropy(
            logits.astype("float32").reshape([-1, VOCABULARY]), batch[:, 1:].reshape([-1])
        )
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        return loss

    run, losses = paddle.jit.to_static(step) if compiled else step, []
    for batch in tokens(steps):
        batch = paddle.to_tensor(batch) if mesh is None else dist.shard_tensor(batch, mesh, [Shard(0)])
        losses.append(float(run(batch)))
    return np.array(losses)


def bytes_per_device(tensors):
    """What each device holds of some Tensors."""
    held = {}
    for tensor in tensors:
        for shard in tensor._value.addressable_shards:
            held[shard.device.id] = held.get(shard.device.id, 0) + shard.data.nbytes
    return held
