"""Losses and distances of NaN: a network that has failed shows no finite loss."""

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
