"""Averages, metrics, printing, names, devices, descriptions of inputs, settings; and what the inventory
says of signatures."""

import copy
import inspect
import sys

import jax
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import paddle_jax
from tests.conformance.test_inventory import entries  # noqa: F401  a fixture
from tests.static.engines import Built, close

pytestmark = pytest.mark.own_process


def test_exponential_moving_average(static):
    S, main, startup = static
    w = S.create_parameter([2], "float32", default_initializer=paddle_jax.nn.initializer.Constant(1.0))
    step = S.create_global_var([1], 0.0, "float32", name="step")
    paddle_jax.optimizer.SGD(0.5).minimize((w * w).sum() * 0.5)
    step._adopt(step + 1)
    average = S.ExponentialMovingAverage(0.9, thres_steps=step)
    average.update()
    exe = S.Executor()
    exe.run(startup)
    want, share, value = 0.0, 1.0, 1.0
    for number in range(1, 4):
        exe.run(main)
        value *= 0.5
        decay = min(0.9, (1 + number) / (10 + number))
        want, share = decay * want + (1 - decay) * value, share * decay

    def now():
        return np.array(S.global_scope().find_var(w.name).get_tensor())

    with average.apply(exe):
        np.testing.assert_allclose(now(), want / (1 - share), rtol=1e-5)
    np.testing.assert_allclose(now(), value, rtol=1e-6)
    with average.apply(exe, need_restore=False):
        pass
    np.testing.assert_allclose(now(), want / (1 - share), rtol=1e-5)
    average.restore(exe)
    np.testing.assert_allclose(now(), value, rtol=1e-6)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_area_under_the_curve(static, steps):
    S, main, startup = static
    total, last, counts = S.auc(
        S.data("x", [None, 2]), S.data("y", [None, 1], "int64"), num_thresholds=20000, slide_steps=steps
    )
    exe = S.Executor()
    exe.run(startup)
    r, runs = np.random.RandomState(2), []
    for _ in range(4):
        score, label = r.rand(60), r.randint(0, 2, 60)
        runs.append((score, label))
        feed = {"x": np.stack([1 - score, score], 1).astype("float32"), "y": label[:, None]}
        got, recent, positive, negative = exe.run(main, feed, [total, last, *counts[2:]])
        want = roc_auc_score(*[np.concatenate(v) for v in zip(*[(b, a) for a, b in runs], strict=True)])
        np.testing.assert_allclose(got, want, atol=2e-3)
        window = runs if steps == 0 else runs[-steps:]
        np.testing.assert_allclose(
            recent,
            roc_auc_score(*[np.concatenate(v) for v in zip(*[(b, a) for a, b in window], strict=True)]),
            atol=2e-3,
        )
    assert positive.shape == negative.shape == (1, 20001)
    assert positive.sum() == sum(label.sum() for _, label in runs)
    assert positive.sum() + negative.sum() == 240
    # The counts are in the Scope under their names, where trainers read them.
    held = [np.asarray(S.global_scope().find_var(one.name).get_tensor()) for one in counts]
    np.testing.assert_array_equal(held[2], positive)
    assert held[0].sum() == sum(label.sum() for _, label in window)
    assert held[0].sum() + held[1].sum() == 60 * len(window)


def test_accuracy(oracle):
    def build(m):
        return [m.static.accuracy(m.static.data("x", [None, 4]), m.static.data("y", [None, 1], "int64"), k=2)]

    r = np.random.RandomState(0)
    feed = {"x": r.rand(7, 4).astype("float32"), "y": r.randint(0, 4, (7, 1))}
    theirs, mine = Built(oracle, build), Built(paddle_jax, build)
    close(mine.run(feed), theirs.run(feed))


def test_printing(static, capfd):
    S, main, _ = static
    x = S.data("x", [None])
    y = S.Print(x, first_n=2, message="look", summarize=2)
    exe = S.Executor()
    for _ in range(3):
        assert exe.run(main, {"x": np.array([1, 2, 3], "float32")}, [y * 2])[0].tolist() == [2, 4, 6]
    jax.effects_barrier()
    shown = capfd.readouterr().out
    assert (
        shown.count("look") == 2
        and "data: [1.0 2.0]" in shown
        and "shape: [3]" in shown
        and "Variable: x" in shown
    )
    with pytest.raises(ValueError, match="print_phase"):
        S.Print(x, print_phase="sideways")


def test_scopes_of_names_and_devices(static, oracle):
    S, main, _ = static
    with S.name_scope("a"), S.name_scope("b"), S.device_guard("gpu:0"):
        y = S.data("x", [1]) * 2
    assert y.op.scope == "a/b/"
    assert y.op.device == "gpu:0"
    assert len(S.cpu_places(3)) == 3 and S.cpu_places()[0] == paddle_jax.CPUPlace()


def test_settings(static, oracle):
    S, main, _ = static
    for name in [
        n for n in dir(oracle.static.BuildStrategy()) if not n.startswith("_") and n != "ReduceStrategy"
    ]:
        want, got = getattr(oracle.static.BuildStrategy(), name), getattr(S.BuildStrategy(), name)
        assert (
            str(want).rpartition(".")[2].partition(":")[0] == str(got).rpartition(".")[2].partition(":")[0]
        ), name
    y = S.data("x", [1]) * 2
    compiled = S.CompiledProgram(main, build_strategy=S.BuildStrategy())
    assert S.Executor().run(compiled, {"x": np.ones(1, "float32")}, [y])[0] == 2
    with pytest.raises(TypeError):
        S.CompiledProgram(3)


SPECS = {
    "plain": lambda S: S.InputSpec([None, 3]),
    "all": lambda S: S.InputSpec((2,), "int64", "n", True),
    "negative": lambda S: S.InputSpec([-2]),
    "float length": lambda S: S.InputSpec([1.5]),
    "text length": lambda S: S.InputSpec([2, "a"]),
    "no list": lambda S: S.InputSpec(3),
    "no shape": lambda S: S.InputSpec(None),
    "dtype": lambda S: S.InputSpec([2], "foo"),
    "no dtype": lambda S: S.InputSpec([2], None),
    "batch": lambda S: S.InputSpec([2]).batch(4),
    "batch list": lambda S: S.InputSpec([2]).batch([4]),
    "batch two": lambda S: S.InputSpec([2]).batch([4, 3]),
    "batch none": lambda S: S.InputSpec([2]).batch(None),
    "batch text": lambda S: S.InputSpec([2]).batch("a"),
    "batch open": lambda S: S.InputSpec([2]).batch(-1),
    "unbatch": lambda S: S.InputSpec([2, 3]).unbatch(),
    "unbatch empty": lambda S: S.InputSpec([2]).unbatch().unbatch(),
    "of a tensor": lambda S: S.InputSpec.from_tensor(
        sys.modules[S.__name__.partition(".")[0]].ones([2]), "n"
    ),
    "numpy": lambda S: S.InputSpec.from_numpy(np.ones((2, 3)), "n"),
    "tensor": lambda S: S.InputSpec.from_tensor(3),
    "equal": lambda S: (
        S.InputSpec([2]) == S.InputSpec([2]),
        S.InputSpec([2], name="a") == S.InputSpec([2], name="b"),
    ),
    "hash": lambda S: hash(S.InputSpec([None, 2])) == hash(S.InputSpec([-1, 2])),
}


@pytest.mark.parametrize("name", SPECS)
def test_descriptions_of_inputs(name, oracle):
    results = []
    for engine in (oracle, paddle_jax):
        try:
            results.append(repr(SPECS[name](engine.static)))
        except Exception as error:
            results.append(error)
    want, got = results
    assert isinstance(got, type(want)) if isinstance(want, Exception) else got == want


def test_modes(oracle):
    for engine in (oracle, paddle_jax):
        states = [(engine.in_dynamic_mode(), engine.framework.in_pir_mode())]
        engine.enable_static()
        states.append((engine.in_dynamic_mode(), engine.framework.in_pir_mode()))
        with engine.base.dygraph.guard():
            states.append((engine.in_dynamic_mode(), engine.framework.in_pir_mode()))
        engine.disable_static()
        states.append((engine.in_dynamic_mode(), engine.framework.in_pir_mode()))
        assert states == [(True, False), (False, True), (True, False), (True, False)]
    assert paddle_jax.ones([2]).numpy().tolist() == [1, 1]


OTHERS = {"Program", "Variable"}  # the real Program is made in C++, and names no arguments
# with `program`, which the real ones take from **kwargs
MORE = {"save_inference_model", "serialize_persistables", "serialize_program"}


def test_signatures(entries):  # noqa: F811
    problems = []
    for entry in entries:
        name = entry["name"].removeprefix("paddle.static.")
        if (
            entry["ns"] not in ("paddle.static", "paddle.static.nn")
            or not entry.get("sig")
            or name.split(".")[0] in OTHERS | MORE
        ):
            continue
        owner = paddle_jax.static
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if callable(owner):
            signature = inspect.signature(owner)
            names = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
            got = str(signature.replace(parameters=names, return_annotation=signature.empty))
            want = entry["sig"].replace("(self, ", "(").replace("(self)", "()")
            problems += [f"{name}{got}, the real one is {want}"] if got != want else []
    assert problems == []


def test_a_copied_layer_has_parameters_of_its_own(paddle):
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            first = paddle.nn.Linear(2, 3)
            second = copy.deepcopy(first)
            x = paddle.static.data("x", [None, 2])
            loss = (first(x) * second(x)).sum()
            paddle.optimizer.SGD(0.1).minimize(loss)
            assert first.weight.name != second.weight.name and second.weight.shape == [2, 3]
            executor = paddle.static.Executor()
            executor.run(startup)
            feed = {"x": np.ones((1, 2), "float32")}
            losses = [float(executor.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(3)]
            weights = [executor.run(main, feed=feed, fetch_list=[one.weight])[0] for one in (first, second)]
        assert losses[0] > losses[1] > losses[2]
        assert abs(weights[0] - weights[1]).max() > 1e-3
    finally:
        paddle.disable_static()
