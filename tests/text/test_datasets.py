"""Data sets of text from small archives, against the real Paddle."""

import io
import tarfile

import numpy as np
import pytest


def archive(path, files):
    with tarfile.open(path, "w:gz") as packed:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            packed.addfile(member, io.BytesIO(text.encode()))
    return str(path)


def review(part, kind, number):
    return (
        f"The {'good' if kind == 'pos' else 'bad'} movie, {part} it's a film-{number} THE the.<br /> end!\n"
    )


@pytest.fixture
def files(tmp_path):
    np.savetxt(tmp_path / "housing.data", np.random.RandomState(0).rand(11, 14) * 10, fmt="%8.4f")
    reviews = {
        f"aclImdb/{part}/{kind}/{n}_{n}.txt": review(part, kind, n)
        for part in ("train", "test")
        for kind in ("pos", "neg")
        for n in range(3)
    }
    sentences = {
        "train": " the cat <unk> sat <unk> <unk> \n the dog sat on the cat the cat the\n a b\n",
        "valid": " the dog ran \n the cat\n",
        "test": " the cat ran far \n the cat sat sat on a mat\n",
    }
    return {
        "UCIHousing": str(tmp_path / "housing.data"),
        "Imdb": archive(
            tmp_path / "imdb.tgz",
            {**reviews, "aclImdb/train/unsup/0_0.txt": "zzz the", "aclImdb/imdb.vocab": "x"},
        ),
        "Imikolov": archive(
            tmp_path / "ptb.tgz",
            {f"./simple-examples/data/ptb.{part}.txt": text for part, text in sentences.items()},
        ),
    }


CASES = [
    ("UCIHousing", {}),
    ("UCIHousing", {"mode": "test"}),
    ("UCIHousing", {"mode": "bad"}),
    ("UCIHousing", {"data_file": None, "download": False}),
    *[
        ("Imdb", {"mode": mode, "cutoff": cutoff})
        for mode in ("train", "test", "TEST")
        for cutoff in (0, 2, 5)
    ],
    ("Imdb", {"mode": "bad"}),
    *[
        ("Imikolov", {"mode": mode, **settings})
        for mode in ("train", "test")
        for settings in (
            {"window_size": 2, "min_word_freq": 4},
            {"window_size": 3, "min_word_freq": 2},
            {"data_type": "SEQ", "min_word_freq": 2},
            {"data_type": "seq", "window_size": 6, "min_word_freq": 2},
            {"data_type": "other"},
        )
    ],
    ("Imikolov", {"mode": "valid"}),
    *[(name, {"data_file": "/nowhere"}) for name in ("UCIHousing", "Imdb", "Imikolov")],
]


@pytest.mark.parametrize("name, settings", CASES)
def test_like_the_real_ones(paddle, oracle, files, name, settings):
    def rows(p):
        try:
            data = getattr(p.text, name)(**{"data_file": files[name], **settings})
        except Exception as error:
            return type(error)
        words = getattr(data, "word_idx", {})
        return [
            [(str(field.dtype), field.shape, field.tolist()) for field in data[i]] for i in range(len(data))
        ], words

    ours, theirs = rows(paddle), rows(oracle)
    if isinstance(theirs, tuple):
        assert ours[1] == theirs[1] and len(ours[0]) == len(theirs[0])
        for mine, other in zip(ours[0], theirs[0], strict=True):
            assert [field[:2] for field in mine] == [field[:2] for field in other]
            for field, expected in zip(mine, other, strict=True):
                np.testing.assert_allclose(field[2], expected[2], rtol=1e-5, atol=1e-6)
    else:
        assert ours is theirs


def test_equally_frequent_words(paddle, files):
    """Ends of sentences and words that are equally frequent: the real Paddle 3.3.1 cannot sort them."""
    data = paddle.text.Imikolov(files["Imikolov"], window_size=2, min_word_freq=0)
    assert sorted(data.word_idx.values()) == list(range(len(data.word_idx)))
    assert len(data) == 7 + 10 + 3  # pairs of neighbours in sentences of 6, 9 and 2 words and their ends
    assert [field.item() for field in data[0]] == [data.word_idx["<s>"], data.word_idx[b"the"]]


def test_they_are_read_by_workers(paddle, files):
    loader = paddle.io.DataLoader(paddle.text.UCIHousing(files["UCIHousing"]), batch_size=3, num_workers=2)
    assert [batch[0].shape[0] for batch in loader] == [3, 3, 2]
