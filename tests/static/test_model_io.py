"""Static programs in files: models for inference both ways, bytes, and the state of training."""

import contextlib
import pickle
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as ours

pytestmark = pytest.mark.own_process


@contextlib.contextmanager
def static_mode(engine):
    """Static mode with programs and a scope of its own."""
    engine.enable_static()
    scope = type(engine.static.global_scope())() if engine is ours else engine.base.core.Scope()
    try:
        with engine.static.scope_guard(scope):
            yield
    finally:
        engine.disable_static()


def regression(engine, steps=3):
    """(executor, main program, inputs, prediction) after a few steps of training."""
    static, main, start = engine.static, engine.static.Program(), engine.static.Program()
    with static.program_guard(main, start):
        x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
        hidden = engine.nn.functional.relu(engine.nn.Linear(3, 4)(x))
        out = engine.nn.Linear(4, 1)(hidden.reshape([-1, 4]))
        loss = engine.mean((out - y) ** 2)
        engine.optimizer.Adam(0.01).minimize(loss)
    exe = static.Executor()
    exe.run(start)
    for _ in range(steps):
        exe.run(main, feed={"x": X, "y": X[:, :1]}, fetch_list=[loss])
    return exe, main, (x, y), out


X = np.arange(6, dtype="float32").reshape(2, 3) / 7


def predicted(engine, exe, prefix):
    program, feeds, fetches = engine.static.load_inference_model(prefix, exe)
    return feeds, exe.run(program, feed={feeds[0]: X}, fetch_list=fetches)[0]


def test_models_both_ways(oracle, tmp_path):
    for writer, reader in ((ours, oracle), (oracle, ours), (ours, ours)):
        prefix = str(tmp_path / writer.__name__)
        with static_mode(writer):
            exe, main, (x, _), out = regression(writer)
            writer.static.save_inference_model(prefix, [x], [out], exe, program=main)
            _, want = predicted(writer, exe, prefix)
        with static_mode(reader):
            feeds, got = predicted(reader, reader.static.Executor(), prefix)
        assert feeds == ["x"]
        np.testing.assert_allclose(got, want, atol=1e-6)
        np.testing.assert_allclose(reader.jit.load(prefix)(reader.to_tensor(X)).numpy(), want, atol=1e-6)


def test_bytes(tmp_path):
    static = ours.static
    with static_mode(ours):
        exe, main, (x, _), out = regression(ours)
        program, params = (
            static.serialize_program([x], [out], program=main),
            static.serialize_persistables([x], [out], exe, program=main),
        )
        static.save_inference_model(str(tmp_path / "m"), x, out, exe, program=main)
        _, want = predicted(ours, exe, str(tmp_path / "m"))
        normal = static.normalize_program(main, [x], [out])
        np.testing.assert_allclose(
            exe.run(normal, feed={"x": X}, fetch_list=normal.fetched)[0], want, atol=1e-6
        )
    static.save_to_file(str(tmp_path / "p"), program)
    assert static.load_from_file(str(tmp_path / "p")) == program == (tmp_path / "m.json").read_bytes()
    with static_mode(ours):
        again = static.deserialize_program(program)
        with pytest.raises(RuntimeError, match="value"):
            static.Executor().run(again, feed={"x": X}, fetch_list=again.fetched)
        static.deserialize_persistables(again, params, exe)
        np.testing.assert_allclose(
            static.Executor().run(again, feed={"x": X}, fetch_list=again.fetched)[0], want, atol=1e-6
        )
        for call in (
            lambda: static.deserialize_program(program[:40]),
            lambda: static.deserialize_persistables(again, params[:40], exe),
        ):
            with pytest.raises((RuntimeError, ValueError)):
                call()
        with pytest.raises(ValueError, match="bytes"):
            static.save_to_file(str(tmp_path / "p"), "text")


def test_state_both_ways(oracle, tmp_path):
    """`static.save` writes plain dicts of arrays, parameters apart from the rest."""
    for writer, reader in ((ours, oracle), (oracle, ours), (ours, ours)):
        prefix = str(tmp_path / writer.__name__ / "s")
        (tmp_path / writer.__name__).mkdir(exist_ok=True)
        with static_mode(writer):
            exe, main, *_ = regression(writer)
            writer.static.save(main, prefix)
        plain = pickle.loads(Path(prefix + ".pdparams").read_bytes())
        assert len(plain) == 4 and all(type(v) is np.ndarray for v in plain.values())
        state = reader.static.load_program_state(prefix)
        assert plain.keys() <= state.keys() and any("moment" in name for name in state)
        for name, value in plain.items():
            np.testing.assert_array_equal(np.asarray(state[name]), value)
    with static_mode(ours):
        exe, main, *_ = regression(ours, 0)
        names = [p.name for p in main.all_parameters()]
        ours.static.set_program_state(main, {names[0]: np.full([3, 4], 2.0, "float32"), "no such": X})
        ours.static.save(main, str(tmp_path / "t"))
        ours.static.set_program_state(main, {names[0]: np.zeros([3, 4], "float32")})
        ours.static.load(main, str(tmp_path / "t"), exe)
        assert np.array(ours.static.global_scope().find_var(names[0]).get_tensor()).min() == 2.0
        before = ours.static.load_program_state(str(tmp_path / "t"))
        with pytest.raises(AssertionError, match="shape"):
            ours.static.set_program_state(
                main, {names[1]: np.ones(4, "float32"), names[0]: np.ones(7, "float32")}
            )
        np.testing.assert_array_equal(
            np.array(ours.static.global_scope().find_var(names[1]).get_tensor()), before[names[1]]
        )
        with pytest.raises(FileNotFoundError):
            ours.static.load(main, str(tmp_path / "none"), exe)


def test_errors(tmp_path):
    static = ours.static
    with static_mode(ours):
        exe, main, (x, y), out = regression(ours, 0)
        for args, text in (
            ((str(tmp_path / "m"), [x, y], [out]), "y does not lead"),
            ((str(tmp_path / "m"), [], [out]), "feed_vars"),
            ((str(tmp_path / "m"), ["x"], [out]), "feed_vars"),
            ((str(tmp_path / "m"), [x], []), "fetch_vars"),
            ((3, [x], [out]), "path_prefix"),
            ((str(tmp_path) + "/", [x], [out]), "directory"),
        ):
            with pytest.raises(ValueError, match=text):
                static.save_inference_model(*args, exe, program=main)
        with pytest.raises(RuntimeError, match="does not exist"):
            static.load_inference_model(str(tmp_path / "none"), exe)
    assert not list(tmp_path.iterdir())


def test_a_whole_program_in_a_file(tmp_path, oracle, paddle):
    """`paddle.save(program)` writes what both engines load as a Program, without the values of parameters."""
    found = {}
    for engine in (oracle, paddle):
        with static_mode(engine):
            main, start = engine.static.Program(), engine.static.Program()
            with engine.static.program_guard(main, start):
                x = engine.static.data("x", [None, 3])
                engine.static.nn.fc(x, 2)
            file = tmp_path / engine.__name__ / "main.json"
            engine.save(main, str(file))
            for reader in (oracle, paddle):
                with static_mode(reader):
                    loaded = reader.load(str(file))
                    found[engine, reader] = [list(p.shape) for p in loaded.global_block().all_parameters()]
            with pytest.raises(TypeError, match="cannot pickle"):
                pickle.dumps(main)
    assert all(sorted(shapes) == [[2], [3, 2]] for shapes in found.values()), found


def test_moves_of_devices_in_a_program(paddle):
    with static_mode(paddle), paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2, 3])
        out = paddle.static.Executor().run(feed={"x": X[:2]}, fetch_list=[x.cuda().cpu() * 2])[0]
    np.testing.assert_array_equal(out, X[:2] * 2)


def test_results_of_another_program_cannot_be_fetched(paddle):
    with static_mode(paddle):
        first, second = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(first):
            out = paddle.static.data("x", [2, 3]) * 2
        with paddle.static.program_guard(second):
            paddle.static.data("x", [2, 3]) + 1
        with pytest.raises(ValueError, match="another program"):
            paddle.static.Executor().run(second, feed={"x": X[:2]}, fetch_list=[out])


def branching(engine, x):
    """A branch that is a loop in turn, which changes a Tensor in place, and reads a parameter."""
    nn, total = engine.static.nn, engine.zeros([2, 3])
    linear = engine.nn.Linear(3, 3)

    def body(i):
        engine.assign(total + linear(x), output=total)
        return [i + 1]

    def looped():
        nn.while_loop(lambda i: i < 3, body, [engine.zeros([1], "int64")])
        return total * 2

    return nn.cond(x.sum() > 0, looped, lambda: x - 1)


def test_branches_and_loops_in_files(oracle, tmp_path):
    """What either engine then reads gives what the program gave."""
    prefix = str(tmp_path / "m")
    with static_mode(ours):
        main, start = ours.static.Program(), ours.static.Program()
        with ours.static.program_guard(main, start):
            x = ours.static.data("x", [2, 3])
            out = branching(ours, x)
        exe = ours.static.Executor()
        exe.run(start)
        want = [exe.run(main, feed={"x": sign * X}, fetch_list=[out])[0] for sign in (1, -1)]
        ours.static.save_inference_model(prefix, [x], [out], exe, program=main)
    for reader in (ours, oracle):
        with static_mode(reader):
            exe = reader.static.Executor()
            program, _, fetches = reader.static.load_inference_model(prefix, exe)
            for sign, value in zip((1, -1), want, strict=True):
                got = exe.run(program, feed={"x": sign * X}, fetch_list=fetches)[0]
                np.testing.assert_allclose(got, value, atol=1e-6)


def test_a_loop_of_which_lengths_grow_is_saved(tmp_path):
    with static_mode(ours), ours.static.program_guard(ours.static.Program()):
        x = ours.static.data("x", [2, 3])
        _, grown = ours.static.nn.while_loop(
            lambda i, v: i < 2, lambda i, v: [i + 1, ours.concat([v, v])], [ours.zeros([1], "int64"), x]
        )
        ours.static.save_inference_model(str(tmp_path / "m"), [x], [grown], None)
    assert ours.jit.load(str(tmp_path / "m"))(ours.ones([2, 3])).shape == [8, 3]
