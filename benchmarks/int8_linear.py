"""Error and time of linear layers whose weight is kept in 8 or 4 bits, against float32.

    python benchmarks/int8_linear.py [--rows 1,64] [--size 4096] [--dtype float32]

The weight [size, size] is normally distributed, so is x [rows, size]. Error: the largest and the mean
difference, relative to the standard deviation of the result. Time: the fastest of 9 rounds, in which the
layers take turns; a round is some calls and reading the last result.
"""

import argparse
import time

import numpy as np

import paddle_jax as paddle

LAYERS = (
    ("int8", "weight_only_int8", -1),
    ("int8, groups of 64", "weight_only_int8", 64),
    ("int4, groups of 64", "weight_only_int4", 64),
    ("LLM.int8", "llm.int8", -1),
)


def layers(plain, dtype):
    """(name, megabytes of the weight, compiled layer), float first."""
    quant = paddle.nn.quant
    yield dtype, plain, paddle.jit.to_static(lambda v: paddle.nn.functional.linear(v, plain))
    for name, algo, group in LAYERS:
        whole, scale = quant.weight_quantize(plain, algo, group_size=group)

        def layer(v, algo=algo, whole=whole, scale=scale, group=group):
            if algo == "llm.int8":
                return quant.llm_int8_linear(v, whole, None, scale)
            return quant.weight_only_linear(v, whole, None, scale, algo[-4:], group_size=group)

        yield name, whole, paddle.jit.to_static(layer)


def seconds(call, x, calls):
    start = time.perf_counter()
    for _ in range(calls):
        out = call(x)
    out.numpy()
    return (time.perf_counter() - start) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="1,64")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--calls", type=int, default=10)
    options = parser.parse_args()
    rng = np.random.RandomState(0)
    weight = rng.randn(options.size, options.size).astype("float32")
    made = list(layers(paddle.to_tensor(weight).astype(options.dtype), options.dtype))
    print(
        "| layer | rows | weight, MB | largest error | mean error | ms | float / this |\n| --- | --- | --- "
        "| --- | --- | --- | --- |"
    )
    with paddle.no_grad():
        for rows in map(int, options.rows.split(",")):
            numbers = rng.randn(rows, options.size).astype("float32")
            x, exact = (
                paddle.to_tensor(numbers).astype(options.dtype),
                numbers.astype("float64") @ weight.astype("float64"),
            )
            wrong = [np.abs(call(x).astype("float32").numpy() - exact) / exact.std() for _, _, call in made]
            times = np.min([[seconds(call, x, options.calls) for _, _, call in made] for _ in range(9)], 0)
            for (name, whole, _), error, took in zip(made, wrong, times, strict=True):
                size, errors = (
                    whole.size * whole.element_size() / 1e6,
                    f"{error.max():.1e} | {error.mean():.1e}",
                )
                print(
                    f"| {name} | {rows} | {size:.0f} | {errors} | {took * 1e3:.2f} | {times[0] / took:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
