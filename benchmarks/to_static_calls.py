"""What one call of a compiled training step costs beside the computation, and what compiling costs.

    python -m paddle_jax benchmarks/to_static_calls.py [--layers 5 50 500]

A chain of tiny linear layers with Adam, so that the computation is next to nothing. "Compiled function alone"
is that of the same step, called by hand with the same arrays, taking over the memory of what it replaces in
the same way; both in turns, the fastest of many short runs. "Values" is how many values that the code has
read are compared at each call, "check" what finding the operands and comparing takes.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import paddle
from paddle import nn


def training_step(layers):
    net = nn.Sequential(*[part for _ in range(layers) for part in (nn.Linear(8, 8), nn.Tanh())])
    adam, x, y = (
        paddle.optimizer.Adam(1e-3, parameters=net.parameters()),
        paddle.randn([4, 8]),
        paddle.randn([4, 8]),
    )

    def step():
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return paddle.jit.to_static(step, full_graph=True)


def alone(step):
    """A function that calls the compiled function of a step with arrays of its own."""
    (program,) = step.program_cache
    tensors, pack = program.operands([]), program.direct.pack
    held = [jnp.array(tensors[i]._value) for i in program.direct.donated]
    kept, numbers = (
        [t._value for t in program.direct.others(tensors)[len(held) :]],
        [get() for get in program.numbers.getters],
    )
    flat = None if pack is None else jnp.concatenate([tensors[i]._value.ravel() for i in pack.places])
    packed = pack is not None

    def call():
        nonlocal held, flat
        out = program.direct.compiled(flat, held, kept, numbers)
        flat, held = out[0] if packed else None, out[packed : packed + len(held)]
        return out[-1]

    return call, len(program.value_updates), sum(a.size > 0 for a in held) + (flat is not None)


def seconds(calls, rounds=60, loop=0.01):
    """The time of one call of each function, taking turns."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            count = max(1, int(loop / best[i])) if best[i] < 1 else 1
            start = time.perf_counter()
            for _ in range(count):
                out = call()
            jax.block_until_ready(out)
            best[i] = min(best[i], (time.perf_counter() - start) / count)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[5, 50, 500])
    args = parser.parse_args()
    print(
        "| parameters | written | arrays handed over | equations | first call | values | check | one call "
        "| compiled function alone | difference |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for layers in args.layers:
        step = training_step(layers)
        start = time.perf_counter()
        step()
        first = time.perf_counter() - start
        (program,) = step.program_cache
        call, count, handed = alone(step)
        ours, bare = seconds([lambda step=step: step()._value, call])
        (check,) = seconds([lambda program=program: program.operands([])])
        times = " | ".join(f"{t * 1e6:.0f} us" for t in (check, ours, bare, ours - bare))
        equations = len(program.captured.jaxpr.eqns)
        print(
            f"| {2 * layers} | {count} | {handed} | {equations} | {first:.2f} s | "
            f"{len(program.reads)} | {times} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
