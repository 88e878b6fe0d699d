"""Training steps of DeepXDE's examples in paddle_jax, the real Paddle, DeepXDE's own JAX backend (one jitted
step) and PyTorch.

    python benchmarks/deepxde_steps.py [options of steps.py]

Each peer's interpreter has to have DeepXDE. `static` is paddle_jax after `model.train_step =
paddle.jit.to_static(model.train_step)`. The table is that of `steps.py`.
"""

import sys

import steps
from steps import HERE, Peer

LABELS = {
    "dde_burgers": "DeepXDE Burgers, 2780 points, 2nd derivative",
    "dde_poisson": "DeepXDE Poisson, 18 points, 2nd derivative",
    "dde_clamped": "DeepXDE beam with fixed ends, 12 points, 4th derivative",
    "dde_clamped500": "the same, 502 points",
    "dde_beam": "DeepXDE Euler beam, 16 points, 4th derivative",
    "dde_beam500": "the same, 506 points",
}


def peers(args):
    """All peers by name."""
    program, quiet = str(HERE / "deepxde_work.py"), ["-W", "ignore"]
    ours = {tier: {"FLAGS_deferred": tier, "DDE_BACKEND": "paddle"} for tier in ("sync", "off")}
    return {
        "ours": Peer(args.ours, ["-m", "paddle_jax", program], "deepxde", flags=ours["sync"]),
        "off": Peer(args.ours, ["-m", "paddle_jax", program], "deepxde", flags=ours["off"]),
        "static": Peer(
            args.ours,
            ["-m", "paddle_jax", program],
            "deepxde",
            flags=ours["sync"] | {"BENCHMARK_TO_STATIC": "1"},
        ),
        "oracle": Peer(
            args.oracle, [*quiet, program], "paddle", flags={"DDE_BACKEND": "paddle"}, compiles=False
        ),
        "jax": Peer(args.ours, [*quiet, program], "deepxde", flags={"DDE_BACKEND": "jax"}),
        "torch": Peer(
            args.torch, [*quiet, program], "torch", flags={"DDE_BACKEND": "pytorch"}, compiles=False
        ),
    }


if __name__ == "__main__":
    steps.peers, steps.LABELS, steps.STEPS = peers, LABELS, LABELS
    steps.RATIOS = [
        ("ours", "oracle"),
        ("static", "oracle"),
        ("static", "jax"),
        ("ours", "jax"),
        ("ours", "torch"),
        ("off", "ours"),
    ]
    steps.main(["--peers", "ours,static,oracle,jax", *sys.argv[1:]])
