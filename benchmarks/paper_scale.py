"""Milliseconds that a step of a Llama-style model computes and sends at the full rate of real machines:
bounds from below, for docs/scaling.md.

    python benchmarks/paper_scale.py
    python benchmarks/paper_scale.py --parameters 70e9 --layers 80 --width 8192 --tokens 8192
"""

import argparse

# floating-point operations per second, bytes per second one way along the axis of tensor parallelism, and
# along that of data parallelism
MACHINES = {
    "TPU v5p": (459e12, 200e9, 200e9),
    "TPU v6e": (918e12, 200e9, 200e9),
    "TPU v5e": (197e12, 100e9, 100e9),
    "8 H100 a node": (989e12, 450e9, 50e9),
}


def bounds(machine, args, groups):
    """Seconds for computing, for sums of tensor parallelism and for what stage 3 sends; and the tokens from
    which on it hides."""
    rate, near, far = MACHINES[machine]
    ways, share = args.tensor, (groups - 1) / groups
    computing = 6 * args.parameters * args.tokens / ways / rate
    sums = 4 * args.layers * 2 * 2 * args.tokens * args.width * (ways - 1) / ways / near
    parts = 3 * 2 * args.parameters / ways * share / far
    return computing, sums, parts, parts / (computing / args.tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in {
        "parameters": 6.74e9,
        "layers": 32,
        "width": 4096,
        "tokens": 4096,
        "tensor": 8,
    }.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    args = parser.parse_args()
    print(
        "| machine | devices | computing | sums of tensor parallelism | stage 3 | tokens for each group "
        "from which stage 3 hides |"
    )
    print("| --- " * 6 + "|")
    for machine in MACHINES:
        for groups in (8, 32):
            computing, sums, parts, tokens = bounds(machine, args, groups)
            print(
                f"| {machine} | {groups * args.tensor} | {1e3 * computing:.0f} | {1e3 * sums:.0f} | "
                f"{1e3 * parts:.0f} | {tokens:.0f} |"
            )


if __name__ == "__main__":
    main()
