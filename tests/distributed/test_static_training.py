"""Static programs of several processes train as one process with the whole batch."""

import json

import numpy as np
import pytest

import paddle_jax
from paddle_jax.distributed import fleet
from tests.distributed import pairs
from tests.distributed.programs import divided
from tests.distributed.programs.static_training import CASES


def run(count):
    ended = pairs.run("static_training.py", count=count, seconds=100)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def results():
    return run(1)[0], run(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_two_processes_train_as_one(results, name):
    alone, pair = results
    expected = alone["results"][name]
    tolerance = 0.02 if "amp" in CASES[name] else 1e-5
    found = [one["results"][name] for one in pair]
    assert found[0]["weight"] == found[1]["weight"]
    np.testing.assert_allclose(found[0]["weight"], expected["weight"], rtol=tolerance, atol=tolerance)
    losses = np.mean([one["losses"] for one in found], axis=0)
    np.testing.assert_allclose(losses, expected["losses"], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found[0]["after"], expected["after"], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found[0]["saved"], found[0]["after"], rtol=tolerance, atol=tolerance)
    if "gradient_merge" in CASES[name]:  # the run that fetches it comes between two updates
        assert all(one["fetched"] == one["weight"] for one in (*found, expected))
    else:
        np.testing.assert_allclose(found[0]["fetched"], expected["fetched"], rtol=tolerance, atol=tolerance)
        assert found[0]["fetched"] == found[1]["fetched"] != found[0]["weight"]


@pytest.mark.slow
@pytest.mark.parametrize("case", [0, 1], ids=["gathered, by fleet", "in parts, by an optimizer alone"])
def test_weights_in_parts_train_as_whole_ones(results, case):
    alone, pair = results
    divided.check([one["split"][case] for one in pair], alone["split"][case])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "sharding" in case])
def test_each_process_holds_states_of_its_parameters(results, name):
    alone, pair = results
    whole = set(alone["results"][name]["states"])
    first, second = (set(one["results"][name]["states"]) for one in pair)
    of_all = {state for state in whole if state.startswith(("loss_scaling", "num_"))}
    assert first | second == whole
    assert first & second == of_all
    assert first > of_all < second


@pytest.mark.slow
def test_merged_gradients_update_once(results):
    """The loss of a batch does not change between two updates: three batches see the first weights."""
    alone = results[0]["results"]
    assert alone["merged"]["losses"][:3] != alone["adam"]["losses"][:3]
    assert alone["merged"]["losses"][0] == alone["adam"]["losses"][0]


@pytest.mark.slow
def test_gradients_travel_in_half_precision(results):
    """Shares of the mean are rounded to float16 before they are added, so large numbers do not overflow."""
    shares = [(np.float32(value) / np.float32(2)).astype("float16") for value in (1 / 7, 2 / 7, 60000)]
    shares = [shares[:1] + shares[2:], shares[1:]]
    expected = (np.asarray(shares[0]) + np.asarray(shares[1])).astype("float32")
    for one in results[1]:
        assert one["half"] == expected.tolist()
        assert one["half"][0] != np.float32(3 / 14)


@pytest.mark.slow
def test_what_several_processes_cannot_do_is_refused(results):
    assert results[0]["refused"] == ""
    assert all(len(one["degrees"]) == 4 for one in results[1])
    assert all("pipeline together with sharding in a static program" in one["refused"] for one in results[1])
    assert results[0]["norm"] == results[0]["layer"] == ""
    assert all("set sync_batch_norm" in one["layer"] for one in results[1])
    assert all("words: a process has a part of it" in one["norm"] for one in results[1])


@pytest.mark.parametrize("name", ["asp", "qat", "auto", "semi_auto", "auto_search"])
def test_what_no_static_program_does_is_refused(name):
    fleet.init(is_collective=True)
    strategy = fleet.DistributedStrategy()
    setattr(strategy, name, True)
    paddle_jax.enable_static()
    try:
        with pytest.raises(NotImplementedError, match=f"strategy: {name} in a static program; use "):
            fleet.distributed_optimizer(paddle_jax.optimizer.SGD(0.1), strategy)
    finally:
        paddle_jax.disable_static()


@pytest.mark.parametrize("setting", [{"enable_offload": True}, {"refined_ops_patterns": ["matmul"]}])
def test_settings_of_recompute_that_are_refused(setting):
    fleet.init(is_collective=True)
    strategy = fleet.DistributedStrategy()
    strategy.recompute = True
    strategy.recompute_configs = setting
    paddle_jax.enable_static()
    try:
        with pytest.raises(NotImplementedError, match=next(iter(setting))):
            fleet.distributed_optimizer(paddle_jax.optimizer.SGD(0.1), strategy)
    finally:
        paddle_jax.disable_static()


@pytest.fixture
def merging():
    """(program, startup program, input, loss, result) of a program that updates after two runs."""
    paddle = paddle_jax
    paddle.enable_static()
    fleet.init(is_collective=True)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(paddle.static.Scope()):
        x = paddle.static.data("x", [None, 4])
        result = paddle.static.nn.fc(x, 2)
        loss = result.mean()
        strategy = fleet.DistributedStrategy()
        strategy.gradient_merge, strategy.gradient_merge_configs = True, {"k_steps": 2}
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(loss)
        yield main, startup, x, loss, result
    paddle.disable_static()


def test_the_trained_network_can_be_saved(merging, tmp_path):
    main, startup, x, loss, result = merging
    exe = paddle_jax.static.Executor()
    exe.run(startup)
    rows = np.ones([3, 4], "float32")
    losses = [float(exe.run(main, feed={"x": rows}, fetch_list=[loss])[0]) for _ in range(3)]
    assert losses[0] == losses[1] > losses[2]
    path = str(tmp_path / "net")
    paddle_jax.static.save_inference_model(path, [x], [result], exe, program=main)
    program, names, fetched = paddle_jax.static.load_inference_model(path, exe)
    (loaded,) = exe.run(program, feed={names[0]: rows}, fetch_list=fetched)
    np.testing.assert_allclose(loaded.mean(), losses[2], rtol=1e-6)


def test_a_second_update_that_is_not_averaged_is_refused(merging):
    loss = merging[3]
    with pytest.raises(RuntimeError, match="the program averages gradients over processes or runs"):
        paddle_jax.optimizer.SGD(0.1).minimize(loss)


def test_a_pruned_run_trains_nothing(merging):
    main, startup, _, loss, _ = merging
    exe = paddle_jax.static.Executor()
    exe.run(startup)
    name = main.all_parameters()[0].name
    feed = {"x": np.ones([3, 4], "float32")}
    first = exe.run(main, feed=feed, fetch_list=[name], use_prune=True)[0]
    exe.run(main, feed=feed, fetch_list=[loss])
    pruned = exe.run(main, feed=feed, fetch_list=[name], use_prune=True)[0]
    np.testing.assert_array_equal(pruned, first)
    updated = exe.run(main, feed=feed, fetch_list=[name])[0]
    assert not np.array_equal(updated, first)


@pytest.mark.parametrize(
    "names",
    [
        ["fuse_bn_act", "fuse_adamw"],
        ["fuse_gemm_epilogue", "fuse_resunit", "fuse_adamw"],
        ["fuse_bn_act", "fuse_bn_act"],
    ],
)
def test_passes_have_paddles_order(oracle, names):
    def ordered(passes):
        return passes.PassManager([passes.new_pass(name) for name in names]).names

    assert ordered(paddle_jax.distributed.passes) == ordered(oracle.distributed.passes)


def test_a_pass_merges_gradients(merging):
    main, startup, _, loss, _ = merging
    passes = paddle_jax.distributed.passes
    chosen = [passes.new_pass("auto_parallel_gradient_merge_pass", {"k_steps": 3})]
    context = passes.PassManager([passes.new_pass("fuse_optimizer"), *chosen]).apply([main], [startup])
    assert [one.name for one in context.passes] == ["auto_parallel_gradient_merge_pass", "fuse_optimizer"]
    exe = paddle_jax.static.Executor()
    exe.run(startup)
    rows = np.ones([3, 4], "float32")
    losses = [float(exe.run(main, feed={"x": rows}, fetch_list=[loss])[0]) for _ in range(4)]
    assert losses[0] == losses[1] == losses[2] > losses[3]
    with pytest.raises(ValueError, match="no gradients to merge"):
        chosen[0].apply([startup], [startup])
    with pytest.raises(NotImplementedError, match=r"use paddle.static.amp.decorate"):
        passes.new_pass("auto_parallel_fp16").apply([main], [startup])
    with pytest.raises(AssertionError, match="Pass nothing is not registered"):
        passes.new_pass("nothing")
