"""A backward pass that comes again is repeated only where it is the same: steps that record the same
operations with another tape, in turn, give what they give when every operation runs at once.

Unit tests of `_core.base.state`, `_core.tape.backward` and `_core.tape.replay`.
"""

import numpy as np
import pytest

from paddle_jax._core.base.state import Precision, local
from paddle_jax._core.tape import backward, replay
from tests.deferred import differential

ORDERS = ["aaaaaa", "aaabab", "aabbab", "abababab"]


@pytest.fixture
def p(paddle):
    replay.clear()
    return paddle


def weights(p, count=2):
    return [
        p.to_tensor(np.linspace(-1, 1, 6).reshape(2, 3) * (k + 1), stop_gradient=False) for k in range(count)
    ]


class Steps:
    """Two ways, `a` and `b`, to make a step with the same operations. Each returns what is compared."""

    def __init__(self, p):
        self.p, self.seen = p, []
        self.w, self.v = weights(p)

    def loss(self, w, v):
        return ((w * v).tanh() * w).sum()

    def a(self):
        self.loss(self.w, self.v).backward()

    def result(self):
        grads = [None if t.grad is None else t.grad.numpy().tolist() for t in (self.w, self.v)]
        self.w.clear_grad()
        self.v.clear_grad()
        seen, self.seen = self.seen, []
        return grads, seen


class Same(Steps):
    b = Steps.a


class NoSecond(Steps):
    def b(self):
        self.v.stop_gradient = True
        self.a()
        self.v.stop_gradient = False


class HookInside(Steps):
    def b(self):
        inner = self.w * self.v
        inner.register_hook(lambda g: g * 3)
        (inner.tanh() * self.w).sum().backward()


class HookOnLeaf(Steps):
    def b(self):
        handle = self.w.register_hook(lambda g: g * 5)
        self.a()
        handle.remove()


class HookAfterBackward(Steps):
    def b(self):
        self.w._register_backward_hook(lambda: self.seen.append(self.w.grad.numpy().sum()))
        self.a()
        self.w._after_backward = ()


class SharesValue(Steps):
    """The second operand shows the value of the first one, and is a leaf of its own."""

    def __init__(self, p):
        super().__init__(p)
        self.v = self.w.detach()
        self.v.stop_gradient = False

    def a(self):
        self.loss(self.w, self.w).backward()

    def b(self):
        self.loss(self.w, self.v).backward()


class Cut(Steps):
    """The tape is cut where the value goes on."""

    def a(self):
        inner = self.w * self.v
        (inner.tanh() * self.w).sum().backward()

    def b(self):
        inner = (self.w * self.v).detach()
        (inner.tanh() * self.w).sum().backward()


class Kept(Steps):
    def b(self):
        loss = self.loss(self.w, self.v)
        loss.backward(retain_graph=True)
        loss.backward()


class Twice(Steps):
    def b(self):
        loss = self.loss(self.w, self.v)
        loss.backward()
        with pytest.raises(RuntimeError, match="retain_graph"):
            loss.backward()


class Numbers(Steps):
    def __init__(self, p):
        super().__init__(p)
        self.factor = 1.0

    def loss(self, w, v):
        self.factor += 0.5
        return ((w * v) * self.factor / (self.factor + 1)).sum()

    b = Steps.a


class Accumulated(Steps):
    def b(self):
        self.a()
        self.a()


class WithoutGrads(Steps):
    def b(self):
        self.w._grad = self.v._grad = None
        self.a()


class HeldGradient(Steps):
    def b(self):
        self.a()
        held = self.w.grad
        self.a()
        self.seen.append(held.numpy().tolist())


class Changed(Steps):
    """A value in the middle is changed in place after it was used, as part of the tape or not."""

    def a(self):
        inner = self.w * self.v
        inner.scale_(2.0)
        inner.sum().backward()

    def b(self):
        inner = self.w * self.v
        with self.p.no_grad():
            inner.scale_(2.0)
        inner.sum().backward()


class Outputs(Steps):
    """Operations with several results, of which a step uses one or both."""

    def a(self):
        left, right = self.p.split(self.w * self.v, [1, 2], axis=1)
        (left.sum() + right.sum()).backward()

    def b(self):
        left, right = self.p.split(self.w * self.v, [1, 2], axis=1)
        (left.sum() + right.detach().sum()).backward()


class OtherResult(Steps):
    """Backward from another of two results, where each is recorded."""

    def both(self):
        inner = self.w * self.v
        return inner.sum(), inner.tanh().sum()

    def a(self):
        self.both()[0].backward()

    def b(self):
        self.both()[1].backward()


class Penalty(Steps):
    """A gradient that is recorded is part of the tape."""

    def a(self):
        loss = self.loss(self.w, self.v)
        (grad,) = self.p.grad([loss], [self.w], create_graph=True)
        (loss + (grad * grad).sum()).backward()

    def b(self):
        loss = self.loss(self.w, self.v)
        (grad,) = self.p.grad([loss], [self.w], create_graph=True)
        (loss + (grad * grad).detach().sum()).backward()


class Own(Steps):
    """A layer with a backward of its own."""

    def a(self):
        class Triple(self.p.autograd.PyLayer):
            @staticmethod
            def forward(ctx, x):
                return x * 3

            @staticmethod
            def backward(ctx, grad):
                return grad * 7

        (Triple.apply(self.w) * self.v).sum().backward()

    def b(self):
        ((self.w * 3) * self.v).sum().backward()


class Unchanging(Steps):
    """Leaves that a result was computed from but does not change with."""

    def a(self):
        loss = (self.w.floor() * self.v).sum()
        (grad,) = self.p.grad([loss], [self.v], create_graph=True)
        (grad.sum() + self.v.sum()).backward()

    b = a


class Grads(Steps):
    """`grad` of leaves, which are others in the other way."""

    def a(self):
        self.seen += [g.numpy().tolist() for g in self.p.grad([self.loss(self.w, self.v)], [self.w, self.v])]

    def b(self):
        self.seen += [g.numpy().tolist() for g in self.p.grad([self.loss(self.w, self.v)], [self.v, self.w])]


class GradOfOne(Steps):
    def a(self):
        self.seen += [g.numpy().tolist() for g in self.p.grad([self.loss(self.w, self.v)], [self.w])]

    def b(self):
        self.seen += [g.numpy().tolist() for g in self.p.grad([self.loss(self.w, self.v)], [self.v])]


class GradThenBackward(Steps):
    """The tape is there after `grad`, and used again."""

    def a(self):
        loss = self.loss(self.w, self.v)
        (grad,) = self.p.grad([loss], [self.w])
        loss.backward()
        self.seen += [grad.numpy().tolist(), grad.stop_gradient]

    def b(self):
        loss = self.loss(self.w, self.v)
        loss.backward(retain_graph=True)
        (grad,) = self.p.grad([loss], [self.w])
        self.seen += [grad.numpy().tolist(), grad.stop_gradient]


class ThirdDerivative(Steps):
    def a(self, last=2):
        out = self.loss(self.w, self.v)
        for order in range(3):
            (out,) = self.p.grad(out.sum(), self.w, create_graph=order < last)
        self.seen += [out.numpy().tolist(), out.stop_gradient]

    def b(self):
        self.a(3)


class GradWithHook(Steps):
    a = GradOfOne.a

    def b(self):
        hook = self.w.register_hook(lambda g: g * 3)
        self.a()
        hook.remove()


class GradUnused(Steps):
    """One of the leaves has no part in the result."""

    def a(self):
        grads = self.p.grad([(self.w * self.w).sum()], [self.w, self.v], allow_unused=True)
        self.seen += [None if g is None else g.numpy().tolist() for g in grads]

    def b(self):
        self.seen += [g.numpy().tolist() for g in self.p.grad([(self.w * self.v).sum()], [self.w, self.v])]


class Recorded(Steps):
    """Steps with the gradient of an inner result, itself recorded."""

    def step(self, second, detached=False):
        """`second`: from what the second derivative is built: (first gradients, inner result)."""
        inner = self.w * self.v
        if detached:
            inner = inner.detach()
            inner.stop_gradient = False
        out = (inner.tanh() * self.w).sum()
        grads = self.p.grad([out], [inner, self.w], create_graph=True)
        second(grads, inner).backward()
        self.seen += [g.numpy().tolist() for g in grads]


class InnerInputs(Recorded):
    def a(self):
        self.step(lambda grads, inner: (grads[0] * grads[1] + inner).sum())

    def b(self):
        self.step(lambda grads, inner: (grads[0] * grads[1] + inner).sum(), detached=True)


class OtherInner(Steps):
    """The same operations, and gradients by another inner result."""

    def grads(self, which, create_graph):
        first = self.w * self.v
        second = first.tanh()
        (grad,) = self.p.grad([(second * self.w).sum()], [(first, second)[which]], create_graph=create_graph)
        self.seen += [grad.numpy().tolist(), grad.stop_gradient]
        return grad

    def a(self):
        self.grads(0, True).sum().backward()
        self.grads(0, False)

    def b(self):
        self.grads(1, True).sum().backward()
        self.grads(1, False)


class HookOnGradient(Recorded):
    a = InnerInputs.a

    def b(self):
        def second(grads, inner):
            grads[0].register_hook(lambda g: g * 2)
            return (grads[0] * grads[1] + inner).sum()

        self.step(second)


class HookInGraph(Steps):
    def a(self, hook=None):
        inner = self.w * self.v
        if hook is not None:
            inner.register_hook(hook)
        grads = self.p.grad([(inner.tanh() * self.w).sum()], [self.w, self.v], create_graph=True)
        (grads[0] * grads[1]).sum().backward()

    def b(self):
        self.a(lambda g: g * 3)


class ZeroSecond(Steps):
    """First gradients that do not change with some of what they were computed from."""

    def a(self):
        relu = self.p.nn.functional.relu
        out = (relu(self.w * 3) * self.v + self.p.matmul(self.w, self.v, transpose_y=True).sum()).sum()
        grads = self.p.grad([out], [self.w, self.v], create_graph=True)
        seconds = self.p.grad([(grads[0] * 2).sum()], [self.w, self.v], create_graph=True, allow_unused=True)
        self.seen += [g if g is None else g.numpy().tolist() for g in seconds]
        sum(g.sum() for g in (*grads, *seconds) if g is not None).backward()

    def b(self):
        self.v.stop_gradient = True
        relu = self.p.nn.functional.relu
        out = (relu(self.w * 3) * self.v + self.p.matmul(self.w, self.v, transpose_y=True).sum()).sum()
        (grad,) = self.p.grad([out], [self.w], create_graph=True)
        grad.sum().backward()
        self.v.stop_gradient = False


class SecondOfParts(Steps):
    """Second derivatives through operations with several results."""

    def a(self, use_both=True):
        left, right = self.p.split(self.w * self.v, [1, 2], axis=1)
        out = left.exp().sum() + (right if use_both else right.detach()).tanh().sum()
        grads = self.p.grad([out], [self.w, self.v], create_graph=True)
        (grads[0] * grads[1]).sum().backward()
        self.seen += [g.numpy().tolist() for g in grads]

    def b(self):
        self.a(False)


class GraphThenPlain(Steps):
    """A pass that is recorded, and one that is not, over the same operations."""

    def a(self):
        loss = self.loss(self.w, self.v)
        (grad,) = self.p.grad([loss], [self.w], create_graph=True)
        self.seen += [grad.numpy().tolist(), grad.stop_gradient]

    def b(self):
        loss = self.loss(self.w, self.v)
        (grad,) = self.p.grad([loss], [self.w])
        self.seen += [grad.numpy().tolist(), grad.stop_gradient]


class HeldGraph(Steps):
    """A gradient of an earlier step is differentiated after later ones."""

    def __init__(self, p):
        super().__init__(p)
        self.held = None

    def a(self):
        (grad,) = self.p.grad([self.loss(self.w, self.v)], [self.w], create_graph=True)
        if self.held is not None:
            self.held.sum().backward()
        self.held = grad

    b = GraphThenPlain.b


KINDS = [
    InnerInputs,
    OtherInner,
    HookOnGradient,
    HookInGraph,
    ZeroSecond,
    SecondOfParts,
    GraphThenPlain,
    HeldGraph,
    Grads,
    GradOfOne,
    GradThenBackward,
    ThirdDerivative,
    GradWithHook,
    GradUnused,
    Same,
    NoSecond,
    HookInside,
    HookOnLeaf,
    HookAfterBackward,
    SharesValue,
    Cut,
    Kept,
    Twice,
    Numbers,
    Accumulated,
    WithoutGrads,
    HeldGradient,
    Changed,
    Outputs,
    OtherResult,
    Penalty,
    Own,
    Unchanging,
]


def run(p, kind, order, mode):
    with differential.tier(p, deferred=mode, deferred_min_repeats=2):
        steps, results = kind(p), []
        for name in order:
            getattr(steps, name)()
            results.append(steps.result())
    return results


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_steps_in_turn(p, kind, order):
    expected = run(p, kind, order, "off")
    for wanted, got in zip(expected, run(p, kind, order, "sync"), strict=True):
        for a, b in zip(wanted, got, strict=True):
            assert len(a) == len(b)
            for x, y in zip(a, b, strict=True):
                assert (x is None) == (y is None)
                if x is not None:
                    np.testing.assert_allclose(np.asarray(y), np.asarray(x), rtol=1e-12)


REPEATED = [
    InnerInputs,
    OtherInner,
    SecondOfParts,
    GraphThenPlain,
    Grads,
    GradOfOne,
    GradThenBackward,
    ThirdDerivative,
    Same,
    Numbers,
    Accumulated,
    WithoutGrads,
    HeldGradient,
    Outputs,
    Penalty,
    Cut,
]


@pytest.mark.parametrize("kind", REPEATED, ids=[kind.__name__ for kind in REPEATED])
def test_what_is_the_same_is_repeated(p, kind, monkeypatch):
    repeated = []
    append = replay.Pass.append
    monkeypatch.setattr(replay.Pass, "append", lambda *args: repeated.append(args) or append(*args))
    run(p, kind, "aaaaaa", "sync")
    assert len(repeated) >= 3


def test_a_training_loop_learns_the_same(p):
    def losses(mode):
        with differential.tier(p, deferred=mode, deferred_min_repeats=2):
            p.seed(3)
            net = p.nn.Sequential(
                p.nn.Conv2D(1, 3, 3),
                p.nn.BatchNorm2D(3),
                p.nn.ReLU(),
                p.nn.Flatten(),
                p.nn.Linear(48, 8),
                p.nn.LayerNorm(8),
                p.nn.Linear(8, 2),
            )
            optimizer = p.optimizer.Momentum(0.05, parameters=net.parameters())
            x, y = p.rand([5, 1, 6, 6]), p.to_tensor([0, 1, 1, 0, 1])
            found = []
            for _ in range(8):
                loss = p.nn.functional.cross_entropy(net(x), y)
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                found.append(float(loss))
            return found

    np.testing.assert_allclose(losses("sync"), losses("off"), rtol=1e-4)


def test_passes_are_bounded(p, monkeypatch):
    monkeypatch.setattr(replay, "_MAX_PASSES", 3)
    with differential.tier(p, deferred="sync", deferred_min_repeats=2):
        for size in range(1, 8):
            x = p.ones([size], dtype="float64")
            x.stop_gradient = False
            for _ in range(4):
                (x * x).sum().backward()
                assert x.grad.tolist() == [2.0] * size
                x.clear_grad()
    assert len(replay._Passes.known) <= 3


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_finalizer_runs_the_segment_before_its_pass_is_recorded(p, create_graph, monkeypatch):
    runs = []

    def comes_again(key):
        is_known = replay.comes_again(key)
        if is_known and not runs:
            runs.append(key)
            local.ctx.segment.run("a finalizer reads a value")
        return is_known

    monkeypatch.setattr(backward, "comes_again", comes_again)
    with differential.tier(p, deferred="sync", deferred_min_repeats=2):
        for _ in range(5):
            (x,) = weights(p, 1)
            (grad,) = p.grad([(x * x * x).sum()], [x], create_graph=create_graph)
            np.testing.assert_allclose(grad.numpy(), 3 * x.numpy() ** 2)
    assert runs
    # The next pass is recorded.
    assert any(replay._Passes.known.values())


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("factors", [[2.0, 3.0, 4.0, 5.0, 3.0], [3.0, 3.0, 4.0, 3.0, 5.0], [2, 5, 3, 3, 7]])
def test_numbers_that_are_equal_in_some_steps(p, factors, create_graph):
    with differential.tier(p, deferred="sync", deferred_min_repeats=2):
        for factor in factors:
            (x,) = weights(p, 1)
            loss = ((x * factor).tanh() * 3.0).sum()
            (grad,) = p.grad([loss], [x], create_graph=create_graph)
            expected = 3 * factor * (1 - np.tanh(x.numpy() * factor) ** 2)
            np.testing.assert_allclose(grad.numpy(), expected)


class GrowingLeaves(list):
    """The leaves of a segment. A finalizer adds one just before a pass adds its own."""

    def extend(self, leaves):
        self.append(leaves[0])
        super().extend(leaves)


def test_a_finalizer_records_just_before_a_pass_is_replayed(p):
    with differential.tier(p, deferred="sync", deferred_min_repeats=2):
        for k in range(5):
            (x,) = weights(p, 1)
            factor = k + 4.0
            loss = ((x * factor).tanh() * 3.0).sum()
            if k > 2:
                local.ctx.segment.leaves = GrowingLeaves(local.ctx.segment.leaves)
            loss.backward()
            expected = 3 * factor * (1 - np.tanh(x.numpy() * factor) ** 2)
            np.testing.assert_allclose(x.grad.numpy(), expected)


def test_gradients_wider_than_their_parameters(p, monkeypatch):
    monkeypatch.setattr(Precision, "master_grads", True)
    with differential.tier(p, deferred="sync", deferred_min_repeats=2):
        x = p.ones([3], dtype="float16")
        x.stop_gradient = False
        for wide in (False, False, False, True, True, True, False):
            x.master_grad = wide
            (x * x).sum().backward()
            assert x.grad.dtype == (p.float32 if wide else p.float16)
            x.clear_gradient(False)


def test_results_without_parts(p):
    for mode in ("sync", "off"):
        with differential.tier(p, deferred=mode):
            x = p.zeros([0, 3])
            x.stop_gradient = False
            assert p.unbind(x) == []
