"""Files of programs with control flow: inference, static programs, hooks, chosen results, names of inputs."""

import warnings

import numpy as np
import pytest

import paddle_jax
from paddle_jax.jit import load, save
from tests.jit.corpus import PROGRAMS
from tests.jit.corpus.modes import built, specs
from tests.jit.corpus.outcome import flat

pytestmark = pytest.mark.own_process


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def arrays(out):
    return [np.asarray(x) for x in flat(out) if x is not None]


def same(got, want):
    assert [g.shape for g in got] == [w.shape for w in want]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-4)


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


def test_inference_of_a_branch(oracle, tmp_path):
    program = PROGRAMS["models.if_elif_else"]
    in_paddle = built(program, oracle)
    save(built(program, paddle_jax), str(tmp_path / "m"), input_spec=specs(paddle_jax, program))
    predictor = paddle_jax.inference.create_predictor(
        paddle_jax.inference.Config(str(tmp_path / "m.json"), str(tmp_path / "m.pdiparams"))
    )
    for (x,) in program.arrays():
        predictor.get_input_handle("x0").copy_from_cpu(x)
        predictor.run()
        same(
            [predictor.get_output_handle(n).copy_to_cpu() for n in predictor.get_output_names()],
            arrays(in_paddle(oracle.to_tensor(x))),
        )


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


def test_loops_over_unknown_lengths_in_a_concrete_program():
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

    def program_of(function):
        spec = paddle_jax.static.InputSpec([None, 3], "float32", "x")
        return paddle_jax.jit.to_static(function, input_spec=[spec]).concrete_program

    concrete = program_of(over_rows)
    for rows in (2, 3):
        value = np.array([[1, 2, 3], [-4, 1, 1], [1, 1, 1]], "f4")[:rows]
        found = paddle_jax.static.Executor().run(
            concrete.main_program, feed={"x": value}, fetch_list=concrete.outputs
        )
        same(found, [value[value.sum(1) > 0].sum(0)])
        concrete_numbers = program_of(over_numbers)
        found = paddle_jax.static.Executor().run(
            concrete_numbers.main_program, feed={"x": value}, fetch_list=concrete_numbers.outputs
        )
        same(found, [value.sum(0)])
