"""What is printed: each function gets a module, ours or the real Paddle, and prints. Weights and data are
the same for both."""

import numpy as np


def dataset(p, count, fields=("x", "y")):
    generator = np.random.RandomState(0)
    columns = {"x": generator.randn(count, 4).astype("float32"), "y": generator.randint(0, 3, (count, 1))}
    columns["z"] = columns["x"] * 2

    class Rows(p.io.Dataset):
        def __getitem__(self, index):
            return tuple(columns[name][index] for name in fields)

        def __len__(self):
            return count

    return Rows()


def stream(p, count, size):
    rows = dataset(p, count)

    class Rows(p.io.IterableDataset):
        def __iter__(self):
            return (rows[i] for i in range(count))

    return p.io.DataLoader(Rows(), batch_size=size)


def filled(p, network):
    generator = np.random.RandomState(1)
    network.set_state_dict(
        {
            name: p.to_tensor(generator.randn(*value.shape).astype("float32"))
            for name, value in network.state_dict().items()
        }
    )
    return network


def network(p):
    return filled(p, p.nn.Sequential(p.nn.Linear(4, 8), p.nn.ReLU(), p.nn.Linear(8, 3)))


def model(p, metrics=True, rate=0.01, optimizer="Adam"):
    made = p.Model(network(p))
    metrics = p.metric.Accuracy((1, 2)) if metrics is True else metrics
    made.prepare(
        getattr(p.optimizer, optimizer)(rate, parameters=made.parameters()), p.nn.CrossEntropyLoss(), metrics
    )
    return made


def pair(p):
    """Two inputs, two outputs."""

    class Pair(p.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = p.nn.Linear(4, 3), p.nn.Linear(4, 3)

        def forward(self, x, y):
            return self.a(x) + self.b(y), self.a(x)

    return filled(p, Pair())


def recorder(p, shown):
    """A callback that prints what it is called with."""

    class Recorder(p.callbacks.Callback):
        pass

    def printing(name):
        def method(self, *args):
            print(
                name,
                *(
                    sorted(arg.items()) if isinstance(arg, dict) else arg
                    for arg in args
                    if arg or not isinstance(arg, dict)
                ),
            )

        return method

    for name in shown:
        setattr(Recorder, name, printing(name))
    return Recorder()


EVENTS = [
    f"on_{kind}"
    for kind in (
        "train_begin",
        "train_end",
        "eval_begin",
        "eval_end",
        "predict_begin",
        "epoch_begin",
        "epoch_end",
        "train_batch_end",
        "eval_batch_end",
    )
] + ["set_params"]


def fit(p, train=10, test=6, prepared=None, **settings):
    settings = {"batch_size": 2, "shuffle": False, "log_freq": 2} | settings
    (prepared or model(p)).fit(dataset(p, train), dataset(p, test) if test else None, **settings)


def early(p, **settings):
    fit(p, 6, 6, batch_size=3, epochs=5, verbose=2, callbacks=p.callbacks.EarlyStopping(**settings))


def plateau(p, **settings):
    fit(p, 6, 6, batch_size=3, epochs=6, verbose=0, callbacks=[p.callbacks.ReduceLROnPlateau(**settings)])


def scheduled(p, callback):
    made = model(p, metrics=None, rate=p.optimizer.lr.StepDecay(0.1, 2), optimizer="SGD")
    made.fit(dataset(p, 6), batch_size=2, epochs=3, verbose=0, callbacks=callback, shuffle=False)
    print(made._optimizer.get_lr(), made._optimizer._learning_rate.last_epoch)


def two_inputs(p, several_losses):
    def loss(a, b, la, lb):
        parts = [p.nn.functional.cross_entropy(a, la), p.nn.functional.cross_entropy(b, lb) * 2]
        return parts if several_losses else parts[0] + parts[1]

    class Second(p.metric.Accuracy):
        def compute(self, a, b, la, lb):
            return super().compute(b, lb)

    made = p.Model(pair(p))
    made.prepare(p.optimizer.SGD(0.1, parameters=made.parameters()), loss, [Second(name="q")])
    rows = dataset(p, 6, ("x", "z", "y", "y"))
    made.fit(rows, rows, batch_size=2, verbose=2, shuffle=False, log_freq=1)
    print(made.predict(rows, batch_size=4, verbose=0, stack_outputs=True))
    inputs, labels = [dataset(p, 3)[0][0][None]] * 2, [dataset(p, 3)[0][1][None]] * 2
    print(
        made.train_batch(inputs, labels, update=False),
        made.train_batch(inputs, labels),
        made.eval_batch(inputs, labels),
    )


def batches(p):
    made = model(p)
    x, y = (np.stack(field) for field in zip(*(dataset(p, 3)[i] for i in range(3)), strict=True))
    print(made.train_batch([x], [y]), made.eval_batch([p.to_tensor(x)], [y]), made.predict_batch([x]))
    plain = model(p, metrics=None)
    print(plain.train_batch([x], [y]), plain.eval_batch([x], [y]), plain.parameters()[0].shape, plain.mode)


def evaluated(p):
    made = p.Model(network(p))
    for loss in (p.nn.CrossEntropyLoss(), None):
        for metrics in ([], [p.metric.Accuracy((1, 2)), p.metric.Accuracy(name="b")]):
            made.prepare(None, loss, metrics)
            print(
                made.evaluate(dataset(p, 7), batch_size=2, verbose=2),
                made.evaluate(dataset(p, 7), batch_size=2, verbose=0, num_iters=2),
            )


def predicted(p):
    made = model(p)
    for settings in (
        {},
        {"verbose": 2},
        {"verbose": 0},
        {"verbose": 2, "callbacks": [p.callbacks.ProgBarLogger(4, 2)]},
    ):
        parts = made.predict(dataset(p, 9), batch_size=2, **settings)
        print(type(parts[0]), len(parts[0]), parts[0][-1])
    made.predict(stream(p, 12, 5), verbose=1)
    made.predict(stream(p, 12, 2), verbose=2)


def streamed(p):
    model(p).fit(stream(p, 12, 2), stream(p, 12, 2), epochs=2, verbose=2, log_freq=2)
    model(p).fit(stream(p, 12, 2), epochs=1, verbose=1, log_freq=2)
    print(model(p).evaluate(stream(p, 12, 5), verbose=1))


def shuffled(p):
    fit(p, shuffle=True, epochs=3, log_freq=1, drop_last=True, train=9)


def listed(p):
    batch = [np.ones([2, 4], "float32"), np.ones([2, 1], "int64")]
    model(p).fit([batch] * 3, verbose=2, log_freq=1)


def stopped(p):
    class Stop(p.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            self.model.stop_training = step == 1

    fit(p, epochs=3, callbacks=[Stop()])


def resumed(p):
    """A model that was stopped trains one epoch the next time, as in Paddle."""
    made = model(p)
    fit(p, prepared=made, num_iters=3)
    fit(p, prepared=made, epochs=3)


def of_network(p, made):
    made = p.Model(made)
    made.prepare(
        p.optimizer.Adam(0.01, parameters=made.parameters()), p.nn.CrossEntropyLoss(), p.metric.Accuracy()
    )
    fit(p, prepared=made, epochs=2)
    print(made.predict(dataset(p, 5), batch_size=2, verbose=0, stack_outputs=True))


def nothing_to_report(p):
    made = p.Model(network(p))
    made.prepare(p.optimizer.Adam(parameters=made.parameters()))
    fit(p, prepared=made)


FITS = {
    "lines": lambda p: fit(p, epochs=2),
    "bar": lambda p: fit(p, epochs=2, verbose=1),
    "silent": lambda p: fit(p, verbose=0),
    "times": lambda p: fit(p, verbose=3),
    "no metric": lambda p: fit(p, prepared=model(p, metrics=None), test=0, log_freq=3),
    "momentum": lambda p: fit(p, prepared=model(p, optimizer="Momentum"), epochs=2),
    "drop last": lambda p: fit(p, 5, 0, drop_last=True),
    "own logger": lambda p: fit(p, callbacks=[p.callbacks.ProgBarLogger(1, 2)]),
    "eval freq": lambda p: fit(p, epochs=4, eval_freq=2),
    "two sizes": lambda p: fit(p, batch_size=(2, 3)),
    "accumulate": lambda p: fit(p, epochs=2, accumulate_grad_batches=2, log_freq=1),
    "accumulate odd": lambda p: fit(
        p, prepared=model(p, optimizer="SGD", rate=0.1), epochs=2, accumulate_grad_batches=3, log_freq=1
    ),
    "iterations": lambda p: fit(p, epochs=3, log_freq=1, num_iters=7),
    "iterations alone": lambda p: fit(p, 8, 0, epochs=2, log_freq=1, num_iters=6),
    "iterations long": lambda p: fit(p, 8, 8, log_freq=1, num_iters=13, eval_freq=2),
    "iterations short": lambda p: fit(p, 8, 4, log_freq=1, num_iters=3, accumulate_grad_batches=2, epochs=2),
    "events": lambda p: fit(p, 4, 3, verbose=0, callbacks=recorder(p, EVENTS)),
    "early accuracy": lambda p: early(p, monitor="acc_top1", patience=1),
    "early loss": lambda p: early(p, min_delta=10),
    "early min": lambda p: early(p, monitor="acc_top1", mode="min"),
    "early baseline": lambda p: early(p, baseline=0.1, patience=2),
    "early silent": lambda p: early(p, baseline=0.1, verbose=0),
    "plateau": lambda p: plateau(p, patience=2, min_delta=10),
    "plateau cooldown": lambda p: plateau(p, patience=1, min_delta=10, cooldown=1, factor=0.5, min_lr=0.003),
    "plateau accuracy": lambda p: plateau(p, monitor="acc_top1", patience=2, min_delta=1.0),
    "schedule": lambda p: scheduled(p, None),
    "schedule by epoch": lambda p: scheduled(p, p.callbacks.LRScheduler(by_step=False, by_epoch=True)),
    "sum of losses": lambda p: two_inputs(p, False),
    "two losses": lambda p: two_inputs(p, True),
    "batches": batches,
    "evaluate": evaluated,
    "predict": predicted,
    "stream": streamed,
    "shuffle": shuffled,
    "list": listed,
    "stop": stopped,
    "resume": resumed,
}

REFUSED = {
    "no data": lambda p: model(p).fit(),
    "no optimizer": lambda p: p.Model(network(p)).train_batch([np.ones([2, 4], "float32")]),
    "not prepared": lambda p: p.Model(network(p)).fit(dataset(p, 2)),
    "no layer": lambda p: p.Model(3),
    "loss": lambda p: p.Model(network(p)).prepare(loss=3),
    "metric": lambda p: p.Model(network(p)).prepare(metrics=3),
    "epochs": lambda p: fit(p, epochs=0),
    "epochs text": lambda p: fit(p, epochs="a"),
    "iterations": lambda p: fit(p, num_iters=0),
    "eval_freq": lambda p: fit(p, eval_freq=0),
    "log_freq": lambda p: fit(p, log_freq=0),
    "accumulate": lambda p: fit(p, accumulate_grad_batches=0),
    "batch size": lambda p: fit(p, batch_size=0),
    "empty": lambda p: fit(p, 0, 0),
    "no metrics and no loss": nothing_to_report,
    "stream": lambda p: model(p).fit(stream(p, 4, 2).dataset),
    "file": lambda p: model(p).load("/nowhere/file"),
    "spec": lambda p: p.Model(network(p), [4, 3]),
    "spec name": lambda p: p.Model(network(p), p.static.InputSpec([None, 4], "float32")),
    "spec text": lambda p: p.Model(network(p), "x"),
    "amp level": lambda p: p.Model(network(p)).prepare(amp_configs="O9"),
    "amp key": lambda p: p.Model(network(p)).prepare(amp_configs={"bad": 1}),
    "amp static key": lambda p: p.Model(network(p)).prepare(amp_configs={"use_fp16_guard": True}),
    "amp type": lambda p: p.Model(network(p)).prepare(amp_configs=3),
    "plateau factor": lambda p: p.callbacks.ReduceLROnPlateau(factor=1.0),
    "scheduler": lambda p: p.callbacks.LRScheduler(True, True),
    "wandb": lambda p: p.callbacks.WandbCallback(),
    "visualdl": lambda p: fit(p, verbose=0, callbacks=p.callbacks.VisualDL("logs")),
}  # fmt: skip


# networks to show -------------------------------------------------------------------------------------------


def tied(p):
    class Tied(p.nn.Layer):
        def __init__(self):
            super().__init__()
            self.e, self.l, self.f = p.nn.Embedding(10, 4), p.nn.LSTM(4, 5, 2), p.nn.Linear(5, 3)
            self.g = self.f
            self.h = p.nn.LayerList([p.nn.Linear(3, 3), p.nn.Linear(3, 3)])
            self.q = self.create_parameter([3, 3])

        def forward(self, x):
            y, _ = self.l(self.e(x))
            z = self.g(self.f(y).reshape([-1, 3]).matmul(p.ones([3, 5])))
            for layer in self.h:
                z = layer(z)
            return {"out": z, "rows": y}

    return Tied()


def convolutions(p):
    n = p.nn
    return n.Sequential(
        n.Sequential(n.Conv2D(3, 8, 3), n.BatchNorm2D(8), n.ReLU(), n.MaxPool2D(2)),
        n.Sequential(n.Flatten(), n.Linear(72, 5)),
    )


def frozen(p):
    class Frozen(p.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = p.nn.Linear(2, 3), p.nn.Linear(3, 3)
            self.b.weight.stop_gradient = True

        def forward(self, x, y=None):
            return self.b(self.a(x)) if y is None else self.b(self.a(x)) + y

    return Frozen()


def named_inputs(p):
    class Named(p.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a = p.nn.Linear(4, 3)

        def forward(self, inputs):
            return self.a(inputs["x"]) + inputs["y"]

    return p.summary(Named(), input={"x": p.ones([3000, 4]), "y": p.ones([3000, 3])})


def odd_outputs(p):
    class Inner(p.nn.Layer):
        def __init__(self):
            super().__init__()
            self.w = self.create_parameter([3, 3])

        def forward(self, x, k):
            return x, {"a": x}, 3, None, [x, x]

    class Outer(p.nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x, k=x)[0]

    return Outer()


def model_after_a_batch(p):
    made = p.Model(network(p), [p.static.InputSpec([None, 4], "float32", "x")])
    made.prepare()
    made.predict_batch([np.ones((3, 4), "float32")])
    return made.summary()


SUMMARIES = {
    "sequential": lambda p: p.summary(network(p), (1, 4)),
    "one layer": lambda p: p.summary(p.nn.Linear(4, 3), (1, 4)),
    "frozen": lambda p: p.summary(frozen(p), (1, 2)),
    "two inputs": lambda p: p.summary(frozen(p), [(1, 2), (1, 3)]),
    "two dtypes": lambda p: p.summary(frozen(p), [(1, 2), (1, 3)], dtypes=["float32", "float32"]),
    "input": lambda p: p.summary(frozen(p), input=p.ones([5, 2])),
    "unknown length": lambda p: p.summary(network(p), (None, 4)),
    "negative length": lambda p: p.summary(network(p), (-1, 4)),
    "number": lambda p: p.summary(network(p), 4),
    "spec": lambda p: p.summary(network(p), p.static.InputSpec([None, 4], "float32")),
    "specs": lambda p: p.summary(network(p), [p.static.InputSpec([None, 4], "float32")]),
    "lenet": lambda p: p.summary(p.vision.models.LeNet(), (1, 1, 28, 28)),
    "resnet": lambda p: p.summary(p.vision.models.resnet18(), (1, 3, 64, 64)),
    "tied": lambda p: p.summary(tied(p), (2, 6), dtypes="int64"),
    "convolutions": lambda p: p.summary(convolutions(p), (2, 3, 8, 8)),
    "encoder": lambda p: p.summary(p.nn.TransformerEncoderLayer(8, 2, 16), (2, 6, 8)),
    "decoder": lambda p: p.summary(p.nn.TransformerDecoderLayer(8, 2, 16), [(2, 3, 8), (2, 4, 8)]),
    "cells": lambda p: p.summary(p.nn.RNN(p.nn.LSTMCell(4, 5)), (2, 3, 4)),
    "bidirectional": lambda p: p.summary(p.nn.GRU(4, 5, direction="bidirect"), (2, 3, 4)),
    "named inputs": named_inputs,
    "odd outputs": lambda p: p.summary(odd_outputs(p), (2, 3)),
    "model": lambda p: p.Model(network(p), [p.static.InputSpec([None, 4], "float32", "x")]).summary(),
    "model after a batch": model_after_a_batch,
    "model with size": lambda p: p.Model(network(p)).summary((3, 4)),
    "training kept": lambda p: [p.summary(made := convolutions(p), (1, 3, 8, 8)), made.training],
    "nothing": lambda p: p.summary(network(p)),
    "zero": lambda p: p.summary(network(p), (0, 4)),
    "wrong length": lambda p: p.summary(network(p), (1, 7)),
    "no layer": lambda p: p.summary(3, (1, 4)),
}  # fmt: skip


def various(p):
    n = p.nn
    return n.Sequential(
        n.Conv2DTranspose(3, 4, 3),
        n.PReLU(),
        n.ReLU6(),
        n.AvgPool2D(2),
        n.AdaptiveAvgPool2D(3),
        n.AdaptiveMaxPool2D(2),
        n.Dropout(),
        n.Softmax(),
        n.GELU(),
        n.LayerNorm([2, 2]),
        n.GroupNorm(2, 4),
        n.InstanceNorm2D(4),
        n.Upsample(scale_factor=2),
        n.Flatten(),
        n.Linear(64, 2, bias_attr=False),
    )


def own_layer(p):
    class Own(p.nn.Layer):
        def __init__(self):
            super().__init__()
            self.w = self.create_parameter([4, 4])

        def forward(self, x):
            return x.matmul(self.w)

    return p.nn.Sequential(Own(), p.nn.Linear(4, 4))


def counted(p, everywhere):
    def count(layer, inputs, output):
        layer.total_ops += 77

    made = own_layer(p)
    kinds = {type(made[0]): count} | ({p.nn.Linear: count} if everywhere else {})
    return p.flops(made, [2, 4], custom_ops=kinds, print_detail=True)


def single(make, shape):
    return lambda p: p.flops(p.nn.Sequential(make(p.nn)), shape, print_detail=True)


FLOPS = {
    "lenet": lambda p: p.flops(p.vision.models.LeNet(), [1, 1, 28, 28]),
    "lenet table": lambda p: p.flops(p.vision.models.LeNet(), (1, 1, 28, 28), print_detail=True),
    "resnet": lambda p: p.flops(p.vision.models.resnet18(), [1, 3, 64, 64]),
    "convolutions": lambda p: p.flops(convolutions(p), [2, 3, 8, 8], print_detail=True),
    "various": lambda p: p.flops(various(p), [1, 3, 10, 10], print_detail=True),
    "encoder": lambda p: p.flops(p.nn.TransformerEncoderLayer(8, 2, 16), [2, 6, 8], print_detail=True),
    "own layer": lambda p: p.flops(own_layer(p), [2, 4], print_detail=True),
    "own count": lambda p: counted(p, False),
    "own counts": lambda p: counted(p, True),
    "root": lambda p: p.flops(p.nn.Linear(4, 3), [1, 4], print_detail=True),
    "recurrent": lambda p: p.flops(
        p.nn.Sequential(p.nn.GRU(4, 5, direction="bidirect")), (2, 3, 4), print_detail=True
    ),
    "conv1d": single(lambda n: n.Conv1D(3, 4, 3), [2, 3, 20]),
    "conv3d": single(lambda n: n.Conv3D(2, 3, 3), [1, 2, 5, 5, 5]),
    "transposed 1d": single(lambda n: n.Conv1DTranspose(2, 3, 3), [1, 2, 5]),
    "transposed 3d": single(lambda n: n.Conv3DTranspose(2, 3, 3), [1, 2, 5, 5, 5]),
    "groups": single(lambda n: n.Conv2D(4, 4, 3, groups=2, bias_attr=False), [1, 4, 5, 5]),
    "leaky": single(lambda n: n.LeakyReLU(), [2, 3]),
    "average 3d": single(lambda n: n.AvgPool3D(2), [1, 1, 4, 4, 4]),
    "adaptive 1d": single(lambda n: n.AdaptiveAvgPool1D(2), [1, 1, 4]),
    "adaptive 3d": single(lambda n: n.AdaptiveAvgPool3D(2), [1, 1, 4, 4, 4]),
    "norm": single(lambda n: n.BatchNorm(2), [3, 2, 4]),
    "norm 1d": single(lambda n: n.BatchNorm1D(4), [2, 4, 18]),
    "norm 3d": single(lambda n: n.BatchNorm3D(2), [1, 2, 4, 4, 4]),
    "lstm": single(lambda n: n.LSTM(4, 4), [2, 3, 4]),
}
