"""Large arrays are added up through memory that the processes of a machine share: the same values, also in
pieces, and where there is none.

Unit tests of `_core.process_group`.
"""

import functools as ft
import json
import threading

import numpy as np
import pytest

from paddle_jax._core.process_group import host_reductions, shared_memory, small_messages
from tests.distributed import pairs


class Room:
    """Threads in place of processes."""

    def __init__(self, count):
        self.said, self.barrier = [b""] * count, threading.Barrier(count)

    def exchange(self, place, data):
        self.said[place] = data
        self.barrier.wait(20)
        found = list(self.said)
        self.barrier.wait(20)
        return found

    def run(self, work):
        out = [None] * len(self.said)

        def one(place):
            try:
                out[place] = work(
                    shared_memory.SharedMemory(place, len(out), ft.partial(self.exchange, place)), place
                )
            except Exception as error:
                out[place] = error
                self.barrier.abort()

        threads = [threading.Thread(target=one, args=(place,)) for place in range(len(out))]
        [thread.start() for thread in threads]
        [thread.join(30) for thread in threads]
        return out


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("op", [small_messages.SUM, small_messages.AVG, small_messages.MAX])
def test_values(monkeypatch, count, op):
    monkeypatch.setattr(shared_memory, "_MAX_BYTES", 1 << 13)  # so that arrays go in several parts
    lengths = [1, 7, 1000, 2048, 2049, 9000, 300]

    def work(each, place):
        found = []
        for length in lengths:
            data = np.random.RandomState(place).randint(-50, 50, length).astype(np.float64)
            if each.needs_more(data.nbytes):
                assert each.open(data.nbytes)
            found.append(
                each.all_reduce(
                    data, ft.partial(small_messages.reduce_arrays, op), lambda: each.exchange(b"begin")
                )
            )
        return found

    found = Room(count).run(work)
    for i, length in enumerate(lengths):
        rows = np.stack([np.random.RandomState(place).randint(-50, 50, length) for place in range(count)])
        want = {
            small_messages.SUM: rows.sum(0),
            small_messages.AVG: rows.mean(0),
            small_messages.MAX: rows.max(0),
        }[op]
        assert all(
            np.allclose(each[i], want, rtol=1e-14) and each[i].dtype == np.float64 for each in found
        ), found


@pytest.mark.parametrize("count", [2, 3, 5])
def test_what_is_handed_on(monkeypatch, count):
    monkeypatch.setattr(shared_memory, "_MAX_BYTES", 1 << 13)

    def work(each, place):
        begin, found = (lambda: each.exchange(b"begin")), []
        for length in (1, 700, 8191, 20000):
            row, rows = (
                np.random.RandomState(place).randint(0, 255, shape).astype(np.uint8)
                for shape in (length, (count, length))
            )
            if each.needs_more(rows.nbytes):
                assert each.open(rows.nbytes)
            found.append(
                [
                    each.all_gather(row, begin),
                    each.broadcast(row, count - 1, begin),
                    each.scatter(rows, 1, begin),
                    each.all_to_all(rows, begin),
                    each.reduce_scatter(
                        rows.astype(np.float32),
                        ft.partial(host_reductions.reduce_into, small_messages.SUM),
                        begin,
                    ),
                ]
            )
        return found

    found = Room(count).run(work)
    for i, length in enumerate((1, 700, 8191, 20000)):
        single = np.stack(
            [np.random.RandomState(place).randint(0, 255, length).astype(np.uint8) for place in range(count)]
        )
        rows = np.stack(
            [
                np.random.RandomState(place).randint(0, 255, (count, length)).astype(np.uint8)
                for place in range(count)
            ]
        )
        for place in range(count):
            want = [
                single,
                single[-1],
                rows[1, place],
                rows[:, place],
                rows[:, place].astype(np.float32).sum(0),
            ]
            assert all(
                np.array_equal(got, wanted) for got, wanted in zip(found[place][i], want, strict=True)
            ), (length, place)


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int8",
        "uint8",
        "int16",
        "int64",
        "float16",
        "bfloat16",
        "float8_e4m3fn",
        "float64",
        "complex64",
    ],
)
@pytest.mark.parametrize(
    "op",
    [small_messages.SUM, small_messages.AVG, small_messages.MAX, small_messages.MIN, small_messages.PROD],
)
def test_sums(monkeypatch, paddle, dtype, op):
    monkeypatch.setattr(host_reductions, "_BLOCK", 64)
    monkeypatch.setattr(host_reductions, "_CACHED", 64)
    host_reductions._program.cache_clear()
    if dtype.startswith("complex") and op in (small_messages.MAX, small_messages.MIN):
        return
    draws = [np.random.RandomState(i).randint(0, 4, 200).astype(np.float32) for i in range(3)]
    found = [np.array(paddle.to_tensor(draw).astype(dtype).numpy()) for draw in draws]
    out = np.empty_like(found[0])
    host_reductions.reduce_into(op, found, out)
    whole = np.stack([draw != 0 for draw in draws]) if dtype == "bool" else np.stack(draws)
    ways = {
        small_messages.SUM: np.sum,
        small_messages.AVG: np.mean,
        small_messages.MAX: np.max,
        small_messages.MIN: np.min,
        small_messages.PROD: np.prod,
    }
    want = (
        (whole.all(0) if op in (small_messages.MIN, small_messages.PROD) else whole.any(0))
        if dtype == "bool"
        else ways[op](whole, axis=0)
    )
    want = np.floor(want) if "int" in dtype else want
    close = {"float16": 1e-3, "bfloat16": 1e-2, "float8_e4m3fn": 0.1}.get(dtype, 1e-6)
    np.testing.assert_allclose(out.astype(complex), want.astype(complex), rtol=close)


def test_without_memory(monkeypatch):
    monkeypatch.setattr(
        shared_memory, "_map_file", lambda path, size: (_ for _ in ()).throw(FileNotFoundError(path))
    )
    # processes of two machines
    assert Room(2).run(lambda each, place: (each.open(100), each.available)) == [(False, False)] * 2
    monkeypatch.setattr(shared_memory, "_FOLDER", "/nowhere")
    assert Room(2).run(lambda each, place: (each.open(100), each.available)) == [(False, False)] * 2


def test_with_little_memory(monkeypatch):
    """As in a container, whose /dev/shm often has 64 MB: pieces are smaller then."""
    make = shared_memory._create_file

    def refuse(path, size):
        if size > 4 << 20:
            raise OSError("no space left on device")
        make(path, size)

    monkeypatch.setattr(shared_memory, "_create_file", refuse)
    data = np.arange(1 << 20, dtype=np.float64)

    def work(each, place):
        assert each.needs_more(data.nbytes) and each.open(data.nbytes) and not each.needs_more(data.nbytes)
        out = each.all_reduce(
            data + place,
            ft.partial(host_reductions.reduce_into, small_messages.SUM),
            lambda: each.exchange(b"begin"),
        )
        return each.max_bytes, np.array_equal(out, 2 * data + 1)

    assert Room(2).run(work) == [(1 << 21, True)] * 2


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint8", "int32", "float16", "bfloat16", "float8_e4m3fn", "float32", "complex64"],
)
def test_packets(paddle, dtype):
    rows = [
        np.array(paddle.to_tensor(values).astype(dtype).numpy())
        for values in ([1.0, 0.0, 3.0, 2.0], [2.0, 0.0, 1.0, 2.0], [1.0, 0.0, 0.0, 2.0])
    ]
    sent = np.stack([small_messages.encode("call", row.tobytes()) for row in rows])
    assert small_messages.are_same_call(sent) and not small_messages.are_same_call(
        np.stack([sent[0], small_messages.encode("other", rows[1].tobytes())])
    )
    back = small_messages.decode_arrays(sent, (4,), rows[0].dtype)
    assert all(np.array_equal(a, b) for a, b in zip(back, rows, strict=True))
    total = small_messages.reduce_arrays(small_messages.SUM, back)
    assert total.dtype == rows[0].dtype
    assert total.astype("complex64").tolist() == ([1, 0, 1, 1] if dtype == "bool" else [4, 0, 4, 6])
    assert small_messages.local_result(
        ("all_to_all",), [row.reshape(2, 2) for row in rows[:2]], 1
    ).tolist() == [
        rows[0][2:].tolist(),
        rows[1][2:].tolist(),
    ]
    assert (
        small_messages.local_result(("reduce_scatter", small_messages.SUM), back[:2], 1).tolist()
        == small_messages.reduce_arrays(small_messages.SUM, back[:2])[2:].tolist()
    )


@pytest.mark.slow
@pytest.mark.parametrize("shared", ["1", "0"])
def test_two_processes(shared):
    found = pairs.run("large.py", seconds=90, FLAGS_collective_shared_memory=shared)
    for rank, process in enumerate(found):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
        assert json.loads(process.out.splitlines()[-1]) == {
            "error": True,
            "able": shared == "1",
            "left": [],
            "after": 4.0,
        }
