"""Data sets of sound from folders that the test makes, against the real Paddle; the backend soundfile."""

import numpy as np
import pytest

MOODS = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]


@pytest.fixture
def home(paddle, oracle, tmp_path, monkeypatch):
    """A folder with both data sets, in which both engines look."""
    rng = np.random.default_rng(0)
    tess, esc = tmp_path / "TESS_Toronto_emotional_speech_set/OAF", tmp_path / "ESC-50-master"
    names = [tess / f"OAF_{word}_{mood}.wav" for word in ("back", "bar") for mood in MOODS]
    rows = [f"{1 + i % 5}-{i}-A-{i % 50}.wav,{1 + i % 5},{i % 50},sound,False,{i},A" for i in range(11)]
    names += [esc / "audio" / row.split(",")[0] for row in rows]
    for name in names:
        name.parent.mkdir(parents=True, exist_ok=True)
        paddle.audio.save(str(name), paddle.to_tensor(rng.uniform(-1, 1, (1, 600)).astype("float32")), 8000)
    (tess / "readme.txt").write_text("no sound")
    (esc / "meta").mkdir()
    (esc / "meta/esc50.csv").write_text(
        "\n".join(["filename,fold,target,category,esc10,src_file,take", *rows, ""])
    )
    for p in (paddle, oracle):
        for module in ("tess", "esc50"):
            monkeypatch.setattr(getattr(p.audio.datasets, module), "DATA_HOME", str(tmp_path), raising=False)
        monkeypatch.setattr(p.dataset.common, "DATA_HOME", str(tmp_path))
    return tmp_path


def outcome(call):
    try:
        return call()
    except Exception as error:
        return next(base for base in type(error).__mro__ if base.__module__ == "builtins")


CASES = [
    ("ESC50", {}),
    ("ESC50", {"mode": "dev"}),
    ("ESC50", {"mode": "train", "split": 3}),
    ("ESC50", {"mode": "dev", "split": 5}),
    ("ESC50", {"split": 6}),
    ("ESC50", {"split": "a"}),
    ("ESC50", {"feat_type": "x"}),
    ("ESC50", {"mode": "dev", "feat_type": "mfcc", "n_mfcc": 5, "n_fft": 64, "n_mels": 8}),
    ("ESC50", {"mode": "dev", "feat_type": "spectrogram", "n_fft": 64}),
    ("TESS", {"n_folds": 0}),
    ("TESS", {"split": 6}),
    ("TESS", {"n_folds": 2.0}),
    ("TESS", {"feat_type": "x"}),
]


@pytest.mark.parametrize("name, settings", CASES)
def test_like_the_real_ones(paddle, oracle, home, name, settings):
    def found(p):
        data = getattr(p.audio.datasets, name)(**settings)
        return [(sound.numpy(), label) for sound, label in data], data.files, data.labels

    ours, theirs = (outcome(lambda p=p: found(p)) for p in (paddle, oracle))
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert ours[1:] == theirs[1:] and ours[1]
    for (sound, label), (other, number) in zip(ours[0], theirs[0], strict=True):
        assert label == number
        np.testing.assert_allclose(sound, other, 1e-3, 1e-4)


@pytest.mark.parametrize("name", ["ESC50", "TESS"])
def test_facts(paddle, oracle, name):
    for fact in ("archive", "label_list", "audio_path", "meta"):
        assert getattr(getattr(paddle.audio.datasets, name), fact, None) == getattr(
            getattr(oracle.audio.datasets, name), fact, None
        )
    assert (
        getattr(paddle.audio.datasets, name).meta_info._fields
        == getattr(oracle.audio.datasets, name).meta_info._fields
    )


def test_folds_of_speech(paddle, oracle, home):
    """Each recording is held out once, in the order of names; labels as in the real Paddle, which takes the
    order of the file system."""
    held = [paddle.audio.datasets.TESS("dev", 3, split) for split in (1, 2, 3)]
    names = sorted(str(path) for path in home.rglob("OAF_*.wav"))
    assert [data.files for data in held] == [names[i::3] for i in range(3)]
    assert sorted(paddle.audio.datasets.TESS("train", 3, 1).files + held[0].files) == names
    labels = [{}, {}]
    for p, known in zip((paddle, oracle), labels, strict=True):
        data = p.audio.datasets.TESS("train", n_folds=2, split=2)
        data2 = p.audio.datasets.TESS("dev", n_folds=2, split=2)
        known.update(zip(data.files + data2.files, data.labels + data2.labels, strict=True))
    assert labels[0] == labels[1] and len(labels[0]) == len(names)


def test_recordings_that_are_nowhere(paddle, tmp_path, monkeypatch):
    monkeypatch.setattr(paddle.dataset.common, "DATA_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(paddle.utils.download.time, "sleep", lambda seconds: None)
    with pytest.raises(RuntimeError, match=r"127\.0\.0\.1:9/a\.zip"):
        paddle.audio.datasets.TESS(archive={"url": "http://127.0.0.1:9/a.zip", "md5": "0"})


def test_without_soundfile(paddle, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "soundfile", None)
    with pytest.raises(ModuleNotFoundError, match="audio: soundfile is not installed"):
        paddle.audio.backends.soundfile_backend.load("a.flac")


@pytest.mark.parametrize(
    "name, settings, bits",
    [
        ("a.wav", {}, 16),
        ("a.flac", {}, 16),
        ("a.wav", {"bits_per_sample": 24}, 24),
        ("a.wav", {"encoding": "PCM_F", "bits_per_sample": 64}, 64),
        ("a.wav", {"encoding": "PCM_U", "bits_per_sample": 8}, 8),
        ("a.aiff", {"encoding": "PCM_S", "bits_per_sample": 8}, 8),
    ],
)
def test_soundfile(paddle, tmp_path, name, settings, bits):
    pytest.importorskip("soundfile")
    audio, path = paddle.audio, str(tmp_path / name)
    wave = audio.load
    audio.backends.set_backend("soundfile")
    try:
        assert (
            audio.backends.get_current_backend() == "soundfile"
            and audio.backends.list_available_backends()[0] == "soundfile"
        )
        sound = paddle.to_tensor([[0.0, 0.5, -0.5, 0.25], [0.25, -0.75, 0.0, 0.5]])
        audio.save(path, sound, 8000, **settings)
        facts = audio.info(path)
        assert (facts.sample_rate, facts.num_samples, facts.num_channels, facts.bits_per_sample) == (
            8000,
            4,
            2,
            bits,
        )
        assert audio.load(path)[1] == 8000
        np.testing.assert_allclose(audio.load(path)[0], sound, atol=0.01)
        np.testing.assert_allclose(
            audio.load(path, 1, 2, channels_first=False)[0], sound.numpy().T[1:3], atol=0.01
        )
        whole = audio.load(path, normalize=False)[0]
        assert whole.dtype == {24: paddle.int32, 64: paddle.float32}.get(bits, paddle.int16)
        with pytest.raises(RuntimeError):
            audio.load(str(tmp_path / "none.flac"))
    finally:
        audio.backends.set_backend("wave_backend")
    assert audio.load is wave
