"""A small GPT of fleet's layers and its training: on one device, on devices of a process, on processes."""

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet

VOCABULARY, WIDTH, HEADS, LENGTH, ROWS = 32, 16, 4, 8, 8
parallel = fleet.meta_parallel
functional = paddle.nn.functional


class Embedding(paddle.nn.Layer):
    """Tokens and places; `weight` is that of the tokens, which the head shares."""

    def __init__(self):
        super().__init__()
        self.tokens = parallel.VocabParallelEmbedding(VOCABULARY, WIDTH)
        self.places = paddle.nn.Embedding(LENGTH, WIDTH)

    @property
    def weight(self):
        return self.tokens.weight

    def forward(self, ids):
        return self.tokens(ids) + self.places(paddle.arange(ids.shape[1]))


def logits_of(embedding, x):
    """Logits by the weight of a VocabParallelEmbedding, of this process's part of the vocabulary."""
    if embedding.is_mp:
        x = fleet.layers.mpu.mp_ops._c_identity(x, embedding.model_parallel_group)
    return paddle.matmul(x, embedding.weight, transpose_y=True)


def head(embedding, x):
    return logits_of(embedding.tokens, x)


class Block(paddle.nn.Layer):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.before, self.between = paddle.nn.LayerNorm(WIDTH), paddle.nn.LayerNorm(WIDTH)
        self.qkv = parallel.ColumnParallelLinear(WIDTH, 3 * WIDTH, has_bias=True, gather_output=False)
        self.out = parallel.RowParallelLinear(WIDTH, WIDTH, input_is_parallel=True)
        self.up = parallel.ColumnParallelLinear(WIDTH, 4 * WIDTH, has_bias=True, gather_output=False)
        self.down = parallel.RowParallelLinear(4 * WIDTH, WIDTH, input_is_parallel=True)
        self.dropout = paddle.nn.Dropout(dropout)

    def forward(self, x):
        qkv = self.qkv(self.before(x))
        rows, length, width = qkv.shape
        q, k, v = qkv.reshape([rows, length, -1, 3 * WIDTH // HEADS]).chunk(3, axis=-1)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(mixed.reshape([rows, length, width // 3])))
        return x + self.down(functional.gelu(self.up(self.between(x))))


class Loss(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.entropy = parallel.ParallelCrossEntropy()

    def forward(self, logits, labels):
        return self.entropy(logits, labels).mean()


def described(blocks=4, dropout=0.0):
    """The layers of a GPT with tied embeddings."""
    shared = parallel.SharedLayerDesc
    return [
        shared("embed", Embedding, None, "weight"),
        *(parallel.LayerDesc(Block, dropout) for _ in range(blocks)),
        parallel.LayerDesc(paddle.nn.LayerNorm, WIDTH),
        shared("embed", Embedding, head, "weight"),
    ]


class Plain(paddle.nn.Layer):
    """The same GPT as one Layer."""

    def __init__(self, blocks=1):
        super().__init__()
        self.embedding = Embedding()
        self.blocks = paddle.nn.LayerList([Block() for _ in range(blocks)])
        self.norm = paddle.nn.LayerNorm(WIDTH)

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return head(self.embedding, self.norm(x))


def start(degrees, split_param=False, **pipeline):
    """`fleet.init` with degrees such as {"dp": 2}; split_param: whether each process of the sharding group
    updates a piece of every Parameter; pipeline: settings of pipeline_configs."""
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1} | {f"{name}_degree": n for name, n in degrees.items()}
    strategy.pipeline_configs = {"accumulate_steps": 1, "micro_batch_size": ROWS} | pipeline
    strategy.hybrid_configs["sharding_configs"].split_param = split_param
    fleet.init(is_collective=True, strategy=strategy)
    return strategy


def fill(net):
    """Gives Parameters the same values for any split: those of this process are its part of the whole."""
    hcg = fleet.get_hybrid_communicate_group()
    parts, place = hcg.get_model_parallel_world_size(), hcg.get_model_parallel_rank()
    for name, parameter in net.named_parameters():
        name = plain_name(name)
        axis = getattr(parameter, "split_axis", None)
        shape = [n * parts if i == axis else n for i, n in enumerate(parameter.shape)]
        seed = sum(ord(letter) * (place + 1) for place, letter in enumerate(name)) % 2**31
        whole = np.random.RandomState(seed).randn(*shape).astype("float32") * 0.1
        if "norm" in name and name.endswith("weight"):
            whole += 1
        own = whole if axis is None else np.split(whole, parts, axis)[place]
        parameter.set_value(paddle.to_tensor(own))


def plain_name(name):
    """The name of a Parameter without chunks: `4.1.weight` is that of layer 5."""
    first, second, *rest = name.split(".")
    if first.isdigit() and second.isdigit():
        return ".".join([str(int(first) + int(second)), *rest])
    return name


def tokens(step, rows=ROWS):
    return np.random.RandomState(100 + step).randint(0, VOCABULARY, (rows, LENGTH + 1))


def own_rows(batch):
    """The rows of the replica that this process belongs to."""
    hcg = fleet.get_hybrid_communicate_group()
    place = hcg.get_data_parallel_rank() + hcg.get_sharding_parallel_rank()
    replicas = hcg.get_data_parallel_world_size() * hcg.get_sharding_parallel_world_size()
    rows = batch.shape[0] // replicas
    return batch if replicas == 1 else batch[place * rows : (place + 1) * rows]


def train(degrees, steps=5, rows=lambda step: ROWS):
    """The losses of a plain GPT, and the GPT."""
    start(degrees)
    net = Plain()
    fill(net)
    loss_of = Loss()
    optimizer = paddle.optimizer.AdamW(
        0.01, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)
    )
    model = fleet.distributed_model(net)
    optimizer = fleet.distributed_optimizer(optimizer)
    losses = []
    for step in range(steps):
        batch = own_rows(paddle.to_tensor(tokens(step, rows(step))))
        loss = loss_of(model(batch[:, :-1]), batch[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return np.array(losses), net, optimizer


def pipeline(strategy, blocks=4, **settings):
    """A PipelineLayer of the GPT for the degrees of the strategy, with the values of `fill`."""
    hcg = fleet.get_hybrid_communicate_group()
    net = parallel.PipelineLayer(
        described(blocks), topology=hcg.topology(), loss_fn=Loss(), seg_method="layer:Block", **settings
    )
    fill(net)
    return net, fleet.distributed_model(net)


def train_pipeline(degrees, steps=5, micro=4, mode="1F1B", scaler=None, rows=ROWS, **settings):
    """The losses of a GPT in a pipeline, and what was trained. rows: those of a step, on all replicas."""
    copies = degrees.get("dp", 1) * degrees.get("sharding", 1)
    sizes = {"accumulate_steps": micro, "micro_batch_size": rows // micro // copies, "schedule_mode": mode}
    net, model = pipeline(start(degrees, **sizes), **settings)
    schedule = paddle.optimizer.lr.StepDecay(0.01, 2)
    optimizer = paddle.optimizer.AdamW(
        schedule, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)
    )
    optimizer = fleet.distributed_optimizer(optimizer)
    losses = []
    for step in range(steps):
        part = own_rows(paddle.to_tensor(tokens(step, rows)))
        with paddle.amp.auto_cast(enable=scaler is not None, dtype="float16"):
            data = [part[:, :-1], part[:, 1:]]
            losses.append(float(model.train_batch(data, optimizer, schedule, scaler)))
    return np.array(losses), net, optimizer
