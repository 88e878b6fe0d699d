"""Memory and time of attention for chips that are not there, forward and backward, by length and dtype.

    python benchmarks/aot_attention.py [--target h100] [--lengths 4096 32768] [--plain] [--dropout 0.1]

Prints a row of docs/aot.md for each. --plain: by the plain formula in blocks, not by fused kernels. The
compilers must be installed (docs/aot.md).
"""

import argparse

import paddle_jax as paddle
from paddle_jax import aot
from paddle_jax._core.base.report_text import size_text
from paddle_jax.aot.report import time_text
from paddle_jax.nn.functional import fused_attention, sdpa
from paddle_jax.static import InputSpec

HEADS = 8
WIDTH = 128


def row(length, dtype, target, dropout):
    """The row of a length on a target."""

    def step(q, k, v):
        for operand in (q, k, v):
            operand.stop_gradient = False
        attend = paddle.nn.functional.scaled_dot_product_attention
        y = attend(q, k, v, dropout_p=dropout, is_causal=True)
        return paddle.grad(y.sum(), [q, k, v])

    operands = [InputSpec([1, length, HEADS, WIDTH], dtype)] * 3
    report = aot.compile(step, *operands, target=target)
    if not report.compiles:
        return f"| {length} | {dtype} | {target} | {report.error} | | | |"
    fused = "fmha" in report.text or "tpu_custom_call" in report.text
    cells = [
        str(length),
        dtype,
        target,
        "fused" if fused else "plain",
        size_text(report.temporaries),
        size_text(report.bytes),
        time_text(report.seconds or 0.0),
    ]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append")
    parser.add_argument("--lengths", type=int, nargs="+", default=[4096, 32768])
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "float32"])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--dropout", type=float, default=0.0)
    options = parser.parse_args()
    if options.plain:
        sdpa.is_fusible = fused_attention.is_fusible = lambda *operands: False
    for target in options.target or ["h100", "v5e"]:
        for dtype in options.dtypes:
            for length in options.lengths:
                print(row(length, dtype, target, options.dropout), flush=True)


if __name__ == "__main__":
    main()
