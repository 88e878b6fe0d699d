"""What a child process of `devices.py` does: a part of the check of a device, a line of JSON for each result.

    python -m paddle_jax benchmarks/device_work.py DEVICE PART [NAME ...] [--fake] [--all-cases]

Parts: `facts`, `ops`, `kernels`, `curves`, `curves_static`. What the device computes is compared with what
paddle_jax computes on the CPU of the same machine; the tests compare that with the real Paddle.
"""

import argparse
import json
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import paddle

from paddle_jax._core.base.errors import first_line

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the cases of the tests

STEPS = 10  # of a training curve
CURVES = ("mlp", "lenet", "resnet18", "transformer", "lstm", "burgers", "beam", "adam1000")
KINDS = (r".", r"\b(c|c128)\(", r"\b(d|ud|pos_d)\(")  # any case, one of complex numbers, one of float64
# (name, shape of the queries, heads of the keys, dtype, causal, with a mask)
ATTENTION = (
    ("causal", (2, 256, 4, 64), 4, "bfloat16", True, False),
    ("causal, shared heads of keys", (2, 256, 4, 64), 2, "bfloat16", True, False),
    ("mask", (2, 256, 4, 64), 4, "float16", False, True),
    ("width 128", (1, 512, 2, 128), 2, "bfloat16", True, False),
    ("float32", (2, 256, 4, 64), 4, "float32", True, False),
)


def described(error):
    """The class and the first line of an exception."""
    return f"{type(error).__name__}: {first_line(error)}"[:300]


def facts(device):
    """The chip and the versions."""
    import jax
    import jaxlib

    from paddle_jax._core.ops.op import OPS

    chips = [each for each in jax.local_devices() if each.platform != "cpu"] or jax.local_devices()
    stats = chips[0].memory_stats() or {}
    yield {
        "name": "facts",
        "device": device,
        "chip": chips[0].device_kind,
        "count": len(chips),
        "memory": stats.get("bytes_limit", 0),
        "runtime": chips[0].client.platform_version.splitlines()[0],
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "python": sys.version.split()[0],
        "names": {
            "ops": sorted(OPS),
            "kernels": [name for name, *_ in ATTENTION],
            "curves": CURVES,
            "curves_static": CURVES,
        },
    }


def on_host(call):
    """What a call gives with new Tensors on the CPU."""
    paddle.set_device("cpu")
    return call()


def on_device(device, call):
    """What a call gives with new Tensors on a device, by XLA also where that is the CPU."""
    before = paddle.get_flags("FLAGS_interpreter")
    paddle.set_device(device)
    paddle.set_flags({"FLAGS_interpreter": False})
    try:
        return call()
    finally:
        paddle.set_flags(before)
        paddle.set_device("cpu")


def cases_of(name, every):
    """Texts of the arguments of an op."""
    from paddle_jax._core.ops.op import OPS

    cases = OPS[name].cases
    if every:
        return list(cases)
    chosen = [next((case for case in cases if re.search(kind, case.lstrip("~ "))), None) for kind in KINDS]
    return list(dict.fromkeys(case for case in chosen if case is not None))


def ops(device, names, every):
    """Each op: how many cases agree, and what does not."""
    import paddle_jax
    from tests.ops import harness, table

    for name in names:
        function = table.find(paddle_jax, table.public_path(name))
        wrong = []
        counted = 0
        begin = time.perf_counter()
        for case in cases_of(name, every):
            text = case.lstrip("~ ")
            verdict = compared(harness, paddle_jax, function, device, text, not case.startswith("~"))
            if verdict is not None:
                counted = counted + 1
            if verdict:
                wrong.append([text, verdict])
        yield {"name": name, "cases": counted, "wrong": wrong, "seconds": time.perf_counter() - begin}


def compared(harness, module, function, device, case, values):
    """How a case on a device differs from the CPU: "" if it does not, None where the CPU refuses it."""

    def results():
        paddle.seed(1)
        result = harness.evaluate(module, function, case)
        grads = None
        if result.error is None and values:
            grads = harness.first_gradient(module, result)
            grads = None if grads is None else [None if g is None else g.cpu() for g in grads]
        return result, grads

    want, want_grads = on_host(results)
    if want.error is not None:
        return None
    try:
        found, grads = on_device(device, results)
    except Exception as error:
        return described(error)
    if found.error is not None:
        return described(found.error)
    text = harness.compare_outputs(found, want, values)
    if not text and grads is not None and want_grads is not None:
        text = harness.compare_gradients(grads, want_grads)
    return text or ""


def kernels(device, names, every):
    """Attention, which is a kernel of the platform, with gradients, against the plain formula in float32."""
    for name, shape, heads, dtype, causal, masked in ATTENTION:
        if name not in names:
            continue
        rng = np.random.default_rng(0)
        keys = (shape[0], shape[1], heads, shape[3])
        arrays = [rng.normal(size=each).astype("float32") for each in (shape, keys, keys, shape)]
        mask = rng.random((shape[0], 1, shape[1], shape[1])) < 0.7

        def attention(dtype, arrays=arrays, mask=mask, causal=causal, masked=masked):
            q, k, v, ct = (paddle.to_tensor(array).astype(dtype) for array in arrays)
            for each in (q, k, v):
                each.stop_gradient = False
            mask = paddle.to_tensor(mask) if masked else None
            out = paddle.nn.functional.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
            grads = paddle.grad([out], [q, k, v], grad_outputs=[ct])
            return [each.astype("float32").numpy() for each in (out, *grads)]

        want = on_host(lambda attention=attention: attention("float32"))
        try:
            found = on_device(device, lambda attention=attention, dtype=dtype: attention(dtype))
        except Exception as error:
            yield {"name": name, "dtype": dtype, "error": described(error)}
            continue
        worst = max(
            float(np.max(np.abs(a - b)) / max(1e-6, np.max(np.abs(b))))
            for a, b in zip(found, want, strict=True)
        )
        yield {"name": name, "dtype": dtype, "shape": list(shape), "difference": worst}


def curve(build):
    """Losses of the first steps of a workload."""
    paddle.seed(7)
    np.random.seed(7)
    work = build()
    return [float(np.sum(work.read(work.step()))) for _ in range(STEPS)]


def curves(device, names, every, static=False):
    """Losses of the workloads on the device and on the CPU."""
    import paddle_work

    for name in names:
        build = paddle_work.WORKLOADS[name]
        if static:
            build = lambda build=build: paddle_work.through_to_static(build)  # noqa: E731
        want = on_host(lambda name=name: curve(paddle_work.WORKLOADS[name]))
        try:
            found = on_device(device, lambda build=build: curve(build))
        except Exception as error:
            yield {"name": name, "error": described(error)}
            continue
        worst = max(abs(a - b) / max(abs(b), 1e-6) for a, b in zip(found, want, strict=True))
        yield {"name": name, "first": found[0], "last": found[-1], "difference": worst}


def curves_static(device, names, every):
    """As `curves`, each step through `to_static` on the device."""
    return curves(device, names, every, static=True)


PARTS = {"ops": ops, "kernels": kernels, "curves": curves, "curves_static": curves_static}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("device")
    parser.add_argument("part", choices=["facts", *PARTS])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--all-cases", action="store_true")
    args = parser.parse_args()
    if args.fake:
        from tests.device import fake_accelerators

        fake_accelerators.install(args.device)
    paddle.set_device(args.device)  # refused here where there is none
    if args.part == "facts":
        results = facts(args.device)
    else:
        results = PARTS[args.part](args.device, args.names, args.all_cases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for result in results:
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
