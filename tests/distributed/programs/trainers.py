"""Trainers as libraries of models write them, on this process of two: losses and weights as JSON.

The functions that end in `_alone` train the same model on whole batches in one process, with either engine.
"""

import contextlib
import json

import numpy as np

STEPS = 4
CLASSES, CHANNELS = 5, 8
WORDS, WIDTH, LENGTH, HEADS = 12, 8, 4, 2
BLOCKS, MICRO_BATCHES, ROWS = 4, 4, 2  # of the pipeline; rows of a micro-batch


def filled(layer, seed):
    """Gives a layer the same weights in both engines: numbers drawn in the order of names."""
    draws = np.random.RandomState(seed)
    for _, parameter in sorted(layer.named_parameters()):
        if not parameter.stop_gradient:
            values = draws.normal(scale=0.3, size=list(parameter.shape))
            parameter.set_value(values.astype("float32"))
    return layer


# images: data parallel, synchronized batch normalisation ----------------------------------------------------


def convolutional(P):
    nn = P.nn
    return nn.Sequential(
        nn.Conv2D(3, CHANNELS, 3, padding=1, bias_attr=False),
        nn.BatchNorm2D(CHANNELS),
        nn.Hardswish(),
        nn.AdaptiveAvgPool2D(1),
        nn.Flatten(),
        nn.Linear(CHANNELS, CLASSES),
    )


def pictures(P):
    draws = np.random.RandomState(1)
    images = draws.normal(size=(4 * STEPS, 3, 6, 6)).astype("float32")
    return P.io.TensorDataset([images, draws.randint(0, CLASSES, 4 * STEPS)])


def momentum(P, net):
    """Momentum with a warm-up, and decay for weights alone; with the scheduler."""
    schedule = P.optimizer.lr.LinearWarmup(P.optimizer.lr.CosineAnnealingDecay(0.2, 10), 2, 0.0, 0.2)
    groups = [
        {"params": [p for p in net.parameters() if p.ndim > 1], "weight_decay": 1e-2},
        {"params": [p for p in net.parameters() if p.ndim == 1], "weight_decay": 0.0},
    ]
    return schedule, P.optimizer.Momentum(schedule, 0.9, parameters=groups, use_nesterov=True)


def smoothed(P, scores, labels):
    targets = P.nn.functional.label_smooth(P.nn.functional.one_hot(labels, CLASSES), epsilon=0.1)
    return P.nn.functional.cross_entropy(scores, targets, soft_label=True)


def images_alone(P):
    net = filled(convolutional(P), 2)
    schedule, optimizer = momentum(P, net)
    data = pictures(P)
    samplers = [P.io.DistributedBatchSampler(data, 2, 2, rank, shuffle=True) for rank in range(2)]
    for sampler in samplers:
        sampler.set_epoch(3)
    losses = []
    for indices in zip(*samplers, strict=True):
        rows = [data[i] for i in sum(indices, [])]
        batch, labels = (np.stack(column) for column in zip(*rows, strict=True))
        loss = smoothed(P, net(P.to_tensor(batch)), P.to_tensor(labels))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(float(loss))
    return {"losses": losses, "mean": net[1]._mean.tolist(), "weight": net[5].weight.tolist()}


def images(P):
    fleet = P.distributed.fleet
    fleet.init(is_collective=True)
    net = P.nn.SyncBatchNorm.convert_sync_batchnorm(filled(convolutional(P), 2 + fleet.worker_index()))
    schedule, optimizer = momentum(P, net)
    optimizer = fleet.distributed_optimizer(optimizer)
    model = fleet.distributed_model(net)  # all begin with the weights of the first process
    sampler = P.io.DistributedBatchSampler(pictures(P), 2, shuffle=True)
    sampler.set_epoch(3)
    losses = []
    for batch, labels in P.io.DataLoader(pictures(P), batch_sampler=sampler):
        loss = smoothed(P, model(batch), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(mean_over_processes(P, loss))
    return {"losses": losses, "mean": net[1]._mean.tolist(), "weight": net[5].weight.tolist()}


def mean_over_processes(P, loss):
    total = loss.detach().clone().reshape([1])
    P.distributed.all_reduce(total)
    return float(total) / P.distributed.get_world_size()


# sentences --------------------------------------------------------------------------------------------------


def sentences(rows):
    return np.random.RandomState(4).randint(0, WORDS, (STEPS, rows, LENGTH + 1))


def block_of(P):
    """The class of a Transformer block, whose weights are drawn with a seed."""

    class Block(P.nn.Layer):
        def __init__(self, seed):
            super().__init__()
            self.norm = P.nn.LayerNorm(WIDTH)
            self.qkv = P.nn.Linear(WIDTH, 3 * WIDTH)
            self.out = P.nn.Linear(WIDTH, WIDTH)
            filled(self, seed)

        def forward(self, x):
            rows, length, _ = x.shape
            parts = self.qkv(self.norm(x)).reshape([rows, length, HEADS, 3 * WIDTH // HEADS])
            attended = P.nn.functional.scaled_dot_product_attention(*parts.split(3, -1), is_causal=True)
            return x + self.out(attended.flatten(2))

    return Block


def adamw(P, parameters):
    clip = P.nn.ClipGradByGlobalNorm(0.3)
    schedule = P.optimizer.lr.NaturalExpDecay(0.02, 0.1)
    return schedule, P.optimizer.AdamW(schedule, parameters=parameters, weight_decay=0.1, grad_clip=clip)


def pipeline_alone(P):
    words = filled(P.nn.Embedding(WORDS, WIDTH), 6)
    block = block_of(P)
    blocks = P.nn.LayerList([block(7 + i) for i in range(BLOCKS)])
    schedule, optimizer = adamw(P, words.parameters() + blocks.parameters())
    losses = []
    for rows in sentences(MICRO_BATCHES * ROWS):
        x = words(P.to_tensor(rows[:, :-1]))
        for block in blocks:
            x = block(x)
        scores = P.matmul(x, words.weight, transpose_y=True)
        loss = P.nn.functional.cross_entropy(scores, P.to_tensor(rows[:, 1:]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(float(loss))
    return {"losses": losses}


def pipeline(P):
    """Two stages with two chunks each, a shared table, recomputation, a scaler, and a clipped norm."""
    fleet = P.distributed.fleet
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "pp_degree": 2}
    strategy.pipeline_configs = {"accumulate_steps": MICRO_BATCHES, "micro_batch_size": ROWS}
    fleet.init(is_collective=True, strategy=strategy)
    layers = fleet.meta_parallel
    block = block_of(P)

    class Words(P.nn.Embedding):
        def __init__(self):
            super().__init__(WORDS, WIDTH)
            filled(self, 6)

    def scores(layer, x):
        return P.matmul(x, layer.weight, transpose_y=True)

    def shared(forward_func=None):
        return layers.SharedLayerDesc("words", Words, forward_func)

    blocks = [layers.LayerDesc(block, 7 + i) for i in range(BLOCKS)]
    net = layers.PipelineLayer(
        [shared(), *blocks, shared(scores)],
        num_stages=2,
        loss_fn=P.nn.CrossEntropyLoss(),
        seg_method="layer:Block",
        recompute_interval=1,
        recompute_ctx={"mp_group": None, "offload": False, "partition": False},
        num_virtual_pipeline_stages=2,
    )
    model = fleet.distributed_model(net)
    schedule, optimizer = adamw(P, model.parameters())
    optimizer = fleet.distributed_optimizer(optimizer)
    scaler = fleet.distributed_scaler(P.amp.GradScaler(init_loss_scaling=64.0))
    losses = []
    for rows in sentences(MICRO_BATCHES * ROWS):
        data = [P.to_tensor(rows[:, :-1]), P.to_tensor(rows[:, 1:])]
        losses.append(float(model.train_batch(data, optimizer, schedule, scaler)))
    return {"losses": losses}


# accumulated gradients --------------------------------------------------------------------------------------


def tagger(P):
    nn = P.nn
    return filled(nn.Sequential(nn.Embedding(WORDS, WIDTH), block_of(P)(8), nn.Linear(WIDTH, WORDS)), 9)


def trained_in_pairs(P, net, rows_of, backward):
    """Losses of steps that accumulate the gradients of two batches.

    Args:
        P: the engine.
        net: Layer.
        rows_of: function from the rows of a batch to those of this process.
        backward: function of a function for the loss, and of whether gradients are summed up now.
    """
    decayed = [parameter.name for name, parameter in net.named_parameters() if "norm" not in name]
    optimizer = P.optimizer.AdamW(
        0.01,
        parameters=net.parameters(),
        apply_decay_param_fun=lambda name: name in decayed,
        grad_clip=P.nn.ClipGradByGlobalNorm(0.5),
    )
    losses = []
    for i, batch in enumerate(sentences(4)):
        rows = rows_of(batch)
        words, targets = P.to_tensor(rows[:, :-1]), P.to_tensor(rows[:, 1:])
        is_last = i % 2 == 1

        def loss_of(net, words=words, targets=targets):
            return P.nn.functional.cross_entropy(net(words), targets) / 2

        losses.append(backward(loss_of, is_last))
        if is_last:
            optimizer.step()
            optimizer.clear_grad()
    return {"losses": losses, "weight": net[2].weight.tolist()}


def accumulated_alone(P):
    net = tagger(P)

    def backward(loss_of, is_last):
        loss = loss_of(net)
        loss.backward()
        return float(loss)

    return trained_in_pairs(P, net, lambda rows: rows, backward)


def accumulated(P, by):
    """As `accumulated_alone`: gradients of "DataParallel", or summed up by a "function" or in "buffers"."""
    P.distributed.fleet.init(is_collective=True)
    rank = P.distributed.get_rank()
    net = tagger(P)
    model = P.DataParallel(net) if by == "DataParallel" else net
    utils = P.distributed.fleet.utils
    helper = utils.tensor_fusion_helper
    buffers = []
    if by == "buffers":
        _, _, buffers = helper.fused_parameters(
            net.parameters(),
            fuse_param=False,
            comm_overlap=True,
            act=helper.HOOK_ACTION.ALL_REDUCE,
            acc_step=2,
            group_size=1024,
        )
        for buffer in buffers:
            for parameter in buffer.params:
                parameter._register_backward_hook(helper.bw_hook_func(buffer, parameter))

    def backward(loss_of, is_last):
        waits = by == "DataParallel" and not is_last
        with model.no_sync() if waits else contextlib.nullcontext():
            loss = loss_of(model)
            loss.backward()
        if by == "function" and is_last:
            utils.hybrid_parallel_util.fused_allreduce_gradients(list(net.parameters()), None)
        for buffer in buffers if is_last else ():
            buffer.scale_grads()
        return mean_over_processes(P, loss)

    return trained_in_pairs(P, net, lambda rows: rows[2 * rank : 2 * rank + 2], backward)


def main(P):
    found = {
        "images": images(P),
        "accumulated": accumulated(P, by="DataParallel"),
        "fused": accumulated(P, by="function"),
        "buffers": accumulated(P, by="buffers"),
        "pipeline": pipeline(P),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    import paddle_jax

    main(paddle_jax)
