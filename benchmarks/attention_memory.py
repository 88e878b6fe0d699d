"""Memory of attention by the length of the sequence: forward and backward, each length in a
process of its own.

    python benchmarks/attention_memory.py [--lengths 1024 2048 4096 8192] [--causal]

Prints for each length the peak of the process's memory beyond what it had before (MB), the seconds, and what
a whole matrix of scores takes (MB).
"""

import argparse
import os
import resource
import subprocess
import sys
import time

HEADS, WIDTH = 8, 64


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(length, causal):
    """Runs attention forward and backward once at a length; prints memory and seconds."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import paddle_jax as paddle

    def run(n):
        q, k, v = (paddle.rand([1, n, HEADS, WIDTH]) for _ in range(3))
        for t in (q, k, v):
            t.stop_gradient = False
        paddle.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal).sum().backward()
        return float(q.grad.sum()) + float(k.grad.sum()) + float(v.grad.sum())

    run(64)
    before, start = peak(), time.perf_counter()
    run(length)
    print(
        f"{length:6d}  {peak() - before:8.0f}  {time.perf_counter() - start:6.1f}  "
        f"{HEADS * length * length * 4 / 2**20:8.0f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lengths", type=int, nargs="+", default=[1024, 2048, 4096, 8192])
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--one", type=int)
    args = parser.parse_args()
    if args.one:
        measure(args.one, args.causal)
        return
    print("length   peak MB       s  scores MB")
    for length in args.lengths:
        subprocess.run(
            [sys.executable, __file__, "--one", str(length), *(["--causal"] if args.causal else [])],
            check=True,
        )


if __name__ == "__main__":
    main()
