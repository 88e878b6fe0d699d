"""`paddle_jax.distributed.plan` says what a compiled step needs and sends."""

import contextlib

import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax._core.lazy.devices import lowered_for
from paddle_jax.aot import capture
from paddle_jax.aot.chips import CHIPS
from paddle_jax.aot.collectives import collectives
from paddle_jax.aot.hlo import parse
from paddle_jax.distributed import Replicate, Shard, shard_tensor
from tests.distributed.eight.model import MESH, VOCABULARY, make, tokens

DATA = np.ones((64, 64), "float32")


def kinds(plan):
    return {(c.kind, c.group): c.nbytes for c in plan.collectives}


def test_collectives_of_one_operation():
    x, w = shard_tensor(DATA, MESH, [Shard(0), Shard(1)]), shard_tensor(DATA, MESH, [Replicate(), Shard(0)])
    found = dist.plan(lambda a, b: a @ b, x, w)
    # [32, 64] on each device, 2 (n - 1) / n of it
    assert kinds(found) == {("all-reduce", 4): 2 * 3 * 32 * 64 * 4 // 4}
    assert found.collectives[0].op == "matmul" and found.collectives[0].where.partition(":")[0].endswith(
        "check_plans.py"
    )
    assert (
        found.arguments == 32 * 16 * 4 + 16 * 64 * 4 and found.results == 32 * 64 * 4 and found.devices == 8
    )
    assert not found.warnings and found.moved == found.collectives[0].nbytes
    ((name, shape, layout, where),) = found.ops
    assert (name, shape, list(layout.placements)) == (
        "matmul",
        (64, 64),
        [Shard(0), Replicate()],
    ) and where == found.collectives[0].where


def test_gathers_are_remarked_on():
    x = shard_tensor(DATA, MESH, [Shard(0), Replicate()])
    found = dist.plan(lambda a: dist.reshard(a, MESH, [Replicate(), Replicate()]) + 1, x)
    assert kinds(found) == {("all-gather", 2): 64 * 64 * 4 // 2}
    assert len(found.warnings) == 1 and "gathers 16.0 KiB" in found.warnings[0]
    assert (
        "Warning" in repr(found)
        and "<th style" in found._repr_html_()
        and "<b>Warning:</b>" in found._repr_html_()
    )
    with pytest.raises(TypeError, match="plan: step: got int"):
        dist.plan(3)
    assert not dist.plan(lambda a: a + 1, x).collectives


def test_results_whose_axes_do_not_divide():
    x = shard_tensor(np.ones((2, 24), "float32"), MESH, [Replicate(), Shard(1)])
    found = dist.plan(lambda a: a.reshape([2, 6, 4]) * 2, x)
    assert found.arguments == 48 and (found.ops or "not known" in found.warnings[0])


def test_nothing_runs_and_memory_falls_from_stage_to_stage():
    held = {}
    for stage in (None, 1, 3):
        net, optimizer = make(MESH, stage)
        batch = shard_tensor(tokens(1)[0], MESH, [Shard(0)])

        def step(batch):
            logits = net(batch[:, :-1])  # noqa: B023
            loss = paddle.nn.functional.cross_entropy(
                logits.reshape([-1, VOCABULARY]), batch[:, 1:].reshape([-1])
            )
            loss.backward()
            optimizer.step()  # noqa: B023
            optimizer.clear_grad()  # noqa: B023
            return loss

        before = net.head.weight.numpy()
        found = held[stage] = dist.plan(step, batch)
        assert np.array_equal(net.head.weight.numpy(), before) and net.head.weight.grad is None
        assert found.shared > 0.5 * found.arguments  # parameters and states are replaced
        assert net.head.weight.name in {row[0] for row in found.tensors}
    assert held[3].arguments < held[1].arguments < held[None].arguments
    assert any(c.kind == "all-gather" for c in held[3].collectives)


def test_compiled_models():
    net, optimizer = make(MESH)
    model = dist.to_static(
        net,
        None,
        lambda out, y: paddle.nn.functional.cross_entropy(out.reshape([-1, VOCABULARY]), y.reshape([-1])),
        optimizer,
    )
    batch = shard_tensor(tokens(1)[0], MESH, [Shard(0)])
    with pytest.raises(ValueError, match="no mode"):
        dist.plan(model, batch)
    model.predict()
    assert dist.plan(model, batch[:, :-1]).arguments > 0


TEXT = """
%body (x: f32[8]) -> f32[8] {
  %v = f32[8]{0} while(%x), condition=%c, body=%inner, backend_config={"known_trip_count":{"n":"3"}}
}
%inner (x: f32[8]) -> f32[8] {
  %a = f32[8]{0} all-reduce(f32[8] %x), channel_id=1, replica_groups=[2,4]<=[8], to_apply=%add, metadata={op_name="jit(f)/paddle.tanh.0/mul"}
}
ENTRY %main (x: f32[8]) -> f32[8] {
  %w = f32[8]{0} while(%x), condition=%c, body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %g = (f32[2]{0}, f32[8]{0}) all-gather-start(f32[2] %x), replica_groups={{0,1,2,3},{4,5,6,7}}, dimensions={0}
  %d = f32[8]{0} all-gather-done(%g)
  %s = bf16[2]{0} reduce-scatter(bf16[8] %x), replica_groups={{0,1,2,3}}, to_apply=%add
  %m = f32[8]{0} all-to-all(f32[8] %x), replica_groups=mesh['a'=2,'b'=8] {'a','b':(1)4}, dimensions={0}
  %p = f32[8]{0} collective-permute(f32[8] %x), source_target_pairs={{0,1},{1,0}}
  %o = f32[8]{0} all-reduce(f32[8] %x), replica_groups={{0},{1}}, to_apply=%add
}
"""  # noqa: E501


def test_counting():
    found = {c.kind: c for c in collectives(parse(TEXT), ["here.py:3"])}
    summed = found["all-reduce"]
    assert (summed.count, summed.nbytes, summed.op, summed.where) == (15, 15 * 48, "tanh", "here.py:3")
    assert (found["all-gather"].count, found["all-gather"].nbytes) == (1, 24)
    assert (found["reduce-scatter"].nbytes, found["reduce-scatter"].group) == (12, 4)
    assert (found["all-to-all"].nbytes, found["all-to-all"].group) == (28, 8)
    assert (found["collective-permute"].nbytes, len(found)) == (32, 5)


def test_parameters_without_values():
    """A step with ShardingStage3 of a network made under LazyGuard, for GPUs: its operands are those of one
    with values, each device runs the fused kernel with its part, and the values that come later are the same.
    """
    mesh = dist.ProcessMesh(np.arange(8), dim_names=["dp"])
    x = shard_tensor(np.ones((8, 64, 64), "float32"), mesh, [Shard(0)])
    found, values = [], []
    for guard in (contextlib.nullcontext(), paddle.LazyGuard()):
        paddle.seed(0)
        with guard:
            net = paddle.nn.Linear(64, 3 * 64)
        adam = paddle.optimizer.AdamW(parameters=net.parameters())
        net, adam = dist.parallelize(net, adam, mesh, {"dp_config": {"sharding_level": 3}})

        def step(x, net=net, adam=adam):
            with paddle.amp.auto_cast(dtype="bfloat16"):
                q, k, v = net(x).reshape([8, 64, 1, 192]).chunk(3, axis=3)
            loss = paddle.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum()
            loss.backward()
            adam.step()
            adam.clear_grad()
            return loss

        traced = capture.trace(step, [x], {}, "cuda")
        with lowered_for(CHIPS["h100"].capability):
            text = traced.traced.lower(lowering_platforms=("cuda",)).as_text()
        assert "__cudnn$fmhaSoftmax" in text
        found.append([(x.shape, x.dtype, x.sharding.devices_indices_map(x.shape)) for x in traced.operands])
        for parameter in net.parameters():
            if not parameter._is_initialized():
                parameter.initialize()
        assert net.weight.placements == [Shard(0)]
        values.append(net.weight.numpy())
    assert found[0] == found[1]
    np.testing.assert_array_equal(*values)
