"""Pipelines: schedules as Paddle's, messages between stages, and training over processes as in one."""

import json
import os
import time
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import numpy as np
import pytest

import paddle_jax
from paddle_jax.distributed import fleet, schedules
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.segments import SegmentLayers
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.p2p_communication import packed, unpacked
from paddle_jax.distributed.schedules import BACKWARD, FORWARD, Pipeline
from tests.distributed import pairs

KINDS = [schedules.forward_then_backward, schedules.one_forward_one_backward, schedules.interleaved]
CASES = [
    "plain",
    "tied",
    "tuples",
    "chunks",
    "by name",
    "recompute",
    "scaler",
    "delayed",
    "iterator",
    "by hand",
]


def theirs(cls, pipeline, stage):
    """What Paddle's `get_static_scheduler` gives, without devices or processes."""
    one = MagicMock()
    one.num_stages, one.accumulate_steps, one.num_model_chunks = pipeline[:3]
    one._virtual_pp_world_size = pipeline.chunks
    one.stage_id = stage
    one.processed_steps = 100
    one._using_cache = True
    for name in (
        "_profiling",
        "_best_unbalanced_scheduler",
        "_enable_timer",
        "_comm_overlap",
        "_overlap_p2p_comm",
    ):
        setattr(one, name, False)
    one.is_pipeline_first_stage = lambda *a, **k: stage == 0
    one.is_pipeline_last_stage = lambda *a, **k: stage == pipeline.stages - 1
    one._forward_micro_step_counter = dict.fromkeys(range(pipeline.chunks), 0)
    one._backward_micro_step_counter = dict.fromkeys(range(pipeline.chunks), 0)
    one._get_virtual_pp_rank = lambda step, forward: cls._get_virtual_pp_rank(one, step, forward)
    return cls.forward_backward_pipeline(one, None, None, static_scheduler=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stages", range(2, 9))
def test_schedules_are_paddles(oracle, stages):
    pipelines = oracle.distributed.fleet.meta_parallel.pipeline_parallel
    for micro_batches in range(1, 17):
        for stage in range(stages):
            plain = Pipeline(stages, micro_batches)
            ours = schedules.one_forward_one_backward(plain, stage)
            assert schedules.text(ours, 1) == theirs(pipelines.PipelineParallel, plain, stage)
            for chunks in (2, 3) if micro_batches >= 2 * stages else ():
                several = Pipeline(stages, micro_batches, chunks)
                ours = schedules.interleaved(several, stage)
                cls = pipelines.PipelineParallelWithInterleave
                assert schedules.text(ours, chunks) == theirs(cls, several, stage)


def folded_of_paddle(cls, pipeline, stage):
    """The steps of Paddle's DualPipeV, without devices or processes; s is a backward step without weights."""
    one = MagicMock()
    one.group_rank, one.num_ranks, one.accumulate_steps = stage, pipeline.stages, pipeline.micro_batches
    one.is_pipeline_last_stage = lambda: stage == pipeline.stages - 1
    steps = []
    one._forward_pass = lambda phase, *a, **k: steps.append(f"f{phase}")
    one._backward_pass = lambda phase, enable_zb=False, **k: steps.append(
        f"{'s' if enable_zb else 'b'}{phase}"
    )
    one._forward_backward_pass = lambda forward, backward, *a, **k: steps.extend(
        [f"f{forward}", f"b{backward}"]
    )
    one._weight_pass = lambda: steps.append("w")
    cls.forward_backward_pipeline(one, None, None)
    return steps


@pytest.mark.parametrize("stages", range(1, 7))
def test_folded_schedules_are_paddles_and_end(oracle, stages):
    paddles = oracle.distributed.fleet.meta_parallel.DualPipeVParallel
    for micro_batches in range(2 * stages, 3 * stages + 3):
        pipeline = Pipeline(stages, micro_batches, 2, is_folded=True)
        lists = [schedules.dual_pipe_v(pipeline, stage) for stage in range(stages)]
        assert len(list(schedules.all_stages(pipeline, lists))) == sum(map(len, lists))
        for stage, steps in enumerate(lists):
            late = [step[1:] for step in steps if step.kind == "w"]
            words = [
                "w"
                if step.kind == "w"
                else f"{'s' if step.kind == 'b' and step[1:] in late else step.kind}{step.chunk}"
                for step in steps
            ]
            assert words == folded_of_paddle(paddles, pipeline, stage)
            for kind in "fb":
                each = [step[1:] for step in steps if step.kind == kind]
                assert sorted(each) == [
                    (chunk, number) for chunk in range(2) for number in range(micro_batches)
                ]
    with pytest.raises(AssertionError, match=f"it must be {2 * stages} at least"):
        schedules.dual_pipe_v(Pipeline(stages, 2 * stages - 1, 2, is_folded=True), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_schedules_end_whatever_the_sizes(kind):
    """Each step runs once, when what it needs has come; all stages reach their ends."""
    for stages in range(2, 6):
        for chunks in (1, 2, 3) if kind is not schedules.one_forward_one_backward else (1,):
            for micro_batches in range(stages, 3 * stages + 2):
                pipeline = Pipeline(stages, micro_batches, chunks)
                done = run_through(kind, pipeline)
                assert len(done) == 2 * stages * chunks * micro_batches
                lists = [kind(pipeline, stage) for stage in range(stages)]
                order = list(schedules.all_stages(pipeline, lists))
                assert [[step for at, step in order if at == stage] for stage in range(stages)] == lists


def test_schedules_that_do_not_fit_are_refused():
    first = [schedules.Step(FORWARD, 0, 1), schedules.Step(FORWARD, 0, 0)]
    last = [schedules.Step(FORWARD, 0, 0), schedules.Step(BACKWARD, 0, 0)]
    assert len(list(schedules.all_stages(Pipeline(2, 2), [first, last]))) == 4
    with pytest.raises(AssertionError, match="no stage can go on"):
        list(schedules.all_stages(Pipeline(2, 2), [[first[0], schedules.Step(BACKWARD, 0, 0)], last]))


def run_through(kind, pipeline):
    """The steps of all stages that can run: {(kind, part of the model, micro-batch)}."""
    waiting = [list(kind(pipeline, stage)) for stage in range(pipeline.stages)]
    last = pipeline.stages * pipeline.chunks - 1
    done = set()
    moved = True
    while moved:
        moved = False
        for stage, steps in enumerate(waiting):
            while steps:
                step = steps[0]
                part = step.chunk * pipeline.stages + stage
                if step.kind == FORWARD:
                    ready = part == 0 or (FORWARD, part - 1, step.micro_batch) in done
                else:
                    ready = (FORWARD, part, step.micro_batch) in done
                    ready &= part == last or (BACKWARD, part + 1, step.micro_batch) in done
                if not ready:
                    break
                done.add((step.kind, part, step.micro_batch))
                steps.pop(0)
                moved = True
    return done


@pytest.mark.parametrize("kind", [schedules.one_forward_one_backward, schedules.zero_bubble])
def test_few_micro_batches_are_kept(kind):
    """Until their backward step; and few wait for their weight step."""
    for stages in range(2, 9):
        for stage in range(stages):
            alive = most = waiting = 0
            for step in kind(Pipeline(stages, 16), stage):
                alive += {FORWARD: 1, BACKWARD: -1}.get(step.kind, 0)
                waiting += {BACKWARD: 1, schedules.WEIGHT: -1}.get(step.kind, 0)
                most = max(most, alive)
                assert kind is schedules.one_forward_one_backward or waiting <= stage + 1
            assert most == stages - stage


def test_zero_bubble_fills_the_time_of_waiting():
    """With steps of equal length a pipeline takes 3 m + p - 1 of them: the bubble is (p - 1) / (3 m)."""
    for stages in range(2, 9):
        for micro_batches in (stages, stages + 1, 2 * stages, 16):
            pipeline = Pipeline(stages, micro_batches)
            lists = [schedules.zero_bubble(pipeline, stage) for stage in range(stages)]
            ended = {}
            free = [0] * stages
            for stage, step in schedules.all_stages(pipeline, lists):
                needed = [free[stage]]
                if step.kind == FORWARD:
                    needed.append(ended.get((FORWARD, stage - 1, step.micro_batch), 0))
                elif step.kind == BACKWARD:
                    needed.append(ended.get((BACKWARD, stage + 1, step.micro_batch), 0))
                free[stage] = ended[step.kind, stage, step.micro_batch] = max(needed) + 1
            assert max(free) == 3 * micro_batches + stages - 1
            assert all(sorted(set(steps)) == sorted(steps) for steps in lists)
            assert all(len(steps) == 3 * micro_batches for steps in lists)


class Block(paddle_jax.nn.Layer):
    pass


@pytest.mark.parametrize(
    "method", ["uniform", "layer:Block", "layer:linear", [0, 3], [0, 2, 5], [0, 9], [1, 2]]
)
@pytest.mark.parametrize(("parts", "chunks"), [(1, None), (2, None), (3, None), (4, None), (2, 2)])
def test_segments_are_paddles(oracle, method, parts, chunks):
    """The same bounds, or the same class of error."""

    def bounds(module, cls):
        block = type("Block", (module.nn.Layer,), {})
        layers = [module.nn.Linear(1, 1), block(), block(), len, block(), block(), module.nn.ReLU()]
        try:
            return cls(layers, parts, method, chunks).do_segment()
        except (AssertionError, ValueError) as error:
            return AssertionError if isinstance(error, AssertionError) else ValueError

    theirs = oracle.distributed.fleet.meta_parallel.parallel_layers.pp_layers.SegmentLayers
    assert bounds(paddle_jax, SegmentLayers) == bounds(oracle, theirs)


def test_messages_arrive_as_they_were():
    x = paddle_jax.to_tensor([[1.0, 2.0]], stop_gradient=False)
    value = {"x": x, "more": (paddle_jax.to_tensor([3], dtype="int64"), None, 2, "text"), "empty": []}
    value["half"] = paddle_jax.to_tensor([0.5, 1.5], dtype="bfloat16")
    value["none"] = paddle_jax.zeros([0, 3])
    found = unpacked(packed(value))
    assert list(found) == list(value)
    np.testing.assert_array_equal(found["x"].numpy(), x.numpy())
    assert not found["x"].stop_gradient and found["half"].stop_gradient
    assert found["more"][0].dtype == paddle_jax.int64 and found["more"][1:] == (None, 2, "text")
    assert found["half"].dtype == paddle_jax.bfloat16 and found["half"].tolist() == [0.5, 1.5]
    assert found["none"].shape == [0, 3] and found["empty"] == []
    with pytest.raises(TypeError, match="a stage gives object"):
        packed((object(),))


def test_a_pipeline_of_one_stage():
    strategy = fleet.DistributedStrategy()
    strategy.pipeline_configs = {"accumulate_steps": 2, "micro_batch_size": 3}
    fleet.init(is_collective=True, strategy=strategy)
    described = fleet.meta_parallel.LayerDesc(paddle_jax.nn.Linear, 2, 1)
    mean = lambda output, label: ((output - label) ** 2).mean()  # noqa: E731
    net = fleet.meta_parallel.PipelineLayer([described], num_stages=1, loss_fn=[mean, mean])
    model = fleet.distributed_model(net)
    assert type(model).__name__ == "NoPipelineParallel"
    data = [paddle_jax.ones([6, 2]), paddle_jax.zeros([6, 1])]
    losses = model.forward_backward_pipeline(data, return_micro_batch_loss=True)
    assert [one.shape for one in losses] == [[2], [2]]
    with pytest.raises(AssertionError, match="batch of 5"):
        model.forward_backward_pipeline([paddle_jax.ones([5, 2]), data[1]])
    with pytest.raises(AssertionError, match="ended after 1"):
        model.forward_backward_pipeline(iter([(data[0][:3], data[1][:3])]))
    with pytest.raises(AssertionError, match="loss_fn_idx: got 2"):
        model.train_batch(data, None, loss_fn_idx=2)


def test_the_same_weights_for_any_number_of_stages():
    """Layer i is made with the seed 1234 + i; random numbers outside go on as before."""
    described = fleet.meta_parallel.LayerDesc(paddle_jax.nn.Linear, 3, 3)
    paddle_jax.seed(5)
    wanted = paddle_jax.rand([2]).numpy()
    paddle_jax.seed(5)
    net = fleet.meta_parallel.PipelineLayer([described, described], num_stages=1)
    np.testing.assert_array_equal(paddle_jax.rand([2]).numpy(), wanted)
    for index in range(2):
        paddle_jax.seed(1234 + index)
        np.testing.assert_array_equal(net.run_function[index].weight.numpy(), described.build_layer().weight)


def trained(count, *cases, seconds=120, **environment):
    """What the processes of a pipeline have found: a dict of cases each."""
    more = {name: str(value) for name, value in environment.items()}
    ended = pairs.run("pipelines.py", "paddle_jax", *cases, count=count, seconds=seconds, **more)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def alone():
    return trained(1, *CASES, "folded", STAGES=1)[0]


@pytest.mark.slow
def test_two_stages_train_as_one(alone):
    split = [f"{case}, split" for case in ("tuples", "scaler", "recompute")]
    found = trained(2, *CASES, *split, "folded")
    for one in found:
        for name in ("losses", "evaluated"):
            np.testing.assert_allclose(one["folded"][name], alone["folded"][name], rtol=1e-5)
        assert one["folded"]["class"] == "DualPipeVParallel" and "w3_vp0;" in one["folded"]["schedule"]
    for case in split:
        plain = case.removesuffix(", split")
        for one in found:
            np.testing.assert_allclose(one[case]["losses"], alone[plain]["losses"], rtol=1e-5)
            assert one[case]["class"] == "ProcessZeroBubblePipeline" and "w0" in one[case]["schedule"]
    names = ["input_tensor", "output_tensor", "output_tensor_grad", "step_id"]
    for one in found:  # 5 steps of 4 micro-batches, and two evaluations
        called = one["plain"]["hooks"]
        assert called.count(["forward_begin", "input_tensor", "step_id"]) == 28
        assert called.count(["forward_end", "input_tensor", "output_tensor", "step_id"]) == 28
        assert called.count(["backward_begin", *names]) == 20
        assert called.count(["backward_end", "input_tensor", "input_tensor_grad", *names[1:]]) == 20
    for case in CASES:
        for rank in range(2):
            np.testing.assert_allclose(found[rank][case]["losses"], alone[case]["losses"], rtol=1e-5)
            np.testing.assert_allclose(found[rank][case]["evaluated"], alone[case]["evaluated"], rtol=1e-5)
        names = [set(found[rank][case]["names"]) for rank in range(2)]
        if case != "chunks":
            assert names[0] | names[1] == set(alone[case]["names"])
    assert "4.0.linear.weight" in found[1]["chunks"]["names"]
    assert found[0]["chunks"]["class"] == "PipelineParallelWithInterleave"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["1F1B", "ZB-H1"])
def test_two_stages_in_one_process_train_as_one(alone, mode):
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
    cases = [case for case in CASES if mode == "1F1B" or case != "chunks"]
    found = trained(1, *cases, "folded", XLA_FLAGS=flags, NPROC="64", STAGES=2, MODE=mode)[0]
    for case in [*cases, "folded"]:
        for name in ("losses", "evaluated"):
            np.testing.assert_allclose(found[case][name], alone[case][name], rtol=1e-5)
        if case == "plain" and mode == "1F1B":  # both stages in this process
            assert [one[0] for one in found[case]["hooks"]].count("backward_end") == 40
        assert found[case]["first"] == pytest.approx(alone[case]["first"]) and found[case]["outputs"] == 4
        if case not in ("chunks", "folded"):
            assert found[case]["names"] == alone[case]["names"]


@pytest.mark.slow
def test_replicas_of_stages_train_as_one():
    """Two stages, two replicas of each; the parameters of a stage are also divided among replicas."""
    whole = trained(1, "plain", "tied", STAGES=1, MICRO=8)[0]
    for axis in ("DP", "SHARDING"):
        found = trained(4, "plain", "tied", STAGES=2, MICRO=4, **{axis: 2})
        for case in ("plain", "tied"):
            losses = np.mean([one[case]["losses"] for one in found], axis=0)
            np.testing.assert_allclose(losses, whole[case]["losses"], rtol=1e-5)


@pytest.mark.slow
def test_three_stages_and_a_rest():
    """Five micro-batches over three stages."""
    whole = trained(1, "plain", "tied", STAGES=1, MICRO=5)[0]
    for one in trained(3, "plain", "tied, split", MICRO=5):
        one["tied"] = one["tied, split"]
        for case in ("plain", "tied"):
            np.testing.assert_allclose(one[case]["losses"], whole[case]["losses"], rtol=1e-5)


@pytest.mark.slow
def test_four_processes_train_a_gpt_as_one_device():
    """5 steps: mp x pp with tied embeddings, and dp x mp."""
    settings = {"micro": 2, "blocks": 2}
    split = [
        {"degrees": {"mp": 2, "pp": 2}, "pipeline": settings},
        {"degrees": {"dp": 2, "mp": 2}},
        {"degrees": {"mp": 2, "pp": 2}, "llama": True},
    ]
    whole = [{**case, "degrees": {}} for case in split]
    (alone,) = trained_gpt(1, whole)
    found = trained_gpt(4, split)
    for rank in range(4):
        np.testing.assert_allclose(found[rank][0], alone[0], rtol=1e-5)
        np.testing.assert_allclose(found[rank][2], alone[2], rtol=1e-5)
    np.testing.assert_allclose(np.mean([losses[1] for losses in found], axis=0), alone[1], rtol=1e-5)


def trained_gpt(count, cases):
    """For each process: the losses of each case."""
    ended = pairs.run("splits.py", *map(json.dumps, cases), count=count, seconds=200)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("raise", ["pipeline stage 0", "micro-batch 2", "rank 1 has failed (ValueError: a bad batch)"]),
        # What it has not sent before it is killed is lost: the gradient of micro-batch 1 or 2.
        ("kill", ["pipeline stage 0: gradient of micro-batch", "rank 1"]),
        ("freeze", ["pipeline stage 0: gradient of micro-batch 2", "no message came within 4 s"]),
        ("bounds", ["bounds of the segments: stage 1 has [0, 2, 3], stage 0 has [0, 1, 3]"]),
        ("accumulate", ["accumulate_steps: stage 1 has 2, stage 0 has 4", "the same on all stages"]),
    ],
)
def test_what_goes_wrong_on_one_stage_ends_all(what, words):
    started = time.monotonic()
    more = {"PADDLE_PG_TIMEOUT": "4000"} if what == "freeze" else {}
    zero, one = pairs.run("broken_pipelines.py", what, seconds=60, **more)
    assert time.monotonic() - started < 40
    assert zero.code not in (0, None) and one.code not in (0, None)
    assert "over" not in zero.out + one.out
    assert all(word in zero.err for word in words), zero.err


class Couple(NamedTuple):
    """What a user's model gives."""

    one: Any
    two: Any


def test_a_named_tuple_arrives_as_a_plain_tuple():
    # `SendRecvMeta` of the real Paddle makes a plain tuple as well.
    found = unpacked(packed({"x": Couple(paddle_jax.to_tensor([3.0]), 2)}))
    assert type(found["x"]) is tuple
    assert found["x"][0].tolist() == [3.0] and found["x"][1] == 2


def test_micro_batches_keep_named_tuples():
    strategy = fleet.DistributedStrategy()
    strategy.pipeline_configs = {"accumulate_steps": 2, "micro_batch_size": 1}
    fleet.init(is_collective=True, strategy=strategy)
    net = fleet.meta_parallel.PipelineLayer(
        [lambda given: given.one * given.two], num_stages=1, loss_fn=lambda out, y: out - y
    )
    pipeline = fleet.meta_parallel.PipelineParallel(net, fleet.get_hybrid_communicate_group(), strategy)
    inputs = [Couple(paddle_jax.to_tensor([[n]]), paddle_jax.to_tensor([[5.0]])) for n in (2.0, 4.0)]
    labels = [paddle_jax.to_tensor([[1.0]]) for _ in inputs]
    assert [out.tolist() for out in pipeline.eval_batch([inputs, labels])] == [[[10.0]], [[20.0]]]
