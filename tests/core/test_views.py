"""Views share their elements with what they were taken from, in both directions, as those of
the real Paddle."""

import gc
import random
import weakref

import numpy as np
import pytest

import paddle_jax
from tests.deferred import differential

VIEWS = {
    "row": lambda e, x: x[1],
    "part of a row": lambda e, x: x[1, 1:3],
    "column": lambda e, x: x[:, 1],
    "steps": lambda e, x: x[::2],
    "backwards": lambda e, x: x[::-1, 1:],
    "new axis": lambda e, x: x[:, None, 2],
    "all": lambda e, x: x[...],
    "first of a loop": lambda e, x: next(iter(x)),
    "reshape": lambda e, x: x.reshape([2, 8]),
    "reshape of a row": lambda e, x: x[1].reshape([2, 2]),
    "reshape of what is turned": lambda e, x: x.T.reshape([16]),
    "view": lambda e, x: x.view([16]),
    "view_as": lambda e, x: x.view_as(e.zeros([2, 8])),
    "flatten": lambda e, x: x.flatten(),
    "flatten of steps": lambda e, x: x[::2].flatten(),
    "transpose": lambda e, x: x.transpose([1, 0]),
    "T": lambda e, x: x.T,
    "t": lambda e, x: x.t(),
    "T of rows": lambda e, x: x[1:3].T,
    "row of T": lambda e, x: x.T[1],
    "unsqueeze": lambda e, x: x.unsqueeze(0),
    "squeeze": lambda e, x: x.unsqueeze(0).squeeze(0),
    "moveaxis": lambda e, x: e.moveaxis(x, 0, 1),
    "slice": lambda e, x: e.slice(x, [0, 1], [1, 0], [3, 2]),
    "strided_slice": lambda e, x: e.strided_slice(x, [0], [3], [0], [-2]),
    "diagonal": lambda e, x: e.diagonal(x, 1),
    "detach": lambda e, x: x.detach(),
    "data": lambda e, x: x.data,
    "contiguous": lambda e, x: x.contiguous(),
    "four deep": lambda e, x: x[1:].reshape([2, 6]).T[:, 1].unsqueeze(0)[0, 1:],
    "windows": lambda e, x: x.unfold(1, 2, 2),
    "windows of a column": lambda e, x: x[:, 1].unfold(0, 1, 3),
    "as_strided": lambda e, x: e.as_strided(x, [3, 2], [1, 8]),
    "as_complex": lambda e, x: e.as_complex(x.reshape([4, 2, 2])),
    "real of as_complex": lambda e, x: e.as_complex(x.reshape([4, 2, 2])).real(),
    "imag of a row": lambda e, x: e.as_complex(x.reshape([4, 2, 2]))[1].imag(),
    "as_real": lambda e, x: e.as_real(e.as_complex(x.reshape([4, 2, 2]))),
    "astype": lambda e, x: x.astype("float32"),
    "float": lambda e, x: x[1].float(),
    "type_as": lambda e, x: x.type_as(x),
    # copies
    "index array": lambda e, x: x[[0, 1]],
    "mask": lambda e, x: x[x > 3],
    "clone": lambda e, x: x.clone(),
    "unbind": lambda e, x: x.unbind(0)[1],
    "unbind of the last axis": lambda e, x: e.unbind(input=x, axis=-1)[2],
    "row of unbind": lambda e, x: x.reshape([2, 2, 4]).unbind(1)[1][0],
    "unstack": lambda e, x: x.unstack(0)[0],
    "split": lambda e, x: x.split(2)[0],
    "chunk": lambda e, x: e.chunk(x, 2)[1],
    "expand": lambda e, x: x.expand([4, 4]),
    "crop": lambda e, x: e.crop(x, [2, 2], [1, 1]),
    "cast": lambda e, x: e.cast(x, "float32"),
    "assign": lambda e, x: e.assign(x),
    "to_tensor": lambda e, x: e.to_tensor(x),
    "to": lambda e, x: x.to("float32"),
    "product": lambda e, x: x * 1,
    "flip": lambda e, x: x.flip(0),
    "roll": lambda e, x: e.roll(x, 1),
    "index_select": lambda e, x: e.index_select(x, e.to_tensor([0])),
}
WRITES = {
    "number": lambda e, t: t.__setitem__(0, 90.0),
    "everywhere": lambda e, t: t.__setitem__(Ellipsis, 91.0),
    "add_": lambda e, t: t.add_(e.ones(t.shape)),
    "scale_": lambda e, t: t.scale_(2.0),
    "set_value": lambda e, t: t.set_value(np.full(t.shape, 92.0, t.numpy().dtype)),
    "fill_": lambda e, t: t.fill_(93.0),
    "zero_": lambda e, t: t.zero_(),
    "mask": lambda e, t: t.__setitem__(t > 5, 94.0),
    "twice": lambda e, t: (t.add_(e.ones(t.shape)), t.__setitem__(0, 95.0)),
}


def start(engine):
    return engine.arange(16, dtype="float32").reshape([4, 4]).clone()


def written(engine, view, write):
    """What x and the view hold after a write into the view, and after one into x."""
    found = []
    for of_view in (True, False):
        x = start(engine)
        y = VIEWS[view](engine, x)
        WRITES[write](engine, y if of_view else x)
        found += [x.numpy(), y.numpy()]
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_views_share_as_those_of_the_oracle(view, oracle):
    dense = VIEWS[view](oracle, start(oracle)).is_contiguous()
    for write in WRITES:
        if write == "set_value" and not dense:
            continue  # the real Paddle writes side by side, whatever elements the view shows
        for ours, theirs in zip(written(paddle_jax, view, write), written(oracle, view, write), strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=write)


STATEMENTS = [
    "m[0][1] = 9.",
    "m[1][2:] = e.to_tensor([7., 8.])",
    "m[:, 1][0] = 2.",
    "m[-1][-1] += 1",
    "m[0][m[0] == 0] = 4.",
    "m.T[0][1] = 5.",
    "m.reshape([-1])[3] = 6.",
    "m[1:][0][:2] = 3.",
    "m[0].fill_(7.)",
    "m[0, 1:].zero_()",
    "m.unsqueeze(0)[0, 1, 1] = 3.",
    "m.detach()[1] = 2.",
    "m.data[0, 1] = 2.",
    "m[0].set_value(m[1])",
    "m[0][:] = m[1]",
    "e.nn.functional.relu_(m[0] - 5)",
    "e.nn.functional.relu_(m[0])",
    "[r.__setitem__(0, 1.) for r in m]",
    "[r.scale_(2.) for r in m[1:]]",
    "x = m[0]; x += 1",
    "x = m[0]; m = m + 1; x[0] = 5.",
    "e.assign(e.ones([4]), m[1])",
    "m[2].copy_(m[3], True)",
    "m[0], m[1] = m[1].clone(), m[0].clone()",
    "m[0][1], m[1][0] = 4., 5.",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement, oracle):
    found = []
    for engine in (paddle_jax, oracle):
        scope = {"e": engine, "m": start(engine) - 4}
        exec(statement, scope)  # noqa: S102
        found.append(scope["m"].numpy())
    np.testing.assert_array_equal(*found)


def test_parameters_are_reached_through_their_rows(oracle):
    for engine in (paddle_jax, oracle):
        layer = engine.nn.Linear(2, 3)
        layer.weight[0][1] = 5.0
        layer.weight.detach()[1] = 2.0
        assert (
            layer.weight[0, 1].item() == 5 and layer.weight[1].tolist() == [2, 2, 2] and layer.weight.is_leaf
        )
        layer(engine.ones([1, 2])).sum().backward()
        assert layer.weight.grad.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_gradients_stay_as_recorded(oracle):
    """What is shared is values: the tape knows of the product, not of what was written into its row."""
    found = []
    for engine in (paddle_jax, oracle):
        x = engine.ones([2, 2])
        x.stop_gradient = False
        y = x * 2
        row, detached = y[0], y.detach()
        y[0][1] = 0.0
        detached[1, 1] = 7.0
        (y * y).sum().backward()
        found.append((x.grad.tolist(), y.tolist(), row.tolist()))
    assert found[0] == found[1]


def test_a_step_leaves_views_as_snapshots():
    """The real Paddle's views of a parameter go on showing it (docs/differences.md)."""
    layer = paddle_jax.nn.Linear(2, 2)
    optimizer = paddle_jax.optimizer.SGD(0.1, parameters=layer.parameters())
    row, kept = layer.weight[0], layer.weight.detach()
    before = layer.weight.numpy()
    layer(paddle_jax.ones([1, 2])).sum().backward()
    optimizer.step()
    after = layer.weight.numpy()
    np.testing.assert_array_equal(kept.numpy(), before)
    row[0], kept[1, 1] = 5.0, 6.0  # and never put old values back
    np.testing.assert_array_equal(layer.weight.numpy(), after)
    np.testing.assert_array_equal(row.numpy(), [5, before[0, 1]])


@pytest.mark.parametrize("full_graph", [False, True])
def test_in_a_compiled_function(full_graph):
    kept = paddle_jax.zeros([2, 2])

    @paddle_jax.jit.to_static(full_graph=full_graph)
    def function(m):
        m = m * 1
        m[0][1] = 9.0
        kept[1][0] += 1
        return m

    for n in range(3):
        assert function(paddle_jax.ones([2, 2])).tolist() == [[1, 9], [1, 1]]
        assert kept.tolist() == [[0, 0], [n + 1, 0]]


def test_a_view_outside_of_what_a_compiled_function_changes():
    x = paddle_jax.zeros([2, 2])
    row = x[0]

    @paddle_jax.jit.to_static
    def function():
        x[0, 1] = 3.0

    function()
    assert x.tolist() == [[0, 3], [0, 0]] and row.tolist() in ([0, 3], [0, 0])
    row[0] = 1.0
    assert x.tolist() in ([[1, 3], [0, 0]], [[0, 3], [0, 0]])  # never [1, 0]: an old value is not put back


def test_where_copies_are_kept_and_the_oracle_shares(oracle):
    """docs/differences.md: one element, windows that overlap, and a reshape of what does not
    lie side by side."""
    for take in (
        lambda x: x[0, 1],
        lambda x: x.unfold(0, 2, 1),
        lambda x: x[0].unbind(0)[1],
        lambda x: x[:, 1].reshape([2, 2]),
    ):
        values = []
        for engine in (paddle_jax, oracle):
            x = start(engine)
            take(x).fill_(99.0)
            values.append(bool((x == 99).any()))
        assert values == [False, True]


def test_nothing_is_kept_alive():
    x = paddle_jax.ones([4, 4])
    row = x[0]
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None
    row[0] = 2.0
    assert row.tolist() == [2, 1, 1, 1]


def test_many_views_do_not_pile_up():
    x = paddle_jax.zeros([8, 4])
    for i in range(3000):
        x[i % 8][0] = float(i)
        x.T  # noqa: B018
    assert len(x._alias.family.refs if x._alias is not None else ()) < 200
    y = x
    for _ in range(500):
        y = y.T
    y[0, 0] = 1.0
    assert y.T.numpy()[0, 0] == 1


TIERS = {
    "immediate": {"deferred": "off"},
    "cold": {"deferred": "sync", "deferred_min_repeats": 0, "interpreter": True},
    "compiled": {"deferred": "sync", "deferred_min_repeats": 1, "interpreter": False},
}


class Model:
    """NumPy's own views, of one array."""

    ONES = ("T", "reshape", "row", "part", "column", "detach")

    @staticmethod
    def view(kind, x, numpy):
        if kind == "reshape":
            shape = [-1] if x.ndim == 2 else [2, -1]
            return x.reshape(shape)
        if kind == "T":
            return x.T if numpy or x.ndim > 1 else x[:]
        if kind == "detach":
            return x[...] if numpy else x.detach()
        return (
            x[0]
            if kind == "row" and x.ndim > 1
            else x[:, 1:]
            if kind == "column" and x.ndim > 1
            else x[1:]
            if kind == "part"
            else x[...]
        )


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("seed", range(12))
def test_random_families_share_as_in_numpy(tier, seed, paddle):
    rng = random.Random(seed)
    with differential.tier(paddle, **TIERS[tier]):
        truth = [np.arange(24, dtype="float32").reshape(4, 6)]
        mine = [paddle.to_tensor(truth[0].copy())]
        for n in range(40):
            at = rng.randrange(len(truth))
            x, y = truth[at], mine[at]
            action = rng.choice(("view", "write", "write", "forget"))
            if action == "view":
                kind = rng.choice(Model.ONES)
                if kind == "reshape" and not (x.flags.c_contiguous and x.size % 2 == 0):
                    continue
                if x.size < 3:
                    continue
                truth.append(Model.view(kind, x, True))
                mine.append(Model.view(kind, y, False))
                assert truth[-1].base is not None
            elif action == "write":
                if rng.random() < 0.5:
                    x[(0,) * x.ndim] = n
                    y[(0,) * x.ndim] = float(n)
                else:
                    x += 1
                    y.add_(paddle.ones(y.shape))
            elif len(truth) > 2 and at:
                del truth[at], mine[at]
            for x, y in zip(truth, mine, strict=True):
                np.testing.assert_array_equal(y.numpy(), x)
