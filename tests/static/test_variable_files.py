"""Single Variables in files, both ways, and the part of a Program that leads to some Variables."""

import numpy as np
import pytest

import paddle_jax as ours
from tests.static.engines import Built, pair

pytestmark = pytest.mark.own_process


def two_layers(engine):
    x, z = engine.static.data("x", [None, 3]), engine.static.data("z", [None, 3])
    hidden = engine.nn.Linear(3, 4)(x)
    return [engine.nn.Linear(4, 2)(hidden), (z * 2).sum(), hidden]


@pytest.mark.parametrize("filename", [None, "all"])
def test_files_both_ways(oracle, tmp_path, filename):
    for number, (writer, reader) in enumerate([(ours, oracle), (oracle, ours), (ours, ours)]):
        folder = str(tmp_path / str(number))
        (tmp_path / str(number)).mkdir()
        written, loaded = Built(writer, two_layers), Built(reader, two_layers)
        with written.active():
            assert writer.static.io.save_vars(written.exe, folder, written.main, filename=filename) is None
        with loaded.active():
            reader.static.load_vars(loaded.exe, folder, loaded.main, filename=filename)
        assert loaded.names() == written.names()
        for name in written.names():
            np.testing.assert_array_equal(loaded.get(name), written.get(name))


def test_chosen_variables_and_bytes(tmp_path):
    built = Built(ours, two_layers)
    first, second, *_ = built.names()
    with built.active():
        ours.static.save_vars(built.exe, tmp_path, built.main, predicate=lambda v: v.name == first)
        assert [file.name for file in tmp_path.iterdir()] == [first]
        data = ours.static.save_vars(built.exe, None, built.main, vars=[built.main.var(second)])
        ours.static.save_vars(built.exe, tmp_path / "new", built.main, [second], filename="one")
        assert (tmp_path / "new" / "one").read_bytes() == data


def test_what_cannot_be_loaded_changes_nothing(tmp_path):
    built = Built(ours, two_layers)
    first, *rest = built.names()
    with built.active():
        ours.static.save_vars(built.exe, tmp_path, built.main)
        built.set(first, before := np.full_like(built.get(first), 7))
        (tmp_path / rest[-1]).write_bytes(b"no tensor")
        with pytest.raises(ValueError, match="cannot read"):
            ours.static.load_vars(built.exe, tmp_path, built.main)
        np.testing.assert_array_equal(built.get(first), before)
        with pytest.raises(ValueError, match="no such"):
            ours.static.load_vars(built.exe, tmp_path, built.main, ["no such"])
        with pytest.raises(ValueError, match="got shape"):
            (tmp_path / rest[0]).write_bytes((tmp_path / rest[1]).read_bytes())
            ours.static.load_vars(built.exe, tmp_path, built.main, [rest[0]])
        with pytest.raises(TypeError):
            ours.static.load_vars(built.exe, tmp_path, 3)


def test_pruned_programs_as_the_oracle(oracle):
    theirs, mine = pair(oracle, ours, two_layers)
    x = np.random.RandomState(0).randn(2, 3).astype("float32")
    found = []
    for built in (theirs, mine):
        with built.active():
            part = built.main._prune([built.fetches[2]])
            assert not part.global_block().all_parameters()[2:]
            text = str(part)
            assert "z" not in [word.strip('%,()"') for word in text.replace('name:"', " ").split()]
            with pytest.raises(TypeError):
                built.main._prune(["x"])
            with pytest.raises(TypeError):
                built.main._prune(built.fetches[2])
        found.append(text)
    with mine.active():
        part = mine.main._prune([mine.fetches[2]])
        assert list(part.data) == ["x"]
        with pytest.raises(ValueError, match="z"):
            part.var("z")
        (value,) = mine.exe.run(part, feed={"x": x}, fetch_list=[mine.fetches[2]])
    np.testing.assert_array_equal(value, mine.run({"x": x, "z": x})[2])


def test_a_pruned_program_keeps_the_updates_that_it_still_has():
    def build(engine):
        x = engine.static.data("x", [None, 3])
        hidden = engine.nn.Linear(3, 4)(x)
        return [engine.nn.BatchNorm1D(4)(hidden), hidden]

    built = Built(ours, build)
    normal, hidden = built.fetches
    assert len(built.main._prune([normal]).writes) == 2 and not built.main._prune([hidden]).writes
    assert "batch_norm1d_0.w_1" not in built.main._prune([hidden]).vars


def training(engine):
    x = engine.static.data("x", [None, 3])
    loss = engine.nn.BatchNorm1D(4)(engine.nn.Linear(3, 4)(x)).mean()
    engine.optimizer.Adam(engine.optimizer.lr.StepDecay(0.1, 2)).minimize(loss)
    return [loss]


def test_all_that_training_keeps_is_written(oracle, tmp_path):
    found = []
    for engine in (oracle, ours):
        built, folder = Built(engine, training), tmp_path / engine.__name__
        folder.mkdir()
        with built.active():
            engine.static.io.save_vars(built.exe, str(folder), built.main)
        found.append(sorted(file.name for file in folder.iterdir()))
    assert found[0] == found[1] and "learning_rate_0" in found[0]


def test_fleet_writes_the_same(tmp_path):
    built, fleet = Built(ours, training), ours.distributed.fleet
    fleet.init(is_collective=True)
    with built.active():
        ours.static.save_vars(built.exe, tmp_path / "a", built.main)
        fleet.save_persistables(built.exe, tmp_path / "b", built.main)
    names = [sorted(file.name for file in (tmp_path / which).iterdir()) for which in "ab"]
    assert names[0] == names[1]
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in names[0])
