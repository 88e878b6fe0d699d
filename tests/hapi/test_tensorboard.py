"""Files for TensorBoard, read back by a reader of this test."""

import struct
import sys

import numpy as np
import pytest


def varint(data, at):
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    """{field: value} of a protocol buffer."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or varint(data, at)
            value, at = data[at : at + size], at + size
        found[key >> 3] = value
    return found


def events(path):
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + size]
        found.append(fields(body))
        at += size + 16
    return found


@pytest.mark.parametrize("alone", [False, True])
def test_curves(paddle, tmp_path, alone):
    pytest.importorskip("tensorboardX")

    class Rows(paddle.io.Dataset):
        def __getitem__(self, i):
            return np.ones(2, "float32") * i, np.ones(1, "float32")

        def __len__(self):
            return 6

    net, seen = paddle.nn.Linear(2, 1), []
    model = paddle.Model(net)
    model.prepare(paddle.optimizer.SGD(1e-3, parameters=net.parameters()), paddle.nn.MSELoss())

    class Note(paddle.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            seen.append(logs["loss"][0])

    board = paddle.callbacks.TensorBoard(tmp_path / "logs")
    if alone:
        loss = model.evaluate(Rows(), batch_size=2, verbose=0, callbacks=[board])["loss"][0]
    else:
        model.fit(Rows(), Rows(), batch_size=2, epochs=2, verbose=0, shuffle=False, callbacks=[Note(), board])
    (file,) = (tmp_path / "logs").iterdir()
    first, *rest = events(file)
    assert file.name.startswith("events.out.tfevents.") and first[3] == b"brain.Event:2"
    rows = [(event.get(2, 0), fields(fields(event[5])[1])) for event in rest]
    curves = [(step, row[1].decode(), struct.unpack("<f", row[2])[0]) for step, row in rows]
    if alone:
        assert curves == [(0, "eval/loss", np.float32(loss))]
        return
    assert [(step, tag) for step, tag, _ in curves] == [
        (1, "train/loss"),
        (2, "train/loss"),
        (3, "train/loss"),
        (0, "eval/loss"),
        (4, "train/loss"),
        (5, "train/loss"),
        (6, "train/loss"),
        (1, "eval/loss"),
    ]
    assert [value for _, tag, value in curves if tag == "train/loss"] == [np.float32(value) for value in seen]


def test_missing_package(paddle, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match="pip install tensorboardX"):
        _ = paddle.callbacks.TensorBoard("logs").writer
