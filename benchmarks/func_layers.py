"""What a call of a function of `paddle.func` costs in Python for each layer of a network.

    python benchmarks/func_layers.py [--layers 2 12] [--rounds 40]

The network is a chain of pairs of a Linear and a Tanh of 16 numbers, so that its computation costs next to
nothing. The difference between two lengths is what a pair costs; the fastest round of each counts.
"""

import argparse
import time

import paddle_jax as paddle


def network(pairs):
    """A chain of pairs of layers."""
    nn = paddle.nn
    return nn.Sequential(*[layer for _ in range(pairs) for layer in (nn.Linear(16, 16), nn.Tanh())])


def calls(net, x):
    """{what is measured: function that does it}."""
    func, total = paddle.func, lambda row: net(row).sum()
    return {
        "vmap": lambda: func.vmap(lambda row: net(row))(x),
        "grad": lambda: func.grad(lambda rows: net(rows).sum())(x),
        "jacfwd": lambda: func.jacfwd(lambda row: net(row))(x[0]),
        "vmap of grad": lambda: func.vmap(func.grad(total))(x),
        "hvp": lambda: func.hvp(lambda rows: net(rows).sum(), (x,), (x,)),
    }


def fastest(call, rounds):
    """Milliseconds of the fastest of some calls, after some that compile."""
    times = []
    for _ in range(rounds + 4):
        start = time.perf_counter()
        call().numpy()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[4:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, nargs=2, default=(2, 12))
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    paddle.seed(0)
    x, (few, many) = paddle.randn([4, 16]), options.layers
    shallow, deep = (calls(network(pairs), x) for pairs in (few, many))
    for name in shallow:
        a, b = fastest(shallow[name], options.rounds), fastest(deep[name], options.rounds)
        print(
            f"{name}: {a:.2f} ms for {few} pairs, {b:.2f} for {many}: {(b - a) / (many - few):.3f} ms a pair"
        )


if __name__ == "__main__":
    main()
