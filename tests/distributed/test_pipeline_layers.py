"""Models as lists of layers (PipelineLayer), and layers on parts of sequences."""

import importlib
import json
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_jax
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.base.topology import CommunicateTopology
from paddle_jax.distributed.fleet.meta_parallel import (
    LayerDesc,
    LayerSpec,
    LocalSharedLayerDesc,
    PipelineLayer,
    PipelineParallel,
    ScheduleNode,
    SharedLayerDesc,
)
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers import pp_layers
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
        (lambda: LayerDesc(LayerSpec(nn.Linear), 2, 3), TypeError, "keyword arguments alone"),
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


def test_one_stage_with_several_parts_is_the_whole_model():
    for options in ({"use_dualpipev": True}, {"num_virtual_pipeline_stages": 2, "seg_method": "layer:ReLU"}):
        layers = [nn.ReLU(), lambda x: x + 1, lambda x: x * 2, nn.ReLU()]
        net = PipelineLayer(layers, num_stages=1, **options)
        assert net(paddle_jax.to_tensor([-1.0, 2.0])).tolist() == [2.0, 6.0]


def test_parts_of_a_v_lie_on_the_stages_there_and_back(monkeypatch):
    topology = CommunicateTopology(["data", "pipe", "model"], [1, 2, 1])
    monkeypatch.setattr(pp_layers, "get_rank", lambda: 1)
    monkeypatch.setattr(pp_layers, "shared_weights", lambda *args: {})
    layers = [LayerDesc(nn.Linear, 2, 2) for _ in range(5)]
    net = PipelineLayer(layers, topology=topology, use_dualpipev=True)
    assert net.segment_parts == [0, 1, 2, 3, 5]
    assert [net.get_stage_from_index(index) for index in range(5)] == [0, 1, 1, 0, 0]
    assert [name for name, _ in net.named_parameters()] == [
        "1.0.weight",
        "1.0.bias",
        "2.0.weight",
        "2.0.bias",
    ]
    with pytest.raises(AssertionError, match="the stage has 2 chunks"):
        net(paddle_jax.ones([2]))
    for kind, text in (
        (SharedLayerDesc, "use a LocalSharedLayerDesc"),
        (LocalSharedLayerDesc, r"stages \[0, 1\]"),
    ):
        tied = [kind("a", nn.Linear, None, "weight", 2, 2) for _ in range(2)]
        with pytest.raises(AssertionError, match=text):
            PipelineLayer([*tied, *layers[:3]], topology=topology, use_dualpipev=True)


def test_descriptions_by_spec_are_paddles(oracle):
    found = []
    for engine in (paddle_jax, oracle):
        parallel = engine.distributed.fleet.meta_parallel
        spec = parallel.LayerSpec(engine.nn.Linear, {"in_features": 2})
        desc = parallel.LayerDesc(spec, out_features=3)
        made = desc.build_layer()
        by_name = parallel.LayerSpec((engine.nn.Linear.__module__, "Linear"))
        assert (
            parallel.get_spec_layer(by_name) is parallel.import_spec_layer(by_name.layer) is engine.nn.Linear
        )
        with pytest.warns(UserWarning, match="in_features"):
            again = parallel.LayerSpec(engine.nn.Linear, {"in_features": 2})
            clash = parallel.build_spec_layer(again, in_features=9, out_features=1)
        function = lambda x: x  # noqa: E731
        assert parallel.build_spec_layer(function) is function
        assert parallel.build_spec_layer(parallel.LayerSpec(function)) is function
        found.append([list(made.weight.shape), list(clash.weight.shape), desc.using_layer_spec])
    assert found[0] == found[1] == [[2, 3], [2, 1], True]
    net = PipelineLayer([LayerDesc(LayerSpec(nn.ReLU)), nn.ReLU()], num_stages=1, seg_method="layer:ReLU")
    assert net.segment_parts == [0, 2]


def nodes(engine):
    """What nodes of a pair, of a dict and of a loss give, and the gradients that come back."""
    parallel = engine.distributed.fleet.meta_parallel
    leaf = lambda *values: engine.to_tensor(list(values), stop_gradient=False)  # noqa: E731
    found = []

    def note(*tensors):
        found.extend(None if one is None else one.tolist() for one in tensors)

    pair = parallel.ScheduleNode(lambda pair: (pair[0] * pair[1], pair[0] + 1, pair[2]), name="pair")
    mask = engine.to_tensor([1.0, 2.0])
    x = leaf(1.0, 2.0)
    note(*pair.forward((x, leaf(3.0, 4.0), mask)))
    note(*pair.backward((engine.ones([2]), None, engine.full([2], 10.0))))
    assert x.grad is None and pair.inputs is None and pair.outputs is None
    named = parallel.ScheduleNode(lambda named: {"c": named["a"] ** 2 + named["b"][0]})
    note(named.forward({"a": leaf(3.0)} | {"b": leaf(5.0, 7.0)})["c"])
    note(*named.backward([engine.full([1], 2.0)]))
    chunk = parallel.ScheduleChunk(
        [parallel.ScheduleNode(engine.exp), parallel.ScheduleNode(lambda x: x * x)]
    )
    note(chunk.forward(leaf(0.5)), *chunk.backward(engine.ones([1])))
    for scaler in (None, SimpleNamespace(scale=lambda loss: loss * 8)):
        loss = parallel.ScheduleNode(lambda x, label: ((x - label) ** 2).sum())
        loss.labels, loss.scale_loss_factor = engine.to_tensor([1.0, 1.0]), 2
        note(loss.forward(leaf(2.0, 3.0)), *loss.backward(scaler=scaler))
        assert loss.labels is None and loss.scale_loss_factor is None
    nested = parallel.ScheduleNode(lambda nest: nest[0][0] * nest[1])
    note(nested.forward(([leaf(2.0)], leaf(3.0))))
    with pytest.raises(AttributeError):
        nested.backward(engine.ones([1]))
    with pytest.raises(AssertionError):
        parallel.ScheduleChunk([len])
    return found


def test_nodes_are_paddles(oracle):
    assert nodes(paddle_jax) == nodes(oracle)


def test_dicts_and_tuples_are_paddles(oracle):
    found = []
    for engine in (paddle_jax, oracle):
        utils = importlib.import_module(f"{engine.__name__}.distributed.fleet.meta_parallel.pp_utils.utils")
        named = {"a": engine.ones([1]), "b": [engine.ones([2]), engine.ones([3])]}
        flat = utils.dict_to_tuple_helper(named)
        keys = [one.key for one in flat]
        again, was_dict = utils.tuple_to_dict_helper(flat)
        assert again == named and not hasattr(flat[0], "key")
        plain = (engine.ones([1]),)
        assert utils.dict_to_tuple_helper(plain) is plain
        found.append((keys, was_dict, utils.tuple_to_dict_helper(plain)[1]))
    assert found[0] == found[1] == (["a", "b 0", "b 1"], True, False)


def test_nodes_of_a_pipeline_layer():
    class Twice(nn.Layer):
        def forward(self, x):
            return x * 2

        def build_schedule_node(self):
            return ScheduleNode(self.forward)

    net = PipelineLayer([Twice() for _ in range(4)], num_stages=1, use_dualpipev=True)
    chunk = net.get_schedule_chunk(1)
    assert len(chunk.nodes) == 2 and chunk.forward(paddle_jax.ones([1])).tolist() == [4.0]
    assert net.forward_function(0, 1)(paddle_jax.ones([1])).tolist() == [2.0]
    with pytest.raises(AssertionError, match="ReLU has no method build_schedule_node"):
        PipelineLayer([nn.ReLU()], num_stages=1).get_schedule_chunk(None)


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
