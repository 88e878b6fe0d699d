"""`Model.fit` with unchanged code: after a few steps each runs as one compiled program, metrics included."""

import numpy as np
import pytest

import paddle_jax
from paddle_jax._core.runner import tiering
from tests.deferred import compiled as compiled_segments
from tests.deferred import differential

BATCHES, WARM = 12, 6


class Images(paddle_jax.io.Dataset):
    def __init__(self):
        random, count = np.random.default_rng(0), 8 * BATCHES
        self.pixels, self.labels = (
            random.standard_normal((count, 1, 8, 8)).astype("float32"),
            random.integers(0, 3, (count, 1)),
        )

    def __getitem__(self, index):
        return self.pixels[index], self.labels[index]

    def __len__(self):
        return len(self.labels)


def fitted(model, **settings):
    """(segments, hits, compiles) that each batch of a training adds."""
    counts = []

    class Watch(paddle_jax.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            report = paddle_jax.explain()
            counts.append((report.segments, report.hits, report.compiles))

    model.fit(Images(), batch_size=8, verbose=0, callbacks=Watch(), **settings)
    return np.diff(counts, axis=0)


def network(p, *between):
    nn = p.nn
    return nn.Sequential(
        nn.Conv2D(1, 4, 3), *between, nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(36, 3)
    )


def plain(p):
    model = p.Model(network(p))
    model.prepare(
        p.optimizer.Adam(1e-2, parameters=model.parameters()),
        p.nn.CrossEntropyLoss(),
        p.metric.Accuracy((1, 2)),
    )
    return model


def without_metrics(p):
    model = p.Model(network(p))
    model.prepare(p.optimizer.SGD(1e-2, parameters=model.parameters()), p.nn.CrossEntropyLoss())
    return model


def schedule(p):
    """Normalisation, dropout, clipping, weight decay, and a rate that changes at every step."""
    model, clip = p.Model(network(p, p.nn.BatchNorm2D(4), p.nn.Dropout(0.5))), p.nn.ClipGradByGlobalNorm(1.0)
    rate = p.optimizer.lr.CosineAnnealingDecay(1e-2, 100)
    model.prepare(
        p.optimizer.AdamW(rate, parameters=model.parameters(), grad_clip=clip),
        p.nn.CrossEntropyLoss(),
        p.metric.Accuracy(),
    )
    return model


def mixed(p):
    model = plain(p)
    model.prepare(
        model._optimizer,
        p.nn.CrossEntropyLoss(),
        p.metric.Accuracy(),
        amp_configs={"level": "O1", "init_loss_scaling": 128.0},
    )
    return model


def several(p):
    """Two metrics and a loss of the program's own."""
    model = p.Model(p.nn.Sequential(network(p), p.nn.Linear(3, 3)))
    model.prepare(
        p.optimizer.Momentum(1e-2, parameters=model.parameters()),
        lambda out, label: p.nn.functional.cross_entropy(out * 2, label),
        [p.metric.Accuracy(), p.metric.Accuracy((1, 2), "both")],
    )
    return model


@pytest.mark.parametrize(
    "make, workers", [(plain, 0), (plain, 2), (without_metrics, 0), (schedule, 0), (mixed, 0), (several, 0)]
)
def test_a_step_is_one_program(make, workers):
    compiled_segments.forget()  # what other tests have compiled
    with differential.tier(paddle_jax, deferred="sync", deferred_min_repeats=2, interpreter=False):
        added = fitted(make(paddle_jax), epochs=1, shuffle=False, num_workers=workers)
    assert len(added) == BATCHES - 1
    np.testing.assert_array_equal(added[WARM:], [[1, 1, 0]] * (BATCHES - 1 - WARM))
    assert 1 <= added[:, 2].sum() <= 2


@pytest.mark.parametrize("make", [plain, schedule])
def test_the_default_settings_get_there(make, monkeypatch):
    """No setting of the deferred tier is touched: what has come often enough is compiled."""
    monkeypatch.setattr(tiering, "_SHARE", 0.01)  # after 200 steps, not 6000
    np.testing.assert_array_equal(fitted(make(paddle_jax), epochs=40)[-BATCHES:], [[1, 1, 0]] * BATCHES)
