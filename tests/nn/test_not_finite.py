"""NaN and infinity: a network that has failed shows no finite loss, and numbers elsewhere stay."""

import numpy as np
import pytest

NAN = float("nan")

CALLS = {
    "normalize": lambda F, t: F.normalize(t([[1.0, NAN, 2.0], [1.0, 2.0, 2.0]])),
    "pairwise_distance": lambda F, t: F.pairwise_distance(t([[1.0, NAN], [1.0, 2.0]]), t([[1.0, 1.0]] * 2)),
    "pairwise_distance, order 3": lambda F, t: F.pairwise_distance(t([[1.0, NAN]]), t([[1.0, 1.0]]), 3.0),
    "triplet": lambda F, t: F.triplet_margin_loss(t([[NAN, 1.0]]), t([[1.0, 1.0]]), t([[1.0, 2.0]])),
    "cosine": lambda F, t: F.cosine_embedding_loss(t([[NAN, 1.0]]), t([[1.0, 2.0]]), t([-1.0])),
    "classes": lambda F, t: F.multi_margin_loss(t([[1.0, NAN, 0.2]] * 2), t([2, 1]), reduction="none"),
    "labels": lambda F, t: F.multi_label_margin_loss(t([[1.0, NAN, 0.2]]), t([[2, 0, -1]])),
    "ranking": lambda F, t: F.margin_ranking_loss(t([NAN, 2.0]), t([1.0, 1.0]), t([1.0, -1.0])),
    "hinge": lambda F, t: F.hinge_embedding_loss(t([1.0, NAN]), t([1.0, -1.0])),
}


@pytest.mark.parametrize("name", CALLS)
def test_nan_is_seen(paddle, oracle, name):
    found = [
        CALLS[name](module.nn.functional, lambda values, module=module: module.to_tensor(np.array(values)))
        for module in (paddle, oracle)
    ]
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=1e-6)


def _picture(value, *shape):
    array = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    array.ravel()[array.size // 3] = value
    return array


POOLS = {
    "adaptive_avg_pool1d": ((1, 2, 7), 3),
    "adaptive_avg_pool2d": ((1, 2, 7, 5), [3, 2]),
    "adaptive_avg_pool3d": ((1, 2, 4, 5, 3), [3, 2, 2]),
}


@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf])
@pytest.mark.parametrize("name", POOLS)
def test_cells_without_it_stay_finite(paddle, oracle, name, value):
    shape, size = POOLS[name]
    results, gradients = [], []
    for module in (paddle, oracle):
        x = module.to_tensor(_picture(value, *shape), stop_gradient=False)
        result = getattr(module.nn.functional, name)(x, size)
        results.append(result.numpy())
        gradients.append(module.grad(result.flatten()[-1], [x])[0].numpy())
    np.testing.assert_allclose(*results, rtol=1e-6)
    np.testing.assert_allclose(*gradients, rtol=1e-6)
