"""Error and time of linear layers whose weight is kept in 8 or 4 bits, against float32.

    python benchmarks/int8_linear.py [--rows 1,64] [--size 4096] [--dtype float32]

The weight [size, size] is normally distributed, so is x [rows, size]. Error: the largest and the mean difference, relative to the standard deviation
of the result. Time: the fastest of 5 rounds of calls, each round ended by reading the result.
"""

import argparse
import time

import numpy as np

import paddle_jax as paddle


def seconds(call, calls):
    call().numpy()
    best = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            out = call()
        out.numpy()
        best.append((time.perf_counter() - start) / calls)
    return min(best)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="1,64")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()
    rng, quant = np.random.RandomState(0), paddle.nn.quant
    weight = rng.randn(options.size, options.size).astype("float32")
    plain = paddle.to_tensor(weight).astype(options.dtype)
    print("| layer | rows | weight, MB | largest error | mean error | ms | float / this |\n| --- | --- | --- | --- | --- | --- | --- |")
    for rows in map(int, options.rows.split(",")):
        numbers = rng.randn(rows, options.size).astype("float32")
        x, exact = paddle.to_tensor(numbers).astype(options.dtype), numbers.astype("float64") @ weight.astype("float64")
        reference = None
        for name, algo, group in ((options.dtype, None, -1), ("int8", "weight_only_int8", -1), ("int8, groups of 64", "weight_only_int8", 64),
                                  ("int4, groups of 64", "weight_only_int4", 64), ("LLM.int8", "llm.int8", -1)):
            whole, scale = (plain, None) if algo is None else quant.weight_quantize(plain, algo, group_size=group)

            def layer(v, algo=algo, whole=whole, scale=scale, group=group):
                if algo is None:
                    return paddle.nn.functional.linear(v, whole)
                if algo == "llm.int8":
                    return quant.llm_int8_linear(v, whole, None, scale)
                return quant.weight_only_linear(v, whole, None, scale, algo[-4:], group_size=group)

            compiled = paddle.jit.to_static(layer)
            with paddle.no_grad():
                wrong = np.abs(compiled(x).astype("float32").numpy() - exact) / exact.std()
                took = seconds(lambda compiled=compiled, x=x: compiled(x), options.calls)
            reference = reference or took
            size = whole.size * whole.element_size() / 1e6
            errors = f"{wrong.max():.1e} | {wrong.mean():.1e}"
            print(f"| {name} | {rows} | {size:.0f} | {errors} | {took * 1e3:.2f} | {reference / took:.2f} |", flush=True)


if __name__ == "__main__":
    main()
