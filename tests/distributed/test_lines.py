"""Packets between the processes of one machine go over sockets of their own; there are none where one process
cannot reach another.

Unit tests of `_core.process_group.socket_mesh`.
"""

import functools as ft
import os
import socket
import threading

import numpy as np
import pytest

from paddle_jax._core.process_group import socket_mesh
from tests.distributed import pairs
from tests.distributed.test_host import Room


def run(count, work):
    """What `work(lines, place)` gives in each of some threads, which stand for processes."""
    room, found = Room(count), [None] * count

    def one(place):
        mine = socket_mesh.SocketMesh(place, count, ft.partial(room.exchange, place))
        try:
            found[place] = work(mine, place)
        except Exception as error:
            found[place] = error
            room.barrier.abort()
        finally:
            mine.close()

    threads = [threading.Thread(target=one, args=(place,)) for place in range(count)]
    [thread.start() for thread in threads]
    [thread.join(30) for thread in threads]
    return found


@pytest.mark.parametrize("count", [1, 2, 5])
def test_packets_arrive_in_the_order_of_places(count):
    def work(mine, place):
        assert mine.open()
        return [
            mine.exchange(np.full(4112, 10 * turn + place, np.uint8))[:, [0, -1]].tolist()
            for turn in range(20)
        ]

    want = [[[10 * turn + place] * 2 for place in range(count)] for turn in range(20)]
    assert run(count, work) == [want] * count


def test_processes_of_two_machines_find_out_together(monkeypatch):
    def called(self, said):
        raise FileNotFoundError(said)

    monkeypatch.setattr(socket_mesh.SocketMesh, "_connect", called)
    assert (
        run(3, lambda mine, place: (mine.open(), mine.available, mine._sockets)) == [(False, False, {})] * 3
    )


def test_none_where_no_socket_can_be_made(monkeypatch):
    monkeypatch.setattr(
        socket_mesh.tempfile, "mkdtemp", lambda prefix: (_ for _ in ()).throw(OSError("read-only"))
    )
    assert run(2, lambda mine, place: mine.open()) == [False, False]


def test_who_does_not_know_the_token_gets_no_line(monkeypatch):
    called = socket_mesh.SocketMesh._connect

    def first_a_stranger(self, said):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(os.fsdecode(said[socket_mesh._TOKEN_BYTES :]))
            stranger.sendall(b"x" * socket_mesh._TOKEN_BYTES + bytes([self.index]))
        return called(self, said)

    monkeypatch.setattr(socket_mesh.SocketMesh, "_connect", first_a_stranger)
    found = run(
        2, lambda mine, place: mine.open() and mine.exchange(np.full(8, place, np.uint8))[:, 0].tolist()
    )
    assert found == [[0, 1]] * 2


def test_a_process_that_goes_is_noticed():
    def work(mine, place):
        mine.open()
        if place:
            mine.close()
            return None
        with pytest.raises(OSError, match="gone|pipe|reset"):
            mine.exchange(np.zeros(8, np.uint8))
        return "noticed"

    assert run(2, work) == ["noticed", None]


@pytest.mark.slow
def test_no_socket_is_left(tmp_path):
    for process in pairs.run("large.py", seconds=90, TMPDIR=str(tmp_path)):
        assert process.code == 0, process.err
    assert not list(tmp_path.glob("paddle-*"))
