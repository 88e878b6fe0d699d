"""A decoder block as in Llama with weights in 8 or 4 bits: error and time against float32, here and with the
real Paddle's float32.

    python benchmarks/llama_block.py [--width 2048] [--tokens 1,64] [--no-oracle]

RMS norm, rotary attention with grouped heads, SwiGLU; weights normally distributed. All seven products go
through `weight_only_linear`. Errors are relative to the standard deviation of what the block adds to its
input. Time: the fastest of 7 rounds, in which all take turns; the real Paddle, which has no such product on a
CPU, runs its float32 block in the same process.
"""

import argparse
import importlib
import time

import numpy as np

HEADS, GROUPS = 16, 4  # of queries, of keys and values


def weights(width, seed=0):
    """name -> weight [in, out], as NumPy arrays."""
    rng, inner, small = np.random.default_rng(seed), width * 11 // 4 // 64 * 64, width // GROUPS
    shapes = {
        "q": (width, width),
        "k": (width, small),
        "v": (width, small),
        "o": (width, width),
        "gate": (width, inner),
        "up": (width, inner),
        "down": (inner, width),
    }
    return {
        name: (rng.standard_normal(shape) / shape[0] ** 0.5).astype("float32")
        for name, shape in shapes.items()
    }


def block(paddle, linear, width):
    """The block as a function of x [1, tokens, width]; `linear(name, x)` multiplies by a weight."""
    functional, size = paddle.nn.functional, width // HEADS

    def norm(x):
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)

    def rotated(x):
        place = paddle.arange(x.shape[1], dtype="float32").reshape([-1, 1])
        angle = place * paddle.exp(paddle.arange(0, size, 2, dtype="float32") * (-9.21 / size)).reshape(
            [1, -1]
        )
        cos, sin = (f(angle).reshape([1, x.shape[1], 1, size // 2]) for f in (paddle.cos, paddle.sin))
        first, second = x[..., : size // 2], x[..., size // 2 :]
        return paddle.concat([first * cos - second * sin, second * cos + first * sin], -1)

    def call(x):
        y, shape = norm(x), [1, x.shape[1], -1, size]
        q, k, v = (linear(name, y).reshape(shape) for name in "qkv")
        k, v = (t.repeat_interleave(GROUPS, 2) for t in (rotated(k), v))
        x = x + linear(
            "o", functional.scaled_dot_product_attention(rotated(q), k, v, is_causal=True).flatten(2)
        )
        y = norm(x)
        return x + linear("down", functional.silu(linear("gate", y)) * linear("up", y))

    return call


def variants(ours, width, whole):
    """(name, megabytes of weights, block)."""
    kept = {name: ours.to_tensor(w) for name, w in whole.items()}
    yield (
        "float32",
        sum(w.size * 4 for w in kept.values()) / 1e6,
        block(ours, lambda name, x: ours.nn.functional.linear(x, kept[name]), width),
    )
    for bits, group in ((8, -1), (8, 64), (4, 64)):
        packed = {
            name: ours.nn.quant.weight_quantize(w, f"weight_only_int{bits}", group_size=group)
            for name, w in kept.items()
        }

        def linear(name, x, packed=packed, bits=bits, group=group):
            weight, scale = packed[name]
            return ours.nn.quant.weight_only_linear(x, weight, None, scale, f"int{bits}", group_size=group)

        size = sum(t.size * t.element_size() for pair in packed.values() for t in pair) / 1e6
        yield f"int{bits}" + (f", groups of {group}" if group > 0 else ""), size, block(ours, linear, width)


def seconds(call, x, calls):
    start = time.perf_counter()
    for _ in range(calls):
        out = call(x)
    out.numpy()
    return (time.perf_counter() - start) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--tokens", default="1,64")
    parser.add_argument("--no-oracle", action="store_true")
    args = parser.parse_args()
    ours, whole = importlib.import_module("paddle_jax"), weights(args.width)
    made = [
        (name, size, ours.jit.to_static(call), ours) for name, size, call in variants(ours, args.width, whole)
    ]
    if not args.no_oracle:
        theirs = importlib.import_module("paddle")
        kept = {name: theirs.to_tensor(w) for name, w in whole.items()}
        call = block(theirs, lambda name, x: theirs.nn.functional.linear(x, kept[name]), args.width)
        made.append(("real Paddle, float32", made[0][1], call, theirs))
        theirs.set_grad_enabled(False)
    print("| block | tokens | weights, MB | largest error | mean error | ms | float32 / this |")
    print("| --- " * 7 + "|")
    with ours.no_grad():
        for tokens in map(int, args.tokens.split(",")):
            x = np.random.default_rng(1).standard_normal((1, tokens, args.width)).astype("float32")
            given = [engine.to_tensor(x) for *_, engine in made]
            results = [call(v).numpy() for (_, _, call, _), v in zip(made, given, strict=True)]
            wrong = [np.abs(r - results[0]) / (results[0] - x).std() for r in results]
            calls = 10 if tokens == 1 else 3
            times = np.min(
                [
                    [seconds(call, v, calls) for (_, _, call, _), v in zip(made, given, strict=True)]
                    for _ in range(7)
                ],
                0,
            )
            for (name, size, *_), error, took in zip(made, wrong, times, strict=True):
                errors = f"{error.max():.1e} | {error.mean():.1e}"
                print(
                    f"| {name} | {tokens} | {size:.0f} | {errors} | {took * 1e3:.2f} | "
                    f"{times[0] / took:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
