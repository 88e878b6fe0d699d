"""Models as lists of layers (PipelineLayer), and layers on parts of sequences."""

import importlib
import json

import numpy as np
import pytest

import paddle_jax
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.meta_parallel import (
    LayerDesc,
    PipelineLayer,
    PipelineParallel,
    SharedLayerDesc,
)
from paddle_jax.distributed.fleet.utils import log_util
from tests.distributed import pairs

nn = paddle_jax.nn


def model(**options):
    return PipelineLayer(
        [
            LayerDesc(nn.Linear, 2, 3),
            nn.ReLU(),
            lambda x: x * 2,
            SharedLayerDesc("tied", nn.Linear, None, "weight", 3, 3),
            SharedLayerDesc("tied", nn.Linear, lambda layer, x: x @ layer.weight, "weight", 3, 3),
        ],
        num_stages=1,
        **options,
    )


def test_the_list_runs_in_order_and_shared_layers_are_one():
    net = model()
    assert [name for name, _ in net.named_parameters()] == [
        "shared_layers.tied.weight",
        "shared_layers.tied.bias",
        "0.weight",
        "0.bias",
    ]
    x = paddle_jax.to_tensor([[1.0, -2.0]])
    tied = net.shared_layers["tied"]
    wanted = tied(nn.functional.relu(net.run_function[0](x)) * 2) @ tied.weight
    np.testing.assert_array_equal(net(x).numpy(), wanted.numpy())
    assert (
        net.segment_parts == [0, 5] and net.get_stage_from_index(4) == 0 and net.get_num_virtual_stages() == 1
    )
    assert repr(LayerDesc(nn.Linear, 2, 3, bias_attr=False)) == "Linear(2, 3, bias_attr=False)"


def test_recomputed_layers_have_the_same_gradients():
    plain, again = model(), model(recompute_interval=2, recompute_ctx={})
    again.set_state_dict(plain.state_dict())
    for net in (plain, again):
        net(paddle_jax.to_tensor([[1.0, -2.0], [0.5, 3.0]])).square().sum().backward()
    for one, other in zip(plain.parameters(), again.parameters(), strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: PipelineLayer([nn.ReLU()]), ValueError, "neither num_stages nor topology"),
        (lambda: PipelineLayer([nn.ReLU()], num_stages=2), ValueError, "got 2"),
        (lambda: LayerDesc(3), TypeError, "got 3"),
        (
            lambda: PipelineLayer([nn.ReLU()], num_stages=1, recompute_interval=1),
            AssertionError,
            "recompute_ctx",
        ),
        (lambda: PipelineLayer([nn.ReLU()], num_stages=1, seg_method="layer:Linear"), AssertionError, "ReLU"),
        (lambda: model().get_stage_from_index(5), AssertionError, "out of range"),
        (lambda: PipelineParallel(nn.ReLU(), None, None), TypeError, "ReLU"),
    ],
)
def test_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_chunks_are_counted_from_zero():
    layers = [LayerDesc(nn.ReLU) for _ in range(4)]
    net = PipelineLayer(layers, num_stages=1, num_virtual_pipeline_stages=2, seg_method="layer:ReLU")
    assert net(paddle_jax.to_tensor([-1.0, 2.0]), chunk_id=1).tolist() == [0.0, 2.0]
    for chunk in (-1, 2):
        with pytest.raises(AssertionError, match=f"got {chunk}; allowed are 0..1"):
            net(paddle_jax.ones([2]), chunk_id=chunk)


def test_states_of_layers_are_written_one_by_one(tmp_path):
    net, other = model(), model()
    net.save_state_dict(tmp_path / "saved")
    assert sorted(p.name for p in (tmp_path / "saved").iterdir()) == [
        f"layer_0{at}-tensor_00-model_states.pdparams" for at in (0, 3)
    ]
    other.set_state_dir(tmp_path / "saved")
    for one, copy in zip(net.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(one.numpy(), copy.numpy())
    with pytest.raises(AssertionError, match="missing"):
        other.set_state_dir(tmp_path / "elsewhere")


def test_a_step_in_small_batches_is_the_step_of_the_whole_batch():
    strategy = fleet.DistributedStrategy()
    strategy.pipeline_configs = {"accumulate_steps": 3, "micro_batch_size": 2}
    fleet.init(is_collective=True, strategy=strategy)
    whole, cut = (
        PipelineLayer([nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)], num_stages=1, loss_fn=nn.MSELoss())
        for _ in range(2)
    )
    cut.set_state_dict(whole.state_dict())
    x, y = (paddle_jax.to_tensor(np.random.RandomState(1).randn(6, n).astype("float32")) for n in (2, 1))
    pipeline = PipelineParallel(cut, fleet.get_hybrid_communicate_group(), strategy)
    for net, train in ((whole, None), (cut, pipeline)):
        optimizer = paddle_jax.optimizer.SGD(0.1, parameters=net.parameters())
        for _ in range(3):
            if train is None:
                loss = nn.functional.mse_loss(net(x), y)
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
            else:
                loss = train.train_batch([x, y], optimizer)
        net.last = float(loss)
    assert cut.last == pytest.approx(whole.last, rel=1e-5)
    for one, other in zip(whole.parameters(), cut.parameters(), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)
    assert float(pipeline.eval_batch([x, y], compute_loss=True)) == pytest.approx(
        float(nn.functional.mse_loss(cut(x), y)), rel=1e-5
    )
    assert [out.shape for out in pipeline.eval_batch([x, y])] == [[2, 1]] * 3
    with pytest.raises(AssertionError, match="batch of 5"):
        pipeline.train_batch([x[:5], y[:5]], optimizer)


def test_the_logger_and_its_level():
    try:
        log_util.set_log_level("debug")
        assert (log_util.get_log_level_name(), log_util.get_log_level_code()) == ("DEBUG", 10)
        with pytest.raises(AssertionError, match="2.5"):
            log_util.set_log_level(2.5)
    finally:
        log_util.set_log_level("INFO")
    assert log_util.layer_to_str("Linear", 2, b=3) == "Linear(2, b=3)"


@pytest.mark.slow
def test_parts_of_sequences():
    for rank, process in enumerate(pairs.run("sequences.py", seconds=120)):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
        found = json.loads(process.out.splitlines()[-1])
        assert found["part"] == [2, 3, 6] and found["result"] < 1e-5 and max(found["gradients"]) < 1e-4
        assert "got shape [3, 2]" in found["refused"]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "bfloat16", "bool", "int32", "int64", "int8"]
)
def test_numbers_of_dtypes(oracle, dtype):
    def found(module):
        utils = importlib.import_module(f"{module.__name__}.distributed.fleet.meta_parallel.pp_utils.utils")
        tensor = module.ones([2, 3]).astype(dtype)
        answers = [utils.is_float_tensor(tensor)]
        for function in (utils.get_tensor_dtype, utils.paddle_2_number):
            try:
                answers.append(function(tensor.dtype))
            except AssertionError:
                answers.append("refused")
        if dtype not in ("bool", "bfloat16"):  # Paddle refuses to count their bytes
            answers.append(int(utils.get_tensor_bytes(tensor)))
        return answers

    assert found(paddle_jax) == found(oracle)


def test_dtypes_of_numbers(oracle):
    path = "distributed.fleet.meta_parallel.pp_utils.utils"
    ours, theirs = (importlib.import_module(f"{name}.{path}") for name in ("paddle_jax", "paddle"))
    assert [ours.number_2_dtype(i) for i in range(7)] == [theirs.number_2_dtype(i) for i in range(7)]
    for module in (ours, theirs):
        with pytest.raises(AssertionError):
            module.number_2_dtype(7)
