"""The tiers that behaviour is tested in."""

import pytest

import paddle_jax
from tests.deferred import differential

TIERS = {
    "immediate": {"deferred": "off"},
    "cold": {"deferred": "sync", "deferred_min_repeats": 1 << 30, "interpreter": True},
    "by_cost": {"deferred": "sync", "deferred_min_repeats": 0, "interpreter": True},
    "deferred": {"deferred": "sync", "deferred_min_repeats": 2, "interpreter": False},
    "compiled": {"deferred": "sync", "deferred_min_repeats": 1, "donate": True},
    "background": {"deferred_background": True, "deferred_min_repeats": 1, "donate": True},
}


@pytest.fixture(params=TIERS)
def tier(request):
    """Runs the test once in every tier: 'cold' interprets; the last two compile whatever they see and reuse
    the memory of small operands too."""
    with differential.tier(paddle_jax, **TIERS[request.param]):
        yield request.param


@pytest.fixture
def deferred():
    """Runs the test in the deferred tier."""
    with differential.tier(paddle_jax, **TIERS["deferred"]):
        yield


@pytest.fixture
def count(paddle):
    """A function that says how much of a kind (segments, hits, compiles) was added since
    it was asked last."""
    last = {}

    def added(kind):
        now = getattr(paddle.explain(), kind)
        before, last[kind] = last.get(kind, now), now
        return now - before

    for kind in ("segments", "hits", "compiles"):
        added(kind)
    return added
