"""Data sets of translations, semantic roles and ratings from small archives, against the real Paddle."""

import gzip

import pytest

from tests.text.archives import packed, written


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


@pytest.fixture
def home(oracle, tmp_path, monkeypatch):
    """A folder of its own for what the real Paddle writes."""
    (tmp_path / "home/wmt16").mkdir(parents=True)
    monkeypatch.setattr(oracle.dataset.common, "DATA_HOME", str(tmp_path / "home"))


def made(paddle, files, name, **settings):
    return getattr(paddle.text, name)(**{**files[name], **settings})


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error)


def rows(data):
    return [[(str(field.dtype), field.tolist()) for field in data[i]] for i in range(len(data))]


def spelled(numbers, words):
    names = {number: word for word, number in words.items()}
    return [names[n] for n in numbers]


def test_roles(paddle, oracle, files):
    """Everything but the numbers of the roles, which the real Paddle deals out anew in each run."""
    ours, theirs = (made(p, files, "Conll05st") for p in (paddle, oracle))
    assert len(ours) == len(theirs) == 4 and (ours.sentences, ours.predicates, ours.labels) == (
        theirs.sentences,
        theirs.predicates,
        theirs.labels,
    )
    assert (
        ours.get_dict()[:2] == theirs.get_dict()[:2]
        and set(ours.label_dict) == set(theirs.label_dict)
        and ours.label_dict["O"] == 12
    )
    assert ours.get_embedding() == theirs.get_embedding()
    for i in range(4):
        mine, other = ours[i], theirs[i]
        assert [f.tolist() for f in mine[:8]] == [f.tolist() for f in other[:8]] and [
            f.dtype for f in mine[:6]
        ] == [f.dtype for f in other[:6]]
        assert spelled(mine[8].tolist(), ours.label_dict) == spelled(other[8].tolist(), theirs.label_dict)


def test_roles_written_otherwise(paddle, files, tmp_path):
    lines = {"words": gzip.compress(b"go\n\n"), "props": gzip.compress(b"go B-V\n\n")}
    bad = packed(
        tmp_path / "bad.tgz",
        {f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz": content for kind, content in lines.items()},
    )
    with pytest.raises(RuntimeError, match="'B-V'"):
        made(paddle, files, "Conll05st", data_file=bad)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mode": "test"},
        {"mode": "TEST", "test_ratio": 0.5, "rand_seed": 3},
        {"mode": "bad"},
        {"data_file": "/nowhere"},
    ],
)
def test_ratings(paddle, oracle, files, settings):
    ours, theirs = (outcome(lambda p=p: made(p, files, "Movielens", **settings)) for p in (paddle, oracle))
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert len(ours) == len(theirs) > 0 and set(ours.movie_title_dict) == set(theirs.movie_title_dict)
    assert repr(ours.movie_info) == repr(theirs.movie_info) and repr(ours.user_info) == repr(theirs.user_info)
    for mine, other in zip(map(list, ours), map(list, theirs), strict=True):
        for at, words in ((5, "categories_dict"), (6, "movie_title_dict")):
            assert spelled(mine.pop(5).tolist(), getattr(ours, words)) == spelled(
                other.pop(5).tolist(), getattr(theirs, words)
            ), at
        assert [(f.dtype, f.tolist()) for f in mine] == [(f.dtype, f.tolist()) for f in other]


@pytest.mark.parametrize(
    "settings",
    [
        {"dict_size": 30},
        {"dict_size": 6},
        {"mode": "test", "dict_size": 5},
        {"mode": "gen", "dict_size": 30},
        {"mode": "val", "dict_size": 30},
        {},
        {"dict_size": 30, "data_file": "/nowhere"},
        {"dict_size": 30, "data_file": None, "download": False},
    ],
)
def test_wmt14(paddle, oracle, files, settings):
    def found(p):
        data = made(p, files, "WMT14", **settings)
        return rows(data), data.get_dict(), data.get_dict(reverse=True)

    ours, theirs = (outcome(lambda p=p: found(p)) for p in (paddle, oracle))
    assert ours == theirs


@pytest.mark.parametrize("mode", ["train", "test", "val"])
@pytest.mark.parametrize("size", [2, 3, 5, 30])
def test_wmt16(paddle, oracle, files, home, mode, size):
    """The source from both ends: the real Paddle counts the words of the target in the source."""
    both = [
        made(paddle, files, "WMT16", mode=mode, src_dict_size=size, trg_dict_size=size, lang=lang)
        for lang in ("en", "de")
    ]
    for lang, ours, other in zip(("en", "de"), both, both[::-1], strict=True):
        theirs = made(
            oracle, files, "WMT16", mode=mode, src_dict_size=size, trg_dict_size=size + 7, lang=lang
        )
        assert (
            ours.src_dict == theirs.src_dict == ours.get_dict(lang) == theirs.get_dict(lang)
            and ours.src_ids == theirs.src_ids
        )
        assert len(ours) == len(theirs) and [[f.dtype for f in row] for row in ours] == [
            [f.dtype for f in row] for row in theirs
        ]
        assert (
            other.trg_dict == ours.src_dict and [[0, *t[:-1], 1] for t in other.trg_ids_next] == ours.src_ids
        )
        assert [t[1:] for t in ours.trg_ids] == [t[:-1] for t in ours.trg_ids_next]
        assert {word: number for number, word in ours.get_dict(lang, reverse=True).items()} == ours.src_dict


@pytest.mark.parametrize(
    "settings",
    [{"mode": "gen"}, {"trg_dict_size": 0}, {}, {"src_dict_size": 0}, {"data_file": None, "download": False}],
)
def test_wmt16_refuses(paddle, oracle, files, home, settings):
    if not settings:
        settings = {"data_file": "/nowhere"}
    ours, theirs = (
        outcome(lambda p=p: made(p, files, "WMT16", **{"src_dict_size": 5, "trg_dict_size": 5, **settings}))
        for p in (paddle, oracle)
    )
    assert isinstance(ours, type) and ours is theirs


@pytest.mark.parametrize(
    "argument", ["data_file", "word_dict_file", "verb_dict_file", "target_dict_file", "emb_file"]
)
def test_a_missing_file_is_named(paddle, files, argument):
    with pytest.raises(AssertionError, match=argument):
        made(paddle, files, "Conll05st", **{argument: None}, download=False)


def test_they_are_read_by_workers(paddle, files):
    data = made(paddle, files, "Movielens")
    loader = paddle.io.DataLoader(data, batch_size=1, num_workers=2)
    assert [batch[-1].item() for batch in loader] == [row[-1].item() for row in data]
