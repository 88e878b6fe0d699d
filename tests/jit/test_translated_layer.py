"""Whole networks in files, fine-tuning of loaded models, and what goes wrong."""

import json
import os
import random
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as ours
from paddle_jax.framework.model_files.interpreter import UnknownOpError
from paddle_jax.framework.pickle_names import CorruptFileError
from tests.jit.corpus.networks import NETWORKS, example

pytestmark = pytest.mark.own_process
Spec = ours.static.InputSpec


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def listed(value):
    return list(value) if isinstance(value, list | tuple) else [value]


def close(got, want, rtol=2e-4, atol=2e-4):
    got, want = [g.numpy() for g in listed(got)], [w.numpy() for w in listed(want)]
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=rtol, atol=atol)


def kinds(model):
    """Shapes of the parameters, and which are trained; running statistics are not."""
    return sorted([list(param.shape), param.stop_gradient] for param in model.parameters())


def shared(oracle, make):
    """The network in both engines with the same parameters, in evaluation mode."""
    theirs, mine = make(oracle), make(ours)
    mine.set_state_dict({name: ours.to_tensor(value.numpy()) for name, value in theirs.state_dict().items()})
    theirs.eval()
    mine.eval()
    return theirs, mine


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_both_ways(oracle, tmp_path, name):
    make, dtype, shape, *sizes = NETWORKS[name]
    theirs, mine = shared(oracle, make)
    oracle.jit.save(theirs, str(tmp_path / "theirs"), input_spec=[oracle.static.InputSpec(shape, dtype, "x")])
    ours.jit.save(mine, str(tmp_path / "ours"), input_spec=[Spec(shape, dtype, "x")])
    read, written = ours.jit.load(str(tmp_path / "theirs")), oracle.jit.load(str(tmp_path / "ours"))
    assert kinds(written) == kinds(read)
    for size in sizes:
        x = example(dtype, size)
        want = theirs(oracle.to_tensor(x))
        close(written(oracle.to_tensor(x)), want)
    close(read(ours.to_tensor(x)), want)
    close(ours.jit.load(str(tmp_path / "ours"))(ours.to_tensor(x)), want)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["resnet50", "mobilenet_v3_small", "mobilenet_v3_large", "squeezenet1_1", "shufflenet_v2_x0_25"]
)
def test_networks_of_paddle(oracle, tmp_path, name):
    model = getattr(oracle.vision.models, name)(num_classes=10)
    model.eval()
    oracle.jit.save(model, str(tmp_path / "m"), input_spec=[oracle.static.InputSpec([None, 3, 64, 64])])
    x = example("float32", [2, 3, 64, 64])
    want = model(oracle.to_tensor(x)).numpy()
    got = ours.jit.load(str(tmp_path / "m"))(ours.to_tensor(x)).numpy()
    np.testing.assert_allclose(got, want, atol=2e-4 * max(1.0, np.abs(want).max()))


def test_control_flow(oracle, tmp_path):
    nn = oracle.static.nn

    class Flow(oracle.nn.Layer):
        def forward(self, x):
            one = nn.cond(x.sum() > 0, lambda: (x + 1, x.sum()), lambda: (x - 1, x.max()))
            two = nn.while_loop(
                lambda i, a: i < 3, lambda i, a: [i + 1, a * 2], [oracle.zeros([], "int64"), x]
            )[1]
            three = nn.while_loop(lambda a: a.sum() < 50, lambda a: [a * 2 + 1], [oracle.abs(x)])
            return [*one, two, *(three if isinstance(three, list | tuple) else [three])]

    oracle.jit.save(
        Flow(), str(tmp_path / "m"), input_spec=[oracle.static.InputSpec([None, 3], "float32", "x")]
    )
    theirs, mine = oracle.jit.load(str(tmp_path / "m")), ours.jit.load(str(tmp_path / "m"))
    for sign in (1.0, -1.0):
        x = np.abs(example("float32", [2, 3])) * np.float32(sign)
        close(mine(ours.to_tensor(x)), theirs(oracle.to_tensor(x)))


def test_control_flow_of_ours(oracle, tmp_path):
    """Branches and loops, nested, with parameters and tensors from outside, and lengths that vary."""
    nn = ours.static.nn

    class Flow(ours.nn.Layer):
        def __init__(self):
            super().__init__()
            self.line = ours.nn.Linear(3, 3)

        def forward(self, x):
            a, b = nn.cond(
                x.sum() > 0, lambda: (self.line(x) + 1, x.sum()), lambda: (x - self.line(x).mean(), x.max())
            )
            _, c = nn.while_loop(
                lambda i, a: i < 3, lambda i, a: [i + 1, self.line(a) * 2], [ours.zeros([], "int64"), x]
            )
            (d,) = nn.while_loop(lambda a: a.sum() < 50, lambda a: [a * 2 + 1], [ours.abs(x)])
            flat = x.reshape([x.shape[0] * 3])
            e = nn.cond(
                x.mean() > 0.1,
                lambda: nn.cond(x.max() > 1, lambda: x * 2, lambda: x * 3),
                lambda: flat.reshape([-1, 3]),
            )
            return a, b, c, d, e

    flow = Flow()
    saved(ours, tmp_path / "m", flow)
    theirs, mine = oracle.jit.load(str(tmp_path / "m")), ours.jit.load(str(tmp_path / "m"))
    assert len(list(mine.parameters())) == 2
    for sign in (1.0, -1.0):
        for batch in (2, 5):
            x = np.abs(example("float32", [batch, 3])) * np.float32(sign)
            want = flow(ours.to_tensor(x))
            close(theirs(oracle.to_tensor(x)), want)
            close(mine(ours.to_tensor(x)), want)


def net(engine):
    nn = engine.nn
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Dropout(0.5), nn.ReLU(), nn.Linear(4, 2))


def saved(engine, path, layer=None):
    layer = layer or net(engine)
    engine.jit.save(layer, str(path), input_spec=[engine.static.InputSpec([None, 3], "float32", "inp")])
    return layer


def test_what_a_loaded_model_is(oracle, tmp_path):
    """Names, modes, specs and flags are those of the real Paddle's TranslatedLayer."""
    saved(oracle, tmp_path / "m")
    mine, theirs = ours.jit.load(str(tmp_path / "m")), oracle.jit.load(str(tmp_path / "m"))
    assert isinstance(mine, ours.jit.TranslatedLayer) and not mine.training
    assert list(mine.state_dict()) == list(theirs.state_dict())
    for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
        assert (a.stop_gradient, a.trainable, list(a.shape)) == (b.stop_gradient, b.trainable, list(b.shape))
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    (a,), (b,) = mine._input_spec(), theirs._input_spec()
    assert (a.name, list(a.shape), str(a.dtype)) == (b.name, list(b.shape), str(b.dtype))
    assert "matmul" in str(mine.program()) and ".w_0" in str(mine.program())
    with pytest.raises(ValueError, match="other"):
        mine.program("other")
    mine.train()
    x = ours.to_tensor(example("float32", [5, 3]))
    close(mine(x), mine(x))  # no dropout, as there


def test_fine_tuning_is_the_real_paddles(oracle, tmp_path):
    saved(oracle, tmp_path / "m")
    x, y = example("float32", [8, 3]), example("float32", [8, 2], 1)
    models = {}
    for engine in (oracle, ours):
        model = models[engine] = engine.jit.load(str(tmp_path / "m"))
        assert model.train() is None
        optimizer = engine.optimizer.SGD(0.05, parameters=model.parameters())
        for _ in range(4):
            loss = ((model(engine.to_tensor(x)) - engine.to_tensor(y)) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    for a, b in zip(models[ours].parameters(), models[oracle].parameters(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-4)
    ours.jit.save(models[ours], str(tmp_path / "again"))
    assert models[oracle].eval() is None and models[ours].eval() is None and not models[ours].training
    close(oracle.jit.load(str(tmp_path / "again"))(oracle.to_tensor(x)), models[oracle](oracle.to_tensor(x)))


def test_second_derivatives_and_jit(tmp_path):
    """A loaded model can be differentiated twice, inside jax.jit as well."""
    import jax
    import jax.numpy as jnp

    layer = ours.nn.Sequential(ours.nn.Linear(3, 4), ours.nn.Tanh(), ours.nn.Linear(4, 1))
    saved(ours, tmp_path / "m", layer)
    model, x = ours.jit.load(str(tmp_path / "m")), example("float32", [2, 3])
    found = []
    for one in (layer, model):
        t = ours.to_tensor(x, stop_gradient=False)
        (first,) = ours.grad(one(t).sum(), t, create_graph=True)
        (second,) = ours.grad((first**2).sum(), t)
        found.append(second)
    close(*found)
    compiled = jax.jit(lambda a: model(ours.to_tensor(a)))(jnp.asarray(x)).numpy()
    np.testing.assert_allclose(compiled, layer(ours.to_tensor(x)).numpy(), atol=1e-6)


def test_inside_another_layer(oracle, tmp_path):
    """A loaded model is a Layer like any other, and is saved with what surrounds it."""
    saved(oracle, tmp_path / "m")

    class Around(ours.nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner, self.more = ours.jit.load(str(tmp_path / "m")), ours.nn.Linear(2, 1)

        def forward(self, x):
            return self.more(self.inner(x))

    around, x = Around(), example("float32", [4, 3])
    saved(ours, tmp_path / "around", around)
    close(oracle.jit.load(str(tmp_path / "around"))(oracle.to_tensor(x)), around(ours.to_tensor(x)))


def test_methods_and_functions(oracle, tmp_path):
    class Two(ours.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = ours.nn.Linear(3, 2), ours.nn.Linear(3, 2)
            self.register_buffer("shift", ours.ones([2]))

        @ours.jit.to_static(input_spec=[Spec([None, 3], "float32", "x")])
        def forward(self, x):
            return {"sum": self.a(x) + self.shift, "rest": [x, 3, None]}

        @ours.jit.to_static(input_spec=[Spec([None, 3], "float32", "z")])
        def other(self, z):
            return self.b(z) * 2

    two, x = Two(), example("float32", [2, 3])
    ours.jit.save(two, str(tmp_path / "two"))
    assert names(tmp_path) == ["two.json", "two.other.json", "two.other.pdiparams", "two.pdiparams"]
    for engine in (ours, oracle):
        model = engine.jit.load(str(tmp_path / "two"))
        out = model(engine.to_tensor(x))
        assert len(out) == 2 and len(list(model.parameters())) == 5
        close(out[0], two.a(ours.to_tensor(x)) + 1)
        close(model.other(engine.to_tensor(x)), two.b(ours.to_tensor(x)) * 2)

    ours.jit.save(lambda a, scale: a * scale, str(tmp_path / "f"), input_spec=[Spec([None, 3]), 4.0])
    assert "f.pdiparams" not in names(tmp_path)
    close(oracle.jit.load(str(tmp_path / "f"))(oracle.to_tensor(x)), ours.to_tensor(x * 4))
    assert oracle.jit.load(str(tmp_path / "f"))._input_spec()[0].name == "a"

    called = ours.jit.to_static(ours.nn.Linear(3, 2))
    called(ours.ones([4, 3]))
    ours.jit.save(called, str(tmp_path / "called"))
    assert list(ours.jit.load(str(tmp_path / "called"))._input_spec()[0].shape) == [4, 3]


def test_saving_over_a_model_with_parameters(tmp_path):
    saved(ours, tmp_path / "m")
    ours.jit.save(lambda x: x * 2, str(tmp_path / "m"), input_spec=[Spec([None, 3])])
    assert names(tmp_path) == ["m.json"]


def test_operations_of_ours(tmp_path):
    """What Paddle has no operation for is stored under our name, with a warning."""

    def function(x):
        return ours.renorm(x, p=1 + x.shape[2] / 8, axis=1, max_norm=1.5)

    with pytest.warns(UserWarning, match=r"paddle_jax.renorm.*only paddle_jax can load"):
        ours.jit.save(function, str(tmp_path / "m"), input_spec=[Spec([None, None, None])])
    x = ours.to_tensor(example("float32", [4, 3, 2]))
    close(ours.jit.load(str(tmp_path / "m"))(x), function(x))


WRONG = {
    "no spec": (lambda path: ours.jit.save(net(ours), path), ValueError, "input_spec"),
    "no layer": (lambda path: ours.jit.save(3, path), TypeError, "Layer or a function"),
    "spec no list": (
        lambda path: ours.jit.save(net(ours), path, input_spec=Spec([None, 3])),
        TypeError,
        "list",
    ),
    "no name": (
        lambda path: ours.jit.save(net(ours), str(Path(path).parent) + "/", input_spec=[Spec([None, 3])]),
        ValueError,
        "file name",
    ),
    "setting": (
        lambda path: ours.jit.save(net(ours), path, input_spec=[Spec([None, 3])], foo=1),
        ValueError,
        "foo",
    ),
    "missing": (lambda path: ours.jit.load(path), ValueError, "does not exist"),
    "setting of load": (lambda path: ours.jit.load(path, foo=1), ValueError, "foo"),
    "value": (
        lambda path: ours.jit.save(
            lambda x: x * float(np.asarray(x).sum()), path, input_spec=[Spec([None, 3])]
        ),
        ValueError,
        "value of a tensor",
    ),
    "lengths": (
        lambda path: ours.jit.save(
            lambda x: sum(x[i] for i in range(x.shape[0])), path, input_spec=[Spec([None, 3])]
        ),
        ValueError,
        "give these lengths",
    ),
    "shape": (lambda path: ours.jit.save(net(ours), path, input_spec=[Spec([None, 5])]), ValueError, "5"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors(tmp_path, case):
    call, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        call(str(tmp_path / "x"))
    assert names(tmp_path) == []


def test_errors_of_calls(tmp_path):
    saved(ours, tmp_path / "m")
    model, x = ours.jit.load(str(tmp_path / "m")), ours.ones([2, 3])
    for args, error in (
        ((x, x), IndexError),
        ((), ValueError),
        ((x.astype("float64"),), ValueError),
        ((ours.ones([2, 4]),), ValueError),
    ):
        with pytest.raises(error):
            model(*args)
    assert model(np.ones([2, 3], "float32")).shape == [2, 2]


def test_a_failed_save_changes_nothing(tmp_path, monkeypatch):
    saved(ours, tmp_path / "m")
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    from paddle_jax.framework import atomic

    real, calls = os.fsync, []

    def full(number):
        calls.append(number)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(number)

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        saved(ours, tmp_path / "m")
    monkeypatch.undo()
    left = names(tmp_path)
    assert left == ["m.json", "m.pdiparams"]
    assert all((tmp_path / name).read_bytes() == content for name, content in before.items())


# damaged files ----------------------------------------------------------------------------------------------


def attempt(path):
    """Loads: fine, or an error that says what is wrong."""
    try:
        ours.jit.load(str(path))
    except (CorruptFileError, UnknownOpError) as error:
        assert "jit.load" in str(error) or "not known here" in str(error)


def test_truncated_files(tmp_path):
    saved(ours, tmp_path / "m")
    good = {name: (tmp_path / name).read_bytes() for name in ("m.json", "m.pdiparams")}
    for name, data in good.items():
        for length in sorted(random.Random(0).sample(range(len(data)), 60)):
            (tmp_path / name).write_bytes(data[:length])
            with pytest.raises(CorruptFileError, match="jit.load"):
                ours.jit.load(str(tmp_path / "m"))
        (tmp_path / name).write_bytes(data)
    (tmp_path / "m.pdiparams").unlink()
    with pytest.raises(ValueError, match="does not exist"):
        ours.jit.load(str(tmp_path / "m"))


def test_flipped_bits(tmp_path):
    saved(ours, tmp_path / "m")
    draw = random.Random(1)
    for name in ("m.json", "m.pdiparams"):
        data = (tmp_path / name).read_bytes()
        for _ in range(150):
            damaged = bytearray(data)
            damaged[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            (tmp_path / name).write_bytes(bytes(damaged))
            attempt(tmp_path / "m")
        (tmp_path / name).write_bytes(data)


def block(document):
    return document["program"]["regions"][0]["blocks"][0]["ops"]


def mutated(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


HOSTILE = {
    "python function": lambda d: block(d)[-2].update({"#": "1.paddle_jax.framework.io.save"}),
    "python module": lambda d: block(d)[-2].update({"#": "1.os.system"}),
    "builtin": lambda d: block(d)[-2].update({"#": "0.eval"}),
    "private": lambda d: block(d)[-2].update({"#": "1.__class__"}),
    "value from nowhere": lambda d: block(d)[-1]["I"].__setitem__(0, {"%": 12345}),
    "own operand": lambda d: block(d)[-2]["I"].__setitem__(0, {"%": block(d)[-2]["O"][0]["%"]}),
    "value made twice": lambda d: block(d)[-2]["O"][0].update({"%": 1}),
    "text as a number": lambda d: block(d)[-1]["I"].__setitem__(0, {"%": "1"}),
    "no blocks": lambda d: d["program"]["regions"][0].update(blocks=[]),
    "newer version": lambda d: d["base_code"].update(version=99),
    "other magic": lambda d: d["base_code"].update(magic="x"),
    "no name": lambda d: block(d)[0]["A"].__setitem__(3, None),
    "list for a dict": lambda d: d.update(program=[]),
    "dtype": lambda d: block(d)[0]["O"]["TT"]["D"].__setitem__(0, {"#": "0.t_x"}),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_programs(tmp_path, case, capfd):
    saved(ours, tmp_path / "m")
    mutated(tmp_path / "m.json", HOSTILE[case])
    with pytest.raises((CorruptFileError, UnknownOpError)):
        ours.jit.load(str(tmp_path / "m"))
    assert capfd.readouterr().out == ""


def test_deep_nesting_and_other_models(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(CorruptFileError, match=r"deep|recursion|damaged"):
        ours.jit.load(str(tmp_path / "deep"))
    saved(ours, tmp_path / "a")
    saved(ours, tmp_path / "b", ours.nn.Linear(3, 7))
    shutil.copy(tmp_path / "b.pdiparams", tmp_path / "a.pdiparams")
    with pytest.raises(CorruptFileError, match="another model"):
        ours.jit.load(str(tmp_path / "a"))


class _Ending:
    """Code that ends gradients of a layer `a`: functions of the engine, the layer and a Tensor."""

    @staticmethod
    def under_no_grad(P, a, x):
        with P.no_grad():
            scale = a(x)
        return scale * a(x)

    @staticmethod
    def detached(P, a, x):
        return a(x).detach() * a(x)

    @staticmethod
    def in_a_branch(P, a, x):
        y = a(x)
        if y.sum() > 0:
            y = y * y.detach()
        return y

    @staticmethod
    def in_a_loop(P, a, x):
        y = a(x)
        while y.sum() < 100:
            y = y * 2 + y.detach()
        return y


@pytest.mark.parametrize("name", ["under_no_grad", "detached", "in_a_branch", "in_a_loop"])
def test_gradients_end_where_the_code_ends_them(oracle, tmp_path, name):
    def made(P):
        class Net(P.nn.Layer):
            def __init__(self):
                super().__init__()
                self.a = P.nn.Linear(3, 3)
                self.a.weight.set_value(np.linspace(0.1, 0.9, 9, dtype="float32").reshape(3, 3))

            def forward(self, x):
                return getattr(_Ending, name)(P, self.a, x)

        return Net()

    def gradients(P, net):
        net.train()
        out = net(P.to_tensor(np.array([[1.0, -2.0, 3.0]], "float32")))
        (out * out).sum().backward()
        return sorted([p.grad.numpy() for p in net.parameters()], key=np.ndim)

    want = gradients(oracle, made(oracle))
    # The real Paddle cannot train a file with control flow, its own or ours.
    readers = (ours,) if name in ("in_a_branch", "in_a_loop") else (oracle, ours)
    for P in (oracle, ours):
        path = str(tmp_path / P.__name__)
        net = P.jit.to_static(made(P), full_graph=True)
        P.jit.save(net, path, input_spec=[P.static.InputSpec([1, 3], "float32", "x")])
        for reader in readers:
            for got, right in zip(gradients(reader, reader.jit.load(path)), want, strict=True):
                np.testing.assert_allclose(got, right, rtol=1e-5, err_msg=f"{P.__name__} {reader.__name__}")
