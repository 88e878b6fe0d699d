"""Recomputing in parts, and under every path that programs import it from, against the real Paddle."""

import importlib
import random

import numpy as np
import pytest

import paddle_jax

PATHS = {
    "recompute": [
        "distributed.fleet.utils",
        "distributed.fleet.recompute",
        "distributed.fleet.recompute.recompute",
    ],
    "recompute_sequential": [
        "distributed.fleet.recompute",
        "distributed.fleet.recompute.recompute",
        "incubate.distributed.fleet",
    ],
    "recompute_hybrid": [
        "distributed.fleet.recompute",
        "distributed.fleet.recompute.recompute_hybrid",
        "incubate.distributed.fleet",
    ],
}


def functions(module, name):
    return [getattr(importlib.import_module(f"{module.__name__}.{path}"), name) for path in PATHS[name]]


@pytest.mark.parametrize("name", PATHS)
def test_paths(name, oracle):
    for module in (oracle, paddle_jax):
        assert all(callable(function) for function in functions(module, name))
    ours = functions(paddle_jax, name)
    assert all(function is ours[0] for function in ours)


def trained(module, ctx, count):
    """Which layers ran in the forward and in the backward pass; the result and all gradients."""
    calls = []

    class Layer(module.nn.Layer):
        def __init__(self, number):
            super().__init__()
            self.linear, self.number = module.nn.Linear(2, 2), number
            self.linear.weight.set_value(np.float32([[0.5, number], [-1.0, 0.25]]))

        def forward(self, x):
            calls.append(self.number)
            return module.tanh(self.linear(x))

    net = module.nn.Sequential(*[Layer(number) for number in range(count)])
    x = module.to_tensor(np.float32([[1.0, -2.0]]), stop_gradient=False)
    out = functions(module, "recompute_sequential")[0](ctx, net, x)
    forward, calls = calls[:], calls.clear() or calls
    out.sum().backward()
    return forward, sorted(calls), [out.numpy(), x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]]


@pytest.mark.parametrize("count", [1, 3, 4])
@pytest.mark.parametrize(
    "ctx", [{}, {"segments": 1}, {"segments": 2}, {"segments": 2, "preserve_rng_state": False}]
)
def test_parts(ctx, count, oracle):
    if ctx.get("segments", 1) > count:
        for module in (oracle, paddle_jax):
            with pytest.raises(ValueError, match="range|segments"):
                trained(module, ctx, count)
        return
    (want_forward, want_again, want), (forward, again, got) = (
        trained(module, ctx, count) for module in (oracle, paddle_jax)
    )
    assert (forward, again) == (want_forward, want_again)
    for a, b in zip(got, want, strict=True):  # the real Paddle takes a batch for a list of its rows
        np.testing.assert_allclose(a.reshape(-1), b.reshape(-1), rtol=1e-5, atol=1e-6)


def test_more_parts_than_the_real_paddle_runs():
    _, again, got = trained(paddle_jax, {"segments": 3}, 4)
    assert again == [0, 1]
    for a, b in zip(got, trained(paddle_jax, {}, 4)[2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_hybrid_needs_a_group(oracle):
    for module in (oracle, paddle_jax):
        with pytest.raises(AssertionError, match="mp_group"):
            functions(module, "recompute_hybrid")[0]({}, module.nn.Linear(2, 2), module.ones([1, 2]))


def test_hybrid_draws_the_same_numbers_again():
    x = paddle_jax.ones([64], "float32")
    x.stop_gradient = False
    ctx = {"mp_group": paddle_jax.distributed.new_group([0]), "offload": False, "partition": False}
    out = functions(paddle_jax, "recompute_hybrid")[0](ctx, paddle_jax.nn.Dropout(0.5), x)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), out.numpy())


def leaves(module):
    return [module.to_tensor(np.float32(values), stop_gradient=False) for values in ([1, 2], [3, 4])]


def of_nested_arguments(module, recompute):
    """Tensors in a tuple and by name, which the rest of the program uses, too."""
    x, y = leaves(module)
    double = y * 2
    out = recompute(lambda a, pair, k: a * pair[0] + pair[1] * k, x * 1, (double, y), k=double)
    (out + double * double).sum().backward()
    return [out, x.grad, y.grad]


def of_a_tensor_from_outside(module, recompute):
    x, y = leaves(module)
    double = y * 2
    out = recompute(lambda a: a * double, x * 1, use_reentrant=False)
    (out + double * double).sum().backward()
    return [out, x.grad, y.grad]


def of_nested_results(module, recompute):
    x, y = leaves(module)
    out = recompute(lambda a, b: {"sum": [a + b], "number": 3, "product": a * b}, x, y, use_reentrant=False)
    assert list(out) == ["sum", "number", "product"] and out["number"] == 3
    (out["sum"][0] * out["product"]).sum().backward()
    return [x.grad, y.grad]


def of_second_order(module, recompute):
    x, y = leaves(module)
    out = recompute(lambda a: a * a * y, x, use_reentrant=False)
    (slope,) = module.grad(out, x, create_graph=True)
    (slope * slope).sum().backward()
    return [slope, x.grad, y.grad]


def of_host_numbers(module, recompute):
    """Random numbers of NumPy, of `random` and of a named state."""
    x, _ = leaves(module)
    np.random.seed(3)
    random.seed(3)
    tracker = module.distributed.fleet.meta_parallel.get_rng_state_tracker()
    tracker.reset()
    tracker.add("own", 3)

    def noisy(a):
        with tracker.rng_state("own"):
            factor = module.rand([2])
        return a * factor * np.random.rand() * random.random()

    out = recompute(noisy, x)
    out.sum().backward()
    tracker.reset()
    return [(out / x.grad).detach()]


@pytest.mark.parametrize(
    "program",
    [of_nested_arguments, of_a_tensor_from_outside, of_nested_results, of_second_order, of_host_numbers],
)
def test_program(program, oracle):
    want, got = (program(module, functions(module, "recompute")[0]) for module in (oracle, paddle_jax))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_mixed_precision_again():
    seen, layer, x = [], paddle_jax.nn.Linear(2, 2), leaves(paddle_jax)[0]

    def noted(a):
        out = layer(a)
        seen.append(out.dtype)
        return out

    with paddle_jax.amp.auto_cast(level="O1", dtype="bfloat16"):
        out = functions(paddle_jax, "recompute")[0](noted, x)
    out.astype("float32").sum().backward()
    assert seen == [paddle_jax.bfloat16] * 2


def test_inputs_cut_from_the_tape(oracle):
    found = []
    for module in (oracle, paddle_jax):
        part = importlib.import_module(f"{module.__name__}.distributed.fleet.recompute.recompute")
        x, y = leaves(module)
        weight = module.nn.Linear(2, 2).weight
        results = part.detach_variable((x * 2, (y, module.to_tensor([1])), weight, 3, [x]))
        first, pair, parameter, number, same = results
        assert type(results) is tuple and type(pair) is tuple and same[0] is x and number == 3
        assert parameter is not weight and type(parameter) is type(weight) and parameter.name == weight.name
        found.append([(t.tolist(), t.stop_gradient, t.is_leaf) for t in (first, *pair)])
        with pytest.raises(AssertionError):
            part.detach_variable([(x, 3)])
        part.check_recompute_necessary((x, 3))
    assert found[0] == found[1]


def test_states_in_a_block(oracle):
    for module in (oracle, paddle_jax):
        part = importlib.import_module(f"{module.__name__}.distributed.fleet.recompute.recompute")
        states = module.get_rng_state(), {}, np.random.get_state(), random.getstate()
        drawn = [module.rand([2]).tolist(), np.random.rand(), random.random()]
        with part.switch_rng_state_tracker(*states):
            assert [module.rand([2]).tolist(), np.random.rand(), random.random()] == drawn
        then = [module.rand([2]).tolist(), np.random.rand(), random.random()]
        module.set_rng_state(states[0])
        np.random.set_state(states[2])
        random.setstate(states[3])
        for expected in (drawn, then):
            assert [module.rand([2]).tolist(), np.random.rand(), random.random()] == expected


RETURNED = {
    "a mask": (lambda layer: lambda a, b: (layer(a) * b, b), True),
    "one that wants a gradient": (lambda layer: lambda a, b: [layer(a) * b, b], False),
    "twice, by name": (lambda layer: lambda a, b: {"one": b, "out": layer(a) * b, "two": b}, True),
    "nothing else": (lambda layer: lambda a, b: (b, a), False),
}


@pytest.mark.parametrize("name", RETURNED)
def test_arguments_that_come_back(name, oracle):
    """Blocks of a pipeline hand a mask on to the next one."""

    def results(module):
        make, no_gradient = RETURNED[name]
        layer = module.nn.Linear(2, 2)
        layer.weight.set_value(np.float32([[0.5, 2], [-1, 0.25]]))
        x = module.to_tensor(np.float32([[1, -2]]), stop_gradient=False)
        mask = module.to_tensor(np.float32([[1, 3]]), stop_gradient=no_gradient)
        recompute = functions(module, "recompute")[0]
        out = recompute(make(layer), x, mask, use_reentrant=False, preserve_rng_state=False)
        values = list(out.values()) if isinstance(out, dict) else list(out)
        sum((value * value).sum() for value in values).backward()
        tensors = [*values, x.grad, mask.grad, layer.weight.grad]
        return (
            [value is mask or value is x for value in values],
            [None if each is None else each.numpy().tolist() for each in tensors],
        )

    assert results(paddle_jax) == results(oracle)


def test_arguments_that_come_back_count_as_changed_with_reentrant(oracle):
    for module in (oracle, paddle_jax):
        x = module.ones([2])
        x.stop_gradient = False
        with pytest.raises(ValueError, match="that doesn't stop gradient|counts as a change in place"):
            functions(module, "recompute")[0](lambda a: a, x, preserve_rng_state=False)


def test_a_slice_of_tensors_and_a_list_to_write_into():
    recompute = functions(paddle_jax, "recompute")[0]
    seen = []

    def part(x, rows, notes):
        notes.append(int(rows.stop))
        return (x[rows] * x[rows]).sum()

    x = paddle_jax.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    recompute(part, x, slice(paddle_jax.to_tensor(0), paddle_jax.to_tensor(2)), seen).backward()
    # The second run is that of the backward pass.
    assert x.grad.tolist() == [2.0, 4.0, 0.0] and seen == [2, 2]
