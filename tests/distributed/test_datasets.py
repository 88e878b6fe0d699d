"""Data sets of slots: what they read, and training with them against the real Paddle."""

import json

import numpy as np
import pytest

import paddle_jax
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.dataset.slot_reader import Slot, batches, parsed_line
from tests import forked_python
from tests.distributed import pairs

IDS = Slot("ids", [-1, 2], np.dtype(np.int64))
X = Slot("x", [-1, 1], np.dtype(np.float32))
RAGGED = Slot("words", [-1, -1], np.dtype(np.int64))

# Trains with a data set and prints the last weights and what the executor has printed; for both engines.
PROGRAM = """
import contextlib, io, json, re, sys
import numpy as np
engine, kind, command = sys.argv[1:]
if engine == "ours":
    import paddle_jax as paddle
    paddle.enable_static()
else:
    import paddle
    paddle.enable_static()
    paddle.pir_utils.OldIrGuard().__enter__()  # Paddle's data sets want programs of its older kind
with open("a.txt", "w") as a, open("b.txt", "w") as b:
    for i in range(17):
        print(f"2 {i} {i + 1} 1 {i * 0.5}", file=a if i < 10 else b)
constant = lambda name, value: paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Constant(value))
ids = paddle.static.data("ids", [None, 2], "int64")
x = paddle.static.data("x", [None, 1], "float32")
rows = paddle.static.nn.embedding(ids, [40, 3], param_attr=constant("table", 0.5))
left = paddle.static.nn.fc(x, 1, weight_attr=constant("w", 0.1), bias_attr=False)
right = paddle.static.nn.fc(rows, 1, num_flatten_dims=1, weight_attr=constant("v", 0.2), bias_attr=False)
loss = paddle.mean(paddle.nn.functional.square_error_cost(left, right))
paddle.optimizer.SGD(0.001).minimize(loss)
dataset = getattr(paddle.distributed, kind)()
dataset.init(batch_size=4, thread_num=1, use_var=[ids, x], pipe_command=command)
dataset.set_filelist(["a.txt", "b.txt"])
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(paddle.static.default_startup_program())
sizes = []
if kind == "InMemoryDataset":
    dataset.load_into_memory()
    sizes = [int(dataset.get_memory_data_size()), int(dataset.get_shuffle_data_size())]
main = paddle.static.default_main_program()
exe.train_from_dataset(main, dataset, fetch_list=[loss], fetch_info=["loss"], print_period=2)
exe.infer_from_dataset(main, dataset, fetch_list=[loss], fetch_info=["loss"], print_period=1)
scope = paddle.static.global_scope()
values = [np.array(scope.find_var(name).get_tensor()).tolist() for name in ("w", "v", "table")]
print("RESULT", json.dumps([values, sizes]))
"""


def result(folder, *arguments):
    """(last weights, sizes, printed lines without their time) of the program."""
    done = forked_python.run(["-c", PROGRAM, *arguments], 120, pairs.environment(), folder)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    weights, sizes = json.loads(next(line for line in lines if line.startswith("RESULT"))[7:])
    return weights, sizes, [line.split("], ", 1)[1] for line in lines if line.startswith("time: ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "command"), [("QueueDataset", "head -n 7"), ("InMemoryDataset", "cat")], ids=["queue", "memory"]
)
def test_training_equals_paddle(kind, command, tmp_path, oracle):
    ours = result(tmp_path, "ours", kind, command)
    theirs = result(tmp_path, "theirs", kind, command)
    for mine, other in zip(ours[0], theirs[0], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5)
    assert ours[1:] == theirs[1:]


def write(folder, counts):
    """Files with so many lines each; the first id numbers the examples."""
    files = []
    number = 0
    for i, count in enumerate(counts):
        lines = []
        for _ in range(count):
            lines.append(f"2 {number} 7 1 0.5\n")
            number += 1
        file = folder / f"part {i}"
        file.write_text("".join(lines))
        files.append(str(file))
    return files


def dataset_of(kind, files, **settings):
    found = kind()
    found.init(**({"batch_size": 4, "thread_num": 3} | settings))
    found._slots = [IDS, X]
    found.set_filelist(files)
    return found


@pytest.mark.parametrize("threads", [1, 3])
def test_examples_come_in_the_order_of_the_files(tmp_path, threads):
    files = write(tmp_path, [600, 1, 0, 300])
    found = list(dataset_of(paddle_jax.distributed.QueueDataset, files, thread_num=threads).feeds())
    assert np.concatenate([one["ids"][:, 0] for one in found]).tolist() == list(range(901))
    assert [len(one["x"]) for one in found] == [4] * 225 + [1]


def test_a_reader_that_is_left_ends(tmp_path):
    feeds = dataset_of(paddle_jax.distributed.QueueDataset, write(tmp_path, [20000] * 4)).feeds()
    next(feeds)
    feeds.close()  # would hang


def test_shuffles(tmp_path):
    dataset = dataset_of(paddle_jax.distributed.InMemoryDataset, write(tmp_path, [50, 51]))
    dataset.preload_into_memory(2)
    dataset.wait_preload_done()
    assert dataset.get_memory_data_size() == dataset.get_memory_data_size(fleet.fleet) == 101
    paddle_jax.seed(3)
    dataset.global_shuffle()
    order = [int(example[0][0]) for example in dataset._memory]
    assert sorted(order) == list(range(101)) != order and dataset.get_shuffle_data_size() == 101
    with pytest.raises(ValueError, match="fea_eval"):
        dataset.slots_shuffle(["ids"])
    dataset.update_settings(fea_eval=True, batch_size=101)
    dataset.slots_shuffle(["ids"])
    (feed,) = dataset.feeds()
    assert sorted(feed["ids"][:, 0].tolist()) == list(range(101)) and feed["ids"][:, 0].tolist() != order
    dataset.release_memory()
    assert dataset.get_memory_data_size() == 0


def test_slots():
    (ids, x, words) = parsed_line("2 5 18446744073709551615 1 .5 3 1 2 3", [IDS, X, RAGGED], "here")
    assert ids.tolist() == [5, -1] and x.tolist() == [0.5] and words.tolist() == [1, 2, 3]
    assert [part.tolist() for part in parsed_line("1 name 2 3 4", [IDS], "here", 1)] == [[3, 4]]
    (feed,) = batches([[words], [words[:1]]], [RAGGED], 2)
    assert feed["words"].tolist() == [[1, 2, 3, 0], [1, 0, 0, 0]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("2 5", "slot 'ids': got 1 numbers and the count 2"),
        ("2 5 6", "slot 'x' is missing"),
        ("2 5 6 1 0.5 9", "1 words behind the last slot 'x'"),
        ("2 5 b 1 0.5", "invalid literal"),
        ("0 1 0.5", "count 0"),
    ],
)
def test_lines_that_do_not_fit(line, words):
    with pytest.raises(ValueError, match=words):
        parsed_line(line, [IDS, X], "here")


def test_what_goes_wrong(tmp_path):
    kind = paddle_jax.distributed.QueueDataset
    (file,) = write(tmp_path, [3])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(dataset_of(kind, ["nowhere"]).feeds())
    with pytest.raises(RuntimeError, match=r"part 0: 'cat; echo no >&2; exit 3' has ended with 3: no"):
        list(dataset_of(kind, [file], pipe_command="cat; echo no >&2; exit 3").feeds())
    with pytest.raises(ValueError, match="part 0, line 2: slot 'x'"):
        list(dataset_of(kind, [file], pipe_command="sed 2s/./3/").feeds())
    with pytest.raises(ValueError, match=r"got 6 numbers in 3 examples; the input has shape \[-1, 4\]"):
        list(batches(dataset_of(kind, [file])._read(), [IDS._replace(shape=[-1, 4]), X], 3))
    with pytest.raises(ValueError, match="batch_size: got 0"):
        kind().init(batch_size=0)
    with pytest.raises(RuntimeError, match="dataset is need"):
        paddle_jax.static.Executor().train_from_dataset()


def test_metrics_equal_paddle(oracle):
    draw = np.random.default_rng(0)
    one = [draw.integers(0, 50, [1, 30]).astype(float) for _ in range(2)]
    two = np.array([7.0]), np.array([9.0])

    class Twice:
        """Stands for two workers with the same values."""

        def all_reduce(self, value, mode):
            return 2 * np.asarray(value) if mode == "sum" else np.asarray(value)

    for name, given in {
        "sum": one[:1],
        "max": one[:1],
        "min": one[:1],
        "auc": one,
        "acc": two,
        "mae": two,
        "mse": two,
        "rmse": two,
    }.items():
        ours = getattr(fleet.metrics, name)(*given, util=Twice())
        theirs = getattr(oracle.distributed.fleet.metrics, name)(*given, util=Twice())
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    nothing = np.zeros([1, 4])
    assert fleet.metrics.auc(nothing, nothing) == oracle.distributed.fleet.metrics.auc(
        nothing, nothing, util=Twice()
    )
