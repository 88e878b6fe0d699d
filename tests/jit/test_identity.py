"""One Tensor in several places, views and what comes out of branches: compiled functions change what
plain Python changes."""

import gc
import types
import warnings

import numpy as np

import paddle_jax as paddle
from tests.jit.corpus.script import data


def quiet(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


def test_two_places_get_one_tensor():
    held = types.SimpleNamespace(a=data(2), b=data(2, seed=1))
    plain = types.SimpleNamespace(a=data(2), b=data(2, seed=1))

    def step_on(held):
        def step():
            held.a.add_(paddle.ones([2]))
            held.b.scale_(2.0)
            return held.a + held.b

        return step

    compiled, step = paddle.jit.to_static(step_on(held)), step_on(plain)
    for number in range(4):
        if number == 2:
            held.b, plain.b = held.a, plain.a
        np.testing.assert_allclose(compiled().numpy(), step().numpy(), rtol=1e-6)
        np.testing.assert_allclose(held.a.numpy(), plain.a.numpy(), rtol=1e-6)


def test_an_attribute_of_a_namespace_is_set_at_each_call():
    held = types.SimpleNamespace(last=0.0)

    def step(x):
        held.last = 1.0
        return x * 2

    compiled = paddle.jit.to_static(step)
    for _ in range(3):
        held.last = 0.0
        quiet(compiled, paddle.ones([2]))
        assert held.last == 1.0


def test_what_runs_eagerly_changes_a_namespace_once():
    held = types.SimpleNamespace(count=0, items=[0.5])

    def step(x):
        held.count += 1
        held.items.append(1.0)
        return x * held.count

    compiled = paddle.jit.to_static(step)
    for number in range(1, 4):
        assert quiet(compiled, paddle.ones([1])).tolist() == [number]
    assert held.count == 3 and len(held.items) == 4


def test_views_are_linked_after_a_compiled_call_and_one_that_fails():
    base = paddle.zeros([2, 2])
    row = base[0]

    def write():
        base.add_(paddle.ones([2, 2]))

    def fails(x):
        base.add_(paddle.ones([2, 2]))
        return x * float(x.sum())

    compiled, failing = paddle.jit.to_static(write, full_graph=True), paddle.jit.to_static(fails)
    for number in range(1, 4):
        compiled()
        assert row.tolist() == [number, number]
    quiet(failing, paddle.ones([1]))
    assert row.tolist() == [4, 4]
    row[0] = 9.0
    assert base.tolist() == [[9, 4], [4, 4]]


def test_views_that_come_later_are_noticed():
    held = types.SimpleNamespace(base=paddle.zeros([2, 2]))

    def write():
        held.base.add_(paddle.ones([2, 2]))
        return held.base * 1

    compiled = paddle.jit.to_static(write)
    compiled()
    row = held.base[0]
    compiled()
    assert row.tolist() == held.base[0].tolist() == [2, 2]
    held.base = paddle.zeros([2, 2])
    assert compiled().tolist() == [[1, 1], [1, 1]]
    assert row.tolist() == [2, 2]


def test_what_a_branch_gives_may_be_the_argument():
    def step(x, limit):
        if x.sum() > limit:
            x = x * 2
        x.add_(paddle.ones([2]))
        return x

    compiled = paddle.jit.to_static(step)
    for limit in (paddle.to_tensor(10.0), paddle.to_tensor(0.0)):
        given, other = data(2).abs(), data(2).abs()
        np.testing.assert_allclose(
            quiet(compiled, given, limit).numpy(), step(other, limit).numpy(), rtol=1e-6
        )
        np.testing.assert_allclose(given.numpy(), other.numpy(), rtol=1e-6)


def test_a_gradient_that_is_assigned_stays_as_it_is():
    weight, new = data(2), data(2, seed=1)
    weight.stop_gradient = False

    def step():
        weight.grad = new * 2

    compiled = paddle.jit.to_static(step)
    for _ in range(2):
        compiled()
        assert weight.grad.stop_gradient
        np.testing.assert_allclose(weight.grad.numpy(), new.numpy() * 2, rtol=1e-6)


def test_what_a_scheduler_says_after_its_step():
    def built():
        scheduler = paddle.optimizer.lr.StepDecay(0.5, 2, 0.5)
        optimizer = paddle.optimizer.SGD(scheduler, parameters=[paddle.create_parameter([1], "float32")])

        def step(x):
            scheduler.step()
            return x * optimizer.get_lr() + scheduler.last_lr

        return step

    compiled, step, x = paddle.jit.to_static(built()), built(), paddle.ones([1])
    for _ in range(5):
        assert quiet(compiled, x).tolist() == step(x).tolist()


def test_a_view_of_the_captured_run_that_stays_alive():
    base = paddle.zeros([2, 2])
    row = base[0]

    def step():
        view = base[1]
        view.add_(paddle.ones([2]))
        ring = [view]
        ring.append(ring)  # garbage that nothing collects yet

    compiled = paddle.jit.to_static(step, full_graph=True)
    gc.disable()
    try:
        compiled()
        assert len(base._alias.family.living()) == 2  # the one that a later write would reach holds no value
    finally:
        gc.enable()
    assert base.tolist() == [[0, 0], [1, 1]] and row.tolist() == [0, 0]


class Owner:
    """No Layer, though it has an attribute with the name of one of a Layer's."""

    def __init__(self):
        self._parameters, self.count, self.last = {"rate": 2.0}, 0, None


def test_an_object_with_parameters_that_is_no_layer():
    owners = Owner(), Owner()

    def step_on(owner):
        def step(x):
            owner.count = owner.count + 1
            owner.last = x * owner._parameters["rate"]
            return owner.last.sum()

        return step

    plain, compiled = step_on(owners[0]), paddle.jit.to_static(step_on(owners[1]), full_graph=True)
    for k in range(3):
        x = data(2, seed=k)
        assert compiled(x).item() == plain(x).item()
        assert owners[1].last.tolist() == owners[0].last.tolist()
        assert [owner.count for owner in owners] == [k + 1, k + 1]
