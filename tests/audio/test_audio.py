"""paddle.audio against the real Paddle: functions, features with gradients, files."""

import sys
import wave
from pathlib import Path

import numpy as np
import pytest


def outcome(p, call, *args, **settings):
    try:
        return call(p, *args, **settings)
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")


def assert_same(ours, theirs, rtol=1e-5):
    if isinstance(theirs, type):
        assert ours is theirs
    elif hasattr(theirs, "numpy"):
        assert (str(ours.dtype), list(ours.shape)) == (str(theirs.dtype), list(theirs.shape))
        np.testing.assert_allclose(
            ours.numpy(),
            theirs.numpy(),
            rtol=rtol,
            atol=1e-6 if theirs.numel() == 0 else 1e-6 * float(abs(theirs).max()),
        )
    else:
        assert type(ours) is type(theirs)
        assert ours == pytest.approx(theirs, rel=1e-9)


WINDOWS = [
    "hamming",
    "hann",
    "triang",
    "bohman",
    "blackman",
    "cosine",
    "tukey",
    "taylor",
    "nuttall",
    "bartlett",
    "gaussian",
    "exponential",
    "kaiser",
    "general_gaussian",
    "boxcar",
    "hanning",
    "foo",
    3,
    ("gaussian", 7),
    ("kaiser", 12),
    ("tukey", 0.3),
    ("exponential", None, 2.0),
    ("exponential", 0.5),
    ("general_gaussian", 1, 5),
    ("general_hamming", 0.6),
    ("general_cosine", [0.5, 0.3]),
    "general_hamming",
    ("hann", 3),
    ("taylor", 4, 30, True),
    ("taylor",),
    ("gaussian",),
]


@pytest.mark.parametrize("window", ["hann", "hamming", "blackman", "nuttall"])
def test_common_windows_do_without_scipy(monkeypatch, paddle, oracle, window):
    """Importing its signals takes a second."""
    get = paddle.audio.functional.get_window
    want = oracle.audio.functional.get_window(window, 6).numpy()
    monkeypatch.setitem(sys.modules, "scipy.signal", None)
    np.testing.assert_allclose(get(window, 6).numpy(), want, rtol=1e-12, atol=1e-15)
    with pytest.raises(ImportError):
        get("bohman", 6)


@pytest.mark.parametrize("window", WINDOWS)
def test_windows(paddle, oracle, window):
    for length in (0, 1, 2, 7, 8):
        for settings in ({}, {"fftbins": False}, {"dtype": "float32"}):
            if length or window in ("hann", "foo"):
                calls = [p.audio.functional for p in (paddle, oracle)]
                assert_same(
                    *(
                        outcome(F, lambda F, *a, **k: F.get_window(*a, **k), window, length, **settings)
                        for F in calls
                    )
                )
    assert outcome(paddle, lambda p: p.audio.functional.get_window("hann", 4, dtype="int64")) is TypeError


NUMBERS = [440.0, 4400, 0.0, 999.0, 1000.0, 15.0, 14.0]
CALLS = {
    **{
        f"hz_to_mel {x} {h}": lambda p, x=x, h=h: p.audio.functional.hz_to_mel(x, h)
        for x in NUMBERS
        for h in (True, False)
    },
    **{
        f"mel_to_hz {x} {h}": lambda p, x=x, h=h: p.audio.functional.mel_to_hz(x / 100, h)
        for x in NUMBERS
        for h in (True, False)
    },
    **{
        f"tensors {h} {d}": lambda p, h=h, d=d: p.audio.functional.hz_to_mel(
            p.to_tensor([[0.0, 100.0], [1000.0, 5000.0]], d), h
        )
        for h in (True, False)
        for d in ("float32", "float64")
    },
    **{
        f"mels {h}": lambda p, h=h: p.audio.functional.mel_to_hz(p.to_tensor([0.0, 3.0, 15.0, 55.0]), h)
        for h in (True, False)
    },
    **{
        f"frequencies {h} {d}": lambda p, h=h, d=d: p.audio.functional.mel_frequencies(5, 10.0, 8000.0, h, d)
        for h in (True, False)
        for d in ("float32", "float64")
    },
    "fft": lambda p: p.audio.functional.fft_frequencies(16000, 8),
    "fft odd": lambda p: p.audio.functional.fft_frequencies(16000, 7, "float64"),
    **{
        f"bank {k}": lambda p, k=k: p.audio.functional.compute_fbank_matrix(8000, 16, n_mels=4, **k)
        for k in (
            {},
            {"htk": True},
            {"norm": None},
            {"norm": 2.0},
            {"norm": 1},
            {"norm": "x"},
            {"dtype": "float64"},
            {"f_min": 20.0, "f_max": 3e3},
        )
    },
    **{
        f"decibels {k}": lambda p, k=k: p.audio.functional.power_to_db(
            p.to_tensor([[1e-12, 0.1, 2.0, 300.0]]), **k
        )
        for k in (
            {},
            {"top_db": None},
            {"top_db": 10.0},
            {"ref_value": 5.0},
            {"amin": 1e-3},
            {"amin": 0},
            {"top_db": -1},
            {"ref_value": 0.0},
        )
    },
    **{
        f"dct {k}": lambda p, k=k: p.audio.functional.create_dct(3, 5, **k)
        for k in ({}, {"norm": None}, {"dtype": "float64"}, {"norm": "x"})
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_functions(paddle, oracle, name):
    assert_same(*(outcome(p, CALLS[name]) for p in (paddle, oracle)), rtol=1e-4)


FEATURES = {
    "spectrogram": lambda F: F.Spectrogram(n_fft=64, hop_length=16),
    "short window": lambda F: F.Spectrogram(
        n_fft=64, hop_length=None, win_length=32, window="hamming", power=2.0, center=False
    ),
    "constant": lambda F: F.Spectrogram(n_fft=64, power=2.0, pad_mode="constant"),
    "double": lambda F: F.Spectrogram(n_fft=64, dtype="float64"),
    "mel": lambda F: F.MelSpectrogram(sr=8000, n_fft=64, n_mels=6),
    "mel htk": lambda F: F.MelSpectrogram(8000, 64, 16, n_mels=6, htk=True, norm=None),
    "log": lambda F: F.LogMelSpectrogram(sr=8000, n_fft=64, n_mels=6, top_db=30.0),
    "log all": lambda F: F.LogMelSpectrogram(8000, 64, n_mels=6),
    "mfcc": lambda F: F.MFCC(sr=8000, n_fft=64, n_mels=10, n_mfcc=4),
    "too many": lambda F: F.MFCC(n_mfcc=80),
    "power": lambda F: F.Spectrogram(power=-1.0),
    "too long": lambda F: F.MelSpectrogram(n_fft=1 << 14),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(paddle, oracle, name):
    generator = np.random.RandomState(0)
    sound = (np.sin(np.arange(500) * 0.05) * [[1.0], [0.3]] + generator.randn(2, 500) * 0.1).astype(
        "float64" if name == "double" else "float32"
    )

    def run(p):
        def call(p):
            layer = FEATURES[name](p.audio.features)
            x = p.to_tensor(sound, stop_gradient=False)
            out = layer(x)
            (out * p.to_tensor(np.linspace(0, 1, out.shape[-1]).astype(sound.dtype))).sum().backward()
            return layer, out, x.grad

        return outcome(p, call)

    ours, theirs = run(paddle), run(oracle)
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert list(ours[0].state_dict()) == list(theirs[0].state_dict())
    assert_same(ours[1], theirs[1], rtol=2e-3)
    np.testing.assert_allclose(
        ours[2].numpy(), theirs[2].numpy(), rtol=1e-2, atol=2e-4 * abs(theirs[2].numpy()).max()
    )


def written(path, channels, width, count=10):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(8000)
        values = np.arange(count * channels) * 997 % 2000 - 1000
        values = values % 256 if width == 1 else values << 16 if width == 4 else values
        file.writeframes(values.astype({1: "u1", 2: "<i2", 4: "<i4"}[width]).tobytes())
    return str(path)


@pytest.mark.parametrize("channels", [1, 2])
def test_reading(paddle, oracle, tmp_path, channels):
    path = written(tmp_path / "a.wav", channels, 2)
    assert vars(paddle.audio.info(path)) == vars(oracle.audio.info(path))
    for settings in (
        {},
        {"normalize": False},
        {"channels_first": False},
        {"frame_offset": 2, "num_frames": 3},
        {"frame_offset": 8, "num_frames": 30},
        {"num_frames": 0},
    ):
        ours, theirs = (p.audio.load(path, **settings) for p in (paddle, oracle))
        assert_same(ours[0], theirs[0])
        assert ours[1] == theirs[1] == 8000
    with Path(path).open("rb") as file:
        assert_same(paddle.audio.load(file)[0], oracle.audio.load(path)[0])


def test_other_widths(paddle, tmp_path):
    for width, expected in (
        (1, (np.arange(10) * 997 % 2000 - 1000) % 256 / 128 - 1),
        (4, (np.arange(10) * 997 % 2000 - 1000) / 2**15),
    ):
        path = written(tmp_path / "a.wav", 1, width)
        assert paddle.audio.info(path).bits_per_sample == 8 * width
        np.testing.assert_allclose(paddle.audio.load(path)[0].numpy()[0], expected, rtol=1e-6)


# the real Paddle leaves the file open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_is_no_file(paddle, oracle, tmp_path):
    (tmp_path / "bad.wav").write_text("hello")
    for path in ("/nowhere.wav", str(tmp_path / "bad.wav")):
        for name in ("load", "info"):
            ours, theirs = (
                outcome(p.audio, lambda audio, name, path: getattr(audio, name)(path), name, path)
                for p in (paddle, oracle)
            )
            assert ours is theirs


@pytest.mark.parametrize("channels_first", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        np.array([[0.0, 0.5, -0.5, -1.0]], "float32"),
        np.array([[0.0, 0.5], [0.25, -0.5]], "float32"),
        np.array([[1, 2, -3]], "int16"),
    ],
)
def test_writing(paddle, oracle, tmp_path, values, channels_first):
    for p, name in ((paddle, "ours"), (oracle, "theirs")):
        p.audio.save(str(tmp_path / name), p.to_tensor(values), 8000, channels_first=channels_first)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_what_cannot_be_written(paddle, oracle, tmp_path):
    path = str(tmp_path / "a.wav")
    for call in (
        lambda p: p.audio.save(path, p.zeros([3]), 8000),
        lambda p: p.audio.save(path, p.zeros([1, 3]), 8000, bits_per_sample=8),
    ):
        assert outcome(paddle, call) is outcome(oracle, call) is not None
    assert outcome(paddle, lambda p: p.audio.save(path, p.zeros([1, 3], "int64"), 8000)) is ValueError
    # cut off; the real Paddle lets it overflow
    paddle.audio.save(path, paddle.to_tensor([[2.0, 1.0, -3.0]]), 8000)
    assert paddle.audio.load(path, normalize=False)[0].tolist() == [[32767.0, 32767.0, -32768.0]]


def test_backends(paddle, oracle):
    ours, theirs = paddle.audio.backends, oracle.audio.backends
    # ours; the real Paddle needs paddleaudio for it
    here = [name for name in ours.list_available_backends() if name != "soundfile"]
    assert (ours.get_current_backend(), here) == (
        theirs.get_current_backend(),
        theirs.list_available_backends(),
    )
    for name in ("foo", "wave_backend"):
        assert outcome(ours, lambda b, name: b.set_backend(name), name) == outcome(
            theirs, lambda b, name: b.set_backend(name), name
        )
