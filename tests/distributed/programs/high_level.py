"""`paddle.Model` on this process of several, as JSON: weights and accuracy, in dynamic and in static mode."""

import json

import numpy as np

import paddle_jax as paddle

COUNT, EVALUATED, RATE = 16, 17, 0.5
X = np.random.default_rng(1).normal(size=(EVALUATED, 4)).astype("float32")
Y = np.random.default_rng(2).integers(0, 3, (EVALUATED, 1))
WEIGHT = np.random.default_rng(3).normal(size=(4, 3)).astype("float32")


class Rows(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return X[index], Y[index]


def trained(static):
    """The weight and the accuracy after two epochs of batches of 8 rows, over all processes."""
    size, rank = paddle.distributed.get_world_size(), paddle.distributed.get_rank()
    # In dynamic mode all begin with the weights of process 0.
    start = WEIGHT if static else WEIGHT + rank
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(start))
    net = paddle.nn.Linear(4, 3, weight_attr=attr, bias_attr=False)
    specs = [paddle.static.InputSpec([None, 4], "float32", "x")]
    labels = [paddle.static.InputSpec([None, 1], "int64", "y")]
    model = paddle.Model(net, specs, labels)
    optimizer = paddle.optimizer.SGD(RATE, parameters=net.parameters())
    model.prepare(optimizer, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    # Each process has half of a batch.
    model.fit(Rows(COUNT), Rows(EVALUATED), 8 // size, epochs=2, shuffle=False, verbose=0)
    accuracy = model.evaluate(Rows(EVALUATED), batch_size=6 // size, verbose=0)["acc"]
    if static:
        weight = net.weight.get_value()
    else:
        weight = net.weight
    return {"weight": np.asarray(weight).tolist(), "accuracy": float(accuracy)}


if __name__ == "__main__":
    found = {"dynamic": trained(static=False)}
    paddle.enable_static()
    found["static"] = trained(static=True)
    print(json.dumps(found))
