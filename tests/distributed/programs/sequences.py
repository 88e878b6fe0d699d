"""Layers in parts on parts of a sequence, against the whole ones: {name: largest difference} as JSON."""

import json

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.utils import sequence_parallel_utils as sequences


def main():
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"mp_degree": 2}
    fleet.init(is_collective=True, strategy=strategy)
    rank, random, found = fleet.worker_index(), np.random.RandomState(3), {}
    x, first, second, bias = (
        random.randn(*shape).astype("float32") for shape in ((4, 3, 6), (6, 8), (8, 6), (6,))
    )

    whole = [paddle.to_tensor(v, stop_gradient=False) for v in (x, first, second, bias)]
    hidden = paddle.nn.functional.relu(whole[0] @ whole[1])
    (wanted := hidden @ whole[2] + whole[3]).square().sum().backward()

    column = sequences.ColumnSequenceParallelLinear(6, 8, has_bias=False, gather_output=False)
    row = sequences.RowSequenceParallelLinear(8, 6, input_is_parallel=True)
    column.weight.set_value(paddle.to_tensor(first[:, 4 * rank : 4 * rank + 4]))
    row.weight.set_value(paddle.to_tensor(second[4 * rank : 4 * rank + 4]))
    row.bias.set_value(paddle.to_tensor(bias))
    sequences.register_sequence_parallel_allreduce_hooks(row, 1, False)
    given = paddle.to_tensor(x, stop_gradient=False)
    part = row(paddle.nn.functional.relu(column(sequences.ScatterOp.apply(given))))
    out = sequences.GatherOp.apply(part)
    found["part"] = list(part.shape)
    out.square().sum().backward()

    def far(a, b):
        return float(np.abs(a - b).max())

    found["result"] = far(out.numpy(), wanted.numpy())
    found["gradients"] = [
        far(given.grad.numpy(), whole[0].grad.numpy()),
        far(column.weight.grad.numpy(), whole[1].grad.numpy()[:, 4 * rank : 4 * rank + 4]),
        far(row.weight.grad.numpy(), whole[2].grad.numpy()[4 * rank : 4 * rank + 4]),
        far(row.bias.grad.numpy(), whole[3].grad.numpy()),
    ]
    try:
        sequences.scatter(paddle.ones([3, 2]))
    except AssertionError as error:
        found["refused"] = str(error)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
