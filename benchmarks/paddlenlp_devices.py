"""PaddleNLP's tiny Llama on eight devices of one process: losses of every split and of one device.

`python -m paddle_jax benchmarks/paddlenlp_devices.py` in an environment of `paddlenlp_llama.py`. The devices
are stand-ins on the CPU. The files of PaddleNLP are not changed.
"""

from __future__ import annotations

import os
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["NPROC"] = "64"  # threads for eight devices

import numpy as np
import paddle
import paddle.distributed as dist
from paddle.distributed import fleet
from paddlenlp.transformers import LlamaForCausalLM, LlamaForCausalLMPipe
from paddlenlp_llama import llama_config

STEPS, ROWS, LENGTH, MICRO_BATCHES = 12, 8, 16, 2
FLEET = [
    {"dp": 2, "pp": 2, "sharding": 2},
    {"dp": 4, "pp": 2},
    {"dp": 2, "sharding": 4},
]
PARALLELIZE = [
    ((4, 2), ["dp", "mp"], 0),
    ((4, 2), ["dp", "mp"], 1),
    ((2, 2, 2), ["dp", "pp", "mp"], 0),
    ((2, 2, 2), ["dp", "pp", "mp"], 1),
]
COLUMNS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
ROW_PARTS = ("self_attn.o_proj", "mlp.down_proj")


def tokens(step: int) -> paddle.Tensor:
    return paddle.to_tensor(np.random.RandomState(step).randint(0, 72, (ROWS, LENGTH + 1)))


def fresh(kind: type, weights: str) -> tuple:
    """A model with the weights of a folder, and its optimizer."""
    net = kind.from_pretrained(weights, config=llama_config(), dtype="float32")
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    return net, paddle.optimizer.AdamW(1e-3, parameters=net.parameters(), grad_clip=clip)


def train(net: paddle.nn.Layer, optimizer: object) -> np.ndarray:
    """The loss of each step."""
    losses = []
    for step in range(STEPS):
        batch = tokens(step)
        loss = net(batch[:, :-1], labels=batch[:, 1:])
        loss = loss[0] if isinstance(loss, tuple) else loss
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return np.array(losses)


def by_fleet(weights: str, degrees: dict[str, int]) -> np.ndarray:
    """The losses of a job of `fleet`; a pipeline where there are stages."""
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {f"{name}_degree": count for name, count in degrees.items()}
    replicas = degrees["dp"] * degrees.get("sharding", 1)
    rows = ROWS // MICRO_BATCHES // replicas
    strategy.pipeline_configs = {"accumulate_steps": MICRO_BATCHES, "micro_batch_size": rows}
    fleet.init(is_collective=True, strategy=strategy)
    is_pipeline = "pp" in degrees
    net, optimizer = fresh(LlamaForCausalLMPipe if is_pipeline else LlamaForCausalLM, weights)
    model = fleet.distributed_model(net)
    optimizer = fleet.distributed_optimizer(optimizer)
    if not is_pipeline:
        return train(model, optimizer)
    losses = []
    for step in range(STEPS):
        batch = tokens(step)
        losses.append(float(model.train_batch([batch[:, :-1], batch[:, 1:]], optimizer)))
    return np.array(losses)


def by_parallelize(weights: str, shape: tuple[int, ...], names: list[str], level: int) -> np.ndarray:
    """The losses after `dist.parallelize`.

    Args:
        weights: folder of the first weights.
        shape: of the mesh.
        names: of its dimensions.
        level: which states are divided over "dp".
    """
    mesh = dist.ProcessMesh(np.arange(8).reshape(shape), names)
    plan = {f"llama.layers.*.{name}": dist.ColWiseParallel() for name in COLUMNS}
    plan |= {f"llama.layers.*.{name}": dist.RowWiseParallel() for name in ROW_PARTS}
    plan |= {"llama.embed_tokens": dist.RowWiseParallel(), "lm_head.weight": dist.ColWiseParallel()}
    config: dict = {"dp_config": {"sharding_level": level}, "mp_config": {"parallelize_plan": plan}}
    if "pp" in names:
        config["pp_config"] = {"split_spec": "llama.layers"}
    return train(*dist.parallelize(*fresh(LlamaForCausalLM, weights), mesh, config))


def main() -> None:
    paddle.set_device("cpu")
    with tempfile.TemporaryDirectory() as weights:
        LlamaForCausalLM.from_config(llama_config(), dtype="float32").save_pretrained(weights)
        expected = train(*fresh(LlamaForCausalLM, weights))
        print("one device", *expected.round(6))
        for degrees in FLEET:
            found = by_fleet(weights, degrees)
            title = ", ".join(f"{name} {count}" for name, count in degrees.items())
            print(f"fleet, {title}: {np.abs(found / expected - 1).max():.1e}", flush=True)
        for shape, names, level in PARALLELIZE:
            found = by_parallelize(weights, shape, names, level)
            sizes = ", ".join(f"{name} {count}" for name, count in zip(names, shape, strict=True))
            title = f"parallelize, {sizes}, level {level}"
            print(f"{title}: {np.abs(found / expected - 1).max():.1e}", flush=True)


if __name__ == "__main__":
    main()
