"""paddle.inference: predictors on files of either engine, their handles, copies and threads, and the
switches of Config."""

import inspect
import threading
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as ours
from tests.jit.corpus.networks import NETWORKS, example

pytestmark = pytest.mark.own_process
inference = ours.inference
Spec = ours.static.InputSpec


class Two(ours.nn.Layer):
    def __init__(self):
        super().__init__()
        self.line = ours.nn.Linear(3, 2)

    def forward(self, x, y):
        return self.line(x) + y, self.line(x) * 2


@pytest.fixture
def model(tmp_path):
    layer = Two()
    ours.jit.save(
        layer,
        str(tmp_path / "m"),
        input_spec=[Spec([None, 3], "float32", "x"), Spec([None, 2], "float32", "y")],
    )
    return layer, str(tmp_path / "m.json"), str(tmp_path / "m.pdiparams")


def inputs(batch=4):
    return np.arange(batch * 3, dtype="float32").reshape(batch, 3), np.ones([batch, 2], "float32")


@pytest.mark.parametrize("name", ["bert", "detector"])
def test_both_engines_run_each_others_models(oracle, tmp_path, name):
    make, dtype, shape, *sizes = NETWORKS[name]
    theirs, mine = make(oracle), make(ours)
    theirs.eval()
    mine.set_state_dict({key: ours.to_tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    oracle.jit.save(theirs, str(tmp_path / "theirs"), input_spec=[oracle.static.InputSpec(shape, dtype, "x")])
    ours.jit.save(mine, str(tmp_path / "ours"), input_spec=[Spec(shape, dtype, "x")])
    found = []
    for engine, prefix in ((oracle, "ours"), (ours, "theirs"), (ours, "ours")):
        config = engine.inference.Config(
            str(tmp_path / f"{prefix}.json"), str(tmp_path / f"{prefix}.pdiparams")
        )
        config.disable_glog_info()
        # Paddle's oneDNN kernels cannot run a resizing operation, whoever wrote the file
        config.disable_mkldnn()
        predictor = engine.inference.create_predictor(config)
        assert predictor.get_input_names() == ["x"]
        assert predictor.get_output_names() == [
            f"fetch_name_{i}" for i in range(len(predictor.get_output_names()))
        ]
        for size in sizes:
            predictor.get_input_handle("x").copy_from_cpu(example(dtype, size))
            predictor.run()
        found.append([predictor.get_output_handle(n).copy_to_cpu() for n in predictor.get_output_names()])
    want = [w.numpy() for w in theirs(oracle.to_tensor(example(dtype, sizes[-1])))]
    for outs in found:
        for got, w in zip(outs, want, strict=True):
            np.testing.assert_allclose(got, w, rtol=2e-4, atol=2e-4)


def test_handles(model):
    layer, *files = model
    predictor = inference.create_predictor(inference.Config(*files))
    x, y = inputs()
    handle = predictor.get_input_handle("x")
    assert handle.shape() == [0] and handle.type() == inference.DataType.FLOAT32 and handle.lod() == []
    for call in (handle.copy_to_cpu, predictor.run):
        with pytest.raises(RuntimeError, match="no value"):
            call()
    for wrong in ([1.0], 3.0):
        with pytest.raises(TypeError, match="NumPy"):
            handle.copy_from_cpu(wrong)
    handle.reshape([4, 3])
    assert handle.shape() == [4, 3]
    handle.copy_from_cpu(x)
    x[:] = 7  # a copy was taken
    predictor.get_input_handle("y").share_external_data(ours.to_tensor(y))
    assert predictor.run() is None
    out = predictor.get_output_handle("fetch_name_0")
    np.testing.assert_allclose(
        out.copy_to_cpu(), layer(ours.to_tensor(inputs()[0]), ours.to_tensor(y))[0].numpy(), atol=1e-6
    )
    assert out.shape() == [4, 2] and out.type() == inference.DataType.FLOAT32
    for get in (predictor.get_input_handle, predictor.get_output_handle):
        with pytest.raises(RuntimeError, match="zz"):
            get("zz")


def test_run_with_tensors(model):
    layer, *files = model
    predictor = inference.create_predictor(inference.Config(*files))
    for batch in (1, 5):
        x, y = map(ours.to_tensor, inputs(batch))
        got = predictor.run([x, y])
        assert isinstance(got, list) and got[0].stop_gradient
        np.testing.assert_allclose(got[1].numpy(), layer(x, y)[1].numpy(), atol=1e-6)
    for wrong, error in (
        ([x], ValueError),
        ([x.numpy(), y.numpy()], TypeError),
        ([ours.ones([5, 4]), y], ValueError),
        ([x.astype("float64"), y], ValueError),
    ):
        with pytest.raises(error):
            predictor.run(wrong)


def test_clones_and_threads(model):
    layer, *files = model
    predictor, results, errors = inference.create_predictor(inference.Config(*files)), {}, []

    def work(number):
        try:
            mine = predictor.clone()
            for batch in (1, 2, 3):
                x, y = inputs(batch)
                mine.get_input_handle("x").copy_from_cpu(x * number)
                mine.get_input_handle("y").copy_from_cpu(y)
                mine.run()
                results[number, batch] = mine.get_output_handle("fetch_name_0").copy_to_cpu()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and len(results) == 18
    for (number, batch), got in results.items():
        x, y = inputs(batch)
        np.testing.assert_allclose(
            got, layer(ours.to_tensor(x * number), ours.to_tensor(y))[0].numpy(), atol=1e-5
        )
    pool = inference.PredictorPool(inference.Config(*files), 2)
    assert pool.retrieve(0) is not pool.retrieve(1)
    with pytest.raises(ValueError, match="2"):
        pool.retrieve(2)


def test_memory_and_missing_files(model, tmp_path):
    _, program, params = model
    config = inference.Config()
    one, two = Path(program).read_bytes(), Path(params).read_bytes()
    config.set_model_buffer(one, len(one), two, len(two))
    assert config.model_from_memory()
    assert inference.create_predictor(config).get_input_names() == ["x", "y"]
    with pytest.raises(ValueError, match="used"):
        inference.create_predictor(config)
    for prog, par in ((str(tmp_path / "no.json"), params), (program, str(tmp_path / "no")), ("", "")):
        with pytest.raises(RuntimeError, match="create_predictor"):
            inference.create_predictor(inference.Config(prog, par))
    config = inference.Config()
    config.set_model_buffer(one[:50], 50, two, len(two))
    with pytest.raises(RuntimeError, match="cannot read"):
        inference.create_predictor(config)


QUERIES = [
    "use_gpu",
    "gpu_device_id",
    "memory_pool_init_size_mb",
    "fraction_of_gpu_memory_for_pool",
    "cpu_math_library_num_threads",
    "ir_optim",
    "specify_input_name",
    "use_feed_fetch_ops_enabled",
    "glog_info_disabled",
    "mkldnn_enabled",
    "onednn_enabled",
    "model_dir",
    "model_from_memory",
    "tensorrt_engine_enabled",
    "tensorrt_dla_enabled",
    "tensorrt_dynamic_shape_enabled",
    "tensorrt_explicit_quantization_enabled",
    "tensorrt_inspector_enabled",
    "tensorrt_varseqlen_enabled",
    "trt_allow_build_at_runtime",
    "tuned_tensorrt_dynamic_shape",
    "shape_range_info_collected",
    "shape_range_info_path",
    "openvino_engine_enabled",
    "mkldnn_int8_enabled",
    "onednn_int8_enabled",
    "use_xpu",
    "onnxruntime_enabled",
    "tensorrt_optimization_level",
]
SWITCHES = [
    ("enable_memory_optim",),
    ("switch_ir_optim", False),
    ("disable_glog_info",),
    ("switch_specify_input_names",),
    ("switch_use_feed_fetch_ops",),
    ("set_cpu_math_library_num_threads", 3),
    ("disable_gpu",),
    ("enable_mkldnn",),
    ("set_optim_cache_dir", "/tmp/x"),
    ("delete_pass", "p"),
    ("enable_new_executor",),
    ("disable_onnxruntime",),
    ("set_optimization_level", 1),
]


def test_config_answers_as_paddle(oracle, model):
    """What Paddle's CPU build says, before and after the switches."""
    _, *files = model
    mine, theirs = inference.Config(*files), oracle.inference.Config(*files)
    for switch in (None, *SWITCHES):
        if switch is not None:
            for config in (mine, theirs):
                getattr(config, switch[0])(*switch[1:])
        for query in QUERIES:
            assert getattr(mine, query)() == getattr(theirs, query)(), (switch, query)
    assert (
        (mine.prog_file(), mine.params_file()) == (theirs.prog_file(), theirs.params_file()) == tuple(files)
    )
    assert files[0] in mine.summary()


def test_engines_that_are_not_there_are_accepted():
    config = inference.Config("a.json", "a.pdiparams")
    config.enable_tensorrt_engine(
        workspace_size=1 << 30, max_batch_size=1, precision_mode=inference.PrecisionType.Half
    )
    config.set_trt_dynamic_shape_info({"x": [1, 3]}, {"x": [4, 3]}, {"x": [2, 3]})
    config.enable_use_gpu(500, 0)
    assert not config.tensorrt_engine_enabled()
    assert config.use_gpu() == ours.get_device().startswith("gpu")


@pytest.mark.parametrize("name", ["DataType", "PlaceType", "PrecisionType"])
def test_enumerations(oracle, name):
    mine, theirs = getattr(inference, name), getattr(oracle.inference, name)
    for member in mine.__members__.values():
        other = getattr(theirs, member.name)
        assert (member.value, str(member), repr(member)) == (int(other.value), str(other), repr(other))
    assert {m for m in dir(theirs) if m[0].isupper()} == set(mine.__members__) == set(theirs.__members__)
    assert mine(1) is next(m for m in mine.__members__.values() if m.value == 1)


def test_names_are_paddles(oracle):
    names = {n for n in dir(inference.Config) if not n.startswith("_")}
    assert names <= set(dir(oracle.inference.Config))
    assert all(inspect.getdoc(getattr(inference.Config, n)) for n in names)
    assert inference.get_num_bytes_of_data_type(inference.DataType.BFLOAT16) == 2
    assert inference.get_trt_compile_version() == oracle.inference.get_trt_compile_version()
