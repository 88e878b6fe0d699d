"""Python control flow on values of Tensors in model files: what is saved here runs in the real Paddle and
here, and the other way round."""

import warnings

import numpy as np
import pytest

import paddle_jax
from paddle_jax.jit import load, save
from tests.jit.control_flow_models import MODELS
from tests.jit.dy2static.test_conversion import CASES, filled, leaves, tensors

pytestmark = pytest.mark.own_process
NOT_SAVED = {
    "gradient_taken_inside_a_branch": "grad",
    "shared_values_with_own_gradients": "a gradient is taken inside it, too",
    "state_in_buffers": "a file does not keep what buffers have become",
}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def arrays(out):
    return [np.asarray(x) for x in leaves(out) if x is not None]


def same(got, want):
    assert [g.shape for g in got] == [w.shape for w in want]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-4)


def inputs(factory):
    rng = np.random.RandomState(0)
    found = [rng.randn(length, 3).astype("f4") * scale for length in (1, 2, 5) for scale in (0.5, -1, 3)]
    found += [np.full((3, 3), s, "f4") for s in (0.5, -0.5)]
    return [
        (x, np.array(i % 4)) if "n" in factory.__code__.co_varnames else (x,) for i, x in enumerate(found)
    ]


def both(name, oracle):
    """The two engines' Layers with the same parameters, InputSpecs of each, inputs."""
    factory = MODELS[name][0]
    theirs, ours = factory(oracle), factory(paddle_jax)
    ours.set_state_dict(
        {key: paddle_jax.to_tensor(value.numpy()) for key, value in theirs.state_dict().items()}
    )
    forward = type(theirs).forward
    kinds = [([None, 3], "float32", "x"), ([], "int64", "n")][: forward.__code__.co_argcount - 1]
    specs = [[P.static.InputSpec(*kind) for kind in kinds] for P in (oracle, paddle_jax)]
    return theirs, ours, *specs, inputs(forward)


def test_items_taken_from_a_list_in_files_of_paddle(oracle, tmp_path):
    def popped(x):
        parts = [x, x * 2, x * 3]
        if x.shape[0] > 3:
            parts.pop(0)
        return oracle.concat(parts)

    spec = [oracle.static.InputSpec([None, 3], "float32", "x")]
    oracle.jit.save(oracle.jit.to_static(popped, full_graph=True), str(tmp_path / "m"), input_spec=spec)
    here = load(str(tmp_path / "m"))
    for rows in (2, 5):
        x = np.arange(3 * rows, dtype="f4").reshape(rows, 3)
        same(arrays(here(paddle_jax.to_tensor(x))), arrays(popped(oracle.to_tensor(x))))


@pytest.mark.parametrize("name", [name for name, (_, _, why) in MODELS.items() if why is None])
def test_saved_here(oracle, tmp_path, name):
    theirs, ours, _, specs, given = both(name, oracle)
    save(ours, str(tmp_path / "m"), input_spec=specs)
    there, here = oracle.jit.load(str(tmp_path / "m")), load(str(tmp_path / "m"))
    for values in given:
        want = arrays(theirs(*tensors(oracle, values)))
        same(arrays(there(*tensors(oracle, values))), want)
        same(arrays(here(*tensors(paddle_jax, values))), want)


@pytest.mark.parametrize("name", [name for name, (_, why, _) in MODELS.items() if why is None])
def test_saved_by_paddle(oracle, tmp_path, name):
    theirs, _, specs, _, given = both(name, oracle)
    oracle.jit.save(oracle.jit.to_static(theirs, full_graph=True), str(tmp_path / "m"), input_spec=specs)
    there, here = oracle.jit.load(str(tmp_path / "m")), load(str(tmp_path / "m"))
    for values in given:
        same(arrays(here(*tensors(paddle_jax, values))), arrays(there(*tensors(oracle, values))))


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.why is None and name not in NOT_SAVED]
)
def test_cases_of_conversion(oracle, tmp_path, name):
    case = CASES[name]
    ours, theirs = filled(case.build(paddle_jax)), filled(case.build(oracle))
    if hasattr(theirs, "eval"):
        theirs.eval()
    first = [np.asarray(a) for a in case.inputs[0]]
    save(
        ours,
        str(tmp_path / "m"),
        input_spec=[
            paddle_jax.static.InputSpec(list(a.shape), str(a.dtype), f"x{i}") for i, a in enumerate(first)
        ],
    )
    there = oracle.jit.load(str(tmp_path / "m"))
    for arguments in case.inputs:
        same(arrays(there(*tensors(oracle, arguments))), arrays(theirs(*tensors(oracle, arguments))))


def test_what_cannot_be_saved_names_the_line(tmp_path):
    for name, (factory, _, why) in MODELS.items():
        if why is not None:
            with pytest.raises(ValueError, match=r"control_flow_models.py:\d+") as refusal:
                save(
                    factory(paddle_jax),
                    str(tmp_path / name),
                    input_spec=[paddle_jax.static.InputSpec([None, 3], "float32", "x")],
                )
            assert ";" in str(refusal.value)
            assert list(tmp_path.iterdir()) == []


def test_inference_of_a_branch(oracle, tmp_path):
    theirs, ours, _, specs, given = both("if_elif_else", oracle)
    save(ours, str(tmp_path / "m"), input_spec=specs)
    predictor = paddle_jax.inference.create_predictor(
        paddle_jax.inference.Config(str(tmp_path / "m.json"), str(tmp_path / "m.pdiparams"))
    )
    for (x,) in given:
        predictor.get_input_handle("x").copy_from_cpu(x)
        predictor.run()
        same(
            [predictor.get_output_handle(n).copy_to_cpu() for n in predictor.get_output_names()],
            arrays(theirs(oracle.to_tensor(x))),
        )


def test_static_recording_of_a_compiled_function(oracle):
    """A to_static function called while a static Program is built: its branches and loops become
    parts of the Program."""
    _, ours, _, _, given = both("early_return_in_forward_and_a_method", oracle)
    compiled = paddle_jax.jit.to_static(ours)
    want = [arrays(ours.forward.dygraph_function(paddle_jax.to_tensor(x))) for (x,) in given]
    paddle_jax.enable_static()
    try:
        main = paddle_jax.static.Program()
        with paddle_jax.static.program_guard(main):
            x = paddle_jax.static.data("x", [None, 3])
            y = compiled(x)
        exe = paddle_jax.static.Executor()
        with paddle_jax.static.scope_guard(paddle_jax.static.Scope()):
            got = [exe.run(main, feed={"x": x}, fetch_list=[y]) for (x,) in given]
    finally:
        paddle_jax.disable_static()
    for one, other in zip(got, want, strict=True):
        same(one, other)


def two_results(P):
    class Net(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = P.nn.Linear(3, 2), P.nn.Linear(3, 2)

        def forward(self, x, y=None):
            return self.a(x), self.b(x)

    return Net()


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_hooks_are_saved(oracle, tmp_path, kind):
    for P in (oracle, paddle_jax):
        net, x = two_results(P), P.ones([2, 3])
        if kind == "pre":
            net.register_forward_pre_hook(lambda layer, given: (given[0] * 10,))
        else:
            net.register_forward_post_hook(lambda layer, given, out: tuple(t * 10 for t in out))
        P.jit.save(net, str(tmp_path / "m"), input_spec=[P.static.InputSpec([None, 3], "float32", "x")])
        same(arrays(P.jit.load(str(tmp_path / "m"))(x)), arrays(net(x)))


def test_chosen_results(oracle, tmp_path):
    for P in (oracle, paddle_jax):
        net, x, spec = two_results(P), P.ones([2, 3]), [P.static.InputSpec([None, 3], "float32", "x")]
        P.jit.save(net, str(tmp_path / "m"), input_spec=spec, output_spec=[1])
        same(arrays(P.jit.load(str(tmp_path / "m"))(x)), arrays(net(x)[1]))
        with pytest.raises(ValueError):
            P.jit.save(net, str(tmp_path / "n"), input_spec=spec, output_spec=[5])
        with pytest.raises(TypeError):
            P.jit.save(net, str(tmp_path / "n"), input_spec=spec, output_spec=1)


def test_names_and_number_of_inputs(oracle, tmp_path):
    for P in (oracle, paddle_jax):
        net, x = two_results(P), P.ones([2, 3])
        x.name = "given"
        P.jit.save(net, str(tmp_path / "m"), input_spec=[x])
        assert [s.name for s in P.jit.load(str(tmp_path / "m"))._input_spec()] == ["given"]
        P.jit.load(str(tmp_path / "m"), model_filename="other.json")  # the prefix counts
        with pytest.raises(ValueError):
            P.jit.save(net, str(tmp_path / "n"), input_spec=[x, x, x])


def test_infinite_constants(oracle, tmp_path):
    """Paddle cannot read the attributes it writes for them."""
    save(
        lambda x: paddle_jax.stack(
            [x + paddle_jax.full([2], float("-inf")), x * paddle_jax.full([2], float("nan"))]
        ),
        str(tmp_path / "m"),
        input_spec=[paddle_jax.static.InputSpec([None, 2], "float32", "x")],
    )
    x = np.array([[1, -1]], "f4")
    want = np.stack([np.full_like(x, -np.inf), np.full_like(x, np.nan)])
    same(arrays(oracle.jit.load(str(tmp_path / "m"))(oracle.to_tensor(x))), [want])
    same(arrays(load(str(tmp_path / "m"))(paddle_jax.to_tensor(x))), [want])


def test_static_recording_of_loops_over_unknown_lengths():
    def over_rows(x):
        s = paddle_jax.zeros([3])
        for row in x:
            if row.sum() > 0:
                s = s + row
        return s

    def over_numbers(x):
        s = paddle_jax.zeros([3])
        for i in range(x.shape[0]):
            s = s + x[i]
        return s

    paddle_jax.enable_static()
    try:
        with paddle_jax.static.program_guard(paddle_jax.static.Program()):
            x = paddle_jax.static.data("x", [None, 3])
            y = paddle_jax.jit.to_static(over_rows)(x)
            for rows in (2, 3):
                value = np.array([[1, 2, 3], [-4, 1, 1], [1, 1, 1]], "f4")[:rows]
                same(
                    paddle_jax.static.Executor().run(feed={"x": value}, fetch_list=[y]),
                    [value[value.sum(1) > 0].sum(0)],
                )
            with pytest.raises(RuntimeError, match=r"range\(paddle.shape\(x\)\[0\]\)"):
                paddle_jax.jit.to_static(over_numbers)(x)
    finally:
        paddle_jax.disable_static()
