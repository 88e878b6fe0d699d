"""What `Model.save` writes and `Model.load` reads, in dynamic and static mode and from one engine to the
other; callbacks that save."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.hapi import scenarios


def batch(p, count=3):
    rows = scenarios.dataset(p, count)
    return [[np.stack([rows[i][field] for i in range(count)])] for field in (0, 1)]


def trained(p, path, **settings):
    with p.utils.unique_name.guard():
        made = scenarios.model(p, rate=p.optimizer.lr.StepDecay(0.05, 2))
        scenarios.fit(p, 6, 0, prepared=made, verbose=0, **settings)
    made.save(str(path))
    return made


def reloaded(p, path, **settings):
    with p.utils.unique_name.guard():
        made = scenarios.model(p, rate=p.optimizer.lr.StepDecay(0.05, 2))
        made.load(str(path), **settings)
        return [float(np.ravel(made.train_batch(*batch(p))[0])[0]) for _ in range(3)] + [
            made._optimizer.get_lr()
        ]


@pytest.mark.own_process
@pytest.mark.parametrize("settings", [{}, {"reset_optimizer": True}])
def test_files_cross_over(paddle, oracle, tmp_path, settings):
    """Losses after loading are the same, whoever saved: state of Adam and of the schedule included."""
    for writer, name in ((paddle, "ours"), (oracle, "theirs")):
        trained(writer, tmp_path / name)
    assert {path.suffix for path in tmp_path.iterdir()} == {".pdparams", ".pdopt"}
    found = [
        reloaded(p, tmp_path / name, **settings) for p in (paddle, oracle) for name in ("ours", "theirs")
    ]
    np.testing.assert_allclose(found, [found[0]] * 4, rtol=1e-4)
    assert (found[0][0] == pytest.approx(reloaded(paddle, tmp_path / "ours")[0], rel=1e-6)) and len(
        set(found[0])
    ) == 4


@pytest.mark.own_process
def test_a_training_goes_on_as_if_it_had_not_ended(paddle, oracle, tmp_path):
    def losses(p, name):
        made = trained(p, tmp_path / name)
        there = [float(np.ravel(made.train_batch(*batch(p))[0])[0]) for _ in range(3)]
        np.testing.assert_allclose(reloaded(p, tmp_path / name)[:3], there, rtol=1e-5)
        return there

    np.testing.assert_allclose(losses(paddle, "ours"), losses(oracle, "theirs"), rtol=1e-4)


def test_weights_that_do_not_fit(paddle, oracle, tmp_path):
    trained(paddle, tmp_path / "net")

    def told(p, last, **settings):
        made = p.Model(p.nn.Sequential(p.nn.Linear(4, 8), p.nn.ReLU(), *last(p.nn)))
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                made.load(str(tmp_path / "net.pdparams"), **settings)
            except Exception as error:
                return type(error), str(error)
        return [str(each.message) for each in found]

    for last in (lambda nn: [nn.Linear(8, 5)], lambda nn: [nn.Linear(8, 3), nn.Linear(3, 3)], lambda nn: []):
        for settings in ({}, {"skip_mismatch": True}):
            assert told(paddle, last, **settings) == told(oracle, last, **settings)


def test_inference_files(paddle, tmp_path):
    for number, made in enumerate(
        (paddle.Model(scenarios.network(paddle)), paddle.Model(scenarios.network(paddle), SPEC(paddle)))
    ):
        made.prepare()
        if number == 0:
            with pytest.raises(RuntimeError, match="InputSpec"):
                made.save(str(tmp_path / "none"), training=False)
        expected = made.predict_batch(batch(paddle)[0])[0]
        made.save(str(tmp_path / f"net{number}"), training=False)
        run = paddle.jit.load(str(tmp_path / f"net{number}"))
        np.testing.assert_allclose(run(paddle.to_tensor(batch(paddle)[0][0])).numpy(), expected, rtol=1e-5)
        assert run(paddle.ones([7, 4])).shape == [7, 3]


def SPEC(p):  # noqa: N802  reads as a constant
    return [p.static.InputSpec([None, 4], "float32", "x")]


@pytest.mark.own_process
def test_callbacks_that_save(paddle, oracle, tmp_path):
    def written(p, name):
        folder = tmp_path / name
        saver = [p.callbacks.ModelCheckpoint(2, str(folder / "own"))]
        lines = [
            scenarios_run(
                p,
                lambda p: scenarios.fit(
                    p, 6, 6, batch_size=3, epochs=3, save_dir=str(folder / "freq"), save_freq=2
                ),
            ),
            scenarios_run(
                p, lambda p: scenarios.fit(p, 6, 0, batch_size=3, epochs=3, verbose=0, callbacks=saver)
            ),
            *(
                scenarios_run(
                    p,
                    lambda p, best=best, save=save: scenarios.fit(
                        p,
                        6,
                        6,
                        batch_size=3,
                        epochs=5,
                        verbose=0,
                        save_dir=str(folder / f"early{best}"),
                        callbacks=[p.callbacks.EarlyStopping("acc_top1", patience=1, save_best_model=best)],
                    ),
                )
                for best, save in ((True, 1), (False, 1))
            ),
        ]
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        return [line.replace(str(folder), "") for part in lines for line in part], files

    def scenarios_run(p, scenario):
        from tests.hapi.test_printing import run

        lines, error = run(p, scenario)
        assert error is None
        return [line for line in lines if not line.startswith("step")]

    ours, theirs = written(paddle, "ours"), written(oracle, "theirs")
    assert ours == theirs
    assert any("Best checkpoint" in line for line in ours[0]) and "earlyTrue/best_model.pdparams" in ours[1]


# static mode ------------------------------------------------------------------------------------------------


def static_model(p, rate=0.01, **settings):
    generator = np.random.RandomState(1)

    def attr(*shape):
        return p.ParamAttr(initializer=p.nn.initializer.Assign(generator.randn(*shape).astype("float32")))

    net = p.nn.Sequential(
        p.nn.Linear(4, 8, attr(4, 8), attr(8)), p.nn.ReLU(), p.nn.Linear(8, 3, attr(8, 3), attr(3))
    )
    made = p.Model(net, SPEC(p), [p.static.InputSpec([None, 1], "int64", "y")])
    optimizer = p.optimizer.Adam(rate, parameters=made.parameters())
    made.prepare(optimizer, p.nn.CrossEntropyLoss(), p.metric.Accuracy((1, 2)), **settings)
    return made


@pytest.mark.own_process
def test_static_mode(paddle, oracle):
    """The same lines as in dynamic mode, and as the real Paddle's in static mode."""
    from tests.hapi.test_printing import assert_same, run

    dynamic = run(paddle, lambda p: scenarios.fit(p, epochs=2))

    def lines(p):
        p.enable_static()
        try:
            return run(p, lambda p: scenarios.fit(p, epochs=2, prepared=static_model(p)))
        finally:
            p.disable_static()

    ours = lines(paddle)
    assert ours[1] is None
    assert_same(ours[0], dynamic[0])
    assert_same(ours[0], lines(oracle)[0])


def test_static_mode_in_parts(paddle, tmp_path):
    path = str(tmp_path / "net")
    eager = scenarios.model(paddle).predict_batch(batch(paddle)[0])[0]
    paddle.enable_static()
    programs = paddle.static.Program(), paddle.static.Program()
    try:
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(*programs):
            made = static_model(paddle, paddle.optimizer.lr.StepDecay(0.1, 2))
        np.testing.assert_allclose(made.predict_batch(batch(paddle)[0])[0], eager, rtol=1e-5)
        scenarios.fit(paddle, 6, 0, prepared=made, verbose=0)
        made.save(path)
        after = [made.train_batch(*batch(paddle))[0] for _ in range(2)]
        made.load(path)
        np.testing.assert_allclose([made.train_batch(*batch(paddle))[0] for _ in range(2)], after, rtol=1e-6)
        with pytest.raises(AssertionError, match="update"):
            made.train_batch(*batch(paddle), update=False)
        with pytest.raises(TypeError, match="inputs"):
            paddle.Model(made.network)
        made.load(path)
        expected = made.predict_batch(batch(paddle)[0])[0]
        made.save(str(tmp_path / "program"), training=False)
    finally:
        paddle.disable_static()
    network = scenarios.network(paddle)
    network.set_state_dict(paddle.load(path + ".pdparams"))
    np.testing.assert_allclose(network(paddle.to_tensor(batch(paddle)[0][0])).numpy(), expected, rtol=1e-5)
    assert Path(str(tmp_path / "program") + ".pdiparams").is_file()


CONFIGS = [
    "O1", {"level": "O2", "init_loss_scaling": 128.0},
    {"level": "O1", "init_loss_scaling": 128.0, "custom_black_list": {"matmul_v2"}},
]  # fmt: skip


@pytest.mark.parametrize("configs", CONFIGS)
def test_mixed_precision(paddle, configs, tmp_path):
    """Losses go down as in full precision; the state of the loss scaling is saved."""

    def losses(**settings):
        made = paddle.Model(scenarios.network(paddle))
        made.prepare(
            paddle.optimizer.SGD(0.05, parameters=made.parameters()), paddle.nn.CrossEntropyLoss(), **settings
        )
        return made, [float(made.train_batch(*batch(paddle))[0]) for _ in range(5)]

    made, low = losses(amp_configs=configs)
    np.testing.assert_allclose(low, losses()[1], rtol=2e-2)
    made.save(str(tmp_path / "net"))
    assert paddle.load(str(tmp_path / "net.pdscaler"))["scale"] is not None
    made.load(str(tmp_path / "net"))


def test_outputs_of_all_processes_are_refused_without_any(oracle, paddle):
    """What metrics written for several processes import."""
    from paddle_jax.hapi.model import _all_gather

    for P, gather in ((oracle, oracle.hapi.model._all_gather), (paddle, _all_gather)):
        with pytest.raises(RuntimeError, match="group is not initialized"):
            gather(P.ones([2, 1]))
